//! Why there is no such configuration.

use toml::de::DeTable;

use super::setting::Wrong;

/// Why there is no such configuration; one line that says what is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub(super) String);

impl ConfigError {
    /// The same, with where it was found in front.
    #[must_use]
    pub fn within(self, place: impl std::fmt::Display) -> Self {
        Self(format!("{place}: {}", self.0))
    }

    /// TOML's errors show the line in question over several lines; this puts them into one.
    pub(crate) fn new(error: &toml::de::Error, text: &str) -> Self {
        let message = error.message().replace('\n', " ");
        Self(
            match error.span().and_then(|span| line_of(text, span.start)) {
                Some(line) => format!("line {line}: {message}"),
                None => message,
            },
        )
    }

    /// What is wrong in a text, with its line.
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

/// The line of what these keys lead to, or of the last of them that is there.
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
