//! Batch scripts with `#SBATCH` lines: what they ask for in the terms of this program, and what is not understood.

use std::collections::BTreeMap;

use gridweave_core::time::Span;

use crate::executor::limit;

/// What a batch script asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Batch {
    /// What runs it, with the text of the script.
    pub(super) argv: Vec<String>,
    pub(super) time: Option<Span>,
    pub(super) cores: Option<u32>,
    /// Gigabytes.
    pub(super) memory: Option<u64>,
    pub(super) accelerators: Option<u64>,
    pub(super) output: Option<String>,
    pub(super) error: Option<String>,
    pub(super) folder: Option<String>,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) runs_again: bool,
    pub(super) waits: bool,
    /// An option and what became of it, a line each.
    pub(super) notes: Vec<String>,
}

/// An option: its long name, its short one, and whether it has a value.
struct Known(&'static str, char, Value, Meaning);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    None,
    Needed,
    /// `--name` or `--name=value`.
    Optional,
}

#[derive(Clone, Copy)]
enum Meaning {
    /// It is honoured.
    Is(fn(&mut Asked, &str) -> Result<String, String>),
    /// It changes nothing here, for this reason.
    Left(&'static str),
    /// The job would not do what its user means, for this reason.
    Refused(&'static str),
}

use Meaning::{Is, Left, Refused};

/// No short name.
const NO: char = '\0';

const SITES: &str = "each site has its own, in its node.toml";
const PLACES: &str = "the grid chooses where it runs";

const KNOWN: &[Known] = &[
    Known("time", 't', Value::Needed, Is(Asked::time)),
    Known("job-name", 'J', Value::Needed, Is(Asked::name)),
    Known("ntasks", 'n', Value::Needed, Is(Asked::tasks)),
    Known("cpus-per-task", 'c', Value::Needed, Is(Asked::cpus)),
    Known("nodes", 'N', Value::Needed, Is(Asked::nodes)),
    Known("mem", NO, Value::Needed, Is(Asked::memory)),
    Known("mem-per-cpu", NO, Value::Needed, Is(Asked::memory_of_core)),
    Known("gpus", 'G', Value::Needed, Is(Asked::gpus)),
    Known("gres", NO, Value::Needed, Is(Asked::gres)),
    Known("output", 'o', Value::Needed, Is(Asked::output)),
    Known("error", 'e', Value::Needed, Is(Asked::error)),
    Known("chdir", 'D', Value::Needed, Is(Asked::folder)),
    Known("export", NO, Value::Needed, Is(Asked::export)),
    Known("requeue", NO, Value::None, Is(Asked::requeue)),
    Known("no-requeue", NO, Value::None, Is(Asked::no_requeue)),
    Known("wait", 'W', Value::None, Is(Asked::wait)),
    Known("partition", 'p', Value::Needed, Left(SITES)),
    Known("account", 'A', Value::Needed, Left(SITES)),
    Known("qos", 'q', Value::Needed, Left(SITES)),
    Known(
        "mail-type",
        NO,
        Value::Needed,
        Left("no mail is sent: see `events`"),
    ),
    Known(
        "mail-user",
        NO,
        Value::Needed,
        Left("no mail is sent: see `events`"),
    ),
    Known("comment", NO, Value::Needed, Left("it is not kept")),
    Known(
        "open-mode",
        NO,
        Value::Needed,
        Left("files are appended to"),
    ),
    Known(
        "nice",
        NO,
        Value::Optional,
        Left("sites order jobs by arrival"),
    ),
    Known(
        "parsable",
        NO,
        Value::None,
        Left("only the id is printed anyway"),
    ),
    Known(
        "quiet",
        'Q',
        Value::None,
        Left("only the id is printed anyway"),
    ),
    Known(
        "verbose",
        'v',
        Value::None,
        Left("see the log of the agent"),
    ),
    Known(
        "array",
        'a',
        Value::Needed,
        Refused("submit --count gives each of many jobs a GRIDWEAVE_INDEX"),
    ),
    Known(
        "dependency",
        'd',
        Value::Needed,
        Refused("submit it when the other has ended: see --wait"),
    ),
    Known(
        "licenses",
        'L',
        Value::Needed,
        Refused(
            "forecasts know nothing of licences; a site can add them to all jobs, in slurm.options",
        ),
    ),
    Known(
        "constraint",
        'C',
        Value::Needed,
        Refused("sites do not tell each other features of computers"),
    ),
    Known(
        "exclusive",
        NO,
        Value::Optional,
        Refused("a job gets cores"),
    ),
    Known("begin", 'b', Value::Needed, Refused("submit it then")),
    Known(
        "deadline",
        NO,
        Value::Needed,
        Refused("it would not be kept"),
    ),
    Known(
        "hold",
        'H',
        Value::None,
        Refused("submit it when it may run"),
    ),
    Known("clusters", 'M', Value::Needed, Refused(PLACES)),
    Known("nodelist", 'w', Value::Needed, Refused(PLACES)),
    Known("exclude", 'x', Value::Needed, Refused(PLACES)),
    Known("reservation", NO, Value::Needed, Refused(PLACES)),
    Known(
        "signal",
        NO,
        Value::Needed,
        Refused("a job is killed when its time is over, without a warning"),
    ),
];

/// What was read so far.
#[derive(Default)]
struct Asked {
    batch: Batch,
    name: Option<String>,
    tasks: Option<u32>,
    cpus: Option<u32>,
    megabytes_of_core: Option<u64>,
}

/// Reads a batch script, or says all that is not understood. `name` is that of its file, `arguments` are its own.
pub(super) fn read(text: &str, name: &str, arguments: &[String]) -> Result<Batch, String> {
    let mut asked = Asked::default();
    let mut refused = Vec::new();
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    let interpreter = first.strip_prefix("#!").map(str::trim).unwrap_or_default();
    if interpreter.is_empty() {
        return Err(format!(
            "{name} is no batch script: its first line must name a program, as #!/bin/sh"
        ));
    }
    let mut body = first.len();
    for (number, line) in lines.enumerate() {
        let trimmed = line.trim();
        if !trimmed.is_empty() && !trimmed.starts_with('#') {
            break;
        }
        body = body.saturating_add(line.len());
        if let Some(options) = line.strip_prefix("#SBATCH") {
            let place = format!("{name}, line {}", number + 2);
            if let Err(why) = asked.line(options, &mut refused) {
                refused.push(format!("{place}: {why}"));
            }
        }
    }
    if !refused.is_empty() {
        return Err(format!("not understood: {}", refused.join("; ")));
    }
    asked.finish()?;
    let mut batch = asked.batch;
    batch.argv = argv(
        interpreter,
        text.get(body..).unwrap_or_default(),
        name,
        arguments,
    )?;
    Ok(batch)
}

/// The program that runs the text of a script.
fn argv(
    interpreter: &str,
    body: &str,
    name: &str,
    arguments: &[String],
) -> Result<Vec<String>, String> {
    let mut argv: Vec<String> = interpreter.split_whitespace().map(str::to_owned).collect();
    let called = argv
        .iter()
        .map(|word| word.rsplit('/').next().unwrap_or_default());
    let kind = called
        .into_iter()
        .find(|word| *word != "env" && !word.starts_with('-'));
    let kind = kind
        .unwrap_or_default()
        .trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.')
        .to_owned();
    let (option, takes_name) = match kind.as_str() {
        "sh" | "bash" | "dash" | "zsh" | "ksh" => ("-c", true),
        "python" => ("-c", false),
        "perl" | "ruby" => ("-e", false),
        _ => {
            return Err(format!(
                "{name}: a script for {interpreter} cannot be sent along; put it where all sites find it, and submit its path"
            ));
        }
    };
    argv.extend([option.to_owned(), body.to_owned()]);
    if takes_name {
        argv.push(name.to_owned());
    }
    argv.extend(arguments.iter().cloned());
    Ok(argv)
}

/// The words of a line: blanks separate them, quotes keep them together, `#` begins a comment.
fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for sign in line.chars() {
        match (quote, sign) {
            (Some(open), sign) if sign == open => quote = None,
            (Some(_), sign) => word.get_or_insert_default().push(sign),
            (None, '"' | '\'') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, sign) if sign.is_whitespace() => words.extend(word.take()),
            (None, sign) => word.get_or_insert_default().push(sign),
        }
    }
    words.extend(word);
    match quote {
        Some(_) => Err("a quote is not closed".to_owned()),
        None => Ok(words),
    }
}

