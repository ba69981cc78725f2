//! One word of an expression: a pattern of names, bare numbers, or octets of an address. Nothing is counted out here.

use model::ranges::MOST_DIGITS;

use super::error::{MOST, RangeError};

/// A word as it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Bare numbers: of the default name, or octets behind an address.
    Bare(Vec<Numbers>),
    /// Addresses of one subnet; `None` is the default one.
    Octets {
        subnet: Option<[u8; 3]>,
        numbers: Numbers,
    },
    Pattern(Vec<Part>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Text(String),
    Numbers(Vec<Numbers>),
}

/// Numbers from one to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    pub from: u64,
    pub to: u64,
    pub step: u64,
    /// Digits that each has at least, with zeros in front.
    pub width: usize,
}

impl Numbers {
    pub fn count(&self) -> usize {
        usize::try_from((self.to - self.from) / self.step + 1).unwrap_or(usize::MAX)
    }

    pub fn iter(&self) -> impl Iterator<Item = u64> {
        let (from, step) = (self.from, self.step);
        (0..(self.to - from) / step + 1).map(move |nth| from + nth * step)
    }
}

/// Reads a word that begins at a column. Fails where it is written as a range and is none.
pub fn read(word: &str, column: usize) -> Result<Form, RangeError> {
    if let Some(inside) = whole_bracket(word) {
        return Ok(Form::Bare(list(inside, column + 1, Zeros::Ignored)?));
    }
    if word.contains('[') {
        return pattern(word, column);
    }
    let is_sign = |c: char| "-+/".contains(c);
    if word.starts_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_digit() || is_sign(c))
    {
        return Ok(Form::Bare(vec![numbers(word, column, Zeros::Ignored)?]));
    }
    if let Some(octets) = word.strip_prefix('.') {
        return dot(octets, column);
    }
    let head = word.split(is_sign).next().unwrap_or(word);
    if head.contains('.') && head.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return address(word, head, column);
    }
    host(word, column)
}

/// The inside of a word that is one bracket and nothing else.
fn whole_bracket(word: &str) -> Option<&str> {
    word.strip_prefix('[')?.strip_suffix(']').filter(|inside| !inside.contains(']'))
}

/// The numbers of `1,5-7,10+3`, in their order.
pub fn plain_numbers(text: &str) -> Result<Vec<u64>, RangeError> {
    let all = list(text, 1, Zeros::Ignored)?;
    let count = all.iter().fold(0_usize, |sum, one| sum.saturating_add(one.count()));
    if count > MOST { Err(RangeError::too_many(1)) } else { Ok(all.iter().flat_map(Numbers::iter).collect()) }
}

/// The meaning of zeros in front of numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Zeros {
    /// They say how wide numbers are.
    Kept,
    Ignored,
}

/// The numbers between commas of a bracket.
fn list(inside: &str, mut column: usize, zeros: Zeros) -> Result<Vec<Numbers>, RangeError> {
    let mut all = Vec::new();
    for one in inside.split(',') {
        all.push(numbers(one, column, zeros)?);
        column += one.chars().count() + 1;
    }
    Ok(all)
}

/// `M`, `M-N`, `M-N/STEP` or `M+COUNT`.
fn numbers(text: &str, column: usize, zeros: Zeros) -> Result<Numbers, RangeError> {
    if let Some((from, count)) = text.split_once('+') {
        let start = number(from, column)?;
        let count = count_of(count, column + from.chars().count() + 1)?;
        let to = start.value.checked_add(count - 1).ok_or_else(|| RangeError::too_many(column))?;
        return Ok(Numbers { from: start.value, to, step: 1, width: start.width(zeros) });
    }
    let (range, step) = match text.split_once('/') {
        None => (text, 1),
        Some((range, step)) => {
            let at = column + range.chars().count() + 1;
            match number(step, at)?.value {
                0 => return Err(RangeError::new(at, "a step of 0", "a step is 1 or more")),
                step => (range, step),
            }
        }
    };
    let Some((from, to)) = range.split_once('-') else {
        if text.contains('/') {
            return Err(RangeError::new(column, "a step without a range", "write 1-9/2"));
        }
        let one = number(range, column)?;
        return Ok(Numbers { from: one.value, to: one.value, step: 1, width: one.width(zeros) });
    };
    let (start, end) = (number(from, column)?, number(to, column + from.chars().count() + 1)?);
    let width = start.width(zeros).max(end.width(zeros));
    if width > 0 && start.digits != end.digits {
        let hint = format!(
            "write as many digits on both sides: {:0w$}-{:0w$}",
            start.value,
            end.value,
            w = start.digits.max(end.digits)
        );
        return Err(RangeError::new(
            column,
            format!("`{range}`: the two numbers are not equally wide"),
            hint,
        ));
    }
    if start.value > end.value {
        let hint = format!("write {to}-{from}");
        return Err(RangeError::new(column, format!("`{range}` ends before it begins"), hint));
    }
    let read = Numbers { from: start.value, to: end.value, step, width };
    if read.count() > MOST { Err(RangeError::too_many(column)) } else { Ok(read) }
}

