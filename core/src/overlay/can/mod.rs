//! CAN: a space of capabilities, of which every node owns a zone around its own point (PROTOCOLS 3).
//!
//! The dimensions are the amounts of what nodes have, and one or more virtual ones. Virtual coordinates are drawn at
//! random, so that equal nodes are at different points. The space is cut into half-open boxes, one for each node, with
//! its point inside. Neighbours are nodes whose boxes touch. Each hop to a point goes to the neighbour nearest to it.
//!
//! ```text
//!   ┌──────┬───────────┐      j wants to join; the wish goes        ┌──────┬─────┬─────┐
//!   │      │   j   b   │      to b, the owner of the point of j.    │      │  j  │  b  │
//!   │  a   ├─────┬─────┤      b splits its zone in the middle   ──▶ │  a   ├─────┼─────┤
//!   │      │  c  │  d  │      of the two, and tells its neighbours. │      │  c  │  d  │
//!   └──────┴─────┴─────┘      If j goes, b grows back.              └──────┴─────┴─────┘
//! ```
//!
//! # Rules
//! - A zone is split between two points in the next dimension in which they differ, in the middle of them.
//! - When a node goes, its last split is undone: its heirs, the neighbours across that plane, grow over its zone. So a
//!   node always has one zone, with its own point inside.
//! - A leaver first asks all its neighbours. If they agree, they keep their zones unchanged until it is gone. A silent
//!   node is missed after some periods. Its heirs wait, claim its zone to all nodes around, and take it if none
//!   objects. A node that learns that its zone is taken joins anew.
//! - Each try to get a zone begins a new life, and each change of the zone a new epoch. Older news is ignored.
//! - While there is a hole at its zone, a node refuses joiners. They try again a little later.
//! - If no node knows the last owner of a hole, a node that can grows over the hole after some periods. If no node can,
//!   one takes a whole subtree by force. So every hole ends.
//! - A node beside a lasting hole that blocks joins must not leave. The last node with a zone waits for joiners.
//! - If two zones overlap, one node yields, by rank, then size, then name.
//! - Each node searches for its own point at times, to find nodes whose zones overlap its own.
//! - A node believes what a peer says of itself, and what it says of others unless an owner's word contradicts it.
//! - Neighbours compare their neighbour lists after each change, so that nodes that touch learn of each other. Else a
//!   heartbeat has only the load and the number of the last account. A receiver that lacks that account asks for it.
//! - A node with more than [`Config::listed`] neighbours lists them only to its heirs, which need the list when the
//!   node is gone. Other neighbours get its zone after a change, and else its epoch. If no neighbour is known across a
//!   face, search there. To learn the neighbours of a gone node, ask its heirs.
//! - Along each dimension, loads are summed up from the upper end: the lower neighbours of a node share its load and
//!   the load beyond it, by the areas in which they touch it. The sum at the lower border is exactly the load of all.
//!
//! The host does the routing: [`Can::next_hop`] says where to send a message for a point.
//!
//! # Files
//! The methods of a node that has a zone are in layers; each file calls only those before it: `member` (its state),
//! `tell`, `hole`, `learn`, `search`, `takeover`, `mend`, `heartbeat`, `leave`, `admit`. `join` is above them.
//!
//! # Limits
//! A node has at most [`MOST_NEIGHBOURS`] neighbours. If it would get more, joins there are refused. A node that grows
//! over a gap in such a place may not know all its neighbours.
//!
//! # What holds after faults
//! While crashes come faster than they are noticed, two zones may overlap for a while, nodes that are up may lose their
//! zones and join anew, and most joiners have to wait. Once messages arrive again, zones become exact if that is
//! possible: no two overlap, together they are the space, and each node that wants a zone has one. It is possible if
//! any two nodes that are up are connected through neighbours and contacts ([`Can::known`], [`Can::missed`]). A node
//! searches for its own point through each contact within 112 periods, and so finds any other owner of it. A node
//! without a zone asks its contacts again and again. If it has none, or if no contact connects two parts of an overlay,
//! the host has to help, with [`Command::Join`] to any node of one part and an introducer in the other (in `desktop`:
//! [`Meet`](crate::job::Command::Meet); it also asks the peers that its bootstrap names, from time to time). This is
//! most likely if nodes differ in one virtual coordinate only: then they lie in a row, and routes are long. If many
//! nodes are alike, use two or more virtual dimensions.
//!
//! A subtree that is taken by force may be the whole space. Then all other nodes join anew through one node. If that
//! node crashes before the first of them is in, no node has a zone. If a host hears only [`Notice::Unanswered`], it has
//! to let one node found the overlay again. A leaver waits for joiners then, for as long as [`Config::farewell`] says.
//!
//! Nothing here is authenticated: a liar can make other nodes believe that zones have changed hands. It cannot make a
//! node know more than [`MOST_PEERS`] peers, or a message grow.
//!
//! # Example
//! Three nodes in a space of one capability and the virtual dimension, here without delay in between.
//! ```
//! use gridweave_core::id::NodeId;
//! use gridweave_core::machine::{Effect, EffectQueue, Event};
//! use gridweave_core::overlay::can::{Can, Command, Config, Hop, Point};
//! use gridweave_core::time::Time;
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//!
//! type Node = Can<2>;
//! let points = [[1000, 500], [9000, 700], [9000, 80]].map(Point::new);
//! let id = |node: usize| NodeId::new(node as u64);
//! let mut nodes: Vec<Node> = (0..3)
//!     .map(|node| Can::new(id(node), points[node], Config::DEFAULT).expect("the defaults work"))
//!     .collect();
//! // One after the other: the node that is asked while it changes has the asker try again later.
//! let join = || Command::Join { introducer: id(0) };
//! let mut effects = EffectQueue::new();
//! for (node, command) in [(0, Command::Found), (1, join()), (2, join())] {
//!     let mut inbox = vec![(node, Event::Start), (node, Event::Command(command))];
//!     while !inbox.is_empty() {
//!         for (node, event) in std::mem::take(&mut inbox) {
//!             effects.feed(&mut nodes[node], event, Time::ZERO, &mut rng);
//!             for effect in effects.drain() {
//!                 if let Effect::Send { to, message } = effect {
//!                     inbox.push((to.get() as usize, Event::Message { from: id(node), message }));
//!                 }
//!             }
//!         }
//!     }
//! }
//! // Each node has its point, and knows the way to the others'.
//! for node in 0..3 {
//!     assert_eq!(nodes[node].next_hop(&points[node]), Hop::Here);
//! }
//! assert_eq!(nodes[0].next_hop(&points[2]), Hop::To(id(2)));
//! ```

