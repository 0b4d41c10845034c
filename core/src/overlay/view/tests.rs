use super::*;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use std::vec::Vec;

const OWNER: NodeId = NodeId::new(5);

fn link(id: u64, incarnation: u32, age: u16) -> Link {
    Link {
        id: NodeId::new(id),
        incarnation: Incarnation::new(incarnation),
        age,
    }
}

fn view(links: &[Link]) -> View<4> {
    let mut view = View::new(OWNER, 4);
    for &link in links {
        view.insert(link).unwrap();
    }
    view.check().unwrap();
    view
}

fn rng() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(0x7669_6577)
}

#[test]
fn a_link_is_sixteen_bytes() {
    assert_eq!(size_of::<Link>(), 16);
}

#[test]
fn links_are_kept_in_the_order_of_ids_whatever_the_order_they_came_in() {
    let [a, b, c] = [link(9, 1, 3), link(2, 0, 7), link(4, 5, 0)];
    let one = view(&[a, b, c]);
    assert_eq!(one.links().collect::<Vec<_>>(), [b, c, a]);
    assert_eq!(one, view(&[c, a, b]));
}

#[test]
fn a_removed_link_leaves_no_trace() {
    let [a, b, c] = [link(9, 1, 3), link(2, 0, 7), link(4, 5, 1)];
    let mut one = view(&[a, b, c]);
    assert_eq!(one.remove(c.id), Some(c));
    assert_eq!(one.remove(c.id), None);
    assert_eq!(one, view(&[a, b]));
    assert_eq!((one.link(a.id), one.link(c.id)), (Some(a), None));
}

#[test]
fn own_known_and_surplus_links_are_refused() {
    let mut view = view(&[link(1, 0, 0), link(2, 0, 0), link(3, 0, 0)]);
    let before = view.clone();
    assert_eq!(view.insert(link(5, 0, 0)), Err(NotInserted::Own));
    assert_eq!(view.insert(link(2, 9, 9)), Err(NotInserted::Known));
    assert_eq!(view, before);
    view.insert(link(4, 0, 0)).unwrap();
    assert_eq!(view.insert(link(6, 0, 0)), Err(NotInserted::Full));
    assert_eq!(view.insert(link(2, 9, 9)), Err(NotInserted::Known));
    assert!(view.is_full());
}

#[test]
fn the_limit_may_be_less_than_there_is_room_for_and_never_more() {
    let mut view = View::<4>::new(OWNER, 1);
    view.insert(link(1, 0, 0)).unwrap();
    assert_eq!(view.insert(link(2, 0, 0)), Err(NotInserted::Full));
    assert_eq!(View::<4>::new(OWNER, 9).limit(), 4);
    assert_eq!(
        View::<0>::new(OWNER, 9).insert(link(1, 0, 0)),
        Err(NotInserted::Full)
    );
}

#[test]
fn news_makes_a_link_younger_or_later_and_never_older_or_earlier() {
    let mut view = view(&[link(1, 3, 5)]);
    for (news, outcome, then) in [
        (link(2, 9, 0), Refreshed::Unknown, link(1, 3, 5)),
        (link(1, 2, 0), Refreshed::SameLife, link(1, 3, 5)),
        (link(1, 3, 9), Refreshed::SameLife, link(1, 3, 5)),
        (link(1, 3, 4), Refreshed::SameLife, link(1, 3, 4)),
        (link(1, 4, 6), Refreshed::LaterLife, link(1, 4, 4)),
        (
            link(1, u32::MAX, 0),
            Refreshed::LaterLife,
            link(1, u32::MAX, 0),
        ),
    ] {
        assert_eq!(view.refresh(news), outcome, "{news:?}");
        assert_eq!(view.links().collect::<Vec<_>>(), [then], "{news:?}");
    }
}

#[test]
fn ages_grow_and_saturate() {
    let mut view = view(&[link(1, 0, 0), link(2, 0, u16::MAX)]);
    view.grow_older();
    let ages: Vec<u16> = view.links().map(|link| link.age).collect();
    assert_eq!(ages, [1, u16::MAX]);
    view.remove(NodeId::new(1));
    view.remove(NodeId::new(2));
    view.grow_older();
    assert_eq!(view, View::new(OWNER, 4), "empty places do not age");
}

#[test]
fn the_oldest_link_is_chosen_and_of_several_each_about_as_often() {
    let view = view(&[link(1, 0, 3), link(2, 0, 7), link(3, 0, 7), link(4, 0, 0)]);
    let mut rng = rng();
    let mut chosen = [0_u32; 5];
    for _ in 0..1000 {
        let oldest = view.oldest(&mut rng).unwrap();
        chosen[oldest.id.get() as usize] += 1;
    }
    assert_eq!(chosen[2] + chosen[3], 1000);
    assert!((400..600).contains(&chosen[2]), "{chosen:?}");
    assert_eq!(View::<4>::new(OWNER, 4).oldest(&mut rng), None);
    assert_eq!(View::<4>::new(OWNER, 4).pick(&mut rng), None);
}

