//! The files of an archive, as orders are made and judged of them.

use super::naming::{Learn, Naming};
use seekless_job::Result;
use seekless_policy::layout::ordering::Kin;

/// A local header of a Zip, without the name.
const HEADER_BYTES: u64 = 30;

/// Files by number: what each holds, what it takes in the archive, and which are alike.
#[derive(Clone, Default)]
pub(crate) struct Files {
    /// Bytes of content.
    pub(crate) bytes: Vec<u64>,
    /// Bytes in the archive, with the header: these are what is read.
    pub(crate) coded: Vec<u64>,
    pub(crate) kin: Kin,
    /// Learns from runs which files name which.
    pub(crate) learn: Option<Learn>,
}

impl Files {
    /// Files with these names and contents that are stored as they are.
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a str> + Clone, bytes: Vec<u64>) -> Self {
        let coded = names.clone().zip(&bytes);
        let coded = coded.map(|(name, bytes)| HEADER_BYTES + name.len() as u64 + bytes).collect();
        Files { coded, kin: Kin::new(names), bytes, learn: None }
    }

    /// The same, coded to this many bytes each.
    pub(crate) fn coded(mut self, data_bytes: &[u64]) -> Self {
        for (coded, (bytes, data)) in self.coded.iter_mut().zip(self.bytes.iter().zip(data_bytes)) {
            *coded = *coded - bytes + data;
        }
        self
    }

    /// The same, with what `naming` says of these names, which are those of the files by number.
    pub(crate) fn naming(self, naming: Option<&Naming>, names: &[String]) -> Result<Self> {
        let find = |naming: &Naming| naming.of(names, &self.bytes);
        let learn = naming.map(find).transpose()?;
        Ok(self.learning(learn))
    }

    /// The same, with what learns of these files which name which.
    pub(crate) fn learning(self, learn: Option<Learn>) -> Self {
        Files { learn, ..self }
    }
}
