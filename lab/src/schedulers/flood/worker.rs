//! How a node runs jobs. It keeps no schedule: it is free, claimed or busy.

use std::collections::VecDeque;

use crate::schedulers::told::assigned;
use gridweave_core::id::{Epoch, JobId};
use gridweave_core::job::{News, Notice, Outcome};
use gridweave_core::machine::Context;
use gridweave_core::time::Time;

use super::{Flood, Membership, Message, SearchId, Timer};

/// What the node does now.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Work {
    Free,
    /// Kept free for the origin of a search, until the lease ends.
    Claimed {
        search: SearchId,
        until: Time,
    },
    /// Runs a job, until the job or its permission ends.
    Running {
        search: SearchId,
        until: Time,
    },
}

/// The last jobs that ended here, for origins that have not heard of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Endings(VecDeque<(SearchId, Outcome)>);

impl Endings {
    /// How many are remembered. If one is forgotten before its origin hears of it, the origin tries the job again.
    pub(super) const MOST: usize = 64;

    fn note(&mut self, search: SearchId, outcome: Outcome) {
        if self.0.len() >= Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back((search, outcome));
    }

    fn of(&self, search: SearchId) -> Option<Outcome> {
        let ended = self.0.iter().find(|(ended, _)| *ended == search);
        ended.map(|(_, outcome)| *outcome)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Flood {
    /// Answers a search: a free node is claimed by it. A claim passes to a later search for the same job.
    pub(super) fn answer(&mut self, search: SearchId, cx: &mut dyn Context<Self>) {
        let free = match self.work {
            Work::Free => self.membership == Membership::In,
            Work::Claimed { search: by, .. } => search.follows(&by),
            Work::Running { .. } => false,
        };
        if !free {
            self.tell(search.origin, Message::Busy(search), cx);
            return;
        }
        let until = cx.now() + self.config.lease;
        self.work = Work::Claimed { search, until };
        cx.wake(until, Timer::Work);
        self.tell(search.origin, Message::Offer(search), cx);
    }

    /// Ends a claim that is not needed any more. A running job goes on.
    pub(super) fn release(&mut self, search: SearchId, cx: &mut dyn Context<Self>) {
        if let Work::Claimed { search: by, .. } = self.work
            && by == search
        {
            self.be_free(cx);
        }
    }

    /// The order to start: begins the job if this node is claimed for it, and else renews its permission.
    pub(super) fn start(&mut self, search: SearchId, until: Time, cx: &mut dyn Context<Self>) {
        match self.work {
            Work::Claimed { search: by, .. } if by == search && cx.now() < until => {
                self.work = Work::Running { search, until };
                cx.wake(until, Timer::Work);
                let attempt = search.attempt();
                let assignment = assigned(attempt, cx.now());
                let started = News::Started {
                    attempt,
                    until,
                    assignment,
                };
                self.say(search.job, started, cx);
                self.tell(search.origin, Message::Running(search), cx);
            }
            _ => self.renew(search, until, cx),
        }
    }

    /// Renews the permission of a running job. If the job does not run here, tells the origin why.
    pub(super) fn renew(&mut self, search: SearchId, until: Time, cx: &mut dyn Context<Self>) {
        if let Work::Running {
            search: running,
            until: end,
        } = &mut self.work
            && *running == search
        {
            if *end < until {
                *end = until;
                cx.wake(until, Timer::Work);
                let attempt = search.attempt();
                self.say(search.job, News::Extended { attempt, until }, cx);
            }
            self.tell(search.origin, Message::Running(search), cx);
            return;
        }
        self.release(search, cx);
        let news = match self.endings.of(search) {
            Some(outcome) => Message::Ended { search, outcome },
            None => Message::Gone(search),
        };
        self.tell(search.origin, news, cx);
    }

    /// Stops a job whose attempt has failed elsewhere, and confirms it.
    pub(super) fn stop(&mut self, search: SearchId, cx: &mut dyn Context<Self>) {
        match self.work {
            Work::Claimed { search: by, .. } if by == search => self.be_free(cx),
            Work::Running {
                search: running, ..
            } if running == search => {
                let attempt = search.attempt();
                self.say(search.job, News::Stopped { attempt }, cx);
                self.be_free(cx);
            }
            _ => {}
        }
        self.tell(search.origin, Message::Gone(search), cx);
    }

    /// The host says that an attempt at a job has ended.
    pub(super) fn end(
        &mut self,
        job: JobId,
        attempt: Epoch,
        outcome: Outcome,
        cx: &mut dyn Context<Self>,
    ) {
        if let Work::Running { search, .. } = self.work
            && (search.job, search.attempt()) == (job, attempt)
        {
            self.endings.note(search, outcome);
            self.be_free(cx);
            self.tell(search.origin, Message::Ended { search, outcome }, cx);
        }
    }

    /// Ends a lease or a permission whose time is over.
    pub(super) fn lapse(&mut self, cx: &mut dyn Context<Self>) {
        match self.work {
            Work::Free => {}
            Work::Claimed { until, .. } | Work::Running { until, .. } if cx.now() < until => {
                cx.wake(until, Timer::Work);
            }
            Work::Claimed { .. } => self.work = Work::Free,
            Work::Running { search, .. } => {
                self.work = Work::Free;
                let attempt = search.attempt();
                self.say(search.job, News::Stopped { attempt }, cx);
            }
        }
    }

    fn be_free(&mut self, cx: &mut dyn Context<Self>) {
        self.work = Work::Free;
        cx.cancel(Timer::Work);
    }

    /// Tells the host about a job.
    pub(super) fn say(&mut self, job: JobId, news: News, cx: &mut dyn Context<Self>) {
        cx.notify(Notice { job, news });
    }
}