mod admit;
mod command;
mod config;
mod heartbeat;
mod hole;
mod join;
mod layout;
mod learn;
mod leave;
mod load;
mod member;
mod mend;
mod message;
mod peers;
mod promises;
mod search;
mod space;
mod takeover;
mod tell;
#[cfg(test)]
mod tests;
mod tree;
mod zone;

pub use command::{Command, Key, Notice, Record, Timer};
pub use config::Config;
pub use layout::{Layout, SamePoint};
pub use load::{Load, Told};
pub use message::{
    Account, Beyond, Entries, Entry, Grant, MOST_NEIGHBOURS, Message, Name, Refusal,
};
pub use peers::{MOST_PEERS, Neighbour};
pub use search::Hop;
pub use space::{END, Point};
pub use tree::{History, Leaf, Split};
pub use zone::{Distance, Face, Side, Stretch, Zone};

use alloc::boxed::Box;

use heartbeat::{List, Pulse, Word};
use join::Joining;
use member::{Member, Outcome};

use crate::config::ConfigError;
use crate::id::{Incarnation, NodeId};
use crate::machine::{Context, Event, Machine, Violation};
use crate::overlay::contacts::Contacts;
pub use crate::overlay::contacts::{KNOWN, Known};
use crate::shared::Shared;

/// The most dimensions that a space can have.
pub const MOST_DIMENSIONS: usize = 8;

/// A node writes its contacts to disk once in this many periods.
const REMEMBER: u32 = 32;

/// A node of the overlay, in a space of `D` dimensions.
///
/// Effects per event: a heartbeat without news has one for each neighbour, and four more. After a join or a change of a
/// zone, there are a few for each neighbour. A take-over has most: obituaries of up to 32 nodes to each of at most
/// [`MOST_PEERS`] peers, to the contacts, and to [`MOST_NEIGHBOURS`] nodes that peers named.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Can<const D: usize> {
    me: NodeId,
    config: Config,
    point: Point<D>,
    load: Load,
    /// Peers that it can ask for a zone. While it has a zone, the member keeps them.
    contacts: Contacts,
    life: Life<D>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Life<const D: usize> {
    NotStarted {
        last: Option<Incarnation>,
    },
    Outside {
        last: Option<Incarnation>,
    },
    Joining(Joining),
    Inside(Box<Member<D>>),
    /// Its last account, for peers that do not know yet that it left.
    Left {
        account: Option<Shared<Account<D>>>,
    },
}

