//! From GNU find's arguments, and ours, to a plan. The words are read one after the other first;
//! how they belong together is settled when all are known, so that a word that means nothing is
//! reported before a parenthesis that is missing.

mod command;
mod leading;
mod primary;
mod tree;
pub(super) mod words;

use super::Unknown;
use super::expression::{Action, Expression, Follow, Plan, Roots, Target, Test};
use super::quote::{quoted, say};
use super::time::Clock;
use crate::clib::regex::Dialect;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use tree::{Kind, Node, Operator};
use words::Reads;

/// Why there is no plan.
#[derive(Debug)]
pub(super) enum Stop {
    /// What GNU find would say after `find: `.
    Wrong(Vec<u8>),
    Help,
    Version,
}

impl From<Vec<u8>> for Stop {
    fn from(message: Vec<u8>) -> Self {
        Stop::Wrong(message)
    }
}

impl From<String> for Stop {
    fn from(message: String) -> Self {
        Stop::Wrong(message.into_bytes())
    }
}

impl From<&str> for Stop {
    fn from(message: &str) -> Self {
        Stop::Wrong(message.into())
    }
}

/// What came of the command line.
#[derive(Debug)]
pub(super) struct Parsed {
    /// To be said before anything else, after `find: `.
    pub(super) warnings: Vec<Vec<u8>>,
    pub(super) plan: Result<Plan, Stop>,
}

/// What is opened where an action names a file for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// The file, which is made if it is not there, and emptied if all of the command line is right.
    Files,
    /// No file: the device that takes everything.
    Nothing,
}

/// Reads the command line.
pub(super) fn parse(arguments: &[OsString], utf8: bool, opening: Opening) -> Parsed {
    let posix = std::env::var_os("POSIXLY_CORRECT").is_some();
    let mut parser = Parser {
        arguments,
        next: 0,
        plan: Plan {
            roots: Roots::Given(Vec::new()),
            follow: Follow::Never,
            depth_min: 0,
            depth_max: usize::MAX,
            contents_first: false,
            one_file_system: false,
            ignores_gone: false,
            cheapest_first: false,
            unknown: Unknown::default(),
            expression: Expression::Test(Test::True),
            files: Vec::new(),
            batches: 0,
            block_bytes: if posix { 512 } else { 1024 },
        },
        clock: Clock::now(),
        given: Vec::new(),
        nodes: Vec::new(),
        last: None,
        dialect: Dialect::default(),
        depth_given: false,
        warnings: Vec::new(),
        warns: rustix::termios::isatty(rustix::stdio::stdin()),
        posix,
        first_test: None,
        utf8,
        opening,
    };
    let settled = parser.settle();
    let Parser { plan, warnings, .. } = parser;
    Parsed { warnings, plan: settled.map(|()| plan) }
}

/// Reads one argument after the other.
struct Parser<'a> {
    arguments: &'a [OsString],
    next: usize,
    plan: Plan,
    clock: Clock,
    /// The paths on the command line.
    given: Vec<OsString>,
    /// The expression's words so far.
    nodes: Vec<Node>,
    /// The last of them, be it one that adds nothing.
    last: Option<Vec<u8>>,
    /// Of the regular expressions that follow.
    dialect: Dialect,
    /// `-depth` was asked for, not only implied.
    depth_given: bool,
    warnings: Vec<Vec<u8>>,
    /// Whether to warn of what is allowed but looks like a mistake.
    warns: bool,
    posix: bool,
    /// The first word that is not an option.
    first_test: Option<Vec<u8>>,
    utf8: bool,
    opening: Opening,
}

impl<'a> Parser<'a> {
    fn settle(&mut self) -> Result<(), Stop> {
        self.leading_options()?;
        while let Some(root) = self.peek().filter(|word| !is_expression(word.as_bytes(), true)) {
            self.given.push(root.to_owned());
            self.next += 1;
        }
        while let Some(word) = self.take() {
            self.word(word.as_bytes())?;
        }
        self.check_delete()?;
        self.plan.expression = tree::build(std::mem::take(&mut self.nodes))?;
        self.settle_roots()?;
        // Only now, so that a wrong command line empties no file.
        for (_, file) in &self.plan.files {
            let _ = file.set_len(0); // devices and pipes have no length
        }
        Ok(())
    }

    /// `-H`, `-L`, `-P`, `-O…`, `-D …` and ours, up to the first other word.
    fn leading_options(&mut self) -> Result<(), Stop> {
        while let Some(word) = self.peek() {
            let known = words::find_leading(word.as_bytes());
            match known.map(|word| word.reads) {
                Some(Reads::Leading(reads) | Reads::Anywhere(reads)) => {
                    self.next += 1;
                    reads(self, word.as_bytes())?;
                }
                _ if word == "--" => {
                    self.next += 1;
                    break;
                }
                _ => break,
            }
        }
        Ok(())
    }

