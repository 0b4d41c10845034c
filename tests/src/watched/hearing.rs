//! What the host hears of nodes, and writes into its ledger.

use gridweave_core::id::{Epoch, NodeId};
use gridweave_core::job::{Failure, News, Notice, Refusal};
use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};
use gridweave_sim::engine::Happening;
use gridweave_sim::hosting::{Happened, Word};

use super::{Grid, Todo, Watched};

impl<M: Watched> Grid<M> {
    pub(super) fn look(&mut self) {
        let happenings: Vec<Happened> = self.simulation.happenings().collect();
        for happening in happenings {
            match happening {
                Happening::Notice { at, node, notice } => self.hear(at, node, notice),
                Happening::Crashed { at, node } => {
                    self.ledger.crashed += 1;
                    self.watch.crashed(at, node);
                    if !self.gone.contains(&node) {
                        let down = Span::from_millis(u64::from(1 + self.rng.below(60_000)));
                        self.simulation.restart(at + down, node);
                    }
                }
                Happening::Started { at, node } => self.came_up(at, node),
                Happening::Traced { .. } => {}
                Happening::Unheard { command, .. } => {
                    let fault = format!("a node that is down was told {command:?}");
                    self.ledger.faults.push(fault);
                }
            }
        }
    }

    /// Gives a restarted node its commands again: it may have lost them in the crash.
    fn came_up(&mut self, at: Time, node: NodeId) {
        self.ledger.started += u32::from(at > Time::ZERO);
        if self.leaving.contains(&node) {
            self.todo.insert((at, Todo::Leave(node)));
        }
        for (number, job) in self.jobs.iter().enumerate() {
            if self.watch.home(number) == Some(node) && self.last_word(number).is_none() {
                self.todo.insert((at, Todo::Submit(number)));
                if job.is_unwanted {
                    self.todo.insert((at, Todo::Cancel(number)));
                }
            }
        }
    }

    fn hear(&mut self, at: Time, node: NodeId, Notice { job, news }: Notice) {
        let number = job.get() as usize;
        if number >= self.jobs.len() || self.watch.home(number).is_none() {
            let fault = format!("{at:?}: {node} speaks of {job}, which was never submitted");
            self.ledger.faults.push(fault);
            return;
        }
        match news {
            News::Started { attempt, .. } => self.begin(at, node, number, attempt),
            News::Extended { .. } => {}
            News::Stopped { attempt } => {
                self.ledger.stopped += 1;
                self.watch.stopped(at, node, number, attempt);
            }
            News::Accepted(told) => self.jobs[number].accepted = Some(told.get().start),
            News::Moved(told) => {
                self.ledger.moved += 1;
                self.jobs[number].accepted = Some(told.get().start);
            }
            News::Expected { .. } | News::Assigned(_) | News::Released { .. } => {}
            News::Orphaned => panic!("schedulers that reserve time do not say so"),
            News::Failed(Failure::Refused(Refusal::Known)) => {}
            News::Failed(Failure::Refused(Refusal::Leaving)) => {
                self.watch.not_taken(number);
                self.todo.insert((at, Todo::Submit(number)));
            }
            _ if news.is_last() => self.end(at, node, number, &news),
            _ => panic!("{news:?} is not known here"),
        }
    }

    fn begin(&mut self, at: Time, node: NodeId, number: usize, epoch: Epoch) {
        self.ledger.begun += 1;
        // If the node has crashed since this notice, it runs nothing.
        if self.simulation.machine(node).is_none() {
            return;
        }
        if self.watch.started(at, node, number, epoch) {
            let end = Todo::End {
                job: number,
                node,
                epoch,
                since: at,
            };
            self.todo.insert((at + self.jobs[number].runs, end));
        }
    }

    fn end(&mut self, at: Time, node: NodeId, number: usize, news: &News) {
        if self.watch.said(at, node, number, news.clone()) != Word::First {
            return;
        }
        match *news {
            News::Finished => self.ledger.finished += 1,
            News::Cancelled => self.ledger.cancelled += 1,
            News::Failed(failure) => {
                let name = match failure {
                    Failure::Refused(Refusal::TooLarge) => "too large",
                    // No placement was had in all rounds.
                    Failure::Refused(
                        Refusal::Full
                        | Refusal::NoAnswer
                        | Refusal::NodesFull
                        | Refusal::NoStart
                        | Refusal::NotFound
                        | Refusal::Quota
                        | Refusal::Taken
                        | Refusal::TooSlow,
                    ) => "not placed",
                    Failure::NodeLost => "node lost",
                    Failure::Overran => "overran",
                    other => {
                        let fault = format!("{at:?}: {node} says {other:?} of job {number}");
                        self.ledger.faults.push(fault);
                        "other"
                    }
                };
                *self.ledger.failed.entry(name).or_default() += 1;
            }
            _ => {}
        }
    }
}
