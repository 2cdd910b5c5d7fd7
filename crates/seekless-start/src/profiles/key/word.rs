//! The part of an argument that distinguishes kinds of starts.

use seekless_trace::fnv_1a;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// In the place of what is likely to be new at each start.
pub(super) const NEW: &str = "*";

/// A longer word is no name that people gave.
const LETTERS_MAX: usize = 24;
/// `.py` and `.json` say what is done with a file.
const EXTENSION_MAX: usize = 5;
/// Short options in one word, as in `-xvf`. A longer one may be an option with its value.
const OPTIONS_MAX: usize = 3;

/// A word with what changes from start to start left out: `-o build/main.o` and `-o build/lib.o`
/// are alike, and so are `--seed=3` and `--seed=14`.
pub(super) fn shape(word: &str) -> String {
    let Some(option) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
        return value(word);
    };
    let is_name =
        |name: &str| name.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '-');
    match (option.strip_prefix('-'), option.split_once('=')) {
        (_, Some((name, of))) if is_name(name) => format!("-{name}={}", value(of)),
        (Some(name), _) if is_name(name) => word.to_owned(),
        (None, _) if option.len() <= OPTIONS_MAX && is_name(option) => word.to_owned(),
        _ => match option.char_indices().nth(1) {
            Some((at, _)) => format!("-{}{}", &option[..at], value(&option[at..])),
            None => format!("-{}", value(option)),
        },
    }
}

/// A fingerprint of a value that is likely to be the same at each such start.
fn value(word: &str) -> String {
    if word.contains(char::is_whitespace) {
        return fingerprint(&steady_code(word));
    }
    let name = word.rsplit('/').next().unwrap_or(word);
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && is_extension(extension) => {
            format!("{NEW}.{extension}")
        }
        _ if is_plain(word) => fingerprint(word),
        _ => NEW.to_owned(),
    }
}

fn is_extension(text: &str) -> bool {
    let usual = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    text.len() <= EXTENSION_MAX
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.chars().all(usual)
}

/// Whether people may have given this name: letters in regular case, joined by marks.
fn is_plain(word: &str) -> bool {
    let marks = ['-', '_', '.', ':', '+', ',', '@'];
    let mut parts = word.split(marks);
    (1..=LETTERS_MAX).contains(&word.len()) && parts.all(is_regular)
}

/// All small, all large, or words that begin with a large letter each: `DataLoader`.
fn is_regular(part: &str) -> bool {
    let letters: Vec<char> = part.chars().collect();
    let alone = |at: usize| {
        let small = |at: usize| letters.get(at).is_some_and(|letter| letter.is_lowercase());
        letters[at].is_uppercase() && !small(at + 1)
    };
    letters.iter().all(|letter| letter.is_alphabetic())
        && (letters.iter().all(|letter| letter.is_uppercase()) || !(0..letters.len()).any(alone))
}

/// Code, as of `sh -c`, without paths, numbers and irregular words.
fn steady_code(code: &str) -> String {
    let of_word = |letter: char| letter.is_alphanumeric() || "_./+=~-".contains(letter);
    let mut steady = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter| of_word(letter) != of_word(first)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        steady += match of_word(first) {
            true if !run.split(|letter: char| !letter.is_alphanumeric()).all(is_regular) => NEW,
            true if run.contains('/') => NEW,
            _ => run,
        };
        rest = after;
    }
    steady
}

/// A path without the folders and names that are temporary.
pub(super) fn steady_path(path: &Path) -> String {
    let escaped = seekless_trace::escape_path(path.as_os_str().as_bytes());
    let is_temporary = ["/tmp/", "/var/tmp/", "/dev/shm/"].iter().any(|at| escaped.starts_with(at))
        || path.starts_with(std::env::temp_dir());
    if !is_temporary {
        return escaped;
    }
    let steady = |part| match is_plain(part) || part.is_empty() {
        true => part,
        false => NEW,
    };
    escaped.split('/').map(steady).collect::<Vec<_>>().join("/")
}

fn fingerprint(word: &str) -> String {
    let sum = fnv_1a(word.as_bytes());
    let folded = (sum >> 48) ^ (sum >> 32) ^ (sum >> 16) ^ sum;
    format!("~{:04x}", folded & 0xffff)
}
