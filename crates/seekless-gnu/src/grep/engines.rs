//! The engines of a search: automata, the C library, PCRE2, and the rules for words (`-w`). They
//! find candidates in whole texts. If a candidate is uncertain, they then search its line.

use super::classes::{Characters, word};
use super::expression::{whole_line, whole_words};
use super::input::{Unit, first_unit};
use super::longest::{AUTOMATON_BYTES_MAX, Longest};
use super::perl::{Library, Spare, perl};
use super::syntax::Ast;
use super::words::Words as Many;
use super::{Locale, Options, near};
use crate::clib::perl::Perl;
use regex_automata::{Input, meta};
use regex_syntax::hir::{ClassUnicode, Hir};
use std::ops::Range;

/// How many bytes are first looked through when words and other patterns are sought together.
const STEP_BYTES: usize = 512;

/// The engines for patterns that are more than a fragment.
#[derive(Debug)]
pub(super) struct Engines {
    /// Finds all matching lines. Unless `exact` is set, it also finds lines that do not match. With
    /// `None`, every line is a candidate.
    candidates: Option<meta::Regex>,
    exact: bool,
    /// A line matches if one of these does.
    finders: Vec<Finder>,
    /// Finds the places of matches, if the finders do not.
    showing: Option<Finder>,
    /// Takes the automaton's place, the first, in a line that is not UTF-8.
    spare: Option<Substitute>,
    word: Option<Words>,
}

#[derive(Debug)]
enum Finder {
    Automaton {
        first: Box<meta::Regex>,
        expression: Hir,
        longest: Option<Box<Longest>>,
        literal: bool,
    },
    Library(Box<Library>),
    Perl(Perl),
    /// The last one, if there is one: `Engines::line` looks for it there.
    Many(Box<Many>),
}

/// Two finders; one is in use.
#[derive(Debug)]
struct Substitute {
    /// The one that is not in use.
    waiting: Waiting,
    /// Whether the spare one is in use.
    in_place: bool,
}

#[derive(Debug)]
enum Waiting {
    /// The spare one before its first use.
    Pattern(Spare),
    Finder(Box<Finder>),
}

/// All patterns, grouped by the engine that matches them.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    /// Fixed words, if there are many.
    pub words: Vec<Vec<u8>>,
    /// Patterns that automata match.
    pub plain: Vec<Ast>,
    /// Patterns that the C library matches, each with an expression that matches wherever the
    /// pattern does.
    pub library: Vec<(Ast, Library)>,
    /// The C library's expression for the places of matches, if it differs from the one that
    /// selects lines.
    pub showing: Option<Library>,
    /// The C library's expression for lines that are not UTF-8, if it differs there.
    pub spare: Option<Spare>,
}

impl Patterns {
    /// A single pattern for automata.
    pub(super) fn of(only: Ast) -> Self {
        Patterns { plain: vec![only], ..Patterns::default() }
    }
}

/// The characters of words, for `-w`.
#[derive(Debug)]
struct Words {
    locale: Locale,
    beyond_ascii: ClassUnicode,
}

impl Engines {
    pub(super) fn posix(
        bounds: Bounds,
        characters: Characters,
        patterns: Patterns,
    ) -> Result<Self, String> {
        let Patterns { words, plain, library, showing, spare } = patterns;
        let hirs = || plain.iter().map(|ast| characters.hir(ast)).collect::<Vec<_>>();
        let spare_selects = spare.as_ref().is_some_and(|spare| spare.selects);
        let whole = |hir: Hir| if bounds.line { whole_line(hir) } else { hir };
        // In the C locale, GNU's automaton knows word boundaries and accepts any match between
        // them.
        let knows_words = bounds.word && characters.locale == Locale::C && library.is_empty();
        let (mut finders, mut candidates) = (Vec::new(), None);
        if !plain.is_empty() {
            let hir = Hir::alternation(hirs());
            let (literal, expression) = (hir.properties().is_literal() && !bounds.line, whole(hir));
            let first = automaton(&expression, characters.terminator)?;
            // Clones share the compiled automaton.
            candidates =
                (library.is_empty() && !knows_words && !spare_selects).then(|| first.clone());
            let first = Box::new(first);
            finders.push(Finder::Automaton { first, expression, longest: None, literal });
        }
        if candidates.is_none() && !(plain.is_empty() && library.is_empty()) {
            let mut all = match spare_selects {
                true => plain.iter().map(|ast| characters.hir(&ast.superset())).collect(),
                false => hirs(),
            };
            all.extend(library.iter().map(|(ast, _)| characters.hir(ast)));
            let all = Hir::alternation(all);
            let superset = if knows_words { whole_words(all) } else { whole(all) };
            candidates = Some(automaton(&superset, characters.terminator)?);
        }
        let exact = library.is_empty() && (knows_words || !bounds.word) && !spare_selects;
        finders.extend(library.into_iter().map(|(_, engine)| Finder::Library(Box::new(engine))));
        if !words.is_empty() {
            let words = Many::new(words, characters, bounds.line)?;
            finders.push(Finder::Many(Box::new(words)));
        }
        let showing = showing.map(|engine| Finder::Library(Box::new(engine)));
        let spare =
            spare.map(|spare| Substitute { waiting: Waiting::Pattern(spare), in_place: false });
        let word = bounds.word.then(|| Words { locale: characters.locale, beyond_ascii: word() });
        Ok(Engines { candidates, exact, finders, showing, spare, word })
    }