impl<const D: usize> Can<D> {
    /// A node at this point, without a zone.
    pub fn new(me: NodeId, point: Point<D>, config: Config) -> Result<Self, ConfigError> {
        const {
            assert!(D > 0, "D is 0: a space Can<D> has a dimension");
            assert!(
                D <= MOST_DIMENSIONS,
                "D is above MOST_DIMENSIONS: a space Can<D> has no more"
            );
        }
        Ok(Self {
            me,
            config: config.checked::<D>()?,
            point,
            load: Load::default(),
            contacts: Contacts::default(),
            life: Life::NotStarted { last: None },
        })
    }

    /// The id of this node.
    pub const fn id(&self) -> NodeId {
        self.me
    }

    /// Its point in the space. A refused join or [`Command::Move`] may change it.
    pub const fn point(&self) -> &Point<D> {
        &self.point
    }

    /// Its zone, while it has one.
    pub fn zone(&self) -> Option<&Zone<D>> {
        self.member().map(|member| &member.leaf.zone)
    }

    /// Whether it has no zone, and asks for one.
    pub const fn is_joining(&self) -> bool {
        matches!(self.life, Life::Joining(_))
    }

    /// Its zone with the history of splits, its life and its epoch.
    pub fn entry(&self) -> Option<Entry<D>> {
        self.member().map(Member::entry)
    }

    /// Its neighbours, in the order of ids.
    pub fn neighbours(&self) -> impl Iterator<Item = &Neighbour<D>> {
        self.member()
            .into_iter()
            .flat_map(|member| member.peers.neighbours())
    }

    /// Where to send a message for a point next. The host routes with this.
    pub fn next_hop(&self, point: &Point<D>) -> Hop {
        self.member()
            .map_or(Hop::Stuck, |member| member.next_hop(point))
    }

    /// Whether a message to a point comes from a neighbour that is no farther from it. The two then disagree about
    /// their zones, and the message would go round.
    pub fn is_astray(&self, from: NodeId, point: &Point<D>) -> bool {
        self.member()
            .is_some_and(|member| member.is_astray(from, point))
    }

    /// Its own load, as the host told it last.
    pub const fn load(&self) -> Load {
        self.load
    }

    /// Its share of the load of all nodes beyond it in a dimension, stale by the propagation delay.
    pub fn load_beyond(&self, dimension: usize) -> Load {
        self.member()
            .map_or(Load::default(), |member| member.load_beyond(dimension))
    }

    /// Whether it has a zone and knows of no hole beside it that a gone node left.
    pub fn is_settled(&self) -> bool {
        self.member().is_some_and(|member| !member.is_unsettled())
    }

    /// What is known of a peer, one entry for each of its lives.
    pub fn known_lives(&self, id: NodeId) -> &[Neighbour<D>] {
        self.member().map_or(&[], |member| member.peers.lives(id))
    }

    const fn member(&self) -> Option<&Member<D>> {
        match &self.life {
            Life::Inside(member) => Some(member),
            _ => None,
        }
    }

    fn contacts(&self) -> &Contacts {
        self.member()
            .map_or(&self.contacts, |member| &member.contacts)
    }

    /// Contacts anywhere in the space, the newest first. The node searches for its own point through them.
    pub fn known(&self) -> &[NodeId] {
        self.contacts().known()
    }

    /// The last few missed neighbours. The node searches for its own point through them, too.
    pub fn missed(&self) -> &[NodeId] {
        self.contacts().missed()
    }

    fn start(&mut self, cx: &mut dyn Context<Self>) {
        let Life::NotStarted { last } = self.life else {
            return;
        };
        self.life = Life::Outside { last };
        // A node that was in the overlay before joins again by itself.
        if let Some(known) = self.contacts.next_for_help() {
            self.join(known, cx);
        }
    }

