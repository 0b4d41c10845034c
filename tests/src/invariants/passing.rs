use std::collections::BTreeMap;

use gridweave_core::id::JobId;
use gridweave_core::machine::Violation;
use gridweave_core::queue::Waiting;

/// Counts how often the jobs of one queue are passed. If the first job that passes a job stood `n` places behind it,
/// that job may be passed `n` times (PROTOCOLS L2; while jobs arrive in order and none migrates).
#[derive(Clone, Debug, Default)]
pub struct Passes {
    /// How often each job was passed, and its bound.
    passed: BTreeMap<JobId, (usize, usize)>,
    most: usize,
}

impl Passes {
    /// A job was started out of this queue.
    pub fn started(&mut self, before: &[Waiting], job: JobId) -> Result<(), Violation> {
        let index = before
            .iter()
            .position(|waiting| waiting.job == job)
            .unwrap_or(0);
        for (ahead, other) in before.iter().take(index).enumerate() {
            let (passed, bound) = self.passed.entry(other.job).or_insert((0, index - ahead));
            *passed += 1;
            self.most = self.most.max(*passed);
            Violation::unless(*passed <= *bound, super::PASSING_BOUNDED)?;
        }
        Ok(())
    }

    /// The most often that any job was passed.
    pub const fn most(&self) -> usize {
        self.most
    }
}
