//! What a run is made of, as a file.

mod lasting;

pub use lasting::{Lasting, LastingError};
