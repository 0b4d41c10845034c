//! Long work on threads of its own, while the thread that called waits, hears Ctrl-C and shows progress.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gridweave_sim::monitor::Monitor;
use pyo3::prelude::*;

use crate::failure::Failure;

/// The time between two looks at signals.
const PAUSE: Duration = Duration::from_millis(50);
/// The least time between two calls of a callback.
const CALM: Duration = Duration::from_millis(100);
/// How long threads may take to end after they were asked to. They are left behind after that.
const GRACE: Duration = Duration::from_secs(3);

/// What a task gets: a monitor of its own, and the flag by which all tasks are stopped.
pub(crate) struct Turn {
    pub(crate) monitor: Arc<Monitor>,
    pub(crate) stop: Arc<AtomicBool>,
}

/// Some work for a thread.
pub(crate) type Task<T> = Box<dyn FnOnce(&Turn) -> Result<T, Failure> + Send>;

/// The callback that is told how far the tasks are.
#[derive(Clone, Copy, Default)]
pub(crate) struct Watch<'a, 'py> {
    /// It is called with the jobs that are done and all jobs if known, the runs that are done and all runs, the latest
    /// simulated time in seconds, and the number of events.
    pub(crate) callback: Option<&'a Bound<'py, PyAny>>,
    /// The number of all jobs, if it is known.
    pub(crate) jobs: Option<u64>,
}

impl Watch<'_, '_> {
    fn tell(&self, monitors: &[Arc<Monitor>], done: usize) -> PyResult<()> {
        let Some(callback) = self.callback else {
            return Ok(());
        };
        let (mut jobs, mut micros, mut events) = (0, 0, 0);
        for monitor in monitors {
            let progress = monitor.progress();
            jobs += progress.jobs;
            events += progress.events;
            micros = progress.now.as_micros().max(micros);
        }
        if done == monitors.len() {
            // Simulations do not report their last jobs.
            jobs = self.jobs.unwrap_or(jobs);
        }
        let seconds = micros as f64 / 1e6;
        callback.call1((jobs, self.jobs, done, monitors.len(), seconds, events))?;
        Ok(())
    }
}

/// Does one task on a thread of its own.
pub(crate) fn on_thread<T: Send + 'static>(
    py: Python<'_>,
    watch: Watch<'_, '_>,
    task: impl FnOnce(&Turn) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let mut done = on_threads(py, watch, 1, vec![Box::new(task)])?;
    done.pop()
        .ok_or_else(|| Failure::Defect("a task has no result".into()).into())
}

/// Does tasks on so many threads without the GIL, and returns their results in the same order. A free thread takes the
/// last task that is left. The first error, the first exception of the callback or a Ctrl-C stops all of them.
pub(crate) fn on_threads<T: Send + 'static>(
    py: Python<'_>,
    watch: Watch<'_, '_>,
    threads: usize,
    tasks: Vec<Task<T>>,
) -> PyResult<Vec<T>> {
    let stop = Arc::new(AtomicBool::new(false));
    let all = tasks.len();
    let new = || Arc::new(Monitor::sharing(Arc::clone(&stop)));
    let monitors: Vec<Arc<Monitor>> = (0..all).map(|_| new()).collect();
    let mut results: Vec<Option<T>> = tasks.iter().map(|_| None).collect();
    let left: Vec<_> = tasks
        .into_iter()
        .zip(monitors.clone())
        .enumerate()
        .collect();
    let left = Arc::new(Mutex::new(left));
    let (sender, mut receiver) = mpsc::channel();
    for number in 0..threads.clamp(1, all.max(1)) {
        let (left, stop, sender) = (Arc::clone(&left), Arc::clone(&stop), sender.clone());
        let spawned = thread::Builder::new().spawn(move || {
            loop {
                let next = left.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let Some((index, (task, monitor))) = next.filter(|_| !stopped(&stop)) else {
                    break;
                };
                let turn = Turn {
                    monitor,
                    stop: Arc::clone(&stop),
                };
                let made = catch_unwind(AssertUnwindSafe(|| task(&turn)));
                let made = made.unwrap_or_else(|_| {
                    let what = "a simulation panicked; please report it with its settings";
                    Err(Failure::Defect(what.into()))
                });
                if sender.send((index, made)).is_err() {
                    break;
                }
            }
        });
        match spawned {
            Err(error) if number == 0 => {
                let what = format!("a thread cannot be started: {error}");
                return Err(Failure::System(error.kind(), what).into());
            }
            // Fewer threads do the same work.
            Err(_) => break,
            Ok(_) => {}
        }
    }
    drop(sender);
    let (mut failed, mut done, mut told) = (None::<PyErr>, 0, Instant::now());
    let mut asked = Instant::now();
    loop {
        let waited = py.detach(move || {
            let got = receiver.recv_timeout(PAUSE);
            (receiver, got)
        });
        receiver = waited.0;
        let wrong = match waited.1 {
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => None,
            Ok((index, Ok(result))) => {
                done += 1;
                results[index] = Some(result);
                None
            }
            Ok((_, Err(failure))) => Some(failure.into()),
        };
        // A second Ctrl-C does not wait for threads to end.
        let signal = py.check_signals();
        if failed.is_some() {
            if signal.is_err() || asked.elapsed() > GRACE {
                break;
            }
            continue;
        }
        let wrong = wrong.or(signal.err()).or_else(|| {
            if told.elapsed() < CALM {
                return None;
            }
            told = Instant::now();
            watch.tell(&monitors, done).err()
        });
        if wrong.is_some() {
            stop.store(true, Ordering::Relaxed);
            (failed, asked) = (wrong, Instant::now());
        }
    }
    if let Some(error) = failed {
        return Err(error);
    }
    watch.tell(&monitors, done)?;
    let results: Option<Vec<T>> = results.into_iter().collect();
    results.ok_or_else(|| Failure::Defect("a task has no result".into()).into())
}

fn stopped(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}

/// As many threads as were asked for, or one for each core.
pub(crate) fn count(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
}
