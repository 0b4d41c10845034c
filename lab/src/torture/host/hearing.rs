//! What the host hears of nodes, and tells the oracle.

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Assignment, Failure, News, Notice, Refusal};
use gridweave_core::time::Time;
use gridweave_sim::engine::Happening;
use gridweave_sim::hosting::{Happened, Invariant};

use super::{Host, MADE_UP, Todo, nodes_of, payload_of};
use crate::torture::player;

impl Host<'_> {
    /// Handles all that happened since the last call.
    pub(super) fn look(&mut self) {
        let mut happenings = Vec::new();
        self.host.grid.take_happenings(&mut happenings);
        for (index, happening) in happenings.iter().enumerate() {
            match happening.clone() {
                Happening::Notice { at, node, notice } => {
                    if let News::Started { attempt, .. } = notice.news {
                        let rest = &happenings[index + 1..];
                        self.expect_a_place(at, node, notice.job, attempt, rest);
                    }
                    self.hear(at, node, notice);
                }
                Happening::Crashed { at, node } => self.went_down(at, node),
                Happening::Started { at, node } => self.came_up(at, node),
                Happening::Unheard { .. } | Happening::Traced { .. } => {}
            }
        }
        if let Some(broken) = self.host.grid.broken().get(self.broken) {
            self.broken += 1;
            let caps = [
                player::MOST_BYTES,
                player::MOST_EFFECTS,
                player::MOST_RECORDS,
                player::MOST_TIMERS,
            ];
            let is_cap = caps.contains(&broken.violation.invariant);
            let invariant = if is_cap {
                Invariant::Bounded
            } else {
                Invariant::State
            };
            let what = broken.violation.to_string();
            let (at, node) = (broken.at, broken.node);
            self.host.watch.object(invariant, at, Some(node), what);
        }
    }

    pub(super) fn hear(&mut self, at: Time, node: NodeId, notice: Notice) {
        if self.hear_at_site(at, node, &notice) {
            return;
        }
        let Notice { job, news } = notice;
        let number = usize::try_from(job.get()).unwrap_or(usize::MAX);
        let known = self.jobs.get(number).is_some_and(|job| job.asked > 0);
        if !known {
            let what = format!("{job} is {news:?}, which was never submitted");
            self.host
                .watch
                .object(Invariant::Known, at, Some(node), what);
            if let News::Started { attempt, .. } = news {
                let end = Todo::EndMadeUp(job, attempt, node);
                self.todo.insert((at + MADE_UP, end));
            }
            return;
        }
        match news {
            News::Assigned(assignment) => {
                self.check_assignment(at, node, number, assignment.get());
                let attempt = assignment.get().placement.attempt;
                self.assigned.insert((node, number, attempt));
            }
            News::Released { attempt } => {
                self.witness.count("job: released before its start");
                self.assigned.remove(&(node, number, attempt));
            }
            News::Started {
                attempt,
                until,
                assignment,
            } => {
                self.begin(at, node, number, (attempt, until));
                if !self.assigned.remove(&(node, number, attempt)) {
                    let what = format!("job {number} begins on {node}, which did not expect it");
                    let watch = &mut self.host.watch;
                    watch.object(Invariant::Told, at, Some(node), what);
                }
                self.check_assignment(at, node, number, assignment.get());
            }
            News::Extended { attempt, until } => {
                self.witness.count("job: extended");
                let limit = until - self.scenario.clock(node);
                self.host.extend(at, node, number, attempt, limit);
            }
            News::Stopped { attempt } => {
                self.witness.count("job: stopped");
                self.host.stopped(at, node, number, attempt);
            }
            News::Expected { .. } => self.witness.count("job: expected"),
            News::Accepted(_) => {
                self.witness.count("job: accepted");
                self.jobs[number].accepted = true;
            }
            News::Moved(_) => self.witness.count("job: moved"),
            News::Orphaned => self.witness.count("job: orphaned"),
            // The host asked again after a crash, since it could not know whether the node had taken the job.
            News::Failed(Failure::Refused(Refusal::Known)) if self.jobs[number].asked > 1 => {}
            News::Failed(Failure::Refused(Refusal::Leaving | Refusal::Draining)) => {
                self.witness
                    .count("job: refused by a node that leaves or is drained");
                self.jobs[number].home = None;
                self.host.watch.not_taken(number);
                self.todo.insert((at, Todo::Submit(number)));
            }
            _ if news.is_last() => {
                self.witness.count(match news {
                    News::Finished => "job: finished",
                    News::Cancelled => "job: cancelled",
                    News::Failed(Failure::Refused(
                        Refusal::Full | Refusal::NodesFull | Refusal::NoStart | Refusal::NotFound,
                    )) => "job: refused, full",
                    News::Failed(Failure::Refused(_)) => "job: refused",
                    News::Failed(Failure::NodeLost) => "job: failed, node lost",
                    News::Failed(Failure::Overran) => "job: failed, overran",
                    News::Failed(Failure::Broke) => "job: failed, broke",
                    _ => "job: failed",
                });
                self.host.watch.said(at, node, number, news);
            }
            _ => self.witness.count("job: other news"),
        }
    }

    /// If jobs run under reservations, an attempt that begins must have one, unless it is stopped in the same event.
    pub(super) fn expect_a_place(
        &mut self,
        at: Time,
        node: NodeId,
        job: JobId,
        attempt: Epoch,
        rest: &[Happened],
    ) {
        let news = News::Stopped { attempt };
        let stopped = Notice { job, news };
        let is_stopped = rest.iter().any(|happening| {
            matches!(happening, Happening::Notice { node: by, notice, .. } if (*by, notice) == (node, &stopped))
        });
        if self.facts.reserves
            && self.is_up(node)
            && self.host.grid.attempt(node, job) != Some(attempt)
            && !is_stopped
        {
            let what = format!("{job} begins without a place");
            self.host
                .watch
                .object(Invariant::Room, at, Some(node), what);
        }
    }

    /// A node is told the payload that was submitted, and as many nodes as the job wants, itself among them.
    fn check_assignment(&mut self, at: Time, node: NodeId, job: usize, told: &Assignment) {
        let nodes = &told.placement.nodes;
        let wanted = nodes_of(&self.jobs[job].job) as usize;
        let is_true =
            told.payload == payload_of(job) && nodes.len() == wanted && nodes.contains(&node);
        if !is_true {
            let what = format!("{node} is told to run job {job} as {told:?}");
            let watch = &mut self.host.watch;
            watch.object(Invariant::Told, at, Some(node), what);
        }
    }

    fn begin(&mut self, at: Time, node: NodeId, number: usize, (attempt, until): (Epoch, Time)) {
        if self.host.grid.is_drained(node) {
            let what = format!("job {number} begins there, though the node is drained");
            let watch = &mut self.host.watch;
            watch.object(Invariant::Drained, at, Some(node), what);
        }
        let hosted = &mut self.jobs[number];
        hosted.starts += 1;
        self.witness.count("job: started");
        let mut runs = hosted.planned.runs;
        if self.scenario.slow.contains(&node) && at < self.scenario.calm {
            runs = runs.times(3);
        }
        let ends = (runs, hosted.planned.outcome);
        let limit = until - self.scenario.clock(node);
        self.host.begin(at, node, number, (attempt, limit), ends);
    }
}
