//! The system calls of a program and of all that it starts, as small programs in the kernel report
//! them (eBPF on raw tracepoints), with the files that the calls are about. The program never
//! stops.
//!
//! A program at the entry of each call notes arguments and time, one at the exit joins the result
//! and puts a record into one ring. The kernel's table of descriptors says which open file a call
//! is about, so a record names it by the address of the kernel's `struct file`. The first record of
//! each such file is preceded by one with its name, walked up the kernel's tree of names.
//!
//! Requests of io_uring are reported as calls, too ([`RING_READ`]).

pub(crate) mod convention;
mod entry;
mod event;
mod fetches;
mod fields;
mod follow;
mod layout;
mod path;
mod programs;
mod requests;
mod uring;

#[cfg(test)]
mod tests;

pub use event::{Call, Event, Fetch, File, Reaped, Which};
pub use requests::{AIO_READ, AIO_SYNC, AIO_WRITE};

use crate::bpf::{Attached, GrowingRing, KernelTypes, Kind, Map, load};
use crate::seccomp::When;
use fields::{Casts, Fields, RingFields};
use layout::{FIRST_X32, NUMBERS};
use programs::Code;
use seekless_sys::reason;
use std::io;
use std::os::fd::OwnedFd;
pub use uring::{RING_READ, RING_SYNC, RING_WRITE};

// A table takes time to make by the room that it may need at most: some 0.4 ms a million bytes.
const PROCESSES_MAX: u32 = 1 << 14;
/// Live threads that have made a reported call.
const THREADS_MAX: u32 = 1 << 14;
const THREADS_OF_MACHINE_MAX: u32 = 1 << 16;
/// Open files whose names are known to have been reported; others are reported again.
const FILES_MAX: u32 = 1 << 13;
/// Requests of rings that are under way.
const REQUESTS_MAX: u32 = 1 << 15;
/// The number of the first namespace of processes, in which programs in the kernel count.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// When a call is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Moment {
    /// At its exit, with all that is known.
    #[default]
    Exit,
    /// At its entry, and again at its exit. Only at its exit, as [`Moment::Exit`], if no other
    /// thread has the same table of descriptors.
    Both,
    /// At its entry only.
    Entry,
}

/// A call that is reported, and which parts of it. Arguments are numbered from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Its number.
    pub number: u32,
    /// Whether that is a number of the 32-bit calls.
    pub foreign: bool,
    /// With which arguments it is reported, as a filter would decide.
    pub when: When,
    /// When it is reported.
    pub moment: Moment,
    /// Its result is a new descriptor.
    pub opens: bool,
    /// It changes the current directory.
    pub moves: bool,
    /// The argument with a path; for a call that opens, it is reported only if the call fails.
    pub text: Option<usize>,
    /// Arguments with descriptors.
    pub files: [Option<usize>; 2],
    /// Arguments with addresses of words; their content at the exit is reported.
    pub words: [Option<usize>; 2],
    /// Report the position and size of the last of its files, at the exit.
    pub end: bool,
    /// Report its last two arguments too, which are 0 otherwise. They are also reported with words,
    /// with two files, and with an end.
    pub wide: bool,
    /// It hands over requests, as io_submit does. Each is reported by itself, as a call of the
    /// number [`AIO_READ`] or the like, before this one.
    pub submits: bool,
    /// It returns results of such requests, as io_getevents does: they are reported before this
    /// one.
    pub reaps: bool,
}

/// Whose calls are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Calls of the processes that [`CallEvents::follow`] names, and of all that they start.
    Followed,
    /// Calls of all processes of the machine but this one.
    Machine,
}

/// Follows processes.
#[derive(Debug)]
pub struct CallEvents {
    ring: GrowingRing,
    processes: Map,
    lost: Map,
    sees_rings: bool,
    fetches: Result<(), String>,
    direct: bool,
    /// The programs at the exit and at the entry of each call.
    at_calls: [OwnedFd; 2],
    // Their end is the end of the programs.
    attached_to_calls: Vec<Attached>,
    _attached: Vec<Attached>,
    _later: Map,
}

/// The tables that the programs share.
struct Tables {
    rules: Map,
    /// Those that are followed; of the whole machine those that are left out.
    processes: Map,
    /// What is known of each thread, by its numbers: of its call while it is in one.
    threads: Map,
    requests: Map,
    reported: Map,
    lost: Map,
    scratch: Map,
    reported_scratch: Map,
    /// Programs that others go on to.
    later: Map,
}

impl CallEvents {
    /// Loads the programs. Of the scope [`Scope::Followed`] no process is followed yet.
    /// `ring_bytes`, the room for records at most, must be a power of two. With `fetches` it also
    /// reports the pages that come into the page cache for a followed process, where that works
    /// ([`CallEvents::sees_fetches`]).
    ///
    /// # Errors
    /// PermissionDenied without root or CAP_BPF and CAP_PERFMON; Unsupported if this kernel
    /// lacks something; the message says what.
    pub fn load(rules: &[Rule], ring_bytes: u32, scope: Scope, fetches: bool) -> io::Result<Self> {
        let mut events = Self::load_as(true, rules, ring_bytes, scope, fetches)?;
        events.resume()?;
        Ok(events)
    }

