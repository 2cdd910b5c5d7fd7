//! Patterns of all syntaxes, sometimes slightly wrong ones.

use super::super::random::Random;
use super::line;

/// Pieces of text that patterns may match.
pub(super) const PIECES: [&[u8]; 24] = [
    b"a",
    b"b",
    b"ab",
    b"aa",
    b"x",
    b"X",
    b"A",
    b" ",
    b"_",
    b"1",
    b"-",
    b".",
    b"s",
    b"ss",
    b"foo",
    b"Bar",
    b"\t",
    "é".as_bytes(),
    "É".as_bytes(),
    "ü".as_bytes(),
    "ß".as_bytes(),
    "中".as_bytes(),
    "ż".as_bytes(),
    "ſ".as_bytes(),
];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Basic,
    Extended,
    Fixed,
    Perl,
}

/// A pattern, sometimes a slightly wrong one.
pub(super) fn pattern(random: &mut Random, syntax: Syntax) -> Vec<u8> {
    if random.chance(4) {
        return Vec::new();
    }
    if syntax == Syntax::Fixed || random.chance(8) {
        let text = line(random);
        return if random.chance(15) { [&text[..], b"\n", &line(random)].concat() } else { text };
    }
    let mut pattern = branches(random, syntax, 0);
    if random.chance(4) {
        let at = random.below(pattern.len() + 1);
        let stray = random.pick(&b"()[]{}\\*+?|^$\xff\xc3-,1".map(|byte| byte));
        pattern.insert(at, stray);
    }
    if random.chance(3) {
        pattern.push(b'\n');
        pattern.extend(branches(random, syntax, 0));
    }
    pattern
}

fn branches(random: &mut Random, syntax: Syntax, depth: usize) -> Vec<u8> {
    let bar: &[u8] = if syntax == Syntax::Basic { b"\\|" } else { b"|" };
    let count = if random.chance(20) { 2 + random.below(2) } else { 1 };
    let parts: Vec<Vec<u8>> = (0..count)
        .map(|_| (0..1 + random.below(4)).flat_map(|_| part(random, syntax, depth)).collect())
        .collect();
    parts.join(bar)
}

fn part(random: &mut Random, syntax: Syntax, depth: usize) -> Vec<u8> {
    let mut part = atom(random, syntax, depth);
    if random.chance(30) {
        const BASIC: [&str; 9] = [
            "*",
            "\\+",
            "\\?",
            "\\{2\\}",
            "\\{1,2\\}",
            "\\{0,1\\}",
            "\\{1,\\}",
            "\\{,2\\}",
            "\\{2,1\\}",
        ];
        const EXTENDED: [&str; 11] =
            ["*", "+", "?", "{2}", "{1,2}", "{0}", "{1,}", "{,2}", "{2,1}", "{x", "**"];
        // `{,2}` is an interval only from PCRE2 10.43 on, as the help says.
        const PERL: [&str; 11] =
            ["*", "+", "?", "{2}", "{1,2}", "*?", "+?", "*+", "{1,}", "??", "{0}"];
        // Bounds in the wrong order are rare.
        let odd = usize::from(!random.chance(10));
        let times = match syntax {
            Syntax::Basic => BASIC[random.below(BASIC.len() - odd)],
            Syntax::Extended => EXTENDED[random.below(EXTENDED.len() - 3 * odd)],
            _ => PERL[random.below(PERL.len())],
        };
        part.extend_from_slice(times.as_bytes());
    }
    part
}

fn atom(random: &mut Random, syntax: Syntax, depth: usize) -> Vec<u8> {
    const SETS: [&str; 26] = [
        "[ab]",
        "[^a]",
        "[a-c]",
        "[[:alpha:]]",
        "[[:upper:]]",
        "[^[:space:]]",
        "[[:digit:]_]",
        "[é]",
        "[à-ü]",
        "[^é]",
        "[]a]",
        "[^]a]",
        "[a-]",
        "[A-Z]",
        "[[:punct:]]",
        "[[.-.]]",
        "[[=a=]]",
        "[a\\]",
        "[[:word:]]",
        "[:alpha:]",
        "[b-a]",
        "[[.é.]]",
        "[xé-]",
        "[[:lower:]]",
        "[^\n]",
        "[X-a]",
    ];
    const ESCAPES: [&str; 17] = [
        "\\w", "\\W", "\\s", "\\S", "\\<", "\\>", "\\b", "\\B", "\\`", "\\'", "\\.", "\\*", "\\-",
        "\\a", "\\1", "\\/", "\\^",
    ];
    // Left out, as the help says: with PCRE2 10.42, which GNU grep uses here, \S, \W and \D miss
    // characters beyond ASCII, and \p{Lu} does not match a small letter with -i.
    const PERL: [&str; 26] = [
        "\\d",
        "\\w",
        "\\s",
        "\\b",
        "\\B",
        "\\A",
        "\\z",
        "\\Z",
        "\\x61",
        "\\x{e9}",
        "\\p{L}",
        "(?i)",
        "(?=a)",
        "(?!a)",
        "(?<=a)",
        "(?<!a)",
        "\\K",
        "\\N",
        "\\h",
        "\\R",
        "\\X",
        "\\Qa.b\\E",
        "(?:ab)",
        "(?>a*)",
        "\\G",
        "\\1",
    ];
    match random.below(20) {
        0..9 => random.pick::<&[u8]>(&PIECES).to_vec(),
        9 => b".".to_vec(),
        10 => b"^".to_vec(),
        11 => b"$".to_vec(),
        12..14 => random.pick(&SETS).as_bytes().to_vec(),
        14..16 if syntax == Syntax::Perl => random.pick(&PERL).as_bytes().to_vec(),
        14..16 => random.pick(&ESCAPES).as_bytes().to_vec(),
        16..19 if depth < 3 => {
            let inner = branches(random, syntax, depth + 1);
            let (open, close): (&[u8], &[u8]) =
                if syntax == Syntax::Basic { (b"\\(", b"\\)") } else { (b"(", b")") };
            let back: &[u8] = if random.chance(12) { b"\\1" } else { b"" };
            [open, &inner[..], close, back].concat()
        }
        _ => b".*".to_vec(),
    }
}
