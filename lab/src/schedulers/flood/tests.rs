use std::num::NonZeroU32;

use crate::schedulers::told::{assigned, placed};
use gridweave_core::id::Incarnation;
use gridweave_core::job::{Demand, Failure, News, Outcome, Placement, Refusal, Scope};
use gridweave_core::machine::{Effect, EffectQueue};
use gridweave_core::shared::Shared;
use gridweave_core::time::Span;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::*;

const ME: NodeId = NodeId::new(0);
const PEERS: [NodeId; 2] = [NodeId::new(1), NodeId::new(2)];
const FAR: NodeId = NodeId::new(9);

/// A node that knows two others, and what it does.
struct Desk {
    node: Flood,
    effects: EffectQueue<Flood>,
    rng: Xoshiro256PlusPlus,
}

impl Desk {
    fn new(config: FloodConfig) -> Self {
        let mut desk = Self {
            node: Flood::new(ME, config, PEERS).unwrap(),
            effects: EffectQueue::new(),
            rng: Xoshiro256PlusPlus::seed_from_u64(1),
        };
        desk.feed(0, Event::Start);
        desk
    }

    /// The effects of an event at second `at`, without those that set or cancel timers.
    fn feed(&mut self, at: u64, event: Event<Flood>) -> Vec<Effect<Flood>> {
        let now = Time::from_secs(at);
        self.effects.feed(&mut self.node, event, now, &mut self.rng);
        assert_eq!(self.node.check(), Ok(()));
        let effects = self.effects.drain();
        effects
            .filter(|effect| !matches!(effect, Effect::Wake { .. } | Effect::Cancel(_)))
            .map(without_nodes)
            .collect()
    }

    fn hear(&mut self, at: u64, from: NodeId, message: Message) -> Vec<Effect<Flood>> {
        self.feed(at, Event::Message { from, message })
    }

    fn submit(&mut self, at: u64, job: Job) -> Vec<Effect<Flood>> {
        self.feed(at, Event::Command(Command::submit(job)))
    }

    fn act(&mut self, at: u64) -> Vec<Effect<Flood>> {
        self.feed(at, Event::Timer(Timer::Task(JOB)))
    }

    fn lapse(&mut self, at: u64) -> Vec<Effect<Flood>> {
        self.feed(at, Event::Timer(Timer::Work))
    }
}

const JOB: JobId = JobId::new(7);

fn job(nodes: u32) -> Job {
    let demand = Demand::Nodes(NonZeroU32::new(nodes).unwrap());
    Job::new(JOB, demand, Span::from_secs(100)).unwrap()
}

/// Which nodes run a job is seen in the messages to them.
fn without_nodes(effect: Effect<Flood>) -> Effect<Flood> {
    let brief = |told: &Shared<Placement>| {
        let told = told.get();
        Shared::new(placed(told.attempt, told.start, Vec::new()))
    };
    match effect {
        Effect::Notify(Notice { job, news }) => {
            let news = match news {
                News::Accepted(told) => News::Accepted(brief(&told)),
                News::Moved(told) => News::Moved(brief(&told)),
                News::Started { attempt, until, .. } => News::Started {
                    attempt,
                    until,
                    assignment: assigned(attempt, Time::ZERO),
                },
                other => other,
            };
            Effect::Notify(Notice { job, news })
        }
        other => other,
    }
}

fn accepted(id: SearchId, start: Time) -> News {
    News::Accepted(Shared::new(placed(id.attempt(), start, Vec::new())))
}

fn started(id: SearchId, until: u64) -> Effect<Flood> {
    let (attempt, until) = (id.attempt(), Time::from_secs(until));
    say(News::Started {
        attempt,
        until,
        assignment: assigned(attempt, Time::ZERO),
    })
}

fn extended(id: SearchId, until: u64) -> Effect<Flood> {
    let (attempt, until) = (id.attempt(), Time::from_secs(until));
    say(News::Extended { attempt, until })
}

fn stopped(id: SearchId) -> Effect<Flood> {
    let attempt = id.attempt();
    say(News::Stopped { attempt })
}

