//! A table of text: columns set left or right, as wide as their widest cell, in a given width.
//!
//! Widths are characters. Only the first column gives way when the table is too wide; trailing spaces are dropped.

use super::{Tone, cut, cut_front, cut_middle, width};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    pub text: String,
    pub tone: Tone,
}

impl Cell {
    pub fn tone(text: impl Into<String>, tone: Tone) -> Cell {
        Cell { text: text.into(), tone }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell { text, tone: Tone::Plain }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::from(text.to_owned())
    }
}

#[derive(Clone, Debug, Default)]
pub struct Grid {
    heads: Vec<(String, Align)>,
    rows: Vec<Vec<Cell>>,
    gap: usize,
    cut: Cut,
}

/// The part of the first column that a cut leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    #[default]
    End,
    /// Paths tell more at the end.
    Front,
    /// All but the beginning and the last two words.
    Middle,
}

/// The first column is never cut below this.
const NARROWEST: usize = 10;

impl Grid {
    /// A table with these column headings; no heading line when all are empty.
    pub fn new(heads: &[(&str, Align)]) -> Grid {
        let heads = heads.iter().map(|(name, align)| ((*name).to_owned(), *align)).collect();
        Grid { heads, rows: Vec::new(), gap: 2, cut: Cut::End }
    }

    /// Spaces between columns.
    #[must_use]
    pub fn gap(mut self, gap: usize) -> Grid {
        self.gap = gap;
        self
    }

    /// The part that the first column loses where the table is too wide.
    #[must_use]
    pub fn cutting(mut self, cut: Cut) -> Grid {
        self.cut = cut;
        self
    }

    /// Gives the column of this heading another one.
    pub fn rename(&mut self, from: &str, to: &str) {
        self.heads.iter_mut().filter(|(name, _)| name == from).for_each(|(name, _)| to.clone_into(name));
    }

    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn widths(&self) -> Vec<usize> {
        let column = |index: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(index)).map(|cell| width(&cell.text));
            cells.max().unwrap_or(0).max(self.heads.get(index).map_or(0, |(name, _)| width(name)))
        };
        (0..self.heads.len()).map(column).collect()
    }

    /// Width of the whole table.
    pub fn width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + self.gap * widths.len().saturating_sub(1)
    }

    /// The table with the first column cut where `most` asks for it.
    pub fn render(&self, most: usize, paint: bool) -> String {
        let mut widths = self.widths();
        let over = self.width().saturating_sub(most);
        if let Some(first) = widths.first_mut().filter(|_| over > 0) {
            *first = first.saturating_sub(over).max(NARROWEST.min(*first));
        }
        let mut out = String::new();
        if self.heads.iter().any(|(name, _)| !name.is_empty()) {
            let heads: Vec<Cell> =
                self.heads.iter().map(|(name, _)| Cell::tone(name.clone(), Tone::Dim)).collect();
            self.line(&heads, &widths, paint, &mut out);
        }
        for row in &self.rows {
            self.line(row, &widths, paint, &mut out);
        }
        out
    }

    fn line(&self, cells: &[Cell], widths: &[usize], paint: bool, out: &mut String) {
        let mut owed = 0;
        for (index, cell) in cells.iter().enumerate() {
            let (room, align) = match (widths.get(index), self.heads.get(index)) {
                (Some(room), Some((_, align))) => (*room, *align),
                _ => (width(&cell.text), Align::Left),
            };
            let text = match (index, self.cut) {
                (0, Cut::End) => cut(&cell.text, room),
                (0, Cut::Front) => cut_front(&cell.text, room),
                (0, Cut::Middle) => cut_middle(&cell.text, room),
                _ => cell.text.clone(),
            };
            let pad = room.saturating_sub(width(&text));
            owed += if index == 0 { 0 } else { self.gap };
            if align == Align::Right {
                owed += pad;
            }
            // Spaces at the end of a cell are owed too, so that no line ends in them.
            let ink = text.trim_end();
            if !ink.is_empty() {
                out.push_str(&" ".repeat(owed));
                out.push_str(&cell.tone.paint(ink, paint));
                owed = 0;
            }
            owed += width(&text) - width(ink);
            if align == Align::Left {
                owed += pad;
            }
        }
        out.push('\n');
    }
}

/// Pairs of numbers as `low - high`, each side aligned over all rows; `None` stays empty.
pub fn ranges(pairs: &[Option<(String, String)>]) -> Vec<String> {
    let most = |side: fn(&(String, String)) -> &String| {
        pairs.iter().flatten().map(|pair| width(side(pair))).max().unwrap_or(0)
    };
    let (left, right) = (most(|pair| &pair.0), most(|pair| &pair.1));
    let set = |pair: &Option<(String, String)>| match pair {
        Some((low, high)) => format!("{low:>left$} - {high:>right$}"),
        None => String::new(),
    };
    pairs.iter().map(set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_the_first_gives_way() {
        let mut grid = Grid::new(&[("", Align::Left), ("n", Align::Right), ("word", Align::Left)]);
        grid.row(vec!["a name that is long".into(), "1".into(), "yes".into()]);
        grid.row(vec!["b".into(), "1,000".into(), "".into()]);
        assert_eq!(grid.width(), 19 + 2 + 5 + 2 + 4);
        assert_eq!(
            grid.render(24, false),
            "                 n  word\na name tha…      1  yes\nb            1,000\n"
        );
    }

    #[test]
    fn a_path_loses_its_beginning() {
        let mut grid = Grid::new(&[("path", Align::Left), ("n", Align::Right)]).cutting(Cut::Front);
        grid.row(vec!["/a/long/way/to.png".into(), "1".into()]);
        assert_eq!(grid.render(14, false), "path         n\n…ay/to.png  1\n".replace("…ay", "…way"));
    }

    #[test]
    fn names_that_differ_at_their_ends_stay_apart() {
        let mut grid = Grid::new(&[("", Align::Left), ("", Align::Right)]).cutting(Cut::Middle);
        for name in ["cipher AES-128-GCM 1 thread", "cipher AES-128-GCM all threads", "integer"] {
            grid.row(vec![name.into(), "1".into()]);
        }
        assert_eq!(grid.render(19, false), "cipher…1 thread   1\nciph…all threads  1\ninteger           1\n");
    }

    #[test]
    fn ranges_align_on_both_sides() {
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(
            ranges(&[pair("1,905", "1,918"), None, pair("881", "89")]),
            ["1,905 - 1,918", "", "  881 -    89"]
        );
    }
}
