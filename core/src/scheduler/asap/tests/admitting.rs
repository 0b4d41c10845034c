//! Searches pass over nodes that cannot run a job or do not admit its organisation, and say so.

use super::*;
use crate::admission::{Admission, Attributes, Organisations, Unsuited};
use crate::id::OrganisationId;
use crate::job::Scope;
use crate::resource::{Dimensions, Kind, Requirement};
use Did::{Forget, Persist, Send, Tell};

const FREE: &[Interval] = &[];

/// A node that admits no job of organisation 0.
fn closed() -> Stated {
    let zero = Organisations::new([OrganisationId::new(0)]).unwrap();
    Stated::new(Attributes {
        admission: Admission::Except(zero),
        ..Attributes::default()
    })
}

/// A free node that states this.
fn states(reason: Reason, stated: Stated) -> Message<3> {
    let schedule = snapshot(1, FREE);
    Message::Schedule {
        reason,
        stated,
        schedule,
    }
}

/// A node with neighbours 1 to 3, of which the first ones are closed.
fn beside(closed_ones: u64) -> Bench {
    let mut bench = Bench::meeting(CONFIG, &[1, 2, 3]);
    for peer in 1..=3 {
        let stated = match peer <= closed_ones {
            true => closed(),
            false => Stated::NOTHING,
        };
        bench.hear(peer, states(Reason::NewLink, stated));
    }
    bench
}

fn saw(suited: u32, closed: u32, lacking: u32) -> Message<3> {
    let seen = Tally {
        suited,
        closed,
        lacking,
    };
    let ask = ask(1);
    Message::NotFound { ask, seen }
}

#[test]
fn a_search_passes_over_a_node_that_does_not_admit_the_organisation() {
    let mut bench = beside(1);
    bench.answers(9, search(1, 2, 60), found(1, 60, 1, &[2, 3]));
}

#[test]
fn a_node_that_cannot_run_a_job_is_asked_for_its_neighbours_all_the_same() {
    let mut bench = beside(2);
    assert_eq!(bench.hear(9, search(1, 2, 60)), [Send(1, who_else(1))]);
    assert_eq!(
        bench.hear(1, others(1, &[(4, FREE)])),
        [Send(9, found(1, 60, 2, &[3, 4]))]
    );
}

#[test]
fn a_search_says_how_many_nodes_it_saw_that_could_not_run_the_job() {
    let mut bench = beside(2);
    bench.hear(9, search(1, 3, 60));
    for peer in [1, 2] {
        bench.hear(peer, others(1, &[]));
    }
    assert_eq!(bench.hear(3, others(1, &[])), [Send(9, saw(1, 2, 0))]);

    // Without dimensions no node has what is required.
    let dimensions = Dimensions::new(&[("memory", Kind::Level)]).unwrap();
    let memory = dimensions.named("memory").unwrap();
    let requirement = Requirement::any().with(memory, 1);
    let wanted = Wanted {
        needs: Needs::new(requirement, Scope::Grid),
        ..wanted(1, 60)
    };
    let ask = ask(1);
    bench.hear(9, Message::Search { ask, wanted });
    for peer in [1, 2] {
        bench.hear(peer, others(2, &[]));
    }
    assert_eq!(bench.hear(3, others(2, &[])), [Send(9, saw(0, 0, 3))]);
}

#[test]
fn a_pulled_schedule_brings_what_the_node_states() {
    let config = Config {
        exchange: Exchange::Pull,
        max_hops: 1,
        ..CONFIG
    };
    let mut bench = Bench::meeting(config, &[1, 2]);
    bench.hear(9, search(1, 1, 60));
    bench.hear(1, states(Reason::Search(SearchId(1)), closed()));
    bench.hears(
        2,
        states(Reason::Search(SearchId(1)), Stated::NOTHING),
        [Send(9, found(1, 60, 1, &[2]))],
    );
}

#[test]
fn a_newer_schedule_replaces_what_a_neighbour_stated() {
    let mut bench = beside(1);
    bench.hear(1, schedule(Reason::Changed, 2, FREE));
    bench.answers(9, search(1, 3, 60), found(1, 60, 1, &[1, 2, 3]));
    // The schedule from before does not come back.
    bench.hear(1, states(Reason::NewLink, closed()));
    bench.answers(9, search(1, 3, 60), found(1, 60, 1, &[1, 2, 3]));
}

