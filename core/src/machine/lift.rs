use super::{Context, Effect, Machine};
use crate::id::NodeId;
use crate::time::Time;
use crate::trace::Trace;

/// How a child machine's output becomes its parent's.
///
/// If a parent has two children, each needs messages, timers and keys of its own in the parent, so that the parent can
/// give each event to the right child.
pub trait Embed<Child: Machine, Parent: Machine> {
    /// The parent's message that carries the child's.
    fn message(&mut self, message: Child::Message) -> Parent::Message;

    /// The parent's timer that stands for the child's.
    fn timer(&mut self, timer: Child::Timer) -> Parent::Timer;

    /// The parent's key that stands for the child's.
    fn key(&mut self, key: Child::Key) -> Parent::Key;

    /// The parent's record that carries the child's.
    fn record(&mut self, record: Child::Record) -> Parent::Record;

    /// Handles a notice of the child. Effects pushed here stand among the child's effects, in order: the notice itself,
    /// or a record that must be durable before the child's next effect. To act later, keep the notice in `self` until
    /// the child has returned.
    fn notice(&mut self, notice: Child::Notice, cx: &mut dyn Context<Parent>);
}

impl<Child: Machine, Parent: Machine, E: Embed<Child, Parent>> Embed<Child, Parent> for &mut E {
    fn message(&mut self, message: Child::Message) -> Parent::Message {
        (**self).message(message)
    }
    fn timer(&mut self, timer: Child::Timer) -> Parent::Timer {
        (**self).timer(timer)
    }
    fn key(&mut self, key: Child::Key) -> Parent::Key {
        (**self).key(key)
    }
    fn record(&mut self, record: Child::Record) -> Parent::Record {
        (**self).record(record)
    }
    fn notice(&mut self, notice: Child::Notice, cx: &mut dyn Context<Parent>) {
        (**self).notice(notice, cx);
    }
}

/// The context of a child inside its parent's; made by `cx.lift(embed)`.
pub struct Lifted<'a, Parent: Machine, E> {
    now: Time,
    parent: &'a mut (dyn Context<Parent> + 'a),
    embed: E,
}

impl<'a, Parent: Machine, E> Lifted<'a, Parent, E> {
    pub(super) fn new(parent: &'a mut (dyn Context<Parent> + 'a), embed: E) -> Self {
        Self {
            now: parent.now(),
            parent,
            embed,
        }
    }
}

impl<Child, Parent, E> Context<Child> for Lifted<'_, Parent, E>
where
    Child: Machine,
    Parent: Machine,
    E: Embed<Child, Parent>,
{
    fn now(&self) -> Time {
        self.now
    }

    fn rng(&mut self) -> &mut dyn rand_core::Rng {
        self.parent.rng()
    }

    fn push(&mut self, effect: Effect<Child>) {
        let embed = &mut self.embed;
        self.parent.push(match effect {
            Effect::Persist(key, record) => Effect::Persist(embed.key(key), embed.record(record)),
            Effect::Forget(key) => Effect::Forget(embed.key(key)),
            Effect::Send { to, message } => Effect::Send {
                to,
                message: embed.message(message),
            },
            Effect::Wake { at, timer } => Effect::Wake {
                at,
                timer: embed.timer(timer),
            },
            Effect::Cancel(timer) => Effect::Cancel(embed.timer(timer)),
            Effect::Notify(notice) => return embed.notice(notice, self.parent),
        });
    }

    fn trace(&mut self, trace: Trace) {
        self.parent.trace(trace);
    }

    /// Like pushing the effect, but moves the message once less.
    fn send(&mut self, to: NodeId, message: Child::Message) {
        let message = self.embed.message(message);
        self.parent.send(to, message);
    }

    fn wake(&mut self, at: Time, timer: Child::Timer) {
        let timer = self.embed.timer(timer);
        self.parent.wake(at, timer);
    }
}
