//! Requests that a program hands over by one call and whose results come later: by io_submit, or
//! through a ring of io_uring. Each is known by its owner and by the number that comes back with
//! its result.

use crate::descriptions::Moment;
use crate::request_key::{Owner, RequestKey};
use crate::thread::Pending;
use hashbrown::HashMap;
use std::collections::VecDeque;

/// A request under way.
#[derive(Debug)]
pub(crate) struct Request {
    /// The call that would do the same; `None` if the request is not recorded.
    pub(crate) pending: Option<Pending>,
    pub(crate) at: Moment,
    /// How many bytes it asks for.
    pub(crate) asked: u64,
    /// Counts all requests, so that they can be put in order.
    serial: u64,
}

impl Request {
    pub(crate) fn new(pending: Option<Pending>, at: Moment, asked: u64) -> Self {
        Self { pending, at, asked, serial: 0 }
    }
}

/// Those under way. Of those with the same key the first to be handed over is the first to end.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    waiting: HashMap<RequestKey, VecDeque<Request>>,
    serial: u64,
}

impl Requests {
    pub(crate) fn add(&mut self, key: RequestKey, request: Request) {
        self.serial += 1;
        let request = Request { serial: self.serial, ..request };
        self.waiting.entry(key).or_default().push_back(request);
    }

    /// The request whose result has come.
    pub(crate) fn take_first(&mut self, key: RequestKey) -> Option<Request> {
        self.take(key, VecDeque::pop_front)
    }

    /// The request that was handed over last.
    pub(crate) fn take_last(&mut self, key: RequestKey) -> Option<Request> {
        self.take(key, VecDeque::pop_back)
    }

    fn take(
        &mut self,
        key: RequestKey,
        which: impl Fn(&mut VecDeque<Request>) -> Option<Request>,
    ) -> Option<Request> {
        let same = self.waiting.get_mut(&key)?;
        let taken = which(same);
        if same.is_empty() {
            self.waiting.remove(&key);
        }
        taken
    }

    /// All of an owner, in the order in which they were handed over.
    pub(crate) fn take_all(&mut self, owner: Owner) -> Vec<Request> {
        let of_owner = self.waiting.extract_if(|key, _| key.0 == owner);
        let mut all: Vec<Request> = of_owner.flat_map(|(_, same)| same).collect();
        all.sort_unstable_by_key(|request| request.serial);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(asked: u64) -> Request {
        Request::new(None, Moment { time_ns: 0, pid: 1, tid: 1 }, asked)
    }

    #[test]
    fn requests_of_one_key_end_in_their_order_and_leftovers_by_age() {
        let mut requests = Requests::default();
        let (here, there) = (Owner::Space(1), Owner::Ring(1));
        for (key, asked) in [((here, 7), 1), ((here, 5), 2), ((here, 7), 3), ((there, 7), 4)] {
            requests.add(key, of(asked));
        }
        assert_eq!(requests.take_first((here, 7)).map(|request| request.asked), Some(1));
        requests.add((here, 7), of(5));
        assert_eq!(requests.take_last((here, 7)).map(|request| request.asked), Some(5));
        assert!(requests.take_first((here, 9)).is_none());
        let left: Vec<u64> = requests.take_all(here).iter().map(|request| request.asked).collect();
        assert_eq!(left, [2, 3]);
        assert_eq!(requests.take_all(there).len(), 1);
    }
}
