//! Sentences that differ in their numbers only, folded into one with ranges.
//!
//! Numbers are compared by value and shown as they stood; a number that is part of a word or a name (`cpu0`, `mini-1`)
//! is text. Units are text too: `900 MHz` and `1.1 GHz` do not fold.

/// A text cut into what stands and what is a number.
#[derive(Clone, Debug, PartialEq)]
struct Pieces<'t> {
    /// One more than numbers.
    words: Vec<&'t str>,
    numbers: Vec<(f64, &'t str)>,
}

/// Whether two texts differ in their numbers at most.
#[must_use]
pub fn alike(a: &str, b: &str) -> bool {
    pieces(a).words == pieces(b).words
}

/// `the clock was 3.58 GHz` and `the clock was 3.62 GHz` are `the clock was 3.58 to 3.62 GHz`; in order of meeting.
#[must_use]
pub fn fold<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let mut groups: Vec<Vec<Pieces<'t>>> = Vec::new();
    for text in texts {
        let cut = pieces(text);
        match groups.iter_mut().find(|group| group.iter().any(|known| known.words == cut.words)) {
            Some(group) => group.push(cut),
            None => groups.push(vec![cut]),
        }
    }
    groups.iter().map(|group| joined(group)).collect()
}

fn joined(group: &[Pieces<'_>]) -> String {
    let Some(first) = group.first() else { return String::new() };
    let mut out = String::new();
    for (at, word) in first.words.iter().enumerate() {
        out.push_str(word);
        let of = group.iter().filter_map(|one| one.numbers.get(at));
        let least = of.clone().min_by(|a, b| a.0.total_cmp(&b.0));
        let most = of.max_by(|a, b| a.0.total_cmp(&b.0));
        if let (Some(least), Some(most)) = (least, most) {
            out.push_str(least.1);
            if least.0 < most.0 {
                out.push_str(" to ");
                out.push_str(most.1);
            }
        }
    }
    out
}

fn pieces(text: &str) -> Pieces<'_> {
    let mut cut = Pieces { words: Vec::new(), numbers: Vec::new() };
    let (mut from, mut past, mut before) = (0, 0, ' ');
    for (at, c) in text.char_indices() {
        let begins = at >= past && c.is_ascii_digit() && (before.is_whitespace() || before == '(');
        before = c;
        if !begins {
            continue;
        }
        let rest = &text[at..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let token = rest[..end].trim_end_matches('.');
        let next = rest[token.len()..].chars().next();
        let ends = next.is_none_or(|c| !c.is_alphanumeric() && !"-_/:".contains(c));
        if let Some(value) = token.parse::<f64>().ok().filter(|_| ends) {
            cut.words.push(&text[from..at]);
            cut.numbers.push((value, token));
            (from, past) = (at + token.len(), at + token.len());
        }
    }
    cut.words.push(&text[from..]);
    cut
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_become_ranges() {
        let clocks = [
            "the clock was 3.60 GHz against 4.20 GHz",
            "other processes were busy",
            "the clock was 3.58 GHz against 4.20 GHz",
            "the clock was 900 MHz against 4.20 GHz",
        ];
        assert_eq!(
            fold(clocks),
            [
                "the clock was 3.58 to 3.60 GHz against 4.20 GHz",
                "other processes were busy",
                "the clock was 900 MHz against 4.20 GHz",
            ]
        );
        assert_eq!(fold(["up to 12 %.", "up to 9.5 %."]), ["up to 9.5 to 12 %."]);
        assert!(!alike("mini-1: slow", "mini-2: slow") && !alike("cpu0", "cpu1") && !alike("1st", "2nd"));
        assert!(alike("(3 of 12)", "(4 of 10)"));
    }

    proptest! {
        #[test]
        fn one_text_stays_as_it_is(text in "\\PC{0,60}") {
            prop_assert_eq!(fold([text.as_str(), text.as_str()]), [text]);
        }
    }
}
