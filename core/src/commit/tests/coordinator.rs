use super::*;
use crate::commit::coordinator::{Command, Coordinator, Key, Notice, Setback};
use Did::{Cancel, Forget, Persist, Send, Tell, Wake};
use std::vec;

type Desk = Bench<Coordinator>;

const TASK: Key = Key::Task(JOB);
const WAITING: Standing = Standing::Waiting;

fn desk() -> Desk {
    Bench::started(|| Coordinator::new(CONFIG, Everyone))
}

/// One that starts no job twice.
fn cautious_desk() -> Desk {
    const CAUTIOUS: Config = Config {
        after_loss: AfterLoss::GiveUp,
        ..CONFIG
    };
    Bench::started(|| Coordinator::new(CAUTIOUS, Everyone))
}

fn candidate(start: u64, nodes: &[NodeId]) -> Candidate {
    Candidate {
        interval: slot(start),
        nodes: nodes.to_vec(),
    }
}

fn place(candidates: Vec<Candidate>, spares: &[NodeId]) -> Event<Coordinator> {
    place_job(JOB, candidates, spares)
}

fn place_job(job: JobId, candidates: Vec<Candidate>, spares: &[NodeId]) -> Event<Coordinator> {
    Event::Command(Command::Place {
        job,
        submitter: NOBODY,
        candidates,
        spares: spares.to_vec(),
    })
}

fn improve(start: u64, nodes: &[NodeId]) -> Event<Coordinator> {
    let candidate = candidate(start, nodes);
    Event::Command(Command::Improve {
        job: JOB,
        candidate,
    })
}

const GIVE_UP: Event<Coordinator> = Event::Command(Command::Release { job: JOB });

fn unplaced(setback: Setback) -> Notice {
    Notice::Unplaced { job: JOB, setback }
}

fn placed(number: u64, start: u64) -> Notice {
    Notice::Placed {
        holder: attempt(number),
        interval: slot(start),
    }
}

fn cleared() -> Notice {
    Notice::Cleared { job: JOB }
}

/// With time at 1000 on these nodes since zero, by attempt 1; nobody may start yet.
fn standing(nodes: &[NodeId], more: Vec<Candidate>, spares: &[NodeId]) -> Desk {
    let mut desk = desk();
    let mut candidates = more;
    candidates.insert(0, candidate(1000, nodes));
    desk.feed(place(candidates, spares));
    agree(&mut desk, nodes, 1);
    desk
}

/// With time at 1000 on these nodes since 940, by attempt 1; everyone may start and run until 1240, and has said so.
fn permitted(nodes: &[NodeId], more: Vec<Candidate>, spares: &[NodeId]) -> Desk {
    let mut desk = desk();
    let mut candidates = more;
    candidates.insert(0, candidate(1000, nodes));
    desk.at(940).feed(place(candidates, spares));
    agree(&mut desk, nodes, 1);
    for node in nodes {
        desk.hear(*node, alive(attempt(1), WAITING));
    }
    desk
}

/// Everyone votes for an attempt and commits it; what the last commit does.
fn agree(desk: &mut Desk, nodes: &[NodeId], number: u64) -> Vec<Did<Coordinator>> {
    for node in nodes {
        desk.hear(*node, prepared(attempt(number)));
    }
    let answers = nodes
        .iter()
        .map(|node| desk.hear(*node, committed(attempt(number))));
    answers.last().unwrap()
}

#[test]
fn a_job_is_held_committed_permitted_and_finished_on_all_nodes() {
    let mut desk = desk();
    let question = prepare(attempt(1), slot(1000));
    assert_eq!(
        desk.feed(place(vec![candidate(1000, &[A, B])], &[])),
        [Send(A, question), Send(B, question), Wake(second(2))]
    );
    assert_eq!(desk.hear(A, prepared(attempt(1))), []);
    assert_eq!(
        desk.at(1).hear(B, prepared(attempt(1))),
        [
            Persist(TASK),
            Send(A, commit(attempt(1))),
            Send(B, commit(attempt(1))),
            Wake(second(3))
        ]
    );
    assert_eq!(desk.hear(A, committed(attempt(1))), []);
    assert_eq!(
        desk.at(2).hear(B, committed(attempt(1))),
        [
            Tell(placed(1, 1000)),
            Send(A, permit(attempt(1), 0)),
            Send(B, permit(attempt(1), 0)),
            Wake(second(102))
        ]
    );
    assert_eq!(desk.hear(A, alive(attempt(1), WAITING)), []);
    assert_eq!(
        desk.at(1400).hear(A, ended(attempt(1), Outcome::Done)),
        [Persist(TASK), Send(A, release(attempt(1)))]
    );
    assert_eq!(
        desk.hear(B, ended(attempt(1), Outcome::Done)),
        [
            Persist(TASK),
            Tell(Notice::Finished { job: JOB }),
            Send(B, release(attempt(1))),
            Forget(TASK),
            Tell(cleared()),
            Cancel
        ]
    );
    assert_eq!(desk.machine.jobs().count(), 0);
    assert_eq!(desk.disk.len(), 1, "only which life this is");
}

