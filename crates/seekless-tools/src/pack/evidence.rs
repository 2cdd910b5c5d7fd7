//! How an update decides whether a file is as it was packed.

/// By what a file is known to be as it was packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Evidence {
    /// By its size and its time to 100 ns; where these do not prove it
    /// ([`Likeness`](seekless_pack::Likeness)), by the CRC-32 of its content.
    #[default]
    SizeAndTime,
    /// By its size and the CRC-32 of its content: every file of the folder is read.
    Content,
}
