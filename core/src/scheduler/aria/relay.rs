//! Floods: a node answers the origin with an offer, and passes the flood on to a few neighbours.

use super::config::Forward;
use super::foreign::Offered;
use super::promises::Promise;
use super::{Aria, Message};
use crate::custody::Refused;
use crate::id::{JobId, NodeId};
use crate::job::{Job, Scope};
use crate::machine::Context;
use crate::overlay::flood::{FloodId, Header, Reach, Sight};
use crate::queue::{Cost, LocalScheduler, QueuedJob, offer};
use crate::shared::Shared;
use crate::trace::Trace;

/// The kind of a flood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Request,
    Inform,
}

impl Kind {
    /// The number of the kind in the name of a flood.
    pub(super) const fn number(self) -> u8 {
        match self {
            Self::Request => 0,
            Self::Inform => 1,
        }
    }

    /// For how many windows a foreign site keeps the place that it offers. An offer is taken when the window is over; the
    /// site that has the job must then withdraw it.
    const fn windows(self) -> u64 {
        match self {
            Self::Request => 2,
            Self::Inform => 4,
        }
    }
}

impl<S: LocalScheduler> Aria<S> {
    /// The name of this node's next flood.
    pub(super) const fn name_flood(&mut self, kind: Kind, job: JobId) -> FloodId {
        self.floods = self.floods.wrapping_add(1);
        FloodId {
            origin: self.me,
            sequence: job.get(),
            kind: kind.number(),
            round: self.floods,
        }
    }

    /// Begins a flood about a job. Returns its name.
    pub(super) fn flood(
        &mut self,
        kind: Kind,
        job: &Shared<Job>,
        cost: Cost,
        cx: &mut dyn Context<Self>,
    ) -> FloodId {
        let id = self.name_flood(kind, job.get().id);
        let header = self.reach(kind).begin(id);
        // If there is no room, it still knows its own floods by their origin.
        self.seen.see(id, cx.now());
        self.pass_on(None, kind, header, job, cost, cx);
        id
    }

    /// Handles a flood of another node.
    pub(super) fn on_flood(
        &mut self,
        from: NodeId,
        kind: Kind,
        header: Header,
        job: &Shared<Job>,
        cost: Cost,
        cx: &mut dyn Context<Self>,
    ) {
        // If the name does not fit the message, an offer would answer another question.
        let sound = header.id.kind == kind.number() && header.id.sequence == job.get().id.get();
        // After a restart a node may receive its own flood.
        let own = header.id.origin == self.me;
        if !sound || own {
            return;
        }
        let sight = self.seen.see(header.id, cx.now());
        if sight == Sight::Again {
            return;
        }
        if sight == Sight::Unkept {
            self.cut_off = self.cut_off.saturating_add(1);
        }
        let confined = job.get().scope == Scope::Here;
        let matches = !confined && self.takes(job.get());
        if !matches {
            let why = match confined {
                true => Refused::NoMatch,
                false => self.refuses(job.get()).unwrap_or(Refused::Full),
            };
            cx.trace(Trace::Refuses {
                job: job.get().id,
                peer: header.id.origin,
                why: why.words(),
            });
        } else {
            let price = self.price(job.get(), Offered::Counts, cx);
            let wanted = match kind {
                Kind::Request => true,
                Kind::Inform => price.beats(cost, self.threshold()),
            };
            if wanted {
                let flood = header.id;
                self.promise(Promise {
                    queued: QueuedJob::arriving(job.get(), cx.now()),
                    cost: price,
                    until: cx.now() + self.config.window.times(kind.windows()),
                });
                cx.send(flood.origin, Message::Accept { flood, cost: price });
            }
        }
        let forwards = match self.config.forward {
            Forward::Unmatched => !matches,
            Forward::Near(hops) => !matches || header.hops <= hops,
            Forward::Wide { near, busy } => {
                let waits = || self.start_if_taken(job.get(), cx.now()) > Some(cx.now());
                !matches || header.hops <= near || (header.hops <= busy && waits())
            }
            Forward::Always => true,
        };
        if forwards && sight == Sight::First {
            self.pass_on(Some(from), kind, header, job, cost, cx);
        }
    }

    /// The cost of a job at this site if it arrived now.
    pub(super) fn price(&self, job: &Job, offered: Offered, cx: &mut dyn Context<Self>) -> Cost {
        let queued = QueuedJob::arriving(job, cx.now());
        let outlook = self.outlook(job.id, offered, cx.now());
        offer(outlook.as_ref(), cx.now(), &queued, self.config.lateness)
    }

    const fn reach(&self, kind: Kind) -> Reach {
        match kind {
            Kind::Request => self.config.request,
            Kind::Inform => self.config.inform,
        }
    }

    fn pass_on(
        &self,
        from: Option<NodeId>,
        kind: Kind,
        header: Header,
        job: &Shared<Job>,
        cost: Cost,
        cx: &mut dyn Context<Self>,
    ) {
        let reach = self.reach(kind);
        let Some(header) = header.onward(reach) else {
            return;
        };
        let targets = reach.targets(self.links.neighbours(), from, cx.rng());
        for to in targets {
            let job = job.clone();
            let message = match kind {
                Kind::Request => Message::Request { header, job },
                Kind::Inform => Message::Inform { header, job, cost },
            };
            cx.send(to, message);
        }
    }
}
