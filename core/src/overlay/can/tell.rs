//! What a node tells its neighbours: its zone, common neighbours, and the load beyond.

use super::Can;
use super::load::{Load, Told};
use super::member::Member;
use super::message::{Account, Beyond, Entries, Entry, Message, latest_of_each};
use super::peers::{MOST_BEYOND, Neighbour};
use super::zone::{Side, Zone};
use crate::id::NodeId;
use crate::machine::Context;
use crate::shared::Shared;

/// A node with at most this many neighbours tells of nodes beyond them.
const FEW: usize = 8;

impl<const D: usize> Member<D> {
    /// This node's account. It is built again only after news.
    pub(super) fn account(&mut self) -> Shared<Account<D>> {
        if let Some(account) = &self.account {
            return account.clone();
        }
        let neighbours = || self.peers.neighbours().map(|peer| &peer.entry);
        if !self.listed.iter().eq(neighbours()) {
            self.listed = neighbours().cloned().collect();
        }
        let account = Shared::new(Account {
            own: self.entry(),
            edition: self.edition,
            neighbours: self.listed.clone(),
            beyond: self.beyond.clone(),
        });
        self.account = Some(account.clone());
        account
    }

    /// Updates the nodes beyond the neighbours. They are kept only if there are few neighbours.
    pub(super) fn look_beyond(&mut self) {
        let few = self.peers.neighbours().count() <= FEW;
        let beyond = few.then(|| Beyond {
            second: self.those_named(|last| Some(&last.neighbours)),
            third: self.those_named(|last| last.beyond.as_ref().map(|beyond| &beyond.second)),
        });
        if self.beyond != beyond {
            self.beyond = beyond;
            self.touch();
        }
    }

    /// Unknown nodes that the neighbours name in one of their lists, in the order of names.
    fn those_named(&self, list: impl Fn(&Account<D>) -> Option<&Entries<D>>) -> Entries<D> {
        let accounts = self.peers.neighbours().flat_map(|peer| &peer.last);
        let lists = accounts.filter_map(|last| list(last.get()));
        let unknown = |entry: &&Entry<D>| {
            entry.name.id != self.name.id && self.peers.get(entry.name).is_none()
        };
        let named = latest_of_each(lists.flat_map(Entries::iter).filter(unknown));
        named.into_iter().take(MOST_BEYOND).cloned().collect()
    }

    /// Sends a heartbeat to each peer at a face of the zone, also to missed ones because they may be up: with the
    /// account or the zone if these are new, short if not.
    pub(super) fn tell_all(&mut self, cx: &mut dyn Context<Can<D>>) {
        let (life, edition, epoch) = (self.name.life, self.edition, self.epoch);
        let before = self.told.replace((edition, epoch));
        let account = (before != self.told).then(|| self.account());
        let is_moved = before.is_none_or(|(_, told)| told != epoch);
        let own = is_moved.then(|| Shared::new(self.entry()));
        let neighbours = self.crowd();
        for (peer, told) in self.told_to_all() {
            let is_listed = self.lists_to(neighbours, &peer.entry.zone);
            let yours = peer.entry.epoch;
            let message = match (account.clone(), own.clone()) {
                (Some(account), _) if is_listed => Message::Heartbeat { account, told },
                (None, _) if is_listed => Message::Beat {
                    life,
                    edition,
                    told,
                },
                (_, Some(own)) => Message::Here {
                    own,
                    yours: Some(yours),
                    neighbours,
                    told,
                },
                (_, None) => Message::Pulse {
                    life,
                    epoch,
                    yours,
                    neighbours,
                    told,
                },
            };
            cx.send(peer.id(), message);
        }
    }

    /// Tells a node, known or not, about this one: with the account, or with the zone alone.
    pub(super) fn tell(&mut self, to: NodeId, cx: &mut dyn Context<Can<D>>) {
        let neighbours = self.crowd();
        let told = self.told_to(to);
        // What an earlier life knew is nothing to this one: two that are no neighbours would set each other right without
        // end.
        let known = self.peers.lives(to).last().filter(|peer| !peer.is_dead());
        let is_listed = match known {
            Some(peer) => self.lists_to(neighbours, &peer.entry.zone),
            None => neighbours <= self.config.listed,
        };
        let yours = known.map(|peer| peer.entry.epoch);
        let message = if is_listed {
            let account = self.account();
            Message::Heartbeat { account, told }
        } else {
            let own = Shared::new(self.entry());
            Message::Here {
                own,
                yours,
                neighbours,
                told,
            }
        };
        cx.send(to, message);
    }

    /// Tells a peer that knows the zone of this node that this node is up.
    pub(super) fn confirm(&mut self, to: &Entry<D>, cx: &mut dyn Context<Can<D>>) {
        let neighbours = self.crowd();
        if self.lists_to(neighbours, &to.zone) {
            self.tell(to.name.id, cx);
            return;
        }
        let message = Message::Pulse {
            life: self.name.life,
            epoch: self.epoch,
            yours: to.epoch,
            neighbours,
            told: self.told_to(to.name.id),
        };
        cx.send(to.name.id, message);
    }

