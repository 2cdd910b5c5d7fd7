//! What processes need of files for the first time, as small programs in the kernel see it: pages
//! that they read or touch, and the names that they look up. What was needed before is not
//! reported, so a program that reads the same pages again and again pays for a look into a table.
//!
//! Pages are seen where the page cache hands them out, so it does not matter by which call they
//! are read, or whether they are mapped. Reads past the page cache are not seen, and bring nothing
//! in. Names are seen at the exits of the calls that have one. A program walks up no tree of names
//! here, as those of [`call_events`](crate::call_events) do: files and directories have their
//! inodes, and the one who asks joins these with names.

mod event;
mod fields;
mod layout;
mod programs;

#[cfg(test)]
mod tests;

pub use event::{Event, FileId, Kind};

use crate::bpf::{Attached, GrowingRing, KernelTypes, Kind as MapKind, Map, load};
use crate::call_events::{in_first_namespace, no_types};
use fields::Fields;
use programs::Code;
use std::io;
use std::os::fd::OwnedFd;

/// The ring becomes at most this large.
const RING_BYTES: u32 = 8 << 20;
const PROCESSES_MAX: u32 = 1 << 12;
/// Blocks of 64 pages that are known to have been reported; others are reported again.
const BLOCKS_MAX: u32 = 1 << 15;

/// A call that names a file, or lists a folder. Arguments are numbered from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Its number, of a 64-bit call.
    pub number: u32,
    /// The argument with the path.
    pub path: Option<usize>,
    /// The argument with the descriptor of the directory from which the path goes, or of that
    /// which is listed. `None`: the current directory.
    pub directory: Option<usize>,
    /// Its result is the file's descriptor.
    pub opens: bool,
    /// It changes the current directory to that with this name.
    pub moves: bool,
}

/// Follows processes.
#[derive(Debug)]
pub struct FirstNeeds {
    ring: GrowingRing,
    processes: Map,
    lost: Map,
    /// The program at the exit of each call, which sees names.
    at_exit: OwnedFd,
    // Their end is the end of the programs.
    attached_to_calls: Option<Attached>,
    _attached: Vec<Attached>,
}

/// The tables that the programs share.
struct Tables {
    rules: Map,
    processes: Map,
    blocks: Map,
    scratch: Map,
    lost: Map,
}

impl FirstNeeds {
    /// Loads the programs. No process is followed yet.
    ///
    /// # Errors
    /// PermissionDenied without root or CAP_BPF and CAP_PERFMON; Unsupported before Linux 6.12, or
    /// if this kernel lacks something else.
    pub fn load(rules: &[Rule]) -> io::Result<Self> {
        in_first_namespace()?;
        let tables = Tables::create(rules)?;
        let ring = GrowingRing::create(RING_BYTES)?;
        let types = KernelTypes::of_this_kernel(&fields::TYPES, fields::CAST).map_err(no_types)?;
        let fields = Fields::of(&types)?;
        let code = Code { tables: &tables, ring: ring.place(), fields: &fields };
        let attached = vec![
            Attached::load(&code.at_fork(), c"sched_process_fork")?,
            Attached::load(&code.at_exec(), c"sched_process_exec")?,
            Attached::load(&code.at_end(), c"sched_process_exit")?,
            Attached::load(&code.at_pages(layout::kinds::READ), c"mm_filemap_get_pages")?,
            Attached::load(&code.at_pages(layout::kinds::WINDOW), c"mm_filemap_map_pages")?,
            Attached::load(&code.at_pages(layout::kinds::FAULT), c"mm_filemap_fault")?,
        ];
        let at_exit = load(&code.at_exit())?;
        let Tables { processes, lost, .. } = tables;
        let attached_to_calls = None;
        let mut needs =
            Self { ring, processes, lost, at_exit, attached_to_calls, _attached: attached };
        needs.resume()?;
        Ok(needs)
    }

    /// Sees no names until [`FirstNeeds::resume`]; pages are seen still. The program at the exits
    /// of calls is most of what all this costs, as every call of the machine takes longer.
    pub fn pause(&mut self) {
        self.attached_to_calls = None;
    }

    /// Sees names again after [`FirstNeeds::pause`].
    ///
    /// # Errors
    /// There are no more descriptors; names stay unseen.
    pub fn resume(&mut self) -> io::Result<()> {
        if self.is_paused() {
            self.attached_to_calls = Some(Attached::hang(&self.at_exit, c"sys_exit")?);
        }
        Ok(())
    }

    /// Whether names are unseen, after [`FirstNeeds::pause`].
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.attached_to_calls.is_none()
    }

    /// Follows the process and all that it starts from now on.
    ///
    /// # Errors
    /// There is no memory.
    pub fn follow(&self, pid: i32) -> io::Result<()> {
        self.processes.set(pid as u32, 1)
    }

    /// Hands out what has happened, in its order. Returns whether anything has.
    pub fn take(&mut self, mut each: impl FnMut(Event<'_>)) -> bool {
        self.ring.take(|record| {
            if let Some(event) = Event::parse(record) {
                each(event);
            }
        })
    }

    /// How many records had no room, and how many processes.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.get(0).unwrap_or(0)
    }

    /// Whether any followed process lives.
    #[must_use]
    pub fn has_any(&self) -> bool {
        self.processes.has_any()
    }

    /// The followed processes that live.
    #[must_use]
    pub fn processes(&self) -> Vec<i32> {
        self.processes.keys().into_iter().map(|pid| pid as i32).collect()
    }
}

impl Tables {
    fn create(rules: &[Rule]) -> io::Result<Self> {
        let tables = Self {
            rules: Map::create(MapKind::Array, 4, 8, layout::NUMBERS)?,
            processes: Map::create(MapKind::Growing, 4, 8, PROCESSES_MAX)?,
            blocks: Map::create(MapKind::Growing, layout::BLOCK_KEY_BYTES, 8, BLOCKS_MAX)?,
            scratch: Map::create(MapKind::ArrayEach, 4, layout::SCRATCH_BYTES, 1)?,
            lost: Map::create(MapKind::Array, 4, 8, 1)?,
        };
        for rule in rules.iter().filter(|rule| rule.number < layout::NUMBERS) {
            tables.rules.set(rule.number, layout::packed(rule))?;
        }
        Ok(tables)
    }
}
