use super::*;
use crate::time::Span;
use core::num::NonZeroU32;
use std::string::ToString;
use std::vec::Vec;

fn desktop() -> Dimensions {
    Dimensions::new(&[
        ("cores", Kind::Amount),
        ("memory", Kind::Amount),
        ("speed", Kind::Level),
        ("architecture", Kind::Category),
    ])
    .unwrap()
}

fn at(dimensions: &Dimensions, name: &str) -> Dimension {
    dimensions.named(name).unwrap()
}

#[test]
fn more_than_eight_dimensions_are_refused() {
    let names: Vec<_> = (0..9).map(|n| n.to_string()).collect();
    let list: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), Kind::Amount))
        .collect();
    assert_eq!(Dimensions::new(&list), Err(DimensionError::TooMany));
    let eight = Dimensions::new(&list[..8]).unwrap();
    assert_eq!((eight.len(), eight.is_empty()), (8, false));
    assert!(Dimensions::new(&[]).unwrap().is_empty());
}

#[test]
fn names_are_distinct_and_of_sensible_length() {
    let a = ("a", Kind::Amount);
    assert_eq!(Dimensions::new(&[a, a]), Err(DimensionError::SameName));
    assert_eq!(
        Dimensions::new(&[("", Kind::Level)]),
        Err(DimensionError::BadName)
    );
    assert_eq!(
        Dimensions::new(&[(&"x".repeat(25), Kind::Level)]),
        Err(DimensionError::BadName)
    );
    assert!(Dimensions::new(&[(&"x".repeat(24), Kind::Level)]).is_ok());
    for error in [
        DimensionError::TooMany,
        DimensionError::SameName,
        DimensionError::BadName,
        DimensionError::WrongLength,
    ] {
        assert!(error.to_string().contains("dimension"));
    }
}

#[test]
fn dimensions_list_themselves_in_order() {
    let dimensions = desktop();
    let listed: Vec<_> = dimensions
        .iter()
        .map(|(d, name, kind)| (d.position(), name, kind))
        .collect();
    assert_eq!(
        listed[2..],
        [
            (2, "speed", Kind::Level),
            (3, "architecture", Kind::Category)
        ]
    );
    assert_eq!(
        dimensions
            .amounts()
            .map(Dimension::position)
            .collect::<Vec<_>>(),
        [0, 1]
    );
    assert_eq!(dimensions.named("disk"), None);
}

#[test]
fn amounts_and_levels_match_at_least_and_categories_exactly() {
    let dimensions = desktop();
    let node = dimensions.capability(&[4, 100, 3, 2]).unwrap();
    let matches = |name, value| {
        dimensions.matches(
            &node,
            &Requirement::any().with(at(&dimensions, name), value),
        )
    };
    assert!(dimensions.matches(&node, &Requirement::any()));
    assert!(matches("cores", 4) && matches("cores", 0) && !matches("cores", 5));
    assert!(matches("speed", 3) && !matches("speed", 4));
    assert!(
        matches("architecture", 2) && !matches("architecture", 1) && !matches("architecture", 3)
    );
}

#[test]
fn a_requirement_in_an_unknown_dimension_is_named_and_never_met() {
    let (one, four) = (
        Dimensions::new(&[("cores", Kind::Amount)]).unwrap(),
        desktop(),
    );
    let memory = at(&four, "memory");
    let requirement = Requirement::any().with(memory, 0);
    assert_eq!(one.unknown_in(&requirement), Some(memory));
    assert_eq!(four.unknown_in(&requirement), None);
    assert!(!one.matches(&one.capability(&[8]).unwrap(), &requirement));
    assert_eq!(one.capability(&[1, 2]), Err(DimensionError::WrongLength));
    assert_eq!(one.capability(&[]), Err(DimensionError::WrongLength));
}

