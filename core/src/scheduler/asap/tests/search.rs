//! Figure 3 of the paper, as exact questions and answers. Node 9 asks for a placement.

use super::*;
use Did::Send;

const FREE: &[Interval] = &[];

/// A node with neighbours 1 to 3: the first `free` are free in the slot at 60, the others from 120 on.
fn neighbours(config: Config, free: u64) -> Bench {
    let mut bench = Bench::meeting(config, &[1, 2, 3]);
    for peer in 1..=3 {
        let windows = [busy(0, 120)];
        let windows = if peer <= free { FREE } else { &windows };
        bench.hear(peer, schedule(Reason::NewLink, 1, windows));
    }
    bench
}

#[test]
fn free_neighbours_are_offered_immediately() {
    let mut bench = neighbours(CONFIG, 3);
    bench.answers(9, search(1, 2, 60), found(1, 60, 1, &[1, 2]));
    bench.answers(9, search(1, 3, 60), found(1, 60, 1, &[1, 2, 3]));
}

#[test]
fn neighbours_are_asked_one_after_another_until_enough_nodes_are_free() {
    let mut bench = neighbours(CONFIG, 1);
    assert_eq!(bench.hear(9, search(1, 3, 60)), [Send(1, who_else(1))]);
    // Nodes 1 and 2 are known already, 50 is the searcher, and 4 is busy.
    let told: [(u64, &[Interval]); 4] = [(1, &[]), (2, &[]), (50, &[]), (4, &[busy(60, 120)])];
    assert_eq!(bench.hear(1, others(1, &told)), [Send(2, who_else(1))]);
    // Now enough nodes are free, so the third neighbour is not asked.
    assert_eq!(
        bench.hear(2, others(1, &[(5, &[]), (6, &[]), (7, &[])])),
        [Send(9, found(1, 60, 2, &[1, 5, 6]))]
    );
    assert_eq!(bench.hear(3, others(1, &[(8, &[])])), []);
}

#[test]
fn as_many_nodes_are_asked_at_the_same_time_as_configured() {
    let config = Config { width: 2, ..CONFIG };
    let mut bench = neighbours(config, 0);
    assert_eq!(
        bench.hear(9, search(1, 1, 60)),
        [Send(1, who_else(1)), Send(2, who_else(1))]
    );
    assert_eq!(bench.hear(2, others(1, &[])), [Send(3, who_else(1))]);
    assert_eq!(bench.hear(2, others(1, &[(7, &[])])), [], "it has answered");
    bench.hears(3, others(1, &[(4, &[])]), [Send(9, found(1, 60, 2, &[4]))]);
}

#[test]
fn a_job_without_room_at_its_earliest_start_is_put_off_to_the_earliest_common_slot() {
    let mut bench = neighbours(CONFIG, 0);
    bench.hear(9, search(1, 4, 60));
    bench.hear(1, others(1, &[(4, &[busy(120, 180)])]));
    bench.hear(2, others(1, &[(5, &[busy(180, 240)])]));
    // Node 4 is free from 180 on, and 5 only until then.
    assert_eq!(
        bench.hear(3, others(1, &[])),
        [Send(9, found(1, 120, 2, &[1, 2, 3, 5]))]
    );
    bench.hear(9, search(1, 5, 60));
    bench.hear(1, others(2, &[(4, &[busy(120, 180)])]));
    bench.hear(2, others(2, &[(5, &[busy(180, 240)])]));
    assert_eq!(
        bench.hear(3, others(2, &[])),
        [Send(9, found(1, 240, 2, &[1, 2, 3, 4, 5]))]
    );
}

#[test]
fn with_two_hops_a_job_for_more_nodes_than_are_seen_gets_no_placement() {
    let mut bench = neighbours(CONFIG, 3);
    bench.hear(9, search(1, 5, 60));
    bench.hear(1, others(1, &[(4, &[])]));
    bench.hear(2, others(1, &[]));
    bench.hears(3, others(1, &[(1, &[])]), [Send(9, not_found(1, 4))]);
}

#[test]
fn a_neighbour_without_a_schedule_becomes_a_candidate_when_another_node_sends_its_schedule() {
    let mut bench = Bench::meeting(CONFIG, &[1, 2]);
    assert_eq!(bench.hear(9, search(1, 2, 60)), [Send(1, who_else(1))]);
    assert_eq!(
        bench.hear(1, others(1, &[(2, FREE)])),
        [Send(2, who_else(1))],
        "once, though it was named since"
    );
    assert_eq!(
        bench.hear(2, others(1, &[(1, FREE)])),
        [Send(9, found(1, 60, 2, &[2, 1]))]
    );
}

