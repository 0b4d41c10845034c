use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use std::collections::BTreeSet;

use gridweave_core::id::NodeId;

use super::*;

/// Whether to try everything. A debug build takes ten times as long, and tries a part.
const WHOLE: bool = !cfg!(debug_assertions);

/// Runs requests on all cores, and returns the reports in any order.
fn run_all(requests: &[Request]) -> Vec<Report> {
    let next = AtomicU64::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let work = || {
            let mut reports = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed) as usize;
                match requests.get(place) {
                    Some(request) => reports.push(run(request)),
                    None => return reports,
                }
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let made = workers.into_iter().map(thread::ScopedJoinHandle::join);
        made.flat_map(|reports| reports.expect("a run does not panic"))
            .collect()
    })
}

#[test]
fn a_panic_is_a_breach_of_the_run_and_does_not_end_the_others() {
    let request = Request {
        flaw: Some(Flaw::Panics),
        ..Request::new(0)
    };
    let panicked = (0..20).map(|seed| {
        run(&Request {
            seed,
            ..request.clone()
        })
    });
    let breach = panicked.filter_map(|report| report.breach).next();
    let breach = breach.expect("a job finishes in one of twenty runs");
    assert_eq!(breach.invariant, Invariant::State);
    assert_eq!(breach.what, "a panic: planted");
}

#[test]
fn a_run_is_a_function_of_its_seed_whether_it_is_traced_or_not() {
    for seed in 0..if WHOLE { 8 } else { 1 } {
        let request = Request::new(seed);
        let (one, two) = (run(&request), run_with(&request, Traced::Jobs));
        assert_eq!(one.digest, two.digest, "seed {seed}");
        assert_eq!(one.counters, two.counters, "seed {seed}");
        assert!(one.trace.is_empty() && !two.trace.is_empty());
        assert_ne!(one.digest, run(&Request::new(seed + 4)).digest);
    }
}

/// What must happen at least once for the runs to mean anything, beside every fault and every kind of message.
const SITUATIONS: &[&str] = &[
    "aria: a job let go that no node answers for",
    "aria: a job moved",
    "aria: a job placed again",
    "can: a claim objected to",
    "can: a neighbour let go",
    "can: a node told that it lost its zone",
    "can: a zone claimed whose node is missed",
    "can: a zone granted",
    "can: a zone taken over",
    "churn: a node left for good",
    "desktop: a job let go that no node answers for",
    "desktop: a job moved to start at once",
    "desktop: a job moved to where fewer wait",
    "desktop: a run node replaced",
    "desktop: a search among all",
    "desktop: an owner replaced",
    "job: accepted",
    "job: cancelled",
    "job: failed, broke",
    "job: failed, node lost",
    "job: finished",
    "job: interrupted by a crash",
    "job: moved",
    "job: orphaned",
    "job: refused",
    "job: refused, full",
    "job: stopped",
    "lie: a byte scrambled",
    "lie: a message from nowhere",
    "lie: a message replayed",
    "lie: a number nudged",
    "lie: a number oversized",
    "lie: nothing said",
    "lie: two answers",
    "job: refused by a node that leaves or is drained",
    "second space: a zone granted",
    "second space: a zone left or taken over",
    "site: a job withdrawn",
    "site: a withdrawal too late",
    "site: an acknowledged job lost",
    "site: restarted",
];

/// Kinds of messages that need not be sent in these runs; none at present.
const NEVER_SENT: &[&str] = &[];

#[test]
fn nothing_breaks_in_240_seeds_and_all_that_should_go_wrong_does() {
    let seeds = if WHOLE { 240 } else { 12 };
    let requests: Vec<Request> = (0..seeds).map(Request::new).collect();
    let reports = run_all(&requests);
    let mut counters = Counters::default();
    let mut sent = std::collections::BTreeMap::new();
    for report in &reports {
        let replay = format!("{} --trace", report.request);
        assert_eq!(report.breach, None, "{replay}");
        counters.merge(&report.counters);
        for (kind, count) in &report.sent {
            *sent.entry(kind.clone()).or_insert(0) += count;
        }
    }
    if !WHOLE {
        return;
    }
    for fault in Fault::ALL {
        assert!(counters.get(fault.name()) > 0, "{fault} never happened");
    }
    for situation in SITUATIONS {
        assert!(counters.get(situation) > 0, "never seen: {situation}");
    }
    for (kind, count) in sent {
        assert!(
            count > 0 || NEVER_SENT.contains(&kind.as_str()),
            "never sent: {kind}"
        );
    }
}

