//! The words of find's command line, each declared once: its names, what follows it, what it is
//! for, and how it is read. The parser and the help both come from here.

use super::tree::{Kind, Operator};
use super::{Parser, Stop};
use crate::find::compare::Bound;
use crate::find::cost::CostTest;
use crate::find::expression::{Action, Follow, Roots, Target, Test};
use crate::find::time::Stamp;
use rustix::fs::Access;

/// A word that find knows.
#[derive(Debug)]
pub struct Word {
    /// Its names, with what they begin with; the first is shown before the others.
    pub names: &'static [&'static str],
    /// What follows it; empty for nothing.
    pub argument: &'static str,
    /// The heading that it is listed under.
    pub group: &'static str,
    /// What it is for, in a line.
    pub doc: &'static str,
    pub(super) reads: Reads,
}

/// Whether a word is a part of the expression, which then is always true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Yes,
    No,
}

/// How a word is read. Each reader is given the word as it was written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reads {
    /// Before the first path only.
    Leading(fn(&mut Parser<'_>, &[u8]) -> Result<(), Stop>),
    /// There, or as a part of the expression.
    Anywhere(fn(&mut Parser<'_>, &[u8]) -> Result<(), Stop>),
    /// Joins the parts of the expression.
    Joins(fn() -> Kind),
    /// Counts from where it stands on.
    Positional(fn(&mut Parser<'_>, &[u8]) -> Result<Part, Stop>),
    /// Counts for all of the command line, wherever it stands.
    Global(fn(&mut Parser<'_>, &[u8]) -> Result<Part, Stop>),
    Test(fn(&mut Parser<'_>, &[u8]) -> Result<Test, Stop>),
    Action(fn(&mut Parser<'_>, &[u8]) -> Result<Action, Stop>),
    /// Nothing else is read.
    Stops(fn() -> Stop),
}

const LEADING: &str = "Options before the first path";
const OPERATORS: &str = "Operators, the closest first";
const GLOBAL: &str = "Options for all of the command line";
const POSITIONAL: &str = "Options from where they stand on";
const TESTS: &str = "Tests";
const COSTS: &str = "Tests of what a file would cost to read";
const ACTIONS: &str = "Actions";
const OURS: &str = "Options of seekless, before the first path or in the expression";

type Names = &'static [&'static str];
type Text = &'static str;

const fn word(group: Text, names: Names, argument: Text, doc: Text, reads: Reads) -> Word {
    Word { names, argument, group, doc, reads }
}

const fn leading(
    names: Names,
    argument: Text,
    doc: Text,
    reads: fn(&mut Parser<'_>, &[u8]) -> Result<(), Stop>,
) -> Word {
    word(LEADING, names, argument, doc, Reads::Leading(reads))
}

const fn joins(names: Names, argument: Text, doc: Text, reads: fn() -> Kind) -> Word {
    word(OPERATORS, names, argument, doc, Reads::Joins(reads))
}

const fn global(
    names: Names,
    argument: Text,
    doc: Text,
    reads: fn(&mut Parser<'_>, &[u8]) -> Result<Part, Stop>,
) -> Word {
    word(GLOBAL, names, argument, doc, Reads::Global(reads))
}

const fn positional(
    names: Names,
    argument: Text,
    doc: Text,
    reads: fn(&mut Parser<'_>, &[u8]) -> Result<Part, Stop>,
) -> Word {
    word(POSITIONAL, names, argument, doc, Reads::Positional(reads))
}

const fn test(
    names: Names,
    argument: Text,
    doc: Text,
    reads: fn(&mut Parser<'_>, &[u8]) -> Result<Test, Stop>,
) -> Word {
    word(TESTS, names, argument, doc, Reads::Test(reads))
}

const fn cost(
    names: Names,
    argument: Text,
    doc: Text,
    reads: fn(&mut Parser<'_>, &[u8]) -> Result<Test, Stop>,
) -> Word {
    Word { group: COSTS, ..test(names, argument, doc, reads) }
}

const fn action(
    names: Names,
    argument: Text,
    doc: Text,
    reads: fn(&mut Parser<'_>, &[u8]) -> Result<Action, Stop>,
) -> Word {
    word(ACTIONS, names, argument, doc, Reads::Action(reads))
}

/// All of them.
pub static WORDS: &[Word] = &[
    leading(&["-P"], "", "Follow no link (the default)", |parser, _| follow(parser, Follow::Never)),
    leading(&["-H"], "", "Follow the links that are named as paths", |parser, _| {
        follow(parser, Follow::Arguments)
    }),
    leading(&["-L"], "", "Follow all links", |parser, _| follow(parser, Follow::Always)),
    leading(&["-D"], "FLAGS", "Accepted, and shows nothing", |parser, _| parser.debug_flags()),
    leading(
        &["-O"],
        "LEVEL",
        "Accepted, attached: tests are asked in the order of -O2",
        |_, name| super::leading::check_level(&name[2..]),
    ),
    word(
        OURS,
        &["--cheapest-first"],
        "",
        "Do the actions in the order of -cost, when all files are known; they then count as true",
        Reads::Anywhere(|parser, _| {
            parser.plan.cheapest_first = true;
            Ok(())
        }),
    ),
    word(
        OURS,
        &["--unknown"],
        "=skip|assume",
        "Files of unknown state fail tests of cost (skip, as is), or count as on their device",
        Reads::Anywhere(|parser, name| parser.unknown(name)),
    ),
    joins(&["("], "EXPR )", "What stands between them is one part", || Kind::Open),
    joins(&[")"], "", "", || Kind::Close),
    joins(&["!", "-not"], "EXPR", "The opposite", || Kind::Not),
    joins(&["-a", "-and"], "EXPR", "Both; also where nothing stands between them", || {
        Kind::Operator(Operator::And)
    }),
    joins(&["-o", "-or"], "EXPR", "One or the other", || Kind::Operator(Operator::Or)),
    joins(&[","], "EXPR", "One after the other; the last one's answer", || {
        Kind::Operator(Operator::List)
    }),
    global(&["-maxdepth"], "LEVELS", "At most LEVELS levels below the paths", |parser, name| {
        parser.plan.depth_max = parser.depth(name)?;
        Ok(Part::Yes)
    }),
    global(&["-mindepth"], "LEVELS", "At least LEVELS levels below the paths", |parser, name| {
        parser.plan.depth_min = parser.depth(name)?;
        Ok(Part::Yes)
    }),
    global(&["-depth", "-d"], "", "What is in a folder before the folder", |parser, name| {
        parser.contents_first(name)
    }),
    global(&["-xdev", "-mount"], "", "Not into other file systems", |parser, _| {
        parser.plan.one_file_system = true;
        Ok(Part::Yes)
    }),
    global(
        &["-files0-from"],
        "FILE",
        "Take the paths from FILE, each ended by a NUL; - is standard input",
        |parser, name| {
            parser.plan.roots = Roots::From(parser.argument(name)?.to_owned());
            Ok(Part::No)
        },
    ),
    global(
        &["-ignore_readdir_race"],
        "",
        "Files that are gone when their turn comes are no error",
        |parser, _| {
            parser.plan.ignores_gone = true;
            Ok(Part::Yes)
        },
    ),
    global(&["-noignore_readdir_race"], "", "They are (the default)", |parser, _| {
        parser.plan.ignores_gone = false;
        Ok(Part::Yes)
    }),
    global(&["-noleaf"], "", "Accepted: it changes nothing here", |_, _| Ok(Part::Yes)),
    positional(&["-daystart"], "", "Count times from the beginning of today", |parser, _| {
        parser.clock = parser.clock.since_midnight();
        Ok(Part::No)
    }),
    positional(&["-follow"], "", "As -L", |parser, _| {
        follow(parser, Follow::Always).map(|()| Part::Yes)
    }),
    positional(
        &["-regextype"],
        "TYPE",
        "The dialect of the regular expressions that follow",
        |parser, name| {
            parser.dialect = parser.dialect(name)?;
            Ok(Part::Yes)
        },
    ),
    positional(&["-warn"], "", "Warn of what looks like a mistake", |parser, _| {
        parser.warns = true;
        Ok(Part::Yes)
    }),
    positional(&["-nowarn"], "", "Do not", |parser, _| {
        parser.warns = false;
        Ok(Part::Yes)
    }),
    test(&["-name"], "GLOB", "The last part of the path", |parser, name| {
        parser.base_name(name, false)
    }),
    test(&["-iname"], "GLOB", "The same, without regard to case", |parser, name| {
        parser.base_name(name, true)
    }),
    test(&["-path", "-wholename"], "GLOB", "All of the path", |parser, name| {
        parser.path(name, false)
    }),
    test(&["-ipath", "-iwholename"], "GLOB", "The same, without regard to case", |parser, name| {
        parser.path(name, true)
    }),
    test(&["-lname"], "GLOB", "What a link points to", |parser, name| {
        parser.glob(name, false).map(Test::LinkName)
    }),
    test(&["-ilname"], "GLOB", "The same, without regard to case", |parser, name| {
        parser.glob(name, true).map(Test::LinkName)
    }),
    test(&["-regex"], "PATTERN", "All of the path, as a regular expression", |parser, name| {
        parser.regex(name, false)
    }),
    test(&["-iregex"], "PATTERN", "The same, without regard to case", |parser, name| {
        parser.regex(name, true)
    }),
    test(
        &["-type"],
        "C",
        "Of one of these types: b c d p f l s, parted by commas",
        |parser, name| parser.kinds(name).map(Test::Type),
    ),
    test(
        &["-xtype"],
        "C",
        "The same, of what a link points to; under -L, of the link",
        |parser, name| parser.kinds(name).map(Test::OtherType),
    ),
    test(
        &["-size"],
        "N[bcwkMG]",
        "N units of space, rounded up: 512 bytes, or the letter's",
        |parser, name| parser.size(name),
    ),
    test(&["-empty"], "", "A file without bytes or a folder without entries", |_, _| {
        Ok(Test::Empty)
    }),
    test(
        &["-perm"],
        "[-/]MODE",
        "Exactly these permissions, all of them, any of them",
        |parser, name| parser.permissions(name),
    ),
    test(&["-user"], "NAME", "Owned by this user, or number", |parser, name| {
        parser.user(name).map(|user| Test::Owner(Bound::Exactly(user)))
    }),
    test(&["-group"], "NAME", "Of this group, or number", |parser, name| {
        parser.group(name).map(|group| Test::Group(Bound::Exactly(group)))
    }),
    test(&["-uid"], "N", "The owner's number", |parser, name| parser.number(name).map(Test::Owner)),
    test(&["-gid"], "N", "The group's number", |parser, name| parser.number(name).map(Test::Group)),
    test(&["-nouser"], "", "The owner's number has no name", |_, _| Ok(Test::NoUser)),
    test(&["-nogroup"], "", "The group's number has no name", |_, _| Ok(Test::NoGroup)),
    test(&["-links"], "N", "N names", |parser, name| parser.number(name).map(Test::Links)),
    test(&["-inum"], "N", "The inode's number", |parser, name| {
        parser.number(name).map(Test::Inode)
    }),
    test(&["-samefile"], "FILE", "The same file under another name", |parser, name| {
        let stat = parser.stat(name)?;
        Ok(Test::SameFile { device: stat.st_dev, inode: stat.st_ino })
    }),
    test(&["-readable"], "", "One may read it", |_, _| Ok(Test::Access(Access::READ_OK))),
    test(&["-writable"], "", "One may write to it", |_, _| Ok(Test::Access(Access::WRITE_OK))),
    test(&["-executable"], "", "One may run it, or go into it", |_, _| {
        Ok(Test::Access(Access::EXEC_OK))
    }),
    test(&["-fstype"], "TYPE", "It lies on a file system of this type", |parser, name| {
        parser.file_system(name)
    }),
    test(&["-amin"], "N", "Read N minutes ago", |parser, name| parser.minutes(name, Stamp::Access)),
    test(&["-cmin"], "N", "Its attributes changed N minutes ago", |parser, name| {
        parser.minutes(name, Stamp::Change)
    }),
    test(&["-mmin"], "N", "Written N minutes ago", |parser, name| {
        parser.minutes(name, Stamp::Modification)
    }),
    test(&["-atime"], "N", "Read N days ago", |parser, name| parser.days(name, Stamp::Access)),
    test(&["-ctime"], "N", "Its attributes changed N days ago", |parser, name| {
        parser.days(name, Stamp::Change)
    }),
    test(&["-mtime"], "N", "Written N days ago", |parser, name| {
        parser.days(name, Stamp::Modification)
    }),
    test(&["-newer"], "FILE", "Written later than FILE", |parser, name| {
        parser.newer(name, Stamp::Modification)
    }),
    test(&["-anewer"], "FILE", "Read later than FILE was written", |parser, name| {
        parser.newer(name, Stamp::Access)
    }),
    test(
        &["-cnewer"],
        "FILE",
        "Its attributes changed later than FILE was written",
        |parser, name| parser.newer(name, Stamp::Change),
    ),
    test(
        &[NEWER],
        "FILE",
        "Its time X (a c m) is later than FILE's time Y, or than the date FILE if Y is t",
        |parser, name| parser.newer_by_letters(name),
    ),
    test(&["-used"], "N", "Read N days after its attributes changed", |parser, name| {
        parser.used(name)
    }),
    test(&["-true"], "", "Always", |_, _| Ok(Test::True)),
    test(&["-false"], "", "Never", |_, _| Ok(Test::False)),
    test(&["-context"], "GLOB", "Refused: security contexts are not asked", |parser, name| {
        parser.argument(name)?;
        Err("invalid predicate -context: SELinux is not enabled.".into())
    }),
    cost(
        &["-latency"],
        "N",
        "N seconds to deliver all of it, memory included; m50 or 50ms, u50 or 50us are parts of them",
        |parser, name| {
            let (unit_ns, bound) = parser.price(name)?;
            Ok(Test::OfCost(CostTest::Latency { unit_ns, bound }))
        },
    ),
    cost(
        &["-cost"],
        "N",
        "The same for what devices need: 0 is nothing to fetch",
        |parser, name| {
            let (unit_ns, bound) = parser.price(name)?;
            Ok(Test::OfCost(CostTest::Cost { unit_ns, bound }))
        },
    ),
    cost(
        &["-cached"],
        "[N]",
        "At least N per cent of it in memory (100 without N)",
        |parser, name| parser.cached(name),
    ),
    cost(
        &["-level"],
        "L",
        "Its costliest level: hole, memory, device, network, archive or unknown",
        |parser, name| parser.level(name),
    ),
    action(&["-print"], "", "Show the path (done if no other action is)", |_, _| {
        Ok(print(Target::Output, b'\n'))
    }),
    action(&["-print0"], "", "Show it with a NUL at its end", |_, _| Ok(print(Target::Output, 0))),
    action(&["-fprint"], "FILE", "Write it to FILE", |parser, name| {
        Ok(print(parser.file(name)?, b'\n'))
    }),
    action(&["-fprint0"], "FILE", "The same with a NUL at its end", |parser, name| {
        Ok(print(parser.file(name)?, 0))
    }),
    action(&["-printf"], "FORMAT", "Show what FORMAT says of it", |parser, name| {
        Ok(Action::Printf { to: Target::Output, format: parser.format(name)? })
    }),
    action(&["-fprintf"], "FILE FORMAT", "Write it to FILE", |parser, name| {
        parser.printf_to_file(name)
    }),
    action(&["-ls"], "", "Show a line as ls -dils does", |_, _| {
        Ok(Action::List { to: Target::Output })
    }),
    action(&["-fls"], "FILE", "Write it to FILE", |parser, name| {
        Ok(Action::List { to: parser.file(name)? })
    }),
    action(
        &["-exec"],
        "COMMAND ;",
        "Run a command, {} being the path; true if it succeeds; also {} + for many",
        |parser, name| parser.command(name),
    ),
    action(&["-execdir"], "COMMAND ;", "The same in its folder", |parser, name| {
        parser.command(name)
    }),
    action(&["-ok"], "COMMAND ;", "Ask before", |parser, name| parser.command(name)),
    action(&["-okdir"], "COMMAND ;", "The same in its folder", |parser, name| parser.command(name)),
    action(&["-prune"], "", "Do not go into it", |_, _| Ok(Action::Prune)),
    action(&["-delete"], "", "Delete it; turns on -depth", |parser, _| {
        parser.plan.contents_first = true;
        Ok(Action::Delete)
    }),
    action(&["-quit"], "", "End", |_, _| Ok(Action::Quit)),
    word(ACTIONS, &["-help", "--help"], "", "Show this", Reads::Stops(|| Stop::Help)),
    word(
        ACTIONS,
        &["-version", "--version"],
        "",
        "Show the version",
        Reads::Stops(|| Stop::Version),
    ),
];

/// The name that stands for all tests with two letters.
const NEWER: &str = "-newerXY";

/// Finds the word with this spelling. A dash before an operator, as in `-(`, changes nothing.
pub(super) fn find(name: &[u8]) -> Option<&'static Word> {
    let short = name.strip_prefix(b"-").unwrap_or(name);
    let named = |word: &&Word| {
        word.names.iter().any(|known| known.strip_prefix('-').unwrap_or(known).as_bytes() == short)
    };
    let value = short.iter().position(|&byte| byte == b'=').unwrap_or(short.len());
    let found = match short {
        _ if short[..value] == *b"-unknown" => named_so("--unknown"),
        [b'n', b'e', b'w', b'e', b'r', _, _] => named_so(NEWER),
        _ => WORDS.iter().find(named),
    };
    found.filter(|word| !matches!(word.reads, Reads::Leading(_)))
}

/// The option before the first path that is written so.
pub(super) fn find_leading(name: &[u8]) -> Option<&'static Word> {
    let found = match name {
        [b'-', b'O', ..] => named_so("-O"),
        _ if name.starts_with(b"--unknown=") => named_so("--unknown"),
        _ => WORDS.iter().find(|word| word.names.iter().any(|known| known.as_bytes() == name)),
    };
    found.filter(|word| matches!(word.reads, Reads::Leading(_) | Reads::Anywhere(_)))
}

fn named_so(name: &str) -> Option<&'static Word> {
    WORDS.iter().find(|word| word.names.contains(&name))
}

fn follow(parser: &mut Parser<'_>, links: Follow) -> Result<(), Stop> {
    parser.plan.follow = links;
    Ok(())
}

fn print(to: Target, end: u8) -> Action {
    Action::Print { to, end }
}
