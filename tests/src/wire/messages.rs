//! One message of each kind.

use gridweave_core::overlay::{blatant, can, cyclon, vicinity};
use gridweave_core::profile::Profile;
use gridweave_core::scheduler::{aria, asap, criteria, desktop};
use gridweave_core::shared::Shared;
use gridweave_core::wire::Framed;
use gridweave_core::{commit, custody, heartbeat};

use super::fill::Fill;
use super::values::{list, some};

/// Messages of which there is one of each kind.
pub trait Each: Framed + Clone + PartialEq + core::fmt::Debug {
    /// One of each kind that is around no other, and of each that is around one of those, in the order of their numbers.
    fn each(fill: &mut dyn Fill) -> Vec<Self>;
}

/// A message around each of another protocol.
fn around<I: Each, M>(fill: &mut dyn Fill, around: impl Fn(I, &mut dyn Fill) -> M) -> Vec<M> {
    let inner = I::each(fill);
    inner.into_iter().map(|inner| around(inner, fill)).collect()
}

impl Each for heartbeat::Message {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = Vec::new();
        all.push(Self::Ping {
            asker: some(fill),
            round: some(fill),
        });
        all.push(Self::Pong {
            answerer: some(fill),
            asker: some(fill),
            round: some(fill),
        });
        all
    }
}

impl<const L: usize> Each for cyclon::Message<L> {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = Vec::new();
        all.push(Self::Shuffle {
            exchange: some(fill),
            links: some(fill),
        });
        all.push(Self::Shuffled {
            exchange: some(fill),
            links: some(fill),
        });
        all.push(Self::Join {
            incarnation: some(fill),
        });
        all.push(Self::JoinWalk {
            joiner: some(fill),
            incarnation: some(fill),
            ttl: some(fill),
            spare: some(fill),
        });
        all.push(Self::JoinGive {
            joiner: some(fill),
            link: some(fill),
            giver: some(fill),
        });
        all
    }
}

impl<const G: usize> Each for vicinity::Message<Profile, G> {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = Vec::new();
        all.push(Self::Request {
            exchange: some(fill),
            descriptors: some(fill),
        });
        all.push(Self::Reply {
            exchange: some(fill),
            descriptors: some(fill),
        });
        all
    }
}

impl Each for blatant::Message {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = Vec::new();
        all.push(Self::Ant {
            left: some(fill),
            visited: list(fill, blatant::MOST_RECORDS),
        });
        all.push(Self::Update(some(fill)));
        all.push(Self::Ping(some(fill)));
        all.push(Self::Pong(some(fill)));
        all.push(Self::Link {
            change: some(fill),
            purpose: some(fill),
            detours: some(fill),
            around: list(fill, blatant::MOST_RECORDS),
        });
        all.push(Self::Linked {
            change: some(fill),
            own: some(fill),
        });
        all.push(Self::Refused {
            change: some(fill),
            instead: some(fill),
            around: list(fill, blatant::MOST_RECORDS),
        });
        all.push(Self::Unlink {
            change: some(fill),
            way: some(fill),
        });
        all.push(Self::Kept { change: some(fill) });
        all.push(Self::NotLinked);
        all.push(Self::Leaving(some(fill)));
        all
    }
}

impl<const D: usize> Each for can::Message<D> {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = Vec::new();
        all.push(Self::Join {
            joiner: some(fill),
            point: some(fill),
            hops: some(fill),
        });
        all.push(Self::Grant(some(fill)));
        all.push(Self::Refused {
            life: some(fill),
            why: some(fill),
        });
        all.push(Self::Heartbeat {
            account: some(fill),
            told: some(fill),
        });
        all.push(Self::Beat {
            life: some(fill),
            edition: some(fill),
            told: some(fill),
        });
        all.push(Self::Ping);
        all.push(Self::Introduction(some(fill)));
        all.push(Self::Seek {
            seeker: some(fill),
            point: some(fill),
            hops: some(fill),
        });
        all.push(Self::Inquiry(some(fill)));
        all.push(Self::Claim {
            missed: some(fill),
            zone: some(fill),
        });
        all.push(Self::Alive {
            entry: some(fill),
            ago: some(fill),
        });
        all.push(Self::MayLeave {
            own: some(fill),
            epoch: some(fill),
        });
        all.push(Self::Agreed {
            life: some(fill),
            epoch: some(fill),
        });
        all.push(Self::Disagreed {
            life: some(fill),
            epoch: some(fill),
        });
        all.push(Self::Stays(some(fill)));
        all.push(Self::Obituary(some(fill)));
        all.push(Self::Evicted(some(fill)));
        all
    }
}

impl Each for commit::Message {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = Vec::new();
        all.push(Self::Prepare {
            holder: some(fill),
            interval: some(fill),
            lease: some(fill),
            submitter: some(fill),
        });
        all.push(Self::Prepared {
            holder: some(fill),
            lease: some(fill),
        });
        all.push(Self::Refused {
            holder: some(fill),
            reason: some(fill),
            next_free: some(fill),
        });
        all.push(Self::Commit { holder: some(fill) });
        all.push(Self::Committed { holder: some(fill) });
        all.push(Self::Expired { holder: some(fill) });
        all.push(Self::Abort { holder: some(fill) });
        all.push(Self::Permit {
            holder: some(fill),
            until: some(fill),
        });
        all.push(Self::Alive {
            holder: some(fill),
            standing: some(fill),
        });
        all.push(Self::Query { holder: some(fill) });
        all.push(Self::Extend {
            holder: some(fill),
            until: some(fill),
        });
        all.push(Self::Release {
            job: some(fill),
            through: some(fill),
        });
        all.push(Self::Released {
            job: some(fill),
            through: some(fill),
        });
        all.push(Self::Ended {
            holder: some(fill),
            outcome: some(fill),
        });
        all
    }
}

