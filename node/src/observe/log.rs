use tracing::Level;

use crate::settings::Observe;

/// Writes lines of this process to its error output from now on.
pub fn start_log(settings: &Observe) {
    let level = settings.level.parse().unwrap_or(Level::INFO);
    let lines = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_ansi(false);
    // A second log of the same process is not started.
    let _ = match settings.json {
        true => lines.json().with_current_span(false).try_init(),
        false => lines.try_init(),
    };
}
