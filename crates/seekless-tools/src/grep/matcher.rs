//! Which lines match and where: one search over whole chunks for candidates, and a closer look at a line where that is not enough.

use super::bracket::{Class, Item, Set};
use super::classes::{Characters, word};
use super::expression::whole_line;
use super::fragment::Fragment;
use super::longest::{AUTOMATON_BYTES_MAX, Longest};
use super::perl::{BackReferences, Perl};
use super::sweep::{Marks, find, sweep};
use super::syntax::{Ast, Notes, Rules, first_unit, parse};
use super::text::{Text, heeds_nuls};
use super::{Locale, Options, Pattern, Syntax, near};
use regex_automata::{Input, meta};
use regex_syntax::hir::{ClassUnicode, Hir};
use std::ops::Range;

/// Texts that are not swept after one that was marked all over.
const UNSWEPT: u32 = 16;
/// Longer texts without a fragment are looked through for NULs by the widest vectors.
const SMALL_BYTES: usize = 16 << 10;

/// Finds matching lines; inversion is the caller's.
#[derive(Debug)]
pub(super) struct Matcher {
    /// What every match holds: where it is not, nothing else need be looked for.
    fragment: Option<Fragment>,
    /// So many texts to come are not swept for it.
    unswept: u32,
    engines: Option<Engines>,
    /// What the engines are to be made of when they are wanted: a pattern that is one fragment mostly needs none.
    literal: Option<(Ast, Characters)>,
    terminator: u8,
    /// No match can hold a NUL or see one beside it, so that a NUL that ends a line changes no match.
    blind_to_nul: bool,
    /// An engine gave up on a line; the first reason is told once.
    failure: Option<String>,
}

/// What matches beyond fragments.
#[derive(Debug)]
struct Engines {
    /// Finds each line that matches, and lines that only may unless `exact`; `None`: any line may.
    candidates: Option<meta::Regex>,
    exact: bool,
    /// A line matches if one of these does.
    finders: Vec<Finder>,
    word: Option<Words>,
}

#[derive(Debug)]
enum Finder {
    Automaton { first: Box<meta::Regex>, expression: Hir, longest: Option<Box<Longest>>, literal: bool },
    BackReferences(Box<BackReferences>),
    Perl(Perl),
}

/// What a word is made of, for `-w`.
#[derive(Debug)]
struct Words {
    locale: Locale,
    beyond_ascii: ClassUnicode,
}

/// Why the patterns are refused, in GNU's words, and what else there is to say.
#[derive(Debug, Default)]
pub(super) struct Complaints {
    pub warnings: Vec<String>,
    pub errors: Vec<String>,
}

impl Matcher {
    /// Reads the patterns. Errors go to `complaints`, all of them, and then there is no matcher.
    pub(super) fn new(options: &Options, complaints: &mut Complaints) -> Option<Self> {
        let characters = Characters {
            locale: options.locale,
            ignore_case: options.ignore_case,
            terminator: options.terminator(),
        };
        let mut matcher = Matcher {
            fragment: None,
            unswept: 0,
            engines: None,
            literal: None,
            terminator: characters.terminator,
            blind_to_nul: false,
            failure: None,
        };
        let built = match options.syntax {
            Syntax::Perl => Engines::perl(options, characters).map(Some),
            _ => {
                let (plain, back) = read(options, characters, complaints)?;
                matcher.learn(options, characters, &plain, &back);
                match &matcher.literal {
                    Some(_) => Ok(None),
                    None => Engines::posix(options.into(), characters, &plain, &back).map(Some),
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

    /// Takes from the expressions what spares the engines work.
    fn learn(&mut self, options: &Options, characters: Characters, plain: &[Ast], back: &[Ast]) {
        let bounded = options.line_regexp || options.word_regexp;
        self.blind_to_nul = plain.iter().chain(back).all(is_blind) && !bounded;
        if let ([only], []) = (plain, back) {
            let Some(mut fragment) = Fragment::of(only, characters) else { return };
            fragment.whole &= !bounded;
            self.literal = fragment.whole.then(|| (only.clone(), characters));
            self.fragment = Some(fragment);
        }
    }

    /// Looks over a piece of a file before lines are asked for.
    pub(super) fn text<'t>(&mut self, options: &Options, bytes: &'t [u8]) -> Text<'t> {
        let (marks, has_nul) = self.look(bytes, heeds_nuls(options));
        Text::new(bytes, marks, has_nul)
    }

    /// The same without regard to NULs.
    pub(super) fn text_as_it_is<'t>(&mut self, bytes: &'t [u8]) -> Text<'t> {
        Text::new(bytes, self.look(bytes, false).0, false)
    }