#[test]
fn a_refusal_aborts_the_attempt_and_the_next_candidate_is_tried() {
    let mut desk = desk();
    let candidates = vec![candidate(1000, &[A, B]), candidate(2000, &[B])];
    desk.feed(place(candidates, &[]));
    desk.hear(A, prepared(attempt(1)));
    let refusal = |holder| Message::Refused {
        holder,
        reason: Refused::Busy,
        next_free: second(4000),
    };
    assert_eq!(
        desk.hear(B, refusal(attempt(1))),
        [
            Send(A, abort(attempt(1))),
            Send(B, abort(attempt(1))),
            Send(B, prepare(attempt(2), slot(2000)))
        ]
    );
    let setback = Setback::Refused {
        node: B,
        reason: Refused::Busy,
        next_free: second(4000),
    };
    assert_eq!(desk.hear(B, refusal(attempt(1))), []);
    assert_eq!(desk.hear(A, refusal(attempt(2))), []);
    assert_eq!(
        desk.hear(B, refusal(attempt(2))),
        [
            Send(B, abort(attempt(2))),
            Tell(unplaced(setback)),
            Forget(TASK),
            Tell(cleared()),
            Cancel
        ]
    );
}

#[test]
fn who_is_silent_is_asked_again_so_often_and_then_given_up() {
    let mut desk = desk();
    desk.feed(place(vec![candidate(1000, &[A, B])], &[]));
    desk.hear(A, prepared(attempt(1)));
    let question = prepare(attempt(1), slot(1000));
    assert_eq!(desk.ring(), [Send(B, question), Wake(second(3))]);
    let silent = unplaced(Setback::Silent { node: B });
    assert_eq!(
        desk.ring(),
        [
            Send(A, abort(attempt(1))),
            Send(B, abort(attempt(1))),
            Tell(silent),
            Forget(TASK),
            Tell(cleared())
        ]
    );
    assert_eq!(desk.alarms.len(), 0);
}

#[test]
fn votes_that_leave_no_time_to_commit_are_too_slow() {
    // A lease of five that began at zero does not outlive two delays from three on.
    for (now, slow) in [(2, false), (3, true)] {
        let mut desk = desk();
        desk.feed(place(vec![candidate(1000, &[A])], &[]));
        let told = tells(desk.at(now).hear(A, prepared(attempt(1))));
        assert_eq!(told.contains(&unplaced(Setback::Slow)), slow);
    }
    // The lead is five: a start at seven is just in time.
    for (start, slow) in [(7, false), (6, true)] {
        let mut desk = desk();
        desk.feed(place(vec![candidate(start, &[A])], &[]));
        let told = tells(desk.at(2).hear(A, prepared(attempt(1))));
        assert_eq!(told.contains(&unplaced(Setback::Slow)), slow);
    }
}

#[test]
fn a_commit_after_the_lease_gives_the_attempt_up_and_tries_the_next() {
    let mut desk = desk();
    let candidates = vec![candidate(1000, &[A, B]), candidate(50, &[A])];
    desk.feed(place(candidates, &[]));
    desk.hear(A, prepared(attempt(1)));
    desk.hear(B, prepared(attempt(1)));
    desk.hear(A, committed(attempt(1)));
    assert_eq!(
        desk.at(1).hear(B, expired(attempt(1))),
        [
            Persist(TASK),
            Send(A, release(attempt(1))),
            Send(B, release(attempt(1))),
            Send(A, prepare(attempt(2), slot(50))),
            Wake(second(3))
        ]
    );
    // Nobody was permitted to start, so the next need not wait for them.
    desk.hear(A, prepared(attempt(2)));
    assert_eq!(
        sends(desk.hear(A, committed(attempt(2)))),
        [(B, release(attempt(1))), (A, permit(attempt(2), 301))]
    );
    assert_eq!(
        desk.hear(B, released(attempt(1))),
        [Persist(TASK), Wake(second(101))]
    );
    assert_eq!(desk.hear(B, released(attempt(1))), []);
}

#[test]
fn a_commit_is_repeated_so_often_and_then_the_silent_node_is_given_up() {
    let mut desk = desk();
    desk.feed(place(vec![candidate(1000, &[A, B])], &[]));
    desk.hear(A, prepared(attempt(1)));
    desk.hear(B, prepared(attempt(1)));
    desk.hear(A, committed(attempt(1)));
    assert_eq!(desk.ring(), [Send(B, commit(attempt(1))), Wake(second(4))]);
    // The start is far away, and there might be another candidate.
    let silent = unplaced(Setback::Silent { node: B });
    assert_eq!(
        desk.ring(),
        [
            Persist(TASK),
            Send(A, release(attempt(1))),
            Send(B, release(attempt(1))),
            Tell(silent),
            Wake(second(6))
        ]
    );
    assert_eq!(desk.hear(A, released(attempt(1))), [Persist(TASK)]);
    // The other cannot start it, which is said when it has not answered for a while; it lets go by itself when a permission
    // cannot come any more, by any clock.
    assert_eq!(tells(desk.ring_until(8)), [cleared()]);
    let asked = desk.ring_until(1031);
    assert_eq!(tells(asked), []);
    assert_eq!(desk.ring(), [Persist(TASK), Forget(TASK)]);
    assert_eq!(desk.now, just_after(1031));
}

