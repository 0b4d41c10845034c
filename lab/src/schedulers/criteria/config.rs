//! The `criteria` scheduler's part of a configuration.

use std::path::{Path, PathBuf};

use gridweave_core::admission::Preselection;
use gridweave_core::config;
use gridweave_core::job::Criterion;
use gridweave_core::overlay::{cyclon, vicinity, vivaldi};
use gridweave_core::profile::Coordinate;
use gridweave_core::scheduler::criteria::{Config, Coordinates, Exploration, Helper, OneMore};
use gridweave_core::select::{self, Bandwidth, Combined, Limit, Standard, Weight};
use gridweave_core::time::Span;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use toml::Value;

use crate::config::error::ConfigError;
use crate::config::network::read_plane;
use crate::config::network::{NetworkConfig, NetworkError};
use crate::config::setting::{self, Setting, Wrong, kinds, names, section, words};
use crate::schedulers::asap::config::MOST_SHUFFLED;
use crate::schedulers::reserving::{commit, lead, margin};
use crate::schedulers::section::{Section, check_room, check_warm_up};
use gridweave_sim::network::Plane;

section! {
    /// How `criteria` schedules.
    #[derive(Clone, PartialEq, Debug)]
    pub struct CriteriaConfig {
        /// What all jobs ask for.
        pub criterion: CriterionName = CriterionName::Soonest,
        /// If the criterion is `combined`: what counts, and how much.
        pub parts: Vec<PartConfig> = Vec::new(),
        /// If the criterion is `combined`: how long after its earliest start a job must start at the latest.
        pub start_within: Option<Span> = None,
        /// The helper overlays that nodes keep. If left out, the helper that suits the criterion; for the earliest start
        /// only if nodes gossip every ten minutes or more often: older news of free time leads searches to busy nodes.
        pub helpers: Option<Vec<Helper>> = None,
        /// Along which links nodes are found: random ones, or those of a helper overlay.
        pub exploration: Exploration = Exploration::Proactive,
        /// Whether searches pass over nodes that cannot run a job or do not admit it; else nodes refuse it one by one.
        pub preselection: Preselection = Preselection::ByAttributes,
        /// How many nodes are looked for, for each one that a job needs.
        pub alpha: f64 = 2.0,
        /// How many nodes a search finds for each one that a job needs, if too few of them are free at once. With 0 busy
        /// nodes count as well, as in P2.
        pub breadth: u8 = 64,
        /// The most nodes that a search finds for the sake of `breadth`.
        pub reach: u16 = 1000,
        /// How many of the densest places nodes remember and tell: searches for near nodes begin at one of them and in the
        /// middle of the best placement, in turn. With 0 none does, as in P2.
        pub dense: u8 = 6,
        /// How many searches there are for a job.
        pub iterations: u16 = 5,
        /// How many of these searches may run at once.
        pub parallel: u8 = 1,
        /// The pause between a search and the next one.
        pub pause: Span = Span::from_secs(0),
        /// The time between two further searches for a job that waits; with 0s there are none, as in P2.
        pub improve: Span = Span::from_secs(300),
        /// How long a job that wants the earliest start waits without a placement if it cannot start at once; P2 has 0s.
        pub patience: Span = Span::from_secs(86_400),
        /// How many nodes a search asks at once.
        pub width: u8 = 8,
        /// Whether selection is the genetic algorithm of the paper alone, without shortcuts.
        pub paper_selection: bool = false,
        /// How many random links a node has.
        pub degree: u8 = 20,
        /// How many of the random links a node exchanges at once.
        pub shuffle: u8 = 8,
        /// How many links a node has in each helper overlay.
        pub near: u8 = 20,
        /// How many of the helper links a node exchanges at once, its own descriptor included.
        pub gossip: u8 = 10,
        /// How often a node exchanges links, in all its overlays.
        pub period: Span = Span::from_secs(3_600),
        /// For how many cycles the random overlay is shuffled before nodes start.
        pub warm_up: u32 = 50,
        /// Where nodes are.
        pub places: PlacesConfig = PlacesConfig::Sites {
                    side: Span::from_millis(200),
                    sites: 50,
                    around: Span::from_millis(5),
                },
        /// Whether nodes must learn their coordinates from the round trips of gossip.
        pub learn_places: bool = false,
        /// The length of a slot.
        pub slot: Span = Span::from_secs(1),
        /// The least time from search to start of a job; if left out, zero where messages take no time, else a slot, or
        /// five times `max_delay` if that is more.
        pub lead: Option<Span> = None,
        /// How much later than its earliest start a job may start.
        pub horizon: Span = Span::from_secs(90 * 86_400),
        /// The longest expected delay of a message; timeouts follow from it.
        pub max_delay: Span = Span::from_secs(1),
        /// How many placements of a job may be refused before it fails.
        pub rounds: u8 = 8,
        /// How many nodes beside those of a placement are remembered, one of which takes the place of a node that is lost
        /// before the start.
        pub spares: u16 = 8,
        /// How long a job may run without word from its coordinator; if left out, to its end.
        pub permission: Option<Span> = None,
    }
}

