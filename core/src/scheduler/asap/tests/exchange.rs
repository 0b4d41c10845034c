//! How schedules are exchanged: Push, Pull and Poll (P1 section III-C).

use super::*;
use crate::commit::Members;
use crate::shared::Shared;
use Did::{Persist, Send};

const PULL: Config = Config {
    exchange: Exchange::Pull,
    ..CONFIG
};

const POLL: Config = Config {
    exchange: Exchange::Poll {
        period: Span::from_secs(120),
    },
    ..CONFIG
};

fn subscribe(known: impl Into<Option<u64>>) -> Message<3> {
    let known = known.into();
    Message::Subscribe { known }
}

fn fetch(reason: Reason) -> Message<3> {
    Message::Fetch(reason)
}

/// The message to subscriber 8 after this number of changes, in the first life.
fn pushed(changes: u64, windows: &[Interval]) -> Did {
    Send(8, schedule(Reason::Changed, changes, windows))
}

/// Coordinator 9 reserves this interval for attempt 1 of a job.
fn take(bench: &mut Bench, name: u64, interval: Interval) -> Effects {
    let attempt = attempt(name);
    let question = Vote::Prepare {
        attempt,
        interval,
        lease: CONFIG.commit.lease,
        submitter: NOBODY,
        needs: Needs::NOTHING,
        payload: Payload::EMPTY,
    };
    let mut did = bench.vote(9, question);
    did.extend(bench.vote(
        9,
        Vote::Commit {
            attempt,
            members: Shared::new(Members::default()),
        },
    ));
    let until = Some(Time::MAX);
    did.extend(bench.vote(9, Vote::Permit { attempt, until }));
    did
}

fn attempt(name: u64) -> Attempt {
    Attempt::new(JobId::new(name), Epoch::new(1))
}

/// Only the schedules that were sent.
fn schedules(did: Effects) -> Effects {
    let schedule = |did: &Did| matches!(did, Send(_, Message::Schedule { .. }));
    did.into_iter().filter(schedule).collect()
}

/// A node with a subscriber, 8.
fn subscribed() -> Bench {
    let mut bench = Bench::among(CONFIG, 2);
    bench.answers(8, subscribe(None), schedule(Reason::NewLink, 0, &[]));
    bench
}

#[test]
fn a_starting_node_subscribes_with_push_asks_with_poll_and_sends_nothing_with_pull() {
    let first: [(Config, Option<Message<3>>); 3] = [
        (CONFIG, Some(subscribe(None))),
        (POLL, Some(fetch(Reason::NewLink))),
        (PULL, None),
    ];
    for (config, greeting) in first {
        let meet = Bootstrap::Meet(vec![id(1), id(2)]);
        let (_, did) = Bench::boot(config, meet);
        let mut expected = vec![Persist(Key::Overlay(cyclon::Key::Incarnation))];
        for peer in [1, 2] {
            expected.extend(greeting.clone().map(|message| Send(peer, message)));
        }
        expected.push(Persist(LIFE));
        assert_eq!(did, expected);
    }
}

#[test]
fn a_missing_schedule_is_asked_for_again() {
    let mut bench = Bench::meeting(CONFIG, &[1, 2]);
    bench.hear(2, schedule(Reason::NewLink, 1, &[]));
    assert_eq!(bench.ring_until(1), []);
    assert_eq!(bench.ring_until(2), [Send(1, subscribe(None))]);
    assert_eq!(bench.ring_until(4), [Send(1, subscribe(None))]);
    bench.hear(1, schedule(Reason::NewLink, 1, &[]));
    assert_eq!(bench.ring_until(99), []);
    let mut bench = Bench::meeting(POLL, &[1]);
    let asked = [Reason::Poll, Reason::NewLink].map(|reason| Send(1, fetch(reason)));
    assert_eq!(bench.ring_until(2), asked);
    let mut bench = Bench::meeting(PULL, &[1]);
    assert_eq!(bench.ring_until(999), []);
}

#[test]
fn subscriptions_are_renewed_three_times_in_a_lease_with_the_known_version() {
    let mut bench = Bench::among(CONFIG, 2);
    bench.hear(2, schedule(Reason::Changed, 7, &[]));
    assert_eq!(bench.ring_until(99), []);
    let renewed = [Send(1, subscribe(1)), Send(2, subscribe(7))];
    assert_eq!(bench.ring_until(100), renewed);
    assert_eq!(bench.ring_until(200), renewed);
    assert_eq!(bench.ring_until(300), renewed);
}

