//! What to do about a file that cannot be read.

use std::io;

/// The advice for this error. A folder needs other advice than the rest.
pub(crate) fn advice(error: &io::Error, otherwise: &'static str) -> &'static str {
    match error.kind() {
        io::ErrorKind::IsADirectory => "name a file in it instead",
        _ => otherwise,
    }
}
