//! Messages that only a liar sends.

use super::*;
use crate::admission::{Admission, Attributes, Organisations, Stated};
use crate::id::OrganisationId;
use crate::resource::{Capability, Dimensions, Kind};
use Did::Send;
use Through::{NoLink, Random};

/// A node with a job for two nodes; 1 is asked.
fn asking() -> Bench {
    Bench::searching(CONFIG, 2, CHEAPEST).0
}

/// A profile with extreme values.
fn extreme(low: bool) -> Profile {
    let (point, height) = if low {
        (i32::MIN, 0)
    } else {
        (i32::MAX, u32::MAX)
    };
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| (name, Kind::Amount));
    let dimensions = Dimensions::new(&names).unwrap();
    let every = dimensions.iter();
    let last = u32::MAX - Organisations::MOST as u32;
    let others = Organisations::new((last..u32::MAX).map(OrganisationId::new)).unwrap();
    Profile {
        coordinate: Coordinate {
            point: [point; 3],
            height,
        },
        error: u16::MAX,
        region: u16::MAX,
        bandwidth: u32::MAX,
        free: if low {
            Interval::ALWAYS
        } else {
            Interval::LAST
        },
        note: CLOSED - 1,
        radius: NonZeroU32::new(if low { 1 } else { u32::MAX }),
        stated: Stated::new(Attributes {
            organisation: OrganisationId::new(u32::MAX),
            admission: Admission::Except(others),
            capability: every.fold(Capability::none(), |all, (dimension, ..)| {
                all.with(dimension, u64::MAX)
            }),
        }),
    }
}

#[test]
fn answers_without_a_question_change_nothing() {
    let mut bench = asking();
    let before = bench.machine().clone();
    for (from, message) in [
        (2, seen(1, 2, &[], &[4])),
        (2, seen(1, 1, &[], &[4])),
        (1, seen(0, 1, &[], &[4])),
        (1, seen(2, 1, &[], &[4])),
        (1, seen(u32::MAX, 1, &[], &[4])),
        (50, seen(1, 50, &[], &[4])),
    ] {
        assert_eq!(bench.hear(from, message.clone()), [], "{message:?}");
        assert_eq!(*bench.machine(), before, "{message:?}");
    }
}

#[test]
fn only_the_first_answer_of_each_node_counts() {
    let mut bench = asking();
    let did = bench.hear(1, seen(1, 1, &[], &[4, 5, 6]));
    assert_eq!(did, [4, 5].map(|node| Send(node, look(1, NoLink))));
    let before = bench.machine().clone();
    assert_eq!(bench.hear(1, seen(1, 1, &[], &[7, 8])), []);
    assert_eq!(*bench.machine(), before);
}

#[test]
fn a_node_cannot_answer_for_another() {
    let mut bench = asking();
    // 1 sends the descriptor of 9; it counts as that of 1.
    bench.hear(1, seen(1, 9, &[], &[4, 5, 6]));
    let (mut did, mut last) = (vec![4, 5, 6], Effects::new());
    for node in did.drain(..) {
        last = bench.hear(node, seen(1, node, &[], &[]));
    }
    assert_eq!(
        last,
        [4, 5].map(|node| Send(node, prepare(attempt(1, 1), 60))),
        "1 has the price of 9 now"
    );
}

#[test]
fn repeated_links_count_once_and_too_many_are_cut() {
    let mut bench = asking();
    let many: Vec<u64> = [1, 1, 4, 4, 4].into_iter().chain(100..300).collect();
    // No more links are used than a view has: two to 1 itself, three to 4, and one more.
    let did = bench.hear(1, seen(1, 1, &[], &many));
    assert_eq!(did, [Send(4, look(1, Random)), Send(100, look(1, Random))]);
    assert_eq!(bench.hear(4, seen(1, 4, &[], &[4, 1, 100])), []);
    assert_eq!(
        bench.hear(100, seen(1, 100, &[], &[])),
        [1, 4].map(|node| Send(node, prepare(attempt(1, 1), 60)))
    );
}

#[test]
fn a_search_among_liars_ends_and_takes_bounded_memory() {
    let config = Config {
        alpha: u16::MAX,
        width: 8,
        candidates: 20,
        ..PROACTIVE
    };
    let (mut bench, mut did) = Bench::searching(config, 3, Criterion::Closest);
    let mut next = 100;
    let mut answers = 0;
    while let Some(Send(node, Message::Look { look, .. })) = did
        .iter()
        .find(|did| matches!(did, Send(_, Message::Look { .. })))
    {
        // Each node names six new ones; only the next node that is asked answers.
        let links: Vec<u64> = (next..next + 6).collect();
        next += 6;
        answers += 1;
        assert!(answers < 10_000);
        let mut answer = seen(look.0, *node, &[], &links);
        if let Message::Seen { own, .. } = &mut answer {
            own.profile = extreme(answers % 2 == 0);
        }
        let node = *node;
        did = bench.hear(node, answer);
        if !did
            .iter()
            .any(|did| matches!(did, Send(_, Message::Look { .. })))
        {
            did = bench.ring_until(bench.now.as_micros() / 1_000_000 + 3);
        }
    }
    assert!(answers <= 60, "{answers} answers");
}

