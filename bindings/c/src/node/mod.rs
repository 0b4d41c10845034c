//! A node of any of the four schedulers, as a machine that a C program hosts.

mod effect;
mod hosting;
mod job;
mod setup;

use std::ffi::{c_char, c_void};

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Command, Outcome, Survival};
use gridweave_core::time::Time;
use gridweave_core::trace::Trace;

use crate::raw::{self, Out};
use crate::status::{Fault, guarded, gw_status};
use crate::table::{self, Kept};
use hosting::Hosted;

pub use effect::*;
pub use job::*;
pub use setup::*;

/// The job did its work.
pub const GW_DONE: u32 = 0;
/// The job stopped with an error.
pub const GW_BROKE: u32 = 1;
/// The job still ran when its time was over, and was stopped.
pub const GW_OVERRAN: u32 = 2;
/// The job still runs: only for `gw_node_survived`.
pub const GW_RUNS: u32 = 3;

/// Take no new jobs until GW_RESUME, also after a restart.
pub const GW_DRAIN: u32 = 0;
/// Take jobs again after GW_DRAIN.
pub const GW_RESUME: u32 = 1;
/// Take no new jobs, and leave the grid when none is left.
pub const GW_LEAVE: u32 = 2;

/// A node of a grid: a machine that your program hosts. `id` is 0 for none.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub struct gw_node {
    /// The library's number for the object.
    pub id: u64,
}

/// What a node says of a step, and why.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub struct gw_trace {
    /// The step in words, in English.
    pub text: *const c_char,
    /// The job, if `has_job` is 1.
    pub job: u64,
    /// The other node, if `has_peer` is 1.
    pub peer: u64,
    /// Whether the step is about a job.
    pub has_job: u32,
    /// Whether another node is part of it.
    pub has_peer: u32,
}

/// Takes what a node says. `trace` lasts until it returns. It must return: no `longjmp`, no C++ exception. A call with
/// the same node from inside it returns GW_BUSY.
#[allow(non_camel_case_types, reason = "the name of the header")]
pub type gw_trace_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, trace: *const gw_trace)>;

/// A callback and what it is called with.
#[derive(Clone, Copy)]
struct Listener {
    callback: unsafe extern "C" fn(*mut c_void, *const gw_trace),
    context: *mut c_void,
}

// SAFETY: the context is only handed to the callback, and the program has said, by setting it, that both may be used on
// every thread that calls a function of this node.
unsafe impl Send for Listener {}

struct Node {
    hosted: Box<dyn Hosted>,
    listener: Option<Listener>,
    /// The time of the last call.
    now: Time,
    started: bool,
}

impl Kept for Node {
    const KIND: u8 = 5;
}

impl Node {
    fn tell_traces(&mut self) {
        let listener = self.listener;
        self.hosted.traces(&mut |trace: Trace| {
            let Some(Listener { callback, context }) = listener else {
                return;
            };
            let text = c_text(&trace);
            let told = gw_trace {
                text: text.as_ptr(),
                job: trace.job().map_or(0, JobId::get),
                peer: trace.peer().map_or(0, NodeId::get),
                has_job: u32::from(trace.job().is_some()),
                has_peer: u32::from(trace.peer().is_some()),
            };
            // SAFETY: the program said that this function takes this context, and both last until it is unset.
            unsafe { callback(context, &raw const told) };
        });
    }
}

/// Works with a node that is started, at this time.
fn at<R>(
    node: gw_node,
    now: u64,
    work: impl FnOnce(&mut dyn Hosted, Time) -> Result<R, Fault>,
) -> Result<R, Fault> {
    let now = Time::from_micros(now);
    table::with(node.id, |node: &mut Node| {
        if !node.started {
            return Err(gw_status::GW_NOT_STARTED.into());
        }
        if now < node.now {
            let detail = format!("{now} is before {}", node.now);
            return Err(Fault::with(gw_status::GW_TIME_WENT_BACK, detail));
        }
        let result = work(&mut *node.hosted, now)?;
        node.now = now;
        node.tell_traces();
        Ok(result)
    })
}

/// Works with a node that is not started yet.
fn before_start(
    node: gw_node,
    work: impl FnOnce(&mut Node) -> Result<(), Fault>,
) -> Result<(), Fault> {
    table::with(node.id, |node: &mut Node| {
        if node.started {
            return Err(gw_status::GW_STARTED.into());
        }
        work(node)
    })
}

