//! How `gridweave-core` is tested: slow obvious twins of its layers, drivers that hold both to the same answers, and
//! checkers for the invariants by name.
//!
//! - [`twins`]: each layer beside a model that is too simple to be wrong, driven by one set of steps.
//! - [`fuzzing`]: the bodies of the fuzz targets, which drive the same twins from bytes.
//! - [`oracles`]: centralised schedulers straight from their rules, for the simulator's to be compared with.
//! - [`watched`]: a grid of `asap` or `criteria` nodes whose host trusts none of them.
//! - [`committing`]: coordinators and participants over a bad network, with crashes.
//! - [`steps`]: the steps of all of these, written down for the proofs in `tests/proofs`.
//! - [`model`]: machines under a model checker, every order of deliveries, timers and crashes.
//! - [`wire`]: messages of every kind, a second reader that knows the grammar alone, and the test vectors.
//! - [`healing`]: overlays in bad states, and what they promise once faults are over.
//! - [`invariants`]: what must hold of any history, as checkers that know nothing of the code under test.
//!
//! The suites are in `tests/tests`; run them with `cargo test`.

pub mod committing;
pub mod configuration;
pub mod fuzzing;
pub mod healing;
pub mod invariants;
pub mod model;
pub mod oracles;
pub mod steps;
pub mod twins;
pub mod watched;
pub mod wire;

/// A size of a test: whole in a release build, small in a debug build, which takes ten times as long.
pub const fn scaled(whole: u32, small: u32) -> u32 {
    if cfg!(debug_assertions) { small } else { whole }
}

/// The README's example runs as it stands.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The guide's examples run as they stand.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/embedding.md")]
#[doc = include_str!("../../docs/guide/embedding-asap.md")]
#[doc = include_str!("../../docs/guide/embedding-criteria.md")]
#[doc = include_str!("../../docs/guide/embedding-aria.md")]
#[doc = include_str!("../../docs/guide/embedding-desktop.md")]
struct Embedding;
