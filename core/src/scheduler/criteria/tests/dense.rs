//! Dense places: what is told of them, and which iterations begin there.

use super::*;
use Did::Send;

/// Two dense places are remembered; a node tells its radius when it has two near links.
const DENSE: Config = Config {
    dense: 2,
    helper: vicinity::Config {
        links: 2,
        ..CONFIG.helper
    },
    iterations: 4,
    ..PROACTIVE
};

/// What is told of a node in the middle of a place with this radius.
fn place(node: u64, radius: u32) -> Descriptor {
    let mut told = descriptor(node);
    told.profile.radius = NonZeroU32::new(radius);
    told
}

/// A node with neighbours 1 and 4 that hears of these places from the second.
fn hearing(config: Config, places: &[Descriptor]) -> Bench {
    let mut bench = Bench::meeting(config, &[1]);
    let about: Vec<Descriptor> = [descriptor(4)]
        .into_iter()
        .chain(places.iter().cloned())
        .collect();
    bench.hear(4, shuffle(4, &about));
    bench
}

/// The nodes and radii of the places that `peer` is told of.
fn told(bench: &mut Bench, peer: u64) -> Vec<(u64, u32)> {
    let did = bench.hear(peer, shuffle(peer, &[]));
    let about = did.iter().find_map(|did| match did {
        Send(to, Message::Overlay { about, .. }) if *to == peer => Some(about),
        _ => None,
    });
    let places = about.expect("the shuffle is answered").iter();
    let place = |told: &Descriptor| Some((told.id.get(), told.profile.radius?.get()));
    places.filter_map(place).collect()
}

#[test]
fn the_densest_places_that_do_not_overlap_are_told() {
    // 10 is within the reach of 9, and 30 is one more than is remembered.
    let places = [
        place(30, 900),
        place(20, 400),
        place(10, 800),
        place(9, 300),
    ];
    let mut bench = hearing(DENSE, &places);
    assert_eq!(told(&mut bench, 5), [(9, 300), (20, 400)]);
}

#[test]
fn the_youngest_word_of_a_place_counts_and_old_word_is_forgotten() {
    let config = Config {
        helper: vicinity::Config {
            max_age: 1,
            ..DENSE.helper
        },
        ..DENSE
    };
    let old = Descriptor {
        age: 1,
        ..place(9, 100)
    };
    let mut bench = hearing(config, &[old, place(9, 300)]);
    assert_eq!(told(&mut bench, 5), [(9, 300)]);
    bench.cycle();
    assert_eq!(told(&mut bench, 6), [(9, 300)]);
    bench.cycle();
    assert_eq!(told(&mut bench, 7), []);
}

#[test]
fn a_node_tells_its_radius_when_it_has_all_its_near_links() {
    let mut bench = hearing(DENSE, &[]);
    for (number, near, radius) in [(1, 49, None), (2, 52, Some(2000))] {
        let request = vicinity::Message::Request {
            exchange: vicinity::ExchangeId(0),
            descriptors: [descriptor(near)].into_iter().collect(),
        };
        let message = Shared::new(request);
        bench.hear(near, Message::Helper { number: 0, message });
        bench.unreachable(1);
        bench.unreachable(4);
        bench.cycle();
        let own = bench.machine().profile().radius.map(NonZeroU32::get);
        assert_eq!(own, radius, "after {number} links");
    }
}

#[test]
fn busy_nodes_make_a_place_less_dense() {
    let mut reserved = descriptor(49);
    reserved.profile.free = busy(0, 300);
    let mut bench = hearing(DENSE, &[]);
    let request = vicinity::Message::Request {
        exchange: vicinity::ExchangeId(0),
        descriptors: [descriptor(52), reserved].into_iter().collect(),
    };
    let message = Shared::new(request);
    bench.hear(52, Message::Helper { number: 0, message });
    bench.unreachable(1);
    bench.unreachable(4);
    bench.cycle();
    // One of two is idle: 2000 microseconds by the square of two.
    let own = bench.machine().profile().radius.map(NonZeroU32::get);
    assert_eq!(own, Some(8000));
}

#[test]
fn an_iteration_turns_to_the_next_place_if_the_first_one_is_not_dense() {
    let places = [place(20, 400), place(9, 300), place(40, 700)];
    let config = Config { dense: 3, ..DENSE };
    let mut bench = hearing(config, &places);
    let did = bench.obey(Command::submit(wanting(2, Criterion::Closest)));
    let through = Through::Helper(0);
    assert_eq!(did.last(), Some(&Send(9, look(1, through))));
    // Its links are far; 20 has none. Both places are forgotten, and nodes that were named there are not asked.
    bench.hears(9, seen(1, 9, &[], &[80, 90]), [Send(20, look(1, through))]);
    bench.hears(20, seen(1, 20, &[], &[]), [Send(40, look(1, through))]);
    // 40 is in a dense place, so its links are asked.
    let near = [41, 39].map(|node| Send(node, look(1, through)));
    let did = bench.hear(40, seen(1, 40, &[], &[41, 39]));
    assert!(near.contains(&did[0]), "{did:?}");
    assert!(
        !told(&mut bench, 5)
            .iter()
            .any(|(node, _)| [9, 20].contains(node))
    );
}

