//! The numbers of a device of any kind, and their text: a TOML table named for the kind.

use crate::{
    AnyDevice, BurstVolume, DiskParameters, Error, ErrorKind, FlashParameters,
    LatencyTableParameters, ObjectStoreParameters, VolumeParameters,
};
use crate::{Disk, Flash, LatencyTable, ObjectStore};
use serde::{Deserialize, Serialize};

/// The numbers of a device of any kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "each variant holds the numbers of the kind of its name")]
pub enum Parameters {
    Disk(DiskParameters),
    Flash(FlashParameters),
    Volume(VolumeParameters),
    ObjectStore(ObjectStoreParameters),
    LatencyTable(LatencyTableParameters),
}

impl Parameters {
    /// The kind of device in words.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Parameters::Disk(_) => "disk",
            Parameters::Flash(_) => "flash drive",
            Parameters::Volume(_) => "volume",
            Parameters::ObjectStore(_) => "object store",
            Parameters::LatencyTable(_) => "latency table",
        }
    }

    /// The bytes over which random places are spread, where the kind of device has a size.
    #[must_use]
    pub fn capacity_bytes(&self) -> Option<u64> {
        match self {
            Parameters::Disk(disk) => Some(disk.capacity_bytes),
            Parameters::Flash(flash) => Some(flash.capacity_bytes),
            _ => None,
        }
    }

    /// Whether a device can have these numbers.
    ///
    /// # Errors
    /// One that it cannot have, by its name in text.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Parameters::Disk(disk) => disk.check(),
            Parameters::Flash(flash) => flash.check(),
            Parameters::Volume(volume) => volume.check(),
            Parameters::ObjectStore(store) => store.check(),
            Parameters::LatencyTable(table) => table.check(),
        }
    }

    /// A fresh model, idle at time 0.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn model(&self) -> Result<AnyDevice, Error> {
        Ok(match self.clone() {
            Parameters::Disk(disk) => AnyDevice::Disk(Box::new(Disk::new(disk)?)),
            Parameters::Flash(flash) => AnyDevice::Flash(Box::new(Flash::new(flash)?)),
            Parameters::Volume(volume) => AnyDevice::BurstVolume(BurstVolume::new(volume)?),
            Parameters::ObjectStore(store) => AnyDevice::ObjectStore(ObjectStore::new(store)?),
            Parameters::LatencyTable(table) => AnyDevice::LatencyTable(LatencyTable::new(table)?),
        })
    }

    /// Reads them from TOML: one table, `[disk]`, `[flash]`, `[volume]`, `[object-store]` or
    /// `[latency-table]`.
    ///
    /// # Errors
    /// Text that is no TOML, that lacks a number or has one too many, with its line; or numbers
    /// that no device has.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        let read = toml::from_str::<Parameters>(text);
        let parameters = read.map_err(|error| {
            let line = error.span().map(|span| line_of(text, span.start));
            let place = line.map_or(String::new(), |line| format!("line {line}: "));
            Error::new(ErrorKind::Syntax, format!("{place}{}", error.message()))
        })?;
        parameters.check()?;
        Ok(parameters)
    }

    /// As TOML that [`from_toml`](Self::from_toml) reads back.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("numbers and short texts can always be written")
    }
}

/// The line of a byte, from 1.
fn line_of(text: &str, byte: usize) -> usize {
    1 + text.as_bytes().iter().take(byte).filter(|&&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Preset;

    #[test]
    fn every_preset_reads_back_from_its_text() {
        for preset in Preset::all() {
            let text = preset.parameters().to_toml();
            let read = Parameters::from_toml(&text);
            assert_eq!(read, Ok(preset.parameters()), "{}: {text}", preset.name());
        }
    }

    #[test]
    fn errors_name_their_line() {
        let good = Preset::named("gp3").expect("gp3").parameters().to_toml();
        assert!(good.starts_with("[volume]\niops = 3000\n"), "{good}");
        let bad = [
            (good.replace("iops = 3000", "iops = \"many\""), "line 2: "),
            (good.replace("iops", "hips"), "line 2: unknown field `hips`"),
            (good.replace("125MB/s", "fast"), "line 3: \"fast\" does not start with a number"),
            (good.replace("iops = 3000\n", ""), "missing field `iops`"),
            (good.replace("[volume]", "[vollume]"), "unknown variant `vollume`"),
            (good.replace("3000", "0"), "iops and bandwidth must be above 0"),
            (String::new(), ""),
            ("volume = 3".to_owned(), "line 1: "),
        ];
        for (text, part) in bad {
            let error = Parameters::from_toml(&text).expect_err(&text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