    pub(super) fn perl(pattern: &[u8], options: &Options) -> Result<Self, String> {
        let finder = Finder::Perl(perl(pattern, options)?);
        Ok(Engines {
            candidates: None,
            exact: false,
            finders: vec![finder],
            showing: None,
            spare: None,
            word: None,
        })
    }

    /// The first matching line in `lines`.
    pub(super) fn line(
        &mut self,
        text: &[u8],
        lines: Range<usize>,
        terminator: u8,
        failure: &mut Option<String>,
    ) -> Option<Range<usize>> {
        let mut from = lines.start;
        while from < lines.end {
            let Near { place, exact } = self.near(text, from..lines.end, terminator)?;
            let line = line_around(text, from, place, terminator)?;
            if exact || self.matches(&text[line.start..trimmed(text, &line, terminator)], failure) {
                return Some(line);
            }
            from = line.end;
        }
        None
    }

    /// A place in the first of these lines that may match.
    fn near(&mut self, text: &[u8], lines: Range<usize>, terminator: u8) -> Option<Near> {
        let other = Candidates {
            automaton: self.candidates.as_ref(),
            // Perl's expressions have no automaton: every line may match.
            all: self.finders.len() > usize::from(self.has_words()),
            exact: self.exact,
        };
        let Some(Finder::Many(words)) = self.finders.last_mut() else {
            return other.near(text, lines);
        };
        let exact = self.word.is_none();
        // Both look through the same few lines before either goes on: else one that finds
        // something in each line would make the other look through all that follows, each time.
        let (mut start, mut step) = (lines.start, STEP_BYTES);
        while start < lines.end {
            let end = line_end(text, (start + step).min(lines.end) - 1, lines.end, terminator);
            let word = words.near(text, start..end, terminator);
            let end_here = word.map_or(end, |at| line_end(text, at, end, terminator));
            let found = other.near(text, start..end_here).map(|near| Near {
                exact: near.exact
                    || exact
                        && word.is_some_and(|at| {
                            near.place >= line_start(text, start, at, terminator)
                        }),
                ..near
            });
            if found.is_some() || word.is_some() {
                return found.or(word.map(|place| Near { place, exact }));
            }
            (start, step) = (end, step * 2);
        }
        None
    }

    fn has_words(&self) -> bool {
        matches!(self.finders.last(), Some(Finder::Many(_)))
    }

    /// Whether a candidate matches.
    fn matches(&mut self, line: &[u8], failure: &mut Option<String>) -> bool {
        self.choose(line, failure);
        best(&mut self.finders, self.word.as_ref(), line, 0, failure).is_some()
    }

    /// Puts the finder that a line needs into the first place: the spare one, if there is one and
    /// the line is not UTF-8.
    fn choose(&mut self, line: &[u8], failure: &mut Option<String>) {
        let Some(spare) = &mut self.spare else { return };
        let odd = std::str::from_utf8(line).is_err();
        if odd == spare.in_place {
            return;
        }
        if let Waiting::Pattern(pattern) = &spare.waiting {
            match pattern.compile() {
                Ok(engine) => {
                    spare.waiting = Waiting::Finder(Box::new(Finder::Library(Box::new(engine))))
                }
                Err(error) => *failure = failure.take().or(Some(error)),
            }
        }
        if let (Waiting::Finder(waiting), Some(first)) =
            (&mut spare.waiting, self.finders.first_mut())
        {
            std::mem::swap(&mut **waiting, first);
            spare.in_place = odd;
        }
    }

    /// The leftmost-longest match in a line that begins at `from` or later.
    pub(super) fn span(
        &mut self,
        line: &[u8],
        from: usize,
        failure: &mut Option<String>,
    ) -> Option<Range<usize>> {
        if from == 0 && self.showing.is_none() {
            self.choose(line, failure);
        }
        let finders = match &mut self.showing {
            Some(showing) => std::slice::from_mut(showing),
            None => &mut self.finders,
        };
        best(finders, self.word.as_ref(), line, from, failure)
    }
}

/// The lines that the engines besides the set of words may match.
struct Candidates<'e> {
    automaton: Option<&'e meta::Regex>,
    /// Without an automaton: whether it is all lines, or none.
    all: bool,
    exact: bool,
}

/// A place in a line that may match.
struct Near {
    place: usize,
    /// The line does match.
    exact: bool,
}

impl Candidates<'_> {
    fn near(&self, text: &[u8], lines: Range<usize>) -> Option<Near> {
        let place = match self.automaton {
            Some(automaton) => {
                let input = Input::new(text).range(lines).earliest(true);
                automaton.search_half(&input)?.offset()
            }
            None => self.all.then_some(lines.start)?,
        };
        Some(Near { place, exact: self.exact })
    }
}

