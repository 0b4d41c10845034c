//! From a submission to a placement: the searchers, the choice of an offer, and what follows a refusal.

use super::waiting::next_search;
use super::*;
use crate::commit::Members;
use crate::job::Assignment;
use crate::shared::Shared;
use Did::{Forget, Persist, Send, Tell};
use commit::Standing;

/// A node with a job for `count` nodes, submitted at zero; 1 and 2 search for it.
fn asking(count: u32) -> Bench {
    let mut bench = Bench::among(CONFIG, 3);
    assert_eq!(
        bench.submit(7, count),
        [
            Persist(OF_JOB),
            Send(1, search(1, count, 60)),
            Send(2, search(1, count, 60))
        ]
    );
    bench
}

/// A node with a job for one node; attempt 1 has reserved node 4 at 60.
fn on_four() -> Bench {
    let mut bench = asking(1);
    bench.hear(1, found(1, 60, 1, &[4]));
    bench.hear(2, not_found(1, 9));
    bench.agree(&[4], attempt(1, 1));
    bench
}

#[test]
fn a_job_is_searched_for_by_as_many_distinct_neighbours_as_configured() {
    for (forward, peers, asked) in [(2, 3, 2), (5, 3, 3), (1, 3, 1)] {
        let config = Config { forward, ..CONFIG };
        let mut bench = Bench::among(config, peers);
        let mut expected = vec![Persist(OF_JOB)];
        expected.extend((1..=asked).map(|peer| Send(peer, search(1, 2, 60))));
        assert_eq!(bench.submit(7, 2), expected);
    }
}

#[test]
fn a_search_asks_for_whole_slots_after_the_lead() {
    let mut bench = Bench::among(CONFIG, 1);
    // 61 seconds take two slots; the lead ends at 71, and the next slot begins at 120.
    let long = Job::new(JOB, job(7, 1).demand, Span::from_secs(61)).unwrap();
    let wanted = Wanted {
        length: Span::from_secs(120),
        ..wanted(1, 120)
    };
    let search = Message::Search {
        ask: ask(1),
        wanted,
    };
    assert_eq!(
        bench.at(11).obey(Command::submit(long)),
        [Persist(OF_JOB), Send(1, search)]
    );
}

#[test]
fn a_job_gets_its_placement_runs_and_finishes() {
    let mut bench = asking(2);
    assert_eq!(bench.hear(1, found(1, 120, 1, &[3, 4])), []);
    let one = attempt(1, 1);
    assert_eq!(
        bench.hear(2, found(1, 60, 2, &[5, 6])),
        [Send(5, prepare(one, 60)), Send(6, prepare(one, 60))]
    );
    assert_eq!(
        bench.agree(&[5, 6], one),
        [
            Send(5, permit(one, 120)),
            Send(6, permit(one, 120)),
            Persist(OF_JOB),
            Tell(7, accepted(60))
        ]
    );
    assert_eq!(
        bench.at(110).end(&[5, 6], one),
        [
            Persist(TASK),
            Tell(7, News::Finished),
            Forget(OF_JOB),
            Send(6, release(one)),
            Forget(TASK)
        ]
    );
    assert_eq!(bench.jobs(), 0);
}

#[test]
fn the_best_offer_is_the_earliest_then_the_nearest_then_the_first_of_a_shuffle() {
    // Start, hops and node of two offers, and the node of the better one.
    for (first, second, taken) in [
        ((120, 1, 4), (60, 2, 5), 5),
        ((60, 2, 4), (60, 1, 5), 5),
        ((180, 2, 4), (120, 2, 5), 5),
        ((60, 1, 4), (60, 1, 5), 4),
        ((60, 1, 4), (60, 2, 5), 4),
    ] {
        let mut bench = asking(1);
        let offer = |(start, hops, node)| found(1, start, hops, &[node]);
        bench.hear(1, offer(first));
        let start = if taken == 4 { first.0 } else { second.0 };
        assert_eq!(
            bench.hear(2, offer(second)),
            [Send(taken, prepare(attempt(1, 1), start))]
        );
    }
}

