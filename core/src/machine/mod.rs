//! The contract between a protocol and its host.
//!
//! A protocol is a [`Machine`]: a value that handles one [`Event`] at a time and answers with [`Effect`]s through its
//! [`Context`]. It reads no clock, opens no socket and draws no entropy; its host does all that. The same machine
//! therefore runs in a simulator, a model checker, a fuzzer and a real agent.
//!
//! # The run loop of a host
//! 1. Build the machine. Feed every record found on disk as [`Event::Restored`], in any order, then [`Event::Start`].
//! 2. Wait for a message, a due timer or a command, and feed it with the present time.
//! 3. Execute the effects in order. A [`Effect::Persist`] is durable before any effect behind it is executed.
//! 4. Go to 2.
//!
//! A host may make many records durable at once (group commit). It feeds one event or several, and withholds all their
//! effects. Then it makes all their records durable, and after that executes the other effects, in order. So no
//! message, timer or notice of the batch goes out before all its records are durable. There is one exception: a record
//! that is to be forgotten behind a notice must not vanish before that notice is given. [`Host::group_records`] brings
//! effects into this order.
//!
//! Rules for a host:
//! - Of all events that are due at one instant, feed the ends of jobs first. Else a job that ends exactly when its
//!   reservation ends is cut off.
//! - Time never goes back within a life.
//! - A node may send a message to itself. Deliver it like any other: see [`Effect::Send`].
//! - [`Event::Unreachable`] is optional. It shortens some waits.
//!
//! [`Host`] is that loop for one node, one step at a time: it keeps the machine, its timers, its records and its
//! pending effects. Tests, model checkers and agents use it. A host with other needs can use the parts: [`EffectQueue`]
//! collects effects, [`TimerQueue`] keeps timers. Without an allocator, implement the three functions of [`Context`].
//! A host that wants to know why, and not only what, gets a [`Trace`] of each step ([`Context::trace`]).
//!
//! A machine sees its context as `&mut dyn Context<Self>`, so it is compiled once for all hosts and all parents.
//!
//! # Machines inside machines
//! A parent runs a child in a lifted context: `self.child.handle(event, &mut cx.lift(AsChild(..)))`. An [`Embed`] says
//! how the child's messages, timers, keys and records become the parent's, and what the parent does with its notices. A
//! parent lifts only its own `cx`. Types that a machine does not use are [`Never`].
//!
//! # Example
//! A machine that counts the messages it gets, and answers each with their number.
//! ```
//! use gridweave_core::id::NodeId;
//! use gridweave_core::machine::{Context, Effect, EffectQueue, Event, Machine, Never, Violation};
//! use gridweave_core::time::Time;
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//!
//! #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
//! struct Counter(u64);
//!
//! impl Machine for Counter {
//!     type Message = u64;
//!     type Timer = Never;
//!     type Command = Never;
//!     type Notice = Never;
//!     type Key = ();
//!     type Record = u64;
//!
//!     fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
//!         match event {
//!             Event::Restored((), count) => self.0 = count,
//!             Event::Message { from, .. } => {
//!                 self.0 = self.0.saturating_add(1);
//!                 // First on disk, then told.
//!                 cx.persist((), self.0);
//!                 cx.send(from, self.0);
//!             }
//!             Event::Start | Event::Unreachable { .. } => {}
//!             Event::Timer(never) | Event::Command(never) => match never {},
//!         }
//!     }
//!
//!     fn check(&self) -> Result<(), Violation> {
//!         Ok(())
//!     }
//! }
//!
//! let (mut counter, mut effects) = (Counter::default(), EffectQueue::new());
//! let peer = NodeId::new(2);
//! effects.feed(&mut counter, Event::Restored((), 41), Time::ZERO, &mut rng);
//! effects.feed(&mut counter, Event::Start, Time::ZERO, &mut rng);
//! effects.feed(&mut counter, Event::Message { from: peer, message: 0 }, Time::ZERO, &mut rng);
//! assert!(effects.drain().eq([Effect::Persist((), 42), Effect::Send { to: peer, message: 42 }]));
//! ```
//!
//! [`crate::heartbeat`] is a small but complete machine. Its example embeds it in a parent.

