//! The configuration of a run, as a file.
//!
//! A run depends only on its [`Config`]. It is read from TOML. A run writes its configuration back with all defaults
//! filled in, and that file repeats the run.
//!
//! ```
//! use gridweave_lab::config::Config;
//!
//! let mut config = Config::parse("scheduler = 'central-easy'\n[workload]\nestimates = 'kill'")?;
//! config = config.with("grid.nodes=100")?;
//! assert_eq!(config.grid.nodes, Some(100));
//!
//! let error = Config::parse("schedular = 'central-easy'").unwrap_err();
//! assert!(error.to_string().contains("schedular"));
//! # Ok::<(), gridweave_lab::config::ConfigError>(())
//! ```

pub(crate) mod error;
pub(crate) mod fault;
mod kind;
pub(crate) mod network;
pub(crate) mod setting;
mod workload;

pub use error::ConfigError;
pub use fault::Fault;
pub use kind::{AdmitsConfig, KindConfig, RequiresConfig};
pub use network::{DelayConfig, NetworkConfig, NetworkError, Partition};
pub use workload::{Shape, Source, WorkloadConfig};

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use gridweave_core::time::Span;
use setting::{Setting, Wrong, section, words};
use toml::{Table, Value};

use crate::schedulers::name::Scheduler;
use crate::schedulers::rules::Rules;
use crate::unreadable::advice;
use crate::workload::generate::MOST_MIXED_NODES;

/// Everything that a run depends on.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Config {
    /// The scheduler.
    pub scheduler: Scheduler,
    /// Decides everything that is random.
    pub seed: u64,
    /// The nodes.
    pub grid: GridConfig,
    /// The jobs.
    pub workload: WorkloadConfig,
    /// The network between the nodes; centralised schedulers do not use it.
    pub network: NetworkConfig,
    /// Nodes that go down, come up and join; centralised schedulers do not use it.
    pub faults: Vec<Fault>,
    /// The settings of each scheduler: one table for each, beside the other tables here.
    pub rules: Rules,
    /// How results are summarised.
    pub report: ReportConfig,
}

impl Setting for Config {
    fn read(value: &Value) -> Result<Self, Wrong> {
        let mut all = Self::default();
        for (key, value) in setting::table(value)? {
            let read = match key.as_str() {
                "scheduler" => Scheduler::read(value).map(|it| all.scheduler = it),
                "seed" => u64::read(value).map(|it| all.seed = it),
                "grid" => GridConfig::read(value).map(|it| all.grid = it),
                "workload" => WorkloadConfig::read(value).map(|it| all.workload = it),
                "network" => NetworkConfig::read(value).map(|it| all.network = it),
                "faults" => Vec::read(value).map(|it| all.faults = it),
                "report" => ReportConfig::read(value).map(|it| all.report = it),
                _ => match all.rules.read(key, value) {
                    Some(read) => read,
                    None => {
                        let known = [Self::KEYS, Rules::KEYS].concat();
                        return Err(setting::unknown(key, &known));
                    }
                },
            };
            read.map_err(|wrong| wrong.at(key))?;
        }
        Ok(all)
    }

    fn write(&self) -> Option<Value> {
        let mut table = Table::new();
        for (key, value) in [
            ("scheduler", self.scheduler.write()),
            ("seed", self.seed.write()),
            ("grid", self.grid.write()),
            ("workload", self.workload.write()),
            ("network", self.network.write()),
            ("faults", self.faults.write()),
        ] {
            setting::put(&mut table, key, value);
        }
        self.rules.write(&mut table);
        setting::put(&mut table, "report", self.report.write());
        Some(Value::Table(table))
    }
}

words! {
    /// How large the sites of a grid are.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum SiteSizes {
        /// As equal as possible.
        #[default]
        Equal = "equal",
        /// In proportion to the most processors that the jobs of each site of the trace would use at once. The trace must
        /// have as many sites.
        Peaks = "peaks",
    }
}

section! {
    /// The nodes.
    #[derive(Clone, PartialEq, Debug)]
    pub struct GridConfig {
        /// How many nodes there are; if left out, as many as the workload says.
        pub nodes: Option<u32> = None,
        /// How many processors of a trace make up one node. A job takes whole nodes.
        pub cores_per_node: u32 = 1,
        /// Into how many sites the nodes of a trace are put; a job then runs inside one site. If left out, there are no
        /// sites.
        pub sites: Option<u32> = None,
        /// How large the sites are.
        pub site_sizes: SiteSizes = SiteSizes::Equal,
        /// Kinds of nodes, with what they have and whose jobs they admit; if left out, all nodes are equal and admit every
        /// job. For `asap`, `criteria` and `aria`.
        pub kinds: Vec<KindConfig>,
        /// If nothing happens to any job for so long, the jobs without an outcome count as lost.
        pub patience: Span = Span::from_secs(7 * 86_400),
        /// When the simulation ends, even if jobs are still open; if left out, when every job has its outcome.
        /// Centralised schedulers ignore it.
        pub until: Option<Span> = None,
    }
}

