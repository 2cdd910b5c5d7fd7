//! One file's answer: the layers of what the providers say.

use super::{Subject, Survey, Surveyor};
use crate::overlay::{overlay, push};
use crate::provider::remote::Line;
use crate::provider::{
    CacheFile, Claim, Device, Holes, Mock, PageCache, Presence, Provider, Recall, Remote, Target,
};
use crate::{Confidence, Error, Kind, Level, Sled};
use seekless_device::{Origin, Row, Table};
use std::fs::File;
use std::time::Duration;

impl Surveyor {
    /// The answer for a file that must not be opened; `None` if it may be.
    ///
    /// # Errors
    /// It is archived, and its position is no number.
    pub(super) fn unopened(&self, subject: &Subject<'_>) -> Result<Option<Survey>, Error> {
        let target = subject.target(None);
        let mut notes = Vec::new();
        if self.config.mock_files {
            let ranges = told(&Mock, &target, &mut notes).unwrap_or_default();
            let covered: u64 = ranges.iter().map(|range| range.bytes).sum();
            if covered == target.bytes && covered > 0 {
                return Ok(Some(self.survey(subject, &[ranges], notes)));
            }
        }
        let rule = subject.rule.as_ref().and_then(|rule| rule.recall.clone());
        let row =
            subject.rule.as_ref().and_then(|rule| rule.row.as_deref()).unwrap_or(Table::ARCHIVE);
        let doubtful = rule.is_none() && subject.home.kind == Kind::Network;
        let recall = Recall { rule: rule.unwrap_or_default(), archive: self.zone(row) };
        let unknown = || vec![Claim::now(0, target.bytes, Presence::Unknown)];
        let (claims, position) = match told(&recall, &target, &mut notes) {
            Some(ranges) if !ranges.is_empty() => (ranges, recall.position(&target)?),
            Some(_) if doubtful && target.bytes > 0 && target.allocated_bytes == 0 => {
                notes.push("has a size and no blocks: opening it might recall it (see `recall` in the configuration)".into());
                (unknown(), None)
            }
            Some(_) => return Ok(None),
            None => (unknown(), None),
        };
        Ok(Some(Survey { position, ..self.survey(subject, &[claims], notes) }))
    }

    /// The answer for an open file.
    pub(super) fn opened(
        &mut self,
        subject: &Subject<'_>,
        file: Option<&File>,
    ) -> Result<Survey, Error> {
        self.opened_with(subject, file, None)
    }

    /// The same; `resident` is the page cache's answer, if it was asked already.
    pub(super) fn opened_with(
        &mut self,
        subject: &Subject<'_>,
        file: Option<&File>,
        resident: Option<Vec<Claim>>,
    ) -> Result<Survey, Error> {
        let target = subject.target(file);
        let mut notes = Vec::new();
        let mut layers = Vec::new();
        let page_cache = PageCache { memory: self.zone(Table::MEMORY) };
        let resident = match (resident, subject.home.kind) {
            (Some(told), _) => told,
            (None, Kind::Memory) => Vec::new(), // below is memory already
            (None, _) => page_cache.claims(&target)?,
        };
        let all_here = match &resident[..] {
            [one] => one.bytes == target.bytes && matches!(one.presence, Presence::Here { .. }),
            _ => false,
        };
        if !all_here {
            let row = self.row(&subject.home, subject.rule.as_ref());
            layers.push(device(subject, row).claims(&target)?);
            if let Some(remote) = self.remote(subject) {
                layers.extend(told(&remote, &target, &mut notes));
            }
            if let Some(cache) = self.cache_file(subject) {
                layers.extend(told(&cache, &target, &mut notes));
            }
        }
        layers.push(resident);
        if self.config.mock_files {
            layers.extend(told(&Mock, &target, &mut notes));
        }
        Ok(self.survey(subject, &layers, notes))
    }

    pub(super) fn remote(&mut self, subject: &Subject<'_>) -> Option<Remote> {
        let rule = subject.rule.as_ref()?;
        let remote = rule.remote.as_ref()?;
        let line = self
            .lines
            .entry(remote.server.clone())
            .or_insert_with(|| Line::new(&remote.server))
            .clone();
        let network = *self.row(&subject.home, Some(rule)).at(0);
        Some(Remote { mount: rule.path.clone(), prefix: remote.prefix.clone(), network, line })
    }

    fn cache_file(&mut self, subject: &Subject<'_>) -> Option<CacheFile> {
        let rule = subject.rule.as_ref()?;
        let cache = rule.cache.clone()?;
        let (_, row) = self.home(&cache).ok()?;
        Some(CacheFile { mount: rule.path.clone(), cache, zone: *row.at(0) })
    }

    /// Lays the answers over each other, the last on top, over one SLED of unknown level.
    fn survey(&self, subject: &Subject<'_>, layers: &[Vec<Claim>], notes: Vec<String>) -> Survey {
        let row = self.row(&subject.home, subject.rule.as_ref());
        let bytes = subject.bytes();
        let mut sleds = Vec::new();
        if bytes > 0 {
            let zone = row.at(0);
            let latency = Duration::from_nanos(zone.latency_ns);
            let (level, confidence) = (Level::Unknown, Confidence::Unknown);
            let bandwidth = zone.bytes_per_second as f64;
            push(
                &mut sleds,
                Sled {
                    offset: 0,
                    bytes,
                    latency,
                    bandwidth,
                    level,
                    confidence,
                    age: Duration::ZERO,
                },
            );
        }
        for layer in layers {
            sleds = overlay(sleds, layer);
        }
        let (device, origin) = (subject.home.key.clone(), row.origin);
        Survey { bytes, sleds, device, origin, position: None, notes }
    }
}

/// The provider at the bottom: the file system's device.
fn device(subject: &Subject<'_>, row: Row) -> Device {
    let said = subject.rule.as_ref().and_then(|rule| rule.level);
    let level = said.unwrap_or(match subject.home.kind {
        Kind::Memory => Level::Memory,
        Kind::Local => Level::Device,
        Kind::Network => Level::Network,
    });
    // The cost of a network is unknown until it was measured.
    let measured = row.origin != Origin::Assumed || subject.home.kind != Kind::Network;
    let confidence = if measured { Confidence::Exact } else { Confidence::Unknown };
    let holes = match subject.home.kind {
        Kind::Network => Holes::Unasked,
        _ if subject.lent => Holes::ByExtents,
        _ => Holes::BySeeking,
    };
    Device { level, row, confidence, holes }
}

/// A provider's answer. If it cannot be asked, a note says why.
fn told(
    provider: &dyn Provider,
    target: &Target<'_>,
    notes: &mut Vec<String>,
) -> Option<Vec<Claim>> {
    match provider.claims(target) {
        Ok(claims) => Some(claims),
        Err(error) => {
            notes.push(format!("{}: {error}", provider.name()));
            None
        }
    }
}
