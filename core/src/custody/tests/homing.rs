//! A job at its home.

use super::*;

#[test]
fn a_job_is_written_down_and_somebody_searched_for() {
    let mut bench = Bench::alone();
    assert_eq!(bench.keep(), [Persist(TASK), seek(0)]);
    assert!(bench.machine().answers_for(JOB) && bench.machine().holder(JOB).is_none());
    assert_eq!(bench.due(Timer::Task(JOB)), Some(second(30)));
}

#[test]
fn a_job_is_kept_once_and_no_more_than_there_is_room_for() {
    let mut bench = Bench::alone();
    bench.keep();
    let mut keep = |job: Job| {
        let refusal = bench.machine().refusal(job.id);
        let did = bench.obey(Command::Keep {
            job: Shared::new(job),
            tenure: Tenure::ONLY,
            until: None,
        });
        assert_eq!(did.is_empty(), refusal.is_some());
        refusal
    };
    assert_eq!(keep(job()), Some(Refusal::Known));
    assert_eq!(keep(named(8)), None);
    assert_eq!(keep(named(9)), Some(Refusal::Full));
}

#[test]
fn who_is_given_a_job_has_it_when_it_says_so() {
    let mut bench = Bench::alone();
    bench.placed();
    assert_eq!(bench.machine().holder(JOB), Some(id(1)));
}

#[test]
fn a_job_is_given_as_often_as_may_be_and_then_to_the_next() {
    let mut bench = Bench::alone();
    bench.keep();
    bench.find(0, &[1, 2]);
    let again = Send(1, give(ME, term(1, 0), 0));
    assert_eq!(bench.pass_until(3), [again]);
    let next = [Persist(TASK), Send(2, give(ME, term(2, 0), 0))];
    assert_eq!(bench.pass_until(6), next);
    // Who was asked before comes too late.
    let over = Send(1, verdict(term(1, 0), Ruling::Over));
    assert_eq!(bench.receive(1, report(term(1, 0), UNKNOWN)), [over]);
}

#[test]
fn who_does_not_take_a_job_or_is_not_reached_is_followed_by_the_next() {
    let mut bench = Bench::alone();
    bench.keep();
    bench.find(0, &[1, 2, 3]);
    let next = |to, attempt| [Persist(TASK), Send(to, give(ME, term(attempt, 0), 0))];
    let no = answer(term(1, 0), Answer::NotTaken);
    assert_eq!(bench.receive(2, no.clone()), []);
    assert_eq!(bench.receive(1, no.clone()), next(2, 2));
    assert_eq!(bench.receive(1, no), []);
    assert_eq!(bench.lose(1), []);
    assert_eq!(bench.lose(2), next(3, 3));
}

#[test]
fn a_search_for_nothing_is_followed_by_another_and_then_by_failure() {
    let mut bench = Bench::alone();
    bench.keep();
    assert_eq!(bench.find(0, &[]), []);
    assert_eq!(bench.pass_until(9), []);
    assert_eq!(bench.pass_until(10), [seek(0)]);
    // Nobody answers the second search.
    let failed = News::Failed(Failure::Refused(Refusal::NoMatch));
    assert_eq!(bench.pass_until(39), []);
    assert_eq!(bench.pass_until(40), last(failed));
    assert!(bench.machine().is_empty() && bench.host.timers().is_empty());
}

#[test]
fn who_is_found_for_another_search_is_not_asked() {
    let mut bench = Bench::alone();
    bench.keep();
    assert_eq!(bench.find(1, &[1]), []);
}

#[test]
fn who_is_found_while_a_search_for_nothing_is_rested_from_is_asked() {
    let mut bench = Bench::alone();
    bench.keep();
    assert_eq!(bench.find(0, &[]), []);
    assert_eq!(bench.find(0, &[]), []);
    let given = [Persist(TASK), Send(1, give(ME, term(1, 0), 0))];
    assert_eq!(bench.find(0, &[1]), given);
    // Once.
    assert_eq!(bench.find(0, &[2]), []);
}

