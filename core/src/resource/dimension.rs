use core::fmt;

use super::{Capability, Requirement};

/// The most dimensions a grid can have.
pub const MAX_DIMENSIONS: usize = 8;

/// The longest name of a dimension, in bytes.
const MAX_NAME: usize = 24;

/// How a requirement in a dimension is met.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Kind {
    /// The node has at least as much, and a running job uses it up: cores, memory, disk.
    Amount,
    /// The node has at least as much, and jobs share it: processor speed, version.
    Level,
    /// The node has exactly this: architecture, operating system.
    Category,
}

/// One of the configured dimensions, as a position that is always below [`MAX_DIMENSIONS`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Dimension(u8);

/// The dimensions a grid agrees on, in order.
///
/// Two nodes that exchange vectors must be configured alike; the names are for people and configuration files.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Listed"))]
pub struct Dimensions {
    list: heapless::Vec<Named, MAX_DIMENSIONS, u8>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Named {
    name: heapless::String<MAX_NAME, u8>,
    kind: Kind,
}

/// Why a set of dimensions, or a vector over it, is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DimensionError {
    /// There are more than [`MAX_DIMENSIONS`].
    TooMany,
    /// Two have the same name.
    SameName,
    /// A name is empty or longer than 24 bytes.
    BadName,
    /// A vector has not exactly one value for each dimension.
    WrongLength,
}

impl Dimension {
    pub(super) const fn new(position: usize) -> Option<Self> {
        if position < MAX_DIMENSIONS {
            Some(Self(position as u8))
        } else {
            None
        }
    }

    /// Its position among the configured ones, from 0.
    pub const fn position(self) -> usize {
        self.0 as usize
    }
}

impl Dimensions {
    /// The dimensions with these names and kinds. There may be none; then every node matches every job.
    pub fn new(list: &[(&str, Kind)]) -> Result<Self, DimensionError> {
        let mut dimensions = Self {
            list: heapless::Vec::new(),
        };
        for &(name, kind) in list {
            dimensions.add(name, kind)?;
        }
        Ok(dimensions)
    }

    fn add(&mut self, name: &str, kind: Kind) -> Result<(), DimensionError> {
        if self.named(name).is_some() {
            return Err(DimensionError::SameName);
        }
        let name = heapless::String::try_from(name).map_err(|_| DimensionError::BadName)?;
        if name.is_empty() {
            return Err(DimensionError::BadName);
        }
        self.list
            .push(Named { name, kind })
            .map_err(|_| DimensionError::TooMany)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The dimension of this name.
    pub fn named(&self, name: &str) -> Option<Dimension> {
        Dimension::new(self.list.iter().position(|named| named.name == name)?)
    }

    /// Each dimension with its name and kind, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Dimension, &str, Kind)> + '_ {
        self.list
            .iter()
            .enumerate()
            .filter_map(|(position, named)| {
                Some((Dimension::new(position)?, named.name.as_str(), named.kind))
            })
    }

    /// The dimensions that running jobs use up: the K resources of the BM·FM score.
    pub fn amounts(&self) -> impl Iterator<Item = Dimension> + '_ {
        self.iter()
            .filter(|(_, _, kind)| *kind == Kind::Amount)
            .map(|(dimension, ..)| dimension)
    }

    /// A capability with these values, one per dimension.
    pub fn capability(&self, values: &[u64]) -> Result<Capability, DimensionError> {
        if values.len() != self.len() {
            return Err(DimensionError::WrongLength);
        }
        let dimensions = self.iter().map(|(dimension, ..)| dimension);
        Ok(dimensions
            .zip(values)
            .fold(Capability::none(), |capability, (dimension, &value)| {
                capability.with(dimension, value)
            }))
    }

    /// The first dimension that a requirement names and this grid does not have.
    pub fn unknown_in(&self, requirement: &Requirement) -> Option<Dimension> {
        requirement
            .named()
            .find(|(dimension, _)| dimension.position() >= self.len())
            .map(|(d, _)| d)
    }

    /// Whether a node with this capability, if it were idle, can run a job with this requirement: equal in each named
    /// category, at least as much in each named level and amount (PROTOCOLS A4). If a requirement names a dimension
    /// that is not configured, no node matches.
    pub fn matches(&self, capability: &Capability, requirement: &Requirement) -> bool {
        requirement.named().all(|(dimension, needed)| {
            let had = capability.value(dimension);
            match self.list.get(dimension.position()).map(|named| named.kind) {
                Some(Kind::Amount | Kind::Level) => had >= needed,
                Some(Kind::Category) => had == needed,
                None => false,
            }
        })
    }
}

impl fmt::Display for DimensionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooMany => "there are more than 8 dimensions",
            Self::SameName => "two dimensions have the same name",
            Self::BadName => "a dimension's name is empty or longer than 24 bytes",
            Self::WrongLength => "there is not exactly one value per dimension",
        })
    }
}

impl core::error::Error for DimensionError {}

#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Listed {
    list: heapless::Vec<Named, MAX_DIMENSIONS, u8>,
}

#[cfg(feature = "serde")]
impl TryFrom<Listed> for Dimensions {
    type Error = DimensionError;
    fn try_from(listed: Listed) -> Result<Self, DimensionError> {
        let mut dimensions = Self {
            list: heapless::Vec::new(),
        };
        for named in &listed.list {
            dimensions.add(&named.name, named.kind)?;
        }
        Ok(dimensions)
    }
}
