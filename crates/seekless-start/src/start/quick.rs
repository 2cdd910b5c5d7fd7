//! A start by the small program. What is started waits for this command, whose own files are cold
//! too: so a start with nothing to decide but what its profile's flat form says is made by few
//! pages of code, without Parquet, a recorder, packs and a parser of options.

use super::{Known, Options, Recording, Start, recording::Now};
use super::{packed, sample};
use crate::profiles::{self, Key, Learned, flat};
use rustix::fs::{MemfdFlags, SeekFrom, memfd_create, seek};
use seekless_device::{Costs, DeviceSpec};
use seekless_sys::replace;
use seekless_sys::signals::survive_file_size_limit;
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;

/// The verb of the whole command that adds what was learned to a profile. It reads the flat form
/// from its standard input.
pub const LEARN: &str = "__learn";

/// What `--mount` says to ask for a pack of the start's own.
pub const AUTO: &str = "auto";

/// What a start is asked to do, where it has no other option.
#[derive(Debug, PartialEq)]
struct Asked<'a> {
    profile: Option<&'a Path>,
    costs: Option<Costs>,
    records: bool,
    /// Whether files may be seen from the start's own pack.
    packs: bool,
    words: &'a [OsString],
}

/// Becomes the program that the words after `seekless` ask to run, if that is known to need no
/// help, or its profile says what help. Else it returns, and the whole command has to decide;
/// `whole` is its path.
pub fn become_known(words: &[OsString], whole: &Path) {
    let Some(asked) = asked(words) else { return };
    // A handler, which the program does not inherit.
    let _survive = survive_file_size_limit();
    let Some((program, arguments)) = asked.words.split_first() else { return };
    let key = Key::new(program, arguments);
    let own = || profiles::place(&key).ok();
    let Some(profile) = asked.profile.map(Path::to_owned).or_else(own) else { return };
    if asked.costs.is_none() && !asked.packs && sample::shows_no_need(&key, &profile) {
        let words: Option<Vec<CString>> =
            asked.words.iter().map(|word| CString::new(word.as_bytes()).ok()).collect();
        let _ = words.map(|words| replace::become_found(&words));
        return;
    }
    if profiles::found(program).is_none() || asked.packs && packed::has_unsaid(&profile) {
        return; // the whole command says so
    }
    let decided = catch_unwind(AssertUnwindSafe(|| decided(&asked, &profile)));
    if let Ok(Some(mut start)) = decided
        && start.lay_pack().is_ok()
    {
        // The whole command says why it cannot be executed.
        drop(start.become_program(|start, learned| hand_over(start, learned, whole)));
    }
}

/// A start that a flat form says all about.
fn decided(asked: &Asked<'_>, profile: &Path) -> Option<Start> {
    let known = Known::flat(profile)?;
    let options = Options {
        profile: asked.profile.map(Path::to_owned),
        costs: asked.costs,
        recording: if asked.records { Recording::Auto } else { Recording::Never },
        packs: asked.packs,
        expects: asked.packs && packed::may_be_used(profile),
        ..Options::default()
    };
    let mut start = Start::plain(asked.words).ok()?.decided(known, &options);
    if asked.packs {
        start.see_from_pack(&options);
    }
    start.notes = false; // of the whole command's pages, which are not touched
    let is_known = !start.packs && !matches!(start.recording, Now::Whole(_));
    is_known.then_some(start)
}

/// Becomes the whole command, which adds what was learned to the profile. There is no caller left
/// to learn of an error; the next start learns again.
fn hand_over(start: &Start, learned: Learned, whole: &Path) {
    let form = flat::encoded(&learned.added_to(None, start.key.text()));
    let given = || -> io::Result<File> {
        let mut file = File::from(memfd_create("learned", MemfdFlags::CLOEXEC)?);
        file.write_all(&form)?;
        seek(&file, SeekFrom::Start(0))?;
        Ok(file)
    };
    if let Ok(given) = given() {
        let _ = Command::new(whole).arg(LEARN).arg(&start.path).stdin(given).exec();
    }
}

/// What the words ask for, if they are `run` with no other option that matters here.
fn asked(words: &[OsString]) -> Option<Asked<'_>> {
    let mut rest = words.strip_prefix(&[OsString::from("run")][..])?;
    let (mut profile, mut costs, mut records, mut packs) = (None, None, true, false);
    loop {
        let (word, after) = rest.split_first()?;
        match word.to_str() {
            Some("--") => {
                rest = after;
                break;
            }
            Some("--no-record") => (records, rest) = (false, after),
            Some("--mount") => {
                let (what, after) = after.split_first()?;
                (packs, rest) = (what == AUTO, after);
                if !packs {
                    return None;
                }
            }
            Some("--profile") => {
                let (path, after) = after.split_first()?;
                (profile, rest) = (Some(Path::new(path)), after);
            }
            Some("--device") => {
                let (device, after) = after.split_first()?;
                // The whole command reads files, and says what is wrong.
                let device: DeviceSpec = device.to_str()?.parse().ok()?;
                (costs, rest) = (Some(device.costs()), after);
            }
            _ if word.as_bytes().starts_with(b"-") => return None,
            _ => break,
        }
    }
    (!rest.is_empty()).then_some(Asked { profile, costs, records, packs, words: rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn only_a_plain_run_is_quick() {
        let all = words("run --no-record --profile p -- cat -n");
        let (profile, costs) = (Some(Path::new("p")), None);
        assert_eq!(
            asked(&all),
            Some(Asked { profile, costs, records: false, packs: false, words: &all[5..] })
        );
        let all = words("run cat -- x");
        let plain = Asked { profile: None, costs, records: true, packs: false, words: &all[1..] };
        assert_eq!(asked(&all), Some(plain));
        let all = words("run --device iops=500,bandwidth=10MB cat");
        let costs = asked(&all).unwrap().costs.unwrap();
        assert_eq!((costs.request_ns, costs.bytes_per_second), (2_000_000, 10_000_000));
        assert!(asked(&words("run --mount auto -- cat")).unwrap().packs);
        for other in [
            "run --explain cat",
            "run --mount a.zip=a cat",
            "run -n cat",
            "run --",
            "run",
            "warm p",
            "run --profile",
            "run --device nonsense cat",
        ] {
            assert_eq!(asked(&words(other)), None, "{other}");
        }
    }
}
