//! The worth of a machine for its price or its power: the index of the whole machine over their ratio, and the sentence
//! on it.
//!
//! Without an index only rows count that tell by themselves which side gives more, as a spread; the tables mark the
//! others. What is open is said.

use model::doc::{ArmDoc, Cost, IndexDoc, RowDoc, ValueDoc, Worth};
use model::format;

use super::phrase;
use super::topic::Topic;

/// `for the money`, `for its power`
const fn its(per: Cost) -> &'static str {
    match per {
        Cost::Price => "for the money",
        Cost::Watts => "for its power",
    }
}

/// The index of the whole machine by one cost, given the rows of the arm; `None` where there is no index or no cost.
pub fn of_index(
    per: Cost,
    index: &IndexDoc,
    rows: &[&RowDoc],
    (arm, base): (&ArmDoc, &ArmDoc),
) -> Option<ValueDoc> {
    let sampled = || rows.iter().filter(|row| !row.point);
    // Cost of the arm over that of the base.
    let cost = sampled().find_map(|row| Some(Topic::goodness(row)? / row.worth_by(per)?.ratio))?;
    let is_open = |row: &&&RowDoc| {
        row.index == Some(index.scope) && !row.worth_by(per).is_some_and(|worth| worth.is_told)
    };
    let (value, low, high) = (index.value? / cost, index.low? / cost, index.high? / cost);
    let more = match (low > 1.0, high < 1.0) {
        (true, _) => Some(arm.name.clone()),
        (_, true) => Some(base.name.clone()),
        (false, false) => None,
    };
    Some(ValueDoc {
        per,
        arm: arm.name.clone(),
        reference: base.name.clone(),
        arm_cost: arm.cost(per)?,
        reference_cost: base.cost(per)?,
        value,
        low,
        high,
        more,
        components: index.components,
        open: sampled().filter(is_open).count() as u64,
    })
}

/// The sentence on one cost, by the index where there is one; `None` where no row has a worth.
pub fn sentence(
    per: Cost,
    rows: &[&RowDoc],
    (arm, base): (&str, &str),
    of_index: Option<&ValueDoc>,
) -> Option<String> {
    if let Some(value) = of_index {
        return Some(by_index(value));
    }
    let all: Vec<Worth> = rows.iter().filter_map(|row| row.worth_by(per)).collect();
    let told: Vec<f64> = all.iter().filter(|worth| worth.is_told).map(|worth| worth.ratio).collect();
    let unit = per.unit();
    let Some(range) = phrase::factors(&told) else {
        let range = phrase::factors(&all.iter().map(|worth| worth.ratio).collect::<Vec<_>>())?;
        return Some(format!(
            "Which of {arm} and {base} gives more {} cannot be told: per {unit} {arm} has {range} the performance of \
             {base}, which is not told from 1.",
            its(per)
        ));
    };
    let figures = format::count(told.len(), "figure");
    let over = if told.len() > 1 { format!("the spread over {figures}") } else { figures };
    Some(format!("Per {unit} {arm} has {range} the performance of {base} ({over})."))
}

/// The sentence on published figures per unit of price and per watt.
pub fn of_points(rows: &[&RowDoc], (arm, base): (&str, &str)) -> Option<String> {
    let range = |worth: &dyn Fn(&RowDoc) -> Option<f64>| {
        phrase::factors(&rows.iter().filter_map(|row| worth(row)).collect::<Vec<_>>())
    };
    let of = format!("the performance of {base}");
    match (range(&|row| row.per_price), range(&|row| row.per_watt)) {
        (Some(price), Some(watt)) => {
            Some(format!("Per unit of price {arm} has {price} {of}, per watt {watt}."))
        }
        (Some(price), None) => Some(format!("Per unit of price {arm} has {price} {of}.")),
        (None, Some(watt)) => Some(format!("Per watt {arm} has {watt} {of}.")),
        (None, None) => None,
    }
}

