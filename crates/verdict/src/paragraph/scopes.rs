//! The sentences on the rows of one scope: what is better or worse, what is a tie, what cannot be told and why.
//!
//! In: judged rows of a pair of sides. Out: sentences, the first of which begins with the scope's name. Points, prices
//! and refused rows are told of elsewhere.

use model::doc::{IndexDoc, RowDoc, VerdictWord};
use model::finding::{Conclusion, LogsCompared, LogsParts, PartTime};
use model::format;
use model::scope::is_at_given_rate;
use model::traffic::{FAILED, INSTRUMENT, SPEED, TIME};
use model::why::{Held, Needed, Withheld};

use super::phrase;
use super::topic::{self, Topic};

/// The rows of one scope, the words that name it, its index, and the way that is told already: of rows that go it
/// nothing is said (true: better). Of logs, the parts of the requests that differ.
pub struct Group<'a> {
    pub lead: &'a str,
    pub rows: Vec<&'a RowDoc>,
    pub index: Option<&'a IndexDoc>,
    pub way: Option<bool>,
    pub parts: Option<&'a LogsParts>,
    /// Of logs whose slowest requests alone differ.
    pub slowest: Option<&'a LogsCompared>,
}

/// The sentences on each scope, or on all together where the same is said of each; behind them, once for all scopes,
/// what cannot be told and why.
pub fn sentences(groups: &[Group<'_>], arm: &str, base: &str) -> Vec<String> {
    let each = |lead: &dyn Fn(&Group<'_>) -> String| -> Vec<Vec<String>> {
        let sentences = |one: &Group<'_>| told(&lead(one), arm, base, one);
        groups.iter().map(sentences).filter(|sentences| !sentences.is_empty()).collect()
    };
    let plain = each(&|_| String::new());
    let mut sentences = match plain.as_slice() {
        [first, others @ ..] if !others.is_empty() && others.iter().all(|one| one == first) => first.clone(),
        _ => each(&|one| one.lead.to_owned()).concat(),
    };
    sentences.extend(other_way(groups, arm, base));
    sentences.extend(open(groups, arm, base));
    let (hidden, apart): (Vec<&Group<'_>>, Vec<&Group<'_>>) = groups
        .iter()
        .filter(|group| group.parts.is_some() && where_all_is(group).is_none())
        .partition(|group| parts_of_one_way(group).is_none());
    // Where the whole tells nothing, the parts are the answer.
    let hidden = hidden
        .into_iter()
        .flat_map(|group| group.parts.map(Conclusion::one).into_iter().chain(of_the_whole(group)));
    let mut all: Vec<String> = hidden.collect();
    all.extend(sentences);
    all.extend(apart.into_iter().filter_map(|group| group.parts).map(Conclusion::one));
    all
}

/// `All requests together: cannot tell (2 % shorter to 5 % longer).` where no verdict on them was told.
fn of_the_whole(group: &Group<'_>) -> Option<String> {
    let row = group.rows.iter().find(|row| row.metric == TIME && state_of(row) == Open::Unknown)?;
    (row.verdict == VerdictWord::CannotTell)
        .then(|| format!("All requests together: {}.", PartTime::of_row(row, stats::ALPHA).words()))
}

/// True for rows of all requests of a log of which the parts tell more.
fn is_told_by_parts(group: &Group<'_>, row: &RowDoc) -> bool {
    let is_whole = row.metric == TIME || row.metric == SPEED;
    group.parts.is_some() && is_whole && of_the_whole(group).is_some()
}

/// The parts behind a difference that was told, and whether it is of longer times; none where a share of failures
/// stands in the same sentence.
fn parts_of_one_way<'a>(group: &Group<'a>) -> Option<(&'a LogsParts, bool)> {
    let of = |word: VerdictWord| group.rows.iter().any(|row| row.verdict == word && row.ratio.is_some());
    let fails = group.rows.iter().any(|row| row.ratio.is_none() && lasting_failure(row));
    let parts = group.parts.filter(|_| !fails)?;
    match (of(VerdictWord::Better), of(VerdictWord::Worse)) {
        (true, false) => Some((parts, false)),
        (false, true) => Some((parts, true)),
        _ => None,
    }
}

/// The parts that make all of a difference that was told; in one breath with it.
fn where_all_is<'a>(group: &Group<'a>) -> Option<&'a LogsParts> {
    parts_of_one_way(group).filter(|(parts, longer)| parts.are_all_of_it(*longer)).map(|(parts, _)| parts)
}

/// The parts that go against a difference that was told.
fn other_way_in(group: &Group<'_>) -> Option<String> {
    parts_of_one_way(group).and_then(|(parts, longer)| parts.other_way(longer))
}

