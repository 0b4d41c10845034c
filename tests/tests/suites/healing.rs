//! Each overlay keeps its promise: out of any bad state it becomes whole, by a deadline, once nothing goes wrong any
//! more.
//!
//! `HEALING_SEED` and `HEALING_STATES` choose other states than those of every run.

use gridweave_tests::healing::{Ants, Gossip, Near, Network, Overlay, Zones};
use gridweave_tests::scaled;

fn number(variable: &str, default: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(default, |given| given.parse().expect("it is a number"))
}

fn heals<M: Overlay>(small: u32) {
    let first = number("HEALING_SEED", 0);
    let states = number("HEALING_STATES", scaled(10_000, small).into());
    let (mut longest, mut sum) = (0, 0);
    let mut broken = Vec::new();
    for seed in first..first + states {
        match Network::<M>::in_a_bad_state(seed).heal() {
            Ok(periods) => {
                longest = longest.max(periods);
                sum += periods;
            }
            Err(what) => broken.push((seed, what)),
        }
    }
    println!(
        "{states} states from seed {first}: whole after {} periods on average, {longest} at most, of {}",
        sum / states,
        M::DEADLINE
    );
    assert!(
        broken.is_empty(),
        "{} states did not heal: {broken:#?}",
        broken.len()
    );
}

#[test]
fn cyclon_is_one_again() {
    heals::<Gossip>(30);
}

#[test]
fn every_node_finds_those_nearest_to_it_again() {
    heals::<Near>(10);
}

#[test]
fn blatant_is_one_again() {
    heals::<Ants>(12);
}

#[test]
fn zones_of_can_are_the_whole_space_again() {
    heals::<Zones>(20);
}
