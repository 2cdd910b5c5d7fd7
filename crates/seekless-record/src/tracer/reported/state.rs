//! What was reported, as far as it is still needed.

use crate::call::Call as Kind;
use crate::calls;
use crate::descriptions::DescriptionId;
use crate::faults::now_ns;
use crate::inspect::Found;
use crate::tracer::read_again::LastRead;
use hashbrown::HashMap;
use rustix::fs::FileType;
use seekless_watch::call_events::{Call, File};

/// −1 stands for no descriptor, and AT_FDCWD is −100.
const FIRST_OF_RINGS: i32 = -1000;

/// What was reported and is still needed.
#[derive(Default)]
pub(in crate::tracer) struct Reported {
    pub(super) started_ns: u64,
    /// Open files, by their keys.
    pub(super) files: HashMap<u64, File, foldhash::fast::RandomState>,
    /// Which of them have a description.
    pub(super) described: HashMap<u64, DescriptionId, foldhash::fast::RandomState>,
    /// Paths and directories of threads whose call is reported next.
    pub(super) texts: HashMap<i32, Vec<u8>>,
    pub(super) directories: HashMap<i32, Vec<u8>>,
    /// The current call, and its files: descriptor and key.
    pub(super) call: Option<Call>,
    pub(super) keys: [(i32, u64); 2],
    /// The last event, if that was a read and nothing has changed since.
    pub(super) last_read: Option<LastRead>,
    pub(super) rings: Rings,
}

/// Requests of io_uring name their file by a descriptor or by its place in a table of the ring. For
/// us each open file has a descriptor of its own there, below all that a program can have.
#[derive(Default)]
pub(super) struct Rings {
    pub(super) are_reported: bool,
    pub(super) descriptors: HashMap<u64, i32, foldhash::fast::RandomState>,
    pub(super) made: i32,
}

impl Rings {
    pub(super) fn descriptor(&mut self, key: u64) -> i32 {
        *self.descriptors.entry(key).or_insert_with(|| {
            self.made += 1;
            FIRST_OF_RINGS - self.made
        })
    }
}

impl Reported {
    /// Nothing is reported yet; times count from now.
    pub(in crate::tracer) fn from_now() -> Self {
        Self { started_ns: now_ns(), ..Self::default() }
    }

    /// Whether requests of rings are reported by themselves.
    pub(in crate::tracer) fn sees_rings(&self) -> bool {
        self.rings.are_reported
    }

    pub(in crate::tracer) fn has_call(&self) -> bool {
        self.call.is_some()
    }

    /// Whether the current call succeeded though nothing said what it was about.
    pub(in crate::tracer) fn has_been_kept_back(&self) -> bool {
        let bad_address = -i64::from(libc::EFAULT);
        let bad_descriptor = -i64::from(libc::EBADF);
        self.call.is_some_and(|call| ![bad_address, bad_descriptor].contains(&call.result))
    }

    /// Whether a key is of the open file with this inode.
    pub(in crate::tracer) fn is_inode(&self, key: u64, inode: u64) -> bool {
        self.files.get(&key).is_some_and(|file| file.inode == inode)
    }

    pub(super) fn key(&self, fd: i32) -> Option<u64> {
        self.keys.iter().find(|(one, key)| *one == fd && *key != 0).map(|found| found.1)
    }

    pub(in crate::tracer) fn descriptor(&self, fd: i32) -> Option<Found> {
        self.files.get(&self.key(fd)?).map(found)
    }

    pub(in crate::tracer) fn word(&self, kind: Kind, argument: usize) -> Option<u64> {
        let at = calls::reported_of(kind)?.words.iter().position(|it| *it == Some(argument))?;
        Some(self.call?.words[at])
    }

    pub(in crate::tracer) fn take_text(&mut self, tid: i32) -> Option<Vec<u8>> {
        self.texts.remove(&tid)
    }

    pub(in crate::tracer) fn take_directory(&mut self, tid: i32) -> Option<Vec<u8>> {
        self.directories.remove(&tid)
    }

    pub(in crate::tracer) fn end(&self, positioned: bool) -> Option<u64> {
        self.call.map(|call| if positioned { call.bytes } else { call.position })
    }

    pub(in crate::tracer) fn elapsed_ns(&self, time_ns: u64) -> u64 {
        time_ns.saturating_sub(self.started_ns)
    }

    /// Makes a call the current one.
    pub(super) fn begin(&mut self, kind: Kind, call: Call) {
        let rule = calls::reported_of(kind).unwrap_or_default();
        for (at, (fd, key)) in self.keys.iter_mut().enumerate() {
            *key = call.files[at];
            *fd = rule.files[at].map_or(-1, |argument| call.arguments[argument] as i32);
        }
        if rule.opens && call.result >= 0 {
            self.keys[0] = (call.result as i32, call.files[0]);
        }
        self.call = Some(call);
    }

    pub(super) fn end_call(&mut self) {
        self.call = None;
        self.keys = [(-1, 0); 2];
    }
}

/// What `stat` and /proc would say of a file.
pub(super) fn found(file: &File) -> Found {
    Found {
        name: file.name.clone(),
        kind: FileType::from_raw_mode(file.mode),
        bytes: file.bytes,
        device: rustix::fs::makedev(file.device.0, file.device.1),
        inode: file.inode,
        mode: file.mode,
        owner: 0,
    }
}
