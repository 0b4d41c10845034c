//! What the schedulers that reserve time have in common.

use gridweave_core::commit::{Config, Permission};
use gridweave_core::time::Span;

use crate::config::network::{DelayConfig, NetworkConfig};

/// The shortest time from a search to the start of a job. If the configuration does not say it: zero where messages
/// take no time, else this one.
pub(super) fn lead(said: Option<Span>, network: &NetworkConfig, otherwise: Span) -> Span {
    match said {
        Some(lead) => lead,
        None if network.delay == DelayConfig::Zero => Span::ZERO,
        None => otherwise,
    }
}

/// How much longer than its estimate the time of a job is: nothing where messages take no time, else some retries.
pub(super) fn margin(network: &NetworkConfig, max_delay: Span) -> Span {
    match network.delay {
        DelayConfig::Zero => Span::ZERO,
        _ => max_delay.times(5),
    }
}

/// The rules of reservations, for the longest delay of a message, the lead of a job, and how long a job may run without
/// word from its coordinator (to its end if `None`).
pub(super) fn commit(max_delay: Span, lead: Span, permission: Option<Span>) -> Config {
    let half = Span::from_micros(max_delay.as_micros() / 2);
    let lease = max_delay.times(5);
    Config {
        lease,
        max_delay,
        retry: max_delay + half,
        jitter: half,
        // The other half is for the search.
        lead: Config::DEFAULT
            .lead
            .min(Span::from_micros(lead.as_micros() / 2)),
        // Longer than a lease.
        grace: Config::DEFAULT.grace.max(lease + max_delay),
        permission: permission.map_or(Permission::UntilEnd, Permission::Renewed),
        members: u16::MAX,
        ..Config::DEFAULT
    }
}
