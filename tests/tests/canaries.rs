//! Plants every canary in the core, one at a time. The check that is named here must catch it in time.
//!
//! ```sh
//! RUSTFLAGS="--cfg canary" cargo test --release -p gridweave-tests --test canaries --target-dir target/canary -- --nocapture
//! ```
//!
//! It prints the table of [verification](../../docs/results/verification.md#canaries).
#![cfg(canary)]

use std::panic::{catch_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use gridweave_core::canary::Canary::{self, *};
use gridweave_core::canary::plant;
use gridweave_core::commit::Command;
use gridweave_core::time::Span;
use gridweave_lab::schedulers::Scheduler::{self, Aria, Asap, Criteria, Desktop};
use gridweave_lab::torture::Invariant::{
    Admitted, Bounded, Drained, Leased, NoRerun, OneExecution, Outcome, Overlay, Purpose, Quiet,
    Room, State, Thrift, TrueWord, Withdrawn,
};
use gridweave_lab::torture::{Invariant, Request, run};
use gridweave_tests::committing::{self, Weather, stormy};
use gridweave_tests::fuzzing;
use gridweave_tests::model::commit::{
    Peer, asked, extending, improve, place, release, rivals, slot, starting,
};
use gridweave_tests::model::{Exploration, Runner, custody};
use gridweave_tests::wire::vectors;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use stateright::{Checker, HasDiscoveries, Model as _};

/// The check that catches a canary.
enum By {
    /// `gridweave torture` of this scheduler, by one of these invariants.
    Torture(Scheduler, &'static [Invariant]),
    /// The body of a fuzz target, on random bytes.
    Bytes(&'static str),
    /// The test vectors of the wire format.
    Vectors,
    /// The model checker: this exploration must find that this property fails.
    Model(fn() -> Option<(u64, String)>, &'static str),
    /// The commit protocol in simulation: more than twice as many commits come too late.
    TooLate,
    /// Steps held against what was proved, by `.ci/long/proofs`.
    Steps,
}

use By::{Bytes, Model, Steps, TooLate, Torture, Vectors};

/// A canary, the check that catches it, and a limit: of seeds from zero, or for the model checker of states.
const TABLE: &[(Canary, By, u64)] = &[
    (OverlapAtTheStartOnly, Torture(Asap, &[State]), 20),
    (StaleHoldTaken, Bytes("schedule"), 20),
    (HorizonNotKept, Bytes("common_slot"), 20),
    (StepAtTheEndCounted, Bytes("availability"), 20),
    (ClaimNotRolledBack, Bytes("ledger"), 20),
    (TimerNotCancelled, Bytes("timers"), 20),
    (QueueOneTooLong, Bytes("backfill"), 20),
    (PassingNotCounted, Bytes("backfill"), 20),
    (ShadowNotKept, Bytes("site"), 20),
    (HeadNeedsNoRoom, Torture(Aria, &[State, Room]), 20),
    (OwnLinkTaken, Torture(Asap, &[State]), 20),
    (SamePeerTwice, Torture(Criteria, &[State]), 20),
    (FloodsSeenAgain, Torture(Aria, &[Bounded, Thrift]), 20),
    (NeighbourKeptInTheTable, Torture(Aria, &[State]), 20),
    (SplitOffByOne, Torture(Desktop, &[State, Overlay]), 20),
    (SilentNotMissed, Torture(Desktop, &[Overlay]), 20),
    (ObituaryEchoed, Torture(Desktop, &[Bounded]), 20),
    (
        StopNotTold,
        Torture(Asap, &[TrueWord, OneExecution, Room]),
        20,
    ),
    (HoldLostInACrash, Torture(Asap, &[State]), 50),
    (
        PermissionForEver,
        Torture(Criteria, &[OneExecution, TrueWord]),
        60,
    ),
    // A request that is delivered again is held beside the reservation that it became.
    (
        OldAttemptsTaken,
        Model(
            || {
                explored(alone(
                    2,
                    vec![
                        place(0, &[1], &[slot()]),
                        release(0),
                        place(0, &[1], &[slot()]),
                    ],
                ))
            },
            "what a seat says is in the schedule",
        ),
        MOST_STATES,
    ),
    (
        LateCommitTaken,
        Model(
            || explored(rivals(1, 2)),
            "a hold is never committed after its lease",
        ),
        MOST_STATES,
    ),
    (
        VoteInMemory,
        Model(
            || explored(crashing(rivals(1, 1))),
            "a vote outlives a crash",
        ),
        MOST_STATES,
    ),
    (
        StartedUnpermitted,
        Model(
            || explored(rivals(1, 2)),
            "no node starts unless all nodes of its epoch committed",
        ),
        MOST_STATES,
    ),
    // The jobs of both coordinators have the same id.
    (
        AnyoneObeyed,
        Model(
            || {
                explored(asked(
                    3,
                    [0, 1].map(|node| (node, place(0, &[2], &[slot()]))).into(),
                ))
            },
            "only its coordinator frees a job's time",
        ),
        MOST_STATES,
    ),
    (VotersNotTold, Torture(Asap, &[Purpose]), 20),
    (DecidedWithoutLeases, TooLate, 20),
    (
        DecisionInMemory,
        Model(
            || {
                explored(crashing(alone(
                    3,
                    vec![place(0, &[1], &[slot()]), place(0, &[2], &[slot()])],
                )))
            },
            "at most one attempt at a job runs",
        ),
        MOST_STATES,
    ),
    (
        ExtensionInMemory,
        Model(
            || explored(crashing(extending(rivals(1, 1)))),
            "a coordinator knows until when a node may run",
        ),
        MOST_STATES,
    ),
    (
        BarrierSkipped,
        Model(
            || explored(rivals(1, 2)),
            "no node may start before all have committed",
        ),
        MOST_STATES,
    ),
    (
        EarlierPermissionsIgnored,
        Model(
            || {
                explored(alone(
                    3,
                    vec![place(0, &[1], &[slot()]), improve(0, &[2], slot())],
                ))
            },
            "at most one attempt at a job runs",
        ),
        MOST_STATES,
    ),
    // The better placement fails: its start is too near.
    (
        ReleasedBeforeLocked,
        Model(
            || {
                explored(alone(
                    2,
                    vec![place(0, &[1], &[slot()]), improve(0, &[1], starting(0))],
                ))
            },
            "a job that keeps its place still has it",
        ),
        MOST_STATES,
    ),
    (DoneWhenOneIs, Torture(Criteria, &[TrueWord]), 20),
    (ResumedForEver, Torture(Aria, &[Leased, OneExecution]), 2000),
    (RunsAgainUnasked, Torture(Aria, &[NoRerun]), 100),
    (StartsAgainUnasked, Torture(Asap, &[NoRerun]), 100),
    (
        LeaseWithoutSkew,
        Model(
            || explored(skewed_custody()),
            "at most one node runs the job",
        ),
        MOST_STATES,
    ),
    (LeaseNotWatched, Torture(Aria, &[Bounded, Leased]), 100),
    (GrantInMemory, Steps, 1),
    (SecondClaimCounts, Steps, 1),
    (OutcomeInMemory, Steps, 1),
    (StartInMemory, Steps, 1),
    (GivenInMemory, Steps, 1),
    (OldGrantTaken, Steps, 1),
    (RoundsNotCounted, Torture(Criteria, &[Outcome]), 20),
    (OfferBeyondTheHorizon, Torture(Asap, &[Outcome]), 5000),
    (SilenceWaitedFor, Torture(Criteria, &[Bounded, Outcome]), 20),
    (DrainedTooSoon, Torture(Asap, &[Drained]), 400),
    (EveryNodeSuits, Torture(Asap, &[Admitted]), 20),
    (DroppedJobKeepsItsRoom, Torture(Aria, &[Outcome]), 20),
    (LastOfferFirst, Torture(Aria, &[State]), 20),
    (TakenBackAsBefore, Torture(Aria, &[Withdrawn]), 400),
    (
        GivenBeforeWithdrawn,
        Torture(Aria, &[NoRerun, OneExecution]),
        100,
    ),
    (VanishedNotNoted, Torture(Aria, &[Outcome]), 20),
    (
        OldAttemptReported,
        Torture(Aria, &[NoRerun, OneExecution, State, TrueWord]),
        4000,
    ),
    (
        SilentSiteTakenForGone,
        Torture(Aria, &[NoRerun, OneExecution, TrueWord]),
        400,
    ),
    (NobodyStartsAfterAnEnd, Torture(Desktop, &[Outcome]), 20),
    (StaysWithNothingLeft, Torture(Desktop, &[Overlay]), 20),
    (PullNotForgotten, Torture(Desktop, &[Quiet]), 2000),
    (FrameBeyondItsCap, Vectors, 100),
    (OtherBytesTaken, Vectors, 100),
];

/// How many states the model checker explores at most.
const MOST_STATES: u64 = 3_000_000;

/// `nodes` nodes, of which the first gets all commands.
fn alone(nodes: u8, commands: Vec<Command>) -> Exploration<Peer> {
    asked(
        nodes,
        commands.into_iter().map(|command| (0, command)).collect(),
    )
}

/// The same, and one node crashes.
fn crashing(case: Exploration<Peer>) -> Exploration<Peer> {
    Exploration { crashes: 1, ..case }
}

/// A home, an owner and a run node, with clocks as far apart as they may be.
fn skewed_custody() -> Exploration<custody::Node> {
    const SKEW: Span = Span::from_micros(2);
    let build = |me| {
        custody::Node::new(
            me,
            custody::Plan {
                skew: SKEW,
                ..custody::TWO
            },
        )
    };
    Exploration {
        arrivals: Some(6),
        ..custody::explored(3, SKEW, build)
    }
}

/// The property that the model checker finds to fail first, and after how many steps.
fn explored<M: Runner + Send + Sync + 'static>(case: Exploration<M>) -> Option<(u64, String)> {
    let checker = case.checker().threads(2);
    let checker = checker.finish_when(HasDiscoveries::AnyFailures);
    let checker = checker.target_state_count(MOST_STATES as usize);
    let found = checker.spawn_bfs().join().discoveries().into_iter();
    let shortest = found.min_by_key(|(_, path)| path.clone().into_actions().len())?;
    let (property, path) = shortest;
    let broken = path.last_state().broken;
    let steps = path.into_actions().len() as u64;
    Some((steps, broken.unwrap_or(property).to_owned()))
}

/// How many commits come too late in simulations with so many losses that votes are requested again.
fn too_late(seeds: u64) -> u64 {
    let late = |seed| {
        let (_, grid) = committing::run(Weather {
            lost: 40,
            held_up: 50,
            crashes: 0,
            ..stormy(seed)
        });
        grid.traffic().of(&["Expired"]).messages
    };
    (0..seeds).map(late).sum()
}

/// How many bytes a fuzz target is fed.
const BYTES: usize = 4000;

/// How a canary was caught: at which seed, and by which check.
struct Caught {
    seed: u64,
    why: String,
}

fn tortured(scheduler: Scheduler, seed: u64) -> Option<gridweave_lab::torture::Breach> {
    let request = Request {
        scheduler: Some(scheduler),
        ..Request::new(seed)
    };
    run(&request).breach
}

/// The first of these seeds for which `says` returns something, and what it returns.
fn first<T: Send>(seeds: u64, says: impl Fn(u64) -> Option<T> + Sync) -> Option<(u64, T)> {
    let (next, found) = (AtomicU64::new(0), AtomicU64::new(seeds));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let said = thread::scope(|scope| {
        let work = || {
            let mut said = Vec::new();
            loop {
                let seed = next.fetch_add(1, Ordering::SeqCst);
                if seed >= found.load(Ordering::SeqCst) {
                    return said;
                }
                if let Some(what) = says(seed) {
                    found.fetch_min(seed, Ordering::SeqCst);
                    said.push((seed, what));
                }
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let said = workers.into_iter().map(thread::ScopedJoinHandle::join);
        said.flat_map(|said| said.expect("a check does not panic"))
            .collect::<Vec<_>>()
    });
    said.into_iter().min_by_key(|(seed, _)| *seed)
}

/// Whether a fuzz target panics on the random bytes of this seed.
fn complains(target: &str, seed: u64) -> Option<()> {
    let (_, drive) = fuzzing::TARGETS.iter().find(|(name, _)| *name == target)?;
    let mut bytes = vec![0; BYTES];
    Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut bytes);
    catch_unwind(|| drive(&bytes)).err().map(|_| ())
}

/// The first test vector that is not refused as it should be.
fn vector_taken(seeds: u64) -> Option<(u64, String)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/wire.txt");
    let text = std::fs::read_to_string(file).expect("it is part of the repository");
    let (_, denied) = vectors::parse(&text).expect("it has three lines for each");
    let denied = (0..seeds).zip(denied);
    let mut taken = denied.filter(|(_, vector)| {
        // A frame that decodes, but encodes to other bytes, ends in a panic.
        let outcome = catch_unwind(|| vectors::outcome(&vector.protocol, &vector.frame));
        outcome.ok().flatten() != Some(Err(vector.refused.clone()))
    });
    taken.next().map(|(place, vector)| (place, vector.wrong))
}

/// The script that holds the steps of planted canaries against the proofs, with a line for each.
const STEPS: &str = include_str!("../../.ci/long/proofs");

/// How a planted canary is caught, or why it is not.
fn caught(canary: Canary, by: &By, within: u64) -> Result<Caught, String> {
    plant(Some(canary));
    let caught = match by {
        Torture(scheduler, reported) => {
            let found = first(within, |seed| tortured(*scheduler, seed));
            found.map(|(seed, breach)| {
                if !reported.contains(&breach.invariant) {
                    return Err(format!("seed {seed}: {breach}, which is not expected"));
                }
                let why = format!("`torture --scheduler {scheduler}`, {}", breach.invariant);
                Ok(Caught { seed, why })
            })
        }
        Bytes(target) => first(within, |seed| complains(target, seed)).map(|(seed, ())| {
            let why = format!("fuzz target `{target}`");
            Ok(Caught { seed, why })
        }),
        Vectors => vector_taken(within).map(|(seed, wrong)| {
            let why = format!("wire vector: {wrong}");
            Ok(Caught { seed, why })
        }),
        Model(case, property) => case().map(|(steps, failed)| {
            if failed != *property {
                return Err(format!(
                    "after {steps} steps: {failed}, which is not expected"
                ));
            }
            let why = format!("model checker, {steps} steps: {failed}");
            Ok(Caught { seed: 0, why })
        }),
        TooLate => {
            let planted = too_late(within);
            plant(None);
            let usual = too_late(within);
            (planted > 2 * usual).then(|| {
                let why = format!("simulation: {planted} commits too late instead of {usual}");
                Ok(Caught { seed: 0, why })
            })
        }
        Steps if !STEPS.contains(&format!("\n{canary:?} ")) => {
            Some(Err("`.ci/long/proofs` has no run for it".into()))
        }
        Steps => Some(Ok(Caught {
            seed: 0,
            why: "steps held against the proofs, by `.ci/long/proofs`".into(),
        })),
    };
    plant(None);
    let caught = caught.unwrap_or_else(|| Err("no check".into()))?;
    let seed = caught.seed;
    let is_quiet = match by {
        Torture(scheduler, _) => tortured(*scheduler, seed).is_none(),
        Bytes(target) => complains(target, seed).is_none(),
        Vectors => vector_taken(within).is_none(),
        // The suites explore these cases whole.
        Model(..) | TooLate | Steps => true,
    };
    match is_quiet {
        true => Ok(caught),
        false => Err(format!("seed {seed} is not quiet without it")),
    }
}

#[test]
fn every_canary_is_caught_in_time_by_the_expected_check() {
    for canary in Canary::ALL {
        let rows = TABLE.iter().filter(|(planted, ..)| planted == canary);
        assert_eq!(rows.count(), 1, "{canary:?} is to be caught by one");
    }
    // Most checks fail by a panic, which is not to be printed.
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let mut missed = Vec::new();
    println!("| canary | layer | what goes wrong | caught by | at seed | within |");
    println!("|---|---|---|---|---|---|");
    for (canary, by, within) in TABLE {
        let says = canary.says().trim().trim_end_matches('.');
        let (why, seed) = match caught(*canary, by, *within) {
            Ok(Caught { seed, why }) => (why, seed.to_string()),
            Err(why) => {
                missed.push(canary);
                (why, String::new())
            }
        };
        // In one go: the test runner writes between two calls if a check takes a minute.
        let layer = canary.layer();
        println!("| `{canary:?}` | `{layer}` | {says} | {why} | {seed} | {within} |");
    }
    set_hook(hook);
    assert!(
        missed.is_empty(),
        "not caught as they should be: {missed:?}"
    );
}
