//! A failure detector: suspects a watched peer after `k` unanswered pings, and tells a return from a restart.
//!
//! Each period it pings the peers it watches; any node answers any ping. A peer that left `k` pings in a row unanswered
//! is [`Notice::Suspected`]; it is pinged on, and the first fresh answer makes it [`Notice::Returned`], or
//! [`Notice::Restarted`] if it comes from a later incarnation: such a peer has forgotten everything it did not persist.
//!
//! If the transport reports a peer as unreachable, one more unanswered ping is enough.
//!
//! Suspicion is a hint. It may be wrong, and two nodes may disagree; safety must rest on leases and epochs.
//!
//! # Embedding it
//! A parent that watches the nodes its job runs on, and gives the job up when one is suspected:
//! ```
//! use gridweave_core::heartbeat::{self, Detector};
//! use gridweave_core::id::{Incarnation, NodeId};
//! use gridweave_core::machine::{Context, Effect, EffectQueue, Embed, Event, Machine, Violation};
//! use gridweave_core::time::{Span, Time};
//!
//! #[derive(Clone, PartialEq, Eq, Hash, Debug)]
//! struct Watchman {
//!     detector: Detector<16>,
//! }
//!
//! #[derive(Clone, PartialEq, Eq, Hash, Debug)]
//! enum Order {
//!     Guard(NodeId),
//! }
//!
//! #[derive(Clone, PartialEq, Eq, Hash, Debug)]
//! struct GiveUp(NodeId);
//!
//! // How the detector lives inside: everything passes through, notices wait for the parent.
//! #[derive(Default)]
//! struct AsDetector(Vec<heartbeat::Notice>);
//!
//! impl Embed<Detector<16>, Watchman> for AsDetector {
//!     fn message(&mut self, message: heartbeat::Message) -> heartbeat::Message { message }
//!     fn timer(&mut self, timer: heartbeat::Tick) -> heartbeat::Tick { timer }
//!     fn key(&mut self, (): ()) {}
//!     fn record(&mut self, record: Incarnation) -> Incarnation { record }
//!     fn notice(&mut self, notice: heartbeat::Notice, _: &mut dyn Context<Watchman>) {
//!         self.0.push(notice);
//!     }
//! }
//!
//! impl Machine for Watchman {
//!     type Message = heartbeat::Message;
//!     type Timer = heartbeat::Tick;
//!     type Command = Order;
//!     type Notice = GiveUp;
//!     type Key = ();
//!     type Record = Incarnation;
//!
//!     fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
//!         let event = match event {
//!             Event::Command(Order::Guard(node)) => Event::Command(heartbeat::Command::Watch(node)),
//!             Event::Start => Event::Start,
//!             Event::Message { from, message } => Event::Message { from, message },
//!             Event::Unreachable { to } => Event::Unreachable { to },
//!             Event::Timer(timer) => Event::Timer(timer),
//!             Event::Restored((), record) => Event::Restored((), record),
//!         };
//!         let mut seen = AsDetector::default();
//!         self.detector.handle(event, &mut cx.lift(&mut seen));
//!         for notice in seen.0 {
//!             if let heartbeat::Notice::Suspected { peer } = notice {
//!                 cx.notify(GiveUp(peer));
//!             }
//!         }
//!     }
//!
//!     fn check(&self) -> Result<(), Violation> {
//!         self.detector.check()
//!     }
//! }
//!
//! // A host: no node answers three pings, so the node is given up at the fourth.
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//! let mut watchman = Watchman { detector: Detector::new(NodeId::new(1), Span::from_secs(10), 3)? };
//! let (mut effects, mut timers) = (EffectQueue::new(), gridweave_core::machine::TimerQueue::new());
//! let (mut now, mut pings) = (Time::ZERO, 0);
//! effects.feed(&mut watchman, Event::Start, now, &mut rng);
//! effects.feed(&mut watchman, Event::Command(Order::Guard(NodeId::new(2))), now, &mut rng);
//! let given_up = 'host: loop {
//!     for effect in effects.drain() {
//!         match effect {
//!             Effect::Wake { at, timer } => timers.wake(at, timer),
//!             Effect::Send { .. } => pings += 1, // and loses it
//!             Effect::Notify(GiveUp(node)) => break 'host node,
//!             Effect::Persist(..) | Effect::Forget(_) | Effect::Cancel(_) => {}
//!         }
//!     }
//!     now = timers.next_at().expect("a started detector always has a tick pending");
//!     let (_, timer) = timers.pop_due(now).expect("the next timer is due when it is due");
//!     effects.feed(&mut watchman, Event::Timer(timer), now, &mut rng);
//! };
//! assert_eq!((given_up, pings), (NodeId::new(2), 4));
//! # Ok::<(), gridweave_core::config::ConfigError>(())
//! ```

