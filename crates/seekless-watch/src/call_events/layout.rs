//! The bytes of the records, as the programs write them and we read them, and of the rules.

use super::{Moment, Rule};
use crate::seccomp::When;

/// Numbers of calls below this are looked up; the 32-bit ones follow.
pub(super) const NUMBERS: u32 = 512;
/// The rule for all calls of x32.
pub(super) const FIRST_X32: u32 = 2 * NUMBERS;
pub(super) const X32: Rule = Rule {
    number: FIRST_X32,
    foreign: false,
    when: When::Always,
    moment: Moment::Entry,
    opens: false,
    moves: false,
    text: None,
    files: [None; 2],
    words: [None; 2],
    end: false,
    wide: false,
    submits: false,
    reaps: false,
};

/// What a record is; the first word of each.
pub(super) mod kinds {
    pub(crate) const CALLED: i32 = 1;
    pub(crate) const ENTERED: i32 = 2;
    pub(crate) const LEFT: i32 = 3;
    pub(crate) const TEXT: i32 = 4;
    pub(crate) const FILE: i32 = 5;
    pub(crate) const BORN: i32 = 6;
    pub(crate) const EXECUTED: i32 = 7;
    pub(crate) const ENDED: i32 = 8;
    pub(crate) const FETCHED: i32 = 9;
    pub(crate) const REAPED: i32 = 10;
}

/// Of every record: its kind, a number of the kind's own, thread and process, and time.
pub(super) const KIND: i16 = 0;
pub(super) const NUMBER: i16 = 4;
pub(super) const IDS: i16 = 8;
pub(super) const TIME: i16 = 16;

/// Where records that need no scratch memory are made, on the stack.
pub(super) const AT_RECORD: i16 = -192;

/// Of a call. Most records end behind the fourth argument; the rest is 0 then.
pub(super) mod call {
    pub(crate) const LEFT: i16 = 24;
    pub(crate) const RESULT: i16 = 32;
    pub(crate) const FILES: [i16; 2] = [40, 120];
    /// 0 native, 1 a 32-bit call, 2 x32.
    pub(crate) const CONVENTION: i16 = 48;
    pub(crate) const ARGUMENTS: i16 = 56;
    pub(crate) const NARROW_BYTES: i32 = 88;
    pub(crate) const WORDS: i16 = 104;
    pub(crate) const POSITION: i16 = 128;
    pub(crate) const BYTES: i16 = 136;
    /// What follows is not part of the record.
    pub(crate) const WIDE_BYTES: i32 = 144;
    /// The call's rule; 0 while the thread is in no call that is reported at its exit.
    pub(crate) const RULE: i16 = 144;
    pub(crate) const TEXT: i16 = 152;
}

/// Of a request of a ring.
pub(super) const REQUEST_BYTES: u32 = 160;
/// Of a thread: its call, and up to two files of it that are to be reported.
pub(super) const THREAD_UNTOLD: [i16; 2] = [160, 160 + unreported::BYTES];
pub(super) const THREAD_BYTES: u32 = 160 + 2 * unreported::BYTES as u32;
/// Where the record of a text is in the scratch memory, behind that of a call.
pub(super) const TEXT_AT: i32 = 256;
pub(super) const TEXT_BYTES: i32 = 4096;
pub(super) const TEXT_HEADER_BYTES: i32 = 24;
/// Behind that, up to two files that are to be reported, the program to go on to then, and how far
/// the walk up a name has come.
pub(super) const UNTOLD: [i16; 2] = [UNTOLD_AT, UNTOLD_AT + unreported::BYTES];
pub(super) const GO_ON: i16 = UNTOLD_AT + 2 * unreported::BYTES;
const UNTOLD_AT: i16 = (TEXT_AT + TEXT_HEADER_BYTES + TEXT_BYTES) as i16;
pub(super) const WALK: i16 = GO_ON + 8;
/// Behind that, a block of io_submit, its address, and how many blocks of the call were reported.
pub(super) const BLOCK: i16 = WALK + walk::BYTES;
pub(super) const BLOCK_ADDRESS: i16 = BLOCK + block::BYTES as i16;
pub(super) const BLOCKS_DONE: i16 = BLOCK_ADDRESS + 8;
pub(super) const SCRATCH_BYTES: u32 = (BLOCKS_DONE + 8) as u32;

/// Of a block of io_submit (the kernel's `struct iocb`).
pub(super) mod block {
    pub(crate) const OPCODE: i16 = 16;
    pub(crate) const DESCRIPTOR: i16 = 20;
    pub(crate) const ADDRESS: i16 = 24;
    pub(crate) const LENGTH: i16 = 32;
    pub(crate) const OFFSET: i16 = 40;
    pub(crate) const BYTES: i32 = 64;
}

/// Results of io_getevents (the kernel's `struct io_event`), as many as fit the place of a text.
pub(super) mod reaped {
    pub(crate) const HEADER_BYTES: i32 = super::TEXT_HEADER_BYTES;
    pub(crate) const EVENT_BYTES: i32 = 32;
    pub(crate) const AT_ONCE: i32 = super::TEXT_BYTES / EVENT_BYTES;
}

/// Of a file that is to be reported.
pub(super) mod unreported {
    pub(crate) const FILE: i16 = 0;
    pub(crate) const INODE: i16 = 8;
    pub(crate) const FRESH: i16 = 16;
    /// The address of its path; 0 if there is no such file.
    pub(crate) const PATH: i16 = 24;
    pub(crate) const BYTES: i16 = 32;
}

