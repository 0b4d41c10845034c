//! How an attempt is submitted.

use std::path::Path;

use gridweave_core::id::NodeId;
use gridweave_core::time::Span;

use super::command::quoted;
use super::shape::Shape;
use crate::executor::{AttemptId, Needs};
use crate::settings::Slurm as Settings;

/// What names of attempts begin with.
const PREFIX: &str = "gw-";

/// How much longer than the job's own time limit Slurm's is: the supervisor ends it first, and says why.
const GRACE: Span = Span::from_secs(30);

/// The name under which an attempt is queued, and found again. It has the node, because attempts at one job by two nodes
/// may have one number.
pub(super) fn name(attempt: AttemptId, node: NodeId) -> String {
    format!("{PREFIX}{attempt}-{}", node.get())
}

/// The attempt that this node queued under this name.
pub(super) fn attempt_of(name: &str, node: NodeId) -> Option<AttemptId> {
    let (attempt, by) = name.strip_prefix(PREFIX)?.rsplit_once('-')?;
    (by.parse() == Ok(node.get())).then(|| AttemptId::from_name(attempt))?
}

/// The batch script: the supervisor is its first command, and its only one.
pub(super) fn script(program: &Path, folder: &Path) -> String {
    let (program, folder) = (quoted(program), quoted(folder));
    format!("#!/bin/sh\nexec {program} begin-at-site {folder}\n")
}

/// The arguments of `sbatch`.
pub(super) fn arguments(
    name: &str,
    needs: &Needs,
    folder: &Path,
    shape: &Shape,
    settings: &Settings,
) -> Vec<String> {
    let minutes = (needs.length + GRACE).as_micros().div_ceil(60_000_000);
    let mut words = vec![
        "--parsable".to_owned(),
        format!("--job-name={name}"),
        "--no-requeue".to_owned(),
        format!("--partition={}", shape.partition),
        "--nodes=1".to_owned(),
        "--ntasks=1".to_owned(),
        format!("--cpus-per-task={}", needs.cores),
        format!("--time={}", minutes.min(limit(shape))),
        "--chdir=/".to_owned(),
        format!("--output={}", folder.join("slurm.log").display()),
    ];
    let mut more = |option: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("--{option}={value}")));
    };
    more("account", settings.account.clone());
    more("qos", settings.qos.clone());
    let some = |number: u64| (number > 0).then_some(number);
    more(
        "mem",
        some(needs.memory).map(|gigabytes| format!("{gigabytes}G")),
    );
    more(
        "gres",
        some(needs.accelerators).map(|count| format!("gpu:{count}")),
    );
    words.extend(settings.options.iter().cloned());
    words.push(folder.join("script").display().to_string());
    words
}

/// The partition's own limit in minutes.
fn limit(shape: &Shape) -> u64 {
    let longest = shape.longest.map(|micros| micros / 60_000_000);
    longest.unwrap_or(u64::MAX).max(1)
}
