//! Jobs that run longer than their reservation.

use super::*;
use crate::admission::Needs;
use Did::{Persist, Send, Tell, Wake};
use std::vec;

/// Two extensions of a minute. Each is asked for four seconds before the end, and again after two seconds.
const LONGER: Config = Config {
    overrun: Overrun::Extend {
        by: Span::from_secs(60),
        times: 2,
    },
    permission: Permission::UntilEnd,
    ..CONFIG
};

fn extend(number: u64, until: u64) -> Message {
    let attempt = attempt(number);
    let until = second(until);
    Message::Extend { attempt, until }
}

mod participant {
    use super::*;
    use crate::commit::participant::{Cause, Command, Notice, Participant};
    use crate::job::Survival;

    type Hall = Bench<Participant>;

    const CHANGED: Did<Participant> = Tell(Notice::Changed);
    const RUNNING: Did<Participant> = Send(BOSS, alive(attempt(1), Standing::Running));

    /// Attempt 1 runs since 100; its time ends at 700.
    fn running_hall(build: fn() -> Participant) -> Hall {
        let mut hall = started(build);
        hall.hear(BOSS, prepare(attempt(1), slot(100)));
        hall.hear(BOSS, commit(attempt(1)));
        hall.hear(BOSS, permit(attempt(1), 700));
        hall.ring();
        assert_eq!(hall.now, second(100));
        hall
    }

    fn patient_hall() -> Hall {
        running_hall(|| Participant::new(LONGER, Everyone))
    }

    /// A participant that asked for its first extension at 696.
    fn asking_hall() -> Hall {
        let mut hall = patient_hall();
        hall.rings([
            Persist(JOB),
            Send(BOSS, extend(1, 760)),
            CHANGED,
            Wake(second(698)),
        ]);
        assert_eq!(hall.now, second(696));
        hall
    }

    fn cut(hall: &Hall) -> [Did<Participant>; 5] {
        [
            Tell(Notice::Stop {
                attempt: attempt(1),
                cause: Cause::Overran,
            }),
            Persist(JOB),
            Send(BOSS, ended(attempt(1), Outcome::Overran)),
            CHANGED,
            Wake(hall.now + Span::from_secs(2)),
        ]
    }

    fn taken_until(hall: &Hall) -> Option<Time> {
        let known = hall.machine().schedule().find(attempt(1))?;
        Some(known.interval.end())
    }

    fn extended(until: u64) -> Did<Participant> {
        Tell(Notice::Extended {
            attempt: attempt(1),
            until: second(until),
        })
    }

    #[test]
    fn a_job_runs_on_as_often_as_it_may_be_extended() {
        let mut hall = asking_hall();
        assert_eq!(taken_until(&hall), Some(second(760)));
        hall.at(697).hears(
            BOSS,
            permit(attempt(1), 760),
            [extended(760), RUNNING, Wake(second(756))],
        );
        hall.rings([
            Persist(JOB),
            Send(BOSS, extend(1, 820)),
            CHANGED,
            Wake(second(758)),
        ]);
        // A repetition of the first permission does not permit the second extension.
        assert_eq!(hall.hear(BOSS, permit(attempt(1), 760)), [RUNNING]);
        hall.at(757).hears(
            BOSS,
            permit(attempt(1), 820),
            [extended(820), RUNNING, Wake(second(820))],
        );
        let did = hall.ring();
        assert_eq!(hall.now, second(820));
        assert_eq!(did, cut(&hall), "twice and no more");
        assert!(hall.machine().schedule().is_empty());
    }

    #[test]
    fn without_a_permission_a_job_asks_again_and_is_cut_at_the_end() {
        let mut hall = asking_hall();
        assert_eq!(hall.ring(), [Send(BOSS, extend(1, 760)), Wake(second(700))]);
        // Until its old end the job may run anyway.
        assert_eq!(hall.hear(BOSS, permit(attempt(1), 700)), [RUNNING]);
        let did = hall.ring();
        assert_eq!(hall.now, second(700));
        assert_eq!(did, cut(&hall));
        assert!(hall.machine().schedule().is_empty());
        // A permission that comes now changes nothing.
        assert_eq!(
            hall.hear(BOSS, permit(attempt(1), 760)),
            [Send(BOSS, ended(attempt(1), Outcome::Overran))]
        );
    }

