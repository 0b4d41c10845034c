use gridweave_core::overlay::blatant::{Blatant, Message};

use super::Protocol;

impl Protocol for Blatant {
    const KINDS: &'static [&'static str] = &["ant", "links"];

    fn kind(message: &Message) -> usize {
        match message {
            Message::Ant { .. } => 0,
            _ => 1,
        }
    }
}
