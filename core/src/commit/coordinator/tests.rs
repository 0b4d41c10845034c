use super::*;
use crate::admission::Needs;
use crate::commit::Config;
use crate::machine::{Effect, EffectQueue};
use crate::schedule::Attempt;
use crate::time::Interval;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use std::vec;

#[test]
fn a_new_life_begins_when_attempt_numbers_run_out() {
    let mut coordinator: Coordinator = Coordinator::new(Config::DEFAULT, Everyone);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut effects = EffectQueue::new();
    effects.feed(&mut coordinator, Event::Start, Time::ZERO, &mut rng);
    coordinator.attempts = LAST_ATTEMPT - 1;
    let mut asked = Vec::new();
    for job in 0..3 {
        let start = Time::from_secs(100);
        let place = Command::Place {
            job: JobId::new(job),
            submitter: Submitter::default(),
            needs: Needs::NOTHING,
            candidates: vec![Candidate {
                interval: Interval::starting(start, Span::from_secs(9)).unwrap(),
                nodes: vec![NodeId::new(1)],
            }],
            spares: vec![],
            payload: Payload::EMPTY,
        };
        effects.feed(
            &mut coordinator,
            Event::Command(place),
            Time::ZERO,
            &mut rng,
        );
        for effect in effects.drain() {
            match effect {
                Effect::Persist(Key::Life, Record::Life(life)) => asked.push(u64::from(life.get())),
                Effect::Send { message, .. } => asked.push(message.epoch().get()),
                _ => {}
            }
        }
    }
    // The new life is on disk before its first attempt, and no number is used twice.
    let (last, next) = (1 << 32 | u64::from(LAST_ATTEMPT), 2 << 32 | 1);
    assert_eq!(asked, [1, last, 2, next, next + 1]);
}

#[test]
fn check_finds_a_permission_before_all_have_committed() {
    let mut coordinator: Coordinator = Coordinator::new(Config::DEFAULT, Everyone);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut effects = EffectQueue::new();
    let (job, node) = (JobId::new(7), NodeId::new(1));
    let interval = Interval::starting(Time::from_secs(100), Span::from_secs(9)).unwrap();
    let place = Command::Place {
        job,
        submitter: Submitter::default(),
        needs: Needs::NOTHING,
        candidates: vec![Candidate {
            interval,
            nodes: vec![node],
        }],
        spares: vec![],
        payload: Payload::EMPTY,
    };
    let epoch = Epoch::new(1 << 32 | 1);
    let message = Message::Prepared {
        attempt: Attempt::new(job, epoch),
        lease: Config::DEFAULT.lease,
    };
    let vote = Event::Message {
        from: node,
        message,
    };
    for event in [Event::Start, Event::Command(place), vote] {
        effects.feed(&mut coordinator, event, Time::ZERO, &mut rng);
    }
    assert_eq!(coordinator.check(), Ok(()));
    let decision = coordinator.tasks[0].decision.as_mut();
    decision.expect("everyone holds").members[0].permitted = Some(Time::from_secs(1));
    let invariant = "no node may start before all have committed";
    assert_eq!(coordinator.check(), Err(Violation { invariant }));
}