    /// Where the fragment may lie, and whether there is a NUL, if `nuls` asks for it.
    fn look(&mut self, bytes: &[u8], nuls: bool) -> (Marks, bool) {
        let swept = match &self.fragment {
            Some(fragment) if self.unswept == 0 => sweep(bytes, fragment, nuls),
            _ => {
                self.unswept = self.unswept.saturating_sub(1);
                (Marks::default(), nuls && has_nul(bytes))
            }
        };
        match swept.0.are_dense() {
            true => {
                self.unswept = UNSWEPT;
                (Marks::default(), swept.1)
            }
            false => swept,
        }
    }

    /// The first matching line that starts at `from` or after, its terminator included. `from` starts a line.
    pub(super) fn next_line(&mut self, text: &Text<'_>, mut from: usize) -> Option<Range<usize>> {
        let (bytes, terminator) = (&*text.bytes, self.terminator);
        match &self.fragment {
            Some(fragment) if fragment.whole && text.marks.are_known() => {
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
                let engines = Self::engines(&mut self.engines, &mut self.literal, &mut self.failure)?;
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

    /// The first match in a line (without its terminator) that starts at `from` or after: of those the leftmost, the longest.
    pub(super) fn span(&mut self, line: &[u8], from: usize) -> Option<Range<usize>> {
        let engines = Self::engines(&mut self.engines, &mut self.literal, &mut self.failure)?;
        engines.span(line, from, &mut self.failure)
    }

    /// The engines, made if they are wanted for the first time.
    fn engines<'e>(
        made: &'e mut Option<Engines>,
        literal: &mut Option<(Ast, Characters)>,
        failure: &mut Option<String>,
    ) -> Option<&'e mut Engines> {
        if let Some((ast, characters)) = literal.take() {
            match Engines::posix(Bounds::default(), characters, &[ast], &[]) {
                Ok(engines) => *made = Some(engines),
                Err(error) => *failure = failure.take().or(Some(error)),
            }
        }
        made.as_mut()
    }

    /// A NUL that ends a line cannot change which parts of a text match.
    pub(super) fn is_blind_to_nul(&self) -> bool {
        self.blind_to_nul
    }

    /// Why an engine gave up on some line, told once.
    pub(super) fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }
}

impl Engines {
    fn posix(bounds: Bounds, characters: Characters, plain: &[Ast], back: &[Ast]) -> Result<Self, String> {
        let whole = |hir: Hir| if bounds.line { whole_line(hir) } else { hir };
        let (mut finders, mut candidates) = (Vec::new(), None);
        if !plain.is_empty() {
            let hir = Hir::alternation(plain.iter().map(|ast| characters.hir(ast)).collect());
            let (literal, expression) = (hir.properties().is_literal() && !bounds.line, whole(hir));
            let first = automaton(&expression, characters.terminator)?;
            // Clones share what was built.
            candidates = back.is_empty().then(|| first.clone());
            let first = Box::new(first);
            finders.push(Finder::Automaton { first, expression, longest: None, literal });
        }
        for ast in back {
            let engine = BackReferences::new(ast, characters, bounds.line)?;
            finders.push(Finder::BackReferences(Box::new(engine)));
        }
        if candidates.is_none() {
            let superset = plain.iter().chain(back).map(|ast| characters.hir(ast)).collect();
            candidates = Some(automaton(&whole(Hir::alternation(superset)), characters.terminator)?);
        }
        let exact = back.is_empty() && !bounds.word;
        let word = bounds.word.then(|| Words { locale: characters.locale, beyond_ascii: word() });
        Ok(Engines { candidates, exact, finders, word })
    }

    fn perl(options: &Options, characters: Characters) -> Result<Self, String> {
        let finder = perl(options, characters)?;
        Ok(Engines { candidates: None, exact: false, finders: vec![finder], word: None })
    }

    /// The first matching line of those in `lines`.
    fn line(
        &mut self,
        text: &[u8],
        lines: Range<usize>,
        terminator: u8,
        failure: &mut Option<String>,
    ) -> Option<Range<usize>> {
        let mut from = lines.start;
        while from < lines.end {
            let near = match &self.candidates {
                Some(candidates) => {
                    let input = Input::new(text).range(from..lines.end).earliest(true);
                    candidates.search_half(&input)?.offset()
                }
                None => from,
            };
            let line = line_around(text, from, near, terminator)?;
            if self.exact
                || self.span(&text[line.start..trimmed(text, &line, terminator)], 0, failure).is_some()
            {
                return Some(line);
            }
            from = line.end;
        }
        None
    }

