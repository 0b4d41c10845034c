//! Judges a folder of the bed from outside. It shares no code with the agent: it reads what programs wrote when they
//! ran, what users were told, and what was broken when.
//!
//! | file | each line |
//! |---|---|
//! | `submitted` | TIME JOB NODE RANKS SECONDS RETRY TIMES: a submission that an agent accepted |
//! | `ran/NODE/ran` | JOB ATTEMPT RANK WHAT TIME: of a program |
//! | `told/NODE` | TIME EVENT: an event that an agent told its users |
//! | `rows` | TIME NODE ROW: what an agent said of a job when asked |
//! | `faults` | TIME FAULT COMPUTER NODE: what was broken |
//! | `strangers` | TIME KIND NODE WORD: what became of strangers |
//!
//! Times are microseconds since 1970 by the one clock of the machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

/// What the rules allow for.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Whether a node runs one job at a time.
    exclusive: bool,
    /// How much longer than its time a program may run until it is dead, on a busy machine.
    late: u64,
    /// How far apart the ranks of a gang may begin.
    apart: u64,
    /// The longest that a fault lasts.
    outage: u64,
    /// A job whose node is not heard does not begin again before this time is over.
    silence: u64,
}

impl Limits {
    pub(crate) const fn of(exclusive: bool) -> Self {
        Self {
            exclusive,
            late: 3_000_000,
            apart: 3_000_000,
            outage: 25_000_000,
            silence: 500_000,
        }
    }
}

/// What was seen.
#[derive(Default)]
pub(crate) struct Verdict {
    /// What must not be: the rule, and the case.
    pub(crate) violations: Vec<(&'static str, String)>,
    pub(crate) counts: BTreeMap<&'static str, u64>,
}

impl Verdict {
    fn breaks(&mut self, rule: &'static str, case: String) {
        self.violations.push((rule, case));
    }

    fn count(&mut self, what: &'static str, more: u64) {
        *self.counts.entry(what).or_default() += more;
    }
}

const LOST: &str = "nothing that was accepted is lost";
const LAST_WORD: &str = "each submission gets one last word, and keeps it";
const DONE: &str = "what is told done ran to its end, on all ranks at once";
const EXCLUSIVE: &str = "nothing exclusive overlaps";
const AT_A_TIME: &str = "no two attempts at a job run at a time";
const TWICE: &str = "no job runs to its end twice";
const AGAIN: &str = "a job that may not run again does not";
const TOO_LONG: &str = "no program runs longer than it may";
const STRANGER: &str = "no stranger is let in";

/// The rules, in the order of the report.
pub(crate) const RULES: [&str; 9] = [
    LOST, LAST_WORD, DONE, EXCLUSIVE, AT_A_TIME, TWICE, AGAIN, TOO_LONG, STRANGER,
];

/// What is counted where an end could not be told to the submitter before it counted as lost.
const UNTOLD: &str =
    "ends that could not be told for a fault; the job ran again, as its user allows";

struct Submission {
    node: String,
    ranks: u64,
    seconds: f64,
    retry: String,
    times: u64,
}

/// One rank of an attempt, as its program saw it.
#[derive(Clone, Default)]
pub(crate) struct Run {
    pub(crate) node: String,
    pub(crate) begins: u64,
    /// The last sign of life.
    pub(crate) last: u64,
    pub(crate) ended: bool,
}

type Runs = BTreeMap<u64, BTreeMap<u64, BTreeMap<u64, Run>>>;

fn lines(file: &Path) -> io::Result<Vec<String>> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        text => Ok(text?.lines().map(str::to_owned).collect()),
    }
}

fn files(folder: &Path) -> io::Result<Vec<(String, std::path::PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        found.push((
            entry.file_name().to_string_lossy().into_owned(),
            entry.path(),
        ));
    }
    found.sort();
    Ok(found)
}

fn bad(file: &str, line: &str) -> io::Error {
    io::Error::other(format!("{file} has a line that is not understood: {line}"))
}

fn number(text: &str) -> Option<u64> {
    text.trim_start_matches('j').parse().ok()
}

fn submissions(folder: &Path) -> io::Result<BTreeMap<u64, Submission>> {
    let mut all = BTreeMap::new();
    for line in lines(&folder.join("submitted"))? {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, job, node, ranks, seconds, retry, times] = words[..] else {
            return Err(bad("submitted", &line));
        };
        let parsed = (number(job), ranks.parse(), seconds.parse(), times.parse());
        let (Some(job), Ok(ranks), Ok(seconds), Ok(times)) = parsed else {
            return Err(bad("submitted", &line));
        };
        let submission = Submission {
            node: node.to_owned(),
            ranks,
            seconds,
            retry: retry.to_owned(),
            times,
        };
        all.insert(job, submission);
    }
    Ok(all)
}

