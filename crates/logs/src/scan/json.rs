//! Lines that are JSON objects: the keys that are known are read, the rest is passed over.
//!
//! Escapes within strings stay as they are written. A line must be one whole object.

use super::clock::{At, Civil, Part, Pattern};
use super::record::{LONGEST_NS, Record, Skip};
use super::text;
use crate::format::keys;
use crate::format::plan::Field;

/// Objects within objects beyond this are no log.
const DEEPEST: usize = 16;

/// Reads a line into a record. Fails with the reason for skipping the line.
pub fn read<'l>(line: &'l [u8], record: &mut Record<'l>) -> Result<(), Skip> {
    let mut reader = Reader { rest: line, record, ranks: [0; keys::ROLES], found: 0 };
    reader.blank();
    reader.expect(b'{')?;
    reader.object(&[], 1)?;
    reader.blank();
    if !reader.rest.is_empty() || reader.found == 0 {
        return Err(Skip::Shape);
    }
    Ok(())
}

struct Reader<'l, 'r> {
    rest: &'l [u8],
    record: &'r mut Record<'l>,
    /// How well each thing was told so far.
    ranks: [u8; keys::ROLES],
    /// How many keys were known.
    found: usize,
}

enum Value<'l> {
    Text(&'l [u8]),
    Bare(&'l [u8]),
}

impl<'l> Reader<'l, '_> {
    fn blank(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn expect(&mut self, byte: u8) -> Result<(), Skip> {
        self.rest = self.rest.strip_prefix(&[byte]).ok_or(Skip::Shape)?;
        Ok(())
    }

    /// The text up to the next plain quotation mark; the first mark was read. Fails at the end of the line.
    fn string(&mut self) -> Result<&'l [u8], Skip> {
        let mut from = 0;
        loop {
            let at = from
                + memchr::memchr2(b'"', b'\\', self.rest.get(from..).unwrap_or_default())
                    .ok_or(Skip::Shape)?;
            if self.rest[at] == b'"' {
                let (string, after) = (&self.rest[..at], &self.rest[at + 1..]);
                self.rest = after;
                return Ok(string);
            }
            from = at + 2;
        }
    }

    /// An object whose brace was read; `outer` is the key it stands under.
    fn object(&mut self, outer: &'l [u8], depth: usize) -> Result<(), Skip> {
        if depth > DEEPEST {
            return Err(Skip::Shape);
        }
        self.blank();
        if self.rest.first() == Some(&b'}') {
            return self.expect(b'}');
        }
        loop {
            self.blank();
            self.expect(b'"')?;
            let key = self.string()?;
            self.blank();
            self.expect(b':')?;
            self.blank();
            match self.rest.first() {
                Some(b'{') => {
                    self.expect(b'{')?;
                    self.object(if depth == 1 { key } else { b"?" }, depth + 1)?;
                }
                Some(b'[') => self.array(depth)?,
                _ => {
                    let value = self.value()?;
                    self.present(outer, key, &value)?;
                }
            }
            self.blank();
            match self.rest.split_first() {
                Some((b',', after)) => self.rest = after,
                Some((b'}', after)) => {
                    self.rest = after;
                    return Ok(());
                }
                _ => return Err(Skip::Shape),
            }
        }
    }

    /// Passes over an array.
    fn array(&mut self, depth: usize) -> Result<(), Skip> {
        let mut open = depth;
        loop {
            let at =
                self.rest.iter().position(|byte| matches!(byte, b'"' | b'[' | b']')).ok_or(Skip::Shape)?;
            let mark = self.rest[at];
            self.rest = &self.rest[at + 1..];
            match mark {
                b'"' => _ = self.string()?,
                b'[' => open += 1,
                _ => open -= 1,
            }
            if open == depth {
                return Ok(());
            }
        }
    }

    fn value(&mut self) -> Result<Value<'l>, Skip> {
        if self.rest.first() == Some(&b'"') {
            self.rest = &self.rest[1..];
            return self.string().map(Value::Text);
        }
        let ends = |byte: &u8| matches!(byte, b',' | b'}') || byte.is_ascii_whitespace();
        let end = self.rest.iter().position(ends).ok_or(Skip::Shape)?;
        let (bare, after) = self.rest.split_at(end);
        self.rest = after;
        if bare.is_empty() { Err(Skip::Shape) } else { Ok(Value::Bare(bare)) }
    }

    fn present(&mut self, outer: &[u8], key: &[u8], value: &Value<'l>) -> Result<(), Skip> {
        let known =
            if outer.is_empty() { keys::meaning(key) } else { keys::meaning(&[outer, b".", key].concat()) };
        let Some((field, rank)) = known else { return Ok(()) };
        let slot = &mut self.ranks[keys::role(&field)];
        if rank <= *slot {
            return Ok(());
        }
        *slot = rank;
        self.found += 1;
        match (field, value) {
            (_, Value::Bare(b"null") | Value::Text(b"" | b"-")) => {}
            (Field::Clock(_), value) => self.record.at = Some(clock(value)?),
            (Field::Duration { unit_ns }, Value::Text(text) | Value::Bare(text)) => {
                self.record.time_ns = duration(text, unit_ns)?;
                self.record.is_whole_thousands = text.ends_with(b"000") && !text.contains(&b'.');
            }
            (field, Value::Text(text) | Value::Bare(text)) => text::store_one(&field, text, self.record)?,
        }
        Ok(())
    }
}

