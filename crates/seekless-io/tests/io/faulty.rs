//! An engine whose reads fail where the test wants it.

use seekless_device::Costs;
use seekless_engine::{Completion, Counters, Engine, Read};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;

/// Which reads go wrong.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    None,
    /// The read of this number, counted from 0, fails.
    Nth(usize),
    /// The read of this number brings only half of its bytes.
    ShortNth(usize),
    /// Every read that touches these bytes fails, as for a bad page of the device.
    Bad(Range<u64>),
    /// Every read stops before these bytes, as for a file that was cut.
    Cut(u64),
}

/// Reads at once, in the thread that asks, so that each run makes its reads in the same order.
pub(crate) struct Faulty(Mutex<State>);

struct State {
    fault: Fault,
    reads: usize,
    spoilt: Vec<Range<u64>>,
}

impl Faulty {
    pub(crate) fn new(fault: Fault) -> Self {
        Self(Mutex::new(State { fault, reads: 0, spoilt: Vec::new() }))
    }

    /// Another fault from now on; reads are counted from 0 again.
    pub(crate) fn set(&self, fault: Fault) {
        let mut state = self.0.lock().unwrap();
        (state.fault, state.reads) = (fault, 0);
    }

    /// Reads since the last [`Faulty::set`].
    pub(crate) fn reads(&self) -> usize {
        self.0.lock().unwrap().reads
    }

    /// The reads that went wrong, ever.
    pub(crate) fn spoilt(&self) -> Vec<Range<u64>> {
        self.0.lock().unwrap().spoilt.clone()
    }

    /// Empties [`Faulty::spoilt`].
    #[allow(dead_code, reason = "for tests that count memory")]
    pub(crate) fn forget(&self) {
        self.0.lock().unwrap().spoilt = Vec::new();
    }

    /// How many of the read's bytes come; `Err` fails it.
    fn judge(&self, span: Range<u64>) -> Result<usize, ()> {
        let mut state = self.0.lock().unwrap();
        let number = state.reads;
        state.reads += 1;
        let bytes = span.end - span.start;
        let verdict = match &state.fault {
            Fault::Nth(nth) if *nth == number => Err(()),
            Fault::ShortNth(nth) if *nth == number => Ok(bytes / 2),
            Fault::Bad(bad) if span.start < bad.end && bad.start < span.end => Err(()),
            Fault::Cut(end) => Ok(bytes.min(end.saturating_sub(span.start))),
            _ => Ok(bytes),
        };
        if verdict != Ok(bytes) {
            state.spoilt.push(span);
        }
        verdict.map(|bytes| bytes as usize)
    }
}

impl Engine for Faulty {
    fn submit(&self, reads: Vec<Read>) {
        for Read { file, offset, mut buffer, tag, done } in reads {
            let capacity = buffer.capacity() as u64;
            let result = match self.judge(offset..offset + capacity) {
                Err(()) => Err(io::Error::from_raw_os_error(5)),
                Ok(bytes) => file.read_at(buffer.whole_mut(), offset).map(|read| read.min(bytes)),
            };
            buffer.set_len(*result.as_ref().unwrap_or(&0));
            done.send(Completion { tag, buffer, result, cached: false });
        }
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }

    fn name(&self) -> &'static str {
        "faulty"
    }

    fn costs(&self) -> Costs {
        Costs { request_ns: 100_000, bytes_per_second: 1_000_000_000, depth: 8 }
    }
}
