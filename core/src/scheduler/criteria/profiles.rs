//! The profile of a node, and the profiles of its neighbours: they are sent beside the links of the random overlay, and
//! feed the helper overlays (PROTOCOLS 2.3).

use alloc::vec::Vec;
use core::cmp::Reverse;

use super::dense::Place;
use super::message::{Descriptor, Descriptors, Message};
use super::{Catalogue, Criteria, Key, Record, Timer};
use crate::commit::Policy;
use crate::id::NodeId;
use crate::machine::{Context, Embed, Event, Machine};
use crate::overlay::cyclon::{self, Cyclon};
use crate::overlay::vicinity;
use crate::overlay::view::Link;
use crate::profile::Profile;
use crate::schedule::{BusyTime, Snapshot, SnapshotOptions};
use crate::time::{Interval, Time};

/// The random overlay as a part of a node: its messages carry profiles.
pub(super) struct AsOverlay<'a> {
    own: Descriptor,
    known: &'a [Descriptor],
    dense: &'a [Place],
    alone: bool,
    /// How many cycles the event ends.
    cycles: u16,
    /// The exchange that the event begins.
    begun: Option<cyclon::ExchangeId>,
}

impl AsOverlay<'_> {
    /// For events that send nothing.
    pub(super) fn quiet(me: NodeId, profile: &Profile) -> Self {
        Self {
            own: Descriptor {
                id: me,
                age: 0,
                version: 0,
                profile: profile.clone(),
            },
            known: &[],
            dense: &[],
            alone: false,
            cycles: 0,
            begun: None,
        }
    }
}

impl<const C: usize, const L: usize, const G: usize, U: Catalogue, P: Policy>
    Embed<Cyclon<C, L>, Criteria<C, L, G, U, P>> for AsOverlay<'_>
{
    fn message(&mut self, message: cyclon::Message<L>) -> Message<L, G> {
        let others = message.links().iter().filter_map(|link| {
            let index = self.known.binary_search_by_key(&link.id, |known| known.id);
            self.known.get(index.ok()?).cloned()
        });
        let is_told = |place: &&Place| message.links().iter().all(|link| link.id != place.node);
        let places = self
            .dense
            .iter()
            .filter(is_told)
            .map(|place| place.descriptor());
        let about = [self.own.clone()]
            .into_iter()
            .chain(others)
            .chain(places)
            .collect();
        if let cyclon::Message::Shuffle { exchange, .. } = &message {
            self.begun = Some(*exchange);
        }
        Message::Overlay { message, about }
    }
    fn timer(&mut self, timer: cyclon::Timer) -> Timer {
        // Each cycle ends by setting the timer of the next one.
        self.cycles = self.cycles.saturating_add(1);
        Timer::Overlay(timer)
    }
    fn key(&mut self, key: cyclon::Key) -> Key {
        Key::Overlay(key)
    }
    fn record(&mut self, record: cyclon::Record) -> Record {
        Record::Overlay(record)
    }
    fn notice(&mut self, notice: cyclon::Notice, _: &mut dyn Context<Criteria<C, L, G, U, P>>) {
        self.alone |= notice == cyclon::Notice::Alone;
    }
}

/// The first free window that ends after `from`; it may begin before. If the schedule is never free, a moment at the
/// end of time.
fn first_free(schedule: &Snapshot, from: Time) -> Interval {
    let mut start = Time::ZERO;
    for window in schedule.windows() {
        if start < window.start() && from < window.start() {
            return Interval::new(start, window.start()).unwrap_or(Interval::ALWAYS);
        }
        start = window.end();
    }
    Interval::new(start, schedule.horizon()).unwrap_or(Interval::LAST)
}

