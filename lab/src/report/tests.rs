//! Pages as they are written.

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::*;
use crate::config::Config;
use crate::experiment::{Prepared, Results, prepare};
use crate::workload::Workload;
use gridweave_sim::monitor::Monitor;

fn made(settings: &str) -> (Prepared, Results) {
    let prepared = prepare(&Config::parse(settings).unwrap()).unwrap();
    let results = prepared.execute(&Monitor::default()).unwrap();
    (prepared, results)
}

fn page(prepared: &Prepared, results: &Results) -> Page {
    Page::of_run(prepared, results).unwrap()
}

fn text(page: &Page) -> String {
    let mut bytes = Vec::new();
    page.write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The data of the page, as its script reads it.
fn data(text: &str) -> Value {
    let (_, rest) = text.split_once("id=\"data\">").unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

const SHORT: &str = "scheduler = 'flood'\n[grid]\nnodes = 400\n[workload]\nfirst = 40";

/// A short run, made once for all tests that only look at it.
static MADE: LazyLock<(Prepared, Results)> = LazyLock::new(|| made(SHORT));

#[test]
fn a_page_is_the_same_for_the_same_run() {
    let pages = [&made(SHORT), &*MADE].map(|(prepared, results)| text(&page(prepared, results)));
    assert!(pages[0] == pages[1]);
}

#[test]
fn a_page_loads_nothing_from_elsewhere() {
    let (prepared, results) = &*MADE;
    let text = text(&page(prepared, results));
    for word in [
        " src=",
        "@import",
        "url(",
        "fetch(",
        "XMLHttpRequest",
        "/*STYLE*/",
        "/*SCRIPTS*/",
    ] {
        assert!(!text.contains(word), "{word}");
    }
    assert!(text.contains("default-src 'none'"));
}

#[test]
fn names_cannot_leave_the_data() {
    let (mut prepared, results) = made(SHORT);
    let name = "</script><script>alert(1)</script><!--";
    prepared.workload = Arc::new(Workload {
        name: name.into(),
        ..(*prepared.workload).clone()
    });
    let mut page = page(&prepared, &results);
    page.title = name.into();
    let text = text(&page);
    assert!(!text.contains("alert(1)</script>"));
    assert_eq!(data(&text)["title"], name);
}

fn sweep_page(costs: Vec<CostCurve>) -> Page {
    let mut page = Page::new(Kind::Sweep, "a sweep", "gridweave sweep");
    page.sweep = Some(Sweep {
        costs,
        ..Sweep::default()
    });
    page
}

#[test]
fn a_sweep_shows_costs_only_if_they_were_measured() {
    let without = data(&text(&sweep_page(Vec::new())));
    assert_eq!(without["sweep"].get("costs"), None);
    let runs = [100, 200, 400].map(|nodes| {
        let measured = Measured {
            nodes,
            cpu_s: Some(nodes as f64 / 50.0),
            ..Measured::default()
        };
        ("asap".to_owned(), measured)
    });
    let with = data(&text(&sweep_page(CostCurve::of(&runs))));
    let curve = &with["sweep"]["costs"][0];
    assert_eq!(
        (&curve["figure"], &curve["name"]),
        (&"cpu_s".into(), &"asap".into())
    );
    assert_eq!(curve["exponent"], 1.0);
    assert_eq!(
        curve["points"],
        serde_json::json!([[100, 2.0], [200, 4.0], [400, 8.0]])
    );
}

#[test]
fn a_run_without_jobs_has_a_page() {
    let (mut prepared, mut results) = made(SHORT);
    prepared.workload = Arc::default();
    results.run.outcomes.clear();
    results.run.placement = crate::run::Placement::Interchangeable;
    results.series.clear();
    let data = data(&text(&page(&prepared, &results)));
    assert_eq!(data["contests"][0]["jobs"]["count"], 0);
    assert_eq!(data["contests"][0]["tracks"][0]["waits"]["jobs"], 0);
}

#[test]
fn every_row_of_the_series_is_a_point_while_they_are_few() {
    let (prepared, results) = &*MADE;
    let track = Track::of(prepared, results);
    let effective: Vec<f64> = results
        .series
        .iter()
        .map(|row| rounded(row.effective_utilization, 4))
        .collect();
    assert_eq!(track.over_time.effective, effective);
    assert_eq!(track.over_time.window, 3600.0);
}

#[test]
fn many_rows_become_few_points_that_say_the_same() {
    let (_, results) = &*MADE;
    let row = results.series[0];
    let rows: Vec<_> = (0..4000_u32)
        .map(|number| crate::results::Row {
            time: f64::from(number) * 60.0,
            effective_utilization: f64::from(number % 3) / 2.0,
            queue_length: u64::from(number),
            ..row
        })
        .collect();
    let points = OverTime::of(&rows, gridweave_core::time::Span::from_secs(60));
    assert_eq!(points.window, 180.0);
    assert_eq!(points.effective.len(), 1334);
    assert!(points.effective[..1333].iter().all(|mean| *mean == 0.5));
    assert_eq!(points.queue[..2], [2, 5], "the last of each three");
}

#[test]
fn what_was_sent_adds_up() {
    let (prepared, results) = &*MADE;
    let sent = Track::of(prepared, results).sent;
    let sum = |columns: &[Vec<u64>]| columns.iter().flatten().sum::<u64>();
    let total = results.run.traffic.total();
    assert!(total.messages > 0);
    assert_eq!(sum(&sent.messages), total.messages);
    assert_eq!(sum(&sent.bytes), total.bytes);
}

#[test]
fn in_degrees_are_counted_only_if_nodes_keep_links() {
    let (_, results) = &*MADE;
    let degrees = &results.run.in_degrees;
    assert_eq!(degrees.len(), 400);
    // Each node has at most as many links as the configuration says.
    let degree = u32::from(Config::default().rules.flood.degree);
    let links: u32 = degrees.iter().sum();
    assert!(links > 400 && links <= 400 * degree, "{links}");
    let (_, central) = made("scheduler = 'central-easy'\n[workload]\nfirst = 4");
    assert!(central.run.in_degrees.is_empty());
}

#[test]
fn places_of_jobs_are_left_out_if_they_do_not_fit() {
    let (prepared, results) = &*MADE;
    let track = Track::of(prepared, results);
    let size = track.places.as_ref().unwrap().size();
    let mut contest = Contest::of(prepared, track.clone());
    contest.tracks.push(track);
    let jobs = contest.jobs.size();
    assert_eq!(contest.clone().fit_into(jobs + 2 * size + 5), 5);
    assert_eq!(contest.fit_into(jobs + size + 5), 5);
    let left: Vec<bool> = contest
        .tracks
        .iter()
        .map(|track| track.places.is_some())
        .collect();
    assert_eq!(left, [true, false]);
    // If no run has places left, the columns of single jobs go, too.
    assert_eq!(contest.fit_into(5), 5);
    assert_eq!((contest.jobs.size(), contest.jobs.count), (0, 40));
}
