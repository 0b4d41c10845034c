//! Lengths of time as people write them: `90s`, `1h30m`, `250ms`.

use std::fmt;
use std::str::FromStr;

use gridweave_core::time::Span;

/// A length of time that reads and prints as text: a number with a unit, or several one after the other.
///
/// Units are `us`, `ms`, `s`, `m`, `h` and `d`; numbers are whole.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub(crate) struct Lasting(pub Span);

/// The units, longest first, in microseconds.
const UNITS: [(&str, u64); 6] = [
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("m", 60_000_000),
    ("s", 1_000_000),
    ("ms", 1_000),
    ("us", 1),
];

/// Why a text is no length of time.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{0}' is no length of time; write whole numbers with units, such as 90s, 1h30m or 250ms")]
pub(crate) struct LastingError(String);

/// The length of time that a text says.
pub(crate) fn parse(text: &str) -> Result<Span, LastingError> {
    micros(text)
        .map(Span::from_micros)
        .ok_or_else(|| LastingError(text.chars().take(40).collect()))
}

fn micros(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut micros = (!rest.is_empty()).then_some(0_u64)?;
    while !rest.is_empty() {
        let (number, behind) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
        let letters = behind.find(|c: char| !c.is_ascii_alphabetic());
        let (unit, behind) = behind.split_at(letters.unwrap_or(behind.len()));
        let (_, scale) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let part = number.parse::<u64>().ok()?.checked_mul(*scale)?;
        micros = micros.checked_add(part)?;
        rest = behind;
    }
    Some(micros)
}

impl FromStr for Lasting {
    type Err = LastingError;

    fn from_str(text: &str) -> Result<Self, LastingError> {
        parse(text).map(Self)
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
            assert_eq!(lasting.0, Span::from_micros(micros), "{text}");
            assert_eq!(lasting.to_string().parse(), Ok(lasting), "{text}");
        }
        assert_eq!(Lasting(Span::from_secs(90)).to_string(), "1m30s");
    }

    #[test]
    fn a_text_that_is_no_length_of_time_is_refused() {
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
