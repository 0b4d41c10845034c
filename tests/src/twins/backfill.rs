//! [`BackfillQueue`] beside plain lists and the formulas of P4, in whole fractions.

use core::cmp::Ordering;

use gridweave_core::id::JobId;
use gridweave_core::queue::{BackfillQueue, Discipline, MigrantRefusal, QueueError, Waiting};
use gridweave_core::resource::{Capability, Dimensions, Kind, Pool, Requirement};
use gridweave_core::time::Time;
use proptest::prelude::*;

use super::Twins;
use crate::steps;

const LIMIT: usize = 12;
/// Powers of two, so that the real score's fixed point is exact on them.
const TOTAL: [u64; 2] = [8, 16];

/// A node of 8 cores and 16 units of memory.
#[derive(Clone, Debug)]
pub struct Backfill;

/// What a job needs, by (cores, memory); `None` names no need.
pub type Needs = [Option<u64>; 2];

/// A job as the steps describe it.
#[derive(Clone, Copy, PartialEq, Debug)]
#[expect(missing_docs, reason = "named as in Waiting")]
pub struct Described {
    pub job: u64,
    pub needs: Needs,
    pub submitted: u64,
    pub passed: u32,
}

/// One operation on the queue.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "named after the methods they call")]
pub enum Step {
    Push(Described),
    Remove(u64),
    StartNext(Discipline),
    BestFor { busy: [u64; 2], head_passed: u32 },
    StartMigrant(Described),
    Finish(u64),
}

/// Jobs in plain lists.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    waiting: Vec<Described>,
    running: Vec<Described>,
}

/// The node's dimensions.
pub fn dimensions() -> Dimensions {
    Dimensions::new(&[("cores", Kind::Amount), ("memory", Kind::Amount)]).unwrap()
}

fn capability(values: [u64; 2]) -> Capability {
    dimensions().capability(&values).unwrap()
}

fn requirement(needs: Needs) -> Requirement {
    let dimensions = dimensions();
    ["cores", "memory"]
        .iter()
        .zip(needs)
        .fold(Requirement::any(), |requirement, (name, need)| match need {
            Some(need) => requirement.with(dimensions.named(name).unwrap(), need),
            None => requirement,
        })
}

fn waiting(described: Described) -> Waiting {
    Waiting {
        job: JobId::new(described.job),
        requirement: requirement(described.needs),
        submitted: Time::from_secs(described.submitted),
        passed: described.passed,
    }
}

fn used(jobs: &[Described]) -> [u64; 2] {
    [0, 1].map(|k| jobs.iter().map(|job| job.needs[k].unwrap_or(0)).sum())
}

fn fits(busy: [u64; 2], needs: Needs) -> bool {
    (0..2).all(|k| busy[k] + needs[k].unwrap_or(0) <= TOTAL[k])
}

/// BM·FM and BM as fractions over sixteenths, straight from P4's formulas: avg = sum/K, BM = max/avg, FM = 1 - avg.
fn score(busy: [u64; 2], needs: Needs) -> [(u64, u64); 2] {
    let sixteenths = [0, 1].map(|k| (busy[k] + needs[k].unwrap_or(0)) * 16 / TOTAL[k]);
    let (max, sum) = (
        sixteenths[0].max(sixteenths[1]),
        sixteenths[0] + sixteenths[1],
    );
    if sum == 0 {
        return [(1, 1), (1, 1)];
    }
    // BM = max / (sum/2) = 2 max / sum. FM = 1 - sum/32 = (32 - sum) / 32.
    let balance = (2 * max, sum);
    [(balance.0 * (32 - sum), balance.1 * 32), balance]
}

fn compare_scores(a: [(u64, u64); 2], b: [(u64, u64); 2]) -> Ordering {
    let cross = |a: (u64, u64), b: (u64, u64)| (a.0 * b.1).cmp(&(b.0 * a.1));
    cross(a[0], b[0]).then(cross(a[1], b[1]))
}

impl Lists {
    fn knows(&self, job: u64) -> bool {
        self.waiting
            .iter()
            .chain(&self.running)
            .any(|other| other.job == job)
    }

    fn is_full(&self) -> bool {
        self.waiting.len() + self.running.len() == LIMIT
    }

    fn head_passed(&self) -> u32 {
        self.waiting.first().map_or(0, |head| head.passed)
    }

    /// The best by score; among equals the first, as `min_by` has it.
    fn best(&self, busy: [u64; 2], least_passed: u32) -> Option<usize> {
        let may = |job: &Described| job.passed >= least_passed && fits(busy, job.needs);
        (0..self.waiting.len())
            .filter(|&index| may(&self.waiting[index]))
            .min_by(|&a, &b| {
                let of = |index: usize| score(busy, self.waiting[index].needs);
                compare_scores(of(a), of(b))
            })
    }

    fn start_next(&mut self, discipline: Discipline) -> Option<u64> {
        let busy = used(&self.running);
        let head = self.waiting.first()?;
        let place = if fits(busy, head.needs) {
            0
        } else if discipline == Discipline::HeadOnly {
            return None;
        } else {
            self.best(busy, head.passed)?
        };
        for ahead in 0..place {
            self.waiting[ahead].passed += 1;
        }
        let job = self.waiting.remove(place);
        self.running.push(job);
        Some(job.job)
    }
}

