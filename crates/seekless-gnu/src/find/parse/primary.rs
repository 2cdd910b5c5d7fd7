//! What follows the words of an expression: the arguments of tests, actions and options.

use super::words::{Part, Reads};
use super::{Parser, Stop, words};
use crate::clib::locale::{c_string, glob_matches, real_number};
use crate::clib::regex::{Dialect, Regex};
use crate::find::Unknown;
use crate::find::compare::{Bound, whole};
use crate::find::cost::CostTest;
use crate::find::date;
use crate::find::expression::{Action, Expression, Follow, Glob, Target, Test};
use crate::find::latency;
use crate::find::mode::Permissions;
use crate::find::mounts::is_mounted;
use crate::find::parse::tree::Kind;
use crate::find::printf::Format;
use crate::find::quote::say;
use crate::find::time::{Stamp, Used};
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;
use seekless_sled::Level;
use seekless_sys::accounts::{group_number, user_number};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

impl Parser<'_> {
    /// Reads the arguments of the word `name`, and adds what it stands for.
    pub(super) fn part(&mut self, name: &[u8]) -> Result<(), Stop> {
        let Some(word) = words::find(name) else {
            self.note_test(name);
            return Err(say!("unknown predicate `", name, "'").into());
        };
        match word.reads {
            Reads::Positional(_) | Reads::Anywhere(_) | Reads::Leading(_) => {}
            Reads::Global(_) => self.note_option(name),
            _ => self.note_test(name),
        }
        let part = match word.reads {
            Reads::Leading(reads) | Reads::Anywhere(reads) => {
                reads(self, name).map(|()| always(Part::Yes))?
            }
            Reads::Positional(reads) | Reads::Global(reads) => always(reads(self, name)?),
            Reads::Joins(kind) => Some(kind()),
            Reads::Test(reads) => Some(Kind::Part(Expression::Test(reads(self, name)?))),
            Reads::Action(reads) => Some(Kind::Part(Expression::Action(reads(self, name)?))),
            Reads::Stops(stop) => return Err(stop()),
        };
        if let Some(kind) = part {
            self.push(name, kind);
        }
        Ok(())
    }

    pub(super) fn argument(&mut self, name: &[u8]) -> Result<&OsStr, Stop> {
        self.take().ok_or_else(|| say!("missing argument to `", name, "'").into())
    }

    fn bytes(&mut self, name: &[u8]) -> Result<Vec<u8>, Stop> {
        self.argument(name).map(|text| text.as_bytes().to_vec())
    }

    /// `--unknown=skip`; before the first path also in two words.
    pub(super) fn unknown(&mut self, name: &[u8]) -> Result<(), Stop> {
        let attached = name.iter().position(|&byte| byte == b'=').map(|at| name[at + 1..].to_vec());
        let text = match attached {
            Some(text) => text,
            None => self.take().unwrap_or_default().as_bytes().to_vec(),
        };
        self.plan.unknown = Unknown::parse(&String::from_utf8_lossy(&text))?;
        Ok(())
    }

    pub(super) fn contents_first(&mut self, name: &[u8]) -> Result<Part, Stop> {
        if name == b"-d" && self.warns() {
            self.warn(
                "the -d option is deprecated; please use -depth instead, because the latter is a POSIX-compliant \
                 feature.",
            );
        }
        (self.plan.contents_first, self.depth_given) = (true, true);
        Ok(Part::Yes)
    }

    pub(super) fn depth(&mut self, name: &[u8]) -> Result<usize, Stop> {
        let text = self.bytes(name)?;
        if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
            return Err(say!(
                "Expected a positive decimal integer argument to ",
                name,
                ", but got ",
                self.quoted(&text)
            )
            .into());
        }
        int(&text).map(|depth| depth as usize)
    }

    pub(super) fn dialect(&mut self, name: &[u8]) -> Result<Dialect, Stop> {
        let text = self.bytes(name)?;
        let known = std::str::from_utf8(&text).ok().and_then(Dialect::named);
        known.ok_or_else(|| {
            let known: Vec<_> =
                Dialect::NAMED.iter().map(|(name, _)| self.quoted(name.as_bytes())).collect();
            let unknown = self.quoted(&text);
            format!(
                "Unknown regular expression type {unknown}; valid types are {}.",
                known.join(", ")
            )
            .into()
        })
    }

    pub(super) fn base_name(&mut self, name: &[u8], ignore_case: bool) -> Result<Test, Stop> {
        let glob = self.glob(name, ignore_case)?;
        if self.warns() && glob.pattern.to_bytes().contains(&b'/') {
            let whole = if glob.ignore_case { b"-iwholename".as_slice() } else { b"-wholename" };
            let (test, slash, whole) = (self.quoted(name), self.quoted(b"/"), self.quoted(whole));
            self.warn(say!(
                test,
                " matches against basenames only, but the given pattern contains a directory separator (",
                slash,
                "), thus the expression will evaluate to false all the time.  Did you mean ",
                whole,
                "?"
            ));
        }
        Ok(Test::Name(glob))
    }

    pub(super) fn path(&mut self, name: &[u8], ignore_case: bool) -> Result<Test, Stop> {
        let glob = self.glob(name, ignore_case)?;
        self.warn_of_slash(name, &glob);
        Ok(Test::Path(glob))
    }

    pub(super) fn regex(&mut self, name: &[u8], ignore_case: bool) -> Result<Test, Stop> {
        let pattern = self.bytes(name)?;
        let regex = Regex::new(&pattern, self.dialect, ignore_case);
        let regex = regex
            .map_err(|why| say!("failed to compile regular expression '", pattern, "': ", why))?;
        Ok(Test::Regex(regex))
    }

    pub(super) fn glob(&mut self, name: &[u8], ignore_case: bool) -> Result<Glob, Stop> {
        let pattern = c_string(self.argument(name)?.as_bytes());
        Ok(Glob { pattern, ignore_case })
    }

    /// No path ends with a slash but one from the command line.
    fn warn_of_slash(&mut self, name: &[u8], glob: &Glob) {
        let pattern = glob.pattern.to_bytes();
        if self.posix || pattern.last() != Some(&b'/') {
            return;
        }
        let matches = |root: &[u8]| glob_matches(&glob.pattern, &c_string(root), glob.ignore_case);
        let feasible = match self.given.is_empty() {
            true => matches(b"."),
            false => self.given.iter().any(|root| matches(root.as_bytes())),
        };
        if !feasible {
            self.warn(say!(name, " ", pattern, " will not match anything because it ends with /."));
        }
    }

    pub(super) fn number(&mut self, name: &[u8]) -> Result<Bound<u64>, Stop> {
        // A missing number is reported as if it were wrong: GNU find's own slip.
        let text = self.bytes(name).unwrap_or_else(|_| name.to_vec());
        Bound::parse(&text, whole).ok_or_else(|| invalid(&text, name))
    }

    pub(super) fn user(&mut self, name: &[u8]) -> Result<u64, Stop> {
        let text = self.bytes(name)?;
        match user_number(&text) {
            Some(number) => Ok(number.into()),
            None if text.is_empty() => Err("The argument to -user should not be empty".into()),
            None if text.iter().all(u8::is_ascii_digit) => int(&text).map(u64::from),
            None => Err(say!(self.quoted(&text), " is not the name of a known user").into()),
        }
    }

    pub(super) fn group(&mut self, name: &[u8]) -> Result<u64, Stop> {
        let text = self.bytes(name)?;
        if let Some(number) = group_number(&text) {
            return Ok(number.into());
        }
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if text.is_empty() {
            return Err("argument to -group is empty, but should be a group name".into());
        }
        if digits == text.len() {
            return int(&text).map(u64::from);
        }
        let mut message = say!(self.quoted(&text), " is not the name of an existing group");
        if digits > 0 {
            message.extend(say!(
                " and it does not look like a numeric group ID because it has the unexpected suffix ",
                self.quoted(&text[digits..])
            ));
        }
        Err(message.into())
    }

    pub(super) fn permissions(&mut self, name: &[u8]) -> Result<Test, Stop> {
        let text = self.bytes(name)?;
        let permissions = Permissions::parse(&text)
            .ok_or_else(|| Stop::from(say!("invalid mode ", self.quoted(&text))))?;
        if permissions.is_any_of_none() {
            self.warn(say!(
                "you have specified a mode pattern ",
                text,
                " (which is equivalent to /000). The meaning of -perm /000 has now been changed to be consistent with \
                 -perm -000; that is, while it used to match no files, it now matches all files."
            ));
        }
        Ok(Test::Permissions(permissions))
    }

    pub(super) fn kinds(&mut self, name: &[u8]) -> Result<Vec<FileType>, Stop> {
        let text = self.bytes(name)?;
        if text.is_empty() {
            return Err(say!("Arguments to ", name, " should contain at least one letter").into());
        }
        let mut kinds = Vec::new();
        let mut letters = &text[..];
        while let [letter, rest @ ..] = letters {
            let kind = kind(*letter, name)?;
            if kinds.contains(&kind) {
                return Err(say!(
                    "Duplicate file type '",
                    [*letter],
                    "' in the argument list to ",
                    name,
                    "."
                )
                .into());
            }
            kinds.push(kind);
            letters = match rest {
                [] => rest,
                [b','] => {
                    return Err(say!(
                        "Last file type in list argument to ",
                        name,
                        " is missing, i.e., list is ending on: ','"
                    )
                    .into());
                }
                [b',', rest @ ..] => rest,
                _ => {
                    return Err(
                        say!("Must separate multiple arguments to ", name, " using: ','").into()
                    );
                }
            };
        }
        Ok(kinds)
    }

    pub(super) fn size(&mut self, name: &[u8]) -> Result<Test, Stop> {
        let text = self.bytes(name)?;
        let Some((&last, number)) = text.split_last() else {
            return Err(say!("invalid null argument to ", name).into());
        };
        let (number, unit_bytes) = match last {
            b'c' => (number, 1),
            b'w' => (number, 2),
            b'b' => (number, 512),
            b'k' => (number, 1 << 10),
            b'M' => (number, 1 << 20),
            b'G' => (number, 1 << 30),
            b'0'..=b'9' => (&text[..], 512),
            _ => return Err(say!("invalid ", name, " type `", [last], "'").into()),
        };
        match Bound::parse(number, whole) {
            Some(bound) => Ok(Test::Size { unit_bytes, bound }),
            None => Err(say!("Invalid argument `", text, "' to ", name).into()),
        }
    }

    pub(super) fn file_system(&mut self, name: &[u8]) -> Result<Test, Stop> {
        Ok(match self.bytes(name)? {
            kind if is_mounted(&kind) => Test::FileSystem(kind),
            _ => Test::False, // asked first, like all that is certain
        })
    }

    pub(super) fn newer(&mut self, name: &[u8], which: Stamp) -> Result<Test, Stop> {
        Ok(Test::Newer(which, Stamp::Modification.of(&self.stat(name)?)))
    }

    pub(super) fn used(&mut self, name: &[u8]) -> Result<Test, Stop> {
        let text = self.bytes(name)?;
        let bound =
            age(&text).ok_or_else(|| Stop::from(say!("Invalid argument ", text, " to ", name)))?;
        Ok(Test::Used(Used::days(bound)))
    }

    pub(super) fn minutes(&mut self, name: &[u8], which: Stamp) -> Result<Test, Stop> {
        let age = self.age(name)?;
        Ok(Test::Time(which, self.clock.minutes(age)))
    }

    pub(super) fn days(&mut self, name: &[u8], which: Stamp) -> Result<Test, Stop> {
        let age = self.age(name)?;
        Ok(Test::Time(which, self.clock.days(age)))
    }

    fn age(&mut self, name: &[u8]) -> Result<Bound<f64>, Stop> {
        let text = self.bytes(name)?;
        age(&text).ok_or_else(|| invalid(&text, name))
    }

    /// `-newerXY`: X of the file at hand is later than Y of another file, or than a date.
    pub(super) fn newer_by_letters(&mut self, name: &[u8]) -> Result<Test, Stop> {
        let [.., left, right] = *name else {
            return Err(say!("invalid predicate `", name, "'").into());
        };
        let no_predicate = say!("invalid predicate `", name, "'");
        if left == b'B' || right == b'B' {
            return Err(say!(
                "This system does not provide a way to find the birth time of a file.\nfind: ",
                no_predicate
            )
            .into());
        }
        let Some(argument) = self.take() else {
            return Err(match is_newer(left, right) {
                true => say!("The ", self.quoted(name), " test needs an argument").into(),
                false => no_predicate.into(),
            });
        };
        let (Some(left), true) = (stamp(left), is_newer(left, right)) else {
            return Err(no_predicate.into());
        };
        let than = match stamp(right) {
            Some(right) => right.of(&self.stat_of(argument)?),
            None => date::parse(argument.as_bytes(), self.clock.start()).ok_or_else(|| {
                let text = self.quoted(argument.as_bytes());
                Stop::from(format!("I cannot figure out how to interpret {text} as a date or time"))
            })?,
        };
        Ok(Test::Newer(left, than))
    }

    pub(super) fn stat(&mut self, name: &[u8]) -> Result<Stat, Stop> {
        let path = self.argument(name)?.to_owned();
        self.stat_of(&path)
    }

    fn stat_of(&self, path: &OsStr) -> Result<Stat, Stop> {
        let found = match self.plan.follow {
            Follow::Never => rustix::fs::lstat(path),
            _ => match rustix::fs::stat(path) {
                // A link to nowhere is itself.
                Err(Errno::NOENT | Errno::NOTDIR) => rustix::fs::lstat(path),
                found => found,
            },
        };
        found.map_err(|error| self.failed(path, &error.into()))
    }

    /// What `-latency` and `-cost` ask (the paper's `-latency`, and ours).
    pub(super) fn price(&mut self, name: &[u8]) -> Result<(u64, Bound<u64>), Stop> {
        let text = self.bytes(name)?;
        latency::parse(&text).ok_or_else(|| invalid(&text, name))
    }

    pub(super) fn cached(&mut self, _: &[u8]) -> Result<Test, Stop> {
        let share = self.peek().and_then(|word| share(word.as_bytes()));
        if share.is_some() {
            self.next += 1;
        }
        Ok(Test::OfCost(CostTest::Cached(share.unwrap_or(Bound::Exactly(100)))))
    }

    pub(super) fn level(&mut self, name: &[u8]) -> Result<Test, Stop> {
        use Level::{Archive, Device, Hole, Memory, Network, Unknown};
        let text = self.argument(name)?.to_string_lossy().into_owned();
        let known = [Hole, Memory, Device, Network, Archive, Unknown];
        match known.into_iter().find(|level| level.name() == text) {
            Some(level) => Ok(Test::OfCost(CostTest::Level(level))),
            None => {
                let names = known.map(Level::name).join(", ");
                Err(format!("no level `{text}': {names}").into())
            }
        }
    }

    pub(super) fn printf_to_file(&mut self, name: &[u8]) -> Result<Action, Stop> {
        let path = self.argument(name)?.to_owned();
        if self.peek().is_none() {
            return Err(invalid(path.as_bytes(), name)); // GNU find's own slip
        }
        Ok(Action::Printf { to: self.target(&path)?, format: self.format(name)? })
    }

    pub(super) fn format(&mut self, name: &[u8]) -> Result<Format, Stop> {
        let text = self.bytes(name)?;
        Ok(Format::parse(&text, &mut self.warnings)?)
    }

    pub(super) fn file(&mut self, name: &[u8]) -> Result<Target, Stop> {
        let path = self.argument(name)?.to_owned();
        self.target(&path)
    }
}

