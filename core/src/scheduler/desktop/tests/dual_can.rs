//! The second space: its members, how they join, and how searches use it.

use super::super::dual_can::AGAIN;
use super::super::relay::MOST_SENT_ON;
use super::*;
use crate::overlay::can::{Point, Zone};

fn dual() -> Config {
    with(Residues::DualCan)
}

/// With long leases, so that jobs that a test gives to a node stay there.
fn with(residues: Residues) -> Config {
    let mut config = config();
    config.residues = residues;
    config.runs.lease = Span::from_secs(86_400);
    config
}

impl Network {
    /// The nodes with a zone in the second space.
    fn members(&self) -> Vec<NodeId> {
        let nodes = self.nodes.values();
        let inside = nodes.filter(|node| node.residue_can().unwrap().zone().is_some());
        inside.map(Node::id).collect()
    }

    /// The nodes that run something and have cores left.
    fn with_residues(&self) -> Vec<NodeId> {
        let nodes = self.nodes.values();
        let some_left = nodes.filter(|node| {
            let queue = node.queue();
            let left = queue.pool().free().value(dimension("cores"));
            !queue.running().is_empty() && left > 0
        });
        some_left.map(Node::id).collect()
    }

    /// The members are the nodes with residues, at the points of these. Their zones tile the space.
    fn assert_second_space(&self) {
        assert_eq!(self.members(), self.with_residues());
        let mut zones: Vec<Zone<3>> = Vec::new();
        for id in self.members() {
            let node = &self.nodes[&id];
            let can = node.residue_can().unwrap();
            let free = node.queue().pool().free();
            for (index, (k, ..)) in dimensions().iter().enumerate() {
                let most = self.config.most.value(k);
                let at = space::coordinate(free.value(k), most);
                assert_eq!(can.point().at(index), at, "{id:?} is at what it has left");
            }
            let zone = *can.zone().unwrap();
            assert!(zones.iter().all(|other| !other.overlaps(&zone)));
            zones.push(zone);
            assert!(can.is_settled(), "{id:?}");
        }
        let share: f64 = zones
            .iter()
            .map(|zone| {
                let sides = zone.stretches().iter();
                let sides = sides.map(|side| f64::from(side.to() - side.from()));
                sides.product::<f64>() / f64::from(can::END).powi(3)
            })
            .sum();
        let whole = f64::from(u8::from(!zones.is_empty()));
        assert!((share - whole).abs() < 1e-6, "{share} of {zones:?}");
    }
}

#[test]
fn busy_nodes_with_cores_left_are_members_at_the_point_of_what_is_left() {
    let sizes = [(4, 16), (8, 32), (2, 8), (16, 64), (1, 2), (8, 16), (4, 64)];
    let mut network = Network::new(dual(), &sizes);
    network.assert_second_space();
    network.run_time = Span::from_secs(700);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut most = 0;
    for number in 0..40 {
        let (cores, memory) = (1 << rng.below(3), u64::from(rng.below(8)) + 1);
        network.submit(u64::from(rng.below(7)), job(number, cores, memory));
        network.pass(30);
        if number % 4 == 3 {
            // Long enough for joins and leaves that block each other.
            network.submit(0, job(100 + number, 17, 1));
            network.pass(150);
            network.assert_second_space();
            most = most.max(network.members().len());
        }
    }
    assert!(most >= 3, "{most} at once");
    network.pass(10_000);
    assert_eq!(network.members(), []);
}

/// Each node has a job that takes all of its cores, but node 0 has three left.
fn all_busy_but_one(residues: Residues) -> Network {
    let mut sizes = std::vec![(4, 30)];
    sizes.extend((0..40).map(|at| (1 << (at % 5), 8 + at)));
    let mut network = Network::new(with(residues), &sizes);
    network.run_time = Span::from_secs(20_000);
    for (node, (cores, memory)) in (0..).zip(&sizes) {
        let cores = if node == 0 { 1 } else { *cores };
        give(&mut network, node, job(node, cores, *memory));
    }
    network.pass(400);
    network
}

