//! A tar of the folder, read at offsets that an index gives, and as the stream that it is.

use super::ways::Way;
use crate::wassenberg2006::load::timed;
use anyhow::{Context, ensure};
use seekless::measure::Trial;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use tar::{Archive, Builder, HeaderMode};

/// Bytes of a read of the stream.
const STREAM_BYTES: usize = 1 << 20;

/// A tar, and where each file's content lies in it.
pub(super) struct Tar {
    path: PathBuf,
    places: HashMap<String, (u64, usize)>,
}

impl Tar {
    /// Writes the files of this order.
    pub(super) fn make(folder: &Path, order: &[String], path: PathBuf) -> anyhow::Result<Self> {
        eprintln!("making {}", path.display());
        let out = File::create(&path).with_context(|| path.display().to_string())?;
        let mut tar = Builder::new(BufWriter::with_capacity(STREAM_BYTES, out));
        tar.mode(HeaderMode::Deterministic);
        for name in order {
            tar.append_path_with_name(folder.join(name), name)?;
        }
        tar.into_inner()?.into_inner().map_err(|error| error.into_error())?.sync_all()?;
        let places = places(&path)?;
        Ok(Self { path, places })
    }
}

fn places(path: &Path) -> anyhow::Result<HashMap<String, (u64, usize)>> {
    let mut places = HashMap::new();
    for entry in Archive::new(File::open(path)?).entries_with_seek()? {
        let entry = entry?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        places.insert(name, (entry.raw_file_position(), usize::try_from(entry.size())?));
    }
    Ok(places)
}

/// Each file at its offset. The index is in memory.
pub(super) struct Indexed<'a>(pub(super) &'a Tar);

impl Way for Indexed<'_> {
    fn read_from(&self) -> Vec<PathBuf> {
        vec![self.0.path.clone()]
    }

    fn load(&mut self, names: &[String]) -> anyhow::Result<Trial> {
        timed(|sum| {
            let file = File::open(&self.0.path)?;
            for (position, name) in (0..).zip(names) {
                let place = self.0.places.get(name);
                let &(offset, bytes) =
                    place.with_context(|| format!("{name} is not in the tar"))?;
                let mut content = vec![0; bytes];
                file.read_exact_at(&mut content, offset)?;
                sum.add(position, &content);
            }
            Ok(())
        })
    }
}

/// The stream from its beginning, until all files have come.
pub(super) struct Streamed<'a>(pub(super) &'a Tar);

impl Way for Streamed<'_> {
    fn read_from(&self) -> Vec<PathBuf> {
        vec![self.0.path.clone()]
    }

    fn load(&mut self, names: &[String]) -> anyhow::Result<Trial> {
        timed(|sum| {
            let mut awaited: HashMap<&[u8], u64> =
                names.iter().map(String::as_bytes).zip(0..).collect();
            let stream = BufReader::with_capacity(STREAM_BYTES, File::open(&self.0.path)?);
            let (mut archive, mut content) = (Archive::new(stream), Vec::new());
            for entry in archive.entries()? {
                let mut entry = entry?;
                let Some(position) = awaited.remove(entry.path_bytes().as_ref()) else { continue };
                content.clear();
                entry.read_to_end(&mut content)?;
                sum.add(position, &content);
                if awaited.is_empty() {
                    break;
                }
            }
            ensure!(awaited.is_empty(), "{} files are not in the tar", awaited.len());
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_deliver_the_files_in_the_order_that_was_asked_for() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let long = format!("{}/name", "directory".repeat(20));
        let names = ["b", "a", &long, "empty"].map(str::to_owned);
        for (bytes, name) in [600, 5, 70_000, 0].into_iter().zip(&names) {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("room");
            std::fs::write(path, vec![bytes as u8; bytes]).expect("room");
        }
        let tar = Tar::make(folder.path(), &names, folder.path().join("all.tar")).expect("a tar");
        let asked = [&names[2], &names[3], &names[0]].map(Clone::clone);
        let indexed = Indexed(&tar).load(&asked).expect("it is there");
        let streamed = Streamed(&tar).load(&asked).expect("it is there");
        assert_eq!(indexed.delivered_bytes, 70_600);
        assert_eq!(indexed.checksum, streamed.checksum);
        assert!(Streamed(&tar).load(&["c".to_owned()]).is_err());
        assert!(Indexed(&tar).load(&["c".to_owned()]).is_err());
    }
}
