use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gridweave_core::job::News;
use gridweave_core::trace::Trace;

/// What happened since the agent started, and how it is now.
///
/// Names of kinds and reasons are those of the code, so there is a bounded number of them.
#[derive(Default)]
pub struct Metrics {
    named: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    commits: AtomicU64,
    changes: AtomicU64,
    commit_micros: AtomicU64,
    slowest_commit_micros: AtomicU64,
    running: AtomicU64,
    unfinished: AtomicU64,
    neighbours: AtomicU64,
    connections: AtomicU64,
    known_addresses: AtomicU64,
    /// The largest difference to the clock of a peer, either way.
    skew_micros: AtomicU64,
    site: Mutex<SiteFigures>,
}

/// Figures of a batch system that the node stands before.
#[derive(Clone, Default)]
struct SiteFigures {
    polls: u64,
    poll_seconds: f64,
    /// What this program does with the answers.
    mirror_seconds: f64,
    jobs: usize,
    /// What the scheduler was told of the site, and how long it took to take it in.
    reports: usize,
    report_seconds: f64,
    /// Jobs that started, and for which there were two forecasts: ours, and the batch system's.
    forecasts: u64,
    /// The sums of their errors in seconds, either way.
    errors: [f64; 2],
}

impl Metrics {
    fn add(&self, name: &'static str, label: &'static str) {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let count = named.entry((name, label)).or_default();
        *count = count.saturating_add(1);
    }

    /// How often this was counted; for tests and for the status page.
    pub fn count(&self, name: &'static str, label: &'static str) -> u64 {
        let named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.get(&(name, label)).copied().unwrap_or(0)
    }

    /// A message was sent.
    pub fn sent(&self, kind: &'static str) {
        self.add("messages_sent", kind);
    }

    /// A message was received.
    pub fn received(&self, kind: &'static str) {
        self.add("messages_received", kind);
    }

    /// A message or a request was dropped for this reason.
    pub fn dropped(&self, why: &'static str) {
        self.add("dropped", why);
    }

    /// A peer was refused for this reason.
    pub fn refused(&self, why: &'static str) {
        self.add("peers_refused", why);
    }

    /// A step of the machine that has a reason.
    pub fn traced(&self, trace: &Trace) {
        if let Some(why) = trace.why() {
            self.add("reasons", why);
        }
    }

    /// What the machine says of a job.
    pub fn heard(&self, news: &News) {
        self.add(
            "jobs",
            match news {
                News::Accepted(_) => "accepted",
                News::Started { .. } => "started",
                News::Stopped { .. } => "stopped",
                News::Finished => "finished",
                News::Failed(_) => "failed",
                News::Cancelled => "cancelled",
                _ => return,
            },
        );
    }

    /// So many changes became durable at once.
    pub fn committed(&self, changes: usize, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.commits.fetch_add(1, Relaxed);
        self.changes.fetch_add(changes as u64, Relaxed);
        self.commit_micros.fetch_add(micros, Relaxed);
        self.slowest_commit_micros.fetch_max(micros, Relaxed);
    }

    /// How often changes became durable.
    pub fn commits(&self) -> u64 {
        self.commits.load(Relaxed)
    }

    /// How many attempts run here.
    pub fn set_running(&self, count: usize) {
        self.running.store(count as u64, Relaxed);
    }

    /// How many unfinished jobs were submitted here.
    pub fn set_unfinished(&self, count: usize) {
        self.unfinished.store(count as u64, Relaxed);
    }

    /// How many neighbours the node has in its overlay.
    pub fn set_neighbours(&self, count: usize) {
        self.neighbours.store(count as u64, Relaxed);
    }

    /// How many connections are open.
    pub fn set_connections(&self, count: usize) {
        self.connections.store(count as u64, Relaxed);
    }

    /// How many addresses are known.
    pub fn set_known_addresses(&self, count: usize) {
        self.known_addresses.store(count as u64, Relaxed);
    }

    /// The clock of a peer differs by so much.
    pub fn skewed(&self, micros: u64) {
        self.skew_micros.fetch_max(micros, Relaxed);
    }

