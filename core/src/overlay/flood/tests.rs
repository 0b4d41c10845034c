use super::*;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

fn flood(sequence: u64) -> FloodId {
    FloodId {
        origin: NodeId::new(1),
        sequence,
        kind: 0,
        round: 0,
    }
}

#[test]
fn a_message_takes_as_many_hops_as_it_may() {
    let mut header = Reach::INFORM.begin(flood(0));
    let mut hops = 0;
    while let Some(next) = header.onward(Reach::INFORM) {
        hops += 1;
        assert_eq!((next.id, next.ttl + next.hops), (flood(0), 8));
        header = next;
    }
    assert_eq!((hops, header.hops), (8, 8));
    let liar = Header {
        id: flood(0),
        ttl: u8::MAX,
        hops: u8::MAX,
    };
    let onward = liar.onward(Reach::INFORM).unwrap();
    assert_eq!((onward.ttl, onward.hops), (7, u8::MAX));
}

#[test]
fn a_message_goes_to_a_few_neighbours_and_never_back() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let neighbours = [1, 2, 3, 4, 5, 6].map(NodeId::new);
    let sender = NodeId::new(3);
    let mut chosen = BTreeSet::new();
    for _ in 0..200 {
        let mut targets = Reach::REQUEST.targets(neighbours, Some(sender), &mut rng);
        assert!(!targets.contains(&sender));
        chosen.extend(targets.clone());
        targets.sort_unstable();
        targets.dedup();
        assert_eq!(targets.len(), 4);
    }
    assert_eq!(chosen.len(), 5);
    // If there are fewer neighbours than the fan-out, the message goes to all but the sender.
    let few = &neighbours[..3];
    let targets = Reach::REQUEST.targets(few.iter().copied(), Some(sender), &mut rng);
    assert_eq!(targets.len(), 2);
    assert_eq!(Reach::REQUEST.targets([sender], Some(sender), &mut rng), []);
    assert_eq!(Reach::INFORM.targets(neighbours, None, &mut rng).len(), 2);
}

#[test]
fn a_duplicate_is_known_as_such_until_no_copy_can_be_on_its_way() {
    let mut seen = Seen::covering(Reach::REQUEST, Span::from_secs(1), 100);
    assert_eq!(seen.see(flood(1), Time::from_secs(100)), Sight::First);
    assert_eq!(seen.see(flood(1), Time::from_secs(110)), Sight::Again);
    let last = Time::from_micros(117_999_999);
    assert_eq!(seen.see(flood(1), last), Sight::Again);
    assert_eq!(seen.see(flood(1), Time::from_secs(118)), Sight::First);
    assert_eq!(seen.len(), 1);
}

#[test]
fn the_same_in_another_round_or_of_another_kind_is_new() {
    let mut seen = Seen::new(Span::from_secs(10), 100);
    let ids = [
        flood(1),
        FloodId {
            kind: 1,
            ..flood(1)
        },
        FloodId {
            round: 1,
            ..flood(1)
        },
        FloodId {
            origin: NodeId::new(2),
            ..flood(1)
        },
    ];
    for id in ids {
        assert_eq!(seen.see(id, Time::ZERO), Sight::First);
    }
    for id in ids {
        assert_eq!(seen.see(id, Time::ZERO), Sight::Again);
    }
}

#[test]
fn made_up_names_neither_make_it_grow_nor_forget() {
    let mut seen = Seen::new(Span::from_secs(10), 64);
    for sequence in 0..10_000 {
        let sight = seen.see(flood(sequence), Time::ZERO);
        let has_room = sequence < 64;
        assert_eq!(sight, [Sight::Unkept, Sight::First][usize::from(has_room)]);
        assert!(seen.len() <= 64 && seen.known.len() == seen.order.len());
    }
    for sequence in 0..64 {
        assert_eq!(seen.see(flood(sequence), Time::ZERO), Sight::Again);
    }
    seen.expire(Time::from_secs(10));
    assert!(seen.is_empty() && seen.known.is_empty());
    let mut none = Seen::new(Span::MAX, 0);
    assert_eq!(none.see(flood(0), Time::MAX), Sight::First);
    assert!(none.is_empty());
}

#[test]
fn it_takes_no_flood_until_the_time_of_the_first_is_over() {
    let mut seen = Seen::new(Span::from_secs(10), 2);
    for sequence in 0..2 {
        let at = Time::from_secs(sequence);
        assert_eq!(seen.see(flood(sequence), at), Sight::First);
    }
    let last = Time::from_micros(9_999_999);
    assert_eq!(seen.see(flood(2), last), Sight::Unkept);
    assert_eq!(seen.see(flood(2), Time::from_secs(10)), Sight::First);
    assert_eq!(seen.len(), 2);
}

#[cfg(feature = "serde")]
#[test]
fn headers_survive_their_encoding() {
    let header = Header {
        id: FloodId {
            origin: NodeId::new(u64::MAX),
            sequence: u64::MAX,
            kind: 3,
            round: u32::MAX,
        },
        ttl: 9,
        hops: 255,
    };
    let bytes = postcard::to_allocvec(&header).unwrap();
    assert_eq!(postcard::from_bytes(&bytes), Ok(header));
}
