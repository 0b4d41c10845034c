use alloc::vec::Vec;

use rand_core::Rng;

use super::pool::{Pool, Rank};
use super::starts::{Mask, NO_START};
use super::{Config, NoSelection, Objective};
use crate::rng::Choose;

/// Breeds sets (PROTOCOLS F8), and keeps its memory.
///
/// A set is one bit for each candidate, so that 64 of them are crossed at once. A child gets all nodes that both
/// parents have, and each node that only one parent has with an even chance. Then nodes of that second kind join or
/// leave until the child has as many nodes as a parent. If a child could never start, it becomes its first parent. At
/// last some of its nodes are swapped for other candidates that share a start with it.
///
/// The joiner or leaver is the first eligible candidate from a random position on: one random choice for each.
#[derive(Clone, Debug, Default)]
pub(super) struct Breeder {
    /// How many words a set has.
    words: usize,
    /// The sets of this generation, one behind the other, and of the next.
    sets: Vec<u64>,
    next_sets: Vec<u64>,
    ranks: Vec<Rank>,
    next_ranks: Vec<Rank>,
    /// The sets by rank.
    order: Vec<u32>,
    /// The members of the set that is being judged, in order.
    members: Vec<u32>,
    /// The candidates that are free at the start drawn last.
    free: Vec<u32>,
}