impl Asked {
    fn line(&mut self, options: &str, refused: &mut Vec<String>) -> Result<(), String> {
        let mut words = words(options)?.into_iter().peekable();
        while let Some(word) = words.next() {
            let (known, mut value) = find(&word)?;
            let Known(long, _, takes, meaning) = known;
            if *takes == Value::None && value.is_some() {
                return Err(format!("--{long} has no value"));
            }
            if *takes == Value::Needed && value.is_none() {
                value = words.next();
                if value.is_none() {
                    return Err(format!("--{long} needs a value"));
                }
            }
            let value = value.unwrap_or_default();
            let shown = match value.is_empty() {
                true => format!("--{long}"),
                false => format!("--{long}={value}"),
            };
            match meaning {
                Is(set) => match set(self, &value) {
                    Ok(how) => self.batch.notes.push(format!("{shown}: {how}")),
                    Err(why) => refused.push(format!("{shown}: {why}")),
                },
                Left(why) => self.batch.notes.push(format!("{shown}: left out, {why}")),
                Refused(why) => refused.push(format!("{shown}: {why}")),
            }
        }
        Ok(())
    }

    /// What depends on several options.
    fn finish(&mut self) -> Result<(), String> {
        if self.tasks.is_some() || self.cpus.is_some() {
            let tasks = self.tasks.unwrap_or(1);
            let cores = tasks.checked_mul(self.cpus.unwrap_or(1));
            self.batch.cores = Some(cores.ok_or("so many cores has no computer")?);
        }
        if let Some(megabytes) = self.megabytes_of_core {
            let cores = u64::from(self.batch.cores.unwrap_or(1));
            self.batch.memory = Some(megabytes.saturating_mul(cores).div_ceil(1024));
        }
        if self.batch.error.is_none() {
            self.batch.error.clone_from(&self.batch.output);
        }
        for file in [&mut self.batch.output, &mut self.batch.error]
            .into_iter()
            .flatten()
        {
            *file = pattern(file, self.name.as_deref())?;
        }
        if let Some(name) = &self.name {
            let variable = "GRIDWEAVE_NAME".to_owned();
            self.batch.environment.insert(variable, name.clone());
        }
        Ok(())
    }

