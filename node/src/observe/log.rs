use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

use crate::settings::Observe;

/// Writes lines of this process to its error output from now on.
pub fn start_log(settings: &Observe) {
    let level = settings.level.parse().unwrap_or(Level::INFO);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false);
    let lines = match settings.json {
        true => lines.json().with_current_span(false).boxed(),
        false => lines.boxed(),
    };
    // Libraries below tell of trouble only.
    let own = Targets::new()
        .with_target("gridweave", level)
        .with_default(LevelFilter::WARN);
    // A second log of the same process is not started.
    let _ = tracing_subscriber::registry()
        .with(lines.with_filter(own))
        .try_init();
}
