//! From GNU find's arguments, and ours, to a plan.

mod primary;
mod tokens;

use super::Unknown;
use super::expression::{Action, Expression, Follow, Plan, Roots, Target, Test};
use super::quote::quoted;
use super::rank;
use super::time::Clock;
use primary::Primary;
use seekless_sys::regex::Dialect;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use tokens::Tokens;

/// Parentheses and `!` within one another: a limit, so that no command line can exhaust the stack.
const NESTED_MAX: usize = 500;

/// Reads the command line; the error is what GNU find would say after `find: `.
pub(super) fn parse(arguments: &[OsString], utf8: bool) -> Result<Plan, String> {
    let mut parser = Parser {
        tokens: Tokens::new(arguments),
        plan: Plan {
            roots: Roots::Given(Vec::new()),
            follow: Follow::Never,
            depth_min: 0,
            depth_max: usize::MAX,
            contents_first: false,
            one_file_system: false,
            cheapest_first: false,
            unknown: Unknown::default(),
            expression: Expression::Test(Test::True),
            files: Vec::new(),
            batches: 0,
            warnings: Vec::new(),
        },
        clock: Clock::now(),
        given: Vec::new(),
        dialect: Dialect::default(),
        asks: false,
        nested: 0,
        utf8,
    };
    parser.leading_options()?;
    parser.roots()?;
    let expression = parser.expression()?;
    parser.settle_roots()?;
    Ok(parser.finish(expression))
}

/// Reads one argument after the other.
struct Parser<'a> {
    tokens: Tokens<'a>,
    plan: Plan,
    clock: Clock,
    /// The paths on the command line.
    given: Vec<OsString>,
    /// Of the regular expressions that follow.
    dialect: Dialect,
    /// Whether `-ok` reads answers from standard input.
    asks: bool,
    nested: usize,
    utf8: bool,
}

