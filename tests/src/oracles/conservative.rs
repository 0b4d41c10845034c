use super::{Job, Plan, ticks};

/// What happens to reservations when a job ends early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    /// In the order of arrival, each is taken out and put back at its earliest fit.
    OneByOne,
    /// A planted bug: all are taken out before they are put back, so that a job may take the time of another.
    FromScratch,
    /// A planted bug: each is put back at a tick with room for its first tick only.
    LooksAtTheStartOnly,
    /// A planted bug: none moves.
    Never,
}

/// Processors that are reserved, from a tick on until before another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Reserved {
    job: usize,
    from: u64,
    until: u64,
}

/// Which job has reserved which ticks, and how many processors of each tick are free.
struct Profile<'a> {
    jobs: &'a [Job],
    reserved: Vec<Reserved>,
    free: Vec<u32>,
}

impl Profile<'_> {
    /// Reserves for a job at the first tick from now on at which it fits for as long as it may take.
    fn put(&mut self, now: u64, job: usize) -> u64 {
        self.put_if_free_for(self.jobs[job].estimate, now, job)
    }

    fn put_if_free_for(&mut self, length: u64, now: u64, job: usize) -> u64 {
        let Job { size, estimate, .. } = self.jobs[job];
        let fits = |&from: &u64| (from..from + length).all(|tick| self.free[tick as usize] >= size);
        let from = (now..).find(fits).expect("it fits an idle machine");
        let until = from + estimate;
        for tick in from..until {
            // Only the planted bug takes more than there is.
            self.free[tick as usize] = self.free[tick as usize].saturating_sub(size);
        }
        self.reserved.push(Reserved { job, from, until });
        from
    }

    /// Gives back all that a job has reserved from now on.
    fn take_out(&mut self, now: u64, job: usize) {
        for reserved in self.reserved.iter().filter(|reserved| reserved.job == job) {
            for tick in reserved.from.max(now)..reserved.until {
                self.free[tick as usize] += self.jobs[job].size;
            }
        }
        self.reserved.retain(|reserved| reserved.job != job);
    }
}

/// Conservative backfilling (PROTOCOLS 7.2): an arriving job reserves the first interval that is long enough. When a
/// job ends early, the reservations of all waiting jobs are compressed. A job starts at the tick that it has reserved.
pub fn conservative(processors: u32, jobs: &[Job], compression: Compression) -> Plan {
    let mut plan = Plan::new(jobs.len());
    let mut profile = Profile {
        jobs,
        reserved: Vec::new(),
        free: vec![processors; 2 * ticks(jobs).end as usize],
    };
    for now in ticks(jobs) {
        if plan.is_complete(jobs, processors) {
            break;
        }
        let ends_early = |reserved: &&Reserved| {
            let end = plan.starts[reserved.job].map(|start| start + jobs[reserved.job].actual);
            end == Some(now) && now < reserved.until
        };
        let early: Vec<Reserved> = profile
            .reserved
            .iter()
            .filter(ends_early)
            .copied()
            .collect();
        for reserved in &early {
            profile.take_out(now, reserved.job);
        }
        let mut waiting = plan.waiting(jobs, processors, now);
        waiting.retain(|&job| jobs[job].at < now);
        if !early.is_empty() {
            match compression {
                Compression::OneByOne => {
                    for &job in &waiting {
                        profile.take_out(now, job);
                        let start = profile.put(now, job);
                        plan.promise(now, job, start);
                    }
                }
                Compression::FromScratch => {
                    for &job in &waiting {
                        profile.take_out(now, job);
                    }
                    for &job in &waiting {
                        let start = profile.put(now, job);
                        plan.promise(now, job, start);
                    }
                }
                Compression::LooksAtTheStartOnly => {
                    for &job in &waiting {
                        profile.take_out(now, job);
                        let start = profile.put_if_free_for(1, now, job);
                        plan.promise(now, job, start);
                    }
                }
                Compression::Never => {}
            }
        }
        for job in plan.waiting(jobs, processors, now) {
            if jobs[job].at == now {
                let start = profile.put(now, job);
                plan.promise(now, job, start);
            }
        }
        for reserved in &profile.reserved {
            if reserved.from == now {
                plan.starts[reserved.job] = Some(now);
            }
        }
    }
    plan
}
