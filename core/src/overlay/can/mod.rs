//! CAN: a space of capabilities, of which every node owns a zone around its own point (PROTOCOLS 3).
//!
//! The dimensions are the amounts of what nodes have, and one or more virtual ones whose coordinates are drawn at random, so
//! that equal nodes are at different points. The space is cut into half-open boxes, one for each node, with its point inside. Neighbours
//! are those whose boxes touch. Who looks for a point asks its neighbour that is nearest to it, and so on.
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
//! - When a node goes, its last split is undone: its neighbours across that plane grow over its zone. So everyone always has one zone, and
//!   its own point inside.
//! - A node that leaves asks its heirs first, who do nothing else until it is gone. One that falls silent is missed after some periods; its heirs wait, claim what they will have to all
//!   around, and have it if nobody objects. A node that learns that its zone is given away joins anew.
//! - Every time that a node joins is a new life of it, and every change of its zone in that life a new epoch. Older news is no news.
//! - While there is a hole at its zone a node gives nobody a part of it: who wants one tries again a little later.
//! - A hole that is not closed so, because nobody knows any more who had it, is grown over after some periods by who can; and if nobody
//!   can, somebody takes a whole part of the tree by force. So every hole ends.
//! - Nobody leaves from a gap that keeps others out and lasts; and the last who has a zone, if it knows of others, waits for them to join.
//! - Of two whose zones overlap one yields, by rank, then size, then name. Everyone looks for its own point at times, to find such others.
//! - Who tells of itself is believed. Who tells of others is believed as long as that contradicts nobody's own word.
//! - Neighbours compare their neighbours whenever these changed, so that those who touch come to know each other. As long as nothing
//!   changes, a heartbeat has the load and the number of the last account only; who lacks that account asks.
//! - Who has more neighbours than [`Config::listed`] tells only its heirs who they are, since they need it when the node is gone. To others
//!   it tells of its own zone when that changed, and else its epoch. Who lacks somebody behind a face seeks there; who needs to know
//!   who was around somebody who is gone asks its heirs.
//! - Along each dimension, loads are summed up from the upper end: a node's lower neighbours get its load and what is beyond it in parts,
//!   by the areas at which they touch it. At the lower border all of them together have the load of all nodes, exactly.
//!
//! Routing is done by whoever embeds this: [`Can::next_hop`] says where to send what is for a point.
//!
//! # Files
//! The methods of a node that has a zone are in layers; each file calls only those before it: `member` (its state), `tell`, `hole`,
//! `learn`, `search`, `takeover`, `mend`, `heartbeat`, `leave`, `admit`. What needs no such node is below all of them.
//!
//! # Limits
//! A node has at most [`MOST_NEIGHBOURS`] neighbours; where it would have more, nobody can join. Who grows over a gap in such a place
//! may know only so many, and not all.
//!
//! # What holds after faults
//! While more nodes crash than are noticed, two zones may overlap for a while, nodes that are well may lose their zones and join anew,
//! and most who want to join have to wait. Once messages arrive again, zones become exact if that can be at all: no two overlap,
//! together they are the space, and everyone who wants one has one. It can be if there is a way between any two nodes that are up along
//! neighbours and along the peers that nodes keep ([`Can::known`], [`Can::missed`]): a node looks for its own point through each of
//! those within 112 periods, and finds whoever else has it. A node without a zone asks one of them for one again and again. If it has
//! none, or if each part of an overlay that fell apart knows nobody in another, the host has to help, with [`Command::Join`] to any node
//! of a part and an introducer in the other. Nodes that differ in one virtual coordinate only lie in a row, where ways are long and that
//! is most likely; where many nodes are alike, use two or more virtual dimensions.
//!
//! A part of the tree that is taken by force may be the whole space. Then all others join anew through one node, and if that crashes
//! before the first of them is in, nobody is: whoever embeds this has to have one of them found the overlay again, if all it hears of is
//! [`Notice::Unanswered`]. Who is to leave waits for others in such a case, for as long as [`Config::farewell`] says.
//!
//! Who lies can make others believe that zones have changed hands: nothing here authenticates anyone. It cannot make a node know more than
//! [`MOST_PEERS`], or a message grow.
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
//! // One after the other: who is asked while it changes has the asker try again later.
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
//! // Everyone has its point, and knows the way to others'.
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
pub use config::{Config, ConfigError};
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

use crate::id::{Incarnation, NodeId};
use crate::machine::{Context, Event, Machine, Violation};
use crate::overlay::contacts::Contacts;
pub use crate::overlay::contacts::{KNOWN, Known};
use crate::shared::Shared;

