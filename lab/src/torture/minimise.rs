//! Finds the smallest request that breaks the same invariant, by leaving out one thing after the other.

use super::fault::Fault;
use super::report::Report;
use super::run;
use super::scenario::{Request, Scenario};
use gridweave_sim::hosting::Invariant;

/// The most runs of a minimisation.
const MOST_RUNS: u32 = 200;

/// The report of the smallest request that still breaks the same invariant, found by leaving things out; `None` if
/// nothing breaks.
pub fn minimised(request: &Request) -> Option<Report> {
    let report = run(request);
    let invariant = report.breach.as_ref()?.invariant;
    let scheduler = Some(request.scheduler());
    let named = Request {
        scheduler,
        ..request.clone()
    };
    let mut search = Search {
        invariant,
        best: named,
        report,
        runs: 0,
    };
    // Once one thing is left out, another may not be needed any more.
    loop {
        let before = search.best.clone();
        search.leave_out_faults();
        search.shrink();
        if search.best == before || search.runs >= MOST_RUNS {
            break;
        }
    }
    let request = search.best.clone();
    Some(Report {
        request,
        ..search.report
    })
}

struct Search {
    invariant: Invariant,
    best: Request,
    report: Report,
    runs: u32,
}

impl Search {
    /// Runs a smaller request, and keeps it if it breaks the same invariant. Returns whether it does.
    fn try_out(&mut self, smaller: Request) -> bool {
        if self.runs >= MOST_RUNS || smaller == self.best {
            return false;
        }
        self.runs += 1;
        let report = run(&smaller);
        let breaks = report.breach.as_ref().map(|breach| breach.invariant);
        let same = breaks == Some(self.invariant);
        if same {
            self.best = smaller;
            self.report = report;
        }
        same
    }

    fn leave_out_faults(&mut self) {
        for fault in Fault::ALL {
            if Scenario::new(&self.best).has(fault) {
                let mut smaller = self.best.clone();
                smaller.without.insert(fault);
                self.try_out(smaller);
            }
        }
        // A fault that the seed does not pick anyway need not be named in `without`.
        let needless = |fault: &Fault| {
            let mut with = self.best.clone();
            with.without.remove(fault);
            !Scenario::new(&with).has(*fault)
        };
        let needless: Vec<Fault> = self.best.without.iter().copied().filter(needless).collect();
        for fault in needless {
            self.best.without.remove(&fault);
        }
    }

    /// Halves nodes, jobs and time while the same invariant breaks, then removes one at a time.
    fn shrink(&mut self) {
        type Field = fn(&mut Request) -> &mut Option<u32>;
        let fields: [(Field, u32, u32); 3] = [
            (|request| &mut request.jobs, 1, 1),
            (|request| &mut request.nodes, 2, 1),
            (|request| &mut request.chaos, 10, 10),
        ];
        for (field, least, step) in fields {
            for halves in [true, false] {
                loop {
                    let scenario = Scenario::new(&self.best);
                    let mut smaller = self.best.clone();
                    let chosen = field(&mut smaller);
                    let now = chosen.unwrap_or_else(|| match least {
                        1 => scenario.jobs.len() as u32,
                        2 => scenario.nodes,
                        _ => u32::try_from(scenario.calm.as_secs()).unwrap_or(u32::MAX),
                    });
                    let next = if halves {
                        now / 2
                    } else {
                        now.saturating_sub(step)
                    };
                    if next < least {
                        break;
                    }
                    *chosen = Some(next);
                    if !self.try_out(smaller) {
                        break;
                    }
                }
            }
        }
    }
}