    fn peek(&self) -> Option<&'a OsStr> {
        self.arguments.get(self.next).map(OsString::as_os_str)
    }

    fn take(&mut self) -> Option<&'a OsStr> {
        let word = self.peek()?;
        self.next += 1;
        Some(word)
    }

    /// One word of the expression, and its arguments.
    fn word(&mut self, name: &[u8]) -> Result<(), Stop> {
        if !is_expression(name, false) {
            return Err(self.misplaced(name));
        }
        self.part(name)?;
        // Messages call what came last by the last word, be it one that adds nothing (-daystart).
        if let Some(last) = self.nodes.last_mut() {
            last.name = name.to_vec();
        }
        self.last = Some(name.to_vec());
        Ok(())
    }

    /// Adds a word; what stands side by side is joined by `and`.
    fn push(&mut self, name: &[u8], kind: Kind) {
        let joins = matches!(kind, Kind::Not | Kind::Open | Kind::Part(_));
        let ends =
            matches!(self.nodes.last().map(|node| &node.kind), Some(Kind::Part(_) | Kind::Close));
        if joins && ends {
            self.nodes.push(Node::new(b"-a", Kind::Operator(Operator::And)));
        }
        self.nodes.push(Node::new(name, kind));
    }

    fn misplaced(&self, word: &[u8]) -> Stop {
        let mut message = say!("paths must precede expression: `", word, "'");
        if let Some(last) = &self.last
            && std::fs::metadata(OsStr::from_bytes(word)).is_ok()
        {
            message.extend(say!("\nfind: possible unquoted pattern after predicate `", last, "'?"));
        }
        message.into()
    }

    /// Under `-depth`, which `-delete` implies, `-prune` keeps find out of nothing: files that were
    /// to be kept would go.
    fn check_delete(&self) -> Result<(), Stop> {
        let has = |wanted: fn(&Action) -> bool| {
            self.nodes
                .iter()
                .any(|node| matches!(&node.kind, Kind::Part(Expression::Action(action)) if wanted(action)))
        };
        let deletes = has(|action| matches!(action, Action::Delete));
        match deletes && has(|action| matches!(action, Action::Prune)) && !self.depth_given {
            true => Err("The -delete action automatically turns on -depth, but -prune does nothing when -depth is in \
                effect.  If you want to carry on anyway, just explicitly use the -depth option."
                .into()),
            false => Ok(()),
        }
    }

    /// Paths come from the command line or from the file of `-files0-from`, not from both.
    fn settle_roots(&mut self) -> Result<(), Stop> {
        let given = std::mem::take(&mut self.given);
        match (&self.plan.roots, given.first()) {
            (Roots::From(_), Some(extra)) => Err(say!(
                "extra operand ",
                self.quoted(extra.as_bytes()),
                "\nfind: file operands cannot be combined with -files0-from"
            )
            .into()),
            (Roots::From(file), None) if file == "-" && self.plan.asks() => {
                Err("option -files0-from reading from standard input cannot be combined with -ok, -okdir\n"
                    .into())
            }
            (Roots::From(_), None) => Ok(()),
            (Roots::Given(_), first) => {
                let given = if first.is_none() { vec![".".into()] } else { given };
                self.plan.roots = Roots::Given(given);
                Ok(())
            }
        }
    }

    /// Where an action writes. The file is opened here, so that an error is reported in its turn.
    fn target(&mut self, path: &OsStr) -> Result<Target, Stop> {
        match path.as_bytes() {
            b"/dev/stdout" => return Ok(Target::Output),
            b"/dev/stderr" => return Ok(Target::Messages),
            _ => {}
        }
        let opened = match self.opening {
            Opening::Files => File::options().write(true).create(true).truncate(false).open(path),
            Opening::Nothing => File::options().write(true).open("/dev/null"),
        };
        let file = opened.map_err(|error| self.failed(path, &error))?;
        let identity = |file: &File| file.metadata().map(|about| (about.dev(), about.ino())).ok();
        let same = |other: &File| identity(other).is_some() && identity(other) == identity(&file);
        let files = &mut self.plan.files;
        let number = files.iter().position(|(_, other)| same(other)).unwrap_or(files.len());
        if number == files.len() {
            files.push((path.into(), file));
        }
        Ok(Target::File(number))
    }

    fn failed(&self, path: &OsStr, error: &std::io::Error) -> Stop {
        say!(self.quoted(path.as_bytes()), ": ", crate::words::words(error)).into()
    }

    fn quoted(&self, bytes: &[u8]) -> String {
        quoted(bytes, self.utf8)
    }

    fn warn(&mut self, text: impl AsRef<[u8]>) {
        self.warnings.push(say!("warning: ", text));
    }

    /// Whether warnings of what is allowed are given.
    fn warns(&self) -> bool {
        self.warns && !self.posix
    }

    fn note_test(&mut self, name: &[u8]) {
        self.first_test.get_or_insert_with(|| name.to_vec());
    }

    /// An option counts for all of the command line, wherever it stands.
    fn note_option(&mut self, name: &[u8]) {
        if let Some(first) = self.first_test.clone()
            && self.warns()
        {
            self.warn(say!(
                "you have specified the global option ",
                name,
                " after the argument ",
                first,
                ", but global options are not positional, i.e., ",
                name,
                " affects tests specified before it as well as those specified after it.  Please specify global options \
                 before other arguments."
            ));
        }
    }
}

/// Whether a word belongs to the expression; `)` and `,` do not begin one.
fn is_expression(word: &[u8], first: bool) -> bool {
    match word {
        b"(" | b"!" => true,
        b")" | b"," => !first,
        _ => word.len() > 1 && word[0] == b'-',
    }
}
