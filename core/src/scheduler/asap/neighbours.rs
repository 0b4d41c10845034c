//! Who is in the view and when they are busy, and who wants to know when this node is (P1 section III-C).

use super::message::{Known, Message, Reason};
use super::{Asap, Exchange};
use crate::commit::Policy;
use crate::id::{Incarnation, NodeId};
use crate::machine::Context;
use crate::schedule::{BusyTime, Snapshot};
use crate::time::{Interval, Span, Time};

/// A node of the view.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Neighbour {
    pub(super) id: NodeId,
    /// The life in which it was asked; a later one has forgotten us.
    life: Incarnation,
    pub(super) schedule: Option<Snapshot>,
    /// When to ask again if the schedule is missing.
    pub(super) ask_at: Time,
}

/// Who is told of changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Subscriber {
    pub(super) id: NodeId,
    until: Time,
}

/// What lies behind an instant of these windows, which are sorted and apart, as pairs of start and end.
fn usable_part(windows: &[Interval], from: Time) -> impl Iterator<Item = (Time, Time)> + '_ {
    let over = windows.partition_point(|window| window.end() <= from);
    let left = windows.get(over..).unwrap_or_default().iter();
    left.map(move |window| (window.start().max(from), window.end()))
}

impl<const C: usize, const L: usize, P: Policy> Asap<C, L, P> {
    /// The view may have changed. Who pulls looks at it when there is something to search for, and not before.
    pub(super) fn view_changed(&mut self, cx: &mut dyn Context<Self>) {
        if self.config.exchange != Exchange::Pull {
            self.look_at_view(cx);
        }
    }

    /// Gets to know who came into the view, and forgets who left it.
    pub(super) fn look_at_view(&mut self, cx: &mut dyn Context<Self>) {
        let view = self.overlay.view();
        let push = matches!(self.config.exchange, Exchange::Push { .. });
        // Both are in the order of ids, and so are those who stay.
        let mut ids = view.ids().iter().peekable();
        self.neighbours.retain(|known| {
            while ids.next_if(|id| **id < known.id).is_some() {}
            let stays = ids.peek() == Some(&&known.id);
            if !stays && push {
                cx.send(known.id, Message::Unsubscribe);
            }
            stays
        });
        let ask_at = cx.now() + self.config.timeout;
        for (index, link) in view.links().enumerate() {
            match self.neighbours.get_mut(index) {
                Some(known) if (known.id, known.life) == (link.id, link.incarnation) => continue,
                Some(known) if known.id == link.id => {
                    known.life = link.incarnation;
                    known.ask_at = ask_at;
                }
                _ => self.neighbours.insert(
                    index,
                    Neighbour {
                        id: link.id,
                        life: link.incarnation,
                        schedule: None,
                        ask_at,
                    },
                ),
            }
            greet(self.config.exchange, link.id, cx);
        }
    }

    /// Whether a node is in the view.
    pub(super) fn is_neighbour(&self, node: NodeId) -> bool {
        let index = self
            .neighbours
            .binary_search_by_key(&node, |known| known.id);
        index.is_ok()
    }

    /// Asks again those whose schedule is missing.
    pub(super) fn ask_for_missing(&mut self, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        for known in &mut self.neighbours {
            if known.schedule.is_none() && known.ask_at <= now {
                known.ask_at = now + self.config.timeout;
                greet(self.config.exchange, known.id, cx);
            }
        }
    }

    /// When a schedule that is missing is asked for again.
    pub(super) fn missing_at(&self) -> Option<Time> {
        let missing = self
            .neighbours
            .iter()
            .filter(|known| known.schedule.is_none() && self.config.exchange != Exchange::Pull);
        missing.map(|known| known.ask_at).min()
    }

