//! From found nodes to a placement: what is selected, and what is refused for which reason.

use super::*;
use crate::admission::Needs;
use Did::{Forget, Persist, Send, Tell};

/// 1 to 4 answer the first iteration of a job for two nodes; 1 has links to the others.
fn found(criterion: Criterion) -> (Bench, Effects) {
    let (mut bench, did) = Bench::searching(CONFIG, 2, criterion);
    let did = bench.explore(did, &[(1, &[2, 3, 4])]);
    (bench, did)
}

#[test]
fn a_job_gets_its_placement_runs_and_finishes() {
    let (mut bench, did) = found(Criterion::Soonest);
    let one = attempt(1, 1);
    assert_eq!(did, [1, 2].map(|node| Send(node, prepare(one, 60))));
    assert_eq!(
        bench.agree(&[1, 2], one),
        [Persist(OF_JOB), Tell(7, accepted(60))]
    );
    let progress = bench.machine().progress(JOB).unwrap();
    assert_eq!(
        (progress.iterations, progress.start, progress.nodes),
        (1, Some(second(60)), &[id(1), id(2)][..])
    );
    assert_eq!(
        bench.ring_until(60),
        [1, 2].map(|node| Send(node, permit(one, 120)))
    );
    assert_eq!(
        bench.at(110).end(&[1, 2], one),
        [
            Persist(TASK),
            Tell(7, News::Finished),
            Forget(OF_JOB),
            Send(2, release(one)),
            Forget(TASK)
        ]
    );
    assert_eq!(bench.jobs(), 0);
    assert_eq!(bench.machine().progress(JOB), None);
}

#[test]
fn each_criterion_selects_its_own_nodes() {
    for (criterion, chosen) in [
        (Criterion::Soonest, [1, 2]),
        (Criterion::Farthest, [1, 9]),
        (Criterion::Closest, [8, 9]),
        (CHEAPEST, [1, 2]),
    ] {
        let (mut bench, did) = Bench::searching(CONFIG, 2, criterion);
        // The distance from 1 to 2 is a little more than from 8 to 9.
        let mut asked = vec![did];
        let mut last = Effects::new();
        while let Some(did) = asked.pop() {
            for did in did {
                let Send(node, Message::Look { look, .. }) = did else {
                    continue;
                };
                let mut answer = seen(look.0, node, &[], &[2, 8, 9]);
                if let Message::Seen { own, .. } = &mut answer
                    && node == 2
                {
                    own.profile.coordinate = Coordinate::at([2_500, 0, 0]);
                }
                last = bench.hear(node, answer);
                asked.push(last.clone());
            }
        }
        assert_eq!(
            last,
            chosen.map(|node| Send(node, prepare(attempt(1, 1), 60))),
            "{criterion:?}"
        );
    }
}

#[test]
fn a_set_starts_when_all_of_it_is_free_in_whole_slots_after_the_lead() {
    let mut bench = Bench::meeting(CONFIG, &[1]);
    // 61 seconds take two slots; the lead ends at 71, and the next slot begins at 120.
    let mut long = Job::new(JOB, nodes(2), Span::from_secs(61)).unwrap();
    long.criterion = CHEAPEST;
    bench.at(11).obey(Command::submit(long));
    bench.hear(1, seen(1, 1, &[busy(0, 150)], &[4]));
    let one = attempt(1, 1);
    // The first node is free from 180 on, and the second from 400 on.
    let prepare = Message::Commit(Vote::Prepare {
        attempt: one,
        interval: busy(420, 540),
        lease: CONFIG.commit.lease,
        submitter: NOBODY,
        needs: Needs::NOTHING,
        payload: Payload::EMPTY,
    });
    assert_eq!(
        bench.hear(4, seen(1, 4, &[busy(200, 400)], &[])),
        [Send(1, prepare.clone()), Send(4, prepare)]
    );
}

