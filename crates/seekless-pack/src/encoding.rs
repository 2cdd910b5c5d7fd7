//! In which characters the names of an archive are that it does not say to be UTF-8.

use crate::name;
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The encoding of names that have neither the flag for UTF-8 nor a valid field of their own
/// (0x7075). By default UTF-8 where they are that, as many tools write it, and else code page 437,
/// as the format demands.
///
/// It is parsed from a label: `cp437`, and with the feature `encodings` those of the WHATWG's
/// Encoding Standard, such as `shift_jis`, and Windows' code pages, such as `cp932`.
///
/// ```
/// use seekless_pack::NameEncoding;
///
/// let names: NameEncoding = "cp437".parse()?;
/// assert_eq!(names.to_string(), "cp437");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NameEncoding(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    #[default]
    Usual,
    CodePage437,
    #[cfg(feature = "encodings")]
    Other(&'static encoding_rs::Encoding),
}

impl NameEncoding {
    /// Whether it is the default one.
    pub(crate) fn is_usual(self) -> bool {
        self.0 == Kind::Usual
    }

    /// The text of a name without the flag for UTF-8; `None` if it is not of this encoding.
    pub(crate) fn text(self, stored: &[u8]) -> Option<Cow<'_, str>> {
        match self.0 {
            Kind::Usual => name::text(stored, false),
            Kind::CodePage437 => Some(Cow::Owned(name::of_code_page_437(stored))),
            #[cfg(feature = "encodings")]
            Kind::Other(encoding) => {
                encoding.decode_without_bom_handling_and_without_replacement(stored)
            }
        }
    }
}

impl fmt::Display for NameEncoding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Usual => out.write_str("UTF-8 or cp437"),
            Kind::CodePage437 => out.write_str("cp437"),
            #[cfg(feature = "encodings")]
            Kind::Other(encoding) => out.write_str(encoding.name()),
        }
    }
}

impl FromStr for NameEncoding {
    type Err = String;

    fn from_str(label: &str) -> Result<Self, String> {
        if ["cp437", "437", "ibm437"].iter().any(|own| own.eq_ignore_ascii_case(label.trim())) {
            return Ok(Self(Kind::CodePage437));
        }
        other(label)
    }
}

#[cfg(not(feature = "encodings"))]
fn other(label: &str) -> Result<NameEncoding, String> {
    Err(format!(
        "the encoding {label:?} is not known here: give cp437, or build with the feature `encodings`"
    ))
}

#[cfg(feature = "encodings")]
fn other(label: &str) -> Result<NameEncoding, String> {
    let wanted = label.trim().to_ascii_lowercase();
    // Windows' names of what the standard calls otherwise.
    let standard = match wanted.as_str() {
        "cp932" => "shift_jis",
        "cp936" => "gbk",
        "cp949" => "euc-kr",
        "cp950" => "big5",
        "cp874" => "windows-874",
        "cp10000" => "macintosh",
        "cp20866" => "koi8-r",
        "cp21866" => "koi8-u",
        "cp20932" | "cp51932" => "euc-jp",
        "cp54936" => "gb18030",
        "cp65001" => "utf-8",
        other => other,
    };
    let found = encoding_rs::Encoding::for_label(standard.as_bytes());
    // In others a `/` could be a part of another character.
    let found = found.filter(|encoding| encoding.is_ascii_compatible());
    found.map(|encoding| NameEncoding(Kind::Other(encoding))).ok_or_else(|| {
        format!(
            "no encoding of names is called {label:?}: give one such as cp437, cp866, cp932, gbk, \
             big5, euc-kr, koi8-r, windows-1252 or utf-8"
        )
    })
}

#[cfg(all(test, feature = "encodings"))]
mod tests {
    use super::*;

    fn text(label: &str, stored: &[u8]) -> Option<String> {
        label.parse::<NameEncoding>().unwrap().text(stored).map(Cow::into_owned)
    }

    #[test]
    fn names_are_read_in_the_encoding_that_was_named() {
        for (label, stored, expected) in [
            ("cp932", &b"\x95\x5c.txt"[..], "表.txt"),
            ("Shift_JIS", b"\x83\x65", "テ"),
            ("cp866", b"\x8f\xe0", "Пр"),
            ("gbk", b"\xd6\xd0", "中"),
            ("cp949", b"\xb0\xa1", "가"),
            ("big5", b"\xa4\xa4", "中"),
            ("cp1252", b"\x80", "€"),
            ("CP437", b"\xc3\xa4", "├ñ"),
            ("utf-8", b"\xc3\xa4", "ä"),
        ] {
            assert_eq!(text(label, stored).as_deref(), Some(expected), "{label}");
        }
        assert_eq!(text("cp932", b"a\xff"), None);
        assert_eq!(text("utf-8", b"\xff"), None);
    }

    #[test]
    fn a_label_that_is_none_is_refused_with_examples() {
        for label in ["cp999", "", "utf-16le", "iso-2022-jp", "replacement"] {
            let why = label.parse::<NameEncoding>().unwrap_err();
            assert!(why.contains("cp932") && why.contains("koi8-r"), "{label}: {why}");
        }
    }
}
