//! Finds the lines that match, and where they match. A sweep finds the parts of a text that can
//! hold a match, and the engines search those. A pattern that is a single fragment needs no engine
//! until a match must be shown.

use super::bracket::{Class, Item, Set};
use super::classes::Characters;
use super::engines::{Bounds, Engines, Patterns, line_around};
use super::fragment::{Fragment, fragments};
use super::input::{Notes, Unit, first_unit};
use super::perl::{Library, Spare, wrong};
use super::sweep::{Marks, find, sweep};
use super::syntax::{Ast, Rules, parse};
use super::text::{Text, heeds_nuls};
use super::words::{WORDS_MIN, word};
use super::{Locale, Options, Pattern, Syntax, near};
use std::collections::HashSet;
use std::ops::Range;

/// How many texts are not swept after a text in which most groups were marked.
const UNSWEPT: u32 = 16;
/// Texts from this size on are searched for NULs with the widest vectors.
const SMALL_BYTES: usize = 16 << 10;

/// Finds matching lines. The caller inverts the result for `-v`.
#[derive(Debug)]
pub(super) struct Matcher {
    /// Every match holds at least one of these. Empty if there are no such fragments.
    fragments: Vec<Fragment>,
    /// How many of the next texts are not swept.
    unswept: u32,
    engines: Option<Engines>,
    /// The pattern from which the engines are built when they are first needed. It is set for a
    /// pattern that is one fragment, which mostly needs no engine.
    literal: Option<(Ast, Characters)>,
    terminator: u8,
    /// No match can hold a NUL or depend on one beside it. So replacing NULs by line ends changes
    /// no match.
    blind_to_nul: bool,
    /// Why an engine gave up on a line; only the first reason is kept.
    failure: Option<String>,
}

/// Errors and warnings about the patterns, in GNU's words.
#[derive(Debug, Default)]
pub(super) struct Complaints {
    pub warnings: Vec<String>,
    pub errors: Vec<String>,
}

impl Matcher {
    /// Reads the patterns. If some are wrong, adds all their errors to `complaints` and returns
    /// `None`.
    pub(super) fn new(options: &Options, complaints: &mut Complaints) -> Option<Self> {
        let characters = Characters {
            locale: options.locale,
            ignore_case: options.ignore_case,
            terminator: options.terminator(),
        };
        let mut matcher = Matcher {
            fragments: Vec::new(),
            unswept: 0,
            engines: None,
            literal: None,
            terminator: characters.terminator,
            blind_to_nul: false,
            failure: None,
        };
        let built = match options.syntax {
            Syntax::Perl if !options.patterns.is_empty() => only_pattern(options)
                .ok_or_else(|| "the -P option only supports a single pattern".to_owned())
                .and_then(|pattern| Engines::perl(pattern, options))
                .map(Some),
            _ => {
                let patterns = read(options, characters, complaints)?;
                matcher.learn(options, characters, &patterns);
                match &matcher.literal {
                    Some(_) => Ok(None),
                    None => Engines::posix(options.into(), characters, patterns).map(Some),
                }
            }
        };
        match built {
            Ok(engines) => Some(Matcher { engines, ..matcher }),
            Err(error) => {
                complaints.errors.push(error);
                None
            }
        }
    }

    /// Derives from the expressions what saves the engines work.
    fn learn(&mut self, options: &Options, characters: Characters, patterns: &Patterns) {
        let bounded = options.line_regexp || options.word_regexp;
        let all = || patterns.plain.iter().chain(patterns.library.iter().map(|(ast, _)| ast));
        let blind = |word: &Vec<u8>| !word.contains(&0);
        self.blind_to_nul = all().all(is_blind) && patterns.words.iter().all(blind) && !bounded;
        if !patterns.words.is_empty() {
            return; // too many for fragments
        }
        self.fragments = fragments(all(), characters);
        self.fragments.iter_mut().for_each(|fragment| fragment.whole &= !bounded);
        if let ([only], [Fragment { whole: true, .. }], None) =
            (&patterns.plain[..], &self.fragments[..], &patterns.showing)
            && !patterns.spare.as_ref().is_some_and(|spare| spare.selects)
        {
            self.literal = Some((only.clone(), characters));
        }
    }