fn runs(folder: &Path, verdict: &mut Verdict) -> io::Result<Runs> {
    let mut all = Runs::new();
    for (node, home) in files(&folder.join("ran"))? {
        for line in lines(&home.join("ran"))? {
            let words: Vec<&str> = line.split(' ').collect();
            let [job, attempt, rank, what, at] = words[..] else {
                return Err(bad("ran", &line));
            };
            let parsed = (job.parse(), attempt.parse(), rank.parse(), at.parse());
            let (Ok(job), Ok(attempt), Ok(rank), Ok(at)) = parsed else {
                return Err(bad("ran", &line));
            };
            let ranks = all.entry(job).or_default().entry(attempt).or_default();
            if what == "begins"
                && let Some(earlier) = ranks.get(&rank)
            {
                let case = format!(
                    "j{job}, attempt {attempt}, rank {rank} began at {} and at {node}",
                    earlier.node
                );
                verdict.breaks(AT_A_TIME, case);
            }
            let run = ranks.entry(rank).or_insert_with(|| Run {
                node: node.clone(),
                begins: at,
                ..Run::default()
            });
            run.last = run.last.max(at);
            run.ended |= what == "ends";
        }
    }
    Ok(all)
}

/// The attempts at a job until now, and their ranks.
pub(crate) fn runs_of(folder: &Path, job: u64) -> io::Result<BTreeMap<u64, BTreeMap<u64, Run>>> {
    let mut all = runs(folder, &mut Verdict::default())?;
    Ok(all.remove(&job).unwrap_or_default())
}

/// The last state of each job, by what agents said.
fn rows(folder: &Path, verdict: &mut Verdict) -> io::Result<BTreeMap<u64, Value>> {
    let mut last: BTreeMap<u64, Value> = BTreeMap::new();
    for line in lines(&folder.join("rows"))? {
        let mut words = line.splitn(3, ' ');
        let row = words.nth(2).ok_or_else(|| bad("rows", &line))?;
        let row: Value = serde_json::from_str(row)?;
        let Some(job) = row.get("job").and_then(Value::as_str).and_then(number) else {
            return Err(bad("rows", &line));
        };
        if let Some(earlier) = last.get(&job)
            && is_last(earlier)
            && earlier.get("phase") != row.get("phase")
        {
            let case = format!("j{job} was {} and then {}", phase(earlier), phase(&row));
            verdict.breaks(LAST_WORD, case);
        }
        last.insert(job, row);
    }
    Ok(last)
}

fn phase(row: &Value) -> &str {
    row.get("phase")
        .and_then(Value::as_str)
        .unwrap_or("unknown")
}

fn is_last(row: &Value) -> bool {
    matches!(phase(row), "done" | "failed" | "cancelled")
}

/// The last words that agents told while users listened, as phases. An agent that was killed may tell one again.
fn last_words(folder: &Path) -> io::Result<BTreeMap<u64, Vec<&'static str>>> {
    let mut all: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for (_, file) in files(&folder.join("told"))? {
        for line in lines(&file)? {
            let Some((_, event)) = line.split_once(' ') else {
                continue;
            };
            // A line may be cut short where an agent was killed.
            let Ok(event) = serde_json::from_str::<Value>(event) else {
                continue;
            };
            let word = match event.get("event").and_then(Value::as_str) {
                Some("finished") => "done",
                Some("failed") => "failed",
                Some("cancelled") => "cancelled",
                _ => continue,
            };
            if let Some(job) = event.get("job").and_then(Value::as_str).and_then(number) {
                all.entry(job).or_default().push(word);
            }
        }
    }
    Ok(all)
}

struct Fault {
    at: u64,
    what: String,
    node: String,
}

fn faults(folder: &Path) -> io::Result<Vec<Fault>> {
    let read = |line: String| {
        let words: Vec<&str> = line.split(' ').collect();
        let [at, what, _, node] = words[..] else {
            return Err(bad("faults", &line));
        };
        let at = at.parse().map_err(|_| bad("faults", &line))?;
        let (what, node) = (what.to_owned(), node.to_owned());
        Ok(Fault { at, what, node })
    };
    lines(&folder.join("faults"))?
        .into_iter()
        .map(read)
        .collect()
}

