//! A comparison as text: the paragraph, figures side by side, ratios with intervals and verdicts, ranks, index.
//!
//! `ratio` is arm / base and the base is the first argument; the verdict says which way is good. Published figures are
//! points: they have a plain ratio and never a significant verdict.

mod sides_down;
mod tables;

use std::collections::{BTreeMap, BTreeSet};

use model::doc::{ArmDoc, CompareDoc, IndexDoc, Noise, RowDoc, VerdictWord};
use model::format::{self, NOT_KNOWN, Scale};
use model::scope::{ALL, THREADS};
use model::shell::word;
use model::why::Why;
use model::{Finding, Scope, Validity, names};

pub use super::compared::{ComparedFigure, arms, figures};
use super::fit::{Part, Rank, Screen};
use super::{Look, answer, hang, logs_beside, notes, scaling, settings, worth, wrap};

/// The comparison for a terminal.
pub fn table(doc: &CompareDoc, all: bool, look: Look) -> String {
    with_tail(doc, Vec::new(), "--all", look.with_all(all))
}

/// The same with what stands below it, above the answer; `command` shows all of it.
pub fn with_tail(doc: &CompareDoc, tail: Vec<Part>, command: &str, look: Look) -> String {
    let figures = figures(doc, look.all);
    let mut screen = Screen::default();
    screen.add(paragraph(doc, look));
    screen.add(settings::part(doc, true, look));
    screen.add("\n".to_owned());
    let is_pair = matches!(arms(doc), [arm] if !arm.published);
    let count: usize = figures.iter().map(|figure| figure.rows.iter().flatten().count()).sum();
    let hidden = if look.all { 0 } else { doc.rows.len().saturating_sub(count) };
    let rest = tables::Rest { count: hidden, command };
    if figures.is_empty() {
        screen.add("no figure that all of them have: nothing to compare\n".to_owned());
    } else if is_pair {
        screen.add(tables::pair(doc, &figures, rest, look));
    } else {
        let mut whys = Whys::of(&figures);
        let legend = format!("{}{}", marks(&figures, true, look), whys.lines(Why::many, look));
        screen.add(tables::several(doc, &figures, &mut whys, (&legend, rest), look));
    }
    if !figures.is_empty() {
        let worth = Part::new(worth::table(doc, &figures, look));
        screen.add(worth.or(Rank::Figure, "figures per price and per watt", ""));
    }
    screen.add(cpus(doc, &figures, look));
    screen.add(indexes(doc, look));
    screen.add(Part::new(scaling::of_sides(&doc.scaling, look)).or(Rank::Reason, "scaling", ""));
    screen.add(Part::new(meanwhile(doc, look)).or(Rank::Figure, "telemetry", ""));
    below(doc, &figures, is_pair, look).into_iter().for_each(|part| screen.add(part));
    screen.tell_here();
    tail.into_iter().for_each(|part| screen.add(part));
    let lead = Some(doc.paragraph.lead.as_str()).filter(|lead| !lead.is_empty());
    screen.fit(look, command, |text| {
        let mut out = answer::last(text, lead, look);
        let is_apart = doc.paragraph.lead.is_empty() || !answer::is_long(&out);
        if let Some(step) = &doc.next_step {
            out.push_str(if is_apart { "\n" } else { "" });
            out.push_str(&answer::next(step, look));
        }
        out
    })
}

/// The result in sentences. The first line stays, and the last, which says of what it speaks.
fn paragraph(doc: &CompareDoc, look: Look) -> Part {
    let text = doc.paragraph.to_string();
    let lines: Vec<String> = text
        .lines()
        .map(|line| wrap(line, look.columns).iter().map(|line| format!("{line}\n")).collect())
        .collect();
    let Some((last, [first, rest @ ..])) = lines.split_last() else { return Part::new(lines.concat()) };
    let shorter = |part: Part, kept: usize| {
        let left = format::count(rest.len() - kept, "more sentence");
        part.or(Rank::Sentence, left, format!("{first}{}{last}", rest[..kept].concat()))
    };
    // More than the screen has lines never fit; of a thousand sentences all the forms would be hundreds of megabytes.
    let most = rest.len().min(look.lines);
    let part = (0..most).rev().fold(Part::new(lines.concat()), shorter);
    let lead: String =
        wrap(&doc.paragraph.lead, look.columns).iter().map(|line| format!("{line}\n")).collect();
    if lead.is_empty() { part } else { part.or(Rank::Sentence, "sentences", format!("{lead}{last}")) }
}