fn search(origin: NodeId, number: u32) -> SearchId {
    SearchId {
        origin,
        job: JOB,
        life: Incarnation::new(0),
        number,
    }
}

fn send(to: NodeId, message: Message) -> Effect<Flood> {
    Effect::Send { to, message }
}

fn say(news: News) -> Effect<Flood> {
    Effect::Notify(Notice { job: JOB, news })
}

fn written(job: Job, told: Told, stage: Stage) -> Effect<Flood> {
    let record = Record::Task {
        job: Box::new(job),
        since: Time::ZERO,
        told,
        stage,
    };
    Effect::Persist(Key::Task(JOB), record)
}

fn order(search: SearchId, nodes: u32, until: u64) -> Message {
    let until = Time::from_secs(until);
    let job = Box::new(job(nodes));
    Message::Start { search, job, until }
}

/// Seconds until a permission that is given at zero ends.
const PERMISSION: u64 = 3 * 3600;

fn config() -> FloodConfig {
    FloodConfig::default()
}

#[test]
fn a_job_of_one_node_starts_at_once_where_it_is_submitted_if_that_node_is_free() {
    let mut desk = Desk::new(config());
    let id = search(ME, 1);
    let trying = Stage::Trying {
        search: id,
        members: vec![ME],
    };
    assert_eq!(
        desk.submit(0, job(1)),
        [
            written(job(1), Told::Nothing, Stage::Looking),
            written(job(1), Told::Accepted, trying),
            say(accepted(id, Time::ZERO)),
            started(id, PERMISSION),
        ]
    );
    assert_eq!(desk.node.runs(), Some(JOB));
    let ended = Command::Ended {
        job: JOB,
        attempt: id.attempt(),
        outcome: Outcome::Done,
    };
    let then = Then::Say(News::Finished);
    assert_eq!(
        desk.feed(100, Event::Command(ended)),
        [
            written(job(1), Told::Accepted, Stage::Clearing { search: id, then }),
            say(News::Finished),
            Effect::Forget(Key::Task(JOB)),
        ]
    );
    assert_eq!(desk.node.runs(), None);
}

#[test]
fn a_gang_starts_when_the_last_of_its_nodes_has_offered_itself() {
    let mut desk = Desk::new(config());
    let id = search(ME, 1);
    let ask = Message::Search { search: id, ttl: 1 };
    assert_eq!(
        desk.submit(0, job(2)),
        [
            written(job(2), Told::Nothing, Stage::Looking),
            send(PEERS[0], ask.clone()),
            send(PEERS[1], ask),
        ]
    );
    assert_eq!(desk.hear(1, PEERS[0], Message::Busy(id)), []);
    let trying = Stage::Trying {
        search: id,
        members: vec![ME, PEERS[1]],
    };
    let start = Time::from_secs(1);
    assert_eq!(
        desk.hear(1, PEERS[1], Message::Offer(id)),
        [
            written(job(2), Told::Accepted, trying),
            say(accepted(id, start)),
            send(PEERS[1], order(id, 2, 1 + PERMISSION)),
            started(id, 1 + PERMISSION),
        ]
    );
    // A second offer of the same node changes nothing. An offer that comes too late is released.
    assert_eq!(desk.hear(2, PEERS[1], Message::Offer(id)), []);
    assert_eq!(
        desk.hear(2, FAR, Message::Offer(id)),
        [send(FAR, Message::Release(id))]
    );
}

#[test]
fn a_node_answers_a_search_once_and_passes_it_on_while_it_has_steps_left() {
    let mut desk = Desk::new(config());
    let id = search(FAR, 1);
    let ask = |ttl| Message::Search { search: id, ttl };
    assert_eq!(
        desk.hear(0, PEERS[0], ask(2)),
        [send(FAR, Message::Offer(id)), send(PEERS[1], ask(1))]
    );
    assert_eq!(desk.hear(0, PEERS[1], ask(2)), []);
    // A copy that came a shorter way goes further.
    assert_eq!(desk.hear(0, PEERS[1], ask(3)), [send(PEERS[0], ask(2))]);
    let next = search(FAR, 2);
    let last = Message::Search {
        search: next,
        ttl: 1,
    };
    assert_eq!(
        desk.hear(0, PEERS[1], last),
        [send(FAR, Message::Offer(next))],
        "a later search for the same job takes the claim over"
    );
}

