//! From what was found to a place: what is selected, and what is refused by which name.

use super::*;
use Did::{Forget, Persist, Send, Tell};

/// The answers of 1 to 4 to the first iteration for a job of two nodes; 1 knows the others.
fn found(criterion: Criterion) -> (Bench, Effects) {
    let (mut bench, did) = Bench::searching(CONFIG, 2, criterion);
    let did = bench.explore(did, &[(1, &[2, 3, 4])]);
    (bench, did)
}

#[test]
fn a_job_gets_its_place_runs_and_is_finished() {
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
fn each_criterion_selects_its_own() {
    for (criterion, chosen) in [
        (Criterion::Soonest, [1, 2]),
        (Criterion::Farthest, [1, 9]),
        (Criterion::Closest, [8, 9]),
        (CHEAPEST, [1, 2]),
    ] {
        let (mut bench, did) = Bench::searching(CONFIG, 2, criterion);
        // 2 is a little nearer to 1 than 8 to 9.
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
    bench.at(11).obey(Command::Submit(long));
    bench.hear(1, seen(1, 1, &[busy(0, 150)], &[4]));
    let one = attempt(1, 1);
    // From 180 on the first is free, and the second from 400 on.
    let prepare = Message::Commit(Vote::Prepare {
        attempt: one,
        interval: busy(420, 540),
        lease: CONFIG.commit.lease,
        submitter: NOBODY,
    });
    assert_eq!(
        bench.hear(4, seen(1, 4, &[busy(200, 400)], &[])),
        [Send(1, prepare.clone()), Send(4, prepare)]
    );
}

#[test]
fn what_cannot_be_is_refused_by_name_and_nothing_is_held() {
    let full = [busy(0, 10_000)];
    for (count, criterion, windows, refusal) in [
        (3, Criterion::Closest, &[][..], Refusal::TooLarge),
        (2, BROKEN, &[], Refusal::BrokenCriterion),
        (2, NEVER, &[], Refusal::NotAcceptable),
        (2, WITHIN_A_MINUTE, &[busy(60, 200)], Refusal::NotAcceptable),
        // Nobody is free within the horizon.
        (2, Criterion::Closest, &full, Refusal::Full),
    ] {
        for iterations in [1, 3] {
            let config = Config {
                iterations,
                ..CONFIG
            };
            // 1 and 2 are the grid.
            let mut bench = Bench::meeting(config, &[1, 2]);
            let mut did = bench.obey(Command::Submit(wanting(count, criterion)));
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
    // There are enough nodes, though the second iteration finds but one.
    assert_eq!(
        bench.hear(2, seen(2, 2, &[], &[])),
        given_up(Refusal::NotAcceptable)
    );
    // And the other way round.
    let (mut bench, _) = Bench::searching(config, 2, NEVER);
    bench.hear(1, seen(1, 1, &[], &[]));
    bench.hear(2, seen(2, 2, &[], &[9]));
    assert_eq!(
        bench.hear(9, seen(2, 9, &[], &[2])),
        given_up(Refusal::NotAcceptable)
    );
}

#[test]
fn what_nobody_can_do_is_refused_at_once() {
    let submit = |job: Job| {
        let mut bench = Bench::meeting(CONFIG, &[1]);
        let did = bench.obey(Command::Submit(job));
        assert_eq!(bench.jobs(), 0);
        did
    };
    let refused = |refusal| [Tell(7, failed(refusal))];
    let two = wanting(2, Criterion::Closest);
    assert_eq!(
        submit(wanting(2, Criterion::Custom(9))),
        refused(Refusal::UnsupportedCriterion)
    );
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
    bench.obey(Command::Submit(two));
    assert_eq!(bench.obey(Command::Submit(two)), refused(Refusal::Known));
}

#[test]
fn after_a_refusal_a_place_is_searched_without_who_refused_until_the_rounds_are_over() {
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
    // 1 is the cheapest still, and says that it is free. It said so before.
    assert_eq!(
        bench.explore(did, &[(2, &[1, 3, 4])]),
        [2, 3].map(|node| Send(node, prepare(two, 60)))
    );
    let mut expected = vec![Send(2, abort(two)), Send(3, abort(two)), Forget(TASK)];
    expected.extend(given_up(Refusal::Full));
    assert_eq!(bench.vote(3, refused(two)), expected);
}

#[test]
fn who_refused_is_asked_again_if_there_are_no_others() {
    let mut bench = Bench::meeting(CONFIG, &[1, 2]);
    let did = bench.obey(Command::Submit(wanting(2, CHEAPEST)));
    bench.explore(did, &[(1, &[2]), (2, &[1])]);
    let did = bench.vote(1, refused(attempt(1, 1)));
    assert_eq!(
        bench.explore(did, &[(1, &[2]), (2, &[1])]),
        [1, 2].map(|node| Send(node, prepare(attempt(1, 2), 60)))
    );
}

#[test]
fn who_knows_nobody_yet_waits_for_others_as_long_as_there_are_rounds() {
    let config = Config {
        overlay: cyclon::Config {
            period: Span::from_secs(256),
            ..CONFIG.overlay
        },
        ..CONFIG
    };
    let join = |introduced: bool| {
        let (mut bench, _) = Bench::boot(config, Bootstrap::Join(id(1)));
        let did = bench.obey(Command::Submit(wanting(2, CHEAPEST)));
        assert_eq!(did, [Persist(OF_JOB)]);
        assert_eq!(bench.due(Timer::Due), Some(second(512)));
        if introduced {
            // It has shuffled with this one, as if it had been introduced.
            bench.meet(4);
        }
        bench.at(512).feed(Event::Timer(Timer::Due))
    };
    assert_eq!(join(true), [Send(4, look(1, Through::Random))]);
    // That was the first of two rounds; with the second it must do with itself.
    assert_eq!(join(false), given_up(Refusal::Full));
}

#[test]
fn a_node_that_has_found_a_place_is_like_its_copy_and_not_like_one_with_another() {
    let (bench, _) = found(CHEAPEST);
    let copy = bench.machine().clone();
    assert!(*bench.machine() == copy);
    let (other, _) = found(Criterion::Closest);
    assert!(bench.machine() != other.machine());
}

#[test]
fn a_job_that_may_still_run_somewhere_gets_a_place_after_that() {
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
        };
        [Send(node, Message::Commit(prepare))]
    };
    let (one, two, three) = (attempt(1, 1), attempt(1, 2), attempt(1, 3));
    bench.obey(Command::Submit(long));
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
    // It does not let go, and may run the job until 480 by its clock: the next slot begins at 540.
    bench.ring_until(60);
    assert_eq!(find(&mut bench, 3), asked(2, three, 540));
}
