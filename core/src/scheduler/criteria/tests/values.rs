//! Configurations, sizes of messages, and what is encoded.

use super::*;
use core::mem::size_of;

#[test]
fn the_default_rules_are_sound() {
    let node = Criteria::<20, 8, 10>::new(
        ME,
        Config::default(),
        Bootstrap::Alone,
        Profile::default(),
        OnlyStandard,
        Everyone,
    );
    assert!(node.is_ok());
}

#[test]
fn an_iteration_looks_for_alpha_times_the_wanted_nodes_rounded_up_within_the_limit() {
    let pool = |alpha, count| Config { alpha, ..CONFIG }.pool(count);
    assert_eq!(pool(200, 2), 4);
    assert_eq!(pool(101, 2), 3);
    assert_eq!(pool(100, 3), 3);
    assert_eq!(pool(u16::MAX, 3), 8);
    assert_eq!(pool(200, u32::MAX), 8);
}

#[test]
fn messages_are_small() {
    let size = size_of::<Message<8, 10>>();
    assert!(size < 320, "{size}");
}

#[cfg(feature = "serde")]
mod wire {
    use super::*;

    fn survives<T>(value: &T)
    where
        T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + core::fmt::Debug,
    {
        let bytes = postcard::to_allocvec(value).unwrap();
        assert_eq!(postcard::from_bytes::<T>(&bytes).as_ref(), Ok(value));
    }

    #[test]
    fn every_message_survives_the_wire() {
        let exchange = vicinity::ExchangeId(u32::MAX);
        let descriptors: vicinity::Descriptors<Profile, 4> =
            [descriptor(1), descriptor(2)].into_iter().collect();
        let request = vicinity::Message::Request {
            exchange,
            descriptors: descriptors.clone(),
        };
        let reply = vicinity::Message::Reply {
            exchange,
            descriptors,
        };
        let helper = |message| Message::Helper {
            number: u8::MAX,
            message: Shared::new(message),
        };
        for message in [
            shuffle(4, &[descriptor(4), descriptor(9)]),
            helper(request),
            helper(reply),
            prepare(attempt(1, 1), 60),
            look(u32::MAX, Through::Random),
            look(0, Through::Helper(u8::MAX)),
            look(1, Through::NoLink),
            seen(1, 4, &[busy(0, 60), busy(120, 180)], &[1, 2, 3]),
            seen(1, 4, &[], &[]),
        ] {
            survives(&message);
        }
    }

    #[test]
    fn every_record_key_and_timer_survives_the_disk() {
        let start = second(60);
        let failure = Failure::Refused(Refusal::NotAcceptable);
        for stage in [
            desk::Stage::Open,
            desk::Stage::Accepted {
                start,
                attempt: Epoch::new(1),
            },
            desk::Stage::Lost,
            desk::Stage::Cancelled,
            desk::Stage::Failed(failure),
        ] {
            survives(&Record::Desk(desk::Record::Job {
                job: wanting(2, CHEAPEST),
                payload: Payload::new(b"true").unwrap(),
                stage,
            }));
        }
        let life = Incarnation::new(2);
        survives(&Record::Overlay(cyclon::Record::Incarnation(life)));
        let of_commit = commit::Record::Coordinator(coordinator::Record::Life(life));
        survives(&Record::Desk(desk::Record::Commit(of_commit)));
        for key in [OF_JOB, TASK, Key::Overlay(cyclon::Key::Known)] {
            survives(&key);
        }
        let bench = Bench::meeting(CONFIG, &[1]);
        let timers = || bench.host.timers().iter().map(|(_, timer)| timer);
        let helpers = |timer: &Timer| matches!(timer, Timer::Helper(..));
        assert_eq!(timers().filter(helpers).count(), 4);
        for timer in timers() {
            survives(&timer);
        }
        survives(&Timer::Due);
        survives(&Timer::Desk(commit::Timer::Coordinator));
    }

    #[test]
    fn lists_that_are_too_long_are_not_read() {
        let read = |count: usize| {
            let bytes = postcard::to_allocvec(&vec![descriptor(1); count]).unwrap();
            postcard::from_bytes::<Descriptors>(&bytes)
        };
        let most = read(Descriptors::MOST).unwrap();
        assert_eq!(most.iter().count(), Descriptors::MOST);
        assert!(read(Descriptors::MOST + 1).is_err());
        // A length without entries behind it takes no memory and is an error.
        let claim = [0xff, 0xff, 0xff, 0xff, 0x0f];
        assert!(postcard::from_bytes::<Descriptors>(&claim).is_err());
        // A list that is built here is cut instead.
        let made: Descriptors = (0..100).map(|_| descriptor(1)).collect();
        assert_eq!(made.iter().count(), Descriptors::MOST);
    }
}

#[test]
fn helpers_rank_by_delay_by_common_free_time_and_by_its_opposite() {
    let free = |from, to| {
        let free = Interval::new(Time::from_secs(from), Time::from_secs(to)).unwrap();
        Profile {
            free,
            ..Profile::default()
        }
    };
    let rank =
        |helper: Helper, target: &Profile, other: &Profile| helper.rank(&Market, target, other);
    let target = free(0, 10);
    let [long, short, later] = [free(2, 10), free(0, 5), free(5, 20)];
    let first_free = |other| rank(Helper::FirstFree, &target, other);
    assert!(first_free(&long) < first_free(&short));
    assert!(first_free(&short) < first_free(&later), "it starts earlier");
    let at = |x| Profile::at(Coordinate::at([x, 0, 0]));
    let [here, near, far] = [at(0), at(1000), at(9000)];
    assert!(rank(Helper::Proximity, &here, &near) < rank(Helper::Proximity, &here, &far));
    assert!(rank(Helper::Remoteness, &here, &far) < rank(Helper::Remoteness, &here, &near));
}

#[test]
fn broken_states_are_violations() {
    let (bench, _) = Bench::searching(CONFIG, 2, CHEAPEST);
    let told = |plant: &dyn Fn(&mut Node)| {
        let mut node = bench.machine().clone();
        plant(&mut node);
        node.check().is_err()
    };
    assert!(!told(&|_| {}));
    assert!(told(&|node| node.requests[0].job = JobId::new(99)));
    assert!(told(&|node| {
        let twice = node.requests[0].clone();
        node.requests.push(twice);
    }));
    assert!(told(&|node| {
        let expedition = node.requests[0].expeditions[0].clone();
        let many = usize::from(CONFIG.parallel) + 1;
        node.requests[0].expeditions = std::vec![expedition; many];
    }));
    assert!(told(&|node| node.random.push(descriptor(77))));
}

#[test]
fn a_later_life_sends_higher_versions_of_its_schedule() {
    let mut bench = Bench::meeting(CONFIG, &[1]);
    assert!(bench.machine().schedule.version() < 1 << 32);
    bench.restart();
    assert!(bench.machine().schedule.version() >= 1 << 32);
}
