//! The scenarios of P3's Table II.

use gridweave_core::time::Span;

use crate::config::{Config, Fault};
use crate::schedulers::aria::PolicyName;
use crate::workload::generate::Drift;

macro_rules! scenarios {
    ($($(#[$doc:meta])* $name:ident = $text:literal),+ $(,)?) => {
        /// A scenario of P3's Table II.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Scenario { $($(#[$doc])* $name),+ }

        impl Scenario {
            /// All of them, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// What the paper calls it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }
        }
    };
}

scenarios! {
    /// All sites are first come, first served, and jobs stay where they are.
    Fcfs = "FCFS",
    /// All run the shortest job first.
    Sjf = "SJF",
    /// Half of the sites are the one, half the other.
    Mixed = "Mixed",
    /// All run the job with the earliest deadline first.
    Deadline = "Deadline",
    /// Half as many jobs in the same time.
    LowLoad = "LowLoad",
    /// Twice as many.
    HighLoad = "HighLoad",
    /// Deadlines are closer.
    DeadlineH = "DeadlineH",
    /// 200 nodes join.
    Expanding = "Expanding",
    /// Estimates are right.
    Precise = "Precise",
    /// They are off by up to a quarter.
    Accuracy25 = "Accuracy25",
    /// They are always too short.
    AccuracyBad = "AccuracyBad",
    /// With rescheduling.
    IFcfs = "iFCFS",
    /// With rescheduling.
    ISjf = "iSJF",
    /// With rescheduling: the baseline.
    IMixed = "iMixed",
    /// With rescheduling.
    IDeadline = "iDeadline",
    /// With rescheduling.
    ILowLoad = "iLowLoad",
    /// With rescheduling.
    IHighLoad = "iHighLoad",
    /// With rescheduling.
    IDeadlineH = "iDeadlineH",
    /// With rescheduling.
    IExpanding = "iExpanding",
    /// One job every five minutes is advertised.
    IInform1 = "iInform1",
    /// Four are.
    IInform4 = "iInform4",
    /// A job moves for a gain of 15 minutes or more.
    IInform15m = "iInform15m",
    /// Of 30.
    IInform30m = "iInform30m",
    /// With rescheduling.
    IPrecise = "iPrecise",
    /// With rescheduling.
    IAccuracy25 = "iAccuracy25",
    /// With rescheduling.
    IAccuracyBad = "iAccuracyBad",
}

/// When nodes join an expanding network (P3 IV-E).
const FIRST_JOIN: u64 = 83 * 60;
const JOIN_EVERY: u64 = 50;

impl Scenario {
    /// Whether jobs that wait are moved.
    pub fn reschedules(self) -> bool {
        self.name().starts_with('i')
    }

    /// Makes the baseline this scenario.
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
                // Those that are new find their places in the overlay while jobs run.
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
