//! Which names may stand in an archive. Nothing is extracted here, but other programs will turn
//! names into paths.

use crate::error::{Error, ErrorKind, Result};
use std::borrow::Cow;

/// The length field is 16 bits wide.
pub(crate) const NAME_BYTES_MAX: usize = 65_535;

/// Checks a name that is to be written: relative, `/` between non-empty parts, no `.` or `..`, no
/// NUL, no backslash (a separator on Windows), at most 65,535 bytes. A directory's name ends in
/// `/`.
///
/// # Errors
/// [`ErrorKind::Name`], naming the name and what is wrong with it.
pub fn check_new(name: &str) -> Result<()> {
    if let Err(why) = check_read(name) {
        return Err(refuse(name, why));
    }
    if name.len() > NAME_BYTES_MAX {
        return Err(refuse(
            &name[..name.floor_char_boundary_at(80)],
            "is longer than 65,535 bytes",
        ));
    }
    if name.contains('\\') {
        return Err(refuse(
            name,
            "has a backslash, which is a separator on Windows; rename the file",
        ));
    }
    let path = name.strip_suffix('/').unwrap_or(name);
    if path.split('/').any(|part| part.is_empty() || part == ".") {
        return Err(refuse(name, "has an empty or `.` part; write it in its plain form"));
    }
    Ok(())
}

fn refuse(name: &str, why: &str) -> Error {
    Error::new(ErrorKind::Name, format!("the name {name:?} cannot be packed: it {why}"))
}

/// What a name must not be, in archives that are written and in those that are read. The error
/// completes "it ...".
pub(crate) fn check_read(name: &str) -> std::result::Result<(), &'static str> {
    let bytes = name.as_bytes();
    match bytes {
        [] => return Err("is empty"),
        [b'/' | b'\\', ..] => return Err("is absolute"),
        [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic() => {
            return Err("is absolute on Windows");
        }
        _ => {}
    }
    if !may_be_refused(bytes) {
        return Ok(());
    }
    if bytes.contains(&0) {
        return Err("has a NUL byte");
    }
    if name.contains("..") && name.split(['/', '\\']).any(|part| part == "..") {
        return Err("leads out of the archive by `..`");
    }
    Ok(())
}

/// The longest name of a file in its folder, and the longest path, that Linux has.
const PART_BYTES_MAX: usize = 255;
const PATH_BYTES_MAX: usize = 4095;

/// Why no file of a file system can have this name, if none can: it is too long.
pub(crate) fn too_long(name: &[u8]) -> Option<&'static str> {
    if name.len() <= PART_BYTES_MAX {
        return None;
    }
    if name.split(|&byte| byte == b'/').any(|part| part.len() > PART_BYTES_MAX) {
        return Some("a name longer than 255 bytes");
    }
    (name.len() > PATH_BYTES_MAX).then_some("a path longer than 4,095 bytes")
}

/// Whether a stored name is ASCII and certainly one that [`check_read`] lets pass: so are most.
/// Looks at 8 bytes at a time.
pub(crate) fn is_plain(name: &[u8]) -> bool {
    match name {
        [b'/' | b'\\', ..] | [_, b':', ..] => false,
        _ => !eights(name, |word| word & HIGH_BITS != 0 || is_odd(word)),
    }
}

/// Whether a name must be looked at more closely: true of each with a NUL or a `..`, of those under
/// 8 bytes, and of few others.
fn may_be_refused(name: &[u8]) -> bool {
    eights(name, is_odd)
}

/// Whether 8 bytes may have a NUL or a `..` among them.
fn is_odd(word: u64) -> bool {
    const DOTS: u64 = u64::from_le_bytes([b'.'; 8]);
    let dots = may_be_zero(word ^ DOTS);
    (may_be_zero(word) | dots & dots >> 8) != 0
}

/// Whether `is` of any 8 bytes of a name, of which the last is looked at again, so that no pair is
/// cut; true of a shorter name.
fn eights(name: &[u8], is: impl Fn(u64) -> bool) -> bool {
    let Some((_, last)) = name.split_last_chunk() else { return true };
    let sevens = (0..name.len() - 8).step_by(7).filter_map(|at| name[at..].first_chunk());
    sevens
        .fold(is(u64::from_le_bytes(*last)), |found, eight| found | is(u64::from_le_bytes(*eight)))
}

const HIGH_BITS: u64 = u64::from_le_bytes([0x80; 8]);

