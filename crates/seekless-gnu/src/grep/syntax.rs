//! Parses basic and extended expressions as GNU grep 3.8 does: POSIX with GNU's additions and
//! glibc's error messages.

use super::Locale;
use super::bracket::{Class, Item, Set, parse_bracket};
use super::input::{Input, Notes, Unit};
use super::interval::{Interval, interval};
use crate::deep::LEVELS_MAX;

/// The most elements of an expression after repetitions are written out, as glibc writes them out.
const ELEMENTS_MAX: u64 = 1 << 18;

/// GNU's message for an expression with more than [`LEVELS_MAX`] levels.
const TOO_DEEP: &str = "stack overflow";

/// The most levels that reading and compiling a pattern can take: each is a group, or the
/// repetition of what is repeated.
pub(super) fn levels(pattern: &[u8]) -> usize {
    let levels = |line: &[u8]| line.iter().filter(|byte| b"(*+?{".contains(byte)).count();
    pattern.split(|&byte| byte == b'\n').map(levels).max().unwrap_or(0)
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ast {
    Empty,
    Char(char),
    /// A byte of the pattern that is not part of a character.
    Byte(u8),
    Any,
    Set(Set),
    LineStart,
    LineEnd,
    WordStart,
    WordEnd,
    WordEdge,
    NotWordEdge,
    Group(u32, Box<Ast>),
    Back(u32),
    Repeat(Box<Ast>, u32, Option<u32>),
    Concat(Vec<Ast>),
    Either(Vec<Ast>),
}

impl Ast {
    /// Whether GNU grep's automaton leaves this to glibc in UTF-8. It does so for word boundaries,
    /// and for sets that are more than a few letters.
    pub(super) fn is_for_library(&self) -> bool {
        match self {
            Ast::WordStart | Ast::WordEnd | Ast::WordEdge | Ast::NotWordEdge => true,
            Ast::Set(Set { negated, items }) => {
                let simple = |item: &Item| match item {
                    Item::Chars(first, last) => {
                        first == last || (first.is_ascii_digit() && last.is_ascii_digit())
                    }
                    Item::Class(Class::Digit | Class::Xdigit) => true,
                    _ => false,
                };
                *negated || !items.iter().all(simple)
            }
            // An expression repeated zero times is ignored.
            Ast::Repeat(_, _, Some(0)) => false,
            Ast::Group(_, inner) | Ast::Repeat(inner, ..) => inner.is_for_library(),
            Ast::Concat(parts) | Ast::Either(parts) => parts.iter().any(Ast::is_for_library),
            _ => false,
        }
    }

    /// The expression by which GNU grep filters lines before it asks glibc. It replaces each part
    /// that the automaton cannot decide by one that matches anything. Without a plain character,
    /// the whole expression matches anything.
    pub(super) fn superset(&self) -> Ast {
        if self.has_plain() { self.loosened() } else { Ast::Back(0) }
    }

    /// Whether it holds the start, end or edge of a word, or the opposite.
    pub(super) fn has_word_edges(&self) -> bool {
        match self {
            Ast::WordStart | Ast::WordEnd | Ast::WordEdge | Ast::NotWordEdge => true,
            Ast::Group(_, inner) | Ast::Repeat(inner, ..) => inner.has_word_edges(),
            Ast::Concat(parts) | Ast::Either(parts) => parts.iter().any(Ast::has_word_edges),
            _ => false,
        }
    }

    fn has_plain(&self) -> bool {
        match self {
            Ast::Char(_) | Ast::Byte(_) => true,
            Ast::Set(_) => !self.is_for_library(),
            Ast::Repeat(_, _, Some(0)) => false,
            Ast::Group(_, inner) | Ast::Repeat(inner, ..) => inner.has_plain(),
            Ast::Concat(parts) | Ast::Either(parts) => parts.iter().any(Ast::has_plain),
            _ => false,
        }
    }

    fn loosened(&self) -> Ast {
        match self {
            Ast::WordStart | Ast::WordEnd | Ast::WordEdge | Ast::NotWordEdge => Ast::Empty,
            Ast::Any => Ast::Back(0),
            Ast::Set(_) if self.is_for_library() => Ast::Back(0),
            Ast::Group(number, inner) => Ast::Group(*number, Box::new(inner.loosened())),
            Ast::Repeat(inner, low, high) => Ast::Repeat(Box::new(inner.loosened()), *low, *high),
            Ast::Concat(parts) => Ast::Concat(parts.iter().map(Ast::loosened).collect()),
            Ast::Either(parts) => Ast::Either(parts.iter().map(Ast::loosened).collect()),
            other => other.clone(),
        }
    }

    /// How many elements it has when what is repeated is written out: `a+` is `aa*`.
    fn elements(&self) -> u64 {
        let sum = |parts: &[Ast]| parts.iter().map(Ast::elements).fold(1, u64::saturating_add);
        match self {
            Ast::Group(_, inner) => inner.elements().saturating_add(1),
            Ast::Repeat(inner, low, high) => {
                let times = high.unwrap_or(low + 1).max(1);
                inner.elements().saturating_mul(times.into())
            }
            Ast::Concat(parts) | Ast::Either(parts) => sum(parts),
            _ => 1,
        }
    }

    fn is_anchor(&self) -> bool {
        matches!(
            self,
            Ast::LineStart
                | Ast::LineEnd
                | Ast::WordStart
                | Ast::WordEnd
                | Ast::WordEdge
                | Ast::NotWordEdge
        )
    }
}

/// How to parse a pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub extended: bool,
    pub ignore_case: bool,
    pub locale: Locale,
}