#[test]
fn after_a_refusal_comes_the_next_offer_then_a_fresh_search_then_failure() {
    let mut bench = asking(1);
    bench.hear(1, found(1, 60, 1, &[4]));
    bench.hear(2, found(1, 120, 1, &[5]));
    let (one, two, three) = (attempt(1, 1), attempt(1, 2), attempt(1, 3));
    assert_eq!(
        bench.vote(4, refused(one)),
        [Send(4, abort(one)), Send(5, prepare(two, 120))]
    );
    assert_eq!(
        bench.vote(5, refused(two)),
        [
            Send(5, abort(two)),
            Forget(TASK),
            Send(1, search(2, 1, 60)),
            Send(2, search(2, 1, 60))
        ]
    );
    // Late answers to the first search are ignored.
    assert_eq!(bench.hear(1, found(1, 60, 1, &[4])), []);
    assert_eq!(bench.hear(1, not_found(2, 9)), []);
    bench.hears(2, found(2, 60, 1, &[6]), [Send(6, prepare(three, 60))]);
    assert_eq!(
        bench.vote(6, refused(three)),
        [
            Send(6, abort(three)),
            Forget(TASK),
            Persist(OF_JOB),
            Tell(7, failed(Refusal::Taken)),
            Forget(OF_JOB)
        ]
    );
}

#[test]
fn a_job_is_too_large_if_all_searchers_see_too_few_nodes_and_otherwise_there_is_no_start() {
    for (seen, refusal) in [([2, 1], Refusal::TooLarge), ([2, 3], Refusal::NoStart)] {
        let mut bench = asking(3);
        assert_eq!(bench.hear(1, not_found(1, seen[0])), []);
        assert_eq!(
            bench.hear(2, not_found(1, seen[1])),
            [Persist(OF_JOB), Tell(7, failed(refusal)), Forget(OF_JOB)]
        );
        assert_eq!(
            (bench.jobs(), bench.host.records().contains_key(&OF_JOB)),
            (0, false)
        );
    }
}

#[test]
fn a_searcher_without_room_says_nothing_about_the_size_of_a_job() {
    let mut bench = asking(2);
    bench.hear(1, not_found(1, 0));
    let again = [Send(1, search(2, 2, 60)), Send(2, search(2, 2, 60))];
    assert_eq!(bench.hear(2, not_found(1, 0)), again);
    bench.hear(1, not_found(2, 0));
    assert_eq!(
        bench.hear(2, not_found(2, 0)),
        [
            Persist(OF_JOB),
            Tell(7, failed(Refusal::NotFound)),
            Forget(OF_JOB)
        ]
    );
}

#[test]
fn a_submitter_waits_for_silent_searchers_only_until_the_limit() {
    let mut bench = asking(1);
    bench.hear(1, found(1, 120, 1, &[4]));
    // A search takes at most nine seconds, and its answer two more.
    assert_eq!(bench.ring_until(10), []);
    assert_eq!(bench.ring_until(11), [Send(4, prepare(attempt(1, 1), 120))]);
    assert_eq!(bench.hear(2, found(1, 60, 1, &[5])), []);
}

#[test]
fn an_offer_is_confirmed_while_there_is_time_though_a_searcher_is_silent() {
    // Searchers are waited for until 62, and the start is at 30.
    let config = Config {
        slot: Span::from_secs(30),
        lead: Span::from_secs(10),
        search_limit: Span::from_secs(60),
        ..CONFIG
    };
    let searched = || {
        let mut bench = Bench::among(config, 3);
        bench.submit(7, 1);
        bench
    };
    let mut bench = searched();
    assert_eq!(bench.hear(1, found(1, 30, 1, &[4])), []);
    let latest = config.confirmed_by(second(30));
    let did = bench.ring_until(latest.as_secs());
    assert_eq!(did, [Send(4, prepare(attempt(1, 1), 30))]);
    // An offer that is too late for that is no offer.
    let mut bench = searched();
    bench.at(29).hear(1, found(1, 30, 1, &[4]));
    let did = bench.hear(2, found(1, 60, 1, &[5]));
    assert_eq!(did, [Send(5, prepare(attempt(1, 1), 60))]);
}

