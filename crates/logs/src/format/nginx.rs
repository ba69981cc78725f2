//! nginx's log_format strings: `$name` and `${name}`; a variable that is not known is read over, since modules add
//! theirs.

use super::error::FormatError;
use super::plan::{Field, Means, Token};
use crate::scan::clock::{Part, Pattern};

const S: u64 = 1_000_000_000;
/// nginx's manual: "request processing time in seconds with a milliseconds resolution", and so for upstreams. Both ends
/// are read off a clock that its event loop sets anew each time it wakes, cut to whole milliseconds.
pub const STEP_NS: u64 = 1_000_000;

/// The pieces of a format string. Fails at the column of a `$` without a name.
pub fn tokens(text: &str) -> Result<Vec<Token>, FormatError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let Some(after) = rest.strip_prefix('$') else {
            let end = rest.find('$').unwrap_or(rest.len());
            tokens.push(Token::Literal(rest[..end].to_owned()));
            at += end;
            continue;
        };
        let (name, length) = match after.strip_prefix('{') {
            Some(braced) => {
                let end = braced.find('}').ok_or_else(|| FormatError::new(text, at, "${ without }"))?;
                (&braced[..end], end + 2)
            }
            None => {
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let end = after.find(|c: char| !is_name(c)).unwrap_or(after.len());
                (&after[..end], end)
            }
        };
        if name.is_empty() {
            return Err(FormatError::new(text, at, "$ without the name of a variable"));
        }
        let (means, rank) = meaning(name);
        tokens.push(Token::Directive { means, rank, text: format!("${name}"), at });
        at += 1 + length;
    }
    Ok(tokens)
}

fn meaning(name: &str) -> (Means, u8) {
    let (field, rank) = match name {
        "time_local" => return (Means::Clock(Pattern::common(false)), 0),
        "time_iso8601" => return (Means::Clock(Pattern::iso(false)), 0),
        "msec" => return (Means::Clock(Pattern::new(vec![Part::Epoch])), 0),
        "remote_addr" => (Field::Client, 2),
        "server_name" => (Field::Vhost, 3),
        "host" => (Field::Vhost, 2),
        "http_host" => (Field::Vhost, 1),
        "request" => (Field::Request, 0),
        "request_method" => (Field::Method, 0),
        "request_uri" => (Field::Path, 2),
        "uri" | "document_uri" => (Field::Path, 1),
        "args" | "query_string" => (Field::Query, 0),
        "server_protocol" => (Field::Protocol, 0),
        "status" => (Field::Status, 1),
        "body_bytes_sent" => (Field::Bytes, 2),
        "bytes_sent" => (Field::Bytes, 1),
        "request_time" => (Field::Duration { unit_ns: S }, 3),
        "upstream_response_time" => (Field::Durations { unit_ns: S }, 1),
        "http_referer" => (Field::Referer, 1),
        "http_user_agent" => (Field::Agent, 1),
        "upstream_cache_status" => (Field::Cache, 2),
        "sent_http_x_cache" | "upstream_http_x_cache" | "sent_http_x_cache_status" => (Field::Cache, 1),
        _ => (Field::Other, 0),
    };
    (Means::Plain(field), rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_end_where_their_name_ends() {
        let tokens = tokens("${status}0 $msec]$unknown_1-").unwrap();
        let texts: Vec<String> = tokens
            .into_iter()
            .map(|token| match token {
                Token::Literal(text) | Token::Directive { text, .. } => text,
            })
            .collect();
        assert_eq!(texts, ["$status", "0 ", "$msec", "]", "$unknown_1", "-"]);
    }

    #[test]
    fn errors_say_where() {
        for (text, column) in [("$status $", 9), ("$status ${x", 9), ("$", 1), ("a$-", 2), ("${}", 1)] {
            assert_eq!(tokens(text).unwrap_err().column, column, "{text}");
        }
    }

    #[test]
    fn what_they_mean() {
        assert_eq!(meaning("request_time").0, Means::Plain(Field::Duration { unit_ns: S }));
        assert_eq!(meaning("time_iso8601").0, Means::Clock(Pattern::iso(false)));
        assert_eq!(meaning("gzip_ratio").0, Means::Plain(Field::Other));
    }
}