#[test]
fn a_lease_is_renewed_for_whoever_has_the_job_and_nobody_else() {
    let mut bench = Bench::alone();
    bench.placed();
    let renewed = Send(1, verdict(term(1, 0), granted(800)));
    let running = report(term(1, 0), Standing::Running);
    assert_eq!(bench.at(200).receive(1, running.clone()), [renewed]);
    let over = |to, term| [Send(to, verdict(term, Ruling::Over))];
    assert_eq!(bench.receive(2, running), over(2, term(1, 0)));
    for term in [term(0, 0), term(1, 2), term(2, 0), under(1, 1, 0)] {
        assert_eq!(bench.receive(1, report(term, UNKNOWN)), over(1, term));
    }
}

#[test]
fn a_job_whose_holder_is_silent_is_placed_again_when_its_lease_is_surely_over() {
    let mut bench = Bench::alone();
    bench.placed();
    // At the last instant of the lease by the slowest clock, the holder lets it go.
    assert_eq!(bench.pass_until(602), []);
    assert_eq!(bench.pass_until(603), [Persist(TASK), seek(1)]);
    assert_eq!(bench.machine().counts().placed_again, 1);
    let given = [Persist(TASK), Send(2, give(ME, term(2, 0), 0))];
    assert_eq!(bench.find(1, &[2]), given);
}

#[test]
fn the_first_who_claims_the_next_term_has_the_job() {
    let mut bench = Bench::alone();
    bench.placed();
    let moved = Say(tell(News::Moved { start: second(30) }));
    let verdict_at = |until| Send(2, verdict(term(1, 1), granted(until)));
    let did = bench.at(10).receive(2, report(term(1, 1), waiting(30)));
    assert_eq!(did, [Persist(TASK), moved, verdict_at(610)]);
    let over = |to, term| [Send(to, verdict(term, Ruling::Over))];
    let late = bench.receive(1, report(term(1, 1), UNKNOWN));
    assert_eq!(late, over(1, term(1, 1)));
    let old = bench.receive(1, report(term(1, 0), UNKNOWN));
    assert_eq!(old, over(1, term(1, 0)));
    assert_eq!(
        bench.receive(2, report(term(1, 1), waiting(40))),
        [verdict_at(610)]
    );
}

#[test]
fn a_move_is_told_when_its_start_is_known() {
    let mut bench = Bench::alone();
    bench.placed();
    let granted = Send(2, verdict(term(1, 1), granted(610)));
    let claim = bench.at(10).receive(2, report(term(1, 1), UNKNOWN));
    assert_eq!(claim, [Persist(TASK), granted.clone()]);
    let moved = Say(tell(News::Moved { start: second(30) }));
    let expected = report(term(1, 1), waiting(30));
    assert_eq!(
        bench.receive(2, expected.clone()),
        [Persist(TASK), moved, granted.clone()]
    );
    assert_eq!(bench.receive(2, expected), [granted]);
}

#[test]
fn each_end_has_its_word() {
    let word = |ending| {
        let mut bench = Bench::alone();
        bench.placed();
        let mut did = bench.receive(1, report(term(1, 0), ended(ending)));
        assert_eq!(did.pop(), Some(Send(1, verdict(term(1, 0), Ruling::Over))));
        did
    };
    let broke = Failure::Broke;
    assert_eq!(word(Ending::Done), last(News::Finished));
    assert_eq!(word(Ending::Failed(broke)), last(News::Failed(broke)));
    assert_eq!(word(Ending::Lost), [Persist(TASK), seek(1)]);
    assert_eq!(word(Ending::Withdrawn), [Persist(TASK), seek(1)]);
}

