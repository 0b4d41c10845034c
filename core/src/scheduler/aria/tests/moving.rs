//! A waiting job is advertised to other sites.

use super::*;

/// A site that is busy until 1000 has a waiting job and advertises it at second 1.
fn advertised() -> Bench {
    let mut bench = Bench::busy();
    assert_eq!(bench.granted(600), []);
    let did = bench.ring_until(1);
    let news = |to| Send(to, inform(1, 1099));
    assert_eq!(did, [news(1), news(2)]);
    bench
}

/// Like `advertised`; the job is given to node 1 at second 6.
fn given_away() -> Bench {
    let mut bench = advertised();
    bench.hear(1, accept(flood(1, 1), 100));
    let assign = Send(1, assign(job(), OWNER, 1, 1));
    assert_eq!(bench.ring_until(6), [Persist(HELD), assign]);
    assert_eq!(bench.machine().site().local.waiting(), []);
    bench
}

#[test]
fn a_job_goes_to_the_best_offer_that_beats_its_cost_by_the_threshold() {
    let mut bench = advertised();
    bench.hear(1, accept(flood(1, 1), 300));
    bench.hear(2, accept(flood(1, 1), 200));
    let assign = Send(2, assign(job(), OWNER, 1, 1));
    assert_eq!(bench.ring_until(6), [Persist(HELD), assign]);
    // At second 6 the job costs 1094 here.
    let mut bench = advertised();
    bench.hear(1, accept(flood(1, 1), 1065));
    assert_eq!(bench.ring_until(6), []);
    assert_eq!(bench.machine().counts().moved, 0);
    assert_eq!(bench.machine().site().local.waiting().len(), 1);
}

#[test]
fn with_taking_first_the_first_offer_that_beats_the_threshold_gets_the_job() {
    let mut bench = Bench::boot(|| {
        let taking = Taking::First;
        site(Config { taking, ..CONFIG }, 1000, Membership::default())
    });
    bench.granted(600);
    bench.ring_until(1);
    // At second 1 the job costs 1099 here.
    assert_eq!(bench.hear(1, accept(flood(1, 1), 1070)), []);
    let assign = Send(2, assign(job(), OWNER, 1, 1));
    let did = bench.hear(2, accept(flood(1, 1), 1069));
    assert_eq!(did, [Persist(HELD), assign]);
    assert_eq!(bench.hear(1, accept(flood(1, 1), 1)), []);
}

#[test]
fn a_job_that_started_meanwhile_stays() {
    let mut bench = Bench::boot(|| site(CONFIG, 3, Membership::default()));
    bench.granted(600);
    assert_eq!(bench.ring_until(1).len(), 2);
    bench.hear(1, accept(flood(1, 1), 1));
    assert_eq!(bench.ring_until(3), [Persist(HELD), started(600)]);
    // An offer after the start comes too late.
    assert_eq!(bench.hear(2, accept(flood(1, 1), 1)), []);
    assert_eq!(bench.ring_until(6), []);
    assert_eq!(bench.machine().site().local.running().len(), 1);
}

#[test]
fn an_advertised_job_is_dropped_when_its_lease_ends() {
    let mut bench = Bench::busy();
    bench.granted(3);
    bench.ring_until(1);
    let renewal = Send(OWNER, notify(1, 0, waiting(1000)));
    assert_eq!(
        bench.ring_until(3),
        [renewal, Forget(HELD), Tell(News::Orphaned)]
    );
    bench.hear(1, accept(flood(1, 1), 100));
    assert_eq!(bench.ring_until(6), []);
}

#[test]
fn a_job_that_another_site_took_is_remembered_for_a_lease() {
    let mut bench = given_away();
    assert_eq!(bench.hear(1, ack(1, 1, Answer::Taken)), []);
    // An old assignment does not bring the job back.
    assert_eq!(bench.hear(OWNER, assign(job(), OWNER, 1, 0)), []);
    assert_eq!(bench.ring_until(606), []);
    assert_eq!(bench.ring_until(607), [Forget(HELD)]);
}

