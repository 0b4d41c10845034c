use std::io;
use std::path::Path;

use gridweave_core::job::Outcome;

use super::fate::{Decided, Fate};
use crate::clock::wall;
use crate::executor::folder::Folder;
use crate::executor::supervise;

/// How the script ends if the attempt must not begin.
const NOT_BEGUN: u8 = 75;

/// Variables that Slurm sets for a job, and that its program gets, too.
const SLURMS: [&str; 5] = ["SLURM", "CUDA_", "ROCR_", "GPU_", "TMPDIR"];

/// Runs the attempt in this folder under a supervisor, unless it was taken back, has begun before, or is late. Slurm
/// starts this; the code says whether the program did its work.
pub fn begin_at_site(path: &Path) -> io::Result<u8> {
    let folder = Folder::new(path);
    let mut order = folder.order()?;
    let now = wall(order.clock_offset);
    if folder.until() <= now {
        eprintln!("gridweave-node: it is too late to begin");
        return Ok(NOT_BEGUN);
    }
    let fate = Fate::Begun(now.as_micros()).decide(path)?;
    if let Decided::Before(fate) = fate {
        eprintln!("gridweave-node: not begun here: {fate:?}");
        return Ok(NOT_BEGUN);
    }
    for (name, value) in std::env::vars() {
        if SLURMS.iter().any(|prefix| name.starts_with(prefix)) {
            order.environment.entry(name).or_insert(value);
        }
    }
    folder.write_order(&order)?;
    let outcome = supervise(path)?;
    Ok(u8::from(outcome != Outcome::Done))
}
