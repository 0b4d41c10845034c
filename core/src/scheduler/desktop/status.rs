//! The status of a node, as its neighbours know it.

use alloc::vec::Vec;

use super::{Desktop, Habit, Timer};
use crate::id::NodeId;
use crate::machine::{Context, Event};
use crate::overlay::can;
use crate::queue::BackfillQueue;
use crate::resource::{Capability, Dimension, Dimensions, Kind, Requirement, Speed};
use crate::shared::Shared;
use crate::time::{Span, Time};

/// What a node tells its neighbours of itself with each heartbeat.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Status {
    /// The node's capability; nothing if it takes no jobs.
    pub total: Capability,
    /// What running jobs leave free.
    pub free: Capability,
    /// The sum of what waiting jobs need.
    pub waiting: Capability,
    /// How many jobs wait.
    pub queue_len: u32,
    /// How many jobs run.
    pub running: u32,
    /// How often the head of the queue was passed: P4's NBC.
    pub head_passed: u32,
    /// The least that any waiting job needs, in each dimension by itself; nothing if none waits.
    pub least: Capability,
    /// When the first of the waiting jobs came into the grid.
    pub oldest: Option<Time>,
    /// The node's speed.
    pub speed: Speed,
}

impl Status {
    /// The status of a node with this queue and speed. One that takes no jobs says that it has nothing, so that none is
    /// looked for there, and still what waits.
    pub(super) fn of(queue: &BackfillQueue, speed: Speed, takes_jobs: bool) -> Self {
        let pool = queue.pool();
        let of_use = |has: &Capability| match takes_jobs {
            true => *has,
            false => Capability::none(),
        };
        let dimensions = pool.dimensions();
        let mut waiting = Capability::none();
        let mut least: Option<Capability> = None;
        for job in queue.waiting() {
            waiting = plus(dimensions, waiting, &job.requirement);
            least = Some(lesser(dimensions, least, &job.requirement));
        }
        Self {
            total: of_use(pool.total()),
            free: of_use(pool.free()),
            waiting,
            queue_len: count(queue.waiting().len()),
            running: count(queue.running().len()),
            head_passed: queue.head_passed(),
            least: least.unwrap_or(Capability::none()),
            oldest: queue.waiting().first().map(|job| job.submitted),
            speed,
        }
    }

    /// Whether no total is above `most`, and nothing free above its total. A status from a liar may fail this.
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

    /// Whether a waiting job might fit into what is free elsewhere. Only the queue itself tells whether one does.
    pub(super) fn may_fit(&self, dimensions: &Dimensions, free: &Capability) -> bool {
        let mut all = dimensions.iter();
        self.queue_len > 0 && all.all(|(k, ..)| self.least.value(k) <= free.value(k))
    }

    /// Whether no job runs or waits.
    pub const fn is_free(&self) -> bool {
        self.running == 0 && self.queue_len == 0
    }

    /// This status with one more job, which starts if nothing waits and it fits.
    pub(super) fn with(mut self, dimensions: &Dimensions, needs: &Requirement) -> Self {
        if self.queue_len == 0 && dimensions.matches(&self.free, needs) {
            return self.with_start(dimensions, needs);
        } else {
            let before = (self.queue_len > 0).then_some(self.least);
            self.least = lesser(dimensions, before, needs);
            self.waiting = plus(dimensions, self.waiting, needs);
            self.queue_len = self.queue_len.saturating_add(1);
        }
        self
    }

    /// This status with one more job that starts, whatever waits.
    pub(super) fn with_start(mut self, dimensions: &Dimensions, needs: &Requirement) -> Self {
        for k in dimensions.amounts() {
            let left = self.free.value(k);
            let left = left.saturating_sub(needs.value(k).unwrap_or(0));
            self.free = self.free.with(k, left);
        }
        self.running = self.running.saturating_add(1);
        self
    }

    /// How much of an amount running and waiting jobs need together.
    pub(super) fn required(&self, of: Dimension) -> u64 {
        let used = self.total.value(of).saturating_sub(self.free.value(of));
        used.saturating_add(self.waiting.value(of))
    }

