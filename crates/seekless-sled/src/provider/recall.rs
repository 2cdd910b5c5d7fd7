//! Files in an archive, which are recalled when they are opened or read. `stat`, an extended
//! attribute or a command shows them. They are never opened to find out.

use super::claim::{Claim, Presence, Provider, Target};
use crate::{Confidence, Error, ErrorKind, Level, Position, RecallRule};
use seekless_device::Zone;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The most that is read of a command's output.
const OUTPUT_MAX: u64 = 64 << 10;
const XATTR_MAX: usize = 64 << 10;

/// Recognises archived files.
#[derive(Clone, Debug)]
pub struct Recall {
    /// How to recognise them.
    pub rule: RecallRule,
    /// The cost of a recall.
    pub archive: Zone,
}

impl Provider for Recall {
    fn name(&self) -> &'static str {
        "recall state"
    }

    fn claims(&self, target: &Target<'_>) -> Result<Vec<Claim>, Error> {
        if target.bytes == 0 || !self.is_archived(target)? {
            return Ok(Vec::new());
        }
        let presence = Presence::at(Level::Archive, &self.archive, Confidence::Exact);
        Ok(vec![Claim::now(0, target.bytes, presence)])
    }
}

impl Recall {
    fn is_archived(&self, target: &Target<'_>) -> Result<bool, Error> {
        if self.rule.never {
            return Ok(false);
        }
        if self.rule.zero_blocks && target.allocated_bytes == 0 {
            return Ok(true);
        }
        let Some(path) = target.path else { return Ok(false) };
        if let Some(name) = &self.rule.xattr
            && attribute(path, name)?
                .is_some_and(|state| contains(&state, self.rule.offline.as_bytes()))
        {
            return Ok(true);
        }
        match self.rule.command.is_empty() {
            true => Ok(false),
            false => Ok(contains(&self.printed(path)?, self.rule.offline.as_bytes())),
        }
    }

    /// Where the archive keeps a file; `None` if the rule or the file does not say.
    ///
    /// # Errors
    /// The attribute cannot be read, or holds no whole number.
    pub(crate) fn position(&self, target: &Target<'_>) -> Result<Option<Position>, Error> {
        let (Some(path), Some(name)) = (target.path, &self.rule.position) else { return Ok(None) };
        let fail = |name: &str, why: String| {
            let why = format!("extended attribute {name}: {why}");
            Error::new(ErrorKind::Position, why).of_file(path)
        };
        let text = |name: &str| {
            let value = attribute(path, name).map_err(|error| match error.io_error() {
                Some(system) => fail(name, system.to_string()),
                None => error,
            })?;
            Ok(value.map(|value| {
                String::from_utf8_lossy(&value).trim_matches(['\0', ' ', '\n']).to_owned()
            }))
        };
        let Some(value) = text(name)? else { return Ok(None) };
        let at = value.parse().map_err(|_| {
            fail(name, format!("{value:?} is no whole number, which a position must be"))
        })?;
        let volume = self.rule.volume.as_deref().map(text).transpose()?.flatten();
        Ok(Some(Position { volume: volume.unwrap_or_default(), at }))
    }

    /// The command's output about a file.
    fn printed(&self, path: &Path) -> Result<Vec<u8>, Error> {
        let fail = |why: String| {
            Error::new(ErrorKind::Remote, format!("{:?}: {why}", self.rule.command[0]))
        };
        let mut command = Command::new(&self.rule.command[0]);
        for word in &self.rule.command[1..] {
            match word.as_str() {
                "{}" => command.arg(path),
                word => command.arg(word),
            };
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| fail(error.to_string()))?;
        let output = output_of(&mut child, self.rule.patience());
        // The command is not awaited any longer.
        let _ = child.kill();
        let status = child.wait().map_err(|error| fail(error.to_string()))?;
        match output {
            None => Err(fail(format!("no answer within {:?}", self.rule.patience()))),
            Some(_) if !status.success() => Err(fail(format!("failed: {status}"))),
            Some(output) => Ok(output),
        }
    }
}

