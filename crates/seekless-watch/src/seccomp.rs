//! A seccomp filter that reports chosen system calls to the tracer and lets all others run at full
//! speed. Classic BPF, a few instructions a rule; see seccomp(2), SECCOMP_RET_TRACE and
//! SECCOMP_RET_USER_NOTIF.

mod works;

pub use works::{filters_work, notifications_work};

use libc::sock_filter;
use std::io;
use std::ops::Range;
use std::os::fd::RawFd;

/// Distinguishes the stops of this filter from those of a filter of the program's own.
pub const MARK: u32 = 0x5ee7;

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const IF_AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
const IF_BITS: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const ALWAYS: u32 = libc::BPF_JMP | libc::BPF_JA;
const TRACED: u32 = libc::SECCOMP_RET_TRACE | MARK;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

/// How a call is reported to the tracer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// By a stop of ptrace.
    #[default]
    Stop,
    /// By a notification ([`crate::notify`]). Of two filters that have an action each, the one that
    /// notifies wins.
    Notify,
}

impl Action {
    fn answer(self) -> u32 {
        match self {
            Action::Stop => TRACED,
            Action::Notify => libc::SECCOMP_RET_USER_NOTIF,
        }
    }
}

/// When a call of a rule's number is reported to the tracer. Only an argument's low 32 bits are
/// looked at, where not said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// At each call.
    #[default]
    Always,
    /// If the argument (from 0) is one of at most 100 values.
    ArgumentIn(u32, &'static [u32]),
    /// If the argument has none of these bits.
    ArgumentWithout(u32, u32),
    /// If the argument has one of these bits.
    ArgumentWith(u32, u32),
    /// Unless the first argument named has this value and all 64 bits of the second are 0.
    UnlessWithZero(u32, u32, u32),
}

impl When {
    /// Whether a call with these arguments is of interest, as the filter decides it.
    #[must_use]
    pub fn holds(self, arguments: &[u64; 6]) -> bool {
        let low = |argument: u32| arguments[argument as usize] as u32;
        match self {
            When::Always => true,
            When::ArgumentIn(argument, values) => values.contains(&low(argument)),
            When::ArgumentWithout(argument, bits) => low(argument) & bits == 0,
            When::ArgumentWith(argument, bits) => low(argument) & bits != 0,
            When::UnlessWithZero(argument, value, zero) => {
                low(argument) != value || arguments[zero as usize] != 0
            }
        }
    }
}

/// A call that the tracer wants to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The call's number.
    pub number: u32,
    /// When it is of interest.
    pub when: When,
    /// How calls are reported to the tracer.
    pub action: Action,
}

/// The rules for one calling convention.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// An AUDIT_ARCH number.
    pub architecture: u32,
    /// What stops the tracer, by number.
    pub rules: &'a [Rule],
    /// Numbers that always do, independent of the rules.
    pub all_of: Range<u32>,
}

impl Section<'_> {
    /// Ends in a return; the architecture is not needed any more.
    fn body(&self) -> Vec<sock_filter> {
        let mut body = vec![
            load(NUMBER),
            jump(IF_AT_LEAST, self.all_of.start, 0, 2),
            jump(IF_AT_LEAST, self.all_of.end, 1, 0),
            answer(TRACED),
        ];
        for rule in self.rules {
            let when = when(rule.when, rule.action.answer());
            body.push(jump(IF_EQUAL, rule.number, 0, when.len() as u8));
            body.extend(when);
        }
        body.push(allow());
        body
    }
}

/// A program for the kernel's filter.
#[derive(Clone, Debug)]
pub struct Filter {
    program: Vec<sock_filter>,
    notifies: bool,
}

