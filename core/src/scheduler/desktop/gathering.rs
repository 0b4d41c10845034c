//! Internode scheduling beyond the neighbours: if a node has free cores and no neighbour has a job for them, it sends a
//! question from node to node, to where jobs wait. P4 asks neighbours only (PROTOCOLS L8).

use super::message::{Errand, Gather};
use super::{Desktop, space};
use crate::id::NodeId;
use crate::machine::Context;
use crate::overlay::can::{END, Hop, Point};
use crate::resource::Capability;
use crate::rng::Choose;

impl<const D: usize> Desktop<D> {
    /// Sends a question for a job that could start here at once.
    pub(super) fn begin_gathering(&mut self, cx: &mut dyn Context<Self>) {
        let status = self.status();
        let toward = self.within(&status.get().free, cx);
        let gather = Gather {
            asker: self.me,
            status,
            toward,
            hops: self.config.pull_hops,
        };
        self.gather_on(None, gather, cx);
    }

    /// Gives the asker a waiting job that could start there at once, or sends the question on.
    pub(super) fn on_gather(
        &mut self,
        from: NodeId,
        gather: Gather<D>,
        cx: &mut dyn Context<Self>,
    ) {
        let (asker, status) = (gather.asker, gather.status.get());
        if asker == self.me || !status.is_possible(self.dimensions(), &self.config.most) {
            return;
        }
        if self.give_to_start(asker, status, cx) == 0 {
            self.gather_on(Some(from), gather, cx);
        }
    }

    /// Sends a question on: to a neighbour with waiting jobs, else towards its point, and from there towards another.
    fn gather_on(
        &mut self,
        from: Option<NodeId>,
        mut gather: Gather<D>,
        cx: &mut dyn Context<Self>,
    ) {
        let hops = gather.hops.min(self.config.pull_hops);
        let Some(left) = hops.checked_sub(1) else {
            return;
        };
        gather.hops = left;
        let busy = self.known.iter().filter(|(id, status)| {
            let asker = gather.status.get();
            status.may_fit(self.dimensions(), &asker.free)
                && status.head_passed >= asker.head_passed
                && Some(*id) != from
                && *id != gather.asker
        });
        // A random one of them, so that different questions take different ways.
        let mut chosen = None;
        for (count, (id, _)) in (1_u32..).zip(busy) {
            if cx.rng().below(count) == 0 {
                chosen = Some(id);
            }
        }
        let to = chosen.or_else(|| match self.can.next_hop(&gather.toward) {
            Hop::To(to) => Some(to),
            Hop::Here | Hop::Stuck => {
                gather.toward = self.within(&gather.status.get().free, cx);
                match self.can.next_hop(&gather.toward) {
                    Hop::To(to) => Some(to),
                    Hop::Here | Hop::Stuck => None,
                }
            }
        });
        if let Some(to) = to {
            self.run_errand(to, Errand::Gather(gather), cx);
        }
    }

    /// A random point of a job that needs no more than this.
    fn within(&self, free: &Capability, cx: &mut dyn Context<Self>) -> Point<D> {
        let mut point = [END.saturating_sub(1); D];
        for (at, (k, ..)) in point.iter_mut().zip(self.dimensions().iter()) {
            *at = space::coordinate(free.value(k), self.config.most.value(k));
        }
        for at in &mut point {
            *at = cx.rng().below(at.saturating_add(1));
        }
        Point::new(point)
    }
}