    /// As [`CallEvents::load`] and then [`CallEvents::pause`].
    ///
    /// # Errors
    /// As [`CallEvents::load`].
    pub fn load_paused(
        rules: &[Rule],
        ring_bytes: u32,
        scope: Scope,
        fetches: bool,
    ) -> io::Result<Self> {
        Self::load_as(true, rules, ring_bytes, scope, fetches)
    }

    /// Loads programs that are paused. `direct` tries some that load the kernel's fields directly,
    /// without a helper call each.
    fn load_as(
        direct: bool,
        rules: &[Rule],
        ring_bytes: u32,
        scope: Scope,
        fetches: bool,
    ) -> io::Result<Self> {
        in_first_namespace()?;
        let conditions = conditions(rules);
        let tables = Tables::create(rules, &conditions, scope)?;
        let ring = GrowingRing::create(ring_bytes)?;
        let types = KernelTypes::of_this_kernel(&fields::TYPES, fields::CAST).map_err(no_types)?;
        let (fields, of_rings) = (Fields::of(&types)?, RingFields::of(&types));
        if scope == Scope::Machine {
            tables.processes.set(std::process::id(), 1)?;
        }
        let code = Code {
            tables: &tables,
            ring: ring.place(),
            fields: &fields,
            scope,
            conditions: &conditions,
            casts: Casts::of(&types).filter(|_| direct),
        };
        let (code, largest) = code.with_largest()?;
        let direct = code.casts.is_some();
        for (at, program) in [
            (layout::later::ENTRY, code.later_at_entry()),
            (layout::later::EXIT, code.later_at_exit()),
            (layout::later::SUBMIT, code.report_submitted()),
            (layout::later::REAP, code.report_reaped()),
        ] {
            tables.later.set_program(at as u32, &load(&program)?)?;
        }
        tables.later.set_program(layout::later::TELL as u32, &largest.tell)?;
        let rings = of_rings.and_then(|fields| code.follow_rings(&fields).ok());
        let sees_rings = rings.is_some();
        let mut attached = vec![
            Attached::load(&code.at_fork(), c"sched_process_fork")?,
            Attached::load(&code.at_exec(), c"sched_process_exec")?,
            Attached::load(&code.at_end(), c"sched_process_exit")?,
        ];
        let at_calls = [largest.exit, largest.entry];
        attached.extend(rings.into_iter().flatten());
        let fetches = match fetches.then(|| code.follow_fetches()) {
            None => Err("it was not asked for".to_owned()),
            Some(Ok(fetches)) => {
                attached.push(fetches);
                Ok(())
            }
            Some(Err(error)) => Err(reason(&error)),
        };
        let Tables { processes, lost, later, .. } = tables;
        Ok(Self {
            ring,
            processes,
            lost,
            sees_rings,
            fetches,
            direct,
            at_calls,
            attached_to_calls: Vec::new(),
            _attached: attached,
            _later: later,
        })
    }

    /// Looks, in microseconds, whether this process may load programs at all. That they work is
    /// known once they are loaded.
    ///
    /// # Errors
    /// As [`CallEvents::load`].
    pub fn may_load() -> io::Result<()> {
        in_first_namespace()?;
        Map::create(Kind::Growing, 4, 8, 1).map(drop)
    }

    /// Reports no calls until [`CallEvents::resume`], so that they cost the program nothing. Births
    /// and ends, requests of rings and fetches are reported still.
    pub fn pause(&mut self) {
        self.attached_to_calls.clear();
    }

    /// Reports calls again after [`CallEvents::pause`].
    ///
    /// # Errors
    /// There are no more descriptors; calls stay unreported.
    pub fn resume(&mut self) -> io::Result<()> {
        if self.is_paused() {
            self.attached_to_calls = attach_to_calls(&self.at_calls)?;
        }
        Ok(())
    }

