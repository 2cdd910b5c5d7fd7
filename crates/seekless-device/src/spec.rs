//! A device as it is named on a command line: a preset such as `t7k250`, a volume such as
//! `iops=120,bandwidth=150MB/s`, or an object store such as
//! `streams=64,latency=30ms,bandwidth=90MB/s`.

use crate::figures::exact;
use crate::units::{format_rate, parse_duration, parse_rate};
use crate::{
    AnyDevice, Burst, Costs, DeviceModel, Error, ErrorKind, ObjectStoreParameters, Parameters,
    Preset, Quantile, Volume, VolumeParameters,
};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

#[cfg(test)]
mod tests;

const FORMS: &str = "write a device as iops=120,bandwidth=150MB/s, or name one that `seekless \
                     devices` lists, or a TOML file";

/// A description of a device from which its model can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceSpec {
    /// A volume that limits requests and bytes a second; see [`Volume`].
    Volume {
        /// Requests per second.
        iops: u64,
        /// Bytes per second.
        bytes_per_second: u64,
    },
    /// A device with numbers of its own kind.
    Model(Model),
}

/// A name, and the numbers from which a device is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    name: Arc<str>,
    parameters: Arc<Parameters>,
}

impl Model {
    /// Its name, as the user would give it again.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its numbers.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }
}

impl DeviceSpec {
    /// A device of these numbers, called `name` wherever it is printed.
    ///
    /// # Errors
    /// When no device has such numbers.
    pub fn new(name: &str, parameters: Parameters) -> Result<Self, Error> {
        parameters.check()?;
        Ok(DeviceSpec::Model(Model { name: name.into(), parameters: Arc::new(parameters) }))
    }

    /// A fresh model of this device, idle at time 0.
    #[must_use]
    pub fn model(&self) -> AnyDevice {
        match self {
            &DeviceSpec::Volume { iops, bytes_per_second } => {
                AnyDevice::Volume(Volume::new(iops, bytes_per_second))
            }
            DeviceSpec::Model(model) => {
                model.parameters.model().expect("checked when the description was made")
            }
        }
    }

    /// Its numbers.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        match self {
            &DeviceSpec::Volume { iops, bytes_per_second } => {
                Parameters::Volume(VolumeParameters {
                    iops,
                    bytes_per_second,
                    latency_ns: 0,
                    burst: None,
                })
            }
            DeviceSpec::Model(model) => Parameters::clone(&model.parameters),
        }
    }

    /// What this device charges, for decisions.
    #[must_use]
    pub fn costs(&self) -> Costs {
        self.model().costs()
    }
}

impl FromStr for DeviceSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text.contains('=') {
            return Settings::parse(text)?.device(text);
        }
        if text.trim().is_empty() {
            return Err(unknown(text));
        }
        let preset = Preset::named(text.trim())
            .map_err(|error| Error::new(error.kind(), format!("{error}; {FORMS}")))?;
        DeviceSpec::new(preset.name(), preset.parameters())
    }
}

impl fmt::Display for DeviceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceSpec::Volume { iops, bytes_per_second } => {
                write!(f, "iops={iops},bandwidth={}", format_rate(*bytes_per_second))
            }
            DeviceSpec::Model(model) => f.write_str(&model.name),
        }
    }
}

/// What `iops=…,bandwidth=…` says; of an object store, `streams=…,latency=…,bandwidth=…`.
#[derive(Default)]
struct Settings {
    iops: Option<u64>,
    bytes_per_second: Option<u64>,
    latency_ns: Option<u64>,
    burst: Option<Burst>,
    streams: Option<u32>,
}

impl Settings {
    fn parse(text: &str) -> Result<Self, Error> {
        let mut settings = Settings::default();
        for setting in text.split(',') {
            let (name, value) = setting.split_once('=').ok_or_else(|| unknown(setting))?;
            let value = value.trim();
            let twice = match name.trim() {
                "iops" => settings.iops.replace(parse_iops(value)?).is_some(),
                "bandwidth" => settings.bytes_per_second.replace(parse_rate(value)?).is_some(),
                "latency" => settings.latency_ns.replace(parse_duration(value)?).is_some(),
                "streams" => settings.streams.replace(parse_streams(value)?).is_some(),
                "burst" => settings.burst.replace(parse_burst(value)?).is_some(),
                _ => return Err(unknown(setting)),
            };
            if twice {
                let message = format!("{:?} is given twice: {FORMS}", name.trim());
                return Err(Error::new(ErrorKind::Missing, message));
            }
        }
        Ok(settings)
    }

