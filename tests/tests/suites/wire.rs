//! The wire format: caps, vectors, the specification, and what decoding costs.

use core::num::NonZeroU32;
use std::path::PathBuf;

use allocation_counter::measure;
use gridweave_core::admission::Needs;
use gridweave_core::commit::{Everyone, Message as Vote};
use gridweave_core::custody;
use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Criterion, Demand, Job};
use gridweave_core::profile::{Coordinate, Profile};
use gridweave_core::queue::{Policy, SiteQueue};
use gridweave_core::resource::{Capability, Dimensions, Kind, Requirement, Speed};
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::aria::{self, Aria, Membership, Site};
use gridweave_core::scheduler::asap::{self, Asap};
use gridweave_core::scheduler::criteria::{self, Criteria, OnlyStandard};
use gridweave_core::scheduler::desktop::{self, Desktop, Equipment};
use gridweave_core::time::Span;
use gridweave_core::wire::{self, Framed, NotEncoded, Protocol, Refused};
use gridweave_tests::scaled;
use gridweave_tests::wire::grammar::{Grammar, Read};
use gridweave_tests::wire::grid::{self, Said};
use gridweave_tests::wire::{
    Each, Fill, Largest, Path, Random, Sample, Visit, paths, vectors, visit_all,
};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

fn vector_file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors/wire.txt")
}

fn entry_file() -> PathBuf {
    vector_file().with_file_name("records.txt")
}

fn specification() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/wire.md")
}

/// In a debug build, a message of many bytes is decoded by itself, and not again inside of other messages.
fn is_decoded(path: &Path) -> bool {
    !cfg!(debug_assertions) || path.numbers.len() == 1 || path.cap < 100_000
}

#[test]
fn the_largest_message_of_each_kind_is_exactly_as_long_as_its_cap() {
    struct Largests(usize);
    impl Visit for Largests {
        fn visit<M: Each>(&mut self) {
            let (messages, paths) = (M::each(&mut Largest), paths(M::KINDS));
            assert_eq!(messages.len(), paths.len());
            for (message, path) in messages.iter().zip(paths) {
                let frame = wire::encode(message).expect("it is not too long");
                assert_eq!(frame.len(), path.cap, "{:?} {}", M::PROTOCOL, path.name);
                if is_decoded(&path) {
                    assert_eq!(wire::decode::<M>(&frame).as_ref(), Ok(message));
                }
                // One byte more is not even looked at.
                let longer = [&frame[..], &[0]].concat();
                let refused = wire::decode::<M>(&longer).expect_err("it is too long");
                assert!(
                    matches!(refused, Refused::TooLong { length, cap, .. } if length == cap + 1),
                    "{refused:?}"
                );
                self.0 += 1;
            }
        }
    }
    let mut largests = Largests(0);
    visit_all(&mut largests);
    assert!(largests.0 > 100, "only {} kinds", largests.0);
}

#[test]
fn kinds_are_numbered_in_the_order_of_the_variants() {
    struct Numbers;
    impl Visit for Numbers {
        fn visit<M: Each>(&mut self) {
            for (message, path) in M::each(&mut Sample::default()).iter().zip(paths(M::KINDS)) {
                let frame = wire::encode(message).expect("it is not too long");
                assert_eq!(frame[2..2 + path.numbers.len()], path.numbers);
                let kind = M::KINDS[usize::from(path.numbers[0])];
                assert_eq!(kind.name(), message.kind());
                assert!(path.name.starts_with(message.kind()));
            }
        }
    }
    visit_all(&mut Numbers);
}

#[test]
fn any_message_survives_and_no_cut_or_longer_one_does() {
    struct RoundTrips(u64);
    impl Visit for RoundTrips {
        fn visit<M: Each>(&mut self) {
            for message in M::each(&mut Random::new(self.0)) {
                let frame = wire::encode(&message).expect("it is not too long");
                let mut room = vec![0; frame.len()];
                assert_eq!(wire::encode_into(&message, &mut room), Ok(frame.len()));
                assert_eq!(room, frame);
                let less = room.len() - 1;
                assert_eq!(
                    wire::encode_into(&message, &mut room[..less]),
                    Err(NotEncoded::NoRoom)
                );
                assert_eq!(wire::decode::<M>(&frame).as_ref(), Ok(&message));
                for end in (0..frame.len()).step_by(1 + frame.len() / 64) {
                    let refused = wire::decode::<M>(&frame[..end]).expect_err("it is cut");
                    let said = matches!(refused, Refused::Empty | Refused::CutShort { .. });
                    // A shorter list may be no schedule any more.
                    assert!(said, "cut at {end}: {refused:?}");
                }
                let refused = wire::decode::<M>(&[&frame[..], &[7]].concat());
                let at = frame.len();
                assert!(
                    refused == Err(Refused::Trailing { at })
                        || matches!(refused, Err(Refused::TooLong { .. })),
                    "{refused:?}"
                );
            }
        }
    }
    for seed in 0..u64::from(scaled(60, 15)) {
        println!("seed {seed}");
        visit_all(&mut RoundTrips(seed));
    }
}

