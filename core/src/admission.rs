//! What a node has, and whose jobs it admits, as it tells its peers; and what a job needs of each of its nodes
//! (PROTOCOLS F14).
//!
//! A node tells its [`Attributes`] with what its peers learn of it anyway, so that a search passes over nodes that
//! cannot run a job or do not admit the job's organisation. The node judges again for itself before it holds time.
//!
//! ```
//! use gridweave_core::admission::{Admission, Attributes, Needs, Organisations, Stated, Unsuited};
//! use gridweave_core::id::OrganisationId;
//! use gridweave_core::job::Scope;
//! use gridweave_core::resource::{Dimensions, Kind, Requirement};
//!
//! let dimensions = Dimensions::new(&[("cores", Kind::Amount)])?;
//! let cores = dimensions.named("cores").unwrap();
//! let (ours, theirs) = (OrganisationId::new(1), OrganisationId::new(2));
//! let node = Stated::new(Attributes {
//!     organisation: ours,
//!     admission: Admission::Only(Organisations::new([ours])?),
//!     capability: dimensions.capability(&[8])?,
//! });
//!
//! let four = Needs::new(Requirement::any().with(cores, 4), Scope::Grid);
//! assert_eq!(node.suits(Some(&dimensions), ours, &four), Ok(()));
//! assert_eq!(node.suits(Some(&dimensions), theirs, &four), Err(Unsuited::NotAdmitted));
//! let nine = Needs::new(Requirement::any().with(cores, 9), Scope::Grid);
//! assert_eq!(node.suits(Some(&dimensions), ours, &nine), Err(Unsuited::Lacks));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "alloc")]
use alloc::sync::Arc;
use core::fmt;

use crate::few::Few;
use crate::id::OrganisationId;
use crate::job::{Job, Scope};
use crate::resource::{Capability, Dimensions, Requirement};

/// One value for all clones; without an allocator, each clone has its own.
#[cfg(feature = "alloc")]
type Held<T> = Arc<T>;
#[cfg(not(feature = "alloc"))]
type Held<T> = T;

/// A few organisations, each once.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Organisations(Few<OrganisationId, { Self::MOST }>);

impl Organisations {
    /// The most organisations of a list.
    pub const MOST: usize = 16;

    /// These organisations, in any order; more than [`Self::MOST`] different ones are an error.
    pub fn new(
        organisations: impl IntoIterator<Item = OrganisationId>,
    ) -> Result<Self, AdmissionError> {
        let mut list = Few::<_, { Self::MOST }>::new();
        for organisation in organisations {
            if !list.contains(&organisation) {
                list.push(organisation)
                    .map_err(|_| AdmissionError::TooMany)?;
            }
        }
        list.sort_unstable();
        Ok(Self(list))
    }

    /// The organisations in the order of their numbers.
    pub fn as_slice(&self) -> &[OrganisationId] {
        self.0.as_slice()
    }
}

/// Which organisations' jobs a node admits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Admission {
    /// Those of every organisation.
    #[default]
    All,
    /// Those of the node's own organisation.
    Own,
    /// Those of these organisations.
    Only(Organisations),
    /// Those of every organisation that is not one of these.
    Except(Organisations),
}

impl Admission {
    /// Whether a node of the organisation `own` admits jobs of this organisation.
    pub fn admits(&self, own: OrganisationId, organisation: OrganisationId) -> bool {
        match self {
            Self::All => true,
            Self::Own => organisation == own,
            Self::Only(these) => these.as_slice().contains(&organisation),
            Self::Except(these) => !these.as_slice().contains(&organisation),
        }
    }
}

/// What a node has, and whose jobs it admits. By default it has nothing to name, belongs to organisation 0 and admits
/// every job.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Attributes {
    /// The organisation that the node belongs to.
    pub organisation: OrganisationId,
    /// Which organisations' jobs it admits.
    pub admission: Admission,
    /// What it has in each dimension of the grid.
    pub capability: Capability,
}