#[test]
fn a_subscriber_gets_the_schedule_at_once_unless_it_knows_it_and_changes_until_its_lease_ends() {
    let mut bench = subscribed();
    assert_eq!(bench.hear(8, subscribe(0)), []);
    bench.answers(8, subscribe(3), schedule(Reason::NewLink, 0, &[]));
    let did = take(&mut bench, 1, busy(600, 660));
    assert_eq!(schedules(did), [pushed(1, &[busy(600, 660)])]);
    // The lease is over at the third renewal of this node's own subscriptions.
    bench.ring_until(300);
    let did = take(&mut bench, 2, busy(720, 780));
    assert_eq!(schedules(did), []);
}

#[test]
fn a_subscriber_that_unsubscribes_or_is_unreachable_gets_no_more_changes() {
    for last in [
        Event::Message {
            from: id(8),
            message: Message::Unsubscribe,
        },
        Event::Unreachable { to: id(8) },
    ] {
        let mut bench = subscribed();
        assert_eq!(bench.feed(last), []);
        assert_eq!(schedules(take(&mut bench, 1, busy(600, 660))), []);
    }
}

#[test]
fn subscribers_beyond_the_limit_get_one_schedule_and_are_counted() {
    let mut bench = subscribed();
    bench.hear(7, subscribe(None));
    bench.answers(6, subscribe(None), schedule(Reason::NewLink, 0, &[]));
    assert_eq!(bench.machine().declined().subscriptions, 1);
    let windows = [busy(600, 660)];
    let did = take(&mut bench, 1, windows[0]);
    assert_eq!(
        schedules(did),
        [
            Send(7, schedule(Reason::Changed, 1, &windows)),
            pushed(1, &windows)
        ]
    );
}

#[test]
fn an_allocation_is_pushed_once_when_it_is_committed() {
    let mut bench = subscribed();
    let question = Vote::Prepare {
        attempt: attempt(1),
        interval: busy(600, 660),
        lease: CONFIG.commit.lease,
        submitter: NOBODY,
        needs: Needs::NOTHING,
        payload: Payload::EMPTY,
    };
    assert_eq!(schedules(bench.vote(9, question)), []);
    let commit = Vote::Commit {
        attempt: attempt(1),
        members: Shared::new(Members::default()),
    };
    let push = pushed(1, &[busy(600, 660)]);
    assert_eq!(schedules(bench.vote(9, commit.clone())), [push]);
    assert_eq!(schedules(bench.vote(9, commit)), []);
    // An aborted hold is not pushed.
    let attempt = attempt(2);
    let question = Vote::Prepare {
        attempt,
        interval: busy(720, 780),
        lease: CONFIG.commit.lease,
        submitter: NOBODY,
        needs: Needs::NOTHING,
        payload: Payload::EMPTY,
    };
    assert_eq!(schedules(bench.vote(9, question)), []);
    assert_eq!(schedules(bench.vote(9, Vote::Abort { attempt })), []);
}

#[test]
fn an_early_end_and_a_release_are_pushed_and_the_end_of_a_reservation_is_not() {
    let ended = Command::Ended {
        job: JobId::new(1),
        attempt: Epoch::new(1),
        outcome: Outcome::Done,
    };
    for (end, told) in [(61, true), (120, true), (121, false), (180, false)] {
        let mut bench = subscribed();
        take(&mut bench, 1, busy(60, 180));
        assert_eq!(schedules(bench.ring_until(end - 1)), []);
        // Only whole slots that become free are worth a message.
        let expected = if told { vec![pushed(2, &[])] } else { vec![] };
        let did = bench.at(end).obey(ended.clone());
        assert_eq!(schedules(did), expected, "{end}");
    }
    let mut bench = subscribed();
    take(&mut bench, 1, busy(60, 180));
    // A job that overruns its reservation changes nothing either.
    assert_eq!(schedules(bench.ring_until(500)), []);
    let mut bench = subscribed();
    take(&mut bench, 1, busy(60, 180));
    let release = Vote::Release {
        job: JobId::new(1),
        through: Epoch::new(1),
    };
    assert_eq!(schedules(bench.vote(9, release)), [pushed(2, &[])]);
}

