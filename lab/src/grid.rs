//! The nodes on which jobs run.
//!
//! A [`Grid`] has equal nodes, or nodes that differ in their [`Dimensions`]. [`Room`] says what is free on the latter.
//!
//! ```
//! use gridweave_core::resource::Requirement;
//! use gridweave_lab::grid::{Grid, Room};
//!
//! assert_eq!(Grid::Uniform(100).capacity(), 100);
//!
//! // Eight nodes in three sites, of three, three and two slots.
//! let Some(Grid::Mixed(sites)) = Grid::sites(3, 8) else { unreachable!() };
//! let slots = sites.shares().unwrap();
//! let two = Requirement::any().with(slots, 2);
//! let mut room = Room::new(&sites);
//! assert!(room.take(0, &two));
//! assert!(!room.fits(0, &two) && room.fits(1, &two));
//! room.give_back(0, &two);
//! assert!(room.fits(0, &two));
//! ```

use gridweave_core::resource::{Capability, Dimension, Dimensions, Kind, Requirement, Speed};

/// The nodes of a grid.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a run has one grid, and does not move it"
)]
pub enum Grid {
    /// So many equal nodes of baseline speed. Each runs one job at a time.
    Uniform(u32),
    /// Nodes that differ. A job takes a share of one node, as its requirement says.
    Mixed(Mixed),
}

/// The nodes of a grid in which nodes differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mixed {
    /// The dimensions in which they differ.
    pub dimensions: Dimensions,
    /// The profile of each node.
    pub nodes: Vec<Profile>,
}

/// What one node has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// What it has in each dimension.
    pub capability: Capability,
    /// How fast it runs jobs.
    pub speed: Speed,
}

impl Profile {
    /// How many seconds of work of a baseline core its cores do in a second.
    pub(crate) fn work_rate(&self, cores: Dimension) -> f64 {
        let speed = f64::from(self.speed.as_millionths().get()) / 1e6;
        self.capability.value(cores) as f64 * speed
    }
}

impl Mixed {
    /// The dimension by which jobs share a node, if there is one: the first amount called `cores` or `slots`.
    pub fn shares(&self) -> Option<Dimension> {
        self.dimensions
            .iter()
            .find(|(_, name, kind)| *kind == Kind::Amount && matches!(*name, "cores" | "slots"))
            .map(|(dimension, ..)| dimension)
    }
}

/// What is free at each node of a mixed grid.
///
/// The same as one [`Pool`](gridweave_core::resource::Pool) per node, without a copy of the dimensions in each.
#[derive(Clone, Debug)]
pub struct Room<'a> {
    mixed: &'a Mixed,
    free: Vec<Capability>,
}

impl<'a> Room<'a> {
    /// The room of an idle grid.
    pub fn new(mixed: &'a Mixed) -> Self {
        let free = mixed.nodes.iter().map(|node| node.capability).collect();
        Self { mixed, free }
    }

    /// Whether a job with this requirement could start on this node now; false if the node does not exist.
    pub fn fits(&self, node: usize, requirement: &Requirement) -> bool {
        let free = self.free.get(node);
        free.is_some_and(|free| self.mixed.dimensions.matches(free, requirement))
    }

    /// Takes what a job needs. If it does not fit, takes nothing and returns false.
    pub fn take(&mut self, node: usize, requirement: &Requirement) -> bool {
        if !self.fits(node, requirement) {
            return false;
        }
        self.change(node, requirement, u64::saturating_sub);
        true
    }

    /// Gives back what an ended job used.
    pub fn give_back(&mut self, node: usize, requirement: &Requirement) {
        self.change(node, requirement, u64::saturating_add);
    }

    fn change(&mut self, node: usize, requirement: &Requirement, by: impl Fn(u64, u64) -> u64) {
        let Some(free) = self.free.get_mut(node) else {
            return;
        };
        for dimension in self.mixed.dimensions.amounts() {
            let needed = requirement.value(dimension).unwrap_or(0);
            *free = free.with(dimension, by(free.value(dimension), needed));
        }
    }
}

