//! A configuration that cannot work is refused when a node is built, with a named error.

use core::num::NonZeroU32;

use gridweave_core::custody;
use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Demand, Failure, Job, JobError, Refusal};
use gridweave_core::overlay::{blatant, cyclon};
use gridweave_core::queue::{Policy, SiteQueue};
use gridweave_core::resource::{Capability, Dimensions, Speed};
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::aria::{
    Aria, Config, ConfigError, Membership, Overlay, Rescheduling, Site,
};
use gridweave_core::time::Span;

fn built(config: Config) -> Result<(), ConfigError> {
    let site = Site {
        dimensions: Dimensions::new(&[]).expect("none is not too many"),
        capability: Capability::none(),
        membership: Membership::default(),
        local: SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 9),
    };
    Aria::new(NodeId::new(1), config, Bootstrap::Alone, site).map(|_| ())
}

fn moving(period: Span, jobs: u8) -> Config {
    let rescheduling = Rescheduling {
        period,
        jobs,
        ..Rescheduling::PAPER
    };
    Config {
        rescheduling: Some(rescheduling),
        ..Config::DEFAULT
    }
}

#[test]
fn aria_refuses_a_rescheduling_period_within_the_window_or_without_jobs() {
    let window = Config::DEFAULT.window;
    let longer = window + Span::from_micros(1);
    assert_eq!(built(moving(longer, 1)), Ok(()));
    assert_eq!(built(moving(window, 1)), Err(ConfigError::Rescheduling));
    assert_eq!(built(moving(longer, 0)), Err(ConfigError::Rescheduling));
    let never = Config {
        rescheduling: None,
        ..Config::DEFAULT
    };
    assert_eq!(built(never), Ok(()));
}

#[test]
fn aria_waits_for_offers_as_long_as_a_flood_may_take_there_and_back() {
    let of = |window| Config {
        window,
        ..Config::DEFAULT
    };
    let least = Config::DEFAULT.max_delay.times(18);
    assert_eq!(built(of(least)), Ok(()));
    let less = least - Span::from_micros(1);
    assert_eq!(built(of(less)), Err(ConfigError::ShortWindow));
}

#[test]
fn aria_tells_which_of_its_parts_is_misconfigured() {
    let short = Config {
        lease: Config::DEFAULT.retry,
        ..Config::DEFAULT
    };
    let ants = blatant::Config {
        links: 1,
        ..blatant::Config::DEFAULT
    };
    let gossip = cyclon::Config {
        shuffle: 0,
        ..cyclon::Config::DEFAULT
    };
    let over = |overlay| Config {
        overlay,
        ..Config::DEFAULT
    };
    let cases = [
        (
            short,
            ConfigError::Custody(custody::ConfigError::ShortLease),
            custody::ConfigError::ShortLease.to_string(),
        ),
        (
            over(Overlay::Blatant(ants)),
            ConfigError::Blatant(blatant::ConfigError::Links),
            blatant::ConfigError::Links.to_string(),
        ),
        (
            over(Overlay::Cyclon(gossip)),
            ConfigError::Cyclon(cyclon::ConfigError::Shuffle),
            cyclon::ConfigError::Shuffle.to_string(),
        ),
    ];
    for (config, error, words) in cases {
        assert_eq!(built(config), Err(error));
        assert_eq!(error.to_string(), words, "the words of its part");
    }
}

#[test]
fn every_refusal_and_failure_has_its_own_text() {
    let refusals = [
        Refusal::Known,
        Refusal::TooLarge,
        Refusal::NoMatch,
        Refusal::UnsupportedDemand,
        Refusal::UnsupportedDeadline,
        Refusal::UnsupportedCriterion,
        Refusal::UnsupportedScope,
        Refusal::BrokenCriterion,
        Refusal::NotAcceptable,
        Refusal::DeadlinePassed,
        Refusal::NotAuthorised,
        Refusal::Leaving,
    ];
    let mut words: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    words.extend([Failure::Overran, Failure::Broke].map(|failure| failure.to_string()));
    let told = words.len();
    words.sort();
    words.dedup();
    assert_eq!(words.len(), told, "{words:?}");
    assert!(words.iter().all(|words| words.len() > 5), "{words:?}");
}

#[test]
fn a_job_with_a_zero_estimate_is_refused() {
    let (id, one) = (JobId::new(1), Demand::Nodes(NonZeroU32::MIN));
    assert_eq!(Job::new(id, one, Span::ZERO), Err(JobError::ZeroEstimate));
    assert!(Job::new(id, one, Span::from_micros(1)).is_ok());
}
