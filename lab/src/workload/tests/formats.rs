//! What readers must survive, one case at a time.

use super::*;

/// A record with these columns; the others are as in any log.
fn swf(
    number: u64,
    submit: &str,
    run: &str,
    allocated: &str,
    requested: &str,
    time: &str,
) -> String {
    format!(
        "{number} {submit} 5 {run} {allocated} 3.5 -1 {requested} {time} -1 1 7 8 -1 1 -1 -1 -1\n"
    )
}

#[test]
fn an_ordinary_swf_record_is_a_job() {
    let trace = trace("; Version: 2.2\n 12  30 5 60 4 1.5 -1 8 90 2048 1 7 9 -1 1 3 -1 -1\n");
    let expected = Submission {
        number: 12,
        at: Time::ZERO,
        run_time: Span::from_secs(60),
        requested_time: Some(Span::from_secs(90)),
        processors: 8,
        user: 7,
        group: 9,
        site: Some(3),
        memory: Some(2048),
    };
    assert_eq!(trace.workload.jobs, [expected]);
    assert_eq!(trace.format, Format::Swf);
    assert_eq!(trace.offset, Span::from_secs(30));
    assert_eq!(trace.skipped.total(), 0);
    assert_eq!(trace.oddities, Oddities::default());
}

#[test]
fn processors_are_those_requested_else_those_allocated() {
    let text = swf(1, "0", "1", "4", "8", "9")
        + &swf(2, "0", "1", "4", "-1", "9")
        + &swf(3, "0", "1", "4", "0", "9");
    let trace = trace(&text);
    let processors: Vec<u32> = trace
        .workload
        .jobs
        .iter()
        .map(|job| job.processors)
        .collect();
    assert_eq!(processors, [8, 4, 4]);
    assert_eq!(trace.oddities.processors_as_allocated, 2);
}

#[test]
fn jobs_that_did_not_run_are_skipped_and_counted_with_their_lines() {
    let text = String::from("; Version: 2.2\n")
        + &swf(1, "0", "0", "4", "4", "9")
        + &swf(2, "1", "-1", "4", "4", "9")
        + &swf(3, "2", "5", "0", "-1", "9")
        + &swf(4, "-1", "5", "4", "4", "9")
        + &swf(5, "4", "5", "4", "4", "9");
    let trace = trace(&text);
    assert_eq!(numbers(&trace.workload), [5]);
    let counts: Vec<_> = trace.skipped.counts().collect();
    let expected = [
        (Reason::NoRunTime, 2),
        (Reason::NoProcessors, 1),
        (Reason::NoSubmitTime, 1),
    ];
    assert_eq!(counts, expected);
    let lines: Vec<u64> = trace
        .skipped
        .first()
        .iter()
        .map(|skipped| skipped.line)
        .collect();
    assert_eq!(lines, [2, 3, 4, 5]);
    assert_eq!(
        trace.skipped.to_string(),
        "4 skipped: 2 with no run time, 1 with no processors, 1 with no submit time (first: line 2)"
    );
}

#[test]
fn only_the_first_few_skipped_lines_are_remembered() {
    let bad = swf(1, "0", "0", "1", "1", "1");
    let trace = trace(&(bad.repeat(100) + &swf(2, "0", "1", "1", "1", "1")));
    assert_eq!(trace.skipped.total(), 100);
    assert_eq!(trace.skipped.first().len(), 5);
}

#[test]
fn jobs_out_of_order_are_sorted_and_jobs_of_one_instant_keep_their_order() {
    let at = |number, submit| swf(number, submit, "1", "1", "1", "1");
    let late = at(4, "20") + &at(7, "20") + &at(3, "20");
    let trace = trace(&(late + &at(2, "10") + &at(9, "10") + &at(1, "10")));
    assert_eq!(numbers(&trace.workload), [2, 9, 1, 4, 7, 3]);
    assert_eq!(trace.oddities.out_of_order, 1);
    assert_eq!(trace.offset, Span::from_secs(10));
}

#[test]
fn unix_times_without_a_header_are_counted_from_the_first_usable_job() {
    let text = swf(1, "1100000000", "0", "1", "1", "1")
        + &swf(2, "1100000100", "1", "1", "1", "1")
        + &swf(3, "1100000160", "1", "1", "1", "1");
    let trace = trace(&text);
    let times: Vec<Time> = trace.workload.jobs.iter().map(|job| job.at).collect();
    assert_eq!(times, [Time::ZERO, Time::from_secs(60)]);
    assert_eq!(trace.offset, Span::from_secs(1_100_000_100));
    let kept = read_from("test", text.as_bytes(), Origin::Source).unwrap();
    assert_eq!(kept.workload.jobs[0].at, Time::from_secs(1_100_000_100));
    assert_eq!(kept.offset, Span::ZERO);
}

