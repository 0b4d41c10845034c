use super::*;

fn text_of(workload: &Workload, kept: &Kept<'_>) -> String {
    let mut bytes = Vec::new();
    write(workload, kept, &mut bytes).expect("memory takes any bytes");
    String::from_utf8(bytes).expect("a trace is text")
}

#[test]
fn what_is_written_reads_back_equal() {
    let bundled = bundled();
    let text = text_of(
        &bundled.workload,
        &bundled.kept_after(&Transform::default()),
    );
    let name = &bundled.workload.name;
    let again = read_from(name, text.as_bytes(), Origin::Source).unwrap();
    assert_eq!(again.workload, bundled.workload);
    assert_eq!(again.skipped.total(), 0);
    assert_eq!(again.unix_start(), bundled.unix_start());
    assert_eq!(again.header.max_procs(), Some(2004));
}

#[test]
fn thanks_and_origins_are_kept_and_sizes_are_counted_anew() {
    let source = trace(
        "; Computer: IBM\n; Acknowledge: Lars\n; Information: a\n; MaxJobs: 99\n; EndTime: never\n\
        ; UnixStartTime: 1000\n3 50 -1 9.5 2\n",
    );
    let text = text_of(&source.workload, &source.kept_after(&Transform::default()));
    let expected = "; Version: 2.2\n; Computer: IBM\n; Acknowledge: Lars\n; Information: a\n\
        ; Note: test, as written by gridweave\n; MaxJobs: 1\n; MaxRecords: 1\n; UnixStartTime: 1050\n;\n\
        3 0 -1 9.500000 2 -1 -1 2 -1 -1 1 0 0 -1 -1 -1 -1 -1\n";
    assert_eq!(text, expected);
}

#[test]
fn a_name_cannot_break_out_of_its_line() {
    let workload = Workload {
        name: "a\n1 0 -1 1 1".to_owned(),
        jobs: vec![job(7, 0, 1)],
        ..Workload::default()
    };
    let again = trace(&text_of(&workload, &Kept::default()));
    assert_eq!(numbers(&again.workload), [7]);
}

#[test]
fn info_says_what_is_there_and_what_is_not() {
    let source = trace("1 0 -1 10 2 -1 -1 -1 20\n1 20 -1 30 4 -1 -1 4 -1\n3 30 -1 0 1\n");
    let info = Info::of(&source, Some(7));
    assert_eq!(
        info.processors,
        Summary {
            mean: 3.0,
            max: 4.0
        }
    );
    assert_eq!(
        info.run_time,
        Summary {
            mean: 20.0,
            max: 30.0
        }
    );
    assert_eq!(
        info.requested_time,
        Some(Summary {
            mean: 20.0,
            max: 20.0
        })
    );
    assert_eq!(info.repeated_numbers, 1);
    assert_eq!(info.load.and_then(|load| load.by_run_time), Some(1.0));
    let shown = info.to_string();
    assert!(
        shown.contains("1 skipped: 1 with no run time (first: line 3)"),
        "{shown}"
    );
    assert!(shown.contains("100.0 % of 7 nodes by run time"), "{shown}");
    let json = serde_json::to_value(&info).unwrap();
    assert_eq!(json["skipped"]["reasons"][0]["reason"], "no-run-time");
    assert_eq!(json["oddities"]["processors_as_allocated"], 1);
}

#[test]
fn dates_and_sizes_follow_the_changes() {
    let transform = Transform {
        window: Some(Window {
            from: Span::from_secs(86_400),
            until: Span::MAX,
        }),
        cores_per_node: core::num::NonZeroU32::new(16),
        ..Transform::default()
    };
    let bundled = bundled();
    let start = bundled.unix_start().expect("the bundled trace has a date");
    let kept = bundled.kept_after(&transform);
    assert_eq!(kept.unix_start, Some(start + 86_400));
    assert_eq!(kept.max_procs, Some(126));
    let load = TargetLoad {
        capacity: 126,
        load: 0.5,
        by: crate::outcome::Estimates::Exact,
        unit: WorkUnit::Processor,
    };
    for changed in [
        Transform {
            load: Some(load),
            ..transform
        },
        Transform {
            stretch: Some(2.0),
            ..transform
        },
    ] {
        assert_eq!(bundled.kept_after(&changed).unix_start, None, "{changed:?}");
    }
    // Slots change how long jobs run, and not when they come.
    let slotted = Transform {
        slot: Some(Span::from_secs(60)),
        ..transform
    };
    let kept = bundled.kept_after(&slotted);
    assert_eq!(kept.unix_start, Some(start + 86_400));
}