#[test]
fn a_job_that_brings_its_nodes_down_has_only_so_many_rounds() {
    let mut bench = Bench::alone();
    bench.placed();
    bench.receive(1, report(term(1, 0), Standing::Running));
    for attempt in 1..3 {
        let lost = bench.receive(1, report(term(attempt, 0), ended(Ending::Lost)));
        assert_eq!(lost[..2], [Persist(TASK), seek(attempt)]);
        bench.find(attempt, &[1]);
        // A new place to wait at does not renew them.
        bench.receive(1, report(term(attempt + 1, 0), waiting(30)));
        bench.receive(1, report(term(attempt + 1, 0), Standing::Running));
    }
    let mut did = bench.receive(1, report(term(3, 0), ended(Ending::Lost)));
    did.pop();
    let failed = Say(tell(News::Failed(Failure::NodeLost)));
    // It is written down that nobody has it, and then that it is over.
    assert_eq!(did, [Persist(TASK), Persist(TASK), failed, Forget(TASK)]);
}

#[test]
fn a_job_that_silences_its_nodes_has_only_so_many_rounds() {
    let mut bench = Bench::alone();
    bench.placed();
    bench.receive(1, report(term(1, 0), Standing::Running));
    for attempt in 1..3 {
        let silent = bench.pass_until(u64::from(attempt) * 604);
        assert_eq!(silent, [Persist(TASK), seek(attempt)]);
        bench.find(attempt, &[1]);
        bench.receive(1, report(term(attempt + 1, 0), waiting(30)));
        bench.receive(1, report(term(attempt + 1, 0), Standing::Running));
    }
    let failed = Say(tell(News::Failed(Failure::NodeLost)));
    assert!(bench.pass_until(1812).contains(&failed));
}

#[test]
fn a_job_that_silences_its_nodes_before_they_say_that_it_runs_has_only_so_many_rounds() {
    let mut bench = Bench::alone();
    bench.placed();
    for attempt in 1..3 {
        let silent = bench.pass_until(u64::from(attempt) * 604);
        assert_eq!(silent, [Persist(TASK), seek(attempt)]);
        bench.find(attempt, &[1]);
        bench.receive(1, report(term(attempt + 1, 0), waiting(30)));
    }
    let failed = Say(tell(News::Failed(Failure::NodeLost)));
    let lost = [Persist(TASK), Persist(TASK), failed, Forget(TASK)];
    assert_eq!(bench.pass_until(1812), lost);
}

#[test]
fn a_job_that_brings_its_nodes_down_before_they_say_that_it_runs_has_only_so_many_rounds() {
    let mut bench = Bench::alone();
    bench.placed();
    for attempt in 1..3 {
        let lost = bench.receive(1, report(term(attempt, 0), ended(Ending::Lost)));
        assert_eq!(lost[..2], [Persist(TASK), seek(attempt)]);
        bench.find(attempt, &[1]);
        bench.receive(1, report(term(attempt + 1, 0), waiting(30)));
    }
    let mut did = bench.receive(1, report(term(3, 0), ended(Ending::Lost)));
    did.pop();
    let failed = Say(tell(News::Failed(Failure::NodeLost)));
    assert_eq!(did, [Persist(TASK), Persist(TASK), failed, Forget(TASK)]);
}

#[test]
fn a_job_that_nobody_was_granted_has_not_started() {
    let mut bench = Bench::alone();
    bench.keep();
    bench.find(0, &[1]);
    bench.restart();
    assert_eq!(bench.pass_until(602), [Persist(TASK), seek(1)]);
    bench.find(1, &[1]);
    // So the first who has it renews all its rounds.
    bench.receive(1, report(term(2, 0), waiting(700)));
    for attempt in 2..4 {
        let lost = bench.receive(1, report(term(attempt, 0), ended(Ending::Withdrawn)));
        assert_eq!(lost[..2], [Persist(TASK), seek(attempt)]);
        bench.find(attempt, &[1]);
        bench.receive(1, report(term(attempt + 1, 0), UNKNOWN));
    }
}

