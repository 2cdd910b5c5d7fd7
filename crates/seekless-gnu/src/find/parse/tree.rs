//! How the words of an expression belong together: parentheses, `!`, `and` before `or` before the
//! comma.

use super::Stop;
use crate::deep::LEVELS_MAX;
use crate::find::expression::{Action, Expression, Target};
use crate::find::quote::say;
use crate::find::rank;

/// A word of the expression.
#[derive(Debug)]
pub(super) struct Node {
    /// As it was written.
    pub(super) name: Vec<u8>,
    pub(super) kind: Kind,
    /// Put there by us.
    ours: bool,
}

#[derive(Debug)]
pub(super) enum Kind {
    Part(Expression),
    Not,
    Open,
    Close,
    Operator(Operator),
}

/// Between two parts; the later binds the closer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operator {
    List,
    Or,
    And,
}

impl Operator {
    /// `a b c` are three parts, not two of two, and `( a b ) c` too: what is reordered is all of
    /// them.
    fn join(self, left: Expression, right: Expression) -> Expression {
        let chain = |left: Expression| match (left, self) {
            (Expression::List(parts), Operator::List)
            | (Expression::Any(parts), Operator::Or)
            | (Expression::All(parts), Operator::And) => parts,
            (left, _) => vec![left],
        };
        let mut parts = chain(left);
        parts.push(right);
        match self {
            Operator::List => Expression::List(parts),
            Operator::Or => Expression::Any(parts),
            Operator::And => Expression::All(parts),
        }
    }
}

impl Node {
    pub(super) fn new(name: &[u8], kind: Kind) -> Self {
        Node { name: name.to_vec(), kind, ours: false }
    }

    fn ours(name: &[u8], kind: Kind) -> Self {
        Node { ours: true, ..Node::new(name, kind) }
    }
}

/// The expression of these words; one that shows nothing by itself prints what it is true for.
pub(super) fn build(mut nodes: Vec<Node>) -> Result<Expression, Stop> {
    let print = || Expression::Action(Action::Print { to: Target::Output, end: b'\n' });
    if nodes.is_empty() {
        return Ok(print());
    }
    let shows = |node: &Node| matches!(&node.kind, Kind::Part(Expression::Action(action)) if action.shows());
    if !nodes.iter().any(shows) {
        nodes.insert(0, Node::ours(b"(", Kind::Open));
        nodes.push(Node::ours(b")", Kind::Close));
        nodes.push(Node::ours(b"-a", Kind::Operator(Operator::And)));
        nodes.push(Node::ours(b"-print", Kind::Part(print())));
    }
    let mut words = Words { nodes, next: 0, nested: 0 };
    let mut expression = words.expression(None, None)?;
    match words.nodes.get(words.next) {
        None => {}
        Some(Node { kind: Kind::Close, .. }) => return Err("you have too many ')'".into()),
        Some(node) => return Err(say!("unexpected extra predicate '", node.name, "'").into()),
    }
    rank::by_cost(&mut expression);
    Ok(expression)
}

struct Words {
    nodes: Vec<Node>,
    next: usize,
    nested: usize,
}

impl Words {
    /// An expression up to an operator that binds no closer than `above`; `before` is the word that
    /// it follows.
    fn expression(
        &mut self,
        above: Option<Operator>,
        before: Option<usize>,
    ) -> Result<Expression, Stop> {
        self.enter()?;
        let mut left = self.factor(before)?;
        while let Some(operator) = self.operator().filter(|operator| Some(*operator) > above) {
            let at = self.next;
            self.next += 1;
            let right = self.expression(Some(operator), Some(at))?;
            left = operator.join(left, right);
        }
        self.nested -= 1;
        Ok(left)
    }

    fn operator(&self) -> Option<Operator> {
        match self.nodes.get(self.next)?.kind {
            Kind::Operator(operator) => Some(operator),
            _ => None,
        }
    }

    /// A part, or what stands in parentheses, or the opposite of either.
    fn factor(&mut self, before: Option<usize>) -> Result<Expression, Stop> {
        let at = self.next;
        let Some(node) = self.nodes.get_mut(at) else { return Err("invalid expression".into()) };
        self.next += 1;
        match &mut node.kind {
            Kind::Part(part) => Ok(std::mem::replace(part, Expression::List(Vec::new()))),
            Kind::Not => self.not(at),
            Kind::Open => self.parentheses(at),
            Kind::Operator(_) => Err(say!(
                "invalid expression; you have used a binary operator '",
                node.name,
                "' with nothing before it."
            )
            .into()),
            Kind::Close => Err(self.nothing_before_close(at, before)),
        }
    }

    fn not(&mut self, at: usize) -> Result<Expression, Stop> {
        self.enter()?;
        let inner = self.factor(Some(at))?;
        self.nested -= 1;
        Ok(Expression::Not(Box::new(inner)))
    }

    /// Goes one level deeper. The limit keeps a command line from exhausting the stack.
    fn enter(&mut self) -> Result<(), Stop> {
        self.nested += 1;
        match self.nested > LEVELS_MAX {
            false => Ok(()),
            true => Err(format!(
                "invalid expression; more than {LEVELS_MAX} parentheses and '!' are nested"
            )
            .into()),
        }
    }

    fn parentheses(&mut self, at: usize) -> Result<Expression, Stop> {
        match self.nodes.get(self.next) {
            None | Some(Node { ours: true, .. }) => {
                return Err(say!(
                    "invalid expression; expected to find a ')' but didn't see one. Perhaps you need an extra predicate \
                     after '",
                    self.nodes[at].name,
                    "'"
                )
                .into());
            }
            Some(close @ Node { kind: Kind::Close, .. }) if self.nodes[at].ours => {
                return Err(nothing_before(close));
            }
            Some(Node { kind: Kind::Close, .. }) => {
                return Err("invalid expression; empty parentheses are not allowed.".into());
            }
            Some(_) => {}
        }
        let inner = self.expression(None, Some(at))?;
        match self.nodes.get(self.next) {
            Some(Node { kind: Kind::Close, .. }) => {
                self.next += 1;
                Ok(inner)
            }
            _ => Err(
                "invalid expression; I was expecting to find a ')' somewhere but did not see one."
                    .into(),
            ),
        }
    }

    fn nothing_before_close(&self, at: usize, before: Option<usize>) -> Stop {
        let before = before.map(|before| &self.nodes[before]);
        match before {
            None => nothing_before(&self.nodes[at]),
            Some(Node { name, kind: Kind::Not | Kind::Operator(_), .. })
                if !self.nodes[at].ours =>
            {
                say!("expected an expression between '", name, "' and ')'").into()
            }
            Some(Node { name, .. }) if self.nodes[at].ours => {
                say!("expected an expression after '", name, "'").into()
            }
            _ => "invalid expression; you have too many ')'".into(),
        }
    }
}

fn nothing_before(close: &Node) -> Stop {
    say!("invalid expression: expected expression before closing parentheses '", close.name, "'.")
        .into()
}
