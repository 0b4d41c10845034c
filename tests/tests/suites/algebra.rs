//! Laws of intervals, times, scores, costs and choices, on arbitrary values (quickcheck).

use core::cmp::Ordering;
use core::num::NonZeroU32;

use gridweave_core::queue::Cost;
use gridweave_core::resource::{Capability, Dimensions, Kind, Pool, Requirement, Score, Speed};
use gridweave_core::rng::Choose;
use gridweave_core::time::{Interval, Span, Time};
use quickcheck::{Arbitrary, Gen, QuickCheck, TestResult};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// Any instant, small ones and the edges most often.
#[derive(Clone, Copy, Debug)]
struct AnyTime(Time);

impl Arbitrary for AnyTime {
    fn arbitrary(g: &mut Gen) -> Self {
        let small = u64::from(u8::arbitrary(g) % 32);
        let micros = [small, small, small, u64::MAX - small, u64::arbitrary(g)];
        Self(Time::from_micros(*g.choose(&micros).unwrap()))
    }
}

#[derive(Clone, Copy, Debug)]
struct AnyInterval(Interval);

impl Arbitrary for AnyInterval {
    fn arbitrary(g: &mut Gen) -> Self {
        loop {
            let (a, b) = (AnyTime::arbitrary(g).0, AnyTime::arbitrary(g).0);
            if let Ok(interval) = Interval::new(a.min(b), a.max(b)) {
                return Self(interval);
            }
        }
    }
}

/// What up to eight resources would be used, each as (used, total) with used at most total.
#[derive(Clone, Debug)]
struct Utilisations(Vec<(u64, u64)>);

impl Arbitrary for Utilisations {
    fn arbitrary(g: &mut Gen) -> Self {
        let one = |g: &mut Gen| {
            let total = u64::from(u16::arbitrary(g) % 12);
            (u64::from(u16::arbitrary(g)) % (total + 1), total)
        };
        let resources = usize::arbitrary(g) % 9;
        Self((0..resources).map(|_| one(g)).collect())
    }
}

fn score(utilisations: &Utilisations) -> Score {
    Score::of(utilisations.0.iter().copied())
}

/// Each law as a test of a thousand cases, the same in every run.
macro_rules! laws {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) -> $result:ty $body:block)*) => {$(
        #[test]
        fn $name() {
            fn law($($argument: $kind),*) -> $result $body
            QuickCheck::new()
                .rng(Gen::from_size_and_seed(100, 0x6772_6964))
                .tests(1000)
                .min_tests_passed(300)
                .quickcheck(law as fn($($kind),*) -> $result);
        }
    )*};
}

