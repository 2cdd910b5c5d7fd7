//! A followed thread: the descriptor table, address space and directory that it shares with others as the kernel's tasks
//! do, and the call that it is in.

use crate::call::Call;
use crate::descriptions::DescriptionId;
use crate::space::Space;
use hashbrown::HashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// What a descriptor is to the recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Something that is not recorded.
    Other,
    /// A file that the user wants left out.
    LeftOut,
    /// A holder of this description.
    File(DescriptionId),
}

/// Descriptors by number. One that is missing is looked up when it is first used, so that descriptors that come by
/// ways of their own (a socket, pidfd_getfd) are found too.
pub(crate) type Table = HashMap<i32, Entry, foldhash::fast::RandomState>;

/// A thread of the recorded program.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) pid: i32,
    pub(crate) files: Rc<RefCell<Table>>,
    pub(crate) space: Rc<RefCell<Space>>,
    /// The current directory, once it was needed.
    pub(crate) directory: Rc<RefCell<Option<Vec<u8>>>>,
    pub(crate) pending: Option<Pending>,
    /// A word of its memory that was changed for the call at hand: address, and what stood there.
    pub(crate) lent: Option<(u64, u64)>,
}

impl Thread {
    /// A process of which nothing is known yet.
    pub(crate) fn new(pid: i32) -> Self {
        Self {
            pid,
            files: Rc::default(),
            space: Rc::default(),
            directory: Rc::default(),
            pending: None,
            lent: None,
        }
    }
}

/// A call between its entry and its exit.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) call: Call,
    pub(crate) arguments: [u64; 6],
    pub(crate) time_ns: u64,
    /// When it was let go on: between, the recorder looked at it.
    pub(crate) resumed_ns: u64,
    /// The path argument, where the call itself overwrites it.
    pub(crate) path: Option<Vec<u8>>,
    /// What it reads from, and what it writes to; held.
    pub(crate) from: Option<DescriptionId>,
    pub(crate) into: Option<DescriptionId>,
    /// Of msync: where in the file it starts.
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

    /// Argument `at` as a descriptor: the kernel looks at its low half only.
    pub(crate) fn descriptor(&self, at: usize) -> i32 {
        self.arguments[at] as i32
    }
}
