//! Why an operation was refused.

use core::fmt;

use super::Slot;

/// Why a claim was refused. The ledger is as before the claim.
///
/// While a claim of several words runs, and until it has given back what it took, it may cause other refusals.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ClaimError {
    /// Some of the slots are past.
    Past,
    /// Some of the slots lie beyond the end of the window.
    Beyond,
    /// This slot, the first in the way, is held; its holder may yet release it.
    Held(Slot),
    /// This slot, the first in the way, is committed.
    Committed(Slot),
}

/// Why a hold is not committed: all its slots are past. There is nothing left of it to release.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AllPast;

/// Why there is no scale: its slots would take no time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ZeroLength;

/// Why a time has no slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ScaleError {
    /// It lies before the first slot.
    BeforeOrigin,
    /// It lies after the last slot.
    BeyondSlots,
}

impl fmt::Display for ClaimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Past => f.write_str("some of the slots are past"),
            Self::Beyond => f.write_str("some of the slots lie beyond the window"),
            Self::Held(slot) => write!(f, "slot {slot} is held"),
            Self::Committed(slot) => write!(f, "slot {slot} is committed"),
        }
    }
}

impl fmt::Display for AllPast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("all slots of the hold are past")
    }
}

impl fmt::Display for ZeroLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a slot needs some length")
    }
}

impl fmt::Display for ScaleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BeforeOrigin => "the time lies before the first slot",
            Self::BeyondSlots => "the time lies after the last slot",
        })
    }
}

impl core::error::Error for ClaimError {}
impl core::error::Error for AllPast {}
impl core::error::Error for ZeroLength {}
impl core::error::Error for ScaleError {}
