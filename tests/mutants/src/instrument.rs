//! All chosen mutants of a file in one text. Each is off unless it is switched on.
use std::ops::Range;

use crate::list::{Edit, Mutant};

/// A file with its mutants in it.
pub struct Instrumented {
    pub text: String,
    /// Each part of the text that mutants wrote, and the mutants that wrote it.
    written: Vec<(Range<usize>, Vec<usize>)>,
}

impl Instrumented {
    /// The mutants that wrote the smallest part around this index: an error there is theirs.
    pub fn blamed(&self, index: usize) -> &[usize] {
        let around = self
            .written
            .iter()
            .filter(|(range, _)| range.contains(&index));
        around
            .min_by_key(|(range, _)| range.len())
            .map_or(&[], |(_, mutants)| mutants)
    }
}

/// The source with these mutants, each with its number.
pub fn instrument(source: &str, mutants: &[(usize, &Mutant)]) -> Instrumented {
    let mut edits: Vec<_> = mutants
        .iter()
        .map(|&(number, mutant)| (place(&mutant.edit), number, &mutant.edit))
        .collect();
    // An outer edit comes before the edits inside it.
    edits.sort_by_key(|(range, number, _)| (range.start, std::cmp::Reverse(range.end), *number));
    let mut writer = Writer {
        source,
        into: Instrumented {
            text: String::new(),
            written: Vec::new(),
        },
    };
    writer.write(0..source.len(), &edits);
    writer.into
}

fn place(edit: &Edit) -> Range<usize> {
    match edit {
        Edit::Replace(range, _) | Edit::Skip(range) => range.clone(),
        Edit::Return(at, _) | Edit::NoArm(at) => *at..*at,
    }
}

struct Writer<'a> {
    source: &'a str,
    into: Instrumented,
}

type Placed<'a> = (Range<usize>, usize, &'a Edit);

