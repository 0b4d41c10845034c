//! The watch alone: what it is told, and what it objects to.

use super::*;

const NODES: [NodeId; 2] = [NodeId::new(1), NodeId::new(2)];

/// With a job of two nodes, submitted at the first of them.
fn watch() -> Watch {
    calm_from(Time::MAX)
}

fn calm_from(calm: Time) -> Watch {
    let terms = Terms {
        grace: Some(Span::from_secs(10)),
        lingers: Span::from_secs(5),
        calm,
        kept: Invariant::ALL.into(),
    };
    let mut watch = Watch::new(terms, Rooms::Whole);
    watch.add(Wish {
        nodes: 2,
        takes: None,
        reruns: 1,
        asks: Asks::default(),
    });
    watch.submitted(0, NODES[0]);
    watch
}

fn second(second: u64) -> Time {
    Time::from_secs(second)
}

fn broken(watch: &Watch) -> Option<Invariant> {
    watch.breach().map(|breach| breach.invariant)
}

fn start(watch: &mut Watch, at: u64, node: NodeId, attempt: u64) {
    watch.started(second(at), node, 0, Epoch::new(attempt));
}

#[test]
fn a_node_that_leaves_without_a_last_word_is_caught() {
    let mut watch = watch();
    watch.departs(Time::ZERO, NODES[1]);
    assert_eq!(broken(&watch), None);
    watch.departs(Time::ZERO, NODES[0]);
    assert_eq!(broken(&watch), Some(Invariant::Outcome));
}

#[test]
fn a_drained_node_that_runs_a_job_is_caught() {
    let mut watch = watch();
    start(&mut watch, 1, NODES[0], 1);
    watch.drained(second(2), NODES[1]);
    assert_eq!(broken(&watch), None);
    watch.drained(second(2), NODES[0]);
    assert_eq!(broken(&watch), Some(Invariant::Drained));
}

#[test]
fn a_job_that_runs_on_some_of_its_nodes_for_too_long_is_caught() {
    let mut watch = watch();
    start(&mut watch, 1, NODES[0], 1);
    watch.look(second(11));
    assert_eq!(broken(&watch), None);
    let mut whole = watch.clone();
    start(&mut whole, 11, NODES[1], 1);
    whole.look(second(12));
    assert_eq!(broken(&whole), None);
    watch.look(second(12));
    assert_eq!(broken(&watch), Some(Invariant::Together));
}

#[test]
fn two_attempts_at_once_are_caught() {
    let mut watch = watch();
    start(&mut watch, 1, NODES[0], 1);
    let mut other = watch.clone();
    start(&mut other, 2, NODES[1], 2);
    assert_eq!(broken(&other), Some(Invariant::OneExecution));
    watch.stopped(second(2), NODES[0], 0, Epoch::new(1));
    start(&mut watch, 3, NODES[1], 2);
    assert_eq!(broken(&watch), None);
}

#[test]
fn what_begins_after_its_last_word_is_caught() {
    let mut done = watch();
    for node in NODES {
        start(&mut done, 1, node, 1);
    }
    for node in NODES {
        done.ended(second(2), node, 0, Epoch::new(1), false);
    }
    assert_eq!(
        done.said(second(2), NODES[0], 0, News::Finished),
        Word::First
    );
    assert_eq!(broken(&done), None);
    start(&mut done, 3, NODES[0], 2);
    assert_eq!(broken(&done), Some(Invariant::NoRerun));

    let mut cancelled = watch();
    cancelled.unwanted(0);
    cancelled.said(second(2), NODES[0], 0, News::Cancelled);
    for (at, expected) in [(7, None), (8, Some(Invariant::NoRerun))] {
        let mut late = cancelled.clone();
        start(&mut late, at, NODES[0], 1);
        assert_eq!(broken(&late), expected, "{at}");
    }
    start(&mut cancelled, 3, NODES[0], 1);
    cancelled.look(second(7));
    assert_eq!(broken(&cancelled), None);
    cancelled.look(second(8));
    assert_eq!(broken(&cancelled), Some(Invariant::TrueWord));
}

