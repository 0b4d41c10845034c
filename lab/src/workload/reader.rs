//! Opens a trace, detects its format, and reads it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use gridweave_core::time::{Span, Time};
use serde::Serialize;

use super::field::{Columns, Decimal};
use super::gwf::{self, Gwf, Named};
use super::header::Header;
use super::line::{Line, Lines};
use super::record::Oddities;
use super::skipped::{Reason, Skipped};
use super::swf;
use super::{Submission, Workload};
use crate::unreadable::advice;
use gridweave_sim::history::History;

const BUFFER: usize = 128 * 1024;

/// The most jobs that are read from a trace: they are kept in memory, and a small compressed file may hold any number.
/// The largest log of the archives has fewer than six million.
pub const MOST_READ: usize = 10_000_000;

/// How many lines without a record may follow each other: a small compressed file may hold any number of empty ones.
const MOST_WITHOUT_RECORD: u64 = 1_000_000;

/// The longest time between the first and the last submission of a trace.
pub(super) const LONGEST_TRACE: Span = Span::from_secs(100 * 365 * 86_400);

/// The format of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// The Standard Workload Format of the Parallel Workloads Archive.
    Swf,
    /// The Grid Workload Format of the Grid Workloads Archive.
    Gwf,
    /// opendc's format: comma-separated columns with names.
    Opendc,
}

/// Which instant becomes time zero of the workload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Origin {
    /// The submission of the first usable job.
    #[default]
    FirstJob,
    /// Time zero of the file.
    Source,
}

/// A trace as it was read.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    /// Its jobs.
    pub workload: Workload,
    /// Its format.
    pub format: Format,
    /// Its header.
    pub header: Header,
    /// The time from time zero of the file to time zero of the workload.
    pub offset: Span,
    /// The records that were left out.
    pub skipped: Skipped,
    /// The records that were taken although they are unusual.
    pub oddities: Oddities,
}

/// Why a trace could not be read; no part of it is returned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file could not be opened or read.
    #[error(
        "{name}: cannot be read{}: {cause}; {}", after(*line), advice(cause, "check that the file exists and may be read")
    )]
    Io {
        /// The name of the trace.
        name: String,
        /// The last line that was read, from 1; 0 if none was.
        line: u64,
        /// The error of the system.
        cause: io::Error,
    },
    /// Its gzip stream ends early or is damaged.
    #[error(
        "{name}: the compressed data is cut off or damaged{} ({cause}); download or compress it again", after(*line)
    )]
    Damaged {
        /// The name of the trace.
        name: String,
        /// The last line that was read, from 1; 0 if none was.
        line: u64,
        /// The error of the decoder.
        cause: io::Error,
    },
    /// It is compressed with something other than gzip.
    #[error(
        "{name}: compressed with {with}, which is not read here; decompress it, or compress it with gzip"
    )]
    OtherCompression {
        /// The name of the trace.
        name: String,
        /// The other compression.
        with: &'static str,
    },
    /// It contains a zero byte, which no text has.
    #[error("{name}, line {line}: binary data; give a trace in SWF or GWF, which are text")]
    Binary {
        /// The name of the trace.
        name: String,
        /// The line of the zero byte, from 1.
        line: u64,
    },
    /// Its first line fits no known format.
    #[error(
        "{name}, line {line}: neither a comment nor a record of SWF or GWF; give a trace in one of these formats"
    )]
    UnknownFormat {
        /// The name of the trace.
        name: String,
        /// That line, from 1.
        line: u64,
    },
    /// It has more jobs than memory should hold.
    #[error("{name}, line {line}: more than {most} jobs; cut the trace into parts first")]
    TooManyJobs {
        /// The name of the trace.
        name: String,
        /// The line of the first job beyond the limit, from 1.
        line: u64,
        /// The limit.
        most: usize,
    },
    /// Too many lines in a row are no record.
    #[error(
        "{name}, line {line}: no record in the last {MOST_WITHOUT_RECORD} lines; give a trace in SWF or GWF"
    )]
    NoRecords {
        /// The name of the trace.
        name: String,
        /// The line at which reading ended, from 1.
        line: u64,
    },
    /// A job was submitted so much later than the first that it must be a mistake.
    #[error(
        "{name}, line {line}: submitted {years} years after the first job; correct the row, or remove it"
    )]
    TooFarApart {
        /// The name of the trace.
        name: String,
        /// The line of the last job, from 1.
        line: u64,
        /// How many years lie between the two.
        years: u64,
    },
    /// It is empty, or none of its records can be replayed.
    #[error(
        "{name}: no usable job in {lines} lines, {skipped}; a job needs a submit time, a run time and processors"
    )]
    NoUsableJob {
        /// The name of the trace.
        name: String,
        /// How many lines it has.
        lines: u64,
        /// Why its records were left out.
        skipped: Skipped,
    },
}

