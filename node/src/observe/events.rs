use std::sync::Arc;

use gridweave_core::job::{News, Notice};
use gridweave_core::time::Time;
use serde_json::{Value, json};
use tokio::sync::broadcast::{Receiver, Sender, channel};

/// How many events a listener may be behind before it misses some.
const ROOM: usize = 1024;

/// What happens to jobs, for all that listen. Events that no listener waits for are dropped.
#[derive(Clone)]
pub struct Events(Sender<Arc<str>>);

impl Events {
    /// No listeners yet.
    pub fn new() -> Self {
        Self(channel(ROOM).0)
    }

    /// Tells what the node says of a job.
    pub(crate) fn tell(&self, now: Time, notice: &Notice) {
        if self.0.receiver_count() > 0 {
            let line: Arc<str> = shown(now, notice).to_string().into();
            // The last listener may have gone in the meantime.
            let _ = self.0.send(line);
        }
    }

    /// The events from now on, each a line of JSON.
    pub fn listen(&self) -> Receiver<Arc<str>> {
        self.0.subscribe()
    }
}

impl Default for Events {
    fn default() -> Self {
        Self::new()
    }
}

fn shown(now: Time, Notice { job, news }: &Notice) -> Value {
    let (word, attempt) = match news {
        News::Accepted(placement) => ("accepted", Some(placement.get().attempt)),
        News::Moved(placement) => ("moved", Some(placement.get().attempt)),
        News::Assigned(assignment) => ("assigned", Some(assignment.get().placement.attempt)),
        News::Released { attempt } => ("released", Some(*attempt)),
        News::Started { attempt, .. } => ("started", Some(*attempt)),
        News::Extended { attempt, .. } => ("extended", Some(*attempt)),
        News::Stopped { attempt } => ("stopped", Some(*attempt)),
        News::Orphaned => ("orphaned", None),
        News::Finished => ("finished", None),
        News::Failed(_) => ("failed", None),
        News::Cancelled => ("cancelled", None),
        News::Queue { attempt, .. } => ("queue", Some(*attempt)),
        News::Withdraw { attempt } => ("withdraw", Some(*attempt)),
        News::Expected { .. } => ("expected", None),
        _ => ("other", None),
    };
    json!({
        "time": now.as_micros() as f64 / 1e6,
        "job": job.to_string(),
        "event": word,
        "attempt": attempt.map(gridweave_core::id::Epoch::get),
        "text": news.to_string(),
    })
}
