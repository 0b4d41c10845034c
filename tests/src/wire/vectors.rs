//! The test vectors of messages and records, and the table of caps, made from the code to be compared with the files.

use core::fmt::{Debug, Write};

use gridweave_core::heartbeat;
use gridweave_core::overlay::{blatant, can, cyclon};
use gridweave_core::scheduler::aria::links;
use gridweave_core::scheduler::{aria, asap, criteria, desktop};
use gridweave_core::wire::{self, Framed, Protocol, Refused, Stored, VERSION};
use gridweave_core::{commit, custody};

use super::shapes::shapes;
use super::{Each, Sample, Visit, paths, visit_all};

/// A frame that decodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accepted {
    /// The name of the protocol.
    pub protocol: String,
    /// The names of the kinds.
    pub kind: String,
    /// The message, as Rust prints it.
    pub message: String,
    /// The bytes.
    pub frame: Vec<u8>,
}

/// A frame that must be refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Denied {
    /// The name of the protocol that is expected.
    pub protocol: String,
    /// What is wrong, in words.
    pub wrong: String,
    /// The refusal, as Rust prints it.
    pub refused: String,
    /// The bytes.
    pub frame: Vec<u8>,
}

/// A message of each kind of each protocol.
pub fn accepted() -> Vec<Accepted> {
    struct All(Vec<Accepted>);
    impl Visit for All {
        fn visit<M: Each>(&mut self) {
            let messages = M::each(&mut Sample::default());
            for (message, path) in messages.iter().zip(paths(M::KINDS)) {
                self.0.push(Accepted {
                    protocol: name_of::<M>(),
                    kind: path.name,
                    message: format!("{message:?}"),
                    frame: wire::encode(message).expect("a small message can be encoded"),
                });
            }
        }
    }
    let mut all = All(Vec::new());
    visit_all(&mut all);
    all.0
}

