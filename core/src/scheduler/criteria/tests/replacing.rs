//! Spares: nodes that take the places of those that are lost before the start.

use super::*;
use Did::{Persist, Send, Tell};

const SPARED: Config = Config {
    spares: 2,
    ..CONFIG
};

/// A job for the two cheapest of 1 to 4, which are all free from 300 on, has 1 and 2.
fn placed(config: Config) -> Bench {
    let (mut bench, _) = Bench::searching(config, 2, CHEAPEST);
    for (node, links) in [(1, &[2, 3, 4][..]), (2, &[]), (3, &[]), (4, &[])] {
        bench.hear(node, seen(1, node, &[busy(0, 300)], links));
    }
    let did = bench.agree(&[1, 2], attempt(1, 1));
    assert_eq!(did, [Persist(OF_JOB), Tell(7, accepted(300))]);
    bench
}

const fn gone(attempt: Attempt) -> Vote {
    Vote::Alive {
        attempt,
        standing: commit::Standing::Gone,
    }
}

#[test]
fn the_best_of_the_other_nodes_takes_the_place_of_a_lost_one_without_a_new_search() {
    let mut bench = placed(SPARED);
    let (one, two) = (attempt(1, 1), attempt(1, 2));
    let did = bench.at(10).vote(1, gone(one));
    assert_eq!(did, [3, 2].map(|node| Send(node, prepare(two, 300))));
    let did = bench.agree(&[3, 2], two);
    assert!(did.contains(&Tell(7, moved(300))), "{did:?}");
    let looks = |did: &Did| matches!(did, Send(_, Message::Look { .. }));
    assert!(!did.iter().any(looks), "{did:?}");
    let progress = bench.machine().progress(JOB).unwrap();
    assert_eq!(progress.nodes, [id(3), id(2)]);
    assert_eq!(
        (progress.start, progress.iterations),
        (Some(second(300)), 1)
    );
}

#[test]
fn a_spare_that_refuses_is_followed_by_the_next_and_then_by_a_new_search() {
    let mut bench = placed(SPARED);
    let did = bench.at(10).vote(1, gone(attempt(1, 1)));
    assert_eq!(did[0], Send(3, prepare(attempt(1, 2), 300)));
    let did = bench.vote(3, refused(attempt(1, 2)));
    assert!(
        did.contains(&Send(4, prepare(attempt(1, 3), 300))),
        "{did:?}"
    );
    let did = bench.vote(4, refused(attempt(1, 3)));
    let search = |did: &Did| matches!(did, Send(_, Message::Look { .. }));
    assert!(did.iter().any(search), "{did:?}");
}

#[test]
fn without_spares_a_lost_node_begins_a_new_search() {
    let mut bench = placed(CONFIG);
    let did = bench.at(10).vote(1, gone(attempt(1, 1)));
    let search = |did: &Did| matches!(did, Send(_, Message::Look { .. }));
    assert!(did.iter().any(search), "{did:?}");
}
