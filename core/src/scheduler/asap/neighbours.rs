//! The neighbours with their schedules, and the subscribers to this node's own schedule (P1 section III-C).

use super::message::{Known, Message, Reason};
use super::{Asap, Exchange};
use crate::admission::Stated;
use crate::commit::Policy;
use crate::id::{Incarnation, NodeId};
use crate::machine::Context;
use crate::schedule::{BusyTime, Snapshot, SnapshotOptions};
use crate::scheduler::phase::random_part;
use crate::time::{Interval, Span, Time};

/// A node of the view.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Neighbour {
    pub(super) id: NodeId,
    /// The life in which it was asked; a later life has forgotten the subscription.
    life: Incarnation,
    told: Told,
}

/// What a neighbour has told of itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Told {
    /// Nothing: it is asked again at this time.
    Nothing { ask_at: Time },
    /// Its attributes and its schedule.
    All { stated: Stated, schedule: Snapshot },
}

impl Neighbour {
    /// What is known of it, if it has told its schedule.
    pub(super) fn known(&self) -> Option<Known> {
        match &self.told {
            Told::Nothing { .. } => None,
            Told::All { stated, schedule } => Some(Known {
                node: self.id,
                stated: stated.clone(),
                schedule: schedule.clone(),
            }),
        }
    }

    /// The number of its schedule, if that is known.
    fn version(&self) -> Option<u64> {
        match &self.told {
            Told::Nothing { .. } => None,
            Told::All { schedule, .. } => Some(schedule.version()),
        }
    }

    /// When to ask again for its schedule, if that is missing.
    fn ask_at(&self) -> Option<Time> {
        match self.told {
            Told::Nothing { ask_at } => Some(ask_at),
            Told::All { .. } => None,
        }
    }
}

/// A node that gets this node's schedule after each change, until its lease ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Subscriber {
    pub(super) id: NodeId,
    until: Time,
}

/// The parts of `windows` after `from`, as pairs of start and end. The windows are sorted and do not touch.
fn usable_part(windows: &[Interval], from: Time) -> impl Iterator<Item = (Time, Time)> + '_ {
    let over = windows.partition_point(|window| window.end() <= from);
    let left = windows.get(over..).unwrap_or_default().iter();
    left.map(move |window| (window.start().max(from), window.end()))
}

impl<const C: usize, const L: usize, P: Policy> Asap<C, L, P> {
    /// Handles a possible change of the view. With Pull, the view is compared only before a search.
    pub(super) fn view_changed(&mut self, cx: &mut dyn Context<Self>) {
        if self.config.exchange != Exchange::Pull {
            self.look_at_view(cx);
        }
    }

