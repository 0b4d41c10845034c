//! Many runs from one file: every combination of the values of some keys.

use std::path::Path;

use serde::Deserialize;
use toml::{Table, Value};

use crate::config::{Config, ConfigError, read_text};
use crate::history::History;

/// A file that describes many runs.
///
/// ```
/// use gridweave_sim::experiment::Sweep;
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
/// # Ok::<(), gridweave_sim::config::ConfigError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Sweep {
    /// The runs, in the order of keys and their values; the last key changes fastest.
    pub points: Vec<Point>,
}

/// One run of a sweep.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// What sets it apart, which is also the name of its folder.
    pub name: String,
    /// What it varies, as text.
    pub values: Vec<(String, String)>,
    /// What is run.
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
    const MOST: usize = 100_000;

    /// Reads it from text.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let file: File = toml::from_str(text).map_err(|error| ConfigError::new(&error, text))?;
        let base = Config::from_table(file.base).map_err(|error| error.within("base"))?;
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
            let mut next = Vec::with_capacity(points.len() * values.len());
            for point in &points {
                for value in values {
                    next.push(point.with(key, value)?);
                }
            }
            points = next;
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

    /// Reads it from a file; errors begin with the file's name.
    pub fn read(file: &Path) -> Result<Self, ConfigError> {
        Self::parse(&read_text(file)?).map_err(|error| error.within(file.display()))
    }
}

impl Point {
    /// The most bytes of a name; systems take folders with up to 255.
    const LONGEST_NAME: usize = 120;

    /// Cuts a long name, with a digest of its values in place of the rest.
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

    fn with(&self, key: &str, value: &Value) -> Result<Self, ConfigError> {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let config = self
            .config
            .set(key, value.clone())
            .map_err(|error| error.within("vary"))?;
        // Folders cannot have every name.
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
    fn mistakes_are_told_in_one_line() {
        for (text, named) in [
            ("", "vary"),
            ("[vary]", "vary is empty"),
            ("[vary]\nseed = 3", "vary.seed"),
            ("[vary]\nseed = []", "vary.seed"),
            ("[vary]\nsed = [1]", "sed"),
            ("[vary]\nseed = [1, 1]", "seed=1"),
            ("[base]\nnodes = 3\n[vary]\nseed = [1]", "nodes"),
            ("[vary]\n'grid.nodes' = [0]", "grid.nodes"),
            ("[varied]\nseed = [1]", "varied"),
        ] {
            let error = Sweep::parse(text).unwrap_err().to_string();
            assert!(error.contains(named), "{text}: {error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }
}
