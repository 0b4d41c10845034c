//! Where ants go, what they teach, and how they end links.

use super::*;

#[test]
fn an_ant_is_sent_where_the_least_pheromone_is() {
    let config = Config {
        birth: 1000,
        ..CONFIG
    };
    let mut bench = Bench::with_config(config, &[(1, &[ME]), (2, &[ME])]);
    bench.decay(2, 900);
    let sent = send(2, ant(24, vec![own(0, &[1, 2])]));
    assert_eq!(bench.iterate(0), [wake(1), knows(&[1, 2]), sent]);
}

#[test]
fn an_ant_teaches_and_goes_on_to_a_node_that_it_has_not_visited() {
    let mut bench = Bench::with(&[(1, &[7, ME]), (2, &[ME])]);
    bench.decay(1, 100);
    let visited = vec![record(7, 0, &[1, 8]), record(1, 1, &[7, ME])];
    let mut more = visited.clone();
    more.push(own(0, &[1, 2]));
    let effects = bench.hear(1, ant(5, visited.clone()));
    assert_eq!(effects, [send(2, ant(4, more))]);
    let distances = [1, 7, 8, 9].map(|node| bench.machine().distance(id(node)));
    assert_eq!(distances, [Some(1), Some(2), Some(3), None]);
    assert_eq!(bench.hear(1, ant(0, visited.clone())), [], "it dies here");
    // An ant carries few records, and a forged lifespan is cut.
    let many = (100..130).map(|node| record(node, 0, &[1]));
    let many: Vec<_> = many.chain(visited.into_iter().skip(1)).collect();
    let effects = bench.hear(1, ant(255, many));
    let [Effect::Send { to, message }] = &effects[..] else {
        panic!("{effects:?}")
    };
    let Message::Ant { left, visited } = message else {
        panic!("{message:?}")
    };
    assert_eq!((*to, *left, visited.len()), (id(2), 24, 15));
    assert_eq!(visited.last(), Some(&own(0, &[1, 2])));
}

#[test]
fn ants_too_many_for_an_iteration_go_no_further() {
    let mut bench = Bench::with(&[(1, &[ME]), (2, &[ME])]);
    for iteration in 0..2 {
        let goes_on = |bench: &mut Bench, node: u64| {
            let visited = vec![record(node, 0, &[1]), record(1, 1, &[ME])];
            !bench.hear(1, ant(5, visited)).is_empty()
        };
        assert!((100..164).all(|node| goes_on(&mut bench, node)));
        assert!(!goes_on(&mut bench, 164));
        bench.iterate(iteration);
    }
}

#[test]
fn an_ant_that_ends_a_link_goes_on_only_along_links_that_are_there() {
    let mut bench = Bench::with(&[(1, &[ME]), (2, &[ME])]);
    let way = unlink(5, &[8, 1, ME, 2, 7]);
    assert_eq!(bench.hear(1, way.clone()), [send(2, way.clone())]);
    let now = bench.now;
    for peer in [1, 2] {
        assert!(
            bench
                .machine()
                .neighbours
                .get(id(peer))
                .unwrap()
                .is_held(now)
        );
    }
    assert_eq!(bench.hear(2, way.clone()), [kept(8, 5)]);
    assert_eq!(bench.hear(3, way), [kept(8, 5)]);
    let effects = bench.hear(1, unlink(5, &[8, 1, ME, 3, 7]));
    assert_eq!(effects, [kept(8, 5)]);
    for nonsense in [&[][..], &[ME], &[ME, 1], &[1, 2]] {
        bench.ignores(Event::Message {
            from: id(1),
            message: unlink(5, nonsense),
        });
    }
}

#[test]
fn the_other_end_drops_the_link_when_the_ant_arrives() {
    let links: [(u64, &[u64]); 3] = [(1, &[ME]), (2, &[ME]), (3, &[ME])];
    let way = unlink(5, &[3, 9, 1, ME]);
    let mut bench = Bench::with(&links);
    let expected = [
        left(3),
        send(3, Message::NotLinked),
        update(1, 1, &[1, 2]),
        update(2, 1, &[1, 2]),
    ];
    assert_eq!(bench.hear(1, way.clone()), expected);
    // It keeps the link if it has only two, if another change relies on it, or if the way is no way around.
    let mut bench = Bench::with(&[(1, &[ME]), (3, &[ME])]);
    assert_eq!(bench.hear(1, way.clone()), [kept(3, 5)]);
    let mut bench = Bench::with(&links);
    bench.hear(2, unlink(6, &[8, 2, ME, 3]));
    assert_eq!(bench.hear(1, way), [kept(3, 5)]);
    let mut bench = Bench::with(&links);
    assert_eq!(bench.hear(3, unlink(5, &[3, ME])), [kept(3, 5)]);
    assert_eq!(bench.neighbours(), [1, 2, 3]);
}
