//! What a node is built from.

use std::num::NonZeroU32;

use gridweave_core::admission::{Admission, Organisations};
use gridweave_core::id::{NodeId, OrganisationId};
use gridweave_core::mentions::Mentions;
use gridweave_core::scheduler::Introducers;
use gridweave_core::scheduler::agent::{
    AriaNode, AsapNode, CriteriaNode, DesktopNode, Distance, Scheduler, Setup, Times,
};
use gridweave_core::time::Span;
use gridweave_core::wire::{Framed, Stored};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::hosting::{Hosted, Hosting};
use crate::raw::{self, Out};
use crate::status::{Fault, guarded, gw_status};

/// Several whole nodes at once, as soon as possible.
pub const GW_ASAP: u32 = 1;
/// Several whole nodes at once, near each other or soon.
pub const GW_CRITERIA: u32 = 2;
/// Cores of one node, of which each has a queue of its own.
pub const GW_ARIA: u32 = 3;
/// Cores of one desktop that has what the job needs.
pub const GW_DESKTOP: u32 = 4;

/// A local network.
pub const GW_LAN: u32 = 0;
/// A wide-area network.
pub const GW_WAN: u32 = 1;

/// Jobs of all organisations run here.
pub const GW_ADMIT_ALL: u32 = 0;
/// Jobs of the node's own organisation run here.
pub const GW_ADMIT_OWN: u32 = 1;
/// Jobs of the named organisations run here.
pub const GW_ADMIT_ONLY: u32 = 2;
/// Jobs of all but the named organisations run here.
pub const GW_ADMIT_EXCEPT: u32 = 3;

/// The value that the network has: see `gw_setup`.
pub const GW_DEFAULT: u64 = u64::MAX;
/// A time that never comes.
pub const GW_NEVER: u64 = u64::MAX;

/// What a node is built from. Let `gw_setup_init` fill it, then change fields. All nodes of a grid have the same
/// scheduler, distance, times and `most`. Times are in microseconds; GW_DEFAULT is the value for the distance.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the name of the header")]
pub struct gw_setup {
    /// GW_ASAP, GW_CRITERIA, GW_ARIA or GW_DESKTOP.
    pub scheduler: u32,
    /// GW_LAN or GW_WAN.
    pub distance: u32,
    /// The id of the node: 64 random bits, or any number that is unique in the grid. A node that lost its records comes
    /// back with another one.
    pub me: u64,
    /// The seed of its random choices: 64 random bits.
    pub seed: u64,
    /// Nodes through which it joins, at most 4. Null with a count of 0 for the first node of a grid.
    pub introducers: *const u64,
    /// How many introducers there are.
    pub introducer_count: usize,
    /// The organisation of the node.
    pub organisation: u32,
    /// Whose jobs run here: one of the GW_ADMIT constants; under GW_DESKTOP only GW_ADMIT_ALL.
    pub admission: u32,
    /// For GW_ADMIT_ONLY and GW_ADMIT_EXCEPT, at most 16.
    pub organisations: *const u32,
    /// How many organisations there are.
    pub organisation_count: usize,
    /// Its cores, at least 1.
    pub cores: u32,
    /// Zero.
    pub reserved: u32,
    /// Its gigabytes of memory.
    pub memory: u64,
    /// Its accelerators.
    pub accelerators: u64,
    /// For GW_DESKTOP: the most cores, gigabytes and accelerators that any node of the grid has.
    pub most: [u64; 3],
    /// Jobs start at multiples of this, and get multiples of it.
    pub slot: u64,
    /// From a search to the start of a job.
    pub lead: u64,
    /// From the commit of a job to its start.
    pub commit_lead: u64,
    /// How much longer a job may run than it says.
    pub margin: u64,
    /// For how long a job runs on without a word of the node where it was submitted.
    pub lease: u64,
    /// How long a node may be silent before it counts as lost.
    pub silence: u64,
    /// The largest difference of two clocks.
    pub max_skew: u64,
    /// How often a waiting job is searched for again.
    pub improve: u64,
}

