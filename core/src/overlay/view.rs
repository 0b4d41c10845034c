//! The links that a node has: at most so many, to distinct nodes, none to itself.
//!
//! A view is a plain value of fixed size. Ids, incarnations and ages lie in arrays of their own, because a search looks only at
//! ids and a shuffle ages all links at once. Links are kept in the order of ids, so that equal views are equal values.

#[cfg(test)]
mod tests;

use core::fmt;

use crate::id::{Incarnation, NodeId};
use crate::machine::Violation;
use crate::rng::Choose;

/// What a node knows of another: that it was there, in which life, and how long ago that was news.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Link {
    /// The node it leads to.
    pub id: NodeId,
    /// That node's life when it made the link.
    pub incarnation: Incarnation,
    /// For how many cycles the link has been around, wherever it was; saturates.
    pub age: u16,
}

/// Some links, at most `L`, kept in place.
pub type Links<const L: usize> = heapless::Vec<Link, L>;

/// The links of one node, at most `C` and at most 255.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct View<const C: usize> {
    owner: NodeId,
    limit: u8,
    len: u8,
    /// Strictly increasing up to `len`; whatever lies behind that, here and below, is the default value.
    ids: [NodeId; C],
    incarnations: [Incarnation; C],
    ages: [u16; C],
}

/// Why a link is not in a view now. The view is as it was.
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

impl<const C: usize> View<C> {
    /// An empty view that may have up to `limit` links, if `C` allows for as many.
    pub fn new(owner: NodeId, limit: u8) -> Self {
        Self {
            owner,
            limit: limit.min(u8::try_from(C).unwrap_or(u8::MAX)),
            len: 0,
            ids: [NodeId::default(); C],
            incarnations: [Incarnation::default(); C],
            ages: [0; C],
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
        (self.ids().iter().zip(&self.incarnations).zip(&self.ages)).map(
            |((&id, &incarnation), &age)| Link {
                id,
                incarnation,
                age,
            },
        )
    }

    /// The link to a node.
    pub fn link(&self, id: NodeId) -> Option<Link> {
        self.at(self.place(id).ok()?)
    }

    /// Whether there is a link to this node.
    pub fn contains(&self, id: NodeId) -> bool {
        self.place(id).is_ok()
    }

    fn place(&self, id: NodeId) -> Result<usize, usize> {
        self.ids().binary_search(&id)
    }

    fn at(&self, place: usize) -> Option<Link> {
        Some(Link {
            id: *self.ids().get(place)?,
            incarnation: *self.incarnations.get(place)?,
            age: *self.ages.get(place)?,
        })
    }

    /// Adds a link.
    pub fn insert(&mut self, link: Link) -> Result<(), NotInserted> {
        if link.id == self.owner {
            return Err(NotInserted::Own);
        }
        let Err(place) = self.place(link.id) else {
            return Err(NotInserted::Known);
        };
        if self.is_full() {
            return Err(NotInserted::Full);
        }
        let len = self.len();
        move_in(&mut self.ids, place, len, link.id);
        move_in(&mut self.incarnations, place, len, link.incarnation);
        move_in(&mut self.ages, place, len, link.age);
        self.len = self.len.saturating_add(1);
        Ok(())
    }

    /// Takes the link to a node out, if there is one.
    pub fn remove(&mut self, id: NodeId) -> Option<Link> {
        let place = self.place(id).ok()?;
        let link = self.at(place)?;
        let len = self.len();
        move_out(&mut self.ids, place, len);
        move_out(&mut self.incarnations, place, len);
        move_out(&mut self.ages, place, len);
        self.len = self.len.saturating_sub(1);
        Some(link)
    }

    /// Takes what is newer from another link to the same node: the smaller age, the later life. News of an earlier life is
    /// none (PROTOCOLS 1.3, 1.4).
    pub fn refresh(&mut self, news: Link) -> Refreshed {
        let Ok(place) = self.place(news.id) else {
            return Refreshed::Unknown;
        };
        let (Some(incarnation), Some(age)) =
            (self.incarnations.get_mut(place), self.ages.get_mut(place))
        else {
            return Refreshed::Unknown;
        };
        if news.incarnation < *incarnation {
            return Refreshed::SameLife;
        }
        *age = news.age.min(*age);
        if news.incarnation == *incarnation {
            return Refreshed::SameLife;
        }
        *incarnation = news.incarnation;
        Refreshed::LaterLife
    }

    /// Lets all links be a cycle older.
    pub fn grow_older(&mut self) {
        let len = self.len();
        for age in self.ages.iter_mut().take(len) {
            *age = age.saturating_add(1);
        }
    }

    /// The oldest link; of several, one by chance.
    pub fn oldest<R: rand_core::Rng + ?Sized>(&self, rng: &mut R) -> Option<Link> {
        let ages = self.ages.get(..self.len())?;
        let most = *ages.iter().max()?;
        let oldest = || (0..).zip(ages).filter(|(_, age)| **age == most);
        let chosen = rng.index(oldest().count());
        let (place, _) = oldest().nth(chosen)?;
        self.at(place)
    }

    /// One of the links, by chance.
    pub fn pick<R: rand_core::Rng + ?Sized>(&self, rng: &mut R) -> Option<Link> {
        self.at(rng.index(self.len()))
    }

    /// So many of the links, by chance, in random order and without replacement; fewer if there are fewer, or `L` is less.
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
        )
    }
}

/// Puts a value in front of what is at this place among the first `len`.
fn move_in<T>(slots: &mut [T], place: usize, len: usize, value: T) {
    if let Some(moved) = slots.get_mut(place..=len) {
        moved.rotate_right(1);
        if let Some(free) = moved.first_mut() {
            *free = value;
        }
    }
}

/// Closes the gap that the value at this place among the first `len` leaves.
fn move_out<T: Default>(slots: &mut [T], place: usize, len: usize) {
    if let Some(moved) = slots.get_mut(place..len) {
        moved.rotate_left(1);
        if let Some(free) = moved.last_mut() {
            *free = T::default();
        }
    }
}
