//! A home with a home of its own.

use super::*;

/// An owner that has a job under the third attempt of its own home, gave it to node 1, and is bound by `until`.
fn owning(until: u64) -> Bench {
    let mut bench = Bench::with(BOUNDED);
    assert_eq!(
        bench.keep_in(Tenure::under(term(3, 0))),
        [Persist(TASK), seek(0)]
    );
    bench.bound(second(until));
    let given = [Persist(TASK), Send(1, give(ME, under(3, 1, 0), 0))];
    assert_eq!(bench.find(0, &[1]), given);
    bench
}

#[test]
fn nothing_is_granted_beyond_what_a_home_was_granted() {
    let mut bench = owning(100);
    let claim = report(under(3, 1, 0), UNKNOWN);
    let granted_until = |until| Send(1, verdict(under(3, 1, 0), granted(until)));
    assert_eq!(
        bench.receive(1, claim.clone()),
        [Persist(TASK), granted_until(100)]
    );
    bench.bound(second(2000));
    assert_eq!(bench.at(50).receive(1, claim), [granted_until(650)]);
}

#[test]
fn a_home_that_may_not_answer_for_a_job_says_nothing() {
    let mut bench = owning(100);
    let claim = report(under(3, 1, 0), UNKNOWN);
    let before = bench.machine().clone();
    assert_eq!(bench.at(100).receive(1, claim.clone()), []);
    assert_eq!(*bench.machine(), before);

    // The same after a crash, until it is told that it may.
    let mut bench = owning(100);
    bench.receive(1, claim.clone());
    assert_eq!(bench.restart(), []);
    assert_eq!(bench.receive(1, claim.clone()), []);
    bench.bound(second(90));
    let granted = Send(1, verdict(under(3, 1, 0), granted(90)));
    assert_eq!(bench.receive(1, claim), [granted]);
}

#[test]
fn a_shorter_later_grant_does_not_let_a_job_be_given_again_sooner() {
    let mut bench = owning(500);
    let claim = report(under(3, 1, 0), UNKNOWN);
    bench.receive(1, claim.clone());
    bench.bound(second(100));
    bench.receive(1, claim);
    assert_eq!(bench.pass_until(501), []);
    assert_eq!(bench.pass_until(502), [Persist(TASK), seek(1)]);
}

#[test]
fn an_outcome_is_kept_until_it_is_passed_on() {
    let mut bench = owning(600);
    bench.receive(1, report(under(3, 1, 0), UNKNOWN));
    let said = [Persist(TASK), Say(tell(News::Finished))];
    let mut did = bench.receive(1, report(under(3, 1, 0), ended(Ending::Done)));
    did.pop();
    assert_eq!(did, said);
    assert_eq!(bench.restart(), said);
    let did = bench.obey(Command::PassedOn(JOB));
    assert_eq!(did, [Forget(TASK)]);
    assert_eq!(bench.restart(), []);
}

#[test]
fn passed_on_forgets_no_job_that_this_node_answers_for() {
    let mut bench = owning(600);
    assert_eq!(bench.obey(Command::PassedOn(JOB)), []);
    let mut unbounded = Bench::alone();
    assert_eq!(unbounded.obey(Command::PassedOn(JOB)), []);
}

#[test]
fn a_report_of_an_earlier_tenure_does_not_count_in_a_later_one() {
    let mut bench = owning(600);
    bench.cancel();
    bench.obey(Command::PassedOn(JOB));
    // The same node has the job again.
    bench.keep_in(Tenure::under(term(4, 0)));
    bench.bound(second(600));
    bench.find(0, &[1]);
    bench.receive(1, report(under(4, 1, 0), UNKNOWN));
    let before = bench.machine().clone();
    for ending in [Ending::Withdrawn, Ending::Lost, Ending::Done] {
        let old = bench.receive(1, report(under(3, 1, 0), ended(ending)));
        assert_eq!(old, [Send(1, verdict(under(3, 1, 0), Ruling::Over))]);
    }
    assert_eq!(*bench.machine(), before);
    // The same after a crash.
    bench.restart();
    let before = bench.machine().clone();
    bench.receive(1, report(under(3, 1, 0), ended(Ending::Withdrawn)));
    assert_eq!(*bench.machine(), before);
}

#[test]
fn a_job_is_taken_from_a_later_home_and_not_from_an_earlier_one() {
    let later = 10;
    let mut bench = Bench::with(BOUNDED);
    // The job was here in its eighth attempt and has ended, but its home is lost.
    bench.receive(HOME, give(HOME, under(1, 8, 0), 0));
    bench.receive(HOME, verdict(under(1, 8, 0), granted(600)));
    bench.end(Ending::Done);
    let claim = Send(later, second_time(report(under(2, 1, 0), UNKNOWN)));
    let did = bench.receive(later, give(later, under(2, 1, 0), 0));
    assert_eq!(did, [Persist(HELD), claim]);
    assert_eq!(bench.receive(HOME, give(HOME, under(1, 9, 0), 0)), []);
    assert_eq!(
        bench.receive(HOME, verdict(under(1, 9, 0), Ruling::Over)),
        []
    );
    let granted = second_time(verdict(under(2, 1, 0), granted(600)));
    let did = bench.receive(later, granted);
    assert_eq!(did, [queue(under(2, 1, 0), 0, 600)]);
}
