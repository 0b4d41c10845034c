//! Every message that travels: its number, and what its kinds are made of, field by field.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::bounded::{Bounded, list, sum};
use super::framed::{Framed, Kind, List, Protocol};
use crate::admission::{Needs, Stated, Tally};
use crate::commit;
use crate::custody;
use crate::heartbeat;
use crate::id::{Epoch, Incarnation, JobId, NodeId};
use crate::job::{Job, Outcome, Payload, Submitter};
use crate::overlay::blatant::{self, ChangeId, MOST_RECORDS, Neighbourhood, Purpose, Way};
use crate::overlay::can::{self, Account, Entries, Entry, Grant, Name, Point, Told, Zone};
use crate::overlay::cyclon;
use crate::overlay::flood::{FloodId, Header};
use crate::overlay::vicinity;
use crate::overlay::view::{Link, Links};
use crate::profile::Profile;
use crate::queue::{Cost, Waiting};
use crate::schedule::{Attempt, Snapshot};
use crate::scheduler::aria::links;
use crate::scheduler::criteria::{Descriptor, Descriptors, LookId, Through};
use crate::scheduler::desktop::{MoveTo, Quest, Status};
use crate::scheduler::{aria, asap, criteria, desktop};
use crate::shared::Shared;
use crate::time::{Interval, Span, Time};

/// `Kind: its fields;` for each variant, in order. `Kind in Message: its fields;` if the first field is a message of
/// another protocol, or another type with kinds. `=> list` behind the fields is their first list, if its length depends
/// on a constant that a node is built with.
///
/// A missing variant does not compile. A missing or extra field breaks the test of the largest messages.
macro_rules! framed {
    ($type:ty $(, [$($generics:tt)*])? = $protocol:expr; $($kind:ident $(in $inner:ty)?: $($field:ty),* $(=> $list:expr)?;)+) => {
        impl $(<$($generics)*>)? Framed for $type {
            const PROTOCOL: Protocol = $protocol;
            const KINDS: &'static [Kind] = &[$(
                Kind::around(stringify!($kind), kinds_within!($($inner)?), sum!($($field),*))
                    .with_list(first_list!($($list)?)),
            )+];

            fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind { .. } => stringify!($kind),)+
                }
            }
        }

        impl $(<$($generics)*>)? Kinds for $type {
            const KINDS: &'static [Kind] = <Self as Framed>::KINDS;
        }

        impl $(<$($generics)*>)? Bounded for $type {
            const MOST_BYTES: usize = Kind::largest(<Self as Framed>::KINDS);
        }
    };
}

/// The kinds of a type that may be the first field of a message.
trait Kinds {
    const KINDS: &'static [Kind];
}

/// The same for the variants of a type that is no message, but the first field of messages.
macro_rules! told_apart_by {
    ($type:ty $(, [$($generics:tt)*])?; $($kind:ident: $($field:ty),*;)+) => {
        impl $(<$($generics)*>)? Kinds for $type {
            const KINDS: &'static [Kind] = &[$(Kind::new(stringify!($kind), sum!($($field),*)),)+];
        }

        impl $(<$($generics)*>)? Bounded for $type {
            const MOST_BYTES: usize = Kind::largest(<Self as Kinds>::KINDS);
        }
    };
}

macro_rules! kinds_within {
    () => {
        &[]
    };
    ($inner:ty) => {
        <$inner as Kinds>::KINDS
    };
}

macro_rules! first_list {
    () => {
        None
    };
    ($list:expr) => {
        Some($list)
    };
}

framed! {
    heartbeat::Message = Protocol::HEARTBEAT;
    Ping: Incarnation, u32;
    Pong: Incarnation, Incarnation, u32;
}

framed! {
    cyclon::Message<L>, [const L: usize] = Protocol::CYCLON;
    Shuffle: cyclon::ExchangeId, Links<L> => List::of_at_most(L, 2);
    Shuffled: cyclon::ExchangeId, Links<L> => List::of_at_most(L, 2);
    Join: Incarnation;
    JoinWalk: NodeId, Incarnation, u8, u8;
    JoinGive: Incarnation, Link, Incarnation;
}

framed! {
    vicinity::Message<P, G>, [P: Bounded + Serialize + DeserializeOwned, const G: usize] = Protocol::VICINITY;
    Request: vicinity::ExchangeId, vicinity::Descriptors<P, G> => List::of_at_most(G, 1);
    Reply: vicinity::ExchangeId, vicinity::Descriptors<P, G> => List::of_at_most(G, 1);
}

/// Some neighbourhoods, as they are in a message.
struct Neighbourhoods;

impl Bounded for Neighbourhoods {
    const MOST_BYTES: usize = list::<Neighbourhood>(MOST_RECORDS);
}

framed! {
    blatant::Message = Protocol::BLATANT;
    Ant: u8, Neighbourhoods;
    Update: Neighbourhood;
    Ping: Neighbourhood;
    Pong: Neighbourhood;
    Link: ChangeId, Purpose, u8, Neighbourhoods;
    Linked: ChangeId, Neighbourhood;
    Refused: ChangeId, Option<NodeId>, Neighbourhoods;
    Unlink: ChangeId, Way;
    Kept: ChangeId;
    NotLinked: ;
    Leaving: Neighbourhood;
}

