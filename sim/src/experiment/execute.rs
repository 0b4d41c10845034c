//! A prepared experiment, simulated and summed up.

use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use gridweave_core::commit::Everyone;
use gridweave_core::id::NodeId;
use gridweave_core::job::Criterion;
use gridweave_core::overlay::can;
use gridweave_core::profile::{Coordinate, Profile};
use gridweave_core::queue::{Policy, SiteQueue};
use gridweave_core::resource::{Capability, Dimensions, Kind, Speed};
use gridweave_core::rng::Choose;
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::aria::{self, Aria, Membership, Site};
use gridweave_core::scheduler::asap::{self, Asap};
use gridweave_core::scheduler::criteria::{self, Criteria};
use gridweave_core::scheduler::desktop::{self, Desktop, Equipment};
use gridweave_core::time::{Span, Time};

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::{InputError, Prepared};
use crate::central;
use crate::config::{self, Config, Fault, Lasting, MOST_LINKS, MOST_SHUFFLED, OverlayName};
use crate::decentral::flood::Flood;
use crate::decentral::random::Random;
use crate::decentral::{self, Hosting};
use crate::engine::{Checking, Protocol, Simulation, Traffic};
use crate::grid::Grid;
use crate::monitor::Monitor;
use crate::network::{Network, NetworkError};
use crate::overlay::{ants, regular, warmed_up};
use crate::results::{
    Cost, Draft, FolderError, MOST_ROWS, Meter, Row, Summary, series, write_jobs, write_json,
};
use crate::run::{Faults, Placement, Run};
use crate::scheduler::Scheduler;

/// What an experiment came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// What happened.
    pub run: Run,
    /// How it went over time.
    pub series: Vec<Row>,
    /// It in a few numbers.
    pub summary: Summary,
    /// What it cost to simulate.
    pub cost: Cost,
}

/// A node that schedules as `asap` does, with room for as many links as a configuration may ask for.
type AsapNode = Asap<MOST_LINKS, MOST_SHUFFLED>;

/// A node that schedules as `criteria` does.
pub(crate) type CriteriaNode =
    Criteria<{ config::MOST_NEAR }, MOST_SHUFFLED, { config::MOST_GOSSIP }, config::Criteria>;

