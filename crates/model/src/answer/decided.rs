//! Boxes that do the work, in one sentence: how many of the cheapest, and what the others would cost.

use std::fmt;

use super::AnsweredDoc;
use crate::fake;
use crate::format;
use crate::unit::Unit;

/// A candidate with its number of boxes.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    pub name: String,
    /// Spare ones included.
    pub boxes: u64,
    /// The 95 % interval of the number, spares included.
    pub low: u64,
    pub high: u64,
    /// Fewer may be enough.
    pub at_most: bool,
    pub published: bool,
    /// Runs of it were planted by `--fake`: no measurement.
    pub planted: bool,
    /// Of all boxes over their life.
    pub cost: Option<f64>,
    /// Of all boxes a month, where they are rented.
    pub rent: Option<f64>,
    /// Cost as a multiple of the first one's, with its interval.
    pub ratio: Option<(f64, f64, f64)>,
}

/// The answer of a decision: candidates that are told of, the cheapest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decided {
    pub all: Vec<Chosen>,
    /// How many of them, from the first, cannot be told apart by cost; 1 where the first is the cheapest.
    pub tied: usize,
    pub currency: String,
    /// `4 years`
    pub life: String,
    /// Facts against it, whatever the boxes: `the log's own p99 is 297 ms, over 50.0 ms`.
    pub but: Vec<String>,
    /// Candidates beyond these.
    pub more: usize,
}

/// Others that are told of beside the first.
const TOLD: usize = 2;

impl Chosen {
    /// `11 of box-b`, `at most 9 of box-b`.
    fn count(&self) -> String {
        let most = if self.at_most { "at most " } else { "" };
        let published = if self.published { " (published)" } else { "" };
        format!("{most}{} of {}{published}", self.boxes, self.name)
    }

    /// ` and costs 1.21 times as much (1.12 to 1.30)`.
    fn dearer(&self) -> String {
        let Some((ratio, low, high)) = self.ratio else { return String::new() };
        // Points have no interval.
        let ends =
            if low < high { format!(" ({})", format::ratio_interval(low, high)) } else { String::new() };
        format!(" and costs {} times as much{ends}", format::ratio(ratio))
    }
}

impl Decided {
    fn money(&self, cost: f64) -> String {
        format!("{} {}", format::number(cost), self.currency)
    }

    /// ` for 12,300 EUR over 4 years`; of rented ones ` for 256 EUR a month (12,300 over 4 years)`.
    fn cost(&self, of: &Chosen) -> String {
        match (of.cost, of.rent) {
            (Some(cost), Some(rent)) => {
                format!(" for {} a month ({} over {})", self.money(rent), format::number(cost), self.life)
            }
            (Some(cost), None) => format!(" for {} over {}", self.money(cost), self.life),
            (None, _) => String::new(),
        }
    }

    /// The candidates that nobody measured.
    fn planted(&self) -> Option<String> {
        let names = self.all.iter().filter(|one| one.planted).map(|one| one.name.clone());
        fake::planted(&names.collect::<Vec<_>>())
    }

    fn tie(&self) -> String {
        let one = |one: &Chosen| {
            let cost = one.cost.map_or_else(String::new, |cost| format!(" ({})", self.money(cost)));
            format!("{}{cost}", one.count())
        };
        let all: Vec<String> = self.all.iter().take(self.tied).take(TOLD + 1).map(one).collect();
        let more = match self.tied.saturating_sub(TOLD + 1) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let bounds = self.bounds();
        format!("{}{more} cannot be told apart by their cost over {}{bounds}", format::list(&all), self.life)
    }

    /// Why numbers that differ cannot be told apart, where a rate of a dearer one is a lower bound.
    fn bounds(&self) -> String {
        let tied = self.all.iter().take(self.tied).skip(1);
        let names: Vec<String> = tied.filter(|one| one.at_most).map(|one| one.name.clone()).collect();
        match names.as_slice() {
            [] => String::new(),
            [one] => format!(": the rate of {one} is a lower bound, so that fewer of it may be enough"),
            some => {
                format!(": the rates of {} are lower bounds, so that fewer may be enough", format::list(some))
            }
        }
    }

