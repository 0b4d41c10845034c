//! Which waiting jobs may gain by a move, so that an advert is worth its flood.

use alloc::vec::Vec;

use super::Aria;
use super::config::Rescheduling;
use crate::id::JobId;
use crate::job::Scope;
use crate::queue::{Change, LocalScheduler};
use crate::time::{Span, Time};

/// In a long queue one of so many jobs is advertised at a time.
const SHARE: usize = 8;

/// The longest pause before a job is advertised again, in periods.
const MOST_PERIODS: u64 = 16;

/// The last adverts of the jobs that wait here, in the order of jobs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Past(Vec<Told>);

/// The last advert of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Told {
    job: JobId,
    at: Time,
    /// When the job was expected to end.
    end: Time,
    /// How long to wait before the next advert if nothing changes.
    pause: Span,
}

impl Past {
    pub(super) const fn none() -> Self {
        Self(Vec::new())
    }

    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_sound(&self) -> bool {
        self.0.is_sorted_by(|a, b| a.job < b.job)
    }

    fn of(&self, job: JobId) -> Option<&Told> {
        let index = self.0.binary_search_by_key(&job, |told| told.job).ok()?;
        self.0.get(index)
    }

    fn note(&mut self, told: Told) {
        match self.0.binary_search_by_key(&told.job, |known| known.job) {
            Ok(index) => {
                if let Some(known) = self.0.get_mut(index) {
                    *known = told;
                }
            }
            Err(index) => self.0.insert(index, told),
        }
    }
}

/// A job that waits here.
#[derive(Clone, Copy)]
struct Waits {
    job: JobId,
    submitted: Time,
    deadline: Option<Time>,
    /// When it is expected to start and to end.
    expected: Option<(Time, Time)>,
}

impl<S: LocalScheduler> Aria<S> {
    /// The waiting jobs that may gain the threshold, and that were not advertised in vain a short while ago. Jobs with
    /// deadlines come first, the least time to spare first; then the jobs advertised least recently.
    pub(super) fn promising(&mut self, rules: Rescheduling, now: Time) -> Vec<JobId> {
        let mut waiting = self.expected_to_wait(now);
        self.past
            .0
            .retain(|told| find(&mut waiting, told.job).is_some());
        let most = usize::from(rules.jobs).max(waiting.len() / SHARE);
        let mut chosen: Vec<((bool, i128, Time), Told)> = Vec::new();
        for waits in waiting {
            let Some((start, end)) = waits.expected else {
                continue;
            };
            if start < now + rules.threshold || self.adverts.about(waits.job).is_some() {
                continue;
            }
            let (last, pause) = match self.past.of(waits.job) {
                None => (Time::ZERO, rules.period),
                Some(told) if end >= told.end + rules.threshold => (told.at, rules.period),
                Some(told) if now >= told.at + told.pause => {
                    let most = rules.period.times(MOST_PERIODS);
                    (told.at, told.pause.times(2).min(most))
                }
                Some(_) => continue,
            };
            let urgency = match waits.deadline {
                None => i128::from(last.as_micros()),
                Some(due) => {
                    i128::from(due.as_micros()).saturating_sub(i128::from(end.as_micros()))
                }
            };
            let told = Told {
                job: waits.job,
                at: now,
                end,
                pause,
            };
            chosen.push(((waits.deadline.is_none(), urgency, waits.submitted), told));
        }
        chosen.sort_unstable_by_key(|(order, told)| (*order, told.job));
        chosen.truncate(most);
        for (_, told) in &chosen {
            self.past.note(*told);
        }
        chosen.into_iter().map(|(_, told)| told.job).collect()
    }

    /// The jobs that wait here and may move, in the order of jobs.
    fn expected_to_wait(&self, now: Time) -> Vec<Waits> {
        let movable = self
            .custody
            .waiting()
            .filter(|job| job.scope != Scope::Here);
        let mut waiting: Vec<Waits> = movable
            .map(|job| Waits {
                job: job.id,
                submitted: job.submitted,
                deadline: job.deadline,
                expected: None,
            })
            .collect();
        if !waiting.is_empty() {
            waiting.sort_unstable_by_key(|waits| waits.job);
            self.site
                .local
                .forecast(now, Change::None, &mut |expected| {
                    if let Some(waits) = find(&mut waiting, expected.job) {
                        waits.expected = Some((expected.start, expected.end));
                    }
                });
        }
        waiting
    }
}

/// The job of this name, of jobs in the order of names.
fn find(waiting: &mut [Waits], job: JobId) -> Option<&mut Waits> {
    let index = waiting.binary_search_by_key(&job, |waits| waits.job).ok()?;
    waiting.get_mut(index)
}
