//! Eviction by device time: what is cheap to write and to fetch again leaves first.

use super::resident::{Exit, Resident, Rule};
use super::{Id, Needs, Pool, Request, Use};
use crate::arrays::column;
use crate::arrays::heap::IndexedHeap;
use crate::arrays::key_order::KeyOrder;
use crate::arrays::segments::Segments;
use crate::{Error, ErrorKind, Result};
use seekless_device::Costs;

/// Pages that were used lately.
const WORKING: usize = 0;
/// The least recently used pages, among which victims are chosen.
const WINDOW: usize = 1;
/// Share of the cache that the window takes by default.
const SHARE: f64 = 1.0 / 3.0;
/// A group has at most this part of the window.
const GROUPS_IN_WINDOW: u64 = 4;
/// In no group.
const NOWHERE: u32 = u32::MAX;
/// Charges are in this part of the time that one page takes to transfer.
const FRACTION: u64 = 1 << 8;
/// A disk of 13 ms and 45 MB/s, with pages of 4 KiB.
const DISK_REQUEST_PAGES: u64 = 144;

/// Eviction by device time, for Ozen 2018, section 6, which asks that a cache of blocks consider
/// what its device does well. The order by [age and cost](super::Gds) is that of DULO (Jiang, Ding,
/// Chen, Tan and Zhang, "DULO: an effective buffer cache management scheme to exploit both temporal
/// and spatial locality", FAST 2005); writes, and the charges of the device at hand, are ours.
///
/// - **Idea:** the last pages of the LRU order are the *window*. Neighbours in it are a group. A
///   group costs a request to fetch again, and one to write if any of it is dirty, and the transfer
///   of its pages: this time a page says when it leaves. So long runs leave before scattered pages,
///   and clean ones before dirty ones. What stays grows older beside what comes, and leaves in its
///   turn. A group with dirty pages leaves whole, in ascending order: its writes are one.
/// - **Cost per request:** O(log n) for a page that enters or leaves the window.
/// - **Memory:** 34 bytes an id, 16 to 32 a page of the window, 60 a group. No ghosts.
/// - **Shines** where a request costs as much as many pages: disks, volumes with few requests a
///   second. **Fails** where runs are used again and scattered pages are not. Where a request costs
///   no more than a page it is LRU with extra work.
///
/// Charges are those of a disk until [`Eviction::charged_by`](super::Eviction::charged_by) gives
/// others. Needs keys that place neighbours together. Pages only: it refuses weights.
/// [`Use::FirstUse`] promotes nothing. Cost is ignored.
pub type DeviceTime = Resident<DeviceTimeRule>;

/// The rule of [`DeviceTime`].
#[derive(Clone, Debug)]
pub struct DeviceTimeRule {
    capacity: u64,
    /// The window's share of the capacity.
    share: f64,
    charges: Charges,
    /// Pages within which neighbours are one group.
    group_pages: u64,
    lists: Segments<2, 2>,
    dirty: Vec<bool>,
    /// The pages of the window by key.
    order: KeyOrder,
    /// The group of each page of the window.
    group_of: Vec<u32>,
    groups: Vec<Group>,
    free: Vec<u32>,
    /// Groups by what they are worth; of equal ones the first by key leaves.
    queue: IndexedHeap<(u64, u64)>,
    /// The age of the last victim.
    age: u64,
    /// The group that is leaving.
    leaving: Option<u32>,
}

/// What the device charges.
#[derive(Clone, Copy, Debug)]
struct Charges {
    /// For a request that somebody waits for, in pages.
    fetch: u64,
    /// For a write, which the program does not wait for: several are served at once.
    write: u64,
}

/// Neighbours in the window.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Its pages have keys from this times a group's pages on.
    number: u64,
    /// Its first page by key.
    first: Id,
    pages: u32,
    dirty: u32,
    /// The age of the last victim when its last page entered the window.
    since: u64,
}

impl DeviceTime {
    /// A window of another share of the cache, 0 (LRU) to 1 (recency counts by age alone).
    ///
    /// # Errors
    /// The share is not from 0 to 1.
    pub fn with_window(capacity: u64, share: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&share) {
            let message = format!("a window can be a share of 0 to 1 of the cache, not {share}");
            return Err(Error::new(ErrorKind::BadParameter, message));
        }
        Ok(Self::with_rule(capacity, DeviceTimeRule { share, ..DeviceTimeRule::default() }))
    }
}

impl Charges {
    fn of(costs: &Costs, page_bytes: u64) -> Self {
        let request = (costs.gap_bytes() / page_bytes.max(1)).clamp(1, 1 << 16);
        let write = (request / u64::from(costs.depth.max(1))).max(1);
        Self { fetch: request, write }
    }

    /// Device time for each page of a group.
    fn of_each(&self, group: &Group) -> u64 {
        let write = if group.dirty > 0 { self.write } else { 0 };
        let pages = u64::from(group.pages).max(1);
        FRACTION * (self.fetch + write + pages + u64::from(group.dirty)) / pages
    }
}

impl Default for DeviceTimeRule {
    fn default() -> Self {
        Self {
            capacity: 0,
            share: SHARE,
            charges: Charges { fetch: DISK_REQUEST_PAGES, write: DISK_REQUEST_PAGES },
            group_pages: 1,
            lists: Segments::new(),
            dirty: Vec::new(),
            order: KeyOrder::new(),
            group_of: Vec::new(),
            groups: Vec::new(),
            free: Vec::new(),
            queue: IndexedHeap::new(),
            age: 0,
            leaving: None,
        }
    }
}

impl DeviceTimeRule {
    fn window(&self) -> u64 {
        (self.capacity as f64 * self.share) as u64
    }