#[test]
fn a_better_place_that_cannot_be_had_changes_nothing() {
    let mut desk = standing(&[A], vec![], &[]);
    let kept = Notice::Kept {
        job: JOB,
        setback: None,
    };
    let silent = Notice::Kept {
        job: JOB,
        setback: Some(Setback::Silent { node: B }),
    };
    assert_eq!(
        desk.feed(improve(500, &[B])),
        [Send(B, prepare(attempt(2), slot(500))), Wake(second(2))]
    );
    assert_eq!(tells(desk.feed(improve(400, &[B]))), [kept]);
    assert_eq!(
        desk.ring_until(4),
        [
            Send(B, prepare(attempt(2), slot(500))),
            Wake(second(3)),
            Send(B, abort(attempt(2))),
            Tell(silent),
            Wake(second(100))
        ]
    );
    assert_eq!(
        sends(desk.ring()),
        [(A, permit(attempt(1), 0))],
        "the earlier attempt stands as before"
    );
    // What is no candidate, what nobody knows, and what is about to start.
    assert_eq!(desk.feed(improve(2000, &[])), [Tell(kept)]);
    assert_eq!(desk.feed(improve(2000, &[A, A])), [Tell(kept)]);
    assert_eq!(desk.at(996).feed(improve(2000, &[B])), [Tell(kept)]);
    let mut empty = self::desk();
    assert_eq!(empty.feed(improve(500, &[B])), [Tell(kept)]);
}

#[test]
fn a_better_place_is_permitted_when_the_earlier_one_has_let_go() {
    let mut desk = permitted(&[A], vec![], &[]);
    desk.feed(improve(1020, &[B]));
    assert_eq!(
        desk.hear(B, prepared(attempt(2))),
        [Persist(TASK), Send(B, commit(attempt(2)))]
    );
    assert_eq!(
        desk.hear(B, committed(attempt(2))),
        [Tell(placed(2, 1020)), Send(A, release(attempt(1)))]
    );
    assert_eq!(
        desk.hear(B, query(attempt(2))),
        [],
        "the other may still run"
    );
    assert_eq!(
        desk.ring(),
        [Send(A, release(attempt(1))), Wake(second(944))]
    );
    assert_eq!(
        desk.hear(A, released(attempt(1))),
        [
            Persist(TASK),
            Send(B, permit(attempt(2), 1242)),
            Wake(second(1042))
        ]
    );
}

#[test]
fn a_node_that_never_lets_go_is_waited_for_until_its_permission_has_ended_by_any_clock() {
    let mut desk = permitted(&[A], vec![], &[]);
    desk.feed(improve(1020, &[B]));
    agree(&mut desk, &[B], 2);
    let before = sends(desk.ring_until(1241));
    assert!(before.iter().all(|sent| *sent == (A, release(attempt(1)))));
    let (holder, until) = (attempt(2), just_after(1541));
    let after = sends(desk.ring_until(1242));
    assert!(
        after.contains(&(B, Message::Permit { holder, until })),
        "{after:?}"
    );
}

#[test]
fn a_node_of_both_attempts_may_run_the_earlier_one_until_it_commits_the_later() {
    let mut desk = permitted(&[A], vec![candidate(1215, &[B])], &[]);
    desk.feed(improve(1020, &[A]));
    desk.hear(A, prepared(attempt(2)));
    // Its hold has ended; the earlier attempt, which may start, is still there.
    desk.hear(A, expired(attempt(2)));
    assert_eq!(
        agree(&mut desk, &[B], 3),
        [
            Tell(placed(3, 1215)),
            Send(A, release(attempt(2))),
            Send(B, permit(attempt(3), 0))
        ]
    );
    let sent = sends(desk.ring_until(1150));
    assert!(
        sent.iter().all(|sent| *sent == (A, release(attempt(2)))),
        "no permission while the other may run"
    );
    assert_eq!(
        sends(desk.hear(A, released(attempt(2)))),
        [(B, permit(attempt(3), 1450))]
    );
    // Once it has committed the later one, there is nothing to wait for.
    let mut desk = permitted(&[A], vec![], &[]);
    desk.feed(improve(1020, &[A]));
    assert_eq!(
        agree(&mut desk, &[A], 2),
        [
            Tell(placed(2, 1020)),
            Send(A, permit(attempt(2), 1240)),
            Wake(second(1040))
        ]
    );
}

#[test]
fn a_lost_node_is_replaced_by_a_spare_before_the_start() {
    let mut desk = standing(&[A, B], vec![], &[B, SPARE]);
    // B answers neither at zero nor at a hundred.
    let renewed = |node| Send(node, permit(attempt(1), 0));
    assert_eq!(desk.ring(), [renewed(A), renewed(B), Wake(second(200))]);
    desk.hear(A, alive(attempt(1), WAITING));
    let question = prepare(attempt(2), slot(1000));
    assert_eq!(
        desk.ring(),
        [Send(A, question), Send(SPARE, question), Wake(second(202))]
    );
    assert_eq!(
        agree(&mut desk, &[A, SPARE], 2),
        [
            Tell(placed(2, 1000)),
            Send(B, release(attempt(1))),
            Send(A, permit(attempt(2), 0)),
            Send(SPARE, permit(attempt(2), 0))
        ]
    );
    // B never lets go, but was not permitted to start either.
    let mut sent = Vec::new();
    while desk.now < second(900) {
        for node in [A, SPARE] {
            desk.hear(node, alive(attempt(2), WAITING));
        }
        sent = sends(desk.ring());
    }
    let start = |node| (node, permit(attempt(2), 1200));
    assert!(sent.contains(&start(A)) && sent.contains(&start(SPARE)));
}

