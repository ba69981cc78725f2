//! Characters into tokens. Capital letters become small ones: names are lower case.

use super::error::RangeError;

/// How two sets are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `,`
    Or,
    /// `!`
    Not,
    /// `&`
    And,
    /// `^`
    Either,
}

impl Op {
    pub const fn sign(self) -> char {
        match self {
            Op::Or => ',',
            Op::Not => '!',
            Op::And => '&',
            Op::Either => '^',
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    Op(Op),
    Open,
    Close,
    /// `@name`, `@source:name`, `@*`: the text behind the sign.
    Group(String),
    /// Letters and closed brackets, not read further.
    Word(String),
}

/// A token and the column of its first character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    pub token: Token,
    pub column: usize,
}

/// Cuts an expression into tokens. Fails where a character has no place in one, or a bracket is not closed.
pub fn lex(text: &str) -> Result<Vec<Placed>, RangeError> {
    let chars: Vec<char> = text.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let column = at + 1;
        let (token, end) = match c {
            ',' => (Token::Op(Op::Or), at + 1),
            '!' => (Token::Op(Op::Not), at + 1),
            '&' => (Token::Op(Op::And), at + 1),
            '^' => (Token::Op(Op::Either), at + 1),
            '(' => (Token::Open, at + 1),
            ')' => (Token::Close, at + 1),
            '@' => group(&chars, at)?,
            _ => word(&chars, at)?,
        };
        tokens.push(Placed { token, column });
        at = end;
    }
    Ok(tokens)
}

/// A group from its sign on, and where it ends.
fn group(chars: &[char], at: usize) -> Result<(Token, usize), RangeError> {
    let is_letter = |c: &&char| c.is_ascii_alphanumeric() || "-_.:*".contains(**c);
    let name: String = chars[at + 1..].iter().take_while(is_letter).collect();
    if name.is_empty() {
        return Err(RangeError::new(at + 1, "a group without a name", "write @NAME, @role:server or @*"));
    }
    let end = at + 1 + name.chars().count();
    Ok((Token::Group(name), end))
}

/// A word from its first character on, and where it ends.
fn word(chars: &[char], start: usize) -> Result<(Token, usize), RangeError> {
    let mut at = start;
    let mut word = String::new();
    while let Some(&c) = chars.get(at) {
        if c == '[' {
            let end = bracket(chars, at)?;
            word.extend(&chars[at..end]);
            at = end;
        } else if c.is_ascii_alphanumeric() || "-_.+/*?".contains(c) {
            word.push(c);
            at += 1;
        } else if ",!&^()@".contains(c) {
            break;
        } else {
            return Err(stray(c, at + 1));
        }
    }
    match chars[start] {
        '-' => Err(RangeError::new(
            start + 1,
            "a name does not begin with -",
            "leave names out with !NAME or -x NAME",
        )),
        '/' => Err(RangeError::new(
            start + 1,
            "regular expressions are not read",
            "write * and ? for what is left open",
        )),
        _ => Ok((Token::Word(word), at)),
    }
}

/// The end of a bracket that opens here.
fn bracket(chars: &[char], open: usize) -> Result<usize, RangeError> {
    for (at, c) in chars.iter().enumerate().skip(open + 1) {
        match c {
            ']' if at == open + 1 => {
                return Err(RangeError::new(
                    open + 1,
                    "the bracket is empty",
                    "write numbers in it: a[1-5,7]",
                ));
            }
            ']' if chars.get(at + 1) == Some(&'[') => {
                let hint = "put a letter, a dot or a hyphen between brackets";
                return Err(RangeError::new(at + 2, "two brackets without a letter between", hint));
            }
            ']' => return Ok(at + 1),
            '-' | '+' | '/' | ',' => {}
            c if c.is_ascii_digit() => {}
            c => {
                let what = format!("{} in a bracket", shown(*c));
                return Err(RangeError::new(
                    at + 1,
                    what,
                    "brackets hold numbers: a[1-5,7], a[1-9/2], a[1+5]",
                ));
            }
        }
    }
    Err(RangeError::new(open + 1, "the bracket is not closed", "add ]"))
}

/// A character that has no place in an expression.
fn stray(c: char, column: usize) -> RangeError {
    let hint = match c {
        c if c.is_whitespace() => "join names with a comma, without blanks",
        '{' | '}' => "write a[1-5,7] for several",
        ']' => "open the bracket with [",
        '|' | ';' => "join names with a comma",
        '~' | '%' => "write !NAME to leave names out, * and ? for what is left open",
        _ => "names have letters, digits, -, _ and dots",
    };
    RangeError::new(column, format!("{} has no place here", shown(c)), hint)
}

fn shown(c: char) -> String {
    if c == ' ' { "a blank".to_owned() } else { format!("`{}`", c.escape_debug()) }
}