    /// Renews subscriptions, or polls, and drops subscribers whose time is over.
    pub(super) fn beat(&mut self, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        self.subscribers.retain(|known| known.until > now);
        for known in &self.neighbours {
            match self.config.exchange {
                Exchange::Push { .. } => {
                    let version = known.schedule.as_ref().map(Snapshot::version);
                    cx.send(known.id, Message::Subscribe { known: version });
                }
                Exchange::Poll { .. } => cx.send(known.id, Message::Fetch(Reason::Poll)),
                Exchange::Pull => {}
            }
        }
        self.beat_at = self.config.beat().map(|period| now + period);
    }

    pub(super) fn subscribe(
        &mut self,
        from: NodeId,
        known: Option<u64>,
        cx: &mut dyn Context<Self>,
    ) {
        let lease = match self.config.exchange {
            Exchange::Push { lease } => lease,
            // Nobody is told of anything here, but who asks is answered.
            Exchange::Pull | Exchange::Poll { .. } => Span::ZERO,
        };
        let until = cx.now() + lease;
        let index = self
            .subscribers
            .binary_search_by_key(&from, |known| known.id);
        match index {
            Ok(index) => {
                if let Some(known) = self.subscribers.get_mut(index) {
                    known.until = until;
                }
            }
            Err(_) if lease.is_zero() => {}
            Err(index) if self.subscribers.len() < usize::from(self.config.subscribers) => {
                self.subscribers
                    .insert(index, Subscriber { id: from, until });
            }
            // It knows what it is told now, until it asks again.
            Err(_) => self.declined.subscriptions = self.declined.subscriptions.saturating_add(1),
        }
        if known != Some(self.own.version()) {
            self.tell(from, Reason::NewLink, cx);
        }
    }

    pub(super) fn unsubscribe(&mut self, from: NodeId) {
        self.subscribers.retain(|known| known.id != from);
    }

    /// Sends this node's schedule.
    pub(super) fn tell(&self, to: NodeId, reason: Reason, cx: &mut dyn Context<Self>) {
        let schedule = self.own.clone();
        cx.send(to, Message::Schedule { reason, schedule });
    }

    /// A neighbour's schedule: the newest is kept.
    pub(super) fn learn(&mut self, from: NodeId, schedule: Snapshot) {
        let index = self
            .neighbours
            .binary_search_by_key(&from, |known| known.id);
        let known = index.ok().and_then(|index| self.neighbours.get_mut(index));
        if let Some(known) = known
            && known
                .schedule
                .as_ref()
                .is_none_or(|old| old.version() < schedule.version())
        {
            known.schedule = Some(schedule);
        }
    }

    /// Tells all subscribers if what is committed has changed; what is over by the next slot does not count, for nobody
    /// can use that time.
    pub(super) fn tell_changes(&mut self, cx: &mut dyn Context<Self>) {
        let from = cx.now().round_up(self.config.slot);
        let version = self.own.version().saturating_add(1);
        let own = self
            .desk
            .snapshot(version, from, usize::from(self.config.windows));
        // Of two commitments in a row the first may be over, and the second as it was.
        let usable = usable_part(own.windows(), from);
        if usable_part(self.own.windows(), from).eq(usable) && self.own.horizon() == own.horizon() {
            return;
        }
        self.own = own;
        for subscriber in &self.subscribers {
            self.tell(subscriber.id, Reason::Changed, cx);
        }
    }

    /// All in the view of whom it is known when they are busy.
    pub(super) fn others(&self) -> impl Iterator<Item = Known> + '_ {
        self.neighbours.iter().filter_map(|known| {
            Some(Known {
                node: known.id,
                schedule: known.schedule.clone()?,
            })
        })
    }
}

/// Asks a node that came into the view for its schedule (PROTOCOLS D8), and to be told of changes.
fn greet<const C: usize, const L: usize, P: Policy>(
    exchange: Exchange,
    node: NodeId,
    cx: &mut dyn Context<Asap<C, L, P>>,
) {
    match exchange {
        Exchange::Push { .. } => cx.send(node, Message::Subscribe { known: None }),
        Exchange::Poll { .. } => cx.send(node, Message::Fetch(Reason::NewLink)),
        // It is asked when there is something to search for.
        Exchange::Pull => {}
    }
}
