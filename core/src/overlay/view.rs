//! The links of a node: a limited number, to distinct nodes, none to the node itself.
//!
//! A view is a plain value of fixed size. Ids lie in an array of their own, because a search looks only at them. Links
//! are kept in the order of ids, so that equal views are equal values.
//!
//! ```
//! use gridweave_core::id::{Incarnation, NodeId};
//! use gridweave_core::overlay::view::{Change, Link, View};
//!
//! let link = |id, age| Link { id: NodeId::new(id), incarnation: Incarnation::new(0), age };
//! let mut view = View::<8>::new(NodeId::new(1), 2);
//! view.insert(link(5, 9))?;
//! view.insert(link(3, 4))?;
//!
//! // An exchange: the node sent its link to 5, and got links to 7 and to 3 in return. The view has room for two.
//! let mut changes = Vec::new();
//! view.take_in(&[link(7, 0), link(3, 2)], &[NodeId::new(5)], |change| changes.push(change));
//! assert!(view.links().eq([link(3, 2), link(7, 0)]));
//! assert_eq!(changes, [Change::Left(NodeId::new(5)), Change::Entered(NodeId::new(7))]);
//! # Ok::<(), gridweave_core::overlay::view::NotInserted>(())
//! ```

#[cfg(test)]
mod tests;

use core::fmt;

use crate::few::Few;
use crate::id::{Incarnation, NodeId};
use crate::machine::Violation;
use crate::rng::Choose;

/// What a node knows of a peer: that it was up, in which life, and how old that news is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Link {
    /// The node that it leads to.
    pub id: NodeId,
    /// That node's life when it made the link.
    pub incarnation: Incarnation,
    /// How many cycles old the link is, counted at all nodes that had it; saturates.
    pub age: u16,
}

/// Some links, at most `L`, kept in place.
pub type Links<const L: usize> = Few<Link, L>;

/// The links of one node, at most `C` and at most 255.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct View<const C: usize> {
    owner: NodeId,
    limit: u8,
    len: u8,
    /// Strictly increasing up to `len`, and the largest id behind that, so that a search need not look at `len`.
    ids: [NodeId; C],
    /// The default behind `len`.
    facts: [Facts; C],
}

/// The id in the free places behind the last link.
const UNUSED: NodeId = NodeId::new(u64::MAX);

/// What a link says about the node that it leads to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Facts {
    incarnation: Incarnation,
    age: u16,
}

impl Facts {
    const fn of(self, id: NodeId) -> Link {
        Link {
            id,
            incarnation: self.incarnation,
            age: self.age,
        }
    }
}

impl Facts {
    /// Takes what is newer from another link to the same node.
    fn refresh(&mut self, news: Link) -> Refreshed {
        if news.incarnation < self.incarnation {
            return Refreshed::SameLife;
        }
        self.age = news.age.min(self.age);
        if news.incarnation == self.incarnation {
            return Refreshed::SameLife;
        }
        self.incarnation = news.incarnation;
        Refreshed::LaterLife
    }
}

impl From<Link> for Facts {
    fn from(link: Link) -> Self {
        Self {
            incarnation: link.incarnation,
            age: link.age,
        }
    }
}

/// Why a link was not added. The view has not changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum NotInserted {
    /// It leads to the owner of the view.
    Own,
    /// The view has a link to that node.
    Known,
    /// The view has as many links as it may.
    Full,
}

impl fmt::Display for NotInserted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own => "the link leads to the owner of the view",
            Self::Known => "the view has a link to that node",
            Self::Full => "the view is full",
        })
    }
}

impl core::error::Error for NotInserted {}

/// What news about a node did to the link that leads there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Refreshed {
    /// There is no such link.
    Unknown,
    /// The link is to the life it was to; it may be younger now.
    SameLife,
    /// The link is to a later life now.
    LaterLife,
}

/// Links to be added, each with the number of present links that have a smaller id. Its index is its rank by id among
/// the received links, so some entries may be empty.
type Added<const C: usize> = [Option<(usize, Link)>; C];

/// A change that an exchange of links made to a view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Change {
    /// There is a link to this node now.
    Entered(NodeId),
    /// There is no link to this node any more.
    Left(NodeId),
    /// The link to this node is to a later life than before.
    Restarted(NodeId, Incarnation),
}

