//! Which pages of a file to fetch before they are asked for.
//!
//! A cache of pages calls a [`Readahead`] while a program reads, and the readahead answers with
//! windows of pages to fetch ([`Ahead::submit`]). Watching the reads and triggering are the
//! cache's; deciding is the readahead's (Wu 2010, Fig. 3). Each algorithm is a file of its own.
//!
//! The order of the calls for one read is fixed. The cache calls [`Readahead::on_read`] once. Then
//! it looks at each page of the read, in order. A page that is not in the cache is a
//! [`Trigger::Miss`]; after the call the cache looks again, and reads the page alone if it is still
//! missing. A page that carries a marker is a [`Trigger::Marker`], and its marker has already been
//! cleared. One page may be both. At the end of the read the cache calls
//! [`Readahead::on_read_end`].

mod fixed;
#[cfg(test)]
mod host;
mod legacy;
mod linux;
mod matcher;
mod next_files;
mod none;
mod ondemand;
mod options;
mod pattern;
mod size;
mod slab;
mod streams;
mod table;
#[cfg(test)]
mod tests;

pub use fixed::Fixed;
pub use legacy::Legacy;
pub use next_files::NextFiles;
pub use none::NoReadahead;
pub use options::{Lead, Options};
pub use streams::Streams;
pub use table::{About, READAHEADS, check_name, named};

use seekless_device::Costs;

/// The number of a page within its file: its offset divided by 4096.
pub type PageNo = u64;

/// One open file, numbered densely by the owner of the cache. Two opens of one file are two
/// handles, as two file descriptions are in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(pub u32);

/// One read call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// The open file.
    pub file: Handle,
    /// The first byte.
    pub offset: u64,
    /// The number of bytes asked for; more than 0.
    pub bytes: u64,
}

/// Pages to fetch, and where to call again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first page.
    pub first: PageNo,
    /// The number of pages; those that are cached or in flight are skipped, and so are those past
    /// the end of the file.
    pub pages: u32,
    /// The page that gets a marker, if this call is what starts its fetch.
    pub marker: Option<PageNo>,
}

/// Why [`Readahead::on_page`] is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The page is not in the cache.
    Miss,
    /// The page carried a marker. It may still be in flight.
    Marker,
    /// A mapped page is touched that is not in the cache.
    Fault,
}

/// What became of a prefetched page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was read after its fetch had ended.
    InTime,
    /// It was asked for while its fetch was under way: the reader waited.
    Late,
    /// It was evicted before anybody read it.
    Wasted,
}

/// What a readahead may see and do, for the file of the call.
pub trait Ahead {
    /// Whether the page is cached or in flight.
    fn cached(&self, page: PageNo) -> bool;
    /// The number of pages of the file.
    fn pages(&self) -> u64;
    /// Starts to fetch the missing pages of a window. Returns how many pages it started.
    fn submit(&mut self, window: Window) -> u32;
    /// Whether the device is so busy that a prefetch should be left out.
    fn congested(&self) -> bool;
    /// How many pages may be prefetched and unused at a time, over all files.
    fn budget_pages(&self) -> u32;
    /// What the device charges.
    fn costs(&self) -> Costs;
}

/// A readahead. It keeps what it knows of each open file in a slab under the file's handle.
pub trait Readahead: std::fmt::Debug + Send {
    /// A file was opened under a handle that is not in use.
    fn open(&mut self, file: Handle);
    /// The file was closed; its handle may be used again.
    fn close(&mut self, file: Handle);
    /// A read begins.
    fn on_read(&mut self, _read: Read, _ahead: &mut dyn Ahead) {}
    /// A page of the read needs a decision.
    fn on_page(&mut self, read: Read, page: PageNo, why: Trigger, ahead: &mut dyn Ahead);
    /// A read has ended; `end_byte` is the first byte after what was returned.
    fn on_read_end(&mut self, _read: Read, _end_byte: u64) {}
    /// A prefetched page of the file was used or thrown away.
    fn on_fate(&mut self, _file: Handle, _page: PageNo, _fate: Fate) {}
}
