//! Many runs from one file: every combination of the values of some keys, or of keys that change together.

use std::path::Path;

use serde::Deserialize;
use toml::{Table, Value};

use crate::config::{Config, ConfigError, Source, read_text};
use gridweave_sim::history::History;

/// A file that describes many runs.
///
/// ```
/// use gridweave_lab::experiment::Sweep;
///
/// let sweep = Sweep::parse("
///     [base]
///     scheduler = 'central-easy'
///     [vary]
///     'workload.estimates' = ['kill', 'exact']
///     'grid.nodes' = [1000, 2000]
/// ")?;
/// assert_eq!(sweep.points.len(), 4);
/// assert_eq!(sweep.points[1].name, "grid.nodes=1000,workload.estimates=exact");
///
/// // Keys with a comma between them change together. The first one names the runs.
/// let sweep = Sweep::parse("
///     [vary]
///     'scheduler, workload.shape' = [['asap', 'gangs'], ['aria', 'serial']]
/// ")?;
/// assert_eq!(sweep.points.len(), 2);
/// assert_eq!(sweep.points[1].name, "scheduler=aria");
/// # Ok::<(), gridweave_lab::config::ConfigError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Sweep {
    /// The runs, in the order of keys and their values; the last key changes fastest.
    pub points: Vec<Point>,
}

/// One run of a sweep.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// The varied values as text; also the name of its folder.
    pub name: String,
    /// The varied keys with their values; of keys that change together, only the first.
    pub values: Vec<(String, String)>,
    /// The configuration of the run.
    pub config: Config,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    base: Table,
    vary: Table,
}

impl Sweep {
    /// The most runs of a sweep.
    const MOST: usize = 10_000;

    /// The most keys that a sweep varies.
    const MOST_KEYS: usize = 64;

    /// The most bytes of all configurations together.
    const MOST_BYTES: usize = 256 << 20;

    /// Reads a sweep from text.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let file: File = toml::from_str(text).map_err(|error| ConfigError::new(&error, text))?;
        let base = Config::from_table(file.base).map_err(|error| error.within("base"))?;
        let size = base.to_toml()?.len();
        let mut points = vec![Point {
            name: String::new(),
            values: Vec::new(),
            config: base,
        }];
        if file.vary.is_empty() {
            return Err(ConfigError::from(
                "vary is empty; give a key and a list of its values",
            ));
        }
        let all: Vec<&str> = file.vary.keys().flat_map(|key| parts(key)).collect();
        if all.len() > Self::MOST_KEYS {
            return Err(ConfigError::from(format!(
                "vary has more than {} keys; vary fewer",
                Self::MOST_KEYS
            )));
        }
        if let Some(key) = all.iter().find(|&key| is_twice(key, &all)) {
            return Err(ConfigError::from(format!(
                "vary has {key} twice; give each key once"
            )));
        }
        for (key, values) in &file.vary {
            let values = values.as_array().filter(|values| !values.is_empty());
            let Some(values) = values else {
                return Err(ConfigError::from(format!(
                    "vary.{key} is no list of values; write [first, second]"
                )));
            };
            if points.len().saturating_mul(values.len()) > Self::MOST {
                return Err(ConfigError::from(format!(
                    "more than {} runs; vary fewer keys",
                    Self::MOST
                )));
            }
            let runs = points.len() * values.len();
            if runs.saturating_mul(size) > Self::MOST_BYTES {
                return Err(ConfigError::from(format!(
                    "{runs} runs with a base of {size} bytes each; vary fewer keys, or have fewer faults"
                )));
            }
            let mut next = Vec::with_capacity(runs);
            for point in &points {
                for value in values {
                    next.push(point.with(key, value)?);
                }
            }
            points = next;
        }
        for key in &all {
            refuse_idle(key, &points)?;
        }
        for point in &mut points {
            point.shorten();
        }
        let mut names: Vec<&str> = points.iter().map(|point| point.name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ConfigError::from(format!(
                "two runs are called {}; give each value once",
                pair[0]
            )));
        }
        Ok(Self { points })
    }

    /// Reads a sweep from a file; errors begin with the file's name.
    pub fn read(file: &Path) -> Result<Self, ConfigError> {
        Self::parse(&read_text(file)?).map_err(|error| error.within(file.display()))
    }
}

/// The keys that change together: they have a comma between them.
fn parts(keys: &str) -> impl Iterator<Item = &str> {
    keys.split(',').map(str::trim)
}

/// Refuses a key of a generator that no run uses: all runs would be the same.
fn refuse_idle(key: &str, points: &[Point]) -> Result<(), ConfigError> {
    let below = key.strip_prefix("workload.");
    let owner = below.and_then(|below| {
        let (name, _) = below.split_once('.')?;
        Source::GENERATORS
            .into_iter()
            .find(|source| source.key() == name)
    });
    let Some(owner) = owner else {
        return Ok(());
    };
    let used = |point: &Point| point.config.workload.source == owner;
    if points.iter().any(used) {
        return Ok(());
    }
    Err(ConfigError::from(format!(
        "vary.'{key}' is about a workload that is not run; set workload.source to '{}' under [base]",
        owner.key().replace('_', "-")
    )))
}

fn is_twice(key: &str, among: &[&str]) -> bool {
    among.iter().filter(|other| **other == key).count() > 1
}

impl Point {
    /// The most bytes of a name; file systems allow 255.
    const LONGEST_NAME: usize = 120;

