//! The outcome of a job: after a cancellation, a restart, or a crash in the middle of an event.

use super::*;
use crate::commit::Members;
use crate::shared::Shared;
use Did::{Forget, Persist, Send, Tell};

const CANCELLED: Did = Tell(7, News::Cancelled);

fn ask_again(round: u32, from: u64) -> [Did; 2] {
    [1, 2].map(|peer| Send(peer, search(round, 1, from)))
}

/// How far a job is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Far {
    Searching,
    Voting,
    Committing,
    Accepted,
    Running,
    /// The job has lost its node, which has not released it, and neighbours search.
    Replacing,
}

const ALL: [Far; 6] = [
    Far::Searching,
    Far::Voting,
    Far::Committing,
    Far::Accepted,
    Far::Running,
    Far::Replacing,
];

/// A node with a job for one node, in this phase; node 4 is its placement.
fn bench(far: Far) -> Bench {
    let one = attempt(1, 1);
    let mut bench = Bench::among(CONFIG, 2);
    bench.submit(7, 1);
    if far == Far::Searching {
        return bench;
    }
    bench.hear(1, found(1, 60, 1, &[4]));
    bench.hear(2, not_found(1, 9));
    if far == Far::Voting {
        return bench;
    }
    let lease = CONFIG.commit.lease;
    bench.vote(
        4,
        Vote::Prepared {
            attempt: one,
            lease,
        },
    );
    if far == Far::Committing {
        return bench;
    }
    bench.vote(4, Vote::Committed { attempt: one });
    match far {
        Far::Running => {
            bench.at(70);
            bench.vote(4, alive(one, commit::Standing::Running));
        }
        Far::Replacing => {
            bench.vote(4, alive(one, commit::Standing::Gone));
        }
        _ => {}
    }
    bench
}

/// What the host was told of the job.
fn news(did: &[Did]) -> Vec<News> {
    let told = did.iter().filter_map(|did| match did {
        Tell(7, news) => Some(news.clone()),
        _ => None,
    });
    told.collect()
}

#[test]
fn a_cancellation_is_told_when_all_nodes_have_released_the_job() {
    let one = attempt(1, 1);
    for far in ALL {
        let mut bench = bench(far);
        let let_go = [Persist(TASK), Send(4, release(one))];
        let over = [CANCELLED, Forget(OF_JOB)];
        let mut expected = vec![Persist(OF_JOB)];
        match far {
            Far::Searching => expected.extend(over.clone()),
            Far::Voting => {
                expected.extend([Send(4, abort(one)), Forget(TASK)]);
                expected.extend(over.clone());
            }
            Far::Committing | Far::Accepted | Far::Running => expected.extend(let_go),
            // Node 4 was asked to release the job before.
            Far::Replacing => {}
        }
        assert_eq!(bench.cancel(), expected, "{far:?}");
        if !matches!(far, Far::Searching | Far::Voting) {
            assert_eq!(bench.cancel(), [], "{far:?}: once is enough");
            // Late offers are ignored.
            assert_eq!(bench.hear(1, found(2, 120, 1, &[5])), []);
            assert_eq!(
                bench.vote(4, released(one)),
                [Persist(TASK), Forget(TASK), CANCELLED, Forget(OF_JOB)],
                "{far:?}"
            );
        }
        assert_eq!(
            (bench.jobs(), bench.host.records().len()),
            (0, 2),
            "{far:?}"
        );
        assert_eq!(bench.cancel(), []);
    }
}

#[test]
fn a_node_that_does_not_release_a_cancelled_job_delays_its_outcome_until_the_permission_ends() {
    let mut bench = bench(Far::Accepted);
    bench.cancel();
    // The permission lasts until 120, by clocks that differ by at most a second; then node 4 cannot run the job.
    assert_eq!(news(&bench.ring_until(120)), []);
    assert_eq!(news(&bench.ring_until(123)), [News::Cancelled]);
}

#[test]
fn a_submitted_job_without_a_decision_is_searched_for_again_after_a_restart() {
    for far in [Far::Searching, Far::Voting] {
        let mut bench = bench(far);
        let did = bench.at(10).restart();
        assert!(did.ends_with(&ask_again(1, 120)), "{far:?}: {did:?}");
        // The job has all its rounds again, and new epochs that the earlier life did not use.
        bench.hear(1, found(1, 120, 1, &[5]));
        bench.hears(2, not_found(1, 9), [Send(5, prepare(attempt(2, 1), 120))]);
    }
}

