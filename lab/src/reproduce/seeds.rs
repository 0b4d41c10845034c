//! The figures of a part under each seed, in a file beside its page, so that seeds can be added later and elsewhere.
//!
//! A report asks its [samples](super::Sample) for figures, always in the same order. [`BySeed`] notes the answers. If there
//! are answers under earlier seeds, they come first. So a report of five seeds and five more is that of all ten.

use std::cell::{Cell, RefCell};
use std::fmt::Write;

/// What a report has asked for, with the answers under each seed.
#[derive(Debug, Default)]
pub(crate) struct BySeed {
    earlier: Vec<Answers>,
    asked: RefCell<Vec<Answers>>,
    needs_runs: Cell<bool>,
}

/// A figure of some runs under each seed, where it has one.
#[derive(Clone, PartialEq, Debug)]
struct Answers {
    runs: String,
    figures: Vec<Option<f64>>,
}

/// Why answers under some seeds cannot go with those under others.
const OTHER_CODE: &str = "is of other code; make all seeds again without --add";

impl BySeed {
    /// The answer under all seeds, from that under the seeds of now.
    pub(super) fn ask(
        &self,
        runs: &str,
        now: impl Iterator<Item = Option<f64>>,
    ) -> Vec<Option<f64>> {
        let mut asked = self.asked.borrow_mut();
        let earlier = self.earlier.get(asked.len());
        let mut figures = earlier.map_or_else(Vec::new, |answers| answers.figures.clone());
        figures.extend(now);
        asked.push(Answers {
            runs: runs.to_owned(),
            figures: figures.clone(),
        });
        figures
    }

    /// The report shows more of its runs than figures.
    pub(super) fn note_need_of_runs(&self) {
        self.needs_runs.set(true);
    }

    /// The file for this first seed and digest of the code; none if the report shows more than figures. An error if the
    /// earlier answers are to other questions.
    pub(crate) fn text(&self, first_seed: u64, code: &str) -> Result<Option<String>, &'static str> {
        let asked = self.asked.borrow();
        let questions = |all: &[Answers]| -> Vec<String> {
            let runs = all.iter().map(|answers| answers.runs.clone());
            runs.collect()
        };
        if !self.earlier.is_empty() && questions(&self.earlier) != questions(&asked) {
            return Err(OTHER_CODE);
        }
        if self.needs_runs.get() || asked.is_empty() {
            return Ok(None);
        }
        let mut text = format!("code {code},from seed {first_seed} on\n");
        for Answers { runs, figures } in asked.iter() {
            text += runs;
            for figure in figures {
                text.push(',');
                if let Some(figure) = figure {
                    let _ = write!(text, "{figure}");
                }
            }
            text.push('\n');
        }
        Ok(Some(text))
    }

    /// Reads such a file: the first seed, how many seeds there are, and the answers, to be followed by others.
    pub(crate) fn parse(text: &str, code: &str) -> Result<(u64, u32, Self), &'static str> {
        const BROKEN: &str =
            "is no file of figures by seed; delete it, and make all seeds again without --add";
        let mut lines = text.lines();
        let first = lines.next().and_then(|line| line.strip_prefix("code "));
        let (of, first) = first.and_then(|line| line.split_once(',')).ok_or(BROKEN)?;
        let first = first.strip_prefix("from seed ");
        let first = first.and_then(|first| first.strip_suffix(" on"));
        let first = first.and_then(|first| first.parse().ok()).ok_or(BROKEN)?;
        if of != code || code.is_empty() {
            return Err(OTHER_CODE);
        }
        let answers = |line: &str| {
            let (runs, figures) = line.split_once(',')?;
            let figures = figures.split(',').map(|figure| match figure {
                "" => Some(None),
                figure => figure.parse().ok().map(Some),
            });
            Some(Answers {
                runs: runs.to_owned(),
                figures: figures.collect::<Option<_>>()?,
            })
        };
        let earlier: Option<Vec<Answers>> = lines.map(answers).collect();
        let earlier = earlier.ok_or(BROKEN)?;
        let count = earlier.first().map_or(0, |answers| answers.figures.len());
        let even = earlier.iter().all(|it| it.figures.len() == count);
        let count = u32::try_from(count).ok().filter(|count| even && *count > 0);
        let count = count.ok_or(BROKEN)?;
        let earlier = Self {
            earlier,
            ..Self::default()
        };
        Ok((first, count, earlier))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(figures: &[f64]) -> impl Iterator<Item = Option<f64>> {
        figures.iter().copied().map(Some)
    }

    fn asked(before: BySeed, waits: &[f64], lacking: usize) -> BySeed {
        before.ask("push", some(waits));
        before.ask("push / pull", std::iter::repeat_n(None, lacking));
        before
    }

    #[test]
    fn figures_of_seeds_that_are_added_are_those_of_all_seeds_at_once() {
        let all = asked(BySeed::default(), &[0.1 + 0.2, 2.0, 3.0], 3);
        let two = asked(BySeed::default(), &[0.1 + 0.2, 2.0], 2);
        let text = two.text(7, "abc").unwrap().unwrap();
        assert_eq!(
            text,
            "code abc,from seed 7 on\npush,0.30000000000000004,2\npush / pull,,\n"
        );
        let (first, count, earlier) = BySeed::parse(&text, "abc").unwrap();
        assert_eq!((first, count), (7, 2));
        let then = asked(earlier, &[3.0], 1);
        assert_eq!(then.text(7, "abc"), all.text(7, "abc"));
    }

    #[test]
    fn figures_of_other_code_and_of_single_runs_are_not_added_to() {
        let text = asked(BySeed::default(), &[1.0], 1).text(0, "abc");
        let text = text.unwrap().unwrap();
        assert_eq!(BySeed::parse(&text, "abd").unwrap_err(), OTHER_CODE);
        for cut in [1, text.len() - 2] {
            assert!(BySeed::parse(&text[..cut], "abc").is_err());
        }
        let (.., earlier) = BySeed::parse(&text, "abc").unwrap();
        earlier.ask("pull", some(&[1.0]));
        assert_eq!(earlier.text(0, "abc"), Err(OTHER_CODE));
        let single = asked(BySeed::default(), &[1.0], 1);
        single.note_need_of_runs();
        assert_eq!(single.text(0, "abc"), Ok(None));
    }
}
