//! What a node wants done, as a structure for C.

use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::ptr;

use gridweave_core::id::{Epoch, NodeId};
use gridweave_core::job::{Assignment, Failure, News, Notice, Placement};
use gridweave_core::time::Time;

/// Make `bytes` durable under `key`, replacing what is there, before you carry out the next effect.
pub const GW_PERSIST: u32 = 1;
/// The record under `key` is no longer needed.
pub const GW_FORGET: u32 = 2;
/// Send `bytes` to `node`. It may be lost, doubled or late. A node may send to itself: give `bytes` to `gw_node_message`, which
/// may be done at once. Its effects come behind those that are left.
/// `nodes` are those that the message mentions: send along their addresses, if the receiver may not know them.
pub const GW_SEND: u32 = 3;
/// The timer with the number `timer` rings at `time`; it replaces the same number. A node has as many timers as it has jobs and
/// links, and some more. The library keeps them, too: a program that calls `gw_node_fire` ignores this.
pub const GW_WAKE: u32 = 4;
/// The timer with the number `timer` is no longer needed; 0 if it was never set.
pub const GW_CANCEL_TIMER: u32 = 5;
/// News of `job`: `news` says which.
pub const GW_NOTIFY: u32 = 6;

/// It will run: `attempt`, `nodes` in the order of ranks, from `start` to `time` (GW_NEVER if that is not known).
pub const GW_NEWS_ACCEPTED: u32 = 1;
/// It will run elsewhere or at another time than told before: as GW_NEWS_ACCEPTED.
pub const GW_NEWS_MOVED: u32 = 2;
/// It is to run here: as GW_NEWS_ACCEPTED, with the payload in `bytes`. What it needs can be fetched.
pub const GW_NEWS_ASSIGNED: u32 = 3;
/// It will not run here, although it was assigned. It had not begun.
pub const GW_NEWS_RELEASED: u32 = 4;
/// Begin `attempt` here, and end it at `time`, even if this program is down then. `nodes` in the order of ranks, the
/// payload in `bytes`. When it ends by itself, call `gw_node_ended`.
pub const GW_NEWS_STARTED: u32 = 5;
/// `attempt` may run here until `time`.
pub const GW_NEWS_EXTENDED: u32 = 6;
/// End `attempt` here.
pub const GW_NEWS_STOPPED: u32 = 7;
/// This node had it, no longer hears from the node where it was submitted, and has dropped it.
pub const GW_NEWS_ORPHANED: u32 = 8;
/// It is done. The last news of a job.
pub const GW_NEWS_FINISHED: u32 = 9;
/// It will not be done: `failure` says why. The last news of a job, unless it was refused because it is known.
pub const GW_NEWS_FAILED: u32 = 10;
/// It was cancelled. The last news of a job.
pub const GW_NEWS_CANCELLED: u32 = 11;
/// It waits, and can start at `start` as far as is known.
pub const GW_NEWS_EXPECTED: u32 = 12;
/// Other news: `text` says what.
pub const GW_NEWS_OTHER: u32 = 255;

/// It was never accepted: `text` says why.
pub const GW_FAILURE_REFUSED: u32 = 1;
/// A node that ran it, or was about to, was lost.
pub const GW_FAILURE_NODE_LOST: u32 = 2;
/// It still ran when its time was over.
pub const GW_FAILURE_OVERRAN: u32 = 3;
/// It broke while it ran.
pub const GW_FAILURE_BROKE: u32 = 4;
/// Another failure: `text` says which.
pub const GW_FAILURE_OTHER: u32 = 255;

/// Bytes of the library or of your program.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub struct gw_bytes {
    /// The first one. It may be null if there are none.
    pub at: *const u8,
    /// How many there are.
    pub length: usize,
}

/// What a node wants done. Fields that its kind does not name are 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub struct gw_effect {
    /// GW_PERSIST, GW_FORGET, GW_SEND, GW_WAKE, GW_CANCEL_TIMER or GW_NOTIFY. Ignore others.
    pub kind: u32,
    /// Of GW_NOTIFY: one of the GW_NEWS constants.
    pub news: u32,
    /// Of GW_NEWS_FAILED: one of the GW_FAILURE constants.
    pub failure: u32,
    /// Zero.
    pub reserved: u32,
    /// Of GW_SEND: the receiver.
    pub node: u64,
    /// Of GW_WAKE and GW_CANCEL_TIMER: the number of the timer.
    pub timer: u64,
    /// When the timer rings, or when the attempt ends.
    pub time: u64,
    /// When the attempt is planned to start.
    pub start: u64,
    /// Of GW_NOTIFY: the job.
    pub job: u64,
    /// Of GW_NOTIFY: the attempt at the job.
    pub attempt: u64,
    /// Of GW_PERSIST and GW_FORGET: under what the record is kept.
    pub key: gw_bytes,
    /// The record, the message or the payload.
    pub bytes: gw_bytes,
    /// The nodes of the attempt, or those that the message mentions.
    pub nodes: *const u64,
    /// How many nodes there are.
    pub node_count: usize,
    /// Of GW_NOTIFY: what this node does about the job, in English, such as "says that it is done"; else null.
    pub text: *const c_char,
}

