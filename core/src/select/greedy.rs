use alloc::vec::Vec;
use core::cmp::Ordering;

use super::points::{centroid, square_distance};
use super::pool::{Pool, Rank, acceptable};
use super::{Form, NoSelection, Objective, Set, Sums};
use crate::profile::Coordinate;
use crate::time::Time;

/// Makes sets by rules that suit the objective, and improves sets by swaps. Keeps its memory.
///
/// It makes no random choice. The constants below bound its work.
#[derive(Clone, Debug, Default)]
pub(super) struct Greedy {
    /// The sets made, one behind the other, and how good they are.
    sets: Vec<u32>,
    ranks: Vec<Rank>,
    /// The candidates that are free at a start, and the keys that they are sorted by.
    free: Vec<u32>,
    keyed: Vec<(f64, u32)>,
    set: Vec<u32>,
    outside: Vec<u32>,
    shares: Vec<f64>,
}

/// At how many starts sets are made: the first, and those at which most are free.
const ROOMS: usize = 4;
/// At each start a set is made around one free node in this many, but around at least [`FEWEST_CENTRES`] nodes.
const NODES_PER_CENTRE: usize = 64;
const FEWEST_CENTRES: usize = 64;
/// How many of these sets are made anew around their own centroids.
const SETTLED: usize = 4;
/// How often a set is made anew around its own centroid.
const MOVES: usize = 16;
/// How many sets are kept.
const KEPT: usize = 8;
/// How many members and others are tried for a swap, if they are sorted by how promising they are.
const PROMISING: usize = 12;
/// How many swaps are tried in all: if each is judged by the whole set, and if sums are enough.
const WHOLE_SWAPS: usize = 2_000;
const QUICK_SWAPS: usize = 400_000;

/// Which candidates get the smallest keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Towards {
    /// The nearest to a place.
    Near,
    /// The farthest from it.
    Far,
}

type Position = [f64; Coordinate::DIMENSIONS];

impl Greedy {
    /// The best sets that the rules make, best first, one behind the other.
    pub(super) fn seeds<O: Objective + ?Sized>(
        &mut self,
        pool: &Pool<'_>,
        objective: &O,
    ) -> Result<&[u32], NoSelection> {
        let count = pool.problem.count as usize;
        self.sets.clear();
        self.ranks.clear();
        if pool.problem.current.len() == count {
            self.set.clear();
            self.set.extend_from_slice(pool.problem.current);
            self.keep(pool, objective)?;
        }
        let hints = objective.hints();
        let mut rooms = Vec::from(pool.rooms);
        if let Some((_, others)) = rooms.split_first_mut() {
            others.sort_by_key(|room| core::cmp::Reverse(room.free));
        }
        for room in rooms.iter().take(ROOMS) {
            self.free.clear();
            self.free.extend(pool.problem.starts.free(room.at));
            if hints.near {
                self.around_centres(pool, objective)?;
            }
            if hints.far {
                self.around_midst(pool, objective)?;
            }
            if hints.regions {
                self.by_region(pool, objective)?;
            }
            if objective.form() != Form::Whole {
                self.by_share(pool, objective)?;
            }
        }
        Ok(&self.sets)
    }

    /// Sets around some of the free nodes; the best of them settle.
    fn around_centres<O: Objective + ?Sized>(
        &mut self,
        pool: &Pool<'_>,
        objective: &O,
    ) -> Result<(), NoSelection> {
        let centres = (self.free.len() / NODES_PER_CENTRE).max(FEWEST_CENTRES);
        let step = self.free.len().div_ceil(centres).max(1);
        let mut best: Vec<(Rank, u32)> = Vec::with_capacity(centres);
        for at in (0..self.free.len()).step_by(step) {
            let centre = self.free.get(at).copied().unwrap_or_default();
            self.gather(pool, pool.place(centre), Towards::Near);
            best.push((pool.estimate(objective, &self.set)?, centre));
        }
        best.sort_unstable();
        for (_, centre) in best.iter().take(SETTLED) {
            self.settle(pool, objective, pool.place(*centre), Towards::Near)?;
        }
        Ok(())
    }

    /// A set as far as possible from the middle of the free nodes.
    fn around_midst<O: Objective + ?Sized>(
        &mut self,
        pool: &Pool<'_>,
        objective: &O,
    ) -> Result<(), NoSelection> {
        let place = centroid(&pool.set(&self.free, pool.problem.from));
        self.settle(pool, objective, place, Towards::Far)
    }

    /// Takes the nearest to a place, or the farthest, then again around the centroid of these, while that makes the set
    /// better.
    fn settle<O: Objective + ?Sized>(
        &mut self,
        pool: &Pool<'_>,
        objective: &O,
        mut place: Position,
        towards: Towards,
    ) -> Result<(), NoSelection> {
        let mut best: Option<Rank> = None;
        for _ in 0..MOVES {
            self.gather(pool, place, towards);
            let rank = pool.estimate(objective, &self.set)?;
            if best.is_some_and(|best| rank >= best) {
                break;
            }
            best = Some(rank);
            self.keep(pool, objective)?;
            place = centroid(&pool.set(&self.set, pool.problem.from));
        }
        Ok(())
    }

