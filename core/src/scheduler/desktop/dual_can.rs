//! What busy nodes have left, as a second space: P4's Dual-CAN (PROTOCOLS 3.3).
//!
//! A node that runs something and has cores left is a member of a second [CAN](crate::overlay::can), at the point of
//! what it has left. Starts and ends of jobs change only this space: the point moves within its zone. If the new point
//! is outside the zone, the node leaves and joins again there. In both cases it tells its neighbours there at once.

use super::message::{Members, Message, Stand};
use super::rendezvous::{Registry, origin};
use super::status::Known;
use super::{Desktop, Key, Record, Shared, Status, Timer, space};
use crate::config::ConfigError;
use crate::id::{Incarnation, NodeId};
use crate::machine::{Context, Embed, Event, Machine};
use crate::overlay::can::{self, Can, Hop, Point};
use crate::rng::Choose;
use crate::time::{Span, Time};

/// For how many periods contacts count as members.
const HEARSAY: u64 = 3;

/// A node that was refused asks again after one to two times this span.
pub(super) const AGAIN: Span = Span::from_secs(1);

/// A node's part in the second space.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct ResidueSpace<const D: usize> {
    pub(super) config: can::Config,
    /// The node's part of the overlay. It is kept after the node left, to tell peers that have not heard of that.
    pub(super) can: Can<D>,
    /// The number of the node's last life in the second space.
    life: Option<Incarnation>,
    membership: Membership,
    /// The peer to ask for a zone again, after a refusal.
    again: Option<NodeId>,
    /// Peers that were members when this node last heard of them; used until `contacts_until`.
    contacts: Members,
    contacts_until: Time,
    /// Whether this node has registered as the anchor.
    pub(super) is_anchor: bool,
    /// The statuses of its neighbours in the second space.
    pub(super) known: Known,
    /// When [`Timer::Rendezvous`] is due.
    wake: Option<Time>,
    pub(super) registry: Registry,
}

/// How a node stands to the second space.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Membership {
    /// It is no member, and does not want to be.
    Out,
    /// It looks for an introducer.
    Asking,
    /// It is a member, or has asked an introducer for a zone.
    In,
    /// It leaves as soon as its neighbours agree.
    Leaving,
}

/// Why a request to join the second space failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Silence {
    /// The introducer did not answer.
    Unanswered,
    /// The introducer is no member itself.
    Refused,
}

impl<const D: usize> ResidueSpace<D> {
    pub(super) fn new(
        me: NodeId,
        point: Point<D>,
        config: can::Config,
    ) -> Result<Self, ConfigError> {
        Ok(Self {
            config,
            can: Can::new(me, point, config)?,
            life: None,
            membership: Membership::Out,
            again: None,
            contacts: Members::new(),
            contacts_until: Time::ZERO,
            is_anchor: false,
            known: Known::default(),
            wake: None,
            registry: Registry::default(),
        })
    }

    pub(super) const fn can(&self) -> &Can<D> {
        &self.can
    }

    pub(super) fn check(&self) -> Result<(), crate::machine::Violation> {
        use crate::machine::Violation;
        self.can.check()?;
        Violation::unless(
            self.known.is_in_order() && self.known.len() <= can::MOST_NEIGHBOURS,
            "a node knows no more of members than of neighbours, each once",
        )?;
        let is_outside = matches!(self.membership, Membership::Out | Membership::Asking);
        Violation::unless(
            !is_outside || self.can.zone().is_none(),
            "a node outside of the second space has no zone there",
        )
    }

    /// Restores the number of the last life in the second space.
    pub(super) fn restore(&mut self, key: can::Key, record: &can::Record) {
        if let (can::Key::Life, can::Record::Life(life)) = (key, record) {
            self.life = self.life.max(Some(*life));
        }
    }

    fn unreachable(&mut self, node: NodeId) {
        self.contacts.retain(|member| *member != node);
        self.registry.members.retain(|member| *member != node);
        self.known.retain(|id| id != node);
    }