/// `all CPUs: small 2, big 64`, where figures of all CPUs are shown and the machines differ in them.
fn cpus(doc: &CompareDoc, figures: &[ComparedFigure<'_>], look: Look) -> String {
    let is_whole = |row: &RowDoc| row.params.get(THREADS) == Some(ALL);
    let counts: Vec<(&str, f64)> =
        doc.arms.iter().filter_map(|arm| Some((arm.name.as_str(), arm.cpus?))).collect();
    let differ = counts.windows(2).any(|pair| pair[0].1 != pair[1].1);
    if !(differ && figures.iter().filter_map(ComparedFigure::any).any(is_whole)) {
        return String::new();
    }
    let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    hang("", &format!("all CPUs: {}", counts.join(", ")), look.columns)
}

/// Reasons behind verdicts, lettered in the order they are met; rows whose reasons differ in numbers at most share a
/// letter.
#[derive(Clone, Default)]
pub(super) struct Whys(Vec<Vec<Why>>);

/// More reasons than this are left to `--json`.
const MOST_WHYS: usize = 12;

impl Whys {
    /// The reasons of these figures, lettered in the order of a table.
    fn of(figures: &[ComparedFigure<'_>]) -> Whys {
        let mut whys = Whys::default();
        let arms = figures.iter().map(|figure| figure.rows.len()).max().unwrap_or(0);
        for place in 0..arms {
            for row in figures.iter().filter_map(|figure| figure.rows.get(place).copied().flatten()) {
                whys.mark(row);
            }
        }
        whys
    }

    /// The mark behind a row's verdict: its letter, and `!` where a figure is doubtful.
    pub(super) fn mark(&mut self, row: &RowDoc) -> String {
        let doubt = if doubtful(row) { " !" } else { "" };
        // What limits a verdict that was reached is said as well as what kept one back.
        let is_plain = row.verdict < VerdictWord::CannotTell && !row.why.failed_at_once();
        if row.point || is_plain || row.why.is_empty() {
            return doubt.to_owned();
        }
        let same = |group: &Vec<Why>| group.iter().any(|known| known.is_like(&row.why));
        let at = self.0.iter().position(same).unwrap_or(self.0.len());
        match self.0.get_mut(at) {
            Some(group) if group.contains(&row.why) => {}
            Some(group) => group.push(row.why.clone()),
            None => self.0.push(vec![row.why.clone()]),
        }
        letter(at).map_or(String::new(), |letter| format!(" ({letter}){doubt}"))
    }

    /// The meaning of the letters, a line each; in fewer lines without what would settle them.
    pub(super) fn part(&self, look: Look) -> Part {
        let whole = self.lines(Why::many, look);
        Part::new(whole).or(Rank::Reason, "what would settle each", self.lines(Why::many_leading, look))
    }

    fn lines(&self, said: fn(&[Why]) -> String, look: Look) -> String {
        let mut out = String::new();
        for (at, group) in self.0.iter().enumerate() {
            if let Some(letter) = letter(at) {
                out.push_str(&hang(&format!("({letter}) "), &said(group), look.columns));
            }
        }
        if self.0.len() > MOST_WHYS {
            out.push_str(&format!("more reasons ({}): see --json\n", self.0.len() - MOST_WHYS));
        }
        out
    }
}

/// True where a rule doubts a figure of the row.
pub fn doubtful(row: &RowDoc) -> bool {
    !row.point && row.why.is_doubtful()
}

fn letter(at: usize) -> Option<char> {
    ('a'..='z').nth(at).filter(|_| at < MOST_WHYS)
}

pub(super) fn shown(scale: Option<&Scale>, value: Option<f64>) -> String {
    match (scale, value) {
        (Some(scale), Some(value)) => scale.number(value),
        _ => "-".to_owned(),
    }
}

pub(super) fn interval_of(row: Option<&RowDoc>) -> Option<(String, String)> {
    let row = row.filter(|row| row.verdict != VerdictWord::Invalid)?;
    let (low, high) = (row.low?, row.high?);
    format::tells(low, high).then(|| (format::ratio(low), format::ratio(high)))
}

/// The ratio of a row that may be believed.
pub(super) fn believed(row: &RowDoc) -> Option<f64> {
    row.ratio.filter(|_| row.verdict != VerdictWord::Invalid)
}

pub(super) fn plain_ratio(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), format::ratio)
}