#[test]
fn a_lost_node_without_a_spare_costs_the_attempt() {
    let lost = unplaced(Setback::Lost { node: A });
    let mut desk = standing(&[A, B], vec![], &[]);
    assert_eq!(
        desk.hear(A, alive(attempt(1), Standing::Gone)),
        [
            Persist(TASK),
            Send(A, release(attempt(1))),
            Send(B, release(attempt(1))),
            Tell(lost),
            Wake(second(2))
        ]
    );
    assert_eq!(desk.hear(A, alive(attempt(1), Standing::Gone)), []);
    // With a spare that refuses, too.
    let mut desk = standing(&[A, B], vec![], &[SPARE]);
    desk.hear(A, alive(attempt(1), Standing::Gone));
    let refusal = Message::Refused {
        holder: attempt(2),
        reason: Refused::Full,
        next_free: Time::MAX,
    };
    assert_eq!(tells(desk.hear(SPARE, refusal)), [lost]);
}

#[test]
fn a_node_lost_while_running_costs_the_attempt_and_the_next_is_tried() {
    let mut desk = standing(&[A, B], vec![candidate(3000, &[B])], &[SPARE]);
    desk.at(1100);
    assert_eq!(
        desk.hear(A, alive(attempt(1), Standing::Gone)),
        [
            Persist(TASK),
            Send(A, release(attempt(1))),
            Send(B, release(attempt(1))),
            Send(B, prepare(attempt(2), slot(3000))),
            Wake(second(1102))
        ]
    );
    // A job that broke goes the same way.
    let mut desk = standing(&[A, B], vec![], &[SPARE]);
    desk.at(1100);
    assert_eq!(
        desk.hear(A, ended(attempt(1), Outcome::Broke)),
        [
            Persist(TASK),
            Persist(TASK),
            Send(A, release(attempt(1))),
            Send(B, release(attempt(1))),
            Tell(unplaced(Setback::Broke { node: A })),
            Wake(second(1102))
        ]
    );
}

#[test]
fn a_job_that_must_not_start_twice_is_given_up_once_it_has_started() {
    for (now, next) in [(900, true), (1100, false)] {
        let mut desk = cautious_desk();
        let candidates = vec![candidate(1000, &[A, B]), candidate(3000, &[B])];
        desk.feed(place(candidates, &[]));
        agree(&mut desk, &[A, B], 1);
        desk.at(now);
        let did = desk.hear(A, alive(attempt(1), Standing::Gone));
        let tried = Send(B, prepare(attempt(2), slot(3000)));
        assert_eq!(did.contains(&tried), next, "at {now}");
        let lost = Tell(unplaced(Setback::Lost { node: A }));
        assert_eq!(did.contains(&lost), !next, "at {now}");
    }
}

#[test]
fn who_has_not_told_of_an_end_long_after_it_is_lost() {
    let mut desk = standing(&[A, B], vec![], &[]);
    desk.at(1590).hear(A, ended(attempt(1), Outcome::Done));
    let mut told = Vec::new();
    while told.is_empty() {
        desk.hear(B, alive(attempt(1), Standing::Running));
        told = tells(desk.ring());
    }
    // Its clock may be behind, and its word may take a while.
    assert!(desk.now >= second(1605));
    told.extend(tells(desk.ring_until(1900)));
    assert_eq!(told, [unplaced(Setback::Lost { node: B }), cleared()]);
}

#[test]
fn a_job_that_finishes_takes_nothing_that_is_still_being_asked_for() {
    let mut desk = standing(&[A], vec![], &[]);
    desk.at(995).feed(improve(2000, &[B]));
    assert_eq!(
        desk.at(1000).hear(A, ended(attempt(1), Outcome::Done)),
        [
            Persist(TASK),
            Send(B, abort(attempt(2))),
            Tell(Notice::Finished { job: JOB }),
            Send(A, release(attempt(1))),
            Forget(TASK),
            Tell(cleared()),
            Cancel
        ]
    );
    assert_eq!(
        desk.hear(B, prepared(attempt(2))),
        [Send(B, abort(attempt(2)))]
    );
}

#[test]
fn a_job_that_is_given_up_is_freed_everywhere() {
    let mut desk = standing(&[A, B], vec![candidate(3000, &[B])], &[]);
    desk.feed(improve(500, &[SPARE]));
    assert_eq!(
        desk.feed(GIVE_UP),
        [
            Send(SPARE, abort(attempt(2))),
            Persist(TASK),
            Send(A, release(attempt(1))),
            Send(B, release(attempt(1)))
        ]
    );
    assert_eq!(desk.feed(GIVE_UP), []);
    assert_eq!(desk.hear(A, released(attempt(1))), [Persist(TASK)]);
    assert_eq!(
        desk.hear(B, released(attempt(1))),
        [Persist(TASK), Forget(TASK), Tell(cleared()), Cancel]
    );
    assert_eq!(desk.feed(GIVE_UP), []);
}