/// Builds a node. It does nothing before `gw_node_start`. `size` is `sizeof(gw_setup)`. The setup is copied. Free the
/// node with `gw_node_free`: for the grid that is a crash, after which the node can be built anew with its records.
///
/// Errors: GW_SETUP and GW_ARGUMENT, with a detail; GW_WRONG_SIZE, GW_NULL, GW_TOO_MANY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_node_new(
    setup: *const gw_setup,
    size: usize,
    node: *mut gw_node,
) -> gw_status {
    guarded(|| {
        raw::same_size::<gw_setup>(size)?;
        // SAFETY: the caller says that a handle may be written there.
        let out = unsafe { Out::new(node) }?;
        // SAFETY: the caller says that there is a setup.
        let setup = unsafe { raw::read(setup) }?;
        // SAFETY: the caller says that the lists of the setup are there.
        let hosted = unsafe { build(&setup) }?;
        let id = table::keep(Node {
            hosted,
            listener: None,
            now: Time::ZERO,
            started: false,
        })?;
        out.set(gw_node { id });
        Ok(())
    })
}

/// Frees it. A later call with its handle returns GW_STALE_HANDLE, and bytes of its last effect are gone.
///
/// Errors: those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_node_free(node: gw_node) -> gw_status {
    guarded(|| table::remove::<Node>(node.id))
}

/// Sets the function that is told what the node does and why, or none. It is called during calls that take a time, on
/// their thread. `context` is handed to it; both must last until the node is freed or another one is set.
///
/// Errors: those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_node_on_trace(
    node: gw_node,
    callback: gw_trace_callback,
    context: *mut c_void,
) -> gw_status {
    guarded(|| {
        table::with(node.id, |node: &mut Node| {
            node.listener = callback.map(|callback| Listener { callback, context });
            if node.listener.is_some() {
                node.hosted.keep_traces();
            }
            Ok(())
        })
    })
}

/// Gives the node a record of its earlier life: the `bytes` of a GW_PERSIST. Call it for all of them, in any order,
/// before the start.
///
/// Errors: GW_NOT_DECODED, GW_STARTED, GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_node_restore(
    node: gw_node,
    record: *const u8,
    length: usize,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that there are so many bytes.
        let record = unsafe { raw::list(record, length) }?;
        before_start(node, |node| node.hosted.restore(record))
    })
}

/// Says what became of an attempt that an earlier life of the node had started: GW_RUNS with `until`, the time that the
/// program was told last, or GW_DONE, GW_BROKE, GW_OVERRAN. Call it before the start; attempts of which nothing is said
/// count as lost.
///
/// Errors: GW_ARGUMENT, GW_STARTED, those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_node_survived(
    node: gw_node,
    job: u64,
    attempt: u64,
    outcome: u32,
    until: u64,
) -> gw_status {
    guarded(|| {
        let survival = match outcome {
            GW_RUNS => Survival::Runs {
                until: Time::from_micros(until),
            },
            ended => Survival::Ended(how(ended)?),
        };
        let survived = Command::Survived {
            job: JobId::new(job),
            attempt: Epoch::new(attempt),
            survival,
        };
        before_start(node, |node| {
            node.hosted.survived(survived);
            Ok(())
        })
    })
}

fn how(outcome: u32) -> Result<Outcome, Fault> {
    Ok(match outcome {
        GW_DONE => Outcome::Done,
        GW_BROKE => Outcome::Broke,
        GW_OVERRAN => Outcome::Overran,
        other => return Err(Fault::unknown("outcome", other)),
    })
}

/// Starts the node. Then carry out its effects (`gw_node_next`), as after all that follows.
///
/// Errors: GW_STARTED, those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_node_start(node: gw_node, now: u64) -> gw_status {
    guarded(|| {
        before_start(node, |node| {
            node.now = Time::from_micros(now);
            node.hosted.start(node.now);
            node.started = true;
            node.tell_traces();
            Ok(())
        })
    })
}

/// Gives the node a message: the bytes of a GW_SEND of the node `from`. The transport, not the message, says which node
/// sent it.
///
/// Errors, after which nothing has changed: GW_NOT_DECODED for bytes that are no message of this scheduler; drop them.
/// GW_NOT_STARTED, GW_TIME_WENT_BACK, GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_node_message(
    node: gw_node,
    now: u64,
    from: u64,
    frame: *const u8,
    length: usize,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that there are so many bytes.
        let frame = unsafe { raw::list(frame, length) }?;
        at(node, now, |hosted, now| {
            hosted.message(now, NodeId::new(from), frame)
        })
    })
}

