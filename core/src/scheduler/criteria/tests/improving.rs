//! Better placements for a job that has one.

use super::*;
use Did::{Persist, Send, Tell};
use Through::Random;

const TWICE: Config = Config {
    iterations: 2,
    ..CONFIG
};

/// A job for two nodes has 3 and 4, from 300 on, and its second iteration begins at 2.
fn placed(config: Config, criterion: Criterion) -> Bench {
    let mut bench = Bench::meeting(config, &[1, 2]);
    bench.obey(Command::submit(wanting(2, criterion)));
    bench.hear(1, seen(1, 1, &[busy(0, 9000)], &[2, 3, 4]));
    bench.hear(2, seen(1, 2, &[busy(0, 9000)], &[]));
    bench.hear(3, seen(1, 3, &[busy(0, 300)], &[]));
    let one = attempt(1, 1);
    assert_eq!(
        bench.hear(4, seen(1, 4, &[busy(0, 300)], &[])),
        [3, 4].map(|node| Send(node, prepare(one, 300)))
    );
    assert_eq!(
        bench.agree(&[3, 4], one),
        [
            Persist(OF_JOB),
            Tell(7, accepted(300)),
            Send(2, look(2, Random))
        ]
    );
    bench
}

/// The second iteration finds 2, 5, 6 and 7; 5 and 6 are free from `start` on. Returns the last effects.
fn find(bench: &mut Bench, start: u64) -> Effects {
    bench.hear(2, seen(2, 2, &[busy(0, 9000)], &[5, 6, 7]));
    bench.hear(5, seen(2, 5, &[busy(0, start)], &[]));
    bench.hear(6, seen(2, 6, &[busy(0, start)], &[]));
    bench.hear(7, seen(2, 7, &[busy(0, 9000)], &[]))
}

#[test]
fn a_better_placement_is_held_before_the_old_one_is_released() {
    let mut bench = placed(TWICE, Criterion::Soonest);
    let (one, two) = (attempt(1, 1), attempt(1, 2));
    assert_eq!(
        find(&mut bench, 120),
        [5, 6].map(|node| Send(node, prepare(two, 120)))
    );
    let did = bench.agree(&[5, 6], two);
    assert_eq!(
        did,
        [
            Send(3, release(one)),
            Send(4, release(one)),
            Persist(OF_JOB),
            Tell(7, moved(120))
        ],
        "it may run there when it runs nowhere else"
    );
    let progress = bench.machine().progress(JOB).unwrap();
    assert_eq!(progress.nodes, [id(5), id(6)]);
    assert_eq!(progress.iterations, 2);
}

#[test]
fn a_node_that_refused_a_better_placement_is_avoided_in_the_next() {
    let config = Config {
        iterations: 3,
        ..CONFIG
    };
    let mut bench = placed(config, Criterion::Soonest);
    let (two, three) = (attempt(1, 2), attempt(1, 3));
    let prepares = |nodes: [u64; 2], attempt| nodes.map(|node| Send(node, prepare(attempt, 120)));
    assert_eq!(find(&mut bench, 120), prepares([5, 6], two));
    // The third iteration begins at a link of 1.
    let did = bench.vote(5, refused(two));
    assert_eq!(did.last(), Some(&Send(1, look(3, Random))));
    let did = bench.hear(1, seen(3, 1, &[busy(0, 9000)], &[5, 6, 7]));
    assert_eq!(did, [Send(5, look(3, Random))]);
    // Nodes 5, 6 and 7 are free at the same time.
    bench.hear(5, seen(3, 5, &[busy(0, 120)], &[6, 7, 8]));
    bench.hear(6, seen(3, 6, &[busy(0, 120)], &[]));
    bench.hear(7, seen(3, 7, &[busy(0, 120)], &[]));
    assert_eq!(
        bench.hear(8, seen(3, 8, &[busy(0, 9000)], &[])),
        prepares([6, 7], three)
    );
}