impl Filter {
    /// Calls that match a rule of their architecture's section are reported to the tracer;
    /// everything else runs as if there were no filter.
    ///
    /// Sections and rules asked first are the cheapest: put the commonest calls there.
    #[must_use]
    pub fn tracing(sections: &[Section<'_>]) -> Self {
        let mut program = vec![load(ARCHITECTURE)];
        for section in sections {
            let body = section.body();
            let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
            program
                .extend([jump(IF_EQUAL, section.architecture, 1, 0), jump(ALWAYS, length, 0, 0)]);
            program.extend(body);
        }
        program.push(allow());
        let mut rules = sections.iter().flat_map(|section| section.rules);
        Self { program, notifies: rules.any(|rule| rule.action == Action::Notify) }
    }

    /// Whether any rule reports by notifications.
    #[must_use]
    pub fn notifies(&self) -> bool {
        self.notifies
    }

    /// Puts the filter on the calling thread, for good, and on all that it starts. Makes no
    /// allocation, so it may be called between fork and exec. Without CAP_SYS_ADMIN it must set
    /// no_new_privs before. Returns the descriptor from which notifications are read, if there are
    /// any.
    pub(crate) fn install(&self) -> io::Result<Option<RawFd>> {
        match self.load() {
            Err(error) if error.raw_os_error() == Some(libc::EACCES) => {
                // SAFETY: sets a flag of this thread; no pointers.
                unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
                self.load()
            }
            result => result,
        }
    }

    /// Points to instructions of this filter.
    fn program(&self) -> libc::sock_fprog {
        libc::sock_fprog {
            len: self.program.len() as libc::c_ushort,
            filter: self.program.as_ptr().cast_mut(),
        }
    }

    fn load(&self) -> io::Result<Option<RawFd>> {
        let program = self.program();
        if self.notifies {
            return listen(&program).map(Some);
        }
        // SAFETY: the kernel copies `len` instructions from the live vector and does not write to
        // it.
        let result = unsafe {
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program, 0, 0)
        };
        if result == 0 { Ok(None) } else { Err(io::Error::last_os_error()) }
    }
}

/// Loads a program that notifies. From Linux 5.19 on, a signal does not interrupt a call whose
/// notification has been read.
fn listen(program: &libc::sock_fprog) -> io::Result<RawFd> {
    const WAIT_KILLABLE: libc::c_ulong = 1 << 5;
    let with = |flags: libc::c_ulong| {
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | flags;
        // SAFETY: the kernel copies the program, which is live, and does not write to it.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                flags,
                std::ptr::from_ref(program),
            )
        };
        if fd >= 0 { Ok(fd as RawFd) } else { Err(io::Error::last_os_error()) }
    };
    match with(WAIT_KILLABLE) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => with(0),
        result => result,
    }
}

/// What follows a rule's number: always ends in a return, so that the next rule still finds the
/// number loaded.
fn when(when: When, reported: u32) -> Vec<sock_filter> {
    match when {
        When::Always => vec![answer(reported)],
        When::ArgumentIn(argument, values) => {
            let mut body = vec![load(ARGUMENTS + 8 * argument)];
            body.extend(
                values.iter().flat_map(|value| [jump(IF_EQUAL, *value, 0, 1), answer(reported)]),
            );
            body.push(allow());
            body
        }
        When::ArgumentWithout(argument, bits) => {
            vec![
                load(ARGUMENTS + 8 * argument),
                jump(IF_BITS, bits, 1, 0),
                answer(reported),
                allow(),
            ]
        }
        When::ArgumentWith(argument, bits) => {
            vec![
                load(ARGUMENTS + 8 * argument),
                jump(IF_BITS, bits, 0, 1),
                answer(reported),
                allow(),
            ]
        }
        When::UnlessWithZero(argument, value, zero) => vec![
            load(ARGUMENTS + 8 * argument),
            jump(IF_EQUAL, value, 0, 5),
            load(ARGUMENTS + 8 * zero),
            jump(IF_EQUAL, 0, 0, 3),
            load(ARGUMENTS + 8 * zero + 4),
            jump(IF_EQUAL, 0, 0, 1),
            allow(),
            answer(reported),
        ],
    }
}

fn load(offset: u32) -> sock_filter {
    sock_filter { code: LOAD as u16, jt: 0, jf: 0, k: offset }
}

fn jump(code: u32, k: u32, if_true: u8, if_false: u8) -> sock_filter {
    sock_filter { code: code as u16, jt: if_true, jf: if_false, k }
}

fn allow() -> sock_filter {
    answer(libc::SECCOMP_RET_ALLOW)
}

