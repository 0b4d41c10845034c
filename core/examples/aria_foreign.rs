//! `aria` before batch systems that it does not own: three clusters with users of their own.
//!
//! ```sh
//! cargo run -p gridweave-core --example aria_foreign
//! ```
//! [`Batch`] stands for Slurm. It is neither `Clone` nor pure, and starts jobs when it likes. Its host asks it every
//! ten seconds what it has, and reports that; the node forecasts with a mirror of the queue.

mod grid;

use std::collections::BTreeMap;
use std::error::Error;
use std::num::NonZeroU32;

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Command, Demand, Job, News, Notice, Outcome, OwnJob, Seen, SiteReport};
use gridweave_core::queue::{Policy, SiteQueue};
use gridweave_core::resource::{Capability, Dimensions, Speed};
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::aria::{Aria, Config, Membership, Site};
use gridweave_core::time::{Span, Time};

use grid::Grid;

/// How long every job runs, and how often the host asks the batch system.
const RUNS: Span = Span::from_secs(600);
const POLL: Span = Span::from_secs(10);
const PROCESSORS: usize = 2;

/// The name of a job in a batch system: for a job of the grid with its attempt, as in `gw-JOB-ATTEMPT`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Name {
    Own(JobId),
    Grid(JobId, Epoch),
}

/// A batch system: first come, first served.
#[derive(Default)]
struct Batch {
    waiting: Vec<(Name, Time)>,
    running: Vec<(Name, Time)>,
}

impl Batch {
    fn submit(&mut self, name: Name, now: Time) {
        // A host that was told before to queue this attempt does not queue it again.
        let mut all = self.waiting.iter().chain(&self.running);
        if all.all(|(known, _)| *known != name) {
            self.waiting.push((name, now));
        }
    }

    /// Lets time pass up to `now`.
    fn run(&mut self, now: Time) {
        self.running.retain(|(_, since)| *since + RUNS > now);
        while self.running.len() < PROCESSORS && !self.waiting.is_empty() {
            let (name, _) = self.waiting.remove(0);
            self.running.push((name, now));
        }
    }

    /// What `squeue` prints.
    fn list(&self) -> BTreeMap<Name, Seen> {
        let running = self.running.iter();
        let running = running.map(|(name, at)| (*name, Seen::Started { at: *at }));
        let waiting = self.waiting.iter().map(|(name, _)| (*name, Seen::Queued));
        running.chain(waiting).collect()
    }
}

/// The host of one node: its batch system, and what it reported last.
#[derive(Default)]
struct Front {
    batch: Batch,
    seen: BTreeMap<Name, Seen>,
}

impl Front {
    /// Does what the node says.
    fn obey(&mut self, Notice { job, news }: Notice, now: Time) {
        match news {
            News::Queue { attempt, .. } => self.batch.submit(Name::Grid(job, attempt), now),
            // A job that has started stays: then the next report says so.
            News::Withdraw { attempt } => {
                let name = Name::Grid(job, attempt);
                self.batch.waiting.retain(|(other, _)| *other != name);
            }
            News::Stopped { attempt } => {
                let name = Name::Grid(job, attempt);
                self.batch.waiting.retain(|(other, _)| *other != name);
                self.batch.running.retain(|(other, _)| *other != name);
            }
            _ => {}
        }
    }

    /// Asks the batch system, and reports what is different.
    fn poll(&mut self, now: Time) -> Vec<Command> {
        self.batch.run(now);
        let list = self.batch.list();
        let before = std::mem::replace(&mut self.seen, list.clone());
        let gone = before.iter().filter(|(name, _)| !list.contains_key(name));
        let gone = gone.map(|(name, seen)| match seen {
            // A real host reads the exit status that its supervisor wrote.
            Seen::Started { .. } => (*name, Seen::Ended(Outcome::Done)),
            _ => (*name, Seen::Vanished),
        });
        let new = list
            .iter()
            .filter(|(name, seen)| before.get(name) != Some(seen));
        let changes = gone.chain(new.map(|(name, seen)| (*name, *seen)));
        let reports = changes.map(|(name, seen)| match name {
            Name::Grid(job, attempt) => SiteReport::Attempt { job, attempt, seen },
            Name::Own(id) => {
                let job = OwnJob {
                    id,
                    processors: NonZeroU32::MIN,
                    estimate: RUNS,
                    submitted: now,
                };
                SiteReport::Own { job, seen }
            }
        });
        let reports = reports.chain([SiteReport::Reachable]);
        reports.map(Command::Site).collect()
    }
}

fn node(number: u64) -> Result<Aria<SiteQueue>, Box<dyn Error>> {
    let processors = NonZeroU32::try_from(PROCESSORS as u32)?;
    let queue = SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 100).with_processors(processors);
    let site = Site {
        dimensions: Dimensions::new(&[])?,
        capability: Capability::none(),
        membership: Membership::default(),
        local: queue.mirroring(),
    };
    let bootstrap = match number {
        0 => Bootstrap::Alone,
        _ => Bootstrap::Join(NodeId::new(0).into()),
    };
    let id = NodeId::new(number);
    Ok(Aria::new(id, Config::DEFAULT, bootstrap, site)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    const JOBS: u64 = 6;
    // The batch systems end jobs, and not the grid of these examples.
    let mut grid = Grid::new(Span::MAX);
    let mut fronts: [Front; 3] = Default::default();
    for number in 0..3 {
        grid.start(node(number)?);
    }
    let (mut submitted, mut finished, mut next_poll) = (0, 0, Time::ZERO);
    while finished < JOBS {
        if let Some((at, notice)) = grid.news(next_poll) {
            let (now, job) = (grid.now, notice.job);
            fronts[at].obey(notice.clone(), now);
            match notice.news {
                News::Queue { .. } => println!("{now}: {job} is queued at site {at}"),
                News::Withdraw { .. } => println!("{now}: site {at} is to withdraw {job}"),
                News::Started { .. } => println!("{now}: {job} has started at site {at}"),
                News::Finished => finished += 1,
                _ => {}
            }
            continue;
        }
        let now = grid.now;
        // Site 1's own users come after two minutes, and give up after eight.
        if now == Time::from_secs(120) {
            for own in 0..6 {
                let name = Name::Own(JobId::new(1 << 63 | own));
                fronts[1].batch.submit(name, now);
            }
        }
        if now == Time::from_secs(480) {
            fronts[1].batch = Batch::default();
        }
        // A job of the grid comes every minute from the third on.
        if submitted < JOBS && now >= Time::from_secs(60 * (submitted + 3)) {
            submitted += 1;
            let one = Demand::Cores(NonZeroU32::MIN);
            let mut job = Job::new(JobId::new(submitted), one, RUNS)?;
            job.submitted = now;
            grid.tell(0, Command::submit(job));
        }
        for (at, front) in fronts.iter_mut().enumerate() {
            for report in front.poll(now) {
                grid.tell(at, report);
            }
        }
        next_poll += POLL;
    }
    println!("{}: all {JOBS} jobs are done", grid.now);
    Ok(())
}
