//! Jobs that cannot start at once: they wait without a placement, get one when their patience is over, and move up.

use super::Did::{Send, Tell};
use super::*;

/// A node whose jobs are searched for again after 600 seconds, on average, and get a placement after 3600.
fn patient() -> Bench {
    let config = Config {
        improve: Some(Span::from_secs(600)),
        patience: Span::from_secs(3600),
        commit: commit::Config {
            permission: Permission::UntilEnd,
            ..CONFIG.commit
        },
        ..CONFIG
    };
    let mut bench = Bench::among(config, 3);
    // All neighbours are busy.
    for peer in 1..=3 {
        bench.hear(peer, schedule(Reason::Changed, 2, &[busy(0, 80_000)]));
    }
    bench
}

/// A node with a job that waits: it could start on 5 and 6 at 9000.
fn waiting() -> Bench {
    let mut bench = patient();
    bench.submit(7, 2);
    bench.hear(1, found(1, 9000, 1, &[5, 6]));
    bench.hear(2, found(1, 9000, 1, &[5, 6]));
    bench
}

/// Only the searches that were sent.
fn searches(did: Effects) -> Effects {
    let is_search = |did: &Did| matches!(did, Send(_, Message::Search { .. }));
    did.into_iter().filter(is_search).collect()
}

/// Rings until a search is sent. Returns the number of the question and the searchers.
pub(super) fn next_search(bench: &mut Bench) -> (u32, Vec<u64>) {
    loop {
        let sent = searches(bench.ring());
        let to = sent.iter().filter_map(|did| match did {
            Send(to, Message::Search { ask, .. }) => Some((ask.round, *to)),
            _ => None,
        });
        let (rounds, to): (Vec<u32>, Vec<u64>) = to.unzip();
        if let Some(round) = rounds.first() {
            return (*round, to);
        }
    }
}

const fn expected(start: u64) -> News {
    let start = Time::from_secs(start);
    News::Expected { start }
}

#[test]
fn a_job_that_cannot_start_at_once_waits_without_a_placement_until_it_can() {
    let mut bench = patient();
    bench.submit(7, 2);
    bench.hear(1, found(1, 7000, 1, &[5, 6]));
    assert_eq!(
        bench.hear(2, found(1, 6000, 1, &[5, 6])),
        [Tell(7, expected(6000))],
        "nothing is reserved"
    );
    let (round, searchers) = next_search(&mut bench);
    assert_eq!((round, searchers.len()), (2, 1));
    assert!(
        (450..=750).contains(&bench.now.as_secs()),
        "{:?}",
        bench.now
    );
    assert_eq!(
        bench.hear(searchers[0], found(2, 6000, 1, &[5, 6])),
        [],
        "the same start is no news"
    );
    let (round, searchers) = next_search(&mut bench);
    let start = CONFIG.earliest(bench.now).as_secs();
    let did = bench.hear(searchers[0], found(round, start, 1, &[5, 6]));
    let one = attempt(1, 1);
    assert_eq!(
        did,
        [Send(5, prepare(one, start)), Send(6, prepare(one, start))]
    );
    let did = bench.agree(&[5, 6], one);
    assert!(did.contains(&Tell(7, accepted(start))), "{did:?}");
}

#[test]
fn a_job_whose_patience_is_over_gets_the_earliest_placement() {
    let mut bench = waiting();
    loop {
        let (round, searchers) = next_search(&mut bench);
        let over = bench.now >= second(3600);
        assert_eq!(searchers.len(), if over { 2 } else { 1 });
        let last = searchers
            .iter()
            .map(|from| bench.hear(*from, found(round, 9000, 1, &[5, 6])));
        let did = last.last().unwrap();
        let reserved = [5, 6].map(|node| Send(node, prepare(attempt(1, 1), 9000)));
        assert_eq!(did, if over { reserved.to_vec() } else { vec![] });
        if over {
            return;
        }
    }
}

#[test]
fn one_searcher_that_finds_nothing_fails_no_job_that_waits() {
    let mut bench = patient();
    bench.submit(7, 2);
    bench.hear(1, found(1, 6000, 1, &[5, 6]));
    bench.hear(2, not_found(1, 1));
    let (round, searchers) = next_search(&mut bench);
    assert_eq!(bench.hear(searchers[0], not_found(round, 1)), []);
    assert_eq!(next_search(&mut bench).0, 3);
    assert_eq!(bench.jobs(), 1);
}

