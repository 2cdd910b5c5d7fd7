//! `seekless advise`: where the wait of a cold start goes, and what would help.
//!
//! # The idea
//!
//! A program is started cold and with its files cached, in turn. The difference is what it waits
//! for its files. One cold start and one cached start are recorded too: these show for which calls
//! it waits. What would help is then simulated by the code that would do it (`seekless-start`), for
//! the device as a few hundred reads of these files show it. The simulated wait of the plain start
//! is compared with the measured one, and all others are corrected by the same factor.
//!
//! [`Options::verify`] carries out those that change nothing and times them, cold, in turn with the
//! plain start.
//!
//! [`traced`] gives advice from traces alone, and runs nothing.

mod advice;
mod counter;
mod device;
mod expected;
mod image;
mod measures;
mod places;
mod readahead;
mod report;
mod searches;
mod shell;
mod starts;
mod timeline;
pub mod traced;
mod verify;

pub use advice::{
    Advice, Cause, DeviceFigures, Folder, Found, Image, Learned, Measure, Moment, Part, Source,
    Starts, Timeline, Verified, WaitOfFile, When,
};

pub use readahead::{Window, Windows};
pub use searches::{Search, Setting};
pub use shell::{quoted, words};

use seekless_device::Costs;
use seekless_job::{Error, ErrorKind, Result};
use starts::Session;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How to find out.
#[derive(Clone, Debug)]
pub struct Options {
    /// Cold starts, and cached ones.
    pub runs: usize,
    /// No start begins after this time.
    pub budget: Option<Duration>,
    /// What the device charges. `None`: as it is measured now.
    pub costs: Option<Costs>,
    /// Whether to carry out the measures that change nothing, and time them.
    pub verify: bool,
    /// The command `seekless`, which carries it out.
    pub command: PathBuf,
    /// Stops the job when it is set.
    pub cancel: Arc<AtomicBool>,
}

/// Finds out what a program waits for when it starts cold, and what would help. The program runs
/// two times for the recordings, and `2 × runs` times for the clock; with `verify` another
/// `3 × runs` times, with the standard streams of this process. `tell` gets what is done now.
///
/// # Errors
/// The program cannot be started or recorded, or the caller asked to stop.
pub fn advise(words: &[OsString], options: &Options, tell: &mut dyn FnMut(&str)) -> Result<Advice> {
    let mut session = Session::new(words, options, tell)?;
    let mut learned = session.record()?;
    let starts = session.time_in_turn()?;
    let device = device::find(&learned, options, session.tell)?;
    (session.tell)("timing seekless run itself, cold");
    let own_s = verify::own_s(&mut session, &learned, options)?;
    session.make_cold()?;
    let expected = expected::of(words, &learned, &device)?;
    let mut advice = report::sum_up(&learned, words, &starts, (device, own_s), &expected)?;
    advice.timeline = std::mem::take(&mut learned.timeline);
    if options.verify {
        advice.verified = verify::carry_out(&mut session, &learned, &advice, options)?;
        verify::replace(&mut advice);
    }
    Ok(advice)
}

/// Fails if the caller asked to stop.
fn go_on(cancel: &AtomicBool) -> Result<()> {
    match cancel.load(Ordering::Relaxed) {
        true => Err(Error::new(ErrorKind::Interrupted, "stopped before all starts were made")),
        false => Ok(()),
    }
}
