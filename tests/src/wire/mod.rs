//! Messages of every kind for the tests of the wire format: as large as possible, as examples, or random; and records.

pub mod fill;
pub mod grammar;
pub mod grid;
pub mod messages;
pub mod shapes;
mod values;
pub mod vectors;

use gridweave_core::profile::Profile;
use gridweave_core::scheduler::{aria, asap, criteria, desktop};
use gridweave_core::wire::{HEADER, Kind};
use gridweave_core::{commit, custody, heartbeat, overlay};

pub use fill::{Fill, Largest, Random, Sample};
pub use messages::Each;

/// An operation on the messages of every protocol.
pub trait Visit {
    /// Handles the messages of one protocol.
    fn visit<M: Each>(&mut self);
}

/// Visits every protocol, with the sizes that the simulator uses: eight links in a shuffle, ten descriptors in an
/// exchange, five dimensions.
pub fn visit_all(visit: &mut impl Visit) {
    visit.visit::<heartbeat::Message>();
    visit.visit::<overlay::cyclon::Message<8>>();
    visit.visit::<overlay::vicinity::Message<Profile, 10>>();
    visit.visit::<overlay::blatant::Message>();
    visit.visit::<overlay::can::Message<5>>();
    visit.visit::<commit::Message>();
    visit.visit::<custody::Message>();
    visit.visit::<aria::links::Message>();
    visit.visit::<asap::Message<8>>();
    visit.visit::<criteria::Message<8, 10>>();
    visit.visit::<aria::Message>();
    visit.visit::<desktop::Message<5>>();
}

/// A kind that contains no other kind, with the kinds that contain it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    /// Its name after the names of the kinds that contain it: `Overlay.Shuffle`.
    pub name: String,
    /// The numbers of the kinds, the outermost first.
    pub numbers: Vec<u8>,
    /// The most bytes of a frame.
    pub cap: usize,
}

/// The kinds that contain no other kind, in the order of their numbers.
pub fn paths(kinds: &[Kind]) -> Vec<Path> {
    let mut all = Vec::new();
    for (number, kind) in (0..).zip(kinds) {
        if kind.within().is_empty() {
            all.push(Path {
                name: kind.name().to_owned(),
                numbers: vec![number],
                cap: HEADER + kind.own_bytes(),
            });
        }
        for inner in paths(kind.within()) {
            all.push(Path {
                name: format!("{}.{}", kind.name(), inner.name),
                numbers: [vec![number], inner.numbers].concat(),
                cap: kind.own_bytes() + inner.cap,
            });
        }
    }
    all
}
