//! Changes the core in one place at a time, and says which changes no test notices.
//!
//! All mutants of a sample are built at once, into one copy of the core, and each is off unless an environment variable
//! names it. So a mutant costs no build, only the tests that reach it, and most fail soon.
mod instrument;
mod list;
mod tree;
mod trial;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use list::Mutant;
use tree::Tree;
use trial::{Outcome, Trials};

const USAGE: &str = "arguments: [--out FOLDER] [--sample MUTANTS] [--seed NUMBER] [--jobs NUMBER] [--statements] [--resume] [--list]";

struct Options {
    out: PathBuf,
    sample: usize,
    seed: u64,
    jobs: usize,
    /// Tries only statements that are left out, and conditions that are negated or lose a part.
    statements: bool,
    /// Does not try again the mutants that an earlier run of the same sample saw caught.
    resume: bool,
    /// Only lists the mutants.
    list: bool,
}

impl Options {
    fn read() -> Result<Self> {
        let jobs = std::thread::available_parallelism().map_or(1, Into::into);
        let mut options = Self {
            out: "target/mutants".into(),
            sample: 500,
            seed: 0,
            jobs,
            statements: false,
            resume: false,
            list: false,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().context(USAGE);
            match argument.as_str() {
                "--out" => options.out = value()?.into(),
                "--sample" => options.sample = value()?.parse()?,
                "--seed" => options.seed = value()?.parse()?,
                "--jobs" => options.jobs = value()?.parse()?,
                "--statements" => options.statements = true,
                "--resume" => options.resume = true,
                "--list" => options.list = true,
                _ => bail!(USAGE),
            }
        }
        fs::create_dir_all(&options.out)?;
        options.out = options.out.canonicalize()?;
        Ok(options)
    }
}

fn main() -> Result<()> {
    let options = Options::read()?;
    let began = Instant::now();
    let step = |what: &str| eprintln!("{what} ({} s)", began.elapsed().as_secs());
    let tree = Tree::copy(&options.out)?;
    let mut all = tree.mutants()?;
    all.retain(|mutant| mutant.is_statement == options.statements);
    if options.list {
        all.iter().for_each(|mutant| println!("{}", mutant.name()));
        return Ok(());
    }
    step(&format!("{} mutants in all", all.len()));
    shuffle(&mut all, options.seed);
    let kind = if options.statements {
        "statements"
    } else {
        "operators"
    };
    let file = format!("results-{kind}-{}-{}", options.sample, options.seed);
    let results = Results::open(options.out.join(file), options.resume)?;
    let sample = loop {
        let viable = |number: &usize| results.of(&all[*number]) != Some(Outcome::DoesNotCompile);
        let sample: Vec<_> = (0..all.len()).filter(viable).take(options.sample).collect();
        let chosen: Vec<_> = sample
            .iter()
            .map(|&number| (number, &all[number]))
            .collect();
        let bad = tree.check(&chosen)?;
        step(&format!("{} do not compile", bad.len()));
        if bad.is_empty() {
            break sample;
        }
        for number in bad {
            results.tell(&all[number], Outcome::DoesNotCompile);
        }
    };
    let programs = tree.build()?;
    step("built");
    let trials = Trials {
        programs: &programs,
        jobs: options.jobs,
        folder: &options.out.join("reached"),
    };
    let tests = trials.record()?;
    step(&format!("{} tests recorded", tests.len()));
    let left = |number: &usize| {
        !matches!(
            results.of(&all[*number]),
            Some(Outcome::Caught | Outcome::Hangs)
        )
    };
    let left: Vec<_> = sample.iter().copied().filter(left).collect();
    let tried = AtomicUsize::new(sample.len() - left.len());
    trials.attempt(&left, &tests, |number, outcome| {
        results.tell(&all[number], outcome);
        let tried = tried.fetch_add(1, Ordering::Relaxed) + 1;
        if outcome != Outcome::Caught || tried.is_multiple_of(50) {
            step(&format!("{tried}: {outcome:?}: {}", all[number].name()));
        }
    });
    step("done");
    // The report also has the mutants that did not compile and were replaced in the sample.
    let last = sample.last().map_or(0, |last| last + 1);
    print!(
        "{}",
        report(
            all[..last]
                .iter()
                .filter_map(|mutant| Some((mutant, results.of(mutant)?)))
                .collect()
        )
    );
    Ok(())
}

