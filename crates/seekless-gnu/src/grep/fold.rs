//! Letter case as GNU grep defines it: by the simple forms of one character, which the C library's
//! locale knows. So the automata find the same lines as the C library's own search, which is used
//! for back-references, whatever versions of Unicode the two know.

use crate::clib::ctype::{Ctype, Encoding};
use std::collections::HashMap;
use std::sync::OnceLock;

thread_local! {
    /// The locale of the environment, if it is one of UTF-8. It is loaded for the first letter
    /// beyond ASCII, since that takes longer than the search of a small file.
    static LOCALE: Option<Ctype> = Ctype::characters_of_environment()
        .filter(|locale| locale.encoding() == Encoding::Utf8);
}

/// No character above this number has another case.
const LAST_CASED: u32 = 0x1_ffff;

/// Small letters that are not the small letter of their capital. A pattern matches them only where
/// it holds them or their capital: GNU's list (`lonesome_lower`), which lacks Unicode's later ones.
const LONESOME: [char; 19] = [
    '\u{b5}', '\u{131}', '\u{17f}', '\u{1c5}', '\u{1c8}', '\u{1cb}', '\u{1f2}', '\u{345}',
    '\u{3c2}', '\u{3d0}', '\u{3d1}', '\u{3d5}', '\u{3d6}', '\u{3f0}', '\u{3f1}', '\u{3f2}',
    '\u{3f5}', '\u{1e9b}', '\u{1fbe}',
];

/// The simple uppercase form of a character. Returns the character itself if it has no such form of
/// one character.
pub(super) fn upper(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_uppercase();
    }
    LOCALE.with(|locale| match locale {
        Some(locale) => locale.upper(character),
        None => one(character.to_uppercase()).or_else(|| title(character)).unwrap_or(character),
    })
}

/// The simple lowercase form of a character, likewise.
pub(super) fn lower(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    LOCALE.with(|locale| match locale {
        Some(locale) => locale.lower(character),
        None => one(character.to_lowercase()).unwrap_or(character),
    })
}

fn one(mut mapped: impl Iterator<Item = char>) -> Option<char> {
    let first = mapped.next();
    first.filter(|_| mapped.next().is_none())
}

/// The uppercase form of a small Greek letter with an iota below. It is a titlecase letter; the
/// standard library only knows the capital and the iota as two characters.
fn title(small: char) -> Option<char> {
    let distance = match small {
        '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => 8,
        '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => 9,
        _ => return None,
    };
    char::from_u32(u32::from(small) + distance)
}

/// The characters that a character in a pattern matches without regard to case, itself included:
/// GNU's `case_folded_counterparts`. This is not symmetric. The Kelvin sign has a small letter
/// whose capital is K, so it matches only itself.
pub(super) fn variants(character: char) -> Vec<char> {
    let capital = upper(character);
    let small = lower(capital);
    let mut found = vec![character];
    let mut add = |other: char| {
        if !found.contains(&other) {
            found.push(other);
        }
    };
    add(capital);
    if upper(small) == capital {
        add(small);
    }
    match capital {
        'I' => add('\u{131}'),
        'S' => add('\u{17f}'),
        'A'..='Z' => {}
        _ => LONESOME.into_iter().filter(|other| upper(*other) == capital).for_each(add),
    }
    found
}

/// For each uppercase form, the characters that have it and differ from it.
pub(super) fn by_capital() -> &'static HashMap<char, Vec<char>> {
    static TABLE: OnceLock<HashMap<char, Vec<char>>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table: HashMap<char, Vec<char>> = HashMap::new();
        for character in (0..LAST_CASED).filter_map(char::from_u32) {
            let capital = upper(character);
            if capital != character {
                table.entry(capital).or_default().push(character);
            }
        }
        table
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_what_gnus_list_says() {
        for (character, expected) in [
            ('k', "kK"),
            ('\u{212a}', "\u{212a}"),
            ('\u{212b}', "\u{212b}"),
            ('\u{2126}', "\u{2126}"),
            ('ß', "ß"),
            ('ẞ', "ẞ"),
            ('s', "sSſ"),
            ('ſ', "ſSs"),
            ('i', "iIı"),
            ('İ', "İ"),
            ('ǆ', "ǆǄǅ"),
            ('ᾀ', "ᾀᾈ"),
            ('ᾈ', "ᾈᾀ"),
            ('ῳ', "ῳῼ"),
            ('σ', "σΣς"),
            ('в', "вВ"),
            ('\u{1c80}', "\u{1c80}Вв"),
        ] {
            assert_eq!(variants(character).into_iter().collect::<String>(), expected);
        }
    }

    /// A capital is its own capital, so that what a pattern matches has the pattern's capital.
    #[test]
    fn what_a_pattern_matches_has_its_capital() {
        for character in (0..LAST_CASED).filter_map(char::from_u32) {
            let capital = upper(character);
            assert!(
                variants(character).into_iter().all(|one| upper(one) == capital),
                "{character}"
            );
        }
    }
}
