//! The measured costs of devices, kept from one run to the next in `seekless/devices.toml` in the
//! user's state folder, above those of the machine in `/etc/seekless/devices.toml`. Each
//! combination of device, model, file system and throttle has a row.

use crate::config::{bounded_text, from_toml};
use crate::{Error, ErrorKind};
use seekless_device::Row;
use seekless_sys::output::{self, Content, Destination};
use seekless_sys::{home, lock_folder};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A larger file is not a device table.
const BYTES_MAX: u64 = 16 << 20;
const VERSION: u32 = 1;
/// The table of the machine, for all its users.
const MACHINE: &str = "/etc/seekless/devices.toml";

/// The measured devices, by [`Home::key`](crate::Home::key).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Devices {
    version: u32,
    #[serde(default, rename = "device")]
    entries: BTreeMap<String, Entry>,
}

/// One measured device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// When it was measured, in seconds since 1970.
    pub measured_unix_s: u64,
    /// Under which conditions it was measured: what was read, how, and how busy the machine was.
    #[serde(default)]
    pub conditions: String,
    /// What the device costs.
    pub row: Row,
}

impl Default for Devices {
    fn default() -> Self {
        Devices { version: VERSION, entries: BTreeMap::new() }
    }
}

impl Devices {
    /// The path of the machine's table, which `seekless probe --system` writes.
    #[must_use]
    pub fn machine_path() -> &'static Path {
        Path::new(MACHINE)
    }

    /// The path of the user's table: `$XDG_STATE_HOME/seekless/devices.toml`, or
    /// `~/.local/state/seekless/devices.toml` if that variable is not set.
    ///
    /// # Errors
    /// Neither that variable nor `HOME` is set.
    pub fn path() -> Result<PathBuf, Error> {
        let folder = home::state().ok_or_else(|| {
            let why = "no folder for the device table: set HOME or XDG_STATE_HOME".to_owned();
            Error::new(ErrorKind::Config, why)
        })?;
        Ok(folder.join("devices.toml"))
    }

    /// Loads the machine's table and this user's, which takes precedence. A file that does not
    /// exist is an empty table.
    ///
    /// # Errors
    /// A file cannot be read or parsed.
    pub fn load() -> Result<Devices, Error> {
        Devices::load_from(Devices::machine_path(), Devices::path().ok().as_deref())
    }

    fn load_from(machine: &Path, user: Option<&Path>) -> Result<Devices, Error> {
        let mut devices = Devices::read(machine)?;
        if let Some(user) = user {
            devices.entries.extend(Devices::read(user)?.entries);
        }
        Ok(devices)
    }

    /// Reads the table at `path`, or an empty one if the file does not exist.
    ///
    /// # Errors
    /// The file cannot be read or parsed.
    pub fn read(path: &Path) -> Result<Devices, Error> {
        match bounded_text(path, BYTES_MAX) {
            Ok(text) => Devices::parse(&text).map_err(|error| error.of_file(path)),
            Err(error)
                if error.io_error().is_some_and(|io| io.kind() == io::ErrorKind::NotFound) =>
            {
                Ok(Devices::default())
            }
            Err(error) => Err(error),
        }
    }

    /// Parses a table.
    ///
    /// # Errors
    /// The text is not a valid table, or of a later version.
    pub fn parse(text: &str) -> Result<Devices, Error> {
        let devices: Devices = from_toml(text)?;
        let fail = |why: String| Err(Error::new(ErrorKind::Config, why));
        if devices.version != VERSION {
            return fail(format!(
                "version {}, but this program reads version {VERSION}",
                devices.version
            ));
        }
        match devices.entries.iter().try_for_each(|(key, entry)| entry.row.check(key)) {
            Err(error) => fail(error.to_string()),
            Ok(()) => Ok(devices),
        }
    }

    /// The entry of a device.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// All entries, by key.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(key, entry)| (key.as_str(), entry))
    }

    /// Inserts an entry, in place of an earlier one with this key.
    pub fn insert(&mut self, key: impl Into<String>, entry: Entry) {
        self.entries.insert(key.into(), entry);
    }

    /// Refines an entry by a read that the device itself served; see [`Row::refine`]. A device that
    /// was never measured is left out.
    pub fn refine(&mut self, key: &str, bytes: u64, elapsed_ns: u64) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.row.refine(0, bytes, elapsed_ns);
        }
    }

    /// Changes the file at `path`: reads it, applies `change`, and replaces it by the new content
    /// in one step. A lock makes other processes wait meanwhile, so that no change is lost.
    ///
    /// # Errors
    /// The file cannot be read, parsed or written.
    pub fn update(path: &Path, change: impl FnOnce(&mut Devices)) -> Result<Devices, Error> {
        let said = |error| Error::io(path, error);
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(said)?;
        let _lock = lock_folder(folder).map_err(said)?;
        let mut devices = Devices::read(path)?;
        change(&mut devices);
        let text = toml::to_string(&devices)
            .map_err(|error| Error::new(ErrorKind::Config, error.to_string()))?;
        replace(path, &text).map_err(said)?;
        Ok(devices)
    }
}

