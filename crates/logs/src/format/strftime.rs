//! Apache's `%{format}t`: the time as strftime writes it, and its own words (`sec`, `msec`, `usec`, their fractions).

use crate::scan::clock::{Part, Pattern};

/// The pattern of a format; an error names what cannot be read back.
pub fn compile(text: &str) -> Result<Pattern, String> {
    let own = match text {
        "sec" => Some(Part::Epoch),
        "msec" => Some(Part::EpochMs),
        "usec" => Some(Part::EpochUs),
        "msec_frac" | "usec_frac" => Some(Part::Fraction),
        _ => None,
    };
    if let Some(part) = own {
        return Ok(Pattern::new(vec![part]));
    }
    let mut parts = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            let mut bytes = [0; 4];
            parts.extend(c.encode_utf8(&mut bytes).bytes().map(Part::Byte));
            continue;
        }
        let letter = chars.next().ok_or_else(|| format!("%{{{text}}}t ends in %"))?;
        parts.extend(one(letter).ok_or_else(|| format!("%{{{text}}}t: %{letter} cannot be read back"))?);
    }
    if parts.is_empty() {
        return Err("an empty format of time".to_owned());
    }
    Ok(Pattern::new(parts))
}

fn one(letter: char) -> Option<Vec<Part>> {
    use Part::*;
    let time = || vec![Hour, Byte(b':'), Minute, Byte(b':'), Second];
    Some(match letter {
        'Y' => vec![Year],
        'y' => vec![ShortYear],
        'm' => vec![Month],
        'b' | 'h' => vec![MonthName],
        'd' => vec![Day],
        'e' => vec![PaddedDay],
        'H' => vec![Hour],
        'I' => vec![Hour12],
        'p' => vec![AmPm],
        'M' => vec![Minute],
        'S' => vec![Second],
        'T' => time(),
        'R' => vec![Hour, Byte(b':'), Minute],
        'F' => vec![Year, Byte(b'-'), Month, Byte(b'-'), Day],
        'D' => vec![Month, Byte(b'/'), Day, Byte(b'/'), ShortYear],
        'z' => vec![Zone],
        'Z' | 'a' => vec![Letters],
        's' => vec![Epoch],
        't' => vec![Byte(b'\t')],
        '%' => vec![Byte(b'%')],
        'c' => {
            let mut all = vec![Letters, Byte(b' '), MonthName, Byte(b' '), PaddedDay, Byte(b' ')];
            all.extend(time());
            all.extend([Byte(b' '), Year]);
            all
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::clock::Civil;

    fn seconds(format: &str, text: &str) -> Option<i64> {
        let mut civil = Civil::default();
        let taken = compile(format).unwrap().read(text.as_bytes(), &mut civil)?;
        (taken == text.len()).then(|| civil.at())?.map(|at| at.seconds)
    }

    #[test]
    fn formats_are_read_back() {
        for (format, text) in [
            ("%d/%b/%Y:%H:%M:%S %z", "10/Oct/2000:13:55:36 -0700"),
            ("%F %T%z", "2000-10-10 13:55:36-0700"),
            ("%m/%d/%y %R:%S %z", "10/10/00 13:55:36 -0700"),
            ("%c", "Tue Oct 10 20:55:36 2000"),
            ("%s", "971211336"),
            ("msec", "971211336500"),
            ("%I:%M:%S %p %D", "08:55:36 PM 10/10/00"),
        ] {
            assert_eq!(seconds(format, text), Some(971_211_336), "{format}");
        }
    }

    #[test]
    fn what_cannot_be_read_back_is_an_error() {
        for format in ["%j", "%", "", "%U", "%d %"] {
            assert!(compile(format).is_err(), "{format}");
        }
    }
}