    fn time(&mut self, value: &str) -> Result<String, String> {
        let span = limit(value).filter(|span| !span.is_zero());
        let span = span.ok_or("it must have an end, as 30 or 2:00:00")?;
        self.batch.time = Some(span);
        Ok(format!("it may run for {} s", span.as_micros() / 1_000_000))
    }

    fn name(&mut self, value: &str) -> Result<String, String> {
        self.name = Some(value.to_owned());
        Ok("in GRIDWEAVE_NAME; jobs are named by their ids".to_owned())
    }

    fn tasks(&mut self, value: &str) -> Result<String, String> {
        self.tasks = Some(count(value)?);
        Ok("so many times the cores, all of one computer".to_owned())
    }

    fn cpus(&mut self, value: &str) -> Result<String, String> {
        self.cpus = Some(count(value)?);
        Ok("cores of one computer".to_owned())
    }

    fn nodes(&mut self, value: &str) -> Result<String, String> {
        match value {
            "1" | "1-1" => Ok("one computer".to_owned()),
            _ => Err("under aria a job runs on one computer".to_owned()),
        }
    }

    fn memory(&mut self, value: &str) -> Result<String, String> {
        let gigabytes = megabytes(value)?.div_ceil(1024);
        self.batch.memory = Some(gigabytes);
        Ok(format!("{gigabytes} gigabytes"))
    }

    fn memory_of_core(&mut self, value: &str) -> Result<String, String> {
        self.megabytes_of_core = Some(megabytes(value)?);
        Ok("for each of its cores".to_owned())
    }

