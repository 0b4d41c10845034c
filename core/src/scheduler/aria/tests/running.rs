//! A job at the site that holds it.

use super::*;
use crate::admission::Organisations;
use crate::few::Few;
use crate::id::OrganisationId;
use crate::job::Scope;

#[test]
fn a_matching_site_offers_its_cost_and_does_not_pass_the_flood_on() {
    let mut bench = Bench::busy();
    let flood = FloodId {
        origin: id(OWNER),
        sequence: JOB.get(),
        kind: 0,
        round: 1,
    };
    let offer = Send(OWNER, accept(flood, 1100));
    assert_eq!(bench.hear(1, asked(job())), [offer]);
    // The same flood is answered once.
    assert_eq!(bench.hear(2, asked(job())), []);
}

#[test]
fn a_node_that_cannot_run_a_job_passes_the_flood_on_but_not_to_its_sender() {
    let mut bench = Bench::submitting();
    let Message::Request { header, job: of } = asked(job()) else {
        unreachable!("it is a question");
    };
    let onward = Message::Request {
        header: header.onward(CONFIG.request).unwrap(),
        job: of,
    };
    assert_eq!(bench.hear(1, asked(job())), [Send(2, onward.clone())]);
    // With `Always`, a matching site passes the flood on too.
    let mut bench = Bench::boot(|| {
        let forward = Forward::Always;
        site(Config { forward, ..CONFIG }, 0, Membership::default())
    });
    let did = bench.hear(1, asked(job()));
    assert_eq!((did.len(), &did[1]), (2, &Send(2, onward)));
}

