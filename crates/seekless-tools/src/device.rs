//! A device as a user names it: in words that [`DeviceSpec`] knows, or by a TOML file.

use seekless_device::DeviceSpec;
use seekless_job::{Error, ErrorKind, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// No device takes more text than this.
const TEXT_BYTES_MAX: u64 = 1 << 20;

/// The device that `word` names: a file if it ends in `.toml` or has a `/`, else a preset or a
/// volume's numbers.
///
/// # Errors
/// When there is no such device or file, or the file describes none: its line is named.
pub fn named(word: &str) -> Result<DeviceSpec> {
    let device = if word.ends_with(".toml") || word.contains('/') && !word.contains('=') {
        DeviceSpec::from_toml(word, &text(Path::new(word))?)
    } else {
        word.parse()
    };
    device.map_err(|error| Error::new(ErrorKind::Invalid, error.to_string()))
}

fn text(path: &Path) -> Result<String> {
    // The cause stands in the message: of an argument's error the message alone is shown.
    let unreadable =
        |error| Error::new(ErrorKind::Io, format!("cannot read {}: {error}", path.display()));
    let file = File::open(path).map_err(unreadable)?;
    let mut text = String::new();
    file.take(TEXT_BYTES_MAX + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > TEXT_BYTES_MAX {
        let message = format!("{} is too long to describe a device", path.display());
        return Err(Error::new(ErrorKind::Invalid, message));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_and_its_mistakes_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk.toml");
        let word = path.to_str().unwrap();
        let missing = named(word).unwrap_err().to_string();
        assert!(missing.starts_with(&format!("cannot read {word}: No such file")), "{missing}");
        let disk = seekless_device::Preset::named("t7k250").unwrap().parameters();
        std::fs::write(&path, disk.to_toml()).unwrap();
        assert_eq!(named(word).unwrap().parameters(), disk);
        std::fs::write(&path, "[disk]\nrpm = 7200\nrpms = 1\n").unwrap();
        let wrong = named(word).unwrap_err().to_string();
        assert!(wrong.starts_with(&format!("{word}: line 3: unknown field `rpms`")), "{wrong}");
    }

    #[test]
    fn words_are_presets_or_numbers() {
        assert_eq!(named("gp3").unwrap().to_string(), "gp3");
        let volume = "iops=120,bandwidth=150MB/s";
        assert_eq!(named(volume).unwrap().to_string(), volume);
        assert!(named("gp").unwrap_err().to_string().contains("gp3"));
    }
}