#[test]
fn a_message_beyond_its_cap_is_not_encoded() {
    let mut offers = asap::Message::<8>::each(&mut Largest);
    let found = offers.iter_mut().find_map(|message| match message {
        asap::Message::Found { offer, .. } => Some(offer),
        _ => None,
    });
    let offer = found.expect("there is one of each kind");
    let last = *offer.nodes.last().expect("it has many");
    offer.nodes.push(last);
    let found = offers.iter().find(|message| message.kind() == "Found");
    let refused = wire::encode(found.expect("it is still there"));
    assert!(
        matches!(refused, Err(NotEncoded::TooLong { kind: "Found", length, cap }) if length == cap + 10),
        "{refused:?}"
    );
}

#[test]
fn the_vectors_are_what_the_file_says() {
    let file = std::fs::read_to_string(vector_file()).expect("it is part of the repository");
    let (accepted, denied) = vectors::parse(&file).expect("it has three lines for each");
    assert!(accepted.len() > 100 && denied.len() > 20);
    for vector in accepted {
        let outcome = vectors::outcome(&vector.protocol, &vector.frame);
        assert_eq!(outcome, Some(Ok(vector.message)), "{}", vector.kind);
    }
    for vector in denied {
        let outcome = vectors::outcome(&vector.protocol, &vector.frame);
        assert_eq!(outcome, Some(Err(vector.refused)), "{}", vector.wrong);
    }
    assert!(
        file == vectors::text(),
        "the bytes of a message changed: see docs/reference/wire.md on versions, then run `regenerate_the_vectors_and_the_caps`"
    );
}

#[test]
fn the_vectors_of_records_are_what_the_file_says() {
    let file = std::fs::read_to_string(entry_file()).expect("it is part of the repository");
    let entries = vectors::parse_entries(&file).expect("it has three lines for each");
    assert!(entries.len() > 50);
    for entry in entries {
        let read = vectors::read_entry(&entry.protocol, &entry.bytes);
        assert_eq!(read, Some(Ok(entry.record)), "{}", entry.protocol);
    }
    assert!(
        file == vectors::text_of_entries(),
        "the bytes of a record changed: see docs/reference/wire.md on versions, then run `regenerate_the_vectors_and_the_caps`"
    );
}

#[test]
fn the_specification_has_the_caps_of_the_code() {
    let text = std::fs::read_to_string(specification()).expect("it is part of the repository");
    assert!(
        text.contains(&vectors::caps()),
        "run `regenerate_the_vectors_and_the_caps`"
    );
}

fn grammar() -> Grammar {
    let file = specification().with_file_name("wire-grammar.txt");
    let text = std::fs::read_to_string(file).expect("it is part of the repository");
    Grammar::parse(&text, [("L", 8), ("G", 10), ("D", 5)]).expect("the grammar can be read")
}

