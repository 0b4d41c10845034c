use crate::config::{ConfigError, Limits};

/// How a set is searched for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Config {
    /// How many sets are bred at a time, from two to [`MOST_SETS`](Self::MOST_SETS).
    pub population: u32,
    /// How often a new generation takes their place.
    pub generations: u32,
    /// Stop after this many generations in a row without a better set.
    pub stall: Option<u32>,
    /// A parent is the best of this many sets drawn at random.
    pub tournament: u32,
    /// How many nodes of a child are swapped for others; no more than it has.
    pub swaps: u32,
    /// How many of the best sets stay in the next generation unchanged.
    pub elite: u32,
    /// How often all of this is done anew; the best of all counts. At least once.
    pub restarts: u32,
    /// Try every set if all sets together have at most this many members, and compute the best set directly if the
    /// objective is a sum. `None` does neither.
    pub exact: Option<u32>,
    /// Begin with sets made by rules that suit the objective, and improve the best by swaps.
    pub greedy: bool,
}

impl Config {
    /// The most sets that are bred at a time.
    pub const MOST_SETS: u32 = 4096;

    /// PROTOCOLS F8: nothing but the genetic algorithm, with the numbers that the paper does not give.
    pub const PAPER: Self = Self {
        population: 50,
        generations: 100,
        stall: None,
        tournament: 3,
        swaps: 2,
        elite: 2,
        restarts: 1,
        exact: None,
        greedy: false,
    };

    /// The same, with every shortcut, and an end when nothing gets better any more.
    pub const DEFAULT: Self = Self {
        stall: Some(20),
        exact: Some(100_000),
        greedy: true,
        ..Self::PAPER
    };

    /// Refuses values with which nothing would be bred. [`Selector::select`](super::Selector::select) does not call it:
    /// there, values out of bounds count as the bounds.
    pub const fn checked(self) -> Result<Self, ConfigError> {
        Limits::new()
            .number("population", self.population as u64)
            .at_least(2, "the parents of a set")
            .at_most(Self::MOST_SETS as u64, "MOST_SETS")
            .number("tournament", self.tournament as u64)
            .at_least(1, "or there are no parents")
            .number("elite", self.elite as u64)
            .less_than(self.population as u64, "population: or no set is bred")
            .number("restarts", self.restarts as u64)
            .at_least(1, "or no set is bred")
            .end(self)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}
