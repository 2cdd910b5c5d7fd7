//! How files end: delivered whole, left out, changed meanwhile, or failed.

use super::Reader;
use super::event::Event;
use super::linear::{Linear, Start};
use super::opened::{Opened, Stamp};
use super::planned::Ending;
use super::source::State;
use crate::Error;

impl Reader {
    /// After the caller has seen a file's last block: checks that the block was sound, and whether
    /// it was the file's last. True if that made an event.
    pub(super) fn settle(&mut self) -> bool {
        let Some((file, block)) = self.tray.lift() else { return false };
        let lost = block.is_lost();
        self.device.recycle_block(block);
        let Some(planned) = self.files.planned(file) else { return false };
        let complete = planned.is_complete(self.options.reach.cached_only);
        if lost {
            self.restart(file);
        } else if complete {
            self.finish(file);
        }
        lost || complete
    }

    /// Ends a file that has come whole, unless something was appended meanwhile.
    fn finish(&mut self, file: usize) {
        let Some(opened) = self.opened(file) else { return };
        let now = match Stamp::of(&opened.buffered) {
            Ok(now) => now,
            Err(error) => return self.fail(file, error),
        };
        let Some(planned) = self.files.planned(file) else { return };
        let (end, unknown) = (planned.stamp.bytes, !planned.answer.known);
        match planned.end(&now, &self.options) {
            Ending::Changed => self.restart(file),
            Ending::Appended { offset, begun } => self.go_on(file, &opened, end, offset, begun),
            Ending::Whole { last, bytes, skipped } => {
                self.files[file].leave_at(end);
                self.forget(file);
                self.tray.push_pieces(file, last);
                self.tray.push(Event::End { file, bytes, skipped, unknown });
            }
        }
    }

    /// Reads on in the plain order what was appended after `end`, until the file's end is met once.
    /// `begun` is the start of a record at `offset` that may have been completed.
    fn go_on(&mut self, file: usize, opened: &Opened, end: u64, offset: u64, begun: Vec<u8>) {
        match opened.stream_from(end) {
            Ok(stream) => {
                self.forget(file);
                self.files[file].state = State::Linear(None);
                self.tray.start_stream(Linear::new(file, Start { stream, offset, begun }));
            }
            Err(error) => self.fail(file, error),
        }
    }

    /// Begins a file again that is not what it was: all of it, in the plain order.
    pub(super) fn restart(&mut self, file: usize) {
        self.tray.take_back(file);
        self.forget(file);
        self.files[file].state = State::Linear(None);
        self.schedule.push_linear(file);
        self.statistics.restarts += 1;
        self.tray.push(Event::Restart { file });
    }

    /// Ends a file with an error. What was read before is still handed out.
    pub(super) fn fail(&mut self, file: usize, error: impl Into<Error>) {
        self.forget(file);
        let error = error.into().of_file(&self.files[file].path);
        self.tray.push(Event::Failed { file, error });
    }

    /// Ends a file.
    pub(super) fn forget(&mut self, file: usize) {
        self.schedule.remove(file);
        self.tray.end_stream(file);
        self.files.end(file);
    }
}
