//! What must hold however the steps are cut into blocks.

use super::*;
use crate::rng::Choose;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

#[test]
fn a_profile_that_filled_and_emptied_again_is_as_new() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut profile = Availability::new(64).unwrap();
    let mut held = Vec::new();
    for _ in 0..5000 {
        let (count, length) = (1 + rng.below(40), long(1 + u64::from(rng.below(500))));
        let start = profile.earliest_fit(Time::ZERO, count, length).unwrap();
        let interval = Interval::starting(start, length).unwrap();
        profile.reserve(interval, count).unwrap();
        held.push((interval, count));
    }
    assert_eq!(profile.check(), Ok(()));
    assert!(profile.step_count() > 3000, "{}", profile.step_count());
    rng.shuffle(&mut held);
    for (index, &(interval, count)) in held.iter().enumerate() {
        profile.release(interval, count).unwrap();
        if index % 100 == 0 {
            assert_eq!(profile.check(), Ok(()));
        }
    }
    let new = Availability::new(64).unwrap();
    assert_eq!((&profile, hash(&profile)), (&new, hash(&new)));

    // The blocks have merged into one, and the others serve again.
    let kept = profile.timeline.kept_blocks();
    assert!(kept > 50, "{kept}");
    assert_eq!(profile.timeline.blocks().len(), 1);
    for &(interval, count) in &held {
        profile.reserve(interval, count).unwrap();
    }
    assert!(profile.timeline.blocks().len() > 50);
    assert!(profile.timeline.kept_blocks() <= kept + kept / 4);
}

/// Has everything computed that is known about blocks: a length that fits nowhere rules out none before.
fn know_everything(profile: &mut Availability) {
    for count in 1..=profile.processors() {
        let beyond = profile.earliest_fit(Time::ZERO, count, Span::MAX);
        assert_eq!(beyond, Err(FitError::BeyondTime));
    }
}

#[test]
fn what_is_known_stays_right_while_blocks_split_merge_empty_and_are_forgotten() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut profile = Availability::new(8).unwrap();
    profile.advance(at(1));
    let interval = |slot: usize| micros(slot as u64 * 2 + 1, slot as u64 * 2 + 2);
    let mut taken = [0_u32; 400];
    let (mut most, mut merged) = (0, 0);
    for _ in 0..40 {
        // All of a stretch is taken or released, so that blocks overflow or empty between full neighbours.
        let first = rng.index(taken.len());
        let take = rng.below(2) == 0;
        for (slot, taken) in taken.iter_mut().enumerate().skip(first).take(70) {
            let blocks = profile.timeline.blocks().len();
            if take && *taken == 0 {
                *taken = 1 + rng.below(8);
                profile.reserve(interval(slot), *taken).unwrap();
            } else if !take && *taken > 0 {
                profile.release(interval(slot), *taken).unwrap();
                *taken = 0;
            }
            assert_eq!(profile.check(), Ok(()));
            most = most.max(blocks);
            merged += usize::from(profile.timeline.blocks().len() < blocks);
            know_everything(&mut profile);
        }
    }
    assert!(most > 8 && merged > 8, "{most} {merged}");
    for (slot, &taken) in taken.iter().enumerate() {
        assert_eq!(profile.least_free(interval(slot)), 8 - taken);
    }
    while profile.step_count() > 1 {
        let step = long(u64::from(rng.below(40)));
        profile.advance(profile.origin() + step);
        assert_eq!(profile.check(), Ok(()));
        know_everything(&mut profile);
    }
}

