//! Sources of knowledge about where ranges of a file lie, each in a small file behind one trait.
//!
//! Their answers are laid over each other. The provider nearest to the program comes first (a mock,
//! then the page cache). Where it says nothing, the next one below decides (a cache file, another
//! machine), down to the device itself.

mod cache_file;
mod claim;
mod device;
mod mock;
mod page_cache;
mod recall;
pub(crate) mod remote;

pub use cache_file::CacheFile;
pub use claim::{Claim, Presence, Provider, Target};
pub use device::{Device, Holes};
pub use mock::Mock;
pub use page_cache::PageCache;
pub use recall::Recall;
pub use remote::Remote;
