//! Which file is mapped at which address of each process.

use super::touched::{FileNo, Place};
use crate::space::{Mapping, Space};
use hashbrown::HashMap;
use seekless_watch::page_faults::{Mapped, fault_around_bytes};
use std::sync::Arc;

/// The addresses that one table of pages covers. A fault maps no page of another table.
const TABLE_BYTES: u64 = 2 << 20;

/// The mappings of each process, by its number. A fork shares them until either changes them.
pub(super) struct Processes {
    spaces: HashMap<u32, Arc<Space<FileNo>>, foldhash::fast::RandomState>,
    around_bytes: u64,
}

impl Default for Processes {
    fn default() -> Self {
        Self { spaces: HashMap::default(), around_bytes: fault_around_bytes() }
    }
}

impl Processes {
    /// A mapping of `file`, or of memory without a file that is recorded, takes the place of what
    /// was there.
    pub(super) fn map(&mut self, pid: u32, mapped: &Mapped, file: Option<FileNo>) {
        let Mapped { address: start, bytes, offset, .. } = *mapped;
        let end = start.saturating_add(bytes);
        let known = self.spaces.get(&pid).is_some_and(|space| space.touches(start, end));
        if file.is_none() && !known {
            return; // most mappings are of memory, and replace no file
        }
        let space = Arc::make_mut(self.spaces.entry(pid).or_default());
        space.unmap(start, end, &mut Vec::new(), &mut Vec::new());
        if let Some(held) = file {
            space.map(Mapping { start, end, held, offset });
        }
    }

    pub(super) fn born(&mut self, pid: u32, parent: u32) {
        if let Some(space) = self.spaces.get(&parent).cloned() {
            self.spaces.insert(pid, space);
        }
    }

    pub(super) fn executed(&mut self, pid: u32) {
        self.spaces.remove(&pid);
    }

    pub(super) fn ended(&mut self, pid: u32) {
        self.spaces.remove(&pid);
    }

    /// What a fault at `address` maps, if a file is mapped there: a window of pages around it. It
    /// begins at a multiple of its size or, if that lies before it, where the mapping begins, and
    /// is as long from there, as far as the mapping and the table of pages go (Linux'
    /// `do_fault_around`).
    pub(super) fn at(&self, pid: u32, address: u64) -> Option<Place> {
        let Mapping { start, end, held, offset } = self.spaces.get(&pid)?.at(address)?;
        let first = (address - address % self.around_bytes).max(start);
        let table_end = (address - address % TABLE_BYTES).saturating_add(TABLE_BYTES);
        let last = first.saturating_add(self.around_bytes).min(end).min(table_end);
        let at = |address| offset + (address - start);
        let (offset, touched) = (at(first), at(address));
        Some(Place { file: held, offset, bytes: last - first, touched })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 4096;

    fn mapped(address: u64, bytes: u64, offset: u64) -> Mapped {
        Mapped { address, bytes, offset, device: 1, inode: 1, name: Vec::new() }
    }

    fn place(file: FileNo, offset: u64, bytes: u64) -> Option<(FileNo, u64, u64)> {
        Some((file, offset, bytes))
    }

    impl Processes {
        fn window(&self, pid: u32, address: u64) -> Option<(FileNo, u64, u64)> {
            let Place { file, offset, bytes, touched } = self.at(pid, address)?;
            assert!((offset..offset + bytes).contains(&touched));
            Some((file, offset, bytes))
        }
    }

    #[test]
    fn a_fault_maps_the_window_around_it_within_the_mapping() {
        let mut processes = Processes { around_bytes: 16 * PAGE, ..Processes::default() };
        processes.map(7, &mapped(0x10_3000, 40 * PAGE, 100 * PAGE), Some(0));
        assert_eq!(processes.window(7, 0x10_3004), place(0, 100 * PAGE, 16 * PAGE));
        assert_eq!(processes.window(7, 0x11_5000), place(0, 113 * PAGE, 16 * PAGE));
        assert_eq!(processes.window(7, 0x12_a000), place(0, 129 * PAGE, 11 * PAGE));
        assert_eq!(processes.window(7, 0x10_2000), None);
        assert_eq!(processes.window(8, 0x10_3004), None);
    }

    #[test]
    fn a_fault_maps_nothing_past_its_table_of_pages() {
        let mut processes = Processes { around_bytes: 16 * PAGE, ..Processes::default() };
        processes.map(7, &mapped(0x1f_c000, 40 * PAGE, 0), Some(0));
        assert_eq!(processes.window(7, 0x1f_d000), place(0, 0, 4 * PAGE));
        assert_eq!(processes.window(7, 0x20_1000), place(0, 4 * PAGE, 16 * PAGE));
    }

    #[test]
    fn a_later_mapping_replaces_an_earlier_one() {
        let mut processes = Processes { around_bytes: PAGE, ..Processes::default() };
        processes.map(7, &mapped(0, 10 * PAGE, 0), Some(0));
        processes.map(7, &mapped(2 * PAGE, PAGE, 50 * PAGE), Some(1));
        processes.map(7, &mapped(4 * PAGE, PAGE, 0), None); // memory without a file
        assert_eq!(processes.window(7, PAGE), place(0, PAGE, PAGE));
        assert_eq!(processes.window(7, 2 * PAGE), place(1, 50 * PAGE, PAGE));
        assert_eq!(processes.window(7, 3 * PAGE), place(0, 3 * PAGE, PAGE));
        assert_eq!(processes.window(7, 4 * PAGE), None);
    }

    #[test]
    fn a_fork_has_its_parents_mappings_until_it_executes_a_program() {
        let mut processes = Processes::default();
        processes.map(7, &mapped(0, PAGE, 0), Some(0));
        processes.born(8, 7);
        processes.map(8, &mapped(PAGE, PAGE, 0), Some(1));
        assert_eq!(processes.window(8, 0), place(0, 0, PAGE));
        assert_eq!(processes.window(7, PAGE), None, "what the child maps is its own");
        processes.ended(7);
        assert_eq!(processes.window(8, 0), place(0, 0, PAGE));
        processes.executed(8);
        assert_eq!(processes.window(8, 0), None);
    }
}
