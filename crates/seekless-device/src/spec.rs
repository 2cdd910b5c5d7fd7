//! A device as it is named on a command line: `iops=120,bandwidth=150MB/s`.

use crate::units::{format_rate, parse_rate};
use crate::{Costs, DeviceModel, Error, ErrorKind, Volume};
use std::fmt;
use std::str::FromStr;

const FORMS: &str = "write a device as iops=120,bandwidth=150MB/s";

/// A description of a device from which its model can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceSpec {
    /// A volume that serves so many requests and so many bytes a second; see [`Volume`].
    Volume {
        /// Requests per second.
        iops: u64,
        /// Bytes per second.
        bytes_per_second: u64,
    },
}

impl DeviceSpec {
    /// A fresh model of this device, idle at time 0.
    #[must_use]
    pub fn model(&self) -> Volume {
        match *self {
            DeviceSpec::Volume { iops, bytes_per_second } => Volume::new(iops, bytes_per_second),
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
        let (mut iops, mut bandwidth) = (None, None);
        for setting in text.split(',') {
            let (name, value) = setting.split_once('=').ok_or_else(|| unknown(setting))?;
            let twice = match name.trim() {
                "iops" => iops.replace(parse_iops(value.trim())?).is_some(),
                "bandwidth" => bandwidth.replace(parse_rate(value.trim())?).is_some(),
                _ => return Err(unknown(setting)),
            };
            if twice {
                return Err(Error::new(
                    ErrorKind::Missing,
                    format!("{name:?} is given twice: {FORMS}"),
                ));
            }
        }
        let missing =
            |name| Error::new(ErrorKind::Missing, format!("{text:?} does not say {name}: {FORMS}"));
        let iops = iops.ok_or_else(|| missing("iops"))?;
        let bytes_per_second = bandwidth.ok_or_else(|| missing("bandwidth"))?;
        if iops == 0 || bytes_per_second == 0 {
            return Err(Error::new(
                ErrorKind::Zero,
                format!("{text:?} would never finish a read: {FORMS}"),
            ));
        }
        Ok(DeviceSpec::Volume { iops, bytes_per_second })
    }
}

impl fmt::Display for DeviceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DeviceSpec::Volume { iops, bytes_per_second } => {
                write!(f, "iops={iops},bandwidth={}", format_rate(bytes_per_second))
            }
        }
    }
}

fn parse_iops(value: &str) -> Result<u64, Error> {
    value.parse().map_err(|_| {
        Error::new(
            ErrorKind::NotANumber,
            format!("iops={value} is no whole number of requests a second: {FORMS}"),
        )
    })
}

fn unknown(setting: &str) -> Error {
    Error::new(ErrorKind::UnknownSetting, format!("{setting:?} is no setting of a device: {FORMS}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_the_form_of_the_help() {
        let spec: DeviceSpec = "iops=120,bandwidth=150MB/s".parse().unwrap();
        assert_eq!(spec, DeviceSpec::Volume { iops: 120, bytes_per_second: 150_000_000 });
        assert_eq!(spec.to_string(), "iops=120,bandwidth=150MB/s");
        assert_eq!(
            "bandwidth = 1GiB , iops = 5".parse::<DeviceSpec>().unwrap().costs().bytes_per_second,
            1 << 30
        );
    }

    #[test]
    fn what_is_no_device_is_refused_and_the_form_is_shown() {
        let bad = [
            ("", ErrorKind::UnknownSetting),
            ("disk", ErrorKind::UnknownSetting),
            ("iops=120,seek=3ms", ErrorKind::UnknownSetting),
            ("iops=120", ErrorKind::Missing),
            ("bandwidth=1MB", ErrorKind::Missing),
            ("iops=1,iops=2,bandwidth=1MB", ErrorKind::Missing),
            ("iops=0,bandwidth=1MB", ErrorKind::Zero),
            ("iops=many,bandwidth=1MB", ErrorKind::NotANumber),
        ];
        for (text, kind) in bad {
            let error = text.parse::<DeviceSpec>().expect_err(text);
            assert_eq!(error.kind(), kind, "{text}");
            assert!(error.to_string().contains("iops=120,bandwidth=150MB/s"), "{error}");
        }
        assert_eq!(
            "iops=9,bandwidth=9M".parse::<DeviceSpec>().unwrap_err().kind(),
            ErrorKind::UnknownUnit
        );
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(iops in 1u64.., bytes_per_second in 1u64..) {
            let spec = DeviceSpec::Volume { iops, bytes_per_second };
            prop_assert_eq!(spec.to_string().parse::<DeviceSpec>(), Ok(spec));
        }
    }
}
