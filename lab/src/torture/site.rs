//! A foreign site of a tortured grid: a batch system with users of its own, and the host between it and a node.
//!
//! The site starts what it likes when it likes. It answers late, loses jobs that it has acknowledged, and restarts. The
//! host keeps on disk which attempts it was told to queue, and until when each may start and run; it queues none twice.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Command, Outcome, OwnJob, Seen, SiteReport, Survival};
use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};

use super::dice::{Dice, For};
use super::scenario::Scenario;

/// An attempt at a job of the grid.
pub(super) type Try = (JobId, Epoch);

/// Jobs of the site's own users have names that no job of the grid has.
const OWN: u64 = 1 << 63;

/// What happens at a site next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Doing {
    /// A job of the site's own users comes.
    Arrive,
    /// The site hears that it is to queue an attempt.
    Submit(Try),
    /// The site hears that it is to withdraw an attempt, unless it has started.
    Withdraw(Try),
    /// The site hears that it is to end an attempt.
    Kill(Try),
    /// The host ends an attempt whose time is over.
    Limit(Try),
    /// What started then ends by itself.
    Finish(Name, Time),
    /// The node is told.
    Report(SiteReport),
    /// The site does not answer any more, and starts nothing.
    Down,
    /// The site answers again.
    Up,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Name {
    Own(JobId),
    Grid(Try),
}

/// A job of the grid, as the site is told of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Asked {
    pub(super) processors: u32,
    pub(super) runs: Span,
    pub(super) outcome: Outcome,
}

/// A job that waits or runs at the site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    name: Name,
    asked: Asked,
    estimate: Span,
    submitted: Time,
    started: Option<Time>,
}

/// What the host knows of an attempt, on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Attempt {
    asked: Asked,
    /// The attempt neither starts nor runs from then on.
    until: Time,
    started: Option<Time>,
    fate: Fate,
    /// The life of the node in which it was told that the attempt is gone.
    told_gone: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// The site has not heard of it yet.
    Ordered,
    /// It waits or runs at the site.
    There,
    Ended {
        at: Time,
        outcome: Outcome,
    },
    Gone,
}

/// What the host of the grid is to do.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// An attempt begins to run.
    Begin(Try),
    /// It ends by itself.
    End(Try, Outcome),
    /// It is ended.
    Stop(Try),
    /// The node is told.
    Tell(Command),
    /// Something worth counting happened.
    Count(&'static str),
}

/// A foreign site and its host.
#[derive(Clone, Debug)]
pub(super) struct ForeignSite {
    /// How far the clock of the node is ahead.
    ahead: Span,
    cores: u32,
    calm: Time,
    dice: Dice,
    events: BTreeMap<(Time, u64), Doing>,
    number: u64,
    /// When the last report so far reaches the node: reports do not overtake each other.
    reported: Time,
    /// Since when the site does not answer.
    down: Option<Time>,
    waiting: Vec<Entry>,
    running: Vec<Entry>,
    /// Jobs that ended while the host could not see it.
    unseen: Vec<Entry>,
    attempts: BTreeMap<Try, Attempt>,
    acts: Vec<Act>,
}

impl ForeignSite {
    pub(super) fn new(scenario: &Scenario, node: NodeId) -> Self {
        let mut dice = Dice::new(scenario.request.seed, For::Foreign, 1 + node.get());
        let mut site = Self {
            ahead: scenario.clock(node),
            cores: scenario.equipment(node).cores,
            calm: scenario.calm,
            dice,
            events: BTreeMap::new(),
            number: 0,
            reported: Time::ZERO,
            down: None,
            waiting: Vec::new(),
            running: Vec::new(),
            unseen: Vec::new(),
            attempts: BTreeMap::new(),
            acts: Vec::new(),
        };
        for _ in 0..dice.below(4) {
            let at = dice.before(scenario.calm);
            let long = Span::from_secs(u64::from(dice.between(2, 60)));
            site.plan(at, Doing::Down);
            site.plan((at + long).min(scenario.calm), Doing::Up);
        }
        site.dice = dice;
        site.plan(Time::ZERO, Doing::Arrive);
        site.report_all(Time::ZERO);
        site
    }

    /// When something happens next.
    pub(super) fn next_at(&self) -> Option<Time> {
        self.events.first_key_value().map(|((at, _), _)| *at)
    }

