//! Input that no honest peer sends, and states that `check` reports.

use super::*;

#[test]
fn a_liars_neighbour_list_is_sorted_and_freed_of_duplicates() {
    let tidied = |neighbours| record(1, 0, neighbours).tidied().neighbours;
    assert_eq!(tidied(&[3, 1, 2, 3, 2]), nodes(&[2, 3]));
}

#[test]
fn whatever_comes_in_breaks_nothing_and_makes_nothing_grow() {
    use rand::SeedableRng;
    let mut rng = rand::rngs::Xoshiro256PlusPlus::seed_from_u64(11);
    let mut bench = Bench::with(&[(1, &[ME]), (2, &[ME]), (3, &[ME])]);
    let (mut iteration, mut most_links) = (0, 0);
    for _ in 0..30_000 {
        let some = |rng: &mut rand::rngs::Xoshiro256PlusPlus| match rng.below(8) {
            0 => id(ME),
            _ => id(u64::from(rng.below(14))),
        };
        let list = |rng: &mut rand::rngs::Xoshiro256PlusPlus| -> Nodes {
            (0..rng.below(17)).map(|_| some(rng)).collect()
        };
        let hood = |rng: &mut rand::rngs::Xoshiro256PlusPlus, node: NodeId| Neighbourhood {
            node,
            incarnation: Incarnation::new(rng.below(2)),
            version: [0, 1, 2, u32::MAX][rng.index(4)],
            neighbours: list(rng),
        };
        let from = some(&mut rng);
        let around = |rng: &mut rand::rngs::Xoshiro256PlusPlus| -> Vec<Neighbourhood> {
            let mut around: Vec<_> = (0..rng.below(60))
                .map(|_| {
                    let node = some(rng);
                    hood(rng, node)
                })
                .collect();
            let theirs = hood(rng, from);
            match rng.below(3) {
                0 => around.push(theirs),
                1 => around.insert(0, theirs),
                _ => {}
            }
            around
        };
        let change = change(rng.below(400));
        let purpose = [Purpose::Construction, Purpose::Optimisation][rng.index(2)];
        let message = match rng.below(13) {
            0 => ant(rng.below(256) as u8, around(&mut rng)),
            1 => Message::Update(hood(&mut rng, from)),
            2 => Message::Ping(hood(&mut rng, from)),
            3 => Message::Pong(hood(&mut rng, from)),
            4 => Message::Link {
                change,
                purpose,
                detours: rng.below(256) as u8,
                around: around(&mut rng),
            },
            5 => Message::Linked {
                change,
                own: hood(&mut rng, from),
            },
            6 => Message::Refused {
                change,
                instead: Some(some(&mut rng)),
                around: around(&mut rng),
            },
            7 => Message::Unlink {
                change,
                way: list(&mut rng),
            },
            8 => Message::Kept { change },
            9 => Message::NotLinked,
            10 => Message::Leaving(hood(&mut rng, from)),
            _ => {
                bench.now += CONFIG.period;
                bench.feed(Event::Timer(Timer { iteration }));
                iteration += 1;
                continue;
            }
        };
        let effects = bench.feed(Event::Message { from, message });
        assert!(effects.len() <= 3 * MOST_LINKS + 8, "{}", effects.len());
        for effect in &effects {
            if let Effect::Send { message, .. } = effect {
                let (Message::Ant {
                    visited: records, ..
                }
                | Message::Link {
                    around: records, ..
                }
                | Message::Refused {
                    around: records, ..
                }) = message
                else {
                    continue;
                };
                assert!(records.len() <= MOST_RECORDS);
            }
        }
        most_links = most_links.max(bench.neighbours().len());
    }
    assert!(most_links > 3, "it had more links than it began with");
}

#[test]
fn check_names_what_is_broken() {
    let broken = |node: &Blatant| node.check().unwrap_err().invariant;
    let mut bench = Bench::with(&[(1, &[ME])]);
    bench.machine_mut().alpha.learn(record(1, 0, &[]), 0);
    let expected = "the table is about others than the node and its neighbours";
    assert_eq!(broken(bench.machine()), expected);
    let mut bench = Bench::with(&[]);
    bench.machine_mut().contacts.miss(id(ME));
    let expected = "a node does not count on itself for help";
    assert_eq!(broken(bench.machine()), expected);
    let mut bench = Bench::with(&[(1, &[ME])]);
    bench.machine_mut().life = Life::Left { incarnation: BORN };
    assert_eq!(broken(bench.machine()), "a stopped node has no links");
}

#[cfg(feature = "serde")]
#[test]
fn messages_survive_their_encoding_and_too_many_records_do_not() {
    let some = record(u64::MAX, u32::MAX, &[1, 2, u64::MAX]);
    let messages = [
        ant(25, vec![some.clone(), own(0, &[])]),
        Message::Update(some.clone()),
        Message::Ping(some.clone()),
        Message::Pong(some.clone()),
        construct(1, 2, vec![some.clone()]),
        linked(3, some.clone()),
        refused(4, Some(5), vec![some.clone()]),
        unlink(6, &[7, 8, 9]),
        Message::Kept { change: change(7) },
        Message::NotLinked,
        Message::Leaving(some.clone()),
    ];
    for message in messages {
        let bytes = postcard::to_allocvec(&message).unwrap();
        assert_eq!(postcard::from_bytes(&bytes), Ok(message));
    }
    let long = ant(25, vec![some; MOST_RECORDS + 1]);
    let bytes = postcard::to_allocvec(&long).unwrap();
    assert!(postcard::from_bytes::<Message>(&bytes).is_err());
    let record = Record::Known([id(1), id(2)].into_iter().collect());
    let bytes = postcard::to_allocvec(&record).unwrap();
    assert_eq!(postcard::from_bytes(&bytes), Ok(record));
}

#[test]
fn check_finds_a_gap_without_candidates() {
    let mut bench = Bench::with(&[]);
    let Life::Running(running) = &mut bench.machine_mut().life else {
        panic!("it does not run")
    };
    running.gaps.push(Nodes::new());
    assert!(bench.machine().check().is_err());
}
