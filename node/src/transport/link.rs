use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use gridweave_core::id::{NodeId, OrganisationId};
use quinn::{Connection, ConnectionError, Incoming, RecvStream, VarInt};
use rustls::pki_types::CertificateDer;
use tokio::net::lookup_host;
use tokio::sync::mpsc::Receiver;
use tokio::time::{sleep, timeout};
use tracing::{debug, info};

use super::refusal::reason;
use super::{HANDSHAKE, IDLE, Outgoing, Shared, envelope};
use crate::driver::{Input, NotTaken};
use crate::identity::{Identity, dns_name};

/// How long to wait for one address of a peer.
const DIAL: Duration = Duration::from_secs(3);

/// How long a message may take.
const MESSAGE: Duration = Duration::from_secs(10);

/// After a peer was not reached, messages to it are dropped for so long.
const PAUSE: Duration = Duration::from_millis(500);

/// A connection that a peer opens.
pub(super) async fn welcome(shared: Arc<Shared>, incoming: Incoming) {
    shared.handshakes.fetch_add(1, Relaxed);
    let address = incoming.remote_address();
    let connected = match incoming.accept() {
        Ok(connecting) => timeout(HANDSHAKE, connecting).await,
        Err(error) => Ok(Err(error)),
    };
    shared.handshakes.fetch_sub(1, Relaxed);
    let why = match connected {
        Ok(Ok(connection)) => match admit(&shared, &connection) {
            Ok(identity) => {
                let (peer, organisation) = (identity.node, identity.organisation);
                shared.keep(&connection, identity, peer);
                return listen(shared, connection, peer, organisation).await;
            }
            Err(why) => {
                connection.close(VarInt::from_u32(1), why.as_bytes());
                why
            }
        },
        Ok(Err(error)) => {
            debug!(%address, "a handshake failed: {error}");
            reason(&error)
        }
        Err(_) => "the handshake took too long",
    };
    shared.metrics.refused(why);
    info!(%address, why, "a peer is refused");
}

/// The node at the other end, if it may talk to this one.
fn admit(shared: &Shared, connection: &Connection) -> Result<Identity, &'static str> {
    let chain = connection.peer_identity();
    let chain = chain.and_then(|chain| chain.downcast::<Vec<CertificateDer<'static>>>().ok());
    let chain = chain.unwrap_or_default();
    let certificate = chain.first().ok_or("no certificate")?;
    let identity = Identity::of(certificate).map_err(|_| "certificate of no node")?;
    if identity.node == shared.me {
        return Err("certificate of this node");
    }
    if shared.banned.contains(&identity.node) {
        return Err("banned");
    }
    shared
        .book
        .saw(identity.node, canonical(connection.remote_address()));
    if let Some(own) = connection.local_ip() {
        shared.book.is_at(own);
    }
    Ok(identity)
}

/// An IPv4 address is written as such, also on a socket for both.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Delivers messages to one peer, in order, until there are none for a while.
pub(super) async fn deliver(shared: Arc<Shared>, to: NodeId, mut waiting: Receiver<Outgoing>) {
    while let Ok(Some(outgoing)) = timeout(IDLE, waiting.recv()).await {
        let mut is_sent = false;
        // A connection may turn out to be over only when it is used.
        for _ in 0..2 {
            let connection = match shared.connection(to) {
                Some(connection) => connection,
                None => match dial(&shared, to).await {
                    Some(connection) => connection,
                    None => break,
                },
            };
            if send(&shared, &connection, &outgoing).await.is_ok() {
                is_sent = true;
                break;
            }
        }
        if !is_sent {
            shared.metrics.dropped("the peer is not reached");
            debug!(%to, "is not reached");
            let _ = shared.inputs.give(Input::Unreachable(to));
            sleep(PAUSE).await;
            while waiting.try_recv().is_ok() {
                shared.metrics.dropped("the peer is not reached");
            }
        }
    }
}

