//! The commonest call that is reported: a read of the descriptor that the last call read, too. It
//! changes no table, and what is behind the descriptor is known, so it needs no look-ups.

use super::Tracer;
use super::leave::{RESTARTED, outcome};
use super::transfer::explicit;
use crate::arch;
use crate::call::Call as Kind;
use crate::descriptions::{DescriptionId, Moment};
use seekless_watch::call_events::{AIO_SYNC, Call, RING_READ, Which};

/// The read that was reported last. Nothing else has happened since.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastRead {
    pid: i32,
    tid: i32,
    descriptor: u64,
    key: u64,
    id: DescriptionId,
}

impl LastRead {
    /// Whether a call of this thread is about the same open file.
    fn is_of(&self, which: Which, call: &Call) -> bool {
        (self.tid, self.pid) == (which.tid, which.pid)
            && (self.descriptor, self.key) == (call.arguments[0], call.files[0])
            && !call.foreign
            && !(RING_READ..=AIO_SYNC).contains(&call.number)
    }
}

impl Tracer {
    /// Notes a whole read if it is like the last. If not, it is to be looked at as any call is.
    pub(super) fn read_again(&mut self, last: LastRead, which: Which, call: &Call) -> bool {
        if !last.is_of(which, call) || !self.live {
            return false;
        }
        let number = u64::from(call.number);
        let kind = self.calls.get_with(arch::NATIVE.audit, number, &call.arguments);
        let (Some(Kind::Read(offset)), Some(reported)) = (kind, &self.reported) else {
            return false;
        };
        let [time_ns, left_ns] = [which.time_ns, call.left_ns].map(|at| reported.elapsed_ns(at));
        if self.sink.is_over(time_ns) || RESTARTED.contains(&call.result) {
            return false;
        }
        (self.now_ns, self.resumed_ns) = (left_ns, time_ns);
        let at = Moment { time_ns, pid: last.pid, tid: last.tid };
        let explicit = explicit(&call.arguments, offset);
        self.read(last.id, explicit, at, outcome(call.result));
        true
    }

    /// What the next call is compared with, after a read of a recorded file.
    pub(super) fn last_read(
        &self,
        which: Which,
        call: &Call,
        id: Option<DescriptionId>,
    ) -> Option<LastRead> {
        let thread = self.threads.get(&which.tid).filter(|thread| thread.pid == which.pid)?;
        let (descriptor, key) = (call.arguments[0], call.files[0]);
        let last = LastRead { pid: thread.pid, tid: which.tid, descriptor, key, id: id? };
        (key != 0 && self.descriptions.is_held(last.id)).then_some(last)
    }
}
