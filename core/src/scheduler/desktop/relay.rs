//! Errands: questions that go from node to node until somebody can answer them, sent again where a hop is lost.
//!
//! An errand over twenty hops is lost more often than not where one message of twenty is. So each hop is acknowledged, if messages can be
//! lost at all, and sent again until it is. Who hears one again that it has sent on before only acknowledges it.

use alloc::collections::VecDeque;

use super::message::{Errand, Message, Quest};
use super::{Desktop, Timer};
use crate::id::{JobId, NodeId};
use crate::machine::Context;
use crate::time::Time;

/// The most errands that wait for an acknowledgement; those beyond are sent once.
const MOST: usize = 256;

/// How many errands a node remembers to have heard.
const HEARD: usize = 256;

/// How often an errand is sent over one hop.
const TRIES: u8 = 4;

/// How many searches a node remembers to have sent on.
const SENT_ON: usize = 64;

/// How often a search comes by at most: once on its way to a point, once on its way outwards, and once more for each in case nodes
/// are wrong about each other's zones. Where liars make them so, a search would go round until it has no hops left.
const MOST_ROUNDS: u8 = 4;

/// What a node has on its way to others.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Relay<const D: usize> {
    last: u32,
    pending: VecDeque<Pending<D>>,
    heard: VecDeque<(NodeId, u32)>,
    sent_on: VecDeque<SentOn>,
}

/// A search that was sent on: what it looks for, how many hops it had left, and how often it came with fewer.
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
            pending: VecDeque::new(),
            heard: VecDeque::new(),
            sent_on: VecDeque::new(),
        }
    }
}

impl<const D: usize> Relay<D> {
    /// Begins to number errands, not as in an earlier life: they would be taken for those.
    pub(super) fn begin(&mut self, now: Time) {
        self.last = (now.as_micros() / 1000) as u32;
    }

    pub(super) fn is_sound(&self) -> bool {
        self.pending.len() <= MOST && self.heard.len() <= HEARD && self.sent_on.len() <= SENT_ON
    }

    /// Whether a search with so many hops left has gone round too often. One that is sent again has as many left as before.
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

    /// Whether an errand is heard for the first time. It is acknowledged in any case.
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

    /// An errand has come over its next hop.
    pub(super) fn acknowledged(&mut self, from: NodeId, number: u32) {
        self.relay
            .pending
            .retain(|pending| (pending.to, pending.number) != (from, number));
    }

    /// Sends again what was not acknowledged in time; after some tries it is given up, and whoever asked asks again.
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
    fn a_search_goes_round_a_few_times_and_one_that_is_sent_again_does_not() {
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
        // The first is forgotten.
        assert!([3, 2, 1, 0].into_iter().all(|hops| !goes_round(0, hops)));
        assert!(relay.is_sound());
    }
}
