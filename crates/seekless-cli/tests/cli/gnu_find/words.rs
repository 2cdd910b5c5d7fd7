//! Command lines from all of GNU find's options, tests, actions and operators, most of them right.

use super::{dates, formats};
use crate::random::Random;

type Words = Vec<Vec<u8>>;
use super::values::{
    ACCOUNTS, AGES, COUNTS, GLOBS, MODES, OTHERS, REGEX_TYPES, REGEXES, ROOTS, SIZES,
};

/// A command line that changes nothing.
pub(super) fn looking(random: &mut Random) -> Words {
    let mut words = leading(random);
    for _ in 0..random.weighted(&[(2, 0), (10, 1), (3, 2)]) {
        words.push(random.pick(ROOTS).to_vec());
    }
    if random.chance(3) {
        words.retain(|word| word.first() == Some(&b'-') && word.len() > 1);
        words
            .extend(two("-files0-from", random.pick(&[&b"names"[..], b"-", b"nosuch", b"a", b""])));
    }
    for _ in 0..random.weighted(&[(6, 0), (3, 1), (1, 2)]) {
        words.extend(option(random));
    }
    if random.chance(95) {
        expression(&mut words, random, 0, true);
    }
    // GNU find estimates the cost of parentheses before it reorders their content. The estimate
    // decides whether -xtype is tested, and so whether it prints an error.
    if words.iter().any(|word| word == b"(") {
        words
            .iter_mut()
            .filter(|word| *word == b"-xtype")
            .for_each(|word| *word = b"-type".to_vec());
    }
    // GNU find tests two names in another order than they are written. Then it forgets what was
    // done before them, and may test first what follows -o.
    if two_names_after_an_action(&words) {
        words.iter_mut().filter(|word| *word == b"-o").for_each(|word| *word = b"-a".to_vec());
        words.iter_mut().filter(|word| *word == b"-or").for_each(|word| *word = b"-and".to_vec());
    }
    // After an empty path GNU find forgets the files collected for a command with `+`.
    if words.iter().any(|word| word.is_empty() || word == b"-files0-from") {
        words.iter_mut().filter(|word| *word == b"+").for_each(|word| *word = b";".to_vec());
    }
    words
}

fn two_names_after_an_action(words: &Words) -> bool {
    const ACTIONS: [&[u8]; 8] =
        [b"-print", b"-print0", b"-printf", b"-ls", b"-exec", b"-execdir", b"-fprint", b"-fls"];
    const NAMES: [&[u8]; 8] = [
        b"-name",
        b"-iname",
        b"-path",
        b"-ipath",
        b"-wholename",
        b"-iwholename",
        b"-regex",
        b"-iregex",
    ];
    let (mut acts, mut names) = (false, 0);
    words.iter().any(|word| {
        if ACTIONS.contains(&&word[..]) {
            (acts, names) = (true, 0);
        }
        names += usize::from(acts && NAMES.contains(&&word[..]));
        names == 2
    })
}

/// A command line that may delete and write.
pub(super) fn changing(random: &mut Random) -> Words {
    let mut words = leading(random);
    for _ in 0..random.weighted(&[(1, 0), (6, 1), (1, 2)]) {
        words.push(
            random
                .pick(&[&b"."[..], b".", b"a", b"keep", b"./keep/", b"link", b"link/", b"five.o"])
                .to_vec(),
        );
    }
    for _ in 0..random.below(3) {
        words.extend(random_options(random));
    }
    for part in 0..1 + random.below(4) {
        if part > 0 {
            operator(&mut words, random);
        }
        if random.chance(12) {
            words.push(b"!".to_vec());
        }
        words.extend(match random.below(16) {
            0..=2 => vec![b"-delete".to_vec()],
            3 => vec![b"-prune".to_vec()],
            4..=6 => {
                two("-name", random.pick(&[&b"*.o"[..], b"keep", b"a", b"*n*", b"t*", b"[!k]*"]))
            }
            7 | 8 => two("-type", random.pick(&[&b"f"[..], b"d", b"l", b"f,l"])),
            9 => two(
                "-fprint",
                random.pick(&[
                    &b"out"[..],
                    b"./out",
                    b"out2",
                    b"/nowhere/out",
                    b"/dev/stdout",
                    b"/dev/stderr",
                ]),
            ),
            10 => two("-fprint0", random.pick(&[&b"out"[..], b"out2", b"/dev/stderr"])),
            11 => vec![
                b"-fprintf".to_vec(),
                random.pick(&[&b"out"[..], b"./out", b"out3", b"/dev/stdout"]).to_vec(),
                random.pick(&[&b"%p\\n"[..], b"%f|", b"%d %P\\c", b"%q\\n"]).to_vec(),
            ],
            12 => vec![b"-print".to_vec()],
            13 => many(&["-exec", "rm", "{}", ";"]),
            14 => many(random.pick(&[
                &["-exec", "rm", "-f", "{}", "+"][..],
                &["-execdir", "rm", "{}", ";"],
                &["-execdir", "echo", "{}", "+"],
                &["-ok", "rm", "{}", ";"],
                &["-okdir", "rm", "{}", ";"],
            ])),
            _ => vec![b"-empty".to_vec()],
        });
    }
    words
}

