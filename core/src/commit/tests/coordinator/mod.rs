use super::*;
use crate::admission::Needs;
use crate::commit::coordinator::{Command, Coordinator, Key, Notice, Setback};
use Did::{Cancel, Forget, Persist, Send, Tell, Wake};
use std::vec;

mod agreeing;
mod ending;
mod losing;
mod moving;
mod refusing;
mod returning;

const TASK: Key = Key::Task(JOB);
const WAITING: Standing = Standing::Waiting;

fn desk() -> Bench<Coordinator> {
    started(|| Coordinator::new(CONFIG, Everyone))
}

fn candidate(start: u64, nodes: &[NodeId]) -> Candidate {
    Candidate {
        interval: slot(start),
        nodes: nodes.to_vec(),
    }
}

fn place(candidates: Vec<Candidate>, spares: &[NodeId]) -> Event<Coordinator> {
    place_job(JOB, candidates, spares)
}

fn place_job(job: JobId, candidates: Vec<Candidate>, spares: &[NodeId]) -> Event<Coordinator> {
    Event::Command(Command::Place {
        job,
        submitter: NOBODY,
        needs: Needs::NOTHING,
        payload: Payload::EMPTY,
        candidates,
        spares: spares.to_vec(),
    })
}

fn improve(start: u64, nodes: &[NodeId]) -> Event<Coordinator> {
    let candidate = candidate(start, nodes);
    Event::Command(Command::Improve {
        job: JOB,
        candidate,
        spares: vec![],
    })
}

const GIVE_UP: Event<Coordinator> = Event::Command(Command::Release { job: JOB });

fn unplaced(setback: Setback) -> Notice {
    Notice::Unplaced {
        job: JOB,
        setback,
        may_have_run: false,
    }
}

/// The attempt that has failed may have run.
fn given_up(setback: Setback) -> Notice {
    Notice::Unplaced {
        job: JOB,
        setback,
        may_have_run: true,
    }
}

fn placed(number: u64, start: u64) -> Notice {
    Notice::Placed {
        job: JOB,
        placement: placement(number, start),
    }
}

fn cleared() -> Notice {
    Notice::Cleared { job: JOB }
}

/// At second 0 attempt 1 was committed on these nodes, for a start at 1000. No node may start yet.
fn standing(nodes: &[NodeId], more: Vec<Candidate>, spares: &[NodeId]) -> Bench<Coordinator> {
    let mut desk = desk();
    let mut candidates = more;
    candidates.insert(0, candidate(1000, nodes));
    desk.feed(place(candidates, spares));
    agree(&mut desk, nodes, 1);
    desk
}

/// At 940 attempt 1 was committed on these nodes, for a start at 1000. All nodes may run until 1240, and have answered.
fn permitted(nodes: &[NodeId], more: Vec<Candidate>, spares: &[NodeId]) -> Bench<Coordinator> {
    let mut desk = desk();
    let mut candidates = more;
    candidates.insert(0, candidate(1000, nodes));
    desk.at(940).feed(place(candidates, spares));
    agree(&mut desk, nodes, 1);
    for node in nodes {
        desk.hear(*node, alive(attempt(1), WAITING));
    }
    desk
}

/// The attempt has failed before its start at 1000. A is cut off: it was permitted to start, and has not let go.
fn cut_off() -> Bench<Coordinator> {
    let mut desk = desk();
    desk.at(940)
        .feed(place(vec![candidate(1000, &[A, B])], &[]));
    agree(&mut desk, &[A, B], 1);
    desk.at(945).hear(B, alive(attempt(1), Standing::Gone));
    desk.hear(B, released(attempt(1)));
    desk
}

/// All nodes vote for an attempt and commit it. Returns the effects of the last commit.
fn agree(desk: &mut Bench<Coordinator>, nodes: &[NodeId], number: u64) -> Vec<Did<Coordinator>> {
    for node in nodes {
        desk.hear(*node, prepared(attempt(number)));
    }
    let answers = nodes
        .iter()
        .map(|node| desk.hear(*node, committed(attempt(number))));
    answers.last().unwrap()
}
