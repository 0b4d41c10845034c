//! A configuration that cannot work is refused, with the field, its value and the bound.

mod agreements;
mod overlays;
mod schedulers;

use core::fmt::Debug;
use core::num::NonZeroU32;

use gridweave_core::config::{Bound, ConfigError, Limits, Value};
use gridweave_core::heartbeat::Detector;
use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Demand, Failure, Job, JobError, Refusal};
use gridweave_core::time::Span;

/// A change of one field.
type Change<C> = fn(&mut C);

/// Checks a configuration.
type Checked<C> = fn(C) -> Result<C, ConfigError>;

fn changed<C: Copy>(config: C, change: Change<C>) -> C {
    let mut config = config;
    change(&mut config);
    config
}

/// The outermost values pass: the least and the most of each field.
fn accepts<C: Copy + Debug + PartialEq>(config: C, checked: Checked<C>, cases: &[Change<C>]) {
    assert_eq!(checked(config), Ok(config));
    for change in cases {
        let config = changed(config, *change);
        assert_eq!(checked(config), Ok(config));
    }
}

/// One beyond is refused, with this text.
fn refuses<C: Copy + Debug + PartialEq>(
    config: C,
    checked: Checked<C>,
    cases: &[(Change<C>, &str)],
) {
    for (change, text) in cases {
        let error = checked(changed(config, *change)).expect_err(text);
        assert_eq!(error.to_string(), *text);
    }
}

const fn micros(micros: u64) -> Span {
    Span::from_micros(micros)
}

const fn millis(millis: u64) -> Span {
    Span::from_millis(millis)
}

const fn seconds(seconds: u64) -> Span {
    Span::from_secs(seconds)
}

#[test]
fn an_error_has_the_field_its_value_the_bound_and_the_reason() {
    let limits = Limits::new()
        .number("most", 3)
        .at_most(3, "so many there are")
        .time("pause", seconds(2))
        .more_than(2_000_000, "the answer takes as long")
        .number("later", 0)
        .at_least(1, "but the first error counts");
    let error = limits.end(()).unwrap_err();
    let (value, bound) = (
        Value::Time(seconds(2)),
        Bound::MoreThan(Value::Time(seconds(2))),
    );
    let reason = "the answer takes as long";
    assert_eq!(error, ConfigError::new("pause", value, bound, reason));
    assert_eq!(error.part, None);
    assert_eq!(error.within("inner").part, Some("inner"));
    let text = "inner.pause[4] is 2s; more than 2s, the answer takes as long";
    assert_eq!(error.within("inner").at(4).to_string(), text);
    assert!(
        size_of::<ConfigError>() <= 128,
        "{}",
        size_of::<ConfigError>()
    );
}

#[test]
fn an_error_of_a_part_names_the_part_unless_an_earlier_field_is_wrong() {
    let inner = Limits::new().number("x", 5).less_than(5, "y").end(());
    let outer = Limits::new().part("a", &Ok(())).part("b", &inner);
    let text = outer.part("c", &inner).end(()).unwrap_err().to_string();
    assert_eq!(text, "b.x is 5; less than 5, y");
    let earlier = Limits::new().flag("on", true).is(false, "z");
    let text = earlier.part("b", &inner).end(()).unwrap_err().to_string();
    assert_eq!(text, "on is true; only false, z");
}

#[test]
fn multiples_and_equal_numbers_pass() {
    let of = |number, unit| {
        Limits::new()
            .number("x", number)
            .multiple_of(unit, "y")
            .end(())
    };
    assert_eq!(of(120, 60), Ok(()));
    assert_eq!(of(0, 60), Ok(()));
    let text = of(90, 60).unwrap_err().to_string();
    assert_eq!(text, "x is 90; a multiple of 60, y");
    // Whether a unit may be zero is another field's matter.
    assert_eq!(of(90, 0), Ok(()));
    let only = |number| Limits::new().number("x", number).only(7, "y").end(());
    assert_eq!(only(7), Ok(()));
    assert_eq!(only(8).unwrap_err().to_string(), "x is 8; only 7, y");
}

#[test]
fn a_detector_without_period_or_limit_is_refused() {
    let refused = |period, limit| {
        let detector = Detector::<4>::new(NodeId::new(1), period, limit);
        detector.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(refused(micros(1), 1), Ok(()));
    assert_eq!(refused(Span::MAX, u8::MAX), Ok(()));
    let text = "period is 0s; more than 0s, or pings are sent without a pause";
    assert_eq!(refused(Span::ZERO, 1), Err(text.into()));
    let text = "limit is 0; at least 1, or a peer is suspected before it can answer";
    assert_eq!(refused(micros(1), 0), Err(text.into()));
}

#[test]
fn every_refusal_and_failure_has_its_own_text() {
    let refusals = [
        Refusal::Known,
        Refusal::TooLarge,
        Refusal::NoMatch,
        Refusal::UnsupportedDemand,
        Refusal::UnsupportedDeadline,
        Refusal::UnsupportedCriterion,
        Refusal::UnsupportedScope,
        Refusal::BrokenCriterion,
        Refusal::NotAcceptable,
        Refusal::DeadlinePassed,
        Refusal::NotAuthorised,
        Refusal::Leaving,
    ];
    let mut words: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    words.extend([Failure::Overran, Failure::Broke].map(|failure| failure.to_string()));
    let told = words.len();
    words.sort();
    words.dedup();
    assert_eq!(words.len(), told, "{words:?}");
    assert!(words.iter().all(|words| words.len() > 5), "{words:?}");
}

#[test]
fn a_job_with_a_zero_estimate_is_refused() {
    let (id, one) = (JobId::new(1), Demand::Nodes(NonZeroU32::MIN));
    assert_eq!(Job::new(id, one, Span::ZERO), Err(JobError::ZeroEstimate));
    assert!(Job::new(id, one, Span::from_micros(1)).is_ok());
}
