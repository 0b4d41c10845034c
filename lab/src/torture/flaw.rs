//! Bugs that are put in, to see that they are caught.

use gridweave_core::id::NodeId;
use gridweave_core::job::News;
use gridweave_core::machine::{Effect, Machine};

/// A bug that every node has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Flaw {
    /// Nothing is ever written down.
    ForgetsRecords,
    /// A job that is to begin begins again.
    StartsTwice,
    /// At every other node a job that is to begin does not.
    SitsOut,
    /// That a job is done is not told.
    SwallowsLastWords,
    /// That a job is done is told twice.
    RepeatsLastWords,
    /// What is to be stopped is not.
    NeverStops,
    /// Every message is sent a hundred times.
    Chatters,
    /// Every message is sent eight times.
    Stutters,
}

/// How often an effect happens in place of once, where this bug is.
pub(super) fn times<M: Machine<Notice = gridweave_core::job::Notice>>(
    flaw: Option<Flaw>,
    me: NodeId,
    effect: &Effect<M>,
) -> u32 {
    match (flaw, effect) {
        (Some(Flaw::ForgetsRecords), Effect::Persist(..)) => 0,
        (Some(Flaw::Chatters), Effect::Send { .. }) => 100,
        (Some(Flaw::Stutters), Effect::Send { .. }) => 8,
        (Some(flaw), Effect::Notify(notice)) => match (flaw, notice.news) {
            (Flaw::StartsTwice, News::Started) => 2,
            (Flaw::SitsOut, News::Started) if me.get() % 2 == 1 => 0,
            (Flaw::SwallowsLastWords, News::Finished) => 0,
            (Flaw::RepeatsLastWords, News::Finished) => 2,
            (Flaw::NeverStops, News::Stopped) => 0,
            _ => 1,
        },
        _ => 1,
    }
}
