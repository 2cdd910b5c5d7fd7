//! I/Os in flight whose ends are known: they leave in order of time, and of those that end together
//! the one that came first.

use crate::{Io, Nanos};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

#[derive(Clone, Debug, Default)]
pub(crate) struct Completions {
    heap: BinaryHeap<Due>,
    number: u64,
}

#[derive(Clone, Copy, Debug)]
struct Due {
    end: Nanos,
    number: u64,
    io: Io,
}

impl Completions {
    pub(crate) fn push(&mut self, end: Nanos, io: Io) {
        self.heap.push(Due { end, number: self.number, io });
        self.number += 1;
    }

    pub(crate) fn next(&self) -> Option<Nanos> {
        self.heap.peek().map(|due| due.end)
    }

    pub(crate) fn pop_until(&mut self, now: Nanos) -> Option<(Nanos, Io)> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|due| (due.end, due.io))
    }

    /// Hands over all that have ended by `now`.
    pub(crate) fn drain(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        while let Some((end, io)) = self.pop_until(now) {
            done(end, io);
        }
    }
}

impl Ord for Due {
    /// The heap gives its greatest: the one that ends first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.end, other.number).cmp(&(self.end, self.number))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Due {}