impl Parser<'_> {
    /// `-H`, `-L`, `-P`, `-O…`, `-D …` and ours, before the first path.
    fn leading_options(&mut self) -> Result<(), String> {
        while let Some(token) = self.tokens.peek_str() {
            match token {
                "-P" => self.plan.follow = Follow::Never,
                "-H" => self.plan.follow = Follow::Arguments,
                "-L" => self.plan.follow = Follow::Always,
                "--cheapest-first" => self.plan.cheapest_first = true,
                "--unknown" => {
                    self.tokens.next();
                    let text = self.tokens.peek_str().unwrap_or_default().to_owned();
                    self.plan.unknown = Unknown::parse(&text)?;
                }
                "-D" => {
                    self.tokens.next();
                }
                "--" => {
                    self.tokens.next();
                    return Ok(());
                }
                _ if token.starts_with("--unknown=") => {
                    self.plan.unknown = Unknown::parse(&token["--unknown=".len()..])?;
                }
                _ if token.starts_with("-O") && token.len() > 2 => {} // the order of tests is as written here
                _ => return Ok(()),
            }
            self.tokens.next();
        }
        Ok(())
    }

    fn roots(&mut self) -> Result<(), String> {
        while let Some(token) = self.tokens.peek() {
            if starts_expression(token.as_bytes()) {
                break;
            }
            self.given.push(token.to_owned());
            self.tokens.next();
        }
        Ok(())
    }

    /// Paths come from the command line or from the file of `-files0-from`, not from both.
    fn settle_roots(&mut self) -> Result<(), String> {
        let given = std::mem::take(&mut self.given);
        match (&self.plan.roots, given.first()) {
            (Roots::From(_), Some(extra)) => {
                let extra = self.name_of(extra.as_bytes());
                Err(format!(
                    "extra operand {extra}\nfind: file operands cannot be combined with -files0-from"
                ))
            }
            (Roots::From(file), None) if file == "-" && self.asks => {
                Err("option -files0-from reading from standard input cannot be combined with -ok, -okdir\n"
                    .to_owned())
            }
            (Roots::From(_), None) => Ok(()),
            (Roots::Given(_), first) => {
                let given = if first.is_none() { vec![".".into()] } else { given };
                self.plan.roots = Roots::Given(given);
                Ok(())
            }
        }
    }

    /// All of the expression, or nothing, which is true.
    fn expression(&mut self) -> Result<Expression, String> {
        if self.tokens.peek().is_none() {
            return Ok(Expression::Test(Test::True));
        }
        let expression = self.list()?;
        match self.tokens.peek_str() {
            None => Ok(expression),
            Some(_) => Err("you have too many ')'".to_owned()),
        }
    }

    /// `a , b`: the lowest binding.
    fn list(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.either()?];
        while self.tokens.take(&[","]) {
            parts.push(self.either()?);
        }
        Ok(joined(parts, Expression::List))
    }

    /// `a -o b`
    fn either(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.both()?];
        while self.tokens.take(&["-o", "-or"]) {
            parts.push(self.both()?);
        }
        Ok(joined(parts, Expression::Any))
    }

    /// `a b`, `a -a b`
    fn both(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.not()?];
        loop {
            if self.tokens.take(&["-a", "-and"]) {
                parts.push(self.not()?);
                continue;
            }
            match self.tokens.peek_str() {
                None | Some(")" | "," | "-o" | "-or") => break,
                Some(_) => parts.push(self.not()?),
            }
        }
        Ok(joined(parts, Expression::All))
    }

    fn not(&mut self) -> Result<Expression, String> {
        self.nested += 1;
        if self.nested > NESTED_MAX {
            return Err(format!("invalid expression; more than {NESTED_MAX} parentheses and '!' are nested"));
        }
        let read = self.factor();
        self.nested -= 1;
        read
    }

    fn factor(&mut self) -> Result<Expression, String> {
        let Some(token) = self.tokens.next() else {
            return Err(match self.tokens.previous() {
                Some(previous) => format!("expected an expression after '{previous}'"),
                None => "expected an expression".to_owned(),
            });
        };
        match token.to_str() {
            Some("!" | "-not") => Ok(Expression::Not(Box::new(self.not()?))),
            Some("(") => {
                if self.tokens.peek_str() == Some(")") {
                    return Err("invalid expression; empty parentheses are not allowed.".to_owned());
                }
                let inner = self.list()?;
                match self.tokens.take(&[")"]) {
                    true => Ok(inner),
                    false => Err(
                        "invalid expression; I was expecting to find a ')' somewhere but did not see one."
                            .to_owned(),
                    ),
                }
            }
            Some(")") => Err("invalid expression; you have too many ')'".to_owned()),
            Some(operator @ ("-o" | "-or" | "-a" | "-and" | ",")) => Err(format!(
                "invalid expression; you have used a binary operator '{operator}' with nothing before it."
            )),
            Some(name) if name.starts_with('-') && name.len() > 1 => self.named(name),
            _ => Err(format!("paths must precede expression: {}", ascii_quoted(token.as_bytes()))),
        }
    }

    fn named(&mut self, name: &str) -> Result<Expression, String> {
        Ok(match self.primary(name)? {
            Primary::Test(test) => Expression::Test(test),
            Primary::Action(action) => Expression::Action(action),
            Primary::Option => Expression::Test(Test::True),
        })
    }

    /// An expression that shows nothing by itself prints what it is true for.
    fn finish(mut self, expression: Expression) -> Plan {
        let shows = |part: &Expression| matches!(part, Expression::Action(action) if action.shows());
        let mut expression = expression;
        rank::by_cost(&mut expression);
        self.plan.expression = match expression.any(&shows) {
            true => expression,
            false => {
                let print = Action::Print { to: Target::Output, end: b'\n' };
                Expression::All(vec![expression, Expression::Action(print)])
            }
        };
        self.plan
    }

    fn name_of(&self, bytes: &[u8]) -> String {
        quoted(bytes, self.utf8)
    }
}

/// One part stands for itself.
fn joined(mut parts: Vec<Expression>, join: fn(Vec<Expression>) -> Expression) -> Expression {
    match parts.len() {
        1 => parts.remove(0),
        _ => join(parts),
    }
}

fn starts_expression(token: &[u8]) -> bool {
    token.len() > 1 && token[0] == b'-' || matches!(token, b"(" | b")" | b"!" | b",")
}

/// GNU find quotes what it does not understand like this in every locale.
fn ascii_quoted(token: &[u8]) -> String {
    format!("`{}'", String::from_utf8_lossy(token))
}
