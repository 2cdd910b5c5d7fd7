//! Prints a line for each input that has ended, in the order of the arguments, and the total.

use super::{Figures, Input, Outcome, Pending, Report, Run, Total};
use crate::wc::charset::Charset;
use crate::wc::{Counts, print, quote};
use crate::words::words;
use rustix::io::Errno;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

impl Run<'_> {
    /// Records the outcome of an input, and prints all lines whose turn it is.
    pub(super) fn end(&mut self, index: usize, outcome: Outcome) -> io::Result<()> {
        self.pending[index - self.printed].outcome = Some(outcome);
        self.print_ended()
    }

    pub(super) fn print_ended(&mut self) -> io::Result<()> {
        let known = |next: &Pending| {
            matches!(next.input, Input::Wrong(_) | Input::Unlisted(_)) || next.outcome.is_some()
        };
        while self.pending.front().is_some_and(known) {
            let Some(Pending { input, outcome }) = self.pending.pop_front() else { break };
            self.printed += 1;
            match (input, outcome) {
                (Input::Wrong(message) | Input::Unlisted(message), _) => {
                    self.report.complete = false;
                    self.complain(&message)?;
                }
                (_, None) => {}
                (input, Some(Outcome::Counted { counts, skipped, unknown })) => {
                    self.print(&input, counts, skipped)?;
                    if skipped > 0 {
                        self.report.complete = false;
                        let why = self.job.reach.why(unknown);
                        let what = format!("{skipped} bytes skipped: {why}");
                        let message = complaint(&input, &what, self.charset);
                        self.complain(&message)?;
                    }
                }
                (input, Some(Outcome::Failed { message, counted })) => {
                    self.report.complete = false;
                    self.complain(&message)?;
                    if let Some(counts) = counted {
                        self.print(&input, counts, 0)?;
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn print(&mut self, input: &Input, counts: Counts, skipped: u64) -> io::Result<()> {
        let name = match input {
            Input::Path(path) => Some(path.as_path()),
            Input::Standard { named: true } => Some(Path::new("-")),
            _ => None,
        };
        self.beyond = self.report.total.add(&counts).or(self.beyond);
        if self.job.quiet {
            self.report.files.push(Figures { name: name.map(Path::to_owned), counts, skipped });
        }
        if self.job.quiet || self.job.total == Total::Only {
            return Ok(());
        }
        print::line(self.out, &counts, self.job.wanted, self.width, name, self.charset)
    }

    pub(super) fn finish(mut self) -> io::Result<Report> {
        self.print_ended()?;
        let shown = match self.job.total {
            Total::Auto => self.named > 1,
            Total::Always | Total::Only => true,
            Total::Never => false,
        };
        if shown || self.job.quiet {
            self.complain_of_sums()?;
        }
        if shown && !self.job.quiet {
            let name = (self.job.total != Total::Only).then_some(Path::new("total"));
            print::line(
                self.out,
                &self.report.total,
                self.job.wanted,
                self.width,
                name,
                self.charset,
            )?;
        }
        self.out.flush()?;
        Ok(self.report)
    }

    /// Reports the sums that do not fit into a number, as GNU wc 9.2 does.
    fn complain_of_sums(&mut self) -> io::Result<()> {
        let (beyond, wanted) = (self.beyond, self.job.wanted);
        for (name, is_beyond) in [
            ("lines", beyond.lines && wanted.lines),
            ("words", beyond.words && wanted.words),
            ("characters", beyond.characters && wanted.characters),
            ("bytes", beyond.bytes && wanted.bytes),
        ] {
            if is_beyond {
                self.report.complete = false;
                self.complain(&format!("total {name}: {}", words(&Errno::OVERFLOW.into())))?;
            }
        }
        Ok(())
    }

    pub(super) fn complaint(&mut self, index: usize, what: &str) -> String {
        complaint(&self.pending[index - self.printed].input, what, self.charset)
    }

    fn complain(&mut self, message: &str) -> io::Result<()> {
        self.out.flush()?;
        writeln!(self.errors, "wc: {message}")
    }
}

/// A message about an input, named as the GNU tools name it.
fn complaint(input: &Input, what: &str, charset: &mut Charset) -> String {
    let name = match input {
        Input::Path(path) => path.as_os_str().as_bytes(),
        Input::Standard { named: true } => b"-",
        _ => b"standard input",
    };
    // A quoted name is valid UTF-8, except for characters that the locale accepts and std rejects.
    let name = quote::name(name, charset);
    format!("{}: {what}", String::from_utf8_lossy(&name))
}
