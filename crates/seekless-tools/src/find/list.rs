//! `-ls`: a line a file, in the columns of GNU find.

use super::entry::Entry;
use super::mode::letters;
use super::names::Names;
use rustix::fs::{FileType, Stat, readlinkat};
use std::ffi::CStr;
use std::io::Write;

/// Half a year in seconds: an older file shows its year instead of the time of day.
const RECENT_SECONDS: i64 = 31_556_952 / 2;

/// Writes the line; `now` is in seconds since 1970.
pub(super) fn line(entry: &Entry<'_>, stat: &Stat, names: &mut Names, now: i64) -> Vec<u8> {
    let user = names.user(stat.st_uid).map_or_else(|| stat.st_uid.to_string(), str::to_owned);
    let group = names.group(stat.st_gid).map_or_else(|| stat.st_gid.to_string(), str::to_owned);
    let kind = FileType::from_raw_mode(stat.st_mode);
    let size = match kind {
        FileType::BlockDevice | FileType::CharacterDevice => {
            let (major, minor) = (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
            format!("{major:>3}, {minor:>3}")
        }
        _ => format!("{:>8}", stat.st_size),
    };
    let age = now - stat.st_mtime;
    let format: &CStr = if (0..=RECENT_SECONDS).contains(&age) { c"%b %e %H:%M" } else { c"%b %e  %Y" };
    let mut line = Vec::new();
    // Writing to a vector cannot fail.
    let _ = write!(
        line,
        "{:>9} {:>6} {} {:>3} {user:<8} {group:<8} {size} ",
        stat.st_ino,
        (stat.st_blocks + 1) / 2,
        letters(stat.st_mode),
        stat.st_nlink
    );
    line.extend(seekless_sys::locale::format_time(format, stat.st_mtime));
    line.push(b' ');
    escape(entry.bytes(), &mut line);
    if kind == FileType::Symlink
        && let Ok(target) = readlinkat(entry.base(), entry.below(), Vec::new())
    {
        line.extend_from_slice(b" -> ");
        escape(target.to_bytes(), &mut line);
    }
    line.push(b'\n');
    line
}

/// As in a C string, with blanks escaped too.
fn escape(name: &[u8], line: &mut Vec<u8>) {
    for &byte in name {
        match byte {
            b'\\' | b' ' | b'"' => line.extend_from_slice(&[b'\\', byte]),
            b'\n' => line.extend_from_slice(b"\\n"),
            0x07 => line.extend_from_slice(b"\\a"),
            0x08 => line.extend_from_slice(b"\\b"),
            b'\t' => line.extend_from_slice(b"\\t"),
            b'\r' => line.extend_from_slice(b"\\r"),
            0x0b => line.extend_from_slice(b"\\v"),
            0x0c => line.extend_from_slice(b"\\f"),
            0x21..=0x7e => line.push(byte),
            _ => line.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
}
