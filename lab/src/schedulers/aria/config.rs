//! The `aria` scheduler's part of a configuration.

use gridweave_core::config;
use gridweave_core::overlay::flood::Reach;
use gridweave_core::overlay::{blatant, cyclon};
use gridweave_core::queue::{Lateness, Priorities, SiteQueue};
use gridweave_core::scheduler::aria::{
    Adverts, Config, Forward, Gifts, Overlay, Rescheduling, Taking,
};
use gridweave_core::time::Span;

use crate::config::error::ConfigError;
use crate::config::fault::Fault;
use crate::config::network::NetworkConfig;
use crate::config::setting::{names, section, words};
use crate::lasting::Lasting;
use crate::schedulers::section::{Section, check_warm_up};

section! {
    /// How `aria` schedules. The defaults are those of [`Config::DEFAULT`]; a test compares them.
    #[derive(Clone, PartialEq, Debug)]
    pub struct AriaConfig {
        /// What decides at each site what runs next.
        pub policy: PolicyName = PolicyName::Fcfs,
        /// With `priority`: a job that waited so long counts as one class higher.
        pub ageing: Span = Span::from_secs(14_400),
        /// With `priority`: the classes of organisations, such as `{ organisation = 1, class = 2 }`. If left out, a site
        /// prefers the jobs of its own organisation.
        pub classes: Vec<ClassConfig>,
        /// Into how many organisations the sites are put, from 1 on; with zero, into none. With `grid.kinds`, kinds say it.
        pub organisations: u32 = 0,
        /// Whose jobs a site runs; with `grid.kinds`, kinds say it.
        pub serves: ServesName = ServesName::Everyone,
        /// When the owners of sites keep processors to themselves, such as
        /// `{ from = '8h', until = '18h', part = 0.5, organisation = 1 }`.
        pub windows: Vec<WindowConfig>,
        /// Whether a site starts later jobs where the first has no room, if it has several processors.
        pub backfill: bool = false,
        /// Whether jobs that wait are moved.
        pub reschedule: bool = true,
        /// How often a site advertises jobs that wait.
        pub inform_period: Span = Span::from_secs(300),
        /// How many jobs a site advertises at a time.
        pub inform_jobs: u8 = 2,
        /// Which of the jobs that wait are advertised.
        pub adverts: Adverts = Adverts::Promising,
        /// By how much the offer of another site must be better for a job to move there.
        pub threshold: Span = Span::from_secs(180),
        /// Whether the first better offer wins, or the best of all.
        pub taking: Taking = Taking::Best,
        /// Whether a site takes a job that it would end later than it offered.
        pub gifts: Gifts = Gifts::AsOffered,
        /// How the lateness of jobs with deadlines is counted.
        pub lateness: Lateness = Lateness::Marginal,
        /// Which nodes pass floods on.
        pub forward: ForwardName = ForwardName::Near,
        /// With `near`: within how many hops all nodes pass floods on.
        pub near_hops: u8 = 2,
        /// With `near`: within how many hops nodes pass floods on at which the job would wait.
        pub busy_hops: u8 = 3,
        /// How many hops a request goes at most.
        pub request_hops: u8 = Reach::REQUEST.ttl,
        /// To how many neighbours a node passes a request on.
        pub request_fan_out: u8 = Reach::REQUEST.fan_out,
        /// How many hops an advert goes at most.
        pub inform_hops: u8 = Reach::INFORM.ttl,
        /// To how many neighbours a node passes an advert on.
        pub inform_fan_out: u8 = Reach::INFORM.fan_out,
        /// How long a job waits for offers.
        pub window: Span = Span::from_secs(5),
        /// How many rounds of offers a job gets before it fails.
        pub rounds: u8 = 4,
        /// How long a site may have a job without word from its home; if left out, ten minutes where nodes go down or
        /// messages are lost, else a day.
        pub lease: Option<Span> = None,
        /// The longest that a message is expected to travel one hop.
        pub max_delay: Span = Span::from_millis(250),
        /// The overlay that links nodes.
        pub overlay: OverlayName = OverlayName::Blatant,
        /// How many links a node has; `blatant` does not use it.
        pub degree: u8 = 4,
        /// How often ants set out, or links are shuffled; if left out, every five minutes where nodes come and go, else
        /// once a day.
        pub iteration: Option<Span> = None,
        /// For how many iterations the overlay runs before the first job comes.
        pub warm_up: u32 = 100,
    }
}