/// `whole machine: mini-1 is 1.24 (1.20 - 1.28) of ref-epyc-2c (5 figures)`
pub fn index_text(doc: &CompareDoc, index: &IndexDoc) -> String {
    let figures = if index.components == 1 { "figure" } else { "figures" };
    let open = match index.open {
        0 => String::new(),
        all if all == index.components => ", none told".to_owned(),
        some => format!(", {} told", index.components - some),
    };
    let of = index.value.map_or_else(String::new, |_| format!(" ({} {figures}{open})", index.components));
    format!("{}{of}", short_index(doc, index))
}

/// `whole machine`, or of figures of one family `cpu, all CPUs`.
fn scope_text(doc: &CompareDoc, index: &IndexDoc) -> String {
    let of = doc.rows.iter().filter(|row| row.arm == index.arm && row.headline && !row.point);
    match (names::one_family(of.map(|row| row.card)), index.scope) {
        (Some(family), Scope::WholeMachine) => format!("{family}, all CPUs"),
        (Some(family), scope) => format!("{family}, {}", scope.word()),
        (None, scope) => scope.word().to_owned(),
    }
}

/// The same without the number of its figures.
fn short_index(doc: &CompareDoc, index: &IndexDoc) -> String {
    let scope = scope_text(doc, index);
    match (index.value, &index.why) {
        (Some(value), _) => {
            let interval = match (index.low, index.high) {
                (Some(low), Some(high)) if !format::tells(low, high) => format!(" (interval {NOT_KNOWN})"),
                (Some(low), Some(high)) => format!(" ({} - {})", format::ratio(low), format::ratio(high)),
                _ => String::new(),
            };
            format!("{scope}: {} is {}{interval} of {}", index.arm, format::ratio(value), index.reference)
        }
        (None, why) => {
            format!("{scope}: {} has none: {}", index.arm, why.as_deref().unwrap_or("components are missing"))
        }
    }
}

/// `: crc32c 27, mac 15, index 3`: the figures of an index by instrument.
fn components(doc: &CompareDoc, index: &IndexDoc) -> String {
    let mut instruments: Vec<(&str, usize)> = Vec::new();
    let is_part = |row: &&RowDoc| row.arm == index.arm && row.index == Some(index.scope);
    for row in doc.rows.iter().filter(is_part) {
        match instruments.iter_mut().find(|(known, _)| *known == row.instrument) {
            Some((_, count)) => *count += 1,
            None => instruments.push((&row.instrument, 1)),
        }
    }
    instruments.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let said: Vec<String> = instruments.iter().map(|(name, count)| format!("{name} {count}")).collect();
    if said.is_empty() { String::new() } else { format!(": {}", said.join(", ")) }
}

fn indexes(doc: &CompareDoc, look: Look) -> Part {
    let published = |name: &str| doc.arms.iter().any(|arm| arm.name == name && arm.published);
    let shown = doc.index.iter().filter(|index| {
        index.arm != index.reference && !published(&index.arm) && !published(&index.reference)
    });
    let (known, none): (Vec<&IndexDoc>, Vec<&IndexDoc>) =
        shown.partition(|index| index.value.is_some() || look.all);
    // Where one is there, why the other is not is told; where there is none, one line is enough for all.
    let (known, none) = match none.as_slice() {
        some if !known.is_empty() || some.len() == 1 => ([known, none].concat(), Vec::new()),
        _ => (known, none),
    };
    let lines = |some: &[&IndexDoc], text: fn(&CompareDoc, &IndexDoc) -> String| -> String {
        let of = |index: &IndexDoc| if look.all { components(doc, index) } else { String::new() };
        some.iter()
            .map(|index| hang("index  ", &format!("{}{}", text(doc, index), of(index)), look.columns))
            .collect()
    };
    let apart = |text: String| if text.is_empty() { text } else { format!("\n{text}") };
    if known.is_empty() && !none.is_empty() {
        let why = "none: not all of its figures were measured on both (--all says which)";
        return Part::new(apart(hang("index  ", why, look.columns)));
    }
    // The paragraph has those that tell.
    let left_out = if known.iter().all(|index| index.is_told()) { "" } else { "indexes" };
    Part::new(apart(lines(&known, index_text)))
        .or(Rank::Reason, "figures of the index", apart(lines(&known, short_index)))
        .or(Rank::Reason, left_out, "")
}

