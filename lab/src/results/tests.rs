use super::*;
use crate::outcome::{Ending, Outcome};
use crate::run::{Faults, Placement, Run};
use crate::workload::Submission;
use gridweave_core::job::Refusal;
use gridweave_core::time::Time;
use gridweave_core::wire::Kind;
use gridweave_sim::engine::Traffic;

fn job(number: u64, at: u64, run: u64, processors: u32) -> Submission {
    Submission::new(
        number,
        Time::from_secs(at),
        Span::from_secs(run),
        processors,
    )
}

fn ran(start: u64, end: u64) -> Outcome {
    Outcome::Ran {
        start: Time::from_secs(start),
        end: Time::from_secs(end),
        ending: Ending::Completed,
    }
}

/// Four nodes. Two jobs run one after the other, one is too large, and one waits when the run is stopped.
fn small() -> (Workload, Run) {
    let jobs = vec![
        job(1, 0, 10, 4),
        job(2, 5, 20, 2),
        job(3, 6, 5, 9),
        job(4, 8, 30, 1),
    ];
    let workload = Workload {
        name: "small".into(),
        jobs,
        ..Workload::default()
    };
    let run = Run {
        outcomes: vec![
            ran(0, 10),
            ran(10, 30),
            Outcome::Rejected(Refusal::NoStart),
            Outcome::Unfinished { start: None },
        ],
        promised: vec![Some(Time::ZERO), Some(Time::from_secs(14)), None, None],
        placement: Placement::Interchangeable,
        traffic: Default::default(),
        faults: Faults::default(),
        stopped: Some(Time::from_secs(30)),
        ended: Time::from_secs(30),
        pictures: Vec::new(),
        in_degrees: Vec::new(),
        counts: Default::default(),
        violations: 0,
        life: None,
        events: 9,
        digest: "d".into(),
    };
    (workload, run)
}

fn facts<'a>(workload: &'a Workload, grid: &'a Grid) -> Facts<'a> {
    Facts {
        scheduler: "central-fcfs",
        seed: 3,
        workload,
        skipped: 2,
        grid,
        joining: 0,
        estimates: Estimates::Exact,
    }
}

#[test]
fn a_summary_counts_and_weighs() {
    let (workload, run) = small();
    let grid = Grid::Uniform(4);
    let facts = facts(&workload, &grid);
    let rows = series(&facts, &run, Span::from_secs(10));
    let summary = Summary::new(&facts, &run, &rows, Span::from_secs(10));
    let jobs = Jobs {
        submitted: 4,
        completed: 2,
        killed: 0,
        failed: 0,
        rejected: 1,
        lost: 0,
        orphaned: 0,
        unfinished: 1,
        not_submitted: 0,
        skipped: 2,
    };
    assert_eq!(summary.jobs, jobs);
    assert_eq!(summary.reasons, [("NoStart".to_owned(), 1)].into());
    assert!(summary.partial);
    assert_eq!(
        (summary.wait.unwrap().mean, summary.wait.unwrap().max),
        (2.5, 5.0)
    );
    assert_eq!(summary.turnaround.unwrap().mean, 17.5);
    assert_eq!(summary.bounded_slowdown.unwrap().max, 1.25);
    assert_eq!(summary.promise_error.unwrap().max, 4.0);
    let sizes = summary.wait_by_size.iter();
    let sizes: Vec<_> = sizes
        .map(|(most, size)| (*most, size.jobs, size.wait.max))
        .collect();
    assert_eq!(sizes, [(2, 1, 5.0), (4, 1, 0.0)]);
    // 40 + 40 node-seconds of 4 x 30, and 40 + 40 + 45 + 30 asked for within 8 seconds.
    assert_eq!(summary.utilization.effective, 80.0 / 120.0);
    assert_eq!(summary.utilization.requested, 155.0 / 32.0);
    assert_eq!(summary.utilization.peak, 1.0);
    assert_eq!(summary.makespan, 30.0);
}

