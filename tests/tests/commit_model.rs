//! The commit protocol, explored whole in small cases.

use gridweave_core::commit::coordinator::Notice;
use gridweave_core::commit::{AllGuards, Message};
use gridweave_tests::model::commit::{rivals, sent, told};
use stateright::{Checker, Model, Property};

#[test]
fn two_coordinators_and_one_participant() {
    let mut model = rivals::<AllGuards>(2, 1, 0);
    model.properties.extend([
        Property::sometimes("commit", |_, state| {
            told(state, |told| matches!(told, Notice::Placed { .. }))
        }),
        Property::sometimes("refusal", |_, state| {
            sent(state, |message| matches!(message, Message::Refused { .. }))
        }),
    ]);
    let checker = model.checker().threads(2).spawn_bfs().join();
    println!("{} states", checker.unique_state_count());
    for (name, path) in checker.discoveries() {
        println!("{name}: {} steps", path.into_actions().len());
    }
    checker.assert_properties();
}