/// Two parents.
#[derive(Clone, Copy)]
struct Family<'a> {
    one: &'a [u64],
    other: &'a [u64],
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
        let population = config.population.clamp(2, Config::MOST_SETS) as usize;
        self.found(pool, population, seeds, rng);
        self.ranks.clear();
        for set in self.sets.chunks_exact(self.words) {
            list(set, &mut self.members);
            self.ranks.push(pool.estimate(objective, &self.members)?);
        }
        let mut best = self.ranks.iter().min().copied().unwrap_or(Rank::NEVER);
        let mut idle = 0_u32;
        for _ in 0..config.generations {
            if config.stall.is_some_and(|stall| idle >= stall) {
                break;
            }
            self.renew(pool, objective, config, rng)?;
            let better = self.ranks.iter().min().copied().unwrap_or(Rank::NEVER);
            idle = match better < best {
                true => 0,
                false => idle.saturating_add(1),
            };
            best = best.min(better);
        }
        self.best(pool, objective)
    }

    /// The first generation.
    fn found(&mut self, pool: &Pool<'_>, population: usize, seeds: &[u32], rng: &mut impl Rng) {
        let count = pool.problem.count as usize;
        self.words = pool.problem.nodes.len().div_ceil(64).max(1);
        self.members.clear();
        self.members.resize(count, 0);
        self.sets.clear();
        self.sets.resize(population.saturating_mul(self.words), 0);
        // Old contents do not matter: every set is overwritten.
        self.next_sets.resize(self.sets.len(), 0);
        let mut seeds = seeds.chunks_exact(count);
        let mut listed = None;
        for set in self.sets.chunks_exact_mut(self.words) {
            if let Some(seed) = seeds.next() {
                seed.iter().for_each(|&at| flip(set, at));
                continue;
            }
            let Some(room) = rng.pick(pool.rooms) else {
                break;
            };
            if listed != Some(room.at) {
                self.free.clear();
                self.free.extend(pool.problem.starts.free(room.at));
                listed = Some(room.at);
            }
            let (members, _) = rng.sample(&mut self.free, count);
            members.iter().for_each(|&at| flip(set, at));
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
        let elite = (config.elite as usize).min(self.ranks.len());
        self.order_by_rank(elite);
        self.next_ranks.clear();
        let mut places = self.next_sets.chunks_exact_mut(self.words);
        for (&parent, place) in self.order.iter().take(elite).zip(&mut places) {
            place.copy_from_slice(set_of(&self.sets, parent, self.words));
            self.next_ranks.extend(self.ranks.get(parent as usize));
        }
        for child in places {
            let mut parent = || {
                let winner = tournament(&self.ranks, config.tournament, rng);
                set_of(&self.sets, winner, self.words)
            };
            let family = Family {
                one: parent(),
                other: parent(),
            };
            family.cross(pool, child, rng);
            let mask = startable(pool, family.one, child, &mut self.members);
            for _ in 0..config.swaps.min(pool.problem.count) {
                swap(pool, mask, child, rng);
            }
            list(child, &mut self.members);
            self.next_ranks
                .push(pool.estimate(objective, &self.members)?);
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

    /// Of the last generation the best set, exactly.
    fn best<O: Objective + ?Sized>(
        &mut self,
        pool: &Pool<'_>,
        objective: &O,
    ) -> Result<(Rank, Vec<u32>), NoSelection> {
        let mut best: Option<(Rank, Vec<u32>)> = None;
        for set in self.sets.chunks_exact(self.words) {
            list(set, &mut self.members);
            let rank = pool.rank(objective, &self.members)?;
            let better = best
                .as_ref()
                .is_none_or(|(least, chosen)| (rank, &self.members) < (*least, chosen));
            if better {
                best = Some((rank, self.members.clone()));
            }
        }
        best.ok_or(NoSelection::NoCommonStart)
    }
}

/// The best of some sets drawn at random.
fn tournament(ranks: &[Rank], size: u32, rng: &mut impl Rng) -> u32 {
    let population = u32::try_from(ranks.len()).unwrap_or(u32::MAX);
    let mut winner = rng.below(population);
    for _ in 1..size.min(population) {
        let rival = rng.below(population);
        if ranks.get(rival as usize) < ranks.get(winner as usize) {
            winner = rival;
        }
    }
    winner
}

impl Family<'_> {
    /// Crosses the two, and repairs the child.
    fn cross(self, pool: &Pool<'_>, child: &mut [u64], rng: &mut impl Rng) {
        let mut members = 0_u32;
        for (child, (one, other)) in child.iter_mut().zip(self.one.iter().zip(self.other)) {
            let either = one ^ other;
            *child = one & other;
            if either != 0 {
                *child |= either & coins(either, rng);
            }
            if *child != 0 {
                members = members.saturating_add(child.count_ones());
            }
        }
        for _ in pool.problem.count..members {
            let from = rng.below(pool.len());
            let own = |at: usize| self.either(at) & word(child, at);
            if let Some(leaving) = next(child.len(), from, own) {
                flip(child, leaving);
            }
        }
        for _ in members..pool.problem.count {
            let from = rng.below(pool.len());
            let missing = |at: usize| self.either(at) & !word(child, at);
            if let Some(joining) = next(child.len(), from, missing) {
                flip(child, joining);
            }
        }
    }

    /// The candidates in this word that only one of the parents has.
    fn either(self, at: usize) -> u64 {
        word(self.one, at) ^ word(self.other, at)
    }
}

/// The starts that a child's members share; a child without any is its parent again.
fn startable(pool: &Pool<'_>, parent: &[u64], child: &mut [u64], members: &mut [u32]) -> Mask {
    if pool.is_open() {
        return pool.allowed;
    }
    let starts = pool.problem.starts;
    list(child, members);
    let mask = starts.mask_of(members, pool.allowed);
    if mask != NO_START {
        return mask;
    }
    child.copy_from_slice(parent);
    list(child, members);
    starts.mask_of(members, pool.allowed)
}

/// Swaps a member for another candidate that is free at one of these starts.
fn swap(pool: &Pool<'_>, mask: Mask, child: &mut [u64], rng: &mut impl Rng) {
    let candidates = pool.len();
    if pool.problem.count >= candidates {
        return;
    }
    let (leaving, from) = (rng.below(candidates), rng.below(candidates));
    let Some(leaving) = next(child.len(), leaving, |at| word(child, at)) else {
        return;
    };
    let others = |at: usize| !word(child, at) & present(candidates, at);
    let mut joining = next(child.len(), from, others);
    if !pool.is_open() {
        let may = |at: &u32| pool.problem.starts.mask(*at, mask) != NO_START;
        let around = (from..candidates).chain(0..from);
        joining = around.filter(|&at| !has(child, at)).find(may);
    }
    if let Some(joining) = joining {
        flip(child, leaving);
        flip(child, joining);
    }
}

/// A random bit for each bit of a word, fair up to one part in billions; no draw for a half-word without a wanted bit.
fn coins(wanted: u64, rng: &mut impl Rng) -> u64 {
    let mut coins = 0;
    if wanted >> 32 != 0 {
        coins = u64::from(rng.below(u32::MAX)) << 32;
    }
    if wanted as u32 != 0 {
        coins |= u64::from(rng.below(u32::MAX));
    }
    coins
}

/// The first candidate with its bit set, searched from `from` to the end and then from the beginning.
fn next(words: usize, from: u32, bits: impl Fn(usize) -> u64) -> Option<u32> {
    let first = (from / 64) as usize;
    let begun = bits(first) & u64::MAX << (from % 64);
    if begun != 0 {
        return position(first, begun);
    }
    let around = (first.saturating_add(1)..words).chain(0..=first);
    let mut found = around.map(|at| (at, bits(at)));
    let (at, word) = found.find(|(_, word)| *word != 0)?;
    position(at, word)
}

/// The candidate that the lowest bit of a word stands for.
fn position(at: usize, word: u64) -> Option<u32> {
    let base = u32::try_from(at).ok()?.checked_mul(64)?;
    base.checked_add(word.trailing_zeros())
}

/// The bits of this word that stand for a candidate.
fn present(candidates: u32, at: usize) -> u64 {
    let before = at.saturating_mul(64);
    match (candidates as usize).saturating_sub(before) {
        left @ 0..64 => !(u64::MAX << left),
        _ => u64::MAX,
    }
}

fn word(set: &[u64], at: usize) -> u64 {
    set.get(at).copied().unwrap_or(0)
}

fn has(set: &[u64], at: u32) -> bool {
    word(set, (at / 64) as usize) >> (at % 64) & 1 == 1
}

fn flip(set: &mut [u64], at: u32) {
    if let Some(word) = set.get_mut((at / 64) as usize) {
        *word ^= 1 << (at % 64);
    }
}

/// A set of the population.
fn set_of(sets: &[u64], at: u32, words: usize) -> &[u64] {
    let from = (at as usize).saturating_mul(words);
    let rest = sets.get(from..).unwrap_or_default();
    rest.get(..words).unwrap_or_default()
}

/// Lists the members of a set.
fn list(set: &[u64], members: &mut [u32]) {
    let mut places = members.iter_mut();
    for (base, &word) in (0_u32..).step_by(64).zip(set) {
        let mut left = word;
        while left != 0 {
            if let Some(place) = places.next() {
                *place = base.wrapping_add(left.trailing_zeros());
            }
            left &= left.wrapping_sub(1);
        }
    }
}
