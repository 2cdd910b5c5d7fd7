//! Pages by how often they were used: a queue for each frequency, neighbouring frequencies linked, so that counting one
//! more use is O(1). What LFU and LFU-DA share.

use super::Id;
use crate::queues::Queues;

/// No class.
const NONE: u32 = u32::MAX;

/// The pages of one frequency.
#[derive(Clone, Copy, Debug)]
struct Class {
    frequency: u64,
    /// The next lower frequency that has pages.
    below: u32,
    /// The next higher one.
    above: u32,
}

/// Which class of pages came to be, and which ended, when a use was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) created: Option<u32>,
    pub(super) ended: Option<u32>,
}

/// Pages in classes of one frequency each, a class from least to most recently used. 12 bytes an id; 24 a class, of which
/// there are at most as many as pages were resident at once.
#[derive(Clone, Debug)]
pub(super) struct Frequencies {
    queues: Queues,
    classes: Vec<Class>,
    free: Vec<u32>,
    lowest: u32,
}

impl Frequencies {
    pub(super) fn new() -> Self {
        Self { queues: Queues::new(), classes: Vec::new(), free: Vec::new(), lowest: NONE }
    }

    pub(super) fn grow(&mut self, ids: u32) {
        self.queues.grow(ids);
    }

    #[inline]
    pub(super) fn contains(&self, id: Id) -> bool {
        self.queues.queue_of(id).is_some()
    }

    /// How often a resident page was used; 0 if it is not resident.
    #[inline]
    pub(super) fn frequency(&self, id: Id) -> u64 {
        self.queues.queue_of(id).map_or(0, |class| self.classes[class as usize].frequency)
    }

    /// The least recently used page of a class.
    #[inline]
    pub(super) fn oldest(&self, class: u32) -> Option<Id> {
        self.queues.oldest(class)
    }

    /// The least recently used of the least often used.
    #[inline]
    pub(super) fn least(&self) -> Option<Id> {
        if self.lowest == NONE { None } else { self.queues.oldest(self.lowest) }
    }

    /// How many classes there have ever been at once.
    #[inline]
    pub(super) fn class_limit(&self) -> u32 {
        self.classes.len() as u32
    }

    /// A page that was not resident has been used once.
    #[inline]
    pub(super) fn admit(&mut self, id: Id) -> Change {
        let mut change = Change::default();
        let has_class = self.lowest != NONE && self.classes[self.lowest as usize].frequency == 1;
        if !has_class {
            change.created = Some(self.create(1, NONE, self.lowest));
        }
        self.queues.push(self.lowest, id);
        change
    }

    /// A resident page has been used once more. A class of this page alone takes the next frequency as it is, if that is free.
    #[inline]
    pub(super) fn count(&mut self, id: Id) -> Change {
        let Some(class) = self.queues.queue_of(id) else { return Change::default() };
        let Class { frequency, above, .. } = self.classes[class as usize];
        let next = frequency + 1;
        let mut change = Change::default();
        let single = self.queues.is_single(class);
        let to = if above != NONE && self.classes[above as usize].frequency == next {
            above
        } else if single {
            self.classes[class as usize].frequency = next;
            return change;
        } else {
            let created = self.create(next, class, above);
            change.created = Some(created);
            created
        };
        self.queues.move_to(to, id);
        if single {
            self.end(class);
            change.ended = Some(class);
        }
        change
    }

    /// A resident page leaves.
    #[inline]
    pub(super) fn remove(&mut self, id: Id) -> Change {
        let Some(class) = self.queues.queue_of(id) else { return Change::default() };
        self.queues.unlink(id);
        if !self.queues.is_empty(class) {
            return Change::default();
        }
        self.end(class);
        Change { created: None, ended: Some(class) }
    }

    fn create(&mut self, frequency: u64, below: u32, above: u32) -> u32 {
        let class = Class { frequency, below, above };
        let at = match self.free.pop() {
            Some(at) => {
                self.classes[at as usize] = class;
                at
            }
            None => {
                self.classes.push(class);
                self.queues.grow_queues(self.classes.len() as u32);
                self.classes.len() as u32 - 1
            }
        };
        self.link(below, at);
        self.link(at, above);
        at
    }

    fn end(&mut self, class: u32) {
        let Class { below, above, .. } = self.classes[class as usize];
        self.link(below, above);
        self.free.push(class);
    }

    /// Makes two classes neighbours.
    fn link(&mut self, below: u32, above: u32) {
        match below {
            NONE => self.lowest = above,
            _ => self.classes[below as usize].above = above,
        }
        if above != NONE {
            self.classes[above as usize].below = below;
        }
    }
}
