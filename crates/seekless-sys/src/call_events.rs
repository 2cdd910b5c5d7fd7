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

mod convention;
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

pub use event::{Call, Event, Fetch, File, Reaped, Which};
pub use requests::{AIO_READ, AIO_SYNC, AIO_WRITE};

use crate::bpf::{Attached, GrowingRing, KernelTypes, Kind, Map, load};
use crate::reason;
use crate::seccomp::When;
use fields::{Casts, Fields, RingFields};
use layout::{FIRST_X32, NUMBERS};
use programs::Code;
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
    // Their end is the end of the programs.
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
    told: Map,
    lost: Map,
    scratch: Map,
    told_scratch: Map,
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
        Self::load_as(true, rules, ring_bytes, scope, fetches)
    }

    /// With `direct` it tries programs that load the kernel's fields directly, without a helper
    /// call each.
    fn load_as(
        direct: bool,
        rules: &[Rule],
        ring_bytes: u32,
        scope: Scope,
        fetches: bool,
    ) -> io::Result<Self> {
        if std::fs::read_link("/proc/self/ns/pid")?.as_os_str() != FIRST_NAMESPACE {
            return Err(unsupported("this process has a namespace of processes (a container)"));
        }
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
            (layout::later::SUBMIT, code.tell_submitted()),
            (layout::later::REAP, code.tell_reaped()),
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
            Attached::hang(&largest.exit, c"sys_exit")?,
            Attached::hang(&largest.entry, c"sys_enter")?,
        ];
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
        let _attached = attached;
        Ok(Self { ring, processes, lost, sees_rings, fetches, direct, _attached, _later: later })
    }

    /// Follows the process and all that it starts from now on; in the scope [`Scope::Machine`]
    /// leaves them out.
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
            tell: load(&self.tell_files())?,
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
            told: Map::create(Kind::Recent, 8, 8, FILES_MAX)?,
            lost: Map::create(Kind::Array, 4, 8, 1)?,
            scratch: Map::create(Kind::ArrayEach, 4, layout::SCRATCH_BYTES, 1)?,
            told_scratch: Map::create(Kind::ArrayEach, 4, layout::TOLD_SCRATCH_BYTES, 1)?,
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

