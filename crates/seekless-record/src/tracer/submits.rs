//! Linux's own asynchronous I/O: io_submit hands requests over in blocks of the program's memory
//! (iocb), and io_getevents returns results. The blocks are read when the call begins, since their
//! results may come before it ends.

use super::Tracer;
use super::handed_over::{HandedOver, bytes_of_parts};
use super::rows::Outcome;
use crate::call::{Call, Offset};
use crate::inspect;
use crate::request_key::{Owner, RequestKey};
use seekless_watch::call_events::{Call as Reported, Reaped, Which};
use std::sync::Arc;

const IOCB_BYTES: usize = 64;
const EVENT_BYTES: usize = 32;
/// More requests of one call are not looked at, and counted as lost.
const AT_ONCE_MAX: u64 = 1 << 16;

/// Opcodes of iocbs.
const PREAD: u16 = 0;
const PWRITE: u16 = 1;
const FSYNC: u16 = 2;
const FDSYNC: u16 = 3;
const PREADV: u16 = 7;
const PWRITEV: u16 = 8;

/// Reads memory of the stopped program.
type Read = fn(i32, u64, usize) -> Option<Vec<u8>>;

impl Tracer {
    /// At the entry of io_submit.
    pub(super) fn submits(&mut self, tid: i32, arguments: &[u64; 6]) {
        // Memory that the kernel has not used for this call may have to be fetched first.
        self.note_submitted(tid, arguments, inspect::resident_bytes);
    }

    /// At its exit.
    pub(super) fn submitted(&mut self, tid: i32, arguments: &[u64; 6], outcome: Outcome) {
        let is_noted = self.threads.get(&tid).is_none_or(|thread| !thread.submitted.is_empty());
        let count = outcome.map_or(0, |count| count as usize);
        if !is_noted && count > 0 && self.reported.is_none() {
            let taken = [arguments[0], count as u64, arguments[2], 0, 0, 0];
            self.note_submitted(tid, &taken, inspect::bytes);
        }
        if let Err(error) = outcome
            && let Some(thread) = self.threads.get_mut(&tid)
            && !thread.submitted.is_empty()
        {
            // The error is of the first request; the others were not looked at.
            let first = thread.submitted.remove(0);
            self.taken_over(tid, 0);
            return self.completed_request(first, -i64::from(error), true);
        }
        self.taken_over(tid, count);
    }

    fn note_submitted(&mut self, tid: i32, arguments: &[u64; 6], read: Read) {
        let [_, count, addresses, ..] = *arguments;
        let looked = count.min(AT_ONCE_MAX);
        self.summary.lost += if i64::try_from(count).is_ok() { count - looked } else { 0 };
        let Some(addresses) = read(tid, addresses, 8 * looked as usize) else { return };
        for address in addresses.chunks_exact(8).map(|bytes| word(bytes, 0)) {
            let Some(block) = read(tid, address, IOCB_BYTES) else { return };
            let key = self.key_of_block(tid, address);
            let (call, arguments) = call_of(&block);
            let asked =
                if call.is_some() { asked(&block, |at, bytes| read(tid, at, bytes)) } else { 0 };
            self.end_former_requests(key);
            self.hand_over(tid, HandedOver { key, call, arguments, file: None, asked });
        }
    }

    /// What the request at an address of the thread's memory is known by.
    pub(super) fn key_of_block(&self, tid: i32, address: u64) -> RequestKey {
        let space = self.threads.get(&tid).map_or(0, |thread| Arc::as_ptr(&thread.space).addr());
        (Owner::Space(space), address)
    }

