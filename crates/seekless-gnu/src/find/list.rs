//! `-ls`: prints one line per file, in GNU find's columns.

use super::entry::Entry;
use super::mode::letters;
use rustix::fs::{FileType, Stat, readlinkat};
use seekless_sys::accounts::{Name, group_name, user_name};
use std::ffi::CStr;
use std::ops::RangeInclusive;

/// The ages in seconds that show the time of day; others show the year. Times up to an hour ahead
/// are included.
const RECENT: RangeInclusive<i64> = -3_600..=6 * 30 * 86_400;

/// The widths of the columns. Each grows with the widest text it has held.
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

/// Aligns a number to the right.
fn right(number: impl ToString, width: &mut usize) -> String {
    let text = number.to_string();
    *width = text.len().max(*width);
    format!("{text:>width$}")
}

/// Aligns a name to the left.
fn left(name: &[u8], width: &mut usize) -> Vec<u8> {
    let columns = String::from_utf8_lossy(name).chars().count();
    *width = columns.max(*width);
    let mut text = name.to_vec();
    text.resize(name.len() + *width - columns, b' ');
    text
}

impl Widths {
    /// A user or group name, or its number if it has no name. GNU find has a bug here: numbers use
    /// a width of their own.
    fn owner(&mut self, name: Option<Name>, number: u32) -> Vec<u8> {
        match name {
            Some(name) => left(&name, &mut self.owner),
            None => {
                let text = format!("{number:<8}");
                self.owner = self.owner.max(text.len() + 1);
                text.into_bytes()
            }
        }
    }

    fn group(&mut self, name: Option<Name>, number: u32) -> Vec<u8> {
        match name {
            Some(name) => left(&name, &mut self.group),
            None => left(number.to_string().as_bytes(), &mut self.group),
        }
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

/// Writes the line. `block_bytes` is the unit of block counts; `now` is in seconds since 1970.
pub(super) fn line(
    entry: &Entry<'_>,
    stat: &Stat,
    widths: &mut Widths,
    block_bytes: u64,
    now: i64,
) -> Vec<u8> {
    let kind = FileType::from_raw_mode(stat.st_mode);
    let age = now - stat.st_mtime;
    let format: &CStr = if RECENT.contains(&age) { c"%b %e %H:%M" } else { c"%b %e  %Y" };
    let columns = [
        right(stat.st_ino, &mut widths.inode).into_bytes(),
        right((stat.st_blocks as u64).div_ceil(block_bytes / 512), &mut widths.blocks).into_bytes(),
        letters(stat.st_mode).into_bytes(),
        right(stat.st_nlink, &mut widths.links).into_bytes(),
        widths.owner(user_name(stat.st_uid), stat.st_uid),
        widths.group(group_name(stat.st_gid), stat.st_gid),
        widths.size(stat).into_bytes(),
    ];
    let mut line = columns.join(&b' ');
    line.push(b' ');
    line.extend(crate::clib::locale::format_time(format, stat.st_mtime));
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

/// Escapes a name as in a C string, blanks included.
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
