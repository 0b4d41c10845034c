//! A site that the node does not own: the host reports what its scheduler does.

use super::*;
use crate::job::{OwnJob, Seen, SiteReport, Survival};

/// A node before a foreign site with one processor.
fn mirror() -> Node {
    mirror_of(CONFIG)
}

fn mirror_of(config: Config) -> Node {
    let mut node = site(config, 0, Membership::default());
    let Site {
        dimensions,
        capability,
        membership,
        ..
    } = node.site().clone();
    let local = SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 8).mirroring();
    node = Aria::new(
        id(ME),
        config,
        Bootstrap::Meet(vec![id(1), id(2)]),
        Site {
            dimensions,
            capability,
            membership,
            local,
        },
    )
    .unwrap();
    node
}

fn own(name: u64) -> OwnJob {
    OwnJob {
        id: JobId::new(name),
        processors: NonZeroU32::MIN,
        estimate: Span::from_secs(1000),
        submitted: Time::ZERO,
    }
}

const VANISHED: Seen = Seen::Vanished;

fn since(at: u64) -> Seen {
    Seen::Started { at: second(at) }
}

fn queue(attempt: Epoch, until: u64) -> Did {
    let until = second(until);
    Tell(News::Queue { attempt, until })
}

fn withdraw() -> Did {
    Tell(News::Withdraw { attempt: ATTEMPT })
}

fn standing(standing: Standing) -> Did {
    Send(OWNER, notify(1, 0, standing))
}

impl Bench {
    /// A foreign site that answers and has nothing to do.
    fn foreign() -> Self {
        let mut bench = Self::boot(mirror);
        assert_eq!(bench.see_site(SiteReport::Reachable), []);
        bench
    }

    /// A foreign site where a job of its own users runs for a thousand seconds, and the job waits.
    fn behind_its_own() -> Self {
        let mut bench = Self::foreign();
        let (job, seen) = (own(1000), since(0));
        assert_eq!(bench.see_site(SiteReport::Own { job, seen }), []);
        assert_eq!(bench.granted(600), [queue(ATTEMPT, 600)]);
        bench
    }

    /// The same; the job is advertised at second 1, and is to be withdrawn for node 1 at second 6.
    fn withdrawing() -> Self {
        let mut bench = Self::behind_its_own();
        assert_eq!(
            bench.ring_until(1),
            [1, 2].map(|to| Send(to, inform(1, 1099)))
        );
        bench.hear(1, accept(flood(1, 1), 100));
        assert_eq!(bench.ring_until(6), [withdraw()]);
        bench
    }

    fn see_site(&mut self, report: SiteReport) -> Effects {
        let did = self.obey(Command::Site(report));
        assert_eq!(self.machine().check(), Ok(()));
        did
    }

    fn see(&mut self, seen: Seen) -> Effects {
        self.see_attempt(ATTEMPT, seen)
    }

    fn see_attempt(&mut self, attempt: Epoch, seen: Seen) -> Effects {
        let job = JOB;
        self.see_site(SiteReport::Attempt { job, attempt, seen })
    }

    fn waits(&self) -> usize {
        self.machine().site().local.waiting().len()
    }

    fn runs(&self) -> usize {
        self.machine().site().local.running().len()
    }
}

#[test]
fn a_foreign_site_starts_jobs_when_it_says_so_and_not_before() {
    let mut bench = Bench::foreign();
    assert_eq!(bench.granted(600), [queue(ATTEMPT, 600)]);
    assert_eq!(bench.see(Seen::Queued), []);
    assert_eq!(
        bench.at(50).feed(Event::Timer(Timer::Local)),
        Effects::new()
    );
    let did = bench.at(60).see(since(55));
    assert_eq!(did, [Persist(HELD), started(600)]);
    assert_eq!(
        bench.machine().site().local.running()[0].started,
        second(55)
    );
    // A late report that it waits, and one that comes again, change nothing.
    assert_eq!(bench.see(Seen::Queued), []);
    assert_eq!(bench.see(since(55)), []);
    let done = standing(ended(Ending::Done));
    assert_eq!(
        bench.see(Seen::Ended(Outcome::Done)),
        [Persist(HELD), done.clone()]
    );
    assert_eq!((bench.waits(), bench.runs()), (0, 0));
    assert_eq!(bench.see(Seen::Ended(Outcome::Done)), []);
    // The end of a short job may be seen before its start.
    let mut bench = Bench::foreign();
    bench.granted(600);
    assert_eq!(bench.end(Outcome::Done), [Persist(HELD), done]);
}

