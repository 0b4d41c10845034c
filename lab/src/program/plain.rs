//! Makes text from files and arguments safe for a terminal.

/// The most characters of a word in an error line: enough for a path, too few to bury the rest.
const LONGEST_WORD: usize = 300;

/// The most characters of an error line.
const LONGEST_LINE: usize = 2000;

/// Makes one line of any text. Long words are cut. If the line is still too long, its middle is left out, since the
/// advice is at the end.
pub(super) fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let text = lines.collect::<Vec<&str>>().join(" ");
    let words = text.split(' ').map(|word| {
        let mut letters = word.chars();
        let mut kept: String = letters.by_ref().take(LONGEST_WORD).map(shown).collect();
        if letters.next().is_some() {
            kept.push('…');
        }
        kept
    });
    let line = words.collect::<Vec<String>>().join(" ");
    let length = line.chars().count();
    if length <= LONGEST_LINE {
        return line;
    }
    let half = LONGEST_LINE / 2;
    let first: String = line.chars().take(half).collect();
    let last: String = line.chars().skip(length - half).collect();
    format!("{first} … {last}")
}

/// The same text without control characters, except line breaks.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c == '\n' { c } else { shown(c) })
        .collect()
}

/// A character as it is shown: control characters and changes of writing direction become a question mark.
fn shown(c: char) -> char {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if c.is_control() || turns { '?' } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_is_one_short_line_that_a_terminal_does_not_obey() {
        assert_eq!(one_line("a\r\n\n  b\tc  d"), "a b?c  d");
        assert_eq!(one_line("\u{1b}[31mred\u{202e}"), "?[31mred?");
        let long = format!("{} is too long", "x".repeat(900_000));
        assert_eq!(one_line(&long), format!("{}… is too long", "x".repeat(300)));
        let many = format!("{}; choose another", "word ".repeat(1000));
        let line = one_line(&many);
        assert!(line.ends_with("; choose another") && line.chars().count() <= 2003);
    }

    #[test]
    fn what_is_said_keeps_its_lines() {
        assert_eq!(printable("one\n\u{9b}two\u{7}\n"), "one\n?two?\n");
    }
}
