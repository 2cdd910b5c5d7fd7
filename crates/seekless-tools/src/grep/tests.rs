//! Claims about the search as a whole, without a cache: the pieces of a file are fed in any order.

use super::matcher::{Complaints, Matcher};
use super::session::{Order, Session};
use super::walk::Item;
use super::{Listing, Locale, Options, Pattern, Syntax};
use proptest::prelude::*;
use seekless_sled::{Chunk, Event};
use std::ops::Range;
use std::path::PathBuf;

fn options(pattern: &str) -> Options {
    Options { patterns: vec![Pattern { text: pattern.into(), file: None }], ..Options::default() }
}

fn matcher(options: &Options) -> Matcher {
    let mut complaints = Complaints::default();
    Matcher::new(options, &mut complaints).unwrap_or_else(|| panic!("{:?}", complaints.errors))
}

/// The text in pieces of whole lines, cut after every so many.
fn pieces(text: &[u8], lines: usize) -> Vec<Range<usize>> {
    let mut ends: Vec<usize> = memchr::memchr_iter(b'\n', text).map(|at| at + 1).collect();
    if ends.last() != Some(&text.len()) && !text.is_empty() {
        ends.push(text.len());
    }
    let cuts: Vec<usize> = ends.chunks(lines).filter_map(|chunk| chunk.last().copied()).collect();
    cuts.iter().scan(0, |start, &end| Some(std::mem::replace(start, end)..end)).collect()
}

/// Output and messages of a search of two files whose pieces come in the order of `turns`, sorted by it.
fn search(options: &Options, texts: &[&[u8]], lines: usize, turns: &[u32]) -> (Vec<u8>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let mut session = Session::new(options, matcher(options), true);
    let mut feed = Vec::new();
    for (file, text) in texts.iter().enumerate() {
        let path: PathBuf = folder.path().join(file.to_string());
        std::fs::write(&path, text).unwrap();
        session.add(Item::File { path, name: file.to_string().into_bytes(), bytes: 0 });
        feed.extend(pieces(text, lines).into_iter().map(|range| (file, range)));
    }
    let turn = |index: usize| turns.get(index % turns.len().max(1)).copied().unwrap_or(0);
    let mut order: Vec<usize> = (0..feed.len()).collect();
    order.sort_by_key(|&index| turn(index));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    session.advance();
    let mut finished = Vec::new();
    let mut left: Vec<usize> = texts.iter().map(|text| pieces(text, lines).len()).collect();
    let mut ended = vec![false; texts.len()];
    let mut end = |session: &mut Session<'_>, left: &[usize], finished: &[usize]| {
        for file in 0..texts.len() {
            if left[file] == 0 && !ended[file] && !finished.contains(&file) {
                ended[file] = true;
                session.on_event(Event::End { file, bytes: texts[file].len() as u64, skipped: 0 });
            }
        }
    };
    end(&mut session, &left, &finished);
    for index in order {
        let (file, range) = feed[index].clone();
        left[file] -= 1;
        if finished.contains(&file) {
            continue;
        }
        session.on_event(Event::Chunk(Chunk {
            file,
            offset: range.start as u64,
            bytes: &texts[file][range],
        }));
        for order in session.orders.drain(..) {
            if let Order::Finish(file) = order {
                finished.push(file);
            }
        }
        end(&mut session, &left, &finished);
    }
    session.write(&mut out, &mut err, true).unwrap();
    (out, err)
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => "[ab x]{0,6}".prop_map(String::into_bytes),
        1 => Just(b"a\0b".to_vec()),
        1 => Just(b"a\xffb".to_vec())
    ];
    (prop::collection::vec(line, 0..30), any::<bool>()).prop_map(|(lines, ended)| {
        let mut text = lines.join(&b'\n');
        if ended && !text.is_empty() {
            text.push(b'\n');
        }
        text
    })
}

