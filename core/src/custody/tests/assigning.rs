//! What the hosts of a home and of a holder are told of a job that is to run.

use std::vec;

use super::*;
use crate::job::{Assignment, Payload, Placement};
use crate::machine::Driver;

type Plain = Driver<Custody>;

fn payload() -> Payload {
    Payload::new(b"true").unwrap()
}

/// The news that the host is told.
fn news(did: Vec<Effect<Custody>>) -> Vec<News> {
    let told = did.into_iter().filter_map(|effect| match effect {
        Effect::Notify(Notice::Tell(told)) => Some(told.news),
        _ => None,
    });
    told.collect()
}

fn start() -> Plain {
    Plain::started(second(0), || Custody::new(id(ME), CONFIG).unwrap()).0
}

/// Gives the job to this node; its home grants it until 600.
fn given() -> (Plain, Vec<Effect<Custody>>) {
    let mut bench = start();
    let give = Message::Give {
        job: Shared::new(job()),
        home: id(HOME),
        term: term(1, 0),
        carried: 0,
        payload: payload(),
    };
    for effect in bench.hear(id(HOME), give) {
        if let Effect::Notify(Notice::Offered(gift)) = effect {
            let start = Some(second(20));
            let taking = Taking::Takes { start };
            bench.feed(Event::Command(Command::Take { gift, taking }));
        }
    }
    let did = bench.hear(id(HOME), verdict(term(1, 0), granted(600)));
    (bench, did)
}

fn assignment(start: u64) -> Shared<Assignment> {
    Shared::new(Assignment {
        placement: Placement {
            attempt: Epoch::new(1),
            start: second(start),
            end: None,
            nodes: vec![id(ME)],
        },
        submitter: job().submitter,
        payload: payload(),
    })
}

const RELEASED: News = News::Released {
    attempt: Epoch::new(1),
};

#[test]
fn a_holder_tells_its_host_what_to_run_when_the_job_waits_and_when_it_starts() {
    let (mut bench, did) = given();
    assert_eq!(news(did), [News::Assigned(assignment(20))]);
    let did = bench.at(30).feed(Event::Command(Command::Start(JOB)));
    let started = News::Started {
        attempt: Epoch::new(1),
        until: second(600),
        assignment: assignment(30),
    };
    assert_eq!(news(did), [started]);
}

#[test]
fn a_holder_tells_its_host_when_a_job_goes_before_it_has_begun() {
    let (mut bench, _) = given();
    let to = id(2);
    let away = Command::GiveAway {
        job: JOB,
        to,
        carried: 0,
    };
    assert_eq!(news(bench.feed(Event::Command(away))), [RELEASED]);
    // The job comes back, and is granted again.
    let term = term(1, 1);
    bench.feed(Event::Unreachable { to });
    let back = bench.hear(id(HOME), verdict(term, granted(601)));
    assert!(matches!(news(back)[..], [News::Assigned(_)]));
    let withdrawn = bench.hear(id(HOME), verdict(term, Ruling::Withdraw));
    assert_eq!(news(withdrawn), [RELEASED]);
    let (mut bench, _) = given();
    let orphaned = bench.ring_until(700);
    assert_eq!(news(orphaned), [RELEASED, News::Orphaned]);
}

#[test]
fn after_a_restart_a_job_that_does_not_come_back_is_released() {
    let (mut bench, _) = given();
    assert_eq!(news(bench.restart()), []);
    let over = bench.hear(id(HOME), verdict(term(1, 0), Ruling::Over));
    assert_eq!(news(over), [RELEASED]);
}

#[test]
fn a_home_tells_its_host_which_node_runs_the_job_and_under_which_attempt() {
    let mut bench = start();
    let keep = Command::Keep {
        job: Shared::new(job()),
        payload: payload(),
        tenure: Tenure::ONLY,
        until: None,
    };
    bench.feed(Event::Command(keep));
    let found = Command::Found {
        job: JOB,
        attempt: 0,
        candidates: [id(1)].into_iter().collect(),
    };
    let did = bench.feed(Event::Command(found));
    let carries = |effect: &Effect<Custody>| matches!(effect, Effect::Send { message: Message::Give { payload: told, .. }, .. } if *told == payload());
    assert!(did.iter().any(carries), "{did:?}");
    let accepted = bench.hear(id(1), report(term(1, 0), waiting(20)));
    let placement = |node, attempt| Placement {
        attempt: Epoch::new(attempt),
        start: second(20),
        end: None,
        nodes: vec![id(node)],
    };
    let told = placement(1, 1);
    assert_eq!(bench.machine().placement(JOB), Some(told.clone()));
    assert_eq!(news(accepted), [News::Accepted(Shared::new(told))]);
    // The holder has others run the job, and names them.
    for (node, attempt) in [(7, 3), (8, 5)] {
        let at = Some(Place {
            node: id(node),
            attempt: Epoch::new(attempt),
        });
        let start = Some(second(20));
        let standing = Standing::Waiting { start, at };
        let moved = bench.hear(id(1), report(term(1, 0), standing));
        let told = News::Moved(Shared::new(placement(node, attempt)));
        assert_eq!(news(moved), [told]);
        assert_eq!(news(bench.hear(id(1), report(term(1, 0), standing))), []);
    }
}
