//! A job at its home.

use super::*;

#[test]
fn a_job_is_written_down_and_a_search_begins() {
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
            payload: Payload::EMPTY,
        });
        assert_eq!(did.is_empty(), refusal.is_some());
        refusal
    };
    assert_eq!(keep(job()), Some(Refusal::Known));
    assert_eq!(keep(named(8)), None);
    assert_eq!(keep(named(9)), Some(Refusal::Full));
}

#[test]
fn a_candidate_has_the_job_once_it_reports() {
    let mut bench = Bench::alone();
    bench.placed();
    assert_eq!(bench.machine().holder(JOB), Some(id(1)));
}

#[test]
fn a_silent_candidate_is_asked_again_and_then_the_next_one() {
    let mut bench = Bench::alone();
    bench.keep();
    bench.find(0, &[1, 2]);
    let again = Send(1, give(ME, term(1, 0), 0));
    assert_eq!(bench.pass_until(3), [again]);
    let next = [Persist(TASK), Send(2, give(ME, term(2, 0), 0))];
    assert_eq!(bench.pass_until(6), next);
    // The report of the first candidate comes too late.
    let over = Send(1, verdict(term(1, 0), Ruling::Over));
    assert_eq!(bench.receive(1, report(term(1, 0), UNKNOWN)), [over]);
}

#[test]
fn if_a_candidate_refuses_or_is_unreachable_the_next_one_is_asked() {
    let mut bench = Bench::alone();
    bench.keep();
    bench.find(0, &[1, 2, 3]);
    let next = |to, attempt| [Persist(TASK), Send(to, give(ME, term(attempt, 0), 0))];
    let no = answer(term(1, 0), Answer::NotTaken(Refused::NoMatch));
    assert_eq!(bench.receive(2, no.clone()), []);
    assert_eq!(bench.receive(1, no.clone()), next(2, 2));
    assert_eq!(bench.receive(1, no), []);
    assert_eq!(bench.lose(1), []);
    assert_eq!(bench.lose(2), next(3, 3));
}

#[test]
fn the_last_candidate_says_why_a_job_fails_and_traces_say_the_rest() {
    for (why, refusal) in [
        (Refused::NoMatch, Refusal::NoMatch),
        (Refused::Full, Refusal::NodesFull),
        (Refused::Known, Refusal::NameTaken),
        (Refused::Draining, Refusal::NodesDraining),
        (Refused::NoSite, Refusal::NoAnswer),
        (Refused::Outdated, Refusal::Taken),
    ] {
        let mut bench = Bench::alone();
        let traces = bench.traced(|bench| {
            bench.keep();
            bench.find(0, &[1, 2]);
            bench.lose(1);
            bench.receive(2, answer(term(2, 0), Answer::NotTaken(why)));
        });
        let refuses = std::format!("n2 refuses: {why}");
        let lost = "the attempt fails at n1: it cannot be reached";
        let found = [
            "searches for nodes",
            "n1 makes an offer",
            "n2 makes an offer",
        ];
        let asked = ["asks n1", lost, "asks n2", &refuses];
        assert_eq!(traces, [&found[..], &asked].concat());
        let failed = News::Failed(Failure::Refused(refusal));
        assert_eq!(bench.pass_until(60), [vec![seek(2)], last(failed)].concat());
    }
    let unknown = Bench::alone().traced(|bench| {
        bench.obey(Command::Cancel(job().id));
    });
    let why = "the job is not known here, or is over";
    assert_eq!(unknown, [std::format!("ignores a command: {why}")]);
}

#[test]
fn a_search_without_result_is_repeated_and_then_the_job_fails() {
    let mut bench = Bench::alone();
    bench.keep();
    assert_eq!(bench.find(0, &[]), []);
    assert_eq!(bench.pass_until(9), []);
    assert_eq!(bench.pass_until(10), [seek(0)]);
    // The host does not answer the second search.
    let failed = News::Failed(Failure::Refused(Refusal::NoMatch));
    assert_eq!(bench.pass_until(39), []);
    assert_eq!(bench.pass_until(40), last(failed));
    assert!(bench.machine().is_empty() && bench.host.timers().is_empty());
}

#[test]
fn candidates_of_another_search_are_not_asked() {
    let mut bench = Bench::alone();
    bench.keep();
    assert_eq!(bench.find(1, &[1]), []);
}

#[test]
fn candidates_found_in_the_pause_after_a_search_are_asked() {
    let mut bench = Bench::alone();
    bench.keep();
    assert_eq!(bench.find(0, &[]), []);
    assert_eq!(bench.find(0, &[]), []);
    let given = [Persist(TASK), Send(1, give(ME, term(1, 0), 0))];
    assert_eq!(bench.find(0, &[1]), given);
    // Only the first candidates count.
    assert_eq!(bench.find(0, &[2]), []);
}

#[test]
fn only_the_holder_has_its_lease_renewed() {
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
    // By the slowest clock the holder lets the job go at 602.
    assert_eq!(bench.pass_until(602), []);
    assert_eq!(bench.pass_until(603), [Persist(TASK), seek(1)]);
    assert_eq!(bench.machine().counts().placed_again, 1);
    let given = [Persist(TASK), Send(2, give(ME, term(2, 0), 0))];
    assert_eq!(bench.find(1, &[2]), given);
}