#[test]
fn a_decided_job_goes_on_after_a_restart() {
    let one = attempt(1, 1);
    for far in [Far::Committing, Far::Accepted, Far::Running] {
        let mut bench = bench(far);
        let now = bench.now.as_secs();
        let did = bench.restart();
        assert_eq!(did.last(), Some(&Persist(LIFE)), "{far:?}: {did:?}");
        let did = bench.ring_until(now);
        assert_eq!(
            did,
            [Send(
                4,
                Message::Commit(Vote::Commit {
                    attempt: one,
                    members: Shared::new(Members::default()),
                })
            )]
        );
        // The host is told of the acceptance only if the earlier life did not tell it.
        let did = bench.vote(4, Vote::Committed { attempt: one });
        let expected = match far {
            Far::Committing => vec![accepted(60)],
            _ => vec![],
        };
        assert_eq!(news(&did), expected, "{far:?}");
        let did = bench.at(100).end(&[4], one);
        assert_eq!(news(&did), [News::Finished], "{far:?}");
    }
}

/// The coordinator knows the job only because node 4 has not released it. To wait for it would never end.
#[test]
fn a_job_that_had_lost_its_placement_is_searched_for_again_after_a_restart() {
    let mut bench = bench(Far::Replacing);
    assert!(bench.host.records().contains_key(&TASK));
    let did = bench.at(10).restart();
    assert!(did.ends_with(&ask_again(1, 120)), "{did:?}");
    bench.hear(1, found(1, 120, 1, &[5]));
    bench.hear(2, not_found(1, 9));
    let did = bench.agree(&[5], attempt(2, 1));
    let start = second(120);
    assert_eq!(news(&did), [News::moved(start)]);
}

#[test]
fn a_cancellation_and_a_failure_outlive_a_restart() {
    let one = attempt(1, 1);
    let mut bench = bench(Far::Accepted);
    bench.cancel();
    let did = bench.restart();
    assert_eq!(news(&did), []);
    assert!(did.contains(&Persist(LIFE)));
    assert_eq!(news(&bench.vote(4, released(one))), [News::Cancelled]);
    // No node is left that must release the job.
    let record = Record::Desk(desk::Record::Job {
        job: job(7, 1),
        payload: Payload::EMPTY,
        stage: Stage::Cancelled,
    });
    bench.write(OF_JOB, record);
    let did = bench.restart();
    assert!(did.ends_with(&[CANCELLED, Forget(OF_JOB)]), "{did:?}");
    let record = Record::Desk(desk::Record::Job {
        job: job(7, 1),
        payload: Payload::EMPTY,
        stage: Stage::Failed(Failure::NodeLost),
    });
    bench.write(OF_JOB, record);
    let did = bench.restart();
    assert_eq!(news(&did), [News::Failed(Failure::NodeLost)]);
    assert_eq!(bench.jobs(), 0);
    assert!(!bench.host.records().contains_key(&OF_JOB));
}

/// Feeds the last event of a job, crashes after each number of its effects in turn, and lets a later life end the job.
/// Returns the news of both lives, for each crash.
fn crash_everywhere(
    begin: impl Fn() -> Bench,
    last: &Event<Node>,
    live_on: impl Fn(&mut Bench) -> Effects,
) -> Vec<Vec<News>> {
    let mut lives = Vec::new();
    for effects in 0..=begin().effects_of(last) {
        let mut bench = begin();
        let mut told = news(&bench.feed_some(last.clone(), effects));
        told.extend(news(&bench.restart()));
        if bench.jobs() > 0 {
            told.extend(news(&live_on(&mut bench)));
        }
        assert_eq!(bench.jobs(), 0, "after {effects} effects");
        assert!(
            !bench.host.records().contains_key(&OF_JOB),
            "after {effects} effects"
        );
        lives.push(told);
    }
    lives
}