    #[test]
    fn only_the_coordinator_permits_an_extension_and_only_of_its_attempt() {
        let mut hall = asking_hall();
        let before = hall.machine().clone();
        for (from, attempt) in [(RIVAL, attempt(1)), (BOSS, attempt(0)), (BOSS, attempt(2))] {
            hall.answers(from, permit(attempt, 760), alive(attempt, Standing::Gone));
        }
        assert_eq!(hall.hear(RIVAL, extend(1, 760)), [], "for coordinators");
        assert_eq!(*hall.machine(), before);
    }

    #[test]
    fn an_extension_takes_its_time_at_once_and_only_if_it_is_free() {
        let other = Attempt::new(JobId::new(3), Epoch::new(1));
        let mut hall = asking_hall();
        let refusal = Message::Refused {
            attempt: other,
            reason: Refused::Busy,
            next_free: Some(second(760)),
        };
        hall.sends_back(RIVAL, prepare(other, slot(710)), refusal);
        // Another job has a hold on that time.
        let mut hall = patient_hall();
        hall.at(695).hear(RIVAL, prepare(other, slot(759)));
        assert_eq!(hall.ring(), [Wake(second(698))]);
        assert_eq!(hall.ring(), [Wake(second(700))]);
        assert_eq!(hall.ring()[..4], cut(&hall)[..4]);
        // The other hold is aborted in time.
        let mut hall = patient_hall();
        hall.at(695).hear(RIVAL, prepare(other, slot(759)));
        hall.ring();
        hall.hear(RIVAL, abort(other));
        hall.rings([
            Persist(JOB),
            Send(BOSS, extend(1, 760)),
            CHANGED,
            Wake(second(700)),
        ]);
        assert_eq!(hall.now, second(698));
        // A hold right after the extension does no harm.
        let mut hall = patient_hall();
        hall.at(695).hear(RIVAL, prepare(other, slot(760)));
        assert_eq!(sends(hall.ring()), [(BOSS, extend(1, 760))]);
    }

    #[test]
    fn an_early_end_and_a_release_free_the_extension_like_the_rest() {
        for permitted in [false, true] {
            let mut hall = asking_hall();
            if permitted {
                hall.hear(BOSS, permit(attempt(1), 760));
            }
            let (first, outcome) = (attempt(1), Outcome::Done);
            let command = Command::Ended {
                attempt: first,
                outcome,
            };
            assert_eq!(
                hall.feed(Event::Command(command)),
                [
                    Persist(JOB),
                    Send(BOSS, ended(first, outcome)),
                    CHANGED,
                    Wake(second(698))
                ][..if permitted { 4 } else { 3 }]
            );
            assert!(hall.machine().schedule().is_empty());
            let mut hall = asking_hall();
            if permitted {
                hall.hear(BOSS, permit(attempt(1), 760));
            }
            hall.hear(BOSS, release(attempt(1)));
            assert!(hall.machine().schedule().is_empty());
        }
    }

    #[test]
    fn a_crash_ends_the_job_and_frees_all_of_its_time() {
        for permitted in [false, true] {
            let mut hall = asking_hall();
            if permitted {
                hall.hear(BOSS, permit(attempt(1), 760));
            }
            assert_eq!(
                sends(hall.restart()),
                [(BOSS, alive(attempt(1), Standing::Gone))]
            );
            assert!(hall.machine().schedule().is_empty());
        }
    }

    fn survived(survival: Survival) -> Command {
        let attempt = attempt(1);
        Command::Survived { attempt, survival }
    }

    #[test]
    fn a_job_that_survives_a_crash_goes_on_with_the_time_that_was_permitted() {
        for (permitted, until) in [(false, 700), (true, 760)] {
            let mut hall = asking_hall();
            if permitted {
                hall.hear(BOSS, permit(attempt(1), 760));
            }
            let runs = Survival::Runs {
                until: second(until),
            };
            let did = hall.restart_with([survived(runs)]);
            // Its time is still taken, to the end of the extension, and it is stopped when its permission ends.
            assert_eq!(taken_until(&hall), Some(second(760)));
            assert_eq!(tells(did), []);
            assert_eq!(hall.machine().running().collect::<Vec<_>>(), [attempt(1)]);
            let stop = Notice::Stop {
                attempt: attempt(1),
                cause: Cause::Overran,
            };
            let told = hall.ring_until(until);
            let told: Vec<Notice> = tells(told);
            assert!(told.contains(&stop), "{permitted}: {told:?}");
        }
    }

