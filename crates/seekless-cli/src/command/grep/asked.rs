//! From options as they stand on the command line to what is searched for and where.

use crate::getopt::{Given, Parsed};
use seekless::device::units::{parse_bytes, parse_duration};
use seekless::gnu::grep::{
    BinaryFiles, Colors, Devices, Directories, Locale, Options, Pattern, Search, Syntax,
};
use seekless::sys::inherited::is_closed;
use seekless::sys::reason;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

/// A search and what else was asked for.
#[derive(Debug)]
pub(super) struct Asked {
    pub options: Options,
    pub search: Search,
    pub statistics: bool,
}

/// What is done instead of a search.
#[derive(Debug)]
pub(super) enum Wrong {
    /// The message after the program's name.
    Message(Vec<u8>),
    /// A word that an option does not take: the message, and how the program is used.
    Argument(Vec<u8>),
    /// A wrong option: likewise.
    Option(String),
    /// How the program is used.
    Usage,
    /// The version was asked for.
    Version,
    /// The help was asked for.
    Help,
}

/// What the options have asked for so far.
pub(super) struct Draft {
    pub options: Options,
    pub search: Search,
    pub statistics: bool,
    patterns_given: bool,
    pub after: Option<u64>,
    pub before: Option<u64>,
    pub around: Option<u64>,
    /// The digits of `-NUM`, and which word they stand in if the last option was one of them.
    digits: String,
    digits_at: Option<usize>,
    color: bool,
    pub max_count: i64,
    pub version: bool,
    pub help: bool,
    /// The language of patterns, once one is named.
    matcher: Option<&'static str>,
    read: Reads,
}

/// What an option does to the draft, as it is given on the command line.
pub(super) type Sets = fn(&mut Draft, &Given) -> Result<(), Wrong>;

/// What a file of patterns or globs holds.
pub(super) type Reads = fn(&OsStr) -> io::Result<Vec<u8>>;

/// Reads the options.
pub(super) fn asked(parsed: Parsed<Sets>, read: Reads) -> Result<Asked, Wrong> {
    let mut draft = Draft {
        options: Options { locale: locale(), ..Options::default() },
        search: Search::default(),
        statistics: false,
        patterns_given: false,
        after: None,
        before: None,
        around: None,
        digits: String::new(),
        digits_at: None,
        color: false,
        max_count: i64::MAX,
        version: false,
        help: false,
        matcher: None,
        read,
    };
    let mut operands = parsed.operands;
    for (sets, given) in &parsed.options {
        if !given.letter.is_some_and(|letter| letter.is_ascii_digit()) {
            draft.digits_at = None;
        }
        sets(&mut draft, given)?;
    }
    match (parsed.error, draft.version, draft.help) {
        (Some(error), ..) => return Err(Wrong::Option(error)),
        (None, true, _) => return Err(Wrong::Version),
        (None, false, true) => return Err(Wrong::Help),
        _ => {}
    }
    if !draft.patterns_given {
        if operands.is_empty() {
            return Err(Wrong::Usage);
        }
        draft.pattern(operands.remove(0).as_bytes(), None);
    }
    draft.search.operands = operands;
    draft.finish()
}

impl Draft {
    /// A digit of `-NUM`.
    pub(super) fn digit(&mut self, given: &Given) -> Result<(), Wrong> {
        if self.digits_at.replace(given.place) != Some(given.place) {
            self.digits.clear();
        }
        self.digits.extend(given.letter.map(char::from));
        self.around = Some(context(OsStr::new(&self.digits))?);
        Ok(())
    }

    pub(super) fn color(&mut self, given: &Given) -> Result<(), Wrong> {
        match color(given.value.as_deref().unwrap_or(OsStr::new("auto"))) {
            Some(color) => self.color = color,
            None => self.help = true,
        }
        Ok(())
    }

    pub(super) fn exclude_from(&mut self, given: &Given) -> Result<(), Wrong> {
        let text = (self.read)(given.text()).map_err(|error| named(given.text(), &error))?;
        let names = text.split(|&byte| byte == b'\n').filter(|name| !name.is_empty());
        names.for_each(|name| self.search.files.exclude(name));
        Ok(())
    }