    fn is_inside(&self) -> bool {
        self.can.zone().is_some()
    }

    pub(super) fn holds_origin(&self) -> bool {
        self.can.zone().is_some_and(|zone| zone.contains(&origin()))
    }

    /// The first contact, unless contacts are too old.
    pub(super) fn contact(&self, now: Time) -> Option<NodeId> {
        let contact = self.contacts.first().copied();
        contact.filter(|_| now < self.contacts_until)
    }

    /// Takes the first contact, so that it is asked only once.
    fn next_contact(&mut self, now: Time) -> Option<NodeId> {
        let contact = self.contact(now)?;
        self.contacts.remove(0);
        Some(contact)
    }
}

/// Embeds the second space in a node. Heartbeats carry the node's status.
struct AsResidueCan {
    status: Shared<Status>,
    life: Option<Incarnation>,
    changed: bool,
    unanswered: bool,
    full: bool,
    evicted: bool,
    left: bool,
}

impl AsResidueCan {
    const fn new(status: Shared<Status>) -> Self {
        Self {
            status,
            life: None,
            changed: false,
            unanswered: false,
            full: false,
            evicted: false,
            left: false,
        }
    }
}

impl<const D: usize> Embed<Can<D>, Desktop<D>> for AsResidueCan {
    fn message(&mut self, message: can::Message<D>) -> Message<D> {
        let status = message.is_heartbeat().then(|| self.status.clone());
        Message::Residue { message, status }
    }
    fn timer(&mut self, timer: can::Timer) -> Timer {
        Timer::Residue(timer)
    }
    fn key(&mut self, key: can::Key) -> Key {
        Key::Residue(key)
    }
    fn record(&mut self, record: can::Record) -> Record {
        if let can::Record::Life(life) = &record {
            self.life = Some(*life);
        }
        Record::Residue(record)
    }
    fn notice(&mut self, notice: can::Notice<D>, _: &mut dyn Context<Desktop<D>>) {
        match notice {
            can::Notice::Joined | can::Notice::Zone => self.changed = true,
            can::Notice::Moved(_) => {}
            can::Notice::Unanswered(_) => self.unanswered = true,
            can::Notice::Full => self.full = true,
            can::Notice::Evicted => self.evicted = true,
            can::Notice::Left => self.left = true,
        }
    }
}

impl<const D: usize> Desktop<D> {
    /// The point of what this node has left, with the virtual coordinates of `like`; `None` if it must be no member.
    pub(super) fn residue_like(&mut self, like: &Point<D>) -> Option<Point<D>> {
        let status = *self.status().get();
        if !self.has_residue(&status) || !self.duty.takes_jobs() {
            return None;
        }
        let (dimensions, most) = (self.dimensions(), &self.config.most);
        let mut coordinates = *like.coordinates();
        for (at, (k, ..)) in coordinates.iter_mut().zip(dimensions.iter()) {
            *at = space::coordinate(status.free.value(k), most.value(k));
        }
        Some(Point::new(coordinates))
    }

    /// Whether a node runs something and has cores left.
    pub(super) fn has_residue(&self, status: &Status) -> bool {
        status.running > 0 && status.free.value(self.cores) > 0
    }

    /// Feeds an event to the second space, and acts on its notices.
    pub(super) fn in_residue_space(&mut self, event: Event<Can<D>>, cx: &mut dyn Context<Self>) {
        let status = self.status();
        let Some(space) = &mut self.residue_space else {
            return;
        };
        let mut embed = AsResidueCan::new(status);
        space.can.handle(event, &mut cx.lift(&mut embed));
        space.life = space.life.max(embed.life);
        if embed.evicted {
            // The overlay joins again by itself.
            space.membership = Membership::In;
            space.known.retain(|_| false);
        }
        if embed.changed {
            space.again = None;
        }
        if embed.left {
            space.membership = Membership::Out;
            space.again = None;
            space.known.retain(|_| false);
        }
        if embed.full {
            // The overlay would ask again in about a period. Asking the rendezvous is sooner.
            self.in_residue_space(Event::Command(can::Command::Leave), cx);
            self.ask_later(cx);
        }
        if embed.unanswered {
            self.try_another(Silence::Unanswered, cx);
        }
        self.tell_anchor(cx);
    }