/// Gives a node a job from node 777, with a grant that outlasts the test.
fn give(network: &mut Network, node: u64, job: Job) {
    let term = custody::Term {
        attempt: 1,
        ..custody::Term::default()
    };
    let give = custody::Message::Give {
        job: Shared::new(job),
        home: id(777),
        term,
        carried: 0,
        payload: Payload::EMPTY,
    };
    let from = id(777);
    let message = Message::Runs(give);
    network.feed(id(node), Event::Message { from, message });
    let mut claims = network
        .events
        .values()
        .filter_map(|(to, event)| match event {
            Event::Message {
                message: Message::Runs(custody::Message::Report { claim, job: of, .. }),
                ..
            } if (*to, *of) == (from, job.id) => Some(*claim),
            _ => None,
        });
    let claim = claims.next_back().expect("it is claimed");
    let verdict = custody::Message::Verdict {
        job: job.id,
        term,
        claim,
        ruling: custody::Ruling::Granted {
            until: network.now + Span::from_secs(100_000),
        },
    };
    let message = Message::Runs(verdict);
    network.feed(id(node), Event::Message { from, message });
    let mut running = network.running.keys();
    assert!(running.any(|(on, of, _)| (*on, *of) == (id(node), job.id)));
}

#[test]
fn a_search_finds_the_only_residue_that_can_start_the_job_now() {
    const JOBS: u64 = crate::scaled(10, 5);
    // How many jobs start, if searches in the primary space stop early.
    let started = |residues| {
        let mut network = all_busy_but_one(residues);
        let mut started = 0;
        for number in 100..100 + JOBS {
            for node in network.nodes.values_mut() {
                node.config.probes = 0;
                node.config.stopping = 1;
                node.config.searches_again = 0;
                node.config.scheduling = Scheduling::VANILLA;
            }
            network.submit(number % 40, job(number, 2, 0));
            network.pass(5);
            started += network.started(number).len();
            network.command(id(number % 40), job::Command::Cancel(JobId::new(number)));
            network.pass(60);
        }
        started
    };
    assert_eq!(started(Residues::DualCan), JOBS as usize);
    let without = started(Residues::Neighbours);
    assert!(without < JOBS as usize, "{without} start without it");
}

#[test]
fn second_spaces_that_were_founded_apart_merge() {
    let mut network = Network::new(dual(), &[(4, 16), (4, 16), (4, 16), (4, 16)]);
    network.run_time = Span::from_secs(5000);
    // Each node is told at once to found the space, as by a rendezvous that forgot; no other message comes in between.
    for node in 0..4 {
        give(&mut network, node, job(node, 3, 8));
        let from = id((node + 1) % 4);
        let message = Message::Members(Members::new());
        network.feed(id(node), Event::Message { from, message });
    }
    let zones = network.nodes.values();
    let zones = zones.filter_map(|node| node.residue_can()?.zone().copied());
    assert_eq!(zones.collect::<Vec<_>>(), [Zone::WHOLE; 4], "four spaces");
    network.pass(600);
    assert_eq!(network.members().len(), 4);
    network.assert_second_space();
}

#[test]
fn a_member_that_crashes_is_gone_from_the_second_space() {
    let mut network = Network::new(dual(), &[(4, 16), (4, 16), (4, 16), (4, 16)]);
    network.run_time = Span::from_secs(5000);
    for number in 0..4 {
        network.submit(number, job(number, 3, 8));
        network.pass(60);
    }
    assert_eq!(network.members().len(), 4);
    // First a node that is not the rendezvous crashes, then the rendezvous.
    let origin = Point::new([0; 3]);
    for is_rendezvous in [false, true] {
        let mut nodes = network.nodes.iter();
        let gone = nodes.find(|(_, node)| {
            is_rendezvous == node.can().zone().is_some_and(|zone| zone.contains(&origin))
        });
        let gone = *gone.unwrap().0;
        network.crash(gone);
        network.pass(400);
        network.assert_second_space();
        for node in network.nodes.values() {
            let can = node.residue_can().unwrap();
            assert!(can.neighbours().all(|peer| peer.id() != gone));
        }
        // After its restart the node runs nothing, so it is no member.
        network.boot(gone);
        network.pass(400);
        network.assert_second_space();
    }
}