#[test]
fn the_end_of_a_reservation_is_not_pushed_if_another_follows_without_a_gap() {
    let mut bench = subscribed();
    take(&mut bench, 1, busy(60, 120));
    let did = take(&mut bench, 2, busy(120, 180));
    assert_eq!(schedules(did), [pushed(2, &[busy(60, 180)])]);
    let ended = Command::Ended {
        job: JobId::new(1),
        attempt: Epoch::new(1),
        outcome: Outcome::Done,
    };
    assert_eq!(schedules(bench.ring_until(70)), []);
    assert_eq!(schedules(bench.obey(ended)), []);
    assert_eq!(schedules(bench.ring_until(120)), []);
    // A later push leaves out the time that is over.
    let did = take(&mut bench, 3, busy(300, 360));
    assert_eq!(
        schedules(did),
        [pushed(3, &[busy(120, 180), busy(300, 360)])]
    );
}

#[test]
fn time_after_the_last_window_that_is_sent_counts_as_busy() {
    let mut bench = subscribed();
    take(&mut bench, 1, busy(60, 120));
    take(&mut bench, 2, busy(180, 240));
    let did = take(&mut bench, 3, busy(300, 360));
    let windows = [busy(60, 120), busy(180, 240)];
    let told = Snapshot::new(3, second(300), &windows).unwrap();
    let push = Message::Schedule {
        reason: Reason::Changed,
        stated: Stated::NOTHING,
        schedule: told,
    };
    assert_eq!(schedules(did), [Send(8, push)]);
}

#[test]
fn old_versions_and_schedules_of_strangers_are_ignored() {
    let mut bench = Bench::among(CONFIG, 1);
    let later = [busy(60, 120)];
    bench.hear(1, schedule(Reason::Changed, 3, &later));
    let known = bench.machine().clone();
    bench.hear(1, schedule(Reason::Changed, 2, &[]));
    bench.hear(1, schedule(Reason::Changed, 3, &[]));
    bench.hear(4, schedule(Reason::Changed, 9, &[]));
    assert_eq!(*bench.machine(), known);
    assert_eq!(
        bench.hear(9, who_else(1)),
        [Send(9, {
            let known = Known {
                node: id(1),
                stated: Stated::NOTHING,
                schedule: snapshot(3, &later),
            };
            Message::Others {
                search: SearchId(1),
                known: [known].into_iter().collect(),
            }
        })]
    );
}

#[test]
fn a_fetch_is_answered_with_its_reason() {
    let mut bench = Bench::among(PULL, 1);
    for reason in [
        Reason::Search(SearchId(4)),
        Reason::Poll,
        Reason::NewLink,
        Reason::Changed,
    ] {
        bench.answers(9, fetch(reason), schedule(reason, 0, &[]));
    }
    bench.answers(9, subscribe(None), schedule(Reason::NewLink, 0, &[]));
    assert_eq!(schedules(take(&mut bench, 1, busy(600, 660))), []);
}

#[test]
fn a_later_life_sends_higher_versions() {
    let mut bench = subscribed();
    take(&mut bench, 1, busy(600, 660));
    bench.restart();
    assert_eq!(
        bench.hear(8, subscribe(1)),
        [Send(
            8,
            schedule(Reason::NewLink, (1 << 32) + 1, &[busy(600, 660)])
        )]
    );
}

#[test]
fn polling_asks_all_neighbours_once_a_period() {
    let mut bench = Bench::among(POLL, 2);
    // The node begins at a phase of its own; here it draws the first of 256, before a second is over.
    let poll = [1, 2].map(|peer| Send(peer, fetch(Reason::Poll)));
    assert_eq!(bench.ring_until(1), poll);
    assert_eq!(bench.ring_until(120), []);
    assert_eq!(bench.ring_until(121), poll);
    assert_eq!(bench.ring_until(240), []);
    // A search uses the known schedules, however old.
    bench.answers(9, search(1, 1, 300), found(1, 300, 1, &[1]));
}