#[cfg(feature = "alloc")]
mod alarm;
#[cfg(test)]
mod driver;
#[cfg(feature = "alloc")]
mod effects;
#[cfg(feature = "alloc")]
mod host;
mod lift;
#[cfg(test)]
mod tests;
#[cfg(feature = "alloc")]
mod timers;

#[cfg(feature = "alloc")]
pub(crate) use alarm::Alarm;
#[cfg(test)]
pub(crate) use driver::{Driver, Shown};
#[cfg(feature = "alloc")]
pub use effects::{EffectQueue, Group};
#[cfg(feature = "alloc")]
pub use host::Host;
pub use lift::{Embed, Lifted};
#[cfg(feature = "alloc")]
pub use timers::TimerQueue;

use core::fmt::{self, Debug};
use core::hash::Hash;

use crate::id::NodeId;
use crate::time::Time;
use crate::trace::Trace;

/// What a machine's state, and every value that enters or leaves a machine, can do: be logged, compared and
/// model-checked. Implemented for every type that qualifies.
pub trait Data: Clone + Eq + Hash + Debug + Send + Sync + 'static {}

impl<T: Clone + Eq + Hash + Debug + Send + Sync + 'static> Data for T {}

/// Uninhabited type for unused slots: the message, timer or record of a machine that has none. Unlike
/// [`core::convert::Infallible`] it implements the traits of `serde`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Never {}

/// A protocol as a pure state machine.
///
/// What an implementation promises:
/// - **It is a function.** Only [`handle`](Self::handle) changes the state, and only by what it is given. A replay of
///   the same events, times and random choices gives the same effects, on any platform.
/// - **What must last is written first.** The effect that persists a vote or a decision comes before the message that
///   tells it, because the host may stop after any effect. Under one key only the latest record counts, and the number
///   of keys in use is bounded. A record may be durable before the effects in front of it are executed, with those of
///   later events: so no record says that the host was told something. To note that, a machine forgets a record.
/// - **It restarts.** The host builds it anew, feeds its live records in any order (this has no effects) and then
///   [`Event::Start`] (this sets its timers again). Between the two come only commands that say what outlived the
///   earlier life, as [`Survived`](crate::job::Command::Survived). The machine goes on without harm.
/// - **It expects the worst.** A message may come in any state, twice, late, out of order or from a liar. It never
///   causes a panic, an invariant to break, or work and memory beyond a bound.
/// - **Timers are hints.** Setting an equal timer moves it, and cancelling may be too late. A stale timer does nothing.
///   An early timer at most makes the machine ask to be woken again. Where it matters, a timer carries a number by
///   which the machine tells a stale one.
/// - **It is bounded.** All state that a peer can make grow has a cap and a defined outcome there: a notice or a
///   counter. The type says how many effects one event can have.
/// - **It is comparable.** Equal situations are equal values, so state is kept in one canonical order.
pub trait Machine: Data {
    /// What it sends to the same machine on other nodes.
    type Message: Data;
    /// What it asks to be woken with.
    type Timer: Data + Copy + Ord;
    /// What its host or its parent may ask of it.
    type Command: Data;
    /// What it tells its host or its parent.
    type Notice: Data;
    /// The name of a record: persisting under the same key replaces.
    type Key: Data + Copy + Ord;
    /// What it must not forget in a crash.
    type Record: Data;

    /// Takes one event and pushes its effects, in order.
    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>);

    /// Names an invariant of this state that does not hold. Costs at most a pass over the state.
    fn check(&self) -> Result<(), Violation>;
}

