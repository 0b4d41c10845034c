//! What was sent, counted.

use std::ops::AddAssign;

use gridweave_core::time::{Span, Time};
use gridweave_core::wire::Kind;
use serde::{Deserialize, Serialize};

use super::kinds::Kinds;

/// Messages, and what is in them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct KindTraffic {
    /// How many messages were sent.
    pub messages: u64,
    /// How many bytes they have, encoded.
    pub bytes: u64,
    /// How many items they carry: one for each message, unless the protocol says otherwise.
    pub items: u64,
}

impl AddAssign for KindTraffic {
    fn add_assign(&mut self, other: Self) {
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.items += other.items;
    }
}

/// Everything that was sent, by kind; lost messages count, copies made by the network do not.
///
/// What was read back can be looked at; it does not go on counting by kind.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Traffic {
    #[serde(skip)]
    known: Kinds,
    kinds: Vec<(String, KindTraffic)>,
    total: KindTraffic,
    undelivered: u64,
    messages: Option<Windows<u64>>,
    by_kind: Option<Windows<KindTraffic>>,
}

impl Traffic {
    /// The most windows in which messages are counted.
    const MOST_WINDOWS: usize = 1 << 20;

    /// The most windows in which kinds are counted apart.
    const MOST_WINDOWS_OF_KINDS: usize = 1 << 16;

    /// Nothing of these kinds.
    pub fn new(kinds: &'static [Kind]) -> Self {
        let (known, names) = Kinds::new(kinds);
        let names = names.into_iter();
        Self {
            known,
            kinds: names.map(|name| (name, KindTraffic::default())).collect(),
            ..Self::default()
        }
    }

    pub(super) fn count_per(&mut self, window: Span) {
        let kinds = self.kinds.len();
        self.messages = Windows::new(window, 1, Self::MOST_WINDOWS);
        self.by_kind = Windows::new(window, kinds, Self::MOST_WINDOWS_OF_KINDS);
    }

    /// A message with this encoding was sent.
    pub fn sent(&mut self, now: Time, encoding: &[u8], items: u32) {
        let bytes = encoding.len() as u64;
        let sent = KindTraffic {
            messages: 1,
            bytes,
            items: u64::from(items),
        };
        self.total += sent;
        if let Some(windows) = &mut self.messages {
            windows.at(now)[0] += 1;
        }
        if let Some(kind) = self.known.of(encoding) {
            self.kinds[kind].1 += sent;
            if let Some(windows) = &mut self.by_kind {
                windows.at(now)[kind] += sent;
            }
        }
    }

    pub(super) fn undelivered(&mut self) {
        self.undelivered += 1;
    }

    /// All kinds together.
    pub fn total(&self) -> KindTraffic {
        self.total
    }

    /// Each kind by name, in the protocol's order. A message in a message has both names, such as `Commit.Prepare`.
    pub fn kinds(&self) -> &[(String, KindTraffic)] {
        &self.kinds
    }

    /// What was sent of these kinds, together. A kind stands for all messages in it: `Commit` for `Commit.Prepare` and
    /// others.
    pub fn of(&self, kinds: &[&str]) -> KindTraffic {
        let mut sum = KindTraffic::default();
        for (name, traffic) in &self.kinds {
            if is_of(name, kinds) {
                sum += *traffic;
            }
        }
        sum
    }

    /// The same, window by window.
    pub fn of_per_window(&self, kinds: &[&str]) -> Vec<KindTraffic> {
        let counts: Vec<bool> = self
            .kinds
            .iter()
            .map(|(name, _)| is_of(name, kinds))
            .collect();
        let windows = self.kinds_per_window().map(|window| {
            let mut sum = KindTraffic::default();
            for (traffic, _) in window.iter().zip(&counts).filter(|(_, counts)| **counts) {
                sum += *traffic;
            }
            sum
        });
        windows.collect()
    }

    /// How many messages or copies had a receiver that was down or does not exist.
    pub fn to_nobody(&self) -> u64 {
        self.undelivered
    }

    /// How wide the windows are in which messages are counted, if they are: as was asked for, or twice that, four
    /// times, and so on, so that there are at most 2^20.
    pub fn window(&self) -> Option<Span> {
        self.messages.as_ref().map(|windows| windows.width)
    }

    /// How many messages were sent in each window, if they are counted so.
    pub fn per_window(&self) -> &[u64] {
        match &self.messages {
            Some(windows) => &windows.cells,
            None => &[],
        }
    }

    /// How wide the windows of [`kinds_per_window`](Self::kinds_per_window) are: as was asked for, or doubled until
    /// there are at most 2^16.
    pub fn window_of_kinds(&self) -> Option<Span> {
        self.by_kind.as_ref().map(|windows| windows.width)
    }