    fn message(&mut self, from: NodeId, message: Message<D>, cx: &mut dyn Context<Self>) {
        match message {
            Message::Grant(grant) => return self.on_grant(from, &grant, cx),
            Message::Refused { life, why } => return self.on_refused(life, why, cx),
            _ => {}
        }
        let outcome = match &mut self.life {
            Life::Inside(member) => hear(member, from, message, cx),
            Life::Left {
                account: Some(account),
            } => {
                // The sender does not know yet that this node left.
                if message.is_heartbeat() || message == Message::Ping {
                    cx.send(from, Message::Obituary(account.clone()));
                }
                return;
            }
            _ => {
                // A seeker has a zone, so this node can ask it for one.
                let peer = match &message {
                    Message::Seek { seeker, .. } if seeker.name.id == from => Some(from),
                    Message::Farewell(other) if *other != self.me => Some(*other),
                    _ => None,
                };
                if let Some(peer) = peer {
                    self.on_contact(peer, cx);
                }
                // A request may come before this node's own grant: then the joiner is to try again.
                if let Message::Join { joiner, .. } = message
                    && joiner.id != self.me
                {
                    let is_asked_first = joiner.id == from;
                    let why = if is_asked_first {
                        Refusal::Outside
                    } else {
                        Refusal::Busy
                    };
                    let life = joiner.life;
                    cx.send(joiner.id, Message::Refused { life, why });
                }
                return;
            }
        };
        self.conclude(outcome, cx);
    }

    /// A node without a zone hears of a peer. If it had a zone in an earlier life and knew no peer to ask for another, it
    /// asks this one.
    fn on_contact(&mut self, peer: NodeId, cx: &mut dyn Context<Self>) {
        match self.life {
            Life::Outside { last: Some(_) } => self.join(peer, cx),
            Life::Joining(_) => self.contacts.note([peer]),
            _ => {}
        }
    }

    /// Carries out what an event means for the member: it stays, joins anew, or has left.
    fn conclude(&mut self, outcome: Outcome, cx: &mut dyn Context<Self>) {
        let Life::Inside(member) = &mut self.life else {
            return;
        };
        match outcome {
            Outcome::Stays => {}
            Outcome::Yielded { to } if !member.is_to_leave() => {
                let last = Some(member.name.life);
                self.contacts = core::mem::take(&mut member.contacts);
                self.life = Life::Outside { last };
                cx.notify(Notice::Evicted);
                self.join(to, cx);
            }
            // A node that is to leave does not join anew first.
            Outcome::Left | Outcome::Yielded { .. } => {
                if member.contacts.is_written() {
                    cx.forget(Key::Known);
                }
                let account = Some(member.account());
                self.life = Life::Left { account };
                cx.notify(Notice::Left);
            }
        }
    }

    fn timer(&mut self, timer: Timer, cx: &mut dyn Context<Self>) {
        match (timer, &mut self.life) {
            (Timer::Join(life), Life::Joining(_)) => self.ask_again(life, cx),
            (Timer::Beat(beat), Life::Inside(member)) => {
                let before = member.beat;
                member.beat(beat, cx);
                let is_due = member.beat != before;
                // The founder knew no peer when it entered, so there was nothing to write.
                if is_due && (beat.is_multiple_of(REMEMBER) || !member.contacts.is_written()) {
                    self.remember(cx);
                }
            }
            (Timer::Takeover(round), Life::Inside(member)) => member.on_takeover_timer(round, cx),
            (Timer::Leave(life), Life::Inside(member)) if life == member.name.life => {
                let outcome = member.try_again_to_leave(cx);
                self.conclude(outcome, cx);
            }
            _ => {}
        }
    }

    fn obey(&mut self, command: Command<D>, cx: &mut dyn Context<Self>) {
        match (command, &mut self.life) {
            (Command::Found, _) => self.found(cx),
            (Command::Join { introducer }, Life::Inside(member)) => {
                if introducer != self.me {
                    member.meet(introducer);
                    member.seek(member.point, introducer, cx);
                }
            }
            // Two join requests at once would hinder each other: keep this introducer for the next try.
            (Command::Join { introducer }, Life::Joining(_)) => {
                if introducer != self.me {
                    self.contacts.note([introducer]);
                }
            }
            (Command::Join { introducer }, _) => self.join(introducer, cx),
            (Command::Place(grant), _) => self.place(grant.get(), cx),
            (Command::Load(load), life) => {
                self.load = load;
                if let Life::Inside(member) = life {
                    member.load = load;
                }
            }
            (Command::Tell, Life::Inside(member)) => member.tell_early(cx),
            (Command::Tell, _) => {}
            (Command::Move(point), Life::Inside(member)) => {
                if member.leaf.zone.contains(&point) {
                    self.point = point;
                    member.point = point;
                }
            }
            (Command::Move(_), _) => {}
            (Command::Leave, Life::Inside(member)) => {
                let outcome = member.leave(cx);
                self.conclude(outcome, cx);
            }
            (Command::Leave, Life::Outside { .. } | Life::Joining(_)) => {
                leave::say_farewell(self.contacts.iter(), cx);
                if self.contacts.is_written() {
                    cx.forget(Key::Known);
                }
                self.life = Life::Left { account: None };
                cx.notify(Notice::Left);
            }
            (Command::Leave, Life::NotStarted { .. } | Life::Left { .. }) => {}
        }
    }

