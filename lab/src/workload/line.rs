//! Lines of bounded length from a reader of bytes.

use std::io::{self, BufRead, Read};

/// The longest line that is read, in bytes; longer ones are skipped without being kept in memory.
pub const LONGEST_LINE: usize = 64 * 1024;

/// One line, without its end.
#[derive(Clone, Copy)]
pub(super) enum Line<'a> {
    /// A line of acceptable length.
    Whole(&'a [u8]),
    /// The start of a line that is too long; the rest is skipped before the next line is read.
    TooLong(&'a [u8]),
}

/// Returns one line after the other, in the same buffer.
pub(super) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    number: u64,
    state: ReadState,
}

/// Where the reader stands.
enum ReadState {
    LineStart,
    /// Inside a line that was too long.
    WithinLine,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            number: 0,
            state: ReadState::LineStart,
        }
    }

    /// The number of the last line, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The next line; `None` at the end.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        // The rest is skipped only now: a caller that gives up at the start of a line need not read a line without end.
        if let ReadState::WithinLine = self.state {
            self.reader.skip_until(b'\n')?;
            self.state = ReadState::LineStart;
        }
        self.buffer.clear();
        let limit = LONGEST_LINE as u64 + 1;
        let mut bounded = self.reader.by_ref().take(limit);
        if bounded.read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if let Some(line) = self.buffer.strip_suffix(b"\n") {
            return Ok(Some(Line::Whole(line)));
        }
        if self.buffer.len() <= LONGEST_LINE {
            return Ok(Some(Line::Whole(&self.buffer)));
        }
        self.state = ReadState::WithinLine;
        Ok(Some(Line::TooLong(&self.buffer)))
    }
}
