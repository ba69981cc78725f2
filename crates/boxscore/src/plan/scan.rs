//! `--scan`: the values of a parameter, each of which makes an arm.

use crate::error::CliError;

/// More arms than this are refused.
const MOST: usize = 200;

/// Every pair of an arm's text and a value: `level=1`, or `size=2,level=1` where both are given.
pub fn arms(arms: &[String], scans: &[String]) -> Result<Vec<String>, CliError> {
    let mut all = arms.to_vec();
    for text in scans {
        let (key, values) = read(text)?;
        let with = |before: &str| -> Vec<String> {
            let comma = if before.is_empty() { "" } else { "," };
            values.iter().map(|value| format!("{before}{comma}{key}={value}")).collect()
        };
        all = if all.is_empty() { with("") } else { all.iter().flat_map(|before| with(before)).collect() };
        if all.len() > MOST {
            let error = CliError::usage(format!("--scan {text}: makes {} arms, more than {MOST}", all.len()));
            return Err(error.hint("take a larger step: --scan level=1..1000/100, or --scan size=1..1024*2"));
        }
    }
    Ok(all)
}

/// The key and its values.
fn read(text: &str) -> Result<(&str, Vec<String>), CliError> {
    let wrong = |why: &str| {
        CliError::usage(format!("--scan {text}: {why}"))
            .hint("write it as level=1..9, level=1..9/2, size=1..64*2 or cc=gcc,clang")
    };
    let (key, given) = text.split_once('=').ok_or_else(|| wrong("not of the form K=VALUES"))?;
    Ok((key.trim(), values(given).map_err(|why| wrong(&why))?))
}

/// `1..9`, `1..9/2`, `1..64*2` or `a,b` as values. Fails, with why, where they are none.
pub fn values(values: &str) -> Result<Vec<String>, String> {
    let Some((from, rest)) = values.split_once("..") else {
        let values: Vec<String> = values.split(',').map(|one| one.trim().to_owned()).collect();
        return match values.iter().any(String::is_empty) {
            true => Err("a value is empty".to_owned()),
            false => Ok(values),
        };
    };
    let (to, step) = match rest.find(['/', '*']) {
        Some(at) => (rest.get(..at).unwrap_or_default(), rest.get(at..).unwrap_or_default()),
        None => (rest, "/1"),
    };
    let number = |text: &str| {
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| format!("`{text}` is no number"))
    };
    let (from, to) = (number(from)?, number(to)?);
    let by = number(step.get(1..).unwrap_or_default())?;
    if from > to {
        return Err("its end is below its beginning".to_owned());
    }
    match step.starts_with('*') {
        true if by > 1.0 && from > 0.0 => Ok(steps(to, |step| from * by.powi(step))),
        true => Err("a factor must be above 1, and what it multiplies above 0".to_owned()),
        false if by > 0.0 => Ok(steps(to, |step| from + by * f64::from(step))),
        false => Err("a step must be above 0".to_owned()),
    }
}

/// The values up to `to`, at most one more than are allowed. Decimal steps are rounded to where they were meant.
fn steps(to: f64, at: impl Fn(i32) -> f64) -> Vec<String> {
    let tidy = |value: f64| (value * 1e9).round() / 1e9;
    let all = (0..).map(|step| tidy(at(step))).take_while(|value| *value <= to);
    all.take(MOST + 1).map(|value| value.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(given: &[&str], scans: &[&str]) -> Result<Vec<String>, CliError> {
        let list = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        arms(&list(given), &list(scans))
    }

    #[test]
    fn values_make_arms() {
        assert_eq!(
            made(&[], &["level=1..9/2"]).unwrap(),
            ["level=1", "level=3", "level=5", "level=7", "level=9"]
        );
        assert_eq!(made(&[], &["x=1..3"]).unwrap(), ["x=1", "x=2", "x=3"]);
        assert_eq!(made(&[], &["x=1..9*3"]).unwrap(), ["x=1", "x=3", "x=9"]);
        assert_eq!(made(&[], &["x=0.1..0.3/0.1"]).unwrap(), ["x=0.1", "x=0.2", "x=0.3"]);
        assert_eq!(made(&[], &["cc=gcc,clang"]).unwrap(), ["cc=gcc", "cc=clang"]);
        assert_eq!(
            made(&["a=1"], &["x=1..2", "y=u,v"]).unwrap(),
            ["a=1,x=1,y=u", "a=1,x=1,y=v", "a=1,x=2,y=u", "a=1,x=2,y=v"]
        );
        assert_eq!(made(&["a=1"], &[]).unwrap(), ["a=1"]);
    }

    #[test]
    fn what_has_no_end_is_refused() {
        for (text, says) in [
            ("x", "K=VALUES"),
            ("x=", "empty"),
            ("x=1,,2", "empty"),
            ("x=9..1", "below"),
            ("x=1..9/0", "above 0"),
            ("x=1..9/-1", "above 0"),
            ("x=1..9*1", "factor"),
            ("x=0..9*2", "factor"),
            ("x=a..9", "no number"),
            ("x=1..inf", "no number"),
            ("x=1..1e9", "more than 200"),
            ("x=1..2/1e-300", "more than 200"),
        ] {
            let error = made(&[], &[text]).unwrap_err();
            assert!(error.message.contains(says), "{text}: {error}");
        }
    }
}
