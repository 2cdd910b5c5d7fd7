//! The user's configuration: `seekless/sleds.toml` in the configuration folder. It overrides what
//! was assumed or measured. `docs/reference/sleds.md` explains every key.

use crate::{Error, ErrorKind, Level};
use seekless_device::{Row, Table};
use serde::{Deserialize, Deserializer};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A configuration larger than this is a mistake.
const BYTES_MAX: u64 = 1 << 20;

/// The user's configuration. The default is empty.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Rows of the device table by name. They take precedence over assumed and measured rows.
    pub device: Table,
    /// Rules for the files below a folder.
    #[serde(rename = "mount")]
    pub mounts: Vec<MountRule>,
    /// Whether a file `FILE.sleds.toml` beside `FILE` gives its SLEDs. It shows levels that this
    /// machine does not have.
    pub mock_files: bool,
}

/// What the user says about the files below a folder. Of nested folders, the rule of the deepest
/// applies.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MountRule {
    /// The folder, absolute.
    pub path: PathBuf,
    /// The name of the row of the device table to use, in place of the row of the device found.
    pub row: Option<String>,
    /// The level to report, in place of that of the file system found.
    pub level: Option<Level>,
    /// A folder of sparse files with the same relative names. The data in them is on this machine
    /// (the cache of `rclone mount`).
    pub cache: Option<PathBuf>,
    /// Another machine that knows more about the files. It runs `seekless sleds --serve`.
    pub remote: Option<RemoteRule>,
    /// How to see, without opening a file, that it must be recalled from an archive first.
    pub recall: Option<RecallRule>,
}

/// Which server to ask, and by which path.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteRule {
    /// `host:port`.
    pub server: String,
    /// The folder's path on the server, absolute.
    pub prefix: PathBuf,
}

/// How to recognise a file that lies in an archive. One sign is enough. Without any sign set, no
/// file counts as archived.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecallRule {
    /// Whether files below the folder are never in an archive. It overrides every sign.
    pub never: bool,
    /// Whether a file that has a size but no blocks is a stub.
    pub zero_blocks: bool,
    /// The extended attribute that holds the state.
    pub xattr: Option<String>,
    /// A command that prints the state. The word `{}` stands for the file's path. The command must
    /// not open the file.
    pub command: Vec<String>,
    /// The file is archived if the attribute's value or the command's output contains this text.
    /// When it is empty, an attribute that exists is enough.
    pub offline: String,
    /// The extended attribute with the file's position on its volume, such as a tape: a whole
    /// number. Files are recalled in ascending order of it.
    pub position: Option<String>,
    /// The extended attribute with the name of the volume. Files of one volume are recalled
    /// together.
    pub volume: Option<String>,
    /// How long the command may take.
    #[serde(deserialize_with = "seconds")]
    pub timeout: Duration,
}

impl Config {
    /// The path of the user's configuration: `$XDG_CONFIG_HOME/seekless/sleds.toml`, or
    /// `~/.config/seekless/sleds.toml` if that variable is not set.
    #[must_use]
    pub fn path() -> Option<PathBuf> {
        Some(seekless_sys::home::config()?.join("sleds.toml"))
    }

    /// Loads the user's configuration, or the default if the file does not exist.
    ///
    /// # Errors
    /// The file cannot be read or parsed. The message names the file and the line.
    pub fn load() -> Result<Config, Error> {
        let Some(path) = Config::path() else { return Ok(Config::default()) };
        match Config::read(&path) {
            Err(error)
                if error.io_error().is_some_and(|io| io.kind() == io::ErrorKind::NotFound) =>
            {
                Ok(Config::default())
            }
            other => other,
        }
    }

    /// Reads the configuration at `path`.
    ///
    /// # Errors
    /// As [`Config::load`], or the file does not exist.
    pub fn read(path: &Path) -> Result<Config, Error> {
        let text = bounded_text(path, BYTES_MAX)?;
        Config::parse(&text).map_err(|error| error.of_file(path))
    }

    /// Parses a configuration.
    ///
    /// # Errors
    /// A key or a value is invalid.
    pub fn parse(text: &str) -> Result<Config, Error> {
        let config: Config = from_toml(text)?;
        config.device.check().map_err(|error| Error::new(ErrorKind::Config, error.to_string()))?;
        for rule in &config.mounts {
            let recall = rule.recall.as_ref();
            if recall.is_some_and(|recall| recall.volume.is_some() && recall.position.is_none()) {
                let why = format!(
                    "mount {:?}: a volume without positions on it orders nothing: name the \
                     attribute of the position too",
                    rule.path
                );
                return Err(Error::new(ErrorKind::Config, why));
            }
            let remote = rule.remote.as_ref().map(|remote| &remote.prefix);
            let paths = [Some(&rule.path), remote, rule.cache.as_ref()];
            if let Some(path) = paths.into_iter().flatten().find(|path| !path.is_absolute()) {
                let why = format!(
                    "mount {:?}: the path {path:?} must be absolute, like /mnt/data",
                    rule.path
                );
                return Err(Error::new(ErrorKind::Config, why));
            }
        }
        Ok(config)
    }