async fn send(shared: &Shared, connection: &Connection, outgoing: &Outgoing) -> Result<(), ()> {
    let known = |node: &NodeId| Some((*node, shared.book.told(*node)?));
    let mut addresses: Vec<_> = outgoing.mentions.iter().filter_map(known).collect();
    if !outgoing.mentions.contains(&shared.me) {
        addresses.extend(known(&shared.me));
    }
    let bytes = envelope::seal(shared.now(), &addresses, &outgoing.frame);
    let sending = async {
        let mut stream = connection.open_uni().await.map_err(|_| ())?;
        stream.write_all(&bytes).await.map_err(|_| ())?;
        stream.finish().map_err(|_| ())
    };
    timeout(MESSAGE, sending).await.unwrap_or(Err(()))
}

/// Opens a connection with a node at one of its addresses.
async fn dial(shared: &Arc<Shared>, to: NodeId) -> Option<Connection> {
    if shared.banned.contains(&to) {
        return None;
    }
    let (mut addresses, names) = shared.book.addresses(to);
    for name in names {
        if let Ok(Ok(found)) = timeout(DIAL, lookup_host(name)).await {
            addresses.extend(found.take(4));
        }
    }
    for address in addresses {
        let connecting = match shared.endpoint.connect(address, &dns_name(to)) {
            Ok(connecting) => connecting,
            Err(error) => {
                debug!(%to, %address, "cannot be dialled: {error}");
                continue;
            }
        };
        match timeout(DIAL, connecting).await {
            Ok(Ok(connection)) => match admit(shared, &connection) {
                // That it is the node with this name was checked by the TLS library.
                Ok(identity) if identity.node == to => {
                    let organisation = identity.organisation;
                    shared.keep(&connection, identity, shared.me);
                    let reader = listen(shared.clone(), connection.clone(), to, organisation);
                    tokio::spawn(reader);
                    return Some(connection);
                }
                Ok(_) => connection.close(VarInt::from_u32(1), b"another node"),
                Err(why) => {
                    shared.metrics.refused(why);
                    connection.close(VarInt::from_u32(1), why.as_bytes());
                }
            },
            Ok(Err(error)) => {
                shared.metrics.refused(reason(&error));
                debug!(%to, %address, "is not connected: {error}");
            }
            Err(_) => debug!(%to, %address, "does not answer"),
        }
    }
    None
}

/// Takes the messages of a peer until the connection ends.
async fn listen(
    shared: Arc<Shared>,
    connection: Connection,
    peer: NodeId,
    organisation: OrganisationId,
) {
    debug!(%peer, "is connected");
    let error = loop {
        match connection.accept_uni().await {
            Ok(stream) => {
                // No more than the peer may have streams at once.
                let shared = shared.clone();
                tokio::spawn(async move {
                    let reading = read(&shared, stream, peer);
                    let Ok(Some(frame)) = timeout(MESSAGE, reading).await else {
                        return shared.metrics.dropped("not a message");
                    };
                    let input = Input::Frame {
                        from: peer,
                        organisation,
                        bytes: frame,
                    };
                    if shared.inputs.give(input) == Err(NotTaken::Full) {
                        shared.metrics.dropped("the driver is busy");
                    }
                });
            }
            Err(error) => break error,
        }
    };
    match error {
        ConnectionError::TimedOut | ConnectionError::LocallyClosed => {
            debug!(%peer, "the connection ends: {error}");
        }
        // A refusal of this node's certificate comes here, too: the other side checks it last.
        error => info!(%peer, "the connection ends: {error}"),
    }
}

async fn read(shared: &Shared, mut stream: RecvStream, peer: NodeId) -> Option<Vec<u8>> {
    let bytes = stream.read_to_end(shared.most_message).await.ok()?;
    let opened = envelope::open(&bytes)?;
    shared.compare_clocks(peer, opened.sent);
    for (node, address) in opened.addresses {
        shared.book.heard(node, canonical(address));
    }
    Some(opened.frame.to_vec())
}
