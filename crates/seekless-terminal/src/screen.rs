//! A page of text that is drawn again and again over the whole terminal, which looks as before when
//! it is closed; and a thread that leaves signals to the others.

use nix::sys::signal::{SigSet, SigmaskHow};
use rustix::process::getpgrp;
use rustix::termios::{tcgetpgrp, tcgetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::thread::{Builder, JoinHandle};

/// The alternate page of the terminal, without a cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
const HOME: &str = "\x1b[H";
const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";
/// If the terminal does not say how large it is.
const USUAL: (u16, u16) = (80, 24);

/// The terminal of this process, taken for a page until this is dropped.
#[derive(Debug)]
pub struct Screen {
    terminal: File,
}

impl Screen {
    /// Takes the terminal. `None` if this process has none, or runs in its background.
    #[must_use]
    pub fn open() -> Option<Self> {
        let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
        if tcgetpgrp(&terminal).ok()? != getpgrp() {
            return None;
        }
        terminal.write_all(ENTER.as_bytes()).ok()?;
        Some(Self { terminal })
    }

    /// Columns and rows.
    #[must_use]
    pub fn size(&self) -> (u16, u16) {
        match tcgetwinsize(&self.terminal) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col, size.ws_row),
            _ => USUAL,
        }
    }

    /// Draws `text` in place of what was there. What does not fit is cut off.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(&mut self, text: &str) -> io::Result<()> {
        let page = page(text, self.size());
        self.terminal.write_all(page.as_bytes())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.terminal.write_all(LEAVE.as_bytes()); // it may be gone
    }
}

/// What to send, so that the terminal never shows an empty page between two.
fn page(text: &str, (columns, rows): (u16, u16)) -> String {
    let mut page = HOME.to_owned();
    for (at, line) in crate::lines(text).lines().take(rows.into()).enumerate() {
        page.push_str(if at == 0 { "" } else { "\r\n" });
        page.extend(line.chars().take(columns.into()));
        page.push_str(CLEAR_LINE);
    }
    page + CLEAR_BELOW
}

/// Starts a thread that handles no signal, so that each comes to a thread that expects it.
///
/// # Errors
/// There can be no thread.
pub fn without_signals<T: Send + 'static>(
    name: &str,
    job: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_BLOCK)?; // a thread inherits it
    let thread = Builder::new().name(name.to_owned()).spawn(job);
    before.thread_set_mask()?;
    thread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_cut_to_the_terminal() {
        let drawn = page("abcdef\nsecond\nthird\n", (4, 2));
        assert_eq!(drawn, "\x1b[Habcd\x1b[K\r\nseco\x1b[K\x1b[J");
    }

    #[test]
    fn what_a_page_shows_does_not_draw() {
        let drawn = page("a\x1b]0;title\x07\r", (30, 1));
        assert_eq!(drawn, "\x1b[Ha\\x1b]0;title\\x07\\x0d\x1b[K\x1b[J");
    }

    #[test]
    fn the_thread_has_all_signals_blocked_and_ours_are_as_before() {
        let mask = || SigSet::thread_get_mask().unwrap();
        let before = mask();
        let theirs = without_signals("try", mask).unwrap().join().unwrap();
        assert!(theirs.contains(nix::sys::signal::Signal::SIGINT));
        assert_eq!(mask(), before);
    }
}