/// Judges what happened in this folder until now, when all should be quiet.
pub(crate) fn judge(folder: &Path, limits: Limits) -> io::Result<Verdict> {
    let mut verdict = Verdict::default();
    let submitted = submissions(folder)?;
    let runs = runs(folder, &mut verdict)?;
    let rows = rows(folder, &mut verdict)?;
    let told = last_words(folder)?;
    let faults = faults(folder)?;
    let gone = faults.iter().filter(|fault| fault.what == "store-damaged");
    let gone: BTreeSet<&str> = gone.map(|fault| fault.node.as_str()).collect();
    judge_words(&mut verdict, &submitted, &rows, &told, &gone);
    for (job, attempts) in &runs {
        let row = rows.get(job);
        judge_job(
            &mut verdict,
            *job,
            attempts,
            submitted.get(job),
            row,
            &faults,
            limits,
        );
    }
    for (job, row) in &rows {
        if phase(row) == "done" && !runs.contains_key(job) {
            verdict.breaks(DONE, format!("j{job} is told done and never began"));
        }
    }
    if limits.exclusive {
        judge_nodes(&mut verdict, &runs);
    }
    for line in lines(&folder.join("strangers"))? {
        verdict.count("strangers", 1);
        if line.ends_with(" admitted") {
            verdict.breaks(STRANGER, line);
        } else if line.ends_with(" refused") {
            verdict.count("strangers that were refused", 1);
        }
    }
    Ok(verdict)
}

fn judge_words(
    verdict: &mut Verdict,
    submitted: &BTreeMap<u64, Submission>,
    rows: &BTreeMap<u64, Value>,
    told: &BTreeMap<u64, Vec<&'static str>>,
    gone: &BTreeSet<&str>,
) {
    verdict.count("jobs accepted", submitted.len() as u64);
    for (job, submission) in submitted {
        if gone.contains(submission.node.as_str()) {
            verdict.count("jobs of a node whose disk was lost", 1);
            continue;
        }
        match rows.get(job) {
            None => verdict.breaks(LOST, format!("j{job} of {} is not known", submission.node)),
            Some(row) if !is_last(row) => {
                let case = format!("j{job} of {} is {} for ever", submission.node, phase(row));
                verdict.breaks(LOST, case);
            }
            Some(row) => verdict.count(
                match phase(row) {
                    "done" => "jobs told done",
                    "failed" => "jobs told failed",
                    _ => "jobs told cancelled",
                },
                1,
            ),
        }
    }
    for (job, words) in told {
        verdict.count("last words heard", words.len() as u64);
        verdict.count("of these, told again after a kill", words.len() as u64 - 1);
        let last = rows.get(job).filter(|row| is_last(row)).map(phase);
        let others = words
            .iter()
            .filter(|word| last.is_some_and(|last| last != **word));
        for word in others {
            let case = format!(
                "j{job} was told {word}, and is {}",
                last.unwrap_or_default()
            );
            verdict.breaks(LAST_WORD, case);
        }
    }
}

