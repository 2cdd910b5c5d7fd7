//! Parses bracket expressions such as `[a-z]`, `[^[:alpha:]_]`, `[[.-.]]` and `[[=e=]]`. Follows
//! glibc in locales without collation rules.

use super::Locale;
use super::fold::upper;
use super::input::{Input, Notes, Unit, first_unit};

/// A set of characters, independent of the locale.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct Set {
    pub negated: bool,
    pub items: Vec<Item>,
}

/// An element of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Item {
    Chars(char, char),
    /// All characters whose uppercase form lies in the range.
    Folded(char, char),
    Bytes(u8, u8),
    Class(Class),
    /// The characters of `\w`: letters, digits and the underscore.
    Word,
}

/// POSIX's character classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Class {
    Alpha,
    Digit,
    Alnum,
    Upper,
    Lower,
    Space,
    Blank,
    Punct,
    Print,
    Graph,
    Cntrl,
    Xdigit,
}

impl Set {
    /// The set of `\w`, `\W`, `\s` or `\S`.
    pub(super) fn escaped(letter: char) -> Set {
        let item =
            if letter.eq_ignore_ascii_case(&'w') { Item::Word } else { Item::Class(Class::Space) };
        Set { negated: letter.is_ascii_uppercase(), items: vec![item] }
    }
}

impl Class {
    fn named(name: &[u8]) -> Option<Class> {
        Some(match name {
            b"alpha" => Class::Alpha,
            b"digit" => Class::Digit,
            b"alnum" => Class::Alnum,
            b"upper" => Class::Upper,
            b"lower" => Class::Lower,
            b"space" => Class::Space,
            b"blank" => Class::Blank,
            b"punct" => Class::Punct,
            b"print" => Class::Print,
            b"graph" => Class::Graph,
            b"cntrl" => Class::Cntrl,
            b"xdigit" => Class::Xdigit,
            _ => return None,
        })
    }
}

const UNMATCHED: &str = "Unmatched [, [^, [:, [., or [=";

enum Element {
    One(Unit),
    Class(Class),
}

impl Element {
    fn is_ascii(&self) -> bool {
        matches!(self, Element::One(Unit::Char(character)) if character.is_ascii())
    }
}

/// Parses a bracket expression after its opening bracket, up to the closing one.
pub(super) fn parse_bracket(
    input: &mut Input<'_>,
    ignore_case: bool,
    notes: &mut Notes,
) -> Result<Set, String> {
    let mut set = Set { negated: input.eat(b"^"), items: Vec::new() };
    if input.rest().is_empty() {
        return Err("Invalid regular expression".into());
    }
    let body = input.rest();
    let mut simple = true;
    let mut first = true;
    loop {
        if !std::mem::take(&mut first) && input.eat(b"]") {
            break;
        }
        simple &= !matches!(input.rest(), [b'[', b':' | b'.' | b'=', ..]);
        notes.collates |= matches!(input.rest(), [b'[', b'.' | b'=', ..]);
        let element = element(input)?;
        let rest = input.rest();
        let ranged = rest.first() == Some(&b'-') && rest.get(1) != Some(&b']');
        if ranged && rest.len() == 1 {
            return Err(UNMATCHED.into());
        }
        if !ranged {
            set.items.push(single(&element));
            continue;
        }
        simple = false;
        input.skip(1);
        let last = self::element(input)?;
        // Without collation rules, glibc refuses some ranges of multibyte characters.
        notes.doubtful |= [&element, &last].iter().any(|end| !end.is_ascii());
        match range(&element, &last, ignore_case) {
            Ok(item) => set.items.push(item),
            // The C library decides.
            Err(_) if notes.collates && input.locale() == Locale::Utf8 => {}
            Err(error) => return Err(error),
        }
    }
    let text = &body[..body.len() - input.rest().len() - 1];
    if simple && looks_like_class(text) {
        let error = "character class syntax is [[:space:]], not [:space:]";
        notes.error.get_or_insert_with(|| error.to_owned());
    }
    Ok(set)
}

fn looks_like_class(text: &[u8]) -> bool {
    text.len() > 2 && text.first() == Some(&b':') && text.last() == Some(&b':')
}

fn element(input: &mut Input<'_>) -> Result<Element, String> {
    let kind = match input.rest() {
        [b'[', kind @ (b':' | b'.' | b'='), ..] => *kind,
        _ => return input.next().map(Element::One).ok_or_else(|| UNMATCHED.into()),
    };
    input.skip(2);
    let rest = input.rest();
    let Some(end) = memchr::memmem::find(rest, &[kind, b']']).filter(|&end| end < 32) else {
        return Err(UNMATCHED.into());
    };
    let name = &rest[..end];
    input.skip(end + 2);
    if kind == b':' {
        return Class::named(name)
            .map(Element::Class)
            .ok_or_else(|| "Invalid character class name".into());
    }
    match first_unit(name, input.locale()) {
        // Only the C library knows which names there are, and what they stand for.
        Some((unit, _)) if input.locale() == Locale::Utf8 => Ok(Element::One(unit)),
        // Without collation rules, a collating element is a single byte.
        Some((unit, 1)) if name.len() == 1 => Ok(Element::One(unit)),
        _ => Err("Invalid collation character".into()),
    }
}

fn single(element: &Element) -> Item {
    match *element {
        Element::One(Unit::Char(character)) => Item::Chars(character, character),
        Element::One(Unit::Byte(byte)) => Item::Bytes(byte, byte),
        Element::Class(class) => Item::Class(class),
    }
}

fn range(first: &Element, last: &Element, ignore_case: bool) -> Result<Item, String> {
    let item = match (first, last) {
        // Without regard to case, glibc compares uppercase forms.
        (&Element::One(Unit::Char(first)), &Element::One(Unit::Char(last)))
            if ignore_case && upper(first) <= upper(last) =>
        {
            Item::Folded(upper(first), upper(last))
        }
        (&Element::One(Unit::Char(first)), &Element::One(Unit::Char(last)))
            if !ignore_case && first <= last =>
        {
            Item::Chars(first, last)
        }
        (&Element::One(Unit::Byte(first)), &Element::One(Unit::Byte(last))) if first <= last => {
            Item::Bytes(first, last)
        }
        (&Element::One(Unit::Char(first)), &Element::One(Unit::Byte(last))) if first.is_ascii() => {
            Item::Bytes(first as u8, last)
        }
        _ => return Err("Invalid range end".into()),
    };
    Ok(item)
}