    pub(super) fn docs(&self) -> Vec<AnsweredDoc> {
        let doc = |one: &Chosen| AnsweredDoc {
            name: format!("boxes of {}", one.name),
            unit: Unit::Count,
            value: one.boxes as f64,
            low: Some(one.low as f64),
            high: Some(one.high as f64),
            verdict: None,
            least: false,
        };
        self.all.iter().map(doc).collect()
    }
}

impl fmt::Display for Decided {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.all.first() else {
            return to.write_str("None of these can be sized: what is missing is said below");
        };
        let but: String = self.but.iter().map(|but| format!("; but {but}")).collect();
        let planted = self.planted().map_or_else(String::new, |planted| format!("; {planted}"));
        let planted = format!("{but}{planted}");
        if self.tied > 1 {
            return write!(to, "{}{planted}", self.tie());
        }
        write!(to, "{}{}", first.count(), self.cost(first))?;
        for other in self.all.iter().skip(1).take(TOLD) {
            let most = if other.at_most { "at most " } else { "" };
            write!(to, "; {} needs {most}{}{}", other.name, other.boxes, other.dearer())?;
        }
        if first.cost.is_none() && self.all.len() > 1 {
            to.write_str("; without prices none is the cheapest")?;
        }
        to.write_str(&planted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(name: &str, boxes: u64, cost: Option<f64>, ratio: Option<(f64, f64, f64)>) -> Chosen {
        let name = name.to_owned();
        Chosen {
            name,
            boxes,
            low: boxes,
            high: boxes,
            at_most: false,
            published: false,
            planted: false,
            cost,
            rent: None,
            ratio,
        }
    }

    fn decided(all: Vec<Chosen>, tied: usize) -> Decided {
        Decided {
            all,
            tied,
            currency: "EUR".to_owned(),
            life: "4 years".to_owned(),
            but: Vec::new(),
            more: 0,
        }
    }

    #[test]
    fn the_cheapest_is_named_with_what_the_others_cost() {
        let a = chosen("box-b", 11, Some(12_345.0), None);
        let b = chosen("box-a", 14, Some(15_000.0), Some((1.21, 1.12, 1.30)));
        assert_eq!(
            decided(vec![a.clone(), b.clone()], 1).to_string(),
            "11 of box-b for 12,350 EUR over 4 years; box-a needs 14 and costs 1.21 times as much (1.12 to 1.30)"
        );
        assert_eq!(
            decided(vec![a, b], 2).to_string(),
            "11 of box-b (12,350 EUR) and 14 of box-a (15,000 EUR) cannot be told apart by their cost over 4 years"
        );
    }

    #[test]
    fn a_lower_bound_is_why_unlike_numbers_cannot_be_told_apart() {
        let a = chosen("south", 2, Some(5_610.0), None);
        let mut b = chosen("north", 3, Some(10_520.0), None);
        b.at_most = true;
        let said = decided(vec![a.clone(), b.clone()], 2).to_string();
        let why = "over 4 years: the rate of north is a lower bound, so that fewer of it may be enough";
        assert!(said.ends_with(why), "{said}");
        // A bound of the cheapest makes it no dearer.
        let said = decided(vec![b, a], 2).to_string();
        assert!(said.ends_with("over 4 years"), "{said}");
    }

    #[test]
    fn without_prices_boxes_are_counted() {
        let mut a = chosen("x", 9, None, None);
        a.at_most = true;
        let all = decided(vec![a, chosen("y", 12, None, None)], 1);
        assert_eq!(all.to_string(), "at most 9 of x; y needs 12; without prices none is the cheapest");
        assert!(Decided::default().to_string().starts_with("None of these"));
    }
}
