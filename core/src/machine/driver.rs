//! For unit tests: one node on a clock that the test moves. Every random choice takes the first option.

use core::fmt::Debug;
use std::rc::Rc;
use std::string::{String, ToString};
use std::vec::Vec;

use super::{Context, Effect, Event, Host, Machine};
use crate::id::NodeId;
use crate::rng::Zeros;
use crate::time::Time;

/// How a test wants to see an effect.
pub(crate) trait Shown<M: Machine>: Sized {
    /// The effect, or nothing if it is of no interest.
    fn shown(effect: Effect<M>) -> Option<Self>;
}

impl<M: Machine> Shown<M> for Effect<M> {
    fn shown(effect: Effect<M>) -> Option<Self> {
        Some(effect)
    }
}

/// A node, its clock, and how to build its machine again. Effects are shown as `S`.
#[derive(Clone)]
pub(crate) struct Driver<M: Machine, S: Shown<M> = Effect<M>> {
    pub(crate) host: Host<M>,
    pub(crate) now: Time,
    build: Rc<dyn Fn() -> M>,
    shown: core::marker::PhantomData<S>,
}

impl<M: Machine, S: Shown<M>> Driver<M, S> {
    /// A node that was never started.
    pub(crate) fn new(now: Time, build: impl Fn() -> M + 'static) -> Self {
        Self {
            host: Host::unstarted(build()),
            now,
            build: Rc::new(build),
            shown: core::marker::PhantomData,
        }
    }

    /// A node that started, and what it did then.
    pub(crate) fn started(now: Time, build: impl Fn() -> M + 'static) -> (Self, Vec<S>) {
        let mut driver = Self::new(now, build);
        let did = driver.feed(Event::Start);
        (driver, did)
    }

    pub(crate) fn machine(&self) -> &M {
        self.host.machine().expect("the node of a test is up")
    }

    /// For tests that begin in a state that is tedious to reach.
    pub(crate) fn machine_mut(&mut self) -> &mut M {
        self.host.machine_mut().expect("the node of a test is up")
    }

    pub(crate) fn feed(&mut self, event: Event<M>) -> Vec<S> {
        self.feed_some(event, usize::MAX)
    }

    /// Feeds an event and executes at most `most` of its effects.
    pub(crate) fn feed_some(&mut self, event: Event<M>, most: usize) -> Vec<S> {
        self.host.handle(event, self.now, &mut Zeros);
        self.execute(most)
    }

    /// Executes at most `most` of the pending effects; the others are lost.
    fn execute(&mut self, most: usize) -> Vec<S> {
        self.host.check().unwrap();
        let lost = self.host.pending().saturating_sub(most);
        let mut did = Vec::new();
        while self.host.pending() > lost {
            did.extend(self.host.execute().and_then(S::shown));
        }
        self.host.drop_pending();
        did
    }

    /// Calls a function of the machine as if an event did.
    pub(crate) fn act(&mut self, act: impl FnOnce(&mut M, &mut dyn Context<M>)) -> Vec<S> {
        self.host.act(self.now, act);
        self.execute(usize::MAX)
    }

    /// What this node traces while something is done with it, in words.
    pub(crate) fn traced(&mut self, act: impl FnOnce(&mut Self)) -> Vec<String> {
        self.host.keep_traces();
        act(self);
        self.host.traces().map(|trace| trace.to_string()).collect()
    }

    /// When a timer is due, if it is set.
    pub(crate) fn due(&self, timer: M::Timer) -> Option<Time> {
        self.host.timers().due(timer)
    }

    /// The next timer of a kind, and when it is due.
    pub(crate) fn pending(&self, kind: impl Fn(&M::Timer) -> bool) -> (Time, M::Timer) {
        let mut timers = self.host.timers().iter();
        timers.find(|(_, timer)| kind(timer)).expect("one is set")
    }

    /// Puts a record on the disk that the machine has not written.
    pub(crate) fn write(&mut self, key: M::Key, record: M::Record) {
        self.host.records_mut().insert(key, record);
    }

    pub(crate) fn hear(&mut self, from: impl Into<NodeId>, message: M::Message) -> Vec<S> {
        let from = from.into();
        self.feed(Event::Message { from, message })
    }

    /// Hears a message, and does exactly this.
    #[track_caller]
    pub(crate) fn hears(
        &mut self,
        from: impl Into<NodeId>,
        message: M::Message,
        expected: impl AsRef<[S]>,
    ) where
        S: PartialEq + Debug,
    {
        assert_eq!(self.hear(from, message), expected.as_ref());
    }

    /// Hears a message, and does nothing but answer this to its sender.
    #[track_caller]
    pub(crate) fn answers(
        &mut self,
        from: impl Into<NodeId>,
        message: M::Message,
        answer: M::Message,
    ) where
        S: PartialEq + Debug,
    {
        let to = from.into();
        let answer = S::shown(Effect::Send {
            to,
            message: answer,
        });
        self.hears(to, message, Vec::from_iter(answer));
    }

    pub(crate) fn obey(&mut self, command: M::Command) -> Vec<S> {
        self.feed(Event::Command(command))
    }

    /// Goes to this second, where nothing happens yet.
    pub(crate) fn at(&mut self, second: u64) -> &mut Self {
        self.now = Time::from_secs(second);
        self
    }

    /// Feeds the next timer when it is due.
    pub(crate) fn ring(&mut self) -> Vec<S> {
        let at = self.host.next_at().expect("a timer is set");
        self.now = self.now.max(at);
        self.host.fire(self.now, &mut Zeros);
        self.execute(usize::MAX)
    }

    /// Feeds the next timer, which has exactly these effects.
    #[track_caller]
    pub(crate) fn rings(&mut self, expected: impl AsRef<[S]>)
    where
        S: PartialEq + Debug,
    {
        assert_eq!(self.ring(), expected.as_ref());
    }

    /// Feeds the timers that are due until this second, one by one.
    pub(crate) fn ring_until(&mut self, second: u64) -> Vec<S> {
        let end = Time::from_secs(second);
        let mut did = Vec::new();
        while self.host.next_at().is_some_and(|at| at <= end) {
            did.extend(self.ring());
        }
        self.now = end;
        did
    }

    /// Comes back from disk.
    pub(crate) fn restart(&mut self) -> Vec<S> {
        self.restart_with([])
    }

    /// Restarts from disk, with what the host says of what outlived the crash.
    pub(crate) fn restart_with(
        &mut self,
        survived: impl IntoIterator<Item = M::Command>,
    ) -> Vec<S> {
        let machine = (self.build)();
        self.host
            .start_with(machine, survived, self.now, &mut Zeros);
        self.execute(usize::MAX)
    }

    /// How many effects an event would have.
    pub(crate) fn effects_of(&self, event: &Event<M>) -> usize {
        let mut host = self.host.clone();
        host.handle(event.clone(), self.now, &mut Zeros);
        host.pending()
    }

    /// Handles the event without any effect or change.
    pub(crate) fn ignores(&mut self, event: Event<M>) {
        let before = self.host.clone();
        self.host.handle(event, self.now, &mut Zeros);
        assert_eq!(self.host.pending(), 0);
        assert_eq!(self.host.machine(), before.machine());
    }
}