#[test]
fn a_word_that_must_not_be_said_is_caught() {
    let failed = News::Failed(Failure::NodeLost);
    let said = |words: &[(NodeId, News)]| {
        let mut watch = watch();
        for node in NODES {
            start(&mut watch, 1, node, 1);
        }
        for (node, news) in words {
            watch.said(second(2), *node, 0, news.clone());
        }
        broken(&watch)
    };
    assert_eq!(said(&[(NODES[0], failed.clone())]), None);
    let untrue = Some(Invariant::TrueWord);
    assert_eq!(said(&[(NODES[0], News::Finished)]), untrue, "it still runs");
    assert_eq!(
        said(&[(NODES[0], News::Cancelled)]),
        untrue,
        "the user did not want that"
    );
    assert_eq!(
        said(&[(NODES[1], failed.clone())]),
        untrue,
        "it was submitted elsewhere"
    );
    let twice = Some(Invariant::LastWord);
    assert_eq!(
        said(&[(NODES[0], failed.clone()), (NODES[0], failed.clone())]),
        twice
    );
    assert_eq!(
        said(&[(NODES[0], failed), (NODES[0], News::Finished)]),
        twice
    );
}

#[test]
fn a_start_on_a_node_that_lacks_something_or_does_not_admit_the_job_is_a_breach() {
    use gridweave_core::admission::{Admission, Attributes, Organisations, Stated};
    use gridweave_core::id::OrganisationId;
    use gridweave_core::job::Scope;

    let dimensions = Dimensions::new(&[("memory", Kind::Amount), ("os", Kind::Category)]).unwrap();
    let [memory, os] = ["memory", "os"].map(|name| dimensions.named(name).unwrap());
    let [ours, theirs] = [1, 2].map(OrganisationId::new);
    let list = |one| Organisations::new([one]).unwrap();
    let needs = |memory_needed, os_needed| {
        let any = Requirement::any();
        any.with(memory, memory_needed).with(os, os_needed)
    };
    let any = Requirement::any();
    for (admission, organisation, requirement, scope, may) in [
        (Admission::All, theirs, any, Scope::Grid, true),
        (Admission::All, theirs, needs(4, 1), Scope::Grid, true),
        (Admission::All, theirs, needs(5, 1), Scope::Grid, false),
        (Admission::All, theirs, needs(4, 2), Scope::Grid, false),
        (Admission::All, theirs, any, Scope::Organisation, false),
        (Admission::Own, theirs, any, Scope::Grid, false),
        (Admission::Own, ours, needs(1, 1), Scope::Organisation, true),
        (Admission::Only(list(theirs)), ours, any, Scope::Grid, false),
        (
            Admission::Only(list(theirs)),
            theirs,
            any,
            Scope::Grid,
            true,
        ),
        (
            Admission::Except(list(theirs)),
            theirs,
            any,
            Scope::Grid,
            false,
        ),
        (
            Admission::Except(list(theirs)),
            ours,
            any,
            Scope::Grid,
            true,
        ),
    ] {
        let terms = Terms {
            grace: None,
            lingers: Span::ZERO,
            calm: Time::MAX,
            kept: Invariant::ALL.into(),
        };
        let stated = Stated::new(Attributes {
            organisation: ours,
            admission: admission.clone(),
            capability: dimensions.capability(&[4, 1]).unwrap(),
        });
        let grounds = Grounds {
            dimensions: dimensions.clone(),
            stated: Vec::from([stated]),
        };
        let mut watch = Watch::new(terms, Rooms::Whole).on_grounds(Some(grounds));
        let one = Demand::Nodes(NonZeroU32::MIN);
        let mut job = Job::new(JobId::new(0), one, Span::from_secs(1)).unwrap();
        job.submitter.organisation = organisation;
        (job.requirement, job.scope) = (requirement, scope);
        watch.add(Wish {
            nodes: 1,
            takes: None,
            reruns: 0,
            asks: Asks::of(&job),
        });
        watch.submitted(0, NODES[0]);
        let began = watch.started(second(1), NodeId::new(0), 0, Epoch::new(1));
        let breach = watch.breach().map(|breach| breach.invariant);
        let found = (!may).then_some(Invariant::Admitted);
        assert_eq!(
            (began, breach),
            (may, found),
            "{admission:?} {requirement:?} {scope:?}"
        );
    }
}