#[test]
fn a_search_never_goes_further_than_the_largest_radius() {
    let mut desk = Desk::new(config());
    let id = search(FAR, 1);
    let forged = Message::Search {
        search: id,
        ttl: 255,
    };
    let ttl = config().max_radius - 1;
    assert_eq!(
        desk.hear(0, PEERS[0], forged),
        [
            send(FAR, Message::Offer(id)),
            send(PEERS[1], Message::Search { search: id, ttl })
        ]
    );
}

#[test]
fn a_claim_keeps_others_out_until_its_lease_ends() {
    let mut desk = Desk::new(config());
    let first = search(FAR, 1);
    let other = search(PEERS[0], 1);
    let ask = |search| Message::Search { search, ttl: 1 };
    desk.hear(0, FAR, ask(first));
    assert_eq!(
        desk.hear(1, PEERS[0], ask(other)),
        [send(PEERS[0], Message::Busy(other))]
    );
    desk.lapse(9);
    let again = search(PEERS[0], 2);
    assert_eq!(
        desk.hear(9, PEERS[0], ask(again)),
        [send(PEERS[0], Message::Busy(again))]
    );
    desk.lapse(10);
    assert_eq!(
        desk.hear(10, FAR, order(first, 1, 500)),
        [send(FAR, Message::Gone(first))],
        "what comes after the lease starts nothing"
    );
    let third = search(PEERS[0], 3);
    assert_eq!(
        desk.hear(10, PEERS[0], ask(third)),
        [send(PEERS[0], Message::Offer(third))]
    );
}

#[test]
fn only_the_origin_of_a_claim_can_start_release_or_stop() {
    let mut desk = Desk::new(config());
    let id = search(FAR, 1);
    desk.hear(0, PEERS[0], Message::Search { search: id, ttl: 1 });
    for order in [order(id, 1, 500), Message::Release(id), Message::Stop(id)] {
        assert_eq!(desk.hear(1, PEERS[0], order), []);
    }
    let forged = search(PEERS[0], 1);
    assert_eq!(
        desk.hear(1, PEERS[0], order(forged, 1, 500)),
        [send(PEERS[0], Message::Gone(forged))]
    );
    assert_eq!(
        desk.hear(1, FAR, order(id, 1, 500)),
        [started(id, 500), send(FAR, Message::Running(id))]
    );
    assert_eq!(desk.hear(2, FAR, Message::Release(id)), []);
    assert_eq!(
        desk.hear(2, FAR, Message::Stop(id)),
        [stopped(id), send(FAR, Message::Gone(id))]
    );
}

#[test]
fn a_job_runs_no_longer_than_its_permission() {
    let mut desk = Desk::new(config());
    let id = search(FAR, 1);
    desk.hear(0, FAR, Message::Search { search: id, ttl: 1 });
    desk.hear(0, FAR, order(id, 1, 60));
    let until = Time::from_secs(90);
    let renew = Message::Renew { search: id, until };
    assert_eq!(
        desk.hear(50, FAR, renew.clone()),
        [extended(id, 90), send(FAR, Message::Running(id))]
    );
    assert_eq!(desk.lapse(60), []);
    assert_eq!(desk.lapse(90), [stopped(id)]);
    assert_eq!(desk.hear(90, FAR, renew), [send(FAR, Message::Gone(id))]);
}

#[test]
fn an_end_that_was_not_heard_is_told_again_when_asked() {
    let mut desk = Desk::new(config());
    let id = search(FAR, 1);
    desk.hear(0, FAR, Message::Search { search: id, ttl: 1 });
    desk.hear(0, FAR, order(id, 1, 60));
    let outcome = Outcome::Done;
    let ended = send(
        FAR,
        Message::Ended {
            search: id,
            outcome,
        },
    );
    let told = Command::Ended {
        job: JOB,
        attempt: id.attempt(),
        outcome,
    };
    assert_eq!(
        desk.feed(50, Event::Command(told.clone())),
        std::slice::from_ref(&ended)
    );
    assert_eq!(desk.feed(51, Event::Command(told)), []);
    assert_eq!(desk.hear(60, FAR, order(id, 1, 99)), [ended]);
}

