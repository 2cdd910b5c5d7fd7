//! Which starts need the same: those of one program with arguments of one shape. The shape keeps
//! options and words, and leaves out names of files and numbers, which change from run to run. A
//! script keeps its path, since it decides what is loaded more than its interpreter does.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Programs whose first argument that is a file is what they run.
const INTERPRETERS: [&str; 15] = [
    "python", "pypy", "node", "ruby", "perl", "bash", "dash", "sh", "zsh", "php", "lua", "Rscript",
    "julia", "deno", "java",
];
/// Arguments that a key looks at, and how long it may get; what follows does not tell starts apart.
const WORDS_MAX: usize = 64;
const BYTES_MAX: usize = 4096;

/// What tells kinds of starts apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    text: String,
    program: String,
}

impl Key {
    /// The key of a start of `program`, which is searched along PATH, with these arguments.
    #[must_use]
    pub fn new(program: &OsStr, arguments: &[OsString]) -> Self {
        // With its links: a Python environment is a link, and decides what is loaded.
        let path = found(program).unwrap_or_else(|| PathBuf::from(program));
        let name = path.file_name().unwrap_or(program).to_string_lossy().into_owned();
        let mut text = seekless_trace::escape_path(path.as_os_str().as_bytes());
        let mut script = interprets(&name);
        for argument in arguments.iter().take(WORDS_MAX) {
            let word = match argument.to_str() {
                Some(word) if script && !word.starts_with('-') && Path::new(word).is_file() => {
                    script = false;
                    Path::new(word).canonicalize().map_or_else(
                        |_| word.to_owned(),
                        |path| seekless_trace::escape_path(path.as_os_str().as_bytes()),
                    )
                }
                Some(word) => shape(word),
                None => "*".to_owned(),
            };
            let _ = write!(text, " {word}");
            if text.len() > BYTES_MAX {
                break;
            }
        }
        Self { text, program: name }
    }

    /// In words: the program's path and the shape of its arguments.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A name for a file: the program's, and a sum of the whole.
    #[must_use]
    pub fn name(&self) -> String {
        self.name_of(self.text.as_bytes())
    }

    /// A name for a file that is about something else, too.
    pub(crate) fn name_with(&self, more: &[u8]) -> String {
        self.name_of(&[self.text.as_bytes(), more].join(&0))
    }

    fn name_of(&self, bytes: &[u8]) -> String {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "+-_".contains(letter);
        let program: String = self.program.chars().filter(|it| plain(*it)).take(40).collect();
        format!("{program}-{:016x}", sum(bytes))
    }
}

/// FNV-1a, 64 bits. A name must stay the same from one version to the next.
fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn interprets(name: &str) -> bool {
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    INTERPRETERS.contains(&plain)
}

/// A word with what changes from run to run left out: `-o build/main.o` and `-o build/lib.o` are
/// alike, and so are `--seed=3` and `--seed=14`. Code, as of `-c`, counts as it is.
fn shape(word: &str) -> String {
    if word.contains(char::is_whitespace) {
        return word.to_owned();
    }
    if let (Some((option, value)), true) = (word.split_once('='), word.starts_with('-')) {
        return format!("{option}={}", shape(value));
    }
    let is_path = !word.starts_with('-') && word.contains('/');
    let name = word.rsplit('/').next().unwrap_or(word);
    match name.rsplit_once('.') {
        Some((stem, extension))
            if !word.starts_with('-')
                && !stem.is_empty()
                && !extension.is_empty()
                && !extension.starts_with(|letter: char| letter.is_ascii_digit()) =>
        {
            format!("*.{extension}")
        }
        _ if is_path => "*".to_owned(),
        _ => without_numbers(word),
    }
}

fn without_numbers(word: &str) -> String {
    let mut shape = String::new();
    for letter in word.chars() {
        match letter {
            '0'..='9' if shape.ends_with('#') => {}
            '0'..='9' => shape.push('#'),
            letter => shape.push(letter),
        }
    }
    shape
}

/// The absolute path of the file that a program's name stands for.
#[must_use]
pub(crate) fn found(program: &OsStr) -> Option<PathBuf> {
    let executes = |path: &PathBuf| {
        let found = std::fs::metadata(path);
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if program.as_bytes().contains(&b'/') {
        return std::path::absolute(program).ok().filter(executes);
    }
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(program));
    places.find(executes).and_then(|path| std::path::absolute(path).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(words: &[&str]) -> Key {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Key::new(&words[0], &words[1..])
    }

    #[test]
    fn names_of_files_and_numbers_do_not_tell_starts_apart_but_options_and_code_do() {
        let same = [
            (["cc", "-O2", "src/a.c"], ["cc", "-O3", "lib/b.c"]),
            (["sleep", "10", ""], ["sleep", "250", ""]),
            (["play", "--seed=3", "x"], ["play", "--seed=14", "x"]),
        ];
        for (one, other) in same {
            assert_eq!(key(&one), key(&other));
        }
        let different = [
            (["git", "status", ""], ["git", "log", ""]),
            (["python3", "-c", "import a"], ["python3", "-c", "import b"]),
            (["cc", "a.c", ""], ["cc", "a.o", ""]),
            (["python3", "-m", "venv"], ["python3", "-m", "pip"]),
        ];
        for (one, other) in different {
            assert_ne!(key(&one).name(), key(&other).name());
        }
    }

    #[test]
    fn scripts_are_told_apart_but_their_arguments_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let script = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "").unwrap();
            path.to_str().unwrap().to_owned()
        };
        let (one, other) = (script("one.py"), script("other.py"));
        assert_ne!(key(&["python3.11", &one]), key(&["python3.11", &other]));
        assert_eq!(key(&["python3", &one, &one]), key(&["python3", &one, &other]));
        assert_eq!(key(&["cat", &one]), key(&["cat", &other]));
    }

    #[test]
    fn a_name_is_a_plain_file_name_whatever_the_program_is_called() {
        let name = key(&["/no/such/we ird\u{e9}..prog", &"a b".repeat(10_000)]).name();
        assert!(name.starts_with("weirdprog-") && name.len() == 26, "{name}");
    }
}
