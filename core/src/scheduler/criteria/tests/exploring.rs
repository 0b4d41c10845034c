//! Who is asked, in which order, and when there are enough.

use super::*;
use Did::{Persist, Send};
use Through::{Nobody, Random};

/// The question of this number to a node.
fn ask(node: u64, number: u32, through: Through) -> Did {
    Send(node, look(number, through))
}

#[test]
fn a_job_is_written_down_and_the_first_of_the_view_is_asked() {
    let (_, did) = Bench::searching(CONFIG, 2, Criterion::Soonest);
    assert_eq!(did, [Persist(OF_JOB), ask(1, 1, Random)]);
}

#[test]
fn basic_goes_breadth_first_and_asks_for_links_only_while_it_needs_them() {
    let (mut bench, _) = Bench::searching(CONFIG, 3, Criterion::Soonest);
    // Six are enough. Five are known now, so that 4 and 5 are still asked for links.
    assert_eq!(
        bench.hear(1, seen(1, 1, &[], &[4, 5, 6, 7])),
        [ask(4, 1, Random), ask(5, 1, Random)]
    );
    // With 8 enough are known; who was heard of first is asked first.
    assert_eq!(bench.hear(5, seen(1, 5, &[], &[8])), [ask(6, 1, Nobody)]);
    assert_eq!(bench.hear(4, seen(1, 4, &[], &[])), [ask(7, 1, Nobody)]);
    assert_eq!(bench.hear(7, seen(1, 7, &[], &[])), [ask(8, 1, Nobody)]);
    // Enough are under way.
    assert_eq!(bench.hear(8, seen(1, 8, &[], &[])), []);
    let one = attempt(1, 1);
    assert_eq!(
        bench.hear(6, seen(1, 6, &[], &[])),
        [1, 4, 5].map(|node| Send(node, prepare(one, 60)))
    );
}

#[test]
fn proactive_follows_the_links_of_the_helper_to_the_nearest_to_the_first() {
    for (criterion, number) in [(Criterion::Closest, 0), (CHEAPEST, 2)] {
        let config = Config {
            width: 1,
            ..PROACTIVE
        };
        let (mut bench, did) = Bench::searching(config, 2, criterion);
        let through = Through::Helper(number);
        assert_eq!(did, [Persist(OF_JOB), ask(1, 1, through)]);
        bench.hears(1, seen(1, 1, &[], &[9, 5, 7]), [ask(5, 1, through)]);
        // What is nearer to the first comes before what was heard of earlier.
        bench.hears(5, seen(1, 5, &[], &[8, 3]), [ask(3, 1, through)]);
        assert_eq!(bench.hear(3, seen(1, 3, &[], &[])), [ask(7, 1, through)]);
        assert_eq!(
            bench.hear(7, seen(1, 7, &[], &[])),
            [1, 3].map(|node| Send(node, prepare(attempt(1, 1), 60)))
        );
    }
}

#[test]
fn the_remote_are_looked_for_breadth_first_along_their_helper() {
    let config = Config {
        width: 1,
        ..PROACTIVE
    };
    let (mut bench, did) = Bench::searching(config, 2, Criterion::Farthest);
    let through = Through::Helper(3);
    assert_eq!(did, [Persist(OF_JOB), ask(1, 1, through)]);
    bench.hears(1, seen(1, 1, &[], &[9, 5]), [ask(9, 1, through)]);
    assert_eq!(bench.hear(9, seen(1, 9, &[], &[2])), [ask(5, 1, Nobody)]);
    assert_eq!(bench.hear(5, seen(1, 5, &[], &[])), [ask(2, 1, Nobody)]);
    assert_eq!(
        bench.hear(2, seen(1, 2, &[], &[])),
        [1, 9].map(|node| Send(node, prepare(attempt(1, 1), 60)))
    );
}

