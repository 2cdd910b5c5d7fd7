//! What is printed at the end of a file.

use super::{Searched, Session};
use crate::grep::print::SELECTED;
use crate::grep::source::Ending;
use crate::grep::walk::problem;
use crate::grep::{BinaryFiles, Listing};
use crate::words::words;

impl Session<'_, '_> {
    /// Prints what comes at the end of a file, such as its count.
    pub(super) fn conclude(&mut self, searched: &mut Searched) {
        let needs_order = self.options.needs_order();
        let state = searched.state.take();
        let selected = match (&state, needs_order) {
            (None, _) => 0,
            (Some(state), true) => state.ordered.selected,
            (Some(state), false) => state.selected,
        };
        if let Some(problem) = searched.problem.take() {
            self.say(&problem.message);
            if !problem.opened {
                return;
            }
        }
        self.matched |= selected > 0;
        self.grouped |= selected > 0;
        self.report(&searched.name, selected);
        if let Some(state) = &state {
            let binary = state.ordered.binary_match
                || (state.ordered.encoding_error
                    && self.options.binary_files == BinaryFiles::Binary);
            if binary && self.options.prints_lines() {
                self.output.say(&problem(&searched.name, "binary file matches"));
            }
            let ending = Ending {
                selected,
                selected_to: state.ordered.selected_to,
                stopped: searched.stopped,
            };
            if let Err(error) = searched.source.leave(ending, self.options) {
                self.say(&problem(&searched.name, &words(&error)));
            }
        }
        if searched.skipped > 0 {
            let why = self.options.reach.why(searched.unknown);
            let message = format!("{} bytes are {why} and were skipped", searched.skipped);
            self.say(&problem(&searched.name, &message));
        }
    }

    fn report(&mut self, name: &[u8], selected: u64) {
        let options = self.options;
        let listed = match options.listing {
            Listing::None => false,
            Listing::Matching => selected > 0,
            Listing::NonMatching => selected == 0,
        };
        if options.quiet || options.discard {
            return;
        }
        let mut line = Vec::new();
        if listed {
            self.printer.name(&mut line, name);
            line.push(if options.null_names { 0 } else { b'\n' });
        } else if options.count && options.listing == Listing::None {
            if self.printer.with_filename {
                self.printer.name(&mut line, name);
                self.printer.after_name(&mut line, SELECTED);
            }
            line.extend_from_slice(format!("{selected}\n").as_bytes());
        }
        self.output.print(&line);
    }
}