#[test]
fn if_all_searchers_are_silent_the_job_is_searched_for_again_and_then_fails() {
    let mut bench = asking(1);
    assert_eq!(
        bench.ring_until(11),
        [Send(1, search(2, 1, 120)), Send(2, search(2, 1, 120))]
    );
    assert_eq!(
        bench.ring_until(22),
        [
            Persist(OF_JOB),
            Tell(7, failed(Refusal::NotFound)),
            Forget(OF_JOB)
        ]
    );
}

#[test]
fn if_one_searcher_finds_nothing_and_another_is_silent_the_search_is_repeated() {
    for seen in [2, 3] {
        let mut bench = asking(3);
        assert_eq!(bench.hear(1, not_found(1, seen)), []);
        assert_eq!(
            bench.ring_until(11),
            [Send(1, search(2, 3, 120)), Send(2, search(2, 3, 120))]
        );
    }
}

#[test]
fn a_submitter_does_not_wait_for_an_unreachable_searcher() {
    let mut bench = asking(1);
    assert_eq!(bench.feed(Event::Unreachable { to: id(2) }), []);
    assert_eq!(
        bench.hear(1, found(1, 60, 1, &[4])),
        [Send(4, prepare(attempt(1, 1), 60))]
    );
    let mut bench = asking(1);
    bench.hear(1, found(1, 60, 1, &[4]));
    assert_eq!(
        bench.feed(Event::Unreachable { to: id(2) }),
        [Send(4, prepare(attempt(1, 1), 60))]
    );
}

#[test]
fn if_one_searcher_finds_nothing_and_another_is_unreachable_the_search_is_repeated() {
    let mut bench = asking(3);
    assert_eq!(bench.feed(Event::Unreachable { to: id(2) }), []);
    assert_eq!(
        bench.hear(1, not_found(1, 2)),
        [Send(1, search(2, 3, 60)), Send(2, search(2, 3, 60))]
    );
}

#[test]
fn a_node_that_looks_free_but_refuses_is_avoided_unless_there_is_no_other() {
    let config = Config {
        rounds: 3,
        ..CONFIG
    };
    let would_not = |attempt| Vote::Refused {
        attempt,
        reason: commit::Refused::NotAccepted,
        next_free: None,
    };
    let searches = |round, count| [1, 2].map(|peer| Send(peer, search(round, count, 60)));
    let mut bench = Bench::among(config, 3);
    bench.submit(7, 1);
    bench.hear(1, found(1, 60, 1, &[4]));
    let (one, two) = (attempt(1, 1), attempt(1, 2));
    bench.hears(2, found(1, 60, 1, &[4]), [Send(4, prepare(one, 60))]);
    // Both searchers offer node 4, which is tried once. The next search asks for one node more.
    let did = bench.vote(4, would_not(one));
    assert_eq!(did[did.len() - 2..], searches(2, 2));
    let mut other = bench.clone();
    other.hear(1, found(2, 60, 1, &[4, 5]));
    other.hears(2, found(2, 60, 2, &[6, 4]), [Send(5, prepare(two, 60))]);
    bench.hear(1, not_found(2, 1));
    assert_eq!(bench.hear(2, not_found(2, 1)), searches(3, 1));
    bench.hear(1, found(3, 60, 1, &[4]));
    assert_eq!(bench.hear(2, not_found(3, 1)), [Send(4, prepare(two, 60))]);
    // A node that refuses because it is busy is not avoided: its schedule shows that.
    let mut bench = Bench::among(config, 3);
    bench.submit(7, 1);
    bench.hear(1, found(1, 60, 1, &[4]));
    bench.hear(2, not_found(1, 1));
    let did = bench.vote(4, refused(one));
    assert_eq!(did[did.len() - 2..], searches(2, 1));
}

