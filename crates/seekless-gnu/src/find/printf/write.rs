//! Writes a file's line by a format.

use super::{Format, Piece, Shape, What, date};
use crate::find::cost::Cost;
use crate::find::entry::{Entry, type_letter};
use crate::find::latency::seconds;
use crate::find::mode::{letters, permission_bits};
use crate::find::mounts::Mounts;
use crate::find::quote::printable;
use crate::find::time::Stamp;
use rustix::fs::{FileType, Stat, readlinkat};
use rustix::io::Errno;
use seekless_sys::accounts::{group_name, user_name};

/// What a line depends on besides the file.
#[derive(Debug)]
pub(in crate::find) struct Context<'a> {
    pub(in crate::find) mounts: &'a mut Mounts,
    /// The file's cost, if the format needs it.
    pub(in crate::find) cost: Option<Cost>,
    /// The output is a terminal.
    pub(in crate::find) terminal: bool,
    /// The locale's encoding is UTF-8.
    pub(in crate::find) utf8: bool,
}

impl Format {
    /// Formats a file's line.
    ///
    /// # Errors
    /// The file's attributes are needed and cannot be read.
    pub(in crate::find) fn write(
        &self,
        entry: &Entry<'_>,
        context: &mut Context<'_>,
    ) -> Result<Vec<u8>, Errno> {
        let mut line = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => line.extend_from_slice(text),
                Piece::Stop => break,
                Piece::Directive { shape, what } => {
                    write(*what, shape, entry, context, &mut line)?;
                }
            }
        }
        Ok(line)
    }
}

impl Shape {
    fn text(&self, value: &[u8], line: &mut Vec<u8>) {
        let value = &value[..self.precision.unwrap_or(value.len()).min(value.len())];
        let room = std::iter::repeat_n(b' ', self.width.saturating_sub(value.len()));
        if self.left {
            line.extend_from_slice(value);
            line.extend(room);
        } else {
            line.extend(room);
            line.extend_from_slice(value);
        }
    }
}

/// Writes a directive. GNU find formats depth, mode and sparseness as numbers, everything else as
/// text.
fn write(
    what: What,
    shape: &Shape,
    entry: &Entry<'_>,
    context: &mut Context<'_>,
    line: &mut Vec<u8>,
) -> Result<(), Errno> {
    match what {
        What::Letter(b'd') => line.extend(shape.decimal(entry.depth)),
        What::Letter(b'm') => line.extend(shape.octal(permission_bits(entry.stat()?.st_mode))),
        What::Letter(b'S') => line.extend(shape.real(sparseness(entry.stat()?))),
        What::Letter(b'p' | b'f' | b'h' | b'H' | b'P' | b'l' | b'F') if context.terminal => {
            let name = value(what, entry, context)?;
            shape.text(&printable(&name, context.utf8), line);
        }
        _ => shape.text(&value(what, entry, context)?, line),
    }
    Ok(())
}

fn value(what: What, entry: &Entry<'_>, context: &mut Context<'_>) -> Result<Vec<u8>, Errno> {
    Ok(match what {
        What::Letter(letter) => match of_path(letter, entry) {
            Some(text) => text,
            None => of_stat(letter, entry, context)?,
        },
        What::Time(which, how) => {
            let stamp = match which {
                b'A' => Stamp::Access,
                b'C' => Stamp::Change,
                b'B' => return Ok(Vec::new()), // the time of birth is unknown
                _ => Stamp::Modification,
            };
            date::part(stamp.of(entry.stat()?), how)
        }
        What::Latency => seconds_or_unknown(context.cost.as_ref().map(Cost::delivery_ns_high)),
        What::Cost => seconds_or_unknown(context.cost.as_ref().map(|cost| cost.device_ns_high)),
        What::Resident => match &context.cost {
            Some(cost) => cost
                .resident_percent()
                .map_or_else(|| "?".to_owned(), |share| share.to_string())
                .into(),
            None => b"?".to_vec(),
        },
        What::Level => context.cost.as_ref().map_or("unknown", |cost| cost.level.name()).into(),
    })
}

