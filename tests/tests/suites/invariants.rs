//! The invariants by name: each checker catches a planted bug, and most hold here of the real code. Views are held to
//! theirs in `cyclon`, executions in `commit_simulated`, outcomes in `watched`, and plans in `central`.

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::machine::Violation;
use gridweave_core::queue::{BackfillQueue, Discipline, Waiting};
use gridweave_core::resource::{Dimensions, Kind, Pool, Requirement};
use gridweave_core::rng::Choose;
use gridweave_core::schedule::availability::Availability;
use gridweave_core::schedule::{Attempt, Reservation, Schedule, Status};
use gridweave_core::time::{Interval, Span, Time};
use gridweave_tests::invariants::{self, Executions, Observation, Passes};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn t(ticks: u32) -> Time {
    Time::from_micros(u64::from(ticks))
}

/// A node that takes reservations, rightly or wrongly.
trait Node {
    fn reservations(&self) -> Vec<Reservation>;
    fn hold(&mut self, attempt: Attempt, interval: Interval, lease: Time) -> bool;
    fn expire(&mut self, now: Time);
    fn release(&mut self, attempt: Attempt);
}

impl Node for Schedule<Vec<Reservation>> {
    fn reservations(&self) -> Vec<Reservation> {
        self.iter().copied().collect()
    }
    fn hold(&mut self, attempt: Attempt, interval: Interval, lease: Time) -> bool {
        Schedule::hold(self, attempt, interval, lease).is_ok()
    }
    fn expire(&mut self, now: Time) {
        Schedule::expire(self, now);
    }
    fn release(&mut self, attempt: Attempt) {
        Schedule::release(self, attempt);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Bug {
    /// Looks only whether either end lies in another reservation, and so misses one that is covered.
    MissesCovered,
    /// Lets a hold live at the instant its lease ends.
    LeasesOneInstantTooLong,
    /// Takes every attempt at a job for its own.
    KnowsNoEpochs,
}

struct Buggy(Vec<Reservation>, Bug);

impl Node for Buggy {
    fn reservations(&self) -> Vec<Reservation> {
        self.0.clone()
    }
    fn hold(&mut self, attempt: Attempt, interval: Interval, lease: Time) -> bool {
        let last = interval.end() - Span::from_micros(1);
        let hit =
            |r: &Reservation| r.interval.contains(interval.start()) || r.interval.contains(last);
        let covered = |r: &Reservation| interval.overlaps(r.interval);
        let taken = match self.1 {
            Bug::MissesCovered => self.0.iter().any(hit),
            Bug::LeasesOneInstantTooLong | Bug::KnowsNoEpochs => self.0.iter().any(covered),
        };
        if !taken {
            self.0.push(Reservation {
                attempt,
                interval,
                status: Status::Held { lease },
            });
        }
        !taken
    }
    fn expire(&mut self, now: Time) {
        let until = match self.1 {
            Bug::LeasesOneInstantTooLong => now - Span::from_micros(1),
            Bug::MissesCovered | Bug::KnowsNoEpochs => now,
        };
        self.0.retain(|r| !r.has_expired(until));
    }
    fn release(&mut self, attempt: Attempt) {
        self.0.retain(|r| r.attempt != attempt);
    }
}

/// Random holds of ever new jobs; the first broken invariant, and how many holds were granted.
fn hammer(node: &mut impl Node, seed: u64) -> (Result<(), Violation>, u32) {
    let mut rng = rng(seed);
    let mut granted = 0;
    for job in 0..500_u32 {
        let now = t(job);
        node.expire(now);
        let start = now + Span::from_micros(u64::from(rng.below(40)));
        let length = Span::from_micros(u64::from(rng.below(12) + 1));
        let attempt = Attempt::new(JobId::new(u64::from(job)), Epoch::new(0));
        let lease = now + Span::from_micros(u64::from(rng.below(30) + 1));
        granted += u32::from(node.hold(attempt, Interval::starting(start, length).unwrap(), lease));
        let all = node.reservations();
        let checked = invariants::reservations_never_overlap(&all)
            .and_then(|()| invariants::holds_end_with_their_lease(&all, now));
        if checked.is_err() {
            return (checked, granted);
        }
    }
    (Ok(()), granted)
}

fn broken(invariant: &'static str) -> Result<(), Violation> {
    Err(Violation { invariant })
}

#[test]
fn no_two_reservations_on_a_node_overlap() {
    for seed in 0..50 {
        let (held, granted) = hammer(&mut Schedule::new(), seed);
        assert_eq!(held, Ok(()));
        assert!(
            granted > 60,
            "only {granted} holds were granted, so nothing was shown"
        );
    }
    let (caught, _) = hammer(&mut Buggy(Vec::new(), Bug::MissesCovered), 0);
    assert_eq!(caught, broken("no two reservations on a node overlap"));
}

#[test]
fn a_hold_never_outlives_its_lease() {
    let (caught, _) = hammer(&mut Buggy(Vec::new(), Bug::LeasesOneInstantTooLong), 0);
    assert_eq!(caught, broken("a hold never outlives its lease"));
    let mut schedule = Schedule::<Vec<Reservation>>::new();
    let attempt = Attempt::new(JobId::new(1), Epoch::new(0));
    let interval = Interval::new(t(0), t(9)).unwrap();
    Schedule::hold(&mut schedule, attempt, interval, t(5)).unwrap();
    assert!(invariants::holds_end_with_their_lease(schedule.iter(), t(4)).is_ok());
    assert!(invariants::holds_end_with_their_lease(schedule.iter(), t(5)).is_err());
    Schedule::expire(&mut schedule, t(5));
    assert!(schedule.is_empty());
}

/// Random attempts at four jobs, many of them older than what stands; the first broken invariant, and how many were
/// stale.
fn attempts(node: &mut impl Node, seed: u64) -> (Result<(), Violation>, u32) {
    let mut rng = rng(seed);
    let mut stale = 0;
    for step in 0..3000_u64 {
        let job = JobId::new(u64::from(rng.below(4)));
        let attempt = Attempt::new(job, Epoch::new(u64::from(rng.below(30)) + step / 100));
        let interval = Interval::starting(t(rng.below(60)), Span::from_micros(5)).unwrap();
        let before = node.reservations();
        let newest = before
            .iter()
            .filter(|r| r.attempt.job == job)
            .map(|r| r.attempt.epoch)
            .max();
        let held = node.hold(attempt, interval, Time::MAX);
        if newest > Some(attempt.epoch) {
            stale += 1;
            let checked = invariants::an_older_epoch_changes_nothing(&before, &node.reservations());
            if checked.is_err() {
                return (checked, stale);
            }
        } else if held && rng.below(3) == 0 {
            node.release(attempt);
        }
    }
    (Ok(()), stale)
}

#[test]
fn an_older_epoch_never_changes_state() {
    for seed in 0..5 {
        let (held, stale) = attempts(&mut Schedule::new(), seed);
        assert_eq!(held, Ok(()));
        assert!(
            stale > 1000,
            "only {stale} attempts were stale, so nothing was shown"
        );
    }
    // A node that knows no epochs takes the older attempt in.
    let (caught, _) = attempts(&mut Buggy(Vec::new(), Bug::KnowsNoEpochs), 0);
    assert_eq!(caught, broken("an older epoch never changes state"));
}

/// A node that runs jobs out of order, rightly or wrongly.
trait Desktop {
    fn push(&mut self, job: Waiting);
    fn waiting(&self) -> &[Waiting];
    fn running(&self) -> Vec<JobId>;
    fn finish(&mut self, job: JobId);
    fn start_next(&mut self) -> Option<JobId>;
}

impl Desktop for BackfillQueue {
    fn push(&mut self, job: Waiting) {
        BackfillQueue::push(self, job).unwrap();
    }
    fn waiting(&self) -> &[Waiting] {
        BackfillQueue::waiting(self)
    }
    fn running(&self) -> Vec<JobId> {
        BackfillQueue::running(self)
            .iter()
            .map(|(job, _)| *job)
            .collect()
    }
    fn finish(&mut self, job: JobId) {
        BackfillQueue::finish(self, job).unwrap();
    }
    fn start_next(&mut self) -> Option<JobId> {
        BackfillQueue::start_next(self, Discipline::Backfill)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Rule {
    /// Any job that fits may pass, whatever the counters say.
    NoCounters,
    /// The jobs behind the one that passes are counted, not the jobs ahead of it.
    CountsTheWrongSide,
}

struct Careless {
    rule: Rule,
    pool: Pool,
    waiting: Vec<Waiting>,
    running: Vec<Waiting>,
}

impl Desktop for Careless {
    fn push(&mut self, job: Waiting) {
        self.waiting.push(job);
    }
    fn waiting(&self) -> &[Waiting] {
        &self.waiting
    }
    fn running(&self) -> Vec<JobId> {
        self.running.iter().map(|job| job.job).collect()
    }
    fn finish(&mut self, job: JobId) {
        let index = self
            .running
            .iter()
            .position(|other| other.job == job)
            .unwrap();
        self.pool
            .give_back(&self.running.remove(index).requirement)
            .unwrap();
    }
    fn start_next(&mut self) -> Option<JobId> {
        let index = self
            .waiting
            .iter()
            .position(|job| self.pool.fits(&job.requirement))?;
        let job = self.waiting.remove(index);
        self.pool.take(&job.requirement).unwrap();
        self.running.push(job);
        let passed = match self.rule {
            Rule::NoCounters => 0..index,
            Rule::CountsTheWrongSide => index..self.waiting.len(),
        };
        self.waiting[passed]
            .iter_mut()
            .for_each(|job| job.passed += 1);
        Some(job.job)
    }
}

const CORES: u64 = 4;
const MEMORY: u64 = 64;

fn quad() -> Pool {
    let dimensions = Dimensions::new(&[("cores", Kind::Amount), ("memory", Kind::Amount)]).unwrap();
    let total = dimensions.capability(&[CORES, MEMORY]).unwrap();
    Pool::new(dimensions, total)
}

/// Random local arrivals and ends, some arrivals at the same instant and with ids in no order; each start is given to
/// `started` with the queue before and after it.
fn local_workload(
    desktop: &mut impl Desktop,
    seed: u64,
    mut started: impl FnMut(&[Waiting], JobId, &[Waiting]) -> Result<(), Violation>,
) -> Result<(), Violation> {
    let pool = quad();
    let at = |name| pool.dimensions().named(name).unwrap();
    let mut rng = rng(seed);
    for arrival in 0..4000_u64 {
        let requirement = Requirement::any()
            .with(at("cores"), u64::from(rng.below(CORES as u32) + 1))
            .with(at("memory"), u64::from(rng.below(MEMORY as u32 + 1)));
        let job = JobId::new(arrival.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let submitted = Time::from_secs(arrival / 3);
        desktop.push(Waiting {
            job,
            requirement,
            submitted,
            passed: 0,
        });
        while desktop.waiting().len() > 20 || rng.below(3) == 0 {
            if let Some(running) = rng.pick(&desktop.running()) {
                desktop.finish(*running);
            }
            loop {
                let before = desktop.waiting().to_vec();
                let Some(job) = desktop.start_next() else {
                    break;
                };
                started(&before, job, desktop.waiting())?;
            }
        }
    }
    Ok(())
}

fn careless(rule: Rule) -> Careless {
    Careless {
        rule,
        pool: quad(),
        waiting: Vec::new(),
        running: Vec::new(),
    }
}

#[test]
fn backfilling_counters_never_increase_along_the_queue() {
    let check = |_: &[Waiting], _, after: &[Waiting]| invariants::counters_never_increase(after);
    for seed in 0..5 {
        local_workload(&mut BackfillQueue::new(quad(), 10_000), seed, check).unwrap();
    }
    assert_eq!(
        local_workload(&mut careless(Rule::CountsTheWrongSide), 0, check),
        broken("backfilling counters never increase along the queue")
    );
}

#[test]
fn no_job_is_passed_more_often_than_it_was_places_ahead_of_its_first_passer() {
    let mut most = 0;
    for seed in 0..5 {
        let mut passes = Passes::default();
        let mut queue = BackfillQueue::new(quad(), 10_000);
        local_workload(&mut queue, seed, |before, job, _| {
            passes.started(before, job)
        })
        .unwrap();
        most = most.max(passes.most());
    }
    assert!(
        most >= 4,
        "jobs were passed {most} times at most, so nothing was shown"
    );

    let mut passes = Passes::default();
    let mut queue = careless(Rule::NoCounters);
    assert_eq!(
        local_workload(&mut queue, 0, |before, job, _| passes.started(before, job)),
        broken("no job is passed more often than its bound")
    );
}

#[test]
fn no_more_is_in_use_than_there_is() {
    for seed in 0..5 {
        let mut rng = rng(seed);
        let mut machine = Availability::new(16).unwrap();
        let mut jobs = Vec::new();
        for _ in 0..200 {
            let (count, length) = (
                rng.below(16) + 1,
                Span::from_micros(u64::from(rng.below(50)) + 1),
            );
            let start = machine
                .earliest_fit(t(rng.below(300)), count, length)
                .unwrap();
            let interval = Interval::starting(start, length).unwrap();
            machine.reserve(interval, count).unwrap();
            jobs.push((start.as_micros(), interval.end().as_micros(), count));
            if rng.below(3) == 0 {
                let (start, end, count) = jobs.swap_remove(rng.index(jobs.len()));
                let gone = Interval::new(Time::from_micros(start), Time::from_micros(end)).unwrap();
                machine.release(gone, count).unwrap();
            }
            invariants::capacity_is_never_exceeded(&jobs, 16).unwrap();
        }
    }
    assert!(invariants::capacity_is_never_exceeded(&[(0, 5, 3), (5, 9, 4), (2, 5, 1)], 4).is_ok());
    // Off by one at the end of a job.
    assert_eq!(
        invariants::capacity_is_never_exceeded(&[(0, 6, 3), (5, 9, 2)], 4),
        broken("no more is in use than there is")
    );
}

#[test]
fn a_view_holds_no_self_no_duplicate_and_no_more_than_its_size() {
    let node = NodeId::new;
    assert!(invariants::view_is_sound(node(0), 2, &[node(2), node(1)]).is_ok());
    for bad in [
        &[node(0)][..],
        &[node(1), node(1)],
        &[node(1), node(2), node(3)],
    ] {
        assert_eq!(
            invariants::view_is_sound(node(0), 2, bad),
            broken("a view holds no self, no duplicate, and no more than its size")
        );
    }
}

const JOB: JobId = JobId::new(1);
const A: NodeId = NodeId::new(1);
const B: NodeId = NodeId::new(2);

fn committed(epoch: u64, node: NodeId) -> Observation {
    Observation::Committed {
        job: JOB,
        epoch: Epoch::new(epoch),
        node,
    }
}

fn started(epoch: u64, node: NodeId) -> Observation {
    Observation::Started {
        job: JOB,
        epoch: Epoch::new(epoch),
        node,
        gang: 2,
    }
}

fn stopped(epoch: u64, node: NodeId) -> Observation {
    Observation::Stopped {
        job: JOB,
        epoch: Epoch::new(epoch),
        node,
    }
}

fn history(observations: &[Observation]) -> Result<(), Violation> {
    let mut executions = Executions::default();
    observations
        .iter()
        .try_for_each(|observation| executions.observe(*observation))?;
    executions.at_rest()
}

#[test]
fn no_node_starts_a_job_unless_all_nodes_of_that_epoch_committed() {
    let caught = broken("no node starts a job unless all nodes of that epoch committed");
    assert_eq!(
        history(&[
            committed(0, A),
            committed(0, B),
            started(0, A),
            started(0, B)
        ]),
        Ok(())
    );
    assert_eq!(history(&[committed(0, A), started(0, A)]), caught);
    assert_eq!(
        history(&[committed(0, A), committed(1, B), started(1, B)]),
        caught
    );
    assert_eq!(
        history(&[committed(0, A), committed(0, A), started(0, A)]),
        caught
    );
}

#[test]
fn at_most_one_live_execution_of_a_job() {
    let gang = |epoch| {
        [
            committed(epoch, A),
            committed(epoch, B),
            started(epoch, A),
            started(epoch, B),
        ]
    };
    let twice = [gang(0), gang(1)].concat();
    assert_eq!(
        history(&twice),
        broken("at most one live execution of a job")
    );
    let ended = [stopped(0, A), stopped(0, B)];
    assert_eq!(history(&[&gang(0)[..], &ended, &gang(1)].concat()), Ok(()));
    let same_node = [&gang(0)[..], &[started(0, B)]].concat();
    assert_eq!(
        history(&same_node),
        broken("at most one live execution of a job")
    );
}

#[test]
fn every_accepted_job_has_exactly_one_outcome() {
    let caught =
        broken("every accepted job has exactly one outcome: finished, failed or cancelled");
    let (accepted, outcome) = (
        Observation::Accepted { job: JOB },
        Observation::Outcome { job: JOB },
    );
    assert_eq!(history(&[accepted, outcome]), Ok(()));
    assert_eq!(history(&[accepted]), caught);
    assert_eq!(history(&[accepted, outcome, outcome]), caught);
}

#[test]
fn every_invariant_has_a_name_of_its_own() {
    let mut names = invariants::NAMES.to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), invariants::NAMES.len());
}
