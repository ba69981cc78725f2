//! From directives to a plan: what each stretch of a line holds and what ends it.

use super::error::FormatError;
use crate::scan::clock::Pattern;
use crate::scan::word;

/// How nginx escapes what it writes: `\xhh`, JSON's way, or not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Escape {
    #[default]
    Default,
    Json,
    None,
}

impl Escape {
    /// The value of `escape=` in a `log_format`; `None` for an unknown one.
    pub fn named(word: &str) -> Option<Escape> {
        match word {
            "default" => Some(Escape::Default),
            "json" => Some(Escape::Json),
            "none" => Some(Escape::None),
            _ => None,
        }
    }
}

/// The meaning of a stretch of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// Nothing that is used.
    Other,
    Client,
    Vhost,
    /// `GET /path?query HTTP/1.1`.
    Request,
    Method,
    /// With or without a query behind it.
    Path,
    Query,
    Protocol,
    Status,
    Bytes,
    /// A time in units of so many ns; a decimal point may be in it.
    Duration {
        unit_ns: u64,
    },
    /// Times of several upstream servers, added up.
    Durations {
        unit_ns: u64,
    },
    /// How many requests came on the connection before.
    Reused,
    Referer,
    Agent,
    /// State of a cache: HIT, MISS.
    Cache,
    /// A time of day, by the pattern of this number.
    Clock(usize),
}

/// One stretch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPart {
    pub field: Field,
    /// Stands between quotation marks, within which a backslash makes the next byte a plain one.
    pub quoted: bool,
    /// May hold several values, as nginx writes those of upstream servers: a blank beside a comma or colon does not
    /// end it.
    pub list: bool,
    /// The fixed text behind it; empty at the end of a line.
    pub after: Literal,
}

/// A fixed text of a line; short ones are compared as one word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Literal {
    bytes: Box<[u8]>,
    word: u64,
    mask: u64,
}

impl Literal {
    pub fn new(bytes: &[u8]) -> Literal {
        let mut literal = Literal { bytes: bytes.into(), word: 0, mask: 0 };
        if bytes.len() <= 8 {
            for (place, byte) in bytes.iter().enumerate() {
                literal.word |= u64::from(*byte) << (8 * place);
                literal.mask |= 0xff << (8 * place);
            }
        }
        literal
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// True if `rest` begins with it.
    #[inline]
    pub fn begins(&self, rest: &[u8]) -> bool {
        match self.bytes.len() {
            0..=8 => word::first_eight(rest) & self.mask == self.word && rest.len() >= self.bytes.len(),
            _ => rest.starts_with(&self.bytes),
        }
    }
}

/// The stretches of a line in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPlan {
    /// The fixed text before the first part.
    pub before: Literal,
    pub parts: Vec<TextPart>,
    pub patterns: Vec<Pattern>,
}

/// A directive's meaning, as the two compilers give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Means {
    Plain(Field),
    Clock(Pattern),
}

/// A piece of a format string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    Literal(String),
    /// The directive's meaning, and its rank among directives for the same field (higher is better).
    Directive {
        means: Means,
        rank: u8,
        text: String,
        at: usize,
    },
}

impl Token {
    pub fn plain(field: Field, rank: u8, text: &str, at: usize) -> Token {
        Token::Directive { means: Means::Plain(field), rank, text: text.to_owned(), at }
    }
}

/// The plan that tokens make, and notes on what was chosen. Fails without a directive, or if nothing says where a field
/// ends.
pub fn build(text: &str, tokens: Vec<Token>, escape: Escape) -> Result<(TextPlan, Vec<String>), FormatError> {
    let mut plan = TextPlan { before: Literal::default(), parts: Vec::new(), patterns: Vec::new() };
    let mut notes = Vec::new();
    let chosen = choose(&tokens, &mut notes);
    let mut literal = Vec::new();
    let mut open: Option<(String, usize)> = None;
    for (index, token) in tokens.into_iter().enumerate() {
        match token {
            Token::Literal(more) => literal.extend_from_slice(more.as_bytes()),
            Token::Directive { means, text: name, at, .. } => {
                // What a time always begins with tells where the field before it ends.
                let means = match means {
                    Means::Clock(pattern) => {
                        let (lead, pattern) = pattern.behind_lead();
                        literal.extend(lead);
                        Means::Clock(pattern)
                    }
                    plain => plain,
                };
                close(text, &mut plan, &literal, open.as_ref(), &name)?;
                let list = name.starts_with("$upstream_");
                let quoted = literal.ends_with(b"\"") && escape != Escape::None;
                let field = match means {
                    Means::Plain(field) if chosen[index] => field,
                    Means::Plain(_) => Field::Other,
                    Means::Clock(pattern) => {
                        plan.patterns.push(pattern);
                        Field::Clock(plan.patterns.len() - 1)
                    }
                };
                plan.parts.push(TextPart { field, quoted, list, after: Literal::default() });
                literal.clear();
                open = Some((name, at));
            }
        }
    }
    let last = plan
        .parts
        .last_mut()
        .ok_or_else(|| FormatError::whole("no directive: no line would tell anything"))?;
    last.after = Literal::new(&literal);
    for part in &mut plan.parts {
        part.quoted &= part.after.bytes().first() == Some(&b'"');
    }
    if !plan.patterns.is_empty() && !plan.patterns.iter().any(Pattern::has_zone) {
        notes.push("the lines tell no time zone: hours and days are taken as UTC".to_owned());
    }
    Ok((plan, notes))
}