#[test]
fn a_series_has_a_row_per_window() {
    let (workload, run) = small();
    let grid = Grid::Uniform(4);
    let rows = series(&facts(&workload, &grid), &run, Span::from_secs(10));
    let columns: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row.time,
                row.effective_utilization,
                row.queue_length,
                row.idle_nodes,
            )
        })
        .collect();
    let expected = [
        (0.0, 1.0, 2, 4),
        (10.0, 0.5, 1, 2),
        (20.0, 0.5, 1, 4),
        (30.0, 0.0, 1, 4),
    ];
    assert_eq!(columns, expected);
    assert_eq!(rows[0].requested_utilization, 155.0 / 40.0);
}

/// Four nodes. The run is stopped while the first job runs and the second waits, before the third is submitted.
fn stopped_early() -> (Workload, Run) {
    let (mut workload, mut run) = small();
    workload.jobs = vec![job(1, 0, 1000, 4), job(2, 5, 1000, 2), job(3, 500, 5, 1)];
    run.outcomes = vec![
        Outcome::Unfinished {
            start: Some(Time::ZERO),
        },
        Outcome::Unfinished { start: None },
        Outcome::NotSubmitted,
    ];
    run.stopped = Some(Time::from_secs(15));
    (workload, run)
}

#[test]
fn nothing_is_made_up_after_a_stop() {
    let (workload, run) = stopped_early();
    let grid = Grid::Uniform(4);
    let facts = facts(&workload, &grid);
    let rows = series(&facts, &run, Span::from_secs(10));
    let figures = |row: &Row| {
        (
            row.effective_utilization,
            row.queue_length,
            row.requested_utilization,
        )
    };
    let rows: Vec<_> = rows.iter().map(figures).collect();
    assert_eq!(rows, [(1.0, 1, 6000.0 / 40.0), (0.5, 1, 0.0)]);
    let summary = Summary::new(&facts, &run, &[], Span::from_secs(10));
    assert_eq!(summary.makespan, 15.0);
    assert_eq!(summary.utilization.effective, 1.0);
    assert_eq!(summary.utilization.requested, 6000.0 / 20.0);
    let jobs = summary.jobs;
    assert_eq!(
        (jobs.submitted, jobs.unfinished, jobs.not_submitted),
        (2, 2, 1)
    );
    let mut bytes = Vec::new();
    write_jobs(&facts, &run, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let states: Vec<_> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(7))
        .collect();
    let expected = ["RUNNING", "SUBMITTED", "NOT_SUBMITTED"].map(Some);
    assert_eq!(states, expected);
}

#[test]
fn without_a_run_job_there_is_no_wait() {
    let (workload, run) = stopped_early();
    let grid = Grid::Uniform(4);
    let summary = Summary::new(&facts(&workload, &grid), &run, &[], Span::from_secs(10));
    assert_eq!((summary.wait, summary.bounded_slowdown), (None, None));
    // In a run shorter than a window, the peak is the mean.
    assert_eq!(summary.utilization.peak, 1.0);
}

#[test]
fn a_job_that_still_has_time_has_not_missed_its_deadline() {
    let (mut workload, run) = stopped_early();
    workload.deadlines = [10, 100, 600].map(Time::from_secs).into();
    let grid = Grid::Uniform(4);
    let summary = Summary::new(&facts(&workload, &grid), &run, &[], Span::from_secs(10));
    assert_eq!(summary.deadlines.map(|deadlines| deadlines.missed), Some(1));
}

#[test]
fn joiners_and_messages_after_the_last_job_count() {
    let (workload, mut run) = small();
    let grid = Grid::Uniform(4);
    let facts = Facts {
        joining: 4,
        ..facts(&workload, &grid)
    };
    run.stopped = None;
    run.ended = Time::from_secs(60);
    const PING: &[Kind] = &[Kind::new("Ping", 10)];
    run.traffic = Traffic::new(PING);
    for second in 0..60 {
        run.traffic.sent(Time::from_secs(second), &[0; 10], 1);
    }
    let summary = Summary::new(&facts, &run, &[], Span::from_secs(10));
    assert_eq!(summary.messages.per_node_per_s, 60.0 / 480.0);
    assert_eq!(summary.nodes, 8);
    assert_eq!(summary.utilization.effective, 80.0 / 240.0);
    assert_eq!(summary.makespan, 30.0);
}

