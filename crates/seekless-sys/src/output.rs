//! Where a job writes its result: standard output, or a file that appears whole or not at all, and
//! replaces another only on request.
//!
//! A file has no name until it is whole, so that even a kill leaves nothing behind. Where the file
//! system has no nameless files, it has a temporary name that is removed on failure. It gets its
//! name by a link or a rename: a job that is still reading the earlier file goes on reading that.
//! An object in object storage is written to a file without a name first ([`objects`]).
//! Every crate writes its files through this.

mod draft;
mod standard;

use crate::objects;
use draft::{Draft, PRIVATE, SHARED};
pub use standard::StandardOutput;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What an output holds, which decides how it goes to standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Lines and words, which go out as they are made.
    Text,
    /// Bytes for programs: not for a terminal, and nothing goes out before all of it is made.
    Binary,
}

/// Where an output goes, and whether it may replace what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    place: Place,
    replace: bool,
    private: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    File(PathBuf),
    StandardOutput,
    /// An object in object storage.
    Object(PathBuf),
    /// No place: a file that goes with its last descriptor. The name is for messages.
    Nowhere(PathBuf),
    /// As [`Place::Nowhere`], in the folder of this path.
    UnnamedBeside(PathBuf),
}

impl Destination {
    /// The file `path`, which must not be there yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { place: Place::File(path.into()), replace: false, private: false }
    }

    /// The destination that a word of a command line names: `-` is standard output, and a name of
    /// an object is one.
    #[must_use]
    pub fn from_word(word: &Path) -> Self {
        match word.as_os_str() == "-" {
            true => Self { place: Place::StandardOutput, replace: false, private: false },
            false => Self::named(word),
        }
    }

    /// The object `path`, or the file of this name.
    #[must_use]
    pub fn named(path: &Path) -> Self {
        let place = objects::of(path).map(|_| Place::Object(path.to_owned()));
        let file = || Place::File(path.to_owned());
        Self { place: place.unwrap_or_else(file), replace: false, private: false }
    }

    /// A temporary file without a name; messages call it `path`.
    #[must_use]
    pub fn nowhere(path: impl Into<PathBuf>) -> Self {
        Self { place: Place::Nowhere(path.into()), replace: false, private: false }
    }

    /// As [`Destination::nowhere`], on the file system of `path`, whose folder must be there.
    #[must_use]
    pub fn unnamed_beside(path: impl Into<PathBuf>) -> Self {
        Self { place: Place::UnnamedBeside(path.into()), replace: false, private: false }
    }

    /// The same, where a file that is there may be replaced if `force`.
    #[must_use]
    pub fn replacing(self, force: bool) -> Self {
        Self { replace: force, ..self }
    }

    /// The same, where the file is for this user alone (mode 0600), also if one that it replaces
    /// was for others. Such files hold what may be secret.
    #[must_use]
    pub fn private(self) -> Self {
        Self { private: true, ..self }
    }

    /// The file's name, or what messages call the place.
    #[must_use]
    pub fn path(&self) -> &Path {
        match &self.place {
            Place::File(path)
            | Place::Object(path)
            | Place::Nowhere(path)
            | Place::UnnamedBeside(path) => path,
            Place::StandardOutput => Path::new("standard output"),
        }
    }

    /// The file's name, if it is a file.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match &self.place {
            Place::File(path) => Some(path),
            Place::StandardOutput
            | Place::Object(_)
            | Place::Nowhere(_)
            | Place::UnnamedBeside(_) => None,
        }
    }

    /// Whether what is there may be replaced.
    #[must_use]
    pub fn may_replace(&self) -> bool {
        self.replace
    }

    /// Whether it is standard output.
    #[must_use]
    pub fn is_standard_output(&self) -> bool {
        self.place == Place::StandardOutput
    }

    /// Refuses at once what [`Destination::create`] would refuse after long work.
    ///
    /// # Errors
    /// As [`Destination::create`], but for what only writing shows.
    pub fn check(&self, content: Content) -> Result<(), Error> {
        match &self.place {
            Place::Nowhere(_) | Place::UnnamedBeside(_) => Ok(()),
            Place::StandardOutput if content == Content::Binary && io::stdout().is_terminal() => Err(self
                .unfit(
                    "is a terminal, which cannot show what is not text: name a file with -o, or use a pipe",
                )),
            Place::StandardOutput => Ok(()),
            Place::File(path) => self.check_file(path),
            Place::Object(path) => {
                let objects = objects::of(path);
                let checked = objects.map_or(Ok(()), |it| it.check(path, self.replace));
                checked.map_err(|error| self.not_put(error))
            }
        }
    }

    fn check_file(&self, path: &Path) -> Result<(), Error> {
        let found = fs::metadata(path);
        let is_folder = found.as_ref().is_ok_and(fs::Metadata::is_dir);
        if is_folder
            || path.file_name().is_none()
            || path.as_os_str().as_encoded_bytes().ends_with(b"/")
        {
            return Err(self.unfit("is a folder; name a file to write"));
        }
        if found.is_ok_and(|found| !found.is_file()) {
            let why = "is a device or pipe, which the output would replace; name a file to write, or - for standard output";
            return Err(self.unfit(why));
        }
        if !self.replace && fs::symlink_metadata(path).is_ok() {
            return Err(self.exists());
        }
        Ok(())
    }

    /// Begins the output. Nothing shows at a file's place before [`Output::publish`]. A link there
    /// counts as a file: with `force` the link is replaced, and what it points to stays.
    ///
    /// # Errors
    /// A file is there and may not be replaced; a folder, device or pipe is there; standard output
    /// is a terminal and `content` is binary; nothing can be written there.
    pub fn create(&self, content: Content) -> Result<Output, Error> {
        self.check(content)?;
        let draft = match (&self.place, content) {
            (Place::File(path), _) => {
                Draft::beside(path, if self.private { PRIVATE } else { SHARED })
            }
            (Place::UnnamedBeside(path), _) => Draft::unnamed_in(draft::folder(path)),
            (Place::StandardOutput, Content::Text) => Draft::standard_output(),
            (Place::StandardOutput, Content::Binary)
            | (Place::Object(_) | Place::Nowhere(_), _) => Draft::nowhere(),
        };
        let draft = draft.map_err(|error| self.failed("cannot be written", error))?;
        Ok(Output { draft, destination: self.clone() })
    }

    /// A temporary file without a name, near the output. The system removes it in every case.
    ///
    /// # Errors
    /// A temporary file cannot be made.
    pub fn scratch(&self) -> io::Result<File> {
        match &self.place {
            Place::File(path) | Place::UnnamedBeside(path) => {
                tempfile::tempfile_in(draft::folder(path))
            }
            Place::StandardOutput | Place::Object(_) | Place::Nowhere(_) => tempfile::tempfile(),
        }
    }

    fn unfit(&self, why: &'static str) -> Error {
        Error { path: self.path().to_owned(), kind: ErrorKind::Unfit, why, source: None }
    }

    fn exists(&self) -> Error {
        let why = "exists already; give --force to replace it";
        Error { path: self.path().to_owned(), kind: ErrorKind::Exists, why, source: None }
    }

    /// The error of an object that cannot be written.
    fn not_put(&self, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::AlreadyExists => self.exists(),
            _ => self.failed("cannot be written", error),
        }
    }

    fn failed(&self, why: &'static str, source: io::Error) -> Error {
        Error { path: self.path().to_owned(), kind: ErrorKind::Io, why, source: Some(source) }
    }
}