fn any_options() -> impl Strategy<Value = Options> {
    let pattern = prop::sample::select(vec!["a", "ab", "^$", "b$", "a.b", "[ab]x", "", "zz", "a*b"]);
    let flags = prop::collection::vec(any::<bool>(), 9);
    (pattern, flags, 0u64..3, 0u64..3, prop::option::of(1u64..4)).prop_map(
        |(pattern, flags, before, after, max)| Options {
            locale: if flags[0] { Locale::Utf8 } else { Locale::C },
            invert_match: flags[1],
            line_number: flags[2],
            byte_offset: flags[3],
            only_matching: flags[4] && flags[5],
            count: flags[6] && flags[7],
            listing: if flags[5] && flags[7] { Listing::Matching } else { Listing::None },
            word_regexp: flags[8] && flags[6],
            context: before + after > 0,
            before,
            after,
            max_count: max.filter(|_| flags[8]),
            ..options(pattern)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_order_of_pieces_gives_the_same_answer(
        options in any_options(),
        (first, second) in (text(), text()),
        lines in 1usize..5,
        turns in prop::collection::vec(any::<u32>(), 1..40),
    ) {
        let texts = [&first[..], &second[..]];
        let plain = search(&options, &texts, usize::MAX, &[0]);
        prop_assert_eq!(search(&options, &texts, lines, &turns), plain);
    }

    #[test]
    fn the_longest_match_is_found(text in "[abc]{0,12}", pattern in "(a|ab|abc|b*|c){1,4}") {
        let wanted = |text: &str| {
            let options = Options { syntax: Syntax::Extended, ..options(&format!("({pattern})+")) };
            matcher(&options).span(text.as_bytes(), 0)
        };
        if let Some(found) = wanted(&text) {
            // No longer match starts there: a whole-line search of each longer part fails.
            let options =
                Options { syntax: Syntax::Extended, line_regexp: true, ..options(&format!("({pattern})+")) };
            let mut whole = matcher(&options);
            for end in found.end + 1..=text.len() {
                prop_assert!(whole.span(&text.as_bytes()[found.start..end], 0).is_none());
            }
        }
    }
}

#[test]
fn every_class_of_characters_can_be_read() {
    for class in
        ["alpha", "digit", "alnum", "upper", "lower", "space", "blank", "punct", "print", "graph", "cntrl"]
    {
        let options = Options { locale: Locale::Utf8, ..options(&format!("[[:{class}:]]")) };
        let member = match class {
            "digit" => "7",
            "upper" => "\u{c9}",
            "space" | "blank" => "\t",
            "punct" => "!",
            "cntrl" => "\u{7}",
            _ => "\u{e9}",
        };
        assert!(matcher(&options).span(member.as_bytes(), 0).is_some(), "{class}");
        assert!(matcher(&options).span(b"\xff", 0).is_none(), "{class}");
    }
}

#[test]
fn what_is_wrong_with_a_pattern_is_said_in_glibcs_words() {
    for (pattern, extended, words) in [
        ("[", false, "Invalid regular expression"),
        ("[a", false, "Unmatched [, [^, [:, [., or [="),
        ("\\(", false, "Unmatched ( or \\("),
        ("\\)", false, "Unmatched ) or \\)"),
        ("(", true, "Unmatched ( or \\("),
        ("a\\{1", false, "Unmatched \\{"),
        ("a\\{2,1\\}", false, "Invalid content of \\{\\}"),
        ("a{99999}", true, "Regular expression too big"),
        ("\\1", false, "Invalid back reference"),
        ("a\\", false, "Trailing backslash"),
        ("[b-a]", false, "Invalid range end"),
        ("[[:foo:]]", false, "Invalid character class name"),
        ("[:space:]", false, "character class syntax is [[:space:]], not [:space:]"),
    ] {
        let syntax = if extended { Syntax::Extended } else { Syntax::Basic };
        let mut complaints = Complaints::default();
        assert!(
            Matcher::new(&Options { syntax, ..options(pattern) }, &mut complaints).is_none(),
            "{pattern}"
        );
        assert_eq!(complaints.errors, [words], "{pattern}");
    }
}
