use gridweave_core::time::Time;

/// Receives every step of a run; `()` ignores them.
///
/// Jobs are given by their index in the workload.
pub trait Observer {
    /// A job came, and is not rejected.
    fn arrived(&mut self, _now: Time, _job: usize) {}
    /// A job starts.
    fn started(&mut self, _now: Time, _job: usize) {}
    /// A job ended.
    fn ended(&mut self, _now: Time, _job: usize) {}
    /// The scheduler plans to start this job at `start`, or earlier if others end early: EASY's reservation for the
    /// first waiting job whenever it is computed, and a conservative reservation when it is made or moved.
    fn promised(&mut self, _now: Time, _job: usize, _start: Time) {}
    /// The scheduler has started all the jobs that it wants to start at this instant.
    fn passed(&mut self, _now: Time) {}
}

impl Observer for () {}
