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
    /// The candidates at these positions, which can start together at `start`, and no set before `from`. Positions where
    /// there is nobody are left out.
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

    /// Whether nobody is in it.
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

    /// What its members tell of themselves.
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

    /// Before this no set can start.
    pub fn from(&self) -> Time {
        self.from
    }

    /// How long after the first instant allowed it starts.
    pub fn wait(&self) -> Span {
        self.start - self.from
    }
}
