//! `seekless pack --update`: brings a pack up to date with its folder.

use super::{Args, report, warn};
use crate::interrupt;
use crate::output::{self, shown};
use anyhow::bail;
use seekless::device::units::{format_bytes, format_count};
use seekless::tools::pack::{Options, Part, Update, codec_of, update};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// Updates, and prints what that did.
pub(super) fn run(directory: &Path, archive: &Path, args: &Args) -> anyhow::Result<ExitCode> {
    if archive.as_os_str() == "-" {
        bail!("standard output holds no pack to update: name one with -o");
    }
    let codec = args.codec.map_or_else(|| codec_of(archive), Ok)?;
    let options = Options { codec, links: args.links_of(archive)?, ..args.options()? };
    let mut progress = output::progress("Updating");
    let updated = update(directory, archive, args.evidence(), &options, &mut progress);
    drop(progress);
    let Some(done) = interrupt::finished(updated)? else { return Ok(interrupt::exit_code()) };
    if let Some(summary) = &done.pack {
        warn(summary, args);
    }
    if let Some(why) = &done.prediction_fault {
        let what = if done.pack.is_some() { "was damaged and is left out" } else { "is damaged" };
        output::say(format_args!(
            "what the pack says of its program's loads {what} ({why}); pack again with --trace"
        ));
    }
    if args.json {
        output::json(&done)?;
    } else {
        output::text(&updated_words(archive, &done, args.verify))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn updated_words(archive: &Path, done: &Update, verified: bool) -> String {
    let part = |part: &Part| format!("{} ({})", format_count(part.files), format_bytes(part.bytes));
    let mut text = match &done.pack {
        Some(summary) => report(archive, summary),
        None if verified => {
            format!("{}: up to date and whole, left as it is\n", shown(archive))
        }
        None => format!("{}: up to date, left as it is\n", shown(archive)),
    };
    let _ = writeln!(
        text,
        "kept {}, rewritten {}, added {}, removed {}",
        part(&done.kept),
        part(&done.rewritten),
        part(&done.added),
        part(&done.removed)
    );
    if let Some(travelled) = &done.travelled {
        let _ = writeln!(
            text,
            "sent {}, {} of it read from the old pack first; {} copied where they lie",
            format_bytes(travelled.sent_bytes),
            format_bytes(travelled.read_bytes),
            format_bytes(travelled.copied_bytes)
        );
    }
    for name in &done.mended {
        let _ = writeln!(text, "  was damaged in the pack, and is packed again: {}", shown(name));
    }
    text
}