words! {
    /// What a job asks for.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum CriterionName {
        /// The earliest start.
        #[default]
        Soonest = "soonest",
        /// Nodes close to each other.
        Closest = "closest",
        /// Nodes far from each other.
        Farthest = "farthest",
        /// What `parts` and `start_within` say.
        Combined = "combined",
    }
}

/// A part of a combined criterion.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PartConfig {
    /// What counts.
    pub objective: ObjectiveConfig,
    /// The weight of this part beside the others.
    pub weight: f64,
}

impl Setting for PartConfig {
    fn read(value: &Value) -> Result<Self, Wrong> {
        let table = setting::table(value)?;
        setting::only(table, &["objective", "weight"])?;
        let weight = table.get("weight").map(f64::read).transpose();
        Ok(Self {
            objective: setting::required(table, "objective")?,
            weight: weight.map_err(|wrong| wrong.at("weight"))?.unwrap_or(1.0),
        })
    }

    fn write(&self) -> Option<Value> {
        setting::written(vec![
            ("objective", self.objective.write()),
            ("weight", self.weight.write()),
        ])
    }
}

/// What makes nodes suit each other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ObjectiveConfig {
    /// An early start.
    Soonest,
    /// Nodes close to each other.
    Closest,
    /// Nodes far from each other.
    Farthest,
    /// No node far from the others: the squares of distances count.
    SquaredSpread,
    /// Nodes in many regions.
    Regions,
    /// Nodes that fetch data fast.
    Bandwidth {
        /// Where the data are, in milliseconds.
        location: [f64; 2],
        /// How much each node fetches, in kilobits.
        volume: u64,
        /// The rate to assume for nodes whose rate is not known, in kilobits a second.
        rate: u32,
    },
}

impl ObjectiveConfig {
    /// The objectives that are written as a word.
    const WORDS: [(&'static str, Self); 5] = [
        ("soonest", Self::Soonest),
        ("closest", Self::Closest),
        ("farthest", Self::Farthest),
        ("squared-spread", Self::SquaredSpread),
        ("regions", Self::Regions),
    ];
}

/// A word, or `{ bandwidth = { location, volume, rate } }`.
impl Setting for ObjectiveConfig {
    fn read(value: &Value) -> Result<Self, Wrong> {
        let Some(below) = value.get("bandwidth").filter(|_| value.is_table()) else {
            let index = setting::word(value, &Self::WORDS.map(|(word, _)| word))?;
            return Ok(Self::WORDS[index].1);
        };
        let below = setting::table(below)?;
        Ok(Self::Bandwidth {
            location: setting::required(below, "location")?,
            volume: setting::required(below, "volume")?,
            rate: setting::required(below, "rate")?,
        })
    }