    /// Sets how many pages a group has, unless there are groups already.
    fn set_group_pages(&mut self) {
        if self.queue.root().is_none() {
            let most = (self.window() / GROUPS_IN_WINDOW).max(1);
            self.group_pages = self.charges.fetch.next_power_of_two().min(most);
        }
    }

    /// Puts a page that is in no list at the front of the whole order.
    fn use_now(&mut self, request: &Request) {
        self.dirty[request.id as usize] |= request.kind == Use::Write;
        self.lists.push(WORKING, request.id, 1);
        self.fill_window();
    }

    /// Moves the last pages of the order into the window, until it has its share of the capacity.
    fn fill_window(&mut self) {
        while self.lists.size(WINDOW) < self.window() {
            let Some(oldest) = self.lists.back(WORKING) else { return };
            self.lists.move_to(WINDOW, oldest);
            self.join(oldest);
        }
    }

    /// Adds a page to its group, or to one of its own.
    fn join(&mut self, id: Id) {
        let key = self.order.key(id);
        let number = key / self.group_pages;
        self.order.insert(id, key);
        let group_of = |page: Id| self.group_of[page as usize];
        let same = |&page: &Id| self.groups[group_of(page) as usize].number == number;
        let before = self.order.before(id).filter(same).map(group_of);
        let after = self.order.after(id).filter(same).map(group_of);
        let fresh = Group { number, first: id, ..Group::default() };
        let group = match (before.or(after), self.free.pop()) {
            (Some(group), free) => {
                self.free.extend(free);
                group
            }
            (None, Some(free)) => {
                self.groups[free as usize] = fresh;
                free
            }
            (None, None) => {
                self.groups.push(fresh);
                (self.groups.len() - 1) as u32
            }
        };
        self.group_of[id as usize] = group;
        let (age, is_dirty) = (self.age, self.dirty[id as usize]);
        let joined = &mut self.groups[group as usize];
        if before.is_none() {
            joined.first = id;
        }
        joined.pages += 1;
        joined.dirty += u32::from(is_dirty);
        joined.since = age;
        self.requeue(group);
    }

    /// Takes a page out of its group.
    fn part(&mut self, id: Id) {
        let group = std::mem::replace(&mut self.group_of[id as usize], NOWHERE);
        let next = self.order.after(id);
        self.order.remove(id);
        let parted = &mut self.groups[group as usize];
        parted.pages -= 1;
        parted.dirty -= u32::from(self.dirty[id as usize]);
        if let Some(next) = next.filter(|_| parted.first == id) {
            parted.first = next; // of this group, if it has any page left
        }
        self.requeue(group);
    }

    fn requeue(&mut self, group: u32) {
        let members = &self.groups[group as usize];
        if members.pages == 0 {
            self.queue.remove(group);
            self.free.push(group);
            self.leaving = self.leaving.filter(|&leaving| leaving != group);
            return;
        }
        let worth = (members.since + self.charges.of_each(members), members.number);
        match self.queue.contains(group) {
            true => self.queue.change(group, worth),
            false => self.queue.push(group, worth),
        }
    }

    fn remove_from_list(&mut self, id: Id) {
        if self.lists.remove(id) == Some(WINDOW) {
            self.part(id);
        }
    }
}

impl Rule for DeviceTimeRule {
    const NEEDS: Needs = Needs { state: true, neighbours: true, unit_weights: true, ..Needs::NONE };

    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.dirty, ids, false);
        column::grow(&mut self.group_of, ids, NOWHERE);
        self.lists.grow(ids);
        self.order.grow(ids);
        self.queue.grow(ids);
    }

    fn contains(&self, id: Id) -> bool {
        self.lists.list_of(id).is_some()
    }

    fn hit(&mut self, request: &Request) {
        self.remove_from_list(request.id);
        self.use_now(request);
    }

    fn enter(&mut self, request: &Request) {
        self.dirty[request.id as usize] = false;
        self.order.note(request.id, request.key);
        self.use_now(request);
    }

    /// The first page of the group that is leaving, else of the one that costs least. Without a
    /// window: the last page of all.
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        if self.leaving.is_none()
            && let Some(((worth, _), group)) = self.queue.root()
        {
            self.age = self.age.max(worth);
            self.leaving = Some(group);
        }
        let first = self.leaving.map(|group| self.groups[group as usize].first);
        first.or_else(|| self.lists.back(WORKING))
    }

    fn leave(&mut self, id: Id) {
        self.remove_from_list(id);
    }

    /// One page; of a group with dirty pages all.
    fn evict_for_room<P: Pool + ?Sized>(&mut self, exit: &mut Exit<'_, P>) -> bool {
        let Some(first) = self.victim(exit.pool()) else { return false };
        let whole = self.leaving.filter(|&group| self.groups[group as usize].dirty > 0);
        exit.evict(self, first);
        while let Some(group) = whole.filter(|_| self.leaving == whole) {
            exit.evict(self, self.groups[group as usize].first);
        }
        true
    }

    fn resize(&mut self, capacity: u64) {
        self.capacity = capacity;
        self.set_group_pages();
        self.fill_window();
    }

    fn cleaned(&mut self, id: Id) {
        let was_dirty = std::mem::take(&mut self.dirty[id as usize]);
        let group = self.group_of[id as usize];
        if was_dirty && group != NOWHERE {
            self.groups[group as usize].dirty -= 1;
            self.requeue(group);
        }
    }

    fn charged_by(&mut self, costs: &Costs, page_bytes: u64) {
        self.charges = Charges::of(costs, page_bytes);
        self.set_group_pages();
    }
}
