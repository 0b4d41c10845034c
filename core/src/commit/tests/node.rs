//! Several nodes with a network that delivers at once, or not at all.

use super::*;
use crate::admission::Needs;
use crate::commit::coordinator::{self, Setback};
use crate::commit::participant::{self, Cause};
use std::collections::VecDeque;
use std::vec;

type Peer = Bench<Node>;

/// Several nodes; the id of a node is its index.
struct Grid {
    nodes: Vec<Peer>,
    /// Nodes that neither send nor receive anything.
    cut: Vec<usize>,
    told: Vec<(usize, Notice)>,
}

impl Grid {
    fn new(nodes: usize) -> Self {
        Self::built(nodes, || Node::new(CONFIG, Everyone))
    }

    fn built(nodes: usize, build: fn() -> Node) -> Self {
        Self {
            nodes: (0..nodes).map(|_| started(build)).collect(),
            cut: Vec::new(),
            told: Vec::new(),
        }
    }

    /// Feeds an event, and delivers everything that comes of it.
    fn feed(&mut self, node: usize, event: Event<Node>) {
        let first = self.nodes[node].feed(event);
        self.deliver(node, first);
    }

    fn deliver(&mut self, node: usize, first: Vec<Did<Node>>) {
        let mut did: VecDeque<(usize, Did<Node>)> = VecDeque::new();
        did.extend(first.into_iter().map(|did| (node, did)));
        while let Some((from, effect)) = did.pop_front() {
            match effect {
                Did::Send(to, message) => {
                    let to = to.get() as usize;
                    if !self.cut.contains(&to) && !self.cut.contains(&from) {
                        let from = NodeId::new(from as u64);
                        let answer = self.nodes[to].hear(from, message);
                        did.extend(answer.into_iter().map(|did| (to, did)));
                    }
                }
                Did::Tell(notice) => self.told.push((from, notice)),
                _ => {}
            }
        }
    }

    /// Lets time pass until this second, timer by timer.
    fn run_until(&mut self, end: u64) {
        loop {
            let alarms = self.nodes.iter().enumerate().flat_map(|(node, peer)| {
                let timers = peer.host.timers().iter();
                timers.map(move |(at, timer)| (at, node, timer))
            });
            let Some((at, node, timer)) = alarms.min().filter(|(at, ..)| *at <= second(end)) else {
                break;
            };
            self.set_clocks(at);
            self.feed(node, Event::Timer(timer));
        }
        self.set_clocks(second(end));
    }

    fn set_clocks(&mut self, now: Time) {
        for peer in &mut self.nodes {
            peer.now = peer.now.max(now);
        }
    }

    fn place(&mut self, start: u64, nodes: &[u64], spares: &[u64]) {
        let named = |nodes: &[u64]| nodes.iter().copied().map(NodeId::new).collect();
        let candidate = Candidate {
            interval: slot(start),
            nodes: named(nodes),
        };
        let command = coordinator::Command::Place {
            job: JOB,
            submitter: NOBODY,
            needs: Needs::NOTHING,
            candidates: vec![candidate],
            spares: named(spares),
            payload: Payload::EMPTY,
        };
        self.feed(0, Event::Command(Command::Coordinator(command)));
    }

    fn end(&mut self, node: usize) {
        let outcome = Outcome::Done;
        let attempt = self.nodes[node].machine().participant.running().next();
        let attempt = attempt.expect("something runs there");
        let command = participant::Command::Ended { attempt, outcome };
        self.feed(node, Event::Command(Command::Participant(command)));
    }

    /// The notices since the last call, without changes of free time and extensions. Starts are told as if they had
    /// been permitted for ever.
    fn news(&mut self) -> Vec<(usize, Notice)> {
        use participant::Notice::{Begin, Changed, Extended};
        let mut told = core::mem::take(&mut self.told);
        told.retain(|(_, notice)| {
            !matches!(notice, Notice::Participant(Changed | Extended { .. }))
        });
        for (_, notice) in &mut told {
            if let Notice::Participant(Begin { until, .. }) = notice {
                *until = Time::MAX;
            }
        }
        told
    }
}

fn begin(number: u64) -> Notice {
    Notice::Participant(participant::Notice::Begin {
        attempt: attempt(number),
        until: Time::MAX,
        assignment: Assignment::any(),
    })
}

