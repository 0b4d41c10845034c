//! Which nodes an iteration asks, in which order, and when it has enough.

use super::*;
use Did::{Persist, Send};
use Through::{NoLink, Random};

/// The question to a node, in the search with this number.
fn ask(node: u64, number: u32, through: Through) -> Did {
    Send(node, look(number, through))
}

#[test]
fn a_job_is_persisted_before_the_first_node_of_the_view_is_asked() {
    let (_, did) = Bench::searching(CONFIG, 2, Criterion::Soonest);
    assert_eq!(did, [Persist(OF_JOB), ask(1, 1, Random)]);
}

#[test]
fn basic_exploration_goes_breadth_first_and_asks_for_links_only_while_it_needs_them() {
    let (mut bench, _) = Bench::searching(CONFIG, 3, Criterion::Soonest);
    // Six nodes are enough. Five are known now, so 4 and 5 are still asked for links.
    assert_eq!(
        bench.hear(1, seen(1, 1, &[], &[4, 5, 6, 7])),
        [ask(4, 1, Random), ask(5, 1, Random)]
    );
    // With 8 enough nodes are known. The node that was named first is asked first.
    assert_eq!(bench.hear(5, seen(1, 5, &[], &[8])), [ask(6, 1, NoLink)]);
    assert_eq!(bench.hear(4, seen(1, 4, &[], &[])), [ask(7, 1, NoLink)]);
    assert_eq!(bench.hear(7, seen(1, 7, &[], &[])), [ask(8, 1, NoLink)]);
    // Enough nodes are found or asked.
    assert_eq!(bench.hear(8, seen(1, 8, &[], &[])), []);
    let one = attempt(1, 1);
    assert_eq!(
        bench.hear(6, seen(1, 6, &[], &[])),
        [1, 4, 5].map(|node| Send(node, prepare(one, 60)))
    );
}

#[test]
fn proactive_exploration_follows_helper_links_to_the_node_nearest_to_the_first() {
    for (criterion, number) in [(Criterion::Closest, 0), (CHEAPEST, 2)] {
        let config = Config {
            width: 1,
            ..PROACTIVE
        };
        let (mut bench, did) = Bench::searching(config, 2, criterion);
        let through = Through::Helper(number);
        assert_eq!(did, [Persist(OF_JOB), ask(1, 1, through)]);
        bench.hears(1, seen(1, 1, &[], &[9, 5, 7]), [ask(5, 1, through)]);
        // A node nearer to the first one comes before a node that was named earlier.
        bench.hears(5, seen(1, 5, &[], &[8, 3]), [ask(3, 1, through)]);
        assert_eq!(bench.hear(3, seen(1, 3, &[], &[])), [ask(7, 1, through)]);
        assert_eq!(
            bench.hear(7, seen(1, 7, &[], &[])),
            [1, 3].map(|node| Send(node, prepare(attempt(1, 1), 60)))
        );
    }
}

#[test]
fn remote_nodes_are_searched_breadth_first_along_their_helper() {
    let config = Config {
        width: 1,
        ..PROACTIVE
    };
    let (mut bench, did) = Bench::searching(config, 2, Criterion::Farthest);
    let through = Through::Helper(3);
    assert_eq!(did, [Persist(OF_JOB), ask(1, 1, through)]);
    bench.hears(1, seen(1, 1, &[], &[9, 5]), [ask(9, 1, through)]);
    assert_eq!(bench.hear(9, seen(1, 9, &[], &[2])), [ask(5, 1, NoLink)]);
    assert_eq!(bench.hear(5, seen(1, 5, &[], &[])), [ask(2, 1, NoLink)]);
    assert_eq!(
        bench.hear(2, seen(1, 2, &[], &[])),
        [1, 9].map(|node| Send(node, prepare(attempt(1, 1), 60)))
    );
}

#[test]
fn without_a_helper_for_the_criterion_random_links_are_used() {
    let (_, did) = Bench::searching(PROACTIVE, 2, WITHIN_A_MINUTE);
    assert_eq!(did, [Persist(OF_JOB), ask(1, 1, Random)]);
    let config = Config {
        helpers: [None; 4],
        ..PROACTIVE
    };
    let (_, did) = Bench::searching(config, 2, Criterion::Closest);
    assert_eq!(did, [Persist(OF_JOB), ask(1, 1, Random)]);
}

