//! Columns of a line, and numbers in them, straight from the bytes.

/// How many columns are kept; GWF has 29.
const KEPT: usize = 29;

/// The columns of one line.
pub(super) struct Columns<'a> {
    kept: [&'a [u8]; KEPT],
    count: usize,
}

impl<'a> Columns<'a> {
    /// Columns separated by tabs and runs of blanks.
    pub(super) fn blank_separated(line: &'a [u8]) -> Self {
        let fields = line.split(u8::is_ascii_whitespace);
        Self::collect(fields.filter(|field| !field.is_empty()))
    }

    /// Columns separated by commas, without the blanks or quotes around them; they may be empty.
    pub(super) fn comma_separated(line: &'a [u8]) -> Self {
        Self::collect(line.split(|&byte| byte == b',').map(bare))
    }

    fn collect(fields: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut columns = Self {
            kept: [&[]; KEPT],
            count: 0,
        };
        for field in fields {
            if let Some(place) = columns.kept.get_mut(columns.count) {
                *place = field;
            }
            columns.count += 1;
        }
        columns
    }

    /// How many columns the line has, also beyond those kept.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The column at this position, counted from 1 as the formats' descriptions do; empty if it is missing.
    pub(super) fn column(&self, position: usize) -> &'a [u8] {
        let index = position.checked_sub(1);
        index
            .and_then(|index| self.kept.get(index))
            .copied()
            .unwrap_or_default()
    }

    /// The position, from 1, of the column with this name.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        let found = self
            .kept
            .iter()
            .position(|field| field.eq_ignore_ascii_case(name.as_bytes()));
        found.map(|index| index + 1)
    }
}

fn bare(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    field
        .strip_prefix(b"\"")
        .and_then(|inner| inner.strip_suffix(b"\""))
        .unwrap_or(field)
}

/// A decimal number with six decimals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Decimal {
    negative: bool,
    /// Saturates at `u64::MAX`.
    whole: u64,
    millionths: u32,
}

impl Decimal {
    /// The number that these bytes spell; `None` if they spell none.
    pub(super) fn parse(field: &[u8]) -> Option<Self> {
        let (negative, digits) = match field {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, field),
        };
        let (whole, rest) = leading_digits(digits);
        match rest {
            [] if digits.is_empty() => None,
            [] => Some(Self::new(negative, whole, 0)),
            [b'.', fraction @ ..] if fraction.iter().all(u8::is_ascii_digit) => {
                let some_digit = digits.len() > 1;
                some_digit.then(|| Self::new(negative, whole, first_six(fraction)))
            }
            _ => Self::with_exponent(field),
        }
    }

    fn new(negative: bool, whole: u64, millionths: u32) -> Self {
        // There is no negative zero, so that "-0" is not taken for "unknown".
        Self {
            negative: negative && (whole, millionths) != (0, 0),
            whole,
            millionths,
        }
    }

    /// Some converters write `1.3e+06`. Rounding in `f64` is the same everywhere, and such numbers are inexact anyway.
    fn with_exponent(field: &[u8]) -> Option<Self> {
        let plain = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
        if !field.iter().all(plain) {
            return None;
        }
        let value: f64 = core::str::from_utf8(field).ok()?.parse().ok()?;
        let magnitude = value.abs();
        // Casts from floats saturate.
        let whole = magnitude as u64;
        let millionths = ((magnitude - whole as f64) * 1e6) as u32;
        Some(Self::new(value < 0.0, whole, millionths.min(999_999)))
    }

    /// Whether it is above zero.
    pub(super) fn is_positive(self) -> bool {
        !self.negative && (self.whole, self.millionths) != (0, 0)
    }

    /// Whether it is below zero; in traces, unknown.
    pub(super) fn is_negative(self) -> bool {
        self.negative
    }

    /// The value, if it is a whole number and not negative.
    pub(super) fn to_whole(self) -> Option<u64> {
        (!self.negative && self.millionths == 0).then_some(self.whole)
    }

    /// The next whole number at or above this one, saturating; zero if this is negative.
    pub(super) fn round_up(self) -> u64 {
        if self.negative {
            return 0;
        }
        self.whole.saturating_add(u64::from(self.millionths > 0))
    }

    /// This number of seconds in microseconds, saturating; zero if negative.
    pub(super) fn seconds_to_micros(self) -> u64 {
        if self.negative {
            return 0;
        }
        let whole = self.whole.saturating_mul(1_000_000);
        whole.saturating_add(u64::from(self.millionths))
    }
}

fn leading_digits(bytes: &[u8]) -> (u64, &[u8]) {
    let mut value = 0_u64;
    for (index, byte) in bytes.iter().enumerate() {
        if !byte.is_ascii_digit() {
            return (value, bytes.get(index..).unwrap_or_default());
        }
        let digit = u64::from(byte - b'0');
        // Saturation must be final: one more digit must not bring the number back.
        let longer = value.checked_mul(10).and_then(|v| v.checked_add(digit));
        value = longer.unwrap_or(u64::MAX);
    }
    (value, &[])
}

fn first_six(digits: &[u8]) -> u32 {
    let digits = digits.iter().map(|digit| u32::from(digit - b'0'));
    let padded = digits.chain(core::iter::repeat(0)).take(6);
    padded.fold(0, |value, digit| value * 10 + digit)
}
