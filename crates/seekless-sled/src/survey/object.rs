//! The SLEDs of an object in object storage: what of it a file of this machine holds costs what
//! that file costs, and the rest a request.

use super::{Survey, Surveyor};
use crate::overlay::push;
use crate::{Confidence, Error, Level, Sled};
use seekless_device::{Costs, Origin, Row};
use std::path::Path;
use std::time::Duration;

/// An object, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct ObjectSubject<'a> {
    /// The name of its storage in the device table: `s3://BUCKET`.
    pub storage: &'a str,
    /// Its size.
    pub bytes: u64,
    /// What requests have cost just now, if the table has no row for its storage.
    pub costs: Costs,
    /// The file that holds parts of it.
    pub held_in: Option<&'a Path>,
    /// These parts, in order, not overlapping.
    pub held: &'a [Held],
}

/// A part of an object that a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its first byte in the object.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
    /// Its first byte in the file.
    pub place: u64,
}

impl Surveyor {
    /// Whether it is known what the storage of this name in the device table charges: then
    /// [`ObjectSubject::costs`] is not looked at.
    #[must_use]
    pub fn knows_storage(&self, storage: &str) -> bool {
        self.named(storage).is_some()
    }

    /// The SLEDs of an object. Nothing is asked of its storage.
    ///
    /// # Errors
    /// The file that holds parts of it cannot be examined.
    pub fn object(&mut self, subject: &ObjectSubject<'_>) -> Result<Survey, Error> {
        let assumed = || {
            let costs = subject.costs;
            Row::new(Origin::Assumed, costs.request_ns, costs.bytes_per_second.max(1))
        };
        let row = self.named(subject.storage).unwrap_or_else(assumed);
        let zone = *row.at(0);
        let remote = |offset: u64, end: u64| Sled {
            offset,
            bytes: end - offset,
            latency: Duration::from_nanos(zone.latency_ns),
            bandwidth: zone.bytes_per_second as f64,
            level: Level::Network,
            confidence: Confidence::Exact,
            age: Duration::ZERO,
        };
        let (mut sleds, mut notes, mut at) = (Vec::new(), Vec::new(), 0);
        let file = match subject.held_in.filter(|_| !subject.held.is_empty()) {
            Some(path) => Some((path, self.path(path)?)),
            None => None,
        };
        let here = file.iter().flat_map(|(_, file)| held(subject.held, &file.sleds));
        for sled in here.filter(|sled| sled.end() <= subject.bytes) {
            if sled.offset > at {
                push(&mut sleds, remote(at, sled.offset));
            }
            at = sled.end();
            push(&mut sleds, sled);
        }
        if at < subject.bytes {
            push(&mut sleds, remote(at, subject.bytes));
        }
        if let Some((path, file)) = file {
            notes.push(format!("what is cached lies in {}", path.display()));
            if file.origin == Origin::Assumed {
                let (device, path) = (&file.device, path.display());
                notes.push(format!(
                    "{device} was never measured, its figures are assumed: seekless probe {path}"
                ));
            }
            notes.extend(file.notes);
        }
        let (bytes, device, origin) = (subject.bytes, subject.storage.to_owned(), row.origin);
        Ok(Survey { bytes, sleds, device, origin, position: None, notes })
    }
}

/// What the parts cost in their file, by their offsets in the object. A part in a hole of the file
/// is not there.
fn held<'a>(parts: &'a [Held], file: &'a [Sled]) -> impl Iterator<Item = Sled> + 'a {
    parts.iter().flat_map(move |part| {
        let (first, end) = (part.place, part.place + part.bytes);
        let from = file.partition_point(|sled| sled.end() <= first);
        let within = file[from..].iter().take_while(move |sled| sled.offset < end);
        within.filter(|sled| sled.level != Level::Hole).map(move |sled| {
            let (start, end) = (sled.offset.max(first), sled.end().min(end));
            Sled { offset: part.offset + (start - first), bytes: end - start, ..*sled }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Devices, Entry};

    const COSTS: Costs = Costs { request_ns: 25_000_000, bytes_per_second: 80_000_000, depth: 1 };

    fn subject(held_in: &Path) -> ObjectSubject<'_> {
        const HELD: [Held; 2] = [
            Held { offset: 0, bytes: 8192, place: 4096 },
            Held { offset: 50_000, bytes: 4096, place: 0 },
        ];
        let held_in = Some(held_in);
        ObjectSubject { storage: "s3://bucket", bytes: 100_000, costs: COSTS, held_in, held: &HELD }
    }

    #[test]
    fn what_a_file_holds_costs_what_the_file_does_and_the_rest_a_request() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        let path = folder.path().join("objects");
        std::fs::write(&path, vec![1; 20_000]).expect("written");
        let mut surveyor = Surveyor::with(Config::default(), Devices::default());
        let survey = surveyor.object(&subject(&path)).expect("an answer");
        let parts: Vec<_> = survey
            .sleds
            .iter()
            .map(|sled| (sled.offset, sled.end(), sled.level == Level::Network))
            .collect();
        let expected = [
            (0, 8192, false),
            (8192, 50_000, true),
            (50_000, 54_096, false),
            (54_096, 100_000, true),
        ];
        assert_eq!(parts, expected);
        assert_eq!(survey.sleds[1].latency, Duration::from_millis(25));
        assert!(survey.sleds[0].latency < survey.sleds[1].latency);
        assert_eq!((survey.origin, &*survey.device), (Origin::Assumed, "s3://bucket"));
        assert!(survey.notes[0].contains("objects"), "{:?}", survey.notes);
    }

    #[test]
    fn the_device_table_stands_over_what_was_just_seen() {
        let (mut devices, nowhere) = (
            Devices::default(),
            ObjectSubject { held_in: None, held: &[], ..subject(Path::new("")) },
        );
        let row = Row::new(Origin::Calibrated, 7_000_000, 50_000_000);
        devices.insert("s3://bucket", Entry { measured_unix_s: 1, conditions: String::new(), row });
        let mut surveyor = Surveyor::with(Config::default(), devices);
        assert!(surveyor.knows_storage("s3://bucket") && !surveyor.knows_storage("s3://other"));
        let survey = surveyor.object(&nowhere).expect("an answer");
        assert_eq!(survey.sleds.len(), 1);
        assert_eq!(survey.sleds[0].latency, Duration::from_millis(7));
        assert_eq!(survey.origin, Origin::Calibrated);
        let empty = ObjectSubject { bytes: 0, ..nowhere };
        assert!(surveyor.object(&empty).expect("an answer").sleds.is_empty());
    }
}
