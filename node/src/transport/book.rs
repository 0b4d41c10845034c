//! The addresses of nodes: given by the administrator, seen on connections, or heard from peers.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use gridweave_core::id::NodeId;
use tokio::sync::Notify;

use crate::identity::number;
use crate::settings::Introducer;

/// The most nodes in a book.
pub(super) const MOST: usize = 4096;

/// A bounded address book, shared by the tasks of the transport and the driver.
pub struct Book {
    me: NodeId,
    file: PathBuf,
    /// Told when there is something to be written.
    changed: Notify,
    inner: Mutex<Inner>,
}

struct Inner {
    pages: BTreeMap<NodeId, Page>,
    given: Vec<Introducer>,
    /// Grows with each use of the book.
    uses: u64,
    is_changed: bool,
    own: Option<SocketAddr>,
    own_ip: Option<IpAddr>,
}

#[derive(Clone, Copy, Debug)]
struct Page {
    /// From a connection with the node itself. What others say does not change it.
    seen: Option<SocketAddr>,
    /// From another node.
    heard: Option<SocketAddr>,
    used: u64,
}

impl Book {
    /// The book in this file, which need not be there.
    pub(super) fn read(
        file: &Path,
        me: NodeId,
        given: Vec<Introducer>,
        own: Option<SocketAddr>,
    ) -> Self {
        let text = fs::read_to_string(file).unwrap_or_default();
        let mut pages = BTreeMap::new();
        for line in text.lines().take(MOST) {
            let mut words = line.split(' ');
            let node = words.next().and_then(|node| number(node, 'n'));
            let address = words.next().and_then(|address| address.parse().ok());
            if let (Some(node), Some(address)) = (node, address) {
                let page = Page {
                    seen: Some(address),
                    heard: None,
                    used: 0,
                };
                pages.insert(NodeId::new(node), page);
            }
        }
        Self {
            me,
            file: file.to_owned(),
            changed: Notify::new(),
            inner: Mutex::new(Inner {
                pages,
                given,
                uses: 0,
                is_changed: false,
                own,
                own_ip: None,
            }),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The node is at the other end of a connection to this address.
    pub(super) fn saw(&self, node: NodeId, address: SocketAddr) {
        let mut inner = self.inner();
        inner.note(self.me, node, |page| {
            page.seen.replace(address) != Some(address)
        });
        if inner.is_changed {
            self.changed.notify_one();
        }
    }

    /// Waits until there is something to be written.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Another node says so. It does not replace what was seen.
    pub(super) fn heard(&self, node: NodeId, address: SocketAddr) {
        if address.port() == 0 || address.ip().is_unspecified() || address.ip().is_multicast() {
            return;
        }
        self.inner().note(self.me, node, |page| {
            page.heard = Some(address);
            // It is not kept over a restart.
            false
        });
    }

    /// The local address of a connection.
    pub(super) fn is_at(&self, own: IpAddr) {
        self.inner().own_ip = Some(own.to_canonical());
    }

    /// Where to try to reach a node, the likeliest address first.
    pub(super) fn addresses(&self, node: NodeId) -> (Vec<SocketAddr>, Vec<String>) {
        let mut inner = self.inner();
        inner.uses = inner.uses.saturating_add(1);
        let uses = inner.uses;
        let mut known = Vec::new();
        if let Some(page) = inner.pages.get_mut(&node) {
            page.used = uses;
            known.extend([page.seen, page.heard].into_iter().flatten());
        }
        known.dedup();
        let given = inner.given.iter().filter(|given| given.node == node);
        (known, given.map(|given| given.address.clone()).collect())
    }

    /// The address of a node that others are told.
    pub(super) fn told(&self, node: NodeId) -> Option<SocketAddr> {
        let inner = self.inner();
        if node == self.me {
            return inner.own;
        }
        match inner.pages.get(&node) {
            Some(page) => page.seen.or(page.heard),
            None => {
                let given = inner.given.iter().find(|given| given.node == node)?;
                given.address.parse().ok()
            }
        }
    }

    /// The network address of a node without the port, for programs.
    pub(super) fn host_of(&self, node: NodeId) -> Option<String> {
        let own = || {
            let inner = self.inner();
            inner.own.map(|own| own.ip()).or(inner.own_ip)
        };
        let ip = match node == self.me {
            true => own()?,
            false => self.told(node)?.ip(),
        };
        Some(ip.to_string())
    }

    /// Nodes that were seen, the last used ones first: those through which to join after a restart.
    pub fn acquaintances(&self) -> Vec<NodeId> {
        let inner = self.inner();
        let seen = inner.pages.iter().filter(|(_, page)| page.seen.is_some());
        let mut seen: Vec<_> = seen.map(|(node, page)| (page.used, *node)).collect();
        seen.sort_unstable();
        seen.into_iter().rev().map(|(_, node)| node).collect()
    }

    /// How many nodes it has.
    pub(super) fn len(&self) -> usize {
        self.inner().pages.len()
    }

    /// Writes what was seen, if that has changed.
    pub(super) fn save(&self) -> io::Result<()> {
        let mut inner = self.inner();
        if !inner.is_changed {
            return Ok(());
        }
        let mut text = String::new();
        for (node, page) in &inner.pages {
            if let Some(seen) = page.seen {
                text.push_str(&format!("{node} {seen}\n"));
            }
        }
        let draft = self.file.with_extension("draft");
        fs::write(&draft, text)?;
        fs::rename(draft, &self.file)?;
        inner.is_changed = false;
        Ok(())
    }
}

impl Inner {
    fn note(&mut self, me: NodeId, node: NodeId, change: impl FnOnce(&mut Page) -> bool) {
        if node == me {
            return;
        }
        self.uses = self.uses.saturating_add(1);
        if !self.pages.contains_key(&node) && self.pages.len() >= MOST {
            // First those that were only heard of, and of these the one not used for longest.
            let rank = |(node, page): (&NodeId, &Page)| (page.seen.is_some(), page.used, *node);
            if let Some((_, _, oldest)) = self.pages.iter().map(rank).min() {
                self.pages.remove(&oldest);
            }
        }
        let page = self.pages.entry(node).or_insert(Page {
            seen: None,
            heard: None,
            used: 0,
        });
        page.used = self.uses;
        self.is_changed |= change(page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(file: &Path) -> Book {
        let given = vec!["n9@example.org:1".to_owned().try_into().unwrap()];
        Book::read(file, NodeId::new(1), given, None)
    }

    fn at(port: u16) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 1], port))
    }

