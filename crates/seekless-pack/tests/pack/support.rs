//! Archives for the tests, read as a reader would; those put together byte by byte are of `forge`.

use crate::memory::bounded;
use seekless_pack::{About, Codec, ErrorKind, Index, PackWriter, decode, prepare};
use std::path::PathBuf;
use std::process::Command;

/// An archive of these files.
pub(crate) fn pack(files: &[(&str, &[u8])], codec: Codec) -> Vec<u8> {
    let mut writer = PackWriter::new(Vec::new());
    for (name, bytes) in files {
        let entry = prepare(About::named(*name).modified(1_700_000_001), bytes.to_vec(), codec);
        writer.add(entry.expect("a good name")).expect("a vector takes all");
    }
    writer.finish().expect("a vector takes all").0
}

/// Opens the archive and decodes every entry, as a reader would, in memory that its size justifies.
pub(crate) fn read_all(archive: &[u8]) -> seekless_pack::Result<Vec<(String, Vec<u8>)>> {
    bounded(archive.len(), || read_entries(archive))
}

fn read_entries(archive: &[u8]) -> seekless_pack::Result<Vec<(String, Vec<u8>)>> {
    let index = Index::open(archive, archive.len() as u64)?;
    let mut files = Vec::new();
    for (entry, number) in index.entries().zip(0..) {
        let extent = &archive[entry.header_offset as usize..][..entry.extent_bytes as usize];
        let mut content = Vec::new();
        decode(&entry, index.name(number), extent, &mut content)?;
        files.push((index.name(number).to_owned(), content));
    }
    Ok(files)
}

/// The kind of the error that reading all of `archive` ends with.
pub(crate) fn refusal(archive: &[u8]) -> ErrorKind {
    let error = read_all(archive).expect_err("it must be refused");
    assert!(error.to_string().len() > 20, "an error says more than {error}");
    error.kind()
}

/// The command, or `None` after saying that a test is skipped, where it is not installed.
pub(crate) fn installed(program: &str) -> Option<Command> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).any(|path| path.join(program).is_file());
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found.then(|| Command::new(program))
}

/// A temporary folder with `archive` in it as `data.zip`.
pub(crate) fn on_disk(archive: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("data.zip");
    std::fs::write(&path, archive).expect("room for a small file");
    (folder, path)
}
