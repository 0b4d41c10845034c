//! Searches in the second space. If a search in the primary space finds no node that can start the job at once, it goes
//! on here: to the job's point, and then outwards, where members have enough left.

use super::matching::push_target;
use super::message::{Errand, Trail, Turn, Way};
use super::rendezvous::origin;
use super::{Desktop, Quest, Residues, Shared, space};
use crate::id::NodeId;
use crate::job::Job;
use crate::machine::Context;
use crate::overlay::can::{self, Hop};
use crate::resource::Requirement;
use crate::rng::Choose;
use crate::time::Time;

/// How many members a search in the second space goes through at most.
const STEPS: u8 = 16;

impl<const D: usize> Desktop<D> {
    /// Goes on in the second space with a search that found no node to start the job at once.
    pub(super) fn begin_forage(
        &mut self,
        job: Shared<Job>,
        quest: Quest,
        mut trail: Trail<D>,
        cx: &mut dyn Context<Self>,
    ) {
        let needs = self.needs(job.get());
        let virtual_dimensions = usize::from(self.config.can.virtual_dimensions);
        let (dimensions, most) = (self.dimensions(), &self.config.most);
        let point = space::point_for(dimensions, most, &needs, virtual_dimensions, cx.rng());
        trail.toward = Some(point);
        self.forage((job, quest, trail), Way::Begins, STEPS, cx);
    }

    /// Rates the members known here by what they have left, and sends the search on or ends it.
    pub(super) fn forage(
        &mut self,
        (job, quest, mut trail): (Shared<Job>, Quest, Trail<D>),
        way: Way,
        steps: u8,
        cx: &mut dyn Context<Self>,
    ) {
        trail.hops = trail.hops.min(self.config.hops);
        let steps = steps.min(STEPS);
        let is_inside = !self.is_outside_of_residue_space();
        let next = match (trail.hops.checked_sub(1), way) {
            (None, _) => None,
            (Some(_), _) if self.config.residues != Residues::DualCan => None,
            (Some(_), _) if is_inside => {
                let needs = self.needs(job.get());
                self.see_residues((&job, &needs), &mut trail);
                steps.checked_sub(1).and_then(|left| {
                    let to = self.next_forage(&needs, &mut trail, cx)?;
                    Some((to, Way::Inside, left))
                })
            }
            (Some(_), Way::Inside) => None,
            (Some(_), Way::Begins) => match self.hearsay(cx) {
                Some(to) => Some((to, Way::Hearsay, steps)),
                None => self.toward_rendezvous(steps, cx.now()),
            },
            (Some(_), Way::Hearsay | Way::Rendezvous) => self.toward_rendezvous(steps, cx.now()),
        };
        let Some((to, way, steps)) = next else {
            return self.conclude_hunt(&job, quest, &trail, cx);
        };
        trail.hops = trail.hops.saturating_sub(1);
        let errand = Errand::Forage {
            job,
            quest,
            trail,
            way,
            steps,
        };
        self.run_errand(to, errand, cx);
    }

    /// A peer that may be a member: a contact, or a random primary neighbour whose status has something left.
    fn hearsay(&self, cx: &mut dyn Context<Self>) -> Option<NodeId> {
        let contact = self.residue_space.as_ref()?.contact(cx.now());
        if contact.is_some_and(|contact| contact != self.me) {
            return contact;
        }
        let members = || self.known.iter().filter(|(_, it)| self.has_residue(it));
        let count = members().count();
        let index = (count > 0).then(|| cx.rng().index(count))?;
        members().nth(index).map(|(id, _)| id)
    }

    /// The next hop to the rendezvous, or from there to a member in its registry.
    fn toward_rendezvous(&self, steps: u8, now: Time) -> Option<(NodeId, Way, u8)> {
        match self.can.next_hop(&origin()) {
            Hop::To(to) => Some((to, Way::Rendezvous, steps)),
            Hop::Here => {
                let registry = &self.residue_space.as_ref()?.registry;
                let mut members = registry.members.iter().filter(|_| now < registry.until);
                let member = members.find(|member| **member != self.me)?;
                Some((*member, Way::Inside, steps))
            }
            Hop::Stuck => None,
        }
    }

    /// The next hop of a search in the second space; `None` ends it.
    fn next_forage(
        &self,
        needs: &Requirement,
        trail: &mut Trail<D>,
        cx: &mut dyn Context<Self>,
    ) -> Option<NodeId> {
        let found = trail.best.best();
        if found.is_some_and(|merit| merit.turn < Turn::Later) {
            return None;
        }
        let can = &self.residue_space.as_ref()?.can;
        if let Some(point) = trail.toward {
            if let Hop::To(to) = can.next_hop(&point) {
                return Some(to);
            }
            trail.toward = None;
        }
        push_target(can, &self.needed(needs), cx).map(|(_, to)| to)
    }

    /// Rates this node and its neighbours in the second space for a job.
    fn see_residues(&mut self, (job, needs): (&Shared<Job>, &Requirement), trail: &mut Trail<D>) {
        let own = self.status();
        let own = (self.duty.takes_jobs()).then(|| (self.me, own.get()));
        let Some(space) = &self.residue_space else {
            return;
        };
        let id = job.get().id;
        // Only neighbours: a former neighbour has left the space, since it has nothing left.
        let around = space.can.neighbours().map(can::Neighbour::id);
        let around = around.filter_map(|id| Some((id, space.known.get(id)?)));
        for (node, status) in around.chain(own) {
            if let Some(merit) = self.merit(node, status, (id, trail.passed), needs) {
                trail.best.see(merit);
            }
        }
    }
}