/// Fills a setup: `asap` on a local network, the first node of its grid, with one core, open to all. Set `me` and `seed`,
/// which are 0. `size` is `sizeof(gw_setup)`.
///
/// Errors: GW_WRONG_SIZE, GW_NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gw_setup_init(setup: *mut gw_setup, size: usize) -> gw_status {
    guarded(|| {
        raw::same_size::<gw_setup>(size)?;
        // SAFETY: the caller says that a setup may be written there.
        let out = unsafe { Out::new(setup) }?;
        out.set(gw_setup {
            scheduler: GW_ASAP,
            distance: GW_LAN,
            me: 0,
            seed: 0,
            introducers: std::ptr::null(),
            introducer_count: 0,
            organisation: 0,
            admission: GW_ADMIT_ALL,
            organisations: std::ptr::null(),
            organisation_count: 0,
            cores: 1,
            reserved: 0,
            memory: 0,
            accelerators: 0,
            most: [256, 2048, 16],
            slot: GW_DEFAULT,
            lead: GW_DEFAULT,
            commit_lead: GW_DEFAULT,
            margin: GW_DEFAULT,
            lease: GW_DEFAULT,
            silence: GW_DEFAULT,
            max_skew: GW_DEFAULT,
            improve: GW_DEFAULT,
        });
        Ok(())
    })
}

/// Builds the node of a setup.
///
/// # Safety
/// The lists of the setup are there, as for [`raw::list`].
pub(super) unsafe fn build(setup: &gw_setup) -> Result<Box<dyn Hosted>, Fault> {
    // SAFETY: the caller says so.
    let introducers = unsafe { raw::list(setup.introducers, setup.introducer_count) }?;
    // SAFETY: the caller says so.
    let named = unsafe { raw::list(setup.organisations, setup.organisation_count) }?;
    let wrong = |detail: String| Fault::with(gw_status::GW_ARGUMENT, detail);
    if introducers.len() > Introducers::MOST || named.len() > Organisations::MOST {
        return Err(wrong(
            "at most 4 introducers, and at most 16 organisations".to_owned(),
        ));
    }
    let introducers: Vec<NodeId> = introducers.iter().copied().map(NodeId::new).collect();
    let introducers = match introducers.as_slice() {
        [] => None,
        some => Some(Introducers::try_from(some).map_err(|error| wrong(error.to_string()))?),
    };
    let listed = || {
        let named = named.iter().copied().map(OrganisationId::new);
        Organisations::new(named).map_err(|error| wrong(error.to_string()))
    };
    let admission = match setup.admission {
        GW_ADMIT_ALL => Admission::All,
        GW_ADMIT_OWN => Admission::Own,
        GW_ADMIT_ONLY => Admission::Only(listed()?),
        GW_ADMIT_EXCEPT => Admission::Except(listed()?),
        other => return Err(Fault::unknown("admission", other)),
    };
    let distance = match setup.distance {
        GW_LAN => Distance::Lan,
        GW_WAN => Distance::Wan,
        other => return Err(Fault::unknown("distance", other)),
    };
    let span = |given: u64| (given != GW_DEFAULT).then(|| Span::from_micros(given));
    let cores = NonZeroU32::new(setup.cores);
    let node = Setup {
        me: NodeId::new(setup.me),
        introducers,
        organisation: OrganisationId::new(setup.organisation),
        admission,
        distance,
        times: Times {
            slot: span(setup.slot),
            lead: span(setup.lead),
            commit_lead: span(setup.commit_lead),
            margin: span(setup.margin),
            lease: span(setup.lease),
            silence: span(setup.silence),
            max_skew: span(setup.max_skew),
            improve: span(setup.improve),
            gain: None,
        },
        cores: cores.ok_or_else(|| wrong("a node has at least one core".to_owned()))?,
        memory: setup.memory,
        accelerators: setup.accelerators,
        most: setup.most,
        mirror: None,
    };
    match setup.scheduler {
        GW_ASAP => hosted::<AsapNode>(&node, setup.seed),
        GW_CRITERIA => hosted::<CriteriaNode>(&node, setup.seed),
        GW_ARIA => hosted::<AriaNode>(&node, setup.seed),
        GW_DESKTOP => hosted::<DesktopNode>(&node, setup.seed),
        other => Err(Fault::unknown("scheduler", other)),
    }
}

fn hosted<S: Scheduler>(setup: &Setup, seed: u64) -> Result<Box<dyn Hosted>, Fault>
where
    S::Message: Framed + Mentions,
    S::Record: Stored<Key = S::Key>,
{
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let node = S::build(setup, &mut rng)?;
    Ok(Box::new(Hosting::new(node, rng)))
}
