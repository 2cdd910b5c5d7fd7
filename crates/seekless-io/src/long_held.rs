//! Finds files that a user has held for long: the store released them, many others came since, and
//! the memory is still taken. Most often the program has forgotten the buffer.

use crate::cached::Slots;
use crate::statistics::LONG_HELD_AFTER;
use seekless_policy::eviction::Id;
use std::collections::VecDeque;

/// Files that the store released, the oldest first, and how many had come by then.
#[derive(Default)]
pub(crate) struct LongHeld {
    left: VecDeque<(Id, u64)>,
    come: u64,
}

impl LongHeld {
    /// The store has released a file, or never kept it.
    pub(crate) fn left(&mut self, id: Id) {
        self.left.push_back((id, self.come));
    }

    /// A file has come. Returns one that has been held for long, if there is one; each is returned
    /// once.
    pub(crate) fn came(&mut self, slots: &Slots) -> Option<Id> {
        self.come += 1;
        while let Some(&(id, at)) = self.left.front()
            && at + LONG_HELD_AFTER <= self.come
        {
            self.left.pop_front();
            if slots.is_orphan(id) {
                return Some(id);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Buffer;
    use crate::memory::Memory;

    fn buffer(memory: &Memory) -> Buffer {
        memory.copy_of(b"content", false).unwrap()
    }

    #[test]
    fn what_is_held_while_many_come_is_told_once() {
        let memory = Memory::new(1 << 20, 1 << 20, false).unwrap();
        let (slots, mut held) = (Slots::new(3), LongHeld::default());
        let buffers = [buffer(&memory), buffer(&memory), buffer(&memory)];
        for (id, buffer) in (0..).zip(&buffers) {
            slots.remember(id, buffer);
            held.left(id);
        }
        let [_first, second, third] = buffers;
        drop(second);
        slots.keep(2, third);
        let found: Vec<Id> = (0..3 * LONG_HELD_AFTER).filter_map(|_| held.came(&slots)).collect();
        assert_eq!(found, [0], "the second was dropped, and the third is in the cache again");
    }
}
