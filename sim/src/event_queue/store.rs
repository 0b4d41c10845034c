//! Where the wheel's buckets keep their events: chunks of one store, so that what one bucket gives back another one
//! uses.

use gridweave_core::time::Time;

/// How many events a chunk holds. With fewer, reading a bucket jumps more often; with more, buckets of a few events
/// waste more.
pub(super) const CHUNK: usize = 64;

/// Events in the order in which they were appended, in chunks of a [`Store`]: all full but the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    first: usize,
    last: usize,
    len: usize,
    earliest: Time,
}

impl Chain {
    pub(super) const EMPTY: Self = Self {
        first: 0,
        last: 0,
        len: 0,
        earliest: Time::MAX,
    };

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The earliest time among all that was appended.
    pub(super) const fn earliest(&self) -> Time {
        self.earliest
    }
}

/// The memory of all chains.
#[derive(Clone, Debug)]
pub(super) struct Store<T> {
    /// Chunk after chunk. A slot that no chain uses holds some old event.
    events: Vec<(Time, T)>,
    /// For each chunk the one after it, in its chain or among the free ones.
    next: Vec<Option<usize>>,
    /// The chunk given back last, whose memory is the likeliest to be still in the cache.
    free: Option<usize>,
}

impl<T: Copy> Store<T> {
    pub(super) const fn new() -> Self {
        Self {
            events: Vec::new(),
            next: Vec::new(),
            free: None,
        }
    }

    #[inline]
    pub(super) fn append(&mut self, chain: &mut Chain, event: (Time, T)) {
        let offset = chain.len % CHUNK;
        if offset == 0 {
            self.lengthen(chain, event);
        }
        self.events[chain.last * CHUNK + offset] = event;
        chain.len += 1;
        chain.earliest = chain.earliest.min(event.0);
    }

    /// Moves the chain's first chunk of events to the end of `to`.
    pub(super) fn take_chunk(&mut self, chain: &mut Chain, to: &mut Vec<(Time, T)>) {
        let (chunk, count) = (chain.first, chain.len.min(CHUNK));
        if count == 0 {
            return;
        }
        let start = chunk * CHUNK;
        to.extend_from_slice(&self.events[start..start + count]);
        chain.len -= count;
        if let Some(second) = self.next[chunk] {
            chain.first = second;
        }
        self.next[chunk] = self.free;
        self.free = Some(chunk);
    }

    /// Adds a chunk to the end of a chain whose last one is full.
    #[cold]
    #[inline(never)]
    fn lengthen(&mut self, chain: &mut Chain, filler: (Time, T)) {
        let chunk = self.claim(filler);
        if chain.is_empty() {
            chain.first = chunk;
        } else {
            self.next[chain.last] = Some(chunk);
        }
        chain.last = chunk;
    }

    /// A chunk that no chain uses. A new one is filled with copies of an event, for want of anything else of type `T`.
    fn claim(&mut self, filler: (Time, T)) -> usize {
        if let Some(chunk) = self.free {
            self.free = self.next[chunk];
            self.next[chunk] = None;
            return chunk;
        }
        self.events.resize(self.events.len() + CHUNK, filler);
        self.next.push(None);
        self.next.len() - 1
    }
}