/// Asserts that each run tells only one kind of outcome, and no other news after it.
fn one_last_word(lives: &[Vec<News>]) {
    for told in lives {
        let last: Vec<&News> = told.iter().filter(|news| news.is_last()).collect();
        assert!(!last.is_empty(), "{lives:?}");
        assert!(last.iter().all(|word| *word == last[0]), "{lives:?}");
        let first = told.iter().position(News::is_last).unwrap();
        let after = &told[first..];
        assert!(after.iter().all(News::is_last), "{lives:?}");
    }
}

fn message(from: u64, message: Vote) -> Event<Node> {
    Event::Message {
        from: id(from),
        message: Message::Commit(message),
    }
}

#[test]
fn a_crash_while_a_job_finishes_never_makes_it_run_again() {
    let one = attempt(1, 1);
    let outcome = Outcome::Done;
    let end = Vote::Ended {
        attempt: one,
        outcome,
    };
    let lives = crash_everywhere(
        || bench(Far::Running),
        &message(4, end.clone()),
        |bench| {
            // The participant repeats its report until it is answered; the job is not placed again.
            let did = bench.vote(4, end.clone());
            let is_placing = |did: &Did| matches!(did, Send(_, Message::Search { .. }));
            assert!(!did.iter().any(is_placing), "{did:?}");
            did
        },
    );
    one_last_word(&lives);
    assert!(lives.iter().flatten().all(|news| *news == News::Finished));
}

#[test]
fn a_finished_job_that_is_cancelled_after_a_crash_stays_finished() {
    let one = attempt(1, 1);
    let outcome = Outcome::Done;
    let end = Vote::Ended {
        attempt: one,
        outcome,
    };
    for effects in 0..=bench(Far::Running).effects_of(&message(4, end.clone())) {
        let mut bench = bench(Far::Running);
        let mut told = news(&bench.feed_some(message(4, end.clone()), effects));
        told.extend(news(&bench.restart()));
        told.extend(news(&bench.cancel()));
        told.extend(news(&bench.vote(4, released(one))));
        let expected = if effects == 0 {
            News::Cancelled
        } else {
            News::Finished
        };
        assert!(!told.is_empty(), "after {effects} effects");
        assert!(
            told.iter().all(|news| *news == expected),
            "after {effects} effects: {told:?}"
        );
    }
}

#[test]
fn a_crash_while_a_job_fails_never_changes_the_outcome_that_was_told() {
    // Both searchers have no room to search, in both rounds.
    let begin = || {
        let mut bench = bench(Far::Searching);
        bench.hear(1, not_found(1, 0));
        bench.hear(2, not_found(1, 0));
        bench.hear(1, not_found(2, 0));
        bench
    };
    let last = Event::Message {
        from: id(2),
        message: not_found(2, 0),
    };
    let lives = crash_everywhere(begin, &last, |bench| {
        for round in [1, 2] {
            bench.hear(1, not_found(round, 0));
        }
        bench.hear(2, not_found(1, 0));
        bench.hear(1, not_found(2, 0));
        bench.hear(2, not_found(2, 0))
    });
    one_last_word(&lives);
}

#[test]
fn a_crash_while_a_job_is_cancelled_never_changes_the_outcome_that_was_told() {
    let cancel = Event::Command(Command::Cancel(JOB));
    for far in ALL {
        let live_on = |bench: &mut Bench| {
            let mut did = bench.cancel();
            did.extend(bench.vote(4, released(attempt(1, 1))));
            did
        };
        let lives = crash_everywhere(|| bench(far), &cancel, live_on);
        one_last_word(&lives);
        let cancelled = |news: &News| *news == News::Cancelled;
        assert!(lives.iter().flatten().all(cancelled), "{far:?}: {lives:?}");
    }
    let last = message(4, released(attempt(1, 1)));
    let begin = || {
        let mut bench = bench(Far::Accepted);
        bench.cancel();
        bench
    };
    let lives = crash_everywhere(begin, &last, |bench| bench.vote(4, released(attempt(1, 1))));
    one_last_word(&lives);
}

#[test]
fn a_crash_while_a_job_breaks_ends_in_one_outcome() {
    let outcome = Outcome::Broke;
    let end = Vote::Ended {
        attempt: attempt(1, 1),
        outcome,
    };
    let lives = crash_everywhere(
        || bench(Far::Running),
        &message(4, end.clone()),
        |bench| {
            let mut did = bench.vote(4, end.clone());
            did.extend(bench.ring_until(400));
            did
        },
    );
    one_last_word(&lives);
}