impl Grid {
    /// So many equal nodes of baseline speed, put into so many sites; if they do not divide evenly, the first sites
    /// have one more. `None` if there are fewer nodes than sites.
    ///
    /// ```
    /// use gridweave_lab::grid::Grid;
    ///
    /// let Some(Grid::Mixed(sites)) = Grid::sites(3, 8) else { unreachable!() };
    /// let slots = sites.shares().unwrap();
    /// let sizes: Vec<u64> = sites.nodes.iter().map(|site| site.capability.value(slots)).collect();
    /// assert_eq!(sizes, [3, 3, 2]);
    /// assert_eq!(Grid::sites(9, 8), None);
    /// ```
    pub fn sites(sites: u32, nodes: u32) -> Option<Self> {
        let whole = nodes.checked_div(sites).filter(|whole| *whole > 0)?;
        Self::of_sizes((0..sites).map(|number| whole + u32::from(number < nodes % sites)))
    }

    /// So many equal nodes of baseline speed, put into sites in proportion to these weights, each site with one at
    /// least. `None` if there are fewer nodes than sites, or no sites.
    ///
    /// ```
    /// use gridweave_lab::grid::Grid;
    ///
    /// let Some(Grid::Mixed(sites)) = Grid::weighted_sites(&[1, 0, 8], 12) else { unreachable!() };
    /// let slots = sites.shares().unwrap();
    /// let sizes: Vec<u64> = sites.nodes.iter().map(|site| site.capability.value(slots)).collect();
    /// assert_eq!(sizes, [2, 1, 9]);
    /// assert_eq!(Grid::weighted_sites(&[5, 5], 1), None);
    /// ```
    pub fn weighted_sites(weights: &[u64], nodes: u32) -> Option<Self> {
        let count = u32::try_from(weights.len())
            .ok()
            .filter(|count| *count > 0)?;
        let shared = u128::from(nodes.checked_sub(count)?);
        let all = weights
            .iter()
            .map(|weight| u128::from(*weight))
            .sum::<u128>()
            .max(1);
        let share = |weight: u64| {
            (
                shared * u128::from(weight) / all,
                shared * u128::from(weight) % all,
            )
        };
        let mut sizes: Vec<u128> = weights.iter().map(|weight| 1 + share(*weight).0).collect();
        // What rounding left goes to the largest remainders; ties go by position.
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by_key(|site| std::cmp::Reverse(share(weights[*site]).1));
        let left = u128::from(nodes) - sizes.iter().sum::<u128>();
        for site in order.into_iter().cycle().take(left as usize) {
            sizes[site] += 1;
        }
        // No size is above the number of nodes.
        Self::of_sizes(sizes.into_iter().map(|size| size as u32))
    }

    fn of_sizes(sizes: impl Iterator<Item = u32>) -> Option<Self> {
        let dimensions = Dimensions::new(&[("slots", Kind::Amount)]).ok()?;
        let slots = dimensions.named("slots")?;
        let site = |size: u32| Profile {
            capability: Capability::none().with(slots, u64::from(size)),
            speed: Speed::BASELINE,
        };
        Some(Self::Mixed(Mixed {
            dimensions,
            nodes: sizes.map(site).collect(),
        }))
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Uniform(nodes) => *nodes as usize,
            Self::Mixed(mixed) => mixed.nodes.len(),
        }
    }

    /// How many units of work fit at once: nodes if jobs take whole ones, else the units of the dimension that jobs
    /// share.
    pub fn capacity(&self) -> u64 {
        match self {
            Self::Uniform(nodes) => u64::from(*nodes),
            Self::Mixed(mixed) => match mixed.shares() {
                Some(shares) => mixed
                    .nodes
                    .iter()
                    .map(|node| node.capability.value(shares))
                    .sum(),
                None => mixed.nodes.len() as u64,
            },
        }
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