/// Of a walk that another turn of its program goes on with.
pub(super) mod walk {
    /// Where the walk has come to; 0 if no walk is to go on.
    pub(crate) const PLACE: i16 = 0;
    pub(crate) const VIEW: i16 = 8;
    /// The parts of the name so far.
    pub(crate) const PARTS: i16 = 16;
    pub(crate) const FILE: i16 = 24;
    pub(crate) const INODE: i16 = 32;
    pub(crate) const BYTES: i16 = 40;
}

/// Programs that others go on to, by their places in the table.
pub(super) mod later {
    pub(crate) const TELL: i32 = 0;
    pub(crate) const ENTRY: i32 = 1;
    pub(crate) const EXIT: i32 = 2;
    pub(crate) const RING: i32 = 3;
    pub(crate) const SUBMIT: i32 = 4;
    pub(crate) const REAP: i32 = 5;
    pub(crate) const COUNT: u32 = 6;
}

/// Of a file.
pub(super) mod file {
    pub(crate) const KEY: i16 = 24;
    pub(crate) const INODE: i16 = 32;
    pub(crate) const DEVICE: i16 = 40;
    pub(crate) const MODE: i16 = 44;
    pub(crate) const BYTES: i16 = 48;
    pub(crate) const POSITION: i16 = 56;
    pub(crate) const FLAGS: i16 = 64;
    pub(crate) const LINKS: i16 = 68;
    pub(crate) const SYSTEM: i16 = 72;
    pub(crate) const NAME_BYTES: i16 = 80;
    /// The parts of its name, the last first, each with a zero behind it.
    pub(crate) const NAME: i16 = 88;
    pub(crate) const NAME_BYTES_MAX: i32 = 4096;
    /// A part is not longer, with its zero.
    pub(crate) const PART_BYTES: i32 = 256;
}

pub(super) const TOLD_SCRATCH_BYTES: u32 =
    (file::NAME as i32 + file::NAME_BYTES_MAX + 2 * file::PART_BYTES) as u32;

/// Of a birth: the child's two numbers, and what it shares with its maker in place of a number.
pub(super) const CHILD: i16 = 24;
pub(super) const BORN_BYTES: i32 = 32;
pub(super) mod shared {
    pub(crate) const FILES: i32 = 1;
    pub(crate) const DIRECTORY: i32 = 2;
    pub(crate) const MEMORY: i32 = 4;
}

/// Of an exec: how many descriptors there may be, and a bit for each of the first that is open.
pub(super) const MOST: i16 = 24;
pub(super) const OPEN: i16 = 32;
pub(super) const OPEN_BYTES: i32 = 128;
pub(super) const EXECUTED_BYTES: i32 = OPEN as i32 + OPEN_BYTES;

pub(super) const ENDED_BYTES: i32 = 24;

/// Of pages that came into the page cache; its number is that of the call in which they came.
pub(super) mod fetched {
    pub(crate) const INODE: i16 = 24;
    /// The first of them.
    pub(crate) const PAGE: i16 = 32;
    pub(crate) const DEVICE: i16 = 40;
    /// There are two to the power of this.
    pub(crate) const ORDER: i16 = 44;
    /// As [`super::call::CONVENTION`]; [`NO_CALL`] outside of calls.
    pub(crate) const CONVENTION: i16 = 48;
    /// The first file of the call.
    pub(crate) const FILE: i16 = 56;
    pub(crate) const BYTES: i32 = 64;
    pub(crate) const NO_CALL: i32 = 3;
}

/// The bits of a rule, and the places of numbers in it: argument + 1, in three bits each.
pub(super) mod rule {
    pub(crate) const WANTED: i32 = 1;
    pub(crate) const BOTH: i32 = 2;
    pub(crate) const ENTRY_ONLY: i32 = 4;
    pub(crate) const OPENS: i32 = 8;
    pub(crate) const END: i32 = 16;
    pub(crate) const MOVES: i32 = 32;
    pub(crate) const WIDE: i32 = 64;
    pub(crate) const SUBMITS: i32 = 128;
    pub(crate) const TEXT: i32 = 8;
    pub(crate) const REAPS: i32 = 1 << 11;
    pub(crate) const FILES: [i32; 2] = [12, 16];
    pub(crate) const WORDS: [i32; 2] = [20, 24];
    /// The number of its condition, from 1; 0 if it has none.
    pub(crate) const CONDITION: i32 = 32;
}

/// `conditions` are those of all rules.
pub(super) fn packed(it: &Rule, conditions: &[When]) -> u64 {
    let when = match it.moment {
        Moment::Exit => 0,
        Moment::Both => rule::BOTH,
        Moment::Entry => rule::ENTRY_ONLY,
    };
    let bit = |is: bool, bit: i32| if is { bit } else { 0 };
    let argument = |argument: Option<usize>, at: i32| {
        argument.map_or(0, |argument| (argument as i32 + 1) << at)
    };
    let bits = rule::WANTED
        | when
        | bit(it.opens, rule::OPENS)
        | bit(it.end, rule::END)
        | bit(it.moves, rule::MOVES)
        | bit(it.submits, rule::SUBMITS)
        | bit(it.reaps, rule::REAPS)
        | bit(it.wide || it.end || it.files[1].is_some() || it.words != [None; 2], rule::WIDE)
        | argument(it.text, rule::TEXT)
        | argument(it.files[0], rule::FILES[0])
        | argument(it.files[1], rule::FILES[1])
        | argument(it.words[0], rule::WORDS[0])
        | argument(it.words[1], rule::WORDS[1]);
    let condition = conditions.iter().position(|one| *one == it.when).map_or(0, |at| at as u64 + 1);
    bits as u64 | condition << rule::CONDITION
}
