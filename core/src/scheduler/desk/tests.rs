//! The desk alone; the rest is tested with each scheduler.

use crate::admission::Needs;
use crate::commit::Members;
use crate::shared::Shared;
use core::num::NonZeroU32;
use std::vec::Vec;

use super::*;
use crate::commit::Message as Vote;
use crate::id::Epoch;
use crate::job::{Demand, Failure, Placement, Retry, Submitter};
use crate::machine::{Driver, Effect};
use crate::schedule::{Attempt, BusyTime, SnapshotOptions};
use crate::time::Span;

const JOB: JobId = JobId::new(7);

type Bench = Driver<Desk>;

impl Bench {
    fn empty() -> Self {
        let commit = commit::Config::DEFAULT.checked().unwrap();
        let config = Config { rounds: 2, commit };
        Self::started(Time::ZERO, move || Desk::new(config, Everyone)).0
    }

    /// A desk with a job for `count` nodes.
    fn with_job(count: u32) -> Self {
        let mut bench = Self::empty();
        bench.order(Command::Submit {
            job: job(count),
            refused: None,
            payload: Payload::EMPTY,
        });
        bench
    }

    /// The notices that a command leads to.
    fn order(&mut self, command: Command) -> Vec<Notice> {
        notices(self.feed(Event::Command(command)))
    }

    fn vote(&mut self, from: u64, message: Vote) -> Vec<Notice> {
        notices(self.hear(from, message))
    }

    fn not_found(&mut self) -> Vec<Notice> {
        self.order(Command::NotFound {
            job: JOB,
            refusal: None,
        })
    }
}

fn notices(effects: Vec<Effect<Desk>>) -> Vec<Notice> {
    let notice = |effect| match effect {
        Effect::Notify(notice) => Some(notice),
        _ => None,
    };
    effects.into_iter().filter_map(notice).collect()
}

fn job(count: u32) -> Job {
    let count = Demand::Nodes(NonZeroU32::new(count).unwrap());
    Job::new(JOB, count, Span::from_secs(50)).unwrap()
}

fn minutes(start: u64, end: u64) -> Interval {
    let at = |minute| Time::from_secs(60 * minute);
    Interval::new(at(start), at(end)).unwrap()
}

/// The job has a placement that begins at this minute.
fn placed_at(minute: u64) -> coordinator::Notice {
    let placement = Placement {
        attempt: Epoch::new(minute),
        ..Placement::at(Time::from_secs(60 * minute))
    };
    coordinator::Notice::Placed {
        job: JOB,
        placement,
    }
}

fn candidate(nodes: &[u64]) -> Candidate {
    Candidate {
        interval: minutes(5, 6),
        nodes: nodes.iter().map(|node| NodeId::new(*node)).collect(),
    }
}

fn search(left: u8, setback: Option<Setback>) -> Notice {
    Notice::Search {
        job: JOB,
        left,
        setback,
    }
}

fn failed(refusal: Refusal) -> Notice {
    Notice::Job(job::Notice {
        job: JOB,
        news: News::Failed(Failure::Refused(refusal)),
    })
}

#[test]
fn a_job_is_searched_for_as_many_rounds_as_configured() {
    let mut bench = Bench::empty();
    let submit = Command::Submit {
        job: job(1),
        refused: None,
        payload: Payload::EMPTY,
    };
    assert_eq!(bench.order(submit), [search(1, None)]);
    assert_eq!(bench.not_found(), [search(0, None)]);
    assert_eq!(
        bench.not_found(),
        [failed(Refusal::NotFound), Notice::Done { job: JOB }]
    );
    assert_eq!(bench.not_found(), []);
}

