//! A node with several introducers tries one after the other until it is in the overlay, in each scheduler. A host may
//! name another one later.

use std::collections::VecDeque;

use gridweave_core::commit::Everyone;
use gridweave_core::id::NodeId;
use gridweave_core::job::Command;
use gridweave_core::machine::{Effect, Event, Host, Machine};
use gridweave_core::overlay::cyclon;
use gridweave_core::profile::{Coordinate, Profile};
use gridweave_core::queue::{Policy, SiteQueue};
use gridweave_core::resource::{Capability, Dimensions, Kind, Speed};
use gridweave_core::scheduler::aria::{self, Aria, Membership, Site};
use gridweave_core::scheduler::asap::{self, Asap};
use gridweave_core::scheduler::criteria::{self, Criteria, OnlyStandard};
use gridweave_core::scheduler::desktop::{self, Desktop, Equipment};
use gridweave_core::scheduler::{Bootstrap, Introducers, IntroducersError};
use gridweave_core::time::Time;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// The only node that is up when another one joins.
const FOUNDER: NodeId = NodeId::new(3);
const JOINER: NodeId = NodeId::new(9);
/// By then the joiner must be in.
const END: Time = Time::from_secs(3600);

fn nodes<const N: usize>(ids: [u64; N]) -> [NodeId; N] {
    ids.map(NodeId::new)
}

/// Two nodes on a network without delay. All other nodes are dead: what is sent to them is lost.
struct Pair<M: Machine> {
    hosts: [(NodeId, Host<M>); 2],
    now: Time,
    rng: Xoshiro256PlusPlus,
    /// To which nodes the joiner sent its messages, each named once, in the order of the first.
    asked: Vec<NodeId>,
}

impl<M: Machine> Pair<M> {
    /// Delivers until there is nothing under way.
    fn deliver(&mut self) {
        let mut network = VecDeque::new();
        loop {
            for (me, host) in &mut self.hosts {
                while let Some(effect) = host.execute() {
                    if let Effect::Send { to, message } = effect {
                        if *me == JOINER && !self.asked.contains(&to) {
                            self.asked.push(to);
                        }
                        network.push_back((*me, to, message));
                    }
                }
            }
            let Some((from, to, message)) = network.pop_front() else {
                return;
            };
            if let Some((_, host)) = self.hosts.iter_mut().find(|(id, _)| *id == to) {
                let event = Event::Message { from, message };
                host.handle(event, self.now, &mut self.rng);
            }
        }
    }

    fn step(&mut self) {
        let due = |(_, host): &(NodeId, Host<M>)| host.next_at();
        self.now = self
            .hosts
            .iter()
            .filter_map(due)
            .min()
            .expect("a node that is up waits for something");
        for (_, host) in &mut self.hosts {
            if host.next_at().is_some_and(|at| at <= self.now) {
                host.fire(self.now, &mut self.rng);
            }
        }
        self.deliver();
    }
}

/// What a joiner is given.
#[derive(Clone, Copy)]
struct Given {
    introducers: Introducers,
    /// Named by the host after the start.
    later: Option<NodeId>,
}

/// Has a node join through these, and lists the peers that it sent messages until it was in.
fn asked<M: Machine<Command = Command>>(
    given: Given,
    build: impl Fn(NodeId, Option<Introducers>, &mut Xoshiro256PlusPlus) -> M,
    is_in: impl Fn(&M) -> bool,
) -> Vec<NodeId> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut hosts = [(FOUNDER, Host::new()), (JOINER, Host::new())];
    for (me, host) in &mut hosts {
        let introducers = (*me == JOINER).then_some(given.introducers);
        let node = build(*me, introducers, &mut rng);
        host.start(node, Time::ZERO, &mut rng);
    }
    let mut pair = Pair {
        hosts,
        now: Time::ZERO,
        rng,
        asked: Vec::new(),
    };
    pair.deliver();
    if let Some(later) = given.later {
        let meet = Event::Command(Command::Meet(later));
        pair.hosts[1].1.handle(meet, pair.now, &mut pair.rng);
        pair.deliver();
    }
    while !pair.hosts[1].1.machine().is_some_and(&is_in) {
        assert!(pair.now < END, "it is still alone; asked: {:?}", pair.asked);
        pair.step();
    }
    pair.asked
}

fn bootstrap(introducers: Option<Introducers>) -> Bootstrap {
    introducers.map_or(Bootstrap::Alone, Bootstrap::Join)
}

fn asap(given: Given) -> Vec<NodeId> {
    let build = |me, introducers, _: &mut Xoshiro256PlusPlus| {
        let config = asap::Config::DEFAULT;
        Asap::<20, 8>::new(me, config, bootstrap(introducers), Everyone).expect("it is sound")
    };
    asked(given, build, |node| node.overlay().view().contains(FOUNDER))
}

