//! What a participant tells and asks until it gets an answer.

use super::*;

#[test]
fn an_end_without_an_answer_is_told_until_the_retention_is_over() {
    let mut hall = running_hall();
    hall.at(200).feed(ending(Outcome::Broke));
    let told = sends(hall.ring_until(799));
    assert_eq!(told.len(), 16);
    let broke = ended(attempt(1), Outcome::Broke);
    assert!(told.iter().all(|sent| *sent == (BOSS, broke.clone())));
    assert_eq!(hall.ring(), [Persist(JOB), Wake(second(1400))]);
    assert_eq!(hall.ring(), [Forget(JOB)]);
}

#[test]
fn without_an_answer_a_node_asks_less_and_less_often() {
    let mut hall = committed_hall();
    let mut asked = Vec::new();
    while hall.now < second(129) {
        let sent = sends(hall.ring());
        asked.extend(sent.iter().map(|_| hall.now.as_secs()));
    }
    assert_eq!(asked, [100, 102, 104, 108, 116, 130], "at 130 it lets go");
    // The wait is at most 64 times the first one.
    let mut hall = running_hall();
    hall.at(200).feed(ending(Outcome::Done));
    let mut told = Vec::new();
    while hall.now < second(799) {
        let sent = sends(hall.ring());
        told.extend(sent.iter().map(|_| hall.now.as_secs()));
    }
    // From the end of the reservation on as often as at first: the coordinator is about to take the job for lost.
    let (before, after) = told.split_at(9);
    assert_eq!(before, [202, 204, 208, 216, 232, 264, 328, 456, 584]);
    assert_eq!(after, [700, 702, 704, 708, 716, 732, 764]);
}

#[test]
fn nodes_do_not_ask_in_step() {
    let jitter = Span::from_secs(2);
    let participant = Participant::<Everyone>::new(Config { jitter, ..CONFIG }, Everyone);
    let (mut host, mut rng) = (Host::new(), Xoshiro256PlusPlus::seed_from_u64(0));
    host.start(participant, Time::ZERO, &mut rng);
    for message in [prepare(attempt(1), slot(100)), commit(attempt(1))] {
        let from = BOSS;
        host.handle(Event::Message { from, message }, Time::ZERO, &mut rng);
    }
    while host.execute().is_some() {}
    host.fire(host.next_at().unwrap(), &mut rng);
    while host.execute().is_some() {}
    let next = host.next_at().unwrap();
    assert!(second(102) < next && next < second(104), "{next:?}");
}

#[test]
fn a_coordinator_that_asks_about_a_job_hears_that_it_has_ended() {
    let mut hall = running_hall();
    hall.feed(ending(Outcome::Done));
    let done = [Send(BOSS, ended(attempt(1), Outcome::Done))];
    assert_eq!(hall.hear(BOSS, permit(attempt(1), 500)), done);
    // A later life of the coordinator does not know how far the job is.
    assert_eq!(hall.hear(BOSS, commit(attempt(1))), done);
    hall.answers(RIVAL, commit(attempt(1)), expired(attempt(1)));
}

#[test]
fn a_node_that_lets_go_of_a_job_says_whether_it_had_begun() {
    let mut hall = committed_hall();
    hall.sends_back(BOSS, release(attempt(1)), released(attempt(1)));
    let mut hall = running_hall();
    hall.sends_back(BOSS, release(attempt(1)), stopped(attempt(1)));
    // Also when it is asked again.
    hall.sends_back(BOSS, release(attempt(1)), stopped(attempt(1)));
}
