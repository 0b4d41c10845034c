use alloc::vec::Vec;

use rand_core::Rng;

use super::pool::{Pool, Rank};
use super::starts::{Mask, NO_START};
use super::{Config, NoSelection, Objective};
use crate::rng::Choose;

/// Breeds sets (PROTOCOLS F8), and keeps its memory.
///
/// A set is a list of positions in no particular order. A child has the nodes that both parents have and, of each pair of
/// nodes that only one of them has, one; so it has as many as they, each once, and nothing is left to repair. Then some of its
/// nodes are swapped for others. Where not everyone is always free, a child that could never start is its first parent again,
/// and only those join who are free at a start that the others share.
#[derive(Clone, Debug, Default)]
pub(super) struct Breeder {
    /// The sets of this generation, one behind the other, and of the next.
    sets: Vec<u32>,
    next_sets: Vec<u32>,
    ranks: Vec<Rank>,
    next_ranks: Vec<Rank>,
    /// The sets by rank.
    order: Vec<u32>,
    nursery: Nursery,
}

/// Where a child is put together.
#[derive(Clone, Debug, Default)]
struct Nursery {
    /// For each candidate who took it last.
    marks: Vec<u32>,
    /// The mark in use.
    mark: u32,
    /// What only the first and only the second parent has.
    first: Vec<u32>,
    second: Vec<u32>,
    /// Everyone who is free at some start.
    free: Vec<u32>,
}

impl Breeder {
    /// The best set of a population that begins with these sets, and others at random.
    pub(super) fn breed<O: Objective + ?Sized>(
        &mut self,
        pool: &Pool<'_>,
        objective: &O,
        config: &Config,
        seeds: &[u32],
        rng: &mut impl Rng,
    ) -> Result<(Rank, Vec<u32>), NoSelection> {
        let count = pool.problem.count as usize;
        let population = config.population.max(2) as usize;
        self.found(pool, population, seeds, rng);
        self.ranks.clear();
        for set in self.sets.chunks_exact(count) {
            self.ranks.push(pool.estimate(objective, set)?);
        }
        let mut best = self.ranks.iter().min().copied().unwrap_or(Rank::NEVER);
        let mut idle = 0_u32;
        for _ in 0..config.generations {
            self.renew(pool, objective, config, rng)?;
            let better = self.ranks.iter().min().copied().unwrap_or(Rank::NEVER);
            idle = if better < best {
                0
            } else {
                idle.saturating_add(1)
            };
            best = best.min(better);
            if config.stall.is_some_and(|stall| idle >= stall) {
                break;
            }
        }
        self.best(pool, objective)
    }

    /// The first generation.
    fn found(&mut self, pool: &Pool<'_>, population: usize, seeds: &[u32], rng: &mut impl Rng) {
        let count = pool.problem.count as usize;
        let nursery = &mut self.nursery;
        nursery.begin(pool.len());
        self.sets.clear();
        self.sets.reserve(population.saturating_mul(count));
        let seeds = seeds.chunks_exact(count).take(population);
        seeds.for_each(|seed| self.sets.extend_from_slice(seed));
        while self.sets.len() < population.saturating_mul(count) {
            let Some(room) = rng.pick(pool.rooms) else {
                break;
            };
            if nursery.free.len() != room.free as usize || pool.rooms.len() > 1 {
                nursery.free.clear();
                nursery.free.extend(pool.problem.starts.free(room.at));
            }
            let (set, _) = rng.sample(&mut nursery.free, count);
            self.sets.extend_from_slice(set);
        }
    }

    /// Puts the next generation in the place of this one.
    fn renew<O: Objective + ?Sized>(
        &mut self,
        pool: &Pool<'_>,
        objective: &O,
        config: &Config,
        rng: &mut impl Rng,
    ) -> Result<(), NoSelection> {
        let count = pool.problem.count as usize;
        let population = self.ranks.len();
        let elite = (config.elite as usize).min(population);
        self.order_by_rank(elite);
        self.next_sets.clear();
        self.next_ranks.clear();
        for &parent in self.order.iter().take(elite) {
            self.next_sets
                .extend_from_slice(set_of(&self.sets, parent, count));
            self.next_ranks.extend(self.ranks.get(parent as usize));
        }
        for _ in elite..population {
            let mut parent = || {
                let winner = tournament(&self.ranks, config.tournament, rng);
                set_of(&self.sets, winner, count)
            };
            let (one, other) = (parent(), parent());
            let from = self.next_sets.len();
            self.nursery.cross(one, other, &mut self.next_sets, rng);
            let child = self.next_sets.get_mut(from..).unwrap_or_default();
            let mask = self.nursery.keep_startable(pool, one, child);
            self.nursery.mutate(pool, config.swaps, mask, child, rng);
            self.next_ranks.push(pool.estimate(objective, child)?);
        }
        core::mem::swap(&mut self.sets, &mut self.next_sets);
        core::mem::swap(&mut self.ranks, &mut self.next_ranks);
        Ok(())
    }

    /// Puts the best `most` sets first in the order, equals by age.
    fn order_by_rank(&mut self, most: usize) {
        self.order.clear();
        self.order
            .extend((0_u32..).zip(&self.ranks).map(|(at, _)| at));
        let ranks = &self.ranks;
        let rank = |&at: &u32| (ranks.get(at as usize).copied().unwrap_or(Rank::NEVER), at);
        if most > 0 && most < self.order.len() {
            self.order
                .select_nth_unstable_by_key(most.saturating_sub(1), rank);
        }
        if let Some(front) = self.order.get_mut(..most) {
            front.sort_unstable_by_key(rank);
        }
    }

