//! Verdicts: how what was measured compares with what a paper published.
//!
//! A part states a [`Claim`] for each published number or sentence: the values that agree with it, the values that at
//! least point in its direction, and the reason where ours differs. Judging a measured value makes a [`Finding`] of it.
//! The rule is a part of the code, so that no verdict is a matter of taste.

use std::fmt;
use std::ops::RangeInclusive;

use super::report::{Cell, Table};

/// How a measured value compares with a published one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Verdict {
    /// It agrees, by the rule of its claim.
    Agrees,
    /// It only points in the same direction.
    DirectionOnly,
    /// It differs.
    Differs,
    /// There is no value to compare.
    NotMeasured,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Agrees => "agrees",
            Self::DirectionOnly => "direction only",
            Self::Differs => "differs",
            Self::NotMeasured => "not measured",
        })
    }
}

/// What a paper says about one value, and the rule to judge ours by.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Claim {
    what: String,
    published: String,
    agrees: RangeInclusive<f64>,
    direction: RangeInclusive<f64>,
    reason: &'static str,
}

impl Claim {
    /// A published number; values agree that are off by at most this part of it.
    pub(crate) fn number(what: impl Into<String>, published: f64, tolerance: f64) -> Self {
        let off = published.abs() * tolerance;
        let bounds = published - off..=published + off;
        Self::sentence(what, &plain(published), bounds)
    }

    /// A published sentence; these values agree with it.
    pub(crate) fn sentence(
        what: impl Into<String>,
        published: &str,
        agrees: RangeInclusive<f64>,
    ) -> Self {
        Self {
            what: what.into(),
            published: published.into(),
            direction: agrees.clone(),
            agrees,
            reason: "",
        }
    }

    /// Values of at least this much point in the published direction.
    pub(crate) fn or_above(mut self, least: f64) -> Self {
        self.direction = least..=f64::INFINITY;
        self
    }

    /// Values of at most this much point in the published direction.
    pub(crate) fn or_below(mut self, most: f64) -> Self {
        self.direction = f64::NEG_INFINITY..=most;
        self
    }

    /// Why ours differs, where it does.
    pub(crate) const fn because(mut self, reason: &'static str) -> Self {
        self.reason = reason;
        self
    }

    /// Judges a cell of a table: the one in this row and in the column of this name.
    pub(crate) fn judge(self, table: &Table, row: usize, column: &str) -> Finding {
        let measured = table.at(row, column);
        self.judge_value(table, measured)
    }

    /// Judges a value that belongs to a table.
    pub(crate) fn judge_value(self, table: &Table, measured: Cell) -> Finding {
        let verdict = match measured.number() {
            Some(value) if self.agrees.contains(&value) => Verdict::Agrees,
            Some(value) if self.direction.contains(&value) => Verdict::DirectionOnly,
            Some(_) => Verdict::Differs,
            None => Verdict::NotMeasured,
        };
        Finding {
            table: table.name.clone(),
            claim: self,
            measured,
            verdict,
        }
    }
}

/// A claim with the value that was measured, and the verdict on it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Finding {
    /// The name of the table with the value.
    pub table: String,
    claim: Claim,
    /// The value.
    pub measured: Cell,
    /// The verdict by the claim's rule.
    pub verdict: Verdict,
}

impl Finding {
    /// What the claim is about.
    pub(crate) fn what(&self) -> &str {
        &self.claim.what
    }

    /// The number or sentence that was published.
    pub(crate) fn published(&self) -> &str {
        &self.claim.published
    }

    /// The rule, in words.
    pub(crate) fn rule(&self) -> String {
        let Claim {
            agrees, direction, ..
        } = &self.claim;
        match direction == agrees {
            true => bounds(agrees),
            false => format!("{}; direction: {}", bounds(agrees), bounds(direction)),
        }
    }

    /// Why the value differs; empty if it agrees.
    pub(crate) fn reason(&self) -> &'static str {
        match self.verdict {
            Verdict::Agrees | Verdict::NotMeasured => "",
            Verdict::DirectionOnly | Verdict::Differs => self.claim.reason,
        }
    }
}

/// Bounds in words.
fn bounds(range: &RangeInclusive<f64>) -> String {
    let (least, most) = (*range.start(), *range.end());
    match (least.is_finite(), most.is_finite()) {
        (true, true) if least == most => plain(least),
        (true, true) => format!("{} to {}", plain(least), plain(most)),
        (true, false) => format!("at least {}", plain(least)),
        (false, true) => format!("at most {}", plain(most)),
        (false, false) => "any".into(),
    }
}

/// A number with as many digits as it needs, and no more than two decimals.
fn plain(number: f64) -> String {
    let decimals = match number.abs() {
        large if large >= 100.0 => 0,
        _ => 2,
    };
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(claim: Claim, value: f64) -> Finding {
        let mut table = Table::new("t", "a table", "row | value");
        table.push(["a".into(), Cell::exact(value, 1)]);
        claim.judge(&table, 0, "value")
    }

    #[test]
    fn a_number_agrees_within_its_tolerance_and_may_only_point_the_way() {
        let claim = || {
            Claim::number("ratio", 10.0, 0.2)
                .or_above(1.0)
                .because("another trace")
        };
        assert_eq!(judged(claim(), 8.0).verdict, Verdict::Agrees);
        assert_eq!(judged(claim(), 12.0).verdict, Verdict::Agrees);
        assert_eq!(judged(claim(), 12.1).verdict, Verdict::DirectionOnly);
        assert_eq!(judged(claim(), 0.9).verdict, Verdict::Differs);
        assert_eq!(judged(claim(), 9.0).reason(), "");
        assert_eq!(judged(claim(), 0.9).reason(), "another trace");
        assert_eq!(
            judged(claim(), 9.0).rule(),
            "8 to 12; direction: at least 1"
        );
    }

    #[test]
    fn a_value_that_does_not_exist_is_not_measured() {
        let mut table = Table::new("t", "a table", "row | value");
        table.push(["a".into(), Cell::Empty]);
        let claim = Claim::sentence("waits", "hardly any", 0.0..=5.0);
        let finding = claim.judge(&table, 0, "value");
        assert_eq!(finding.verdict, Verdict::NotMeasured);
        assert_eq!(finding.rule(), "0 to 5");
        assert_eq!(
            judged(Claim::number("none", 0.0, 0.5), 0.0).verdict,
            Verdict::Agrees
        );
    }
}
