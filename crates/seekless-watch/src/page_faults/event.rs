//! What the records of a ring say.

use crate::perf::{LOST, SAMPLE, records, u32_at, u64_at};

/// A record, and when it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds of the monotonic clock; 0 for [`What::Lost`].
    pub time_ns: u64,
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// What happened.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A page was touched that was not mapped.
    Fault {
        /// The address that was touched.
        address: u64,
    },
    /// Something was mapped, or a part of a mapping got other rights.
    Map(Box<Mapped>),
    /// The process was born, with a copy of another's mappings. A new thread is no such event.
    Born {
        /// The process that forked.
        parent: u32,
    },
    /// The process executes another program: all its mappings are gone.
    Executed,
    /// The process ended.
    Ended,
    /// Records for which the ring had no room.
    Lost {
        /// How many.
        records: u64,
    },
}

/// One mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// Its first address.
    pub address: u64,
    /// Its length.
    pub bytes: u64,
    /// The file's offset at the first address.
    pub offset: u64,
    /// The file's device, as `stat` gives it; 0 for memory without a file.
    pub device: u64,
    /// The file's inode number.
    pub inode: u64,
    /// The kernel's name of the file, or of the memory: `[heap]`, `//anon`.
    pub name: Vec<u8>,
}

/// Thread and time, at the end of every record that is no sample.
const TRAILER_BYTES: usize = 16;

const MMAP2: u32 = 10;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;

const MISC_COMM_EXEC: u16 = 1 << 13;

/// Appends the events of `records`, which are whole, to `events`.
pub(super) fn parse(bytes: &[u8], events: &mut Vec<Event>) {
    events.extend(records(bytes).filter_map(|record| event(record.kind, record.misc, record.body)));
}

fn event(kind: u32, misc: u16, body: &[u8]) -> Option<Event> {
    match kind {
        SAMPLE if body.len() >= 24 => {
            let what = What::Fault { address: u64_at(body, 16) };
            Some(Event {
                pid: u32_at(body, 0),
                tid: u32_at(body, 4),
                time_ns: u64_at(body, 8),
                what,
            })
        }
        LOST if body.len() >= 16 => {
            let what = What::Lost { records: u64_at(body, 8) };
            Some(Event { time_ns: 0, pid: 0, tid: 0, what })
        }
        _ => {
            let (body, trailer) = body.split_at_checked(body.len().checked_sub(TRAILER_BYTES)?)?;
            let what = side_event(kind, misc, body)?;
            let (pid, tid) = (u32_at(body, 0), u32_at(body, 4));
            let (pid, tid) =
                if kind == FORK || kind == EXIT { (pid, u32_at(body, 8)) } else { (pid, tid) };
            Some(Event { time_ns: u64_at(trailer, 8), pid, tid, what })
        }
    }
}

/// Mappings and the lives of processes. `body` is without the trailer.
fn side_event(kind: u32, misc: u16, body: &[u8]) -> Option<What> {
    match kind {
        MMAP2 if body.len() >= 64 => Some(What::Map(Box::new(Mapped {
            address: u64_at(body, 8),
            bytes: u64_at(body, 16),
            offset: u64_at(body, 24),
            device: rustix::fs::makedev(u32_at(body, 32), u32_at(body, 36)),
            inode: u64_at(body, 40),
            name: body[64..].split(|byte| *byte == 0).next().unwrap_or_default().to_vec(),
        }))),
        COMM if body.len() >= 8 && misc & MISC_COMM_EXEC != 0 => Some(What::Executed),
        FORK | EXIT if body.len() >= 16 => {
            let (pid, parent, tid) = (u32_at(body, 0), u32_at(body, 4), u32_at(body, 8));
            match kind {
                FORK if pid != parent => Some(What::Born { parent }),
                EXIT if pid == tid => Some(What::Ended),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
#[expect(clippy::host_endian_bytes, reason = "the kernel writes records for this machine")]
mod tests {
    use super::*;
    use crate::perf::HEADER_BYTES;

    fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let bytes = (HEADER_BYTES + body.len()) as u16;
        [&kind.to_ne_bytes()[..], &misc.to_ne_bytes(), &bytes.to_ne_bytes(), body].concat()
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn each_kind_of_record_is_understood() {
        let trailer = words(&[7, 8, 900, 0]);
        let map = words(&[7, 8, 0x1000, 0, 0x2000, 0, 0x3000, 0, 8, 1, 42, 0, 0, 0, 5, 2]);
        let ring = [
            record(SAMPLE, 2, &words(&[7, 8, 500, 0, 0x1234, 0])),
            record(MMAP2, 2, &[&map[..], b"/lib/a.so\0\0\0\0\0\0\0", &trailer].concat()),
            record(
                COMM,
                MISC_COMM_EXEC,
                &[words(&[7, 8]), b"name\0\0\0\0".to_vec(), trailer.clone()].concat(),
            ),
            record(COMM, 0, &[words(&[7, 8]), b"name\0\0\0\0".to_vec(), trailer.clone()].concat()),
            record(FORK, 0, &[words(&[9, 7, 9, 7, 0, 0]), trailer.clone()].concat()),
            record(FORK, 0, &[words(&[7, 7, 10, 7, 0, 0]), trailer.clone()].concat()),
            record(EXIT, 0, &[words(&[9, 7, 9, 7, 0, 0]), trailer.clone()].concat()),
            record(LOST, 0, &[words(&[1, 0, 33, 0]), trailer].concat()),
        ];
        let mut events = Vec::new();
        parse(&ring.concat(), &mut events);
        let mapped = Mapped {
            address: 0x1000,
            bytes: 0x2000,
            offset: 0x3000,
            device: rustix::fs::makedev(8, 1),
            inode: 42,
            name: b"/lib/a.so".to_vec(),
        };
        let event = |time_ns, pid, tid, what| Event { time_ns, pid, tid, what };
        assert_eq!(
            events,
            [
                event(500, 7, 8, What::Fault { address: 0x1234 }),
                event(900, 7, 8, What::Map(Box::new(mapped))),
                event(900, 7, 8, What::Executed),
                event(900, 9, 9, What::Born { parent: 7 }),
                event(900, 9, 9, What::Ended),
                event(0, 0, 0, What::Lost { records: 33 }),
            ]
        );
    }

    #[test]
    fn a_record_that_is_cut_off_is_left_out() {
        let mut events = Vec::new();
        let whole = record(SAMPLE, 2, &words(&[7, 8, 500, 0, 0x1234, 0]));
        for end in 0..whole.len() {
            parse(&whole[..end], &mut events);
        }
        parse(&record(MMAP2, 0, &words(&[1, 2, 3])), &mut events);
        assert_eq!(events, []);
        parse(&words(&[SAMPLE, 0]), &mut events); // a length of 0 must not loop for ever
        assert_eq!(events, []);
    }
}
