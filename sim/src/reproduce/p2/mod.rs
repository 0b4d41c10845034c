//! P2: *On the Feasibility of Decentralized Grid Scheduling*.

pub mod vivaldi;