    /// The highest share of an amount that running and waiting jobs would need together with one more job, in parts of
    /// 2^16 of the total.
    pub(super) fn share_with(&self, dimensions: &Dimensions, needs: &Requirement) -> u64 {
        let parts = dimensions.amounts().map(|k| {
            let more = needs.value(k).unwrap_or(0);
            let wanted = self.required(k).saturating_add(more);
            let part = (u128::from(wanted) << 16_u32).checked_div(u128::from(self.total.value(k)));
            u64::try_from(part.unwrap_or(0)).unwrap_or(u64::MAX)
        });
        parts.max().unwrap_or(0)
    }

    /// P4's normalised load, formula (5): the highest share of an amount that jobs need. Running jobs count, too
    /// (PROTOCOLS L9).
    pub(super) fn load(&self, dimensions: &Dimensions) -> f64 {
        normalised(dimensions, &self.total, &self.wanted(dimensions))
    }

    /// What running and waiting jobs need.
    fn wanted(&self, dimensions: &Dimensions) -> Capability {
        let mut wanted = self.waiting;
        for k in dimensions.amounts() {
            wanted = wanted.with(k, self.required(k));
        }
        wanted
    }

    /// The load if a job with these needs waited, too.
    pub(super) fn load_with(&self, dimensions: &Dimensions, needs: &Requirement) -> f64 {
        normalised(
            dimensions,
            &self.total,
            &plus(dimensions, self.wanted(dimensions), needs),
        )
    }

    /// The load if a job with these needs did not wait any more.
    pub(super) fn load_without(&self, dimensions: &Dimensions, needs: &Requirement) -> f64 {
        let mut waiting = self.wanted(dimensions);
        for k in dimensions.amounts() {
            let left = waiting.value(k).saturating_sub(needs.value(k).unwrap_or(0));
            waiting = waiting.with(k, left);
        }
        normalised(dimensions, &self.total, &waiting)
    }

    /// Whether another capability has at least as much in every dimension.
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

/// The lesser of what is known and what a job needs, in each dimension.
fn lesser(dimensions: &Dimensions, known: Option<Capability>, needs: &Requirement) -> Capability {
    let mut least = known.unwrap_or(Capability::none());
    for (k, ..) in dimensions.iter() {
        let needed = needs.value(k).unwrap_or(0);
        let value = known.map_or(needed, |known| known.value(k).min(needed));
        least = least.with(k, value);
    }
    least
}

fn normalised(dimensions: &Dimensions, total: &Capability, waiting: &Capability) -> f64 {
    let parts = dimensions.amounts().map(|k| match total.value(k) {
        0 => 0.0,
        whole => waiting.value(k) as f64 / whole as f64,
    });
    parts.fold(0.0, f64::max)
}

impl<const D: usize> Desktop<D> {
    /// This node's status.
    pub(super) fn status(&mut self) -> Shared<Status> {
        let takes_jobs = self.duty.takes_jobs();
        fresh(&mut self.status, &self.queue, self.speed, takes_jobs).clone()
    }

    /// Empties the caches, since the queue has changed.
    pub(super) fn touch(&mut self) {
        self.status = None;
        self.load = None;
    }

    /// This node's load, for the overlay.
    fn load(&mut self) -> can::Load {
        if let Some(load) = self.load {
            return load;
        }
        let takes_jobs = self.duty.takes_jobs();
        let status = fresh(&mut self.status, &self.queue, self.speed, takes_jobs).get();
        let one = |count: u64| count.saturating_mul(can::Load::ONE);
        let cores = self.queue.pool().total().value(self.cores);
        let required = status.required(self.cores);
        let load = can::Load {
            nodes: can::Load::ONE,
            free: one(u64::from(takes_jobs && status.is_free())),
            queue_len: one(u64::from(status.queue_len)),
            cores: one(cores),
            required_cores: one(match takes_jobs {
                true => required,
                // No job finds room there.
                false => required.saturating_add(cores),
            }),
            speed_sum: u64::from(self.speed.as_millionths().get()),
        };
        *self.load.insert(load)
    }

    /// Passes a changed load to both overlays.
    pub(super) fn tell_load(&mut self, cx: &mut dyn Context<Self>) {
        let load = self.load();
        if self.can.load() != load {
            self.overlay(Event::Command(can::Command::Load(load)), cx);
        }
        self.tell_residue_load(load, cx);
    }

