//! P2: On the Feasibility of Decentralized Grid Scheduling.

// Until the figures of the paper are made.
#[allow(dead_code)]
mod reference;
