use core::num::{NonZeroU32, NonZeroUsize};

use gridweave_core::resource::{Dimensions, Kind, Requirement};

use super::*;
use crate::outcome::Estimates;

/// Jobs with a deadline a hundred seconds after submission; the requirement of each has its number.
fn workload(jobs: Vec<Submission>) -> Workload {
    let number = Dimensions::new(&[("number", Kind::Level)]).unwrap();
    let number = number.named("number").unwrap();
    let requirement = |job: &Submission| Requirement::any().with(number, job.number);
    Workload {
        name: "test".to_owned(),
        requirements: jobs.iter().map(requirement).collect(),
        deadlines: jobs
            .iter()
            .map(|job| job.at + Span::from_secs(100))
            .collect(),
        jobs,
    }
}

/// Asserts that each job still has its own requirement and its slack.
fn assert_in_step(done: &Transformed) {
    let workload = &done.workload;
    assert_eq!(workload.requirements.len(), workload.jobs.len());
    assert_eq!(workload.deadlines.len(), workload.jobs.len());
    for (position, job) in workload.jobs.iter().enumerate() {
        let original = done.original.get(position).copied().unwrap_or(job.number);
        let named: Vec<u64> = workload.requirements[position]
            .named()
            .map(|(_, n)| n)
            .collect();
        assert_eq!(named, [original]);
        assert_eq!(workload.deadlines[position] - job.at, Span::from_secs(100));
    }
}

fn four() -> Workload {
    workload(vec![
        job(11, 0, 1),
        job(12, 10, 20),
        job(13, 20, 16),
        job(14, 40, 33),
    ])
}

fn nodes(nodes: u32) -> NonZeroU32 {
    NonZeroU32::new(nodes).expect("some nodes")
}

/// Keeps only jobs in this window.
fn within(from: u64, until: Span) -> Transform {
    let from = Span::from_secs(from);
    Transform {
        window: Some(Window { from, until }),
        ..Transform::default()
    }
}

/// A cap of so many nodes.
fn capped(most: u32, above: AboveCap) -> Option<Cap> {
    let nodes = nodes(most);
    Some(Cap { nodes, above })
}

/// A property of each job that is left.
fn each<T>(done: &Transformed, of: fn(&Submission) -> T) -> Vec<T> {
    done.workload.jobs.iter().map(of).collect()
}

#[test]
fn no_change_changes_nothing() {
    let done = Transform::default().apply(four()).unwrap();
    assert_eq!(done.workload, four());
    assert!(done.original.is_empty());
}

#[test]
fn a_window_is_half_open_and_its_start_becomes_zero() {
    let done = within(5, Span::from_secs(40)).apply(four()).unwrap();
    assert_eq!(numbers(&done.workload), [12, 13]);
    assert_eq!(done.workload.jobs[0].at, Time::from_secs(5));
    assert_eq!(done.outside_window, 2);
    assert_in_step(&done);
}

#[test]
fn a_window_that_holds_nothing_is_an_error() {
    let transform = within(41, Span::from_secs(90));
    let error = transform.apply(four()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no job was submitted from 41s until 1m30s; the last came at 40s: choose another window"
    );
    let nothing = transform.apply(Workload::default());
    assert_eq!(nothing, Err(TransformError::NoJobs));
}

#[test]
fn whole_nodes_are_rounded_up_before_the_cap_applies() {
    let mut transform = Transform {
        cores_per_node: Some(nodes(16)),
        cap: capped(2, AboveCap::Drop),
        ..Transform::default()
    };
    let done = transform.apply(four()).unwrap();
    let sizes = each(&done, |job| job.processors);
    assert_eq!((sizes, done.dropped), (vec![1, 2, 1], 1));
    assert_in_step(&done);

    transform.cap = capped(2, AboveCap::Clamp);
    let done = transform.apply(four()).unwrap();
    let sizes = each(&done, |job| job.processors);
    assert_eq!(
        (sizes, done.dropped, done.clamped),
        (vec![1, 2, 1, 2], 0, 1)
    );
}

#[test]
fn a_cap_below_every_job_is_an_error() {
    let transform = Transform {
        cap: capped(2, AboveCap::Drop),
        ..Transform::default()
    };
    let large = workload(vec![job(1, 0, 3)]);
    let error = transform.apply(large).unwrap_err();
    assert_eq!(error, TransformError::AllAboveCap { nodes: nodes(2) });
}