fn stop(number: u64, cause: Cause) -> Notice {
    let attempt = attempt(number);
    Notice::Participant(participant::Notice::Stop { attempt, cause })
}

fn placed(number: u64, start: u64) -> Notice {
    Notice::Coordinator(coordinator::Notice::Placed {
        job: JOB,
        placement: placement(number, start),
    })
}

fn lost(node: u64) -> Notice {
    let node = NodeId::new(node);
    given_up(Setback::Lost { node })
}

fn overran(node: u64) -> Notice {
    let node = NodeId::new(node);
    given_up(Setback::Overran { node })
}

/// The attempt that has failed may have run.
fn given_up(setback: Setback) -> Notice {
    Notice::Coordinator(coordinator::Notice::Unplaced {
        job: JOB,
        setback,
        may_have_run: true,
    })
}

const FINISHED: Notice = Notice::Coordinator(coordinator::Notice::Finished { job: JOB });
const CLEARED: Notice = Notice::Coordinator(coordinator::Notice::Cleared { job: JOB });

#[test]
fn a_job_runs_on_two_nodes_one_of_which_coordinates_it() {
    let mut grid = Grid::new(2);
    grid.place(1000, &[0, 1], &[]);
    assert_eq!(grid.news(), [(0, placed(1, 1000))]);
    grid.run_until(1300);
    assert_eq!(grid.news(), [(0, begin(1)), (1, begin(1))]);
    grid.end(0);
    assert_eq!(grid.news(), []);
    grid.end(1);
    assert_eq!(grid.news(), [(0, FINISHED), (0, CLEARED)]);
    grid.run_until(3000);
    let empty = |peer: &Peer| peer.host.timers().is_empty() && peer.host.records().len() == 1;
    assert!(grid.nodes.iter().all(empty), "nothing is left");
}

#[test]
fn a_job_that_overruns_on_one_of_two_nodes_is_finished_if_it_is_extended() {
    fn build(by: u64) -> Node {
        let by = Span::from_secs(by);
        let overrun = Overrun::Extend { by, times: 2 };
        Node::new(Config { overrun, ..CONFIG }, Everyone)
    }
    let mut grid = Grid::built(3, || build(60));
    grid.place(1000, &[1, 2], &[]);
    grid.run_until(1500);
    grid.end(1);
    grid.news();
    // Two extensions of a minute, after the ten minutes that were agreed on.
    grid.run_until(1719);
    assert_eq!(grid.news(), []);
    grid.end(2);
    assert_eq!(grid.news(), [(0, FINISHED), (0, CLEARED)]);
    // Two extensions of half a minute are too short.
    let mut grid = Grid::built(3, || build(30));
    grid.place(1000, &[1, 2], &[]);
    grid.run_until(1500);
    grid.end(1);
    grid.news();
    grid.run_until(1719);
    let cut = stop(1, Cause::Overran);
    assert_eq!(grid.news(), [(2, cut), (0, overran(2)), (0, CLEARED)]);
    grid.run_until(4000);
    let empty = |peer: &Peer| peer.host.timers().is_empty() && peer.host.records().len() == 1;
    assert!(grid.nodes.iter().all(empty), "nothing is left");
}

#[test]
fn survivors_of_a_lost_coordinator_stop_and_forget() {
    let mut grid = Grid::new(3);
    grid.place(1000, &[1, 2], &[]);
    grid.run_until(1050);
    grid.news();
    grid.cut.push(0);
    grid.run_until(1350);
    let orphaned = stop(1, Cause::Orphaned);
    assert_eq!(
        grid.news(),
        [(0, lost(1)), (1, orphaned.clone()), (2, orphaned)],
        "to the coordinator, the others are lost"
    );
    grid.run_until(3000);
    assert!(grid.nodes[1].host.records().len() == 1 && grid.nodes[2].host.records().len() == 1);
    assert_eq!(grid.news(), [(0, CLEARED)]);
}

#[test]
fn a_node_that_is_cut_off_before_the_start_is_replaced_and_never_starts() {
    let mut grid = Grid::new(4);
    grid.place(2000, &[1, 2], &[3]);
    grid.run_until(50);
    grid.cut.push(2);
    grid.run_until(2100);
    assert_eq!(
        grid.news(),
        [
            (0, placed(1, 2000)),
            (0, placed(2, 2000)),
            (1, begin(2)),
            (3, begin(2))
        ]
    );
}