/// The output of a command; `None` if it does not end in time.
fn output_of(child: &mut Child, patience: Duration) -> Option<Vec<u8>> {
    let deadline = Instant::now() + patience;
    let stream = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    // A separate thread, which is never joined: a grandchild may hold the pipe open for ever.
    std::thread::spawn(move || {
        let mut output = Vec::new();
        let read = stream.take(OUTPUT_MAX).read_to_end(&mut output);
        let _ = sender.send(read.map(|_| output));
    });
    let output = receiver.recv_timeout(patience).ok()?.ok()?;
    while child.try_wait().ok()?.is_none() {
        if Instant::now() >= deadline {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Some(output)
}

/// The value of an extended attribute; `None` if the file does not have it.
fn attribute(path: &Path, name: &str) -> Result<Option<Vec<u8>>, Error> {
    use rustix::io::Errno;
    let mut value = vec![0; XATTR_MAX];
    match rustix::fs::getxattr(path, name, value.as_mut_slice()) {
        Ok(length) => {
            value.truncate(length);
            Ok(Some(value))
        }
        Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(None),
        Err(error) => Err(Error::io(path, error.into())),
    }
}

/// Whether the text contains the word. Every text contains the empty word.
fn contains(text: &[u8], word: &[u8]) -> bool {
    word.is_empty() || text.windows(word.len()).any(|window| window == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(rule: RecallRule, path: &Path, allocated_bytes: u64) -> Result<bool, Error> {
        let archive =
            Zone { from_byte: 0, latency_ns: 1, latency_p90_ns: None, bytes_per_second: 1 };
        let target = Target { file: None, path: Some(path), bytes: 10, allocated_bytes };
        Recall { rule, archive }.claims(&target).map(|ranges| !ranges.is_empty())
    }

    fn command(words: &[&str], offline: &str) -> RecallRule {
        let command = words.iter().map(ToString::to_string).collect();
        RecallRule { command, offline: offline.to_owned(), ..RecallRule::default() }
    }

    #[test]
    fn a_size_without_blocks_is_a_stub_where_the_user_says_so() {
        let path = Path::new("/nowhere");
        let zero_blocks = RecallRule { zero_blocks: true, ..RecallRule::default() };
        assert!(ask(zero_blocks.clone(), path, 0).expect("an answer"));
        assert!(!ask(zero_blocks.clone(), path, 4096).expect("an answer"));
        assert!(!ask(RecallRule { never: true, ..zero_blocks }, path, 0).expect("an answer"));
        assert!(!ask(RecallRule::default(), path, 0).expect("an answer"));
    }

    #[test]
    fn a_command_tells_by_what_it_prints() {
        let path = Path::new("/some file");
        let echo = ["echo", "{}", "released"];
        assert!(ask(command(&echo, "/some file released"), path, 1).expect("an answer"));
        assert!(!ask(command(&echo, "archived"), path, 1).expect("an answer"));
    }

    #[test]
    fn a_command_that_fails_hangs_or_is_not_there_is_an_error_and_no_answer() {
        let path = Path::new("/x");
        assert!(ask(command(&["false"], ""), path, 1).is_err());
        assert!(ask(command(&["/nowhere/hsm_state", "{}"], ""), path, 1).is_err());
        let slow =
            RecallRule { timeout: Duration::from_millis(50), ..command(&["sleep", "60"], "") };
        let error = ask(slow, path, 1).expect_err("too slow");
        assert!(error.to_string().contains("no answer"), "{error}");
        let holds_the_pipe = RecallRule {
            timeout: Duration::from_millis(50),
            ..command(&["sh", "-c", "sleep 2 &"], "")
        };
        assert!(ask(holds_the_pipe, path, 1).is_err());
    }

    #[test]
    fn an_attribute_holds_the_position_and_one_without_a_number_is_named() {
        let file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).expect("a file");
        let set = |name: &str, value: &[u8]| {
            let flags = rustix::fs::XattrFlags::empty();
            rustix::fs::setxattr(file.path(), name, value, flags).is_ok()
        };
        if !set("user.volume", b"A00017L7") {
            eprintln!("skipped: no extended attributes here");
            return;
        }
        let rule = |position: Option<&str>, volume: Option<&str>| RecallRule {
            position: position.map(str::to_owned),
            volume: volume.map(str::to_owned),
            ..RecallRule::default()
        };
        let ask = |rule| {
            let archive =
                Zone { from_byte: 0, latency_ns: 1, latency_p90_ns: None, bytes_per_second: 1 };
            let path = Some(file.path());
            let target = Target { file: None, path, bytes: 10, allocated_bytes: 0 };
            Recall { rule, archive }.position(&target)
        };
        let at = |volume: &str| Some(Position { volume: volume.to_owned(), at: 1207 });
        let (position, volume) = (Some("user.position"), Some("user.volume"));
        assert_eq!(ask(rule(None, None)).expect("an answer"), None);
        assert_eq!(ask(rule(position, volume)).expect("an answer"), None, "it has no position");
        assert!(set("user.position", b"1207\n"));
        assert_eq!(ask(rule(position, None)).expect("an answer"), at(""));
        assert_eq!(ask(rule(position, volume)).expect("an answer"), at("A00017L7"));
        for wrong in ["12 07", "-1", "", "block 7"] {
            assert!(set("user.position", wrong.as_bytes()));
            let error = ask(rule(position, volume)).expect_err(wrong);
            assert_eq!(error.kind(), ErrorKind::Position);
            let file = file.path().display().to_string();
            for word in [&file, "user.position", &format!("{wrong:?}")] {
                assert!(error.to_string().contains(word), "{error}");
            }
        }
    }

    #[test]
    fn an_attribute_tells_by_its_value_or_by_being_there() {
        let file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).expect("a file");
        let set = rustix::fs::setxattr(
            file.path(),
            "user.hsm",
            b"released",
            rustix::fs::XattrFlags::empty(),
        );
        if set.is_err() {
            eprintln!("skipped: no extended attributes here");
            return;
        }
        let rule = |offline: &str| RecallRule {
            xattr: Some("user.hsm".to_owned()),
            offline: offline.to_owned(),
            ..RecallRule::default()
        };
        assert!(ask(rule("released"), file.path(), 1).expect("an answer"));
        assert!(ask(rule(""), file.path(), 1).expect("an answer"));
        assert!(!ask(rule("archived"), file.path(), 1).expect("an answer"));
        let other = RecallRule { xattr: Some("user.other".to_owned()), ..RecallRule::default() };
        assert!(!ask(other, file.path(), 1).expect("an answer"));
    }
}
