use super::*;
use crate::machine::{Driver, Effect};
use std::vec::Vec;

type Small = Detector<2>;

const ME: NodeId = NodeId::new(5);
const A: NodeId = NodeId::new(9);
const B: NodeId = NodeId::new(2);
const PERIOD: Span = Span::from_secs(8);
const BORN: Incarnation = Incarnation::new(0);

type Bench = Driver<Small>;

impl Bench {
    /// Not started, at 100 s.
    fn unborn() -> Self {
        Self::new(Time::from_secs(100), || {
            Detector::new(ME, PERIOD, 2).unwrap()
        })
    }

    /// Started at 100 s, so that its first tick is due an eighth of a period later.
    fn born() -> Self {
        let mut bench = Self::unborn();
        bench.feed(Event::Start);
        bench
    }

    fn watching(peer: NodeId) -> Self {
        let mut bench = Self::born();
        assert_eq!(bench.feed(Event::Command(Command::Watch(peer))), []);
        bench
    }

    fn tick(&mut self, round: u32) -> Vec<Effect<Small>> {
        let Life::Started { due, .. } = self.machine().life else {
            panic!("not started")
        };
        self.now = due;
        self.feed(Event::Timer(Tick { round }))
    }

    fn pong(&mut self, from: NodeId, answerer: u32, round: u32) -> Vec<Effect<Small>> {
        let answerer = Incarnation::new(answerer);
        self.feed(Event::Message {
            from,
            message: Message::Pong {
                answerer,
                asker: BORN,
                round,
            },
        })
    }
}

fn ping(to: NodeId, round: u32) -> Effect<Small> {
    Effect::Send {
        to,
        message: Message::Ping { asker: BORN, round },
    }
}

fn wake(at: u64, round: u32) -> Effect<Small> {
    Effect::Wake {
        at: Time::from_secs(at),
        timer: Tick { round },
    }
}

#[test]
fn a_start_persists_the_incarnation_before_anything_else() {
    let mut bench = Bench::unborn();
    assert_eq!(
        bench.feed(Event::Start),
        [Effect::Persist((), BORN), wake(101, 0)]
    );
    assert_eq!(bench.feed(Event::Start), []);
    assert_eq!(bench.machine().incarnation(), Some(BORN));
    assert_eq!(Bench::unborn().machine().incarnation(), None);
}

#[test]
fn a_restart_lives_under_the_next_incarnation() {
    let mut bench = Bench::unborn();
    for record in [3, 7, 4] {
        assert_eq!(
            bench.feed(Event::Restored((), Incarnation::new(record))),
            []
        );
    }
    assert_eq!(
        bench.feed(Event::Start),
        [Effect::Persist((), Incarnation::new(8)), wake(101, 0)]
    );
    assert_eq!(bench.feed(Event::Restored((), Incarnation::new(90))), []);
    let ping = Message::Ping {
        asker: Incarnation::new(1),
        round: 6,
    };
    let answerer = Incarnation::new(8);
    let pong = Message::Pong {
        answerer,
        asker: Incarnation::new(1),
        round: 6,
    };
    assert_eq!(
        bench.feed(Event::Message {
            from: A,
            message: ping
        }),
        [Effect::Send {
            to: A,
            message: pong
        }]
    );
}

#[test]
fn suspicion_comes_after_exactly_k_unanswered_pings() {
    let mut bench = Bench::watching(A);
    assert_eq!(bench.tick(0), [ping(A, 1), wake(109, 1)]);
    assert_eq!(bench.tick(1), [ping(A, 2), wake(117, 2)]);
    assert!(!bench.machine().suspects(A));
    assert_eq!(
        bench.tick(2),
        [
            Effect::Notify(Notice::Suspected { peer: A }),
            ping(A, 3),
            wake(125, 3)
        ]
    );
    assert!(bench.machine().suspects(A));
    assert_eq!(bench.tick(3), [ping(A, 4), wake(133, 4)]);
}

#[test]
fn an_answer_starts_the_count_again() {
    let mut bench = Bench::watching(A);
    for round in 0..9 {
        assert_eq!(bench.tick(round).len(), 2);
        assert_eq!(bench.pong(A, 0, round + 1), []);
    }
    assert!(!bench.machine().suspects(A));
}

#[test]
fn a_suspected_peer_that_answers_has_returned() {
    let mut bench = Bench::watching(A);
    bench.pong(A, 4, 0);
    for round in 0..3 {
        bench.tick(round);
    }
    assert_eq!(
        bench.pong(A, 4, 3),
        [Effect::Notify(Notice::Returned { peer: A })]
    );
    assert!(!bench.machine().suspects(A));
}

#[test]
fn a_later_incarnation_is_a_restart_and_an_earlier_one_is_ignored() {
    let mut bench = Bench::watching(A);
    assert_eq!(bench.pong(A, 4, 0), []);
    let incarnation = Incarnation::new(5);
    assert_eq!(
        bench.pong(A, 5, 0),
        [Effect::Notify(Notice::Restarted {
            peer: A,
            incarnation
        })]
    );
    for round in 0..3 {
        bench.tick(round);
    }
    assert_eq!(bench.pong(A, 4, 3), []);
    assert!(bench.machine().suspects(A));
    let incarnation = Incarnation::new(6);
    assert_eq!(
        bench.pong(A, 6, 3),
        [Effect::Notify(Notice::Restarted {
            peer: A,
            incarnation
        })]
    );
    assert!(!bench.machine().suspects(A));
}

