//! What devices charge: the row of the device table for a file's home.

use super::Surveyor;
use crate::{Error, Home, MountRule};
use rustix::fs::FileType;
use seekless_device::{Costs, Origin, Row, Zone};
use seekless_sys::mounts::Mounts;
use std::path::Path;
use std::sync::Arc;

impl Surveyor {
    /// The home of the file at a path, and its row of the device table: what `probe` measures.
    ///
    /// # Errors
    /// The path does not exist.
    pub fn home(&mut self, path: &Path) -> Result<(Home, Row), Error> {
        let stat = rustix::fs::stat(path).map_err(|error| Error::io(path, error.into()))?;
        let path = path.canonicalize().ok();
        // A device is itself, not what holds its node.
        let home = match FileType::from_raw_mode(stat.st_mode) {
            FileType::BlockDevice => self.home_of(stat.st_rdev, None),
            _ => self.home_of(stat.st_dev, path.as_deref()),
        };
        let rule = path.as_deref().and_then(|path| self.config.rule(path)).cloned();
        let row = self.row(&home, rule.as_ref());
        Ok((Arc::unwrap_or_clone(home), row))
    }

    /// What the device under `path` charges for reads, under the limits of this process's control
    /// group: what the user gave, or what was measured. `None` if neither is known.
    ///
    /// # Errors
    /// The path does not exist.
    pub fn costs(&mut self, path: &Path) -> Result<Option<Costs>, Error> {
        let (_, row) = self.home(path)?;
        // How many reads it serves at once was not measured.
        Ok((row.origin != Origin::Assumed).then(|| row.costs(Costs::ASSUMED.depth)))
    }

    /// Whether the home of the first file with this device number is found only by its path.
    pub(super) fn needs_path(&self, device: u64) -> bool {
        rustix::fs::major(device) == 0 && !self.homes.contains_key(&device)
    }

    pub(super) fn home_of(&mut self, device: u64, path: Option<&Path>) -> Arc<Home> {
        if let Some(home) = self.homes.get(&device) {
            return home.clone();
        }
        let mut home = Home::of(device, path, &self.mounts);
        if home.file_system.is_empty() {
            // It was mounted since the mounts were read.
            self.mounts = Mounts::read().unwrap_or_default();
            home = Home::of(device, path, &self.mounts);
        }
        let home = Arc::new(home);
        self.homes.insert(device, home.clone());
        home
    }

    /// The row for a home. The row that the user names for the mount comes first, then the user's
    /// or the measured row of the device. After those comes the user's row for such devices, and
    /// the assumed row last.
    pub(super) fn row(&self, home: &Home, rule: Option<&MountRule>) -> Row {
        let named = rule.and_then(|rule| rule.row.as_deref());
        named
            .and_then(|name| self.named(name))
            .or_else(|| self.named(&home.key))
            .or_else(|| self.named(home.assumed))
            .unwrap_or_else(|| Row::new(Origin::Assumed, 0, 1))
    }

    pub(super) fn named(&self, name: &str) -> Option<Row> {
        let measured = || self.devices.entry(name).map(|entry| &entry.row);
        self.config.row(name).or_else(measured).or_else(|| self.assumed.row(name)).cloned()
    }

    pub(super) fn zone(&self, name: &str) -> Zone {
        let row = self.named(name).unwrap_or_else(|| Row::new(Origin::Assumed, 0, 1));
        *row.at(0)
    }
}