#[test]
fn seeds_that_once_broke_an_invariant_hold() {
    let once = [
        // A liar's offer of a place in 200 days was taken.
        (Scheduler::Asap, 0),
        // A node that woke at the very end of another node's permission took that permission for over.
        (Scheduler::Asap, 2276),
        // A job too long for its time was placed again for ever, if a better place was found each time.
        (Scheduler::Criteria, 8),
        // After all nodes had been down at once, no node had a zone.
        (Scheduler::Desktop, 17),
        // After a partition each side had the whole space for ever.
        (Scheduler::Desktop, 18),
        // A job was forgotten before its last word was told, and the node went down in between.
        (Scheduler::Desktop, 82),
        // Two nodes told each other without end that they are dead.
        (Scheduler::Desktop, 112),
        // Three nodes, one of them a liar, sent searches for zones round in circles.
        (Scheduler::Desktop, 8327),
        // After a restart, the home and owner of a job ran it again: word of the restored job came after its end.
        (Scheduler::Desktop, 1291),
        // With clocks exactly `max_skew` apart, the home gave a job away at the instant at which its holder let it go.
        (Scheduler::Desktop, 182_669_587_424_327),
        (Scheduler::Desktop, 182_669_587_424_419),
        // A message that was held up was answered after the check for idle messages had begun.
        (Scheduler::Asap, 9_462_760_590_908),
        // A coordinator that went down after it had written that a job broke set its timer again without end.
        (Scheduler::Asap, 1_001_923),
        // A node that was cut off before the start ran its part of a job, which was then placed again.
        (Scheduler::Criteria, 10_418_015_020_205),
        // All nodes went down at once, and then the only two nodes known to both parts of the overlay left for good.
        (Scheduler::Desktop, 9_462_760_605_063),
        // The nodes that linked two parts of an overlay were lost, and no operator helped.
        (Scheduler::Desktop, 10_418_015_028_023),
        // A job whose name a liar had taken got no outcome: `Known` was said of it, which is none.
        (Scheduler::Criteria, 777_001_245),
        // Liars sent requests to enter the second space round, under ever other names.
        (Scheduler::Desktop, 4_030_845_383_231),
        // A node that was doomed went down in the calm, and kept a hold for as long as its lease.
        (Scheduler::Asap, 4_030_845_350_816),
        // The runs of these three take long, so a debug build leaves them out.
        // A leaver refused a job that it had had before a crash, and still ran it.
        (Scheduler::Criteria, 913),
        // A liar made up many neighbours. When they were missed, peers were asked about all of them at once.
        (Scheduler::Desktop, 9839),
        // Forged balloons went round between nodes that a liar had made wrong about each other's zones.
        (Scheduler::Desktop, 13_897_164_121_267),
    ];
    let requests = once.map(|(scheduler, seed)| Request {
        scheduler: Some(scheduler),
        ..Request::new(seed)
    });
    let some = requests.len() - if WHOLE { 0 } else { 3 };
    for report in run_all(&requests[..some]) {
        assert_eq!(report.breach, None, "{}", report.request);
    }
}

/// With crashes and moves, but without the faults that hide most of what happens at sites.
#[test]
fn foreign_sites_lose_no_job_and_run_none_twice() {
    let others = Fault::ALL
        .into_iter()
        .filter(|fault| ![Fault::Foreign, Fault::Crash, Fault::Skew].contains(fault));
    let request = |seed| Request {
        scheduler: Some(Scheduler::Aria),
        without: others.clone().collect(),
        ..Request::new(seed)
    };
    let requests = (0..if WHOLE { 600 } else { 30 }).map(request);
    let foreign = requests.filter(|request| Scenario::new(request).has(Fault::Foreign));
    let mut counters = Counters::default();
    for report in run_all(&foreign.collect::<Vec<_>>()) {
        assert_eq!(report.breach, None, "{}", report.request);
        counters.merge(&report.counters);
    }
    let often = if WHOLE { 10 } else { 0 };
    for situation in [
        "site: a job withdrawn",
        "site: a withdrawal too late",
        "site: an acknowledged job lost",
        "site: restarted",
    ] {
        assert!(counters.get(situation) > often, "seldom seen: {situation}");
    }
}

