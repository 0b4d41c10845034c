//! The `aria` scheduler's part of a configuration.

use gridweave_core::overlay::flood::Reach;
use gridweave_core::overlay::{blatant, cyclon};
use gridweave_core::queue::{Lateness, Policy};
use gridweave_core::scheduler::aria::{Config, Forward, Overlay, Rescheduling, Taking};
use gridweave_core::time::Span;
use serde::{Deserialize, Serialize};

use super::{ConfigError, Fault, Lasting};
use crate::network::NetworkConfig;

/// How `aria` schedules.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AriaConfig {
    /// What decides at each site what runs next.
    pub policy: PolicyName,
    /// Whether a site starts later jobs where the first has no room, if it has several processors.
    pub backfill: bool,
    /// Whether jobs that wait are moved.
    pub reschedule: bool,
    /// How often a site advertises jobs that wait.
    pub inform_period: Lasting,
    /// How many at a time.
    pub inform_jobs: u8,
    /// By how much another site must be better.
    pub threshold: Lasting,
    /// Whether the first better offer wins, or the best of all.
    pub taking: TakingName,
    /// How the lateness of jobs with deadlines is counted.
    pub lateness: LatenessName,
    /// Who passes floods on.
    pub forward: ForwardName,
    /// Within how many hops everyone does, with `near`.
    pub near_hops: u8,
    /// How many hops a request goes.
    pub request_hops: u8,
    /// To how many neighbours at each.
    pub request_fan_out: u8,
    /// How many hops the news of a job that waits goes.
    pub inform_hops: u8,
    /// To how many neighbours at each.
    pub inform_fan_out: u8,
    /// How long offers are waited for.
    pub window: Lasting,
    /// How often offers are asked for before a job fails.
    pub rounds: u8,
    /// How long a site may have a job without word from its initiator; if left out, ten minutes where nodes go down or messages are lost,
    /// else a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lasting>,
    /// The longest that a message is expected to travel one hop.
    pub max_delay: Lasting,
    /// What keeps nodes in touch.
    pub overlay: OverlayName,
    /// How many links a node has, if ants do not decide.
    pub degree: u8,
    /// How often ants set out, or links are shuffled; if left out, every five minutes where nodes come and go, else once a day, since
    /// there is nothing to mend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iteration: Option<Lasting>,
    /// For how many iterations the overlay is made before the first job comes.
    pub warm_up: u32,
}

/// What decides at a site what runs next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyName {
    /// First come, first served.
    #[default]
    Fcfs,
    /// The shortest job first.
    Sjf,
    /// The earliest deadline first.
    Edf,
    /// Half of the sites the first, half the second, by chance.
    Mixed,
}

impl PolicyName {
    /// The policy of a site for which this was drawn from two.
    pub const fn of(self, drawn: u32) -> Policy {
        match self {
            Self::Fcfs => Policy::FirstCome,
            Self::Sjf => Policy::ShortestFirst,
            Self::Edf => Policy::EarliestDeadline,
            Self::Mixed if drawn == 0 => Policy::FirstCome,
            Self::Mixed => Policy::ShortestFirst,
        }
    }
}

/// Whether the first better offer wins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TakingName {
    /// The best of all.
    #[default]
    Best,
    /// The first.
    First,
}

/// How lateness is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatenessName {
    /// What the job adds.
    #[default]
    Marginal,
    /// That of all jobs at the site, as P3 prints it.
    Literal,
}

/// Who passes floods on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardName {
    /// Those that cannot run the job, as in P3.
    Unmatched,
    /// Those, and within `near_hops` everyone.
    #[default]
    Near,
    /// Everyone.
    Always,
}

/// What keeps nodes in touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverlayName {
    /// BLATANT-S.
    #[default]
    Blatant,
    /// CYCLON.
    Cyclon,
    /// A random graph in which all have as many links, which stays.
    Regular,
}

impl Default for AriaConfig {
    fn default() -> Self {
        Self {
            policy: PolicyName::Fcfs,
            backfill: false,
            reschedule: true,
            inform_period: Lasting::seconds(300),
            inform_jobs: 2,
            threshold: Lasting::seconds(180),
            taking: TakingName::Best,
            lateness: LatenessName::Marginal,
            forward: ForwardName::Near,
            near_hops: 2,
            request_hops: Reach::REQUEST.ttl,
            request_fan_out: Reach::REQUEST.fan_out,
            inform_hops: Reach::INFORM.ttl,
            inform_fan_out: Reach::INFORM.fan_out,
            window: Lasting::seconds(5),
            rounds: 4,
            lease: None,
            max_delay: Lasting::new(Span::from_millis(250)),
            overlay: OverlayName::Blatant,
            degree: 4,
            iteration: None,
            warm_up: 100,
        }
    }
}

impl AriaConfig {
    /// The most iterations before the first job.
    pub const MOST_ITERATIONS: u32 = 10_000;

    pub(super) fn checked(&self) -> Result<(), ConfigError> {
        if self.warm_up > Self::MOST_ITERATIONS {
            return Err(format!(
                "aria.warm_up is above {}; an overlay has settled long before",
                Self::MOST_ITERATIONS
            )
            .into());
        }
        // Nine times as long as an answer is waited for.
        let shortest = Lasting::new(Config::DEFAULT.retry.times(9));
        if self.lease.is_some_and(|lease| lease < shortest) {
            return Err(format!("aria.lease is below {shortest}; give a longer one").into());
        }
        if !(2..=20).contains(&self.degree) {
            return Err("aria.degree is not between 2 and 20".into());
        }
        Ok(())
    }

    /// As the machines take it, where this happens to nodes and messages.
    pub fn for_machines(&self, network: &NetworkConfig, faults: &[Fault]) -> Config {
        let often = if faults.is_empty() { 86_400 } else { 300 };
        let period = self.iteration.unwrap_or(Lasting::seconds(often)).span();
        let safe = faults.is_empty() && network.loses_nothing();
        let long = if safe { 86_400 } else { 600 };
        let lease = self.lease.unwrap_or(Lasting::seconds(long)).span();
        Config {
            overlay: match self.overlay {
                OverlayName::Blatant => Overlay::Blatant(blatant::Config {
                    period,
                    ..blatant::Config::DEFAULT
                }),
                OverlayName::Cyclon => Overlay::Cyclon(cyclon::Config {
                    view: self.degree,
                    shuffle: self.degree.min(8),
                    period,
                    changes: cyclon::Changes::Untold,
                    ..cyclon::Config::DEFAULT
                }),
                OverlayName::Regular => Overlay::Fixed,
            },
            request: Reach {
                ttl: self.request_hops,
                fan_out: self.request_fan_out,
            },
            inform: Reach {
                ttl: self.inform_hops,
                fan_out: self.inform_fan_out,
            },
            forward: match self.forward {
                ForwardName::Unmatched => Forward::Unmatched,
                ForwardName::Near => Forward::Near(self.near_hops),
                ForwardName::Always => Forward::Always,
            },
            window: self.window.span(),
            taking: match self.taking {
                TakingName::Best => Taking::Best,
                TakingName::First => Taking::First,
            },
            rounds: self.rounds,
            rescheduling: self.reschedule.then(|| Rescheduling {
                period: self.inform_period.span(),
                jobs: self.inform_jobs,
                threshold: self.threshold.span(),
            }),
            lateness: match self.lateness {
                LatenessName::Literal => Lateness::Literal,
                LatenessName::Marginal => Lateness::Marginal,
            },
            lease,
            max_delay: self.max_delay.span(),
            ..Config::DEFAULT
        }
    }
}
