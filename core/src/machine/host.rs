use rand_core::Rng;

use super::{Effect, EffectQueue, Event, Group, Machine, TimerQueue, Violation};
use crate::sorted::SortedMap;
use crate::time::Time;
use crate::trace::Trace;

/// One node: a machine, its timers, its records, and its pending effects.
///
/// A host feeds events with [`handle`](Self::handle), [`fire`](Self::fire) and [`start`](Self::start), and then
/// executes the effects one at a time with [`execute`](Self::execute). Timers and records are kept here. The caller
/// delivers messages and notices, and writes records to a real disk.
///
/// [`crash`](Self::crash) may come between any two effects. It drops all but the records, with which the node
/// [starts](Self::start) again. Two nodes in the same situation are equal, however they came there, so a model checker
/// can keep this type in its states.
///
/// ```
/// use gridweave_core::heartbeat::{Command, Detector, Message, Notice};
/// use gridweave_core::id::NodeId;
/// use gridweave_core::machine::{Effect, Event, Host};
/// use gridweave_core::time::{Span, Time};
/// use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
///
/// // Any generator that implements `gridweave_core::rand_core::Rng` will do.
/// let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
/// let [me, peer] = [NodeId::new(1), NodeId::new(2)];
/// let detector = || Detector::<8>::new(me, Span::from_secs(10), 3);
///
/// let mut host = Host::new();
/// host.start(detector()?, Time::ZERO, &mut rng);
/// host.handle(Event::Command(Command::Watch(peer)), Time::ZERO, &mut rng);
/// let mut suspected = false;
/// while !suspected {
///     while let Some(effect) = host.execute() {
///         // An agent would send the message, and write the record to disk.
///         suspected |= effect == Effect::Notify(Notice::Suspected { peer });
///     }
///     // An agent would sleep until then, or until a message comes.
///     let now = host.next_at().expect("a detector always waits for its next round");
///     host.fire(now, &mut rng);
/// }
///
/// // It goes down, and comes back with its records.
/// host.crash();
/// assert!(host.machine().is_none() && host.records().len() == 1);
/// host.start(detector()?, Time::from_secs(60), &mut rng);
/// # Ok::<(), gridweave_core::config::ConfigError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Host<M: Machine> {
    /// `None` while the node is down.
    machine: Option<M>,
    timers: TimerQueue<M::Timer>,
    records: SortedMap<M::Key, M::Record>,
    pending: EffectQueue<M>,
}

impl<M: Machine> Host<M> {
    /// A node that is down, with an empty disk.
    pub const fn new() -> Self {
        Self::with_records(SortedMap::new())
    }

    /// A node that is down, with these records on its disk.
    pub const fn with_records(records: SortedMap<M::Key, M::Record>) -> Self {
        Self {
            machine: None,
            timers: TimerQueue::new(),
            records,
            pending: EffectQueue::new(),
        }
    }

    /// A node whose machine is built and neither restored nor started yet: the caller feeds its records and the start.
    pub fn unstarted(machine: M) -> Self {
        let machine = Some(machine);
        Self {
            machine,
            ..Self::new()
        }
    }

    /// The node comes up as this machine, which is given every record and then started. If it was up, it crashes first.
    pub fn start(&mut self, machine: M, now: Time, rng: &mut dyn Rng) {
        self.start_with(machine, [], now, rng);
    }

    /// Like [`start`](Self::start), with commands that say what outlived the earlier life. The machine is given them
    /// between its records and its start.
    pub fn start_with(
        &mut self,
        machine: M,
        survived: impl IntoIterator<Item = M::Command>,
        now: Time,
        rng: &mut dyn Rng,
    ) {
        self.crash();
        self.machine = Some(machine);
        for (key, record) in self.records.clone() {
            self.feed(Event::Restored(key, record), now, rng);
        }
        for command in survived {
            self.feed(Event::Command(command), now, rng);
        }
        self.feed(Event::Start, now, rng);
    }

