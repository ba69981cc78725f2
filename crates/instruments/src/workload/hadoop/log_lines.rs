//! An access log to be read by a job: lines of Apache's combined format with the time of a request, about 190 bytes
//! each.
//!
//! The same size gives the same bytes. Some requests fail, and some lines are cut off, as in real ones.

use std::io::{self, Write};

/// The format of its lines, as `boxscore logs` names it.
pub const FORMAT: &str = "combined+D";
/// Seconds that the log is about.
const SECONDS: u64 = 2 * 86_400;
/// A line, about.
const LINE: u64 = 190;

/// Writes lines of at least so many bytes together; how many bytes they are.
pub fn write(bytes: u64, to: &mut impl Write) -> io::Result<u64> {
    let lines = (bytes / LINE).max(1);
    let mut written = 0;
    let mut number = 0u64;
    while written < bytes.max(1) {
        let line = line(number, lines);
        to.write_all(line.as_bytes())?;
        written += line.len() as u64;
        number += 1;
    }
    Ok(written)
}

/// One of about so many lines.
fn line(number: u64, lines: u64) -> String {
    let (one, two) = (mixed(number), mixed(number ^ (1 << 40)));
    if one.is_multiple_of(9973) {
        return format!("cut off {number}\n");
    }
    // In the order of time, whatever few more or fewer lines there are.
    let second = (number * SECONDS / (lines + lines / 10 + 1)).min(SECONDS - 1);
    let (day, clock) = (1 + second / 86_400, second % 86_400);
    let status = match one % 97 {
        5 => 503,
        6 => 404,
        7 => 304,
        _ => 200,
    };
    // Few paths have most of the requests.
    let item = (two >> 8) % 100 * ((two >> 20) % 1_000);
    format!(
        "10.{}.{}.{} - - [{day:02}/Oct/2023:{:02}:{:02}:{:02} +0000] \"GET /content/{}/item-{item:06}.html HTTP/1.1\" \
         {status} {} \"https://www.example.org/p/{}\" \"Mozilla/5.0 (X11; Linux x86_64; rv:{}.0) Gecko/20100101 \
         Firefox/{}.0\" {}\n",
        one >> 8 & 15,
        one >> 16 & 255,
        one >> 24 & 255,
        clock / 3600,
        clock / 60 % 60,
        clock % 60,
        two % 50,
        (two >> 32) % 60_000,
        two % 100,
        60 + one % 40,
        60 + two % 40,
        50 + (one >> 40) % 5_000,
    )
}

/// A number that is far from those of neighbours: the finalizer of splitmix64.
fn mixed(number: u64) -> u64 {
    let mut all = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    all = (all ^ (all >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    all = (all ^ (all >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    all ^ (all >> 31)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::Arc;

    use logs::format::Format;
    use logs::read::{Input, Options, Watch, read};

    use super::*;

    #[test]
    fn the_log_is_one_that_is_read() {
        let mut text = Vec::new();
        let bytes = write(2_000_000, &mut text).unwrap();
        assert_eq!(bytes, text.len() as u64);
        assert!((2_000_000..2_001_000).contains(&bytes), "{bytes}");
        let mut again = Vec::new();
        write(2_000_000, &mut again).unwrap();
        assert!(text == again);
        let format = Arc::new(Format::parse(FORMAT).unwrap());
        let input = Input::stream("a", "a", Box::new(Cursor::new(text)), format);
        let outcome = read(vec![input], &Options::default(), &Watch::default());
        let all = &outcome.labels.labels["a"];
        assert!(outcome.faults.is_empty() && all.parsed > 9_000 && all.skipped() > 0, "{}", all.parsed);
    }
}