    /// Prepares a piece of a file for searching.
    pub(super) fn text<'t>(&mut self, options: &Options, bytes: &'t [u8]) -> Text<'t> {
        let (marks, has_nul) = self.look(bytes, heeds_nuls(options));
        Text::new(bytes, marks, has_nul)
    }

    /// Prepares a piece without replacing its NULs.
    pub(super) fn text_as_it_is<'t>(&mut self, bytes: &'t [u8]) -> Text<'t> {
        Text::new(bytes, self.look(bytes, false).0, false)
    }

    /// Marks where a fragment may begin. Also returns whether the piece holds a NUL, if `nuls` is
    /// set.
    fn look(&mut self, bytes: &[u8], nuls: bool) -> (Marks, bool) {
        let swept = if self.fragments.is_empty() || self.unswept > 0 {
            self.unswept = self.unswept.saturating_sub(1);
            (Marks::default(), nuls && has_nul(bytes))
        } else {
            sweep(bytes, &self.fragments, nuls)
        };
        match swept.0.are_dense() {
            true => {
                self.unswept = UNSWEPT;
                (Marks::default(), swept.1)
            }
            false => swept,
        }
    }

    /// The first matching line that starts at `from` or later, including its terminator. `from`
    /// must be the start of a line.
    pub(super) fn next_line(&mut self, text: &Text<'_>, mut from: usize) -> Option<Range<usize>> {
        let (bytes, terminator) = (&*text.bytes, self.terminator);
        match &self.fragments[..] {
            [fragment] if fragment.whole && text.marks.are_known() => {
                let mut at = from;
                loop {
                    let part = text.marks.next(at, bytes.len())?;
                    at = part.end;
                    if let Some(found) = find(bytes, fragment, part) {
                        return line_around(bytes, from, found, terminator);
                    }
                }
            }
            _ => {
                let engines =
                    Self::engines(&mut self.engines, &mut self.literal, &mut self.failure)?;
                while let Some(part) = text.marks.next(from, bytes.len()) {
                    let lines = lines_of(bytes, from, part, terminator);
                    from = lines.end;
                    let found = engines.line(bytes, lines, terminator, &mut self.failure);
                    if found.is_some() {
                        return found;
                    }
                }
                None
            }
        }
    }

    /// The leftmost-longest match in a line that begins at `from` or later. The line comes without
    /// its terminator.
    pub(super) fn span(&mut self, line: &[u8], from: usize) -> Option<Range<usize>> {
        let engines = Self::engines(&mut self.engines, &mut self.literal, &mut self.failure)?;
        engines.span(line, from, &mut self.failure)
    }

    /// The engines, which are built at the first call.
    fn engines<'e>(
        made: &'e mut Option<Engines>,
        literal: &mut Option<(Ast, Characters)>,
        failure: &mut Option<String>,
    ) -> Option<&'e mut Engines> {
        if let Some((ast, characters)) = literal.take() {
            match Engines::posix(Bounds::default(), characters, Patterns::of(ast)) {
                Ok(engines) => *made = Some(engines),
                Err(error) => *failure = failure.take().or(Some(error)),
            }
        }
        made.as_mut()
    }

    /// Whether replacing NULs by line ends cannot change any match.
    pub(super) fn is_blind_to_nul(&self) -> bool {
        self.blind_to_nul
    }

    /// Takes the reason why an engine gave up on a line, if one did.
    pub(super) fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }
}