/// The text ` after line N`, or nothing if no line was read.
fn after(line: u64) -> String {
    match line {
        0 => String::new(),
        line => format!(" after line {line}"),
    }
}

/// Reads the trace at this path; its name is the file's. The file is read once, so it may be a pipe.
pub fn read(path: impl AsRef<Path>, origin: Origin) -> Result<Trace, ReadError> {
    read_with_digest(path, origin).map(|(trace, _)| trace)
}

/// The same, with a digest of all bytes of the file.
pub fn read_with_digest(
    path: impl AsRef<Path>,
    origin: Origin,
) -> Result<(Trace, String), ReadError> {
    let path = path.as_ref();
    let shown = printable(&path.to_string_lossy());
    let unreadable = |cause| ReadError::Io {
        name: shown.clone(),
        line: 0,
        cause,
    };
    let mut file = Digested {
        source: File::open(path).map_err(unreadable)?,
        history: History::new(),
    };
    let mut trace = read_from(&shown, &mut file, origin)?;
    // Bytes after the end of a compressed trace are part of the file, too.
    io::copy(&mut file, &mut io::sink()).map_err(unreadable)?;
    trace.workload.name = name_of(path);
    Ok((trace, file.history.digest()))
}

/// A reader that keeps a digest of what was read.
struct Digested<R> {
    source: R,
    history: History,
}