    #[test]
    fn a_job_that_ended_during_a_crash_has_ended() {
        let mut hall = asking_hall();
        let outcome = Outcome::Done;
        let did = hall
            .at(699)
            .restart_with([survived(Survival::Ended(outcome))]);
        let ended = Message::Ended {
            attempt: attempt(1),
            outcome,
        };
        assert_eq!(sends(did)[0], (BOSS, ended));
        assert!(hall.machine().schedule().is_empty());
    }

    #[test]
    fn a_job_that_survives_its_time_or_its_attempt_is_stopped() {
        let stop = |number| Notice::Stop {
            attempt: attempt(number),
            cause: Cause::Released,
        };
        let runs = |until| Survival::Runs {
            until: second(until),
        };
        // An attempt that this node does not know.
        let mut hall = asking_hall();
        let unknown = Command::Survived {
            attempt: attempt(9),
            survival: runs(800),
        };
        let told = tells(hall.restart_with([unknown]));
        assert_eq!(told[..2], [stop(9), stop(1)]);
        // Its permission is over.
        let mut hall = asking_hall();
        let told = tells(hall.at(697).restart_with([survived(runs(697))]));
        assert!(matches!(told[0], Notice::Stop { .. }), "{told:?}");
        // After the start nothing is said of an earlier life.
        let mut hall = patient_hall();
        hall.ignores(Event::Command(survived(runs(9999))));
    }

    #[test]
    fn an_orphan_asks_in_vain_no_longer_than_it_may_run() {
        let build = || {
            let config = Config {
                retries: 99,
                ..LONGER
            };
            Participant::new(config, Everyone)
        };
        let mut hall: Hall = started(build);
        hall.hear(BOSS, prepare(attempt(1), slot(100)));
        hall.hear(BOSS, commit(attempt(1)));
        hall.hear(BOSS, permit(attempt(1), 600));
        let told = tells(hall.ring_until(600));
        let stop = Notice::Stop {
            attempt: attempt(1),
            cause: Cause::Orphaned,
        };
        // Its time ends at 700, and it asks from 500 on.
        assert_eq!(told[1..], [Notice::Changed, stop, Notice::Changed]);
    }

    #[test]
    fn an_extension_is_permitted_as_soon_as_a_permission_lasts_beyond_the_end() {
        let mut hall = asking_hall();
        hall.hear(BOSS, permit(attempt(1), 699));
        hall.hears(
            BOSS,
            permit(attempt(1), 701),
            [extended(701), RUNNING, Wake(second(701))],
        );
        hall.hears(
            BOSS,
            permit(attempt(1), 710),
            [extended(710), RUNNING, Wake(second(710))],
        );
        let stop = Notice::Stop {
            attempt: attempt(1),
            cause: Cause::Orphaned,
        };
        assert_eq!(tells(hall.ring())[0], stop);
        assert_eq!(hall.now, second(710));
    }

