//! The messages of schedulers and of what they are made of.

use alloc::vec::Vec;

use super::{Mentions, fields, kinds, no_nodes};
use crate::admission::{Needs, Stated, Tally};
use crate::commit;
use crate::custody;
use crate::id::{Epoch, JobId, NodeId};
use crate::job::{Job, Outcome, Payload, Submitter};
use crate::overlay::blatant::{self, Neighbourhood};
use crate::overlay::can::{self, Account, Beyond, Entries, Entry, Grant, Point, Zone};
use crate::overlay::flood::{FloodId, Header};
use crate::queue::{Cost, Waiting};
use crate::schedule::{Attempt, Snapshot};
use crate::scheduler::aria::links;
use crate::scheduler::criteria::{self, Descriptors, LookId, Through};
use crate::scheduler::desktop::{self, Gather, Merit, Merits, MoveTo, Quest, Status, Trail};
use crate::scheduler::{aria, asap};
use crate::shared::Shared;
use crate::time::{Interval, Span, Time};

impl<T: Mentions> Mentions for Vec<T> {
    fn mentions(&self, each: &mut dyn FnMut(NodeId)) {
        self.as_slice().mentions(each);
    }
}

impl<T: Mentions + Clone> Mentions for Shared<T> {
    fn mentions(&self, each: &mut dyn FnMut(NodeId)) {
        self.get().mentions(each);
    }
}

no_nodes! {
    Time, Span, Interval, JobId, Epoch, Job, Outcome, Payload, Submitter, Attempt, Snapshot, Cost, Waiting,
    blatant::ChangeId, blatant::Purpose,
    can::Refusal, can::Told, can::History, Point<D> [const D: usize], Zone<D> [const D: usize],
    commit::Standing, commit::Refused,
    custody::Term, custody::Claim, custody::Answer, custody::Ending, custody::Ruling,
    Needs, Stated, Tally,
    asap::AskId, asap::SearchId, asap::Wanted, asap::Reason,
    LookId, Through,
    Status, MoveTo, desktop::Turn, desktop::Wanted, desktop::Way,
}

// Overlays.
fields! {
    Neighbourhood: { node, incarnation, version, neighbours };
    FloodId: { origin, sequence, kind, round };
    Header: { id, ttl, hops };
    can::Name: { id, life };
    Entry<D> [const D: usize]: { name, epoch, rank, zone, history };
    Account<D> [const D: usize]: { own, edition, neighbours, beyond };
    Beyond<D> [const D: usize]: { second, third };
    Grant<D> [const D: usize]: { own, neighbours };
}

impl<const D: usize> Mentions for Entries<D> {
    fn mentions(&self, each: &mut dyn FnMut(NodeId)) {
        self.iter().for_each(|entry| entry.mentions(each));
    }
}

kinds! {
    blatant::Message;
    Ant { left, visited },
    Update(own),
    Ping(own),
    Pong(own),
    Link { change, purpose, detours, around },
    Linked { change, own },
    Refused { change, instead, around },
    Unlink { change, way },
    Kept { change },
    NotLinked,
    Leaving(own),
}

kinds! {
    can::Message<D> [const D: usize];
    Join { joiner, point, hops },
    Grant(grant),
    Refused { life, why },
    Heartbeat { account, told },
    Beat { life, edition, told },
    Ping,
    Introduction(entries),
    Seek { seeker, point, hops },
    Inquiry(name),
    Claim { missed, zone },
    Alive { entry, ago },
    MayLeave { own, epoch },
    Agreed { life, epoch },
    Disagreed { life, epoch },
    Stays(life),
    Obituary(account),
    Evicted(life),
    Here { own, yours, neighbours, told },
    Pulse { life, epoch, yours, neighbours, told },
    Farewell(node),
}

// What schedulers are made of.
impl Mentions for commit::Members {
    fn mentions(&self, each: &mut dyn FnMut(NodeId)) {
        self.nodes().iter().copied().for_each(each);
    }
}

fields! {
    custody::Place: { node, attempt };
}

kinds! {
    custody::Standing;
    Waiting { start, at },
    Running,
    Ended(ending),
}

kinds! {
    commit::Message;
    Prepare { attempt, interval, lease, submitter, needs, payload },
    Prepared { attempt, lease },
    Refused { attempt, reason, next_free },
    Commit { attempt, members },
    Committed { attempt },
    Expired { attempt },
    Abort { attempt },
    Permit { attempt, until },
    Alive { attempt, standing },
    Query { attempt },
    Extend { attempt, until },
    Release { job, through },
    Released { job, through, began },
    Ended { attempt, outcome },
}

kinds! {
    custody::Message;
    Give { job, home, term, carried, payload },
    Answer { job, term, answer },
    Report { job, term, claim, standing },
    Verdict { job, term, claim, ruling },
}

kinds! {
    links::Message;
    Blatant(message),
    Cyclon(message),
}

// The schedulers.
fields! {
    asap::Offer: { start, hops, nodes };
    asap::Known: { node, stated, schedule };
    Merit: { turn, cost, lot, node };
    Trail<D> [const D: usize]: { best, toward, passed, probes, hops };
    Gather<D> [const D: usize]: { asker, status, toward, hops };
    Quest: { asker, attempt, wanted };
}

impl Mentions for asap::Others {
    fn mentions(&self, each: &mut dyn FnMut(NodeId)) {
        self.iter().for_each(|known| known.mentions(each));
    }
}

impl Mentions for Descriptors {
    fn mentions(&self, each: &mut dyn FnMut(NodeId)) {
        self.as_slice().mentions(each);
    }
}

impl Mentions for Merits {
    fn mentions(&self, each: &mut dyn FnMut(NodeId)) {
        self.nodes().mentions(each);
    }
}

kinds! {
    asap::Message<L> [const L: usize];
    Overlay(message),
    Commit(message),
    Search { ask, wanted },
    Found { ask, offer },
    NotFound { ask, seen },
    WhoElse { search },
    Others { search, known },
    Fetch(reason),
    Schedule { reason, stated, schedule },
    Subscribe { known },
    Unsubscribe,
}

kinds! {
    criteria::Message<L, G> [const L: usize, const G: usize];
    Overlay { message, about },
    Helper { number, message },
    Commit(message),
    Look { look, through },
    Seen { look, own, schedule, links },
}

kinds! {
    aria::Message;
    Overlay(message),
    Request { header, job },
    Inform { header, job, cost },
    Accept { flood, cost },
    Custody(message),
}

kinds! {
    desktop::Stand;
    Outside,
    Inside(members),
    Gone,
}

kinds! {
    desktop::Errand<D> [const D: usize];
    Route { job, quest, point, hops },
    Hunt { job, quest, trail },
    Gather(gather),
    Enter { node, stand, hops },
    Forage { job, quest, trail, way, steps },
}

kinds! {
    desktop::Message<D> [const D: usize];
    Overlay { message, status },
    Owners(message),
    Runs(message),
    Errand { errand, number },
    Acknowledged(number),
    Search { header, job, quest },
    Found { job, quest, candidates },
    Offer { waiting, move_to },
    OfferAnswer { job, takes, status },
    Pull { move_to, status },
    PullReject { status },
    Inflate { node, version, status, point, hops },
    Deflate { node, version, point, hops },
    Residue { message, status },
    ResidueChanged { status },
    Members(members),
}
