//! Where spools are: in a folder of the user, not beside the trace. The recorded program may list
//! the folder that it works in, and must find the same files there as without the recorder.

use crate::error::{Error, Result};
use crate::fnv::fnv_1a;
use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// How much of the trace's name is used, so that the spool's name fits the 255 bytes that file
/// systems allow.
const NAME_BYTES_MAX: usize = 200;

/// The path of the spool for the trace `trace`. Makes its folder: `$XDG_STATE_HOME/seekless/spool`
/// or `~/.local/state/seekless/spool`; if that cannot be written, a folder in the system's folder
/// for temporary files.
///
/// # Errors
/// None of these folders can be made.
pub fn spool_path(trace: &Path) -> Result<PathBuf> {
    let mut refused = None;
    for folder in folders() {
        match make(&folder) {
            Ok(()) => return Ok(folder.join(name(trace))),
            Err(error) => {
                refused = Some(Error::io(&folder, "cannot hold spools; set XDG_STATE_HOME", error))
            }
        }
    }
    Err(refused.unwrap_or_else(|| {
        Error::io(trace, "has no folder for its spool", io::ErrorKind::NotFound.into())
    }))
}

/// The spool that a recording of `trace` left, if any: in the user's folder, or beside the trace.
pub(crate) fn find(trace: &Path) -> Option<PathBuf> {
    let mut beside = trace.as_os_str().to_owned();
    beside.push(".spool");
    let places =
        folders().into_iter().map(|folder| folder.join(name(trace))).chain([beside.into()]);
    places.into_iter().find(|spool| spool.is_file())
}

pub(super) fn folders() -> Vec<PathBuf> {
    let temporary =
        std::env::temp_dir().join(format!("seekless-{}", rustix::process::geteuid().as_raw()));
    seekless_sys::home::state()
        .into_iter()
        .chain([temporary])
        .map(|folder| folder.join("spool"))
        .collect()
}

/// Makes a folder that only this user can open.
fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    for folder in folder.ancestors().take(2) {
        let found = folder.symlink_metadata()?;
        if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
            // In a folder that all may write, another user may have made it before us.
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it is not a folder of this user",
            ));
        }
    }
    Ok(rustix::fs::access(folder, rustix::fs::Access::WRITE_OK)?)
}

/// The name of a trace's spool, such as `run.parquet-00c0ffee00c0ffee.spool`. The number differs
/// for traces of one name in different folders.
fn name(trace: &Path) -> OsString {
    let whole = absolute(trace);
    let last = whole.file_name().unwrap_or(OsStr::new("trace")).as_bytes();
    let mut name = OsStr::from_bytes(&last[..last.len().min(NAME_BYTES_MAX)]).to_owned();
    name.push(format!("-{:016x}.spool", fnv_1a(whole.as_os_str().as_bytes())));
    name
}

/// The trace's absolute path, without links if its folder exists, so that every way to name a file
/// gives the same.
pub(super) fn absolute(trace: &Path) -> PathBuf {
    let whole = std::path::absolute(trace).unwrap_or_else(|_| trace.to_owned());
    let folder = whole.parent().and_then(|folder| folder.canonicalize().ok());
    folder.zip(whole.file_name()).map(|(folder, last)| folder.join(last)).unwrap_or(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_same_by_each_way_to_the_file_and_no_other_files() {
        let folder = tempfile::tempdir().unwrap();
        let [trace, twin] =
            ["run.parquet", "below/run.parquet"].map(|name| folder.path().join(name));
        std::fs::create_dir(folder.path().join("below")).unwrap();
        assert_eq!(name(&trace), name(&folder.path().join("below/../run.parquet")));
        assert_ne!(name(&trace), name(&twin));
        assert!(name(&trace).to_str().unwrap().starts_with("run.parquet-"));
        assert!(name(Path::new(&"x".repeat(255))).len() < 255);
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
