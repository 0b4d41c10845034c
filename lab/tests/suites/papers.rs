//! `gridweave reproduce`, as a user sees it.

use std::fs;

use crate::desk::{Desk, json};
#[cfg(unix)]
use crate::desk::{await_interrupted, send};

/// The number of nodes of quick reproductions. A debug build takes ten times as long, and has a smaller grid.
const NODES: &str = if cfg!(debug_assertions) { "16" } else { "60" };

fn reproduce(more: &str) -> String {
    format!("reproduce p1 --quick --nodes {NODES} {more}")
}

#[test]
fn a_reproduction_has_every_part_and_repeats() {
    let desk = Desk::new();
    let text = desk.good(&reproduce("--out all"));
    let report = desk.json("all/p1.json");
    let parts = "fig4 fig5 fig6 table1 poll table2 table3 forward baselines estimates delay loss churn scale";
    for part in parts.split(' ') {
        assert!(text.contains(part), "{part}");
        let csv = desk.read(&format!("all/p1/{part}.csv"));
        assert!(csv.lines().count() > 1, "{part}");
        assert!(report["parts"][part]["runs"][0].is_string(), "{part}");
    }
    // Published values are beside measured ones.
    let policies = &report["parts"]["table1"]["tables"][0]["rows"];
    assert_eq!(policies[2]["published schedules"], 72_000_000.0);
    // Two hours of polls every two minutes; the run may end with its last job, before all nodes have polled.
    let polled = policies[2]["measured schedules"].as_f64();
    let nodes: f64 = NODES.parse().expect("it is a number");
    let all = nodes * (nodes - 1.0).min(20.0) * 60.0;
    assert!(
        polled > Some(0.98 * all) && polled <= Some(all),
        "{polled:?} of {all}"
    );
    let overlays = &report["parts"]["table3"]["tables"][0]["rows"];
    assert_eq!(overlays[0]["push and pull alike"], "yes");
    assert_eq!(overlays[1]["push and pull alike"], "yes");

    // Parts made alone are the same as among all.
    desk.good(&reproduce("--only baselines,fig4 --out some"));
    for file in [
        "p1/fig4.csv",
        "p1/fig4-series.csv",
        "p1/baselines.csv",
        "p1/runs/95-push.toml",
        "config.toml",
    ] {
        let read = |folder: &str| fs::read(desk.path(folder).join(file)).expect("it is there");
        assert!(read("all") == read("some"), "{file} differs");
    }
    assert!(!desk.path("some/p1/fig5.csv").exists());

    // Any run can be repeated alone.
    desk.good("run --config some/p1/runs/95-push.toml --out again");
    let runs = report["runs"].as_array().expect("there are runs");
    let run = runs.iter().find(|run| run["name"] == "95-push");
    let digest = &run.expect("it is among the runs")["digest"];
    assert_eq!(&desk.summary("again")["digest"], digest);
}

#[test]
fn a_reproduction_under_several_seeds_has_confidence_intervals() {
    let desk = Desk::new();
    let text = desk.good(&reproduce("--only baselines --runs 3 --seed 5 --json"));
    let report = json(&text);
    assert_eq!(report["seeds"], serde_json::json!([5, 6, 7]));
    let row = &report["parts"]["baselines"]["tables"][0]["rows"][2];
    assert!(row["wait s, 95 %"]["ci95"].as_f64() > Some(0.0), "{row}");
    let file = desk.path("gridweave-reproduce-p1/p1/runs/plain-push-seed-6.toml");
    assert!(file.is_file());
    // A second reproduction replaces the first.
    desk.good(&reproduce("--only fig5"));
    assert!(!file.exists());
    assert!(desk.path("gridweave-reproduce-p1/p1/fig5.csv").is_file());
}

