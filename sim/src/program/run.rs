//! `gridweave run`.

use std::path::PathBuf;

use serde_json::Value;

use super::Ending;
use super::options::Setup;
use super::session::{Session, Task};
use super::table::{Line, draw};
use crate::experiment::{Results, aggregate, prepare};
use crate::results::{Draft, Summary, write_json};
use crate::scheduler::Scheduler;

/// Replays a workload under one scheduler.
pub(super) fn run(
    session: &Session,
    scheduler: Option<Scheduler>,
    setup: &Setup,
) -> anyhow::Result<Ending> {
    let mut config = setup.config()?;
    if let Some(scheduler) = scheduler {
        config.scheduler = scheduler;
    }
    let prepared = prepare(&config)?;
    let draft = Draft::new(&setup.out())?;
    let several = setup.runs() > 1;
    let mut tasks = Vec::new();
    for number in 0..setup.runs() {
        let seed = config.seed.wrapping_add(u64::from(number));
        let place = if several {
            format!("seed-{seed}")
        } else {
            String::new()
        };
        tasks.push(Task {
            place: PathBuf::from(place),
            prepared: prepared.seeded(seed)?,
        });
    }
    let results: Vec<Results> = session
        .execute(tasks, &draft)?
        .into_iter()
        .flatten()
        .collect();
    session.note_workload(&prepared);
    if results.is_empty() {
        session.note("gridweave: stopped before the first run began; nothing is written");
        return Ok(Ending::Interrupted);
    }
    let summaries: Vec<&Summary> = results.iter().map(|results| &results.summary).collect();
    let joined = join(&summaries)?;
    if several {
        draft.write("config.toml", |file| {
            std::io::Write::write_all(file, prepared.config.to_toml().as_bytes())
        })?;
        draft.write("summary.json", |file| write_json(&joined, file))?;
    }
    let ending = ending(session, &summaries);
    let line = Line {
        name: config.scheduler.to_string(),
        summaries,
        ratios: Vec::new(),
    };
    session.say(&format!(
        "{}: {} jobs on {} nodes",
        prepared.workload.name,
        prepared.workload.jobs.len(),
        prepared.grid.len()
    ));
    session.say(&draw(&[line], None));
    session.tell(&joined)?;
    session.point_to(&draft.publish()?);
    Ok(ending)
}

/// The summary of one run as it is, of several as means with confidence intervals.
pub(super) fn join(summaries: &[&Summary]) -> anyhow::Result<Value> {
    let values = summaries
        .iter()
        .map(serde_json::to_value)
        .collect::<Result<Vec<Value>, _>>()?;
    Ok(match values.as_slice() {
        [one] => one.clone(),
        several => aggregate(several),
    })
}

/// What these runs mean for the exit status.
pub(super) fn ending(session: &Session, summaries: &[&Summary]) -> Ending {
    let mut ending = Ending::Done;
    for summary in summaries {
        if summary.violations > 0 {
            session.note(&format!(
                "gridweave: {} with seed {} broke an invariant or lost a job, {} times in all",
                summary.scheduler, summary.seed, summary.violations
            ));
            ending = Ending::Broken;
        }
    }
    if ending == Ending::Done && session.stopped() {
        ending = Ending::Interrupted;
    }
    ending
}