    /// Cuts a long name, and adds a digest of its values.
    fn shorten(&mut self) {
        if self.name.len() <= Self::LONGEST_NAME {
            return;
        }
        let mut history = History::new();
        for (key, value) in &self.values {
            history.bytes(format!("{key}={value}\n").as_bytes());
        }
        let digest = &history.digest()[..16];
        let most = Self::LONGEST_NAME - digest.len() - 1;
        let mut cuts = (0..=most).rev();
        let kept = cuts.find(|&at| self.name.is_char_boundary(at)).unwrap_or(0);
        self.name = format!("{}-{digest}", &self.name[..kept]);
    }

    /// The same with one key set, or with several that change together. The first one is added to the name.
    fn with(&self, keys: &str, value: &Value) -> Result<Self, ConfigError> {
        let values = match value {
            Value::Array(values) if keys.contains(',') => values,
            one => &vec![one.clone()],
        };
        let count = parts(keys).count();
        let (Some(key), Some(first), true) =
            (parts(keys).next(), values.first(), values.len() == count)
        else {
            return Err(ConfigError::from(format!(
                "vary.'{keys}' has {value}, which is no list of {count} values; write [first, second] for each run"
            )));
        };
        let text = match first {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let mut config = self.config.clone();
        for (key, value) in parts(keys).zip(values) {
            config = config
                .set(key, value.clone())
                .map_err(|error| error.within("vary"))?;
        }
        // Replaces characters that a folder name cannot have everywhere.
        let plain = |c: char| {
            if c.is_alphanumeric() || "-+.%".contains(c) {
                c
            } else {
                '_'
            }
        };
        let short: String = text.chars().map(plain).collect();
        let comma = if self.name.is_empty() { "" } else { "," };
        let mut values = self.values.clone();
        values.push((key.to_owned(), text));
        Ok(Self {
            name: format!("{}{comma}{key}={short}", self.name),
            values,
            config,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let long = "x".repeat(300);
        let text = format!(
            "[base.workload]\nsource = 'trace'\ntrace = 'a'\n[vary]\n'workload.trace' = ['{long}1', '{long}2']"
        );
        let sweep = Sweep::parse(&text).unwrap();
        let [one, other] = sweep.points.as_slice() else {
            panic!("{sweep:?}");
        };
        assert_ne!(one.name, other.name);
        assert_eq!((one.name.len(), other.name.len()), (120, 120));
    }

    #[test]
    fn what_would_take_too_long_or_too_much_memory_is_refused() {
        let seeds = |count: usize| {
            let seeds: Vec<String> = (0..count).map(|seed| seed.to_string()).collect();
            format!("[vary]\nseed = [{}]\n", seeds.join(","))
        };
        let faults = "[[base.faults]]\nwhat = 'crash'\nat = '1h'\nnode = 1\n".repeat(18_000);
        let keys: Vec<String> = (0..100_000).map(|key| format!("k{key}")).collect();
        for (text, named) in [
            (seeds(10_001), "more than 10000 runs"),
            (
                format!("{}{faults}", seeds(2_000)),
                "2000 runs with a base of",
            ),
            (
                format!("[vary]\n'{}' = [1]", keys.join(",")),
                "more than 64 keys",
            ),
            (
                format!("[vary]\n'{}b' = [1]", "a.".repeat(100_000)),
                "16 parts",
            ),
        ] {
            let error = Sweep::parse(&text).unwrap_err().to_string();
            assert!(error.contains(named), "{named}: {error}");
        }
    }

    #[test]
    fn keys_change_together_or_each_for_itself() {
        let text =
            "[vary]\n'grid.nodes, seed' = [[10, 1], [20, 2]]\nscheduler = ['random', 'flood']";
        let sweep = Sweep::parse(text).unwrap();
        let made = sweep.points.iter().map(|point| {
            let Config {
                grid,
                seed,
                scheduler,
                ..
            } = &point.config;
            (grid.nodes, *seed, scheduler.name())
        });
        let wanted = [
            (10, 1, "random"),
            (10, 1, "flood"),
            (20, 2, "random"),
            (20, 2, "flood"),
        ];
        let wanted = wanted.map(|(nodes, seed, name)| (Some(nodes), seed, name));
        assert_eq!(made.collect::<Vec<_>>(), wanted);
        assert_eq!(sweep.points[3].name, "grid.nodes=20,scheduler=flood");
    }

    #[test]
    fn mistakes_are_told_in_one_line() {
        for (text, named) in [
            ("", "vary"),
            ("[vary]", "vary is empty"),
            ("[vary]\nseed = 3", "vary.seed"),
            ("[vary]\nseed = []", "vary.seed"),
            ("[vary]\nsed = [1]", "sed"),
            ("[vary]\n'seed, grid.nodes' = [1]", "list of 2 values"),
            ("[vary]\n'seed, grid.nodes' = [[1]]", "list of 2 values"),
            ("[vary]\n'seed, grid.nodes' = [[1, 2], [1, 3]]", "seed=1"),
            ("[vary]\n'seed, ' = [[1, 2]]", "key is missing"),
            (
                "[vary]\nseed = [1]\n'grid.nodes, seed' = [[1, 2]]",
                "seed twice",
            ),
            ("[vary]\nseed = [1, 1]", "seed=1"),
            ("[base]\nnodes = 3\n[vary]\nseed = [1]", "nodes"),
            ("[vary]\n'grid.nodes' = [0]", "grid.nodes"),
            ("[varied]\nseed = [1]", "varied"),
            (
                "[vary]\n'workload.grid5000_like.nodes' = [10, 20]",
                "set workload.source to 'grid5000-like'",
            ),
        ] {
            let error = Sweep::parse(text).unwrap_err().to_string();
            assert!(error.contains(named), "{text}: {error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }
}