    /// The introducer is no member, or does not answer: asks the next contact, or else the rendezvous.
    fn try_another(&mut self, answer: Silence, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let Some(space) = &mut self.residue_space else {
            return;
        };
        if space.membership != Membership::In || space.is_inside() {
            return;
        }
        space.again = None;
        let point = *space.can.point();
        if let Some(introducer) = space.next_contact(now) {
            let join = can::Command::Join { introducer };
            match answer {
                // The overlay has asked again already, so it asks this contact next.
                Silence::Unanswered => self.in_residue_space(Event::Command(join), cx),
                Silence::Refused => self.begin_there(point, join, cx),
            }
        } else {
            self.in_residue_space(Event::Command(can::Command::Leave), cx);
            self.ask_later(cx);
        }
    }

    /// Asks the rendezvous in a while, unless this node is a member.
    fn ask_later(&mut self, cx: &mut dyn Context<Self>) {
        if let Some(space) = &mut self.residue_space
            && !space.is_inside()
        {
            space.membership = Membership::Asking;
            self.wake_again(cx);
        }
    }

    /// Wakes after [`AGAIN`] and a random part of it, so that nodes do not ask all at once.
    fn wake_again(&mut self, cx: &mut dyn Context<Self>) {
        let part = u64::from(cx.rng().below(1 << 16));
        let more = AGAIN.as_micros().saturating_mul(part) >> 16_u32;
        let at = cx.now() + AGAIN + Span::from_micros(more);
        self.wake_by(at, cx);
    }

    fn wake_by(&mut self, at: Time, cx: &mut dyn Context<Self>) {
        if let Some(space) = &mut self.residue_space
            && space.wake.is_none_or(|wake| at < wake)
        {
            space.wake = Some(at);
            cx.wake(at, Timer::Rendezvous);
        }
    }

    /// Joins, moves or leaves, so that this node is a member at the point of what it has left, if it has any.
    pub(super) fn settle_residue(&mut self, cx: &mut dyn Context<Self>) {
        if self.residue_space.is_none() {
            return;
        }
        self.note_rendezvous(cx.now());
        // Three steps are enough: a member that moves leaves, and then asks to join.
        for _ in 0..3 {
            let Some(space) = &self.residue_space else {
                return;
            };
            let (membership, at) = (space.membership, *space.can.point());
            match membership {
                Membership::Out => {
                    let own = *self.can.point();
                    let Some(point) = self.residue_like(&own) else {
                        return;
                    };
                    self.get_in(point, cx);
                }
                Membership::Asking => {
                    let wants = self.residue_like(&at).is_some();
                    if let Some(space) = &mut self.residue_space
                        && !wants
                    {
                        space.membership = Membership::Out;
                    }
                    return;
                }
                Membership::In => {
                    let want = self.residue_like(&at);
                    let want = want.or(canary!(StaysWithNothingLeft).then_some(at));
                    if want == Some(at) || !self.move_to(want, cx) {
                        return;
                    }
                }
                Membership::Leaving => return,
            }
        }
    }

