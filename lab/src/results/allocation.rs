//! The nodes of a job, as a set of intervals.

use std::collections::BTreeMap;
use std::fmt;

use gridweave_core::time::Time;

use crate::outcome::Outcome;
use crate::run::{Placement, Run};
use crate::workload::Workload;

/// A set of node ids as intervals, printed as Batsim does: `0-3 7`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NodeSet(Vec<(u32, u32)>);

impl NodeSet {
    /// The set of these ids.
    pub fn of(numbers: &[u32]) -> Self {
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let mut set: Vec<(u32, u32)> = Vec::new();
        for number in sorted {
            match set.last_mut() {
                Some((_, last)) if number.checked_sub(1) == Some(*last) => *last = number,
                _ => set.push((number, number)),
            }
        }
        Self(set)
    }

    /// The intervals, in order; both ends are in the set.
    pub fn intervals(&self) -> &[(u32, u32)] {
        &self.0
    }
}

impl fmt::Display for NodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (first, last)) in self.0.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            if first == last {
                write!(f, "{space}{first}")?;
            } else {
                write!(f, "{space}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

/// The free nodes of a grid: intervals, by their first id.
struct Free(BTreeMap<u32, u32>);

impl Free {
    /// Takes the lowest free nodes, or all if there are too few.
    fn take(&mut self, mut count: u32) -> NodeSet {
        let mut taken = Vec::new();
        while count > 0
            && let Some((first, last)) = self.0.pop_first()
        {
            let size = last - first + 1;
            if size > count {
                self.0.insert(first + count, last);
                taken.push((first, first + count - 1));
                count = 0;
            } else {
                taken.push((first, last));
                count -= size;
            }
        }
        NodeSet(taken)
    }

    fn give_back(&mut self, set: &NodeSet) {
        for &(mut first, mut last) in &set.0 {
            if let Some((&before, &end)) = self.0.range(..first).next_back()
                && end + 1 == first
            {
                self.0.remove(&before);
                first = before;
            }
            if let Some(end) = last.checked_add(1).and_then(|after| self.0.remove(&after)) {
                last = end;
            }
            self.0.insert(first, last);
        }
    }
}

/// The nodes of each job, in the order of the workload.
///
/// If the scheduler only counted nodes, each job gets the lowest free nodes at its start. At one instant, ends come
/// first, then starts in the order of the workload.
pub fn allocations(run: &Run, workload: &Workload, nodes: u32) -> Vec<NodeSet> {
    match &run.placement {
        Placement::Assigned(nodes) => nodes.iter().map(|nodes| NodeSet::of(nodes)).collect(),
        Placement::Interchangeable => replay(run, workload, nodes),
    }
}

fn replay(run: &Run, workload: &Workload, nodes: u32) -> Vec<NodeSet> {
    let mut sets = vec![NodeSet::default(); run.outcomes.len()];
    // Ends sort before starts of the same time.
    let mut changes: Vec<(Time, bool, usize)> = Vec::new();
    for (job, outcome) in run.outcomes.iter().enumerate() {
        let (start, end) = match *outcome {
            Outcome::Ran { start, end, .. } => (start, Some(end)),
            Outcome::Unfinished { start: Some(start) } => (start, None),
            _ => continue,
        };
        changes.push((start, true, job));
        changes.extend(end.map(|end| (end, false, job)));
    }
    changes.sort_unstable();
    let mut free = Free(BTreeMap::new());
    if let Some(last) = nodes.checked_sub(1) {
        free.0.insert(0, last);
    }
    for (_, starts, job) in changes {
        if starts {
            sets[job] = free.take(workload.jobs[job].processors);
        } else {
            free.give_back(&sets[job]);
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_prints_as_intervals() {
        assert_eq!(NodeSet::of(&[7, 0, 2, 1, 3, 7]).to_string(), "0-3 7");
        assert_eq!(NodeSet::of(&[]).to_string(), "");
        assert_eq!(NodeSet::of(&[u32::MAX, 0]).to_string(), "0 4294967295");
    }

    #[test]
    fn the_lowest_free_nodes_are_taken_and_neighbours_merge() {
        let mut free = Free(BTreeMap::from([(0, 9)]));
        let [a, b, c] = [3, 2, 3].map(|count| free.take(count));
        assert_eq!([&a, &b, &c].map(NodeSet::to_string), ["0-2", "3-4", "5-7"]);
        free.give_back(&a);
        free.give_back(&c);
        let d = free.take(5);
        assert_eq!(d.to_string(), "0-2 5-6");
        free.give_back(&b);
        free.give_back(&d);
        assert_eq!(free.0, BTreeMap::from([(0, 9)]));
    }
}
