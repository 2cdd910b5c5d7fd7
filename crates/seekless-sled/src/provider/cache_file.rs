//! Sparse cache files: a mount that keeps what it fetched in a sparse file of the same relative
//! name (`rclone mount` with `--vfs-cache-mode full`). The data in the cache file is on this
//! machine.

use super::claim::{Claim, Presence, Provider, Target};
use super::device::data_ranges;
use crate::{Confidence, Error, Level};
use seekless_device::Zone;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// The cache of one mount.
#[derive(Clone, Debug)]
pub struct CacheFile {
    /// The mount's folder.
    pub mount: PathBuf,
    /// The folder of its cache files.
    pub cache: PathBuf,
    /// The cost of the device that holds the cache files.
    pub zone: Zone,
}

impl Provider for CacheFile {
    fn name(&self) -> &'static str {
        "cache file"
    }

    fn claims(&self, target: &Target<'_>) -> Result<Vec<Claim>, Error> {
        let Some(name) = target.path.and_then(|path| path.strip_prefix(&self.mount).ok()) else {
            return Ok(Vec::new());
        };
        let path = self.cache.join(name);
        let flags = libc_flags();
        let file = match File::options().read(true).custom_flags(flags).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(|error| Error::io(&path, error))?,
        };
        let about = file.metadata().map_err(|error| Error::io(&path, error))?;
        if !about.is_file() {
            return Ok(Vec::new());
        }
        let presence = Presence::at(Level::Device, &self.zone, Confidence::Exact);
        let bytes = about.len().min(target.bytes);
        let found = data_ranges(&file, bytes).map_or(Vec::new(), |(list, _)| list);
        let within = found.into_iter().filter(|data| data.offset < bytes);
        Ok(within
            .map(|data| Claim::now(data.offset, data.bytes.min(bytes - data.offset), presence))
            .collect())
    }
}

/// Opening a named pipe must not wait for its writer.
fn libc_flags() -> i32 {
    rustix::fs::OFlags::NONBLOCK.bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;
    use std::path::Path;

    fn claims(cache: &Path, name: &str, bytes: u64) -> Vec<(u64, u64)> {
        let zone =
            Zone { from_byte: 0, latency_ns: 100, latency_p90_ns: None, bytes_per_second: 100 };
        let provider =
            CacheFile { mount: PathBuf::from("/mnt/remote"), cache: cache.to_owned(), zone };
        let path = Path::new("/mnt/remote").join(name);
        let target = Target { file: None, path: Some(&path), bytes, allocated_bytes: 0 };
        provider
            .claims(&target)
            .expect("an answer")
            .iter()
            .map(|range| (range.offset, range.bytes))
            .collect()
    }

    #[test]
    fn what_has_data_in_the_cache_file_is_here() {
        let cache = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        let file = File::create(cache.path().join("film")).expect("made");
        file.set_len(8 << 20).expect("sparse");
        file.write_all_at(&[1; 1 << 16], 1 << 20).expect("written");
        file.write_all_at(&[1; 1 << 16], 7 << 20).expect("written");
        assert_eq!(claims(cache.path(), "film", 8 << 20), [(1 << 20, 1 << 16), (7 << 20, 1 << 16)]);
        assert_eq!(
            claims(cache.path(), "film", (1 << 20) + 5),
            [(1 << 20, 5)],
            "the file is shorter by now"
        );
        assert_eq!(claims(cache.path(), "other", 8 << 20), []);
        std::fs::create_dir(cache.path().join("folder")).expect("made");
        assert_eq!(claims(cache.path(), "folder", 8 << 20), []);
    }
}
