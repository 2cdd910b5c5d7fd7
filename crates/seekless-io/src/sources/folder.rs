//! A loose folder: its files by name, as they were when the store was opened.

use crate::error::Error;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A folder, and the files in it and below.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    /// By name.
    pub(crate) files: Vec<Loose>,
}

/// A file of a folder.
pub(crate) struct Loose {
    /// Relative to the folder, with `/` between its parts.
    pub(crate) name: Box<str>,
    /// Its size when the folder was walked.
    pub(crate) bytes: u64,
}

impl Folder {
    /// Walks the folder. Links count as what they lead to; those that lead nowhere, names that are
    /// not UTF-8, and what is no file are passed over.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let fail = |error| Error::open_folder(path, error);
        let metadata = std::fs::metadata(path).map_err(fail)?;
        let mut walk = Walk { files: Vec::new(), above: Vec::new() };
        walk.folder(path, "", &metadata).map_err(fail)?;
        walk.files.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(Self { path: path.to_owned(), files: walk.files })
    }

    /// Opens a file, which must be as large as it was.
    pub(crate) fn file(&self, number: usize) -> io::Result<File> {
        let Loose { name, bytes } = &self.files[number];
        let file = File::open(self.path.join(&**name))?;
        let found = file.metadata()?.len();
        if found != *bytes {
            let why = format!(
                "it has {found} bytes, and had {bytes} when the store was opened; open it again"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(file)
    }
}

struct Walk {
    files: Vec<Loose>,
    /// The folders that we are in: meeting one again is a loop of links.
    above: Vec<(u64, u64)>,
}

impl Walk {
    fn folder(&mut self, path: &Path, prefix: &str, metadata: &Metadata) -> io::Result<()> {
        let identity = (metadata.dev(), metadata.ino());
        if self.above.contains(&identity) {
            return Ok(());
        }
        self.above.push(identity);
        for entry in std::fs::read_dir(path)? {
            let path = entry?.path();
            let Some(last) = path.file_name().and_then(|name| name.to_str()) else { continue };
            let Ok(metadata) = std::fs::metadata(&path) else { continue };
            if metadata.is_dir() {
                self.folder(&path, &format!("{prefix}{last}/"), &metadata)?;
            } else if metadata.is_file() {
                let name = format!("{prefix}{last}").into();
                self.files.push(Loose { name, bytes: metadata.len() });
            }
        }
        self.above.pop();
        Ok(())
    }
}
