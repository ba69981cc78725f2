//! A figure of one run under the rules, as far as a decision depends on them.
//!
//! A figure that the load generator limited is a lower bound, and no doubtful one. So is one that is doubted because
//! the box may do better: what is enough of it is enough.

use model::Validity;
use model::finding::Rule;

use crate::ruling::Ruling;

/// Why a comparison may call a figure better that no number of boxes is made of.
const IN_A_RATIO: &str =
    " (`compare` sets it beside another with a !: a doubt that both share cancels in their ratio)";

/// A figure, or several that stand for one, under the rules.
pub struct Ruled {
    pub validity: Validity,
    doubts: Vec<Doubted>,
    /// Why it is a lower bound.
    pub bound: Option<String>,
}

/// A rule that doubts or refuses it.
struct Doubted {
    /// Empty: no rule, but the need itself.
    rule: String,
    text: String,
    refuses: bool,
    /// The box can only do better than its figure.
    is_lower: bool,
}

impl Doubted {
    fn is_accepted(&self, accept: &[String]) -> bool {
        !self.rule.is_empty() && accept.contains(&self.rule)
    }

    /// It stands against the use of the figure, whatever the figure is used as.
    fn forbids(&self, accept: &[String]) -> bool {
        !self.is_lower && !self.is_accepted(accept)
    }
}

/// Rules whose doubt is that the box may do better: something else took of it while it was measured.
fn is_lower(rule: &Rule) -> bool {
    matches!(rule, Rule::SameCores(_) | Rule::Background(_) | Rule::Steal(_) | Rule::Counted(_))
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
            if matches!(&finding.rule, Rule::GeneratorBound(bound) if bound.is_bound()) {
                ruled.bound.get_or_insert_with(|| finding.text());
                continue;
            }
            let (rule, refuses) = (finding.kind().to_owned(), finding.state == Validity::Invalid);
            let is_lower = !refuses && is_lower(&finding.rule);
            let doubted = Doubted { rule, text: finding.text(), refuses, is_lower };
            if !ruled.doubts.iter().any(|known| known.rule == doubted.rule && known.text == doubted.text) {
                ruled.doubts.push(doubted);
            }
        }
        ruled
    }

    /// Refuses it for a reason that no rule knows.
    pub fn refuse(&mut self, text: String) {
        self.validity = Validity::Invalid;
        self.doubts.insert(0, Doubted { rule: String::new(), text, refuses: true, is_lower: false });
    }

    /// The rules that doubt or refuse it are accepted, or make it a lower bound. What no rule knows cannot be accepted.
    pub fn is_usable(&self, accept: &[String]) -> bool {
        !self.doubts.iter().any(|doubted| doubted.forbids(accept))
    }

    /// It is usable as it is, and not as a lower bound by a doubt.
    pub fn is_whole(&self, accept: &[String]) -> bool {
        self.doubts.iter().all(|doubted| doubted.is_accepted(accept))
    }

    /// `refused (errors, drift)`: why it is left out, in short.
    pub fn in_short(&self, accept: &[String]) -> String {
        let against: Vec<&Doubted> = self.doubts.iter().filter(|one| !one.is_accepted(accept)).collect();
        let how = if against.iter().any(|one| one.refuses) { "refused" } else { "doubtful" };
        let mut rules: Vec<&str> = against.iter().map(|one| one.rule.as_str()).collect();
        rules.dedup();
        match rules.as_slice() {
            [] | [""] => how.to_owned(),
            rules => format!("{how} ({})", rules.join(", ")),
        }
    }

    /// Why it is not used: a clause behind its value. All reasons are told, so that nobody mends one to meet the next.
    pub fn why_not(&self, accept: &[String]) -> String {
        let (by_need, by_rule): (Vec<&Doubted>, Vec<&Doubted>) =
            self.doubts.iter().filter(|one| one.forbids(accept)).partition(|one| one.rule.is_empty());
        let needs = by_need.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("; ");
        match (needs.as_str(), by_rules(by_rule)) {
            ("", ruled) => ruled,
            (needs, ruled) if ruled.is_empty() => format!("is not used: {needs}"),
            (needs, ruled) => format!("is not used: {needs}; besides, it {ruled}"),
        }
    }

    /// The rules that doubt or refuse it, and that are accepted.
    pub fn accepted<'s>(&'s self, accept: &'s [String]) -> impl Iterator<Item = &'s str> {
        self.doubts.iter().filter(|doubted| doubted.is_accepted(accept)).map(|doubted| doubted.rule.as_str())
    }

    /// The sentences that doubt it or make it a lower bound, each with its rule, which is empty for the bound.
    fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let doubts = self.doubts.iter().map(|doubted| (doubted.rule.as_str(), doubted.text.as_str()));
        self.bound.iter().map(|bound| ("", bound.as_str())).chain(doubts)
    }
}

