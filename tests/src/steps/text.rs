//! Any `Debug` text as JSON, so that private state can be read without a second definition of it.
//!
//! `Name { field: value }` is an object with the name under `"#"`, `Name(value)` an array that begins with the name,
//! `Some(value)` the value, `None` null. A time is a number of microseconds; other names and numbers are strings.

use std::fmt::Write as _;

/// Fields that no model has.
const DROPPED: &[&str] = &[
    "policy",
    "due",
    "why",
    "past",
    "counts",
    "taken_back",
    "told",
    "carried",
    "arrived",
    "quotas",
    "alarm",
    "payload",
    "assignment",
    "submitter",
    "candidates",
    "spares",
    "limit",
    "jobs",
    "pool",
];

struct Reader<'a> {
    text: &'a str,
    at: usize,
    config: String,
}

/// A `Debug` text as JSON without the configuration in it, and that configuration.
pub(super) fn read(text: &str) -> (String, String) {
    let mut reader = Reader {
        text,
        at: 0,
        config: String::from("null"),
    };
    let mut out = String::new();
    reader.value(&mut out);
    assert_eq!(reader.peek(), None, "{text}");
    (out, reader.config)
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, sign: u8) -> bool {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
        let is_next = self.peek() == Some(sign);
        self.at += usize::from(is_next);
        is_next
    }

    /// Up to the next sign that structures the text.
    fn word(&mut self) -> &str {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
        let start = self.at;
        while self
            .peek()
            .is_some_and(|sign| !b",(){}[]:\"".contains(&sign))
        {
            self.at += 1;
        }
        self.text[start..self.at].trim_end()
    }

    fn value(&mut self, out: &mut String) {
        if self.skip(b'[') {
            return self.list(out, "");
        }
        if self.skip(b'"') {
            let start = self.at;
            while self.peek().is_some_and(|sign| sign != b'"') {
                self.at += 1;
            }
            write!(out, "\"{}\"", &self.text[start..self.at]).expect("a string takes it");
            self.at += 1;
            return;
        }
        let word = self.word().to_owned();
        if self.skip(b'{') {
            self.fields(&word, out);
        } else if self.skip(b'(') {
            if word == "Some" || word == "Shared" {
                self.value(out);
                self.skip(b')');
            } else {
                self.list(out, &format!("\"{word}\""));
            }
        } else {
            out.push_str(&atom(&word));
        }
    }

    /// The rest of a list, a tuple or an interval, which has brackets of both kinds.
    fn list(&mut self, out: &mut String, first: &str) {
        out.push('[');
        out.push_str(first);
        let mut is_first = first.is_empty();
        while !(self.skip(b']') || self.skip(b')')) {
            if !is_first {
                out.push(',');
            }
            is_first = false;
            self.value(out);
            self.skip(b',');
        }
        out.push(']');
    }

    fn fields(&mut self, name: &str, out: &mut String) {
        let start = out.len();
        write!(out, "{{\"#\":\"{name}\"").expect("a string takes it");
        let mut known = None;
        while !self.skip(b'}') {
            let field = self.word().to_owned();
            // A set has no names.
            if !self.skip(b':') {
                panic!("no field at {} in {}", self.at, self.text);
            }
            let mut value = String::new();
            self.value(&mut value);
            if name == "Job" && field == "id" {
                known = Some(value.clone());
            }
            if field == "config" {
                self.config = value;
            } else if !DROPPED.contains(&field.as_str()) {
                write!(out, ",\"{field}\":{value}").expect("a string takes it");
            }
            self.skip(b',');
        }
        out.push('}');
        // Of a job, only its name.
        if let Some(id) = known {
            out.replace_range(start.., &id);
        }
    }
}

/// The latest time, as a number that Python and the solver share with other times.
const NEVER: &str = "4611686018427387904";

fn atom(word: &str) -> String {
    match word {
        "None" => "null".into(),
        "true" | "false" => word.into(),
        "never" => NEVER.into(),
        _ => micros(word).unwrap_or_else(|| format!("\"{word}\"")),
    }
}

/// `12s` and `0.000004s` in microseconds.
fn micros(word: &str) -> Option<String> {
    let (whole, part) = word
        .strip_suffix('s')?
        .split_once('.')
        .unwrap_or((word.strip_suffix('s')?, ""));
    let whole: u64 = whole.parse().ok()?;
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    let micros = whole.saturating_mul(1_000_000).saturating_add(part);
    // A span without end.
    Some(micros.min(1 << 62).to_string())
}

#[cfg(test)]
mod tests {
    use gridweave_core::id::{Epoch, JobId};
    use gridweave_core::schedule::Attempt;
    use gridweave_core::time::{Interval, Span, Time};

    use super::read;

    #[test]
    fn a_debug_text_becomes_json() {
        let interval = Interval::starting(Time::from_micros(4), Span::from_secs(1));
        let attempt = Attempt::new(JobId::new(7), Epoch::new(1));
        assert_eq!(
            read(&format!(
                "{:?}",
                (interval, Some(attempt), None::<u8>, Time::MAX)
            ))
            .0,
            r##"["",["Ok",[4,1000004]],{"#":"Attempt","job":"j7","epoch":"e1"},null,4611686018427387904]"##
        );
    }
}
