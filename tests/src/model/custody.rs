//! Custody under a model checker: one job, its home, and nodes that may have it; alone, or as a home with a home of its
//! own.
//!
//! A node's host may start a job that waits there, end one that runs, or give one away, whenever it likes. A lease is
//! only worth something if clocks are about right, so timers are late by at most what clocks may be apart.

use std::num::NonZeroU32;

use gridweave_core::custody::{
    self, Claim, Config, Custody, Ending, Key, Message, Notice, Progress, Record, Taking, Tenure,
    Term, Timer,
};
use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{self, Demand, Job, News, Payload, Retry, Survival};
use gridweave_core::machine::{Context, Embed, Event, Machine, Violation};
use gridweave_core::schedule::Attempt;
use gridweave_core::shared::Shared;
use gridweave_core::time::{Span, Time};
use stateright::Property;

use super::leased::Leased;
use super::{Exploration, Order, Runner, State, aria};

/// The only job.
pub const JOB: JobId = JobId::new(0);

/// Where it is submitted.
pub const HOME: NodeId = NodeId::new(0);

/// Times are in microseconds: an answer is waited for one, a lease takes nine.
pub const CONFIG: Config = Config {
    lease: Span::from_micros(9),
    max_skew: Span::ZERO,
    retry: Span::from_micros(1),
    retries: 0,
    retention: Span::from_micros(12),
    search: Span::from_micros(1),
    rounds: 2,
    pause: Span::from_micros(1),
    tasks: 1,
    held: 1,
    bounded: false,
};

/// What a node knows, and does wrong.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Plan {
    /// Whether the job goes from the home straight to a run node, or through an owner.
    pub levels: Levels,
    /// The candidates that the home finds for its job.
    pub holders: &'static [u64],
    /// With two levels, the candidates that an owner finds, by index of the owner.
    pub runners: &'static [&'static [u64]],
    /// The nodes to which a host may move a waiting job, by index of the host's node.
    pub moves: &'static [&'static [u64]],
    /// The mistake that all nodes make, if any.
    pub fault: Option<Fault>,
    /// How far clocks may be apart.
    pub skew: Span,
}

/// A home, an owner and a run node. The home owns and runs the job itself if need be.
pub const TWO: Plan = Plan {
    levels: Levels::Two,
    holders: &[1, 0],
    runners: &[&[0], &[2], &[]],
    moves: &[&[], &[], &[]],
    fault: None,
    skew: Span::ZERO,
};

/// How many custodies there are between the home and the run node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Levels {
    /// The home gives the job to the node that runs it.
    One,
    /// The home gives the job to an owner, and the owner gives it to the node that runs it.
    Two,
}

/// A mistake, to see that it is found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// An owner grants the job for longer than its own lease.
    Unbounded,
    /// A node that takes back a job reports a new term that no other node knows.
    FreshTerm,
    /// A node takes a verdict on an earlier claim for one on its last claim.
    Credulous,
    /// An owner without a lease does not pass on the outcome.
    Forgetful,
}

/// One of the two custodies of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// Between the home and the node that it gives the job to.
    Upper,
    /// Between an owner and a run node.
    Lower,
}

/// What a host asks of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Command {
    /// The job is submitted.
    Submit,
    /// It is not wanted any more.
    Cancel,
    /// It is to start, where it waits.
    Start,
    /// It has ended, where it ran.
    End,
    /// It is to go there, from where it waits.
    Move(NodeId),
    /// After a restart: what became of it, where it ran.
    Survived(Attempt, Survival),
}

/// What a host is told.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Told {
    /// News of the job, where it was submitted.
    News(News),
    /// It has ended here, and that lasts.
    Ended,
    /// News of the job, for the host that runs it.
    Runner(News),
}

/// Whether a node's host has the job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Present {
    Not,
    Waits,
    Runs,
}

/// A node: custody on one level or two, composed as desktops do, and a host that has one place for a job.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Node {
    me: NodeId,
    plan: Plan,
    upper: Custody,
    lower: Custody,
    present: Present,
    /// The term under which the node gave the job away; kept only for `Fault::FreshTerm`.
    gave: Option<Term>,
    /// The claim in the last report; kept only for `Fault::Credulous`.
    claim: Option<Claim>,
}

struct As {
    level: Level,
    fault: Option<Fault>,
    gave: Option<Term>,
    claim: Option<Claim>,
    /// Whether a record says that the job has ended here.
    ended: bool,
    notices: Vec<Notice>,
}