impl Attributes {
    /// Those of a node that says nothing.
    const DEFAULT: Self = Self {
        organisation: OrganisationId::new(0),
        admission: Admission::All,
        capability: Capability::none(),
    };
}

/// The attributes that a node tells its peers; clones share them. If they are the default ones, it is one byte in a
/// message and nothing in memory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Stated(Option<Held<Attributes>>);

/// The attributes of all nodes that say nothing.
static DEFAULT: Attributes = Attributes::DEFAULT;

/// What a node states that says nothing.
static NOTHING: Stated = Stated::NOTHING;

impl Stated {
    /// Nothing: the default attributes.
    pub const NOTHING: Self = Self(None);

    /// These attributes.
    pub fn new(attributes: Attributes) -> Self {
        Self((attributes != Attributes::DEFAULT).then(|| held(attributes)))
    }

    /// Nothing, for as long as is wanted.
    pub fn nothing() -> &'static Self {
        &NOTHING
    }

    /// The attributes.
    pub fn attributes(&self) -> &Attributes {
        value(&self.0).unwrap_or(&DEFAULT)
    }

    /// Whether the node can run a job of this organisation with these needs, and admits it. Without dimensions, no node
    /// has what a requirement names.
    pub fn suits(
        &self,
        dimensions: Option<&Dimensions>,
        organisation: OrganisationId,
        needs: &Needs,
    ) -> Result<(), Unsuited> {
        if self.0.is_none() && needs.0.is_none() || canary!(EveryNodeSuits) {
            return Ok(());
        }
        let Attributes {
            organisation: own,
            admission,
            capability,
        } = self.attributes();
        if let Some(Need { requirement, scope }) = value(&needs.0) {
            let has = match dimensions {
                Some(dimensions) => dimensions.matches(capability, requirement),
                None => requirement.named().next().is_none(),
            };
            if !has {
                return Err(Unsuited::Lacks);
            }
            if *scope == Scope::Organisation && organisation != *own {
                return Err(Unsuited::NotAdmitted);
            }
        }
        match admission.admits(*own, organisation) {
            true => Ok(()),
            false => Err(Unsuited::NotAdmitted),
        }
    }
}

/// Whether a search passes over nodes that state that they cannot run a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Preselection {
    /// It does.
    #[default]
    ByAttributes,
    /// It does not, and nodes refuse the job one by one. For experiments.
    None,
}

impl Preselection {
    /// Whether a search takes a node that is judged like this, and if not, why.
    #[cfg(feature = "alloc")]
    pub(crate) fn judge(self, judged: Result<(), Unsuited>) -> Result<(), Unsuited> {
        match self {
            Self::ByAttributes => judged,
            Self::None => Ok(()),
        }
    }
}

/// Why a node cannot run a job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Unsuited {
    /// It lacks what the job requires.
    Lacks,
    /// It does not admit the job's organisation, or the job is to stay in another one.
    NotAdmitted,
}

/// What a job needs of each of its nodes, beside time: its requirement and its scope. Clones share it. If it needs
/// nothing, it is one byte in a message and nothing in memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Needs(Option<Held<Need>>);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Need {
    requirement: Requirement,
    scope: Scope,
}

impl Need {
    /// Whether every node meets it.
    fn is_nothing(&self) -> bool {
        self.scope == Scope::Grid && self.requirement.named().next().is_none()
    }
}

impl Needs {
    /// Nothing: any node will do.
    pub const NOTHING: Self = Self(None);

    /// A requirement and a scope.
    pub fn new(requirement: Requirement, scope: Scope) -> Self {
        let need = Need { requirement, scope };
        Self((!need.is_nothing()).then(|| held(need)))
    }

    /// Those of a job.
    pub fn of(job: &Job) -> Self {
        Self::new(job.requirement, job.scope)
    }
}

/// How many nodes of a search could run a job, and how many could not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tally {
    /// Nodes that could run it.
    pub suited: u32,
    /// Nodes that have what it requires, and do not admit it.
    pub closed: u32,
    /// Nodes that lack what it requires.
    pub lacking: u32,
}