impl<const C: usize, const L: usize, const G: usize, U: Catalogue, P: Policy>
    Criteria<C, L, G, U, P>
{
    /// This node's own descriptor.
    pub(super) fn descriptor(&self) -> Descriptor {
        Descriptor {
            id: self.me,
            age: 0,
            version: self.schedule.version(),
            profile: self.profile.clone(),
        }
    }

    /// The descriptor of a neighbour, with a default profile if its profile is unknown.
    pub(super) fn known(&self, link: Link) -> Descriptor {
        let index = self.random.binary_search_by_key(&link.id, |known| known.id);
        let known = index.ok().and_then(|index| self.random.get(index));
        known.cloned().unwrap_or_else(|| Descriptor {
            id: link.id,
            age: link.age,
            version: 0,
            profile: Profile::default(),
        })
    }

    /// Lets the random overlay handle an event, then compares the view.
    pub(super) fn shuffle(&mut self, event: Event<Cyclon<C, L>>, cx: &mut dyn Context<Self>) {
        self.shuffle_about(event, &[], cx);
    }

    fn shuffle_about(
        &mut self,
        event: Event<Cyclon<C, L>>,
        heard: &[Descriptor],
        cx: &mut dyn Context<Self>,
    ) {
        let mut embed = AsOverlay {
            own: self.descriptor(),
            known: &self.random,
            dense: &self.dense,
            alone: false,
            cycles: 0,
            begun: None,
        };
        self.overlay.handle(event, &mut cx.lift(&mut embed));
        if embed.alone {
            for approach in self.bootstrap.approaches_again(cx.rng()) {
                self.overlay
                    .handle(Event::Command(approach.into()), &mut cx.lift(&mut embed));
            }
        }
        if let Some(exchange) = embed.begun {
            self.shuffled = Some((exchange, cx.now()));
        }
        let cycles = embed.cycles;
        self.look_at_view(heard, cycles, cx);
    }

    /// Handles a message of the random overlay, with the profiles that it carries.
    pub(super) fn on_overlay_message(
        &mut self,
        from: NodeId,
        message: cyclon::Message<L>,
        about: &Descriptors,
        cx: &mut dyn Context<Self>,
    ) {
        if let cyclon::Message::Shuffled { exchange, .. } = message
            && self.overlay.waits_for() == Some(from)
        {
            self.measure(from, exchange, about, cx);
        }
        self.shuffle_about(Event::Message { from, message }, about.as_slice(), cx);
    }

    /// Updates this node's coordinate from a round trip, if the answer is to the last exchange and not an older one.
    fn measure(
        &mut self,
        from: NodeId,
        answered: cyclon::ExchangeId,
        about: &Descriptors,
        cx: &mut dyn Context<Self>,
    ) {
        let (Some(vivaldi), Some((exchange, since))) = (&mut self.vivaldi, self.shuffled) else {
            return;
        };
        let told = about.iter().find(|known| known.id == from);
        if let Some(told) = told
            && exchange == answered
        {
            let rtt = cx.now() - since;
            let profile = &told.profile;
            // `observe` rejects unusable samples; nothing changes then.
            let _ = vivaldi.observe(rtt, profile.coordinate, profile.error, cx.rng());
            self.tell_profile(cx);
        }
    }

    /// Adds profiles of new neighbours, drops profiles of lost ones, and tells the helper overlays.
    fn look_at_view(&mut self, heard: &[Descriptor], cycles: u16, cx: &mut dyn Context<Self>) {
        self.hear_of_places(heard, cycles);
        let view = self.overlay.view();
        let max_age = self.config.helper.max_age;
        // The view and `random` are both in the order of ids.
        let mut known = self.random.iter().peekable();
        // No more room than the view needs: the memory of a large grid is made of these lists.
        let mut now_known: Vec<Descriptor> = Vec::with_capacity(view.len());
        now_known.extend(view.links().filter_map(|link| {
            while known.next_if(|known| known.id < link.id).is_some() {}
            let old = known.next_if(|known| known.id == link.id);
            let old = old.map(|known| Descriptor {
                age: known.age.saturating_add(cycles),
                ..known.clone()
            });
            let told = heard.iter().filter(|told| told.id == link.id).cloned();
            // A forged profile may have the highest version, so it counts only while it is fresh.
            let is_fresh = |known: &Descriptor| known.age <= max_age;
            old.into_iter()
                .chain(told)
                .max_by_key(|known| (is_fresh(known), known.version, Reverse(known.age)))
        }));
        if now_known == self.random {
            return;
        }
        self.random = now_known;
        if !self.helpers.is_empty() {
            let random = self.random.iter().take(C).cloned().collect();
            self.help_all(&Event::Command(vicinity::Command::Random(random)), cx);
        }
    }

    /// Takes a new snapshot of the schedule, which may have changed, and tells the helper overlays.
    pub(super) fn tell_schedule(&mut self, cx: &mut dyn Context<Self>) {
        let from = cx.now().round_up(self.config.slot);
        let options = SnapshotOptions::starting(from)
            .version(self.schedule.version().saturating_add(1))
            .most_windows(self.config.windows.into());
        self.schedule = self.desk.snapshot(options);
        self.profile.free = first_free(&self.schedule, from);
        self.locate(cx.now());
        self.tell_helpers(cx);
    }

    /// Updates the profile, because time has passed or the coordinate has changed.
    pub(super) fn tell_profile(&mut self, cx: &mut dyn Context<Self>) {
        let before = self.profile.clone();
        let from = cx.now().round_up(self.config.slot);
        self.profile.free = first_free(&self.schedule, from);
        self.locate(cx.now());
        if self.profile != before {
            self.schedule = self
                .schedule
                .renumbered(self.schedule.version().saturating_add(1));
            self.tell_helpers(cx);
        }
    }

    fn locate(&mut self, now: Time) {
        if let Some(vivaldi) = &self.vivaldi {
            self.profile.coordinate = vivaldi.coordinate();
            self.profile.error = vivaldi.error();
        }
        self.profile.radius = self.radius(now);
    }

    fn tell_helpers(&mut self, cx: &mut dyn Context<Self>) {
        let profile = vicinity::Command::Profile {
            profile: self.profile.clone(),
            version: self.schedule.version(),
        };
        self.help_all(&Event::Command(profile), cx);
    }
}
