//! Jobs that cannot start at once: they wait without a placement, get one when their patience is over, and move up.

use super::*;
use Did::{Persist, Send, Tell};

/// A job is searched for again after 400 seconds, on average, and gets a placement after 2000.
const PATIENT: Config = Config {
    breadth: 4,
    reach: 8,
    improve: Some(Span::from_secs(400)),
    patience: Span::from_secs(2000),
    horizon: Span::from_secs(90_000),
    ..CONFIG
};

/// The questions among these effects: the number of the iteration, and the node that is asked.
fn asked(did: &Effects) -> Vec<(u32, u64)> {
    let question = |did: &Did| match did {
        Send(to, Message::Look { look, .. }) => Some((look.0, *to)),
        _ => None,
    };
    did.iter().filter_map(question).collect()
}

/// All nodes that are asked are busy until `until`, and node 1 knows 4 to 8. Returns the last effects.
fn all_busy(bench: &mut Bench, did: Effects, until: u64) -> Effects {
    let mut waiting = asked(&did);
    let mut last = did;
    while let Some((number, node)) = waiting.pop() {
        let links: &[u64] = if node == 1 { &[4, 5, 6, 7, 8] } else { &[2, 3] };
        last = bench.hear(node, seen(number, node, &[busy(0, until)], links));
        waiting.extend(asked(&last));
    }
    last
}

/// Goes to the next iteration. Returns its effects.
fn next_iteration(bench: &mut Bench) -> Effects {
    let (at, timer) = bench.pending(|timer| *timer == Timer::Due);
    bench.now = at;
    bench.feed(Event::Timer(timer))
}

/// A job for two nodes waits: all nodes are busy until 9000.
fn waiting() -> Bench {
    let (mut bench, did) = Bench::searching(PATIENT, 2, Criterion::Soonest);
    let expected = News::Expected {
        start: second(9000),
    };
    assert_eq!(all_busy(&mut bench, did, 9000), [Tell(7, expected)]);
    bench
}

#[test]
fn busy_nodes_do_not_count_towards_enough() {
    let (mut bench, did) = Bench::searching(PATIENT, 2, Criterion::Soonest);
    let mut waiting = asked(&did);
    let mut found = Vec::new();
    let mut last = did;
    while let Some((number, node)) = waiting.pop() {
        found.push(node);
        let windows: &[Interval] = if node < 7 { &[busy(0, 9000)] } else { &[] };
        let links: &[u64] = if node == 1 { &[4, 5, 6, 7, 8] } else { &[1] };
        last = bench.hear(node, seen(number, node, windows, links));
        waiting.extend(asked(&last));
    }
    assert!(found.len() > CONFIG.pool(2), "{found:?}");
    let one = attempt(1, 1);
    assert_eq!(last, [7, 8].map(|node| Send(node, prepare(one, 60))));
}

/// The nodes that are asked to prepare a start at this time; nothing else happens.
fn prepared(did: Effects, start: Time) -> Vec<u64> {
    let node = |did| match did {
        Send(to, Message::Commit(Vote::Prepare { interval, .. })) if interval.start() == start => {
            to
        }
        other => panic!("{other:?}"),
    };
    did.into_iter().map(node).collect()
}

/// All nodes that are asked are free, and 4 and 5 are known to others. Returns the last effects.
fn all_free(bench: &mut Bench, did: Effects) -> Effects {
    bench.explore(did, &[(1, &[4, 5]), (2, &[4, 5]), (3, &[4, 5])])
}

#[test]
fn a_job_that_cannot_start_at_once_waits_without_a_placement_until_it_can() {
    let mut bench = waiting();
    let did = next_iteration(&mut bench);
    let now = bench.now;
    assert!((second(300)..=second(502)).contains(&now), "{now:?}");
    assert_eq!(all_busy(&mut bench, did, 9000), [], "9000 is no news");
    let did = next_iteration(&mut bench);
    let did = all_free(&mut bench, did);
    let start = PATIENT.earliest(bench.now);
    assert_eq!(prepared(did, start).len(), 2);
}

#[test]
fn a_job_whose_patience_is_over_gets_the_best_placement_and_moves_up() {
    let mut bench = waiting();
    let did = loop {
        let did = next_iteration(&mut bench);
        let did = all_busy(&mut bench, did, 9000);
        if !did.is_empty() {
            break did;
        }
    };
    assert!(bench.now >= second(2000));
    let members = prepared(did, second(9000));
    assert_eq!(
        bench.agree(&members, attempt(1, 1)),
        [Persist(OF_JOB), Tell(7, accepted(9000))]
    );
    let did = next_iteration(&mut bench);
    let did = all_free(&mut bench, did);
    let start = PATIENT.earliest(bench.now);
    assert_eq!(prepared(did, start).len(), 2);
}

#[test]
fn no_iteration_follows_a_placement_that_starts_at_once() {
    let many = Config {
        iterations: 5,
        ..PATIENT
    };
    let (mut bench, did) = Bench::searching(many, 2, Criterion::Soonest);
    let did = all_free(&mut bench, did);
    let members = prepared(did, second(60));
    assert_eq!(
        bench.agree(&members, attempt(1, 1)),
        [Persist(OF_JOB), Tell(7, accepted(60))]
    );
}

