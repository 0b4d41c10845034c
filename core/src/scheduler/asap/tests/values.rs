//! Configurations, sizes of messages, and what is encoded.

use super::*;
use core::mem::size_of;

#[test]
fn the_default_and_the_papers_rules_are_sound() {
    for config in [Config::default(), Config::PAPER] {
        assert!(Asap::<20, 8>::new(ME, config, Bootstrap::Alone, Everyone).is_ok());
    }
}

#[test]
fn messages_are_small() {
    assert!(
        size_of::<Message<8>>() <= 320,
        "{}",
        size_of::<Message<8>>()
    );
}

#[cfg(feature = "serde")]
mod wire {
    use super::*;
    use crate::id::Incarnation;

    fn survives<T>(value: &T)
    where
        T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + core::fmt::Debug,
    {
        let bytes = postcard::to_allocvec(value).unwrap();
        assert_eq!(postcard::from_bytes::<T>(&bytes).as_ref(), Ok(value));
    }

    #[test]
    fn every_message_survives_the_wire() {
        let search_id = SearchId(u32::MAX);
        let reasons = [
            Reason::Changed,
            Reason::Search(search_id),
            Reason::Poll,
            Reason::NewLink,
        ];
        let incarnation = Incarnation::new(3);
        let mut all = vec![
            Message::Overlay(cyclon::Message::Join { incarnation }),
            prepare(attempt(1, 1), 60),
            search(1, u32::MAX, 60),
            found(1, 60, 2, &[1, 2, u64::MAX]),
            not_found(u32::MAX, 420),
            who_else(7),
            others(7, &[(1, &[]), (2, &[busy(0, 60), busy(120, 180)])]),
            others(7, &[]),
            Message::Subscribe { known: None },
            Message::Subscribe {
                known: Some(u64::MAX),
            },
            Message::Unsubscribe,
        ];
        for reason in reasons {
            all.push(Message::Fetch(reason));
            all.push(schedule(reason, 9, &[busy(0, 60)]));
        }
        for message in all {
            survives(&message);
        }
    }

    #[test]
    fn every_record_survives_the_disk() {
        let start = second(60);
        let failure = Failure::Refused(Refusal::TooLarge);
        for stage in [
            Stage::Open,
            Stage::Accepted {
                start,
                attempt: Epoch::new(1),
            },
            Stage::Lost,
            Stage::Cancelled,
            Stage::Failed(failure),
        ] {
            survives(&Record::Desk(desk::Record::Job {
                job: job(7, 2),
                payload: Payload::new(b"true").unwrap(),
                stage,
            }));
        }
        let life = Incarnation::new(2);
        survives(&Record::Overlay(cyclon::Record::Incarnation(life)));
        let of_commit = commit::Record::Coordinator(coordinator::Record::Life(life));
        survives(&Record::Desk(desk::Record::Commit(of_commit)));
        for key in [OF_JOB, TASK, SEAT, Key::Overlay(cyclon::Key::Known)] {
            survives(&key);
        }
        for timer in [Timer::Due, Timer::Desk(commit::Timer::Coordinator)] {
            survives(&timer);
        }
    }

    #[test]
    fn lists_that_are_too_long_are_not_read() {
        let known = Known {
            node: id(1),
            stated: Stated::NOTHING,
            schedule: snapshot(1, &[]),
        };
        let most = vec![known.clone(); Others::MOST];
        let bytes = postcard::to_allocvec(&most).unwrap();
        let read: Others = postcard::from_bytes(&bytes).unwrap();
        assert_eq!((read.len(), read.is_empty()), (Others::MOST, false));
        let more = vec![known; Others::MOST + 1];
        let bytes = postcard::to_allocvec(&more).unwrap();
        assert!(postcard::from_bytes::<Others>(&bytes).is_err());

        let offer = |nodes| {
            let nodes = vec![id(1); nodes];
            let (start, hops) = (second(60), 1);
            postcard::to_allocvec(&Offer { start, hops, nodes }).unwrap()
        };
        assert!(postcard::from_bytes::<Offer>(&offer(Offer::MOST_NODES)).is_ok());
        assert!(postcard::from_bytes::<Offer>(&offer(Offer::MOST_NODES + 1)).is_err());
        // A length without entries behind it takes no memory and is an error.
        let mut claim = postcard::to_allocvec(&(second(60), 1_u8)).unwrap();
        claim.extend([0xff, 0xff, 0xff, 0xff, 0x0f]);
        assert!(postcard::from_bytes::<Offer>(&claim).is_err());
    }
}
