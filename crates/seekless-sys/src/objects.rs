//! Names of inputs and outputs that are no files: objects in object storage. Crates that read what
//! a user names, and write it, must not know such storage. So the program provides once what
//! reaches it, and they open inputs by [`open`].

use std::fmt::Debug;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

/// Gets what the object holds, `None` if it does not exist. Returns what it shall hold, `None` to
/// leave it.
pub type Change<'a> = &'a mut dyn FnMut(Option<&[u8]>) -> io::Result<Option<Vec<u8>>>;

/// How much a change may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A larger content is an error.
    pub bytes_max: u64,
    /// It ends within this time.
    pub within: Duration,
}

/// Reaches object storage. Errors do not name the object: who asks does.
pub trait Objects: Debug + Send + Sync {
    /// Whether `path` is meant as the name of an object.
    fn is_meant(&self, path: &Path) -> bool;

    /// Opens an object as a file with a position of its own. Each call gives the same version.
    ///
    /// # Errors
    /// `path` does not name an object, the object does not exist or cannot be read, or there is no
    /// room for it.
    fn open(&self, path: &Path) -> io::Result<File>;

    /// Refuses at once what [`Objects::put`] would refuse after long work.
    ///
    /// # Errors
    /// As [`Objects::put`].
    fn check(&self, path: &Path, replace: bool) -> io::Result<()>;

    /// Makes the whole of `content` an object, which appears whole or not at all.
    ///
    /// # Errors
    /// `AlreadyExists`: there is one, and it may not be replaced. Else it cannot be written.
    fn put(&self, path: &Path, content: &File, replace: bool) -> io::Result<()>;

    /// Changes the content of an object, which is read anew, in one step. `change` is called again
    /// if another writer was faster: so none loses what another wrote.
    ///
    /// # Errors
    /// It cannot be read or written within the limits, or `change` fails.
    fn update(&self, path: &Path, limits: Limits, change: Change<'_>) -> io::Result<()>;
}

static PROVIDED: OnceLock<&'static dyn Objects> = OnceLock::new();

/// Has names of objects reached by `objects`. Only the first call counts. Without one, every name
/// is a file's.
pub fn provide(objects: &'static dyn Objects) {
    let _ = PROVIDED.set(objects);
}

/// What reaches the object that `path` names; `None` if it names a file.
#[must_use]
pub fn of(path: &Path) -> Option<&'static dyn Objects> {
    PROVIDED.get().copied().filter(|objects| objects.is_meant(path))
}

/// Opens an input, which may be an object.
///
/// # Errors
/// As [`File::open`] and [`Objects::open`].
pub fn open(path: &Path) -> io::Result<File> {
    of(path).map_or_else(|| File::open(path), |objects| objects.open(path))
}

/// What an input is, and its size. An object is a file.
///
/// # Errors
/// As [`fs::metadata`] and [`Objects::open`].
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    of(path).map_or_else(|| fs::metadata(path), |objects| objects.open(path)?.metadata())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    /// One object, `object://one`.
    #[derive(Debug)]
    struct One;

    impl Objects for One {
        fn is_meant(&self, path: &Path) -> bool {
            path.as_os_str().as_encoded_bytes().starts_with(b"object://")
        }

        fn open(&self, path: &Path) -> io::Result<File> {
            if path != Path::new("object://one") {
                return Err(io::ErrorKind::NotFound.into());
            }
            let folder = tempfile::tempdir()?;
            fs::write(folder.path().join("one"), "content")?;
            File::open(folder.path().join("one"))
        }

        fn check(&self, _: &Path, replace: bool) -> io::Result<()> {
            if replace { Ok(()) } else { Err(io::ErrorKind::AlreadyExists.into()) }
        }

        fn put(&self, path: &Path, mut content: &File, _: bool) -> io::Result<()> {
            use std::io::Seek;
            let mut text = String::new();
            content.rewind()?;
            content.read_to_string(&mut text)?;
            match (path.to_str(), text.as_str()) {
                (Some("object://new"), "written") => Ok(()),
                _ => Err(io::Error::other("not what was written")),
            }
        }

        fn update(&self, _: &Path, _: Limits, change: Change<'_>) -> io::Result<()> {
            change(None).map(drop)
        }
    }

    #[test]
    fn inputs_and_outputs_may_be_objects_and_are_files_otherwise() {
        provide(&One);
        let mut text = String::new();
        open("object://one".as_ref()).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "content");
        assert_eq!(metadata("object://one".as_ref()).unwrap().len(), 7);
        let kind = |path: &str| open(path.as_ref()).unwrap_err().kind();
        assert_eq!(kind("object://two"), io::ErrorKind::NotFound);
        assert_eq!(kind("./object://one"), io::ErrorKind::NotFound);
        assert!(metadata("/".as_ref()).unwrap().is_dir());
        outputs();
    }

    #[cfg(feature = "outputs")]
    fn outputs() {
        use crate::output::{Content, Destination, ErrorKind};
        let to = Destination::from_word("object://new".as_ref());
        let refused = to.create(Content::Binary).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Exists);
        assert_eq!(refused.to_string(), "object://new: exists already; give --force to replace it");
        let mut output = to.replacing(true).create(Content::Binary).unwrap();
        output.write_all(b"written").unwrap();
        output.publish().unwrap();
        assert!(!Path::new("object:").exists());
        let other = Destination::from_word("object://other".as_ref()).replacing(true);
        let failed = other.create(Content::Text).unwrap().publish().unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::Io);
    }

    #[cfg(not(feature = "outputs"))]
    fn outputs() {}
}
