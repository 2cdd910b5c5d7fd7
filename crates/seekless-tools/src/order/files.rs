//! The files of an archive, as orders are made and judged of them.

use seekless_policy::ordering::Kin;

/// A local header of a Zip, without the name.
const HEADER_BYTES: u64 = 30;

/// Files by number: what each holds, what it takes in the archive, and which are alike.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    /// Bytes of content.
    pub(crate) bytes: Vec<u64>,
    /// Bytes in the archive, with the header: these are what is read.
    pub(crate) coded: Vec<u64>,
    pub(crate) kin: Kin,
}

impl Files {
    /// Files with these names and contents that are stored as they are.
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a str> + Clone, bytes: Vec<u64>) -> Self {
        let coded = names.clone().zip(&bytes);
        let coded = coded.map(|(name, bytes)| HEADER_BYTES + name.len() as u64 + bytes).collect();
        Files { coded, kin: Kin::new(names), bytes }
    }

    /// The same, coded to so many bytes each.
    pub(crate) fn coded(mut self, data_bytes: &[u64]) -> Self {
        for (coded, (bytes, data)) in self.coded.iter_mut().zip(self.bytes.iter().zip(data_bytes)) {
            *coded = *coded - bytes + data;
        }
        self
    }
}
