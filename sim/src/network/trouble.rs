//! Trouble that comes and goes: what happens to messages for a time, beside what a configuration says for all of it.

use gridweave_core::time::{Span, Time};

/// What goes wrong in a network until it is over.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trouble {
    /// From then on nothing goes wrong, whatever the configuration says: every message arrives once, after its delay.
    pub until: Time,
    /// How likely a message comes very late, from 0 to 1.
    pub late: f64,
    /// The longest that such a message takes longer.
    pub late_by: Span,
    /// Where nothing passes, and when.
    pub cuts: Vec<Cut>,
    /// Nodes of which all messages, in and out, take so much longer.
    pub slow: Vec<(u32, Span)>,
}

/// Some nodes that are cut off from all others for a time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// When it begins.
    pub from: Time,
    /// When it is over.
    pub until: Time,
    /// The nodes that are cut off.
    pub nodes: Vec<u32>,
    /// What still passes.
    pub passage: Passage,
}

/// What still passes where nodes are cut off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passage {
    /// Nothing.
    None,
    /// They hear the others, who do not hear them.
    In,
    /// They are heard, and hear nobody.
    Out,
}

impl Cut {
    /// Whether a message does not pass that is sent now.
    fn stops(&self, now: Time, from: u32, to: u32) -> bool {
        let inside = |node| self.nodes.contains(&node);
        let crosses = inside(from) != inside(to);
        let passes = match self.passage {
            Passage::None => false,
            Passage::In => inside(to),
            Passage::Out => inside(from),
        };
        (self.from..self.until).contains(&now) && crosses && !passes
    }
}

/// How often trouble was met.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TroubleMet {
    /// Messages that came very late.
    pub late: u64,
    /// Those stopped where nothing passes.
    pub cut: u64,
    /// Those stopped where one direction is open.
    pub cut_one_way: u64,
    /// Those from or to a slow node.
    pub slowed: u64,
}

impl Trouble {
    /// Why a message does not pass that is sent now, if it does not.
    pub(super) fn stopped_by(&self, now: Time, from: u32, to: u32) -> Option<Passage> {
        let cut = self.cuts.iter().find(|cut| cut.stops(now, from, to));
        cut.map(|cut| cut.passage)
    }

    /// How much longer a message takes because one of its ends is slow.
    pub(super) fn slowness(&self, from: u32, to: u32) -> Span {
        let ends = self
            .slow
            .iter()
            .filter(|(node, _)| [from, to].contains(node));
        ends.fold(Span::ZERO, |sum, (_, longer)| sum + *longer)
    }
}