    /// Puts the candidates nearest to a place, or farthest from it, into `self.set`.
    fn gather(&mut self, pool: &Pool<'_>, place: Position, towards: Towards) {
        self.keyed.clear();
        let key = |&at: &u32| (pool.key(at, place, towards), at);
        self.keyed.extend(self.free.iter().map(key));
        self.take_first(pool.problem.count as usize);
    }

    /// A set in which no region has a second node before each has a first.
    fn by_region<O: Objective + ?Sized>(
        &mut self,
        pool: &Pool<'_>,
        objective: &O,
    ) -> Result<(), NoSelection> {
        let region = |at: u32| pool.problem.profiles.get(at as usize).map(|p| p.region);
        self.free.sort_unstable_by_key(|&at| (region(at), at));
        self.keyed.clear();
        let (mut last, mut before) = (None, 0_u32);
        for &at in &self.free {
            before = if region(at) == last {
                before.saturating_add(1)
            } else {
                0
            };
            last = region(at);
            self.keyed.push((f64::from(before), at));
        }
        self.free.sort_unstable();
        self.take_first(pool.problem.count as usize);
        self.keep(pool, objective)
    }

    /// The nodes that add least.
    fn by_share<O: Objective + ?Sized>(
        &mut self,
        pool: &Pool<'_>,
        objective: &O,
    ) -> Result<(), NoSelection> {
        self.keyed.clear();
        for &at in &self.free {
            self.keyed.push((pool.share(objective, at)?, at));
        }
        self.take_first(pool.problem.count as usize);
        self.keep(pool, objective)
    }

    /// Puts the nodes with the smallest keys into `self.set`.
    fn take_first(&mut self, count: usize) {
        if count < self.keyed.len() {
            self.keyed
                .select_nth_unstable_by(count.saturating_sub(1), by_key);
        }
        self.set.clear();
        self.set
            .extend(self.keyed.iter().take(count).map(|&(_, at)| at));
        self.set.sort_unstable();
    }

    /// Keeps `self.set` if it is among the best and not kept yet.
    fn keep<O: Objective + ?Sized>(
        &mut self,
        pool: &Pool<'_>,
        objective: &O,
    ) -> Result<(), NoSelection> {
        let count = pool.problem.count as usize;
        self.set.sort_unstable();
        if self.set.len() != count {
            return Ok(());
        }
        let rank = pool.estimate(objective, &self.set)?;
        if self.sets.chunks_exact(count).any(|set| set == self.set) {
            return Ok(());
        }
        let at = self.ranks.partition_point(|better| *better <= rank);
        if at >= KEPT {
            return Ok(());
        }
        self.ranks.insert(at, rank);
        let from = at.saturating_mul(count);
        self.sets.splice(from..from, self.set.iter().copied());
        self.ranks.truncate(KEPT);
        self.sets.truncate(KEPT.saturating_mul(count));
        Ok(())
    }

    /// Swaps members for others as long as that makes a set better, within bounds. The set stays in order.
    pub(super) fn improve<O: Objective + ?Sized>(
        &mut self,
        pool: &Pool<'_>,
        objective: &O,
        chosen: &mut [u32],
    ) -> Result<(), NoSelection> {
        match objective.form() {
            Form::Whole => self.improve_whole(pool, objective, chosen),
            Form::Moments | Form::Shares => self.improve_quickly(pool, objective, chosen),
        }?;
        chosen.sort_unstable();
        Ok(())
    }

