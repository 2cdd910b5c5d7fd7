//! Requests between the call that hands them over and the one that shows their results.

use super::Tracer;
use crate::call::Call;
use crate::descriptions::{DescriptionId, Moment};
use crate::request_key::{Owner, RequestKey};
use crate::requests::Request;
use crate::thread::Pending;
use seekless_watch::seccomp::MARK;
use seekless_watch::tracee::Entered;

/// Results that the program takes from its own memory, where no call shows them.
const RESULTS_UNSEEN: &str = "results of requests (their bytes are as asked)";

/// A part of memory in a list of parts (iovec): its address, then its length.
const IOVEC_BYTES: usize = 16;
/// More parts of one request are not added up.
const PARTS_MAX: u64 = 1024;

/// The bytes of a list of `count` parts of memory. `read` gets the list's first bytes, this many.
pub(super) fn bytes_of_parts(count: u64, read: impl FnOnce(usize) -> Option<Vec<u8>>) -> u64 {
    let parts = read(IOVEC_BYTES * count.min(PARTS_MAX) as usize).unwrap_or_default();
    let lengths = parts.chunks_exact(IOVEC_BYTES).filter_map(|part| part.last_chunk().copied());
    lengths.map(u64::from_le_bytes).fold(0, u64::saturating_add)
}

/// A request as the program hands it over: the call that would do the same, and what it is known
/// by.
pub(super) struct HandedOver {
    pub(super) key: RequestKey,
    /// `None` if such requests are not recorded.
    pub(super) call: Option<Call>,
    pub(super) arguments: [u64; 6],
    /// The file, if a ring's own table names it and not the first argument.
    pub(super) file: Option<Option<DescriptionId>>,
    /// How many bytes it asks for.
    pub(super) asked: u64,
}

impl Tracer {
    /// Notes a request of the call that thread `tid` is in.
    pub(super) fn hand_over(&mut self, tid: i32, request: HandedOver) {
        let pending = request.call.and_then(|call| match request.file {
            Some(file) => file.map(|id| self.pending_on(id, call, request.arguments)),
            None => {
                let architecture = crate::arch::NATIVE.audit;
                let arguments = request.arguments;
                self.enter(tid, call, Entered { architecture, number: 0, arguments, mark: MARK })
            }
        });
        self.note_request(tid, request.key, pending, request.asked);
    }

    /// As [`Tracer::hand_over`], once it is known what the request holds.
    pub(super) fn note_request(
        &mut self,
        tid: i32,
        key: RequestKey,
        pending: Option<Pending>,
        asked: u64,
    ) {
        let at = self.moment(tid);
        let time_ns = pending.as_ref().map_or(at.time_ns, |pending| pending.time_ns);
        self.requests.add(key, Request::new(pending, Moment { time_ns, ..at }, asked));
        if let Some(thread) = self.threads.get_mut(&tid) {
            thread.submitted.push(key);
        }
    }

    fn pending_on(&mut self, id: DescriptionId, call: Call, arguments: [u64; 6]) -> Pending {
        let held = Some(self.descriptions.hold(id));
        let pending = Pending::new(call, arguments, self.now_ns);
        match call {
            Call::Write(_) => Pending { into: held, ..pending },
            _ => Pending { from: held, ..pending },
        }
    }

    /// The call that handed requests over has ended: the kernel has taken this many of them. Those
    /// that it has not taken are the program's to hand over again.
    pub(super) fn taken_over(&mut self, tid: i32, count: usize) {
        let submitted =
            self.threads.get_mut(&tid).map(|thread| std::mem::take(&mut thread.submitted));
        for key in submitted.unwrap_or_default().into_iter().skip(count).rev() {
            if let Some(request) = self.requests.take_last(key) {
                self.release_request(request);
            }
        }
    }

    fn release_request(&mut self, request: Request) {
        if let Some(pending) = request.pending {
            pending
                .from
                .into_iter()
                .chain(pending.into)
                .for_each(|id| self.release(id, request.at));
        }
    }

    /// The result of a request has come, or minus the error number. If it `came_now`, its time
    /// says how long it has taken at most.
    pub(super) fn completed_request(&mut self, key: RequestKey, result: i64, came_now: bool) {
        if let Some(request) = self.requests.take_first(key) {
            self.end_request(request, Some(result), came_now);
        }
    }

    /// No result of an owner's requests will be seen any more.
    pub(super) fn end_requests(&mut self, owner: Owner) {
        for request in self.requests.take_all(owner) {
            if request.pending.is_some() {
                self.blind(RESULTS_UNSEEN);
            }
            self.end_request(request, None, false);
        }
    }

    /// A request is handed over with the memory of an earlier one, whose result the program must
    /// have seen.
    pub(super) fn end_former_requests(&mut self, key: RequestKey) {
        while let Some(request) = self.requests.take_first(key) {
            if request.pending.is_some() {
                self.blind(RESULTS_UNSEEN);
            }
            self.end_request(request, None, false);
        }
    }

    fn end_request(&mut self, request: Request, result: Option<i64>, came_now: bool) {
        let Some(pending) = request.pending.as_ref() else { return };
        let result = result.unwrap_or_else(|| i64::try_from(request.asked).unwrap_or(i64::MAX));
        (self.resumed_ns, self.untimed) = (pending.resumed_ns, !came_now);
        self.leave_at(request.at, pending, result);
        self.untimed = false;
        self.release_request(request);
    }
}
