//! The network between simulated nodes: how long a message travels, and whether it arrives.
//!
//! A message is sent whole, takes a one-way [`Delay`] that depends on the pair of nodes or on chance, and may be lost,
//! doubled or held up on the way, as its [`NetworkConfig`] says. [`Network::mishaps`] counts what went wrong. Bandwidth
//! and queues are not modelled. All chance comes from one generator, so a run repeats exactly.
//!
//! ```
//! use gridweave_core::time::{Span, Time};
//! use gridweave_sim::network::{Delay, Network, NetworkConfig};
//!
//! let config = NetworkConfig {
//!     delay: Delay::Constant(Span::from_millis(50)),
//!     ..NetworkConfig::default()
//! };
//! let mut network = Network::new(&config, 1)?;
//! let arrivals: Vec<Time> = network.transmit(Time::ZERO, 0, 1).collect();
//! assert_eq!(arrivals, [Time::from_millis(50)]);
//! # Ok::<(), gridweave_sim::network::NetworkError>(())
//! ```

mod delay;
mod places;
#[cfg(test)]
mod tests;
mod trouble;

pub use delay::Delay;
pub use places::{Plane, RoundTrips};
pub use trouble::{Cut, Passage, Trouble, TroubleMet};

use gridweave_core::rand_core::Rng;
use gridweave_core::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// Why a network configuration is refused.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A chance is not between 0 and 1.
    #[error("network.{name} is {probability}; give a probability from 0 to 1")]
    Probability {
        /// The name of the setting.
        name: &'static str,
        /// The value that was given.
        probability: f64,
    },
    /// The bounds of a delay are the wrong way round.
    #[error("network.delay has max {max} below min {min}; swap them")]
    Bounds {
        /// The lower one.
        min: Span,
        /// The upper one.
        max: Span,
    },
    /// Messages are to be held up, for no time.
    #[error(
        "network.reordering is above 0, and messages are held up for no time; set network.held_up, such as 500ms"
    )]
    HeldUpForNoTime,
    /// A partition is over before it begins.
    #[error(
        "a partition in network.partitions ends before it begins; let 'until' be later than 'from'"
    )]
    EmptyPartition,
    /// A range of nodes ends before it begins.
    #[error("network.partitions has the nodes [{first}, {last}]; swap them")]
    BackwardRange {
        /// The first node of the range.
        first: u32,
        /// The last node of the range.
        last: u32,
    },
}

/// How a network behaves. `D` says how long messages travel, or from what that follows.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NetworkConfig<D = Delay> {
    /// How long messages travel.
    pub delay: D,
    /// How likely a message is lost, from 0 to 1.
    pub loss: f64,
    /// How likely a message that arrives comes a second time.
    pub duplication: f64,
    /// How likely a message is held up, so that later ones overtake it.
    pub reordering: f64,
    /// The longest that a message is held up.
    pub held_up: Span,
    /// Whether a sender learns, a delay later, that its message reached no node.
    pub report_unreachable: bool,
    /// Times in which some nodes are cut off from the others.
    pub partitions: Vec<Partition>,
}

/// For some time, nothing passes between these nodes and all the others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partition {
    /// When it begins.
    pub from: Time,
    /// When it is over.
    pub until: Time,
    /// The nodes that are cut off: ranges of numbers, both ends included.
    pub nodes: Vec<[u32; 2]>,
}

impl NetworkConfig {
    /// Refuses what contradicts itself.
    pub fn check(&self) -> Result<(), NetworkError> {
        for partition in &self.partitions {
            if partition.until <= partition.from {
                return Err(NetworkError::EmptyPartition);
            }
            let backward = partition.nodes.iter().find(|[first, last]| last < first);
            if let Some(&[first, last]) = backward {
                return Err(NetworkError::BackwardRange { first, last });
            }
        }
        for (name, probability) in [
            ("loss", self.loss),
            ("duplication", self.duplication),
            ("reordering", self.reordering),
        ] {
            Chance::new(name, probability)?;
        }
        if self.reordering > 0.0 && self.held_up.is_zero() {
            return Err(NetworkError::HeldUpForNoTime);
        }
        match self.delay {
            Delay::Uniform { min, max } if max < min => Err(NetworkError::Bounds { min, max }),
            _ => Ok(()),
        }
    }
}

impl<D> NetworkConfig<D> {
    /// The same with other delays.
    pub fn with_delay<E>(&self, delay: E) -> NetworkConfig<E> {
        NetworkConfig {
            delay,
            loss: self.loss,
            duplication: self.duplication,
            reordering: self.reordering,
            held_up: self.held_up,
            report_unreachable: self.report_unreachable,
            partitions: self.partitions.clone(),
        }
    }

    /// Whether no message is ever lost on the way.
    pub fn loses_nothing(&self) -> bool {
        self.loss == 0.0 && self.partitions.is_empty()
    }

    /// The last node that a partition names.
    pub fn last_cut_off(&self) -> Option<u32> {
        let ranges = self
            .partitions
            .iter()
            .flat_map(|partition| &partition.nodes);
        ranges.map(|[_, last]| *last).max()
    }
}

impl Partition {
    fn holds(&self, now: Time) -> bool {
        (self.from..self.until).contains(&now)
    }

    fn is_inside(&self, node: u32) -> bool {
        self.nodes
            .iter()
            .any(|&[first, last]| (first..=last).contains(&node))
    }
}

/// A chance, as how many of 2^32 draws it takes.
#[derive(Clone, Copy, Debug)]
struct Chance(u64);