fn random_options(random: &mut Random) -> Words {
    match random.below(5) {
        0 => vec![b"-depth".to_vec()],
        1 => two("-mindepth", random.pick(&[&b"1"[..], b"2"])),
        2 => two("-maxdepth", random.pick(&[&b"1"[..], b"2"])),
        3 => vec![b"-d".to_vec()],
        _ => vec![b"-ignore_readdir_race".to_vec()],
    }
}

fn leading(random: &mut Random) -> Words {
    let mut words = Words::new();
    while random.chance(25) {
        words.push(
            random
                .weighted(&[
                    (6, &b"-L"[..]),
                    (6, b"-H"),
                    (3, b"-P"),
                    (1, b"-O2"),
                    (1, b"-Ox"),
                    (1, b"-O"),
                    (1, b"-O3x"),
                    (1, b"-O70000"),
                    (1, b"--"),
                ])
                .to_vec(),
        );
    }
    words
}

fn option(random: &mut Random) -> Words {
    let simple = [
        "-depth",
        "-d",
        "-xdev",
        "-mount",
        "-noleaf",
        "-ignore_readdir_race",
        "-noignore_readdir_race",
    ];
    match random.below(10) {
        0..=2 => two(
            "-maxdepth",
            random.pick(&[&b"0"[..], b"1", b"2", b"3", b"01", b"-1", b"x", b"", b"99999999999"]),
        ),
        3 => two("-mindepth", random.pick(&[&b"0"[..], b"1", b"2", b"4"])),
        4..=6 => vec![random.pick(&simple).into()],
        7 => vec![random.pick(&["-warn", "-nowarn"]).into()],
        8 => vec![random.pick(&["-daystart", "-follow"]).into()],
        _ => two("-regextype", random.pick(REGEX_TYPES)),
    }
}

/// In parentheses, actions stand only in the last part: GNU find may test the name of the following
/// primary before they act.
fn expression(words: &mut Words, random: &mut Random, depth: usize, acts: bool) {
    let parts = random.weighted(&[(3, 1), (4, 2), (3, 3), (1, 4)]);
    for part in 0..parts {
        if part > 0 {
            operator(words, random);
        }
        factor(words, random, depth, (acts, acts && part + 1 == parts));
    }
}

fn operator(words: &mut Words, random: &mut Random) {
    let word =
        random.weighted(&[(12, ""), (1, "-a"), (1, "-and"), (5, "-o"), (1, "-or"), (2, ",")]);
    if !word.is_empty() {
        words.push(word.into());
    }
}

fn factor(words: &mut Words, random: &mut Random, depth: usize, (acts, acts_inside): (bool, bool)) {
    if random.chance(12) {
        words.push(random.pick(&["!", "!", "-not"]).into());
    }
    if depth < 2 && random.chance(10) {
        words.push(b"(".to_vec());
        expression(words, random, depth + 1, acts_inside);
        words.push(b")".to_vec());
        return;
    }
    words.extend(match random.below(100) {
        0..=64 => test(random),
        65..=92 if acts => action(random),
        65..=92 => test(random),
        _ => option(random),
    });
}

