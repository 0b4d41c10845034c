//! A job at its holder.

use super::*;
use crate::job::Assignment;

fn owed(standing: Standing) -> Did {
    Send(HOME, report(term(1, 0), standing))
}

#[test]
fn a_job_is_written_down_claimed_and_queued_when_it_is_granted() {
    let mut bench = Bench::alone();
    bench.holding(600);
    assert!(bench.machine().has(JOB));
    assert_eq!(bench.machine().lease(JOB), Some(second(600)));
}

#[test]
fn a_claim_says_when_the_job_would_start_if_that_is_known() {
    let mut bench = Bench::alone();
    let taking = Taking::Takes {
        start: Some(second(40)),
    };
    let did = bench.given(job(), taking);
    assert_eq!(did, [Persist(HELD), owed(waiting(40))]);
}

#[test]
fn a_claim_without_an_answer_is_repeated_and_then_the_job_is_let_go() {
    let mut bench = Bench::alone();
    bench.receive(HOME, give(HOME, term(1, 0), 0));
    assert_eq!(bench.pass_until(3), [owed(UNKNOWN)]);
    assert_eq!(bench.pass_until(6), orphaned());
    assert_eq!(bench.machine().counts().orphaned, 1);
    assert!(bench.machine().is_empty() && bench.host.timers().is_empty());
}

#[test]
fn a_node_that_refuses_or_has_no_room_says_so() {
    let mut bench = Bench::alone();
    let no = |why| Send(HOME, answer(term(1, 0), Answer::NotTaken(why)));
    assert_eq!(
        bench.given(job(), Taking::Refuses(Refused::NoMatch)),
        [no(Refused::NoMatch)]
    );
    for name in 100..103 {
        bench.given(named(name), Taking::Takes { start: None });
    }
    assert!(!bench.machine().has_room());
    assert_eq!(
        bench.receive(HOME, give(HOME, term(1, 0), 0)),
        [no(Refused::Full)]
    );
}

#[test]
fn a_lease_is_renewed_in_time_and_the_more_often_the_less_is_left() {
    let mut bench = Bench::alone();
    bench.holding(600);
    assert_eq!(bench.pass_until(199), []);
    assert_eq!(bench.pass_until(200), [owed(UNKNOWN)]);
    assert_eq!(bench.pass_until(249), []);
    assert_eq!(bench.pass_until(250), [owed(UNKNOWN)]);
    let verdict = verdict(term(1, 0), granted(850));
    assert_eq!(bench.receive(HOME, verdict), [extended(850)]);
    assert_eq!(bench.due(Timer::Held(JOB)), Some(second(450)));
}

#[test]
fn a_short_lease_is_renewed_before_it_is_over() {
    let mut bench = Bench::alone();
    bench.holding(100);
    assert_eq!(bench.pass_until(49), []);
    assert_eq!(bench.pass_until(50), [owed(UNKNOWN)]);
}

#[test]
fn without_a_lease_a_waiting_job_is_let_go_and_a_running_one_is_stopped() {
    let mut bench = Bench::alone();
    bench.holding(600);
    let until = |did: Effects, end: &[Did]| {
        let (asked, rest) = did.split_at(did.len() - end.len());
        assert!(asked.iter().all(|did| matches!(did, Send(HOME, _))));
        assert_eq!(rest, end);
    };
    until(bench.pass_until(600), &orphaned());

    let mut bench = Bench::alone();
    bench.holding(600);
    bench.run();
    let stopped = Say(tell(News::Stopped { attempt: ATTEMPT }));
    let orphaned = Say(tell(News::Orphaned));
    until(
        bench.pass_until(600),
        &[DROP, stopped, Forget(HELD), orphaned],
    );
}

#[test]
fn a_grant_counts_once_and_only_from_the_home_and_for_the_term() {
    let mut bench = Bench::alone();
    bench.holding(600);
    let before = bench.machine().clone();
    assert_eq!(bench.receive(HOME, verdict(term(1, 0), granted(600))), []);
    assert_eq!(bench.receive(HOME, verdict(term(1, 0), granted(500))), []);
    assert_eq!(bench.receive(HOME, verdict(term(1, 1), granted(700))), []);
    assert_eq!(bench.receive(HOME, verdict(term(0, 9), granted(700))), []);
    assert_eq!(bench.receive(1, verdict(term(1, 0), granted(700))), []);
    assert_eq!(*bench.machine(), before);
}

