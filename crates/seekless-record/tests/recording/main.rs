//! Records real programs: the trace has all that they do with files, and they run as without a
//! recorder. The helper is a C program, since C makes exactly the calls that a test needs.

mod alike;
mod arrivals;
mod births;
mod calls;
mod fetches;
mod kills;
mod needed;
mod notified;
mod odd_programs;
mod reported;
mod requests;
mod served;
mod signals;
mod strace;
mod support;
mod touches;
