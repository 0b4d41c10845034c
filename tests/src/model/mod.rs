//! Any machine under a model checker: every order of deliveries, timers, commands and crashes.
//!
//! The network is a set from which delivery removes nothing, so loss, duplication and reordering need no actions of
//! their own: a message may be delivered at any later time, again and again, or never. A timer fires at its time or at
//! any later one, in any order with others, unless clocks are to be trusted. A node may crash while idle, or after any
//! number of the effects of one event, and comes back from what it had persisted. Its programs end with it, or go on
//! without it until the time that their host was told. Random choices are enumerated by value.

pub mod aria;
pub mod commit;
pub mod custody;
pub mod leased;

mod bag;

use std::convert::Infallible;
use std::sync::Arc;

pub use bag::Bag;

use gridweave_core::id::NodeId;
use gridweave_core::job::{Outcome, Survival};
use gridweave_core::machine::{Effect, Event, Host, Machine};
use gridweave_core::rand_core::TryRng;
use gridweave_core::schedule::Attempt;
use gridweave_core::time::{Span, Time};
use stateright::{Checker, HasDiscoveries, Model, Property};

use crate::steps;

/// A machine whose host runs one program at a time.
pub trait Runner: Machine {
    /// What a notice makes the host do, if anything.
    fn order(notice: &Self::Notice) -> Option<Order>;
    /// Whether a command tells that the program has ended by itself.
    fn is_end(command: &Self::Command) -> bool;
    /// What the host of a machine that has restarted says of its program.
    fn survived(attempt: Attempt, survival: Survival) -> Self::Command;
}

/// What a host does with its program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// It runs this one, or lets it run for longer.
    Run(Program),
    /// It stops the program of this attempt.
    Stop(Attempt),
}

/// A program that a host has started.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Program {
    /// The attempt that it belongs to.
    pub attempt: Attempt,
    /// When the host ends it, even if its machine is down.
    pub until: Time,
    /// Whether it has ended by itself, and the machine may not know.
    pub has_ended: bool,
}

impl Program {
    fn runs(&self, now: Time) -> bool {
        !self.has_ended && now < self.until
    }
}

/// What goes down in a crash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Crash {
    /// The machine and its program.
    Node,
    /// The machine alone; its program goes on.
    Agent,
    /// The same, and the host does not end the program in time. That is a mistake, which must be found.
    Unwatched,
}

/// What a run may contain, and what must hold in it.
#[derive(Clone)]
pub struct Exploration<M: Runner> {
    /// Builds a node.
    pub build: fn(NodeId) -> M,
    /// How many nodes there are.
    pub nodes: u8,
    /// The commands that may be given, each once and in any order, with the index of the node that gets it.
    pub commands: Vec<(u8, M::Command)>,
    /// The commands that a host may give because of its node's state.
    pub reactions: fn(&M) -> Vec<M::Command>,
    /// How many crashes there may be.
    pub crashes: u8,
    /// What goes down in each of them.
    pub crash: Crash,
    /// How much time passes while a node restarts.
    pub restart: Span,
    /// No timer that is due later fires.
    pub horizon: Time,
    /// How many messages may arrive and change something, if that is limited. All later ones are lost.
    pub arrivals: Option<u8>,
    /// How late timers may be, which is also how far clocks may be apart.
    pub lateness: Span,
    /// How many values each random choice takes.
    pub branching: u32,
    /// Which notices the properties need. The others are not kept, so that there are fewer states.
    pub remember: fn(&M::Notice) -> bool,
    /// Names the rule that an event has broken.
    pub judge: fn(&Step<'_, M>) -> Option<&'static str>,
    /// What must hold in every state, or be seen in some state.
    pub properties: Vec<Property<Self>>,
}

/// One event of one node, as [`Exploration::judge`] sees it.
pub struct Step<'a, M: Machine> {
    /// The node that handled the event.
    pub node: NodeId,
    /// The time of the event.
    pub now: Time,
    /// The machine before the event.
    pub before: &'a M,
    /// The event itself.
    pub event: &'a Event<M>,
    /// The machine after the event.
    pub after: &'a M,
}