#[test]
fn a_block_that_empties_between_full_ones_disappears() {
    let mut profile = Availability::new(8).unwrap();
    let held = |k: u64| micros(k * 100, k * 100 + 50);
    for k in 1..200 {
        profile.reserve(held(k), 1).unwrap();
    }
    let position = profile.timeline.blocks().len() / 2;
    for neighbour in [position - 1, position + 1] {
        let times = profile.timeline.blocks()[neighbour].times().to_vec();
        for time in times
            .iter()
            .map(|time| time.as_micros())
            .filter(|t| t % 100 == 0)
            .take(12)
        {
            profile.reserve(micros(time + 60, time + 70), 2).unwrap();
        }
    }
    let blocks = profile.timeline.blocks();
    assert!(blocks[position - 1].len() > 50 && blocks[position + 1].len() > 50);
    let inside = micros(
        blocks[position].first_time().as_micros(),
        blocks[position + 1].first_time().as_micros(),
    );
    let before = blocks.len();
    for k in
        (1..200).filter(|&k| inside.contains(held(k).start()) || inside.contains(held(k).end()))
    {
        assert_eq!(profile.timeline.blocks().len(), before);
        profile.release(held(k), 1).unwrap();
        assert_eq!(profile.check(), Ok(()));
    }
    assert_eq!(profile.timeline.blocks().len(), before - 1);
}

#[test]
fn a_chain_of_free_blocks_is_found_as_one_window() {
    // Steps between 3 and 4 free, for hundreds of blocks: any 3 fit at once for ever, 4 only behind the last.
    let mut profile = Availability::new(4).unwrap();
    for start in 0..20_000 {
        profile
            .reserve(micros(start * 2 + 1, start * 2 + 2), 1)
            .unwrap();
    }
    for from in [0, 1, 777, 20_001] {
        assert_eq!(
            profile.earliest_fit(at(from), 3, long(39_000)),
            Ok(at(from))
        );
        assert_eq!(profile.earliest_fit(at(from), 4, long(2)), Ok(at(40_000)));
    }
    profile.reserve(micros(30_000, 30_001), 3).unwrap();
    for from in [0, 1, 777, 20_001] {
        assert_eq!(profile.earliest_fit(at(from), 3, long(29_999)), {
            Ok(at(if from <= 1 { from } else { 30_001 }))
        });
        assert_eq!(
            profile.earliest_fit(at(from), 3, long(30_001)),
            Ok(at(30_001))
        );
    }
    assert_eq!(profile.check(), Ok(()));
}

fn named(profile: &Availability) -> &'static str {
    profile.check().unwrap_err().invariant
}

#[test]
fn the_check_names_the_rule_that_is_broken() {
    let mut profile = Availability::new(4).unwrap();
    for start in 0..200 {
        profile
            .reserve(micros(start * 3 + 1, start * 3 + 2), 4)
            .unwrap();
    }
    assert_eq!(profile.earliest_fit(Time::ZERO, 4, long(3)), Ok(at(599)));
    assert_eq!(profile.check(), Ok(()));
    let place = profile.timeline.locate(at(300));
    profile.timeline.insert_after(place, at(301), 2);
    assert_eq!(named(&profile), "steps are in the order of time");

    let mut profile = Availability::new(4).unwrap();
    profile
        .timeline
        .insert_after(profile.timeline.locate(at(0)), at(9), 4);
    assert_eq!(named(&profile), "adjacent steps have different counts");
    let mut profile = Availability::new(4).unwrap();
    profile
        .timeline
        .insert_after(profile.timeline.locate(at(0)), at(9), 5);
    assert_eq!(
        named(&profile),
        "no more processors are free than there are"
    );
    profile.limit = 1;
    profile.processors = 5;
    assert_eq!(
        named(&profile),
        "steps are counted rightly and within their limit"
    );
}

#[test]
fn blocks_that_time_has_passed_are_used_again_empty() {
    let mut profile = Availability::new(4).unwrap();
    let busy = |i: u64| (micros(10 * i, 10 * i + 5), (i % 3 + 1) as u32);
    for i in 0..800 {
        let (interval, count) = busy(i);
        profile.reserve(interval, count).unwrap();
        // What is added behind the last block splits it, into one that was emptied.
        profile.advance(at(10 * (i / 2)));
        profile.check().unwrap();
    }
    for i in 400..800 {
        let count = busy(i).1;
        assert_eq!(profile.free_at(at(10 * i + 2)), 4 - count);
        assert_eq!(profile.free_at(at(10 * i + 7)), 4);
    }
}
