//! The words of an expression: tests, actions and options by their names.

use super::{Parser, ascii_quoted};
use crate::find::compare::{Bound, whole};
use crate::find::date;
use crate::find::expression::{Action, Command, Follow, Glob, Roots, Target, Test};
use crate::find::latency;
use crate::find::mode::Permissions;
use crate::find::names::{group_number, user_number};
use crate::find::printf::Format;
use crate::find::time::{Stamp, Used};
use crate::gnu::words;
use rustix::fs::{Access, FileType, Stat};
use seekless_sys::locale::c_string;
use seekless_sys::regex::{Dialect, Regex};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// What a word turned out to be.
pub(super) enum Primary {
    Test(Test),
    Action(Action),
    /// Noted in the plan; true as a test.
    Option,
}

impl Parser<'_> {
    /// Reads the word `name` and its arguments.
    pub(super) fn primary(&mut self, name: &str) -> Result<Primary, String> {
        if let Some(test) = self.test_of_name(name)? {
            return Ok(Primary::Test(test));
        }
        if let Some(test) = self.test_of_attributes(name)? {
            return Ok(Primary::Test(test));
        }
        if let Some(test) = self.test_of_time(name)? {
            return Ok(Primary::Test(test));
        }
        if let Some(test) = self.test_of_cost(name)? {
            return Ok(Primary::Test(test));
        }
        if let Some(action) = self.action(name)? {
            return Ok(Primary::Action(action));
        }
        match self.option(name)? {
            true => Ok(Primary::Option),
            false => Err(format!("unknown predicate `{name}'")),
        }
    }

    fn argument(&mut self, name: &str) -> Result<OsString, String> {
        self.tokens.next().map(OsStr::to_owned).ok_or_else(|| format!("missing argument to `{name}'"))
    }

    fn text(&mut self, name: &str) -> Result<String, String> {
        self.argument(name).map(|text| text.to_string_lossy().into_owned())
    }

    fn glob(&mut self, name: &str) -> Result<Glob, String> {
        let pattern = c_string(self.argument(name)?.as_bytes());
        Ok(Glob { pattern, ignore_case: name.starts_with("-i") })
    }

    fn regex(&mut self, name: &str) -> Result<Regex, String> {
        let pattern = self.argument(name)?;
        let wrong =
            |why| format!("failed to compile regular expression '{}': {why}", pattern.to_string_lossy());
        Regex::new(pattern.as_bytes(), self.dialect, name == "-iregex").map_err(wrong)
    }

    fn dialect(&mut self, name: &str) -> Result<Dialect, String> {
        let text = self.text(name)?;
        Dialect::named(&text).ok_or_else(|| {
            let known: Vec<_> =
                Dialect::NAMED.iter().map(|(name, _)| self.name_of(name.as_bytes())).collect();
            let unknown = self.name_of(text.as_bytes());
            format!("Unknown regular expression type {unknown}; valid types are {}.", known.join(", "))
        })
    }

    fn bound(&mut self, name: &str) -> Result<Bound<u64>, String> {
        let text = self.text(name)?;
        Bound::parse(&text, whole).ok_or_else(|| invalid(name, &text))
    }

    fn stat(&mut self, name: &str) -> Result<Stat, String> {
        let path = self.argument(name)?;
        let found = match self.plan.follow {
            Follow::Never => rustix::fs::lstat(path.as_os_str()),
            _ => rustix::fs::stat(path.as_os_str()),
        };
        found.map_err(|error| format!("{}: {}", self.name_of(path.as_bytes()), words(&error.into())))
    }

    fn test_of_name(&mut self, name: &str) -> Result<Option<Test>, String> {
        Ok(Some(match name {
            "-name" | "-iname" => Test::Name(self.glob(name)?),
            "-path" | "-ipath" | "-wholename" | "-iwholename" => Test::Path(self.glob(name)?),
            "-lname" | "-ilname" => Test::LinkName(self.glob(name)?),
            "-regex" | "-iregex" => Test::Regex(self.regex(name)?),
            "-context" => {
                self.argument(name)?;
                return Err("invalid predicate -context: SELinux is not enabled.".to_owned());
            }
            "-true" => Test::True,
            "-false" => Test::False,
            _ => return Ok(None),
        }))
    }

    fn test_of_attributes(&mut self, name: &str) -> Result<Option<Test>, String> {
        Ok(Some(match name {
            "-type" => Test::Type(self.kinds(name)?),
            "-xtype" => Test::OtherType(self.kinds(name)?),
            "-size" => self.size(name)?,
            "-empty" => Test::Empty,
            "-perm" => {
                let text = self.text(name)?;
                Test::Permissions(
                    Permissions::parse(&text)
                        .ok_or_else(|| format!("invalid mode {}", self.name_of(text.as_bytes())))?,
                )
            }
            "-user" | "-group" => {
                let text = self.text(name)?;
                let number = if name == "-user" { user_number(&text) } else { group_number(&text) };
                let what = if name == "-user" { "user" } else { "group" };
                let number = number.ok_or_else(|| {
                    format!("{} is not the name of a known {what}", self.name_of(text.as_bytes()))
                })?;
                match name {
                    "-user" => Test::Owner(Bound::Exactly(number)),
                    _ => Test::Group(Bound::Exactly(number)),
                }
            }
            "-uid" => Test::Owner(self.bound(name)?),
            "-gid" => Test::Group(self.bound(name)?),
            "-nouser" => Test::NoUser,
            "-nogroup" => Test::NoGroup,
            "-links" => Test::Links(self.bound(name)?),
            "-inum" => Test::Inode(self.bound(name)?),
            "-samefile" => {
                let stat = self.stat(name)?;
                Test::SameFile { device: stat.st_dev, inode: stat.st_ino }
            }
            "-readable" => Test::Access(Access::READ_OK),
            "-writable" => Test::Access(Access::WRITE_OK),
            "-executable" => Test::Access(Access::EXEC_OK),
            "-fstype" => Test::FileSystem(self.text(name)?),
            _ => return Ok(None),
        }))
    }

    fn test_of_time(&mut self, name: &str) -> Result<Option<Test>, String> {
        let stamp = |letter: &str| match letter {
            "a" => Some(Stamp::Access),
            "c" => Some(Stamp::Change),
            "m" => Some(Stamp::Modification),
            _ => None,
        };
        let newer = |parser: &mut Self, left: Stamp, right: Stamp| {
            Ok(Some(Test::Newer(left, right.of(&parser.stat(name)?))))
        };
        match name {
            "-newer" => return newer(self, Stamp::Modification, Stamp::Modification),
            "-anewer" => return newer(self, Stamp::Access, Stamp::Modification),
            "-cnewer" => return newer(self, Stamp::Change, Stamp::Modification),
            _ => {}
        }
        if let Some(letters) = name.strip_prefix("-newer").filter(|letters| letters.len() == 2) {
            if let (Some(left), "t") = (stamp(&letters[..1]), &letters[1..]) {
                return self.newer_than_date(name, left).map(Some);
            }
            return match (stamp(&letters[..1]), stamp(&letters[1..])) {
                (Some(_), Some(_)) if self.tokens.peek().is_none() => {
                    Err(format!("The {} test needs an argument", self.name_of(name.as_bytes())))
                }
                (Some(left), Some(right)) => newer(self, left, right),
                _ if letters.contains('B') => Err(format!(
                    "This system does not provide a way to find the birth time of a file.\nfind: invalid predicate `{name}'"
                )),
                _ => Err(format!("invalid predicate `{name}'")),
            };
        }
        if name == "-used" {
            let text = self.text(name)?;
            let bound = age(&text).ok_or_else(|| format!("Invalid argument {text} to -used"))?;
            return Ok(Some(Test::Used(Used::days(bound))));
        }
        let Some(which) = name.get(1..2).and_then(stamp) else { return Ok(None) };
        let window = match &name[2..] {
            "time" => self.age(name).map(|age| self.clock.days(age))?,
            "min" => self.age(name).map(|age| self.clock.minutes(age))?,
            _ => return Ok(None),
        };
        Ok(Some(Test::Time(which, window)))
    }

    fn age(&mut self, name: &str) -> Result<Bound<f64>, String> {
        let text = self.text(name)?;
        age(&text).ok_or_else(|| invalid(name, &text))
    }

    fn newer_than_date(&mut self, name: &str, stamp: Stamp) -> Result<Test, String> {
        let Some(text) = self.tokens.next() else {
            return Err(format!("The {} test needs an argument", self.name_of(name.as_bytes())));
        };
        let date = text.to_str().and_then(|text| date::parse(text, self.clock.start()));
        let than = date.ok_or_else(|| {
            let text = self.name_of(text.as_bytes());
            format!("I cannot figure out how to interpret {text} as a date or time")
        })?;
        Ok(Test::Newer(stamp, than))
    }

    /// What a file costs to read: the paper's `-latency`, and ours.
    fn test_of_cost(&mut self, name: &str) -> Result<Option<Test>, String> {
        Ok(Some(match name {
            "-latency" => {
                let text = self.text(name)?;
                let (unit_ns, bound) = latency::parse(&text).ok_or_else(|| invalid(name, &text))?;
                Test::Latency { unit_ns, bound }
            }
            "-cached" => {
                let share = self.tokens.peek_str().and_then(share);
                if share.is_some() {
                    self.tokens.next();
                }
                Test::Cached(share.unwrap_or(Bound::Exactly(100)))
            }
            "-level" => {
                let text = self.text(name)?;
                let known = ["hole", "memory", "device", "network", "archive", "unknown"];
                if !known.contains(&text.as_str()) {
                    return Err(format!("no level {}: {}", ascii_quoted(text.as_bytes()), known.join(", ")));
                }
                Test::Level(text)
            }
            _ => return Ok(None),
        }))
    }

    fn kinds(&mut self, name: &str) -> Result<Vec<FileType>, String> {
        let text = self.text(name)?;
        if text.is_empty() {
            return Err(format!("Arguments to {name} should contain at least one letter"));
        }
        let mut kinds = Vec::new();
        for part in text.split(',') {
            kinds.push(match part {
                "b" => FileType::BlockDevice,
                "c" => FileType::CharacterDevice,
                "d" => FileType::Directory,
                "f" => FileType::RegularFile,
                "l" => FileType::Symlink,
                "p" => FileType::Fifo,
                "s" => FileType::Socket,
                "D" => {
                    return Err(format!(
                        "{name} D is not supported because Solaris doors are not supported on the platform find was compiled on."
                    ));
                }
                "" => {
                    return Err(format!(
                        "Last file type in list argument to {name} is missing, i.e., list is ending on: ','"
                    ));
                }
                _ if part.len() > 1 => {
                    return Err(format!("Must separate multiple arguments to {name} using: ','"));
                }
                _ => return Err(format!("Unknown argument to {name}: {part}")),
            });
        }
        Ok(kinds)
    }

    fn size(&mut self, name: &str) -> Result<Test, String> {
        let text = self.text(name)?;
        let (number, unit_bytes) = match text.char_indices().next_back() {
            Some((at, letter)) if !letter.is_ascii_digit() => {
                let unit = match letter {
                    'c' => 1,
                    'w' => 2,
                    'b' => 512,
                    'k' => 1 << 10,
                    'M' => 1 << 20,
                    'G' => 1 << 30,
                    other => return Err(format!("invalid {name} type `{other}'")),
                };
                (&text[..at], unit)
            }
            _ => (text.as_str(), 512),
        };
        let bound =
            Bound::parse(number, whole).ok_or_else(|| format!("Invalid argument `{text}' to {name}"))?;
        Ok(Test::Size { unit_bytes, bound })
    }

    fn action(&mut self, name: &str) -> Result<Option<Action>, String> {
        Ok(Some(match name {
            "-print" => Action::Print { to: Target::Output, end: b'\n' },
            "-print0" => Action::Print { to: Target::Output, end: 0 },
            "-fprint" => Action::Print { to: self.file(name)?, end: b'\n' },
            "-fprint0" => Action::Print { to: self.file(name)?, end: 0 },
            "-printf" => Action::Printf { to: Target::Output, format: self.format(name)? },
            "-fprintf" => Action::Printf { to: self.file(name)?, format: self.format(name)? },
            "-ls" => Action::List { to: Target::Output },
            "-fls" => Action::List { to: self.file(name)? },
            "-prune" => Action::Prune,
            "-quit" => Action::Quit,
            "-delete" => {
                self.plan.contents_first = true;
                Action::Delete
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => self.command(name)?,
            _ => return Ok(None),
        }))
    }

    fn format(&mut self, name: &str) -> Result<Format, String> {
        let text = self.argument(name)?;
        Format::parse(text.as_bytes(), &mut self.plan.warnings)
    }

    fn file(&mut self, name: &str) -> Result<Target, String> {
        let path = PathBuf::from(self.argument(name)?);
        if path.as_os_str() == "/dev/stdout" {
            return Ok(Target::Output);
        }
        let number = self.plan.files.iter().position(|other| *other == path).unwrap_or_else(|| {
            self.plan.files.push(path);
            self.plan.files.len() - 1
        });
        Ok(Target::File(number))
    }

    /// The words up to `;`, or up to `{} +`.
    fn command(&mut self, name: &str) -> Result<Action, String> {
        let (in_folder, ask) = (name.ends_with("dir"), name.starts_with("-ok"));
        self.asks |= ask;
        let mut words: Vec<OsString> = Vec::new();
        loop {
            let Some(word) = self.tokens.next() else { return Err(format!("missing argument to `{name}'")) };
            if word == ";" {
                break;
            }
            if word == "+" && !ask && words.last().is_some_and(|last| last == "{}") {
                words.pop();
                if words.is_empty() {
                    return Err(format!("missing argument to `{name}'"));
                }
                if words.iter().any(|word| word.as_bytes().windows(2).any(|pair| pair == b"{}")) {
                    return Err(format!("only one instance of {{}} is supported with {name} ... +"));
                }
                let number = self.plan.batches;
                self.plan.batches += 1;
                return Ok(Action::ExecuteMany { number, command: Command { words, in_folder, ask } });
            }
            words.push(word.to_owned());
        }
        match words.is_empty() {
            true => Err(invalid(name, ";")),
            false => Ok(Action::Execute(Command { words, in_folder, ask })),
        }
    }

    fn option(&mut self, name: &str) -> Result<bool, String> {
        match name {
            "-maxdepth" | "-mindepth" => {
                let text = self.text(name)?;
                let depth = whole(&text).and_then(|depth| usize::try_from(depth).ok()).ok_or_else(|| {
                    format!(
                        "Expected a positive decimal integer argument to {name}, but got {}",
                        self.name_of(text.as_bytes())
                    )
                })?;
                match name {
                    "-maxdepth" => self.plan.depth_max = depth,
                    _ => self.plan.depth_min = depth,
                }
            }
            "-depth" | "-d" => self.plan.contents_first = true,
            "-xdev" | "-mount" => self.plan.one_file_system = true,
            "-follow" => self.plan.follow = Follow::Always,
            "-regextype" => self.dialect = self.dialect(name)?,
            "-files0-from" => self.plan.roots = Roots::From(self.argument(name)?),
            "-daystart" => self.clock = self.clock.since_midnight(),
            "-noleaf" | "-ignore_readdir_race" | "-noignore_readdir_race" | "-warn" | "-nowarn" => {}
            "--cheapest-first" => self.plan.cheapest_first = true,
            _ => match name.strip_prefix("--unknown=") {
                Some(text) => self.plan.unknown = crate::find::Unknown::parse(text)?,
                None => return Ok(false),
            },
        }
        Ok(true)
    }
}

fn age(text: &str) -> Option<Bound<f64>> {
    Bound::parse(text, |text| text.parse().ok().filter(|value: &f64| value.is_finite()))
}

/// `50`, `+50`, `-50`, each with `%` or without: per cent of a file in memory; without a sign, at least so much.
fn share(text: &str) -> Option<Bound<u64>> {
    let bound = Bound::parse(text.strip_suffix('%').unwrap_or(text), whole)?;
    Some(match bound {
        Bound::Exactly(0) => Bound::Exactly(0),
        Bound::Exactly(share) => Bound::More(share - 1),
        signed => signed,
    })
}

fn invalid(name: &str, text: &str) -> String {
    format!("invalid argument `{text}' to `{name}'")
}