    fn site(&self) -> MutexGuard<'_, SiteFigures> {
        self.site.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The queue of the site was asked for.
    pub fn polled(&self, took: Duration) {
        let mut site = self.site();
        site.polls = site.polls.saturating_add(1);
        site.poll_seconds += took.as_secs_f64();
    }

    /// So many jobs were seen there, and mirrored in this time.
    pub fn mirrored(&self, jobs: usize, took: Duration) {
        let mut site = self.site();
        site.jobs = jobs;
        site.mirror_seconds += took.as_secs_f64();
    }

    /// The scheduler took in so many reports of what was seen there.
    pub fn reported(&self, reports: usize, took: Duration) {
        let mut site = self.site();
        site.reports = site.reports.saturating_add(reports);
        site.report_seconds += took.as_secs_f64();
    }

    /// A job started there so many seconds before this node's forecast, and before the site's own.
    pub fn forecast(&self, own: f64, theirs: Option<f64>) {
        let Some(theirs) = theirs else {
            return;
        };
        let mut site = self.site();
        site.forecasts = site.forecasts.saturating_add(1);
        let [first, second] = &mut site.errors;
        *first += own.abs();
        *second += theirs.abs();
    }

    fn site_to_text(&self, text: &mut String) {
        let site = self.site().clone();
        if site.polls == 0 {
            return;
        }
        let [own, theirs] = site.errors;
        for (name, kind, value) in [
            ("site_polls_total", "counter", site.polls as f64),
            ("site_poll_seconds_total", "counter", site.poll_seconds),
            ("site_mirror_seconds_total", "counter", site.mirror_seconds),
            ("site_jobs", "gauge", site.jobs as f64),
            ("site_reports_total", "counter", site.reports as f64),
            ("site_report_seconds_total", "counter", site.report_seconds),
            ("site_forecasts_total", "counter", site.forecasts as f64),
            ("site_forecast_error_seconds_total", "counter", own),
            ("site_own_forecast_error_seconds_total", "counter", theirs),
        ] {
            let _ = writeln!(text, "# TYPE gridweave_{name} {kind}");
            let _ = writeln!(text, "gridweave_{name} {value}");
        }
    }

    /// All figures, in the text format of Prometheus.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let named = self
            .named
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let mut last = "";
        for ((name, label), count) in &named {
            if *name != last {
                let _ = writeln!(text, "# TYPE gridweave_{name}_total counter");
                last = name;
            }
            let key = match *name {
                "messages_sent" | "messages_received" => "kind",
                "jobs" => "what",
                _ => "reason",
            };
            let _ = writeln!(text, "gridweave_{name}_total{{{key}=\"{label}\"}} {count}");
        }
        let seconds = |micros: &AtomicU64| micros.load(Relaxed) as f64 / 1e6;
        for (name, value) in [
            ("store_commits_total", &self.commits),
            ("store_changes_total", &self.changes),
        ] {
            let _ = writeln!(text, "# TYPE gridweave_{name} counter");
            let _ = writeln!(text, "gridweave_{name} {}", value.load(Relaxed));
        }
        let _ = writeln!(text, "# TYPE gridweave_store_commit_seconds_total counter");
        let took = seconds(&self.commit_micros);
        let _ = writeln!(text, "gridweave_store_commit_seconds_total {took}");
        for (name, value) in [
            ("attempts_running", &self.running),
            ("jobs_unfinished", &self.unfinished),
            ("neighbours", &self.neighbours),
            ("connections", &self.connections),
            ("known_addresses", &self.known_addresses),
        ] {
            let _ = writeln!(text, "# TYPE gridweave_{name} gauge");
            let _ = writeln!(text, "gridweave_{name} {}", value.load(Relaxed));
        }
        for (name, value) in [
            ("store_slowest_commit_seconds", &self.slowest_commit_micros),
            ("largest_clock_difference_seconds", &self.skew_micros),
        ] {
            let _ = writeln!(text, "# TYPE gridweave_{name} gauge");
            let _ = writeln!(text, "gridweave_{name} {}", seconds(value));
        }
        self.site_to_text(&mut text);
        text
    }
}