impl From<&Path> for Destination {
    fn from(path: &Path) -> Self {
        Self::new(path)
    }
}

impl From<&PathBuf> for Destination {
    fn from(path: &PathBuf) -> Self {
        Self::new(path)
    }
}

impl From<PathBuf> for Destination {
    fn from(path: PathBuf) -> Self {
        Self::new(path)
    }
}

impl From<&Destination> for Destination {
    fn from(destination: &Destination) -> Self {
        destination.clone()
    }
}

/// An output that is being made. Dropped before it is published, it leaves nothing behind.
#[derive(Debug)]
pub struct Output {
    draft: Draft,
    destination: Destination,
}

impl Output {
    /// Where to write. Text for standard output is written right there.
    #[must_use]
    pub fn file(&self) -> &File {
        self.draft.file()
    }

    /// Where it goes.
    #[must_use]
    pub fn destination(&self) -> &Destination {
        &self.destination
    }

    /// The file's name, or what messages call the place.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.destination.path()
    }

    /// Makes a file that has turned out to hold what may be secret one for this user alone.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn make_private(&self) -> io::Result<()> {
        if self.destination.is_standard_output() {
            return Ok(());
        }
        self.file().set_permissions(fs::Permissions::from_mode(PRIVATE))
    }

    /// Syncs a file and gives it its name; copies binary bytes to standard output; sends an object.
    ///
    /// # Errors
    /// The bytes cannot be synced or copied, or another process has put a file there meanwhile that
    /// must not be replaced.
    pub fn publish(self) -> Result<(), Error> {
        let Self { draft, destination } = self;
        if let Place::Object(path) = &destination.place {
            let objects = objects::of(path);
            let put = |it: &dyn objects::Objects| it.put(path, draft.file(), destination.replace);
            return objects.map_or(Ok(()), put).map_err(|error| destination.not_put(error));
        }
        let published = match &destination.place {
            Place::File(path) => draft.place(path, destination.replace),
            Place::StandardOutput => draft.copy_to_standard_output(),
            Place::Object(_) | Place::Nowhere(_) | Place::UnnamedBeside(_) => Ok(()),
        };
        match published {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(destination.exists()),
            Err(error) if matches!(destination.place, Place::StandardOutput) => {
                Err(destination.failed("cannot be written", error))
            }
            Err(error) => Err(destination.failed("cannot be put in its place", error)),
            Ok(()) => Ok(()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

/// What sort of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file is there, and the destination may not replace it.
    Exists,
    /// A folder, device, pipe or terminal is there.
    Unfit,
    /// The operating system refused.
    Io,
}

/// An output that cannot be written. Its message names the place and says what to do.
#[derive(Debug)]
pub struct Error {
    path: PathBuf,
    kind: ErrorKind,
    why: &'static str,
    source: Option<io::Error>,
}

impl Error {
    /// What sort of thing went wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The place, what is wrong with it, and the operating system's word: for an error that has its
    /// own way to show them.
    #[must_use]
    pub fn into_parts(self) -> (PathBuf, &'static str, Option<io::Error>) {
        (self.path, self.why, self.source)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests;
