//! Which links are made, and which are ended.

use super::*;

#[test]
fn a_far_node_gets_a_link_if_there_is_room() {
    let mut bench = Bench::with(&[(1, &[ME]), (2, &[ME])]);
    let all = [1, 2, 70];
    let expected = [
        entered(70),
        send(70, linked(9, own(1, &all))),
        update(1, 1, &all),
        update(2, 1, &all),
    ];
    let request = optimise(vec![record(70, 3, &[71])]);
    assert_eq!(bench.hear(70, request.clone()), expected);
    assert_eq!(bench.machine().links()[2].purpose, Purpose::Optimisation);
    // An asker that asks again has not received the answer.
    let effects = bench.hear(70, request.clone());
    assert_eq!(effects[0], send(70, linked(9, own(1, &all))));
    let full = Config {
        optimising: 0,
        ..CONFIG
    };
    let mut bench = Bench::with_config(full, &[(1, &[ME]), (2, &[ME])]);
    let no = [send(70, refused(9, None, vec![]))];
    assert_eq!(bench.hear(70, request.clone()), no);
    // A sender whose first record is not its own is a liar.
    assert_eq!(bench.hear(71, request), []);
}

#[test]
fn a_near_node_is_refused_and_shown_the_way() {
    let mut bench = Bench::with(&[(1, &[ME, 70]), (2, &[ME])]);
    let theirs = record(70, 3, &[1]);
    let way = vec![own(0, &[1, 2]), record(1, 1, &[ME, 70]), theirs.clone()];
    let expected = [send(70, refused(9, None, way))];
    assert_eq!(bench.hear(70, optimise(vec![theirs])), expected);
    assert_eq!(bench.neighbours(), [1, 2]);
}

#[test]
fn a_node_that_seems_far_long_enough_is_asked_for_a_link() {
    // A line: 50, 1, 10, 11, ... 18.
    let mut bench = Bench::with(&[(1, &[10, ME]), (2, &[ME])]);
    let line: Vec<_> = (10..17)
        .map(|node| record(node, 0, &[if node == 10 { 1 } else { node - 1 }, node + 1]))
        .collect();
    let mut asked = None;
    for iteration in 0..60 {
        for record in &line {
            bench.machine_mut().learn(record);
        }
        bench.hear(1, Message::Update(record(1, 1, &[10, ME])));
        bench.hear(2, Message::Update(record(2, 1, &[ME])));
        let effects = bench.iterate(iteration);
        let sends = effects
            .iter()
            .find(|it| matches!(it, Effect::Send { .. }))
            .cloned();
        if let Some(sent) = sends {
            asked = Some((iteration, sent));
            break;
        }
    }
    let around = vec![
        own(0, &[1, 2]),
        record(1, 1, &[10, ME]),
        record(2, 1, &[ME]),
    ];
    // 17 is nine links away; it was seen first in the first iteration.
    let link = link(1, Purpose::Optimisation, 0, around);
    assert_eq!(asked, Some((40, send(17, link))));
}

#[test]
fn a_link_with_a_short_way_around_is_ended_from_its_lower_end() {
    let links: [(u64, &[u64]); 3] = [(1, &[ME, 61]), (2, &[3, ME]), (60, &[ME, 61, 62])];
    let mut bench = Bench::with(&links);
    let ant = send(1, unlink(1, &[ME, 1, 61, 60]));
    let expected = [wake(1), knows(&[1, 2, 60]), ant];
    assert_eq!(bench.iterate(0), expected);
    // Meanwhile no other change may rely on the link, and the first link of the way around is held.
    let through = unlink(5, &[8, 1, ME, 60]);
    assert_eq!(bench.hear(1, through), [kept(8, 5)]);
    let now = bench.now;
    assert!(bench.machine().neighbours.get(id(1)).unwrap().is_held(now));
    let expected = [left(60), update(1, 1, &[1, 2]), update(2, 1, &[1, 2])];
    let mut other = bench.machine().clone();
    assert_eq!(bench.hear(60, Message::NotLinked), expected);
    assert!(bench.machine().is_idle());
    // Or the link is kept.
    mem::swap(bench.machine_mut(), &mut other);
    let change = change(1);
    assert_eq!(bench.hear(61, Message::Kept { change }), []);
    assert!(bench.machine().is_idle());
    assert_eq!(bench.neighbours(), [1, 2, 60]);
    // The end with the higher id does nothing.
    let mut bench = Bench::with(&[(1, &[ME, 11, 61]), (2, &[3, ME]), (10, &[ME, 11])]);
    assert_eq!(bench.iterate(0).len(), 2);
}

#[test]
fn a_host_lays_out_links_by_hand() {
    let mut bench = Bench::with(&[]);
    assert_eq!(bench.obey(Command::Meet(id(7))), [entered(7)]);
    bench.ignores(Event::Command(Command::Meet(id(7))));
    bench.ignores(Event::Command(Command::Meet(id(ME))));
    assert_eq!(bench.neighbours(), [7]);
}
