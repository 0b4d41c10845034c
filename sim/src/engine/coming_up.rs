//! Which nodes are still to come up.

use std::collections::BTreeMap;

/// How often each node is still to come up, those left out that begin at once.
#[derive(Default, Debug)]
pub(super) struct ComingUp(BTreeMap<u32, u32>);

impl ComingUp {
    pub(super) fn add(&mut self, node: u32) {
        *self.0.entry(node).or_default() += 1;
    }

    /// A node comes up once.
    pub(super) fn take(&mut self, node: u32) {
        if let Some(times) = self.0.get_mut(&node) {
            *times -= 1;
            if *times == 0 {
                self.0.remove(&node);
            }
        }
    }

    pub(super) fn contains(&self, node: u32) -> bool {
        self.0.contains_key(&node)
    }
}