#[test]
fn what_nobody_knows_was_aborted() {
    let mut desk = desk();
    let holder = in_life(u64::from(u32::MAX), u64::from(u32::MAX));
    assert_eq!(desk.hear(A, prepared(holder)), [Send(A, abort(holder))]);
    for message in [
        committed(holder),
        query(holder),
        Message::Extend {
            holder,
            until: Time::MAX,
        },
        ended(holder, Outcome::Done),
    ] {
        assert_eq!(desk.hear(A, message), [Send(A, release(holder))]);
    }
    for message in [
        expired(holder),
        alive(holder, Standing::Running),
        alive(holder, Standing::Gone),
        released(holder),
        commit(holder),
        permit(holder, 9),
        release(holder),
        abort(holder),
        prepare(holder, slot(9)),
    ] {
        assert_eq!(desk.hear(A, message), []);
    }
    assert_eq!(desk.feed(Event::Unreachable { to: A }), []);
    assert_eq!(desk.machine.jobs().count(), 0);
}

#[test]
fn strangers_and_other_attempts_change_nothing() {
    let mut desk = permitted(&[A], vec![], &[]);
    let before = desk.machine.clone();
    let forged = Holder {
        job: JOB,
        epoch: Epoch::new(u64::MAX),
    };
    let refusal = Message::Refused {
        holder: attempt(1),
        reason: Refused::Stale,
        next_free: Time::MAX,
    };
    for (from, message, answer) in [
        (B, prepared(forged), Some(abort(forged))),
        (B, committed(forged), Some(release(forged))),
        (B, query(forged), Some(release(forged))),
        (B, ended(forged, Outcome::Broke), Some(release(forged))),
        (
            B,
            ended(attempt(1), Outcome::Broke),
            Some(release(attempt(1))),
        ),
        (B, expired(attempt(1)), None),
        (A, expired(forged), None),
        (B, alive(attempt(1), Standing::Gone), None),
        (A, alive(forged, Standing::Gone), None),
        (A, prepared(attempt(1)), None),
        (A, committed(attempt(1)), None),
        (A, refusal, None),
        (A, released(forged), None),
        (B, query(attempt(1)), None),
    ] {
        let answer: Vec<_> = answer
            .map(|answer| Send(from, answer))
            .into_iter()
            .collect();
        assert_eq!(desk.hear(from, message), answer, "{message:?}");
    }
    desk.hear(A, alive(attempt(1), WAITING));
    let mut expected = before;
    EffectQueue::new().feed(
        &mut expected,
        Event::Message {
            from: A,
            message: alive(attempt(1), WAITING),
        },
        desk.now,
        &mut Xoshiro256PlusPlus::seed_from_u64(0),
    );
    assert_eq!(desk.machine, expected);
    assert_eq!(
        desk.hear(A, query(attempt(1))),
        [Send(A, permit(attempt(1), 1240))]
    );
}

#[test]
fn a_vote_of_any_length_is_survived() {
    for lease in [Span::ZERO, Span::from_micros(u64::MAX)] {
        let mut desk = desk();
        desk.feed(place(vec![candidate(1000, &[A])], &[]));
        let holder = attempt(1);
        let told = tells(desk.hear(A, Message::Prepared { holder, lease }));
        assert_eq!(told.is_empty(), !lease.is_zero());
    }
}

#[test]
fn commands_beyond_the_limits_are_named() {
    let mut desk = desk();
    let sound = || vec![candidate(1000, &[A])];
    let bad = unplaced(Setback::BadCandidate);
    let four = [A, B, SPARE, BOSS];
    for (candidates, spares) in [
        (vec![], &[][..]),
        (vec![candidate(1000, &[])], &[]),
        (vec![candidate(1000, &[A, B, A])], &[]),
        (vec![candidate(1000, &four)], &[]),
        (vec![candidate(1000, &[A]); 17], &[]),
        (sound(), &four),
    ] {
        assert_eq!(desk.feed(place(candidates, spares)), [Tell(bad)]);
    }
    for job in [1, 2] {
        let did = desk.feed(place_job(JobId::new(job), sound(), &[]));
        assert_eq!(sends(did).len(), 1);
    }
    let full = |job| Notice::Unplaced {
        job,
        setback: Setback::Full,
    };
    assert_eq!(desk.feed(place(sound(), &[])), [Tell(full(JOB))]);
    // A job that is being tried is not tried on top of that.
    let job = JobId::new(1);
    assert_eq!(desk.feed(place_job(job, sound(), &[])), [Tell(full(job))]);
}

#[test]
fn who_may_not_submit_is_told_so() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Nobody;
    impl Policy for Nobody {
        fn may_submit(&self, submitter: &Submitter) -> bool {
            submitter.user.get() != 0
        }
        fn accepts(&self, _: &Submitter) -> bool {
            true
        }
    }
    let mut desk: Bench<Coordinator<Nobody>> = Bench::started(|| Coordinator::new(CONFIG, Nobody));
    let command = Command::Place {
        job: JOB,
        submitter: NOBODY,
        candidates: vec![candidate(1000, &[A])],
        spares: vec![],
    };
    let refused = unplaced(Setback::NotAuthorised);
    assert_eq!(desk.feed(Event::Command(command)), [Tell(refused)]);
}

