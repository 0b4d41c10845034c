//! How a node is, as its neighbours know it.

use alloc::vec::Vec;

use super::Desktop;
use crate::id::NodeId;
use crate::machine::{Context, Event};
use crate::overlay::can;
use crate::queue::BackfillQueue;
use crate::resource::{Capability, Dimension, Dimensions, Kind, Requirement, Speed};
use crate::shared::Shared;

/// How a node is: what its neighbours know of it, as fresh as its last heartbeat.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Status {
    /// What it has.
    pub total: Capability,
    /// What it has left while it runs what it runs.
    pub free: Capability,
    /// What those need together that wait.
    pub waiting: Capability,
    /// How many wait.
    pub queue_len: u32,
    /// How many run.
    pub running: u32,
    /// How often the first of those that wait was passed: P4's NBC.
    pub head_passed: u32,
    /// How fast it is.
    pub speed: Speed,
}

impl Status {
    /// How a queue is.
    pub(super) fn of(queue: &BackfillQueue, speed: Speed) -> Self {
        let pool = queue.pool();
        let mut waiting = Capability::none();
        for job in queue.waiting() {
            waiting = plus(pool.dimensions(), waiting, &job.requirement);
        }
        Self {
            total: *pool.total(),
            free: *pool.free(),
            waiting,
            queue_len: count(queue.waiting().len()),
            running: count(queue.running().len()),
            head_passed: queue.head_passed(),
            speed,
        }
    }

    /// Whether this can be: nobody has more than there is, nor more left than it has.
    pub(super) fn is_possible(&self, dimensions: &Dimensions, most: &Capability) -> bool {
        dimensions.iter().all(|(k, _, kind)| {
            let (free, total) = (self.free.value(k), self.total.value(k));
            let left = match kind {
                Kind::Amount => free <= total,
                Kind::Level | Kind::Category => free == total,
            };
            left && total <= most.value(k)
        })
    }

    /// Whether it runs nothing and nothing waits.
    pub const fn is_free(&self) -> bool {
        self.running == 0 && self.queue_len == 0
    }

    /// The same with another job, which starts if it can.
    pub(super) fn with(mut self, dimensions: &Dimensions, needs: &Requirement) -> Self {
        if self.queue_len == 0 && dimensions.matches(&self.free, needs) {
            for k in dimensions.amounts() {
                let left = self
                    .free
                    .value(k)
                    .saturating_sub(needs.value(k).unwrap_or(0));
                self.free = self.free.with(k, left);
            }
            self.running = self.running.saturating_add(1);
        } else {
            self.waiting = plus(dimensions, self.waiting, needs);
            self.queue_len = self.queue_len.saturating_add(1);
        }
        self
    }

    /// How much of an amount those jobs want that run or wait.
    pub(super) fn required(&self, of: Dimension) -> u64 {
        let used = self.total.value(of).saturating_sub(self.free.value(of));
        used.saturating_add(self.waiting.value(of))
    }

    /// How much of the resource of which most is wanted would be wanted with another job, by those that run or wait together: in parts
    /// of 2^16 of what there is.
    pub(super) fn share_with(&self, dimensions: &Dimensions, needs: &Requirement) -> u64 {
        let parts = dimensions.amounts().map(|k| {
            let more = needs.value(k).unwrap_or(0);
            let wanted = self.required(k).saturating_add(more);
            let part = (u128::from(wanted) << 16_u32).checked_div(u128::from(self.total.value(k)));
            u64::try_from(part.unwrap_or(0)).unwrap_or(u64::MAX)
        });
        parts.max().unwrap_or(0)
    }

    /// P4's normalised load, formula (5): what waits, by what there is, of the resource of which most is wanted.
    pub(super) fn load(&self, dimensions: &Dimensions) -> f64 {
        normalised(dimensions, &self.total, &self.waiting)
    }

    /// The same if these needs came to those that wait.
    pub(super) fn load_with(&self, dimensions: &Dimensions, needs: &Requirement) -> f64 {
        normalised(
            dimensions,
            &self.total,
            &plus(dimensions, self.waiting, needs),
        )
    }

    /// The same if these needs were gone from those that wait.
    pub(super) fn load_without(&self, dimensions: &Dimensions, needs: &Requirement) -> f64 {
        let mut waiting = self.waiting;
        for k in dimensions.amounts() {
            let left = waiting.value(k).saturating_sub(needs.value(k).unwrap_or(0));
            waiting = waiting.with(k, left);
        }
        normalised(dimensions, &self.total, &waiting)
    }