    #[test]
    fn no_extension_is_asked_for_if_none_is_possible() {
        for overrun in [
            Overrun::Cut,
            Overrun::Extend {
                by: Span::from_secs(60),
                times: 0,
            },
            Overrun::Extend {
                by: Span::ZERO,
                times: 9,
            },
        ] {
            let mut participant: Participant =
                Participant::new(Config { overrun, ..LONGER }, Everyone);
            let mut effects = EffectQueue::new();
            for message in [
                prepare(attempt(1), slot(100)),
                commit(attempt(1)),
                permit(attempt(1), 999),
            ] {
                let from = BOSS;
                let event = Event::Message { from, message };
                effects.feed(&mut participant, event, Time::ZERO, &mut Zeros);
            }
            effects.drain().for_each(drop);
            let due = || Event::Timer(crate::commit::participant::Due);
            effects.feed(&mut participant, due(), second(100), &mut Zeros);
            let last: Vec<_> = effects.drain().collect();
            let wakes = last.iter().filter_map(|effect| match effect {
                Effect::Wake { at, .. } => Some(*at),
                _ => None,
            });
            assert_eq!(wakes.collect::<Vec<_>>(), [second(700)], "{overrun:?}");
        }
        // A reservation until the end of time cannot be extended.
        let mut hall: Hall = started(|| Participant::new(LONGER, Everyone));
        let interval = Interval::since(second(100)).unwrap();
        hall.hear(BOSS, prepare(attempt(1), interval));
        hall.hear(BOSS, commit(attempt(1)));
        hall.hear(BOSS, permit(attempt(1), u64::MAX));
        hall.ring();
        assert_eq!(hall.host.timers().len(), 0);
    }
}

mod coordinator {
    use super::*;
    use crate::commit::coordinator::{Command, Coordinator, Key, Notice, Setback};

    const TASK: Key = Key::Task(JOB);

    fn place(start: u64, nodes: &[NodeId]) -> Event<Coordinator> {
        Event::Command(Command::Place {
            job: JOB,
            submitter: NOBODY,
            needs: Needs::NOTHING,
            candidates: vec![Candidate {
                interval: slot(start),
                nodes: nodes.to_vec(),
            }],
            spares: vec![],
            payload: Payload::EMPTY,
        })
    }

    fn agree(desk: &mut Bench<Coordinator>, nodes: &[NodeId], attempt: Attempt) {
        for node in nodes {
            desk.hear(*node, prepared(attempt));
        }
        for node in nodes {
            desk.hear(*node, committed(attempt));
        }
    }

    /// All nodes run attempt 1 since 1000, and may do so until 1600. It is 1596.
    fn standing(nodes: &[NodeId], build: fn() -> Coordinator) -> Bench<Coordinator> {
        let mut desk = started(build);
        desk.feed(place(1000, nodes));
        agree(&mut desk, nodes, attempt(1));
        desk.ring_until(1000);
        desk.at(1596);
        desk
    }

    fn patient_desk(nodes: &[NodeId]) -> Bench<Coordinator> {
        standing(nodes, || Coordinator::new(LONGER, Everyone))
    }

    #[test]
    fn a_longer_end_is_on_disk_before_it_is_permitted() {
        let mut desk = patient_desk(&[A]);
        let permitted = Send(A, permit(attempt(1), 1660));
        assert_eq!(
            desk.hear(A, extend(1, 1660)),
            [Persist(TASK), permitted.clone(), Wake(second(1665))]
        );
        // The answer was lost: it is sent again, and nothing else changes.
        assert_eq!(desk.hear(A, extend(1, 1660)), [permitted]);
        assert_eq!(
            desk.at(1656).hear(A, extend(1, 1720)),
            [
                Persist(TASK),
                Send(A, permit(attempt(1), 1720)),
                Wake(second(1725))
            ]
        );
        assert_eq!(desk.hear(A, extend(1, 1780)), [], "twice and no more");
    }

    #[test]
    fn renewed_permissions_go_on_until_the_longer_end() {
        let build = || {
            let permission = Permission::Renewed(Span::from_secs(30));
            let config = Config {
                permission,
                retries: 200,
                ..LONGER
            };
            Coordinator::new(config, Everyone)
        };
        let mut desk = standing(&[A, B], build);
        desk.ring();
        assert_eq!(
            desk.hear(A, extend(1, 1660)),
            [Persist(TASK), Send(A, permit(attempt(1), 1626))]
        );
        assert_eq!(
            desk.ring(),
            [
                Send(A, permit(attempt(1), 1636)),
                Send(B, permit(attempt(1), 1600)),
                Wake(second(1616))
            ]
        );
        assert_eq!(
            sends(
                desk.at(1650)
                    .feed(Event::Timer(crate::commit::coordinator::Due))
            )[0],
            (A, permit(attempt(1), 1660))
        );
    }