/// Says that a message to a node could not be delivered. Optional: it shortens some waits.
///
/// Errors: GW_NOT_STARTED, GW_TIME_WENT_BACK, those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_node_unreachable(node: gw_node, now: u64, to: u64) -> gw_status {
    guarded(|| {
        at(node, now, |hosted, now| {
            hosted.unreachable(now, NodeId::new(to));
            Ok(())
        })
    })
}

/// Submits a job. What becomes of it is told by effects of kind GW_NOTIFY. `size` is `sizeof(gw_job)`. The job and its
/// payload are copied.
///
/// A node that has just started knows no other node, and refuses what takes more than itself, with the news
/// GW_NEWS_FAILED: wait until `gw_node_state` tells of neighbours.
///
/// Errors, after which nothing has changed: GW_JOB, GW_ARGUMENT, GW_WRONG_SIZE, GW_NOT_STARTED, GW_TIME_WENT_BACK,
/// GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_node_submit(
    node: gw_node,
    now: u64,
    job: *const gw_job,
    size: usize,
) -> gw_status {
    guarded(|| {
        raw::same_size::<gw_job>(size)?;
        // SAFETY: the caller says that there is a job.
        let job = unsafe { raw::read(job) }?;
        // SAFETY: the caller says that its payload is there.
        let payload = unsafe { raw::list(job.payload.at, job.payload.length) }?;
        at(node, now, |hosted, now| {
            let command = submission(&job, payload, now, hosted)?;
            hosted.command(now, command);
            Ok(())
        })
    })
}

fn command(node: gw_node, now: u64, command: Command) -> Result<(), Fault> {
    at(node, now, |hosted, now| {
        hosted.command(now, command);
        Ok(())
    })
}

/// Stops a job that was submitted here, wherever it waits or runs.
///
/// Errors: GW_NOT_STARTED, GW_TIME_WENT_BACK, those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_node_cancel(node: gw_node, now: u64, job: u64) -> gw_status {
    guarded(|| command(node, now, Command::Cancel(JobId::new(job))))
}

/// Says that an attempt, told by GW_NEWS_STARTED, has ended by itself: GW_DONE, GW_BROKE or GW_OVERRAN. Of all that is
/// due at one instant, say this first.
///
/// Errors: GW_ARGUMENT, GW_NOT_STARTED, GW_TIME_WENT_BACK, those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_node_ended(
    node: gw_node,
    now: u64,
    job: u64,
    attempt: u64,
    outcome: u32,
) -> gw_status {
    guarded(|| {
        let (job, attempt, outcome) = (JobId::new(job), Epoch::new(attempt), how(outcome)?);
        let ended = Command::Ended {
            job,
            attempt,
            outcome,
        };
        command(node, now, ended)
    })
}

/// Tells the node GW_DRAIN, GW_RESUME or GW_LEAVE.
///
/// Errors: GW_ARGUMENT, GW_NOT_STARTED, GW_TIME_WENT_BACK, those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_node_tell(node: gw_node, now: u64, what: u32) -> gw_status {
    guarded(|| {
        let told = match what {
            GW_DRAIN => Command::Drain,
            GW_RESUME => Command::Resume,
            GW_LEAVE => Command::Leave,
            other => return Err(Fault::unknown("order", other)),
        };
        command(node, now, told)
    })
}

/// Has the node look for others through this one, too: for a program that knows more of the grid than the node.
///
/// Errors: GW_NOT_STARTED, GW_TIME_WENT_BACK, those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_node_meet(node: gw_node, now: u64, peer: u64) -> gw_status {
    guarded(|| command(node, now, Command::Meet(NodeId::new(peer))))
}

/// Tells when the next timer is due; GW_NONE if none is set. For a program that leaves timers to the library: it sleeps
/// until then or until a message comes, and calls `gw_node_fire`.
///
/// Errors: GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_node_next_timer(node: gw_node, due: *mut u64) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a time may be written there.
        let out = unsafe { Out::new(due) }?;
        let next = table::with(node.id, |node: &mut Node| Ok(node.hosted.next_timer()))?;
        out.set(next.ok_or(gw_status::GW_NONE)?.as_micros());
        Ok(())
    })
}

