//! Ranks of three or more machines, best first; those in one bracket cannot be told apart.
//!
//! `1-2` is the rank and the worst place that the machine can truly have. Ties do not carry over from pair to pair, so
//! a machine may stand in two brackets. Two machines have a verdict and need no ranks.

use std::ops::Range;

use model::Params;
use model::doc::{CompareDoc, RankDoc};

use super::apart::{self, EACH};
use super::compared::ComparedFigure;
use super::{Look, Tone, cut, cut_middle, hang, width};

/// The order of the machines in one figure.
#[derive(Clone, Debug)]
pub struct Ranking<'a> {
    pub label: &'a str,
    /// Best first.
    pub places: Vec<&'a RankDoc>,
    /// Stretches of places of which no pair was told apart; they may overlap.
    pub brackets: Vec<Range<usize>>,
}

/// The figures that have ranks, of three or more machines.
pub fn rankings<'a>(doc: &'a CompareDoc, figures: &'a [ComparedFigure<'a>]) -> Vec<Ranking<'a>> {
    if doc.arms.len() < 3 {
        return Vec::new();
    }
    let ranking = |figure: &'a ComparedFigure<'a>| {
        let row = figure.any()?;
        let of = |instrument: &str, metric: &str, params: &Params| {
            instrument == row.instrument && metric == row.metric && *params == row.params
        };
        let ranked = doc.ranks.iter().filter(|rank| of(&rank.instrument, &rank.metric, &rank.params));
        let places: Vec<&RankDoc> = ranked.collect();
        let at = |name: &String| places.iter().position(|place| place.arm == *name);
        let brackets = doc.ties.iter().filter(|tie| of(&tie.instrument, &tie.metric, &tie.params));
        let brackets = brackets.filter_map(|tie| {
            let inside: Vec<usize> = tie.arms.iter().filter_map(at).collect();
            Some(*inside.iter().min()?..*inside.iter().max()? + 1)
        });
        let brackets = brackets.collect();
        (places.len() > 1).then_some(Ranking { label: &figure.label, places, brackets })
    };
    figures.iter().filter_map(ranking).collect()
}

/// `1` or `1-2`: the rank and the worst place.
pub fn place(rank: &RankDoc) -> String {
    match rank.rank == rank.worst_rank {
        true => rank.rank.to_string(),
        false => format!("{}-{}", rank.rank, rank.worst_rank),
    }
}

impl Ranking<'_> {
    /// `[1-2 mini-1, 1-2 ref] 3 nano-2`, in pieces that a line may be broken between.
    pub fn pieces(&self) -> Vec<String> {
        let bracketed = |at: &usize| self.brackets.iter().any(|bracket| bracket.contains(at));
        let alone = (0..self.places.len()).filter(|at| !bracketed(at)).map(|at| at..at + 1);
        let mut groups: Vec<Range<usize>> = self.brackets.iter().cloned().chain(alone).collect();
        groups.sort_by_key(|group| (group.start, group.end));
        let mut pieces = Vec::new();
        for group in groups {
            let several = group.len() > 1;
            for at in group.clone() {
                let Some(rank) = self.places.get(at) else { continue };
                let open = if several && at == group.start { "[" } else { "" };
                let close = match several {
                    true if at + 1 == group.end => "]",
                    true => ",",
                    false => "",
                };
                pieces.push(format!("{open}{} {}{close}", place(rank), cut(&rank.arm, 24)));
            }
        }
        pieces
    }
}

/// The meaning of brackets and numbers.
pub const KEY: &str = "[ ] = neighbours not told apart; 1-3 = rank to worst place";

/// Names of figures are cut to so much.
const LONGEST: usize = 24;

/// One line a figure, broken between machines where it is too long.
pub fn table(doc: &CompareDoc, figures: &[ComparedFigure<'_>], look: Look) -> String {
    let rankings = rankings(doc, figures);
    let labels: Vec<&str> = rankings.iter().map(|ranking| ranking.label).collect();
    let Some(longest) = labels.iter().map(|label| width(label)).max() else { return String::new() };
    let shared = apart::said_once(&labels).filter(|_| longest > LONGEST);
    let (shared, labels) =
        shared.unwrap_or_else(|| (String::new(), labels.iter().map(ToString::to_string).collect()));
    let room = labels.iter().map(|label| width(label).min(LONGEST)).max().unwrap_or(0).max("rank".len());
    let key = hang(&format!("{:room$}  ", "rank"), KEY, look.columns);
    let each = if shared.is_empty() { String::new() } else { hang(EACH, &shared, look.columns) };
    let mut out = format!("\n{each}");
    for line in key.lines() {
        out.push_str(&format!("{}\n", Tone::Dim.paint(line, look.paint)));
    }
    for (ranking, label) in rankings.iter().zip(&labels) {
        let mut line = format!("{:room$} ", cut_middle(label, LONGEST));
        let indent = width(&line);
        for piece in ranking.pieces() {
            if width(&line) + 1 + width(&piece) > look.columns && width(&line) > indent {
                out.push_str(&format!("{line}\n"));
                line = " ".repeat(indent);
            }
            line.push_str(&format!(" {piece}"));
        }
        out.push_str(&format!("{line}\n"));
    }
    out
}