/// What is always true, where it is a part of the expression.
fn always(part: Part) -> Option<Kind> {
    (part == Part::Yes).then_some(Kind::Part(Expression::Test(Test::True)))
}

fn stamp(letter: u8) -> Option<Stamp> {
    match letter {
        b'a' => Some(Stamp::Access),
        b'c' => Some(Stamp::Change),
        b'm' => Some(Stamp::Modification),
        _ => None,
    }
}

/// Whether there is a `-newerXY`.
fn is_newer(left: u8, right: u8) -> bool {
    stamp(left).is_some() && (stamp(right).is_some() || right == b't')
}

fn kind(letter: u8, name: &[u8]) -> Result<FileType, Stop> {
    Ok(match letter {
        b'b' => FileType::BlockDevice,
        b'c' => FileType::CharacterDevice,
        b'd' => FileType::Directory,
        b'f' => FileType::RegularFile,
        b'l' => FileType::Symlink,
        b'p' => FileType::Fifo,
        b's' => FileType::Socket,
        b'D' => {
            return Err(say!(
                name,
                " D is not supported because Solaris doors are not supported on the platform find was compiled on."
            )
            .into());
        }
        _ => return Err(say!("Unknown argument to ", name, ": ", [letter]).into()),
    })
}

fn age(text: &[u8]) -> Option<Bound<f64>> {
    Bound::parse(text, |text| real_number(&c_string(text)).filter(|value| !value.is_nan()))
}

/// Digits as a C int.
fn int(text: &[u8]) -> Result<u32, Stop> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<i32>().ok());
    number
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| say!(text, ": Numerical result out of range").into())
}

/// `50`, `+50`, `-50`, each with `%` or without: per cent of a file in memory; without a sign, at
/// least this.
fn share(text: &[u8]) -> Option<Bound<u64>> {
    let bound = Bound::parse(text.strip_suffix(b"%").unwrap_or(text), whole)?;
    Some(match bound {
        Bound::Exactly(0) => Bound::Exactly(0),
        Bound::Exactly(share) => Bound::More(share - 1),
        signed => signed,
    })
}

fn invalid(text: &[u8], name: &[u8]) -> Stop {
    say!("invalid argument `", text, "' to `", name, "'").into()
}
