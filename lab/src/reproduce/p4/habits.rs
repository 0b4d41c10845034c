//! What each of our habits brings: alone beside the paper's rules, and missing among ours.

use super::messages::{UPKEEP, jobs_kinds, steady};
use super::{OURS, Planned, Scheme, Setup, beside, wait};
use crate::config::Config;
use crate::experiment::InputError;
use crate::reproduce::{Finished, Part, Report, Rules, Sample, Table, part};
use gridweave_core::scheduler::desktop::{Habit, Style};
use gridweave_core::time::Span;

pub(super) const HABITS: Part<Setup> = part(
    "habits",
    "LIQ-PULL with each of our habits alone, and without it",
    plan,
    report,
);

/// A habit: its title, the suffix of its runs, and how it is taken away and how it is had alone.
struct Trial {
    title: &'static str,
    suffix: &'static str,
    without: fn(&mut Config),
    alone: fn(&mut Config),
}

macro_rules! habit {
    ($title:literal, $suffix:literal, $habit:ident) => {
        Trial {
            title: $title,
            suffix: $suffix,
            without: |config| config.rules.desktop.except = Some(Habit::$habit),
            alone: |config| config.rules.desktop.except = Some(Habit::$habit),
        }
    };
}

const TRIALS: [Trial; 10] = [
    Trial {
        title: "all, and none",
        suffix: "",
        without: |_| {},
        alone: |_| {},
    },
    habit!("a changed status is told at once", "tell", Tell),
    habit!("nodes act on news at once", "act", Act),
    habit!("several jobs for one request", "several", Several),
    habit!("the oldest job that may fit", "oldest", Oldest),
    habit!("a search at once where a job has to wait", "seek", Seek),
    habit!("all nodes on the way compared", "compare", Compare),
    Trial {
        title: "searches again for jobs that wait",
        suffix: "again",
        without: |config| config.rules.desktop.searches_again = Some(0),
        alone: |config| config.rules.desktop.searches_again = Some(4),
    },
    Trial {
        title: "requests beyond neighbours",
        suffix: "far",
        without: |config| config.rules.desktop.pull_hops = Some(0),
        alone: |config| config.rules.desktop.pull_hops = Some(32),
    },
    Trial {
        title: "two virtual dimensions",
        suffix: "virtual",
        without: |config| config.rules.desktop.virtual_dimensions = Some(1),
        alone: |config| config.rules.desktop.virtual_dimensions = Some(2),
    },
];

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let of = |trial: &Trial| {
        let suffix = match trial.suffix {
            "" => String::new(),
            suffix => format!("-{suffix}"),
        };
        let mut without = setup.with_gap(OURS, 2000);
        (trial.without)(&mut without.config);
        if !suffix.is_empty() {
            without.name.push_str(&format!("-without{suffix}"));
        }
        let mut alone = setup.with_gap(OURS, 2000);
        let desktop = &mut alone.config.rules.desktop;
        desktop.style = Style::Literal;
        desktop.heartbeat = Some(Span::from_secs(60));
        (trial.alone)(&mut alone.config);
        alone.name.push_str(&format!("-alone{suffix}"));
        [alone, without]
    };
    let mut runs: Vec<Planned> = TRIALS.iter().flat_map(of).collect();
    runs.push(setup.with_gap(Scheme::Cent, 2000));
    Ok(runs)
}

fn messages(run: &Finished) -> f64 {
    steady(run, &UPKEEP).0 + steady(run, &jobs_kinds(run)).0
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let columns = "habit | alone | alone / CENT | s more | messages | without it | without it / CENT | s more | messages";
    let title = "mean wait in seconds, and messages for each node and minute, a job every 2 s";
    let mut table = Table::unpublished("habits", title, columns).by(Rules::Ours);
    let Some((cent, pairs)) = samples.split_last() else {
        return Report::new([table], &[], setup.size.caveat());
    };
    for (trial, pair) in TRIALS.iter().zip(pairs.chunks(2)) {
        let mut cells = vec![trial.title.into()];
        for sample in pair {
            cells.push(wait(sample));
            cells.extend(beside(sample, cent));
            cells.push(sample.mean(1, &messages));
        }
        table.push(cells);
    }
    let notes = [
        "first row: all habits under without it, none of them (P4 to the letter, but with our bound on passing) under alone",
        "alone: one habit more than P4 has, heartbeats every 60 s; without it: one habit less than ours, heartbeats every 150 s",
    ];
    Report::new([table], &notes, setup.size.caveat())
}
