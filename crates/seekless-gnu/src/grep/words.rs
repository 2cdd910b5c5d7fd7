//! Many fixed words at once, by Aho-Corasick: the time for a text does not depend on how many words
//! there are. A pattern that is more than a word goes to the other engines and leaves these here.

use super::Locale;
use super::classes::Characters;
use super::fold::{upper, variants};
use super::input::{Unit, first_unit};
use super::near;
use super::syntax::Ast;
use aho_corasick::{AhoCorasick, Input, MatchKind};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// With fewer words, the other engines are as fast.
pub(super) const WORDS_MIN: usize = 32;

/// The pattern as a word: its bytes, in one letter case if case is ignored. Returns `None` if it is
/// more than a word, or if one of its letters matches others than their capitals do.
pub(super) fn word(ast: &Ast, characters: Characters) -> Option<Vec<u8>> {
    let parts = match ast {
        Ast::Concat(parts) => &parts[..],
        single => std::slice::from_ref(single),
    };
    let mut bytes = Vec::new();
    for part in parts {
        match *part {
            Ast::Char(character) => {
                let letter = match (characters.ignore_case, characters.locale) {
                    (false, _) => character,
                    (true, Locale::C) => character.to_ascii_uppercase(),
                    (true, Locale::Utf8) => regular(character)?,
                };
                bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Ast::Byte(byte) if characters.locale == Locale::C => bytes.push(byte),
            _ => return None,
        }
    }
    (!bytes.is_empty() && !bytes.contains(&characters.terminator)).then_some(bytes)
}

/// The capital of a letter in a pattern, if both match the same characters.
fn regular(letter: char) -> Option<char> {
    let capital = upper(letter);
    if letter.is_ascii() {
        return Some(capital);
    }
    let sorted = |letter| {
        let mut variants = variants(letter);
        variants.sort_unstable();
        variants
    };
    (sorted(letter) == sorted(capital)).then_some(capital)
}

/// A set of words.
#[derive(Debug)]
pub(super) struct Words {
    automaton: AhoCorasick,
    words: HashSet<Vec<u8>>,
    /// The lengths of words, the longest first.
    lengths: Vec<usize>,
    /// Only whole lines match.
    whole_line: bool,
    folding: Folding,
}

/// What in a text is the same as a word's letter.
#[derive(Debug)]
enum Folding {
    Nothing,
    /// ASCII's small letters.
    Ascii,
    /// All small letters, with those that were met.
    All(HashMap<char, char>),
}

/// A line in one letter case.
struct Folded {
    bytes: Vec<u8>,
    /// Where each byte's character stands in the line, and the line's end.
    places: Vec<usize>,
}

impl Words {
    /// # Errors
    ///
    /// The words need more memory than an automaton may have.
    pub(super) fn new(
        words: Vec<Vec<u8>>,
        characters: Characters,
        whole_line: bool,
    ) -> Result<Self, String> {
        let folding = match (characters.ignore_case, characters.locale) {
            (false, _) => Folding::Nothing,
            (true, Locale::C) => Folding::Ascii,
            (true, Locale::Utf8) => Folding::All(HashMap::new()),
        };
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(if whole_line { &[] } else { &words[..] })
            .map_err(|_| "Regular expression too big".to_owned())?;
        let words: HashSet<Vec<u8>> = words.into_iter().collect();
        let mut lengths: Vec<usize> = words.iter().map(Vec::len).collect();
        lengths.sort_unstable_by(|left, right| right.cmp(left));
        lengths.dedup();
        Ok(Words { automaton, words, lengths, whole_line, folding })
    }

    /// A place in the first of these whole lines that holds a word.
    pub(super) fn near(
        &mut self,
        text: &[u8],
        lines: Range<usize>,
        terminator: u8,
    ) -> Option<usize> {
        let plain = match self.folding {
            Folding::All(_) => text[lines.clone()].is_ascii(),
            _ => true,
        };
        if plain && !self.whole_line {
            return Some(lines.start + self.leftmost(&text[lines], 0)?.start);
        }
        let mut at = lines.start;
        while at < lines.end {
            let end =
                near::first(terminator, &text[at..lines.end]).map_or(lines.end, |end| at + end);
            if self.find(&text[at..end], 0).is_some() {
                return Some(at);
            }
            at = end + 1;
        }
        None
    }

    /// The leftmost-longest word in a line that begins at `from` or later.
    pub(super) fn find(&mut self, line: &[u8], from: usize) -> Option<Range<usize>> {
        if self.whole_line {
            let whole = match self.folded(line) {
                Some(folded) => self.holds(&folded.bytes),
                None => self.holds(line),
            };
            return (from == 0 && whole).then_some(0..line.len());
        }
        let Some(folded) = self.folded(line) else {
            return self.leftmost(line, from);
        };
        let start = folded.places.partition_point(|&place| place < from);
        let found = self.leftmost(&folded.bytes, start)?;
        Some(folded.places[found.start]..folded.places[found.end])
    }

    /// The leftmost-longest word, if only the case of ASCII's letters may differ.
    fn leftmost(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        let found = match self.folding {
            Folding::Nothing => self.automaton.find(Input::new(text).range(from..)),
            _ => self.automaton.find(Input::new(&text.to_ascii_uppercase()).range(from..)),
        };
        found.map(|found| found.range())
    }

    /// The end of the longest word that begins at `found.start` and ends at `limit` or before.
    pub(super) fn end(&mut self, line: &[u8], found: Range<usize>, limit: usize) -> Option<usize> {
        if self.whole_line || found.end <= limit {
            return Some(found.end).filter(|&end| end <= limit);
        }
        let part = &line[found.start..limit];
        let Some(folded) = self.folded(part) else {
            let shorter = |length: &usize| *length <= part.len() && self.holds(&part[..*length]);
            return self
                .lengths
                .iter()
                .find(|&length| shorter(length))
                .map(|length| found.start + length);
        };
        let bytes = &folded.bytes;
        let length = self
            .lengths
            .iter()
            .find(|&&length| length <= bytes.len() && self.holds(&bytes[..length]))?;
        Some(found.start + folded.places[*length])
    }

    /// Whether this is one of the words.
    fn holds(&self, text: &[u8]) -> bool {
        match self.folding {
            Folding::Nothing => self.words.contains(text),
            _ => self.words.contains(&text.to_ascii_uppercase()),
        }
    }

    /// The line in one letter case, if more than ASCII's letters must be folded.
    fn folded(&mut self, line: &[u8]) -> Option<Folded> {
        let Folding::All(known) = &mut self.folding else { return None };
        if line.is_ascii() {
            return None;
        }
        let mut folded = Folded { bytes: Vec::new(), places: Vec::new() };
        let mut at = 0;
        while let Some((unit, bytes)) = first_unit(&line[at..], Locale::Utf8) {
            match unit {
                Unit::Char(character) => {
                    let capital = *known.entry(character).or_insert_with(|| canonical(character));
                    folded.bytes.extend_from_slice(capital.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Unit::Byte(byte) => folded.bytes.push(byte),
            }
            folded.places.resize(folded.bytes.len(), at);
            at += bytes;
        }
        folded.places.push(line.len());
        Some(folded)
    }
}

/// The character that stands for all that a regular letter matches: its capital, unless that does
/// not match it.
fn canonical(character: char) -> char {
    let capital = upper(character);
    if variants(capital).contains(&character) { capital } else { character }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fixed(word: &str) -> Ast {
        Ast::Concat(word.chars().map(Ast::Char).collect())
    }

    /// The leftmost-longest word, by trying each at each place.
    fn naive(words: &[String], line: &str, ignore_case: bool) -> Option<Range<usize>> {
        let same = |letter: char, found: char| match ignore_case {
            true => variants(letter).contains(&found),
            false => letter == found,
        };
        let end = |start: usize, word: &String| {
            let mut rest = line[start..].char_indices();
            let all = word
                .chars()
                .all(|letter| rest.next().is_some_and(|(_, found)| same(letter, found)));
            all.then(|| start + rest.next().map_or(line.len() - start, |(at, _)| at))
        };
        line.char_indices().find_map(|(start, _)| {
            words.iter().filter_map(|word| end(start, word)).max().map(|end| start..end)
        })
    }

    proptest! {
        #[test]
        fn the_leftmost_longest_word_is_found(
            words in prop::collection::vec("[aksiéßKſıΣς]{1,3}", 1..6),
            line in "[aAkKsSiIéÉßKſıΣσς -]{0,12}",
            ignore_case: bool,
        ) {
            let characters = Characters { locale: Locale::Utf8, ignore_case, terminator: b'\n' };
            let all = words.iter().map(|one| word(&fixed(one), characters));
            let Some(bytes) = all.collect::<Option<Vec<_>>>() else { return Ok(()) };
            let mut set = Words::new(bytes, characters, false).unwrap();
            let expected = naive(&words, &line, ignore_case);
            prop_assert_eq!(set.find(line.as_bytes(), 0), expected.clone());
            let near = set.near(line.as_bytes(), 0..line.len(), b'\n');
            prop_assert_eq!(near.is_some(), expected.is_some());
            let Some(found) = expected else { return Ok(()) };
            let limit = found.end - 1;
            let part = &line[found.start..line.floor_char_boundary(limit)];
            let shorter = naive(&words, part, ignore_case);
            let expected = shorter.filter(|end| end.start == 0).map(|end| found.start + end.end);
            prop_assert_eq!(set.end(line.as_bytes(), found, limit), expected);
        }
    }

    #[test]
    fn what_is_more_than_a_word_is_left_to_others() {
        let characters =
            |ignore_case, locale| Characters { locale, ignore_case, terminator: b'\n' };
        let utf8 = characters(true, Locale::Utf8);
        assert_eq!(word(&fixed("straße"), utf8), Some("STRAßE".into()));
        // U+1C80 matches the letters of its capital, but those do not match it.
        assert_eq!(word(&fixed("\u{1c80}"), utf8), None);
        assert_eq!(word(&Ast::Concat(vec![Ast::Char('a'), Ast::Any]), utf8), None);
        assert_eq!(word(&Ast::Empty, utf8), None);
        assert_eq!(word(&Ast::Byte(0xff), utf8), None);
        assert_eq!(word(&Ast::Byte(0xff), characters(true, Locale::C)), Some(vec![0xff]));
    }
}
