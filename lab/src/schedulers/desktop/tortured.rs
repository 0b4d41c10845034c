//! `desktop` under torture: nodes of one to four cores in a space of two dimensions and a virtual one.

use std::num::NonZeroU32;

use gridweave_core::custody;
use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Demand, Job, Retry};
use gridweave_core::overlay::can::{self, Stretch, Zone};
use gridweave_core::resource::{Capability, Dimension, Dimensions, Kind, Speed};
use gridweave_core::rng::Choose;
use gridweave_core::scheduler::desktop::{
    Bootstrap, Config, Direction, Equipment, Message, Residues, Scheduling,
};
use gridweave_core::time::Span;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::laid_out;
use super::{DIMENSIONS, Node};
use crate::torture::dice::{Dice, For};
use crate::torture::fault::Fault;
use crate::torture::rules::{most_jobs, most_nodes};
use crate::torture::scenario::{Equipped, MAX_SKEW, Scenario};
use crate::torture::subject::{Budget, Build, Caps, Subject};
use crate::torture::witness::Counters;

/// How long a run node may have a job without word from its owner.
const LEASE: Span = Span::from_secs(40);

/// How long an owner may have a job without word from its submitter.
const OWNER_LEASE: Span = Span::from_secs(60);

fn dimensions() -> (Dimensions, [Dimension; 2]) {
    let dimensions = Dimensions::new(&[("cores", Kind::Amount), ("memory", Kind::Amount)])
        .expect("two dimensions are not too many");
    let named = |name| dimensions.named(name).expect("it was named just now");
    let both = [named("cores"), named("memory")];
    (dimensions, both)
}

fn capability(Equipped { cores, memory }: Equipped) -> Capability {
    let (_, [k_cores, k_memory]) = dimensions();
    Capability::none()
        .with(k_cores, u64::from(cores))
        .with(k_memory, u64::from(memory))
}

fn rules(scenario: &Scenario) -> Config {
    let mut dice = Dice::new(scenario.request.seed, For::Rules, 0);
    let full = scenario.has(Fault::Full);
    let direction = match dice.percent(50) {
        true => Direction::Push,
        false => Direction::Pull,
    };
    let custody = custody::Config {
        max_skew: MAX_SKEW,
        retry: Span::from_secs(2),
        retention: Span::from_secs(300),
        search: Span::from_secs(10),
        pause: Span::from_secs(3),
        tasks: if full { 3 } else { 256 },
        held: if full { 3 } else { 256 },
        ..custody::Config::DEFAULT
    };
    let in_one_of_three =
        |number| Dice::new(scenario.request.seed, For::Residues, number).below(3) == 0;
    let in_two_spaces = in_one_of_three(0);
    let can = can::Config {
        virtual_dimensions: if in_one_of_three(2) { 2 } else { 1 },
        period: Span::from_secs(5),
        grace: Span::from_secs(3),
        spread: Span::from_secs(5),
        confirmation: Span::from_secs(3),
        timeout: Span::from_secs(10),
        // Grids are small. With few neighbours listed, some of their heartbeats have no list, as in large grids.
        listed: if in_one_of_three(1) { 3 } else { 16 },
        ..can::Config::DEFAULT
    };
    Config {
        can,
        residue_can: can::Config { farewell: 8, ..can },
        scheduling: match dice.below(5) {
            0 => Scheduling::VANILLA,
            1 => Scheduling::LOCAL,
            2 => Scheduling::internode(direction),
            _ => Scheduling::balanced(direction),
        },
        residues: match dice.percent(30) {
            _ if in_two_spaces => Residues::DualCan,
            true => Residues::Neighbours,
            false => Residues::Balloons,
        },
        round: Span::from_secs(5),
        owners: custody::Config {
            lease: OWNER_LEASE,
            ..custody
        },
        runs: custody::Config {
            lease: LEASE,
            bounded: true,
            ..custody
        },
        queue: if full { 2 } else { 256 },
        ..Config::new(capability(Scenario::MOST))
    }
}

fn equipment(scenario: &Scenario, node: NodeId) -> Equipment {
    let (dimensions, [cores, _]) = dimensions();
    Equipment {
        dimensions,
        cores,
        capability: capability(scenario.equipment(node)),
        speed: Speed::BASELINE,
    }
}

