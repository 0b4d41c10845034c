//! What a run is made of, as a file.
//!
//! A [`Config`] is everything that a run depends on, so that a run is a function of it. It is read from TOML, and what a run
//! writes back, with everything filled in that was left open, repeats that run.
//!
//! ```
//! use gridweave_sim::config::Config;
//!
//! let mut config = Config::parse("scheduler = 'central-easy'\n[workload]\nestimates = 'kill'")?;
//! config = config.with("grid.nodes=100")?;
//! assert_eq!(config.grid.nodes, Some(100));
//!
//! let error = Config::parse("schedular = 'central-easy'").unwrap_err();
//! assert!(error.to_string().contains("schedular"));
//! # Ok::<(), gridweave_sim::config::ConfigError>(())
//! ```

mod aria;
mod asap;
mod criteria;
mod desktop;
mod workload;

pub use crate::lasting::{Lasting, LastingError};
pub use aria::{AriaConfig, ForwardName, LatenessName, OverlayName, PolicyName, TakingName};
pub use asap::{
    AsapConfig, ChoiceName, ExchangeName, LinksName, MOST_LINKS, MOST_SHUFFLED, SearcherName,
};
pub use criteria::{
    Criteria, CriteriaConfig, CriterionName, ExplorationName, HelperName, MOST_GOSSIP, MOST_NEAR,
    ObjectiveConfig, PartConfig, PlacesConfig,
};
pub use desktop::{DesktopConfig, PreferenceName, ResiduesName, SchedulingName};
pub use workload::{Shape, Source, WorkloadConfig};

use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::decentral::flood::FloodConfig;
use crate::network::NetworkConfig;
use crate::scheduler::Scheduler;
use crate::workload::generate::MOST_MIXED_NODES;

/// Everything that a run depends on.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Who schedules.
    pub scheduler: Scheduler,
    /// Decides everything that is left to chance.
    pub seed: u64,
    /// The nodes.
    pub grid: GridConfig,
    /// The jobs.
    pub workload: WorkloadConfig,
    /// What lies between the nodes; centralised schedulers do not use it.
    pub network: NetworkConfig,
    /// Nodes that go down, come up and join; centralised schedulers do not suffer it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// How `asap` schedules.
    pub asap: AsapConfig,
    /// How `criteria` schedules.
    pub criteria: CriteriaConfig,
    /// How `aria` schedules.
    pub aria: AriaConfig,
    /// How `desktop` schedules.
    pub desktop: DesktopConfig,
    /// The times and sizes of the scheduler `flood`; others do not use it.
    pub flood: FloodConfig,
    /// How results are summed up.
    pub report: ReportConfig,
}

/// The nodes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GridConfig {
    /// How many; what the workload says if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// How many processors of a trace make up one node. A job takes whole nodes.
    pub cores_per_node: u32,
    /// Into how many sites the nodes of a trace are put, as evenly as possible; a job then runs inside one. Left out, each node is for
    /// itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sites: Option<u32>,
    /// For how long nothing may happen to any job before those without an outcome count as lost.
    pub patience: Lasting,
    /// When the simulation ends, whatever is under way; if left out, when every job has its outcome. Centralised schedulers
    /// always go on until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Lasting>,
}

impl Default for GridConfig {
    fn default() -> Self {
        Self {
            nodes: None,
            cores_per_node: 1,
            sites: None,
            patience: Lasting::seconds(7 * 86_400),
            until: None,
        }
    }
}

/// Something that happens to a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Fault {
    /// It goes down.
    Crash {
        /// When.
        at: Lasting,
        /// Which.
        node: u32,
    },
    /// It comes up again, with its disk.
    Restart {
        /// When.
        at: Lasting,
        /// Which.
        node: u32,
    },
    /// A node that was not there before comes up; those that join are numbered in this order, after all others.
    Join {
        /// When.
        at: Lasting,
    },
}

/// How results are summed up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReportConfig {
    /// How much time each row of `series.csv` covers.
    pub window: Lasting,
    /// Jobs that run for less count as so long in the bounded slowdown.
    pub slowdown_threshold: Lasting,
    /// After every so many events, the machine that handled the last of them is asked whether its invariants hold: 1 is
    /// after every event.
    pub check_every: u32,
    /// How often to write down zones, load and balloons, with `desktop`; never, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<Lasting>,
}

