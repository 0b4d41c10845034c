//! A node of a tortured grid: a machine with its own clock, which may be a liar.

use gridweave_core::id::NodeId;
use gridweave_core::job::{Command, Notice};
use gridweave_core::machine::{Context, Effect, Event, Machine, Violation};
use gridweave_core::rand_core::Rng;
use gridweave_core::sorted::SortedMap;
use gridweave_core::time::{Span, Time};
use gridweave_core::trace::Trace;
use gridweave_core::wire::Framed;
use gridweave_sim::history::encoded_len;

use super::flaw::{self, Flaw};
use super::liar::Liar;
use super::subject::{Caps, Subject};
use super::witness::Witness;

/// What [`Player::check`] reports when a cap is exceeded.
pub(super) const MOST_EFFECTS: &str = "an event has no more effects than are stated";
pub(super) const MOST_BYTES: &str = "a message is no longer than stated";
pub(super) const MOST_RECORDS: &str = "a node has no more records than are stated";
pub(super) const MOST_TIMERS: &str = "a node waits for no more timers than are stated";

/// What stays the same in all lives of a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Role {
    pub(super) me: NodeId,
    /// How far its clock is ahead of simulated time.
    pub(super) clock: Span,
    pub(super) caps: Caps,
    pub(super) flaw: Option<Flaw>,
    pub(super) witness: Witness,
}

/// A machine with its clock, its caps and its lies, as the simulation sees it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Player<M: Subject> {
    role: Role,
    machine: M,
    liar: Option<Liar<M>>,
    timers: SortedMap<M::Timer, ()>,
    records: SortedMap<M::Key, ()>,
    exceeded: Option<&'static str>,
}

impl<M: Subject> Player<M> {
    pub(super) fn new(role: Role, machine: M, liar: Option<Liar<M>>) -> Self {
        Self {
            role,
            machine,
            liar,
            timers: SortedMap::new(),
            records: SortedMap::new(),
            exceeded: None,
        }
    }

    pub(super) const fn machine(&self) -> &M {
        &self.machine
    }

    /// The event as the machine sees it, with times by its own clock.
    fn seen(&self, event: Event<Self>) -> Event<M> {
        match event {
            Event::Start => Event::Start,
            Event::Message { from, message } => Event::Message { from, message },
            Event::Unreachable { to } => Event::Unreachable { to },
            Event::Timer(timer) => Event::Timer(timer),
            Event::Restored(key, record) => Event::Restored(key, record),
            Event::Command(Command::Submit { mut job, payload }) => {
                job.submitted += self.role.clock;
                if let Some(deadline) = &mut job.deadline {
                    *deadline += self.role.clock;
                }
                Event::Command(Command::Submit { job, payload })
            }
            Event::Command(command) => Event::Command(command),
        }
    }

    fn trace(&self, at: Time, event: &Event<Self>) {
        let (witness, me) = (&self.role.witness, &self.role.me);
        match event {
            Event::Start => witness.line(at, me, format_args!("starts")),
            Event::Message { from, message } if is_news::<M>(message, witness) => {
                witness.line(
                    at,
                    me,
                    format_args!("hears from {from}: {}", short(message)),
                );
            }
            Event::Message { .. } => {}
            Event::Unreachable { to } => witness.line(at, me, format_args!("cannot reach {to}")),
            Event::Timer(timer) if !is_of_overlay(timer) => {
                witness.line(at, me, format_args!("is woken by {timer:?}"));
            }
            Event::Timer(_) => {}
            Event::Command(command) => {
                witness.line(at, me, format_args!("is told {}", short(command)));
            }
            Event::Restored(key, record) if !is_of_overlay(key) => {
                witness.line(at, me, format_args!("reads {key:?}: {}", short(record)));
            }
            Event::Restored(..) => {}
        }
    }
}

/// Whether a message is worth a line in a trace.
fn is_news<M: Subject>(message: &M::Message, witness: &Witness) -> bool {
    witness.traces_all() || !M::GOSSIP.contains(&message.kind())
}

/// Whether a timer or a key belongs to periodic work, which traces leave out.
fn is_of_overlay(name: &impl core::fmt::Debug) -> bool {
    let name = format!("{name:?}");
    ["Overlay", "Helper", "Beat", "Round"]
        .iter()
        .any(|quiet| name.starts_with(quiet))
}

/// The debug text of a value, cut at 400 characters.
fn short(value: &impl core::fmt::Debug) -> String {
    const MOST: usize = 400;
    let mut text = format!("{value:?}");
    if let Some((cut, _)) = text.char_indices().nth(MOST) {
        text.truncate(cut);
        text.push('…');
    }
    text
}