#[test]
fn a_split_job_is_as_many_serial_jobs_with_numbers_of_their_own() {
    let transform = Transform {
        parallel: Parallel::Split,
        first: NonZeroUsize::new(2),
        ..Transform::default()
    };
    let jobs = vec![job(7, 0, 1), job(5, 10, 3), job(5, 20, 3)];
    let before = workload(jobs);
    let done = transform.apply(before).unwrap();
    assert_eq!(numbers(&done.workload), [1, 2, 3, 4]);
    assert_eq!(done.original, [7, 5, 5, 5]);
    assert_eq!(done.beyond_first, 1);
    assert!(done.workload.jobs.iter().all(|job| job.processors == 1));
    assert_eq!(done.workload.jobs[2].at, Time::from_secs(10));
    assert_in_step(&done);
}

#[test]
fn whole_jobs_and_their_parts_are_the_same_jobs() {
    let whole = Transform {
        window: within(1, Span::MAX).window,
        cap: capped(4, AboveCap::Drop),
        first: NonZeroUsize::new(2),
        ..at_load(0.5, Estimates::Exact)
    };
    let split = Transform {
        parallel: Parallel::Split,
        ..whole
    };
    let jobs = vec![
        job(1, 0, 2),
        job(2, 5, 3),
        job(3, 6, 9),
        job(4, 9, 4),
        job(5, 9, 1),
    ];
    let whole = whole.apply(workload(jobs.clone())).unwrap();
    let parts = split.apply(workload(jobs)).unwrap();
    assert_eq!(numbers(&whole.workload), [2, 4]);
    assert_eq!(parts.original, [2, 2, 2, 4, 4, 4, 4]);
    for (part, original) in parts.workload.jobs.iter().zip(&parts.original) {
        let jobs = &whole.workload.jobs;
        let job = jobs.iter().find(|job| job.number == *original).unwrap();
        assert_eq!((part.at, part.run_time), (job.at, job.run_time));
    }
}

#[test]
fn an_open_window_has_no_end_in_words() {
    let transform = within(100, Span::MAX);
    let error = transform.apply(workload(vec![job(1, 0, 1)])).unwrap_err();
    assert!(error.to_string().contains("from 1m40s on;"), "{error}");
}

#[test]
fn load_counts_what_jobs_share_a_node_by() {
    let dimensions = Dimensions::new(&[("cores", Kind::Amount)]).unwrap();
    let cores = dimensions.named("cores").unwrap();
    let jobs = vec![job(1, 0, 1), job(2, 100, 1)];
    let mut before = workload(jobs);
    before.requirements = vec![Requirement::any().with(cores, 4), Requirement::any()];
    let unit = WorkUnit::Share(cores);
    let run_time = before.jobs[0].run_time.as_micros();
    assert_eq!(
        before.work_in(unit, Estimates::Exact),
        5 * u128::from(run_time)
    );
    let transform = Transform {
        load: Some(TargetLoad {
            capacity: 10,
            load: 0.5,
            by: Estimates::Exact,
            unit,
        }),
        ..Transform::default()
    };
    let after = transform.apply(before).unwrap().workload;
    assert_eq!(after.span().as_micros(), run_time);
}

#[test]
fn splitting_does_not_fill_memory() {
    let transform = Transform {
        parallel: Parallel::Split,
        ..Transform::default()
    };
    let error = transform
        .apply(workload(vec![job(1, 0, 5_000_000), job(2, 0, 1)]))
        .unwrap_err();
    assert_eq!(error, TransformError::TooManyParts { jobs: 5_000_001 });
}

fn at_load(load: f64, by: Estimates) -> Transform {
    Transform {
        load: Some(TargetLoad {
            capacity: 7,
            load,
            by,
            unit: WorkUnit::Processor,
        }),
        ..Transform::default()
    }
}

#[test]
fn submit_times_are_scaled_to_the_target_load_and_nothing_else_is() {
    let before = four();
    assert_eq!(before.load(7, Estimates::Exact).ratio(), Some(0.25));
    let done = at_load(0.5, Estimates::Exact).apply(before).unwrap();
    assert_eq!(each(&done, |job| job.at.as_secs()), [0, 5, 10, 20]);
    assert_eq!(done.workload.load(7, Estimates::Exact).ratio(), Some(0.5));
    assert_in_step(&done);
    let spread = at_load(0.125, Estimates::Exact).apply(four()).unwrap();
    assert_eq!(spread.workload.span(), Span::from_secs(80));
}

