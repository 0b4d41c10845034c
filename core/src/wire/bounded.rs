//! How long the encoding of a value can be, for every type that is in a message.

use core::num::NonZeroU32;

use crate::admission::{Admission, Attributes, Needs, Organisations, Stated, Tally};
use crate::commit;
use crate::custody;
use crate::few::Few;
use crate::id::{Epoch, Incarnation, JobId, NodeId, OrganisationId, UserId};
use crate::job::{
    Criterion, Demand, Failure, Job, Outcome, Payload, Refusal, Retry, Scope, Submitter,
};
use crate::overlay::blatant::{self, Neighbourhood, Purpose};
use crate::overlay::can::{self, History, Point, Side, Split, Stretch, Zone};
use crate::overlay::cyclon;
use crate::overlay::flood::{FloodId, Header};
use crate::overlay::vicinity;
use crate::overlay::view::Link;
use crate::profile::{Coordinate, Profile};
use crate::queue::{Cost, Waiting};
use crate::resource::{Capability, MAX_DIMENSIONS, Requirement, Speed};
use crate::schedule::{Attempt, Snapshot};
use crate::scheduler::{asap, criteria, desktop};
use crate::shared::Shared;
use crate::time::{Interval, Span, Time};

/// A type whose values have encodings of bounded length.
///
/// ```
/// use gridweave_core::id::NodeId;
/// use gridweave_core::wire::Bounded;
///
/// // 64 bits, seven of them in a byte; an option has a byte more.
/// assert_eq!(NodeId::MOST_BYTES, 10);
/// assert_eq!(<Option<NodeId>>::MOST_BYTES, 11);
/// ```
pub trait Bounded {
    /// The most bytes that a value takes.
    const MOST_BYTES: usize;
}

/// How many bytes a number of `bits` bits takes: seven bits in each byte.
const fn varint(bits: u32) -> usize {
    bits.div_ceil(7) as usize
}

/// The most bytes of a list of at most `most` items: its count, and the items.
pub(super) const fn list<T: Bounded>(most: usize) -> usize {
    let count = varint(usize::BITS.saturating_sub(most.leading_zeros()));
    // The count of an empty list takes a byte, too.
    let count = if count == 0 { 1 } else { count };
    count.saturating_add(most.saturating_mul(T::MOST_BYTES))
}

/// The larger of two.
const fn larger(one: usize, two: usize) -> usize {
    if one > two { one } else { two }
}

/// The sum of the most bytes of some types.
macro_rules! sum {
    ($($part:ty),* $(,)?) => {
        0_usize $(.saturating_add(<$part as $crate::wire::Bounded>::MOST_BYTES))*
    };
}
pub(super) use sum;

/// Types of a fixed length, or of one that is stated.
macro_rules! most {
    ($($type:ty: $bytes:expr;)*) => {
        $(impl Bounded for $type {
            const MOST_BYTES: usize = $bytes;
        })*
    };
}

/// Types that are encoded as these, one after the other.
macro_rules! made_of {
    ($($type:ty: $($part:ty),*;)*) => {
        $(impl Bounded for $type {
            const MOST_BYTES: usize = sum!($($part),*);
        })*
    };
}

/// Types that are one of several variants: a byte says which, and then come the fields of the largest.
macro_rules! one_of {
    ($($type:ty: $([$($part:ty),*]),*;)*) => {
        $(impl Bounded for $type {
            const MOST_BYTES: usize = {
                let mut largest = 0;
                $(largest = larger(largest, sum!($($part),*));)*
                largest.saturating_add(1)
            };
        })*
    };
}

most! {
    bool: 1;
    u8: 1;
    u16: varint(u16::BITS);
    u32: varint(u32::BITS);
    u64: varint(u64::BITS);
    i32: varint(i32::BITS);
    i64: varint(i64::BITS);
}

impl<T: Bounded> Bounded for Option<T> {
    const MOST_BYTES: usize = T::MOST_BYTES.saturating_add(1);
}

impl<T: Bounded, U: Bounded> Bounded for (T, U) {
    const MOST_BYTES: usize = sum!(T, U);
}

impl<T: Bounded, const N: usize> Bounded for [T; N] {
    const MOST_BYTES: usize = N.saturating_mul(T::MOST_BYTES);
}

impl<T: Bounded, const N: usize> Bounded for Few<T, N> {
    const MOST_BYTES: usize = list::<T>(N);
}

impl Bounded for Organisations {
    const MOST_BYTES: usize = list::<OrganisationId>(Self::MOST);
}

impl<T: Bounded> Bounded for Shared<T> {
    const MOST_BYTES: usize = T::MOST_BYTES;
}

made_of! {
    NonZeroU32: u32;
    NodeId: u64;
    JobId: u64;
    UserId: u32;
    OrganisationId: u32;
    Epoch: u64;
    Incarnation: u32;
    Time: u64;
    Span: u64;
    Interval: Time, Time;
    Coordinate: [i32; Coordinate::DIMENSIONS], u32;
    Profile: Coordinate, u16, u16, u32, Interval, u32, Option<NonZeroU32>, Stated;
    Stated: Option<Attributes>;
    Attributes: OrganisationId, Admission, Capability;
    Needs: Option<(Requirement, Scope)>;
    Tally: u32, u32, u32;
    Capability: [u64; MAX_DIMENSIONS];
    Requirement: [Option<u64>; MAX_DIMENSIONS];
    Speed: NonZeroU32;
    Submitter: UserId, OrganisationId;
    Job: JobId, Submitter, Time, Demand, Requirement, Span, Option<Time>, Criterion, Scope, Retry;
    Attempt: JobId, Epoch;
    Cost: i64;
    Waiting: JobId, Requirement, Time, u32;
}

