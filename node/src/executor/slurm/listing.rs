//! What `squeue` prints, as values. Users of the site choose the names of their jobs, and nothing else in a line.

use std::num::NonZeroU32;

use gridweave_core::time::{Span, Time};

/// The most bytes of an answer: a line for each of a hundred thousand jobs.
pub(super) const MOST: usize = 16 << 20;

/// A job in the site's queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Listed {
    /// As `7`, or `7_1` for a task of an array. Ids are used again: only a name says which job it is.
    pub(super) id: String,
    pub(super) state: State,
    pub(super) partition: String,
    pub(super) processors: NonZeroU32,
    /// The time limit; `None` if there is none.
    pub(super) limit: Option<Span>,
    pub(super) submitted: Time,
    /// When it started, or when Slurm expects that.
    pub(super) start: Option<Time>,
    pub(super) priority: u64,
    pub(super) user: String,
    pub(super) name: String,
}

/// How a job is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// It waits for processors.
    Waiting,
    /// It waits for something else: it is held, or for another job, or over a limit of its user.
    Held(Hold),
    /// It has processors.
    Running,
    /// It has ended, and its processors are being cleaned up.
    Ending,
    /// It has ended.
    Over,
}

/// What holds a job back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hold {
    /// `scontrol hold`.
    ByHand,
    /// Anything else.
    Otherwise,
}

/// The format for `squeue -o`. Each line begins with a word that users of the site do not know, so that no name with a
/// line break looks like a line.
pub(super) fn format(nonce: &str) -> String {
    format!("{nonce}|%i|%t|%P|%C|%l|%V|%S|%Q|%u|%r|%j")
}

/// Reads the answer. Lines that are not in that format are left out.
pub(super) fn parse(text: &str, nonce: &str) -> Vec<Listed> {
    let lines = text.lines();
    let lines = lines.filter_map(|line| line.strip_prefix(nonce)?.strip_prefix('|'));
    lines.filter_map(line).collect()
}

fn line(line: &str) -> Option<Listed> {
    let mut fields = line.splitn(11, '|');
    let id = fields.next()?.to_owned();
    let state = fields.next()?;
    let partition = fields.next()?.to_owned();
    let processors = fields.next()?.parse().ok()?;
    let limit = limit(fields.next()?);
    let submitted = seconds(fields.next()?)?;
    let start = seconds(fields.next()?);
    let priority = fields.next()?.parse().unwrap_or(0);
    let user = fields.next()?.to_owned();
    let state = state_of(state, fields.next()?);
    Some(Listed {
        id,
        state,
        partition,
        processors,
        limit,
        submitted,
        start,
        priority,
        user,
        name: fields.next()?.to_owned(),
    })
}

/// Seconds since 1970: `SLURM_TIME_FORMAT` is `%s`.
fn seconds(text: &str) -> Option<Time> {
    let seconds: u64 = text.parse().ok()?;
    Some(Time::from_micros(seconds.checked_mul(1_000_000)?))
}

/// A time limit, as `5:00`, `1:00:00` or `2-00:00:00`; `None` for `UNLIMITED` and what else is no length.
pub fn limit(text: &str) -> Option<Span> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (days.parse().ok()?, rest),
        None => (0_u64, text),
    };
    let mut seconds = 0_u64;
    for part in rest.split(':') {
        let part: u64 = part.parse().ok()?;
        seconds = seconds.checked_mul(60)?.checked_add(part)?;
    }
    // `1-02` is a day and two hours; without a colon, minutes are meant.
    let missing = match (text.contains('-'), rest.matches(':').count()) {
        (true, 0) => 3600,
        (true, 1) | (false, 0) => 60,
        _ => 1,
    };
    let seconds = seconds.checked_mul(missing)?;
    let all = days.checked_mul(86_400)?.checked_add(seconds)?;
    Some(Span::from_micros(all.checked_mul(1_000_000)?))
}

fn state_of(state: &str, reason: &str) -> State {
    match state {
        "PD" | "RQ" | "RS" | "RF" | "SE" | "RV" => waiting(reason),
        "R" | "CF" | "S" | "ST" | "RH" | "RD" | "SI" | "SO" => State::Running,
        "CG" => State::Ending,
        _ => State::Over,
    }
}

/// Only a job that waits for processors competes for them.
fn waiting(reason: &str) -> State {
    const OTHERWISE: [&str; 16] = [
        "Dependency",
        "BeginTime",
        "Partition",
        "QOS",
        "Qos",
        "Assoc",
        "Association",
        "Account",
        "BadConstraints",
        "JobArrayTaskLimit",
        "MaxJob",
        "MaxCpu",
        "MaxMem",
        "ReqNodeNotAvail",
        "Reservation",
        "InvalidAccount",
    ];
    if reason.starts_with("JobHeld") {
        State::Held(Hold::ByHand)
    } else if OTHERWISE.iter().any(|word| reason.starts_with(word)) {
        State::Held(Hold::Otherwise)
    } else {
        State::Waiting
    }
}