    /// Moves a member to the point that it wants, or has it leave. Says whether it has left.
    fn move_to(&mut self, want: Option<Point<D>>, cx: &mut dyn Context<Self>) -> bool {
        let status = self.status();
        let Some(space) = &mut self.residue_space else {
            return false;
        };
        // The next heartbeat would be too late: neighbours send jobs here by this status.
        for peer in space.can.neighbours() {
            let status = status.clone();
            cx.send(peer.id(), Message::ResidueChanged { status });
        }
        let zone = space.can.zone();
        if let Some(point) = want.filter(|point| zone.is_some_and(|zone| zone.contains(point))) {
            self.in_residue_space(Event::Command(can::Command::Move(point)), cx);
            return false;
        }
        // It joins again through its neighbours, the nearest to the new point first.
        let nearest = want.map(|point| space.can.next_hop(&point));
        let mut contacts = Members::new();
        if let Some(Hop::To(nearest)) = nearest {
            contacts.extend([nearest]);
        }
        let others = space.can.neighbours().map(can::Neighbour::id);
        let others = others.filter(|id| nearest != Some(Hop::To(*id)));
        contacts.extend(others);
        if !contacts.is_empty() {
            space.contacts = contacts;
            space.contacts_until = cx.now() + space.config.period.times(HEARSAY);
        }
        space.membership = Membership::Leaving;
        self.in_residue_space(Event::Command(can::Command::Leave), cx);
        let left = self.residue_space.as_ref();
        left.is_some_and(|space| space.membership == Membership::Out)
    }

    /// Joins through a contact, or asks the rendezvous.
    fn get_in(&mut self, point: Point<D>, cx: &mut dyn Context<Self>) {
        let (me, now) = (self.me, cx.now());
        let Some(space) = &mut self.residue_space else {
            return;
        };
        space.membership = Membership::Asking;
        let contact = space.next_contact(now);
        match contact.filter(|introducer| *introducer != me) {
            Some(introducer) => self.begin_there(point, can::Command::Join { introducer }, cx),
            None => self.ask_rendezvous(cx),
        }
    }

    /// Begins a new life in the second space, at this point.
    fn begin_there(
        &mut self,
        point: Point<D>,
        command: can::Command<D>,
        cx: &mut dyn Context<Self>,
    ) {
        let load = self.can.load();
        let Some(space) = &mut self.residue_space else {
            return;
        };
        // The same configuration was checked in `ResidueSpace::new`.
        let Ok(can) = Can::new(self.me, point, space.config) else {
            return;
        };
        space.can = can;
        space.membership = Membership::In;
        space.again = None;
        if let Some(life) = space.life {
            let record = can::Record::Life(life);
            self.in_residue_space(Event::Restored(can::Key::Life, record), cx);
        }
        self.in_residue_space(Event::Start, cx);
        self.in_residue_space(Event::Command(can::Command::Load(load)), cx);
        self.in_residue_space(Event::Command(command), cx);
        let period = self.config.residue_can.period;
        self.wake_by(cx.now() + period, cx);
    }

    fn ask_rendezvous(&mut self, cx: &mut dyn Context<Self>) {
        let period = self.config.residue_can.period;
        self.wake_by(cx.now() + period, cx);
        self.enter(self.me, Stand::Outside, self.config.hops, cx);
    }

    /// Passes a changed load to the second space.
    pub(super) fn tell_residue_load(&mut self, load: can::Load, cx: &mut dyn Context<Self>) {
        let inside = self.residue_space.as_ref();
        if inside.is_some_and(|space| space.is_inside() && space.can.load() != load) {
            self.in_residue_space(Event::Command(can::Command::Load(load)), cx);
        }
    }

    /// Checks the membership: asks for a zone again, asks the rendezvous, or registers as the anchor.
    pub(super) fn on_rendezvous_timer(&mut self, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        let Some(space) = &mut self.residue_space else {
            return;
        };
        match space.wake {
            Some(wake) if now < wake => return cx.wake(wake, Timer::Rendezvous),
            _ => space.wake = None,
        }
        let around = space.can.neighbours().map(can::Neighbour::id);
        let around: alloc::vec::Vec<NodeId> = around.collect();
        space.known.retain(|id| around.binary_search(&id).is_ok());
        let period = space.config.period;
        match space.membership {
            Membership::Out => return,
            Membership::Asking => self.ask_rendezvous(cx),
            Membership::In => {
                let point = *space.can.point();
                if let Some(introducer) = space.again.take() {
                    self.begin_there(point, can::Command::Join { introducer }, cx);
                }
                self.register(cx);
            }
            Membership::Leaving => self.register(cx),
        }
        self.wake_by(now + period, cx);
    }

