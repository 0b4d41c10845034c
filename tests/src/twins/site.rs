//! [`SiteQueue`] beside a list that is sorted anew for every question, and plans by trying every time at which
//! something changes.

use core::num::NonZeroU32;

use gridweave_core::id::{JobId, OrganisationId};
use gridweave_core::queue::{
    Change, Expected, Lateness, LocalScheduler, Policy, Priorities, QueueError, QueuedJob,
    SiteQueue, Window, WindowError, offer, present_cost,
};
use gridweave_core::resource::Speed;
use gridweave_core::time::{Interval, Span, Time};
use proptest::prelude::*;

use super::Twins;

const LIMIT: usize = 7;

/// Sites of all kinds at once, at two thirds of baseline speed: all policies, one processor or three, with and without
/// backfilling. Steps that do not suit some of them are refused there.
#[derive(Clone, Debug)]
pub struct Sites;

/// One operation on all sites.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "named after the methods they call")]
pub enum Step {
    Push(QueuedJob),
    Withdraw(JobId),
    StartNext(Time),
    Finish(Time, JobId),
    Reserve(Time, Window),
    Ask { now: Time, candidate: QueuedJob },
}

/// What each site answers, in words.
pub type Answer = Vec<String>;

/// A site as unordered lists, in microseconds.
#[derive(Clone, Debug)]
pub struct List {
    policy: Policy,
    processors: i128,
    backfills: bool,
    running: Vec<(QueuedJob, i128)>,
    waiting: Vec<(usize, QueuedJob)>,
    windows: Vec<Window>,
    arrivals: usize,
}

/// Processors that are taken: from when, until when, how many.
type Taken = (i128, i128, i128);

fn speed() -> Speed {
    Speed::from_millionths(NonZeroU32::new(666_667).unwrap())
}

fn needs(job: &QueuedJob) -> i128 {
    ((i128::from(job.estimate.as_micros()) * 1_000_000 + 666_666) / 666_667).max(1)
}

fn wants(job: &QueuedJob) -> i128 {
    i128::from(job.processors.get())
}

fn micros(at: Time) -> i128 {
    i128::from(at.as_micros())
}

/// Organisation 1 has class 2, organisation 2 class 1; a class is worth 10 s.
fn class(job: &QueuedJob) -> i128 {
    match job.submitter.organisation.get() {
        1 => 2,
        2 => 1,
        _ => 0,
    }
}

fn priorities() -> Priorities {
    let priorities = Priorities::ageing(Span::from_secs(10));
    let priorities = priorities.with(OrganisationId::new(1), 2).unwrap();
    priorities.with(OrganisationId::new(2), 1).unwrap()
}

/// How many processors are taken at that time.
fn taken_at(taken: &[Taken], at: i128) -> i128 {
    let then = taken.iter().filter(|(from, to, _)| *from <= at && at < *to);
    then.map(|(_, _, count)| count).sum()
}

impl List {
    fn in_order(&self, candidate: Option<QueuedJob>) -> Vec<QueuedJob> {
        let mut all = self.waiting.clone();
        all.extend(candidate.map(|job| (usize::MAX, job)));
        all.sort_by_key(|(arrival, job)| {
            let key = match self.policy {
                Policy::FirstCome => 0,
                Policy::ShortestFirst => i128::from(job.estimate.as_micros()),
                Policy::EarliestDeadline => job.deadline.map_or(i128::MAX, micros),
                // Minus the priority at a time after all others.
                Policy::Priority(_) => {
                    -(class(job) * 10_000_000 + (1 << 40) - micros(job.submitted))
                }
            };
            (key, job.arrived, *arrival)
        });
        all.into_iter().map(|(_, job)| job).collect()
    }

    /// When running jobs are expected to end.
    fn ends(&self, now: i128) -> Vec<i128> {
        let overrun = i128::from(SiteQueue::OVERRUN.as_micros());
        let end = |(job, started): &(QueuedJob, i128)| started + needs(job);
        let ends = self.running.iter().map(end);
        ends.map(|end| if end > now { end } else { now + overrun })
            .collect()
    }

    /// The processors that running jobs and windows take.
    fn taken(&self, now: i128) -> Vec<Taken> {
        let running = self.running.iter().zip(self.ends(now));
        let running = running.map(|((job, _), end)| (now, end, wants(job)));
        let kept = self.windows.iter().map(|window| {
            let (start, end) = (window.interval.start(), window.interval.end());
            (
                micros(start),
                micros(end),
                i128::from(window.processors.get()),
            )
        });
        running.chain(kept).collect()
    }