/// Frames with every sort of mistake, and the refusal of each.
pub fn denied() -> Vec<Denied> {
    let mut all = Vec::new();
    let ping = [VERSION, 1, 0, 3, 4];
    let ping_with = |at: usize, bytes: &[u8]| {
        let mut frame = ping.to_vec();
        frame.splice(at..=at, bytes.iter().copied());
        frame
    };
    let long_number = |bytes: usize, last: u8| {
        let mut number = vec![0xff; bytes - 1];
        number.push(last);
        number
    };
    let mut beat = |wrong, frame: &[u8], refused| {
        all.push(deny::<heartbeat::Message>(wrong, frame, refused));
    };
    beat("nothing at all", &[], Refused::Empty);
    beat(
        "a version that never was",
        &[0],
        Refused::Version {
            found: 0,
            understood: VERSION,
        },
    );
    beat(
        "the next version",
        &ping_with(0, &[VERSION + 1]),
        Refused::Version {
            found: VERSION + 1,
            understood: VERSION,
        },
    );
    beat("only the version", &ping[..1], Refused::CutShort { at: 1 });
    let (found, expected) = (Protocol::CYCLON, Protocol::HEARTBEAT);
    beat(
        "another protocol",
        &ping_with(1, &[2]),
        Refused::Protocol { found, expected },
    );
    beat(
        "a protocol that does not exist",
        &ping_with(1, &[0xff]),
        Refused::Protocol {
            found: Protocol::new(0xff),
            expected,
        },
    );
    beat("no kind", &ping[..2], Refused::CutShort { at: 2 });
    beat(
        "a kind that there is not",
        &ping_with(2, &[2]),
        Refused::UnknownKind { at: 2, found: 2 },
    );
    beat(
        "kind 0 in two bytes",
        &ping_with(2, &[0x80, 0]),
        Refused::UnknownKind { at: 2, found: 0x80 },
    );
    beat(
        "cut before its last field",
        &ping[..4],
        Refused::CutShort { at: 4 },
    );
    beat(
        "cut inside a number",
        &ping_with(4, &[0x84]),
        Refused::CutShort { at: 5 },
    );
    beat(
        "one byte too much",
        &[&ping[..], &[0]].concat(),
        Refused::Trailing { at: 5 },
    );
    beat(
        "a number in more bytes than it takes",
        &ping_with(3, &[0x83, 0]),
        Refused::NotCanonical { at: 3 },
    );
    beat(
        "a number of 33 bits where 32 are",
        &ping_with(3, &long_number(5, 0x1f)),
        Refused::Malformed { at: 8 },
    );
    beat(
        "a number without end",
        &ping_with(3, &long_number(6, 0xff)),
        Refused::Malformed { at: 8 },
    );
    beat(
        "longer than any Ping",
        &[&ping[..], &[0; 9]].concat(),
        Refused::TooLong {
            kind: "Ping",
            length: 14,
            cap: 13,
        },
    );

    let links = |count: u8| [&[VERSION, 2, 0, 1, 1, count][..], &[1; 3 * 9]].concat();
    all.push(deny::<cyclon::Message<8>>(
        "nine links where eight may be",
        &links(9),
        Refused::WrongCount {
            at: 6,
            found: 9,
            least: 0,
            most: 8,
        },
    ));
    all.push(deny::<cyclon::Message<8>>(
        "fewer links than it says",
        &links(8)[..20],
        Refused::CutShort { at: 20 },
    ));
    all.push(deny::<commit::Message>(
        "an interval that ends where it starts",
        &[VERSION, 6, 0, 1, 2, 7, 7, 9, 1, 1, 0, 0],
        Refused::Malformed { at: 7 },
    ));
    all.push(deny::<custody::Message>(
        "an answer that there is not",
        &[VERSION, 7, 1, 1, 0, 1, 1, 2],
        Refused::Malformed { at: 8 },
    ));
    let end = [0xff, 0xff, 0xff, 0xff, 0x0f];
    let point = |dimensions: u8, last: &[u8]| {
        let mut frame = vec![VERSION, 5, 0, 1, 1, dimensions];
        frame.extend(vec![2; usize::from(dimensions) - 1]);
        frame.extend(last);
        frame.push(9);
        frame
    };
    all.push(deny::<can::Message<5>>(
        "a point beyond the space, which would be read as one inside",
        &point(5, &end),
        Refused::NotCanonical { at: 10 },
    ));
    all.push(deny::<can::Message<5>>(
        "a point of four dimensions where there are five",
        &point(4, &[2]),
        Refused::WrongCount {
            at: 6,
            found: 4,
            least: 5,
            most: 5,
        },
    ));
    all.push(deny::<asap::Message<8>>(
        "a kind of the overlay that there is not",
        &[VERSION, 16, 0, 5],
        Refused::UnknownKind { at: 3, found: 5 },
    ));
    all.push(deny::<asap::Message<8>>(
        "an option that is neither there nor not",
        &[VERSION, 16, 9, 2, 1],
        Refused::Malformed { at: 4 },
    ));
    all.push(deny::<asap::Message<8>>(
        "a reason that there is not",
        &[VERSION, 16, 7, 4],
        Refused::UnknownKind { at: 3, found: 4 },
    ));
    all.push(deny::<asap::Message<8>>(
        "a schedule whose windows touch",
        &[VERSION, 16, 8, 0, 0, 1, 9, 2, 1, 2, 2, 3],
        Refused::Malformed { at: 12 },
    ));
    let stated = |admission: &[u8]| {
        let mut frame = vec![VERSION, 16, 8, 0, 1, 0];
        frame.extend(admission);
        frame.extend([0; 8]);
        frame.extend([1, 9, 0]);
        frame
    };
    all.push(deny::<asap::Message<8>>(
        "default attributes that are spelled out",
        &stated(&[0]),
        Refused::NotCanonical { at: 4 },
    ));
    all.push(deny::<asap::Message<8>>(
        "organisations that are not in order",
        &stated(&[2, 2, 7, 6]),
        Refused::Malformed { at: 10 },
    ));
    let mut many = vec![3, 17];
    many.extend(1..=17);
    all.push(deny::<asap::Message<8>>(
        "seventeen organisations where sixteen may be",
        &stated(&many),
        Refused::Malformed { at: 25 },
    ));
    all.push(deny::<asap::Message<8>>(
        "an offer that claims more nodes than may be, in a few bytes",
        &[VERSION, 16, 3, 1, 1, 1, 1, 0x80, 0x80, 0x80, 0x80, 0x08],
        Refused::CutShort { at: 12 },
    ));
    let job = |estimate: u8, count: u8| {
        let mut frame = vec![VERSION, 18, 4, 0, 1, 1, 1, 1, 0, count];
        frame.extend([0; 8]);
        frame.extend([estimate, 0, 0, 0, 0, 2, 0, 1, 1, 0, 0]);
        frame
    };
    all.push(deny::<aria::Message>(
        "a job that takes no time",
        &job(0, 1),
        Refused::Malformed { at: 19 },
    ));
    all.push(deny::<aria::Message>(
        "a job on no node",
        &job(1, 0),
        Refused::Malformed { at: 10 },
    ));
    let mut answer = vec![VERSION, 19, 8, 1, 2];
    answer.extend([0; 8 * 3]);
    answer.extend([1; 4]);
    all.push(deny::<desktop::Message<5>>(
        "a yes or no that is neither",
        &answer,
        Refused::Malformed { at: 5 },
    ));
    all
}

