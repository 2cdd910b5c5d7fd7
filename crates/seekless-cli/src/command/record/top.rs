//! The busiest files, shown while a recording runs: on a page of their own where that disturbs no
//! output of the program's, else as a table now and then.

use crate::output::{self, line, table};
use seekless::device::units::{counted, format_bytes, format_count, format_duration};
use seekless::record::{Busy, Live, Use, View};
use seekless_terminal::screen::{Screen, without_signals};
use std::ffi::OsString;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const REDRAWN: Duration = Duration::from_secs(1);
const PRINTED: Duration = Duration::from_secs(5);
/// Files of a table that is printed.
const PRINTED_FILES: usize = 10;
/// Lines of a page that are not files: two of words, one empty, two of the table's head.
const OTHER_LINES: usize = 5;
/// Fewer columns of a path are of no use.
const PATH_MIN: usize = 12;

/// A thread that shows the files.
pub(super) struct Top {
    end: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Top {
    /// Begins, for a recording of `command`, or of programs that run if that is empty.
    pub(super) fn start(live: Live, command: &[OsString]) -> Self {
        let screen = if may_take_the_terminal(command) { Screen::open() } else { None };
        let (end, ended) = channel();
        // Without a thread nothing is shown; the recording matters more.
        let thread = without_signals("seekless-top", move || show(&live, screen, &ended)).ok();
        Self { end, thread }
    }

    /// Gives the terminal back.
    pub(super) fn end(self) {
        drop(self.end);
        let _ = self.thread.map(JoinHandle::join);
    }
}

/// Whether nothing else is written to the terminal meanwhile.
fn may_take_the_terminal(command: &[OsString]) -> bool {
    let (output, errors) = (output::is_shown(), output::errors_are_shown());
    if command.is_empty() { errors } else { !output && !errors }
}

fn show(live: &Live, mut screen: Option<Screen>, ended: &Receiver<()>) {
    let started = Instant::now();
    let interval = if screen.is_some() { REDRAWN } else { PRINTED };
    while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
        let passed = started.elapsed();
        match &mut screen {
            Some(screen) => {
                let (columns, rows) = screen.size();
                let files = usize::from(rows).saturating_sub(OTHER_LINES);
                let _ = screen.draw(&words(&live.view(files), passed, columns.into()));
            }
            None => {
                output::note(&(words(&live.view(PRINTED_FILES), passed, 100) + "\n"));
            }
        }
    }
}

fn words(view: &View, passed: Duration, columns: usize) -> String {
    let recent = format_duration(view.recent_time.as_nanos() as u64);
    let mut text = format!(
        "seekless record, {}: {}; in the last {recent} {}\nin all {} of {}\n\n",
        format_duration(passed.as_secs() * 1_000_000_000),
        counted(view.files, "file"),
        sum(&view.recent),
        sum(&view.all),
        format_bytes(view.all.bytes),
    );
    let header = ["reads", "writes", "bytes", "all reads", "all writes", "all bytes", "file"];
    let empty = table(&header, view.busiest.iter().map(|busy| cells(busy, "")).collect());
    let taken = empty.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let room = columns.saturating_sub(taken).max(PATH_MIN);
    let rows = view.busiest.iter().map(|busy| cells(busy, &shortened(&line(&busy.path), room)));
    text += &table(&header, rows.collect());
    text
}

fn sum(used: &Use) -> String {
    format!("{} and {}", counted(used.reads, "read"), counted(used.writes, "write"))
}

fn cells(busy: &Busy, path: &str) -> Vec<String> {
    let of = |used: &Use| {
        [format_count(used.reads), format_count(used.writes), format_bytes(used.bytes)]
    };
    let figures = of(&busy.recent).into_iter().chain(of(&busy.all));
    figures.chain([path.to_owned()]).collect()
}

/// The end of a path, which says more than its beginning.
fn shortened(path: &str, room: usize) -> String {
    let length = path.chars().count();
    if length <= room {
        return path.to_owned();
    }
    let kept = path.chars().skip(length - room.saturating_sub(1));
    std::iter::once('…').chain(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_fits_the_terminal_and_keeps_the_ends_of_paths() {
        let recent = Use { reads: 12, writes: 1, bytes: 5000 };
        let all = Use { reads: 36_266, writes: 1, bytes: 7_000_000 };
        let path = format!("/usr/lib/{}/libtorch.so", "python3/".repeat(20));
        let view = View {
            recent_time: Duration::from_secs(5),
            files: 3,
            recent,
            all,
            busiest: vec![
                Busy { path: "odd\x1b[2J\r\n0 0 0 B forged".to_owned(), recent, all },
                Busy { path, recent, all },
            ],
        };
        let said = words(&view, Duration::from_secs(61), 90);
        assert!(said.contains("in the last 5.00 s 12 reads and 1 write\n"), "{said}");
        assert!(said.contains("36,266"), "{said}");
        assert!(said.contains("x1b[2J\\x0d\\x0a0 0 0 B forged"), "{said}");
        assert_eq!(said.lines().count(), 7, "{said}");
        assert!(said.chars().all(|char| char == '\n' || !char.is_control()), "{said}");
        assert!(said.trim_end().ends_with("libtorch.so"), "{said}");
        assert!(said.lines().all(|line| line.chars().count() <= 90), "{said}");
    }
}
