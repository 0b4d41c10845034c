use super::*;
use crate::commit::Config;
use crate::machine::{Effect, EffectQueue};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use std::vec;

#[test]
fn a_life_without_numbers_left_is_followed_by_another() {
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
            candidates: vec![Candidate {
                interval: Interval::starting(start, Span::from_secs(9)).unwrap(),
                nodes: vec![NodeId::new(1)],
            }],
            spares: vec![],
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
    // On disk before the first attempt of the new life, and no number twice.
    let (last, next) = (1 << 32 | u64::from(LAST_ATTEMPT), 2 << 32 | 1);
    assert_eq!(asked, [1, last, 2, next, next + 1]);
}