    /// What was sent of each kind, in the order of [`kinds`](Self::kinds), window by window.
    pub fn kinds_per_window(&self) -> impl ExactSizeIterator<Item = &[KindTraffic]> {
        let cells = self.by_kind.as_ref().map_or(&[][..], |kinds| &kinds.cells);
        cells.chunks_exact(self.kinds.len().max(1))
    }
}

/// Whether a kind is one of these, or a message in one of these.
pub fn is_of(name: &str, kinds: &[&str]) -> bool {
    kinds.iter().any(|kind| {
        let behind = name.strip_prefix(kind);
        behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('.'))
    })
}

/// Counts for windows of equal width. When there would be too many windows, their width doubles.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Windows<T> {
    width: Span,
    /// How many things are counted in each window.
    columns: usize,
    most: usize,
    /// Window after window.
    cells: Vec<T>,
}

impl<T: Copy + Default + AddAssign> Windows<T> {
    /// None have no width, or nothing to count.
    fn new(width: Span, columns: usize, most: usize) -> Option<Self> {
        (!width.is_zero() && columns > 0).then_some(Self {
            width,
            columns,
            most,
            cells: Vec::new(),
        })
    }

    /// The counts of the window that an instant is in.
    fn at(&mut self, now: Time) -> &mut [T] {
        while now.as_micros() / self.width.as_micros() >= self.most as u64 {
            self.double();
        }
        let begin = (now.as_micros() / self.width.as_micros()) as usize * self.columns;
        let end = begin + self.columns;
        if end > self.cells.len() {
            self.cells.resize(end, T::default());
        }
        &mut self.cells[begin..end]
    }

    fn double(&mut self) {
        let pairs = self.cells.chunks(2 * self.columns);
        let mut doubled = Vec::with_capacity(pairs.len() * self.columns);
        for pair in pairs {
            let (first, second) = pair.split_at(self.columns);
            doubled.extend_from_slice(first);
            let joined = doubled.len() - self.columns;
            for (sum, more) in doubled[joined..].iter_mut().zip(second) {
                *sum += *more;
            }
        }
        self.cells = doubled;
        self.width = Span::from_micros(self.width.as_micros() * 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: &[Kind] = &[Kind::new("Ping", 10)];
    const BOTH: &[Kind] = &[Kind::new("Ping", 10), Kind::new("Pong", 10)];

    #[test]
    fn windows_become_wider_rather_than_too_many() {
        let mut traffic = Traffic::new(PING);
        traffic.count_per(Span::from_secs(1));
        let most = Traffic::MOST_WINDOWS as u64;
        for second in [0, 1, 2, most - 1, most] {
            traffic.sent(Time::from_secs(second), &[0], 1);
        }
        assert_eq!(traffic.window(), Some(Span::from_secs(2)));
        let counts = traffic.per_window();
        assert_eq!((counts[0], counts[1]), (2, 1));
        assert_eq!(counts[counts.len() - 2..], [1, 1]);
        assert_eq!(counts.iter().sum::<u64>(), 5);
    }

    #[test]
    fn each_kind_is_counted_in_windows_of_its_own() {
        let mut traffic = Traffic::new(BOTH);
        traffic.count_per(Span::from_secs(1));
        let most = Traffic::MOST_WINDOWS_OF_KINDS as u64;
        for (second, kind, items) in [(0, 0, 5), (1, 0, 6), (1, 1, 7), (most, 1, 8)] {
            traffic.sent(Time::from_secs(second), &[kind; 10], items);
        }
        let count = |messages, items| KindTraffic {
            messages,
            bytes: 10 * messages,
            items,
        };
        let windows: Vec<_> = traffic.kinds_per_window().collect();
        assert_eq!(windows.len() as u64, most / 2 + 1);
        assert_eq!(windows[0], [count(2, 11), count(1, 7)]);
        assert_eq!(windows[windows.len() - 1], [count(0, 0), count(1, 8)]);
        assert_eq!(traffic.window_of_kinds(), Some(Span::from_secs(2)));
        // All kinds together stay as fine as was asked for.
        assert_eq!(traffic.window(), Some(Span::from_secs(1)));
        assert_eq!(traffic.per_window()[..2], [1, 2]);
        assert_eq!(traffic.total(), count(4, 26));
    }

    #[test]
    fn nothing_is_counted_over_time_unless_asked_for() {
        let mut traffic = Traffic::new(PING);
        traffic.count_per(Span::ZERO);
        traffic.sent(Time::ZERO, &[0], 1);
        assert_eq!((traffic.window(), traffic.window_of_kinds()), (None, None));
        assert!(traffic.per_window().is_empty());
        assert_eq!(traffic.kinds_per_window().len(), 0);
    }
}
