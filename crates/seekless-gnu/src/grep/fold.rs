//! Letter case as glibc defines it: two characters are the same without regard to case if their
//! simple uppercase forms are.

use std::collections::HashMap;
use std::sync::OnceLock;

/// No character above this number has another case.
const LAST_CASED: u32 = 0x1_ffff;

/// The simple uppercase form of a character. Returns the character itself if it has no such form of
/// one character.
pub(super) fn upper(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_uppercase();
    }
    one(character.to_uppercase()).unwrap_or(character)
}

/// The simple lowercase form of a character, likewise.
pub(super) fn lower(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    one(character.to_lowercase()).unwrap_or(character)
}

fn one(mut mapped: impl Iterator<Item = char>) -> Option<char> {
    let first = mapped.next();
    first.filter(|_| mapped.next().is_none())
}

/// All characters with the same uppercase form, including this one.
pub(super) fn variants(character: char) -> Vec<char> {
    let mut found = vec![character];
    let capital = upper(character);
    let mut add = |other: char| {
        if !found.contains(&other) {
            found.push(other);
        }
    };
    add(capital);
    add(lower(capital));
    match capital {
        'I' => add('\u{131}'),
        'S' => add('\u{17f}'),
        'A'..='Z' => {}
        _ => by_capital().get(&capital).into_iter().flatten().for_each(|&other| add(other)),
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
