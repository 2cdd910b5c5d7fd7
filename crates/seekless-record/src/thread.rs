//! A thread that we follow: its current call, and the descriptor table, address space and
//! directory. Threads share these as the kernel's tasks do.

use crate::call::Call;
use crate::descriptions::DescriptionId;
use crate::opening::Opening;
use crate::request_key::RequestKey;
use crate::shared::Shared;
use crate::space::Space;
use hashbrown::HashMap;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// What a descriptor refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A file that is not recorded.
    Other,
    /// A file that `--only` or `--exclude` leaves out.
    LeftOut,
    /// A recorded file; the descriptor holds this description.
    File(DescriptionId),
}

/// Descriptors by number. A missing one is looked up when it is first used. So we also find
/// descriptors that arrive in other ways, such as through a socket or pidfd_getfd.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    entries: HashMap<i32, Entry, foldhash::fast::RandomState>,
    /// Open files whose descriptors were not reported. Each is a holder; the last is the newest.
    pub(crate) unbound: VecDeque<DescriptionId>,
}

impl Table {
    /// Everything that it holds.
    pub(crate) fn into_entries(self) -> impl Iterator<Item = Entry> {
        self.entries.into_values().chain(self.unbound.into_iter().map(Entry::File))
    }
}

impl Deref for Table {
    type Target = HashMap<i32, Entry, foldhash::fast::RandomState>;

    fn deref(&self) -> &Self::Target {
        &self.entries
    }
}

impl DerefMut for Table {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.entries
    }
}

/// A thread of the recorded program.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) pid: i32,
    pub(crate) files: Arc<Shared<Table>>,
    pub(crate) space: Arc<Shared<Space<DescriptionId>>>,
    /// The current directory; `None` until it is needed.
    pub(crate) directory: Arc<Shared<Option<Vec<u8>>>>,
    pub(crate) pending: Option<Pending>,
    /// An open of which we do not know yet what came of it.
    pub(crate) opening: Option<Opening>,
    /// The last call that was notified and went on: its number and arguments.
    pub(crate) answered: Option<(u64, [u64; 6])>,
    /// The requests that its current call hands over.
    pub(crate) submitted: Vec<RequestKey>,
    /// A word of its memory that we changed for the current call: its address and original value.
    pub(crate) lent: Option<(u64, u64)>,
    /// Whether its absolute paths begin elsewhere than the recorder's, as found at this count of
    /// changes.
    pub(crate) is_elsewhere: Option<(u32, bool)>,
}

impl Thread {
    /// A process that we know nothing about yet.
    pub(crate) fn new(pid: i32) -> Self {
        Self {
            pid,
            files: Arc::default(),
            space: Arc::default(),
            directory: Arc::default(),
            pending: None,
            opening: None,
            answered: None,
            submitted: Vec::new(),
            lent: None,
            is_elsewhere: None,
        }
    }

    /// Another thread of the same process.
    pub(crate) fn sibling(&self) -> Self {
        Self {
            pid: self.pid,
            files: Arc::clone(&self.files),
            space: Arc::clone(&self.space),
            directory: Arc::clone(&self.directory),
            pending: None,
            opening: None,
            answered: None,
            submitted: Vec::new(),
            lent: None,
            is_elsewhere: None,
        }
    }
}

/// A call between its entry and its exit.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) call: Call,
    pub(crate) arguments: [u64; 6],
    pub(crate) time_ns: u64,
    /// When the recorder, after a look at the call, let it go on.
    pub(crate) resumed_ns: u64,
    /// The path argument, if the call overwrites it.
    pub(crate) path: Option<Vec<u8>>,
    /// What it reads from and what it writes to. The call is a holder of both.
    pub(crate) from: Option<DescriptionId>,
    pub(crate) into: Option<DescriptionId>,
    /// The offset in the file at which an msync starts.
    pub(crate) offset: Option<u64>,
}

impl Pending {
    pub(crate) fn new(call: Call, arguments: [u64; 6], time_ns: u64) -> Self {
        Self {
            call,
            arguments,
            time_ns,
            resumed_ns: time_ns,
            path: None,
            from: None,
            into: None,
            offset: None,
        }
    }

    /// Argument `at` as a descriptor. The kernel uses the low half only.
    pub(crate) fn descriptor(&self, at: usize) -> i32 {
        self.arguments[at] as i32
    }
}