fn answer(reported: u32) -> sock_filter {
    sock_filter { code: RETURN as u16, jt: 0, jf: 0, k: reported }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: u32 = 7;

    /// What the kernel would do, in a dozen lines.
    fn run(filter: &Filter, architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
        let mut at = 0;
        let mut held = 0;
        loop {
            let step = filter.program[at];
            at += 1;
            let truth = match u32::from(step.code) {
                LOAD => {
                    held = match step.k {
                        NUMBER => number,
                        ARCHITECTURE => architecture,
                        k => (arguments[((k - ARGUMENTS) / 8) as usize] >> (k % 8 * 8)) as u32,
                    };
                    continue;
                }
                IF_EQUAL => held == step.k,
                IF_AT_LEAST => held >= step.k,
                IF_BITS => held & step.k != 0,
                ALWAYS => {
                    at += step.k as usize;
                    continue;
                }
                _ => return step.k,
            };
            at += usize::from(if truth { step.jt } else { step.jf });
        }
    }

    fn rule(number: u32, when: When) -> Rule {
        Rule { number, when, action: Action::Stop }
    }

    fn filter() -> Filter {
        let rules = [
            rule(3, When::Always),
            rule(4, When::ArgumentIn(1, &[10, 20])),
            rule(5, When::ArgumentWithout(2, 0x20)),
            rule(6, When::ArgumentWith(0, 0x4000)),
            rule(8, When::UnlessWithZero(2, 1, 1)),
            Rule { action: Action::Notify, ..rule(10, When::ArgumentIn(0, &[1])) },
        ];
        let others = [rule(9, When::Always)];
        Filter::tracing(&[
            Section { architecture: HERE, rules: &rules, all_of: 1000..1010 },
            Section { architecture: HERE + 1, rules: &others, all_of: 0..0 },
        ])
    }

    #[test]
    fn stops_where_a_rule_says_so_and_nowhere_else() {
        let traced = |number, arguments| run(&filter(), HERE, number, arguments) == TRACED;
        assert!(traced(3, [0; 6]));
        assert!(traced(4, [0, 10, 0, 0, 0, 0]) && traced(4, [0, 20, 0, 0, 0, 0]));
        assert!(!traced(4, [10, 30, 10, 0, 0, 0]));
        assert!(traced(5, [0x20, 0, 0x10, 0, 0, 0]) && !traced(5, [0, 0, 0x22, 0, 0, 0]));
        assert!(traced(6, [0x4001, 0, 0, 0, 0, 0]) && !traced(6, [1, 0, 0, 0, 0, 0]));
        assert!(!traced(8, [3, 0, 1, 0, 0, 0]) && traced(8, [3, 0, 0, 0, 0, 0]));
        assert!(traced(8, [3, 9, 1, 0, 0, 0]) && traced(8, [3, 1 << 32, 1, 0, 0, 0]));
        assert!(!traced(7, [0; 6]) && !traced(9, [0; 6]));
        assert!(traced(1000, [0; 6]) && traced(1009, [0; 6]));
        assert!(!traced(999, [0; 6]) && !traced(1010, [0; 6]) && !traced(u32::MAX, [0; 6]));
    }

    #[test]
    fn another_architecture_has_rules_of_its_own_or_runs_free() {
        let answer = |architecture, number| run(&filter(), architecture, number, [0; 6]);
        assert_eq!(answer(HERE + 1, 9), TRACED);
        assert_eq!(answer(HERE + 1, 3), libc::SECCOMP_RET_ALLOW);
        assert_eq!(answer(HERE + 2, 3), libc::SECCOMP_RET_ALLOW);
        assert_eq!(answer(HERE + 2, 9), libc::SECCOMP_RET_ALLOW);
    }

    #[test]
    fn a_rule_says_how_the_tracer_learns_of_it() {
        let answer = |argument| run(&filter(), HERE, 10, [argument, 0, 0, 0, 0, 0]);
        assert_eq!(answer(1), libc::SECCOMP_RET_USER_NOTIF);
        assert_eq!(answer(2), libc::SECCOMP_RET_ALLOW);
        assert!(filter().notifies() && !Filter::tracing(&[]).notifies());
    }
}