words! {
    /// How a site decides which job runs next.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum PolicyName {
        /// First come, first served.
        #[default]
        Fcfs = "fcfs",
        /// The shortest job first.
        Sjf = "sjf",
        /// The earliest deadline first.
        Edf = "edf",
        /// First come, first served at about half of the sites, the shortest job first at the others.
        Mixed = "mixed",
        /// The organisations that a site prefers first, and jobs that wait rise.
        Priority = "priority",
    }
}

words! {
    /// Whose jobs a site runs.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum ServesName {
        /// Those of all users.
        #[default]
        Everyone = "everyone",
        /// Those of its own organisation.
        Members = "members",
    }
}

section! {
    /// How much sites prefer the jobs of an organisation.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct ClassConfig {
        /// The organisation.
        pub organisation: u32,
        /// Its class: the higher, the more its jobs are preferred. All others have class 0.
        pub class: u8 = 1,
    }
}

section! {
    /// A time in which the owners of sites keep processors to themselves. No job starts that would need them then.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct WindowConfig {
        /// When it begins, from the beginning of the simulation on.
        pub from: Span,
        /// When it ends.
        pub until: Span,
        /// The part of a site's processors that is kept, rounded up.
        pub part: f64 = 1.0,
        /// At the sites of which organisation; if left out, at all.
        pub organisation: Option<u32>,
    }
}

names!(Adverts {
    Neediest = "neediest",
    Promising = "promising",
});

names!(Gifts {
    All = "all",
    AsOffered = "as-offered",
});

names!(Taking {
    Best = "best",
    First = "first",
});

names!(Lateness {
    Waiting = "waiting",
    Marginal = "marginal",
    Literal = "literal",
});

words! {
    /// Which nodes pass floods on.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum ForwardName {
        /// Nodes that cannot run the job, as in P3.
        Unmatched = "unmatched",
        /// Nodes that cannot run the job, and all nodes within `near_hops`, and busy ones within `busy_hops`.
        #[default]
        Near = "near",
        /// All nodes.
        Always = "always",
    }
}

words! {
    /// The overlay that links nodes.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum OverlayName {
        /// BLATANT-S.
        #[default]
        Blatant = "blatant",
        /// CYCLON.
        Cyclon = "cyclon",
        /// A random graph that does not change, with the same number of links at each node.
        Regular = "regular",
    }
}

impl Section for AriaConfig {
    fn checked(&self) -> Result<(), ConfigError> {
        check_warm_up("aria", self.warm_up)?;
        // A lease must last nine retries.
        let shortest = Config::DEFAULT.retry.times(9);
        if self.lease.is_some_and(|lease| lease < shortest) {
            return Err(format!(
                "aria.lease is below {}; give a longer one",
                Lasting(shortest)
            )
            .into());
        }
        if !(2..=20).contains(&self.degree) {
            return Err(
                format!("aria.degree is {}; give a number from 2 to 20", self.degree).into(),
            );
        }
        if self.classes.len() > Priorities::MOST {
            return Err(format!(
                "aria.classes names more than {} organisations; give fewer",
                Priorities::MOST
            )
            .into());
        }
        check_windows(&self.windows)
    }
}

/// Refuses windows that are no times, or that no site can keep.
fn check_windows(windows: &[WindowConfig]) -> Result<(), ConfigError> {
    let wrong = |index: usize, what: &str| {
        let error = format!("aria.windows.{index} {what}");
        Err(ConfigError::from(error))
    };
    if windows.len() > SiteQueue::MOST_WINDOWS {
        return wrong(SiteQueue::MOST_WINDOWS, "is one too many; give fewer");
    }
    for (index, window) in windows.iter().enumerate() {
        if window.until <= window.from || window.until == Span::MAX {
            return wrong(index, "has no end after its begin; give a later until");
        }
        if !(window.part > 0.0 && window.part <= 1.0) {
            return wrong(
                index,
                "keeps a part that is not above 0 and at most 1, such as 0.5",
            );
        }
        let overlaps = |other: &WindowConfig| {
            let both = other.organisation.is_some() && window.organisation.is_some();
            let apart = both && other.organisation != window.organisation;
            !apart && other.from < window.until && window.from < other.until
        };
        if windows.iter().take(index).any(overlaps) {
            return wrong(
                index,
                "overlaps another one at the same sites; give one in their place",
            );
        }
    }
    Ok(())
}

