//! Messages that only a liar sends.

use super::*;
use crate::commit::Standing;
use Did::{Forget, Persist, Send, Tell};

/// A node with a job for two nodes; 1 and 2 search for it.
fn asking() -> Bench {
    let mut bench = Bench::among(CONFIG, 3);
    bench.submit(7, 2);
    bench
}

#[test]
fn an_offer_of_a_wrong_size_or_start_or_with_a_node_twice_is_dropped() {
    for bad in [
        found(1, 60, 1, &[]),
        found(1, 60, 1, &[4]),
        found(1, 60, 1, &[4, 5, 6]),
        found(1, 60, 1, &[4, 4]),
        found(1, 0, 1, &[4, 5]),
        found(1, 59, 1, &[4, 5]),
        // Beyond the horizon: a liar could make the job wait for ever.
        found(1, 60 + 86_400 + 60, 1, &[4, 5]),
    ] {
        let mut bench = asking();
        assert_eq!(bench.hear(1, bad.clone()), []);
        assert_eq!(
            bench.hear(2, found(1, 120, 1, &[5, 6])),
            [
                Send(5, prepare(attempt(1, 1), 120)),
                Send(6, prepare(attempt(1, 1), 120))
            ],
            "{bad:?}"
        );
        // Without another offer, neighbours search again.
        let mut bench = asking();
        bench.hear(1, bad.clone());
        assert_eq!(
            bench.hear(2, bad.clone()),
            [Send(1, search(2, 2, 60)), Send(2, search(2, 2, 60))],
            "{bad:?}"
        );
    }
}

#[test]
fn a_job_gets_no_fewer_nodes_than_it_wants_if_an_offer_repeats_one_that_it_avoids() {
    let mut bench = asking();
    let one = attempt(1, 1);
    bench.hear(1, found(1, 60, 1, &[4, 5]));
    bench.hear(2, not_found(1, 9));
    bench.agree(&[4, 5], one);
    let gone = alive(one, Standing::Gone);
    let did = bench.at(1).vote(4, gone);
    assert!(did.contains(&Send(1, search(2, 3, 120))), "{did:?}");
    bench.hear(1, found(2, 120, 1, &[4, 4, 5]));
    let did = bench.hear(2, found(2, 180, 1, &[6, 7, 8]));
    let two = attempt(1, 2);
    let both = [Send(6, prepare(two, 180)), Send(7, prepare(two, 180))];
    assert_eq!(did, both);
}

#[test]
fn an_offer_at_the_end_of_time_is_dropped() {
    let mut bench = asking();
    let offer = Offer {
        start: Time::MAX,
        hops: 0,
        nodes: vec![id(4), id(5)],
    };
    let ask = ask(1);
    bench.hear(1, Message::Found { ask, offer });
    assert_eq!(
        bench.hear(2, not_found(1, u32::MAX)),
        [
            Persist(OF_JOB),
            Tell(7, failed(Refusal::NoStart)),
            Forget(OF_JOB)
        ]
    );
}

#[test]
fn answers_from_strangers_to_other_questions_or_for_unknown_jobs_change_nothing() {
    let mut bench = asking();
    let before = bench.machine().clone();
    let nodes = &[4, 5];
    let unknown = AskId {
        job: JobId::new(99),
        round: 1,
    };
    for (from, message) in [
        (3, found(1, 60, 1, nodes)),
        (50, found(1, 60, 1, nodes)),
        (1, found(0, 60, 1, nodes)),
        (1, found(2, 60, 1, nodes)),
        (1, not_found(u32::MAX, 0)),
        (
            1,
            Message::NotFound {
                ask: unknown,
                seen: Tally {
                    suited: 1,
                    ..Tally::default()
                },
            },
        ),
        (1, others(1, &[(4, &[])])),
        (1, others(0, &[(4, &[])])),
        (9, schedule(Reason::Search(SearchId(1)), u64::MAX, &[])),
        (9, Message::Unsubscribe),
    ] {
        assert_eq!(bench.hear(from, message.clone()), [], "{message:?}");
        assert_eq!(*bench.machine(), before, "{message:?}");
    }
}

#[test]
fn only_the_first_answer_of_each_searcher_counts() {
    let mut bench = asking();
    bench.hear(1, found(1, 180, 1, &[4, 5]));
    assert_eq!(bench.hear(1, found(1, 60, 1, &[4, 5])), []);
    assert_eq!(
        bench.hear(2, not_found(1, 9)),
        [
            Send(4, prepare(attempt(1, 1), 180)),
            Send(5, prepare(attempt(1, 1), 180))
        ]
    );
}

#[test]
fn questions_for_nothing_or_too_much_are_answered() {
    let config = Config {
        max_hops: 1,
        ..CONFIG
    };
    let with = |count, from, length| Message::Search {
        ask: ask(1),
        wanted: Wanted {
            count,
            from,
            length,
            ..wanted(count, 0)
        },
    };
    let minute = Span::from_secs(60);
    for choice in [Choice::Nearest, Choice::BestFit] {
        let mut bench = Bench::among(Config { choice, ..config }, 3);
        for (question, seen) in [
            (with(u32::MAX, second(60), minute), 0),
            (with(1, Time::MAX, minute), 3),
            (with(1, second(60), Span::MAX), 3),
            (with(1, second(60), Span::ZERO), 3),
        ] {
            assert_eq!(
                bench.hear(9, question.clone()),
                [Send(9, not_found(1, seen))],
                "{question:?}"
            );
        }
        // For no nodes, an empty offer and no offer are both right.
        let did = bench.hear(9, with(0, second(60), minute));
        assert!(
            did == [Send(9, found(1, 60, 1, &[]))] || did == [Send(9, not_found(1, 0))],
            "{did:?}"
        );
    }
}

#[test]
fn a_search_takes_no_more_candidates_from_one_answer_than_a_view_has_links() {
    let config = Config {
        searcher: Searcher::Included,
        ..CONFIG
    };
    let mut bench = Bench::among(config, 1);
    bench.hear(9, search(1, 11, 60));
    let many: Others = (100..300)
        .map(|node| Known {
            node: id(node),
            stated: Stated::NOTHING,
            schedule: snapshot(u64::MAX, &[]),
        })
        .collect();
    assert_eq!(many.len(), 200);
    let told = Message::Others {
        search: SearchId(1),
        known: many,
    };
    // Two candidates of its own, and at most `C` = 6 of the liar's.
    assert_eq!(bench.hear(1, told), [Send(9, not_found(1, 8))]);
}

#[test]
fn a_node_whose_schedule_has_no_horizon_is_never_free() {
    let mut bench = Bench::among(CONFIG, 1);
    let nothing = Snapshot::new(9, Time::ZERO, &[]).unwrap();
    bench.hear(
        1,
        Message::Schedule {
            reason: Reason::Changed,
            stated: Stated::NOTHING,
            schedule: nothing,
        },
    );
    bench.hear(9, search(1, 1, 60));
    assert_eq!(bench.hear(1, others(1, &[])), [Send(9, not_found(1, 1))]);
}

#[test]
fn records_that_do_not_fit_their_keys_are_ignored() {
    let mut bench = Bench::among(CONFIG, 1);
    let job = job(8, 1);
    let record = Record::Desk(desk::Record::Job {
        job,
        payload: Payload::EMPTY,
        stage: Stage::Open,
    });
    bench.write(Key::Desk(desk::Key::Job(JOB)), record.clone());
    bench.write(SEAT, record);
    bench.restart();
    assert_eq!(bench.jobs(), 0);
}
