//! The drive's translation layer: on which plane a page lies, where a write goes, and what making
//! room for it takes.
//!
//! Each plane writes into one open block. When its free blocks run out it collects garbage: it
//! takes the block with the fewest valid pages, moves those into its open block, and erases it.

use super::parameters::Shape;
use super::{FlashParameters, Mapping};
use crate::Nanos;

/// Pages of a leaf of the map.
const LEAF: usize = 4096;
/// Not in the map: still where it was at the start, or never written.
const NOWHERE: u32 = u32::MAX;
/// Valid pages of a free block.
const FREE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(super) struct Translation {
    shape: Shape,
    mapping: Mapping,
    pages_per_block: u64,
    /// Pages that held data at the start, the first ones.
    filled: u64,
    /// Where each page lies that was written since, by leaves of pages.
    map: Vec<Option<Box<[u32]>>>,
    /// Valid pages of each block, or `FREE`.
    valid: Vec<u32>,
    /// Which page is in each place of a block that was opened since the start.
    content: Vec<Option<Box<[u32]>>>,
    planes: Vec<Plane>,
    /// Whose turn it is, if pages are mapped in the order in which they are written.
    turn: u64,
    garbage: super::Garbage,
    move_ns: Nanos,
    erase_ns: Nanos,
    moved: u64,
}

#[derive(Clone, Debug)]
struct Plane {
    free: Vec<u32>,
    open: u32,
    /// Places of the open block that are taken.
    taken: u64,
    /// Valid pages of all its blocks.
    valid: u64,
}

impl Translation {
    pub(super) fn new(parameters: &FlashParameters) -> Self {
        let shape = parameters.shape();
        let pages_per_block = u64::from(parameters.pages_per_block);
        let blocks = (shape.planes * shape.blocks) as usize;
        let filled = shape.pages as u128 * u128::from(parameters.filled_percent) / 100;
        let mut made = Translation {
            shape,
            mapping: parameters.mapping,
            pages_per_block,
            filled: filled as u64,
            map: vec![None; (shape.pages as usize).div_ceil(LEAF)],
            valid: vec![FREE; blocks],
            content: vec![None; blocks],
            planes: Vec::with_capacity(shape.planes as usize),
            turn: 0,
            garbage: parameters.garbage,
            move_ns: parameters.read_ns.saturating_add(parameters.program_ns),
            erase_ns: parameters.erase_ns,
            moved: 0,
        };
        (0..shape.planes).for_each(|plane| made.fill(plane));
        made
    }

    /// Adds a plane with the pages that lie on it at the start, and opens a block.
    fn fill(&mut self, plane: u64) {
        let round = self.shape.planes * self.shape.chunk_pages;
        let beyond = (self.filled % round).saturating_sub(plane * self.shape.chunk_pages);
        let pages =
            self.filled / round * self.shape.chunk_pages + beyond.min(self.shape.chunk_pages);
        let first = plane * self.shape.blocks;
        let full = pages.div_ceil(self.pages_per_block);
        for block in 0..full {
            let valid = (pages - block * self.pages_per_block).min(self.pages_per_block);
            self.valid[(first + block) as usize] = valid as u32;
        }
        let free = (first + full..first + self.shape.blocks).rev().map(|block| block as u32);
        self.planes.push(Plane {
            free: free.collect(),
            open: NOWHERE,
            taken: self.pages_per_block,
            valid: pages,
        });
        self.open(plane);
    }

    /// The page of a byte.
    pub(super) fn page(&self, number: u64) -> u64 {
        number % self.shape.pages
    }

    /// The plane on which a page lies. One that was never written is taken to lie where it would
    /// at the start.
    pub(super) fn plane(&self, page: u64) -> usize {
        match self.mapped(page) {
            NOWHERE => self.first_plane(page) as usize,
            place => (u64::from(place) / self.pages_per_block / self.shape.blocks) as usize,
        }
    }

    /// Pages that garbage collection has moved.
    pub(super) fn moved(&self) -> u64 {
        self.moved
    }

    /// Writes a page. Returns the plane that it goes to, and for how long that plane has to make
    /// room first.
    pub(super) fn write(&mut self, page: u64) -> (usize, Nanos) {
        if let Some(old) = self.place(page) {
            let block = u64::from(old) / self.pages_per_block;
            self.valid[block as usize] -= 1;
            self.planes[(block / self.shape.blocks) as usize].valid -= 1;
            // Until it is written again, so that no collection moves the old one.
            self.set(page, NOWHERE - 1);
        }
        let plane = match self.mapping {
            Mapping::Static => self.first_plane(page),
            Mapping::WriteOrder => self.next_plane(),
        };
        let busy = self.make_room(plane);
        self.put(plane, page);
        (plane as usize, busy)
    }

    /// The next plane that has room for one more valid page. On a full drive too a plane takes more
    /// than its share, so that pages go on in the order of writes; half of the room that it can
    /// spare stays for collecting garbage.
    fn next_plane(&mut self) -> u64 {
        let spare = self.shape.blocks - self.shape.visible_blocks - self.garbage.needed_blocks();
        let room = (self.shape.visible_blocks + spare / 2) * self.pages_per_block;
        loop {
            let plane = self.turn;
            self.turn = (plane + 1) % self.shape.planes;
            if self.planes[plane as usize].valid < room {
                return plane;
            }
        }
    }

    /// Sees to a free place in the open block.
    fn make_room(&mut self, plane: u64) -> Nanos {
        let mut busy: Nanos = 0;
        if !self.is_full(plane) {
            return busy;
        }
        if self.free(plane) <= self.garbage.start_blocks as usize {
            while self.free(plane) < self.garbage.stop_blocks as usize + 1 {
                let Some(nanos) = self.collect(plane) else { break };
                busy = busy.saturating_add(nanos);
            }
        }
        if self.is_full(plane) {
            self.open(plane);
        }
        busy
    }

