//! What a grid must do in the calm: fall silent, and run new jobs cheaply.
//!
//! Bugs that only waste time or messages break no other invariant.

use std::collections::BTreeSet;
use std::ops::Range;

use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::News;
use gridweave_core::time::{Span, Time};
use gridweave_sim::hosting::Invariant;

use super::{Host, Hosted, OFTEN, nodes_of};
use crate::torture::fault::Fault;
use crate::torture::scenario::PROBE;

/// For how long no message about a job may be sent.
const QUIET: Span = Span::from_secs(120);

/// How long the last answers may take, if no message is late.
const LAST_ANSWERS: Span = Span::from_secs(60);

/// How often reservations are checked for a purpose.
const SOON: Span = Span::from_millis(500);

/// How many checks in a row it may lack one: longer than a message about it travels, and shorter than a lease.
const LOOKS: u32 = 5;

/// How long the probes may take.
const PROBED: Span = Span::from_secs(1800);

impl Host<'_> {
    /// Checks the calm: no job is left, and nothing goes wrong any more.
    pub(super) fn rest(&mut self) {
        let kept = Fault::all_keep(&self.scenario.faults);
        if kept.contains(&Invariant::Quiet) {
            self.listen_to_the_quiet();
        }
        if kept.contains(&Invariant::Thrift) && self.host.watch.breach().is_none() {
            self.probe();
        }
    }

    fn object(&mut self, invariant: Invariant, node: Option<NodeId>, what: String) {
        let now = self.host.now;
        self.host.watch.object(invariant, now, node, what);
    }

    /// After the last answers and late messages, no node may send a message about a job, or wait for an answer.
    fn listen_to_the_quiet(&mut self) {
        self.run_until(self.host.now + LAST_ANSWERS + self.scenario.trouble.late_by);
        let before = self.host.grid.said_of_jobs();
        self.run_until(self.host.now + QUIET);
        if self.host.watch.breach().is_some() {
            return;
        }
        if let Some((count, kind)) = self.said_since(&before).into_iter().max() {
            let what = format!("{count} messages {kind} in {QUIET}, though no job is left");
            self.object(Invariant::Quiet, None, what);
        }
        let mut up = self.all().filter(|node| self.is_up(*node));
        if let Some(node) = up.find(|node| self.host.grid.awaits_answers(*node)) {
            let what = format!("it waits for an answer, though nothing was said for {QUIET}");
            self.object(Invariant::Quiet, Some(node), what);
        }
    }

    /// How many messages of each kind were sent since then, without gossip; only kinds that were sent.
    fn said_since(&self, before: &[(String, u64)]) -> Vec<(u64, String)> {
        let now = self.host.grid.said_of_jobs().into_iter();
        let since = now
            .zip(before)
            .map(|((kind, now), (_, before))| (now - before, kind));
        since.filter(|(count, _)| *count > 0).collect()
    }

    /// How often nodes went down.
    fn crashes(&self) -> u32 {
        let all = self.all();
        all.map(|node| self.host.watch.crashes(node)).sum()
    }

    /// Submits some jobs at once to the idle grid, and checks what they cost. They show nothing if a node goes down that
    /// was doomed to do so after some more effects.
    fn probe(&mut self) {
        let crashes = self.crashes();
        let before = self.host.grid.said_of_jobs();
        let first = self.jobs.len();
        for number in first..self.facts.jobs.len() {
            let (mut job, _) = self.facts.jobs[number];
            job.submitted = self.host.now;
            self.jobs.push(Hosted::new(job, PROBE));
            self.submit(number);
        }
        self.watch_probes(crashes);
        if self.host.watch.breach().is_some() || self.crashes() > crashes {
            return;
        }
        let probes = first..self.jobs.len();
        if !self.scenario.has(Fault::Full) {
            self.expect_results(probes.clone());
        }
        for number in probes.clone() {
            let Hosted { job, starts, .. } = &self.jobs[number];
            let wanted = u64::from(nodes_of(job));
            let is_done = self.host.watch.last_word(number) == Some(News::Finished);
            if *starts > wanted || (is_done && *starts < wanted) {
                let what = format!("job {number} began on {starts} nodes, in place of {wanted}");
                self.object(Invariant::Thrift, None, what);
            }
        }
        let jobs = probes.len() as u64;
        for (count, kind) in self.said_since(&before) {
            let budget = self.host.grid.budget(&kind) * jobs;
            if count > budget {
                let what = format!("{count} messages {kind} for {jobs} jobs, more than {budget}");
                self.object(Invariant::Thrift, None, what);
            }
        }
    }

    /// Of the jobs for which enough nodes are up that may run them, at least one is done: others may lose the time that
    /// they find to it.
    fn expect_results(&mut self, probes: Range<usize>) {
        let up: Vec<NodeId> = self.all().filter(|node| self.is_up(*node)).collect();
        let can_run = |number: &usize| {
            let may_run = |node: &&NodeId| self.host.watch.may_run(**node, *number);
            up.iter().filter(may_run).count() >= nodes_of(&self.jobs[*number].job) as usize
        };
        let words = probes
            .filter(can_run)
            .map(|job| self.host.watch.last_word(job));
        let words: Vec<_> = words.collect();
        if !words.is_empty() && !words.contains(&Some(News::Finished)) {
            let what = format!("of jobs that find an idle grid none is done: {words:?}");
            self.object(Invariant::Thrift, None, what);
        }
    }

    /// Runs until the probes are over, or an invariant breaks. Before them there were so many crashes.
    fn watch_probes(&mut self, crashes: u32) {
        let deadline = self.host.now + PROBED;
        let mut aimless: BTreeSet<(NodeId, JobId)> = BTreeSet::new();
        let mut looks = 0;
        let mut next: Time = self.host.now + OFTEN;
        while self.host.watch.breach().is_none() {
            self.run_until(self.host.now + SOON);
            let found: BTreeSet<_> = self.host.grid.aimless().into_iter().collect();
            let still: BTreeSet<_> = aimless.intersection(&found).copied().collect();
            looks = if still.is_empty() { 0 } else { looks + 1 };
            aimless = if still.is_empty() { found } else { still };
            if looks >= LOOKS
                && self.crashes() == crashes
                && let Some((node, job)) = aimless.first()
            {
                let what =
                    format!("it keeps time for {job}, of which the coordinator does not know");
                return self.object(Invariant::Purpose, Some(*node), what);
            }
            if self.host.now < next {
                continue;
            }
            next = self.host.now + OFTEN;
            match self.unfinished() {
                None => return,
                Some((invariant, what)) if self.host.now >= deadline => {
                    return self.object(invariant, None, what);
                }
                Some(_) => {}
            }
        }
    }
}
