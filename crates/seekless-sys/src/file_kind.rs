//! What a file is, by its first bytes: for messages to a user who has named the wrong one.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// More of a file's beginning is not looked at.
const HEAD_BYTES: u64 = 512;

/// A kind of file that is easily taken for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// A folder.
    Folder,
    /// A file without bytes.
    Empty,
    /// A Zip archive, such as a pack.
    Zip,
    /// A Parquet file, such as a trace or a profile.
    Parquet,
    /// What a recording writes while it runs.
    Spool,
    /// Compressed by gzip, xz or zstd.
    Compressed,
    /// An executable file.
    Program,
    /// Paths, one a line or with a NUL behind each.
    List,
}

impl FileKind {
    /// The kind of a file that begins so; all of it, if it is shorter than some hundred bytes.
    /// `None` if it may be anything.
    #[must_use]
    pub fn of_head(head: &[u8]) -> Option<Self> {
        const MAGIC: [(&[u8], FileKind); 10] = [
            (b"PK\x03\x04", FileKind::Zip),
            (b"PK\x05\x06", FileKind::Zip),
            (b"PK\x06\x06", FileKind::Zip),
            (b"PAR1", FileKind::Parquet),
            (b"SKSP", FileKind::Spool),
            (b"\x1f\x8b\x08", FileKind::Compressed),
            (b"\xfd7zXZ\0", FileKind::Compressed),
            (b"\x28\xb5\x2f\xfd", FileKind::Compressed),
            (b"\x7fELF", FileKind::Program),
            (b"#!", FileKind::Program),
        ];
        if head.is_empty() {
            return Some(FileKind::Empty);
        }
        let known = MAGIC.iter().find(|(magic, _)| head.starts_with(magic));
        known.map(|(_, kind)| *kind).or_else(|| is_list(head).then_some(FileKind::List))
    }

    /// The kind of the file at a path. `None` if it may be anything, or is no regular file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(path: &Path) -> io::Result<Option<Self>> {
        let found = std::fs::metadata(path)?;
        if found.is_dir() {
            return Ok(Some(FileKind::Folder));
        }
        if !found.is_file() {
            return Ok(None); // to read from a pipe would take its bytes away
        }
        let mut head = Vec::new();
        File::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
        Ok(Self::of_head(&head))
    }

    /// What to call it, with its article.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            FileKind::Folder => "a folder",
            FileKind::Empty => "an empty file",
            FileKind::Zip => "a Zip archive",
            FileKind::Parquet => "a Parquet file, such as a trace",
            FileKind::Spool => "the spool of a recording",
            FileKind::Compressed => "a compressed file",
            FileKind::Program => "a program",
            FileKind::List => "a list of paths",
        }
    }
}

/// Whether the first line is a path that begins at the root or at the folder here, and nothing
/// else: a row of a table has commas or more words.
fn is_list(head: &[u8]) -> bool {
    let first = head.split(|byte| matches!(byte, b'\n' | 0)).next().unwrap_or_default();
    let first = first.strip_suffix(b"\r").unwrap_or(first);
    let begins = [&b"/"[..], b"./", b"../"].iter().any(|beginning| first.starts_with(beginning));
    begins && !first.iter().any(|byte| byte.is_ascii_control() || b",;\t".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell() {
        let cases: [(&[u8], Option<FileKind>); 9] = [
            (b"", Some(FileKind::Empty)),
            (b"PK\x03\x04rest", Some(FileKind::Zip)),
            (b"PAR1", Some(FileKind::Parquet)),
            (b"\x7fELF\x02", Some(FileKind::Program)),
            (b"/usr/lib/a b.so\r\n/etc/passwd", Some(FileKind::List)),
            (b"./a\0./b\0", Some(FileKind::List)),
            (b"/a,0,4096\n", None),
            (b"path,offset\n", None),
            (b"17\n18\n", None),
        ];
        for (head, kind) in cases {
            assert_eq!(FileKind::of_head(head), kind, "{head:?}");
        }
        assert_eq!(FileKind::of(Path::new("/")).unwrap(), Some(FileKind::Folder));
        assert_eq!(FileKind::of(Path::new("/dev/null")).unwrap(), None);
        assert!(FileKind::of(Path::new("/no/such")).is_err());
    }
}
