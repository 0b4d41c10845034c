//! Input that no honest peer sends, encodings, and states that `check` reports.

use super::*;

#[test]
fn hostile_shuffles_are_cut_down_to_what_is_allowed() {
    let config = Config {
        shuffle: 2,
        ..CONFIG
    };
    let mut bench = Bench::with_config(config, &[]);
    // A link to the node itself, one link twice, and one link too many.
    bench.hear(9, shuffle(&[(50, 0), (11, u16::MAX), (12, 0)]));
    assert_eq!(bench.links(), [(11, u16::MAX)]);
    bench.hear(9, shuffle(&[(13, 1), (13, 0)]));
    assert_eq!(bench.links(), [(11, u16::MAX), (13, 0)]);
    bench.cycle(0);
    assert_eq!(bench.machine().waits_for(), Some(id(11)), "ages saturate");
    // Messages that claim to come from the node itself.
    bench.ignores_message(50, shuffle(&[(14, 0)]));
    bench.ignores_message(50, Message::Join { incarnation: BORN });
}

#[test]
fn check_names_what_is_broken() {
    let mut bench = Bench::waiting();
    let Life::Gossiping(gossip) = &mut bench.machine_mut().life else {
        panic!("it gossips")
    };
    gossip.cycle += 1;
    assert_eq!(
        bench.machine().check().unwrap_err().invariant,
        "at most one exchange is pending, the one of the last cycle"
    );
    let mut bench = Bench::with(&[]);
    bench.machine_mut().contacts.miss(ME);
    assert_eq!(
        bench.machine().check().unwrap_err().invariant,
        "a node does not count on itself for help"
    );
}

#[test]
fn messages_are_small() {
    assert!(
        size_of::<Message<8>>() <= 160,
        "{}",
        size_of::<Message<8>>()
    );
    assert!(size_of::<Message<16>>() <= 320);
}

#[cfg(feature = "serde")]
#[test]
fn messages_survive_their_encoding_and_too_many_links_do_not() {
    let messages = [
        shuffle(&[(1, 2), (u64::MAX, u16::MAX)]),
        shuffled(u32::MAX, &[]),
        Message::Join { incarnation: BORN },
        walk(3, 4, 5),
        gift(link(1, 2)),
    ];
    for message in messages {
        let bytes = postcard::to_allocvec(&message).unwrap();
        assert_eq!(postcard::from_bytes(&bytes), Ok(message));
    }
    let long = shuffle(&[(1, 0), (2, 0), (3, 0)]);
    let bytes = postcard::to_allocvec(&long).unwrap();
    assert!(postcard::from_bytes::<Message<2>>(&bytes).is_err());
    let record = Record::Known([id(1), id(2)].into_iter().collect());
    let bytes = postcard::to_allocvec(&record).unwrap();
    assert_eq!(postcard::from_bytes(&bytes), Ok(record));
}
