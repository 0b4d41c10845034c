//! Tells [`tracing`] what nodes do with jobs, and why.
//!
//! A machine of `gridweave-core` says why through [`Context::trace`](gridweave_core::machine::Context::trace). A host
//! keeps that ([`Host::keep_traces`](gridweave_core::machine::Host::keep_traces)) and passes it on to [`trace`], and
//! what happens to jobs to [`notice`]. Events have the target `gridweave` and the fields `node`, `job`, `peer` and
//! `why`, as far as they apply. Refusals, failures and what is ignored are `INFO`, other steps are `DEBUG`.
//!
//! ```
//! use gridweave_core::commit::{Config, Everyone};
//! use gridweave_core::id::{JobId, NodeId};
//! use gridweave_core::machine::{Event, Host};
//! use gridweave_core::scheduler::desk::{self, Command, Desk};
//! use gridweave_core::time::Time;
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//!
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//! let me = NodeId::new(1);
//! let mut host = Host::new();
//! host.keep_traces();
//! let config = desk::Config { rounds: 2, commit: Config::DEFAULT };
//! host.start(Desk::new(config, Everyone), Time::ZERO, &mut rng);
//! host.handle(Event::Command(Command::Cancel(JobId::new(7))), Time::ZERO, &mut rng);
//! for step in host.traces() {
//!     // INFO gridweave: ignores a command: the job is not known here, or is over node=n1 job=j7
//!     gridweave_tracing::trace(me, &step);
//! }
//! ```

use gridweave_core::id::NodeId;
use gridweave_core::job::{News, Notice};
use gridweave_core::trace::Trace;
use tracing::{debug, field, info};

/// Tells what a node does for a job, and why.
pub fn trace(node: NodeId, trace: &Trace) {
    let node = field::display(node);
    let job = trace.job().map(field::display);
    let peer = trace.peer().map(field::display);
    match trace.why() {
        Some(why) => info!(target: "gridweave", node, job, peer, why, "{trace}"),
        None => debug!(target: "gridweave", node, job, peer, "{trace}"),
    }
}

/// Tells what happens to a job, as a node's machine told its host.
pub fn notice(node: NodeId, notice: &Notice) {
    let (node, job) = (field::display(node), field::display(notice.job));
    match &notice.news {
        News::Extended { .. } => debug!(target: "gridweave", node, job, "{}", notice.news),
        news => info!(target: "gridweave", node, job, "{news}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Write as _};
    use std::sync::{Arc, Mutex};

    use gridweave_core::id::JobId;
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;

    /// Keeps each event as a line.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<String>>);

    struct Fields<'a>(&'a mut String);

    impl Visit for Fields<'_> {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            let _ = write!(self.0, " {field}={value:?}");
        }
    }

    impl Subscriber for Lines {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &Event<'_>) {
            let mut lines = self.0.lock().expect("no test panics while it writes");
            let what = event.metadata();
            let _ = write!(lines, "{} {}:", what.level(), what.target());
            event.record(&mut Fields(&mut lines));
            lines.push('\n');
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn steps_and_news_become_events_with_their_fields() {
        let lines = Lines::default();
        let (me, peer, job) = (NodeId::new(1), NodeId::new(2), JobId::new(7));
        tracing::subscriber::with_default(lines.clone(), || {
            trace(me, &Trace::Asks { job, peer });
            let why = "the start is too near";
            trace(me, &Trace::Refused { job, peer, why });
            let news = News::Finished;
            notice(me, &Notice { job, news });
        });
        let lines = lines.0.lock().expect("no test panics while it writes");
        assert_eq!(
            *lines,
            "DEBUG gridweave: message=asks n2 node=n1 job=j7 peer=n2\n\
             INFO gridweave: message=n2 refuses: the start is too near node=n1 job=j7 peer=n2 why=\"the start is too near\"\n\
             INFO gridweave: message=says that it is done node=n1 job=j7\n"
        );
    }
}
