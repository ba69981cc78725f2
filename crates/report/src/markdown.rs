//! Comparisons and ratios as Markdown, for issues and mail: paragraph, table, notes.

use model::doc::{BoundsDoc, CompareDoc, RatioDoc, RowDoc, VerdictWord};
use model::format::{self, Scale};

use crate::text::compare::{ComparedFigure, arms, doubtful, figures, index_text};
use crate::text::verdict_word::verdict;
use crate::text::{notes, ranks, ratio, settings};

/// The comparison; other figures than headlines only with `all`.
pub fn compare(doc: &CompareDoc, all: bool) -> String {
    let figures = figures(doc, all);
    let mut out = format!("{}\n\n", escape(&doc.paragraph.to_string()));
    if figures.is_empty() {
        out.push_str("No figure that all of them have: nothing to compare.\n");
    } else {
        out.push_str(&table(doc, &figures));
        out.push_str(&order(doc, &figures));
    }
    let mut lines: Vec<String> = Vec::new();
    if figures.iter().flat_map(|figure| figure.rows.iter().flatten()).any(|row| doubtful(row)) {
        let says = "something else went on, or the takes disagree";
        lines.push(format!("! = doubtful: {says}"));
    }
    lines.extend(
        doc.index
            .iter()
            .filter(|index| index.arm != index.reference)
            .map(|index| format!("index: {}", index_text(doc, index))),
    );
    lines.extend(
        notes::doubts(&doc.findings, &notes::headlines_compared(doc))
            .into_iter()
            .map(|note| format!("{}: {}", note.state.word(), note.text)),
    );
    lines.extend(settings::sentences(doc));
    lines.extend(doc.footnotes.iter().cloned());
    if !lines.is_empty() {
        out.push('\n');
    }
    for line in lines {
        out.push_str(&format!("- {}\n", escape(&line)));
    }
    out
}

