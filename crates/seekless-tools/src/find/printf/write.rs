//! Writes a file as a format says.

use super::{Format, Piece, Shape, What};
use crate::find::entry::{Entry, type_letter};
use crate::find::latency::Cost;
use crate::find::mode::letters;
use crate::find::mounts::Mounts;
use crate::find::names::{Names, permission_bits};
use crate::find::time::Stamp;
use rustix::fs::{FileType, Stat, readlinkat};
use rustix::io::Errno;
use seekless_sys::locale::{c_string, format_time};

/// What writing a file needs besides the file.
#[derive(Debug)]
pub(in crate::find) struct Context<'a> {
    pub(in crate::find) names: &'a mut Names,
    pub(in crate::find) mounts: &'a mut Mounts,
    /// What the file costs, if the format asks.
    pub(in crate::find) cost: Option<Cost>,
}

impl Format {
    /// The file written out; the flag is set if all of the format was (no `\c`).
    ///
    /// # Errors
    /// The file's attributes are needed and cannot be had.
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
                    shape.write(&value(*what, shape, entry, context)?, is_number(*what), &mut line);
                }
            }
        }
        Ok(line)
    }
}

impl Shape {
    fn write(&self, value: &[u8], number: bool, line: &mut Vec<u8>) {
        let value = match self.precision {
            Some(precision) if !number => &value[..precision.min(value.len())],
            _ => value,
        };
        let room = self.width.saturating_sub(value.len());
        let fill = if number && self.zero && !self.left { b'0' } else { b' ' };
        if !self.left {
            line.extend(std::iter::repeat_n(fill, room));
        }
        line.extend_from_slice(value);
        if self.left {
            line.extend(std::iter::repeat_n(b' ', room));
        }
    }
}

/// GNU find writes these two as numbers; all others as text.
fn is_number(what: What) -> bool {
    matches!(what, What::Letter(b'd' | b'm'))
}

fn value(what: What, shape: &Shape, entry: &Entry<'_>, context: &mut Context<'_>) -> Result<Vec<u8>, Errno> {
    Ok(match what {
        What::Letter(letter) => match of_path(letter, entry) {
            Some(text) => text,
            None => of_stat(letter, shape, entry, context)?,
        },
        What::Time(which, how) => {
            let stamp = match which {
                b'A' => Stamp::Access,
                b'C' => Stamp::Change,
                _ => Stamp::Modification,
            };
            time(stamp.of(entry.stat()?), how)
        }
        What::Latency => match &context.cost {
            Some(cost) => cost.seconds().into_bytes(),
            None => b"?".to_vec(),
        },
        What::Resident => match &context.cost {
            Some(cost) => {
                cost.resident_percent().map_or_else(|| "?".to_owned(), |share| share.to_string()).into()
            }
            None => b"?".to_vec(),
        },
        What::Level => context.cost.as_ref().map_or("unknown", |cost| cost.level.name()).into(),
    })
}

