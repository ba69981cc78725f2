//! The rates of the machines of a study, one a line, and their sum. Per second.

use model::answer::{AnswerDoc, AnsweredDoc};
use model::format::number;

use super::fit::{Part, Rank};
use super::grid::{Align, Cell, Grid};
use super::{Look, Tone};

/// Of more machines than these a short screen has the sentence alone.
const MOST: usize = 16;

/// The table.
pub fn part(answer: &AnswerDoc, look: Look) -> Part {
    let heads = [("machine", Align::Left), ("requests/s", Align::Right), ("interval", Align::Right)];
    let mut grid = Grid::new(&heads);
    let last = answer.figures.len().saturating_sub(1);
    for (at, figure) in answer.figures.iter().enumerate() {
        let tone = if at == last { Tone::Bold } else { Tone::Plain };
        let cells = [figure.name.clone(), value(figure), interval(figure)];
        grid.row(cells.map(|text| Cell::tone(text, tone)).to_vec());
    }
    let whole = Part::new(format!("\n{}", grid.render(look.columns, look.paint)));
    match last > MOST {
        true => whole.or(Rank::Figure, "the rate of each machine (run --json has them)", ""),
        false => whole,
    }
}

fn value(figure: &AnsweredDoc) -> String {
    format!("{}{}", if figure.least { ">= " } else { "" }, number(figure.value))
}

fn interval(figure: &AnsweredDoc) -> String {
    match figure.low.zip(figure.high) {
        Some((low, high)) => format!("{} - {}", number(low), number(high)),
        None => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use model::Unit;

    use super::*;

    #[test]
    fn each_machine_has_a_line_and_all_have_the_last() {
        let figure = |name: &str, value: f64, low: Option<f64>| AnsweredDoc {
            name: name.to_owned(),
            unit: Unit::PerSec,
            value,
            low,
            high: low.map(|low| low + 200.0),
            verdict: None,
            least: name == "b",
        };
        let figures = vec![
            figure("a", 36_400.0, Some(36_300.0)),
            figure("b", 950.0, None),
            figure("total", 37_350.0, None),
        ];
        let answer = AnswerDoc { figures, ..AnswerDoc::default() };
        let mut screen = super::super::fit::Screen::default();
        screen.add(part(&answer, Look::plain()));
        let text = screen.fit(Look::plain(), "", |text| text);
        let wanted = "
machine  requests/s         interval
a            36,400  36,300 - 36,500
b            >= 950                -
total        37,350                -
";
        assert_eq!(text, wanted);
    }
}