    fn write(&self) -> Option<Value> {
        let Self::Bandwidth {
            location,
            volume,
            rate,
        } = self
        else {
            let mut words = Self::WORDS.iter();
            return words
                .find(|(_, it)| it == self)
                .map(|(word, _)| (*word).into());
        };
        let below = setting::written(vec![
            ("location", location.write()),
            ("volume", volume.write()),
            ("rate", rate.write()),
        ]);
        setting::written(vec![("bandwidth", below)])
    }
}

names!(Helper {
    Proximity = "proximity",
    FirstFree = "first-free",
    Remoteness = "remoteness",
} else _);

names!(Exploration {
    Basic = "basic",
    Proactive = "proactive",
});

/// Where nodes are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlacesConfig {
    /// Anywhere in a square of delays.
    Plane {
        /// The side of the square.
        side: Span,
    },
    /// Around sites anywhere in a square of delays.
    Sites {
        /// The side of the square.
        side: Span,
        /// How many sites there are.
        sites: u32,
        /// How far a node is from its site at most, in either direction.
        around: Span,
    },
    /// At the points of a file, in milliseconds: `x y` on each line, or OverSim's XML.
    Coordinates {
        /// The file; may be compressed with gzip.
        file: PathBuf,
    },
}

kinds!(PlacesConfig by "kind" {
    Plane { side } = "plane",
    Sites { side, sites, around } = "sites",
    Coordinates { file } = "coordinates",
});

impl PlacesConfig {
    /// The file that the places are read from, if any.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Coordinates { file } => Some(file),
            _ => None,
        }
    }

    /// The same, mutable.
    pub(crate) fn file_mut(&mut self) -> Option<&mut PathBuf> {
        match self {
            Self::Coordinates { file } => Some(file),
            _ => None,
        }
    }

    /// The points of so many nodes; depends only on the arguments.
    pub fn points(&self, nodes: u32, seed: u64) -> Result<Plane, NetworkError> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        Ok(match self {
            Self::Plane { side } => Plane::generate(nodes, *side, &mut rng),
            Self::Sites {
                side,
                sites,
                around,
            } => Plane::around_sites(nodes, *sites, *side, *around, &mut rng),
            Self::Coordinates { file } => read_plane(file)?,
        })
    }
}

/// The most links of a node in a simulation, of each overlay.
pub const MOST_NEAR: usize = 20;

/// The most descriptors that a helper overlay exchanges at once in a simulation.
pub const MOST_GOSSIP: usize = 10;

/// The criteria that simulated nodes know.
pub type Catalogue = OneMore<Combined>;

impl Section for CriteriaConfig {
    fn checked(&self) -> Result<(), ConfigError> {
        let wrong = |what: &str| Err(ConfigError::from(what));
        if !(1.0..=600.0).contains(&self.alpha) {
            return wrong(
                "criteria.alpha must be from 1 to 600; fewer nodes than wanted are never enough",
            );
        }
        check_warm_up("criteria", self.warm_up)?;
        check_room("criteria.degree", self.degree, MOST_NEAR)?;
        check_room("criteria.shuffle", self.shuffle, MOST_SHUFFLED)?;
        check_room("criteria.near", self.near, MOST_NEAR)?;
        check_room("criteria.gossip", self.gossip, MOST_GOSSIP)?;
        if self.criterion == CriterionName::Combined && self.parts.is_empty() {
            return wrong(
                "criteria.criterion is 'combined', but criteria.parts says nothing; give at least one part",
            );
        }
        if self.criterion != CriterionName::Combined
            && (!self.parts.is_empty() || self.start_within.is_some())
        {
            return wrong(
                "criteria.parts and criteria.start_within count only if criteria.criterion is 'combined'",
            );
        }
        if let PlacesConfig::Sites { sites: 0, .. } = self.places {
            return wrong("criteria.places.sites is 0; give at least one site");
        }
        if let PlacesConfig::Sites { sites, .. } = self.places
            && sites > Self::MOST_SITES
        {
            return Err(ConfigError::from(format!(
                "criteria.places.sites is above {}; each takes memory, so give fewer",
                Self::MOST_SITES
            )));
        }
        let weighted = |part: &PartConfig| (0.0..=1e9).contains(&part.weight);
        if !self.parts.iter().all(weighted) {
            return wrong("a weight in criteria.parts is not from 0 to 1000000000");
        }
        let helpers = self.helpers.as_deref().unwrap_or_default();
        if helpers.len() > Config::MOST_HELPERS {
            return wrong("criteria.helpers has more than 4 entries; each overlay is needed once");
        }
        Ok(())
    }

    fn file(&self) -> Option<&Path> {
        self.places.file()
    }

    fn file_mut(&mut self) -> Option<&mut PathBuf> {
        self.places.file_mut()
    }
}

