//! From a submission to a run, and the refusals.

use std::num::NonZeroU32;

use super::*;
use crate::job::{Command, Payload};
use crate::overlay::flood::{FloodId, Header};
use crate::scaled;
use crate::time::Time;

#[test]
fn a_job_runs_where_it_fits_and_its_end_is_told_once() {
    let mut network = Network::new(config(), &[(1, 4), (2, 8), (4, 16), (8, 32)]);
    network.submit(0, job(1, 3, 10));
    network.pass(60);
    let place = network.started(1);
    assert!(place == [id(2)] || place == [id(3)], "{place:?}");
    network.pass(2000);
    let news = network.news_of(1);
    assert!(matches!(news[0], News::Accepted(_) | News::Assigned(_)));
    let last: Vec<&News> = news.iter().filter(|news| news.is_last()).collect();
    assert_eq!(last, [&News::Finished]);
    // No node and no disk has anything left of the job.
    for node in network.nodes.values() {
        assert!(node.owners.is_empty() && node.runs.is_empty());
    }
    for disk in network.disks.values() {
        assert!(
            disk.keys().all(|key| matches!(key, Key::Overlay(_))),
            "{disk:?}"
        );
    }
}

#[test]
fn a_job_runs_whenever_some_node_can_run_it() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut found = 0;
    for _ in 0..scaled(12, 2) {
        let sizes: Vec<(u64, u64)> = (0..10)
            .map(|_| (1 << rng.below(4), 1 << rng.below(7)))
            .collect();
        let mut network = Network::new(config(), &sizes);
        network.run_time = Span::from_secs(60);
        for number in 0..12 {
            let (cores, memory) = (u64::from(rng.below(10)), u64::from(rng.below(64)));
            network.submit(u64::from(rng.below(10)), job(number, cores, memory));
            network.pass(5);
            let able = sizes
                .iter()
                .any(|size| size.0 >= cores.max(1) && size.1 >= memory);
            network.pass(900);
            let last = network.news_of(number).last().unwrap().clone();
            let none = News::Failed(Failure::Refused(Refusal::NoMatch));
            let expected = if able { News::Finished } else { none };
            assert_eq!(last, expected, "{cores} cores and {memory} on {sizes:?}");
            found += u32::from(able);
        }
    }
    assert!((5..140).contains(&found), "both cases were tried: {found}");
}

#[test]
fn a_search_without_probes_finds_a_run_node_without_a_flood() {
    let literal = Config {
        probes: 0,
        searches_again: 0,
        pull_hops: 0,
        ..config()
    };
    let mut network = Network::new(literal, &[(1, 1), (1, 64), (16, 1), (2, 2), (16, 32)]);
    network.submit(3, job(1, 9, 20));
    network.pass(100);
    assert_eq!(network.started(1), [id(4)]);
    let floods = network.nodes.values().map(|node| node.counts().floods);
    assert_eq!(floods.sum::<u64>(), 0);
    network.submit(3, job(2, 9, 40));
    network.pass(800);
    let none = News::Failed(Failure::Refused(Refusal::NoMatch));
    assert_eq!(network.news_of(2), [none]);
}

#[test]
fn an_unsupported_job_is_refused_with_its_reason() {
    let mut network = Network::new(config(), &[(4, 16)]);
    let strange = {
        let names = ["a", "b", "c"].map(|name| (name, Kind::Amount));
        Dimensions::new(&names).unwrap().named("c").unwrap()
    };
    let mut cases: Vec<(Job, Refusal)> = Vec::new();
    let mut unknown = job(1, 1, 1);
    unknown.requirement = unknown.requirement.with(strange, 1);
    cases.push((unknown, Refusal::UnknownDimension(2)));
    let mut late = job(2, 1, 1);
    late.deadline = Some(Time::MAX);
    cases.push((late, Refusal::UnsupportedDeadline));
    let mut near = job(3, 1, 1);
    near.criterion = Criterion::Closest;
    cases.push((near, Refusal::UnsupportedCriterion));
    let mut inside = job(4, 1, 1);
    inside.scope = Scope::Organisation;
    cases.push((inside, Refusal::UnsupportedScope));
    let mut gang = job(5, 1, 1);
    gang.demand = Demand::Nodes(NonZeroU32::new(2).unwrap());
    cases.push((gang, Refusal::UnsupportedDemand));
    cases.push((job(6, 17, 1), Refusal::TooLarge));
    cases.push((job(7, u64::MAX, u64::MAX), Refusal::TooLarge));
    for (job, refusal) in cases {
        let number = job.id.get();
        network.submit(0, job);
        let refused = News::Failed(Failure::Refused(refusal));
        assert_eq!(network.news_of(number), [refused]);
    }
    network.submit(0, job(8, 1, 1));
    network.submit(0, job(8, 1, 1));
    let known = News::Failed(Failure::Refused(Refusal::Known));
    assert!(network.news_of(8).contains(&known));
}