section! {
    /// How results are summarised.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct ReportConfig {
        /// How much time each row of `series.csv` covers.
        pub window: Span = Span::from_secs(3600),
        /// In the bounded slowdown, shorter jobs count as if they ran so long.
        pub slowdown_threshold: Span = Span::from_secs(10),
        /// After every so many events, the machine that handled the last one checks its invariants: 1 checks after
        /// every event.
        pub check_every: u32 = 64,
        /// With `desktop`: how often zones, load and balloons are written; if left out, never.
        pub zones: Option<Span> = None,
    }
}

impl Config {
    /// The top-level keys, without those of schedulers.
    const KEYS: &[&str] = &[
        "scheduler",
        "seed",
        "grid",
        "workload",
        "network",
        "faults",
        "report",
    ];

    /// The largest seed: TOML has no larger numbers.
    pub const LARGEST_SEED: u64 = i64::MAX as u64;

    /// Reads a configuration from text.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let table: Table = text
            .parse()
            .map_err(|error| ConfigError::new(&error, text))?;
        Self::read(&Value::Table(table))
            .map_err(|wrong| ConfigError::in_text(&wrong, text))
            .and_then(Self::checked)
    }

    /// Reads a configuration from a file; errors begin with the file's name.
    pub fn read_file(file: &Path) -> Result<Self, ConfigError> {
        Self::parse(&read_text(file)?).map_err(|error| error.within(file.display()))
    }

    /// The same with one key set, from `key=value`: the key is dotted, the value is TOML or a plain word.
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
        Self::from_table(whole)
    }

    /// Reads a configuration from a table.
    pub fn from_table(table: Table) -> Result<Self, ConfigError> {
        Self::read(&Value::Table(table))
            .map_err(|wrong| ConfigError(wrong.to_string()))
            .and_then(Self::checked)
    }

    /// The configuration as a table, which reads back as the same. Refuses values that TOML cannot hold.
    pub fn to_table(&self) -> Result<Table, ConfigError> {
        self.check_for_toml()?;
        match self.write() {
            Some(Value::Table(table)) => Ok(table),
            _ => Err(ConfigError::from("a configuration is a table")),
        }
    }

    /// Refuses values that TOML cannot hold.
    fn check_for_toml(&self) -> Result<(), ConfigError> {
        if self.seed > Self::LARGEST_SEED {
            return Err(ConfigError::from(
                "seed is above 9223372036854775807, which TOML cannot hold; give a smaller one",
            ));
        }
        match self.files().find(|file| file.to_str().is_none()) {
            None => Ok(()),
            Some(file) => Err(ConfigError(format!(
                "{}: its name is not UTF-8, which TOML cannot hold; rename the file",
                file.display()
            ))),
        }
    }

    /// The configuration as text, which repeats the run; unused generators are left out.
    pub fn to_toml(&self) -> Result<String, ConfigError> {
        let mut table = self.to_table()?;
        if let Some(Value::Table(workload)) = table.get_mut("workload") {
            for generator in Source::GENERATORS {
                if self.workload.source != generator {
                    workload.remove(generator.key());
                }
            }
        }
        Ok(table.to_string())
    }

    /// The files that the configuration names.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let trace = self.workload.trace.as_deref();
        let own = trace.into_iter().chain(self.network.delay.file());
        own.chain(self.rules.files())
    }

    /// The same with absolute file names, so that it means the same in every folder.
    #[must_use]
    pub(crate) fn with_absolute_files(mut self) -> Self {
        let absolute = |file: &mut PathBuf| {
            // This fails only for an empty name, which is no file anyway.
            if let Ok(absolute) = std::path::absolute(&file) {
                *file = absolute;
            }
        };
        self.workload.trace.as_mut().map(absolute);
        self.network.delay.file_mut().map(absolute);
        self.rules.files_mut(absolute);
        self
    }

    /// Refuses settings that are wrong for any workload.
    pub(crate) fn checked(self) -> Result<Self, ConfigError> {
        let wrong = |what: &str| Err(ConfigError(what.into()));
        self.check_for_toml()?;
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
        if self.report.window.is_zero() {
            return wrong(
                "report.window is 0s; give the length of a row of series.csv, such as 1h",
            );
        }
        if self.report.zones.is_some_and(Span::is_zero) {
            return wrong("report.zones is 0s; give how often to write zones down, such as 10m");
        }
        if self.report.check_every == 0 {
            return wrong("report.check_every is 0; give 1 to check machines after every event");
        }
        kind::check_kinds(&self.grid.kinds).map_err(ConfigError)?;
        if !self.grid.kinds.is_empty() && self.grid.sites.is_some() {
            return wrong("grid.kinds is set, and so is grid.sites; drop one of them");
        }
        kind::check_requires(&self.workload.requires, &self.grid.kinds).map_err(ConfigError)?;
        self.workload.checked().map_err(ConfigError)?;
        network::check(&self.network).map_err(|error| ConfigError(error.to_string()))?;
        self.rules.checked()?;
        Ok(self)
    }
}

