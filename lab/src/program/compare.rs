//! `gridweave compare`, and what the program does without a command.

use std::path::Path;

use serde_json::{Map, Value};

use super::Ending;
use super::execute::PlannedRun;
use super::hints::only_serial;
use super::options::Setup;
use super::run::{ending, note_violations, place, write_config};
use super::session::Session;
use super::table::{Line, draw, draw_organisations};
use crate::experiment::{
    Prepared, Requested, Results, Table, Waits, is_partial, join, prepare, tables, wait_ratio,
};
use crate::report::{Contest, Kind, Page, Track};
use crate::results::{Summary, write_json};
use crate::schedulers::Scheduler;

/// What is kept of a run.
struct Made {
    summary: Summary,
    waits: Waits,
    /// How to draw the run; only for the first seed.
    track: Option<Track>,
}

/// How many bytes of a report may list the nodes of jobs: a larger page is slow to open.
const MOST_PLACES: usize = 4_000_000;

/// Replays a workload under several schedulers; if `requested`, gangs also with the users' requested times.
pub(super) fn compare(
    session: &Session,
    setup: &Setup,
    chosen: &[Scheduler],
    requested: bool,
) -> anyhow::Result<Ending> {
    let config = setup.config()?;
    let prepared = prepare(&config)?;
    let again = match requested {
        true => Requested::Too,
        false => Requested::No,
    };
    let tables = tables(&prepared, chosen, again)?;
    let draft = session.draft(&setup.out())?;
    let tasks = tables.iter().flat_map(|table| table.tasks(setup));
    let keep = |prepared: &Prepared, results: Results| Made {
        waits: Waits::of(&prepared.workload, &results.run),
        track: (prepared.config.seed == config.seed).then(|| Track::of(prepared, &results)),
        summary: results.summary,
    };
    let mut made = session.execute(tasks.collect(), &draft, keep)?;
    if made.iter().all(Option::is_none) {
        session.note("gridweave: stopped before the first run began; nothing is written");
        return Ok(Ending::Interrupted);
    }

    let wanted = setup.runs();
    let mut report = Map::new();
    let mut drawn = Vec::new();
    let mut contests = Vec::new();
    let mut tracks = Vec::new();
    let mut rest = made.as_mut_slice();
    for table in &tables {
        let (own, others) = rest.split_at_mut(table.schedulers.len() * wanted as usize);
        rest = others;
        tracks.push(table.tracks(own, setup));
    }
    let mut rest = made.as_slice();
    let mut lines = Vec::new();
    for table in &tables {
        let (own, others) = rest.split_at(table.schedulers.len() * wanted as usize);
        rest = others;
        lines.push(table.lines(own, wanted));
    }
    if requested && let [gangs, .., requested] = lines.as_mut_slice() {
        for line in gangs {
            let own = requested.iter().find(|other| other.name == line.name);
            line.requested = own.map(Line::waits).unwrap_or_default();
        }
    }
    for ((table, tracks), lines) in tables.iter().zip(tracks).zip(&lines) {
        let rows = lines.iter().map(|line| join(&line.summaries, wanted));
        let rows = rows.collect::<serde_json::Result<Vec<Value>>>()?;
        contests.push(table.contest(tracks, &rows));
        report.insert(table.name.into(), Value::Array(rows));
        if table.name != Table::REQUESTED {
            let text = draw(lines, Some(table.reference().name()));
            drawn.push(format!("{}\n{text}", table.title));
            drawn.extend(draw_organisations(lines));
        }
    }
    let all: Vec<&Summary> = made.iter().flatten().map(|made| &made.summary).collect();
    let all_wanted = u32::try_from(made.len()).unwrap_or(u32::MAX);
    let ending = ending(session, &all, all_wanted);
    let partial = is_partial(&all, all_wanted);
    report.insert("partial".into(), Value::Bool(partial));
    let report = Value::Object(report);
    draft.write("summary.json", |file| write_json(&report, file))?;
    write_config(&draft, &prepared.config)?;
    let mut page = Page::new(
        Kind::Compare,
        format!("Schedulers on {}", prepared.workload.name),
        command(chosen, wanted, requested),
    );
    page.notes.clone_from(&prepared.notes);
    if wanted > 1 {
        page.notes.push(format!(
            "numbers are means over {wanted} seeds with 95 % confidence intervals; charts show the first seed"
        ));
    }
    page.partial = partial;
    page.config = prepared.config.to_toml()?;
    let mut bytes = MOST_PLACES;
    for contest in &mut contests {
        bytes = contest.fit_into(bytes);
    }
    page.contests = contests;
    draft.write("report.html", |file| page.write(file))?;
    session.publish(draft)?;

    session.note_workload(&prepared);
    let most = tables.iter().max_by_key(|table| table.schedulers.len());
    let compared = most.map_or(&[][..], |table| &table.schedulers);
    session.hint(only_serial(&prepared, compared));
    note_violations(&all);
    for table in drawn {
        session.say(&table);
    }
    session.point_to(&setup.out());
    if ending == Ending::Interrupted {
        session.note("gridweave: stopped early; the results are partial, and say so");
    }
    session.tell(&report)?;
    Ok(ending)
}