#[test]
fn windows_become_wider_rather_than_too_many() {
    let (workload, mut run) = small();
    let grid = Grid::Uniform(4);
    let end = 3 * MOST_ROWS;
    run.outcomes[3] = ran(30, end);
    run.stopped = None;
    let rows = series(&facts(&workload, &grid), &run, Span::from_secs(1));
    assert_eq!(rows.len() as u64, end / 4 + 1);
    assert_eq!((rows[0].time, rows[1].time), (0.0, 4.0));
    assert!(rows.iter().all(|row| row.effective_utilization <= 1.0));
}

#[test]
fn rows_take_no_memory_for_nodes_that_are_only_counted() {
    let (workload, run) = small();
    let grid = Grid::Uniform(u32::MAX);
    let rows = series(&facts(&workload, &grid), &run, Span::from_secs(10));
    assert_eq!(rows[0].idle_nodes, u64::from(u32::MAX));
}

/// Writes the files by which an output is recognised, with this seed.
fn mark(draft: &Draft, seed: u64) {
    let config = crate::config::Config {
        seed,
        ..Default::default()
    };
    let config = config.to_toml().unwrap();
    let put = |name: &str, text: &str| {
        let write =
            |file: &mut io::BufWriter<std::fs::File>| io::Write::write_all(file, text.as_bytes());
        draft.write(name, write).unwrap();
    };
    put("config.toml", &config);
    put("summary.json", "{ \"partial\": false }");
}

#[test]
fn a_draft_that_is_given_up_takes_the_folders_around_it_along() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("a/b/c/out/.");
    drop(Draft::new(&place).unwrap());
    assert!(!home.path().join("a").exists());
    let draft = Draft::new(&place).unwrap();
    draft.write("config.toml", |_| Ok(())).unwrap();
    draft.publish().unwrap();
    assert!(home.path().join("a/b/c/out/config.toml").is_file());
}

#[test]
fn results_that_cannot_be_published_are_kept_and_the_error_says_where() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("out");
    let draft = Draft::new(&place).unwrap();
    draft.write("config.toml", |_| Ok(())).unwrap();
    std::fs::create_dir(&place).unwrap();
    std::fs::write(place.join("thesis.tex"), "").unwrap();
    let error = draft.publish().unwrap_err();
    let FolderProblem::Unpublished { kept, .. } = error.problem else {
        panic!("{error}");
    };
    assert!(kept.join("config.toml").is_file() && place.join("thesis.tex").is_file());
    let name = kept.file_name().unwrap().to_string_lossy().into_owned();
    assert!(name.starts_with("gridweave-unpublished-"), "{name}");
}

#[cfg(unix)]
#[test]
fn a_link_to_a_folder_stands_for_it() {
    let home = tempfile::tempdir().unwrap();
    let link = home.path().join("link");
    std::fs::create_dir(home.path().join("real")).unwrap();
    std::os::unix::fs::symlink(home.path().join("real"), &link).unwrap();
    let draft = Draft::new(&link).unwrap();
    draft.write("config.toml", |_| Ok(())).unwrap();
    draft.publish().unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(home.path().join("real/config.toml").is_file());
    for name in [".", "..", "x/.."] {
        assert!(Draft::new(std::path::Path::new(name)).is_err(), "{name}");
    }
}

#[test]
fn jobs_are_written_in_batsims_columns() {
    let (workload, run) = small();
    let grid = Grid::Uniform(4);
    let mut bytes = Vec::new();
    write_jobs(&facts(&workload, &grid), &run, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("job_id,workload_name,profile,submission_time,"));
    assert_eq!(
        lines[1..],
        [
            "1,small,,0,4,10,1,COMPLETED_SUCCESSFULLY,0,10,10,0,10,1.000000,0-3,-1,",
            "2,small,,5,2,20,1,COMPLETED_SUCCESSFULLY,10,20,30,5,25,1.250000,0-1,-1,",
            "3,small,,6,9,5,0,REJECTED,,,,,,,,-1,",
            "4,small,,8,1,30,0,SUBMITTED,,,,,,,,-1,",
        ]
    );
}