#[test]
fn nothing_is_granted_for_longer_than_a_lease() {
    let mut bench = Bench::alone();
    bench.receive(HOME, give(HOME, term(1, 0), 0));
    let did = bench.receive(HOME, verdict(term(1, 0), granted(10_000)));
    assert_eq!(did, [queue(term(1, 0), 0, 601)]);
}

#[test]
fn a_start_is_written_down_before_it_is_told() {
    let mut bench = Bench::alone();
    bench.holding(600);
    let (attempt, until) = (ATTEMPT, second(600));
    let started = Say(tell(News::Started {
        attempt,
        until,
        assignment: Assignment::any(),
    }));
    assert_eq!(bench.run(), vec![Persist(HELD), started]);
    // A second start changes nothing.
    assert_eq!(bench.run(), vec![]);
}

#[test]
fn a_job_does_not_start_when_its_lease_is_over() {
    let mut bench = Bench::alone();
    bench.holding(600);
    assert_eq!(bench.at(600).run(), orphaned());
}

#[test]
fn starting_a_job_that_is_not_here_drops_it_and_changes_nothing() {
    let mut bench = Bench::alone();
    assert_eq!(bench.run(), vec![DROP]);
    bench.holding(600);
    bench.end(Ending::Done);
    let before = bench.machine().clone();
    assert_eq!(bench.run(), vec![DROP]);
    assert_eq!(*bench.machine(), before);

    let mut bench = Bench::alone();
    bench.holding(600);
    bench.give_away(2);
    let before = bench.machine().clone();
    assert_eq!(bench.run(), vec![DROP]);
    assert_eq!(*bench.machine(), before);
}

#[test]
fn a_home_is_told_at_once_when_a_start_is_first_known() {
    let mut bench = Bench::alone();
    bench.holding(600);
    assert_eq!(bench.expect(40), [owed(waiting(40))]);
    assert_eq!(bench.expect(50), []);
    assert_eq!(bench.pass_until(200), [owed(waiting(50))]);
    // Nothing is told about a job that is not here.
    let mut none = Bench::alone();
    assert_eq!(none.expect(40), []);
}

#[test]
fn an_end_is_told_less_and_less_often_until_its_home_knows() {
    let mut bench = Bench::alone();
    bench.holding(600);
    bench.run();
    let done = owed(ended(Ending::Done));
    let did = bench.at(100).end(Ending::Done);
    assert_eq!(did, [Persist(HELD), done.clone()]);
    for at in [103, 106, 112, 124] {
        assert_eq!(bench.pass_until(at - 1), []);
        assert_eq!(bench.pass_until(at), vec![done.clone()], "at {at}");
    }
    let over = verdict(term(1, 0), Ruling::Over);
    assert_eq!(bench.receive(HOME, over), [Forget(HELD)]);

    let mut bench = Bench::alone();
    bench.holding(600);
    bench.run();
    bench.at(100).end(Ending::Done);
    bench.pass_until(2099);
    let orphaned = [Forget(HELD), Say(tell(News::Orphaned))];
    assert_eq!(bench.pass_until(2100), orphaned);
}

#[test]
fn a_job_that_is_over_or_withdrawn_is_let_go() {
    let over = verdict(term(1, 0), Ruling::Over);
    let withdraw = verdict(term(1, 0), Ruling::Withdraw);
    let withdrawn = owed(ended(Ending::Withdrawn));
    let mut bench = Bench::alone();
    bench.holding(600);
    assert_eq!(bench.receive(HOME, over), [DROP, Forget(HELD)]);
    // The job is not here any more.
    assert_eq!(
        bench.receive(HOME, withdraw.clone()),
        vec![withdrawn.clone()]
    );

    let mut bench = Bench::alone();
    bench.holding(600);
    bench.run();
    let stopped = Say(tell(News::Stopped { attempt: ATTEMPT }));
    let did = bench.receive(HOME, withdraw.clone());
    assert_eq!(did, [DROP, stopped, Forget(HELD), withdrawn]);

    let mut bench = Bench::alone();
    bench.holding(600);
    bench.end(Ending::Done);
    let done = owed(ended(Ending::Done));
    assert_eq!(bench.receive(HOME, withdraw), [Forget(HELD), done]);
}

