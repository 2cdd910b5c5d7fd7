//! Raw asynchronous reads: a ring, a thread pool, and two engines for tests (`noop` and `throttled`).
//!
//! **Invariant:** reads bytes; knows no cache, policy or archive.
//!
//! An engine takes batches of [`Read`]s and sends each back as one [`Completion`] on the channel that the read names,
//! in whatever order they end. [`build`] picks the best engine that this kernel allows; [`EngineKind::Throttled`]
//! delays every completion by a device model, so that a slow disk needs neither root nor a slow disk.
//!
//! ```
//! use seekless_engine::{AlignedBuf, EngineKind, Read, build};
//! use std::sync::{Arc, mpsc};
//!
//! let engine = build(EngineKind::Auto)?;
//! let file = Arc::new(std::fs::File::open("Cargo.toml")?);
//! let (done, completions) = mpsc::channel();
//! engine.submit(vec![Read { file, offset: 0, buffer: AlignedBuf::with_capacity(9), tag: 1, done }]);
//! let read = completions.recv().expect("each read completes once");
//! assert_eq!((read.tag, read.result?, &read.buffer[..]), (1, 9, &b"[package]"[..]));
//! # Ok::<(), std::io::Error>(())
//! ```

#![expect(unsafe_code, reason = "hands memory to the kernel, which fills it while the program runs on")]

mod buffer;
mod clock;
mod fill;
mod kind;
mod noop;
mod pacer;
mod pool;
mod read;
mod ring;
mod threads;
mod throttle;
mod throttled;
mod told;

pub use buffer::{ALIGNMENT, AlignedBuf};
pub use clock::Clock;
pub use kind::{EngineKind, build, build_throttled};
pub use noop::Noop;
pub use pool::BufferPool;
pub use read::{Completion, Counters, Engine, Read};
pub use ring::Ring;
pub use threads::Threads;
pub use throttle::Throttle;
pub use throttled::Throttled;
pub use told::Told;
