//! What a node tells of itself: lines of a log, figures, events of jobs, and a status page.

mod events;
mod log;
mod metrics;
mod web;

pub use events::Events;
pub use log::start_log;
pub use metrics::Metrics;
pub use web::serve_web;