fn judge_job(
    verdict: &mut Verdict,
    job: u64,
    attempts: &BTreeMap<u64, BTreeMap<u64, Run>>,
    submission: Option<&Submission>,
    row: Option<&Value>,
    faults: &[Fault],
    limits: Limits,
) {
    // Of a submission without an answer the row tells how many ranks it has.
    let ranks = submission.map(|submission| submission.ranks);
    let ranks = ranks.or_else(|| row?.get("nodes")?.as_u64()).unwrap_or(1);
    let mut complete = Vec::new();
    verdict.count("attempts that began", attempts.len() as u64);
    for (attempt, runs) in attempts {
        let all_began = runs.len() as u64 == ranks;
        let all_ended = all_began && runs.values().all(|run| run.ended);
        let together = {
            let last_begin = runs.values().map(|run| run.begins).max();
            let first_end = runs.values().map(|run| run.last).min();
            let first_begin = runs.values().map(|run| run.begins).min();
            last_begin <= first_end
                || last_begin
                    .zip(first_begin)
                    .is_some_and(|(last, first)| last - first <= limits.apart)
        };
        if ranks > 1 {
            verdict.count("attempts at gangs", 1);
            verdict.count(
                "of these, not begun on all ranks, and given up",
                u64::from(!all_began),
            );
        }
        if all_ended {
            complete.push((
                *attempt,
                runs.values().map(|run| run.last).max().unwrap_or(0),
            ));
            if !together {
                verdict.breaks(
                    DONE,
                    format!("the ranks of j{job}, attempt {attempt}, did not run together"),
                );
            }
        }
        for (rank, run) in runs {
            let ran = run.last - run.begins;
            let may = submission.map_or(u64::MAX, |job| (job.seconds * 1e6) as u64);
            if ran > may.saturating_add(limits.late) {
                let case =
                    format!("j{job}, attempt {attempt}, rank {rank} ran {ran} us instead of {may}");
                verdict.breaks(TOO_LONG, case);
            }
        }
    }
    verdict.count("attempts that ran to their end", complete.len() as u64);
    for (attempt, runs) in attempts {
        for (later, others) in attempts.range(attempt + 1..) {
            let meets = |run: &Run| {
                let mut others = others.values();
                others.any(|other| run.begins < other.last && other.begins < run.last)
            };
            if runs.values().any(meets) {
                let case = format!("attempts {attempt} and {later} at j{job} ran at a time");
                verdict.breaks(AT_A_TIME, case);
            }
        }
    }
    if complete.is_empty() && row.is_some_and(|row| phase(row) == "done") {
        verdict.breaks(
            DONE,
            format!("j{job} is told done, and no attempt ran to its end"),
        );
    }
    if !complete.is_empty() && row.is_some_and(|row| phase(row) == "failed") {
        verdict.count("jobs told failed that ran to their end unseen", 1);
    }
    let may_run_again = submission.is_none_or(|submission| submission.retry != "never");
    if attempts.len() > 1 && !may_run_again {
        verdict.breaks(
            AGAIN,
            format!("{} attempts at j{job} began", attempts.len()),
        );
    }
    if let Some(submission) = submission
        && attempts.len() as u64 > submission.times + 1
    {
        let case = format!(
            "{} attempts at j{job} began, {} may",
            attempts.len(),
            submission.times + 1
        );
        verdict.breaks(AGAIN, case);
    }
    for (attempt, end) in complete.iter().rev().skip(1) {
        let nodes = attempts.get(attempt).into_iter().flat_map(BTreeMap::values);
        let nodes = nodes.map(|run| run.node.as_str());
        let nodes: BTreeSet<&str> = nodes
            .chain(submission.map(|job| job.node.as_str()))
            .collect();
        let later = attempts.range(attempt + 1..).next();
        let later = later.and_then(|(_, runs)| runs.values().map(|run| run.begins).min());
        let later = later.unwrap_or(*end);
        let hides = |fault: &Fault| {
            let is_here = nodes.contains(fault.node.as_str()) || fault.what == "delay-and-loss";
            is_here && (end.saturating_sub(limits.outage)..later).contains(&fault.at)
        };
        // Its last words could not be told in time, and its user allows that it runs again.
        let is_hidden = faults.iter().any(hides) && later > end + limits.silence;
        match is_hidden && may_run_again {
            true => verdict.count(UNTOLD, 1),
            false => verdict.breaks(
                TWICE,
                format!("j{job} ran to its end in attempt {attempt} and later"),
            ),
        }
    }
}

