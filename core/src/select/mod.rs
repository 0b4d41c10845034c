//! Picks nodes for a job out of many candidates, at the lowest cost by the user's criterion (P2).
//!
//! A job wants `count` nodes at once. There are more candidates than that, each with a [`Profile`] and a schedule. An
//! [`Objective`] says what a set of nodes costs, [`Starts`] when it can start, and [`select`] finds a set of low cost:
//!
//! - If the objective is a sum over nodes, such as [`Soonest`], the best set is computed directly.
//! - If there are few sets, all are tried (PROTOCOLS F8, F9).
//! - Else a genetic algorithm breeds sets. It begins with sets made by rules; swaps of nodes improve its result.
//!
//! [`Config`] can switch off all but the genetic algorithm, as [`Config::PAPER`] does.
//!
//! Of two sets with the same cost the one with the earlier start is better, then the one with fewer nodes that are new
//! to the job (PROTOCOLS F4), then the one with the lower positions. For a choice that does not depend on the order of
//! the candidates, sort them by name.
//!
//! ```
//! use gridweave_core::id::NodeId;
//! use gridweave_core::profile::{Coordinate, Profile};
//! use gridweave_core::select::{Closest, Config, Problem, Starts, select};
//! use gridweave_core::time::{Interval, Span, Time};
//! use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//!
//! // Five nodes on a line, in microseconds of delay; the third is busy for two hours.
//! let at = |x| Profile::at(Coordinate::at([x, 0, 0]));
//! let profiles = [at(0), at(9_000), at(9_100), at(9_300), at(20_000)];
//! let nodes: Vec<NodeId> = (0..5).map(NodeId::new).collect();
//! let hours = |hours: u64| Time::from_secs(3600 * hours);
//! let mut busy = vec![Vec::new(); 5];
//! busy[2].push(Interval::new(hours(0), hours(2))?);
//!
//! // Three of them for an hour, within a day.
//! let hour = Span::from_secs(3600);
//! let starts = Starts::new(&busy, hours(0), hour, hour.times(24), Span::ZERO);
//! let (count, current, from) = (3, &[][..], hours(0));
//! let problem = Problem { nodes: &nodes, profiles: &profiles, starts: &starts, count, current, from };
//! let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//! let close = select(&problem, &Closest, &Config::DEFAULT, &mut rng)?;
//! assert_eq!((close.chosen, close.start), (vec![1, 2, 3], hours(2)));
//!
//! // Close, but it has to start within the hour.
//! use gridweave_core::select::{Combined, Limit, Standard};
//! let soon = Combined::from(Standard::Closest).limited(Limit::StartWithin(hour));
//! let close = select(&problem, &soon, &Config::DEFAULT, &mut rng)?;
//! assert_eq!((close.chosen, close.start), (vec![0, 1, 3], hours(0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod combined;
mod config;
mod exact;
mod genetic;
mod greedy;
mod objective;
mod points;
mod pool;
mod set;
mod standard;
mod starts;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::fmt;

use rand_core::Rng;

use crate::id::NodeId;
use crate::profile::Profile;
use crate::time::Time;
pub use combined::{Combined, Limit, Weight};
pub use config::Config;
use genetic::Breeder;
use greedy::Greedy;
pub use objective::{Form, Hints, Objective, Sums};
use pool::{Rank, Tables};
pub use set::Set;
pub use standard::{Bandwidth, Closest, Farthest, Regions, Soonest, SquaredSpread, Standard};
pub use starts::Starts;

/// The candidates, and how many of them to pick.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// The candidates, each once.
    pub nodes: &'a [NodeId],
    /// The profile of each candidate.
    pub profiles: &'a [Profile],
    /// When each candidate is free.
    pub starts: &'a Starts,
    /// How many nodes to pick.
    pub count: u32,
    /// The positions of the nodes that the job has already.
    pub current: &'a [u32],
    /// The first instant allowed.
    pub from: Time,
}

/// The nodes picked.
#[derive(Clone, PartialEq, Debug)]
pub struct Selection {
    /// Their positions among the candidates, in order.
    pub chosen: Vec<u32>,
    /// When they can start together.
    pub start: Time,
    /// What the objective says they cost.
    pub cost: f64,
}

impl Selection {
    /// Whether this costs less than another one, or starts earlier at the same cost (PROTOCOLS F4).
    pub fn is_better_than(&self, other: &Self) -> bool {
        self.cost < other.cost || (self.cost == other.cost && self.start < other.start)
    }
}

/// Why no nodes were picked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum NoSelection {
    /// None were wanted.
    ZeroCount,
    /// More were wanted than there are.
    TooFew {
        /// How many there are.
        have: u32,
    },
    /// Candidates, profiles and schedules differ in number.
    Mismatch,
    /// A candidate or a position is listed twice, or a position is not that of a candidate.
    NotDistinct,
    /// Within the horizon there is no start at which enough nodes are free.
    NoCommonStart,
    /// The objective gave `NaN` or `-∞` for some set.
    NotANumber,
    /// No set that was tried is acceptable to the objective.
    NotAcceptable,
}