#[test]
fn each_state_is_taken_up_after_a_crash() {
    let mut bench = Bench::alone();
    bench.holding(600);
    assert_eq!(bench.restart(), [owed(UNKNOWN)]);
    assert_eq!(bench.machine().lease(JOB), None);

    let mut bench = Bench::alone();
    bench.holding(600);
    bench.run();
    let stopped = Say(tell(News::Stopped { attempt: ATTEMPT }));
    assert_eq!(bench.restart(), [stopped, owed(ended(Ending::Lost))]);

    let mut bench = Bench::alone();
    bench.holding(600);
    let failed = Ending::Failed(Failure::Broke);
    bench.end(failed);
    assert_eq!(bench.restart(), [owed(ended(failed))]);
}

#[test]
fn an_end_that_is_known_after_a_crash_is_told_before_anything_is_granted() {
    let mut bench = Bench::alone();
    bench.holding(600);
    bench.restart();
    let did = bench.end(Ending::Done);
    assert_eq!(did, [Persist(HELD), owed(ended(Ending::Done))]);
    // A late grant does not bring the job back.
    assert_eq!(bench.receive(HOME, verdict(term(1, 0), granted(600))), []);
    assert_eq!(bench.restart(), [owed(ended(Ending::Done))]);
}

#[test]
fn a_job_waits_for_a_home_that_restarts_later_than_its_holder() {
    let mut bench = Bench::alone();
    bench.holding(600);
    bench.restart();
    bench.pass_until(590);
    let did = bench.receive(HOME, verdict(term(1, 0), granted(1190)));
    assert_eq!(did, [queue(term(1, 0), 3, 1190)]);
}

#[test]
fn a_job_claimed_after_a_crash_is_dropped_when_it_is_over() {
    let mut bench = Bench::alone();
    bench.holding(600);
    bench.restart();
    let over = verdict(term(1, 0), Ruling::Over);
    assert_eq!(bench.receive(HOME, over), [DROP, Forget(HELD)]);

    let mut bench = Bench::alone();
    bench.holding(600);
    bench.restart();
    let claims = bench.pass_until(600);
    assert_eq!(claims, vec![owed(UNKNOWN); 9], "less and less often");
    assert_eq!(bench.pass_until(601), orphaned());

    let mut bench = Bench::alone();
    bench.holding(600);
    bench.restart();
    let claim = Send(HOME, second_time(report(term(2, 0), UNKNOWN)));
    let did = bench.receive(HOME, give(HOME, term(2, 0), 0));
    assert_eq!(did, [DROP, Persist(HELD), claim]);
}

#[test]
fn a_verdict_on_one_claim_does_not_count_for_the_next() {
    let mut bench = Bench::alone();
    bench.holding(600);
    bench.end(Ending::Withdrawn);
    bench.receive(HOME, verdict(term(1, 0), Ruling::Over));
    assert!(bench.machine().is_empty());
    // All messages of its home come again.
    let claim = Send(HOME, second_time(report(term(1, 0), UNKNOWN)));
    let did = bench.receive(HOME, give(HOME, term(1, 0), 3));
    assert_eq!(did, [Persist(HELD), claim]);
    let before = bench.machine().clone();
    assert_eq!(bench.receive(HOME, verdict(term(1, 0), granted(600))), []);
    assert_eq!(bench.receive(HOME, verdict(term(1, 0), Ruling::Over)), []);
    assert_eq!(*bench.machine(), before);
    let over = second_time(verdict(term(1, 0), Ruling::Over));
    assert_eq!(bench.receive(HOME, over), [DROP, Forget(HELD)]);
}

