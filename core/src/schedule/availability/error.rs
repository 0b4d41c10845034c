//! Why an operation was refused. Whatever the reason, the availability is as it was.

use core::fmt;

/// Why no [`Availability`](super::Availability) was made: the machine would have no processors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NoProcessors;

/// Why no processors were reserved in an [`Availability`](super::Availability); it is unchanged.
///
/// Not to be confused with [`schedule::ReserveError`](crate::schedule::ReserveError), which is about the time of one
/// whole node in a [`Schedule`](crate::schedule::Schedule).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ReserveError {
    /// Zero processors were asked for.
    ZeroCount,
    /// More processors were asked for than the machine has, free or not: this can never be reserved.
    MoreThanProcessors,
    /// The interval begins before the [origin](super::Availability::origin), in time that was forgotten.
    BeforeOrigin,
    /// Somewhere in the interval fewer processors are free than were asked for.
    NotFree,
    /// There would be more steps than the limit allows.
    Full,
}

/// Why no processors were released; the [`Availability`](super::Availability) is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ReleaseError {
    /// Zero processors were to be released.
    ZeroCount,
    /// The interval begins before the [origin](super::Availability::origin), in time that was forgotten.
    BeforeOrigin,
    /// Somewhere in the interval fewer processors are reserved than were to be released.
    MoreThanReserved,
    /// There would be more steps than the limit allows; releasing the middle of a reservation adds some.
    Full,
}

/// Why [`Availability::earliest_fit`](super::Availability::earliest_fit) found no time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum FitError {
    /// No processors were asked for.
    ZeroCount,
    /// No time was asked for.
    ZeroLength,
    /// More processors were asked for than the machine has, free or not: there is never a fit.
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
            Self::BeforeOrigin => "the interval begins before what is remembered",
            Self::NotFree => "too few processors are free somewhere in the interval",
            Self::Full => "there is no room for another step",
        })
    }
}

impl fmt::Display for ReleaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ZeroCount => "a release needs at least one processor",
            Self::BeforeOrigin => "the interval begins before what is remembered",
            Self::MoreThanReserved => "too few processors are reserved somewhere in the interval",
            Self::Full => "there is no room for another step",
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
