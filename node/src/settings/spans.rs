use gridweave_core::time::Span;
use serde::{Deserialize, Serialize};

/// A length of time, written with its unit: `250ms`, `2s`, `5m`, `1h`, `1d`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Length(pub Span);

/// Reads a length of time with its unit.
pub fn length(text: &str) -> Result<Span, String> {
    let wrong =
        || format!("'{text}' is no length of time: write a number and ms, s, m, h or d, as 90s");
    let digits = text.find(|character: char| !character.is_ascii_digit());
    let (number, unit) = text.split_at(digits.ok_or_else(wrong)?);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let micros: u64 = match unit {
        "us" => 1,
        "ms" => 1_000,
        "s" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => return Err(wrong()),
    };
    let micros = number.checked_mul(micros).ok_or_else(wrong)?;
    Ok(Span::from_micros(micros))
}

impl TryFrom<String> for Length {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        length(&text).map(Self)
    }
}

impl From<Length> for String {
    fn from(Length(span): Length) -> Self {
        match span.as_micros() {
            micros if micros % 1_000_000 == 0 => format!("{}s", micros / 1_000_000),
            micros if micros % 1_000 == 0 => format!("{}ms", micros / 1_000),
            micros => format!("{micros}us"),
        }
    }
}
