//! `aria` in front of a foreign scheduler: three sites whose batch system shares processors fairly between users.
//!
//! ```sh
//! cargo run -p gridweave-core --example aria
//! ```
//! [`FairShare`] stands for the scheduler of a real site. It decides what runs. It forecasts what it would do
//! ([`LocalScheduler::forecast`]), and `aria` makes an offer of that. A real batch system could be behind the trait.

mod grid;

use std::error::Error;
use std::num::NonZeroU32;

use gridweave_core::id::{JobId, NodeId, UserId};
use gridweave_core::job::{Command, Demand, Job, News, Notice, Submitter};
use gridweave_core::machine::Violation;
use gridweave_core::queue::{Change, Expected, LocalScheduler, NotRunning, QueueError, QueuedJob};
use gridweave_core::resource::{Capability, Dimensions};
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::aria::{Aria, Config, Membership, Site};
use gridweave_core::time::{Span, Time};

use grid::Grid;

/// Starts next a job of the user that has had the least so far; jobs take one processor each.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct FairShare {
    processors: usize,
    waiting: Vec<QueuedJob>,
    running: Vec<(QueuedJob, Time)>,
    /// How much each user has had.
    had: Vec<(UserId, Span)>,
}

impl FairShare {
    const ROOM: usize = 100;

    fn new(processors: usize) -> Self {
        Self {
            processors,
            waiting: Vec::new(),
            running: Vec::new(),
            had: Vec::new(),
        }
    }

    /// The index of the next job, given what users have had.
    fn next(waiting: &[QueuedJob], had: &[(UserId, Span)]) -> Option<usize> {
        let share = |job: &QueuedJob| {
            let user = had.iter().find(|(user, _)| *user == job.submitter.user);
            user.map_or(Span::ZERO, |(_, had)| *had)
        };
        let rank = |index: &usize| (share(&waiting[*index]), waiting[*index].submitted, *index);
        (0..waiting.len()).min_by_key(rank)
    }

    fn charge(had: &mut Vec<(UserId, Span)>, job: &QueuedJob) {
        match had.iter_mut().find(|(user, _)| *user == job.submitter.user) {
            Some((_, had)) => *had += job.estimate,
            None => had.push((job.submitter.user, job.estimate)),
        }
    }
}

impl LocalScheduler for FairShare {
    fn admits(&self, job: &QueuedJob) -> Result<(), QueueError> {
        let running = self.running.iter().map(|(job, _)| job);
        if self
            .waiting
            .iter()
            .chain(running)
            .any(|known| known.job == job.job)
        {
            return Err(QueueError::Known);
        }
        if job.processors > NonZeroU32::MIN {
            return Err(QueueError::Unsuitable);
        }
        if self.room() == 0 {
            return Err(QueueError::Full);
        }
        Ok(())
    }

    fn room(&self) -> usize {
        Self::ROOM.saturating_sub(self.waiting.len())
    }

    fn push(&mut self, _: Time, job: QueuedJob) -> Result<(), QueueError> {
        self.admits(&job)?;
        self.waiting.push(job);
        Ok(())
    }

    fn withdraw(&mut self, job: JobId) -> Option<QueuedJob> {
        let index = self.waiting.iter().position(|waiting| waiting.job == job)?;
        Some(self.waiting.remove(index))
    }

    fn start_next(&mut self, now: Time) -> Option<JobId> {
        if self.running.len() >= self.processors {
            return None;
        }
        let job = self.waiting.remove(Self::next(&self.waiting, &self.had)?);
        Self::charge(&mut self.had, &job);
        self.running.push((job, now));
        Some(job.job)
    }

    fn resume(&mut self, _: Time, job: QueuedJob, started: Time) -> Result<(), QueueError> {
        if self.running.len() >= self.processors {
            return Err(QueueError::Full);
        }
        self.running.push((job, started));
        Ok(())
    }

    fn finish(&mut self, _: Time, job: JobId) -> Result<(), NotRunning> {
        let index = self
            .running
            .iter()
            .position(|(running, _)| running.job == job);
        self.running.remove(index.ok_or(NotRunning)?);
        Ok(())
    }

    fn look_again(&self, _: Time) -> Option<Time> {
        None
    }

    /// Simulates its own rules, with every job running as long as estimated.
    fn forecast(&self, now: Time, change: Change<'_>, tell: &mut dyn FnMut(Expected)) {
        let mut free = vec![now; self.processors];
        for (index, (job, started)) in self.running.iter().enumerate() {
            let (start, end) = (*started, now.max(*started + job.estimate));
            free[index] = end;
            let (job, deadline) = (job.job, job.deadline);
            tell(Expected {
                job,
                deadline,
                start,
                end,
            });
        }
        let (mut waiting, mut had) = (self.waiting.clone(), self.had.clone());
        match change {
            Change::None => {}
            Change::With(job) => waiting.push(*job),
            Change::Without(job) => waiting.retain(|waiting| waiting.job != job),
        }
        while let Some(index) = Self::next(&waiting, &had) {
            let job = waiting.remove(index);
            Self::charge(&mut had, &job);
            free.sort_unstable();
            let start = free[0];
            let end = start + job.estimate;
            free[0] = end;
            let (job, deadline) = (job.job, job.deadline);
            tell(Expected {
                job,
                deadline,
                start,
                end,
            });
        }
    }

    fn check(&self) -> Result<(), Violation> {
        Violation::unless(
            self.running.len() <= self.processors,
            "no more jobs run than there are processors",
        )
    }
}

type Node = Aria<FairShare>;

/// A job of a user, of ten minutes.
fn job(number: u64, user: u32, now: Time) -> Result<Job, Box<dyn Error>> {
    let one = Demand::Cores(NonZeroU32::MIN);
    let mut job = Job::new(JobId::new(number), one, Span::from_secs(600))?;
    job.submitter = Submitter {
        user: UserId::new(user),
        ..Submitter::NOBODY
    };
    job.submitted = now;
    Ok(job)
}

fn main() -> Result<(), Box<dyn Error>> {
    const JOBS: u64 = 12;
    let nobody = Dimensions::new(&[])?;
    let mut grid = Grid::new(Span::from_secs(600));
    for number in 0..3 {
        let site = Site {
            dimensions: nobody.clone(),
            capability: Capability::none(),
            membership: Membership::default(),
            local: FairShare::new(number + 1),
        };
        // The first is alone, and introduces the others.
        let bootstrap = match number {
            0 => Bootstrap::Alone,
            _ => Bootstrap::Join(NodeId::new(0).into()),
        };
        let id = NodeId::new(number as u64);
        grid.start(Node::new(id, Config::DEFAULT, bootstrap, site)?);
    }
    // Twelve jobs of two users come to the first site, one every minute.
    let (mut submitted, mut finished) = (0, 0);
    while finished < JOBS {
        let next = match submitted < JOBS {
            true => Time::from_secs(60 * (submitted + 1)),
            false => Time::MAX,
        };
        let Some((node, Notice { job: of, news })) = grid.news(next) else {
            submitted += 1;
            let job = job(submitted, (submitted % 2) as u32, grid.now)?;
            grid.tell(0, Command::submit(job));
            continue;
        };
        let now = grid.now;
        match news {
            News::Started { .. } => println!("{now}: {of} starts at site {node}"),
            News::Moved(placement) => {
                let start = placement.get().start;
                println!("{now}: {of} moves, to start at {start}");
            }
            News::Finished => finished += 1,
            _ => {}
        }
    }
    println!("{}: all {JOBS} jobs are done", grid.now);
    Ok(())
}
