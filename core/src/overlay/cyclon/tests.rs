use super::*;
use crate::machine::{Driver, Effect};
use crate::overlay::view::Links;
use std::vec::Vec;

type Small = Cyclon<4, 3>;
type Effects = Vec<Effect<Small>>;

const ME: NodeId = NodeId::new(50);
const BORN: Incarnation = Incarnation::new(0);
const CONFIG: Config = Config {
    view: 4,
    shuffle: 3,
    period: Span::from_secs(256),
    timeout: Span::from_secs(2),
    walk: 3,
    patience: 2,
    remember: 1000,
    replacement: Replacement::Recommended,
    changes: Changes::Told,
    samples: 0,
};
const SAMPLING: Config = Config {
    samples: 1,
    ..CONFIG
};
/// When a node that starts at 100 s has its first cycle: a 256th of a period later.
const FIRST: Time = Time::from_secs(101);

type Bench = Driver<Small>;

impl Bench {
    fn unborn(config: Config) -> Self {
        let build = move || Cyclon::new(ME, config).unwrap();
        Self::new(Time::from_secs(100), build)
    }

    /// A started node with links of these ages.
    fn with_config(config: Config, links: &[(u64, u16)]) -> Self {
        let mut bench = Self::unborn(config);
        bench.feed(Event::Start);
        for &(id, age) in links {
            bench.machine_mut().view.insert(link(id, age)).unwrap();
        }
        bench
    }

    fn with(links: &[(u64, u16)]) -> Self {
        Self::with_config(CONFIG, links)
    }

    /// A node after its first cycle, in which it asked its oldest link, 9, and sent 1 and 2.
    fn waiting() -> Self {
        let mut bench = Self::with(&[(1, 0), (2, 0), (3, 0), (9, 5)]);
        bench.cycle(0);
        assert_eq!(bench.machine().waits_for(), Some(id(9)));
        bench
    }

    /// The time of this cycle comes.
    fn cycle(&mut self, cycle: u32) -> Effects {
        self.now = FIRST + CONFIG.period.times(u64::from(cycle));
        self.feed(Event::Timer(Timer { cycle }))
    }

    fn links(&self) -> Vec<(u64, u16)> {
        let links = self.machine().view().links();
        links.map(|link| (link.id.get(), link.age)).collect()
    }

    fn ignores_message(&mut self, from: u64, message: Message<3>) {
        let from = id(from);
        self.ignores(Event::Message { from, message });
    }
}

fn id(number: u64) -> NodeId {
    NodeId::new(number)
}

fn link(id: u64, age: u16) -> Link {
    Link {
        id: NodeId::new(id),
        incarnation: BORN,
        age,
    }
}

fn links(list: &[(u64, u16)]) -> Links<3> {
    list.iter().map(|&(id, age)| link(id, age)).collect()
}

fn exchange(cycle: u32) -> ExchangeId {
    ExchangeId {
        incarnation: BORN,
        cycle,
    }
}

fn shuffle(list: &[(u64, u16)]) -> Message<3> {
    Message::Shuffle {
        exchange: exchange(77),
        links: links(list),
    }
}

fn shuffled(cycle: u32, list: &[(u64, u16)]) -> Message<3> {
    Message::Shuffled {
        exchange: exchange(cycle),
        links: links(list),
    }
}

fn walk(joiner: u64, ttl: u8, spare: u8) -> Message<3> {
    Message::JoinWalk {
        joiner: id(joiner),
        incarnation: BORN,
        ttl,
        spare,
    }
}

fn gift(link: Link) -> Message<3> {
    Message::JoinGive {
        joiner: BORN,
        link,
        giver: BORN,
    }
}

fn send(to: u64, message: Message<3>) -> Effect<Small> {
    let to = id(to);
    Effect::Send { to, message }
}

fn wake(cycle: u32) -> Effect<Small> {
    let at = FIRST + CONFIG.period.times(u64::from(cycle));
    let timer = Timer { cycle };
    Effect::Wake { at, timer }
}

fn entered(peer: u64) -> Effect<Small> {
    let peer = id(peer);
    Effect::Notify(Notice::Entered { peer })
}

fn left(peer: u64) -> Effect<Small> {
    let peer = id(peer);
    Effect::Notify(Notice::Left { peer })
}

fn knows(peers: &[u64]) -> Effect<Small> {
    let known = peers.iter().map(|&peer| id(peer)).collect();
    Effect::Persist(Key::Known, Record::Known(known))
}

fn join(introducer: u64) -> Event<Small> {
    let introducer = id(introducer);
    Event::Command(Command::Join { introducer })
}

