//! Custody in situations that random runs seldom reach, message by message.

use gridweave_core::custody::{Claim, Ending, Message, Ruling, Standing, Term};
use gridweave_core::id::NodeId;
use gridweave_core::job::News;
use gridweave_core::machine::{Effect, Event, Host};
use gridweave_core::time::{Span, Time};
use gridweave_tests::model::custody::{Command, Level, Levels, Node, Plan, Told};
use gridweave_tests::steps;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// A home and two nodes that may have its job; the first may give it to the second.
const PLAN: Plan = Plan {
    levels: Levels::One,
    holders: &[1],
    runners: &[],
    moves: &[&[], &[2], &[]],
    fault: None,
    skew: Span::ZERO,
};

/// Three nodes. No message arrives unless the test says so.
struct Grid {
    now: Time,
    rng: Xoshiro256PlusPlus,
    hosts: Vec<Host<Node>>,
    /// What was sent: sender, receiver, message.
    sent: Vec<(usize, usize, (Level, Message))>,
    told: Vec<News>,
}

impl Grid {
    fn new() -> Self {
        steps::watch();
        let mut grid = Self {
            now: Time::ZERO,
            rng: Xoshiro256PlusPlus::seed_from_u64(1),
            hosts: vec![Host::new(); 3],
            sent: Vec::new(),
            told: Vec::new(),
        };
        for node in 0..3 {
            grid.start(node);
        }
        grid
    }

    fn start(&mut self, node: usize) {
        let machine = Node::new(NodeId::new(node as u64), PLAN);
        self.hosts[node].start(machine, self.now, &mut self.rng);
        self.carry_out(node);
    }

    fn carry_out(&mut self, node: usize) {
        while let Some(effect) = self.hosts[node].execute() {
            match effect {
                Effect::Send { to, message } => {
                    self.sent.push((node, to.get() as usize, message));
                }
                Effect::Notify(Told::News(news)) if node == 0 => self.told.push(news),
                _ => {}
            }
        }
    }

    fn command(&mut self, node: usize, command: Command) {
        self.hosts[node].handle(Event::Command(command), self.now, &mut self.rng);
        self.carry_out(node);
    }

    /// The last message from one node to another arrives.
    fn arrives(&mut self, from: usize, to: usize) -> Message {
        let mut sent = self.sent.iter().rev();
        let found = sent.find(|(sender, receiver, _)| (*sender, *receiver) == (from, to));
        let (_, _, message) = found.expect("a message was sent").clone();
        let event = Event::Message {
            from: NodeId::new(from as u64),
            message: message.clone(),
        };
        self.hosts[to].handle(event, self.now, &mut self.rng);
        self.carry_out(to);
        message.1
    }

    /// The first node of the plan takes the job and is granted it.
    fn placed(&mut self) {
        self.command(0, Command::Submit);
        self.arrives(0, 1);
        self.arrives(1, 0);
        self.arrives(0, 1);
    }

    fn pass_until(&mut self, micros: u64) {
        let until = Time::from_micros(micros);
        loop {
            let due = |host: &Host<Node>| host.next_at().filter(|at| *at <= until);
            let next = self.hosts.iter().enumerate();
            let next = next
                .filter_map(|(node, host)| Some((due(host)?, node)))
                .min();
            let Some((at, node)) = next else { break };
            self.now = at;
            self.hosts[node].fire(at, &mut self.rng);
            self.carry_out(node);
        }
        self.now = until;
    }
}

#[test]
fn a_job_that_is_cancelled_while_it_moves_is_withdrawn_where_it_went() {
    let mut grid = Grid::new();
    grid.placed();
    grid.command(1, Command::Move(NodeId::new(2)));
    grid.arrives(1, 2);
    grid.command(0, Command::Cancel);
    grid.arrives(2, 0);
    let withdrawn = grid.arrives(0, 2);
    assert!(matches!(
        withdrawn,
        Message::Verdict {
            term: Term { moves: 1, .. },
            ruling: Ruling::Withdraw,
            ..
        }
    ));
    grid.arrives(2, 0);
    assert_eq!(grid.told.last(), Some(&News::Cancelled));
}

#[test]
fn a_job_that_was_done_under_an_earlier_attempt_is_finished_when_a_later_one_is_withdrawn() {
    let mut grid = Grid::new();
    grid.placed();
    grid.command(1, Command::Start);
    grid.command(1, Command::End);
    // The end is not heard of. The home gives the job to the same node again, and that is lost, too.
    grid.pass_until(10);
    grid.hosts[0].crash();
    grid.now = Time::from_micros(11);
    grid.start(0);
    grid.command(0, Command::Cancel);
    grid.arrives(0, 1);
    let ended = grid.arrives(1, 0);
    let done = Standing::Ended(Ending::Done);
    assert!(matches!(ended, Message::Report { standing, claim, .. }
        if standing == done && claim == Claim::default()));
    assert_eq!(grid.told.last(), Some(&News::Finished));
}
