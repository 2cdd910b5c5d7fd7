//! A line of passwd or group, read as the C library reads it.

use super::kind::Kind;

/// The account in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) name: Vec<u8>,
    pub(super) number: u32,
}

impl Account {
    /// `None` for a comment, an empty line, a line that begins with `+` or `-` (another service's),
    /// and a line without its numbers.
    pub(super) fn parse(line: &[u8], kind: Kind) -> Option<Self> {
        let line = line.trim_ascii_start();
        let line = &line[..line.iter().position(|&byte| byte == 0).unwrap_or(line.len())];
        if line.is_empty() || matches!(line[0], b'#' | b'+' | b'-') {
            return None;
        }
        let mut fields = line.split(|&byte| byte == b':');
        let name = fields.next()?.to_vec();
        let number = number(fields.nth(1)?)?;
        if kind == Kind::Users {
            self::number(fields.next()?)?; // the user's group
        }
        Some(Account { name, number })
    }
}

/// Whether all of a key is a number, for `getent`.
pub(super) fn is_number(key: &[u8]) -> bool {
    number(key).is_some()
}

/// Parses like strtoul(3): blanks and a sign may come first. Negative numbers, and those that 32
/// bits cannot hold, become the largest number.
fn number(field: &[u8]) -> Option<u32> {
    let field = field.trim_ascii_start();
    let (digits, negative) = match field {
        [b'-', digits @ ..] => (digits, true),
        [b'+', digits @ ..] => (digits, false),
        digits => (digits, false),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let text = std::str::from_utf8(digits).ok()?;
    let value = text.parse().unwrap_or(u32::MAX);
    Some(if negative && value != 0 { u32::MAX } else { value })
}