fn table(doc: &CompareDoc, figures: &[ComparedFigure<'_>]) -> String {
    let base = doc.arms.first().map_or("base", |arm| arm.name.as_str());
    let mut head = vec![String::new(), "unit".to_owned(), escape(base)];
    let mut rule = vec!["---".to_owned(), "---".to_owned(), "---:".to_owned()];
    for arm in arms(doc) {
        head.extend([escape(&arm.name), "ratio".to_owned()]);
        rule.extend(["---:".to_owned(), "---".to_owned()]);
    }
    let mut out = format!("{}{}", row(&head), row(&rule));
    for figure in figures {
        let scale = figure.scale();
        let shown = |value: Option<f64>| match (&scale, value) {
            (Some(scale), Some(value)) => scale.number(value),
            _ => "-".to_owned(),
        };
        let mut cells = vec![
            escape(&figure.label),
            scale.as_ref().map_or(String::new(), |scale: &Scale| scale.unit.clone()),
            shown(figure.base_value()),
        ];
        for of in &figure.rows {
            cells.push(shown(of.and_then(|row| row.arm_value)));
            cells.push(of.map_or("-".to_owned(), judged));
        }
        out.push_str(&row(&cells));
    }
    out
}

/// Ratios: a table a machine, then one for each machine beside the first.
pub fn ratios(doc: &RatioDoc) -> String {
    let mut out = format!("{}\n", escape(&doc.paragraph.to_string()));
    for finding in ratio::immature(doc) {
        out.push_str(&format!("\n**{}**\n", escape(&finding.text())));
    }
    let kinds = ["---", "---", "---:", "---:", "---"].map(str::to_owned);
    for machine in &doc.machines {
        let rows = ratio::rows(doc, &machine.name);
        if rows.is_empty() {
            continue;
        }
        let head = [&machine.name, "unit", &doc.over, &doc.under, "ratio"].map(escape);
        out.push_str(&format!("\n{}{}", row(&head), row(&kinds)));
        for (label, one) in rows {
            let scale = ratio::scale(doc, &one.row);
            let shown = |value: Option<f64>| match (&scale, value) {
                (Some(scale), Some(value)) => scale.number(value),
                _ => "-".to_owned(),
            };
            let unit = scale.as_ref().map_or(String::new(), |scale| scale.unit.clone());
            let found = of_row(doc, &one.row, "better", one.bounds.as_ref());
            let cells = [label, unit, shown(one.row.arm_value), shown(one.row.base_value), found];
            out.push_str(&row(&cells.map(|cell| escape(&cell))));
        }
    }
    for machine in doc.machines.iter().skip(1) {
        out.push_str(&beside(doc, &machine.name));
    }
    let notes = doc.footnotes.iter().map(|note| format!("- {}\n", escape(note))).collect::<String>();
    if notes.is_empty() { out } else { format!("{out}\n{notes}") }
}

/// The ratios of a machine beside those of the first.
fn beside(doc: &RatioDoc, machine: &str) -> String {
    let rows = ratio::across(doc, machine);
    let base = doc.machines.first().map_or("", |base| base.name.as_str());
    if rows.is_empty() {
        return String::new();
    }
    let head = [String::new(), escape(machine), escape(base), "ratio of ratios".to_owned()];
    let mut out = format!("\n{}{}", row(&head), row(&["---", "---:", "---:", "---"].map(str::to_owned)));
    let plain = |value: Option<f64>| value.map_or("-".to_owned(), format::ratio);
    for (label, one) in rows {
        let found = of_row(doc, &one.row, "gains", one.bounds.as_ref());
        out.push_str(&row(&[
            escape(&label),
            plain(one.row.arm_value),
            plain(one.row.base_value),
            escape(&found),
        ]));
    }
    out
}

/// `1.31 (1.29 - 1.33) c better`, `5.66 point (3.60 - 8.90, range)`
fn of_row(doc: &RatioDoc, row: &RowDoc, verb: &str, printed: Option<&BoundsDoc>) -> String {
    let (word, _) = ratio::word(row, &doc.over, &doc.under, verb);
    let word = if word == "?" { "cannot tell".to_owned() } else { word };
    let printed = printed.map_or(String::new(), |bounds| {
        format!(" ({} - {}, {})", format::ratio(bounds.low), format::ratio(bounds.high), bounds.kind)
    });
    format!("{}{printed}", ratio_and(row, &word))
}

/// Three or more machines in order, those that cannot be told apart in brackets.
fn order(doc: &CompareDoc, figures: &[ComparedFigure<'_>]) -> String {
    let rankings = ranks::rankings(doc, figures);
    if rankings.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "\n{}{}",
        row(&["rank".to_owned(), escape(ranks::KEY)]),
        row(&["---", "---"].map(str::to_owned))
    );
    for ranking in &rankings {
        out.push_str(&row(&[escape(ranking.label), escape(&ranking.pieces().join(" "))]));
    }
    out
}

/// `1.31 (1.29 - 1.33) **better**`
fn judged(row: &RowDoc) -> String {
    let (word, _) = verdict(row);
    let word = if word == "?" { "cannot tell" } else { word };
    let strong = matches!(row.verdict, VerdictWord::Better | VerdictWord::Worse) && !row.point;
    let mark = if doubtful(row) { " !" } else { "" };
    let word = if strong { format!("**{word}**{mark}") } else { format!("{word}{mark}") };
    ratio_and(row, &word)
}

fn ratio_and(row: &RowDoc, word: &str) -> String {
    match (row.ratio, row.low, row.high) {
        _ if row.verdict == VerdictWord::Invalid => word.to_owned(),
        (Some(ratio), Some(low), Some(high)) => {
            format!("{} ({} - {}) {word}", format::ratio(ratio), format::ratio(low), format::ratio(high))
        }
        (Some(ratio), ..) => format!("{} {word}", format::ratio(ratio)),
        _ => word.to_owned(),
    }
}

fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}
