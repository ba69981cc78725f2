//! The parts of the requests of two labels side by side: how long a request takes in each, and the verdict.
//!
//! Seconds, of answers that the server did not fail; requests are all of the part.

use model::Unit;
use model::doc::PartDoc;
use model::finding::PartTime;
use model::format::{self, Kind, count};

use super::grid::{Align, Cut, Grid};
use super::logs_values::shared;
use super::{Look, hang};

/// Parts of each pair, where not all are asked for.
const MOST: usize = 8;

/// A table for each pair of labels; the parts with the most time first.
pub fn table(parts: &[PartDoc], all: bool, look: Look) -> String {
    let pairs = parts.chunk_by(|a, b| (&a.arm, &a.base) == (&b.arm, &b.base));
    pairs.map(|pair| of_pair(pair, if all { pair.len() } else { MOST }, look)).collect::<Vec<_>>().join("\n")
}

fn of_pair(pair: &[PartDoc], most: usize, look: Look) -> String {
    let Some(first) = pair.first() else { return String::new() };
    // One more is shown rather than counted.
    let shown = if pair.len() == most + 1 { pair } else { &pair[..pair.len().min(most)] };
    let verdict = format!("time of {} beside {}", first.arm, first.base);
    let heads = [
        ("part", Align::Left),
        ("requests", Align::Right),
        (first.base.as_str(), Align::Right),
        (first.arm.as_str(), Align::Right),
        (verdict.as_str(), Align::Left),
    ];
    let mut grid = Grid::new(&heads).cutting(Cut::Front);
    let times: Vec<Option<f64>> = shown.iter().flat_map(|part| [part.base_time, part.arm_time]).collect();
    let times = shared(&times, Kind::for_unit(Unit::Second));
    for (part, times) in shown.iter().zip(times.chunks(2)) {
        let mut row = vec![
            super::logs_answers::shown_name(&part.name).into(),
            format::fixed((part.base_requests + part.arm_requests) as f64, 0).into(),
        ];
        row.extend(times.iter().map(|time| time.as_str().into()));
        row.push(PartTime::of_part(part).short().into());
        grid.row(row);
    }
    let more = pair.len() - shown.len();
    let note = if more > 0 {
        hang("", &format!("{}: --all", count(more, "more part")), look.columns)
    } else {
        String::new()
    };
    grid.render(look.table(), look.paint) + &note
}

#[cfg(test)]
mod tests {
    use model::doc::VerdictWord;

    use super::*;

    #[test]
    fn each_pair_has_its_parts_with_their_verdicts() {
        let part = |name: &str, low, high, verdict| PartDoc {
            name: name.into(),
            arm: "new".into(),
            base: "old".into(),
            arm_requests: 600,
            base_requests: 634,
            arm_time: Some(0.36),
            base_time: Some(0.225),
            low: Some(low),
            high: Some(high),
            verdict,
            ..PartDoc::default()
        };
        let pay = part("/checkout/", 1.48, 1.73, VerdictWord::Worse);
        let tie = part("/img/", 0.98, 1.01, VerdictWord::Tie);
        let told = table(&[pay.clone(), tie], false, Look::wide(80));
        assert_eq!(
            told,
            "part        requests     old     new  time of new beside old\n\
             /checkout/     1,234  225 ms  360 ms  slower 48 to 73 %\n\
             /img/          1,234  225 ms  360 ms  tie -2 to +1 %\n"
        );
        let many: Vec<PartDoc> = (0..12).map(|_| pay.clone()).collect();
        assert!(table(&many, false, Look::wide(80)).ends_with("4 more parts: --all\n"));
        assert_eq!(table(&many, true, Look::wide(80)).lines().count(), 13);
        assert_eq!(table(&[], false, Look::wide(80)), "");
    }
}