#[test]
fn a_search_that_finds_too_few_lets_go_and_goes_further() {
    let mut desk = Desk::new(config());
    desk.submit(0, job(3));
    let (first, second) = (search(ME, 1), search(ME, 2));
    desk.hear(1, PEERS[0], Message::Offer(first));
    desk.hear(1, PEERS[1], Message::Busy(first));
    let wider = Message::Search {
        search: second,
        ttl: 2,
    };
    assert_eq!(
        desk.act(2),
        [
            send(PEERS[0], Message::Release(first)),
            send(PEERS[0], wider.clone()),
            send(PEERS[1], wider)
        ]
    );
    assert_eq!(
        desk.hear(3, PEERS[1], Message::Offer(first)),
        [send(PEERS[1], Message::Release(first))],
        "an answer to a search that is over"
    );
}

#[test]
fn a_job_that_finds_too_few_nodes_in_so_many_searches_is_too_large() {
    let narrow = FloodConfig {
        max_radius: 1,
        ..config()
    };
    let mut desk = Desk::new(narrow);
    desk.submit(0, job(4));
    let mut now = 0;
    for round in 1..=3 {
        let id = search(ME, round);
        desk.hear(now, PEERS[0], Message::Busy(id));
        desk.hear(now, PEERS[1], Message::Busy(id));
        now += 2;
        let news = desk.act(now);
        let refused = say(News::Failed(Failure::Refused(Refusal::TooLarge)));
        assert_eq!(
            news.contains(&refused),
            round == 3,
            "round {round}: {news:?}"
        );
        now += 3600;
        desk.act(now);
    }
    assert!(desk.node.tasks.is_empty());
}

#[test]
fn a_job_whose_nodes_exist_and_are_busy_is_tried_until_patience_ends() {
    let patient = FloodConfig {
        breadth: 1,
        patience: Span::from_secs(100_000),
        ..config()
    };
    let mut desk = Desk::new(patient);
    desk.submit(0, job(3));
    let (mut now, mut round) = (0, 1);
    let full = say(News::Failed(Failure::Refused(Refusal::Full)));
    loop {
        let id = search(ME, round);
        desk.hear(now, PEERS[0], Message::Busy(id));
        desk.hear(now, PEERS[1], Message::Busy(id));
        now += 2;
        if desk.act(now).contains(&full) {
            break;
        }
        let due = desk.node.tasks.get(&JOB).unwrap().due;
        let waits = (due - Time::from_secs(now)).as_secs();
        let longest = 1800.min(60 << (round - 1).min(10));
        assert!((longest / 2..=longest).contains(&waits), "{waits}");
        now = due.as_secs() + 1;
        desk.act(now);
        round += 1;
    }
    assert!(now >= 100_000 && round > 60, "{now} after {round}");
}

/// A gang of two on this node and the first peer, which both run it.
fn running_gang() -> (Desk, SearchId) {
    let mut desk = Desk::new(config());
    let id = search(ME, 1);
    desk.submit(0, job(2));
    desk.hear(0, PEERS[0], Message::Offer(id));
    desk.hear(0, PEERS[0], Message::Running(id));
    assert_eq!(desk.node.runs(), Some(JOB));
    (desk, id)
}

#[test]
fn a_node_that_is_lost_ends_the_attempt_and_the_next_waits_for_the_permission_to_end() {
    let (mut desk, id) = running_gang();
    let then = Then::Again;
    assert_eq!(
        desk.hear(50, PEERS[0], Message::Gone(id)),
        [
            written(job(2), Told::Accepted, Stage::Clearing { search: id, then }),
            stopped(id)
        ]
    );
    assert_eq!(desk.act(PERMISSION), []);
    let again = Message::Search {
        search: search(ME, 2),
        ttl: 1,
    };
    assert_eq!(
        desk.act(PERMISSION + 1),
        [
            written(job(2), Told::Accepted, Stage::Looking),
            send(PEERS[0], again.clone()),
            send(PEERS[1], again)
        ]
    );
}