    /// Of the sets that may be the best, the one that is.
    fn best<O: Objective + ?Sized>(
        &mut self,
        pool: &Pool<'_>,
        objective: &O,
    ) -> Result<(Rank, Vec<u32>), NoSelection> {
        let count = pool.problem.count as usize;
        let mut best: Option<(Rank, Vec<u32>)> = None;
        for set in self.sets.chunks_exact_mut(count) {
            set.sort_unstable();
            let rank = pool.rank(objective, set)?;
            let better = best
                .as_ref()
                .is_none_or(|(least, chosen)| (rank, &*set) < (*least, chosen.as_slice()));
            if better {
                best = Some((rank, Vec::from(set)));
            }
        }
        best.ok_or(NoSelection::NoCommonStart)
    }
}

/// The members of a set.
fn set_of(sets: &[u32], at: u32, count: usize) -> &[u32] {
    let from = (at as usize).saturating_mul(count);
    let rest = sets.get(from..).unwrap_or_default();
    rest.get(..count).unwrap_or_default()
}

/// The best of some sets drawn at random.
fn tournament(ranks: &[Rank], size: u32, rng: &mut impl Rng) -> u32 {
    let population = u32::try_from(ranks.len()).unwrap_or(u32::MAX);
    let mut winner = rng.below(population);
    for _ in 1..size {
        let rival = rng.below(population);
        if ranks.get(rival as usize) < ranks.get(winner as usize) {
            winner = rival;
        }
    }
    winner
}

impl Nursery {
    /// Makes room for so many candidates.
    fn begin(&mut self, candidates: u32) {
        self.marks.clear();
        self.marks.resize(candidates as usize, 0);
        self.mark = 0;
        self.free.clear();
    }

    /// A mark that nobody has.
    fn fresh_mark(&mut self) -> u32 {
        if self.mark == u32::MAX {
            self.marks.fill(0);
            self.mark = 0;
        }
        self.mark = self.mark.saturating_add(1);
        self.mark
    }

    /// Appends a child of two sets.
    fn cross(&mut self, one: &[u32], other: &[u32], children: &mut Vec<u32>, rng: &mut impl Rng) {
        let in_one = self.fresh_mark();
        for &at in one {
            if let Some(mark) = self.marks.get_mut(at as usize) {
                *mark = in_one;
            }
        }
        let in_both = self.fresh_mark();
        self.first.clear();
        self.second.clear();
        for &at in other {
            match self.marks.get_mut(at as usize) {
                Some(mark) if *mark == in_one => {
                    *mark = in_both;
                    children.push(at);
                }
                _ => self.second.push(at),
            }
        }
        let marks = &self.marks;
        let only_one = |at: &&u32| marks.get(**at as usize) == Some(&in_one);
        self.first.extend(one.iter().filter(only_one));
        let mut coins = Coins::default();
        for (&first, &second) in self.first.iter().zip(&self.second) {
            children.push(if coins.toss(rng) { first } else { second });
        }
    }

    /// The starts that a child's members share; a child without any is its parent again.
    fn keep_startable(&self, pool: &Pool<'_>, parent: &[u32], child: &mut [u32]) -> Mask {
        if pool.is_open() {
            return pool.allowed;
        }
        let starts = pool.problem.starts;
        let mask = starts.mask_of(child, pool.allowed);
        if mask != NO_START {
            return mask;
        }
        child.copy_from_slice(parent);
        starts.mask_of(child, pool.allowed)
    }

    /// Swaps members for others that are free at a start which all members share.
    ///
    /// Who joins is the first such candidate from a random one on, so that a swap takes two choices whoever is a member.
    fn mutate(
        &mut self,
        pool: &Pool<'_>,
        swaps: u32,
        mut mask: Mask,
        child: &mut [u32],
        rng: &mut impl Rng,
    ) {
        if child.len() >= self.marks.len() || swaps == 0 {
            return;
        }
        let member = self.fresh_mark();
        for &at in &*child {
            if let Some(mark) = self.marks.get_mut(at as usize) {
                *mark = member;
            }
        }
        let candidates = pool.len();
        for _ in 0..swaps {
            let place = rng.index(child.len());
            let from = rng.below(candidates);
            let around = (from..candidates).chain(0..from);
            let joining = around
                .filter(|&at| self.marks.get(at as usize) != Some(&member))
                .map(|at| (at, mask_with(pool, at, mask)))
                .find(|(_, mask)| *mask != NO_START);
            if let (Some((joining, narrower)), Some(place)) = (joining, child.get_mut(place)) {
                if let Some(mark) = self.marks.get_mut(*place as usize) {
                    *mark = 0;
                }
                if let Some(mark) = self.marks.get_mut(joining as usize) {
                    *mark = member;
                }
                *place = joining;
                mask = narrower;
            }
        }
    }
}

/// The starts that remain when a candidate joins.
fn mask_with(pool: &Pool<'_>, at: u32, mask: Mask) -> Mask {
    if pool.is_open() {
        mask
    } else {
        pool.problem.starts.mask(at, mask)
    }
}

/// Fair coins, 31 from each choice.
#[derive(Default)]
struct Coins {
    bits: u32,
    left: u32,
}

impl Coins {
    fn toss(&mut self, rng: &mut impl Rng) -> bool {
        if self.left == 0 {
            self.bits = rng.below(1 << 31);
            self.left = 31;
        }
        let heads = self.bits & 1 == 1;
        self.bits >>= 1;
        self.left = self.left.saturating_sub(1);
        heads
    }
}
