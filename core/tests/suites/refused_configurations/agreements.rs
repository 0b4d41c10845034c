//! The configurations of the layers by which nodes agree on a job: the commit, the desk, custody, the selection.

use gridweave_core::commit::{self, Overrun, Permission};
use gridweave_core::scheduler::desk;
use gridweave_core::{custody, select};

use super::{Span, accepts, micros, millis, refuses, seconds};

/// Of each of these fields the check takes any value: it costs time or memory, and nothing else.
const FREE: [super::Change<commit::Config>; 10] = [
    |c| c.max_delay = Span::ZERO,
    |c| c.max_skew = Span::ZERO,
    |c| c.jitter = Span::ZERO,
    |c| c.retries = 0,
    |c| c.retries = 254,
    |c| c.lead = Span::ZERO,
    |c| c.lead = Span::MAX,
    |c| c.grace = Span::MAX,
    |c| c.allowance = Span::ZERO,
    |c| c.allowance = Span::MAX,
];

#[test]
fn the_commit_refuses_what_is_out_of_bounds() {
    for config in [
        commit::Config::DEFAULT,
        commit::Config::LAN,
        commit::Config::WAN,
    ] {
        assert_eq!(config.checked(), Ok(config));
    }
    accepts(commit::Config::DEFAULT, commit::Config::checked, &FREE);
    accepts(
        commit::Config::DEFAULT,
        commit::Config::checked,
        &[
            |c| c.retry = micros(1),
            |c| c.retry = seconds(2),
            |c| c.lease = seconds(4),
            |c| c.lease = micros(29_999_999),
            |c| c.max_delay = micros(2_499_999),
            |c| c.grace = micros(5_000_001),
            |c| (c.permission, c.max_skew) = (Permission::UntilEnd, seconds(30)),
            |c| c.retention = seconds(7),
            |c| c.retention = Span::MAX,
            |c| c.permission = Permission::Renewed(seconds(9)),
            |c| c.permission = Permission::Renewed(Span::MAX),
            |c| {
                c.overrun = Overrun::Extend {
                    by: micros(1),
                    times: 0,
                }
            },
            |c| c.seats = 1,
            |c| c.holds_per_peer = 1,
            |c| c.tasks = 1,
            |c| c.members = 1,
        ],
    );
    refuses(
        commit::Config::DEFAULT,
        commit::Config::checked,
        &[
            (
                |c| c.retry = Span::ZERO,
                "retry is 0s; more than 0s, or messages are repeated without a pause",
            ),
            (
                |c| c.retries = u8::MAX,
                "retries is 255; at most 254, or no node is ever silent for too long",
            ),
            (
                |c| c.lease = seconds(2),
                "lease is 2s; more than 2s, twice max_delay: or it is over before the decision",
            ),
            (
                |c| c.max_delay = micros(2_500_000),
                "lease is 5s; more than 5s, twice max_delay: or it is over before the decision",
            ),
            (
                |c| c.lease = micros(3_999_999),
                "lease is 3.999999s; at least 4s, twice retry and jitter: or a lost message costs the attempt",
            ),
            (
                |c| c.grace = Span::ZERO,
                "grace is 0s; more than 5s, lease: or a job is given up while its time is voted on",
            ),
            (
                |c| c.grace = seconds(5),
                "grace is 5s; more than 5s, lease: or a job is given up while its time is voted on",
            ),
            (
                |c| c.max_skew = micros(30_000_001),
                "max_skew is 30.000001s; at most 30s, grace: or the wait for a permission is over before the permission comes",
            ),
            (
                |c| (c.permission, c.max_skew) = (Permission::UntilEnd, Span::MAX),
                "max_skew is 18446744073709.551615s; at most 30s, grace: or the wait for a permission is over before the permission comes",
            ),
            (
                |c| c.retention = micros(6_999_999),
                "retention is 6.999999s; at least 7s, lease and twice max_delay: or a late message revives what is over",
            ),
            (
                |c| c.permission = Permission::Renewed(millis(1)),
                "permission is 0.001000s; at least 9s, three times twice max_delay and max_skew: or it ends before it is renewed",
            ),
            (
                |c| c.permission = Permission::Renewed(micros(8_999_999)),
                "permission is 8.999999s; at least 9s, three times twice max_delay and max_skew: or it ends before it is renewed",
            ),
            (
                |c| {
                    c.overrun = Overrun::Extend {
                        by: Span::ZERO,
                        times: 1,
                    }
                },
                "overrun.by is 0s; more than 0s, or an extension adds no time",
            ),
            (
                |c| c.seats = 0,
                "seats is 0; at least 1, or nothing can be held",
            ),
            (
                |c| c.holds_per_peer = 0,
                "holds_per_peer is 0; at least 1, or nothing can be held",
            ),
            (
                |c| c.tasks = 0,
                "tasks is 0; at least 1, or no job can be placed",
            ),
            (
                |c| c.members = 0,
                "members is 0; at least 1, or no job can be placed",
            ),
        ],
    );
}