#[test]
fn a_job_that_was_given_away_and_not_taken_is_claimed_under_the_next_term() {
    let claim = || vec![Persist(HELD), Send(OWNER, notify(1, 1, UNKNOWN))];
    let mut bench = given_away();
    assert_eq!(
        bench.hear(1, ack(1, 1, Answer::NotTaken(Refused::NoMatch))),
        claim()
    );
    let mut bench = given_away();
    let did = bench.feed(Event::Unreachable { to: id(1) });
    assert_eq!(did, claim());
    // If node 1 is silent, the job is given once more before that.
    let mut bench = given_away();
    let again = Send(1, assign(job(), OWNER, 1, 1));
    assert_eq!(bench.ring_until(9), [again]);
    assert_eq!(bench.ring_until(12), claim());
    // An old grant has no effect; the new one puts the job into the queue again.
    assert_eq!(bench.hear(OWNER, verdict(1, 0, granted(600))), []);
    assert_eq!(bench.machine().site().local.waiting(), []);
    let start = Send(OWNER, notify(1, 1, waiting(1000)));
    assert_eq!(bench.hear(OWNER, verdict(1, 1, granted(612))), [start]);
    assert_eq!(bench.machine().site().local.waiting().len(), 1);
}

/// `OWNER` grants a job under this claim, after this number of moves.
fn grant(bench: &mut Bench, name: u64, claim: u64, moves: u32) {
    let granted = custody::Message::Verdict {
        job: JobId::new(name),
        term: term(1, moves),
        claim: Claim::new(claim),
        ruling: granted(600),
    };
    bench.hear(OWNER, Message::Custody(granted));
}

fn queued(bench: &Bench) -> Vec<u64> {
    let waiting = bench.machine().site().local.waiting().iter();
    waiting.map(|queued| queued.job.get()).collect()
}

#[test]
fn a_job_that_comes_back_is_queued_by_its_first_arrival() {
    let mut bench = advertised();
    bench.hear(OWNER, assign(named(5), OWNER, 1, 0));
    grant(&mut bench, 5, 2, 0);
    assert_eq!(queued(&bench), [7, 5]);
    // Node 1 makes a good offer and then does not take the job.
    bench.hear(1, accept(flood(1, 1), 1));
    bench.ring_until(12);
    assert_eq!(queued(&bench), [5]);
    grant(&mut bench, 7, 1, 1);
    assert_eq!(queued(&bench), [7, 5]);
    // The same holds after a crash, in whichever order the jobs are granted.
    bench.restart();
    assert_eq!(queued(&bench), [0; 0]);
    grant(&mut bench, 5, 2, 0);
    grant(&mut bench, 7, 1, 1);
    assert_eq!(queued(&bench), [7, 5]);
}

#[test]
fn old_messages_do_not_bring_back_a_job_that_another_site_has_claimed() {
    let mut bench = given_away();
    bench.feed(Event::Unreachable { to: id(1) });
    // Another site has claimed the job first.
    let did = bench.hear(OWNER, verdict(1, 1, Ruling::Over));
    assert_eq!(did, [Forget(HELD)]);
    // The first assignment and its grant come a second time.
    let did = bench.hear(OWNER, assign(job(), OWNER, 1, 0));
    let anew = claimed(Claim::new(2), 1, 0, waiting(1000));
    assert_eq!(did, [Persist(HELD), Send(OWNER, anew)]);
    assert_eq!(bench.hear(OWNER, verdict(1, 0, granted(600))), []);
    assert_eq!(bench.machine().lease(JOB), None);
    assert_eq!(bench.machine().site().local.waiting(), []);
}

