//! The profile of a node, and the profiles of its neighbours.

use super::*;
use crate::commit::Members;
use Did::Send;

/// The profiles in the only overlay message to this node.
fn about(did: &[Did], to: u64) -> Vec<Descriptor> {
    let mut told = did.iter().filter_map(|did| match did {
        Send(node, Message::Overlay { about, .. }) if *node == to => Some(about),
        _ => None,
    });
    let about = told.next().expect("something was said");
    about.iter().cloned().collect()
}

#[test]
fn a_shuffle_carries_the_profiles_of_its_sender_and_of_known_neighbours() {
    let mut bench = Bench::meeting(CONFIG, &[1]);
    let did = bench.hear(4, shuffle(4, &[descriptor(4), descriptor(9)]));
    // The profile of 1 is unknown, and 9 is not in the view.
    let told = about(&did, 4);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].profile, profile(50));
    let did = bench.hear(5, shuffle(5, &[]));
    let ids: Vec<NodeId> = about(&did, 5).iter().map(|known| known.id).collect();
    assert_eq!(ids, [ME, id(4)]);
    // The profile of 4 stays known, though no message repeats it.
    let did = bench.hear(6, shuffle(6, &[]));
    let ids: Vec<NodeId> = about(&did, 6).iter().map(|known| known.id).collect();
    assert_eq!(ids, [ME, id(4)]);
}

#[test]
fn a_node_that_drains_is_busy_for_ever_and_free_again_when_it_resumes() {
    let mut bench = Bench::meeting(CONFIG, &[1]);
    for (command, free) in [
        (Command::Drain, Interval::LAST),
        (Command::Resume, Interval::ALWAYS),
    ] {
        bench.obey(command);
        assert_eq!(bench.machine().profile().free, free);
    }
    let did = bench.hear(9, look(1, Through::NoLink));
    let [Send(9, Message::Seen { own, schedule, .. })] = did.as_slice() else {
        panic!("{did:?}");
    };
    assert_eq!(own.profile, profile(50));
    assert_eq!(schedule.windows(), []);
    assert_eq!(schedule.horizon(), Time::MAX);
}

#[test]
fn a_look_is_answered_with_the_schedule_and_links_of_the_kind_asked_for() {
    let mut bench = Bench::meeting(CONFIG, &[1]);
    bench.meet(4);
    let links = |did: Effects| {
        let [Send(9, Message::Seen { own, links, .. })] = did.as_slice() else {
            panic!("{did:?}");
        };
        assert_eq!((own.id, own.profile.clone()), (ME, profile(50)));
        let ids: Vec<u64> = links.iter().map(|link| link.id.get()).collect();
        ids
    };
    assert_eq!(links(bench.hear(9, look(1, Through::Random))), [1, 4]);
    assert!(links(bench.hear(9, look(2, Through::NoLink))).is_empty());
    assert!(links(bench.hear(9, look(3, Through::Helper(9)))).is_empty());
    // A helper overlay has no links before its first exchange.
    assert!(links(bench.hear(9, look(4, Through::Helper(0)))).is_empty());
    let request = vicinity::Message::Request {
        exchange: vicinity::ExchangeId(0),
        descriptors: [descriptor(8)].into_iter().collect(),
    };
    bench.hear(
        8,
        Message::Helper {
            number: 0,
            message: Shared::new(request),
        },
    );
    assert_eq!(links(bench.hear(9, look(5, Through::Helper(0)))), [8, 4]);
}

#[test]
fn committed_time_is_busy_in_the_schedule_and_in_the_profile() {
    let mut bench = Bench::meeting(CONFIG, &[1]);
    let before = bench.machine().descriptor().version;
    let attempt = attempt(9, 1);
    bench.vote(4, prepare_vote(attempt, 120));
    bench.vote(
        4,
        Vote::Commit {
            attempt,
            members: Shared::new(Members::default()),
        },
    );
    assert_eq!(bench.machine().schedule.windows(), [busy(120, 180)]);
    assert_eq!(bench.machine().profile().free, busy(0, 120));
    assert!(bench.machine().descriptor().version > before);
    // The next cycle of the overlay updates the first free window.
    let (at, timer) = bench.pending(|timer| matches!(timer, Timer::Overlay(_)));
    assert!(at > second(180));
    bench.now = second(120);
    bench.feed(Event::Timer(timer));
    assert_eq!(bench.machine().profile().free.start(), second(180));
}

