//! What the options before the first path take: `-D` its flags, `-O` its level.

use super::{Parser, Stop};
use crate::find::quote::say;
use std::os::unix::ffi::OsStrExt;

/// What GNU find's `-D` knows. Nothing is shown for them here.
const DEBUG_FLAGS: [&[u8]; 9] =
    [b"exec", b"opt", b"rates", b"search", b"stat", b"time", b"tree", b"all", b"help"];

impl Parser<'_> {
    /// `-D`: warns of flags that GNU find does not know.
    pub(super) fn debug_flags(&mut self) -> Result<(), Stop> {
        const TRY: &str = "\nTry 'find --help' for more information.";
        let Some(list) = self.take() else {
            return Err(say!("Missing argument after the -D option.", TRY).into());
        };
        let mut flags =
            list.as_bytes().split(|&byte| byte == b',').filter(|flag| !flag.is_empty()).peekable();
        let Some(first) = flags.peek().copied() else {
            return Err(say!("Empty argument to the -D option.", TRY).into());
        };
        for flag in flags {
            if !DEBUG_FLAGS.contains(&flag) {
                // The first one is named, whichever it was: GNU find's own slip.
                let first = self.quoted(first);
                self.warnings.push(say!("Ignoring unrecognised debug flag ", first));
            }
        }
        Ok(())
    }
}

/// `-O3`: the order of tests is settled here without it.
pub(super) fn check_level(text: &[u8]) -> Result<(), Stop> {
    let Some(first) = text.first() else {
        return Err("The -O option must be immediately followed by a decimal integer".into());
    };
    if !first.is_ascii_digit() {
        return Err("Please specify a decimal number immediately after -O".into());
    }
    if !text.iter().all(u8::is_ascii_digit) {
        return Err(say!("Invalid optimisation level ", text).into());
    }
    let level = std::str::from_utf8(text).ok().and_then(|text| text.parse::<u64>().ok());
    match level {
        None => {
            Err(say!("Invalid optimisation level ", text, ": Numerical result out of range").into())
        }
        Some(65_536..) => Err(say!(
            "Optimisation level ",
            text,
            " is too high.  If you want to find files very quickly, consider using GNU locate."
        )
        .into()),
        Some(_) => Ok(()),
    }
}