/// Everything there is at one moment.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State<M: Machine> {
    /// The time.
    pub now: Time,
    /// Each node.
    pub nodes: Vec<Arc<Host<M>>>,
    /// Every message that was ever sent.
    pub network: Bag<(NodeId, NodeId, M::Message)>,
    /// Every notice that was ever given and matters.
    pub notices: Bag<(NodeId, M::Notice)>,
    /// Which commands were given, as bits.
    pub given: u32,
    /// How many crashes there were.
    pub crashes: u8,
    /// The program of each node, if programs may go on without their machines.
    pub programs: Vec<Option<Program>>,
    /// Whether a program was found after a restart.
    pub resumed: bool,
    /// How many more messages may arrive, if that is limited.
    pub arrivals: Option<u8>,
    /// The first rule that was broken.
    pub broken: Option<&'static str>,
}

/// Something that may happen next.
#[derive(Clone, PartialEq, Debug)]
pub enum Action<M: Machine> {
    /// A node handles an event. If it crashes meanwhile, only the first effects are executed.
    Happens {
        /// The index of the node.
        node: u8,
        /// The event that the node handles.
        event: Occurrence<M>,
        /// The values of its random choices.
        choices: Vec<u32>,
        /// How many effects are executed before the node crashes, if it does.
        crash: Option<u8>,
    },
    /// A node goes down while idle.
    Crash(u8),
    /// A node comes up.
    Restart {
        /// The index of the node.
        node: u8,
        /// Whether its program has ended by itself meanwhile.
        ended: bool,
    },
}

/// An event as the model knows it.
#[derive(Clone, PartialEq, Debug)]
pub enum Occurrence<M: Machine> {
    /// A message that was sent arrives.
    Delivery(NodeId, M::Message),
    /// A timer fires.
    Timer(M::Timer),
    /// A command that was waiting is given.
    Command(u8),
    /// The host reacts to the node's state.
    Reaction(M::Command),
}

/// Gives prepared values, then zeros, and counts.
struct Script<'a> {
    values: &'a [u32],
    drawn: usize,
}

impl TryRng for Script<'_> {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let value = self.values.get(self.drawn).copied().unwrap_or(0);
        self.drawn += 1;
        Ok(value)
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        unreachable!("machines draw 32 bits at a time")
    }
    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        unreachable!("machines draw 32 bits at a time")
    }
}

/// The nodes that are up, with their numbers.
pub fn up<M: Machine>(state: &State<M>) -> impl Iterator<Item = (usize, &M)> {
    let hosts = state.nodes.iter().enumerate();
    hosts.filter_map(|(index, host)| host.machine().map(|machine| (index, machine)))
}

impl<M: Machine> State<M> {
    /// Whether the program of a node runs now.
    pub fn runs_program(&self, node: usize) -> bool {
        self.programs[node].is_some_and(|program| program.runs(self.now))
    }
}

/// The host of a node does what it was told. Names the rule that is broken by that.
fn obey(
    program: &mut Option<Program>,
    order: Option<Order>,
    now: Time,
    crash: Crash,
) -> Option<&'static str> {
    match order {
        Some(Order::Run(mut run)) => {
            if crash == Crash::Unwatched {
                run.until = Time::MAX;
            }
            let other = program.replace(run);
            let other = other.filter(|other| other.attempt != run.attempt && other.runs(now));
            other.map(|_| "a host runs one program of the job at a time")
        }
        Some(Order::Stop(attempt)) => {
            *program = program.filter(|it| it.attempt != attempt);
            None
        }
        None => None,
    }
}

impl<M: Runner> Exploration<M> {
    /// At most `arrivals` messages arrive and change something.
    #[must_use]
    pub fn arriving(self, arrivals: u8) -> Self {
        let arrivals = Some(arrivals);
        Self { arrivals, ..self }
    }

