use gridweave_core::time::Time;

/// Someone who is told every step of a run; `()` does not care.
///
/// Jobs are named by their place in the workload.
pub trait Observer {
    /// A job came, and is not rejected.
    fn arrived(&mut self, _now: Time, _job: usize) {}
    /// A job starts.
    fn started(&mut self, _now: Time, _job: usize) {}
    /// A job ended.
    fn ended(&mut self, _now: Time, _job: usize) {}
    /// The scheduler counts on starting this job at `start`, or earlier if others end early: the reservation of EASY's
    /// first waiting job whenever it is computed, and that of a conservative scheduler's job when it is made or moved.
    fn promised(&mut self, _now: Time, _job: usize, _start: Time) {}
    /// The scheduler has started all it wants to at this instant.
    fn passed(&mut self, _now: Time) {}
}

impl Observer for () {}