impl<R: Read> Read for Digested<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.history.bytes(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

/// Reads a trace from bytes; `name` is its name in errors and output.
pub fn read_from(name: &str, source: impl Read, origin: Origin) -> Result<Trace, ReadError> {
    read_at_most(MOST_READ, name, source, origin)
}

/// The same, with a limit on the number of jobs.
pub(super) fn read_at_most(
    most: usize,
    name: &str,
    source: impl Read,
    origin: Origin,
) -> Result<Trace, ReadError> {
    let name = &printable(name);
    let mut source = BufReader::with_capacity(BUFFER, source);
    let mut head = Vec::new();
    let looked = source.by_ref().take(8).read_to_end(&mut head);
    looked.map_err(|cause| ReadError::Io {
        name: name.clone(),
        line: 0,
        cause,
    })?;
    if let Some(with) = other_compression(&head) {
        return Err(ReadError::OtherCompression {
            name: name.clone(),
            with,
        });
    }
    let compressed = head.starts_with(&[0x1f, 0x8b]);
    let whole = io::Cursor::new(head).chain(source);
    if compressed {
        let decoder = MultiGzDecoder::new(whole);
        let decoded = BufReader::with_capacity(BUFFER, decoder);
        read_lines(most, name, decoded, origin).map_err(damaged)
    } else {
        read_lines(most, name, whole, origin)
    }
}

/// One week of UniLu Gaia, 151 nodes with 2004 cores, built into the program (Joseph Emeras; Parallel Workloads
/// Archive).
pub fn bundled() -> Trace {
    let bytes: &[u8] = include_bytes!("../../data/unilu-gaia-7d.swf");
    read_from("unilu-gaia-7d", bytes, Origin::FirstJob).expect("the bundled trace is a good one")
}

/// An error while a gzip stream is read most likely comes from the stream, so that reading it again does not help.
fn damaged(error: ReadError) -> ReadError {
    match error {
        ReadError::Io { name, line, cause } => ReadError::Damaged { name, line, cause },
        other => other,
    }
}

fn other_compression(head: &[u8]) -> Option<&'static str> {
    let known: [(&[u8], &'static str); 4] = [
        (b"BZh", "bzip2"),
        (b"\xfd7zXZ", "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"PK\x03\x04", "zip"),
    ];
    let found = known.iter().find(|(magic, _)| head.starts_with(magic));
    found.map(|&(_, name)| name)
}

/// A file name may contain anything, but an error is one line.
fn printable(name: &str) -> String {
    let shown = |c: char| if c.is_control() { '?' } else { c };
    name.chars().map(shown).collect()
}

/// The file's name without the extensions of format and compression.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = printable(&name.to_string_lossy());
    let bare = name.strip_suffix(".gz").unwrap_or(&name);
    let bare = [".swf", ".gwf", ".log", ".txt", ".csv"]
        .iter()
        .find_map(|ending| bare.strip_suffix(ending))
        .unwrap_or(bare);
    if bare.is_empty() {
        name
    } else {
        bare.to_owned()
    }
}

/// The parser for the detected format.
enum Parser {
    Swf,
    Gwf(Box<Gwf>),
    Opendc(Named),
}

impl Parser {
    fn parse(&mut self, line: &[u8], oddities: &mut Oddities) -> Result<Submission, Reason> {
        match self {
            Self::Swf => swf::parse(line, oddities),
            Self::Gwf(gwf) => gwf.parse(line, oddities),
            Self::Opendc(named) => named.parse(line, oddities),
        }
    }

    fn format(&self) -> Format {
        match self {
            Self::Swf => Format::Swf,
            Self::Gwf(_) => Format::Gwf,
            Self::Opendc(_) => Format::Opendc,
        }
    }
}

/// What the first line that is not blank shows about the format.
enum Detected {
    /// The line is a comment.
    Comment(Parser),
    /// The line names the columns.
    ColumnNames(Parser),
    /// The line is the first record.
    Record(Parser),
    Unknown,
}

fn detect(line: &[u8]) -> Detected {
    match line.first() {
        Some(b';') => return Detected::Comment(Parser::Swf),
        Some(b'#') => return Detected::Comment(Parser::Gwf(Box::default())),
        _ => {}
    }
    if let Some(named) = Named::in_header(line) {
        return Detected::ColumnNames(Parser::Opendc(named));
    }
    let columns = Columns::blank_separated(line);
    let numeric = (1..=swf::NEEDED).all(|at| Decimal::parse(columns.column(at)).is_some());
    match columns.count() {
        gwf::LEAST_COLUMNS.. if numeric && !more_swf(&columns) => {
            Detected::Record(Parser::Gwf(Box::default()))
        }
        _ if numeric => Detected::Record(Parser::Swf),
        _ => Detected::Unknown,
    }
}

/// Without a header, many columns mean GWF, unless there are fewer than 29 and numbers where GWF has words.
fn more_swf(columns: &Columns<'_>) -> bool {
    const JOB_STRUCTURE: usize = 19;
    columns.count() < 29
        && (1..=JOB_STRUCTURE).all(|at| Decimal::parse(columns.column(at)).is_some())
}

struct Reading<'a> {
    name: &'a str,
    header: Header,
    jobs: Vec<Submission>,
    skipped: Skipped,
    oddities: Oddities,
    parser: Option<Parser>,
    /// The most jobs.
    most: usize,
    /// The last line that was a record.
    last_record: u64,
    /// The latest submission, and its line.
    latest: (Time, u64),
}

fn read_lines(
    most: usize,
    name: &str,
    source: impl BufRead,
    origin: Origin,
) -> Result<Trace, ReadError> {
    let mut lines = Lines::new(source);
    let mut reading = Reading {
        name,
        header: Header::default(),
        jobs: Vec::new(),
        skipped: Skipped::default(),
        oddities: Oddities::default(),
        parser: None,
        most,
        last_record: 0,
        latest: (Time::ZERO, 0),
    };
    loop {
        let number = lines.number() + 1;
        match lines.next_line() {
            Ok(Some(line)) => reading.take(number, line)?,
            Ok(None) => break,
            Err(cause) => {
                return Err(ReadError::Io {
                    name: name.to_owned(),
                    line: number - 1,
                    cause,
                });
            }
        }
    }
    reading.finish(lines.number(), origin)
}

