//! The core from outside, as those see it who embed it.

extern crate alloc;

mod eclipse;
mod refused_configurations;
mod same_history;
#[cfg(feature = "wire")]
mod udp;
