use core::marker::PhantomData;

use super::{Context, Effect, Machine};
use crate::time::Time;

/// How a child machine's output becomes its parent's.
///
/// Mind that two children of a parent need messages, timers and keys of their own in it, so that what comes back finds its
/// child.
pub trait Embed<Child: Machine, Parent: Machine> {
    /// The parent's message that carries the child's.
    fn message(&mut self, message: Child::Message) -> Parent::Message;

    /// The parent's timer that stands for the child's.
    fn timer(&mut self, timer: Child::Timer) -> Parent::Timer;

    /// The parent's key that stands for the child's.
    fn key(&mut self, key: Child::Key) -> Parent::Key;

    /// The parent's record that carries the child's.
    fn record(&mut self, record: Child::Record) -> Parent::Record;

    /// What becomes of a notice. Whatever is pushed takes its place among the child's effects, in order: the notice itself,
    /// or what has to last before the child goes on. To act on it later, keep it in `self`; the parent looks after the
    /// child has returned.
    fn notice(&mut self, notice: Child::Notice, cx: &mut impl Context<Parent>);
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
    fn notice(&mut self, notice: Child::Notice, cx: &mut impl Context<Parent>) {
        (**self).notice(notice, cx);
    }
}

/// The context of a child inside its parent's; made by [`Context::lift`].
#[derive(Debug)]
pub struct Lifted<'a, C, Parent, E> {
    parent: &'a mut C,
    embed: E,
    of: PhantomData<fn(Parent)>,
}

impl<'a, C, Parent, E> Lifted<'a, C, Parent, E> {
    pub(super) fn new(parent: &'a mut C, embed: E) -> Self {
        Self {
            parent,
            embed,
            of: PhantomData,
        }
    }
}

impl<C, Child, Parent, E> Context<Child> for Lifted<'_, C, Parent, E>
where
    Child: Machine,
    Parent: Machine,
    C: Context<Parent>,
    E: Embed<Child, Parent>,
{
    type Rng = C::Rng;

    fn now(&self) -> Time {
        self.parent.now()
    }

    fn rng(&mut self) -> &mut Self::Rng {
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
}
