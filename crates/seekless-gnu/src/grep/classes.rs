//! Character classes as ranges: of bytes in the C locale; in UTF-8, of the Unicode properties from
//! which glibc derives its own.

use super::Locale;
use super::bracket::{Class, Item, Set};
use super::fold::{by_capital, lower, upper, variants};
use regex_syntax::hir::{
    self, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, HirKind,
};

/// How characters are interpreted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Characters {
    pub locale: Locale,
    pub ignore_case: bool,
    /// The byte that ends a line; no set holds it.
    pub terminator: u8,
}

impl Characters {
    /// A set as a class of the locale.
    pub(super) fn class(self, set: &Set) -> hir::Class {
        match self.locale {
            Locale::C => hir::Class::Bytes(self.bytes(set)),
            Locale::Utf8 => hir::Class::Unicode(self.unicode(set)),
        }
    }

    /// Any character but the terminator.
    pub(super) fn any(self) -> hir::Class {
        self.class(&Set { negated: true, items: Vec::new() })
    }

    /// The character and, without regard to case, all characters that equal it.
    pub(super) fn one(self, character: char) -> Vec<char> {
        match (self.ignore_case, self.locale) {
            (false, _) => vec![character],
            (true, Locale::C) => {
                vec![character.to_ascii_lowercase(), character.to_ascii_uppercase()]
            }
            (true, Locale::Utf8) => variants(character),
        }
    }

    fn bytes(self, set: &Set) -> ClassBytes {
        let mut class = ClassBytes::empty();
        for &item in &set.items {
            match item {
                Item::Chars(first, last) => {
                    class.push(ClassBytesRange::new(first as u8, last as u8))
                }
                Item::Folded(first, last) => {
                    for byte in
                        (0..=127).filter(|&byte| (first..=last).contains(&upper(char::from(byte))))
                    {
                        class.push(ClassBytesRange::new(byte, byte));
                    }
                }
                Item::Bytes(first, last) => class.push(ClassBytesRange::new(first, last)),
                Item::Class(named) => ascii(&mut class, named),
                Item::Word => {
                    ascii(&mut class, Class::Alnum);
                    class.push(ClassBytesRange::new(b'_', b'_'));
                }
            }
        }
        if self.ignore_case {
            class.case_fold_simple();
        }
        if set.negated {
            class.negate();
        }
        class
            .difference(&ClassBytes::new([ClassBytesRange::new(self.terminator, self.terminator)]));
        class
    }

    fn unicode(self, set: &Set) -> ClassUnicode {
        let mut class = ClassUnicode::empty();
        for &item in &set.items {
            match item {
                Item::Chars(first, last) => self.push(&mut class, first, last),
                Item::Folded(first, last) => folded(&mut class, first, last),
                // No set holds a byte that is not part of a character.
                Item::Bytes(first, _) if first.is_ascii() => {
                    class.push(ClassUnicodeRange::new(first.into(), '\x7f'))
                }
                Item::Bytes(..) => {}
                // GNU takes both for [:alpha:] then, also for letters that have no case.
                Item::Class(Class::Upper | Class::Lower) if self.ignore_case => {
                    class.union(&named(Class::Alpha))
                }
                Item::Class(class_name) => class.union(&named(class_name)),
                Item::Word => class.union(&word()),
            }
        }
        if set.negated {
            class.negate();
        }
        let terminator = char::from(self.terminator);
        class.difference(&ClassUnicode::new([ClassUnicodeRange::new(terminator, terminator)]));
        class
    }

    fn push(self, class: &mut ClassUnicode, first: char, last: char) {
        if !self.ignore_case {
            return class.push(ClassUnicodeRange::new(first, last));
        }
        for character in first..=last {
            for variant in variants(character) {
                class.push(ClassUnicodeRange::new(variant, variant));
            }
        }
    }
}