/// The term after the one under which a job was given away.
const fn fresh(term: Term) -> Term {
    Term {
        moves: term.moves + 1,
        ..term
    }
}

impl Embed<Custody, Node> for As {
    fn message(&mut self, mut message: Message) -> (Level, Message) {
        if let Message::Report { claim, .. } = &message {
            self.claim = Some(*claim);
        }
        match &mut message {
            Message::Give { term, .. } if term.moves > 0 => self.gave = Some(*term),
            Message::Report { term, .. }
                if self.fault == Some(Fault::FreshTerm) && self.gave == Some(*term) =>
            {
                *term = fresh(*term);
            }
            _ => {}
        }
        (self.level, message)
    }
    fn timer(&mut self, timer: Timer) -> (Level, Timer) {
        (self.level, timer)
    }
    fn key(&mut self, key: Key) -> (Level, Key) {
        (self.level, key)
    }
    fn record(&mut self, record: Record) -> Record {
        let here = Progress::Ended(Ending::Done);
        self.ended |= matches!(record, Record::Held { progress, .. } if progress == here);
        record
    }
    fn notice(&mut self, notice: Notice, _: &mut dyn Context<Node>) {
        self.notices.push(notice);
    }
}

impl Node {
    /// A node without the job.
    pub fn new(me: NodeId, plan: Plan) -> Self {
        let config = Config {
            max_skew: plan.skew,
            ..CONFIG
        };
        let bounded = Config {
            bounded: true,
            ..config
        };
        Self {
            me,
            plan,
            upper: Custody::new(me, config).expect("the rules are sound"),
            lower: Custody::new(me, bounded).expect("the rules are sound"),
            present: Present::Not,
            gave: None,
            claim: None,
        }
    }

    /// Whether nothing of the job is left in memory.
    pub fn is_empty(&self) -> bool {
        self.upper.is_empty() && self.lower.is_empty() && self.present == Present::Not
    }

    const fn host_level(&self) -> Level {
        match self.plan.levels {
            Levels::One => Level::Upper,
            Levels::Two => Level::Lower,
        }
    }

    const fn custody(&self, level: Level) -> &Custody {
        match level {
            Level::Upper => &self.upper,
            Level::Lower => &self.lower,
        }
    }

    /// Has a custody handle an event, and does what follows from it.
    fn within(&mut self, level: Level, event: Event<Custody>, cx: &mut dyn Context<Self>) {
        for notice in self.handled(level, event, cx) {
            self.on_notice(level, notice, cx);
        }
    }

    fn handled(
        &mut self,
        level: Level,
        event: Event<Custody>,
        cx: &mut dyn Context<Self>,
    ) -> Vec<Notice> {
        let mut embed = As {
            level,
            fault: self.plan.fault,
            gave: self.gave,
            claim: self.claim,
            ended: false,
            notices: Vec::new(),
        };
        let custody = match level {
            Level::Upper => &mut self.upper,
            Level::Lower => &mut self.lower,
        };
        custody.handle(event, &mut cx.lift(&mut embed));
        if self.plan.fault == Some(Fault::FreshTerm) {
            self.gave = embed.gave;
        }
        if self.plan.fault == Some(Fault::Credulous) {
            self.claim = embed.claim;
        }
        if embed.ended && level == self.host_level() {
            cx.notify(Told::Ended);
        }
        embed.notices
    }

    fn tell(&mut self, level: Level, command: custody::Command, cx: &mut dyn Context<Self>) {
        self.within(level, Event::Command(command), cx);
    }

    fn on_message(
        &mut self,
        level: Level,
        from: NodeId,
        mut message: Message,
        cx: &mut dyn Context<Self>,
    ) {
        if let (Some(gave), Message::Verdict { term, .. }) = (self.gave, &mut message)
            && *term == fresh(gave)
        {
            *term = gave;
        }
        if let (Some(mine), Message::Verdict { claim, .. }) = (self.claim, &mut message) {
            *claim = mine;
        }
        self.within(level, Event::Message { from, message }, cx);
    }

