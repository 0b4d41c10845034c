//! Messages between nodes: QUIC with mutual TLS, one connection for each pair of nodes, one stream for each message.
//!
//! - A peer is the node in its certificate, and no message of it counts as that of another.
//! - With each message travel the addresses of the nodes that it mentions; a bounded [`Book`] keeps
//!   them.
//! - Handshakes, connections, streams and queues are limited. What is beyond a limit is dropped and counted.
//! - A peer that was restarted is noticed at once: its keys for resets and for names of connections are kept on disk.

mod book;
pub(crate) mod envelope;
mod keys;
mod link;
mod refusal;
#[cfg(test)]
mod tests;
mod tls;

pub use book::Book;
pub use tls::{Credentials, CredentialsError};

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gridweave_core::id::NodeId;
use quinn::{
    ClientConfig, Connection, Endpoint, EndpointConfig, IdleTimeout, ServerConfig, TokioRuntime,
    TransportConfig, VarInt,
};
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tracing::{debug, info, warn};

use crate::clock::wall;
use crate::driver::{Inputs, Outbox};
use crate::identity::Identity;
use crate::observe::Metrics;
use crate::settings::Network;

/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// The most connections with one peer: two that both have opened at the same time, and one that replaces them.
const MOST_OF_A_PEER: usize = 3;

/// With more handshakes than this at once, a peer first proves that it has its address.
const HANDSHAKES_AT_ONCE: usize = 32;

/// With more than this, others are dropped.
const MOST_HANDSHAKES: usize = 256;

/// When an unused connection ends. A handshake costs as much as a hundred messages, and in a grid of a hundred nodes a
/// peer is heard every half a minute.
const IDLE: Duration = Duration::from_secs(120);

/// A peer that was not heard for longer may be gone, although the connection is open.
const LATELY: Duration = Duration::from_secs(30);

/// The most messages that one peer may have on their way to this node.
const STREAMS: u32 = 64;

/// The most messages that wait for one peer.
const QUEUE: usize = 256;

/// The most peers to which messages wait.
const QUEUES: usize = 4096;

/// The most messages that wait for all peers.
const OUTGOING: usize = 4096;

/// How long after a change the address book is written, with what has changed by then.
const SAVE: Duration = Duration::from_millis(500);

/// How often its size is noted otherwise.
const COUNT: Duration = Duration::from_secs(60);

/// The administrator is told if clocks differ by this many microseconds.
const WRONG_CLOCK: u64 = 500_000;

/// A message on its way out.
struct Outgoing {
    to: NodeId,
    frame: Vec<u8>,
    mentions: Vec<NodeId>,
}

/// The end of the transport that the driver has.
pub struct Post {
    outgoing: Sender<Outgoing>,
    shared: Arc<Shared>,
}

impl Outbox for Post {
    fn send(&mut self, to: NodeId, frame: Vec<u8>, mentions: &[NodeId]) {
        let outgoing = Outgoing {
            to,
            frame,
            mentions: mentions.to_vec(),
        };
        if self.outgoing.try_send(outgoing).is_err() {
            self.shared.metrics.dropped("the transport is busy");
        }
    }

    fn host_of(&self, node: NodeId) -> Option<String> {
        self.shared.book.host_of(node)
    }

    fn known(&self) -> usize {
        self.shared.book.len().saturating_add(1)
    }

    fn peers(&self) -> Vec<NodeId> {
        const SOME: usize = 16;
        let links = self.shared.links();
        let open = links.iter().filter(|(_, link)| {
            link.heard.elapsed() < LATELY && link.connection.close_reason().is_none()
        });
        open.map(|(node, _)| *node).take(SOME).collect()
    }
}

/// What all tasks of the transport have.
pub(super) struct Shared {
    me: NodeId,
    endpoint: Endpoint,
    book: Book,
    metrics: Arc<Metrics>,
    inputs: Inputs,
    banned: BTreeSet<NodeId>,
    most_connections: usize,
    most_message: usize,
    clock_offset: i64,
    handshakes: AtomicUsize,
    links: Mutex<BTreeMap<NodeId, Link>>,
    /// All open connections with each peer, the oldest first.
    open: Mutex<BTreeMap<NodeId, Vec<Connection>>>,
}

/// The connection with a peer.
struct Link {
    connection: Connection,
    identity: Identity,
    since: Instant,
    /// When the peer said something last.
    heard: Instant,
    /// How much the peer's clock is ahead of this one, in microseconds.
    clock_ahead: i64,
}

/// A transport that listens.
pub struct Transport {
    shared: Arc<Shared>,
    outgoing: Receiver<Outgoing>,
}

/// What a transport is made of.
pub struct Plan<'a> {
    /// The folder of the node.
    pub folder: &'a Path,
    /// What the administrator says.
    pub network: &'a Network,
    /// The certificate of the node.
    pub credentials: &'a Credentials,
    /// The most bytes of a frame.
    pub most_frame: usize,
    /// Counts what happens.
    pub metrics: Arc<Metrics>,
    /// Where messages go that come in.
    pub inputs: Inputs,
    /// The offset of the clock, in microseconds.
    pub clock_offset: i64,
}

