use gridweave_core::job::{News, Notice};
use gridweave_sim::engine::Happening;
use gridweave_sim::hosting::{Asks, Happened, Rooms, Terms, Wish};

use super::*;
use crate::schedulers::Scheduler;
use crate::schedulers::asap::Node as AsapNode;
use crate::torture::Request;

/// Does something to a grid after a sound run, and returns the invariant that is then broken.
fn broken_by(act: impl FnOnce(&mut Host<'_>)) -> Option<Invariant> {
    let request = Request {
        scheduler: Some(Scheduler::Asap),
        nodes: Some(4),
        jobs: Some(1),
        without: Fault::ALL.into(),
        ..Request::new(1)
    };
    let scenario = Scenario::new(&request);
    let witness = Witness::new(Traced::Nothing);
    let mut simulation = simulation::<AsapNode>(&scenario, &witness);
    let (watch, facts) = watch::<AsapNode>(&scenario);
    let mut host = Host::new(&scenario, facts, &mut simulation, watch, witness);
    host.run();
    assert_eq!((host.host.watch.breach(), host.unfinished()), (None, None));
    act(&mut host);
    let left = host.unfinished().map(|(invariant, _)| invariant);
    let breach = host.host.watch.breach();
    breach.map(|breach| breach.invariant).or(left)
}

const NODE: NodeId = NodeId::new(1);

#[test]
fn a_job_that_still_runs_at_the_end_is_caught() {
    let broken = broken_by(|host| {
        // As if the job had started again after its outcome.
        let kept = Default::default();
        let terms = Terms {
            grace: None,
            lingers: Span::ZERO,
            calm: Time::MAX,
            kept,
        };
        let mut watch = Watch::new(terms, Rooms::Whole);
        for job in 0..host.jobs.len() {
            watch.add(Wish {
                nodes: 1,
                takes: None,
                reruns: 0,
                asks: Asks::default(),
            });
            watch.submitted(job, NODE);
            watch.said(host.host.now, NODE, job, News::Finished);
        }
        watch.started(host.host.now, NODE, 0, Epoch::new(9));
        host.host.watch = watch;
    });
    assert_eq!(broken, Some(Invariant::Settled));
}

#[test]
fn a_notice_about_a_job_that_was_never_submitted_is_caught() {
    let made_up = Notice {
        job: JobId::new(7),
        news: News::Finished,
    };
    let broken = broken_by(|host| host.hear(host.host.now, NODE, made_up));
    assert_eq!(broken, Some(Invariant::Known));
}

#[test]
fn a_start_without_a_reservation_is_caught_unless_it_is_stopped_at_once() {
    let (node, job, attempt) = (NODE, JobId::new(0), Epoch::new(1));
    let stopped = Notice {
        job,
        news: News::Stopped { attempt },
    };
    let taken_back = Happening::Notice {
        at: Time::ZERO,
        node,
        notice: stopped,
    };
    let expect = |rest: &[Happened]| {
        broken_by(|host| host.expect_a_place(host.host.now, node, job, attempt, rest))
    };
    assert_eq!(expect(&[taken_back]), None);
    assert_eq!(expect(&[]), Some(Invariant::Room));
}