    fn restore(&mut self, key: Key, record: Record) {
        let Life::NotStarted { last } = &mut self.life else {
            return;
        };
        match (key, record) {
            (Key::Life, Record::Life(life)) => *last = (*last).max(Some(life)),
            (Key::Known, Record::Known(known)) => {
                self.contacts = Contacts::restored(self.me, known);
            }
            (Key::Life, Record::Known(_)) | (Key::Known, Record::Life(_)) => {}
        }
    }
}

/// Hands a message to the method of the member that reacts to it.
fn hear<const D: usize>(
    member: &mut Member<D>,
    from: NodeId,
    message: Message<D>,
    cx: &mut dyn Context<Can<D>>,
) -> Outcome {
    match message {
        Message::Join {
            joiner,
            point,
            hops,
        } => member.answer_join(from, joiner, point, hops, cx),
        Message::Heartbeat { account, told } => {
            return member.hear(from, Word::with_list(&account, told), cx);
        }
        Message::Here {
            own,
            yours,
            neighbours,
            told,
        } => {
            let list = List::Untold { yours, neighbours };
            let own = own.get();
            return member.hear(from, Word { own, list, told }, cx);
        }
        Message::Pulse {
            life,
            epoch,
            yours,
            neighbours,
            told,
        } => {
            let name = Name { id: from, life };
            let pulse = Pulse {
                epoch,
                yours,
                neighbours,
            };
            return member.hear_pulse(name, pulse, told, cx);
        }
        Message::Beat {
            life,
            edition,
            told,
        } => member.hear_beat(Name { id: from, life }, edition, told, cx),
        Message::Ping => member.tell(from, cx),
        Message::Introduction(entries) => {
            for entry in entries.iter() {
                member.learn(entry, cx);
            }
        }
        Message::Seek {
            seeker,
            point,
            hops,
        } => member.on_seek(from, seeker, point, hops, cx),
        Message::Inquiry(name) => member.on_inquiry(from, name, cx),
        Message::Claim { missed, zone } => member.on_claim(from, &missed, &zone, cx),
        Message::Alive { entry, ago } => member.on_alive(&entry, ago, cx),
        Message::MayLeave { own, epoch } => member.on_may_leave(from, &own, epoch, cx),
        Message::Agreed { life, epoch } => {
            if life == member.name.life {
                return member.on_agreed(from, epoch, cx);
            }
        }
        Message::Disagreed { life, epoch } => {
            if life == member.name.life {
                member.on_disagreed(epoch, cx);
            }
        }
        Message::Stays(life) => member.on_stays(Name { id: from, life }),
        Message::Obituary(account) => member.on_obituary(from, &account, cx),
        Message::Evicted(life) => {
            if life == member.name.life {
                return member.on_evicted(from, cx);
            }
        }
        Message::Farewell(other) => member.meet(other),
        Message::Grant(_) | Message::Refused { .. } => {}
    }
    Outcome::Stays
}

impl<const D: usize> Machine for Can<D> {
    type Message = Message<D>;
    type Timer = Timer;
    type Command = Command<D>;
    type Notice = Notice<D>;
    type Key = Key;
    type Record = Record;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        match event {
            Event::Start => self.start(cx),
            Event::Message { from, message } => {
                if from != self.me {
                    self.message(from, message, cx);
                }
            }
            Event::Unreachable { to } => {
                if let Life::Inside(member) = &mut self.life {
                    member.on_unreachable(to, cx);
                }
            }
            Event::Timer(timer) => self.timer(timer, cx),
            Event::Command(command) => self.obey(command, cx),
            Event::Restored(key, record) => self.restore(key, record),
        }
    }

    fn check(&self) -> Result<(), Violation> {
        Violation::unless(
            !self.contacts().contains(self.me),
            "a node does not count on itself for help",
        )?;
        match &self.life {
            Life::Inside(member) => {
                Violation::unless(
                    member.point == self.point && member.name.id == self.me,
                    "a member is its own node",
                )?;
                member.check()
            }
            _ => Ok(()),
        }
    }
}