/// The text of a configuration file; refuses files that are too large or not text.
pub(crate) fn read_text(file: &Path) -> Result<String, ConfigError> {
    const MOST_BYTES: u64 = 1 << 20;
    let explain = |what: String| ConfigError(format!("{}: {what}", file.display()));
    let unreadable = |error: io::Error| {
        let advice = advice(&error, "check the path");
        explain(format!("cannot be read ({error}); {advice}"))
    };
    // The size in the metadata cannot be trusted: devices and pipes have none.
    let mut bytes = Vec::new();
    std::fs::File::open(file)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(explain(
            "is larger than 1 MiB, so it is no configuration; give one in TOML".into(),
        ));
    }
    String::from_utf8(bytes)
        .map_err(|_| explain("is not text; give a configuration in TOML".into()))
}

/// The most parts of a dotted key; real keys have up to four.
const MOST_PARTS: usize = 16;

/// A value from the command line: TOML if it parses, else a word.
fn plain_value(text: &str) -> Value {
    let wrapped = format!("value = {text}");
    toml::from_str::<Table>(&wrapped)
        .ok()
        .filter(|table| table.len() == 1)
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.into()))
}

fn insert(table: &mut Table, key: &str, value: Value) -> Result<(), ConfigError> {
    // Each part is a table within a table, and those are read, dropped and printed by recursion.
    if key.split('.').count() > MOST_PARTS {
        return Err(ConfigError(format!(
            "a key of more than {MOST_PARTS} parts; none has so many, so check it"
        )));
    }
    insert_below(table, key, value)
}

fn insert_below(table: &mut Table, key: &str, value: Value) -> Result<(), ConfigError> {
    match key.split_once('.') {
        None if key.is_empty() => Err(ConfigError(
            "a key is missing before '='; write key=value, such as grid.nodes=100".into(),
        )),
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
                    // Another kind has other parameters, and would refuse those of the old kind.
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
    use crate::schedulers::aria::AriaConfig;
    use crate::schedulers::desktop::DesktopConfig;
    use gridweave_core::time::Time;

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
            Span::from_secs(1800)
        );
        let network = set("network.delay={ kind = 'constant', delay = '5ms' }").unwrap();
        let network = network.with("network.loss=0.5").unwrap();
        assert_eq!(network.network.loss, 0.5);
        let zero = network.with("network.delay.kind=zero").unwrap();
        assert_eq!(zero.network.delay, DelayConfig::Zero);
    }

    #[test]
    fn a_value_that_toml_cannot_hold_is_refused() {
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

    /// A message that a partition cuts off counts as lost.
    #[test]
    fn machines_are_careful_where_a_message_may_be_lost() {
        let safe = NetworkConfig::default();
        let lossy = NetworkConfig {
            loss: 0.01,
            ..safe.clone()
        };
        let parted = NetworkConfig {
            partitions: vec![Partition {
                from: Time::from_secs(1),
                until: Time::from_secs(2),
                nodes: vec![[0, 1]],
            }],
            ..safe.clone()
        };
        let aria = |network| AriaConfig::default().for_machines(network, &[]).lease;
        let most = gridweave_core::resource::Capability::none();
        let desktop = |network| {
            let config = DesktopConfig::default().for_machines(network, &[], 4, most);
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

    const SEVENTEEN: &str = "grid.kinds=[{ admits = { kind = 'only', organisations = \
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17] } }]";

    #[test]
    fn requirements_that_no_kind_of_node_could_meet_by_name_or_that_are_too_many_are_refused() {
        let kinds = Config::default()
            .with("grid.kinds=[{ architecture = 'x86' }, { memory = 9, organisation = 2 }]")
            .unwrap();
        let text = kinds.to_toml().unwrap();
        assert_eq!(Config::parse(&text), Ok(kinds.clone()));
        for (setting, named) in [
            ("workload.requires=[{ architecture = 'arm' }]", "'arm'"),
            (
                "workload.requires=[{ share = 1.5 }]",
                "workload.requires.0.share",
            ),
            (
                "workload.requires=[{ share = 0.6 }, { share = 0.5 }]",
                "more than 1",
            ),
            ("grid.sites=2", "grid.sites"),
        ] {
            let error = kinds.with(setting).unwrap_err().to_string();
            assert!(error.contains(named), "{setting}: {error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
        assert!(
            kinds
                .with("workload.requires=[{ architecture = 'x86' }]")
                .is_ok()
        );
    }

    #[test]
    fn a_mistake_is_reported_in_one_line_that_names_it() {
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
            ("grid.kinds=[{ share = 0 }]", "grid.kinds.0.share"),
            ("grid.kinds=[{ shares = 1 }]", "grid.kinds.0.shares"),
            ("grid.kinds=[{ cores = -1 }]", "grid.kinds.0.cores"),
            ("grid.kinds=[{ admits = 'own' }]", "grid.kinds.0.admits"),
            ("grid.kinds=[{ admits = { kind = 'some' } }]", "some"),
            (SEVENTEEN, "16 organisations"),
            ("workload.organisations=0", "workload.organisations"),
            ("workload.requires=[{ cores = 4 }]", "set grid.kinds"),
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