    fn device(self, text: &str) -> Result<DeviceSpec, Error> {
        let missing =
            |name| Error::new(ErrorKind::Missing, format!("{text:?} does not say {name}: {FORMS}"));
        if let Some(streams) = self.streams {
            return self.object_store(streams, text);
        }
        let iops = self.iops.ok_or_else(|| missing("iops"))?;
        let bytes_per_second = self.bytes_per_second.ok_or_else(|| missing("bandwidth"))?;
        if iops == 0 || bytes_per_second == 0 {
            let message = format!("{text:?} would never finish a read: {FORMS}");
            return Err(Error::new(ErrorKind::Zero, message));
        }
        let latency_ns = self.latency_ns.unwrap_or(0);
        if latency_ns == 0 && self.burst.is_none() {
            return Ok(DeviceSpec::Volume { iops, bytes_per_second });
        }
        let parameters = VolumeParameters { iops, bytes_per_second, latency_ns, burst: self.burst };
        DeviceSpec::new(&words(&parameters), Parameters::Volume(parameters))
    }
}

impl Settings {
    /// An object store that lets each request wait as long.
    fn object_store(&self, streams: u32, text: &str) -> Result<DeviceSpec, Error> {
        let (Some(latency_ns), Some(bytes_per_second), None, None) =
            (self.latency_ns, self.bytes_per_second, self.iops, self.burst)
        else {
            let message = format!(
                "{text:?} is no object store: write streams=64,latency=30ms,bandwidth=90MB/s for \
                 64 requests at once, each at this rate after this wait"
            );
            return Err(Error::new(ErrorKind::Missing, message));
        };
        let point = |permille| Quantile { permille, latency_ns };
        let first_byte = vec![point(0), point(1000)];
        let parameters = ObjectStoreParameters { bytes_per_second, streams, seed: 0, first_byte };
        let name = format!(
            "streams={streams},latency={},bandwidth={}",
            exact(latency_ns),
            format_rate(bytes_per_second)
        );
        DeviceSpec::new(&name, Parameters::ObjectStore(parameters))
    }
}

/// A volume with more than its two limits, as [`Settings::parse`] reads it back.
fn words(volume: &VolumeParameters) -> String {
    let VolumeParameters { iops, bytes_per_second, latency_ns, burst } = *volume;
    let mut words = format!("iops={iops},bandwidth={}", format_rate(bytes_per_second));
    if latency_ns > 0 {
        words += &format!(",latency={}", exact(latency_ns));
    }
    if let Some(Burst { iops, credit }) = burst {
        words += &format!(",burst={iops}x{credit}");
    }
    words
}

fn parse_streams(value: &str) -> Result<u32, Error> {
    value.parse().map_err(|_| {
        let message = format!("streams={value} is no whole number of requests at once");
        Error::new(ErrorKind::NotANumber, message)
    })
}

fn parse_iops(value: &str) -> Result<u64, Error> {
    value.parse().map_err(|_| {
        let message = format!("iops={value} is no whole number of requests a second: {FORMS}");
        Error::new(ErrorKind::NotANumber, message)
    })
}

/// `3000x540000`: requests a second, and how many can be saved up.
fn parse_burst(value: &str) -> Result<Burst, Error> {
    let numbers = value.split_once('x');
    let read = numbers.and_then(|(iops, credit)| {
        Some(Burst { iops: iops.trim().parse().ok()?, credit: credit.trim().parse().ok()? })
    });
    read.ok_or_else(|| {
        let message = format!(
            "burst={value} is no burst: write burst=3000x540000 for 3000 requests a second while \
             540,000 that were saved up last"
        );
        Error::new(ErrorKind::NotANumber, message)
    })
}

fn unknown(setting: &str) -> Error {
    let message = format!("{setting:?} is no setting of a device: {FORMS}");
    Error::new(ErrorKind::UnknownSetting, message)
}
