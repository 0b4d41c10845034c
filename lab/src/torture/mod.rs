//! Adversarial runs: a seed picks a scheduler, a grid, a load and a mix of faults; an oracle checks every event.
//!
//! A run depends only on its [`Request`]. Things go wrong for some minutes ([`Fault`]); then comes the calm, in which
//! every job must get its outcome. After every event the machine that handled it checks its invariants and its caps,
//! and an oracle that knows nothing of the machines checks what they said ([`Invariant`]). Each fault says which
//! invariants still hold under it ([`Fault::keeps`]); a run must keep those that hold under all of its faults. A
//! request that breaks one is minimised, and reported with the command that replays it.
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
//! | `scenario` | what a seed stands for: scheduler, nodes, jobs, faults |
//! | `fault` | what may go wrong, and which invariants must hold all the same |
//! | `subject`, `rules` | what the harness must know of each scheduler, and what several share |
//! | `player`, `liar` | a node with its own clock, and one that lies |
//! | `site` | a foreign site: a batch system with users of its own |
//! | `host` | submits jobs, and makes things go wrong |
//! | `minimise` | the smallest request that breaks the same invariant |
//! | `flaw` | bugs that are planted to see that they are caught |

pub(crate) mod dice;
pub(crate) mod fault;
mod flaw;
pub(crate) mod host;
pub(crate) mod kinds;
mod liar;
mod minimise;
mod player;
mod report;
pub(crate) mod rules;
pub(crate) mod scenario;
mod site;
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

use std::panic::{self, AssertUnwindSafe};

use crate::schedulers::Scheduler;

/// Runs a request.
pub fn run(request: &Request) -> Report {
    run_with(request, Traced::Nothing)
}

/// Runs a request with a trace. A panic is a breach like any other, so that a campaign goes on and names its seed.
pub fn run_with(request: &Request, traced: Traced) -> Report {
    let scenario = Scenario::new(request);
    // A request should name only schedulers that can be tortured. For any other, `asap` runs.
    let fallback = || Scheduler::Asap.side().tortured();
    let play = scenario.scheduler.side().tortured().or_else(fallback);
    let play = play.expect("asap can be tortured");
    let played = panic::catch_unwind(AssertUnwindSafe(|| play(&scenario, traced)));
    played.unwrap_or_else(|panic| Report::of_panic(request, &scenario, &*panic))
}
