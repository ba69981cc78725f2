//! The requests of a replay: lines of `seconds /path`, or an access log of any format that is recognised by its lines.
//!
//! Times are those of the file. A log tells whole seconds: its requests of one second are spread over it at random, in
//! their order. Sent are GET and HEAD, since a log holds no bodies; what is not sent is counted and said. Neither the
//! connections nor the time that an answer took is repeated.

use std::collections::HashMap;
use std::path::Path;

use logs::format::detect;
use logs::read::{Source, head, records};
use logs::scan::request::sendable;
use logs::scan::{Method, Record};

use crate::bench::kernels::random::Random;
use crate::load::schedule::{Arrival, read_replay};

/// The most requests and different ones that are held.
const MOST: usize = 20_000_000;
const MOST_TARGETS: usize = 1_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// Requests at their times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    pub arrivals: Vec<Arrival>,
    /// Path and method of the targets that the arrivals name; no method: that of the load.
    pub targets: Vec<(String, Option<&'static str>)>,
    /// A remark on how it was read.
    pub said: Option<String>,
}

/// Reads a file. `seed` draws where in its second a request of a log is due; `speed` is a factor of its own speed.
/// Fails when the file cannot be read or holds no requests.
pub fn read(path: &str, seed: u64, speed: f64) -> Result<Replay, String> {
    let opened = head(Source::File(path.into()))?;
    let mut replay = match is_lines(&opened.lines) {
        true => lines(path)?,
        false => log(path, &opened.lines, seed)?,
    };
    if replay.arrivals.len() > MOST || replay.targets.len() > MOST_TARGETS {
        return Err(format!("over {MOST} requests or {MOST_TARGETS} different ones: give a part of it"));
    }
    if speed != 1.0 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time within years")]
        let sooner = |at_ns: u64| (at_ns as f64 / speed).round() as u64;
        replay.arrivals.iter_mut().for_each(|one| one.at_ns = sooner(one.at_ns));
    }
    Ok(replay)
}

/// True if the first line that is not empty or a comment begins with a number of seconds and has two words.
fn is_lines(lines: &[Vec<u8>]) -> bool {
    let mut texts = lines.iter().map(|line| line.trim_ascii());
    let first = texts.find(|line| !line.is_empty() && !line.starts_with(b"#")).unwrap_or_default();
    let mut words = first.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    match (words.next(), words.next(), words.next()) {
        (None, ..) => true,
        (Some(time), Some(path), None) => {
            time.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') || path.starts_with(b"/")
        }
        (Some(time), None, _) => time.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.'),
        _ => false,
    }
}

fn lines(path: &str) -> Result<Replay, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let read = read_replay(&text)?;
    let said = read.goes_back.map(|(count, line)| {
        let more = if count > 1 { format!(" and at {} more", count - 1) } else { String::new() };
        format!("its times go back at line {line}{more}; the requests are sent in the order of their times")
    });
    let targets = read.paths.into_iter().map(|path| (path, None)).collect();
    Ok(Replay { arrivals: read.arrivals.to_vec(), targets, said })
}

