//! The sentence on what a machine is worth for its price or its power: the index of the whole machine over their ratio.
//!
//! Without an index only rows that have a verdict count, as a spread. What is open or doubtful is said.

use model::doc::{IndexDoc, RowDoc, VerdictWord};
use model::format;

use super::phrase;
use super::topic::Topic;

/// The sentence, given a row's worth; `None` where no row has one.
pub fn sentence(
    per: &str,
    rows: &[&RowDoc],
    worth: impl Fn(&RowDoc) -> Option<f64>,
    (arm, base): (&str, &str),
    index: Option<&IndexDoc>,
) -> Option<String> {
    // Cost of the arm over that of the base.
    let cost = rows.iter().find_map(|row| Some(Topic::goodness(row)? / worth(row)?))?;
    let known =
        index.and_then(|index| Some((index, index.value? / cost, index.low? / cost, index.high? / cost)));
    if let Some((index, value, low, high)) = known {
        return Some(of_index(per, index, [value, low, high], (arm, base)));
    }
    let is_told = |row: &&&RowDoc| row.verdict < VerdictWord::CannotTell && !row.why.is_doubtful();
    let told: Vec<f64> = rows.iter().filter(is_told).filter_map(|row| worth(row)).collect();
    let Some(range) = phrase::factors(&told) else {
        let why = "none of its figures could be told";
        return Some(format!("What {arm} has per {per} against {base} cannot be told, since {why}."));
    };
    let figures = format::count(told.len(), "figure");
    let over = if told.len() > 1 { format!("the spread over {figures}") } else { figures };
    Some(format!("Per {per} {arm} has {range} the performance of {base} ({over})."))
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

fn of_index(per: &str, index: &IndexDoc, [value, low, high]: [f64; 3], (arm, base): (&str, &str)) -> String {
    let [shown, from, to] = [value, low, high].map(format::ratio);
    let all = index.components;
    if low <= 1.0 && high >= 1.0 {
        return format!(
            "Which of {arm} and {base} has more performance per {per} cannot be told: {arm} has {from} to {to} times \
             that of {base}."
        );
    }
    let figures = format::count(usize::try_from(all).unwrap_or(usize::MAX), "figure");
    match index.open {
        0 => format!(
            "Per {per} {arm} has {shown} times the performance of {base} (95 %: {from} to {to}, over {figures})."
        ),
        open => format!(
            "Per {per} {arm} probably has {shown} times the performance of {base} (95 %: {from} to {to}); not proved: \
             {open} of {figures} could not be told."
        ),
    }
}

#[cfg(test)]
mod tests {
    use model::{Better, Scope};

    use super::super::tests::row;
    use super::*;

    fn priced(verdict: VerdictWord, per_price: f64) -> RowDoc {
        RowDoc {
            per_price: Some(per_price),
            ..row("index", "kind=integer;threads=all", Better::Higher, 1.2, verdict)
        }
    }

    fn said(rows: &[RowDoc], index: Option<&IndexDoc>) -> String {
        let rows: Vec<&RowDoc> = rows.iter().collect();
        sentence("unit of price", &rows, |row| row.per_price, ("b", "a"), index).unwrap()
    }

    #[test]
    fn it_is_the_index_over_the_price() {
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
        let rows = [priced(VerdictWord::Better, 2.0)];
        let text =
            "Per unit of price b has 2.00 times the performance of a (95 %: 1.83 to 2.17, over 3 figures).";
        assert_eq!(said(&rows, Some(&index)), text);
        index.open = 2;
        let text = said(&rows, Some(&index));
        assert!(
            text.contains("b probably has 2.00 times") && text.contains("2 of 3 figures could not be told"),
            "{text}"
        );
        (index.low, index.high) = (Some(0.5), Some(2.9));
        let text = said(&rows, Some(&index));
        assert!(
            text.starts_with("Which of b and a has more performance per unit of price cannot be told"),
            "{text}"
        );
    }

    #[test]
    fn without_an_index_only_decided_figures_count() {
        let rows = [
            priced(VerdictWord::Better, 0.8),
            priced(VerdictWord::Better, 0.9),
            priced(VerdictWord::CannotTell, 4.0),
        ];
        let want =
            "Per unit of price b has 0.80 to 0.90 times the performance of a (the spread over 2 figures).";
        assert_eq!(said(&rows, None), want);
        assert!(said(&rows[2..], None).contains("cannot be told"));
    }
}
