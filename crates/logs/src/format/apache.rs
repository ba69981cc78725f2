//! Apache's LogFormat strings (mod_log_config, mod_logio): every directive, conditions and modifiers included.

use super::error::FormatError;
use super::plan::{Field, Means, Token};
use super::strftime;
use crate::scan::clock::Pattern;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// The pieces of a format string. Fails at the column of an unknown directive.
pub fn tokens(text: &str) -> Result<Vec<Token>, FormatError> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let at = text.len() - rest.len();
        rest = match c {
            '%' => directive(text, at, &mut tokens)?,
            '\\' => escaped(text, at, &mut tokens)?,
            _ => {
                let end = rest.find(['%', '\\']).unwrap_or(rest.len());
                tokens.push(Token::Literal(rest[..end].to_owned()));
                &rest[end..]
            }
        };
    }
    Ok(tokens)
}

/// A backslash: `\t` is a tab; before a quotation mark it comes from a configuration file.
fn escaped<'t>(text: &'t str, at: usize, tokens: &mut Vec<Token>) -> Result<&'t str, FormatError> {
    let after = &text[at + 1..];
    let (literal, length) = match after.chars().next() {
        Some('t') => ("\t", 1),
        Some('"') => ("\"", 1),
        Some('\\') => ("\\", 1),
        Some('n' | 'r') => return Err(FormatError::new(text, at, "a line break: a request is one line")),
        _ => ("\\", 0),
    };
    tokens.push(Token::Literal(literal.to_owned()));
    Ok(&after[length..])
}

/// A directive at `at`; gives what follows it.
fn directive<'t>(text: &'t str, at: usize, tokens: &mut Vec<Token>) -> Result<&'t str, FormatError> {
    let mut rest = &text[at + 1..];
    let (mut original, mut is_final, mut argument) = (false, false, None);
    loop {
        let c =
            rest.chars().next().ok_or_else(|| FormatError::new(text, at, "% at the end of the string"))?;
        match c {
            '!' | ',' | '0'..='9' => {}
            '<' => original = true,
            '>' => is_final = true,
            '{' => {
                let end = rest.find('}').ok_or_else(|| FormatError::new(text, at, "{ without }"))?;
                argument = Some(&rest[1..end]);
                rest = &rest[end + 1..];
                continue;
            }
            _ => break,
        }
        rest = &rest[1..];
    }
    let length = match rest.chars().next() {
        Some('^') => rest.char_indices().nth(3).map_or(rest.len(), |(end, _)| end),
        Some(c) => c.len_utf8(),
        None => 0,
    };
    let (letters, after) = rest.split_at(length);
    let name = &text[at..text.len() - after.len()];
    if letters == "%" {
        tokens.push(Token::Literal("%".to_owned()));
        return Ok(after);
    }
    // The query begins with its own mark, so it may stand right behind the path.
    if letters == "q"
        && matches!(tokens.last(), Some(Token::Directive { means: Means::Plain(Field::Path), .. }))
    {
        return Ok(after);
    }
    let rank_up = u8::from(is_final && !original);
    let (means, rank) =
        meaning(letters, argument, rank_up).map_err(|what| FormatError::new(text, at, what))?;
    tokens.push(Token::Directive { means, rank, text: name.to_owned(), at });
    Ok(after)
}

/// The field of a directive, and its rank among directives for the same field. Fails for an unknown directive.
fn meaning(letters: &str, argument: Option<&str>, is_final: u8) -> Result<(Means, u8), String> {
    let plain = |field: Field, rank: u8| Ok((Means::Plain(field), rank));
    match letters {
        "h" => plain(Field::Client, 2),
        "a" => plain(Field::Client, u8::from(argument.is_none())),
        "v" => plain(Field::Vhost, 3),
        "V" => plain(Field::Vhost, 2),
        "r" => plain(Field::Request, 0),
        "m" => plain(Field::Method, 0),
        "U" => plain(Field::Path, 0),
        "q" => plain(Field::Query, 0),
        "H" => plain(Field::Protocol, 0),
        "s" => plain(Field::Status, is_final),
        "B" | "b" => plain(Field::Bytes, 2),
        "O" => plain(Field::Bytes, 1),
        "D" => plain(Field::Duration { unit_ns: US }, 3),
        "T" => duration(argument),
        "t" => clock(argument),
        "k" => plain(Field::Reused, 0),
        "i" => plain(header(argument.ok_or("%i needs the name of a header: %{Name}i")?), 1),
        "o" | "C" | "e" | "n" | "x" | "c" | "^ti" | "^to" if argument.is_none() => {
            Err(format!("%{letters} needs a name: %{{Name}}{letters}"))
        }
        "o" => plain(if is_cache(argument) { Field::Cache } else { Field::Other }, 1),
        "e" => plain(if argument == Some("cache-status") { Field::Cache } else { Field::Other }, 0),
        "A" | "C" | "E" | "f" | "I" | "S" | "l" | "L" | "n" | "p" | "P" | "R" | "u" | "X" | "x" | "c"
        | "^ti" | "^to" | "^FB" | "^FU" => plain(Field::Other, 0),
        "" => Err("% at the end of the string".to_owned()),
        unknown => Err(format!("%{unknown} is no directive of Apache's")),
    }
}