/// Parses one pattern as GNU grep's automaton does. Also returns whether it holds a back-reference.
///
/// # Errors
///
/// The error in the pattern. If glibc finds an error too, GNU shows glibc's message.
pub(super) fn parse(
    pattern: &[u8],
    rules: Rules,
    notes: &mut Notes,
) -> Result<(Ast, bool), String> {
    let mut parser = Parser {
        input: Input::new(pattern, rules.locale),
        extended: rules.extended,
        ignore_case: rules.ignore_case,
        groups: 0,
        closed: Vec::new(),
        depth: 0,
        repeated: 0,
        at_start: true,
        anchors: true,
        refers_back: false,
        notes,
    };
    let ast = parser.either()?;
    match parser.input.rest().is_empty() {
        true => Ok((ast, parser.refers_back)),
        false => Err("Unmatched ) or \\)".into()),
    }
}

struct Parser<'a, 'n> {
    input: Input<'a>,
    extended: bool,
    ignore_case: bool,
    groups: u32,
    closed: Vec<u32>,
    depth: usize,
    /// How often what is repeated already is repeated again, in the whole pattern.
    repeated: usize,
    /// Nothing before can be repeated: at the start, and after an opening parenthesis, a bar or an
    /// anchor.
    at_start: bool,
    /// In a basic expression, `^` would be an anchor here.
    anchors: bool,
    refers_back: bool,
    notes: &'n mut Notes,
}

impl Parser<'_, '_> {
    fn either(&mut self) -> Result<Ast, String> {
        let bar: &[u8] = if self.extended { b"|" } else { b"\\|" };
        // A branch may refer to groups that closed before all branches, and to its own.
        let (before, mut all) = (self.closed.clone(), Vec::new());
        let mut branches = Vec::new();
        loop {
            branches.push(self.branch()?);
            all.append(&mut self.closed);
            self.closed.clone_from(&before);
            if !self.input.eat(bar) {
                break;
            }
        }
        self.closed = all;
        Ok(if branches.len() == 1 { branches.swap_remove(0) } else { Ast::Either(branches) })
    }

    fn branch(&mut self) -> Result<Ast, String> {
        (self.at_start, self.anchors) = (true, true);
        let mut parts = Vec::new();
        while !self.at_branch_end() {
            let atom = self.atom()?;
            let repeated = self.repetitions(atom)?;
            parts.push(repeated);
        }
        Ok(match parts.len() {
            0 => Ast::Empty,
            1 => parts.swap_remove(0),
            _ => Ast::Concat(parts),
        })
    }

    fn at_branch_end(&self) -> bool {
        let rest = self.input.rest();
        match self.extended {
            true => rest.is_empty() || rest[0] == b'|' || (rest[0] == b')' && self.depth > 0),
            false => rest.is_empty() || rest.starts_with(b"\\|") || rest.starts_with(b"\\)"),
        }
    }

    fn atom(&mut self) -> Result<Ast, String> {
        if self.at_start
            && self.extended
            && let Some(empty) = self.leading_operator()?
        {
            return Ok(empty);
        }
        let anchors = std::mem::replace(&mut self.anchors, false);
        let Some(unit) = self.input.next() else { return Ok(Ast::Empty) };
        let Unit::Char(character) = unit else { return Ok(self.ordinary(unit)) };
        match character {
            '\\' => self.escape(),
            '[' => {
                self.at_start = false;
                self.bracket()
            }
            '.' => {
                self.at_start = false;
                Ok(Ast::Any)
            }
            '(' if self.extended => self.group(),
            '^' if self.extended || anchors => Ok(Ast::LineStart),
            '$' if self.extended || self.at_branch_end() => Ok(Ast::LineEnd),
            _ => Ok(self.ordinary(unit)),
        }
    }

    /// A set. One with a collating element is left to the C library, which knows the locale's; here
    /// it matches anything.
    fn bracket(&mut self) -> Result<Ast, String> {
        let collated = std::mem::replace(&mut self.notes.collates, false);
        let set = parse_bracket(&mut self.input, self.ignore_case, self.notes);
        let collates = self.notes.collates && self.input.locale() == Locale::Utf8;
        self.notes.collates |= collated;
        if collates {
            self.notes.doubtful = true;
            self.refers_back = true;
            return set.map(|_| Ast::Back(0));
        }
        Ok(Ast::Set(set?))
    }

    fn ordinary(&mut self, unit: Unit) -> Ast {
        self.at_start = false;
        match unit {
            Unit::Char(character) => Ast::Char(character),
            Unit::Byte(byte) => Ast::Byte(byte),
        }
    }