/// Whether the bytes hold a NUL. Asks what the processor supports only if the text is long.
fn has_nul(bytes: &[u8]) -> bool {
    if bytes.len() < SMALL_BYTES { bytes.contains(&0) } else { memchr::memchr(0, bytes).is_some() }
}

/// The whole lines, from `from` on, that overlap a part of the text.
fn lines_of(text: &[u8], from: usize, part: Range<usize>, terminator: u8) -> Range<usize> {
    let start =
        near::last(terminator, &text[from..part.start]).map_or(from, |before| from + before + 1);
    let last = part.end - 1;
    let end = near::first(terminator, &text[last..]).map_or(text.len(), |behind| last + behind + 1);
    start..end
}

/// Whether an expression holds only letters. Then its matches depend neither on line ends nor on
/// NULs.
fn is_blind(ast: &Ast) -> bool {
    match ast {
        Ast::Char(character) => *character != '\0',
        Ast::Group(_, inner) => is_blind(inner),
        Ast::Concat(parts) | Ast::Either(parts) => parts.iter().all(is_blind),
        Ast::Set(Set { negated: false, items }) => items.iter().all(|item| match item {
            Item::Chars(first, _) => *first != '\0',
            Item::Class(class) => *class != Class::Cntrl,
            Item::Word => true,
            Item::Folded(..) | Item::Bytes(..) => false,
        }),
        Ast::Repeat(inner, low, _) => *low > 0 && is_blind(inner),
        _ => false,
    }
}

/// Reads the patterns. Errors of all patterns are reported before any warning. Repeated patterns
/// are skipped.
fn read(
    options: &Options,
    characters: Characters,
    complaints: &mut Complaints,
) -> Option<Patterns> {
    let mut patterns = Patterns::default();
    let (mut all, mut notes) = (Vec::new(), Notes::default());
    for (pattern, index, text) in unique(options) {
        if options.syntax == Syntax::Fixed {
            patterns.plain.push(fixed(text, characters.locale));
            continue;
        }
        match read_one(text, options, characters, &mut notes) {
            Ok(read) => all.push(read),
            Err(error) => complaints.errors.push(located(pattern, index, &error)),
        }
    }
    if complaints.errors.is_empty() {
        complaints.warnings = notes.warnings;
        complaints.errors.extend(notes.error);
    }
    patterns.take_words(characters);
    if complaints.errors.is_empty()
        && let Err(error) = patterns.share(all, options, characters)
    {
        complaints.errors.push(error);
    }
    complaints.errors.is_empty().then_some(patterns)
}

impl Patterns {
    /// Puts fixed words apart from the other patterns, if there are many.
    fn take_words(&mut self, characters: Characters) {
        self.words = split_words(&mut self.plain, |ast| ast, characters);
    }

    /// Gives each pattern to an engine. GNU asks glibc for expressions that its automaton leaves to
    /// it, and for the places of matches. For the places, it joins all patterns without
    /// back-references into one expression. This function uses glibc where it disagrees with the
    /// automaton.
    fn share(
        &mut self,
        all: Vec<Read<'_>>,
        options: &Options,
        characters: Characters,
    ) -> Result<(), String> {
        let library_decides = all.iter().any(|read| read.is_for_library);
        let (referring, mut other): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|read| read.refers_back);
        let differ = other.iter().any(|read| read.engines_differ);
        if !differ {
            self.words.extend(split_words(&mut other, |read| &read.ast, characters));
        }
        let shows = options.only_matching || options.colors.is_some();
        let text = || other.iter().map(|read| read.text).collect::<Vec<_>>().join(&b'\n');
        if differ && library_decides {
            let library = Library::new(&text(), options)?;
            let all = Ast::Either(other.into_iter().map(|read| read.ast).collect());
            self.library.push((all.superset(), library));
        } else {
            if differ && shows {
                self.showing = Some(Library::new(&text(), options)?);
            }
            // Beside a byte that is no character, glibc sees the Latin-1 letter of its number; and
            // to its period, a surrogate is a character.
            let edges = other.iter().any(|read| read.ast.has_word_edges());
            if options.locale == Locale::Utf8 && !other.is_empty() && (edges || shows) {
                self.spare = Some(Spare::new(text(), options, edges));
            }
            self.plain.extend(other.into_iter().map(|read| read.ast));
        }
        for Read { text, ast, .. } in referring {
            self.library.push((ast.superset(), Library::new(text, options)?));
        }
        Ok(())
    }
}