#[test]
fn a_placement_that_is_not_better_is_not_tried() {
    for start in [300, 360] {
        let mut bench = placed(TWICE, Criterion::Soonest);
        assert_eq!(find(&mut bench, start), []);
        // That was the last iteration.
        assert_eq!(bench.due(Timer::Due), None);
        let progress = bench.machine().progress(JOB).unwrap();
        assert_eq!(progress.iterations, 2);
        assert_eq!(progress.start, Some(second(300)));
    }
}

#[test]
fn at_the_same_cost_an_earlier_start_is_better() {
    // 5 and 6 are as close to each other as 3 and 4.
    let mut bench = placed(TWICE, Criterion::Closest);
    assert_eq!(
        find(&mut bench, 240),
        [5, 6].map(|node| Send(node, prepare(attempt(1, 2), 240)))
    );
}

#[test]
fn a_job_keeps_its_placement_if_the_better_one_is_refused() {
    let config = Config {
        iterations: 3,
        ..CONFIG
    };
    let mut bench = placed(config, Criterion::Soonest);
    find(&mut bench, 120);
    let two = attempt(1, 2);
    // The third iteration asks a guide where to begin.
    assert_eq!(
        bench.vote(5, refused(two)),
        [
            Send(5, abort(two)),
            Send(6, abort(two)),
            Send(1, look(3, Random))
        ]
    );
    let progress = bench.machine().progress(JOB).unwrap();
    assert_eq!(
        (progress.nodes, progress.start),
        (&[id(3), id(4)][..], Some(second(300)))
    );
    assert!(bench.machine().commitments().coordinator.is_placing(JOB));
}

#[test]
fn the_time_that_a_job_has_reserved_counts_as_free_for_it() {
    let mut bench = placed(TWICE, Criterion::Closest);
    // 3 has another job until 300 and then this one, which it sends as one window. Its coordinate is now that of 2.
    bench.hear(2, seen(2, 2, &[busy(0, 300)], &[3, 5]));
    bench.hear(5, seen(2, 5, &[busy(0, 9000)], &[]));
    let mut near = seen(2, 3, &[busy(0, 360)], &[]);
    if let Message::Seen { own, .. } = &mut near {
        own.profile.coordinate = profile(2).coordinate;
    }
    assert_eq!(
        bench.hear(3, near),
        [2, 3].map(|node| Send(node, prepare(attempt(1, 2), 300)))
    );
}

#[test]
fn a_job_that_is_about_to_start_stays_where_it_is() {
    let mut bench = placed(TWICE, Criterion::Soonest);
    bench.at(241);
    assert_eq!(find(&mut bench, 120), []);
    assert_eq!(bench.due(Timer::Due), None);
    // At 240 a job can still move, but not to an earlier start.
    let mut bench = placed(TWICE, Criterion::Soonest);
    bench.at(240);
    assert_eq!(find(&mut bench, 120), [], "none starts before 300");
}

#[test]
fn a_placement_found_during_a_vote_is_tried_later_if_its_start_is_not_too_near() {
    let config = Config {
        iterations: 3,
        parallel: 2,
        ..CONFIG
    };
    let mut bench = Bench::meeting(config, &[1, 2]);
    bench.obey(Command::submit(wanting(2, Criterion::Soonest)));
    // The first iteration finds 1 and 3 from 180 on. While they vote, the second finds 2 and 4 from 120 on.
    let late = [busy(0, 180)];
    bench.hear(1, seen(1, 1, &late, &[3]));
    let one = attempt(1, 1);
    assert_eq!(
        bench.hear(3, seen(1, 3, &late, &[1])),
        [Send(1, prepare(one, 180)), Send(3, prepare(one, 180)),]
    );
    let soon = [busy(0, 120)];
    bench.hear(2, seen(2, 2, &soon, &[4]));
    assert_eq!(bench.hear(4, seen(2, 4, &soon, &[2])), []);
    let two = attempt(1, 2);
    for at in [50, 61] {
        let mut bench = bench.clone();
        let did = bench.at(at).vote(1, refused(one));
        let tried = did.contains(&Send(2, prepare(two, 120)));
        assert_eq!(tried, at == 50, "at {at}, {did:?}");
    }
}

