//! How long jobs of the site's own users really run. Users ask for far more time than they need, so that a forecast from
//! time limits is too late by hours; what a user's last jobs took tells more.

use std::collections::BTreeMap;

use gridweave_core::id::JobId;
use gridweave_core::time::{Span, Time};

use super::listing::{Listed, State};

/// The most users that are remembered; one that was not seen to end a job for longest is forgotten first.
const MOST: usize = 10_000;

/// If the site was silent for longer, ends in between are too uncertain to learn from.
const SILENT: Span = Span::from_secs(600);

/// The last job of a user counts for this part of what is expected of the next one.
const PART: u64 = 4;

/// What the jobs of each user took lately.
#[derive(Default)]
pub(super) struct Habits {
    /// Jobs that ran at the last poll: their users, and when they started.
    running: BTreeMap<JobId, (String, Time)>,
    /// When that was.
    polled: Time,
    users: BTreeMap<String, Habit>,
}

struct Habit {
    took: Span,
    at: Time,
}

impl Habits {
    /// Learns from jobs that ran at the last poll and do not any more. `running` are those that run now.
    pub(super) fn note<'a>(
        &mut self,
        running: impl Iterator<Item = (JobId, &'a Listed)>,
        now: Time,
    ) {
        let mut still = BTreeMap::new();
        for (name, listed) in running {
            if let (State::Running, Some(start)) = (listed.state, listed.start) {
                still.insert(name, (listed.user.clone(), start));
            }
        }
        for (name, (user, start)) in std::mem::take(&mut self.running) {
            if !still.contains_key(&name) && now <= self.polled + SILENT {
                self.learn(user, now - start, now);
            }
        }
        (self.running, self.polled) = (still, now);
    }

    fn learn(&mut self, user: String, took: Span, at: Time) {
        let habit = self.users.entry(user).or_insert(Habit { took, at });
        let before = habit.took.as_micros();
        let after = before - before / PART + took.as_micros() / PART;
        (habit.took, habit.at) = (Span::from_micros(after), at);
        if self.users.len() > MOST {
            let oldest = self.users.iter().min_by_key(|(_, habit)| habit.at);
            if let Some(user) = oldest.map(|(user, _)| user.clone()) {
                self.users.remove(&user);
            }
        }
    }

    /// How long a job is expected to run, at most its time limit. One that has run for longer than its user's last jobs is
    /// expected to take twice as long, and so on.
    pub(super) fn expected(&self, listed: &Listed, limit: Span, now: Time) -> Span {
        let Some(habit) = self.users.get(&listed.user) else {
            return limit;
        };
        let ran = match (listed.state, listed.start) {
            (State::Running, Some(start)) => now - start,
            _ => Span::ZERO,
        };
        let mut expected = habit.took.max(Span::from_secs(1));
        while expected <= ran && expected < limit {
            expected = expected.times(2);
        }
        expected.min(limit)
    }
}

/// What was told before, unless it differs by a quarter or more: else each job that ends would have all jobs of its user
/// told anew.
pub(super) fn steady(before: Span, now: Span) -> Span {
    let by = before.as_micros().abs_diff(now.as_micros());
    match by < before.as_micros() / 4 {
        true => before,
        false => now,
    }
}
