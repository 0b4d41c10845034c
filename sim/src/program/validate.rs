//! `gridweave validate`.

use std::path::Path;

use super::Ending;
use super::session::Session;
use crate::config::Config;
use crate::experiment::{Sweep, prepare};
use crate::network::Network;

/// Checks a configuration or a sweep, down to the files that it names.
pub(super) fn validate(session: &Session, file: &Path) -> anyhow::Result<Ending> {
    let is_sweep = std::fs::read_to_string(file)
        .ok()
        .and_then(|text| text.parse::<toml::Table>().ok())
        .is_some_and(|table| table.contains_key("vary"));
    if is_sweep {
        let sweep = Sweep::read(file)?;
        session.say(&format!(
            "{}: a sweep of {} runs",
            file.display(),
            sweep.points.len()
        ));
        return Ok(Ending::Done);
    }
    let config = Config::read(file)?;
    let prepared = prepare(&config)?;
    let nodes = prepared.grid.len();
    Network::new(
        &config.network,
        u32::try_from(nodes).unwrap_or(u32::MAX),
        config.seed,
    )?;
    session.say(&format!(
        "{}: {} with {} jobs of {} on {nodes} nodes",
        file.display(),
        config.scheduler,
        prepared.workload.jobs.len(),
        prepared.workload.name
    ));
    Ok(Ending::Done)
}