/// What happens to a machine.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Event<M: Machine> {
    /// All records have been restored; begin.
    Start,
    /// A message came in. The transport, not the message, says which node sent it.
    Message {
        /// The sender.
        from: NodeId,
        /// What it says.
        message: M::Message,
    },
    /// A message to this node could not be delivered, as far as the transport can tell.
    Unreachable {
        /// The receiver that was not reached.
        to: NodeId,
    },
    /// A timer is due.
    Timer(M::Timer),
    /// The host or the parent asks for something.
    Command(M::Command),
    /// A record of an earlier life, under its key. Only before [`Start`](Self::Start).
    Restored(M::Key, M::Record),
}

/// What a machine wants done.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Effect<M: Machine> {
    /// Make this record durable under its key before doing anything that follows.
    Persist(M::Key, M::Record),
    /// The record under this key is no longer needed.
    Forget(M::Key),
    /// Send a message; it may be lost, delayed or duplicated. A node may send to itself: the host delivers that message
    /// like any other, as an event of its own, and not from inside [`handle`](Machine::handle).
    Send {
        /// The receiver.
        to: NodeId,
        /// What it says.
        message: M::Message,
    },
    /// Feed this timer back at or after the given time; replaces an equal timer that is still pending.
    Wake {
        /// The earliest time at which to feed it.
        at: Time,
        /// The timer to feed.
        timer: M::Timer,
    },
    /// This timer is no longer needed.
    Cancel(M::Timer),
    /// Tell the host or the parent.
    Notify(M::Notice),
}

/// What a machine sees of its host while it handles an event.
///
/// A host writes the first three functions. [`trace`](Self::trace) is optional, and the rest are short forms of
/// [`push`](Self::push).
pub trait Context<M: Machine> {
    /// The present time, the same throughout one event.
    fn now(&self) -> Time;

    /// The source of random choices; machines draw from it only through [`crate::rng::Choose`].
    fn rng(&mut self) -> &mut dyn rand_core::Rng;

    /// Adds an effect behind those already pushed.
    fn push(&mut self, effect: Effect<M>);

    /// Says what the machine does for a job, and why. It does nothing unless a host wants it.
    fn trace(&mut self, _trace: Trace) {}

    /// Pushes [`Effect::Send`].
    fn send(&mut self, to: NodeId, message: M::Message) {
        self.push(Effect::Send { to, message });
    }

    /// Pushes [`Effect::Wake`].
    fn wake(&mut self, at: Time, timer: M::Timer) {
        self.push(Effect::Wake { at, timer });
    }

    /// Pushes [`Effect::Cancel`].
    fn cancel(&mut self, timer: M::Timer) {
        self.push(Effect::Cancel(timer));
    }

    /// Pushes [`Effect::Notify`].
    fn notify(&mut self, notice: M::Notice) {
        self.push(Effect::Notify(notice));
    }

    /// Pushes [`Effect::Persist`].
    fn persist(&mut self, key: M::Key, record: M::Record) {
        self.push(Effect::Persist(key, record));
    }

    /// Pushes [`Effect::Forget`].
    fn forget(&mut self, key: M::Key) {
        self.push(Effect::Forget(key));
    }
}

impl<'a, M: Machine> dyn Context<M> + 'a {
    /// The context in which a child of this machine runs.
    pub fn lift<E>(&mut self, embed: E) -> Lifted<'_, M, E> {
        Lifted::new(self, embed)
    }
}

/// The name of an invariant that does not hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Violation {
    /// The invariant, as a sentence: "no two reservations on a node overlap".
    pub invariant: &'static str,
}

impl Violation {
    /// Passes if the invariant holds, else names it.
    pub const fn unless(holds: bool, invariant: &'static str) -> Result<(), Self> {
        if holds {
            Ok(())
        } else {
            Err(Self { invariant })
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this does not hold: {}", self.invariant)
    }
}

impl core::error::Error for Violation {}