#[test]
fn extreme_profiles_give_every_criterion_a_cost() {
    for criterion in [
        Criterion::Soonest,
        Criterion::Closest,
        Criterion::Farthest,
        CHEAPEST,
    ] {
        for config in [CONFIG, PROACTIVE] {
            let (mut bench, mut did) = Bench::searching(config, 2, criterion);
            let mut low = false;
            while let Some(Send(node, Message::Look { look, .. })) = did
                .iter()
                .find(|did| matches!(did, Send(_, Message::Look { .. })))
            {
                low = !low;
                let own = Descriptor {
                    version: u64::MAX,
                    age: u16::MAX,
                    profile: extreme(low),
                    ..descriptor(*node)
                };
                let others = [4, 5, 6].map(|node| Descriptor {
                    profile: extreme(!low),
                    ..descriptor(node)
                });
                let answer = Message::Seen {
                    look: *look,
                    own,
                    schedule: Snapshot::empty(u64::MAX),
                    links: others.into_iter().collect(),
                };
                let node = *node;
                did = bench.hear(node, answer);
                if did.is_empty() {
                    did = bench.ring_until(bench.now.as_micros() / 1_000_000 + 2);
                }
            }
            let asks = |did: &Did| matches!(did, Send(_, Message::Commit(Vote::Prepare { .. })));
            assert!(did.iter().any(asks), "{criterion:?}: {did:?}");
        }
    }
}

#[test]
fn a_node_with_a_schedule_that_is_never_free_is_not_selected() {
    let never = Snapshot::new(9, Time::ZERO, &[]).unwrap();
    let full = Interval::new(Time::ZERO, Time::MAX).unwrap();
    let full = Snapshot::new(9, Time::MAX, &[full]).unwrap();
    for schedule in [never, full] {
        let mut bench = asking();
        let mut answer = seen(1, 1, &[], &[4, 5, 6]);
        if let Message::Seen { schedule: told, .. } = &mut answer {
            *told = schedule;
        }
        bench.hear(1, answer);
        bench.hear(4, seen(1, 4, &[], &[]));
        bench.hear(5, seen(1, 5, &[], &[]));
        assert_eq!(
            bench.hear(6, seen(1, 6, &[], &[])),
            [4, 5].map(|node| Send(node, prepare(attempt(1, 1), 60)))
        );
    }
}

#[test]
fn many_questions_are_answered_and_leave_no_state() {
    let mut bench = asking();
    let before = bench.machine().clone();
    for number in 0..1000 {
        let through = match number % 4 {
            0 => Random,
            1 => NoLink,
            2 => Through::Helper(0),
            _ => Through::Helper(u8::MAX),
        };
        assert_eq!(bench.hear(9, look(number, through)).len(), 1);
    }
    assert_eq!(*bench.machine(), before);
}

#[test]
fn messages_of_unknown_helper_overlays_are_ignored() {
    let config = Config {
        helpers: [None, Some(Helper::Proximity), None, None],
        ..CONFIG
    };
    let mut bench = Bench::meeting(config, &[1]);
    let before = bench.machine().clone();
    let request = vicinity::Message::Request {
        exchange: vicinity::ExchangeId(0),
        descriptors: [descriptor(8)].into_iter().collect(),
    };
    let said = |number| Message::Helper {
        number,
        message: Shared::new(request.clone()),
    };
    for number in [0, 2, 3, u8::MAX] {
        assert_eq!(bench.hear(8, said(number)), []);
        assert_eq!(*bench.machine(), before);
    }
    assert_eq!(bench.hear(8, said(1)).len(), 1);
}

#[test]
fn forged_profiles_of_strangers_and_of_this_node_are_not_kept() {
    let mut bench = Bench::meeting(CONFIG, &[1]);
    let told = [ME.get(), 4, 9].map(|node| Descriptor {
        version: u64::MAX,
        age: u16::MAX,
        profile: extreme(true),
        ..descriptor(node)
    });
    bench.hear(4, shuffle(4, &told));
    let known: Vec<NodeId> = bench
        .machine()
        .random
        .iter()
        .map(|known| known.id)
        .collect();
    assert_eq!(known, [id(4)]);
    assert_eq!(*bench.machine().profile(), profile(50));
}

#[test]
fn a_forged_profile_of_a_neighbour_lasts_only_until_it_is_too_old() {
    let mut bench = Bench::meeting(CONFIG, &[2, 3, 4]);
    bench.cycle();
    bench.hear(1, shuffle(1, &[descriptor(1)]));
    let lie = Descriptor {
        version: u64::MAX,
        profile: extreme(true),
        ..descriptor(1)
    };
    bench.hear(4, shuffle(4, core::slice::from_ref(&lie)));
    let known = |bench: &Bench| {
        bench
            .machine()
            .random
            .iter()
            .find(|it| it.id == id(1))
            .unwrap()
            .clone()
    };
    assert_eq!(known(&bench), lie);
    bench.cycle();
    // The profile grows older with each cycle, even if the link does not.
    let truth = descriptor(1).version;
    for (age, version) in [(1, lie.version), (60, lie.version), (61, truth)] {
        assert!(known(&bench).age >= 1);
        for known in &mut bench.machine_mut().random {
            known.age = known.age.max(age);
        }
        bench.hear(1, shuffle(1, &[descriptor(1)]));
        assert_eq!(known(&bench).version, version, "{age} cycles");
    }
}

#[test]
fn records_that_do_not_fit_their_keys_are_ignored() {
    let mut bench = Bench::meeting(CONFIG, &[1]);
    let mut other = wanting(1, CHEAPEST);
    other.id = JobId::new(8);
    let record = Record::Desk(desk::Record::Job {
        job: other,
        payload: Payload::EMPTY,
        stage: desk::Stage::Open,
    });
    bench.write(OF_JOB, record.clone());
    bench.write(Key::Overlay(cyclon::Key::Known), record);
    bench.restart();
    assert_eq!(bench.jobs(), 0);
}