    #[test]
    fn an_extension_against_the_rules_is_not_permitted() {
        let mut desk = patient_desk(&[A, B]);
        desk.hear(B, ended(attempt(1), Outcome::Done));
        let before = desk.machine().clone();
        // Too little, too much, from a stranger, and from a node that is done.
        for (from, until) in [
            (A, 1601),
            (A, 1661),
            (A, 1720),
            (A, u64::MAX),
            (SPARE, 1660),
            (B, 1660),
        ] {
            assert_eq!(desk.hear(from, extend(1, until)), [], "{from} {until}");
        }
        // An unknown attempt is over.
        desk.answers(A, extend(2, 1660), release(attempt(2)));
        // A must have let go by now.
        assert_eq!(desk.at(1600).hear(A, extend(1, 1660)), []);
        assert_eq!(*desk.machine(), before);
        // The job is unknown.
        let mut desk: Bench<Coordinator> = started(|| Coordinator::new(LONGER, Everyone));
        desk.answers(A, extend(1, 1660), release(attempt(1)));
        // The configuration allows no extensions.
        let build = || {
            let overrun = Overrun::Cut;
            Coordinator::new(Config { overrun, ..LONGER }, Everyone)
        };
        let mut desk = standing(&[A], build);
        assert_eq!(desk.hear(A, extend(1, 1660)), []);
    }

    #[test]
    fn a_later_life_knows_until_when_a_node_may_run() {
        let mut desk = patient_desk(&[A]);
        let (from, message) = (A, extend(1, 1660));
        let asked = Event::Message { from, message };
        assert_eq!(desk.feed_some(asked, 1), [Persist(TASK)]);
        desk.restart();
        assert_eq!(desk.hear(A, extend(1, 1660)), [], "not before all is known");
        desk.ring();
        desk.sends_back(A, committed(attempt(1)), permit(attempt(1), 1660));
        // Another attempt waits until that end has passed by any clock.
        for told in [false, true] {
            let mut desk = patient_desk(&[A]);
            desk.hear(A, extend(1, 1660));
            if told {
                desk.restart();
            }
            desk.feed(Event::Command(Command::Release { job: JOB }));
            desk.feed(place(1640, &[B]));
            let next = if told { in_life(2, 1) } else { attempt(2) };
            agree(&mut desk, &[B], next);
            let permitted = |sent: &(NodeId, Message)| matches!(sent.1, Message::Permit { .. });
            let before = sends(desk.ring_until(1660));
            assert!(!before.iter().any(permitted), "{before:?}");
            let after = sends(desk.ring_until(1663));
            assert!(after.contains(&(B, permit(next, 2240))), "{after:?}");
        }
    }

    #[test]
    fn each_node_has_an_end_of_its_own() {
        let mut desk = patient_desk(&[A, B]);
        // The end of B is watched as before.
        assert_eq!(
            desk.hear(A, extend(1, 1660)),
            [Persist(TASK), Send(A, permit(attempt(1), 1660))]
        );
        assert_eq!(
            desk.at(1599).hear(B, ended(attempt(1), Outcome::Done)),
            [
                Persist(TASK),
                Send(B, release(attempt(1))),
                Wake(second(1665))
            ]
        );
        let lost = |node| Notice::Unplaced {
            job: JOB,
            setback: Setback::Lost { node },
            may_have_run: true,
        };
        assert_eq!(desk.ring_until(1664), []);
        assert_eq!(
            tells(desk.ring()),
            [lost(A)],
            "nothing was heard of it since"
        );
        // If B, which was not extended, is silent, it costs the attempt when its own time is over.
        let mut desk = patient_desk(&[A, B]);
        desk.hear(A, extend(1, 1660));
        assert_eq!(
            desk.ring(),
            [
                Persist(TASK),
                Send(A, release(attempt(1))),
                Send(B, release(attempt(1))),
                Tell(lost(B)),
                Wake(second(1607))
            ]
        );
        assert_eq!(desk.now, second(1605));
        // The job is not cleared as long as A may run.
        desk.hear(B, released(attempt(1)));
        let told = tells(desk.ring_until(1660));
        assert_eq!(told, []);
        let told = tells(desk.ring_until(1664));
        assert_eq!(told, [Notice::Cleared { job: JOB }]);
    }
}