impl Chance {
    fn new(name: &'static str, probability: f64) -> Result<Self, NetworkError> {
        if !(0.0..=1.0).contains(&probability) {
            return Err(NetworkError::Probability { name, probability });
        }
        Ok(Self((probability * 4_294_967_296.0) as u64))
    }

    /// Whether it comes true; draws nothing if it never or always does.
    fn comes_true(self, rng: &mut impl Rng) -> bool {
        match self.0 {
            0 => false,
            1..=0xffff_ffff => u64::from(rng.next_u32()) < self.0,
            _ => true,
        }
    }
}

/// A number in `0..n`, also beyond 32 bits; one draw.
fn below(rng: &mut impl Rng, n: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(n)) >> 64) as u64
}

/// A network in use: its behaviour and its generator.
#[derive(Clone, Debug)]
pub struct Network {
    delay: Delay,
    loss: Chance,
    duplication: Chance,
    reordering: Chance,
    held_up: Span,
    report_unreachable: bool,
    partitions: Vec<Partition>,
    trouble: Option<(Trouble, Chance)>,
    met: TroubleMet,
    rng: Xoshiro256PlusPlus,
    lost: u64,
    duplicated: u64,
    held: u64,
    cut: u64,
}

impl Network {
    /// A network of this kind, whose chances follow from the seed.
    pub fn new(config: &NetworkConfig, seed: u64) -> Result<Self, NetworkError> {
        Self::drawing(config, Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A network of this kind, whose chances come from this generator.
    pub fn drawing(config: &NetworkConfig, rng: Xoshiro256PlusPlus) -> Result<Self, NetworkError> {
        config.check()?;
        Ok(Self {
            delay: config.delay.clone(),
            loss: Chance::new("loss", config.loss)?,
            duplication: Chance::new("duplication", config.duplication)?,
            reordering: Chance::new("reordering", config.reordering)?,
            held_up: config.held_up,
            report_unreachable: config.report_unreachable,
            partitions: config.partitions.clone(),
            trouble: None,
            met: TroubleMet::default(),
            rng,
            lost: 0,
            duplicated: 0,
            held: 0,
            cut: 0,
        })
    }

    /// Lets more go wrong than the configuration says, and all of it end at some time.
    pub fn troubled(mut self, trouble: Trouble) -> Result<Self, NetworkError> {
        let late = Chance::new("late", trouble.late)?;
        self.trouble = Some((trouble, late));
        Ok(self)
    }

    /// How often that trouble was met so far.
    pub fn trouble_met(&self) -> TroubleMet {
        self.met
    }

    /// Sends a message and tells when it arrives: never, once or twice.
    ///
    /// A partition is looked at when a message is sent; what is under way when it begins still arrives.
    pub fn transmit(
        &mut self,
        now: Time,
        from: u32,
        to: u32,
    ) -> impl Iterator<Item = Time> + use<> {
        if let Some((trouble, _)) = &self.trouble {
            if now >= trouble.until {
                let calm = now + self.delay.between(from, to, &mut self.rng);
                return Some(calm).into_iter().chain(None);
            }
            if let Some(passage) = trouble.stopped_by(now, from, to) {
                match passage {
                    Passage::None => self.met.cut += 1,
                    Passage::In | Passage::Out => self.met.cut_one_way += 1,
                }
                return None.into_iter().chain(None);
            }
        }
        let cut = self.partitions.iter().any(|partition| {
            partition.holds(now) && partition.is_inside(from) != partition.is_inside(to)
        });
        let arrives = if cut {
            self.cut += 1;
            false
        } else if self.loss.comes_true(&mut self.rng) {
            self.lost += 1;
            false
        } else {
            true
        };
        let first = arrives.then(|| self.arrival(now, from, to));
        let again = arrives && self.duplication.comes_true(&mut self.rng);
        let second = again.then(|| {
            self.duplicated += 1;
            self.arrival(now, from, to)
        });
        first.into_iter().chain(second)
    }

    fn arrival(&mut self, now: Time, from: u32, to: u32) -> Time {
        let mut delay = self.delay.between(from, to, &mut self.rng);
        if self.reordering.comes_true(&mut self.rng) {
            self.held += 1;
            let longest = self.held_up.as_micros();
            delay += Span::from_micros(below(&mut self.rng, longest.saturating_add(1)));
        }
        if let Some((trouble, late)) = &self.trouble {
            let slowness = trouble.slowness(from, to);
            self.met.slowed += u64::from(!slowness.is_zero());
            delay += slowness;
            if late.comes_true(&mut self.rng) {
                self.met.late += 1;
                let longest = trouble.late_by.as_micros();
                delay += Span::from_micros(below(&mut self.rng, longest.saturating_add(1)));
            }
        }
        now + delay
    }

    /// When a sender learns that its message reached no node, if it does.
    pub fn bounce(&mut self, now: Time, from: u32, to: u32) -> Option<Time> {
        self.report_unreachable
            .then(|| now + self.delay.between(to, from, &mut self.rng))
    }

    /// How often each thing happened to messages so far.
    pub fn mishaps(&self) -> Mishaps {
        Mishaps {
            lost: self.lost,
            duplicated: self.duplicated,
            held_up: self.held,
            cut: self.cut,
        }
    }
}

/// What happened to messages on the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Mishaps {
    /// Lost by chance.
    pub lost: u64,
    /// Delivered twice.
    pub duplicated: u64,
    /// Held up.
    pub held_up: u64,
    /// Stopped by a partition.
    pub cut: u64,
}
