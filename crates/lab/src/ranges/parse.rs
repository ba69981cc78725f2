//! Tokens into a tree: terms, joined from left to right.

use super::error::RangeError;
use super::lex::{Op, Placed, Token, lex};

/// How deep parentheses may stand in each other.
const DEEPEST: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    pub first: Term,
    pub rest: Vec<(Op, Term)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    pub column: usize,
    pub kind: TermKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermKind {
    /// `@*`
    All,
    Group {
        source: Option<String>,
        name: String,
    },
    Inner(Box<Expr>),
    Word(String),
}

/// Parses an expression. Fails where a term is missing or a parenthesis has no partner.
pub fn parse(text: &str) -> Result<Expr, RangeError> {
    let tokens = lex(text)?;
    let end = text.chars().count() + 1;
    if tokens.is_empty() {
        return Err(RangeError::new(
            1,
            "the expression is empty",
            "name machines: atom[001-044], @GROUP, or @* for all",
        ));
    }
    let mut parser = Parser { tokens: &tokens, at: 0, end, depth: 0 };
    let expr = parser.expr()?;
    match parser.peek() {
        None => Ok(expr),
        Some(Placed { token: Token::Close, column }) => {
            Err(RangeError::new(*column, "a parenthesis closes that none opened", "leave it out"))
        }
        Some(Placed { token: Token::Group(_), column }) => {
            let hint =
                "join names with a comma; a login stands in lab.toml, in your ssh configuration or behind -l";
            Err(RangeError::new(*column, "an operator is missing here", hint))
        }
        Some(Placed { column, .. }) => {
            Err(RangeError::new(*column, "an operator is missing here", "join names with a comma"))
        }
    }
}

struct Parser<'t> {
    tokens: &'t [Placed],
    at: usize,
    /// The column behind the last character.
    end: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t Placed> {
        self.tokens.get(self.at)
    }

    fn expr(&mut self) -> Result<Expr, RangeError> {
        let first = self.term(None)?;
        let mut rest = Vec::new();
        while let Some(Placed { token: Token::Op(op), .. }) = self.peek() {
            self.at += 1;
            rest.push((*op, self.term(Some(*op))?));
        }
        Ok(Expr { first, rest })
    }

    /// The term behind an operator, or the first one.
    fn term(&mut self, after: Option<Op>) -> Result<Term, RangeError> {
        let Some(Placed { token, column }) = self.peek() else {
            let what = match after {
                Some(op) => format!("nothing stands behind `{}`", op.sign()),
                None => "nothing stands here".to_owned(),
            };
            return Err(RangeError::new(self.end, what, "name machines there"));
        };
        let column = *column;
        self.at += 1;
        let kind = match token {
            Token::Word(word) => TermKind::Word(word.clone()),
            Token::Group(name) => group(name, column)?,
            Token::Open => TermKind::Inner(Box::new(self.inner(column)?)),
            Token::Close => {
                return Err(RangeError::new(column, "nothing stands before `)`", "name machines there"));
            }
            Token::Op(op) => return Err(misplaced(*op, after, column)),
        };
        Ok(Term { column, kind })
    }

    /// The expression behind an opened parenthesis.
    fn inner(&mut self, open: usize) -> Result<Expr, RangeError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let what = format!("more than {DEEPEST} parentheses in each other");
            return Err(RangeError::new(open, what, "write it with fewer"));
        }
        let expr = self.expr()?;
        self.depth -= 1;
        match self.peek() {
            Some(Placed { token: Token::Close, .. }) => {
                self.at += 1;
                Ok(expr)
            }
            Some(Placed { column, .. }) => {
                Err(RangeError::new(*column, "an operator is missing here", "join names with a comma"))
            }
            None => Err(RangeError::new(open, "the parenthesis is not closed", "add )")),
        }
    }
}

/// An operator where names should stand.
fn misplaced(op: Op, after: Option<Op>, column: usize) -> RangeError {
    let hint = match (op, after) {
        (Op::Either, None | Some(Op::Or)) => "a file of names is read with -f FILE",
        (Op::And, Some(Op::And)) => "write one & for names that are in both",
        _ => "name machines there",
    };
    let what = match after {
        Some(after) => format!("nothing stands between `{}` and `{}`", after.sign(), op.sign()),
        None => format!("nothing stands before `{}`", op.sign()),
    };
    RangeError::new(column, what, hint)
}

/// A group by the text behind its sign.
fn group(text: &str, column: usize) -> Result<TermKind, RangeError> {
    if text == "*" {
        return Ok(TermKind::All);
    }
    let (source, name) = match text.split_once(':') {
        Some((source, name)) => (Some(source.to_owned()), name.to_owned()),
        None => (None, text.to_owned()),
    };
    if name.is_empty()
        || source.as_ref().is_some_and(String::is_empty)
        || text.contains('*')
        || name.contains(':')
    {
        let what = format!("`@{text}` names no group");
        return Err(RangeError::new(column, what, "write @NAME, @role:server or @*"));
    }
    Ok(TermKind::Group { source, name })
}