#[test]
fn a_job_that_others_overtook_twice_pauses_before_it_is_searched_for_again() {
    let config = Config {
        rounds: 3,
        ..CONFIG
    };
    let mut bench = Bench::among(config, 3);
    bench.submit(7, 1);
    for round in 1..=2 {
        bench.hear(1, found(round, 60, 1, &[4]));
        bench.hear(2, not_found(round, 1));
        let did = bench.vote(4, refused(attempt(1, u64::from(round))));
        let again = [1, 2].map(|peer| Send(peer, search(2, 1, 60)));
        assert_eq!(did.ends_with(&again), round == 1, "{did:?}");
    }
    let before = bench.now;
    assert_eq!(next_search(&mut bench), (3, vec![1, 2]));
    let longest = config.timeout.times(4);
    assert!(before < bench.now && bench.now <= before + longest);
}

#[test]
fn a_grid_of_one_node_works_if_searchers_offer_themselves() {
    let config = Config {
        searcher: Searcher::Included,
        ..CONFIG
    };
    let (mut bench, _) = Bench::boot(config, Bootstrap::Alone);
    let one = attempt(1, 1);
    assert_eq!(
        bench.submit(7, 1),
        [Persist(OF_JOB), Send(50, prepare(one, 60))]
    );
    let prepared = Vote::Prepared {
        attempt: one,
        lease: CONFIG.commit.lease,
    };
    let Message::Commit(question) = prepare(one, 60) else {
        panic!("a question is a commit's");
    };
    assert_eq!(
        bench.vote(50, question),
        [Persist(SEAT), Send(50, Message::Commit(prepared.clone()))]
    );
    assert_eq!(
        bench.vote(50, prepared),
        [
            Persist(TASK),
            Send(
                50,
                Message::Commit(Vote::Commit {
                    attempt: one,
                    members: Shared::new(Members::default()),
                })
            )
        ]
    );
    bench.vote(
        50,
        Vote::Commit {
            attempt: one,
            members: Shared::new(Members::default()),
        },
    );
    assert_eq!(
        bench.vote(50, Vote::Committed { attempt: one }),
        [
            Send(50, permit(one, 120)),
            Persist(OF_JOB),
            Tell(7, accepted(60))
        ]
    );
    let until = Some(second(120));
    bench.vote(
        50,
        Vote::Permit {
            attempt: one,
            until,
        },
    );
    let started = News::Started {
        attempt: one.epoch,
        until: second(120),
        assignment: Assignment::any(),
    };
    assert_eq!(bench.ring_until(60), [Persist(SEAT), Tell(7, started)]);
    let ended = Command::Ended {
        job: JOB,
        attempt: one.epoch,
        outcome: Outcome::Done,
    };
    let outcome = Outcome::Done;
    let told = Vote::Ended {
        attempt: one,
        outcome,
    };
    let late = Command::Ended {
        job: JOB,
        attempt: Epoch::new(0),
        outcome: Outcome::Broke,
    };
    assert_eq!(
        bench.at(100).obey(late),
        [],
        "the end of an attempt that is over"
    );
    assert_eq!(
        bench.obey(ended.clone()),
        [Persist(SEAT), Send(50, Message::Commit(told.clone()))]
    );
    assert_eq!(bench.obey(ended), [], "what does not run cannot end");
    assert_eq!(
        bench.vote(50, told),
        [
            Persist(TASK),
            Tell(7, News::Finished),
            Forget(OF_JOB),
            Send(50, release(one)),
            Forget(TASK)
        ]
    );
    // There is no second node, and none can ever be seen.
    assert_eq!(
        bench.submit(7, 2),
        [
            Persist(OF_JOB),
            Persist(OF_JOB),
            Tell(7, failed(Refusal::TooLarge)),
            Forget(OF_JOB)
        ]
    );
}

