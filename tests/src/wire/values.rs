//! The values that messages are made of.

use core::num::NonZeroU32;

use gridweave_core::admission::{Admission, Attributes, Needs, Organisations, Stated, Tally};
use gridweave_core::few::Few;
use gridweave_core::id::{Epoch, Incarnation, JobId, NodeId, OrganisationId, UserId};
use gridweave_core::job::{
    Criterion, Demand, Failure, Job, Outcome, Payload, Refusal, Retry, Scope, Submitter,
};
use gridweave_core::overlay::blatant::{ChangeId, Neighbourhood, Purpose};
use gridweave_core::overlay::can::{
    Account, Beyond, END, Entries, Entry, Grant, History, Load, MOST_NEIGHBOURS, Name, Point, Side,
    Split, Stretch, Told, Zone,
};
use gridweave_core::overlay::flood::{FloodId, Header};
use gridweave_core::overlay::view::Link;
use gridweave_core::overlay::{can, cyclon, vicinity};
use gridweave_core::profile::{Coordinate, Profile};
use gridweave_core::queue::{Cost, Waiting};
use gridweave_core::resource::{Capability, Requirement, Speed};
use gridweave_core::schedule::{Attempt, Snapshot};
use gridweave_core::scheduler::{asap, criteria, desktop};
use gridweave_core::shared::Shared;
use gridweave_core::time::{Interval, Span, Time};
use gridweave_core::{commit, custody};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::fill::Fill;

/// A value that can be made up.
pub(super) trait Made: Sized {
    fn made(fill: &mut dyn Fill) -> Self;
}

/// Makes one of a type that is inferred.
pub(super) fn some<T: Made>(fill: &mut dyn Fill) -> T {
    T::made(fill)
}

/// A list of at most `most` values.
pub(super) fn list<T: Made, L: FromIterator<T>>(fill: &mut dyn Fill, most: usize) -> L {
    let count = fill.count(most);
    (0..count).map(|_| T::made(fill)).collect()
}

/// One of these values, of which the last is the longest.
pub(super) fn one_of<T: Copy, const N: usize>(fill: &mut dyn Fill, of: [T; N]) -> T {
    of[fill.variant(N)]
}

/// A value without a public constructor, decoded from the encoding of `value`.
fn encoded_as<T: DeserializeOwned>(value: impl Serialize) -> T {
    let bytes = postcard::to_allocvec(&value).expect("plain values can be encoded");
    postcard::from_bytes(&bytes).expect("it is encoded as that")
}

macro_rules! made {
    ($($type:ty: |$fill:ident| $made:expr;)*) => {
        $(impl Made for $type {
            fn made($fill: &mut dyn Fill) -> Self {
                $made
            }
        })*
    };
}

impl<T: Made> Made for Option<T> {
    fn made(fill: &mut dyn Fill) -> Self {
        (fill.variant(2) == 1).then(|| some(fill))
    }
}

impl<T: Made + Clone> Made for Shared<T> {
    fn made(fill: &mut dyn Fill) -> Self {
        Self::new(some(fill))
    }
}

impl<T: Made, const N: usize> Made for [T; N] {
    fn made(fill: &mut dyn Fill) -> Self {
        core::array::from_fn(|_| some(fill))
    }
}

impl<T: Made, const N: usize> Made for Few<T, N> {
    fn made(fill: &mut dyn Fill) -> Self {
        list(fill, N)
    }
}

