use core::fmt;
use core::num::NonZeroU32;

use crate::time::Span;

const BASELINE: u32 = 1_000_000;

/// How fast a node is, relative to the grid's baseline: P3's performance index, P4's normalised CPU speed.
///
/// A fixed-point number of millionths, at least one and below 4,295 times the baseline, so that run times scale alike
/// on every platform.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Speed(NonZeroU32);

/// Why a number is no speed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SpeedError {
    /// It is infinite or not a number.
    NotFinite,
    /// It rounds to zero or less, or to more than a speed can be.
    OutOfRange,
}

impl Speed {
    /// The speed for which run times are estimated.
    pub const BASELINE: Self = match NonZeroU32::new(BASELINE) {
        Some(millionths) => Self(millionths),
        None => Self(NonZeroU32::MIN),
    };

    /// A speed in millionths of the baseline.
    pub const fn from_millionths(millionths: NonZeroU32) -> Self {
        Self(millionths)
    }

    /// In millionths of the baseline.
    pub const fn as_millionths(self) -> NonZeroU32 {
        self.0
    }

    /// How long something takes at this speed that takes `baseline` at the baseline (P3: ERT divided by p); rounded up,
    /// so that work never vanishes, and saturating.
    pub fn duration_of(self, baseline: Span) -> Span {
        // Up to half a year, which is nearly always, one word is wide enough.
        if let Some(work) = baseline.as_micros().checked_mul(u64::from(BASELINE)) {
            return Span::from_micros(work.div_ceil(u64::from(self.0.get())));
        }
        let work = u128::from(baseline.as_micros()).saturating_mul(u128::from(BASELINE));
        let micros = work.div_ceil(u128::from(self.0.get()));
        Span::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }
}

impl TryFrom<f64> for Speed {
    type Error = SpeedError;

    /// The nearest speed, in millionths; refuses what is not a positive number in range.
    fn try_from(factor: f64) -> Result<Self, SpeedError> {
        if !factor.is_finite() {
            return Err(SpeedError::NotFinite);
        }
        let millionths = factor * f64::from(BASELINE) + 0.5;
        if !(1.0..f64::from(u32::MAX)).contains(&millionths) {
            return Err(SpeedError::OutOfRange);
        }
        NonZeroU32::new(millionths as u32)
            .map(Self)
            .ok_or(SpeedError::OutOfRange)
    }
}

impl fmt::Debug for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x", f64::from(self.0.get()) / f64::from(BASELINE))
    }
}

impl fmt::Display for SpeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFinite => "a speed must be a finite number",
            Self::OutOfRange => "a speed must lie between 0.000001 and 4294",
        })
    }
}

impl core::error::Error for SpeedError {}