fn no_types(error: io::Error) -> io::Error {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::process::{Command, Stdio};

    /// `None` where the kernel does not allow it, and says so.
    fn loaded(direct: bool, rules: &[Rule], fetches: bool) -> Option<CallEvents> {
        match CallEvents::load_as(direct, rules, 8 << 20, Scope::Followed, fetches) {
            Ok(events) => {
                let may_be_direct = direct && crate::kernel::version() >= Some((6, 2));
                assert_eq!(events.is_direct(), may_be_direct, "refused by the verifier");
                let may_see_rings = crate::kernel::version() >= Some((6, 3));
                assert!(events.sees_rings() || !may_see_rings, "refused by the verifier");
                return Some(events);
            }
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
                eprintln!("skipped: programs in the kernel are for root ({error})");
            }
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                eprintln!("skipped: {error}");
            }
            Err(error) => panic!("{error}"),
        }
        None
    }

    #[test]
    fn what_comes_into_the_cache_for_a_child_is_told_and_nothing_else() {
        use std::os::unix::fs::MetadataExt;
        const PAGES: u64 = 50;
        let Some(mut events) = loaded(true, &[Rule { number: 0, ..Rule::default() }], true) else {
            return;
        };
        if let Err(why) = events.sees_fetches() {
            return eprintln!(
                "skipped: pages that come into the page cache are not reported: {why}"
            );
        }
        let made = || {
            let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
            file.write_all(&[7; PAGES as usize * 4096]).unwrap();
            file.as_file().sync_all().unwrap();
            crate::residency::drop_cached(file.as_fd()).unwrap();
            file
        };
        let (ours, theirs) = (made(), made());
        if crate::residency::resident_bytes(theirs.as_fd()).unwrap() != Some(0) {
            return eprintln!("skipped: the file cannot be dropped from the cache");
        }
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "read line; exec cat \"$0\""]).arg(theirs.path());
        let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        events.follow(child.id() as i32).unwrap();
        std::fs::read(ours.path()).unwrap(); // by us, who are not followed
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
        child.wait().unwrap();
        let inode = |file: &tempfile::NamedTempFile| file.as_file().metadata().unwrap().ino();
        let mut pages: Vec<u64> = Vec::new();
        let pid = child.id() as i32;
        events.take(|event| match event {
            Event::Fetched(which, fetch) if fetch.inode == inode(&theirs) => {
                assert_eq!((which.pid, fetch.call), (pid, Some((0, false))));
                pages.extend(fetch.page..fetch.page + fetch.pages);
            }
            Event::Fetched(_, fetch) => assert_ne!(fetch.inode, inode(&ours)),
            _ => {}
        });
        pages.sort_unstable();
        pages.truncate(PAGES as usize); // a large folio may go past the file's end
        assert_eq!(pages, Vec::from_iter(0..PAGES));
        assert_eq!(events.lost(), 0);
    }

    #[test]
    fn calls_of_a_child_are_told_with_their_files() {
        [true, false].into_iter().for_each(calls_are_told);
    }

    fn calls_are_told(direct: bool) {
        let rules = [
            Rule { number: libc::SYS_openat as u32, opens: true, text: Some(1), ..Rule::default() },
            Rule { number: libc::SYS_read as u32, files: [Some(0), None], ..Rule::default() },
        ];
        let Some(mut events) = loaded(direct, &rules, false) else { return };
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "read line; cat /etc/passwd /no/such > /dev/null 2>&1; true"]);
        let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        events.follow(child.id() as i32).unwrap();
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
        child.wait().unwrap();
        let (mut opened, mut read, mut failed, mut ended) = (0, 0, false, 0);
        events.take(|event| match event {
            Event::File(key, true, file) if file.name == b"/etc/passwd" => {
                assert_eq!(file.bytes, std::fs::metadata("/etc/passwd").unwrap().len());
                opened = key;
            }
            Event::Called(_, call)
                if call.number == libc::SYS_read as u32 && call.files[0] == opened =>
            {
                read += call.result;
            }
            Event::Text(_, path) => failed |= path == b"/no/such",
            Event::Ended(_) => ended += 1,
            _ => {}
        });
        assert!(opened != 0 && read > 0 && failed);
        assert_eq!((ended, events.lost(), events.has_any()), (2, 0, false));
    }

    #[test]
    fn a_ring_that_fills_becomes_larger_and_loses_nothing() {
        let rule = Rule { number: libc::SYS_write as u32, ..Rule::default() };
        let Some(mut events) = loaded(true, &[rule], false) else { return };
        let write = |bytes| format!("dd if=/dev/zero of=/dev/null bs=1 count={bytes} 2> /dev/null");
        let (some, more) = (5_000, 50_000); // the first ring has room for 10,000 calls
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", &format!("read line; {}; echo; read line; {}", write(some), write(more))]);
        let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        events.follow(child.id() as i32).unwrap();
        let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut last = (0, 0);
        let mut calls = 0;
        let shell = child.id() as i32;
        let mut take = |events: &mut CallEvents| {
            events.take(|event| {
                if let Event::Called(which, call) = event {
                    assert!(which.time_ns >= last.0 && call.left_ns >= last.1, "out of order");
                    last = (which.time_ns, call.left_ns);
                    let is_byte = call.arguments[0] == 1 && call.result == 1;
                    calls += u64::from(which.pid != shell && is_byte);
                }
            });
        };
        stdin.write_all(b"go\n").unwrap();
        stdout.read_exact(&mut [0]).unwrap();
        take(&mut events);
        stdin.write_all(b"go\n").unwrap();
        stdout.read_to_end(&mut Vec::new()).unwrap();
        child.wait().unwrap();
        take(&mut events);
        assert_eq!((calls, events.lost()), (some + more, 0));
    }

    /// The events of a shell that runs this, after it has begun.
    fn told_of_a_shell(rules: &[Rule], script: &str, mut each: impl FnMut(Event<'_>)) -> bool {
        let Some(mut events) = loaded(true, rules, false) else { return false };
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &format!("read line; {script}")]);
        let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        events.follow(child.id() as i32).unwrap();
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
        child.wait().unwrap();
        events.take(&mut each);
        assert_eq!(events.lost(), 0);
        true
    }

    #[test]
    fn a_name_of_many_parts_is_told_whole() {
        let deep = tempfile::tempdir().unwrap();
        let folder = (0..30).fold(deep.path().canonicalize().unwrap(), |folder, part| {
            folder.join(format!("part{part}"))
        });
        std::fs::create_dir_all(&folder).unwrap();
        let name = folder.join("file");
        std::fs::write(&name, "text").unwrap();
        let rule = Rule { number: libc::SYS_openat as u32, opens: true, ..Rule::default() };
        let mut names = Vec::new();
        let script = format!("cat {0} {0} > /dev/null", name.display());
        let is_told = told_of_a_shell(&[rule], &script, |event| {
            if let Event::File(_, true, file) = event {
                names.push(file.name);
            }
        });
        let expected = name.into_os_string().into_encoded_bytes();
        let count = names.iter().filter(|name| **name == expected).count();
        assert!(!is_told || count == 2, "{names:?}");
    }

    #[test]
    fn a_call_is_told_only_if_its_arguments_fulfil_the_condition() {
        let number = libc::SYS_openat as u32;
        let when = When::ArgumentWith(2, libc::O_CREAT as u32);
        let rule = Rule { number, when, opens: true, ..Rule::default() };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new");
        let (mut calls, mut others) = (0, 0);
        let script = format!("cat /etc/passwd > {}", file.display());
        let is_told = told_of_a_shell(&[rule], &script, |event| match event {
            Event::Called(_, call) if call.arguments[2] & libc::O_CREAT as u64 != 0 => calls += 1,
            Event::Called(..) => others += 1,
            _ => {}
        });
        assert!(!is_told || (calls, others) == (1, 0), "{calls} {others}");
    }

    #[test]
    fn a_close_is_told_once_where_no_other_thread_has_the_descriptor() {
        let number = libc::SYS_close as u32;
        let rule = Rule { number, moment: Moment::Both, files: [Some(0), None], ..Rule::default() };
        let (mut whole, mut parts, mut unnamed) = (0, 0, 0);
        let is_told =
            told_of_a_shell(&[rule], "cat /etc/passwd > /dev/null; true", |event| match event {
                Event::Called(_, call) => {
                    whole += 1;
                    unnamed += usize::from(call.result == 0 && call.files[0] == 0);
                }
                Event::Entered(..) | Event::Left(..) => parts += 1,
                _ => {}
            });
        assert!(!is_told || whole > 0 && (parts, unnamed) == (0, 0), "{whole} {parts} {unnamed}");
    }
}