#[test]
fn iterations_are_separated_by_the_pause() {
    let config = Config {
        pause: Span::from_secs(10),
        ..TWICE
    };
    let (mut bench, did) = Bench::searching(config, 1, NEVER);
    assert_eq!(bench.explore(did, &[(1, &[4])]), []);
    assert_eq!(bench.due(Timer::Due), Some(second(10)));
    assert_eq!(bench.ring_until(9), []);
    assert_eq!(bench.ring_until(10), [Send(2, look(2, Random))]);
}

#[test]
fn a_pause_that_ends_during_a_vote_does_not_set_its_timer_again() {
    let config = Config {
        pause: Span::from_secs(1),
        ..TWICE
    };
    let (mut bench, _) = Bench::searching(config, 1, CHEAPEST);
    let one = attempt(1, 1);
    bench.hear(1, seen(1, 1, &[busy(0, 300)], &[4]));
    assert_eq!(
        bench.hear(4, seen(1, 4, &[busy(0, 300)], &[])),
        [Send(1, prepare(one, 300))]
    );
    assert_eq!(bench.ring_until(1), []);
    let later = bench.due(Timer::Due);
    assert!(later.is_none_or(|at| at > second(1)), "{later:?}");
    let did = bench.agree(&[1], one);
    assert!(did.contains(&Send(2, look(2, Random))), "{did:?}");
}

#[test]
fn a_job_that_loses_its_placement_is_searched_for_anew() {
    let mut bench = placed(TWICE, Criterion::Soonest);
    assert_eq!(find(&mut bench, 300), []);
    let gone = Vote::Alive {
        attempt: attempt(1, 1),
        standing: commit::Standing::Gone,
    };
    let did = bench.at(10).vote(3, gone);
    // The new search may begin at the same nodes again.
    assert_eq!(did.last(), Some(&Send(1, look(3, Random))));
    let progress = bench.machine().progress(JOB).unwrap();
    assert_eq!((progress.start, progress.iterations), (None, 0));
}

#[test]
fn all_nodes_that_lost_a_reservation_of_the_job_are_avoided() {
    let mut bench = placed(TWICE, Criterion::Soonest);
    find(&mut bench, 300);
    let gone = |attempt| Vote::Alive {
        attempt,
        standing: commit::Standing::Gone,
    };
    let (one, two, three) = (attempt(1, 1), attempt(1, 2), attempt(1, 3));
    let did = bench.at(10).vote(3, gone(one));
    assert_eq!(did.last(), Some(&Send(1, look(3, Random))));
    let found = |bench: &mut Bench, number, first, until| {
        bench.hear(first, seen(number, first, &[busy(0, until)], &[3, 4, 5]));
        bench.hear(3, seen(number, 3, &[busy(0, 300)], &[]));
        bench.hear(4, seen(number, 4, &[busy(0, 300)], &[]));
        bench.hear(5, seen(number, 5, &[busy(0, 300)], &[]))
    };
    let asked = |nodes: [u64; 2], attempt| nodes.map(|node| Send(node, prepare(attempt, 300)));
    assert_eq!(found(&mut bench, 3, 1, 9000), asked([4, 5], two));
    let did = bench.agree(&[4, 5], two);
    assert_eq!(did.last(), Some(&Send(2, look(4, Random))));
    // Then 4 loses it too. 3 and 4 are both avoided while there are other nodes.
    bench.vote(4, gone(two));
    assert_eq!(found(&mut bench, 4, 2, 300), asked([2, 5], three));
}