/// Different uses of one seed must not meet in the same stream.
fn stream(seed: u64, number: u64) -> u64 {
    seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The most nodes that are simulated as a machine each.
pub const MOST_NODES: u32 = 10_000_000;

/// The most dimensions of the space of `desktop`, virtual ones among them.
const MOST_SPACE: usize = can::MOST_DIMENSIONS;

/// How many cycles an overlay has behind it when schedulers begin.
const WARM_UP: u32 = 50;

/// Whom a node knows in the beginning.
fn neighbours(overlay: &[Box<[u32]>], me: NodeId) -> impl Iterator<Item = NodeId> {
    let view = overlay.get(me.get() as usize);
    let peers = view.into_iter().flatten();
    peers.map(|peer| NodeId::new(u64::from(*peer)))
}

/// How a node gets into the overlay in which these know each other at the beginning.
pub(crate) fn bootstrap(views: &[Box<[u32]>], me: NodeId) -> Bootstrap {
    match views.get(me.get() as usize) {
        Some(view) if view.is_empty() => Bootstrap::Alone,
        Some(view) => {
            let peers = view.iter().map(|&peer| NodeId::new(u64::from(peer)));
            Bootstrap::Meet(peers.collect())
        }
        // Who was not there at the beginning is introduced by the first.
        None => Bootstrap::Join(NodeId::new(0)),
    }
}

/// What a node at this point tells of itself. Regions are squares of 32 milliseconds.
pub(crate) fn profile(point: [i64; 2]) -> Profile {
    const SIDE: i64 = 32_768;
    let micros =
        |part: i64| i32::try_from(part).unwrap_or(if part < 0 { i32::MIN } else { i32::MAX });
    let square = |part: i64| (part.div_euclid(SIDE) & 0xff) as u16;
    let [x, y] = point;
    Profile {
        region: square(x) << 8 | square(y),
        ..Profile::at(Coordinate::at([micros(x), micros(y), 0]))
    }
}

impl Prepared {
    /// Refuses what cannot be simulated; [`Prepared::execute`] begins with it.
    pub fn check(&self) -> Result<(), InputError> {
        let Config {
            scheduler,
            report,
            workload,
            ..
        } = &self.config;
        let last = self.workload.jobs.last().map_or(Time::ZERO, |job| job.at);
        if last.as_micros() / report.window.span().as_micros().max(1) >= MOST_ROWS {
            let window = report.window;
            return Err(InputError::ShortWindow { window });
        }
        match *scheduler {
            Scheduler::Central(central) => {
                central::check(central, &self.grid, &self.workload, workload.estimates)?;
            }
            Scheduler::Asap => {
                self.check_decentral()?;
                self.asap_config()?;
            }
            Scheduler::Criteria => {
                self.check_decentral()?;
                self.criteria_config()?;
                self.profiles()?;
            }
            Scheduler::Aria => {
                self.check_decentral()?;
                self.aria_config()?;
            }
            Scheduler::Desktop => {
                self.check_decentral()?;
                self.desktop_config()?;
            }
            Scheduler::Random | Scheduler::Flood => self.check_decentral()?,
        }
        Ok(())
    }

    /// Refuses what a scheduler that is one machine per node cannot use.
    fn check_decentral(&self) -> Result<(), InputError> {
        let scheduler = self.config.scheduler;
        if matches!(*self.grid, Grid::Mixed(_)) && !scheduler.places_requirements() {
            return Err(InputError::MixedGrid(scheduler));
        }
        let nodes = self.nodes_ever() as usize;
        if nodes > MOST_NODES as usize {
            let nodes = nodes as u64;
            return Err(InputError::TooManyNodes { scheduler, nodes });
        }
        for fault in &self.config.faults {
            if let Fault::Crash { node, .. } | Fault::Restart { node, .. } = *fault
                && node as usize >= nodes
            {
                return Err(InputError::NoSuchNode { node, nodes });
            }
        }
        if let Some(node) = self.config.network.last_cut_off()
            && node as usize >= nodes
        {
            return Err(InputError::NoSuchNodeCutOff { node, nodes });
        }
        self.network()?;
        Ok(())
    }

    /// How many nodes there will ever be. Where nodes differ, the grid has those that join, too; they are its last ones.
    fn nodes_ever(&self) -> u32 {
        let nodes = match &*self.grid {
            Grid::Uniform(nodes) => *nodes as usize + self.joining_later().count(),
            Grid::Mixed(mixed) => mixed.nodes.len(),
        };
        u32::try_from(nodes).unwrap_or(u32::MAX)
    }

    /// How many there are at the beginning.
    fn nodes_at_start(&self) -> u32 {
        let joining = u32::try_from(self.joining().count()).unwrap_or(u32::MAX);
        self.nodes_ever().saturating_sub(joining)
    }

    /// When nodes join, in the order of their numbers.
    fn joining(&self) -> impl Iterator<Item = Time> {
        self.joining_first().chain(self.joining_later())
    }

    /// When those join that are there when the first job comes, the very first node aside.
    fn joining_first(&self) -> impl Iterator<Item = Time> {
        let is_desktop = self.config.scheduler == Scheduler::Desktop;
        let every = self.config.desktop.join_every.filter(|_| is_desktop);
        every.into_iter().flat_map(|every| {
            let later = self.joining_later().count();
            let nodes = match &*self.grid {
                Grid::Uniform(nodes) => *nodes as usize,
                Grid::Mixed(mixed) => mixed.nodes.len().saturating_sub(later),
            };
            (1..nodes as u64).map(move |node| Time::ZERO + every.span().times(node))
        })
    }

    /// When those join whose joining is one of the faults.
    pub(super) fn joining_later(&self) -> impl Iterator<Item = Time> {
        self.config.faults.iter().filter_map(|fault| match fault {
            Fault::Join { at } => Some(Time::ZERO + at.span()),
            _ => None,
        })
    }

    /// The network between all nodes that there will ever be.
    fn network(&self) -> Result<Network, NetworkError> {
        Network::new(
            &self.config.network,
            self.nodes_ever(),
            stream(self.config.seed, 1),
        )
    }

    /// An overlay over all nodes that there will ever be, as it looks after a while.
    fn overlay(&self, degree: u8, shuffle: u8) -> Vec<Box<[u32]>> {
        let nodes = self.grid.len() + self.joining().count();
        let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
        let seed = stream(self.config.seed, 4);
        warmed_up(nodes, degree, shuffle, WARM_UP, seed)
    }

    /// Simulates it. If the monitor is told to stop, results are partial, and say so.
    pub fn execute(&self, monitor: &Monitor) -> Result<Results, InputError> {
        self.check()?;
        let meter = Meter::start();
        let run = match self.config.scheduler {
            Scheduler::Central(central) => {
                let estimates = self.config.workload.estimates;
                central::simulate(central, &self.grid, &self.workload, estimates, monitor)?.into()
            }
            Scheduler::Asap => self.simulate_asap(monitor)?,
            Scheduler::Criteria => self.simulate_criteria(monitor)?,
            Scheduler::Aria => self.simulate_aria(monitor)?,
            Scheduler::Desktop => self.simulate_desktop(monitor)?,
            Scheduler::Random => {
                let nodes = u32::try_from(self.grid.len()).unwrap_or(u32::MAX);
                self.simulate(move |_| Random::new(nodes), monitor)?
            }
            Scheduler::Flood => {
                let config = self.config.flood;
                let overlay = self.overlay(config.degree, config.shuffle);
                let build = move |me| {
                    Flood::new(me, config, neighbours(&overlay, me))
                        .expect("configurations are checked when they are read")
                };
                self.simulate(build, monitor)?
            }
        };
        let cost = meter.stop(run.events);
        let facts = self.facts();
        let series = series(&facts, &run, self.config.report.window.span());
        let threshold = self.config.report.slowdown_threshold.span();
        let summary = Summary::new(&facts, &run, &series, threshold);
        Ok(Results {
            run,
            series,
            summary,
            cost,
        })
    }

    /// The configuration of nodes that schedule as `asap` does, if there can be such.
    fn asap_config(&self) -> Result<asap::Config, InputError> {
        let Config {
            asap,
            network,
            faults,
            ..
        } = &self.config;
        let config = asap.for_machines(network, faults);
        let bootstrap = match self.joining().next() {
            Some(_) => Bootstrap::Join(NodeId::new(1)),
            None => Bootstrap::Alone,
        };
        let node = AsapNode::new(NodeId::new(0), config, bootstrap, Everyone);
        node.map(|_| config).map_err(InputError::Asap)
    }

    /// Whom each node knows at the beginning if `asap` schedules, in the order of ids.
    pub fn asap_overlay(&self) -> Vec<Box<[u32]>> {
        let asap = &self.config.asap;
        self.warmed_up(asap.degree, asap.shuffle, asap.warm_up)
    }

    /// Whom each node that is there at the beginning knows then, in the order of ids.
    fn warmed_up(&self, degree: u8, shuffle: u8, cycles: u32) -> Vec<Box<[u32]>> {
        let nodes = u32::try_from(self.grid.len()).unwrap_or(u32::MAX);
        let seed = stream(self.config.seed, 4);
        warmed_up(nodes, degree, shuffle, cycles, seed)
    }

    fn simulate_asap(&self, monitor: &Monitor) -> Result<Run, InputError> {
        let views = self.asap_overlay();
        let config = self.asap_config()?;
        let build = move |me: NodeId| {
            AsapNode::new(me, config, bootstrap(&views, me), Everyone)
                .expect("all nodes are as the one that was checked")
        };
        self.simulate(build, monitor)
    }

    /// The configuration of nodes that schedule as `criteria` does, if there can be such.
    fn criteria_config(&self) -> Result<criteria::Config, InputError> {
        let criteria = &self.config.criteria;
        let config = criteria.for_machines(&self.config.network);
        let node = CriteriaNode::new(
            NodeId::new(0),
            config,
            Bootstrap::Alone,
            Profile::default(),
            criteria.catalogue(),
            Everyone,
        );
        node.map(|_| config).map_err(InputError::Criteria)
    }

    /// What nodes tell of themselves if `criteria` schedules, those that join included.
    pub fn profiles(&self) -> Result<Vec<Profile>, InputError> {
        let nodes = self.grid.len() + self.joining().count();
        let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
        let seed = stream(self.config.seed, 5);
        let points = self.config.criteria.places.points(nodes, seed)?;
        Ok((0..nodes).map(|node| profile(points.point(node))).collect())
    }

    fn simulate_criteria(&self, monitor: &Monitor) -> Result<Run, InputError> {
        let criteria = &self.config.criteria;
        let views = self.warmed_up(criteria.degree, criteria.shuffle, criteria.warm_up);
        let config = self.criteria_config()?;
        let profiles = self.profiles()?;
        let catalogue = criteria.catalogue();
        let build = move |me: NodeId| {
            let profile = profiles.get(me.get() as usize).copied().unwrap_or_default();
            let (bootstrap, catalogue) = (bootstrap(&views, me), catalogue.clone());
            CriteriaNode::new(me, config, bootstrap, profile, catalogue, Everyone)
                .expect("all nodes are as the one that was checked")
        };
        self.simulate(build, monitor)
    }

    /// The configuration of nodes that schedule as `aria` does, if there can be such.
    fn aria_config(&self) -> Result<aria::Config, InputError> {
        let Config {
            aria,
            network,
            faults,
            ..
        } = &self.config;
        let config = aria.for_machines(network, faults);
        let site = self.site(NodeId::new(0), Policy::FirstCome);
        let node = Aria::new(NodeId::new(0), config, Bootstrap::Alone, site);
        node.map(|_| config).map_err(InputError::Aria)
    }

    /// Whom each node that is there at the beginning knows then if `aria` schedules, in the order of ids.
    pub fn aria_overlay(&self) -> Arc<Vec<Box<[u32]>>> {
        let (aria, nodes) = (&self.config.aria, self.nodes_at_start());
        let seed = stream(self.config.seed, 4);
        match aria.overlay {
            OverlayName::Blatant => ants(nodes, aria.warm_up, seed),
            OverlayName::Cyclon => {
                let shuffle = aria.degree.min(MOST_SHUFFLED as u8);
                Arc::new(warmed_up(nodes, aria.degree, shuffle, aria.warm_up, seed))
            }
            OverlayName::Regular => Arc::new(regular(nodes, aria.degree, seed)),
        }
    }

    /// What a node has, and what decides there what runs.
    fn site(&self, node: NodeId, policy: Policy) -> Site<SiteQueue> {
        let (dimensions, capability, speed, processors) = match &*self.grid {
            Grid::Uniform(_) => (None, Capability::none(), Speed::BASELINE, 1),
            Grid::Mixed(mixed) => {
                let profile = mixed.nodes.get(node.get() as usize);
                let (capability, speed) = profile
                    .map_or((Capability::none(), Speed::BASELINE), |profile| {
                        (profile.capability, profile.speed)
                    });
                let share = mixed.shares().map_or(1, |shares| capability.value(shares));
                (Some(&mixed.dimensions), capability, speed, share)
            }
        };
        let processors = u32::try_from(processors).ok().and_then(NonZeroU32::new);
        let mut local = SiteQueue::new(policy, speed, usize::MAX)
            .with_processors(processors.unwrap_or(NonZeroU32::MIN));
        if self.config.aria.backfill {
            local = local.backfilling();
        }
        Site {
            dimensions: dimensions
                .cloned()
                .unwrap_or_else(|| Dimensions::new(&[]).expect("no dimensions are not too many")),
            capability,
            membership: Membership::default(),
            local,
        }
    }

    fn simulate_aria(&self, monitor: &Monitor) -> Result<Run, InputError> {
        let config = self.aria_config()?;
        let links = self.aria_overlay();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(stream(self.config.seed, 6));
        let nodes = self.nodes_ever();
        let sites: Vec<Site<SiteQueue>> = (0..nodes)
            .map(|node| {
                let policy = self.config.aria.policy.of(rng.below(2));
                self.site(NodeId::new(u64::from(node)), policy)
            })
            .collect();
        let build = move |me: NodeId| {
            let site = sites[me.get() as usize].clone();
            Aria::new(me, config, bootstrap(&links, me), site)
                .expect("all nodes are as the one that was checked")
        };
        self.simulate(build, monitor)
    }

    /// The configuration of nodes that schedule as `desktop` does, if there can be such, and what each is.
    fn desktop_config(&self) -> Result<(desktop::Config, Vec<Equipment>), InputError> {
        let Config {
            desktop,
            network,
            faults,
            ..
        } = &self.config;
        let (dimensions, cores) = match &*self.grid {
            Grid::Uniform(_) => {
                let cores = Dimensions::new(&[("cores", Kind::Amount)]).ok();
                let cores = cores.and_then(|it| it.named("cores").map(|cores| (it, cores)));
                cores.ok_or(InputError::DesktopGrid("it has no cores"))?
            }
            Grid::Mixed(mixed) => {
                let shares = mixed.shares();
                let cores = shares.ok_or(InputError::DesktopGrid(
                    "no amount of its nodes is called cores or slots",
                ))?;
                (mixed.dimensions.clone(), cores)
            }
        };
        let nodes = (0..self.nodes_ever()).map(|node| {
            let (capability, speed) = match &*self.grid {
                Grid::Mixed(mixed) => {
                    let profile = &mixed.nodes[node as usize];
                    (profile.capability, profile.speed)
                }
                Grid::Uniform(_) => (Capability::none().with(cores, 1), Speed::BASELINE),
            };
            Equipment {
                dimensions: dimensions.clone(),
                cores,
                capability,
                speed,
            }
        });
        let nodes: Vec<Equipment> = nodes.collect();
        let most = dimensions.iter().fold(Capability::none(), |most, (k, ..)| {
            let values = nodes.iter().map(|node| node.capability.value(k));
            most.with(k, values.max().unwrap_or(0))
        });
        let differ = matches!(&*self.grid, Grid::Mixed(_));
        let config = desktop.for_machines(network, faults, differ, most);
        if let Some(node) = nodes.first() {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
            let (me, alone) = (NodeId::new(0), desktop::Bootstrap::Alone);
            Desktop::<MOST_SPACE>::new(me, config, alone, node.clone(), &mut rng)
                .map_err(InputError::Desktop)?;
        }
        Ok((config, nodes))
    }

    fn simulate_desktop(&self, monitor: &Monitor) -> Result<Run, InputError> {
        let (config, nodes) = self.desktop_config()?;
        let used = nodes.first().map_or(0, |node| node.dimensions.len())
            + usize::from(config.can.virtual_dimensions);
        // Most have P4's four dimensions and a virtual one; a space with more than it needs does, too, but takes more room.
        match used {
            ..=5 => self.simulate_space::<5>(config, nodes, monitor),
            _ => self.simulate_space::<MOST_SPACE>(config, nodes, monitor),
        }
    }

    fn simulate_space<const D: usize>(
        &self,
        config: desktop::Config,
        nodes: Vec<Equipment>,
        monitor: &Monitor,
    ) -> Result<Run, InputError> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(stream(self.config.seed, 4));
        let placed = laid_out::<D>(&config, &nodes[..self.nodes_at_start() as usize], &mut rng);
        let build = move |me: NodeId| {
            let number = me.get() as usize;
            let bootstrap = match placed.get(number) {
                Some((point, grant)) => desktop::Bootstrap::Placed(*point, grant.clone()),
                // Who was not there at the beginning is introduced by the first.
                None => desktop::Bootstrap::Join(NodeId::new(0)),
            };
            Desktop::<D>::new(me, config, bootstrap, nodes[number].clone(), &mut rng)
                .expect("all nodes are as the one that was checked")
        };
        self.simulate(build, monitor)
    }

    /// What all jobs ask for.
    fn criterion(&self) -> Criterion {
        match self.config.scheduler {
            Scheduler::Criteria => self.config.criteria.job_criterion(),
            _ => Criterion::Soonest,
        }
    }

    /// Runs a scheduler that is one machine per node.
    fn simulate<P>(
        &self,
        build: impl FnMut(NodeId) -> P + 'static,
        monitor: &Monitor,
    ) -> Result<Run, InputError>
    where
        P: Protocol<Command = gridweave_core::job::Command, Notice = gridweave_core::job::Notice>,
    {
        let Config {
            seed,
            faults,
            report,
            grid,
            ..
        } = &self.config;
        let network = self.network()?;
        let mut simulation =
            Simulation::new(self.nodes_at_start(), network, stream(*seed, 2), build);
        simulation.count_per(report.window.span());
        // A configuration in which it is zero is refused when it is read.
        let every = NonZeroU32::new(report.check_every).unwrap_or(NonZeroU32::MIN);
        simulation.check(Checking::Every(every));
        // Those that join have their numbers before anything happens to them.
        for at in self.joining() {
            simulation.join(at);
        }
        let at = |at: Lasting| Time::ZERO + at.span();
        let id = |node: u32| NodeId::new(u64::from(node));
        for fault in faults {
            match *fault {
                Fault::Crash { at: when, node } => simulation.crash(at(when), id(node)),
                Fault::Restart { at: when, node } => simulation.restart(at(when), id(node)),
                Fault::Join { .. } => {}
            }
        }
        let hosting = Hosting {
            grid: &self.grid,
            workload: &self.workload,
            estimates: self.config.workload.estimates,
            criterion: self.criterion(),
            seed: stream(*seed, 3),
            pictures: report.zones.map(Lasting::span),
            patience: grid.patience.span().max(Span::from_secs(1)),
            until: grid
                .until
                .map_or(Time::MAX, |until| Time::ZERO + until.span()),
        };
        Ok(decentral::simulate(simulation, hosting, monitor))
    }
}

