use super::*;

const NODES: [NodeId; 2] = [NodeId::new(1), NodeId::new(2)];

/// With a job of two nodes, submitted at the first of them.
fn oracle() -> Oracle {
    let terms = Terms {
        grace: Some(Span::from_secs(10)),
        lingers: Span::from_secs(5),
    };
    let takes = Equipped {
        cores: 1,
        memory: 0,
    };
    let mut oracle = Oracle::new(terms, Invariant::ALL.into());
    oracle.add(Wish { nodes: 2, takes });
    oracle.submitted(0, NODES[0]);
    oracle
}

fn second(second: u64) -> Time {
    Time::from_secs(second)
}

fn broken(oracle: &Oracle) -> Option<Invariant> {
    oracle.breach().map(|breach| breach.invariant)
}

#[test]
fn who_leaves_without_a_last_word_is_caught() {
    let mut oracle = oracle();
    oracle.departs(Time::ZERO, NODES[1]);
    assert_eq!(broken(&oracle), None);
    oracle.departs(Time::ZERO, NODES[0]);
    assert_eq!(broken(&oracle), Some(Invariant::Outcome));
}

#[test]
fn a_job_that_runs_on_some_of_its_nodes_for_too_long_is_caught() {
    let mut oracle = oracle();
    oracle.began(second(1), NODES[0], 0, 1);
    oracle.look(second(11));
    assert_eq!(broken(&oracle), None);
    let mut whole = oracle.clone();
    whole.began(second(11), NODES[1], 0, 1);
    whole.look(second(12));
    assert_eq!(broken(&whole), None);
    oracle.look(second(12));
    assert_eq!(broken(&oracle), Some(Invariant::Together));
}

#[test]
fn what_begins_after_its_last_word_is_caught() {
    let mut done = oracle();
    for node in NODES {
        done.began(second(1), node, 0, 1);
    }
    for node in NODES {
        done.ended(second(2), node, 0, 1, false);
    }
    done.said(second(2), NODES[0], 0, News::Finished);
    assert_eq!(broken(&done), None);
    done.began(second(3), NODES[0], 0, 2);
    assert_eq!(broken(&done), Some(Invariant::NoRerun));

    let mut cancelled = oracle();
    cancelled.unwanted(0);
    cancelled.said(second(2), NODES[0], 0, News::Cancelled);
    for (at, expected) in [(7, None), (8, Some(Invariant::NoRerun))] {
        let mut late = cancelled.clone();
        late.began(second(at), NODES[0], 0, 1);
        assert_eq!(broken(&late), expected, "{at}");
    }
    cancelled.began(second(3), NODES[0], 0, 1);
    cancelled.look(second(7));
    assert_eq!(broken(&cancelled), None);
    cancelled.look(second(8));
    assert_eq!(broken(&cancelled), Some(Invariant::TrueWord));
}