/// Adds the characters whose uppercase form lies in a range.
fn folded(class: &mut ClassUnicode, first: char, last: char) {
    class.push(ClassUnicodeRange::new(first, last));
    let table = by_capital();
    let small = table.values().flatten().filter(|&&small| (first..=last).contains(&small));
    let mut outside = ClassUnicode::new(small.map(|&small| ClassUnicodeRange::new(small, small)));
    for (_, smalls) in table.iter().filter(|(capital, _)| (first..=last).contains(*capital)) {
        for &small in smalls {
            class.push(ClassUnicodeRange::new(small, small));
        }
    }
    // A lowercase letter in the range counts by its uppercase form only.
    let inside = table.iter().filter(|(capital, _)| (first..=last).contains(*capital));
    let kept =
        inside.flat_map(|(_, smalls)| smalls).map(|&small| ClassUnicodeRange::new(small, small));
    outside.difference(&ClassUnicode::new(kept));
    class.difference(&outside);
}

fn ascii(class: &mut ClassBytes, name: Class) {
    let test: fn(&u8) -> bool = match name {
        Class::Alpha => u8::is_ascii_alphabetic,
        Class::Digit => u8::is_ascii_digit,
        Class::Alnum => u8::is_ascii_alphanumeric,
        Class::Upper => u8::is_ascii_uppercase,
        Class::Lower => u8::is_ascii_lowercase,
        Class::Space => |byte| byte.is_ascii_whitespace() || *byte == 0x0b,
        Class::Blank => |byte| *byte == b' ' || *byte == b'\t',
        Class::Punct => u8::is_ascii_punctuation,
        Class::Print => |byte| byte.is_ascii_graphic() || *byte == b' ',
        Class::Graph => u8::is_ascii_graphic,
        Class::Cntrl => u8::is_ascii_control,
        Class::Xdigit => u8::is_ascii_hexdigit,
    };
    for byte in (0..=127).filter(test) {
        class.push(ClassBytesRange::new(byte, byte));
    }
}

/// The characters of `\w` in UTF-8.
pub(super) fn word() -> ClassUnicode {
    let mut class = named(Class::Alnum);
    class.push(ClassUnicodeRange::new('_', '_'));
    class
}

fn named(name: Class) -> ClassUnicode {
    // glibc counts foreign digits as letters, and marks and symbols as punctuation.
    let expression = match name {
        Class::Digit => "[0-9]",
        Class::Xdigit => "[0-9A-Fa-f]",
        Class::Alpha => r"[[\p{Alphabetic}\p{Nd}]--[0-9]]",
        Class::Alnum => r"[\p{Alphabetic}\p{Nd}]",
        Class::Upper | Class::Lower => return cased(name),
        Class::Space => r"[\p{White_Space}--[\u{85}\u{a0}\u{2007}\u{202f}]]",
        Class::Blank => r"[\t[\p{Zs}--[\u{a0}\u{2007}\u{202f}]]]",
        Class::Cntrl => r"[\p{Cc}\u{2028}\u{2029}]",
        Class::Graph => {
            r"[^\p{Cc}\p{Cn}\u{2028}\u{2029}[\p{White_Space}--[\u{a0}\u{2007}\u{202f}]]]"
        }
        Class::Print => r"[^\p{Cc}\p{Cn}\u{2028}\u{2029}]",
        Class::Punct => {
            r"[^\p{Cc}\p{Cn}\u{2028}\u{2029}[\p{White_Space}--[\u{a0}\u{2007}\u{202f}]]\p{Alphabetic}\p{Nd}]"
        }
    };
    parsed(expression)
}

fn cased(name: Class) -> ClassUnicode {
    let mut class = match name {
        Class::Upper => parsed(r"[[\p{Uppercase}\p{Lt}]&&\p{Alphabetic}]"),
        _ => parsed(r"[\p{Lowercase}&&\p{Alphabetic}]"),
    };
    for (&capital, smalls) in by_capital() {
        let found = match name {
            Class::Upper if lower(capital) != capital => &[capital][..],
            Class::Upper => &[],
            _ => smalls,
        };
        for &character in found {
            class.push(ClassUnicodeRange::new(character, character));
        }
    }
    class
}

fn parsed(expression: &str) -> ClassUnicode {
    match regex_syntax::parse(expression).map(hir::Hir::into_kind) {
        Ok(HirKind::Class(hir::Class::Unicode(class))) => class,
        Ok(HirKind::Class(hir::Class::Bytes(class))) => {
            class.to_unicode_class().unwrap_or_else(ClassUnicode::empty)
        }
        // Unreachable: the expressions above are constant, and a test parses each.
        _ => ClassUnicode::empty(),
    }
}
