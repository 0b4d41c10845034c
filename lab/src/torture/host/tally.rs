//! The report of a run: what went wrong how often, and what came of the jobs.

use gridweave_core::id::NodeId;
use gridweave_core::time::Span;
use gridweave_sim::hosting::Breach;

use super::Host;
use crate::torture::fault::Fault;
use crate::torture::report::Report;

impl Host<'_> {
    pub(super) fn report(mut self) -> Report {
        let (mishaps, met) = (
            self.host.grid.network().mishaps(),
            self.host.grid.network().trouble_met(),
        );
        for (fault, count) in [
            (Fault::Loss, mishaps.lost),
            (Fault::Duplication, mishaps.duplicated),
            (Fault::Reordering, mishaps.held_up),
            (Fault::Delay, met.late),
            (Fault::OneWay, met.cut_one_way),
            (Fault::Partition, met.cut),
            (Fault::Slow, met.slowed),
        ] {
            self.witness.add(fault.name(), count);
        }
        self.tally
            .take(&self.scenario, &self.jobs_by_home(), |job| {
                (
                    self.host.watch.last_word(job),
                    self.host.watch.is_orphaned(job),
                )
            });
        let (mut counters, trace) = self.witness.take();
        counters.add("job: its last word said again", self.host.watch.repeated());
        let all: Vec<NodeId> = self.all().collect();
        let mut clocks: Vec<Span> = all.iter().map(|node| self.scenario.clock(*node)).collect();
        clocks.sort_unstable();
        clocks.dedup();
        if self.scenario.has(Fault::FarClocks) {
            counters.add(Fault::FarClocks.name(), clocks.len() as u64 - 1);
        } else {
            counters.add(Fault::Skew.name(), clocks.len() as u64 - 1);
        }
        counters.add(Fault::Full.name(), counters.get("job: refused, full"));
        let bad = counters.get("job: failed, broke") + counters.get("job: failed, overran");
        counters.add(Fault::BadJobs.name(), bad);
        counters.add(Fault::Cancels.name(), counters.get("job: cancelled"));
        let lies = counters
            .iter()
            .filter(|(name, _)| name.starts_with("lie: "));
        let lies = lies.map(|(_, count)| count).sum();
        counters.add(Fault::Liars.name(), lies);
        let mut liar_links = [0, 0];
        for node in all
            .iter()
            .filter(|node| !self.scenario.liars.contains(node))
        {
            if !self.is_up(*node) {
                continue;
            }
            self.host.grid.count(*node, &mut counters);
            for peer in self.host.grid.knows(*node) {
                liar_links[0] += u64::from(self.scenario.liars.contains(&peer));
                liar_links[1] += 1;
            }
        }
        let kinds = self.host.grid.traffic().kinds().iter();
        let sent: Vec<(String, u64)> = kinds
            .map(|(name, traffic)| (name.clone(), traffic.messages))
            .collect();
        let breach: Option<Breach> = self.host.watch.breach().cloned();
        Report {
            request: self.scenario.request.clone(),
            faults: self.scenario.faults.clone(),
            breach,
            counters,
            sent,
            jobs: self.tally,
            liar_links,
            ended: self.host.now,
            events: self.host.grid.events(),
            digest: self.host.grid.digest(),
            trace,
        }
    }

    fn jobs_by_home(&self) -> Vec<Option<NodeId>> {
        let planned = self.jobs.iter().take(self.scenario.jobs.len());
        planned.map(|job| job.home).collect()
    }
}