#[test]
fn a_pool_lends_amounts_only_and_takes_back_no_more_than_it_lent() {
    let dimensions = desktop();
    let (cores, speed) = (at(&dimensions, "cores"), at(&dimensions, "speed"));
    let memory = at(&dimensions, "memory");
    let total = dimensions.capability(&[4, 100, 3, 2]).unwrap();
    let mut pool = Pool::new(dimensions, total);
    let job = Requirement::any().with(cores, 3).with(speed, 3);
    assert_eq!(pool.take(&job), Ok(()));
    assert_eq!((pool.free().value(cores), pool.free().value(speed)), (1, 3));
    assert!(!pool.is_idle() && pool.suits(&job) && !pool.fits(&job));
    assert_eq!(pool.take(&job), Err(Shortfall { dimension: cores }));
    let both = Requirement::any().with(cores, 1).with(memory, 101);
    assert_eq!(pool.take(&both), Err(Shortfall { dimension: memory }));
    assert_eq!(pool.free().value(cores), 1);
    let too_much = Requirement::any().with(cores, 1).with(memory, 1);
    assert_eq!(
        pool.give_back(&too_much),
        Err(Surplus { dimension: memory })
    );
    assert_eq!(pool.free().value(cores), 1);
    assert_eq!(pool.give_back(&job), Ok(()));
    assert!(pool.is_idle());
    assert_eq!(pool.give_back(&job), Err(Surplus { dimension: cores }));
    assert_eq!(pool.total(), &total);
    assert_eq!(pool.dimensions().len(), 4);
    assert!(
        Shortfall { dimension: cores }
            .to_string()
            .contains("dimension 0")
    );
    assert!(
        Surplus { dimension: memory }
            .to_string()
            .contains("dimension 1")
    );
}

#[test]
fn a_node_can_be_told_by_what_it_has_left() {
    let dimensions = desktop();
    let of = |values: &[u64; 4]| dimensions.capability(values).unwrap();
    let total = of(&[4, 100, 3, 2]);
    let told = |free: [u64; 4]| Pool::with_free(dimensions.clone(), total, of(&free));
    let mut pool = Pool::new(dimensions.clone(), total);
    pool.take(&Requirement::any().with(at(&dimensions, "cores"), 3))
        .unwrap();
    assert_eq!(told([1, 100, 3, 2]), Ok(pool));
    for (free, name) in [
        ([5, 100, 3, 2], "cores"),
        ([4, 101, 3, 2], "memory"),
        ([4, 100, 2, 2], "speed"),
        ([4, 100, 3, 1], "architecture"),
    ] {
        assert_eq!(
            told(free),
            Err(Surplus {
                dimension: at(&dimensions, name)
            })
        );
    }
}

#[test]
fn giving_back_near_the_largest_amount_does_not_wrap() {
    let dimensions = Dimensions::new(&[("a", Kind::Amount)]).unwrap();
    let a = at(&dimensions, "a");
    let total = dimensions.capability(&[u64::MAX]).unwrap();
    let mut pool = Pool::new(dimensions, total);
    let one = Requirement::any().with(a, 1);
    assert_eq!(pool.give_back(&one), Err(Surplus { dimension: a }));
    assert_eq!(pool.take(&Requirement::any().with(a, u64::MAX)), Ok(()));
    assert_eq!(pool.free().value(a), 0);
}

#[test]
fn the_score_follows_the_formula() {
    // Utilisations 1/2 and 1/4: average 3/8, BM 4/3, FM 5/8.
    let score = Score::of([(2, 4), (25, 100)]);
    assert!((score.balance() - 4.0 / 3.0).abs() < 1e-9);
    assert!((score.fullness() - 5.0 / 8.0).abs() < 1e-9);
    assert!((score.product() - 5.0 / 6.0).abs() < 1e-9);
}

#[test]
fn the_edges_of_the_score_are_as_documented() {
    let idle = Score::of([(0, 4), (0, 100)]);
    assert_eq!(
        (idle.balance(), idle.fullness(), idle.product()),
        (1.0, 1.0, 1.0)
    );
    let nothing = Score::of([]);
    assert_eq!(
        (nothing.balance(), nothing.fullness(), nothing.product()),
        (1.0, 1.0, 1.0)
    );
    let full = Score::of([(4, 4), (100, 100)]);
    assert_eq!(
        (full.balance(), full.fullness(), full.product()),
        (1.0, 0.0, 0.0)
    );
    let worst = Score::of([(4, 4), (0, 100), (0, 1)]);
    assert_eq!(worst.balance(), 3.0);
    // More used than there is counts as full; nothing there counts as unused.
    assert_eq!(Score::of([(9, 4)]), Score::of([(4, 4)]));
    assert_eq!(Score::of([(9, 0)]), Score::of([(0, 1)]));
    assert_eq!(Score::of([(u64::MAX, u64::MAX)]).fullness(), 0.0);
}