/// The zones of nodes that joined one after the other, with their points; those alike draw until they are not.
pub(crate) fn laid_out<const D: usize>(
    config: &desktop::Config,
    nodes: &[Equipment],
    rng: &mut Xoshiro256PlusPlus,
) -> Vec<(can::Point<D>, can::Shared<can::Grant<D>>)> {
    let mut layout = can::Layout::<D>::default();
    let mut points = Vec::with_capacity(nodes.len());
    for (number, node) in nodes.iter().enumerate() {
        let id = NodeId::new(number as u64);
        let point = loop {
            let point = Desktop::<D>::point_of(config, node, rng);
            if layout.add(id, point).is_ok() {
                break point;
            }
        };
        points.push(point);
    }
    let grants = layout.grants().map(can::Shared::new);
    points.into_iter().zip(grants).collect()
}

impl From<central::Run> for Run {
    fn from(run: central::Run) -> Self {
        let placement = if run.nodes.is_empty() {
            Placement::Interchangeable
        } else {
            let nodes = run.nodes.iter();
            Placement::Assigned(nodes.map(|node| node.iter().copied().collect()).collect())
        };
        Self {
            outcomes: run.outcomes,
            placement,
            traffic: Traffic::default(),
            faults: Faults::default(),
            stopped: run.stopped,
            // Nothing is sent, so nothing is said about after the last job.
            ended: Time::ZERO,
            pictures: Vec::new(),
            in_degrees: Vec::new(),
            violations: 0,
            events: run.events,
            digest: run.digest,
        }
    }
}

impl Results {
    /// Writes all files of the run into a folder under construction, below `place`.
    pub fn write(
        &self,
        prepared: &Prepared,
        draft: &Draft,
        place: &Path,
    ) -> Result<(), FolderError> {
        draft.write(place.join("config.toml"), |file| {
            let text = prepared.config.to_toml().map_err(io::Error::other)?;
            file.write_all(text.as_bytes())
        })?;
        draft.write(place.join("jobs.csv"), |file| {
            write_jobs(&prepared.facts(), &self.run, file)
        })?;
        draft.write(place.join("series.csv"), |file| {
            let mut csv = csv::Writer::from_writer(file);
            for row in &self.series {
                csv.serialize(row)?;
            }
            csv.flush()
        })?;
        if !self.run.pictures.is_empty() {
            draft.write(place.join("zones.json"), |file| {
                write_json(&self.run.pictures, file)
            })?;
        }
        draft.write(place.join("summary.json"), |file| {
            write_json(&self.summary, file)
        })?;
        draft.write(place.join("engine.json"), |file| {
            write_json(&self.cost, file)
        })
    }
}
