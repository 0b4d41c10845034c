//! How loaded nodes are, and how that is summed up along each dimension (PROTOCOLS 3.2, aggregates).

/// The load of one node, or the sum over many nodes, in whole parts of [`Load::ONE`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Load {
    /// The number of nodes in this sum.
    pub nodes: u64,
    /// How many of the nodes run nothing.
    pub free: u64,
    /// How many jobs wait.
    pub queue_len: u64,
    /// How many cores the nodes have.
    pub cores: u64,
    /// How many cores the running and the waiting jobs want.
    pub required_cores: u64,
    /// The sum of the speeds of the nodes.
    pub speed_sum: u64,
}

impl Load {
    /// One node, job or core. Smaller parts are needed because lower neighbours share the load beyond a zone.
    pub const ONE: u64 = 1 << 20;

    /// The sum of two loads. It saturates.
    #[must_use]
    #[inline]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            nodes: self.nodes.saturating_add(other.nodes),
            free: self.free.saturating_add(other.free),
            queue_len: self.queue_len.saturating_add(other.queue_len),
            cores: self.cores.saturating_add(other.cores),
            required_cores: self.required_cores.saturating_add(other.required_cores),
            speed_sum: self.speed_sum.saturating_add(other.speed_sum),
        }
    }

    /// The part of it between two places of a whole. Parts that lie side by side sum up to what lies between the
    /// outermost places, and the part from zero to the whole is all of it: rounding loses nothing.
    #[must_use]
    pub(super) fn between(self, from: u64, to: u64, whole: u64) -> Self {
        // Most parts begin at zero or end at the whole, and so need no division of 128 bits.
        let up_to = |amount: u64, place: u64| {
            if place == 0 || amount == 0 {
                return 0;
            }
            if place >= whole {
                return amount;
            }
            let product = u128::from(amount).saturating_mul(u128::from(place));
            let part = product.checked_div(u128::from(whole)).unwrap_or(0);
            u64::try_from(part).unwrap_or(u64::MAX)
        };
        let part = |amount: u64| up_to(amount, to).saturating_sub(up_to(amount, from));
        Self {
            nodes: part(self.nodes),
            free: part(self.free),
            queue_len: part(self.queue_len),
            cores: part(self.cores),
            required_cores: part(self.required_cores),
            speed_sum: part(self.speed_sum),
        }
    }
}

/// What a heartbeat tells of load.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Told {
    /// The sender's own load.
    pub own: Load,
    /// To a lower neighbour: what lies beyond the sender in the dimension in which the two touch.
    pub beyond: Load,
    /// To a lower neighbour: its share of both together, by the area in which the two touch.
    pub share: Load,
}

impl Told {
    /// To a node that is no lower neighbour: the own load alone.
    pub(super) fn of(own: Load) -> Self {
        Self {
            own,
            ..Self::default()
        }
    }
}