#[test]
fn a_job_that_cannot_be_placed_is_refused_with_the_reason_and_without_a_hold() {
    let full = [busy(0, 10_000)];
    for (count, criterion, windows, refusal) in [
        (3, Criterion::Closest, &[][..], Refusal::TooLarge),
        (2, BROKEN, &[], Refusal::BrokenCriterion),
        (2, NEVER, &[], Refusal::NotAcceptable),
        (2, WITHIN_A_MINUTE, &[busy(60, 200)], Refusal::NotAcceptable),
        // No node is free within the horizon.
        (2, Criterion::Closest, &full, Refusal::NoStart),
    ] {
        for iterations in [1, 3] {
            let config = Config {
                iterations,
                ..CONFIG
            };
            // The grid has no nodes but 1 and 2.
            let mut bench = Bench::meeting(config, &[1, 2]);
            let mut did = bench.obey(Command::submit(wanting(count, criterion)));
            let mut all = did.clone();
            while let Some(Send(node, Message::Look { look, .. })) =
                did.iter().find(|did| matches!(did, Send(..)))
            {
                let other = 3 - node;
                did = bench.hear(*node, seen(look.0, *node, windows, &[other]));
                all.extend(did.iter().cloned());
            }
            assert_eq!(did, given_up(refusal), "{criterion:?}");
            let asks = |did: &Did| matches!(did, Send(_, Message::Commit(_)));
            assert!(!all.iter().any(asks), "{all:?}");
            assert_eq!((bench.jobs(), bench.due(Timer::Due)), (0, None));
        }
    }
}

#[test]
fn the_refusal_is_that_of_the_iteration_that_came_furthest() {
    let config = Config {
        iterations: 2,
        ..CONFIG
    };
    let (mut bench, _) = Bench::searching(config, 2, NEVER);
    bench.hear(1, seen(1, 1, &[], &[9]));
    bench.hear(9, seen(1, 9, &[], &[1]));
    // The first iteration found enough nodes, the second only one.
    assert_eq!(
        bench.hear(2, seen(2, 2, &[], &[])),
        given_up(Refusal::NotAcceptable)
    );
    // The same with the iterations in the other order.
    let (mut bench, _) = Bench::searching(config, 2, NEVER);
    bench.hear(1, seen(1, 1, &[], &[]));
    bench.hear(2, seen(2, 2, &[], &[9]));
    assert_eq!(
        bench.hear(9, seen(2, 9, &[], &[2])),
        given_up(Refusal::NotAcceptable)
    );
}

#[test]
fn an_unsupported_job_is_refused_immediately() {
    let submit = |job: Job| {
        let mut bench = Bench::meeting(CONFIG, &[1]);
        let did = bench.obey(Command::submit(job));
        assert_eq!(bench.jobs(), 0);
        did
    };
    let refused = |refusal| [Tell(7, failed(refusal))];
    let two = wanting(2, Criterion::Closest);
    assert_eq!(
        submit(wanting(2, Criterion::Custom(9))),
        refused(Refusal::UnsupportedCriterion)
    );
    let endless = Job::new(two.id, two.demand, CONFIG.horizon + Span::from_millis(1)).unwrap();
    assert_eq!(submit(endless), refused(Refusal::TooLong));
    assert_eq!(
        submit(wanting(4, Criterion::Closest)),
        refused(Refusal::TooLarge),
        "no more than three may be members"
    );
    let mut cores = two;
    cores.demand = Demand::Cores(NonZeroU32::MIN);
    assert_eq!(submit(cores), refused(Refusal::UnsupportedDemand));
    let mut late = two;
    late.deadline = Some(second(1000));
    assert_eq!(submit(late), refused(Refusal::UnsupportedDeadline));
    let dimensions = crate::resource::Dimensions::new(&[("gpu", crate::resource::Kind::Amount)]);
    let gpu = dimensions.unwrap().named("gpu").unwrap();
    let mut picky = two;
    picky.requirement = crate::resource::Requirement::any().with(gpu, 1);
    assert_eq!(submit(picky), refused(Refusal::unknown(gpu)));
    let mut bench = Bench::meeting(CONFIG, &[1]);
    bench.obey(Command::submit(two));
    assert_eq!(bench.obey(Command::submit(two)), refused(Refusal::Known));
}

