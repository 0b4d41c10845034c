//! Peers that must be refused: without a certificate, or with one that is expired, of another authority, or with the id
//! of another node. They do what a peer does, and tell in a word whether they were let in.

use std::fs;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Endpoint};
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, Issuer, KeyPair, KeyUsagePurpose};
use rustls::RootCertStore;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use time::OffsetDateTime;

use crate::seed::Seed;

/// What strangers there are.
pub(crate) const KINDS: [&str; 5] = [
    "none",
    "expired",
    "other-authority",
    "other-node",
    "garbage",
];

/// How long an agent may take to refuse.
const PATIENCE: Duration = Duration::from_secs(4);

/// How many datagrams of garbage are sent.
const GARBAGE: usize = 200;

/// Handshakes that a stranger begins and never ends, as a kind of its own.
pub(crate) const HALF_OPEN: &str = "half-open";

/// The agent that a stranger talks to, and the node for which it wants to pass.
pub(crate) struct Target<'a> {
    pub(crate) at: SocketAddr,
    pub(crate) node: &'a str,
    pub(crate) victim: &'a str,
    /// The folder of the grid, with its authority.
    pub(crate) grid: &'a Path,
    /// How many handshakes are begun at once.
    pub(crate) handshakes: usize,
}

fn other(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}

/// Returns `refused`, `admitted`, `unreachable` or `sent`.
pub(crate) fn visit(kind: &str, target: &Target<'_>) -> io::Result<&'static str> {
    if kind == "garbage" {
        return throw(target.at);
    }
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_file(target.grid.join("authority.pem"));
    roots.add(authority.map_err(other)?).map_err(other)?;
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(other)?
        .with_root_certificates(roots);
    let mut config = match kind {
        "none" | HALF_OPEN => config.with_no_client_auth(),
        _ => {
            let (certificate, key) = forge(kind, target)?;
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(other)?;
            config
                .with_client_auth_cert(vec![certificate], key)
                .map_err(other)?
        }
    };
    config.alpn_protocols = vec![b"gridweave/1".to_vec()];
    let config = QuicClientConfig::try_from(config).map_err(other)?;
    let config = ClientConfig::new(Arc::new(config));
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build()?;
    match kind {
        HALF_OPEN => runtime.block_on(begin(config, target)),
        _ => runtime.block_on(knock(config, target)),
    }
}

/// Begins handshakes: what the client says reaches the agent, and no answer reaches the client.
async fn begin(config: ClientConfig, target: &Target<'_>) -> io::Result<&'static str> {
    let wall = UdpSocket::bind("127.0.0.1:0")?;
    let (seen, at) = (wall.local_addr()?, target.at);
    let outer = UdpSocket::bind("0.0.0.0:0")?;
    std::thread::spawn(move || {
        let mut room = [0; 2000];
        // Until this process ends.
        while let Ok((length, _)) = wall.recv_from(&mut room) {
            let _ = outer.send_to(room.get(..length).unwrap_or_default(), at);
        }
    });
    let mut endpoint = Endpoint::client(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    endpoint.set_default_client_config(config);
    let name = format!("{}.node.gridweave", target.node);
    let mut open = Vec::new();
    for _ in 0..target.handshakes {
        open.push(endpoint.connect(seen, &name).map_err(other)?);
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
    // Those that were let in would be by now.
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok("sent")
}

async fn knock(config: ClientConfig, target: &Target<'_>) -> io::Result<&'static str> {
    let mut endpoint = Endpoint::client(SocketAddr::from(([0, 0, 0, 0], 0)))?;
    endpoint.set_default_client_config(config);
    let name = format!("{}.node.gridweave", target.node);
    let connecting = endpoint.connect(target.at, &name).map_err(other)?;
    let connection = match tokio::time::timeout(PATIENCE, connecting).await {
        Err(_) | Ok(Err(quinn::ConnectionError::TimedOut)) => return Ok("unreachable"),
        Ok(Err(_)) => return Ok("refused"),
        Ok(Ok(connection)) => connection,
    };
    // A client believes to be connected until the other side has looked at its certificate.
    match tokio::time::timeout(PATIENCE, connection.closed()).await {
        Ok(quinn::ConnectionError::TimedOut) => Ok("unreachable"),
        Ok(_) => Ok("refused"),
        // An agent that was killed or cut off is silent, too: only a living one acknowledges.
        Err(_) => {
            let heard = connection.stats().udp_rx.datagrams;
            connection.send_datagram(Vec::new().into()).ok();
            if let Ok(mut stream) = connection.open_uni().await {
                let _ = stream.write_all(b"hello").await;
                let _ = stream.finish();
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            match connection.stats().udp_rx.datagrams > heard && connection.close_reason().is_none()
            {
                true => Ok("admitted"),
                false => Ok("unreachable"),
            }
        }
    }
}

/// A certificate that no node may have, and its key.
fn forge(kind: &str, target: &Target<'_>) -> io::Result<(CertificateDer<'static>, String)> {
    let key = KeyPair::generate().map_err(other)?;
    let names = ["node", "organisation", "name"].map(|part| format!(".{part}.gridweave"));
    let [node, organisation, name] = names;
    let alternatives = vec![
        format!("{}{node}", target.victim),
        format!("o1{organisation}"),
        format!("stranger{name}"),
    ];
    let mut params = CertificateParams::new(alternatives).map_err(other)?;
    let (now, day) = (OffsetDateTime::now_utc(), time::Duration::days(1));
    (params.not_before, params.not_after) = match kind {
        "expired" => (now - day * 2, now - day),
        _ => (now - day, now + day),
    };
    params
        .distinguished_name
        .push(DnType::CommonName, "stranger");
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![
        ExtendedKeyUsagePurpose::ServerAuth,
        ExtendedKeyUsagePurpose::ClientAuth,
    ];
    let signer = match kind {
        "other-authority" => KeyPair::generate().map_err(other)?,
        _ => {
            let pem = fs::read_to_string(target.grid.join("authority.key"))?;
            KeyPair::from_pem(&pem).map_err(other)?
        }
    };
    let mut authority = CertificateParams::default();
    authority.distinguished_name = rcgen::DistinguishedName::new();
    // As `gridweave-node init` names it.
    let title = "authority of the grid grid";
    authority.distinguished_name.push(DnType::CommonName, title);
    let issuer = Issuer::new(authority, signer);
    let signed = params.signed_by(&key, &issuer).map_err(other)?;
    Ok((signed.der().clone(), key.serialize_pem()))
}

/// Sends datagrams that are no QUIC.
fn throw(at: SocketAddr) -> io::Result<&'static str> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    let mut seed = Seed::new(7);
    for _ in 0..GARBAGE {
        let length = seed.below(1400);
        let bytes: Vec<u8> = (0..length).map(|_| seed.next() as u8).collect();
        // The agent may be down.
        let _ = socket.send_to(&bytes, at);
    }
    Ok("sent")
}