    /// Whether the answer for a file may depend on its path.
    #[must_use]
    pub fn has_rules(&self) -> bool {
        !self.mounts.is_empty() || self.mock_files
    }

    /// The rule of the deepest folder that contains `path` (absolute).
    #[must_use]
    pub fn rule(&self, path: &Path) -> Option<&MountRule> {
        let holding = self.mounts.iter().filter(|rule| path.starts_with(&rule.path));
        holding.max_by_key(|rule| rule.path.components().count())
    }

    /// The row of this name, if the configuration has it.
    #[must_use]
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.device.row(name)
    }
}

impl RecallRule {
    /// How long a command may take unless the rule says otherwise.
    pub const TIMEOUT: Duration = Duration::from_secs(5);

    pub(crate) fn patience(&self) -> Duration {
        if self.timeout.is_zero() { Self::TIMEOUT } else { self.timeout }
    }
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    let nanos = seekless_device::units::parse_duration(&text).map_err(serde::de::Error::custom)?;
    Ok(Duration::from_nanos(nanos))
}

/// Reads a text file of at most `bytes_max` bytes.
pub(crate) fn bounded_text(path: &Path, bytes_max: u64) -> Result<String, Error> {
    use io::Read;
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|error| Error::io(path, error))?;
    file.take(bytes_max + 1).read_to_string(&mut text).map_err(|error| Error::io(path, error))?;
    if text.len() as u64 > bytes_max {
        let why =
            format!("{}: larger than {bytes_max} bytes: is this the right file?", path.display());
        return Err(Error::new(ErrorKind::Config, why));
    }
    Ok(text)
}

/// Parses TOML. Errors show the line.
pub(crate) fn from_toml<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Error> {
    toml::from_str(text)
        .map_err(|error| Error::new(ErrorKind::Config, error.to_string().trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
mock_files = true

[device.tape]
zones = [{ latency = "40s", bandwidth = "300MB/s" }]

[[mount]]
path = "/mnt/remote"
cache = "/var/cache/rclone/vfs/remote"

[[mount]]
path = "/mnt/remote/cold"
row = "tape"
level = "archive"
recall = { zero_blocks = true, command = ["lfs", "hsm_state", "{}"], offline = "released", timeout = "2s" }

[[mount]]
path = "/nfs/data"
remote = { server = "storage:7007", prefix = "/export/data" }
"#;

    #[test]
    fn the_deepest_rule_holds() {
        let config = Config::parse(TEXT).expect("understood");
        let path =
            |file: &str| config.rule(Path::new(file)).map(|rule| rule.path.display().to_string());
        assert_eq!(path("/mnt/remote/cold/x").as_deref(), Some("/mnt/remote/cold"));
        assert_eq!(path("/mnt/remote/colder").as_deref(), Some("/mnt/remote"));
        assert_eq!(path("/mnt/other"), None);
        let recall =
            config.rule(Path::new("/mnt/remote/cold")).and_then(|rule| rule.recall.as_ref());
        assert_eq!(recall.expect("a rule").patience(), Duration::from_secs(2));
        assert_eq!(config.row("tape").expect("a row").at(0).latency_ns, 40_000_000_000);
        assert!(config.mock_files);
    }

    #[test]
    fn what_is_not_understood_is_refused_with_its_line() {
        let bad = [
            ("mokc_files = true", "mokc_files"),
            ("[device.x]\nzones = []", "no zone"),
            ("[device.x]\nzones = [{ latency = \"soon\", bandwidth = \"1MB/s\" }]", "2"),
            ("[[mount]]\npath = \"relative\"", "relative"),
            (
                "[[mount]]\npath = \"/a\"\nremote = { server = \"h:1\", prefix = \"b\" }",
                "must be absolute",
            ),
            ("[[mount]]\npath = \"/a\"\nlevel = \"moon\"", "moon"),
            ("[[mount]]\npath = \"/a\"\nrecall = { volume = \"user.v\" }", "position too"),
            ("= 5", "1"),
        ];
        for (text, word) in bad {
            let error = Config::parse(text).expect_err(text);
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(error.to_string().contains(word), "{error}");
        }
        assert_eq!(Config::parse("").expect("empty"), Config::default());
    }

    /// The device table, the configuration and the mock levels that docs/reference/sleds.md shows.
    #[test]
    fn the_files_that_the_page_shows_are_understood() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/sleds.md");
        let page = fs::read_to_string(page).expect("the page");
        let files = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
        let files: Vec<&str> = files.collect();
        let [devices, config, mock] = files[..] else { panic!("{} files", files.len()) };
        let devices = crate::Devices::parse(devices).expect("a device table");
        assert_eq!(devices.entries().count(), 1);
        assert!(Config::parse(config).expect("a configuration").row("jukebox").is_some());
        let levels = crate::provider::Mock::parse(mock, 2 << 20).expect("mock levels");
        assert_eq!(levels.len(), 2);
    }
}