/// The zone of a node in the second space, if there is one.
trait InTwoSpaces {
    fn zone_of_residue(&self) -> Option<&Zone<DIMENSIONS>>;
}

impl InTwoSpaces for Node {
    fn zone_of_residue(&self) -> Option<&Zone<DIMENSIONS>> {
        self.residue_can()?.zone()
    }
}

impl Subject for Node {
    const GOSSIP: &'static [&'static str] =
        &["Overlay", "Residue", "Inflate", "Deflate", "Acknowledged"];

    const BUDGETS: &'static [Budget] = &[&[
        ("Errand.Enter", 34),
        ("Errand.Forage", 10),
        ("Errand.Gather", 52),
        ("Errand.Hunt", 28),
        ("Errand.Route", 7),
        ("Search", 10),
        ("Found", 6),
        ("Members", 4),
        ("Pull", 30),
        ("PullReject", 30),
        ("ResidueChanged", 5),
        ("Owners.Give", 3),
        ("Owners.Report", 8),
        ("Owners.Verdict", 8),
        ("Runs.Give", 4),
        ("Runs.Report", 10),
        ("Runs.Verdict", 10),
    ]];

    fn build(scenario: &Scenario) -> Build<Self> {
        let config = rules(scenario);
        let seed = Dice::new(scenario.request.seed, For::Overlay, u64::MAX).seed();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let first = (0..u64::from(scenario.nodes)).map(NodeId::new);
        let nodes: Vec<Equipment> = first.map(|node| equipment(scenario, node)).collect();
        let placed = laid_out(&config, &nodes, &mut rng);
        let scenario = scenario.clone();
        Box::new(move |me| {
            let bootstrap = match placed.get(me.get() as usize) {
                Some((point, grant)) => Bootstrap::Placed(*point, grant.clone()),
                None => Bootstrap::Join(scenario.introducer(me).into()),
            };
            let equipment = equipment(&scenario, me);
            // A node has the same virtual coordinates in all its lives.
            let mut rng = Dice::new(scenario.request.seed, For::Rules, 1 + me.get());
            Self::new(me, config, bootstrap, equipment, &mut rng).expect("the rules are sound")
        })
    }

    fn job(id: JobId, estimate: Span, _: &Scenario, dice: &mut Dice) -> Job {
        let (_, [cores, memory]) = dimensions();
        let count = NonZeroU32::new(dice.between(1, 3)).unwrap_or(NonZeroU32::MIN);
        let mut job = Job::new(id, Demand::Cores(count), estimate).expect("planned jobs take time");
        job.requirement = job
            .requirement
            .with(cores, u64::from(count.get()))
            .with(memory, u64::from(dice.between(1, 5)));
        job
    }

    fn reruns(retry: Retry) -> u32 {
        // An owner that is lost takes with it how often its job has run: the next owner has one attempt less than it.
        let times = u32::from(retry.times());
        times * (times + 3) / 2
    }

    fn takes(job: &Job) -> Equipped {
        let (_, [cores, memory]) = dimensions();
        let value = |k| {
            let value = job.requirement.value(k).unwrap_or(0);
            u32::try_from(value).unwrap_or(u32::MAX)
        };
        Equipped {
            cores: value(cores),
            memory: value(memory),
        }
    }

    fn room(scenario: &Scenario, node: NodeId) -> Equipped {
        scenario.equipment(node)
    }

    fn left(&self) -> usize {
        let queue = self.queue().running().len() + self.queue().waiting().len();
        let answered_for = self.jobs().count() + self.owned().count();
        answered_for + self.entrusted().count() + self.held().count() + queue
    }

    fn may_go(&self) -> bool {
        let is_outside = self.can().zone().is_none() && self.zone_of_residue().is_none();
        self.left() == 0 && is_outside
    }

    fn awaits_answers(&self) -> bool {
        Self::awaits_answers(self)
    }

    fn knows(&self) -> Vec<NodeId> {
        let neighbours = self.can().neighbours();
        neighbours.map(|it| it.entry.name.id).collect()
    }

    fn contacts(&self) -> Option<Vec<NodeId>> {
        Some(self.contacts().collect())
    }

    fn is_drained(&self) -> bool {
        Self::is_drained(self)
    }

    fn caps(scenario: &Scenario) -> Caps {
        let (jobs, nodes) = (most_jobs(scenario), most_nodes(scenario));
        Caps {
            // All unacknowledged errands may be due again at once.
            effects: 64 + 256 + 16 * jobs + 16 * nodes,
            bytes: 32 * 1024,
            records: 16 + 4 * jobs,
            timers: 16 + 4 * jobs + 2 * nodes,
        }
    }

    fn lingers() -> Span {
        OWNER_LEASE + LEASE + MAX_SKEW.times(2)
    }

    fn situation(message: &Message<DIMENSIONS>) -> Option<&'static str> {
        let message = match message {
            Message::Overlay { message, .. } => message,
            Message::Residue { message, .. } => {
                return Some(match message {
                    can::Message::Grant(_) => "second space: a zone granted",
                    can::Message::Obituary(_) => "second space: a zone left or taken over",
                    _ => return None,
                });
            }
            _ => return None,
        };
        Some(match message {
            can::Message::Claim { .. } => "can: a zone claimed whose node is missed",
            can::Message::Obituary(_) => "can: a zone taken over",
            can::Message::Evicted(_) => "can: a node told that it lost its zone",
            can::Message::Grant(_) => "can: a zone granted",
            can::Message::Alive { .. } => "can: a claim objected to",
            can::Message::Agreed { .. } => "can: a neighbour let go",
            _ => return None,
        })
    }

    fn count(&self, counters: &mut Counters) {
        let (runs, owners, counts) = (self.custody_counts(), self.owner_counts(), self.counts());
        counters.add("desktop: a run node replaced", runs.placed_again);
        counters.add("desktop: an owner replaced", owners.placed_again);
        let orphaned = runs.orphaned + owners.orphaned;
        counters.add("desktop: a job let go that no node answers for", orphaned);
        counters.add("desktop: a job moved to start at once", counts.migrated);
        counters.add("desktop: a job moved to where fewer wait", counts.balanced);
        counters.add("desktop: a search among all", counts.floods);
    }

    /// No two zones overlap, and together they fill the space.
    fn is_whole(nodes: &[(NodeId, &Self)]) -> Result<(), String> {
        let mut zones = Vec::new();
        for (node, machine) in nodes {
            let Some(zone) = machine.can().zone() else {
                return Err(format!("{node} has no zone"));
            };
            // No job runs any more, so no node belongs in the second space.
            if machine.zone_of_residue().is_some() {
                return Err(format!("{node} is still in the second space"));
            }
            zones.push((*node, *zone));
        }
        for (index, (one, zone)) in zones.iter().enumerate() {
            if let Some((two, _)) = zones[index + 1..].iter().find(|(_, it)| it.overlaps(zone)) {
                return Err(format!("the zones of {one} and {two} overlap"));
            }
        }
        let zones: Vec<_> = zones.iter().map(|(_, zone)| *zone.stretches()).collect();
        if is_covered(*Zone::<DIMENSIONS>::WHOLE.stretches(), &zones) {
            Ok(())
        } else {
            Err("a part of the space belongs to no node".into())
        }
    }
}

/// Whether every point of a box is in one of the zones.
fn is_covered(mut whole: [Stretch; DIMENSIONS], zones: &[[Stretch; DIMENSIONS]]) -> bool {
    let Some((zone, others)) = zones.split_first() else {
        return false;
    };
    let meets =
        |(one, other): (&Stretch, &Stretch)| one.from() < other.to() && other.from() < one.to();
    if !whole.iter().zip(zone).all(meets) {
        return is_covered(whole, others);
    }
    // Checks what lies beside the zone in each dimension; `whole` lies within the zone in the dimensions before.
    for dimension in 0..DIMENSIONS {
        let (all, taken) = (whole[dimension], zone[dimension]);
        let (from, to) = (all.from().max(taken.from()), all.to().min(taken.to()));
        for beside in [Stretch::new(all.from(), from), Stretch::new(to, all.to())] {
            let Some(beside) = beside else { continue };
            whole[dimension] = beside;
            if !is_covered(whole, others) {
                return false;
            }
        }
        whole[dimension] = Stretch::new(from, to).unwrap_or(all);
    }
    true
}