/// Why a transport cannot listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The certificate cannot be used.
    #[error("{0}")]
    Credentials(#[from] CredentialsError),
    /// The address is taken, or is none of this computer.
    #[error("cannot listen at {address}: {error}; see network.listen in node.toml")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A file cannot be read or written.
    #[error("{0}")]
    File(#[from] io::Error),
}

impl Transport {
    /// Listens. Must be called inside a runtime of `tokio`.
    pub fn listen(plan: Plan<'_>) -> Result<(Self, Post), TransportError> {
        let keys = keys::Keys::read(&plan.folder.join("transport.keys"))?;
        let socket = bind(plan.network.listen, &plan.folder.join("port"))?;
        let most_message = plan.most_frame.saturating_add(envelope::MOST_HEADER);
        let transport = Arc::new(limits(most_message));
        let mut server = ServerConfig::with_crypto(Arc::new(plan.credentials.server()?));
        server
            .transport_config(transport.clone())
            .migration(false)
            .max_incoming(2 * MOST_HANDSHAKES)
            .incoming_buffer_size(64 << 10)
            .incoming_buffer_size_total(4 << 20);
        let mut client = ClientConfig::new(Arc::new(plan.credentials.client()?));
        client.transport_config(transport);
        let mut config = EndpointConfig::new(Arc::new(keys.reset()));
        config.cid_generator(move || Box::new(keys.names()));
        let runtime = Arc::new(TokioRuntime);
        let mut endpoint = Endpoint::new(config, Some(server), socket, runtime)?;
        endpoint.set_default_client_config(client);
        let me = plan.credentials.identity.node;
        let network = plan.network;
        let address = endpoint.local_addr()?;
        let own = network
            .advertise
            .or((!address.ip().is_unspecified()).then_some(address));
        info!(%address, node = %me, "listens");
        let given = network.introducers.clone();
        let shared = Arc::new(Shared {
            me,
            endpoint,
            book: Book::read(&plan.folder.join("addresses"), me, given, own),
            metrics: plan.metrics,
            inputs: plan.inputs,
            banned: network.banned.iter().map(|name| name.0).collect(),
            most_connections: network.connections.max(8),
            most_message,
            clock_offset: plan.clock_offset,
            handshakes: AtomicUsize::new(0),
            links: Mutex::new(BTreeMap::new()),
            open: Mutex::new(BTreeMap::new()),
        });
        let (sender, outgoing) = channel(OUTGOING);
        let post = Post {
            outgoing: sender,
            shared: shared.clone(),
        };
        Ok((Self { shared, outgoing }, post))
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.shared.endpoint.local_addr()
    }

    /// The addresses of nodes.
    pub fn book(&self) -> &Book {
        &self.shared.book
    }

    /// Answers for users: which peers are connected.
    pub fn peers(&self) -> impl Fn() -> Value + Clone + Send + Sync + use<> {
        let shared = self.shared.clone();
        move || shared.peers()
    }

    /// Works until the driver is gone.
    pub async fn run(mut self) {
        let shared = self.shared.clone();
        let accepting = tokio::spawn(accept(shared.clone()));
        let saving = tokio::spawn(save(shared.clone()));
        let mut queues: BTreeMap<NodeId, Sender<Outgoing>> = BTreeMap::new();
        while let Some(outgoing) = self.outgoing.recv().await {
            let to = outgoing.to;
            if queues.get(&to).is_none_or(Sender::is_closed) {
                queues.retain(|_, queue| !queue.is_closed());
                if queues.len() >= QUEUES {
                    shared.metrics.dropped("too many peers at once");
                    continue;
                }
                let (queue, waiting) = channel(QUEUE);
                tokio::spawn(link::deliver(shared.clone(), to, waiting));
                queues.insert(to, queue);
            }
            if let Some(queue) = queues.get(&to)
                && queue.try_send(outgoing).is_err()
            {
                shared.metrics.dropped("the queue to a peer is full");
            }
        }
        accepting.abort();
        saving.abort();
        let _ = shared.book.save();
        shared
            .endpoint
            .close(VarInt::from_u32(0), b"the agent ends");
        let _ = tokio::time::timeout(Duration::from_secs(1), shared.endpoint.wait_idle()).await;
    }
}

/// The limits of a connection.
fn limits(most_message: usize) -> TransportConfig {
    let mut config = TransportConfig::default();
    let window = VarInt::try_from(most_message as u64).unwrap_or(VarInt::MAX);
    let all = VarInt::try_from(most_message.saturating_mul(4) as u64).unwrap_or(VarInt::MAX);
    config
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(STREAMS))
        .stream_receive_window(window)
        .receive_window(all)
        .send_window(most_message.saturating_mul(4) as u64)
        .max_idle_timeout(IdleTimeout::try_from(IDLE).ok())
        .datagram_receive_buffer_size(None);
    config
}