    /// Acts on a notice of a custody, as `desktop` does.
    fn on_notice(&mut self, level: Level, notice: Notice, cx: &mut dyn Context<Self>) {
        // What followed from earlier notices may have outdated this one.
        let is_past = match &notice {
            Notice::Queue { .. } => !self.custody(level).is_here(JOB),
            Notice::Drop(_) => self.custody(level).is_here(JOB),
            _ => false,
        };
        if is_past {
            return;
        }
        let is_owner = level == Level::Upper && self.plan.levels == Levels::Two;
        match notice {
            Notice::Tell(job::Notice { news, .. }) => self.on_news(level, news, cx),
            Notice::Offered(gift) => {
                let taking = Taking::Takes { start: None };
                self.tell(level, custody::Command::Take { gift, taking }, cx);
            }
            Notice::Seek { attempt, .. } => {
                let known = match level {
                    Level::Upper => self.plan.holders,
                    Level::Lower => self.plan.runners[self.me.get() as usize],
                };
                let found = custody::Command::Found {
                    job: JOB,
                    attempt,
                    candidates: known.iter().copied().map(NodeId::new).collect(),
                };
                self.tell(level, found, cx);
            }
            Notice::Queue {
                job, term, until, ..
            } if is_owner => {
                // After a restart the lower custody may know the job already.
                let keep = custody::Command::Keep {
                    job,
                    tenure: Tenure::under(term),
                    until: Some(self.bound(until)),
                    payload: Payload::EMPTY,
                };
                self.extend(until, cx);
                self.tell(Level::Lower, keep, cx);
            }
            Notice::Extended { until, .. } if is_owner => self.extend(until, cx),
            Notice::Drop(job) if is_owner => {
                self.tell(Level::Lower, custody::Command::Cancel(job), cx);
            }
            Notice::Queue { .. } => self.present = Present::Waits,
            Notice::Resumed { .. } => self.present = Present::Runs,
            Notice::Extended { .. } => {}
            Notice::Drop(_) => self.present = Present::Not,
        }
    }

    /// Until when an owner may grant the job if its own lease ends at `until`.
    fn bound(&self, until: Time) -> Time {
        match self.plan.fault {
            Some(Fault::Unbounded) => Time::MAX,
            _ => until,
        }
    }

    fn extend(&mut self, until: Time, cx: &mut dyn Context<Self>) {
        let (job, until) = (JOB, self.bound(until));
        self.tell(Level::Lower, custody::Command::Bound { job, until }, cx);
    }

    fn on_news(&mut self, level: Level, news: News, cx: &mut dyn Context<Self>) {
        if matches!(news, News::Started { .. }) {
            self.present = Present::Runs;
        }
        if level == self.host_level() && aria::order(&news).is_some() {
            cx.notify(Told::Runner(news.clone()));
        }
        if level == Level::Upper {
            cx.notify(Told::News(news));
            return;
        }
        let ending = match news {
            News::Finished => Ending::Done,
            News::Failed(why) => Ending::Failed(why),
            News::Cancelled => Ending::Withdrawn,
            _ => return,
        };
        let forgets = self.plan.fault == Some(Fault::Forgetful) && self.upper.lease(JOB).is_none();
        if !forgets {
            let job = JOB;
            self.tell(Level::Upper, custody::Command::Ended { job, ending }, cx);
        }
        self.tell(Level::Lower, custody::Command::PassedOn(JOB), cx);
    }

    fn on_command(&mut self, command: Command, cx: &mut dyn Context<Self>) {
        let level = self.host_level();
        match command {
            Command::Submit => {
                assert_eq!(self.upper.refusal(JOB), None, "it is submitted once");
                let keep = custody::Command::Keep {
                    job: Shared::new(job()),
                    tenure: Tenure::ONLY,
                    until: None,
                    payload: Payload::EMPTY,
                };
                self.tell(Level::Upper, keep, cx);
            }
            Command::Cancel => self.tell(Level::Upper, custody::Command::Cancel(JOB), cx),
            Command::Start => self.tell(level, custody::Command::Start(JOB), cx),
            Command::Survived(attempt, survival) => {
                let survived = custody::Command::Survived {
                    job: JOB,
                    attempt: attempt.epoch,
                    survival,
                };
                self.tell(level, survived, cx);
            }
            Command::End => {
                self.present = Present::Not;
                let (job, ending) = (JOB, Ending::Done);
                self.tell(level, custody::Command::Ended { job, ending }, cx);
            }
            Command::Move(to) => {
                self.present = Present::Not;
                let (job, carried) = (JOB, 0);
                self.tell(level, custody::Command::GiveAway { job, to, carried }, cx);
            }
        }
    }

