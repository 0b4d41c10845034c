use alloc::vec::Vec;
use core::cmp::Ordering;

use super::points::Points;
use super::starts::{Mask, is_set};
use super::{NoSelection, Objective, Problem, Selection, Set};
use crate::id::NodeId;
use crate::time::{Span, Time};

/// Memory for a [`Pool`].
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    points: Points,
    current: Vec<bool>,
    rooms: Vec<Room>,
    sorted: Vec<NodeId>,
}

/// A start at which enough candidates are free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Room {
    /// The number of the start.
    pub(super) at: usize,
    /// How many are free.
    pub(super) free: u32,
}

/// A problem that makes sense, and what is looked up again and again in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pool<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) points: &'a Points,
    /// Which candidates the job has already.
    pub(super) current: &'a [bool],
    /// The starts at which enough candidates are free, in order.
    pub(super) rooms: &'a [Room],
    /// The starts that the objective allows.
    pub(super) allowed: Mask,
    /// The first start, if all candidates are free then and it is allowed.
    open: Option<Time>,
}

/// How good a set is: what it costs, then its start, then how many of its nodes are new to the job (PROTOCOLS F4).
#[derive(Clone, Copy, Debug)]
pub(super) struct Rank {
    pub(super) cost: f64,
    pub(super) start: Time,
    pub(super) fresh: u32,
}

impl Tables {
    /// Checks a problem, except for the number of nodes that it wants.
    pub(super) fn pool<'a>(
        &'a mut self,
        problem: &'a Problem<'a>,
        latest: Option<Span>,
    ) -> Result<Pool<'a>, NoSelection> {
        let candidates = problem.nodes.len();
        let starts = problem.starts;
        if problem.profiles.len() != candidates || starts.candidates() != candidates {
            return Err(NoSelection::Mismatch);
        }
        if !problem.nodes.is_sorted_by(|a, b| a < b) {
            self.sorted.clear();
            self.sorted.extend_from_slice(problem.nodes);
            self.sorted.sort_unstable();
            if !self.sorted.is_sorted_by(|a, b| a < b) {
                return Err(NoSelection::NotDistinct);
            }
        }
        self.current.clear();
        if !problem.current.is_empty() {
            self.current.resize(candidates, false);
        }
        for &at in problem.current {
            match self.current.get_mut(at as usize) {
                Some(mine) if !*mine => *mine = true,
                _ => return Err(NoSelection::NotDistinct),
            }
        }
        self.points.fill(problem.profiles);
        let allowed = latest.map_or_else(|| starts.all(), |most| starts.until(problem.from + most));
        self.rooms.clear();
        let count = |at| u32::try_from(starts.free(at).count()).unwrap_or(u32::MAX);
        let rooms = (0..starts.times().len())
            .filter(|&at| is_set(&allowed, at))
            .map(|at| Room {
                at,
                free: count(at),
            })
            .filter(|room| room.free >= problem.count);
        self.rooms.extend(rooms);
        let first = starts.times().first().copied();
        let open = first.filter(|_| starts.open() && is_set(&allowed, 0));
        Ok(Pool {
            problem,
            points: &self.points,
            current: &self.current,
            rooms: &self.rooms,
            allowed,
            open,
        })
    }
}

impl Pool<'_> {
    /// How many candidates there are.
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.problem.nodes.len()).unwrap_or(u32::MAX)
    }

    /// Whether any set can start at the first start.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// When a set can start.
    pub(super) fn start(&self, chosen: &[u32]) -> Option<Time> {
        if self.open.is_some() {
            return self.open;
        }
        let starts = self.problem.starts;
        starts.first_of(starts.mask_of(chosen, self.allowed))
    }

    /// Whether a candidate is free for the job at one of the starts.
    pub(super) fn is_free_at(&self, at: u32, start: Time) -> bool {
        let starts = self.problem.starts;
        let number = starts.times().binary_search(&start);
        number.is_ok_and(|number| starts.is_free(at, number))
    }

    /// Exactly how good a set is. Its members must be in order, so that sums come out the same.
    pub(super) fn rank<O: Objective + ?Sized>(
        &self,
        objective: &O,
        chosen: &[u32],
    ) -> Result<Rank, NoSelection> {
        self.judge(chosen, |set| objective.cost(set))
    }

    /// [`rank`](Self::rank) of a set that starts then, whether or not it could start earlier.
    pub(super) fn rank_at<O: Objective + ?Sized>(
        &self,
        objective: &O,
        chosen: &[u32],
        start: Time,
    ) -> Result<Rank, NoSelection> {
        self.judge_at(chosen, start, |set| objective.cost(set))
    }

    /// About how good a set is.
    pub(super) fn estimate<O: Objective + ?Sized>(
        &self,
        objective: &O,
        chosen: &[u32],
    ) -> Result<Rank, NoSelection> {
        self.judge(chosen, |set| objective.estimate(set))
    }

    fn judge(
        &self,
        chosen: &[u32],
        cost: impl FnOnce(&Set<'_>) -> f64,
    ) -> Result<Rank, NoSelection> {
        match self.start(chosen) {
            Some(start) => self.judge_at(chosen, start, cost),
            None => Ok(Rank::NEVER),
        }
    }

    fn judge_at(
        &self,
        chosen: &[u32],
        start: Time,
        cost: impl FnOnce(&Set<'_>) -> f64,
    ) -> Result<Rank, NoSelection> {
        let problem = self.problem;
        let set = Set::new(problem.nodes, problem.profiles, chosen, start, problem.from);
        let rank = Rank {
            cost: acceptable(cost(&set.with_points(self.points)))?,
            start,
            fresh: self.fresh(chosen),
        };
        Ok(rank)
    }

    /// How many of these the job does not have yet, if it has any.
    fn fresh(&self, chosen: &[u32]) -> u32 {
        let new = |&at: &u32| u32::from(self.current.get(at as usize) == Some(&false));
        chosen.iter().map(new).sum()
    }

    /// The result for a set, if it can start and is acceptable.
    pub(super) fn selection(&self, rank: Rank, chosen: Vec<u32>) -> Result<Selection, NoSelection> {
        if rank.start == Rank::NEVER.start && self.start(&chosen).is_none() {
            return Err(NoSelection::NoCommonStart);
        }
        if rank.cost == f64::INFINITY {
            return Err(NoSelection::NotAcceptable);
        }
        Ok(Selection {
            chosen,
            start: rank.start,
            cost: rank.cost,
        })
    }
}

/// A cost that can be compared.
pub(super) fn acceptable(cost: f64) -> Result<f64, NoSelection> {
    if cost.is_nan() || cost == f64::NEG_INFINITY {
        return Err(NoSelection::NotANumber);
    }
    // Turns -0 into 0: they compare as different in a rank.
    Ok(cost + 0.0)
}

impl Rank {
    /// Of a set that never starts.
    pub(super) const NEVER: Self = Self {
        cost: f64::INFINITY,
        start: Time::MAX,
        fresh: u32::MAX,
    };
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        let cost = self.cost.total_cmp(&other.cost);
        cost.then(self.start.cmp(&other.start))
            .then(self.fresh.cmp(&other.fresh))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Rank {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Rank {}