impl Each for custody::Message {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = Vec::new();
        all.push(Self::Give {
            job: some(fill),
            home: some(fill),
            term: some(fill),
            carried: some(fill),
        });
        all.push(Self::Answer {
            job: some(fill),
            term: some(fill),
            answer: some(fill),
        });
        all.push(Self::Report {
            job: some(fill),
            term: some(fill),
            claim: some(fill),
            standing: some(fill),
        });
        all.push(Self::Verdict {
            job: some(fill),
            term: some(fill),
            claim: some(fill),
            ruling: some(fill),
        });
        all
    }
}

impl Each for aria::links::Message {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = Vec::new();
        all.extend(around(fill, |inner, _| Self::Blatant(inner)));
        all.extend(around(fill, |inner, _| Self::Cyclon(inner)));
        all
    }
}

impl<const L: usize> Each for asap::Message<L> {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = Vec::new();
        all.extend(around(fill, |inner, _| Self::Overlay(inner)));
        all.extend(around(fill, |inner, _| Self::Commit(inner)));
        all.push(Self::Search {
            ask: some(fill),
            wanted: some(fill),
        });
        all.push(Self::Found {
            ask: some(fill),
            offer: some(fill),
        });
        all.push(Self::NotFound {
            ask: some(fill),
            seen: some(fill),
        });
        all.push(Self::WhoElse { search: some(fill) });
        all.push(Self::Others {
            search: some(fill),
            known: some(fill),
        });
        all.push(Self::Fetch(some(fill)));
        all.push(Self::Schedule {
            reason: some(fill),
            schedule: some(fill),
        });
        all.push(Self::Subscribe { known: some(fill) });
        all.push(Self::Unsubscribe);
        all
    }
}

impl<const L: usize, const G: usize> Each for criteria::Message<L, G> {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = Vec::new();
        all.extend(around(fill, |message, fill| Self::Overlay {
            message,
            about: some(fill),
        }));
        all.push(Self::Helper {
            number: some(fill),
            message: Shared::new(vicinity::Message::each(fill).remove(0)),
        });
        all.extend(around(fill, |inner, _| Self::Commit(inner)));
        all.push(Self::Look {
            look: some(fill),
            through: some(fill),
        });
        all.push(Self::Seen {
            look: some(fill),
            own: some(fill),
            schedule: some(fill),
            links: some(fill),
        });
        all
    }
}

impl Each for aria::Message {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = Vec::new();
        all.extend(around(fill, |inner, _| Self::Overlay(inner)));
        all.push(Self::Request {
            header: some(fill),
            job: some(fill),
        });
        all.push(Self::Inform {
            header: some(fill),
            job: some(fill),
            cost: some(fill),
        });
        all.push(Self::Accept {
            flood: some(fill),
            cost: some(fill),
        });
        all.push(Self::Assign {
            job: some(fill),
            initiator: some(fill),
            term: some(fill),
        });
        all.push(Self::AssignAck {
            job: some(fill),
            term: some(fill),
            answer: some(fill),
        });
        all.push(Self::Notify {
            job: some(fill),
            term: some(fill),
            standing: some(fill),
        });
        all.push(Self::Verdict {
            job: some(fill),
            term: some(fill),
            ruling: some(fill),
        });
        all
    }
}

impl<const D: usize> Each for desktop::Message<D> {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = Vec::new();
        all.extend(around(fill, |message, fill| Self::Overlay {
            message,
            status: some(fill),
        }));
        all.extend(around(fill, |inner, _| Self::Owners(inner)));
        all.extend(around(fill, |inner, _| Self::Runs(inner)));
        all.push(Self::Errand {
            number: some(fill),
            errand: some(fill),
        });
        all.push(Self::Acknowledged(some(fill)));
        all.push(Self::Search {
            header: some(fill),
            job: some(fill),
            quest: some(fill),
        });
        all.push(Self::Found {
            job: some(fill),
            quest: some(fill),
            candidates: some(fill),
        });
        all.push(Self::Offer {
            waiting: some(fill),
            move_to: some(fill),
        });
        all.push(Self::OfferAnswer {
            job: some(fill),
            takes: some(fill),
            status: some(fill),
        });
        all.push(Self::Pull {
            move_to: some(fill),
            status: some(fill),
        });
        all.push(Self::PullReject { status: some(fill) });
        all.push(Self::Inflate {
            node: some(fill),
            version: some(fill),
            status: some(fill),
            point: some(fill),
            hops: some(fill),
        });
        all.push(Self::Deflate {
            node: some(fill),
            version: some(fill),
            point: some(fill),
            hops: some(fill),
        });
        all
    }
}