#[test]
fn a_node_without_neighbours_waits_for_the_overlay_before_it_searches_alone() {
    let config = Config {
        links: Links::Dynamic,
        searcher: Searcher::Included,
        ..CONFIG
    };
    let (mut bench, _) = Bench::boot(config, Bootstrap::Join(id(1).into()));
    assert_eq!(bench.submit(7, 1), [Persist(OF_JOB)]);
    assert_eq!(
        bench.get_link(1, 3),
        [Send(3, Message::Subscribe { known: None })]
    );
    // As long as two searches take, which is less than two periods of the overlay.
    let asked = |bench: &mut Bench| {
        bench.at(18);
        bench.feed(Event::Timer(Timer::Due))
    };
    assert!(asked(&mut bench).contains(&Send(3, search(1, 1, 120))));
    let (mut bench, _) = Bench::boot(config, Bootstrap::Join(id(1).into()));
    bench.submit(7, 1);
    assert_eq!(bench.at(17).feed(Event::Timer(Timer::Due)), []);
    assert_eq!(asked(&mut bench), [Send(50, prepare(attempt(1, 1), 120))]);
}

#[test]
fn a_node_that_has_lost_all_its_contacts_asks_its_introducer_again() {
    let config = Config {
        links: Links::Dynamic,
        ..CONFIG
    };
    let (mut bench, _) = Bench::boot(config, Bootstrap::Join(id(1).into()));
    bench.get_link(1, 3);
    // Node 3 becomes a contact. It never answers.
    let mut asked = Vec::new();
    for _ in 0..12 {
        let (at, timer) = bench.pending(|timer| matches!(timer, Timer::Overlay(_)));
        bench.now = at;
        for did in bench.feed(Event::Timer(timer)) {
            if let Send(to, Message::Overlay(message)) = did {
                asked.push((to, matches!(message, cyclon::Message::Join { .. })));
            }
        }
    }
    assert_eq!(bench.machine().overlay().known(), [id(3), id(1)]);
    // When its contacts do not answer, the node asks its introducer.
    assert_eq!(asked[..4], [(3, false), (3, true), (1, true), (1, true)]);
}

#[test]
fn an_unsupported_job_is_refused_with_the_reason_and_leaves_no_state() {
    use crate::job::{Criterion, Scope};
    use crate::resource::{Dimensions, Kind, Requirement};
    let cores = Demand::Cores(NonZeroU32::MIN);
    let dimensions = Dimensions::new(&[("memory", Kind::Level)]).unwrap();
    let memory = dimensions.named("memory").unwrap();
    let larger = job(7, 4);
    let with = |change: &dyn Fn(&mut Job)| {
        let mut job = job(7, 1);
        change(&mut job);
        job
    };
    for (job, refusal) in [
        (with(&|job| job.demand = cores), Refusal::UnsupportedDemand),
        (larger, Refusal::TooLarge),
        (
            Job::new(
                JobId::new(7),
                job(7, 1).demand,
                CONFIG.horizon + Span::from_millis(1),
            )
            .unwrap(),
            Refusal::TooLong,
        ),
        (
            with(&|job| job.deadline = Some(second(999))),
            Refusal::UnsupportedDeadline,
        ),
        (
            with(&|job| job.criterion = Criterion::Closest),
            Refusal::UnsupportedCriterion,
        ),
        (
            with(&|job| job.scope = Scope::Here),
            Refusal::UnsupportedScope,
        ),
        (
            with(&|job| job.requirement = Requirement::any().with(memory, 1)),
            Refusal::UnknownDimension(0),
        ),
    ] {
        let mut bench = Bench::among(CONFIG, 2);
        let before = bench.machine().clone();
        assert_eq!(bench.obey(Command::submit(job)), [Tell(7, failed(refusal))]);
        assert_eq!(*bench.machine(), before);
    }
}

#[test]
fn a_known_job_a_job_too_many_and_a_job_at_a_leaver_are_refused() {
    let mut bench = asking(1);
    assert_eq!(bench.submit(7, 1), [Tell(7, failed(Refusal::Known))]);
    bench.submit(8, 1);
    assert_eq!(bench.submit(9, 1), [Tell(9, failed(Refusal::Full))]);
    let unsubscribe = |peer| Send(peer, Message::Unsubscribe);
    assert_eq!(
        bench.obey(Command::Leave),
        [unsubscribe(1), unsubscribe(2), unsubscribe(3)]
    );
    assert_eq!(bench.submit(10, 1), [Tell(10, failed(Refusal::Leaving))]);
    // The leaver goes on with the jobs that it has.
    bench.hear(1, found(1, 60, 1, &[4]));
    assert_eq!(
        bench.hear(2, found(1, 60, 1, &[5])),
        [Send(4, prepare(attempt(1, 1), 60))]
    );
}

