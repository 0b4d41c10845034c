use std::path::{Path, PathBuf};

use redb::{CommitError, DatabaseError, StorageError, TableError, TransactionError};

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process has it open.
    #[error("{0} is in use by another agent")]
    InUse(PathBuf),
    /// It is damaged, or was cut short.
    #[error(
        "{file} is damaged: {what}; move it away to begin without it, and take a new certificate for the node"
    )]
    Corrupt {
        /// The file.
        file: PathBuf,
        /// What was found.
        what: String,
    },
    /// It is no store, or that of another node, scheduler or program.
    #[error("{file} has {what} '{found}', and '{expected}' is wanted")]
    Foreign {
        /// The file.
        file: PathBuf,
        /// What differs.
        what: &'static str,
        /// What it has.
        found: String,
        /// What this node would have.
        expected: String,
    },
    /// The file cannot be read or written.
    #[error("{file}: {error}")]
    Io {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// A change cannot be written: the disk may be full.
    #[error("the store cannot be used: {0}")]
    Library(#[from] redb::Error),
}

impl StoreError {
    pub(super) fn of_opening(file: &Path, error: DatabaseError) -> Self {
        let file = file.to_owned();
        let corrupt = |what: String| Self::Corrupt {
            file: file.clone(),
            what,
        };
        match error {
            DatabaseError::DatabaseAlreadyOpen => Self::InUse(file),
            DatabaseError::UpgradeRequired(found) => Self::Foreign {
                file,
                what: "the file format",
                found: found.to_string(),
                expected: "a later one".to_owned(),
            },
            DatabaseError::Storage(StorageError::Io(error)) => match error.kind() {
                // What the library says of a file that is no store.
                std::io::ErrorKind::InvalidData => Self::Foreign {
                    file,
                    what: "the file format",
                    found: "unknown".to_owned(),
                    expected: "a store".to_owned(),
                },
                std::io::ErrorKind::UnexpectedEof => corrupt("it is cut short".to_owned()),
                _ => Self::Io { file, error },
            },
            other => corrupt(other.to_string()),
        }
    }

    /// The same error, with the file in which a record is damaged.
    pub(super) fn at(self, file: &Path) -> Self {
        match self {
            Self::Library(
                error @ (redb::Error::Corrupted(_) | redb::Error::TableTypeMismatch { .. }),
            ) => Self::Corrupt {
                file: file.to_owned(),
                what: error.to_string(),
            },
            Self::Library(redb::Error::TableDoesNotExist(_)) => Self::Foreign {
                file: file.to_owned(),
                what: "the file format",
                found: "another program's".to_owned(),
                expected: "a store".to_owned(),
            },
            other => other,
        }
    }
}

macro_rules! from_library {
    ($($error:ident),*) => {
        $(impl From<$error> for StoreError {
            fn from(error: $error) -> Self {
                Self::Library(error.into())
            }
        })*
    };
}

from_library!(CommitError, StorageError, TableError, TransactionError);
