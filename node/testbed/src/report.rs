//! What was done and seen, as tables in Markdown and as JSON.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::json;

use crate::campaign::{Outcome, classes};
use crate::checker::RULES;
use crate::hub::Traffic;

/// Prints the tables of a campaign, and writes `report.json` into its folder.
pub(crate) fn tell(
    folder: &Path,
    outcome: &Outcome,
    traffic: Traffic,
    title: &str,
) -> io::Result<()> {
    let classes = classes();
    let count = |what: &str| outcome.faults.get(what).copied().unwrap_or(0);
    let all: u64 = classes.iter().map(|class| count(class)).sum();
    println!("\n| fault | times |\n|---|---:|");
    for class in &classes {
        println!("| {} | {} |", class.replace('-', " "), count(class));
    }
    println!("| in all | {all} |");
    println!(
        "note: {title}: {} rounds of chaos and calm in {} s; the load of the machine was {}",
        outcome.rounds,
        outcome.took.as_secs(),
        fs::read_to_string("/proc/loadavg")?.trim()
    );
    let mut broken: BTreeMap<&str, u64> = BTreeMap::new();
    for (rule, _) in &outcome.verdict.violations {
        *broken.entry(rule).or_default() += 1;
    }
    println!("\n| rule of the outside checker | violations |\n|---|---:|");
    for rule in RULES {
        println!("| {rule} | {} |", broken.get(rule).copied().unwrap_or(0));
    }
    println!(
        "bar: violations | at most 0 | {}",
        outcome.verdict.violations.len()
    );
    println!("\n| seen | times |\n|---|---:|");
    for (what, count) in &outcome.verdict.counts {
        println!("| {what} | {count} |");
    }
    for (what, count) in outcome
        .faults
        .iter()
        .filter(|(what, _)| !classes.contains(*what))
    {
        println!("| {what} | {count} |");
    }
    for (what, count) in [
        ("packets carried", traffic.packets),
        ("bytes carried", traffic.bytes),
        ("packets lost on purpose", traffic.lost),
        ("packets stopped at partitions", traffic.blocked),
    ] {
        println!("| {what} | {count} |");
    }
    println!();
    for (rule, case) in outcome.verdict.violations.iter().take(40) {
        println!("VIOLATION: {rule}: {case}");
    }
    let report = json!({
        "faults": outcome.faults,
        "seen": outcome.verdict.counts,
        "violations": outcome.verdict.violations,
        "rounds": outcome.rounds,
        "seconds": outcome.took.as_secs(),
        "packets": traffic.packets,
        "bytes": traffic.bytes,
    });
    fs::write(folder.join("report.json"), format!("{report:#}\n"))
}
