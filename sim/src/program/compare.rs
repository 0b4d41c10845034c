//! `gridweave compare`, and what the program does without a command.

use std::path::{Path, PathBuf};

use anyhow::bail;
use serde_json::{Map, Value};

use super::Ending;
use super::options::Setup;
use super::run::{ending, join};
use super::session::{Session, Task};
use super::table::{Line, draw};
use crate::central::Central;
use crate::config::{Config, Shape};
use crate::experiment::{Prepared, Results, prepare, wait_ratio};
use crate::grid::Grid;
use crate::results::{Draft, Summary, write_json};
use crate::scheduler::Scheduler;

/// One table: some schedulers on the same jobs.
struct Table {
    name: &'static str,
    title: String,
    prepared: Prepared,
    schedulers: Vec<Scheduler>,
}

/// Replays a workload under several schedulers.
pub(super) fn compare(
    session: &Session,
    setup: &Setup,
    chosen: &[Scheduler],
) -> anyhow::Result<Ending> {
    let config = setup.config()?;
    let tables = tables(&config, chosen)?;
    let draft = Draft::new(&setup.out())?;
    let mut tasks = Vec::new();
    for table in &tables {
        for &scheduler in &table.schedulers {
            for number in 0..setup.runs() {
                tasks.push(task(table, scheduler, number, setup.runs() > 1)?);
            }
        }
    }
    let workloads: Vec<_> = tasks
        .iter()
        .map(|task| task.prepared.workload.clone())
        .collect();
    let results = session.execute(tasks, &draft)?;
    if let Some(table) = tables.first() {
        session.note_workload(&table.prepared);
    }
    if results.iter().all(Option::is_none) {
        session.note("gridweave: stopped before the first run began; nothing is written");
        return Ok(Ending::Interrupted);
    }

    let mut report = Map::new();
    let mut worst = Ending::Done;
    let (mut at, runs) = (0, setup.runs() as usize);
    for table in &tables {
        // The results of this table: runs of the first scheduler, runs of the second, and so on.
        let count = table.schedulers.len() * runs;
        let (results, workloads) = (&results[at..at + count], &workloads[at..at + count]);
        at += count;
        let reference = reference(&table.schedulers);
        let against = &results[reference * runs..(reference + 1) * runs];
        let mut lines = Vec::new();
        let mut rows = Vec::new();
        for (index, scheduler) in table.schedulers.iter().enumerate() {
            let own = &results[index * runs..(index + 1) * runs];
            let own_workloads = &workloads[index * runs..(index + 1) * runs];
            let summaries: Vec<&Summary> = own
                .iter()
                .flatten()
                .map(|results| &results.summary)
                .collect();
            if summaries.is_empty() {
                continue;
            }
            let ratios = own_workloads.iter().zip(own.iter().zip(against));
            let ratios: Vec<f64> = ratios
                .filter_map(|(workload, pair)| {
                    let (Some(one), Some(other)): (&Option<Results>, &Option<Results>) = pair
                    else {
                        return None;
                    };
                    wait_ratio(workload, &one.run, &other.run)
                })
                .collect();
            match ending(session, &summaries) {
                Ending::Done => {}
                other => {
                    worst = if worst == Ending::Broken {
                        worst
                    } else {
                        other
                    }
                }
            }
            rows.push(join(&summaries)?);
            lines.push(Line {
                name: scheduler.to_string(),
                summaries,
                ratios,
            });
        }
        report.insert(table.name.into(), Value::Array(rows));
        let reference = table
            .schedulers
            .get(reference)
            .map(|scheduler| scheduler.name());
        session.say(&format!("{}\n{}", table.title, draw(&lines, reference)));
    }
    if session.stopped() && worst == Ending::Done {
        worst = Ending::Interrupted;
    }
    report.insert("partial".into(), Value::Bool(session.stopped()));
    let report = Value::Object(report);
    draft.write("summary.json", |file| write_json(&report, file))?;
    draft.write("config.toml", |file| {
        std::io::Write::write_all(file, config.to_toml().as_bytes())
    })?;
    session.tell(&report)?;
    session.point_to(&draft.publish()?);
    Ok(worst)
}

fn task(table: &Table, scheduler: Scheduler, number: u32, several: bool) -> anyhow::Result<Task> {
    let prepared = table.prepared.under(scheduler);
    let seed = prepared.config.seed.wrapping_add(u64::from(number));
    let mut place = Path::new(table.name).join(scheduler.name());
    if several {
        place.push(format!("seed-{seed}"));
    }
    Ok(Task {
        place: PathBuf::from(&place),
        prepared: prepared.seeded(seed)?,
    })
}

/// The scheduler that others are compared with: central-easy if it is there, else the first.
fn reference(schedulers: &[Scheduler]) -> usize {
    let easy = Scheduler::Central(Central::Easy);
    schedulers.iter().position(|one| *one == easy).unwrap_or(0)
}

/// Which tables a workload calls for: gangs as they are for those who can place them, and serial jobs for all.
fn tables(config: &Config, chosen: &[Scheduler]) -> anyhow::Result<Vec<Table>> {
    let prepared = prepare(config)?;
    let wanted: Vec<Scheduler> = if chosen.is_empty() {
        Scheduler::ALL.to_vec()
    } else {
        chosen.to_vec()
    };
    let title = |prepared: &Prepared, what: &str| {
        let (jobs, nodes) = (prepared.workload.jobs.len(), prepared.grid.len());
        format!(
            "{what}: {}, {jobs} jobs on {nodes} nodes",
            prepared.workload.name
        )
    };
    if matches!(*prepared.grid, Grid::Mixed(_)) {
        let schedulers: Vec<Scheduler> = wanted
            .iter()
            .copied()
            .filter(|scheduler| scheduler.places_requirements())
            .collect();
        if let Some(other) = chosen
            .iter()
            .find(|scheduler| !scheduler.places_requirements())
        {
            bail!(
                "{other} cannot place jobs on nodes that differ; choose from {}",
                names(&schedulers)
            );
        }
        return Ok(vec![Table {
            name: "jobs",
            title: title(&prepared, "jobs with requirements"),
            prepared,
            schedulers,
        }]);
    }
    let parallel = prepared.workload.jobs.iter().any(|job| job.processors > 1);
    let mut tables = Vec::new();
    if parallel {
        let gangs: Vec<Scheduler> = wanted
            .iter()
            .copied()
            .filter(|scheduler| scheduler.places_gangs())
            .collect();
        if !gangs.is_empty() {
            tables.push(Table {
                name: "gangs",
                title: title(&prepared, "gangs, jobs as they are"),
                prepared: prepared.clone(),
                schedulers: gangs,
            });
        }
    }
    let serial = if parallel {
        prepare(&serial(&prepared.config))?
    } else {
        prepared
    };
    let what = if parallel {
        "serial, each parallel job split"
    } else {
        "serial"
    };
    tables.push(Table {
        name: "serial",
        title: title(&serial, what),
        prepared: serial,
        schedulers: wanted,
    });
    Ok(tables)
}

/// The same jobs split into serial ones, on the same processors.
fn serial(config: &Config) -> Config {
    let mut config = config.clone();
    config.workload.shape = Shape::Serial;
    let cores = config.grid.cores_per_node;
    config.grid.nodes = config.grid.nodes.map(|nodes| nodes.saturating_mul(cores));
    config.grid.cores_per_node = 1;
    config
}

fn names(schedulers: &[Scheduler]) -> String {
    let names: Vec<&str> = schedulers
        .iter()
        .map(|scheduler| scheduler.name())
        .collect();
    names.join(", ")
}
