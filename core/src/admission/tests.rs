use super::*;
use crate::resource::Kind;

const OURS: OrganisationId = OrganisationId::new(1);
const THEIRS: OrganisationId = OrganisationId::new(2);

fn dimensions() -> Dimensions {
    Dimensions::new(&[("cores", Kind::Amount), ("architecture", Kind::Category)]).unwrap()
}

fn needs(cores: u64, architecture: u64) -> Needs {
    let dimensions = dimensions();
    let of = |name| dimensions.named(name).unwrap();
    let requirement = Requirement::any()
        .with(of("cores"), cores)
        .with(of("architecture"), architecture);
    Needs::new(requirement, Scope::Grid)
}

fn stated(admission: Admission) -> Stated {
    Stated::new(Attributes {
        organisation: OURS,
        admission,
        capability: dimensions().capability(&[8, 1]).unwrap(),
    })
}

#[test]
fn a_node_admits_the_organisations_that_its_admission_names() {
    let ours = || Organisations::new([OURS]).unwrap();
    for (admission, admitted) in [
        (Admission::All, [true, true]),
        (Admission::Own, [true, false]),
        (Admission::Only(ours()), [true, false]),
        (Admission::Only(Organisations::default()), [false, false]),
        (Admission::Except(ours()), [false, true]),
    ] {
        let node = stated(admission);
        for (organisation, is_admitted) in [OURS, THEIRS].into_iter().zip(admitted) {
            let judged = match is_admitted {
                true => Ok(()),
                false => Err(Unsuited::NotAdmitted),
            };
            let suits = node.suits(Some(&dimensions()), organisation, &Needs::NOTHING);
            assert_eq!(suits, judged, "{node:?} {organisation}");
        }
    }
}

#[test]
fn a_node_suits_a_job_if_it_has_what_each_dimension_asks_for() {
    let node = stated(Admission::All);
    for (cores, architecture, judged) in [
        (8, 1, Ok(())),
        (0, 1, Ok(())),
        (9, 1, Err(Unsuited::Lacks)),
        (8, 2, Err(Unsuited::Lacks)),
        (u64::MAX, u64::MAX, Err(Unsuited::Lacks)),
    ] {
        let needs = needs(cores, architecture);
        assert_eq!(node.suits(Some(&dimensions()), THEIRS, &needs), judged);
        assert_eq!(
            node.suits(None, THEIRS, &needs),
            Err(Unsuited::Lacks),
            "without dimensions no node has what is named"
        );
    }
}

#[test]
fn a_job_that_stays_in_its_organisation_suits_only_nodes_of_it() {
    let stays = Needs::new(Requirement::any(), Scope::Organisation);
    let node = stated(Admission::All);
    assert_eq!(node.suits(None, OURS, &stays), Ok(()));
    assert_eq!(node.suits(None, THEIRS, &stays), Err(Unsuited::NotAdmitted));
}

#[test]
fn default_attributes_and_needs_of_nothing_take_no_memory() {
    assert_eq!(Stated::new(Attributes::default()), Stated::NOTHING);
    assert_eq!(Stated::NOTHING.attributes(), &Attributes::default());
    assert_eq!(Needs::new(Requirement::any(), Scope::Grid), Needs::NOTHING);
    #[cfg(feature = "alloc")]
    assert_eq!((size_of::<Stated>(), size_of::<Needs>()), (8, 8));
}

#[test]
fn a_list_has_at_most_sixteen_organisations_sorted_and_each_once() {
    let few = Organisations::new([THEIRS, OURS, THEIRS]).unwrap();
    assert_eq!(few.as_slice(), [OURS, THEIRS]);
    let many = |count| Organisations::new((0..count).map(OrganisationId::new));
    assert!(many(16).is_ok());
    assert_eq!(many(17), Err(AdmissionError::TooMany));
}

#[test]
fn too_few_nodes_are_explained_by_what_the_others_were_missing() {
    let seen = Tally {
        suited: 2,
        closed: 3,
        lacking: 4,
    };
    for (count, why) in [
        (2, None),
        (3, Some(Unsuited::NotAdmitted)),
        (5, Some(Unsuited::NotAdmitted)),
        (6, Some(Unsuited::Lacks)),
        (9, Some(Unsuited::Lacks)),
        (10, None),
        (u32::MAX, None),
    ] {
        assert_eq!(seen.why_fewer_than(count), why, "{count}");
    }
    let most = Tally {
        suited: u32::MAX,
        closed: u32::MAX,
        lacking: u32::MAX,
    };
    assert_eq!(most.why_fewer_than(u32::MAX), None);
    assert_eq!(most.unsuited(), u32::MAX);
}

#[cfg(feature = "serde")]
#[test]
fn what_is_decoded_is_sorted_short_and_said_in_one_way() {
    use std::vec::Vec;
    fn bytes<T: serde::Serialize>(value: &T) -> Vec<u8> {
        postcard::to_allocvec(value).unwrap()
    }
    assert_eq!(bytes(&Stated::NOTHING), [0]);
    assert_eq!(bytes(&Needs::NOTHING), [0]);
    let node = stated(Admission::Only(Organisations::new([OURS, THEIRS]).unwrap()));
    assert_eq!(postcard::from_bytes(&bytes(&node)), Ok(node));
    let four = needs(4, 1);
    assert_eq!(postcard::from_bytes(&bytes(&four)), Ok(four));

    // Default attributes that are spelled out are read as nothing, which has other bytes.
    let spelled = bytes(&Some(Attributes::default()));
    assert_eq!(postcard::from_bytes(&spelled), Ok(Stated::NOTHING));

    for list in [Vec::from([2, 1]), Vec::from([1, 1]), (0..17).collect()] {
        let list = bytes(
            &list
                .into_iter()
                .map(OrganisationId::new)
                .collect::<Vec<_>>(),
        );
        assert!(postcard::from_bytes::<Organisations>(&list).is_err());
    }
}
