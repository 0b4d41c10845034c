//! What a run begins with: its simulated nodes, and the oracle.

use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Demand, Job};
use gridweave_core::resource::{Capability, Dimensions, Kind, Requirement};
use gridweave_core::time::Span;
use gridweave_sim::engine::{Checking, Simulation};
use gridweave_sim::hosting::{Asks, Rooms, Terms, Watch, Wish};
use gridweave_sim::network::Network;

use super::Facts;
use crate::torture::dice::{Dice, For};
use crate::torture::fault::Fault;
use crate::torture::liar::Liar;
use crate::torture::player::{Player, Role};
use crate::torture::scenario::{PROBE, PROBES, Scenario};
use crate::torture::subject::Subject;
use crate::torture::witness::Witness;

/// On how many nodes a job runs at once.
pub(super) const fn nodes_of(job: &Job) -> u32 {
    match job.demand {
        Demand::Nodes(nodes) => nodes.get(),
        Demand::Cores(_) => 1,
    }
}

/// The simulated nodes of a scenario.
pub(super) fn simulation<M: Subject>(
    scenario: &Scenario,
    witness: &Witness,
) -> Simulation<Player<M>> {
    let seed = scenario.request.seed;
    let network = Network::new(&scenario.network, Dice::new(seed, For::Network, 0).seed());
    let network = network.and_then(|network| network.troubled(scenario.trouble.clone()));
    let network = network.expect("planned networks are sound");
    let mut build = M::build(scenario);
    let (plan, seen, caps) = (scenario.clone(), witness.clone(), M::caps(scenario));
    let player = move |me: NodeId| {
        let role = Role {
            me,
            clock: plan.clock(me),
            caps,
            flaw: plan.request.flaw,
            witness: seen.clone(),
        };
        let lies = plan.liars.contains(&me);
        let liar = lies.then(|| Liar::new(Dice::new(seed, For::Lies, me.get())));
        Player::new(role, build(me), liar)
    };
    let engine = Dice::new(seed, For::Engine, 0).seed();
    let mut simulation = Simulation::new(scenario.nodes, network, engine, player);
    simulation.check(Checking::EveryEvent);
    if scenario.request.group_commit {
        simulation.group_commit(Span::ZERO);
    }
    for at in &scenario.joins {
        simulation.join(*at);
    }
    simulation
}

/// The oracle for a scenario, with its jobs and nodes and the promises it checks.
pub(super) fn watch<M: Subject>(scenario: &Scenario) -> (Watch, Facts) {
    let dimensions = Dimensions::new(&[("cores", Kind::Amount), ("memory", Kind::Amount)])
        .expect("two dimensions are not too many");
    let named = |name| dimensions.named(name).expect("it was named just now");
    let (cores, memory) = (named("cores"), named("memory"));
    let all = u64::from(scenario.nodes) + scenario.joins.len() as u64;
    let rooms = (0..all).map(|node| {
        let room = M::room(scenario, NodeId::new(node));
        Capability::none()
            .with(cores, u64::from(room.cores))
            .with(memory, u64::from(room.memory))
    });
    let grace = M::grace(scenario);
    let terms = Terms {
        grace,
        lingers: M::lingers(),
        calm: scenario.calm,
        kept: Fault::all_keep(&scenario.faults),
    };
    let rooms = Rooms::Shared {
        nodes: rooms.collect(),
        dimensions,
    };
    let mut watch = Watch::new(terms, rooms).on_grounds(M::grounds(scenario));
    let mut facts = Facts {
        reserves: grace.is_some(),
        jobs: Vec::new(),
    };
    let probes = core::iter::repeat_n(&PROBE, PROBES);
    for (number, planned) in scenario.jobs.iter().chain(probes).enumerate() {
        let number = number as u64;
        let mut dice = Dice::new(scenario.request.seed, For::Job, 1 << 32 | number);
        let mut job = M::job(JobId::new(number), planned.estimate, scenario, &mut dice);
        job.submitted = planned.at;
        job.retry = planned.retry;
        let nodes = nodes_of(&job);
        let takes = M::takes(&job);
        let requirement = Requirement::any()
            .with(cores, u64::from(takes.cores))
            .with(memory, u64::from(takes.memory));
        let takes_of_each = Some(Box::new(requirement));
        watch.add(Wish {
            nodes,
            takes: takes_of_each,
            reruns: M::reruns(job.retry),
            asks: Asks::of(&job),
        });
        facts.jobs.push((job, takes));
    }
    (watch, facts)
}
