//! Where spools lie: in a folder of the user's own, not beside the trace. The recorded program may
//! list any folder that it works in, and must not find there what is not there without the
//! recorder.

use crate::error::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Of the trace's name, so that the spool's fits a file system's 255 bytes.
const NAME_BYTES_MAX: usize = 200;

/// Where the spool of the trace `trace` is to be written. Makes its folder:
/// `$XDG_STATE_HOME/seekless/spool`, else `~/.local/state/seekless/spool`, else, where that cannot
/// be written, a folder within the system's for temporary files.
///
/// # Errors
/// No such folder can be made.
pub fn spool_path(trace: &Path) -> Result<PathBuf> {
    let mut refused = None;
    for folder in folders() {
        match make(&folder) {
            Ok(()) => return Ok(folder.join(name(trace))),
            Err(error) => refused = Some(Error::io(&folder, "cannot hold spools; set XDG_STATE_HOME", error)),
        }
    }
    Err(refused
        .unwrap_or_else(|| Error::io(trace, "has no place for its spool", io::ErrorKind::NotFound.into())))
}

/// The spool of a trace that is not there itself, if a recording left one: in the user's folder, or
/// beside it.
pub(crate) fn find(trace: &Path) -> Option<PathBuf> {
    let mut beside = trace.as_os_str().to_owned();
    beside.push(".spool");
    let places = folders().into_iter().map(|folder| folder.join(name(trace))).chain([beside.into()]);
    places.into_iter().find(|spool| spool.is_file())
}

fn folders() -> Vec<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")));
    let temporary = std::env::temp_dir().join(format!("seekless-{}", rustix::process::geteuid().as_raw()));
    state
        .map(|state| state.join("seekless"))
        .into_iter()
        .chain([temporary])
        .map(|folder| folder.join("spool"))
        .collect()
}

/// Makes a folder that only this user looks into.
fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    for folder in folder.ancestors().take(2) {
        let found = folder.symlink_metadata()?;
        if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
            // Where all may write, another user can have been there first.
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is not a folder of this user"));
        }
    }
    Ok(rustix::fs::access(folder, rustix::fs::Access::WRITE_OK)?)
}

/// `run.parquet-00c0ffee00c0ffee.spool`: the number tells traces of one name in different folders
/// apart.
fn name(trace: &Path) -> OsString {
    let whole = absolute(trace);
    let last = whole.file_name().unwrap_or(OsStr::new("trace")).as_bytes();
    let mut name = OsStr::from_bytes(&last[..last.len().min(NAME_BYTES_MAX)]).to_owned();
    name.push(format!("-{:016x}.spool", hash(whole.as_os_str().as_bytes())));
    name
}

/// The same for each way to name a file, as far as its folder is there.
fn absolute(trace: &Path) -> PathBuf {
    let whole = std::path::absolute(trace).unwrap_or_else(|_| trace.to_owned());
    let folder = whole.parent().and_then(|folder| folder.canonicalize().ok());
    folder.zip(whole.file_name()).map(|(folder, last)| folder.join(last)).unwrap_or(whole)
}

/// FNV-1a, which stays the same in each version of this program.
fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_same_by_each_way_to_the_file_and_no_other_files() {
        let folder = tempfile::tempdir().unwrap();
        let [trace, twin] = ["run.parquet", "below/run.parquet"].map(|name| folder.path().join(name));
        std::fs::create_dir(folder.path().join("below")).unwrap();
        assert_eq!(name(&trace), name(&folder.path().join("below/../run.parquet")));
        assert_ne!(name(&trace), name(&twin));
        assert!(name(&trace).to_str().unwrap().starts_with("run.parquet-"));
        assert!(name(Path::new(&"x".repeat(255))).len() < 255);
        assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8, "the published value of FNV-1a");
    }

    #[test]
    fn a_folder_is_made_for_this_user_alone_and_nothing_else_is_taken_for_one() {
        let folder = tempfile::tempdir().unwrap();
        let spools = folder.path().join("state/seekless/spool");
        make(&spools).unwrap();
        make(&spools).unwrap();
        assert_eq!(spools.metadata().unwrap().mode() & 0o777, 0o700);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&spools, &link).unwrap();
        assert!(make(&link).is_err());
    }
}
