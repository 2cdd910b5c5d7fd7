//! Looks at files: for the first time, and again after some time; and what a look shows about the
//! cache as a whole.

use super::Reader;
use super::event::Event;
use super::opened::Opened;
use super::planned::Planned;
use super::schedule::Charge;
use super::source::{Source, State};
use super::survey::Survey;
use crate::{Error, Hold};

impl Reader {
    /// Looks at the next new file; false when there is no new file.
    pub(super) fn survey_next(&mut self) -> bool {
        let Some(file) = self.files.next_unsurveyed() else { return false };
        let source = &mut self.files[file];
        if !matches!(source.state, State::New) {
            return true;
        }
        let survey = Survey { kernel: &*self.kernel, options: &self.options };
        let state = survey.first(source);
        self.enter(file, state);
        true
    }

    /// Schedules a file after its first look.
    pub(super) fn enter(&mut self, file: usize, state: Result<State, Error>) {
        match state {
            Err(error) => return self.fail(file, error),
            Ok(state) => self.files[file].state = state,
        }
        match &self.files[file].state {
            State::Planned(_) => self.enter_planned(file),
            State::Archived(stub) => {
                self.schedule.note_levels();
                self.recalls.push(file, stub.clone());
            }
            &State::LeftOut(bytes) => {
                self.forget(file);
                self.tray.push(Event::End { file, bytes, skipped: bytes, unknown: false });
            }
            State::New | State::Linear(_) | State::Ended => self.schedule.push_linear(file),
        }
    }

    /// Counts what the first look at a planned file shows about the cache.
    fn enter_planned(&mut self, file: usize) {
        let charge = self.charge(file);
        let Some(planned) = self.files.planned(file) else { return };
        if planned.ruled {
            self.schedule.note_levels();
        } else {
            planned.left.price = charge.price;
            let reach = self.options.reach;
            let wait = charge.latency + charge.price.cost(planned.left.absent_bytes());
            if !reach.cached_only && reach.leaves_out(charge.latency, wait) {
                planned.left_out = !planned.left.take_absent().is_empty();
            }
        }
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

    /// What the file's device charges. It matters only beside another device's and for a bound, so
    /// a lone file is not asked about.
    pub(super) fn charge(&mut self, file: usize) -> Charge {
        let source = &self.files[file];
        let matters = self.files.len() > 1 || self.options.reach.is_timed();
        match source.planned() {
            Some(planned) if matters && !planned.ruled => {
                self.schedule.charge(planned.stamp.device, || self.kernel.charge(&source.path))
            }
            _ => Charge::default(),
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

    /// Looks again at the files on devices, where the last look was some time ago: what is about to
    /// be read is dear, and another may have become cheaper meanwhile.
    pub(super) fn look_at_dear(&mut self) {
        for file in self.schedule.on_device() {
            if self.files.planned(file).is_some_and(|planned| planned.is_stale())
                && let Some(opened) = self.opened(file)
            {
                self.look_again(file, &opened);
            }
        }
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
