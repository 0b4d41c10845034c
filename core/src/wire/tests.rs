use std::format;
use std::vec::Vec;

use super::bounded::list;
use super::*;
use crate::heartbeat::Message;
use crate::id::{Incarnation, NodeId};
use crate::overlay::can;
use crate::overlay::cyclon;
use crate::overlay::vicinity;
use crate::overlay::view::{Link, Links};
use crate::profile::Profile;
use crate::scheduler::{asap, criteria};
use crate::shared::Shared;

const PING: Message = Message::Ping {
    asker: Incarnation::new(3),
    round: 4,
};

#[test]
fn a_frame_is_the_version_the_protocol_and_the_body() {
    assert_eq!(encode(&PING), Ok(Vec::from([2, 1, 0, 3, 4])));
    assert_eq!(decode(&[2, 1, 0, 3, 4]), Ok(PING));
    assert_eq!(PING.kind(), "Ping");
}

#[test]
fn a_slice_takes_a_frame_if_it_is_long_enough() {
    let mut room = [9; 6];
    assert_eq!(encode_into(&PING, &mut room), Ok(5));
    assert_eq!(room, [2, 1, 0, 3, 4, 9]);
    for length in 0..5 {
        let refused = encode_into(&PING, &mut room[..length]);
        assert_eq!(refused, Err(NotEncoded::NoRoom), "{length}");
    }
}

#[test]
fn the_header_says_which_protocol_it_is() {
    assert_eq!(protocol_of(&[2, 18]), Ok(Protocol::ARIA));
    assert_eq!(protocol_of(&[2, 200, 7]), Ok(Protocol::new(200)));
    assert_eq!(protocol_of(&[]), Err(Refused::Empty));
    assert_eq!(protocol_of(&[2]), Err(Refused::CutShort { at: 1 }));
    let other = Refused::Version {
        found: 1,
        understood: 2,
    };
    assert_eq!(protocol_of(&[1, 18]), Err(other));
    assert_eq!(protocol_of(&[1]), Err(other));
}

#[test]
fn a_list_has_room_for_its_count_and_its_items() {
    assert_eq!(list::<u8>(0), 1);
    assert_eq!(list::<u8>(1), 2);
    assert_eq!(list::<u8>(127), 128);
    assert_eq!(list::<u8>(128), 130);
    assert_eq!(list::<NodeId>(2), 21);
    assert_eq!(<[NodeId; 2]>::MOST_BYTES, 20);
}

#[test]
fn a_kind_around_others_has_a_cap_for_each_of_them() {
    let overlay = asap::Message::<8>::KINDS[0];
    assert_eq!(overlay.name(), "Overlay");
    assert_eq!(overlay.within(), cyclon::Message::<8>::KINDS);
    assert_eq!(overlay.own_bytes(), 1);
    // The largest is a shuffle: two numbers of the exchange, a count, and eight links of 18 bytes.
    assert_eq!(overlay.most_bytes(), 1 + 1 + 10 + 1 + 8 * 18);
    assert_eq!(Kind::largest(&[]), 0);
    // A Join is much shorter, and so is its cap.
    let join = Cap::of(asap::Message::<8>::KINDS, &[2, 16, 0, 2, 7]);
    let Cap { kind, fields, most } = join.unwrap();
    assert_eq!((kind.name(), fields, most), ("Join", 4, 9));
    let cut = Cap::of(asap::Message::<8>::KINDS, &[2, 16, 0]);
    assert_eq!(cut, Err(Refused::CutShort { at: 3 }));
}

#[test]
fn more_links_than_a_reader_has_room_for_are_refused_and_fewer_are_not() {
    let links: Links<8> = (0..8).map(link).collect();
    let exchange = cyclon::ExchangeId {
        incarnation: Incarnation::new(1),
        cycle: 1,
    };
    let shuffle = cyclon::Message::Shuffle { exchange, links };
    let frame = encode(&shuffle).unwrap();
    let wider = decode::<cyclon::Message<20>>(&frame).unwrap();
    assert_eq!(wider.links(), shuffle.links());
    let refused = decode::<cyclon::Message<4>>(&frame).unwrap_err();
    let (at, found, least, most) = (6, 8, 0, 4);
    let wrong = Refused::WrongCount {
        at,
        found,
        least,
        most,
    };
    assert_eq!(refused, wrong);
    assert_eq!(
        format!("{refused}"),
        "a list of 8, and there is room for 4, before byte 6"
    );
    // The same as a part of another protocol.
    let within = [&[VERSION, Protocol::ASAP.number(), 0], &frame[2..]].concat();
    let refused = decode::<asap::Message<4>>(&within);
    let wrong = Refused::WrongCount {
        at: 7,
        found,
        least,
        most,
    };
    assert_eq!(refused, Err(wrong));
}

