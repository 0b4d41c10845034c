use super::points::Points;
use crate::id::NodeId;
use crate::profile::Profile;
use crate::time::{Span, Time};

/// What an [`Objective`](super::Objective) sees: some of the candidates, and when they can start.
#[derive(Clone, Copy, Debug)]
pub struct Set<'a> {
    nodes: &'a [NodeId],
    profiles: &'a [Profile],
    chosen: &'a [u32],
    start: Time,
    from: Time,
    points: Option<&'a Points>,
}

impl<'a> Set<'a> {
    /// The candidates at these positions, which can start together at `start`. No set may start before `from`.
    /// Positions without a candidate are left out.
    pub fn new(
        nodes: &'a [NodeId],
        profiles: &'a [Profile],
        chosen: &'a [u32],
        start: Time,
        from: Time,
    ) -> Self {
        Self {
            nodes,
            profiles,
            chosen,
            start,
            from,
            points: None,
        }
    }

    /// The same with coordinates that are fast to read.
    pub(super) fn with_points(self, points: &'a Points) -> Self {
        Self {
            points: Some(points),
            ..self
        }
    }

    pub(super) fn points(&self) -> Option<&'a Points> {
        self.points
    }

    /// The positions of its members among the candidates, in no particular order.
    pub fn chosen(&self) -> &'a [u32] {
        self.chosen
    }

    /// How many nodes are in it.
    pub fn len(&self) -> usize {
        self.chosen.len()
    }

    /// Whether it has no members.
    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// Its members' names.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + Clone + 'a {
        let nodes = self.nodes;
        self.chosen
            .iter()
            .filter_map(move |&at| nodes.get(at as usize).copied())
    }

    /// Its members' profiles.
    pub fn profiles(&self) -> impl Iterator<Item = &'a Profile> + Clone + 'a {
        let profiles = self.profiles;
        self.chosen
            .iter()
            .filter_map(move |&at| profiles.get(at as usize))
    }

    /// When all of its members are free for the first time.
    pub fn start(&self) -> Time {
        self.start
    }

    /// The first instant at which a set may start.
    pub fn from(&self) -> Time {
        self.from
    }

    /// How long after the first instant allowed it starts.
    pub fn wait(&self) -> Span {
        self.start - self.from
    }
}