    fn plan(&mut self, at: Time, doing: Doing) {
        self.number += 1;
        self.events.insert((at, self.number), doing);
    }

    /// How long a request or a report takes: usually a moment, sometimes a minute.
    fn delay(&mut self, now: Time) -> Span {
        let most = match self.dice.below(20) {
            _ if now >= self.calm => 1,
            0 => 60,
            1..=5 => 10,
            _ => 2,
        };
        self.dice.within(Span::from_secs(most))
    }

    fn ask(&mut self, now: Time, doing: Doing) {
        let at = now + self.delay(now);
        self.plan(at, doing);
    }

    /// The host sees something, and tells the node of it. While the site does not answer, the host sees nothing there.
    fn say(&mut self, now: Time, report: SiteReport) {
        if self.down.is_none() {
            self.pass(now, report);
        }
    }

    fn pass(&mut self, now: Time, report: SiteReport) {
        self.reported = self.reported.max(now + self.delay(now));
        self.plan(self.reported, Doing::Report(report));
    }

    fn say_of(&mut self, now: Time, (job, attempt): Try, seen: Seen) {
        self.say(now, SiteReport::Attempt { job, attempt, seen });
    }

    fn say_entry(&mut self, now: Time, entry: &Entry, seen: Seen) {
        match entry.name {
            Name::Grid(which) => self.say_of(now, which, seen),
            Name::Own(id) => {
                let job = OwnJob {
                    id,
                    processors: NonZeroU32::new(entry.asked.processors).unwrap_or(NonZeroU32::MIN),
                    estimate: entry.estimate,
                    submitted: entry.submitted + self.ahead,
                };
                self.say(now, SiteReport::Own { job, seen });
            }
        }
    }

    fn since(&self, at: Time) -> Seen {
        let at = at + self.ahead;
        Seen::Started { at }
    }

    /// Says how an attempt is.
    fn say_how_it_is(&mut self, now: Time, which: Try) {
        let Some(attempt) = self.attempts.get(&which).copied() else {
            return;
        };
        match (attempt.fate, attempt.started) {
            (Fate::Ordered, _) => {}
            (Fate::There, None) => self.say_of(now, which, Seen::Queued),
            (Fate::There, Some(at)) => self.say_of(now, which, self.since(at)),
            (Fate::Ended { outcome, .. }, _) => self.say_of(now, which, Seen::Ended(outcome)),
            (Fate::Gone, started) => {
                if let Some(at) = started {
                    self.say_of(now, which, self.since(at));
                }
                self.say_of(now, which, Seen::Vanished);
            }
        }
    }

    /// The host has restarted with its node: what it was about to say is lost, and it says all that is known.
    pub(super) fn restart_host(&mut self, now: Time) {
        self.events
            .retain(|_, doing| !matches!(doing, Doing::Report(_)));
        self.report_all(now);
    }

    /// Says all that is known, as the host does when its node or the site has restarted.
    fn report_all(&mut self, now: Time) {
        let entries = self.waiting.iter().chain(&self.running).copied();
        let own = entries.filter(|entry| matches!(entry.name, Name::Own(_)));
        for entry in own.collect::<Vec<_>>() {
            let seen = entry.started.map_or(Seen::Queued, |at| self.since(at));
            self.say_entry(now, &entry, seen);
        }
        for which in self.attempts.keys().copied().collect::<Vec<_>>() {
            self.say_how_it_is(now, which);
        }
        self.say(now, SiteReport::Reachable);
    }

    /// What a node is told of the attempts of its earlier life, between its records and its start.
    pub(super) fn survivors(&self, now: Time) -> Vec<Command> {
        let said = self.attempts.iter().filter_map(|(&(job, attempt), known)| {
            let survival = match known.fate {
                Fate::There if known.started.is_some() => Survival::Runs {
                    until: known.until + self.ahead,
                },
                // The host cannot tell that it has ended: it may run until its time is over.
                Fate::Ended { at, .. } if self.down.is_some_and(|down| at >= down) => {
                    Survival::Runs {
                        until: known.until + self.ahead,
                    }
                }
                Fate::Ended { outcome, .. } => Survival::Ended(outcome),
                _ => return None,
            };
            let over = matches!(survival, Survival::Runs { .. }) && known.until <= now;
            (!over).then_some(Command::Survived {
                job,
                attempt,
                survival,
            })
        });
        said.collect()
    }