#[test]
fn a_job_that_wants_near_nodes_gets_a_placement_at_once_and_is_searched_for_until_its_start() {
    let (mut bench, did) = Bench::searching(PATIENT, 2, Criterion::Closest);
    let did = all_busy(&mut bench, did, 9000);
    let members = prepared(did, second(9000));
    assert_eq!(
        bench.agree(&members, attempt(1, 1)),
        [Persist(OF_JOB), Tell(7, accepted(9000))]
    );
    while bench.now < second(8000) {
        let did = next_iteration(&mut bench);
        assert!(!asked(&did).is_empty(), "{did:?}");
        all_busy(&mut bench, did, 9000);
    }
}

#[test]
fn the_time_of_a_job_is_longer_than_its_estimate_by_the_margin() {
    let late = Config {
        margin: Span::from_secs(30),
        ..PATIENT
    };
    let (mut bench, did) = Bench::searching(late, 2, Criterion::Soonest);
    let did = all_free(&mut bench, did);
    let is_longer = |did: &Did| match did {
        Send(_, Message::Commit(Vote::Prepare { interval, .. })) => *interval == busy(60, 180),
        _ => false,
    };
    assert!(did.len() == 2 && did.iter().all(is_longer), "{did:?}");
}

#[test]
fn a_job_that_waits_does_not_fail_because_one_iteration_finds_too_few_nodes() {
    let mut bench = waiting();
    for _ in 0..3 {
        let did = next_iteration(&mut bench);
        let [(number, node)] = asked(&did)[..] else {
            panic!("{did:?}");
        };
        assert_eq!(bench.hear(node, seen(number, node, &[], &[])), []);
    }
}

#[test]
fn a_job_that_comes_too_late_each_time_waits() {
    let (mut bench, mut did) = Bench::searching(PATIENT, 2, Criterion::Soonest);
    let mut refusals = 0_u8;
    loop {
        did = all_free(&mut bench, did);
        let Some(Send(node, Message::Commit(Vote::Prepare { attempt, .. }))) = did.first() else {
            break;
        };
        did = bench.vote(*node, refused(*attempt));
        refusals += 1;
    }
    assert_eq!(refusals, PATIENT.rounds - 1);
    assert!(!did.iter().any(|did| matches!(did, Tell(..))), "{did:?}");
    let did = next_iteration(&mut bench);
    assert!(!asked(&did).is_empty());
}

#[test]
fn iterations_are_counted_while_a_job_waits() {
    let mut bench = waiting();
    let ended = |bench: &Bench| bench.machine().progress(JOB).unwrap().iterations;
    assert_eq!(ended(&bench), 1);
    for number in 2..5 {
        let did = next_iteration(&mut bench);
        assert_eq!(ended(&bench), number - 1, "one is under way");
        all_busy(&mut bench, did, 9000);
        assert_eq!(ended(&bench), number);
    }
}

/// A job for two nodes that has 1 and 2 from `start` on, at a node that has restarted since.
fn restarted(criterion: Criterion, start: u64) -> Bench {
    let config = Config {
        patience: Span::ZERO,
        ..PATIENT
    };
    let (mut bench, did) = Bench::searching(config, 2, criterion);
    let mut waiting = asked(&did);
    while let Some((number, node)) = waiting.pop() {
        let did = bench.hear(node, seen(number, node, &[busy(0, start)], &[1, 2, 3]));
        waiting.extend(asked(&did));
    }
    let one = attempt(1, 1);
    bench.agree(&[1, 2], one);
    bench.restart();
    for node in [1, 2] {
        bench.vote(node, Vote::Committed { attempt: one });
    }
    bench
}

#[test]
fn after_a_restart_a_placed_job_is_still_moved_up() {
    let mut bench = restarted(Criterion::Soonest, 9000);
    let progress = bench.machine().progress(JOB).unwrap();
    assert_eq!((progress.start, progress.cost), (Some(second(9000)), None));
    // The nodes that it has are asked as well: only then is it known what it costs.
    let did = next_iteration(&mut bench);
    let start = PATIENT.earliest(bench.now);
    let first: Vec<u64> = asked(&did).iter().map(|(_, node)| *node).collect();
    assert_eq!(first.len(), 2, "two are asked at once");
    let mut waiting = asked(&did);
    let mut last = did;
    let mut all = Vec::new();
    while let Some((number, node)) = waiting.pop() {
        all.push(node);
        // Only 1 and 2 are busy: with this job.
        let windows: &[Interval] = if node < 3 { &[busy(0, 9060)] } else { &[] };
        last = bench.hear(node, seen(number, node, windows, &[3, 4, 5]));
        waiting.extend(asked(&last));
    }
    assert!(all.contains(&1) && all.contains(&2), "{all:?}");
    assert_eq!(prepared(last, start).len(), 2);
    let cost = bench.machine().progress(JOB).unwrap().cost;
    assert!(cost.is_some_and(|cost| cost > 0.0), "{cost:?}");
}

#[test]
fn a_placement_of_unknown_cost_is_kept_while_its_nodes_do_not_answer() {
    let mut bench = restarted(CHEAPEST, 9000);
    let did = next_iteration(&mut bench);
    let mut waiting = asked(&did);
    while let Some((number, node)) = waiting.pop() {
        let did = match node {
            1 => bench.unreachable(1),
            node => bench.hear(node, seen(number, node, &[], &[3, 4, 5])),
        };
        let vote = |did: &Did| matches!(did, Send(_, Message::Commit(_)));
        assert!(!did.iter().any(vote), "{did:?}");
        waiting.extend(asked(&did));
    }
    let progress = bench.machine().progress(JOB).unwrap();
    assert_eq!((progress.start, progress.cost), (Some(second(9000)), None));
}