#[test]
fn a_helper_that_tells_of_more_peers_than_there_is_room_for_is_refused_with_their_number() {
    let descriptor = |id| vicinity::Descriptor {
        id: NodeId::new(id),
        age: 0,
        version: 0,
        profile: Profile::default(),
    };
    let message = vicinity::Message::Request {
        exchange: vicinity::ExchangeId(1),
        descriptors: (0..6).map(descriptor).collect(),
    };
    // The number of the helper takes one byte, whatever its highest bit is.
    let message = criteria::Message::<8, 10>::Helper {
        number: 200,
        message: Shared::new(message),
    };
    let frame = encode(&message).unwrap();
    assert_eq!(decode(&frame), Ok(message));
    let wrong = Refused::WrongCount {
        at: 7,
        found: 6,
        least: 0,
        most: 5,
    };
    assert_eq!(decode::<criteria::Message<8, 5>>(&frame), Err(wrong));
}

#[test]
fn a_space_with_other_dimensions_is_refused_with_their_number() {
    let joiner = can::Name {
        id: NodeId::new(300),
        life: Incarnation::new(1),
    };
    let point = can::Point::new([1, 2, 3, 4]);
    let frame = encode(&can::Message::<4>::Join {
        joiner,
        point,
        hops: 9,
    });
    let frame = frame.unwrap();
    for (refused, least, words) in [
        (
            decode::<can::Message<5>>(&frame).map(drop),
            5,
            "a list of 4, and there must be 5, before byte 7",
        ),
        (
            decode::<can::Message<3>>(&frame).map(drop),
            3,
            "a list of 4, and there is room for 3, before byte 7",
        ),
    ] {
        let refused = refused.unwrap_err();
        let (at, found, most) = (7, 4, least);
        let wrong = Refused::WrongCount {
            at,
            found,
            least,
            most,
        };
        assert_eq!(refused, wrong);
        assert_eq!(format!("{refused}"), words);
    }
}

#[test]
fn a_field_before_a_list_is_blamed_for_its_own_fault() {
    // The incarnation has 33 bits; behind it are a cycle, and nine links where eight may be.
    let body = [0, 0xff, 0xff, 0xff, 0xff, 0x1f, 1, 9];
    let frame = [&[VERSION, Protocol::CYCLON.number()][..], &body, &[1; 27]].concat();
    assert_eq!(
        decode::<cyclon::Message<8>>(&frame),
        Err(Refused::Malformed { at: 8 })
    );
}

fn link(id: u64) -> Link {
    Link {
        id: NodeId::new(id),
        ..Link::default()
    }
}

#[test]
fn refusals_say_what_is_wrong_and_where() {
    let (kind, length, cap) = ("Ping", 14, 13);
    let (found, expected) = (Protocol::new(200), Protocol::HEARTBEAT);
    for (refused, words) in [
        (Refused::Empty, "there are no bytes"),
        (
            Refused::Version {
                found: 7,
                understood: 2,
            },
            "it has version 7, and this program understands version 2 only",
        ),
        (
            Refused::Protocol { found, expected },
            "protocol 200 is not 1 (heartbeat)",
        ),
        (
            Refused::UnknownKind { at: 2, found: 9 },
            "there is no kind 9, at byte 2",
        ),
        (
            Refused::TooLong { kind, length, cap },
            "14 bytes are more than 13, the most of Ping",
        ),
        (Refused::CutShort { at: 3 }, "cut short, at byte 3"),
        (Refused::Malformed { at: 4 }, "malformed before byte 4"),
        (
            Refused::Trailing { at: 5 },
            "the message ends before byte 5",
        ),
        (Refused::NotCanonical { at: 6 }, "not canonical, at byte 6"),
    ] {
        assert_eq!(format!("{refused}"), words);
    }
    let too_long = NotEncoded::TooLong { kind, length, cap };
    assert!(format!("{too_long}").contains("more than 13"));
    assert!(format!("{}", NotEncoded::NoRoom).contains("no room"));
    assert!(format!("{}", NotEncoded::Broken).contains("cannot"));
}

#[test]
fn every_protocol_has_a_name_and_a_number_of_its_own() {
    let named = (0..=u8::MAX).filter_map(|number| Protocol::new(number).name());
    let mut names: Vec<&str> = named.collect();
    assert_eq!(names.len(), 12);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 12);
    assert_eq!(Protocol::new(200).name(), None);
}
