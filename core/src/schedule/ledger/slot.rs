use core::fmt;

use super::word::SLOTS_PER_WORD;

/// The number of a slot, counted from the ledger's first one; [`SlotScale`](super::SlotScale) says when that is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Slot(u32);

/// Slots in a row, at least one: `[first, end)`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SlotRange {
    first: Slot,
    end: Slot,
}

/// Why there is no such range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum SlotRangeError {
    /// It would have no slot.
    Empty,
    /// It would reach beyond the last slot, `u32::MAX - 1`.
    BeyondSlots,
}

/// The part of a range that lies in one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    /// The number of the word, counted from the ledger's first one.
    pub(super) word: u32,
    /// Which of its slots, lowest first.
    pub(super) mask: u8,
}

impl Slot {
    /// The slot with this number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Its number, counted from 0.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl SlotRange {
    /// `count` slots from `first` on.
    pub const fn new(first: Slot, count: u32) -> Result<Self, SlotRangeError> {
        match first.0.checked_add(count) {
            _ if count == 0 => Err(SlotRangeError::Empty),
            None => Err(SlotRangeError::BeyondSlots),
            Some(end) => Ok(Self {
                first,
                end: Slot(end),
            }),
        }
    }

    /// The slots from `first` to the one before `end`.
    pub const fn between(first: Slot, end: Slot) -> Result<Self, SlotRangeError> {
        Self::new(first, end.0.saturating_sub(first.0))
    }

    /// The first slot inside.
    pub const fn first(self) -> Slot {
        self.first
    }

    /// The first slot after.
    pub const fn end(self) -> Slot {
        self.end
    }

    /// How many there are; never zero.
    pub const fn count(self) -> u32 {
        self.end.0.saturating_sub(self.first.0)
    }

    /// Whether a slot lies inside.
    pub fn contains(self, slot: Slot) -> bool {
        self.first <= slot && slot < self.end
    }

    /// Whether some slot lies in both.
    pub fn overlaps(self, other: Self) -> bool {
        self.first < other.end && other.first < self.end
    }

    /// The part at or after a slot.
    pub(super) fn since(self, slot: Slot) -> Option<Self> {
        Self::between(self.first.max(slot), self.end).ok()
    }

    /// The part before a word.
    pub(super) fn before_word(self, word: u32) -> Option<Self> {
        let bound = Slot(word.saturating_mul(SLOTS_PER_WORD));
        Self::between(self.first, self.end.min(bound)).ok()
    }

    /// Its parts, word by word.
    pub(super) fn pieces(self) -> impl DoubleEndedIterator<Item = Piece> {
        let words = self.first.0 / SLOTS_PER_WORD..self.end.0.div_ceil(SLOTS_PER_WORD);
        words.map(move |word| {
            let begin = word.saturating_mul(SLOTS_PER_WORD);
            let from = self.first.0.saturating_sub(begin).min(SLOTS_PER_WORD);
            let to = self.end.0.saturating_sub(begin).min(SLOTS_PER_WORD);
            Piece {
                word,
                mask: below(to) & !below(from),
            }
        })
    }
}

impl Piece {
    /// The slot at a place in its word.
    pub(super) const fn slot(self, place: u32) -> Slot {
        Slot(
            self.word
                .saturating_mul(SLOTS_PER_WORD)
                .saturating_add(place),
        )
    }
}

/// The lowest `count` of a word's slots.
const fn below(count: u32) -> u8 {
    match u8::MAX.checked_shl(count) {
        Some(others) => !others,
        None => u8::MAX,
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for SlotRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {})", self.first, self.end)
    }
}

impl fmt::Debug for SlotRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for SlotRangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the range has no slot",
            Self::BeyondSlots => "the range reaches beyond the last slot",
        })
    }
}

impl core::error::Error for SlotRangeError {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    fn range(first: u32, end: u32) -> SlotRange {
        SlotRange::between(Slot::new(first), Slot::new(end)).unwrap()
    }

    #[test]
    fn a_range_has_a_slot_and_ends_before_the_numbers_do() {
        let of = |first, count| SlotRange::new(Slot::new(first), count);
        assert_eq!(of(7, 0), Err(SlotRangeError::Empty));
        assert_eq!(of(u32::MAX, 0), Err(SlotRangeError::Empty));
        assert_eq!(of(u32::MAX, 1), Err(SlotRangeError::BeyondSlots));
        assert_eq!(of(1, u32::MAX), Err(SlotRangeError::BeyondSlots));
        assert_eq!(of(u32::MAX - 1, 1).unwrap().end().get(), u32::MAX);
        let reversed = SlotRange::between(Slot::new(3), Slot::new(2));
        assert_eq!(reversed, Err(SlotRangeError::Empty));
        let three = range(4, 7);
        assert_eq!((three.first().get(), three.count()), (4, 3));
        let inside: Vec<_> = (0..9).filter(|n| three.contains(Slot::new(*n))).collect();
        assert_eq!(inside, [4, 5, 6]);
    }

    #[test]
    fn ranges_that_touch_do_not_overlap() {
        assert!(!range(0, 5).overlaps(range(5, 9)));
        assert!(!range(5, 9).overlaps(range(0, 5)));
        assert!(range(0, 6).overlaps(range(5, 9)));
    }

    #[test]
    fn a_range_falls_into_one_piece_per_word() {
        let pieces = |range: SlotRange| -> Vec<_> {
            range
                .pieces()
                .map(|piece| (piece.word, piece.mask))
                .collect()
        };
        assert_eq!(pieces(range(0, 8)), [(0, 0xff)]);
        assert_eq!(pieces(range(3, 5)), [(0, 0b0001_1000)]);
        assert_eq!(
            pieces(range(6, 17)),
            [(0, 0b1100_0000), (1, 0xff), (2, 0b0000_0001)]
        );
        assert_eq!(
            pieces(range(u32::MAX - 1, u32::MAX)),
            [(u32::MAX / 8, 0b0100_0000)]
        );
        for (first, end) in [(0, 1), (5, 30), (7, 8), (8, 16), (9, 23)] {
            let slots: Vec<_> = range(first, end)
                .pieces()
                .flat_map(|piece| (0..8).map(move |place| (piece, place)))
                .filter(|(piece, place)| piece.mask >> place & 1 == 1)
                .map(|(piece, place)| piece.slot(place).get())
                .collect();
            assert_eq!(slots, (first..end).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_range_is_cut_at_slots_and_words() {
        let slots = range(6, 17);
        assert_eq!(slots.since(Slot::new(2)), Some(slots));
        assert_eq!(slots.since(Slot::new(9)), Some(range(9, 17)));
        assert_eq!(slots.since(Slot::new(17)), None);
        assert_eq!(slots.before_word(0), None);
        assert_eq!(slots.before_word(2), Some(range(6, 16)));
        assert_eq!(slots.before_word(u32::MAX), Some(slots));
    }

    #[test]
    fn slots_print_as_numbers() {
        assert_eq!(range(1, 3).to_string(), "[#1, #3)");
        assert_eq!(
            std::format!("{:?} {:?}", range(1, 3), Slot::new(4)),
            "[#1, #3) #4"
        );
        assert!(SlotRangeError::Empty.to_string().contains("no slot"));
        assert!(SlotRangeError::BeyondSlots.to_string().contains("beyond"));
    }
}