#[test]
fn nodes_that_commit_in_groups_lose_nothing() {
    let request = |seed| Request {
        group_commit: true,
        ..Request::new(seed)
    };
    // In the first, a node went down when it had written a record and not yet forgotten the one that made room for it.
    // In the second, a node goes down between the last word on a job and its end on disk.
    let known = [(Scheduler::Asap, 196), (Scheduler::Desktop, 82)];
    let known = known.map(|(scheduler, seed)| Request {
        scheduler: Some(scheduler),
        ..request(seed)
    });
    let all: Vec<Request> = (0..if WHOLE { 300 } else { 4 }).map(request).collect();
    let mut crashes = 0;
    for report in run_all(&[&known[..], &all].concat()) {
        assert_eq!(report.breach, None, "{}", report.request);
        crashes += report.counters.get(Fault::Crash.name());
    }
    let least = if WHOLE { 10 } else { 2 };
    assert!(crashes > least, "only {crashes} crashes");
}

/// The minimised report of the first seed in which a planted bug breaks one of these invariants.
fn caught(flaw: Flaw, scheduler: Scheduler, invariants: &[Invariant]) -> Report {
    let request = |seed| Request {
        scheduler: Some(scheduler),
        flaw: Some(flaw),
        ..Request::new(seed)
    };
    let breaks = |request: &Request| {
        let breach = run(request).breach;
        breach.is_some_and(|breach| invariants.contains(&breach.invariant))
    };
    let first = (0..80).map(request).find(breaks);
    let smallest = first.and_then(|request| minimised(&request));
    smallest.unwrap_or_else(|| panic!("{flaw:?} is never caught in {scheduler} by {invariants:?}"))
}

#[test]
fn a_bug_that_is_put_in_is_caught_and_made_small() {
    use Invariant::{Bounded, LastWord, NoRerun, OneExecution, Outcome, Thrift};
    for (flaw, scheduler, invariants) in [
        (Flaw::StartsTwice, Scheduler::Asap, &[OneExecution][..]),
        // Of some jobs a second start is one run too many, too.
        (Flaw::StartsTwice, Scheduler::Aria, &[OneExecution, NoRerun]),
        (Flaw::SwallowsLastWords, Scheduler::Criteria, &[Outcome]),
        (Flaw::RepeatsLastWords, Scheduler::Desktop, &[LastWord]),
        (Flaw::Chatters, Scheduler::Aria, &[Bounded]),
        (Flaw::Stutters, Scheduler::Aria, &[Thrift]),
    ]
    .into_iter()
    .take(if WHOLE { 6 } else { 1 })
    {
        let report = caught(flaw, scheduler, invariants);
        // One job is enough, and no fault is needed beside the bug.
        let scenario = Scenario::new(&report.request);
        assert_eq!(scenario.jobs.len(), 1, "{}", report.request);
        assert!(scenario.nodes <= 8, "{}", report.request);
        assert!(scenario.faults.len() <= 1, "{}", report.request);
    }
}

/// The first job that is long enough may not be the first of all; then all jobs before it are needed, too.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute unless it is optimised")]
fn a_gang_that_starts_incomplete_is_caught() {
    for scheduler in [Scheduler::Asap, Scheduler::Criteria] {
        let report = caught(Flaw::SitsOut, scheduler, &[Invariant::Together]);
        let scenario = Scenario::new(&report.request);
        assert!(scenario.faults.len() <= 1, "{}", report.request);
    }
}

#[test]
fn a_job_that_never_stops_is_caught() {
    let still_runs = [
        Invariant::Room,
        Invariant::TrueWord,
        Invariant::OneExecution,
    ];
    caught(Flaw::NeverStops, Scheduler::Criteria, &still_runs);
}

#[test]
fn nodes_that_write_nothing_down_are_caught_by_crashes_and_by_nothing_else() {
    let some = if WHOLE { usize::MAX } else { 1 };
    for scheduler in Scheduler::tortured()
        .skip(if WHOLE { 2 } else { 0 })
        .chain(Scheduler::tortured().take(2))
        .take(some)
    {
        let report = caught(Flaw::ForgetsRecords, scheduler, &Invariant::ALL);
        let faults = Scenario::new(&report.request).faults;
        let goes_down = [Fault::Crash, Fault::Stale, Fault::Churn, Fault::DiskLoss];
        let crashed = faults.iter().any(|fault| goes_down.contains(fault));
        assert!(crashed, "{}: {:?}", report.request, report.breach);
    }
}

#[test]
fn leaving_a_fault_out_changes_no_other_part_of_a_scenario() {
    for seed in 0..50 {
        let whole = Scenario::new(&Request::new(seed));
        for fault in whole.faults.iter().copied() {
            let request = Request {
                without: BTreeSet::from([fault]),
                ..Request::new(seed)
            };
            let part = Scenario::new(&request);
            assert!(!part.has(fault) && part.faults.len() + 1 == whole.faults.len());
            assert_eq!(part.calm, whole.calm);
            let times = |scenario: &Scenario| -> Vec<_> {
                scenario
                    .jobs
                    .iter()
                    .map(|job| (job.at, job.estimate))
                    .collect()
            };
            assert_eq!(times(&part), times(&whole));
        }
        let fewer = Request {
            jobs: Some(3),
            ..Request::new(seed)
        };
        assert_eq!(Scenario::new(&fewer).jobs[..], whole.jobs[..3]);
    }
}