impl Table {
    /// All runs: those of the first scheduler, one per seed, then those of the second, and so on.
    fn tasks(&self, setup: &Setup) -> Vec<PlannedRun> {
        let mut tasks = Vec::new();
        for &scheduler in &self.schedulers {
            let prepared = self.prepared.under(scheduler);
            let folder = Path::new(self.name).join(scheduler.name());
            tasks.extend(setup.seeds(&prepared.config).map(|seed| PlannedRun {
                place: folder.join(place(setup.runs(), seed)),
                prepared: prepared.clone(),
                seed,
            }));
        }
        tasks
    }

    /// Takes the drawings of the runs under the first seed, each with the path of its own report.
    fn tracks(&self, made: &mut [Option<Made>], setup: &Setup) -> Vec<Option<Track>> {
        let by_scheduler = self
            .schedulers
            .iter()
            .zip(made.chunks_mut(setup.runs() as usize));
        let track = |(scheduler, runs): (&Scheduler, &mut [Option<Made>])| {
            let made = runs.first_mut()?.as_mut()?;
            let mut track = made.track.take()?;
            let mut place = format!("{}/{}", self.name, scheduler.name());
            if setup.runs() > 1 {
                place.push_str(&format!("/seed-{}", made.summary.seed));
            }
            track.report = Some(format!("{place}/report.html"));
            Some(track)
        };
        by_scheduler.map(track).collect()
    }

    /// The table for the report, with the summaries of all schedulers that have a run.
    fn contest(&self, tracks: Vec<Option<Track>>, rows: &[Value]) -> Contest {
        let mut contest = Contest::among(self.name, &self.prepared);
        contest.title.clone_from(&self.title);
        for mut track in tracks.into_iter().flatten() {
            let own = rows.iter().find(|row| row["scheduler"] == track.name);
            if let Some(row) = own {
                track.summary = row.clone();
            }
            contest.tracks.push(track);
        }
        contest
    }

    /// A line for each scheduler that has a run.
    fn lines<'a>(&self, made: &'a [Option<Made>], wanted: u32) -> Vec<Line<'a>> {
        let by_scheduler = || self.schedulers.iter().zip(made.chunks(wanted as usize));
        let reference = self.reference();
        let against = by_scheduler()
            .find(|(scheduler, _)| **scheduler == reference)
            .map_or(&[][..], |(_, runs)| runs);
        by_scheduler()
            .map(|(scheduler, runs)| Line {
                name: scheduler.to_string(),
                summaries: runs.iter().flatten().map(|made| &made.summary).collect(),
                ratios: ratios(runs, against),
                requested: Default::default(),
            })
            .filter(|line| !line.summaries.is_empty())
            .collect()
    }
}

/// The command that repeats a comparison.
fn command(chosen: &[Scheduler], wanted: u32, requested: bool) -> String {
    let mut command = String::from("gridweave compare --config config.toml");
    if !chosen.is_empty() {
        let names: Vec<&str> = chosen.iter().map(|scheduler| scheduler.name()).collect();
        command.push_str(&format!(" --schedulers {}", names.join(",")));
    }
    if wanted > 1 {
        command.push_str(&format!(" --runs {wanted}"));
    }
    if requested {
        command.push_str(" --requested");
    }
    command + " --out again"
}

/// The ratio of waits to those of the reference, for each seed that both have.
fn ratios(runs: &[Option<Made>], against: &[Option<Made>]) -> Vec<f64> {
    let pairs = runs.iter().zip(against);
    let both = pairs.filter_map(|(one, other)| one.as_ref().zip(other.as_ref()));
    both.filter_map(|(one, other)| wait_ratio(&one.waits, &other.waits))
        .collect()
}
