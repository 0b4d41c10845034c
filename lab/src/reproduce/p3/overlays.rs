//! iMixed over other overlays, which P3 leaves to future work.

use super::{Planned, Scenario, Setup};
use crate::experiment::InputError;
use crate::reproduce::{Case, Finished, Part, Report, Rules, Sample, Table, part};
use crate::schedulers::aria::{ACCEPT, INFORM, REQUEST};
use crate::schedulers::aria::{ForwardName, OverlayName};
use gridweave_core::time::Span;

pub(super) const OVERLAYS: Part<Setup> =
    part("overlays", "iMixed over other overlays", plan, report);

const CASES: [Case; 7] = [
    Case("BLATANT-S", "", |_| {}),
    Case("BLATANT-S, near forward", "-near", |config| {
        config.rules.aria.busy_hops = config.rules.aria.near_hops;
        config.rules.aria.forward = ForwardName::Near;
    }),
    Case("CYCLON, 4 links", "-cyclon", |config| {
        config.rules.aria.overlay = OverlayName::Cyclon;
        // CYCLON needs frequent exchanges.
        config.rules.aria.iteration = Some(Span::from_secs(300));
    }),
    Case("random regular, 4 links", "-regular", |config| {
        config.rules.aria.overlay = OverlayName::Regular;
    }),
    Case("BLATANT-S, all forward", "-always", |config| {
        config.rules.aria.forward = ForwardName::Always;
    }),
    Case("CYCLON, all forward", "-cyclon-always", |config| {
        config.rules.aria.overlay = OverlayName::Cyclon;
        config.rules.aria.iteration = Some(Span::from_secs(300));
        config.rules.aria.forward = ForwardName::Always;
    }),
    Case("random regular, all forward", "-regular-always", |config| {
        config.rules.aria.overlay = OverlayName::Regular;
        config.rules.aria.forward = ForwardName::Always;
    }),
];

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = CASES
        .iter()
        .map(|Case(_, suffix, change)| setup.changed(Scenario::IMixed, suffix, change));
    Ok(runs.collect())
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::unpublished(
        "overlays",
        "the same jobs, nodes and policies",
        "overlay | waiting min | completion min | REQUEST for each job | ACCEPT for each job | \
         INFORM for each job | completed",
    );
    // The first overlay is the paper's.
    let rules = [Rules::Paper]
        .into_iter()
        .chain(std::iter::repeat(Rules::Ours));
    for ((Case(title, ..), rules), sample) in CASES.iter().zip(rules).zip(samples) {
        let per_job = |kind: &str| sample.mean(0, &|run| run.sent_per_job(&[kind]));
        table.push_by(
            rules,
            [
                (*title).into(),
                sample.mean(1, &|run| run.mean_wait() / 60.0),
                sample.mean(1, &Finished::completion_minutes),
                per_job(REQUEST),
                per_job(ACCEPT),
                per_job(INFORM),
                sample.mean(0, &Finished::completed),
            ],
        );
    }
    let note = "all forward: all nodes pass floods on, not only those that cannot run the job (A1); near: all nodes within two hops do";
    Report::new([table], &[note], setup.size.caveat())
}
