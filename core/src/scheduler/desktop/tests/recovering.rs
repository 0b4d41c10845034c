//! Crashes of nodes and losses of messages.

use super::super::membership::FOUNDS_AFTER;
use super::super::relay::MOST_SENT_ON;
use super::*;
use crate::rng::Zeros;

const SIZES: [(u64, u64); 6] = [(4, 16), (8, 32), (2, 8), (16, 64), (8, 8), (4, 64)];

/// A grid in which job 1 runs on two cores, with its run node and its owner.
fn running() -> (Network, NodeId, NodeId) {
    let mut network = Network::new(config(), &SIZES);
    network.submit(0, job(1, 2, 4));
    network.pass(60);
    let (place, owner) = (network.started(1), network.owner(1));
    (network, place[0], owner.unwrap())
}

#[test]
fn a_restarted_node_gets_into_the_overlay_again() {
    let mut network = Network::new(config(), &[(4, 16), (4, 16), (4, 16), (4, 16)]);
    for node in 0..4 {
        network.crash(id(node));
        network.pass(120);
        network.boot(id(node));
        network.pass(120);
        assert!(network.nodes[&id(node)].can().is_settled(), "{node}");
    }
}

#[test]
fn if_the_run_node_is_lost_the_owner_finds_another() {
    let (mut network, place, owner) = running();
    if place == owner || place == id(0) {
        // The next test covers a run node that is also the owner.
        return;
    }
    network.crash(place);
    network.pass(3000);
    assert_eq!(network.started(1).len(), 2);
    assert_eq!(network.news_of(1).last(), Some(&News::Finished));
}

#[test]
fn if_any_node_but_the_submitter_crashes_the_job_still_finishes_once() {
    let (_, place, owner) = running();
    for gone in [place, owner, id(4), id(5)] {
        for comes_back in [false, true] {
            let (mut network, ..) = running();
            if gone == id(0) {
                continue;
            }
            network.crash(gone);
            network.pass(120);
            if comes_back {
                network.boot(gone);
            }
            network.pass(6000);
            let last: Vec<News> = network
                .news_of(1)
                .into_iter()
                .filter(News::is_last)
                .collect();
            assert_eq!(last, [News::Finished], "{gone:?} went down");
        }
    }
}

#[test]
fn a_restarted_submitter_tells_the_outcome_of_its_job() {
    let (mut network, place, owner) = running();
    if place == id(0) || owner == id(0) {
        return;
    }
    network.crash(id(0));
    network.pass(200);
    network.boot(id(0));
    network.pass(4000);
    assert_eq!(network.news_of(1).last(), Some(&News::Finished));
}

#[test]
fn no_job_is_lost_when_messages_are_lost() {
    let mut resending = config();
    resending.resend = Some(Span::from_secs(1));
    let mut network = Network::new(resending, &SIZES);
    network.loss = Some(10);
    network.run_time = Span::from_secs(300);
    for number in 1..=20 {
        network.submit(number % 6, job(number, 1 + number % 4, 4));
        network.pass(20);
    }
    network.pass(6000);
    network.loss = None;
    network.pass(3000);
    for number in 1..=20 {
        let last: Vec<News> = network
            .news_of(number)
            .into_iter()
            .filter(News::is_last)
            .collect();
        assert_eq!(last, [News::Finished], "job {number}");
    }
}

#[test]
fn a_cancelled_job_stops_wherever_it_is() {
    let (mut network, place, _) = running();
    network.command(id(0), job::Command::Cancel(JobId::new(1)));
    network.pass(1000);
    let last: Vec<News> = network
        .news_of(1)
        .into_iter()
        .filter(News::is_last)
        .collect();
    assert_eq!(last, [News::Cancelled]);
    assert!(network.running.is_empty());
    let queue = network.nodes[&place].queue();
    assert!(queue.running().is_empty() && queue.pool().is_idle());
}

#[test]
fn the_outcome_is_told_before_the_job_is_forgotten() {
    let mut network = Network::new(config(), &[(4, 16)]);
    network.submit(0, job(1, 1, 1));
    network.pass(5);
    let ended = network.end_of(id(0), 1);
    let (mut effects, now) = (EffectQueue::new(), network.now);
    let node = network.nodes.get_mut(&id(0)).unwrap();
    effects.feed(node, ended, now, &mut network.rng);
    let told = Effect::Notify(Notice {
        job: JobId::new(1),
        news: News::Finished,
    });
    let forgotten = Effect::Forget(Key::Owners(custody::Key::Task(JobId::new(1))));
    let index = |wanted| effects.iter().position(|it| *it == wanted);
    let (told, forgotten) = (index(told).unwrap(), index(forgotten).unwrap());
    assert!(told < forgotten, "who crashes in between would never tell");
}