#[test]
fn permissions_are_renewed_and_a_node_silent_for_a_whole_one_is_lost() {
    let (mut desk, search) = running_gang();
    let third = PERMISSION / 3;
    for part in 1..3 {
        let seconds = part * third + PERMISSION;
        let until = Time::from_secs(seconds);
        assert_eq!(
            desk.act(part * third),
            [
                send(PEERS[0], Message::Renew { search, until }),
                extended(search, seconds)
            ]
        );
    }
    let effects = desk.act(PERMISSION);
    assert!(effects.contains(&send(PEERS[0], Message::Stop(search))));
    assert!(effects.contains(&stopped(search)));
    // The order to stop is repeated until the node confirms it or its permission ends.
    assert_eq!(
        desk.act(PERMISSION + 60),
        [send(PEERS[0], Message::Stop(search))]
    );
    desk.hear(PERMISSION + 61, PEERS[0], Message::Gone(search));
    assert_eq!(desk.act(PERMISSION + 120), []);
}

#[test]
fn a_part_that_does_not_begin_in_time_ends_the_attempt() {
    let mut desk = Desk::new(config());
    let id = search(ME, 1);
    desk.submit(0, job(2));
    desk.hear(0, PEERS[0], Message::Offer(id));
    let again = [send(PEERS[0], order(id, 2, PERMISSION))];
    assert_eq!(desk.act(2), again);
    assert_eq!(desk.act(4), again);
    let effects = desk.act(10);
    assert!(effects.contains(&stopped(id)), "{effects:?}");
    assert!(effects.contains(&send(PEERS[0], Message::Stop(id))));
}

#[test]
fn a_node_that_restarts_goes_on_with_what_it_started() {
    let id = search(ME, 1);
    let stage = Stage::Trying {
        search: id,
        members: vec![PEERS[0], PEERS[1]],
    };
    let Effect::Persist(key, record) = written(job(2), Told::Accepted, stage) else {
        unreachable!()
    };
    let mut desk = Desk {
        node: Flood::new(ME, config(), PEERS).unwrap(),
        effects: EffectQueue::new(),
        rng: Xoshiro256PlusPlus::seed_from_u64(1),
    };
    assert_eq!(desk.feed(50, Event::Restored(key, record)), []);
    let mut effects = desk.feed(50, Event::Start);
    effects.retain(|effect| !matches!(effect, Effect::Persist(Key::Overlay(_), _)));
    assert_eq!(
        effects,
        [
            send(PEERS[0], order(id, 2, 50 + PERMISSION)),
            send(PEERS[1], order(id, 2, 50 + PERMISSION))
        ]
    );
    let outcome = Outcome::Done;
    desk.hear(
        51,
        PEERS[0],
        Message::Ended {
            search: id,
            outcome,
        },
    );
    let effects = desk.hear(
        51,
        PEERS[1],
        Message::Ended {
            search: id,
            outcome,
        },
    );
    assert!(effects.contains(&say(News::Finished)), "{effects:?}");
}

#[test]
fn a_cancelled_job_is_stopped_everywhere_before_that_is_told() {
    let (mut desk, id) = running_gang();
    let effects = desk.feed(50, Event::Command(Command::Cancel(JOB)));
    assert!(effects.contains(&send(PEERS[0], Message::Stop(id))));
    assert!(!effects.contains(&say(News::Cancelled)));
    assert!(desk.act(PERMISSION + 1).contains(&say(News::Cancelled)));
    let mut desk = Desk::new(config());
    desk.submit(0, job(3));
    let effects = desk.feed(1, Event::Command(Command::Cancel(JOB)));
    assert!(effects.contains(&say(News::Cancelled)));
}