    /// Whether a job that starts at `at` fits: looks at every time at which something changes.
    fn fits(&self, taken: &[Taken], job: &QueuedJob, at: i128) -> bool {
        let edges = taken.iter().flat_map(|(from, to, _)| [*from, *to]);
        let during = edges.filter(|edge| (at..at + needs(job)).contains(edge));
        let mut looked = during.chain([at]);
        looked.all(|look| taken_at(taken, look) + wants(job) <= self.processors)
    }

    fn earliest(&self, taken: &[Taken], job: &QueuedJob, from: i128) -> i128 {
        let edges = taken.iter().map(|(_, to, _)| *to).filter(|to| *to >= from);
        let mut starts: Vec<i128> = edges.chain([from]).collect();
        starts.sort_unstable();
        let mut starts = starts.into_iter();
        starts
            .find(|start| self.fits(taken, job, *start))
            .expect("in the end everything is free")
    }

    /// Each waiting job with its expected start.
    fn planned(&self, now: i128, order: &[QueuedJob]) -> Vec<(QueuedJob, i128)> {
        let mut taken = self.taken(now);
        let mut not_before = now;
        let mut planned = Vec::new();
        for job in order {
            if wants(job) > self.processors {
                planned.push((*job, micros(Time::MAX)));
                continue;
            }
            let start = self.earliest(&taken, job, not_before);
            taken.push((start, start + needs(job), wants(job)));
            if !self.backfills {
                not_before = start;
            }
            planned.push((*job, start));
        }
        planned
    }

    /// All that is expected, by job.
    fn forecast(&self, now: i128, order: &[QueuedJob]) -> Vec<(JobId, Option<Time>, i128, i128)> {
        let running = self.running.iter().zip(self.ends(now));
        let running = running.map(|((job, start), end)| (job.job, job.deadline, *start, end));
        let planned = self.planned(now, order).into_iter().map(|(job, start)| {
            let end = (start + needs(&job)).min(micros(Time::MAX));
            (job.job, job.deadline, start, end)
        });
        let mut all: Vec<_> = running.chain(planned).collect();
        all.sort_unstable_by_key(|(job, ..)| *job);
        all
    }

    fn lateness(&self, now: i128, order: &[QueuedJob]) -> i128 {
        let forecast = self.forecast(now, order);
        let gammas: Vec<i128> = (forecast.iter())
            .filter_map(|(_, deadline, _, end)| Some(micros((*deadline)?) - end))
            .collect();
        let someone_is_late = gammas.iter().any(|gamma| *gamma < 0);
        let delta = |gamma: &i128| match (*gamma >= 0, someone_is_late) {
            (true, false) => -1,
            (true, true) => 0,
            (false, _) => 1,
        };
        gammas.iter().map(|gamma| delta(gamma) * gamma.abs()).sum()
    }

    /// The job to start now: the head, or else, if the site backfills, a job that does not delay the head.
    fn next(&self, now: i128) -> Option<QueuedJob> {
        let order = self.in_order(None);
        let (head, behind) = order.split_first()?;
        let taken = self.taken(now);
        let used: i128 = self.running.iter().map(|(job, _)| wants(job)).sum();
        let starts =
            |job: &QueuedJob| used + wants(job) <= self.processors && self.fits(&taken, job, now);
        if starts(head) {
            return Some(*head);
        }
        let shadow = self.earliest(&taken, head, now);
        let delays = |job: &QueuedJob| {
            let mut beside = taken.clone();
            beside.push((now, now + needs(job), wants(job)));
            self.earliest(&beside, head, now) > shadow
        };
        let mut behind = behind.iter().filter(|_| self.backfills);
        behind.find(|job| starts(job) && !delays(job)).copied()
    }

    fn push(&mut self, job: QueuedJob) -> Result<(), QueueError> {
        let running = self.running.iter().map(|(running, _)| running);
        let mut known = running.chain(self.waiting.iter().map(|(_, job)| job));
        if wants(&job) > self.processors {
            return Err(QueueError::Unsuitable);
        }
        if known.any(|other| other.job == job.job) {
            return Err(QueueError::Known);
        }
        if self.waiting.len() + self.running.len() == LIMIT {
            return Err(QueueError::Full);
        }
        self.waiting.push((self.arrivals, job));
        self.arrivals += 1;
        Ok(())
    }

