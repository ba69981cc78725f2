//! The tree of an expression into names.
//!
//! A bare word is first looked up whole among the known names, and read as a range only where it is none of them.
//! Behind an address or `.2`, bare numbers of the same list are octets, until a name, a group or another operator
//! comes. An address of a known machine is that machine, so that `@*!10.0.0.7` leaves it out.

use std::collections::BTreeSet;
use std::fmt;

use super::element::{Form, Numbers, Part, check_octets, read};
use super::error::{MOST, RangeError};
use super::known::Known;
use super::lex::Op;
use super::name::{MOST_LETTERS, NAME_HINT, is_name};
use super::parse::{Expr, Term, TermKind, parse};
use super::set::NameSet;

/// As many comparisons of patterns and names as one word may ask for.
const MOST_COMPARED: usize = 1 << 24;

/// The names of an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expanded {
    /// At least one, in the order in which they were first named.
    pub names: NameSet,
    pub notes: Vec<RangeNote>,
}

/// A thing of an expression that its writer may not have meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RangeNote {
    /// These names were excluded, and named again behind that.
    Returned(Vec<String>),
    /// Bare numbers that were read as octets of an address.
    Octets { word: String, subnet: [u8; 3] },
}

impl fmt::Display for RangeNote {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RangeNote::Returned(names) => {
                let folded = super::fold::fold(names.iter().map(String::as_str));
                write!(out, "{folded} was excluded and is named again behind that, so it is in")
            }
            RangeNote::Octets { word, subnet: [a, b, c] } => {
                write!(out, "{word} stands behind an address, so it is read as {a}.{b}.{c}.{word}")
            }
        }
    }
}

/// The names of an expression. Fails where it cannot be read, names a group or a pattern that nothing is of, or nothing
/// is left.
pub fn expand(text: &str, known: &Known) -> Result<Expanded, RangeError> {
    let expr = parse(text)?;
    let mut expander = Expander { known, subnet: None, notes: Vec::new() };
    let names = expander.expr(&expr)?;
    if names.is_empty() {
        return Err(RangeError::new(1, "nothing is left of the expression", "leave out less, or name more"));
    }
    Ok(Expanded { names, notes: expander.notes })
}

struct Expander<'k> {
    known: &'k Known,
    /// That of the address before, where bare numbers are octets.
    subnet: Option<[u8; 3]>,
    notes: Vec<RangeNote>,
}

impl Expander<'_> {
    fn expr(&mut self, expr: &Expr) -> Result<NameSet, RangeError> {
        let mut names = self.term(&expr.first)?;
        let mut excluded = BTreeSet::new();
        let mut returned = Vec::new();
        for (op, term) in &expr.rest {
            if *op != Op::Or {
                self.subnet = None;
            }
            let right = self.term(term)?;
            names = match op {
                Op::Or => {
                    returned.extend(right.iter().filter(|name| excluded.remove(*name)).map(str::to_owned));
                    names.extend(right);
                    names
                }
                Op::Not => {
                    excluded.extend(right.iter().filter(|name| names.contains(name)).map(str::to_owned));
                    names.filtered(|name| !right.contains(name))
                }
                Op::And => names.filtered(|name| right.contains(name)),
                Op::Either => {
                    let others = right.clone().filtered(|name| !names.contains(name));
                    let mut either = names.filtered(|name| !right.contains(name));
                    either.extend(others);
                    either
                }
            };
            if names.len() > MOST {
                return Err(RangeError::too_many(term.column));
            }
        }
        if !returned.is_empty() {
            self.notes.push(RangeNote::Returned(returned));
        }
        Ok(names)
    }

    fn term(&mut self, Term { column, kind }: &Term) -> Result<NameSet, RangeError> {
        // Behind a word, its own reading decides how numbers go on.
        if !matches!(kind, TermKind::Word(_)) {
            self.subnet = None;
        }
        match kind {
            TermKind::Word(word) => self.word(word, *column).map(|names| self.by_alias(names)),
            TermKind::Group { source, name } => self.group(source.as_deref(), name, *column),
            TermKind::All => self.all(*column),
            TermKind::Inner(expr) => {
                let names = self.expr(expr);
                self.subnet = None;
                names
            }
        }
    }

    fn all(&self, column: usize) -> Result<NameSet, RangeError> {
        match self.known.names() {
            [] => {
                Err(RangeError::new(column, "no machine is known", "name an inventory with --inventory FILE"))
            }
            names => Ok(names.iter().cloned().collect()),
        }
    }

    /// The names with those in place of addresses that stand for them.
    fn by_alias(&self, names: NameSet) -> NameSet {
        if names.iter().all(|name| self.known.meant(name).is_none()) {
            return names;
        }
        let meant = |name: String| match self.known.meant(&name) {
            Some(names) => names.to_vec(),
            None => vec![name],
        };
        names.into_iter().flat_map(meant).collect()
    }

    fn group(&self, source: Option<&str>, name: &str, column: usize) -> Result<NameSet, RangeError> {
        if let Some(names) = self.known.group(source, name) {
            return Ok(names.iter().cloned().collect());
        }
        let typed = source.map_or_else(|| name.to_owned(), |source| format!("{source}:{name}"));
        let known = self.known.group_names();
        let hint = match model::nearest::nearest(&typed, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `@{near}`?"),
            None if known.is_empty() => {
                "no group is known; name an inventory with --inventory FILE".to_owned()
            }
            None => format!("the groups are {}", known.join(", ")),
        };
        Err(RangeError::new(column, format!("there is no group `@{typed}`"), hint))
    }

    fn word(&mut self, word: &str, column: usize) -> Result<NameSet, RangeError> {
        if self.known.has(word) {
            self.subnet = None;
            return Ok([word.to_owned()].into_iter().collect());
        }
        match read(word, column)? {
            Form::Pattern(parts) => {
                self.subnet = None;
                self.pattern(word, &parts, column)
            }
            Form::Octets { subnet, numbers } => {
                let missing = || {
                    let hint =
                        "write the whole address, or default_subnet = \"192.168.5.0/24\" into the inventory";
                    RangeError::new(column, "there is no default subnet", hint)
                };
                let subnet = subnet.or(self.known.default_subnet()).ok_or_else(missing)?;
                self.subnet = Some(subnet);
                Ok(addresses(subnet, &[numbers]))
            }
            Form::Bare(numbers) => self.bare(word, &numbers, column),
        }
    }

    fn bare(&mut self, word: &str, numbers: &[Numbers], column: usize) -> Result<NameSet, RangeError> {
        if let Some(subnet) = self.subnet {
            numbers.iter().try_for_each(|one| check_octets(one, column))?;
            self.notes.push(RangeNote::Octets { word: word.to_owned(), subnet });
            return Ok(addresses(subnet, numbers));
        }
        let Some(default) = self.known.default_name() else {
            let hint = "write whole names, or default_name = \"atom%03d\" into the inventory";
            return Err(RangeError::new(column, "there is no name for bare numbers", hint));
        };
        total(numbers, column)?;
        let names = numbers.iter().flat_map(Numbers::iter).map(|number| default.name(number));
        named(names, column)
    }

    fn pattern(&self, word: &str, parts: &[Part], column: usize) -> Result<NameSet, RangeError> {
        let made = product(parts, column)?;
        if !word.contains(['*', '?']) {
            return named(made, column);
        }
        let all = self.known.names();
        let made: Vec<String> = made.collect();
        if made.len().saturating_mul(all.len()) > MOST_COMPARED {
            return Err(RangeError::too_many(column));
        }
        let is_meant =
            |name: &&String| made.iter().any(|pattern| matches(pattern.as_bytes(), name.as_bytes()));
        let found: NameSet = all.iter().filter(is_meant).cloned().collect();
        if found.is_empty() {
            let hint = match all.is_empty() {
                true => {
                    "* and ? stand for letters of machines in the inventory; name one with --inventory FILE"
                }
                false => "`boxscore lab nodes '@*'` shows the machines of the inventory",
            };
            return Err(RangeError::new(
                column,
                format!("`{word}` matches no machine of the inventory"),
                hint,
            ));
        }
        Ok(found)
    }
}