made! {
    bool: |fill| fill.variant(2) == 1;
    u8: |fill| fill.number(u8::MAX.into()) as u8;
    u16: |fill| fill.number(u16::MAX.into()) as u16;
    u32: |fill| fill.number(u32::MAX.into()) as u32;
    u64: |fill| fill.number(u64::MAX);
    // Zigzag: the largest unsigned number stands for the least signed one.
    i32: |fill| { let coded: u32 = some(fill); (coded >> 1) as i32 ^ -((coded & 1) as i32) };
    i64: |fill| { let coded: u64 = some(fill); (coded >> 1) as i64 ^ -((coded & 1) as i64) };
    NonZeroU32: |fill| NonZeroU32::new(some(fill)).unwrap_or(NonZeroU32::MIN);
    NodeId: |fill| Self::new(some(fill));
    JobId: |fill| Self::new(some(fill));
    UserId: |fill| Self::new(some(fill));
    OrganisationId: |fill| Self::new(some(fill));
    Epoch: |fill| Self::new(some(fill));
    Incarnation: |fill| Self::new(some(fill));
    Time: |fill| Self::from_micros(some(fill));
    Span: |fill| Self::from_micros(some(fill));
    Interval: |fill| {
        let start = fill.number(u64::MAX - 1);
        let end = some::<u64>(fill).max(start + 1);
        Self::new(Time::from_micros(start), Time::from_micros(end)).expect("it ends after it starts")
    };
    Coordinate: |fill| Self { point: some(fill), height: some(fill) };
    Profile: |fill| Self {
        coordinate: some(fill),
        error: some(fill),
        region: some(fill),
        bandwidth: some(fill),
        free: some(fill),
        note: some(fill),
        radius: some(fill),
        stated: some(fill),
    };
    Organisations: |fill| {
        let drawn: Vec<OrganisationId> = list(fill, Self::MOST);
        let apart = (0..).zip(drawn).map(|(at, drawn)| drawn.get().wrapping_sub(at));
        Self::new(apart.map(OrganisationId::new)).expect("there are not too many")
    };
    Admission: |fill| match fill.variant(4) {
        0 => Self::All,
        1 => Self::Own,
        2 => Self::Only(some(fill)),
        _ => Self::Except(some(fill)),
    };
    Attributes: |fill| Self {
        organisation: some(fill),
        admission: some(fill),
        capability: some(fill),
    };
    Stated: |fill| some::<Option<Attributes>>(fill).map_or(Self::NOTHING, Self::new);
    Needs: |fill| match fill.variant(2) {
        0 => Self::NOTHING,
        _ => Self::new(some(fill), some(fill)),
    };
    Tally: |fill| Self { suited: some(fill), closed: some(fill), lacking: some(fill) };
    Capability: |fill| encoded_as(some::<[u64; 8]>(fill));
    Requirement: |fill| encoded_as(some::<[Option<u64>; 8]>(fill));
    Speed: |fill| Self::from_millionths(some(fill));
    Submitter: |fill| Self { user: some(fill), organisation: some(fill) };
    Demand: |fill| { let many = some(fill); one_of(fill, [Self::Nodes(many), Self::Cores(many)]) };
    Criterion: |fill| match fill.variant(4) {
        0 => Self::Soonest,
        1 => Self::Closest,
        2 => Self::Farthest,
        _ => Self::Custom(some(fill)),
    };
    Scope: |fill| one_of(fill, [Self::Grid, Self::Organisation, Self::Here]);
    Job: |fill| {
        let estimate = Span::from_micros(some::<u64>(fill).max(1));
        let mut job = Self::new(some(fill), some(fill), estimate).expect("it takes some time");
        job.submitter = some(fill);
        job.submitted = some(fill);
        job.requirement = some(fill);
        job.deadline = some(fill);
        job.criterion = some(fill);
        job.scope = some(fill);
        job.retry = some(fill);
        job
    };
    Outcome: |fill| one_of(fill, [Self::Done, Self::Broke, Self::Overran]);
    Retry: |fill| match fill.variant(3) {
        0 => Self::Never,
        1 => Self::OnNodeLoss(some(fill)),
        _ => Self::Always(some(fill)),
    };
    Payload: |fill| {
        let bytes: Vec<u8> = list(fill, Self::MOST);
        Self::new(&bytes).expect("it is not too long")
    };
    commit::Members: |fill| list::<NodeId, _>(fill, Self::MOST);
    Refusal: |fill| match fill.variant(27) {
        0 => Self::Known,
        1 => Self::TooLarge,
        2 => Self::NoMatch,
        3 => Self::UnsupportedDemand,
        4 => Self::UnsupportedDeadline,
        5 => Self::UnsupportedCriterion,
        6 => Self::UnsupportedScope,
        7 => Self::BrokenCriterion,
        8 => Self::NotAcceptable,
        9 => Self::DeadlinePassed,
        10 => Self::Full,
        11 => Self::NotAuthorised,
        12 => Self::Leaving,
        13 => Self::Draining,
        14 => Self::TooLong,
        15 => Self::NoStart,
        16 => Self::NotFound,
        17 => Self::Taken,
        18 => Self::NodesFull,
        19 => Self::NodesDraining,
        20 => Self::Quota,
        21 => Self::NotAccepted,
        22 => Self::NoAnswer,
        23 => Self::TooSlow,
        24 => Self::Clock,
        25 => Self::NameTaken,
        _ => Self::UnknownDimension(some(fill)),
    };
    Failure: |fill| match fill.variant(4) {
        0 => Self::NodeLost,
        1 => Self::Overran,
        2 => Self::Broke,
        _ => Self::Refused(some(fill)),
    };
    Attempt: |fill| Self { job: some(fill), epoch: some(fill) };
    Snapshot: |fill| {
        let mut bounds: Vec<u64> = list(fill, 2 * Self::MAX_WINDOWS);
        // Bounds must differ, so the largest numbers are counted down.
        if bounds.first() == Some(&u64::MAX) {
            bounds = (0..bounds.len() as u64).map(|less| u64::MAX - less).collect();
        }
        bounds.sort_unstable();
        bounds.dedup();
        let pairs = bounds.chunks_exact(2);
        let windows: Vec<Interval> = pairs
            .map(|pair| (Time::from_micros(pair[0]), Time::from_micros(pair[1])))
            .map(|(start, end)| Interval::new(start, end).expect("bounds are sorted"))
            .collect();
        let last = windows.last().map_or(Time::ZERO, |last| last.end());
        let horizon = some::<Time>(fill).max(last);
        Self::new(some(fill), horizon, &windows).expect("windows are sorted")
    };
    Waiting: |fill| Self {
        job: some(fill),
        requirement: some(fill),
        submitted: some(fill),
        passed: some(fill),
    };
    Cost: |fill| Self::from_micros(some(fill));
    Link: |fill| Self { id: some(fill), incarnation: some(fill), age: some(fill) };
    cyclon::ExchangeId: |fill| Self { incarnation: some(fill), cycle: some(fill) };
    vicinity::ExchangeId: |fill| Self(some(fill));
    Neighbourhood: |fill| Self {
        node: some(fill),
        incarnation: some(fill),
        version: some(fill),
        neighbours: some(fill),
    };
    Purpose: |fill| one_of(fill, [Self::Construction, Self::Optimisation]);
    ChangeId: |fill| Self { incarnation: some(fill), serial: some(fill) };
    FloodId: |fill| Self {
        origin: some(fill),
        sequence: some(fill),
        kind: some(fill),
        round: some(fill),
    };
    Header: |fill| Self { id: some(fill), ttl: some(fill), hops: some(fill) };
    Name: |fill| Self { id: some(fill), life: some(fill) };
    Side: |fill| one_of(fill, [Self::Lower, Self::Upper]);
    Split: |fill| Self { dimension: some(fill), side: some(fill), plane: some(fill) };
    Stretch: |fill| {
        let from = fill.number(u64::from(END) - 1) as u32;
        Self::new(from, some::<u32>(fill).max(from + 1)).expect("it is not empty")
    };
    History: |fill| list::<Split, _>(fill, Self::MOST);
    can::Refusal: |fill| one_of(fill, [Self::Busy, Self::SamePoint, Self::Full, Self::Outside]);
    Load: |fill| Self {
        nodes: some(fill),
        free: some(fill),
        queue_len: some(fill),
        cores: some(fill),
        required_cores: some(fill),
        speed_sum: some(fill),
    };
    Told: |fill| Self { own: some(fill), beyond: some(fill), share: some(fill) };
    commit::Standing: |fill| one_of(fill, [Self::Waiting, Self::Running, Self::Gone]);
    commit::Refused: |fill| one_of(fill, [
        Self::Busy,
        Self::Stale,
        Self::Running,
        Self::TooLate,
        Self::Full,
        Self::Quota,
        Self::NotAccepted,
        Self::Foreign,
        Self::Draining,
        Self::Lacking,
    ]);
    custody::Tenure: |fill| encoded_as(some::<u64>(fill));
    custody::Claim: |fill| Self::new(some(fill));
    custody::Term: |fill| Self { tenure: some(fill), attempt: some(fill), moves: some(fill) };
    custody::Answer: |fill| { let why = some(fill); one_of(fill, [Self::Taken, Self::NotTaken(why)]) };
    custody::Refused: |fill| one_of(fill, [
        Self::NoMatch, Self::Full, Self::Known, Self::Draining, Self::NoSite, Self::Outdated,
    ]);
    custody::Place: |fill| Self { node: some(fill), attempt: some(fill) };
    custody::Ending: |fill| match fill.variant(6) {
        0 => Self::Done,
        1 => Self::Lost,
        2 => Self::Withdrawn,
        3 => Self::Broke,
        4 => Self::Overran,
        _ => Self::Failed(some(fill)),
    };
    custody::Standing: |fill| match fill.variant(3) {
        0 => Self::Running,
        1 => Self::Ended(some(fill)),
        _ => Self::Waiting { start: some(fill), at: some(fill) },
    };
    custody::Ruling: |fill| match fill.variant(3) {
        0 => Self::Over,
        1 => Self::Withdraw,
        _ => Self::Granted { until: some(fill) },
    };
    asap::AskId: |fill| Self { job: some(fill), round: some(fill) };
    asap::SearchId: |fill| encoded_as(some::<u32>(fill));
    asap::Wanted: |fill| Self {
        count: some(fill),
        from: some(fill),
        length: some(fill),
        organisation: some(fill),
        needs: some(fill),
    };
    asap::Offer: |fill| Self {
        start: some(fill),
        hops: some(fill),
        nodes: list(fill, Self::MOST_NODES),
    };
    asap::Known: |fill| Self { node: some(fill), stated: some(fill), schedule: some(fill) };
    asap::Others: |fill| list::<asap::Known, _>(fill, Self::MOST);
    criteria::LookId: |fill| encoded_as(some::<u32>(fill));
    criteria::Through: |fill| match fill.variant(3) {
        0 => Self::Random,
        1 => Self::NoLink,
        _ => Self::Helper(some(fill)),
    };
    criteria::Descriptors: |fill| list::<criteria::Descriptor, _>(fill, Self::MOST);
    desktop::Status: |fill| Self {
        total: some(fill),
        free: some(fill),
        waiting: some(fill),
        queue_len: some(fill),
        running: some(fill),
        head_passed: some(fill),
        least: some(fill),
        oldest: some(fill),
        speed: some(fill),
    };
    desktop::Turn: |fill| one_of(fill, [Self::Free, Self::Beside, Self::Later]);
    desktop::Merit: |fill| Self {
        turn: some(fill),
        cost: some(fill),
        lot: some(fill),
        node: some(fill),
    };
    desktop::Merits: |fill| {
        let mut merits = Self::default();
        // Each of another node, or the last would take the place of the one before.
        for (less, merit) in (0..).zip(list::<desktop::Merit, Vec<_>>(fill, custody::MOST_CANDIDATES)) {
            let node = NodeId::new(merit.node.get().wrapping_sub(less));
            merits.see(desktop::Merit { node, ..merit });
        }
        merits
    };
    desktop::Wanted: |fill| one_of(fill, [Self::Owner, Self::RunNode, Self::Sooner]);
    desktop::Quest: |fill| Self { asker: some(fill), attempt: some(fill), wanted: some(fill) };
    desktop::Stand: |fill| match fill.variant(3) {
        0 => Self::Outside,
        1 => Self::Gone,
        _ => Self::Inside(some(fill)),
    };
    desktop::Way: |fill| one_of(fill, [Self::Begins, Self::Hearsay, Self::Rendezvous, Self::Inside]);
    desktop::MoveTo: |fill| one_of(fill, [Self::Start, Self::Wait]);
}