/// The rules against it, each with its first sentence; empty without any.
fn by_rules(mut left: Vec<&Doubted>) -> String {
    // What refuses it says more than what doubts it.
    left.sort_by_key(|one| !one.refuses);
    let is_refused = left.first().is_some_and(|first| first.refuses);
    let mut rules: Vec<(&str, &str)> = Vec::new();
    for one in left {
        if !rules.iter().any(|(rule, _)| *rule == one.rule) {
            rules.push((&one.rule, &one.text));
        }
    }
    if rules.is_empty() {
        return String::new();
    }
    let each = |of: fn(&(&str, &str)) -> String, by: &str| rules.iter().map(of).collect::<Vec<_>>().join(by);
    format!(
        "is {} ({}), and not used unless {}{}: {}",
        if is_refused { "refused" } else { "doubtful" },
        each(|(rule, _)| (*rule).to_owned(), ", "),
        each(|(rule, _)| format!("--accept {rule}"), " "),
        if is_refused { "" } else { IN_A_RATIO },
        each(|(_, text)| (*text).to_owned(), "; ")
    )
}

/// The sentences about several runs, oldest first: what a rule says of the newest of them that it speaks of, since of
/// earlier ones it says the same with other numbers.
pub fn texts<'r>(runs: impl DoubleEndedIterator<Item = &'r Ruled>) -> Vec<&'r str> {
    let mut told: Vec<(&str, &str)> = Vec::new();
    for run in runs.rev() {
        let known: Vec<&str> = told.iter().map(|(rule, _)| *rule).collect();
        told.extend(run.texts().filter(|(rule, _)| !known.contains(rule)));
    }
    told.into_iter().map(|(_, text)| text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_told_once_of_several_runs() {
        let run =
            |bound: &str, doubts: &[(&str, bool)]| Ruled { bound: Some(bound.to_owned()), ..ruled(doubts) };
        let old = run("bound at 60 k/s", &[("errors", false), ("drift", false)]);
        let new = run("bound at 61 k/s", &[("errors", false)]);
        let said = texts([&old, &new].into_iter());
        assert_eq!(said, ["bound at 61 k/s", "errors says so", "drift says so"]);
    }

    fn ruled(doubts: &[(&str, bool)]) -> Ruled {
        let doubts = doubts.iter().map(|(rule, refuses)| Doubted {
            rule: (*rule).to_owned(),
            text: format!("{rule} says so"),
            refuses: *refuses,
            is_lower: *rule == "same-cores",
        });
        Ruled { validity: Validity::Invalid, doubts: doubts.collect(), bound: None }
    }

    #[test]
    fn refused_figures_need_consent_as_doubtful_ones_do() {
        let one = ruled(&[("drift", false), ("host-busy", true)]);
        assert!(!one.is_usable(&[]) && !one.is_usable(&["drift".to_owned()]));
        assert_eq!(
            one.why_not(&[]),
            "is refused (host-busy, drift), and not used unless --accept host-busy --accept drift: \
             host-busy says so; drift says so"
        );
        assert_eq!(
            one.why_not(&["host-busy".to_owned()]),
            "is doubtful (drift), and not used unless --accept drift (`compare` sets it beside another with a !: a doubt that \
             both share cancels in their ratio): drift says so"
        );
        let both = ["drift".to_owned(), "host-busy".to_owned()];
        assert!(one.is_usable(&both));
        assert_eq!(one.texts().count(), 2, "why it is refused is still said");
        assert_eq!(one.accepted(&both).collect::<Vec<_>>(), ["drift", "host-busy"]);
    }

    #[test]
    fn a_doubt_that_the_box_may_do_better_makes_a_lower_bound() {
        let one = ruled(&[("same-cores", false)]);
        assert!(one.is_usable(&[]) && !one.is_whole(&[]) && one.accepted(&[]).count() == 0);
        assert!(one.is_whole(&["same-cores".to_owned()]));
        // Another doubt stands as it does alone, and is the only one that is told.
        let both = ruled(&[("same-cores", false), ("drift", false)]);
        assert!(!both.is_usable(&[]) && both.is_usable(&["drift".to_owned()]));
        assert!(both.why_not(&[]).starts_with("is doubtful (drift)"), "{}", both.why_not(&[]));
        assert_eq!(both.in_short(&[]), "doubtful (same-cores, drift)");
    }

    #[test]
    fn the_conditions_of_the_need_cannot_be_accepted() {
        let mut one = ruled(&[("drift", true)]);
        one.refuse("2 % of its requests failed".to_owned());
        assert!(!one.is_usable(&["drift".to_owned(), String::new()]));
        assert_eq!(one.why_not(&["drift".to_owned()]), "is not used: 2 % of its requests failed");
        assert_eq!(
            one.why_not(&[]),
            "is not used: 2 % of its requests failed; besides, it is refused (drift), and not used unless --accept drift: \
             drift says so"
        );
    }
}
