//! Reads and writes bytes asynchronously: as many at once as the device takes.
//!
//! # The problem
//!
//! A program that reads one file after the other waits for the device each time, although the
//! device could serve many requests at once. Linux offers several ways to have many reads in
//! flight, and not each is allowed everywhere: containers often refuse io_uring. This crate hides
//! them behind one trait.
//!
//! An [`Engine`] takes a batch of [`Read`]s and sends each back as one [`Completion`] on the
//! channel that the read names, in whatever order they end. Each read completes exactly once, also
//! on errors and when the engine is dropped. [`Write`]s go the same way: whole [`Page`]s that
//! nothing changes meanwhile.
//!
//! | engine | reads with | for |
//! |---|---|---|
//! | [`Ring`] | io_uring, on a thread of its own | everyday use, where the kernel allows it |
//! | [`DrivenRing`] | io_uring, on the threads that wait | readers that wait for each other |
//! | [`Threads`] | `pread`, `pwritev` in a pool of threads | everyday use elsewhere |
//! | [`Throttled`] | another engine, delayed by a device model | trying a slow device without one |
//! | [`Noop`] | nothing: it makes bytes up, and drops writes | measuring all but the device |
//!
//! [`build`] picks the best engine that this kernel allows. [`AlignedBuf`] is memory that reads
//! past the page cache (O_DIRECT) accept, and [`BufferPool`] keeps such memory for the next read.
//! [`Arena`] is such memory in one piece, for a cache of pages; a [`Region`] lends buffers of any
//! size out of one range of addresses, and gives back to the system what none of them uses. A
//! caller that does its own I/O is slowed like an engine's by [`Throttle`]. Models keep time on a
//! [`Clock`]: the wall's, or one that skips the time in which everything waits for the model.
//!
//! An engine may also read what is no file of the system: [`Engine::open`] opens an [`ObjectName`],
//! as `seekless-remote` does.
//!
//! A player of I/Os needs less: [`Transfers`] reads and writes from one thread, by slot, and costs
//! little for each I/O.
//!
//! # Its neighbours
//!
//! `seekless-device` has the models and the [`Costs`](seekless_device::Costs) that an engine
//! reports to its user. `seekless-io` is built on an engine, and adds the cache.
//!
//! **Invariant:** moves bytes; knows no cache, policy or archive.
//!
//! # Example
//!
//! ```
//! use seekless_engine::{AlignedBuf, EngineKind, Read, build};
//! use std::sync::{Arc, mpsc};
//!
//! let engine = build(EngineKind::Auto)?;
//! let file = Arc::new(std::fs::File::open("Cargo.toml")?);
//! let (done, completions) = mpsc::channel();
//! let buffer = AlignedBuf::with_capacity(9);
//! engine.submit(vec![Read { file, offset: 0, buffer, tag: 1, done: done.into() }]);
//! let read = completions.recv().expect("each read completes once");
//! assert_eq!((read.tag, read.result?, &read.buffer[..]), (1, 9, &b"[package]"[..]));
//! # Ok::<(), std::io::Error>(())
//! ```

#![expect(
    unsafe_code,
    reason = "hands memory to the kernel, which fills it while the program runs on"
)]

mod arena;
mod buffer;
mod clock;
mod done;
mod fill;
mod job;
mod kind;
mod noop;
mod object_name;
mod pacer;
mod pool;
mod progress;
mod read;
mod region;
mod ring;
mod tally;
mod threads;
mod throttle;
mod throttled;
mod transfers;
mod write;

pub use arena::{Arena, Page, Pages};
pub use buffer::{ALIGNMENT, AlignedBuf};
pub use clock::Clock;
pub use done::Done;
pub use kind::{EngineKind, automatic, build, build_driven, build_throttled};
pub use noop::Noop;
pub use object_name::{ObjectName, Scheme};
pub use pool::BufferPool;
pub use read::{BufferAndResult, Completion, Engine, Opened, Read};
pub use region::{
    Ask, Budget, BytesLender, Frozen, GRANULE_BYTES, Part, Piece, Placement, Refusal, Region,
    RegionBytes, SharedBytes, WeakBytes, WeakRegion,
};
pub use ring::{DrivenRing, Ring};
pub use tally::Counters;
pub use threads::Threads;
pub use throttle::Throttle;
pub use throttled::Throttled;
pub use transfers::{
    SLOT_MEMORY_MAX, Slots, Transfer, Transferred, Transfers, Wait, transfers, transfers_by_threads,
};
pub use write::Write;
