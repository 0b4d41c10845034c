//! [`SiteQueue`] beside a list that is sorted anew for every question.

use core::num::NonZeroU32;

use gridweave_core::id::JobId;
use gridweave_core::queue::{Cost, Policy, QueueError, QueuedJob, SiteQueue};
use gridweave_core::resource::Speed;
use gridweave_core::time::{Span, Time};
use proptest::prelude::*;

use super::Twins;

const LIMIT: usize = 5;

/// Sites under each policy at once, at two thirds of baseline speed.
#[derive(Clone, Debug)]
pub struct Sites;

/// One operation on all sites.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "named after the methods they call")]
pub enum Step {
    Push(QueuedJob),
    Remove(JobId),
    StartNext(Time),
    Finish(JobId),
    Costs { now: Time, candidate: QueuedJob },
}

/// What one site answers, in words.
pub type Answer = Vec<String>;

/// A site as an unordered list with arrival numbers.
#[derive(Clone, Debug)]
pub struct List {
    policy: Policy,
    running: Option<(QueuedJob, Time)>,
    waiting: Vec<(usize, QueuedJob)>,
    arrivals: usize,
}

const POLICIES: [Policy; 3] = [
    Policy::FirstCome,
    Policy::ShortestFirst,
    Policy::EarliestDeadline,
];

fn speed() -> Speed {
    Speed::from_millionths(NonZeroU32::new(666_667).unwrap())
}

impl List {
    fn in_order(&self, candidate: Option<QueuedJob>) -> Vec<QueuedJob> {
        let mut all = self.waiting.clone();
        all.extend(candidate.map(|job| (usize::MAX, job)));
        all.sort_by_key(|(arrival, job)| {
            let key = match self.policy {
                Policy::FirstCome => 0,
                Policy::ShortestFirst => job.estimate.as_micros(),
                Policy::EarliestDeadline => job.deadline.map_or(u64::MAX, Time::as_micros),
            };
            (key, *arrival)
        });
        all.into_iter().map(|(_, job)| job).collect()
    }

    /// Each job in the order it will end, with its end in microseconds from the origin.
    fn ends(&self, now: Time, candidate: Option<QueuedJob>) -> Vec<(QueuedJob, i128)> {
        let needs = |job: &QueuedJob| {
            (i128::from(job.estimate.as_micros()) * 1_000_000 + 666_666) / 666_667
        };
        let mut clock = i128::from(now.as_micros());
        let mut ends = Vec::new();
        if let Some((job, started)) = self.running {
            // A clock that was set back has seen nothing of the job.
            let elapsed = (clock - i128::from(started.as_micros())).max(0);
            let left = needs(&job) - elapsed;
            let overrun = i128::from(SiteQueue::OVERRUN.as_micros());
            clock += if left > 0 { left } else { overrun };
            ends.push((job, clock));
        }
        for job in self.in_order(candidate) {
            clock += needs(&job);
            ends.push((job, clock));
        }
        ends
    }

    fn lateness(&self, now: Time, candidate: Option<QueuedJob>) -> i128 {
        let gammas: Vec<i128> = (self.ends(now, candidate).iter())
            .filter_map(|(job, end)| Some(i128::from(job.deadline?.as_micros()) - end))
            .collect();
        let someone_is_late = gammas.iter().any(|gamma| *gamma < 0);
        let delta = |gamma: &i128| match (*gamma >= 0, someone_is_late) {
            (true, false) => -1,
            (true, true) => 0,
            (false, _) => 1,
        };
        gammas.iter().map(|gamma| delta(gamma) * gamma.abs()).sum()
    }

