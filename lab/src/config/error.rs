//! Errors of configurations.

use toml::de::DeTable;

use super::setting::Wrong;

/// Why a configuration is refused: one line that says what is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub(super) String);

impl ConfigError {
    /// The same error, with the place in front of it.
    #[must_use]
    pub fn within(self, place: impl std::fmt::Display) -> Self {
        Self(format!("{place}: {}", self.0))
    }

    /// A TOML error in one line; TOML itself shows it over several.
    pub(crate) fn new(error: &toml::de::Error, text: &str) -> Self {
        let mut message = error.message().replace('\n', " ");
        let span = error.span();
        if message == "duplicate key"
            && let Some(key) = span.clone().and_then(|span| text.get(span))
        {
            message = format!("{key} is there twice; keep one of them");
        } else {
            message.push_str("; correct it, or give another file in TOML");
        }
        Self(match span.and_then(|span| line_of(text, span.start)) {
            Some(line) => format!("line {line}: {message}"),
            None => message,
        })
    }

    /// An error with the line of the text that it is about.
    pub(super) fn in_text(wrong: &Wrong, text: &str) -> Self {
        Self(match locate(text, wrong.path()) {
            Some(line) => format!("line {line}: {wrong}"),
            None => wrong.to_string(),
        })
    }
}

fn line_of(text: &str, at: usize) -> Option<usize> {
    let before = text.get(..at)?;
    Some(before.matches('\n').count() + 1)
}

/// The line to which these keys lead, or the line of the last key that exists.
fn locate<'a>(text: &str, keys: impl Iterator<Item = &'a str>) -> Option<usize> {
    let (table, _) = DeTable::parse_recoverable(text);
    let (mut at, mut table) = (None, Some(table.get_ref()));
    for key in keys {
        let found = table.and_then(|table| table.get_key_value(key));
        let Some((name, value)) = found else { break };
        at = Some(name.span().start);
        table = value.get_ref().as_table();
    }
    line_of(text, at?)
}

impl<T: Into<String>> From<T> for ConfigError {
    fn from(what: T) -> Self {
        Self(what.into())
    }
}