#[test]
fn free_nodes_come_first_then_nodes_that_can_start_the_job_beside_others() {
    let literal = Config {
        style: Style::Literal,
        ..config()
    };
    let mut network = Network::new(literal, &[(4, 16), (8, 32), (2, 8)]);
    // Each of the first three jobs gets a free node; the fourth starts beside another job.
    for number in 1..=3 {
        network.submit(2, job(number, 2, 2));
        network.pass(15);
    }
    let places: BTreeSet<NodeId> = (1..=3).flat_map(|job| network.started(job)).collect();
    assert_eq!(places.len(), 3, "each has a node of its own: {places:?}");
    network.submit(2, job(4, 2, 2));
    network.pass(15);
    let place = network.started(4);
    assert!(
        place == [id(0)] || place == [id(1)],
        "beside another: {place:?}"
    );
}

#[test]
fn of_equally_fast_nodes_the_fullest_comes_first() {
    let mut network = Network::new(config(), &[(4, 16), (8, 32), (2, 8)]);
    for number in 1..=4 {
        network.submit(1, job(number, 2, 2));
        network.pass(15);
    }
    let places = [1, 2, 3, 4].map(|job| network.started(job));
    assert_eq!(places, [[id(2)], [id(0)], [id(0)], [id(1)]]);
}

#[test]
fn the_fastest_node_comes_first_even_if_another_is_fuller() {
    let mut network = Network::new(config(), &[(4, 16), (2, 8)]);
    let fast = Equipment {
        speed: Speed::from_millionths(NonZeroU32::new(2_000_000).unwrap()),
        ..equipment(8, 32)
    };
    network.equipment.insert(id(2), fast);
    network.boot(id(2));
    network.pass(60);
    for number in 1..=3 {
        network.submit(1, job(number, 2, 2));
        network.pass(15);
        assert_eq!(network.started(number), [id(2)]);
    }
}

#[test]
fn messages_of_both_overlays_count_as_heartbeats() {
    let (message, status) = (can::Message::Ping, None);
    assert!(Message::<3>::Overlay { message, status }.is_heartbeat());
    let (message, status) = (can::Message::Ping, None);
    assert!(Message::<3>::Residue { message, status }.is_heartbeat());
    assert!(!Message::<3>::Acknowledged(1).is_heartbeat());
}

#[test]
fn a_message_stays_small() {
    assert!(
        size_of::<Message<8>>() <= 320,
        "{}",
        size_of::<Message<8>>()
    );
}

/// The answer that node 0 may take a job.
fn found(job: u64, wanted: Wanted) -> Message<3> {
    Message::Found {
        job: JobId::new(job),
        quest: quest(wanted),
        candidates: [id(0)].into_iter().collect(),
    }
}

/// A flooded search of node 77 for a job that needs so many cores.
fn flood(number: u64, cores: u64) -> Message<3> {
    Message::Search {
        header: Header {
            id: FloodId {
                origin: id(77),
                sequence: number,
                kind: 0,
                round: 0,
            },
            ttl: 3,
            hops: 0,
        },
        job: Shared::new(job(number, cores, 1)),
        quest: quest(Wanted::RunNode),
    }
}

#[test]
fn a_node_answers_a_flooded_search_if_it_can_run_the_job() {
    let mut network = Network::new(config(), &[(4, 16)]);
    assert_eq!(answers(&mut network, 0, flood(1, 5)), []);
    let said = answers(&mut network, 0, flood(2, 4));
    assert_eq!(said, [found(2, Wanted::RunNode)]);
    // The same flood again.
    assert_eq!(answers(&mut network, 0, flood(2, 4)), []);
    // A leaver takes no new job.
    network.submit(0, job(3, 4, 1));
    network.pass(30);
    network.command(id(0), Command::Leave);
    assert_eq!(answers(&mut network, 0, flood(4, 4)), []);
}