/// The end of the line that holds `at`, with its terminator; `limit` at most.
fn line_end(text: &[u8], at: usize, limit: usize, terminator: u8) -> usize {
    near::first(terminator, &text[at..limit]).map_or(limit, |behind| at + behind + 1)
}

/// The start of the line that holds `at`; `from` at least.
fn line_start(text: &[u8], from: usize, at: usize, terminator: u8) -> usize {
    near::last(terminator, &text[from..at]).map_or(from, |before| from + before + 1)
}

fn best(
    finders: &mut [Finder],
    words: Option<&Words>,
    line: &[u8],
    from: usize,
    failure: &mut Option<String>,
) -> Option<Range<usize>> {
    let mut best: Option<Range<usize>> = None;
    for finder in finders {
        let found = match words {
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

/// What a match must fill: whole words or whole lines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounds {
    word: bool,
    line: bool,
}

impl From<&Options> for Bounds {
    fn from(options: &Options) -> Self {
        Bounds { word: options.word_regexp && !options.line_regexp, line: options.line_regexp }
    }
}

/// The line around a match that holds `near` or ends there. Returns `None` if that is after the
/// last line.
pub(super) fn line_around(
    text: &[u8],
    from: usize,
    near: usize,
    terminator: u8,
) -> Option<Range<usize>> {
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

fn automaton(expression: &Hir, terminator: u8) -> Result<meta::Regex, String> {
    let config = meta::Config::new()
        .utf8_empty(false)
        .line_terminator(terminator)
        .nfa_size_limit(Some(AUTOMATON_BYTES_MAX))
        .hybrid_cache_capacity(8 << 20)
        // Only one thread searches. Finding out how many could run would read files of the system.
        .pool_capacity(1)
        .which_captures(regex_automata::nfa::thompson::WhichCaptures::Implicit);
    meta::Builder::new()
        .configure(config)
        .build_from_hir(expression)
        .map_err(|_| "Regular expression too big".to_string())
}

impl Finder {
    fn find(&mut self, line: &[u8], from: usize) -> Result<Option<Range<usize>>, String> {
        let Some(start) = self.start(line, from)? else { return Ok(None) };
        Ok(self.end(line, start.clone(), line.len())?.map(|end| start.start..end))
    }

    /// The first match from `from` on. Its start is right, but it may not be the longest.
    fn start(&mut self, line: &[u8], from: usize) -> Result<Option<Range<usize>>, String> {
        match self {
            Finder::Automaton { first, .. } => Ok(first
                .search(&Input::new(line).range(from..))
                .map(|found| found.start()..found.end())),
            Finder::Library(engine) => engine.find(line, from),
            Finder::Perl(engine) => engine.find(line, from),
            Finder::Many(words) => Ok(words.find(line, from)),
        }
    }

    /// The end of the longest match that begins at `found.start` and ends at `limit` or before.
    fn end(
        &mut self,
        line: &[u8],
        found: Range<usize>,
        limit: usize,
    ) -> Result<Option<usize>, String> {
        match self {
            Finder::Automaton { literal: true, .. } | Finder::Perl(_) => {
                Ok(Some(found.end).filter(|&end| end <= limit))
            }
            Finder::Automaton { first, expression, longest, .. } => {
                if longest.is_none() {
                    let terminator = first.get_config().get_line_terminator();
                    let built =
                        Longest::new(expression, terminator).map_err(|error| error.to_string())?;
                    *longest = Some(Box::new(built));
                }
                Ok(longest.as_mut().and_then(|longest| longest.end(line, found.start, limit)))
            }
            Finder::Library(engine) => engine.end(line, &found, limit),
            Finder::Many(words) => Ok(words.end(line, found, limit)),
        }
    }
}

impl Words {
    /// Searches for whole words as GNU does: tries shorter and shorter matches at the leftmost
    /// place, then moves on.
    fn find(
        &self,
        finder: &mut Finder,
        line: &[u8],
        from: usize,
    ) -> Result<Option<Range<usize>>, String> {
        let mut at = from;
        while let Some(found) = finder.start(line, at)? {
            let start = found.start;
            let mut longest = finder.end(line, found.clone(), line.len())?;
            while let Some(end) = longest {
                if !self.after(line, end) && !self.before(line, start) {
                    return Ok(Some(start..end));
                }
                // GNU has a bug here: it counts from the end of the previous match as if the line
                // began there. An empty match does not count as a shorter one.
                longest = match end.checked_sub(1 + from) {
                    Some(limit) if limit > start => finder.end(line, found.clone(), limit)?,
                    _ => None,
                };
                longest = longest.filter(|&end| end > start);
            }
            match first_unit(&line[start..], self.locale) {
                Some((_, bytes)) => at = start + bytes,
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

    fn is_word(&self, unit: Unit) -> bool {
        let Unit::Char(character) = unit else { return false };
        if character.is_ascii() {
            return character.is_ascii_alphanumeric() || character == '_';
        }
        let ranges = self.beyond_ascii.ranges();
        let place = ranges.partition_point(|range| range.end() < character);
        ranges.get(place).is_some_and(|range| range.start() <= character)
    }
}
