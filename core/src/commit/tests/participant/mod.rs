mod assigning;
mod attempts;
mod caps;
mod crashes;
mod holding;
mod running;
mod telling;

use super::*;
use crate::commit::participant::{Cause, Command, Notice, Participant};
use crate::id::UserId;
use crate::machine::Host;
use Did::{Cancel, Forget, Persist, Send, Tell, Wake};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

type Hall = Bench<Participant>;

const CHANGED: Did<Participant> = Tell(Notice::Changed);

fn hall() -> Hall {
    started(|| Participant::new(CONFIG, Everyone))
}

fn in_job(job: u64) -> Attempt {
    Attempt::new(JobId::new(job), Epoch::new(1))
}

/// Attempt 1 is committed here, for a start at 100.
fn committed_hall() -> Hall {
    let mut hall = hall();
    hall.hear(BOSS, prepare(attempt(1), slot(100)));
    hall.hear(BOSS, commit(attempt(1)));
    hall
}

/// Attempt 1 runs here since 100, and is permitted until 400.
fn running_hall() -> Hall {
    let mut hall = committed_hall();
    hall.hear(BOSS, permit(attempt(1), 400));
    hall.rings([Persist(JOB), begin(1, 400), Wake(second(400))]);
    hall
}

fn begin(number: u64, until: u64) -> Did<Participant> {
    Tell(Notice::Begin {
        attempt: attempt(number),
        until: second(until),
        assignment: Assignment::any(),
    })
}

fn extended(number: u64, until: u64) -> Did<Participant> {
    Tell(Notice::Extended {
        attempt: attempt(number),
        until: second(until),
    })
}

fn stop(number: u64, cause: Cause) -> Did<Participant> {
    Tell(Notice::Stop {
        attempt: attempt(number),
        cause,
    })
}

fn gone(number: u64) -> Did<Participant> {
    Send(BOSS, alive(attempt(number), Standing::Gone))
}

fn ending(outcome: Outcome) -> Event<Participant> {
    let attempt = attempt(1);
    Event::Command(Command::Ended { attempt, outcome })
}

fn refused(attempt: Attempt, reason: Refused, next_free: u64) -> [Did<Participant>; 1] {
    refused_to(BOSS, attempt, reason, Some(second(next_free)))
}

fn refused_to(
    peer: NodeId,
    attempt: Attempt,
    reason: Refused,
    next_free: Option<Time>,
) -> [Did<Participant>; 1] {
    let refusal = Message::Refused {
        attempt,
        reason,
        next_free,
    };
    [Send(peer, refusal)]
}

/// The reasons of the refusals among these effects.
fn reasons(did: Vec<Did<Participant>>) -> Vec<Refused> {
    let reason = |(_, message)| match message {
        Message::Refused { reason, .. } => Some(reason),
        _ => None,
    };
    sends(did).into_iter().filter_map(reason).collect()
}