#[test]
fn a_joiner_without_answers_founds_a_space_after_some_requests() {
    let mut rng = Zeros;
    let (config, join) = (config(), Bootstrap::Join(id(77).into()));
    let mut node = Node::new(id(1), config, join, equipment(4, 16), &mut rng).unwrap();
    let mut effects = EffectQueue::new();
    let mut timers = BTreeSet::new();
    let mut feed = |node: &mut Node, event, now| {
        effects.feed(node, event, now, &mut rng);
        node.check().unwrap();
        for effect in effects.drain() {
            if let Effect::Wake { at, timer } = effect {
                timers.retain(|(_, old)| *old != timer);
                timers.insert((at, timer));
            }
        }
        timers.pop_first()
    };
    let mut next = feed(&mut node, Event::Start, Time::from_secs(1));
    let mut unanswered = 0;
    while node.can().zone().is_none() {
        unanswered = node.unanswered;
        assert!(unanswered < FOUNDS_AFTER, "it goes on asking");
        let (at, timer) = next.expect("it asks again");
        next = feed(&mut node, Event::Timer(timer), at);
    }
    // It founded at the first chance, and the count begins anew.
    assert_eq!((unanswered, node.unanswered), (FOUNDS_AFTER - 1, 0));
}

#[test]
fn in_a_round_a_node_sends_on_only_so_many_balloons() {
    let mut network = Network::new(config(), &[(4, 16), (4, 16)]);
    let owner = network.nodes.get_mut(&id(1)).unwrap();
    let (status, point) = (owner.status(), *owner.can().point());
    let sent_on = |network: &mut Network| {
        let before = network.events.len();
        for version in 0..u64::from(MOST_SENT_ON) + 9 {
            let message = Message::Inflate {
                node: id(70),
                version,
                status: status.clone(),
                point,
                hops: 9,
            };
            let from = id(77);
            network.feed(id(0), Event::Message { from, message });
        }
        network.events.len() - before
    };
    assert_eq!(sent_on(&mut network), usize::from(MOST_SENT_ON));
    assert_eq!(sent_on(&mut network), 0);
    network.pass(2 * network.config.round.as_secs());
    assert!(sent_on(&mut network) > usize::from(MOST_SENT_ON) - 9);
}

#[test]
fn an_evicted_node_forgets_the_balloons_of_its_zone() {
    let mut network = Network::new(config(), &[(4, 16), (4, 16)]);
    assert_eq!(network.config.residues, Residues::Balloons);
    let node = network.nodes.get_mut(&id(1)).unwrap();
    let (status, point) = (node.status(), *node.can().point());
    let life = node.can().entry().unwrap().name.life;
    let inflate = Message::Inflate {
        node: id(70),
        version: 1,
        status: status.clone(),
        point,
        hops: 3,
    };
    let evicted = Message::Overlay {
        message: can::Message::Evicted(life),
        status: None,
    };
    // A liar told of more free memory than there is: no balloon.
    let mut forged = *status.get();
    forged.free = forged.free.with(dimension("memory"), 17);
    let impossible = Message::Inflate {
        node: id(70),
        version: 1,
        status: Shared::new(forged),
        point,
        hops: 3,
    };
    for (message, balloons) in [(impossible, 0), (inflate, 1), (evicted, 0)] {
        let from = id(0);
        network.feed(id(1), Event::Message { from, message });
        assert_eq!(network.nodes[&id(1)].balloons.statuses().count(), balloons);
    }
}

#[test]
fn a_round_that_comes_early_is_waited_for_again() {
    let mut network = Network::new(config(), &[(4, 16)]);
    let (now, rng) = (network.now, &mut network.rng);
    let node = network.nodes.get_mut(&id(0)).unwrap();
    let (round, due) = (node.round, node.round_at.unwrap());
    let timer = Timer::Round(round);
    let mut effects = EffectQueue::new();
    effects.feed(node, Event::Timer(timer), now, rng);
    assert!(due > now);
    assert!(effects.drain().eq([Effect::Wake { at: due, timer }]));
}

#[test]
fn one_more_job_starts_only_where_none_waits() {
    let mut network = Network::new(config(), &[(4, 16)]);
    let idle = *network.nodes.get_mut(&id(0)).unwrap().status().get();
    let needs = Requirement::any().with(dimension("cores"), 1);
    let busy = idle.with(&dimensions(), &needs);
    assert_eq!((busy.running, busy.queue_len), (1, 0));
    let waiting = Status {
        queue_len: 1,
        ..idle
    };
    let longer = waiting.with(&dimensions(), &needs);
    assert_eq!((longer.running, longer.queue_len), (0, 2));
}

/// A node made as at first and started with these records; and the receivers of what it sends at its start.
fn booted(
    network: &mut Network,
    bootstrap: Bootstrap<3>,
    disk: impl IntoIterator<Item = (Key, Record)>,
) -> (Node, Vec<NodeId>) {
    let equipment = equipment(4, 16);
    let config = network.config;
    let mut node = Node::new(id(0), config, bootstrap, equipment, &mut network.rng).unwrap();
    let mut effects = EffectQueue::new();
    let records = disk.into_iter();
    let records = records.map(|(key, record)| Event::Restored(key, record));
    for event in records.chain([Event::Start]) {
        effects.feed(&mut node, event, network.now, &mut network.rng);
        node.check().unwrap();
    }
    let sent = effects.drain().filter_map(|effect| match effect {
        Effect::Send { to, .. } => Some(to),
        _ => None,
    });
    let sent = sent.collect();
    (node, sent)
}