    /// Remembers the status of a peer if it is possible; says whether it is new. The next round forgets peers that are
    /// no neighbours.
    pub(super) fn hear_status(&mut self, from: NodeId, status: Shared<Status>) -> bool {
        if self.known.has(from, &status) {
            return false;
        }
        let (dimensions, most) = (self.dimensions(), &self.config.most);
        if !status.get().is_possible(dimensions, most) {
            return false;
        }
        let is_news = self.known.get(from) != Some(status.get());
        self.known.hear(from, status, can::MOST_NEIGHBOURS);
        is_news
    }

    /// Tells the neighbours at once if this node's status has changed, so often as [`Telling`] allows.
    pub(super) fn tell_news(&mut self, cx: &mut dyn Context<Self>) {
        if !self.config.has(Habit::Tell) {
            return;
        }
        let status = self.status();
        let now = cx.now();
        match self.telling.next(&status, now) {
            Next::Nothing => {}
            Next::Tell => self.overlay(Event::Command(can::Command::Tell), cx),
            Next::Later(at) => cx.wake(at, Timer::News),
        }
    }
}

/// The cached status, computed if the cache is empty.
pub(super) fn fresh<'a>(
    status: &'a mut Option<Shared<Status>>,
    queue: &BackfillQueue,
    speed: Speed,
    takes_jobs: bool,
) -> &'a Shared<Status> {
    status.get_or_insert_with(|| Shared::new(Status::of(queue, speed, takes_jobs)))
}

/// The shortest time between two statuses that a node tells because they changed.
const PAUSE: Span = Span::from_secs(1);

/// How many changes of its status a node tells in a round. Peers that have it change all the time make it send no more.
const MOST_NEWS: u8 = 64;

/// What a node has told its neighbours because its status had changed.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Telling {
    told: Option<Shared<Status>>,
    /// Before this time it tells nothing more.
    until: Time,
    /// How often it has told since the round began.
    count: u8,
    /// Whether [`Timer::News`] is to come.
    wakes: bool,
}

/// What to do about a status.
enum Next {
    Nothing,
    Tell,
    Later(Time),
}

impl Telling {
    pub(super) const fn renew(&mut self) {
        self.count = 0;
    }

    pub(super) const fn woken(&mut self) {
        self.wakes = false;
    }

    fn next(&mut self, status: &Shared<Status>, now: Time) -> Next {
        let Some(told) = &self.told else {
            self.told = Some(status.clone());
            return Next::Nothing;
        };
        if told.is(status) {
            return Next::Nothing;
        }
        if told.get() == status.get() {
            self.told = Some(status.clone());
            return Next::Nothing;
        }
        if now < self.until {
            let at = (!self.wakes).then_some(self.until);
            self.wakes = true;
            return at.map_or(Next::Nothing, Next::Later);
        }
        if self.count >= MOST_NEWS {
            return Next::Nothing;
        }
        self.count = self.count.saturating_add(1);
        self.told = Some(status.clone());
        self.until = now + PAUSE;
        Next::Tell
    }
}

/// How many entries a full list grows by.
const ROOM: usize = 8;

/// The known statuses of peers, in the order of ids.
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

    /// Whether exactly this shared status of a peer is known already.
    pub(super) fn has(&self, id: NodeId, status: &Shared<Status>) -> bool {
        self.shared(id).is_some_and(|known| known.is(status))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (NodeId, &Status)> {
        self.list.iter().map(|(id, status)| (*id, status.get()))
    }

    /// Remembers the status of a peer. A new peer is added only if fewer than `most` are known.
    pub(super) fn hear(&mut self, id: NodeId, status: Shared<Status>, most: usize) {
        match self.list.binary_search_by_key(&id, |(id, _)| *id) {
            Ok(index) => {
                if let Some((_, known)) = self.list.get_mut(index) {
                    *known = status;
                }
            }
            Err(index) if self.list.len() < most => {
                // Grows by a few: doubling would reserve room for neighbours that never come.
                if self.list.len() == self.list.capacity() {
                    self.list.reserve_exact(ROOM);
                }
                self.list.insert(index, (id, status));
            }
            Err(_) => {}
        }
    }

    /// Counts one more job at a known peer, before its own heartbeat tells of it.
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
