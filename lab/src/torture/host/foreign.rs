//! Foreign sites in a tortured grid: what nodes tell them, and what becomes of jobs there.

use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Demand, News, Notice, Outcome};
use gridweave_core::time::{Span, Time};
use gridweave_sim::hosting::Invariant;

use super::{Host, MADE_UP};
use crate::torture::fault::Fault;
use crate::torture::site::{Act, Asked};

impl Host<'_> {
    /// When something happens next at a foreign site, and at which.
    pub(super) fn next_at_sites(&self) -> Option<(Time, NodeId)> {
        let sites = self.sites.iter();
        sites
            .filter_map(|(node, site)| Some((site.next_at()?, *node)))
            .min()
    }

    /// Does what comes next at a foreign site.
    pub(super) fn step_at_site(&mut self, node: NodeId) {
        let life = self.is_up(node).then(|| self.host.watch.crashes(node));
        let Some(site) = self.sites.get_mut(&node) else {
            return;
        };
        let now = self.host.now;
        for act in site.step(life) {
            self.witness
                .line(now, &node, format_args!("its site: {act:?}"));
            match act {
                Act::Begin((job, attempt)) => {
                    if let Some(number) = self.number_of(job) {
                        self.jobs[number].starts += 1;
                        self.witness.count("job: started");
                        self.witness.count(Fault::Foreign.name());
                        self.host.watch.started(now, node, number, attempt);
                        if life.is_none() {
                            self.host.watch.begins_untold(now);
                        }
                    }
                }
                Act::End((job, attempt), outcome) => {
                    if let Some(number) = self.number_of(job) {
                        let broke = outcome == Outcome::Broke;
                        self.host.watch.ended(now, node, number, attempt, broke);
                    }
                }
                Act::Stop((job, attempt)) => {
                    if let Some(number) = self.number_of(job) {
                        self.host.watch.stopped(now, node, number, attempt);
                    }
                }
                Act::Tell(command) => self.tell(node, command),
                Act::Count(situation) => self.witness.count(situation),
            }
        }
    }

    /// The number of a job that was submitted; `None` if a liar made it up.
    fn number_of(&self, job: JobId) -> Option<usize> {
        let number = usize::try_from(job.get()).ok()?;
        (self.jobs.get(number)?.asked > 0).then_some(number)
    }

    /// What a node that comes up is told of the attempts of its earlier life.
    pub(super) fn name_survivors_at_site(&mut self, node: NodeId) {
        if let Some(site) = self.sites.get(&node) {
            let survivors = site.survivors(self.host.now);
            self.host.grid.survive(node, survivors);
        }
    }

    /// Passes on to a foreign site what its node says. Whether that was for the site alone.
    pub(super) fn hear_at_site(&mut self, at: Time, node: NodeId, notice: &Notice) -> bool {
        let Notice { job, ref news } = *notice;
        if !self.sites.contains_key(&node) {
            return false;
        }
        let asked = self.asked_of(node, job, at);
        if let (News::Started { attempt, .. }, Some(number)) = (news, self.number_of(job)) {
            self.assigned.remove(&(node, number, *attempt));
        }
        let life = self.host.watch.crashes(node);
        let Some(site) = self.sites.get_mut(&node) else {
            return false;
        };
        let again = match *news {
            News::Queue { attempt, until } => site.queue(at, (job, attempt), until, asked, life),
            News::Started { attempt, until, .. } | News::Extended { attempt, until } => {
                site.extend((job, attempt), until);
                false
            }
            News::Withdraw { attempt } => {
                site.withdraw(at, (job, attempt));
                false
            }
            News::Stopped { attempt } => {
                self.witness.count("job: stopped");
                site.stop(at, (job, attempt));
                false
            }
            _ => return false,
        };
        if again {
            let what = format!("{job} is queued again, under an attempt that the site let go");
            let watch = &mut self.host.watch;
            watch.object(Invariant::Withdrawn, at, Some(node), what);
        }
        true
    }

    /// What a job takes at a site, and how long it runs there.
    fn asked_of(&self, node: NodeId, job: JobId, at: Time) -> Asked {
        let Some(number) = self.number_of(job) else {
            return Asked {
                processors: 1,
                runs: MADE_UP,
                outcome: Outcome::Done,
            };
        };
        let hosted = &self.jobs[number];
        let (Demand::Nodes(processors) | Demand::Cores(processors)) = hosted.job.demand;
        let is_slow = self.scenario.slow.contains(&node) && at < self.scenario.calm;
        let times: u64 = if is_slow { 3 } else { 1 };
        let runs: Span = hosted.planned.runs.times(times);
        Asked {
            processors: processors.get(),
            runs,
            outcome: hosted.planned.outcome,
        }
    }
}