impl Twins for Backfill {
    type Step = Step;
    type Answer = String;
    type Model = Lists;
    type Real = BackfillQueue;

    fn begin() -> (Lists, BackfillQueue) {
        (
            Lists::default(),
            BackfillQueue::new(Pool::new(dimensions(), capability(TOTAL)), LIMIT),
        )
    }

    fn steps() -> BoxedStrategy<Step> {
        let needs = || {
            (prop::option::of(0..=9_u64), prop::option::of(0..=17_u64))
                .prop_map(|(cores, memory)| [cores, memory])
        };
        let job = || {
            (0..20_u64, needs(), 0..9_u64, 0..4_u32).prop_map(|(job, needs, submitted, passed)| {
                Described {
                    job,
                    needs,
                    submitted,
                    passed,
                }
            })
        };
        let discipline = prop_oneof![
            1 => Just(Discipline::HeadOnly),
            4 => Just(Discipline::Backfill),
        ];
        prop_oneof![
            5 => job().prop_map(Step::Push),
            1 => (0..20_u64).prop_map(Step::Remove),
            5 => discipline.prop_map(Step::StartNext),
            1 => (0..=8_u64, 0..=16_u64, 0..3_u32)
                .prop_map(|(a, b, head_passed)| Step::BestFor { busy: [a, b], head_passed }),
            2 => job().prop_map(Step::StartMigrant),
            3 => (0..20_u64).prop_map(Step::Finish),
        ]
        .boxed()
    }

    fn model(lists: &mut Lists, step: &Step) -> String {
        match *step {
            Step::Push(job) => {
                let queued = if lists.knows(job.job) {
                    Err(QueueError::Known)
                } else if !fits([0, 0], job.needs) {
                    Err(QueueError::Unsuitable)
                } else if lists.is_full() {
                    Err(QueueError::Full)
                } else {
                    lists.waiting.push(job);
                    // Stable, so that equals stay in the order of their arrival.
                    lists.waiting.sort_by_key(|job| job.submitted);
                    Ok(())
                };
                format!("{queued:?}")
            }
            Step::Remove(job) => {
                let found = lists.waiting.iter().copied().find(|other| other.job == job);
                lists.waiting.retain(|other| other.job != job);
                format!("{:?}", found.map(waiting))
            }
            Step::StartNext(discipline) => {
                format!("{:?}", lists.start_next(discipline).map(JobId::new))
            }
            Step::BestFor { busy, head_passed } => {
                let best = lists
                    .best(busy, head_passed)
                    .map(|place| lists.waiting[place]);
                format!("{:?}", best.map(waiting))
            }
            Step::StartMigrant(job) => {
                let started = if lists.knows(job.job) {
                    Err(MigrantRefusal::Known)
                } else if job.passed < lists.head_passed() {
                    Err(MigrantRefusal::HeadPassedMore)
                } else if lists.is_full() {
                    Err(MigrantRefusal::Full)
                } else if !fits(used(&lists.running), job.needs) {
                    Err(MigrantRefusal::NoRoom)
                } else {
                    lists.running.push(job);
                    for waiting in &mut lists.waiting {
                        waiting.passed += 1;
                    }
                    Ok(())
                };
                format!("{started:?}")
            }
            Step::Finish(job) => {
                let before = lists.running.len();
                lists.running.retain(|other| other.job != job);
                format!("{}", lists.running.len() < before)
            }
        }
    }

    fn real(queue: &mut BackfillQueue, step: &Step) -> String {
        let before = steps::is_recording().then(|| queue.clone());
        let answer = match *step {
            Step::Push(job) => format!("{:?}", queue.push(waiting(job))),
            Step::Remove(job) => format!("{:?}", queue.remove(JobId::new(job))),
            Step::StartNext(discipline) => format!("{:?}", queue.start_next(discipline)),
            Step::BestFor { busy, head_passed } => {
                let free = capability([TOTAL[0] - busy[0], TOTAL[1] - busy[1]]);
                let target = Pool::with_free(dimensions(), capability(TOTAL), free).unwrap();
                format!("{:?}", queue.best_for(&target, head_passed).copied())
            }
            Step::StartMigrant(job) => format!("{:?}", queue.start_migrant(&waiting(job))),
            Step::Finish(job) => format!("{}", queue.finish(JobId::new(job)).is_ok()),
        };
        if let Some(before) = before {
            steps::record_call(step, &before, queue, &answer);
        }
        answer
    }

    fn compare(lists: &Lists, queue: &BackfillQueue) {
        queue.check().unwrap();
        let expected: Vec<_> = lists.waiting.iter().copied().map(waiting).collect();
        assert_eq!(queue.waiting(), expected);
        let mut running: Vec<_> = lists
            .running
            .iter()
            .map(|job| (JobId::new(job.job), requirement(job.needs)))
            .collect();
        running.sort_by_key(|(job, _)| *job);
        assert_eq!(queue.running(), running);
        let busy = used(&lists.running);
        let free = capability([TOTAL[0] - busy[0], TOTAL[1] - busy[1]]);
        assert_eq!(queue.pool().free(), &free);
        assert_eq!(queue.head_passed(), lists.head_passed());
    }
}
