//! The best placement of a job on the nodes that an iteration has found.

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::hash::{Hash, Hasher};

use super::super::catalogue::with_objective;
use super::super::explore::{Expedition, Found};
use super::super::{Catalogue, Criteria};
use super::{Request, count};
use crate::commit::Policy;
use crate::id::NodeId;
use crate::job::Job;
use crate::machine::Context;
use crate::profile::Coordinate;
use crate::schedule::Snapshot;
use crate::select::{NoSelection, Problem, Starts, evaluate, select, stand_ins};
use crate::time::Interval;

/// Nodes and time on which a job could run, and their cost.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Placement {
    /// `None` if the profiles of its nodes are not known: then no other placement is better.
    pub(super) cost: Option<Cost>,
    pub(super) interval: Interval,
    pub(super) nodes: Vec<NodeId>,
    /// Nodes that can stand in for one of its own, best last.
    pub(super) spares: Vec<NodeId>,
    /// The node in the middle of it; `None` if the profiles of its nodes are not known.
    pub(super) middle: Option<NodeId>,
}

impl Placement {
    /// Whether this placement costs less, or costs the same and starts earlier (PROTOCOLS F4).
    pub(super) fn beats(&self, other: Option<&Self>) -> bool {
        let key = |place: &Self| (place.cost, place.interval.start());
        other.is_none_or(|other| key(self) < key(other))
    }
}

/// A cost with a total order, by `f64::total_cmp`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost(pub(super) f64);

impl Ord for Cost {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Cost {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Cost {}

impl Hash for Cost {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// The schedule of a node as the job sees it: the time that the job has reserved there itself counts as free.
fn as_seen(found: &Found, has: Option<&Placement>) -> Snapshot {
    match has.filter(|place| place.nodes.contains(&found.node)) {
        Some(place) => found.schedule.without(place.interval),
        None => found.schedule.clone(),
    }
}

impl<const C: usize, const L: usize, const G: usize, U: Catalogue, P: Policy>
    Criteria<C, L, G, U, P>
{
    /// The cost of the placement that a job has, if an expedition has found all of its nodes.
    pub(super) fn cost_of_own(&self, job: &Job, expedition: &Expedition) -> Option<Cost> {
        let request = self.request(job.id)?;
        let has = request.has.as_ref().filter(|place| place.cost.is_none())?;
        let found = |node: &NodeId| expedition.found.iter().find(|found| found.node == *node);
        let members: Option<Vec<&Found>> = has.nodes.iter().map(found).collect();
        let profiles: Vec<_> = members?.iter().map(|found| found.profile.clone()).collect();
        let count = count(job);
        let problem = Problem {
            nodes: &has.nodes,
            profiles: &profiles,
            starts: &Starts::at(has.interval.start(), count),
            count,
            current: &[],
            from: request.base,
        };
        let all: Vec<u32> = (0..count).collect();
        let cost = with_objective(&self.catalogue, job.criterion, |objective| {
            evaluate(&problem, objective, &all)
        });
        Some(Cost(cost?.ok()?.cost))
    }

    /// The best placement on the nodes that were found; without unwilling nodes, if there is one.
    pub(super) fn select_place(
        &self,
        job: &Job,
        expedition: &Expedition,
        cx: &mut dyn Context<Self>,
    ) -> Option<Result<Placement, NoSelection>> {
        let request = self.request(job.id)?;
        let mut all: Vec<&Found> = expedition.found.iter().collect();
        // The selection must not depend on the order of the answers.
        all.sort_unstable_by_key(|found| found.node);
        let is_willing = |found: &&Found| !request.unwilling.contains(&found.node);
        let willing: Vec<&Found> = all.iter().copied().filter(is_willing).collect();
        if willing.len() < all.len()
            && let Ok(placement) = self.select_among(job, request, &willing, cx)
        {
            return Some(Ok(placement));
        }
        Some(self.select_among(job, request, &all, cx))
    }

    /// The best placement on some nodes, which are sorted by id.
    fn select_among(
        &self,
        job: &Job,
        request: &Request,
        found: &[&Found],
        cx: &mut dyn Context<Self>,
    ) -> Result<Placement, NoSelection> {
        let config = &self.config;
        let has = request.has.as_ref();
        let nodes: Vec<NodeId> = found.iter().map(|found| found.node).collect();
        let profiles: Vec<_> = found.iter().map(|found| found.profile.clone()).collect();
        let schedules: Vec<Snapshot> = found.iter().map(|found| as_seen(found, has)).collect();
        let current: Vec<u32> = (0_u32..)
            .zip(&nodes)
            .filter(|(_, node)| has.is_some_and(|place| place.nodes.contains(node)))
            .map(|(at, _)| at)
            .collect();
        let from = request.soonest(cx.now(), config);
        let length = config.length(job);
        let starts = Starts::new(&schedules, from, length, config.horizon, config.slot);
        let problem = Problem {
            nodes: &nodes,
            profiles: &profiles,
            starts: &starts,
            count: count(job),
            current: &current,
            from: request.base,
        };
        let mut rng = cx.rng();
        let most = usize::from(config.spares.min(config.commit.members));
        let selected = with_objective(&self.catalogue, job.criterion, |objective| {
            let selection = select(&problem, objective, &config.select, &mut rng)?;
            let spares = match most {
                0 => Vec::new(),
                most => stand_ins(&problem, objective, &selection, most)?,
            };
            Ok((selection, spares))
        });
        // A criterion that the catalogue does not know any more has no cost either.
        let (selection, spares) = selected.unwrap_or(Err(NoSelection::NotANumber))?;
        let named = |at: &u32| nodes.get(*at as usize).copied();
        let interval = Interval::starting(selection.start, length);
        let chosen = selection.chosen.iter();
        let members = chosen.clone().filter_map(|at| found.get(*at as usize));
        Ok(Placement {
            cost: Some(Cost(selection.cost)),
            interval: interval.map_err(|_| NoSelection::NoCommonStart)?,
            nodes: chosen.filter_map(named).collect(),
            spares: spares.iter().rev().filter_map(named).collect(),
            middle: middle(members.copied()),
        })
    }
}

/// The node nearest to the centroid of some.
fn middle<'a>(members: impl Iterator<Item = &'a Found> + Clone) -> Option<NodeId> {
    let points = members
        .clone()
        .map(|found| found.profile.coordinate.point.map(i64::from));
    let count = i64::try_from(points.clone().count()).ok()?;
    let sum = points.fold([0_i64; Coordinate::DIMENSIONS], |mut sum, point| {
        for (sum, part) in sum.iter_mut().zip(point) {
            *sum = sum.saturating_add(part);
        }
        sum
    });
    let mean = sum.map(|sum| sum.checked_div(count).unwrap_or_default() as i32);
    let centroid = Coordinate::at(mean);
    let distance = |found: &&Found| found.profile.coordinate.distance(centroid);
    let nearest = members.min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.map(|found| found.node)
}
