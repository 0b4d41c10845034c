//! Strangers: no certificate, another authority, an expired certificate, another node's id, garbage, handshakes that
//! never end. They are refused and counted, and the grid goes on.

#![allow(missing_docs, unused_crate_dependencies)]

mod grid;

use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use grid::{Grid, TIMES};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Endpoint};
use rustls::RootCertStore;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// How often an agent has counted this.
fn count(grid: &Grid, node: usize, line: &str) -> u64 {
    let figures = grid.answer(node, &["figures"]);
    let figures = figures.as_str().unwrap().to_owned();
    let found = figures.lines().find_map(|found| found.strip_prefix(line));
    found.map_or(0, |number| number.trim().parse().unwrap())
}

fn refused(why: &str) -> String {
    format!("gridweave_peers_refused_total{{reason=\"{why}\"}}")
}

/// The processor time that a process has had, in seconds.
fn seconds(process: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, behind) = text.rsplit_once(") ").unwrap();
    let ticks = behind.split(' ').skip(11).take(2);
    ticks
        .map(|ticks| ticks.parse::<f64>().unwrap() / 100.0)
        .sum()
}

fn goes_on(grid: &Grid) {
    let job = grid.submit(0, &["--time", "5s", "--nodes", "2"], "true");
    let row = grid.end_of(0, &job);
    assert_eq!(row["phase"], "done", "{row}");
}

/// A client without a certificate of its own, which trusts the authority of the grid.
fn client(grid: &Grid) -> Endpoint {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_file(grid.path("grid/authority.pem")).unwrap();
    roots.add(authority).unwrap();
    let mut config = rustls::ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"gridweave/1".to_vec()];
    let config = QuicClientConfig::try_from(config).unwrap();
    let mut endpoint = Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    endpoint.set_default_client_config(ClientConfig::new(Arc::new(config)));
    endpoint
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

fn address(grid: &Grid, node: usize) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], grid.port(node)))
}

#[test]
fn nodes_without_a_valid_certificate_are_refused_and_counted() {
    let mut grid = Grid::new(2, TIMES);
    // Of another authority.
    grid.run(&["init", "other"]);
    let introducer = format!("{}@{}", grid.id(0), address(&grid, 0));
    let stranger = ["invite", "other", "stranger", "--output", "stranger"];
    let listens = ["--listen", "127.0.0.1:0", "--introducer", &introducer];
    grid.run(&[&stranger[..], &listens[..]].concat());
    // It knows the authority of the grid, and has a certificate of another one.
    fs::copy(
        grid.path("grid/authority.pem"),
        grid.path("stranger/authority.pem"),
    )
    .unwrap();
    grid.adopt("stranger");
    grid.start(2);
    grid.wait("it is refused", |grid| {
        count(grid, 0, &refused("certificate of another authority")) > 0
    });
    assert_eq!(grid.answer(0, &["peers"]).as_array().unwrap().len(), 1);

    // Expired.
    grid.invite(&["--days", "0"]);
    grid.start(3);
    grid.wait("it is refused", |grid| {
        count(grid, 0, &refused("expired certificate")) > 0
    });

    // The introducer of this one has another id than it was told.
    let wrong = format!("n7@{}", address(&grid, 0));
    grid.invite_through(&wrong);
    grid.start(4);
    grid.wait("it does not take one node for another", |grid| {
        count(grid, 4, &refused("certificate of another node")) > 0
    });

    // No certificate at all.
    let address = address(&grid, 0);
    let name = format!("{}.node.gridweave", grid.id(0));
    runtime().block_on(async {
        let client = client(&grid);
        // The client believes to be connected until the other side has looked at its certificate.
        if let Ok(connection) = client.connect(address, &name).unwrap().await {
            connection.closed().await;
        }
    });
    grid.wait("it is refused", |grid| {
        count(grid, 0, &refused("no certificate")) > 0
    });
    assert_eq!(grid.answer(0, &["peers"]).as_array().unwrap().len(), 1);
    goes_on(&grid);
}

#[test]
fn garbage_and_handshakes_that_never_end_do_no_harm() {
    // `GRIDWEAVE_HANDSHAKES=10000 cargo test -p gridweave-node --test strangers garbage -- --nocapture` tells what they cost.
    let asked = std::env::var("GRIDWEAVE_HANDSHAKES").ok();
    let handshakes = asked.and_then(|asked| asked.parse().ok()).unwrap_or(1000);
    let grid = Grid::new(2, TIMES);
    let to = address(&grid, 0);
    let before = seconds(grid.process(0));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut state = 1_u64;
    for length in 0..1000 {
        let mut bytes = vec![0; length];
        for byte in &mut bytes {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            *byte = (state >> 56) as u8;
        }
        socket.send_to(&bytes, to).unwrap();
    }
    // What a client says first reaches the agent, and no answer reaches the client.
    let wall = UdpSocket::bind("127.0.0.1:0").unwrap();
    let seen = wall.local_addr().unwrap();
    wall.set_read_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    let forwarding = std::thread::spawn(move || {
        let mut room = [0; 2000];
        while let Ok((length, from)) = wall.recv_from(&mut room) {
            if from != to {
                wall.send_to(&room[..length], to).unwrap();
            }
        }
    });
    let name = format!("{}.node.gridweave", grid.id(0));
    runtime().block_on(async {
        let client = client(&grid);
        let mut open = Vec::new();
        for _ in 0..handshakes {
            open.push(client.connect(seen, &name).unwrap());
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
        client.close(0_u32.into(), b"");
    });
    goes_on(&grid);
    forwarding.join().unwrap();
    let spent = seconds(grid.process(0)) - before;
    let proof = count(&grid, 0, &refused("asked for proof of its address"));
    assert!(proof > 0, "most have to prove their addresses");
    grid.wait("those that began are given up", |grid| {
        count(grid, 0, &refused("the handshake took too long"))
            + count(grid, 0, &refused("the peer ended the handshake"))
            > 0
    });
    let memory = fs::read_to_string(format!("/proc/{}/status", grid.process(0))).unwrap();
    let line = memory
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    println!("| half-open handshakes | most memory, kB | CPU-seconds |\n|---:|---:|---:|");
    println!("| {handshakes} | {kilobytes} | {spent:.2} |");
    assert!(kilobytes < 96 << 10, "at most {kilobytes} kB");
    goes_on(&grid);
}

#[test]
fn bad_input_is_answered_with_one_line_and_exit_2() {
    let grid = Grid::empty("");
    for words in [
        &["no-such-command"][..],
        &["submit"],
        &["submit", "--time", "soon", "--", "true"],
        &["--folder", "nowhere", "run"],
        &["--folder", "nowhere", "check"],
        &["--folder", "nowhere", "status"],
        &["invite", "nowhere", "alpha", "--output", "alpha"],
        &["invite", "grid", "Not A Name", "--output", "alpha"],
        &[
            "invite",
            "grid",
            "alpha",
            "--output",
            "alpha",
            "--introducer",
            "7",
        ],
        &["init", "grid"],
    ] {
        let output = grid.call(words);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {told}");
        assert_eq!(told.lines().count(), 1, "{words:?}: {told}");
        assert!(told.starts_with("error: "), "{words:?}: {told}");
    }
}