impl Default for ReportConfig {
    fn default() -> Self {
        Self {
            window: Lasting::seconds(3600),
            slowdown_threshold: Lasting::seconds(10),
            check_every: 64,
            zones: None,
        }
    }
}

/// Why there is no such configuration; one line that says what is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

impl ConfigError {
    /// The same, with where it was found in front.
    #[must_use]
    pub fn within(self, place: impl std::fmt::Display) -> Self {
        Self(format!("{place}: {}", self.0))
    }

    /// TOML's errors show the line in question over several lines; this puts them into one.
    pub(crate) fn new(error: &toml::de::Error, text: &str) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map(|before| before.matches('\n').count() + 1);
        let message = error.message().replace('\n', " ");
        Self(match line {
            Some(line) => format!("line {line}: {message}"),
            None => message,
        })
    }
}

impl<T: Into<String>> From<T> for ConfigError {
    fn from(what: T) -> Self {
        Self(what.into())
    }
}

impl Config {
    /// The largest seed: TOML's numbers end there.
    pub const LARGEST_SEED: u64 = i64::MAX as u64;

    /// Reads it from text.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        toml::from_str(text)
            .map_err(|error| ConfigError::new(&error, text))
            .and_then(Self::checked)
    }

    /// Reads it from a file; errors begin with the file's name.
    pub fn read(file: &Path) -> Result<Self, ConfigError> {
        Self::parse(&read_text(file)?).map_err(|error| error.within(file.display()))
    }

    /// The same with one key set, given as `key=value`: keys are dotted, values are TOML or plain words.
    pub fn with(&self, setting: &str) -> Result<Self, ConfigError> {
        let (key, value) = setting.split_once('=').ok_or_else(|| {
            ConfigError(format!(
                "'{setting}' sets nothing; write key=value, such as grid.nodes=100"
            ))
        })?;
        let (key, value) = (key.trim(), value.trim());
        self.set(key, plain_value(value))
    }

    /// The same with one dotted key set.
    pub fn set(&self, key: &str, value: Value) -> Result<Self, ConfigError> {
        let mut whole = self.to_table()?;
        insert(&mut whole, key, value)?;
        Self::from_table(whole).map_err(|error| error.within(key))
    }

    /// Reads it from a table.
    pub fn from_table(table: Table) -> Result<Self, ConfigError> {
        table
            .try_into()
            .map_err(|error: toml::de::Error| ConfigError(error.message().replace('\n', " ")))
            .and_then(Self::checked)
    }

    /// As a table, which reads back as the same. Refused is what TOML cannot hold.
    pub fn to_table(&self) -> Result<Table, ConfigError> {
        Table::try_from(self).map_err(|error| ConfigError(error.to_string().replace('\n', " ")))
    }

    /// As text, which repeats the same run; generators that are not used are left out.
    pub fn to_toml(&self) -> Result<String, ConfigError> {
        let mut table = self.to_table()?;
        if let Some(Value::Table(workload)) = table.get_mut("workload") {
            for generator in Source::GENERATORS {
                if self.workload.source != generator {
                    workload.remove(generator.key());
                }
            }
        }
        toml::to_string(&table).map_err(|error| ConfigError(error.to_string().replace('\n', " ")))
    }

    /// The files that it names.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let trace = self.workload.trace.as_deref();
        let places = self.criteria.places.file();
        trace
            .into_iter()
            .chain(self.network.delay.file())
            .chain(places)
    }

    /// The same with the names of files from the root on, so that it means the same everywhere.
    #[must_use]
    pub(crate) fn with_absolute_files(mut self) -> Self {
        let files = self.workload.trace.as_mut().into_iter();
        let places = self.criteria.places.file_mut();
        for file in files.chain(self.network.delay.file_mut()).chain(places) {
            // It fails only for an empty name, which is no file anyway.
            if let Ok(absolute) = std::path::absolute(&file) {
                *file = absolute;
            }
        }
        self
    }

    /// Refuses what can be seen to be wrong without looking at the workload.
    pub(crate) fn checked(self) -> Result<Self, ConfigError> {
        let wrong = |what: &str| Err(ConfigError(what.into()));
        if self.seed > Self::LARGEST_SEED {
            return wrong(
                "seed is above 9223372036854775807, which TOML cannot hold; give a smaller one",
            );
        }
        if let Some(file) = self.files().find(|file| file.to_str().is_none()) {
            return Err(ConfigError(format!(
                "{}: its name is not UTF-8, which TOML cannot hold; rename the file",
                file.display()
            )));
        }
        if self.grid.nodes == Some(0) {
            return wrong("grid.nodes is 0; a grid needs at least one node");
        }
        if self.grid.sites == Some(0) {
            return wrong("grid.sites is 0; give at least one, or leave it out");
        }
        if self
            .grid
            .sites
            .is_some_and(|sites| sites > MOST_MIXED_NODES)
        {
            return Err(ConfigError(format!(
                "grid.sites is above {MOST_MIXED_NODES}; each takes memory, so give fewer"
            )));
        }
        if self.grid.cores_per_node == 0 {
            return wrong("grid.cores_per_node is 0; give at least one");
        }
        if self.report.window.span().is_zero() {
            return wrong(
                "report.window is 0s; give the length of a row of series.csv, such as 1h",
            );
        }
        if self
            .report
            .zones
            .is_some_and(|every| every.span().is_zero())
        {
            return wrong("report.zones is 0s; give how often to write zones down, such as 10m");
        }
        if self.asap.warm_up > AsapConfig::MOST_CYCLES {
            return Err(ConfigError(format!(
                "asap.warm_up is above {}; an overlay has settled long before",
                AsapConfig::MOST_CYCLES
            )));
        }
        if self.report.check_every == 0 {
            return wrong("report.check_every is 0; give 1 to check machines after every event");
        }
        self.workload.checked().map_err(ConfigError)?;
        self.network
            .check()
            .map_err(|error| ConfigError(error.to_string()))?;
        self.criteria.checked()?;
        self.aria.checked()?;
        self.desktop.checked()?;
        self.flood.checked().map_err(ConfigError)?;
        Ok(self)
    }
}