#[test]
fn a_crash_before_the_decision_leaves_nothing() {
    let mut desk = desk();
    desk.feed(place(vec![candidate(1000, &[A])], &[]));
    assert_eq!(desk.restart(), [Persist(Key::Life)]);
    assert_eq!(
        desk.hear(A, prepared(attempt(1))),
        [Send(A, abort(attempt(1)))]
    );
    // Attempts of this life have numbers that none of an earlier one has.
    let did = desk.feed(place(vec![candidate(1000, &[A])], &[]));
    assert_eq!(sends(did), [(A, prepare(in_life(2, 1), slot(1000)))]);
}

#[test]
fn a_decision_is_taken_up_again_after_a_crash() {
    let mut desk = desk();
    desk.feed(place(vec![candidate(1000, &[A, B])], &[]));
    desk.hear(A, prepared(attempt(1)));
    let vote = Event::Message {
        from: B,
        message: prepared(attempt(1)),
    };
    assert_eq!(desk.feed_some(vote, 1), [Persist(TASK)]);
    assert_eq!(desk.at(3).restart(), [Persist(Key::Life), Wake(second(3))]);
    assert_eq!(
        desk.ring(),
        [
            Send(A, commit(attempt(1))),
            Send(B, commit(attempt(1))),
            Wake(second(5))
        ]
    );
    desk.hear(A, committed(attempt(1)));
    assert_eq!(
        desk.hear(B, committed(attempt(1))),
        [
            Tell(placed(1, 1000)),
            Send(A, permit(attempt(1), 0)),
            Send(B, permit(attempt(1), 0)),
            Wake(second(103))
        ]
    );
}

#[test]
fn a_later_life_does_not_permit_what_the_earlier_one_had_to_wait_with() {
    let mut desk = permitted(&[A], vec![], &[]);
    desk.feed(improve(1020, &[B]));
    agree(&mut desk, &[B], 2);
    desk.at(941).restart();
    assert_eq!(
        sends(desk.ring()),
        [(B, commit(attempt(2)))],
        "the earlier attempt is kept while the later one does not stand"
    );
    assert_eq!(
        desk.hear(B, committed(attempt(2))),
        [Tell(placed(2, 1020)), Send(A, release(attempt(1)))]
    );
    assert_eq!(desk.hear(B, query(attempt(2))), []);
    assert_eq!(
        sends(desk.hear(A, released(attempt(1)))),
        [(B, permit(attempt(2), 1241))]
    );
}

#[test]
fn a_later_life_clears_up_what_is_left_of_earlier_attempts() {
    let mut desk = standing(&[A], vec![], &[]);
    desk.feed(GIVE_UP);
    assert_eq!(desk.restart(), [Persist(Key::Life), Wake(second(0))]);
    assert_eq!(desk.ring(), [Send(A, release(attempt(1))), Wake(second(2))]);
    // It goes down once more, after it has written that nothing is left and before it forgets it.
    let letting_go = Event::Message {
        from: A,
        message: released(attempt(1)),
    };
    assert_eq!(desk.feed_some(letting_go, 1), [Persist(TASK)]);
    assert_eq!(
        desk.restart(),
        [Persist(Key::Life), Forget(TASK), Tell(cleared())]
    );
    assert_eq!(desk.machine.jobs().count(), 0);
}

#[test]
fn a_later_life_tells_of_an_end_that_the_earlier_one_wrote_down() {
    let mut desk = standing(&[A], vec![], &[]);
    let end = Event::Message {
        from: A,
        message: ended(attempt(1), Outcome::Done),
    };
    assert_eq!(desk.at(1100).feed_some(end, 1), [Persist(TASK)]);
    // At once, so that nothing else can become of the job.
    assert_eq!(
        desk.restart(),
        [
            Persist(Key::Life),
            Tell(Notice::Finished { job: JOB }),
            Forget(TASK),
            Tell(cleared())
        ]
    );
    assert_eq!(desk.alarms.len(), 0);
}

#[test]
fn an_end_counts_as_a_commit_so_that_the_others_are_permitted_to_run_on() {
    let mut desk = standing(&[A, B], vec![], &[]);
    desk.at(1100).restart();
    desk.ring();
    desk.hear(A, committed(attempt(1)));
    assert_eq!(
        desk.hear(B, ended(attempt(1), Outcome::Done)),
        [
            Persist(TASK),
            Tell(placed(1, 1000)),
            Send(A, permit(attempt(1), 1400)),
            Send(B, release(attempt(1))),
            Wake(second(1200))
        ]
    );
}

#[test]
fn a_permission_until_the_end_is_given_once() {
    let build = || {
        let permission = Permission::UntilEnd;
        Coordinator::new(
            Config {
                permission,
                ..CONFIG
            },
            Everyone,
        )
    };
    let mut desk: Desk = Bench::started(build);
    desk.feed(place(vec![candidate(1000, &[A])], &[]));
    assert_eq!(
        agree(&mut desk, &[A], 1),
        [Tell(placed(1, 1000)), Wake(second(996))]
    );
    assert_eq!(
        desk.ring(),
        [Send(A, permit(attempt(1), 1600)), Wake(second(1605))]
    );
    let lost = unplaced(Setback::Lost { node: A });
    assert_eq!(tells(desk.ring_until(1607)), [lost, cleared()]);
}

