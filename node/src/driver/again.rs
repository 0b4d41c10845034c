use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gridweave_core::id::JobId;
use gridweave_core::job::{Demand, Failure, Job, News, Notice, Payload, Refusal};

/// For how long a new job is submitted again, if a search found too few nodes.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait before that: links change all the time.
const PAUSE: Duration = Duration::from_millis(300);

/// The most jobs that are remembered for this.
const MOST: usize = 1024;

/// Jobs that were submitted a moment ago.
///
/// In a grid of a few nodes, gossip may leave some of them without a link for a moment, and no search finds them. So a
/// job that wants no more nodes than are known is searched for again, before its user is told that it is too large, or that no node
/// suits it.
#[derive(Default)]
pub(super) struct Recent(BTreeMap<JobId, Submitted>);

struct Submitted {
    job: Job,
    payload: Payload,
    until: Instant,
    again_at: Option<Instant>,
}

impl Recent {
    pub(super) fn add(&mut self, job: Job, payload: Payload) {
        let now = Instant::now();
        self.0
            .retain(|_, recent| recent.until > now || recent.again_at.is_some());
        if self.0.len() < MOST {
            let until = now + PATIENCE;
            let recent = Submitted {
                job,
                payload,
                until,
                again_at: None,
            };
            self.0.insert(job.id, recent);
        }
    }

    /// Whether the job is to be submitted again, instead of telling its user of this. So many nodes are known.
    pub(super) fn takes(&mut self, notice: &Notice, known: usize) -> bool {
        let Some(recent) = self.0.get_mut(&notice.job) else {
            return false;
        };
        let (Demand::Nodes(count) | Demand::Cores(count)) = recent.job.demand;
        let is_possible = usize::try_from(count.get()).is_ok_and(|count| count <= known);
        match notice.news {
            News::Failed(Failure::Refused(
                Refusal::TooLarge | Refusal::NotFound | Refusal::NoMatch | Refusal::NotAccepted,
            )) if is_possible && Instant::now() < recent.until => {
                recent.again_at = Some(Instant::now() + PAUSE);
                true
            }
            News::Expected { .. } | News::Assigned(_) | News::Released { .. } => false,
            _ => {
                self.0.remove(&notice.job);
                false
            }
        }
    }

    /// When the next one is due.
    pub(super) fn next_at(&self) -> Option<Instant> {
        self.0.values().filter_map(|recent| recent.again_at).min()
    }

    /// The jobs that are due.
    pub(super) fn due(&mut self) -> Vec<(Job, Payload)> {
        let now = Instant::now();
        let is_due = |recent: &&mut Submitted| recent.again_at.is_some_and(|at| at <= now);
        let due = self.0.values_mut().filter(is_due);
        due.map(|recent| {
            recent.again_at = None;
            (recent.job, recent.payload.clone())
        })
        .collect()
    }

    /// The user has cancelled it.
    pub(super) fn forget(&mut self, job: JobId) -> bool {
        let recent = self.0.remove(&job);
        recent.is_some_and(|recent| recent.again_at.is_some())
    }
}

#[cfg(test)]
mod tests {
    use gridweave_core::time::Span;

    use super::*;

    const JOB: JobId = JobId::new(7);

    fn recent(nodes: u32) -> Recent {
        let demand = Demand::Nodes(nodes.try_into().unwrap());
        let mut recent = Recent::default();
        let job = Job::new(JOB, demand, Span::from_secs(1)).unwrap();
        recent.add(job, Payload::EMPTY);
        recent
    }

    fn refused(why: Refusal) -> Notice {
        let news = News::Failed(Failure::Refused(why));
        Notice { job: JOB, news }
    }

    #[test]
    fn a_job_that_wants_no_more_nodes_than_are_known_is_submitted_again() {
        let mut recent = recent(2);
        assert!(recent.takes(&refused(Refusal::TooLarge), 2));
        assert!(recent.next_at().is_some() && recent.due().is_empty());
        std::thread::sleep(PAUSE);
        assert_eq!(recent.due().len(), 1);
        assert_eq!((recent.due().len(), recent.next_at()), (0, None));
        assert!(recent.takes(&refused(Refusal::NotFound), 2));
        assert!(recent.forget(JOB), "it waits to be submitted");
        assert!(!recent.takes(&refused(Refusal::NotFound), 2));
    }

    #[test]
    fn users_are_told_of_other_refusals_and_of_jobs_that_are_too_large() {
        assert!(!recent(3).takes(&refused(Refusal::TooLarge), 2));
        assert!(recent(1).takes(&refused(Refusal::NoMatch), 2));
        assert!(!recent(1).takes(&refused(Refusal::Draining), 2));
        let mut accepted = recent(1);
        let news = News::Cancelled;
        assert!(!accepted.takes(&Notice { job: JOB, news }, 2));
        assert!(
            !accepted.takes(&refused(Refusal::TooLarge), 2),
            "it is over"
        );
    }
}
