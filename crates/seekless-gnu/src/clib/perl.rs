//! Perl's regular expressions by PCRE2, one line at a time, as GNU grep uses them. Bytes that are
//! not UTF-8 match nothing and separate the text around them (PCRE2_MATCH_INVALID_UTF).

use pcre2_sys as pcre2;
use std::ops::Range;
use std::ptr;

/// The first size of the compiled code's stack; PCRE2's own default.
const STACK_BYTES: usize = 32 << 10;
/// The largest stack; a line that needs more is given up.
const STACK_BYTES_MAX: usize = 16 << 20;

/// How a pattern is read and matched.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PerlOptions {
    /// Letters match without regard to case.
    pub ignore_case: bool,
    /// Characters are UTF-8, else bytes.
    pub utf8: bool,
    /// Only whole lines match.
    pub whole_line: bool,
}

/// A compiled expression and the memory it needs for matching.
pub(crate) struct Perl {
    code: *mut pcre2::pcre2_code_8,
    data: *mut pcre2::pcre2_match_data_8,
    context: *mut pcre2::pcre2_match_context_8,
    stack: *mut pcre2::pcre2_jit_stack_8,
    stack_bytes: usize,
    utf8: bool,
    /// Whether the empty text matches: first where no line begins, then where one does.
    empty: [bool; 2],
}

// SAFETY: nothing here is bound to a thread; every use takes `&mut self`.
unsafe impl Send for Perl {}

impl Perl {
    /// Compiles an expression.
    ///
    /// # Errors
    /// What PCRE2 says is wrong with it.
    pub(crate) fn new(pattern: &[u8], options: PerlOptions) -> Result<Self, String> {
        let mut flags = pcre2::PCRE2_DOLLAR_ENDONLY;
        if options.ignore_case {
            flags |= pcre2::PCRE2_CASELESS;
        }
        if options.utf8 {
            flags |= pcre2::PCRE2_UTF | pcre2::PCRE2_MATCH_INVALID_UTF;
        }
        let extra = if options.whole_line { pcre2::PCRE2_EXTRA_MATCH_LINE } else { 0 };
        let (mut wrong, mut place) = (0, 0);
        // SAFETY: fresh objects of PCRE2. If memory is short they are null, which its calls take
        // for a default. The pattern has the length given. The compile context is freed once and
        // not used after.
        let code = unsafe {
            let context = pcre2::pcre2_compile_context_create_8(ptr::null_mut());
            pcre2::pcre2_set_compile_extra_options_8(context, extra);
            let (start, length) = (pattern.as_ptr(), pattern.len());
            let code = pcre2::pcre2_compile_8(
                start,
                length,
                flags,
                &raw mut wrong,
                &raw mut place,
                context,
            );
            pcre2::pcre2_compile_context_free_8(context);
            code
        };
        if code.is_null() {
            return Err(words(wrong));
        }
        // SAFETY: the code was compiled just now; where it cannot be made machine code it is
        // interpreted.
        let (data, context) = unsafe {
            pcre2::pcre2_jit_compile_8(code, pcre2::PCRE2_JIT_COMPLETE);
            (
                pcre2::pcre2_match_data_create_from_pattern_8(code, ptr::null_mut()),
                pcre2::pcre2_match_context_create_8(ptr::null_mut()),
            )
        };
        let (stack, stack_bytes) = (ptr::null_mut(), STACK_BYTES);
        let mut perl =
            Perl { code, data, context, stack, stack_bytes, utf8: options.utf8, empty: [false; 2] };
        if perl.data.is_null() || perl.context.is_null() {
            return Err("memory exhausted".to_owned());
        }
        perl.empty =
            [false, true].map(|begins| perl.run(b"", 0, begins).is_ok_and(|found| found.is_some()));
        Ok(perl)
    }

    /// The first match in a line, without its end, that begins at `from` or after.
    ///
    /// # Errors
    /// Why PCRE2 gave up, in GNU grep's words.
    pub(crate) fn find(
        &mut self,
        line: &[u8],
        from: usize,
    ) -> Result<Option<Range<usize>>, String> {
        let (mut start, mut at) = (0, from.min(line.len()));
        let mut begins = at == 0;
        // Bytes that begin no character are passed over, as if the line began after them.
        while self.utf8 && line.get(at).is_some_and(|byte| matches!(byte, 0x80..0xc2 | 0xfe | 0xff))
        {
            at += 1;
            (start, begins) = (at, false);
        }
        if at == line.len() {
            return Ok(self.empty[usize::from(begins)].then_some(at..at));
        }
        let found = self.run(&line[start..], at - start, begins)?;
        Ok(found.map(|found| start + found.start..start + found.end))
    }