impl<M: Subject> Machine for Player<M> {
    type Message = M::Message;
    type Timer = M::Timer;
    type Command = Command;
    type Notice = Notice;
    type Key = M::Key;
    type Record = M::Record;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        let now = cx.now();
        if self.role.witness.traces() {
            self.trace(now, &event);
        }
        let mut unasked = None;
        match &event {
            Event::Timer(timer) => {
                self.timers.remove(timer);
            }
            Event::Restored(key, _) => {
                self.records.insert(*key, ());
            }
            Event::Message { from, message } => {
                if let Some(liar) = &mut self.liar {
                    unasked = liar.hears(*from, message, &self.role.witness);
                }
            }
            _ => {}
        }
        let event = self.seen(event);
        let mut through = Through {
            cx,
            role: &self.role,
            liar: &mut self.liar,
            timers: &mut self.timers,
            records: &mut self.records,
            effects: 0,
            exceeded: &mut self.exceeded,
        };
        self.machine.handle(event, &mut through);
        let effects = through.effects;
        let caps = &self.role.caps;
        if effects > caps.effects {
            self.exceeded = Some(MOST_EFFECTS);
        }
        if self.records.len() > caps.records {
            self.exceeded = Some(MOST_RECORDS);
        }
        if self.timers.len() > caps.timers {
            self.exceeded = Some(MOST_TIMERS);
        }
        self.role.witness.most([
            ("most effects of an event", effects),
            ("most records of a node", self.records.len()),
            ("most timers of a node", self.timers.len()),
        ]);
        if let Some((to, message)) = unasked {
            cx.send(to, message);
        }
    }

    fn check(&self) -> Result<(), Violation> {
        self.machine.check()?;
        match self.exceeded {
            Some(invariant) => Err(Violation { invariant }),
            None => Ok(()),
        }
    }
}

/// The context of the inner machine: shifts times, counts effects, and applies lies and flaws.
struct Through<'a, M: Subject> {
    cx: &'a mut dyn Context<Player<M>>,
    role: &'a Role,
    liar: &'a mut Option<Liar<M>>,
    timers: &'a mut SortedMap<M::Timer, ()>,
    records: &'a mut SortedMap<M::Key, ()>,
    effects: usize,
    exceeded: &'a mut Option<&'static str>,
}

impl<M: Subject> Through<'_, M> {
    fn carry_out(&mut self, effect: Effect<M>) {
        let clock = self.role.clock;
        match effect {
            Effect::Persist(key, record) => {
                self.records.insert(key, ());
                self.cx.persist(key, record);
            }
            Effect::Forget(key) => {
                self.records.remove(&key);
                self.cx.forget(key);
            }
            Effect::Send { to, message } => self.send_out(to, message),
            Effect::Wake {
                at: Time::MAX,
                timer,
            } => {
                self.timers.remove(&timer);
                self.cx.cancel(timer);
            }
            Effect::Wake { at, timer } => {
                self.timers.insert(timer, ());
                self.cx.wake(at - clock, timer);
            }
            Effect::Cancel(timer) => {
                self.timers.remove(&timer);
                self.cx.cancel(timer);
            }
            Effect::Notify(notice) => self.cx.notify(notice),
        }
    }

    fn send_out(&mut self, to: NodeId, message: M::Message) {
        let witness = &self.role.witness;
        if let Some(situation) = M::situation(&message) {
            witness.count(situation);
        }
        let bytes = encoded_len(&message);
        witness.most([("most bytes of a message", bytes)]);
        if bytes > self.role.caps.bytes {
            *self.exceeded = Some(MOST_BYTES);
        }
        match self.liar {
            None => self.cx.send(to, message),
            Some(liar) => {
                for (to, message) in liar.says(to, message, witness) {
                    self.cx.send(to, message);
                }
            }
        }
    }

    fn show(&self, effect: &Effect<M>) {
        let (at, witness, me) = (self.cx.now(), &self.role.witness, &self.role.me);
        match effect {
            Effect::Persist(key, record) if !is_of_overlay(key) => {
                witness.line(at, me, format_args!("  writes {key:?}: {}", short(record)));
            }
            Effect::Forget(key) => witness.line(at, me, format_args!("  erases {key:?}")),
            Effect::Send { to, message } if is_news::<M>(message, witness) => {
                witness.line(at, me, format_args!("  says to {to}: {}", short(message)));
            }
            Effect::Notify(Notice { job, news }) => {
                witness.line(at, me, format_args!("  tells of {job}: {news:?}"));
            }
            _ => {}
        }
    }
}

impl<M: Subject> Context<M> for Through<'_, M> {
    fn now(&self) -> Time {
        self.cx.now() + self.role.clock
    }

    fn rng(&mut self) -> &mut dyn Rng {
        self.cx.rng()
    }

    fn trace(&mut self, trace: Trace) {
        let Role { me, witness, .. } = &self.role;
        if witness.traces() {
            witness.line(self.cx.now(), me, format_args!("  ({trace})"));
        }
    }

    fn push(&mut self, effect: Effect<M>) {
        if self.role.witness.traces() {
            self.show(&effect);
        }
        let times = flaw::times(self.role.flaw, self.role.me, &effect);
        self.effects += times as usize;
        for _ in 1..times {
            self.carry_out(effect.clone());
        }
        if times > 0 {
            self.carry_out(effect);
        }
    }
}