#[test]
fn each_reason_of_a_node_has_a_word_of_its_own_for_the_user_and_in_traces() {
    use commit::Refused::*;
    // The candidate starts after 300 s, and a node needs 5 s and differs by at most 1 s. So at 0 s it cannot be too
    // late.
    for (second, reason, refusal, why) in [
        (0, Busy, Refusal::Taken, "another job has some of that time"),
        (0, Full, Refusal::NodesFull, "there is no room"),
        (0, Quota, Refusal::Quota, "the coordinator holds too much"),
        (
            0,
            Draining,
            Refusal::NodesDraining,
            "the node takes no new jobs",
        ),
        (
            0,
            NotAccepted,
            Refusal::NotAccepted,
            "the node does not run jobs of this submitter",
        ),
        (
            0,
            Foreign,
            Refusal::NameTaken,
            "another coordinator has a job of this name",
        ),
        (0, TooLate, Refusal::Clock, "its clock differs by too much"),
        (
            294,
            TooLate,
            Refusal::Clock,
            "its clock differs by too much",
        ),
        (295, TooLate, Refusal::TooSlow, "the start is too near"),
    ] {
        let mut bench = Bench::with_job(1);
        bench.now = Time::from_secs(second);
        for round in 1..=2 {
            let mut told = Vec::new();
            let traces = bench.traced(|bench| {
                bench.order(Command::Place {
                    job: JOB,
                    candidates: Vec::from([candidate(&[2])]),
                    spares: Vec::new(),
                });
                let refused = Vote::Refused {
                    attempt: Attempt::new(JOB, Epoch::new(1 << 32 | round)),
                    reason,
                    next_free: None,
                };
                told = bench.vote(2, refused);
            });
            let refuses = std::format!("n2 refuses: {why}");
            assert_eq!(traces[..2], ["asks n2".into(), refuses], "{reason:?}");
            if round == 1 {
                assert_eq!(traces[2..], ["searches for nodes"]);
            } else {
                assert_eq!(told, [failed(refusal), Notice::Done { job: JOB }]);
            }
        }
    }
}

#[test]
fn commands_and_messages_about_unknown_jobs_are_traced() {
    let mut bench = Bench::empty();
    let attempt = Attempt::new(JOB, Epoch::new(1));
    let stray = bench.traced(|bench| {
        bench.order(Command::Cancel(JOB));
        bench.order(Command::Ended {
            job: JOB,
            attempt: Epoch::new(1),
            outcome: Outcome::Done,
        });
        bench.vote(2, Vote::Expired { attempt });
    });
    let why = "the job is not known here, or is over";
    assert_eq!(
        stray,
        [
            std::format!("ignores a command: {why}"),
            std::format!("ignores a command: {why}"),
            std::format!("ignores a message of n2: {why}"),
        ]
    );
}

#[test]
fn a_job_is_refused_with_the_reason_of_the_desk_or_else_of_the_scheduler() {
    let refused = Some(Refusal::UnsupportedCriterion);
    let mut bench = Bench::empty();
    let submit = |count, refused| Command::Submit {
        job: job(count),
        refused,
        payload: Payload::EMPTY,
    };
    assert_eq!(
        bench.order(submit(1, refused)),
        [failed(Refusal::UnsupportedCriterion)]
    );
    assert_eq!(
        bench.order(submit(u32::MAX, refused)),
        [failed(Refusal::TooLarge)]
    );
    bench.order(submit(1, None));
    assert_eq!(bench.order(submit(1, refused)), [failed(Refusal::Known)]);
}

#[test]
fn a_leaver_refuses_a_job_that_it_has_as_known() {
    let mut bench = Bench::with_job(1);
    bench.order(Command::OnDuty(job::Command::Leave));
    let again = Command::Submit {
        job: job(1),
        refused: None,
        payload: Payload::EMPTY,
    };
    assert_eq!(bench.order(again), [failed(Refusal::Known)]);
}

