//! Which requests are counted: conditions such as `status>=400`, `path^=/img/`, `agent!~bot`, all of which must hold.
//!
//! Sizes in B (or k, M, G of 1024), times in s (or us, ms). What a line does not tell is equal to nothing: of the
//! comparisons only `!=` and `!~` hold.

use regex_lite::Regex;

use super::keys::Key;
use crate::scan::Record;
use crate::scan::moment::Moment;

/// One condition.
#[derive(Clone, Debug)]
pub struct Filter {
    text: String,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    Text {
        key: Key,
        how: How,
        negated: bool,
    },
    Number {
        what: Number,
        order: Order,
        value: u64,
    },
    /// By the log's own clock where the condition has no zone.
    At {
        order: Order,
        moment: Moment,
    },
}

#[derive(Clone, Debug)]
enum How {
    Equal(Vec<u8>),
    Starts(Vec<u8>),
    Matches(Regex),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Status,
    Bytes,
    Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Order {
    fn holds<T: Ord>(self, a: &T, b: &T) -> bool {
        match self {
            Order::Equal => a == b,
            Order::Unequal => a != b,
            Order::Less => a < b,
            Order::AtMost => a <= b,
            Order::More => a > b,
            Order::AtLeast => a >= b,
        }
    }
}

/// The longer ones first, since a shorter one may begin them.
const SIGNS: [&str; 9] = ["!=", "!~", "^=", "<=", ">=", "=", "~", "<", ">"];

impl Filter {
    /// Reads a condition. The error says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Filter, String> {
        let wrong = |what: String| format!("{text:?}: {what}");
        let at = text.find(['!', '^', '<', '>', '=', '~']).ok_or_else(|| {
            wrong(format!("a condition is a property, one of {}, and a value", SIGNS.join(" ")))
        })?;
        let (name, rest) = (text[..at].trim(), &text[at..]);
        let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign)).ok_or_else(|| {
            wrong(format!("{:?} is no comparison: take one of {}", &rest[..1], SIGNS.join(" ")))
        })?;
        let value = rest[sign.len()..].trim();
        let order = match *sign {
            "=" => Some(Order::Equal),
            "!=" => Some(Order::Unequal),
            "<" => Some(Order::Less),
            "<=" => Some(Order::AtMost),
            ">" => Some(Order::More),
            ">=" => Some(Order::AtLeast),
            _ => None,
        };
        let test = match (name, order) {
            ("status", Some(order)) => number(Number::Status, order, value),
            ("bytes" | "size", Some(order)) => number(Number::Bytes, order, value),
            ("time", Some(order)) => number(Number::Time, order, value),
            ("at", Some(order)) => Moment::parse(value).map(|moment| Test::At { order, moment }),
            ("bytes" | "size" | "time" | "at", None) => {
                Err(format!("{sign} is for texts: {name} is a number"))
            }
            _ => words(name, sign, value),
        };
        let test = test.map_err(wrong)?;
        // A time is told with its unit, also where none was written.
        let is_bare = matches!(test, Test::Number { what: Number::Time, .. })
            && value.ends_with(|c: char| !c.is_ascii_alphabetic());
        let text = if is_bare { format!("{}s", text.trim_end()) } else { text.to_owned() };
        Ok(Filter { text, test })
    }

    /// As it was written; a time without a unit has that of seconds.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True if a request meets the condition; `scratch` saves an allocation.
    pub fn holds(&self, record: &Record<'_>, scratch: &mut Vec<u8>) -> bool {
        self.meets(record, scratch).holds
    }

    /// True of a condition on the status, the serving time or the time of day: what it leaves out is the same work at
    /// another time, or with another end.
    pub fn is_on_status_or_time(&self) -> bool {
        match &self.test {
            Test::At { .. } | Test::Number { what: Number::Status | Number::Time, .. } => true,
            Test::Number { .. } => false,
            Test::Text { key, .. } => matches!(
                key,
                Key::Status | Key::StatusClass | Key::Minute | Key::Hour | Key::Day | Key::HourOfDay
            ),
        }
    }

    /// The text that a value is to be equal to, or unequal, with its property.
    pub fn names(&self) -> Option<(Key, String)> {
        match &self.test {
            Test::Text { key, how: How::Equal(value), .. } => {
                Some((*key, String::from_utf8_lossy(value).into_owned()))
            }
            _ => None,
        }
    }

    /// The match of a condition with a request; of one about equality, the request's own value is in `scratch`
    /// then.
    pub fn meets(&self, record: &Record<'_>, scratch: &mut Vec<u8>) -> Match {
        let holds = match &self.test {
            Test::Text { key, how, negated } => {
                scratch.clear();
                let is_told = key.write(record, scratch);
                let found = is_told
                    && match how {
                        How::Equal(value) => scratch == value,
                        How::Starts(value) => scratch.starts_with(value),
                        How::Matches(regex) => regex.is_match(&String::from_utf8_lossy(scratch)),
                    };
                let is_equal = matches!(how, How::Equal(_)).then_some(found);
                return Match { holds: found != *negated, is_equal, is_told };
            }
            Test::Number { what, order, value } => {
                let found = match what {
                    Number::Status => record.status.map(u64::from),
                    Number::Bytes => record.bytes,
                    Number::Time => record.time_ns,
                };
                found.map_or(*order == Order::Unequal, |found| order.holds(&found, value))
            }
            Test::At { order, moment } => record
                .at
                .map_or(*order == Order::Unequal, |at| order.holds(&moment.clock_of(at), &moment.seconds())),
        };
        Match { holds, is_equal: None, is_told: false }
    }
}