/// Requests of a log while they are gathered, with the whole second of each.
#[derive(Default)]
struct Gathered {
    known: HashMap<(&'static str, Vec<u8>), Option<u32>>,
    targets: Vec<(String, Option<&'static str>)>,
    requests: Vec<(i64, u32)>,
    untimed: u64,
    /// With another method, and with no path that can be asked for.
    others: u64,
    pathless: u64,
    buffer: Vec<u8>,
}

impl Gathered {
    /// Says whether there is room for more.
    fn add(&mut self, record: &Record<'_>) -> bool {
        let method = match record.method {
            Some(Method::Get) => "GET",
            Some(Method::Head) => "HEAD",
            _ => {
                self.others += 1;
                return true;
            }
        };
        let Some(at) = record.at else {
            self.untimed += 1;
            return true;
        };
        self.buffer.clear();
        self.buffer.extend_from_slice(record.path.unwrap_or_default());
        if let Some(query) = record.query {
            self.buffer.push(b'?');
            self.buffer.extend_from_slice(query);
        }
        let key = (method, std::mem::take(&mut self.buffer));
        let target = match self.known.get(&key) {
            Some(known) => *known,
            None => {
                let target = sendable(&key.1).and_then(|path| {
                    self.targets.push((path, Some(method)));
                    u32::try_from(self.targets.len() - 1).ok()
                });
                self.known.insert((method, key.1.clone()), target);
                target
            }
        };
        self.buffer = key.1;
        match target {
            Some(target) => self.requests.push((at.seconds, target)),
            None => self.pathless += 1,
        }
        self.requests.len() <= MOST && self.known.len() <= MOST_TARGETS
    }

    fn says(&self, format: &str, skipped: u64) -> String {
        let mut text = format!("an access log ({format}) of {} requests to send", self.requests.len());
        for (count, what) in [
            (self.others, "have another method than GET and HEAD"),
            (self.pathless, "have no path that can be asked for"),
            (self.untimed, "have no time"),
            (skipped, "could not be read"),
        ] {
            if count > 0 {
                text.push_str(&format!("; {count} more {what}, and are not sent"));
            }
        }
        text
    }
}

fn log(path: &str, first: &[Vec<u8>], seed: u64) -> Result<Replay, String> {
    let first: Vec<&[u8]> = first.iter().map(Vec::as_slice).collect();
    let told = detect::detect(&first).map_err(|error| {
        format!(
            "neither lines of `seconds /path`, nor a mix, nor an access log whose format shows: {}",
            error.what
        )
    })?;
    let mut all = Gathered::default();
    let skipped = records(Path::new(path), &told.format, &mut |record| all.add(record))?;
    if all.requests.is_empty() {
        return Err(format!("no request to send: {}", all.says(&told.format.text, skipped)));
    }
    let said = Some(all.says(&told.format.text, skipped));
    // Logs are written when a request ends, or by several processes.
    all.requests.sort_by_key(|(second, _)| *second);
    Ok(Replay { arrivals: within_seconds(&all.requests, seed), targets: all.targets, said })
}

/// Requests by second, each at a time within it, in their order; the first second begins at 0.
fn within_seconds(requests: &[(i64, u32)], seed: u64) -> Vec<Arrival> {
    let mut random = Random::new(seed);
    let start = requests.first().map_or(0, |(second, _)| *second);
    let mut arrivals = Vec::with_capacity(requests.len());
    for one in requests.chunk_by(|a, b| a.0 == b.0) {
        let second = one.first().map_or(start, |(second, _)| *second);
        let from_ns = second.abs_diff(start).saturating_mul(SECOND_NS);
        let mut places: Vec<u64> = one.iter().map(|_| random.below(SECOND_NS)).collect();
        places.sort_unstable();
        let due = |((_, target), place): (&(i64, u32), u64)| Arrival {
            at_ns: from_ns.saturating_add(place),
            target: Some(*target),
        };
        arrivals.extend(one.iter().zip(places).map(due));
    }
    arrivals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str, speed: f64) -> Result<Replay, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read(file.path().to_str().unwrap(), 3, speed)
    }

    fn line(second: u32, request: &str) -> String {
        format!("::1 - - [01/May/2010:10:00:{second:02} +0000] \"{request}\" 200 10 \"-\" \"x\"\n")
    }

    #[test]
    fn a_log_is_sent_again_by_its_seconds() {
        let mut text =
            line(7, "GET /b?x=1 HTTP/1.1") + &line(5, "GET /a HTTP/1.1") + &line(7, "HEAD /a HTTP/1.1");
        text += &(line(7, "POST /a HTTP/1.1")
            + &line(7, "GET http://x/ HTTP/1.1")
            + "cut\n"
            + &line(7, "GET /a HTTP/1.1"));
        let replay = read_text(&text, 1.0).unwrap();
        let targets: Vec<(&str, Option<&str>)> =
            replay.targets.iter().map(|(path, method)| (path.as_str(), *method)).collect();
        assert_eq!(targets, [("/b?x=1", Some("GET")), ("/a", Some("GET")), ("/a", Some("HEAD"))]);
        let due: Vec<(u64, Option<u32>)> =
            replay.arrivals.iter().map(|one| (one.at_ns / SECOND_NS, one.target)).collect();
        assert_eq!(due, [(0, Some(1)), (2, Some(0)), (2, Some(2)), (2, Some(1))]);
        assert!(replay.arrivals.is_sorted_by_key(|one| one.at_ns));
        let said = replay.said.unwrap();
        for part in ["of 4 requests", "1 more have another method", "1 more have no path", "1 more could not"]
        {
            assert!(said.contains(part), "{said}");
        }
        assert_eq!(read_text(&text, 1.0).unwrap().arrivals, replay.arrivals);
        let twice = read_text(&text, 2.0).unwrap();
        assert!(
            twice
                .arrivals
                .iter()
                .zip(&replay.arrivals)
                .all(|(a, b)| a.at_ns == (b.at_ns as f64 / 2.0).round() as u64)
        );
    }

    #[test]
    fn lines_are_told_from_logs() {
        let replay = read_text("# times\n\n1.5 /a\n1 /b\n", 0.5).unwrap();
        let due: Vec<_> = replay.arrivals.iter().map(|one| (one.at_ns, one.target)).collect();
        assert_eq!(due, [(0, Some(1)), (SECOND_NS, Some(0))]);
        assert!(replay.said.unwrap().contains("go back at line 4"));
        for (text, says) in [
            ("0 /a\nsoon /b\n", "line 2: "),
            ("0\n", "line 1: no path"),
            ("", "no line with a time"),
            ("soon /a\n", "line 1: "),
            ("no log at all, nothing like it\n", "nor an access log"),
            (&line(1, "POST / HTTP/1.1"), "no request to send"),
        ] {
            let why = read_text(text, 1.0).unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
        assert!(read("/no/such", 1, 1.0).unwrap_err().contains("no such file"));
    }
}
