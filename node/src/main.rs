//! The agent of a grid of real computers, and what its users and administrators call.

use std::process::ExitCode;

fn main() -> ExitCode {
    gridweave_node::program::main()
}
