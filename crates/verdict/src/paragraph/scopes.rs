//! The sentences on the rows of one scope: what is better or worse, what is a tie, what cannot be told and why.
//!
//! In: judged rows of a pair of sides. Out: sentences, the first of which begins with the scope's name. Points, prices
//! and refused rows are told of elsewhere.

use model::doc::{IndexDoc, RowDoc, VerdictWord};
use model::format;
use model::why::{Held, Needed, Withheld};

use super::phrase;
use super::topic::{self, Topic};

/// The rows of one scope, the words that name it, and its index.
pub struct Group<'a> {
    pub lead: &'a str,
    pub rows: Vec<&'a RowDoc>,
    pub index: Option<&'a IndexDoc>,
}

/// The sentences on each scope, or on all together where the same is said of each.
pub fn sentences(groups: &[Group<'_>], arm: &str, base: &str) -> Vec<String> {
    let each = |lead: &dyn Fn(&Group<'_>) -> String| -> Vec<Vec<String>> {
        let sentences = |one: &Group<'_>| group(&lead(one), arm, base, &one.rows, one.index);
        groups.iter().map(sentences).filter(|sentences| !sentences.is_empty()).collect()
    };
    let plain = each(&|_| String::new());
    match plain.as_slice() {
        [first, others @ ..] if !others.is_empty() && others.iter().all(|one| one == first) => first.clone(),
        _ => each(&|one| one.lead.to_owned()).concat(),
    }
}

/// The sentences on rows of one scope; the first one begins with `lead`.
fn group(lead: &str, arm: &str, base: &str, judged: &[&RowDoc], index: Option<&IndexDoc>) -> Vec<String> {
    let with =
        |word: VerdictWord| judged.iter().copied().filter(|row| row.verdict == word).collect::<Vec<_>>();
    let mut sentences = Vec::new();
    let (better, worse) = (with(VerdictWord::Better), with(VerdictWord::Worse));
    let wins = clauses(&better, &worse, Some(base));
    let losses = clauses(&worse, &better, wins.is_empty().then_some(base));
    let failures = [&worse, &better].map(|rows| phrase::failing(rows)).into_iter().flatten().collect();
    let decided = [wins, losses, failures].concat();
    if !decided.is_empty() {
        sentences.push(format!("{lead}{arm} {}.", format::list(&decided)));
    }
    // Equal shares of failures have no ratio, and no margin in per cent.
    let tied: Vec<&RowDoc> = with(VerdictWord::Tie).into_iter().filter(|row| row.ratio.is_some()).collect();
    let ties = names(&tied);
    if !ties.is_empty() {
        let within = phrase::within(&tied);
        let subject = if decided.is_empty() { format!("{lead}{arm} and {base}") } else { "They".to_owned() };
        sentences.push(format!("{subject} tie on {} ({within}).", format::list(&ties)));
    }
    let (doubtful, open): (Vec<&RowDoc>, Vec<&RowDoc>) =
        with(VerdictWord::CannotTell).into_iter().partition(|row| row.why.withheld().is_some());
    // What failed all at once is told before as that.
    let open: Vec<&RowDoc> = open.into_iter().filter(|row| !row.why.failed_at_once()).collect();
    let (apart, open): (Vec<&RowDoc>, Vec<&RowDoc>) = open.into_iter().partition(|row| differs(row));
    sentences.extend(beyond_margin(if sentences.is_empty() { lead } else { "" }, arm, base, &apart));
    let led = |sentences: &[String]| if sentences.is_empty() { whether(lead) } else { whether("") };
    let opening = led(&sentences);
    sentences.extend(unknown(&open, (&opening, arm, base), judged.len()));
    let opening = led(&sentences);
    sentences.extend(disturbed(&doubtful, (&opening, arm, base), judged.len()));
    // An index of rows of which none is told would be read as their verdict.
    let is_told = !(decided.is_empty() && ties.is_empty());
    sentences.extend(index.filter(|_| is_told).and_then(|index| overall(index, doubtful.len())));
    sentences
}

/// The figures differ beyond chance; only whether by more than the margin is open.
fn differs(row: &RowDoc) -> bool {
    let is_certain = row.p_holm.is_some_and(|p| p <= stats::ALPHA);
    let excludes_one = row.low.zip(row.high).is_some_and(|(low, high)| low > 1.0 || high < 1.0);
    is_certain && excludes_one && matches!(row.why.held(), Some(Held::Interval | Held::AssumedNoise))
}

/// `b computes 4 to 9 % slower than a; whether that exceeds the margin of 5 % is open, about 3 runs each would settle
/// it.`
fn beyond_margin(lead: &str, arm: &str, base: &str, rows: &[&RowDoc]) -> Option<String> {
    let is_better = |row: &&RowDoc| Topic::goodness(row).is_some_and(|good| good > 1.0);
    let (up, down): (Vec<&RowDoc>, Vec<&RowDoc>) = rows.iter().copied().partition(is_better);
    let gains = clauses(&up, &down, Some(base));
    let losses = clauses(&down, &up, gains.is_empty().then_some(base));
    let said = [gains, losses].concat();
    if said.is_empty() {
        return None;
    }
    let margins: Vec<f64> = rows.iter().map(|row| row.margin).collect();
    let margin = format::percent_range(&margins).unwrap_or_default();
    let needed: Vec<Needed> = rows.iter().filter_map(|row| row.why.needed()).collect();
    let advice = Needed::many(&needed).map(|advice| format!(", {advice}")).unwrap_or_default();
    Some(format!(
        "{lead}{arm} {}; whether that exceeds the margin of {margin} is open{advice}.",
        format::list(&said)
    ))
}

/// `Whether`, or `Per thread, whether` behind a lead.
fn whether(lead: &str) -> String {
    if lead.is_empty() { "Whether".to_owned() } else { format!("{lead}whether") }
}

/// One clause for each topic: `computes 18 % (zstd) to 31 % (integer) faster than ref`. Where other rows of the topic
/// went the other way, these are named.
fn clauses(rows: &[&RowDoc], others: &[&RowDoc], mut base: Option<&str>) -> Vec<String> {
    let both = Topic::of_all(others);
    let mut said = Vec::new();
    for topic in Topic::of_all(rows) {
        let about: Vec<&RowDoc> = rows.iter().copied().filter(|row| Topic::of_row(row) == topic).collect();
        if let Some(clause) = phrase::clause(&topic, &about, base) {
            // Of two rows each end is named already.
            said.push(if both.contains(&topic) && about.len() != 2 {
                format!("{clause} ({})", format::list(&names(&about)))
            } else {
                clause
            });
            base = None;
        }
    }
    said
}

/// Short names without repeats; beyond five only their number.
pub fn names(rows: &[&RowDoc]) -> Vec<String> {
    const MOST: usize = 5;
    let mut all: Vec<String> = Vec::new();
    for row in rows {
        let name = topic::name(row);
        if !all.contains(&name) {
            all.push(name);
        }
    }
    if all.len() > MOST {
        let more = all.len() - (MOST - 1);
        all.truncate(MOST - 1);
        all.push(format!("{more} more"));
    }
    all
}

fn unknown(rows: &[&RowDoc], (whether, arm, base): (&str, &str, &str), all: usize) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    let what = if rows.len() == all { "any of the figures".to_owned() } else { format::list(&names(rows)) };
    let held = |by: Held| rows.iter().filter(|row| row.why.held() == Some(by)).count();
    let reason = if held(Held::AssumedNoise) > 0 {
        ", since the noise between runs is assumed, not measured"
    } else if held(Held::Interval) * 2 > rows.len() {
        ", since most intervals reach across the margin"
    } else if rows.iter().all(|row| row.why.one_episode()) {
        ", since the difference may be one episode"
    } else {
        ""
    };
    let yet = if rows.iter().all(|row| row.why.is_final()) { "" } else { " yet" };
    Some(format!("{whether} {arm} and {base} differ on {what} cannot be told{yet}{reason}."))
}

fn disturbed(rows: &[&RowDoc], (whether, arm, base): (&str, &str, &str), all: usize) -> Option<String> {
    let whys = Withheld::each(&rows.iter().filter_map(|row| row.why.withheld()).collect::<Vec<_>>());
    if whys.is_empty() {
        return None;
    }
    let what = if rows.len() == all { "any of the figures".to_owned() } else { format::list(&names(rows)) };
    Some(format!(
        "{whether} {arm} and {base} differ on {what} cannot be told, since these figures are doubtful: {}.",
        format::list(&whys)
    ))
}

fn overall(index: &IndexDoc, doubtful: usize) -> Option<String> {
    let (value, low, high) = (index.value?, index.low?, index.high?);
    if index.components < 2 {
        return None;
    }
    let shown = |number: f64| format!("{number:.2}");
    let doubt = match doubtful {
        0 => String::new(),
        some => format!("; not a verdict, since {some} of them are doubtful"),
    };
    Some(format!(
        "Over all {} {} figures {} has {} times the performance of {} (95 %: {} to {}{doubt}).",
        index.components,
        index.scope.adjective(),
        index.arm,
        shown(value),
        index.reference,
        shown(low),
        shown(high)
    ))
}