/// True for a share of failures that differs, and not for a short time alone: that is told before, with the time.
fn lasting_failure(row: &RowDoc) -> bool {
    matches!(row.verdict, VerdictWord::Better | VerdictWord::Worse) && !row.why.failed_at_once()
}

/// The sentences on rows of one scope, but for what cannot be told; the first sentence begins with its lead. An index
/// speaks for the rows that go its way.
fn told(lead: &str, arm: &str, base: &str, group: &Group<'_>) -> Vec<String> {
    let with = |word: VerdictWord| {
        let rows = group.rows.iter().copied();
        rows.filter(|row| row.verdict == word && !goes_along(row, group.way)).collect::<Vec<_>>()
    };
    let lead_of = |sentences: &[String]| if sentences.is_empty() { lead } else { "" };
    let mut sentences: Vec<String> = overall(lead, arm, base, group).into_iter().collect();
    // Beside an index they are told for all scopes together.
    let (better, worse) = match group.way {
        Some(_) => (Vec::new(), Vec::new()),
        None => (with(VerdictWord::Better), with(VerdictWord::Worse)),
    };
    let wins = clauses(&better, &worse, Some(base));
    let losses = clauses(&worse, &better, wins.is_empty().then_some(base));
    let failures = [&worse, &better].into_iter().filter_map(|rows| {
        let lasting: Vec<&RowDoc> = rows.iter().copied().filter(|row| lasting_failure(row)).collect();
        phrase::failing(&lasting)
    });
    let failures = failures.collect();
    let mut speeds = [wins, losses].concat();
    if let (Some(last), true) = (speeds.last_mut(), leaves_out_failures(group)) {
        last.push_str(&format!(" ({LEFT_OUT})"));
    }
    let decided = [speeds, failures].concat();
    if !decided.is_empty() {
        let tail = where_all_is(group).map(LogsParts::all_of_it).or_else(|| other_way_in(group));
        let tail = tail.map_or_else(String::new, |tail| format!(", {tail}"));
        sentences.push(format!("{}{arm} {}{tail}.", lead_of(&sentences), format::list(&decided)));
        sentences.extend(group.slowest.map(Conclusion::one));
    }
    // Equal shares of failures have no ratio, and no margin in per cent.
    let tied: Vec<&RowDoc> = with(VerdictWord::Tie).into_iter().filter(|row| row.ratio.is_some()).collect();
    let (answered, tied): (Vec<&RowDoc>, Vec<&RowDoc>) = tied.into_iter().partition(|row| is_offered(row));
    let tie = |rows: &[&RowDoc], sentences: &[String]| {
        let ties = names(rows);
        let left_out = if leaves_out_failures(group) { format!(", {LEFT_OUT}") } else { String::new() };
        let within = phrase::within(rows) + &left_out;
        let subject =
            if sentences.is_empty() { format!("{lead}{arm} and {base}") } else { "They".to_owned() };
        (!ties.is_empty()).then(|| format!("{subject} tie on {} ({within}).", format::list(&ties)))
    };
    sentences.extend(tie(&tied, &sentences));
    let unsure = with(VerdictWord::CannotTell);
    let of = |state: Open| unsure.iter().copied().filter(|row| state_of(row) == state).collect::<Vec<_>>();
    let likely = probable(lead_of(&sentences), arm, base, &of(Open::Likely));
    sentences.extend(likely);
    let apart = beyond_margin(lead_of(&sentences), arm, base, &of(Open::Apart));
    sentences.extend(apart);
    sentences.extend(tie(&answered, &sentences));
    sentences
}

/// True for the throughput of a load at a fixed rate: equal throughputs mean that both servers answered what was
/// offered, which tells less than their response times.
fn is_offered(row: &RowDoc) -> bool {
    let is_main = row.card.is_some_and(|card| card.shown.main == row.metric);
    is_main && is_at_given_rate(&row.params)
}

/// Said of speeds and times where a server failed requests.
const LEFT_OUT: &str = "5xx left out";

/// True if requests of logs failed: speeds and times are of the others.
fn leaves_out_failures(group: &Group<'_>) -> bool {
    group.rows.iter().any(|row| row.instrument == INSTRUMENT && row.metric == FAILED)
}

/// True for a row that goes the way that was told. A tie or a figure without a ratio goes none.
fn goes_along(row: &RowDoc, way: Option<bool>) -> bool {
    let own = Topic::goodness(row).map(|good| good > 1.0);
    row.verdict != VerdictWord::Tie && own.is_some() && own == way
}

/// How much is known of a row that has no verdict.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// Its interval lies beyond the margin, and something besides it withholds the verdict.
    Likely,
    /// The figures differ beyond chance; only whether by more than the margin is open.
    Apart,
    Doubtful,
    Unknown,
    /// It failed all at once, which is told before.
    Told,
}