#[test]
fn with_pull_a_node_fetches_schedules_before_it_searches_or_names_its_neighbours() {
    let mut bench = Bench::meeting(PULL, &[1, 2]);
    let pull = |peer, id| Send(peer, fetch(Reason::Search(SearchId(id))));
    let answer = |id, version, windows| schedule(Reason::Search(SearchId(id)), version, windows);
    assert_eq!(bench.hear(9, search(1, 2, 60)), [pull(1, 1), pull(2, 1)]);
    assert_eq!(bench.hear(2, answer(1, 1, &[])), []);
    assert_eq!(bench.hear(2, answer(1, 1, &[])), []);
    bench.hears(1, answer(1, 1, &[]), [Send(9, found(1, 60, 1, &[1, 2]))]);
    // A node that gets `WhoElse` pulls too.
    assert_eq!(bench.hear(9, who_else(33)), [pull(1, 3), pull(2, 3)]);
    bench.hear(1, answer(3, 2, &[busy(60, 120)]));
    // After the timeout the node uses the last known schedule of 2, which did not answer.
    let known = [(1, 2, &[busy(60, 120)][..]), (2, 1, &[])];
    let known = known.map(|(node, version, windows)| Known {
        node: id(node),
        stated: Stated::NOTHING,
        schedule: snapshot(version, windows),
    });
    let told = Message::Others {
        search: SearchId(33),
        known: known.into_iter().collect(),
    };
    assert_eq!(bench.ring_until(2), [Send(9, told)]);
    // The node does not wait for unreachable neighbours.
    bench.hear(9, search(2, 1, 120));
    assert_eq!(bench.feed(Event::Unreachable { to: id(1) }), []);
    assert_eq!(
        bench.feed(Event::Unreachable { to: id(2) }),
        [Send(9, found(2, 120, 1, &[1]))]
    );
}

#[test]
fn pulls_beyond_the_limit_are_answered_from_known_schedules_and_counted() {
    let mut bench = Bench::meeting(PULL, &[1]);
    for asker in [8, 8, 9, 9] {
        assert_eq!(bench.hear(asker, who_else(1)).len(), 1);
    }
    assert_eq!(bench.hear(9, who_else(2)), [Send(9, others(2, &[]))]);
    assert_eq!(bench.hear(7, search(1, 1, 60)), [Send(7, not_found(1, 0))]);
    assert_eq!(bench.machine().declined().searches, 2);
}

#[test]
fn a_node_subscribes_to_new_and_restarted_neighbours_and_unsubscribes_from_lost_ones() {
    use crate::overlay::view::{Link, Links as Some};
    let config = Config {
        links: Links::Dynamic,
        overlay: cyclon::Config {
            view: 2,
            shuffle: 2,
            ..CONFIG.overlay
        },
        ..CONFIG
    };
    let mut bench = Bench::meeting(config, &[1, 2]);
    bench.hear(1, schedule(Reason::NewLink, 1, &[]));
    bench.hear(2, schedule(Reason::NewLink, 1, &[]));
    let link = |node, life| Link {
        id: id(node),
        incarnation: Incarnation::new(life),
        age: 0,
    };
    let shuffle = |links: &[Link]| {
        let exchange = cyclon::ExchangeId {
            incarnation: Default::default(),
            cycle: 0,
        };
        let links: Some<3> = links.iter().copied().collect();
        Message::Overlay(cyclon::Message::Shuffle { exchange, links })
    };
    // Node 3 brings links to itself and 4; they replace 1 and 2, which go to 3 in return.
    let did = bench.hear(3, shuffle(&[link(3, 0), link(4, 0)]));
    let [Send(3, Message::Overlay(_)), rest @ ..] = &did[..] else {
        panic!("{did:?}");
    };
    let unsubscribe = |peer| Send(peer, Message::Unsubscribe);
    assert_eq!(
        rest,
        [
            unsubscribe(1),
            unsubscribe(2),
            Send(3, subscribe(None)),
            Send(4, subscribe(None))
        ]
    );
    bench.hear(3, schedule(Reason::NewLink, 1, &[]));
    // The later life of 3 has forgotten the subscription.
    let did = bench.hear(3, shuffle(&[link(3, 1)]));
    assert_eq!(did[1..], [Send(3, subscribe(None))]);
    let did = bench.hear(3, shuffle(&[link(3, 1)]));
    assert_eq!(did[1..], []);
}