/// The match of a condition with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    pub holds: bool,
    /// Of `=` and `!=` with a text: the request has that value.
    pub is_equal: Option<bool>,
    /// The line tells the property.
    pub is_told: bool,
}

fn words(name: &str, sign: &str, value: &str) -> Result<Test, String> {
    let key = Key::parse(name).map_err(|_| {
        let names: Vec<String> = Key::all().map(|key| key.to_string()).collect();
        format!(
            "{name:?} is no property of a request: take one of bytes, time, at, {}, prefix:N",
            names.join(", ")
        )
    })?;
    let bytes = value.as_bytes().to_vec();
    let (how, negated) = match sign {
        // Folders are named with the slash behind them.
        "=" | "!=" if matches!(key, Key::Prefix(_)) && !bytes.ends_with(b"/") => {
            (How::Equal([&bytes[..], b"/"].concat()), sign == "!=")
        }
        "=" | "!=" => (How::Equal(bytes), sign == "!="),
        "^=" => (How::Starts(bytes), false),
        "~" | "!~" => {
            let regex = Regex::new(value).map_err(|error| format!("no regular expression: {error}"))?;
            (How::Matches(regex), sign == "!~")
        }
        _ => return Err(format!("{sign} is for numbers: status, bytes, time, at")),
    };
    Ok(Test::Text { key, how, negated })
}

