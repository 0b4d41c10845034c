//! Links the two custodies of a node: between submitter and owner, and between owner and run node.
//!
//! The lease that an owner is granted bounds what it grants to the run node. The outcome at the run node becomes the
//! outcome at the owner.

use alloc::vec::Vec;

use super::{Desktop, Key, Message, Record, Timer};
use crate::custody::{self, Command, Custody, Ending, Place, Refused, Taking, Tenure};
use crate::id::JobId;
use crate::job::{News, Notice, Placement, Refusal};
use crate::machine::{Context, Embed, Event, Machine};
use crate::time::Time;

/// Embeds the custody between submitters and owners in a node.
#[derive(Default)]
pub(super) struct AsOwners {
    notices: Vec<custody::Notice>,
}

/// Embeds the custody between owners and run nodes in a node.
#[derive(Default)]
pub(super) struct AsRuns {
    notices: Vec<custody::Notice>,
}

impl AsOwners {
    /// Notifies the host at once, before the job may be forgotten: a node that crashes in between must tell it again.
    fn hear<const D: usize>(&mut self, notice: custody::Notice, cx: &mut dyn Context<Desktop<D>>) {
        match notice {
            // Only run nodes tell these (`on_runs`): an owner runs nothing.
            custody::Notice::Tell(Notice {
                news:
                    News::Orphaned
                    | News::Assigned(_)
                    | News::Released { .. }
                    | News::Started { .. }
                    | News::Extended { .. }
                    | News::Stopped { .. },
                ..
            }) => {}
            custody::Notice::Tell(notice) => cx.notify(notice),
            other => self.notices.push(other),
        }
    }
}

impl AsRuns {
    fn hear<const D: usize>(&mut self, notice: custody::Notice, _: &mut dyn Context<Desktop<D>>) {
        self.notices.push(notice);
    }
}

macro_rules! custody_as {
    ($embed:ident, $kind:ident) => {
        impl<const D: usize> Embed<Custody, Desktop<D>> for $embed {
            fn message(&mut self, message: custody::Message) -> Message<D> {
                Message::$kind(message)
            }
            fn timer(&mut self, timer: custody::Timer) -> Timer {
                Timer::$kind(timer)
            }
            fn key(&mut self, key: custody::Key) -> Key {
                Key::$kind(key)
            }
            fn record(&mut self, record: custody::Record) -> Record {
                Record::$kind(record)
            }
            fn notice(&mut self, notice: custody::Notice, cx: &mut dyn Context<Desktop<D>>) {
                self.hear(notice, cx);
            }
        }
    };
}
custody_as!(AsOwners, Owners);
custody_as!(AsRuns, Runs);

impl<const D: usize> Desktop<D> {
    /// Both custodies start before either is asked for anything.
    pub(super) fn start_custodies(&mut self, cx: &mut dyn Context<Self>) {
        let of_runs = self.handle_runs(Event::Start, cx);
        let of_owners = self.handle_owners(Event::Start, cx);
        if self.follow_runs(of_runs, cx) == Room::Freed {
            self.start_jobs(cx);
        }
        self.follow_owners(of_owners, cx);
        // A job that this node answers for to a run node, but does not own any more, is cancelled.
        let stray = self.runs.tasks().filter(|job| !self.owners.has(*job));
        for job in stray.collect::<Vec<_>>() {
            self.tell_runs(Command::Cancel(job), cx);
        }
    }

    /// Feeds an event to the custody between submitters and owners, and acts on its notices.
    pub(super) fn in_owners(&mut self, event: Event<Custody>, cx: &mut dyn Context<Self>) {
        let notices = self.handle_owners(event, cx);
        self.follow_owners(notices, cx);
    }

    pub(super) fn tell_owners(&mut self, command: Command, cx: &mut dyn Context<Self>) {
        self.in_owners(Event::Command(command), cx);
    }

    /// Feeds an event to the custody between owners and run nodes, and acts on its notices.
    pub(super) fn in_runs(&mut self, event: Event<Custody>, cx: &mut dyn Context<Self>) {
        let notices = self.handle_runs(event, cx);
        if self.follow_runs(notices, cx) == Room::Freed {
            self.start_jobs(cx);
        }
    }

    pub(super) fn tell_runs(&mut self, command: Command, cx: &mut dyn Context<Self>) {
        self.in_runs(Event::Command(command), cx);
    }

    fn handle_owners(
        &mut self,
        event: Event<Custody>,
        cx: &mut dyn Context<Self>,
    ) -> Vec<custody::Notice> {
        let mut embed = AsOwners::default();
        self.owners.handle(event, &mut cx.lift(&mut embed));
        embed.notices
    }

    pub(super) fn handle_runs(
        &mut self,
        event: Event<Custody>,
        cx: &mut dyn Context<Self>,
    ) -> Vec<custody::Notice> {
        let mut embed = AsRuns::default();
        self.runs.handle(event, &mut cx.lift(&mut embed));
        embed.notices
    }

