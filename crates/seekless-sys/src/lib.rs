//! Safe faces of the Linux calls that no crate offers. Each `unsafe` stands with its `SAFETY` line.
//!
//! Files and the page cache:
//! [`residency`] asks what of a file is cached, and throws it out;
//! [`direct`] opens a file past the page cache, and asks for the alignment that this needs;
//! [`extents`] says where a file lies on its device, and where it has holes;
//! [`map`] and [`guarded`] map a file for reading;
//! [`reads`] reads with or without the page cache, [`folios`] fills it by large pieces;
//! [`memory`] knows the page size, and fetches into the processor's own cache;
//! [`files`] opens and closes many files, [`descriptor`] finds the way back from an open one to a path;
//! [`output`] writes a file that appears whole or not at all;
//! [`reason`] is an error's words without its number;
//! [`inflate`] decodes deflate data into memory that was not filled before.
//!
//! Names, as the machine is configured and without a name service in the process: [`accounts`] of users and groups,
//! [`hosts`] of other machines.
//!
//! The machine: [`mounts`] says what is mounted where, [`cgroup`] what limits this process; [`undo`] puts back what was
//! changed, even after a kill; [`home`] names the user's folders.
//!
//! Processes: [`seccomp`], [`tracee`] and [`signals`] are what a recorder of programs stands on; [`replace`] becomes another
//! program.

#![expect(
    unsafe_code,
    reason = "calls the kernel and C libraries where no crate does, and wraps each call in a safe one"
)]

pub mod accounts;
mod action;
pub mod cgroup;
pub mod descriptor;
pub mod direct;
mod escape;
pub mod extents;
pub mod files;
pub mod folios;
mod getent;
pub mod guarded;
pub mod home;
pub mod hosts;
pub mod inflate;
mod inherited;
pub mod map;
pub mod memory;
pub mod mounts;
pub mod output;
pub mod reads;
mod reason;
pub mod replace;
pub mod residency;
pub mod seccomp;
mod seekable;
pub mod signals;
pub mod tracee;
pub mod undo;

pub use reason::reason;
pub use seekable::open_seekable;
