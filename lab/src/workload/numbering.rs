//! Numbers for names.

use std::collections::HashMap;

/// Numbers names from 0 in the order of their first appearance.
#[derive(Default)]
pub(super) struct Numbering {
    numbers: HashMap<Box<[u8]>, u32>,
}

impl Numbering {
    /// The number of a name; `None` if the name stands for unknown.
    pub(super) fn number(&mut self, name: &[u8]) -> Option<u32> {
        if name.is_empty() || name == b"-1" {
            return None;
        }
        if let Some(&number) = self.numbers.get(name) {
            return Some(number);
        }
        let number = u32::try_from(self.numbers.len()).ok()?;
        self.numbers.insert(name.into(), number);
        Some(number)
    }
}
