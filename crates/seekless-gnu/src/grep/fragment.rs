//! Fragments: bytes that every match of a pattern holds side by side.
//!
//! A fast sweep for them finds the parts of a text that need a closer look. If the fragment is the
//! whole pattern, no automaton is built.

use super::Locale;
use super::classes::Characters;
use super::syntax::Ast;

/// The number of a fragment's bytes that the sweep compares.
pub(super) const PROBES: usize = 3;
/// With more fragments than this, automata are faster.
const FRAGMENTS_MAX: usize = 6;
/// The longest fragment; a longer one is cut, since more bytes save nothing.
const BYTES_MAX: usize = 1 << 10;
/// The most frequent bytes of texts and logs, in order.
const FREQUENT: &[u8] = b" etaoinsrhldcum0fp1gw\n2yb.,v3-54:/6789k=_\"'x()jzq;";
/// The bit that differs between the two cases of an ASCII letter.
const CASE: u8 = 0x20;

/// Neighbouring bytes. Each may be a letter of either case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fragment {
    /// A letter of either case is stored in lower case.
    bytes: Vec<u8>,
    /// The bits to set in a byte of the text before comparing it: [`CASE`] for a letter of either
    /// case, otherwise 0.
    masks: Vec<u8>,
    /// The bytes to sweep for: the rarest ones.
    pub probes: [Probe; PROBES],
    /// Whether it holds letters of either case.
    pub folds: bool,
    /// Whether it is the whole pattern.
    pub whole: bool,
}

/// A byte and its offset in the fragment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Probe {
    pub at: usize,
    pub byte: u8,
    pub mask: u8,
}

/// The fragments of several alternative expressions: every match holds at least one of them. Empty
/// if some match may hold none, or if there are more than [`FRAGMENTS_MAX`].
pub(super) fn fragments<'a>(
    expressions: impl Iterator<Item = &'a Ast>,
    characters: Characters,
) -> Vec<Fragment> {
    let alternatives = expressions.flat_map(|ast| match ast {
        Ast::Either(alternatives) => &alternatives[..],
        single => std::slice::from_ref(single),
    });
    let mut all = Vec::new();
    for ast in alternatives {
        let longest = longest(ast, characters, false).filter(|run| run.bytes.len() >= PROBES);
        let run = longest.or_else(|| self::longest(ast, characters, true));
        let Some(found) = run.and_then(Run::into_fragments) else { return Vec::new() };
        all.extend(found);
        if all.len() > FRAGMENTS_MAX {
            return Vec::new();
        }
    }
    if let [_, _, ..] = all[..] {
        all.iter_mut().for_each(|fragment| fragment.whole = false);
    }
    all
}

/// The longest run of bytes that every match of an expression holds. If `foreign` is set, a match
/// may hold one of the run's foreign letters instead.
fn longest(ast: &Ast, characters: Characters, foreign: bool) -> Option<Run> {
    let parts = match ast {
        Ast::Concat(parts) => &parts[..],
        single => std::slice::from_ref(single),
    };
    let mut runs: Vec<Run> = vec![Run::default()];
    let mut whole = true;
    for part in parts {
        let grown = runs.last_mut().is_some_and(|run| run.push(part, characters, foreign));
        if !grown {
            whole = false;
            runs.push(Run::default());
        }
    }
    let longest =
        runs.into_iter().max_by_key(|run| run.bytes.len()).filter(|run| !run.bytes.is_empty())?;
    Some(Run { whole, ..longest })
}

impl Fragment {
    /// The offset of the last probe.
    pub(super) fn reach(&self) -> usize {
        self.probes.iter().map(|probe| probe.at).max().unwrap_or(0)
    }

    /// Whether `text` begins with the fragment.
    pub(super) fn leads(&self, text: &[u8]) -> bool {
        if !self.folds {
            return text.starts_with(&self.bytes);
        }
        let same = |((&found, mask), byte): ((&u8, &u8), &u8)| found | mask == *byte;
        text.len() >= self.bytes.len() && text.iter().zip(&self.masks).zip(&self.bytes).all(same)
    }
}

/// A fragment while it is built.
#[derive(Default)]
struct Run {
    bytes: Vec<u8>,
    masks: Vec<u8>,
    /// Letters beyond ASCII that are the same as one of its letters without regard to case.
    foreign: Vec<char>,
    /// Whether it is the whole expression.
    whole: bool,
}