/// The outcome of each mutant, in memory and in a file.
struct Results {
    known: Mutex<(HashMap<String, Outcome>, fs::File)>,
}

impl Results {
    /// Starts empty, or with the mutants that an earlier run of the same sample has finished.
    fn open(path: PathBuf, resume: bool) -> Result<Self> {
        let earlier = if resume {
            fs::read_to_string(&path).unwrap_or_default()
        } else {
            String::new()
        };
        let results = Self {
            known: Mutex::new((HashMap::new(), fs::File::create(path)?)),
        };
        for (outcome, name) in earlier.lines().filter_map(|line| line.split_once('\t')) {
            let done = [Outcome::Caught, Outcome::Hangs, Outcome::DoesNotCompile];
            if let Some(outcome) = done.into_iter().find(|done| format!("{done:?}") == outcome) {
                results.note(name.to_owned(), outcome);
            }
        }
        Ok(results)
    }

    fn note(&self, name: String, outcome: Outcome) {
        let (known, file) = &mut *self.known.lock().expect("nobody panics with it");
        writeln!(file, "{outcome:?}\t{name}").expect("the folder can be written to");
        known.insert(name, outcome);
    }

    fn tell(&self, mutant: &Mutant, outcome: Outcome) {
        self.note(mutant.name(), outcome);
    }

    fn of(&self, mutant: &Mutant) -> Option<Outcome> {
        self.known
            .lock()
            .expect("nobody panics with it")
            .0
            .get(&mutant.name())
            .copied()
    }
}

/// Fisher and Yates, with SplitMix64.
fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for at in (1..items.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        items.swap(at, (mixed % (at as u64 + 1)) as usize);
    }
}

/// A table by module, and the mutants that no test noticed.
fn report(mut outcomes: Vec<(&Mutant, Outcome)>) -> String {
    let mut modules = BTreeMap::<String, [usize; 5]>::new();
    for (mutant, outcome) in &outcomes {
        for module in [module(&mutant.file), "~".to_owned()] {
            modules.entry(module).or_default()[*outcome as usize] += 1;
        }
    }
    let mut text = String::from(
        "| module | caught | hangs the tests | never reached | survived | does not compile |\n|---|---|---|---|---|---|\n",
    );
    for (module, row) in &modules {
        let module = if module == "~" {
            "all".to_owned()
        } else {
            format!("`{module}`")
        };
        let _ = writeln!(
            text,
            "| {module} | {} |",
            row.map(|count| count.to_string()).join(" | ")
        );
    }
    outcomes.retain(|(_, outcome)| matches!(outcome, Outcome::NotReached | Outcome::Survived));
    outcomes.sort_by_key(|(mutant, _)| (&mutant.file, mutant.line, mutant.column));
    let _ = writeln!(text, "\n{} survived", outcomes.len());
    for (mutant, outcome) in outcomes {
        let _ = writeln!(text, "{outcome:?}: {}", mutant.name());
    }
    text
}

/// The first folder, or the first two of those that have many layers in them.
fn module(file: &str) -> String {
    let parts: Vec<_> = file.trim_end_matches(".rs").split('/').collect();
    match parts[..] {
        [
            first @ ("overlay" | "scheduler" | "schedule" | "queue"),
            second,
            ..,
        ] if second != "mod" => format!("{first}/{second}"),
        [first, ..] => first.to_owned(),
        [] => String::new(),
    }
}
