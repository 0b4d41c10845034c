//! Messages that only a liar sends.

use super::*;

#[test]
fn a_site_takes_no_more_jobs_than_its_limit() {
    let mut bench = Bench::idle();
    for name in 0..100 {
        bench.hear(1, assign(named(name), name, u32::MAX, u32::MAX));
    }
    assert_eq!(bench.machine().held().count(), 3);
    // The site forgets jobs whose homes do not answer.
    bench.ring_until(100);
    assert_eq!(
        (bench.machine().held().count(), bench.host.records().len()),
        (0, 0)
    );
}

#[test]
fn a_site_counts_claimed_jobs_when_it_takes_another() {
    let mut bench = Bench::boot(|| {
        let mut node = site(CONFIG, 0, Membership::default());
        node.site.local = SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 1);
        node
    });
    let claim = || Send(OWNER, notify(1, 0, waiting(0)));
    let did = bench.hear(OWNER, assign(job(), OWNER, 1, 0));
    assert_eq!(did, [Persist(HELD), claim()]);
    let no = Message::Custody(custody::Message::Answer {
        job: JobId::new(8),
        term: term(1, 0),
        answer: Answer::NotTaken(Refused::Full),
    });
    let did = bench.hear(OWNER, assign(named(8), OWNER, 1, 0));
    assert_eq!(did, [Send(OWNER, no)]);
    // The site does not offer either, so it passes the REQUEST on.
    let did = bench.hear(1, asked(named(8)));
    assert!(
        matches!(&did[..], [Send(2, Message::Request { .. })]),
        "{did:?}"
    );
    // A job that the site has already needs no more room.
    assert_eq!(bench.hear(1, assign(job(), OWNER, 1, 0)).len(), 1);
    let did = bench.hear(OWNER, verdict(1, 0, granted(600)));
    assert_eq!(did, [Persist(HELD), started(600)]);
}

#[test]
fn a_flood_that_cannot_be_remembered_is_answered_but_not_passed_on() {
    let mut bench = Bench::boot(|| {
        let forward = Forward::Always;
        site(Config { forward, ..CONFIG }, 0, Membership::default())
    });
    for name in 0..16 {
        assert_eq!(bench.hear(1, asked(named(name))).len(), 2);
    }
    assert_eq!(bench.machine().cut_off(), 0);
    let offer = |did: &Effects| matches!(&did[..], [Send(OWNER, Message::Accept { .. })]);
    assert!(offer(&bench.hear(1, asked(named(16)))));
    assert!(offer(&bench.hear(2, asked(named(16)))));
    assert_eq!(bench.machine().cut_off(), 2);
    // A flood of its own does not make it forget others.
    assert_eq!(bench.submit().len(), 3);
    for name in 0..16 {
        assert_eq!(bench.hear(2, asked(named(name))), []);
    }
    assert_eq!(bench.machine().cut_off(), 2);
    // There is room again when the other floods are over.
    assert_eq!(bench.at(5).hear(1, asked(named(16))).len(), 2);
}

#[test]
fn a_forged_flood_with_this_node_as_origin_is_not_answered() {
    let mut bench = Bench::idle();
    let forged = Message::Request {
        header: Reach::REQUEST.begin(flood(0, 77)),
        job: Shared::new(job()),
    };
    assert_eq!(bench.hear(1, forged), []);
}

#[test]
fn a_flood_whose_name_does_not_fit_its_job_is_ignored() {
    let mut bench = Bench::idle();
    let header = |kind, sequence| {
        let origin = id(OWNER);
        Reach::REQUEST.begin(FloodId {
            origin,
            sequence,
            kind,
            round: 1,
        })
    };
    let job = Shared::new(job());
    for header in [header(1, JOB.get()), header(0, 8)] {
        let job = job.clone();
        assert_eq!(bench.hear(1, Message::Request { header, job }), []);
    }
}

#[test]
fn a_job_with_the_highest_number_of_moves_is_dropped() {
    let mut bench = Bench::busy();
    bench.hear(1, assign(job(), OWNER, 1, u32::MAX));
    bench.hear(OWNER, verdict(1, u32::MAX, granted(600)));
    bench.ring_until(1);
    bench.hear(1, accept(flood(1, 1), 100));
    assert_eq!(bench.ring_until(6), [Persist(HELD), Forget(HELD)]);
}

#[test]
fn answers_without_a_question_change_nothing() {
    let mut bench = Bench::submitting();
    bench.given();
    let before = bench.machine().clone();
    let strange = [
        accept(flood(0, 1), 1),
        accept(flood(1, 1), 1),
        ack(1, 0, Answer::Taken),
        ack(1, 0, Answer::NotTaken(Refused::NoMatch)),
        ack(1, 1, Answer::NotTaken(Refused::NoMatch)),
        verdict(1, 0, granted(600)),
        verdict(1, 0, Ruling::Over),
    ];
    for message in strange {
        assert_eq!(bench.hear(1, message.clone()), []);
        assert_eq!(bench.hear(3, message), []);
    }
    assert_eq!(*bench.machine(), before);
}

#[cfg(feature = "serde")]
#[test]
fn messages_are_small_and_survive_their_encoding() {
    let mut largest = job();
    largest.id = JobId::new(u64::MAX);
    largest.submitted = Time::MAX;
    largest.deadline = Some(Time::MAX);
    largest.submitter.user = crate::id::UserId::new(u32::MAX);
    largest.submitter.organisation = crate::id::OrganisationId::new(u32::MAX);
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| (name, Measure::Level));
    let dimensions = Dimensions::new(&names).unwrap();
    for (dimension, ..) in dimensions.iter() {
        largest.requirement = largest.requirement.with(dimension, u64::MAX);
    }
    let id = FloodId {
        origin: NodeId::new(u64::MAX),
        sequence: u64::MAX,
        kind: 1,
        round: u32::MAX,
    };
    let header = Header {
        id,
        ttl: u8::MAX,
        hops: u8::MAX,
    };
    let (shared, cost) = (Shared::new(largest), Cost::MAX);
    let messages = [
        Message::Request {
            header,
            job: shared.clone(),
        },
        Message::Inform {
            header,
            job: shared,
            cost,
        },
        Message::Accept { flood: id, cost },
        assign(largest, u64::MAX, u32::MAX, u32::MAX),
        ack(u32::MAX, u32::MAX, Answer::NotTaken(Refused::NoMatch)),
        claimed(
            Claim::new(u64::MAX),
            u32::MAX,
            u32::MAX,
            Standing::Waiting {
                start: Some(Time::MAX),
                at: None,
            },
        ),
        notify(1, 0, ended(Ending::Withdrawn)),
        verdict(1, 0, Ruling::Granted { until: Time::MAX }),
        verdict(1, 0, Ruling::Withdraw),
    ];
    for message in messages {
        let bytes = postcard::to_allocvec(&message).unwrap();
        assert!(bytes.len() < 320, "{}", bytes.len());
        assert_eq!(postcard::from_bytes(&bytes), Ok(message));
    }
}
