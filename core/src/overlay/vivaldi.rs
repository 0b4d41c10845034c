//! Vivaldi: where a node is in the space of network delays, from the delays that it observes (PROTOCOLS 6, F11).
//!
//! Each node has a [`Coordinate`] such that the delay between two nodes is about what their coordinates predict. When a
//! node has measured a round trip to a peer, it moves a little: away from the peer if the trip took longer than
//! predicted, towards the peer if it took less. How far depends on how sure both are of their places. No node is
//! special, and no node needs to know many others.
//!
//! A [`Vivaldi`] is a value and not a machine. A machine that exchanges messages anyway observes their round trips, and
//! carries coordinates and errors in its messages.
//!
//! Coordinates predict round trips, because these are observed.
//!
//! # Guards
//! Peers may lie about where they are and how sure they are, and may hold an answer back. Nothing here can tell a lie
//! from a bad network, but a lie does little:
//! - A sample is refused if its round trip is [zero or beyond ten seconds](MAX_ROUND_TRIP), or its peer farther out.
//! - A surprise counts only up to [`SURPRISE`] times the median of the last few surprises. A few liars among many
//!   honest peers do not move the median, so they push no farther than an honest peer might. If the network itself has
//!   changed, all surprises are large, and after half a dozen samples they count.
//! - One sample moves a node by no more than [`Config::step`].
//! - A node is never entirely sure and never less sure than at its beginning. One sample changes its error by no more
//!   than a quarter of the whole range.
//! - Points and heights stay within ten seconds, and heights above [`Config::floor`].
//!
//! # Numbers
//! Places are kept in 65,536ths of a microsecond and errors in millionths, so that equal states are equal values and
//! steps are not lost to rounding. Steps are computed in `f64` with square roots from `libm`, the same everywhere.
//!
//! ```
//! use gridweave_core::overlay::vivaldi::{Config, Vivaldi};
//! use gridweave_core::time::Span;
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//!
//! let (mut here, mut there) = (Vivaldi::new(Config::DEFAULT), Vivaldi::new(Config::DEFAULT));
//! let rtt = Span::from_millis(80);
//! for _ in 0..50 {
//!     here.observe(rtt, there.coordinate(), there.error(), &mut rng)?;
//!     there.observe(rtt, here.coordinate(), here.error(), &mut rng)?;
//! }
//! let predicted = here.coordinate().latency(there.coordinate());
//! assert!(predicted > Span::from_micros(79_900) && predicted < Span::from_micros(80_100));
//! # Ok::<(), gridweave_core::overlay::vivaldi::BadSample>(())
//! ```

#[cfg(test)]
mod tests;

use core::fmt;

use crate::config::{ConfigError, Limits};
use crate::profile::Coordinate;
use crate::rng::Choose;
use crate::time::Span;

/// The longest round trip that is believed, and the farthest that a node is from the middle in any direction.
pub const MAX_ROUND_TRIP: Span = Span::from_secs(10);

/// The error of a node at first, and the largest that it can have, in thousandths.
pub const MAX_ERROR: u16 = 1_500;

/// A surprise counts at most as so many times the median of the last surprises.
pub const SURPRISE: u8 = 4;

/// How many surprises are remembered.
const MEMORY: usize = 7;

/// Below this many microseconds no surprise is cut.
const SMALL_SURPRISE: f64 = 1_000.0;

/// The parts of a microsecond that places are kept in.
const PARTS: f64 = 65_536.0;

/// Errors are kept in millionths of one.
const MILLIONTHS: f64 = 1_000_000.0;
const MILLIONTHS_PER_THOUSANDTH: u32 = 1_000;

/// How fast a node learns; all nodes of a grid have the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// Which part of a surprise a node moves by, if it is sure of its place and the peer much more so, `cc`; in
    /// thousandths, up to 1,000.
    pub gain: u16,
    /// The same for a node that is off by half or more: its place is wrong anyway, so it may move fast. In between, the
    /// part grows with the error. Not less than the gain, up to 1,000.
    pub haste: u16,
    /// How fast a node changes its mind about its own error, `ce`, in thousandths; up to 1,000.
    pub learning: u16,
    /// The least height.
    pub floor: Span,
    /// The farthest that one sample moves a node.
    pub step: Span,
}

impl Config {
    /// The usual values: a quarter of a surprise, all of it at first; 10 microseconds of height; no more than
    /// 100 milliseconds at once.
    pub const DEFAULT: Self = Self {
        haste: 1_000,
        ..Self::STEADY
    };

