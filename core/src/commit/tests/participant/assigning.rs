//! What the host of a participant is told of a job that is to run: what, when, and with which nodes.

use super::*;
use crate::admission::Needs;
use crate::machine::{Driver, Effect};

type Plain = Driver<Participant>;

const NODES: [NodeId; 2] = [BOSS, RIVAL];

fn assignment(number: u64, start: u64) -> Shared<Assignment> {
    Shared::new(Assignment {
        placement: Placement {
            nodes: NODES.to_vec(),
            ..placement(number, start)
        },
        submitter: NOBODY,
        payload: Payload::new(b"true").unwrap(),
    })
}

fn ask(hall: &mut Plain, number: u64, start: u64) -> Vec<Effect<Participant>> {
    let prepare = Message::Prepare {
        attempt: attempt(number),
        interval: slot(start),
        lease: CONFIG.lease,
        submitter: NOBODY,
        needs: Needs::NOTHING,
        payload: Payload::new(b"true").unwrap(),
    };
    hall.hear(BOSS, prepare)
}

fn decide(hall: &mut Plain, number: u64) -> Vec<Effect<Participant>> {
    let members = Shared::new(Members::from_iter(NODES));
    let attempt = attempt(number);
    hall.hear(BOSS, Message::Commit { attempt, members })
}

/// The notices, without changes of free time.
fn told(did: Vec<Effect<Participant>>) -> Vec<Notice> {
    let told = did.into_iter().filter_map(|effect| match effect {
        Effect::Notify(Notice::Changed) => None,
        Effect::Notify(notice) => Some(notice),
        _ => None,
    });
    told.collect()
}

/// Attempt 1 is committed for a start at 100.
fn assigned() -> Plain {
    let mut hall = Plain::started(Time::ZERO, || Participant::new(CONFIG, Everyone)).0;
    assert_eq!(told(ask(&mut hall, 1, 100)), []);
    assert_eq!(told(decide(&mut hall, 1)), [is_assigned(1, 100)]);
    hall
}

fn is_assigned(number: u64, start: u64) -> Notice {
    Notice::Assigned {
        job: JOB,
        assignment: assignment(number, start),
    }
}

fn is_released(number: u64) -> Notice {
    let attempt = attempt(number);
    Notice::Released { attempt }
}

#[test]
fn a_host_is_told_what_to_run_with_whom_when_time_is_committed_and_when_it_starts() {
    let mut hall = assigned();
    assert_eq!(told(decide(&mut hall, 1)), [], "a repeated commit");
    hall.hear(BOSS, permit(attempt(1), 400));
    let begin = Notice::Begin {
        attempt: attempt(1),
        until: second(400),
        assignment: assignment(1, 100),
    };
    assert_eq!(told(hall.ring()), [begin]);
}

#[test]
fn a_host_is_told_when_an_attempt_is_released_before_its_start() {
    let released = [is_released(1)];
    let mut hall = assigned();
    assert_eq!(told(hall.hear(BOSS, release(attempt(1)))), released);
    // No permission comes.
    let mut hall = assigned();
    assert_eq!(told(hall.ring_until(1000)), released);
}

#[test]
fn a_later_attempt_replaces_an_earlier_one_in_the_eyes_of_the_host() {
    let mut hall = assigned();
    assert_eq!(told(ask(&mut hall, 2, 1000)), []);
    let moved = [is_released(1), is_assigned(2, 1000)];
    assert_eq!(told(decide(&mut hall, 2)), moved);
}

#[test]
fn after_a_restart_a_host_is_told_again_what_waits() {
    let mut hall = assigned();
    assert_eq!(told(hall.restart()), [is_assigned(1, 100)]);
}

#[test]
fn a_list_of_more_members_than_a_job_may_have_is_not_kept() {
    let mut hall = Plain::started(Time::ZERO, || Participant::new(CONFIG, Everyone)).0;
    ask(&mut hall, 1, 100);
    let commit = |members: u64| Message::Commit {
        attempt: attempt(1),
        members: Shared::new((0..members).map(NodeId::new).collect()),
    };
    let most = u64::from(CONFIG.members);
    let expired = Effect::Send {
        to: BOSS,
        message: Message::Expired {
            attempt: attempt(1),
        },
    };
    assert_eq!(hall.hear(BOSS, commit(most + 1)), [expired]);
    assert_ne!(told(hall.hear(BOSS, commit(most))), []);
}