    /// Whether another node has at least as much of everything.
    pub(super) fn is_within(&self, dimensions: &Dimensions, other: &Capability) -> bool {
        dimensions
            .iter()
            .all(|(k, ..)| self.total.value(k) <= other.value(k))
    }
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

fn plus(dimensions: &Dimensions, mut sum: Capability, needs: &Requirement) -> Capability {
    for k in dimensions.amounts() {
        let more = sum.value(k).saturating_add(needs.value(k).unwrap_or(0));
        sum = sum.with(k, more);
    }
    sum
}

fn normalised(dimensions: &Dimensions, total: &Capability, waiting: &Capability) -> f64 {
    let parts = dimensions.amounts().map(|k| match total.value(k) {
        0 => 0.0,
        whole => waiting.value(k) as f64 / whole as f64,
    });
    parts.fold(0.0, f64::max)
}

impl<const D: usize> Desktop<D> {
    /// How this node is.
    pub(super) fn status(&mut self) -> Shared<Status> {
        fresh(&mut self.status, &self.queue, self.speed).clone()
    }

    /// The queue has changed.
    pub(super) fn touch(&mut self) {
        self.status = None;
        self.load = None;
    }

    /// Its load, for the overlay.
    fn load(&mut self) -> can::Load {
        if let Some(load) = self.load {
            return load;
        }
        let status = fresh(&mut self.status, &self.queue, self.speed).get();
        let one = |count: u64| count.saturating_mul(can::Load::ONE);
        let load = can::Load {
            nodes: can::Load::ONE,
            free: one(u64::from(status.is_free())),
            queue_len: one(u64::from(status.queue_len)),
            cores: one(status.total.value(self.cores)),
            required_cores: one(status.required(self.cores)),
            speed_sum: u64::from(self.speed.as_millionths().get()),
        };
        *self.load.insert(load)
    }

    /// Has the overlay tell of the load.
    pub(super) fn tell_load(&mut self, cx: &mut dyn Context<Self>) {
        let load = self.load();
        if self.can.load() != load {
            self.overlay(Event::Command(can::Command::Load(load)), cx);
        }
        self.tell_residue_load(load, cx);
    }

    /// Somebody tells how it is, which is remembered if it can be. Who is no neighbour is forgotten with the next round.
    pub(super) fn hear_status(&mut self, from: NodeId, status: Shared<Status>) {
        if self.known.has(from, &status) {
            return;
        }
        if status
            .get()
            .is_possible(self.dimensions(), &self.config.most)
        {
            self.known.hear(from, status, can::MOST_NEIGHBOURS);
        }
    }
}

/// How a queue is, as it was worked out before or else anew.
pub(super) fn fresh<'a>(
    status: &'a mut Option<Shared<Status>>,
    queue: &BackfillQueue,
    speed: Speed,
) -> &'a Shared<Status> {
    status.get_or_insert_with(|| Shared::new(Status::of(queue, speed)))
}

/// For how many more there is room when there is none left.
const ROOM: usize = 8;

/// What a node knows of others, in the order of ids.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Known {
    list: Vec<(NodeId, Shared<Status>)>,
}

impl Known {
    pub(super) fn get(&self, id: NodeId) -> Option<&Status> {
        self.shared(id).map(Shared::get)
    }

    pub(super) fn shared(&self, id: NodeId) -> Option<&Shared<Status>> {
        let index = self.list.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.list.get(index).map(|(_, status)| status)
    }

    /// Whether this very status of somebody is what is known.
    pub(super) fn has(&self, id: NodeId, status: &Shared<Status>) -> bool {
        self.shared(id).is_some_and(|known| known.is(status))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (NodeId, &Status)> {
        self.list.iter().map(|(id, status)| (*id, status.get()))
    }

    /// Takes down how somebody is. There are never more than neighbours, as others are forgotten.
    pub(super) fn hear(&mut self, id: NodeId, status: Shared<Status>, most: usize) {
        match self.list.binary_search_by_key(&id, |(id, _)| *id) {
            Ok(index) => {
                if let Some((_, known)) = self.list.get_mut(index) {
                    *known = status;
                }
            }
            Err(index) if self.list.len() < most => {
                // A few more at a time: twice as many would be room for many who never come.
                if self.list.len() == self.list.capacity() {
                    self.list.reserve_exact(ROOM);
                }
                self.list.insert(index, (id, status));
            }
            Err(_) => {}
        }
    }

    /// Somebody will have another job, though it has not said so yet.
    pub(super) fn expect(&mut self, id: NodeId, dimensions: &Dimensions, needs: &Requirement) {
        if let Some(status) = self.get(id) {
            let status = Shared::new(status.with(dimensions, needs));
            self.hear(id, status, 0);
        }
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(NodeId) -> bool) {
        self.list.retain(|(id, _)| keep(*id));
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn is_in_order(&self) -> bool {
        self.list.is_sorted_by(|a, b| a.0 < b.0)
    }
}