#[test]
fn a_claim_lasts_and_none_is_made_twice() {
    let claim = |did: &[Did]| match did.last() {
        Some(Send(HOME, Message::Report { claim, .. })) => *claim,
        other => panic!("{other:?}"),
    };
    let mut bench = Bench::alone();
    let first = claim(&bench.receive(HOME, give(HOME, term(1, 0), 0)));
    assert_eq!(claim(&bench.at(1).restart()), first);
    bench.receive(HOME, verdict(term(1, 0), Ruling::Over));
    bench.restart();
    let next = claim(&bench.receive(HOME, give(HOME, term(1, 0), 0)));
    assert!(next > first);
}

#[test]
fn a_job_waits_if_it_was_granted_and_neither_runs_nor_moves() {
    let waiting = |bench: &Bench| {
        bench
            .machine()
            .waiting()
            .map(|job| job.id)
            .collect::<Vec<_>>()
    };
    let mut bench = Bench::alone();
    bench.receive(HOME, give(HOME, term(1, 0), 0));
    assert_eq!(waiting(&bench), []);
    bench.receive(HOME, verdict(term(1, 0), granted(600)));
    assert_eq!(waiting(&bench), [JOB]);
    let mut other = Bench::alone();
    other.holding(600);
    bench.run();
    other.give_away(1);
    assert_eq!((waiting(&bench), waiting(&other)), (vec![], vec![]));
}

#[test]
fn a_job_is_over_by_a_verdict_on_a_later_term_but_not_on_an_earlier_one() {
    let over = |term| verdict(term, Ruling::Over);
    let mut bench = Bench::alone();
    bench.holding(600);
    assert_eq!(bench.receive(HOME, over(term(0, 9))), []);
    assert!(!bench.machine().is_empty());
    assert_eq!(bench.receive(HOME, over(term(2, 0))), [DROP, Forget(HELD)]);
    assert!(bench.machine().is_empty());
}

#[test]
fn a_job_that_outlives_a_crash_runs_on_under_the_lease_that_it_had() {
    let mut bench = Bench::alone();
    bench.holding(600);
    bench.run();
    let survived = |survival| Command::Survived {
        job: JOB,
        attempt: ATTEMPT,
        survival,
    };
    let resume = |until| {
        let until = second(until);
        survived(Survival::Runs { until })
    };
    let did = bench.at(300).restart_with([resume(600)]);
    assert!(
        matches!(&did[..], [Say(Notice::Resumed { started, .. }), Send(HOME, report)]
            if *started == Time::ZERO && matches!(report, Message::Report { standing: Standing::Running, .. })),
        "{did:?}"
    );
    assert_eq!(bench.machine().running(JOB), Some(ATTEMPT));
    assert_eq!(bench.machine().lease(JOB), Some(second(600)));
    // It is renewed as before.
    let did = bench.receive(HOME, verdict(term(1, 0), granted(900)));
    let (attempt, until) = (ATTEMPT, second(900));
    assert!(did.contains(&Say(tell(News::Extended { attempt, until }))));

    // The lease is over: the job is lost.
    let mut bench = Bench::alone();
    bench.holding(600);
    bench.run();
    let stopped = Say(tell(News::Stopped { attempt: ATTEMPT }));
    let did = bench.at(600).restart_with([resume(600)]);
    assert_eq!(did, [stopped, owed(ended(Ending::Lost))]);

    // It ended while the node was down.
    let mut bench = Bench::alone();
    bench.holding(600);
    bench.run();
    let over = survived(Survival::Ended(job::Outcome::Done));
    let did = bench.at(700).restart_with([over]);
    assert_eq!(did[..2], [Persist(HELD), owed(ended(Ending::Done))]);

    // The host has no room for it any more.
    let mut bench = Bench::alone();
    bench.holding(600);
    bench.run();
    bench.at(300).restart_with([resume(600)]);
    let stopped = Say(tell(News::Stopped { attempt: ATTEMPT }));
    let did = bench.obey(Command::NotResumed(JOB));
    assert_eq!(did[..2], [stopped, Persist(HELD)]);
    assert_eq!(bench.machine().running(JOB), None);
}
