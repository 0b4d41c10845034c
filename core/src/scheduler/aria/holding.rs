//! Custody as a part of a node: it decides which site has a job; this file carries that out for floods and the site.

use alloc::vec::Vec;

use super::{Aria, Key, Message, Record, Timer};
use crate::custody::{self, Custody, Gift, Refused, Taking};
use crate::job::Scope;
use crate::machine::{Context, Embed, Event, Machine};
use crate::queue::LocalScheduler;

#[derive(Default)]
pub(super) struct AsCustody {
    notices: Vec<custody::Notice>,
}

impl<S: LocalScheduler> Embed<Custody, Aria<S>> for AsCustody {
    fn message(&mut self, message: custody::Message) -> Message {
        Message::Custody(message)
    }
    fn timer(&mut self, timer: custody::Timer) -> Timer {
        Timer::Custody(timer)
    }
    fn key(&mut self, key: custody::Key) -> Key {
        Key::Custody(key)
    }
    fn record(&mut self, record: custody::Record) -> Record {
        Record::Custody(record)
    }
    /// News go to the host at once, before effects that forget the job: after a crash in between they are told again.
    fn notice(&mut self, notice: custody::Notice, cx: &mut dyn Context<Aria<S>>) {
        if let custody::Notice::Tell(told) = &notice {
            cx.notify(told.clone());
        }
        self.notices.push(notice);
    }
}

impl<S: LocalScheduler> Aria<S> {
    /// Lets custody handle an event, handles its notices, and starts jobs if there is room.
    pub(super) fn in_custody(&mut self, event: Event<Custody>, cx: &mut dyn Context<Self>) {
        if self.follow_custody(event, cx) == Room::Freed {
            self.start_jobs(cx);
        }
    }

    pub(super) fn tell_custody(&mut self, command: custody::Command, cx: &mut dyn Context<Self>) {
        self.in_custody(Event::Command(command), cx);
    }

    /// Like `in_custody`, but the caller starts jobs if there is room.
    pub(super) fn follow_custody(
        &mut self,
        event: Event<Custody>,
        cx: &mut dyn Context<Self>,
    ) -> Room {
        let mut embed = AsCustody::default();
        self.custody.handle(event, &mut cx.lift(&mut embed));
        let mut room = Room::AsBefore;
        for notice in embed.notices {
            match notice {
                // `AsCustody` has told the host.
                custody::Notice::Tell(told) => {
                    if told.news.is_last() {
                        self.end_search(told.job, cx);
                    }
                }
                custody::Notice::Offered(gift) => self.answer_gift(gift, cx),
                custody::Notice::Seek { job, attempt } => self.search(job, attempt, cx),
                custody::Notice::Queue {
                    job,
                    arrived,
                    until,
                    ..
                } => {
                    if !self.custody.is_here(job.get().id) {
                        // It was dropped meanwhile.
                    } else if self.is_foreign() {
                        self.queue_at_site(job.get(), (arrived, until), cx);
                    } else {
                        self.enqueue(job.get(), arrived, cx);
                    }
                }
                custody::Notice::Extended { job, until } => self.on_extended(job, until, cx),
                custody::Notice::Resumed { job, started } => self.resume(job.get(), started, cx),
                custody::Notice::Drop(job) => {
                    if !self.custody.is_here(job) && self.remove(job, cx) {
                        room = Room::Freed;
                    }
                }
            }
        }
        room
    }

    /// Takes a job that was given to this site (PROTOCOLS A15), unless there is no room any more.
    fn answer_gift(&mut self, gift: Gift, cx: &mut dyn Context<Self>) {
        let job = gift.job.get();
        // Custody checks its own room itself: a job that this site has already needs no more.
        let confined = job.scope == Scope::Here && gift.home() != self.me;
        let refused = match confined {
            true => Some(Refused::NoMatch),
            false => self.refuses(job),
        };
        let outdated = || self.breaks_promise(&gift, cx).then_some(Refused::Outdated);
        let refused = refused.or_else(outdated);
        let taking = match refused {
            None => {
                let start = self.start_if_taken(job, cx.now());
                Taking::Takes { start }
            }
            Some(why) => Taking::Refuses(why),
        };
        self.tell_custody(custody::Command::Take { gift, taking }, cx);
    }
}

/// Whether a dropped job made room for waiting jobs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    AsBefore,
    /// A waiting job may be able to start.
    Freed,
}
