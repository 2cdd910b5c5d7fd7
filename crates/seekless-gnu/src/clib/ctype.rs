//! The class of a character in the user's locale, from the C library, so that counts agree with the
//! system's tools.
//!
//! A locale is loaded beside the process's own and set for the calling thread during one question.
//! So nothing global changes.

use std::ffi::{CStr, OsString, c_char, c_int};
use std::path::Path;

unsafe extern "C" {
    fn iswprint(character: u32) -> c_int;
    fn iswspace(character: u32) -> c_int;
    fn wcwidth(character: libc::wchar_t) -> c_int;
    fn btowc(byte: c_int) -> u32;
    fn mbtowc(character: *mut libc::wchar_t, bytes: *const c_char, length: usize) -> c_int;
    fn __ctype_get_mb_cur_max() -> usize;
    fn towupper_l(character: u32, locale: libc::locale_t) -> u32;
    fn towlower_l(character: u32, locale: libc::locale_t) -> u32;
}

/// The characters of one locale.
#[derive(Debug)]
pub(crate) struct Ctype {
    locale: libc::locale_t,
}

/// How a locale writes characters as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// A byte is a character.
    SingleByte,
    /// UTF-8.
    Utf8,
    /// Another encoding of several bytes.
    Other,
}

/// What the locale says of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Character {
    /// Something to see, or a blank.
    pub printable: bool,
    /// White space.
    pub space: bool,
    /// Columns on a terminal; 0 when it is not printable or combines with the one before.
    pub columns: u8,
    /// The Unicode number, for a byte that is a character.
    pub code: u32,
}

impl Ctype {
    /// The locale that the environment names (`LC_ALL`, `LC_CTYPE`, `LANG` and their kin), or
    /// `None` where one of them is not installed: the C locale holds then.
    #[must_use]
    pub(crate) fn from_environment() -> Option<Self> {
        Self::named(c"")
    }

    /// A locale by its name, such as `C.UTF-8`.
    #[must_use]
    pub(crate) fn named(name: &CStr) -> Option<Self> {
        Self::of(libc::LC_ALL_MASK, name)
    }

    /// Only the characters of the environment's locale (`LC_CTYPE`): they are in one file of
    /// twelve.
    #[must_use]
    pub(crate) fn characters_of_environment() -> Option<Self> {
        Self::of(libc::LC_CTYPE_MASK, c"")
    }

    fn of(categories: c_int, name: &CStr) -> Option<Self> {
        // SAFETY: the name is a string of C; no base locale is handed over.
        let locale = unsafe { libc::newlocale(categories, name.as_ptr(), std::ptr::null_mut()) };
        if locale.is_null() { None } else { Some(Ctype { locale }) }
    }

    /// How this locale writes characters.
    #[must_use]
    pub(crate) fn encoding(&self) -> Encoding {
        // Not by nl_langinfo_l(3): it does not work in a static executable. A character of three
        // bytes shows UTF-8.
        self.within(|| match characters_bytes_max() {
            0 | 1 => Encoding::SingleByte,
            _ if decodes(b"\xe4\xb8\xad\0", 0x4e2d) => Encoding::Utf8,
            _ => Encoding::Other,
        })
    }

    /// What each of 256 neighbouring characters is, from `first` on.
    #[must_use]
    pub(crate) fn characters(&self, first: u32) -> [Character; 256] {
        self.within(|| std::array::from_fn(|step| character(first + step as u32)))
    }

    /// What each byte is in a locale of single bytes.
    #[must_use]
    pub(crate) fn bytes(&self) -> [Character; 256] {
        self.within(|| std::array::from_fn(|byte| single(byte as u8)))
    }

    /// The capital of a character of a UTF-8 locale; the character itself if it has none.
    #[must_use]
    pub(crate) fn upper(&self, character: char) -> char {
        // SAFETY: any number is allowed, and the locale lives.
        char::from_u32(unsafe { towupper_l(character.into(), self.locale) }).unwrap_or(character)
    }

    /// The small letter of a character, likewise.
    #[must_use]
    pub(crate) fn lower(&self, character: char) -> char {
        // SAFETY: as above.
        char::from_u32(unsafe { towlower_l(character.into(), self.locale) }).unwrap_or(character)
    }

    fn within<T>(&self, ask: impl FnOnce() -> T) -> T {
        // SAFETY: the locale lives until it is taken back from this thread below; `ask` calls only
        // the C library's questions, which do not unwind.
        let before = unsafe { libc::uselocale(self.locale) };
        let answer = ask();
        // SAFETY: gives the thread back what it had.
        unsafe { libc::uselocale(before) };
        answer
    }
}

impl Drop for Ctype {
    fn drop(&mut self) {
        // SAFETY: made by newlocale, freed once, lent to no thread any more.
        unsafe { libc::freelocale(self.locale) };
    }
}

/// Whether the process's locale (see [`crate::clib::locale::use_environments_locale`]) shows this
/// character; only letters, digits and signs of ASCII where it is not one of UTF-8.
#[must_use]
pub(crate) fn is_printable(character: char, utf8: bool) -> bool {
    match character {
        ' '..='~' => true,
        // SAFETY: any number is allowed.
        _ => utf8 && unsafe { iswprint(character.into()) != 0 },
    }
}

/// How the locale that the environment names writes characters; `None` where
/// [`Ctype::from_environment`] says so.
///
/// A locale of UTF-8 is seen to be installed, not loaded: that takes more time than the search of a
/// small file.
#[must_use]
pub(crate) fn encoding_of_environment() -> Option<Encoding> {
    match name_of_all() {
        Some(name) if is_utf8_installed(Path::new(LOCALES), &name) => Some(Encoding::Utf8),
        _ => Ctype::from_environment().map(|locale| locale.encoding()),
    }
}

