//! Cancelled jobs, leavers, and nodes that restart from disk.

use super::*;
use Did::{Forget, Persist, Send, Tell};
use Through::Random;

/// A node with a job for two nodes; 1 and 2 are asked for holds.
fn trying() -> Bench {
    let (mut bench, did) = Bench::searching(CONFIG, 2, CHEAPEST);
    let did = bench.explore(did, &[(1, &[2, 3, 4])]);
    assert_eq!(
        did,
        [1, 2].map(|node| Send(node, prepare(attempt(1, 1), 60)))
    );
    bench
}

#[test]
fn a_job_that_is_cancelled_during_the_search_is_forgotten() {
    let (mut bench, _) = Bench::searching(CONFIG, 2, CHEAPEST);
    assert_eq!(
        bench.obey(Command::Cancel(JOB)),
        [Persist(OF_JOB), Tell(7, News::Cancelled), Forget(OF_JOB)]
    );
    assert_eq!(bench.due(Timer::Due), None);
    assert_eq!(bench.hear(1, seen(1, 1, &[], &[2, 3])), []);
    assert_eq!(bench.jobs(), 0);
}

#[test]
fn a_job_that_is_cancelled_later_is_aborted_or_released_first() {
    let mut bench = trying();
    let one = attempt(1, 1);
    assert_eq!(
        bench.obey(Command::Cancel(JOB)),
        [
            Persist(OF_JOB),
            Send(1, abort(one)),
            Send(2, abort(one)),
            Forget(TASK),
            Tell(7, News::Cancelled),
            Forget(OF_JOB)
        ]
    );
    let mut bench = trying();
    bench.agree(&[1, 2], one);
    assert_eq!(
        bench.obey(Command::Cancel(JOB)),
        [
            Persist(OF_JOB),
            Persist(TASK),
            Send(1, release(one)),
            Send(2, release(one))
        ]
    );
    assert_eq!(bench.machine().progress(JOB), None);
    let Attempt { job, epoch } = one;
    let released = Vote::Released {
        job,
        through: epoch,
        began: None,
    };
    bench.vote(1, released.clone());
    let did = bench.vote(2, released);
    assert!(did.contains(&Tell(7, News::Cancelled)), "{did:?}");
    assert_eq!(bench.jobs(), 0);
}

#[test]
fn a_leaver_takes_no_job_answers_no_question_and_goes_on_with_its_jobs() {
    let mut bench = trying();
    assert_eq!(bench.obey(Command::Leave), []);
    assert_eq!(bench.hear(9, look(1, Random)), []);
    let mut other = wanting(1, CHEAPEST);
    other.id = JobId::new(8);
    assert_eq!(
        bench.obey(Command::submit(other)),
        [Tell(8, failed(Refusal::Leaving))]
    );
    let did = bench.agree(&[1, 2], attempt(1, 1));
    assert!(did.contains(&Tell(7, accepted(60))), "{did:?}");
}

#[test]
fn a_leaver_does_not_select_itself() {
    let (mut bench, _) = Bench::boot(CONFIG, Bootstrap::Alone);
    bench.meet(1);
    bench.obey(Command::submit(wanting(1, Criterion::Soonest)));
    bench.obey(Command::Leave);
    assert_eq!(
        bench.hear(1, seen(1, 1, &[busy(0, 300)], &[50])),
        [Send(1, prepare(attempt(1, 1), 300))]
    );
}

#[test]
fn a_node_that_crashes_after_any_effect_goes_on_with_its_persisted_jobs() {
    let submit = Event::Command(Command::submit(wanting(1, CHEAPEST)));
    let all = Bench::meeting(CONFIG, &[1]).effects_of(&submit);
    for effects in 0..=all {
        let mut bench = Bench::meeting(CONFIG, &[1]);
        bench.feed_some(submit.clone(), effects);
        let known = effects > 0;
        let did = bench.restart();
        assert_eq!(bench.jobs(), usize::from(known), "after {effects} effects");
        let asks = did.contains(&Send(1, look(1, Random)));
        assert_eq!(asks, known, "after {effects} effects: {did:?}");
    }
}

#[test]
fn a_restart_during_a_vote_searches_anew_and_aborts_late_votes() {
    let mut bench = trying();
    let did = bench.restart();
    assert_eq!(did.last(), Some(&Send(1, look(1, Random))));
    let lease = CONFIG.commit.lease;
    let attempt = attempt(1, 1);
    assert_eq!(
        bench.vote(1, Vote::Prepared { attempt, lease }),
        [Send(1, abort(attempt))]
    );
}

#[test]
fn a_restart_keeps_the_placement_of_a_job_and_does_not_move_it_any_more() {
    let mut bench = trying();
    let one = attempt(1, 1);
    bench.agree(&[1, 2], one);
    let did = bench.restart();
    let looks = |did: &Did| matches!(did, Send(_, Message::Look { .. }));
    assert!(!did.iter().any(looks), "{did:?}");
    assert_eq!(bench.machine().progress(JOB), None);
    assert_eq!(bench.jobs(), 1);
    let did = bench.at(110).end(&[1, 2], one);
    assert!(did.contains(&Tell(7, News::Finished)), "{did:?}");
}

#[test]
fn a_restart_after_the_decision_commits_what_was_decided() {
    let mut bench = trying();
    let (attempt, lease) = (attempt(1, 1), CONFIG.commit.lease);
    bench.vote(1, Vote::Prepared { attempt, lease });
    bench.vote(2, Vote::Prepared { attempt, lease });
    bench.restart();
    bench.ring_until(1);
    bench.vote(1, Vote::Committed { attempt });
    let did = bench.vote(2, Vote::Committed { attempt });
    assert!(did.contains(&Tell(7, accepted(60))), "{did:?}");
}

#[test]
fn a_failure_that_was_persisted_is_told_after_a_restart() {
    let (mut bench, _) = Bench::searching(CONFIG, 2, BROKEN);
    bench.hear(1, seen(1, 1, &[], &[2]));
    let answer = Event::Message {
        from: id(2),
        message: seen(1, 2, &[], &[1]),
    };
    // The crash comes after the failure is persisted and before it is told.
    assert_eq!(bench.feed_some(answer, 1), [Persist(OF_JOB)]);
    let did = bench.restart();
    assert!(did.contains(&Tell(7, failed(Refusal::BrokenCriterion))));
    assert_eq!(
        (bench.jobs(), bench.host.records().contains_key(&OF_JOB)),
        (0, false)
    );
}