#[test]
fn a_site_offers_nothing_before_it_was_reported_whole_and_while_it_does_not_answer() {
    let flood = FloodId {
        origin: id(OWNER),
        sequence: JOB.get(),
        kind: 0,
        round: 1,
    };
    let offers = |bench: &mut Bench| {
        let did = bench.hear(1, asked(job()));
        did.contains(&Send(OWNER, accept(flood, 100)))
    };
    let mut bench = Bench::boot(mirror);
    assert!(!offers(&mut bench));
    assert!(offers(&mut Bench::foreign()));
    let mut bench = Bench::foreign();
    bench.see_site(SiteReport::Unreachable);
    assert!(!offers(&mut bench));
    let did = bench.hear(OWNER, assign(job(), OWNER, 1, 0));
    assert_eq!(
        did,
        [Send(OWNER, ack(1, 0, Answer::NotTaken(Refused::NoSite)))]
    );
}

#[test]
fn jobs_of_the_sites_own_users_are_mirrored_and_count_in_offers() {
    let mut bench = Bench::foreign();
    for (name, seen) in [
        (1000, since(0)),
        (1001, Seen::Queued),
        (1001, Seen::Queued),
        (1002, Seen::Queued),
    ] {
        let job = own(name);
        assert_eq!(bench.see_site(SiteReport::Own { job, seen }), []);
    }
    assert_eq!((bench.runs(), bench.waits()), (1, 2));
    // One job waits no longer, and the site says that the other one runs beside the first.
    for (name, seen) in [(1001, VANISHED), (1002, since(10))] {
        let job = own(name);
        bench.at(10).see_site(SiteReport::Own { job, seen });
    }
    assert_eq!((bench.runs(), bench.waits()), (2, 0));
    let flood = FloodId {
        origin: id(OWNER),
        sequence: JOB.get(),
        kind: 0,
        round: 1,
    };
    let offer = Send(OWNER, accept(flood, 1100));
    assert_eq!(bench.hear(1, asked(job())), [offer]);
    // A name that a job of the grid has is not believed.
    bench.granted(600);
    let job = own(JOB.get());
    let seen = VANISHED;
    bench.see_site(SiteReport::Own { job, seen });
    assert_eq!(bench.waits(), 1);
}

#[test]
fn a_full_mirror_takes_no_more_of_the_sites_own_jobs_and_offers_nothing() {
    let mut bench = Bench::foreign();
    for name in 1000..1020 {
        let (job, seen) = (own(name), Seen::Queued);
        bench.see_site(SiteReport::Own { job, seen });
    }
    assert_eq!(bench.waits(), 8);
    let did = bench.hear(OWNER, assign(job(), OWNER, 1, 0));
    assert_eq!(
        did,
        [Send(OWNER, ack(1, 0, Answer::NotTaken(Refused::NoMatch)))]
    );
    // A job that was taken before the queue was full is queued all the same.
    let mut bench = Bench::foreign();
    bench.hear(OWNER, assign(job(), OWNER, 1, 0));
    for name in 1000..1020 {
        let (job, seen) = (own(name), Seen::Queued);
        bench.see_site(SiteReport::Own { job, seen });
    }
    let did = bench.hear(OWNER, verdict(1, 0, granted(600)));
    assert_eq!(did, [queue(ATTEMPT, 600)]);
    assert_eq!(bench.waits(), 9);
}

#[test]
fn a_job_moves_only_after_the_site_has_withdrawn_it() {
    let mut bench = Bench::withdrawing();
    assert_eq!(bench.waits(), 1);
    let assign = Send(1, out_of_its_queue(assign(job(), OWNER, 1, 1)));
    assert_eq!(bench.see(VANISHED), [Persist(HELD), assign]);
    assert_eq!(bench.waits(), 0);
    assert_eq!(bench.see(VANISHED), []);
    assert_eq!(bench.see(Seen::Queued), [stopped()]);
}

/// A foreign site that keeps to what it offers.
fn reliable() -> Bench {
    let mut bench = Bench::boot(|| {
        mirror_of(Config {
            gifts: Gifts::AsOffered,
            ..CONFIG
        })
    });
    assert_eq!(bench.see_site(SiteReport::Reachable), []);
    bench
}

/// What the site asks for a job with this name.
fn offered(bench: &mut Bench, name: u64) -> Option<i64> {
    let did = bench.hear(1, asked(named(name)));
    did.iter().find_map(|did| match did {
        Send(OWNER, Message::Accept { cost, .. }) => Some(cost.as_micros() / 1_000_000),
        _ => None,
    })
}

fn out_of_its_queue(message: Message) -> Message {
    match message {
        Message::Custody(custody::Message::Give {
            job,
            home,
            term,
            payload,
            ..
        }) => Message::Custody(custody::Message::Give {
            job,
            home,
            term,
            carried: promises::OUT_OF_ITS_QUEUE,
            payload,
        }),
        other => other,
    }
}