impl AriaConfig {
    /// The rules of the paper, with those of PROTOCOLS where it is silent.
    pub(crate) fn paper() -> Self {
        Self {
            adverts: Rescheduling::PAPER.adverts,
            gifts: Config::PAPER.gifts,
            lateness: Config::PAPER.lateness,
            forward: ForwardName::Unmatched,
            ..Self::default()
        }
    }

    /// The key from which a node gets this field.
    pub(super) fn key_of(error: &config::ConfigError) -> Option<&'static str> {
        Some(match (error.part, error.field) {
            (Some("overlay"), "view" | "shuffle") => "degree",
            (Some("overlay"), "period" | "timeout") => "iteration",
            (None, "rescheduling.period") => "inform_period",
            (None, "rescheduling.jobs") => "inform_jobs",
            (None, "max_skew") => "lease",
            (None, same @ ("window" | "rounds" | "lease")) => same,
            _ => return None,
        })
    }

    /// The configuration of the machines, for this network and these faults.
    pub fn for_machines(&self, network: &NetworkConfig, faults: &[Fault]) -> Config {
        let often = if faults.is_empty() { 86_400 } else { 300 };
        let period = self.iteration.unwrap_or(Span::from_secs(often));
        let safe = faults.is_empty() && network.loses_nothing();
        let long = if safe { 86_400 } else { 600 };
        let lease = self.lease.unwrap_or(Span::from_secs(long));
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
                ForwardName::Near if self.busy_hops <= self.near_hops => {
                    Forward::Near(self.near_hops)
                }
                ForwardName::Near => Forward::Wide {
                    near: self.near_hops,
                    busy: self.busy_hops,
                },
                ForwardName::Always => Forward::Always,
            },
            window: self.window,
            taking: self.taking,
            gifts: self.gifts,
            rounds: self.rounds,
            rescheduling: self.reschedule.then_some(Rescheduling {
                period: self.inform_period,
                jobs: self.inform_jobs,
                adverts: self.adverts,
                threshold: self.threshold,
            }),
            lateness: self.lateness,
            lease,
            max_delay: self.max_delay,
            ..Config::DEFAULT
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_settings_nodes_have_the_rules_that_they_have_outside_the_simulator() {
        let rules = AriaConfig::default().for_machines(&NetworkConfig::default(), &[]);
        let expected = Config {
            // How often ants set out, and how long leases are, depends on the faults.
            overlay: rules.overlay,
            lease: rules.lease,
            ..Config::DEFAULT
        };
        assert_eq!(rules, expected);
        assert!(matches!(rules.overlay, Overlay::Blatant(_)));
    }

    #[test]
    fn windows_that_no_site_can_keep_are_refused() {
        let window = |from, until| WindowConfig {
            from: Span::from_secs(from),
            until: Span::from_secs(until),
            ..WindowConfig::default()
        };
        let of = |organisation, window| WindowConfig {
            organisation: Some(organisation),
            ..window
        };
        let half = |window| WindowConfig {
            part: 0.5,
            ..window
        };
        let error = |windows: &[WindowConfig]| {
            let checked = check_windows(windows);
            checked.err().map(|error| error.to_string())
        };
        let good = [window(0, 5), half(window(5, 9))];
        assert_eq!(error(&good), None);
        assert_eq!(error(&[of(1, window(0, 5)), of(2, window(3, 9))]), None);
        let says = |windows: &[WindowConfig], what| {
            let error = error(windows).unwrap();
            assert!(error.contains(what), "{error}");
        };
        says(&[window(5, 5)], "windows.0 has no end");
        says(&[window(0, 5), half(window(4, 9))], "windows.1 overlaps");
        says(&[window(0, 5), of(1, window(4, 9))], "windows.1 overlaps");
        let nothing = WindowConfig {
            part: 0.0,
            ..good[0]
        };
        says(&[nothing], "windows.0 keeps a part");
        let many: Vec<_> = (0..17).map(|day| window(9 * day, 9 * day + 1)).collect();
        says(&many, "windows.16 is one too many");
    }

    #[test]
    fn the_rules_of_the_paper_are_those_of_the_core() {
        let rules = AriaConfig::paper().for_machines(&NetworkConfig::default(), &[]);
        let expected = Config {
            overlay: rules.overlay,
            lease: rules.lease,
            ..Config::PAPER
        };
        assert_eq!(rules, expected);
    }
}
