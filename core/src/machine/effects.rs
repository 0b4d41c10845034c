use alloc::collections::VecDeque;
use alloc::collections::vec_deque::Drain;
use alloc::vec::Vec;
use core::mem;

use rand_core::Rng;

use super::{Context, Effect, Event, Machine};
use crate::time::Time;
use crate::trace::Trace;

/// The effects of one or more events, as a list.
///
/// Reuse one queue: after the first events it allocates nothing.
///
/// ```
/// use gridweave_core::heartbeat::{Detector, Notice};
/// use gridweave_core::id::{Incarnation, NodeId};
/// use gridweave_core::machine::{Effect, EffectQueue, Event};
/// use gridweave_core::time::{Span, Time};
/// use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
///
/// // Any generator that implements `gridweave_core::rand_core::Rng` will do.
/// let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
/// let mut detector = Detector::<8>::new(NodeId::new(1), Span::from_secs(10), 3)?;
/// let mut effects = EffectQueue::new();
/// effects.feed(&mut detector, Event::Start, Time::ZERO, &mut rng);
/// for effect in effects.drain() {
///     match effect {
///         Effect::Persist((), incarnation) => assert_eq!(incarnation, Incarnation::new(0)),
///         Effect::Wake { at, .. } => assert!(at > Time::ZERO),
///         other => panic!("a detector that watches no peer does no more: {other:?}"),
///     }
/// }
/// # Ok::<(), gridweave_core::config::ConfigError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct EffectQueue<M: Machine> {
    pub(super) effects: VecDeque<Effect<M>>,
    /// `None` if the host does not want them.
    pub(super) traces: Option<Vec<Trace>>,
}

impl<M: Machine> EffectQueue<M> {
    /// An empty queue.
    pub const fn new() -> Self {
        Self {
            effects: VecDeque::new(),
            traces: None,
        }
    }

    /// Lets the machine handle one event and appends its effects.
    pub fn feed(&mut self, machine: &mut M, event: Event<M>, now: Time, rng: &mut dyn Rng) {
        let queue = self;
        machine.handle(event, &mut Collect { now, rng, queue });
    }

    /// Keeps traces from now on, until they are taken out.
    pub fn keep_traces(&mut self) {
        self.traces.get_or_insert_default();
    }

    /// Takes out the traces of the events so far. There are none unless they are [kept](Self::keep_traces).
    pub fn traces(&mut self) -> impl Iterator<Item = Trace> {
        self.traces.iter_mut().flat_map(|traces| traces.drain(..))
    }

    /// Takes out the first effect.
    pub fn pop(&mut self) -> Option<Effect<M>> {
        self.effects.pop_front()
    }

    /// Takes the effects out, in order; the room they took is kept.
    pub fn drain(&mut self) -> Drain<'_, Effect<M>> {
        self.effects.drain(..)
    }

    /// Drops the effects; the room they took is kept.
    pub fn clear(&mut self) {
        self.effects.clear();
    }

    /// Puts the records of the next group first, for a host that makes many records durable at once.
    ///
    /// A group has the effects up to the first [`Effect::Forget`] behind an [`Effect::Notify`]: by such a record a
    /// machine knows after a crash that it may not have told its host yet. Within a group, what is to be written or
    /// forgotten comes first, in its order, and then come the other effects, in theirs.
    ///
    /// ```
    /// use gridweave_core::heartbeat::{Command, Detector};
    /// use gridweave_core::id::NodeId;
    /// use gridweave_core::machine::{Effect, EffectQueue, Event};
    /// use gridweave_core::time::{Span, Time};
    /// use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
    ///
    /// let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    /// let mut detector = Detector::<8>::new(NodeId::new(1), Span::from_secs(10), 3)?;
    /// let mut effects = EffectQueue::new();
    /// for event in [Event::Start, Event::Command(Command::Watch(NodeId::new(2)))] {
    ///     effects.feed(&mut detector, event, Time::ZERO, &mut rng);
    /// }
    /// while !effects.is_empty() {
    ///     let group = effects.group_records();
    ///     for _ in 0..group.records {
    ///         assert!(matches!(effects.pop(), Some(Effect::Persist(..) | Effect::Forget(_))));
    ///     }
    ///     // Here an agent makes all of them durable, with one write to its disk.
    ///     for _ in 0..group.others {
    ///         // Messages, timers and notices.
    ///         assert!(!matches!(effects.pop(), Some(Effect::Persist(..) | Effect::Forget(_))));
    ///     }
    /// }
    /// # Ok::<(), gridweave_core::config::ConfigError>(())
    /// ```
    pub fn group_records(&mut self) -> Group {
        let mut told = false;
        let is_next = |effect: &Effect<M>| {
            told |= matches!(effect, Effect::Notify(_));
            told && matches!(effect, Effect::Forget(_))
        };
        let end = self.effects.iter().position(is_next);
        let rest = self.effects.split_off(end.unwrap_or(self.effects.len()));
        let is_record =
            |effect: &Effect<M>| matches!(effect, Effect::Persist(..) | Effect::Forget(_));
        let group = mem::replace(&mut self.effects, rest);
        let (records, others): (VecDeque<_>, VecDeque<_>) = group.into_iter().partition(is_record);
        let group = Group {
            records: records.len(),
            others: others.len(),
        };
        for effect in records.into_iter().chain(others).rev() {
            self.effects.push_front(effect);
        }
        group
    }

    /// The effects so far, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Effect<M>> {
        self.effects.iter()
    }

    /// How many effects there are.
    pub fn len(&self) -> usize {
        self.effects.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }
}

impl<M: Machine> Default for EffectQueue<M> {
    fn default() -> Self {
        Self::new()
    }
}

/// How many effects are in a group of [`EffectQueue::group_records`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Group {
    /// How many records come first, to be written or forgotten. Make all of them durable before the others.
    pub records: usize,
    /// How many other effects follow them.
    pub others: usize,
}

/// The context of one event whose effects go to a list.
pub(super) struct Collect<'a, M: Machine> {
    pub(super) now: Time,
    pub(super) rng: &'a mut dyn Rng,
    pub(super) queue: &'a mut EffectQueue<M>,
}

impl<M: Machine> Context<M> for Collect<'_, M> {
    fn now(&self) -> Time {
        self.now
    }

    fn rng(&mut self) -> &mut dyn Rng {
        self.rng
    }

    fn push(&mut self, effect: Effect<M>) {
        self.queue.effects.push_back(effect);
    }

    fn trace(&mut self, trace: Trace) {
        if let Some(traces) = &mut self.queue.traces {
            traces.push(trace);
        }
    }
}