#[test]
fn a_reader_that_knows_only_the_specification_reads_every_message_and_the_nodes_that_it_mentions() {
    struct Reading {
        grammar: Grammar,
        read: Read,
        nodes: usize,
        seed: u64,
    }
    impl Visit for Reading {
        fn visit<M: Each>(&mut self) {
            let name = M::PROTOCOL.name().expect("it is one of the core");
            let number = M::PROTOCOL.number();
            for message in M::each(&mut Random::new(self.seed)) {
                let frame = wire::encode(&message).expect("it is not too long");
                self.read.nodes.clear();
                let read = self.grammar.read(name, number, &frame, &mut self.read);
                assert_eq!(read, Ok(()), "{name} {message:?}");
                let mut mentioned = Vec::new();
                message.mentions(&mut |node| mentioned.push(node.get()));
                assert_eq!(mentioned, self.read.nodes, "{name} {message:?}");
                self.nodes += mentioned.len();
            }
            for path in paths(M::KINDS) {
                let kind = self.grammar.kind(name, &path.numbers);
                assert_eq!(kind, Ok((path.name, path.cap)), "{name}");
            }
        }
    }
    let mut reading = Reading {
        grammar: grammar(),
        read: Read::default(),
        nodes: 0,
        seed: 0,
    };
    for seed in 0..60 {
        reading.seed = seed;
        visit_all(&mut reading);
    }
    // Why a job is refused is deep inside of few messages.
    for seed in 60..9_000 {
        reading.seed = seed;
        reading.visit::<custody::Message>();
    }
    assert!(reading.nodes > 10_000, "only {} nodes", reading.nodes);
    // And there is nothing in it that no message has.
    assert_eq!(reading.read.variants, reading.grammar.variants());
}

#[test]
fn a_reader_that_knows_only_the_grammar_refuses_all_but_what_breaks_a_rule_beside_it() {
    let (_, denied) = vectors::parse(&vectors::text()).expect("it has three lines for each");
    let mut rules = Vec::new();
    for vector in denied {
        let number = (1..20).map(Protocol::new);
        let number = number
            .filter(|number| number.name() == Some(&vector.protocol))
            .map(Protocol::number)
            .next()
            .expect("it is a protocol of the core");
        let read = grammar().read(
            &vector.protocol,
            number,
            &vector.frame,
            &mut Read::default(),
        );
        if read.is_ok() {
            rules.push(vector.wrong);
        }
    }
    let beside = [
        "an interval that ends where it starts",
        "a point beyond the space, which would be read as one inside",
        "a schedule whose windows touch",
        "default attributes that are spelled out",
        "organisations that are not in order",
        "a job that takes no time",
        "a job on no node",
    ];
    assert_eq!(rules, beside);
}

/// A job for so many nodes, or for one with so many cores.
fn job(number: u64, demand: u32) -> Job {
    let demand = Demand::Nodes(NonZeroU32::new(demand).unwrap());
    Job::new(JobId::new(number), demand, Span::from_secs(600)).unwrap()
}

fn ids(count: u64) -> impl Iterator<Item = (NodeId, Bootstrap)> {
    (0..count).map(|number| {
        let bootstrap = match number {
            0 => Bootstrap::Alone,
            _ => Bootstrap::Join(NodeId::new(0).into()),
        };
        (NodeId::new(number), bootstrap)
    })
}

fn assert_said(said: &Said, jobs: usize, kinds: &[&str]) {
    println!("{} frames: {said:#?}", said.frames());
    assert_eq!(said.finished, jobs);
    // Each of the eight nodes begins a life, and each job is written down somewhere.
    assert!(said.written >= 8 + jobs, "only {} records", said.written);
    for kind in kinds {
        assert!(said.kinds.contains_key(*kind), "no node said {kind}");
    }
}

#[test]
fn a_grid_of_asap_works_over_the_wire() {
    let nodes = ids(8)
        .map(|(id, bootstrap)| Asap::<20, 8>::new(id, Default::default(), bootstrap, Everyone));
    let nodes: Vec<_> = nodes.collect::<Result<_, _>>().unwrap();
    let jobs = [
        (400, 3, job(1, 5)),
        (400, 4, job(2, 6)),
        (410, 0, job(3, 2)),
    ];
    let said = grid::run(nodes, &jobs, scaled(6_000, 2_400).into());
    let kinds = [
        "Overlay.Shuffle",
        "Commit.Prepare",
        "Search",
        "Found",
        "Schedule.Changed",
        "Others",
    ];
    assert_said(&said, 3, &kinds);
}

#[test]
fn a_grid_of_criteria_works_over_the_wire() {
    let nodes = ids(8).map(|(id, bootstrap)| {
        let place = Coordinate::at([id.get() as i32 * 1000, 0, 0]);
        let (config, profile) = (criteria::Config::DEFAULT, Profile::at(place));
        Criteria::<20, 8, 10>::new(id, config, bootstrap, profile, OnlyStandard, Everyone)
    });
    let nodes: Vec<_> = nodes.collect::<Result<_, _>>().unwrap();
    let mut near = job(1, 4);
    near.criterion = Criterion::Closest;
    let said = grid::run(
        nodes,
        &[(600, 3, near), (600, 4, job(2, 3))],
        scaled(6_000, 2_400).into(),
    );
    let kinds = [
        "Overlay.Shuffle",
        "Helper",
        "Commit.Prepare",
        "Look",
        "Seen",
    ];
    assert_said(&said, 2, &kinds);
}