#[test]
fn a_job_for_which_too_few_nodes_are_suited_is_refused_with_what_the_others_were_missing() {
    for (seen, refusal) in [
        (saw(2, 0, 0), Refusal::TooLarge),
        (saw(2, 1, 5), Refusal::NotAccepted),
        (saw(0, 1, 2), Refusal::NoMatch),
        (saw(0, 1, 1), Refusal::TooLarge),
        (saw(3, 0, 9), Refusal::NoStart),
    ] {
        let mut bench = Bench::among(CONFIG, 3);
        bench.submit(7, 3);
        assert_eq!(bench.hear(1, saw(0, 0, 1)), []);
        assert_eq!(
            bench.hear(2, seen),
            [Persist(OF_JOB), Tell(7, failed(refusal)), Forget(OF_JOB)]
        );
    }
}

#[test]
fn a_submitter_asks_for_what_its_job_needs_and_a_node_is_asked_again_to_admit_it() {
    let mut bench = Bench::among(CONFIG, 1);
    let mut job = job(7, 1);
    job.submitter.organisation = OrganisationId::new(5);
    job.scope = Scope::Organisation;
    let needs = Needs::of(&job);
    let wanted = Wanted {
        organisation: job.submitter.organisation,
        needs: needs.clone(),
        ..wanted(1, 60)
    };
    let ask = ask(1);
    assert_eq!(
        bench.obey(Command::submit(job)),
        [Persist(OF_JOB), Send(1, Message::Search { ask, wanted })]
    );
    let prepare = Message::Commit(Vote::Prepare {
        attempt: attempt(1, 1),
        interval: busy(60, 120),
        lease: CONFIG.commit.lease,
        submitter: job.submitter,
        needs,
        payload: Payload::EMPTY,
    });
    bench.hears(1, found(1, 60, 1, &[4]), [Send(4, prepare)]);
}

#[test]
fn a_search_among_many_nodes_that_cannot_run_a_job_ends_when_it_has_seen_its_most() {
    let config = Config {
        max_hops: u8::MAX,
        candidates: 1,
        ..CONFIG
    };
    let mut bench = Bench::meeting(config, &[1]);
    bench.hear(1, states(Reason::NewLink, closed()));
    assert_eq!(bench.hear(9, search(1, 1, 60)), [Send(1, who_else(1))]);
    // Eight for each candidate that a search may have; each node names six that are new.
    let named = |from: u64| -> Message<3> {
        let known = (from..from + 6).map(|node| Known {
            node: id(node),
            stated: closed(),
            schedule: snapshot(1, FREE),
        });
        let search = SearchId(1);
        Message::Others {
            search,
            known: known.collect(),
        }
    };
    assert_eq!(bench.hear(1, named(100)), [Send(100, who_else(1))]);
    assert_eq!(
        bench.hear(100, named(200)),
        [Send(9, saw(0, 8, 0))],
        "one neighbour, six and one"
    );
    let judged = closed().suits(None, OrganisationId::new(0), &Needs::NOTHING);
    assert_eq!(judged, Err(Unsuited::NotAdmitted));
}

#[test]
fn enough_suited_nodes_among_many_others_end_a_search_before_all_nodes_are_asked() {
    let config = Config {
        max_hops: u8::MAX,
        breadth: 2,
        candidates: 64,
        ..CONFIG
    };
    let mut bench = Bench::meeting(config, &[1]);
    bench.hear(1, states(Reason::NewLink, closed()));
    // Six new nodes, of which only node 100 admits the job, and is busy at first.
    let six = |from: u64| -> Message<3> {
        let known = (from..from + 6).map(|node| Known {
            node: id(node),
            stated: match node {
                100 => Stated::NOTHING,
                _ => closed(),
            },
            schedule: snapshot(1, &[busy(0, 120)]),
        });
        let search = SearchId(1);
        Message::Others {
            search,
            known: known.collect(),
        }
    };
    assert_eq!(bench.hear(9, search(1, 1, 60)), [Send(1, who_else(1))]);
    // One candidate of two that are wanted, among seven nodes.
    assert_eq!(bench.hear(1, six(100)), [Send(100, who_else(1))]);
    // Eight are four times as many as wanted, so that the other nodes are not asked.
    assert_eq!(
        bench.hear(100, six(200)),
        [Send(9, found(1, 120, 3, &[100]))]
    );
}

#[test]
fn without_preselection_nodes_that_do_not_admit_a_job_are_candidates() {
    let config = Config {
        preselection: Preselection::None,
        ..CONFIG
    };
    let mut bench = Bench::meeting(config, &[1]);
    bench.hear(1, states(Reason::NewLink, closed()));
    bench.answers(9, search(1, 1, 60), found(1, 60, 1, &[1]));
}