/// Replaces the file in one step: at any moment either the old or the new one is there, complete.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut file = Destination::new(path).replacing(true).create(Content::Text).map_err(reason)?;
    file.write_all(
        b"# What `seekless probe` measured. Delete a device and it is measured again.\n",
    )?;
    file.write_all(text.as_bytes())?;
    file.publish().map_err(reason)
}

/// The error without the path, which the caller names.
fn reason(error: output::Error) -> io::Error {
    match error.into_parts() {
        (_, _, Some(source)) => source,
        (_, message, None) => io::Error::other(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_device::{Origin, Zone};

    fn entry(latency_ns: u64) -> Entry {
        let zone = |from_byte| Zone {
            from_byte,
            latency_ns,
            latency_p90_ns: Some(9),
            bytes_per_second: 7,
        };
        let row = Row { origin: Origin::Calibrated, zones: vec![zone(0), zone(1 << 40)] };
        Entry { measured_unix_s: 1_764_000_000, conditions: "O_DIRECT, \"quiet\"".to_owned(), row }
    }

    #[test]
    fn what_is_put_in_is_there_for_the_next_and_changes_add_up() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("deeper/seekless/devices.toml");
        assert_eq!(Devices::read(&path).expect("nothing yet"), Devices::default());
        Devices::update(&path, |devices| devices.insert("254:0 vda ext4 at 200MB/s", entry(5)))
            .expect("kept");
        Devices::update(&path, |devices| devices.insert("8:0 sda xfs", entry(6))).expect("kept");
        let devices = Devices::read(&path).expect("there");
        assert_eq!(devices.entry("254:0 vda ext4 at 200MB/s"), Some(&entry(5)));
        assert_eq!(devices.entries().count(), 2);
        let names: Vec<_> =
            fs::read_dir(path.parent().expect("a folder")).expect("readable").flatten().collect();
        assert_eq!(names.len(), 1, "the table, and nothing else: {names:?}");
    }

    #[test]
    fn the_users_table_lies_above_the_machines() {
        let folder = tempfile::tempdir().expect("a folder");
        let [machine, user] = ["machine.toml", "user.toml"].map(|name| folder.path().join(name));
        for (path, key, latency_ns) in [(&machine, "a", 1), (&machine, "b", 2), (&user, "b", 3)] {
            Devices::update(path, |devices| devices.insert(key, entry(latency_ns))).expect("kept");
        }
        let devices = Devices::load_from(&machine, Some(&user)).expect("there");
        assert_eq!(devices.entry("a"), Some(&entry(1)));
        assert_eq!(devices.entry("b"), Some(&entry(3)));
        assert_eq!(Devices::load_from(&machine, None).expect("there").entry("b"), Some(&entry(2)));
        fs::write(&machine, "broken").expect("written");
        let error = Devices::load_from(&machine, Some(&user)).expect_err("not a table");
        assert!(error.to_string().contains("machine.toml"), "{error}");
    }

    #[test]
    fn changes_at_once_are_all_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("devices.toml");
        std::thread::scope(|scope| {
            for number in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    Devices::update(path, |devices| {
                        devices.insert(number.to_string(), entry(number))
                    })
                    .expect("kept");
                });
            }
        });
        assert_eq!(Devices::read(&path).expect("there").entries().count(), 8);
    }

    #[test]
    fn a_file_that_is_broken_or_of_tomorrow_is_named_and_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("devices.toml");
        let bad =
            ["version = 2\n", "version = 1\n[device.x]\n", "garbage", "version = 1\nmore = 2\n"];
        for text in bad {
            fs::write(&path, text).expect("written");
            let error =
                Devices::update(&path, |devices| devices.insert("x", entry(1))).expect_err(text);
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(error.to_string().contains("devices.toml"), "{error}");
            assert_eq!(fs::read_to_string(&path).expect("there"), text);
        }
        fs::write(&path, [0xff, 0xfe]).expect("written");
        assert_eq!(Devices::read(&path).expect_err("not text").kind(), ErrorKind::Io);
    }

    #[test]
    fn reads_refine_what_was_measured_and_nothing_else() {
        let mut devices = Devices::default();
        devices.insert("disk", entry(1_000_000));
        devices.refine("disk", 1, 2_000_000_000);
        devices.refine("other", 1, 2_000_000_000);
        assert_ne!(devices.entry("disk"), Some(&entry(1_000_000)));
        assert_eq!(devices.entries().count(), 1);
    }
}
