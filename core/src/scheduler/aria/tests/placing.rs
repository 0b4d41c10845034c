//! A job at its submitter.

use super::*;
use crate::job::{Criterion, Scope};

#[test]
fn a_job_is_persisted_before_its_request_is_flooded() {
    let mut bench = Bench::submitting();
    let did = bench.submit();
    assert_eq!(
        did,
        [Persist(TASK), Send(1, request(1)), Send(2, request(1))]
    );
    assert_eq!(bench.machine().jobs().collect::<Vec<_>>(), [JOB]);
}

#[test]
fn a_job_goes_to_the_cheapest_offer_and_then_to_the_lower_id() {
    let mut bench = Bench::submitting();
    bench.submit();
    for (node, cost) in [(4, 90), (3, 80), (2, 80), (1, 100)] {
        assert_eq!(bench.hear(node, accept(flood(0, 1), cost)), []);
    }
    let mine = assign(job(), ME, 1, 0);
    assert_eq!(bench.ring_until(5), [Persist(TASK), Send(2, mine.clone())]);
    // Node 2 is silent and is asked again; then the next node is asked, under a later term.
    let next = |node, attempt| vec![Persist(TASK), Send(node, assign(job(), ME, attempt, 0))];
    assert_eq!(bench.ring_until(8), [Send(2, mine)]);
    assert_eq!(bench.ring_until(11), next(3, 2));
    assert_eq!(
        bench.hear(3, ack(2, 0, Answer::NotTaken(Refused::NoMatch))),
        next(4, 3)
    );
    assert_eq!(bench.feed(Event::Unreachable { to: id(4) }), next(1, 4));
    // A late claim of node 2 is refused.
    let over = Send(2, verdict(1, 0, Ruling::Over));
    assert_eq!(bench.hear(2, notify(1, 0, waiting(11))), [over]);
}

#[test]
fn the_submitter_is_a_candidate_without_messages() {
    let mut bench = Bench::idle();
    bench.submit();
    bench.hear(1, accept(flood(0, 1), 101));
    let start = second(5);
    assert_eq!(
        bench.ring_until(5),
        [
            Persist(TASK),
            Persist(HELD),
            Persist(TASK),
            Tell(News::accepted(start)),
            Persist(HELD),
            started(605)
        ]
    );
    assert_eq!(bench.machine().holder(JOB), Some(id(ME)));
    let did = bench.at(50).end(Outcome::Done);
    let mut expected = vec![Persist(HELD)];
    expected.extend(last(News::Finished));
    expected.push(Forget(HELD));
    assert_eq!(did, expected);
    assert!(bench.host.records().is_empty());
}

#[test]
fn a_job_without_offers_fails_after_its_rounds() {
    let mut bench = Bench::submitting();
    bench.submit();
    assert_eq!(bench.ring_until(14), []);
    assert_eq!(
        bench.ring_until(15),
        [Send(1, request(2)), Send(2, request(2))]
    );
    // An offer for the first flood does not count for the second.
    bench.hear(1, accept(flood(0, 1), 1));
    let failed = News::Failed(Failure::Refused(Refusal::NoMatch));
    assert_eq!(bench.ring_until(20), last(failed));
    assert!(bench.host.records().is_empty() && bench.machine().jobs().count() == 0);
}

#[test]
fn an_unsupported_job_is_refused_with_the_reason() {
    let mut bench = Bench::submitting();
    bench.at(10);
    let mut submit = |change: fn(&mut Job)| {
        let mut job = job();
        change(&mut job);
        bench.obey(Command::submit(job))
    };
    assert_eq!(
        submit(|job| job.deadline = Some(second(10))),
        refused(Refusal::DeadlinePassed)
    );
    assert_eq!(
        submit(|job| job.demand = Demand::Nodes(NonZeroU32::new(2).unwrap())),
        refused(Refusal::UnsupportedDemand)
    );
    assert_eq!(
        submit(|job| job.criterion = Criterion::Closest),
        refused(Refusal::UnsupportedCriterion)
    );
    let two = Dimensions::new(&[("a", Measure::Level), ("b", Measure::Level)]).unwrap();
    let unknown = two.named("b").unwrap();
    let mut strange = job();
    strange.requirement = strange.requirement.with(unknown, 1);
    assert_eq!(
        bench.obey(Command::submit(strange)),
        refused(Refusal::unknown(unknown))
    );
    bench.submit();
    assert_eq!(bench.submit(), refused(Refusal::Known));
    bench.obey(Command::submit(named(8)));
    assert_eq!(
        bench.obey(Command::submit(named(9))),
        refused(Refusal::Full)
    );
    bench.obey(Command::Leave);
    assert_eq!(
        bench.obey(Command::submit(named(9))),
        refused(Refusal::Leaving)
    );
}