    /// Names the language of patterns; only one can be named.
    pub(super) fn matcher(&mut self, name: &str) -> Result<(), Wrong> {
        const KNOWN: [(&str, Syntax); 4] = [
            ("grep", Syntax::Basic),
            ("egrep", Syntax::Extended),
            ("fgrep", Syntax::Fixed),
            ("perl", Syntax::Perl),
        ];
        let Some(&(name, syntax)) = KNOWN.iter().find(|(known, _)| *known == name) else {
            return Err(Wrong::Message(format!("invalid matcher {name}").into_bytes()));
        };
        if self.matcher.is_some_and(|before| before != name) {
            return Err(wrong(b"conflicting matchers specified"));
        }
        (self.matcher, self.options.syntax) = (Some(name), syntax);
        Ok(())
    }

    pub(super) fn pattern(&mut self, text: &[u8], file: Option<Vec<u8>>) {
        self.patterns_given = true;
        self.options.patterns.push(Pattern { text: text.to_vec(), file });
    }

    pub(super) fn pattern_file(&mut self, name: &OsStr) -> Result<(), Wrong> {
        let text = (self.read)(name).map_err(|error| named(name, &error))?;
        self.patterns_given = true;
        // An empty file holds no pattern, not an empty one.
        if !text.is_empty() {
            let text = text.strip_suffix(b"\n").unwrap_or(&text);
            self.pattern(text, Some(name.as_bytes().to_vec()));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Asked, Wrong> {
        let options = &mut self.options;
        if options.reach.is_bounded() && options.line_number && options.prints_lines() {
            return Err(wrong(
                b"--cached-only, --max-latency and --max-wait cannot number lines: that takes every \
                  byte before them; leave out -n",
            ));
        }
        // Of a negative count nothing is left after any line; but GNU looks whether something is
        // left only before lines that do not match.
        options.reads_in_vain = self.max_count < 0 && options.invert_match;
        options.max_count = match u64::try_from(self.max_count) {
            Ok(count) => Some(count).filter(|_| self.max_count != i64::MAX),
            Err(_) => options.invert_match.then_some(0),
        };
        options.context = self.after.or(self.before).or(self.around).is_some();
        options.after = self.after.or(self.around).unwrap_or(0);
        options.before = self.before.or(self.around).unwrap_or(0);
        if self.color {
            let [old, new] =
                ["GREP_COLOR", "GREP_COLORS"].map(|name| env::var(name).unwrap_or_default());
            let (colors, uses_old) = Colors::parse_with_old(&new, &old);
            options.old_color = uses_old.then_some(old);
            options.colors = Some(colors);
        }
        if options.prints_lines() && options.max_count != Some(1) {
            self.search.output = output_identity();
        }
        Ok(Asked { options: self.options, search: self.search, statistics: self.statistics })
    }
}

fn wrong(what: &[u8]) -> Wrong {
    Wrong::Message(what.to_vec())
}

fn named(name: &OsStr, error: &io::Error) -> Wrong {
    Wrong::Message([name.as_bytes(), b": ", reason(error).as_bytes()].concat())
}

/// Patterns take more memory than their text, so a longer file ends as one that memory cannot hold.
const PATTERNS_BYTES_MAX: u64 = 1 << 30;

/// All of a file of patterns.
pub(super) fn read(name: &OsStr) -> io::Result<Vec<u8>> {
    if name == "-" {
        // Not by std's own standard input, which takes a closed one for an empty one.
        return read_all(fs::File::from(io::stdin().as_fd().try_clone_to_owned()?));
    }
    read_all(fs::File::open(name)?)
}

fn read_all(file: impl Read) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    file.take(PATTERNS_BYTES_MAX + 1).read_to_end(&mut text)?;
    if text.len() as u64 > PATTERNS_BYTES_MAX {
        return Err(rustix::io::Errno::NOMEM.into());
    }
    Ok(text)
}

pub(super) fn max_count(text: &OsStr) -> Result<i64, Wrong> {
    number(text).ok_or_else(|| wrong(b"invalid max count"))
}

/// A number as GNU reads one, limited to the greatest; `None` if the text is not a number.
fn number(text: &OsStr) -> Option<i64> {
    let text = text.to_str()?.trim_start_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = digits.parse().unwrap_or(i64::MAX);
    Some(if negative { -value } else { value })
}

pub(super) fn context(text: &OsStr) -> Result<u64, Wrong> {
    match number(text).map(u64::try_from) {
        Some(Ok(lines)) => Ok(lines),
        _ => Err(Wrong::Message([text.as_bytes(), b": invalid context length argument"].concat())),
    }
}

pub(super) fn held(text: &OsStr) -> Result<u64, Wrong> {
    let words = text.to_string_lossy();
    parse_bytes(&words).map_err(|error| {
        wrong(format!("invalid argument '{words}' for '--hold': {error}").as_bytes())
    })
}

pub(super) fn duration(text: &OsStr, option: &str) -> Result<Duration, Wrong> {
    let words = text.to_string_lossy();
    parse_duration(&words).map(Duration::from_nanos).map_err(|error| {
        wrong(format!("invalid argument '{words}' for '{option}': {error}").as_bytes())
    })
}

fn color(when: &OsStr) -> Option<bool> {
    match &when.as_bytes().to_ascii_lowercase()[..] {
        b"always" | b"yes" | b"force" => Some(true),
        b"never" | b"no" | b"none" => Some(false),
        b"auto" | b"tty" | b"if-tty" => {
            let dumb = env::var_os("TERM").is_none_or(|terminal| terminal == "dumb");
            Some(io::stdout().is_terminal() && !dumb)
        }
        _ => None,
    }
}

pub(super) fn binary_files(kind: &OsStr) -> Result<BinaryFiles, Wrong> {
    match kind.as_bytes() {
        b"binary" => Ok(BinaryFiles::Binary),
        b"text" => Ok(BinaryFiles::Text),
        b"without-match" => Ok(BinaryFiles::WithoutMatch),
        _ => Err(wrong(b"unknown binary-files type")),
    }
}

pub(super) fn directories(action: &OsStr, locale: Locale) -> Result<Directories, Wrong> {
    const KNOWN: [(&str, Directories); 3] = [
        ("read", Directories::Read),
        ("recurse", Directories::Recurse),
        ("skip", Directories::Skip),
    ];
    let word = action.to_string_lossy();
    let exact = KNOWN.iter().find(|(name, _)| *name == word);
    let mut fitting = KNOWN.iter().filter(|(name, _)| name.starts_with(&*word));
    match (exact, fitting.next(), fitting.next()) {
        (Some((_, directories)), ..) | (None, Some((_, directories)), None) => Ok(*directories),
        (_, first, _) => {
            let what = if first.is_some() { "ambiguous" } else { "invalid" };
            let quoted = |word: &str| match locale {
                Locale::C => format!("'{word}'"),
                Locale::Utf8 => format!("\u{2018}{word}\u{2019}"),
            };
            let names: String =
                KNOWN.iter().map(|(name, _)| format!("\n  - {}", quoted(name))).collect();
            let (word, option) = (quoted(&word), quoted("--directories"));
            let message =
                format!("{what} argument {word} for {option}\nValid arguments are:{names}");
            Err(Wrong::Argument(message.into_bytes()))
        }
    }
}

pub(super) fn devices(action: &OsStr) -> Result<Devices, Wrong> {
    match action.as_bytes() {
        b"read" => Ok(Devices::Read),
        b"skip" => Ok(Devices::Skip),
        _ => Err(wrong(b"unknown devices method")),
    }
}

pub(super) fn without_slashes(name: &[u8]) -> &[u8] {
    let end =
        name.iter().rposition(|&byte| byte != b'/').map_or(name.len().min(1), |last| last + 1);
    &name[..end]
}

/// The locale of characters: UTF-8 if the environment names one that the system has.
fn locale() -> Locale {
    let name = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| env::var_os(name).filter(|value| !value.is_empty()));
    match name {
        None => Locale::C,
        Some(name) if name == "C" || name == "POSIX" => Locale::C,
        Some(_) => seekless::gnu::grep::locale_of_environment(),
    }
}

/// Where the output goes, if it is a file that grows by what is found.
fn output_identity() -> Option<(u64, u64)> {
    let data = stdout()?.metadata().ok()?;
    data.is_file().then(|| (data.dev(), data.ino()))
}

/// Whether the output is discarded (the null device).
pub(super) fn stdout_is_null() -> bool {
    let null = || fs::metadata("/dev/null").ok().map(|data| data.rdev());
    let data = stdout().and_then(|file| file.metadata().ok());
    data.is_some_and(|data| data.rdev() != 0 && Some(data.rdev()) == null())
        && !is_closed(rustix::stdio::raw_stdout())
}

fn stdout() -> Option<fs::File> {
    rustix::io::dup(rustix::stdio::stdout()).ok().map(fs::File::from)
}