    fn run(
        &mut self,
        text: &[u8],
        from: usize,
        begins: bool,
    ) -> Result<Option<Range<usize>>, String> {
        let flags = if begins { 0 } else { pcre2::PCRE2_NOTBOL };
        // On aarch64 PCRE2 reads the 16 bytes around the start even of an empty text, and Rust's
        // empty slices may point nowhere.
        let text = if text.is_empty() { &b"\n"[..0] } else { text };
        loop {
            // SAFETY: code, data and context are live and this one's alone; the text has the length
            // given, and `from` lies in it.
            let matched = unsafe {
                let (start, length) = (text.as_ptr(), text.len());
                pcre2::pcre2_match_8(self.code, start, length, from, flags, self.data, self.context)
            };
            return match matched {
                1.. => {
                    // SAFETY: after a match the first pair of offsets is set; it lives as long as
                    // `data`.
                    let (start, end) = unsafe {
                        let pairs = pcre2::pcre2_get_ovector_pointer_8(self.data);
                        (*pairs, *pairs.add(1))
                    };
                    // A match may be made to begin behind its end (`\K` in a lookahead): it is
                    // empty then.
                    Ok(Some(start..end.max(start)))
                }
                pcre2::PCRE2_ERROR_NOMATCH => Ok(None),
                pcre2::PCRE2_ERROR_JIT_STACKLIMIT if self.grow() => continue,
                pcre2::PCRE2_ERROR_JIT_STACKLIMIT => Err("exhausted PCRE JIT stack".to_owned()),
                pcre2::PCRE2_ERROR_MATCHLIMIT => {
                    Err("exceeded PCRE's backtracking limit".to_owned())
                }
                pcre2::PCRE2_ERROR_DEPTHLIMIT => {
                    Err("exceeded PCRE's nested backtracking limit".to_owned())
                }
                pcre2::PCRE2_ERROR_RECURSELOOP => Err("PCRE detected recurse loop".to_owned()),
                pcre2::PCRE2_ERROR_HEAPLIMIT => Err("exceeded PCRE's heap limit".to_owned()),
                other => Err(format!("internal PCRE error: {other}")),
            };
        }
    }

    /// Doubles the stack of the machine code; false where it is large enough for anything.
    fn grow(&mut self) -> bool {
        if self.stack_bytes >= STACK_BYTES_MAX {
            return false;
        }
        let before = self.stack_bytes;
        self.stack_bytes *= 2;
        // SAFETY: the old stack is freed once, and no match is under way that uses it. The new one
        // takes its place and lives until the next growth or the drop. A null stack stands for the
        // default one.
        unsafe {
            pcre2::pcre2_jit_stack_free_8(self.stack);
            self.stack = pcre2::pcre2_jit_stack_create_8(before, self.stack_bytes, ptr::null_mut());
            pcre2::pcre2_jit_stack_assign_8(self.context, None, self.stack.cast());
        }
        !self.stack.is_null()
    }
}

impl Drop for Perl {
    fn drop(&mut self) {
        // SAFETY: each is null, which is ignored, or live and not used any more.
        unsafe {
            pcre2::pcre2_jit_stack_free_8(self.stack);
            pcre2::pcre2_match_context_free_8(self.context);
            pcre2::pcre2_match_data_free_8(self.data);
            pcre2::pcre2_code_free_8(self.code);
        }
    }
}

impl std::fmt::Debug for Perl {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Perl")
    }
}

/// PCRE2's message.
fn words(error: i32) -> String {
    let mut text = [0; 256];
    // SAFETY: the buffer has the length given; a message that does not fit is cut off.
    let length = unsafe { pcre2::pcre2_get_error_message_8(error, text.as_mut_ptr(), text.len()) };
    let length = usize::try_from(length).unwrap_or(text.len() - 1);
    String::from_utf8_lossy(&text[..length]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn perl(pattern: &str, utf8: bool) -> Perl {
        Perl::new(pattern.as_bytes(), PerlOptions { utf8, ..PerlOptions::default() }).unwrap()
    }

    #[test]
    fn bytes_that_are_no_characters_part_what_is_around_them() {
        let line = b"aaX\xffabA";
        for (pattern, found) in [
            ("abA", Some(4..7)),
            ("aaXabA", None),
            ("X$", None),
            ("[^a]", Some(2..3)),
            ("^ab", None),
        ] {
            assert_eq!(perl(pattern, true).find(line, 0), Ok(found), "{pattern}");
        }
        assert_eq!(perl("^a", true).find(b"\xffa", 0), Ok(None));
        assert_eq!(perl("^$", true).find(b"\xff", 0), Ok(None));
        assert_eq!(perl("$", true).find(b"\xff", 0), Ok(Some(1..1)));
        assert_eq!(perl("\\xff", false).find(line, 0), Ok(Some(3..4)));
        assert_eq!(perl(r"\W", true).find("xé".as_bytes(), 0), Ok(Some(1..3)));
    }

    #[test]
    fn matches_are_found_from_a_place_on() {
        let mut perl = perl("^a|b", true);
        assert_eq!((perl.find(b"aab", 0), perl.find(b"aab", 1)), (Ok(Some(0..1)), Ok(Some(2..3))));
        assert_eq!(perl.find(b"aab", 3), Ok(None));
        let whole = PerlOptions { whole_line: true, ..PerlOptions::default() };
        assert_eq!(Perl::new(b"a|ab", whole).unwrap().find(b"ab", 0), Ok(Some(0..2)));
    }

    #[test]
    fn what_is_wrong_or_too_much_is_said() {
        let wrong = |pattern: &[u8]| {
            Perl::new(pattern, PerlOptions { utf8: true, ..PerlOptions::default() }).unwrap_err()
        };
        assert_eq!(wrong(b"("), "missing closing parenthesis");
        assert_eq!(wrong(b"\xff"), "UTF-8 error: illegal byte (0xfe or 0xff)");
        let line = [b'a'; 40];
        let given_up = perl("(a|aa)+[bc]", true).find(&line, 0).unwrap_err();
        assert_eq!(given_up, "exceeded PCRE's backtracking limit");
    }

    #[test]
    fn the_stack_grows_as_it_is_needed() {
        let line = [&vec![b'a'; 200_000][..], b"b"].concat();
        assert_eq!(perl("(?:a|c)*b", true).find(&line, 0), Ok(Some(0..200_001)));
    }
}