#[test]
fn a_leaver_and_a_full_site_offer_nothing() {
    let offers = |bench: &mut Bench| {
        let did = bench.hear(OWNER, asked(named(8)));
        let mut offers = did.iter();
        offers.any(|did| matches!(did, Send(_, Message::Accept { .. })))
    };
    assert!(offers(&mut Bench::idle()));
    let mut leaves = Bench::idle();
    leaves.obey(Command::Leave);
    assert!(!offers(&mut leaves));
    let mut full = Bench::idle();
    for number in 0..u64::from(CONFIG.held) {
        full.hear(OWNER, assign(named(20 + number), OWNER, 1, 0));
    }
    assert!(!offers(&mut full));
}

#[test]
fn only_the_holder_and_the_site_it_gives_the_job_to_are_granted_the_job() {
    let mut bench = Bench::submitting();
    bench.given();
    assert_eq!(bench.machine().holder(JOB), Some(id(1)));
    let over = |node, attempt, moves| vec![Send(node, verdict(attempt, moves, Ruling::Over))];
    for (node, attempt, moves) in [(2, 1, 0), (2, 1, 2), (2, 2, 0), (2, 0, 1)] {
        let claim = notify(attempt, moves, Standing::Running);
        assert_eq!(bench.hear(node, claim), over(node, attempt, moves));
    }
    let start = second(30);
    let did = bench.at(10).hear(2, notify(1, 1, waiting(30)));
    let grant = Send(2, verdict(1, 1, granted(610)));
    assert_eq!(did, [Persist(TASK), Tell(News::moved(start)), grant]);
    assert_eq!(bench.hear(1, notify(1, 1, waiting(30))), over(1, 1, 1));
    assert_eq!(bench.hear(1, notify(1, 0, waiting(30))), over(1, 1, 0));
    // An end that a former holder reports does not count.
    let elsewhere = notify(1, 0, ended(Ending::Done));
    assert_eq!(bench.hear(1, elsewhere), over(1, 1, 0));
    let mut expected = last(News::Finished);
    expected.extend(over(2, 1, 1));
    assert_eq!(bench.hear(2, notify(1, 1, ended(Ending::Done))), expected);
    // A repeated report is answered again, because the first answer may be lost.
    let again = bench.hear(2, notify(1, 1, ended(Ending::Done)));
    assert_eq!(again, over(2, 1, 1));
}

#[test]
fn a_claim_from_a_repeated_assignment_is_refused() {
    let mut bench = Bench::submitting();
    bench.given();
    let again = Claim::new(2);
    let over = custody::Message::Verdict {
        job: JOB,
        term: term(1, 0),
        claim: again,
        ruling: Ruling::Over,
    };
    for standing in [waiting(7), ended(Ending::Lost)] {
        let did = bench.hear(1, claimed(again, 1, 0, standing));
        assert_eq!(did, [Send(1, Message::Custody(over.clone()))]);
    }
    assert_eq!(bench.machine().holder(JOB), Some(id(1)));
}

#[test]
fn a_job_is_placed_again_only_after_its_lease_and_the_skew() {
    let mut bench = Bench::submitting();
    bench.given();
    let renewed = bench.at(100).hear(1, notify(1, 0, Standing::Running));
    assert_eq!(renewed, [Send(1, verdict(1, 0, granted(700)))]);
    assert_eq!(bench.ring_until(701), []);
    let did = bench.ring_until(702);
    assert_eq!(
        did,
        [
            Persist(TASK),
            Send(1, request_again(2)),
            Send(2, request_again(2))
        ]
    );
    assert_eq!(bench.machine().counts().placed_again, 1);
    // The former holder must stop.
    let over = Send(1, verdict(1, 0, Ruling::Over));
    assert_eq!(bench.hear(1, notify(1, 0, Standing::Running)), [over]);
    bench.hear(2, accept(flood(0, 2), 1));
    let second = Send(2, assign(lost_once(), ME, 2, 0));
    assert_eq!(bench.ring_until(707), [Persist(TASK), second]);
}