#[test]
fn when_helper_links_are_used_up_random_links_are_asked_for() {
    let (mut bench, _) = Bench::searching(PROACTIVE, 2, Criterion::Closest);
    let near = Through::Helper(0);
    assert_eq!(bench.hear(1, seen(1, 1, &[], &[2])), [ask(2, 1, near)]);
    // Two of four nodes are found, and neither has another link of the helper.
    assert_eq!(bench.hear(2, seen(1, 2, &[], &[1])), [ask(1, 1, Random)]);
    assert_eq!(bench.hear(1, seen(1, 1, &[], &[2])), [ask(2, 1, Random)]);
    assert_eq!(
        bench.hear(2, seen(1, 2, &[], &[30, 40])),
        [ask(30, 1, Random), ask(40, 1, Random)]
    );
    assert_eq!(bench.hear(30, seen(1, 30, &[], &[])), []);
    assert_eq!(
        bench.hear(40, seen(1, 40, &[], &[])),
        [1, 2].map(|node| Send(node, prepare(attempt(1, 1), 60)))
    );
}

#[test]
fn a_node_that_has_sent_its_random_links_is_not_asked_for_them_again() {
    let (mut bench, _) = Bench::searching(CONFIG, 2, Criterion::Soonest);
    assert_eq!(bench.hear(1, seen(1, 1, &[], &[2])), [ask(2, 1, Random)]);
    // There is no other node, as the links of both show.
    assert_eq!(
        bench.hear(2, seen(1, 2, &[], &[1])),
        [1, 2].map(|node| Send(node, prepare(attempt(1, 1), 60)))
    );
}

#[test]
fn a_node_that_may_not_run_the_job_still_leads_to_others() {
    for alpha in [100, 200] {
        let config = Config { alpha, ..CONFIG };
        let (mut bench, _) = Bench::searching(config, 1, Criterion::Soonest);
        let closed = |links: &[u64]| Message::Seen {
            look: LookId(1),
            own: Descriptor {
                profile: Profile {
                    note: CLOSED,
                    ..profile(1)
                },
                ..descriptor(1)
            },
            schedule: snapshot(&[]),
            links: links.iter().map(|link| descriptor(*link)).collect(),
        };
        if alpha == 100 {
            // One node was enough, so it was not asked for links.
            assert_eq!(bench.hear(1, closed(&[])), [ask(1, 1, Random)]);
        }
        let asked = bench.hear(1, closed(&[4, 5]));
        assert_eq!(
            bench.explore(asked, &[]),
            [Send(4, prepare(attempt(1, 1), 60))]
        );
    }
}

#[test]
fn a_submitter_finds_itself_when_another_node_names_it() {
    let (mut bench, _) = Bench::searching(CONFIG, 1, Criterion::Soonest);
    // Two nodes are enough: the first one, and the submitter itself, which needs no question.
    assert_eq!(
        bench.hear(1, seen(1, 1, &[busy(60, 120)], &[50])),
        [Send(50, prepare(attempt(1, 1), 60))]
    );
}

#[test]
fn a_node_alone_in_the_grid_uses_itself() {
    let (mut bench, _) = Bench::boot(CONFIG, Bootstrap::Alone);
    assert_eq!(
        bench.obey(Command::submit(wanting(1, Criterion::Closest))),
        [Persist(OF_JOB), Send(50, prepare(attempt(1, 1), 60))]
    );
    let (mut bench, _) = Bench::boot(CONFIG, Bootstrap::Alone);
    let mut expected = vec![Persist(OF_JOB)];
    expected.extend(given_up(Refusal::TooLarge));
    assert_eq!(
        bench.obey(Command::submit(wanting(2, Criterion::Closest))),
        expected
    );
}

