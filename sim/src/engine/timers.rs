//! The timers of one node.

/// What a machine wants to be woken with, and where each of these is kept.
///
/// One timer, which is all that many machines have, takes no memory elsewhere.
#[derive(Debug)]
pub(super) enum Timers<T> {
    None,
    One(T, u32),
    /// Sorted.
    Many(Vec<(T, u32)>),
}

impl<T: Copy + Ord> Timers<T> {
    /// Notes where a timer is kept, and returns where an equal one was.
    pub(super) fn set(&mut self, timer: T, slot: u32) -> Option<u32> {
        match self {
            Self::None => {
                *self = Self::One(timer, slot);
                None
            }
            Self::One(only, before) if *only == timer => Some(std::mem::replace(before, slot)),
            Self::One(only, before) => {
                let mut both = vec![(*only, *before), (timer, slot)];
                both.sort_unstable();
                *self = Self::Many(both);
                None
            }
            Self::Many(timers) => match timers.binary_search_by_key(&timer, |(timer, _)| *timer) {
                Ok(index) => Some(std::mem::replace(&mut timers[index].1, slot)),
                Err(index) => {
                    timers.insert(index, (timer, slot));
                    None
                }
            },
        }
    }

    /// Forgets a timer, and returns where it was kept.
    pub(super) fn remove(&mut self, timer: T) -> Option<u32> {
        match self {
            Self::One(only, slot) if *only == timer => {
                let slot = *slot;
                *self = Self::None;
                Some(slot)
            }
            Self::None | Self::One(..) => None,
            Self::Many(timers) => {
                let index = timers.binary_search_by_key(&timer, |(timer, _)| *timer);
                Some(timers.remove(index.ok()?).1)
            }
        }
    }

    /// Forgets all timers, and returns where they were kept.
    pub(super) fn take(&mut self) -> Vec<u32> {
        match std::mem::replace(self, Self::None) {
            Self::None => Vec::new(),
            Self::One(_, slot) => vec![slot],
            Self::Many(timers) => timers.into_iter().map(|(_, slot)| slot).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn timers_are_a_map_however_many_there_are() {
        let mut timers = Timers::None;
        let mut map = BTreeMap::new();
        let mut state = 1_u32;
        for slot in 0..10_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Few different ones at first, so that there are none and one now and then.
            let timer = (state >> 16) % (2 + slot / 1000);
            match state >> 30 {
                0 | 1 => assert_eq!(timers.set(timer, slot), map.insert(timer, slot)),
                2 => assert_eq!(timers.remove(timer), map.remove(&timer)),
                _ if slot % 10 == 0 => {
                    let all: Vec<u32> = std::mem::take(&mut map).into_values().collect();
                    assert_eq!(timers.take(), all);
                }
                _ => {}
            }
        }
    }
}