/// No two jobs ran on a node at a time.
fn judge_nodes(verdict: &mut Verdict, runs: &Runs) {
    let mut by_node: BTreeMap<&str, Vec<(u64, u64, u64, u64)>> = BTreeMap::new();
    for (job, attempts) in runs {
        for (attempt, ranks) in attempts {
            for run in ranks.values() {
                let runs = by_node.entry(&run.node).or_default();
                runs.push((run.begins, run.last, *job, *attempt));
            }
        }
    }
    for (node, mut runs) in by_node {
        runs.sort_unstable();
        let mut busy: Option<(u64, u64, u64)> = None;
        for (begins, last, job, attempt) in runs {
            if let Some((until, other, other_attempt)) = busy
                && begins < until
            {
                let case = format!(
                    "j{other}-{other_attempt} and j{job}-{attempt} ran on {node} at a time"
                );
                verdict.breaks(EXCLUSIVE, case);
            }
            if busy.is_none_or(|(until, ..)| until < last) {
                busy = Some((last, job, attempt));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A history that breaks no rule: a gang of two that ran again after a loss, as its user allows.
    const GOOD: [(&str, &str); 5] = [
        ("submitted", "1 j7 a 2 2.0 lost 1\n2 j8 a 1 2.0 never 0\n"),
        (
            "ran/a/ran",
            "7 1 0 begins 1000000\n7 1 0 alive 1500000\n7 2 0 begins 5000000\n7 2 0 ends 6000000\n\
             8 1 0 begins 7000000\n8 1 0 ends 8000000\n",
        ),
        (
            "ran/b/ran",
            "7 1 1 begins 1000000\n7 1 1 alive 1400000\n7 2 1 begins 5000000\n7 2 1 ends 6000000\n",
        ),
        (
            "told/a",
            "9 {\"job\":\"j7\",\"event\":\"finished\"}\n9 {\"job\":\"j8\",\"event\":\"finished\"}\n",
        ),
        (
            "rows",
            "9 a {\"job\":\"j7\",\"phase\":\"done\"}\n9 a {\"job\":\"j8\",\"phase\":\"done\"}\n",
        ),
    ];

    /// The rules that this history breaks, with more lines for some files.
    fn broken(more: &[(&str, &str)]) -> Vec<&'static str> {
        let folder = std::env::temp_dir().join(format!(
            "gridweave-testbed-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        for part in ["ran/a", "ran/b", "told"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        let files = GOOD
            .iter()
            .map(|(name, _)| *name)
            .chain(["strangers", "faults"]);
        for name in files {
            let all = GOOD.iter().chain(more).filter(|(file, _)| *file == name);
            let text: String = all.map(|(_, text)| *text).collect();
            fs::write(folder.join(name), text).unwrap();
        }
        let verdict = judge(&folder, Limits::of(true)).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        verdict
            .violations
            .into_iter()
            .map(|(rule, _)| rule)
            .collect()
    }

    #[test]
    fn a_history_without_mistakes_breaks_no_rule() {
        assert_eq!(broken(&[]), [""; 0]);
    }

    #[test]
    fn each_mistake_breaks_its_rule() {
        let cases: [(&str, &[(&str, &str)]); 12] = [
            (LOST, &[("submitted", "3 j9 a 1 2.0 never 0\n")]),
            (
                LOST,
                &[
                    ("submitted", "3 j9 a 1 2.0 never 0\n"),
                    ("rows", "9 a {\"job\":\"j9\",\"phase\":\"placed\"}\n"),
                ],
            ),
            (
                LAST_WORD,
                &[("rows", "10 a {\"job\":\"j8\",\"phase\":\"failed\"}\n")],
            ),
            (
                LAST_WORD,
                &[("told/a", "9 {\"job\":\"j8\",\"event\":\"failed\"}\n")],
            ),
            (
                DONE,
                &[("rows", "9 a {\"job\":\"j9\",\"phase\":\"done\"}\n")],
            ),
            (
                DONE,
                &[
                    ("submitted", "3 j9 a 2 2.0 never 0\n"),
                    ("ran/a/ran", "9 1 0 begins 9000000\n9 1 0 ends 9500000\n"),
                    ("rows", "9 a {\"job\":\"j9\",\"phase\":\"done\"}\n"),
                ],
            ),
            (
                EXCLUSIVE,
                &[
                    ("ran/a/ran", "9 1 0 begins 7500000\n9 1 0 alive 8500000\n"),
                    ("rows", "9 a {\"job\":\"j9\",\"phase\":\"failed\"}\n"),
                ],
            ),
            (
                AT_A_TIME,
                &[("ran/b/ran", "7 3 0 begins 5500000\n7 3 0 alive 5600000\n")],
            ),
            (
                TWICE,
                &[(
                    "ran/b/ran",
                    "7 3 0 begins 6500000\n7 3 0 ends 6600000\n7 3 1 begins 6500000\n7 3 1 ends 6600000\n",
                )],
            ),
            (
                AGAIN,
                &[("ran/b/ran", "8 2 0 begins 9500000\n8 2 0 alive 9600000\n")],
            ),
            (TOO_LONG, &[("ran/a/ran", "8 1 0 ends 12500000\n")]),
            (STRANGER, &[("strangers", "1 other-node a admitted\n")]),
        ];
        for (rule, more) in cases {
            let broken = broken(more);
            assert!(broken.contains(&rule), "{rule} by {more:?}: {broken:?}");
        }
    }

    #[test]
    fn what_was_lost_with_its_disk_is_not_missed() {
        let more = [
            ("submitted", "3 j9 b 1 2.0 never 0\n"),
            ("faults", "4 store-damaged 1 b\n"),
        ];
        assert_eq!(broken(&more), [""; 0]);
    }
}
