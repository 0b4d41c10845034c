mod formats;
mod generators;
mod hostile;
mod properties;
mod transforms;
mod written;

use std::io::Write;

use gridweave_core::time::{Span, Time};

use super::*;

/// Reads a trace from text, from its first job.
fn trace(text: &str) -> Trace {
    read_from("test", text.as_bytes(), Origin::FirstJob).expect("a trace with a usable job")
}

fn refusal(bytes: &[u8]) -> ReadError {
    read_from("test", bytes, Origin::FirstJob).expect_err("nothing to read here")
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory takes any bytes");
    encoder.finish().expect("memory takes any bytes")
}

/// A job of one second on some processors.
fn job(number: u64, at: u64, processors: u32) -> Submission {
    Submission::new(number, Time::from_secs(at), Span::from_secs(1), processors)
}

fn numbers(workload: &Workload) -> Vec<u64> {
    workload.jobs.iter().map(|job| job.number).collect()
}
