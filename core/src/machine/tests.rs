use super::*;
use crate::time::Time;
use core::convert::Infallible;
use std::vec::Vec;

/// Does one of everything when it starts, and nothing else.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Child;

impl Machine for Child {
    type Message = u8;
    type Timer = u8;
    type Command = Never;
    type Notice = u8;
    type Key = u8;
    type Record = u8;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        if event == Event::Start {
            cx.persist(1, 2);
            cx.send(NodeId::new(3), 4);
            cx.notify(5);
            let at = cx.now();
            cx.wake(at, 6);
            cx.cancel(7);
            cx.forget(8);
            cx.notify(9);
            let drawn = cx.rng().next_u32();
            cx.send(NodeId::new(10), drawn as u8);
        }
    }

    fn check(&self) -> Result<(), Violation> {
        Ok(())
    }
}

/// Everything of the child's is a hundred more than it was there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Parent {
    child: Child,
    heard: Vec<u8>,
}

struct AsChild<'a>(&'a mut Vec<u8>);

impl Embed<Child, Parent> for AsChild<'_> {
    fn message(&mut self, message: u8) -> u8 {
        message + 100
    }
    fn timer(&mut self, timer: u8) -> u8 {
        timer + 100
    }
    fn key(&mut self, key: u8) -> u8 {
        key + 100
    }
    fn record(&mut self, record: u8) -> u8 {
        record + 100
    }
    /// Forwards notices up to five, keeps the others.
    fn notice(&mut self, notice: u8, cx: &mut dyn Context<Parent>) {
        if notice <= 5 {
            cx.notify(notice + 100);
        } else {
            self.0.push(notice);
        }
    }
}

impl Machine for Parent {
    type Message = u8;
    type Timer = u8;
    type Command = Never;
    type Notice = u8;
    type Key = u8;
    type Record = u8;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        if event == Event::Start {
            // Both an embedding and a borrowed one will do.
            let mut embed = AsChild(&mut self.heard);
            self.child.handle(Event::Start, &mut cx.lift(&mut embed));
            cx.notify(0);
        }
    }

    fn check(&self) -> Result<(), Violation> {
        self.child.check()
    }
}

/// Draws 42 once, then panics.
struct Once(bool);

impl rand_core::TryRng for Once {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        assert!(!core::mem::replace(&mut self.0, true));
        Ok(42)
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        unreachable!()
    }
    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        unreachable!()
    }
}

#[test]
fn a_childs_effects_become_its_parents_in_order() {
    let mut parent = Parent {
        child: Child,
        heard: Vec::new(),
    };
    let mut effects = EffectQueue::default();
    let now = Time::from_secs(7);
    effects.feed(&mut parent, Event::Start, now, &mut Once(false));
    let expected = [
        Effect::Persist(101, 102),
        Effect::Send {
            to: NodeId::new(3),
            message: 104,
        },
        Effect::Notify(105),
        Effect::Wake {
            at: now,
            timer: 106,
        },
        Effect::Cancel(107),
        Effect::Forget(108),
        Effect::Send {
            to: NodeId::new(10),
            message: 142,
        },
        Effect::Notify(0),
    ];
    assert!(effects.iter().eq(&expected));
    assert_eq!(parent.heard, [9]);
    assert_eq!(effects.drain().collect::<Vec<_>>(), expected);
    assert!(effects.is_empty());
    assert_eq!(parent.check(), Ok(()));
}

#[test]
fn a_violation_names_what_does_not_hold() {
    assert_eq!(Violation::unless(true, "one is one"), Ok(()));
    let violation = Violation::unless(false, "one is two").unwrap_err();
    assert_eq!(
        std::format!("{violation}"),
        "this does not hold: one is two"
    );
}

#[test]
fn a_group_has_its_records_first_and_ends_before_a_record_is_forgotten_behind_a_notice() {
    let (at, node) = (Time::ZERO, NodeId::new);
    let wake = Effect::Wake { at, timer: 6 };
    let send = |to, message| Effect::<Child>::Send {
        to: node(to),
        message,
    };
    let mut host = Host::unstarted(Child);
    for _ in 0..2 {
        host.handle(Event::Start, at, &mut crate::rng::Zeros);
    }
    let next = |host: &mut Host<Child>| {
        let Group { records, others } = host.group_records();
        let mut take = |count| -> Vec<_> { (0..count).map_while(|_| host.execute()).collect() };
        (take(records), take(others))
    };
    let persist = Effect::Persist(1, 2);
    let first = [
        send(3, 4),
        Effect::Notify(5),
        wake.clone(),
        Effect::Cancel(7),
    ];
    let last = [Effect::Notify(9), send(10, 0)];
    assert_eq!(
        next(&mut host),
        (Vec::from([persist.clone()]), first.to_vec())
    );
    // What the second event writes does not wait for what the first one sends.
    assert_eq!(
        next(&mut host),
        (
            Vec::from([Effect::Forget(8), persist]),
            [&last[..], &first].concat()
        )
    );
    assert_eq!(
        next(&mut host),
        (Vec::from([Effect::Forget(8)]), last.to_vec())
    );
    assert_eq!(host.pending(), 0);
    let none = Group {
        records: 0,
        others: 0,
    };
    assert_eq!(host.group_records(), none);
}
