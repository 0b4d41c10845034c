//! What a user submits.

use std::num::NonZeroU32;

use gridweave_core::id::{JobId, OrganisationId, UserId};
use gridweave_core::job::{Command, Criterion, Job, Payload, Retry, Scope, Submitter};
use gridweave_core::time::{Span, Time};

use super::effect::gw_bytes;
use super::hosting::Hosted;
use super::setup::GW_NEVER;
use crate::status::{Fault, gw_status};

/// The earliest start.
pub const GW_SOONEST: u32 = 0;
/// Nodes close to each other: only `criteria`.
pub const GW_CLOSEST: u32 = 1;
/// Nodes far from each other: only `criteria`.
pub const GW_FARTHEST: u32 = 2;

/// Nodes of every organisation that admits the job.
pub const GW_GRID: u32 = 0;
/// Nodes of the submitter's organisation.
pub const GW_ORGANISATION: u32 = 1;
/// The node at which it is submitted: only `aria`.
pub const GW_HERE: u32 = 2;

/// The job does not run again.
pub const GW_RETRY_NEVER: u32 = 0;
/// It runs again after a node was lost, at most `times` times.
pub const GW_RETRY_NODE_LOSS: u32 = 1;
/// It runs again after a node was lost, or the job broke or overran, at most `times` times.
pub const GW_RETRY_ALWAYS: u32 = 2;

/// A job. Begin with one that is all zeros (`gw_job job = {0}`), and set `id`, `nodes` and `estimate`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub struct gw_job {
    /// Its name: 64 random bits, or any number that is unique in the grid.
    pub id: u64,
    /// The user that submits it.
    pub user: u32,
    /// The organisation of the user.
    pub organisation: u32,
    /// How many whole nodes `asap` and `criteria` take, at least 1. `aria` and `desktop` take 1 node.
    pub nodes: u32,
    /// How many cores it takes of a node: 0 for all of them with `asap` and `criteria`, and for one with the others.
    pub cores: u32,
    /// How many gigabytes of memory each node must have.
    pub memory: u64,
    /// How many accelerators each node must have.
    pub accelerators: u64,
    /// How long it is expected to run, in microseconds; not 0.
    pub estimate: u64,
    /// When it should be done; 0 for none. Only `aria` takes deadlines.
    pub deadline: u64,
    /// GW_SOONEST, GW_CLOSEST or GW_FARTHEST.
    pub criterion: u32,
    /// GW_GRID, GW_ORGANISATION or GW_HERE.
    pub scope: u32,
    /// GW_RETRY_NEVER, GW_RETRY_NODE_LOSS or GW_RETRY_ALWAYS.
    pub retry: u32,
    /// How often it may run again, at most 255.
    pub times: u32,
    /// What the programs that run it are told, at most 4,096 bytes.
    pub payload: gw_bytes,
}

/// The command that submits a job.
pub(super) fn submission(
    from: &gw_job,
    payload: &[u8],
    now: Time,
    hosted: &dyn Hosted,
) -> Result<Command, Fault> {
    let wrong = |detail: &'static str| Fault::with(gw_status::GW_ARGUMENT, detail);
    let nodes = NonZeroU32::new(from.nodes).ok_or_else(|| wrong("a job takes a node at least"))?;
    let cores = NonZeroU32::new(from.cores);
    let demand = hosted.demand(nodes, cores);
    let mut job = Job::new(
        JobId::new(from.id),
        demand,
        Span::from_micros(from.estimate),
    )?;
    hosted.complete(&mut job, cores, from.memory, from.accelerators);
    job.submitter = Submitter {
        user: UserId::new(from.user),
        organisation: OrganisationId::new(from.organisation),
    };
    job.submitted = now;
    job.deadline = match from.deadline {
        0 | GW_NEVER => None,
        at => Some(Time::from_micros(at)),
    };
    job.criterion = match from.criterion {
        GW_SOONEST => Criterion::Soonest,
        GW_CLOSEST => Criterion::Closest,
        GW_FARTHEST => Criterion::Farthest,
        other => return Err(Fault::unknown("criterion", other)),
    };
    job.scope = match from.scope {
        GW_GRID => Scope::Grid,
        GW_ORGANISATION => Scope::Organisation,
        GW_HERE => Scope::Here,
        other => return Err(Fault::unknown("scope", other)),
    };
    let times =
        u8::try_from(from.times).map_err(|_| wrong("a job runs again at most 255 times"))?;
    job.retry = match from.retry {
        GW_RETRY_NEVER => Retry::Never,
        GW_RETRY_NODE_LOSS => Retry::OnNodeLoss(times),
        GW_RETRY_ALWAYS => Retry::Always(times),
        other => return Err(Fault::unknown("retry", other)),
    };
    let payload = Payload::new(payload)?;
    Ok(Command::Submit { job, payload })
}
