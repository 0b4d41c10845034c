//! Queues to beat, as one would write them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use gridweave_core::time::{Span, Time};

use super::Pending;

/// The standard library's heap, with a sequence number to keep events of the same instant in order.
#[derive(Clone, Debug, Default)]
pub struct Binary {
    heap: BinaryHeap<Reverse<(Time, u64, u32)>>,
    pushed: u64,
}

impl Pending for Binary {
    fn expecting(_: u32, _: Span) -> Self {
        Self::default()
    }
    fn push(&mut self, at: Time, node: u32) {
        self.heap.push(Reverse((at, self.pushed, node)));
        self.pushed += 1;
    }
    fn pop(&mut self) -> Option<(Time, u32)> {
        self.heap.pop().map(|Reverse((at, _, node))| (at, node))
    }
}

/// A heap in which every entry has four children: half as deep as a binary one.
#[derive(Clone, Debug, Default)]
pub struct Quaternary {
    /// Time and sequence in one number, which compares faster than a pair.
    heap: Vec<(u128, u32)>,
    pushed: u64,
}

impl Quaternary {
    /// Puts the entry where it belongs between a place and the root.
    fn sift_up(&mut self, mut index: usize, entry: (u128, u32)) {
        while index > 0 && entry.0 < self.heap[(index - 1) / 4].0 {
            self.heap[index] = self.heap[(index - 1) / 4];
            index = (index - 1) / 4;
        }
        self.heap[index] = entry;
    }

    /// Puts the entry where it belongs below the root, whose own is gone.
    fn sift_down(&mut self, entry: (u128, u32)) {
        let mut place = 0;
        loop {
            let first = 4 * place + 1;
            let least = match self.heap.get(first..first + 4) {
                Some(children) => first + least_of_four(children),
                None => {
                    let children = first..self.heap.len();
                    let Some(least) = children.min_by_key(|&child| self.heap[child].0) else {
                        break;
                    };
                    least
                }
            };
            if entry.0 < self.heap[least].0 {
                break;
            }
            self.heap[place] = self.heap[least];
            place = least;
        }
        self.heap[place] = entry;
    }
}

/// Two comparisons that do not wait for each other, and one more.
fn least_of_four(children: &[(u128, u32)]) -> usize {
    let left = usize::from(children[1].0 < children[0].0);
    let right = 2 + usize::from(children[3].0 < children[2].0);
    if children[right].0 < children[left].0 {
        right
    } else {
        left
    }
}

impl Pending for Quaternary {
    fn expecting(_: u32, _: Span) -> Self {
        Self::default()
    }
    fn push(&mut self, at: Time, node: u32) {
        let key = (u128::from(at.as_micros()) << 64) | u128::from(self.pushed);
        self.pushed += 1;
        self.heap.push((key, node));
        self.sift_up(self.heap.len() - 1, (key, node));
    }
    fn pop(&mut self) -> Option<(Time, u32)> {
        let last = self.heap.pop()?;
        let first = self.heap.first().copied().unwrap_or(last);
        if !self.heap.is_empty() {
            self.sift_down(last);
        }
        Some((Time::from_micros((first.0 >> 64) as u64), first.1))
    }
}

/// A calendar queue after Brown: days of equal length in a ring, each a list sorted from its end.
///
/// It is told in advance how many events there will be and over what time, so it starts with the right days and never
/// adapts.
#[derive(Clone, Debug)]
pub struct Calendar {
    days: Vec<Vec<(Time, u32)>>,
    /// Microseconds in a day, and the day that is looked at: counted from the beginning of time.
    day_length: u64,
    today: u64,
    len: usize,
}

impl Pending for Calendar {
    fn expecting(events: u32, span: Span) -> Self {
        // A year is as long as all but a few of the delays, with about two events in each of its first days.
        let day_length = (2 * span.as_micros() / u64::from(events.max(1))).max(1);
        let year = (8 * span.as_micros() / day_length).next_power_of_two();
        Self {
            days: vec![Vec::new(); year as usize],
            day_length,
            today: 0,
            len: 0,
        }
    }

    fn push(&mut self, at: Time, node: u32) {
        let day = at.as_micros() / self.day_length;
        self.today = self.today.min(day);
        self.len += 1;
        let year = self.days.len();
        let list = &mut self.days[day as usize % year];
        let later = list.iter().take_while(|&&(other, _)| other > at).count();
        list.insert(later, (at, node));
    }

    fn pop(&mut self) -> Option<(Time, u32)> {
        if self.len == 0 {
            return None;
        }
        for day in self.today..self.today + self.days.len() as u64 {
            let year = self.days.len();
            let list = &mut self.days[day as usize % year];
            let due = list
                .last()
                .filter(|(at, _)| at.as_micros() / self.day_length == day);
            if due.is_some() {
                self.today = day;
                self.len -= 1;
                return list.pop();
            }
        }
        // Nothing this year: straight to the day of the earliest.
        let last = |list: &Vec<(Time, u32)>| list.last().map(|&(at, _)| at);
        let earliest = self.days.iter().filter_map(last).min()?;
        self.today = earliest.as_micros() / self.day_length;
        self.pop()
    }
}