    /// The node says: queue this, until then. Whether that is an attempt that this life of the node was told is gone.
    pub(super) fn queue(
        &mut self,
        now: Time,
        which: Try,
        until: Time,
        asked: Asked,
        life: u32,
    ) -> bool {
        let until = until - self.ahead;
        if let Some(known) = self.attempts.get_mut(&which) {
            known.until = until;
            let again = known.told_gone == Some(life);
            self.plan(until, Doing::Limit(which));
            self.say_how_it_is(now, which);
            return again;
        }
        let attempt = Attempt {
            asked,
            until,
            started: None,
            fate: Fate::Ordered,
            told_gone: None,
        };
        self.attempts.insert(which, attempt);
        self.ask(now, Doing::Submit(which));
        false
    }

    /// The node says: this attempt may start and run until then.
    pub(super) fn extend(&mut self, which: Try, until: Time) {
        let until = until - self.ahead;
        if let Some(known) = self.attempts.get_mut(&which) {
            known.until = until;
            self.plan(until, Doing::Limit(which));
        }
    }

    /// The node says: withdraw it, unless it has started.
    pub(super) fn withdraw(&mut self, now: Time, which: Try) {
        self.ask(now, Doing::Withdraw(which));
    }

    /// The node says: end it. From now on it does not start; if it runs, the site hears of it later.
    pub(super) fn stop(&mut self, now: Time, which: Try) {
        if let Some(known) = self.attempts.get_mut(&which)
            && known.started.is_none()
        {
            known.until = now;
        }
        self.ask(now, Doing::Kill(which));
    }

    /// Whether it was told to end a job and has not looked for it yet.
    pub(super) fn is_stopping(&self) -> bool {
        let mut doings = self.events.values();
        doings.any(|doing| matches!(doing, Doing::Kill(_)))
    }

    /// Does what comes next. `life` is how often the node went down, if it is up.
    pub(super) fn step(&mut self, life: Option<u32>) -> Vec<Act> {
        if let Some(((now, _), doing)) = self.events.pop_first() {
            self.handle(now, doing, life);
            self.start_what_fits(now);
        }
        std::mem::take(&mut self.acts)
    }

    fn handle(&mut self, now: Time, doing: Doing, life: Option<u32>) {
        match doing {
            // A request waits until the site answers.
            Doing::Submit(_) | Doing::Withdraw(_) | Doing::Kill(_) if self.down.is_some() => {
                self.plan(now + Span::from_secs(1), doing);
            }
            Doing::Arrive => self.arrive(now),
            Doing::Submit(which) => self.submit(now, which),
            Doing::Withdraw(which) => {
                if self.take_out(which) {
                    self.note(which, Fate::Gone);
                    self.acts.push(Act::Count("site: a job withdrawn"));
                } else {
                    self.acts.push(Act::Count("site: a withdrawal too late"));
                }
                self.say_how_it_is(now, which);
            }
            Doing::Kill(which) => {
                if self.take_out(which) || self.stop_running(which) {
                    self.note(which, Fate::Gone);
                    self.say_how_it_is(now, which);
                }
            }
            Doing::Limit(which) => {
                let over = self.attempts.get(&which).is_some_and(|it| it.until <= now);
                if over && self.stop_running(which) {
                    self.note(which, Fate::Gone);
                    self.acts
                        .push(Act::Count("site: a job ended with its lease"));
                    self.say_how_it_is(now, which);
                }
            }
            Doing::Finish(name, since) => self.finish(now, name, since),
            Doing::Report(report) => self.tell(report, life),
            Doing::Down => self.go_down(now),
            Doing::Up => {
                self.down = None;
                for entry in std::mem::take(&mut self.unseen) {
                    self.say_entry(now, &entry, Seen::Ended(entry.asked.outcome));
                }
                self.report_all(now);
            }
        }
    }

    fn tell(&mut self, report: SiteReport, life: Option<u32>) {
        let Some(life) = life else {
            return;
        };
        if let SiteReport::Attempt {
            job,
            attempt,
            seen: Seen::Vanished,
        } = report
            && let Some(known) = self.attempts.get_mut(&(job, attempt))
        {
            known.told_gone = Some(life);
        }
        self.acts.push(Act::Tell(Command::Site(report)));
    }

