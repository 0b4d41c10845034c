//! The header of a trace.

/// How many entries are kept; real headers have fewer than two hundred.
const MOST_ENTRIES: usize = 1_000;

/// The most bytes that a value may have after continuation lines.
const LONGEST_VALUE: usize = 4_096;

/// The `Key: value` comments at the head of a trace, in order; a key may occur several times.
///
/// Text is kept as it is, except that control characters and what is not UTF-8 are replaced, since it is printed on
/// terminals and copied into other traces.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Header {
    entries: Vec<(String, String)>,
    /// Whether the next line may continue the last entry.
    open: bool,
}

impl Header {
    /// Adds one comment, without the mark at its start.
    pub(super) fn add_comment(&mut self, comment: &[u8]) {
        let text = printable(comment);
        let text = text.trim();
        if let Some((key, value)) = keyed(text) {
            self.open = self.entries.len() < MOST_ENTRIES;
            if self.open {
                self.entries.push((key.to_owned(), value.to_owned()));
            }
        } else if text.is_empty() {
            self.open = false;
        } else if self.open {
            self.continue_last(text);
        }
    }

    /// A comment without a key continues the entry right before it: KTH's second address has a line of its own.
    fn continue_last(&mut self, text: &str) {
        if let Some((_, value)) = self.entries.last_mut()
            && value.len().saturating_add(text.len()) < LONGEST_VALUE
        {
            value.push(' ');
            value.push_str(text);
        }
    }

    /// Every entry, in order.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str)> + '_ {
        self.entries
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Every value of a key, in order.
    pub fn values<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> + 'a {
        self.entries()
            .filter(move |(known, _)| known.eq_ignore_ascii_case(key))
            .map(|(_, value)| value)
    }

    fn first(&self, key: &str) -> Option<&str> {
        self.entries()
            .find(|(known, _)| known.eq_ignore_ascii_case(key))
            .map(|(_, value)| value)
    }

    fn number<T: core::str::FromStr>(&self, key: &str) -> Option<T> {
        self.first(key)?.split_whitespace().next()?.parse().ok()
    }

    /// How many processors the machine had.
    pub fn max_procs(&self) -> Option<u32> {
        self.number("MaxProcs")
    }

    /// How many nodes the machine had.
    pub fn max_nodes(&self) -> Option<u32> {
        self.number("MaxNodes")
    }

    /// When the log began, in seconds since 1970; `None` if it says 0, which means not known.
    pub fn unix_start_time(&self) -> Option<u64> {
        self.number("UnixStartTime").filter(|&start| start > 0)
    }

    /// The computer of the log.
    pub fn computer(&self) -> Option<&str> {
        self.first("Computer")
    }

    /// Where the computer was installed.
    pub fn installation(&self) -> Option<&str> {
        self.first("Installation")
    }

    /// The names to acknowledge wherever a result on this log is published.
    pub fn acknowledge(&self) -> impl Iterator<Item = &str> + '_ {
        self.values("Acknowledge")
    }
}

fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(shown).collect()
}

/// A key is one word, and a blank follows its colon, so that addresses and times of day are not keys.
fn keyed(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(':')?;
    let word = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric());
    let apart = value.is_empty() || value.starts_with(char::is_whitespace);
    (word && apart).then(|| (key, value.trim()))
}
