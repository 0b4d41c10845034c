use gridweave_core::overlay::cyclon;
use gridweave_core::time::Span;

use crate::config::error::ConfigError;
use crate::config::setting::{section, words};
use crate::schedulers::asap::config::{MOST_LINKS as LINKS, MOST_SHUFFLED as SHUFFLED};
use crate::schedulers::section::Section;

section! {
    /// The times and sizes of the scheduler, the same on all nodes; `[flood]` in a configuration.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct FloodConfig {
        /// How many hops the first search for a job goes.
        pub radius: u8 = 1,
        /// How many hops a search goes at most.
        pub max_radius: u8 = 6,
        /// A search that finds so many nodes for each wanted one, free or not, is not widened but repeated later.
        pub breadth: u16 = 16,
        /// How long answers to a search are waited for.
        pub answers: Span = Span::from_secs(2),
        /// For how long a node that answers keeps itself free.
        pub lease: Span = Span::from_secs(10),
        /// How far clocks may be apart, and how long a message may travel at the very end of a lease.
        pub slack: Span = Span::from_secs(1),
        /// How long to wait, at most, before the first repetition of a search; doubled each time.
        pub retry: Span = Span::from_secs(60),
        /// The longest of these waits.
        pub max_retry: Span = Span::from_secs(1800),
        /// After how many searches in a row that found fewer nodes than wanted, busy ones included, a job is too large.
        pub searches: u8 = 3,
        /// For how long a job is tried.
        pub patience: Span = Span::from_secs(30 * 86_400),
        /// For how long a job may run without word from where it was submitted; renewed three times in that span.
        pub permission: Span = Span::from_secs(3 * 3600),
        /// How many links a node has, at most 40.
        pub degree: u8 = 8,
        /// How many of them are exchanged at once, at most 8; all, if there are fewer.
        pub shuffle: u8 = 8,
        /// How often links are exchanged, if `overlay` is `dynamic`.
        pub shuffle_period: Span = Span::from_secs(10),
        /// Whether links are exchanged while jobs run.
        pub overlay: OverlayMode = OverlayMode::Static,
    }
}

words! {
    /// Whether links are exchanged while jobs run.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum OverlayMode {
        /// Links stay as they are in the beginning.
        Static = "static",
        /// Links are shuffled.
        Dynamic = "dynamic",
    }
}

impl FloodConfig {
    /// Refuses times and sizes that cannot work together, and names the key.
    pub fn sound(self) -> Result<Self, String> {
        let sound = [
            (
                self.radius >= 1,
                "flood.radius is 0; a search goes at least one step",
            ),
            (
                self.radius <= self.max_radius,
                "flood.max_radius is less than flood.radius",
            ),
            (self.breadth >= 1, "flood.breadth is 0; give at least 1"),
            (
                !self.answers.is_zero(),
                "flood.answers is 0s; answers take time",
            ),
            (
                self.answers + self.slack < self.lease,
                "flood.lease is not longer than flood.answers and flood.slack together",
            ),
            (
                self.retry >= Span::from_millis(1),
                "flood.retry is shorter than 1ms",
            ),
            (
                self.retry <= self.max_retry,
                "flood.max_retry is shorter than flood.retry",
            ),
            (self.searches >= 1, "flood.searches is 0; give at least 1"),
            (
                self.permission >= self.lease.times(3),
                "flood.permission is shorter than three times flood.lease",
            ),
            (
                (1..=LINKS as u8).contains(&self.degree),
                "flood.degree is not between 1 and 40",
            ),
            (
                (1..=SHUFFLED as u8).contains(&self.shuffle),
                "flood.shuffle is not between 1 and 8",
            ),
            (
                self.shuffle_period >= Span::from_millis(1),
                "flood.shuffle_period is shorter than 1ms",
            ),
        ];
        match sound.iter().find(|(holds, _)| !holds) {
            Some((_, wrong)) => Err((*wrong).into()),
            None => Ok(self),
        }
    }

    /// The configuration of the overlay.
    pub(super) fn overlay(&self) -> cyclon::Config {
        let period = self.shuffle_period;
        cyclon::Config {
            view: self.degree,
            shuffle: self.shuffle.min(self.degree),
            period,
            timeout: Span::from_micros(period.as_micros() / 5),
            changes: cyclon::Changes::Untold,
            ..cyclon::Config::DEFAULT
        }
    }

    /// How often permissions are renewed.
    pub(super) fn renewal(&self) -> Span {
        Span::from_micros(self.permission.as_micros() / 3)
    }
}

impl Section for FloodConfig {
    fn checked(&self) -> Result<(), ConfigError> {
        self.sound().map(drop).map_err(ConfigError::from)
    }
}