/// Where the C library looks for locales unless LOCPATH is set.
const LOCALES: &str = "/usr/lib/locale";

const CATEGORIES: [&str; 12] = [
    "LC_CTYPE",
    "LC_NUMERIC",
    "LC_TIME",
    "LC_COLLATE",
    "LC_MONETARY",
    "LC_MESSAGES",
    "LC_PAPER",
    "LC_NAME",
    "LC_ADDRESS",
    "LC_TELEPHONE",
    "LC_MEASUREMENT",
    "LC_IDENTIFICATION",
];

/// The name of the environment's locale, if it is one for all categories and stands where it does
/// by default.
fn name_of_all() -> Option<String> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if std::env::var_os("LOCPATH").is_some() {
        return None;
    }
    let name = match set("LC_ALL") {
        Some(name) => name,
        None => {
            let language = set("LANG");
            let mut names =
                CATEGORIES.iter().map(|category| set(category).or_else(|| language.clone()));
            let first = names.next()??;
            names.all(|name| name.as_ref() == Some(&first)).then_some(first)?
        }
    };
    OsString::into_string(name).ok()
}

/// Whether a locale is one of UTF-8 by its name and has a folder of its own among the system's.
fn is_utf8_installed(locales: &Path, name: &str) -> bool {
    let Some((language, codeset)) = name.split_once('.') else { return false };
    let is_utf8 = ["UTF-8", "utf-8", "UTF8", "utf8"].contains(&codeset);
    // The C library writes codesets so; a slash would lead elsewhere.
    is_utf8
        && !language.contains('/')
        && locales.join(format!("{language}.utf8/LC_CTYPE")).is_file()
}

fn characters_bytes_max() -> usize {
    // SAFETY: takes nothing and changes nothing.
    unsafe { __ctype_get_mb_cur_max() }
}

/// Whether the thread's locale reads `text` (which ends with a NUL) as one character of this
/// number.
fn decodes(text: &[u8; 4], code: u32) -> bool {
    let mut character: libc::wchar_t = 0;
    // SAFETY: both pointers are to what lives here, the length is the text's without the NUL; the
    // first call only forgets what came before.
    let length = unsafe {
        mbtowc(std::ptr::null_mut(), std::ptr::null(), 0);
        mbtowc(&raw mut character, text.as_ptr().cast(), text.len() - 1)
    };
    length == 3 && character as u32 == code
}

fn character(code: u32) -> Character {
    // SAFETY: any number is allowed; a number that is not a character is neither printable nor
    // space.
    let (printable, space) = unsafe { (iswprint(code) != 0, iswspace(code) != 0) };
    let columns = match printable {
        // SAFETY: as above.
        true => u8::try_from(unsafe { wcwidth(code as libc::wchar_t) }).unwrap_or(0),
        false => 0,
    };
    Character { printable, space, columns, code }
}

fn single(byte: u8) -> Character {
    // SAFETY: each takes any value of an unsigned byte.
    let (printable, space, code) = unsafe {
        (libc::isprint(byte.into()) != 0, libc::isspace(byte.into()) != 0, btowc(byte.into()))
    };
    Character { printable, space, columns: printable.into(), code }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_locale_knows_ascii_only() {
        let c = Ctype::named(c"C").expect("always there");
        assert_eq!(c.encoding(), Encoding::SingleByte);
        let bytes = c.bytes();
        assert!(bytes[b'a' as usize].printable && !bytes[b'a' as usize].space);
        assert!(bytes[b' ' as usize].printable && bytes[b' ' as usize].space);
        assert!((0x7f..256).all(|byte| !bytes[byte].printable));
    }

    #[test]
    fn a_utf_8_locale_knows_wide_and_combining_characters() {
        let Some(utf8) = Ctype::named(c"C.UTF-8") else {
            eprintln!("skipped: no locale C.UTF-8");
            return;
        };
        assert_eq!(utf8.encoding(), Encoding::Utf8);
        assert_eq!(utf8.characters(0x4e00)[0x2d].columns, 2);
        let combining = utf8.characters(0x300)[1];
        assert!(combining.printable && combining.columns == 0);
        assert!(utf8.characters(0x3000)[0].space);
        assert!(!utf8.characters(0x110000)[0].printable);
    }

    #[test]
    fn what_is_seen_installed_is_what_the_library_loads() {
        for name in [
            "C.UTF-8",
            "C.utf8",
            "en_US.UTF-8",
            "C",
            "POSIX",
            "no_SUCH.UTF-8",
            "C.ISO-8859-1",
            "../C.UTF-8",
            "",
        ] {
            let loaded = Ctype::named(&std::ffi::CString::new(name).expect("no NUL"));
            let utf8 = loaded.is_some_and(|locale| locale.encoding() == Encoding::Utf8);
            let seen = is_utf8_installed(Path::new(LOCALES), name);
            // One in an archive is loaded without being seen.
            assert!(!seen || utf8, "{name}");
        }
        let folder = std::env::temp_dir().join(format!("seekless-locales.{}", std::process::id()));
        std::fs::create_dir_all(folder.join("C.utf8")).expect("a folder can be made");
        std::fs::write(folder.join("C.utf8/LC_CTYPE"), "").expect("a file can be written");
        let seen = ["C.UTF-8", "C.utf8", "C", "D.UTF-8", "C.utf9"]
            .map(|name| is_utf8_installed(&folder, name));
        std::fs::remove_dir_all(&folder).expect("it was made above");
        assert_eq!(seen, [true, true, false, false, false]);
    }

    #[test]
    fn an_unknown_locale_is_none() {
        assert!(Ctype::named(c"no_SUCH.locale").is_none());
    }
}