/// Telemetry of the machines while the requests of logs came; step by step with all figures.
fn meanwhile(doc: &CompareDoc, look: Look) -> String {
    let tables = if look.all { logs_beside::tables } else { logs_beside::means };
    let text = tables(&doc.beside, look);
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// The meaning of `!`.
pub(super) const DOUBTFUL: &str = "! = doubtful: lines with ! say why";

/// The meaning of marks: of verdicts where they are `judged` here, and of values.
fn marks(figures: &[ComparedFigure<'_>], judged: bool, look: Look) -> String {
    let any = |is: &dyn Fn(&RowDoc) -> bool| {
        figures.iter().flat_map(|figure| figure.rows.iter().flatten()).any(|row| is(row))
    };
    let unsure = |row: &RowDoc| judged && row.verdict == VerdictWord::CannotTell && !row.point;
    let marks = [
        any(&unsure).then_some("? = cannot tell"),
        any(&|row| !row.lower_bounds.is_empty()).then_some(">= at least"),
        any(&|row| judged && doubtful(row)).then_some(DOUBTFUL),
    ];
    hang("", &marks.into_iter().flatten().collect::<Vec<_>>().join("; "), look.columns)
}

/// Notes, sources and caveats.
fn below(doc: &CompareDoc, figures: &[ComparedFigure<'_>], is_pair: bool, look: Look) -> Vec<Part> {
    let heads = notes::headlines_compared(doc);
    // Doubts about figures that are not compared are told with all of them.
    let told = |finding: &&Finding| {
        let is_known = finding.rule.is_told_first();
        !is_known && (look.all || finding.subject.figure().is_none_or(|figure| heads.has(figure)))
    };
    let told: Vec<Finding> = doc.findings.iter().filter(told).cloned().collect();
    let mut parts = vec![
        // Of two sides they stand below the table.
        if is_pair { Part::default() } else { marks(figures, false, look).into() },
        assumed(figures, look).into(),
        notes::doubts_part(&told, &heads, look),
        sources(doc, look),
        settings::part(doc, false, look),
        notes::numbered(&doc.footnotes, look),
        price_hint(doc, look).into(),
    ];
    if !parts.iter().all(Part::is_empty) {
        parts.insert(0, "\n".to_owned().into());
    }
    parts
}

/// `noise   assumed for 9 of 15 figures (floor 7.5 to 37 %); more runs measure it`
fn assumed(figures: &[ComparedFigure<'_>], look: Look) -> String {
    let judged =
        || figures.iter().flat_map(|figure| figure.rows.iter().flatten()).filter(|row| row.floor.is_some());
    let floors: Vec<f64> =
        judged().filter(|row| row.noise == Some(Noise::Assumed)).filter_map(|row| row.floor).collect();
    let of = match (floors.len(), judged().count()) {
        (0, _) => return String::new(),
        (1, 1) => "for the figure".to_owned(),
        (some, all) if some == all => format!("for all {all} figures"),
        (some, all) => format!("for {some} of {all} figures"),
    };
    hang("noise   ", &Noise::Assumed.clause(&of, &floors), look.columns)
}

/// The command for which box gives more for the money, where boxes are compared and a price is not known, or where one
/// is by the hour and another of a purchase.
fn price_hint(doc: &CompareDoc, look: Look) -> String {
    let hosts: BTreeSet<&str> = doc.arms.iter().map(|arm| arm.machine.host()).collect();
    let are_boxes = hosts.len() == doc.arms.len()
        && doc.arms.iter().all(|arm| !arm.runs.is_empty() && arm.subject.is_none());
    let is_bought = |row: &RowDoc| row.card.is_some_and(|card| card.is_bought(&row.metric, &row.params));
    if !are_boxes || !doc.rows.iter().any(is_bought) {
        return String::new();
    }
    let name = |arm: &ArmDoc| {
        let is_alone = doc.arms.iter().filter(|other| other.machine.name == arm.machine.name).count() == 1;
        word(if is_alone { &arm.machine.name } else { &arm.machine.id })
    };
    let lacking: Vec<String> = doc.arms.iter().filter(|arm| arm.price.is_none()).map(name).collect();
    let text = match lacking.split_first() {
        Some((first, others)) => {
            let too = if others.is_empty() { String::new() } else { format!(" (and {})", listed(others)) };
            format!("boxscore note {first} --price 0.10/h{too}: which gives more for it")
        }
        None => {
            let priced = doc.arms.iter().filter_map(|arm| Some((arm, arm.price.as_ref()?)));
            let (hourly, bought): (Vec<_>, Vec<_>) = priced.partition(|(_, price)| price.hourly);
            let (Some((hour, _)), Some((once, price))) = (hourly.first(), bought.first()) else {
                return String::new();
            };
            if doc.rows.iter().any(|row| row.per_price.is_some()) {
                return String::new();
            }
            format!(
                "that of {} is of a purchase, that of {} by the hour: boxscore note {} --price {}/h, or compare \
                 --life 3y",
                name(once),
                name(hour),
                name(once),
                price.amount
            )
        }
    };
    hang("price   ", &text, look.columns)
}

/// `a and b`, or of many `atom[001-132]`.
fn listed(names: &[String]) -> String {
    model::ranges::many(names).unwrap_or_else(|| format::list(names))
}

/// Where published figures come from.
fn sources(doc: &CompareDoc, look: Look) -> Part {
    let line = |((is_read, source), names): ((bool, Option<&str>), Vec<&str>)| {
        let names = names.join(", ");
        let text = match (is_read, source) {
            (false, _) => {
                format!("{names}: pasted line: points with intervals, without samples; never significant")
            }
            (true, Some(source)) => {
                format!("{names}: published in {source}; points without samples, never significant")
            }
            (true, None) => format!("{names}: published; points without samples, never significant"),
        };
        notes::line(Validity::Unknown, &text, look)
    };
    let all: String = published(doc).into_iter().map(line).collect();
    let short = "published figures are points without samples, never significant";
    Part::new(all).or(Rank::Reason, "sources", notes::line(Validity::Unknown, short, look))
}

/// Published arms by their source; those of pasted lines together.
fn published(doc: &CompareDoc) -> BTreeMap<(bool, Option<&str>), Vec<&str>> {
    let mut sources: BTreeMap<(bool, Option<&str>), Vec<&str>> = BTreeMap::new();
    for arm in doc.arms.iter().filter(|arm| arm.published) {
        let source = arm.source.as_deref().filter(|_| !arm.pasted);
        sources.entry((!arm.pasted, source)).or_default().push(&arm.name);
    }
    sources
}

#[cfg(test)]
mod tests {
    use model::why::{FailedWithin, Reason};
    use model::{Better, Params, Unit};

    use super::*;

    #[test]
    fn a_verdict_on_one_outage_has_its_reason() {
        let mut row = failed();
        let mut whys = Whys::default();
        assert_eq!((whys.mark(&row).as_str(), whys.lines(Why::many, Look::plain()).as_str()), ("", ""));
        let within = Some(FailedWithin { arm: (40, 256), base: (0, 260), p: 1e-13 });
        row.why = Reason::FailedAtOnce { share: 1.0, blocks: 2, of: 193, within }.into();
        assert_eq!(whys.mark(&row), " (a)");
        let said = whys.lines(Why::many, Look::plain());
        assert!(said.replace("\n    ", " ").contains("they tell of that time, and of no other"), "{said}");
    }

    fn failed() -> RowDoc {
        RowDoc {
            card: None,
            instrument: "logs".to_owned(),
            metric: "error-rate".to_owned(),
            unit: Unit::Ratio,
            better: Better::Lower,
            params: Params::default(),
            headline: true,
            index: None,
            arm: "new".to_owned(),
            base: "old".to_owned(),
            arm_value: Some(0.0015),
            base_value: Some(0.0),
            ratio: None,
            low: None,
            high: None,
            p: Some(1e-13),
            p_holm: Some(1e-13),
            floor: None,
            noise: None,
            noise_runs: Vec::new(),
            margin: 0.05,
            verdict: VerdictWord::Worse,
            why: Why::default(),
            point: false,
            per_price: None,
            per_watt: None,
            worth: None,
            lower_bounds: Vec::new(),
        }
    }
}