#[test]
fn a_job_lost_with_its_site_is_placed_again_immediately_and_a_broken_job_fails() {
    let mut bench = Bench::submitting();
    bench.given();
    let did = bench.hear(1, notify(1, 0, ended(Ending::Lost)));
    assert_eq!(
        did,
        [
            Persist(TASK),
            Send(1, verdict(1, 0, Ruling::Over)),
            Send(1, request_again(2)),
            Send(2, request_again(2))
        ]
    );
    let mut bench = Bench::submitting();
    bench.given();
    let did = bench.hear(1, notify(1, 0, ended(BROKE)));
    let mut expected = last(News::Failed(Failure::Broke));
    expected.push(Send(1, verdict(1, 0, Ruling::Over)));
    assert_eq!(did, expected);
}

#[test]
fn a_job_that_is_not_granted_is_cancelled_immediately() {
    let mut bench = Bench::submitting();
    bench.submit();
    assert_eq!(bench.cancel(), last(News::Cancelled));
    bench.submit();
    bench.hear(1, accept(flood(0, 2), 100));
    bench.ring_until(5);
    assert_eq!(bench.cancel(), last(News::Cancelled));
    assert_eq!(bench.cancel(), []);
}

#[test]
fn a_granted_job_is_cancelled_when_its_site_confirms_or_its_lease_ends() {
    let withdraw = || Send(1, verdict(1, 0, Ruling::Withdraw));
    let mut bench = Bench::submitting();
    bench.given();
    assert_eq!(bench.cancel(), [Persist(TASK), withdraw()]);
    assert_eq!(bench.ring_until(9), [withdraw()]);
    let mut expected = last(News::Cancelled);
    expected.push(Send(1, verdict(1, 0, Ruling::Over)));
    let withdrawn = notify(1, 0, ended(Ending::Withdrawn));
    assert_eq!(bench.hear(1, withdrawn), expected);

    let mut bench = Bench::submitting();
    bench.given();
    bench.cancel();
    bench.at(606).ring_until(606);
    let running = bench.hear(1, notify(1, 0, Standing::Running));
    assert_eq!(running, [withdraw()]);
    assert_eq!(bench.ring_until(608), last(News::Cancelled));

    // A job that was done before the cancellation is finished.
    let mut bench = Bench::submitting();
    bench.given();
    bench.cancel();
    let did = bench.hear(1, notify(1, 0, ended(Ending::Done)));
    assert_eq!(did[..3], last(News::Finished)[..]);
}

fn here() -> Job {
    let mut here = job();
    here.scope = Scope::Here;
    here
}

#[test]
fn a_job_that_must_run_here_is_queued_at_its_submitter_without_a_message() {
    let mut bench = Bench::idle();
    assert_eq!(bench.obey(Command::submit(here())), [Persist(TASK)]);
    // A liar's offer changes nothing.
    bench.hear(1, accept(flood(0, 1), -1));
    let did = bench.ring_until(0);
    let expected = [
        Persist(TASK),
        Persist(HELD),
        Persist(TASK),
        Tell(News::accepted(second(0))),
        Persist(HELD),
        started(600),
    ];
    assert_eq!(did, expected);
}

#[test]
fn a_job_that_must_run_here_is_never_advertised() {
    let mut bench = Bench::busy();
    bench.obey(Command::submit(here()));
    bench.ring_until(0);
    assert_eq!(bench.machine().site().local.waiting().len(), 1);
    assert_eq!(bench.ring_until(590), []);
    assert_eq!(bench.machine().counts().moved, 0);
}

#[test]
fn a_job_that_must_run_here_is_refused_where_it_can_never_run() {
    let mut bench = Bench::submitting();
    let did = bench.obey(Command::submit(here()));
    assert_eq!(did, refused(Refusal::NoMatch));
    assert!(bench.host.records().is_empty());
}

#[test]
fn no_other_site_offers_for_or_takes_a_job_that_must_run_at_its_submitter() {
    let mut bench = Bench::idle();
    let did = bench.hear(OWNER, asked(here()));
    let answers = did.iter().filter(|it| matches!(it, Send(OWNER, _)));
    assert_eq!(answers.count(), 0);
    let did = bench.hear(OWNER, assign(here(), OWNER, 1, 0));
    let no = ack(1, 0, Answer::NotTaken(Refused::NoMatch));
    assert_eq!(did, [Send(OWNER, no)]);
}