#[test]
fn a_search_without_the_schedule_of_a_neighbour_does_not_say_that_a_job_is_too_large() {
    let mut bench = Bench::meeting(CONFIG, &[1, 2]);
    bench.hear(1, schedule(Reason::NewLink, 1, FREE));
    bench.hear(9, search(1, 2, 60));
    bench.hear(1, others(1, &[]));
    assert_eq!(bench.hear(2, others(1, &[])), [Send(9, not_found(1, 0))]);
    // When all schedules are known, too few candidates mean that the job is too large.
    bench.hear(2, schedule(Reason::NewLink, 1, FREE));
    bench.hear(9, search(1, 3, 60));
    bench.hear(1, others(2, &[]));
    assert_eq!(bench.hear(2, others(2, &[])), [Send(9, not_found(1, 2))]);
}

#[test]
fn rings_are_added_only_while_there_are_too_few_candidates() {
    let config = Config {
        max_hops: 3,
        ..CONFIG
    };
    let mut bench = neighbours(config, 3);
    bench.hear(9, search(1, 6, 60));
    bench.hear(1, others(1, &[(4, &[])]));
    bench.hear(2, others(1, &[(5, &[busy(60, 120)])]));
    // Five candidates for six nodes: the nodes of the next ring are asked too, until there are six.
    assert_eq!(bench.hear(3, others(1, &[])), [Send(4, who_else(1))]);
    assert_eq!(
        bench.hear(4, others(1, &[(6, &[busy(60, 120)])])),
        [Send(9, found(1, 120, 3, &[1, 2, 3, 4, 5, 6]))]
    );
    // Five candidates are enough to put a job for five nodes off, so no other node is asked.
    bench.hear(9, search(1, 5, 60));
    bench.hear(1, others(2, &[(4, &[])]));
    bench.hear(2, others(2, &[(5, &[busy(60, 120)])]));
    assert_eq!(
        bench.hear(3, others(2, &[])),
        [Send(9, found(1, 120, 2, &[1, 2, 3, 4, 5]))]
    );
}

#[test]
fn a_search_may_want_several_candidates_for_each_node() {
    let config = Config {
        max_hops: 3,
        breadth: 2,
        ..CONFIG
    };
    let mut bench = neighbours(config, 3);
    let late: &[_] = &[busy(60, 180)];
    // Enough free candidates are offered immediately, however few there are.
    bench.answers(9, search(1, 3, 60), found(1, 60, 1, &[1, 2, 3]));
    assert_eq!(bench.hear(9, search(2, 4, 60)), [Send(1, who_else(2))]);
    let more = [(1, 4), (2, 5)].map(|(peer, other)| bench.hear(peer, others(2, &[(other, late)])));
    assert_eq!(more, [[Send(2, who_else(2))], [Send(3, who_else(2))]]);
    // Five candidates for four nodes; eight would be plenty.
    assert_eq!(bench.hear(3, others(2, &[])), [Send(4, who_else(2))]);
    assert_eq!(
        bench.hear(4, others(2, &[(6, late), (7, &[busy(60, 120)])])),
        [Send(5, who_else(2))]
    );
    assert_eq!(
        bench.hear(5, others(2, &[])),
        [Send(9, found(2, 120, 3, &[1, 2, 3, 7]))]
    );
}

#[test]
fn the_searcher_is_the_first_candidate_or_none() {
    for (searcher, nodes) in [(Searcher::Included, [50, 1]), (Searcher::Excluded, [1, 2])] {
        let config = Config { searcher, ..CONFIG };
        let mut bench = neighbours(config, 3);
        bench.answers(9, search(1, 2, 60), found(1, 60, 1, &nodes));
    }
}

#[test]
fn best_fit_takes_the_nodes_where_least_idle_time_is_left() {
    let config = Config {
        choice: Choice::BestFit,
        ..CONFIG
    };
    let mut bench = Bench::meeting(config, &[1, 2, 3]);
    let windows: [&[Interval]; 3] = [&[], &[busy(180, 240)], &[busy(120, 240)]];
    for (peer, windows) in (1..).zip(windows) {
        bench.hear(peer, schedule(Reason::NewLink, 1, windows));
    }
    for (count, nodes) in [(1, &[3][..]), (2, &[2, 3])] {
        let did = bench.hear(9, search(1, count, 60));
        let [Send(9, Message::Found { offer, .. })] = &did[..] else {
            panic!("{did:?}");
        };
        let mut chosen: Vec<u64> = offer.nodes.iter().map(|node| node.get()).collect();
        chosen.sort_unstable();
        assert_eq!((offer.start, &chosen[..]), (second(60), nodes));
    }
}

