//! Which format lines are in, from a sample of them: of the known ones the one that reads most, and why.
//!
//! A whole number at the end of a line is taken for microseconds unless the sample speaks against it; what could not be
//! told is said, never silently corrected.

use super::{Format, FormatError, named};
use crate::scan::Scanner;

/// Lines that are looked at.
pub const SAMPLE: usize = 1000;
/// A format that reads fewer of the sample, in percent, is not believed.
const LEAST: usize = 80;

/// A format that was found, and what speaks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detected {
    pub format: Format,
    /// In a sentence: how many lines it reads, and what was left open.
    pub why: String,
}

/// The format of these lines (without their line breaks); empty ones say nothing. Fails if no known format reads them.
pub fn detect(lines: &[&[u8]]) -> Result<Detected, FormatError> {
    let lines: Vec<&[u8]> =
        lines.iter().copied().filter(|line| !line.trim_ascii().is_empty()).take(SAMPLE).collect();
    if lines.is_empty() {
        return Err(FormatError::whole("there is no line in it"));
    }
    let names = named::NAMES.iter().map(|(name, _)| *name).chain(["json"]);
    let mut tried: Vec<(usize, Format)> = Vec::new();
    for name in names.filter(|name| *name != "nginx") {
        let format = Format::parse(name)?;
        tried.push((read(&format, &lines).count(), format));
    }
    // Of equal ones that with more fields, which cannot read lines with fewer; one with fewer may take two for one.
    tried.sort_by_key(|(_, format)| std::cmp::Reverse(format.fields()));
    let most = tried.iter().map(|(count, _)| *count).max().unwrap_or(0);
    let Some((count, format)) = tried.into_iter().find(|(count, _)| *count == most) else {
        return Err(FormatError::whole("no format is known"));
    };
    if count * 100 < lines.len() * LEAST {
        let nearest = match count {
            0 => "none reads any of them".to_owned(),
            _ => format!("{} reads most, {count} of {}", format.text, lines.len()),
        };
        return Err(FormatError::whole(format!(
            "the lines are of no known format ({nearest}): give --format with the server's own string, or --config"
        )));
    }
    let mut why = match lines.len() {
        1 => format!("the first line is {}", format.text),
        all if all == count => format!("the first {all} lines are {}", format.text),
        several => format!("{count} of the first {several} lines are {}", format.text),
    };
    let format = unit(format, &lines, &mut why)?;
    Ok(Detected { format, why })
}

/// How many of these lines would be read as well without their last word: where that is so, the format has fewer fields
/// than the lines, and its last one takes all that is left.
pub fn overfull(format: &Format, lines: &[Vec<u8>]) -> usize {
    let mut scanner = Scanner::new(format);
    let mut reads = |line: &[u8]| scanner.read(line).is_ok();
    let shorter = |line: &Vec<u8>| Some(line[..line.iter().rposition(|byte| *byte == b' ')?].to_vec());
    lines.iter().filter(|line| reads(line) && shorter(line).is_some_and(|line| reads(&line))).count()
}

fn read<'l>(format: &Format, lines: &'l [&'l [u8]]) -> impl Iterator<Item = Option<u64>> {
    let mut scanner = Scanner::new(format);
    let times: Vec<Option<u64>> =
        lines.iter().filter_map(|line| scanner.read(line).ok().map(|record| record.time_ns)).collect();
    times.into_iter()
}

/// The unit of a number at the end, which `combined+D` and `combined+T` and nginx's time leave open.
fn unit(format: Format, lines: &[&[u8]], why: &mut String) -> Result<Format, FormatError> {
    if !format.has_time() || !format.text.ends_with("+D") {
        return Ok(format);
    }
    let ends: Vec<&[u8]> = lines.iter().filter_map(|line| line.rsplit(|byte| *byte == b' ').next()).collect();
    let decimal = ends.iter().filter(|end| end.contains(&b'.')).count();
    if decimal * 2 > ends.len() {
        why.push_str(
            "; the last number has a decimal point, so it is a time in seconds, as nginx's request_time",
        );
        return seconds(&format, "nginx+time", why);
    }
    let mut times: Vec<u64> = read(&format, lines).flatten().map(|ns| ns / 1000).collect();
    if times.is_empty() {
        why.push_str("; none of them says how long its request took (the last field is -)");
        return Ok(format);
    }
    times.sort_unstable();
    let middle = times.get(times.len() / 2).copied().unwrap_or(0);
    let high = times.get(times.len() * 99 / 100).copied().unwrap_or(0);
    if middle == 0 && high <= 60 {
        why.push_str(
            "; most of the last numbers are 0, so they are taken for seconds (%T), not microseconds (%D)",
        );
        return seconds(&format, "combined+T", why);
    }
    why.push_str("; the last number is taken for microseconds (%D)");
    if high < 1000 {
        why.push_str(", though so small ones may be milliseconds: say so with --format");
    }
    Ok(format)
}

