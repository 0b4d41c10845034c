//! Dense places: where nodes are closest to each other, as far as this node has heard. Searches for near nodes begin at
//! several of them.
//!
//! The links of a helper overlay of near nodes tell a node how dense its own place is: the nearer its farthest link, the
//! denser ([`Profile::radius`]). Busy nodes are of no use, so a place where some are counts as less dense. Nodes tell their
//! radius in their profiles, and each message of the random overlay names a few of the densest places that its sender
//! knows.
//!
//! A liar may claim any radius at any place. It can fill what others remember, so only every second iteration of a job
//! begins at a dense place, and at each place one. A place whose links do not bear out its radius is forgotten, and the
//! iteration begins at the next one.

use alloc::vec::Vec;
use core::num::{NonZeroU32, NonZeroU64};

use super::message::Descriptor;
use super::{Catalogue, Config, Criteria, Helper};
use crate::commit::Policy;
use crate::id::NodeId;
use crate::profile::{Coordinate, Profile};
use crate::time::Time;

/// A node in the middle of a dense place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Place {
    pub(super) node: NodeId,
    coordinate: Coordinate,
    radius: NonZeroU32,
    age: u16,
}

impl Place {
    fn of(known: &Descriptor) -> Option<Self> {
        Some(Self {
            node: known.id,
            coordinate: known.profile.coordinate,
            radius: known.profile.radius?,
            age: known.age,
        })
    }

    /// What other nodes are told of this place: only that it is dense.
    pub(super) fn descriptor(self) -> Descriptor {
        Descriptor {
            id: self.node,
            age: self.age,
            version: 0,
            profile: Profile {
                radius: Some(self.radius),
                ..Profile::at(self.coordinate)
            },
        }
    }

    /// Whether both are parts of one place: nodes near one of them are near the other.
    fn overlaps(&self, other: &Self) -> bool {
        let reach = u64::from(self.radius.get()).saturating_add(u64::from(other.radius.get()));
        self.coordinate.distance(other.coordinate) <= reach as f64
    }
}

/// The densest places, densest first: at most `most`, none of which overlap.
fn densest(mut known: Vec<Place>, most: usize) -> Vec<Place> {
    // The youngest word of a node counts.
    known.sort_unstable_by_key(|place| (place.node, place.age, place.radius));
    known.dedup_by_key(|place| place.node);
    known.sort_unstable_by_key(|place| (place.radius, place.node));
    let mut kept: Vec<Place> = Vec::new();
    for place in known {
        if kept.len() >= most {
            break;
        }
        if !kept.iter().any(|denser| denser.overlaps(&place)) {
            kept.push(place);
        }
    }
    kept.shrink_to_fit();
    kept
}

impl<const C: usize, const L: usize, const G: usize, U: Catalogue, P: Policy>
    Criteria<C, L, G, U, P>
{
    /// How many dense places this node remembers: none without a helper overlay of near nodes.
    pub(super) fn most_dense(config: &Config) -> usize {
        match config.number(Helper::Proximity) {
            Some(_) => usize::from(config.dense),
            None => 0,
        }
    }

    /// The radius of this node's place, if it has all the links to near nodes that it may have.
    pub(super) fn radius(&self, now: Time) -> Option<NonZeroU32> {
        let number = self.config.number(Helper::Proximity)?;
        if self.config.dense == 0 {
            return None;
        }
        let mut helpers = self.helpers.iter();
        let (_, helper) = helpers.find(|(known, _)| *known == number)?;
        let links = helper.view();
        if links.len() < usize::from(self.config.helper.links) {
            return None;
        }
        radius_of(&self.profile, links, now)
    }

    /// Keeps the densest places of those that it knew, which are so many cycles older, and those that it hears of.
    pub(super) fn hear_of_places(&mut self, heard: &[Descriptor], cycles: u16) {
        let most = Self::most_dense(&self.config);
        if most == 0 {
            return;
        }
        let max_age = self.config.helper.max_age.min(OLDEST_WORD);
        for place in &mut self.dense {
            place.age = place.age.saturating_add(cycles);
        }
        let mut known = core::mem::take(&mut self.dense);
        known.extend(heard.iter().filter_map(Place::of));
        known.retain(|place| place.age <= max_age && place.node != self.me);
        self.dense = densest(known, most);
    }

    /// The densest places, this node's own among them.
    pub(super) fn dense_places(&self) -> Vec<Place> {
        let own = Place::of(&self.descriptor());
        let known = self.dense.iter().copied().chain(own).collect();
        densest(known, Self::most_dense(&self.config))
    }

    /// Forgets a place if the links that its node tells are not as near as it claimed, or not as idle. Returns whether it
    /// was forgotten.
    pub(super) fn is_refuted(&mut self, own: &Descriptor, links: &[Descriptor], now: Time) -> bool {
        let seen = radius_of(&own.profile, links, now);
        let before = self.dense.len();
        self.dense.retain(|place| {
            let twice = place.radius.saturating_mul(TWICE);
            place.node != own.id || seen.is_some_and(|seen| seen <= twice)
        });
        self.dense.len() < before
    }

    /// Forgets the place of a node that does not answer.
    pub(super) fn forget_place(&mut self, node: NodeId) {
        self.dense.retain(|place| place.node != node);
    }
}

/// How many cycles old word of a place may be: twice as many as it takes to reach all of a million nodes. Word that jobs
/// have come to a place since does not travel, for the place is not dense any more.
const OLDEST_WORD: u16 = 20;

/// The radius of a place changes while word of it travels.
const TWICE: NonZeroU32 = NonZeroU32::new(2).unwrap();

/// The delay from a node to the farthest of its links, if all of them are idle. The fewer are, the larger it is, by the
/// square of their share: jobs take the midst of a place first, so that idle nodes beside busy ones are at its edge, with
/// few others behind them.
fn radius_of(own: &Profile, links: &[Descriptor], now: Time) -> Option<NonZeroU32> {
    let delay = |link: &Descriptor| own.coordinate.latency(link.profile.coordinate);
    let micros = links.iter().map(delay).max()?.as_micros().max(1);
    let is_idle = |link: &&Descriptor| {
        let free = link.profile.free;
        free.start() <= now && free.end() == Time::MAX
    };
    let square = |count: usize| (count as u64).saturating_mul(count as u64);
    let idle = square(links.iter().filter(is_idle).count());
    let all = micros.saturating_mul(square(links.len()));
    let wider = all.div_ceil(NonZeroU64::new(idle)?.get());
    NonZeroU32::new(u32::try_from(wider).unwrap_or(u32::MAX))
}
