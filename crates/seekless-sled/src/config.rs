//! What the user knows better than anybody can find out: `seekless/sleds.toml` in the configuration folder. Every word of it is
//! explained in `docs/sleds.md`.

use crate::{Error, ErrorKind, Level};
use seekless_device::{Row, Table};
use serde::{Deserialize, Deserializer};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A configuration larger than this is a mistake.
const BYTES_MAX: u64 = 1 << 20;

/// The user's word. The default says nothing.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Rows of the device table by name; they hold against assumed and measured ones.
    pub device: Table,
    /// What lies below a folder.
    #[serde(rename = "mount")]
    pub mounts: Vec<MountRule>,
    /// Whether `FILE.sleds.toml` beside a file tells its SLEDs, for showing levels that are not there.
    pub mock_files: bool,
}

/// What is known of the files below a folder. The rule of the deepest folder holds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MountRule {
    /// The folder, absolute.
    pub path: PathBuf,
    /// The row of the device table, by name, in place of that of the device found.
    pub row: Option<String>,
    /// The level, in place of that of the file system found.
    pub level: Option<Level>,
    /// A folder of sparse files of the same relative names: what they hold is on this machine (the cache of `rclone mount`).
    pub cache: Option<PathBuf>,
    /// Another machine that knows more: `seekless sleds --serve` runs there.
    pub remote: Option<RemoteRule>,
    /// How to see, without opening it, that a file must be recalled first.
    pub recall: Option<RecallRule>,
}

/// Which server to ask, and for what.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteRule {
    /// `host:port`.
    pub server: String,
    /// What the folder is called there, absolute.
    pub prefix: PathBuf,
}

/// Signs of a file that lies in an archive. Any of them is enough; with none but `never`, files are what they seem.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecallRule {
    /// Files below are never recalled, whatever they look like.
    pub never: bool,
    /// A file with a size and no blocks is a stub.
    pub zero_blocks: bool,
    /// The extended attribute that tells the state.
    pub xattr: Option<String>,
    /// A command that prints the state; a word `{}` becomes the file's path. It must not open the file.
    pub command: Vec<String>,
    /// The state is *archived* if attribute or output contain this; an attribute that merely exists is enough when this is empty.
    pub offline: String,
    /// How long the command may take.
    #[serde(deserialize_with = "seconds")]
    pub timeout: Duration,
}

impl Config {
    /// Where the user's configuration stands: `$XDG_CONFIG_HOME/seekless/sleds.toml`, else `~/.config/seekless/sleds.toml`.
    #[must_use]
    pub fn path() -> Option<PathBuf> {
        Some(home("XDG_CONFIG_HOME", ".config")?.join("seekless/sleds.toml"))
    }

    /// The user's configuration; nothing if there is none.
    ///
    /// # Errors
    /// It cannot be read, or says something that is not understood; the message names file and line.
    pub fn load() -> Result<Config, Error> {
        let Some(path) = Config::path() else { return Ok(Config::default()) };
        match Config::read(&path) {
            Err(error) if error.io_error().is_some_and(|io| io.kind() == io::ErrorKind::NotFound) => {
                Ok(Config::default())
            }
            other => other,
        }
    }

    /// A configuration that stands elsewhere.
    ///
    /// # Errors
    /// As [`Config::load`], and if there is none.
    pub fn read(path: &Path) -> Result<Config, Error> {
        let text = bounded_text(path, BYTES_MAX)?;
        Config::parse(&text).map_err(|error| error.of_file(path))
    }

    /// A configuration in text.
    ///
    /// # Errors
    /// It says something that is not understood.
    pub fn parse(text: &str) -> Result<Config, Error> {
        let config: Config = from_toml(text)?;
        config.device.check().map_err(|error| Error::new(ErrorKind::Config, error.to_string()))?;
        for rule in &config.mounts {
            let remote = rule.remote.as_ref().map(|remote| &remote.prefix);
            let paths = [Some(&rule.path), remote, rule.cache.as_ref()];
            if let Some(path) = paths.into_iter().flatten().find(|path| !path.is_absolute()) {
                let why = format!("mount {:?}: give {path:?} from the root, as /mnt/data", rule.path);
                return Err(Error::new(ErrorKind::Config, why));
            }
        }
        Ok(config)
    }

    /// The rule of the deepest folder that holds `path` (absolute).
    #[must_use]
    pub fn rule(&self, path: &Path) -> Option<&MountRule> {
        let holding = self.mounts.iter().filter(|rule| path.starts_with(&rule.path));
        holding.max_by_key(|rule| rule.path.components().count())
    }

    /// A row that the user wrote.
    #[must_use]
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.device.row(name)
    }
}

impl RecallRule {
    /// How long a command may take if nobody says.
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

/// `$VARIABLE` if it is absolute, as the XDG specification wants it, else that folder of the user's home.
pub(crate) fn home(variable: &str, folder: &str) -> Option<PathBuf> {
    let set =
        |name: &str| std::env::var_os(name).filter(|value: &OsString| !value.is_empty()).map(PathBuf::from);
    set(variable).filter(|path| path.is_absolute()).or_else(|| Some(set("HOME")?.join(folder)))
}

/// All of a small text file.
pub(crate) fn bounded_text(path: &Path, bytes_max: u64) -> Result<String, Error> {
    use io::Read;
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|error| Error::io(path, error))?;
    file.take(bytes_max + 1).read_to_string(&mut text).map_err(|error| Error::io(path, error))?;
    if text.len() as u64 > bytes_max {
        let why = format!("{}: over {bytes_max} bytes, so it is not what it should be", path.display());
        return Err(Error::new(ErrorKind::Config, why));
    }
    Ok(text)
}

/// TOML to a value; errors show the line.
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
        let path = |file: &str| config.rule(Path::new(file)).map(|rule| rule.path.display().to_string());
        assert_eq!(path("/mnt/remote/cold/x").as_deref(), Some("/mnt/remote/cold"));
        assert_eq!(path("/mnt/remote/colder").as_deref(), Some("/mnt/remote"));
        assert_eq!(path("/mnt/other"), None);
        let recall = config.rule(Path::new("/mnt/remote/cold")).and_then(|rule| rule.recall.as_ref());
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
            ("[[mount]]\npath = \"/a\"\nremote = { server = \"h:1\", prefix = \"b\" }", "from the root"),
            ("[[mount]]\npath = \"/a\"\nlevel = \"moon\"", "moon"),
            ("= 5", "1"),
        ];
        for (text, word) in bad {
            let error = Config::parse(text).expect_err(text);
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(error.to_string().contains(word), "{error}");
        }
        assert_eq!(Config::parse("").expect("empty"), Config::default());
    }
}