impl Reading<'_> {
    fn take(&mut self, number: u64, line: Line<'_>) -> Result<(), ReadError> {
        let (Line::Whole(bytes) | Line::TooLong(bytes)) = line;
        if bytes.contains(&0) {
            return Err(ReadError::Binary {
                name: self.name.to_owned(),
                line: number,
            });
        }
        if let Line::TooLong(_) = line {
            self.skipped.add(number, Reason::LineTooLong);
            return Ok(());
        }
        let bytes = match number {
            1 => bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
            _ => bytes,
        };
        if number - self.last_record > MOST_WITHOUT_RECORD {
            return Err(ReadError::NoRecords {
                name: self.name.to_owned(),
                line: number,
            });
        }
        match bytes.trim_ascii_start() {
            [] => Ok(()),
            text => self.take_text(number, text),
        }
    }

    fn take_text(&mut self, number: u64, text: &[u8]) -> Result<(), ReadError> {
        if self.parser.is_none() {
            match detect(text) {
                Detected::Comment(parser) | Detected::Record(parser) => self.parser = Some(parser),
                Detected::ColumnNames(parser) => {
                    self.parser = Some(parser);
                    return Ok(());
                }
                Detected::Unknown => {
                    return Err(ReadError::UnknownFormat {
                        name: self.name.to_owned(),
                        line: number,
                    });
                }
            }
        }
        if let [b';' | b'#', comment @ ..] = text {
            if self.jobs.is_empty() {
                self.header.add_comment(comment);
            }
            return Ok(());
        }
        self.take_record(number, text)
    }

    fn take_record(&mut self, number: u64, text: &[u8]) -> Result<(), ReadError> {
        let Some(parser) = &mut self.parser else {
            return Ok(());
        };
        self.last_record = number;
        match parser.parse(text, &mut self.oddities) {
            Ok(_) if self.jobs.len() >= self.most => {
                return Err(ReadError::TooManyJobs {
                    name: self.name.to_owned(),
                    line: number,
                    most: self.most,
                });
            }
            Ok(job) => {
                let early = self.jobs.last().is_some_and(|last| job.at < last.at);
                self.oddities.out_of_order += u64::from(early);
                if self.latest.0 < job.at {
                    self.latest = (job.at, number);
                }
                self.jobs.push(job);
            }
            Err(reason) => self.skipped.add(number, reason),
        }
        Ok(())
    }

    fn finish(mut self, lines: u64, origin: Origin) -> Result<Trace, ReadError> {
        if self.oddities.out_of_order > 0 {
            self.jobs.sort_by_key(|job| job.at);
        }
        let (Some(first), Some(parser)) = (self.jobs.first(), &self.parser) else {
            return Err(ReadError::NoUsableJob {
                name: self.name.to_owned(),
                lines,
                skipped: self.skipped,
            });
        };
        let (latest, line) = self.latest;
        if latest - first.at > LONGEST_TRACE {
            return Err(ReadError::TooFarApart {
                name: self.name.to_owned(),
                line,
                years: (latest - first.at).as_secs() / (365 * 86_400),
            });
        }
        let offset = match origin {
            Origin::FirstJob => first.at - Time::ZERO,
            Origin::Source => Span::ZERO,
        };
        for job in &mut self.jobs {
            job.at = job.at - offset;
        }
        Ok(Trace {
            format: parser.format(),
            workload: Workload {
                name: self.name.to_owned(),
                jobs: self.jobs,
                ..Workload::default()
            },
            header: self.header,
            offset,
            skipped: self.skipped,
            oddities: self.oddities,
        })
    }
}

impl Trace {
    /// Time zero of the workload, in seconds since 1970, if the trace says it: in its header (SWF), or in its submit
    /// times (GWF).
    pub fn unix_start(&self) -> Option<u64> {
        match self.format {
            Format::Swf => {
                let start = self.header.unix_start_time()?;
                Some(start.saturating_add(self.offset.as_secs()))
            }
            Format::Gwf => Some(self.offset.as_secs()).filter(|&start| start > 0),
            Format::Opendc => None,
        }
    }
}
