//! Joins by random walks.

use super::*;

#[test]
fn a_joiner_remembers_its_introducer_and_asks_it() {
    let mut bench = Bench::with(&[]);
    let ask = send(8, Message::Join { incarnation: BORN });
    assert_eq!(bench.feed(join(8)), [knows(&[8]), ask.clone()]);
    assert_eq!(bench.feed(join(8)), [ask]);
    bench.ignores(join(50));
}

#[test]
fn an_introducer_with_a_full_view_sends_as_many_walks_as_a_view_has_links() {
    let mut bench = Bench::with(&[(1, 0), (2, 0), (3, 0), (9, 0)]);
    let effects = bench.hear(9, Message::Join { incarnation: BORN });
    assert_eq!(effects, [1, 2, 3, 1].map(|to| send(to, walk(9, 2, 3))));
    assert_eq!(bench.links().len(), 4);
}

#[test]
fn an_introducer_with_room_is_the_end_of_one_walk() {
    let mut bench = Bench::with(&[(1, 4)]);
    let mut expected = std::vec![entered(9), send(9, gift(link(50, 0)))];
    expected.extend([1, 1, 1].map(|to| send(to, walk(9, 2, 3))));
    assert_eq!(bench.hear(9, Message::Join { incarnation: BORN }), expected);
    let mut alone = Bench::with(&[]);
    assert_eq!(
        alone.hear(9, Message::Join { incarnation: BORN }),
        [entered(9), send(9, gift(link(50, 0)))]
    );
}

#[test]
fn a_walk_goes_on_but_never_to_the_joiner() {
    let mut bench = Bench::with(&[(1, 0), (2, 0)]);
    assert_eq!(bench.hear(7, walk(9, 2, 3)), [send(1, walk(9, 1, 3))]);
    assert_eq!(bench.hear(7, walk(1, 2, 3)), [send(2, walk(1, 1, 3))]);
}

#[test]
fn a_walk_with_forged_steps_goes_no_farther_than_others() {
    let mut bench = Bench::with(&[(1, 0)]);
    assert_eq!(bench.hear(7, walk(9, 255, 255)), [send(1, walk(9, 2, 3))]);
}

#[test]
fn a_full_view_trades_a_link_for_one_to_the_joiner() {
    let mut bench = Bench::with(&[(1, 4), (2, 0), (3, 0), (4, 0)]);
    assert_eq!(
        bench.hear(7, walk(9, 0, 3)),
        [left(1), entered(9), send(9, gift(link(1, 4)))]
    );
    assert_eq!(bench.links(), [(2, 0), (3, 0), (4, 0), (9, 0)]);
}

#[test]
fn a_walk_that_ends_where_the_joiner_is_known_goes_on_while_it_can() {
    let mut bench = Bench::with(&[(1, 0), (9, 6)]);
    assert_eq!(bench.hear(7, walk(9, 0, 2)), [send(1, walk(9, 0, 1))]);
    assert_eq!(
        bench.links(),
        [(1, 0), (9, 0)],
        "its link is as young as the walk"
    );
    // In a small overlay all may know a joiner that knows none.
    let gift = send(9, gift(link(50, 0)));
    assert_eq!(bench.hear(7, walk(9, 0, 0)), std::slice::from_ref(&gift));
    // At the joiner itself.
    assert_eq!(bench.hear(7, walk(50, 0, 2)), [send(1, walk(50, 0, 1))]);
    bench.ignores_message(7, walk(50, 0, 0));
    // With nowhere to go.
    let mut bench = Bench::with(&[(9, 0)]);
    assert_eq!(bench.hear(7, walk(9, 3, 3)), [gift]);
}

#[test]
fn gifts_count_only_when_asked_for_and_only_so_many() {
    let mut bench = Bench::with(&[]);
    bench.ignores_message(7, gift(link(1, 3)));
    bench.feed(join(8));
    let earlier_life = Message::JoinGive {
        joiner: Incarnation::new(9),
        link: link(1, 3),
        giver: BORN,
    };
    bench.ignores_message(7, earlier_life);
    assert_eq!(bench.hear(7, gift(link(1, 3))), [entered(1)]);
    assert_eq!(
        bench.hear(6, gift(link(1, 4))),
        [entered(6)],
        "instead of 1, again"
    );
    assert_eq!(bench.hear(6, gift(link(50, 0))), [], "nothing new at all");
    assert_eq!(bench.hear(5, gift(link(2, 0))), [entered(2)]);
    bench.ignores_message(4, gift(link(3, 0)));
    assert_eq!(bench.links(), [(1, 3), (2, 0), (6, 0)]);
}