fn criteria(given: Given) -> Vec<NodeId> {
    let build = |me, introducers, _: &mut Xoshiro256PlusPlus| {
        let profile = Profile::at(Coordinate::at([0, 0, 0]));
        let (config, boot) = (criteria::Config::DEFAULT, bootstrap(introducers));
        Criteria::<20, 8, 10, OnlyStandard>::new(me, config, boot, profile, OnlyStandard, Everyone)
            .expect("it is sound")
    };
    asked(given, build, |node| node.overlay().view().contains(FOUNDER))
}

fn aria(config: aria::Config, given: Given) -> Vec<NodeId> {
    let build = |me, introducers, _: &mut Xoshiro256PlusPlus| {
        let site = Site {
            dimensions: Dimensions::new(&[]).expect("none is not too many"),
            capability: Capability::none(),
            membership: Membership::default(),
            local: SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 99),
        };
        Aria::new(me, config, bootstrap(introducers), site).expect("it is sound")
    };
    asked(given, build, |node| {
        node.links().neighbours().contains(&FOUNDER)
    })
}

fn desktop(given: Given) -> Vec<NodeId> {
    let build = |me, introducers: Option<Introducers>, rng: &mut Xoshiro256PlusPlus| {
        let names = [("cores", Kind::Amount)];
        let dimensions = Dimensions::new(&names).expect("one is not too many");
        let most = dimensions.capability(&[64]).expect("there is one");
        let equipment = Equipment {
            capability: dimensions.capability(&[4]).expect("there is one"),
            cores: dimensions.named("cores").expect("there are cores"),
            speed: Speed::BASELINE,
            dimensions,
        };
        let boot = introducers.map_or(desktop::Bootstrap::Alone, desktop::Bootstrap::Join);
        Desktop::<3>::new(me, desktop::Config::new(most), boot, equipment, rng)
            .expect("it is sound")
    };
    asked(given, build, |node| node.can().zone().is_some())
}

/// The peers that a node of each scheduler asks, by the scheduler's name.
fn all(given: Given) -> [(&'static str, Vec<NodeId>); 5] {
    let gossip = aria::Config {
        overlay: aria::Overlay::Cyclon(cyclon::Config::DEFAULT),
        ..aria::Config::DEFAULT
    };
    [
        ("asap", asap(given)),
        ("criteria", criteria(given)),
        ("aria", aria(aria::Config::DEFAULT, given)),
        ("aria on cyclon", aria(gossip, given)),
        ("desktop", desktop(given)),
    ]
}

/// The same with nothing but introducers.
fn through<const N: usize>(ids: [u64; N]) -> [(&'static str, Vec<NodeId>); 5]
where
    Introducers: From<[NodeId; N]>,
{
    all(Given {
        introducers: nodes(ids).into(),
        later: None,
    })
}

#[test]
fn dead_introducers_are_passed_over_in_their_order() {
    for (scheduler, asked) in through([1, 2, 3]) {
        assert_eq!(asked, nodes([1, 2, 3]), "{scheduler}");
    }
    for (scheduler, asked) in through([1, 2, 4, 3]) {
        assert_eq!(asked, nodes([1, 2, 4, 3]), "{scheduler}");
    }
}

#[test]
fn if_the_first_introducer_answers_no_other_is_asked() {
    for (scheduler, asked) in through([3, 1, 2]) {
        assert_eq!(asked, nodes([3]), "{scheduler}");
    }
}

#[test]
fn a_node_that_is_on_its_own_list_asks_the_others() {
    for (scheduler, asked) in through([9, 3]) {
        assert_eq!(asked, nodes([3]), "{scheduler}");
    }
}

#[test]
fn a_node_asks_a_peer_that_its_host_names_later() {
    let given = Given {
        introducers: NodeId::new(1).into(),
        later: Some(FOUNDER),
    };
    for (scheduler, asked) in all(given) {
        assert_eq!(asked, nodes([1, 3]), "{scheduler}");
    }
}

#[test]
fn a_list_of_introducers_is_neither_empty_nor_too_long() {
    assert_eq!(
        Introducers::try_from(&[][..]).map_err(|error| error.to_string()),
        Err("there is no introducer: name one, or start alone".into())
    );
    let five = nodes([1, 2, 3, 4, 5]);
    let error = Introducers::try_from(&five[..]);
    assert_eq!(error, Err(IntroducersError::TooMany { count: 5 }));
    assert_eq!(
        error.map_err(|error| error.to_string()),
        Err("there are 5 introducers: name at most 4".into())
    );
    let four: Introducers = nodes([1, 2, 3, 4]).into();
    assert_eq!(Introducers::try_from(&five[..4]), Ok(four));
    assert!(four.iter().eq(nodes([1, 2, 3, 4])));
    assert!(Introducers::from(FOUNDER).iter().eq([FOUNDER]));
}
