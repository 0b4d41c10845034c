//! Any message in any state.

use super::*;
use crate::custody::{Answer, Claim, Ending, Refused, Ruling, Standing, Term};
use crate::overlay::flood::{FloodId, Header};
use crate::queue::Waiting;

/// A small number, which nodes often know, or one near the highest.
fn number(rng: &mut Xoshiro256PlusPlus) -> u64 {
    match rng.below(4) {
        0 => u64::MAX - u64::from(rng.below(3)),
        _ => u64::from(rng.below(5)),
    }
}

fn status(rng: &mut Xoshiro256PlusPlus) -> Shared<Status> {
    let mut amounts = || {
        let amounts = [number(rng), number(rng)];
        dimensions().capability(&amounts).unwrap()
    };
    let (total, free, waiting) = (amounts(), amounts(), amounts());
    Shared::new(Status {
        total,
        free,
        waiting,
        queue_len: rng.below(u32::MAX),
        running: rng.below(3),
        head_passed: rng.below(3),
        least: waiting,
        oldest: [None, Some(Time::ZERO), Some(Time::MAX)][rng.index(3)],
        speed: Speed::BASELINE,
    })
}

fn any_job(rng: &mut Xoshiro256PlusPlus) -> Job {
    job(u64::from(rng.below(4)), number(rng), number(rng))
}

fn custody(rng: &mut Xoshiro256PlusPlus) -> custody::Message {
    let job = JobId::new(u64::from(rng.below(4)));
    let term = Term {
        attempt: rng.below(3),
        moves: rng.below(3),
        ..Term::default()
    };
    let claim = Claim::default();
    match rng.below(4) {
        0 => custody::Message::Give {
            job: Shared::new(any_job(rng)),
            home: id(u64::from(rng.below(3))),
            term,
            carried: rng.below(u32::MAX),
            payload: Payload::EMPTY,
        },
        1 => {
            let answers = [Answer::Taken, Answer::NotTaken(Refused::NoMatch)];
            let answer = *rng.pick(&answers).unwrap();
            custody::Message::Answer { job, term, answer }
        }
        2 => {
            let standings = [
                Standing::Running,
                Standing::Waiting {
                    start: None,
                    at: None,
                },
                Standing::Ended(Ending::Lost),
                Standing::Ended(Ending::Done),
            ];
            let standing = *rng.pick(&standings).unwrap();
            custody::Message::Report {
                job,
                term,
                claim,
                standing,
            }
        }
        _ => {
            let until = Time::from_secs(number(rng));
            let rulings = [Ruling::Over, Ruling::Withdraw, Ruling::Granted { until }];
            let ruling = *rng.pick(&rulings).unwrap();
            custody::Message::Verdict {
                job,
                term,
                claim,
                ruling,
            }
        }
    }
}

fn members(rng: &mut Xoshiro256PlusPlus) -> Members {
    (0..rng.below(5)).map(|_| id(number(rng))).collect()
}

/// A message of the overlay about a random life.
fn overlay(rng: &mut Xoshiro256PlusPlus, point: can::Point<3>) -> can::Message<3> {
    let life = crate::id::Incarnation::new(rng.below(4));
    let whys = [
        can::Refusal::Busy,
        can::Refusal::SamePoint,
        can::Refusal::Full,
        can::Refusal::Outside,
    ];
    match rng.below(5) {
        0 => can::Message::Ping,
        1 => can::Message::Evicted(life),
        2 => can::Message::Refused {
            life,
            why: *rng.pick(&whys).unwrap(),
        },
        3 => can::Message::Stays(life),
        _ => can::Message::Join {
            joiner: can::Name {
                id: id(u64::from(rng.below(5))),
                life,
            },
            point,
            hops: 3,
        },
    }
}

fn trail(rng: &mut Xoshiro256PlusPlus, point: can::Point<3>, hops: u16) -> Trail<3> {
    Trail {
        best: Merits::default(),
        toward: (rng.below(2) == 0).then_some(point),
        passed: rng.below(u32::MAX),
        probes: rng.below(256) as u8,
        hops,
    }
}

