//! Colours, shapes and words: the style sheet of a report and the marks of a verdict.
//!
//! The colours are those of Okabe and Ito, told apart with any colour vision; dark mode uses lighter
//! shades of the same hues. A verdict is always a word and a shape, its colour only repeats them, so that
//! a grey print says the same.

use maud::{Markup, html};
use model::Validity;
use model::doc::{CheckState, VerdictWord};

/// The whole style sheet; a report carries it inline.
pub const CSS: &str = include_str!("page.css");

/// A row's verdict, as shown. `Point` stands for a published value without samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Better,
    Worse,
    Tie,
    CannotTell,
    Invalid,
    Point,
}

impl Verdict {
    pub const ALL: [Verdict; 6] = [
        Verdict::Better,
        Verdict::Worse,
        Verdict::Tie,
        Verdict::CannotTell,
        Verdict::Invalid,
        Verdict::Point,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Tie => "tie",
            Verdict::CannotTell => "cannot tell",
            Verdict::Invalid => "invalid",
            Verdict::Point => "point",
        }
    }

    pub const fn shape(self) -> &'static str {
        match self {
            Verdict::Better => "▲",
            Verdict::Worse => "▼",
            Verdict::Tie => "=",
            Verdict::CannotTell => "?",
            Verdict::Invalid => "✕",
            Verdict::Point => "○",
        }
    }

    pub const fn class(self) -> &'static str {
        match self {
            Verdict::Better => "v-better",
            Verdict::Worse => "v-worse",
            Verdict::Tie => "v-tie",
            Verdict::CannotTell => "v-unsure",
            Verdict::Invalid => "v-invalid",
            Verdict::Point => "v-point",
        }
    }

    /// Shape and word.
    pub fn badge(self) -> Markup {
        self.badge_as(self.word())
    }

    /// The shape with another word.
    pub fn badge_as(self, word: &str) -> Markup {
        html! { span class={ "v " (self.class()) } { b aria-hidden="true" { (self.shape()) } " " (word) } }
    }
}

impl From<VerdictWord> for Verdict {
    fn from(word: VerdictWord) -> Verdict {
        match word {
            VerdictWord::Better => Verdict::Better,
            VerdictWord::Worse => Verdict::Worse,
            VerdictWord::Tie => Verdict::Tie,
            VerdictWord::CannotTell => Verdict::CannotTell,
            VerdictWord::Invalid => Verdict::Invalid,
        }
    }
}

/// How sure a check is: the marks of the trust list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    Ok,
    Doubtful,
    Refused,
    /// Said, but neither good nor bad.
    Info,
}

impl Trust {
    /// Mark and class; the mark is the terminal's too.
    pub const fn mark(self) -> (&'static str, &'static str) {
        match self {
            Trust::Ok => ("ok", "t-ok"),
            Trust::Doubtful => ("!", "t-doubt"),
            Trust::Refused => ("x", "t-bad"),
            Trust::Info => ("i", "t-info"),
        }
    }

    /// One line of the trust list.
    pub fn line(self, body: &Markup) -> Markup {
        let (mark, class) = self.mark();
        html! { li class=(class) { b class="mark" { (mark) } div { (body) } } }
    }
}

impl From<Validity> for Trust {
    fn from(validity: Validity) -> Trust {
        match validity {
            Validity::Ok => Trust::Ok,
            Validity::Unknown => Trust::Info,
            Validity::Doubtful => Trust::Doubtful,
            Validity::Invalid => Trust::Refused,
        }
    }
}

impl From<CheckState> for Trust {
    fn from(state: CheckState) -> Trust {
        match state {
            CheckState::Ok => Trust::Ok,
            CheckState::Unknown => Trust::Info,
            CheckState::Warn => Trust::Doubtful,
            CheckState::Bad => Trust::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The relative luminance of `#rrggbb`.
    fn luminance(hex: &str) -> f64 {
        let channel = |i: usize| {
            let value = f64::from(u8::from_str_radix(&hex[i..i + 2], 16).expect("hex")) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// The variables of the n-th block that defines them (0 light, 1 dark).
    fn variable<'a>(name: &str, nth: usize) -> &'a str {
        let mark = format!("--{name}:");
        let at = CSS.match_indices(&mark).nth(nth).expect("defined for both").0 + mark.len();
        CSS[at..at + 7].trim()
    }

    #[test]
    fn text_and_series_stand_out_in_both_themes() {
        for theme in [0, 1] {
            let ground = variable("bg", theme);
            for (name, least) in [("fg", 7.0), ("mut", 4.5), ("good", 4.5), ("bad", 4.5), ("warn", 4.5)] {
                let got = contrast(variable(name, theme), ground);
                assert!(got >= least, "{name} in theme {theme}: {got:.2}");
            }
            for i in 0..crate::plot::COLOURS {
                let got = contrast(variable(&format!("s{i}"), theme), ground);
                assert!(got >= 3.0, "s{i} in theme {theme}: {got:.2}");
            }
        }
    }

    #[test]
    fn the_sheet_asks_nothing_of_the_network() {
        assert!(!CSS.contains("url(") && !CSS.contains("@import"));
        assert_eq!(CSS.matches('{').count(), CSS.matches('}').count());
    }
}