    fn reserve(&mut self, now: Time, window: Window) -> Result<(), WindowError> {
        self.drop_past(now);
        if window.interval.end() <= now {
            return Err(WindowError::Past);
        }
        if self.windows.len() == 16 {
            return Err(WindowError::TooMany);
        }
        let mut all = self.windows.clone();
        all.push(window);
        // Windows begin and end at whole seconds.
        let most = (0..200).map(Time::from_secs).map(|at| {
            let open = all.iter().filter(|window| window.interval.contains(at));
            open.map(|window| i128::from(window.processors.get())).sum()
        });
        if most.max() > Some(self.processors) {
            return Err(WindowError::TooLarge);
        }
        self.windows = all;
        Ok(())
    }

    fn drop_past(&mut self, now: Time) {
        self.windows.retain(|window| window.interval.end() > now);
    }

    fn step(&mut self, step: &Step) -> String {
        match *step {
            Step::Push(job) => format!("{:?}", self.push(job)),
            Step::Withdraw(id) => {
                let waiting = self.waiting.iter().find(|(_, job)| job.job == id);
                let found = waiting.map(|(_, job)| *job);
                self.waiting.retain(|(_, job)| job.job != id);
                format!("{found:?}")
            }
            Step::StartNext(now) => {
                self.drop_past(now);
                let next = self.next(micros(now));
                if let Some(job) = next {
                    self.waiting.retain(|(_, other)| other.job != job.job);
                    self.running.push((job, micros(now)));
                }
                format!("{:?}", next.map(|job| job.job))
            }
            Step::Finish(now, id) => {
                self.drop_past(now);
                let ran = self.running.iter().any(|(job, _)| job.job == id);
                self.running.retain(|(job, _)| job.job != id);
                format!("{ran:?}")
            }
            Step::Reserve(now, window) => format!("{:?}", self.reserve(now, window)),
            Step::Ask { now, candidate } => self.answer(now, candidate),
        }
    }

    fn answer(&self, at: Time, candidate: QueuedJob) -> String {
        let now = micros(at);
        let order = self.in_order(None);
        let with = self.in_order(Some(candidate));
        let mut answer = format!(
            "{:?} {:?}",
            self.forecast(now, &order),
            self.forecast(now, &with)
        );
        for gone in &order {
            let others: Vec<QueuedJob> = order.iter().filter(|job| *job != gone).copied().collect();
            answer += &format!(" {:?}", self.forecast(now, &others));
            if gone.deadline.is_some() {
                let (all, without) = (self.lateness(now, &order), self.lateness(now, &others));
                answer += &format!(" {all} {}", all - without);
            }
        }
        let (literal, marginal) = if candidate.deadline.is_some() {
            let (all, without) = (self.lateness(now, &with), self.lateness(now, &order));
            (all, all - without)
        } else {
            let forecast = self.forecast(now, &with);
            let own = forecast
                .iter()
                .find(|(job, ..)| *job == candidate.job)
                .unwrap();
            (own.3 - now, own.3 - now)
        };
        let most = i128::from(i64::MAX);
        answer += &format!(" {} {}", literal.min(most), marginal.min(most));
        let again = self.windows.iter().map(|window| window.interval.end());
        let again = again.filter(|end| *end > at && !order.is_empty()).min();
        answer + &format!(" {again:?}")
    }
}

/// All that a site expects, by job.
fn forecast(site: &SiteQueue, now: Time, change: Change<'_>) -> String {
    let mut all = Vec::new();
    site.forecast(now, change, &mut |job: Expected| {
        all.push((job.job, job.deadline, micros(job.start), micros(job.end)));
    });
    all.sort_unstable_by_key(|(job, ..)| *job);
    format!("{all:?}")
}

fn real_answer(site: &SiteQueue, now: Time, candidate: &QueuedJob) -> String {
    let mut answer = forecast(site, now, Change::None);
    answer += " ";
    answer += &forecast(site, now, Change::With(candidate));
    for gone in site.waiting() {
        answer += " ";
        answer += &forecast(site, now, Change::Without(gone.job));
        if gone.deadline.is_some() {
            for lateness in [Lateness::Literal, Lateness::Marginal] {
                let cost = present_cost(site, now, gone, lateness).unwrap();
                answer += &format!(" {}", cost.as_micros());
            }
        }
    }
    for lateness in [Lateness::Literal, Lateness::Marginal] {
        let cost = offer(site, now, candidate, lateness);
        answer += &format!(" {}", cost.as_micros());
    }
    answer + &format!(" {:?}", site.look_again(now))
}

