//! Sizes of objects that change from request to request.

use seekless_policy::eviction::Id;

/// Where an object has another size than at its last request: the request, from 0, and the size.
#[derive(Debug, Default)]
pub(super) struct Changes(Vec<(u32, u64)>);

impl Changes {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The request at `position` has another size. Positions rise, and are below 2^32.
    pub(super) fn push(&mut self, position: usize, bytes: u64) {
        self.0.push((position as u32, bytes));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn sizes(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().map(|&(_, bytes)| bytes)
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        size_of_val(&self.0[..]) as u64
    }

    /// The size that each request for one of `ids` asks for; empty if none changes. `last` has the
    /// size of each object before the first of them, and afterwards that of its last request.
    pub(super) fn of_each(&mut self, ids: &[Id], last: &mut [u64]) -> Vec<u64> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut sizes = Vec::with_capacity(ids.len());
        let mut changes = self.0.drain(..).peekable();
        for (position, &id) in ids.iter().enumerate() {
            if let Some((_, bytes)) = changes.next_if(|&(at, _)| at as usize == position) {
                last[id as usize] = bytes;
            }
            sizes.push(last[id as usize]);
        }
        sizes
    }
}