impl Tally {
    /// Counts another node.
    pub fn count(&mut self, judged: Result<(), Unsuited>) {
        let of = match judged {
            Ok(()) => &mut self.suited,
            Err(Unsuited::NotAdmitted) => &mut self.closed,
            Err(_) => &mut self.lacking,
        };
        *of = of.saturating_add(1);
    }

    /// How many nodes were seen that could not run it.
    pub const fn unsuited(&self) -> u32 {
        self.closed.saturating_add(self.lacking)
    }

    /// Whether no node was seen.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Why there are too few nodes for a job that wants so many: there would be enough if more admitted it, or had what
    /// it requires. `None` if there are not so many nodes at all, or enough that could run it.
    pub const fn why_fewer_than(&self, count: u32) -> Option<Unsuited> {
        let open = self.suited.saturating_add(self.closed);
        if self.suited >= count {
            None
        } else if open >= count {
            Some(Unsuited::NotAdmitted)
        } else if open.saturating_add(self.lacking) >= count {
            Some(Unsuited::Lacks)
        } else {
            None
        }
    }
}

/// Why a list of organisations is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AdmissionError {
    /// There are more than [`Organisations::MOST`].
    TooMany,
    /// They are not sorted, or one is there twice.
    Unsorted,
}

impl fmt::Display for AdmissionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooMany => "a node can name at most 16 organisations",
            Self::Unsorted => "organisations are not sorted, or one is named twice",
        })
    }
}

impl core::error::Error for AdmissionError {}

/// Moves a value to where its clones share it.
#[cfg(feature = "alloc")]
fn held<T>(value: T) -> Held<T> {
    Arc::new(value)
}

/// Keeps a value where it is.
#[cfg(not(feature = "alloc"))]
fn held<T>(value: T) -> Held<T> {
    value
}

/// The value, if there is one.
#[cfg(feature = "alloc")]
fn value<T>(held: &Option<Held<T>>) -> Option<&T> {
    held.as_deref()
}

/// The value, if there is one.
#[cfg(not(feature = "alloc"))]
fn value<T>(held: &Option<Held<T>>) -> Option<&T> {
    held.as_ref()
}

#[cfg(feature = "serde")]
mod encoding {
    use super::{
        AdmissionError, Attributes, Few, Need, Needs, OrganisationId, Organisations, Stated, held,
        value,
    };
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    impl<'de> Deserialize<'de> for Organisations {
        fn deserialize<D: Deserializer<'de>>(decoder: D) -> Result<Self, D::Error> {
            let list = Few::<OrganisationId, { Self::MOST }>::deserialize(decoder)?;
            if !list.is_sorted_by(|a, b| a < b) {
                return Err(D::Error::custom(AdmissionError::Unsorted));
            }
            Ok(Self(list))
        }
    }

    impl Serialize for Stated {
        fn serialize<S: Serializer>(&self, encoder: S) -> Result<S::Ok, S::Error> {
            value(&self.0).serialize(encoder)
        }
    }

    impl<'de> Deserialize<'de> for Stated {
        fn deserialize<D: Deserializer<'de>>(decoder: D) -> Result<Self, D::Error> {
            // Default attributes that are spelled out become nothing, and have another encoding.
            let said = Option::<Attributes>::deserialize(decoder)?;
            Ok(said.map_or(Self::NOTHING, Self::new))
        }
    }

    impl Serialize for Needs {
        fn serialize<S: Serializer>(&self, encoder: S) -> Result<S::Ok, S::Error> {
            value(&self.0).serialize(encoder)
        }
    }

    impl<'de> Deserialize<'de> for Needs {
        fn deserialize<D: Deserializer<'de>>(decoder: D) -> Result<Self, D::Error> {
            let need = Option::<Need>::deserialize(decoder)?;
            Ok(Self(need.filter(|need| !need.is_nothing()).map(held)))
        }
    }
}

#[cfg(test)]
mod tests;
