use super::*;
use crate::scheduler::Scheduler;
use crate::torture::Request;
use crate::torture::subjects::AsapNode;

/// A grid in which all is over and was well.
fn at_rest() -> Host<AsapNode> {
    let request = Request {
        scheduler: Some(Scheduler::Asap),
        nodes: Some(4),
        jobs: Some(1),
        without: Fault::ALL.into(),
        ..Request::new(1)
    };
    let mut host = Host::new(&Scenario::new(&request), false);
    host.run();
    assert_eq!((host.oracle.breach(), host.unfinished()), (None, None));
    host
}

fn broken(host: &Host<AsapNode>) -> Option<Invariant> {
    host.oracle.breach().map(|breach| breach.invariant)
}

const NODE: NodeId = NodeId::new(1);

#[test]
fn what_still_runs_in_the_end_is_caught() {
    let mut host = at_rest();
    host.oracle.began(host.now, NODE, 0, 9);
    let left = host.unfinished().expect("a job runs");
    assert_eq!(left.0, Invariant::Settled);
}

#[test]
fn word_of_a_job_that_nobody_submitted_is_caught() {
    let mut host = at_rest();
    let made_up = Notice {
        job: JobId::new(7),
        news: News::Finished,
    };
    host.hear(host.now, NODE, made_up);
    assert_eq!(broken(&host), Some(Invariant::Known));
}

#[test]
fn a_start_without_a_place_is_caught_unless_it_is_taken_back_at_once() {
    let mut host = at_rest();
    let (at, node, job) = (host.now, NODE, JobId::new(0));
    let stopped = Notice {
        job,
        news: News::Stopped,
    };
    let taken_back = Happening::Notice {
        at,
        node,
        notice: stopped,
    };
    host.expect_a_place(at, node, job, &[taken_back]);
    assert_eq!(broken(&host), None);
    host.expect_a_place(at, node, job, &[]);
    assert_eq!(broken(&host), Some(Invariant::Room));
}