    fn is_full(&self, plane: u64) -> bool {
        self.planes[plane as usize].taken == self.pages_per_block
    }

    fn free(&self, plane: u64) -> usize {
        self.planes[plane as usize].free.len()
    }

    fn open(&mut self, plane: u64) {
        let known = &mut self.planes[plane as usize];
        let block = known.free.pop().expect("a plane keeps a free block; see `check`");
        (known.open, known.taken) = (block, 0);
        self.valid[block as usize] = 0;
        let pages = self.pages_per_block as usize;
        self.content[block as usize].get_or_insert_with(|| vec![0; pages].into());
    }

    /// Empties the block of the plane with the fewest valid pages. `None` if all pages are valid.
    fn collect(&mut self, plane: u64) -> Option<Nanos> {
        let first = plane * self.shape.blocks;
        let open = u64::from(self.planes[plane as usize].open);
        let mut victim = (FREE, 0);
        for block in first..first + self.shape.blocks {
            // Free blocks have more than any.
            if self.valid[block as usize] < victim.0 && (block != open || self.is_full(plane)) {
                victim = (self.valid[block as usize], block);
            }
        }
        let (valid, block) = victim;
        if u64::from(valid) >= self.pages_per_block {
            return None;
        }
        let moved = self.empty(plane, block);
        self.valid[block as usize] = FREE;
        self.planes[plane as usize].free.push(block as u32);
        self.moved += moved;
        Some(self.move_ns.saturating_mul(moved).saturating_add(self.erase_ns))
    }

    /// Moves the valid pages of a block into the open one. Returns how many.
    fn empty(&mut self, plane: u64, block: u64) -> u64 {
        let mut moved = 0;
        for slot in 0..self.pages_per_block {
            let Some(page) = self.content_at(block, slot) else { continue };
            let place = (block * self.pages_per_block + slot) as u32;
            if self.place(page) != Some(place) {
                continue;
            }
            if self.is_full(plane) {
                self.open(plane);
            }
            self.planes[plane as usize].valid -= 1;
            self.put(plane, page);
            moved += 1;
        }
        moved
    }

    /// Puts a page into the next place of the open block.
    fn put(&mut self, plane: u64, page: u64) {
        let known = &mut self.planes[plane as usize];
        let (block, slot) = (known.open as usize, known.taken);
        known.taken += 1;
        known.valid += 1;
        self.valid[block] += 1;
        if let Some(content) = &mut self.content[block] {
            content[slot as usize] = page as u32;
        }
        self.set(page, (block as u64 * self.pages_per_block + slot) as u32);
    }

    /// What was last put into a place of a block.
    fn content_at(&self, block: u64, slot: u64) -> Option<u64> {
        if let Some(content) = &self.content[block as usize] {
            let open = &self.planes[(block / self.shape.blocks) as usize];
            let put = u64::from(open.open) != block || slot < open.taken;
            return put.then(|| u64::from(content[slot as usize]));
        }
        let (plane, within) = (block / self.shape.blocks, block % self.shape.blocks);
        let number = within * self.pages_per_block + slot;
        let chunk = number / self.shape.chunk_pages * self.shape.planes + plane;
        let page = chunk * self.shape.chunk_pages + number % self.shape.chunk_pages;
        (page < self.filled).then_some(page)
    }

    /// Where a page with data lies.
    fn place(&self, page: u64) -> Option<u32> {
        match self.mapped(page) {
            NOWHERE if page < self.filled => Some(self.first_place(page)),
            NOWHERE => None,
            place => Some(place),
        }
    }

    fn first_plane(&self, page: u64) -> u64 {
        page / self.shape.chunk_pages % self.shape.planes
    }

    fn first_place(&self, page: u64) -> u32 {
        let round = self.shape.planes * self.shape.chunk_pages;
        let number = page / round * self.shape.chunk_pages + page % self.shape.chunk_pages;
        let first = self.first_plane(page) * self.shape.blocks * self.pages_per_block;
        (first + number) as u32
    }

    fn mapped(&self, page: u64) -> u32 {
        let leaf = self.map[page as usize / LEAF].as_ref();
        leaf.map_or(NOWHERE, |leaf| leaf[page as usize % LEAF])
    }

    fn set(&mut self, page: u64, place: u32) {
        let leaf = &mut self.map[page as usize / LEAF];
        let leaf = leaf.get_or_insert_with(|| vec![NOWHERE; LEAF].into());
        leaf[page as usize % LEAF] = place;
    }
}

#[cfg(test)]
impl Translation {
    /// Checks every count against the map, for pages that were or were not written.
    pub(super) fn check_whole(&self, written: &[bool]) {
        let mut valid = vec![0u32; self.valid.len()];
        let mut places = std::collections::HashSet::new();
        for (page, &written) in (0..).zip(written) {
            let place = self.place(page);
            assert_eq!(place.is_some(), written, "page {page}");
            let Some(place) = place else { continue };
            assert!(places.insert(place), "two pages at {place}");
            valid[(u64::from(place) / self.pages_per_block) as usize] += 1;
        }
        for (block, &count) in valid.iter().enumerate() {
            let free = self.valid[block] == FREE;
            assert!(if free { count == 0 } else { count == self.valid[block] }, "block {block}");
        }
        let free: usize = self.planes.iter().map(|plane| plane.free.len()).sum();
        assert_eq!(free, self.valid.iter().filter(|&&valid| valid == FREE).count());
        assert!(self.planes.iter().all(|plane| !plane.free.is_empty()));
    }
}
