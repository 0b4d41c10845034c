//! Tests of the core through its public interface.

extern crate alloc;

mod eclipse;
mod introducers;
mod refused_configurations;
mod same_history;
#[cfg(feature = "wire")]
mod udp;