#[test]
fn an_old_or_foreign_pong_is_no_sign_of_life() {
    let mut bench = Bench::watching(A);
    for round in 0..3 {
        bench.tick(round);
    }
    // The limit is two, so rounds 2 and 3 are fresh in round 3.
    assert_eq!(bench.pong(A, 0, 1), []);
    assert_eq!(bench.pong(A, 0, 4), []);
    assert!(bench.machine().suspects(A));
    let asker = Incarnation::new(1);
    let message = Message::Pong {
        answerer: BORN,
        asker,
        round: 3,
    };
    assert_eq!(bench.feed(Event::Message { from: A, message }), []);
    assert_eq!(bench.pong(B, 0, 3), []);
    assert!(bench.machine().suspects(A));
    assert_eq!(
        bench.pong(A, 0, 2),
        [Effect::Notify(Notice::Returned { peer: A })]
    );
}

#[test]
fn an_unreachable_peer_has_one_ping_left_to_answer() {
    let mut bench = Bench::watching(A);
    assert_eq!(bench.feed(Event::Unreachable { to: A }), []);
    assert_eq!(bench.feed(Event::Unreachable { to: B }), []);
    assert_eq!(bench.tick(0), [ping(A, 1), wake(109, 1)]);
    assert_eq!(bench.feed(Event::Unreachable { to: A }), []);
    assert_eq!(
        bench.tick(1),
        [
            Effect::Notify(Notice::Suspected { peer: A }),
            ping(A, 2),
            wake(117, 2)
        ]
    );
    assert_eq!(bench.feed(Event::Unreachable { to: A }), []);
    assert!(bench.machine().suspects(A));
}

#[test]
fn stale_ticks_do_nothing_and_early_ones_wait() {
    let mut bench = Bench::watching(A);
    bench.tick(0);
    assert_eq!(bench.feed(Event::Timer(Tick { round: 0 })), []);
    assert_eq!(bench.feed(Event::Timer(Tick { round: 7 })), []);
    assert_eq!(bench.feed(Event::Timer(Tick { round: 1 })), [wake(109, 1)]);
}

#[test]
fn nothing_happens_before_the_start() {
    let mut bench = Bench::unborn();
    assert_eq!(bench.feed(Event::Timer(Tick { round: 0 })), []);
    assert_eq!(bench.pong(A, 0, 0), []);
    let message = Message::Ping {
        asker: BORN,
        round: 0,
    };
    assert_eq!(bench.feed(Event::Message { from: A, message }), []);
}

#[test]
fn at_most_n_peers_are_watched_and_never_oneself() {
    let mut bench = Bench::watching(A);
    let refused = |peer| [Effect::Notify(Notice::NotWatched { peer })];
    assert_eq!(bench.feed(Event::Command(Command::Watch(ME))), refused(ME));
    assert_eq!(bench.feed(Event::Command(Command::Watch(B))), []);
    assert_eq!(bench.feed(Event::Command(Command::Watch(B))), []);
    let c = NodeId::new(7);
    assert_eq!(bench.feed(Event::Command(Command::Watch(c))), refused(c));
    assert_eq!(bench.machine().watched().collect::<Vec<_>>(), [B, A]);
    assert_eq!(bench.feed(Event::Command(Command::Unwatch(A))), []);
    assert_eq!(bench.feed(Event::Command(Command::Unwatch(A))), []);
    assert_eq!(bench.feed(Event::Command(Command::Watch(c))), []);
    assert_eq!(bench.tick(0), [ping(B, 1), ping(c, 1), wake(109, 1)]);
}

#[test]
fn a_broken_state_is_named() {
    let mut bench = Bench::watching(A);
    let watched = |peer, trust| Watched {
        peer,
        incarnation: None,
        trust,
    };
    let trusted = Trust::Trusted { unanswered: 0 };
    let named = |detector: &Small| detector.check().unwrap_err().invariant;
    bench.machine_mut().peers.push(watched(A, trusted)).unwrap();
    assert_eq!(
        named(bench.machine()),
        "watched peers are sorted and distinct"
    );
    bench.machine_mut().peers.clear();
    bench
        .machine_mut()
        .peers
        .push(watched(ME, trusted))
        .unwrap();
    assert_eq!(
        named(bench.machine()),
        "a detector does not watch its own node"
    );
    bench.machine_mut().peers.clear();
    bench
        .machine_mut()
        .peers
        .push(watched(A, Trust::Trusted { unanswered: 3 }))
        .unwrap();
    assert!(named(bench.machine()).starts_with("a peer is suspected"));
}

#[test]
fn the_end_of_time_and_the_last_round_are_survived() {
    let mut bench = Bench::watching(A);
    let due = Time::MAX;
    bench.machine_mut().life = Life::Started {
        incarnation: BORN,
        round: u32::MAX,
        due,
    };
    bench.now = Time::MAX;
    assert_eq!(
        bench.feed(Event::Timer(Tick { round: u32::MAX })),
        [
            ping(A, 0),
            Effect::Wake {
                at: Time::MAX,
                timer: Tick { round: 0 }
            }
        ]
    );
    assert_eq!(bench.pong(A, 0, u32::MAX), []);
}
