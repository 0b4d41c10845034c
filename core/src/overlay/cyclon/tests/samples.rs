//! Samples of all peers that were named.

use super::*;

/// The sample of a node that heard of these peers, in this order.
fn sample_of(heard: &[u64]) -> Vec<NodeId> {
    let mut bench = Bench::with_config(SAMPLING, &[]);
    for &peer in heard {
        bench.hear(peer, shuffle(&[(peer, 0)]));
    }
    bench.machine().samples().collect()
}

#[test]
fn a_sample_depends_on_which_peers_were_named_and_not_on_how_often_or_when() {
    let sample = sample_of(&[1, 2, 3, 4]);
    assert_eq!(sample.len(), 1);
    assert_eq!(sample_of(&[4, 3, 3, 3, 2, 1, 1, 3, 2]), sample);
    let first = sample[0].get();
    let others: Vec<u64> = (1..=4).filter(|peer| *peer != first).collect();
    assert_ne!(sample_of(&others), sample);
    assert_eq!(sample_of(&[50]), [], "a node is no peer of its own");
}

#[test]
fn a_sample_is_asked_every_second_cycle_and_dropped_if_it_does_not_answer() {
    let mut bench = Bench::with_config(SAMPLING, &[(7, 9)]);
    bench.hear(3, shuffle(&[(3, 0)]));
    assert_eq!(bench.machine().samples().collect::<Vec<_>>(), [id(3)]);
    bench.cycle(0);
    assert_eq!(
        bench.machine().waits_for(),
        Some(id(3)),
        "though 7 is older"
    );
    bench.hear(3, shuffled(0, &[]));
    bench.cycle(1);
    assert_eq!(bench.machine().waits_for(), Some(id(7)), "the oldest");
    assert!(bench.machine().view().contains(id(3)), "back in the view");
    bench.cycle(2);
    assert_eq!(bench.machine().waits_for(), Some(id(3)));
    bench.cycle(3);
    assert_eq!(bench.machine().samples().count(), 0, "3 did not answer");
    bench.hear(4, shuffle(&[(4, 0)]));
    bench.cycle(4);
    bench.feed(Event::Unreachable { to: id(4) });
    assert_eq!(bench.machine().samples().count(), 0, "nor is 4 there");
}

#[test]
fn with_samples_one_exchange_that_a_peer_begins_changes_the_view_in_a_cycle() {
    let mut bench = Bench::with_config(SAMPLING, &[]);
    bench.hear(1, shuffle(&[(1, 0)]));
    let did = bench.hear(2, shuffle(&[(2, 0)]));
    assert!(matches!(did[..], [Effect::Send { .. }]), "it is answered");
    assert_eq!(bench.links(), [(1, 0)]);
    bench.cycle(0);
    bench.hear(2, shuffle(&[(2, 0)]));
    assert!(bench.machine().view().contains(id(2)));
}