fn seconds_or_unknown(ns: Option<u64>) -> Vec<u8> {
    ns.map_or_else(|| "?".to_owned(), seconds).into_bytes()
}

/// Formats a directive that needs only the path.
fn of_path(letter: u8, entry: &Entry<'_>) -> Option<Vec<u8>> {
    let path = entry.bytes();
    Some(match letter {
        b'p' => path.to_vec(),
        b'f' => entry.name().to_vec(),
        b'h' => {
            // Slashes at the end are ignored, except after a single letter, which is a bug of GNU
            // find's.
            let end = path
                .iter()
                .rposition(|&byte| byte != b'/')
                .filter(|&last| last > 0)
                .map(|last| last + 1);
            let path = &path[..end.unwrap_or(path.len())];
            match path.iter().rposition(|&byte| byte == b'/') {
                Some(slash) => path[..slash].to_vec(),
                None => b".".to_vec(),
            }
        }
        b'H' => path[..entry.root_bytes].to_vec(),
        b'P' => {
            let below = &path[entry.root_bytes.min(path.len())..];
            below.strip_prefix(b"/").unwrap_or(below).to_vec()
        }
        _ => return None,
    })
}

fn of_stat(letter: u8, entry: &Entry<'_>, context: &mut Context<'_>) -> Result<Vec<u8>, Errno> {
    let stat = *entry.stat()?;
    let name = match letter {
        b'u' => user_name(stat.st_uid),
        b'g' => group_name(stat.st_gid),
        _ => None,
    };
    if let Some(name) = name {
        return Ok(name.to_vec());
    }
    let text = match letter {
        b's' => stat.st_size.to_string(),
        b'b' => stat.st_blocks.to_string(),
        b'k' => (stat.st_blocks as u64).div_ceil(2).to_string(),
        b'i' => stat.st_ino.to_string(),
        b'n' => stat.st_nlink.to_string(),
        b'D' => stat.st_dev.to_string(),
        b'u' | b'U' => stat.st_uid.to_string(),
        b'g' | b'G' => stat.st_gid.to_string(),
        b'M' => letters(stat.st_mode),
        b'F' => context.mounts.type_of(stat.st_dev).to_owned(),
        b'y' => type_letter(entry.file_type()?).to_string(),
        b'Y' => target_letter(entry),
        b'Z' => String::new(), // no security context without SELinux
        b'a' => return Ok(date::whole(Stamp::Access.of(&stat))),
        b'c' => return Ok(date::whole(Stamp::Change.of(&stat))),
        b't' => return Ok(date::whole(Stamp::Modification.of(&stat))),
        b'l' => {
            let link = entry.file_type()? == FileType::Symlink;
            let target = link.then(|| readlinkat(entry.base(), entry.below(), Vec::new()));
            return Ok(target
                .and_then(Result::ok)
                .map(|target| target.into_bytes())
                .unwrap_or_default());
        }
        _ => String::new(),
    };
    Ok(text.into_bytes())
}

/// `%Y`: the type of a link's target; N if it does not exist, L for a loop, ? for any other error.
fn target_letter(entry: &Entry<'_>) -> String {
    use rustix::fs::{AtFlags, statat};
    if entry.file_type() != Ok(FileType::Symlink) {
        return entry.file_type().map_or('?', type_letter).to_string();
    }
    match statat(entry.base(), entry.below(), AtFlags::empty()) {
        Ok(stat) => type_letter(FileType::from_raw_mode(stat.st_mode)),
        Err(Errno::NOENT | Errno::NOTDIR) => 'N',
        Err(Errno::LOOP) => 'L',
        Err(_) => '?',
    }
    .to_string()
}

/// Bytes allocated per byte of the file.
fn sparseness(stat: &Stat) -> f64 {
    match (stat.st_size, stat.st_blocks) {
        (0, 0) => 1.0,
        (0, _) => f64::INFINITY,
        (bytes, blocks) => blocks as f64 * 512.0 / bytes as f64,
    }
}
