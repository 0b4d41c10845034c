//! The scenarios of P3's Table II.

use gridweave_core::time::Span;

use crate::config::{Config, Fault};
use crate::schedulers::aria::PolicyName;
use crate::workload::generate::Drift;

macro_rules! scenarios {
    ($($(#[$doc:meta])* $name:ident = $text:literal),+ $(,)?) => {
        /// A scenario of P3's Table II.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Scenario { $($(#[$doc])* $name),+ }

        impl Scenario {
            /// All of them, in the order of the table.
            #[cfg(test)]
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Its name in the paper.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }
        }
    };
}

scenarios! {
    /// All sites use first come, first served, and jobs do not move.
    Fcfs = "FCFS",
    /// All sites run the shortest job first.
    Sjf = "SJF",
    /// Half of the sites use FCFS, half SJF.
    Mixed = "Mixed",
    /// All sites run the job with the earliest deadline first.
    Deadline = "Deadline",
    /// Mixed, with twice the time between jobs.
    LowLoad = "LowLoad",
    /// Mixed, with half the time between jobs.
    HighLoad = "HighLoad",
    /// Deadline, with closer deadlines.
    DeadlineH = "DeadlineH",
    /// Mixed, and 200 nodes join.
    Expanding = "Expanding",
    /// Mixed, with exact estimates.
    Precise = "Precise",
    /// Mixed, with estimates that are off by up to a quarter.
    Accuracy25 = "Accuracy25",
    /// Mixed, with estimates that are always too short.
    AccuracyBad = "AccuracyBad",
    /// FCFS with rescheduling.
    IFcfs = "iFCFS",
    /// SJF with rescheduling.
    ISjf = "iSJF",
    /// Mixed with rescheduling: the baseline.
    IMixed = "iMixed",
    /// Deadline with rescheduling.
    IDeadline = "iDeadline",
    /// `LowLoad` with rescheduling.
    ILowLoad = "iLowLoad",
    /// `HighLoad` with rescheduling.
    IHighLoad = "iHighLoad",
    /// `DeadlineH` with rescheduling.
    IDeadlineH = "iDeadlineH",
    /// Expanding with rescheduling.
    IExpanding = "iExpanding",
    /// iMixed, with one job advertised every five minutes.
    IInform1 = "iInform1",
    /// iMixed, with four jobs advertised every five minutes.
    IInform4 = "iInform4",
    /// iMixed, but a job moves only for a gain of at least 15 minutes.
    IInform15m = "iInform15m",
    /// iMixed, but a job moves only for a gain of at least 30 minutes.
    IInform30m = "iInform30m",
    /// Precise with rescheduling.
    IPrecise = "iPrecise",
    /// `Accuracy25` with rescheduling.
    IAccuracy25 = "iAccuracy25",
    /// `AccuracyBad` with rescheduling.
    IAccuracyBad = "iAccuracyBad",
}

/// The first join of an expanding network, and the time between joins, in seconds (P3 IV-E).
const FIRST_JOIN: u64 = 83 * 60;
const JOIN_EVERY: u64 = 50;

impl Scenario {
    /// Whether waiting jobs move to better sites.
    pub(crate) fn reschedules(self) -> bool {
        self.name().starts_with('i')
    }

    /// Turns the configuration of the baseline into this scenario.
    pub(super) fn apply(self, config: &mut Config) {
        let (aria, jobs) = (&mut config.rules.aria, &mut config.workload.aria);
        aria.reschedule = self.reschedules();
        match self {
            Self::Fcfs | Self::IFcfs => aria.policy = PolicyName::Fcfs,
            Self::Sjf | Self::ISjf => aria.policy = PolicyName::Sjf,
            Self::Mixed | Self::IMixed => {}
            Self::Deadline | Self::IDeadline => {
                aria.policy = PolicyName::Edf;
                jobs.deadline_slack = 3;
            }
            Self::DeadlineH | Self::IDeadlineH => {
                aria.policy = PolicyName::Edf;
                jobs.deadline_slack = 1;
            }
            Self::LowLoad | Self::ILowLoad => {
                jobs.interval = Span::from_secs(20);
            }
            Self::HighLoad | Self::IHighLoad => {
                jobs.interval = Span::from_secs(5);
            }
            Self::Expanding | Self::IExpanding => {
                let joining = jobs.nodes * 2 / 5;
                jobs.nodes += joining;
                // New nodes find their place in the overlay while jobs run.
                aria.iteration = Some(Span::from_secs(1_200));
                config.faults = (0..u64::from(joining))
                    .map(|number| Fault::Join {
                        at: Span::from_secs(FIRST_JOIN + JOIN_EVERY * number),
                    })
                    .collect();
            }
            Self::Precise | Self::IPrecise => jobs.accuracy = 0.0,
            Self::Accuracy25 | Self::IAccuracy25 => jobs.accuracy = 0.25,
            Self::AccuracyBad | Self::IAccuracyBad => jobs.drift = Drift::Late,
            Self::IInform1 => aria.inform_jobs = 1,
            Self::IInform4 => aria.inform_jobs = 4,
            Self::IInform15m => aria.threshold = Span::from_secs(15 * 60),
            Self::IInform30m => aria.threshold = Span::from_secs(30 * 60),
        }
    }
}