fn header(name: &str) -> Field {
    match name.to_ascii_lowercase().as_str() {
        "host" => Field::Vhost,
        "referer" => Field::Referer,
        "user-agent" => Field::Agent,
        _ => Field::Other,
    }
}

fn is_cache(header: Option<&str>) -> bool {
    let name = header.unwrap_or_default().to_ascii_lowercase();
    ["x-cache", "x-cache-status", "cache-status", "x-varnish-cache"].contains(&name.as_str())
}

fn duration(unit: Option<&str>) -> Result<(Means, u8), String> {
    let (unit_ns, rank) = match unit {
        None | Some("s") => (S, 1),
        Some("ms") => (MS, 2),
        Some("us") => (US, 3),
        Some(unit) => return Err(format!("%{{{unit}}}T: the units are s, ms and us")),
    };
    Ok((Means::Plain(Field::Duration { unit_ns }), rank))
}

fn clock(argument: Option<&str>) -> Result<(Means, u8), String> {
    let pattern = match argument {
        None | Some("") => Pattern::common(true),
        Some(written) => {
            // When the request began or ended is the same hour for our purposes.
            let bare =
                written.strip_prefix("begin:").or_else(|| written.strip_prefix("end:")).unwrap_or(written);
            strftime::compile(bare)?
        }
    };
    Ok((Means::Clock(pattern), 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(text: &str) -> Vec<Means> {
        let directives = tokens(text).unwrap().into_iter();
        directives
            .filter_map(|t| if let Token::Directive { means, .. } = t { Some(means) } else { None })
            .collect()
    }

    #[test]
    fn every_directive_compiles() {
        for letters in "aABbDfhHIkLlmOpPqrRsSTtuUvVX^".chars().filter(|c| *c != '^') {
            assert_eq!(means(&format!("%{letters} x")).len(), 1, "%{letters}");
        }
        for text in [
            "%{Foobar}C",
            "%{PATH}e",
            "%{Foobar}i",
            "%{note}n",
            "%{Foobar}o",
            "%{local}p",
            "%{tid}P",
            "%{c}a",
            "%{ms}T",
            "%{us}T",
            "%{%H:%M}t",
            "%{sec}t",
            "%{begin:msec}t",
            "%{SSL_PROTOCOL}x",
            "%{x}^ti",
            "%{x}^to",
            "%^FB",
            "%!200,304{User-agent}i",
            "%400,501{User-agent}i",
            "%>s",
            "%<s",
            "%<{x}i",
            "%{version}c",
        ] {
            assert_eq!(means(text).len(), 1, "{text}");
        }
        assert_eq!(tokens("100%% %s").unwrap()[1], Token::Literal("%".into()));
    }

    #[test]
    fn what_they_mean() {
        let plain = |field| vec![Means::Plain(field)];
        assert_eq!(means("%{ms}T"), plain(Field::Duration { unit_ns: MS }));
        assert_eq!(means("%T"), plain(Field::Duration { unit_ns: S }));
        assert_eq!(means("%!200,304{Referer}i"), plain(Field::Referer));
        assert_eq!(means("%{HOST}i"), plain(Field::Vhost));
        assert_eq!(means("%{X-Cache}o"), plain(Field::Cache));
        assert_eq!(means("%U%q"), plain(Field::Path));
        assert_eq!(means("%t"), vec![Means::Clock(Pattern::common(true))]);
    }

    #[test]
    fn errors_say_what_and_where() {
        for (text, column, word) in [
            ("%h %", 4, "end of the string"),
            ("%h %{x", 4, "without }"),
            ("%h %i", 4, "name of a header"),
            ("%h %o", 4, "needs a name"),
            ("%h %Z", 4, "%Z is no directive"),
            ("%h %{min}T", 4, "the units are"),
            ("%h %{%Q}t", 4, "%Q"),
            ("%h\\n%s", 3, "line break"),
            ("%>", 1, "end of the string"),
            ("%^xy", 1, "%^xy"),
        ] {
            let error = tokens(text).unwrap_err();
            assert_eq!(error.column, column, "{text}: {error}");
            assert!(error.what.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn a_string_from_a_configuration_is_taken_as_it_stands() {
        let plan = |text: &str| super::super::Format::apache(text).unwrap().plan;
        assert_eq!(plan(r#"\"%r\"\t%b"#), plan("\"%r\"\t%b"));
    }
}