/// A number as it is written.
struct Written {
    value: u64,
    digits: usize,
    has_zeros: bool,
}

impl Written {
    fn width(&self, zeros: Zeros) -> usize {
        if self.has_zeros && zeros == Zeros::Kept { self.digits } else { 0 }
    }
}

fn number(text: &str, column: usize) -> Result<Written, RangeError> {
    let wrong = |what: String| RangeError::new(column, what, "write M, M-N, M-N/STEP or M+COUNT");
    if text.is_empty() {
        return Err(wrong("a number is missing".to_owned()));
    }
    if let Some(at) = text.chars().position(|c| !c.is_ascii_digit()) {
        let what = format!("`{text}` is not a number");
        return Err(RangeError::new(column + at, what, "write M, M-N, M-N/STEP or M+COUNT"));
    }
    if text.len() > MOST_DIGITS {
        return Err(wrong(format!("a number of more than {MOST_DIGITS} digits")));
    }
    let value = text.parse().map_err(|_| wrong(format!("`{text}` is not a number")))?;
    Ok(Written { value, digits: text.len(), has_zeros: text.len() > 1 && text.starts_with('0') })
}

/// The count behind a `+`.
fn count_of(text: &str, column: usize) -> Result<u64, RangeError> {
    match number(text, column)?.value {
        0 => Err(RangeError::new(column, "a count of 0", "+3 is three, from the number before it on")),
        count if count > MOST as u64 => Err(RangeError::too_many(column)),
        count => Ok(count),
    }
}

/// `.2`, `.2-9`, `.2-.9`, `.2+8`: what stands behind the first dot.
fn dot(octets: &str, column: usize) -> Result<Form, RangeError> {
    Ok(Form::Octets { subnet: None, numbers: octet_range(octets, None, column + 1)? })
}

/// An address, its range or its count. `head` is what stands before the first sign.
fn address(word: &str, head: &str, column: usize) -> Result<Form, RangeError> {
    let Some([a, b, c, d]) = octets(head) else {
        let what = format!("`{head}` is not an IPv4 address");
        return Err(RangeError::new(column, what, "write 192.168.5.1, or .1 in the default subnet"));
    };
    let rest = word.get(head.len()..).unwrap_or_default();
    let last = head.rfind('.').map_or(0, |at| at + 1);
    let numbers = octet_range(&format!("{d}{rest}"), Some([a, b, c]), column + last)?;
    Ok(Form::Octets { subnet: Some([a, b, c]), numbers })
}

fn octets(text: &str) -> Option<[u8; 4]> {
    text.parse::<core::net::Ipv4Addr>().ok().map(|address| address.octets())
}

/// Octets of one subnet. The end of a range may repeat the subnet, or begin with a dot.
fn octet_range(text: &str, subnet: Option<[u8; 3]>, column: usize) -> Result<Numbers, RangeError> {
    if let Some(at) = text.find('/') {
        return Err(RangeError::new(column + at, "a step outside a bracket", "write 192.168.5.[1-9/2]"));
    }
    let plain = match text.split_once('-') {
        None => text.to_owned(),
        Some((from, to)) => {
            let at = column + from.chars().count() + 1;
            let to = match (to.strip_prefix('.'), to.contains('.')) {
                (Some(octet), _) => octet.to_owned(),
                (None, false) => to.to_owned(),
                (None, true) => match (octets(to), subnet) {
                    (Some([a, b, c, d]), Some(own)) if own == [a, b, c] => d.to_string(),
                    (Some(_), Some(_)) => {
                        let what = format!("{to} is in another subnet");
                        return Err(RangeError::new(at, what, "write a range for each subnet"));
                    }
                    _ => {
                        let what = format!("`{to}` cannot end this range");
                        return Err(RangeError::new(at, what, "write 192.168.5.1-44 or .1-44"));
                    }
                },
            };
            format!("{from}-{to}")
        }
    };
    let read = numbers(&plain, column, Zeros::Ignored)?;
    check_octets(&read, column)?;
    Ok(read)
}

/// Fails where an octet is none of a machine.
pub fn check_octets(numbers: &Numbers, column: usize) -> Result<(), RangeError> {
    let hint = "the last octet of a machine is 1 to 254; write a range for each subnet";
    match (numbers.from, numbers.to) {
        (0, _) => Err(RangeError::new(column, "the octet 0 is the network itself", hint)),
        (_, 255) => Err(RangeError::new(column, "the octet 255 is for all machines of a subnet", hint)),
        (_, to) if to > 255 => {
            Err(RangeError::new(column, format!("{to} is past the end of the subnet"), hint))
        }
        _ => Ok(()),
    }
}