impl CriteriaConfig {
    /// The key from which a node gets this field.
    pub(super) fn key_of(error: &config::ConfigError) -> Option<&'static str> {
        Some(match (error.part, error.field) {
            (Some("overlay"), "view") => "degree",
            (Some("overlay"), "shuffle") => "shuffle",
            (Some("helper"), "links") => "near",
            (Some("helper"), "gossip") => "gossip",
            (Some("overlay" | "helper"), "period" | "timeout") => "period",
            (Some("commit"), "permission") => "permission",
            (Some("commit"), _) | (None, "timeout") => "max_delay",
            (
                None,
                same @ ("alpha" | "dense" | "iterations" | "parallel" | "width" | "slot" | "lead"
                | "rounds" | "improve" | "patience"),
            ) => same,
            _ => return None,
        })
    }

    /// The longest time between gossip at which news of free time is of use.
    const FRESH: Span = Span::from_secs(600);

    /// The rules of P2, with simulated slots of a minute.
    pub fn paper() -> Self {
        Self {
            breadth: 0,
            dense: 0,
            spares: 0,
            improve: Span::ZERO,
            patience: Span::ZERO,
            slot: Span::from_secs(60),
            ..Self::default()
        }
    }

    /// The most sites around which nodes lie.
    pub const MOST_SITES: u32 = 1_000_000;

    /// The criterion of each job.
    pub fn job_criterion(&self) -> Criterion {
        match self.criterion {
            CriterionName::Closest => Criterion::Closest,
            CriterionName::Soonest => Criterion::Soonest,
            CriterionName::Farthest => Criterion::Farthest,
            CriterionName::Combined => Criterion::Custom(0),
        }
    }

    /// The cost function of the criterion.
    pub fn objective(&self) -> Combined {
        let mut parts = match self.criterion {
            CriterionName::Closest => Combined::from(Standard::Closest),
            CriterionName::Soonest => Combined::from(Standard::Soonest),
            CriterionName::Farthest => Combined::from(Standard::Farthest),
            CriterionName::Combined => {
                let mut parts = self.parts.iter();
                let mut all = Combined::default();
                for part in parts.by_ref() {
                    let millionths = (part.weight * 1e6).round() as u64;
                    all = all.and(
                        Weight::from_millionths(millionths),
                        part.objective.standard(),
                    );
                }
                all
            }
        };
        if let Some(within) = self.start_within {
            parts = parts.limited(Limit::StartWithin(within));
        }
        parts
    }

    /// The helper overlay that suits the criterion.
    fn suitable(&self) -> Option<Helper> {
        let first = self.parts.first().map(|part| part.objective);
        match (self.criterion, first) {
            (CriterionName::Closest, _) => Some(Helper::Proximity),
            (CriterionName::Soonest, _) => Some(Helper::FirstFree),
            (CriterionName::Farthest, _) => Some(Helper::Remoteness),
            (CriterionName::Combined, first) => match first? {
                ObjectiveConfig::Closest | ObjectiveConfig::SquaredSpread => {
                    Some(Helper::Proximity)
                }
                ObjectiveConfig::Soonest => Some(Helper::FirstFree),
                ObjectiveConfig::Farthest => Some(Helper::Remoteness),
                ObjectiveConfig::Regions | ObjectiveConfig::Bandwidth { .. } => None,
            },
        }
    }

    /// The criteria that nodes know.
    pub fn catalogue(&self) -> Catalogue {
        OneMore {
            objective: self.objective(),
            helper: self.suitable(),
        }
    }

    /// The configuration of the machines, for this network.
    pub fn for_machines(&self, network: &NetworkConfig) -> Config {
        let slot = self.slot;
        let max_delay = self.max_delay;
        let lead = lead(self.lead, network, slot.max(max_delay.times(5)));
        let kept = match &self.helpers {
            Some(helpers) => helpers.clone(),
            None => {
                let is_fresh =
                    |helper: &Helper| *helper != Helper::FirstFree || self.period <= Self::FRESH;
                self.suitable().into_iter().filter(is_fresh).collect()
            }
        };
        let mut helpers = [None; Config::MOST_HELPERS];
        for (place, helper) in helpers.iter_mut().zip(kept) {
            *place = Some(helper);
        }
        let period = self.period;
        let timeout = max_delay.times(2);
        Config {
            overlay: cyclon::Config {
                view: self.degree,
                shuffle: self.shuffle.min(self.degree),
                period,
                timeout,
                ..cyclon::Config::DEFAULT
            },
            helper: vicinity::Config {
                links: self.near,
                gossip: self.gossip,
                period,
                timeout,
                max_age: u16::from(self.near).saturating_mul(3),
                ..vicinity::Config::DEFAULT
            },
            helpers,
            exploration: self.exploration,
            preselection: self.preselection,
            alpha: (self.alpha * 100.0).round() as u16,
            breadth: self.breadth,
            reach: self.reach,
            iterations: self.iterations,
            dense: self.dense,
            parallel: self.parallel,
            pause: self.pause,
            improve: Some(self.improve).filter(|period| !period.is_zero()),
            patience: self.patience,
            width: self.width,
            select: if self.paper_selection {
                select::Config::PAPER
            } else {
                select::Config::DEFAULT
            },
            coordinates: if self.learn_places {
                Coordinates::Learned(vivaldi::Config::DEFAULT)
            } else {
                Coordinates::Given
            },
            slot,
            lead,
            margin: margin(network, max_delay),
            horizon: self.horizon,
            rounds: self.rounds,
            spares: self.spares,
            timeout,
            commit: commit(max_delay, lead, self.permission),
            candidates: u16::MAX,
            ..Config::DEFAULT
        }
    }
}