    #[test]
    fn what_a_peer_says_does_not_replace_what_was_seen() {
        let folder = tempfile::tempdir().unwrap();
        let book = book(&folder.path().join("addresses"));
        let node = NodeId::new(2);
        book.heard(node, at(5));
        assert_eq!(book.told(node), Some(at(5)));
        book.saw(node, at(6));
        book.heard(node, at(7));
        assert_eq!(book.told(node), Some(at(6)));
        assert_eq!(book.addresses(node).0, [at(6), at(7)]);
        assert_eq!(book.addresses(NodeId::new(9)).1, ["example.org:1"]);
        book.heard(NodeId::new(1), at(5));
        assert_eq!(
            book.told(NodeId::new(1)),
            None,
            "no peer says where this node is"
        );
    }

    #[test]
    fn a_full_book_forgets_what_was_only_heard_of() {
        let folder = tempfile::tempdir().unwrap();
        let book = book(&folder.path().join("addresses"));
        book.saw(NodeId::new(2), at(2));
        for node in 10..10 + 2 * MOST as u64 {
            book.heard(NodeId::new(node), at(3));
        }
        assert_eq!(book.len(), MOST);
        assert_eq!(book.told(NodeId::new(2)), Some(at(2)));
    }

    #[test]
    fn what_was_seen_is_known_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("addresses");
        let first = book(&file);
        first.saw(NodeId::new(2), at(2));
        first.heard(NodeId::new(3), at(3));
        first.save().unwrap();
        let second = book(&file);
        assert_eq!(second.acquaintances(), [NodeId::new(2)]);
        assert_eq!(second.told(NodeId::new(2)), Some(at(2)));
        assert_eq!(second.told(NodeId::new(3)), None);
        fs::write(&file, "n2\nnonsense n n\nn4 10.0.0.1:4\n").unwrap();
        assert_eq!(book(&file).acquaintances(), [NodeId::new(4)]);
    }
}