/// What an exchange makes of a link that was there before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It stays, unless another needs its place.
    Kept,
    /// It came in as well, so it stays.
    Confirmed,
    /// Another has its place.
    Gone,
}

impl<const C: usize> View<C> {
    /// An empty view that may have up to `limit` links, if `C` allows for as many.
    pub fn new(owner: NodeId, limit: u8) -> Self {
        Self {
            owner,
            limit: limit.min(u8::try_from(C).unwrap_or(u8::MAX)),
            len: 0,
            ids: [UNUSED; C],
            facts: [Facts::default(); C],
        }
    }

    /// The node that the view belongs to.
    pub const fn owner(&self) -> NodeId {
        self.owner
    }

    /// The most links that it may have.
    pub const fn limit(&self) -> u8 {
        self.limit
    }

    /// How many links it has.
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether it has none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether it has as many links as it may.
    pub const fn is_full(&self) -> bool {
        self.len >= self.limit
    }

    /// The nodes that its links lead to, in the order of ids.
    pub fn ids(&self) -> &[NodeId] {
        self.ids.get(..self.len()).unwrap_or(&self.ids)
    }

    /// Its links, in the order of ids.
    pub fn links(&self) -> impl Iterator<Item = Link> + '_ {
        let ids = self.ids().iter();
        ids.zip(&self.facts).map(|(id, facts)| facts.of(*id))
    }

    /// The link to a node.
    pub fn link(&self, id: NodeId) -> Option<Link> {
        self.at(self.index_of(id).ok()?)
    }

    /// Whether there is a link to this node.
    pub fn contains(&self, id: NodeId) -> bool {
        self.index_of(id).is_ok()
    }

    /// Where the link to a node is, or where it would be.
    fn index_of(&self, id: NodeId) -> Result<usize, usize> {
        let index = self.count_below(id);
        if self.is_at(index, id) {
            Ok(index)
        } else {
            Err(index)
        }
    }

    fn is_at(&self, index: usize, id: NodeId) -> bool {
        index < self.len() && self.ids.get(index) == Some(&id)
    }

    /// How many ids are smaller: first by fours, then one by one. It counts and does not branch, for a processor would
    /// mispredict half of the branches.
    #[inline]
    fn count_below(&self, id: NodeId) -> usize {
        const STEP: usize = 4;
        let count =
            |ids: &[NodeId]| -> usize { ids.iter().map(|other| usize::from(*other < id)).sum() };
        let (fours, _) = self.ids.as_chunks::<STEP>();
        let whole: usize = fours.iter().map(|[.., last]| usize::from(*last < id)).sum();
        let below = whole.wrapping_mul(STEP);
        let rest = self.ids.get(below..).unwrap_or_default();
        below.wrapping_add(match rest.first_chunk::<STEP>() {
            Some(four) => count(four),
            None => count(rest),
        })
    }

    fn at(&self, index: usize) -> Option<Link> {
        let (id, facts) = (self.ids().get(index)?, self.facts.get(index)?);
        Some(facts.of(*id))
    }

    /// Adds a link.
    pub fn insert(&mut self, link: Link) -> Result<(), NotInserted> {
        if link.id == self.owner {
            return Err(NotInserted::Own);
        }
        let Err(index) = self.index_of(link.id) else {
            return Err(NotInserted::Known);
        };
        if self.is_full() {
            return Err(NotInserted::Full);
        }
        let end = self.len();
        shift(&mut self.ids, end, index, link.id);
        shift(&mut self.facts, end, index, link.into());
        self.len = self.len.saturating_add(1);
        Ok(())
    }

    /// Puts a link in place of the one to another node, which is returned. Nothing changes if there is no such link, or
    /// if the new one leads to the owner or to a node that is known.
    pub fn replace(&mut self, old: NodeId, link: Link) -> Option<Link> {
        if link.id == self.owner {
            return None;
        }
        let (gone, index) = (self.index_of(old).ok()?, self.index_of(link.id).err()?);
        let replaced = self.at(gone)?;
        // Without the old link, the indices behind it are one less.
        let index = index.saturating_sub(usize::from(index > gone));
        shift(&mut self.ids, gone, index, link.id);
        shift(&mut self.facts, gone, index, link.into());
        Some(replaced)
    }

    /// Removes the link to a node, if there is one.
    pub fn remove(&mut self, id: NodeId) -> Option<Link> {
        let index = self.index_of(id).ok()?;
        let link = self.at(index)?;
        self.len = self.len.saturating_sub(1);
        let end = self.len();
        shift(&mut self.ids, index, end, UNUSED);
        shift(&mut self.facts, index, end, Facts::default());
        Some(link)
    }

    /// Takes what is newer from another link to the same node: the smaller age, the later life. News of an earlier life
    /// is ignored (PROTOCOLS 1.3, 1.4).
    pub fn refresh(&mut self, news: Link) -> Refreshed {
        match self.index_of(news.id) {
            Ok(index) => self.refresh_at(index, news),
            Err(_) => Refreshed::Unknown,
        }
    }

    fn refresh_at(&mut self, index: usize, news: Link) -> Refreshed {
        let facts = self.facts.get_mut(index);
        facts.map_or(Refreshed::Unknown, |facts| facts.refresh(news))
    }

    /// Takes in the links of a message, at most `C`. Links to known nodes are refreshed. New links go into free places,
    /// and then in place of links that were given in return and that the message did not bring back.
    ///
    /// The result is as if the links came one after the other, and `tell` gets the changes in that order. But the
    /// present links are moved only once.
    pub fn take_in(&mut self, received: &[Link], given: &[NodeId], mut tell: impl FnMut(Change)) {
        let received = received.get(..C).unwrap_or(received);
        let mut fate = [Fate::Kept; C];
        let mut places = [0_usize; C];
        for (link, to) in received.iter().zip(&mut places) {
            let index = self.count_below(link.id);
            *to = index;
            if self.is_at(index, link.id)
                && let Some(fate) = fate.get_mut(index)
            {
                *fate = Fate::Confirmed;
            }
        }
        let mut added: Added<C> = [None; C];
        let mut room = usize::from(self.limit.saturating_sub(self.len));
        let mut given = given.iter();
        for (&link, &index) in received.iter().zip(&places) {
            if link.id == self.owner && !canary!(OwnLinkTaken) {
                continue;
            }
            if self.is_at(index, link.id) {
                if self.refresh_at(index, link) == Refreshed::LaterLife {
                    tell(Change::Restarted(link.id, link.incarnation));
                }
                continue;
            }
            let smaller = received.iter().map(|other| usize::from(other.id < link.id));
            let Some(to) = added.get_mut(smaller.sum::<usize>()) else {
                continue;
            };
            if let Some((_, before)) = to {
                let mut facts = Facts::from(*before);
                if facts.refresh(link) == Refreshed::LaterLife {
                    tell(Change::Restarted(link.id, link.incarnation));
                }
                *before = facts.of(link.id);
                continue;
            }
            if let Some(less) = room.checked_sub(1) {
                room = less;
            } else if let Some(gone) = self.make_room(&mut given, &mut fate) {
                tell(Change::Left(gone));
            } else {
                continue;
            }
            tell(Change::Entered(link.id));
            *to = Some((index, link));
        }
        self.rebuild(&fate, added.get(..received.len()).unwrap_or(&added));
    }

    /// Marks the next given link that the message did not bring back as gone, and returns its node.
    fn make_room(
        &self,
        given: &mut core::slice::Iter<'_, NodeId>,
        fate: &mut [Fate; C],
    ) -> Option<NodeId> {
        given.copied().find(|&id| {
            let index = self.count_below(id);
            match fate.get_mut(index) {
                Some(fate) if self.is_at(index, id) && *fate == Fate::Kept => {
                    *fate = Fate::Gone;
                    true
                }
                _ => false,
            }
        })
    }

    /// Moves the links that stay, and puts the added links between them.
    fn rebuild(&mut self, fate: &[Fate; C], added: &[Option<(usize, Link)>]) {
        let mut added_before = [0_u8; C];
        for (index, _) in added.iter().flatten() {
            if let Some(more) = added_before.get_mut(*index) {
                *more = more.wrapping_add(1);
            }
        }
        let (ids, facts, len) = (self.ids, self.facts, self.len());
        let mut kept_before = [0_usize; C];
        let (mut kept, mut new) = (0_usize, 0_usize);
        let old = ids.iter().zip(&facts).take(len);
        let about = fate.iter().zip(&added_before).zip(&mut kept_before);
        for ((id, facts), ((fate, more), before)) in old.zip(about) {
            *before = kept;
            new = new.wrapping_add(usize::from(*more));
            // A link that is gone is written, too. The next link overwrites it, or behind the last one the empty entry:
            // that is faster than a branch.
            self.put(kept.wrapping_add(new), *id, *facts);
            kept = kept.wrapping_add(usize::from(*fate != Fate::Gone));
        }
        let mut smaller = 0_usize;
        for (index, link) in added.iter().flatten() {
            let before = kept_before.get(*index).filter(|_| *index < len);
            let before = *before.unwrap_or(&kept);
            self.put(before.wrapping_add(smaller), link.id, (*link).into());
            smaller = smaller.wrapping_add(1);
        }
        let len = kept.wrapping_add(smaller);
        self.put(len, UNUSED, Facts::default());
        self.len = u8::try_from(len).unwrap_or(u8::MAX);
    }

    fn put(&mut self, index: usize, id: NodeId, facts: Facts) {
        if let (Some(to_id), Some(to_facts)) = (self.ids.get_mut(index), self.facts.get_mut(index))
        {
            (*to_id, *to_facts) = (id, facts);
        }
    }

    /// Makes all links a cycle older.
    pub fn grow_older(&mut self) {
        let len = self.len();
        for facts in self.facts.iter_mut().take(len) {
            facts.age = facts.age.saturating_add(1);
        }
    }

    /// The oldest link; of several, a random one.
    pub fn oldest<R: rand_core::Rng + ?Sized>(&self, rng: &mut R) -> Option<Link> {
        let ages = || self.facts.iter().take(self.len()).map(|facts| facts.age);
        let most = ages().max()?;
        let mut oldest = [0_u8; C];
        let mut count = 0_usize;
        for (index, age) in (0..).zip(ages()) {
            // If it is not one of the oldest, the next one overwrites it: that is faster than a branch.
            if let Some(free) = oldest.get_mut(count) {
                *free = index;
            }
            count = count.wrapping_add(usize::from(age == most));
        }
        let chosen = oldest.get(rng.index(count))?;
        self.at(usize::from(*chosen))
    }

    /// A random link.
    pub fn pick<R: rand_core::Rng + ?Sized>(&self, rng: &mut R) -> Option<Link> {
        self.at(rng.index(self.len()))
    }

    /// `count` random links, in random order and without replacement; fewer if there are fewer, or `L` is less.
    pub fn sample<const L: usize>(
        &self,
        count: usize,
        rng: &mut (impl rand_core::Rng + ?Sized),
    ) -> Links<L> {
        let mut places = [0_u8; C];
        for (place, index) in places.iter_mut().zip(0..self.len) {
            *place = index;
        }
        let Some(places) = places.get_mut(..self.len()) else {
            return Links::new();
        };
        let (chosen, _) = rng.sample(places, count.min(L));
        chosen
            .iter()
            .filter_map(|&place| self.at(usize::from(place)))
            .collect()
    }

    /// Names an invariant that does not hold.
    pub fn check(&self) -> Result<(), Violation> {
        Violation::unless(
            self.len <= self.limit && self.len() <= C,
            "a view has no more links than it may",
        )?;
        Violation::unless(
            self.ids().is_sorted_by(|a, b| a < b),
            "the links of a view lead to distinct nodes, in the order of ids",
        )?;
        Violation::unless(
            !self.contains(self.owner),
            "no link of a view leads to its owner",
        )?;
        let behind = self.ids.iter().zip(&self.facts).skip(self.len());
        Violation::unless(
            behind
                .into_iter()
                .all(|(id, facts)| (*id, *facts) == (UNUSED, Facts::default())),
            "there is nothing behind the last link of a view",
        )
    }
}

/// Removes the value at `gone`, and inserts another at `index`, counted without it. The values between move by one.
fn shift<T: Copy>(slots: &mut [T], gone: usize, index: usize, value: T) {
    let (first, last) = (gone.min(index), gone.max(index));
    let Some(moved) = slots.get_mut(first..=last) else {
        return;
    };
    let free = if gone < index {
        moved.copy_within(1.., 0);
        moved.last_mut()
    } else {
        moved.copy_within(..last.saturating_sub(first), 1);
        moved.first_mut()
    };
    if let Some(free) = free {
        *free = value;
    }
}
