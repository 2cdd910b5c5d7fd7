//! Unreal Engine: `"PATH" NUMBER` a line, counted from 1, as `-fileopenlog` writes it
//! (`FPlatformFileOpenLog`) and `UnrealPak -order` reads it (`FPakOrderMap::ProcessOrderFile`).
//! Paths begin at the folder of the executable, three folders below the staged one.

use super::super::Listed;
use super::lines::{broken, not_text};
use std::io::{self, Write};

/// Quotes end a path, and cannot be escaped.
pub(in super::super) fn refuses(name: &[u8]) -> Option<&'static str> {
    let quoted = name.contains(&b'"').then_some("with a quote in the name");
    not_text(name).or_else(|| broken(name)).or(quoted)
}

pub(in super::super) fn write(listed: &[Listed], out: &mut dyn Write) -> io::Result<()> {
    (1..).zip(listed).try_for_each(|(number, file)| {
        out.write_all(b"\"../../../")?;
        out.write_all(&file.name)?;
        writeln!(out, "\" {number}")
    })
}