    /// Whether calls are unreported, after [`CallEvents::pause`].
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.attached_to_calls.is_empty()
    }

    /// Follows the process and all that it starts from now on; in the scope [`Scope::Machine`]
    /// leaves them out.
    ///
    /// # Errors
    /// There is no memory.
    pub fn follow(&self, pid: i32) -> io::Result<()> {
        self.processes.set(pid as u32, 1)
    }

    /// Follows the process no longer: for one that had ended before [`CallEvents::follow`], so that
    /// its end is not reported.
    pub fn forget(&self, pid: i32) {
        self.processes.remove(pid as u32);
    }

    /// Hands out what has happened, in its order. Returns whether anything has.
    pub fn take(&mut self, mut each: impl FnMut(Event<'_>)) -> bool {
        self.ring.take(|record| {
            if let Some(event) = Event::parse(record) {
                each(event);
            }
        })
    }

    /// How many records had no room.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.get(0).unwrap_or(0)
    }

    /// Whether the programs load the kernel's fields as they are, which Linux 6.2 allows. Else they
    /// call a function for each, and a call takes longer.
    #[must_use]
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// Whether requests of io_uring are reported, too.
    #[must_use]
    pub fn sees_rings(&self) -> bool {
        self.sees_rings
    }

    /// Whether pages that come into the page cache are reported; if not, why.
    ///
    /// # Errors
    /// The reason, for people.
    pub fn sees_fetches(&self) -> Result<(), String> {
        self.fetches.clone()
    }

    /// Whether any followed process lives; in the scope [`Scope::Machine`] always, as this one
    /// does.
    #[must_use]
    pub fn has_any(&self) -> bool {
        self.processes.has_any()
    }
}

/// Programs in the kernel count processes as the first namespace does.
pub(crate) fn in_first_namespace() -> io::Result<()> {
    if std::fs::read_link("/proc/self/ns/pid")?.as_os_str() != FIRST_NAMESPACE {
        return Err(unsupported("this process has a namespace of processes (a container)"));
    }
    Ok(())
}

/// Hangs the programs of calls on their places: that of the exit first, so that each entry has one.
fn attach_to_calls([exit, entry]: &[OwnedFd; 2]) -> io::Result<Vec<Attached>> {
    Ok(vec![Attached::hang(exit, c"sys_exit")?, Attached::hang(entry, c"sys_enter")?])
}

/// Programs that read most fields.
struct Largest {
    entry: OwnedFd,
    exit: OwnedFd,
    tell: OwnedFd,
}

impl Code<'_> {
    /// Loads the largest programs, and finds out by them in which way this kernel lets fields be
    /// read.
    fn with_largest(self) -> io::Result<(Self, Largest)> {
        match self.load_largest() {
            Err(error) if self.casts.is_some() && error.raw_os_error() != Some(libc::EPERM) => {
                let code = Self { casts: None, ..self };
                code.load_largest().map(|loaded| (code, loaded))
            }
            loaded => loaded.map(|loaded| (self, loaded)),
        }
    }

    fn load_largest(&self) -> io::Result<Largest> {
        Ok(Largest {
            entry: load(&self.at_entry())?,
            exit: load(&self.at_exit())?,
            tell: load(&self.report_files())?,
        })
    }

    /// Hangs the programs of io_uring on their places.
    fn follow_rings(&self, fields: &RingFields) -> io::Result<[Attached; 2]> {
        let program = load(&self.later_at_ring_complete())?;
        self.tables.later.set_program(layout::later::RING as u32, &program)?;
        Ok([
            Attached::load(&self.at_ring_complete(fields), c"io_uring_complete")?,
            Attached::load(&self.at_ring_submit(fields), c"io_uring_submit_req")?,
        ])
    }
}

impl Tables {
    fn create(rules: &[Rule], conditions: &[When], scope: Scope) -> io::Result<Self> {
        let threads = match scope {
            Scope::Followed => THREADS_MAX,
            Scope::Machine => THREADS_OF_MACHINE_MAX,
        };
        let tables = Self {
            rules: Map::create(Kind::Array, 4, 8, FIRST_X32 + 1)?,
            processes: Map::create(Kind::Growing, 4, 8, PROCESSES_MAX)?,
            threads: Map::create(Kind::Growing, 8, layout::THREAD_BYTES, threads)?,
            requests: Map::create(Kind::Growing, 8, layout::REQUEST_BYTES, REQUESTS_MAX)?,
            reported: Map::create(Kind::Recent, 8, 8, FILES_MAX)?,
            lost: Map::create(Kind::Array, 4, 8, 1)?,
            scratch: Map::create(Kind::ArrayEach, 4, layout::SCRATCH_BYTES, 1)?,
            reported_scratch: Map::create(Kind::ArrayEach, 4, layout::TOLD_SCRATCH_BYTES, 1)?,
            later: Map::create(Kind::Programs, 4, 4, layout::later::COUNT)?,
        };
        for rule in rules.iter().filter(|rule| rule.number < NUMBERS) {
            let at = rule.number + if rule.foreign { NUMBERS } else { 0 };
            tables.rules.set(at, layout::packed(rule, conditions))?;
        }
        tables.rules.set(FIRST_X32, layout::packed(&layout::X32, &[]))?;
        Ok(tables)
    }
}

/// Those of all rules, each once.
fn conditions(rules: &[Rule]) -> Vec<When> {
    let mut conditions = Vec::new();
    for rule in rules {
        if rule.when != When::Always && !conditions.contains(&rule.when) {
            conditions.push(rule.when);
        }
    }
    conditions
}

pub(crate) fn no_types(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => {
            unsupported("the kernel was built without CONFIG_DEBUG_INFO_BTF")
        }
        _ => error,
    }
}

fn unsupported(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why)
}