#[test]
fn a_grid_of_aria_works_over_the_wire() {
    let nodes = ids(8).map(|(id, bootstrap)| {
        let site = Site {
            dimensions: Dimensions::new(&[]).unwrap(),
            capability: Capability::none(),
            membership: Membership::default(),
            local: SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 99),
        };
        Aria::new(id, aria::Config::DEFAULT, bootstrap, site)
    });
    let nodes: Vec<_> = nodes.collect::<Result<_, _>>().unwrap();
    let jobs: Vec<_> = (0..24).map(|number| (600, 3, job(number, 1))).collect();
    // Jobs that come together fill the sites with the best offers first, and then move.
    let said = grid::run(nodes, &jobs, scaled(9_000, 9_000).into());
    let kinds = [
        "Overlay.Blatant.Ant",
        "Request",
        "Inform",
        "Accept",
        "Custody.Give",
        "Custody.Report",
        "Custody.Verdict",
    ];
    assert_said(&said, 24, &kinds);
}

#[test]
fn a_grid_of_desktop_works_over_the_wire() {
    let names = [("cores", Kind::Amount), ("memory", Kind::Amount)];
    let dimensions = Dimensions::new(&names).unwrap();
    let cores = dimensions.named("cores").unwrap();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let config = desktop::Config::new(dimensions.capability(&[64, 64]).unwrap());
    let nodes = (0..8).map(|number| {
        let bootstrap = match number {
            0 => desktop::Bootstrap::Alone,
            _ => desktop::Bootstrap::Join(NodeId::new(0).into()),
        };
        let equipment = Equipment {
            dimensions: dimensions.clone(),
            cores,
            capability: dimensions.capability(&[2 + number % 4, 8]).unwrap(),
            speed: Speed::BASELINE,
        };
        Desktop::<3>::new(NodeId::new(number), config, bootstrap, equipment, &mut rng)
    });
    let nodes: Vec<_> = nodes.collect::<Result<_, _>>().unwrap();
    let wanted = (0..24).map(|number| {
        let mut job = job(number, 1);
        job.requirement = Requirement::any().with(cores, 1 + number % 4);
        (600, 1 + number as usize % 3, job)
    });
    let said = grid::run(
        nodes,
        &wanted.collect::<Vec<_>>(),
        scaled(12_000, 4_000).into(),
    );
    let kinds = [
        "Overlay.Grant",
        "Overlay.Heartbeat",
        "Owners.Give",
        "Runs.Give",
        "Errand.Route",
        "Found",
    ];
    assert_said(&said, 24, &kinds);
}

/// `cargo test -p gridweave-tests --test suites -- --ignored regenerate_the_vectors_and_the_caps`
#[test]
#[ignore = "writes the vectors and the table of caps"]
fn regenerate_the_vectors_and_the_caps() {
    std::fs::write(vector_file(), vectors::text()).expect("it can be written");
    std::fs::write(entry_file(), vectors::text_of_entries()).expect("it can be written");
    let text = std::fs::read_to_string(specification()).expect("it is part of the repository");
    let (begin, end) = ("<!-- caps -->\n", "<!-- end of caps -->");
    let (before, rest) = text.split_once(begin).expect("the table has a beginning");
    let (_, after) = rest.split_once(end).expect("the table has an end");
    let text = [before, begin, &vectors::caps(), end, after].concat();
    std::fs::write(specification(), text).expect("it can be written");
}

/// Numbers of one byte, and lists that are full: what takes most memory for its bytes.
struct Dense;

impl Fill for Dense {
    fn number(&mut self, _: u64) -> u64 {
        1
    }

    fn count(&mut self, most: usize) -> usize {
        most
    }

    fn variant(&mut self, variants: usize) -> usize {
        variants - 1
    }
}

/// Numbers of one byte, and lists that claim to be full of lists that are empty.
#[derive(Default)]
struct Hollow {
    lists: usize,
}