#[test]
fn the_node_that_refused_a_placement_is_named_in_the_next_search() {
    let mut bench = Bench::with_job(2);
    let place = Command::Place {
        job: JOB,
        candidates: Vec::from([candidate(&[1, 2])]),
        spares: Vec::new(),
    };
    assert_eq!(bench.order(place), []);
    let attempt = Attempt::new(JOB, Epoch::new(1 << 32 | 1));
    let refused = Vote::Refused {
        attempt,
        reason: commit::Refused::Busy,
        next_free: None,
    };
    assert_eq!(bench.vote(3, refused.clone()), [], "nobody asked it");
    let setback = Setback::Refused {
        node: NodeId::new(2),
        reason: commit::Refused::Busy,
        next_free: None,
    };
    assert_eq!(bench.vote(2, refused), [search(0, Some(setback))]);
}

#[test]
fn a_job_that_is_lost_after_each_start_runs_again_as_often_as_it_may() {
    let mut bench = Bench::empty();
    let mut job = job(1);
    job.retry = Retry::OnNodeLoss(2);
    bench.order(Command::Submit {
        job,
        refused: None,
        payload: Payload::EMPTY,
    });
    let mut coordinated = |minute: u64, notice: coordinator::Notice| {
        bench.at(60 * minute);
        notices(bench.act(|desk, cx| desk.on_coordinator_notice(notice, cx)))
    };
    let placed = placed_at;
    let setback = Setback::Lost {
        node: NodeId::new(1),
    };
    let lost = coordinator::Notice::Unplaced {
        job: JOB,
        setback,
        may_have_run: true,
    };
    coordinated(0, placed(5));
    assert_eq!(coordinated(6, lost.clone()), [search(1, Some(setback))]);
    // A placement, and a better one, before the job starts.
    coordinated(6, placed(9));
    coordinated(6, placed(8));
    assert_eq!(coordinated(9, lost.clone()), [search(1, Some(setback))]);
    coordinated(9, placed(12));
    let last = Notice::Job(job::Notice {
        job: JOB,
        news: News::Failed(Failure::NodeLost),
    });
    assert_eq!(coordinated(12, lost), [last, Notice::Done { job: JOB }]);
}

#[test]
fn a_job_that_has_not_started_gets_all_its_rounds_again_with_each_placement() {
    let mut bench = Bench::with_job(1);
    let mut coordinated = |notice: coordinator::Notice| {
        notices(bench.act(|desk, cx| desk.on_coordinator_notice(notice, cx)))
    };
    let placed = placed_at(5);
    let node = NodeId::new(1);
    let setback = Setback::Lost { node };
    let lost = coordinator::Notice::Unplaced {
        job: JOB,
        setback,
        may_have_run: false,
    };
    for _ in 0..64 {
        coordinated(placed.clone());
        assert_eq!(coordinated(lost.clone()), [search(1, Some(setback))]);
    }
    // After 64 lost placements there are no new rounds.
    coordinated(placed.clone());
    assert_eq!(coordinated(lost.clone()), [search(0, Some(setback))]);
    coordinated(placed);
    let failed = News::Failed(Failure::NodeLost);
    let told = coordinated(lost);
    let is_told = |notice: &Notice| matches!(notice, Notice::Job(told) if told.news == failed);
    assert!(told.iter().any(is_told), "{told:?}");
}

#[test]
fn an_accepted_job_fails_as_lost_and_not_as_refused() {
    let mut bench = Bench::with_job(1);
    let mut effects = Vec::new();
    let full = coordinator::Notice::Unplaced {
        job: JOB,
        setback: Setback::Full,
        may_have_run: false,
    };
    for notice in [placed_at(5), full] {
        effects.extend(bench.act(|desk, cx| desk.on_coordinator_notice(notice, cx)));
    }
    let told = notices(effects);
    let failed = News::Failed(Failure::NodeLost);
    let is_told = |notice: &Notice| matches!(notice, Notice::Job(told) if told.news == failed);
    assert!(told.iter().any(is_told), "{told:?}");
}

