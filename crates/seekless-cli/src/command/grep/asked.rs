//! From options as they stand on the command line to what is searched for and where.

use super::known::Flag;
use crate::getopt::Parsed;
use seekless::device::units::parse_bytes;
use seekless::gnu::grep::{
    BinaryFiles, Colors, Devices, Directories, Listing, Locale, Options, Pattern, Search, Syntax,
};
use seekless::sys::reason;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

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

#[derive(Default)]
struct Draft {
    options: Options,
    search: Search,
    statistics: bool,
    patterns_given: bool,
    after: Option<u64>,
    before: Option<u64>,
    around: Option<u64>,
    /// The digits of `-NUM`, and which word they stand in if the last option was one of them.
    digits: String,
    digits_at: Option<usize>,
    color: bool,
    max_count: i64,
    version: bool,
    help: bool,
    /// The language of patterns, once one is named.
    matcher: Option<&'static str>,
}

/// Reads the options.
pub(super) fn asked(parsed: Parsed<Flag>) -> Result<Asked, Wrong> {
    let mut draft = Draft { max_count: i64::MAX, ..Draft::default() };
    draft.options.locale = locale();
    let mut operands = parsed.operands;
    for ((flag, value), place) in parsed.options.into_iter().zip(parsed.places) {
        draft.option(flag, value, place)?;
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
    fn option(&mut self, flag: Flag, value: Option<OsString>, place: usize) -> Result<(), Wrong> {
        let value =
            value.unwrap_or_else(|| if flag == Flag::Color { "auto".into() } else { OsString::new() });
        if let Flag::Digit(digit) = flag {
            if self.digits_at.replace(place) != Some(place) {
                self.digits.clear();
            }
            self.digits.push(char::from(digit));
            self.around = Some(context(OsStr::new(&self.digits))?);
            return Ok(());
        }
        self.digits_at = None;
        if self.matching(flag, &value)? || self.printing(flag, &value)? {
            return Ok(());
        }
        self.files(flag, &value)
    }

    /// Options about which lines.
    fn matching(&mut self, flag: Flag, value: &OsStr) -> Result<bool, Wrong> {
        let options = &mut self.options;
        match flag {
            Flag::Extended => self.matcher("egrep")?,
            Flag::Fixed => self.matcher("fgrep")?,
            Flag::Basic => self.matcher("grep")?,
            Flag::Perl => self.matcher("perl")?,
            Flag::Matcher => self.matcher(&value.to_string_lossy())?,
            Flag::Regexp => self.pattern(value.as_bytes(), None),
            Flag::File => self.pattern_file(value)?,
            Flag::IgnoreCase => options.ignore_case = true,
            Flag::NoIgnoreCase => options.ignore_case = false,
            Flag::Word => options.word_regexp = true,
            Flag::Line => options.line_regexp = true,
            Flag::NullData => options.null_data = true,
            Flag::Invert => options.invert_match = true,
            Flag::MaxCount => self.max_count = number(value).ok_or_else(|| wrong(b"invalid max count"))?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Options about what is printed.
    fn printing(&mut self, flag: Flag, value: &OsStr) -> Result<bool, Wrong> {
        let options = &mut self.options;
        match flag {
            Flag::NoMessages => options.no_messages = true,
            Flag::ByteOffset => options.byte_offset = true,
            Flag::LineNumber => options.line_number = true,
            Flag::LineBuffered => options.line_buffered = true,
            Flag::WithFilename => options.with_filename = Some(true),
            Flag::NoFilename => options.with_filename = Some(false),
            Flag::Label => options.label = value.as_bytes().to_vec(),
            Flag::OnlyMatching => options.only_matching = true,
            Flag::Quiet => options.quiet = true,
            Flag::Without => options.listing = Listing::NonMatching,
            Flag::With => options.listing = Listing::Matching,
            Flag::Count => options.count = true,
            Flag::Tab => options.initial_tab = true,
            Flag::Null => options.null_names = true,
            Flag::Before => self.before = Some(context(value)?),
            Flag::After => self.after = Some(context(value)?),
            Flag::Context => self.around = Some(context(value)?),
            Flag::GroupSeparator => options.group_separator = Some(value.as_bytes().to_vec()),
            Flag::NoGroupSeparator => options.group_separator = None,
            Flag::Color => match color(value) {
                Some(color) => self.color = color,
                None => self.help = true,
            },
            Flag::Version => self.version = true,
            Flag::Help => self.help = true,
            Flag::Statistics => self.statistics = true,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Options about which files.
    fn files(&mut self, flag: Flag, value: &OsStr) -> Result<(), Wrong> {
        let (options, search) = (&mut self.options, &mut self.search);
        match flag {
            Flag::Text => options.binary_files = BinaryFiles::Text,
            Flag::NoBinary => options.binary_files = BinaryFiles::WithoutMatch,
            Flag::BinaryFiles => options.binary_files = binary_files(value)?,
            Flag::Directories => search.directories = directories(value, options.locale)?,
            Flag::Devices => search.devices = devices(value)?,
            Flag::Recursive => search.directories = Directories::Recurse,
            Flag::Dereference => (search.directories, search.follow) = (Directories::Recurse, true),
            Flag::Include => search.files.include(value.as_bytes()),
            Flag::Exclude => search.files.exclude(value.as_bytes()),
            Flag::ExcludeDir => search.folders.exclude(without_slashes(value.as_bytes())),
            Flag::ExcludeFrom => {
                let text = read(value).map_err(|error| named(value, &error))?;
                let names = text.split(|&byte| byte == b'\n').filter(|name| !name.is_empty());
                names.for_each(|name| search.files.exclude(name));
            }
            Flag::Obsolete => eprintln!("grep: warning: --unix-byte-offsets (-u) is obsolete"),
            Flag::Linear => options.linear = true,
            Flag::CachedOnly => options.cached_only = true,
            Flag::Hold => options.hold_bytes = held(value)?,
            _ => {}
        }
        Ok(())
    }

    /// Names the language of patterns; only one can be named.
    fn matcher(&mut self, name: &str) -> Result<(), Wrong> {
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

    fn pattern(&mut self, text: &[u8], file: Option<Vec<u8>>) {
        self.patterns_given = true;
        self.options.patterns.push(Pattern { text: text.to_vec(), file });
    }

    fn pattern_file(&mut self, name: &OsStr) -> Result<(), Wrong> {
        let text = read(name).map_err(|error| named(name, &error))?;
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
        if options.cached_only && options.line_number && options.prints_lines() {
            return Err(wrong(
                b"--cached-only cannot number lines: that takes every byte before them; leave out -n",
            ));
        }
        // Of a negative count nothing is left after any line; but GNU looks whether something is left only before lines that do not
        // match.
        options.reads_in_vain = self.max_count < 0 && options.invert_match;
        options.max_count = match u64::try_from(self.max_count) {
            Ok(count) => Some(count).filter(|_| self.max_count != i64::MAX),
            Err(_) => options.invert_match.then_some(0),
        };
        options.context = self.after.or(self.before).or(self.around).is_some();
        options.after = self.after.or(self.around).unwrap_or(0);
        options.before = self.before.or(self.around).unwrap_or(0);
        if self.color {
            let [old, new] = ["GREP_COLOR", "GREP_COLORS"].map(|name| env::var(name).unwrap_or_default());
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

fn read(name: &OsStr) -> io::Result<Vec<u8>> {
    if name == "-" {
        let mut text = Vec::new();
        io::stdin().lock().read_to_end(&mut text)?;
        return Ok(text);
    }
    fs::read(name)
}

/// A number as GNU reads one, cut off at the greatest; `None` if it is none.
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

fn context(text: &OsStr) -> Result<u64, Wrong> {
    match number(text).map(u64::try_from) {
        Some(Ok(lines)) => Ok(lines),
        _ => Err(Wrong::Message([text.as_bytes(), b": invalid context length argument"].concat())),
    }
}

fn held(text: &OsStr) -> Result<u64, Wrong> {
    let words = text.to_string_lossy();
    parse_bytes(&words)
        .map_err(|error| wrong(format!("invalid argument '{words}' for '--hold': {error}").as_bytes()))
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

fn binary_files(kind: &OsStr) -> Result<BinaryFiles, Wrong> {
    match kind.as_bytes() {
        b"binary" => Ok(BinaryFiles::Binary),
        b"text" => Ok(BinaryFiles::Text),
        b"without-match" => Ok(BinaryFiles::WithoutMatch),
        _ => Err(wrong(b"unknown binary-files type")),
    }
}

fn directories(action: &OsStr, locale: Locale) -> Result<Directories, Wrong> {
    const KNOWN: [(&str, Directories); 3] =
        [("read", Directories::Read), ("recurse", Directories::Recurse), ("skip", Directories::Skip)];
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
            let names: String = KNOWN.iter().map(|(name, _)| format!("\n  - {}", quoted(name))).collect();
            let (word, option) = (quoted(&word), quoted("--directories"));
            let message = format!("{what} argument {word} for {option}\nValid arguments are:{names}");
            Err(Wrong::Argument(message.into_bytes()))
        }
    }
}

fn devices(action: &OsStr) -> Result<Devices, Wrong> {
    match action.as_bytes() {
        b"read" => Ok(Devices::Read),
        b"skip" => Ok(Devices::Skip),
        _ => Err(wrong(b"unknown devices method")),
    }
}

fn without_slashes(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|&byte| byte != b'/').map_or(name.len().min(1), |last| last + 1);
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

/// Whether nobody sees what is printed.
pub(super) fn stdout_is_null() -> bool {
    let null = || fs::metadata("/dev/null").ok().map(|data| data.rdev());
    let data = stdout().and_then(|file| file.metadata().ok());
    data.is_some_and(|data| data.rdev() != 0 && Some(data.rdev()) == null())
}

fn stdout() -> Option<fs::File> {
    rustix::io::dup(rustix::stdio::stdout()).ok().map(fs::File::from)
}
