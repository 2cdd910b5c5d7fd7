//! Numbers the files of a spool in the order in which its rows first mention them. Its reader
//! expects the path of file 0, then of file 1, and so on.

use crate::FileId;

/// The files of a spool, by the number that the caller has for each.
#[derive(Debug, Default)]
pub(super) struct Files {
    files: Vec<File>,
    mentioned: FileId,
}

#[derive(Debug)]
enum File {
    /// No row has mentioned the file. This is its path.
    New(String),
    /// The spool has the path, and this number for the file.
    Mentioned(FileId),
}

/// A file in a row of the spool.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mention {
    pub(super) file: FileId,
    /// Its path, in the first row that mentions it.
    pub(super) path: Option<String>,
}

impl Files {
    /// Adds a file. Returns the caller's number for it.
    ///
    /// # Panics
    /// At 2^32 files, which would need over 100 GB of memory.
    pub(super) fn add(&mut self, path: String) -> FileId {
        self.files.push(File::New(path));
        FileId::try_from(self.files.len() - 1).expect("fewer than 2^32 files")
    }

    /// The next row is about `file`; `None` if that number is not from [`Files::add`].
    pub(super) fn mention(&mut self, file: FileId) -> Option<Mention> {
        let slot = self.files.get_mut(file as usize)?;
        if let File::Mentioned(file) = *slot {
            return Some(Mention { file, path: None });
        }
        let file = self.mentioned;
        self.mentioned += 1;
        match std::mem::replace(slot, File::Mentioned(file)) {
            File::New(path) => Some(Mention { file, path: Some(path) }),
            File::Mentioned(_) => None, // excluded above
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_mentions_counts() {
        let mut files = Files::default();
        assert_eq!(["a", "never", "b"].map(|path| files.add(path.to_owned())), [0, 1, 2]);
        let found = [2, 0, 2].map(|file| files.mention(file).unwrap());
        let expected = [(0, Some("b")), (1, Some("a")), (0, None)];
        assert_eq!(
            found,
            expected.map(|(file, path)| Mention { file, path: path.map(str::to_owned) })
        );
        assert_eq!(files.mention(3), None);
    }
}