    /// Each swap is a look at the whole set, so the promising ones come first.
    fn improve_whole<O: Objective + ?Sized>(
        &mut self,
        pool: &Pool<'_>,
        objective: &O,
        chosen: &mut [u32],
    ) -> Result<(), NoSelection> {
        let hints = objective.hints();
        let towards = match (hints.near, hints.far) {
            (true, _) => Some(Towards::Near),
            (false, true) => Some(Towards::Far),
            (false, false) => None,
        };
        let most = towards.map_or(usize::MAX, |_| PROMISING);
        let mut best = pool.estimate(objective, chosen)?;
        let mut left = WHOLE_SWAPS;
        'again: loop {
            self.split(pool, chosen);
            if let Some(towards) = towards {
                let place = centroid(&pool.set(chosen, pool.problem.from));
                self.sort(pool, place, towards, chosen);
            }
            for member in 0..chosen.len().min(most) {
                for &joining in self.outside.iter().take(most) {
                    if left == 0 {
                        return Ok(());
                    }
                    left = left.saturating_sub(1);
                    let Some(place) = chosen.get_mut(member) else {
                        continue;
                    };
                    let leaving = core::mem::replace(place, joining);
                    let rank = pool.estimate(objective, chosen)?;
                    if rank < best {
                        best = rank;
                        continue 'again;
                    }
                    if let Some(place) = chosen.get_mut(member) {
                        *place = leaving;
                    }
                }
            }
            return Ok(());
        }
    }

    /// Sorts members with the worst first, and the other candidates with the best first.
    fn sort(&mut self, pool: &Pool<'_>, place: Position, towards: Towards, chosen: &mut [u32]) {
        for (list, reverse) in [(chosen, true), (self.outside.as_mut_slice(), false)] {
            self.keyed.clear();
            let key = |&at: &u32| (pool.key(at, place, towards), at);
            self.keyed.extend(list.iter().map(key));
            let first = PROMISING.min(self.keyed.len());
            let order = |a: &(f64, u32), b: &(f64, u32)| match reverse {
                true => by_key(b, a),
                false => by_key(a, b),
            };
            if first > 0 && first < self.keyed.len() {
                self.keyed
                    .select_nth_unstable_by(first.saturating_sub(1), order);
            }
            if let Some(front) = self.keyed.get_mut(..first) {
                front.sort_unstable_by(order);
            }
            for (place, &(_, at)) in list.iter_mut().zip(&self.keyed) {
                *place = at;
            }
        }
    }

    /// Each swap is judged by sums alone, at the start that the set has.
    fn improve_quickly<O: Objective + ?Sized>(
        &mut self,
        pool: &Pool<'_>,
        objective: &O,
        chosen: &mut [u32],
    ) -> Result<(), NoSelection> {
        let Some(start) = pool.start(chosen) else {
            return Ok(());
        };
        self.split(pool, chosen);
        self.shares.clear();
        for at in 0..pool.len() {
            self.shares.push(pool.share(objective, at)?);
        }
        let shares = self.shares.as_slice();
        let share = |at: u32| shares.get(at as usize).copied().unwrap_or(f64::INFINITY);
        let may_join = |at: &u32| share(*at).is_finite() && pool.is_free_at(*at, start);
        self.outside.retain(may_join);
        let mut sums = Sums::new(start, pool.problem.from);
        for &at in &*chosen {
            sums.add(share(at), pool.relative(at));
        }
        let mut best = acceptable(sums.cost(objective))?;
        // An infinite part cannot be taken out of a sum again.
        if !best.is_finite() {
            return Ok(());
        }
        let mut left = QUICK_SWAPS;
        let mut better = true;
        while better && left > 0 {
            better = false;
            for member in chosen.iter_mut() {
                for other in &mut self.outside {
                    left = left.saturating_sub(1);
                    let mut swapped = sums;
                    swapped.remove(share(*member), pool.relative(*member));
                    swapped.add(share(*other), pool.relative(*other));
                    let cost = acceptable(swapped.cost(objective))?;
                    // By more than a rounding error, so that two sets do not replace each other for ever.
                    if cost < best - best.abs() * 1e-12 {
                        (best, sums, better) = (cost, swapped, true);
                        core::mem::swap(member, other);
                    }
                }
                if left == 0 {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Lists the candidates that are not chosen.
    fn split(&mut self, pool: &Pool<'_>, chosen: &[u32]) {
        self.set.clear();
        self.set.extend_from_slice(chosen);
        self.set.sort_unstable();
        let mut members = self.set.iter().copied().peekable();
        self.outside.clear();
        self.outside
            .extend((0..pool.len()).filter(|&at| members.next_if_eq(&at).is_none()));
    }
}

fn by_key(a: &(f64, u32), b: &(f64, u32)) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

impl Pool<'_> {
    /// Where a candidate is.
    fn place(&self, at: u32) -> Position {
        let profile = self.problem.profiles.get(at as usize);
        profile.map_or([0.0; Coordinate::DIMENSIONS], |profile| {
            profile.coordinate.point.map(f64::from)
        })
    }

    /// Where a candidate is, seen from the midst of all.
    fn relative(&self, at: u32) -> Position {
        let mut place = self.place(at);
        for (part, middle) in place.iter_mut().zip(self.points.midst()) {
            *part -= middle;
        }
        place
    }

    fn set<'a>(&'a self, chosen: &'a [u32], start: Time) -> Set<'a> {
        let problem = self.problem;
        Set::new(problem.nodes, problem.profiles, chosen, start, problem.from)
    }

    /// The squared distance from a place, negated for [`Towards::Far`]: the best candidate has the smallest key.
    fn key(&self, at: u32, place: Position, towards: Towards) -> f64 {
        let profile = self.problem.profiles.get(at as usize);
        let square = profile.map_or(0.0, |profile| square_distance(profile, place));
        match towards {
            Towards::Near => square,
            Towards::Far => -square,
        }
    }

    fn share<O: Objective + ?Sized>(&self, objective: &O, at: u32) -> Result<f64, NoSelection> {
        let profile = self.problem.profiles.get(at as usize);
        acceptable(profile.map_or(0.0, |profile| objective.share(profile)))
    }
}
