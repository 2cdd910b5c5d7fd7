//! Recording real programs: what they do with files is in the trace, and they notice nothing.
//! The helper is C, compiled here, since only C makes exactly the calls that are asked of it.

mod alike;
mod births;
mod calls;
mod kills;
mod served;
mod signals;
mod strace;
mod support;
