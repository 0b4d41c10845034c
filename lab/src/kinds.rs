//! Which node is of which kind, and what jobs require of nodes.
//!
//! ```
//! use gridweave_lab::config::Config;
//! use gridweave_lab::kinds::Kinds;
//!
//! let config = Config::parse(
//!     "[[grid.kinds]]\nshare = 3\ncores = 8\n[[grid.kinds]]\ncores = 64\norganisation = 1\nadmits = { kind = 'own' }",
//! )?;
//! let kinds = Kinds::of(&config, 8).unwrap();
//! let large = kinds.stated.iter().filter(|node| node.attributes().organisation.get() == 1);
//! assert_eq!(large.count(), 2);
//! # Ok::<(), gridweave_lab::config::ConfigError>(())
//! ```

use gridweave_core::admission::{Attributes, Stated};
use gridweave_core::commit::Selective;
use gridweave_core::id::{NodeId, OrganisationId};
use gridweave_core::resource::{Capability, Dimension, Dimensions, Kind, Requirement};
use gridweave_core::rng::Choose;
use gridweave_core::shared::Shared;
use gridweave_sim::hosting::Grounds;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use crate::config::{Config, KindConfig, RequiresConfig};
use crate::experiment::nodes::stream;
use crate::workload::{Submission, Workload};

/// The nodes of a grid that has several kinds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kinds {
    /// Cores, memory and architecture.
    pub dimensions: Shared<Dimensions>,
    /// What each node states; all nodes of a kind share it.
    pub stated: Vec<Stated>,
}

/// The dimensions of all grids with several kinds of nodes.
struct Space {
    dimensions: Dimensions,
    cores: Dimension,
    memory: Dimension,
    architecture: Dimension,
}

impl Space {
    fn new() -> Self {
        let names = [
            ("cores", Kind::Amount),
            ("memory", Kind::Amount),
            ("architecture", Kind::Category),
        ];
        let dimensions = Dimensions::new(&names).expect("there are three, with names of their own");
        let named = |name| dimensions.named(name).expect("it is one of the three");
        let [cores, memory, architecture] = names.map(|(name, _)| named(name));
        Self {
            dimensions,
            cores,
            memory,
            architecture,
        }
    }
}

/// The number of an architecture: its place among the kinds, from 1; 0 is none.
fn architecture(kinds: &[KindConfig], name: Option<&String>) -> u64 {
    let mut names = kinds.iter().map(|kind| kind.architecture.as_ref());
    let index = name.and_then(|name| names.position(|known| known == Some(name)));
    index.map_or(0, |index| index as u64 + 1)
}

impl Kinds {
    /// The kinds of so many nodes; `None` if all nodes are equal. Which node is of which kind depends on the seed.
    pub fn of(config: &Config, nodes: u32) -> Option<Self> {
        let kinds = &config.grid.kinds;
        if kinds.is_empty() {
            return None;
        }
        let space = Space::new();
        let of_kind = kinds.iter().map(|kind| {
            let capability = Capability::none()
                .with(space.cores, kind.cores)
                .with(space.memory, kind.memory)
                .with(
                    space.architecture,
                    architecture(kinds, kind.architecture.as_ref()),
                );
            Stated::new(Attributes {
                organisation: OrganisationId::new(kind.organisation),
                // More organisations than a list may have are refused when the configuration is read.
                admission: kind.admits.admission().unwrap_or_default(),
                capability,
            })
        });
        let all: f64 = kinds.iter().map(|kind| kind.share).sum();
        let (mut stated, mut passed) = (Vec::new(), 0.0);
        for (kind, said) in kinds.iter().zip(of_kind) {
            passed += kind.share;
            let until = (f64::from(nodes) * passed / all).round() as usize;
            stated.resize(until.clamp(stated.len(), nodes as usize), said);
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(stream(config.seed, 8));
        rng.shuffle(&mut stated);
        Some(Self {
            dimensions: Shared::new(space.dimensions),
            stated,
        })
    }

    /// What the simulator's watcher of jobs must know.
    pub fn grounds(&self) -> Grounds {
        Grounds {
            dimensions: self.dimensions.get().clone(),
            stated: self.stated.clone(),
        }
    }
}

/// The policy of each node of these kinds; with none, all nodes are equal and admit every job.
pub(crate) fn policies(kinds: Option<Kinds>) -> impl Fn(NodeId) -> Selective + 'static {
    let none = || Shared::new(Dimensions::new(&[]).expect("there may be no dimension"));
    let dimensions = kinds
        .as_ref()
        .map_or_else(none, |kinds| kinds.dimensions.clone());
    let stated = kinds.map_or(Vec::new(), |kinds| kinds.stated);
    move |node| Selective {
        dimensions: dimensions.clone(),
        stated: stated.get(node.get() as usize).cloned().unwrap_or_default(),
    }
}

/// Puts the groups of a workload into as many organisations as configured, from 1 on. If no job has a group, users count
/// as groups; if no job has a user either, each job is drawn.
pub(crate) fn organise(workload: &mut Workload, config: &Config) {
    let Some(organisations) = config.workload.organisations else {
        return;
    };
    let any = |number: fn(&Submission) -> u32| workload.jobs.iter().any(|job| number(job) != 0);
    let (groups, users) = (any(|job| job.group), any(|job| job.user));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(stream(config.seed, 9));
    for job in &mut workload.jobs {
        let member = match (groups, users) {
            (true, _) => job.group % organisations,
            (false, true) => job.user % organisations,
            (false, false) => rng.below(organisations),
        };
        job.group = 1 + member;
    }
}

