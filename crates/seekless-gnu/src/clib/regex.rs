//! The C library's own regular expressions (regex(7) with GNU's additions), by which GNU find
//! matches paths. A program that must answer as GNU find does, in a dozen dialects and with its
//! messages, calls the same library.

/// A dialect: which of the C library's syntax rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect(u64);

/// Ignores the case of letters.
#[cfg(target_env = "gnu")]
const IGNORE_CASE: u64 = 1 << 22;

impl Dialect {
    /// Every dialect by its name, as GNU find 4.9 lists them. The numbers are glibc's
    /// `RE_SYNTAX_…`, a stable interface.
    pub(crate) const NAMED: [(&str, Dialect); 13] = [
        ("findutils-default", Dialect(0x40)), // Emacs's, and a dot matches a newline
        ("ed", Dialect(0x0101_02c6)),
        ("emacs", Dialect(0)),
        ("gnu-awk", Dialect(0x0023_b24d)),
        ("grep", Dialect(0x0001_0a46)),
        ("posix-awk", Dialect(0x002b_b2fd)),
        ("awk", Dialect(0x000b_e0cd)),
        ("posix-basic", Dialect(0x0101_02c6)),
        ("posix-egrep", Dialect(0x0023_ba5c)),
        ("egrep", Dialect(0x0023_ba5c)),
        ("posix-extended", Dialect(0x0003_b2fc)),
        ("posix-minimal-basic", Dialect(0x0001_06c4)),
        ("sed", Dialect(0x0101_02c6)),
    ];

    /// The dialect of that name.
    #[must_use]
    pub(crate) fn named(name: &str) -> Option<Dialect> {
        Dialect::NAMED.iter().find(|(other, _)| *other == name).map(|(_, dialect)| *dialect)
    }
}

impl Default for Dialect {
    /// Emacs's dialect: find 4.9 uses it by default, although another is called
    /// `findutils-default`.
    fn default() -> Self {
        Dialect(0)
    }
}

pub(crate) use library::{Regex, Search};

