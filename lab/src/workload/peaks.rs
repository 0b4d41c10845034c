//! How large the sites of a trace are, as far as its jobs show.

use std::collections::BTreeMap;

use super::Workload;

impl Workload {
    /// The most processors that the jobs of each site would use at once if they started when they were submitted, in the
    /// order of the sites' numbers. Jobs of unknown sites are left out.
    pub fn site_peaks(&self) -> Vec<u64> {
        let mut steps: BTreeMap<u32, Vec<_>> = BTreeMap::new();
        for job in &self.jobs {
            if let Some(site) = job.site {
                let (of, size) = (steps.entry(site).or_default(), i64::from(job.processors));
                of.push((job.at, size));
                of.push((job.at + job.run_time, -size));
            }
        }
        let peaks = steps.into_values().map(|mut steps| {
            // At one instant, ends come before starts.
            steps.sort_unstable();
            let used = steps.iter().scan(0_i64, |used, (_, step)| {
                *used += step;
                Some(*used)
            });
            used.max().map_or(0, i64::unsigned_abs)
        });
        peaks.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Submission;
    use gridweave_core::time::{Span, Time};

    #[test]
    fn a_site_is_as_large_as_its_jobs_need_at_once() {
        let job = |at, run, processors, site| Submission {
            site,
            ..Submission::new(1, Time::from_secs(at), Span::from_secs(run), processors)
        };
        let jobs = vec![
            job(0, 10, 2, Some(7)),
            job(0, 99, 9, None),
            job(4, 10, 1, Some(3)),
            job(5, 10, 3, Some(7)),
            // It starts as the first job of site 7 ends.
            job(10, 1, 2, Some(7)),
        ];
        let workload = Workload {
            jobs,
            ..Workload::default()
        };
        assert_eq!(workload.site_peaks(), [1, 5]);
    }
}