#[test]
fn a_node_that_can_remember_no_more_floods_answers_them_and_passes_none_on() {
    let searches = 2;
    let mut network = Network::new(
        Config {
            searches,
            ..config()
        },
        &[(4, 16)],
    );
    for number in 1..4 {
        assert_eq!(answers(&mut network, 0, flood(number, 5)), []);
        let cut_off = network.nodes[&id(0)].counts().cut_off;
        assert_eq!(cut_off, u64::from(number == 3), "{number} floods");
    }
    let said = answers(&mut network, 0, flood(4, 4));
    assert_eq!(said, [found(4, Wanted::RunNode)]);
}

#[test]
fn a_busy_node_is_a_candidate_for_a_new_job_but_not_for_a_waiting_one() {
    let mut network = Network::new(config(), &[(4, 16)]);
    network.submit(0, job(1, 4, 1));
    network.pass(30);
    assert_eq!(network.started(1), [id(0)]);
    let mut hunt = |number, wanted| {
        let errand = Errand::Hunt {
            job: Shared::new(job(number, 4, 1)),
            quest: quest(wanted),
            trail: fresh_trail(),
        };
        answers(&mut network, 0, Message::Errand { number: 0, errand })
    };
    assert_eq!(hunt(2, Wanted::RunNode), [found(2, Wanted::RunNode)]);
    assert_eq!(hunt(3, Wanted::Sooner), []);
}

#[test]
fn merits_keep_the_best_nodes_each_with_its_latest_merit() {
    let merit = |node: u64, cost| Merit {
        turn: Turn::Free,
        cost,
        lot: 0,
        node: id(node),
    };
    let most = custody::MOST_CANDIDATES as u64;
    let mut merits = Merits::default();
    for node in (1..=most).rev() {
        merits.see(merit(node, 10 * node));
    }
    let all: Vec<NodeId> = (1..=most).map(id).collect();
    assert_eq!(merits.nodes().as_slice(), all);
    // A merit worse than all, one as bad as the last, and then a better one.
    merits.see(merit(99, 10 * most + 1));
    merits.see(merit(99, 10 * most));
    assert_eq!(merits.nodes().as_slice(), all);
    merits.see(merit(99, 11));
    assert_eq!(merits.nodes().as_slice()[..2], [id(1), id(99)]);
    assert_eq!(merits.nodes().len(), all.len());
    merits.see(merit(1, 12));
    assert_eq!(merits.best(), Some(&merit(99, 11)));
}

#[test]
fn a_search_that_hardly_ever_stops_goes_outwards_past_busy_nodes() {
    let config = Config {
        stopping: u16::MAX,
        probes: 0,
        ..config()
    };
    let mut network = Network::new(config, &[(1, 1), (16, 64)]);
    network.submit(0, job(1, 16, 1));
    network.pass(60);
    network.submit(0, job(2, 1, 1));
    network.pass(60);
    assert_eq!([network.started(1), network.started(2)], [[id(1)], [id(0)]]);
    let errand = Errand::Hunt {
        job: Shared::new(job(3, 1, 1)),
        quest: quest(Wanted::RunNode),
        trail: fresh_trail(),
    };
    let message = Message::Errand { number: 0, errand };
    let from = id(78);
    network.feed(id(0), Event::Message { from, message });
    let goes_on = network.events.values().any(|(to, event)| {
        let is_hunt = |errand: &Errand<3>| matches!(errand, Errand::Hunt { .. });
        *to == id(1)
            && matches!(event, Event::Message { message: Message::Errand { errand, .. }, .. } if is_hunt(errand))
    });
    assert!(goes_on);
}