#[test]
fn a_reproduction_refuses_what_it_does_not_know() {
    let desk = Desk::new();
    let error = desk.bad("reproduce p1 --quick --only fig4,fig7");
    assert!(
        error.contains("fig7") && error.contains("table2"),
        "{error}"
    );
    desk.bad("reproduce p9");
    let error = desk.bad("reproduce all --quick --only fig4");
    assert!(error.contains("--only"), "{error}");
    desk.bad("reproduce p1 --quick --nodes 0");
    desk.bad("reproduce p1 --quick --trace missing.swf");
    desk.write("ours.txt", b"not a result");
    desk.make_folder("taken");
    desk.write("taken/notes.txt", b"not a result");
    desk.bad(&reproduce("--only fig5 --out taken"));
    // With all papers, the folder of the last one is checked before the first one is made.
    desk.make_folder("papers/p4");
    desk.write("papers/p4/notes.txt", b"not a result");
    let error = desk.bad("reproduce all --quick --out papers");
    assert!(error.contains("papers/p4"), "{error}");
    // A part that was named is made, or the command fails.
    let error = desk.bad("reproduce p3 --quick --only trace");
    assert!(error.contains("--only trace"), "{error}");
    // The results of one paper do not replace those of another.
    desk.write("taken/p1.json", b"{}");
    let error = desk.bad("reproduce p3 --quick --only fig1 --out taken");
    assert!(error.contains("holds results of p1"), "{error}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn the_third_paper_has_every_scenario_and_no_job_is_lost() {
    let desk = Desk::new();
    // Serial jobs of 170 sites, which is what the part asks for.
    let jobs: String = (0..200)
        .map(|job| {
            let (at, site) = (job * 40, job % 170);
            format!("{job} {at} -1 600 1 -1 -1 -1 -1 -1 1 3 1 -1 -1 {site} -1 -1\n")
        })
        .collect();
    desk.write("serial.swf", format!("; MaxProcs: 16\n{jobs}"));
    let text = desk.good("reproduce p3 --quick --trace serial.swf --nodes 340 --out all");
    for part in ["fig1", "fig2", "fig10", "overlays", "faults", "trace"] {
        assert!(text.contains(part), "{part}");
        let csv = desk.read(&format!("all/p3/{part}.csv"));
        assert!(csv.lines().count() > 3, "{part}");
    }
    let report = desk.json("all/p3.json");
    let runs = report["runs"].as_array().expect("there are runs");
    // 70 of scenarios, overlays, faults and kinds of sites, and 20 on the trace.
    assert_eq!(runs.len(), 70 + 20);
    for run in runs {
        assert_eq!(run["violations"], 0, "{run}");
        assert_eq!(run["jobs"]["lost"], 0, "{run}");
    }
    // Published figures are beside measured ones.
    let deadlines = &report["parts"]["fig4"]["tables"][0]["rows"];
    assert_eq!(deadlines[1]["published missed"], 4.0);
}

/// Ctrl-C leaves no results: half of a table says nothing about a paper.
#[cfg(unix)]
#[test]
fn an_interrupted_reproduction_leaves_nothing() {
    let desk = Desk::new();
    let mut child = desk.begin("reproduce p1 --nodes 500 --only fig4 --out out");
    desk.await_more_than(0);
    send("-INT", &child);
    await_interrupted(&mut child);
    assert!(desk.list().is_empty(), "{:?}", desk.list());
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn the_fourth_paper_has_its_schemes_beside_the_centralised_one_and_no_job_is_lost() {
    let desk = Desk::new();
    let text = desk.good("reproduce p4 --quick --only varieties --out all");
    assert!(text.contains("LIQ-PULL") && text.contains("mixed nodes, mixed jobs"));
    let csv = desk.read("all/p4/varieties.csv");
    assert_eq!(csv.lines().count(), 5, "{csv}");
    let report = desk.json("all/p4.json");
    let runs = report["runs"].as_array().expect("there are runs");
    // Two schemes and CENT, on nodes and jobs that are clustered or mixed.
    assert_eq!(runs.len(), 3 * 4);
    for run in runs {
        assert_eq!(run["violations"], 0, "{run}");
        assert_eq!(run["jobs"]["completed"], 150, "{run}");
    }
}

#[test]
fn zones_are_written_down_as_often_as_is_asked_for() {
    zones_are_whole("");
}

#[test]
fn nodes_that_join_one_by_one_share_the_space_before_the_first_job_comes() {
    let (desk, out) = zones_are_whole(" --set desktop.join_every=10s");
    let jobs = desk.read(&format!("{out}/jobs.csv"));
    let first = jobs.lines().nth(1).and_then(|job| job.split(',').nth(3));
    let first: f64 = first.and_then(|at| at.parse().ok()).expect("it has a time");
    assert!((310.0..400.0).contains(&first), "{first}");
    assert_eq!(desk.summary(out)["jobs"]["completed"], 40);
    assert_eq!(desk.summary(out)["faults"]["starts"], 29);
}

/// Runs a small `desktop` grid, and checks its snapshots.
fn zones_are_whole(more: &str) -> (Desk, &'static str) {
    let (desk, out) = (Desk::new(), "drawn");
    // A steady workload would have nodes so fast that all ends within the hour.
    let sizes = "--set workload.desktop.nodes=30 --set workload.desktop.jobs=40 \
                 --set workload.desktop.draw=independent --set report.zones=1h";
    desk.good(&format!(
        "run --scheduler desktop --workload desktop {sizes} --out {out}{more}"
    ));
    let pictures = desk.json(&format!("{out}/zones.json"));
    let pictures = pictures.as_array().expect("it is a list");
    assert!(pictures.len() >= 2);
    for (hour, picture) in pictures.iter().enumerate() {
        assert_eq!(picture["at"], 3600.0 * hour as f64);
        let nodes = picture["nodes"].as_array().expect("there are nodes");
        // The zones of all nodes fill the space.
        let volume = |node: &serde_json::Value| -> f64 {
            let zone = node["zone"].as_array().expect("there is a zone");
            let lengths = zone
                .iter()
                .map(|side| side[1].as_f64().unwrap_or(0.0) - side[0].as_f64().unwrap_or(0.0));
            lengths.product()
        };
        if hour > 0 {
            assert_eq!(nodes.len(), 30);
            let whole: f64 = nodes.iter().map(volume).sum();
            assert!((whole - 1.0).abs() < 1e-6, "{whole}");
        }
    }
    (desk, out)
}

#[test]
fn a_page_has_verdicts_and_is_the_same_the_second_time() {
    let desk = Desk::new();
    let make = |only: &str| reproduce(&format!("--only {only} --page p1.md"));
    desk.good(&make("fig5"));
    let page = desk.read("p1.md");
    for expected in [
        "# P1 reproduced",
        "| fig5 | `fig5` | quick run, no verdict |",
        "Verdict on `fig5-nodes`: **nothing published**",
        "![median waits by what jobs ask for, 95 %](p1/p1-fig5-properties.svg)",
        "<!-- end of fig5 -->",
    ] {
        assert!(page.contains(expected), "{expected} is not in {page}");
    }
    assert!(desk.read("p1/p1-fig5-properties.svg").ends_with("</svg>\n"));
    desk.good(&make("fig5"));
    assert_eq!(desk.read("p1.md"), page);

    // Another part is added in its place; those that are there stay.
    desk.good(&make("fig4"));
    let more = desk.read("p1.md");
    let section = |page: &str, part: &str| {
        let (_, rest) = page
            .split_once(&format!("<!-- part {part},"))
            .expect("it is there");
        rest.split_once(&format!("<!-- end of {part}"))
            .expect("it ends")
            .0
            .to_owned()
    };
    assert_eq!(section(&more, "fig5"), section(&page, "fig5"));
    assert!(more.find("part fig4,") < more.find("part fig5,"));

    // A file that is no such page is not touched.
    desk.write("notes.md", b"# Notes\n");
    let error = desk.bad(&reproduce("--only fig5 --page notes.md"));
    assert!(error.contains("notes.md"), "{error}");
    assert_eq!(desk.read("notes.md"), "# Notes\n");
    let error = desk.bad(&reproduce("--only fig5 --page nowhere/p1.md"));
    assert!(error.contains("no such folder"), "{error}");
}

#[test]
fn a_page_to_which_seeds_are_added_is_that_of_all_seeds_at_once() {
    let desk = Desk::new();
    for folder in ["all", "some"] {
        desk.make_folder(folder);
    }
    let make = |more: &str| reproduce(&format!("--only table1 {more}"));
    desk.good(&make("--runs 3 --page all/p1.md"));
    desk.good(&make("--runs 2 --page some/p1.md"));
    let two = desk.read("some/p1.md");
    assert!(two.contains("seeds 0 to 1"), "{two}");
    let figures = desk.read("some/p1/table1-by-seed.csv");
    for (seeds, advice) in [
        ("--seed 2 --runs 3", "give --seed 0"),
        ("--runs 2", "more than --runs 2"),
    ] {
        let error = desk.bad(&make(&format!("{seeds} --page some/p1.md --add")));
        assert!(error.contains(advice), "{error}");
    }
    let other = figures.replacen("code ", "code 0", 1);
    desk.write("some/p1/table1-by-seed.csv", other.as_bytes());
    let error = desk.bad(&make("--runs 3 --page some/p1.md --add"));
    assert!(error.contains("other code"), "{error}");
    assert_eq!(desk.read("some/p1.md"), two);
    desk.write("some/p1/table1-by-seed.csv", figures.as_bytes());
    desk.good(&make("--runs 3 --page some/p1.md --add"));
    for file in ["p1.md", "p1/table1-by-seed.csv"] {
        let read = |folder: &str| desk.read(&format!("{folder}/{file}"));
        assert_eq!(read("all"), read("some"));
    }
    // A part that shows a single run has no figures to add to.
    desk.good(&reproduce("--only fig5 --page some/p1.md"));
    let error = desk.bad(&reproduce("--only fig5 --runs 2 --page some/p1.md --add"));
    assert!(error.contains("is not there"), "{error}");
}

#[test]
fn a_page_whose_code_has_changed_is_marked_as_stale() {
    let desk = Desk::new();
    desk.good("reproduce p1 --quick --only fig5 --page p1.md");
    let page = desk.read("p1.md");
    desk.good("reproduce --stale .");
    assert_eq!(desk.read("p1.md"), page);
    // As if the code had been other when the page was made.
    let (before, after) = page.split_once("quick run ").expect("it has a digest");
    let (digest, _) = after.split_once(' ').expect("the digest ends");
    let other = page.replace(digest, "00000000000000000000000000000000");
    assert!(!before.contains("Stale"));
    desk.write("p1.md", other.as_bytes());
    let output = desk.run("reproduce --stale .");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("p1 fig5"));
    assert!(desk.read("p1.md").contains("> **Stale:**"));
    // A page that says so tells the truth.
    desk.good("reproduce --stale .");
    desk.make_folder("empty");
    let error = desk.bad("reproduce --stale empty");
    assert!(error.contains("no part"), "{error}");
}

#[test]
fn records_are_put_into_their_places() {
    let desk = Desk::new();
    desk.make_folder("records");
    let record =
        r#"{ "command": "a", "commit": "b", "bare": true, "columns": ["x"], "rows": [[1500]] }"#;
    desk.write("records/waits.json", record.as_bytes());
    let page = "# A\n<!-- waits -->\n<!-- end of waits -->\nrest\n";
    desk.write("a.md", page.as_bytes());
    desk.good("reproduce --records records --into a.md");
    let filled = desk.read("a.md");
    assert!(
        filled.contains("| 1,500 |") && filled.ends_with("\nrest\n"),
        "{filled}"
    );
    desk.write("records/waits.json", b"{}");
    let error = desk.bad("reproduce --records records --into a.md");
    assert!(error.contains("waits.json"), "{error}");
    assert_eq!(desk.read("a.md"), filled);
}
