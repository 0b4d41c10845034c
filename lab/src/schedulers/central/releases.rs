//! The times at which running jobs are expected to free their processors.

use gridweave_core::time::Time;

/// The most releases in a block; a full block splits in two.
const BLOCK: usize = 64;

/// So many processors come back at this time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Release {
    at: Time,
    processors: u32,
}

/// Consecutive releases; never empty.
#[derive(Debug)]
struct Block {
    /// The time of the last release.
    last: Time,
    /// How many processors all these releases free.
    processors: u32,
    releases: Vec<Release>,
}

/// The time at which enough processors are free, and their number then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Enough {
    pub(super) at: Time,
    pub(super) free: u32,
}

/// Expected releases in the order of time, one entry per time, in blocks that know their sums.
///
/// A change costs a search and a move within one block; a question costs one addition per block before the answer. With
/// thousands of running jobs, a plain sorted list would spend most of a run moving entries.
#[derive(Debug, Default)]
pub(super) struct Releases {
    blocks: Vec<Block>,
    /// Emptied blocks, used again so that the steady state allocates nothing.
    spare: Vec<Vec<Release>>,
}

impl Releases {
    /// Expects so many processors to come back at this time.
    pub(super) fn add(&mut self, at: Time, processors: u32) {
        let release = Release { at, processors };
        let last = self.blocks.len().saturating_sub(1);
        let position = self
            .blocks
            .partition_point(|block| block.last < at)
            .min(last);
        let Some(block) = self.blocks.get_mut(position) else {
            let mut releases = self.empty();
            releases.push(release);
            self.blocks.push(Block {
                last: at,
                processors,
                releases,
            });
            return;
        };
        block.processors += processors;
        block.last = block.last.max(at);
        let index = block.releases.partition_point(|release| release.at < at);
        match block.releases.get_mut(index) {
            Some(same) if same.at == at => same.processors += processors,
            _ => {
                block.releases.insert(index, release);
                if block.releases.len() == BLOCK {
                    self.split(position);
                }
            }
        }
    }

    /// So many of the processors expected at this time have come back already.
    pub(super) fn remove(&mut self, at: Time, processors: u32) {
        let position = self.blocks.partition_point(|block| block.last < at);
        let Some(block) = self.blocks.get_mut(position) else {
            return;
        };
        let index = block.releases.partition_point(|release| release.at < at);
        let Some(release) = block.releases.get_mut(index) else {
            return;
        };
        debug_assert_eq!(release.at, at, "what is removed was added");
        block.processors -= processors;
        release.processors -= processors;
        if release.processors > 0 {
            return;
        }
        block.releases.remove(index);
        match block.releases.last() {
            Some(last) => block.last = last.at,
            None => self.spare.push(self.blocks.remove(position).releases),
        }
    }

    /// When `needed` processors are free, if `free` are now and all jobs end as expected. All processors that come back
    /// at that time count (PROTOCOLS 7.1).
    pub(super) fn enough(&self, free: u32, needed: u32) -> Option<Enough> {
        let mut free = free;
        for block in &self.blocks {
            if free + block.processors < needed {
                free += block.processors;
                continue;
            }
            for release in &block.releases {
                free += release.processors;
                if free >= needed {
                    return Some(Enough {
                        at: release.at,
                        free,
                    });
                }
            }
        }
        None
    }

    fn split(&mut self, position: usize) {
        let mut behind = self.empty();
        let block = &mut self.blocks[position];
        behind.extend(block.releases.drain(BLOCK / 2..));
        let moved = behind.iter().map(|release| release.processors).sum();
        let new = Block {
            last: block.last,
            processors: moved,
            releases: behind,
        };
        block.processors -= moved;
        block.last = block.releases[BLOCK / 2 - 1].at;
        self.blocks.insert(position + 1, new);
    }

    fn empty(&mut self) -> Vec<Release> {
        let spare = self.spare.pop();
        spare.unwrap_or_else(|| Vec::with_capacity(BLOCK))
    }
}

#[cfg(test)]
mod tests {
    use gridweave_core::rng::Choose;
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn releases_answer_as_an_unsorted_list() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let (mut releases, mut list) = (Releases::default(), Vec::new());
        for step in 0..20_000 {
            // It grows to some hundred entries and shrinks again, over and over.
            let growing = step % 2_000 < 1_000;
            if list.is_empty() || rng.below(10) < if growing { 8 } else { 1 } {
                let at = Time::from_secs(u64::from(rng.below(900)));
                let processors = rng.below(9) + 1;
                releases.add(at, processors);
                list.push((at, processors));
            } else {
                let (at, processors) = list.swap_remove(rng.index(list.len()));
                releases.remove(at, processors);
            }
            if step % 200 != 0 {
                continue;
            }
            let (free, needed) = (rng.below(50), rng.below(4_000) + 50);
            let free_at = |at: Time| {
                let back = list.iter().filter(|(by, _)| *by <= at);
                free + back.map(|(_, processors)| processors).sum::<u32>()
            };
            let times = list.iter().map(|(at, _)| *at);
            let at = times.filter(|&at| free_at(at) >= needed).min();
            let enough = at.map(|at| Enough {
                at,
                free: free_at(at),
            });
            assert_eq!(releases.enough(free, needed), enough);
        }
        assert!(!releases.spare.is_empty(), "blocks were split and emptied");
    }
}
