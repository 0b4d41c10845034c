//! `run`: the agent.

use std::num::NonZeroU32;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use gridweave_core::id::NodeId;
use gridweave_core::mentions::Mentions;
use gridweave_core::scheduler::Introducers;
use gridweave_core::scheduler::agent::{
    AriaNode, AsapNode, CriteriaNode, DesktopNode, Scheduler as Run, Setup,
};
use gridweave_core::wire::{Framed, Stored};
use nix::fcntl::{Flock, FlockArg};
use rand::SeedableRng;
use rand::rngs::StdRng;
use ring::rand::{SecureRandom, SystemRandom};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing::{error, info};

use super::{Done, Failure, input, other};
use crate::clock::Clock;
use crate::control::{Elsewhere, serve, socket_of};
use crate::driver::{Driver, Inbox, Input, Inputs, Parts};
use crate::executor::{Executor, Plan as SlurmPlan, Processes, Shape, Site, Slurm};
use crate::observe::{Events, Metrics, serve_web, start_log};
use crate::policy::admission;
use crate::settings::{FILE, Scheduler, Settings};
use crate::store::{Owner, Store};
use crate::transport::{Credentials, Plan, Post, Transport};

/// The file of the store in the folder of a node.
pub(super) const STORE: &str = "store";

/// A node as its folder describes it.
pub(super) struct Node {
    pub(super) settings: Settings,
    pub(super) credentials: Credentials,
}

pub(super) fn read(folder: &Path) -> Result<Node, Failure> {
    Ok(Node {
        settings: Settings::read(&folder.join(FILE)).map_err(input)?,
        credentials: Credentials::read(folder).map_err(input)?,
    })
}

/// What the machine is built from.
fn setup(node: &Node, introducers: Option<Introducers>, shape: Option<&Shape>) -> Setup {
    let (settings, identity) = (&node.settings, &node.credentials.identity);
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let cores = settings.jobs.cores.unwrap_or_else(|| {
        let own = || u32::try_from(cores).unwrap_or(1);
        shape.map_or_else(own, |shape| shape.cores.get())
    });
    let memory = || shape.map_or_else(gigabytes, |shape| shape.memory);
    let accelerators = shape.map_or(0, |shape| shape.accelerators);
    Setup {
        me: identity.node,
        introducers,
        organisation: identity.organisation,
        admission: admission(identity.organisation, &settings.policy.organisations),
        distance: settings.grid.distance,
        times: settings.times.into(),
        cores: NonZeroU32::new(cores).unwrap_or(NonZeroU32::MIN),
        memory: settings.jobs.memory.unwrap_or_else(memory),
        accelerators: settings.jobs.accelerators.max(accelerators),
        most: settings.grid.most.unwrap_or([256, 2048, 16]),
        mirror: shape.map(Shape::mirror),
    }
}

/// The memory of this computer.
fn gigabytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
    kilobytes.unwrap_or(0_u64) >> 20
}

/// Refuses settings that no node can be built with.
pub(super) fn check_settings(node: &Node) -> Done {
    let setup = setup(node, None, None);
    let mut rng = StdRng::seed_from_u64(0);
    let built = match node.settings.grid.scheduler {
        Scheduler::Asap => AsapNode::build(&setup, &mut rng).map(|_| ()),
        Scheduler::Criteria => CriteriaNode::build(&setup, &mut rng).map(|_| ()),
        Scheduler::Aria => AriaNode::build(&setup, &mut rng).map(|_| ()),
        Scheduler::Desktop => DesktopNode::build(&setup, &mut rng).map(|_| ()),
    };
    built.map_err(|error| input(format!("the settings are refused: {error}")))
}

pub(super) fn run(folder: &Path) -> Done {
    let node = read(folder)?;
    check_settings(&node)?;
    start_log(&node.settings.observe);
    match node.settings.grid.scheduler {
        Scheduler::Asap => run_as::<AsapNode>(folder, &node),
        Scheduler::Criteria => run_as::<CriteriaNode>(folder, &node),
        Scheduler::Aria => run_as::<AriaNode>(folder, &node),
        Scheduler::Desktop => run_as::<DesktopNode>(folder, &node),
    }
}

fn run_as<S: Run>(folder: &Path, node: &Node) -> Done
where
    S::Message: Framed + Mentions,
    S::Record: Stored<Key = S::Key>,
{
    // One thread for the network and for users, one for the machine.
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().map_err(other)?;
    runtime.block_on(work::<S>(folder, node))
}

