//! The rates of several machines of one study, and what they come to together, in one sentence. Per second.
//!
//! Each machine is loaded in its turn: what they would take from each other under load at once, such as a link that
//! they share, is not in the sum. Its interval has the sums of the ends, so that it is never too narrow, whatever the
//! machines share.

use std::fmt;

use super::AnsweredDoc;
use crate::format::{number, tells};
use crate::unit::Unit;

/// The name of the last figure.
pub const TOTAL: &str = "total";
/// Machines that a sentence names one by one.
const MOST: usize = 4;

/// The rate of each machine, under its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Together(Vec<AnsweredDoc>);

impl Together {
    /// `None` of fewer than two machines.
    pub fn new(machines: Vec<AnsweredDoc>) -> Option<Together> {
        (machines.len() > 1).then_some(Together(machines))
    }

    fn total(&self) -> AnsweredDoc {
        let sum = |of: fn(&AnsweredDoc) -> Option<f64>| self.0.iter().map(of).sum::<Option<f64>>();
        AnsweredDoc {
            name: TOTAL.to_owned(),
            unit: Unit::PerSec,
            value: self.0.iter().map(|one| one.value).sum(),
            low: sum(|one| one.low),
            high: sum(|one| one.high),
            verdict: None,
            least: self.0.iter().any(|one| one.least),
        }
    }

    /// The figure of each machine, and the total.
    pub(super) fn figures(&self) -> Vec<AnsweredDoc> {
        self.0.iter().cloned().chain([self.total()]).collect()
    }
}

impl fmt::Display for Together {
    /// `a serves 36,400 requests/s, b at least 35,000; together at least 71,400, each loaded in its turn`; of many, the
    /// total first.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        let ends = total.low.zip(total.high).filter(|(low, high)| tells(*low, *high));
        let ends =
            ends.map_or_else(String::new, |(low, high)| format!(" ({} to {})", number(low), number(high)));
        let total = rate(&total);
        let said = |one: &AnsweredDoc| format!("{} {}", one.name, rate(one));
        if let ([first, others @ ..], true) = (self.0.as_slice(), self.0.len() <= MOST) {
            let others: String = others.iter().map(|one| format!(", {}", said(one))).collect();
            let first = format!("{} serves {} requests/s", first.name, rate(first));
            return write!(to, "{first}{others}; together {total}{ends}, each loaded in its turn");
        }
        write!(
            to,
            "{} machines serve {total} requests/s together{ends}, each loaded in its turn: ",
            self.0.len()
        )?;
        let by_value = |a: &&AnsweredDoc, b: &&AnsweredDoc| a.value.total_cmp(&b.value);
        let (low, high) = (self.0.iter().min_by(by_value), self.0.iter().max_by(by_value));
        let ends: Vec<String> = [low, high].into_iter().flatten().map(said).collect();
        to.write_str(&ends.join(" at the least, "))?;
        to.write_str(" at the most")
    }
}

/// `at least 36,400`
fn rate(one: &AnsweredDoc) -> String {
    format!("{}{}", if one.least { "at least " } else { "" }, number(one.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rated(name: &str, value: f64, ends: Option<(f64, f64)>) -> AnsweredDoc {
        let (low, high) = (ends.map(|ends| ends.0), ends.map(|ends| ends.1));
        let name = name.to_owned();
        AnsweredDoc { name, unit: Unit::PerSec, value, low, high, verdict: None, least: false }
    }

    #[test]
    fn rates_of_machines_add_up() {
        let two = vec![rated("a", 36_400.0, Some((36_000.0, 37_000.0))), rated("b", 35_000.0, None)];
        let together = Together::new(two.clone()).unwrap();
        let says = "a serves 36,400 requests/s, b 35,000; together 71,400, each loaded in its turn";
        assert_eq!(together.to_string(), says);
        let figures = together.figures();
        assert_eq!((figures[2].name.as_str(), figures[2].value, figures[2].low), (TOTAL, 71_400.0, None));
        let mut all = vec![rated("b", 35_000.0, Some((34_000.0, 36_000.0))), two[0].clone()];
        let ends = Together::new(all.clone()).unwrap().to_string();
        assert!(ends.contains("together 71,400 (70,000 to 73,000), each"), "{ends}");
        all[0].least = true;
        let least = Together::new(all).unwrap().to_string();
        assert!(
            least.starts_with("b serves at least 35,000 requests/s, a 36,400; together at least 71,400"),
            "{least}"
        );
        assert_eq!(Together::new(vec![two[0].clone()]), None);
    }

    #[test]
    fn of_many_machines_the_ends_are_named() {
        let many = (1..=9).map(|n| rated(&format!("n{n}"), 1000.0 * f64::from(n), None)).collect();
        let said = Together::new(many).unwrap().to_string();
        assert!(said.ends_with("in its turn: n1 1,000 at the least, n9 9,000 at the most"), "{said}");
    }
}
