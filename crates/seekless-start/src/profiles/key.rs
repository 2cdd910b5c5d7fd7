//! Which starts need the same: those of one program with arguments of one shape. Options and plain
//! words count, since `git status` and `git log` need other files. What is likely to be new at each
//! start does not: names of files, and words with digits or of irregular case, such as numbers,
//! tokens and temporary names. A script keeps its path, since it decides what is loaded more than
//! its interpreter does.
//!
//! Arguments may be secrets. So of a word that counts, a key holds a fingerprint of 16 bits: enough
//! to distinguish starts, and too little to test a guess of a password by.

mod word;

use seekless_trace::fnv_1a;
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
/// Arguments that a key looks at, and how long it may get; further ones are ignored.
const WORDS_MAX: usize = 64;
const BYTES_MAX: usize = 4096;

/// What distinguishes kinds of starts.
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
        let mut text = word::steady_path(&path);
        let mut script = interprets(&name);
        for argument in arguments.iter().take(WORDS_MAX) {
            let word = match argument.to_str() {
                Some(word) if script && !word.starts_with('-') && Path::new(word).is_file() => {
                    script = false;
                    let path = Path::new(word).canonicalize();
                    word::steady_path(&path.unwrap_or_else(|_| PathBuf::from(word)))
                }
                Some(word) => word::shape(word),
                None => word::NEW.to_owned(),
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
        format!("{program}-{:016x}", fnv_1a(bytes))
    }
}

fn interprets(name: &str) -> bool {
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    INTERPRETERS.contains(&plain)
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
            (["app", "--token=hK3vx0Qz", "x"], ["app", "--token=7fjWq1aB", "x"]),
            (["app", "--token", "tmp.qWeRtYuIoP"], ["app", "--token", "tmp.AsdFGhjKLz"]),
            (["sh", "-c", "cat /tmp/tmp.a8"], ["sh", "-c", "cat /tmp/tmp.Xz"]),
            (["app", "out=/tmp/x.o", ""], ["app", "out=/run/a.o", ""]),
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
    fn a_key_holds_no_value_of_an_argument() {
        let secret =
            ["--password=Sesame", "-psesame", "sesame", "https://me:sesame@host/", "a sesame b"];
        for word in secret {
            let key = key(&["app", word]);
            assert!(!key.text().to_lowercase().contains("sesame"), "{}", key.text());
        }
        assert_eq!(
            key(&["/bin/app", "--color=always", "-xvf"]).text(),
            "/bin/app --color=~4ea8 -xvf"
        );
    }

    #[test]
    fn temporary_folders_of_scripts_do_not_count() {
        let folder = || tempfile::Builder::new().rand_bytes(12).tempdir_in("/tmp").unwrap();
        let started = |folder: &tempfile::TempDir| {
            let script = folder.path().join("job.sh");
            std::fs::write(&script, "").unwrap();
            key(&["bash", script.to_str().unwrap()])
        };
        assert_eq!(started(&folder()), started(&folder()));
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