    fn gpus(&mut self, value: &str) -> Result<String, String> {
        if value.contains(':') {
            return Err("the type of an accelerator cannot be chosen".to_owned());
        }
        self.batch.accelerators = Some(count(value)?.into());
        Ok("accelerators".to_owned())
    }

    fn gres(&mut self, value: &str) -> Result<String, String> {
        match value {
            "gpu" => self.gpus("1"),
            _ => match value.strip_prefix("gpu:") {
                Some(number) => self.gpus(number),
                None => Err("only gpu is known".to_owned()),
            },
        }
    }

    fn output(&mut self, value: &str) -> Result<String, String> {
        self.batch.output = Some(value.to_owned());
        Ok("at the site where it runs".to_owned())
    }

    fn error(&mut self, value: &str) -> Result<String, String> {
        self.batch.error = Some(value.to_owned());
        Ok("at the site where it runs".to_owned())
    }

    fn folder(&mut self, value: &str) -> Result<String, String> {
        self.batch.folder = Some(value.to_owned());
        Ok("at the site where it runs".to_owned())
    }

    fn export(&mut self, value: &str) -> Result<String, String> {
        let mut takes_all = false;
        for part in value.split(',') {
            match part.split_once('=') {
                Some((name, value)) if !name.is_empty() => {
                    self.batch
                        .environment
                        .insert(name.to_owned(), value.to_owned());
                }
                _ if matches!(part, "NONE" | "NIL") => {}
                _ if part == "ALL" => takes_all = true,
                _ => return Err(format!("'{part}' has no value: write NAME=VALUE")),
            }
        }
        Ok(match takes_all {
            true => "variables with values; the rest of the environment stays here".to_owned(),
            false => "variables of its environment".to_owned(),
        })
    }

    fn requeue(&mut self, _: &str) -> Result<String, String> {
        self.batch.runs_again = true;
        Ok("it runs again if its computer is lost".to_owned())
    }

    fn no_requeue(&mut self, _: &str) -> Result<String, String> {
        self.batch.runs_again = false;
        Ok("it runs once".to_owned())
    }

    fn wait(&mut self, _: &str) -> Result<String, String> {
        self.batch.waits = true;
        Ok("until it has ended".to_owned())
    }
}

/// An option, and its value if it is in the same word.
fn find(word: &str) -> Result<(&'static Known, Option<String>), String> {
    let unknown = || format!("'{word}' is no option that is known");
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (long, None),
        };
        let mut named = KNOWN.iter().filter(|known| known.0 == name);
        return named.next().map(|known| (known, value)).ok_or_else(unknown);
    }
    let mut signs = word.strip_prefix('-').ok_or_else(unknown)?.chars();
    let short = signs
        .next()
        .filter(|sign| *sign != NO)
        .ok_or_else(unknown)?;
    let value = signs.as_str();
    let mut named = KNOWN.iter().filter(|known| known.1 == short);
    let known = named.next().ok_or_else(unknown)?;
    Ok((known, (!value.is_empty()).then(|| value.to_owned())))
}

fn count(value: &str) -> Result<u32, String> {
    let number = value.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("'{value}' is no number of that"))
}