#[test]
fn a_job_that_waits_avoids_a_node_only_until_a_search_in_vain() {
    let wanted = |did: Effects| -> Vec<u32> {
        let counts = did.into_iter().filter_map(|did| match did {
            Send(_, Message::Search { wanted, .. }) => Some(wanted.count),
            _ => None,
        });
        counts.collect()
    };
    for later in [not_found(2, 1), found(2, 6000, 1, &[4, 5])] {
        let mut bench = patient();
        bench.submit(7, 1);
        bench.hear(1, found(1, 60, 1, &[5]));
        bench.hear(2, not_found(1, 8));
        let refused = Vote::Refused {
            attempt: attempt(1, 1),
            reason: commit::Refused::NotAccepted,
            next_free: None,
        };
        let next = |bench: &mut Bench, mut did: Effects| loop {
            did = searches(did);
            if !did.is_empty() {
                break did;
            }
            did = bench.ring();
        };
        let did = bench.vote(5, refused);
        let sent = next(&mut bench, did);
        let [Send(searcher, _)] = sent[..] else {
            panic!("one neighbour searches for a job that waits: {sent:?}");
        };
        assert_eq!(wanted(sent), [2], "for the job and the node that refused");
        let did = bench.hear(searcher, later);
        // A grid of two has no third node.
        let sent = next(&mut bench, did);
        assert_eq!(wanted(sent), [1]);
    }
}

#[test]
fn a_job_that_comes_too_late_each_time_waits() {
    let mut bench = patient();
    bench.submit(7, 2);
    let mut round = 1;
    bench.hear(1, found(1, 60, 1, &[5, 6]));
    bench.hear(2, not_found(1, 8));
    for number in 1..=8 {
        let lost = bench.vote(5, refused(attempt(1, number)));
        let mut asked = searches(lost);
        if asked.is_empty() {
            (round, _) = next_search(&mut bench);
        } else {
            round += 1;
        }
        let start = CONFIG.earliest(bench.now).as_secs();
        for from in [1, 2, 3] {
            asked = bench.hear(from, found(round, start, 1, &[5, 6]));
            if !asked.is_empty() {
                break;
            }
        }
        assert!(!asked.is_empty(), "round {round}");
    }
    assert_eq!(bench.jobs(), 1);
}

/// A node with a job on 5 and 6 at 9000, which it got when its patience was over.
fn placed() -> Bench {
    let mut bench = waiting();
    loop {
        let (round, searchers) = next_search(&mut bench);
        for from in &searchers {
            bench.hear(*from, found(round, 9000, 1, &[5, 6]));
        }
        if searchers.len() == 2 {
            break;
        }
    }
    let did = bench.agree(&[5, 6], attempt(1, 1));
    assert!(did.contains(&Tell(7, accepted(9000))), "{did:?}");
    bench
}

/// Rings until the node asks 5 and 6 for their schedules. Returns the number of its search.
fn own_search(bench: &mut Bench) -> u32 {
    loop {
        let did = bench.ring();
        assert_eq!(searches(did.clone()), []);
        let asked = did.iter().find_map(|did| match did {
            Send(5, Message::Fetch(Reason::Search(SearchId(id)))) => Some(*id),
            _ => None,
        });
        if let Some(id) = asked {
            return id;
        }
    }
}

/// Answers a search with the schedules of 5 and 6, and with no others. 6 is busy until then.
fn answer(bench: &mut Bench, id: u32, until: u64) -> Effects {
    let reason = Reason::Search(SearchId(id));
    bench.hear(5, schedule(reason, 1, &[busy(9000, 9060)]));
    let until_then = [busy(0, until), busy(9000, 9060)];
    let until_its_start = [busy(0, 9060)];
    let windows: &[Interval] = match until {
        9000 => &until_its_start,
        _ => &until_then,
    };
    let mut did = bench.hear(6, schedule(reason, 1, windows));
    for peer in 1..=3 {
        did.extend(bench.hear(peer, others(id, &[])));
    }
    did
}

#[test]
fn a_placement_moves_up_on_its_own_nodes_when_they_become_free() {
    let mut bench = placed();
    let id = own_search(&mut bench);
    let did = answer(&mut bench, id, 8970);
    let two = attempt(1, 2);
    // The old time of the job overlaps with the new one.
    let moved = [5, 6].map(|node| Send(node, prepare(two, 8970)));
    assert!(moved.iter().all(|sent| did.contains(sent)), "{did:?}");
    let did = bench.agree(&[5, 6], two);
    assert!(did.contains(&Tell(7, News::moved(second(8970)))), "{did:?}");
}

#[test]
fn a_job_keeps_its_placement_and_searches_again_if_no_earlier_one_is_found_or_confirmed() {
    let mut bench = placed();
    let id = own_search(&mut bench);
    let is_prepare = |did: &Did| matches!(did, Send(_, Message::Commit(Vote::Prepare { .. })));
    let did = answer(&mut bench, id, 9000);
    assert!(!did.iter().any(is_prepare), "{did:?}");
    // An earlier start is found, but the time is taken meanwhile.
    let id = own_search(&mut bench);
    let did = answer(&mut bench, id, 8000);
    assert!(did.iter().any(is_prepare), "{did:?}");
    let two = attempt(1, 2);
    assert_eq!(
        bench.vote(5, refused(two)),
        [Send(5, abort(two)), Send(6, abort(two))]
    );
    own_search(&mut bench);
}
