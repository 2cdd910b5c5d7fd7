//! The kernel's ways to see what another program does.
//!
//! # The problem
//!
//! A recorder must learn of each call of a program that was not made for it. Linux has several
//! ways, and each costs or lacks something: ptrace stops the program at each call, notifications of
//! seccomp stop one thread, programs in the kernel (eBPF) stop nothing but need root. No crate has
//! a safe interface to all that the recorder needs of them.
//!
//! # The idea
//!
//! Each way is one module with safe functions. Each `unsafe` block has a `SAFETY:` line that says
//! why it is sound. Where the kernel does not have a way, its function says so.
//!
//! **Invariant:** safe functions over kernel calls; knows no trace.
//!
//! - [`seccomp`], [`notify`] and [`tracee`] stop a program at the calls that a filter names;
//! - [`call_events`] reports calls without a stop, by programs in the kernel;
//! - [`first_needs`] reports only what is needed for the first time, by smaller programs;
//! - [`ring_view`] shows what a program puts into its io_uring;
//! - [`page_faults`] reports which mapped pages a program touches;
//! - [`block_events`] reports which requests reach the devices.
//!
//! A rule of a filter says at which arguments a call is of interest, here at two values of the
//! second:
//!
//! ```
//! use seekless_watch::seccomp::When;
//!
//! let rule = When::ArgumentIn(1, &[2, 3]);
//! assert!(rule.holds(&[0, 2, 0, 0, 0, 0]));
//! assert!(!rule.holds(&[2, 0, 0, 0, 0, 0]));
//! ```

#![expect(
    unsafe_code,
    reason = "calls the kernel where no crate does, and wraps each call in a safe function"
)]

pub mod block_events;
mod bpf;
pub mod call_events;
pub mod first_needs;
pub mod notify;
pub mod page_faults;
mod perf;
pub mod ring_view;
pub mod seccomp;
pub mod tracee;
mod tracepoint;