    fn follow_owners(&mut self, notices: Vec<custody::Notice>, cx: &mut dyn Context<Self>) {
        for notice in notices {
            self.on_owners(notice, cx);
        }
    }

    /// Acts on notices, but leaves it to the caller to start jobs in freed room.
    pub(super) fn follow_runs(
        &mut self,
        notices: Vec<custody::Notice>,
        cx: &mut dyn Context<Self>,
    ) -> Room {
        let mut room = Room::AsBefore;
        for notice in notices {
            if let custody::Notice::Drop(job) = notice {
                if !self.runs.is_here(job) && self.remove(job) {
                    room = Room::Freed;
                }
            } else {
                self.on_runs(notice, cx);
            }
        }
        room
    }

    fn on_owners(&mut self, notice: custody::Notice, cx: &mut dyn Context<Self>) {
        match notice {
            // `AsOwners` has told the host.
            // An owner starts nothing, so that nothing of it survives.
            custody::Notice::Tell(_) | custody::Notice::Resumed { .. } => {}
            custody::Notice::Offered(gift) => {
                let taking = if self.duty.is_leaving() {
                    Taking::Refuses(Refused::Draining)
                } else {
                    Taking::Takes { start: None }
                };
                self.tell_owners(Command::Take { gift, taking }, cx);
            }
            custody::Notice::Seek { job, attempt } => self.seek_owner(job.get(), attempt, cx),
            custody::Notice::Queue {
                job,
                payload,
                term,
                until,
                ..
            } => {
                if self.owners.is_here(job.get().id) {
                    let keep = Command::Keep {
                        job: job.clone(),
                        payload,
                        tenure: Tenure::under(term),
                        until: Some(until),
                    };
                    self.own(job.get().id, keep, until, cx);
                }
            }
            custody::Notice::Extended { job, until } => {
                self.tell_runs(Command::Bound { job, until }, cx);
            }
            custody::Notice::Drop(job) => {
                if !self.owners.is_here(job) {
                    self.tell_runs(Command::Cancel(job), cx);
                }
            }
        }
    }

    /// This node owns a job until `until`, and searches for a run node.
    fn own(&mut self, job: JobId, keep: Command, until: Time, cx: &mut dyn Context<Self>) {
        self.counts.owned = self.counts.owned.saturating_add(1);
        match self.runs.refusal(job) {
            None => self.tell_runs(keep, cx),
            Some(Refusal::Full) => {
                let ending = Ending::Withdrawn;
                self.tell_owners(Command::Ended { job, ending }, cx);
            }
            Some(_) => self.tell_runs(Command::Bound { job, until }, cx),
        }
    }

    fn on_runs(&mut self, notice: custody::Notice, cx: &mut dyn Context<Self>) {
        match notice {
            custody::Notice::Tell(Notice { job, news }) => match news {
                News::Accepted(placement) | News::Moved(placement) => {
                    self.expect(job, placement.get(), cx);
                }
                // A desktop runs its jobs itself, and has a place for each in a queue.
                News::Queue { .. } | News::Withdraw { .. } | News::Expected { .. } => {}
                News::Assigned(_)
                | News::Released { .. }
                | News::Started { .. }
                | News::Extended { .. }
                | News::Stopped { .. }
                | News::Orphaned => cx.notify(Notice { job, news }),
                News::Finished => self.pass_on(job, Ending::Done, cx),
                News::Failed(why) => self.pass_on(job, Ending::Failed(why), cx),
                News::Cancelled => self.pass_on(job, Ending::Withdrawn, cx),
            },
            custody::Notice::Offered(gift) => {
                let refused = self.refuses(gift.job.get(), gift.carried);
                let taking = refused.map_or(Taking::Takes { start: None }, Taking::Refuses);
                self.tell_runs(Command::Take { gift, taking }, cx);
            }
            custody::Notice::Seek { job, attempt } => self.begin_hunt(job, attempt, cx),
            custody::Notice::Queue { job, carried, .. } => {
                if self.runs.is_here(job.get().id) {
                    self.enqueue(job.get(), carried, cx);
                }
            }
            custody::Notice::Resumed { job, .. } => self.resume(job.get(), cx),
            custody::Notice::Extended { .. } | custody::Notice::Drop(_) => {}
        }
    }

    /// Tells the submitter of a job where and when the job is to run.
    fn expect(&mut self, job: JobId, placement: &Placement, cx: &mut dyn Context<Self>) {
        let node = placement.nodes.first().copied();
        let attempt = placement.attempt;
        let expect = Command::Expect {
            job,
            start: placement.start,
            at: node.map(|node| Place { node, attempt }),
        };
        self.tell_owners(expect, cx);
    }

    /// Passes the outcome of a job from its run node to its submitter.
    fn pass_on(&mut self, job: JobId, ending: Ending, cx: &mut dyn Context<Self>) {
        self.tell_owners(Command::Ended { job, ending }, cx);
        self.tell_runs(Command::PassedOn(job), cx);
    }
}

/// Whether notices freed room for waiting jobs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    AsBefore,
    /// A waiting job may start.
    Freed,
}
