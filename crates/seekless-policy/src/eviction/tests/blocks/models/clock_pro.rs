//! CLOCK-Pro with nothing but searches: one list in the order of the clock, one of the resident
//! cold pages.

use super::Naive;
use crate::eviction::{Id, Request, Use};
use std::collections::HashSet;

#[derive(Clone, Copy, PartialEq)]
struct Page {
    id: Id,
    hot: bool,
    resident: bool,
    referenced: bool,
}

/// Jiang, Chen and Zhang 2005, section 4. The first of `clock` is where the hot hand is, the last
/// is behind it.
pub(in super::super) struct NaiveClockPro {
    m: usize,
    m_cold: usize,
    clock: Vec<Page>,
    /// Resident cold pages, on test or not, the next one for the cold hand first.
    cold: Vec<Page>,
}

impl NaiveClockPro {
    pub(in super::super) fn new(m: usize) -> Self {
        Self { m, m_cold: 1, clock: Vec::new(), cold: Vec::new() }
    }

    fn hot(&self) -> usize {
        self.clock.iter().filter(|page| page.hot).count()
    }

    fn accessed_on_test(&mut self) {
        self.m_cold = (self.m_cold + 1).min(self.m.saturating_sub(1)).max(1);
    }

    /// Ends the test of the page at `at`.
    fn end_test(&mut self, at: usize) {
        let page = self.clock.remove(at);
        let accessed = self.cold.iter().any(|cold| cold.id == page.id && cold.referenced);
        if !accessed {
            self.m_cold = self.m_cold.saturating_sub(1).max(1);
        }
    }

    fn prune(&mut self) {
        while self.hot() > 0 && !self.clock[0].hot {
            self.end_test(0);
        }
    }

    fn hot_hand(&mut self) {
        self.prune();
        while self.clock[0].referenced {
            let page = self.clock.remove(0);
            self.clock.push(Page { referenced: false, ..page });
            self.prune();
        }
        let page = self.clock.remove(0);
        self.cold.push(Page { hot: false, ..page });
        self.prune();
    }

    fn become_hot(&mut self, id: Id) {
        self.clock.retain(|page| page.id != id);
        self.clock.push(Page { id, hot: true, resident: true, referenced: false });
        self.prune();
        while self.hot() > self.m - self.m_cold {
            self.hot_hand();
        }
    }

    fn test_hand(&mut self) {
        while self.clock.iter().filter(|page| !page.resident).count() > self.m {
            let oldest = self.clock.iter().position(|page| !page.hot).unwrap();
            self.end_test(oldest);
        }
    }

    fn cold_hand(&mut self) -> Id {
        loop {
            if self.cold.is_empty() {
                self.hot_hand();
            }
            let page = self.cold.remove(0);
            let on_test = self.clock.iter().position(|other| other.id == page.id);
            match (page.referenced, on_test) {
                (false, Some(at)) => {
                    self.clock[at].resident = false;
                    self.test_hand();
                    return page.id;
                }
                (false, None) => return page.id,
                (true, Some(_)) => {
                    self.accessed_on_test();
                    self.become_hot(page.id);
                }
                (true, None) => {
                    let page = Page { referenced: false, ..page };
                    self.cold.push(page);
                    self.clock.push(page);
                }
            }
        }
    }
}

impl Naive for NaiveClockPro {
    fn request(&mut self, request: &Request, _dirty: &HashSet<Id>) -> (bool, Vec<Id>) {
        let id = request.id;
        let hot = self.clock.iter_mut().find(|page| page.id == id && page.hot);
        let cold = self.cold.iter_mut().find(|page| page.id == id);
        if let Some(page) = hot.or(cold) {
            page.referenced |= request.kind != Use::FirstUse;
            return (true, Vec::new());
        }
        let was_on_test = self.clock.iter().any(|page| page.id == id);
        if was_on_test {
            self.clock.retain(|page| page.id != id);
            self.accessed_on_test();
        }
        let filling = self.hot() + self.cold.len() < self.m;
        let victims = if filling { Vec::new() } else { vec![self.cold_hand()] };
        if was_on_test || (filling && self.hot() < self.m - self.m_cold) {
            self.become_hot(id);
        } else {
            let page = Page { id, hot: false, resident: true, referenced: false };
            self.cold.push(page);
            self.clock.push(page);
        }
        (false, victims)
    }
}
