//! Whether nodes fall silent when there is nothing left to do.

use gridweave_core::time::Span;
use gridweave_sim::hosting::Invariant;

use super::Host;
use crate::torture::fault::Fault;

/// For how long nothing is said of jobs.
const QUIET: Span = Span::from_secs(120);

/// How long last answers may take, if no message is late.
const LAST_ANSWERS: Span = Span::from_secs(60);

impl Host<'_> {
    /// Nothing is left to do: when last answers and late messages have come, nothing more is said of jobs.
    ///
    /// What only wastes messages breaks no other invariant.
    pub(super) fn listen_to_the_quiet(&mut self) {
        if !Fault::all_keep(&self.scenario.faults).contains(&Invariant::Quiet) {
            return;
        }
        self.run_until(self.host.now + LAST_ANSWERS + self.scenario.trouble.late_by);
        let before = self.host.grid.said_of_jobs();
        self.run_until(self.host.now + QUIET);
        let after = self.host.grid.said_of_jobs();
        let more = after.iter().zip(&before);
        let more = more.map(|((kind, after), (_, before))| (after - before, kind));
        if let Some((count, kind)) = more.max().filter(|(count, _)| *count > 0)
            && self.host.watch.breach().is_none()
        {
            let what = format!("{count} messages {kind} in {QUIET}, though no job is left");
            self.host
                .watch
                .object(Invariant::Quiet, self.host.now, None, what);
        }
    }
}