#[test]
fn a_missing_requested_time_is_none_and_one_that_was_exceeded_stays() {
    let text = swf(1, "0", "50", "1", "1", "-1")
        + &swf(2, "0", "50", "1", "1", "0")
        + &swf(3, "0", "50", "1", "1", "49.5")
        + &swf(4, "0", "50", "1", "1", "50");
    let trace = trace(&text);
    let requested: Vec<_> = trace
        .workload
        .jobs
        .iter()
        .map(|job| job.requested_time)
        .collect();
    assert_eq!(
        requested,
        [
            None,
            None,
            Some(Span::from_millis(49_500)),
            Some(Span::from_secs(50))
        ]
    );
    assert_eq!(trace.oddities.without_requested_time, 2);
    assert_eq!(trace.oddities.above_requested_time, 1);
}

#[test]
fn decimals_and_exponents_are_numbers() {
    let text = swf(1, "1.5", "0.000001", "1.0", "2.5", "1.3e+03")
        + &swf(2, "+2.25", "7.", "1", ".5", "1E1");
    let jobs = trace(&text).workload.jobs;
    assert_eq!(jobs[0].run_time, Span::from_micros(1));
    assert_eq!(jobs[0].processors, 3, "half a processor is one");
    assert_eq!(jobs[0].requested_time, Some(Span::from_secs(1300)));
    assert_eq!(jobs[1].at, Time::from_millis(750));
    assert_eq!(jobs[1].run_time, Span::from_secs(7));
    assert_eq!(jobs[1].processors, 1);
    assert_eq!(jobs[1].requested_time, Some(Span::from_secs(10)));
}

#[test]
fn parts_of_a_job_are_taken_and_counted() {
    let with_status = |status| format!("1 0 -1 9 2 -1 -1 3 10 -1 {status}\n");
    let text: String = [0, 1, 2, 3, 4, 5].map(with_status).concat();
    let trace = trace(&text);
    assert_eq!((trace.workload.jobs.len(), trace.oddities.parts), (6, 3));
}

#[test]
fn extra_columns_are_ignored_and_missing_ones_unknown() {
    let full = "1 0 -1 9 2 -1 -1 3 10 -1 1 4 5 -1 -1 6 -1 -1";
    let text = format!("{full} 77 88\n2 0 -1 9 2\n3 0 -1 9\n");
    let trace = trace(&text);
    assert_eq!(trace.format, Format::Swf);
    assert_eq!(trace.workload.jobs[0].site, Some(6));
    let short = Submission {
        run_time: Span::from_secs(9),
        ..job(2, 0, 2)
    };
    assert_eq!(trace.workload.jobs[1], short);
    assert_eq!(trace.oddities.short, 1);
    assert_eq!(trace.skipped.count(Reason::TooFewColumns), 1);
}

#[test]
fn tabs_carriage_returns_blank_lines_and_late_comments_are_no_obstacle() {
    let text = "\u{feff}; MaxProcs: 8\r\n\r\n\t1\t0\t-1\t9\t2\r\n; MaxProcs: 9\r\n2 1 -1 9 2";
    let trace = trace(text);
    assert_eq!(numbers(&trace.workload), [1, 2]);
    assert_eq!(trace.header.max_procs(), Some(8));
}

#[test]
fn a_header_tells_about_the_machine_and_whom_to_thank() {
    let text = "; --- converted ---\n\
        ;      Computer: IBM SP2\n\
        ; Installation: KTH \u{1b}[31m\n\
        ;  Acknowledge: Lars\n\
        ;  Information: http://a.example/\n\
        ;               http://b.example/\n\
        ;\n\
        ; not a continuation\n\
        ; MaxJobs: 28490\n\
        ; UnixStartTime: 843480031\n\
        ; MaxNodes: 50 (thin)\n\
        ; MaxProcs: many\n\
        ; Acknowledge: Malinowsky\n\
        1 600 -1 9 2\n";
    let trace = trace(text);
    let header = &trace.header;
    assert_eq!(header.computer(), Some("IBM SP2"));
    assert_eq!(header.installation(), Some("KTH  [31m"));
    let information: Vec<&str> = header.values("Information").collect();
    assert_eq!(information, ["http://a.example/ http://b.example/"]);
    let thanks: Vec<&str> = header.acknowledge().collect();
    assert_eq!(thanks, ["Lars", "Malinowsky"]);
    assert_eq!(header.max_nodes(), Some(50));
    assert_eq!(header.max_procs(), None);
    assert_eq!(trace.unix_start(), Some(843_480_631));
    assert_eq!(numbers(&trace.workload), [1], "MaxJobs is not believed");
}

/// A record of 29 columns with these processors, run time, user and site.
fn gwf(number: u64, submit: u64, run: i64, procs: i64, user: &str, site: &str) -> String {
    format!(
        "{number}\t{submit}\t-1\t{run}\t{procs}\t-1\t-1\t{procs}\t-1\t-1\t1\t{user}\tgrp\tapp\tq\t-1\t{site}\t{site}\t\
        UNITARY\t-1\t-1\t-1\tdesc:3,x:1\t-1\t-1\t-1\t-1\tvo\tproj\n"
    )
}