#[test]
fn the_first_claim_to_the_next_term_gets_the_job() {
    let mut bench = Bench::alone();
    bench.placed();
    let moved = Say(tell(News::moved(second(30))));
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
    let moved = Say(tell(News::moved(second(30))));
    let expected = report(term(1, 1), waiting(30));
    assert_eq!(
        bench.receive(2, expected.clone()),
        [Persist(TASK), moved, granted.clone()]
    );
    assert_eq!(bench.receive(2, expected), [granted]);
}

#[test]
fn each_ending_leads_to_its_outcome_or_to_another_search() {
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
    assert_eq!(word(Ending::Broke), last(News::Failed(broke)));
    assert_eq!(word(Ending::Overran), last(News::Failed(Failure::Overran)));
    assert_eq!(word(Ending::Withdrawn), [Persist(TASK), seek(1)]);
}

#[test]
fn a_job_that_may_have_run_is_searched_for_again_only_as_its_policy_says() {
    let lost = Failure::NodeLost;
    for (retry, ending, failure) in [
        (Retry::Never, Ending::Lost, Some(lost)),
        (Retry::Never, Ending::Broke, Some(Failure::Broke)),
        (Retry::Never, Ending::Overran, Some(Failure::Overran)),
        (Retry::Never, Ending::Withdrawn, None),
        (Retry::OnNodeLoss(1), Ending::Lost, None),
        (Retry::OnNodeLoss(0), Ending::Lost, Some(lost)),
        (Retry::OnNodeLoss(1), Ending::Broke, Some(Failure::Broke)),
        (Retry::Always(1), Ending::Lost, None),
        (Retry::Always(1), Ending::Broke, None),
        (Retry::Always(1), Ending::Overran, None),
        (Retry::Always(1), Ending::Failed(lost), Some(lost)),
        (Retry::Always(0), Ending::Overran, Some(Failure::Overran)),
    ] {
        let mut bench = Bench::alone();
        bench.keep_with(retry);
        bench.find(0, &[1]);
        bench.receive(1, report(term(1, 0), waiting(20)));
        let did = bench.receive(1, report(term(1, 0), ended(ending)));
        let told = did.iter().find_map(|did| match did {
            Say(Notice::Tell(told)) => Some(told.news.clone()),
            _ => None,
        });
        assert_eq!(told, failure.map(News::Failed), "{retry:?}, {ending:?}");
        assert_eq!(did.contains(&seek(1)), failure.is_none(), "{retry:?}");
        // A silent holder may have run the job to its end.
        let mut bench = Bench::alone();
        bench.keep_with(retry);
        bench.find(0, &[1]);
        bench.receive(1, report(term(1, 0), waiting(20)));
        let again = bench.pass_until(603).contains(&seek(1));
        assert_eq!(again, retry.after(lost).is_some(), "{retry:?}");
    }
}

#[test]
fn a_job_that_brings_its_nodes_down_is_given_up() {
    let mut bench = Bench::alone();
    bench.placed();
    bench.receive(1, report(term(1, 0), Standing::Running));
    for attempt in 1..3 {
        let lost = bench.receive(1, report(term(attempt, 0), ended(Ending::Lost)));
        assert_eq!(lost[..2], [Persist(TASK), seek(attempt)]);
        bench.find(attempt, &[1]);
        bench.receive(1, report(term(attempt + 1, 0), waiting(30)));
        bench.receive(1, report(term(attempt + 1, 0), Standing::Running));
    }
    let mut did = bench.receive(1, report(term(3, 0), ended(Ending::Lost)));
    did.pop();
    let failed = Say(tell(News::Failed(Failure::NodeLost)));
    assert_eq!(did, [Persist(TASK), failed, Forget(TASK)]);
}