#[test]
fn after_a_refusal_the_search_avoids_the_refusing_node_until_the_rounds_are_over() {
    let (mut bench, _) = found(CHEAPEST);
    let (one, two) = (attempt(1, 1), attempt(1, 2));
    let did = bench.vote(1, refused(one));
    assert_eq!(
        did,
        [
            Send(1, abort(one)),
            Send(2, abort(one)),
            Forget(TASK),
            Send(2, look(2, Through::Random))
        ]
    );
    // 1 is still the cheapest and looks free, but it refused before.
    assert_eq!(
        bench.explore(did, &[(2, &[1, 3, 4])]),
        [2, 3].map(|node| Send(node, prepare(two, 60)))
    );
    let mut expected = vec![Send(2, abort(two)), Send(3, abort(two)), Forget(TASK)];
    expected.extend(given_up(Refusal::Taken));
    assert_eq!(bench.vote(3, refused(two)), expected);
}

#[test]
fn a_node_that_refused_is_asked_again_if_there_are_no_others() {
    let mut bench = Bench::meeting(CONFIG, &[1, 2]);
    let did = bench.obey(Command::submit(wanting(2, CHEAPEST)));
    bench.explore(did, &[(1, &[2]), (2, &[1])]);
    let did = bench.vote(1, refused(attempt(1, 1)));
    assert_eq!(
        bench.explore(did, &[(1, &[2]), (2, &[1])]),
        [1, 2].map(|node| Send(node, prepare(attempt(1, 2), 60)))
    );
}

#[test]
fn a_node_without_neighbours_waits_for_some_while_it_has_rounds() {
    let config = Config {
        overlay: cyclon::Config {
            period: Span::from_secs(256),
            ..CONFIG.overlay
        },
        helper: vicinity::Config {
            period: Span::from_secs(256),
            ..CONFIG.helper
        },
        ..CONFIG
    };
    let join = |introduced: bool| {
        let (mut bench, _) = Bench::boot(config, Bootstrap::Join(id(1).into()));
        let did = bench.obey(Command::submit(wanting(2, CHEAPEST)));
        assert_eq!(did, [Persist(OF_JOB)]);
        assert_eq!(bench.due(Timer::Due), Some(second(512)));
        if introduced {
            // A shuffle of 4 brings it into the view, as an introduction would.
            bench.meet(4);
        }
        bench.at(512).feed(Event::Timer(Timer::Due))
    };
    assert_eq!(join(true), [Send(4, look(1, Through::Random))]);
    // That was the first of two rounds; in the second the node searches alone.
    assert_eq!(join(false), given_up(Refusal::NotFound));
}

#[test]
fn a_node_equals_its_copy_but_not_a_node_with_another_placement() {
    let (bench, _) = found(CHEAPEST);
    let copy = bench.machine().clone();
    assert!(*bench.machine() == copy);
    let (other, _) = found(Criterion::Closest);
    assert!(bench.machine() != other.machine());
}

#[test]
fn a_new_placement_starts_after_the_earlier_attempt_must_have_ended() {
    let mut bench = Bench::meeting(CONFIG, &[1]);
    let long = Job::new(JOB, nodes(1), Span::from_secs(400)).unwrap();
    let find = |bench: &mut Bench, number| {
        bench.hear(1, seen(number, 1, &[], &[2]));
        bench.hear(2, seen(number, 2, &[], &[]))
    };
    let asked = |node, attempt, start| {
        let prepare = Vote::Prepare {
            attempt,
            interval: busy(start, start + 420),
            lease: CONFIG.commit.lease,
            submitter: NOBODY,
            needs: Needs::NOTHING,
            payload: Payload::EMPTY,
        };
        [Send(node, Message::Commit(prepare))]
    };
    let (one, two, three) = (attempt(1, 1), attempt(1, 2), attempt(1, 3));
    bench.obey(Command::submit(long));
    assert_eq!(find(&mut bench, 1), asked(1, one, 60));
    bench.agree(&[1], one);
    assert_eq!(bench.ring_until(57), [Send(1, permit(one, 480))]);
    let gone = Vote::Alive {
        attempt: one,
        standing: commit::Standing::Gone,
    };
    bench.vote(1, gone);
    assert_eq!(find(&mut bench, 2), asked(2, two, 120));
    let lease = CONFIG.commit.lease;
    assert_eq!(
        bench.vote(
            2,
            Vote::Prepared {
                attempt: two,
                lease
            }
        ),
        []
    );
    // Node 1 does not release the job and may run it until 480 by its clock: the next slot begins at 540.
    bench.ring_until(60);
    assert_eq!(find(&mut bench, 3), asked(2, three, 540));
}
