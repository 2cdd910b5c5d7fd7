//! The threads that are followed, by their numbers. Most events are of the thread that the event
//! before was of, and each asks for its thread many times: the last one needs no look-up.

use crate::thread::Thread;
use hashbrown::HashMap;
use std::cell::Cell;

/// No thread has this number.
const NOBODY: i32 = i32::MIN;

/// Threads by number.
#[derive(Debug)]
pub(crate) struct Threads {
    places: HashMap<i32, usize, foldhash::fast::RandomState>,
    slots: Vec<Option<Thread>>,
    free: Vec<usize>,
    /// The thread that was asked for last, and its place.
    last: Cell<(i32, usize)>,
}

impl Default for Threads {
    fn default() -> Self {
        let (slots, free, last) = (Vec::new(), Vec::new(), Cell::new((NOBODY, 0)));
        Self { places: HashMap::default(), slots, free, last }
    }
}

impl Threads {
    fn place(&self, tid: i32) -> Option<usize> {
        let (last, place) = self.last.get();
        if last == tid {
            return Some(place);
        }
        let place = *self.places.get(&tid)?;
        self.last.set((tid, place));
        Some(place)
    }

    pub(crate) fn get(&self, tid: &i32) -> Option<&Thread> {
        self.slots[self.place(*tid)?].as_ref()
    }

    pub(crate) fn get_mut(&mut self, tid: &i32) -> Option<&mut Thread> {
        let place = self.place(*tid)?;
        self.slots[place].as_mut()
    }

    pub(crate) fn contains_key(&self, tid: &i32) -> bool {
        self.place(*tid).is_some()
    }

    /// Adds a thread. Returns the one that had its number.
    pub(crate) fn insert(&mut self, tid: i32, thread: Thread) -> Option<Thread> {
        let former = self.remove(&tid);
        let place = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[place] = Some(thread);
        self.places.insert(tid, place);
        former
    }

    pub(crate) fn remove(&mut self, tid: &i32) -> Option<Thread> {
        let place = self.places.remove(tid)?;
        self.last.set((NOBODY, 0));
        self.free.push(place);
        self.slots[place].take()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &i32> {
        self.places.keys()
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Thread> {
        self.slots.iter().flatten()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&i32, &Thread)> {
        self.places.iter().filter_map(|(tid, place)| Some((tid, self.slots[*place].as_ref()?)))
    }
}

impl FromIterator<(i32, Thread)> for Threads {
    fn from_iter<I: IntoIterator<Item = (i32, Thread)>>(threads: I) -> Self {
        let mut all = Self::default();
        for (tid, thread) in threads {
            all.insert(tid, thread);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_thread_is_forgotten_with_the_thread() {
        let mut threads: Threads = [3, 5].map(|tid| (tid, Thread::new(tid))).into_iter().collect();
        let pid = |threads: &Threads, tid: i32| threads.get(&tid).map(|thread| thread.pid);
        assert_eq!([3, 5, 5, 0].map(|tid| pid(&threads, tid)), [Some(3), Some(5), Some(5), None]);
        assert_eq!(threads.remove(&5).map(|thread| thread.pid), Some(5));
        assert_eq!((pid(&threads, 5), pid(&threads, 3)), (None, Some(3)));
        assert!(threads.insert(7, Thread::new(7)).is_none(), "in the place of the former");
        assert_eq!(threads.insert(3, Thread::new(4)).map(|thread| thread.pid), Some(3));
        assert_eq!([3, 5, 7].map(|tid| pid(&threads, tid)), [Some(4), None, Some(7)]);
        let mut keys: Vec<i32> = threads.iter().map(|(tid, _)| *tid).collect();
        keys.sort_unstable();
        assert_eq!((keys, threads.values().count()), (vec![3, 7], 2));
        threads.get_mut(&7).unwrap().pid = 8;
        assert_eq!(pid(&threads, 7), Some(8));
        threads.clear();
        assert!(threads.is_empty() && !threads.contains_key(&7) && threads.keys().next().is_none());
    }
}
