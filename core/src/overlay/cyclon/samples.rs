//! A defence against eclipse: a few peers that no liar can choose for a node.
//!
//! A liar can send links to its accomplices only, until views have hardly any others. So a node may keep samples beside
//! its view. A sample has a secret key, and keeps the peer that comes first in the order of that key, of all that the
//! node heard of (Bortnikov et al., *Brahms*, 2009). How often a peer is named makes no difference.

use core::hash::Hasher;

use super::{Cyclon, Notice};
use crate::hashing::Mix;
use crate::id::NodeId;
use crate::machine::Context;
use crate::overlay::view::Link;
use crate::rng::Choose;

/// The most samples of a node. Without an allocator there are none, for every node would need room for them.
pub const MOST_SAMPLES: usize = if cfg!(feature = "alloc") { 32 } else { 0 };

/// With samples, how many exchanges that peers begin may change the view in a cycle. Further ones leave it as it is.
pub(super) const MOST_TAKEN: u8 = 1;

/// In a box if possible, so that a node without samples stays small.
#[cfg(feature = "alloc")]
pub(super) type Kept = alloc::boxed::Box<Samples>;
#[cfg(not(feature = "alloc"))]
pub(super) type Kept = Samples;

/// The samples of a node: each keeps the peer that is first in the order of its key.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Samples {
    list: heapless::Vec<Sample, MOST_SAMPLES>,
    /// How many exchanges that peers began changed the view in this cycle.
    pub taken: u8,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Sample {
    key: u64,
    first: Option<Link>,
}

impl Sample {
    fn hear(&mut self, link: Link) {
        let key = self.key;
        match &mut self.first {
            Some(first) if first.id == link.id => {
                first.age = first.age.min(link.age);
                first.incarnation = first.incarnation.max(link.incarnation);
            }
            Some(first) if rank(key, first.id) <= rank(key, link.id) => {}
            first => *first = Some(link),
        }
    }
}

/// The rank of a node in the order of a key; the lowest is first.
fn rank(key: u64, id: NodeId) -> u64 {
    let mut mix = Mix::default();
    mix.write_u64(key);
    mix.write_u64(id.get());
    mix.finish()
}

impl Samples {
    /// Draws the keys; no peer is sampled yet.
    pub(super) fn draw(count: u8, rng: &mut (impl rand_core::Rng + ?Sized)) -> Kept {
        let mut samples = Self::default();
        for _ in 0..count {
            let key = u64::from(rng.next_u32()) << 32 | u64::from(rng.next_u32());
            let _ = samples.list.push(Sample { key, first: None });
        }
        #[cfg(feature = "alloc")]
        let samples = Kept::new(samples);
        samples
    }

    fn peers(&self) -> impl Iterator<Item = Link> + '_ {
        self.list.iter().filter_map(|sample| sample.first)
    }

    fn hear(&mut self, link: Link) {
        for sample in &mut self.list {
            sample.hear(link);
        }
    }

    /// Drops a peer that is not there, so that others can be sampled.
    pub(super) fn forget(&mut self, id: NodeId) {
        for sample in &mut self.list {
            sample.first = sample.first.filter(|first| first.id != id);
        }
    }

    fn begin_cycle(&mut self) {
        self.taken = 0;
        for first in self
            .list
            .iter_mut()
            .filter_map(|sample| sample.first.as_mut())
        {
            first.age = first.age.saturating_add(1);
        }
    }
}

impl<const C: usize, const L: usize> Cyclon<C, L> {
    /// The sampled peers, which no liar could choose for this node; none without [`Config::samples`](super::Config).
    pub fn samples(&self) -> impl Iterator<Item = NodeId> + '_ {
        let samples = self.samples.iter();
        samples.flat_map(|samples| samples.peers().map(|link| link.id))
    }

    /// Offers these links to all samples.
    pub(super) fn hear_of(&mut self, links: &[Link]) {
        let me = self.view.owner();
        if let Some(samples) = &mut self.samples {
            for link in links.iter().filter(|link| link.id != me) {
                samples.hear(*link);
            }
        }
    }

    /// Puts sampled peers into up to half of the view when a cycle begins. In every second cycle, returns one of them
    /// as the partner of the exchange, which also shows whether it is up.
    pub(super) fn draw_samples(&mut self, cycle: u32, cx: &mut dyn Context<Self>) -> Option<Link> {
        let samples = self.samples.as_mut()?;
        samples.begin_cycle();
        let mut peers: heapless::Vec<Link, MOST_SAMPLES> = samples.peers().collect();
        let half = usize::from(self.config.view).div_ceil(2);
        let (some, _) = cx.rng().sample(&mut peers, half);
        for link in some.iter() {
            if self.view.contains(link.id) {
                continue;
            }
            if self.view.is_full()
                && let Some(gone) = self.view.pick(cx.rng())
            {
                self.view.remove(gone.id);
                self.tell(Notice::Left { peer: gone.id }, cx);
            }
            let _ = self.learn(*link, cx);
        }
        let partner = some.first().copied();
        partner.filter(|_| cycle.is_multiple_of(2))
    }
}