#[test]
fn lost_messages_keep_no_node_out_of_the_second_space() {
    let lossy = Config {
        resend: Some(Span::from_secs(1)),
        ..dual()
    };
    let mut network = Network::new(lossy, &[(4, 16), (8, 32), (2, 8), (16, 64), (4, 8)]);
    network.run_time = Span::from_secs(900);
    network.loss = Some(8);
    // No node has a multiple of three cores, so each run leaves some.
    for number in 0..6 {
        network.submit(number % 5, job(number, 3, 1));
        network.pass(60);
    }
    network.loss = None;
    network.pass(250);
    assert!(!network.members().is_empty());
    network.assert_second_space();
}

#[test]
fn without_the_second_space_no_message_about_it_is_sent() {
    let mut network = Network::new(config(), &[(4, 16), (4, 16)]);
    network.submit(0, job(1, 3, 8));
    network.pass(60);
    let point = Point::new([1, 2, 3]);
    for message in [
        Message::Members(Members::new()),
        Message::Residue {
            message: can::Message::Join {
                joiner: can::Name {
                    id: id(1),
                    life: crate::id::Incarnation::default(),
                },
                point,
                hops: 3,
            },
            status: None,
        },
    ] {
        network.feed(
            id(0),
            Event::Message {
                from: id(1),
                message,
            },
        );
    }
    assert!(
        network
            .nodes
            .values()
            .all(|node| node.residue_can().is_none())
    );
    let other = |(_, event): &(NodeId, Event<Node>)| match event {
        Event::Message { message, .. } => matches!(message, Message::Residue { .. }),
        _ => false,
    };
    assert!(!network.events.values().any(other));
}

#[test]
fn the_rendezvous_forgets_an_unreachable_member() {
    let mut network = Network::new(dual(), &[(4, 16)]);
    let members = [71, 72].map(id).into_iter().collect();
    let enter = Message::Errand {
        number: 0,
        errand: Errand::Enter {
            node: id(70),
            stand: Stand::Inside(members),
            hops: 3,
        },
    };
    let from = id(70);
    network.feed(
        id(0),
        Event::Message {
            from,
            message: enter,
        },
    );
    let to = id(71);
    network.feed(id(0), Event::Unreachable { to });
    let space = network.nodes[&id(0)].residue_space.as_ref().unwrap();
    assert_eq!(space.registry.members.as_slice(), [70, 72].map(id));
}

#[test]
fn without_the_second_space_no_search_goes_on_in_it() {
    let mut network = Network::new(config(), &[(4, 16), (4, 16)]);
    for node in [0, 1] {
        let (quest, trail) = (quest(Wanted::Sooner), fresh_trail());
        let errand = Errand::Forage {
            job: Shared::new(job(1, 4, 1)),
            quest,
            trail,
            way: Way::Begins,
            steps: 3,
        };
        let message = Message::Errand { number: 0, errand };
        let (from, before) = (id(78), network.events.len());
        network.feed(id(node), Event::Message { from, message });
        assert_eq!(network.events.len(), before, "nothing is sent");
    }
}

#[test]
fn an_unreachable_node_does_not_change_what_is_known_of_other_members() {
    let mut network = Network::new(dual(), &[(4, 16), (4, 16)]);
    for node in [0, 1] {
        give(&mut network, node, job(node, 2, 1));
    }
    network.pass(120);
    assert_eq!(network.members(), [id(0), id(1)]);
    let quest = quest(Wanted::RunNode);
    let mut is_found = || {
        let errand = Errand::Forage {
            job: Shared::new(job(9, 1, 1)),
            quest,
            trail: fresh_trail(),
            way: Way::Inside,
            steps: 1,
        };
        let message = Message::Errand { number: 0, errand };
        network.events.clear();
        let from = id(78);
        network.feed(id(0), Event::Message { from, message });
        let found = network.events.values().find_map(|(_, event)| match event {
            Event::Message {
                message: Message::Found { candidates, .. },
                ..
            } => Some(candidates.contains(&id(1))),
            _ => None,
        });
        let to = id(99);
        network.feed(id(0), Event::Unreachable { to });
        found
    };
    assert_eq!(is_found(), Some(true));
    assert_eq!(is_found(), Some(true));
}

