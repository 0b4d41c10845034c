//! Nodes that crash, leave and come back.

use gridweave_core::id::NodeId;
use gridweave_core::job::Command;
use gridweave_core::time::{Span, Time};

use super::{Host, OFTEN, Todo};
use crate::torture::fault::Fault;
use crate::torture::scenario::{Mishap, STALE};
use crate::torture::site::ForeignSite;
use crate::torture::subject::parts;

impl Host<'_> {
    pub(super) fn go_wrong(&mut self, number: usize) {
        let (at, node, mishap) = self.scenario.mishaps[number];
        if self.gone.contains(&node) {
            return;
        }
        match mishap {
            Mishap::Crash(down) => {
                self.down_for.insert(node, down);
                self.host.grid.crash(at, node);
            }
            Mishap::Doom(effects, down) => {
                self.down_for.insert(node, down);
                self.host.grid.crash_after(at, node, effects);
            }
            Mishap::Gone => {
                self.gone.insert(node);
                self.host.watch.gone(node);
                self.witness.count(Fault::DiskLoss.name());
                self.host.grid.crash(at, node);
            }
            Mishap::Leave => {
                self.leaving.insert(node);
                if self.is_up(node) {
                    self.tell(node, Command::Leave);
                }
                self.todo
                    .insert((self.host.now + OFTEN, Todo::Depart(node)));
            }
            Mishap::Drain(until) => {
                if self.is_up(node) && self.draining.insert(node) {
                    self.tell(node, Command::Drain);
                    let until = (at + until).min(self.scenario.calm.max(at));
                    self.todo.insert((until, Todo::Resume(node)));
                }
            }
        }
    }

    /// Lets a drained node take jobs again. If it says that it is drained by now, nothing may run there but what a foreign
    /// site still stops, which its host sees.
    pub(super) fn resume(&mut self, node: NodeId) {
        if self.gone.contains(&node) {
            return;
        }
        if !self.is_up(node) {
            return self.later(Todo::Resume(node));
        }
        let site = self.sites.get(&node);
        let is_stopping = site.is_some_and(ForeignSite::is_stopping);
        if self.host.grid.is_drained(node) && !is_stopping {
            self.witness.count(Fault::Drain.name());
            self.host.watch.drained(self.host.now, node);
        }
        self.draining.remove(&node);
        self.tell(node, Command::Resume);
    }

    /// Does what an operator has to do if parts of a grid know nothing of each other: names a node of one to another.
    pub(super) fn introduce_parts(&mut self) {
        let up = self.all().filter(|node| self.is_up(*node));
        let contacts = up.filter_map(|node| Some((node, self.host.grid.contacts(node)?)));
        let parts = parts(&contacts.collect());
        for pair in parts.windows(2) {
            self.witness
                .count("an operator introduces two parts of a grid");
            self.tell(pair[0], Command::Meet(pair[1]));
        }
    }

    pub(super) fn depart(&mut self, node: NodeId) {
        if self.gone.contains(&node) {
            return;
        }
        if self.is_up(node) && self.host.grid.may_go(node) {
            self.host.watch.departs(self.host.now, node);
            self.gone.insert(node);
            self.host.watch.gone(node);
            self.witness.count("churn: a node left for good");
            self.host.grid.crash(self.host.now, node);
        } else {
            self.todo
                .insert((self.host.now + OFTEN, Todo::Depart(node)));
        }
    }

    pub(super) fn went_down(&mut self, at: Time, node: NodeId) {
        self.witness.line(at, &node, format_args!("goes down"));
        // A node that comes up again is told anew what it is to run.
        self.assigned.retain(|(by, ..)| *by != node);
        // Half of the crashes take the jobs of the node with them, and all that are for good.
        let alone = !self.gone.contains(&node) && self.scenario.crashes_alone(node, at);
        if self.sites.contains_key(&node) {
            // The site goes on without its node.
            self.host.watch.lost_its_machine(at, node);
        } else if alone {
            let survive = self.host.outlive(at, node, self.scenario.clock(node));
            self.witness
                .add("job: goes on without its machine", survive as u64);
        } else {
            let interrupted = self.host.watch.crashed(at, node);
            let interrupted = interrupted.len() as u64;
            self.witness.add("job: interrupted by a crash", interrupted);
        }
        if self.gone.contains(&node) {
            return;
        }
        let down = self.down_for.remove(&node).unwrap_or(Span::from_secs(1));
        let up = (at + down).min(self.scenario.calm.max(at + Span::from_secs(1)));
        if up - at >= STALE {
            self.witness.count(Fault::Stale.name());
        } else {
            self.witness.count(Fault::Crash.name());
        }
        self.todo.insert((up, Todo::ComeUp(node)));
    }

    /// Repeats what the node may have missed when it went down. It must remember the jobs that it accepted.
    pub(super) fn came_up(&mut self, at: Time, node: NodeId) {
        if at == Time::ZERO {
            return;
        }
        if self.is_up(node) {
            self.host.joined(node);
        }
        if let Some(site) = self.sites.get_mut(&node) {
            site.restart_host(at);
        }
        if node.get() >= u64::from(self.scenario.nodes + self.scenario.replacements) {
            self.witness.count(Fault::Churn.name());
        }
        if self.leaving.contains(&node) && !self.gone.contains(&node) {
            self.tell(node, Command::Leave);
        }
        // What a node says while it comes up is heard first, also if it is made durable a little later.
        let at = match self.scenario.request.group_commit {
            true => at + Span::from_millis(1),
            false => at,
        };
        for number in 0..self.jobs.len() {
            let hosted = &self.jobs[number];
            if hosted.home != Some(node) || self.host.watch.last_word(number).is_some() {
                continue;
            }
            if !hosted.accepted {
                self.todo.insert((at, Todo::Submit(number)));
            }
            if hosted.unwanted {
                self.todo.insert((at, Todo::Cancel(number)));
            }
        }
    }
}
