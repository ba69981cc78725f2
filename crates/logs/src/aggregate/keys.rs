//! The properties that requests are grouped by.

use std::borrow::Cow;
use std::fmt;

use super::{agents, size};
use crate::scan::Record;
use crate::scan::clock;

/// A property of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Client,
    Vhost,
    Path,
    /// The first so many folders of the path: `/img/` of `/img/a.png`.
    Prefix(u8),
    Query,
    Method,
    Protocol,
    Status,
    StatusClass,
    SizeClass,
    /// The minute, the hour, the day and the hour of the day by the log's own clock.
    Minute,
    Hour,
    Day,
    HourOfDay,
    Referer,
    Agent,
    /// `yes` of a program that says it is a bot, else `no`.
    Bot,
    Cache,
}

const NAMES: [(&str, Key); 18] = [
    ("client", Key::Client),
    ("vhost", Key::Vhost),
    ("path", Key::Path),
    ("prefix", Key::Prefix(1)),
    ("query", Key::Query),
    ("method", Key::Method),
    ("protocol", Key::Protocol),
    ("status", Key::Status),
    ("status-class", Key::StatusClass),
    ("size-class", Key::SizeClass),
    ("minute", Key::Minute),
    ("hour", Key::Hour),
    ("day", Key::Day),
    ("hour-of-day", Key::HourOfDay),
    ("referer", Key::Referer),
    ("agent", Key::Agent),
    ("bot", Key::Bot),
    ("cache", Key::Cache),
];

/// Between the parts of a key of several properties.
pub const BETWEEN: u8 = 0;

impl Key {
    /// Every property, in the order of a list.
    pub fn all() -> impl Iterator<Item = Key> {
        NAMES.iter().map(|(_, key)| *key)
    }

    /// By its name; `prefix:2` is that of two folders, and `host` is the client as Apache calls it. Fails for an
    /// unknown name.
    pub fn parse(text: &str) -> Result<Key, String> {
        if let Some(depth) = text.strip_prefix("prefix:") {
            return match depth.parse() {
                Ok(depth @ 1..=16) => Ok(Key::Prefix(depth)),
                _ => Err(format!("prefix:{depth}: a number of folders from 1 to 16")),
            };
        }
        let name = if text == "host" { "client" } else { text };
        let found = NAMES.iter().find(|(known, _)| *known == name).map(|(_, key)| *key);
        found.ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            format!(
                "{text:?} is no property that groups are made by: take one of {}, prefix:N",
                names.join(", ")
            )
        })
    }

    /// True if its values are names, of which there may be many; the others have an order of their own.
    pub fn is_name(self) -> bool {
        use Key::{Agent, Client, Path, Prefix, Query, Referer, Vhost};
        matches!(self, Client | Vhost | Path | Prefix(_) | Query | Referer | Agent)
    }

    /// Writes the record's value behind what is in `to`; says whether its line tells it.
    pub fn write(self, record: &Record<'_>, to: &mut Vec<u8>) -> bool {
        let text = match self {
            Key::Client => record.client,
            Key::Vhost => record.vhost,
            Key::Path => record.path,
            Key::Prefix(depth) => {
                to.extend_from_slice(&record.path.map(|path| prefix(path, depth)).unwrap_or_default());
                return record.path.is_some();
            }
            Key::Query => record.query,
            Key::Method => record.method.map(|method| method.name().as_bytes()),
            Key::Protocol => record.protocol,
            Key::Status => return number(record.status.map(|status| format!("{status:03}")), to),
            Key::StatusClass => return number(record.status.map(|status| format!("{}xx", status / 100)), to),
            Key::SizeClass => Some(size::name_of(size::class_of(record.bytes)).as_bytes()),
            Key::Minute | Key::Hour | Key::Day | Key::HourOfDay => {
                return number(record.at.map(|at| self.time(at.local())), to);
            }
            Key::Referer => record.referer,
            Key::Agent => record.agent,
            Key::Bot => record.agent.map(|agent| match agents::class_of(agent) {
                agents::BOT => &b"yes"[..],
                _ => b"no",
            }),
            Key::Cache => record.cache,
        };
        to.extend_from_slice(text.unwrap_or_default());
        text.is_some()
    }

    fn time(self, local: i64) -> String {
        let hour = local.rem_euclid(86_400) / 3600;
        let (year, month, day) = clock::date(local.div_euclid(86_400));
        match self {
            Key::Day => format!("{year:04}-{month:02}-{day:02}"),
            Key::HourOfDay => format!("{hour:02}"),
            Key::Minute => {
                let minute = local.rem_euclid(3600) / 60;
                format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}")
            }
            _ => format!("{year:04}-{month:02}-{day:02}T{hour:02}"),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Prefix(depth) if *depth != 1 => write!(to, "prefix:{depth}"),
            key => {
                let name = NAMES.iter().find(|(_, known)| known == key).map_or("", |(name, _)| name);
                to.write_str(name)
            }
        }
    }
}

fn number(text: Option<String>, to: &mut Vec<u8>) -> bool {
    to.extend_from_slice(text.as_deref().unwrap_or_default().as_bytes());
    text.is_some()
}