    /// In a debug build, at most `arrivals` messages arrive and change something.
    #[must_use]
    pub fn brief(self, arrivals: u8) -> Self {
        let arrivals = cfg!(debug_assertions).then_some(arrivals);
        let arrivals = arrivals.or(self.arrivals);
        Self { arrivals, ..self }
    }

    /// One node may crash, once.
    #[must_use]
    pub fn with_crash(self) -> Self {
        Self { crashes: 1, ..self }
    }

    /// One machine may crash, once, while its program goes on.
    #[must_use]
    pub fn with_agent_crash(mut self, crash: Crash) -> Self {
        self.properties.push(Property::always(
            "at most one program of the job runs",
            |_, state: &State<M>| {
                let nodes = 0..state.nodes.len();
                nodes.filter(|node| state.runs_program(*node)).count() <= 1
            },
        ));
        Self {
            crashes: 1,
            crash,
            ..self
        }
    }

    /// Explores all states. Checks that there are `expected`, that all properties hold, and that all of `seen` occur.
    pub fn explore(mut self, name: &str, seen: &[Property<Self>], expected: u32) {
        self.properties.extend(seen.iter().cloned());
        let checker = self.checker().threads(2).spawn_bfs().join();
        let states = checker.unique_state_count();
        println!("{name}: {states} states");
        checker.assert_properties();
        assert_eq!(states, expected as usize, "{name}");
    }

    /// Explores until a property fails, which must be `broken`.
    pub fn finds(self, name: &str, broken: &'static str) {
        let checker = self.checker().threads(2);
        let found = HasDiscoveries::AnyFailures;
        let checker = checker.finish_when(found).spawn_bfs().join();
        let states = checker.unique_state_count();
        println!("{name}: found after {states} states");
        checker.assert_any_discovery(broken);
    }

    fn event(&self, state: &State<M>, occurrence: &Occurrence<M>) -> (Event<M>, Time) {
        match occurrence {
            Occurrence::Delivery(from, message) => {
                let (from, message) = (*from, message.clone());
                (Event::Message { from, message }, state.now)
            }
            Occurrence::Timer(timer) => (Event::Timer(*timer), state.now),
            Occurrence::Command(index) => {
                let (_, command) = &self.commands[usize::from(*index)];
                (Event::Command(command.clone()), state.now)
            }
            Occurrence::Reaction(command) => (Event::Command(command.clone()), state.now),
        }
    }

    /// Lets a node handle an event, and executes all its effects or the first `most`. Counts its effects and choices.
    fn feed(
        &self,
        state: &mut State<M>,
        node: u8,
        event: &Event<M>,
        choices: &[u32],
        most: Option<u8>,
    ) -> (usize, usize) {
        let before = Arc::clone(&state.nodes[usize::from(node)]);
        let Some(before) = before.machine() else {
            return (0, 0);
        };
        let host = Arc::make_mut(&mut state.nodes[usize::from(node)]);
        let mut script = Script {
            values: choices,
            drawn: 0,
        };
        host.handle(event.clone(), state.now, &mut script);
        let id = NodeId::new(u64::from(node));
        let judged = host.machine().and_then(|after| {
            (self.judge)(&Step {
                node: id,
                now: state.now,
                before,
                event,
                after,
            })
        });
        let unsound = || host.check().err().map(|violation| violation.invariant);
        state.broken = state.broken.or(judged).or_else(unsound);
        let count = host.pending();
        for _ in 0..most.map_or(count, usize::from) {
            match host.execute() {
                Some(Effect::Send { to, message }) if state.arrivals != Some(0) => {
                    state.network.insert((id, to, message));
                }
                Some(Effect::Notify(notice)) => {
                    if self.crash != Crash::Node {
                        let program = &mut state.programs[usize::from(node)];
                        let broken = obey(program, M::order(&notice), state.now, self.crash);
                        state.broken = state.broken.or(broken);
                    }
                    if (self.remember)(&notice) {
                        state.notices.insert((id, notice));
                    }
                }
                _ => {}
            }
        }
        (count, script.drawn)
    }

