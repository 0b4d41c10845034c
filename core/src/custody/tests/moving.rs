//! A job that goes from one holder to another.

use super::*;

/// The message that gives the job to the next holder.
fn onward() -> Message {
    give(HOME, term(1, 1), 5)
}

fn claim(moves: u32) -> Did {
    Send(HOME, report(term(1, moves), UNKNOWN))
}

/// A job waited here, and node 2 is asked to take it.
fn giving() -> Bench {
    let mut bench = Bench::alone();
    bench.holding(600);
    assert_eq!(bench.give_away(2), [Persist(HELD), Send(2, onward())]);
    assert_eq!(bench.machine().counts().moved, 1);
    bench
}

#[test]
fn a_job_that_was_taken_is_remembered_for_a_lease() {
    let mut bench = giving();
    assert_eq!(bench.receive(2, answer(term(1, 1), Answer::Taken)), []);
    assert_eq!(bench.machine().held().count(), 1);
    // An old message does not give it back.
    assert_eq!(bench.receive(HOME, give(HOME, term(1, 0), 3)), []);
    assert_eq!(bench.receive(HOME, verdict(term(1, 0), granted(601))), []);
    assert_eq!(bench.pass_until(600), []);
    assert_eq!(bench.pass_until(601), [Forget(HELD)]);
}

#[test]
fn a_node_that_takes_a_job_from_a_holder_answers_it_and_claims_at_the_home() {
    let mut bench = Bench::alone();
    let taken = Send(1, answer(term(1, 1), Answer::Taken));
    assert_eq!(
        bench.receive(1, onward()),
        [Persist(HELD), taken.clone(), claim(1)]
    );
    // A repeated question gets the same answer.
    assert_eq!(bench.receive(1, onward()), [taken]);
}

#[test]
fn a_job_that_no_node_took_is_claimed_under_the_term_of_the_move() {
    let mut bench = giving();
    let refused = bench.receive(2, answer(term(1, 1), Answer::NotTaken(Refused::NoMatch)));
    assert_eq!(refused, [Persist(HELD), claim(1)]);
    assert_eq!(
        bench.receive(HOME, verdict(term(1, 1), granted(600))),
        [queue(term(1, 1), 5, 600)]
    );

    let mut unreachable = giving();
    assert_eq!(unreachable.lose(2), [Persist(HELD), claim(1)]);

    let mut silent = giving();
    assert_eq!(silent.pass_until(3), [Send(2, onward())]);
    assert_eq!(silent.pass_until(6), [Persist(HELD), claim(1)]);
}

#[test]
fn a_node_that_renews_its_claims_takes_a_job_back_under_a_new_attempt() {
    let build = || Custody::new(id(ME), CONFIG).unwrap().renewing_claims();
    let (mut bench, _) = Bench::started(Time::ZERO, build);
    bench.holding(600);
    assert_eq!(bench.machine().attempt(JOB), Some(ATTEMPT));
    bench.give_away(2);
    assert_eq!(bench.machine().attempt(JOB), None);
    let anew = second_time(report(term(1, 1), UNKNOWN));
    let refused = bench.receive(2, answer(term(1, 1), Answer::NotTaken(Refused::NoMatch)));
    assert_eq!(refused, [Persist(HELD), Send(HOME, anew.clone())]);
    assert_eq!(bench.machine().attempt(JOB), Some(Claim::new(2).attempt()));
    assert_eq!(bench.receive(HOME, verdict(term(1, 1), granted(600))), []);
    // The new claim is on disk.
    assert_eq!(bench.restart(), [Send(HOME, anew)]);
    let grant = second_time(verdict(term(1, 1), granted(600)));
    assert_eq!(bench.receive(HOME, grant), [queue(term(1, 1), 5, 600)]);
}

#[test]
fn an_answer_counts_only_from_the_node_that_was_asked_and_for_the_term() {
    let mut bench = giving();
    let before = bench.machine().clone();
    for answered in [Answer::Taken, Answer::NotTaken(Refused::NoMatch)] {
        assert_eq!(bench.receive(3, answer(term(1, 1), answered)), []);
        assert_eq!(bench.receive(2, answer(term(1, 0), answered)), []);
        assert_eq!(bench.receive(2, answer(under(1, 1, 1), answered)), []);
    }
    assert_eq!(*bench.machine(), before);
}

#[test]
fn a_job_taken_back_in_vain_has_a_new_claim_if_an_old_message_gives_it_again() {
    let mut bench = giving();
    bench.lose(2);
    assert_eq!(bench.pass_until(600), vec![claim(1); 9]);
    assert_eq!(bench.pass_until(601), orphaned());
    // Its home may believe that it is here under the old term, but not under this claim.
    let anew = report(term(1, 0), UNKNOWN);
    let did = bench.receive(HOME, give(HOME, term(1, 0), 3));
    let Some(Send(HOME, Message::Report { term, claim, .. })) = did.last() else {
        panic!("{did:?}");
    };
    let Message::Report {
        term: old,
        claim: before,
        ..
    } = anew
    else {
        unreachable!("it is a report");
    };
    assert!(*term == old && *claim != before);
    assert_eq!(bench.receive(HOME, verdict(old, granted(1200))), []);
}

#[test]
fn a_job_that_was_taken_back_is_claimed_again_after_a_crash() {
    let mut bench = giving();
    bench.lose(2);
    assert_eq!(bench.restart(), [claim(1)]);
}

#[test]
fn a_job_that_was_given_away_is_offered_again_after_a_crash_and_not_run() {
    let mut bench = giving();
    bench.receive(2, answer(term(1, 1), Answer::Taken));
    assert_eq!(bench.restart(), [Send(2, onward())]);
    assert_eq!(bench.receive(HOME, verdict(term(1, 0), granted(600))), []);
    assert_eq!(bench.run(), [DROP]);
}

#[test]
fn a_job_that_comes_back_is_taken_under_its_new_term() {
    let mut bench = giving();
    bench.receive(2, answer(term(1, 1), Answer::Taken));
    let taken = Send(2, answer(term(1, 2), Answer::Taken));
    let did = bench.receive(2, give(HOME, term(1, 2), 0));
    let claim = Send(HOME, second_time(report(term(1, 2), UNKNOWN)));
    assert_eq!(did, [Persist(HELD), taken, claim]);
}

#[test]
fn a_job_that_waits_or_runs_is_not_taken_again() {
    let mut bench = Bench::alone();
    bench.holding(600);
    let refused = Send(HOME, answer(term(2, 0), Answer::NotTaken(Refused::Known)));
    let did = bench.receive(HOME, give(HOME, term(2, 0), 0));
    assert_eq!(did, [refused]);
}

#[test]
fn only_a_waiting_job_is_given_away() {
    let mut bench = Bench::alone();
    assert_eq!(bench.give_away(2), []);
    bench.holding(600);
    bench.run();
    assert_eq!(bench.give_away(2), []);
    bench.end(Ending::Done);
    assert_eq!(bench.give_away(2), []);
}

#[test]
fn a_job_that_comes_back_has_no_expected_start() {
    let mut bench = Bench::alone();
    bench.holding(600);
    bench.expect(40);
    bench.give_away(2);
    assert_eq!(bench.lose(2), [Persist(HELD), claim(1)]);
}

#[test]
fn a_job_that_a_node_gives_itself_is_queued_without_a_message() {
    let mut bench = Bench::alone();
    bench.keep();
    let queued = queue(term(1, 0), 0, 600);
    assert_eq!(
        bench.find(0, &[ME]),
        [Persist(TASK), Persist(HELD), Persist(TASK), queued]
    );
}
