//! The contract between a protocol and whatever runs it.
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
//! What a host has to mind:
//! - Of what is due at one instant, the ends of jobs come first. A job that ends together with its reservation is cut otherwise.
//! - Time never goes back within a life.
//! - A message to the sender itself is a message: see [`Effect::Send`].
//! - [`Event::Unreachable`] is a courtesy. It shortens some waits, and a host that never feeds it is right, too.
//!
//! [`Host`] is that loop for one node, one step at a time: it keeps the machine, its timers, its records and the effects that are
//! still to be executed. Tests, model checkers and agents are built on it. A host that has other needs takes its parts:
//! [`EffectQueue`] collects effects, [`TimerQueue`] keeps timers. Hosts without an allocator implement [`Context`] themselves: three
//! functions.
//!
//! A machine sees its context as `&mut dyn Context<Self>`, so it is compiled once, whatever hosts it and whatever it is a part of.
//!
//! # Machines inside machines
//! A parent runs a child in a lifted context: `self.child.handle(event, &mut cx.lift(AsChild(..)))`, where an [`Embed`]
//! says how the child's messages, timers, keys and records become the parent's, and what becomes of its notices. Lift
//! only one's own `cx`. Type parameters that a machine has no use for are [`Never`].
//!
//! [`crate::heartbeat`] is a small machine with everything in it, embedded in a parent in its example.

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
pub use effects::EffectQueue;
#[cfg(feature = "alloc")]
pub use host::Host;
pub use lift::{Embed, Lifted};
#[cfg(feature = "alloc")]
pub use timers::TimerQueue;

use core::fmt::{self, Debug};
use core::hash::Hash;

use crate::id::NodeId;
use crate::time::Time;

/// What states and everything that crosses a machine's border can do, so that any of it can be logged, compared and
/// model-checked. Implemented for every type that qualifies.
pub trait Data: Clone + Eq + Hash + Debug + Send + Sync + 'static {}

impl<T: Clone + Eq + Hash + Debug + Send + Sync + 'static> Data for T {}

/// What there is none of: the message, timer or record of a machine that has no such thing. Unlike
/// [`core::convert::Infallible`] it has an encoding, namely none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Never {}

/// A protocol as a pure state machine.
///
/// What an implementation promises:
/// - **It is a function.** Only [`handle`](Self::handle) changes the state, and only by what it is given. Whoever replays
///   events, times and choices gets the same effects, on any platform.
/// - **What must last is written first.** A vote or a decision is persisted by an effect in front of the message that tells
///   of it, because the host may stop after any effect. Under one key only the latest record counts, and the number of
///   keys in use is bounded.
/// - **It restarts.** Built anew, given its live records in whatever order (which has no effects) and then `Start` (which
///   sets its timers again), it goes on without harm.
/// - **It expects the worst.** A message may come in any state, twice, late, out of order or from a liar. It never causes a
///   panic, an invariant to break, or work and memory beyond a bound.
/// - **Timers are hints.** Setting an equal timer moves it, and cancelling may be too late. A timer that is out of date
///   does nothing, and one that comes too early at most asks to be woken again; where it matters a timer carries a number
///   that tells.
/// - **It is bounded.** Whatever a peer can make grow has a cap and a defined outcome there: a notice or a counter. The
///   type says how many effects one event can have.
/// - **It is comparable.** Equal situations are equal values, so state is kept in one canonical order.
pub trait Machine: Data {
    /// What it says to its kind on other nodes.
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
    /// A message came in. Who sent it is the transport's word, not the sender's.
    Message {
        /// The sender.
        from: NodeId,
        /// What it says.
        message: M::Message,
    },
    /// A message to this node could not be delivered, as far as the transport can tell.
    Unreachable {
        /// Where it was to go.
        to: NodeId,
    },
    /// A timer is due.
    Timer(M::Timer),
    /// The host or the parent wants something.
    Command(M::Command),
    /// A record of an earlier life, under its key. Only before `Start`.
    Restored(M::Key, M::Record),
}

/// What a machine wants done.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Effect<M: Machine> {
    /// Make this record durable under its key before doing anything that follows.
    Persist(M::Key, M::Record),
    /// The record under this key is no longer needed.
    Forget(M::Key),
    /// Send a message; it may be lost, delayed or duplicated. It may go to the node that sends it: that one is delivered like any
    /// other, as an event of its own, and not from inside [`handle`](Machine::handle).
    Send {
        /// Where it goes.
        to: NodeId,
        /// What it says.
        message: M::Message,
    },
    /// Feed this timer back at or after the given time; replaces an equal timer that is still pending.
    Wake {
        /// When.
        at: Time,
        /// With what.
        timer: M::Timer,
    },
    /// This timer is no longer needed.
    Cancel(M::Timer),
    /// Tell the host or the parent.
    Notify(M::Notice),
}

/// What a machine sees of its host while it handles an event.
///
/// A host writes the first three functions; the rest are short forms of [`push`](Self::push).
pub trait Context<M: Machine> {
    /// The present time, the same throughout one event.
    fn now(&self) -> Time;

    /// The source of random choices; machines draw from it only through [`crate::rng::Choose`].
    fn rng(&mut self) -> &mut dyn rand_core::Rng;

    /// Adds an effect behind those already pushed.
    fn push(&mut self, effect: Effect<M>);

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
