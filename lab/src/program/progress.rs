//! Makes runs on all cores, and shows their progress.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::Scope;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::session::Session;
use gridweave_core::time::{Span, Time};
use gridweave_sim::monitor::{Monitor, Progress};

use crate::lasting::Lasting;

/// The time between two looks at the runs.
const PAUSE: Duration = Duration::from_millis(100);

/// What the progress bar counts.
#[derive(Clone, Copy)]
pub(super) enum Goal {
    /// Jobs, so many in all.
    Jobs(u64),
    /// Runs, since the number of jobs is not known yet.
    Runs,
}

/// Runs in progress.
pub(super) struct Watched<'a> {
    session: &'a Session,
    tasks: usize,
    goal: Goal,
    running: Mutex<Vec<Arc<Monitor>>>,
    /// The counts of runs that have ended.
    runs_done: AtomicU64,
    jobs_done: AtomicU64,
    events_done: AtomicU64,
    over: AtomicBool,
}

impl<'a> Watched<'a> {
    pub(super) fn new(session: &'a Session, tasks: usize, goal: Goal) -> Self {
        Self {
            session,
            tasks,
            goal,
            running: Mutex::new(Vec::new()),
            runs_done: AtomicU64::new(0),
            jobs_done: AtomicU64::new(0),
            events_done: AtomicU64::new(0),
            over: AtomicBool::new(false),
        }
    }

    /// Makes all runs, several at a time, and returns their results in the given order.
    ///
    /// A free core takes the last run that is left: slow schedulers are last in the list, so long runs begin first.
    pub(super) fn each<T: Send, R: Send>(
        &self,
        tasks: Vec<T>,
        make: impl Fn(T, &Monitor) -> R + Sync,
    ) -> Vec<R> {
        self.over.store(false, Ordering::Relaxed);
        std::thread::scope(|scope| {
            self.watch(scope);
            // Ends the progress bar, also if a run panics.
            let over = Over(&self.over);
            let mut made: Vec<Option<R>> = tasks.iter().map(|_| None).collect();
            let left = Mutex::new(tasks.into_iter().zip(&mut made).collect::<Vec<_>>());
            let work = || {
                loop {
                    let next = left.lock().map_or(None, |mut left| left.pop());
                    let Some((task, place)) = next else { break };
                    *place = Some(self.one(task, &make));
                }
            };
            on_all_cores(&work);
            drop((left, over));
            made.into_iter().flatten().collect()
        })
    }

    /// Makes each run, one after the other in the given order.
    pub(super) fn one_by_one<T, R>(
        &self,
        tasks: Vec<T>,
        make: impl Fn(T, &Monitor) -> R,
    ) -> Vec<R> {
        self.over.store(false, Ordering::Relaxed);
        std::thread::scope(|scope| {
            self.watch(scope);
            let _over = Over(&self.over);
            let tasks = tasks.into_iter();
            tasks.map(|task| self.one(task, &make)).collect()
        })
    }

    fn one<T, R>(&self, task: T, make: &impl Fn(T, &Monitor) -> R) -> R {
        let monitor = Arc::new(self.session.monitor());
        self.with_running(|running| running.push(Arc::clone(&monitor)));
        let made = make(task, &monitor);
        self.with_running(|running| running.retain(|one| !Arc::ptr_eq(one, &monitor)));
        let last = monitor.progress();
        self.runs_done.fetch_add(1, Ordering::Relaxed);
        self.jobs_done.fetch_add(last.jobs, Ordering::Relaxed);
        self.events_done.fetch_add(last.events, Ordering::Relaxed);
        made
    }

    fn with_running<R>(&self, look: impl FnOnce(&mut Vec<Arc<Monitor>>) -> R) -> R {
        // A panic in another thread leaves the list intact.
        let mut running = self
            .running
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        look(&mut running)
    }

    /// Shows progress to the user or to the caller while runs are made.
    fn watch<'scope, 'env>(&'env self, scope: &'scope Scope<'scope, 'env>) {
        if let Some(caller) = &self.session.caller {
            scope.spawn(|| {
                while !self.over.load(Ordering::Relaxed) {
                    caller.progress.report(self.so_far().0);
                    std::thread::sleep(PAUSE);
                }
            });
        } else if self.session.shows_progress() {
            scope.spawn(|| self.show());
        }
    }

    /// How far all runs are together, and how many are being made.
    fn so_far(&self) -> (Progress, usize) {
        let mut all = Progress {
            jobs: self.jobs_done.load(Ordering::Relaxed),
            events: self.events_done.load(Ordering::Relaxed),
            now: Time::ZERO,
        };
        let running = self.with_running(|monitors| {
            for monitor in &*monitors {
                let progress = monitor.progress();
                all.jobs += progress.jobs;
                all.events += progress.events;
                all.now = all.now.max(progress.now);
            }
            monitors.len()
        });
        (all, running)
    }

    fn show(&self) {
        let (all, unit) = match self.goal {
            Goal::Jobs(jobs) => (jobs, "jobs"),
            Goal::Runs => (self.tasks as u64, "runs"),
        };
        let bar = ProgressBar::new(all);
        let style = ProgressStyle::with_template(&format!(
            "{{elapsed}} {{wide_bar}} {{human_pos}}/{{human_len}} {unit}, {{msg}}"
        ));
        if let Ok(style) = style {
            bar.set_style(style);
        }
        let began = Instant::now();
        while !self.over.load(Ordering::Relaxed) {
            let (Progress { jobs, events, now }, running) = self.so_far();
            let rate = events as f64 / began.elapsed().as_secs_f64().max(0.001);
            let now = Lasting(now.round_up(Span::from_secs(60)) - Time::ZERO);
            let done = match self.goal {
                Goal::Jobs(_) => jobs,
                Goal::Runs => self.runs_done.load(Ordering::Relaxed),
            };
            bar.set_position(done.min(all));
            // A child process reports no events.
            let pace = if events > 0 {
                format!(" at {now}, {rate:.0} events/s")
            } else {
                String::new()
            };
            bar.set_message(format!("{running} of {} runs{pace}", self.tasks));
            std::thread::sleep(PAUSE);
        }
        bar.finish_and_clear();
    }
}

/// Ends the progress bar when dropped.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` on every core, and returns when all are done.
fn on_all_cores(work: &(dyn Fn() + Sync)) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 1..cores {
            scope.spawn(work);
        }
        work();
    });
}