    /// The machine handles an event. Its effects are appended to the pending ones. Nothing happens while the node is
    /// down.
    ///
    /// A timer that is fed is no longer set, and a record that is fed as restored is on the disk.
    pub fn handle(&mut self, event: Event<M>, now: Time, rng: &mut dyn Rng) {
        match &event {
            Event::Timer(timer) => self.timers.cancel(*timer),
            Event::Restored(key, record) => {
                self.records.insert(*key, record.clone());
            }
            _ => {}
        }
        self.feed(event, now, rng);
    }

    /// Feeds the next timer that is due by `now`, and returns the time for which it was set.
    pub fn fire(&mut self, now: Time, rng: &mut dyn Rng) -> Option<Time> {
        let (at, timer) = self.timers.pop_due(now)?;
        self.feed(Event::Timer(timer), now, rng);
        Some(at)
    }

    fn feed(&mut self, event: Event<M>, now: Time, rng: &mut dyn Rng) {
        if let Some(machine) = &mut self.machine {
            self.pending.feed(machine, event, now, rng);
        }
    }

    /// Takes the next pending effect, carries it out if it concerns a timer or a record, and returns it to the caller.
    pub fn execute(&mut self) -> Option<Effect<M>> {
        let effect = self.pending.pop()?;
        match &effect {
            Effect::Persist(key, record) => {
                self.records.insert(*key, record.clone());
            }
            Effect::Forget(key) => {
                self.records.remove(key);
            }
            Effect::Wake { at, timer } => self.timers.wake(*at, *timer),
            Effect::Cancel(timer) => self.timers.cancel(*timer),
            Effect::Send { .. } | Effect::Notify(_) => {}
        }
        Some(effect)
    }

    /// Puts the records of the next group of pending effects first: for a host that makes the records of one event, or
    /// of several, durable at once. See [`EffectQueue::group_records`].
    ///
    /// The caller [executes](Self::execute) the records, makes them durable together, and executes the others. Then
    /// comes the next group, if any effects are still [pending](Self::pending).
    pub fn group_records(&mut self) -> Group {
        self.pending.group_records()
    }

    /// The node goes down: it loses its machine, its timers and its pending effects, and keeps its records.
    pub fn crash(&mut self) {
        self.machine = None;
        self.timers = TimerQueue::new();
        self.pending.clear();
    }

    /// Keeps traces from now on, in all lives of this node: see [`EffectQueue::keep_traces`].
    pub fn keep_traces(&mut self) {
        self.pending.keep_traces();
    }

    /// Takes out the traces of the events so far.
    pub fn traces(&mut self) -> impl Iterator<Item = Trace> {
        self.pending.traces()
    }

    /// When the next timer is due.
    pub fn next_at(&self) -> Option<Time> {
        self.timers.next_at()
    }

    /// The machine, if the node is up.
    pub const fn machine(&self) -> Option<&M> {
        self.machine.as_ref()
    }

    /// The timers that are set.
    pub const fn timers(&self) -> &TimerQueue<M::Timer> {
        &self.timers
    }

    /// What is on the disk.
    pub const fn records(&self) -> &SortedMap<M::Key, M::Record> {
        &self.records
    }

    /// How many effects wait to be executed.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Asks the machine for a broken invariant, if the node is up.
    pub fn check(&self) -> Result<(), Violation> {
        self.machine.as_ref().map_or(Ok(()), Machine::check)
    }
}

#[cfg(test)]
impl<M: Machine> Host<M> {
    pub(super) const fn machine_mut(&mut self) -> Option<&mut M> {
        self.machine.as_mut()
    }

    /// Calls a function of the machine as if an event did.
    pub(super) fn act(&mut self, now: Time, act: impl FnOnce(&mut M, &mut dyn super::Context<M>)) {
        let (rng, queue) = (&mut crate::rng::Zeros, &mut self.pending);
        let mut cx = super::effects::Collect { now, rng, queue };
        act(self.machine.as_mut().expect("it is up"), &mut cx);
    }

    pub(super) const fn records_mut(&mut self) -> &mut SortedMap<M::Key, M::Record> {
        &mut self.records
    }

    pub(super) fn drop_pending(&mut self) {
        self.pending.clear();
    }
}

impl<M: Machine> Default for Host<M> {
    fn default() -> Self {
        Self::new()
    }
}