#[test]
fn a_site_that_takes_a_job_tells_the_giver_and_the_home() {
    let mut bench = Bench::idle();
    let did = bench.hear(1, assign(job(), OWNER, 1, 1));
    assert_eq!(
        did,
        [
            Persist(HELD),
            Send(1, ack(1, 1, Answer::Taken)),
            Send(OWNER, notify(1, 1, waiting(0)))
        ]
    );
    // A running job is not taken again, nor given back by an old message.
    bench.hear(OWNER, verdict(1, 1, granted(600)));
    let did = bench.hear(2, assign(job(), OWNER, 1, 2));
    assert_eq!(
        did,
        [Send(2, ack(1, 2, Answer::NotTaken(Refused::NoMatch)))]
    );
    assert_eq!(bench.hear(1, assign(job(), OWNER, 1, 0)), []);
}

#[test]
fn the_job_that_was_submitted_first_is_advertised_first() {
    let mut bench = Bench::busy();
    for (name, submitted) in [(7, 3), (8, 1), (9, 2)] {
        let mut job = named(name);
        job.submitted = second(submitted);
        bench.hear(OWNER, assign(job, OWNER, 1, 0));
        let claims = u64::try_from(bench.machine().held().count()).unwrap();
        let granted = custody::Message::Verdict {
            job: JobId::new(name),
            term: term(1, 0),
            claim: Claim::new(claims),
            ruling: granted(600),
        };
        bench.hear(OWNER, Message::Custody(granted));
    }
    let did = bench.ring_until(1);
    let names = did.iter().map(|did| match did {
        Send(_, Message::Inform { job, .. }) => job.get().id.get(),
        other => panic!("{other:?}"),
    });
    assert_eq!(names.collect::<Vec<_>>(), [8, 8]);
}

#[test]
fn a_leaver_gives_away_waiting_jobs_and_then_leaves_the_overlay() {
    let mut bench = Bench::busy();
    bench.granted(600);
    let did = bench.obey(Command::Leave);
    let any = Message::Inform {
        header: sent(CONFIG.inform, flood(1, 1)),
        job: Shared::new(job()),
        cost: Cost::MAX,
    };
    assert_eq!(did, [Send(1, any.clone()), Send(2, any)]);
    bench.hear(1, accept(flood(1, 1), 5000));
    let assign = Send(1, assign(job(), OWNER, 1, 1));
    assert_eq!(bench.ring_until(5), [Persist(HELD), assign]);
    assert_eq!(bench.machine().links().neighbours().len(), 2);
    bench.hear(1, ack(1, 1, Answer::Taken));
    bench.ring_until(606);
    assert_eq!(bench.machine().links().neighbours(), []);
}

/// A site that advertises only jobs that may gain, and that has a job which starts at `starts`.
fn promising(starts: u64) -> Bench {
    let rules = Rescheduling {
        adverts: Adverts::Promising,
        ..CONFIG.rescheduling.unwrap()
    };
    let config = Config {
        rescheduling: Some(rules),
        lease: Span::from_secs(20_000),
        ..CONFIG
    };
    let build = move || site(config, starts, Membership::default());
    let (mut bench, _) = Bench::started(Time::ZERO, build);
    bench.granted(100_000);
    bench
}

/// How many neighbours got an advert until then.
fn adverts_until(bench: &mut Bench, until: u64) -> usize {
    let did = bench.ring_until(until);
    let informs = did
        .iter()
        .filter(|it| matches!(it, Send(_, Message::Inform { .. })));
    informs.count()
}

#[test]
fn a_job_that_starts_before_a_move_could_gain_the_threshold_is_not_advertised() {
    assert_eq!(adverts_until(&mut promising(30), 29), 0);
    assert_eq!(adverts_until(&mut promising(31), 29), 2);
}

#[test]
fn a_job_that_no_site_wants_is_advertised_after_pauses_that_double() {
    let mut bench = promising(20_000);
    for (until, adverts) in [
        (1, 2),
        (256, 0),
        (257, 2),
        (768, 0),
        (769, 2),
        (1792, 0),
        (1793, 2),
    ] {
        assert_eq!(adverts_until(&mut bench, until), adverts, "{until}");
    }
}
