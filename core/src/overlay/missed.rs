//! Those who did not answer, and may only have been out of reach.
//!
//! While nothing passes between two halves of an overlay, each forgets the other. So a node asks the last few who did not answer again, now and then,
//! and two halves become one again. Where everyone answers there is nobody to ask.

use heapless::Vec;

use crate::id::NodeId;

/// How many are remembered.
const MOST: usize = 4;

/// In every so many cycles one of them is asked again.
const ASK_AGAIN: u32 = 8;

/// The last few who did not answer, in the order in which they are asked again.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Missed(Vec<NodeId, MOST>);

impl Missed {
    /// Somebody has not answered: for the first time, then it comes next and another may be given up; or again, then it comes last.
    pub(super) fn miss(&mut self, peer: NodeId) {
        if self.0.contains(&peer) {
            self.hear(peer);
            self.0.extend([peer]);
            return;
        }
        if self.0.is_full() {
            self.0.pop();
        }
        let _ = self.0.insert(0, peer);
    }

    /// Somebody is there.
    pub(super) fn hear(&mut self, peer: NodeId) {
        self.0.retain(|missed| *missed != peer);
    }

    /// Who is asked in this cycle, if anybody is: the first of those who are wanted.
    pub(super) fn due(&self, cycle: u32, wanted: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        let mut wanted = self.0.iter().copied().filter(|peer| wanted(*peer));
        wanted.next().filter(|_| cycle.is_multiple_of(ASK_AGAIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_missed_again_comes_last_and_is_given_up_first() {
        let id = NodeId::new;
        let mut missed = Missed::default();
        let due = |missed: &Missed, cycle| missed.due(cycle, |_| true).map(NodeId::get);
        assert_eq!(due(&missed, 0), None);
        (1..=4).for_each(|peer| missed.miss(id(peer)));
        assert_eq!((due(&missed, 8), due(&missed, 9)), (Some(4), None));
        assert_eq!(missed.due(8, |peer| peer < id(4)), Some(id(3)));
        missed.miss(id(4));
        assert_eq!(due(&missed, 0), Some(3));
        missed.miss(id(5));
        assert_eq!(due(&missed, 0), Some(5));
        // There was no more room for 4.
        for peer in [5, 3, 2, 1] {
            assert_ne!(missed, Missed::default());
            missed.hear(id(peer));
        }
        assert_eq!(missed, Missed::default());
    }
}
