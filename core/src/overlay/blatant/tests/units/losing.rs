//! Neighbours that fall silent, deny their link or leave, and how the gap is closed.

use super::*;

#[test]
fn strangers_are_told_that_there_is_no_link() {
    let mut bench = Bench::with(&[(1, &[ME])]);
    let before = bench.machine().clone();
    let theirs = record(9, 0, &[ME]);
    let not_linked = [send(9, Message::NotLinked)];
    assert_eq!(bench.hear(9, ant(5, vec![theirs.clone()])), not_linked);
    assert_eq!(bench.hear(9, Message::Update(theirs.clone())), not_linked);
    assert_eq!(bench.hear(9, Message::Ping(theirs)), not_linked);
    assert_eq!(*bench.machine(), before);
}

#[test]
fn a_neighbour_that_does_not_list_this_node_is_dropped() {
    let mut bench = Bench::with(&[(1, &[ME]), (2, &[ME])]);
    // A list that is not newer may have been overtaken.
    bench.hear(1, Message::Update(record(1, 1, &[])));
    assert_eq!(bench.neighbours(), [1, 2]);
    let effects = bench.hear(1, Message::Ping(record(1, 2, &[3])));
    assert_eq!(effects, [left(1), update(2, 1, &[2])]);
    let effects = bench.hear(2, Message::Ping(record(2, 2, &[3, ME])));
    assert_eq!(effects, [send(2, Message::Pong(own(1, &[2])))]);
    assert_eq!(bench.hear(2, Message::NotLinked), [left(2)]);
}

#[test]
fn a_silent_neighbour_is_pinged_and_removed_and_the_gap_closed() {
    let mut bench = Bench::with(&[(1, &[3, ME, 60]), (2, &[ME])]);
    bench.decay(1, 0);
    let ping = send(1, Message::Ping(own(0, &[1, 2])));
    let first = [wake(1), knows(&[1, 2]), ping.clone()];
    assert_eq!(bench.iterate(0), first);
    assert_eq!(bench.iterate(1), [wake(2), ping.clone()]);
    assert_eq!(bench.iterate(2), [wake(3), ping]);
    // The neighbours of 1 form a ring: 3, 50, 60. First 60 is asked, and 3 when 60 does not answer.
    let around = vec![own(1, &[2]), record(2, 1, &[ME])];
    let expected = [
        wake(4),
        left(1),
        update(2, 1, &[2]),
        send(60, construct(1, 0, around.clone())),
    ];
    assert_eq!(bench.iterate(3), expected);
    assert_eq!(bench.iterate(4), [wake(5)]);
    let expected = [wake(6), send(3, construct(2, 0, around))];
    assert_eq!(bench.iterate(5), expected);
    let both = [2, 3];
    let expected = [entered(3), update(2, 2, &both), update(3, 2, &both)];
    assert_eq!(bench.hear(3, linked(2, record(3, 7, &[ME]))), expected);
    assert_eq!(bench.iterate(6), [wake(7)]);
}

#[test]
fn an_unreachable_neighbour_is_removed_at_once() {
    let mut bench = Bench::with(&[(1, &[3, ME]), (2, &[ME])]);
    let effects = bench.feed(Event::Unreachable { to: id(1) });
    assert_eq!(effects, [left(1), update(2, 1, &[2])]);
    bench.ignores(Event::Unreachable { to: id(1) });
    let around = vec![own(1, &[2]), record(2, 1, &[ME])];
    let expected = [wake(1), knows(&[2, 1]), send(3, construct(1, 0, around))];
    assert_eq!(bench.iterate(0), expected);
}

#[test]
fn a_leaver_tells_its_neighbours_and_they_close_the_gap() {
    let mut bench = Bench::with(&[(1, &[ME]), (2, &[ME])]);
    let leaving = Message::Leaving(own(0, &[1, 2]));
    let expected = [
        send(1, leaving.clone()),
        send(2, leaving),
        left(1),
        left(2),
        Effect::Cancel(Timer { iteration: 0 }),
    ];
    assert_eq!(bench.obey(Command::Leave), expected);
    bench.ignores(Event::Command(Command::Leave));
    bench.ignores(Event::Command(Command::Meet(id(1))));
    bench.ignores(Event::Timer(Timer { iteration: 0 }));
    bench.ignores(Event::Message {
        from: id(1),
        message: Message::Ping(record(1, 2, &[ME])),
    });

    let mut bench = Bench::with(&[(1, &[ME]), (2, &[ME])]);
    let message = Message::Leaving(record(1, 5, &[3, ME, 60]));
    let around = vec![own(1, &[2]), record(2, 1, &[ME])];
    let expected = [
        left(1),
        update(2, 1, &[2]),
        send(60, construct(1, 0, around)),
    ];
    assert_eq!(bench.hear(1, message), expected);
}

#[test]
fn a_leaver_forgets_its_contacts_on_disk() {
    let mut bench = Bench::unborn(CONFIG);
    let known = nodes(&[1]).into_iter().collect();
    bench.feed(Event::Restored(Key::Known, Record::Known(known)));
    bench.feed(Event::Start);
    let did = bench.obey(Command::Leave);
    assert!(did.contains(&Effect::Forget(Key::Known)), "{did:?}");
}

#[test]
fn a_missed_peer_that_refuses_is_not_asked_again_before_the_others() {
    let mut bench = Bench::with(&[(1, &[2]), (2, &[1])]);
    let due = |bench: &Bench| bench.machine().contacts.missed_due(7, |_| true);
    for peer in [8, 9] {
        bench.machine_mut().contacts.miss(id(peer));
    }
    let asks = |effects: &Effects, peer| {
        let asks = |effect: &Effect<Blatant>| matches!(effect, Effect::Send { to, message: Message::Link { .. } } if *to == id(peer));
        effects.iter().any(asks)
    };
    let asked = (0..9).find(|iteration| asks(&bench.iterate(*iteration), 9));
    assert!(asked.is_some(), "{:?}", bench.machine());
    bench.hear(9, refused(1, None, vec![]));
    assert_eq!(due(&bench), Some(id(8)));
    // An unreachable neighbour is missed once, and comes next.
    bench.feed(Event::Unreachable { to: id(2) });
    assert_eq!(due(&bench), Some(id(2)));
    bench.feed(Event::Unreachable { to: id(2) });
    assert_eq!(due(&bench), Some(id(2)));
}

#[test]
fn a_contact_is_asked_soon_after_a_neighbour_denied_their_link() {
    let config = Config {
        remember: 4,
        sighted: 50,
        ..CONFIG
    };
    let asked = |denied: bool| {
        let mut bench = Bench::with_config(config, &[(1, &[ME]), (2, &[ME]), (3, &[ME, 9])]);
        bench.act(|blatant, cx| blatant.know(id(9), cx));
        // It has seen the neighbour that denies the link, and the contact behind it.
        bench.iterate(0);
        if denied {
            bench.hear(3, Message::NotLinked);
        }
        (1..80).find(|at| {
            let effects = bench.iterate(*at);
            // The neighbours answer all the time.
            for peer in [1, 2] {
                bench.hear(peer, Message::Pong(record(peer, *at + 2, &[ME])));
            }
            if !denied {
                bench.hear(3, Message::Pong(record(3, *at + 2, &[ME, 9])));
            }
            let asks = |effect: &Effect<Blatant>| matches!(effect, Effect::Send { to, message: Message::Link { .. } } if [3, 9].contains(&to.get()));
            effects.iter().any(asks)
        })
    };
    assert_eq!((asked(true), asked(false)), (Some(5), None));
}