#[test]
fn a_sample_has_no_link_twice_and_no_more_than_fit() {
    let view = view(&[link(1, 0, 3), link(2, 0, 7), link(3, 0, 7), link(4, 0, 0)]);
    let mut rng = rng();
    let mut seen = [0_u32; 5];
    for _ in 0..1000 {
        let sample: Links<3> = view.sample(2, &mut rng);
        assert_eq!(sample.len(), 2);
        assert_ne!(sample[0].id, sample[1].id);
        for link in sample {
            assert_eq!(view.link(link.id), Some(link));
            seen[link.id.get() as usize] += 1;
        }
    }
    assert!(
        seen[1..].iter().all(|count| (430..570).contains(count)),
        "{seen:?}"
    );
    assert_eq!(view.sample::<3>(9, &mut rng).len(), 3);
    assert_eq!(view.sample::<9>(9, &mut rng).len(), 4);
}

#[test]
fn a_link_takes_the_place_of_any_other() {
    let links = [1, 3, 7, 9].map(|id| link(id, 0, id as u16));
    for new in [0, 2, 4, 6, 8, 10].map(|id| link(id, 1, 50)) {
        for old in links {
            let mut replaced = view(&links);
            assert_eq!(replaced.replace(old.id, new), Some(old));
            let others = links.into_iter().filter(|link| *link != old);
            let expected: Vec<Link> = others.chain([new]).collect();
            assert_eq!(replaced, view(&expected));
        }
    }
}

#[test]
fn a_replacement_that_is_not_allowed_changes_nothing() {
    let links = [1, 3, 7].map(|id| link(id, 0, 0));
    let mut one = view(&links);
    for (old, new) in [(1, 5), (1, 3), (1, 1), (2, 4)] {
        assert_eq!(one.replace(NodeId::new(old), link(new, 9, 9)), None);
    }
    assert_eq!(one, view(&links));
}

/// Takes in links one after the other: into free places, then in place of the next given link that did not come in.
fn take_in_one_by_one(view: &mut View<4>, received: &[Link], given: &[NodeId]) -> Vec<Change> {
    let mut changes = Vec::new();
    let came_in = |id: &NodeId| received.iter().any(|link| link.id == *id);
    let mut given = given.iter().filter(|id| !came_in(id));
    for &link in received {
        match view.insert(link) {
            Ok(()) => changes.push(Change::Entered(link.id)),
            Err(NotInserted::Own) => {}
            Err(NotInserted::Known) => {
                if view.refresh(link) == Refreshed::LaterLife {
                    changes.push(Change::Restarted(link.id, link.incarnation));
                }
            }
            Err(NotInserted::Full) => {
                if let Some(gone) = given.find_map(|id| view.remove(*id)) {
                    view.insert(link).unwrap();
                    changes.extend([Change::Left(gone.id), Change::Entered(link.id)]);
                }
            }
        }
    }
    changes
}

#[test]
fn links_that_come_in_together_are_taken_in_as_if_one_by_one() {
    let mut rng = rng();
    let mut any = |count: u32| -> Vec<Link> {
        let mut one = || link(rng.below(9).into(), rng.below(3), rng.below(4) as u16);
        (0..count).map(|_| one()).collect()
    };
    let (mut replaced, mut restarted) = (0, 0);
    for round in (0..=u8::MAX).cycle().take(50_000) {
        let mut together = View::<4>::new(OWNER, 1 + round % 4);
        for link in any(u32::from(round % 6)) {
            let _ = together.insert(link);
        }
        let mut one_by_one = together.clone();
        let received = any(u32::from(round % 5));
        let given: Vec<NodeId> = any(3).iter().map(|link| link.id).collect();
        let mut changes = Vec::new();
        together.take_in(&received, &given, |change| changes.push(change));
        let expected = take_in_one_by_one(&mut one_by_one, &received, &given);
        assert_eq!((&together, &changes), (&one_by_one, &expected));
        together.check().unwrap();
        let is_left = |change: &&Change| matches!(change, Change::Left(_));
        let is_restarted = |change: &&Change| matches!(change, Change::Restarted(..));
        replaced += changes.iter().filter(is_left).count();
        restarted += changes.iter().filter(is_restarted).count();
    }
    assert!(
        replaced > 5000 && restarted > 1000,
        "{replaced} {restarted}"
    );
}

#[test]
fn the_largest_id_is_treated_like_any_other() {
    let largest = link(u64::MAX, 1, 2);
    let mut view = view(&[link(1, 0, 0)]);
    assert!(!view.contains(largest.id));
    assert_eq!(view.refresh(largest), Refreshed::Unknown);
    view.take_in(&[largest], &[], |change| {
        assert_eq!(change, Change::Entered(largest.id));
    });
    assert_eq!(view.link(largest.id), Some(largest));
    assert_eq!(view.remove(largest.id), Some(largest));
    assert_eq!((view.contains(largest.id), view.len()), (false, 1));
    view.check().unwrap();
}