#[cfg(target_env = "gnu")]
mod library {
    use super::{Dialect, IGNORE_CASE};
    use std::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_void};
    use std::ops::Range;
    use std::ptr;
    use std::sync::{Mutex, PoisonError};

    unsafe extern "C" {
        fn re_set_syntax(syntax: c_ulong) -> c_ulong;
        fn re_compile_pattern(
            pattern: *const c_char,
            length: usize,
            regex: *mut libc::regex_t,
        ) -> *const c_char;
        fn re_match(
            regex: *mut libc::regex_t,
            text: *const c_char,
            length: c_int,
            start: c_int,
            registers: *mut c_void,
        ) -> c_int;
        fn re_search(
            regex: *mut libc::regex_t,
            text: *const c_char,
            length: c_int,
            start: c_int,
            range: c_int,
            registers: *mut c_void,
        ) -> c_int;
        fn regfree(regex: *mut libc::regex_t);
    }

    /// `re_set_syntax` applies to the next call of `re_compile_pattern` in the process, so a lock
    /// keeps both calls together.
    static COMPILING: Mutex<()> = Mutex::new(());

    /// A compiled expression.
    pub(crate) struct Regex(Box<libc::regex_t>);

    // SAFETY: glibc locks a compiled expression while it matches (`dfa->lock`), and nothing else
    // touches it until it is dropped.
    unsafe impl Send for Regex {}
    // SAFETY: as above.
    unsafe impl Sync for Regex {}

    impl Regex {
        /// Compiles an expression; the locale is that of
        /// [`crate::clib::locale::use_environments_locale`].
        ///
        /// # Errors
        /// What the C library says is wrong with it.
        pub(crate) fn new(
            pattern: &[u8],
            dialect: Dialect,
            ignore_case: bool,
        ) -> Result<Self, String> {
            let syntax = dialect.0 | if ignore_case { IGNORE_CASE } else { 0 };
            // SAFETY: all zeros is an empty expression, which the C library requires before it
            // compiles one.
            let mut regex: Box<libc::regex_t> = Box::new(unsafe { std::mem::zeroed() });
            let compiling = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: the pattern has the length given. The structure is the C library's own and
            // lives until it is freed below or by `drop`. The lock keeps the syntax until it is
            // used.
            let wrong = unsafe {
                re_set_syntax(syntax as c_ulong);
                re_compile_pattern(pattern.as_ptr().cast(), pattern.len(), &raw mut *regex)
            };
            drop(compiling);
            let regex = Regex(regex);
            if wrong.is_null() {
                return Ok(regex);
            }
            // SAFETY: the message is a static string of the C library.
            Err(unsafe { CStr::from_ptr(wrong) }.to_string_lossy().into_owned())
        }

        /// Whether all of `text` matches: the longest match at its start is all of it.
        #[must_use]
        pub(crate) fn matches_all(&self, text: &[u8]) -> bool {
            let Ok(length) = c_int::try_from(text.len()) else { return false };
            let regex = (&raw const *self.0).cast_mut();
            // SAFETY: the expression was compiled and is locked by the C library while it matches;
            // the text has the length given, and no registers are asked for.
            let matched =
                unsafe { re_match(regex, text.as_ptr().cast(), length, 0, ptr::null_mut()) };
            matched == length
        }
    }

    /// Bits of `re_pattern_buffer` behind its seven words: GNU's interface, the only way to say
    /// these things.
    const BITS_AT: usize = 7 * size_of::<usize>();
    /// The end of the text is not the end of a line.
    const NOT_EOL: u32 = 1 << 6;
    /// A newline in the text ends a line.
    const NEWLINE_ANCHOR: u32 = 1 << 7;

    /// `re_registers`: where the groups matched. The C library allocates both arrays.
    #[repr(C)]
    struct Registers {
        count: c_uint,
        start: *mut c_int,
        end: *mut c_int,
    }

    /// An expression that is searched for in lines. GNU grep uses it for patterns with
    /// back-references.
    pub(crate) struct Search {
        regex: Regex,
        registers: Registers,
    }

    // SAFETY: as for the expression; the registers are this one's alone.
    unsafe impl Send for Search {}

    impl Search {
        /// Compiles an expression; the locale is that of
        /// [`crate::clib::locale::use_environments_locale`].
        ///
        /// # Errors
        /// What the C library says is wrong with it.
        pub(crate) fn new(
            pattern: &[u8],
            dialect: Dialect,
            ignore_case: bool,
        ) -> Result<Self, String> {
            let mut regex = Regex::new(pattern, dialect, ignore_case)?;
            set_bits(&mut regex, 0, NEWLINE_ANCHOR);
            let registers = Registers { count: 0, start: ptr::null_mut(), end: ptr::null_mut() };
            Ok(Search { regex, registers })
        }

        /// The leftmost-longest match in a line that begins at `from` or after. It is an error if
        /// the line is too long for the library, or if the match needs too much memory.
        ///
        /// # Errors
        /// Why it gave up.
        pub(crate) fn find(
            &mut self,
            line: &[u8],
            from: usize,
        ) -> Result<Option<Range<usize>>, String> {
            set_bits(&mut self.regex, 0, NOT_EOL);
            let (Ok(length), Ok(start)) = (c_int::try_from(line.len()), c_int::try_from(from))
            else {
                return Err(EXHAUSTED.to_owned());
            };
            let registers = (&raw mut self.registers).cast();
            // SAFETY: the expression was compiled. The text has the length given, and the range
            // lies in it. The registers are null or were allocated by the library, as the
            // expression's own bits say.
            let found = unsafe {
                let text = line.as_ptr().cast();
                re_search(&raw mut *self.regex.0, text, length, start, length - start, registers)
            };
            match found {
                -1 => Ok(None),
                0.. => {
                    // SAFETY: after a match the first register is set.
                    let end = unsafe { *self.registers.end };
                    Ok(Some(found as usize..usize::try_from(end).unwrap_or(0).max(found as usize)))
                }
                _ => Err(EXHAUSTED.to_owned()),
            }
        }

        /// The end of the longest match that begins at `start`, if the text is cut off after
        /// `limit`. The cut does not count as the end of the line.
        ///
        /// # Errors
        /// Why it gave up.
        pub(crate) fn end_before(
            &mut self,
            line: &[u8],
            start: usize,
            limit: usize,
        ) -> Result<Option<usize>, String> {
            set_bits(&mut self.regex, NOT_EOL, 0);
            let (Ok(length), Ok(at)) = (c_int::try_from(limit), c_int::try_from(start)) else {
                return Err(EXHAUSTED.to_owned());
            };
            let text = line[..limit].as_ptr().cast();
            // SAFETY: as above; no registers are asked for.
            let matched =
                unsafe { re_match(&raw mut *self.regex.0, text, length, at, ptr::null_mut()) };
            match matched {
                -1 => Ok(None),
                0.. => Ok(Some(start + matched as usize)),
                _ => Err(EXHAUSTED.to_owned()),
            }
        }
    }

    /// GNU grep's message in these cases.
    const EXHAUSTED: &str = "memory exhausted";

    fn set_bits(regex: &mut Regex, set: u32, clear: u32) {
        // SAFETY: the structure is 64 bytes; these four lie behind the seven words before them
        // (<regex.h>).
        unsafe {
            let bits = (&raw mut *regex.0).cast::<u8>().add(BITS_AT).cast::<u32>();
            *bits = (*bits | set) & !clear;
        }
    }

    impl Drop for Search {
        fn drop(&mut self) {
            // SAFETY: null, or allocated by the library with malloc for the caller to free.
            unsafe {
                libc::free(self.registers.start.cast());
                libc::free(self.registers.end.cast());
            }
        }
    }

    impl Drop for Regex {
        fn drop(&mut self) {
            // SAFETY: compiled or empty; the C library frees both. It is not used any more.
            unsafe { regfree(&raw mut *self.0) };
        }
    }
}

