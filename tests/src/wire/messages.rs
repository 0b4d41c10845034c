//! One message of each kind.

use gridweave_core::mentions::Mentions;
use gridweave_core::overlay::{blatant, can, cyclon, vicinity};
use gridweave_core::profile::Profile;
use gridweave_core::scheduler::{aria, asap, criteria, desktop};
use gridweave_core::shared::Shared;
use gridweave_core::wire::Framed;
use gridweave_core::{commit, custody, heartbeat};

use super::fill::Fill;
use super::values::{list, some};

/// A message type that can make one message of each kind.
pub trait Each: Framed + Mentions + Clone + PartialEq + core::fmt::Debug {
    /// One message for each path of [`paths`](super::paths), in the same order.
    fn each(fill: &mut dyn Fill) -> Vec<Self>;
}

/// One message around each message of another protocol.
fn around<I: Each, M>(fill: &mut dyn Fill, around: impl Fn(I, &mut dyn Fill) -> M) -> Vec<M> {
    let inner = I::each(fill);
    inner.into_iter().map(|inner| around(inner, fill)).collect()
}

impl Each for heartbeat::Message {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        vec![
            Self::Ping {
                asker: some(fill),
                round: some(fill),
            },
            Self::Pong {
                answerer: some(fill),
                asker: some(fill),
                round: some(fill),
            },
        ]
    }
}

impl<const L: usize> Each for cyclon::Message<L> {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        vec![
            Self::Shuffle {
                exchange: some(fill),
                links: some(fill),
            },
            Self::Shuffled {
                exchange: some(fill),
                links: some(fill),
            },
            Self::Join {
                incarnation: some(fill),
            },
            Self::JoinWalk {
                joiner: some(fill),
                incarnation: some(fill),
                ttl: some(fill),
                spare: some(fill),
            },
            Self::JoinGive {
                joiner: some(fill),
                link: some(fill),
                giver: some(fill),
            },
        ]
    }
}

impl<const G: usize> Each for vicinity::Message<Profile, G> {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        vec![
            Self::Request {
                exchange: some(fill),
                descriptors: some(fill),
            },
            Self::Reply {
                exchange: some(fill),
                descriptors: some(fill),
            },
        ]
    }
}

impl Each for blatant::Message {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        vec![
            Self::Ant {
                left: some(fill),
                visited: list(fill, blatant::MOST_RECORDS),
            },
            Self::Update(some(fill)),
            Self::Ping(some(fill)),
            Self::Pong(some(fill)),
            Self::Link {
                change: some(fill),
                purpose: some(fill),
                detours: some(fill),
                around: list(fill, blatant::MOST_RECORDS),
            },
            Self::Linked {
                change: some(fill),
                own: some(fill),
            },
            Self::Refused {
                change: some(fill),
                instead: some(fill),
                around: list(fill, blatant::MOST_RECORDS),
            },
            Self::Unlink {
                change: some(fill),
                way: some(fill),
            },
            Self::Kept { change: some(fill) },
            Self::NotLinked,
            Self::Leaving(some(fill)),
        ]
    }
}

impl<const D: usize> Each for can::Message<D> {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        vec![
            Self::Join {
                joiner: some(fill),
                point: some(fill),
                hops: some(fill),
            },
            Self::Grant(some(fill)),
            Self::Refused {
                life: some(fill),
                why: some(fill),
            },
            Self::Heartbeat {
                account: some(fill),
                told: some(fill),
            },
            Self::Beat {
                life: some(fill),
                edition: some(fill),
                told: some(fill),
            },
            Self::Ping,
            Self::Introduction(some(fill)),
            Self::Seek {
                seeker: some(fill),
                point: some(fill),
                hops: some(fill),
            },
            Self::Inquiry(some(fill)),
            Self::Claim {
                missed: some(fill),
                zone: some(fill),
            },
            Self::Alive {
                entry: some(fill),
                ago: some(fill),
            },
            Self::MayLeave {
                own: some(fill),
                epoch: some(fill),
            },
            Self::Agreed {
                life: some(fill),
                epoch: some(fill),
            },
            Self::Disagreed {
                life: some(fill),
                epoch: some(fill),
            },
            Self::Stays(some(fill)),
            Self::Obituary(some(fill)),
            Self::Evicted(some(fill)),
            Self::Here {
                own: some(fill),
                yours: some(fill),
                neighbours: some(fill),
                told: some(fill),
            },
            Self::Pulse {
                life: some(fill),
                epoch: some(fill),
                yours: some(fill),
                neighbours: some(fill),
                told: some(fill),
            },
            Self::Farewell(some(fill)),
        ]
    }
}

