use alloc::vec::Vec;

use super::pool::{Pool, Rank, acceptable};
use super::starts::{Mask, NO_START};
use super::{NoSelection, Objective, Selection};

/// Whether all sets of `count` among `have` together have no more than `most` members (PROTOCOLS F9: the order of a
/// set's members does not matter).
pub(super) fn few_sets(have: u32, count: u32, most: u32) -> bool {
    let most = u64::from(most);
    let fewer = count.min(have.saturating_sub(count));
    let mut sets = 1_u64;
    for taken in 0..fewer {
        let left = u64::from(have.saturating_sub(taken));
        let places = u64::from(taken).saturating_add(1);
        // The division is exact: the result is a binomial coefficient.
        sets = sets
            .saturating_mul(left)
            .checked_div(places)
            .unwrap_or(u64::MAX);
        if sets > most {
            return false;
        }
    }
    sets.saturating_mul(u64::from(count)) <= most
}

/// The best set if the objective is a sum over its members: at each start, take the cheapest nodes that are free.
///
/// At equal cost the earlier start is better, then nodes that the job has already, then the lower position.
pub(super) fn by_shares<O: Objective + ?Sized>(
    pool: &Pool<'_>,
    objective: &O,
) -> Result<Selection, NoSelection> {
    let count = pool.problem.count as usize;
    let mut shares = Vec::with_capacity(pool.problem.profiles.len());
    for profile in pool.problem.profiles {
        shares.push(acceptable(objective.share(profile))?);
    }
    let is_new = |at: u32| pool.current.get(at as usize) != Some(&true);
    let mut order: Vec<(f64, bool, u32)> = (0..pool.len())
        .zip(&shares)
        .map(|(at, &share)| (share, is_new(at), at))
        .collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    // If all nodes are alike, no later start is better.
    let alike = order.first().map(|first| first.0) == order.last().map(|last| last.0);
    let rooms = if alike { 1 } else { pool.rooms.len() };
    let mut best: Option<(Rank, Vec<u32>)> = None;
    let mut chosen = Vec::with_capacity(count);
    for room in pool.rooms.iter().take(rooms) {
        let free = |at: u32| pool.problem.starts.is_free(at, room.at);
        chosen.clear();
        chosen.extend(
            order
                .iter()
                .map(|&(_, _, at)| at)
                .filter(|&at| free(at))
                .take(count),
        );
        chosen.sort_unstable();
        let rank = pool.rank(objective, &chosen)?;
        if best.as_ref().is_none_or(|(least, _)| rank < *least) {
            best = Some((rank, chosen.clone()));
        }
    }
    let (rank, chosen) = best.ok_or(NoSelection::NoCommonStart)?;
    pool.selection(rank, chosen)
}

/// The best of all sets; of equals the first in the order of positions.
///
/// Members are added in the order of positions. A partial set without a common start is dropped at once.
pub(super) fn by_trial<O: Objective + ?Sized>(
    pool: &Pool<'_>,
    objective: &O,
) -> Result<Selection, NoSelection> {
    let (have, count) = (pool.len() as usize, pool.problem.count as usize);
    let mut chosen: Vec<u32> = Vec::with_capacity(count);
    let mut masks: Vec<Mask> = Vec::with_capacity(count);
    let mut best: Option<(Rank, Vec<u32>)> = None;
    let mut next = 0_u32;
    loop {
        let missing = count.saturating_sub(chosen.len());
        if missing > 0 && next as usize <= have.saturating_sub(missing) {
            let before = masks.last().copied().unwrap_or(pool.allowed);
            let mask = pool.problem.starts.mask(next, before);
            if mask != NO_START {
                chosen.push(next);
                masks.push(mask);
            }
            next = next.saturating_add(1);
            continue;
        }
        if missing == 0 {
            let rank = pool.rank(objective, &chosen)?;
            if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                best = Some((rank, chosen.clone()));
            }
        }
        match chosen.pop() {
            Some(last) => next = last.saturating_add(1),
            None => break,
        }
        masks.pop();
    }
    let (rank, chosen) = best.ok_or(NoSelection::NoCommonStart)?;
    pool.selection(rank, chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_few_if_their_members_are() {
        // 792 sets of five of twelve.
        assert!(few_sets(12, 5, 3960));
        assert!(!few_sets(12, 5, 3959));
        assert!(few_sets(12, 7, 792 * 7) && !few_sets(12, 7, 792 * 7 - 1));
        assert!(few_sets(1000, 1000, 1000) && !few_sets(1000, 1000, 999));
        assert!(!few_sets(u32::MAX, u32::MAX / 2, u32::MAX));
    }
}
