//! A table of text: columns set left or right, as wide as their widest cell, in a given width.
//!
//! Widths are characters. Only the first column gives way when the table is too wide: what all names share is said once
//! above, and names that a cut would make equal lose what they have in common. Trailing spaces are dropped.

use std::collections::{BTreeMap, BTreeSet};

use super::apart::{self, EACH};
use super::{Tone, cut, cut_front, cut_middle, hang, width};

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

    /// The table with an empty first column.
    #[must_use]
    pub fn without_names(mut self) -> Grid {
        self.rows.iter_mut().filter_map(|row| row.first_mut()).for_each(|cell| cell.text.clear());
        self
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

    /// Width of the whole table with a first column of at most so much; what all of its names share stands above.
    pub fn width_with(&self, first: usize) -> usize {
        let width_of = |grid: &Grid| grid.widths().first().copied().unwrap_or(0);
        let short = self.said_once().map_or_else(|| width_of(self), |(_, grid)| width_of(&grid));
        self.width() - width_of(self) + short.min(first)
    }

    /// The parts that all names of the first column have, and the table without them; `None` where there are none, and
    /// of names that are not made of parts.
    fn said_once(&self) -> Option<(String, Grid)> {
        let names: Vec<&str> = self.rows.iter().filter_map(|row| Some(row.first()?.text.as_str())).collect();
        let (shared, names) = apart::said_once(&names).filter(|_| self.cut == Cut::Middle)?;
        let mut grid = self.clone();
        let cells = grid.rows.iter_mut().filter_map(|row| row.first_mut());
        cells.zip(names).for_each(|(cell, name)| cell.text = name);
        Some((shared, grid))
    }

    /// The table with the first column cut where `most` asks for it. Before it is cut, what all names share is said
    /// once, above.
    pub fn render(&self, most: usize, paint: bool) -> String {
        if let Some((shared, grid)) = self.said_once().filter(|_| self.width() > most) {
            return hang(EACH, &shared, most) + &grid.render(most, paint);
        }
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
        let names = self.names(widths.first().copied().unwrap_or_default());
        for (row, name) in self.rows.iter().zip(names) {
            let mut row = row.clone();
            if let Some(first) = row.first_mut() {
                first.text = name;
            }
            self.line(&row, &widths, paint, &mut out);
        }
        out
    }

    /// The texts of the first column, cut to a width and still told apart: by a cut alone where that is enough, else
    /// without the words that all long ones share, and then by what differs within those that are alike.
    fn names(&self, room: usize) -> Vec<String> {
        let whole: Vec<&str> =
            self.rows.iter().map(|row| row.first().map_or("", |cell| cell.text.as_str())).collect();
        let cut_one = |text: &str| match self.cut {
            Cut::End => cut(text, room),
            Cut::Front => cut_front(text, room),
            Cut::Middle => cut_middle(text, room),
        };
        let mut names: Vec<String> = whole.iter().map(|text| cut_one(text)).collect();
        if alike(&names, &whole).is_empty() {
            return names;
        }
        let shorter = without_shared(&whole, room);
        names = shorter.iter().map(|text| cut(text, room)).collect();
        for at in alike(&names, &whole).concat() {
            let others = (0..whole.len()).filter(|other| whole[*other] != whole[at]);
            let others: Vec<BTreeSet<&str>> =
                others.map(|other| shorter[other].split(", ").collect()).collect();
            names[at] = with_fewer_parts(&shorter[at], room, &others);
        }
        for _ in 0..TRIES {
            for group in alike(&names, &whole) {
                let texts: Vec<&str> = group.iter().map(|at| shorter[*at].as_str()).collect();
                group.iter().zip(differing(&texts, room)).for_each(|(at, name)| names[*at] = name);
            }
        }
        names
    }

    fn line(&self, cells: &[Cell], widths: &[usize], paint: bool, out: &mut String) {
        let mut owed = 0;
        for (index, cell) in cells.iter().enumerate() {
            let (room, align) = match (widths.get(index), self.heads.get(index)) {
                (Some(room), Some((_, align))) => (*room, *align),
                _ => (width(&cell.text), Align::Left),
            };
            let text = if index == 0 { cut(&cell.text, room) } else { cell.text.clone() };
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

/// Names that are told apart by one part may be so by another within it.
const TRIES: usize = 3;
/// Characters that a name keeps of its beginning.
const LEAST_HEAD: usize = 4;

/// Places of names that are equal although the whole ones are not.
fn alike(names: &[String], whole: &[&str]) -> Vec<Vec<usize>> {
    let mut same: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, name) in names.iter().enumerate() {
        same.entry(name).or_default().push(at);
    }
    same.into_values().filter(|group| group.iter().any(|at| whole[*at] != whole[group[0]])).collect()
}

/// The names that are too long without the words that all of these have, but for their first one; parts between commas
/// that are left without any go too. One thing and several are one word.
fn without_shared(whole: &[&str], room: usize) -> Vec<String> {
    let is_long = |text: &str| width(text) > room;
    // `no keep-alive` is one word, and another than `keep-alive`.
    let whole: Vec<String> = whole.iter().map(|text| text.replace(", no ", ", no\u{a0}")).collect();
    let word = |text: &str| text.trim_end_matches(',').trim_end_matches('s').to_owned();
    let words = |text: &str| text.split(' ').map(word).collect::<BTreeSet<String>>();
    let mut long = whole.iter().filter(|text| is_long(text)).map(|text| words(text));
    let first = long.next().unwrap_or_default();
    let shared = long.fold(first, |shared, own| shared.intersection(&own).cloned().collect());
    let short = |text: &str| {
        let kept = text.split(", ").enumerate().filter_map(|(part, words)| {
            let is_kept = |at: usize, own: &str| part + at == 0 || !shared.contains(&word(own));
            let words = words.split(' ').enumerate().filter(|(at, own)| is_kept(*at, own));
            let words: Vec<&str> = words.map(|(_, own)| own).collect();
            (!words.is_empty()).then(|| words.join(" "))
        });
        kept.collect::<Vec<_>>().join(", ")
    };
    let all = whole.iter().map(|text| if is_long(text) { short(text) } else { text.clone() });
    all.map(|name| name.replace('\u{a0}', " ")).collect()
}

/// A name without those of its parts, the last ones first, that it does not need to be told from the others.
fn with_fewer_parts(name: &str, room: usize, others: &[BTreeSet<&str>]) -> String {
    let mut parts: Vec<&str> = name.split(", ").collect();
    while width(&parts.join(", ")) > room {
        let without = |at: usize| [&parts[..at], &parts[at + 1..]].concat();
        let is_clear =
            |parts: &[&str]| !others.iter().any(|other| parts.iter().all(|part| other.contains(part)));
        let Some(place) = (1..parts.len()).rev().find(|at| is_clear(&without(*at))) else { break };
        parts = without(place);
    }
    cut(&parts.join(", "), room)
}

/// Names cut to a width where they are alike: what differs stays, then as much of their end, then of their beginning as
/// there is room for.
fn differing(texts: &[&str], room: usize) -> Vec<String> {
    let words: Vec<Vec<&str>> = texts.iter().map(|text| text.split(' ').collect()).collect();
    let shortest = words.iter().map(Vec::len).min().unwrap_or(0);
    let all_have = |word: &dyn Fn(&[&str]) -> String| words.iter().all(|own| word(own) == word(&words[0]));
    let before = (0..shortest).take_while(|at| all_have(&|own| own[*at].to_owned())).count();
    let behind =
        (0..shortest - before).take_while(|at| all_have(&|own| own[own.len() - 1 - at].to_owned())).count();
    let short = |own: &Vec<&str>| {
        let (head, rest) = own.split_at(before);
        let apart = rest[..rest.len() - behind].join(" ");
        let least = if head.is_empty() { 0 } else { LEAST_HEAD + 1 };
        let kept = match rest.join(" ") {
            whole if width(&whole) + least <= room => whole,
            whole if width(&apart) + least <= room => cut(&whole, (room - least).max(width(&apart))),
            _ => cut(&apart, room.saturating_sub(usize::from(!head.is_empty()))),
        };
        match head.join(" ") {
            head if head.is_empty() => kept,
            head => format!("{}{kept}", cut(&format!("{head} {kept}"), room - width(&kept))),
        }
    };
    words.iter().map(short).collect()
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
    fn names_that_a_cut_would_make_equal_keep_what_differs() {
        let texts = |names: &[String], room: usize| {
            let mut grid = Grid::new(&[("", Align::Left)]).cutting(Cut::Middle);
            names.iter().for_each(|name| grid.row(vec![name.clone().into()]));
            let text = grid.render(room, false);
            text.lines().filter(|line| !line.starts_with(EACH)).map(str::to_owned).collect::<Vec<_>>()
        };
        let of = |metric: &str, file: &str, n: u32, alive: &str| {
            let s = if n == 1 { "" } else { "s" };
            format!("web{metric}, nginx, {file} files, {n} connection{s}, {alive}keep-alive")
        };
        let mut names = Vec::new();
        for metric in ["", " p99", " server CPU"] {
            for file in ["gif", "large"] {
                names.extend([1, 10, 100, 1000].map(|n| of(metric, file, n, "")));
                names.push(of(metric, file, 10, "no "));
                names.extend([1000, 16000].map(|rate| of(metric, &format!("{rate}/s, {file}"), 50, "")));
            }
        }
        for room in [40, 27] {
            let found = texts(&names, room);
            let apart: BTreeSet<&String> = found.iter().collect();
            assert_eq!(apart.len(), names.len(), "{found:#?}");
            assert!(found.iter().all(|name| width(name) <= room && name.starts_with("web")), "{found:#?}");
        }
        assert_eq!(texts(&names, 27)[1..3], ["web, gif, 10, keep-alive", "web, gif, 100, keep-alive"]);
        // What is short stays as it is.
        names.push("integer".to_owned());
        assert_eq!(texts(&names, 27).last().map(String::as_str), Some("integer"));
    }

    #[test]
    fn what_all_names_share_is_said_once_before_any_is_cut() {
        let mut grid = Grid::new(&[("", Align::Left), ("a", Align::Right)]).cutting(Cut::Middle);
        for name in ["web", "web p99", "web failed"] {
            grid.row(vec![format!("{name}, http://127.0.0.1:8095/, 2 s, own headers").into(), "353".into()]);
        }
        let narrow = "each: http://127.0.0.1:8095/, 2 s, own headers\n              a\nweb         353\nweb p99     \
                      353\nweb failed  353\n";
        assert_eq!(grid.render(50, false), narrow);
        assert_eq!((grid.width_with(usize::MAX), grid.width_with(4)), (15, 9));
        let whole = grid.render(80, false);
        assert!(
            whole.starts_with("  ") && whole.contains("web, http://127.0.0.1:8095/, 2 s, own headers"),
            "{whole}"
        );
        // One row shares nothing.
        let mut one = Grid::new(&[("", Align::Left)]).cutting(Cut::Middle);
        one.row(vec!["web, http://127.0.0.1:8095/, own headers".into()]);
        assert_eq!(one.render(20, false).lines().count(), 1);
    }

    #[test]
    fn names_without_a_shared_word_are_told_apart_too() {
        let names =
            ["web throughput, nginx, 10 connections, on", "web throughput, nginx, 1000 connections, on"];
        let found = differing(&names, 26);
        assert_eq!(found, ["web thr…10 connections, on", "web t…1000 connections, on"].map(str::to_owned));
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
