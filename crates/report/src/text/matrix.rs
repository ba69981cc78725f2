//! Figures over chosen parameters as tables: the last parameter down, sides and the other parameters across.
//!
//! One unit a table. `!` marks doubtful figures; refused ones are words, missing ones `-`. What is too wide for the
//! screen is set in several pieces. Intervals are in the document only.

use model::Validity;
use model::doc::{MatrixCellDoc, MatrixDoc, MatrixTableDoc};
use model::format::{Kind, Scale};

use super::grid::{Align, Cell, Grid};
use super::{Look, Tone, hang};

const NONE: &str = "-";

/// All tables with what is to be said of them.
pub fn tables(doc: &MatrixDoc, look: Look) -> String {
    let mut parts: Vec<String> = doc.tables.iter().map(|table| one(doc, table, look)).collect();
    let mut notes = String::new();
    let mut say = |mark: &str, text: &str| notes.push_str(&hang(mark, text, look.columns));
    let cells = || doc.tables.iter().flat_map(|table| &table.cells);
    let mut studies: Vec<&str> = cells().filter(|cell| cell.point).map(|cell| cell.source.as_str()).collect();
    studies.sort_unstable();
    studies.dedup();
    if cells().any(|cell| cell.validity == Validity::Doubtful) {
        say("! ", "= doubtful: `boxscore show RUN` says why");
    }
    for note in &doc.notes {
        say("! ", &format!("not the same everywhere: {note}"));
    }
    if !studies.is_empty() {
        say("- ", &format!("published in {}: points without samples", studies.join(", ")));
    }
    parts.push(notes);
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn one(doc: &MatrixDoc, table: &MatrixTableDoc, look: Look) -> String {
    let values: Vec<f64> = table.cells.iter().filter_map(|cell| cell.value).collect();
    // A family is shown as its members are.
    let metric = table.cells.first().map_or(&table.metric, |cell| &cell.metric);
    let scale = Scale::common(&values, Kind::shown(table.card, metric, table.unit));
    let mut title = format!("{} {}", table.instrument, table.metric);
    let unit = scale.ascii_unit();
    if !unit.is_empty() {
        title.push_str(&format!(", {unit}"));
    }
    if !table.params.is_empty() {
        title.push_str(&format!(" · {}", table.params.to_string().replace(';', " ")));
    }
    let mut out = hang("", &title, look.columns);
    let mut from = 0;
    while from < table.columns.len() {
        let fits = |to: &usize| grid(doc, table, &scale, from..*to).width() <= look.columns;
        // One column at least, however wide.
        let to = (from + 2..=table.columns.len()).take_while(fits).last().unwrap_or(from + 1);
        if from > 0 {
            out.push('\n');
        }
        out.push_str(&grid(doc, table, &scale, from..to).render(look.columns, look.paint));
        from = to;
    }
    out
}

fn grid(doc: &MatrixDoc, table: &MatrixTableDoc, scale: &Scale, columns: std::ops::Range<usize>) -> Grid {
    let shown = table.columns.get(columns.clone()).unwrap_or_default();
    let (down, across) = match doc.params.split_last() {
        Some((down, across)) => (down.as_str(), across),
        None => ("", &[][..]),
    };
    let mut heads = vec![("", Align::Left)];
    heads.extend(shown.iter().map(|_| ("", Align::Right)));
    let mut grid = Grid::new(&heads);
    let mut head = |name: &str, cells: Vec<String>| {
        let mut row = vec![Cell::tone(name, Tone::Dim)];
        row.extend(cells.into_iter().map(|cell| Cell::tone(cell, Tone::Dim)));
        grid.row(row);
    };
    let mut before = None;
    let sides: Vec<String> = shown
        .iter()
        .map(|column| match before.replace(&column.side) == Some(&column.side) {
            true => String::new(),
            false => column.side.clone(),
        })
        .collect();
    head("", sides);
    for (at, name) in across.iter().enumerate() {
        let value = |column: &model::doc::MatrixColumnDoc| {
            column.values.get(at).cloned().flatten().unwrap_or_else(|| NONE.to_owned())
        };
        head(name, shown.iter().map(value).collect());
    }
    head(down, vec![String::new(); shown.len()]);
    for (row, name) in table.rows.iter().enumerate() {
        // A piece of the table may have none of it.
        if !table.cells.iter().any(|cell| cell.row == row && columns.contains(&cell.column)) {
            continue;
        }
        let mut cells = vec![Cell::from(name.as_deref().unwrap_or(NONE))];
        cells.extend(columns.clone().map(|column| {
            let of = |cell: &&MatrixCellDoc| (cell.row, cell.column) == (row, column);
            figure(table.cells.iter().find(of), scale)
        }));
        grid.row(cells);
    }
    grid
}

fn figure(cell: Option<&MatrixCellDoc>, scale: &Scale) -> Cell {
    let Some(cell) = cell else { return Cell::from(NONE) };
    match (cell.validity, cell.value) {
        (Validity::Invalid, _) => Cell::tone("refused", Tone::Bad),
        (_, None) => Cell::from(NONE),
        (Validity::Doubtful, Some(value)) => Cell::tone(format!("{}!", scale.number(value)), Tone::Warn),
        (_, Some(value)) => Cell::from(scale.number(value)),
    }
}

#[cfg(test)]
mod tests {
    use model::doc::MatrixColumnDoc;
    use model::{Better, Params, Unit};

    use super::*;

    fn doc(columns: &[(&str, &str, &str)], cells: &[(usize, usize, f64)]) -> MatrixDoc {
        let column = |(side, transport, replicas): &(&str, &str, &str)| MatrixColumnDoc {
            side: (*side).to_owned(),
            values: [*transport, *replicas]
                .map(|one| Some(one.to_owned()).filter(|one| !one.is_empty()))
                .to_vec(),
        };
        let cell = |(row, column, value): &(usize, usize, f64)| MatrixCellDoc {
            row: *row,
            column: *column,
            metric: "basic.read".to_owned(),
            params: Params::default(),
            value: Some(*value),
            low: None,
            high: None,
            bounds: String::new(),
            n: 0,
            point: *column > 0,
            validity: if *row == 0 && *column == 0 { Validity::Doubtful } else { Validity::Unknown },
            reasons: Vec::new(),
            source: "a study".to_owned(),
        };
        let table = MatrixTableDoc {
            card: model::card::find(instruments::cards(), "kv"),
            instrument: "kv".to_owned(),
            metric: "basic.read".to_owned(),
            unit: Unit::Second,
            better: Better::Lower,
            definition: 1,
            params: Params::parse("definition=era1").unwrap(),
            columns: columns.iter().map(column).collect(),
            rows: ["100", "1K"].map(|row| Some(row.to_owned())).to_vec(),
            cells: cells.iter().map(cell).collect(),
        };
        MatrixDoc {
            schema: "boxscore.matrix/1".to_owned(),
            params: ["transport", "replicas", "size"].map(str::to_owned).to_vec(),
            tables: vec![table],
            notes: vec!["store is ramcloud on atom; redis on box".to_owned()],
        }
    }

    #[test]
    fn parameters_stand_above_their_columns() {
        let doc = doc(
            &[("box", "", "0"), ("atom", "kernel-tcp", "0"), ("atom", "kernel-bypass", "1")],
            &[(0, 0, 30e-6), (0, 1, 67.8e-6), (0, 2, 13.2e-6), (1, 2, 17.9e-6)],
        );
        insta::assert_snapshot!(tables(&doc, Look::plain()), @"
        kv basic.read, us · definition=era1
                     box        atom
        transport      -  kernel-tcp  kernel-bypass
        replicas       0           0              1
        size
        100        30.0!        67.8           13.2
        1K             -           -           17.9

        ! = doubtful: `boxscore show RUN` says why
        ! not the same everywhere: store is ramcloud on atom; redis on box
        - published in a study: points without samples
        ");
    }

    #[test]
    fn what_is_too_wide_is_set_in_pieces() {
        let columns: Vec<_> = (0..20).map(|_| ("atom", "kernel-bypass", "3")).collect();
        let cells: Vec<_> = (0..20).map(|column| (0, column, 1e-5 * (column + 1) as f64)).collect();
        let text = tables(&doc(&columns, &cells), Look::wide(80));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(text.matches("replicas").count(), 5, "{text}");
        assert!(tables(&doc(&columns[..1], &cells[..1]), Look::wide(10)).contains("10.0"), "{text}");
    }
}
