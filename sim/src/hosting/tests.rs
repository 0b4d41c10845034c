use core::num::NonZeroU32;

use gridweave_core::job::{Assignment, Demand, Failure, Job, News, Payload, Placement, Submitter};
use gridweave_core::machine::{Context, Event, Never, Violation};
use gridweave_core::resource::{Dimensions, Kind, Requirement};
use gridweave_core::shared::Shared;
use gridweave_core::wire::{self, Framed};
use serde::{Deserialize, Serialize};

use super::*;
use crate::monitor::Monitor;
use crate::network::NetworkConfig;

const ATTEMPT: Epoch = Epoch::new(1);
fn started() -> News {
    let placement = Placement {
        attempt: ATTEMPT,
        start: Time::ZERO,
        end: None,
        nodes: Vec::new(),
    };
    let assignment = Assignment {
        placement,
        submitter: Submitter::NOBODY,
        payload: Payload::EMPTY,
    };
    News::Started {
        attempt: ATTEMPT,
        until: Time::MAX,
        assignment: Shared::new(assignment),
    }
}
const STOPPED: News = News::Stopped { attempt: ATTEMPT };

mod watching;

/// A machine that does not do what it says.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Liar {
    lie: Lie,
    /// Where the jobs were submitted that run here.
    homes: Vec<(JobId, NodeId)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Lie {
    /// None: each job runs where it was submitted.
    Honest,
    /// Everything runs on the first node, whatever runs there.
    Crowd,
    /// A job is done when it begins.
    TooEarly,
    /// A job begins again when it is done.
    Again,
    /// A job is stopped, and is done all the same.
    Stopped,
    /// A job is stopped and begins again, which is no lie.
    Restarted,
    /// A job runs on the first two nodes, which is no lie if it wants two.
    Pair,
    /// A job that is not at its end in time is stopped and given up, which is no lie.
    Punctual,
    /// A job is done, and done.
    Twice,
    /// A node that comes up again says that the first job is done, which is no lie if it said so before.
    DoneAgain,
    /// A node that comes up again says that the first job failed.
    FailedAfterAll,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
enum Said {
    Start(JobId),
    Done(JobId),
}

impl Framed for Said {
    const PROTOCOL: wire::Protocol = wire::Protocol::new(200);
    const KINDS: &'static [wire::Kind] =
        &[wire::Kind::new("Start", 10), wire::Kind::new("Done", 10)];

    fn kind(&self) -> &'static str {
        match self {
            Self::Start(_) => "Start",
            Self::Done(_) => "Done",
        }
    }
}

