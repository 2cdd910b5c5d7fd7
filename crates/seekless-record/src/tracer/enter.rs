//! At a call's entry: notes what cannot be found out later, and decides whether the exit matters.

use super::Tracer;
use crate::arch::Registers;
use crate::call::Call;
use crate::inspect;
use crate::thread::{Entry, Pending};
use seekless_watch::tracee::Entered;

const F_SETFL: i32 = libc::F_SETFL;
const CLOSE_RANGE_CLOEXEC: u64 = libc::CLOSE_RANGE_CLOEXEC as u64;

impl Tracer {
    /// `None` if the call needs no stop at its exit.
    pub(super) fn enter(&mut self, tid: i32, call: Call, entered: Entered) -> Option<Pending> {
        let mut pending = Pending::new(call, entered.arguments, self.now_ns);
        let fd = |at: usize| entered.arguments[at] as i32;
        match call {
            Call::Open(..) | Call::OpenHandle => {}
            Call::Stat(names) => self.keep_path_of_answer(tid, &mut pending, names.path),
            Call::Read(_) | Call::List | Call::Sync => {
                pending.from = Some(self.hold_for_row(tid, fd(0))?)
            }
            Call::Seek | Call::SeekFar => pending.from = Some(self.hold(tid, fd(0))?),
            Call::Write(_) => pending.into = Some(self.hold_for_row(tid, fd(0))?),
            Call::SendFile => self.hold_ends(tid, &mut pending, 1, 0)?,
            Call::CopyRange | Call::Splice => self.hold_ends(tid, &mut pending, 0, 2)?,
            Call::Map(_) => pending.from = Some(self.hold_for_row(tid, fd(4))?),
            Call::SyncMapped => self.prepare_sync(tid, &mut pending)?,
            Call::Duplicate => pending.from = Some(self.hold(tid, fd(0))?),
            Call::DuplicateTo => self.prepare_duplicate_to(tid, &mut pending)?,
            Call::Control => self.prepare_control(tid, &mut pending)?,
            Call::Close => {
                self.close_ring(tid, fd(0));
                self.bind_before_close(tid, fd(0));
                self.look(tid, fd(0));
                pending.from = Some(self.take_out(tid, fd(0))?);
            }
            Call::CloseRange if pending.arguments[2] & CLOSE_RANGE_CLOEXEC != 0 => return None, // seen at exec
            Call::CloseRange => {
                self.close_rings_in(tid, fd(0) as u32..=fd(1) as u32);
                self.bind_before_close_range(tid, fd(0) as u32..=fd(1) as u32);
            }
            Call::ChangeDirectory | Call::Unshare | Call::ChangeRoot => {}
            Call::Unmap => {
                self.unmap(tid, pending.arguments[0], pending.arguments[1]);
                return None;
            }
            Call::CloneUntraced => {
                self.clear_untraced(tid, &entered);
                return None;
            }
            Call::CloneBySize => {
                self.lend_flags(tid, pending.arguments[0]);
                return None;
            }
            Call::Submit | Call::RingSetup | Call::RingEnter if self.foresees => {
                self.blind(blind_name(call));
                return None;
            }
            Call::Submit if self.reported.is_none() => self.submits(tid, &entered.arguments),
            Call::Submit | Call::Reap | Call::RingRegister => {}
            Call::RingSetup | Call::RingEnter if self.reported.is_some() => {
                if !self.reported.as_ref().is_some_and(|reported| reported.sees_rings()) {
                    self.blind(blind_name(call));
                }
                return None;
            }
            Call::RingSetup => {}
            Call::RingEnter => return self.ring_enters(tid, &entered.arguments).then_some(pending),
            Call::Blind(what) => {
                self.blind(what);
                return None;
            }
            Call::Unread(what) => {
                self.summary.lost += 1;
                self.blind(what);
                return None;
            }
        }
        Some(pending)
    }