/// The most dimensions that a space can have.
pub const MOST_DIMENSIONS: usize = 8;

/// How many periods pass between two times that a node writes down whom it knows.
const REMEMBER: u32 = 32;

/// A node of the overlay, in a space of `D` dimensions.
///
/// Most effects per event: on a heartbeat when nothing is new, one for each neighbour, and four more. After somebody joined or changed its
/// zone, a few for each neighbour. When it takes over what those who are missed had, most of all: an obituary of up to 32 of them to everyone around,
/// who are at most [`MOST_PEERS`] and those whom the gone among them named.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Can<const D: usize> {
    me: NodeId,
    config: Config,
    point: Point<D>,
    load: Load,
    /// Those whom it can ask for a zone; while it has one, they are the member's.
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
    /// What it told last, for those who have not heard.
    Left {
        account: Option<Shared<Account<D>>>,
    },
}

impl<const D: usize> Can<D> {
    /// A node at this point, without a zone.
    pub fn new(me: NodeId, point: Point<D>, config: Config) -> Result<Self, ConfigError> {
        Ok(Self {
            me,
            config: config.checked::<D>()?,
            point,
            load: Load::default(),
            contacts: Contacts::default(),
            life: Life::NotStarted { last: None },
        })
    }

    /// Which node this is.
    pub const fn id(&self) -> NodeId {
        self.me
    }

    /// Where it is.
    pub const fn point(&self) -> &Point<D> {
        &self.point
    }

    /// Its zone, while it has one.
    pub fn zone(&self) -> Option<&Zone<D>> {
        self.member().map(|member| &member.leaf.zone)
    }

    /// Whether it has no zone and asks others for one.
    pub const fn is_joining(&self) -> bool {
        matches!(self.life, Life::Joining(_))
    }

    /// Its zone, how that came about, and in which life and epoch it has it.
    pub fn entry(&self) -> Option<Entry<D>> {
        self.member().map(Member::entry)
    }

    /// Its neighbours, in the order of ids.
    pub fn neighbours(&self) -> impl Iterator<Item = &Neighbour<D>> {
        self.member()
            .into_iter()
            .flat_map(|member| member.peers.neighbours())
    }

    /// Where something that goes to a point is to be sent next.
    pub fn next_hop(&self, point: &Point<D>) -> Hop {
        self.member()
            .map_or(Hop::Stuck, |member| member.next_hop(point))
    }

    /// Its own load.
    pub const fn load(&self) -> Load {
        self.load
    }

    /// Its share of the load of all nodes beyond it in a dimension, as old as that has taken to come.
    pub fn load_beyond(&self, dimension: usize) -> Load {
        self.member()
            .map_or(Load::default(), |member| member.load_beyond(dimension))
    }

    /// Whether it has a zone, and at that no hole which somebody left who is gone, for all it knows.
    pub fn is_settled(&self) -> bool {
        self.member().is_some_and(|member| !member.is_unsettled())
    }

    /// What is known of a node, in each of its lives.
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

    /// Nodes anywhere in the space that it had as neighbours or met, the last one first: through them it looks for itself.
    pub fn known(&self) -> &[NodeId] {
        self.contacts().known()
    }

    /// The last few neighbours of which nothing was heard for too long, and through which it looks for itself, too.
    pub fn missed(&self) -> &[NodeId] {
        self.contacts().missed()
    }

    fn start(&mut self, cx: &mut dyn Context<Self>) {
        let Life::NotStarted { last } = self.life else {
            return;
        };
        self.life = Life::Outside { last };
        // Who was in before comes back by itself.
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
                // Who does not know yet that it left is told.
                if message.is_heartbeat() || message == Message::Ping {
                    cx.send(from, Message::Obituary(account.clone()));
                }
                return;
            }
            _ => {
                // A node that looks for itself has a zone, and may be asked for one.
                if let (Message::Seek { seeker, .. }, Life::Joining(_)) = (&message, &self.life)
                    && seeker.name.id == from
                {
                    self.contacts.note([from]);
                }
                if let Message::Farewell(other) = message
                    && other != self.me
                {
                    self.contacts.note([other]);
                }
                // Its own zone may be on its way here.
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

    /// What an event made of a member comes true.
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
            // Who is to leave need not join anew to do so.
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
                let is_due = beat == member.beat && member.due <= cx.now();
                member.beat(beat, cx);
                // Who founded the overlay knew nobody then.
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
            // Two wishes on their way would be in each other's way: this one is for when it is time to ask again.
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

/// A member hears something.
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
