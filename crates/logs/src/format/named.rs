//! Formats that have a name, as the servers' manuals and packages have them.

use super::{Escape, Format, FormatError};

const COMMON: &str = r#"%h %l %u %t "%r" %>s %b"#;
const COMBINED: &str = r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i""#;
const NGINX: &str = concat!(
    r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "#,
    r#""$http_referer" "$http_user_agent""#
);

/// Name and string. `+D` is the time in microseconds as the last field; `vcombined` begins with host:port.
pub const NAMES: [(&str, &str); 10] = [
    ("common", COMMON),
    ("common+D", r#"%h %l %u %t "%r" %>s %b %D"#),
    ("combined", COMBINED),
    ("combined+D", r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %D"#),
    ("combined+T", r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %T"#),
    ("vcombined", r#"%v:%p %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i""#),
    ("vcombined+D", r#"%v:%p %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i" %D"#),
    ("vcommon", r#"%v %h %l %u %t "%r" %>s %b"#),
    ("nginx", NGINX),
    (
        "nginx+time",
        concat!(
            r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "#,
            r#""$http_referer" "$http_user_agent" $request_time"#
        ),
    ),
];

/// The string of a named format.
pub fn text_of(name: &str) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, text)| *text)
}

/// The format of this name, however its letters are written; none where no format has it.
pub fn find(name: &str) -> Option<Result<Format, FormatError>> {
    if name.eq_ignore_ascii_case("json") {
        return Some(Ok(Format::json()));
    }
    let (name, text) = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    let made = if text.contains('$') { Format::nginx(text, Escape::Default) } else { Format::apache(text) };
    Some(made.map(|format| Format { text: (*name).to_owned(), ..format }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_compiles() {
        for (name, _) in NAMES {
            let format = find(name).unwrap().unwrap();
            assert_eq!(format.text, name);
            assert!(format.has_bytes() && format.has_clock(), "{name}");
            assert_eq!(format.has_time(), name.contains('+'), "{name}");
        }
        assert!(find("JSON").is_some() && find("Combined").is_some() && find("x").is_none());
    }
}
