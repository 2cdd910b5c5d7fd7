//! Archives whose bytes depend on their contents alone: sorted, owned by root, all of one time.

use anyhow::Context;
use flate2::{Compression, GzBuilder};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};

/// A tar of all that lies below a folder, each name below `prefix`.
pub(super) fn tar(folder: &Path, prefix: &str, seconds: u64) -> anyhow::Result<Vec<u8>> {
    let mut builder = Builder::new(Vec::new());
    if !prefix.is_empty() {
        append(&mut builder, folder, Path::new(prefix), seconds)?;
    }
    for path in below(folder)? {
        let name = Path::new(prefix).join(path.strip_prefix(folder)?);
        append(&mut builder, &path, &name, seconds)
            .with_context(|| format!("cannot archive {}", path.display()))?;
    }
    Ok(builder.into_inner()?)
}

/// The same, compressed; the header of gzip names no file and no time.
pub(super) fn gzip(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// All that lies below a folder, each folder before what is in it, sorted.
pub(super) fn below(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let is_folder = path.symlink_metadata()?.is_dir();
        found.push(path.clone());
        if is_folder {
            found.extend(below(&path)?);
        }
    }
    Ok(found)
}

fn append(
    builder: &mut Builder<Vec<u8>>,
    path: &Path,
    name: &Path,
    seconds: u64,
) -> anyhow::Result<()> {
    let about = path.symlink_metadata()?;
    let mut header = Header::new_gnu();
    header.set_mtime(seconds);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(0);
    if about.is_symlink() {
        header.set_entry_type(EntryType::Symlink);
        header.set_mode(0o777);
        builder.append_link(&mut header, name, fs::read_link(path)?)?;
    } else if about.is_dir() {
        header.set_entry_type(EntryType::Directory);
        header.set_mode(mode(about.permissions().mode()) | 0o111);
        builder.append_data(&mut header, name, std::io::empty())?;
    } else {
        let bytes = fs::read(path)?;
        header.set_entry_type(EntryType::Regular);
        header.set_mode(mode(about.permissions().mode()));
        header.set_size(bytes.len() as u64);
        builder.append_data(&mut header, name, &bytes[..])?;
    }
    Ok(())
}

/// The mode without what the maker's umask left: 755 or 644, or a folder for all (1777).
fn mode(of_file: u32) -> u32 {
    match of_file {
        of_file if of_file & 0o1000 != 0 => 0o1777,
        of_file if of_file & 0o100 != 0 => 0o755,
        _ => 0o644,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_making_times_and_umask_leave_no_trace() {
        let made = |names: [&str; 3], mode: u32| {
            let folder = tempfile::tempdir().expect("a folder");
            for name in names {
                let path = folder.path().join(name);
                fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
                fs::write(&path, name).expect("a file");
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
            }
            gzip(&tar(folder.path(), "x-1", 7).expect("a tar")).expect("gzip")
        };
        let first = made(["b", "a/z", "a/y"], 0o600);
        assert_eq!(first, made(["a/y", "b", "a/z"], 0o664));
        assert_ne!(first, made(["a/y", "b", "a/z"], 0o700), "what can be run stays so");
    }
}