#[test]
fn a_start_writes_down_its_life_and_waits_for_a_part_of_the_period() {
    let mut bench = Bench::unborn(CONFIG);
    let life = Effect::Persist(Key::Incarnation, Record::Incarnation(BORN));
    assert_eq!(bench.feed(Event::Start), [life, wake(0)]);
    bench.ignores(Event::Start);
}

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
fn hostile_shuffles_are_cut_down_to_what_is_allowed() {
    let config = Config {
        shuffle: 2,
        ..CONFIG
    };
    let mut bench = Bench::with_config(config, &[]);
    // A link to the node itself, one link twice, and one link too many.
    bench.hear(9, shuffle(&[(50, 0), (11, u16::MAX), (12, 0)]));
    assert_eq!(bench.links(), [(11, u16::MAX)]);
    bench.hear(9, shuffle(&[(13, 1), (13, 0)]));
    assert_eq!(bench.links(), [(11, u16::MAX), (13, 0)]);
    bench.cycle(0);
    assert_eq!(bench.machine().waits_for(), Some(id(11)), "ages saturate");
    // Messages that claim to come from the node itself.
    bench.ignores_message(50, shuffle(&[(14, 0)]));
    bench.ignores_message(50, Message::Join { incarnation: BORN });
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
    bench.ignores_message(7, walk(9, 0, 0));
    // At the joiner itself.
    assert_eq!(bench.hear(7, walk(50, 0, 2)), [send(1, walk(50, 0, 1))]);
    bench.ignores_message(7, walk(50, 0, 0));
    // With nowhere to go.
    let mut bench = Bench::with(&[(9, 0)]);
    bench.ignores_message(7, walk(9, 3, 3));
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

#[test]
fn after_empty_cycles_a_contact_is_asked() {
    let mut bench = Bench::with(&[]);
    bench.feed(join(8));
    assert_eq!(bench.cycle(0), [wake(1)]);
    let ask = send(8, Message::Join { incarnation: BORN });
    assert_eq!(bench.cycle(1), [wake(2), ask.clone()]);
    assert_eq!(bench.cycle(2), [wake(3)]);
    assert_eq!(bench.feed(Event::Unreachable { to: id(8) }), []);
    // It is the only contact, and may be gone for good.
    assert_eq!(bench.cycle(3), [wake(4), Effect::Notify(Notice::Alone)]);
    assert_eq!(bench.cycle(4), [wake(5)]);
    assert_eq!(bench.cycle(5), [wake(6), ask]);
}

#[test]
fn a_node_without_contacts_tells_its_host() {
    let mut bench = Bench::with(&[]);
    assert_eq!(bench.cycle(0), [wake(1), Effect::Notify(Notice::Alone)]);
    assert_eq!(bench.cycle(1), [wake(2)]);
    assert_eq!(bench.cycle(2), [wake(3), Effect::Notify(Notice::Alone)]);
}

#[test]
fn a_restarted_node_asks_its_contacts_in_its_next_life() {
    let mut bench = Bench::unborn(CONFIG);
    let known = Record::Known([id(50), id(8)].into_iter().collect());
    let life = Record::Incarnation(Incarnation::new(4));
    assert_eq!(bench.feed(Event::Restored(Key::Known, known.clone())), []);
    assert_eq!(bench.feed(Event::Restored(Key::Incarnation, life)), []);
    bench.ignores(Event::Restored(Key::Incarnation, known));
    let incarnation = Incarnation::new(5);
    let life = Effect::Persist(Key::Incarnation, Record::Incarnation(incarnation));
    assert_eq!(bench.feed(Event::Start), [life, wake(0)]);
    let ask = send(8, Message::Join { incarnation });
    assert_eq!(bench.cycle(0), [wake(1), ask]);
    let late = Record::Incarnation(Incarnation::new(9));
    bench.ignores(Event::Restored(Key::Incarnation, late));
}

#[test]
fn contacts_are_written_to_disk_every_so_many_cycles() {
    let mut bench = Bench::with_config(
        Config {
            remember: 2,
            ..CONFIG
        },
        &[(1, 0), (2, 0)],
    );
    let persists = |effects: Effects| effects.contains(&knows(&[1, 2]));
    assert!(persists(bench.cycle(0)));
    bench.hear(1, shuffled(0, &[(1, 0)]));
    bench.cycle(1);
    assert_eq!(bench.machine().known(), [id(1), id(2)]);
    bench.hear(2, shuffled(1, &[(2, 0)]));
    assert!(persists(bench.cycle(2)));
}

#[test]
fn a_frozen_view_stays_as_it_is_with_the_asked_peer_back_in_it() {
    let mut bench = Bench::waiting();
    let effects = bench.feed(Event::Command(Command::Freeze));
    assert_eq!(effects, [Effect::Cancel(Timer { cycle: 1 }), entered(9)]);
    assert_eq!(bench.links(), [(1, 1), (2, 1), (3, 1), (9, 6)]);
    bench.ignores(Event::Command(Command::Freeze));
    bench.ignores(Event::Timer(Timer { cycle: 1 }));
    bench.ignores(join(8));
    bench.ignores(Event::Unreachable { to: id(9) });
    bench.ignores_message(9, shuffled(0, &[(11, 0)]));
    bench.ignores_message(7, shuffle(&[(7, 0)]));
    bench.ignores_message(7, Message::Join { incarnation: BORN });
    bench.ignores_message(7, walk(7, 0, 0));
    bench.ignores_message(7, walk(7, 3, 0));
    bench.ignores_message(7, gift(link(7, 0)));
    bench.now = FIRST + CONFIG.period - Span::from_secs(1);
    assert_eq!(bench.feed(Event::Command(Command::Thaw)), [wake(1)]);
    assert_eq!(bench.cycle(1).len(), 3);
}

#[test]
fn a_leaver_forgets_its_links_and_sends_nothing_any_more() {
    let mut bench = Bench::waiting();
    let effects = bench.feed(Event::Command(Command::Leave));
    let cancel = Effect::Cancel(Timer { cycle: 1 });
    assert_eq!(
        effects,
        [
            cancel,
            Effect::Forget(Key::Known),
            left(1),
            left(2),
            left(3)
        ]
    );
    for event in [
        Event::Start,
        Event::Timer(Timer { cycle: 1 }),
        Event::Command(Command::Leave),
        Event::Command(Command::Thaw),
        Event::Command(Command::Meet(id(3))),
        join(8),
    ] {
        bench.ignores(event);
    }
    bench.ignores_message(7, shuffle(&[(7, 0)]));
    bench.ignores_message(7, Message::Join { incarnation: BORN });
}

#[test]
fn nothing_happens_before_the_start() {
    let mut bench = Bench::unborn(CONFIG);
    bench.ignores(Event::Timer(Timer { cycle: 0 }));
    bench.ignores(join(8));
    bench.ignores(Event::Command(Command::Meet(id(3))));
    bench.ignores(Event::Command(Command::Freeze));
    bench.ignores(Event::Command(Command::Leave));
    bench.ignores_message(7, shuffle(&[(7, 0)]));
}

#[test]
fn a_host_may_lay_out_an_overlay_by_hand() {
    let mut bench = Bench::with(&[]);
    let meet = |peer| Event::Command(Command::Meet(id(peer)));
    for peer in [4, 3, 2, 1] {
        assert_eq!(bench.feed(meet(peer)), [entered(peer)]);
    }
    bench.ignores(meet(5));
    bench.ignores(meet(50));
    bench.ignores(meet(1));
}

/// The sample of a node that heard of these peers, in this order.
fn sample_of(heard: &[u64]) -> Vec<NodeId> {
    let mut bench = Bench::with_config(SAMPLING, &[]);
    for &peer in heard {
        bench.hear(peer, shuffle(&[(peer, 0)]));
    }
    bench.machine().samples().collect()
}

#[test]
fn a_sample_depends_on_which_peers_were_named_and_not_on_how_often_or_when() {
    let sample = sample_of(&[1, 2, 3, 4]);
    assert_eq!(sample.len(), 1);
    assert_eq!(sample_of(&[4, 3, 3, 3, 2, 1, 1, 3, 2]), sample);
    let first = sample[0].get();
    let others: Vec<u64> = (1..=4).filter(|peer| *peer != first).collect();
    assert_ne!(sample_of(&others), sample);
    assert_eq!(sample_of(&[50]), [], "a node is no peer of its own");
}

#[test]
fn a_sample_is_asked_every_second_cycle_and_dropped_if_it_does_not_answer() {
    let mut bench = Bench::with_config(SAMPLING, &[(7, 9)]);
    bench.hear(3, shuffle(&[(3, 0)]));
    assert_eq!(bench.machine().samples().collect::<Vec<_>>(), [id(3)]);
    bench.cycle(0);
    assert_eq!(
        bench.machine().waits_for(),
        Some(id(3)),
        "though 7 is older"
    );
    bench.hear(3, shuffled(0, &[]));
    bench.cycle(1);
    assert_eq!(bench.machine().waits_for(), Some(id(7)), "the oldest");
    assert!(bench.machine().view().contains(id(3)), "back in the view");
    bench.cycle(2);
    assert_eq!(bench.machine().waits_for(), Some(id(3)));
    bench.cycle(3);
    assert_eq!(bench.machine().samples().count(), 0, "3 did not answer");
    bench.hear(4, shuffle(&[(4, 0)]));
    bench.cycle(4);
    bench.feed(Event::Unreachable { to: id(4) });
    assert_eq!(bench.machine().samples().count(), 0, "nor is 4 there");
}

#[test]
fn with_samples_one_exchange_that_a_peer_begins_changes_the_view_in_a_cycle() {
    let mut bench = Bench::with_config(SAMPLING, &[]);
    bench.hear(1, shuffle(&[(1, 0)]));
    let did = bench.hear(2, shuffle(&[(2, 0)]));
    assert!(matches!(did[..], [Effect::Send { .. }]), "it is answered");
    assert_eq!(bench.links(), [(1, 0)]);
    bench.cycle(0);
    bench.hear(2, shuffle(&[(2, 0)]));
    assert!(bench.machine().view().contains(id(2)));
}

#[test]
fn check_names_what_is_broken() {
    let mut bench = Bench::waiting();
    let Life::Gossiping(gossip) = &mut bench.machine_mut().life else {
        panic!("it gossips")
    };
    gossip.cycle += 1;
    assert_eq!(
        bench.machine().check().unwrap_err().invariant,
        "at most one exchange is pending, the one of the last cycle"
    );
    let mut bench = Bench::with(&[]);
    bench.machine_mut().contacts.miss(ME);
    assert_eq!(
        bench.machine().check().unwrap_err().invariant,
        "a node does not count on itself for help"
    );
}

#[test]
fn messages_are_small() {
    assert!(
        size_of::<Message<8>>() <= 160,
        "{}",
        size_of::<Message<8>>()
    );
    assert!(size_of::<Message<16>>() <= 320);
}

#[cfg(feature = "serde")]
#[test]
fn messages_survive_their_encoding_and_too_many_links_do_not() {
    let messages = [
        shuffle(&[(1, 2), (u64::MAX, u16::MAX)]),
        shuffled(u32::MAX, &[]),
        Message::Join { incarnation: BORN },
        walk(3, 4, 5),
        gift(link(1, 2)),
    ];
    for message in messages {
        let bytes = postcard::to_allocvec(&message).unwrap();
        assert_eq!(postcard::from_bytes(&bytes), Ok(message));
    }
    let long = shuffle(&[(1, 0), (2, 0), (3, 0)]);
    let bytes = postcard::to_allocvec(&long).unwrap();
    assert!(postcard::from_bytes::<Message<2>>(&bytes).is_err());
    let record = Record::Known([id(1), id(2)].into_iter().collect());
    let bytes = postcard::to_allocvec(&record).unwrap();
    assert_eq!(postcard::from_bytes(&bytes), Ok(record));
}

#[test]
fn the_last_peers_that_did_not_answer_are_asked_again_until_they_do() {
    let mut bench = Bench::with(&[(1, 9), (2, 8), (3, 7), (4, 0)]);
    let mut asked = Vec::new();
    for cycle in 0..72 {
        bench.cycle(cycle);
        asked.push(bench.machine().waits_for().map(NodeId::get));
        // Only 4 answers, and later 3.
        let Some(peer) = bench.machine().waits_for() else {
            continue;
        };
        if peer == id(4) || (peer == id(3) && cycle > 7) {
            let exchange = ExchangeId {
                incarnation: BORN,
                cycle,
            };
            let links = Links::from_iter([link(4, 0)]);
            bench.hear(peer.get(), Message::Shuffled { exchange, links });
        }
    }
    assert_eq!(asked[..4], [1, 2, 3, 4].map(Some));
    // Each missed peer has its turn until it answers. In between, known contacts that are not in the view have theirs.
    let again: Vec<_> = asked[7..].iter().step_by(7).flatten().copied().collect();
    assert_eq!(again, [3, 1, 2, 2, 3, 3, 1, 1, 2, 2]);
    let others = asked[4..].iter().filter(|peer| **peer != Some(4));
    assert_eq!(others.count(), again.len());
}

#[test]
fn a_missed_peer_that_is_asked_again_does_not_enter_a_frozen_view() {
    let mut bench = Bench::with(&[(1, 0)]);
    bench.machine_mut().contacts.miss(id(9));
    bench.cycle(0);
    assert_eq!(bench.machine().waits_for(), Some(id(9)));
    let effects = bench.feed(Event::Command(Command::Freeze));
    assert_eq!(effects, [Effect::Cancel(Timer { cycle: 1 })]);
    assert_eq!(bench.links(), [(1, 1)]);
}
