//! The first step: a program of this machine, on its own disk.

use crate::advise::{Advice, quoted};
use seekless_device::units::{counted, format_bytes, format_duration};
use std::ffi::OsString;

/// Programs that machines have, and what they start: nothing is written, nothing printed. The first
/// that is here is taken.
const PROGRAMS: [&[&str]; 4] = [
    &["python3", "-c", "import json, http.client, email.message, unittest"],
    &["perl", "-MPOSIX", "-MData::Dumper", "-e", "1"],
    &["git", "check-ref-format", "heads/main"],
    &["sh", "-c", ":"],
];

/// A program of this machine with its arguments.
pub(super) fn program() -> Option<Vec<OsString>> {
    let folders: Vec<_> = std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect();
    let is_here = |name: &str| folders.iter().any(|folder| folder.join(name).is_file());
    let found = PROGRAMS.into_iter().find(|words| is_here(words[0]))?;
    Some(found.iter().map(OsString::from).collect())
}

/// The command that a user would type.
pub(super) fn command(words: &[OsString]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(&word.to_string_lossy())).collect();
    format!("seekless advise -- {}", words.join(" "))
}

/// What the start waits for, and what would help.
pub(super) fn found(advice: &Advice) -> String {
    let seconds = |value: f64| format_duration((1e9 * value.max(0.0)) as u64);
    let device = &advice.device;
    let on = if device.name.is_empty() { "this disk" } else { &device.name };
    let helps = match advice.measures.first() {
        None => "Nothing that Seekless does would make it noticeably faster here.".to_owned(),
        Some(best) => format!("It would take {} with: {}.", seconds(best.start_s), best.what),
    };
    format!(
        "A cold start takes {}, {} of it waiting for {} of {} on {on} ({} a request). {helps}",
        seconds(advice.starts.cold_median_s),
        seconds(advice.wait_s),
        format_bytes(advice.learned.needed_bytes),
        counted(advice.learned.files, "file"),
        format_duration(device.request_ns),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_where_there_is_a_shell_and_its_command_can_be_typed() {
        let words = program().expect("a shell at least");
        let known = PROGRAMS.iter().any(|program| words[0] == program[0]);
        assert!(known && words.len() > 1, "{words:?}");
        let words = ["sh", "-c", "echo 'a b'"].map(OsString::from);
        let command = command(&words);
        assert!(command.starts_with("seekless advise -- sh -c "), "{command}");
        assert!(command.contains("a b"), "{command}");
    }

    #[test]
    fn what_helps_is_said_and_that_nothing_does() {
        let advice = Advice::default();
        assert!(found(&advice).contains("Nothing that Seekless does"), "{}", found(&advice));
        assert!(found(&advice).contains(" on this disk ("), "{}", found(&advice));
    }
}
