//! Mistakes that are made on purpose, one at a time, to see that the suites catch them. Only with `--cfg canary`.
//!
//! Each is one line in the code that it breaks, such as real systems of this kind have had: an end that is off by one,
//! an old message that is believed, a skew that is not allowed for. `tests/tests/canaries.rs` says which check must
//! catch which [`Canary`], and within how many seeds. An ordinary build has none of it: there `canary!` is the constant
//! `false`.
//!
//! ```
//! use gridweave_core::canary::{Canary, is_planted, plant};
//!
//! plant(Some(Canary::LateCommitTaken));
//! assert!(is_planted(Canary::LateCommitTaken) && !is_planted(Canary::StopNotTold));
//! plant(None);
//! assert!(!is_planted(Canary::LateCommitTaken));
//! ```

use core::sync::atomic::{AtomicU8, Ordering};

/// The one that is planted, by its place in [`Canary::ALL`] and counted from one; zero is none.
static PLANTED: AtomicU8 = AtomicU8::new(0);

/// Plants a canary in place of the one before, or none. It is the same for all threads.
pub fn plant(canary: Option<Canary>) {
    let number = canary.map_or(0, |canary| (canary as u8).saturating_add(1));
    PLANTED.store(number, Ordering::Relaxed);
}

/// Whether this one is planted.
pub fn is_planted(canary: Canary) -> bool {
    PLANTED.load(Ordering::Relaxed) == (canary as u8).saturating_add(1)
}

/// Whether a mistake is made on purpose.
macro_rules! canary {
    ($name:ident) => {
        $crate::canary::is_planted($crate::canary::Canary::$name)
    };
}

macro_rules! canaries {
    ($($(#[doc = $says:literal])+ $name:ident in $layer:literal,)*) => {
        /// A mistake that can be made.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Canary {
            $($(#[doc = $says])+ $name,)*
        }

        impl Canary {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// What goes wrong.
            pub const fn says(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($says,)+),)*
                }
            }

            /// Where it is.
            pub const fn layer(self) -> &'static str {
                match self {
                    $(Self::$name => $layer,)*
                }
            }
        }
    };
}