#[test]
fn a_leaver_gives_no_new_holds_and_does_not_offer_itself() {
    let config = Config {
        searcher: Searcher::Included,
        ..CONFIG
    };
    let mut bench = Bench::among(config, 2);
    bench.answers(9, search(1, 3, 60), found(1, 60, 1, &[50, 1, 2]));
    bench.hear(9, Message::Subscribe { known: None });
    let version = bench.machine().own.version() + 1;
    let busy_for_good = Message::Schedule {
        reason: Reason::Changed,
        stated: Stated::NOTHING,
        schedule: Snapshot::new(version, Time::ZERO, &[]).unwrap(),
    };
    let did = bench.obey(Command::Leave);
    assert_eq!(did[0], Send(9, busy_for_good));
    assert_eq!(bench.hear(9, search(1, 1, 60)), [Send(9, not_found(1, 0))]);
    let answer = Vote::Refused {
        attempt: attempt(1, 1),
        reason: commit::Refused::Draining,
        next_free: None,
    };
    bench.answers(9, prepare(attempt(1, 1), 60), Message::Commit(answer));
    assert_eq!(
        bench.machine().commitments().participant.schedule().len(),
        0
    );
}

#[test]
fn a_job_that_loses_a_node_before_its_start_moves() {
    let mut bench = on_four();
    let (one, two) = (attempt(1, 1), attempt(1, 2));
    let gone = alive(one, Standing::Gone);
    assert_eq!(
        bench.at(1).vote(4, gone),
        [
            Persist(TASK),
            Send(4, release(one)),
            Persist(OF_JOB),
            Send(1, search(2, 2, 120)),
            Send(2, search(2, 2, 120))
        ]
    );
    // The search asks for one node more, because the lost node is avoided.
    bench.hear(1, found(2, 120, 1, &[4, 5]));
    assert_eq!(bench.hear(2, not_found(2, 9)), [Send(5, prepare(two, 120))]);
    let moved = News::moved(second(120));
    let did = bench.agree(&[5], two);
    assert!(did.contains(&Tell(7, moved)), "{did:?}");
}

#[test]
fn a_node_that_was_lost_is_not_asked_to_search() {
    let mut bench = asking(1);
    bench.hear(1, found(1, 60, 1, &[1]));
    bench.hear(2, not_found(1, 9));
    bench.agree(&[1], attempt(1, 1));
    let gone = alive(attempt(1, 1), Standing::Gone);
    let did = bench.at(1).vote(1, gone);
    let to = |peer| did.contains(&Send(peer, search(2, 2, 120)));
    assert!(to(2) && !to(1), "{did:?}");
}

#[test]
fn a_new_placement_starts_after_the_earlier_attempt_must_have_ended() {
    let mut bench = on_four();
    let (one, two) = (attempt(1, 1), attempt(1, 2));
    let gone = alive(one, Standing::Gone);
    bench.vote(4, gone);
    bench.hear(1, found(2, 60, 1, &[4, 5]));
    assert_eq!(bench.hear(2, not_found(2, 9)), [Send(5, prepare(two, 60))]);
    let lease = CONFIG.commit.lease;
    assert_eq!(
        bench.vote(
            5,
            Vote::Prepared {
                attempt: two,
                lease
            }
        ),
        []
    );
    // Node 4 does not release the job and may run it until 120 by its clock: the next slot begins at 180.
    assert_eq!(
        bench.ring_until(3),
        [
            Send(4, release(one)),
            Send(5, abort(two)),
            Send(1, search(3, 2, 180)),
            Send(2, search(3, 2, 180))
        ]
    );
}