impl Run {
    /// Appends the bytes that a part matches. Returns `false` if they vary in more than case.
    fn push(&mut self, part: &Ast, characters: Characters, foreign: bool) -> bool {
        match *part {
            Ast::Byte(byte) if characters.locale == Locale::C => self.add(byte, 0),
            Ast::Char(character) if !character.is_ascii_control() => {
                match characters.one(character)[..] {
                    [only] => {
                        only.encode_utf8(&mut [0; 4])
                            .bytes()
                            .for_each(|byte| _ = self.add(byte, 0));
                        true
                    }
                    [one, other, ref more @ ..]
                        if one.is_ascii() && one.eq_ignore_ascii_case(&other) =>
                    {
                        let mask = if one == other { 0 } else { CASE };
                        let known = more.is_empty()
                            || (foreign && more.iter().all(|letter| !letter.is_ascii()));
                        if known {
                            self.foreign.extend_from_slice(more);
                        }
                        known && self.add(one as u8 | mask, mask)
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    fn add(&mut self, byte: u8, mask: u8) -> bool {
        // A newline would match a line end that replaced a NUL, and a NUL would match nothing.
        if byte == 0 || byte == b'\n' {
            return false;
        }
        self.bytes.push(byte);
        self.masks.push(mask);
        true
    }

    /// The run and each of its foreign letters: a match without a foreign letter holds the run.
    fn into_fragments(mut self) -> Option<Vec<Fragment>> {
        let mut foreign = std::mem::take(&mut self.foreign);
        foreign.sort_unstable();
        foreign.dedup();
        let mut all = vec![self.into_fragment()?];
        for letter in foreign {
            let bytes = letter.encode_utf8(&mut [0; 4]).as_bytes().to_vec();
            let masks = vec![0; bytes.len()];
            all.push(Run { bytes, masks, ..Run::default() }.into_fragment()?);
        }
        Some(all)
    }

    fn into_fragment(mut self) -> Option<Fragment> {
        let whole = self.whole && self.bytes.len() <= BYTES_MAX;
        self.bytes.truncate(BYTES_MAX);
        self.masks.truncate(BYTES_MAX);
        let mut places: Vec<usize> = (0..self.bytes.len()).collect();
        // The sort is stable, so the first of equally rare bytes is taken. A byte that occurs a
        // second time helps less, so it comes last.
        places.sort_by_key(|&at| {
            (self.bytes[..at].contains(&self.bytes[at]), frequency(self.bytes[at]))
        });
        let probe = |at: usize| Probe { at, byte: self.bytes[at], mask: self.masks[at] };
        let last = *places.get(..PROBES.min(places.len()))?.last()?;
        let probes = std::array::from_fn(|index| probe(places.get(index).copied().unwrap_or(last)));
        let folds = self.masks.iter().any(|&mask| mask != 0);
        Some(Fragment { bytes: self.bytes, masks: self.masks, probes, folds, whole })
    }
}

/// How frequent a byte is; 0 for bytes that are not listed.
fn frequency(byte: u8) -> usize {
    let small = byte.to_ascii_lowercase();
    FREQUENT.iter().position(|&frequent| frequent == small).map_or(0, |rank| FREQUENT.len() - rank)
}

#[cfg(test)]
mod tests {
    use super::super::input::Notes;
    use super::super::syntax::{Rules, parse};
    use super::*;

    fn all(pattern: &str, ignore_case: bool, locale: Locale) -> Vec<Fragment> {
        let rules = Rules { extended: true, ignore_case, locale };
        let (ast, _) = parse(pattern.as_bytes(), rules, &mut Notes::default()).expect(pattern);
        fragments(std::iter::once(&ast), Characters { locale, ignore_case, terminator: b'\n' })
    }

    fn texts(fragments: &[Fragment]) -> Vec<String> {
        fragments
            .iter()
            .map(|fragment| String::from_utf8_lossy(&fragment.bytes).into_owned())
            .collect()
    }

    #[test]
    fn the_longest_run_of_characters_is_the_fragment() {
        for (pattern, expected, whole) in [
            ("needle", "needle", true),
            ("ne[def]dle [0-9]", "dle ", false),
            ("^abc", "abc", false),
            ("a.bc*d", "d", false),
            ("été", "été", true),
        ] {
            let found = all(pattern, false, Locale::Utf8);
            assert_eq!(
                (texts(&found), found[0].whole),
                (vec![expected.to_owned()], whole),
                "{pattern}"
            );
        }
        for pattern in ["", "a*", "a|b*", "(ab)", "[ab]", "a|", "a|b|c|d|e|f|g"] {
            assert_eq!(all(pattern, false, Locale::Utf8), [], "{pattern}");
        }
    }

    #[test]
    fn each_alternative_has_its_fragment() {
        let found = all("needle|h[ae]ystack|x", false, Locale::Utf8);
        assert_eq!(texts(&found), ["needle", "ystack", "x"]);
        assert!(found.iter().all(|fragment| !fragment.whole));
    }

    #[test]
    fn letters_with_foreign_variants_part_runs_or_stand_beside_them() {
        let texts = |pattern, locale| texts(&all(pattern, true, locale));
        assert_eq!(texts("Needle", Locale::Utf8), ["needle"]);
        // U+0131 and U+017F equal i and s without regard to case, but are longer.
        assert_eq!(texts("abcides", Locale::Utf8), ["abc"]);
        assert_eq!(texts("kiss", Locale::Utf8), ["kiss", "ı", "ſ"]);
        assert_eq!(texts("abcides", Locale::C), ["abcides"]);
        assert_eq!(texts("xyé", Locale::Utf8), ["xy"]);
        assert!(all("kiss", true, Locale::C)[0].whole && !all("kiss", true, Locale::Utf8)[0].whole);
    }

    #[test]
    fn rare_bytes_are_swept_for_and_case_is_folded() {
        let fragment = all("The quiz_Z", true, Locale::C).remove(0);
        let mut probes = fragment.probes.map(|probe| probe.byte);
        probes.sort_unstable();
        assert_eq!(probes, *b"_qz");
        assert!(fragment.leads(b"tHE QUIZ_z etc."));
        assert!(!fragment.leads(b"tHE QUIZ_"));
        // `_` and DEL differ from other characters in the same bit, but are not their other case.
        assert!(!fragment.leads(b"the quiz\x7fz"));
        assert_eq!(fragment.reach(), 8);
    }
}
