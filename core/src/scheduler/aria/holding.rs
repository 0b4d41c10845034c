//! The custody of jobs as a part of a node: who has a job is decided there, and what that means for floods and the site here.

use alloc::vec::Vec;

use super::{Aria, Key, Message, Record, Timer};
use crate::custody::{self, Custody, Taking};
use crate::id::NodeId;
use crate::machine::{Context, Embed, Event, Lifted, Machine};
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
    /// What a host is told is told at once: behind it the job may be forgotten, and who crashes in between must say it again.
    fn notice(&mut self, notice: custody::Notice, cx: &mut impl Context<Aria<S>>) {
        if let custody::Notice::Tell(told) = &notice {
            cx.notify(*told);
        }
        self.notices.push(notice);
    }
}

impl<S: LocalScheduler> Aria<S> {
    pub(super) fn in_custody<C: Context<Self>, R>(
        &mut self,
        cx: &mut C,
        act: impl FnOnce(&mut Custody, &mut Lifted<'_, C, Self, &mut AsCustody>) -> R,
    ) -> R {
        let mut embed = AsCustody::default();
        let result = act(&mut self.custody, &mut cx.lift(&mut embed));
        self.todo.extend(embed.notices);
        result
    }

    pub(super) fn handle_custody(&mut self, event: Event<Custody>, cx: &mut impl Context<Self>) {
        self.in_custody(cx, |custody, cx| custody.handle(event, cx));
    }

    /// Whoever offered to take a job does (PROTOCOLS A15), unless there is no room any more.
    pub(super) fn custody_message(
        &mut self,
        from: NodeId,
        message: custody::Message,
        cx: &mut impl Context<Self>,
    ) {
        // Whether it can have another is asked by the custody: what it has already needs no room.
        let taking = match message.gift() {
            Some((job, _)) if !self.leaving && self.suits(job) => Taking::Takes {
                start: self.start_if_taken(job, cx.now()),
            },
            _ => Taking::Refuses,
        };
        self.in_custody(cx, |custody, cx| custody.hear(from, message, taking, cx));
    }

    fn custody_said(&mut self, notice: custody::Notice, cx: &mut impl Context<Self>) {
        match notice {
            // It was told.
            custody::Notice::Tell(told) => {
                if told.news.is_last() {
                    self.end_search(told.job, cx);
                }
            }
            custody::Notice::Seek { job, attempt } => self.search(job, attempt, cx),
            custody::Notice::Queue { job, arrived, .. } => self.enqueue(job.get(), arrived, cx),
            custody::Notice::Extended { .. } => {}
            custody::Notice::Drop(job) => self.dropped(job, cx),
        }
    }

    /// Does what is still to be done. Each step leads to at most a few more, until both roles of this node agree; what it says to itself
    /// needs no network.
    pub(super) fn settle(&mut self, cx: &mut impl Context<Self>) {
        loop {
            if let Some(notice) = self.todo.pop_front() {
                self.custody_said(notice, cx);
            } else if let Some(message) = self.custody.to_self() {
                self.custody_message(self.me, message, cx);
            } else {
                break;
            }
        }
    }
}
