//! What a run cost the computer: the only result that differs between two runs of one seed.

use crate::memory;
use std::time::Instant;

use serde::Serialize;

/// The content of `engine.json`. Figures that the operating system does not give are left out.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cost {
    /// Seconds of processor time of the thread that simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// Seconds of elapsed time.
    pub wall_s: f64,
    /// Events per second of processor time, or of elapsed time if processor time is not known or too short.
    pub events_per_s: f64,
    /// The most memory that the process has had so far, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_rss_bytes: Option<u64>,
    /// The version of this program.
    pub version: &'static str,
}

/// Measures a run on its own thread.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    began: Instant,
    cpu: Option<u64>,
}

impl Meter {
    /// Begins to measure.
    pub fn start() -> Self {
        Self {
            began: Instant::now(),
            cpu: thread_nanos(),
        }
    }

    /// The cost since the start.
    pub fn stop(self, events: u64) -> Cost {
        let wall_s = self.began.elapsed().as_secs_f64();
        let cpu_s = self
            .cpu
            .zip(thread_nanos())
            .map(|(before, after)| after.saturating_sub(before) as f64 / 1e9);
        // The system counts processor time in ticks, so short runs may show none.
        let counted = cpu_s.filter(|cpu_s| *cpu_s > 0.05).unwrap_or(wall_s);
        Cost {
            cpu_s,
            wall_s,
            events_per_s: events as f64 / counted.max(1e-9),
            peak_rss_bytes: memory::peak_bytes(),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// The processor time of this thread, as Linux counts it.
fn thread_nanos() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}
