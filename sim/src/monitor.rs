//! Looking at a simulation from another thread while it runs, and asking it to stop.
//!
//! [`replay`](crate::hosting::replay()) takes a [`Monitor`] and reports its [`Progress`] there.
//!
//! ```
//! use gridweave_core::time::Time;
//! use gridweave_sim::monitor::{Monitor, Progress};
//!
//! let monitor = Monitor::default();
//! std::thread::scope(|threads| {
//!     // What a simulation does.
//!     threads.spawn(|| {
//!         let mut events = 0;
//!         while !monitor.stopped() {
//!             events += Monitor::EVERY;
//!             monitor.report(Progress { now: Time::from_secs(events), jobs: 0, events });
//!         }
//!     });
//!     while monitor.progress().events == 0 {
//!         std::thread::yield_now();
//!     }
//!     monitor.stop();
//! });
//! assert!(monitor.progress().events >= Monitor::EVERY);
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use gridweave_core::time::Time;

/// What a running simulation shows, and whether it should go on.
///
/// Simulations report about every thousand events, so figures lag a little.
#[derive(Debug, Default)]
pub struct Monitor {
    stop: Arc<AtomicBool>,
    now: AtomicU64,
    jobs: AtomicU64,
    events: AtomicU64,
}

impl Monitor {
    /// How many events pass between two reports.
    pub const EVERY: u64 = 1024;

    /// A monitor that is also asked to stop through this flag, which others may share.
    pub fn sharing(stop: Arc<AtomicBool>) -> Self {
        Self {
            stop,
            ..Self::default()
        }
    }

    /// Asks the simulation to end at its next report.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What a simulation calls now and then: how far it is.
    pub fn report(&self, progress: Progress) {
        self.now.store(progress.now.as_micros(), Ordering::Relaxed);
        self.jobs.store(progress.jobs, Ordering::Relaxed);
        self.events.store(progress.events, Ordering::Relaxed);
    }

    /// What was reported last.
    pub fn progress(&self) -> Progress {
        Progress {
            now: Time::from_micros(self.now.load(Ordering::Relaxed)),
            jobs: self.jobs.load(Ordering::Relaxed),
            events: self.events.load(Ordering::Relaxed),
        }
    }
}

/// How far a simulation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// The time in it.
    pub now: Time,
    /// How many jobs it is done with, rejected ones included.
    pub jobs: u64,
    /// How many events it has handled.
    pub events: u64,
}