    /// The same without haste, as the rule has it.
    pub const STEADY: Self = Self {
        gain: 250,
        haste: 250,
        learning: 250,
        floor: Span::from_micros(10),
        step: Span::from_millis(100),
    };

    /// Refuses values out of bounds. [`Vivaldi::new`] does not call it: there they count as the bounds.
    pub const fn checked(self) -> Result<Self, ConfigError> {
        Limits::new()
            .number("gain", self.gain as u64)
            .at_most(1_000, "thousandths of one")
            .number("haste", self.haste as u64)
            .at_least(self.gain as u64, "gain")
            .at_most(1_000, "thousandths of one")
            .number("learning", self.learning as u64)
            .at_most(1_000, "thousandths of one")
            .time("floor", self.floor)
            .more_than(0, "or two nodes may be at one place")
            .at_most(MAX_ROUND_TRIP.as_micros(), "MAX_ROUND_TRIP")
            .time("step", self.step)
            .at_most(MAX_ROUND_TRIP.as_micros(), "MAX_ROUND_TRIP")
            .end(self)
    }

    fn within_bounds(self) -> Self {
        Self {
            gain: self.gain.min(1_000),
            haste: self.haste.clamp(self.gain.min(1_000), 1_000),
            learning: self.learning.min(1_000),
            floor: self.floor.clamp(Span::from_micros(1), MAX_ROUND_TRIP),
            step: self.step.min(MAX_ROUND_TRIP),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Where a node is, as far as it can tell.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Vivaldi {
    config: Config,
    /// In parts of a microsecond.
    point: [i64; Coordinate::DIMENSIONS],
    height: i64,
    /// In millionths.
    error: u32,
    surprises: Surprises,
}

/// Why a sample was not believed. Nothing has changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum BadSample {
    /// The round trip took no time.
    Zero,
    /// It took longer than [`MAX_ROUND_TRIP`].
    TooLong,
    /// The peer claims a place farther out than any node can be.
    TooFar,
}

impl fmt::Display for BadSample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zero => "the round trip took no time",
            Self::TooLong => "the round trip took too long to be one",
            Self::TooFar => "the peer claims to be where no node is",
        })
    }
}

impl core::error::Error for BadSample {}

impl Vivaldi {
    /// A node at the origin, with the largest error. Values of the configuration that are out of bounds count as the
    /// bounds.
    pub fn new(config: Config) -> Self {
        let config = config.within_bounds();
        Self {
            config,
            point: [0; Coordinate::DIMENSIONS],
            height: to_parts(micros(config.floor)),
            error: u32::from(MAX_ERROR).saturating_mul(MILLIONTHS_PER_THOUSANDTH),
            surprises: Surprises::default(),
        }
    }

    /// Where it is, to the microsecond.
    pub fn coordinate(&self) -> Coordinate {
        Coordinate {
            point: self.point.map(|part| libm::round(from_parts(part)) as i32),
            height: libm::round(from_parts(self.height)) as u32,
        }
    }

    /// How far off its predictions are on average, in thousandths of the delay; at least 1 and at most [`MAX_ERROR`].
    pub fn error(&self) -> u16 {
        let thousandths = self.error.div_ceil(MILLIONTHS_PER_THOUSANDTH);
        u16::try_from(thousandths).unwrap_or(MAX_ERROR)
    }

    /// Takes in a round trip to a peer, with the place and the error that the peer tells; with error 0 it is certain.
    ///
    /// Draws three choices if both are in the same place, else none.
    pub fn observe(
        &mut self,
        rtt: Span,
        peer: Coordinate,
        peer_error: u16,
        rng: &mut (impl rand_core::Rng + ?Sized),
    ) -> Result<(), BadSample> {
        check(rtt, peer)?;
        let rtt = micros(rtt);
        let apart = self.apart_from(peer);
        let heights = from_parts(self.height) + f64::from(peer.height);
        let length = length(apart);
        let distance = length + heights;
        let error = f64::from(self.error) / MILLIONTHS;
        let peer_error = f64::from(peer_error.min(MAX_ERROR)) / 1_000.0;
        let weight = error / (error + peer_error);

        let surprise = rtt - distance;
        self.learn(weight, libm::fabs(surprise) / rtt);

        let most = self.surprises.most();
        self.surprises.remember(libm::fabs(surprise));
        let step = micros(self.config.step);
        let force = (self.gain(error) * weight * surprise.clamp(-most, most)).clamp(-step, step);
        if length > 0.0 {
            self.push(apart, force / distance);
            self.rise(force * heights / distance);
        } else {
            let direction = any_direction(rng);
            self.push(direction, force);
        }
        Ok(())
    }