/// How an attempt that runs on node 4 fails at 70, for a job with this policy.
fn fails_at_70(retry: Retry, vote: impl Fn(Attempt) -> Vote) -> Effects {
    let mut bench = Bench::among(CONFIG, 2);
    bench.submit_with(retry);
    bench.hear(1, found(1, 60, 1, &[4]));
    bench.hear(2, found(1, 60, 1, &[4]));
    let one = attempt(1, 1);
    bench.agree(&[4], one);
    bench.at(70).vote(4, vote(one))
}

#[test]
fn a_job_that_may_have_run_is_placed_again_only_as_its_policy_says() {
    let gone = |attempt| alive(attempt, Standing::Gone);
    let broke = |attempt| Vote::Ended {
        attempt,
        outcome: Outcome::Broke,
    };
    let overran = |attempt| Vote::Ended {
        attempt,
        outcome: Outcome::Overran,
    };
    type Fails = fn(Attempt) -> Vote;
    for (retry, vote, failure) in [
        (Retry::Never, gone as Fails, Some(Failure::NodeLost)),
        (Retry::Never, broke, Some(Failure::Broke)),
        (Retry::Never, overran, Some(Failure::Overran)),
        (Retry::OnNodeLoss(1), gone, None),
        (Retry::OnNodeLoss(0), gone, Some(Failure::NodeLost)),
        (Retry::OnNodeLoss(1), broke, Some(Failure::Broke)),
        (Retry::OnNodeLoss(1), overran, Some(Failure::Overran)),
        (Retry::Always(1), gone, None),
        (Retry::Always(1), broke, None),
        (Retry::Always(1), overran, None),
        (Retry::Always(0), overran, Some(Failure::Overran)),
    ] {
        let did = fails_at_70(retry, vote);
        let told = did.iter().find_map(|did| match did {
            Tell(7, News::Failed(failure)) => Some(*failure),
            _ => None,
        });
        assert_eq!(told, failure, "{retry:?}: {did:?}");
        let searches = |did: &Did| matches!(did, Send(_, Message::Search { .. }));
        assert_eq!(did.iter().any(searches), failure.is_none(), "{retry:?}");
    }
}

#[test]
fn a_job_runs_again_only_as_often_as_it_may() {
    let mut bench = Bench::among(CONFIG, 3);
    bench.submit_with(Retry::Always(2));
    let mut told = Vec::new();
    for (number, start, nodes) in [(1, 60, &[4][..]), (2, 180, &[4, 5]), (3, 300, &[6, 4, 5])] {
        let attempt = attempt(1, number);
        let round = number as u32;
        bench.hear(1, found(round, start, 1, nodes));
        let node = [4, 5, 6][round as usize - 1];
        bench.hear(2, not_found(round, 9));
        told.extend(bench.agree(&[node], attempt));
        let outcome = Outcome::Overran;
        let overran = Vote::Ended { attempt, outcome };
        told.extend(bench.at(start + 60).vote(node, overran));
        bench.vote(node, released(attempt));
    }
    let told = told.into_iter().filter(|did| matches!(did, Tell(..)));
    let moved = |start| News::moved(second(start));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            accepted(60),
            moved(180),
            moved(300),
            News::Failed(Failure::Overran)
        ]
        .map(|news| Tell(7, news))
    );
    assert_eq!(bench.jobs(), 0);
}

#[test]
fn a_job_that_breaks_is_not_tried_again() {
    let mut bench = asking(1);
    bench.hear(1, found(1, 60, 1, &[4]));
    bench.hear(2, found(1, 120, 1, &[5]));
    let one = attempt(1, 1);
    bench.agree(&[4], one);
    let outcome = Outcome::Broke;
    let did = bench.at(70).vote(
        4,
        Vote::Ended {
            attempt: one,
            outcome,
        },
    );
    assert_eq!(
        did,
        [
            Persist(TASK),
            Persist(TASK),
            Send(4, release(one)),
            Persist(OF_JOB),
            Tell(7, News::Failed(Failure::Broke)),
            Forget(OF_JOB)
        ]
    );
}
