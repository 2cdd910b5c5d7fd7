//! The option of verbs that read objects in object storage: what of them is kept on the local disk.

use crate::output;
use seekless::device::units::parse_bytes;
use seekless::io::DiskCacheSettings;

/// How much is kept.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct DiskCache {
    /// Keep what is read from object storage on the local disk, in at most this many bytes that all
    /// programs of yours share; 0 is nothing [default: $SEEKLESS_DISK_CACHE, else 0]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    disk_cache: Option<u64>,
}

impl DiskCache {
    /// What was said here, else in the environment. What goes wrong with it later is printed.
    ///
    /// # Errors
    /// The environment says what is no size.
    pub fn or_environment(self) -> anyhow::Result<DiskCacheSettings> {
        let settings = match self.disk_cache {
            Some(bytes) => DiskCacheSettings::new(bytes),
            None => DiskCacheSettings::from_environment()?,
        };
        Ok(settings.on_trouble(|words: &str| output::say(words)))
    }

    /// What was said here, else nothing.
    pub fn only_if_asked(self) -> DiskCacheSettings {
        let settings = DiskCacheSettings::new(self.disk_cache.unwrap_or(0));
        settings.on_trouble(|words: &str| output::say(words))
    }
}
