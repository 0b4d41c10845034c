//! The paper's matchmaking to the letter: a search goes outwards only, once, and jobs move only between neighbours.

use super::waits::{between, keeps_up, table};
use super::{Planned, Scheme, Setup, messages};
use crate::experiment::InputError;
use crate::reproduce::{Part, Report, Rules, Sample, part};
use gridweave_core::scheduler::desktop::Style;
use gridweave_core::time::Span;

pub(super) const LITERAL: Part<Setup> = part(
    "literal",
    "as in the paper: no searches elsewhere, none for jobs that wait, neighbours only, free nodes first",
    plan,
    report,
);

/// Mean times between submissions, in milliseconds.
const GAPS: [u64; 2] = [2000, 3000];

/// The traffic of the same runs.
pub(super) const LITERAL4: Part<Setup> = part(
    "literal4",
    "Figure 4 as in the paper: messages and bytes, for each node and minute",
    |setup| {
        let rows = traffic_rows();
        Ok(rows
            .map(|(gap, scheme)| planned(setup, gap, scheme))
            .collect())
    },
    |setup, samples| {
        let table = messages::table("literal4", Rules::Paper, traffic_rows(), samples);
        let findings = messages::judged(&table);
        Report::new([table], &messages::NOTES, setup.size.caveat()).judged(findings)
    },
);

fn traffic_rows() -> impl Iterator<Item = (u64, Scheme)> {
    let pairs = GAPS
        .iter()
        .flat_map(|gap| Scheme::ALL.map(|scheme| (*gap, scheme)));
    pairs.filter(|(_, scheme)| *scheme != Scheme::Cent)
}

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let pairs = GAPS
        .iter()
        .flat_map(|gap| Scheme::ALL.map(|scheme| (*gap, scheme)));
    Ok(pairs
        .map(|(gap, scheme)| planned(setup, gap, scheme))
        .collect())
}

fn planned(setup: &Setup, gap: u64, scheme: Scheme) -> Planned {
    let mut planned = setup.with_gap(scheme, gap);
    // These settings do not concern the centralised scheduler.
    if scheme != Scheme::Cent {
        planned.name.push_str("-literal");
        planned.config.rules.desktop.style = Style::Literal;
        planned.config.rules.desktop.heartbeat = Some(Span::from_secs(60));
    }
    planned
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let rows = GAPS.map(between);
    let title = "mean wait in seconds";
    let table = table(
        ("literal", title, "between"),
        &rows,
        &Scheme::ALL,
        samples,
        Rules::Paper,
    );
    let far = "with these distributions a search that goes outwards once, and jobs that move between neighbours only, leave nodes idle that CENT uses";
    let findings = [
        keeps_up(&table, 0, "at 2 s", far),
        keeps_up(&table, 1, "at 3 s", far),
    ];
    Report::new([table], &[], setup.size.caveat()).judged(findings)
}
