//! The `gridweave` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    gridweave_lab::program::main()
}
