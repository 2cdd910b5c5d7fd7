//! Files that rules of the configuration are about, as a program asks that is going to read them.

use super::{Survey, Surveyor};
use crate::{Config, Devices, Error, ErrorKind, Level, Sled};
use std::fs::File;
use std::path::Path;

impl Surveyor {
    /// A surveyor, if the user's configuration has rules about files; `None` without any. Then the
    /// page cache and the device are all that a file can be in, and the device table is not read.
    /// A configuration that this user may not read counts as none.
    ///
    /// # Errors
    /// The configuration or the device table is invalid.
    pub fn if_ruled() -> Result<Option<Self>, Error> {
        let readable = |error: Error| match error.kind() {
            ErrorKind::Config => Err(error),
            _ => Ok(Config::default()),
        };
        let config = Config::load().or_else(readable)?;
        let ruled = config.has_rules();
        Ok(if ruled { Some(Self::with(config, Devices::load()?)) } else { None })
    }

    /// The SLEDs of a regular file that might be recalled by opening it: it lies in an archive, or
    /// whether it does cannot be found out. `None` if it may be opened. It is not opened.
    ///
    /// # Errors
    /// The file does not exist, or it is archived and its position is no number.
    pub fn closed(&mut self, path: &Path) -> Result<Option<Survey>, Error> {
        let stat = rustix::fs::stat(path).map_err(|error| Error::io(path, error.into()))?;
        let Ok(subject) = self.subject(path, stat) else { return Ok(None) };
        // A mock file may say of a file that is here that it is elsewhere.
        let far = |sled: &Sled| matches!(sled.level, Level::Archive | Level::Unknown);
        Ok(self.unopened(&subject)?.filter(|survey| survey.sleds.iter().all(far)))
    }

    /// The SLEDs of an open file that a rule is about, as [`file`](Self::file) finds them; `None`
    /// if no rule is.
    ///
    /// # Errors
    /// As [`file`](Self::file).
    pub fn ruled(&mut self, path: &Path, file: &File) -> Result<Option<Survey>, Error> {
        let rule = |path: &Path| self.config.rule(path).is_some();
        let about = self.config.mock_files || path.canonicalize().is_ok_and(|path| rule(&path));
        if about { self.file(file).map(Some) } else { Ok(None) }
    }
}