/// Other C libraries have one dialect only, whose answers would differ from find's.
#[cfg(not(target_env = "gnu"))]
mod library {
    use super::Dialect;
    use std::ops::Range;

    /// An expression, which this C library cannot compile.
    pub(crate) enum Regex {}

    impl Regex {
        /// Always refused.
        ///
        /// # Errors
        /// This C library has no such expressions.
        pub(crate) fn new(
            _pattern: &[u8],
            _dialect: Dialect,
            _ignore_case: bool,
        ) -> Result<Self, String> {
            Err("regular expressions need the GNU C library".to_owned())
        }

        /// Never called.
        #[must_use]
        pub(crate) fn matches_all(&self, _text: &[u8]) -> bool {
            match *self {}
        }
    }

    /// An expression, which this C library cannot compile.
    pub(crate) enum Search {}

    impl Search {
        /// Always refused.
        ///
        /// # Errors
        /// This C library has no such expressions.
        pub(crate) fn new(
            _pattern: &[u8],
            _dialect: Dialect,
            _ignore_case: bool,
        ) -> Result<Self, String> {
            Err("back-references need the GNU C library".to_owned())
        }

        /// Never called.
        ///
        /// # Errors
        /// Never.
        pub(crate) fn find(
            &mut self,
            _line: &[u8],
            _from: usize,
        ) -> Result<Option<Range<usize>>, String> {
            match *self {}
        }

        /// Never called.
        ///
        /// # Errors
        /// Never.
        pub(crate) fn end_before(
            &mut self,
            _line: &[u8],
            _start: usize,
            _limit: usize,
        ) -> Result<Option<usize>, String> {
            match *self {}
        }
    }
}

impl std::fmt::Debug for Regex {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Regex")
    }
}

impl std::fmt::Debug for Search {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Search")
    }
}

#[cfg(all(test, target_env = "gnu"))]
mod tests {
    use super::*;

    #[test]
    fn dialects_differ_and_say_what_is_wrong() {
        let matches = |name: &str, pattern: &str, text: &str| {
            let dialect = Dialect::named(name).unwrap();
            Regex::new(pattern.as_bytes(), dialect, false).unwrap().matches_all(text.as_bytes())
        };
        assert!(matches("findutils-default", r"a+\(b\|c\)", "aac"));
        assert!(matches("findutils-default", "a.b", "a\nb"));
        assert!(!matches("emacs", "a.b", "a\nb"));
        assert!(matches("posix-extended", "a{2}(b|c)", "aac"));
        assert!(matches("posix-basic", r"\(a\)\1", "aa"));
        assert!(!matches("sed", "a", "ab"), "all of it");
        assert_eq!(Dialect::named("perl"), None);
        let wrong = Regex::new(b"(", Dialect::named("egrep").unwrap(), false).unwrap_err();
        assert_eq!(wrong, r"Unmatched ( or \(");
        assert!(Regex::new(b"readme", Dialect::default(), true).unwrap().matches_all(b"README"));
    }

    #[test]
    fn groups_are_referred_back_to_wherever_they_stand() {
        let egrep = Dialect::named("egrep").unwrap();
        let mut search = Search::new(br"(a|b+)\1", egrep, false).unwrap();
        assert_eq!(search.find(b"abbbbba", 0), Ok(Some(1..5)));
        assert_eq!(
            (search.find(b"abbbbba", 3), search.find(b"abbbbba", 5)),
            (Ok(Some(3..5)), Ok(None))
        );
        assert_eq!(search.end_before(b"abbbbba", 1, 4), Ok(Some(3)));
        assert_eq!(search.end_before(b"abbbbba", 1, 2), Ok(None));
        let mut lines = Search::new(br"(a)?^b$", egrep, false).unwrap();
        assert_eq!((lines.find(b"a\nb\na", 0), lines.find(b"b", 0)), (Ok(None), Ok(Some(0..1))));
        assert_eq!(lines.end_before(b"bc", 0, 1), Ok(None), "the line does not end there");
    }

    #[test]
    fn many_threads_match_with_one_expression() {
        let regex = Regex::new(br".*/[a-f]+\.txt", Dialect::default(), false).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for number in 0..500 {
                        assert!(regex.matches_all(format!("dir{number}/abc.txt").as_bytes()));
                        assert!(!regex.matches_all(format!("dir{number}/xyz.txt").as_bytes()));
                    }
                });
            }
        });
    }
}
