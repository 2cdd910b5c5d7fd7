//! Finds the calls of this architecture by number, and makes the filter that stops at them.

use crate::arch;
use crate::call::Call;
use seekless_sys::seccomp::{Filter, Rule, Section, When};

/// Calls by calling convention and number.
#[derive(Debug)]
pub(crate) struct Calls {
    native: Vec<Option<Call>>,
    foreign: Vec<Option<Call>>,
}

impl Calls {
    pub(crate) fn new() -> Self {
        Self { native: by_number(arch::TABLE), foreign: by_number(arch::FOREIGN) }
    }

    pub(crate) fn get(&self, architecture: u32, number: u64) -> Option<Call> {
        let number = u32::try_from(number).ok()?;
        let find = |calls: &[Option<Call>], number: u32| *calls.get(number as usize)?;
        if architecture == arch::FOREIGN_AUDIT {
            return find(&self.foreign, number);
        }
        if arch::X32.contains(&number) {
            return match find(&self.native, number - arch::X32.start) {
                Some(clone @ (Call::CloneUntraced | Call::CloneBySize)) => Some(clone),
                _ => Some(Call::Unread("x32 call")),
            };
        }
        find(&self.native, number)
    }
}

fn by_number(table: &[(u32, When, Call)]) -> Vec<Option<Call>> {
    let end = table.iter().map(|row| row.0 as usize + 1).max().unwrap_or(0);
    let mut calls = vec![None; end];
    for (number, _, call) in table {
        calls[*number as usize] = Some(*call);
    }
    calls
}

/// The filter that stops at these calls and no others.
pub(crate) fn filter() -> Filter {
    let rules = |table: &[(u32, When, Call)]| -> Vec<Rule> {
        table.iter().map(|(number, when, _)| Rule { number: *number, when: *when }).collect()
    };
    Filter::tracing(&[
        Section { architecture: arch::AUDIT, rules: &rules(arch::TABLE), all_of: arch::X32 },
        Section { architecture: arch::FOREIGN_AUDIT, rules: &rules(arch::FOREIGN), all_of: 0..0 },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{Flags, Offset, Path};

    #[test]
    fn a_table_names_each_number_once() {
        for table in [arch::TABLE, arch::FOREIGN] {
            let mut numbers: Vec<u32> = table.iter().map(|row| row.0).collect();
            let rows = numbers.len();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), rows);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_numbers_are_the_kernels() {
        let calls = Calls::new();
        let expected = [
            (libc::SYS_read, Call::Read(Offset::Position)),
            (libc::SYS_preadv2, Call::Read(Offset::ArgumentOrPosition)),
            (libc::SYS_pwritev, Call::Write(Offset::Argument)),
            (libc::SYS_openat2, Call::Open(Path::AT, Flags::Pointed(2))),
            (libc::SYS_creat, Call::Open(Path::HERE, Flags::Absent)),
            (libc::SYS_faccessat2, Call::Stat(Path::AT)),
            (libc::SYS_readlink, Call::Stat(Path::HERE)),
            (libc::SYS_copy_file_range, Call::CopyRange),
            (libc::SYS_close_range, Call::CloseRange),
            (libc::SYS_sync_file_range, Call::Sync),
            (libc::SYS_getdents64, Call::List),
            (libc::SYS_dup3, Call::DuplicateTo),
            (libc::SYS_fchdir, Call::ChangeDirectory),
            (libc::SYS_io_uring_enter, Call::Blind("io_uring_enter")),
        ];
        for (number, call) in expected {
            assert_eq!(calls.get(arch::AUDIT, number as u64), Some(call), "{number}");
        }
        assert_eq!(calls.get(arch::AUDIT, u64::MAX), None);
        let x32 = u64::from(arch::X32.start);
        assert_eq!(calls.get(arch::AUDIT, x32), Some(Call::Unread("x32 call")));
        assert_eq!(calls.get(arch::AUDIT, x32 + libc::SYS_clone3 as u64), Some(Call::CloneBySize));
        assert_eq!(calls.get(arch::FOREIGN_AUDIT, 3), Some(Call::Read(Offset::Position)));
        assert_eq!(calls.get(arch::FOREIGN_AUDIT, 20), None, "getpid");
    }
}
