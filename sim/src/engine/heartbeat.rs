use gridweave_core::heartbeat::{Detector, Message};

use super::Protocol;

impl<const N: usize> Protocol for Detector<N> {
    const KINDS: &'static [&'static str] = &["ping", "pong"];

    fn kind(message: &Message) -> usize {
        match message {
            Message::Ping { .. } => 0,
            Message::Pong { .. } => 1,
        }
    }
}