laws! {
    fn an_interval_has_the_length_between_its_ends(a: AnyInterval) -> bool {
        let a = a.0;
        !a.length().is_zero() && a.start() + a.length() == a.end() && a.end() - a.length() == a.start()
    }

    fn overlapping_is_symmetric_and_means_a_common_instant(a: AnyInterval, b: AnyInterval) -> bool {
        let (a, b) = (a.0, b.0);
        a.overlaps(b) == b.overlaps(a)
            && a.overlaps(b) == a.intersection(b).is_some()
            && a.overlaps(b) == (a.contains(b.start()) || b.contains(a.start()))
    }

    fn an_intersection_commutes_and_lies_in_both(a: AnyInterval, b: AnyInterval) -> bool {
        let (a, b) = (a.0, b.0);
        let both = a.intersection(b);
        both == b.intersection(a) && both.is_none_or(|both| a.covers(both) && b.covers(both))
    }

    fn an_intersection_associates(a: AnyInterval, b: AnyInterval, c: AnyInterval) -> bool {
        let (a, b, c) = (a.0, b.0, c.0);
        let left = a.intersection(b).and_then(|ab| ab.intersection(c));
        let right = b.intersection(c).and_then(|bc| a.intersection(bc));
        left == right
    }

    fn covering_is_an_order(a: AnyInterval, b: AnyInterval, c: AnyInterval) -> bool {
        let (a, b, c) = (a.0, b.0, c.0);
        a.covers(a)
            && (!(a.covers(b) && b.covers(a)) || a == b)
            && (!(a.covers(b) && b.covers(c)) || a.covers(c))
            && a.covers(b) == (a.intersection(b) == Some(b))
    }

    fn an_instant_lies_in_an_intersection_if_it_lies_in_both(a: AnyInterval, b: AnyInterval, t: AnyTime) -> bool {
        let (a, b, t) = (a.0, b.0, t.0);
        (a.contains(t) && b.contains(t)) == a.intersection(b).is_some_and(|both| both.contains(t))
    }

    fn adding_time_never_goes_back_and_keeps_order(a: AnyTime, b: AnyTime, micros: u64) -> bool {
        let (a, b, span) = (a.0, b.0, Span::from_micros(micros));
        a + span >= a && a - span <= a && (a > b || a + span <= b + span)
    }

    fn a_difference_leads_back(a: AnyTime, b: AnyTime) -> bool {
        let (early, late) = (a.0.min(b.0), a.0.max(b.0));
        early + (late - early) == late && late - (late - early) == early && early - late == Span::ZERO
    }

    fn rounding_up_to_slots_is_tight(t: AnyTime, slot: u32) -> bool {
        let (t, slot) = (t.0, Span::from_micros(u64::from(slot)));
        let rounded = t.round_up(slot);
        rounded >= t
            && rounded.round_up(slot) == rounded
            && (slot.is_zero() || rounded == Time::MAX || rounded - t < slot)
    }

    fn a_score_ignores_the_order_of_resources(utilisations: Utilisations, seed: u64) -> bool {
        let mut shuffled = utilisations.clone();
        Xoshiro256PlusPlus::seed_from_u64(seed).shuffle(&mut shuffled.0);
        score(&utilisations) == score(&shuffled)
    }

    fn a_score_ignores_the_unit_of_a_resource(utilisations: Utilisations, factor: u16) -> bool {
        let factor = u64::from(factor) + 1;
        let scaled = utilisations.0.iter().map(|(used, total)| (used * factor, total * factor));
        score(&utilisations) == Score::of(scaled)
    }

    fn balance_lies_between_one_and_the_number_of_resources(utilisations: Utilisations) -> bool {
        let score = score(&utilisations);
        let most = utilisations.0.len().max(1) as f64;
        (1.0 - 1e-9..=most + 1e-9).contains(&score.balance())
            && (0.0..=1.0).contains(&score.fullness())
            && (score.product() - score.balance() * score.fullness()).abs() < 1e-9
    }

    fn with_one_resource_the_largest_job_comes_first(used: u16, more: u16, total: u16) -> TestResult {
        let (used, more, total) = (u64::from(used), u64::from(more), u64::from(total));
        if more == 0 || used + more > total {
            return TestResult::discard();
        }
        let (small, large) = (Score::of([(used, total)]), Score::of([(used + more, total)]));
        TestResult::from_bool(large < small && (small.balance() - 1.0).abs() < 1e-9)
    }

    fn scores_are_totally_ordered(a: Utilisations, b: Utilisations, c: Utilisations) -> bool {
        let (a, b, c) = (score(&a), score(&b), score(&c));
        (a.cmp(&b) == b.cmp(&a).reverse())
            && ((a.cmp(&b) == Ordering::Equal) == (a == b))
            && (!(a <= b && b <= c) || a <= c)
            && (a.product() + 1e-9 >= b.product() || a < b)
    }

    fn what_is_taken_and_given_back_leaves_no_trace(total: Vec<u8>, needs: Vec<u8>) -> TestResult {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let kinds = [Kind::Amount, Kind::Level, Kind::Category];
        let list: Vec<_> =
            names.iter().enumerate().map(|(n, name)| (*name, kinds[n % 3])).collect();
        let dimensions = Dimensions::new(&list).unwrap();
        let all: Vec<_> = dimensions.iter().map(|(dimension, _, kind)| (dimension, kind)).collect();
        let total = all.iter().zip(&total).fold(Capability::none(), |c, ((d, _), v)| c.with(*d, u64::from(*v)));
        let needs = all.iter().zip(&needs).fold(Requirement::any(), |r, ((d, kind), v)| {
            let (had, v) = (total.value(*d), u64::from(*v));
            // Here and there more than there is, or another category.
            let needed = match *kind {
                _ if v % 16 == 0 => had + 1,
                Kind::Category => had,
                Kind::Amount | Kind::Level => v % (had + 1),
            };
            r.with(*d, needed)
        });
        let mut pool = Pool::new(dimensions, total);
        let fits = pool.fits(&needs);
        let suits = pool.suits(&needs);
        let taken = pool.take(&needs).is_ok();
        let returned = !taken || pool.give_back(&needs).is_ok();
        let sound = fits == suits && fits == taken && returned && pool.is_idle();
        // What is refused does not count as a case, so that hundreds are taken.
        if sound && !taken { TestResult::discard() } else { TestResult::from_bool(sound) }
    }

    fn a_faster_node_never_takes_longer(micros: u64, a: NonZeroU32, b: NonZeroU32) -> bool {
        let work = Span::from_micros(micros);
        let at = |millionths| Speed::from_millionths(millionths).duration_of(work);
        at(a.max(b)) <= at(a.min(b)) && at(a).is_zero() == work.is_zero()
    }

    fn one_cost_beats_another_if_and_only_if_it_is_lower_by_the_threshold(a: i64, b: i64, threshold: u64) -> bool {
        let beats = Cost::from_micros(a).beats(Cost::from_micros(b), Span::from_micros(threshold));
        beats == (i128::from(b) - i128::from(a) >= i128::from(threshold))
    }

    fn a_choice_lies_below_its_bound(n: u32, seed: u64) -> bool {
        let choice = Xoshiro256PlusPlus::seed_from_u64(seed).below(n);
        choice < n.max(1)
    }

    fn a_sample_is_a_permutation_with_its_first_part_cut_off(items: Vec<u8>, count: usize, seed: u64) -> bool {
        let count = count % 20;
        let mut sampled = items.clone();
        let (first, rest) = Xoshiro256PlusPlus::seed_from_u64(seed).sample(&mut sampled, count);
        let right_sizes = first.len() == count.min(items.len()) && first.len() + rest.len() == items.len();
        let sorted = |mut items: Vec<u8>| { items.sort_unstable(); items };
        right_sizes && sorted(sampled) == sorted(items)
    }
}
