//! Finds the calls of this architecture by number, makes the filter that stops at them, and says
//! what programs in the kernel are to report them.

use crate::arch::{self, Convention, Row};
use crate::call::{Call, Flags, Offset, Path};
use crate::options::Grain;
use libc::c_long;
use seekless_watch::call_events::{
    AIO_READ, AIO_SYNC, AIO_WRITE, Moment, RING_READ, RING_SYNC, RING_WRITE, Rule as Reported,
};
use seekless_watch::first_needs::Rule as Named;
use seekless_watch::seccomp::{Action, Filter, Rule, Section, When};

/// Calls by calling convention and number.
#[derive(Debug)]
pub(crate) struct Calls {
    native: Vec<Option<(When, Call)>>,
    foreign: Vec<Option<(When, Call)>>,
}

/// Requests of rings and of io_submit, as programs in the kernel report them.
const REQUESTS: [Row; 6] = [
    (RING_READ as c_long, When::Always, Call::Read(Offset::ArgumentOrPosition)),
    (RING_WRITE as c_long, When::Always, Call::Write(Offset::ArgumentOrPosition)),
    (RING_SYNC as c_long, When::Always, Call::Sync),
    (AIO_READ as c_long, When::Always, Call::Read(Offset::Argument)),
    (AIO_WRITE as c_long, When::Always, Call::Write(Offset::Argument)),
    (AIO_SYNC as c_long, When::Always, Call::Sync),
];

impl Calls {
    pub(crate) fn new() -> Self {
        Self {
            native: by_number(arch::NATIVE.calls, &REQUESTS),
            foreign: by_number(arch::FOREIGN.calls, &[]),
        }
    }

    pub(crate) fn get(&self, architecture: u32, number: u64) -> Option<Call> {
        self.rule(architecture, number).map(|rule| rule.1)
    }

    /// As [`Calls::get`], if the arguments make the call one of interest.
    pub(crate) fn get_with(
        &self,
        architecture: u32,
        number: u64,
        arguments: &[u64; 6],
    ) -> Option<Call> {
        self.rule(architecture, number).filter(|rule| rule.0.holds(arguments)).map(|rule| rule.1)
    }

    fn rule(&self, architecture: u32, number: u64) -> Option<(When, Call)> {
        let number = u32::try_from(number).ok()?;
        let find = |calls: &[Option<(When, Call)>], number: u32| *calls.get(number as usize)?;
        if architecture == arch::FOREIGN.audit {
            return find(&self.foreign, number);
        }
        if arch::NATIVE.x32.contains(&number) {
            return match find(&self.native, number - arch::NATIVE.x32.start) {
                Some(clone @ (_, Call::CloneUntraced | Call::CloneBySize)) => Some(clone),
                _ => Some((When::Always, Call::Unread("x32 call"))),
            };
        }
        find(&self.native, number)
    }
}

fn by_number(rows: &[Row], more: &[Row]) -> Vec<Option<(When, Call)>> {
    let rows = || rows.iter().chain(more);
    let end = rows().map(|row| row.0 as usize + 1).max().unwrap_or(0);
    let mut calls = vec![None; end];
    for (number, when, call) in rows() {
        calls[*number as usize] = Some((*when, *call));
    }
    calls
}

/// The filter that reports these calls and no others: by stops, or as notifications of this grain
/// are made.
pub(crate) fn filter(grain: Option<Grain>) -> Filter {
    let rules = |convention: &Convention| -> Vec<Rule> {
        let rule = |(number, when, call): &Row| {
            let is_vector = convention.vectors.contains(number);
            let action = grain.map_or(Some(Action::Stop), |grain| action(*call, is_vector, grain));
            action.map(|action| Rule { number: *number as u32, when: *when, action })
        };
        convention.calls.iter().filter_map(rule).collect()
    };
    let both = [&arch::NATIVE, &arch::FOREIGN].map(|convention| (convention, rules(convention)));
    Filter::tracing(&both.each_ref().map(|(convention, rules)| Section {
        architecture: convention.audit,
        rules,
        all_of: convention.x32.clone(),
    }))
}