    fn span(&mut self, line: &[u8], from: usize, failure: &mut Option<String>) -> Option<Range<usize>> {
        let mut best: Option<Range<usize>> = None;
        for finder in &mut self.finders {
            let found = match &self.word {
                Some(words) => words.find(finder, line, from),
                None => finder.find(line, from),
            };
            match found {
                Ok(Some(found)) => {
                    let better = best.as_ref().is_none_or(|best| {
                        found.start < best.start || (found.start == best.start && found.end > best.end)
                    });
                    best = if better { Some(found) } else { best };
                }
                Ok(None) => {}
                Err(error) => *failure = failure.take().or(Some(error)),
            }
        }
        best
    }
}

/// What a match has to fill.
#[derive(Clone, Copy, Debug, Default)]
struct Bounds {
    word: bool,
    line: bool,
}

impl From<&Options> for Bounds {
    fn from(options: &Options) -> Self {
        Bounds { word: options.word_regexp && !options.line_regexp, line: options.line_regexp }
    }
}

/// Whether there is a NUL, found without asking what the processor can do unless the text is long.
fn has_nul(bytes: &[u8]) -> bool {
    if bytes.len() < SMALL_BYTES { bytes.contains(&0) } else { memchr::memchr(0, bytes).is_some() }
}

/// The lines, from `from` on, that begin or end in a part of the text or hold it.
fn lines_of(text: &[u8], from: usize, part: Range<usize>, terminator: u8) -> Range<usize> {
    let start = near::last(terminator, &text[from..part.start]).map_or(from, |before| from + before + 1);
    let last = part.end - 1;
    let end = near::first(terminator, &text[last..]).map_or(text.len(), |behind| last + behind + 1);
    start..end
}

/// The line that a match which ends at `near` or holds it lies in; none if that is behind the last line.
fn line_around(text: &[u8], from: usize, near: usize, terminator: u8) -> Option<Range<usize>> {
    let start = near::last(terminator, &text[from..near]).map_or(from, |before| from + before + 1);
    if start >= text.len() {
        return None;
    }
    let end = near::first(terminator, &text[near..]).map_or(text.len(), |behind| near + behind + 1);
    Some(start..end)
}

/// The end of a line without its terminator.
fn trimmed(text: &[u8], line: &Range<usize>, terminator: u8) -> usize {
    line.end - usize::from(text[line.clone()].last() == Some(&terminator))
}

/// Only letters: nothing here sees where a line starts or ends, or takes a NUL for a character.
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

fn automaton(expression: &Hir, terminator: u8) -> Result<meta::Regex, String> {
    let config = meta::Config::new()
        .utf8_empty(false)
        .line_terminator(terminator)
        .nfa_size_limit(Some(AUTOMATON_BYTES_MAX))
        .hybrid_cache_capacity(8 << 20)
        // One thread searches; to ask how many could reads files of the system.
        .pool_capacity(1)
        .which_captures(regex_automata::nfa::thompson::WhichCaptures::Implicit);
    meta::Builder::new()
        .configure(config)
        .build_from_hir(expression)
        .map_err(|_| "Regular expression too big".to_string())
}

fn perl(options: &Options, characters: Characters) -> Result<Finder, String> {
    let mut patterns = options.patterns.iter().flat_map(|pattern| pattern.text.split(|&byte| byte == b'\n'));
    let (first, more) = (patterns.next().unwrap_or_default(), patterns.next());
    if more.is_some() || options.patterns.is_empty() {
        return Err("the -P option only supports a single pattern".into());
    }
    let text =
        std::str::from_utf8(first).map_err(|_| "the -P option takes a pattern in UTF-8 only".to_string())?;
    Perl::new(text, characters, options.word_regexp, options.line_regexp).map(Finder::Perl)
}

