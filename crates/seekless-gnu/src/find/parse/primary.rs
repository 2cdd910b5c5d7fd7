//! The words of an expression: tests, actions and options by their names.

use super::tree::Kind;
use super::{Parser, Stop};
use crate::clib::locale::{c_string, glob_matches, real_number};
use crate::clib::regex::{Dialect, Regex};
use crate::find::Unknown;
use crate::find::compare::{Bound, whole};
use crate::find::date;
use crate::find::expression::{Action, Expression, Follow, Glob, Roots, Target, Test};
use crate::find::latency;
use crate::find::mode::Permissions;
use crate::find::mounts::is_mounted;
use crate::find::printf::Format;
use crate::find::quote::say;
use crate::find::time::{Stamp, Used};
use rustix::fs::{Access, FileType, Stat};
use rustix::io::Errno;
use seekless_sys::accounts::{group_number, user_number};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

impl Parser<'_> {
    /// Reads the arguments of the word `name`, and adds what it stands for.
    pub(super) fn primary(&mut self, name: &[u8]) -> Result<(), Stop> {
        let short = name.strip_prefix(b"-").unwrap_or(name);
        if self.positional_option(short, name)? {
            return Ok(());
        }
        if is_option(short) {
            self.note_option(name);
            self.option(short, name)?;
            return match short {
                b"files0-from" => Ok(()), // as -daystart
                _ => self.add(name, Expression::Test(Test::True)),
            };
        }
        self.note_test(name);
        match short {
            b"help" | b"-help" => return Err(Stop::Help),
            b"version" | b"-version" => return Err(Stop::Version),
            _ => {}
        }
        if let Some(test) = self.test(short, name)? {
            return self.add(name, Expression::Test(test));
        }
        match self.action(short, name)? {
            Some(action) => self.add(name, Expression::Action(action)),
            None => Err(say!("unknown predicate `", name, "'").into()),
        }
    }

    fn add(&mut self, name: &[u8], part: Expression) -> Result<(), Stop> {
        self.push(name, Kind::Part(part));
        Ok(())
    }

    fn argument(&mut self, name: &[u8]) -> Result<&OsStr, Stop> {
        self.take().ok_or_else(|| say!("missing argument to `", name, "'").into())
    }

    fn bytes(&mut self, name: &[u8]) -> Result<Vec<u8>, Stop> {
        self.argument(name).map(|text| text.as_bytes().to_vec())
    }

    /// Options that count from where they stand on. `-daystart` alone is no part of the expression.
    fn positional_option(&mut self, short: &[u8], name: &[u8]) -> Result<bool, Stop> {
        match short {
            b"daystart" => {
                self.clock = self.clock.since_midnight();
                return Ok(true);
            }
            b"follow" => self.plan.follow = Follow::Always,
            b"nowarn" => self.warns = false,
            b"warn" => self.warns = true,
            b"regextype" => self.dialect = self.dialect(name)?,
            b"-cheapest-first" => self.plan.cheapest_first = true,
            _ => match short.strip_prefix(b"-unknown=") {
                Some(text) => self.plan.unknown = Unknown::parse(&String::from_utf8_lossy(text))?,
                None => return Ok(false),
            },
        }
        self.add(name, Expression::Test(Test::True)).map(|()| true)
    }

    fn option(&mut self, short: &[u8], name: &[u8]) -> Result<(), Stop> {
        match short {
            b"maxdepth" => self.plan.depth_max = self.depth(name)?,
            b"mindepth" => self.plan.depth_min = self.depth(name)?,
            b"depth" | b"d" => {
                if short == b"d" && self.warns() {
                    self.warn(
                        "the -d option is deprecated; please use -depth instead, because the latter is a \
                         POSIX-compliant feature.",
                    );
                }
                self.plan.contents_first = true;
                self.depth_given = true;
            }
            b"xdev" | b"mount" => self.plan.one_file_system = true,
            b"files0-from" => self.plan.roots = Roots::From(self.argument(name)?.to_owned()),
            b"ignore_readdir_race" => self.plan.ignores_gone = true,
            b"noignore_readdir_race" => self.plan.ignores_gone = false,
            _ => {} // -noleaf: nothing to change here
        }
        Ok(())
    }

    fn depth(&mut self, name: &[u8]) -> Result<usize, Stop> {
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

    fn dialect(&mut self, name: &[u8]) -> Result<Dialect, Stop> {
        let text = self.bytes(name)?;
        let known = std::str::from_utf8(&text).ok().and_then(Dialect::named);
        known.ok_or_else(|| {
            let known: Vec<_> = Dialect::NAMED.iter().map(|(name, _)| self.quoted(name.as_bytes())).collect();
            let unknown = self.quoted(&text);
            format!("Unknown regular expression type {unknown}; valid types are {}.", known.join(", ")).into()
        })
    }

    fn test(&mut self, short: &[u8], name: &[u8]) -> Result<Option<Test>, Stop> {
        if let Some(test) = self.test_of_name(short, name)? {
            return Ok(Some(test));
        }
        if let Some(test) = self.test_of_attributes(short, name)? {
            return Ok(Some(test));
        }
        if let Some(test) = self.test_of_time(short, name)? {
            return Ok(Some(test));
        }
        self.test_of_cost(short, name)
    }

    fn test_of_name(&mut self, short: &[u8], name: &[u8]) -> Result<Option<Test>, Stop> {
        Ok(Some(match short {
            b"name" | b"iname" => {
                let glob = self.glob(name, short == b"iname")?;
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
                Test::Name(glob)
            }
            b"path" | b"wholename" | b"ipath" | b"iwholename" => {
                let glob = self.glob(name, short[0] == b'i')?;
                self.warn_of_slash(short, &glob);
                Test::Path(glob)
            }
            b"lname" | b"ilname" => Test::LinkName(self.glob(name, short == b"ilname")?),
            b"regex" | b"iregex" => {
                let pattern = self.bytes(name)?;
                let regex = Regex::new(&pattern, self.dialect, short == b"iregex");
                Test::Regex(
                    regex
                        .map_err(|why| say!("failed to compile regular expression '", pattern, "': ", why))?,
                )
            }
            b"context" => {
                self.argument(name)?;
                return Err("invalid predicate -context: SELinux is not enabled.".into());
            }
            b"true" => Test::True,
            b"false" => Test::False,
            _ => return Ok(None),
        }))
    }

    fn glob(&mut self, name: &[u8], ignore_case: bool) -> Result<Glob, Stop> {
        let pattern = c_string(self.argument(name)?.as_bytes());
        Ok(Glob { pattern, ignore_case })
    }

    /// No path ends with a slash but one from the command line.
    fn warn_of_slash(&mut self, short: &[u8], glob: &Glob) {
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
            self.warn(say!("-", short, " ", pattern, " will not match anything because it ends with /."));
        }
    }

    fn test_of_attributes(&mut self, short: &[u8], name: &[u8]) -> Result<Option<Test>, Stop> {
        Ok(Some(match short {
            b"type" => Test::Type(self.kinds(name)?),
            b"xtype" => Test::OtherType(self.kinds(name)?),
            b"size" => self.size(name)?,
            b"empty" => Test::Empty,
            b"perm" => self.permissions(name)?,
            b"user" => Test::Owner(Bound::Exactly(self.user(name)?)),
            b"group" => Test::Group(Bound::Exactly(self.group(name)?)),
            b"uid" => Test::Owner(self.number(name)?),
            b"gid" => Test::Group(self.number(name)?),
            b"nouser" => Test::NoUser,
            b"nogroup" => Test::NoGroup,
            b"links" => Test::Links(self.number(name)?),
            b"inum" => Test::Inode(self.number(name)?),
            b"samefile" => {
                let stat = self.stat(name)?;
                Test::SameFile { device: stat.st_dev, inode: stat.st_ino }
            }
            b"readable" => Test::Access(Access::READ_OK),
            b"writable" => Test::Access(Access::WRITE_OK),
            b"executable" => Test::Access(Access::EXEC_OK),
            b"fstype" => match self.bytes(name)? {
                kind if is_mounted(&kind) => Test::FileSystem(kind),
                _ => Test::False, // asked first, like all that is certain
            },
            _ => return Ok(None),
        }))
    }

    fn number(&mut self, name: &[u8]) -> Result<Bound<u64>, Stop> {
        // A missing number is told as if it were wrong: GNU find's own slip.
        let text = self.bytes(name).unwrap_or_else(|_| name.to_vec());
        Bound::parse(&text, whole).ok_or_else(|| invalid(&text, name))
    }

    fn user(&mut self, name: &[u8]) -> Result<u64, Stop> {
        let text = self.bytes(name)?;
        match user_number(&text) {
            Some(number) => Ok(number.into()),
            None if text.is_empty() => Err("The argument to -user should not be empty".into()),
            None if text.iter().all(u8::is_ascii_digit) => int(&text).map(u64::from),
            None => Err(say!(self.quoted(&text), " is not the name of a known user").into()),
        }
    }

    fn group(&mut self, name: &[u8]) -> Result<u64, Stop> {
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

    fn permissions(&mut self, name: &[u8]) -> Result<Test, Stop> {
        let text = self.bytes(name)?;
        let permissions =
            Permissions::parse(&text).ok_or_else(|| Stop::from(say!("invalid mode ", self.quoted(&text))))?;
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

    fn kinds(&mut self, name: &[u8]) -> Result<Vec<FileType>, Stop> {
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
                _ => return Err(say!("Must separate multiple arguments to ", name, " using: ','").into()),
            };
        }
        Ok(kinds)
    }

    fn size(&mut self, name: &[u8]) -> Result<Test, Stop> {
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

    fn test_of_time(&mut self, short: &[u8], name: &[u8]) -> Result<Option<Test>, Stop> {
        let newer = match short {
            b"newer" => Some((Stamp::Modification, Stamp::Modification)),
            b"anewer" => Some((Stamp::Access, Stamp::Modification)),
            b"cnewer" => Some((Stamp::Change, Stamp::Modification)),
            _ => None,
        };
        if let Some((left, right)) = newer {
            return Ok(Some(Test::Newer(left, right.of(&self.stat(name)?))));
        }
        match short {
            [b'n', b'e', b'w', b'e', b'r', left, right] => {
                self.newer_by_letters(*left, *right, name).map(Some)
            }
            b"used" => {
                let text = self.bytes(name)?;
                let bound =
                    age(&text).ok_or_else(|| Stop::from(say!("Invalid argument ", text, " to ", name)))?;
                Ok(Some(Test::Used(Used::days(bound))))
            }
            [which @ (b'a' | b'c' | b'm'), unit @ ..] if matches!(unit, b"time" | b"min") => {
                let text = self.bytes(name)?;
                let age = age(&text).ok_or_else(|| invalid(&text, name))?;
                let window = if unit == b"min" { self.clock.minutes(age) } else { self.clock.days(age) };
                Ok(stamp(*which).map(|stamp| Test::Time(stamp, window)))
            }
            _ => Ok(None),
        }
    }

    /// `-newerXY`: X of the file at hand is later than Y of another file, or than a date.
    fn newer_by_letters(&mut self, left: u8, right: u8, name: &[u8]) -> Result<Test, Stop> {
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

    fn stat(&mut self, name: &[u8]) -> Result<Stat, Stop> {
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

    /// What a file costs to read: the paper's `-latency`, and ours.
    fn test_of_cost(&mut self, short: &[u8], name: &[u8]) -> Result<Option<Test>, Stop> {
        Ok(Some(match short {
            b"latency" | b"cost" => {
                let text = self.bytes(name)?;
                let (unit_ns, bound) = latency::parse(&text).ok_or_else(|| invalid(&text, name))?;
                match short {
                    b"cost" => Test::Cost { unit_ns, bound },
                    _ => Test::Latency { unit_ns, bound },
                }
            }
            b"cached" => {
                let share = self.peek().and_then(|word| share(word.as_bytes()));
                if share.is_some() {
                    self.next += 1;
                }
                Test::Cached(share.unwrap_or(Bound::Exactly(100)))
            }
            b"level" => {
                let text = self.argument(name)?.to_string_lossy().into_owned();
                let known = ["hole", "memory", "device", "network", "archive", "unknown"];
                if !known.contains(&text.as_str()) {
                    return Err(format!("no level `{text}': {}", known.join(", ")).into());
                }
                Test::Level(text)
            }
            _ => return Ok(None),
        }))
    }

    fn action(&mut self, short: &[u8], name: &[u8]) -> Result<Option<Action>, Stop> {
        Ok(Some(match short {
            b"print" => Action::Print { to: Target::Output, end: b'\n' },
            b"print0" => Action::Print { to: Target::Output, end: 0 },
            b"fprint" => Action::Print { to: self.file(name)?, end: b'\n' },
            b"fprint0" => Action::Print { to: self.file(name)?, end: 0 },
            b"printf" => Action::Printf { to: Target::Output, format: self.format(name)? },
            b"fprintf" => {
                let path = self.argument(name)?.to_owned();
                if self.peek().is_none() {
                    return Err(invalid(path.as_bytes(), name)); // GNU find's own slip
                }
                Action::Printf { to: self.target(&path)?, format: self.format(name)? }
            }
            b"ls" => Action::List { to: Target::Output },
            b"fls" => Action::List { to: self.file(name)? },
            b"prune" => Action::Prune,
            b"quit" => Action::Quit,
            b"delete" => {
                self.plan.contents_first = true;
                Action::Delete
            }
            b"exec" | b"execdir" | b"ok" | b"okdir" => self.command(name)?,
            _ => return Ok(None),
        }))
    }

    fn format(&mut self, name: &[u8]) -> Result<Format, Stop> {
        let text = self.bytes(name)?;
        Ok(Format::parse(&text, &mut self.warnings)?)
    }

    fn file(&mut self, name: &[u8]) -> Result<Target, Stop> {
        let path = self.argument(name)?.to_owned();
        self.target(&path)
    }
}

fn is_option(short: &[u8]) -> bool {
    matches!(
        short,
        b"maxdepth"
            | b"mindepth"
            | b"depth"
            | b"d"
            | b"xdev"
            | b"mount"
            | b"files0-from"
            | b"noleaf"
            | b"ignore_readdir_race"
            | b"noignore_readdir_race"
    )
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

/// `50`, `+50`, `-50`, each with `%` or without: per cent of a file in memory; without a sign, at least so much.
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