/// Answers all questions with a node that is busy for ever, and whose links are the two beside it. Returns the nodes that
/// are asked first in each iteration.
fn firsts(bench: &mut Bench, did: &Effects) -> Vec<u64> {
    let question = |did: &Did| match did {
        Send(to, Message::Look { look, through }) => Some((look.0, *to, *through)),
        _ => None,
    };
    let mut waiting: Vec<_> = did.iter().filter_map(question).collect();
    let mut firsts: Vec<(u32, u64)> = Vec::new();
    while !waiting.is_empty() {
        let (number, node, _) = waiting.remove(0);
        if firsts.iter().all(|(known, _)| *known != number) {
            firsts.push((number, node));
        }
        let links = [node.saturating_sub(1), node + 1];
        let did = bench.hear(node, seen(number, node, &[busy(0, 90_000)], &links));
        waiting.extend(did.iter().filter_map(question));
    }
    firsts.into_iter().map(|(_, node)| node).collect()
}

#[test]
fn every_second_iteration_for_near_nodes_begins_at_the_densest_place_where_none_has_begun() {
    let places = [place(20, 1400), place(9, 1300)];
    let near = |config| {
        let mut bench = hearing(config, &places);
        let did = bench.obey(Command::submit(wanting(1, Criterion::Closest)));
        firsts(&mut bench, &did)
    };
    let begun = near(DENSE);
    assert_eq!((begun[0], begun[2]), (9, 20), "{begun:?}");
    assert!(
        [1, 4].contains(&begun[1]) && [1, 4].contains(&begun[3]),
        "{begun:?}"
    );
    // In the paper none does.
    let begun = near(Config { dense: 0, ..DENSE });
    assert!(
        !begun.iter().any(|first| [9, 20].contains(first)),
        "{begun:?}"
    );
    // Jobs that do not want near nodes begin elsewhere.
    let mut bench = hearing(DENSE, &places);
    let did = bench.obey(Command::submit(wanting(1, CHEAPEST)));
    let begun = firsts(&mut bench, &did);
    assert!(
        !begun.iter().any(|first| [9, 20].contains(first)),
        "{begun:?}"
    );
}

#[test]
fn the_iteration_after_one_at_a_dense_place_begins_in_the_middle_of_the_best_placement() {
    for (dense, best) in [(2, true), (0, false)] {
        let config = Config { dense, ..DENSE };
        let mut bench = hearing(config, &[place(9, 40_000)]);
        let did = bench.obey(Command::submit(wanting(3, Criterion::Closest)));
        let [.., Send(first, Message::Look { look: one, .. })] = &did[..] else {
            panic!("one node is asked first: {did:?}");
        };
        bench.hear(*first, seen(one.0, *first, &[], &[30, 31, 33, 39, 38]));
        for node in [30, 31, 33, 39] {
            bench.hear(node, seen(one.0, node, &[], &[]));
        }
        let first_attempt = attempt(1, 1);
        bench.hear(38, seen(one.0, 38, &[], &[]));
        // 31 is in the middle of 30 to 33.
        let did = bench.agree(&[30, 31, 33], first_attempt);
        let begun = did
            .iter()
            .any(|did| matches!(did, Send(31, Message::Look { .. })));
        assert_eq!(begun, best, "{did:?}");
    }
}

#[test]
fn a_place_that_is_not_as_dense_as_claimed_is_forgotten_and_so_is_a_lost_one() {
    let places = [place(20, 400), place(9, 1000)];
    // 8 and 10 are a thousand microseconds from 9, and 12 three thousand.
    for (links, kept) in [
        (&[8, 10][..], true),
        (&[8, 12][..], false),
        (&[][..], false),
    ] {
        let mut bench = hearing(DENSE, &places);
        let did = bench.obey(Command::submit(wanting(1, Criterion::Closest)));
        let through = Through::Helper(0);
        let first = Send(20, look(1, through));
        assert_eq!(did.last(), Some(&first));
        bench.hear(20, seen(1, 20, &[busy(0, 90_000)], &[9]));
        bench.hear(9, seen(1, 9, &[busy(0, 90_000)], links));
        let told = told(&mut bench, 5);
        assert_eq!(told.contains(&(9, 1000)), kept, "{links:?}: {told:?}");
        assert!(!told.contains(&(20, 400)), "its only link is far");
    }
    let mut bench = hearing(DENSE, &places);
    bench.unreachable(20);
    assert_eq!(told(&mut bench, 5), [(9, 1000)]);
}
