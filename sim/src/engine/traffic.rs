//! What was sent, counted.

use gridweave_core::time::{Span, Time};

/// Messages and bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KindTraffic {
    /// How many messages.
    pub messages: u64,
    /// How many bytes they have, encoded.
    pub bytes: u64,
}

/// Everything that was sent, by kind; lost messages count, copies made by the network do not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    kinds: Vec<(&'static str, KindTraffic)>,
    /// What each kind counts as, where that is not its encoding.
    sizes: Vec<Option<u32>>,
    total: KindTraffic,
    undelivered: u64,
    window: Option<Span>,
    per_window: Vec<u64>,
}

impl Traffic {
    /// The most windows that are counted apart. When there would be more, each becomes twice as wide.
    const MOST_WINDOWS: usize = 1 << 20;

    /// Nothing of these kinds.
    pub fn new(kinds: &[&'static str]) -> Self {
        Self {
            kinds: kinds
                .iter()
                .map(|name| (*name, KindTraffic::default()))
                .collect(),
            sizes: vec![None; kinds.len()],
            ..Self::default()
        }
    }

    pub(super) fn count_per(&mut self, window: Span) {
        self.window = Some(window).filter(|window| !window.is_zero());
    }

    pub(super) fn count_as(&mut self, kind: usize, bytes: u32) {
        if let Some(size) = self.sizes.get_mut(kind) {
            *size = Some(bytes);
        }
    }

    pub(super) fn sent(&mut self, now: Time, kind: usize, bytes: usize) {
        let bytes = match self.sizes.get(kind) {
            Some(Some(size)) => u64::from(*size),
            _ => bytes as u64,
        };
        if let Some((_, count)) = self.kinds.get_mut(kind) {
            count.messages += 1;
            count.bytes += bytes;
        }
        self.total.messages += 1;
        self.total.bytes += bytes;
        self.count_at(now);
    }

    fn count_at(&mut self, now: Time) {
        let Some(mut window) = self.window else {
            return;
        };
        while now.as_micros() / window.as_micros() >= Self::MOST_WINDOWS as u64 {
            let pairs = self.per_window.chunks(2);
            self.per_window = pairs.map(|pair| pair.iter().sum()).collect();
            window = Span::from_micros(window.as_micros() * 2);
            self.window = Some(window);
        }
        let index = (now.as_micros() / window.as_micros()) as usize;
        if index >= self.per_window.len() {
            self.per_window.resize(index + 1, 0);
        }
        self.per_window[index] += 1;
    }

    pub(super) fn undelivered(&mut self) {
        self.undelivered += 1;
    }

    /// All kinds together.
    pub fn total(&self) -> KindTraffic {
        self.total
    }

    /// Each kind by name, in the protocol's order.
    pub fn kinds(&self) -> &[(&'static str, KindTraffic)] {
        &self.kinds
    }

    /// How many messages, or copies of one, came to a node that was down or does not exist.
    pub fn to_nobody(&self) -> u64 {
        self.undelivered
    }

    /// How wide the windows are in which messages are counted, if they are.
    pub fn window(&self) -> Option<Span> {
        self.window
    }

    /// How many messages were sent in each window, if they are counted so.
    pub fn per_window(&self) -> &[u64] {
        &self.per_window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_become_wider_rather_than_too_many() {
        let mut traffic = Traffic::new(&["ping"]);
        traffic.count_per(Span::from_secs(1));
        let most = Traffic::MOST_WINDOWS as u64;
        for second in [0, 1, 2, most - 1, most] {
            traffic.sent(Time::from_secs(second), 0, 1);
        }
        assert_eq!(traffic.window(), Some(Span::from_secs(2)));
        let counts = traffic.per_window();
        assert_eq!((counts[0], counts[1]), (2, 1));
        assert_eq!(counts[counts.len() - 2..], [1, 1]);
        assert_eq!(counts.iter().sum::<u64>(), 5);
    }
}