#[test]
fn a_job_starts_at_once_before_waiting_ones_only_if_it_may_pass_them() {
    let config = Config {
        scheduling: Scheduling::LOCAL,
        ..config()
    };
    let mut network = Network::new(config, &[(4, 16)]);
    let node = network.nodes.get_mut(&id(0)).unwrap();
    let status = Status {
        queue_len: 1,
        running: 1,
        head_passed: 2,
        ..*node.status().get()
    };
    let waits = |passed| {
        let merit = node.merit(id(9), &status, (JobId::new(1), passed), &needs(1, 1));
        merit.unwrap().turn == Turn::Later
    };
    assert_eq!([1, 2, 3].map(waits), [true, false, false]);
}

#[test]
fn a_submitter_is_told_which_node_runs_its_job_and_the_runner_what_to_run() {
    let mut network = Network::new(config(), &[(1, 4), (2, 8), (4, 16), (8, 32)]);
    let payload = Payload::new(b"true").unwrap();
    let job = job(1, 3, 10);
    let submit = Command::Submit {
        job,
        payload: payload.clone(),
    };
    network.command(id(0), submit);
    network.pass(60);
    let runner = network.started(1)[0];
    let mut seen = 0;
    for news in network.news_of(1) {
        match news {
            News::Accepted(told) | News::Moved(told) => {
                assert_eq!(told.get().nodes, [runner]);
                seen |= 1;
            }
            News::Assigned(told) => {
                assert_eq!(told.get().payload, payload);
                seen |= 2;
            }
            News::Started {
                attempt,
                assignment,
                ..
            } => {
                assert_eq!(assignment.get().payload, payload);
                assert_eq!(assignment.get().placement.attempt, attempt);
                assert_eq!(assignment.get().placement.nodes, [runner]);
                seen |= 4;
            }
            _ => {}
        }
    }
    assert_eq!(seen, 7);
}

#[test]
fn a_desktop_that_drains_runs_nothing_new_and_is_drained_when_nothing_is_left() {
    let mut network = Network::new(config(), &[(4, 16), (4, 16)]);
    network.command(id(1), Command::Drain);
    network.submit(0, job(1, 3, 10));
    network.submit(0, job(2, 3, 10));
    network.pass(600);
    let started = [1, 2].map(|job| network.started(job)).concat();
    assert_eq!(started, [id(0)], "the other job waits there");
    network.submit(1, job(3, 1, 1));
    network.pass(1);
    let refused = News::Failed(Failure::Refused(Refusal::Draining));
    assert_eq!(network.news_of(3), [refused]);
    assert!(network.nodes[&id(1)].is_drained());
    network.command(id(1), Command::Resume);
    network.pass(1);
    assert!(!network.nodes[&id(1)].is_drained());
    network.submit(0, job(4, 3, 10));
    network.pass(600);
    assert_eq!(network.started(4), [id(1)]);
}

#[test]
fn a_search_passes_over_nodes_that_drain() {
    let mut network = Network::new(config(), &[(4, 16); 7]);
    for drained in 1..7 {
        network.command(id(drained), Command::Drain);
    }
    network.pass(40);
    network.submit(0, job(1, 4, 10));
    network.pass(5);
    assert_eq!(network.started(1), [id(0)]);
    network.submit(0, job(2, 4, 10));
    network.pass(3000);
    assert_eq!(network.started(2), [id(0)]);
    assert_eq!(network.news_of(2).last(), Some(&News::Finished));
    network.command(id(3), Command::Resume);
    network.pass(40);
    network.submit(0, job(3, 4, 10));
    network.submit(0, job(4, 4, 10));
    network.pass(40);
    let started = [network.started(3), network.started(4)].concat();
    assert!(started.contains(&id(3)), "{started:?}");
}

#[test]
fn jobs_find_owners_while_a_node_leaves_that_still_runs_one() {
    let mut network = Network::new(config(), &[(4, 16), (8, 32), (16, 64)]);
    network.run_time = Span::from_secs(100_000);
    network.submit(0, job(1, 3, 10));
    network.pass(60);
    let [runner] = network.started(1)[..] else {
        panic!("it runs somewhere")
    };
    network.command(runner, Command::Leave);
    network.pass(60);
    let other = (0..3).find(|number| id(*number) != runner).unwrap();
    for number in 2..12 {
        network.submit(other, job(number, 1, 1));
    }
    network.pass(600);
    for number in 2..12 {
        assert_eq!(network.started(number).len(), 1, "job {number}");
    }
}