fn real_step(site: &mut SiteQueue, step: &Step) -> String {
    match *step {
        Step::Push(job) => format!("{:?}", site.push(Time::ZERO, job)),
        Step::Withdraw(job) => format!("{:?}", site.withdraw(job)),
        Step::StartNext(now) => format!("{:?}", site.start_next(now)),
        Step::Finish(now, job) => format!("{:?}", site.finish(now, job).is_ok()),
        Step::Reserve(now, window) => {
            format!(
                "{:?}",
                site.reserve(now, window.interval, window.processors)
            )
        }
        Step::Ask { now, candidate } => real_answer(site, now, &candidate),
    }
}

/// Every policy on one processor and on three, in order and backfilled.
fn kinds() -> Vec<(Policy, u32, bool)> {
    let policies = [
        Policy::FirstCome,
        Policy::ShortestFirst,
        Policy::EarliestDeadline,
        Policy::Priority(priorities()),
    ];
    let kinds = [(1, false), (3, false), (3, true), (1, true)];
    let each = |policy| kinds.map(|(processors, backfills)| (policy, processors, backfills));
    policies.into_iter().flat_map(each).collect()
}

impl Twins for Sites {
    type Step = Step;
    type Answer = Answer;
    type Model = Vec<List>;
    type Real = Vec<SiteQueue>;

    fn begin() -> (Vec<List>, Vec<SiteQueue>) {
        let list = |(policy, processors, backfills)| List {
            policy,
            processors: i128::from(processors),
            backfills,
            running: Vec::new(),
            waiting: Vec::new(),
            windows: Vec::new(),
            arrivals: 0,
        };
        let site = |(policy, processors, backfills)| {
            let processors = NonZeroU32::new(processors).unwrap();
            let site = SiteQueue::new(policy, speed(), LIMIT).with_processors(processors);
            if backfills { site.backfilling() } else { site }
        };
        let lists = kinds().into_iter().map(list).collect();
        (lists, kinds().into_iter().map(site).collect())
    }

    fn steps() -> BoxedStrategy<Step> {
        let time = || (0..60_u64).prop_map(Time::from_secs);
        let id = || (0..9_u64).prop_map(JobId::new);
        let job = |id: BoxedStrategy<JobId>, widest: u32| {
            let due = prop::option::of(0..80_u64);
            let who = (0..4_u32, 0..50_u64);
            (id, 0..120_u64, due, 1..=widest, who, 0..3_u64).prop_map(
                |(job, estimate, deadline, processors, (organisation, submitted), arrived)| {
                    let estimate = Span::from_millis(100 * estimate);
                    let mut job = QueuedJob {
                        deadline: deadline.map(Time::from_secs),
                        processors: NonZeroU32::new(processors).unwrap(),
                        submitted: Time::from_secs(submitted),
                        arrived: Time::from_secs(arrived),
                        ..QueuedJob::new(job, estimate)
                    };
                    job.submitter.organisation = OrganisationId::new(organisation);
                    job
                },
            )
        };
        let window = (0..70_u64, 1..20_u64, 1..3_u32).prop_map(|(start, length, processors)| {
            let (start, length) = (Time::from_secs(start), Span::from_secs(length));
            Window {
                interval: Interval::starting(start, length).unwrap(),
                processors: NonZeroU32::new(processors).unwrap(),
            }
        });
        // A candidate is never one of those already there, and may be one that no site can run.
        let candidate = job(Just(JobId::new(99)).boxed(), 4);
        prop_oneof![
            4 => job(id().boxed(), 1).prop_map(Step::Push),
            4 => job(id().boxed(), 4).prop_map(Step::Push),
            1 => id().prop_map(Step::Withdraw),
            6 => time().prop_map(Step::StartNext),
            3 => (time(), id()).prop_map(|(now, job)| Step::Finish(now, job)),
            1 => (time(), window).prop_map(|(now, window)| Step::Reserve(now, window)),
            5 => (time(), candidate).prop_map(|(now, candidate)| Step::Ask { now, candidate }),
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
            let mut running = list.running.clone();
            running.sort_by_key(|(job, started)| (started + needs(job), job.job));
            let real = site.running().iter().map(|r| (r.job, micros(r.started)));
            assert_eq!(real.collect::<Vec<_>>(), running);
            let mut windows = list.windows.clone();
            windows.sort_unstable();
            assert_eq!(site.windows(), windows);
        }
    }
}
