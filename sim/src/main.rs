//! The `gridweave` program.

use clap::{CommandFactory, Parser};
use gridweave_sim::Cli;

fn main() -> std::io::Result<()> {
    let Cli {} = Cli::parse();
    Cli::command().print_long_help()
}