framed! {
    can::Message<D>, [const D: usize] = Protocol::CAN;
    Join: Name, Point<D>, u16 => List::of(D, 2);
    Grant: Grant<D> => List::of(D, 4);
    Refused: Incarnation, can::Refusal;
    Heartbeat: Account<D>, Told => List::of(D, 4);
    Beat: Incarnation, u32, Told;
    Ping: ;
    Introduction: Entries<D>;
    Seek: Entry<D>, Point<D>, u16 => List::of(D, 4);
    Inquiry: Name;
    Claim: Entries<D>, Zone<D>;
    Alive: Entry<D>, Span;
    MayLeave: Entry<D>, u32;
    Agreed: Incarnation, u32;
    Disagreed: Incarnation, u32;
    Stays: Incarnation;
    Obituary: Account<D>;
    Evicted: Incarnation;
    Here: Entry<D>, Option<u32>, u16, Told;
    Pulse: Incarnation, u32, u32, u16, Told;
    Farewell: NodeId;
}

told_apart_by! {
    commit::Refused;
    Busy: ;
    Stale: ;
    Running: ;
    TooLate: ;
    Full: ;
    Quota: ;
    NotAccepted: ;
    Foreign: ;
    Draining: ;
    Lacking: ;
}

framed! {
    commit::Message = Protocol::COMMIT;
    Prepare: Attempt, Interval, Span, Submitter, Needs, Payload;
    Prepared: Attempt, Span;
    Refused in commit::Refused: Attempt, Option<Time>;
    Commit: Attempt, commit::Members;
    Committed: Attempt;
    Expired: Attempt;
    Abort: Attempt;
    Permit: Attempt, Option<Time>;
    Alive: Attempt, commit::Standing;
    Query: Attempt;
    Extend: Attempt, Time;
    Release: JobId, Epoch;
    Released: JobId, Epoch, Option<Epoch>;
    Ended: Attempt, Outcome;
}

framed! {
    custody::Message = Protocol::CUSTODY;
    Give: Job, NodeId, custody::Term, u32, Payload;
    Answer: JobId, custody::Term, custody::Answer;
    Report: JobId, custody::Term, custody::Claim, custody::Standing;
    Verdict: JobId, custody::Term, custody::Claim, custody::Ruling;
}

framed! {
    links::Message = Protocol::LINKS;
    Blatant in blatant::Message: ;
    Cyclon in cyclon::Message<{ links::SHUFFLE }>: ;
}

told_apart_by! {
    asap::Reason;
    Changed: ;
    Search: asap::SearchId;
    Poll: ;
    NewLink: ;
}

framed! {
    asap::Message<L>, [const L: usize] = Protocol::ASAP;
    Overlay in cyclon::Message<L>: ;
    Commit in commit::Message: ;
    Search: asap::AskId, asap::Wanted;
    Found: asap::AskId, asap::Offer;
    NotFound: asap::AskId, Tally;
    WhoElse: asap::SearchId;
    Others: asap::SearchId, asap::Others;
    Fetch in asap::Reason: ;
    Schedule in asap::Reason: Stated, Snapshot;
    Subscribe: Option<u64>;
    Unsubscribe: ;
}

framed! {
    criteria::Message<L, G>, [const L: usize, const G: usize] = Protocol::CRITERIA;
    Overlay in cyclon::Message<L>: Descriptors;
    Helper: u8, vicinity::Message<Profile, G> => List { bytes: 2, ..List::of_at_most(G, 1) };
    Commit in commit::Message: ;
    Look: LookId, Through;
    Seen: LookId, Descriptor, Snapshot, Descriptors;
}

framed! {
    aria::Message = Protocol::ARIA;
    Overlay in links::Message: ;
    Request: Header, Job;
    Inform: Header, Job, Cost;
    Accept: FloodId, Cost;
    Custody in custody::Message: ;
}

told_apart_by! {
    desktop::Errand<D>, [const D: usize];
    Route: JobId, Quest, Point<D>, u16;
    Hunt: Job, Quest, desktop::Trail<D>;
    Gather: desktop::Gather<D>;
    Enter: NodeId, desktop::Stand, u16;
    Forage: Job, Quest, desktop::Trail<D>, desktop::Way, u8;
}

framed! {
    desktop::Message<D>, [const D: usize] = Protocol::DESKTOP;
    Overlay in can::Message<D>: Option<Shared<Status>>;
    Owners in custody::Message: ;
    Runs in custody::Message: ;
    Errand in desktop::Errand<D>: u32;
    Acknowledged: u32;
    Search: Header, Job, Quest;
    Found: JobId, Quest, custody::Candidates;
    Offer: Waiting, MoveTo;
    OfferAnswer: JobId, bool, Status;
    Pull: MoveTo, Status;
    PullReject: Status;
    Inflate: NodeId, u64, Status, Point<D>, u16;
    Deflate: NodeId, u64, Point<D>, u16;
    Residue in can::Message<D>: Option<Shared<Status>>;
    ResidueChanged: Status;
    Members: desktop::Members;
}
