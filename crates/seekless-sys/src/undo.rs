//! Changes to the machine that are put back even if this process is killed.
//!
//! A measurement may have to change a setting of the whole machine: a limit, a control group, a
//! mount. A `kill -9` would leave that behind. So an [`Undo`] is made *before* anything is changed.
//! It writes the steps that put everything back into a journal in the user's state folder
//! ([`home::state`](crate::home::state)), and starts a guardian: a child process that waits for our
//! death and then takes the steps at once. If the guardian dies too, the journal remains, and the
//! next run takes the steps ([`leftovers`]).
//!
//! ```no_run
//! use seekless_sys::undo::{Step, Undo};
//!
//! let setting = "/sys/fs/ext4/sda1/inode_readahead_blks";
//! let undo = Undo::prepare(vec![Step::write("32", setting)?], &[])?;
//! std::fs::write(setting, "1")?;
//! // Measure.
//! undo.put_back()?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod guardian;
mod journal;
mod step;
#[cfg(test)]
mod tests;

pub use journal::{Leftover, leftovers};
pub use step::Step;

use guardian::Guardian;
use journal::Journal;
use std::io;
use std::os::fd::BorrowedFd;

/// Steps that will be taken: by [`Undo::put_back`], when this is dropped, or when this process
/// dies.
#[derive(Debug)]
pub struct Undo {
    /// Taken when the steps have been taken.
    steps: Option<Vec<Step>>,
    journal: Journal,
    /// `None` if no process could be started: then only the journal is left.
    guardian: Option<Guardian>,
}

impl Undo {
    /// Writes down `steps` and starts the guardian. Each step must be harmless as long as its
    /// change has not been made.
    ///
    /// The guardian holds `locks` open until it has taken the steps, so that a lock on what was
    /// changed lasts as long.
    ///
    /// # Errors
    /// The steps cannot be written down; nothing may be changed then.
    pub fn prepare(steps: Vec<Step>, locks: &[BorrowedFd<'_>]) -> io::Result<Self> {
        let journal = Journal::write(&steps)?;
        let guardian = Guardian::start(&steps, &journal, locks);
        Ok(Undo { steps: Some(steps), journal, guardian })
    }

    /// Takes the steps now.
    ///
    /// # Errors
    /// The first step that failed, in words; the others were taken all the same, and the journal
    /// stays.
    pub fn put_back(mut self) -> io::Result<()> {
        self.take_steps()
    }

    fn take_steps(&mut self) -> io::Result<()> {
        let Some(steps) = self.steps.take() else { return Ok(()) };
        let taken = self.journal.followed(&steps);
        if let Some(guardian) = self.guardian.take() {
            guardian.dismiss();
        }
        taken.map_err(|(number, error)| step::failure(&steps[number], error))
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        if let Err(error) = self.take_steps() {
            eprintln!("seekless: {}", crate::names::line(&error.to_string()));
        }
    }
}
