//! What goes wrong in Rust, as the exceptions of Python.

use std::error::Error;
use std::io::{self, ErrorKind};

use gridweave_lab::config::ConfigError;
use gridweave_lab::experiment::InputError;
use gridweave_lab::results::{FolderError, FolderProblem};
use gridweave_lab::workload::ReadError;
use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileNotFoundError, PyMemoryError, PyOSError, PyPermissionError, PyRuntimeError, PyValueError,
};

/// Something that went wrong, with its message in one line.
pub(crate) enum Failure {
    /// An argument, a setting or the content of a file is wrong.
    Value(String),
    /// The system refuses something.
    System(ErrorKind, String),
    /// There is too little memory.
    Memory(String),
    /// A defect of this library.
    Defect(String),
}

impl Failure {
    pub(crate) fn value(message: impl Into<String>) -> Self {
        Self::Value(message.into())
    }

    /// The same, with the place in front of it.
    pub(crate) fn within(self, place: &str) -> Self {
        let placed = |message: String| format!("{place}: {message}");
        match self {
            Self::Value(message) => Self::Value(placed(message)),
            Self::System(kind, message) => Self::System(kind, placed(message)),
            Self::Memory(message) => Self::Memory(placed(message)),
            Self::Defect(message) => Self::Defect(placed(message)),
        }
    }

    /// The error of the system about a file.
    pub(crate) fn of_file(file: &std::path::Path, error: &io::Error) -> Self {
        let message = format!(
            "{}: cannot be read ({error}); check the path",
            file.display()
        );
        Self::System(error.kind(), message)
    }
}

/// The words of the command line, such as `--nodes`, as arguments of Python, such as `nodes=`.
fn in_python(message: &str) -> String {
    let mut parts = message.split(" --");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_lowercase() && c != '-');
        let (name, rest) = part.split_at(end.unwrap_or(part.len()));
        text.push(' ');
        text.push_str(&name.replace('-', "_"));
        text.push('=');
        text.push_str(rest);
    }
    text
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        let message = error.to_string();
        match error {
            InputError::Read(ReadError::Io { cause, .. }) => Self::System(cause.kind(), message),
            InputError::TooLittleMemory { .. } => Self::Memory(message),
            _ => Self::Value(message),
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        InputError::from(error).into()
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Value(error.to_string())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let message = format!("{error:#}");
        let error = match error.downcast::<InputError>() {
            Ok(error) => return error.into(),
            Err(error) => error,
        };
        let folder = error.downcast_ref::<FolderError>();
        if let Some(FolderProblem::Unwritable(cause)) = folder.map(|error| &error.problem) {
            return Self::System(cause.kind(), message);
        }
        let system = error
            .chain()
            .find_map(<dyn Error>::downcast_ref::<io::Error>);
        match system {
            Some(cause) => Self::System(cause.kind(), message),
            None => Self::Value(message),
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Value(message) => PyValueError::new_err(in_python(&message)),
            Failure::Memory(message) => PyMemoryError::new_err(in_python(&message)),
            Failure::Defect(message) => PyRuntimeError::new_err(message),
            Failure::System(kind, message) => {
                let message = in_python(&message);
                match kind {
                    ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
                    ErrorKind::PermissionDenied => PyPermissionError::new_err(message),
                    _ => PyOSError::new_err(message),
                }
            }
        }
    }
}
