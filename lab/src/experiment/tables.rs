//! Several schedulers on the same jobs, in one or more tables.

use super::error::InputError;
use super::prepare::Prepared;
use crate::grid::Grid;
use crate::outcome::Estimates;
use crate::schedulers::name::Scheduler;
use crate::workload::TransformError;

/// One table of a comparison: some schedulers on the same jobs.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name in files.
    pub name: &'static str,
    /// What it shows.
    pub title: String,
    /// The jobs and nodes.
    pub prepared: Prepared,
    /// The schedulers, in the order of rows.
    pub schedulers: Vec<Scheduler>,
}

/// Whether gangs are run a second time, with the times that users requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Requested {
    /// They are, in a table of their own.
    Too,
    /// They are not.
    No,
}

impl Table {
    /// The name of the table of jobs as they are.
    pub const GANGS: &str = "gangs";
    /// The name of the table of gangs with requested times.
    pub const REQUESTED: &str = "requested";
    /// The name of the table of jobs of one node.
    pub const SERIAL: &str = "serial";
    /// The name of the table of jobs on nodes that differ.
    pub const JOBS: &str = "jobs";
    /// All names; in an output each table is a folder.
    pub(crate) const NAMES: [&str; 4] = [Self::GANGS, Self::REQUESTED, Self::SERIAL, Self::JOBS];

    /// The scheduler that others are compared with: `central-easy` if it takes part, else the first.
    pub fn reference(&self) -> Scheduler {
        let first = self.schedulers.first().copied().unwrap_or_default();
        let easy = Scheduler::CentralEasy;
        if self.schedulers.contains(&easy) {
            easy
        } else {
            first
        }
    }
}

/// The tables in which these schedulers are compared on a workload; without a choice, all that can run it. Each run is
/// checked.
///
/// If jobs are parallel there are two tables: gangs, and serial, with each parallel job split for schedulers that place
/// one node at a time.
pub fn tables(
    prepared: &Prepared,
    chosen: &[Scheduler],
    requested: Requested,
) -> Result<Vec<Table>, InputError> {
    if let Some(twice) = (1..chosen.len()).find(|&index| chosen[..index].contains(&chosen[index])) {
        return Err(InputError::Choice(format!(
            "--schedulers names {} twice; name it once",
            chosen[twice]
        )));
    }
    let mut tables = plain_tables(prepared, chosen)?;
    if requested == Requested::Too {
        let table = with_requested_times(&tables)?;
        tables.push(table);
    }
    for table in &tables {
        for &scheduler in &table.schedulers {
            table.prepared.under(scheduler).check()?;
        }
    }
    Ok(tables)
}

/// The table of gangs once more, with the times that users requested.
fn with_requested_times(tables: &[Table]) -> Result<Table, InputError> {
    let refused = |why: &str| InputError::Choice(why.to_owned());
    let gangs = tables.iter().find(|table| table.name == Table::GANGS);
    let gangs = gangs.ok_or_else(|| {
        refused("--requested adds waits to the table of gangs, and there are none; leave it out")
    })?;
    let mut prepared = gangs.prepared.clone();
    if prepared.config.workload.estimates != Estimates::Exact {
        return Err(refused(
            "--requested adds waits with requested times, but workload.estimates says what schedulers are told; leave one of them out",
        ));
    }
    prepared.config.workload.estimates = Estimates::Kill;
    Ok(Table {
        name: Table::REQUESTED,
        title: gangs
            .title
            .replacen("jobs as they are", "requested times", 1),
        schedulers: gangs.schedulers.clone(),
        prepared,
    })
}

/// The tables for a workload: gangs for the schedulers that can place them, and serial jobs for all.
fn plain_tables(prepared: &Prepared, chosen: &[Scheduler]) -> Result<Vec<Table>, InputError> {
    let wanted: Vec<Scheduler> = if chosen.is_empty() {
        let all = Scheduler::ALL.iter().copied();
        all.filter(|scheduler| scheduler.side().is_compared())
            .collect()
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
            .filter(|scheduler| scheduler.side().places_requirements())
            .collect();
        if let Some(other) = chosen
            .iter()
            .find(|scheduler| !scheduler.side().places_requirements())
        {
            let able = Scheduler::ALL
                .iter()
                .filter(|scheduler| scheduler.side().places_requirements());
            return Err(InputError::Choice(format!(
                "{other} cannot place jobs on nodes that differ; choose from {}",
                able.map(|it| it.name()).collect::<Vec<_>>().join(", ")
            )));
        }
        return Ok(vec![Table {
            name: Table::JOBS,
            title: title(prepared, "jobs with requirements"),
            prepared: prepared.clone(),
            schedulers,
        }]);
    }
    let parallel = prepared.workload.jobs.iter().any(|job| job.processors > 1);
    if !prepared.config.grid.kinds.is_empty() {
        let is_able = |scheduler: &Scheduler| {
            let side = scheduler.side();
            side.places_by_kind() && (side.places_gangs() || !parallel)
        };
        if let Some(other) = chosen.iter().find(|scheduler| !is_able(scheduler)) {
            let able = Scheduler::ALL.iter().filter(|scheduler| is_able(scheduler));
            return Err(InputError::Choice(format!(
                "{other} cannot place these jobs on several kinds of nodes (grid.kinds); choose from {}",
                able.map(|it| it.name()).collect::<Vec<_>>().join(", ")
            )));
        }
        return Ok(vec![Table {
            name: Table::GANGS,
            title: title(
                prepared,
                "jobs with requirements, on several kinds of nodes",
            ),
            prepared: prepared.clone(),
            schedulers: wanted.into_iter().filter(is_able).collect(),
        }]);
    }
    let mut tables = Vec::new();
    if parallel {
        let gangs: Vec<Scheduler> = wanted
            .iter()
            .copied()
            .filter(|scheduler| scheduler.side().places_gangs())
            .collect();
        if !gangs.is_empty() {
            tables.push(Table {
                name: Table::GANGS,
                title: title(prepared, "gangs, jobs as they are"),
                prepared: prepared.clone(),
                schedulers: gangs,
            });
        }
    }
    let serial = if parallel {
        match prepared.serial() {
            // All chosen schedulers are in the table of gangs, so the serial table is not needed.
            Err(InputError::Transform {
                error: TransformError::TooManyParts { .. },
                ..
            }) if wanted
                .iter()
                .all(|scheduler| scheduler.side().places_gangs()) =>
            {
                return Ok(tables);
            }
            serial => serial?,
        }
    } else {
        prepared.clone()
    };
    let what = if parallel {
        "serial, each parallel job split"
    } else {
        "serial"
    };
    tables.push(Table {
        name: Table::SERIAL,
        title: title(&serial, what),
        prepared: serial,
        schedulers: wanted,
    });
    Ok(tables)
}