/// Picks nodes, and keeps its memory for the next time.
///
/// It carries nothing else from one selection to the next.
#[derive(Clone, Debug, Default)]
pub struct Selector {
    tables: Tables,
    breeder: Breeder,
    greedy: Greedy,
}

/// [`Selector::select`] for a single selection: it allocates its memory anew.
pub fn select<O: Objective + ?Sized>(
    problem: &Problem<'_>,
    objective: &O,
    config: &Config,
    rng: &mut impl Rng,
) -> Result<Selection, NoSelection> {
    Selector::default().select(problem, objective, config, rng)
}

/// When exactly these candidates can start together, and what they cost.
pub fn evaluate<O: Objective + ?Sized>(
    problem: &Problem<'_>,
    objective: &O,
    chosen: &[u32],
) -> Result<Selection, NoSelection> {
    let mut chosen = Vec::from(chosen);
    chosen.sort_unstable();
    let is_unknown = |&at: &u32| at as usize >= problem.nodes.len();
    if chosen.iter().any(is_unknown) || !chosen.is_sorted_by(|a, b| a < b) {
        return Err(NoSelection::NotDistinct);
    }
    let mut tables = Tables::default();
    let pool = tables.pool(problem, objective.latest())?;
    let rank = pool.rank(objective, &chosen)?;
    pool.selection(rank, chosen)
}

/// The candidates that can best stand in for any one of the chosen nodes at the same start, best first: at most `most`.
/// It judges the set in which each takes the place of the last chosen one.
pub fn stand_ins<O: Objective + ?Sized>(
    problem: &Problem<'_>,
    objective: &O,
    selection: &Selection,
    most: usize,
) -> Result<Vec<u32>, NoSelection> {
    let mut tables = Tables::default();
    let pool = tables.pool(problem, objective.latest())?;
    let Some((_, others)) = selection.chosen.split_last() else {
        return Ok(Vec::new());
    };
    let shares = problem.profiles.iter().map(|it| objective.share(it));
    let is_alike = objective.form() == Form::Shares && shares.is_sorted_by(|a, b| a == b);
    let start = selection.start;
    let mut ranked: Vec<(Rank, u32)> = Vec::new();
    for at in 0..pool.len() {
        if selection.chosen.contains(&at) || !pool.is_free_at(at, start) {
            continue;
        }
        let mut set = Vec::from(others);
        set.insert(set.partition_point(|known| *known < at), at);
        let rank = pool.rank_at(objective, &set, start)?;
        if rank.cost < f64::INFINITY {
            ranked.push((rank, at));
        }
        // The first do as well as all others.
        if is_alike && ranked.len() >= most {
            break;
        }
    }
    ranked.sort_unstable();
    Ok(ranked.into_iter().take(most).map(|(_, at)| at).collect())
}

impl Selector {
    /// Picks the nodes that cost least, as far as the search of this configuration can tell.
    ///
    /// The same arguments with the same generator give the same nodes.
    pub fn select<O: Objective + ?Sized>(
        &mut self,
        problem: &Problem<'_>,
        objective: &O,
        config: &Config,
        rng: &mut impl Rng,
    ) -> Result<Selection, NoSelection> {
        let have = u32::try_from(problem.nodes.len()).unwrap_or(u32::MAX);
        if problem.count == 0 {
            return Err(NoSelection::ZeroCount);
        }
        if problem.count > have {
            return Err(NoSelection::TooFew { have });
        }
        let pool = self.tables.pool(problem, objective.latest())?;
        if pool.rooms.is_empty() {
            return Err(NoSelection::NoCommonStart);
        }
        if let Some(most) = config.exact {
            if objective.form() == Form::Shares {
                return exact::by_shares(&pool, objective);
            }
            if exact::few_sets(have, problem.count, most) {
                return exact::by_trial(&pool, objective);
            }
        }
        let seeds = match config.greedy {
            true => Vec::from(self.greedy.seeds(&pool, objective)?),
            false => Vec::new(),
        };
        let mut best: Option<(Rank, Vec<u32>)> = None;
        for _ in 0..config.restarts.max(1) {
            let (mut rank, mut chosen) =
                self.breeder.breed(&pool, objective, config, &seeds, rng)?;
            if config.greedy {
                let bred = chosen.clone();
                self.greedy.improve(&pool, objective, &mut chosen)?;
                let improved = pool.rank(objective, &chosen)?;
                if improved < rank {
                    rank = improved;
                } else {
                    chosen = bred;
                }
            }
            if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                best = Some((rank, chosen));
            }
        }
        let (rank, chosen) = best.ok_or(NoSelection::NotAcceptable)?;
        pool.selection(rank, chosen)
    }
}

impl fmt::Display for NoSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooFew { have } => {
                return write!(f, "more nodes are wanted than the {have} there are");
            }
            Self::ZeroCount => "no nodes are wanted",
            Self::Mismatch => "candidates, profiles and schedules differ in number",
            Self::NotDistinct => "a candidate is there twice, or there is none",
            Self::NoCommonStart => "never are enough nodes free together",
            Self::NotANumber => "the objective gave something that is no cost",
            Self::NotAcceptable => "no set of nodes is acceptable",
        })
    }
}

impl core::error::Error for NoSelection {}
