use super::{Context, Machine};
use crate::time::Time;

/// The only timer of a machine that, whenever it rings, does all that is due.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Alarm {
    /// The time for which it is set, if it is set.
    at: Option<Time>,
}

impl Alarm {
    /// Sets the timer for the first of these times, unless it is set for that already. [`Time::MAX`] means never.
    pub(crate) fn set<M: Machine>(
        &mut self,
        due: impl Iterator<Item = Time>,
        timer: M::Timer,
        cx: &mut dyn Context<M>,
    ) {
        let first = due.min().filter(|at| *at < Time::MAX);
        if first != self.at {
            self.at = first;
            match first {
                Some(at) => cx.wake(at, timer),
                None => cx.cancel(timer),
            }
        }
    }

    /// The timer has rung, and is no longer set.
    pub(crate) const fn rang(&mut self) {
        self.at = None;
    }
}