/// All patterns, those without back-references first.
fn read(
    options: &Options,
    characters: Characters,
    complaints: &mut Complaints,
) -> Option<(Vec<Ast>, Vec<Ast>)> {
    let (mut plain, mut back) = (Vec::new(), Vec::new());
    for pattern in &options.patterns {
        for (index, text) in pattern.text.split(|&byte| byte == b'\n').enumerate() {
            if options.syntax == Syntax::Fixed {
                plain.push(fixed(text, characters.locale));
                continue;
            }
            let mut notes = Notes::default();
            let rules = Rules {
                extended: options.syntax == Syntax::Extended,
                ignore_case: options.ignore_case,
                locale: characters.locale,
            };
            match parse(text, rules, &mut notes) {
                Ok(ast) if notes.has_back_references => back.push(ast),
                Ok(ast) => plain.push(ast),
                Err(error) => complaints.errors.push(located(pattern, index, &error)),
            }
            complaints.warnings.append(&mut notes.warnings);
        }
    }
    complaints.errors.is_empty().then_some((plain, back))
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
            super::syntax::Unit::Char(character) => Ast::Char(character),
            super::syntax::Unit::Byte(byte) => Ast::Byte(byte),
        });
        text = &text[bytes..];
    }
    Ast::Concat(parts)
}

impl Finder {
    fn find(&mut self, line: &[u8], from: usize) -> Result<Option<Range<usize>>, String> {
        let Some(start) = self.start(line, from)? else { return Ok(None) };
        Ok(self.end(line, start.clone(), line.len())?.map(|end| start.start..end))
    }

    /// The first match from `from` on: its start is right, its end may have to be found.
    fn start(&mut self, line: &[u8], from: usize) -> Result<Option<Range<usize>>, String> {
        match self {
            Finder::Automaton { first, .. } => {
                Ok(first.search(&Input::new(line).range(from..)).map(|found| found.start()..found.end()))
            }
            Finder::BackReferences(engine) => engine.start(line, from),
            Finder::Perl(engine) => engine.find(line, from),
        }
    }

    /// The end of the longest match that begins at `found.start` and ends at most at `limit`.
    fn end(&mut self, line: &[u8], found: Range<usize>, limit: usize) -> Result<Option<usize>, String> {
        match self {
            Finder::Automaton { literal: true, .. } | Finder::Perl(_) => {
                Ok(Some(found.end).filter(|&end| end <= limit))
            }
            Finder::Automaton { first, expression, longest, .. } => {
                if longest.is_none() {
                    let terminator = first.get_config().get_line_terminator();
                    let built = Longest::new(expression, terminator).map_err(|error| error.to_string())?;
                    *longest = Some(Box::new(built));
                }
                Ok(longest.as_mut().and_then(|longest| longest.end(line, found.start, limit)))
            }
            Finder::BackReferences(engine) => engine.end(line, &found, limit),
        }
    }
}

impl Words {
    /// As GNU does: of the matches at the leftmost place shorter and shorter ones, then further on.
    fn find(
        &self,
        finder: &mut Finder,
        line: &[u8],
        mut from: usize,
    ) -> Result<Option<Range<usize>>, String> {
        while let Some(found) = finder.start(line, from)? {
            let start = found.start;
            let mut limit = line.len();
            while let Some(end) = finder.end(line, found.clone(), limit)? {
                // A match that has become empty is no shorter match; in the C locale GNU's automaton takes it all the same.
                let became_empty = end == start && limit < line.len();
                if became_empty && self.locale == Locale::Utf8 {
                    break;
                }
                if !self.after(line, end) && !self.before(line, start) {
                    return Ok(Some(start..end));
                }
                if end <= start + 1 {
                    break;
                }
                limit = end - 1;
            }
            match first_unit(&line[start..], self.locale) {
                Some((_, bytes)) => from = start + bytes,
                None => break,
            }
        }
        Ok(None)
    }

    fn before(&self, line: &[u8], at: usize) -> bool {
        let mut start = at.saturating_sub(1);
        if self.locale == Locale::Utf8 {
            while start > 0 && at - start < 4 && line[start] & 0xc0 == 0x80 {
                start -= 1;
            }
        }
        first_unit(&line[start..at], self.locale)
            .is_some_and(|(unit, bytes)| start + bytes == at && self.is_word(unit))
    }

    fn after(&self, line: &[u8], at: usize) -> bool {
        first_unit(&line[at..], self.locale).is_some_and(|(unit, _)| self.is_word(unit))
    }

    fn is_word(&self, unit: super::syntax::Unit) -> bool {
        let super::syntax::Unit::Char(character) = unit else { return false };
        if character.is_ascii() {
            return character.is_ascii_alphanumeric() || character == '_';
        }
        let ranges = self.beyond_ascii.ranges();
        let place = ranges.partition_point(|range| range.end() < character);
        ranges.get(place).is_some_and(|range| range.start() <= character)
    }
}