fn test(random: &mut Random) -> Words {
    match random.below(34) {
        0..=2 => two(random.pick(&["-name", "-iname"]), random.pick(GLOBS)),
        3 | 4 => {
            two(random.pick(&["-path", "-ipath", "-wholename", "-iwholename"]), random.pick(GLOBS))
        }
        5 => two(random.pick(&["-lname", "-ilname"]), random.pick(GLOBS)),
        6 | 7 => {
            let mut words = if random.chance(50) {
                two("-regextype", random.pick(REGEX_TYPES))
            } else {
                Words::new()
            };
            words.extend(two(random.pick(&["-regex", "-iregex"]), random.pick(REGEXES)));
            words
        }
        8..=10 => two(
            random.pick(&["-type", "-type", "-xtype", "-xtype"]),
            random.pick(&[
                &b"f"[..],
                b"d",
                b"l",
                b"p",
                b"s",
                b"b",
                b"c",
                b"f,d",
                b"l,f",
                b"f,f",
                b"f,",
                b"fd",
                b"x",
                b"",
                b"D",
            ]),
        ),
        11 | 12 => two("-size", random.pick(SIZES)),
        13 => vec![b"-empty".to_vec()],
        14 | 15 => two("-perm", random.pick(MODES)),
        16 => two(random.pick(&["-user", "-group"]), random.pick(ACCOUNTS)),
        17 => two(random.pick(&["-uid", "-gid"]), random.pick(COUNTS)),
        18 => vec![random.pick(&["-nouser", "-nogroup"]).into()],
        19 => two(random.pick(&["-links", "-inum"]), random.pick(COUNTS)),
        20 => two("-samefile", random.pick(OTHERS)),
        21 => vec![random.pick(&["-readable", "-writable", "-executable"]).into()],
        22 => two(
            "-fstype",
            random.pick(&[&b"ext4"[..], b"overlay", b"tmpfs", b"proc", b"btrfs", b"xfs", b""]),
        ),
        23..=25 => two(
            random.pick(&["-mtime", "-atime", "-ctime", "-mmin", "-amin", "-cmin", "-used"]),
            random.pick(AGES),
        ),
        26 => two(random.pick(&["-newer", "-anewer", "-cnewer"]), random.pick(OTHERS)),
        27 => two(
            random.pick(&[
                "-neweraa", "-newerac", "-neweram", "-newerca", "-newercm", "-newermm", "-newermB",
                "-newerBm", "-newertm", "-newerxx", "-newermx",
            ]),
            random.pick(OTHERS),
        ),
        28..=31 => {
            vec![
                random.pick(&["-newermt", "-newermt", "-newerat", "-newerct"]).into(),
                dates::date(random),
            ]
        }
        32 => vec![random.pick(&["-true", "-false"]).into()],
        _ => vec![b"-daystart".to_vec(), b"-mtime".to_vec(), random.pick(AGES).to_vec()],
    }
}

fn action(random: &mut Random) -> Words {
    match random.below(20) {
        0..=2 => vec![b"-print".to_vec()],
        3 => vec![b"-print0".to_vec()],
        4..=9 => vec![b"-printf".to_vec(), formats::format(random)],
        10..=12 => vec![b"-ls".to_vec()],
        13 | 14 => vec![b"-prune".to_vec()],
        15 => vec![b"-quit".to_vec()],
        16 => two(
            "-fprint",
            random.pick(&[&b"/dev/stdout"[..], b"/dev/stderr", b"/dev/null", b"/nowhere/x"]),
        ),
        17 => two("-fls", random.pick(&[&b"/dev/stdout"[..], b"/dev/stderr"])),
        _ => command(random),
    }
}

fn command(random: &mut Random) -> Words {
    many(random.pick(&[
        &["-exec", "echo", "{}", ";"][..],
        &["-exec", "echo", "{}", "+"],
        &["-exec", "echo", "a{}b{}", "{}", ";"],
        &["-exec", "true", ";"],
        &["-exec", "false", ";"],
        &["-exec", "false", "{}", "+"],
        &["-exec", "nosuch", "{}", ";"],
        &["-exec", "nosuch", "{}", "+"],
        &["-exec", "test", "-d", "{}", ";"],
        &["-exec", "sh", "-c", "kill -9 $$", ";"],
        &["-exec", "sh", "-c", "exit 3", "{}", "+"],
        &["-exec", "echo", "x{}", "+"],
        &["-exec", "echo", "{}", "{}", "+"],
        &["-exec", "echo", "{}", "x", "+"],
        &["-exec", ";"],
        &["-exec", "{}", ";"],
        &["-exec", "echo", "+", ";"],
        &["-execdir", "echo", "{}", ";"],
        &["-execdir", "echo", "{}", "+"],
        &["-execdir", "pwd", ";"],
        &["-execdir", "nosuch", ";"],
        &["-ok", "echo", "{}", ";"],
        &["-okdir", "echo", "{}", ";"],
        &["-ok", "echo", "{}", "+"],
    ]))
}

/// Puts a mistake into a command line.
pub(super) fn spoil(words: &mut Words, random: &mut Random) {
    const STRAY: &[&[u8]] = &[
        b"(",
        b")",
        b"!",
        b",",
        b"-a",
        b"-o",
        b"-not",
        b"foo",
        b"a",
        b"-bogus",
        b"-noop",
        b"--noop",
        b"-",
        b"-(",
        b"-)",
        b"-!",
        b"--",
        b"-L",
        b"-name",
        b"-uid",
        b"-newermt",
        b"-printf",
        b"-prune",
        b"-daystart",
        b"-exec",
        b";",
        b"\xff",
        b"-\xff",
        b"-depth",
        b"",
    ];
    let at = random.below(words.len() + 1);
    match random.below(4) {
        0 if at < words.len() => drop(words.remove(at)),
        1 if at < words.len() => {
            let word = words[at].clone();
            words.insert(at, word);
        }
        2 => words.truncate(at),
        _ => words.insert(at, random.pick(STRAY).to_vec()),
    }
}

fn two(name: &str, argument: &[u8]) -> Words {
    vec![name.into(), argument.to_vec()]
}

fn many(words: &[&str]) -> Words {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}
