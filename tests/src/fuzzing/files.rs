//! Files that people give to the simulator: traces and configurations.

use gridweave_lab::config::{Config, Source};
use gridweave_lab::workload::{Kept, Origin, read_from, write};

/// Reads bytes as a trace in the Standard Workload Format. Returns the number of jobs.
pub fn swf(bytes: &[u8]) -> usize {
    trace(&[b";\n", bytes].concat()) + trace(bytes)
}

/// Reads bytes as a trace in the Grid Workload Format. Returns the number of jobs.
pub fn gwf(bytes: &[u8]) -> usize {
    trace(&[b"#\n", bytes].concat())
}

/// Jobs must be in order, and be the same after the trace was written and read again.
fn trace(bytes: &[u8]) -> usize {
    let Ok(trace) = read_from("fuzzed", bytes, Origin::FirstJob) else {
        return 0;
    };
    let jobs = &trace.workload.jobs;
    assert!(jobs.is_sorted_by_key(|job| job.at), "jobs are in order");
    let mut text = Vec::new();
    write(&trace.workload, &Kept::default(), &mut text).expect("memory takes any bytes");
    let again = read_from("fuzzed", &text[..], Origin::Source).expect("what is written is a trace");
    assert_eq!(again.workload.jobs, *jobs);
    assert_eq!(again.skipped.total(), 0);
    jobs.len()
}

/// Returns whether bytes are a configuration. If so, it must be the same after it was written and read again.
pub fn config(bytes: &[u8]) -> bool {
    let Ok(text) = core::str::from_utf8(bytes) else {
        return false;
    };
    let Ok(mut config) = Config::parse(text) else {
        return false;
    };
    let written = config.to_toml().expect("what is read can be written");
    let again = Config::parse(&written).expect("what is written can be read");
    assert_eq!(again.to_toml().as_ref(), Ok(&written));
    // Generators that are not used are not written.
    let jobs = &mut config.workload;
    if jobs.source != Source::Aria {
        jobs.aria = Default::default();
    }
    if jobs.source != Source::Desktop {
        jobs.desktop = Default::default();
    }
    if jobs.source != Source::Grid5000Like {
        jobs.grid5000_like = Default::default();
    }
    // A configuration with a NaN is not equal to itself.
    if config == config.clone() {
        assert_eq!(again, config);
    }
    true
}