#[test]
fn iterations_begin_at_different_nodes_of_the_view_and_then_at_links_of_a_guide() {
    let config = Config {
        iterations: 4,
        alpha: 100,
        ..CONFIG
    };
    let mut bench = Bench::meeting(config, &[1, 2]);
    let did = bench.obey(Command::submit(wanting(1, NEVER)));
    assert_eq!(did, [Persist(OF_JOB), ask(1, 1, NoLink)]);
    assert_eq!(bench.hear(1, seen(1, 1, &[], &[])), [ask(2, 2, NoLink)]);
    // The view is used up: its first node is the guide, to a node where no iteration has begun.
    assert_eq!(bench.hear(2, seen(2, 2, &[], &[])), [ask(1, 3, Random)]);
    bench.hears(1, seen(3, 1, &[], &[2, 1, 8, 9]), [ask(8, 3, NoLink)]);
    assert_eq!(bench.hear(8, seen(3, 8, &[], &[])), [ask(1, 4, Random)]);
    // If the guide has no such link, the iteration begins at the guide.
    assert_eq!(bench.hear(1, seen(4, 1, &[], &[2, 8])), [ask(1, 4, NoLink)]);
    assert_eq!(
        bench.hear(1, seen(4, 1, &[], &[])),
        given_up(Refusal::NotAcceptable)
    );
}

#[test]
fn a_search_goes_on_without_silent_and_unreachable_nodes() {
    let (mut bench, _) = Bench::searching(CONFIG, 2, Criterion::Soonest);
    bench.hear(1, seen(1, 1, &[], &[4, 5, 6]));
    // 4 is silent, 5 is unreachable.
    assert_eq!(bench.at(1).unreachable(5), [ask(6, 1, NoLink)]);
    assert_eq!(bench.hear(6, seen(1, 6, &[], &[])), []);
    assert_eq!(bench.due(Timer::Due), Some(second(2)));
    // There are too few nodes, so 6 is asked for random links, for the first time.
    assert_eq!(bench.ring_until(2), [ask(6, 1, Random)]);
    assert_eq!(bench.hear(4, seen(1, 4, &[], &[])), [], "it is too late");
    assert_eq!(bench.hear(6, seen(1, 6, &[], &[7])), [ask(7, 1, Random)]);
    assert_eq!(
        bench.hear(7, seen(1, 7, &[], &[])),
        [1, 6].map(|node| Send(node, prepare(attempt(1, 1), 120)))
    );
}

#[test]
fn after_a_silent_node_too_few_nodes_do_not_refuse_the_job_as_too_large() {
    let (mut bench, _) = Bench::searching(CONFIG, 2, Criterion::Soonest);
    // The first node is silent: the next search begins at another node.
    assert_eq!(bench.ring_until(2), [ask(2, 2, Random)]);
    // The only link of the second node is silent too: that was the last round.
    assert_eq!(bench.hear(2, seen(2, 2, &[], &[9])), [ask(9, 2, Random)]);
    assert_eq!(bench.ring_until(4), given_up(Refusal::NotFound));
}

#[test]
fn parallel_iterations_have_their_own_questions() {
    let config = Config {
        iterations: 3,
        parallel: 2,
        alpha: 100,
        ..CONFIG
    };
    let (mut bench, did) = Bench::searching(config, 1, NEVER);
    assert_eq!(did, [Persist(OF_JOB), ask(1, 1, NoLink), ask(2, 2, NoLink)]);
    // An answer counts only for the iteration that asked.
    assert_eq!(bench.hear(1, seen(2, 1, &[], &[])), []);
    assert_eq!(bench.hear(2, seen(2, 2, &[], &[])), [ask(3, 3, NoLink)]);
    assert_eq!(bench.hear(1, seen(1, 1, &[], &[])), []);
    assert_eq!(
        bench.hear(3, seen(3, 3, &[], &[])),
        given_up(Refusal::NotAcceptable)
    );
}

#[test]
fn iterations_that_wait_for_the_same_node_all_go_on_before_another_begins() {
    let config = Config {
        iterations: 4,
        parallel: 2,
        ..CONFIG
    };
    // Both iterations wait for 9 and 8. Either 9 is unreachable and both still wait for 8, or 9 and 8 are both silent.
    for (told, expected) in [
        (true, vec![]),
        (false, vec![ask(3, 3, Random), ask(1, 4, Random)]),
    ] {
        let (mut bench, _) = Bench::searching(config, 2, NEVER);
        bench.hear(1, seen(1, 1, &[], &[9, 8]));
        bench.hear(2, seen(2, 2, &[], &[9, 8]));
        let did = if told {
            bench.unreachable(9)
        } else {
            bench.ring_until(2)
        };
        assert_eq!(did, expected);
    }
}
