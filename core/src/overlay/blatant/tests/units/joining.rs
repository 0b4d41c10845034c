//! A start, and how a node without neighbours gets its first ones.

use super::*;

#[test]
fn a_start_writes_down_its_life_and_waits_for_a_part_of_the_period() {
    let mut bench = Bench::unborn(CONFIG);
    let life = Effect::Persist(Key::Incarnation, Record::Incarnation(BORN));
    assert_eq!(bench.feed(Event::Start), [life, wake(0)]);
    bench.ignores(Event::Start);
    bench.ignores(Event::Timer(Timer { iteration: 1 }));
    let early = bench.feed(Event::Timer(Timer { iteration: 0 }));
    assert_eq!(early, [wake(0)]);
}

#[test]
fn a_node_joins_through_its_introducer_or_a_node_that_it_names() {
    let mut bench = Bench::with(&[]);
    let alone = vec![own(0, &[])];
    let join = Command::Join { introducer: id(7) };
    let expected = [knows(&[7]), send(7, construct(1, 4, alone.clone()))];
    assert_eq!(bench.obey(join), expected);
    bench.ignores(Event::Message {
        from: id(8),
        message: refused(1, Some(9), vec![]),
    });
    let effects = bench.hear(7, refused(1, Some(8), vec![]));
    assert_eq!(effects, [send(8, construct(2, 3, alone))]);
    // The answer of 7 is late: 7 is not asked any more.
    let effects = bench.hear(7, linked(1, record(7, 1, &[ME])));
    assert_eq!(effects, [send(7, Message::NotLinked)]);
    let effects = bench.hear(8, linked(2, record(8, 1, &[ME])));
    assert_eq!(effects, [entered(8), update(8, 1, &[8])]);
}

#[test]
fn a_node_without_an_answer_asks_again() {
    let mut bench = Bench::with(&[]);
    let alone = vec![own(0, &[])];
    bench.obey(Command::Join { introducer: id(7) });
    assert_eq!(bench.iterate(0), [wake(1)]);
    assert_eq!(bench.iterate(1), [wake(2)]);
    let expected = [wake(3), send(7, construct(2, 4, alone))];
    assert_eq!(bench.iterate(2), expected);
    // Not forever: later it is only one of the contacts that a node without links asks.
    let asked = |effects: Effects| effects.len() > 1;
    let times = (3..100).filter(|iteration| asked(bench.iterate(*iteration)));
    let times: Vec<u32> = times.collect();
    assert_eq!(times[..2], [4, 6]);
    assert!(
        times.windows(2).skip(2).all(|two| two[1] - two[0] >= 3),
        "{times:?}"
    );
}

#[test]
fn a_restarted_node_asks_its_contacts_in_its_next_life() {
    let mut bench = Bench::unborn(CONFIG);
    let known = Record::Known([id(7), id(ME)].into_iter().collect());
    let life = Record::Incarnation(Incarnation::new(4));
    bench.feed(Event::Restored(Key::Known, known));
    bench.feed(Event::Restored(Key::Incarnation, life));
    let incarnation = Incarnation::new(5);
    let life = Effect::Persist(Key::Incarnation, Record::Incarnation(incarnation));
    assert_eq!(bench.feed(Event::Start), [life, wake(0)]);
    assert_eq!(bench.machine().known(), [id(7)]);
    let serial = 1;
    let message = Message::Link {
        change: ChangeId {
            incarnation,
            serial,
        },
        purpose: Purpose::Construction,
        detours: 4,
        around: vec![Neighbourhood {
            incarnation,
            ..own(0, &[])
        }],
    };
    assert_eq!(bench.iterate(0), [wake(1), send(7, message)]);
    // It is the only contact, and may be gone for good.
    assert_eq!(bench.feed(Event::Unreachable { to: id(7) }), []);
    let alone = Effect::Notify(Notice::Alone);
    assert_eq!(bench.iterate(1), [wake(2), alone.clone()]);
    let mut lonely = Bench::with(&[]);
    assert_eq!(lonely.iterate(0), [wake(1), alone]);
}

#[test]
fn a_full_node_sends_a_joiner_on_while_it_has_detours_left() {
    let full = Config {
        links: 2,
        optimising: 1,
        ..CONFIG
    };
    let mut bench = Bench::with_config(full, &[(1, &[ME]), (2, &[ME])]);
    let theirs = vec![record(70, 0, &[])];
    let effects = bench.hear(70, construct(3, 1, theirs.clone()));
    assert_eq!(effects, [send(70, refused(3, Some(1), vec![]))]);
    let effects = bench.hear(70, construct(3, 0, theirs));
    assert_eq!(effects[0], entered(70));
    assert_eq!(bench.neighbours(), [1, 2, 70]);
    for peer in 100..200 {
        bench.hear(peer, construct(0, 0, vec![record(peer, 0, &[])]));
    }
    assert_eq!(bench.neighbours().len(), MOST_LINKS);
    // A full node with an optimising link accepts the joiner at once: it can drop that link.
    let mut bench = Bench::with_config(full, &[(1, &[ME])]);
    let around = Some(record(2, 1, &[ME]));
    let shorter = Neighbour::new(id(2), Purpose::Optimisation, around);
    assert!(bench.machine_mut().neighbours.insert(shorter));
    let effects = bench.hear(70, construct(3, 1, vec![record(70, 0, &[])]));
    assert_eq!(effects[0], entered(70));
}

#[test]
fn a_node_without_neighbours_asks_both_contacts_and_candidates_for_gaps() {
    let mut bench = Bench::with(&[(1, &[2, 3, ME])]);
    bench.machine_mut().contacts.note([id(9)]);
    bench.feed(Event::Unreachable { to: id(1) });
    assert_eq!(bench.neighbours(), [0; 0]);
    let effects: Effects = (0..8).flat_map(|at| bench.iterate(at)).collect();
    let asked = effects.iter().filter_map(|effect| match effect {
        Effect::Send { to, message } => {
            assert!(matches!(message, Message::Link { .. }), "{message:?}");
            Some(to.get())
        }
        _ => None,
    });
    // The last request goes to the first of the peers that did not answer.
    assert_eq!(asked.collect::<Vec<_>>(), [9, 2, 3, 3]);
}

#[test]
fn an_unseen_introducer_is_asked_again_soon_after_silence_and_seldom_after_an_answer() {
    let config = Config {
        remember: 4,
        sighted: 10,
        ..CONFIG
    };
    let mut bench = Bench::with_config(config, &[(1, &[ME]), (2, &[ME])]);
    bench.obey(Command::Join { introducer: id(9) });
    let mut asked = Vec::new();
    for at in 0..110 {
        for effect in bench.iterate(at) {
            let Effect::Send { to, message } = effect else {
                continue;
            };
            // The neighbours answer all the time.
            if let Message::Ping(_) = message {
                let around = record(to.get(), at, &[ME]);
                bench.hear(to.get(), Message::Pong(around));
            }
            if let (9, Message::Link { change, .. }) = (to.get(), message) {
                asked.push(at);
                // The introducer is silent at first. Later it refuses: the two are in one overlay.
                if at > 30 {
                    let refused = Message::Refused {
                        change,
                        instead: None,
                        around: vec![],
                    };
                    bench.hear(9, refused);
                }
            }
        }
    }
    // The first three belong to the join. Then it waits four iterations after each silence, and ten, twenty, forty
    // after the answers.
    assert_eq!(asked, [2, 4, 6, 12, 18, 24, 30, 36, 46, 66, 106]);
}
