//! Advice on a program's files in words.

use super::super::words::{costs, image, page_cache, searches, seconds, would_not_help};
use super::cache;
use crate::output::{line, table};
use seekless::device::units::{counted, format_bytes, format_count};
use seekless::tools::advise::traced::Basis;
use seekless::tools::advise::traced::files::FilesAdvice;
use seekless::tools::advise::{Cause, Measure, Part, Source};
use std::fmt::Write as _;

/// Folders that are listed.
const FOLDERS: usize = 5;
/// Causes with a smaller share of the time in calls are not said.
const SHARE_SAID: f64 = 0.05;
/// Measures that are listed.
const MEASURES: usize = 5;

/// What a user reads.
pub(super) fn report(advice: &FilesAdvice, for_sim: &str) -> String {
    let found = heading(advice) + &sentence(advice) + &causes(advice) + &folders(advice);
    let files = found + &searches(&advice.searches) + &helps(advice);
    match &advice.page_cache {
        None => files,
        Some(cache) => {
            files
                + "\nThe page cache, as large as memory is free here:\n"
                + &cache::report(cache, for_sim)
        }
    }
}

fn heading(advice: &FilesAdvice) -> String {
    let device = &advice.device;
    let source = match device.source {
        Source::Assumed => format!("{} (assumed; --device gives yours)", line(&device.name)),
        _ => format!("{}: {}", line(&device.name), costs(device)),
    };
    let program = match advice.command.is_empty() {
        true => String::new(),
        false => format!("{}\n", line(&advice.command.join(" "))),
    };
    format!(
        "{program}{}: {}; on {source}\n\n",
        line(&advice.traces.join(" ")),
        counted(advice.runs, "run"),
    )
}

/// The answer.
pub(super) fn sentence(advice: &FilesAdvice) -> String {
    let (who, how) = match advice.basis {
        Basis::Traces => ("the newest run waits", "the trace: no program was run"),
        Basis::OneRun => ("it waits", "one recorded run: no cold start was measured"),
        Basis::Service => ("what it did takes", "what was recorded of it"),
    };
    let waits = seconds(advice.wait_s);
    let text = format!(
        "With nothing cached {who} {waits} for files. That is estimated from {how}.\n\
         It needs {} of {}. The device serves {} and {}.\n",
        format_bytes(advice.needed_bytes),
        counted(advice.needed_files, "file"),
        counted(advice.requests, "request"),
        format_bytes(advice.device_bytes),
    );
    text + &recorded(advice)
}

/// What was measured when it was recorded.
fn recorded(advice: &FilesAdvice) -> String {
    let Some(recorded) = &advice.recorded else { return String::new() };
    let Some((duration_s, in_calls_s)) = recorded.duration_s.zip(recorded.in_calls_s) else {
        return String::new();
    };
    let mut text = format!(
        "When it was recorded it took {}, {} of these in calls on files",
        seconds(duration_s),
        seconds(in_calls_s),
    );
    let worth = |part: &&Part| part.wait_s >= SHARE_SAID * in_calls_s;
    for (place, part) in recorded.parts.iter().filter(worth).enumerate() {
        let sign = if place == 0 { ": " } else { ", " };
        let _ = write!(text, "{sign}{} {}", seconds(part.wait_s), part.cause.words());
    }
    text + ".\n"
}

fn causes(advice: &FilesAdvice) -> String {
    let rows = advice.parts.iter().map(|part| {
        let what = match part.cause {
            Cause::Names | Cause::MissingNames => counted(part.calls, "request"),
            _ => format!("{}, {}", counted(part.calls, "request"), format_bytes(part.bytes)),
        };
        let share = 100.0 * part.wait_s / advice.wait_s.max(f64::MIN_POSITIVE);
        vec![part.cause.words().to_owned(), seconds(part.wait_s), format!("{share:.0} %"), what]
    });
    "\n".to_owned() + &table(&["where the wait goes", "wait", "share", "for"], rows.collect())
}

fn folders(advice: &FilesAdvice) -> String {
    let folders = advice.folders.iter().filter(|folder| folder.wait_s > 0.0).take(FOLDERS);
    let rows = folders.map(|folder| {
        vec![
            folder.path.clone(),
            seconds(folder.wait_s),
            format_count(folder.files),
            format_bytes(folder.needed_bytes),
        ]
    });
    "\n".to_owned() + &table(&["folder", "wait", "files", "needed"], rows.collect())
}

fn helps(advice: &FilesAdvice) -> String {
    let mut text = "\n".to_owned();
    let listed = listed(&advice.measures);
    let row = |it: &&Measure| {
        vec![it.what.clone(), seconds(it.wait_s), format!("±{}", seconds(it.error_s))]
    };
    if !listed.is_empty() {
        text += &table(&["what helps", "wait", "within"], listed.iter().map(row).collect());
        let made = if advice.held_out { "the other runs" } else { "this run" };
        let _ = writeln!(text, "Simulated; what helps was made from {made}.");
    }
    if !advice.useless.is_empty() && !listed.is_empty() {
        text.push('\n');
    }
    text += &would_not_help(&advice.useless, "wait");
    if advice.page_cache.is_none() {
        text += &page_cache(advice.needed_bytes, advice.memory_free_bytes);
    }
    let Some((best, others)) = listed.split_first() else {
        let none = "\nNothing helps: nothing saves 5 % of the time, or 20 ms.\n";
        return text + none + &image(advice.image.as_ref());
    };
    text += "\nDo this:\n";
    for command in &best.commands {
        let _ = writeln!(text, "  {}", line(command));
    }
    let mut said = vec![&best.commands];
    for other in others {
        if said.contains(&&other.commands) {
            continue;
        }
        said.push(&other.commands);
        let _ = writeln!(text, "Or, for a wait of {}:", seconds(other.wait_s));
        for command in &other.commands {
            let _ = writeln!(text, "  {}", line(command));
        }
    }
    text + &image(advice.image.as_ref())
}

/// The best measures. The one that brings files in, which takes the least work, is always one.
fn listed(measures: &[Measure]) -> Vec<&Measure> {
    let mut listed: Vec<&Measure> = measures.iter().take(MEASURES).collect();
    let brings_in = measures.iter().find(|it| it.brings_in());
    if let Some(it) = brings_in.filter(|it| !listed.contains(it)) {
        listed.pop();
        listed.push(it);
    }
    listed
}