fn reasons_to_refuse() -> [commit::Refused; 10] {
    use commit::Refused::{
        Busy, Draining, Foreign, Full, Lacking, NotAccepted, Quota, Running, Stale, TooLate,
    };
    [
        Busy,
        Stale,
        Running,
        TooLate,
        Full,
        Quota,
        NotAccepted,
        Foreign,
        Draining,
        Lacking,
    ]
}

impl Each for commit::Message {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = vec![
            Self::Prepare {
                attempt: some(fill),
                interval: some(fill),
                lease: some(fill),
                submitter: some(fill),
                needs: some(fill),
                payload: some(fill),
            },
            Self::Prepared {
                attempt: some(fill),
                lease: some(fill),
            },
        ];
        all.extend(reasons_to_refuse().map(|reason| Self::Refused {
            reason,
            attempt: some(fill),
            next_free: some(fill),
        }));
        all.extend([
            Self::Commit {
                attempt: some(fill),
                members: some(fill),
            },
            Self::Committed {
                attempt: some(fill),
            },
            Self::Expired {
                attempt: some(fill),
            },
            Self::Abort {
                attempt: some(fill),
            },
            Self::Permit {
                attempt: some(fill),
                until: some(fill),
            },
            Self::Alive {
                attempt: some(fill),
                standing: some(fill),
            },
            Self::Query {
                attempt: some(fill),
            },
            Self::Extend {
                attempt: some(fill),
                until: some(fill),
            },
            Self::Release {
                job: some(fill),
                through: some(fill),
            },
            Self::Released {
                job: some(fill),
                through: some(fill),
                began: some(fill),
            },
            Self::Ended {
                attempt: some(fill),
                outcome: some(fill),
            },
        ]);
        all
    }
}

impl Each for custody::Message {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        vec![
            Self::Give {
                job: some(fill),
                home: some(fill),
                term: some(fill),
                carried: some(fill),
                payload: some(fill),
            },
            Self::Answer {
                job: some(fill),
                term: some(fill),
                answer: some(fill),
            },
            Self::Report {
                job: some(fill),
                term: some(fill),
                claim: some(fill),
                standing: some(fill),
            },
            Self::Verdict {
                job: some(fill),
                term: some(fill),
                claim: some(fill),
                ruling: some(fill),
            },
        ]
    }
}

impl Each for aria::links::Message {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = around(fill, |inner, _| Self::Blatant(inner));
        all.extend(around(fill, |inner, _| Self::Cyclon(inner)));
        all
    }
}

fn reasons(fill: &mut dyn Fill) -> [asap::Reason; 4] {
    [
        asap::Reason::Changed,
        asap::Reason::Search(some(fill)),
        asap::Reason::Poll,
        asap::Reason::NewLink,
    ]
}

impl<const L: usize> Each for asap::Message<L> {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = around(fill, |inner, _| Self::Overlay(inner));
        all.extend(around(fill, |inner, _| Self::Commit(inner)));
        all.extend([
            Self::Search {
                ask: some(fill),
                wanted: some(fill),
            },
            Self::Found {
                ask: some(fill),
                offer: some(fill),
            },
            Self::NotFound {
                ask: some(fill),
                seen: some(fill),
            },
            Self::WhoElse { search: some(fill) },
            Self::Others {
                search: some(fill),
                known: some(fill),
            },
        ]);
        all.extend(reasons(fill).map(Self::Fetch));
        all.extend(reasons(fill).map(|reason| Self::Schedule {
            reason,
            stated: some(fill),
            schedule: some(fill),
        }));
        all.extend([Self::Subscribe { known: some(fill) }, Self::Unsubscribe]);
        all
    }
}