/// The text of a configuration file, if that is what it is.
pub(crate) fn read_text(file: &Path) -> Result<String, ConfigError> {
    const MOST_BYTES: u64 = 1 << 20;
    let explain = |what: String| ConfigError(format!("{}: {what}", file.display()));
    let unreadable = |error| explain(format!("cannot be read ({error}); check the path"));
    // What a file says of its size cannot be trusted: devices and pipes have none.
    let mut bytes = Vec::new();
    std::fs::File::open(file)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(explain(
            "is larger than 1 MiB, so it is no configuration".into(),
        ));
    }
    String::from_utf8(bytes)
        .map_err(|_| explain("is not text; give a configuration in TOML".into()))
}

/// The most parts of a dotted key; ours have up to four.
const MOST_PARTS: usize = 16;

/// A value from the command line: TOML if it is, else a word.
fn plain_value(text: &str) -> Value {
    let wrapped = format!("value = {text}");
    toml::from_str::<Table>(&wrapped)
        .ok()
        .filter(|table| table.len() == 1)
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.into()))
}

fn insert(table: &mut Table, key: &str, value: Value) -> Result<(), ConfigError> {
    // Each part is a table in a table, which are read, dropped and printed by recursion.
    if key.split('.').count() > MOST_PARTS {
        return Err(ConfigError(format!(
            "a key of more than {MOST_PARTS} parts; none has so many, so check it"
        )));
    }
    insert_below(table, key, value)
}