/// How the recorder learns of a call where notifications are made: by one if the call is frequent
/// and what it will do can be foreseen; by stops if only its result tells. `None`: not at all.
fn action(call: Call, is_vector: bool, grain: Grain) -> Option<Action> {
    let sees_calls = grain == Grain::Calls;
    match call {
        Call::Open(..) | Call::Blind(_) => Some(Action::Notify),
        Call::Submit | Call::RingSetup | Call::RingEnter => Some(Action::Notify),
        Call::Reap | Call::RingRegister => None,
        Call::CloneUntraced | Call::CloneBySize | Call::OpenHandle => Some(Action::Stop),
        Call::ChangeDirectory | Call::ChangeRoot => Some(Action::Stop),
        Call::Unshare | Call::Unread(_) => Some(Action::Stop),
        Call::Map(_) if !sees_calls => Some(Action::Notify),
        Call::Read(_) | Call::Write(_) if is_vector => sees_calls.then_some(Action::Stop),
        Call::Read(_) | Call::Write(_) => sees_calls.then_some(Action::Notify),
        Call::Close | Call::Stat(_) | Call::Unmap => sees_calls.then_some(Action::Notify),
        _ => sees_calls.then_some(Action::Stop),
    }
}

/// What programs in the kernel are to tell: these calls, if their arguments make them matter.
pub(crate) fn reported() -> Vec<Reported> {
    let rules = |convention: &'static Convention, foreign: bool| {
        let reported =
            convention.calls.iter().filter_map(|row| reported_of(row.2).map(|rule| (row, rule)));
        reported.map(move |(row, rule)| Reported {
            number: row.0 as u32,
            when: row.1,
            foreign,
            ..rule
        })
    };
    rules(&arch::NATIVE, false).chain(rules(&arch::FOREIGN, true)).collect()
}

/// What programs in the kernel are to report of names, where only first needs are recorded.
pub(crate) fn named() -> Vec<Named> {
    let named = |(number, _, call): &Row| {
        let none = Named { number: *number as u32, ..Named::default() };
        match *call {
            Call::Open(Path { directory, path }, _) => {
                Some(Named { path: Some(path), directory, opens: true, ..none })
            }
            Call::Stat(Path { directory, path }) => {
                Some(Named { path: Some(path), directory, ..none })
            }
            Call::List => Some(Named { directory: Some(0), ..none }),
            Call::ChangeDirectory if *number == libc::SYS_chdir => {
                Some(Named { path: Some(0), moves: true, ..none })
            }
            _ => None,
        }
    };
    arch::NATIVE.calls.iter().filter_map(named).collect()
}

