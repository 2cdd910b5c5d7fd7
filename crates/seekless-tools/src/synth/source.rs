//! Reads which files to make, from a trace or a list.

use seekless_job::roots::Roots;
use seekless_job::{Error, ErrorKind, Result};
use seekless_trace::{FileList, Loads};
use std::borrow::Cow;
use std::path::Path;

/// A file to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The path as a trace writes it. An absolute path goes below the folder, without its leading
    /// `/`.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Reads which files to make: the loads of a trace (or its reads, if it has no loads), or a list
/// `path,size`, compressed or not. `roots` say where the files are now.
///
/// # Errors
/// `path` is neither a trace nor a list, or the list lacks a size.
pub fn files_of(path: &Path, roots: &Roots) -> Result<Vec<File>> {
    let mut files = read(path)?;
    for file in &mut files {
        if let Cow::Owned(moved) = roots.apply(&file.path) {
            file.path = moved;
        }
    }
    Ok(files)
}

fn read(path: &Path) -> Result<Vec<File>> {
    match Loads::read(&[path.to_owned()]) {
        Ok(loads) => Ok(of_loads(&loads)),
        Err(not_a_trace) => match FileList::read(path) {
            Ok(list) if list.bytes.iter().any(Option::is_some) => of_list(path, list),
            _ => {
                let why = format!(
                    "cannot read files from {}; give a trace, or a CSV with the columns path,size",
                    path.display()
                );
                Err(Error::because(ErrorKind::Trace, why, not_a_trace))
            }
        },
    }
}

fn of_loads(loads: &Loads) -> Vec<File> {
    let mut loaded = vec![false; loads.names.len()];
    loads.runs.iter().flatten().for_each(|load| loaded[load.file as usize] = true);
    let files = loads.names.iter().zip(&loads.bytes).zip(loaded).filter(|(_, loaded)| *loaded);
    files.map(|((path, &bytes), _)| File { path: path.clone(), bytes }).collect()
}

fn of_list(path: &Path, list: FileList) -> Result<Vec<File>> {
    let files = list.paths.into_iter().zip(list.bytes);
    let sized = files.map(|(name, bytes)| match bytes {
        Some(bytes) => Ok(File { path: name, bytes }),
        None => Err(Error::new(
            ErrorKind::Invalid,
            format!("{} gives no size for {name:?}; add it", path.display()),
        )),
    });
    sized.collect()
}