    /// Asks new neighbours for their schedules, and drops neighbours that left the view.
    pub(super) fn look_at_view(&mut self, cx: &mut dyn Context<Self>) {
        let view = self.overlay.view();
        let push = matches!(self.config.exchange, Exchange::Push { .. });
        // The view and `neighbours` are both in the order of ids; `retain` keeps that order.
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
                    if let Told::Nothing { ask_at: at } = &mut known.told {
                        *at = ask_at;
                    }
                }
                _ => self.neighbours.insert(
                    index,
                    Neighbour {
                        id: link.id,
                        life: link.incarnation,
                        told: Told::Nothing { ask_at },
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

    /// Asks neighbours again if their schedules are missing.
    pub(super) fn ask_for_missing(&mut self, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        for known in &mut self.neighbours {
            if let Told::Nothing { ask_at } = &mut known.told
                && *ask_at <= now
            {
                *ask_at = now + self.config.timeout;
                greet(self.config.exchange, known.id, cx);
            }
        }
    }

    /// When a schedule that is missing is asked for again.
    pub(super) fn missing_at(&self) -> Option<Time> {
        if self.config.exchange == Exchange::Pull {
            return None;
        }
        self.neighbours.iter().filter_map(Neighbour::ask_at).min()
    }

    /// Renews subscriptions, or polls, and drops subscribers whose time is over.
    pub(super) fn beat(&mut self, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        self.subscribers.retain(|known| known.until > now);
        for known in &self.neighbours {
            match self.config.exchange {
                Exchange::Push { .. } => {
                    let version = known.version();
                    cx.send(known.id, Message::Subscribe { known: version });
                }
                Exchange::Poll { .. } => cx.send(known.id, Message::Fetch(Reason::Poll)),
                Exchange::Pull => {}
            }
        }
        self.beat_at = self.config.beat().map(|period| now + period);
    }

    /// When subscriptions are renewed or neighbours polled for the first time. Each node polls at a phase of its own: if
    /// all polled at the same instant, none would know of a job that another one placed just then.
    pub(super) fn first_beat(&self, cx: &mut dyn Context<Self>) -> Option<Time> {
        let period = self.config.beat()?;
        let Exchange::Poll { .. } = self.config.exchange else {
            return Some(cx.now() + period);
        };
        Some(cx.now() + random_part(period, cx.rng()))
    }

    pub(super) fn on_subscribe(
        &mut self,
        from: NodeId,
        known: Option<u64>,
        cx: &mut dyn Context<Self>,
    ) {
        let lease = match self.config.exchange {
            Exchange::Push { lease } => lease,
            // Without Push there are no subscriptions; the sender still gets one answer.
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
            // No room: the sender gets one answer now, and one at each renewal if its version is old.
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
        let (stated, schedule) = (self.stated().clone(), self.own.clone());
        let message = Message::Schedule {
            reason,
            stated,
            schedule,
        };
        cx.send(to, message);
    }

    /// What this node tells its peers of itself.
    pub(super) fn stated(&self) -> &Stated {
        self.desk.policy().stated()
    }

    /// Keeps what a neighbour tells of itself if it is newer than what is known.
    pub(super) fn learn(&mut self, from: NodeId, stated: Stated, schedule: Snapshot) {
        let index = self
            .neighbours
            .binary_search_by_key(&from, |known| known.id);
        let known = index.ok().and_then(|index| self.neighbours.get_mut(index));
        if let Some(known) = known
            && known.version().is_none_or(|old| old < schedule.version())
        {
            known.told = Told::All { stated, schedule };
        }
    }

    /// Sends the schedule to all subscribers if its committed time has changed. Time before the next slot does not
    /// count, because no job can start there.
    pub(super) fn tell_changes(&mut self, cx: &mut dyn Context<Self>) {
        let from = cx.now().round_up(self.config.slot);
        let options = SnapshotOptions::starting(from)
            .version(self.own.version().saturating_add(1))
            .most_windows(self.config.windows.into());
        let own = self.desk.snapshot(options);
        // A window may have become shorter only because its first part is over.
        let usable = usable_part(own.windows(), from);
        if usable_part(self.own.windows(), from).eq(usable) && self.own.horizon() == own.horizon() {
            return;
        }
        self.own = own;
        for subscriber in &self.subscribers {
            self.tell(subscriber.id, Reason::Changed, cx);
        }
    }

    /// All neighbours whose schedules are known.
    pub(super) fn others(&self) -> impl Iterator<Item = Known> + '_ {
        self.neighbours.iter().filter_map(Neighbour::known)
    }
}

/// Asks a new neighbour for its schedule (PROTOCOLS D8), with Push by a subscription.
fn greet<const C: usize, const L: usize, P: Policy>(
    exchange: Exchange,
    node: NodeId,
    cx: &mut dyn Context<Asap<C, L, P>>,
) {
    match exchange {
        Exchange::Push { .. } => cx.send(node, Message::Subscribe { known: None }),
        Exchange::Poll { .. } => cx.send(node, Message::Fetch(Reason::NewLink)),
        // A search asks the neighbour when it begins.
        Exchange::Pull => {}
    }
}