    /// Which part of a surprise counts for a node with this error.
    fn gain(&self, error: f64) -> f64 {
        let [gain, haste] = [self.config.gain, self.config.haste].map(f64::from);
        (gain + (haste - gain) * (2.0 * error).min(1.0)) / 1_000.0
    }

    fn apart_from(&self, peer: Coordinate) -> [f64; Coordinate::DIMENSIONS] {
        let mut apart = self.point.map(from_parts);
        for (apart, other) in apart.iter_mut().zip(peer.point) {
            *apart -= f64::from(other);
        }
        apart
    }

    /// Changes the node's own error by what this sample says about it, in proportion to the weight.
    fn learn(&mut self, weight: f64, relative: f64) {
        let most = f64::from(MAX_ERROR) / 1_000.0;
        let part = f64::from(self.config.learning) / 1_000.0 * weight;
        let error = f64::from(self.error) / MILLIONTHS;
        let error = relative.min(most) * part + error * (1.0 - part);
        let millionths = libm::round(error * MILLIONTHS) as u32;
        let (least, most) = (1, u32::from(MAX_ERROR));
        let [least, most] = [least, most].map(|e| e.saturating_mul(MILLIONTHS_PER_THOUSANDTH));
        self.error = millionths.clamp(least, most);
    }

    /// Moves by `times` times this vector.
    fn push(&mut self, way: [f64; Coordinate::DIMENSIONS], times: f64) {
        let most = micros(MAX_ROUND_TRIP);
        for (part, way) in self.point.iter_mut().zip(way) {
            let moved = from_parts(*part) + way * times;
            *part = to_parts(moved.clamp(-most, most));
        }
    }

    fn rise(&mut self, by: f64) {
        let (least, most) = (micros(self.config.floor), micros(MAX_ROUND_TRIP));
        let height = from_parts(self.height) + by;
        self.height = to_parts(height.clamp(least, most));
    }
}

fn check(rtt: Span, peer: Coordinate) -> Result<(), BadSample> {
    if rtt.is_zero() {
        return Err(BadSample::Zero);
    }
    if rtt > MAX_ROUND_TRIP {
        return Err(BadSample::TooLong);
    }
    let far = |amount: u32| Span::from_micros(u64::from(amount)) > MAX_ROUND_TRIP;
    if far(peer.height) || peer.point.iter().any(|part| far(part.unsigned_abs())) {
        return Err(BadSample::TooFar);
    }
    Ok(())
}

/// By how much the last predictions were off, in whole microseconds, oldest first.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Surprises(heapless::Vec<u32, MEMORY>);

impl Surprises {
    /// The largest surprise that counts in full, once there are enough to compare with.
    fn most(&self) -> f64 {
        if !self.0.is_full() {
            return f64::INFINITY;
        }
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let middle = sorted.get(MEMORY / 2).copied().unwrap_or_default();
        (f64::from(SURPRISE) * f64::from(middle)).max(SMALL_SURPRISE)
    }

    fn remember(&mut self, surprise: f64) {
        if self.0.is_full() {
            self.0.remove(0);
        }
        let _ = self.0.push(surprise as u32);
    }
}

/// A unit vector that points somewhere: three choices.
fn any_direction(rng: &mut (impl rand_core::Rng + ?Sized)) -> [f64; Coordinate::DIMENSIONS] {
    const FINE: u32 = 1 << 16;
    // Halves between whole numbers: none is zero.
    let way = [(); Coordinate::DIMENSIONS].map(|()| f64::from(rng.below(FINE)) + 0.5);
    let way = way.map(|part| part - f64::from(FINE) / 2.0);
    let length = length(way);
    way.map(|part| part / length)
}

fn length(way: [f64; Coordinate::DIMENSIONS]) -> f64 {
    libm::sqrt(way.iter().map(|part| part * part).sum())
}

fn micros(span: Span) -> f64 {
    span.as_micros() as f64
}

fn from_parts(parts: i64) -> f64 {
    parts as f64 / PARTS
}

fn to_parts(micros: f64) -> i64 {
    libm::round(micros * PARTS) as i64
}
