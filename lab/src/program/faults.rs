//! The list of faults, for the help of `gridweave torture`.

use crate::torture::{Fault, Invariant};

/// The list of faults, with the invariants that hold under each.
pub(super) fn table() -> String {
    let mut text = String::from("Faults, and what they leave of the invariants below:\n");
    for fault in Fault::ALL {
        let keeps = fault.keeps();
        let kept = if keeps.len() == Invariant::ALL.len() {
            "all".into()
        } else {
            let names: Vec<&str> = keeps.iter().map(|it| it.name()).collect();
            names.join(", ")
        };
        text += &format!("  {:<12} {}; keeps {kept}\n", fault.name(), fault.says());
    }
    text += "\nInvariants:\n";
    for invariant in Invariant::ALL {
        text += &format!("  {:<13} {}\n", invariant.name(), invariant.says());
    }
    text += "\nA seed is a function of its number and of this version. What broke is minimised and printed with the command that replays it.\n\n\
        Examples:\n  gridweave torture --seeds 0..10000\n  gridweave torture --scheduler aria --seed 17 --without loss,skew --nodes 5 --trace";
    text
}