    fn go_down(state: &mut State<M>, node: u8) {
        Arc::make_mut(&mut state.nodes[usize::from(node)]).crash();
        state.crashes += 1;
    }

    /// The machine comes up. If programs go on without it, its host says what it found, between records and start.
    fn come_up(&self, state: &mut State<M>, node: u8) {
        let id = NodeId::new(u64::from(node));
        let host = &mut state.nodes[usize::from(node)];
        let records = host.records().clone();
        *host = Arc::new(Host::unstarted((self.build)(id)));
        for (key, record) in records {
            self.feed(state, node, &Event::Restored(key, record), &[], None);
        }
        let index = usize::from(node);
        if let Some(program) = state.programs[index] {
            let until = program.until;
            let survival = match program.has_ended {
                true => Some(Survival::Ended(Outcome::Done)),
                false => (until > state.now).then_some(Survival::Runs { until }),
            };
            state.resumed |= matches!(survival, Some(Survival::Runs { .. }));
            if !matches!(survival, Some(Survival::Runs { .. })) {
                state.programs[index] = None;
            }
            if let Some(survival) = survival {
                let survived = Event::Command(M::survived(program.attempt, survival));
                self.feed(state, node, &survived, &[], None);
            }
        }
        self.feed(state, node, &Event::Start, &[], None);
    }

    /// The latest time at which no timer is too late.
    fn latest(&self, state: &State<M>) -> Time {
        let first = state.nodes.iter().filter_map(|host| host.next_at()).min();
        first.map_or(Time::MAX, |first| first + self.lateness)
    }

    /// All that may happen to a node that is up, apart from crashes.
    fn occurrences(&self, state: &State<M>, node: u8) -> Vec<Occurrence<M>> {
        let host = &state.nodes[usize::from(node)];
        let Some(machine) = host.machine() else {
            return Vec::new();
        };
        let id = NodeId::new(u64::from(node));
        let mut all = Vec::new();
        for (from, to, message) in state.network.iter() {
            if *to == id {
                all.push(Occurrence::Delivery(*from, message.clone()));
            }
        }
        let latest = self.latest(state);
        let mut due: Vec<M::Timer> = host
            .timers()
            .iter()
            .filter(|(at, _)| *at <= self.horizon.min(latest))
            .map(|(_, timer)| timer)
            .collect();
        due.sort_unstable();
        all.extend(due.into_iter().map(Occurrence::Timer));
        for (index, (to, _)) in (0_u8..).zip(&self.commands) {
            if *to == node && state.given & (1 << index) == 0 {
                all.push(Occurrence::Command(index));
            }
        }
        let runs = self.crash == Crash::Node || state.runs_program(usize::from(node));
        let reactions = (self.reactions)(machine).into_iter();
        let reactions = reactions.filter(|command| runs || !M::is_end(command));
        all.extend(reactions.map(Occurrence::Reaction));
        all
    }

    fn apply(
        &self,
        state: &mut State<M>,
        node: u8,
        occurrence: &Occurrence<M>,
        choices: &[u32],
        crash: Option<u8>,
    ) -> (usize, usize) {
        match occurrence {
            Occurrence::Timer(timer) => {
                if let Some(at) = state.nodes[usize::from(node)].timers().due(*timer) {
                    state.now = state.now.max(at);
                }
            }
            Occurrence::Command(index) => {
                state.given |= 1 << index;
            }
            Occurrence::Delivery(..) | Occurrence::Reaction(_) => {}
        }
        let ends = matches!(occurrence, Occurrence::Reaction(command) if M::is_end(command));
        if ends && let Some(program) = &mut state.programs[usize::from(node)] {
            program.has_ended = true;
        }
        let (event, _) = self.event(state, occurrence);
        let fed = self.feed(state, node, &event, choices, crash);
        if ends && crash.is_none() {
            state.programs[usize::from(node)] = None;
        }
        fed
    }
}