fn message(rng: &mut Xoshiro256PlusPlus) -> Message<3> {
    let quest = Quest {
        asker: id(u64::from(rng.below(3))),
        attempt: rng.below(3),
        wanted: *rng
            .pick(&[Wanted::Owner, Wanted::RunNode, Wanted::Sooner])
            .unwrap(),
    };
    let job = JobId::new(u64::from(rng.below(4)));
    let move_to = *rng.pick(&[MoveTo::Start, MoveTo::Wait]).unwrap();
    let point = can::Point::new([
        rng.below(u32::MAX),
        rng.below(u32::MAX),
        rng.below(u32::MAX),
    ]);
    let hops = rng.below(1 << 16) as u16;
    match rng.below(19) {
        0 => Message::Owners(custody(rng)),
        1 => Message::Runs(custody(rng)),
        2 => Message::Errand {
            number: rng.below(3),
            errand: Errand::Route {
                job,
                quest,
                point,
                hops,
            },
        },
        3 => Message::Errand {
            number: rng.below(3),
            errand: Errand::Hunt {
                job: Shared::new(any_job(rng)),
                quest,
                trail: trail(rng, point, hops),
            },
        },
        4 => Message::Search {
            header: Header {
                id: FloodId {
                    origin: id(number(rng)),
                    sequence: number(rng),
                    kind: 0,
                    round: rng.below(u32::MAX),
                },
                ttl: u8::MAX,
                hops: 0,
            },
            job: Shared::new(any_job(rng)),
            quest,
        },
        5 => Message::Found {
            job,
            quest,
            candidates: [id(number(rng)), id(number(rng))].into_iter().collect(),
        },
        6 => Message::Offer {
            waiting: Waiting {
                passed: rng.below(u32::MAX),
                ..Waiting::from(&any_job(rng))
            },
            move_to,
        },
        7 => Message::OfferAnswer {
            job,
            takes: rng.below(2) == 0,
            status: status(rng),
        },
        8 => Message::Pull {
            move_to,
            status: status(rng),
        },
        9 => Message::PullReject {
            status: status(rng),
        },
        10 => Message::Inflate {
            node: id(number(rng)),
            version: number(rng),
            status: status(rng),
            point,
            hops,
        },
        11 => Message::Deflate {
            node: id(number(rng)),
            version: number(rng),
            point,
            hops,
        },
        12 => Message::Errand {
            number: rng.below(3),
            errand: Errand::Gather(Gather {
                asker: id(u64::from(rng.below(3))),
                status: status(rng),
                toward: point,
                hops,
            }),
        },
        13 => Message::Errand {
            number: rng.below(3),
            errand: Errand::Enter {
                node: id(number(rng)),
                stand: match rng.below(3) {
                    0 => Stand::Outside,
                    1 => Stand::Inside(members(rng)),
                    _ => Stand::Gone,
                },
                hops,
            },
        },
        14 => Message::Errand {
            number: rng.below(3),
            errand: Errand::Forage {
                job: Shared::new(any_job(rng)),
                quest,
                trail: trail(rng, point, hops),
                way: *rng
                    .pick(&[Way::Begins, Way::Hearsay, Way::Rendezvous, Way::Inside])
                    .unwrap(),
                steps: rng.below(256) as u8,
            },
        },
        15 => Message::Members(members(rng)),
        16 => Message::ResidueChanged {
            status: status(rng),
        },
        17 => Message::Residue {
            message: overlay(rng, point),
            status: Some(status(rng)),
        },
        _ => Message::Overlay {
            message: can::Message::Ping,
            status: Some(status(rng)),
        },
    }
}

#[test]
fn a_node_keeps_its_invariants_whatever_peers_send() {
    for (scheduling, residues) in [
        (Scheduling::VANILLA, Residues::Balloons),
        (Scheduling::balanced(Direction::Pull), Residues::Balloons),
        (Scheduling::balanced(Direction::Pull), Residues::DualCan),
        (Scheduling::balanced(Direction::Push), Residues::Neighbours),
    ] {
        let config = Config {
            scheduling,
            residues,
            resend: Some(Span::from_secs(1)),
            queue: 8,
            ..config()
        };
        let mut network = Network::new(config, &[(4, 4), (2, 2), (4, 2)]);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        network.submit(0, job(0, 1, 1));
        network.submit(1, job(1, 2, 1));
        for step in 0..6000 {
            let message = message(&mut rng);
            let from = id(u64::from(rng.below(5)));
            let to = id(u64::from(rng.below(3)));
            if from != to {
                let machine = network.nodes.get_mut(&to).unwrap();
                let mut effects = EffectQueue::new();
                let event = Event::Message { from, message };
                effects.feed(machine, event, network.now, &mut network.rng);
                // A node may believe a lie about a job, so the test does not check whether a job runs twice.
                machine.check().unwrap();
                drop(effects);
            }
            if step % 50 == 0 {
                network.now += Span::from_secs(5);
            }
        }
    }
}

#[test]
fn a_status_above_the_configured_most_is_ignored() {
    let mut network = Network::new(config(), &[(4, 4), (2, 2)]);
    let endless = Status {
        total: dimensions().capability(&[u64::MAX, u64::MAX]).unwrap(),
        free: dimensions().capability(&[u64::MAX, u64::MAX]).unwrap(),
        waiting: Capability::none(),
        queue_len: 0,
        running: 0,
        head_passed: 0,
        least: Capability::none(),
        oldest: None,
        speed: Speed::BASELINE,
    };
    let before = network.nodes[&id(0)].known.get(id(1)).copied();
    let event = Event::Message {
        from: id(1),
        message: Message::PullReject {
            status: Shared::new(endless),
        },
    };
    network.feed(id(0), event);
    assert_eq!(network.nodes[&id(0)].known.get(id(1)).copied(), before);
}

#[cfg(feature = "serde")]
#[test]
fn messages_survive_encoding_and_decoding() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
    for _ in 0..500 {
        let message = message(&mut rng);
        let bytes = postcard::to_allocvec(&message).unwrap();
        assert_eq!(postcard::from_bytes::<Message<3>>(&bytes), Ok(message));
    }
}
