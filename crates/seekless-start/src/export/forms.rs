//! One writer for each tool. The head of a file says where the tool's own source or documents
//! define its format.

pub(super) mod cvmfs;
pub(super) mod dwarfs;
pub(super) mod estargz;
pub(super) mod juicefs;
pub(super) mod lines;
pub(super) mod nydus;
pub(super) mod soci;
pub(super) mod squashfs;
pub(super) mod tar;
pub(super) mod unreal;
pub(super) mod vmtouch;
