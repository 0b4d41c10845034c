//! Messages of liars, and the encoding of messages and records.

use super::*;

/// Every kind of message, under every term that could matter.
fn messages() -> Vec<Message> {
    let terms = [
        term(0, 0),
        term(1, 0),
        term(1, 1),
        term(1, u32::MAX),
        term(u32::MAX, u32::MAX),
        under(1, 1, 0),
        under(u32::MAX, 1, 0),
    ];
    let mut all = Vec::new();
    for term in terms {
        all.push(give(HOME, term, u32::MAX));
        all.push(give(ME, term, 0));
        all.extend(
            [Answer::Taken, Answer::NotTaken(Refused::NoMatch)].map(|yes| answer(term, yes)),
        );
        let standings = [
            UNKNOWN,
            Standing::Waiting {
                start: Some(Time::MAX),
                at: None,
            },
            Standing::Running,
            ended(Ending::Done),
            ended(Ending::Failed(Failure::Broke)),
            ended(Ending::Lost),
            ended(Ending::Withdrawn),
        ];
        all.extend(standings.map(|standing| report(term, standing)));
        let rulings = [
            granted(0),
            granted(300),
            Ruling::Granted { until: Time::MAX },
            Ruling::Over,
            Ruling::Withdraw,
        ];
        all.extend(rulings.map(|ruling| verdict(term, ruling)));
    }
    let later: Vec<Message> = all.iter().cloned().map(second_time).collect();
    all.extend(later);
    all
}

/// Nodes with a job in each state that it can have, as home and as holder.
fn situations() -> Vec<Bench> {
    let home: [fn(&mut Bench); 6] = [
        |_| {},
        |bench| drop(bench.keep()),
        |bench| {
            bench.keep();
            bench.find(0, &[]);
        },
        |bench| {
            bench.keep();
            bench.find(0, &[1, HOME]);
        },
        Bench::placed,
        |bench| {
            bench.placed();
            bench.cancel();
        },
    ];
    let holder: [fn(&mut Bench); 8] = [
        |_| {},
        |bench| drop(bench.receive(HOME, give(HOME, term(1, 0), 0))),
        |bench| bench.holding(600),
        |bench| {
            bench.holding(600);
            bench.run();
        },
        |bench| {
            bench.holding(600);
            bench.give_away(1);
        },
        |bench| {
            bench.holding(600);
            bench.give_away(1);
            bench.receive(1, answer(term(1, 1), Answer::Taken));
        },
        |bench| {
            bench.holding(600);
            bench.give_away(1);
            bench.lose(1);
        },
        |bench| {
            bench.holding(600);
            bench.end(Ending::Done);
        },
    ];
    let mut all = Vec::new();
    for config in [CONFIG, BOUNDED] {
        for home in home {
            for holder in holder {
                let mut before = Bench::alone();
                holder(&mut before);
                home(&mut before);
                let mut bench = Bench::with(config);
                bench.host = before.host;
                bench.now = before.now;
                bench.restart();
                all.push(bench);
                let mut bench = Bench::alone();
                holder(&mut bench);
                home(&mut bench);
                all.push(bench);
            }
        }
    }
    all
}

#[test]
fn any_message_in_any_state_is_handled_within_bounds_and_everything_ends() {
    for (number, mut bench) in situations().into_iter().enumerate() {
        let before = bench.host.clone();
        // A debug build tries every third message in a situation, and the next ones in the next situation.
        let (first, step) = (crate::scaled(0, number as u64 % 3), crate::scaled(1, 3));
        let some = messages().into_iter().skip(first as usize);
        for first in some.step_by(step as usize) {
            bench.host = before.clone();
            for from in [HOME, 1, ME] {
                assert!(bench.receive(from, first.clone()).len() <= 16);
            }
            bench.lose(1);
            // Without a host that answers, all is over after the retention, and nothing is left.
            while bench.host.next_at().is_some_and(|at| at <= second(20_000)) {
                let did = bench.ring();
                bench.taking(did);
            }
            // Exception: if this node is home and holder of the job, the job waits for its host.
            let waits = bench.machine().holder(JOB) == Some(id(ME));
            assert!(waits || bench.machine().is_empty(), "{:?}", bench.machine());
            bench.now = second(1);
        }
    }
}

#[test]
fn a_node_has_no_more_jobs_than_it_may_whatever_it_is_given() {
    let mut bench = Bench::alone();
    for name in 0..100 {
        let message = Message::Give {
            job: Shared::new(named(name)),
            home: id(name),
            term: term(u32::MAX, u32::MAX),
            carried: 0,
            payload: Payload::EMPTY,
        };
        bench.receive(1, message);
    }
    assert_eq!(bench.machine().held().count(), 3);
    // The node forgets them when their homes do not answer.
    bench.pass_until(6);
    assert!(bench.machine().is_empty() && bench.host.records().is_empty());
}

#[test]
fn a_job_that_was_moved_as_often_as_can_be_counted_is_let_go() {
    let mut bench = Bench::alone();
    let end = term(1, u32::MAX);
    bench.receive(1, give(HOME, end, 0));
    bench.receive(HOME, verdict(end, granted(600)));
    assert_eq!(bench.give_away(2), [Persist(HELD), Forget(HELD)]);
}

#[test]
fn a_record_under_the_name_of_another_is_not_restored() {
    let mut bench = Bench::alone();
    bench.keep();
    let record = bench.host.records().get(&TASK).cloned().unwrap();
    let mut bench = Bench::alone();
    let wrong = [Key::Task(JobId::new(8)), HELD];
    for key in wrong {
        bench.feed(Event::Restored(key, record.clone()));
    }
    assert!(bench.machine().is_empty());
}

#[test]
fn a_message_takes_little_room_in_memory() {
    assert!(size_of::<Message>() <= 72, "{} bytes", size_of::<Message>());
}

#[cfg(feature = "serde")]
#[test]
fn messages_and_records_survive_their_encoding() {
    for message in messages() {
        let bytes = postcard::to_allocvec(&message).unwrap();
        assert!(bytes.len() < 96, "{}", bytes.len());
        assert_eq!(postcard::from_bytes(&bytes), Ok(message));
    }
    for bench in situations() {
        for (key, record) in bench.host.records().iter() {
            let bytes = postcard::to_allocvec(&(key, record)).unwrap();
            assert_eq!(postcard::from_bytes(&bytes), Ok((*key, record.clone())));
        }
    }
}