#[test]
fn a_node_that_restarts_while_it_runs_costs_the_attempt() {
    let mut grid = Grid::new(3);
    grid.place(1000, &[1, 2], &[]);
    grid.run_until(1050);
    grid.news();
    let did = grid.nodes[2].restart();
    let gone = alive(attempt(1), Standing::Gone);
    assert_eq!(sends(did), [(NodeId::new(0), gone.clone())]);
    let from = NodeId::new(2);
    let message = gone;
    grid.feed(0, Event::Message { from, message });
    assert_eq!(
        grid.news(),
        [(0, lost(2)), (1, stop(1, Cause::Released)), (0, CLEARED)]
    );
}

#[test]
fn a_coordinator_that_restarts_takes_its_running_job_up_again() {
    let mut grid = Grid::new(3);
    grid.place(1000, &[1, 2], &[]);
    grid.run_until(1050);
    grid.news();
    grid.nodes[0].restart();
    grid.run_until(1500);
    assert_eq!(grid.news(), [(0, placed(1, 1000))], "nobody stops");
    grid.end(1);
    grid.end(2);
    assert_eq!(grid.news(), [(0, FINISHED), (0, CLEARED)]);
}

#[test]
fn records_under_the_wrong_key_are_ignored() {
    let mut grid = Grid::new(1);
    grid.place(1000, &[0], &[]);
    let disk = grid.nodes[0].host.records().clone();
    let mut node: Node = Node::new(CONFIG, Everyone);
    let keys = [
        Key::Participant(JOB),
        Key::Coordinator(coordinator::Key::Life),
        Key::Coordinator(coordinator::Key::Task(JOB)),
    ];
    for (home, record) in disk {
        for key in keys.iter().filter(|key| **key != home) {
            let event = Event::Restored(*key, record.clone());
            EffectQueue::new().feed(&mut node, event, Time::ZERO, &mut Zeros);
        }
    }
    assert_eq!(node, Node::new(CONFIG, Everyone));
}

#[test]
fn a_spare_starts_in_place_of_a_node_that_is_cut_off_in_time() {
    // If the node is cut off early, a spare takes its place; if late, there is no time for that.
    for (cut_at, starts) in [(650, true), (880, false)] {
        let mut grid = Grid::new(4);
        grid.place(1000, &[1, 2], &[3]);
        grid.run_until(cut_at);
        grid.cut.push(2);
        grid.news();
        grid.run_until(1100);
        let told = grid.news();
        assert_eq!(told.contains(&(3, begin(2))), starts, "{told:?}");
    }
}

/// All nodes did the job while its coordinator was down or cut off. When it is back, it must not take the job for lost.
#[test]
fn a_job_done_while_its_coordinator_was_away_is_finished() {
    fn until_end() -> Node {
        let permission = Permission::UntilEnd;
        Node::new(
            Config {
                permission,
                ..CONFIG
            },
            Everyone,
        )
    }
    fn renewed() -> Node {
        Node::new(CONFIG, Everyone)
    }
    for build in [until_end, renewed] {
        // The coordinator is back before the reservation ends, at 1600, or after that.
        for back in [1100, 1590, 1601, 1640] {
            for restarts in [false, true] {
                let mut grid = Grid::built(3, build);
                grid.place(1000, &[1, 2], &[]);
                grid.run_until(1050);
                grid.cut = vec![0];
                grid.end(1);
                grid.end(2);
                if restarts {
                    grid.nodes[0].host.crash();
                }
                grid.run_until(back);
                if !restarts && !grid.nodes[0].machine().coordinator.is_placing(JOB) {
                    // The coordinator gave the job up, and cannot know better.
                    continue;
                }
                grid.cut.clear();
                grid.news();
                if restarts {
                    let did = grid.nodes[0].restart();
                    grid.deliver(0, did);
                }
                grid.run_until(back + 300);
                let news = grid.news();
                let told = news.iter().filter(|(node, _)| *node == 0);
                let told: Vec<Notice> = told.map(|(_, notice)| notice.clone()).collect();
                assert!(told.contains(&FINISHED), "{back} {restarts} {told:?}");
                assert!(
                    !told.iter().any(|told| matches!(
                        told,
                        Notice::Coordinator(coordinator::Notice::Unplaced { .. })
                    )),
                    "{told:?}"
                );
            }
        }
    }
}