    fn arrive(&mut self, now: Time) {
        if now >= self.calm {
            return;
        }
        let estimate = Span::from_secs(u64::from(self.dice.between(5, 60)));
        let tenths = u64::from(self.dice.between(3, 13));
        let entry = Entry {
            name: Name::Own(JobId::new(OWN | self.number)),
            asked: Asked {
                processors: self.dice.between(1, self.cores),
                runs: Span::from_micros(estimate.as_micros() * tenths / 10),
                outcome: Outcome::Done,
            },
            estimate,
            submitted: now,
            started: None,
        };
        self.waiting.push(entry);
        self.say_entry(now, &entry, Seen::Queued);
        let next = Span::from_secs(u64::from(self.dice.between(10, 90)));
        self.plan(now + next, Doing::Arrive);
    }

    fn submit(&mut self, now: Time, which: Try) {
        let Some(known) = self.attempts.get_mut(&which) else {
            return;
        };
        known.fate = Fate::There;
        let entry = Entry {
            name: Name::Grid(which),
            asked: known.asked,
            estimate: known.asked.runs,
            submitted: now,
            started: None,
        };
        self.say_of(now, which, Seen::Queued);
        // The site acknowledges it, and forgets it.
        if now < self.calm && self.dice.percent(5) {
            self.lose(which);
            self.say_how_it_is(now, which);
        } else {
            self.waiting.push(entry);
        }
    }

    fn lose(&mut self, which: Try) {
        self.note(which, Fate::Gone);
        self.acts.push(Act::Count("site: an acknowledged job lost"));
    }

    fn note(&mut self, which: Try, fate: Fate) {
        if let Some(known) = self.attempts.get_mut(&which) {
            known.fate = fate;
        }
    }

    /// Takes an attempt out of the queue; whether it was there.
    fn take_out(&mut self, which: Try) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|entry| entry.name != Name::Grid(which));
        self.waiting.len() < before
    }

    /// Ends an attempt that runs; whether it did.
    fn stop_running(&mut self, which: Try) -> bool {
        let before = self.running.len();
        self.running.retain(|entry| entry.name != Name::Grid(which));
        let ran = self.running.len() < before;
        if ran {
            self.acts.push(Act::Stop(which));
        }
        ran
    }

    fn finish(&mut self, now: Time, name: Name, since: Time) {
        let is_it = |entry: &Entry| entry.name == name && entry.started == Some(since);
        let Some(index) = self.running.iter().position(is_it) else {
            return;
        };
        let entry = self.running.remove(index);
        let outcome = entry.asked.outcome;
        if let Name::Grid(which) = name {
            self.acts.push(Act::End(which, outcome));
            self.note(which, Fate::Ended { at: now, outcome });
        }
        if self.down.is_some() {
            self.unseen.push(entry);
        }
        self.say_entry(now, &entry, Seen::Ended(outcome));
    }

    fn go_down(&mut self, now: Time) {
        self.acts.push(Act::Count("site: restarted"));
        self.down = Some(now);
        for entry in self.waiting.clone() {
            if let Name::Grid(which) = entry.name
                && self.dice.percent(40)
            {
                self.take_out(which);
                self.lose(which);
            }
        }
        self.pass(now, SiteReport::Unreachable);
    }

    /// Starts waiting jobs in their order; a job that does not fit is passed.
    fn start_what_fits(&mut self, now: Time) {
        if self.down.is_some() {
            return;
        }
        let used: u32 = self.running.iter().map(|it| it.asked.processors).sum();
        let mut free = self.cores - used;
        for mut entry in std::mem::take(&mut self.waiting) {
            if entry.asked.processors > free {
                self.waiting.push(entry);
                continue;
            }
            if let Name::Grid(which) = entry.name {
                let until = self.attempts.get(&which).map_or(now, |known| known.until);
                if until <= now {
                    self.acts.push(Act::Count("site: a job too late to start"));
                    self.note(which, Fate::Gone);
                    self.say_how_it_is(now, which);
                    continue;
                }
                if let Some(known) = self.attempts.get_mut(&which) {
                    known.started = Some(now);
                }
                self.plan(until, Doing::Limit(which));
                self.acts.push(Act::Begin(which));
            }
            free -= entry.asked.processors;
            entry.started = Some(now);
            self.running.push(entry);
            self.plan(now + entry.asked.runs, Doing::Finish(entry.name, now));
            self.say_entry(now, &entry, self.since(now));
        }
    }
}
