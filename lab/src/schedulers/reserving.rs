//! What the schedulers that reserve time have in common.

use gridweave_core::commit::{Config, Permission};
use gridweave_core::time::Span;

use crate::config::network::{DelayConfig, NetworkConfig};

/// How long before its start a job must be found a place: if nothing is said, not at all where messages take no time, else
/// a slot.
pub(super) fn lead(said: Option<Span>, network: &NetworkConfig, slot: Span) -> Span {
    match said {
        Some(lead) => lead,
        None if network.delay == DelayConfig::Zero => Span::ZERO,
        None => slot,
    }
}

/// The rules by which time is reserved where messages take so long at most, jobs need such a lead, and run for so long
/// without word from their coordinator.
pub(super) fn commit(max_delay: Span, lead: Span, permission: Option<Span>) -> Config {
    let half = Span::from_micros(max_delay.as_micros() / 2);
    Config {
        lease: max_delay.times(5),
        max_delay,
        retry: max_delay + half,
        jitter: half,
        lead: Config::DEFAULT.lead.min(lead),
        permission: permission.map_or(Permission::UntilEnd, Permission::Renewed),
        members: u16::MAX,
        ..Config::DEFAULT
    }
}