fn deny<M: Framed>(wrong: &str, frame: &[u8], refused: Refused) -> Denied {
    assert_eq!(wire::decode::<M>(frame).err(), Some(refused), "{wrong}");
    Denied {
        protocol: name_of::<M>(),
        wrong: wrong.to_owned(),
        refused: format!("{refused:?}"),
        frame: frame.to_vec(),
    }
}

fn name_of<M: Framed>() -> String {
    let name = M::PROTOCOL.name();
    name.expect("it is a protocol of the core").to_owned()
}

/// The file of vectors.
pub fn text() -> String {
    let mut text = String::from(INTRODUCTION);
    for vector in accepted() {
        let Accepted {
            protocol,
            kind,
            message,
            frame,
        } = vector;
        let _ = write!(text, "\naccepted {protocol} {kind}\n{message}\n");
        let _ = writeln!(text, "{}", hex(&frame));
    }
    for vector in denied() {
        let Denied {
            protocol,
            wrong,
            refused,
            frame,
        } = vector;
        let _ = write!(text, "\nrefused {protocol} {wrong}\n{refused}\n");
        let _ = writeln!(text, "{}", hex(&frame));
    }
    text
}

/// An entry of a store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The name of the protocol.
    pub protocol: String,
    /// The key and the record, as Rust prints them.
    pub record: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// An operation on the records of a machine.
trait VisitStored {
    fn visit<R: Stored<Key: Debug + PartialEq> + Debug + PartialEq>(&mut self);
}

fn visit_stored(visit: &mut impl VisitStored) {
    visit.visit::<cyclon::Record>();
    visit.visit::<blatant::Record>();
    visit.visit::<can::Record>();
    visit.visit::<commit::Record>();
    visit.visit::<custody::Record>();
    visit.visit::<links::Record>();
    visit.visit::<asap::Record>();
    visit.visit::<criteria::Record>();
    visit.visit::<aria::Record>();
    visit.visit::<desktop::Record>();
}

fn name_of_stored<R: Stored>() -> String {
    let name = R::PROTOCOL.name();
    name.expect("it is a protocol of the core").to_owned()
}

/// Entries that have each variant of each key and record between them.
pub fn entries() -> Vec<Entry> {
    struct All(Vec<Entry>);
    impl VisitStored for All {
        fn visit<R: Stored<Key: Debug + PartialEq> + Debug + PartialEq>(&mut self) {
            let (pairs, missing) = shapes::<(R::Key, R)>();
            assert!(missing.is_empty(), "no entry has {missing:?}");
            for (key, record) in pairs {
                self.0.push(Entry {
                    protocol: name_of_stored::<R>(),
                    record: format!("{key:?} {record:?}"),
                    bytes: wire::encode_record(&key, &record).expect("it is not too long"),
                });
            }
        }
    }
    let mut all = All(Vec::new());
    visit_stored(&mut all);
    all.0
}

/// The file of entries.
pub fn text_of_entries() -> String {
    let mut text = String::from(INTRODUCTION_TO_ENTRIES);
    for entry in entries() {
        let Entry {
            protocol,
            record,
            bytes,
        } = entry;
        let _ = write!(text, "\n{protocol}\n{record}\n{}\n", hex(&bytes));
    }
    text
}

/// Reads a file of entries.
pub fn parse_entries(text: &str) -> Result<Vec<Entry>, String> {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let entry = |lines: &[&str]| match lines {
        [protocol, record, bytes] => Ok(Entry {
            protocol: (*protocol).to_owned(),
            record: (*record).to_owned(),
            bytes: bytes_of(bytes)?,
        }),
        _ => Err(format!("{lines:?} are not three lines")),
    };
    lines.chunks(3).map(entry).collect()
}