#[test]
fn a_foreign_site_offers_a_place_once_until_it_is_surely_not_taken() {
    let mut bench = reliable();
    assert_eq!(offered(&mut bench, 7), Some(100));
    assert_eq!(offered(&mut bench, 8), Some(200));
    // Job 7 is taken and waits for its grant; nothing more is heard of job 8 in two windows.
    bench.at(5).hear(OWNER, assign(job(), OWNER, 1, 0));
    assert_eq!(offered(bench.at(9), 11), Some(300));
    assert_eq!(offered(bench.at(10), 12), Some(300));
    assert_eq!(offered(bench.at(20), 13), Some(200));
}

#[test]
fn a_job_that_is_withdrawn_is_in_the_way_of_no_other() {
    let mut bench = Bench::withdrawing();
    assert_eq!(offered(&mut bench, 8), Some(1094));
}

#[test]
fn a_job_that_has_left_its_queue_is_taken_though_others_took_its_place() {
    let gives = assign(job(), OWNER, 1, 1);
    for (gives, answer) in [
        (gives.clone(), Answer::NotTaken(Refused::Outdated)),
        (out_of_its_queue(gives), Answer::Taken),
    ] {
        let mut bench = reliable();
        assert_eq!(offered(&mut bench, 7), Some(100));
        let (job, seen) = (own(1000), since(0));
        bench.see_site(SiteReport::Own { job, seen });
        let did = bench.hear(1, gives);
        assert!(did.contains(&Send(1, ack(1, 1, answer))), "{did:?}");
    }
}

#[test]
fn a_job_that_starts_while_it_is_withdrawn_stays() {
    let mut bench = Bench::withdrawing();
    assert_eq!(bench.see(since(5)), [Persist(HELD), started(600)]);
    assert_eq!(bench.hear(1, ack(1, 1, Answer::Taken)), []);
    let done = standing(ended(Ending::Done));
    let did = bench.see(Seen::Ended(Outcome::Done));
    assert_eq!(did, [Persist(HELD), done]);
}

#[test]
fn a_job_that_comes_back_is_queued_under_a_new_attempt() {
    let mut bench = Bench::withdrawing();
    bench.see(VANISHED);
    let second = Claim::new(2);
    let claim = Send(OWNER, claimed(second, 1, 1, UNKNOWN));
    let did = bench.hear(1, ack(1, 1, Answer::NotTaken(Refused::NoMatch)));
    assert_eq!(did, [Persist(HELD), claim]);
    let grant = custody::Message::Verdict {
        job: JOB,
        term: term(1, 1),
        claim: second,
        ruling: granted(606),
    };
    let did = bench.hear(OWNER, Message::Custody(grant));
    let start = Send(OWNER, claimed(second, 1, 1, waiting(1000)));
    assert_eq!(did, [queue(second.attempt(), 606), start]);
    // It stands at the end of the site's queue now.
    let queued = bench.machine().site().local.waiting()[0];
    assert_eq!(queued.arrived, Time::from_secs(6));
    // What is still said of the first attempt changes nothing.
    assert_eq!(bench.see(VANISHED), []);
    assert_eq!(bench.see(Seen::Ended(Outcome::Broke)), []);
    assert_eq!(bench.see(since(7)), [stopped()]);
    assert_eq!(bench.waits(), 1);
}

#[test]
fn a_job_that_the_site_lost_is_placed_again_once() {
    let mut bench = Bench::foreign();
    bench.granted(600);
    bench.see(Seen::Queued);
    let withdrawn = standing(ended(Ending::Withdrawn));
    assert_eq!(bench.see(VANISHED), [Persist(HELD), withdrawn]);
    assert_eq!(bench.see(VANISHED), []);
    // Its home gives it to this site again: a new attempt.
    let did = bench.hear(OWNER, assign(job(), OWNER, 2, 0));
    let second = Claim::new(2);
    assert_eq!(
        did[1..],
        [Send(OWNER, claimed(second, 2, 0, waiting(0)))][..]
    );
    // A job that ran is lost with the node that ran it.
    let mut bench = Bench::foreign();
    bench.granted(600);
    bench.see(since(0));
    let lost = standing(ended(Ending::Lost));
    assert_eq!(bench.see(VANISHED), [Persist(HELD), lost]);
}

