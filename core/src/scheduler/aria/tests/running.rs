//! A job at the site that runs it.

use super::*;
use crate::id::OrganisationId;
use crate::job::Scope;

#[test]
fn a_site_offers_what_a_job_costs_there_and_does_not_pass_it_on() {
    let mut bench = Bench::busy();
    let flood = FloodId {
        origin: id(OWNER),
        sequence: JOB.get(),
        kind: 0,
        round: 1,
    };
    let offer = Send(OWNER, accept(flood, 1100));
    assert_eq!(bench.hear(1, asked(job())), [offer]);
    // Once.
    assert_eq!(bench.hear(2, asked(job())), []);
}

#[test]
fn who_cannot_run_a_job_passes_it_on_to_others_than_it_came_from() {
    let mut bench = Bench::submitting();
    let Message::Request { header, job: of } = asked(job()) else {
        unreachable!("it is a question");
    };
    let onward = Message::Request {
        header: header.onward(CONFIG.request).unwrap(),
        job: of,
    };
    assert_eq!(bench.hear(1, asked(job())), [Send(2, onward.clone())]);
    // And so does everyone, if that is the rule.
    let mut bench = Bench::boot(|| {
        let forward = Forward::Always;
        site(Config { forward, ..CONFIG }, 0, Membership::default())
    });
    let did = bench.hear(1, asked(job()));
    assert_eq!((did.len(), &did[1]), (2, &Send(2, onward)));
}

#[test]
fn a_site_serves_whom_it_is_for() {
    let ours = |serves| {
        let mut organisations = heapless::Vec::new();
        organisations.push(OrganisationId::new(3)).unwrap();
        Membership {
            organisations,
            serves,
        }
    };
    let by = |organisation, scope| {
        let mut job = job();
        job.submitter.organisation = OrganisationId::new(organisation);
        job.scope = scope;
        job
    };
    let (open, closed) = (ours(Serves::Everyone), ours(Serves::Members));
    let answers =
        |membership: &Membership, organisation, scope| membership.allows(&by(organisation, scope));
    assert!(answers(&open, 3, Scope::Organisation) && answers(&open, 4, Scope::Grid));
    assert!(!answers(&open, 4, Scope::Organisation));
    assert!(answers(&closed, 3, Scope::Grid) && answers(&closed, 3, Scope::Organisation));
    assert!(!answers(&closed, 4, Scope::Grid));
    // Who is not served is not taken in either.
    let mut bench = Bench::submitting();
    let did = bench.hear(OWNER, assign(job(), OWNER, 1, 0));
    assert_eq!(did, [Send(OWNER, ack(1, 0, Answer::NotTaken))]);
}

#[test]
fn nothing_is_queued_before_it_is_granted_nor_forgotten_before_its_end_is_known() {
    let mut bench = Bench::idle();
    bench.at(10);
    let did = bench.hear(OWNER, assign(job(), OWNER, 1, 0));
    let claim = || Send(OWNER, notify(1, 0, waiting(10)));
    assert_eq!(did, [Persist(HELD), claim()]);
    assert_eq!(bench.machine().site().local.waiting(), []);
    // Asked again, it says so again when it would anyway.
    assert_eq!(bench.hear(OWNER, assign(job(), OWNER, 1, 0)), []);
    // Only its owner grants it, and only under its term.
    assert_eq!(bench.hear(1, verdict(1, 0, granted(610))), []);
    assert_eq!(bench.hear(OWNER, verdict(2, 0, granted(610))), []);
    let did = bench.hear(OWNER, verdict(1, 0, granted(610)));
    assert_eq!(did, [Persist(HELD), Tell(News::Started)]);
    assert_eq!(bench.machine().lease(JOB), Some(second(610)));
    let done = || Send(OWNER, notify(1, 0, ended(Ending::Done)));
    let did = bench.at(100).end(Outcome::Done);
    assert_eq!(did, [Persist(HELD), done()]);
    assert_eq!(bench.end(Outcome::Done), []);
    assert_eq!(bench.ring_until(103), [done()]);
    let did = bench.hear(OWNER, verdict(1, 0, Ruling::Over));
    assert_eq!(did, [Forget(HELD)]);
    assert!(bench.host.records().is_empty());
}

#[test]
fn a_claim_that_nobody_answers_is_repeated_as_often_as_may_be() {
    let mut bench = Bench::idle();
    bench.hear(OWNER, assign(job(), OWNER, 1, 0));
    assert_eq!(bench.ring_until(3), [Send(OWNER, notify(1, 0, waiting(0)))]);
    let orphaned = [Forget(HELD), Tell(News::Orphaned)];
    assert_eq!(bench.ring_until(6), orphaned);
    assert_eq!(bench.machine().counts().orphaned, 1);
}

#[test]
fn who_asks_nothing_again_still_claims_what_it_is_given() {
    let mut bench = Bench::boot(|| {
        let retries = 0;
        site(Config { retries, ..CONFIG }, 0, Membership::default())
    });
    let did = bench.hear(OWNER, assign(job(), OWNER, 1, 0));
    let claim = Send(OWNER, notify(1, 0, waiting(0)));
    assert_eq!(did, [Persist(HELD), claim]);
}