#[test]
fn clocks_differ_by_at_most_max_skew_unless_far_clocks_are_picked() {
    let mut seen = [0, 0];
    for seed in 0..200 {
        let scenario = Scenario::new(&Request::new(seed));
        let nodes = (0..u64::from(scenario.nodes)).map(NodeId::new);
        let clocks: Vec<_> = nodes.map(|node| scenario.clock(node)).collect();
        let apart = clocks.iter().max().copied().unwrap_or_default()
            - clocks.iter().min().copied().unwrap_or_default();
        if scenario.has(Fault::FarClocks) {
            seen[0] += u32::from(apart > MAX_SKEW);
        } else {
            assert!(apart <= MAX_SKEW, "seed {seed}: {apart}");
            seen[1] += u32::from(apart == MAX_SKEW);
        }
    }
    assert!(seen[0] > 3 && seen[1] > 20, "{seen:?}");
}

#[test]
fn faults_and_invariants_have_names_of_their_own() {
    let faults: BTreeSet<&str> = Fault::ALL.map(Fault::name).into();
    let invariants: BTreeSet<&str> = Invariant::ALL.map(Invariant::name).into();
    assert_eq!(faults.len(), Fault::ALL.len());
    assert_eq!(invariants.len(), Invariant::ALL.len());
    for fault in Fault::ALL {
        assert_eq!(fault.name().parse(), Ok(fault));
        assert!(fault.keeps().contains(&Invariant::State));
        assert!(fault.keeps().contains(&Invariant::Bounded));
    }
    assert!("rain".parse::<Fault>().is_err());
    assert_eq!(Fault::all_keep(&BTreeSet::new()), Invariant::ALL.into());
}

#[test]
fn a_request_is_the_command_that_replays_it() {
    let request = Request {
        scheduler: Some(Scheduler::Aria),
        without: BTreeSet::from([Fault::Loss, Fault::Skew]),
        nodes: Some(5),
        jobs: Some(3),
        ..Request::new(7)
    };
    assert_eq!(
        request.to_string(),
        "gridweave torture --scheduler aria --seed 7 --without loss,skew --nodes 5 --jobs 3"
    );
}

#[test]
fn an_overlay_in_two_parts_is_not_whole() {
    let knows = |links: &[(u64, &[u64])]| {
        let links = links.iter().map(|(node, peers)| {
            let peers = peers.iter().copied().map(NodeId::new);
            (NodeId::new(*node), peers.collect())
        });
        subject::is_connected(&links.collect())
    };
    assert_eq!(knows(&[]), Ok(()));
    assert_eq!(knows(&[(1, &[]), (2, &[1]), (3, &[2, 9])]), Ok(()));
    // A link to a node that is gone joins nothing.
    assert!(knows(&[(1, &[9]), (2, &[9])]).is_err());
    assert!(knows(&[(1, &[2]), (2, &[]), (3, &[4]), (4, &[])]).is_err());
}

/// Reproductions count messages by these names; a name that no message has would count nothing.
#[test]
fn the_kinds_that_reproductions_count_are_kinds_of_messages() {
    use crate::schedulers::{aria, asap};
    let asap_kinds = [
        &[
            asap::PUSH,
            asap::PULL,
            asap::POLL,
            asap::REFUSED,
            asap::GOSSIP,
        ][..],
        &asap::SEARCH,
        &asap::SUBSCRIPTIONS,
    ];
    let aria_kinds = [
        &[aria::REQUEST, aria::INFORM, aria::ACCEPT, aria::ASSIGN][..],
        &aria::CUSTODY,
    ];
    let counted = [
        (Scheduler::Asap, asap_kinds.concat()),
        (Scheduler::Aria, aria_kinds.concat()),
    ];
    for (scheduler, kinds) in counted {
        let sent = run(&Request {
            scheduler: Some(scheduler),
            ..Request::new(1)
        })
        .sent;
        for kind in kinds {
            let mut names = sent.iter().map(|(name, _)| name);
            assert!(
                names.any(|name| gridweave_sim::engine::is_of(name, &[kind])),
                "{scheduler}: {kind}"
            );
        }
    }
}