    fn step(&mut self, step: &Step) -> String {
        match *step {
            Step::Push(job) => {
                let known = self.running.iter().map(|(running, _)| running);
                let mut known = known.chain(self.waiting.iter().map(|(_, job)| job));
                let pushed = if known.any(|other| other.job == job.job) {
                    Err(QueueError::Known)
                } else if self.waiting.len() + self.running.iter().len() == LIMIT {
                    Err(QueueError::Full)
                } else {
                    self.waiting.push((self.arrivals, job));
                    self.arrivals += 1;
                    Ok(())
                };
                format!("{pushed:?}")
            }
            Step::Remove(id) => {
                let found = self
                    .waiting
                    .iter()
                    .find(|(_, job)| job.job == id)
                    .map(|(_, job)| *job);
                self.waiting.retain(|(_, job)| job.job != id);
                format!("{found:?}")
            }
            Step::StartNext(now) => {
                let first = self
                    .in_order(None)
                    .first()
                    .copied()
                    .filter(|_| self.running.is_none());
                if let Some(job) = first {
                    self.waiting.retain(|(_, other)| other.job != job.job);
                    self.running = Some((job, now));
                }
                format!("{first:?}")
            }
            Step::Finish(id) => {
                let ran = self.running.take_if(|(job, _)| job.job == id);
                format!("{:?}", ran.is_some())
            }
            Step::Costs { now, candidate } => {
                let ends = self.ends(now, Some(candidate));
                let own = ends.iter().rfind(|(job, _)| *job == candidate).unwrap().1;
                let with = self.lateness(now, Some(candidate));
                let without = self.lateness(now, None);
                let waiting: Vec<_> = (self.ends(now, None).iter())
                    .skip(self.running.iter().len())
                    .map(|(_, end)| end - i128::from(now.as_micros()))
                    .collect();
                format!(
                    "{} {waiting:?} {with} {without} {}",
                    own - i128::from(now.as_micros()),
                    with - without
                )
            }
        }
    }
}

fn real_step(site: &mut SiteQueue, step: &Step) -> String {
    match *step {
        Step::Push(job) => format!("{:?}", site.push(job)),
        Step::Remove(job) => format!("{:?}", site.remove(job)),
        Step::StartNext(now) => format!("{:?}", site.start_next(now)),
        Step::Finish(job) => format!("{:?}", site.finish(job).is_ok()),
        Step::Costs { now, candidate } => {
            let micros = Cost::as_micros;
            let waiting: Vec<_> = (site.waiting().iter())
                .map(|job| micros(site.completion_of(now, job.job).unwrap()))
                .collect();
            format!(
                "{} {waiting:?} {} {} {}",
                micros(site.completion_with(now, &candidate)),
                micros(site.lateness_with(now, &candidate)),
                micros(site.lateness(now)),
                micros(site.added_lateness(now, &candidate))
            )
        }
    }
}

impl Twins for Sites {
    type Step = Step;
    type Answer = Answer;
    type Model = Vec<List>;
    type Real = Vec<SiteQueue>;

    fn begin() -> (Vec<List>, Vec<SiteQueue>) {
        let list = |policy| List {
            policy,
            running: None,
            waiting: Vec::new(),
            arrivals: 0,
        };
        let site = |policy| SiteQueue::new(policy, speed(), LIMIT);
        (POLICIES.map(list).to_vec(), POLICIES.map(site).to_vec())
    }

    fn steps() -> BoxedStrategy<Step> {
        let time = || (0..60_u64).prop_map(Time::from_secs);
        let id = || (0..9_u64).prop_map(JobId::new);
        let job = |id: BoxedStrategy<JobId>| {
            (id, 1..120_u64, prop::option::of(0..80_u64)).prop_map(|(job, estimate, deadline)| {
                let deadline = deadline.map(Time::from_secs);
                QueuedJob {
                    deadline,
                    ..QueuedJob::new(job, Span::from_millis(100 * estimate))
                }
            })
        };
        // A candidate is never one of those already there.
        let candidate = job(Just(JobId::new(99)).boxed());
        prop_oneof![
            4 => job(id().boxed()).prop_map(Step::Push),
            1 => id().prop_map(Step::Remove),
            2 => time().prop_map(Step::StartNext),
            2 => id().prop_map(Step::Finish),
            3 => (time(), candidate).prop_map(|(now, candidate)| Step::Costs { now, candidate }),
        ]
        .boxed()
    }

    fn model(lists: &mut Vec<List>, step: &Step) -> Answer {
        lists.iter_mut().map(|list| list.step(step)).collect()
    }

    fn real(sites: &mut Vec<SiteQueue>, step: &Step) -> Answer {
        sites.iter_mut().map(|site| real_step(site, step)).collect()
    }

    fn compare(lists: &Vec<List>, sites: &Vec<SiteQueue>) {
        for (list, site) in lists.iter().zip(sites) {
            site.check().unwrap();
            assert_eq!(site.waiting(), list.in_order(None));
            assert_eq!(site.running().map(|r| (r.job, r.started)), list.running);
        }
    }
}