impl<const L: usize, const G: usize> Each for criteria::Message<L, G> {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = around(fill, |message, fill| Self::Overlay {
            message,
            about: some(fill),
        });
        all.extend([Self::Helper {
            number: some(fill),
            message: Shared::new(vicinity::Message::each(fill).remove(0)),
        }]);
        all.extend(around(fill, |inner, _| Self::Commit(inner)));
        all.extend([
            Self::Look {
                look: some(fill),
                through: some(fill),
            },
            Self::Seen {
                look: some(fill),
                own: some(fill),
                schedule: some(fill),
                links: some(fill),
            },
        ]);
        all
    }
}

impl Each for aria::Message {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = around(fill, |inner, _| Self::Overlay(inner));
        all.extend([
            Self::Request {
                header: some(fill),
                job: some(fill),
            },
            Self::Inform {
                header: some(fill),
                job: some(fill),
                cost: some(fill),
            },
            Self::Accept {
                flood: some(fill),
                cost: some(fill),
            },
        ]);
        all.extend(around(fill, |inner, _| Self::Custody(inner)));
        all
    }
}

fn errands<const D: usize>(fill: &mut dyn Fill) -> [desktop::Errand<D>; 5] {
    [
        desktop::Errand::Route {
            job: some(fill),
            quest: some(fill),
            point: some(fill),
            hops: some(fill),
        },
        desktop::Errand::Hunt {
            job: some(fill),
            quest: some(fill),
            trail: some(fill),
        },
        desktop::Errand::Gather(desktop::Gather {
            asker: some(fill),
            status: some(fill),
            toward: some(fill),
            hops: some(fill),
        }),
        desktop::Errand::Enter {
            node: some(fill),
            stand: some(fill),
            hops: some(fill),
        },
        desktop::Errand::Forage {
            job: some(fill),
            quest: some(fill),
            trail: some(fill),
            way: some(fill),
            steps: some(fill),
        },
    ]
}

impl<const D: usize> Each for desktop::Message<D> {
    fn each(fill: &mut dyn Fill) -> Vec<Self> {
        let mut all = around(fill, |message, fill| Self::Overlay {
            message,
            status: some(fill),
        });
        all.extend(around(fill, |inner, _| Self::Owners(inner)));
        all.extend(around(fill, |inner, _| Self::Runs(inner)));
        all.extend(errands(fill).map(|errand| Self::Errand {
            errand,
            number: some(fill),
        }));
        all.extend([
            Self::Acknowledged(some(fill)),
            Self::Search {
                header: some(fill),
                job: some(fill),
                quest: some(fill),
            },
            Self::Found {
                job: some(fill),
                quest: some(fill),
                candidates: some(fill),
            },
            Self::Offer {
                waiting: some(fill),
                move_to: some(fill),
            },
            Self::OfferAnswer {
                job: some(fill),
                takes: some(fill),
                status: some(fill),
            },
            Self::Pull {
                move_to: some(fill),
                status: some(fill),
            },
            Self::PullReject { status: some(fill) },
            Self::Inflate {
                node: some(fill),
                version: some(fill),
                status: some(fill),
                point: some(fill),
                hops: some(fill),
            },
            Self::Deflate {
                node: some(fill),
                version: some(fill),
                point: some(fill),
                hops: some(fill),
            },
        ]);
        all.extend(around(fill, |message, fill| Self::Residue {
            message,
            status: some(fill),
        }));
        all.extend([
            Self::ResidueChanged { status: some(fill) },
            Self::Members(some(fill)),
        ]);
        all
    }
}
