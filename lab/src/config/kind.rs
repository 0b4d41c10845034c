//! Kinds of nodes and organisations, as a part of a configuration.

use gridweave_core::admission::{Admission, Organisations};
use gridweave_core::id::OrganisationId;

use super::setting::{kinds, section};

/// The most kinds of nodes, and the most kinds of requirements.
const MOST_KINDS: usize = 64;

section! {
    /// Nodes that are alike.
    #[derive(Clone, PartialEq, Debug)]
    pub struct KindConfig {
        /// How many nodes are of this kind, in relation to the shares of the other kinds.
        pub share: f64 = 1.0,
        /// How many cores a node has.
        pub cores: u64 = 1,
        /// How much memory a node has, in MiB.
        pub memory: u64,
        /// The architecture of a node, by a name of your choice.
        pub architecture: Option<String>,
        /// The organisation that a node belongs to.
        pub organisation: u32,
        /// Whose jobs a node admits.
        pub admits: AdmitsConfig,
    }
}

/// Whose jobs a node admits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum AdmitsConfig {
    /// Those of every organisation.
    #[default]
    All,
    /// Those of its own organisation.
    Own,
    /// Those of these organisations, at most 16.
    Only {
        /// The organisations.
        organisations: Vec<u32>,
    },
    /// Those of every organisation that is not one of these, at most 16.
    Except {
        /// The organisations.
        organisations: Vec<u32>,
    },
}

kinds!(AdmitsConfig by "kind" {
    All {} = "all",
    Own {} = "own",
    Only { organisations } = "only",
    Except { organisations } = "except",
});

section! {
    /// What some jobs require of each of their nodes.
    #[derive(Clone, PartialEq, Debug)]
    pub struct RequiresConfig {
        /// The part of all jobs that require this; the seed draws them.
        pub share: f64 = 1.0,
        /// How many cores a node must have.
        pub cores: Option<u64>,
        /// How much memory a node must have, in MiB. If left out, as much as the trace says that the job requested.
        pub memory: Option<u64>,
        /// The architecture of a node, by its name in `grid.kinds`.
        pub architecture: Option<String>,
    }
}

impl AdmitsConfig {
    /// The admission of a node; `None` if there are too many organisations.
    pub fn admission(&self) -> Option<Admission> {
        let list = |these: &[u32]| {
            let these = these.iter().map(|number| OrganisationId::new(*number));
            Organisations::new(these).ok()
        };
        Some(match self {
            Self::All => Admission::All,
            Self::Own => Admission::Own,
            Self::Only { organisations } => Admission::Only(list(organisations)?),
            Self::Except { organisations } => Admission::Except(list(organisations)?),
        })
    }
}

/// Refuses kinds of nodes that cannot be.
pub(super) fn check_kinds(kinds: &[KindConfig]) -> Result<(), String> {
    if kinds.len() > MOST_KINDS {
        return Err(format!(
            "grid.kinds has more than {MOST_KINDS} kinds; give fewer"
        ));
    }
    for (index, kind) in kinds.iter().enumerate() {
        if !(kind.share > 0.0 && kind.share <= 1e6) {
            return Err(format!(
                "grid.kinds.{index}.share must be above 0 and at most 1000000, such as 1"
            ));
        }
        if kind.admits.admission().is_none() {
            return Err(format!(
                "grid.kinds.{index}.admits names more than {} organisations; give fewer",
                Organisations::MOST
            ));
        }
    }
    Ok(())
}

/// Refuses requirements that no configuration of nodes could be asked for.
pub(super) fn check_requires(
    requires: &[RequiresConfig],
    kinds: &[KindConfig],
) -> Result<(), String> {
    if requires.is_empty() {
        return Ok(());
    }
    if kinds.is_empty() {
        return Err("workload.requires is set, but all nodes are equal; set grid.kinds".into());
    }
    if requires.len() > MOST_KINDS {
        return Err(format!(
            "workload.requires has more than {MOST_KINDS} entries; give fewer"
        ));
    }
    let mut whole = 0.0;
    for (index, required) in requires.iter().enumerate() {
        if !(required.share > 0.0 && required.share <= 1.0) {
            return Err(format!(
                "workload.requires.{index}.share must be above 0 and at most 1, such as 0.3"
            ));
        }
        whole += required.share;
        let named = required.architecture.as_deref();
        let is_known = |name: &str| {
            let mut known = kinds.iter().filter_map(|kind| kind.architecture.as_deref());
            known.any(|known| known == name)
        };
        if let Some(name) = named.filter(|name| !is_known(name)) {
            return Err(format!(
                "workload.requires.{index}.architecture is '{name}', which no kind of node has; name one of grid.kinds"
            ));
        }
    }
    if whole > 1.0 + 1e-9 {
        return Err("the shares of workload.requires add up to more than 1; lower them".into());
    }
    Ok(())
}