/// What is reported of a call: what the recorder will ask. `None` for calls that matter to the
/// stops of ptrace only.
pub(crate) fn reported_of(call: Call) -> Option<Reported> {
    let none = Reported::default();
    let of = |files: [Option<usize>; 2]| Reported { files, ..none };
    Some(match call {
        Call::Open(names, flags) => {
            let flags = if let Flags::Pointed(at) = flags { Some(at) } else { None };
            let words = [flags, None];
            let files = [names.directory, None];
            Reported { opens: true, text: Some(names.path), files, words, ..none }
        }
        Call::OpenHandle => Reported { opens: true, ..none },
        Call::Stat(names) => Reported { text: Some(names.path), ..of([names.directory, None]) },
        Call::Read(offset) => Reported { wide: offset.is_wide(), ..of([Some(0), None]) },
        Call::Seek | Call::Sync | Call::List => of([Some(0), None]),
        Call::Duplicate | Call::DuplicateTo | Call::Control => of([Some(0), None]),
        Call::SeekFar => Reported { words: [Some(3), None], ..of([Some(0), None]) },
        Call::Write(_) => Reported { end: true, ..of([Some(0), None]) },
        Call::SendFile => Reported { words: [Some(2), None], end: true, ..of([Some(1), Some(0)]) },
        Call::CopyRange | Call::Splice => {
            Reported { words: [Some(1), Some(3)], end: true, ..of([Some(0), Some(2)]) }
        }
        Call::Map(_) => Reported { wide: true, ..of([Some(4), None]) },
        // Its number may be another file's before the exit is reported.
        Call::Close => Reported { moment: Moment::Both, ..of([Some(0), None]) },
        Call::SyncMapped | Call::CloseRange | Call::Unshare => none,
        Call::Submit => Reported { submits: true, ..none },
        Call::Reap => Reported { reaps: true, ..none },
        Call::ChangeDirectory => Reported { moves: true, ..none },
        Call::Unmap | Call::Blind(_) | Call::Unread(_) => {
            Reported { moment: Moment::Entry, ..none }
        }
        Call::RingSetup | Call::RingEnter => Reported { moment: Moment::Entry, ..none },
        Call::CloneUntraced | Call::CloneBySize => return None,
        Call::RingRegister | Call::ChangeRoot => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_names_each_number_once() {
        for convention in [&arch::NATIVE, &arch::FOREIGN] {
            let mut numbers: Vec<_> = convention.calls.iter().map(|row| row.0).collect();
            let rows = numbers.len();
            assert!(convention.vectors.iter().all(|vector| numbers.contains(vector)));
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), rows);
        }
    }

    #[test]
    fn the_numbers_are_the_kernels() {
        let calls = Calls::new();
        let expected = [
            (libc::SYS_read, Call::Read(Offset::Position)),
            (libc::SYS_preadv2, Call::Read(Offset::ArgumentOrPosition)),
            (libc::SYS_pwritev, Call::Write(Offset::Argument)),
            (libc::SYS_openat2, Call::Open(Path::AT, Flags::Pointed(2))),
            (libc::SYS_faccessat2, Call::Stat(Path::AT)),
            (libc::SYS_copy_file_range, Call::CopyRange),
            (libc::SYS_close_range, Call::CloseRange),
            (libc::SYS_sync_file_range, Call::Sync),
            (libc::SYS_getdents64, Call::List),
            (libc::SYS_dup3, Call::DuplicateTo),
            (libc::SYS_fchdir, Call::ChangeDirectory),
            (libc::SYS_io_uring_enter, Call::RingEnter),
            (libc::SYS_io_submit, Call::Submit),
        ];
        for (number, call) in expected {
            assert_eq!(calls.get(arch::NATIVE.audit, number as u64), Some(call), "{number}");
        }
        assert_eq!(calls.get(arch::NATIVE.audit, u64::MAX), None);
        assert_eq!(calls.get(arch::NATIVE.audit, libc::SYS_getpid as u64), None);
        assert_eq!(calls.get(arch::FOREIGN.audit, 3), Some(Call::Read(Offset::Position)));
        assert_eq!(calls.get(arch::FOREIGN.audit, 20), None, "getpid");
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn older_calls_and_those_of_x32_are_known() {
        let get = |number| Calls::new().get(arch::NATIVE.audit, number);
        let x32 = u64::from(arch::NATIVE.x32.start);
        assert_eq!(get(libc::SYS_creat as u64), Some(Call::Open(Path::HERE, Flags::Absent)));
        assert_eq!(get(libc::SYS_readlink as u64), Some(Call::Stat(Path::HERE)));
        assert_eq!(get(x32), Some(Call::Unread("x32 call")));
        assert_eq!(get(x32 + libc::SYS_clone3 as u64), Some(Call::CloneBySize));
    }

    /// The numbers of `arch/arm/tools/syscall.tbl` in the kernel's sources.
    #[cfg(target_arch = "aarch64")]
    #[test]
    fn calls_of_32_bit_arm_are_known() {
        let get = |number| Calls::new().get(arch::FOREIGN.audit, number);
        assert_eq!(get(322), Some(Call::Open(Path::AT, Flags::Argument(2))), "openat");
        assert_eq!(get(327), Some(Call::Stat(Path::AT)), "fstatat64");
        assert_eq!(get(397), Some(Call::Stat(Path::AT)), "statx");
        assert_eq!(get(180), Some(Call::Read(Offset::Halves(4))), "pread64");
        assert_eq!(get(361), Some(Call::Read(Offset::Halves(3))), "preadv");
        assert_eq!(get(192), Some(Call::Map(4096)), "mmap2");
        assert_eq!(get(217), Some(Call::List), "getdents64");
        assert_eq!(get(341), Some(Call::Sync), "sync_file_range2");
        assert_eq!(get(340), Some(Call::Splice), "splice");
        assert_eq!(get(391), Some(Call::CopyRange), "copy_file_range");
        assert_eq!(get(90), None, "mmap of OABI");
    }
}