fn megabytes(value: &str) -> Result<u64, String> {
    let wrong = || format!("'{value}' is no size of memory, as 4G");
    let digits = value.trim_end_matches(|sign: char| sign.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let unit = value
        .get(digits.len()..)
        .unwrap_or_default()
        .to_ascii_uppercase();
    let megabytes = match unit.trim_end_matches('B') {
        "K" => Some(number.div_ceil(1024)),
        "" | "M" => Some(number),
        "G" => number.checked_mul(1024),
        "T" => number.checked_mul(1024 * 1024),
        _ => None,
    };
    megabytes
        .filter(|megabytes| *megabytes > 0)
        .ok_or_else(wrong)
}

/// The pattern of a file as this program writes it.
fn pattern(file: &str, name: Option<&str>) -> Result<String, String> {
    let mut found = String::new();
    let mut signs = file.chars();
    while let Some(sign) = signs.next() {
        match (sign, (sign == '%').then(|| signs.next()).flatten()) {
            ('%', Some('j' | 'A' | 'J')) => found.push_str("%j"),
            ('%', Some('x')) => found.push_str(name.unwrap_or("sbatch")),
            ('%', other) => {
                let other = other.map(String::from).unwrap_or_default();
                return Err(format!(
                    "%{other} in the name of a file is not known: %j is the job, %x its name"
                ));
            }
            _ => found.push(sign),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(lines: &str) -> Result<Batch, String> {
        read(
            &format!("#!/bin/bash\n{lines}\necho $1\n"),
            "job.sh",
            &["one".to_owned()],
        )
    }

    #[test]
    fn a_batch_script_becomes_a_job() {
        let batch = script(
            "#SBATCH --job-name=fold -t 1:30:00 --ntasks 2 -c4 # cores\n# a comment\n\n#SBATCH --mem=3500M --gres=gpu:2 -o out-%x-%j.txt\n#SBATCH --export=ALL,SEED=7 --requeue -p long --mail-type=END\n",
        )
        .unwrap();
        assert_eq!(batch.time, Some(Span::from_secs(5400)));
        assert_eq!(
            (batch.cores, batch.memory, batch.accelerators),
            (Some(8), Some(4), Some(2))
        );
        assert_eq!(batch.output.as_deref(), Some("out-fold-%j.txt"));
        assert_eq!(batch.error, batch.output);
        assert_eq!(batch.environment["SEED"], "7");
        assert_eq!(batch.environment["GRIDWEAVE_NAME"], "fold");
        assert!(batch.runs_again && !batch.waits);
        assert_eq!(
            batch.argv,
            ["/bin/bash", "-c", "echo $1\n", "job.sh", "one"]
        );
        assert_eq!(batch.notes.len(), 11);
        assert!(batch.notes.contains(
            &"--partition=long: left out, each site has its own, in its node.toml".to_owned()
        ));
    }

    #[test]
    fn all_that_is_not_understood_is_told_at_once() {
        let why = script(
            "#SBATCH --array=1-10 -N 2\n#SBATCH --frobnicate\n#SBATCH -L matlab -t UNLIMITED",
        )
        .unwrap_err();
        for part in [
            "--array=1-10: submit --count",
            "--nodes=2: under aria",
            "line 3: '--frobnicate'",
            "--licenses=matlab",
            "--time=UNLIMITED",
        ] {
            assert!(why.contains(part), "{part}: {why}");
        }
        assert!(!why.contains('\n'));
        for bad in [
            "--time",
            "--requeue=yes",
            "time=3",
            "-",
            "--mem=0",
            "--mem=lots",
            "-n 0",
            "'x",
            "--output=%N",
            "--gpus=a100:2",
            "--gres=fpga",
        ] {
            assert!(script(&format!("#SBATCH {bad}")).is_err(), "{bad}");
        }
    }

    #[test]
    fn options_end_at_the_first_command() {
        let batch = script("echo\n#SBATCH --array=1-10").unwrap();
        assert_eq!(batch.argv[2], "echo\n#SBATCH --array=1-10\necho $1\n");
        assert_eq!(batch.notes.len(), 0);
    }

    #[test]
    fn a_script_is_run_by_what_it_names() {
        let run = |first: &str| {
            read(&format!("{first}\nx\n"), "job", &[]).map(|batch| batch.argv.join(" "))
        };
        assert_eq!(
            run("#!/usr/bin/env python3").unwrap(),
            "/usr/bin/env python3 -c x\n"
        );
        assert_eq!(run("#!/bin/bash -l").unwrap(), "/bin/bash -l -c x\n job");
        assert_eq!(run("#!/usr/bin/perl").unwrap(), "/usr/bin/perl -e x\n");
        assert!(
            run("#!/usr/bin/Rscript")
                .unwrap_err()
                .contains("where all sites find it")
        );
        assert!(run("echo").unwrap_err().contains("no batch script"));
        assert!(read("", "job", &[]).is_err());
    }
}
