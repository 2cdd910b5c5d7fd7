//! GNU's `wc`, `grep` and `find`, byte for byte, reading the cheapest bytes first.
//!
//! # The problem
//!
//! GNU's tools read each file from its first byte to its last. If a file is larger than the memory
//! left for caching, its beginning is on the device and its end in memory. The bytes that come from
//! the device push out the cached ones before the tool reaches them. A tool that takes the cached
//! bytes first reads less from the device. But its output must stay GNU's: the same lines in the
//! same order, the same messages, the same exit status.
//!
//! # The neighbours
//!
//! `seekless-sled` knows what each range of a file costs to read now. `seekless-read` delivers the
//! text of many files in chunks, the cheapest first. `wc` and `grep` are built on `seekless-read`,
//! and `find` asks `seekless-sled` for its test `-latency`. Command lines for `wc` and `grep` are
//! parsed by the `seekless` command, which fills in [`wc::Job`] and [`grep::Options`].
//!
//! # The ideas
//!
//! - **`wc`: counts are a monoid.** Each chunk is counted alone, whatever comes before it. The
//!   counts of neighbours can be joined, even where the cut split a word, a character or a line.
//!   So the order of reading does not change the sum.
//! - **`grep`: a sweep comes before any automaton.** Every match of most patterns holds some fixed
//!   bytes. A vectorised pass finds the parts of a text that may hold them, and only those are
//!   searched. A chunk that arrives early is searched at once; lines are printed in file order.
//! - **`find`: one expression is evaluated for each file.** Cheap tests come first, as GNU orders
//!   them. Helper threads look at files before the walk reaches them, and act on none.
//!
//! GNU's answers depend on the user's locale, so character classes, dates and some regular
//! expressions come from the C library.
//!
//! **Invariant:** the answer is GNU's, byte for byte; the order in which pieces are read changes
//! only the time.
//!
//! # Example
//!
//! ```
//! use seekless_gnu::wc::{self, Charset, Input, Job, Total, Wanted};
//! use seekless_read::{Plan, Reach};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("log");
//! # std::fs::write(&path, "one\ntwo words\n")?;
//! let job = Job {
//!     inputs: vec![Input::Path(path)],
//!     wanted: Wanted { lines: true, words: true, ..Wanted::default() },
//!     total: Total::Never,
//!     aligned: true,
//!     plan: Plan::Best,
//!     reach: Reach::default(),
//!     hold_bytes: 0,
//!     statistics: true,
//!     quiet: true, // print no lines: the report has the counts
//! };
//! let mut later = std::iter::empty::<Input>();
//! let mut charset = Charset::from_environment();
//! let (mut out, mut errors) = (Vec::<u8>::new(), Vec::<u8>::new());
//! let report =
//!     wc::run(&job, &mut later, &mut charset, &mut out, &mut errors, &mut |_done, _all| {})?;
//! assert!(report.complete);
//! assert_eq!((report.total.lines, report.total.words), (2, 3));
//! # Ok::<(), std::io::Error>(())
//! ```

mod clib;
mod deep;
pub mod find;
pub mod grep;
mod names;
pub mod wc;
mod wide;
mod words;

pub use names::read_name;
