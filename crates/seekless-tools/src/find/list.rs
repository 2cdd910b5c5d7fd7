//! `-ls`: a line a file, in the columns of GNU find.

use super::entry::Entry;
use super::mode::letters;
use super::names::Names;
use rustix::fs::{FileType, Stat, readlinkat};
use std::ffi::CStr;
use std::io::Write;

/// Half a year in seconds: an older file shows its year instead of the time of day.
const RECENT_SECONDS: i64 = 31_556_952 / 2;

/// How wide the columns are: each grows with the widest that was in it.
#[derive(Clone, Debug)]
pub(super) struct Widths {
    inode: usize,
    blocks: usize,
    links: usize,
    owner: usize,
    group: usize,
    major: usize,
    minor: usize,
    size: usize,
}

impl Default for Widths {
    fn default() -> Self {
        Widths { inode: 9, blocks: 6, links: 3, owner: 8, group: 8, major: 3, minor: 3, size: 8 }
    }
}

/// A number on the right of its column.
fn right(number: impl ToString, width: &mut usize) -> String {
    let text = number.to_string();
    *width = text.len().max(*width);
    format!("{text:>width$}")
}

impl Widths {
    /// A name, or a number where there is none, which has a width of its own: a slip of GNU find's.
    fn owner(&mut self, name: Option<&str>, number: u32) -> String {
        let text = match name {
            Some(name) => {
                self.owner = self.owner.max(name.chars().count());
                format!("{name:<0$}", self.owner)
            }
            None => format!("{number:<8}"),
        };
        if name.is_none() {
            self.owner = self.owner.max(text.len() + 1);
        }
        text
    }

    fn group(&mut self, name: Option<&str>, number: u32) -> String {
        let text = name.map_or_else(|| number.to_string(), str::to_owned);
        self.group = self.group.max(text.chars().count());
        format!("{text:<0$}", self.group)
    }

    fn size(&mut self, stat: &Stat) -> String {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::BlockDevice | FileType::CharacterDevice => {
                let major = right(rustix::fs::major(stat.st_rdev), &mut self.major);
                format!("{major}, {}", right(rustix::fs::minor(stat.st_rdev), &mut self.minor))
            }
            _ => right(stat.st_size, &mut self.size),
        }
    }
}

/// Writes the line; `now` is in seconds since 1970.
pub(super) fn line(
    entry: &Entry<'_>,
    stat: &Stat,
    names: &mut Names,
    widths: &mut Widths,
    now: i64,
) -> Vec<u8> {
    let kind = FileType::from_raw_mode(stat.st_mode);
    let age = now - stat.st_mtime;
    let format: &CStr = if (0..=RECENT_SECONDS).contains(&age) { c"%b %e %H:%M" } else { c"%b %e  %Y" };
    let mut line = Vec::new();
    // Writing to a vector cannot fail.
    let _ = write!(
        line,
        "{} {} {} {} {} {} {} ",
        right(stat.st_ino, &mut widths.inode),
        right((stat.st_blocks + 1) / 2, &mut widths.blocks),
        letters(stat.st_mode),
        right(stat.st_nlink, &mut widths.links),
        widths.owner(names.user(stat.st_uid), stat.st_uid),
        widths.group(names.group(stat.st_gid), stat.st_gid),
        widths.size(stat),
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