#[test]
fn a_job_that_silences_its_nodes_is_given_up() {
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
fn a_job_that_silences_its_nodes_before_they_say_that_it_runs_is_given_up() {
    let mut bench = Bench::alone();
    bench.placed();
    for attempt in 1..3 {
        let silent = bench.pass_until(u64::from(attempt) * 604);
        assert_eq!(silent, [Persist(TASK), seek(attempt)]);
        bench.find(attempt, &[1]);
        bench.receive(1, report(term(attempt + 1, 0), waiting(30)));
    }
    let failed = Say(tell(News::Failed(Failure::NodeLost)));
    let lost = [Persist(TASK), failed, Forget(TASK)];
    assert_eq!(bench.pass_until(1812), lost);
}

#[test]
fn a_job_that_brings_its_nodes_down_before_they_say_that_it_runs_is_given_up() {
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
    assert_eq!(did, [Persist(TASK), failed, Forget(TASK)]);
}

#[test]
fn a_job_that_was_never_granted_has_not_started() {
    let mut bench = Bench::alone();
    bench.keep();
    bench.find(0, &[1]);
    bench.restart();
    assert_eq!(bench.pass_until(602), [Persist(TASK), seek(1)]);
    bench.find(1, &[1]);
    // So the first accepted start renews all its rounds.
    bench.receive(1, report(term(2, 0), waiting(700)));
    for attempt in 2..4 {
        let lost = bench.receive(1, report(term(attempt, 0), ended(Ending::Withdrawn)));
        assert_eq!(lost[..2], [Persist(TASK), seek(attempt)]);
        bench.find(attempt, &[1]);
        bench.receive(1, report(term(attempt + 1, 0), UNKNOWN));
    }
}

#[test]
fn a_job_that_nodes_take_and_withdraw_again_and_again_fails_in_the_end() {
    let mut bench = Bench::alone();
    bench.keep();
    for attempt in 1..200 {
        bench.find(attempt - 1, &[u64::from(attempt)]);
        // Each node has another place for it, which is news.
        let taken = report(term(attempt, 0), waiting(20));
        bench.receive(u64::from(attempt), taken);
        let gone = report(term(attempt, 0), ended(Ending::Withdrawn));
        bench.receive(u64::from(attempt), gone);
        if bench.machine().is_empty() {
            return assert_eq!(attempt, 65);
        }
    }
    panic!("its user hears nothing");
}

#[test]
fn an_end_reported_by_another_node_or_term_changes_nothing() {
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
fn a_job_that_was_never_granted_is_cancelled_at_once() {
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
fn a_job_done_before_it_was_withdrawn_is_finished() {
    let mut bench = Bench::alone();
    bench.placed();
    bench.cancel();
    let mut did = bench.receive(1, report(term(1, 0), ended(Ending::Done)));
    did.pop();
    assert_eq!(did, last(News::Finished));
}

#[test]
fn a_job_that_moves_while_it_is_withdrawn_is_withdrawn_at_its_new_holder() {
    let mut bench = Bench::alone();
    bench.placed();
    bench.cancel();
    let withdraw = |to, term| [Send(to, verdict(term, Ruling::Withdraw))];
    let did = bench.receive(2, report(term(1, 1), UNKNOWN));
    assert_eq!(did, withdraw(2, term(1, 1)));
    // The new holder was granted nothing, so only the difference of clocks is waited for.
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
fn a_crash_at_any_moment_leads_to_the_same_outcome() {
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
fn a_job_without_a_holder_is_searched_for_again_after_a_crash() {
    let mut bench = Bench::alone();
    bench.keep();
    assert_eq!(bench.restart(), [seek(0)]);
    let mut lost = Bench::alone();
    lost.placed();
    lost.receive(1, report(term(1, 0), ended(Ending::Lost)));
    assert_eq!(lost.restart(), [seek(1)]);
}

#[test]
fn a_job_that_brings_its_home_down_is_given_up() {
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
    assert_eq!(did, [Persist(TASK), failed, Forget(TASK)]);
}

#[test]
fn a_home_remembers_after_a_crash_that_a_job_was_accepted() {
    let mut bench = Bench::alone();
    bench.placed();
    bench.receive(1, report(term(1, 0), ended(Ending::Lost)));
    assert_eq!(bench.restart(), [seek(1)]);
    bench.find(1, &[2]);
    let moved = Say(tell(News::moved(second(30))));
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
    let moved = Say(tell(News::moved(second(30))));
    let granted = Send(2, verdict(term(1, 1), granted(610)));
    let did = bench.receive(2, report(term(1, 1), waiting(30)));
    assert_eq!(did, [Persist(TASK), moved, granted]);
}

#[test]
fn a_node_that_let_a_job_go_and_claims_it_again_does_not_get_it() {
    let mut bench = Bench::alone();
    bench.placed();
    let before = bench.machine().clone();
    let over = [Send(1, second_time(verdict(term(1, 0), Ruling::Over)))];
    for standing in [UNKNOWN, Standing::Running, ended(Ending::Withdrawn)] {
        let again = second_time(report(term(1, 0), standing));
        assert_eq!(bench.receive(1, again), over);
    }
    assert_eq!(*bench.machine(), before);
    // The same after a crash.
    bench.restart();
    let again = second_time(report(term(1, 0), UNKNOWN));
    assert_eq!(bench.receive(1, again), over);
}

#[test]
fn a_candidate_from_before_a_crash_has_the_job_once_it_reports() {
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
fn an_end_that_is_reported_before_any_claim_counts() {
    let mut bench = Bench::alone();
    bench.keep();
    bench.find(0, &[1]);
    let mut did = bench.receive(1, report(term(1, 0), ended(Ending::Done)));
    did.pop();
    assert_eq!(did, last(News::Finished));
}

#[test]
fn an_end_while_a_home_that_runs_its_job_was_down_counts() {
    let mut bench = Bench::alone();
    bench.keep();
    bench.find(0, &[ME]);
    bench.run();
    let attempt = bench.machine().running(JOB).unwrap();
    let done = Survival::Ended(job::Outcome::Done);
    let (job, survival) = (JOB, done);
    let mut did = bench.at(9).restart_with([Command::Survived {
        job,
        attempt,
        survival,
    }]);
    did.extend(bench.pass_until(60));
    assert!(did.contains(&Say(tell(News::Finished))), "{did:?}");
}