impl Writer<'_> {
    /// Writes this part of the source, with its edits.
    fn write(&mut self, part: Range<usize>, mut edits: &[Placed<'_>]) {
        let mut done = part.start;
        while let Some(((range, number, edit), _)) = edits.split_first() {
            self.into.text += &self.source[done..range.start];
            done = range.end;
            match edit {
                Edit::Replace(..) => {
                    let alike = edits
                        .iter()
                        .take_while(|(other, ..)| other == range)
                        .count();
                    let within = edits
                        .iter()
                        .take_while(|(other, ..)| other.start < range.end)
                        .count();
                    self.replace(range, &edits[..alike], &edits[alike..within]);
                    edits = &edits[within..];
                }
                Edit::Skip(_) => {
                    let within = edits
                        .iter()
                        .take_while(|(other, ..)| other.start < range.end)
                        .count();
                    self.skip(range, *number, &edits[1..within]);
                    edits = &edits[within..];
                }
                Edit::Return(_, value) => {
                    self.add(
                        *number,
                        &format!(" if crate::mutants::on({number}) {{ return {value}; }}"),
                    );
                    edits = &edits[1..];
                }
                Edit::NoArm(_) => {
                    self.add(*number, &format!(" if !crate::mutants::on({number})"));
                    edits = &edits[1..];
                }
            }
        }
        self.into.text += &self.source[done..part.end];
    }

    fn replace(&mut self, range: &Range<usize>, alike: &[Placed<'_>], within: &[Placed<'_>]) {
        let start = self.into.text.len();
        self.into.text += "(";
        for (_, number, edit) in alike {
            let Edit::Replace(_, becomes) = edit else {
                continue;
            };
            self.add(
                *number,
                &format!("if crate::mutants::on({number}) {{ ({becomes}) }} else "),
            );
        }
        self.into.text += "{ (";
        self.write(range.clone(), within);
        self.into.text += ") })";
        let end = self.into.text.len();
        self.into.written.push((
            start..end,
            alike.iter().map(|&(_, number, _)| number).collect(),
        ));
    }

    fn skip(&mut self, range: &Range<usize>, number: usize, within: &[Placed<'_>]) {
        let start = self.into.text.len();
        self.into.text += &format!("if !crate::mutants::on({number}) {{ ");
        self.write(range.clone(), within);
        self.into.text += " }";
        let end = self.into.text.len();
        self.into.written.push((start..end, vec![number]));
    }

    fn add(&mut self, number: usize, text: &str) {
        let start = self.into.text.len();
        self.into.text += text;
        self.into
            .written
            .push((start..self.into.text.len(), vec![number]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::mutants;

    #[test]
    fn mutants_within_mutants_are_written_once() {
        let source = "fn f(a: u8, b: u8) -> bool { !(a < b) }";
        let found = mutants("f.rs", source).unwrap();
        let changes: Vec<_> = found.iter().map(|mutant| mutant.change.as_str()).collect();
        assert_eq!(
            changes,
            [
                "returns `true` at once",
                "returns `false` at once",
                "no `!`",
                "`<=` for `<`",
                "`>` for `<`",
                "`==` for `<`"
            ]
        );
        let chosen = [(7, &found[0]), (8, &found[2]), (9, &found[3])];
        let with = instrument(source, &chosen);
        assert_eq!(
            with.text,
            "fn f(a: u8, b: u8) -> bool { if crate::mutants::on(7) { return true; } \
             (if crate::mutants::on(8) { ((a < b)) } else { \
             (!((if crate::mutants::on(9) { ((a) <= (b)) } else { (a < b) }))) }) }"
        );
        assert_eq!(with.blamed(with.text.find("<=").unwrap()), [9]);
        assert_eq!(with.blamed(with.text.find("(!").unwrap()), [8]);
        assert_eq!(with.blamed(0), [0; 0]);
    }

    #[test]
    fn chains_with_let_tests_and_constants_have_no_mutants() {
        let source = "const A: u8 = 1 + 2; #[cfg(test)] fn t() { f(); } \
             fn f(o: Option<[u8; 1 + 1]>, a: bool) { if a && let Some(_) = o && a { drop([0; 2 + 2]) } }";
        let changes: Vec<_> = mutants("f.rs", source)
            .unwrap()
            .into_iter()
            .filter(|mutant| !mutant.is_statement)
            .map(|mutant| mutant.change)
            .collect();
        assert_eq!(changes, ["returns `()` at once"]);
    }

    #[test]
    fn statements_are_left_out_and_conditions_are_turned_round() {
        let source =
            "fn f(a: &mut Vec<u8>) { a.clear(); if a.is_empty() && g() { a.push(1); } h() }";
        let found = mutants("f.rs", source).unwrap();
        let found: Vec<_> = found.iter().filter(|mutant| mutant.is_statement).collect();
        let changes: Vec<_> = found.iter().map(|mutant| mutant.change.as_str()).collect();
        assert_eq!(
            changes,
            [
                "without `a.clear();`",
                "without `if a.is_empty() && g() { a.push(1); }`",
                "the opposite of `a.is_empty() && g()`",
                "no `g()`",
                "no `a.is_empty()`",
                "without `a.push(1);`",
            ]
        );
        let with = instrument(source, &[(1, found[0]), (2, found[1]), (5, found[5])]);
        assert_eq!(
            with.text,
            "fn f(a: &mut Vec<u8>) { if !crate::mutants::on(1) { a.clear(); } \
             if !crate::mutants::on(2) { if a.is_empty() && g() { \
             if !crate::mutants::on(5) { a.push(1); } } } h() }"
        );
    }

    #[test]
    fn arms_before_a_wildcard_go_and_guards_become_constant() {
        let source = "fn f(a: u8) { match a { 1 => g(), 2 if h() => g(), _ => i() } }";
        let found = mutants("f.rs", source).unwrap();
        let changes: Vec<_> = found.iter().map(|mutant| mutant.change.as_str()).collect();
        assert_eq!(
            changes,
            [
                "returns `()` at once",
                "no arm `1`",
                "`true` for the guard `h()`",
                "`false` for the guard `h()`"
            ]
        );
        let with = instrument(source, &[(1, &found[1]), (2, &found[2])]);
        assert_eq!(
            with.text,
            "fn f(a: u8) { match a { 1 if !crate::mutants::on(1) => g(), \
             2 if (if crate::mutants::on(2) { (true) } else { (h()) }) => g(), _ => i() } }"
        );
    }
}