#[test]
fn an_end_elsewhere_than_where_the_job_is_changes_nothing() {
    let mut bench = Bench::alone();
    bench.placed();
    let before = bench.machine().clone();
    for (from, term) in [(2, term(1, 0)), (1, term(0, 0)), (1, under(1, 1, 0))] {
        let did = bench.receive(from, report(term, ended(Ending::Done)));
        assert_eq!(did, [Send(from, verdict(term, Ruling::Over))]);
    }
    assert_eq!(*bench.machine(), before);
}

#[test]
fn a_job_that_nobody_was_granted_is_cancelled_at_once() {
    let mut bench = Bench::alone();
    bench.keep();
    bench.find(0, &[1]);
    assert_eq!(bench.cancel(), last(News::Cancelled));
    let over = Send(1, verdict(term(1, 0), Ruling::Over));
    assert_eq!(bench.receive(1, report(term(1, 0), UNKNOWN)), [over]);
}

#[test]
fn a_job_that_was_granted_is_withdrawn_until_its_holder_says_so_or_its_lease_is_over() {
    let mut bench = Bench::alone();
    bench.placed();
    let withdraw = Send(1, verdict(term(1, 0), Ruling::Withdraw));
    assert_eq!(bench.cancel(), [Persist(TASK), withdraw.clone()]);
    assert_eq!(bench.cancel(), []);
    assert_eq!(bench.pass_until(4), [withdraw]);
    let mut did = bench.receive(1, report(term(1, 0), ended(Ending::Withdrawn)));
    did.pop();
    assert_eq!(did, last(News::Cancelled));

    let mut silent = Bench::alone();
    silent.placed();
    silent.cancel();
    let did = silent.pass_until(602);
    assert!(!did.contains(&Say(tell(News::Cancelled))));
    assert_eq!(silent.pass_until(603), last(News::Cancelled));
}

#[test]
fn what_was_done_before_it_was_withdrawn_is_done() {
    let mut bench = Bench::alone();
    bench.placed();
    bench.cancel();
    let mut did = bench.receive(1, report(term(1, 0), ended(Ending::Done)));
    did.pop();
    assert_eq!(did, last(News::Finished));
}

#[test]
fn what_moves_while_it_is_withdrawn_is_withdrawn_where_it_went() {
    let mut bench = Bench::alone();
    bench.placed();
    bench.cancel();
    let withdraw = |to, term| [Send(to, verdict(term, Ruling::Withdraw))];
    let did = bench.receive(2, report(term(1, 1), UNKNOWN));
    assert_eq!(did, withdraw(2, term(1, 1)));
    // Nothing was granted there, so it is over when clocks agree.
    assert_eq!(bench.pass_until(4), last(News::Cancelled));
}

#[test]
fn a_job_that_was_given_is_waited_for_a_whole_lease_after_a_crash() {
    let mut bench = Bench::alone();
    bench.placed();
    assert_eq!(bench.at(100).restart(), []);
    assert_eq!(bench.machine().holder(JOB), Some(id(1)));
    assert_eq!(bench.pass_until(701), []);
    assert_eq!(bench.pass_until(702), [Persist(TASK), seek(1)]);
}

#[test]
fn a_crash_at_any_moment_gives_no_other_last_word() {
    for executed in 1..3 {
        let mut bench = Bench::alone();
        bench.placed();
        let done = Event::Message {
            from: id(1),
            message: report(term(1, 0), ended(Ending::Done)),
        };
        bench.feed_some(done, executed);
        assert_eq!(bench.restart(), last(News::Finished));
    }
    let mut bench = Bench::alone();
    bench.placed();
    bench.cancel();
    let withdraw = Send(1, verdict(term(1, 0), Ruling::Withdraw));
    assert_eq!(bench.restart(), [withdraw]);
}

#[test]
fn a_job_that_nobody_was_given_is_searched_for_anew_after_a_crash() {
    let mut bench = Bench::alone();
    bench.keep();
    assert_eq!(bench.restart(), [seek(0)]);
    let mut lost = Bench::alone();
    lost.placed();
    lost.receive(1, report(term(1, 0), ended(Ending::Lost)));
    assert_eq!(lost.restart(), [seek(1)]);
}