/// The high bit of each byte that is zero, and of a few bytes above such a byte.
fn may_be_zero(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    word.wrapping_sub(ONES) & !word & HIGH_BITS
}

/// A stored name as text. Without the UTF-8 flag it is code page 437 by the book, but many tools
/// store plain UTF-8.
pub(crate) fn text(stored: &[u8], utf8: bool) -> Option<Cow<'_, str>> {
    match std::str::from_utf8(stored) {
        Ok(name) => Some(Cow::Borrowed(name)),
        Err(_) if utf8 => None,
        Err(_) => Some(Cow::Owned(of_code_page_437(stored))),
    }
}

pub(crate) fn of_code_page_437(stored: &[u8]) -> String {
    stored.iter().map(|&byte| code_page_437(byte)).collect()
}

fn code_page_437(byte: u8) -> char {
    const UPPER: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";
    match byte {
        0..=127 => char::from(byte),
        _ => UPPER.chars().nth(usize::from(byte) - 128).unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

/// `str::floor_char_boundary` is newer than our `rust-version`.
trait CharBoundary {
    fn floor_char_boundary_at(&self, at: usize) -> usize;
}

impl CharBoundary for str {
    fn floor_char_boundary_at(&self, at: usize) -> usize {
        (0..=at.min(self.len())).rev().find(|&at| self.is_char_boundary(at)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_names_pass() {
        for name in ["a", "art/wall.dds", "dir/", "a..b/...", "ä/ö.txt", "c:", "x y", "-rf"] {
            assert!(check_new(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn what_is_refused_is_found_at_every_place_of_a_name() {
        for before in 1..40 {
            for after in 0..40 {
                let [a, b] = [before, after].map(|bytes| "ab".repeat(bytes)[..bytes].to_owned());
                assert_eq!(check_read(&format!("{a}/./{b}...{a}")), Ok(()));
                for refused in [format!("{a}/../{b}"), format!("{a}\0{b}")] {
                    assert!(check_read(&refused).is_err() && !is_plain(refused.as_bytes()));
                }
                assert!(!is_plain(format!("{a}\u{e4}{b}").as_bytes()), "an umlaut after {a}");
                assert!(a.len() + b.len() < 8 || is_plain(format!("{a}{b}").as_bytes()));
            }
            let refused = format!("{}/..", "a".repeat(before));
            assert!(check_read(&refused).is_err() && !is_plain(refused.as_bytes()));
        }
    }

    #[test]
    fn bad_names_are_refused() {
        let long = "ü".repeat(40_000);
        for name in [
            "",
            "/etc/passwd",
            "../x",
            "a/../b",
            "..",
            "a/..",
            "a\0b",
            "a\\b",
            "a//b",
            "./a",
            "a/.",
            "C:/x",
            "/",
            &long,
        ] {
            assert_eq!(check_new(name).expect_err(name).kind(), ErrorKind::Name);
            let longer = format!("{name}/and/so/on");
            assert!(check_read(&longer).is_ok() || !is_plain(longer.as_bytes()), "{longer}");
        }
    }

    #[test]
    fn what_no_file_system_can_hold_is_found() {
        let too_long = |name: &str| too_long(name.as_bytes());
        let part = "x".repeat(255);
        let deep = format!("{part}/").repeat(15) + &part;
        assert_eq!((deep.len(), too_long(&deep), too_long(&part)), (4095, None, None));
        assert_eq!(too_long(&format!("a/{part}x/b")), Some("a name longer than 255 bytes"));
        assert_eq!(too_long(&format!("{deep}/")), Some("a path longer than 4,095 bytes"));
        assert_eq!(too_long(&"ä".repeat(128)), Some("a name longer than 255 bytes"));
    }

    #[test]
    fn reading_takes_backslashes_as_separators() {
        assert!(check_read("a\\b").is_ok());
        assert!(check_read("a\\..\\b").is_err());
        assert!(check_read("\\\\host\\share").is_err());
    }

    #[test]
    fn code_page_437_covers_every_byte() {
        assert_eq!(text(&[0x80, 0xff, b'a'], false).as_deref(), Some("Ç\u{a0}a"));
        assert_eq!(text(&[0xe1], false).as_deref(), Some("ß"));
        assert_eq!(text(&[0xff], true), None);
        assert!((0..=255).all(|byte| code_page_437(byte) != char::REPLACEMENT_CHARACTER));
    }
}