#[test]
fn the_desk_refuses_what_is_out_of_bounds() {
    let config = desk::Config {
        rounds: 1,
        commit: commit::Config::DEFAULT,
    };
    accepts(config, desk::Config::checked, &[|c| c.rounds = u8::MAX]);
    refuses(
        config,
        desk::Config::checked,
        &[
            (
                |c| c.rounds = 0,
                "rounds is 0; at least 1, or no search begins",
            ),
            (
                |c| c.commit.tasks = 0,
                "commit.tasks is 0; at least 1, or no job can be placed",
            ),
        ],
    );
}

#[test]
fn custody_refuses_what_is_out_of_bounds() {
    for config in [
        custody::Config::DEFAULT,
        custody::Config::LAN,
        custody::Config::WAN,
    ] {
        assert_eq!(config.checked(), Ok(config));
    }
    accepts(
        custody::Config::DEFAULT,
        custody::Config::checked,
        &[
            |c| c.retry = micros(1),
            |c| c.lease = seconds(27),
            |c| c.lease = Span::MAX,
            |c| c.max_skew = Span::ZERO,
            |c| c.max_skew = seconds(200),
            |c| c.retries = 0,
            |c| c.retention = seconds(3),
            |c| c.retention = Span::MAX,
            |c| c.search = micros(1),
            |c| c.rounds = 1,
            |c| c.pause = Span::ZERO,
            // A node that only runs jobs of others, and one that only submits.
            |c| c.tasks = 0,
            |c| c.held = 0,
            |c| c.bounded = true,
        ],
    );
    refuses(
        custody::Config::DEFAULT,
        custody::Config::checked,
        &[
            (
                |c| c.retry = Span::ZERO,
                "retry is 0s; more than 0s, or messages are repeated without a pause",
            ),
            (
                |c| c.lease = micros(26_999_999),
                "lease is 26.999999s; at least 27s, nine times retry: or a lease ends while it is renewed",
            ),
            (
                |c| c.max_skew = micros(200_000_001),
                "max_skew is 200.000001s; at most 200s, a third of lease: or a lease is over before it is renewed",
            ),
            (
                |c| c.max_skew = Span::MAX,
                "max_skew is 18446744073709.551615s; at most 200s, a third of lease: or a lease is over before it is renewed",
            ),
            (
                |c| c.retention = micros(2_999_999),
                "retention is 2.999999s; at least 3s, retry: or an end is forgotten before its home can answer",
            ),
            (
                |c| c.search = Span::ZERO,
                "search is 0s; more than 0s, or no node is found in time",
            ),
            (
                |c| c.rounds = 0,
                "rounds is 0; at least 1, or no node is searched for",
            ),
        ],
    );
}

#[test]
fn the_selection_refuses_what_is_out_of_bounds() {
    assert_eq!(select::Config::PAPER.checked(), Ok(select::Config::PAPER));
    accepts(
        select::Config::DEFAULT,
        select::Config::checked,
        &[
            |c| (c.population, c.elite) = (2, 1),
            |c| c.population = select::Config::MOST_SETS,
            |c| c.generations = 0,
            |c| c.stall = Some(0),
            |c| c.tournament = 1,
            |c| c.tournament = u32::MAX,
            |c| c.swaps = 0,
            |c| c.elite = 0,
            |c| c.elite = 49,
            |c| c.restarts = 1,
            |c| c.exact = Some(0),
        ],
    );
    refuses(
        select::Config::DEFAULT,
        select::Config::checked,
        &[
            (
                |c| c.population = 1,
                "population is 1; at least 2, the parents of a set",
            ),
            (
                |c| c.population = 4097,
                "population is 4097; at most 4096, MOST_SETS",
            ),
            (
                |c| c.tournament = 0,
                "tournament is 0; at least 1, or there are no parents",
            ),
            (
                |c| c.elite = 50,
                "elite is 50; less than 50, population: or no set is bred",
            ),
            (
                |c| c.restarts = 0,
                "restarts is 0; at least 1, or no set is bred",
            ),
        ],
    );
}
