//! One job that nodes run under leases: what must hold, and what must be seen, for any such machine.

use gridweave_core::id::NodeId;
use gridweave_core::job::News;
use gridweave_core::time::{Span, Time};
use stateright::Property;

use super::{Crash, Exploration, Runner, State, Step, up};

/// A node that may have the job.
pub trait Leased: Runner {
    /// Whether it runs the job.
    fn runs(&self) -> bool;
    /// Until when it may have the job.
    fn lease(&self) -> Option<Time>;
    /// Whether it is the home of the job.
    fn is_home(&self) -> bool;
    /// How often it placed the job again.
    fn placed_again(&self) -> u64;
    /// How often it gave the job away.
    fn moved(&self) -> u64;
    /// The outcome that a notice tells, if it tells one.
    fn last_word(notice: &Self::Notice) -> Option<News>;
}

impl<M: Leased> Exploration<M> {
    /// `nodes` nodes, of which the first gets the command `submit`. Hosts may give the commands of `reactions`.
    pub fn leased(
        nodes: u8,
        build: fn(NodeId) -> M,
        submit: M::Command,
        reactions: fn(&M) -> Vec<M::Command>,
    ) -> Self {
        Self {
            build,
            nodes,
            commands: vec![(0, submit)],
            reactions,
            crashes: 0,
            crash: Crash::Node,
            // A node uses the clock to tell its claims on the job from those of an earlier life.
            restart: Span::from_micros(1),
            horizon: Time::from_micros(15),
            arrivals: None,
            lateness: Span::ZERO,
            branching: 1,
            remember: |notice| M::last_word(notice).is_some(),
            judge,
            properties: always(),
        }
    }
}

/// Names the rule that an event has broken.
fn judge<M: Leased>(step: &Step<'_, M>) -> Option<&'static str> {
    let starts = step.after.runs() && !step.before.runs();
    let lasts = step.after.lease().is_some_and(|lease| lease > step.now);
    (starts && !lasts).then_some("a job starts only under a lease")
}

/// The outcomes that were told. The same outcome of the same node counts once.
fn words<M: Leased>(state: &State<M>) -> impl Iterator<Item = News> + '_ {
    let said = state.notices.iter();
    said.filter_map(|(_, notice)| M::last_word(notice))
}

/// What every exploration must show.
fn always<M: Leased>() -> Vec<Property<Exploration<M>>> {
    vec![
        Property::always("at most one node runs the job", |_, state: &State<M>| {
            up(state).filter(|(_, node)| node.runs()).count() <= 1
        }),
        Property::always(
            "no job runs when its lease is over",
            |case: &Exploration<M>, state: &State<M>| {
                up(state).filter(|(_, node)| node.runs()).all(|(_, node)| {
                    let lease = node.lease();
                    lease.is_some_and(|lease| state.now <= lease + case.lateness)
                })
            },
        ),
        Property::always("there is one last word", |_, state: &State<M>| {
            words(state).count() <= 1
        }),
        Property::always(
            "a job without a last word is remembered where it was submitted",
            |_, state: &State<M>| {
                let submitted = state.given & 1 != 0;
                let known = up(state).any(|(index, node)| index == 0 && node.is_home());
                let down = state.nodes[0].machine().is_none();
                !submitted || known || down || words(state).next().is_some() || state.crashes > 0
            },
        ),
    ]
}

fn some_runs<M: Leased>(state: &State<M>) -> bool {
    up(state).any(|(_, node)| node.runs())
}

/// A job is seen to run.
pub fn running<M: Leased>() -> Property<Exploration<M>> {
    Property::sometimes("a job runs", |_, state: &State<M>| some_runs(state))
}

/// A job that was placed again is seen to run.
pub fn runs_again<M: Leased>() -> Property<Exploration<M>> {
    Property::sometimes("a job runs that was placed again", |_, state: &State<M>| {
        up(state).any(|(_, node)| node.placed_again() > 0) && some_runs(state)
    })
}

/// A job is seen to run at a node that gave a job away before.
pub fn taken_back<M: Leased>() -> Property<Exploration<M>> {
    Property::sometimes(
        "a job that was given away runs where it was",
        |_, state: &State<M>| up(state).any(|(_, node)| node.runs() && node.moved() > 0),
    )
}

/// A job is seen to be finished.
pub fn finished<M: Leased>() -> Property<Exploration<M>> {
    Property::sometimes("a job is finished", |_, state: &State<M>| {
        words(state).any(|news| news == News::Finished)
    })
}

/// A job is seen to be finished that went on while its machine was down.
pub fn finished_after_all<M: Leased>() -> Property<Exploration<M>> {
    Property::sometimes("a job that went on is finished", |_, state: &State<M>| {
        state.resumed && words(state).any(|news| news == News::Finished)
    })
}

/// A job is seen to be cancelled.
pub fn withdrawn<M: Leased>() -> Property<Exploration<M>> {
    Property::sometimes("a job is cancelled", |_, state: &State<M>| {
        words(state).any(|news| news == News::Cancelled)
    })
}

/// A job is seen to run after a crash.
pub fn recovery<M: Leased>() -> Property<Exploration<M>> {
    Property::sometimes("a job runs after a crash", |_, state: &State<M>| {
        state.crashes > 0 && some_runs(state)
    })
}