/// A number with or without an exponent.
fn duration(value: &[u8], unit_ns: u64) -> Result<Option<u64>, Skip> {
    if !value.iter().any(|byte| matches!(byte, b'e' | b'E')) {
        return text::duration(value, unit_ns);
    }
    let number = std::str::from_utf8(value).ok().and_then(|text| text.parse::<f64>().ok());
    let ns = number.map(|number| (number * unit_ns as f64).round());
    let sane = ns.filter(|ns| (0.0..=LONGEST_NS as f64).contains(ns));
    sane.map(|ns| Some(ns as u64)).ok_or(Skip::Duration)
}

/// A time of day in any of the usual ways.
fn clock(value: &Value<'_>) -> Result<At, Skip> {
    let (Value::Text(text) | Value::Bare(text)) = value;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let patterns = match digits {
        9..=11 => [Pattern::new(vec![Part::Epoch])].to_vec(),
        12..=14 => [Pattern::new(vec![Part::EpochMs])].to_vec(),
        15..=17 => [Pattern::new(vec![Part::EpochUs])].to_vec(),
        _ => vec![Pattern::iso(true), Pattern::common(false)],
    };
    for pattern in patterns {
        let mut civil = Civil::default();
        if let Some(taken) = pattern.read(text, &mut civil)
            && text[taken..].iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
        {
            return civil.at().ok_or(Skip::Clock);
        }
    }
    Err(Skip::Clock)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Record<'_>, Skip> {
        let mut record = Record::default();
        super::read(text.as_bytes(), &mut record).map(|()| record)
    }

    #[test]
    fn the_logs_of_three_servers() {
        let nginx = read(
            r#"{"time_iso8601":"2000-10-10T13:55:36-07:00","remote_addr":"10.0.0.1","request":"GET /a?b HTTP/1.1","status": 200, "body_bytes_sent":"512","bytes_sent":900,"request_time":0.250}"#,
        )
        .unwrap();
        assert_eq!((nginx.status, nginx.bytes, nginx.time_ns), (Some(200), Some(512), Some(250_000_000)));
        assert_eq!((nginx.path, nginx.at.unwrap().seconds), (Some(&b"/a"[..]), 971_211_336));
        let caddy = read(
            r#"{"level":"info","ts":971211336.1,"request":{"remote_ip":"::1","proto":"HTTP/2.0","method":"GET","host":"h:8080","uri":"/x\"y","headers":{"Accept":["a\"]b",["c"]]}},"duration":1.5e-05,"size":7,"status":404}"#,
        )
        .unwrap();
        assert_eq!((caddy.client, caddy.time_ns, caddy.bytes), (Some(&b"::1"[..]), Some(15_000), Some(7)));
        assert_eq!((caddy.path, caddy.at.unwrap().seconds), (Some(&br#"/x\"y"#[..]), 971_211_336));
        let traefik = read(
            r#" {"ClientHost":"1.2.3.4","DownstreamStatus":200,"Duration":125000,"StartUTC":"2000-10-10T20:55:36.123456789Z","RequestPath":"/p","DownstreamContentSize":1} "#,
        )
        .unwrap();
        assert_eq!((traefik.time_ns, traefik.at.unwrap().seconds), (Some(125_000), 971_211_336));
    }

    #[test]
    fn what_is_no_object_or_has_a_wrong_value_is_skipped() {
        for text in [
            "",
            "{",
            "{}",
            "[]",
            "null",
            r#"{"status":200"#,
            r#"{"status":200}}"#,
            r#"{"status" 200}"#,
            r#"{"status":}"#,
            r#"{"a":"b}"#,
            r#"{"other":1}"#,
            r#"{"a":[1,2}"#,
            r#"{"a":"\"#,
            r#"{status:200}"#,
        ] {
            assert_eq!(read(text), Err(Skip::Shape), "{text}");
        }
        assert_eq!(read(&"{\"a\":".repeat(100_000)), Err(Skip::Shape));
        assert_eq!(read(r#"{"status":"ok"}"#), Err(Skip::Status));
        assert_eq!(read(r#"{"request_time":-1}"#), Err(Skip::Duration));
        assert_eq!(read(r#"{"duration":1e99}"#), Err(Skip::Duration));
        assert_eq!(read(r#"{"ts":"yesterday"}"#), Err(Skip::Clock));
    }

    #[test]
    fn what_is_null_or_empty_is_not_told() {
        let record =
            read(r#"{"status":null,"request_time":"-","upstream_cache_status":"","uri":"/"}"#).unwrap();
        assert_eq!((record.status, record.time_ns, record.cache), (None, None, None));
    }
}