/// Rings the next timer that is due by `now`; GW_NONE if none is. Call it until it returns that, and carry out the effects
/// each time.
///
/// Errors: GW_NOT_STARTED, GW_TIME_WENT_BACK, those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_node_fire(node: gw_node, now: u64) -> gw_status {
    guarded(|| {
        let has_rung = at(node, now, |hosted, now| Ok(hosted.fire(now)))?;
        has_rung
            .then_some(())
            .ok_or_else(|| gw_status::GW_NONE.into())
    })
}

/// Rings one timer, by the number of its GW_WAKE: for a program that keeps timers itself, and does not call
/// `gw_node_fire`.
///
/// Errors: GW_NO_TIMER if it is not set any more, GW_NOT_STARTED, GW_TIME_WENT_BACK, those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_node_ring(node: gw_node, now: u64, timer: u64) -> gw_status {
    guarded(|| at(node, now, |hosted, now| hosted.ring(now, timer)))
}

/// Takes out the next effect; GW_NONE if all are carried out. `size` is `sizeof(gw_effect)`.
///
/// What the effect points to is the library's, and lasts until the next `gw_node_next` or `gw_node_free` with this node.
/// Carry effects out in order: a GW_PERSIST must be durable before the next effect.
///
/// Errors: GW_NOT_ENCODED: the effect is taken out, and its `kind` says whether it was a message, which counts as lost, or
/// a record, after which the node must be stopped. GW_WRONG_SIZE, GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_node_next(
    node: gw_node,
    effect: *mut gw_effect,
    size: usize,
) -> gw_status {
    guarded(|| {
        raw::same_size::<gw_effect>(size)?;
        // SAFETY: the caller says that an effect may be written there.
        let out = unsafe { Out::new(effect) }?;
        let mut told = None;
        let next = table::with(node.id, |node: &mut Node| {
            node.hosted.next(told.insert(gw_effect::NOTHING))
        });
        // A node that cannot be used now has told nothing.
        if let Some(told) = told {
            out.set(told);
        }
        next
    })
}

/// Puts the records of the next group of effects first, for a program that makes many records durable at once, and tells
/// how many they are, and how many other effects follow. Take the records out, make them durable together, then carry
/// out the others. Then comes the next group, until both numbers are 0.
///
/// Errors: GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_node_group_records(
    node: gw_node,
    records: *mut usize,
    others: *mut usize,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a number may be written there.
        let first = unsafe { Out::new(records) }?;
        // SAFETY: the same.
        let second = unsafe { Out::new(others) }?;
        let group = table::with(node.id, |node: &mut Node| Ok(node.hosted.group_records()))?;
        first.set(group.records);
        second.set(group.others);
        Ok(())
    })
}

/// Tells how many neighbours the node has, and whether it is drained: nothing runs or is to run there. Each may be null.
///
/// Errors: those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_node_state(
    node: gw_node,
    neighbours: *mut usize,
    drained: *mut u32,
) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a number that is not null may be written.
        let first = unsafe { Out::if_wanted(neighbours) }?;
        // SAFETY: the same.
        let second = unsafe { Out::if_wanted(drained) }?;
        let (links, is_drained) = table::with(node.id, |node: &mut Node| Ok(node.hosted.state()))?;
        if let Some(out) = first {
            out.set(links);
        }
        if let Some(out) = second {
            out.set(u32::from(is_drained));
        }
        Ok(())
    })
}

/// Tells the most bytes of a message of this node: how long a datagram or a buffer must be.
///
/// Errors: GW_NULL, those of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_node_most_bytes(node: gw_node, most: *mut usize) -> gw_status {
    guarded(|| {
        // SAFETY: the caller says that a number may be written there.
        let out = unsafe { Out::new(most) }?;
        out.set(table::with(node.id, |node: &mut Node| {
            Ok(node.hosted.most_bytes())
        })?);
        Ok(())
    })
}

/// Looks whether the state of the node keeps its rules, reading all of it: for tests. GW_RULE_BROKEN if not, with the
/// rule as the detail.
///
/// Errors: those of handles.
#[unsafe(no_mangle)]
pub extern "C" fn gw_node_check(node: gw_node) -> gw_status {
    guarded(|| {
        table::with(node.id, |node: &mut Node| {
            let broken = |rule| Fault::with(gw_status::GW_RULE_BROKEN, rule);
            node.hosted.check().map_err(broken)
        })
    })
}