#[test]
fn a_restarted_founder_joins_through_peers_it_knew() {
    let mut network = Network::new(config(), &[(4, 16), (4, 16), (4, 16)]);
    network.crash(id(0));
    let disk = network.disks[&id(0)].clone();
    let (node, asked) = booted(&mut network, Bootstrap::Alone, disk.clone());
    assert!(node.can().zone().is_none() && node.can().is_joining());
    assert!(matches!(asked[..], [peer] if peer == id(1) || peer == id(2)));
    // Without known peers, it founds the overlay again.
    let is_known = |key: &Key| *key == Key::Overlay(can::Key::Known);
    let disk = disk.into_iter().filter(|(key, _)| !is_known(key));
    let (node, asked) = booted(&mut network, Bootstrap::Alone, disk);
    assert_eq!(node.can().zone(), Some(&can::Zone::WHOLE));
    assert_eq!(asked, []);
}

#[test]
fn a_restarted_placed_node_without_known_peers_joins_its_first_neighbours() {
    let mut network = Network::new(config(), &[(4, 16), (4, 16)]);
    let node = &network.nodes[&id(0)];
    let (point, own) = (*node.can().point(), node.can().entry().unwrap());
    let around: Vec<_> = node.can().neighbours().map(|it| it.entry.clone()).collect();
    assert_eq!(around.len(), 1);
    let life = can::Record::Life(crate::id::Incarnation::default());
    let disk = [(Key::Overlay(can::Key::Life), Record::Overlay(life))];
    let mut placed = |neighbours: Vec<can::Entry<3>>, disk: &[(Key, Record)]| {
        let neighbours = neighbours.into_iter().collect();
        let own = own.clone();
        let grant = Shared::new(Grant { own, neighbours });
        let bootstrap = Bootstrap::Placed(point, grant);
        booted(&mut network, bootstrap, disk.to_vec())
    };
    let (node, _) = placed(around.clone(), &[]);
    assert_eq!(node.can().zone(), Some(&own.zone), "at first it is placed");
    let (node, asked) = placed(around, &disk);
    assert!(node.can().zone().is_none() && node.can().is_joining());
    assert_eq!(asked, [id(1)]);
    let (node, asked) = placed(Vec::new(), &disk);
    assert_eq!(node.can().zone(), Some(&can::Zone::WHOLE));
    assert_eq!(asked, []);
}

#[test]
fn a_joiner_that_is_refused_as_full_asks_again() {
    let mut network = Network::new(config(), &[(4, 16)]);
    let join = Bootstrap::Join(id(77).into());
    let (mut node, _) = booted(&mut network, join, []);
    let life = crate::id::Incarnation::default();
    let message = Message::Overlay {
        message: can::Message::Refused {
            life,
            why: can::Refusal::Full,
        },
        status: None,
    };
    let from = id(78);
    let mut effects = EffectQueue::new();
    let mut feed = |node: &mut Node, event, now| {
        effects.feed(node, event, now, &mut network.rng);
        effects.drain().collect::<Vec<_>>()
    };
    let said = feed(&mut node, Event::Message { from, message }, network.now);
    let wake = said.iter().find_map(|effect| match effect {
        Effect::Wake { at, timer } => Some((*at, *timer)),
        _ => None,
    });
    let (at, timer) = wake.expect("it is woken");
    assert_eq!(timer, Timer::Overlay(can::Timer::Join(life)));
    assert!(network.now < at && at <= network.now + network.config.can.period.times(2));
    let said = feed(&mut node, Event::Timer(timer), at);
    let asks = |effect: &&Effect<Node>| {
        matches!(
            effect,
            Effect::Send {
                message: Message::Overlay {
                    message: can::Message::Join { .. },
                    ..
                },
                ..
            }
        )
    };
    assert_eq!(said.iter().filter(asks).count(), 1);
}

#[test]
fn the_end_of_an_attempt_that_does_not_run_changes_nothing() {
    let mut network = Network::new(config(), &[(4, 16)]);
    network.submit(0, job(1, 1, 1));
    network.pass(5);
    let running = network.nodes[&id(0)].attempt(JobId::new(1));
    let late = job::Command::Ended {
        job: JobId::new(1),
        attempt: Epoch::new(0),
        outcome: Outcome::Broke,
    };
    network.command(id(0), late);
    assert!(running.is_some() && network.nodes[&id(0)].attempt(JobId::new(1)) == running);
    let ended = network.end_of(id(0), 1);
    network.feed(id(0), ended);
    assert_eq!(network.news_of(1).last(), Some(&News::Finished));
}