    /// A request of io_submit; the record of the call itself follows.
    pub(super) fn handed_over_reported(&mut self, which: Which, mut call: Reported) {
        const ADDRESS: usize = 4;
        if call.files[0] == 0 {
            call.result = -i64::from(libc::EBADF); // it has no file, and will be refused
        }
        let waits = self.threads.get_mut(&which.tid).and_then(|thread| thread.pending.take());
        if self.begin_reported(which, call).is_some() {
            let pending = self.threads.get_mut(&which.tid).and_then(|thread| thread.pending.take());
            self.end_reported();
            let is_vector = call.words[0] != 0;
            let asked = if is_vector { 0 } else { call.arguments[2] };
            let key = self.key_of_block(which.tid, call.arguments[ADDRESS]);
            self.end_former_requests(key);
            self.note_request(which.tid, key, pending, asked);
        }
        if let Some(thread) = self.threads.get_mut(&which.tid) {
            thread.pending = waits;
        }
    }

    /// What io_getevents returns.
    pub(super) fn reaped_reported(&mut self, which: Which, results: Reaped<'_>) {
        self.at(which);
        for (address, result) in results.iter() {
            let key = self.key_of_block(which.tid, address);
            self.completed_request(key, result, true);
        }
    }

    /// At the exit of io_getevents.
    pub(super) fn reaped(&mut self, tid: i32, arguments: &[u64; 6], outcome: Outcome) {
        let Ok(count @ 1..) = outcome else { return };
        if self.reported.is_some() {
            return; // they were reported one by one
        }
        let Some(events) = inspect::bytes(tid, arguments[3], EVENT_BYTES * count as usize) else {
            self.summary.lost += count;
            return;
        };
        for event in events.chunks_exact(EVENT_BYTES) {
            let key = self.key_of_block(tid, word(event, 8));
            self.completed_request(key, word(event, 16) as i64, true);
        }
    }
}

/// The call that would do what a block asks for; `None` if that moves no bytes of a file.
fn call_of(block: &[u8]) -> (Option<Call>, [u64; 6]) {
    let call = match opcode(block) {
        PREAD | PREADV => Some(Call::Read(Offset::Argument)),
        PWRITE | PWRITEV => Some(Call::Write(Offset::Argument)),
        FSYNC | FDSYNC => Some(Call::Sync),
        _ => None,
    };
    let descriptor = word(block, 16) >> 32;
    (call, [descriptor, word(block, 24), word(block, 32), word(block, 40), 0, 0])
}

/// How many bytes a block asks for.
fn asked(block: &[u8], read: impl Fn(u64, usize) -> Option<Vec<u8>>) -> u64 {
    let [address, count] = [24, 32].map(|at| word(block, at));
    match opcode(block) {
        PREAD | PWRITE => count,
        PREADV | PWRITEV => bytes_of_parts(count, |bytes| read(address, bytes)),
        _ => 0,
    }
}

fn opcode(block: &[u8]) -> u16 {
    word(block, 16) as u16
}

fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|word| word.try_into().ok()).map_or(0, u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(opcode: u16, descriptor: u32, count: u64, offset: u64) -> Vec<u8> {
        let third = u64::from(opcode) | u64::from(descriptor) << 32;
        [5, 0, third, 4096, count, offset, 0, 0].into_iter().flat_map(u64::to_le_bytes).collect()
    }

    #[test]
    fn a_block_is_the_call_that_does_the_same() {
        let read = block(PREAD, 3, 100, 4096);
        let expected = [3, 4096, 100, 4096, 0, 0];
        assert_eq!(call_of(&read), (Some(Call::Read(Offset::Argument)), expected));
        assert_eq!(asked(&read, |_, _| None), 100);
        let poll = block(5, 3, 0, 0);
        assert_eq!(call_of(&poll).0, None);
        let parts = [0_u64, 7, 0, 9].into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>();
        let vector = block(PWRITEV, 3, 2, 0);
        assert_eq!(call_of(&vector).0, Some(Call::Write(Offset::Argument)));
        assert_eq!(
            asked(&vector, |at, bytes| (at == 4096 && bytes == 32).then(|| parts.clone())),
            16
        );
        assert_eq!(call_of(&block(FDSYNC, 3, 0, 0)).0, Some(Call::Sync));
    }
}
