//! Reads and writes objects in object storage, in few large requests of which many run at once.
//!
//! ```no_run
//! use seekless_engine::{AlignedBuf, Engine, automatic};
//! use seekless_remote::{Access, Remote, Settings};
//!
//! let engine = Remote::new(automatic(), Access::default(), Settings::default())?;
//! let opened = engine.open("s3://bucket/pack.zip".as_ref(), 65_536).expect("no file")?;
//! let (first, bytes) = engine.read_now(opened.file, 0, AlignedBuf::with_capacity(1000));
//! assert_eq!(first.len(), bytes?);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # The problem
//!
//! A request to object storage takes some 20 ms, whatever its size, and now and then a second. It
//! fails now and then, and the object behind a name may be replaced between two requests. But
//! hundreds of requests run at once. So a program that asks for one small file after the other
//! waits for minutes, and one that does not check may mix bytes of two objects.
//!
//! # What it does
//!
//! [`Remote`] is an [`Engine`](seekless_engine::Engine). What to read, and what to join into one
//! request, is decided by its user from [`Costs`](seekless_device::Costs), which this engine learns
//! from its own requests. For each read it does the following.
//!
//! - It asks for a range of the very object that was opened (`If-Match`), and compares ETag, size
//!   and range of the answer. An object that was replaced is an error.
//! - What fails in passing (a busy server, a lost connection, a body that ends early) is asked for
//!   again from the byte where it ended, after a random wait that doubles, until a deadline.
//! - Where a few requests take far longer than most, one that is late is asked a second time, and
//!   the first answer counts ([`Settings::hedge_share`]).
//!
//! With a [`DiskCache`], what was read once is kept on the local disk, for all processes of a user.
//! Opening still asks the server which version there is; ranges of that version that are in the
//! cache cost no request.
//!
//! [`put`] writes an object: in parts, which become one object at the end or none. It replaces
//! nothing unless it may. [`update`] changes a small one in a single step, also if others do so at
//! the same time. [`renew`] writes a new version of a large one, of which what stays is copied
//! where it lies.
//!
//! # Why a cache of our own
//!
//! It must serve several processes at once, keep to a bound that all of them share, survive a kill
//! at any point, and give ranges. `foyer` (0.22) gives a folder to one process, which keeps the
//! index in memory, and needs Rust 1.91. `cacache` (13) has no bound and no eviction, and a file
//! for each entry. So it is one sparse file with a table.
//!
//! # Its neighbours
//!
//! `object_store` speaks the protocols and finds the credentials. Names are parsed by
//! [`ObjectName`](seekless_engine::ObjectName). `seekless-io` opens packs with this engine if its
//! feature `remote` is on.
//!
//! **Invariant:** a read gives the bytes of the object that was opened, or an error; no credential
//! reaches a message.

mod access;
mod cached;
mod connector;
mod credentials;
mod disk;
mod engine;
mod fault;
mod learned;
mod object;
mod pause;
mod plan;
mod provider;
mod put;
mod range;
mod renew;
mod runtime;
mod settings;
mod update;

pub use access::Access;
pub use disk::{Cached, CachedRange, DiskCache, Note};
pub use engine::Remote;
pub use plan::{Kept, Plan};
pub use put::{Condition, Version, check, put};
pub use renew::renew;
pub use settings::Settings;
pub use update::update;