/// Ends the stretch before a directive: what stands between the two is what tells its end.
fn close(
    text: &str,
    plan: &mut TextPlan,
    literal: &[u8],
    open: Option<&(String, usize)>,
    next: &str,
) -> Result<(), FormatError> {
    let Some((name, at)) = open else {
        plan.before = Literal::new(literal);
        return Ok(());
    };
    let Some(part) = plan.parts.last_mut() else { return Ok(()) };
    let ends_itself = matches!(part.field, Field::Clock(_));
    if literal.is_empty() && !ends_itself {
        let what =
            format!("nothing stands between {name} and {next}, so no line would tell where {name} ends");
        return Err(FormatError::new(text, *at, what));
    }
    part.after = Literal::new(literal);
    Ok(())
}

/// Which directives are used: of those that say the same the best, of equally good ones the first.
fn choose(tokens: &[Token], notes: &mut Vec<String>) -> Vec<bool> {
    let role = |field: &Field| match field {
        Field::Durations { .. } => std::mem::discriminant(&Field::Duration { unit_ns: 1 }),
        // What a request line tells needs no telling again.
        Field::Path | Field::Method | Field::Query | Field::Protocol => std::mem::discriminant(field),
        other => std::mem::discriminant(other),
    };
    let has_request = tokens
        .iter()
        .any(|token| matches!(token, Token::Directive { means: Means::Plain(Field::Request), .. }));
    let mut used = vec![false; tokens.len()];
    for (index, token) in tokens.iter().enumerate() {
        let Token::Directive { means: Means::Plain(field), rank, text, .. } = token else {
            used[index] = true;
            continue;
        };
        let told =
            has_request && matches!(field, Field::Path | Field::Method | Field::Query | Field::Protocol);
        if *field == Field::Other || told {
            continue;
        }
        let better = tokens.iter().enumerate().find(|(other, token)| match token {
            Token::Directive { means: Means::Plain(same), rank: theirs, .. } => {
                role(same) == role(field) && (*theirs > *rank || *theirs == *rank && *other < index)
            }
            _ => false,
        });
        used[index] = better.is_none();
        if let Some((_, Token::Directive { text: other, .. })) = better
            && matches!(
                field,
                Field::Duration { .. } | Field::Durations { .. } | Field::Bytes | Field::Status
            )
        {
            notes.push(format!("{other} is used, {text} is not"));
        }
    }
    used
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::*;

    fn plan(text: &str) -> (TextPlan, Vec<String>) {
        let format = Format::parse(text).unwrap();
        let super::super::Plan::Text(plan) = format.plan else { unreachable!("a text format") };
        (plan, format.notes)
    }

    fn fields(text: &str) -> Vec<Field> {
        plan(text).0.parts.into_iter().map(|part| part.field).filter(|field| *field != Field::Other).collect()
    }

    #[test]
    fn of_two_that_say_the_same_the_better_is_used_and_said() {
        assert_eq!(fields("%h %T %D"), [Field::Client, Field::Duration { unit_ns: 1000 }]);
        assert_eq!(plan("%h %T %D").1, ["%D is used, %T is not"]);
        assert_eq!(fields("%O %B %s %>s"), [Field::Bytes, Field::Status]);
        assert_eq!(plan("%O %B %s %>s").1, ["%B is used, %O is not", "%>s is used, %s is not"]);
        let both = "$upstream_response_time $request_time";
        assert_eq!(fields(both), [Field::Duration { unit_ns: 1_000_000_000 }]);
        assert_eq!(fields("\"%r\" %m %U"), [Field::Request]);
    }

    #[test]
    fn quotes_count_where_they_stand_on_both_sides() {
        let quoted: Vec<bool> = plan("%h \"%r\" \"%s %B").0.parts.iter().map(|part| part.quoted).collect();
        assert_eq!(quoted, [false, true, false, false]);
        let plain = Format::nginx("\"$request\" $status", Escape::None).unwrap();
        let super::super::Plan::Text(plan) = plain.plan else { unreachable!("a text format") };
        assert!(plan.parts.iter().all(|part| !part.quoted));
    }

    #[test]
    fn what_has_no_end_is_an_error_with_its_column() {
        let error = Format::parse("%h %s%B").unwrap_err();
        assert_eq!(error.column, 4);
        assert!(error.what.contains("between %s and %B"), "{error}");
        assert!(Format::apache("").is_err() && Format::apache("a line").is_err());
        // A time ends itself.
        assert!(Format::parse("%t%h").is_ok());
    }

    #[test]
    fn a_clock_without_zone_is_said() {
        assert_eq!(plan("%{%F %T}t %s").1.len(), 1);
        assert!(plan("%{%F %T %z}t %s").1.is_empty());
    }

    #[test]
    fn only_known_ways_to_escape_are_read() {
        assert_eq!(Escape::named("json"), Some(Escape::Json));
        assert_eq!(Escape::named("xml"), None);
    }
}
