//! The steps of layers as they are taken, for the proofs in `tests/proofs`. Only with `--cfg canary`.
//!
//! A layer that was proved shows each of its steps to the one function that was given to [`watch`], wherever it runs: alone
//! or within a scheduler, on any host.

use alloc::vec::Vec;
use core::fmt::Debug;
use std::sync::OnceLock;

use rand_core::Rng;

use crate::machine::{Context, Effect, Event, Machine};
use crate::time::Time;
use crate::trace::Trace;

/// A machine before and after an event, with its effects. Timers are left out.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The time of the event.
    pub now: Time,
    /// The event.
    pub event: &'a dyn Debug,
    /// The machine before.
    pub before: &'a dyn Debug,
    /// The machine after.
    pub after: &'a dyn Debug,
    /// What the machine told its host to do.
    pub effects: &'a dyn Debug,
}

static WATCH: OnceLock<fn(&Step<'_>)> = OnceLock::new();

/// Shows all steps to this function from now on. Only the first call counts.
pub fn watch(by: fn(&Step<'_>)) {
    WATCH.get_or_init(|| by);
}

struct Seen<'a, M: Machine> {
    cx: &'a mut dyn Context<M>,
    effects: Vec<Effect<M>>,
}

impl<M: Machine> Context<M> for Seen<'_, M> {
    fn now(&self) -> Time {
        self.cx.now()
    }

    fn rng(&mut self) -> &mut dyn Rng {
        self.cx.rng()
    }

    fn push(&mut self, effect: Effect<M>) {
        if !matches!(effect, Effect::Wake { .. } | Effect::Cancel(_)) {
            self.effects.push(effect.clone());
        }
        self.cx.push(effect);
    }

    fn trace(&mut self, trace: Trace) {
        self.cx.trace(trace);
    }
}

/// Lets a machine take a step, and shows it. Records are taken back silently: the step is the start behind them.
pub(crate) fn show<M: Machine>(
    machine: &mut M,
    event: Event<M>,
    cx: &mut dyn Context<M>,
    take: impl FnOnce(&mut M, Event<M>, &mut dyn Context<M>),
) {
    let watch = WATCH
        .get()
        .filter(|_| !matches!(event, Event::Restored(..)));
    let Some(watch) = watch else {
        return take(machine, event, cx);
    };
    let (now, before, shown) = (cx.now(), machine.clone(), event.clone());
    let effects = Vec::new();
    let mut seen = Seen { cx, effects };
    take(machine, event, &mut seen);
    watch(&Step {
        now,
        event: &shown,
        before: &before,
        after: machine,
        effects: &seen.effects,
    });
}
