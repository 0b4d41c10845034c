//! The two custodies of a node, and how they are one: between where a job was submitted and its owner, and between the owner and who runs it.
//!
//! What an owner is granted bounds what it grants; what becomes of a job at who runs it becomes of it at its owner.

use alloc::vec::Vec;

use super::{Desktop, Key, Message, Record, Timer, Todo};
use crate::custody::{self, Custody, Taking, Tenure};
use crate::id::{JobId, NodeId};
use crate::job::{News, Notice, Refusal};
use crate::machine::{Context, Embed, Lifted};

/// Custody between those who submit and owners, as a part of a node.
#[derive(Default)]
pub(super) struct AsOwners {
    notices: Vec<custody::Notice>,
}

/// Custody between owners and those who run, as a part of a node.
#[derive(Default)]
pub(super) struct AsRuns {
    notices: Vec<custody::Notice>,
}

impl AsOwners {
    /// What a host is told is told at once: behind it the job may be forgotten, and who crashes in between must say it again.
    fn hear<const D: usize>(&mut self, notice: custody::Notice, cx: &mut impl Context<Desktop<D>>) {
        match notice {
            // An owner that lets a job go has nobody to tell.
            custody::Notice::Tell(Notice {
                news: News::Orphaned | News::Stopped | News::Started,
                ..
            }) => {}
            custody::Notice::Tell(notice) => cx.notify(notice),
            other => self.notices.push(other),
        }
    }
}

impl AsRuns {
    fn hear<const D: usize>(&mut self, notice: custody::Notice, _: &mut impl Context<Desktop<D>>) {
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
            fn notice(&mut self, notice: custody::Notice, cx: &mut impl Context<Desktop<D>>) {
                self.hear(notice, cx);
            }
        }
    };
}
custody_as!(AsOwners, Owners);
custody_as!(AsRuns, Runs);

impl<const D: usize> Desktop<D> {
    pub(super) fn in_owners<C: Context<Self>, R>(
        &mut self,
        cx: &mut C,
        act: impl FnOnce(&mut Custody, &mut Lifted<'_, C, Self, &mut AsOwners>) -> R,
    ) -> R {
        let mut embed = AsOwners::default();
        let result = act(&mut self.owners, &mut cx.lift(&mut embed));
        self.todo
            .extend(embed.notices.into_iter().map(Todo::Owners));
        result
    }

    pub(super) fn in_runs<C: Context<Self>, R>(
        &mut self,
        cx: &mut C,
        act: impl FnOnce(&mut Custody, &mut Lifted<'_, C, Self, &mut AsRuns>) -> R,
    ) -> R {
        let mut embed = AsRuns::default();
        let result = act(&mut self.runs, &mut cx.lift(&mut embed));
        self.todo.extend(embed.notices.into_iter().map(Todo::Runs));
        result
    }

    pub(super) fn owners_message(
        &mut self,
        from: NodeId,
        message: custody::Message,
        cx: &mut impl Context<Self>,
    ) {
        let taking = if self.leaving {
            Taking::Refuses
        } else {
            Taking::Takes { start: None }
        };
        self.in_owners(cx, |owners, cx| owners.hear(from, message, taking, cx));
    }

    /// The custody of a job among those who submit and owners has something to say.
    pub(super) fn owners_said(&mut self, notice: custody::Notice, cx: &mut impl Context<Self>) {
        match notice {
            // It was told.
            custody::Notice::Tell(_) => {}
            custody::Notice::Seek { job, attempt } => self.seek_owner(job.get(), attempt, cx),
            custody::Notice::Queue {
                job, term, until, ..
            } => {
                let (id, tenure) = (job.get().id, Tenure::under(term));
                self.counts.owned = self.counts.owned.saturating_add(1);
                let kept = self.in_runs(cx, |runs, cx| runs.keep(job, tenure, cx));
                self.runs.bound(id, until);
                if kept == Err(Refusal::Full) {
                    let ending = custody::Ending::Withdrawn;
                    self.in_owners(cx, |owners, cx| owners.ended(id, ending, cx));
                }
            }
            custody::Notice::Extended { job, until } => self.runs.bound(job, until),
            custody::Notice::Drop(job) => self.in_runs(cx, |runs, cx| runs.cancel(job, cx)),
        }
    }

    pub(super) fn runs_message(
        &mut self,
        from: NodeId,
        message: custody::Message,
        cx: &mut impl Context<Self>,
    ) {
        let mut taking = Taking::Refuses;
        if let Some((job, carried)) = message.gift() {
            if self.takes(job, carried) {
                taking = Taking::Takes { start: None };
            }
            self.pull_answered(from);
        }
        self.in_runs(cx, |runs, cx| runs.hear(from, message, taking, cx));
    }

    /// The custody of a job among owners and those who run has something to say.
    pub(super) fn runs_said(&mut self, notice: custody::Notice, cx: &mut impl Context<Self>) {
        match notice {
            custody::Notice::Tell(Notice { job, news }) => match news {
                News::Accepted { start } => {
                    self.in_owners(cx, |owners, cx| owners.expect(job, start, cx));
                }
                News::Moved { .. } => {}
                News::Started | News::Stopped | News::Orphaned => cx.notify(Notice { job, news }),
                News::Finished => self.pass_on(job, custody::Ending::Done, cx),
                News::Failed(why) => self.pass_on(job, custody::Ending::Failed(why), cx),
                News::Cancelled => self.pass_on(job, custody::Ending::Withdrawn, cx),
            },
            custody::Notice::Seek { job, attempt } => self.begin_hunt(job, attempt, cx),
            custody::Notice::Queue { job, carried, .. } => self.enqueue(job.get(), carried, cx),
            custody::Notice::Extended { .. } => {}
            custody::Notice::Drop(job) => self.dropped(job, cx),
        }
    }

    /// The last word on a job that this node owned.
    fn pass_on(&mut self, job: JobId, ending: custody::Ending, cx: &mut impl Context<Self>) {
        self.in_owners(cx, |owners, cx| owners.ended(job, ending, cx));
        self.in_runs(cx, |runs, cx| runs.passed_on(job, cx));
    }
}