impl Network {
    /// Delivers a message to node 0.
    fn hear(&mut self, from: u64, message: Message<3>) {
        let from = id(from);
        self.feed(id(0), Event::Message { from, message });
    }

    /// When node 0 checks its membership next.
    fn rendezvous(&self) -> Option<Time> {
        let mut timers = self.timers.iter();
        let timer = timers.find(|(_, of, timer)| (*of, *timer) == (id(0), Timer::Rendezvous));
        timer.map(|(at, ..)| *at)
    }
}

/// A node that has asked member 70 for a zone in the second space, and has member 71 as another contact.
fn getting_in() -> Network {
    let mut network = Network::new(dual(), &[(4, 16)]);
    let stand = Stand::Inside([id(71)].into_iter().collect());
    let enter = Errand::Enter {
        node: id(70),
        stand,
        hops: 3,
    };
    let message = Message::Errand {
        number: 0,
        errand: enter,
    };
    network.hear(70, message);
    assert_eq!(network.rendezvous(), None);
    give(&mut network, 0, job(1, 3, 8));
    network
}

fn refused(why: can::Refusal) -> Message<3> {
    let life = crate::id::Incarnation::default();
    Message::Residue {
        message: can::Message::Refused { life, why },
        status: None,
    }
}

#[test]
fn a_joiner_of_the_second_space_is_woken_at_its_earliest_due_time() {
    let mut network = getting_in();
    let period = network.config.residue_can.period;
    assert_eq!(network.rendezvous(), Some(network.now + period));
    network.now += Span::from_secs(1);
    network.hear(70, refused(can::Refusal::Busy));
    let due = network.rendezvous().unwrap();
    let soon = network.now + AGAIN..network.now + AGAIN.times(2);
    assert!(soon.contains(&due), "{due:?}");
    // The next contact is asked; its deadline is later than that.
    network.hear(70, refused(can::Refusal::Outside));
    assert_eq!(network.rendezvous(), Some(due));
}

#[test]
fn a_joiner_of_a_full_second_space_soon_asks_the_rendezvous() {
    let mut network = getting_in();
    network.hear(70, refused(can::Refusal::Full));
    let due = network.rendezvous().unwrap();
    assert!((network.now + AGAIN..network.now + AGAIN.times(2)).contains(&due));
    let is_joining = |network: &Network| {
        let can = network.nodes[&id(0)].residue_can();
        can.is_some_and(Can::is_joining)
    };
    assert!(!is_joining(&network), "it does not ask by itself as well");
    network.pass(2);
    assert!(is_joining(&network));
}

#[test]
fn in_a_round_a_node_sends_on_only_so_many_requests_to_enter() {
    let mut network = Network::new(dual(), &[(4, 16), (2, 8)]);
    let is_rendezvous = |node: &Node| {
        node.can()
            .zone()
            .is_some_and(|it| it.contains(&Point::new([0; 3])))
    };
    let other = [id(0), id(1)]
        .into_iter()
        .find(|node| !is_rendezvous(&network.nodes[node]));
    let other = other.expect("there is one rendezvous");
    let sent_on = |network: &mut Network| {
        let before = network.events.len();
        for node in 0..u64::from(MOST_SENT_ON) + 9 {
            let errand = Errand::Enter {
                node: id(100 + node),
                stand: Stand::Outside,
                hops: 9,
            };
            let message = Message::Errand { number: 0, errand };
            let from = id(77);
            network.feed(other, Event::Message { from, message });
        }
        network.events.len() - before
    };
    assert_eq!(sent_on(&mut network), usize::from(MOST_SENT_ON));
    assert_eq!(sent_on(&mut network), 0);
    network.pass(2 * network.config.round.as_secs());
    assert_eq!(sent_on(&mut network), usize::from(MOST_SENT_ON));
}