    /// Forgets a peer that cannot be reached.
    pub(super) fn on_residue_unreachable(&mut self, to: NodeId, cx: &mut dyn Context<Self>) {
        if let Some(space) = &mut self.residue_space {
            space.unreachable(to);
            self.in_residue_space(Event::Unreachable { to }, cx);
        }
    }

    /// Remembers the status of another member of the second space.
    pub(super) fn hear_residue(&mut self, from: NodeId, status: Shared<Status>) {
        let (dimensions, most) = (self.queue.pool().dimensions(), &self.config.most);
        if let Some(space) = &mut self.residue_space
            && space.is_inside()
            && status.get().is_possible(dimensions, most)
        {
            space.known.hear(from, status, can::MOST_NEIGHBOURS);
        }
    }

    /// Handles a message of the second space; asks elsewhere or again soon after a refusal.
    pub(super) fn on_residue(
        &mut self,
        from: NodeId,
        message: can::Message<D>,
        status: Option<Shared<Status>>,
        cx: &mut dyn Context<Self>,
    ) {
        if let Some(status) = status {
            self.hear_residue(from, status);
        }
        let Some(space) = &self.residue_space else {
            return;
        };
        let refused = match &message {
            can::Message::Refused { life, why } => Some((*life, *why)),
            _ => None,
        };
        let is_current = |life| {
            space.life == Some(life) && space.membership == Membership::In && !space.is_inside()
        };
        let refused = refused.filter(|(life, _)| is_current(*life));
        self.in_residue_space(Event::Message { from, message }, cx);
        // The overlay would wait for about a period. Here it is better to ask again, or ask another member, sooner.
        match refused.map(|(_, why)| why) {
            Some(can::Refusal::Busy) => {
                if let Some(space) = &mut self.residue_space {
                    space.again = Some(from);
                }
                self.wake_again(cx);
            }
            Some(can::Refusal::Outside) => self.try_another(Silence::Refused, cx),
            Some(can::Refusal::SamePoint | can::Refusal::Full) | None => {}
        }
    }

    pub(super) fn is_outside_of_residue_space(&self) -> bool {
        let space = self.residue_space.as_ref();
        space.is_some_and(|space| !space.is_inside())
    }

    /// The rendezvous names members of the second space. If it names none, this node founds the space.
    pub(super) fn on_members(&mut self, mut members: Members, cx: &mut dyn Context<Self>) {
        let (me, now, own) = (self.me, cx.now(), *self.can.point());
        let founds = members.is_empty();
        members.retain(|member| *member != me);
        let point = self.residue_like(&own);
        let Some(space) = &mut self.residue_space else {
            return;
        };
        let (membership, is_inside) = (space.membership, space.is_inside());
        match (membership, point) {
            (Membership::Asking, Some(point)) if founds => {
                self.begin_there(point, can::Command::Found, cx);
            }
            (Membership::Asking, Some(point)) => {
                space.contacts = members;
                space.contacts_until = now + space.config.period.times(HEARSAY);
                if let Some(introducer) = space.next_contact(now) {
                    self.begin_there(point, can::Command::Join { introducer }, cx);
                }
            }
            // This node may be in one of two spaces: joining through the other merges them.
            (Membership::In | Membership::Leaving, _) if is_inside => {
                if let Some(introducer) = members.first().copied() {
                    let join = Event::Command(can::Command::Join { introducer });
                    self.in_residue_space(join, cx);
                }
            }
            // It is to found the space, but does not want to be a member any more.
            _ if founds => self.enter(me, Stand::Gone, self.config.hops, cx),
            _ => {}
        }
    }
}