/// Removes the patterns that are words, and returns these; none if there are few.
fn split_words<P>(
    patterns: &mut Vec<P>,
    ast: impl Fn(&P) -> &Ast,
    characters: Characters,
) -> Vec<Vec<u8>> {
    if patterns.len() < WORDS_MIN {
        return Vec::new();
    }
    let mut words: Vec<_> = patterns.iter().map(|pattern| word(ast(pattern), characters)).collect();
    if words.iter().flatten().count() < WORDS_MIN {
        return Vec::new();
    }
    let mut is_word = words.iter().map(Option::is_some);
    patterns.retain(|_| is_word.next() == Some(false));
    words.drain(..).flatten().collect()
}

/// The distinct patterns in order, each with its line number in its text.
fn unique(options: &Options) -> impl Iterator<Item = (&Pattern, usize, &[u8])> {
    let mut seen = HashSet::new();
    options
        .patterns
        .iter()
        .flat_map(|pattern| {
            let lines = pattern.text.split(|&byte| byte == b'\n').enumerate();
            lines.map(move |(index, text)| (pattern, index, text))
        })
        .filter(move |(.., text)| seen.insert(*text))
}

/// A parsed pattern.
struct Read<'p> {
    text: &'p [u8],
    ast: Ast,
    refers_back: bool,
    engines_differ: bool,
    /// GNU grep's automaton leaves it to glibc.
    is_for_library: bool,
}

fn read_one<'p>(
    text: &'p [u8],
    options: &Options,
    characters: Characters,
    notes: &mut Notes,
) -> Result<Read<'p>, String> {
    let rules = Rules {
        extended: options.syntax == Syntax::Extended,
        ignore_case: options.ignore_case,
        locale: characters.locale,
    };
    (notes.doubtful, notes.engines_differ, notes.collates) = (false, false, false);
    let parsed = parse(text, rules, notes);
    let is_asked = parsed.is_err() || notes.doubtful || notes.engines_differ;
    if is_asked
        && !notes.too_big
        && let Some(error) = wrong(text, options)
    {
        return Err(error);
    }
    let (ast, refers_back) = parsed.unwrap_or_else(|error| {
        notes.error.get_or_insert(error);
        (Ast::Empty, false)
    });
    let wide = rules.locale == Locale::Utf8 && (ast.is_for_library() || options.word_regexp);
    let is_for_library = refers_back || notes.collates || wide;
    Ok(Read { text, ast, refers_back, engines_differ: notes.engines_differ, is_for_library })
}

/// The pattern of `-P`, which allows only one.
fn only_pattern(options: &Options) -> Option<&[u8]> {
    let mut patterns = unique(options).map(|(.., text)| text);
    patterns.next().filter(|_| patterns.next().is_none())
}

fn located(pattern: &Pattern, index: usize, error: &str) -> String {
    match &pattern.file {
        Some(file) => format!("{}:{}: {error}", String::from_utf8_lossy(file), index + 1),
        None => error.to_string(),
    }
}

fn fixed(mut text: &[u8], locale: Locale) -> Ast {
    let mut parts = Vec::new();
    while let Some((unit, bytes)) = first_unit(text, locale) {
        parts.push(match unit {
            Unit::Char(character) => Ast::Char(character),
            Unit::Byte(byte) => Ast::Byte(byte),
        });
        text = &text[bytes..];
    }
    Ast::Concat(parts)
}
