//! Adversarial runs: a seed picks a scheduler, a grid, a load and a mix of faults; an oracle watches every event.
//!
//! A run is a function of its [`Request`]. Things go wrong for some minutes ([`Fault`]), then there is calm, in which everything has to
//! come to a good end. After every event the machine that handled it is asked for its invariants and held to its caps, and an oracle that
//! knows nothing of the machines goes over what they said ([`Invariant`]). Each fault says which invariants it leaves standing
//! ([`Fault::keeps`]); a run is held to what all of its faults keep. What broke is minimised by leaving things out one after the other,
//! and comes with the command that replays it.
//!
//! ```
//! use gridweave_lab::torture::{Request, run};
//!
//! let report = run(&Request::new(1));
//! assert_eq!(report.breach, None);
//! // The same again.
//! assert_eq!(run(&Request::new(1)).digest, report.digest);
//! ```
//!
//! | file | what it is |
//! |---|---|
//! | `scenario` | what a seed stands for |
//! | `fault` | what may go wrong, and which invariants must hold all the same |
//! | `subject`, `rules` | what the harness must know of each scheduler, and what several have in common |
//! | `player`, `liar` | a node with its own clock, and one that lies |
//! | `host` | what submits jobs and lets things go wrong |
//! | `minimise` | the smallest request that breaks the same invariant |
//! | `flaw` | bugs that are put in to see that they are caught |

pub(crate) mod dice;
pub(crate) mod fault;
mod flaw;
pub(crate) mod host;
mod liar;
mod minimise;
mod player;
mod report;
pub(crate) mod rules;
pub(crate) mod scenario;
pub(crate) mod subject;
#[cfg(test)]
mod tests;
mod tortured;
pub(crate) mod witness;

pub use fault::{Fault, UnknownFault};
pub use flaw::Flaw;
pub use gridweave_sim::hosting::{Breach, Invariant};
pub use minimise::minimised;
pub use report::{Jobs, Report};
pub use scenario::{Equipped, JOBS, MAX_SKEW, Mishap, NODES, Planned, Request, Scenario};
pub use subject::Caps;
pub use witness::{Counters, Traced};

use crate::schedulers::Scheduler;

/// Runs what a request stands for.
pub fn run(request: &Request) -> Report {
    run_with(request, Traced::Nothing)
}

/// The same, with a trace.
pub fn run_with(request: &Request, traced: Traced) -> Report {
    let scenario = Scenario::new(request);
    // Requests name no scheduler that cannot be tortured; if one does, this is as good as any.
    let fallback = || Scheduler::Asap.side().tortured();
    let play = scenario.scheduler.side().tortured().or_else(fallback);
    play.expect("asap can be tortured")(&scenario, traced)
}
