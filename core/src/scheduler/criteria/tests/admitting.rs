//! Iterations pass over nodes that cannot run a job or do not admit its organisation.

use super::*;
use crate::admission::{Admission, Attributes, Organisations, Stated};
use crate::commit::Selective;
use crate::id::OrganisationId;
use crate::resource::Dimensions;
use crate::shared::Shared;
use Did::{Persist, Send};
use Through::Random;

/// A node that admits no job of organisation 0.
fn closed() -> Stated {
    let zero = Organisations::new([OrganisationId::new(0)]).unwrap();
    Stated::new(Attributes {
        admission: Admission::Except(zero),
        ..Attributes::default()
    })
}

fn of(node: u64, is_closed: &[u64]) -> Descriptor {
    let mut known = descriptor(node);
    if is_closed.contains(&node) {
        known.profile.stated = closed();
    }
    known
}

/// The answer of a free node with these links, of which some are closed.
fn answer(node: u64, links: &[u64], is_closed: &[u64]) -> Said {
    Message::Seen {
        look: LookId(1),
        own: of(node, is_closed),
        schedule: snapshot(&[]),
        links: links.iter().map(|link| of(*link, is_closed)).collect(),
    }
}

fn ask(node: u64) -> Did {
    Send(node, look(1, Random))
}

const ONE_BY_ONE: Config = Config { width: 1, ..CONFIG };

#[test]
fn a_node_that_does_not_admit_the_job_is_not_selected_and_is_asked_for_links_last() {
    let (mut bench, did) = Bench::searching(ONE_BY_ONE, 2, Criterion::Soonest);
    assert_eq!(did, [Persist(OF_JOB), ask(1)]);
    let is_closed = [1, 4];
    // Node 4 was named first, but cannot run the job.
    bench.hears(1, answer(1, &[4, 5, 6], &is_closed), [ask(5)]);
    bench.hears(5, answer(5, &[], &is_closed), [ask(6)]);
    // No other node is left to ask, and there are two nodes where four would be enough.
    bench.hears(6, answer(6, &[], &is_closed), [ask(4)]);
    let one = attempt(1, 1);
    assert_eq!(
        bench.hear(4, answer(4, &[], &is_closed)),
        [5, 6].map(|node| Send(node, prepare(one, 60)))
    );
}

#[test]
fn what_is_not_known_of_a_link_does_not_speak_against_it() {
    let (mut bench, _) = Bench::searching(ONE_BY_ONE, 1, Criterion::Soonest);
    let unknown = Descriptor {
        version: 0,
        ..of(4, &[4])
    };
    let message = Message::Seen {
        look: LookId(1),
        own: of(1, &[1]),
        schedule: snapshot(&[]),
        links: [unknown, of(5, &[5])].into_iter().collect(),
    };
    assert_eq!(bench.hear(1, message), [ask(4)]);
}

#[test]
fn a_job_that_no_node_admits_is_refused_with_that_reason() {
    for (is_closed, refusal) in [
        (&[1, 4, 5][..], Refusal::NotAccepted),
        (&[1][..], Refusal::NotAccepted),
        (&[][..], Refusal::TooLarge),
    ] {
        let (mut bench, _) = Bench::searching(ONE_BY_ONE, 3, Criterion::Closest);
        let links: &[u64] = if is_closed.is_empty() { &[4] } else { &[4, 5] };
        let mut last = bench.hear(1, answer(1, links, is_closed));
        for _ in 0..2 {
            let Some(Send(node, Message::Look { .. })) = last.first() else {
                break;
            };
            last = bench.hear(*node, answer(*node, &[], is_closed));
        }
        assert_eq!(last, given_up(refusal), "{is_closed:?}");
    }
}

#[test]
fn a_node_tells_in_its_profile_what_its_policy_states() {
    let policy = Selective {
        dimensions: Shared::new(Dimensions::new(&[]).unwrap()),
        stated: closed(),
    };
    let alone = Bootstrap::Alone;
    let node =
        Criteria::<6, 3, 4, _, _>::new(ME, CONFIG, alone, profile(50), Market, policy).unwrap();
    assert_eq!(node.profile().stated, closed());
}
