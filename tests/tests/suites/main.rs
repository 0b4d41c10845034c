//! The suites of the workspace in one program, so that all they need is linked once. `cargo test -p gridweave-tests
//! NAME` runs one.

mod algebra;
mod aria_model;
mod asap;
mod bad_arguments;
mod central;
mod central_mixed;
mod commit_model;
mod commit_simulated;
mod costs;
mod criteria;
mod custody_model;
mod custody_scenarios;
mod cyclon;
mod flood;
mod fuzzing;
mod golden;
mod healing;
mod invariants;
mod pages;
mod select;
mod site;
mod twins;
mod vicinity;
mod wire;