async fn work<S: Run>(folder: &Path, node: &Node) -> Done
where
    S::Message: Framed + Mentions,
    S::Record: Stored<Key = S::Key>,
{
    let settings = &node.settings;
    let _only = lock(folder)?;
    let clock_offset = (settings.network.clock_offset * 1e6) as i64;
    let identity = node.credentials.identity.clone();
    let owner = Owner {
        node: identity.node,
        scheduler: S::NAME,
    };
    let store = Store::open(&folder.join(STORE), owner).map_err(other)?;
    let (inputs, inbox) = Inputs::new();
    let metrics = Arc::new(Metrics::default());
    let (transport, post) = Transport::listen(Plan {
        folder,
        network: &settings.network,
        credentials: &node.credentials,
        most_frame: S::most_bytes(),
        metrics: metrics.clone(),
        inputs: inputs.clone(),
        clock_offset,
    })
    .map_err(other)?;
    let site = Site {
        folder: folder.canonicalize().map_err(other)?,
        program: std::env::current_exe().map_err(other)?,
        jobs: settings.jobs.clone(),
        clock_offset,
    };
    let ends = inputs.clone();
    let on_news = move || {
        // The driver may have ended.
        let _ = ends.give_patiently(Input::Look);
    };
    let (executor, shape): (Box<dyn Executor>, _) = match &settings.slurm {
        None => (
            Box::new(Processes::new(site, on_news).map_err(input)?),
            None,
        ),
        Some(slurm) => {
            let shape = Slurm::shape(slurm, folder).map_err(input)?;
            info!(?shape, "Slurm has told what the partition is");
            let plan = SlurmPlan {
                folder,
                site,
                settings: slurm.clone(),
                shape: shape.clone(),
                node: identity.node,
                metrics: metrics.clone(),
            };
            (
                Box::new(Slurm::new(plan, on_news).map_err(input)?),
                Some(shape),
            )
        }
    };
    let events = Events::new();
    let parts = Parts {
        identity: identity.clone(),
        store,
        outbox: post,
        executor,
        clock: Clock::with_offset(clock_offset),
        metrics: metrics.clone(),
        events: events.clone(),
        rng: StdRng::from_seed(seed()?),
        most_jobs_per_user: settings.policy.most_jobs_per_user,
    };
    let introducers = introducers(settings, &transport, identity.node);
    let setup = setup(node, introducers, shape.as_ref());
    let (ending, ended) = tokio::sync::oneshot::channel();
    let machine = thread::Builder::new().name("driver".to_owned());
    machine
        .spawn(move || {
            // The agent is waiting for this, unless it has been told to end at once.
            let _ = ending.send(drive::<S>(&setup, parts, &inbox));
        })
        .map_err(other)?;
    let peers: Arc<dyn Fn() -> serde_json::Value + Send + Sync> = Arc::new(transport.peers());
    if let Some(address) = settings.observe.web {
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|error| {
            input(format!(
                "cannot listen at {address}: {error}; see observe.web in {FILE}"
            ))
        })?;
        let web = serve_web(listener, metrics.clone(), inputs.clone(), peers.clone());
        tokio::spawn(web);
    }
    let socket = socket_of(folder);
    let users = inputs.clone();
    let elsewhere = Elsewhere {
        peers,
        metrics,
        events,
    };
    let control = tokio::spawn(async move { serve(&socket, users, elsewhere).await });
    info!(name = identity.name, scheduler = S::NAME, "the agent is up");
    let network = tokio::spawn(transport.run());
    let mut interrupt = signal(SignalKind::interrupt()).map_err(other)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(other)?;
    let mut ended = ended;
    let outcome = tokio::select! {
        outcome = &mut ended => outcome,
        _ = interrupt.recv() => stop(&inputs, ended).await,
        _ = terminate.recv() => stop(&inputs, ended).await,
    };
    control.abort();
    // It says good-bye to its peers.
    let _ = network.await;
    match outcome {
        Ok(Ok(())) => Ok(()),
        Ok(Err(why)) => {
            error!("the agent ends: {why}");
            Err(Failure::Told)
        }
        Err(_) => Err(other("the agent ends: its machine has failed")),
    }
}

type Outcome = Result<(), String>;

/// Jobs go on under their supervisors.
async fn stop(
    inputs: &Inputs,
    ended: tokio::sync::oneshot::Receiver<Outcome>,
) -> Result<Outcome, tokio::sync::oneshot::error::RecvError> {
    info!("the agent is told to end; jobs go on");
    while inputs.give(Input::Stop).is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        if inputs.give(Input::Look) == Err(crate::driver::NotTaken::Ended) {
            break;
        }
    }
    ended.await
}

fn drive<S: Run>(setup: &Setup, parts: Parts<Post, Box<dyn Executor>>, inbox: &Inbox) -> Outcome
where
    S::Message: Framed + Mentions,
    S::Record: Stored<Key = S::Key>,
{
    let mut driver = Driver::<S, _, _>::start(setup, parts).map_err(|error| error.to_string())?;
    driver.run(inbox).map_err(|error| error.to_string())
}

/// Those of the settings, and nodes that were seen in an earlier life.
fn introducers(settings: &Settings, transport: &Transport, me: NodeId) -> Option<Introducers> {
    let given = settings.network.introducers.iter().map(|given| given.node);
    let mut nodes = Vec::new();
    for node in given.chain(transport.book().acquaintances()) {
        if node != me && !nodes.contains(&node) && nodes.len() < Introducers::MOST {
            nodes.push(node);
        }
    }
    Introducers::try_from(&nodes[..]).ok()
}

/// One agent for each folder.
fn lock(folder: &Path) -> Result<Flock<std::fs::File>, Failure> {
    let file = folder.join("lock");
    // A job or another user that can open it could hold it.
    let opened = std::fs::File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&file)
        .and_then(|opened| {
            opened.set_permissions(std::fs::Permissions::from_mode(0o600))?;
            Ok(opened)
        });
    let opened =
        opened.map_err(|error| input(format!("cannot write {}: {error}", file.display())))?;
    Flock::lock(opened, FlockArg::LockExclusiveNonblock)
        .map_err(|_| other(format!("an agent runs already in {}", folder.display())))
}

fn seed() -> Result<[u8; 32], Failure> {
    let mut seed = [0; 32];
    let random = SystemRandom::new().fill(&mut seed);
    random.map_err(|_| other("the operating system gives no random numbers"))?;
    Ok(seed)
}
