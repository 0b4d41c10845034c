//! Bugs that are planted in all nodes, to see that the oracle catches them.

use gridweave_core::id::NodeId;
use gridweave_core::job::News;
use gridweave_core::machine::{Effect, Machine};

/// A bug that every node has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Flaw {
    /// No record is ever written.
    ForgetsRecords,
    /// Each start of a job is reported twice.
    StartsTwice,
    /// Every other node does not report that a job starts.
    SitsOut,
    /// The end of a job is not told.
    SwallowsLastWords,
    /// The end of a job is told twice.
    RepeatsLastWords,
    /// A job that must stop runs on.
    NeverStops,
    /// Every message is sent a hundred times.
    Chatters,
    /// Every message is sent eight times.
    Stutters,
    /// The end of a job is a panic.
    Panics,
}

/// How many times an effect is carried out under this bug; 1 is normal.
pub(super) fn times<M: Machine<Notice = gridweave_core::job::Notice>>(
    flaw: Option<Flaw>,
    me: NodeId,
    effect: &Effect<M>,
) -> u32 {
    match (flaw, effect) {
        (Some(Flaw::ForgetsRecords), Effect::Persist(..)) => 0,
        (Some(Flaw::Chatters), Effect::Send { .. }) => 100,
        (Some(Flaw::Stutters), Effect::Send { .. }) => 8,
        (Some(flaw), Effect::Notify(notice)) => match (flaw, &notice.news) {
            (Flaw::StartsTwice, News::Started { .. }) => 2,
            (Flaw::SitsOut, News::Started { .. }) if me.get() % 2 == 1 => 0,
            (Flaw::SwallowsLastWords, News::Finished) => 0,
            (Flaw::Panics, News::Finished) => panic!("planted"),
            (Flaw::RepeatsLastWords, News::Finished) => 2,
            (Flaw::NeverStops, News::Stopped { .. }) => 0,
            _ => 1,
        },
        _ => 1,
    }
}
