//! Records what a program does with files, as a [trace](seekless_trace).
//!
//! # The problem
//!
//! We want every open, read, write, map, sync, stat and directory listing of a program and of all
//! that it starts, with times, offsets and lengths. The program must not need a change, and the
//! user must not need root. `strace` stops a program twice at every call, also at those that have
//! nothing to do with files. fanotify and eBPF need root. A preloaded library misses static
//! programs and those that make system calls themselves.
//!
//! # The idea
//!
//! A seccomp filter decides in the kernel, by a call's number and arguments, whether the call is of
//! interest. Only such a call stops the program, and ptrace reads its arguments and result. All
//! other calls run at full speed. The filter is installed in the child before it executes the
//! program, and every process that the program starts inherits it.
//!
//! The commonest calls may be reported by notifications of the filter instead, before they happen,
//! for a third of the cost ([`Method::Notify`]). Then what they return is foreseen, and their
//! latencies are not known.
//!
//! Where the kernel allows it ([`Method::Ebpf`]) nothing stops: small programs at the kernel's
//! tracepoints put each call into a ring, with the open file behind its descriptor.
//!
//! Requests that a program hands over and whose results come later (io_submit, io_uring) are rows
//! too: they are noted when they are handed over, and joined with their results.
//!
//! A call such as `read(3, ..)` names neither a file nor an offset. So the recorder keeps tables
//! like the kernel's: the descriptors of each process, and the position of each open file, which
//! descriptors share after dup and fork. The kernel's own names of files come from /proc. The
//! recorder also notes which bytes of a file have been read. When all have, it adds a `load` row.
//!
//! # What it promises
//!
//! - The program returns and prints what it would without the recorder. The recorder never waits
//!   for a file system, since the program may be the one that serves it.
//! - A call that could not be recorded is counted ([`Summary::lost`]). So is each use of something
//!   that the recorder cannot see, such as a call of x32 ([`Summary::blind_spots`]).
//! - Rows go to a spool in the user's state folder while the program runs. If the recorder or the
//!   program is killed, at most the last quarter of a second is lost.
//!
//! - Of a file mapped into memory, the trace has the mapping, and the first touch of each part of
//!   it ([`Summary::mappings`]) where the kernel allows perf events. Else it has what came into the
//!   page cache meanwhile, or says that it has neither.
//!
//! With ptrace latencies are upper bounds, which include the stops.
//!
//! [`record_running`] attaches to a program that runs already, follows it for a while, and lets it
//! go. [`record_machine`] follows all programs.
//!
//! [`record_needed`] records less, for less: what a program needs of files for the first time, of
//! which a profile is made.
//!
//! [`Touches`] is the part that stops nothing: the first touches of mapped files alone, of a
//! program that somebody else starts.
//!
//! # Neighbours
//!
//! `seekless-sys` makes the kernel calls: the filter, the tracing, signals. `seekless-trace` holds
//! the format of the spool and of the trace. This crate knows nothing of caches.
//!
//! # Example
//!
//! ```
//! use seekless_record::{ErrorKind, Options, Status, record};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("run.parquet");
//! let words = ["-q".into(), "root".into(), "/etc/passwd".into()];
//! let recorded = match record("grep".as_ref(), &words, &path, &Options::default()) {
//!     Ok(recorded) => recorded,
//!     // Some containers forbid tracing; the message says how to allow it.
//!     Err(error) if error.kind() == ErrorKind::Refused => return Ok(()),
//!     Err(error) => return Err(error.into()),
//! };
//! assert_eq!(recorded.status, Status::Exited(0));
//! let trace = seekless_trace::Trace::open(&path)?;
//! assert!(trace.file_names()?.contains(&"/etc/passwd".to_owned()));
//! # Ok(()) }
//! ```

mod arch;
mod arrivals;
mod call;
mod calls;
mod coverage;
mod descriptions;
mod error;
mod faults;
mod inspect;
mod live;
mod looker;
mod method;
mod needed;
mod opening;
mod options;
mod paths;
mod places;
mod post_cache;
mod record;
mod recorded;
mod request_key;
mod requests;
mod running;
mod selection;
mod shared;
mod sink;
mod space;
mod thread;
mod threads;
mod touches;
mod tracer;
mod works;

pub use error::{Error, ErrorKind, Result};
pub use live::{Busy, Live, Use, View};
pub use method::{ebpf_may_work, ebpf_works, fetches_work};
pub use needed::{Needed, record_needed};
pub use options::{Grain, Method, Options};
pub use places::{FileKey, Places, Snapshot};
pub use post_cache::PostCache;
pub use record::record;
pub use recorded::{Fetches, Mappings, Recorded, Status, Summary};
pub use running::{record_machine, record_running, was_running};
pub use selection::Selection;
pub use sink::Limits;
pub use touches::Touches;
pub use works::{block_events_work, ptrace_works, touches_work};