/// What an entry says, as Rust prints it. Asserts that the same bytes are written for it.
pub fn read_entry(protocol: &str, bytes: &[u8]) -> Option<Result<String, Refused>> {
    struct Reading<'a>(&'a str, &'a [u8], Option<Result<String, Refused>>);
    impl VisitStored for Reading<'_> {
        fn visit<R: Stored<Key: Debug + PartialEq> + Debug + PartialEq>(&mut self) {
            if name_of_stored::<R>() == self.0 {
                let read = wire::decode_record::<R>(self.1).map(|(key, record)| {
                    let again = wire::encode_record(&key, &record);
                    assert_eq!(again.as_deref(), Ok(self.1));
                    format!("{key:?} {record:?}")
                });
                self.2 = Some(read);
            }
        }
    }
    let mut reading = Reading(protocol, bytes, None);
    visit_stored(&mut reading);
    reading.2
}

const INTRODUCTION_TO_ENTRIES: &str = "\
# Test vectors of Gridweave's records, version 1, which docs/reference/wire.md specifies.
# Each has three lines. The first: the protocol. The second: the key and the record, as Rust prints them; they are
# chosen apart. The third: the whole entry, in hexadecimal.
";

const INTRODUCTION: &str = "\
# Test vectors of Gridweave's wire format, version 2, which docs/reference/wire.md specifies.
# Each has three lines. The first: 'accepted', the protocol and the kind; or 'refused', the protocol that is
# expected, and what is wrong. The second: the message, or the reason of the refusal, as Rust prints it. The third:
# the whole frame, in hexadecimal; '-' if it has no bytes.
# A shuffle has room for eight links, an exchange for ten descriptors, and the space has five dimensions.
";

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".to_owned();
    }
    let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(" ")
}

/// Reads a file of vectors.
pub fn parse(text: &str) -> Result<(Vec<Accepted>, Vec<Denied>), String> {
    let (mut accepted, mut denied) = (Vec::new(), Vec::new());
    let mut lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    while let Some(first) = lines.next() {
        let missing = || format!("'{first}' has no three lines");
        let second = lines.next().ok_or_else(missing)?.to_owned();
        let frame = bytes_of(lines.next().ok_or_else(missing)?)?;
        let mut words = first.splitn(3, ' ').map(str::to_owned);
        match (words.next().as_deref(), words.next(), words.next()) {
            (Some("accepted"), Some(protocol), Some(kind)) => accepted.push(Accepted {
                protocol,
                kind,
                message: second,
                frame,
            }),
            (Some("refused"), Some(protocol), Some(wrong)) => denied.push(Denied {
                protocol,
                wrong,
                refused: second,
                frame,
            }),
            _ => return Err(format!("'{first}' begins no vector")),
        }
    }
    Ok((accepted, denied))
}

fn bytes_of(line: &str) -> Result<Vec<u8>, String> {
    if line == "-" {
        return Ok(Vec::new());
    }
    let byte = |pair| u8::from_str_radix(pair, 16).map_err(|error| format!("{pair}: {error}"));
    line.split(' ').map(byte).collect()
}

/// The result of decoding a frame: the message or the refusal, as Rust prints it. Asserts that it encodes to the frame.
pub fn outcome(protocol: &str, frame: &[u8]) -> Option<Result<String, String>> {
    struct Decoding<'a>(&'a str, &'a [u8], Option<Result<String, String>>);
    impl Visit for Decoding<'_> {
        fn visit<M: Each>(&mut self) {
            if name_of::<M>() == self.0 {
                let read = wire::decode::<M>(self.1).inspect(|message| {
                    assert_eq!(wire::encode(message).as_deref(), Ok(self.1));
                });
                let printed = read.map(|message| format!("{message:?}"));
                self.2 = Some(printed.map_err(|refused| format!("{refused:?}")));
            }
        }
    }
    let mut decoding = Decoding(protocol, frame, None);
    visit_all(&mut decoding);
    decoding.2
}

/// The table of kinds and caps.
pub fn caps() -> String {
    struct Table(String);
    impl Visit for Table {
        fn visit<M: Each>(&mut self) {
            let number = M::PROTOCOL.number();
            for path in paths(M::KINDS) {
                let numbers: Vec<String> = path.numbers.iter().map(u8::to_string).collect();
                let _ = writeln!(
                    self.0,
                    "| {} | {number} | {} | {} | {} |",
                    name_of::<M>(),
                    path.name,
                    numbers.join(" "),
                    path.cap
                );
            }
        }
    }
    let mut table = Table(String::from(
        "| protocol | number | kind | its bytes | most bytes of a frame |\n|---|---|---|---|---|\n",
    ));
    visit_all(&mut table);
    table.0
}
