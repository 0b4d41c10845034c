//! What is left after a crash between two effects.

use super::*;
use crate::job::Survival;

#[test]
fn after_a_restart_a_job_without_a_holder_is_searched_for_again() {
    let mut bench = Bench::submitting();
    bench.submit();
    // The flood has a new name; peers would ignore the old one.
    let did = bench.at(2).restart();
    assert_eq!(did, [Send(1, request(2001)), Send(2, request(2001))]);
}

#[test]
fn after_a_restart_a_home_waits_a_whole_lease_for_the_holder() {
    let mut bench = Bench::submitting();
    bench.given();
    assert_eq!(bench.at(100).restart(), []);
    assert_eq!(bench.ring_until(701), []);
    let mut other = Bench::submitting();
    other.given();
    other.at(100).restart();
    let did = other.hear(1, notify(1, 0, Standing::Running));
    assert_eq!(did, [Send(1, verdict(1, 0, granted(700)))]);
    assert_eq!(bench.ring_until(702).len(), 3);
}

#[test]
fn after_a_restart_a_withdrawn_job_is_still_withdrawn() {
    let mut bench = Bench::submitting();
    bench.given();
    bench.cancel();
    let withdraw = Send(1, verdict(1, 0, Ruling::Withdraw));
    assert_eq!(bench.restart(), [withdraw]);
}

#[test]
fn no_other_outcome_is_told_after_a_crash() {
    let cancel = Event::Command(Command::Cancel(JOB));
    let mut bench = Bench::submitting();
    bench.submit();
    let said = bench.feed_some(cancel, 2);
    assert_eq!(said, [Persist(TASK), Tell(News::Cancelled)]);
    assert_eq!(bench.restart(), last(News::Cancelled));

    let mut bench = Bench::submitting();
    bench.given();
    let done = Event::Message {
        from: id(1),
        message: notify(1, 0, ended(Ending::Done)),
    };
    let said = bench.feed_some(done, 2);
    assert_eq!(said, [Persist(TASK), Tell(News::Finished)]);
    assert_eq!(bench.restart(), last(News::Finished));
}

#[test]
fn after_a_restart_a_site_claims_waiting_jobs_again_and_has_lost_running_ones() {
    let mut bench = Bench::busy();
    bench.granted(600);
    let claim = Send(OWNER, notify(1, 0, UNKNOWN));
    assert_eq!(bench.at(10).restart(), [claim]);
    assert_eq!(bench.machine().lease(JOB), None);

    let mut bench = Bench::idle();
    bench.granted(600);
    let lost = Send(OWNER, notify(1, 0, ended(Ending::Lost)));
    assert_eq!(bench.at(10).restart(), [stopped(), lost]);

    let mut bench = Bench::idle();
    bench.granted(600);
    bench.end(Outcome::Broke);
    let broke = Send(OWNER, notify(1, 0, ended(BROKE)));
    assert_eq!(bench.at(10).restart(), [broke]);
}

#[test]
fn after_a_restart_a_job_that_was_given_away_is_given_again_and_not_run() {
    let mut bench = Bench::busy();
    bench.granted(600);
    bench.ring_until(1);
    bench.hear(1, accept(flood(1, 1), 100));
    bench.ring_until(6);
    let again = Send(1, assign(job(), OWNER, 1, 1));
    assert_eq!(bench.restart(), [again]);
    assert_eq!(bench.hear(OWNER, verdict(1, 0, granted(600))), []);
    assert_eq!(bench.machine().site().local.waiting(), []);
}

#[test]
fn duplicate_links_are_a_violation() {
    let mut bench = Bench::idle();
    assert_eq!(bench.machine().check(), Ok(()));
    bench.machine_mut().links = Links::Fixed([1, 1].map(id).to_vec());
    assert!(bench.machine().check().is_err());
}

#[test]
fn no_more_floods_are_remembered_than_the_limit() {
    let mut bench = Bench::busy();
    for round in 1..=u32::from(CONFIG.floods) + 4 {
        let id = FloodId {
            origin: id(1),
            ..flood(0, round)
        };
        let header = sent(CONFIG.request, id);
        let job = Shared::new(job());
        bench.hear(1, Message::Request { header, job });
        assert_eq!(bench.machine().check(), Ok(()));
    }
    assert_eq!(bench.machine().seen.len(), usize::from(CONFIG.floods));
}

fn survived(survival: Survival) -> Command {
    Command::Survived {
        job: JOB,
        attempt: ATTEMPT,
        survival,
    }
}

#[test]
fn a_job_that_outlives_its_agent_runs_on_and_one_that_ended_is_done() {
    let mut bench = Bench::idle();
    bench.granted(600);
    let until = second(600);
    let running = Send(OWNER, notify(1, 0, Standing::Running));
    let did = bench
        .at(10)
        .restart_with([survived(Survival::Runs { until })]);
    assert_eq!(did, [running]);
    let local = &bench.machine().site().local;
    assert_eq!(local.running()[0].started, Time::ZERO);
    let done = Send(OWNER, notify(1, 0, ended(Ending::Done)));
    assert_eq!(bench.end(Outcome::Done), [Persist(HELD), done.clone()]);

    let mut bench = Bench::idle();
    bench.granted(600);
    let over = survived(Survival::Ended(Outcome::Done));
    let did = bench.at(700).restart_with([over]);
    assert_eq!(did[..2], [Persist(HELD), done]);
    assert_eq!(bench.machine().site().local.running(), []);

    // An attempt that this site does not know must not run.
    let mut bench = Bench::idle();
    let did = bench.restart_with([survived(Survival::Runs { until })]);
    assert_eq!(did, [stopped()]);
}

#[test]
fn a_site_that_drains_takes_no_job_offers_those_that_wait_and_says_when_it_is_empty() {
    let mut bench = Bench::busy();
    bench.granted(600);
    bench.obey(Command::Drain);
    assert!(!bench.machine().is_drained());
    let refused = News::Failed(Failure::Refused(Refusal::Draining));
    assert_eq!(
        bench.obey(Command::submit(named(8))),
        [Tell(refused.clone())]
    );
    bench.restart();
    assert_eq!(bench.obey(Command::submit(named(8))), [Tell(refused)]);
    bench.hear(OWNER, verdict(1, 0, Ruling::Over));
    assert!(bench.machine().is_drained());
    bench.obey(Command::Resume);
    assert!(!bench.machine().is_drained());
    let taken = bench.obey(Command::submit(named(8)));
    assert!(
        taken.contains(&Persist(Key::Custody(custody::Key::Task(JobId::new(8))))),
        "{taken:?}"
    );
}

#[test]
fn a_node_that_finds_itself_among_its_neighbours_does_not_link_to_itself() {
    let joins = || {
        let idle = site(CONFIG, 0, Membership::default());
        Node {
            bootstrap: Bootstrap::Join([1, ME, 2].map(id).into()),
            ..idle
        }
    };
    let bench = Bench::boot(joins);
    assert_eq!(bench.machine().links.neighbours(), [1, 2].map(id));
}