const NO_BYTES: gw_bytes = gw_bytes {
    at: ptr::null(),
    length: 0,
};

impl gw_effect {
    pub(super) const NOTHING: Self = Self {
        kind: 0,
        news: 0,
        failure: 0,
        reserved: 0,
        node: 0,
        timer: 0,
        time: 0,
        start: 0,
        job: 0,
        attempt: 0,
        key: NO_BYTES,
        bytes: NO_BYTES,
        nodes: ptr::null(),
        node_count: 0,
        text: ptr::null(),
    };
}

/// What the last effect points to.
#[derive(Default)]
pub(super) struct Kept {
    key: Vec<u8>,
    bytes: Vec<u8>,
    nodes: Vec<u64>,
    text: Option<CString>,
}

impl Kept {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn key(&mut self, key: Vec<u8>) -> gw_bytes {
        self.key = key;
        pointing_to(&self.key)
    }

    pub(super) fn bytes(&mut self, bytes: Vec<u8>) -> gw_bytes {
        self.bytes = bytes;
        pointing_to(&self.bytes)
    }

    pub(super) fn nodes(&mut self, nodes: Vec<u64>) -> (*const u64, usize) {
        self.nodes = nodes;
        match self.nodes.as_slice() {
            [] => (ptr::null(), 0),
            some => (some.as_ptr(), some.len()),
        }
    }

    fn placement(&mut self, placement: &Placement, told: &mut gw_effect) {
        told.attempt = placement.attempt.get();
        told.start = placement.start.as_micros();
        told.time = placement.end.unwrap_or(Time::MAX).as_micros();
        let nodes = placement.nodes.iter().copied().map(NodeId::get).collect();
        (told.nodes, told.node_count) = self.nodes(nodes);
    }

    fn assignment(&mut self, assignment: &Assignment, told: &mut gw_effect) {
        self.placement(&assignment.placement, told);
        told.bytes = self.bytes(assignment.payload.as_bytes().to_vec());
    }

    pub(super) fn notice(&mut self, notice: &Notice, told: &mut gw_effect) {
        told.job = notice.job.get();
        let attempt_until = |told: &mut gw_effect, attempt: Epoch, until: Option<Time>| {
            told.attempt = attempt.get();
            told.time = until.map_or(0, Time::as_micros);
        };
        told.news = match &notice.news {
            News::Accepted(placement) => {
                self.placement(placement.get(), told);
                GW_NEWS_ACCEPTED
            }
            News::Moved(placement) => {
                self.placement(placement.get(), told);
                GW_NEWS_MOVED
            }
            News::Assigned(assignment) => {
                self.assignment(assignment.get(), told);
                GW_NEWS_ASSIGNED
            }
            News::Released { attempt } => {
                attempt_until(told, *attempt, None);
                GW_NEWS_RELEASED
            }
            News::Started {
                attempt,
                until,
                assignment,
            } => {
                self.assignment(assignment.get(), told);
                attempt_until(told, *attempt, Some(*until));
                GW_NEWS_STARTED
            }
            News::Extended { attempt, until } => {
                attempt_until(told, *attempt, Some(*until));
                GW_NEWS_EXTENDED
            }
            News::Stopped { attempt } => {
                attempt_until(told, *attempt, None);
                GW_NEWS_STOPPED
            }
            News::Orphaned => GW_NEWS_ORPHANED,
            News::Finished => GW_NEWS_FINISHED,
            News::Failed(failure) => {
                told.failure = match failure {
                    Failure::Refused(_) => GW_FAILURE_REFUSED,
                    Failure::NodeLost => GW_FAILURE_NODE_LOST,
                    Failure::Overran => GW_FAILURE_OVERRAN,
                    Failure::Broke => GW_FAILURE_BROKE,
                    _ => GW_FAILURE_OTHER,
                };
                GW_NEWS_FAILED
            }
            News::Cancelled => GW_NEWS_CANCELLED,
            News::Expected { start } => {
                told.start = start.as_micros();
                GW_NEWS_EXPECTED
            }
            // Those of a site that the node does not own, which no setup of this library makes.
            _ => GW_NEWS_OTHER,
        };
        told.text = self.text.insert(c_text(&notice.news)).as_ptr();
    }
}

fn pointing_to(bytes: &[u8]) -> gw_bytes {
    match bytes {
        [] => NO_BYTES,
        some => gw_bytes {
            at: some.as_ptr(),
            length: some.len(),
        },
    }
}

/// The words of a value, for C. They have no zero byte.
pub(super) fn c_text(value: &dyn Display) -> CString {
    CString::new(value.to_string()).unwrap_or_default()
}