/// Binds the port. With port 0 the kernel chooses one, which is kept in a file.
fn bind(listen: SocketAddr, file: &Path) -> Result<UdpSocket, TransportError> {
    let mut address = listen;
    if listen.port() == 0 {
        let kept = std::fs::read_to_string(file).unwrap_or_default();
        address.set_port(kept.trim().parse().unwrap_or(0));
    }
    let failed = |error| TransportError::Listen { address, error };
    let socket = UdpSocket::bind(address).map_err(failed)?;
    if listen.port() == 0 {
        let port = socket.local_addr().map_err(failed)?.port();
        std::fs::write(file, port.to_string())?;
    }
    Ok(socket)
}

async fn save(shared: Arc<Shared>) {
    loop {
        if tokio::time::timeout(COUNT, shared.book.changed())
            .await
            .is_ok()
        {
            tokio::time::sleep(SAVE).await;
        }
        shared.metrics.set_known_addresses(shared.book.len());
        if let Err(error) = shared.book.save() {
            warn!("the address book cannot be written: {error}");
        }
    }
}

/// Takes connections that peers open.
async fn accept(shared: Arc<Shared>) {
    while let Some(incoming) = shared.endpoint.accept().await {
        let handshakes = shared.handshakes.load(Relaxed);
        if shared.endpoint.open_connections() >= shared.most_connections {
            shared.metrics.refused("too many connections");
            incoming.refuse();
        } else if handshakes >= MOST_HANDSHAKES {
            shared.metrics.refused("too many handshakes");
            incoming.ignore();
        } else if handshakes >= HANDSHAKES_AT_ONCE && incoming.may_retry() {
            shared.metrics.refused("asked for proof of its address");
            // It comes again, with the proof.
            let _ = incoming.retry();
        } else {
            tokio::spawn(link::welcome(shared.clone(), incoming));
        }
    }
}

impl Shared {
    fn links(&self) -> MutexGuard<'_, BTreeMap<NodeId, Link>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time by the clock of this node, in microseconds.
    fn now(&self) -> u64 {
        wall(self.clock_offset).as_micros()
    }

    /// The open connection with a peer.
    fn connection(&self, node: NodeId) -> Option<Connection> {
        let mut links = self.links();
        let connection = &links.get(&node)?.connection;
        if connection.close_reason().is_some() {
            links.remove(&node);
            return None;
        }
        Some(connection.clone())
    }

    /// Keeps a connection. If two nodes have opened one at the same time, both keep that of the smaller id.
    fn keep(&self, connection: &Connection, identity: Identity, opened_by: NodeId) {
        const SAME_TIME: Duration = Duration::from_secs(1);
        let peer = identity.node;
        self.close_older(peer, connection);
        let mut links = self.links();
        if let Some(other) = links.get(&peer)
            && other.connection.close_reason().is_none()
            && other.since.elapsed() < SAME_TIME
            && opened_by != self.me.min(peer)
        {
            return debug!(%peer, "there is another connection");
        }
        let link = Link {
            connection: connection.clone(),
            identity,
            since: Instant::now(),
            heard: Instant::now(),
            clock_ahead: 0,
        };
        links.insert(peer, link);
        links.retain(|_, link| link.connection.close_reason().is_none());
        self.metrics.set_connections(links.len());
    }

    /// Closes the oldest connection with a peer if this one is one too many: one peer must not take all there may be.
    fn close_older(&self, peer: NodeId, connection: &Connection) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.entry(peer).or_default().push(connection.clone());
        open.retain(|_, open| {
            open.retain(|connection| connection.close_reason().is_none());
            !open.is_empty()
        });
        if let Some(open) = open
            .get_mut(&peer)
            .filter(|open| open.len() > MOST_OF_A_PEER)
        {
            open.remove(0)
                .close(VarInt::from_u32(2), b"there are newer ones");
        }
    }

    /// Notes the time in a message of a peer.
    fn compare_clocks(&self, peer: NodeId, sent: u64) {
        let now = self.now();
        if let Some(link) = self.links().get_mut(&peer) {
            link.heard = Instant::now();
            let under_way = link.connection.rtt().as_micros() as i64 / 2;
            let ahead = sent.wrapping_sub(now) as i64;
            let before = link.clock_ahead.unsigned_abs();
            link.clock_ahead = ahead.saturating_add(under_way);
            if before < WRONG_CLOCK && link.clock_ahead.unsigned_abs() >= WRONG_CLOCK {
                let seconds = link.clock_ahead as f64 / 1e6;
                warn!(%peer, seconds, "the clocks differ: jobs may be refused; set them by a time server");
            }
            self.metrics.skewed(link.clock_ahead.unsigned_abs());
        }
    }

    fn peers(&self) -> Value {
        let links = self.links();
        let open = links
            .iter()
            .filter(|(_, link)| link.connection.close_reason().is_none());
        let shown = open.map(|(node, link)| {
            json!({
                "node": node.to_string(),
                "name": link.identity.name,
                "organisation": link.identity.organisation.get(),
                "address": link.connection.remote_address().to_string(),
                "round_trip": link.connection.rtt().as_secs_f64(),
                "clock_ahead": link.clock_ahead as f64 / 1e6,
            })
        });
        shown.collect()
    }
}