impl Fill for Hollow {
    fn number(&mut self, _: u64) -> u64 {
        1
    }

    fn count(&mut self, most: usize) -> usize {
        self.lists += 1;
        if self.lists == 1 { most } else { 0 }
    }

    fn variant(&mut self, _: usize) -> usize {
        0
    }
}

#[test]
fn decoding_takes_no_more_memory_than_the_cap_allows() {
    struct Costs {
        largest: f64,
        frames: usize,
    }
    impl Costs {
        fn count<M: Each>(&mut self, frame: &[u8], cap: usize) {
            let counted = measure(|| {
                let _ = std::hint::black_box(wire::decode::<M>(std::hint::black_box(frame)));
            });
            let share = counted.bytes_max as f64 / cap as f64;
            self.largest = self.largest.max(share);
            self.frames += 1;
            let (protocol, length) = (M::PROTOCOL, frame.len());
            assert!(
                counted.bytes_max <= MOST_PER_CAP * cap as u64,
                "{protocol:?}: {} bytes of memory for {length} bytes, cap {cap}",
                counted.bytes_max
            );
        }
    }
    impl Visit for Costs {
        fn visit<M: Each>(&mut self) {
            let mut hollow = Hollow::default();
            let fills: [&mut dyn Fill; 4] =
                [&mut Largest, &mut Dense, &mut hollow, &mut Random::new(1)];
            // A debug build leaves out the largest: what is dense takes more memory for its bytes.
            for fill in fills.into_iter().skip(scaled(0, 1) as usize) {
                let messages = M::each(fill);
                let all = messages.iter().zip(paths(M::KINDS));
                for (message, path) in all.filter(|(_, path)| is_decoded(path)) {
                    let mut frame = wire::encode(message).expect("it is not too long");
                    self.count::<M>(&frame, path.cap);
                    // Every small number in turn becomes a length, or something, that claims the most there is.
                    let most = scaled(200, if frame.len() < 5_000 { 8 } else { 0 }) as usize;
                    for at in (3..frame.len().min(most)).rev() {
                        frame.splice(at..=at, [0xff, 0xff, 0x03]);
                        self.count::<M>(&frame, path.cap);
                        frame.splice(at..at + 3, [1]);
                    }
                    frame.truncate(frame.len() / 2);
                    self.count::<M>(&frame, path.cap);
                }
            }
        }
    }
    let mut costs = Costs {
        largest: 0.0,
        frames: 0,
    };
    visit_all(&mut costs);
    println!(
        "{} frames, at most {:.2} bytes for each of the cap",
        costs.frames, costs.largest
    );
    assert!(
        costs.frames > scaled(5_000, 500) as usize && costs.largest > 0.1,
        "nothing counts"
    );
}

/// How many bytes of memory decoding takes for each byte of the cap, at most: docs/reference/wire.md says so.
const MOST_PER_CAP: u64 = 4;

#[test]
fn looking_at_a_frame_that_is_too_long_allocates_nothing() {
    let long = [&[wire::VERSION, 16, 0, 0][..], &[1; 100_000]].concat();
    let counted = measure(|| {
        let refused = wire::decode::<asap::Message<8>>(&long);
        assert!(matches!(
            refused,
            Err(Refused::TooLong {
                kind: "Shuffle",
                ..
            })
        ));
    });
    assert_eq!(counted.count_total, 0);
}

#[test]
fn gossip_is_encoded_and_decoded_without_allocation() {
    let messages = asap::Message::<8>::each(&mut Largest);
    let mut room = [0; 2048];
    for message in &messages {
        // A payload and the nodes of an attempt travel once, when it is decided who runs the job. What a job needs is
        // behind a pointer, if it needs anything.
        let small = match message {
            asap::Message::Commit(vote) => {
                !matches!(vote, Vote::Prepare { .. } | Vote::Commit { .. })
            }
            asap::Message::Search { wanted, .. } => wanted.needs == Needs::NOTHING,
            asap::Message::Overlay(_) => true,
            _ => false,
        };
        if small {
            let counted = measure(|| {
                let length = wire::encode_into(message, &mut room).expect("there is room");
                let read = wire::decode::<asap::Message<8>>(&room[..length]);
                assert_eq!(read.as_ref(), Ok(message));
            });
            assert_eq!(counted.count_total, 0, "{message:?}");
        }
    }
}