#[test]
fn a_node_that_does_not_name_its_neighbours_is_passed_over() {
    let mut bench = neighbours(CONFIG, 0);
    bench.hear(9, search(1, 1, 60));
    assert_eq!(bench.ring_until(1), []);
    assert_eq!(bench.ring_until(2), [Send(2, who_else(1))]);
    assert_eq!(
        bench.feed(Event::Unreachable { to: id(2) }),
        [Send(3, who_else(1))]
    );
    assert_eq!(bench.hear(1, others(1, &[(4, &[])])), [], "it is too late");
    assert_eq!(bench.ring_until(4), [Send(9, found(1, 120, 2, &[1]))]);
}

#[test]
fn a_search_at_its_limit_answers_with_what_it_knows() {
    let config = Config {
        timeout: Span::from_secs(4),
        ..CONFIG
    };
    let mut bench = neighbours(config, 0);
    bench.hear(9, search(1, 1, 60));
    assert_eq!(
        bench.ring_until(8),
        [Send(2, who_else(1)), Send(3, who_else(1))]
    );
    assert_eq!(bench.ring_until(9), [Send(9, found(1, 120, 2, &[1]))]);
}

#[test]
fn with_one_hop_no_other_node_is_asked() {
    let config = Config {
        max_hops: 1,
        ..CONFIG
    };
    let mut bench = neighbours(config, 1);
    bench.answers(9, search(1, 2, 60), found(1, 120, 1, &[1, 2]));
    assert_eq!(bench.hear(9, search(1, 4, 60)), [Send(9, not_found(1, 3))]);
}

#[test]
fn a_searcher_gets_all_neighbours_whose_schedules_are_known() {
    let mut bench = Bench::meeting(CONFIG, &[1, 2, 3]);
    bench.hear(1, schedule(Reason::NewLink, 1, &[]));
    bench.hear(3, schedule(Reason::NewLink, 1, &[busy(60, 120)]));
    assert_eq!(
        bench.hear(9, who_else(4)),
        [Send(9, others(4, &[(1, &[]), (3, &[busy(60, 120)])]))]
    );
}

#[test]
fn searches_beyond_the_limit_are_declined_and_counted() {
    // At most four searches at the same time, two of them for one asker.
    let mut bench = neighbours(CONFIG, 0);
    for asker in [8, 9] {
        for _ in 0..2 {
            assert!(matches!(
                bench.hear(asker, search(1, 1, 60))[..],
                [Send(1, Message::WhoElse { .. })]
            ));
        }
        bench.answers(asker, search(1, 1, 60), not_found(1, 0));
    }
    assert_eq!(bench.hear(7, search(1, 1, 60)), [Send(7, not_found(1, 0))]);
    assert_eq!(bench.machine().declined().searches, 3);
    // When these searches are over, there is room again.
    bench.ring_until(9);
    assert_eq!(bench.hear(7, search(1, 1, 60)), [Send(1, who_else(5))]);
}

#[test]
fn a_search_looks_at_no_more_candidates_than_it_may() {
    let config = Config {
        candidates: 4,
        max_hops: 9,
        ..CONFIG
    };
    let mut bench = neighbours(config, 0);
    bench.hear(9, search(1, 6, 60));
    bench.hear(1, others(1, &[(4, &[]), (5, &[]), (6, &[])]));
    bench.hear(2, others(1, &[(7, &[])]));
    bench.hears(3, others(1, &[(8, &[])]), [Send(9, not_found(1, 4))]);
}

#[test]
fn an_asker_that_no_node_knows_may_be_needed_for_its_own_job() {
    let config = Config {
        searcher: Searcher::Included,
        ..CONFIG
    };
    let mut bench = Bench::meeting(config, &[]);
    let fetch = Reason::Search(SearchId(1));
    bench.answers(9, search(1, 2, 60), Message::Fetch(fetch));
    let mut silent = bench.clone();
    assert_eq!(
        bench.hear(9, schedule(fetch, 1, &[busy(0, 120)])),
        [Send(9, found(1, 120, 1, &[50, 9]))]
    );
    assert_eq!(silent.ring_until(2), [Send(9, not_found(1, 1))]);
    // With enough other candidates the asker is not asked.
    let mut bench = Bench::among(config, 2);
    let all = found(1, 60, 1, &[50, 1, 2]);
    assert_eq!(bench.hear(9, search(1, 3, 60)), [Send(9, all)]);
}
