//! One word of the ring, as a value: which lap of the ring it stands for, and the states of its slots.
//!
//! Nothing here is atomic. This file computes a word's next value; the ledger swaps it in if the word is unchanged.

use core::cmp::Ordering;

/// How many slots share a word.
pub(super) const SLOTS_PER_WORD: u32 = 8;
/// How many laps a word can tell apart.
pub(super) const LAPS: u32 = 1 << 16;

/// The time of eight slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Word {
    /// How often the ring had gone round before this word's slots.
    lap: u16,
    /// The slots that are committed; all of them are taken, too.
    committed: u8,
    /// The slots that are held or committed, the first in the lowest bit.
    taken: u8,
}

/// Why a word cannot be changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Obstacle {
    /// It stands for later slots by now, so the wanted slots are past.
    Recycled,
    /// The slot at this index is the first wanted slot that is not free; it is held.
    Held(u32),
    /// The same, and it is committed.
    Committed(u32),
}

impl Word {
    pub(super) const fn from_bits(bits: u32) -> Self {
        let [high, low, committed, taken] = bits.to_be_bytes();
        Self {
            lap: u16::from_be_bytes([high, low]),
            committed,
            taken,
        }
    }

    pub(super) const fn to_bits(self) -> u32 {
        let [high, low] = self.lap.to_be_bytes();
        u32::from_be_bytes([high, low, self.committed, self.taken])
    }

    /// The word as a reader of this lap has to see it. What is left from an earlier lap is past, so all is free.
    pub(super) fn at(self, lap: u16) -> Result<Self, Obstacle> {
        match self.lap.cmp(&lap) {
            Ordering::Equal => Ok(self),
            Ordering::Less => Ok(Self {
                lap,
                committed: 0,
                taken: 0,
            }),
            Ordering::Greater => Err(Obstacle::Recycled),
        }
    }

    /// The word with these slots held; all of them must be free.
    pub(super) fn hold(self, lap: u16, slots: u8) -> Result<Self, Obstacle> {
        let now = self.at(lap)?;
        now.obstacle(slots).map_or(
            Ok(Self {
                taken: now.taken | slots,
                ..now
            }),
            Err,
        )
    }

    /// The word with these slots committed. The caller must hold them.
    pub(super) fn commit(self, lap: u16, slots: u8) -> Result<Self, Obstacle> {
        let now = self.at(lap)?;
        Ok(Self {
            committed: now.committed | slots,
            ..now
        })
    }

    /// The word with these slots free. The caller must hold them or have committed them.
    pub(super) fn free(self, lap: u16, slots: u8) -> Result<Self, Obstacle> {
        let now = self.at(lap)?;
        Ok(Self {
            committed: now.committed & !slots,
            taken: now.taken & !slots,
            ..now
        })
    }

    /// The first of these slots that is not free, if any.
    pub(super) const fn obstacle(self, slots: u8) -> Option<Obstacle> {
        let index = (self.taken & slots).trailing_zeros();
        if index >= SLOTS_PER_WORD {
            None
        } else if self.committed & (1 << index) == 0 {
            Some(Obstacle::Held(index))
        } else {
            Some(Obstacle::Committed(index))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: Word = Word {
        lap: 7,
        committed: 0,
        taken: 0,
    };

    #[test]
    fn a_word_is_two_bytes_of_lap_and_a_byte_for_each_state() {
        let word = Word {
            lap: 0x1234,
            committed: 0x56,
            taken: 0x78,
        };
        assert_eq!(word.to_bits(), 0x1234_5678);
        assert_eq!(Word::from_bits(0x1234_5678), word);
    }

    #[test]
    fn slots_go_from_free_to_held_to_committed_to_free() {
        let held = EMPTY.hold(7, 0b0110).unwrap();
        assert_eq!(held.hold(7, 0b1100), Err(Obstacle::Held(2)));
        let more = held.hold(7, 0b1001).unwrap();
        assert_eq!((more.taken, more.committed), (0b1111, 0));
        let committed = more.commit(7, 0b0110).unwrap();
        assert_eq!(committed.hold(7, 0b1110), Err(Obstacle::Committed(1)));
        assert_eq!(committed.hold(7, 0b1001), Err(Obstacle::Held(0)));
        let rest = committed.free(7, 0b0110).unwrap();
        assert_eq!((rest.taken, rest.committed), (0b1001, 0));
        assert_eq!(rest.free(7, 0b1001), Ok(EMPTY));
    }

    #[test]
    fn a_later_lap_finds_everything_free_and_an_earlier_one_nothing() {
        let held = EMPTY.hold(7, 0xff).unwrap().commit(7, 0x0f).unwrap();
        let later = held.hold(9, 0b1).unwrap();
        assert_eq!((later.lap, later.taken, later.committed), (9, 1, 0));
        for change in [Word::hold, Word::commit, Word::free] {
            assert_eq!(change(later, 8, 0b1), Err(Obstacle::Recycled));
        }
    }
}