#[test]
fn a_job_without_a_placement_is_not_improved_and_an_unknown_job_is_not_placed() {
    let improve = || Command::Improve {
        job: JOB,
        candidate: candidate(&[1]),
        spares: Vec::new(),
    };
    let mut bench = Bench::with_job(1);
    let kept = Notice::Kept {
        job: JOB,
        setback: None,
    };
    assert_eq!(bench.order(improve()), core::slice::from_ref(&kept));
    assert_eq!(Bench::empty().order(improve()), [kept]);
    let place = Command::Place {
        job: JOB,
        candidates: Vec::from([candidate(&[1])]),
        spares: Vec::new(),
    };
    assert_eq!(Bench::empty().feed(Event::Command(place)).len(), 0);
}

#[test]
fn a_snapshot_has_the_committed_time_in_no_more_windows_than_wanted() {
    let mut bench = Bench::empty();
    for (number, (interval, is_committed)) in (1..).zip([
        (minutes(1, 2), true),
        (minutes(2, 3), true),
        (minutes(4, 5), true),
        (minutes(6, 7), true),
        (minutes(8, 9), false),
    ]) {
        let attempt = Attempt::new(JobId::new(number), Epoch::new(1));
        let prepare = Vote::Prepare {
            attempt,
            interval,
            lease: Span::from_secs(5),
            submitter: Submitter::default(),
            needs: Needs::NOTHING,
            payload: Payload::EMPTY,
        };
        bench.vote(number, prepare);
        if is_committed {
            let heard = bench.vote(
                number,
                Vote::Commit {
                    attempt,
                    members: Shared::new(Members::default()),
                },
            );
            assert_eq!(heard.last(), Some(&Notice::Changed));
        }
    }
    let told = |minute: u64, most: usize| {
        let options = SnapshotOptions::starting(Time::from_secs(60 * minute));
        let snapshot = bench.machine().snapshot(options.most_windows(most));
        (Vec::from(snapshot.windows()), snapshot.horizon())
    };
    let all = [minutes(1, 3), minutes(4, 5), minutes(6, 7)];
    assert_eq!(told(0, 9), (all.into(), Time::MAX));
    assert_eq!(told(0, 2), (all[..2].into(), Time::from_secs(360)));
    assert_eq!(told(3, 1), (all[1..2].into(), Time::from_secs(360)));
    assert_eq!(told(7, 1), (Vec::new(), Time::MAX));
    assert_eq!(told(0, 0), (Vec::new(), Time::from_secs(60)));
}

#[test]
fn a_duplicate_job_is_a_violation() {
    let mut bench = Bench::with_job(1);
    let twice = bench.machine().tasks[0].clone();
    bench.machine_mut().tasks.push(twice);
    assert!(bench.machine().check().is_err());
}

#[test]
fn a_desk_that_drains_takes_nothing_until_it_is_told_to_even_after_a_restart() {
    let mut bench = Bench::with_job(1);
    let refused = |bench: &mut Bench, number: u64| {
        let mut job = job(1);
        job.id = JobId::new(number);
        bench
            .order(Command::submit(job))
            .into_iter()
            .find_map(|notice| match notice {
                Notice::Job(job::Notice {
                    news: News::Failed(Failure::Refused(why)),
                    ..
                }) => Some(why),
                _ => None,
            })
    };
    let drain = Command::OnDuty(job::Command::Drain);
    assert_eq!(bench.order(drain.clone()), [Notice::Changed]);
    assert_eq!(bench.order(drain), []);
    assert!(!bench.machine().is_drained(), "a job is open");
    assert_eq!(refused(&mut bench, 8), Some(Refusal::Draining));
    bench.restart();
    assert_eq!(refused(&mut bench, 9), Some(Refusal::Draining));
    bench.order(Command::Cancel(JOB));
    assert!(bench.machine().is_drained());
    let resume = Command::OnDuty(job::Command::Resume);
    assert_eq!(bench.order(resume), [Notice::Changed]);
    assert!(!bench.machine().is_drained());
    bench.restart();
    assert_eq!(refused(&mut bench, 10), None);
    // A leaver does not turn back.
    bench.order(Command::OnDuty(job::Command::Leave));
    bench.order(Command::OnDuty(job::Command::Resume));
    assert_eq!(refused(&mut bench, 11), Some(Refusal::Leaving));
}
