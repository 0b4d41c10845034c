//! How well nodes learn their coordinates.

use gridweave_core::overlay::vivaldi::Config;
use gridweave_core::time::Span;

use super::{Setup, vivaldi};
use crate::reproduce::{Figures, Making, Measured, Part, Report, Table};
use gridweave_sim::monitor::Monitor;

pub(super) const LATENCY: Part<Setup> = Part {
    name: "latency",
    title: "Coordinates learned from round trips: how far off their predictions are",
    making: Making::Study {
        cases,
        measure,
        report,
    },
};

/// The numbers of samples per node after which errors are measured.
const SAMPLES: [u32; 5] = [10, 50, 100, 200, 500];

/// How many nodes there are without a measured matrix.
const NODES: u32 = 400;

fn cases(setup: &Setup) -> Vec<String> {
    vec![match &setup.round_trips {
        Some(measured) => format!("{} measured nodes", measured.len()),
        None => format!("{NODES} points in a plane"),
    }]
}

fn measure(setup: &Setup, _: usize, seed: u64, _: &Monitor) -> Figures {
    let errors = match &setup.round_trips {
        Some(measured) => {
            let nodes = u32::try_from(measured.len()).unwrap_or(u32::MAX);
            let round_trip = |a, b| measured.one_way(a, b) + measured.one_way(b, a);
            vivaldi::median_errors(nodes, round_trip, Config::DEFAULT, &SAMPLES, seed)
        }
        None => {
            let profiles = setup.profiles(NODES, seed)?;
            let round_trip = |a: u32, b: u32| -> Span {
                let [a, b] = [a, b].map(|node| profiles[node as usize].coordinate);
                a.latency(b).times(2)
            };
            vivaldi::median_errors(NODES, round_trip, Config::DEFAULT, &SAMPLES, seed)
        }
    };
    Ok(errors.unwrap_or_default())
}

fn report(setup: &Setup, measured: &[Measured]) -> Report {
    let mut table = Table::unpublished(
        "latency",
        "median relative error of all predictions",
        "round trips | samples of each node | median error %",
    );
    let measured = &measured[0];
    for (number, samples) in SAMPLES.iter().enumerate() {
        table.push([
            measured.name.as_str().into(),
            u64::from(*samples).into(),
            measured.mean_of(1, &|figures| Some(figures.get(number)? * 100.0)),
        ]);
    }
    let note = "Vivaldi with three dimensions and a height; each sample is a round trip to a node chosen at random";
    let made_up = setup.round_trips.is_none();
    let option = made_up.then_some("--round-trips takes a measured matrix");
    Report::new([table], &[note], option)
}
