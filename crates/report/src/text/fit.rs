//! Screens that fit: where a default screen has more lines than a person looks at, its less important parts are said in
//! fewer, and a line says which, and what shows them whole.
//!
//! Each part comes with its own shorter forms; nothing is cut in the middle of a sentence.

use super::{Look, Tone, notes};

/// The order in which parts are shortened, the first ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// The use of commands and columns.
    Hint,
    /// Numbers behind a sentence that stays.
    Evidence,
    /// The steps of a shape: its ends stay.
    Shape,
    /// Why something was concluded, and how figures were compared.
    Reason,
    /// Doubts beyond the first.
    Doubt,
    /// Rows and columns of tables, and single numbers.
    Figure,
    /// Sentences that say what the figures come to.
    Sentence,
}

/// A shorter form of a part.
#[derive(Clone, Debug)]
struct Form {
    rank: Rank,
    /// The thing of which it says less; empty where its own text says so, or nothing is lost.
    left_out: String,
    text: String,
}

/// A piece of a screen: whole lines, and shorter forms of them.
#[derive(Clone, Debug, Default)]
pub struct Part {
    whole: String,
    shorter: Vec<Form>,
}

impl Part {
    pub fn new(whole: impl Into<String>) -> Part {
        Part { whole: whole.into(), shorter: Vec::new() }
    }

    /// Adds a form for the case that the one before is too long; one that is no shorter is none.
    #[must_use]
    pub fn or(mut self, rank: Rank, left_out: impl Into<String>, text: impl Into<String>) -> Part {
        let text = text.into();
        if lines(&text) < lines(self.at(self.shorter.len()).0) {
            let rank = self.shorter.last().map_or(rank, |before| before.rank.max(rank));
            self.shorter.push(Form { rank, left_out: left_out.into(), text });
        }
        self
    }

    pub fn is_empty(&self) -> bool {
        self.whole.is_empty()
    }

    /// The text of a form, and what it leaves out. The whole one is 0.
    fn at(&self, form: usize) -> (&str, &str) {
        match form.checked_sub(1).and_then(|at| self.shorter.get(at)) {
            Some(form) => (&form.text, &form.left_out),
            None => (&self.whole, ""),
        }
    }
}

impl From<String> for Part {
    fn from(whole: String) -> Part {
        Part::new(whole)
    }
}

fn lines(text: &str) -> usize {
    text.lines().count()
}

/// The parts of a screen from top to bottom.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    parts: Vec<Part>,
    /// The part in front of which stands what was shortened.
    told_at: usize,
}

impl Screen {
    pub fn add(&mut self, part: impl Into<Part>) {
        self.parts.push(part.into());
    }

    /// Parts that were shortened are told here.
    pub fn tell_here(&mut self) {
        self.told_at = self.parts.len();
    }

    /// The whole screen, or one of the look's lines with as much of each part as there is room for, the more important
    /// first. `command` shows all of it. `end` adds what stands below.
    pub fn fit(&self, look: Look, command: &str, end: impl Fn(String) -> String) -> String {
        let draw = |forms: &[usize]| end(self.drawn(forms, command, look));
        let fits = |forms: &[usize]| lines(&draw(forms)) <= look.lines;
        let mut forms = vec![0; self.parts.len()];
        let mut taken = Vec::new();
        for (part, form) in self.steps() {
            if look.all || fits(&forms) {
                break;
            }
            forms[part] = form;
            taken.push((part, form));
        }
        // What a later step made needless is taken back.
        let taken_back = if fits(&forms) { taken } else { Vec::new() };
        for (part, form) in taken_back.into_iter().rev() {
            let mut longer = forms.clone();
            longer[part] = form - 1;
            if forms[part] == form && fits(&longer) {
                forms = longer;
            }
        }
        draw(&forms)
    }

    /// All shorter forms in the order in which they are taken.
    fn steps(&self) -> Vec<(usize, usize)> {
        let of_part = |(part, one): (usize, &Part)| {
            let forms = one.shorter.iter().enumerate();
            forms.map(move |(at, form)| (form.rank, at + 1, part)).collect::<Vec<_>>()
        };
        let mut steps: Vec<(Rank, usize, usize)> = self.parts.iter().enumerate().flat_map(of_part).collect();
        steps.sort_unstable();
        steps.into_iter().map(|(_, form, part)| (part, form)).collect()
    }

    fn drawn(&self, forms: &[usize], command: &str, look: Look) -> String {
        let mut out = String::new();
        let mut left_out: Vec<&str> = Vec::new();
        for (part, form) in self.parts.iter().zip(forms) {
            let (_, left) = part.at(*form);
            if !left.is_empty() && !left_out.contains(&left) {
                left_out.push(left);
            }
        }
        let told = match left_out.as_slice() {
            [] => String::new(),
            some => {
                let text = format!("shortened to fit: {}; whole: {command}", some.join(", "));
                notes::marked("-", Tone::Dim, &text, look)
            }
        };
        for (at, (part, form)) in self.parts.iter().zip(forms).enumerate() {
            if at == self.told_at {
                out.push_str(&told);
            }
            out.push_str(part.at(*form).0);
        }
        if self.told_at >= self.parts.len() {
            out.push_str(&told);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(lines: usize, rank: Rank, what: &str) -> Part {
        let text = |lines: usize| format!("{what}\n").repeat(lines);
        (1..lines).rev().fold(Part::new(text(lines)), |part, lines| part.or(rank, what, text(lines)))
    }

    fn fitted(parts: &[Part], lines: usize) -> String {
        let mut screen = Screen::default();
        parts.iter().for_each(|part| screen.add(part.clone()));
        screen.tell_here();
        screen.fit(Look { lines, ..Look::plain() }, "--all", |text| text + "end\n")
    }

    #[test]
    fn what_matters_least_is_shortened_first_and_told() {
        let parts = [part(4, Rank::Figure, "row"), part(5, Rank::Hint, "hint"), Part::new("kept\n")];
        let whole = fitted(&parts, 11);
        assert_eq!(whole, "row\n".repeat(4) + &"hint\n".repeat(5) + "kept\nend\n");
        let shorter = fitted(&parts, 10);
        let told = "- shortened to fit: hint; whole: --all\n";
        assert_eq!(shorter, "row\n".repeat(4) + &"hint\n".repeat(3) + "kept\n" + told + "end\n");
        let least = fitted(&parts, 6);
        let told = "- shortened to fit: row, hint; whole: --all\n";
        assert_eq!(least, "row\n".repeat(2) + "hint\nkept\n" + told + "end\n");
        // More than all of it cannot be left out.
        assert_eq!(fitted(&parts, 1).lines().count(), 5);
    }

    #[test]
    fn a_step_that_another_made_needless_is_taken_back() {
        let parts = [
            part(2, Rank::Hint, "hint"),
            Part::new("long\n".repeat(9)).or(Rank::Reason, "long", "short\n"),
            Part::new("kept\n"),
        ];
        let told = "- shortened to fit: long; whole: --all\n";
        assert_eq!(fitted(&parts, 7), format!("hint\nhint\nshort\nkept\n{told}end\n"));
    }

    #[test]
    fn all_that_was_asked_for_is_shown_whatever_its_length() {
        let mut screen = Screen::default();
        screen.add(part(90, Rank::Hint, "hint"));
        let text = screen.fit(Look::plain().with_all(true), "--all", |text| text);
        assert_eq!(text.lines().count(), 90);
    }
}