#[cfg(test)]
mod tests;

use crate::config::{ConfigError, Limits};
use crate::id::{Incarnation, NodeId};
use crate::machine::{Context, Event, Machine, Violation};
use crate::rng::Choose;
use crate::time::{Span, Time};

/// The detector of one node, watching at most `N` peers.
///
/// Most effects per event: `2 N + 1` on a tick, two on any other event.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Detector<const N: usize> {
    me: NodeId,
    period: Span,
    limit: u8,
    life: Life,
    /// Sorted by peer.
    peers: heapless::Vec<Watched, N>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Life {
    NotStarted {
        last: Option<Incarnation>,
    },
    Started {
        incarnation: Incarnation,
        round: u32,
        due: Time,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Watched {
    peer: NodeId,
    incarnation: Option<Incarnation>,
    trust: Trust,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Trust {
    Trusted { unanswered: u8 },
    Suspected,
}

/// What detectors say to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// Are you there?
    Ping {
        /// The asker's incarnation.
        asker: Incarnation,
        /// The asker's round.
        round: u32,
    },
    /// I am.
    Pong {
        /// The answerer's incarnation.
        answerer: Incarnation,
        /// The asker's incarnation, from its ping.
        asker: Incarnation,
        /// The asker's round, from its ping.
        round: u32,
    },
}

/// The timer of a round; an older round's tick does nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tick {
    round: u32,
}

/// What the host asks of a detector.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Command {
    /// Watch this peer from the next tick on; nothing changes if it is watched already.
    Watch(NodeId),
    /// Stop watching this peer.
    Unwatch(NodeId),
}

/// What a detector tells its host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Notice {
    /// A peer left too many pings unanswered.
    Suspected {
        /// The peer that may be down.
        peer: NodeId,
    },
    /// A suspected peer answers, in the life it was known in or for the first time.
    Returned {
        /// The peer that answers.
        peer: NodeId,
    },
    /// A peer answers in a later life than the one it was known in.
    Restarted {
        /// The peer that restarted.
        peer: NodeId,
        /// Its new life.
        incarnation: Incarnation,
    },
    /// A peer is not watched: it is this node itself, or as many as fit are watched already.
    NotWatched {
        /// The peer that was to be watched.
        peer: NodeId,
    },
}

impl<const N: usize> Detector<N> {
    /// A detector that pings every `period` and suspects after `limit` unanswered pings.
    pub fn new(me: NodeId, period: Span, limit: u8) -> Result<Self, ConfigError> {
        Limits::new()
            .time("period", period)
            .more_than(0, "or pings are sent without a pause")
            .number("limit", limit.into())
            .at_least(1, "or a peer is suspected before it can answer")
            .end(())?;
        let life = Life::NotStarted { last: None };
        Ok(Self {
            me,
            period,
            limit,
            life,
            peers: heapless::Vec::new(),
        })
    }

    /// Whether this peer is watched and suspected.
    pub fn suspects(&self, peer: NodeId) -> bool {
        self.index_of(peer)
            .ok()
            .and_then(|at| self.peers.get(at))
            .is_some_and(|watched| watched.trust == Trust::Suspected)
    }

    /// The number of this life, once it has started.
    pub const fn incarnation(&self) -> Option<Incarnation> {
        match self.life {
            Life::Started { incarnation, .. } => Some(incarnation),
            Life::NotStarted { .. } => None,
        }
    }