#[test]
fn an_attempt_that_begins_again_at_a_node_is_caught() {
    let ends: [fn(&mut Watch); 4] = [
        |watch| drop(watch.crashed(second(2), NODES[0])),
        |watch| assert!(watch.stopped(second(2), NODES[0], 0, Epoch::new(1))),
        |watch| watch.ended(second(2), NODES[0], 0, Epoch::new(1), false),
        |watch| watch.ended(second(2), NODES[0], 0, Epoch::new(1), true),
    ];
    for end in ends {
        let mut watch = watch();
        start(&mut watch, 1, NODES[0], 1);
        end(&mut watch);
        assert_eq!(broken(&watch), None);
        start(&mut watch, 4, NODES[0], 1);
        assert_eq!(broken(&watch), Some(Invariant::OneExecution));
    }
    // Its other node may begin later.
    let mut watch = watch();
    start(&mut watch, 1, NODES[0], 1);
    watch.stopped(second(2), NODES[0], 0, Epoch::new(1));
    start(&mut watch, 3, NODES[1], 1);
    assert_eq!(broken(&watch), None);
}

#[test]
fn a_job_that_was_done_in_the_calm_and_begins_again_is_caught() {
    for (calm, crash, caught) in [
        (0, None, Some(Invariant::NoRerun)),
        (9, None, None),
        (0, Some(2), None),
    ] {
        let mut watch = calm_from(second(calm));
        for node in NODES {
            start(&mut watch, 1, node, 1);
            watch.ended(second(2), node, 0, Epoch::new(1), false);
        }
        if let Some(at) = crash {
            watch.crashed(second(at), NODES[1]);
        }
        start(&mut watch, 3, NODES[0], 2);
        assert_eq!(broken(&watch), caught, "{calm} {crash:?}");
    }
    // Nor if its machine was down all the time.
    let mut watch = calm_from(Time::ZERO);
    for node in NODES {
        start(&mut watch, 1, node, 1);
        watch.begins_untold(second(1));
        watch.ended(second(2), node, 0, Epoch::new(1), false);
    }
    start(&mut watch, 3, NODES[0], 2);
    assert_eq!(broken(&watch), None);
}

#[test]
fn a_last_word_is_said_again_only_once_for_each_crash() {
    let mut watch = watch();
    watch.unwanted(0);
    let say = |watch: &mut Watch| watch.said(second(1), NODES[0], 0, News::Cancelled);
    assert_eq!(say(&mut watch), Word::First);
    watch.crashed(second(2), NODES[0]);
    assert_eq!(say(&mut watch), Word::Repeated);
    assert_eq!(say(&mut watch), Word::Wrong);
}

#[test]
fn what_runs_longer_than_its_host_was_told_is_caught() {
    let begun = |act: fn(&mut Host<'_, Simulation<Liar>>)| {
        let mut grid = liars(Lie::Honest, 3);
        let mut host = Host::new(&mut grid, watch());
        let until = (Epoch::new(1), second(5));
        assert!(host.begin(
            second(1),
            NODES[0],
            0,
            until,
            (Span::from_secs(10), Outcome::Done)
        ));
        act(&mut host);
        broken(&host.watch)
    };
    let caught = Some(Invariant::Leased);
    assert_eq!(begun(|host| assert!(host.end_next())), caught);
    assert_eq!(
        begun(|host| host.extend(second(6), NODES[0], 0, Epoch::new(1), second(9))),
        caught
    );
    assert_eq!(
        begun(|host| assert!(host.stopped(second(6), NODES[0], 0, Epoch::new(1)))),
        caught
    );
    assert_eq!(
        begun(|host| assert!(host.stopped(second(5), NODES[0], 0, Epoch::new(1)))),
        None
    );
    let extended = begun(|host| {
        host.extend(second(5), NODES[0], 0, Epoch::new(1), second(11));
        assert!(host.end_next());
    });
    assert_eq!(extended, None);
    // While its machine is down, its host ends it.
    let alone = begun(|host| {
        host.outlive(second(2), NODES[0], Span::ZERO);
        assert!(host.end_next());
    });
    assert_eq!(alone, None);
}