#[test]
fn scores_order_by_product_then_balance() {
    let (full, half, idle) = (
        Score::of([(4, 4)]),
        Score::of([(2, 4)]),
        Score::of([(0, 4)]),
    );
    assert!(full < half && half < idle);
    // With K = 1 the largest job comes first.
    assert!(Score::of([(3, 4)]) < half);
    // Products 1/2 each, by different balance: (1/2, 1/2) and (1/3, 1): 1·(2 - 4/3)/(4/3).
    let balanced = Score::of([(1, 2), (1, 2)]);
    let uneven = Score::of([(1, 3), (1, 1)]);
    assert!((balanced.product() - uneven.product()).abs() < 1e-9);
    assert!(balanced < uneven);
    assert_eq!(balanced.cmp(&balanced), core::cmp::Ordering::Equal);
    assert_eq!(
        balanced.partial_cmp(&uneven),
        Some(core::cmp::Ordering::Less)
    );
    // Not equal as values, so not equal in order.
    assert_ne!(
        Score::of([(1, 2)]).cmp(&balanced),
        core::cmp::Ordering::Equal
    );
}

#[test]
fn a_pool_scores_what_fits_by_all_its_amounts() {
    let dimensions = desktop();
    let (cores, memory) = (at(&dimensions, "cores"), at(&dimensions, "memory"));
    let total = dimensions.capability(&[4, 100, 3, 2]).unwrap();
    let mut pool = Pool::new(dimensions, total);
    pool.take(&Requirement::any().with(cores, 1)).unwrap();
    let job = Requirement::any().with(cores, 1).with(memory, 25);
    assert_eq!(pool.score(&job), Some(Score::of([(2, 4), (25, 100)])));
    assert_eq!(
        pool.score(&Requirement::any()),
        Some(Score::of([(1, 4), (0, 100)]))
    );
    assert_eq!(pool.score(&Requirement::any().with(cores, 4)), None);
}

#[test]
fn numbers_that_are_no_speed_are_refused() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Speed::try_from(bad), Err(SpeedError::NotFinite));
    }
    for bad in [0.0, -1.0, 1e-7, 4295.0, f64::MAX] {
        assert_eq!(Speed::try_from(bad), Err(SpeedError::OutOfRange));
    }
    assert_eq!(Speed::try_from(1.0), Ok(Speed::BASELINE));
    assert_eq!(
        Speed::try_from(1.5).unwrap().as_millionths().get(),
        1_500_000
    );
    assert_eq!(
        Speed::try_from(4294.0).unwrap().as_millionths().get(),
        4_294_000_000
    );
    assert_eq!(std::format!("{:?}", Speed::BASELINE), "1x");
    assert!(SpeedError::NotFinite.to_string().contains("finite"));
    assert!(SpeedError::OutOfRange.to_string().contains("between"));
}

#[test]
fn run_times_scale_by_speed_and_never_vanish() {
    let twice = Speed::try_from(2.0).unwrap();
    assert_eq!(twice.duration_of(Span::from_secs(10)), Span::from_secs(5));
    assert_eq!(
        twice.duration_of(Span::from_micros(3)),
        Span::from_micros(2)
    );
    assert_eq!(twice.duration_of(Span::ZERO), Span::ZERO);
    assert_eq!(Speed::BASELINE.duration_of(Span::MAX), Span::MAX);
    let slowest = Speed::from_millionths(NonZeroU32::MIN);
    assert_eq!(slowest.duration_of(Span::MAX), Span::MAX);
    assert_eq!(
        slowest.duration_of(Span::from_micros(1)),
        Span::from_secs(1)
    );
}

#[cfg(feature = "serde")]
#[test]
fn decoding_refuses_dimensions_that_new_would_refuse() {
    let good = desktop();
    let bytes = postcard::to_allocvec(&good).unwrap();
    assert_eq!(postcard::from_bytes::<Dimensions>(&bytes), Ok(good));
    for bad in [
        &["a", "a"][..],
        &[""],
        &["1", "2", "3", "4", "5", "6", "7", "8", "9"],
    ] {
        let list: Vec<_> = bad.iter().map(|name| (*name, Kind::Amount)).collect();
        let bytes = postcard::to_allocvec(&list).unwrap();
        assert!(
            postcard::from_bytes::<Dimensions>(&bytes).is_err(),
            "{bad:?}"
        );
    }
    assert!(postcard::from_bytes::<Speed>(&[0]).is_err());
}
