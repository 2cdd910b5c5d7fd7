//! Command lines as getopt_long(3) reads them, for the verbs that take another tool's place: its words, abbreviations and
//! messages, and none of the time that a tree of subcommands takes to build.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// An option that a tool knows.
#[derive(Clone, Copy, Debug)]
pub struct Known<T: 'static> {
    /// `x` of `-x`.
    pub short: Option<u8>,
    /// `name` of `--name`; empty where there is none.
    pub long: &'static str,
    /// Whether a value follows.
    pub value: Value,
    /// What the caller calls it.
    pub what: T,
    /// Whether `--na` will do: not for what the tool of the same name does not have, lest its own become ambiguous.
    pub abbreviates: bool,
}

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// None.
    No,
    /// Attached or the next word.
    Required,
    /// Attached only.
    Optional,
}

/// What a command line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed<T> {
    /// Options in order.
    pub options: Vec<(T, Option<OsString>)>,
    /// For each option the number of the word that it stands in.
    pub places: Vec<usize>,
    /// The rest.
    pub operands: Vec<OsString>,
    /// What is wrong with it, after the options before that; the tool's own words.
    pub error: Option<String>,
}

/// Reads `words`; options may follow operands unless `posix`.
pub fn parse<T: Copy + PartialEq>(words: Vec<OsString>, known: &[Known<T>], posix: bool) -> Parsed<T> {
    let mut parsed = Parsed { options: Vec::new(), places: Vec::new(), operands: Vec::new(), error: None };
    let all = words.len();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let place = all - words.len();
        let bytes = word.as_bytes();
        let result = match bytes {
            b"--" => {
                parsed.operands.extend(words);
                break;
            }
            [b'-', b'-', long @ ..] => self::long(long, known, &mut words, &mut parsed),
            [b'-', short @ ..] if !short.is_empty() => self::short(short, known, &mut words, &mut parsed),
            _ => {
                parsed.operands.push(word);
                if posix {
                    parsed.operands.extend(words);
                    break;
                }
                Ok(())
            }
        };
        parsed.places.resize(parsed.options.len(), place);
        if let Err(error) = result {
            parsed.error = Some(error);
            break;
        }
    }
    parsed
}

fn long<T: Copy + PartialEq>(
    word: &[u8],
    known: &[Known<T>],
    words: &mut impl Iterator<Item = OsString>,
    parsed: &mut Parsed<T>,
) -> Result<(), String> {
    let (name, value) = match word.iter().position(|&byte| byte == b'=') {
        Some(at) => (&word[..at], Some(OsStr::from_bytes(&word[at + 1..]).to_owned())),
        None => (word, None),
    };
    let option = match known.iter().find(|option| !option.long.is_empty() && option.long.as_bytes() == name) {
        Some(option) => option,
        None => {
            let begins = |option: &&Known<T>| option.abbreviates && option.long.as_bytes().starts_with(name);
            let mut fitting = known.iter().filter(begins);
            let Some(first) = fitting.next() else {
                return Err(format!("unrecognized option '--{}'", String::from_utf8_lossy(word)));
            };
            if fitting.any(|other| other.what != first.what) {
                let names: String =
                    known.iter().filter(begins).map(|option| format!(" '--{}'", option.long)).collect();
                return Err(format!(
                    "option '--{}' is ambiguous; possibilities:{names}",
                    String::from_utf8_lossy(word)
                ));
            }
            first
        }
    };
    let value = match (option.value, value) {
        (Value::No, Some(_)) => return Err(format!("option '--{}' doesn't allow an argument", option.long)),
        (Value::Required, None) => match words.next() {
            None => return Err(format!("option '--{}' requires an argument", option.long)),
            next => next,
        },
        (_, value) => value,
    };
    parsed.options.push((option.what, value));
    Ok(())
}

fn short<T: Copy>(
    letters: &[u8],
    known: &[Known<T>],
    words: &mut impl Iterator<Item = OsString>,
    parsed: &mut Parsed<T>,
) -> Result<(), String> {
    for (at, &letter) in letters.iter().enumerate() {
        let shown = || String::from_utf8_lossy(&[letter]).into_owned();
        let Some(option) = known.iter().find(|option| option.short == Some(letter)) else {
            return Err(format!("invalid option -- '{}'", shown()));
        };
        if option.value == Value::No {
            parsed.options.push((option.what, None));
            continue;
        }
        let attached = &letters[at + 1..];
        let value = match (attached, option.value) {
            ([], Value::Required) => match words.next() {
                None => return Err(format!("option requires an argument -- '{}'", shown())),
                next => next,
            },
            ([], _) => None,
            _ => Some(OsString::from_vec(attached.to_vec())),
        };
        parsed.options.push((option.what, value));
        break;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [Known<char>; 5] = [
        Known { short: Some(b'l'), long: "lines", value: Value::No, what: 'l', abbreviates: true },
        Known { short: Some(b'n'), long: "number", value: Value::Required, what: 'n', abbreviates: true },
        Known { short: None, long: "nothing", value: Value::No, what: 'o', abbreviates: true },
        Known { short: None, long: "linear", value: Value::No, what: 'r', abbreviates: false },
        Known { short: Some(b'c'), long: "color", value: Value::Optional, what: 'c', abbreviates: true },
    ];

    fn read(words: &str) -> Parsed<char> {
        parse(words.split_whitespace().map(OsString::from).collect(), &KNOWN, false)
    }

    #[test]
    fn options_and_operands_mix() {
        let parsed = read("a -ln3 --nu 4 b --number=5 --li --linear -c --color=x -- -l");
        let options: Vec<(char, Option<&str>)> = parsed
            .options
            .iter()
            .map(|(what, value)| (*what, value.as_deref().and_then(OsStr::to_str)))
            .collect();
        let expected = [
            ('l', None),
            ('n', Some("3")),
            ('n', Some("4")),
            ('n', Some("5")),
            ('l', None),
            ('r', None),
            ('c', None),
            ('c', Some("x")),
        ];
        assert_eq!(options, expected);
        assert_eq!(parsed.operands, ["a", "b", "-l"]);
        assert_eq!(parsed.places, [2, 2, 3, 6, 7, 8, 9, 10]);
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
        let parsed = parse(vec!["a".into(), "-x".into()], &KNOWN, true);
        assert_eq!(parsed.operands, ["a", "-x"]);
    }
}
