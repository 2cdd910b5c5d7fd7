//! Finds lines, whatever the order in which a file's pieces come; what is printed is GNU grep
//! 3.8's, byte for byte.
//!
//! A search goes through four hands: `walk` finds the files, the reader of `seekless-read` delivers
//! their text the cheapest first, `matcher` finds lines in whole chunks, `session` puts what was
//! found in order and says it as GNU does. What makes it fast is `sweep`: one pass for a few bytes
//! that every match holds, after which most of a text needs no closer look.

mod bracket;
mod classes;
mod colors;
mod count;
mod engines;
mod expression;
mod filter;
mod fold;
mod fragment;
mod input;
mod interval;
mod longest;
mod matcher;
mod near;
mod options;
mod ordered;
mod output;
mod perl;
mod print;
mod session;
mod source;
mod sweep;
mod syntax;
#[cfg(test)]
mod tests;
mod text;
mod waiting;
mod walk;
mod words;

pub use colors::Colors;
pub use filter::Filter;
pub use options::{BinaryFiles, Listing, Locale, Options, Pattern, Syntax};
pub use walk::{Devices, Directories, Search};

use crate::deep::with_stack;
use matcher::{Complaints, Matcher};
use output::Output;
use seekless_read::{Plan, Reader, Statistics};
use session::{Order, Session};
use std::io::{self, Write};
use std::path::Path;
use walk::{Item, Walk};

/// How a search ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// A line was selected.
    pub matched: bool,
    /// Something could not be searched, or a pattern is wrong: it was said.
    pub failed: bool,
    /// What was read.
    pub statistics: Statistics,
}

/// Searches; lines go to `out`, messages to `err`, bytes done and in all to `progress`.
///
/// # Errors
///
/// Only if `out` or `err` refuses what is written; all else is reported on `err` and by
/// [`Report::failed`].
pub fn run(
    options: &Options,
    search: &Search,
    out: &mut dyn Write,
    err: &mut dyn Write,
    progress: &mut dyn FnMut(u64, u64),
) -> io::Result<Report> {
    let posix = matches!(options.syntax, Syntax::Basic | Syntax::Extended);
    let levels = |pattern: &Pattern| syntax::levels(&pattern.text);
    let levels = if posix { options.patterns.iter().map(levels).max() } else { None };
    with_stack(levels.unwrap_or(0), || run_within(options, search, out, err, progress))
}

/// The same, on a stack with room for the levels of the patterns.
fn run_within(
    options: &Options,
    search: &Search,
    out: &mut dyn Write,
    err: &mut dyn Write,
    progress: &mut dyn FnMut(u64, u64),
) -> io::Result<Report> {
    let in_vain =
        (options.max_count == Some(0) && !options.reads_in_vain) || selects_nothing(options);
    // -q and a discarded output cancel -L.
    let lists_others =
        options.listing == Listing::NonMatching && !options.quiet && !options.discard;
    if in_vain && !lists_others {
        return Ok(Report::default());
    }
    if let Some(old) = &options.old_color {
        writeln!(
            err,
            "grep: warning: GREP_COLOR='{old}' is deprecated; use GREP_COLORS='mt={old}'"
        )?;
    }
    match matcher(options, err)? {
        Some(matcher) => look(options, search, matcher, Output::new(out, err), progress),
        None => Ok(Report { failed: true, ..Report::default() }),
    }
}

/// Looks for the patterns in all that is to be searched.
fn look(
    options: &Options,
    search: &Search,
    matcher: Matcher,
    output: Output<'_>,
    progress: &mut dyn FnMut(u64, u64),
) -> io::Result<Report> {
    let recursive = search.directories == Directories::Recurse;
    let several = search.operands.len() > 1 || (recursive && names_below(search));
    let with_filename = options.with_filename.unwrap_or(several);
    let mut session = Session::new(options, matcher, with_filename, output);
    let mut walk = Walk::new(search, options);
    let mut reader = reader(options);
    let mut total = 0;
    let (mut more, mut stopped) = (true, false);
    while !stopped {
        while more && session.has_room() {
            match walk.next() {
                Some(item) => {
                    total += add(&mut reader, &item)?;
                    session.add(item);
                }
                None => more = false,
            }
        }
        session.advance();
        session.check()?;
        let event = match reader.next() {
            Some(event) => event,
            // All that was found so far has ended.
            None if more => continue,
            None => break,
        };
        session.on_event(event);
        for order in session.orders.drain(..) {
            match order {
                Order::Finish(file) => reader.finish_file(file),
                Order::Pin(file, offset, bytes) => reader.pin(file, offset, bytes),
                Order::Stop => stopped = true,
            }
        }
        progress(reader.statistics().bytes, total);
    }
    session.finish()?;
    Ok(Report { matched: session.matched, failed: session.failed, statistics: reader.statistics() })
}

/// Adds what is to be read; returns its size, where it is known.
fn add(reader: &mut Reader, item: &Item) -> io::Result<u64> {
    Ok(match item {
        Item::File { path, bytes, .. } => {
            reader.add_path(path);
            *bytes
        }
        Item::Standard { file, bytes, .. } => {
            reader.add_file(Path::new("-"), file.try_clone()?);
            *bytes
        }
        Item::Problem(_) | Item::Warning(_) => 0,
    })
}

/// The locale that the environment names: UTF-8 if the system has it, else that of bytes.
#[must_use]
pub fn locale_of_environment() -> Locale {
    use crate::clib::ctype::{Encoding, encoding_of_environment};
    match encoding_of_environment() {
        Some(Encoding::Utf8) => Locale::Utf8,
        _ => Locale::C,
    }
}

fn matcher(options: &Options, err: &mut dyn Write) -> io::Result<Option<Matcher>> {
    let mut complaints = Complaints::default();
    let matcher = Matcher::new(options, &mut complaints);
    for warning in &complaints.warnings {
        writeln!(err, "grep: warning: {warning}")?;
    }
    for error in &complaints.errors {
        writeln!(err, "grep: {error}")?;
    }
    Ok(matcher)
}

fn reader(options: &Options) -> Reader {
    Reader::new(seekless_read::Options {
        records: options.records(),
        record_bytes_max: options.line_bytes_max(),
        plan: if options.linear { Plan::Linear } else { Plan::Best },
        reach: options.reach,
        hold_bytes: options.hold_bytes,
        // One that may stop early reads nothing before it has seen all that is cached. And what is
        // needed in order would, if it came from the device before its turn, be read from there
        // again.
        overlap: !options.first_match_decides()
            && options.max_count.is_none()
            && !options.needs_order(),
        in_order: options.needs_order(),
        holes: true,
        ..seekless_read::Options::default()
    })
}

/// The patterns say that no line can be selected, and GNU then opens no file.
fn selects_nothing(options: &Options) -> bool {
    let empty =
        options.patterns.iter().all(|pattern| pattern.text.iter().all(|&byte| byte == b'\n'));
    match (options.patterns.is_empty(), options.invert_match) {
        (true, invert) => !invert,
        (false, invert) => empty && invert && !options.line_regexp && !options.word_regexp,
    }
}

/// With -r, names stand before lines unless all that was named is one file.
fn names_below(search: &Search) -> bool {
    search.operands.first().is_none_or(|only| only != "-" && Path::new(only).is_dir())
}