    /// The path of a readlink whose answer will replace it: the argument at `path`.
    fn keep_path_of_answer(&mut self, tid: i32, pending: &mut Pending, path: usize) {
        let [path, answer] = [0, 1].map(|at| pending.arguments[path + at]);
        if path != answer {
            return;
        }
        match &mut self.reported {
            Some(reported) => drop(reported.take_text(tid)), // the answer has replaced it
            None => pending.path = inspect::path(tid, path),
        }
    }

    /// Has a clone make a child that is traced.
    fn clear_untraced(&mut self, tid: i32, entered: &Entered) {
        let changed = Registers::of(tid)
            .and_then(|registers| registers.without_untraced(tid, entered.architecture));
        if changed.is_err() {
            self.blind("untraced child");
        }
    }

    /// clone3's flags are in the program's memory. If they ask for an untraced child, we clear that
    /// flag until the child exists. An untraced child would still be under the filter, and its
    /// opens would fail.
    fn lend_flags(&mut self, tid: i32, address: u64) {
        let untraced = libc::CLONE_UNTRACED as u64;
        let Some(flags) =
            inspect::resident_word(tid, address).filter(|flags| flags & untraced != 0)
        else {
            return;
        };
        if inspect::set_word(tid, address, flags & !untraced).is_err() {
            self.blind("untraced child");
        } else if let Some(thread) = self.threads.get_mut(&tid) {
            thread.lent = Some((address, flags));
        }
    }

    /// Holds both ends of a copy within the kernel; `from` and `into` are the arguments with their
    /// descriptors.
    fn hold_ends(
        &mut self,
        tid: i32,
        pending: &mut Pending,
        from: usize,
        into: usize,
    ) -> Option<()> {
        pending.from = self.hold_for_row(tid, pending.descriptor(from));
        pending.into = self.hold_for_row(tid, pending.descriptor(into));
        (pending.from.is_some() || pending.into.is_some()).then_some(())
    }

    fn prepare_sync(&mut self, tid: i32, pending: &mut Pending) -> Option<()> {
        let address = pending.arguments[0];
        let mapping = self.threads.get(&tid)?.space.borrow().at(address)?;
        pending.offset = Some(mapping.offset + (address - mapping.start));
        pending.from = Some(self.descriptions.hold(mapping.held));
        Some(())
    }

    /// dup2 onto a descriptor of a recorded file matters even if the new file is not recorded.
    fn prepare_duplicate_to(&mut self, tid: i32, pending: &mut Pending) -> Option<()> {
        pending.from = self.hold(tid, pending.descriptor(0));
        if pending.descriptor(0) != pending.descriptor(1) {
            self.close_ring(tid, pending.descriptor(1));
        }
        let replaces = self.threads.get(&tid)?.files.borrow().contains_key(&pending.descriptor(1));
        (pending.from.is_some() || replaces).then_some(())
    }

    fn prepare_control(&mut self, tid: i32, pending: &mut Pending) -> Option<()> {
        let id = self.follow(tid, pending.descriptor(0))?;
        if pending.arguments[1] as i32 == F_SETFL {
            self.descriptions.get(id).append = pending.arguments[2] as i32 & libc::O_APPEND != 0;
            return None;
        }
        pending.from = Some(self.descriptions.hold(id));
        Some(())
    }

    /// Takes a descriptor out of the table before the kernel closes it and can give its number to
    /// another thread. The call becomes the holder of its description.
    fn take_out(&mut self, tid: i32, fd: i32) -> Option<u32> {
        match self.threads.get(&tid)?.files.borrow_mut().remove(&fd)? {
            Entry::File(id) => Some(id),
            Entry::LeftOut => {
                self.summary.left_out += 1;
                None
            }
            Entry::Other => None,
        }
    }
}

/// What the summary calls a call that hands over requests which are not seen.
fn blind_name(call: Call) -> &'static str {
    match call {
        Call::Submit => "io_submit",
        Call::RingSetup => "io_uring_setup",
        _ => "io_uring_enter",
    }
}
