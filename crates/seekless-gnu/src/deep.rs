//! A stack for expressions that nest deeply. Their parsers, compilers and interpreters (ours, the
//! regular expression crates' and the C library's) call themselves once for each level.

/// The most levels of an expression. Below it GNU's tools work with the usual stack of 8 MiB; far
/// above they end with `stack overflow`.
pub(crate) const LEVELS_MAX: usize = 20_000;

/// This many levels fit in any stack.
const LEVELS_OF_ANY_STACK: usize = 200;

/// The stack of one level: a group in a group, with alternatives, repeated.
const LEVEL_BYTES: usize = 16 << 10;

/// Does a job on a stack with room for this many levels; the job refuses what has more than
/// [`LEVELS_MAX`]. Only the part of the stack that is used takes memory.
pub(crate) fn with_stack<T>(levels: usize, job: impl FnOnce() -> T) -> T {
    if levels <= LEVELS_OF_ANY_STACK {
        return job();
    }
    stacker::grow(stack_bytes(levels), job)
}

/// The stack that this many levels need, for a thread.
pub(crate) fn stack_bytes(levels: usize) -> usize {
    (levels.min(LEVELS_MAX) + LEVELS_OF_ANY_STACK) * LEVEL_BYTES
}
