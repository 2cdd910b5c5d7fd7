//! Command lines as getopt_long(3) reads them, for the verbs that take another tool's place: its
//! words, abbreviations and messages, without the time that it takes to build a tree of
//! subcommands.
//!
//! A tool declares each of its options once, as a [`Flag`]. The parser reads by that table; the
//! help, the man page and the completions are made from it by [`described`].

use clap::{Arg, ArgAction, Command};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// An option of a tool. Those that are ambiguous are named in the order of the tool's table.
#[derive(Clone, Copy, Debug)]
pub struct Flag<S: 'static> {
    /// `x` of `-x`, and other letters for the same; the first is shown.
    pub short: &'static [u8],
    /// `name` of `--name`, and other names for the same; the first is shown.
    pub long: &'static [&'static str],
    /// Whether a value follows.
    pub value: Value,
    /// The heading that the help puts it under.
    pub group: &'static str,
    /// What it is for, in a line; empty for one that is not to be shown.
    pub doc: &'static str,
    /// Whether `--na` will do: not for what the tool of the same name does not have, lest its own
    /// become ambiguous.
    pub abbreviates: bool,
    /// What it sets: the tool's own affair.
    pub sets: S,
}

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// None.
    No,
    /// Attached or the next word; what it is called.
    Required(&'static str),
    /// Attached only; what it is called.
    Optional(&'static str),
}

/// How an option was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Its value.
    pub value: Option<OsString>,
    /// The letter, if it was given by one.
    pub letter: Option<u8>,
    /// The number of the word that it stands in.
    pub place: usize,
}

impl Given {
    /// The value; empty for an option without one.
    #[must_use]
    pub fn text(&self) -> &OsStr {
        self.value.as_deref().unwrap_or_default()
    }
}

/// What a command line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed<S> {
    /// Options in order, by what they set.
    pub options: Vec<(S, Given)>,
    /// The rest.
    pub operands: Vec<OsString>,
    /// What is wrong with it, after the options before that; the tool's own words.
    pub error: Option<String>,
}

/// Reads `words`; options may follow operands unless `posix`.
pub fn parse<S: Copy>(words: Vec<OsString>, flags: &[Flag<S>], posix: bool) -> Parsed<S> {
    let mut parsed = Parsed { options: Vec::new(), operands: Vec::new(), error: None };
    let all = words.len();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let (place, before) = (all - words.len(), parsed.options.len());
        let bytes = word.as_bytes();
        let result = match bytes {
            b"--" => {
                parsed.operands.extend(words);
                break;
            }
            [b'-', b'-', long @ ..] => self::long(long, flags, &mut words, &mut parsed),
            [b'-', short @ ..] if !short.is_empty() => {
                self::short(short, flags, &mut words, &mut parsed)
            }
            _ => {
                parsed.operands.push(word);
                if posix {
                    parsed.operands.extend(words);
                    break;
                }
                Ok(())
            }
        };
        parsed.options[before..].iter_mut().for_each(|(_, given)| given.place = place);
        if let Err(error) = result {
            parsed.error = Some(error);
            break;
        }
    }
    parsed
}

fn long<S: Copy>(
    word: &[u8],
    flags: &[Flag<S>],
    words: &mut impl Iterator<Item = OsString>,
    parsed: &mut Parsed<S>,
) -> Result<(), String> {
    let (name, value) = match word.iter().position(|&byte| byte == b'=') {
        Some(at) => (&word[..at], Some(OsStr::from_bytes(&word[at + 1..]).to_owned())),
        None => (word, None),
    };
    let (flag, full) = named(name, flags).map_err(|possible| {
        let word = String::from_utf8_lossy(word);
        match possible.is_empty() {
            true => format!("unrecognized option '--{word}'"),
            false => format!("option '--{word}' is ambiguous; possibilities:{possible}"),
        }
    })?;
    let value = match (flag.value, value) {
        (Value::No, Some(_)) => return Err(format!("option '--{full}' doesn't allow an argument")),
        (Value::Required(_), None) => match words.next() {
            None => return Err(format!("option '--{full}' requires an argument")),
            next => next,
        },
        (_, value) => value,
    };
    parsed.options.push((flag.sets, Given { value, ..Given::default() }));
    Ok(())
}

/// The option of a name or of what abbreviates it, and its full name; else those that the name may
/// stand for.
fn named<'f, S>(name: &[u8], flags: &'f [Flag<S>]) -> Result<(&'f Flag<S>, &'static str), String> {
    let all = || {
        flags
            .iter()
            .enumerate()
            .flat_map(|(at, flag)| flag.long.iter().map(move |long| (at, *long)))
    };
    if let Some((at, long)) = all().find(|(_, long)| long.as_bytes() == name) {
        return Ok((&flags[at], long));
    }
    let fits =
        |(at, long): &(usize, &str)| flags[*at].abbreviates && long.as_bytes().starts_with(name);
    let mut fitting = all().filter(fits);
    match fitting.next() {
        Some((first, long)) if fitting.all(|(other, _)| other == first) => {
            Ok((&flags[first], long))
        }
        _ => {
            let mut possible: Vec<_> = all().filter(fits).collect();
            possible.sort_unstable(); // names of the same option as the tools' own tables have them
            Err(possible.iter().map(|(_, long)| format!(" '--{long}'")).collect())
        }
    }
}