    fn on_start(&mut self, cx: &mut dyn Context<Self>) {
        // Both start before either is asked for anything.
        let notices = [Level::Lower, Level::Upper]
            .map(|level| (level, self.handled(level, Event::Start, cx)));
        for (level, notices) in notices {
            for notice in notices {
                self.on_notice(level, notice, cx);
            }
        }
        // A node must not answer for a job that it does not own.
        if self.lower.answers_for(JOB) && !self.upper.has(JOB) {
            self.tell(Level::Lower, custody::Command::Cancel(JOB), cx);
        }
    }
}

impl Runner for Node {
    fn order(told: &Told) -> Option<Order> {
        match told {
            Told::Runner(news) => aria::order(news),
            Told::News(_) | Told::Ended => None,
        }
    }

    fn is_end(command: &Command) -> bool {
        *command == Command::End
    }

    fn survived(attempt: Attempt, survival: Survival) -> Command {
        Command::Survived(attempt, survival)
    }
}

impl Leased for Node {
    fn runs(&self) -> bool {
        self.present == Present::Runs
    }

    fn lease(&self) -> Option<Time> {
        self.custody(self.host_level()).lease(JOB)
    }

    fn is_home(&self) -> bool {
        self.upper.answers_for(JOB)
    }

    fn placed_again(&self) -> u64 {
        self.upper.counts().placed_again + self.lower.counts().placed_again
    }

    fn moved(&self) -> u64 {
        self.upper.counts().moved + self.lower.counts().moved
    }

    fn last_word(told: &Told) -> Option<News> {
        match told {
            Told::News(news) => Some(news.clone()).filter(News::is_last),
            Told::Ended | Told::Runner(_) => None,
        }
    }
}

impl Machine for Node {
    type Message = (Level, Message);
    type Timer = (Level, Timer);
    type Command = Command;
    type Notice = Told;
    type Key = (Level, Key);
    type Record = Record;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        match event {
            Event::Restored((level, key), record) => {
                let event = Event::Restored(key, record);
                self.within(level, event, cx);
            }
            Event::Start => self.on_start(cx),
            Event::Message {
                from,
                message: (level, message),
            } => self.on_message(level, from, message, cx),
            Event::Unreachable { .. } => {}
            Event::Timer((level, timer)) => {
                self.within(level, Event::Timer(timer), cx);
            }
            Event::Command(command) => self.on_command(command, cx),
        }
    }

    fn check(&self) -> Result<(), Violation> {
        self.upper.check()?;
        self.lower.check()
    }
}

fn job() -> Job {
    let one = Demand::Nodes(NonZeroU32::MIN);
    let mut job = Job::new(JOB, one, Span::from_micros(3)).expect("three are more than none");
    job.retry = Retry::OnNodeLoss(1);
    job
}

/// `nodes` nodes, with hosts that start or move a waiting job.
pub fn explored(nodes: u8, skew: Span, build: fn(NodeId) -> Node) -> Exploration<Node> {
    let mut case = Exploration::leased(nodes, build, Command::Submit, starting);
    case.lateness = skew;
    case.remember = |told| *told == Told::Ended || Node::last_word(told).is_some();
    case.properties.push(Property::always(
        "a node that waits for nothing has nothing left",
        |_, state: &State<Node>| {
            state.nodes.iter().all(|host| {
                let idle = host.timers().is_empty();
                let Some(node) = host.machine() else {
                    return true;
                };
                !idle || (node.is_empty() && host.records().is_empty())
            })
        },
    ));
    case
}

/// The same, where the job may be cancelled at any time.
pub fn cancelled(mut case: Exploration<Node>) -> Exploration<Node> {
    case.commands.push((0, Command::Cancel));
    case
}

/// The same, with hosts that also end a running job.
pub fn whole_life(mut case: Exploration<Node>) -> Exploration<Node> {
    case.reactions = |node| match node.present {
        Present::Runs => vec![Command::End],
        _ => starting(node),
    };
    case
}

fn starting(node: &Node) -> Vec<Command> {
    if node.present != Present::Waits {
        return Vec::new();
    }
    let to = node.plan.moves[node.me.get() as usize].iter();
    let moves = to.map(|to| Command::Move(NodeId::new(*to)));
    core::iter::once(Command::Start).chain(moves).collect()
}