one_of! {
    Demand: [NonZeroU32], [NonZeroU32];
    Criterion: [], [], [], [u16];
    Scope: [], [], [];
    Admission: [], [], [Organisations], [Organisations];
    Retry: [], [u8], [u8];
    Outcome: [], [], [];
    Refusal: [u8];
    Failure: [Refusal];
}

impl Bounded for Snapshot {
    const MOST_BYTES: usize = sum!(u64, Time).saturating_add(list::<Interval>(Self::MAX_WINDOWS));
}

// Overlays.
made_of! {
    Link: NodeId, Incarnation, u16;
    cyclon::ExchangeId: Incarnation, u32;
    vicinity::ExchangeId: u32;
    Neighbourhood: NodeId, Incarnation, u32, blatant::Nodes;
    blatant::ChangeId: Incarnation, u32;
    FloodId: NodeId, u64, u8, u32;
    Header: FloodId, u8, u8;
    can::Name: NodeId, Incarnation;
    Split: u8, Side, u32;
    Stretch: u32, u32;
    can::Load: u64, u64, u64, u64, u64, u64;
    can::Told: can::Load, can::Load, can::Load;
}

one_of! {
    Purpose: [], [];
    Side: [], [];
    can::Refusal: [];
}

impl<P: Bounded> Bounded for vicinity::Descriptor<P> {
    const MOST_BYTES: usize = sum!(NodeId, u16, u64, P);
}

impl Bounded for History {
    const MOST_BYTES: usize = list::<Split>(Self::MOST);
}

impl<const D: usize> Bounded for Zone<D> {
    const MOST_BYTES: usize = list::<Stretch>(D);
}

impl<const D: usize> Bounded for Point<D> {
    const MOST_BYTES: usize = list::<u32>(D);
}

impl<const D: usize> Bounded for can::Entry<D> {
    const MOST_BYTES: usize = sum!(can::Name, u32, u32, Zone<D>, History);
}

impl<const D: usize> Bounded for can::Entries<D> {
    const MOST_BYTES: usize = list::<can::Entry<D>>(can::MOST_NEIGHBOURS);
}

impl<const D: usize> Bounded for can::Account<D> {
    const MOST_BYTES: usize = sum!(can::Entry<D>, u32, can::Entries<D>, Option<can::Beyond<D>>);
}

impl<const D: usize> Bounded for can::Beyond<D> {
    const MOST_BYTES: usize = sum!(can::Entries<D>, can::Entries<D>);
}

impl<const D: usize> Bounded for can::Grant<D> {
    const MOST_BYTES: usize = sum!(can::Entry<D>, can::Entries<D>);
}

// What schedulers are made of.
made_of! {
    custody::Tenure: u64;
    custody::Claim: u64;
    custody::Place: NodeId, Epoch;
    custody::Term: custody::Tenure, u32, u32;
}

one_of! {
    commit::Standing: [];
    custody::Refused: [];
    custody::Answer: [custody::Refused];
    custody::Standing: [Option<Time>, Option<custody::Place>], [], [custody::Ending];
    custody::Ending: [], [], [], [Failure], [], [];
    custody::Ruling: [Time], [], [];
}

// The schedulers.
made_of! {
    asap::AskId: JobId, u32;
    asap::SearchId: u32;
    asap::Wanted: u32, Time, Span, OrganisationId, Needs;
    asap::Known: NodeId, Stated, Snapshot;
    criteria::LookId: u32;
    desktop::Status: Capability, Capability, Capability, u32, u32, u32, Capability, Option<Time>, Speed;
    desktop::Merit: desktop::Turn, u64, u32, NodeId;
    desktop::Merits: Few<desktop::Merit, { custody::MOST_CANDIDATES }>;
    desktop::Quest: NodeId, u32, desktop::Wanted;
}

one_of! {
    criteria::Through: [], [u8], [];
    desktop::Turn: [];
    desktop::Wanted: [];
    desktop::MoveTo: [];
    desktop::Stand: [], [desktop::Members], [];
    desktop::Way: [];
}

impl Bounded for commit::Members {
    const MOST_BYTES: usize = list::<NodeId>(Self::MOST);
}

impl Bounded for Payload {
    const MOST_BYTES: usize = list::<u8>(Self::MOST);
}

impl Bounded for asap::Offer {
    const MOST_BYTES: usize = sum!(Time, u8).saturating_add(list::<NodeId>(Self::MOST_NODES));
}

impl Bounded for asap::Others {
    const MOST_BYTES: usize = list::<asap::Known>(Self::MOST);
}

impl Bounded for criteria::Descriptors {
    const MOST_BYTES: usize = list::<criteria::Descriptor>(Self::MOST);
}

impl<const D: usize> Bounded for desktop::Trail<D> {
    const MOST_BYTES: usize = sum!(desktop::Merits, Option<Point<D>>, u32, u8, u16);
}

impl<const D: usize> Bounded for desktop::Gather<D> {
    const MOST_BYTES: usize = sum!(NodeId, desktop::Status, Point<D>, u16);
}
