//! The life of threads and processes: they start, execute programs, and end.

use super::Tracer;
use super::rows::row;
use crate::arch::Registers;
use crate::descriptions::DescriptionId;
use crate::inspect;
use crate::recorded::Status;
use crate::request_key::Owner;
use crate::shared::Shared;
use crate::space::Space;
use crate::thread::{Entry, Table, Thread};
use nix::sys::ptrace;
use nix::unistd::Pid;
use rustix::io::Errno;
use rustix::thread::{NanosleepRelativeResult, Timespec};
use seekless_trace::{Access, Op};
use seekless_watch::page_faults::mapped_now;
use seekless_watch::tracee::{self, Stop};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// How often we only yield while we wait for a parent's event. It mostly follows the child's first
/// stop within microseconds.
pub(super) const SHORT_PAUSES: u32 = 32;
/// After this time we follow a child without its parent's event, and look up anew what it would
/// share with the parent.
const PATIENCE_NS: u64 = 500_000_000;

/// The flags of pthread_create, which we assume if the flags cannot be read.
const THREAD_FLAGS: u64 =
    (libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_FILES | libc::CLONE_THREAD) as u64;

impl Tracer {
    /// Handles a PTRACE_EVENT stop of a known thread.
    pub(super) fn happened(&mut self, tid: i32, event: i32) {
        let Ok(message) = ptrace::getevent(Pid::from_raw(tid)) else { return }; // killed meanwhile
        self.settle(tid);
        match event {
            libc::PTRACE_EVENT_EXEC => {
                self.executed(tid, message as i32);
                self.look_at_program(tid);
            }
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
                self.give_back(tid);
                let flags = Registers::of(tid)
                    .ok()
                    .and_then(|registers| {
                        registers.clone_flags(|address| inspect::word(tid, address))
                    })
                    .unwrap_or(if event == libc::PTRACE_EVENT_CLONE { THREAD_FLAGS } else { 0 });
                self.born(tid, message as i32, flags);
            }
            libc::PTRACE_EVENT_EXIT => {
                self.look_at_all(tid); // its files are still open
                self.close_rings(tid);
            }
            _ => {}
        }
    }

    /// The kernel has mapped the program and its loader, without a call.
    fn look_at_program(&mut self, tid: i32) {
        let at = self.moment(tid);
        let Some(arrivals) = &mut self.arrivals else { return };
        for mapped in mapped_now(tid).unwrap_or_default() {
            if !self.settings.names_file(&mapped.name) {
                continue;
            }
            let Ok(about) = std::fs::symlink_metadata(OsStr::from_bytes(&mapped.name)) else {
                continue;
            };
            let file_bytes = about.is_file().then_some(about.len());
            let (device, inode) = (Some(about.dev()), Some(about.ino()));
            let map = row(Op::Map, self.sink.file(&mapped.name), at);
            arrivals.mapped(&mapped.name, Access { file_bytes, device, inode, ..map });
        }
    }

    fn born(&mut self, maker: i32, tid: i32, flags: u64) {
        if self.threads.contains_key(&tid) || !tracee::is_followed(tid) {
            return; // adopted as an orphan, or its end has been waited for already
        }
        self.made(maker, tid, flags);
    }

    /// The thread `maker` has made another, which shares with it what the `flags` of clone say.
    pub(super) fn made(&mut self, maker: i32, tid: i32, flags: u64) {
        let Some(maker) = self.threads.get(&maker) else { return };
        let shares = |flag: i32| flags & flag as u64 != 0;
        let pid = if shares(libc::CLONE_THREAD) { maker.pid } else { tid };
        let (files, space, directory) =
            (Arc::clone(&maker.files), Arc::clone(&maker.space), Arc::clone(&maker.directory));
        let thread = Thread {
            pid,
            files: if shares(libc::CLONE_FILES) { files } else { self.copy_of_files(&files) },
            space: if shares(libc::CLONE_VM) { space } else { self.copy_of_space(&space) },
            directory: if shares(libc::CLONE_FS) { directory } else { copy(&directory) },
            ..Thread::new(pid)
        };
        self.adopt(tid, thread);
    }

    pub(super) fn adopt(&mut self, tid: i32, thread: Thread) {
        self.summary.processes += u64::from(thread.pid == tid);
        self.threads.insert(tid, thread);
        if let Some((stop, _)) = self.early.remove(&tid) {
            self.stopped(tid, stop);
        }
    }

    /// Handles an exec. `former` is the thread that called it. It has the number of the process
    /// now, and all other threads are gone.
    pub(super) fn executed(&mut self, tid: i32, former: i32) {
        let knows_descriptors = !self.live || !self.sees_files_only();
        self.executed_with(
            tid,
            former,
            knows_descriptors.then(|| inspect::descriptors(tid)).flatten(),
        );
    }

    /// As [`Tracer::executed`], with the descriptors that are `open` now, if that is known.
    pub(super) fn executed_with(&mut self, tid: i32, former: i32, open: Option<Vec<i32>>) {
        self.settle(former);
        let Some(mut thread) = self.threads.remove(&former) else { return };
        if former != tid {
            self.forget(tid);
        }
        thread.pid = tid;
        self.end_rings(tid);
        if Arc::strong_count(&thread.files) > 1 {
            thread.files = self.copy_of_files(&thread.files);
        }
        let space = std::mem::take(&mut thread.space);
        let files = Arc::clone(&thread.files);
        self.threads.insert(tid, thread);
        self.leave_space(space, tid);
        if let Some(open) = &open {
            self.keep_only(tid, &files, open);
        }
        if !self.live && tid == self.main {
            self.live = true;
            let barred = |pid: i32| inspect::is_barred_from_privileges(pid);
            self.deprives = barred(tid) && !barred(std::process::id() as i32);
            for fd in open.unwrap_or_default() {
                self.follow(tid, fd); // the files that it was started with
            }
        }
        self.note_deprived(tid);
    }

    /// Counts a program whose file gives privileges (setuid, setgid, capabilities) that it does not
    /// get here.
    fn note_deprived(&mut self, tid: i32) {
        if !self.deprives {
            return;
        }
        if let Some(name) = inspect::withheld(tid, &mut self.mounts) {
            *self.summary.deprived.entry(seekless_trace::escape_path(&name)).or_default() += 1;
        }
    }

    /// Removes descriptors that are not in `open`: close-on-exec has closed them.
    fn keep_only(&mut self, tid: i32, files: &Shared<Table>, open: &[i32]) {
        let closed: Vec<Entry> = files
            .borrow_mut()
            .extract_if(|fd, _| !open.contains(fd))
            .map(|(_, entry)| entry)
            .collect();
        self.release_entries(closed, tid);
    }

    /// Handles the end of a thread. After the program's own end its number may belong to another
    /// process.
    pub(super) fn ended(&mut self, tid: i32, status: Status) {
        if tid == self.main && self.status.is_none() {
            self.status = Some(status);
            if let Some(forwarding) = &self.forwarding {
                forwarding.program_ended();
            }
        }
        self.early.remove(&tid);
        self.forget(tid);
    }

    /// Releases all that only this thread still held.
    pub(super) fn forget(&mut self, tid: i32) {
        self.settle(tid);
        let at = self.moment(tid);
        let Some(thread) = self.threads.remove(&tid) else { return };
        if !self.threads.values().any(|other| other.pid == thread.pid) {
            self.end_rings(thread.pid);
        }
        if let Some(pending) = thread.pending {
            pending.from.into_iter().chain(pending.into).for_each(|id| self.release(id, at));
        }
        if let Some(files) = Arc::into_inner(thread.files) {
            self.release_entries(files.into_inner().into_entries(), tid);
        }
        self.leave_space(thread.space, tid);
    }

    fn leave_space(&mut self, space: Arc<Shared<Space<DescriptionId>>>, tid: i32) {
        let at = self.moment(tid);
        let owner = Owner::Space(Arc::as_ptr(&space).addr());
        if let Some(space) = Arc::into_inner(space) {
            self.end_requests(owner);
            space.into_inner().held().for_each(|id| self.release(id, at));
        }
    }

    /// The next stop or end of any thread.
    pub(super) fn next_stop(&mut self) -> io::Result<(i32, Stop)> {
        let mut pauses = 0;
        while !self.early.is_empty() {
            if self.early.values().any(|(_, since_ns)| self.is_overdue(*since_ns)) {
                self.adopt_orphans();
            }
            if let Some(next) = tracee::wait_now(-1)? {
                return Ok(next);
            }
            pause(pauses)?;
            pauses += 1;
            if pauses > SHORT_PAUSES {
                self.now_ns = self.elapsed_ns();
                self.adopt_orphans();
            }
        }
        tracee::wait(-1)
    }

    /// Adopts children whose parent's event never comes: the thread that forked was ended by a
    /// signal, or by an exit or exec of another thread. Such a child must not wait forever. If its
    /// parent process is gone, it goes on at once. Otherwise that process may have made the child
    /// or only inherited it, and the child goes on after a while.
    pub(super) fn adopt_orphans(&mut self) {
        let early: Vec<(i32, u64)> =
            self.early.iter().map(|(tid, (_, since_ns))| (*tid, *since_ns)).collect();
        for (tid, since_ns) in early {
            let Some((pid, parent)) = inspect::family(tid) else { continue };
            let maker = if pid == tid { parent } else { pid };
            if self.is_overdue(since_ns) || !self.threads.values().any(|thread| thread.pid == maker)
            {
                self.adopt(tid, Thread::new(pid));
            }
        }
    }

    /// Once no thread is known any more, waits for a child whose parent was killed in the middle of
    /// a fork: it may report only now that it is there. True if one has come.
    ///
    /// # Errors
    /// As `waitpid`.
    pub(super) fn await_newborn(&mut self) -> io::Result<bool> {
        let patience_ns = self.elapsed_ns() + PATIENCE_NS;
        loop {
            self.now_ns = self.elapsed_ns();
            self.adopt_orphans();
            if !self.threads.is_empty() {
                return Ok(true);
            }
            match tracee::wait_now(-1) {
                Ok(Some((tid, stop))) => self.stopped(tid, stop),
                // None of the tracer's, but perhaps another child of this process.
                Ok(None) if self.now_ns > patience_ns => return Ok(false),
                Ok(None) => drop(pause(SHORT_PAUSES)),
                Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(false),
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn is_overdue(&self, since_ns: u64) -> bool {
        self.now_ns.saturating_sub(since_ns) > PATIENCE_NS
    }

    /// Restores the program's own flags for clone3.
    fn give_back(&mut self, tid: i32) {
        if let Some((address, flags)) =
            self.threads.get_mut(&tid).and_then(|thread| thread.lent.take())
        {
            let _ = inspect::set_word(tid, address, flags); // fails if it was killed meanwhile
        }
    }
}

/// Lets other processes run: at first by a yield, then by sleeps that double from 32 µs to 8 ms.
pub(super) fn pause(pauses: u32) -> io::Result<()> {
    let Some(doublings) = pauses.checked_sub(SHORT_PAUSES) else {
        rustix::thread::sched_yield();
        return Ok(());
    };
    let nanoseconds = 32_000 << doublings.min(8);
    match rustix::thread::nanosleep(&Timespec { tv_sec: 0, tv_nsec: nanoseconds }) {
        NanosleepRelativeResult::Interrupted(_) => Err(Errno::INTR.into()),
        _ => Ok(()),
    }
}

fn copy(directory: &Shared<Option<Vec<u8>>>) -> Arc<Shared<Option<Vec<u8>>>> {
    Arc::new(Shared::new(directory.borrow().clone()))
}