#[test]
fn a_site_serves_only_the_users_that_its_membership_allows() {
    let ours = |serves| {
        let mut organisations = Few::new();
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
    let (open, closed) = (ours(Serves::AllUsers), ours(Serves::Members));
    let answers =
        |membership: &Membership, organisation, scope| membership.allows(&by(organisation, scope));
    assert!(answers(&open, 3, Scope::Organisation) && answers(&open, 4, Scope::Grid));
    assert!(!answers(&open, 4, Scope::Organisation));
    assert!(answers(&closed, 3, Scope::Grid) && answers(&closed, 3, Scope::Organisation));
    assert!(!answers(&closed, 4, Scope::Grid));
    assert!(answers(&open, 4, Scope::Here) && !answers(&closed, 4, Scope::Here));
    // A list of organisations says it all: it need not have those of the site.
    let fours = || Shared::new(Organisations::new([OrganisationId::new(4)]).unwrap());
    let (only, except) = (ours(Serves::Only(fours())), ours(Serves::Except(fours())));
    assert!(answers(&only, 4, Scope::Grid) && !answers(&only, 3, Scope::Grid));
    assert!(!answers(&except, 4, Scope::Grid) && answers(&except, 3, Scope::Organisation));
    assert!(!answers(&only, 4, Scope::Organisation) && answers(&except, 5, Scope::Grid));
    // A site does not take a job of a user that it does not serve.
    let mut bench = Bench::submitting();
    let did = bench.hear(OWNER, assign(job(), OWNER, 1, 0));
    assert_eq!(
        did,
        [Send(OWNER, ack(1, 0, Answer::NotTaken(Refused::NoMatch)))]
    );
}

#[test]
fn a_job_is_not_queued_before_its_grant_nor_forgotten_before_the_home_knows_its_end() {
    let mut bench = Bench::idle();
    bench.at(10);
    let did = bench.hear(OWNER, assign(job(), OWNER, 1, 0));
    let claim = || Send(OWNER, notify(1, 0, waiting(10)));
    assert_eq!(did, [Persist(HELD), claim()]);
    assert_eq!(bench.machine().site().local.waiting(), []);
    // A repeated assignment does not cause an extra claim.
    assert_eq!(bench.hear(OWNER, assign(job(), OWNER, 1, 0)), []);
    // Only the home grants the job, and only under its term.
    assert_eq!(bench.hear(1, verdict(1, 0, granted(610))), []);
    assert_eq!(bench.hear(OWNER, verdict(2, 0, granted(610))), []);
    let did = bench.hear(OWNER, verdict(1, 0, granted(610)));
    assert_eq!(did, [Persist(HELD), started(610)]);
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
fn a_claim_without_an_answer_is_repeated_and_then_the_job_is_orphaned() {
    let mut bench = Bench::idle();
    bench.hear(OWNER, assign(job(), OWNER, 1, 0));
    assert_eq!(bench.ring_until(3), [Send(OWNER, notify(1, 0, waiting(0)))]);
    let orphaned = [Forget(HELD), Tell(News::Orphaned)];
    assert_eq!(bench.ring_until(6), orphaned);
    assert_eq!(bench.machine().counts().orphaned, 1);
}

#[test]
fn a_site_without_retries_still_claims_a_job() {
    let mut bench = Bench::boot(|| {
        let retries = 0;
        site(Config { retries, ..CONFIG }, 0, Membership::default())
    });
    let did = bench.hear(OWNER, assign(job(), OWNER, 1, 0));
    let claim = Send(OWNER, notify(1, 0, waiting(0)));
    assert_eq!(did, [Persist(HELD), claim]);
}

#[test]
fn a_lease_is_renewed_and_the_job_stops_when_it_ends() {
    let mut bench = Bench::idle();
    let running = Send(OWNER, notify(1, 0, Standing::Running));
    bench.granted(600);
    assert_eq!(bench.ring_until(199), []);
    assert_eq!(bench.ring_until(200), vec![running.clone()]);
    let extended = News::Extended {
        attempt: ATTEMPT,
        until: second(800),
    };
    let did = bench.hear(OWNER, verdict(1, 0, granted(800)));
    assert_eq!(did, [Tell(extended)]);
    assert_eq!(bench.ring_until(399), []);
    // Then the home is silent. The site repeats, more often when less time is left.
    let asked = bench.ring_until(797);
    assert!(asked.len() > 10 && asked.iter().all(|did| *did == running));
    let end = bench.ring_until(800);
    let stopped = [stopped(), Forget(HELD), Tell(News::Orphaned)];
    assert!(end.ends_with(&stopped) && end.iter().filter(|did| **did != running).count() == 3);
    assert_eq!(bench.end(Outcome::Done), []);
}

#[test]
fn a_grant_that_comes_too_late_has_no_effect() {
    let mut bench = Bench::idle();
    bench.at(610).hear(OWNER, assign(job(), OWNER, 1, 0));
    assert_eq!(bench.hear(OWNER, verdict(1, 0, granted(610))), []);
    assert_eq!(bench.machine().lease(JOB), None);
}

#[test]
fn a_job_stops_with_its_lease_however_little_was_left_when_it_was_granted() {
    let mut bench = Bench::idle();
    bench.granted(20);
    // A grant shorter than a lease is renewed in time too.
    let running = Send(OWNER, notify(1, 0, Standing::Running));
    assert_eq!(bench.ring_until(10), vec![running.clone()]);
    let mut did = bench.ring_until(20);
    did.retain(|did| *did != running);
    assert_eq!(did, [stopped(), Forget(HELD), Tell(News::Orphaned)]);
}

#[test]
fn a_repeated_grant_does_not_delay_the_renewal() {
    let mut bench = Bench::idle();
    bench.granted(600);
    bench.at(199).hear(OWNER, verdict(1, 0, granted(600)));
    let renewal = Send(OWNER, notify(1, 0, Standing::Running));
    assert_eq!(bench.ring_until(200), [renewal]);
}

#[test]
fn a_grant_is_cut_to_one_lease_and_the_skew() {
    let mut bench = Bench::idle();
    bench.granted(1_000_000);
    assert_eq!(bench.machine().lease(JOB), Some(second(601)));
}

#[test]
fn a_job_whose_lease_has_ended_is_not_started() {
    let mut bench = Bench::busy();
    assert_eq!(bench.granted(600), []);
    // The host delivers its timers late.
    let did = bench.at(1000).feed(Event::Timer(Timer::Local));
    assert_eq!(did, [Forget(HELD), Tell(News::Orphaned)]);
    assert_eq!(bench.machine().site().local.running(), []);
}

#[test]
fn a_withdrawn_job_stops_and_its_home_is_told() {
    let withdraw = || verdict(1, 0, Ruling::Withdraw);
    let withdrawn = || Send(OWNER, notify(1, 0, ended(Ending::Withdrawn)));
    let mut bench = Bench::idle();
    bench.granted(600);
    assert_eq!(
        bench.hear(OWNER, withdraw()),
        [stopped(), Forget(HELD), withdrawn()]
    );
    // The same at a site that does not have the job.
    assert_eq!(bench.hear(OWNER, withdraw()), [withdrawn()]);
    // A job that is done is reported as done.
    let mut bench = Bench::idle();
    bench.granted(600);
    bench.end(Outcome::Done);
    let done = Send(OWNER, notify(1, 0, ended(Ending::Done)));
    assert_eq!(bench.hear(OWNER, withdraw()), [Forget(HELD), done]);
}

#[test]
fn an_old_assignment_and_an_old_grant_do_not_start_a_job_again() {
    let mut bench = Bench::idle();
    bench.granted(600);
    bench.end(Outcome::Done);
    bench.hear(OWNER, verdict(1, 0, Ruling::Over));
    assert_eq!(bench.machine().held().count(), 0);
    // Both messages come a second time. The site claims the job, but with a new claim number.
    let did = bench.at(10).hear(OWNER, assign(job(), OWNER, 1, 0));
    let anew = claimed(Claim::new(2), 1, 0, waiting(10));
    assert_eq!(did, [Persist(HELD), Send(OWNER, anew)]);
    assert_eq!(bench.hear(OWNER, verdict(1, 0, granted(600))), []);
    assert_eq!(bench.machine().lease(JOB), None);
    assert_eq!(bench.machine().site().local.running(), []);
    assert_eq!(bench.machine().site().local.waiting(), []);
}

#[test]
fn the_end_of_an_attempt_that_does_not_run_changes_nothing() {
    let mut bench = Bench::idle();
    bench.granted(600);
    assert_eq!(bench.machine().attempt(JOB), Some(ATTEMPT));
    let late = Command::Ended {
        job: JOB,
        attempt: Epoch::new(0),
        outcome: Outcome::Broke,
    };
    assert_eq!(bench.obey(late), []);
    assert_eq!(bench.machine().site().local.running().len(), 1);
    let done = Send(OWNER, notify(1, 0, ended(Ending::Done)));
    assert_eq!(bench.end(Outcome::Done), [Persist(HELD), done]);
    assert_eq!(bench.machine().attempt(JOB), None);
}

/// An idle site that keeps to what it offers, and that has offered to end the job after a hundred seconds.
fn promised() -> Bench {
    let (gifts, none) = (Gifts::AsOffered, Membership::default());
    let config = Config { gifts, ..CONFIG };
    let (mut bench, _) = Bench::started(Time::ZERO, move || site(config, 0, none.clone()));
    let offered = bench.hear(OWNER, asked(job()));
    assert!(matches!(
        offered[..],
        [Send(OWNER, Message::Accept { .. }), ..]
    ));
    bench
}

#[test]
fn a_site_refuses_a_job_that_it_would_end_later_than_it_offered() {
    let mut bench = promised();
    bench.hear(OWNER, assign(named(8), OWNER, 1, 0));
    let name = JobId::new(8);
    let granting = custody::Message::Verdict {
        job: name,
        term: term(1, 0),
        claim: FIRST,
        ruling: granted(600),
    };
    bench.hear(OWNER, Message::Custody(granting));
    let no = ack(1, 0, Answer::NotTaken(Refused::Outdated));
    assert_eq!(
        bench.hear(OWNER, assign(job(), OWNER, 1, 0)),
        [Send(OWNER, no)]
    );
}

#[test]
fn a_site_takes_a_job_as_it_offered_it() {
    let mut bench = promised();
    let did = bench.at(5).hear(OWNER, assign(job(), OWNER, 1, 0));
    assert_eq!(did, [Persist(HELD), Send(OWNER, notify(1, 0, waiting(5)))]);
}

#[test]
fn a_job_that_three_sites_refused_is_taken_at_any_cost() {
    let mut bench = promised();
    bench.hear(OWNER, assign(named(8), OWNER, 1, 0));
    let did = bench.hear(OWNER, assign(job(), OWNER, 4, 0));
    assert_eq!(did.first(), Some(&Persist(HELD)));
}

#[test]
fn a_busy_site_passes_a_request_on_farther_than_an_idle_one() {
    let asked_from = |hops: u8, free_from| {
        let forward = Forward::Wide { near: 1, busy: 2 };
        let config = Config { forward, ..CONFIG };
        let build = move || site(config, free_from, Membership::default());
        let (mut bench, _) = Bench::started(Time::ZERO, build);
        let Message::Request { mut header, job } = asked(job()) else {
            unreachable!("it is a request");
        };
        header.hops = hops;
        let did = bench.hear(OWNER, Message::Request { header, job });
        let onward = did
            .iter()
            .filter(|it| matches!(it, Send(_, Message::Request { .. })));
        onward.count() > 0
    };
    assert!(asked_from(1, 0) && asked_from(1, 1000));
    assert!(!asked_from(2, 0) && asked_from(2, 1000));
    assert!(!asked_from(3, 1000));
}