#[test]
fn the_load_may_be_that_of_requested_times() {
    let mut before = four();
    for job in &mut before.jobs {
        job.requested_time = Some(Span::from_secs(2));
    }
    let done = at_load(0.5, Estimates::Kill).apply(before).unwrap();
    assert_eq!(done.workload.span(), Span::from_secs(40));
}

#[test]
fn a_load_that_cannot_be_is_an_error() {
    for load in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
        let error = at_load(load, Estimates::Exact).apply(four()).unwrap_err();
        assert!(matches!(error, TransformError::BadLoad { .. }), "{load}");
    }
    let at_once = workload(vec![job(1, 3, 1), job(2, 3, 1)]);
    let error = at_load(0.5, Estimates::Exact).apply(at_once).unwrap_err();
    assert_eq!(error, TransformError::NoSpan);
}

#[test]
fn extreme_jobs_do_not_overflow_a_load() {
    let extreme = |number, at| Submission {
        run_time: Span::MAX,
        requested_time: Some(Span::MAX),
        at,
        ..job(number, 0, u32::MAX)
    };
    let before = workload(vec![extreme(1, Time::ZERO), extreme(2, Time::MAX)]);
    let done = at_load(1e-6, Estimates::Kill).apply(before).unwrap();
    assert_eq!(done.workload.jobs[1].at, Time::MAX);
}

#[test]
fn whole_slots_round_run_times_up_and_leave_submissions() {
    let mut before = four();
    before.jobs[0].run_time = Span::from_secs(60);
    before.jobs[1].run_time = Span::from_micros(60_000_001);
    before.jobs[1].requested_time = Some(Span::from_secs(119));
    let transform = Transform {
        slot: Some(Span::from_secs(30)),
        ..Transform::default()
    };
    let each_before: Vec<Time> = before.jobs.iter().map(|job| job.at).collect();
    let done = transform.apply(before).unwrap();
    let jobs = &done.workload.jobs;
    assert_eq!(each(&done, |job| job.at), each_before);
    assert_eq!(each(&done, |job| job.run_time.as_secs()), [60, 90, 30, 30]);
    let requested = jobs[1].requested_time.map(Span::as_secs);
    assert_eq!((requested, jobs[0].requested_time), (Some(120), None));
    assert_in_step(&done);
}

#[test]
fn whole_slots_come_after_the_load() {
    let transform = Transform {
        slot: Some(Span::from_secs(3)),
        ..at_load(0.5, Estimates::Exact)
    };
    let done = transform.apply(four()).unwrap();
    // Scaled to 0, 5, 10 and 20 seconds by run times of one second; then these are rounded.
    let times = each(&done, |job| job.at.as_secs());
    assert_eq!(times, [0, 5, 10, 20]);
    assert_eq!(each(&done, |job| job.run_time.as_secs()), [3; 4]);
    let again = Transform {
        load: None,
        ..transform
    };
    assert_eq!(
        again.apply(done.workload.clone()).unwrap().workload,
        done.workload
    );
}

#[test]
fn whole_slots_of_extreme_times_saturate() {
    let extreme = Submission {
        run_time: Span::MAX,
        requested_time: Some(Span::MAX),
        at: Time::MAX,
        ..job(1, 0, 1)
    };
    let transform = Transform {
        slot: Some(Span::from_secs(60)),
        ..Transform::default()
    };
    let done = transform.apply(workload(vec![extreme])).unwrap();
    assert_eq!(done.workload.jobs, [extreme]);
}

#[test]
fn times_are_stretched_from_zero_on() {
    let mut before = four();
    before.jobs.remove(0);
    before.requirements.remove(0);
    before.deadlines.remove(0);
    let transform = Transform {
        stretch: Some(0.3),
        ..Transform::default()
    };
    let done = transform.apply(before.clone()).unwrap();
    let times = each(&done, |job| job.at.as_secs());
    assert_eq!(times, [3, 6, 12]);
    assert_in_step(&done);
    for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let bad = Transform {
            stretch: Some(factor),
            ..Transform::default()
        };
        let error = bad.apply(before.clone()).unwrap_err();
        assert!(
            matches!(error, TransformError::BadStretch { .. }),
            "{factor}"
        );
    }
}