#[test]
fn the_end_of_time_is_survived() {
    let mut desk = desk();
    desk.now = Time::MAX;
    desk.feed(place(vec![candidate(1000, &[A])], &[]));
    desk.hear(A, prepared(attempt(1)));
    let mut desk = self::desk();
    let interval = Interval::since(Time::from_secs(1000)).unwrap();
    let nodes = vec![A];
    desk.feed(place(vec![Candidate { interval, nodes }], &[]));
    agree(&mut desk, &[A], 1);
    desk.now = Time::MAX;
    let lost = unplaced(Setback::Lost { node: A });
    let told = tells(desk.feed(Event::Timer(crate::commit::coordinator::Due)));
    assert_eq!(told, [lost, cleared()]);
}

#[test]
fn nobody_is_asked_for_a_hold_that_could_not_be_committed_any_more() {
    let mut desk: Desk = Bench::started(|| Coordinator::new(Config::DEFAULT, Everyone));
    desk.feed(place(vec![candidate(1000, &[A, B])], &[]));
    desk.hear(A, prepared(attempt(1)));
    let mut told = Vec::new();
    while told.is_empty() {
        told = tells(desk.ring());
    }
    // Leases of five, counted from the first question, outlive two delays until then.
    assert_eq!(desk.now, second(3));
    let silent = unplaced(Setback::Silent { node: B });
    assert_eq!(told, [silent, cleared()]);
    // A shorter lease ends it sooner.
    let mut desk = self::desk();
    desk.feed(place(vec![candidate(1000, &[A, B])], &[]));
    let (holder, lease) = (attempt(1), Span::from_secs(3));
    assert_eq!(
        desk.hear(A, Message::Prepared { holder, lease }),
        [Wake(second(1))]
    );
    assert_eq!(tells(desk.ring()), [silent, cleared()]);
}

#[test]
fn an_end_that_is_told_again_is_not_written_down_again() {
    let mut desk = standing(&[A, B], vec![], &[]);
    desk.at(1400).hear(A, ended(attempt(1), Outcome::Done));
    assert_eq!(
        desk.hear(A, ended(attempt(1), Outcome::Done)),
        [Send(A, release(attempt(1)))]
    );
}

#[test]
fn spares_are_not_spent_where_a_survivor_is_what_is_missing() {
    // B stays silent, too: no spare helps.
    let mut desk = standing(&[A, B], vec![], &[BOSS, SPARE]);
    desk.hear(A, alive(attempt(1), Standing::Gone));
    let did = desk.ring_until(50);
    let asked = sends(did.clone());
    let prepares = |sent: &&(NodeId, Message)| matches!(sent.1, Message::Prepare { .. });
    assert!(asked.iter().filter(prepares).all(|(node, _)| *node != BOSS));
    assert_eq!(tells(did)[0], unplaced(Setback::Silent { node: B }));
    // One that refuses costs the attempt as well.
    let mut desk = standing(&[A, B], vec![], &[BOSS, SPARE]);
    desk.hear(A, alive(attempt(1), Standing::Gone));
    let (node, reason, next_free) = (B, Refused::Full, Time::MAX);
    let refusal = Message::Refused {
        holder: attempt(2),
        reason,
        next_free,
    };
    let setback = Setback::Refused {
        node,
        reason,
        next_free,
    };
    assert_eq!(tells(desk.hear(B, refusal)), [unplaced(setback)]);
}

#[test]
fn a_later_life_replaces_a_node_that_stays_away_before_the_start() {
    let mut desk = standing(&[A, B], vec![], &[SPARE]);
    desk.at(1).restart();
    desk.ring();
    desk.hear(A, committed(attempt(1)));
    // As long as it takes to lose one that does not answer: two renewals.
    assert_eq!(tells(desk.ring_until(200)), []);
    let question = prepare(in_life(2, 1), slot(1000));
    let sent = sends(desk.ring_until(202));
    let asked = sent.iter().filter(|sent| sent.1 == question);
    assert_eq!(
        asked.collect::<Vec<_>>(),
        [&(A, question), &(SPARE, question)]
    );
}

#[test]
fn a_later_life_waits_for_a_running_node_as_long_as_it_may_run() {
    let mut desk = standing(&[A, B], vec![], &[]);
    desk.at(1100).restart();
    desk.ring();
    desk.hear(A, committed(attempt(1)));
    assert_eq!(tells(desk.ring_until(1399)), []);
    assert_eq!(
        tells(desk.hear(B, committed(attempt(1)))),
        [placed(1, 1000)]
    );
    // After that it does not run any more.
    let mut desk = standing(&[A, B], vec![], &[]);
    desk.at(1100).restart();
    desk.ring();
    desk.hear(A, committed(attempt(1)));
    let lost = unplaced(Setback::Lost { node: B });
    assert_eq!(tells(desk.ring_until(1402)), [lost, cleared()]);
}