/// Fails where these are more numbers than names may be.
fn total(numbers: &[Numbers], column: usize) -> Result<usize, RangeError> {
    let all = numbers.iter().fold(0_usize, |sum, one| sum.saturating_add(one.count()));
    if all > MOST { Err(RangeError::too_many(column)) } else { Ok(all) }
}

/// Every text that a pattern makes: the last bracket counts fastest.
fn product(parts: &[Part], column: usize) -> Result<impl Iterator<Item = String>, RangeError> {
    let mut count = 1_usize;
    let mut choices: Vec<Vec<String>> = Vec::new();
    for part in parts {
        let texts: Vec<String> = match part {
            Part::Text(text) => vec![text.clone()],
            Part::Numbers(numbers) => {
                total(numbers, column)?;
                let text = |one: &Numbers| {
                    let width = one.width;
                    one.iter().map(move |number| format!("{number:0width$}")).collect::<Vec<_>>()
                };
                numbers.iter().flat_map(text).collect()
            }
        };
        count = count.saturating_mul(texts.len());
        if count > MOST {
            return Err(RangeError::too_many(column));
        }
        choices.push(texts);
    }
    let longest: usize = choices.iter().map(|texts| texts.iter().map(String::len).max().unwrap_or(0)).sum();
    if longest > MOST_LETTERS {
        let what = format!("a name of more than {MOST_LETTERS} letters");
        return Err(RangeError::new(column, what, NAME_HINT));
    }
    let nth = move |index: usize| {
        let mut rest = index;
        let mut chosen: Vec<&str> = Vec::with_capacity(choices.len());
        for texts in choices.iter().rev() {
            chosen.push(&texts[rest % texts.len()]);
            rest /= texts.len();
        }
        chosen.iter().rev().copied().collect::<String>()
    };
    Ok((0..count).map(nth))
}

/// The names, where all of them are.
fn named(names: impl Iterator<Item = String>, column: usize) -> Result<NameSet, RangeError> {
    let mut set = NameSet::default();
    for name in names {
        if !is_name(&name) {
            return Err(RangeError::new(column, format!("`{name}` is no name of a machine"), NAME_HINT));
        }
        set.insert(name);
    }
    Ok(set)
}

fn addresses([a, b, c]: [u8; 3], numbers: &[Numbers]) -> NameSet {
    numbers.iter().flat_map(Numbers::iter).map(|octet| format!("{a}.{b}.{c}.{octet}")).collect()
}

/// True where a name is what a pattern says: `?` is one letter, `*` any number of them.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    // Where the last star stands, and how much of the name it has taken.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(letter) if *letter == b'?' || *letter == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    n = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|letter| *letter == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn wildcards_stand_for_letters() {
        let is = |pattern: &str, name: &str| matches(pattern.as_bytes(), name.as_bytes());
        assert!(
            is("mercury?cmm", "mercury1cmm") && is("a*", "a") && is("*b*b", "abab") && is("a*c?", "abcccd")
        );
        assert!(!is("mercury?cmm", "mercurycmm") && !is("a", "ab") && !is("a*c?", "abc") && !is("?", ""));
    }
}
