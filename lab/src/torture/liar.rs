//! A liar: it forges, repeats, doubles or holds back its messages.

use gridweave_core::id::NodeId;
use gridweave_core::machine::Machine;
use gridweave_core::rng::Choose;
use gridweave_sim::history::encoded;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::dice::Dice;
use super::witness::Witness;

/// How many messages and how many peers a liar remembers.
const MEMORY: usize = 16;

/// How many times a forgery is tried, until its bytes decode.
const TRIES: u32 = 6;

/// How a message is changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Forgery {
    /// A number grows or shrinks by one: an epoch, a term, a count.
    Nudged,
    /// A number becomes huge.
    Oversized,
    /// A byte gets a random value.
    Scrambled,
}

impl Forgery {
    const ALL: [Self; 3] = [Self::Nudged, Self::Oversized, Self::Scrambled];

    const fn counted_as(self) -> &'static str {
        match self {
            Self::Nudged => "lie: a number nudged",
            Self::Oversized => "lie: a number oversized",
            Self::Scrambled => "lie: a byte scrambled",
        }
    }

    fn apply(self, bytes: &mut Vec<u8>, dice: &mut Dice) {
        let index = dice.index(bytes.len());
        match self {
            Self::Nudged => {
                let by = if dice.percent(70) { 1 } else { 255 };
                bytes[index] = bytes[index].wrapping_add(by);
            }
            Self::Oversized => {
                // A number in postcard's encoding: it ends at the next byte without the highest bit.
                let rest = bytes[index..].iter();
                let length = rest.take_while(|byte| **byte >= 0x80).count() + 1;
                let end = (index + length).min(bytes.len());
                let huge: &[u8] = match dice.below(3) {
                    0 => &[0xff, 0xff, 0x03],
                    1 => &[0xff, 0xff, 0xff, 0xff, 0x0f],
                    _ => &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
                };
                bytes.splice(index..end, huge.iter().copied());
            }
            Self::Scrambled => bytes[index] = dice.below(256) as u8,
        }
    }
}

/// A forged message that differs from the true one and still decodes.
pub(super) fn forged<T: Serialize + DeserializeOwned + PartialEq>(
    truth: &T,
    dice: &mut Dice,
) -> Option<(T, Forgery)> {
    let bytes = encoded(truth);
    if bytes.is_empty() {
        return None;
    }
    for _ in 0..TRIES {
        let forgery = *dice.pick(&Forgery::ALL)?;
        let mut bytes = bytes.clone();
        forgery.apply(&mut bytes, dice);
        if let Ok(lie) = postcard::from_bytes::<T>(&bytes)
            && lie != *truth
        {
            return Some((lie, forgery));
        }
    }
    None
}

/// What a liar remembers, and how often it lies.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Liar<M: Machine> {
    dice: Dice,
    /// How many of a hundred messages are lies.
    rate: u32,
    messages: Vec<M::Message>,
    peers: Vec<NodeId>,
}

impl<M: Machine<Message: Serialize + DeserializeOwned>> Liar<M> {
    pub(super) fn new(mut dice: Dice) -> Self {
        Self {
            rate: dice.between(2, 40),
            dice,
            messages: Vec::new(),
            peers: Vec::new(),
        }
    }

    fn remember<T: PartialEq>(dice: &mut Dice, known: &mut Vec<T>, new: T) {
        if known.contains(&new) {
        } else if known.len() < MEMORY {
            known.push(new);
        } else {
            let index = dice.index(known.len());
            known[index] = new;
        }
    }

    /// What the liar sends in place of a true message.
    pub(super) fn says(
        &mut self,
        to: NodeId,
        truth: M::Message,
        witness: &Witness,
    ) -> Vec<(NodeId, M::Message)> {
        Self::remember(&mut self.dice, &mut self.peers, to);
        if self.dice.percent(25) {
            Self::remember(&mut self.dice, &mut self.messages, truth.clone());
        }
        if !self.dice.percent(self.rate) {
            return vec![(to, truth)];
        }
        match self.dice.below(4) {
            0 => {
                witness.count("lie: nothing said");
                Vec::new()
            }
            1 => match forged(&truth, &mut self.dice) {
                // One question gets two different answers.
                Some((lie, _)) => {
                    witness.count("lie: two answers");
                    vec![(to, truth), (to, lie)]
                }
                None => vec![(to, truth)],
            },
            _ => match forged(&truth, &mut self.dice) {
                Some((lie, forgery)) => {
                    witness.count(forgery.counted_as());
                    vec![(to, lie)]
                }
                None => vec![(to, truth)],
            },
        }
    }

    /// What the liar sends unasked when it receives a message.
    pub(super) fn hears(
        &mut self,
        from: NodeId,
        message: &M::Message,
        witness: &Witness,
    ) -> Option<(NodeId, M::Message)> {
        Self::remember(&mut self.dice, &mut self.peers, from);
        if self.dice.percent(25) {
            Self::remember(&mut self.dice, &mut self.messages, message.clone());
        }
        if !self.dice.percent(self.rate / 2) {
            return None;
        }
        let to = *self.dice.pick(&self.peers)?;
        let known = self.dice.pick(&self.messages)?.clone();
        if self.dice.percent(50) {
            witness.count("lie: a message replayed");
            return Some((to, known));
        }
        let (lie, _) = forged(&known, &mut self.dice)?;
        witness.count("lie: a message from nowhere");
        Some((to, lie))
    }
}
