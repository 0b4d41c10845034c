use std::fs;

use gridweave_core::id::OrganisationId;

use super::*;
use crate::driver::{Inbox, Input};
use crate::identity::{Authority, NewNode};

const MOST: usize = 100_000;

/// A node that listens, with a folder that goes when it does.
struct Node {
    id: NodeId,
    address: SocketAddr,
    post: Post,
    inbox: Inbox,
    metrics: Arc<Metrics>,
    peers: Box<dyn Fn() -> Value>,
    _folder: tempfile::TempDir,
}

fn node(authority: &Authority, name: &str, introducer: Option<&Node>) -> Node {
    let folder = tempfile::tempdir().unwrap();
    let organisation = OrganisationId::new(4);
    let days = 10;
    let issued = authority.issue(&NewNode {
        name,
        organisation,
        days,
    });
    let issued = issued.unwrap();
    for (file, text) in [
        ("node.pem", issued.certificate_pem.as_str()),
        ("node.key", issued.key_pem.as_str()),
        ("authority.pem", authority.certificate_pem()),
    ] {
        fs::write(folder.path().join(file), text).unwrap();
    }
    let given = introducer.map(|node| format!("{}@{}", node.id, node.address));
    let network = Network {
        listen: "127.0.0.1:0".parse().unwrap(),
        introducers: given
            .into_iter()
            .map(|given| given.try_into().unwrap())
            .collect(),
        ..Network::default()
    };
    let credentials = Credentials::read(folder.path()).unwrap();
    let (inputs, inbox) = Inputs::new();
    let metrics = Arc::new(Metrics::default());
    let (transport, post) = Transport::listen(Plan {
        folder: folder.path(),
        network: &network,
        credentials: &credentials,
        most_frame: MOST,
        metrics: metrics.clone(),
        inputs,
        clock_offset: 0,
    })
    .unwrap();
    let node = Node {
        id: issued.identity.node,
        address: transport.address().unwrap(),
        post,
        inbox,
        metrics,
        peers: Box::new(transport.peers()),
        _folder: folder,
    };
    tokio::spawn(transport.run());
    node
}

fn run(test: impl Future<Output = ()>) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap().block_on(test);
}

/// The messages that come until there are so many.
async fn hear(node: &Node, count: usize) -> Vec<(NodeId, Vec<u8>)> {
    let mut heard = Vec::new();
    for _ in 0..500 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        for input in node.inbox.take(Duration::ZERO, 1000).unwrap() {
            if let Input::Frame {
                from,
                organisation,
                bytes,
            } = input
            {
                assert_eq!(organisation.get(), 4);
                heard.push((from, bytes));
            }
        }
        if heard.len() >= count {
            break;
        }
    }
    heard
}

#[test]
fn messages_go_both_ways_and_come_from_the_node_in_the_certificate() {
    run(async {
        let authority = Authority::new("grid", 10).unwrap();
        let mut alpha = node(&authority, "alpha", None);
        let mut beta = node(&authority, "beta", Some(&alpha));
        beta.post.send(alpha.id, b"hello".to_vec(), &[]);
        assert_eq!(hear(&alpha, 1).await, [(beta.id, b"hello".to_vec())]);
        // Alpha has learned where beta is.
        for number in 0..100 {
            alpha.post.send(beta.id, vec![number; 1000], &[]);
        }
        let mut heard = hear(&beta, 100).await;
        heard.sort();
        let expected: Vec<_> = (0..100)
            .map(|number| (alpha.id, vec![number; 1000]))
            .collect();
        assert_eq!(heard, expected);
        for node in [&alpha, &beta] {
            assert_eq!((node.peers)().as_array().unwrap().len(), 1);
        }
    });
}

#[test]
fn nodes_that_are_mentioned_can_be_reached() {
    run(async {
        let authority = Authority::new("grid", 10).unwrap();
        let alpha = node(&authority, "alpha", None);
        let mut beta = node(&authority, "beta", Some(&alpha));
        let mut gamma = node(&authority, "gamma", Some(&alpha));
        gamma.post.send(alpha.id, b"here".to_vec(), &[]);
        assert_eq!(hear(&alpha, 1).await.len(), 1);
        // Beta does not know where gamma is, and alpha does.
        assert_eq!(beta.post.host_of(gamma.id), None);
        beta.post.send(alpha.id, b"where".to_vec(), &[gamma.id]);
        assert_eq!(hear(&alpha, 1).await.len(), 1);
        let mut alpha = alpha;
        alpha.post.send(beta.id, b"there".to_vec(), &[gamma.id]);
        assert_eq!(hear(&beta, 1).await.len(), 1);
        assert_eq!(beta.post.host_of(gamma.id), Some("127.0.0.1".to_owned()));
        beta.post.send(gamma.id, b"found".to_vec(), &[]);
        assert_eq!(hear(&gamma, 1).await, [(beta.id, b"found".to_vec())]);
    });
}

#[test]
fn the_largest_message_arrives_and_a_larger_one_is_dropped() {
    run(async {
        let authority = Authority::new("grid", 10).unwrap();
        let alpha = node(&authority, "alpha", None);
        let mut beta = node(&authority, "beta", Some(&alpha));
        let largest = vec![7; MOST];
        beta.post.send(alpha.id, largest.clone(), &[]);
        assert_eq!(hear(&alpha, 1).await, [(beta.id, largest)]);
        beta.post
            .send(alpha.id, vec![8; MOST + envelope::MOST_HEADER], &[]);
        beta.post.send(alpha.id, b"next".to_vec(), &[]);
        assert_eq!(hear(&alpha, 1).await, [(beta.id, b"next".to_vec())]);
        // Each message has a stream of its own, so the next one may overtake the one that is dropped.
        let dropped = || alpha.metrics.count("dropped", "not a message");
        for _ in 0..500 {
            if dropped() == 1 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(dropped(), 1);
    });
}

#[test]
fn a_node_that_cannot_be_reached_is_reported() {
    run(async {
        let authority = Authority::new("grid", 10).unwrap();
        let mut alpha = node(&authority, "alpha", None);
        let unknown = NodeId::new(1);
        alpha.post.send(unknown, b"hello".to_vec(), &[]);
        tokio::time::sleep(Duration::from_millis(100)).await;
        let inputs = alpha.inbox.take(Duration::ZERO, 10).unwrap();
        assert!(matches!(inputs[..], [Input::Unreachable(to)] if to == unknown));
        assert_eq!(alpha.metrics.count("dropped", "the peer is not reached"), 1);
    });
}

#[test]
fn one_peer_has_only_a_few_connections_and_they_are_its_newest() {
    run(async {
        let authority = Authority::new("grid", 10).unwrap();
        let alpha = node(&authority, "alpha", None);
        let beta = node(&authority, "beta", Some(&alpha));
        let name = crate::identity::dns_name(alpha.id);
        let mut opened = Vec::new();
        for _ in 0..20 {
            let connecting = beta.post.shared.endpoint.connect(alpha.address, &name);
            opened.push(connecting.unwrap().await.unwrap());
        }
        let is_open = |connection: &Connection| connection.close_reason().is_none();
        for _ in 0..500 {
            if opened.iter().filter(|one| is_open(one)).count() <= MOST_OF_A_PEER {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let left: Vec<bool> = opened.iter().map(is_open).collect();
        let closed = opened.len() - MOST_OF_A_PEER;
        let expected: Vec<bool> = (0..opened.len()).map(|number| number >= closed).collect();
        assert_eq!(left, expected);
    });
}
