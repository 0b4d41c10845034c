//! Exchanges of links.

use super::*;

#[test]
fn a_cycle_ages_all_links_and_sends_some_with_its_own_to_the_oldest() {
    let mut bench = Bench::with(&[(1, 0), (2, 3), (3, 1), (9, 5)]);
    assert_eq!(
        bench.cycle(0),
        [
            wake(1),
            knows(&[1, 2, 3, 9]),
            send(
                9,
                Message::Shuffle {
                    exchange: exchange(0),
                    links: links(&[(50, 0), (1, 1), (2, 4)])
                }
            ),
            left(9),
        ]
    );
    assert_eq!(bench.links(), [(1, 1), (2, 4), (3, 2)]);
    assert_eq!(bench.machine().waits_for(), Some(id(9)));
}

#[test]
fn the_only_link_is_exchanged_for_ones_own() {
    let mut bench = Bench::with(&[(9, 0)]);
    let effects = bench.cycle(0);
    let message = Message::Shuffle {
        exchange: exchange(0),
        links: links(&[(50, 0)]),
    };
    assert_eq!(effects[2..], [send(9, message), left(9)]);
    assert_eq!(bench.links(), []);
}

#[test]
fn an_answer_fills_empty_places_and_then_those_of_what_was_sent() {
    let mut bench = Bench::waiting();
    let effects = bench.hear(9, shuffled(0, &[(11, 4), (12, 5), (13, 6)]));
    assert_eq!(
        effects,
        [entered(11), left(1), entered(12), left(2), entered(13)]
    );
    assert_eq!(bench.links(), [(3, 1), (11, 4), (12, 5), (13, 6)]);
    assert_eq!(bench.machine().waits_for(), None);
}

#[test]
fn an_answer_counts_once_in_time_and_from_the_peer_that_was_asked() {
    let mut bench = Bench::waiting();
    let answer = shuffled(0, &[(11, 4)]);
    bench.ignores_message(8, answer.clone());
    bench.ignores_message(9, shuffled(1, &[(11, 4)]));
    let earlier_life = Message::Shuffled {
        exchange: ExchangeId {
            incarnation: Incarnation::new(7),
            cycle: 0,
        },
        links: links(&[(11, 4)]),
    };
    bench.ignores_message(9, earlier_life);
    let mut late = bench.clone();
    late.now = FIRST + CONFIG.timeout + Span::from_micros(1);
    assert_eq!(late.hear(9, answer.clone()), []);
    assert_eq!(late.links(), [(1, 1), (2, 1), (3, 1)]);
    bench.now = FIRST + CONFIG.timeout;
    assert_eq!(bench.hear(9, answer.clone()), [entered(11)]);
    bench.ignores_message(9, answer);
}

#[test]
fn an_unreachable_peer_is_given_up_at_once() {
    let mut bench = Bench::waiting();
    bench.ignores(Event::Unreachable { to: id(8) });
    assert_eq!(bench.feed(Event::Unreachable { to: id(9) }), []);
    assert_eq!(bench.machine().waits_for(), None);
    bench.ignores_message(9, shuffled(0, &[(11, 4)]));
    assert_eq!(bench.links(), [(1, 1), (2, 1), (3, 1)]);
}

#[test]
fn a_cycle_without_answer_goes_on_to_the_next_oldest() {
    let mut bench = Bench::waiting();
    let effects = bench.cycle(1);
    let message = Message::Shuffle {
        exchange: exchange(1),
        links: links(&[(50, 0), (2, 2), (3, 2)]),
    };
    assert_eq!(effects, [wake(2), send(1, message), left(1)]);
    bench.ignores_message(9, shuffled(0, &[(11, 4)]));
}

#[test]
fn timers_of_other_cycles_do_nothing_and_early_ones_come_again() {
    let mut bench = Bench::with(&[(1, 0)]);
    bench.ignores(Event::Timer(Timer { cycle: 1 }));
    let before = bench.machine().clone();
    assert_eq!(bench.feed(Event::Timer(Timer { cycle: 0 })), [wake(0)]);
    assert_eq!(*bench.machine(), before);
    bench.cycle(0);
    bench.ignores(Event::Timer(Timer { cycle: 0 }));
}