/// `a gives more for the money: per unit of price b (0.15 USD/h) has 0.87 times the performance of a (0.10 USD/h; 95 %:
/// 0.83 to 0.90).`
fn by_index(of: &ValueDoc) -> String {
    let ValueDoc { arm, reference, arm_cost, reference_cost, .. } = of;
    let [shown, from, to] = [of.value, of.low, of.high].map(format::ratio);
    let (unit, its) = (of.per.unit(), its(of.per));
    let Some(more) = &of.more else {
        return format!(
            "Which of {arm} ({arm_cost}) and {reference} ({reference_cost}) gives more {its} cannot be told: {from} to \
             {to} times per {unit}."
        );
    };
    let said = format!(
        "per {unit} {arm} ({arm_cost}) has {shown} times the performance of {reference} ({reference_cost}; 95 %: \
         {from} to {to})"
    );
    match of.open {
        0 => format!("{more} gives more {its}: {said}."),
        open => {
            let figures = format::count(usize::try_from(of.components).unwrap_or(usize::MAX), "figure");
            format!(
                "{more} probably gives more {its}: {said}; not proved: {open} of {figures} could not be told."
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use model::doc::{MachineDoc, VerdictWord};
    use model::price::Price;
    use model::{Better, Scope};

    use super::super::tests::row;
    use super::*;

    /// A figure of the index by its price; `spread` is half its interval, as a share of the ratio.
    fn priced(per_price: f64, spread: f64) -> RowDoc {
        RowDoc {
            per_price: Some(per_price),
            index: Some(Scope::WholeMachine),
            low: Some(1.2 * (1.0 - spread)),
            high: Some(1.2 * (1.0 + spread)),
            ..row("index", "kind=integer;threads=all", Better::Higher, 1.2, VerdictWord::CannotTell)
        }
    }

    fn said(rows: &[RowDoc], index: Option<&IndexDoc>) -> String {
        let rows: Vec<&RowDoc> = rows.iter().collect();
        let arm = |name: &str, amount| ArmDoc {
            machine: MachineDoc { id: String::new(), name: name.to_owned() },
            price: Some(Price { amount, currency: "USD".to_owned(), hourly: true }),
            ..super::super::tests::arm(name)
        };
        let (b, a) = (arm("b", 0.06), arm("a", 0.1));
        let value = index.and_then(|index| of_index(Cost::Price, index, &rows, (&b, &a)));
        sentence(Cost::Price, &rows, ("b", "a"), value.as_ref()).unwrap()
    }

    #[test]
    fn it_names_the_side_that_gives_more_and_the_prices() {
        let mut index = IndexDoc {
            scope: Scope::WholeMachine,
            arm: "b".to_owned(),
            reference: "a".to_owned(),
            value: Some(1.2),
            low: Some(1.1),
            high: Some(1.3),
            why: None,
            components: 3,
            open: 0,
        };
        // b costs 0.6 of a.
        let rows = [priced(2.0, 0.1)];
        let text = "b gives more for the money: per unit of price b (0.06 USD/h) has 2.00 times the performance of a \
                    (0.10 USD/h; 95 %: 1.83 to 2.17).";
        assert_eq!(said(&rows, Some(&index)), text);
        (index.low, index.high) = (Some(0.4), Some(0.5));
        assert!(said(&rows, Some(&index)).starts_with("a gives more for the money: per unit of price b"));
        // How many figures have a verdict on performance is another question.
        index.open = 2;
        assert!(said(&rows, Some(&index)).starts_with("a gives more"));
        let open = [priced(2.0, 0.1), priced(2.0, 0.6), priced(2.0, 0.7)];
        let text = said(&open, Some(&index));
        assert!(
            text.starts_with("a probably gives more") && text.contains("2 of 3 figures could not be told"),
            "{text}"
        );
        (index.low, index.high) = (Some(0.5), Some(2.9));
        let text = said(&rows, Some(&index));
        assert!(
            text.starts_with(
                "Which of b (0.06 USD/h) and a (0.10 USD/h) gives more for the money cannot be told"
            ),
            "{text}"
        );
    }

    #[test]
    fn without_an_index_only_figures_count_that_tell_it_themselves() {
        let rows = [priced(0.8, 0.1), priced(0.9, 0.05), priced(1.1, 0.3)];
        let want =
            "Per unit of price b has 0.80 to 0.90 times the performance of a (the spread over 2 figures).";
        assert_eq!(said(&rows, None), want);
        let want = "Which of b and a gives more for the money cannot be told: per unit of price b has 1.10 times the \
                    performance of a, which is not told from 1.";
        assert_eq!(said(&rows[2..], None), want);
    }
}
