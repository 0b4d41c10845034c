//! The list of schedulers. A new one is added here.

/// Every scheduler, in the order of tables: its variant, its name, and its `Side`.
macro_rules! schedulers {
    ($then:ident) => {
        $then! {
            /// One queue for all, in the order of arrival.
            CentralFcfs = "central-fcfs": central::Central::Fcfs,
            /// The same, but a later job may start first if it does not delay the first job of the queue.
            CentralEasy = "central-easy": central::Central::Easy,
            /// The same, but a later job may start first if it delays no earlier job.
            CentralConservative = "central-conservative": central::Central::Conservative,
            /// Each job starts as soon as it fits, with no regard to others.
            CentralGreedy = "central-greedy": central::Central::Greedy,
            /// One queue for all, the shortest estimate first.
            CentralSjf = "central-sjf": central::Central::Sjf,
            /// Each job starts as soon as it fits, if it was passed at least as often as the first that waits.
            CentralBounded = "central-bounded": central::Central::Bounded,
            /// Several nodes as soon as possible, found by searches among neighbours.
            Asap = "asap": asap::AsapSide,
            /// Several nodes by a cost function, found along links between nodes that suit each other.
            Criteria = "criteria": criteria::CriteriaSide,
            /// One site for each job, offered by sites that keep their own policies.
            Aria = "aria": aria::AriaSide,
            /// Some cores of one node for each job, found in a space of what nodes have.
            Desktop = "desktop": desktop::DesktopSide,
            /// Each job goes to a random node.
            Random = "random": random::RandomSide,
            /// Nodes that are free now, found by flooding.
            Flood = "flood": flood::FloodSide,
        }
    };
}

/// The schedulers that have a table of their own in a configuration.
macro_rules! configured {
    ($then:ident) => {
        $then! {
            /// `[asap]`
            asap: AsapConfig,
            /// `[criteria]`
            criteria: CriteriaConfig,
            /// `[aria]`
            aria: AriaConfig,
            /// `[desktop]`
            desktop: DesktopConfig,
            /// `[flood]`
            flood: FloodConfig,
        }
    };
}

pub(super) use {configured, schedulers};
