//! A pack does not lie in the folder that it is made of: it would have to hold itself, and the next
//! pack of the folder would hold this one.

use seekless_job::{Error, ErrorKind, Result};
use std::path::Path;

/// Refuses an archive at `out` that lies in `dir`, by where both really are. What cannot be found
/// out is left to the one that opens it.
pub(super) fn check(dir: &Path, out: &Path) -> Result<()> {
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    let places = (dir.canonicalize(), folder.unwrap_or(Path::new(".")).canonicalize());
    let (Ok(dir), Ok(folder)) = places else { return Ok(()) };
    if !folder.starts_with(&dir) {
        return Ok(());
    }
    let why = format!(
        "{} lies in {}, the folder to pack, and would be a part of itself: write it to another folder",
        out.display(),
        dir.display()
    );
    Err(Error::new(ErrorKind::Invalid, why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_pack_in_its_folder_is_refused_however_it_is_named() {
        let room = tempfile::tempdir().unwrap();
        let at = |name: &str| room.path().join(name);
        fs::create_dir_all(at("data/art")).unwrap();
        fs::create_dir(at("data2")).unwrap();
        symlink(at("data"), at("link")).unwrap();
        symlink("art", at("data/also")).unwrap();
        for dir in ["data", "link", "data2/../data"] {
            for out in ["data/x", "data/art/x", "link/x", "data2/../data/x", "link/also/x"] {
                let why = check(&at(dir), &at(out)).unwrap_err().to_string();
                assert!(why.contains("would be a part of itself"), "{why}");
            }
            for out in ["x", "data2/x", "data/../x", "data", "absent/x"] {
                check(&at(dir), &at(out)).unwrap();
            }
        }
    }
}