fn state_of(row: &RowDoc) -> Open {
    match row.why.withheld() {
        // What a lower bound may be is not known.
        Some(Withheld::LowerBound { .. }) => Open::Doubtful,
        // Its interval is an assumption, wherever it lies.
        _ if matches!(row.why.held(), Some(Held::OneTake { .. })) => Open::Unknown,
        _ if is_beyond(row) => Open::Likely,
        Some(_) => Open::Doubtful,
        None if row.why.failed_at_once() => Open::Told,
        None if row.is_apart(stats::ALPHA) => Open::Apart,
        None => Open::Unknown,
    }
}

fn is_beyond(row: &RowDoc) -> bool {
    let edge = 1.0 + row.margin;
    row.low.zip(row.high).is_some_and(|(low, high)| low > edge || high < 1.0 / edge)
}

/// The sentences on what cannot be told, over all scopes.
fn open(groups: &[Group<'_>], arm: &str, base: &str) -> Vec<String> {
    let left = |group: &&Group<'_>, row: &&RowDoc| !is_told_by_parts(group, row);
    let judged: Vec<&RowDoc> = groups
        .iter()
        .flat_map(|group| group.rows.iter().copied().filter(move |row| left(&group, row)))
        .collect();
    let is_scoped = groups.iter().any(|group| !group.lead.is_empty());
    let of = |state: Open| -> Vec<&RowDoc> {
        let unsure = judged.iter().copied().filter(|row| row.verdict == VerdictWord::CannotTell);
        unsure.filter(|row| state_of(row) == state).collect()
    };
    let (unknown_rows, doubtful) = (of(Open::Unknown), of(Open::Doubtful));
    // Equal shares of failures have no ratio, and are not told of.
    let all = judged.iter().filter(|row| row.ratio.is_some() || row.verdict != VerdictWord::Tie).count();
    let name = if is_scoped { topic::full_name } else { topic::name };
    let what = |rows: &[&RowDoc]| match rows.len() {
        count if count == all => "any of the figures".to_owned(),
        count if count > MOST => format!("{count} of {all} figures"),
        _ => format::list(&names_by(rows, name)),
    };
    let of_unknown = unknown(&unknown_rows, (arm, base), &what(&unknown_rows));
    of_unknown.into_iter().chain(disturbed(&doubtful, (arm, base), &what(&doubtful))).collect()
}

/// `b probably computes 15 to 41 % slower than a; not proved: other processes used CPUs.`
fn probable(lead: &str, arm: &str, base: &str, rows: &[&RowDoc]) -> Option<String> {
    let said = both_ways(rows, base);
    if said.is_empty() {
        return None;
    }
    let mut whys = Withheld::each(&rows.iter().filter_map(|row| row.why.withheld()).collect::<Vec<_>>());
    if rows.iter().any(|row| matches!(row.why.held(), Some(Held::Family { .. }))) {
        whys.push("some are not clear among so many figures".to_owned());
    }
    let why = if whys.is_empty() { String::new() } else { format!(": {}", format::list(&whys)) };
    Some(format!("{lead}{arm} probably {}; not proved{why}.", format::list(&said)))
}

/// The clauses of what is better, then of what is worse, whatever its verdict.
fn both_ways(rows: &[&RowDoc], base: &str) -> Vec<String> {
    let is_better = |row: &&RowDoc| Topic::goodness(row).is_some_and(|good| good > 1.0);
    let (up, down): (Vec<&RowDoc>, Vec<&RowDoc>) = rows.iter().copied().partition(is_better);
    let gains = clauses(&up, &down, Some(base));
    let losses = clauses(&down, &up, gains.is_empty().then_some(base));
    [gains, losses].concat()
}

/// `b computes 4 to 9 % slower than a; whether that exceeds the margin of 5 % is open, about 3 runs each would settle
/// it.`
fn beyond_margin(lead: &str, arm: &str, base: &str, rows: &[&RowDoc]) -> Option<String> {
    let said = both_ways(rows, base);
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

/// The figures that go another way than their index, over all scopes: `The other way, b computes 22 % slower than a
/// (hash table).`
fn other_way(groups: &[Group<'_>], arm: &str, base: &str) -> Option<String> {
    let contrary = |word: VerdictWord| -> Vec<&RowDoc> {
        let of = |group: &&Group<'_>| group.way.is_some();
        let rows = groups.iter().filter(of).flat_map(|one| one.rows.iter().map(|row| (*row, one.way)));
        rows.filter(|(row, way)| row.verdict == word && !goes_along(row, *way)).map(|(row, _)| row).collect()
    };
    let better = exceptions(&contrary(VerdictWord::Better), Some(base));
    let than = better.is_empty().then_some(base);
    let said = [better, exceptions(&contrary(VerdictWord::Worse), than)].concat();
    (!said.is_empty()).then(|| format!("The other way, {arm} {}.", format::list(&said)))
}

/// One clause for each topic: `computes 22 % (hash table replace) to 25 % (hash table lookup) slower than ref (4
/// figures)`.
/// The ends are named, and more than two counted.
fn exceptions(rows: &[&RowDoc], mut base: Option<&str>) -> Vec<String> {
    let mut said = Vec::new();
    for topic in Topic::of_all(rows) {
        let about: Vec<&RowDoc> = rows.iter().copied().filter(|row| Topic::of_row(row) == topic).collect();
        // One sentence speaks of all scopes.
        let clause = phrase::clause_naming(&topic, &about, base, topic::full_name);
        let Some(clause) = clause else { continue };
        said.push(match about.as_slice() {
            [only] => format!("{clause} ({})", topic::full_name(only)),
            [_, _] => clause,
            many => format!("{clause} ({})", format::count(many.len(), "figure")),
        });
        base = None;
    }
    said
}

/// More names than these are counted.
const MOST: usize = 5;

/// Short names without repeats; beyond five only their number. Loads that differ in their metric alone are named once,
/// behind their metrics: `web p50 and web p99 (20 connections)`.
pub fn names(rows: &[&RowDoc]) -> Vec<String> {
    names_by(rows, topic::name)
}

fn names_by(rows: &[&RowDoc], name: fn(&RowDoc) -> String) -> Vec<String> {
    let load = topic::one_load(rows);
    let mut all: Vec<String> = Vec::new();
    for row in rows {
        let name = if load.is_some() { topic::metric_of_load(row) } else { name(row) };
        if !all.contains(&name) {
            all.push(name);
        }
    }
    if all.len() > MOST {
        let more = all.len() - (MOST - 1);
        all.truncate(MOST - 1);
        all.push(format!("{more} more"));
    }
    if let (Some(last), Some(load)) = (all.last_mut(), load) {
        last.push_str(&format!(" ({load})"));
    }
    all
}

fn unknown(rows: &[&RowDoc], (arm, base): (&str, &str), what: &str) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    if let Some((have, need)) = rows.iter().find_map(|row| row.why.few_quarters()) {
        let cut = match have {
            0 => {
                " Where one log follows the other, `boxscore logs FILES --cut TIME` compares before and after."
            }
            _ => "",
        };
        let have = model::why::quarters(have);
        return Some(format!(
            "Whether {arm} and {base} differ on {what} cannot be told from {have}: {need} are needed.{cut}"
        ));
    }
    let held = |by: Held| rows.iter().filter(|row| row.why.held() == Some(by)).count();
    let reason = if held(Held::OneTake { each: true }) == rows.len() {
        ", since they have one take each and the noise is assumed"
    } else if rows.iter().all(|row| matches!(row.why.held(), Some(Held::OneTake { .. }))) {
        ", since a side has one take and the noise is assumed"
    } else if held(Held::AssumedNoise) > 0 {
        ", since the noise between runs is assumed"
    } else if held(Held::Interval) * 2 > rows.len() {
        ", since most intervals reach across the margin"
    } else if rows.iter().all(|row| row.why.one_episode()) {
        ", since the difference may be one episode"
    } else {
        ""
    };
    let yet = if rows.iter().all(|row| row.why.is_final()) { "" } else { " yet" };
    Some(format!("Whether {arm} and {base} differ on {what} cannot be told{yet}{reason}."))
}

fn disturbed(rows: &[&RowDoc], (arm, base): (&str, &str), what: &str) -> Option<String> {
    let whys = Withheld::each(&rows.iter().filter_map(|row| row.why.withheld()).collect::<Vec<_>>());
    if whys.is_empty() {
        return None;
    }
    Some(format!(
        "Whether {arm} and {base} differ on {what} cannot be told, since these figures are doubtful: {}.",
        format::list(&whys)
    ))
}

/// `As a whole machine, b has 1.30 times the performance of a over 27 figures (95 %: 1.25 to 1.35; single figures:
/// 1.28 to 1.33 times).`
fn overall(lead: &str, arm: &str, base: &str, group: &Group<'_>) -> Option<String> {
    let index = group.index.filter(|index| index.is_told())?;
    let shown = [index.value?, index.low?, index.high?].map(format::ratio);
    // All of them, as the table has them: those that could not be told too.
    let single =
        phrase::factors(&group.rows.iter().filter_map(|row| Topic::goodness(row)).collect::<Vec<_>>())
            .map_or_else(String::new, |range| format!("; single figures: {range}"));
    let open = match index.open {
        0 => String::new(),
        some => format!("; not a verdict, since {some} of them could not be told"),
    };
    let figures = format::count(usize::try_from(index.components).unwrap_or(usize::MAX), "figure");
    let [value, low, high] = shown;
    Some(format!(
        "{lead}{arm} has {value} times the performance of {base} over {figures} (95 %: {low} to {high}{single}{open})."
    ))
}
