//! The cost of overlays per node.

use super::Setup;
use super::emulation::{CONTENDERS, CYCLE, Emulation};
use crate::reproduce::{Cell, Claim, Figures, Making, Measured, Part, Report, Size, Table};
use crate::schedulers::criteria::CriteriaConfig;
use crate::schedulers::criteria::{HELPERS, RANDOM};
use gridweave_core::scheduler::criteria::Helper;
use gridweave_sim::monitor::Monitor;

pub(super) const TRAFFIC: Part<Setup> = Part {
    name: "traffic",
    title: "Bytes for each node in each gossip cycle",
    making: Making::Study {
        cases: |_| vec!["idle grid".into()],
        measure,
        report,
    },
};

const KEPT: [(Helper, &str); 3] = [
    (Helper::Proximity, "proximity"),
    (Helper::FirstFree, "first free windows"),
    (Helper::Remoteness, "remoteness"),
];

/// How many cycles are measured.
const CYCLES: u64 = 50;

/// Messages and bytes of each overlay, per node and cycle.
fn measure(setup: &Setup, _: usize, seed: u64, monitor: &Monitor) -> Figures {
    let nodes = match setup.size {
        Size::Full => 1_000,
        Size::Quick => 100,
    };
    let profiles = setup.profiles(nodes, seed)?;
    let base = CONTENDERS[1].config(Helper::Proximity);
    let mut figures = Vec::new();
    // Helper overlays are independent, so each is measured alone.
    for (number, (helper, _)) in KEPT.into_iter().enumerate() {
        let config = CriteriaConfig {
            helpers: Some(vec![helper]),
            ..base.clone()
        };
        let mut grid = Emulation::new(&profiles, &config, seed);
        grid.run_until(Emulation::settled(), monitor);
        let sent = |grid: &Emulation, kinds: &[&str]| {
            let sent = grid.simulation.traffic().of(kinds);
            [sent.messages as f64, sent.bytes as f64]
        };
        let overlays = [&RANDOM[..], &[HELPERS]];
        // The random overlay is the same beside any helper, so it is measured once.
        let overlays = if number == 0 {
            &overlays[..]
        } else {
            &overlays[1..]
        };
        let before: Vec<[f64; 2]> = overlays.iter().map(|kinds| sent(&grid, kinds)).collect();
        let until = grid.simulation.now() + CYCLE.times(CYCLES);
        grid.run_until(until, monitor);
        let per = f64::from(nodes) * CYCLES as f64;
        for (kinds, before) in overlays.iter().zip(before) {
            let after = sent(&grid, kinds);
            figures.extend([0, 1].map(|at| (after[at] - before[at]) / per));
        }
    }
    Ok(figures)
}

fn report(setup: &Setup, measured: &[Measured]) -> Report {
    let mut table = Table::new(
        "traffic",
        "for each node and cycle, in both directions together",
        "overlay | messages | published bytes | measured bytes",
    );
    let measured = &measured[0];
    let titles = ["random links, with profiles"].into_iter();
    let titles = titles.chain(KEPT.map(|(_, title)| title));
    for (number, title) in titles.enumerate() {
        let published = if number == 0 {
            Cell::Empty
        } else {
            Cell::exact(1280.0, 0)
        };
        table.push([
            title.into(),
            measured.mean(2 * number, 2),
            published,
            measured.mean(2 * number + 1, 0),
        ]);
    }
    let notes = [
        "bytes are encoded lengths, without headers of a transport; a cycle has one exchange of 20 links, 8 random and 10 of a helper at a time",
        "published: around 1,280 bytes for each helper overlay and cycle",
    ];
    let findings = (1..=KEPT.len()).map(|row| {
        let title = KEPT[row - 1].1;
        Claim::number(format!("bytes of a helper overlay, {title}"), 1280.0, 0.25)
            .or_below(1280.0)
            .because("an exchange has as many descriptors as the paper's; ours take less than 29 bytes each, the published total is 64 for each")
            .judge(&table, row, "measured bytes")
    });
    let findings: Vec<_> = findings.collect();
    Report::new([table], &notes, setup.caveat()).judged(findings)
}
