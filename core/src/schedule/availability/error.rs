//! Why an operation was refused. Whatever the reason, the profile is as it was.

use core::fmt;

/// Why no profile was made: the machine would have no processors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NoProcessors;

/// Why nothing was reserved; the profile is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ReserveError {
    /// A reservation of no processors.
    ZeroCount,
    /// The machine has fewer processors than that.
    MoreThanProcessors,
    /// The interval begins in the past that was forgotten.
    BeforeOrigin,
    /// Somewhere in the interval fewer processors are free.
    NotFree,
    /// The profile would need more breakpoints than its limit.
    Full,
}

/// Why nothing was released; the profile is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ReleaseError {
    /// A release of no processors.
    ZeroCount,
    /// The interval begins in the past that was forgotten.
    BeforeOrigin,
    /// Somewhere in the interval fewer processors are reserved.
    MoreThanReserved,
    /// The profile would need more breakpoints than its limit; releasing the middle of a reservation adds some.
    Full,
}

/// Why there is no fit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum FitError {
    /// No processors were asked for.
    ZeroCount,
    /// No time was asked for.
    ZeroLength,
    /// The machine has fewer processors than that.
    MoreThanProcessors,
    /// Nothing that long is free before the end of time.
    BeyondTime,
}

impl fmt::Display for NoProcessors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a machine needs at least one processor")
    }
}

impl fmt::Display for ReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ZeroCount => "a reservation needs at least one processor",
            Self::MoreThanProcessors => "the machine has fewer processors",
            Self::BeforeOrigin => "the interval begins before what the profile remembers",
            Self::NotFree => "too few processors are free somewhere in the interval",
            Self::Full => "the profile has no room for another breakpoint",
        })
    }
}

impl fmt::Display for ReleaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ZeroCount => "a release needs at least one processor",
            Self::BeforeOrigin => "the interval begins before what the profile remembers",
            Self::MoreThanReserved => "too few processors are reserved somewhere in the interval",
            Self::Full => "the profile has no room for another breakpoint",
        })
    }
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ZeroCount => "a fit needs at least one processor",
            Self::ZeroLength => "a fit needs a length",
            Self::MoreThanProcessors => "the machine has fewer processors",
            Self::BeyondTime => "nothing that long is free before the end of time",
        })
    }
}

impl core::error::Error for NoProcessors {}
impl core::error::Error for ReserveError {}
impl core::error::Error for ReleaseError {}
impl core::error::Error for FitError {}
