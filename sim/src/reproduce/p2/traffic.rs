//! What overlays cost a node.

use super::Setup;
use super::emulation::{CONTENDERS, CYCLE, Emulation};
use crate::config::{CriteriaConfig, HelperName};
use crate::engine::criteria::{HELPERS, RANDOM};
use crate::monitor::Monitor;
use crate::reproduce::{Cell, Figures, Measured, Report, Size, Table};

pub(super) const TITLE: &str = "Bytes for each node in each gossip cycle";

const KEPT: [(HelperName, &str); 3] = [
    (HelperName::Proximity, "proximity"),
    (HelperName::FirstFree, "first free windows"),
    (HelperName::Remoteness, "remoteness"),
];

/// How many cycles are counted.
const CYCLES: u64 = 50;

pub(super) fn cases(_: &Setup) -> Vec<String> {
    vec!["idle grid".into()]
}

/// Messages and bytes of each overlay, for each node and cycle.
pub(super) fn measure(setup: &Setup, _: usize, seed: u64, monitor: &Monitor) -> Figures {
    let nodes = match setup.size {
        Size::Full => 1_000,
        Size::Quick => 100,
    };
    let profiles = setup.profiles(nodes, seed)?;
    let config = CriteriaConfig {
        helpers: Some(KEPT.map(|(helper, _)| helper).into()),
        ..CONTENDERS[1].config(HelperName::Proximity)
    };
    let mut grid = Emulation::new(&profiles, &config, seed);
    let sent = |grid: &Emulation| -> Vec<[f64; 2]> {
        let overlays = [RANDOM].into_iter().chain(HELPERS).take(1 + KEPT.len());
        let of = |kinds: [&str; 2]| {
            let kinds = grid
                .simulation
                .traffic()
                .kinds()
                .iter()
                .filter(|(name, _)| kinds.contains(name));
            kinds.fold([0.0; 2], |[messages, bytes], (_, traffic)| {
                [
                    messages + traffic.messages as f64,
                    bytes + traffic.bytes as f64,
                ]
            })
        };
        overlays.map(of).collect()
    };
    grid.run_until(Emulation::settled(), monitor);
    let before = sent(&grid);
    let until = grid.simulation.now() + CYCLE.times(CYCLES);
    grid.run_until(until, monitor);
    let after = sent(&grid);
    let per = f64::from(nodes) * CYCLES as f64;
    let pairs = before.iter().zip(&after);
    Ok(pairs
        .flat_map(|(before, after)| [0, 1].map(|at| (after[at] - before[at]) / per))
        .collect())
}

pub(super) fn report(setup: &Setup, measured: &[Measured]) -> Report {
    let mut table = Table::new(
        "traffic",
        "for each node and cycle, in both directions together",
        &["overlay", "messages", "published bytes", "measured bytes"],
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
            Cell::maybe(measured.estimate(2 * number), 2),
            published,
            Cell::maybe(measured.estimate(2 * number + 1), 0),
        ]);
    }
    let mut notes = vec![
        "bytes are encoded lengths, without headers of a transport; a cycle has one exchange of 20 links, 8 random and 10 of a helper at a time".into(),
        "published: around 1,280 bytes for each helper overlay and cycle".into(),
    ];
    notes.extend(setup.caveat());
    Report {
        tables: vec![table],
        notes,
    }
}