    /// The peers that are watched, in the order of their ids.
    pub fn watched(&self) -> impl ExactSizeIterator<Item = NodeId> + '_ {
        self.peers.iter().map(|watched| watched.peer)
    }

    fn index_of(&self, peer: NodeId) -> Result<usize, usize> {
        self.peers
            .binary_search_by_key(&peer, |watched| watched.peer)
    }

    fn start(&mut self, cx: &mut dyn Context<Self>) {
        let Life::NotStarted { last } = self.life else {
            return;
        };
        let incarnation = last.map_or(Incarnation::default(), Incarnation::next);
        // Grids start many nodes at once. Random eighths of a period keep them from pinging all at once.
        let phase = u64::from(cx.rng().below(8)).saturating_add(1);
        let due = cx.now() + Span::from_micros(self.period.as_micros() / 8).times(phase);
        self.life = Life::Started {
            incarnation,
            round: 0,
            due,
        };
        cx.persist((), incarnation);
        cx.wake(due, Tick { round: 0 });
    }

    fn tick(&mut self, tick: Tick, cx: &mut dyn Context<Self>) {
        let Life::Started {
            incarnation,
            round,
            due,
        } = self.life
        else {
            return;
        };
        if tick.round != round {
            return;
        }
        if cx.now() < due {
            cx.wake(due, tick);
            return;
        }
        let round = round.wrapping_add(1);
        for watched in &mut self.peers {
            watched.trust = match watched.trust {
                Trust::Trusted { unanswered } if unanswered < self.limit => Trust::Trusted {
                    unanswered: unanswered.saturating_add(1),
                },
                Trust::Trusted { .. } => {
                    cx.notify(Notice::Suspected { peer: watched.peer });
                    Trust::Suspected
                }
                Trust::Suspected => Trust::Suspected,
            };
            cx.send(
                watched.peer,
                Message::Ping {
                    asker: incarnation,
                    round,
                },
            );
        }
        let due = cx.now() + self.period;
        self.life = Life::Started {
            incarnation,
            round,
            due,
        };
        cx.wake(due, Tick { round });
    }

    fn message(&mut self, from: NodeId, message: Message, cx: &mut dyn Context<Self>) {
        let Life::Started {
            incarnation,
            round: present,
            ..
        } = self.life
        else {
            return;
        };
        match message {
            Message::Ping { asker, round } => {
                cx.send(
                    from,
                    Message::Pong {
                        answerer: incarnation,
                        asker,
                        round,
                    },
                );
            }
            Message::Pong {
                answerer,
                asker,
                round,
            } => {
                // A pong that was long under way says nothing about now.
                let fresh = present.wrapping_sub(round) < u32::from(self.limit);
                if asker == incarnation && fresh {
                    self.on_pong(from, answerer, cx);
                }
            }
        }
    }

    fn on_pong(&mut self, from: NodeId, life: Incarnation, cx: &mut dyn Context<Self>) {
        let Ok(index) = self.index_of(from) else {
            return;
        };
        let Some(watched) = self.peers.get_mut(index) else {
            return;
        };
        match watched.incarnation {
            Some(known) if life < known => return,
            Some(known) if life > known => {
                cx.notify(Notice::Restarted {
                    peer: from,
                    incarnation: life,
                });
            }
            _ if watched.trust == Trust::Suspected => {
                cx.notify(Notice::Returned { peer: from });
            }
            _ => {}
        }
        watched.incarnation = Some(life);
        watched.trust = Trust::Trusted { unanswered: 0 };
    }

    fn on_unreachable(&mut self, to: NodeId) {
        let Ok(index) = self.index_of(to) else { return };
        let Some(watched) = self.peers.get_mut(index) else {
            return;
        };
        // The transport may be wrong, so its word only shortens the wait to one last ping.
        if let Trust::Trusted { unanswered } = watched.trust {
            let unanswered = unanswered.max(self.limit.saturating_sub(1));
            watched.trust = Trust::Trusted { unanswered };
        }
    }

    fn watch(&mut self, peer: NodeId, cx: &mut dyn Context<Self>) {
        let Err(index) = self.index_of(peer) else {
            return;
        };
        let watched = Watched {
            peer,
            incarnation: None,
            trust: Trust::Trusted { unanswered: 0 },
        };
        if peer == self.me || self.peers.insert(index, watched).is_err() {
            cx.notify(Notice::NotWatched { peer });
        }
    }

    fn unwatch(&mut self, peer: NodeId) {
        if let Ok(index) = self.index_of(peer) {
            self.peers.remove(index);
        }
    }
}

impl<const N: usize> Machine for Detector<N> {
    type Message = Message;
    type Timer = Tick;
    type Command = Command;
    type Notice = Notice;
    type Key = ();
    type Record = Incarnation;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        match event {
            Event::Start => self.start(cx),
            Event::Message { from, message } => self.message(from, message, cx),
            Event::Unreachable { to } => self.on_unreachable(to),
            Event::Timer(tick) => self.tick(tick, cx),
            Event::Command(Command::Watch(peer)) => self.watch(peer, cx),
            Event::Command(Command::Unwatch(peer)) => self.unwatch(peer),
            Event::Restored((), incarnation) => {
                if let Life::NotStarted { last } = &mut self.life {
                    *last = (*last).max(Some(incarnation));
                }
            }
        }
    }

    fn check(&self) -> Result<(), Violation> {
        Violation::unless(
            self.peers.is_sorted_by(|a, b| a.peer < b.peer),
            "watched peers are sorted and distinct",
        )?;
        Violation::unless(
            self.index_of(self.me).is_err(),
            "a detector does not watch its own node",
        )?;
        Violation::unless(
            self.peers.iter().all(|watched| match watched.trust {
                Trust::Trusted { unanswered } => unanswered <= self.limit,
                Trust::Suspected => true,
            }),
            "a peer is suspected once its limit of unanswered pings is passed",
        )
    }
}