/// Draws what each job requires, as configured; a job requires the memory that its trace says it requested.
pub(crate) fn require(workload: &mut Workload, config: &Config) {
    let (kinds, requires) = (&config.grid.kinds, &config.workload.requires);
    if kinds.is_empty() || !workload.requirements.is_empty() {
        return;
    }
    let space = Space::new();
    let has_memory = kinds.iter().any(|kind| kind.memory > 0);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(stream(config.seed, 10));
    let required = |job: &Submission, drawn: Option<&RequiresConfig>| {
        let mut requirement = Requirement::any();
        let mut add = |dimension, needed: Option<u64>| {
            if let Some(needed) = needed {
                requirement = requirement.with(dimension, needed);
            }
        };
        let requested = job.memory.map(|kib| kib.div_ceil(1024));
        let memory = drawn.and_then(|drawn| drawn.memory).or(requested);
        add(space.cores, drawn.and_then(|drawn| drawn.cores));
        add(space.memory, memory.filter(|_| has_memory));
        let named = drawn.and_then(|drawn| drawn.architecture.as_ref());
        add(
            space.architecture,
            named.map(|name| architecture(kinds, Some(name))),
        );
        requirement
    };
    let mut requirements = Vec::with_capacity(workload.jobs.len());
    for job in &workload.jobs {
        let drawn = f64::from(rng.below(1_000_000)) / 1e6;
        let mut passed = 0.0;
        let kind = requires.iter().find(|kind| {
            passed += kind.share;
            drawn < passed
        });
        requirements.push(required(job, kind));
    }
    if requirements.iter().any(|it| *it != Requirement::any()) {
        workload.requirements = requirements;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridweave_core::time::{Span, Time};

    const TWO_KINDS: &str = "[[grid.kinds]]\nshare = 1\nmemory = 8\narchitecture = 'x86'\n\
        [[grid.kinds]]\nshare = 3\nmemory = 64\narchitecture = 'power'\n";

    fn config(more: &str) -> Config {
        Config::parse(&format!("{TWO_KINDS}{more}")).unwrap()
    }

    fn workload(jobs: u64, change: impl Fn(&mut Submission)) -> Workload {
        let job = |number| {
            let mut job = Submission::new(number, Time::ZERO, Span::from_secs(1), 1);
            change(&mut job);
            job
        };
        Workload {
            jobs: (0..jobs).map(job).collect(),
            ..Workload::default()
        }
    }

    fn named(name: &str) -> Dimension {
        Space::new().dimensions.named(name).unwrap()
    }

    #[test]
    fn each_kind_gets_its_share_of_any_number_of_nodes_by_seed() {
        for (nodes, large) in [(0, 0), (1, 1), (4, 3), (10, 7), (1000, 750)] {
            let kinds = Kinds::of(&config(""), nodes).unwrap();
            assert_eq!(kinds.stated.len(), nodes as usize);
            let of_large =
                |node: &&Stated| node.attributes().capability.value(named("memory")) == 64;
            assert_eq!(
                kinds.stated.iter().filter(of_large).count(),
                large,
                "{nodes}"
            );
        }
        let drawn = |seed: &str| Kinds::of(&config("").with(seed).unwrap(), 100).unwrap();
        assert_eq!(drawn("seed=1"), drawn("seed=1"));
        assert_ne!(drawn("seed=1"), drawn("seed=2"));
        assert_eq!(Kinds::of(&Config::default(), 9), None);
    }

    #[test]
    fn groups_else_users_else_the_seed_decide_on_organisations() {
        let organised = |change: fn(&mut Submission)| {
            let mut workload = workload(40, change);
            organise(&mut workload, &config("[workload]\norganisations = 3\n"));
            let groups: Vec<u32> = workload.jobs.iter().map(|job| job.group).collect();
            groups
        };
        let by_number: Vec<u32> = (0..40).map(|number| 1 + number % 3).collect();
        assert_eq!(organised(|job| job.group = job.number as u32), by_number);
        assert_eq!(organised(|job| job.user = job.number as u32), by_number);
        let drawn = organised(|_| {});
        assert!(drawn.iter().all(|group| (1..=3).contains(group)));
        assert!((1..=3).all(|group| drawn.contains(&group)));
    }

    #[test]
    fn a_job_requires_what_was_drawn_for_it_or_the_memory_that_it_requested() {
        let requires = "[[workload.requires]]\nshare = 0.5\ncores = 1\narchitecture = 'power'\n";
        let mut drawn = workload(1000, |job| job.memory = Some(2049));
        require(&mut drawn, &config(requires));
        let memory = |it: &Requirement| it.value(named("memory"));
        assert!(drawn.requirements.iter().all(|it| memory(it) == Some(3)));
        let power = |it: &&Requirement| it.value(named("architecture")) == Some(2);
        let drawn = drawn.requirements.iter().filter(power).count();
        assert!((400..600).contains(&drawn), "{drawn}");

        let mut plain = workload(5, |_| {});
        require(&mut plain, &config(""));
        assert_eq!(plain.requirements, []);
    }
}