/// The same format with its time in seconds; `name` is what it is called in the combined one.
fn seconds(format: &Format, name: &str, why: &mut String) -> Result<Format, FormatError> {
    if format.text == "combined+D" {
        *why = why.replace(" combined+D", &format!(" {name}"));
        return Format::parse(name);
    }
    let text = named::NAMES.iter().find(|(known, _)| *known == format.text).map_or("", |(_, text)| *text);
    let made = Format::apache(&text.replace(" %D", " %T"))?;
    *why = why.replace(&format!(" {}", format.text), &format!(" {}", made.text));
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = r#"10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 23"#;

    fn of(ends: &[&str]) -> Result<Detected, FormatError> {
        let lines: Vec<String> = ends.iter().map(|end| format!("{START}{end}")).collect();
        let lines: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
        detect(&lines)
    }

    #[test]
    fn formats_are_told_apart() {
        let name = |ends: &[&str]| of(ends).unwrap().format.text;
        assert_eq!(name(&[""]), "common");
        assert_eq!(name(&[" 12345", " 99"]), "common+D");
        assert_eq!(name(&[r#" "-" "x""#]), "combined");
        assert_eq!(name(&[r#" "-" "x" 12345"#]), "combined+D");
        assert_eq!(name(&[r#" "-" "x" 0.001"#, r#" "-" "x" 1.250"#]), "nginx+time");
        assert_eq!(name(&[r#" "-" "x" 0"#, r#" "-" "x" 0"#, r#" "-" "x" 1"#]), "combined+T");
        assert_eq!(
            detect(&[format!("www.e.org:80 {START} \"-\" \"x\"").as_bytes()]).unwrap().format.text,
            "vcombined"
        );
        assert_eq!(detect(&[br#"{"status":200}"#, b""]).unwrap().format.text, "json");
    }

    #[test]
    fn seconds_are_seconds_whatever_the_format() {
        let found = of(&[" 0.001", " 1.250"]).unwrap();
        assert_eq!(found.format.unit_ns(), Some(1_000_000_000));
        assert!(
            found.why.contains("are %h %l %u %t") && found.why.contains("decimal point"),
            "{}",
            found.why
        );
        assert_eq!(of(&[" 0", " 0", " 3"]).unwrap().format.unit_ns(), Some(1_000_000_000));
    }

    #[test]
    fn it_says_why_and_what_is_left_open() {
        let found = of(&[r#" "-" "x" 12345"#, " cut", r#" "-" "y" 70000"#, r#" "-" "y" 1"#, r#" "-" "y" 2"#])
            .unwrap();
        assert!(found.why.starts_with("4 of the first 5 lines are combined+D;"), "{}", found.why);
        assert!(found.why.contains("microseconds"));
        assert!(of(&[" 7", " 9"]).unwrap().why.contains("may be milliseconds"));
        let nginx = of(&[r#" "-" "x" 0.001"#]).unwrap();
        assert!(nginx.why.starts_with("the first line is nginx+time"), "{}", nginx.why);
        let untimed = of(&[" -", " -"]).unwrap();
        assert!(untimed.why.contains("none of them says how long"), "{}", untimed.why);
    }

    #[test]
    fn a_format_that_is_too_short_is_noticed() {
        let lines = [format!("{START} \"-\" \"an agent\" 12").into_bytes(), b"no line".to_vec()];
        let overfull = |text: &str| overfull(&Format::parse(text).unwrap(), &lines);
        assert_eq!(overfull("combined+D"), 0);
        assert_eq!(overfull(r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-agent}i" %D"#), 0);
        assert_eq!(overfull(r#"%h %l %u %t "%r" %>s %b "%{Referer}i" %{X}i"#), 1);
        assert_eq!(overfull("%h %l %u"), 2 - 1);
    }

    #[test]
    fn what_is_not_known_is_an_error_that_says_what_to_do() {
        assert!(detect(&[]).unwrap_err().what.contains("no line in it"));
        assert!(detect(&[b"", b"  "]).unwrap_err().what.contains("no line in it"));
        let error = detect(&[b"a b c", b"d"]).unwrap_err();
        assert!(error.what.contains("none reads any") && error.what.contains("--format"), "{error}");
        assert!(of(&["", " x", " x", " x"]).is_err());
    }
}