fn prepare_vote(attempt: Attempt, start: u64) -> Vote {
    match prepare(attempt, start) {
        Message::Commit(vote) => vote,
        _ => unreachable!("it is a vote"),
    }
}

/// A node that learns its coordinate, and shuffles every 256 seconds, from second 1 on.
fn learner() -> Bench {
    let config = Config {
        overlay: cyclon::Config {
            period: Span::from_secs(256),
            timeout: Span::from_secs(100),
            ..CONFIG.overlay
        },
        helper: vicinity::Config {
            period: Span::from_secs(256),
            ..CONFIG.helper
        },
        coordinates: Coordinates::Learned(vivaldi::Config::DEFAULT),
        ..CONFIG
    };
    Bench::meeting(config, &[1])
}

/// The answer to the shuffle among these effects, from node 1 at a fixed coordinate.
fn shuffled(did: &[Did]) -> Said {
    let exchange = did.iter().find_map(|did| match did {
        Send(
            1,
            Message::Overlay {
                message: cyclon::Message::Shuffle { exchange, .. },
                ..
            },
        ) => Some(*exchange),
        _ => None,
    });
    let own = Descriptor {
        profile: Profile::at(Coordinate::at([100_000, 0, 0])),
        ..descriptor(1)
    };
    Message::Overlay {
        message: cyclon::Message::Shuffled {
            exchange: exchange.expect("it shuffles"),
            links: [].into_iter().collect(),
        },
        about: [own].into_iter().collect(),
    }
}

#[test]
fn a_round_trip_changes_a_learned_coordinate() {
    let mut bench = learner();
    let did = bench.ring_until(1);
    let before = bench.machine().profile().clone();
    bench.now += Span::from_millis(40);
    bench.hear(1, shuffled(&did));
    assert_ne!(bench.machine().profile().coordinate, before.coordinate);
}

#[test]
fn a_late_answer_is_not_measured_as_a_round_trip_of_a_later_question() {
    let mut bench = learner();
    let first = bench.ring_until(1);
    // 1 does not answer, comes back into the view, and is asked again.
    bench.at(200).meet(1);
    let second = bench.ring_until(257);
    let (late, in_time) = (shuffled(&first), shuffled(&second));
    let before = bench.machine().profile().clone();
    bench.now += Span::from_millis(1);
    bench.hear(1, late);
    assert_eq!(bench.machine().profile().coordinate, before.coordinate);
    // The second answer is measured from the second question on, as if that were the only one.
    bench.now += Span::from_millis(39);
    bench.hear(1, in_time);
    let mut other = learner();
    let did = other.ring_until(1);
    other.now += Span::from_millis(40);
    other.hear(1, shuffled(&did));
    assert_eq!(
        bench.machine().profile().coordinate,
        other.machine().profile().coordinate
    );
}

#[test]
fn a_node_that_has_lost_all_its_contacts_asks_its_introducer_again() {
    let (mut bench, _) = Bench::boot(CONFIG, Bootstrap::Join(id(1).into()));
    let message = cyclon::Message::JoinGive {
        joiner: bench.machine().overlay().incarnation().unwrap(),
        link: Link {
            id: id(3),
            ..Link::default()
        },
        giver: Incarnation::default(),
    };
    let about = Descriptors::from_iter([]);
    bench.hear(1, Message::Overlay { message, about });
    // Node 3 becomes a contact. It never answers.
    let mut asked = Vec::new();
    for _ in 0..12 {
        for did in bench.cycle() {
            if let Send(to, Message::Overlay { message, .. }) = did {
                asked.push((to, matches!(message, cyclon::Message::Join { .. })));
            }
        }
    }
    assert_eq!(bench.machine().overlay().known(), [id(3), id(1)]);
    // When its contacts do not answer, the node asks its introducer.
    assert_eq!(asked[..4], [(3, false), (3, true), (1, true), (1, true)]);
}
