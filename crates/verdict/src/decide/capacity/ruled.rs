//! A figure of one run under the rules, as far as a decision depends on them.
//!
//! A figure that the load generator limited is a lower bound, and no doubtful one.

use model::Validity;
use model::finding::{GeneratorBound, Rule};

use crate::ruling::Ruling;

/// A figure, or several that stand for one, under the rules.
pub struct Ruled {
    pub validity: Validity,
    doubts: Vec<Doubted>,
    /// Why it is a lower bound.
    pub bound: Option<String>,
}

/// A rule that doubts or refuses it.
struct Doubted {
    rule: String,
    text: String,
    refuses: bool,
}

impl Ruled {
    /// These rows of a run, by their places, together.
    pub fn of_rows(rulings: &[Ruling], rows: &[usize]) -> Ruled {
        let mut ruled = Ruled { validity: Validity::Unknown, doubts: Vec::new(), bound: None };
        for ruling in rulings.iter().filter(|ruling| ruling.reach.iter().any(|row| rows.contains(row))) {
            let finding = &ruling.finding;
            // A rule that says `ok` is heard before one without inputs.
            ruled.validity = match (ruled.validity, finding.state) {
                (Validity::Unknown, state) | (state, Validity::Unknown) => state,
                (known, state) => known.max(state),
            };
            if finding.state < Validity::Doubtful {
                continue;
            }
            if matches!(finding.rule, Rule::GeneratorBound(GeneratorBound::Bound(_))) {
                ruled.bound.get_or_insert_with(|| finding.text());
                continue;
            }
            let (rule, refuses) = (finding.kind().to_owned(), finding.state == Validity::Invalid);
            let doubted = Doubted { rule, text: finding.text(), refuses };
            if !ruled.doubts.iter().any(|known| known.rule == doubted.rule && known.text == doubted.text) {
                ruled.doubts.push(doubted);
            }
        }
        ruled
    }

    /// Refuses it for a reason that no rule knows.
    pub fn refuse(&mut self, text: String) {
        self.validity = Validity::Invalid;
        self.doubts.insert(0, Doubted { rule: String::new(), text, refuses: true });
    }

    /// No rule refuses it, and those that doubt it are accepted.
    pub fn is_usable(&self, accept: &[String]) -> bool {
        self.doubts.iter().all(|doubted| !doubted.refuses && accept.contains(&doubted.rule))
    }

    /// Why it is not used: a clause behind its value.
    pub fn why_not(&self, accept: &[String]) -> String {
        if let Some(refused) = self.doubts.iter().find(|doubted| doubted.refuses) {
            return format!("is not used: {}", refused.text);
        }
        let mut rules: Vec<&str> = Vec::new();
        for doubted in self.doubts.iter().filter(|doubted| !accept.contains(&doubted.rule)) {
            if !rules.contains(&doubted.rule.as_str()) {
                rules.push(&doubted.rule);
            }
        }
        let first = self.doubts.iter().find(|doubted| rules.first() == Some(&doubted.rule.as_str()));
        let accept: Vec<String> = rules.iter().map(|rule| format!("--accept {rule}")).collect();
        format!(
            "is doubtful ({}), and not used unless {}: {}",
            rules.join(", "),
            accept.join(" "),
            first.map_or("", |first| &first.text)
        )
    }

    /// The sentences that doubt it or make it a lower bound.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.bound.iter().map(String::as_str).chain(self.doubts.iter().map(|doubted| doubted.text.as_str()))
    }
}