/// The first folders of a path with the slash behind them: `/img/` of `/img/a.png`, and `/search/` of `/search` and of
/// `/search/` alike.
pub fn prefix(path: &[u8], depth: u8) -> Cow<'_, [u8]> {
    match folders(path, depth) {
        (route, true) => Cow::Owned([route, b"/"].concat()),
        (folders, false) => Cow::Borrowed(folders),
    }
}

/// The path up to its `depth + 1`th slash, or to its last one where there are fewer. True of a route: of fewer, a path
/// whose last part is no file by its name, which has a dot, is a folder by itself.
pub fn folders(path: &[u8], depth: u8) -> (&[u8], bool) {
    let most = usize::from(depth) + 1;
    let (count, end) = memchr::memchr_iter(b'/', path).take(most).fold((0, 0), |(n, _), at| (n + 1, at + 1));
    let rest = &path[end..];
    let is_route =
        count < most && path.starts_with(b"/") && !rest.is_empty() && memchr::memchr(b'.', rest).is_none();
    (if is_route { path } else { &path[..end] }, is_route)
}

/// Writes the values of several properties; `-` where the line tells none.
pub fn write_all(keys: &[Key], record: &Record<'_>, to: &mut Vec<u8>) {
    to.clear();
    for (number, key) in keys.iter().enumerate() {
        if number > 0 {
            to.push(BETWEEN);
        }
        let from = to.len();
        if !key.write(record, to) {
            to.push(b'-');
        }
        to[from..].iter_mut().filter(|byte| **byte == BETWEEN).for_each(|byte| *byte = b'?');
    }
}

/// Sort key of groups: part by part, classes of size by their size, all else as text.
pub fn rank(key: &[u8]) -> Vec<(Option<usize>, &[u8])> {
    key.split(|byte| *byte == BETWEEN).map(|part| (size::class_named(part), part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::{At, Method};

    fn record() -> Record<'static> {
        Record {
            client: Some(b"::1"),
            path: Some(b"/a/b/c.gif"),
            method: Some(Method::Head),
            status: Some(404),
            bytes: Some(300),
            at: Some(At { seconds: 971_211_336, zone: 23 }),
            ..Record::default()
        }
    }

    fn value(key: &str) -> String {
        let mut bytes = Vec::new();
        write_all(&[Key::parse(key).unwrap()], &record(), &mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn values_of_a_request() {
        for (key, expected) in [
            ("client", "::1"),
            ("host", "::1"),
            ("vhost", "-"),
            ("path", "/a/b/c.gif"),
            ("prefix", "/a/"),
            ("prefix:2", "/a/b/"),
            ("prefix:9", "/a/b/"),
            ("method", "HEAD"),
            ("status", "404"),
            ("status-class", "4xx"),
            ("size-class", "<1 KiB"),
            ("minute", "2000-10-11T02:40"),
            ("hour", "2000-10-11T02"),
            ("day", "2000-10-11"),
            ("hour-of-day", "02"),
        ] {
            assert_eq!(value(key), expected, "{key}");
        }
        let mut bytes = Vec::new();
        write_all(&[Key::Method, Key::Vhost, Key::Status], &record(), &mut bytes);
        assert_eq!(bytes, b"HEAD\0-\x00404");
    }

    #[test]
    fn a_route_is_a_folder_and_a_file_is_none() {
        for (path, depth, expected) in [
            ("/search", 1, "/search/"),
            ("/search/", 1, "/search/"),
            ("/search/all", 1, "/search/"),
            ("/search/all", 2, "/search/all/"),
            ("/search/all/7", 2, "/search/all/"),
            ("/index.html", 1, "/"),
            ("/a/index.html", 2, "/a/"),
            ("/a.b/c", 1, "/a.b/"),
            ("/", 1, "/"),
            ("//", 1, "//"),
            ("*", 1, ""),
            ("", 1, ""),
        ] {
            assert_eq!(&*prefix(path.as_bytes(), depth), expected.as_bytes(), "{path} {depth}");
        }
    }

    #[test]
    fn classes_of_size_are_sorted_by_size() {
        let mut keys: [&[u8]; 5] =
            [b"404\0<1 KiB", b"200\x00unknown", b"200\0<16 KiB", b"200\0<4 KiB", b"200\x000 B"];
        keys.sort_by_key(|key| rank(key));
        assert_eq!(
            keys.map(String::from_utf8_lossy).join(" ").replace('\0', "/"),
            "200/0 B 200/<4 KiB 200/<16 KiB 200/unknown 404/<1 KiB"
        );
    }

    #[test]
    fn names_come_back_and_others_are_refused() {
        for (name, key) in NAMES {
            assert_eq!((Key::parse(name), key.to_string()), (Ok(key), name.to_owned()));
        }
        assert_eq!(Key::parse("prefix:3").map(|key| key.to_string()), Ok("prefix:3".into()));
        for bad in ["", "paths", "prefix:0", "prefix:x"] {
            assert!(Key::parse(bad).is_err(), "{bad}");
        }
    }
}