#[test]
fn long_before_the_start_only_signs_of_life_are_asked_for() {
    let mut desk = desk();
    desk.feed(place(vec![candidate(430, &[A])], &[]));
    let sign = Send(A, permit(attempt(1), 0));
    assert_eq!(
        agree(&mut desk, &[A], 1),
        [Tell(placed(1, 430)), sign.clone(), Wake(second(100))]
    );
    // The last one comes a renewal or two before the permission.
    for next in [200, 330] {
        assert_eq!(desk.hear(A, query(attempt(1))), [], "it is not near");
        desk.hear(A, alive(attempt(1), WAITING));
        assert_eq!(desk.ring(), [sign.clone(), Wake(second(next))]);
        assert_eq!(desk.machine.may_run_until(JOB, A), None);
    }
    desk.hear(A, alive(attempt(1), WAITING));
    assert_eq!(
        desk.ring(),
        [Send(A, permit(attempt(1), 630)), Wake(second(430))]
    );
    assert_eq!(desk.machine.may_run_until(JOB, A), Some(second(630)));
    // Who has just committed is not asked.
    let mut desk = self::desk();
    desk.feed(place(vec![candidate(150, &[A])], &[]));
    assert_eq!(
        agree(&mut desk, &[A], 1),
        [Tell(placed(1, 150)), Wake(second(50))]
    );
    assert_eq!(
        desk.ring(),
        [Send(A, permit(attempt(1), 350)), Wake(second(150))]
    );
}

#[test]
fn an_attempt_that_an_earlier_one_would_outlast_is_not_decided_on() {
    // A has lost the job, and does not let go: it may run it until 1240, by its own clock.
    let tried = |start| {
        let mut desk = permitted(&[A], vec![candidate(start, &[B])], &[]);
        desk.hear(A, alive(attempt(1), Standing::Gone));
        let did = desk.hear(B, prepared(attempt(2)));
        (desk, did)
    };
    let decided = [Persist(TASK), Send(B, commit(attempt(2)))];
    assert_eq!(tried(1212).1, decided, "at 1242 it could start");
    let (mut desk, did) = tried(1211);
    assert_eq!(did, []);
    let until = just_after(1241);
    let earlier = unplaced(Setback::Earlier { until });
    assert_eq!(tells(desk.ring_until(943)), [earlier]);
    // It lets go after all.
    let (mut desk, _) = tried(1211);
    let did = desk.hear(A, released(attempt(1)));
    assert_eq!(did[1..], decided);
}

#[test]
fn a_job_is_not_moved_away_from_a_node_that_does_not_answer() {
    let silent = || {
        let mut desk = desk();
        desk.at(940).feed(place(vec![candidate(1000, &[A])], &[]));
        agree(&mut desk, &[A], 1);
        desk.feed(improve(1020, &[B]));
        assert_eq!(desk.hear(B, prepared(attempt(2))), []);
        desk
    };
    let until = just_after(1241);
    let kept = Notice::Kept {
        job: JOB,
        setback: Some(Setback::Earlier { until }),
    };
    assert_eq!(tells(silent().ring_until(943)), [kept]);
    assert_eq!(
        silent().hear(A, alive(attempt(1), WAITING)),
        [Persist(TASK), Send(B, commit(attempt(2)))]
    );
}

#[test]
fn a_dead_node_is_asked_to_let_go_less_and_less_often_and_does_not_hold_up_the_last_word() {
    const WEEK: u64 = 7 * 24 * 3600;
    let mut desk = desk();
    desk.feed(place(vec![candidate(WEEK, &[A, B])], &[]));
    agree(&mut desk, &[A, B], 1);
    desk.feed(GIVE_UP);
    desk.hear(A, released(attempt(1)));
    let mut asked = Vec::new();
    let mut told = Vec::new();
    while !desk.alarms.is_empty() {
        let did = desk.ring();
        let now = desk.now.as_secs();
        told.extend(tells(did.clone()).into_iter().map(|told| (now, told)));
        asked.extend(sends(did).iter().map(|_| now));
    }
    assert_eq!(asked[..9], [2, 4, 8, 16, 32, 64, 128, 256, 384]);
    assert!(asked.len() < 5000, "{}", asked.len());
    // Nobody was permitted to start, so it is over when they were asked as often as may be.
    assert_eq!(told, [(4, cleared())]);
    assert_eq!(desk.machine.jobs().count(), 0);
    assert_eq!(desk.disk.len(), 1, "only which life this is");
}

#[test]
fn who_gives_up_what_nobody_can_start_is_told_so_again() {
    let mut desk = standing(&[A], vec![], &[]);
    desk.hear(A, alive(attempt(1), Standing::Gone));
    assert_eq!(tells(desk.ring_until(10)), [cleared()]);
    // The host has not found another place yet, and does not want one any more.
    assert_eq!(tells(desk.feed(GIVE_UP)), [cleared()]);
    assert_eq!(desk.machine.jobs().count(), 1, "A is still asked");
}

#[test]
fn what_may_still_run_is_not_cleared() {
    let mut desk = permitted(&[A], vec![], &[]);
    desk.feed(GIVE_UP);
    // Who stops at 1240 by a clock that is behind has stopped when 1241 has passed.
    assert_eq!(tells(desk.ring_until(1241)), []);
    assert_eq!(tells(desk.ring()), [cleared()]);
    assert_eq!(desk.now, just_after(1241));
}