/// What the path alone tells.
fn of_path(letter: u8, entry: &Entry<'_>) -> Option<Vec<u8>> {
    let path = entry.bytes();
    Some(match letter {
        b'p' => path.to_vec(),
        b'f' => entry.name().to_vec(),
        b'h' => {
            // Slashes at the end do not count, but after a single letter they do: GNU find's own slip.
            let end =
                path.iter().rposition(|&byte| byte != b'/').filter(|&last| last > 0).map(|last| last + 1);
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
        b'd' => entry.depth.to_string().into_bytes(),
        _ => return None,
    })
}

fn of_stat(
    letter: u8,
    shape: &Shape,
    entry: &Entry<'_>,
    context: &mut Context<'_>,
) -> Result<Vec<u8>, Errno> {
    let stat = *entry.stat()?;
    let text = match letter {
        b's' => stat.st_size.to_string(),
        b'b' => stat.st_blocks.to_string(),
        b'k' => ((stat.st_blocks + 1) / 2).to_string(),
        b'i' => stat.st_ino.to_string(),
        b'n' => stat.st_nlink.to_string(),
        b'D' => stat.st_dev.to_string(),
        b'U' => stat.st_uid.to_string(),
        b'G' => stat.st_gid.to_string(),
        b'u' => context.names.user(stat.st_uid).map_or_else(|| stat.st_uid.to_string(), str::to_owned),
        b'g' => context.names.group(stat.st_gid).map_or_else(|| stat.st_gid.to_string(), str::to_owned),
        b'm' if shape.alternate && permission_bits(stat.st_mode) != 0 => {
            format!("0{:o}", permission_bits(stat.st_mode))
        }
        b'm' => format!("{:o}", permission_bits(stat.st_mode)),
        b'M' => letters(stat.st_mode),
        b'S' => sparseness(&stat),
        b'F' => context.mounts.type_of(stat.st_dev).to_owned(),
        b'y' => type_letter(entry.file_type()?).to_string(),
        b'Y' => target_letter(entry),
        b'Z' => String::new(), // no security context without SELinux
        b'a' => return Ok(time(Stamp::Access.of(&stat), b'\0')),
        b'c' => return Ok(time(Stamp::Change.of(&stat), b'\0')),
        b't' => return Ok(time(Stamp::Modification.of(&stat), b'\0')),
        b'l' => {
            let link = entry.file_type()? == FileType::Symlink;
            let target = link.then(|| readlinkat(entry.base(), entry.below(), Vec::new()));
            return Ok(target.and_then(Result::ok).map(|target| target.into_bytes()).unwrap_or_default());
        }
        _ => String::new(),
    };
    Ok(text.into_bytes())
}

/// `%Y`: the target's type; N where there is none, L for a loop, ? for any other error.
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

/// Bytes allocated for each byte of the file, as C's `%g` writes it.
fn sparseness(stat: &Stat) -> String {
    if stat.st_size == 0 {
        return if stat.st_blocks == 0 { "1" } else { "inf" }.to_owned();
    }
    general(stat.st_blocks as f64 * 512.0 / stat.st_size as f64)
}

/// Six significant digits without zeros at the end, an exponent where it is shorter: C's `%g`.
fn general(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    match exponent {
        -4..6 => trim(&format!("{value:.*}", (5 - exponent).max(0) as usize)),
        _ => format!("{}e{}{:02}", trim(digits), if exponent < 0 { '-' } else { '+' }, exponent.abs()),
    }
}

/// One part of a time as GNU find writes it: seconds carry their fraction; `\0` stands for the whole as ctime(3) has it.
fn time(nanoseconds: i128, how: u8) -> Vec<u8> {
    let seconds = nanoseconds.div_euclid(1_000_000_000) as i64;
    let fraction = format!(".{:09}0", nanoseconds.rem_euclid(1_000_000_000));
    let part = |format: &str| format_time(&c_string(format.as_bytes()), seconds);
    let with_fraction = |before: &str, after: &str| {
        [part(before), fraction.clone().into_bytes(), if after.is_empty() { Vec::new() } else { part(after) }]
            .concat()
    };
    match how {
        b'\0' => with_fraction("%a %b %e %H:%M:%S", " %Y"),
        b'@' => with_fraction("%s", ""),
        b'+' => with_fraction("%Y-%m-%d+%H:%M:%S", ""),
        b'S' => with_fraction("%S", ""),
        b'T' => with_fraction("%H:%M:%S", ""),
        b'X' => with_fraction("%X", ""),
        b'r' => part("%I:%M:%S %p"),
        b'a' | b'A' | b'b' | b'B' | b'c' | b'd' | b'D' | b'F' | b'g' | b'G' | b'h' | b'H' | b'I' | b'j'
        | b'k' | b'l' | b'm' | b'M' | b'p' | b's' | b'u' | b'U' | b'V' | b'w' | b'W' | b'x' | b'y' | b'Y'
        | b'Z' | b'C' | b'e' | b'n' | b't' | b'R' | b'z' => part(&format!("%{}", char::from(how))),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_numbers_are_written_as_c_does() {
        for (value, text) in [
            (1_365.333_333, "1365.33"),
            (1.0, "1"),
            (0.5, "0.5"),
            (1_234_567.0, "1.23457e+06"),
            (0.000_012_3, "1.23e-05"),
            (999_999.5, "1e+06"),
        ] {
            assert_eq!(general(value), text);
        }
    }
}