#[test]
fn without_a_helper_for_the_criterion_random_links_must_do() {
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
fn when_the_helper_knows_no_more_random_links_top_up() {
    let (mut bench, _) = Bench::searching(PROACTIVE, 2, Criterion::Closest);
    let near = Through::Helper(0);
    assert_eq!(bench.hear(1, seen(1, 1, &[], &[2])), [ask(2, 1, near)]);
    // Two of four are found, and neither knows another that is near.
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
fn who_has_told_all_its_random_links_is_not_asked_for_them_again() {
    let (mut bench, _) = Bench::searching(CONFIG, 2, Criterion::Soonest);
    assert_eq!(bench.hear(1, seen(1, 1, &[], &[2])), [ask(2, 1, Random)]);
    // Nobody else is there, and both have said so.
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
            // One was enough, so it was not asked whom it knows.
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
fn a_node_finds_itself_when_others_know_it() {
    let (mut bench, _) = Bench::searching(CONFIG, 1, Criterion::Soonest);
    // Two are enough: the first and itself, which needs no question.
    assert_eq!(
        bench.hear(1, seen(1, 1, &[busy(60, 120)], &[50])),
        [Send(50, prepare(attempt(1, 1), 60))]
    );
}

#[test]
fn a_node_alone_in_the_world_uses_itself() {
    let (mut bench, _) = Bench::boot(CONFIG, Bootstrap::Alone);
    assert_eq!(
        bench.obey(Command::Submit(wanting(1, Criterion::Closest))),
        [Persist(OF_JOB), Send(50, prepare(attempt(1, 1), 60))]
    );
    let (mut bench, _) = Bench::boot(CONFIG, Bootstrap::Alone);
    let mut expected = vec![Persist(OF_JOB)];
    expected.extend(given_up(Refusal::TooLarge));
    assert_eq!(
        bench.obey(Command::Submit(wanting(2, Criterion::Closest))),
        expected
    );
}

#[test]
fn iterations_begin_at_different_nodes_and_then_where_a_guide_knows() {
    let config = Config {
        iterations: 4,
        alpha: 100,
        ..CONFIG
    };
    let mut bench = Bench::meeting(config, &[1, 2]);
    let did = bench.obey(Command::Submit(wanting(1, NEVER)));
    assert_eq!(did, [Persist(OF_JOB), ask(1, 1, Nobody)]);
    assert_eq!(bench.hear(1, seen(1, 1, &[], &[])), [ask(2, 2, Nobody)]);
    // The view is used up: the first of it guides, to one where none has begun.
    assert_eq!(bench.hear(2, seen(2, 2, &[], &[])), [ask(1, 3, Random)]);
    bench.hears(1, seen(3, 1, &[], &[2, 1, 8, 9]), [ask(8, 3, Nobody)]);
    assert_eq!(bench.hear(8, seen(3, 8, &[], &[])), [ask(1, 4, Random)]);
    // If it knows no other, the iteration begins at the guide.
    assert_eq!(bench.hear(1, seen(4, 1, &[], &[2, 8])), [ask(1, 4, Nobody)]);
    assert_eq!(
        bench.hear(1, seen(4, 1, &[], &[])),
        given_up(Refusal::NotAcceptable)
    );
}

#[test]
fn who_is_silent_or_not_there_is_gone_on_without() {
    let (mut bench, _) = Bench::searching(CONFIG, 2, Criterion::Soonest);
    bench.hear(1, seen(1, 1, &[], &[4, 5, 6]));
    // 4 is silent, 5 is not there.
    assert_eq!(bench.at(1).unreachable(5), [ask(6, 1, Nobody)]);
    assert_eq!(bench.hear(6, seen(1, 6, &[], &[])), []);
    assert_eq!(bench.due(Timer::Due), Some(second(2)));
    // Too few are left, so 6, which has not been, is asked whom it knows.
    assert_eq!(bench.ring_until(2), [ask(6, 1, Random)]);
    assert_eq!(bench.hear(4, seen(1, 4, &[], &[])), [], "it is too late");
    assert_eq!(bench.hear(6, seen(1, 6, &[], &[7])), [ask(7, 1, Random)]);
    assert_eq!(
        bench.hear(7, seen(1, 7, &[], &[])),
        [1, 6].map(|node| Send(node, prepare(attempt(1, 1), 120)))
    );
}

#[test]
fn if_somebody_was_silent_too_few_may_be_enough_the_next_time() {
    let (mut bench, _) = Bench::searching(CONFIG, 2, Criterion::Soonest);
    // The first says nothing: the job is searched another place for, from another node.
    assert_eq!(bench.ring_until(2), [ask(2, 2, Random)]);
    // The second knows nobody who would answer, either: that was the last round.
    assert_eq!(bench.hear(2, seen(2, 2, &[], &[9])), [ask(9, 2, Random)]);
    assert_eq!(bench.ring_until(4), given_up(Refusal::Full));
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
    assert_eq!(did, [Persist(OF_JOB), ask(1, 1, Nobody), ask(2, 2, Nobody)]);
    // An answer to the one is none to the other.
    assert_eq!(bench.hear(1, seen(2, 1, &[], &[])), []);
    assert_eq!(bench.hear(2, seen(2, 2, &[], &[])), [ask(3, 3, Nobody)]);
    assert_eq!(bench.hear(1, seen(1, 1, &[], &[])), []);
    assert_eq!(
        bench.hear(3, seen(3, 3, &[], &[])),
        given_up(Refusal::NotAcceptable)
    );
}

#[test]
fn iterations_that_wait_for_the_same_node_go_on_together_and_no_more_begin() {
    let config = Config {
        iterations: 4,
        parallel: 2,
        ..CONFIG
    };
    // Both are at 9 and 8. The one turns out not to be there, so that both wait for the other; or both are silent.
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