#[test]
fn gwf_users_and_sites_are_numbered_as_they_appear() {
    let text = String::from("# Version: 1.0\n")
        + &gwf(1, 1_100_000_000, -1, 3, "early", "nowhere")
        + &gwf(2, 1_100_000_010, 60, 3, "zoe", "G1/site4")
        + &gwf(3, 1_100_000_020, 60, -1, "yan", "G1/site1")
        + &gwf(4, 1_100_000_030, 60, 2, "-1", "-1")
        + &gwf(5, 1_100_000_040, 60, 1, "ann", "G1/site1")
        + &gwf(6, 1_100_000_050, 60, 1, "zoe", "G1/site4");
    let trace = trace(&text);
    assert_eq!(trace.format, Format::Gwf);
    assert_eq!(numbers(&trace.workload), [2, 4, 5, 6]);
    let from: Vec<_> = trace
        .workload
        .jobs
        .iter()
        .map(|job| (job.user, job.site))
        .collect();
    assert_eq!(from, [(1, Some(0)), (0, None), (2, Some(1)), (1, Some(0))]);
    assert_eq!(trace.skipped.count(Reason::NoRunTime), 1);
    assert_eq!(trace.skipped.count(Reason::NoProcessors), 1);
    assert_eq!(trace.unix_start(), Some(1_100_000_010));
}

#[test]
fn a_gwf_job_that_never_got_processors_is_skipped_whatever_it_requested() {
    let text = "# GWF\n1 0 -1 9 -1 -1 -1 3 10 -1 1\n2 0 -1 9 2 -1 -1 3 10 -1 1\n";
    let trace = trace(text);
    assert_eq!(numbers(&trace.workload), [2]);
    assert_eq!(trace.workload.jobs[0].processors, 3);
    assert_eq!(trace.skipped.count(Reason::NoProcessors), 1);
}

#[test]
fn gwf_without_a_header_is_known_by_its_columns() {
    assert_eq!(trace(&gwf(1, 10, 60, 3, "a", "b")).format, Format::Gwf);
    let text = "1 0 -1 9 2 -1 -1 3 10 -1 1 u g x q p s s UNITARY -1 -1\n";
    assert_eq!(trace(text).format, Format::Gwf, "Alea's 21 columns");
    let text = "1 0 -1 9 2 -1 -1 3 10 -1 1 4 5 -1 -1 6 -1 -1 1 2 3 4\n";
    assert_eq!(trace(text).format, Format::Swf, "SWF with four more");
    let text = format!("1 0 -1 9 2 {}\n", "-1 ".repeat(24));
    assert_eq!(trace(&text).format, Format::Gwf, "29 numbers");
}

#[test]
fn opendc_columns_are_found_by_name() {
    let text = "WorkflowID, JobID , SubmitTime, RunTime , NProcs, ReqNProcs, Dependencies\n\
        0, 1, 100, 11, 1, 1, \n\
        0, 2, 103, 0, 1, 1, 1\n\
        0, 3, 105, 7, 2, 4, 1 2\n\
        0, 4\n";
    let trace = trace(text);
    assert_eq!(trace.format, Format::Opendc);
    assert_eq!(numbers(&trace.workload), [1, 3]);
    assert_eq!(trace.workload.jobs[1].processors, 4);
    assert_eq!(trace.workload.jobs[1].at, Time::from_secs(5));
    assert_eq!(trace.skipped.count(Reason::NoRunTime), 1);
    assert_eq!(trace.skipped.count(Reason::TooFewColumns), 1);
}

#[test]
fn gzip_is_known_by_its_content_and_may_have_several_members() {
    let (one, two) = ("; Computer: x\n1 0 -1 9 2\n", "2 1 -1 9 2\n");
    let plain = trace(&format!("{one}{two}"));
    let bytes = [compressed(one.as_bytes()), compressed(two.as_bytes())].concat();
    let zipped = read_from("test", &bytes[..], Origin::FirstJob).unwrap();
    assert_eq!(zipped, plain);
}

#[test]
fn a_workload_is_named_after_its_file() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("KTH-1996.swf.gz");
    std::fs::write(&path, "1 0 -1 9 2\n").expect("a file in it");
    let trace = read(&path, Origin::FirstJob).unwrap();
    assert_eq!(
        trace.workload.name, "KTH-1996",
        "though it is not compressed"
    );
}

#[test]
fn the_bundled_week_is_what_its_description_says() {
    let info = Info::of(&bundled(), Some(2004));
    assert_eq!((info.jobs, info.skipped.total()), (1984, 1));
    assert_eq!((info.processors.max, info.users), (96.0, 37));
    assert!((info.days - 6.9).abs() < 0.05, "{}", info.days);
    assert!((info.processors.mean - 9.8).abs() < 0.05);
    assert_eq!(info.acknowledge, ["Joseph Emeras, SnT"]);
}