fn insert_below(table: &mut Table, key: &str, value: Value) -> Result<(), ConfigError> {
    match key.split_once('.') {
        None if key.is_empty() => Err(ConfigError("a key is missing before '='".into())),
        None => {
            table.insert(key.into(), value);
            Ok(())
        }
        Some((first, rest)) => {
            let below = table
                .entry(first)
                .or_insert_with(|| Value::Table(Table::new()));
            match below {
                Value::Table(below) => {
                    // Another kind has other parameters: those of the old kind would be unknown to it.
                    if rest == "kind" {
                        below.clear();
                    }
                    insert_below(below, rest, value)
                }
                _ => Err(ConfigError(format!("{first} is a value and has no {rest}"))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_reads_back_as_itself() {
        let config = Config::default();
        let text = config.to_toml().unwrap();
        assert_eq!(Config::parse(&text), Ok(config.clone()));
        assert_eq!(Config::parse(""), Ok(config));
    }

    #[test]
    fn keys_are_set_by_their_dotted_names() {
        let config = Config::default();
        let set = |setting: &str| config.with(setting);
        assert_eq!(set("seed=7").unwrap().seed, 7);
        assert_eq!(
            set("workload.estimates=kill").unwrap().workload.estimates,
            crate::outcome::Estimates::Kill
        );
        assert_eq!(
            set("report.window = 30m").unwrap().report.window,
            Lasting::seconds(1800)
        );
        let network = set("network.delay={ kind = 'constant', delay = '5ms' }").unwrap();
        let network = network.with("network.loss=0.5").unwrap();
        assert_eq!(network.network.loss, 0.5);
        let zero = network.with("network.delay.kind=zero").unwrap();
        assert_eq!(zero.network.delay, crate::network::DelayConfig::Zero);
    }

    #[test]
    fn what_toml_cannot_hold_is_refused_and_never_dropped() {
        let config = Config {
            seed: u64::MAX,
            ..Config::default()
        };
        assert!(config.to_table().is_err() && config.to_toml().is_err());
        assert!(config.with("grid.nodes=5").is_err());
        assert!(config.checked().unwrap_err().to_string().contains("seed"));
        let largest = Config {
            seed: Config::LARGEST_SEED,
            ..Config::default()
        };
        assert_eq!(largest.with("grid.nodes=5").unwrap().seed, largest.seed);
    }

    /// What a partition cuts off is lost like anything else.
    #[test]
    fn machines_are_careful_where_a_message_may_be_lost() {
        let safe = NetworkConfig::default();
        let lossy = NetworkConfig {
            loss: 0.01,
            ..safe.clone()
        };
        let parted = NetworkConfig {
            partitions: vec![crate::network::Partition {
                from: Lasting::seconds(1),
                until: Lasting::seconds(2),
                nodes: vec![[0, 1]],
            }],
            ..safe.clone()
        };
        let aria = |network| AriaConfig::default().for_machines(network, &[]).lease;
        let most = gridweave_core::resource::Capability::none();
        let desktop = |network| {
            let config = DesktopConfig::default().for_machines(network, &[], true, most);
            (config.runs.lease, config.owners.lease, config.resend)
        };
        assert_eq!(aria(&parted), aria(&lossy));
        assert_ne!(aria(&parted), aria(&safe));
        assert_eq!(desktop(&parted), desktop(&lossy));
        assert!(desktop(&parted).2.is_some() && desktop(&safe).2.is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_whose_name_is_no_text_is_refused() {
        use std::os::unix::ffi::OsStrExt;
        let mut config = Config::default();
        config.workload.source = Source::Trace;
        config.workload.trace = Some(std::ffi::OsStr::from_bytes(b"a\xff.swf").into());
        assert!(config.with("seed=1").is_err());
        assert!(config.checked().unwrap_err().to_string().contains("UTF-8"));
    }

    #[test]
    fn a_file_without_end_is_no_configuration() {
        let endless = Path::new("/dev/zero");
        if endless.exists() {
            let error = read_text(endless).unwrap_err().to_string();
            assert!(error.contains("1 MiB"), "{error}");
        }
    }

    #[test]
    fn a_key_of_many_parts_is_refused_before_it_is_a_table() {
        let deep = format!("{}b=1", "a.".repeat(100_000));
        let error = Config::default().with(&deep).unwrap_err().to_string();
        assert!(error.contains("more than 16 parts"), "{error}");
        let file = format!("{}b = 1", "a.".repeat(100_000));
        Config::parse(&file).unwrap_err();
    }

    #[test]
    fn mistakes_are_told_in_one_line_that_names_them() {
        let config = Config::default();
        for (setting, named) in [
            ("seed", "key=value"),
            ("=5", "key is missing"),
            ("sed=5", "sed"),
            ("grid.nodes=0", "grid.nodes"),
            ("grid.nodes=-3", "grid.nodes"),
            ("seed.x=1", "seed is a value"),
            ("scheduler=slurm", "slurm"),
            ("report.window=0s", "report.window"),
            ("report.window=1 hour", "1 hour"),
            ("report.zones=0s", "report.zones"),
            ("grid.sites=1000001", "grid.sites"),
            ("network.loss=1.5", "network.loss"),
            ("asap.warm_up=10001", "asap.warm_up"),
            ("report.check_every=0", "report.check_every"),
            ("report.check_every=-1", "report.check_every"),
            ("workload.load=0", "workload.load"),
            ("workload.stretch=0", "workload.stretch"),
            ("workload.slot=0s", "workload.slot"),
        ] {
            let error = config.with(setting).unwrap_err().to_string();
            assert!(error.contains(named), "{setting}: {error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
        let error = Config::parse("seed = 1\n[grid]\nnodez = 3\n")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 3") && error.contains("nodez"),
            "{error}"
        );
    }
}