impl Machine for Liar {
    type Message = Said;
    type Timer = JobId;
    type Command = Command;
    type Notice = Notice;
    type Key = Never;
    type Record = Never;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let mut tell = |job, news| cx.notify(Notice { job, news });
        match (event, self.lie) {
            (Event::Command(Command::Submit { job, .. }), Lie::Crowd) => {
                cx.send(NodeId::new(0), Said::Start(job.id));
            }
            (Event::Command(Command::Submit { job, .. }), Lie::Pair) => {
                cx.send(NodeId::new(0), Said::Start(job.id));
                cx.send(NodeId::new(1), Said::Start(job.id));
            }
            (Event::Command(Command::Submit { job, .. }), lie) => {
                tell(job.id, started());
                match lie {
                    Lie::TooEarly => tell(job.id, News::Finished),
                    Lie::Stopped => {
                        tell(job.id, STOPPED);
                        tell(job.id, News::Finished);
                    }
                    Lie::Restarted => {
                        tell(job.id, STOPPED);
                        tell(job.id, started());
                    }
                    Lie::Punctual => cx.wake(now + job.estimate(), job.id),
                    _ => {}
                }
            }
            (Event::Timer(job), _) => {
                tell(job, STOPPED);
                tell(job, News::Failed(Failure::Overran));
            }
            (Event::Start, Lie::DoneAgain) if now > Time::ZERO => {
                tell(JobId::new(0), News::Finished);
            }
            (Event::Start, Lie::FailedAfterAll) if now > Time::ZERO => {
                tell(JobId::new(0), News::Failed(Failure::Overran));
            }
            (Event::Message { from, message }, _) => match message {
                Said::Start(job) => {
                    self.homes.push((job, from));
                    tell(job, started());
                }
                Said::Done(job) => tell(job, News::Finished),
            },
            (Event::Command(Command::Ended { job, .. }), lie) => {
                let home = self.homes.iter().find(|(other, _)| *other == job);
                match home {
                    Some((_, home)) => cx.send(*home, Said::Done(job)),
                    None => tell(job, News::Finished),
                }
                match lie {
                    Lie::Again => cx.notify(Notice {
                        job,
                        news: started(),
                    }),
                    Lie::Twice => cx.notify(Notice {
                        job,
                        news: News::Finished,
                    }),
                    Lie::Punctual => cx.cancel(job),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn check(&self) -> Result<(), Violation> {
        Ok(())
    }
}

/// Jobs of a hundred seconds, one each second unless it is said when they come.
#[derive(Clone)]
struct Few {
    at: Vec<u64>,
    nodes: u32,
    takes: Vec<Requirement>,
}

impl Few {
    fn jobs(count: u64, nodes: u32) -> Self {
        Self {
            at: (0..count).collect(),
            nodes,
            takes: Vec::new(),
        }
    }
}

impl Jobs for Few {
    fn len(&self) -> usize {
        self.at.len()
    }
    fn submitted_at(&self, job: usize) -> Time {
        Time::from_secs(self.at[job])
    }
    fn job(&self, job: usize) -> Option<Job> {
        let demand = Demand::Nodes(NonZeroU32::new(self.nodes)?);
        Job::new(JobId::new(job as u64), demand, Span::from_secs(100)).ok()
    }
    fn wish(&self, job: usize) -> Wish {
        Wish {
            nodes: self.nodes,
            takes: self.takes.get(job).copied().map(Box::new),
            reruns: 1,
            asks: Asks::default(),
        }
    }
    fn takes(&self, _: usize, _: NodeId) -> Span {
        Span::from_secs(100)
    }
}

fn liars(lie: Lie, nodes: u32) -> Simulation<Liar> {
    let network = Network::new(&NetworkConfig::default(), 1).unwrap();
    let homes = Vec::new();
    Simulation::new(nodes, network, 1, move |_| Liar {
        lie,
        homes: homes.clone(),
    })
}

/// What comes of jobs, and how many violations are counted.
fn replayed(mut grid: Simulation<Liar>, jobs: &Few, rooms: Rooms) -> (Vec<Fate>, u64) {
    let settings = Replay {
        rooms,
        grounds: None,
        seed: 1,
        patience: Span::from_secs(86_400),
        until: Time::MAX,
        observer: None,
        explained: None,
    };
    let replayed = replay(&mut grid, jobs, settings, &Monitor::default());
    (replayed.fates, replayed.violations)
}

fn lied(lie: Lie, jobs: &Few) -> (Vec<Fate>, u64) {
    replayed(liars(lie, 10), jobs, Rooms::Whole)
}

fn ran(start: u64, end: u64) -> Fate {
    Fate::Ran {
        start: Time::from_secs(start),
        end: Time::from_secs(end),
    }
}

#[test]
fn every_lie_is_noticed() {
    let (one, two, gang) = (Few::jobs(1, 1), Few::jobs(2, 1), Few::jobs(1, 2));
    let lost = Fate::Lost;
    for (lie, jobs, fates, violations) in [
        (Lie::Honest, &one, vec![ran(0, 100)], 0),
        // The second never begins as far as the host is concerned, so it is lost.
        (Lie::Crowd, &two, vec![ran(0, 100), lost], 2),
        // A gang on half of its nodes is not done; a lost job is a violation of its own.
        (Lie::Honest, &gang, vec![lost], 2),
        (Lie::Pair, &gang, vec![ran(0, 100)], 0),
        // The second start is one too many.
        (Lie::Pair, &one, vec![ran(0, 100)], 1),
        (Lie::TooEarly, &one, vec![ran(0, 100)], 1),
        (Lie::Again, &one, vec![ran(0, 100)], 1),
        (Lie::Stopped, &one, vec![lost], 2),
        // An attempt that was stopped does not begin again.
        (Lie::Restarted, &one, vec![lost], 2),
        (Lie::Twice, &one, vec![ran(0, 100)], 1),
    ] {
        assert_eq!(lied(lie, jobs), (fates, violations), "{lie:?}");
    }
}

#[test]
fn a_job_that_ends_when_its_time_is_over_has_ended() {
    let found = lied(Lie::Punctual, &Few::jobs(1, 1));
    assert_eq!(found, (vec![ran(0, 100)], 0));
}

#[test]
fn a_node_may_repeat_its_last_word_if_it_went_down_since() {
    // The second job only keeps the run going.
    let jobs = Few {
        at: vec![0, 300],
        ..Few::jobs(2, 1)
    };
    let fates = vec![ran(0, 100), ran(300, 400)];
    for (lie, nodes, violations) in [
        (Lie::DoneAgain, 1, 0),
        // The others never said it before.
        (Lie::DoneAgain, 10, 9),
        (Lie::FailedAfterAll, 1, 1),
    ] {
        let mut grid = liars(lie, nodes);
        for node in (0..u64::from(nodes)).map(NodeId::new) {
            grid.crash(Time::from_secs(150), node);
            grid.restart(Time::from_secs(151), node);
        }
        let found = replayed(grid, &jobs, Rooms::Whole);
        assert_eq!(found, (fates.clone(), violations), "{lie:?}");
    }
}

#[test]
fn what_is_left_of_a_gang_does_not_count() {
    let mut grid = liars(Lie::Pair, 10);
    grid.crash(Time::from_secs(50), NodeId::new(0));
    let (fates, violations) = replayed(grid, &Few::jobs(1, 2), Rooms::Whole);
    // The second node says that the job is done, which is false, and the job never gets its outcome.
    assert_eq!((fates, violations), (vec![Fate::Lost], 2));
}

#[test]
fn a_submission_to_a_node_that_is_down_goes_elsewhere() {
    // One after the other, so that each finds its node free.
    let jobs = Few {
        at: (0..20).map(|number| 200 * number).collect(),
        ..Few::jobs(20, 1)
    };
    let mut grid = liars(Lie::Honest, 10);
    // Before the first submission, so nothing that runs is hurt.
    for node in (0..5).map(NodeId::new) {
        grid.crash(Time::ZERO, node);
    }
    let (fates, violations) = replayed(grid, &jobs, Rooms::Whole);
    let mut elsewhere = 0;
    for (fate, at) in fates.iter().zip(&jobs.at) {
        // A job runs where it was submitted, so one that came to a node that is down runs a second later.
        let late = ran(at + 1, at + 101);
        assert!([ran(*at, at + 100), late].contains(fate), "{fates:?}");
        elsewhere += u32::from(*fate == late);
    }
    assert!(elsewhere > 0, "{fates:?}");
    assert_eq!((fates.len(), violations), (20, 0));
}

#[test]
fn a_shared_node_runs_what_it_has_room_for() {
    let dimensions = Dimensions::new(&[("cores", Kind::Amount)]).unwrap();
    let cores = dimensions.named("cores").unwrap();
    let rooms = Rooms::Shared {
        nodes: vec![dimensions.capability(&[2]).unwrap(); 10],
        dimensions,
    };
    let needs = |amounts: [u64; 3]| Few {
        takes: amounts.map(|n| Requirement::any().with(cores, n)).into(),
        ..Few::jobs(3, 1)
    };
    let crowd = |jobs| replayed(liars(Lie::Crowd, 10), &jobs, rooms.clone());
    let (fates, violations) = crowd(needs([1, 1, 1]));
    assert_eq!(fates[..2], [ran(0, 100), ran(1, 101)], "two have room");
    assert_eq!((fates[2], violations), (Fate::Lost, 2));
    let (fates, violations) = crowd(needs([2, 1, 1]));
    let lost = Fate::Lost;
    assert_eq!((fates, violations), (vec![ran(0, 100), lost, lost], 4));
}
