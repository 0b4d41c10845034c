//! Views that no longer change: frozen, left, or laid out by the host.

use super::*;

#[test]
fn a_frozen_view_stays_as_it_is_with_the_asked_peer_back_in_it() {
    let mut bench = Bench::waiting();
    let effects = bench.feed(Event::Command(Command::Freeze));
    assert_eq!(effects, [Effect::Cancel(Timer { cycle: 1 }), entered(9)]);
    assert_eq!(bench.links(), [(1, 1), (2, 1), (3, 1), (9, 6)]);
    bench.ignores(Event::Command(Command::Freeze));
    bench.ignores(Event::Timer(Timer { cycle: 1 }));
    bench.ignores(join(8));
    bench.ignores(Event::Unreachable { to: id(9) });
    bench.ignores_message(9, shuffled(0, &[(11, 0)]));
    bench.ignores_message(7, shuffle(&[(7, 0)]));
    bench.ignores_message(7, Message::Join { incarnation: BORN });
    bench.ignores_message(7, walk(7, 0, 0));
    bench.ignores_message(7, walk(7, 3, 0));
    bench.ignores_message(7, gift(link(7, 0)));
    bench.now = FIRST + CONFIG.period - Span::from_secs(1);
    assert_eq!(bench.feed(Event::Command(Command::Thaw)), [wake(1)]);
    assert_eq!(bench.cycle(1).len(), 3);
}

#[test]
fn a_leaver_forgets_its_links_and_sends_nothing_any_more() {
    let mut bench = Bench::waiting();
    let effects = bench.feed(Event::Command(Command::Leave));
    let cancel = Effect::Cancel(Timer { cycle: 1 });
    assert_eq!(
        effects,
        [
            cancel,
            Effect::Forget(Key::Known),
            left(1),
            left(2),
            left(3)
        ]
    );
    for event in [
        Event::Start,
        Event::Timer(Timer { cycle: 1 }),
        Event::Command(Command::Leave),
        Event::Command(Command::Thaw),
        Event::Command(Command::Meet(id(3))),
        join(8),
    ] {
        bench.ignores(event);
    }
    bench.ignores_message(7, shuffle(&[(7, 0)]));
    bench.ignores_message(7, Message::Join { incarnation: BORN });
}

#[test]
fn a_host_may_lay_out_an_overlay_by_hand() {
    let mut bench = Bench::with(&[]);
    let meet = |peer| Event::Command(Command::Meet(id(peer)));
    for peer in [4, 3, 2, 1] {
        assert_eq!(bench.feed(meet(peer)), [entered(peer)]);
    }
    bench.ignores(meet(5));
    bench.ignores(meet(50));
    bench.ignores(meet(1));
}

#[test]
fn a_missed_peer_that_is_asked_again_does_not_enter_a_frozen_view() {
    let mut bench = Bench::with(&[(1, 0)]);
    bench.machine_mut().contacts.miss(id(9));
    bench.cycle(0);
    assert_eq!(bench.machine().waits_for(), Some(id(9)));
    let effects = bench.feed(Event::Command(Command::Freeze));
    assert_eq!(effects, [Effect::Cancel(Timer { cycle: 1 })]);
    assert_eq!(bench.links(), [(1, 1)]);
}