impl ObjectiveConfig {
    /// The objective as machines know it.
    fn standard(self) -> Standard {
        let micros = |millis: f64| (millis * 1000.0).round() as i32;
        match self {
            Self::Soonest => Standard::Soonest,
            Self::Closest => Standard::Closest,
            Self::Farthest => Standard::Farthest,
            Self::SquaredSpread => Standard::SquaredSpread,
            Self::Regions => Standard::Regions,
            Self::Bandwidth {
                location: [x, y],
                volume,
                rate,
            } => Standard::Bandwidth(Bandwidth {
                location: Coordinate::at([micros(x), micros(y), 0]),
                volume,
                unknown: rate,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config as Whole;

    #[test]
    fn close_and_starting_within_an_hour_is_a_line_of_configuration() {
        let text = "scheduler = 'criteria'\n[criteria]\ncriterion = 'combined'\n\
                    parts = [{ objective = 'closest' }]\nstart_within = '1h'\n";
        let config = Whole::parse(text).unwrap().rules.criteria;
        let hour = Limit::StartWithin(Span::from_secs(3600));
        let wanted = Combined::from(Standard::Closest).limited(hour);
        assert_eq!(config.objective(), wanted);
        assert_eq!(config.catalogue().helper, Some(Helper::Proximity));
        assert_eq!(config.job_criterion(), Criterion::Custom(0));
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        for (setting, named) in [
            ("criteria.alpha=0.9", "criteria.alpha"),
            ("criteria.alpha=nan", "criteria.alpha"),
            ("criteria.warm_up=10001", "criteria.warm_up"),
            ("criteria.criterion=combined", "criteria.parts"),
            ("criteria.start_within=1h", "criteria.start_within"),
            ("criteria.places.sites=0", "criteria.places.sites"),
            ("criteria.places.sites=4294967295", "is above 1000000"),
        ] {
            let error = Whole::default().with(setting).unwrap_err().to_string();
            assert!(error.contains(named), "{setting}: {error}");
        }
    }

    #[test]
    fn every_objective_can_be_written_down() {
        let text = "[criteria]\ncriterion = 'combined'\nparts = [\n\
            { objective = 'soonest', weight = 0.5 }, { objective = 'farthest' }, { objective = 'regions' },\n\
            { objective = 'squared-spread' },\n\
            { objective = { bandwidth = { location = [1.5, -2.0], volume = 8000, rate = 1000 } } },\n]\n";
        let config = Whole::parse(text).unwrap();
        assert_eq!(config.rules.criteria.objective().parts().len(), 5);
        let again = Whole::parse(&config.to_toml().unwrap()).unwrap();
        assert_eq!(again, config);
    }
}