fn short<S: Copy>(
    letters: &[u8],
    flags: &[Flag<S>],
    words: &mut impl Iterator<Item = OsString>,
    parsed: &mut Parsed<S>,
) -> Result<(), String> {
    for (at, &letter) in letters.iter().enumerate() {
        let shown = || String::from_utf8_lossy(&[letter]).into_owned();
        let Some(flag) = flags.iter().find(|flag| flag.short.contains(&letter)) else {
            return Err(format!("invalid option -- '{}'", shown()));
        };
        let mut given = Given { letter: Some(letter), ..Given::default() };
        if flag.value == Value::No {
            parsed.options.push((flag.sets, given));
            continue;
        }
        given.value = match (&letters[at + 1..], flag.value) {
            ([], Value::Required(_)) => match words.next() {
                None => return Err(format!("option requires an argument -- '{}'", shown())),
                next => next,
            },
            ([], _) => None,
            (attached, _) => Some(OsString::from_vec(attached.to_vec())),
        };
        parsed.options.push((flag.sets, given));
        break;
    }
    Ok(())
}

/// The command with all options that are to be shown, for its help, its man page and the
/// completions; it reads no words.
pub fn described<S>(command: Command, flags: &[Flag<S>]) -> Command {
    let shown = flags.iter().filter(|flag| !flag.doc.is_empty());
    command.disable_help_flag(true).disable_version_flag(true).args(shown.map(argument))
}

fn argument<S>(flag: &Flag<S>) -> Arg {
    let letters: Vec<char> = flag.short.iter().copied().map(char::from).collect();
    // Any text that no other option has.
    let id = flag.long.first().copied().unwrap_or(flag.doc);
    let mut argument = Arg::new(id).help(flag.doc).help_heading(flag.group);
    if let [shown, others @ ..] = &letters[..] {
        argument = argument.short(*shown).visible_short_aliases(others.to_vec());
    }
    if let [shown, others @ ..] = flag.long {
        argument = argument.long(*shown).visible_aliases(others.to_vec());
    }
    match flag.value {
        Value::No => argument.action(ArgAction::SetTrue),
        Value::Required(name) => argument.value_name(name),
        Value::Optional(name) => argument.value_name(name).num_args(0..=1).require_equals(true),
    }
}

/// The help of a tool's own `--help`: an option a line.
#[must_use]
pub fn help(command: Command, called: &'static str) -> String {
    let about = command.get_long_about().cloned().unwrap_or_default();
    command.bin_name(called).about(about).render_help().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Flag<char> = Flag {
        short: b"",
        long: &[],
        value: Value::No,
        group: "Options",
        doc: "What it does",
        abbreviates: true,
        sets: ' ',
    };
    const FLAGS: [Flag<char>; 6] = [
        Flag { short: b"lL", long: &["lines"], sets: 'l', ..PLAIN },
        Flag { short: b"n", long: &["number"], value: Value::Required("NUM"), sets: 'n', ..PLAIN },
        Flag { long: &["nothing"], sets: 'o', doc: "", ..PLAIN },
        Flag { long: &["linear"], sets: 'r', abbreviates: false, ..PLAIN },
        Flag {
            short: b"c",
            long: &["color", "colour"],
            value: Value::Optional("WHEN"),
            sets: 'c',
            ..PLAIN
        },
        Flag { short: b"z", sets: 'z', ..PLAIN },
    ];

    fn read(words: &str) -> Parsed<char> {
        parse(words.split_whitespace().map(OsString::from).collect(), &FLAGS, false)
    }

    #[test]
    fn options_and_operands_mix() {
        let parsed = read("a -ln3 --nu 4 b --number=5 --li --linear -c --colo=x -Lz -- -l");
        let options: Vec<(char, Option<&str>, usize)> = parsed
            .options
            .iter()
            .map(|(sets, given)| {
                (*sets, given.value.as_deref().and_then(OsStr::to_str), given.place)
            })
            .collect();
        let expected = [
            ('l', None, 2),
            ('n', Some("3"), 2),
            ('n', Some("4"), 3),
            ('n', Some("5"), 6),
            ('l', None, 7),
            ('r', None, 8),
            ('c', None, 9),
            ('c', Some("x"), 10),
            ('l', None, 11),
            ('z', None, 11),
        ];
        assert_eq!(options, expected);
        assert_eq!(parsed.options[8].1.letter, Some(b'L'));
        assert_eq!(parsed.operands, ["a", "b", "-l"]);
        assert_eq!(parsed.error, None);
    }

    #[test]
    fn errors_are_in_the_words_of_getopt() {
        for (words, error) in [
            ("-x", "invalid option -- 'x'"),
            ("--foo=1", "unrecognized option '--foo=1'"),
            ("--n", "option '--n' is ambiguous; possibilities: '--number' '--nothing'"),
            ("--lin=1", "option '--lines' doesn't allow an argument"),
            ("--numb", "option '--number' requires an argument"),
            ("-n", "option requires an argument -- 'n'"),
        ] {
            assert_eq!(read(words).error.as_deref(), Some(error), "{words}");
        }
    }

    #[test]
    fn the_first_operand_ends_posix_options() {
        let parsed = parse(vec!["a".into(), "-x".into()], &FLAGS, true);
        assert_eq!(parsed.operands, ["a", "-x"]);
    }

    #[test]
    fn what_is_to_be_shown_is_described() {
        let help = described(Command::new("tool"), &FLAGS).render_help().to_string();
        for shown in [
            "-l, --lines",
            "-n, --number <NUM>",
            "    --linear",
            "-c, --color[=<WHEN>]",
            "--colour",
            "-z",
        ] {
            assert!(help.contains(shown), "{shown}\n{help}");
        }
        assert!(!help.contains("nothing"), "{help}");
    }
}
