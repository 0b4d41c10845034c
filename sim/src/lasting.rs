//! Lengths of time as people write them: `90s`, `1h30m`, `250ms`.

use std::fmt;
use std::str::FromStr;

use gridweave_core::time::Span;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A length of time that reads and prints as text: a number with a unit, or several one after the other.
///
/// Units are `us`, `ms`, `s`, `m`, `h` and `d`; numbers are whole.
///
/// ```
/// use gridweave_core::time::Span;
/// use gridweave_sim::lasting::Lasting;
///
/// let lasting: Lasting = "1h30m".parse()?;
/// assert_eq!(lasting.span(), Span::from_secs(5400));
/// assert_eq!(lasting.to_string(), "1h30m");
/// # Ok::<(), gridweave_sim::lasting::LastingError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Lasting(Span);

/// The units, longest first, in microseconds.
const UNITS: [(&str, u64); 6] = [
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("m", 60_000_000),
    ("s", 1_000_000),
    ("ms", 1_000),
    ("us", 1),
];

impl Lasting {
    /// This long.
    pub const fn new(span: Span) -> Self {
        Self(span)
    }

    /// So many seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Self(Span::from_secs(seconds))
    }

    /// How long it is.
    pub const fn span(self) -> Span {
        self.0
    }
}

/// Why a text is no length of time.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{0}' is no length of time; write whole numbers with units, such as 90s, 1h30m or 250ms")]
pub struct LastingError(String);

impl FromStr for Lasting {
    type Err = LastingError;

    fn from_str(text: &str) -> Result<Self, LastingError> {
        let wrong = || LastingError(text.chars().take(40).collect());
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err(wrong());
        }
        let mut micros = 0_u64;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
            let (number, behind) = rest.split_at(digits);
            let letters = behind
                .find(|c: char| !c.is_ascii_alphabetic())
                .unwrap_or(behind.len());
            let (unit, behind) = behind.split_at(letters);
            let (_, scale) = UNITS
                .iter()
                .find(|(name, _)| *name == unit)
                .ok_or_else(wrong)?;
            let part = number
                .parse::<u64>()
                .ok()
                .and_then(|n| n.checked_mul(*scale));
            micros = part
                .and_then(|part| micros.checked_add(part))
                .ok_or_else(wrong)?;
            rest = behind;
        }
        Ok(Self(Span::from_micros(micros)))
    }
}

impl fmt::Display for Lasting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_micros();
        if rest == 0 {
            return f.write_str("0s");
        }
        for (unit, scale) in UNITS {
            if rest >= scale {
                write!(f, "{}{unit}", rest / scale)?;
                rest %= scale;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Lasting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Lasting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Lasting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Plain spans that are text in configurations, for `#[serde(with = "…")]`.
pub(crate) mod text {
    use gridweave_core::time::Span;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Lasting;

    pub(crate) fn serialize<S: Serializer>(span: &Span, serializer: S) -> Result<S::Ok, S::Error> {
        Lasting::new(*span).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Span, D::Error> {
        Lasting::deserialize(deserializer).map(Lasting::span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_read_back_as_they_print() {
        for (text, micros) in [
            ("0s", 0),
            ("250ms", 250_000),
            ("90s", 90_000_000),
            ("1h30m", 5_400_000_000),
            ("7d", 604_800_000_000),
            ("1d1h1m1s1ms1us", 90_061_001_001),
        ] {
            let lasting: Lasting = text.parse().unwrap();
            assert_eq!(lasting.span(), Span::from_micros(micros), "{text}");
            assert_eq!(lasting.to_string().parse(), Ok(lasting), "{text}");
        }
        assert_eq!(Lasting::seconds(90).to_string(), "1m30s");
    }

    #[test]
    fn what_is_no_length_is_refused() {
        for text in [
            "",
            "5",
            "s",
            "-1s",
            "1.5h",
            "1 h",
            "1w",
            "99999999999999d",
            "1h30",
            "é",
        ] {
            assert!(text.parse::<Lasting>().is_err(), "{text}");
        }
    }
}