    /// Reads an operator with nothing before it. It repeats the empty expression, and GNU warns of
    /// it.
    fn leading_operator(&mut self) -> Result<Option<Ast>, String> {
        let rest = self.input.rest();
        let (what, length) = match rest.first() {
            Some(b'*') => ("*", 1),
            Some(b'+') => ("+", 1),
            Some(b'?') => ("?", 1),
            Some(b'{') => {
                self.notes.engines_differ = true;
                let Some(interval) = interval(rest, true) else { return Ok(None) };
                self.notes.warn("{...} at start of expression".into());
                self.input.skip(interval?.length);
                self.at_start = false;
                return Ok(Some(Ast::Empty));
            }
            _ => return Ok(None),
        };
        self.input.skip(length);
        self.notes.warn(format!("{what} at start of expression"));
        Ok(Some(Ast::Empty))
    }

    fn escape(&mut self) -> Result<Ast, String> {
        let Some(unit) = self.input.next() else { return Err("Trailing backslash".into()) };
        let Unit::Char(character) = unit else { return Ok(self.ordinary(unit)) };
        Ok(match character {
            '(' if !self.extended => return self.group(),
            '<' => Ast::WordStart,
            '>' => Ast::WordEnd,
            'b' => Ast::WordEdge,
            'B' => Ast::NotWordEdge,
            '`' => Ast::LineStart,
            '\'' => Ast::LineEnd,
            'w' | 'W' | 's' | 'S' => {
                self.at_start = false;
                Ast::Set(Set::escaped(character))
            }
            '1'..='9' => return self.back_reference(character as u32 - '0' as u32),
            _ => self.ordinary(unit),
        })
    }

    fn back_reference(&mut self, group: u32) -> Result<Ast, String> {
        if !self.closed.contains(&group) {
            return Err("Invalid back reference".into());
        }
        self.at_start = false;
        self.refers_back = true;
        Ok(Ast::Back(group))
    }

    fn group(&mut self) -> Result<Ast, String> {
        self.groups += 1;
        let number = self.groups;
        self.depth += 1;
        if self.depth > LEVELS_MAX {
            return Err(self.too_deep());
        }
        let inner = self.either()?;
        self.depth -= 1;
        let closing: &[u8] = if self.extended { b")" } else { b"\\)" };
        if !self.input.eat(closing) {
            return Err("Unmatched ( or \\(".into());
        }
        self.closed.push(number);
        (self.at_start, self.anchors) = (false, false);
        Ok(Ast::Group(number, Box::new(inner)))
    }

    fn too_deep(&mut self) -> String {
        self.notes.too_big = true;
        TOO_DEEP.to_owned()
    }

    fn repetitions(&mut self, mut atom: Ast) -> Result<Ast, String> {
        let mut times = 0;
        let (anchor, nothing) = (atom.is_anchor(), atom == Ast::Empty);
        // In a basic expression an anchor cannot be repeated: a star after it is an ordinary
        // character.
        while self.extended || !self.at_start {
            let braced = self.extended && self.input.rest().starts_with(b"{");
            self.notes.engines_differ |= braced && (anchor || nothing);
            let Some((operator, Interval { length, low, high })) = self.operator()? else { break };
            self.notes.engines_differ |= anchor;
            self.input.skip(length);
            self.at_start &= operator != "{...}";
            if (low, high) == (0, None) && matches!(atom, Ast::Repeat(_, 0, None)) {
                continue;
            }
            times += 1;
            self.repeated += usize::from(times > 1);
            if self.repeated > LEVELS_MAX {
                return Err(self.too_deep());
            }
            atom = Ast::Repeat(Box::new(atom), low, high);
            if high.unwrap_or(low + 1) > 1 && atom.elements() > ELEMENTS_MAX {
                self.notes.too_big = true;
                return Err("Regular expression too big".into());
            }
        }
        Ok(atom)
    }

    /// Reads the next operator of repetition and returns it with its name for warnings. Warns if
    /// there is nothing to repeat.
    fn operator(&mut self) -> Result<Option<(&'static str, Interval)>, String> {
        let rest = self.input.rest();
        let escaped = usize::from(!self.extended);
        let letter = match self.extended {
            true => rest.first(),
            false => rest.strip_prefix(b"\\").and_then(<[u8]>::first),
        };
        let times = |length, low, high| Ok(Interval { length, low, high });
        let (operator, interval) = match (rest.first(), letter) {
            (Some(b'*'), _) => ("*", times(1, 0, None)),
            (_, Some(b'+')) => ("+", times(1 + escaped, 1, None)),
            (_, Some(b'?')) => ("?", times(1 + escaped, 0, Some(1))),
            (_, Some(b'{')) => match interval(rest, self.extended) {
                Some(interval) => ("{...}", interval),
                None => {
                    // The brace is an ordinary character, unless glibc takes it for a malformed
                    // interval.
                    self.notes.doubtful = true;
                    return Ok(None);
                }
            },
            _ => return Ok(None),
        };
        if self.at_start {
            self.notes.warn(format!("{operator} at start of expression"));
        }
        interval.map(|interval| Some((operator, interval)))
    }
}
