//! Shares of nodes that differ: a job starts on the fastest node with room, in one of three orders (PROTOCOLS L16).

use std::cmp::Reverse;

use gridweave_core::resource::Speed;
use gridweave_core::time::Time;

use super::driver::{Floor, Policy, Running};
use super::observer::Observer;
use super::task::requirement;
use crate::grid::{Mixed, Profile, Room};
use crate::outcome::Estimates;
use crate::workload::Workload;

/// A node, and whether waiting jobs were tried on it.
#[derive(Debug)]
struct Node {
    /// Its index in the grid.
    index: u32,
    speed: Speed,
    searched: Searched,
}

/// Whether the waiting jobs were tried on a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Searched {
    /// Not since a job ended there.
    Not,
    /// None of the waiting jobs fits.
    InVain,
}

/// Which waiting job may start before others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// Any that fits.
    Any,
    /// One that was passed at least as often as the first, as on a node of P4.
    Bounded,
    /// None.
    Strict,
}

/// The waiting jobs, and the nodes from the fastest to the slowest; equally fast nodes are in the order of the grid.
#[derive(Debug)]
pub(super) struct MixedGreedy<'a> {
    workload: &'a Workload,
    estimates: Estimates,
    nodes: Vec<Node>,
    room: Room<'a>,
    order: Order,
    queue: Vec<u32>,
    arrived: Vec<u32>,
    /// How often each job was passed.
    passed: Vec<u32>,
    /// For each started job, the index of its node in `nodes`.
    held: Vec<Option<u32>>,
}

impl<'a> MixedGreedy<'a> {
    pub(super) fn new(
        mixed: &'a Mixed,
        workload: &'a Workload,
        estimates: Estimates,
        order: Order,
    ) -> Self {
        let node = |(index, profile): (u32, &Profile)| Node {
            index,
            speed: profile.speed,
            searched: Searched::Not,
        };
        let mut nodes: Vec<Node> = (0..).zip(&mixed.nodes).map(node).collect();
        nodes.sort_by_key(|node| (Reverse(node.speed), node.index));
        Self {
            workload,
            estimates,
            nodes,
            room: Room::new(mixed),
            order,
            queue: Vec::new(),
            arrived: Vec::new(),
            passed: vec![0; workload.jobs.len()],
            held: vec![None; workload.jobs.len()],
        }
    }

    /// Starts a job on the first node that is `worth` a try and has room.
    fn try_start(
        &mut self,
        job: u32,
        worth: impl Fn(&Node) -> bool,
        floor: &mut Floor<'_, impl Observer>,
    ) -> bool {
        let requirement = requirement(self.workload, job as usize);
        let room = &self.room;
        let fits = |node: &Node| room.fits(node.index as usize, &requirement);
        let fitting = self.nodes.iter().position(|node| worth(node) && fits(node));
        let Some(position) = fitting else {
            return false;
        };
        let node = &self.nodes[position];
        let taken = self.room.take(node.index as usize, &requirement);
        debug_assert!(taken, "what fits can be taken");
        self.held[job as usize] = Some(position as u32);
        let submission = &self.workload.jobs[job as usize];
        let takes = self.estimates.run_time_on(submission, node.speed);
        floor.start_on(job, node.index, takes);
        true
    }

    /// Starts jobs in order. A job that starts before others passes them.
    fn pass_in_order(&mut self, floor: &mut Floor<'_, impl Observer>) {
        let mut queue = core::mem::take(&mut self.queue);
        queue.append(&mut self.arrived);
        let mut index = 0;
        while let (Some(&job), Some(&head)) = (queue.get(index), queue.first()) {
            let may_pass = self.passed[job as usize] >= self.passed[head as usize];
            if may_pass && self.try_start(job, |_| true, floor) {
                queue.remove(index);
                for &ahead in &queue[..index] {
                    self.passed[ahead as usize] += 1;
                }
            } else if self.order == Order::Strict {
                break;
            } else {
                index += 1;
            }
        }
        self.queue = queue;
    }
}

impl Policy for MixedGreedy<'_> {
    fn end(&mut self, _: Time, ended: &Running) {
        let Some(position) = self.held[ended.job as usize] else {
            return;
        };
        let node = &mut self.nodes[position as usize];
        let requirement = requirement(self.workload, ended.job as usize);
        self.room.give_back(node.index as usize, &requirement);
        node.searched = Searched::Not;
    }

    fn arrive(&mut self, job: u32) {
        self.arrived.push(job);
    }

    fn pass(&mut self, _: Time, floor: &mut Floor<'_, impl Observer>) {
        if self.order != Order::Any {
            return self.pass_in_order(floor);
        }
        // A job that waited before fitted nowhere then, so it can fit only on a node where a job has ended since.
        if self.nodes.iter().any(|node| node.searched == Searched::Not) {
            let mut queue = core::mem::take(&mut self.queue);
            queue.retain(|&job| !self.try_start(job, |node| node.searched == Searched::Not, floor));
            self.queue = queue;
            for node in &mut self.nodes {
                node.searched = Searched::InVain;
            }
        }
        let mut arrived = core::mem::take(&mut self.arrived);
        arrived.retain(|&job| !self.try_start(job, |_| true, floor));
        self.queue.append(&mut arrived);
        self.arrived = arrived;
    }

    fn nodes(self) -> Vec<Option<u32>> {
        let index = |position: u32| self.nodes[position as usize].index;
        self.held.iter().map(|held| held.map(index)).collect()
    }
}
