//! The list of schedulers: here one is added.

/// Every scheduler, in the order of tables: how it is written in Rust and by people, and what the lab knows of it.
macro_rules! schedulers {
    ($then:ident) => {
        $then! {
            /// One queue for all, in the order of arrival.
            CentralFcfs = "central-fcfs": central::Central::Fcfs,
            /// The same, where later jobs may pass unless they delay the first.
            CentralEasy = "central-easy": central::Central::Easy,
            /// The same, unless they delay any.
            CentralConservative = "central-conservative": central::Central::Conservative,
            /// Whatever fits starts.
            CentralGreedy = "central-greedy": central::Central::Greedy,
            /// Several nodes as soon as possible, by searches among neighbours.
            Asap = "asap": asap::AsapSide,
            /// Several nodes by a cost function, found along links between nodes that are good together.
            Criteria = "criteria": criteria::CriteriaSide,
            /// One site for each job, offered by sites that keep their own policies.
            Aria = "aria": aria::AriaSide,
            /// Some cores of one node for each job, found in a space of what nodes have.
            Desktop = "desktop": desktop::DesktopSide,
            /// Random placement, which knows nothing.
            Random = "random": random::RandomSide,
            /// Flooding searches for nodes that are free now.
            Flood = "flood": flood::FloodSide,
        }
    };
}

/// Those that have a table of their own in a configuration.
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