#[test]
fn a_job_that_brings_its_home_down_has_only_so_many_rounds() {
    let mut bench = Bench::alone();
    bench.placed();
    for attempt in 1..3 {
        bench.restart();
        let lost = bench.receive(1, report(term(attempt, 0), ended(Ending::Lost)));
        assert_eq!(lost[..2], [Persist(TASK), seek(attempt)]);
        bench.find(attempt, &[1]);
        bench.receive(1, report(term(attempt + 1, 0), waiting(30)));
    }
    bench.restart();
    let mut did = bench.receive(1, report(term(3, 0), ended(Ending::Lost)));
    did.pop();
    let failed = Say(tell(News::Failed(Failure::NodeLost)));
    assert_eq!(did, [Persist(TASK), Persist(TASK), failed, Forget(TASK)]);
}

#[test]
fn a_job_that_was_accepted_and_lost_is_so_after_a_crash() {
    let mut bench = Bench::alone();
    bench.placed();
    bench.receive(1, report(term(1, 0), ended(Ending::Lost)));
    assert_eq!(bench.restart(), [seek(1)]);
    bench.find(1, &[2]);
    let moved = Say(tell(News::Moved { start: second(30) }));
    let verdict = Send(2, verdict(term(2, 0), granted(601)));
    let did = bench.receive(2, report(term(2, 0), waiting(30)));
    assert_eq!(did, [Persist(TASK), moved, verdict]);

    let mut nowhere = Bench::alone();
    nowhere.placed();
    nowhere.receive(1, report(term(1, 0), ended(Ending::Lost)));
    nowhere.restart();
    let failed = Say(tell(News::Failed(Failure::NodeLost)));
    assert!(nowhere.pass_until(200).contains(&failed));
}

#[test]
fn a_move_whose_start_is_not_known_is_told_after_a_crash() {
    let mut bench = Bench::alone();
    bench.placed();
    bench.at(10).receive(2, report(term(1, 1), UNKNOWN));
    bench.restart();
    let moved = Say(tell(News::Moved { start: second(30) }));
    let granted = Send(2, verdict(term(1, 1), granted(610)));
    let did = bench.receive(2, report(term(1, 1), waiting(30)));
    assert_eq!(did, [Persist(TASK), moved, granted]);
}

#[test]
fn who_let_a_job_go_and_claims_it_again_does_not_get_it() {
    let mut bench = Bench::alone();
    bench.placed();
    let before = bench.machine().clone();
    let over = [Send(1, second_time(verdict(term(1, 0), Ruling::Over)))];
    for standing in [UNKNOWN, Standing::Running, ended(Ending::Withdrawn)] {
        let again = second_time(report(term(1, 0), standing));
        assert_eq!(bench.receive(1, again), over);
    }
    assert_eq!(*bench.machine(), before);
    // Nor after a crash.
    bench.restart();
    let again = second_time(report(term(1, 0), UNKNOWN));
    assert_eq!(bench.receive(1, again), over);
}

#[test]
fn who_was_given_a_job_before_a_crash_has_it_when_it_says_so() {
    let mut bench = Bench::alone();
    bench.keep();
    bench.find(0, &[1]);
    assert_eq!(bench.restart(), []);
    let granted = Send(1, verdict(term(1, 0), granted(600)));
    let claim = report(term(1, 0), UNKNOWN);
    assert_eq!(
        bench.receive(1, claim.clone()),
        [Persist(TASK), granted.clone()]
    );
    assert_eq!(bench.receive(1, claim), [granted]);
}

#[test]
fn an_end_that_is_known_before_the_claim_is_heard_counts() {
    let mut bench = Bench::alone();
    bench.keep();
    bench.find(0, &[1]);
    let mut did = bench.receive(1, report(term(1, 0), ended(Ending::Done)));
    did.pop();
    assert_eq!(did, last(News::Finished));
}
