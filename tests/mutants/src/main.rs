//! Changes the core in one place at a time, and says which changes no test notices.
//!
//! All mutants of a sample are built at once, into one copy of the core, and each is off unless an environment variable
//! names it. So a mutant costs no build, only the tests that reach it, and most fail soon.
mod instrument;
mod list;
mod tree;
mod trial;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use list::Mutant;
use tree::Tree;
use trial::{Outcome, Trials};

const USAGE: &str = "arguments: [--out FOLDER] [--sample MUTANTS] [--seed NUMBER] [--jobs NUMBER] [--resume] [--list]";

struct Options {
    out: PathBuf,
    sample: usize,
    seed: u64,
    jobs: usize,
    /// What an earlier run of the same sample saw caught is not tried again.
    resume: bool,
    /// Only says which mutants there are.
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
    if options.list {
        all.iter().for_each(|mutant| println!("{}", mutant.name()));
        return Ok(());
    }
    let count = all.len();
    shuffle(&mut all, options.seed);
    step(&format!("{count} mutants in all"));
    let (sample, not_compiled) = viable(&tree, &all, options.sample)?;
    step(&format!(
        "{} of the first {} compile",
        sample.len(),
        sample.len() + not_compiled.len()
    ));
    let programs = tree.build()?;
    step("built");
    let trials = Trials {
        programs: &programs,
        jobs: options.jobs,
        folder: &options.out.join("reached"),
    };
    let tests = trials.record()?;
    step(&format!("{} tests recorded", tests.len()));

    let results = options
        .out
        .join(format!("results-{}-{}", options.sample, options.seed));
    let known = if options.resume {
        fs::read_to_string(&results).unwrap_or_default()
    } else {
        String::new()
    };
    let known: HashMap<_, _> = known
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(outcome, name)| (name, outcome))
        .collect();
    let mut outcomes = BTreeMap::new();
    for &number in &sample {
        match known.get(all[number].name().as_str()) {
            Some(&"Caught") => outcomes.insert(number, Outcome::Caught),
            Some(&"Hangs") => outcomes.insert(number, Outcome::Hangs),
            _ => None,
        };
    }
    let left: Vec<_> = sample
        .iter()
        .copied()
        .filter(|number| !outcomes.contains_key(number))
        .collect();
    let mut file = fs::File::create(&results)?;
    for (&number, outcome) in &outcomes {
        writeln!(file, "{outcome:?}\t{}", all[number].name())?;
    }
    let told = Mutex::new((outcomes, file));
    trials.attempt(&left, &tests, |number, outcome| {
        let (outcomes, file) = &mut *told.lock().expect("nobody panics with it");
        outcomes.insert(number, outcome.clone());
        let name = all[number].name();
        writeln!(file, "{outcome:?}\t{name}").expect("the folder can be written to");
        if *outcome != Outcome::Caught || outcomes.len().is_multiple_of(50) {
            step(&format!("{}: {outcome:?}: {name}", outcomes.len()));
        }
    });
    let (outcomes, _) = told.into_inner().expect("nobody panicked with it");
    step("done");
    print!("{}", report(&all, &outcomes, &not_compiled));
    Ok(())
}

/// The numbers of the first so many mutants that compile, which are then in the tree, and of those before the last of them that do not.
fn viable(tree: &Tree, all: &[Mutant], sample: usize) -> Result<(Vec<usize>, BTreeSet<usize>)> {
    let (mut bad, mut tried) = (BTreeSet::new(), 0);
    loop {
        // About a quarter will not compile.
        tried = (tried + (sample + bad.len() - tried) * 4 / 3 + 1).min(all.len());
        let chosen: Vec<_> = all
            .iter()
            .enumerate()
            .take(tried)
            .filter(|(number, _)| !bad.contains(number))
            .collect();
        bad.extend(tree.compile(&chosen)?);
        let mut good: Vec<_> = (0..tried).filter(|number| !bad.contains(number)).collect();
        if good.len() >= sample || tried == all.len() {
            good.truncate(sample);
            let last = good.last().copied().unwrap_or_default();
            bad.retain(|number| *number < last);
            let chosen: Vec<_> = good.iter().map(|&number| (number, &all[number])).collect();
            let none = tree.compile(&chosen)?;
            anyhow::ensure!(
                none.is_empty(),
                "what compiled with others does not without them"
            );
            return Ok((good, bad));
        }
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

/// A table by module, and those that no test noticed.
fn report(
    all: &[Mutant],
    outcomes: &BTreeMap<usize, Outcome>,
    not_compiled: &BTreeSet<usize>,
) -> String {
    // Caught, hangs the tests, not reached, survived; does not compile.
    let mut modules = BTreeMap::<String, [usize; 5]>::new();
    let columns = outcomes
        .iter()
        .map(|(&number, outcome)| (number, outcome.clone() as usize))
        .chain(not_compiled.iter().map(|&number| (number, 4)));
    for (number, column) in columns {
        for module in [module(&all[number].file), "~".to_owned()] {
            modules.entry(module).or_default()[column] += 1;
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
    let mut left: Vec<_> = outcomes
        .iter()
        .filter(|(_, outcome)| matches!(outcome, Outcome::NotReached | Outcome::Survived))
        .collect();
    left.sort_by_key(|(number, _)| {
        (
            &all[**number].file,
            all[**number].line,
            all[**number].column,
        )
    });
    let _ = writeln!(text, "\n{} of {} survived", left.len(), outcomes.len());
    for (number, outcome) in left {
        let _ = writeln!(
            text,
            "{}{}",
            all[*number].name(),
            if *outcome == Outcome::NotReached {
                " (never reached)"
            } else {
                ""
            }
        );
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
