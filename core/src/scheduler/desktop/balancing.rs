//! Queue balancing: a waiting job goes where the load is lower (P4 section IV.C; PROTOCOLS L9 to L13).

use super::message::MoveTo;
use super::status::Status;
use super::{Desktop, Direction};
use crate::id::{JobId, NodeId};
use crate::machine::Context;
use crate::queue::Waiting;

/// The loads of a node and its neighbours together: P4's formulas (6) to (8).
struct Neighbourhood {
    /// The sum of all loads.
    total: f64,
    /// The two largest loads of neighbours, the first with its node.
    first: (f64, Option<NodeId>),
    second: f64,
}

impl<const D: usize> Desktop<D> {
    fn neighbourhood(&self, own: f64) -> Neighbourhood {
        let mut all = Neighbourhood {
            total: own,
            first: (0.0, None),
            second: 0.0,
        };
        for (id, status) in self.known.iter() {
            let load = status.load(self.dimensions());
            all.total += load;
            if load > all.first.0 || all.first.1.is_none() {
                all.second = all.first.0;
                all.first = (load, Some(id));
            } else {
                all.second = all.second.max(load);
            }
        }
        all
    }

    /// The product TLL·MLL if a job went from here to a neighbour. `None` if the job cannot run there, or if the
    /// product or the load here would not fall.
    fn product(
        &self,
        (own, around): (&Status, &Neighbourhood),
        (id, other): (NodeId, &Status),
        job: &Waiting,
    ) -> Option<f64> {
        let dimensions = self.dimensions();
        if !dimensions.matches(&other.total, &job.requirement) {
            return None;
        }
        let (from, to) = (own.load(dimensions), other.load(dimensions));
        let from_then = own.load_without(dimensions, &job.requirement);
        let to_then = other.load_with(dimensions, &job.requirement);
        let rest = if around.first.1 == Some(id) {
            around.second
        } else {
            around.first.0
        };
        let now = around.total * rest.max(from).max(to);
        let total_then = around.total - from - to + from_then + to_then;
        let then = total_then * rest.max(from_then).max(to_then);
        (then < now && from_then < from).then_some(then)
    }

    /// A round of queue balancing: at most one job moves (L10).
    pub(super) fn balance(&mut self, cx: &mut dyn Context<Self>) {
        match self.config.scheduling.balancing {
            Some(Direction::Push) if !self.queue.waiting().is_empty() => self.push_to_balance(cx),
            Some(Direction::Pull) if self.duty.takes_jobs() => self.pull_to_balance(cx),
            _ => {}
        }
    }

    /// If the load here is the highest around (L11), offers the job and neighbour pair with the lowest product.
    fn push_to_balance(&mut self, cx: &mut dyn Context<Self>) {
        let own = *self.status().get();
        let dimensions = self.dimensions();
        let load = own.load(dimensions);
        let is_highest = self.known.iter().all(|(id, status)| {
            let other = status.load(dimensions);
            load > other || (load >= other && self.me < id)
        });
        if !is_highest {
            return;
        }
        let around = self.neighbourhood(load);
        let jobs = self.queue.waiting().iter();
        let pairs = jobs.flat_map(|job| self.known.iter().map(move |other| (job, other)));
        let products = pairs.filter_map(|(job, other)| {
            let product = self.product((&own, &around), other, job)?;
            Some((product, *job, other.0))
        });
        let best = products.min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, job, to)) = best {
            self.offer(job, to, MoveTo::Wait, cx);
        }
    }

    /// Asks the neighbour with the highest load for a job, if the load here is above zero, and no higher than any load above
    /// zero of a neighbour whose capability is within this node's (L12).
    fn pull_to_balance(&mut self, cx: &mut dyn Context<Self>) {
        let own = *self.status().get();
        let dimensions = self.dimensions();
        let load = own.load(dimensions);
        if load <= 0.0 || !self.has_no_pending_pull() {
            return;
        }
        let is_least = self
            .known
            .iter()
            .filter(|(_, status)| status.is_within(dimensions, &own.total))
            .map(|(_, status)| status.load(dimensions))
            .all(|other| other <= 0.0 || load <= other);
        if !is_least {
            return;
        }
        let loads = self.known.iter();
        let loads = loads.map(|(id, status)| (status.load(dimensions), id));
        let most = loads.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        if let Some((_, donor)) = most.filter(|(other, _)| *other > load) {
            self.ask_for(donor, MoveTo::Wait, cx);
        }
    }

    /// The waiting job whose move to the asker gives the lowest product.
    pub(super) fn best_to_balance(&mut self, id: NodeId, asker: &Status) -> Option<JobId> {
        let own = *self.status().get();
        let around = self.neighbourhood(own.load(self.dimensions()));
        let products =
            self.queue.waiting().iter().filter_map(|job| {
                Some((self.product((&own, &around), (id, asker), job)?, job.job))
            });
        let best = products.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(best.1)
    }
}
