//! Temporary trouble: what happens to messages for a time, beside what the configuration says for the whole run.

use gridweave_core::time::{Span, Time};

/// What goes wrong in a network until it is over.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trouble {
    /// From then on nothing goes wrong, whatever the configuration says: every message arrives once, after its delay.
    pub until: Time,
    /// How likely a message comes very late, from 0 to 1.
    pub late: f64,
    /// The most by which a late message is delayed.
    pub late_by: Span,
    /// Where nothing passes, and when.
    pub cuts: Vec<Cut>,
    /// Slow nodes, and by how much all their messages, in and out, are delayed.
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
    /// Messages to the nodes that are cut off, but none from them.
    In,
    /// Messages from the nodes that are cut off, but none to them.
    Out,
}

impl Cut {
    /// Whether a message that is sent now does not pass.
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
    /// Messages stopped by a cut where nothing passes.
    pub cut: u64,
    /// Messages stopped by a cut that is open in the other direction.
    pub cut_one_way: u64,
    /// Messages from or to a slow node.
    pub slowed: u64,
}

impl Trouble {
    /// The kind of cut that stops a message that is sent now, if there is one.
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
