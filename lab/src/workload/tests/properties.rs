use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use super::*;
use crate::outcome::Estimates;

/// A token that may stand in a trace, or almost.
fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (-2_i64..100).prop_map(|n| n.to_string()),
        1 => any::<u64>().prop_map(|n| n.to_string()),
        1 => (0_u32..1_000_000).prop_map(|n| format!("{}.{:06}", n / 7, n)),
        1 => "[;#\t ,.:eE+-]|[0-9]e[0-9]{1,3}|UNITARY|MaxProcs: [0-9]+|\r",
        1 => "\\PC{0,4}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    let line = prop::collection::vec(token(), 0..32).prop_map(|tokens| tokens.join(" "));
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

fn submission() -> impl Strategy<Value = Submission> {
    let longest = LONGEST.as_micros();
    let latest = 50 * longest;
    let span = move || prop_oneof![1..=longest, (1..1_000_u64).prop_map(|s| s * 1_000_000)];
    let who = (any::<u32>(), any::<u32>(), any::<Option<u32>>());
    let times = (0..=latest, span(), prop::option::of(span()));
    (0..u64::MAX, times, 1..=u32::MAX, who).prop_map(|(number, times, processors, who)| {
        Submission {
            number,
            at: Time::from_micros(times.0),
            run_time: Span::from_micros(times.1),
            requested_time: times.2.map(Span::from_micros),
            processors,
            user: who.0,
            group: who.1,
            site: who.2,
            memory: who.2.map(|memory| 1 + u64::from(memory)),
        }
    })
}

/// Asserts what holds for every trace that was read.
fn assert_sound(trace: &Trace) {
    let jobs = &trace.workload.jobs;
    assert!(jobs.is_sorted_by_key(|job| job.at));
    assert_eq!(jobs.first().map(|job| job.at), Some(Time::ZERO));
    assert!(
        jobs.iter()
            .all(|job| job.processors > 0 && !job.run_time.is_zero())
    );
    assert!(
        jobs.iter()
            .all(|job| job.requested_time != Some(Span::ZERO))
    );
}

fn assert_one_line(error: &ReadError) {
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
}

fn assert_harmless(bytes: &[u8]) {
    match read_from("any", bytes, Origin::FirstJob) {
        Ok(trace) => assert_sound(&trace),
        Err(error) => assert_one_line(&error),
    }
}

fn seeded() -> Config {
    Config {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x6772_6964),
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(seeded())]

    #[test]
    fn arbitrary_bytes_are_harmless(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        assert_harmless(&bytes);
        assert_harmless(&[&[0x1f, 0x8b, 8][..], &bytes].concat());
        assert_harmless(&compressed(&bytes));
    }

    #[test]
    fn text_that_is_almost_a_trace_is_harmless(text in text()) {
        assert_harmless(text.as_bytes());
        assert_harmless(format!("# GWF\n{text}").as_bytes());
        assert_harmless(format!("JobID,SubmitTime,RunTime,NProcs\n{}", text.replace(' ', ",")).as_bytes());
    }

    #[test]
    fn any_workload_reads_back_equal(mut jobs in prop::collection::vec(submission(), 1..20)) {
        jobs.sort_by_key(|job| job.at);
        let workload = Workload { name: "any".to_owned(), jobs, ..Workload::default() };
        let mut bytes = Vec::new();
        write(&workload, &Kept::default(), &mut bytes).unwrap();
        let again = read_from("any", &bytes[..], Origin::Source).unwrap();
        prop_assert_eq!(again.workload, workload);
    }

    #[test]
    fn compression_keeps_the_order_and_meets_the_load(
        mut jobs in prop::collection::vec((0..1_000_000_u64, 1..50_u32), 2..40),
        percent in 1..200_u32,
    ) {
        jobs.sort_unstable();
        prop_assume!(jobs.first().map(|job| job.0) != jobs.last().map(|job| job.0));
        let jobs = jobs.iter().zip(1..).map(|(&(at, size), number)| job(number, at, size)).collect();
        let target = TargetLoad {
            capacity: 3,
            load: f64::from(percent) / 100.0,
            by: Estimates::Exact,
            unit: WorkUnit::Processor,
        };
        let transform = Transform { load: Some(target), ..Transform::default() };
        let done = transform.apply(Workload { jobs, ..Workload::default() }).unwrap().workload;
        prop_assert!(done.jobs.is_sorted_by_key(|job| job.at));
        let load = done.load(3, Estimates::Exact).ratio().unwrap();
        prop_assert!((load / target.load - 1.0).abs() < 1e-4, "{load}");
    }
}