#[test]
fn a_folder_appears_whole_replaces_its_own_kind_and_spares_others() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("a/out");
    let write = |seed: u64| {
        let draft = Draft::new(&place).unwrap();
        mark(&draft, seed);
        let run = "gangs/central-easy/seed-7/jobs.csv";
        draft.write(run, |_| Ok(())).unwrap();
        draft
    };
    drop(write(1));
    assert!(!place.exists());
    write(1).publish().unwrap();
    write(2).publish().unwrap();
    let read = std::fs::read_to_string(place.join("config.toml")).unwrap();
    assert!(read.contains("seed = 2"), "{read}");
    assert!(place.join("gangs/central-easy/seed-7/jobs.csv").is_file());
    let left: Vec<_> = std::fs::read_dir(home.path().join("a")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    // A folder with other files in it is left alone; so is a file.
    let foreign = home.path().join("b");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("thesis.tex"), "").unwrap();
    assert!(
        Draft::new(&foreign)
            .unwrap_err()
            .to_string()
            .contains("no output of gridweave")
    );
    assert!(Draft::new(&foreign.join("thesis.tex")).is_err());
    assert!(Draft::new(&foreign.join("thesis.tex/out")).is_err());
}

#[test]
fn file_names_alone_do_not_make_a_folder_replaceable() {
    let home = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let file = home.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    let ours = |name: &str| Draft::new(&home.path().join(name)).is_ok();
    let config = crate::config::Config::default().to_toml().unwrap();
    // The configuration of another program, an empty one, and one of this program without results.
    put("a/config.toml", "[package]\nname = 'a'\n");
    put("a/summary.json", "{ \"partial\": false }");
    put("b/config.toml", "");
    put("b/summary.json", "{ \"partial\": false }");
    put("c/config.toml", &config);
    put("d/config.toml", &config);
    put("d/summary.json", "{ \"total\": 5 }");
    assert!(!["a", "b", "c", "d"].into_iter().any(ours));
    put("d/summary.json", "{ \"partial\": true }");
    assert!(ours("d"));
    // Files at any depth are checked, too.
    for name in [
        "jobs/thesis.tex",
        "jobs/central-easy/thesis.tex",
        "jobs/central-easy/seed-1/thesis.tex",
        "seed-1/thesis.tex",
        "seed-one/jobs.csv",
        "p1/fig4.csv",
    ] {
        put(&format!("d/{name}"), "");
        assert!(!ours("d"), "{name}");
        std::fs::remove_file(home.path().join("d").join(name)).unwrap();
        if name.starts_with("seed-one") || name.starts_with("p1") {
            let folder = home.path().join("d").join(name);
            std::fs::remove_dir(folder.parent().unwrap()).unwrap();
        }
        assert!(ours("d"), "{name}");
    }
    // The file of a paper lists its tables and runs.
    put(
        "d/p1.json",
        r#"{ "paper": { "key": "p1" }, "parts": { "x": { "tables": [{ "name": "fig4" }] } },
            "runs": [{ "file": "runs/95-push.toml" }] }"#,
    );
    put("d/p1/fig4.csv", "");
    put("d/p1/tables.txt", "");
    put("d/p1/runs/95-push.toml", "");
    assert!(ours("d"));
    put("d/p1/runs/mine.toml", "");
    assert!(!ours("d"));
}

#[test]
fn drafts_of_processes_that_ended_are_removed() {
    let home = tempfile::tempdir().unwrap();
    let folder = |name: String| {
        let folder = home.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        folder
    };
    // No process has an id beyond 2^22.
    let abandoned = folder(".gridweave-4194305-abc".into());
    let running = folder(format!(".gridweave-{}-abc", std::process::id()));
    let other = folder(".gridweave-abc".into());
    remove_abandoned(home.path());
    assert!(running.exists() && other.exists());
    assert_eq!(
        abandoned.exists(),
        !std::path::Path::new("/proc/self").exists()
    );
}
