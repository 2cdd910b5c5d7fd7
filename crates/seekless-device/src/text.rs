//! The text of a device's numbers: a TOML table named for the kind of device.
//!
//! The feature `toml` turns it on. A program that only loads packs names no device, and builds
//! without the crates that read TOML.

use crate::{DeviceSpec, Error, ErrorKind, Parameters};

impl Parameters {
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

impl DeviceSpec {
    /// The device that the text of a TOML file describes; see [`Parameters::from_toml`]. `file` is
    /// its name, for messages and wherever the device is printed.
    ///
    /// # Errors
    /// Text that describes no device; the message names the file and, where that is known, the
    /// line.
    pub fn from_toml(file: &str, text: &str) -> Result<Self, Error> {
        let parameters = Parameters::from_toml(text)
            .map_err(|error| Error::new(error.kind(), format!("{file}: {error}")))?;
        DeviceSpec::new(file, parameters)
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

    #[test]
    fn a_file_names_itself_and_the_line_of_its_mistake() {
        let text = Preset::named("t7k250").unwrap().parameters().to_toml();
        let spec = DeviceSpec::from_toml("my.toml", &text).unwrap();
        assert_eq!(spec.to_string(), "my.toml");
        assert_eq!(spec.parameters(), Preset::named("t7k250").unwrap().parameters());
        let wrong = text.replace("rpm = 7200", "rpm = -7200");
        let line = 1 + text.lines().position(|line| line.starts_with("rpm")).unwrap();
        let error = DeviceSpec::from_toml("my.toml", &wrong).unwrap_err().to_string();
        assert!(error.starts_with(&format!("my.toml: line {line}: ")), "{error}");
    }
}