#[test]
fn a_last_word_that_may_have_been_said_before_a_crash_is_not_changed_by_a_cancellation() {
    let then = Then::Say(News::Finished);
    let stage = Stage::Clearing {
        search: search(ME, 1),
        then,
    };
    let Effect::Persist(key, record) = written(job(2), Told::Accepted, stage) else {
        unreachable!()
    };
    let mut desk = Desk {
        node: Flood::new(ME, config(), PEERS).unwrap(),
        effects: EffectQueue::new(),
        rng: Xoshiro256PlusPlus::seed_from_u64(1),
    };
    desk.feed(50, Event::Restored(key, record));
    desk.feed(50, Event::Start);
    assert_eq!(desk.feed(51, Event::Command(Command::Cancel(JOB))), []);
    let effects = desk.act(50 + PERMISSION + 1);
    assert!(effects.contains(&say(News::Finished)), "{effects:?}");
}

#[test]
fn a_job_that_breaks_on_one_node_is_stopped_on_the_others_and_failed() {
    let (mut desk, search) = running_gang();
    let outcome = Outcome::Broke;
    let effects = desk.hear(50, PEERS[0], Message::Ended { search, outcome });
    assert!(effects.contains(&stopped(search)), "{effects:?}");
    let broke = say(News::Failed(Failure::Broke));
    assert!(desk.act(PERMISSION + 1).contains(&broke));
}

#[test]
fn what_cannot_be_placed_is_refused_by_name() {
    let refused = |job: Job| {
        let mut desk = Desk::new(config());
        match desk.submit(0, job).as_slice() {
            [
                Effect::Notify(Notice {
                    news: News::Failed(Failure::Refused(why)),
                    ..
                }),
            ] => *why,
            other => panic!("{other:?}"),
        }
    };
    let mut cores = job(1);
    cores.demand = Demand::Cores(NonZeroU32::MIN);
    assert_eq!(refused(cores), Refusal::UnsupportedDemand);
    let mut urgent = job(1);
    urgent.deadline = Some(Time::MAX);
    assert_eq!(refused(urgent), Refusal::UnsupportedDeadline);
    let mut confined = job(1);
    confined.scope = Scope::Organisation;
    assert_eq!(refused(confined), Refusal::UnsupportedScope);
    assert_eq!(refused(job(Flood::MOST_MEMBERS + 1)), Refusal::TooLarge);
    let mut desk = Desk::new(config());
    desk.submit(0, job(3));
    let known = News::Failed(Failure::Refused(Refusal::Known));
    assert_eq!(desk.submit(0, job(3)), [say(known)]);
}

#[test]
fn a_node_that_leaves_takes_no_jobs() {
    let mut desk = Desk::new(config());
    desk.feed(0, Event::Command(Command::Leave));
    let leaving = News::Failed(Failure::Refused(Refusal::Leaving));
    assert_eq!(desk.submit(0, job(1)), [say(leaving)]);
    let search = search(FAR, 1);
    assert_eq!(
        desk.hear(0, FAR, Message::Search { search, ttl: 1 }),
        [send(FAR, Message::Busy(search))]
    );
}

#[test]
fn searches_without_end_are_remembered_up_to_a_limit() {
    let mut desk = Desk::new(config());
    for number in 0..3 * Seen::MOST as u32 {
        let search = search(FAR, number);
        desk.hear(0, FAR, Message::Search { search, ttl: 1 });
    }
    assert_eq!(desk.node.seen.len(), Seen::MOST);
}

#[test]
fn configurations_that_cannot_work_are_refused_by_the_key() {
    let wrong = |change: fn(&mut FloodConfig)| {
        let mut config = config();
        change(&mut config);
        config.sound().unwrap_err()
    };
    assert!(wrong(|c| c.radius = 0).contains("flood.radius"));
    assert!(wrong(|c| c.radius = 7).contains("flood.max_radius"));
    assert!(wrong(|c| c.lease = Span::from_secs(3)).contains("flood.lease"));
    assert!(wrong(|c| c.max_retry = Span::from_secs(1)).contains("flood.max_retry"));
    assert!(wrong(|c| c.permission = Span::from_secs(29)).contains("flood.permission"));
    assert!(wrong(|c| c.degree = 41).contains("flood.degree"));
    assert!(wrong(|c| c.shuffle = 9).contains("flood.shuffle"));
    assert!(wrong(|c| c.searches = 0).contains("flood.searches"));
}