/// A word of letters: a range or a count of names, or one name, which may have wildcards.
fn host(word: &str, column: usize) -> Result<Form, RangeError> {
    if let Some((name, count)) = word.split_once('+') {
        let Some(indexed) = Indexed::read(name) else {
            let what = format!("`{name}` has not exactly one number to count from");
            return Err(RangeError::new(column, what, "write atom002+3, or rack1node[2+3]"));
        };
        let count = count_of(count, column + name.chars().count() + 1)?;
        let start = number(&indexed.digits, column)?;
        let to = start.value.checked_add(count - 1).ok_or_else(|| RangeError::too_many(column))?;
        let width = start.width(Zeros::Kept);
        return Ok(indexed.pattern(Numbers { from: start.value, to, step: 1, width }));
    }
    if let Some(at) = word.find('/') {
        return Err(RangeError::new(column + at, "a step outside a bracket", "write a[1-9/2]"));
    }
    for (at, _) in word.match_indices('-') {
        let (from, to) = (word.get(..at).unwrap_or_default(), word.get(at + 1..).unwrap_or_default());
        match (Indexed::read(from), Indexed::read(to)) {
            (Some(from), Some(to)) if from.is_alike(&to) => {
                let range = numbers(&format!("{}-{}", from.digits, to.digits), column, Zeros::Kept)?;
                return Ok(from.pattern(range));
            }
            (Some(from), None) if from.suffix.is_empty() && is_number(to) => {
                let Indexed { prefix, digits, .. } = &from;
                let hint = format!(
                    "write {prefix}[{digits}-{to}], {prefix}{digits}-{prefix}{to} or {prefix}{digits}+COUNT"
                );
                let what = format!("`{word}` is no machine of the inventory, and no range");
                return Err(RangeError::new(column, what, hint));
            }
            _ => {}
        }
    }
    Ok(Form::Pattern(vec![Part::Text(word.to_owned())]))
}

fn is_number(text: &str) -> bool {
    (1..=MOST_DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A name with exactly one number in it, and at least one letter.
struct Indexed {
    prefix: String,
    digits: String,
    suffix: String,
}

impl Indexed {
    fn read(text: &str) -> Option<Indexed> {
        let is_digit = |c: char| c.is_ascii_digit();
        let start = text.find(is_digit)?;
        let (prefix, rest) = text.split_at(start);
        let (digits, suffix) = rest.split_at(rest.find(|c| !is_digit(c)).unwrap_or(rest.len()));
        let is_one = !suffix.contains(is_digit) && digits.len() <= MOST_DIGITS;
        let is_named = !prefix.is_empty() || !suffix.is_empty();
        let is_plain = !text.contains(['*', '?']);
        (is_one && is_named && is_plain).then(|| Indexed {
            prefix: prefix.to_owned(),
            digits: digits.to_owned(),
            suffix: suffix.to_owned(),
        })
    }

    fn is_alike(&self, other: &Indexed) -> bool {
        self.prefix == other.prefix && self.suffix == other.suffix
    }

    fn pattern(self, numbers: Numbers) -> Form {
        let text = |text: String| (!text.is_empty()).then_some(Part::Text(text));
        let parts = [text(self.prefix), Some(Part::Numbers(vec![numbers])), text(self.suffix)];
        Form::Pattern(parts.into_iter().flatten().collect())
    }
}

/// Text and brackets in turns.
fn pattern(word: &str, column: usize) -> Result<Form, RangeError> {
    let mut parts = Vec::new();
    let (mut rest, mut at) = (word, column);
    while !rest.is_empty() {
        let (text, behind) = rest.split_at(rest.find('[').unwrap_or(rest.len()));
        if let Some(sign) = text.find(['+', '/']) {
            let hint = "inside: a[1+5], a[1-9/2]";
            return Err(RangeError::new(at + sign, "counts and steps stand inside the bracket", hint));
        }
        if !text.is_empty() {
            parts.push(Part::Text(text.to_owned()));
        }
        at += text.chars().count();
        let Some((inside, after)) = behind.strip_prefix('[').and_then(|inside| inside.split_once(']')) else {
            break;
        };
        parts.push(Part::Numbers(list(inside, at + 1, Zeros::Kept)?));
        at += inside.chars().count() + 2;
        rest = after;
    }
    match parts.first() {
        Some(Part::Text(text)) if text.starts_with('.') => {
            let hint = "write .1-44, or 192.168.5.[1-44]";
            Err(RangeError::new(column, "a name does not begin with a dot", hint))
        }
        _ => Ok(Form::Pattern(parts)),
    }
}
