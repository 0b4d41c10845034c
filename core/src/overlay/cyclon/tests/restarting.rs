//! Starts, contacts on disk, and peers that did not answer.

use super::*;

#[test]
fn a_start_writes_down_its_life_and_waits_for_a_part_of_the_period() {
    let mut bench = Bench::unborn(CONFIG);
    let life = Effect::Persist(Key::Incarnation, Record::Incarnation(BORN));
    assert_eq!(bench.feed(Event::Start), [life, wake(0)]);
    bench.ignores(Event::Start);
}

#[test]
fn after_empty_cycles_a_contact_is_asked() {
    let mut bench = Bench::with(&[]);
    bench.feed(join(8));
    assert_eq!(bench.cycle(0), [wake(1)]);
    let ask = send(8, Message::Join { incarnation: BORN });
    assert_eq!(bench.cycle(1), [wake(2), ask.clone()]);
    assert_eq!(bench.cycle(2), [wake(3)]);
    assert_eq!(bench.feed(Event::Unreachable { to: id(8) }), []);
    // It is the only contact, and may be gone for good.
    assert_eq!(bench.cycle(3), [wake(4), Effect::Notify(Notice::Alone)]);
    assert_eq!(bench.cycle(4), [wake(5)]);
    assert_eq!(bench.cycle(5), [wake(6), ask]);
}

#[test]
fn a_node_without_contacts_tells_its_host() {
    let mut bench = Bench::with(&[]);
    assert_eq!(bench.cycle(0), [wake(1), Effect::Notify(Notice::Alone)]);
    assert_eq!(bench.cycle(1), [wake(2)]);
    assert_eq!(bench.cycle(2), [wake(3), Effect::Notify(Notice::Alone)]);
}

#[test]
fn a_restarted_node_asks_its_contacts_in_its_next_life() {
    let mut bench = Bench::unborn(CONFIG);
    let known = Record::Known([id(50), id(8)].into_iter().collect());
    let life = Record::Incarnation(Incarnation::new(4));
    assert_eq!(bench.feed(Event::Restored(Key::Known, known.clone())), []);
    assert_eq!(bench.feed(Event::Restored(Key::Incarnation, life)), []);
    bench.ignores(Event::Restored(Key::Incarnation, known));
    let incarnation = Incarnation::new(5);
    let life = Effect::Persist(Key::Incarnation, Record::Incarnation(incarnation));
    assert_eq!(bench.feed(Event::Start), [life, wake(0)]);
    let ask = send(8, Message::Join { incarnation });
    assert_eq!(bench.cycle(0), [wake(1), ask]);
    let late = Record::Incarnation(Incarnation::new(9));
    bench.ignores(Event::Restored(Key::Incarnation, late));
}

#[test]
fn contacts_are_written_to_disk_every_so_many_cycles() {
    let mut bench = Bench::with_config(
        Config {
            remember: 2,
            ..CONFIG
        },
        &[(1, 0), (2, 0)],
    );
    let persists = |effects: Effects| effects.contains(&knows(&[1, 2]));
    assert!(persists(bench.cycle(0)));
    bench.hear(1, shuffled(0, &[(1, 0)]));
    bench.cycle(1);
    assert_eq!(bench.machine().known(), [id(1), id(2)]);
    bench.hear(2, shuffled(1, &[(2, 0)]));
    assert!(persists(bench.cycle(2)));
}

#[test]
fn nothing_happens_before_the_start() {
    let mut bench = Bench::unborn(CONFIG);
    bench.ignores(Event::Timer(Timer { cycle: 0 }));
    bench.ignores(join(8));
    bench.ignores(Event::Command(Command::Meet(id(3))));
    bench.ignores(Event::Command(Command::Freeze));
    bench.ignores(Event::Command(Command::Leave));
    bench.ignores_message(7, shuffle(&[(7, 0)]));
}

#[test]
fn the_last_peers_that_did_not_answer_are_asked_again_until_they_do() {
    let mut bench = Bench::with(&[(1, 9), (2, 8), (3, 7), (4, 0)]);
    let mut asked = Vec::new();
    for cycle in 0..72 {
        bench.cycle(cycle);
        asked.push(bench.machine().waits_for().map(NodeId::get));
        // Only 4 answers, and later 3.
        let Some(peer) = bench.machine().waits_for() else {
            continue;
        };
        if peer == id(4) || (peer == id(3) && cycle > 7) {
            let exchange = ExchangeId {
                incarnation: BORN,
                cycle,
            };
            let links = Links::from_iter([link(4, 0)]);
            bench.hear(peer.get(), Message::Shuffled { exchange, links });
        }
    }
    assert_eq!(asked[..4], [1, 2, 3, 4].map(Some));
    // Each missed peer has its turn until it answers. In between, known contacts that are not in the view have theirs.
    let again: Vec<_> = asked[7..].iter().step_by(7).flatten().copied().collect();
    assert_eq!(again, [3, 1, 2, 2, 3, 3, 1, 1, 2, 2]);
    let others = asked[4..].iter().filter(|peer| **peer != Some(4));
    assert_eq!(others.count(), again.len());
}