impl<P: Made> Made for vicinity::Descriptor<P> {
    fn made(fill: &mut dyn Fill) -> Self {
        Self {
            id: some(fill),
            age: some(fill),
            version: some(fill),
            profile: some(fill),
        }
    }
}

impl<const D: usize> Made for Point<D> {
    fn made(fill: &mut dyn Fill) -> Self {
        Self::new(core::array::from_fn(|_| {
            fill.number(u64::from(END) - 1) as u32
        }))
    }
}

impl<const D: usize> Made for Zone<D> {
    fn made(fill: &mut dyn Fill) -> Self {
        Self::new(some(fill))
    }
}

impl<const D: usize> Made for Entry<D> {
    fn made(fill: &mut dyn Fill) -> Self {
        Self {
            name: some(fill),
            epoch: some(fill),
            rank: some(fill),
            zone: some(fill),
            history: some(fill),
        }
    }
}

impl<const D: usize> Made for Entries<D> {
    fn made(fill: &mut dyn Fill) -> Self {
        list::<Entry<D>, _>(fill, MOST_NEIGHBOURS)
    }
}

impl<const D: usize> Made for Beyond<D> {
    fn made(fill: &mut dyn Fill) -> Self {
        Self {
            second: some(fill),
            third: some(fill),
        }
    }
}

impl<const D: usize> Made for Account<D> {
    fn made(fill: &mut dyn Fill) -> Self {
        Self {
            own: some(fill),
            edition: some(fill),
            neighbours: some(fill),
            beyond: some(fill),
        }
    }
}

impl<const D: usize> Made for Grant<D> {
    fn made(fill: &mut dyn Fill) -> Self {
        Self {
            own: some(fill),
            neighbours: some(fill),
        }
    }
}

impl<const D: usize> Made for desktop::Trail<D> {
    fn made(fill: &mut dyn Fill) -> Self {
        Self {
            best: some(fill),
            toward: some(fill),
            passed: some(fill),
            probes: some(fill),
            hops: some(fill),
        }
    }
}
