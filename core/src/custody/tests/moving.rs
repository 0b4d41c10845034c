//! A job that goes from one holder to another.

use super::*;

/// The message with which the job goes on.
fn onward() -> Message {
    give(HOME, term(1, 1), 5)
}

fn claim(moves: u32) -> Did {
    Send(HOME, report(term(1, moves), UNKNOWN))
}

/// A job was here and is to go to node 2.
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
    // Nobody gives it back by an old message.
    assert_eq!(bench.receive(HOME, give(HOME, term(1, 0), 3)), []);
    assert_eq!(bench.receive(HOME, verdict(term(1, 0), granted(601))), []);
    assert_eq!(bench.pass_until(600), []);
    assert_eq!(bench.pass_until(601), [Forget(HELD)]);
}

#[test]
fn who_takes_a_job_from_another_answers_it_and_claims_at_the_home() {
    let mut bench = Bench::alone();
    let taken = Send(1, answer(term(1, 1), Answer::Taken));
    assert_eq!(
        bench.receive(1, onward()),
        [Persist(HELD), taken.clone(), claim(1)]
    );
    // Asked again, it says the same.
    assert_eq!(bench.receive(1, onward()), [taken]);
}

#[test]
fn a_job_that_nobody_took_is_claimed_under_the_term_under_which_it_was_given() {
    let mut bench = giving();
    let refused = bench.receive(2, answer(term(1, 1), Answer::NotTaken));
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
fn only_who_was_asked_answers_and_only_for_the_term() {
    let mut bench = giving();
    let before = bench.machine().clone();
    for answered in [Answer::Taken, Answer::NotTaken] {
        assert_eq!(bench.receive(3, answer(term(1, 1), answered)), []);
        assert_eq!(bench.receive(2, answer(term(1, 0), answered)), []);
        assert_eq!(bench.receive(2, answer(under(1, 1, 1), answered)), []);
    }
    assert_eq!(*bench.machine(), before);
}

#[test]
fn a_job_that_was_wanted_back_in_vain_is_claimed_anew_if_an_old_message_gives_it_back() {
    let mut bench = giving();
    bench.lose(2);
    assert_eq!(bench.pass_until(3), [claim(1)]);
    assert_eq!(bench.pass_until(6), orphaned());
    // Its home may believe that it is here under the old term, but not at this time.
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
    assert_eq!(bench.receive(HOME, verdict(old, granted(600))), []);
}

#[test]
fn a_job_that_is_wanted_back_still_is_after_a_crash() {
    let mut bench = giving();
    bench.lose(2);
    assert_eq!(bench.restart(), [claim(1)]);
}

#[test]
fn what_was_given_away_is_offered_again_after_a_crash_and_not_run() {
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
fn what_waits_or_runs_is_not_given_again() {
    let mut bench = Bench::alone();
    bench.holding(600);
    let refused = Send(HOME, answer(term(2, 0), Answer::NotTaken));
    let did = bench.receive(HOME, give(HOME, term(2, 0), 0));
    assert_eq!(did, [refused]);
}

#[test]
fn only_what_waits_is_given_away() {
    let mut bench = Bench::alone();
    assert_eq!(bench.give_away(2), []);
    bench.holding(600);
    bench.run();
    assert_eq!(bench.give_away(2), []);
    bench.end(Ending::Done);
    assert_eq!(bench.give_away(2), []);
}

#[test]
fn what_a_job_is_expected_to_do_where_it_was_is_not_told_when_it_comes_back() {
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
