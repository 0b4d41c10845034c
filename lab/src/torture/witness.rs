//! What is recorded in a run: counts, and a readable trace if wanted.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gridweave_core::time::Time;

/// How often things happened, by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counters(BTreeMap<&'static str, u64>);

impl Counters {
    /// Adds to the count of this name.
    pub fn add(&mut self, name: &'static str, count: u64) {
        if count > 0 {
            *self.0.entry(name).or_default() += count;
        }
    }

    /// Raises the count of this name to at least this value.
    pub fn at_least(&mut self, name: &'static str, count: u64) {
        let known = self.0.entry(name).or_default();
        *known = (*known).max(count);
    }

    /// How often something happened.
    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// All counts, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.0.iter().map(|(name, count)| (*name, *count))
    }

    /// Adds the counts of another run; of a maximum, keeps the larger.
    pub fn merge(&mut self, other: &Self) {
        for (name, count) in other.iter() {
            if name.starts_with(MOST) {
                self.at_least(name, count);
            } else {
                self.add(name, count);
            }
        }
    }
}

/// The prefix of names that count a maximum.
pub(super) const MOST: &str = "most ";

/// A handle on the counts and the trace, shared by all nodes of a run. It is no part of their state.
#[derive(Clone)]
pub(super) struct Witness {
    seen: Arc<Mutex<Seen>>,
    traced: Traced,
}

/// What a trace shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Traced {
    /// There is no trace.
    Nothing,
    /// What concerns jobs.
    Jobs,
    /// All messages, also those that maintain overlays.
    All,
}

#[derive(Debug, Default)]
struct Seen {
    counters: Counters,
    trace: Vec<String>,
}

impl Witness {
    pub(super) fn new(traced: Traced) -> Self {
        Self {
            seen: Arc::default(),
            traced,
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the trace shows all messages.
    pub(super) fn traces_all(&self) -> bool {
        self.traced == Traced::All
    }

    /// Whether there is a trace.
    pub(super) fn traces(&self) -> bool {
        self.traced != Traced::Nothing
    }

    pub(super) fn count(&self, name: &'static str) {
        self.seen().counters.add(name, 1);
    }

    pub(super) fn add(&self, name: &'static str, count: u64) {
        self.seen().counters.add(name, count);
    }

    /// Raises each count to at least its value here.
    pub(super) fn most<const N: usize>(&self, values: [(&'static str, usize); N]) {
        let mut seen = self.seen();
        for (name, value) in values {
            seen.counters.at_least(name, value as u64);
        }
    }

    /// Adds a line to the trace, if there is one.
    pub(super) fn line(&self, at: Time, who: &dyn fmt::Display, what: fmt::Arguments<'_>) {
        if self.traces() {
            let line = format!("{:>14} {who:>5} {what}", format!("{at:?}"));
            self.seen().trace.push(line);
        }
    }

    /// Takes the counts and the trace out.
    pub(super) fn take(&self) -> (Counters, Vec<String>) {
        let seen = std::mem::take(&mut *self.seen());
        (seen.counters, seen.trace)
    }
}

impl PartialEq for Witness {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Witness {}

impl Hash for Witness {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Witness")
    }
}
