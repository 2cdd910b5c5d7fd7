//! Safe functions for the Linux calls that no crate offers.
//!
//! # The problem
//!
//! The other crates ask the kernel things that few programs ask. Which pages of a file are cached?
//! Where do its extents lie? How can it be read without disturbing the cache? The
//! standard library, `rustix` and `nix` have no such calls, or only with raw pointers.
//!
//! # The idea
//!
//! Each call has one safe function here, and each `unsafe` block a `SAFETY:` line that says why it
//! is sound. Code elsewhere needs no `unsafe` for the kernel. Where the kernel or the file system
//! does not support a call, its function says so (`None`, or an error of the kind `Unsupported`).
//! The caller can then do without.
//!
//! **Invariant:** safe functions over kernel calls; knows no trace and no policy.
//!
//! # What is here
//!
//! Files and the page cache:
//! - [`residency`] shows which pages of a file are cached, and drops them;
//! - [`reads`] reads with or without leaving pages in the cache, [`folios`] fills the cache by
//!   large pieces;
//! - [`map`] and [`guarded`] map a file for reading;
//! - [`direct`] opens a file past the cache, and finds the alignment that this needs;
//! - [`extents`] shows where a file lies on its device, and where it has holes; [`block::OnDisk`]
//!   names the disk; [`exchange`](mod@exchange) moves it to another place, on ext4;
//! - [`handle`] finds a file again after it was moved;
//! - [`files`] opens and closes many files, [`descriptor`] finds the path of an open one;
//! - [`output`] writes a file that appears whole or not at all;
//! - [`objects`] opens inputs that may be objects in object storage;
//! - [`reason`] gives the words of an error without its number;
//! - [`inflate`] decodes deflate data into memory that was not filled before;
//! - [`present`] shows which pages of files this process has touched;
//! - [`locked`] keeps ranges of files in memory;
//! - [`memory`] knows the page size, and fetches into the processor's own cache;
//! - [`brief`] is a lock for a few instructions.
//!
//! Names, as the machine is configured, without loading a name service into the process:
//! - [`accounts`] names users and groups, [`hosts`] other machines;
//! - [`names`] writes names of any bytes as text, [`mod@escape`] as the kernel does in /proc.
//!
//! The machine:
//! - [`mounts`] lists what is mounted where, [`namespaces`] gives a process mounts of its own,
//!   [`cgroup`] what limits this process;
//! - [`block`] counts what a device has served, [`in_use`] whether anything uses a file or device;
//! - [`undo`] puts back what was changed, even after a kill;
//! - [`kernel`] is its version, [`home`] names the user's folders.
//!
//! Processes:
//! - [`signals`] asks what signals do, and holds them back;
//! - [`replace`] replaces this process by another program, [`beside`] with a helper beside it;
//! - [`inherited`] has what this process was started with; [`itself`] has the kernel read a cold
//!   program at once;
//! - [`usage`] has what processes have used.
//!
//! # Example
//!
//! ```
//! use seekless_sys::residency;
//! use std::os::fd::AsFd;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("data");
//! # std::fs::write(&path, vec![1; 10_000])?;
//! let file = std::fs::File::open(&path)?;
//! match residency::resident_bytes(file.as_fd())? {
//!     Some(bytes) => assert!(bytes <= 10_000),
//!     None => println!("this kernel does not say"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![expect(
    unsafe_code,
    reason = "calls the kernel and C libraries where no crate does, and wraps each call in a safe one"
)]

pub mod accounts;
mod action;
pub mod awaited;
pub mod beside;
pub mod block;
pub mod brief;
pub mod cgroup;
pub mod descriptor;
pub mod direct;
pub mod escape;
pub mod exchange;
pub mod extents;
pub mod file_kind;
pub mod files;
mod folder_lock;
pub mod folios;
mod getent;
pub mod guarded;
pub mod handle;
pub mod home;
pub mod hosts;
pub mod in_use;
pub mod inflate;
pub mod inherited;
pub mod itself;
pub mod kernel;
pub mod locked;
pub mod map;
pub mod memory;
pub mod mounts;
pub mod names;
pub mod namespaces;
pub mod objects;
#[cfg(feature = "outputs")]
pub mod output;
pub mod present;
pub mod reads;
mod reason;
pub mod replace;
pub mod residency;
mod seekable;
pub mod signals;
#[cfg(feature = "outputs")]
pub mod undo;
pub mod urgent;
pub mod usage;
pub mod zone;

pub use folder_lock::lock_folder;
pub use reason::reason;
pub use seekable::{open_seekable, open_to_write};