impl<M: Runner> Model for Exploration<M> {
    type State = State<M>;
    type Action = Action<M>;

    fn init_states(&self) -> Vec<State<M>> {
        steps::watch();
        let mut state = State {
            now: Time::ZERO,
            nodes: vec![Arc::default(); usize::from(self.nodes)],
            network: Bag::default(),
            notices: Bag::default(),
            given: 0,
            crashes: 0,
            programs: vec![None; usize::from(self.nodes)],
            resumed: false,
            arrivals: self.arrivals,
            broken: None,
        };
        for node in 0..self.nodes {
            self.come_up(&mut state, node);
        }
        vec![state]
    }

    fn actions(&self, state: &State<M>, actions: &mut Vec<Action<M>>) {
        let may_crash = state.crashes < self.crashes;
        for node in 0..self.nodes {
            if state.nodes[usize::from(node)].machine().is_none() {
                if self.restart.is_zero() || state.now + self.restart <= self.latest(state) {
                    let ended = false;
                    actions.push(Action::Restart { node, ended });
                    if state.runs_program(usize::from(node)) {
                        let ended = true;
                        actions.push(Action::Restart { node, ended });
                    }
                }
                continue;
            }
            if may_crash {
                actions.push(Action::Crash(node));
            }
            for event in self.occurrences(state, node) {
                let mut push = |choices: Vec<u32>, crash| {
                    let event = event.clone();
                    actions.push(Action::Happens {
                        node,
                        event,
                        choices,
                        crash,
                    });
                };
                if self.branching <= 1 && !may_crash {
                    push(Vec::new(), None);
                    continue;
                }
                // A trial run counts the effects and the choices.
                let (effects, drawn) = self.apply(&mut state.clone(), node, &event, &[], None);
                for choices in scripts(drawn, self.branching) {
                    push(choices.clone(), None);
                    if may_crash {
                        (0..effects as u8).for_each(|crash| push(choices.clone(), Some(crash)));
                    }
                }
            }
        }
    }

    fn next_state(&self, last: &State<M>, action: Action<M>) -> Option<State<M>> {
        let mut state = last.clone();
        match action {
            Action::Happens {
                node,
                event,
                choices,
                crash,
            } => {
                self.apply(&mut state, node, &event, &choices, crash);
                let changes = state != *last;
                if !changes && crash.is_none() {
                    return None;
                }
                if matches!(event, Occurrence::Delivery(..)) && changes {
                    state.arrivals = state.arrivals.map(|left| left.saturating_sub(1));
                    if state.arrivals == Some(0) {
                        state.network = Bag::default();
                    }
                }
                if crash.is_some() {
                    Self::go_down(&mut state, node);
                }
            }
            Action::Crash(node) => Self::go_down(&mut state, node),
            Action::Restart { node, ended } => {
                if let Some(program) = &mut state.programs[usize::from(node)] {
                    program.has_ended |= ended;
                }
                state.now += self.restart;
                self.come_up(&mut state, node);
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = self.properties.clone();
        properties.push(Property::always(
            "nothing is broken",
            |_, state: &State<M>| state.broken.is_none(),
        ));
        properties
    }
}

/// All ways to make `choices` choices, each among `branching` evenly spread values.
fn scripts(choices: usize, branching: u32) -> Vec<Vec<u32>> {
    let mut scripts = vec![Vec::new()];
    for _ in 0..choices {
        let step = u32::MAX / branching.max(1);
        let extend = |script: &Vec<u32>| {
            let script = script.clone();
            (0..branching.max(1)).map(move |value| {
                let mut longer = script.clone();
                longer.push(value * step);
                longer
            })
        };
        scripts = scripts.iter().flat_map(extend).collect();
    }
    scripts
}