#[test]
fn a_lease_is_renewed_and_what_runs_stops_when_it_is_over() {
    let mut bench = Bench::idle();
    let running = Send(OWNER, notify(1, 0, Standing::Running));
    bench.granted(600);
    assert_eq!(bench.ring_until(199), []);
    assert_eq!(bench.ring_until(200), vec![running.clone()]);
    assert_eq!(bench.hear(OWNER, verdict(1, 0, granted(800))), []);
    assert_eq!(bench.ring_until(399), []);
    // Then nobody answers: again and again, the more often the less time is left.
    let asked = bench.ring_until(797);
    assert!(asked.len() > 10 && asked.iter().all(|did| *did == running));
    let end = bench.ring_until(800);
    let stopped = [Tell(News::Stopped), Forget(HELD), Tell(News::Orphaned)];
    assert!(end.ends_with(&stopped) && end.iter().filter(|did| **did != running).count() == 3);
    assert_eq!(bench.end(Outcome::Done), []);
}

#[test]
fn a_grant_that_comes_too_late_grants_nothing() {
    let mut bench = Bench::idle();
    bench.at(610).hear(OWNER, assign(job(), OWNER, 1, 0));
    assert_eq!(bench.hear(OWNER, verdict(1, 0, granted(610))), []);
    assert_eq!(bench.machine().lease(JOB), None);
}

#[test]
fn a_job_stops_with_its_lease_however_little_was_left_when_it_was_granted() {
    let mut bench = Bench::idle();
    bench.granted(20);
    // What is granted for less than a lease is asked for in time, too.
    let running = Send(OWNER, notify(1, 0, Standing::Running));
    assert_eq!(bench.ring_until(10), vec![running.clone()]);
    let mut did = bench.ring_until(20);
    did.retain(|did| *did != running);
    assert_eq!(
        did,
        [Tell(News::Stopped), Forget(HELD), Tell(News::Orphaned)]
    );
}

#[test]
fn a_grant_that_comes_again_puts_no_renewal_off() {
    let mut bench = Bench::idle();
    bench.granted(600);
    bench.at(199).hear(OWNER, verdict(1, 0, granted(600)));
    let renewal = Send(OWNER, notify(1, 0, Standing::Running));
    assert_eq!(bench.ring_until(200), [renewal]);
}

#[test]
fn nobody_grants_more_than_a_lease() {
    let mut bench = Bench::idle();
    bench.granted(1_000_000);
    assert_eq!(bench.machine().lease(JOB), Some(second(601)));
}

#[test]
fn what_comes_to_its_turn_after_its_lease_is_not_started() {
    let mut bench = Bench::busy();
    assert_eq!(bench.granted(600), []);
    // The timers of this host are late.
    let did = bench.at(1000).feed(Event::Timer(Timer::Local));
    assert_eq!(did, [Forget(HELD), Tell(News::Orphaned)]);
    assert_eq!(bench.machine().site().local.running(), []);
}

#[test]
fn what_is_withdrawn_stops_and_its_owner_hears_of_it() {
    let withdraw = || verdict(1, 0, Ruling::Withdraw);
    let withdrawn = || Send(OWNER, notify(1, 0, ended(Ending::Withdrawn)));
    let mut bench = Bench::idle();
    bench.granted(600);
    assert_eq!(
        bench.hear(OWNER, withdraw()),
        [Tell(News::Stopped), Forget(HELD), withdrawn()]
    );
    // Where there is nothing of it.
    assert_eq!(bench.hear(OWNER, withdraw()), [withdrawn()]);
    // Where it is done.
    let mut bench = Bench::idle();
    bench.granted(600);
    bench.end(Outcome::Done);
    let done = Send(OWNER, notify(1, 0, ended(Ending::Done)));
    assert_eq!(bench.hear(OWNER, withdraw()), [Forget(HELD), done]);
}

#[test]
fn who_let_a_job_go_and_is_given_it_by_an_old_assignment_does_not_start_it_under_an_old_grant() {
    let mut bench = Bench::idle();
    bench.granted(600);
    bench.end(Outcome::Done);
    bench.hear(OWNER, verdict(1, 0, Ruling::Over));
    assert_eq!(bench.machine().held().count(), 0);
    // Both messages come a second time. It claims the job, but as another time that it has it.
    let did = bench.at(10).hear(OWNER, assign(job(), OWNER, 1, 0));
    let anew = claimed(Claim::new(2), 1, 0, waiting(10));
    assert_eq!(did, [Persist(HELD), Send(OWNER, anew)]);
    assert_eq!(bench.hear(OWNER, verdict(1, 0, granted(600))), []);
    assert_eq!(bench.machine().lease(JOB), None);
    assert_eq!(bench.machine().site().local.running(), []);
    assert_eq!(bench.machine().site().local.waiting(), []);
}