#[test]
fn an_asked_node_answers_from_before_the_merge_and_ages_nothing() {
    let mut bench = Bench::with(&[(1, 7), (2, 8), (3, 9)]);
    assert_eq!(
        bench.hear(9, shuffle(&[(9, 0), (11, 1), (12, 2)])),
        [
            send(9, shuffled(77, &[(1, 7), (2, 8), (3, 9)])),
            entered(9),
            left(1),
            entered(11),
            left(2),
            entered(12),
        ]
    );
    assert_eq!(bench.links(), [(3, 9), (9, 0), (11, 1), (12, 2)]);
}

#[test]
fn a_waiting_node_answers_and_does_not_replace_links_that_are_gone() {
    let mut bench = Bench::waiting();
    bench.hear(7, shuffle(&[(7, 0), (21, 0), (22, 0)]));
    assert_eq!(bench.links(), [(3, 1), (7, 0), (21, 0), (22, 0)]);
    assert_eq!(bench.hear(9, shuffled(0, &[(11, 4)])), []);
    assert_eq!(bench.links(), [(3, 1), (7, 0), (21, 0), (22, 0)]);
}

#[test]
fn a_node_that_is_asked_by_the_peer_it_asked_ends_up_with_a_link_to_it() {
    let mut bench = Bench::with(&[(9, 5)]);
    bench.cycle(0);
    assert_eq!(
        bench.hear(9, shuffle(&[(9, 0)])),
        [send(9, shuffled(77, &[])), entered(9)]
    );
    assert_eq!(bench.hear(9, shuffled(0, &[])), []);
    assert_eq!(bench.links(), [(9, 0)]);
}

#[test]
fn a_link_that_both_sides_sent_is_kept_as_recommended_and_may_go_literally() {
    let full = [(1, 1), (2, 1), (3, 1), (4, 1)];
    let message = || shuffle(&[(1, 0), (9, 0), (11, 0)]);
    let mut recommended = Bench::with(&full);
    recommended.hear(9, message());
    assert_eq!(recommended.links(), [(1, 0), (4, 1), (9, 0), (11, 0)]);
    let config = Config {
        replacement: Replacement::Literal,
        ..CONFIG
    };
    let mut literal = Bench::with_config(config, &full);
    literal.hear(9, message());
    assert_eq!(literal.links(), [(3, 1), (4, 1), (9, 0), (11, 0)]);
}

#[test]
fn a_full_view_with_nothing_to_replace_drops_what_comes() {
    let mut bench = Bench::with_config(
        Config {
            shuffle: 1,
            ..CONFIG
        },
        &[(1, 0)],
    );
    bench.machine_mut().view.insert(link(2, 0)).unwrap();
    bench.cycle(0);
    for other in [3, 4, 5] {
        bench.machine_mut().view.insert(link(other, 0)).unwrap();
    }
    assert_eq!(bench.hear(1, shuffled(0, &[(11, 0)])), []);
    assert_eq!(bench.links(), [(2, 1), (3, 0), (4, 0), (5, 0)]);
}

#[test]
fn a_known_link_gets_the_smaller_age_and_the_later_life() {
    let mut bench = Bench::with(&[(1, 7), (2, 1)]);
    let later = Link {
        incarnation: Incarnation::new(3),
        ..link(2, 5)
    };
    let links = [link(1, 4), later, link(2, 0)].into_iter().collect();
    let message = Message::Shuffle {
        exchange: exchange(0),
        links,
    };
    let restarted = Notice::Restarted {
        peer: id(2),
        incarnation: Incarnation::new(3),
    };
    assert_eq!(bench.hear(9, message)[1..], [Effect::Notify(restarted)]);
    assert_eq!(bench.links(), [(1, 4), (2, 1)]);
}

#[test]
fn a_host_that_does_not_want_to_know_is_not_told() {
    let config = Config {
        changes: Changes::Untold,
        ..CONFIG
    };
    let mut bench = Bench::with_config(config, &[]);
    assert_eq!(
        bench.hear(9, shuffle(&[(9, 0)])),
        [send(9, shuffled(77, &[]))]
    );
    assert_eq!(bench.links(), [(9, 0)]);
}
