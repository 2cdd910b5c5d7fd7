//! Looks at files: for the first time, and again after some time; and what a look shows about the
//! cache as a whole.

use super::Reader;
use super::opened::Opened;
use super::planned::Planned;
use super::source::{Source, State};
use super::survey::Survey;
use crate::Hold;

impl Reader {
    /// Looks at the next new file; false when there is no new file.
    pub(super) fn survey_next(&mut self) -> bool {
        let Some(file) = self.files.next_unsurveyed() else { return false };
        let source = &mut self.files[file];
        if !matches!(source.state, State::New) {
            return true;
        }
        let survey = Survey { kernel: &*self.kernel, options: &self.options };
        match survey.first(source) {
            Err(error) => self.fail(file, error),
            Ok(state) => {
                source.state = state;
                self.enter(file);
            }
        }
        true
    }

    /// Schedules a file after its first look, and counts what the look shows about the cache.
    fn enter(&mut self, file: usize) {
        if self.files.planned(file).is_none() {
            return self.schedule.push_linear(file);
        }
        let dearness_ns = self.dearness_ns(file);
        let Some(planned) = self.files.planned(file) else { return };
        planned.dearness_ns = dearness_ns;
        self.room.miss(planned.left.absent_bytes());
        self.statistics.resident_bytes += planned.left.cached.bytes();
        self.statistics.resident_runs += planned.left.cached.len() as u64;
        for hole in std::mem::take(&mut planned.holes) {
            self.tray.push_hole(file, hole.start - planned.base, hole.end - hole.start);
        }
        self.files.note_open(file);
        self.device.note_file(&self.files[file].path);
        self.hold(file);
        self.sort(file);
        self.tray.looked_at(file);
    }

    /// The cost of the file's device. It matters only beside another device's, so a lone file is
    /// not asked about.
    pub(super) fn dearness_ns(&mut self, file: usize) -> u64 {
        let source = &self.files[file];
        match source.planned() {
            Some(planned) if self.files.len() > 1 => self
                .schedule
                .dearness_ns(planned.stamp.device, || self.kernel.dearness_ns(&source.path)),
            _ => 0,
        }
    }

    /// Holds the end of a file's cached ranges, as far as the bounds allow.
    fn hold(&mut self, file: usize) {
        let held = self.statistics.held_bytes;
        if self.options.hold_bytes <= held {
            return;
        }
        let headroom = self.room.headroom(|| self.kernel.headroom());
        let most = headroom.map_or(u64::MAX, |headroom| headroom.bytes() / 2);
        let most = self.options.hold_bytes.min(most).saturating_sub(held);
        let Some(Planned { opened: Some(opened), left, hold, .. }) = self.files.planned(file)
        else {
            return;
        };
        *hold = Hold::on(&opened.buffered, left.cached.iter(), most);
        self.statistics.held_bytes += hold.bytes();
    }

    /// Asks again what is cached of the rest of a file.
    pub(super) fn look_again(&mut self, file: usize, opened: &Opened) {
        let survey = Survey { kernel: &*self.kernel, options: &self.options };
        let Source { path, state: State::Planned(planned), .. } = &mut self.files[file] else {
            return;
        };
        survey.again(path, planned, &opened.buffered);
        self.sort(file);
        self.statistics.looks += 1;
        self.tray.looked_at(file);
    }
}
