//! The jobs of the command: each joins several crates into one piece of work.
//!
//! **Invariant:** each job is one module with one entry point; it prints nothing.
//!
//! To load a program's files faster, one records its runs, computes an order from them, and packs
//! the files in that order. Then one compares loading the pack with loading the loose files. The
//! crates below each know one part of this: `seekless-record` makes traces, `seekless-policy` makes
//! orders, and `seekless-pack` writes archives. `seekless-io` loads from archives, and
//! `seekless-measure` times workloads. They do not know each other. The modules here connect them:
//!
//! | module | job |
//! |---|---|
//! | [`advise`](mod@advise) | finds out what a program waits for, and what would help |
//! | [`order`] | computes an order of files from traces, and rates it on other runs |
//! | [`pack`] | packs a folder in an order, and checks packs |
//! | [`compare`] | loads a run from loose files and from their pack, both cold, in turn |
//! | [`predict`] | says what loading a run from a pack would ask of a device |
//! | [`references`] | finds which files of a folder name which, and how likely that comes true |
//! | [`synth`] | makes files with the names and sizes of a trace, if the real ones are elsewhere |
//! | [`probe`] | measures what a device costs, and keeps the figures |
//! | [`replay`](mod@replay) | plays a trace again, on files, a device or a device model |
//! | [`sleds`] | sums up what reading a folder costs now |
//! | [`cool`](mod@cool) | drops files from the page cache |
//! | [`cut`](mod@cut), [`diff`](mod@diff) | cuts a part out of a trace, compares two |
//! | [`blocks`](mod@blocks) | maps the accesses of a trace to the blocks of the device |
//! | [`seen`] | what a run of a trace did when, for a picture |
//! | [`anonymise`](mod@anonymise) | makes a trace fit to be given away |
//! | [`leftovers`] | finds and removes what killed verbs have left |
//! | [`doctor`] | tries what the kernel offers here |
//! | [`tour`] | does all of this on a sample that it makes itself |
//!
//! `seekless-start` has the jobs of a program's start, and `seekless-job` what all jobs share.
//! [`device`] finds the device that a user names. A job takes its options as a struct and reports
//! its progress to a callback. It returns its figures as a struct that serializes to the JSON that
//! the command prints.
//!
//! # Example
//!
//! Makes two files, and packs them with the one that a program reads first in front:
//!
//! ```
//! use seekless_tools::{pack, synth};
//!
//! # let folder = tempfile::tempdir()?;
//! # let (tree, archive) = (folder.path().join("game"), folder.path().join("game.zip"));
//! let file = |path: &str, bytes| synth::File { path: path.to_owned(), bytes };
//! let files = [file("art/wall.dds", 90_000), file("start.xml", 700)];
//! let made = synth::synth(&tree, &files, &synth::Options::default(), &mut |_done, _total| {})?;
//! assert_eq!((made.files, made.bytes), (2, 90_700));
//!
//! let order = ["start.xml".to_owned()];
//! let options = pack::Options::default();
//! let packed = pack::pack(&tree, &archive, &order, &options, &mut |_done, _total| {})?;
//! assert_eq!(packed.entries - packed.directories, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod advise;
pub mod anonymise;
pub mod blocks;
pub mod compare;
pub mod cool;
pub mod cut;
pub mod device;
pub mod diff;
pub mod doctor;
pub mod leftovers;
pub mod order;
pub mod pack;
pub mod predict;
pub mod probe;
pub mod references;
pub mod remote;
pub mod replay;
mod rewrite;
pub mod seen;
pub mod sleds;
pub mod synth;
pub mod tour;

pub use seekless_job::{Error, ErrorKind, Result};