#[test]
fn a_site_that_does_not_answer_keeps_its_jobs() {
    let mut bench = Bench::behind_its_own();
    bench.see_site(SiteReport::Unreachable);
    // Nothing is advertised, and no offer is taken. The lease is renewed.
    assert_eq!(bench.ring_until(199), []);
    assert_eq!(bench.ring_until(200), [standing(waiting(1000))]);
    let extended = News::Extended {
        attempt: ATTEMPT,
        until: second(800),
    };
    let did = bench.hear(OWNER, verdict(1, 0, granted(800)));
    assert_eq!(did, [Tell(extended)]);
    // An offer for an advert from before is not taken either.
    let mut bench = Bench::behind_its_own();
    bench.ring_until(1);
    bench.hear(1, accept(flood(1, 1), 100));
    bench.see_site(SiteReport::Unreachable);
    assert_eq!(bench.ring_until(6), []);
    bench.see_site(SiteReport::Reachable);
    assert_eq!(bench.see(since(30)), [Persist(HELD), started(600)]);
}

#[test]
fn a_job_that_must_go_is_ended_at_the_site_whether_it_waits_or_runs() {
    let withdrawn = || standing(ended(Ending::Withdrawn));
    let mut bench = Bench::foreign();
    bench.granted(600);
    let did = bench.hear(OWNER, verdict(1, 0, Ruling::Withdraw));
    assert_eq!(did, [Forget(HELD), withdrawn(), stopped()]);
    // The site has started it meanwhile.
    assert_eq!(bench.see(since(1)), [stopped()]);
    let mut bench = Bench::foreign();
    bench.granted(600);
    bench.see(since(0));
    let did = bench.hear(OWNER, verdict(1, 0, Ruling::Withdraw));
    assert_eq!(did, [stopped(), Forget(HELD), withdrawn()]);
    assert_eq!((bench.waits(), bench.runs()), (0, 0));
    // The lease is over when the start is reported.
    let mut bench = Bench::foreign();
    bench.granted(20);
    let orphaned = [Forget(HELD), Tell(News::Orphaned), stopped()];
    assert_eq!(bench.at(20).see(since(19)), orphaned);
}

#[test]
fn after_a_restart_the_host_reports_what_the_site_has() {
    let claim = || standing(UNKNOWN);
    let grant = |until| verdict(1, 0, granted(until));
    // It still waits: the host is told again to queue it, under the same attempt.
    let mut bench = Bench::foreign();
    bench.granted(600);
    assert_eq!(bench.at(10).restart(), [claim()]);
    assert_eq!(bench.see(Seen::Queued), []);
    let did = bench.hear(OWNER, grant(610));
    assert_eq!(did[0], queue(ATTEMPT, 610));
    assert_eq!(bench.waits(), 1);
    // The site has started it meanwhile, and that is reported before the grant, or before `Start`.
    let runs = Survival::Runs { until: second(600) };
    for survived in [None, Some(runs)] {
        let mut bench = Bench::foreign();
        bench.granted(600);
        let survived = survived.map(|survival| Command::Survived {
            job: JOB,
            attempt: ATTEMPT,
            survival,
        });
        assert_eq!(bench.at(10).restart_with(survived), [claim()]);
        assert_eq!(bench.see(since(5)), []);
        let did = bench.hear(OWNER, grant(610));
        assert_eq!(did, [Persist(HELD), started(610)]);
        assert_eq!((bench.waits(), bench.runs()), (0, 1));
    }
    // It has ended meanwhile.
    let mut bench = Bench::foreign();
    bench.granted(600);
    bench.at(10).restart();
    let done = standing(ended(Ending::Done));
    let did = bench.see(Seen::Ended(Outcome::Done));
    assert_eq!(did, [Persist(HELD), done]);
}

#[test]
fn a_job_that_ran_when_the_node_went_down_runs_on() {
    let runs = Command::Survived {
        job: JOB,
        attempt: ATTEMPT,
        survival: Survival::Runs { until: second(600) },
    };
    let mut bench = Bench::foreign();
    bench.granted(600);
    bench.see(since(0));
    let running = standing(Standing::Running);
    assert_eq!(bench.at(10).restart_with([runs]), [running]);
    assert_eq!(
        bench.machine().site().local.running()[0].started,
        Time::ZERO
    );
    assert_eq!(bench.see(since(0)), []);
    // The site lost it while it ran.
    let lost = standing(ended(Ending::Lost));
    assert_eq!(bench.see(VANISHED), [Persist(HELD), lost]);
}

#[test]
fn reports_to_a_node_with_a_site_of_its_own_change_nothing() {
    let mut bench = Bench::idle();
    bench.granted(600);
    assert_eq!(bench.see(VANISHED), []);
    assert_eq!(bench.see_site(SiteReport::Unreachable), []);
    let (job, seen) = (own(1000), Seen::Queued);
    assert_eq!(bench.see_site(SiteReport::Own { job, seen }), []);
    assert_eq!((bench.waits(), bench.runs()), (0, 1));
}
