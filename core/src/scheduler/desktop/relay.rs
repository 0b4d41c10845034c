//! Errands: questions that go from node to node until a node can answer them. A lost hop is sent again.
//!
//! If one message of twenty is lost, an errand over twenty hops is lost more often than not. So, if messages can be
//! lost, each hop is sent until it is acknowledged, a few times at most. A repeated errand is only acknowledged.

use alloc::collections::VecDeque;

use super::message::{Errand, Message, Quest};
use super::{Desktop, Timer};
use crate::id::{JobId, NodeId};
use crate::machine::Context;
use crate::time::Time;

/// The most errands that wait for an acknowledgement; further ones are sent once.
const MOST: usize = 256;

/// How many received errands a node remembers.
const HEARD: usize = 256;

/// How often an errand is sent over one hop.
const TRIES: u8 = 4;

/// How many searches that it sent on a node remembers.
const SENT_ON: usize = 64;

/// How many requests to enter the second space, and how many balloons, a node sends on in a round: many nodes may do so
/// through one. Liars that send each of them round, under another name or with more hops, cannot make them more.
pub(super) const MOST_SENT_ON: u16 = 512;

/// How often a search may visit one node: on its way to a point, on its way outwards, and once more for each in case
/// nodes are wrong about each other's zones. Without this bound, liars could keep a search going round.
const MOST_ROUNDS: u8 = 4;

/// The errands of a node that are under way.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Relay<const D: usize> {
    last: u32,
    pending: VecDeque<Pending<D>>,
    heard: VecDeque<(NodeId, u32)>,
    sent_on: VecDeque<SentOn>,
    /// How many requests to enter, and how many balloons, were sent on in this round.
    pub(super) enters: Budget,
    pub(super) balloons: Budget,
}

/// What a node has sent on in a round, of what has a bound.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Budget {
    used: u16,
}

impl Budget {
    /// Whether one more may be sent on; it counts.
    pub(super) const fn spend(&mut self) -> bool {
        let left = self.used < MOST_SENT_ON;
        self.used = self.used.saturating_add(1);
        left
    }

    /// A new round begins.
    pub(super) const fn renew(&mut self) {
        self.used = 0;
    }
}

/// A search that was sent on. `hops`: how many it had left; `rounds`: how often it came, each time with fewer left.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct SentOn {
    quest: Quest,
    job: JobId,
    hops: u16,
    rounds: u8,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Pending<const D: usize> {
    number: u32,
    to: NodeId,
    errand: Errand<D>,
    tries: u8,
    due: Time,
}

impl<const D: usize> Default for Relay<D> {
    fn default() -> Self {
        Self {
            last: 0,
            enters: Budget::default(),
            balloons: Budget::default(),
            pending: VecDeque::new(),
            heard: VecDeque::new(),
            sent_on: VecDeque::new(),
        }
    }
}

impl<const D: usize> Relay<D> {
    /// Numbers errands from the clock on: receivers would take the numbers of an earlier life for duplicates.
    pub(super) fn begin(&mut self, now: Time) {
        self.last = (now.as_micros() / 1000) as u32;
    }

    pub(super) fn is_sound(&self) -> bool {
        self.pending.len() <= MOST && self.heard.len() <= HEARD && self.sent_on.len() <= SENT_ON
    }

    /// Whether a search has come here too often. A resent errand has as many hops left as before, and does not count.
    pub(super) fn goes_round(&mut self, job: JobId, quest: Quest, hops: u16) -> bool {
        let is_it = |it: &&mut SentOn| it.job == job && it.quest == quest;
        if let Some(before) = self.sent_on.iter_mut().find(is_it) {
            let has_fewer = hops < before.hops;
            before.rounds = match has_fewer {
                true => before.rounds.saturating_add(1),
                false => 1,
            };
            before.hops = hops;
            return before.rounds > MOST_ROUNDS;
        }
        if self.sent_on.len() >= SENT_ON {
            self.sent_on.pop_front();
        }
        self.sent_on.push_back(SentOn {
            quest,
            job,
            hops,
            rounds: 1,
        });
        false
    }
}

impl<const D: usize> Desktop<D> {
    /// Sends an errand over its next hop.
    pub(super) fn run_errand(&mut self, to: NodeId, errand: Errand<D>, cx: &mut dyn Context<Self>) {
        let Some(patience) = self.config.resend else {
            cx.send(to, Message::Errand { number: 0, errand });
            return;
        };
        // Zero means that no answer is wanted.
        let number = self.relay.last.wrapping_add(1).max(1);
        self.relay.last = number;
        if self.relay.pending.len() < MOST {
            let due = cx.now() + patience;
            if self.relay.pending.is_empty() {
                cx.wake(due, Timer::Resend);
            }
            self.relay.pending.push_back(Pending {
                number,
                to,
                errand: errand.clone(),
                tries: TRIES,
                due,
            });
        }
        cx.send(to, Message::Errand { number, errand });
    }

    /// Whether an errand is new. Acknowledges it in any case.
    pub(super) fn is_new_errand(
        &mut self,
        from: NodeId,
        number: u32,
        cx: &mut dyn Context<Self>,
    ) -> bool {
        if number == 0 {
            return true;
        }
        cx.send(from, Message::Acknowledged(number));
        let heard = &mut self.relay.heard;
        if heard.contains(&(from, number)) {
            return false;
        }
        if heard.len() >= HEARD {
            heard.pop_front();
        }
        heard.push_back((from, number));
        true
    }

    /// The next hop has received an errand.
    pub(super) fn on_acknowledged(&mut self, from: NodeId, number: u32) {
        self.relay
            .pending
            .retain(|pending| (pending.to, pending.number) != (from, number));
    }

    /// Sends errands again that are overdue. After some tries it gives an errand up; its asker asks again.
    pub(super) fn resend(&mut self, cx: &mut dyn Context<Self>) {
        let Some(patience) = self.config.resend else {
            return;
        };
        let now = cx.now();
        for pending in &mut self.relay.pending {
            if pending.due <= now {
                pending.tries = pending.tries.saturating_sub(1);
                pending.due = now + patience;
                if pending.tries > 0 {
                    let (number, errand) = (pending.number, pending.errand.clone());
                    cx.send(pending.to, Message::Errand { number, errand });
                }
            }
        }
        self.relay.pending.retain(|pending| pending.tries > 0);
        if let Some(next) = self.relay.pending.iter().map(|pending| pending.due).min() {
            cx.wake(next, Timer::Resend);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::Wanted;
    use super::*;

    #[test]
    fn a_search_may_come_a_few_times_and_a_resent_errand_does_not_count() {
        let mut relay = Relay::<2>::default();
        let quest = |attempt| Quest {
            asker: NodeId::new(1),
            attempt,
            wanted: Wanted::RunNode,
        };
        let mut goes_round = |attempt, hops| relay.goes_round(JobId::new(7), quest(attempt), hops);
        assert_eq!(
            [9, 9, 8, 6, 4, 2].map(|hops| goes_round(0, hops)),
            [false, false, false, false, false, true]
        );
        assert!(!goes_round(0, 9) && !goes_round(1, 1));
        for attempt in 2..2 + SENT_ON as u32 {
            goes_round(attempt, 5);
        }
        // The first search is forgotten.
        assert!([3, 2, 1, 0].into_iter().all(|hops| !goes_round(0, hops)));
        assert!(relay.is_sound());
    }
}