fn number(what: Number, order: Order, value: &str) -> Result<Test, String> {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let found: f64 = digits.trim().parse().map_err(|_| match (what, Moment::parse(value)) {
        (Number::Time, Ok(_)) => format!(
            "{value:?} is no number: time is how long a request took (s, ms, us); a time of day is `at`: at>={value}"
        ),
        _ => format!("{value:?} is no number"),
    })?;
    let factor = match (what, &value[digits.len()..]) {
        (Number::Status, "") | (Number::Bytes, "" | "B") => 1.0,
        (Number::Bytes, "k" | "K") => 1024.0,
        (Number::Bytes, "M") => 1024.0 * 1024.0,
        (Number::Bytes, "G") => 1024.0 * 1024.0 * 1024.0,
        (Number::Time, "us") => 1e3,
        (Number::Time, "ms") => 1e6,
        (Number::Time, "" | "s") => 1e9,
        (Number::Status, "xx") if (1.0..=5.0).contains(&found) => {
            let above = match found {
                5.0 => "status>=500".to_owned(),
                class => format!("status>={class}00 and status<{}00, each with its own --where", class + 1.0),
            };
            return Err(format!("a status is a number: take {above}, or status-class={value}"));
        }
        (Number::Status, unit) => return Err(format!("a status has no unit such as {unit:?}")),
        (Number::Bytes, unit) => return Err(format!("{unit:?} is no unit of bytes: take B, k, M or G")),
        (Number::Time, unit) => return Err(format!("{unit:?} is no unit of time: take s, ms or us")),
    };
    if !(found >= 0.0 && found * factor < 1e18) {
        return Err(format!("{value:?} is no number from 0 on"));
    }
    Ok(Test::Number { what, order, value: (found * factor).round() as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Method;
    use crate::scan::clock::At;

    fn record() -> Record<'static> {
        Record {
            path: Some(b"/img/a.png"),
            agent: Some(b"Googlebot/2.1"),
            method: Some(Method::Get),
            status: Some(404),
            bytes: Some(2048),
            time_ns: Some(20_000_000),
            // 13:55:36 by the log's clock.
            at: Some(At { seconds: 971_211_336, zone: -28 }),
            ..Record::default()
        }
    }

    fn holds(text: &str) -> bool {
        Filter::parse(text).unwrap().holds(&record(), &mut Vec::new())
    }

    #[test]
    fn conditions() {
        for text in [
            "status=404",
            "status>=400",
            "status<500",
            "status!=200",
            "bytes=2k",
            "size>2047",
            "time=20ms",
            "time<=0.02",
            "time>19999us",
            "path=/img/a.png",
            "path^=/img/",
            "prefix=/img/",
            "prefix=/img",
            "agent~bot",
            "method=GET",
            "agent~^Google.*2",
            "bot=yes",
            "bot!=no",
            "agent!~curl",
            "at>=2000-10-10",
            "at<2000-10-10T13:56",
            "at=2000-10-10T20:55:36Z",
            "at=971211336",
            "hour-of-day=13",
            " status = 404 ",
            "vhost!=x",
            "vhost!~x",
            "status-class=4xx",
        ] {
            assert!(holds(text), "{text}");
        }
        for text in [
            "status<400",
            "bytes>2k",
            "path^=/css",
            "agent!~bot",
            "at>2000-10-10T13:56",
            "vhost=x",
            "vhost~x",
            "vhost^=x",
            "at<2000-10-10",
            "method!=GET",
        ] {
            assert!(!holds(text), "{text}");
        }
    }

    #[test]
    fn a_time_is_told_with_its_unit() {
        let told = |text: &str| Filter::parse(text).unwrap().text().to_owned();
        assert_eq!((told("time>200"), told("time <= 0.5 ")), ("time>200s".into(), "time <= 0.5s".into()));
        for text in ["time>200ms", "time>2s", "bytes>200", "status=404"] {
            assert_eq!(told(text), text);
        }
        assert!(holds("time<200ms") && !holds("time>200"));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_the_reason() {
        for (text, word) in [
            ("status", "a condition is"),
            ("status!200", "no comparison"),
            ("status=abc", "no number"),
            ("status=4xx", "take status>=400 and status<500, each with its own --where, or status-class=4xx"),
            ("status=5xx", "take status>=500, or status-class=5xx"),
            ("status=4k", "no unit"),
            ("bytes>5q", "no unit of bytes"),
            ("status=", "no number"),
            ("time>5h", "no unit"),
            ("time>=2026-11-17T14:00", "a time of day is `at`"),
            ("bytes=-5", "no number from 0"),
            ("bytes~5", "is a number"),
            ("path<5", "for numbers"),
            ("colour=red", "bytes, time, at, client"),
            ("agent~(", "no regular expression"),
            ("at>yesterday", "no time"),
            ("at=2000-13-01", "no time"),
            ("", "a condition is"),
        ] {
            let error = Filter::parse(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