    /// How many neighbours this node has.
    fn crowd(&self) -> u16 {
        u16::try_from(self.peers.neighbours().count()).unwrap_or(u16::MAX)
    }

    /// Whether a peer with this zone gets the neighbour list, if there are so many neighbours.
    fn lists_to(&self, neighbours: u16, zone: &Zone<D>) -> bool {
        neighbours <= self.config.listed || self.leaf.is_left_to(zone)
    }

    /// The load to tell to one node, known or not.
    fn told_to(&self, to: NodeId) -> Told {
        let known = self.told_to_all().find(|(peer, _)| peer.id() == to);
        known.map_or_else(|| Told::of(self.load), |(_, told)| told)
    }

    /// The load to tell to each peer at a face of the zone.
    ///
    /// The load here and beyond goes down to the lower neighbours in parts, by the areas in which they touch this zone.
    /// The parts are cut out of the whole side by side, so they sum up to it exactly.
    fn told_to_all(&self) -> impl Iterator<Item = (&Neighbour<D>, Told)> {
        let zone = &self.leaf.zone;
        // Sides that are whole for all neighbours at a face are left out: the shares are the same without them.
        let lower = |peer: &Neighbour<D>| peer.dimension_at(Side::Lower);
        let mut sides = [D; D];
        for peer in self.peers.neighbours() {
            if let Some(sides) = lower(peer).and_then(|k| sides.get_mut(k)) {
                *sides = zone.whole_sides(&peer.entry.zone).min(*sides);
            }
        }
        let area = move |peer: &Neighbour<D>, k: usize| {
            let without = sides.get(k).copied().unwrap_or(0);
            zone.shared_area(&peer.entry.zone, without)
        };
        let mut wholes = [0_u64; D];
        for peer in self.peers.neighbours() {
            if let Some((k, whole)) = lower(peer).and_then(|k| Some((k, wholes.get_mut(k)?))) {
                *whole = whole.saturating_add(area(peer, k));
            }
        }
        let mut done = [0_u64; D];
        let mut beyond = [None; D];
        let at_a_face = self.peers.iter();
        let at_a_face = at_a_face.filter(|peer| peer.face.is_some() && !peer.is_dead());
        at_a_face.map(move |peer| {
            let k = lower(peer).filter(|_| peer.is_living());
            let told = k.and_then(|k| {
                let (whole, done) = (*wholes.get(k)?, done.get_mut(k)?);
                let beyond = beyond.get_mut(k)?;
                let beyond = *beyond.get_or_insert_with(|| self.load_beyond(k));
                let from = *done;
                *done = from.saturating_add(area(peer, k));
                Some(Told {
                    own: self.load,
                    beyond,
                    share: self.load.plus(beyond).between(from, *done, whole),
                })
            });
            (peer, told.unwrap_or_else(|| Told::of(self.load)))
        })
    }

    /// This node's share of the load of all nodes beyond it in a dimension.
    pub(super) fn load_beyond(&self, dimension: usize) -> Load {
        let upper = |peer: &&Neighbour<D>| peer.dimension_at(Side::Upper) == Some(dimension);
        let shares = self.peers.neighbours().filter(upper);
        shares.fold(Load::default(), |sum, peer| sum.plus(peer.told.share))
    }

    /// A peer knows an earlier zone of this node, and perhaps not the new owner of the rest: tells it both.
    pub(super) fn set_right(&mut self, other: &Entry<D>, cx: &mut dyn Context<Can<D>>) {
        self.tell(other.name.id, cx);
        self.introduce_to(other, cx);
    }

    /// Tells a peer which neighbours the two have in common, unless it gets the whole list and can compare itself.
    pub(super) fn introduce_to(&self, other: &Entry<D>, cx: &mut dyn Context<Can<D>>) {
        if self.lists_to(self.crowd(), &other.zone) {
            return;
        }
        let common = self.peers.neighbours().filter(|peer| {
            peer.first_hand
                && peer.id() != other.name.id
                && peer.entry.zone.neighbour_face(&other.zone).is_some()
        });
        introduce(other.name.id, common, cx);
    }

    pub(super) fn tell_the_end(&mut self, cx: &mut dyn Context<Can<D>>) {
        let account = self.account();
        for peer in self.peers.iter() {
            if peer.face.is_some() && !peer.is_dead() {
                cx.send(peer.id(), Message::Obituary(account.clone()));
            }
        }
    }
}

/// Tells a node of some peers, if there are any.
pub(super) fn introduce<'a, const D: usize>(
    to: NodeId,
    peers: impl Iterator<Item = &'a Neighbour<D>>,
    cx: &mut dyn Context<Can<D>>,
) {
    let entries: Entries<D> = peers.map(|peer| peer.entry.clone()).collect();
    if !entries.is_empty() {
        cx.send(to, Message::Introduction(entries));
    }
}