canaries! {
    /// Time is free if nothing is reserved where it begins.
    OverlapAtTheStartOnly in "schedule",
    /// A hold of an older attempt is taken.
    StaleHoldTaken in "schedule",
    /// A schedule is free beyond its horizon.
    HorizonNotKept in "schedule::common_slot",
    /// What begins where an interval ends counts as within it.
    StepAtTheEndCounted in "schedule::availability",
    /// A claim that is refused keeps the slots that it had got.
    ClaimNotRolledBack in "schedule::ledger",
    /// A timer that is cancelled comes all the same.
    TimerNotCancelled in "machine",
    /// A queue takes one job more than it may have.
    QueueOneTooLong in "queue::backfill",
    /// A job that passes those ahead of it is not counted.
    PassingNotCounted in "queue::backfill",
    /// A job that passes the first one may delay it.
    ShadowNotKept in "queue::site",
    /// The first starts, whether there are processors for it or not.
    HeadNeedsNoRoom in "queue::site",
    /// A view may hold its owner.
    OwnLinkTaken in "overlay::cyclon",
    /// A peer that is known from two sides is known twice.
    SamePeerTwice in "overlay::vicinity",
    /// A flood that was seen is passed on again.
    FloodsSeenAgain in "overlay::flood",
    /// What ants told of a node is kept when that node becomes a neighbour and tells of itself.
    NeighbourKeptInTheTable in "overlay::blatant",
    /// Of a zone that is split, the upper part begins one too low.
    SplitOffByOne in "overlay::can",
    /// A neighbour that is silent for long is not missed.
    SilentNotMissed in "overlay::can",
    /// An obituary is passed on as often as it is heard.
    ObituaryEchoed in "overlay::can",
    /// What no longer may run is not stopped.
    StopNotTold in "commit::participant",
    /// What was held when a node went down is free when it comes up.
    HoldLostInACrash in "commit::participant",
    /// A permission that is not renewed lasts.
    PermissionForEver in "commit::participant",
    /// An attempt is taken that is older than the newest known.
    OldAttemptsTaken in "commit::participant",
    /// A commit is taken though the lease of its hold is over.
    LateCommitTaken in "commit::participant",
    /// A vote is sent and not written down.
    VoteInMemory in "commit::participant",
    /// A job runs without a permission.
    StartedUnpermitted in "commit::participant",
    /// Any node is obeyed, and not only the coordinator of a job.
    AnyoneObeyed in "commit::participant",
    /// Every node is taken to have what a job requires, and to admit it.
    EveryNodeSuits in "admission",
    /// When a trial fails, the nodes that voted are not told.
    VotersNotTold in "commit::coordinator",
    /// A commit is decided on though a lease may end before it arrives.
    DecidedWithoutLeases in "commit::coordinator",
    /// A decision is sent and not written down.
    DecisionInMemory in "commit::coordinator",
    /// More time is permitted and not written down.
    ExtensionInMemory in "commit::coordinator",
    /// A start is permitted before all members have committed.
    BarrierSkipped in "commit::coordinator",
    /// A start is permitted while an earlier attempt can still run.
    EarlierPermissionsIgnored in "commit::coordinator",
    /// The earlier attempt is released before the later one is committed.
    ReleasedBeforeLocked in "commit::coordinator",
    /// A job is done when the first of its nodes is.
    DoneWhenOneIs in "commit::coordinator",
    /// A lease is over for the home that granted it as soon as its own clock says so.
    LeaseWithoutSkew in "custody",
    /// A job that survived a crash runs on though its home has not granted it for longer.
    ResumedForEver in "custody",
    /// A job that may have run is given away again, whatever its policy says.
    RunsAgainUnasked in "custody",
    /// A job is not let go when its lease is over.
    LeaseNotWatched in "custody",
    /// A home grants a claim and does not write it down.
    GrantInMemory in "custody",
    /// A home grants a term to a second node that claims it.
    SecondClaimCounts in "custody",
    /// A home tells an outcome and does not write it down.
    OutcomeInMemory in "custody",
    /// A holder starts a job and does not write it down.
    StartInMemory in "custody",
    /// A holder gives a job away and does not write it down.
    GivenInMemory in "custody",
    /// A holder takes a ruling on an earlier claim for one on its own.
    OldGrantTaken in "custody",
    /// A job that may have run is placed again, whatever its policy says.
    StartsAgainUnasked in "scheduler::desk",
    /// A search that finds nothing does not count.
    RoundsNotCounted in "scheduler::desk",
    /// A place is taken however far in the future it is.
    OfferBeyondTheHorizon in "scheduler::asap",
    /// A peer that does not answer is waited for for ever.
    SilenceWaitedFor in "scheduler::criteria",
    /// A node says that it is drained while a job runs there.
    DrainedTooSoon in "scheduler::desk",
    /// A job that ran and was taken away keeps its processors.
    DroppedJobKeepsItsRoom in "scheduler::aria",
    /// The latest offer counts as the best.
    LastOfferFirst in "scheduler::aria",
    /// A job that comes back from a failed move is queued under the number that the site withdrew.
    TakenBackAsBefore in "custody",
    /// A job is given to another site before its own has withdrawn it.
    GivenBeforeWithdrawn in "scheduler::aria",
    /// A job that a foreign site lost is waited for.
    VanishedNotNoted in "scheduler::aria",
    /// What a foreign site says of an older attempt is believed of the present one.
    OldAttemptReported in "scheduler::aria",
    /// A foreign site that does not answer has lost its jobs.
    SilentSiteTakenForGone in "scheduler::aria",
    /// What waits is not looked at when something has ended.
    NobodyStartsAfterAnEnd in "scheduler::desktop",
    /// A node that has nothing left stays in the second space.
    StaysWithNothingLeft in "scheduler::desktop",
    /// A job that was asked for and did not come is waited for without end.
    PullNotForgotten in "scheduler::desktop",
    /// A frame may be longer than the longest message of its kind.
    FrameBeyondItsCap in "wire",
    /// A message may have other bytes than those that it is written with.
    OtherBytesTaken in "wire",
}
