//! Ratios as clauses: `computes 18 % (zstd) to 31 % (integer) faster than ref`, `waits 17 to 25 % longer for memory`.
//!
//! Rates: 1.31 is 31 % faster, 0.80 is 20 % slower. Waits: 1.21 is 21 % longer, 0.80 is 20 % shorter. From two times
//! on either way it is said as `times`. Of one row its interval is said; of several, the least and the largest, which
//! are no interval and therefore named.

use model::doc::RowDoc;
use model::format;
use model::unit::Unit;

use super::topic::{self, Topic};

/// An end of a range, and the row that it is of where it is not an interval's.
#[derive(Clone, Debug)]
struct End {
    value: f64,
    row: String,
}

/// One clause about shares of failed requests, which have no ratio: `fails 20 % of the requests, not 0 % (web failed)`;
/// of several rows, the one that is furthest apart.
pub fn failing(rows: &[&RowDoc]) -> Option<String> {
    let shares = |row: &&RowDoc| {
        row.arm_value.zip(row.base_value).filter(|_| row.unit == Unit::Ratio && row.ratio.is_none())
    };
    let all: Vec<(&RowDoc, (f64, f64))> = rows.iter().filter_map(|row| Some((*row, shares(row)?))).collect();
    let apart = |(_, (arm, base)): &&(&RowDoc, (f64, f64))| (arm - base).abs();
    let (row, (arm, base)) = all.iter().max_by(|a, b| apart(a).total_cmp(&apart(b)))?;
    let more = match all.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (arm, base) = (format::percent(*arm), format::percent(*base));
    Some(format!("fails {arm} of the requests, not {base} ({}{more})", topic::name(row)))
}

/// One clause about rows of one topic that all went the same way.
pub fn clause(topic: &Topic, rows: &[&RowDoc], base: Option<&str>) -> Option<String> {
    clause_naming(topic, rows, base, topic::name)
}

/// The same with another way to name rows.
pub fn clause_naming(
    topic: &Topic,
    rows: &[&RowDoc],
    base: Option<&str>,
    name: fn(&RowDoc) -> String,
) -> Option<String> {
    let (least, most) = ends_of(topic, rows, name)?;
    let (low, high) = (least.value, most.value);
    let than = base.map(|name| format!(" than {name}")).unwrap_or_default();
    let like = base.map(|name| format!(" as {name}")).unwrap_or_default();
    let up = |more: &str| format!("{} {more}{than}", range(&least, &most, |v| hundred(v - 1.0), " %"));
    let down = |less: &str| format!("{} {less}{than}", range(&most, &least, |v| hundred(1.0 - v), " %"));
    let times = || range(&least, &most, two, " times");
    let rate = |verb: &str| {
        if low >= 1.0 && high >= 2.0 {
            format!("{verb} {} as fast{like}", times())
        } else if high <= 0.5 {
            let of = base.map(|b| format!(" of {b}")).unwrap_or_default();
            format!("{verb} at {} of the speed{of}", range(&least, &most, two, ""))
        } else if high > 1.0 {
            format!("{verb} {}", up("faster"))
        } else {
            format!("{verb} {}", down("slower"))
        }
    };
    // One takes less time, and waits shorter.
    let wait = |verb: &str, on: &str| {
        let shorter = if verb == "takes" { "less time" } else { "shorter" };
        if low >= 1.0 && high >= 2.0 {
            format!("{verb} {} as long{on}{like}", times())
        } else if high > 1.0 {
            format!("{verb} {}", up(&format!("longer{on}")))
        } else {
            format!("{verb} {}", down(&format!("{shorter}{on}")))
        }
    };
    Some(match topic {
        Topic::Compute => rate("computes"),
        Topic::MemoryRate => rate("moves memory"),
        Topic::DiskRate => rate("drives its disk"),
        Topic::MemoryWait => wait("waits", " for memory"),
        Topic::DiskWait(what) => wait("waits", &format!(" for {what}")),
        Topic::Work => wait("takes", " for the work"),
        Topic::Serving if high <= 0.5 => {
            let slower = |end: &End| End { value: 1.0 / end.value, row: end.row.clone() };
            let times = range(&slower(&most), &slower(&least), two, " times");
            format!("takes {times} as long for the same requests{like}")
        }
        Topic::Serving => rate("serves the same requests"),
        Topic::Answers(what) => answers(&least, &most, what, base),
        Topic::Uses(what) => uses(&least, &most, what, base),
        Topic::Rate(name) => rate(&format!("runs {name}")),
        Topic::Wait(name) => wait("takes", &format!(" for {name}")),
    })
}

/// `answers 1.70 to 1.90 times the requests/s of a (web)`, `answers 4 to 9 % fewer requests/s than a (web)`.
fn answers(least: &End, most: &End, what: &str, base: Option<&str>) -> String {
    let of = base.map(|name| format!(" of {name}")).unwrap_or_default();
    let than = base.map(|name| format!(" than {name}")).unwrap_or_default();
    let (low, high) = (least.value, most.value);
    if low >= 1.0 && high >= 2.0 {
        format!("answers {} the requests/s{of} ({what})", range(least, most, two, " times"))
    } else if high <= 0.5 {
        format!("answers {} of the requests/s{of} ({what})", range(least, most, two, ""))
    } else if high > 1.0 {
        format!("answers {} more requests/s{than} ({what})", range(least, most, |v| hundred(v - 1.0), " %"))
    } else {
        format!("answers {} fewer requests/s{than} ({what})", range(most, least, |v| hundred(1.0 - v), " %"))
    }
}

/// `uses 9 to 12 % less power than a`, `uses 2.10 to 2.30 times the power of a`.
fn uses(least: &End, most: &End, what: &str, base: Option<&str>) -> String {
    let than = base.map(|name| format!(" than {name}")).unwrap_or_default();
    let (low, high) = (least.value, most.value);
    if low >= 1.0 && high >= 2.0 {
        let of = base.map(|name| format!(" of {name}")).unwrap_or_default();
        format!("uses {} the {what}{of}", range(least, most, two, " times"))
    } else if high > 1.0 {
        format!("uses {} more {what}{than}", range(least, most, |v| hundred(v - 1.0), " %"))
    } else {
        format!("uses {} less {what}{than}", range(most, least, |v| hundred(1.0 - v), " %"))
    }
}

/// `within 5 %`, or `within 2 to 5 %` where rows have different margins.
pub fn within(rows: &[&RowDoc]) -> String {
    let margins: Vec<f64> = rows.iter().map(|row| (row.margin * 1e4).round() / 100.0).collect();
    let (low, high) = ends(&margins).unwrap_or_default();
    format!("within {} %", span(low, high, |percent| percent.to_string()))
}

/// `0.83 to 1.20 times`, for goodness.
pub fn factors(values: &[f64]) -> Option<String> {
    let usable: Vec<f64> = values.iter().copied().filter(|value| value.is_finite() && *value > 0.0).collect();
    let (low, high) = ends(&usable)?;
    Some(format!("{} times", span(low, high, two)))
}

/// The interval of one row, or the least and the largest of several.
fn ends_of(topic: &Topic, rows: &[&RowDoc], name: fn(&RowDoc) -> String) -> Option<(End, End)> {
    let is_usable = |value: &f64| value.is_finite() && *value > 0.0;
    let usable: Vec<(f64, &RowDoc)> =
        rows.iter().filter_map(|row| Some((topic.factor(row).filter(is_usable)?, *row))).collect();
    let end = |(value, row): &(f64, &RowDoc)| End { value: *value, row: name(row) };
    if let [only] = usable.as_slice() {
        let bare = |value: f64| End { value, row: String::new() };
        let whole = topic.interval(only.1).filter(|(low, high)| is_usable(low) && is_usable(high));
        let (low, high) = whole.unwrap_or((only.0, only.0));
        return Some((bare(low), bare(high)));
    }
    let least = usable.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let most = usable.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((end(least), end(most)))
}

/// `18 % (zstd) to 31 % (integer)`, `18 to 31 %` of an interval, or one figure where both show alike.
fn range(from: &End, to: &End, show: impl Fn(f64) -> String, unit: &str) -> String {
    let (low, high) = (show(from.value), show(to.value));
    if low == high {
        return format!("{low}{unit}");
    }
    match (from.row.as_str(), to.row.as_str()) {
        ("", _) | (_, "") => format!("{low} to {high}{unit}"),
        (a, b) => format!("{low}{unit} ({a}) to {high}{unit} ({b})"),
    }
}

fn ends(values: &[f64]) -> Option<(f64, f64)> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some((low, high))
}

/// `18 to 31`, or one figure where both show alike.
fn span(low: f64, high: f64, show: fn(f64) -> String) -> String {
    let (low, high) = (show(low), show(high));
    if low == high { low } else { format!("{low} to {high}") }
}

fn two(value: f64) -> String {
    match value {
        value if value >= 99.5 => format!("{value:.0}"),
        value if value >= 9.95 => format!("{value:.1}"),
        value if value < 0.000_995 => format!("{value:.1e}"),
        value if value < 0.0995 => format!("{value:.3}"),
        value => format!("{value:.2}"),
    }
}

/// A share as a percentage without the sign.
fn hundred(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}

#[cfg(test)]
mod tests {
    use model::Better;
    use model::doc::VerdictWord;

    use super::*;

    fn row(params: &str, better: Better, ratio: f64, interval: Option<(f64, f64)>) -> RowDoc {
        let row = crate::paragraph::tests::row("index", params, better, ratio, VerdictWord::Better);
        RowDoc { low: interval.map(|i| i.0), high: interval.map(|i| i.1), ..row }
    }

    fn say(topic: &Topic, ratios: &[f64]) -> String {
        let rows: Vec<RowDoc> = (ratios.iter().enumerate())
            .map(|(at, ratio)| row(["kind=integer", "kind=floating"][at], Better::Higher, *ratio, None))
            .collect();
        clause(topic, &rows.iter().collect::<Vec<_>>(), Some("ref")).unwrap()
    }

    #[test]
    fn rates_and_waits_go_the_right_way() {
        let both = "computes 18 % (floating) to 31 % (integer) faster than ref";
        assert_eq!(say(&Topic::Compute, &[1.31, 1.18]), both);
        assert_eq!(say(&Topic::Compute, &[0.8]), "computes 20 % slower than ref");
        let slower = "computes 10 % (floating) to 20 % (integer) slower than ref";
        assert_eq!(say(&Topic::Compute, &[0.8, 0.9]), slower);
        assert_eq!(say(&Topic::MemoryWait, &[1.21]), "waits 21 % longer for memory than ref");
        assert_eq!(say(&Topic::Uses("power"), &[0.8]), "uses 20 % less power than ref");
        assert_eq!(say(&Topic::Uses("power"), &[1.3]), "uses 30 % more power than ref");
        assert_eq!(say(&Topic::Uses("power"), &[2.5]), "uses 2.50 times the power of ref");
        assert_eq!(say(&Topic::MemoryWait, &[0.8, 0.8]), "waits 20 % shorter for memory than ref");
        let times = "moves memory 1.50 times (floating) to 2.40 times (integer) as fast as ref";
        assert_eq!(say(&Topic::MemoryRate, &[2.4, 1.5]), times);
        assert_eq!(say(&Topic::Compute, &[0.3]), "computes at 0.30 of the speed of ref");
        assert_eq!(say(&Topic::Serving, &[0.4]), "takes 2.50 times as long for the same requests as ref");
        let one = row("kind=integer", Better::Higher, 1.31, None);
        assert_eq!(clause(&Topic::Compute, &[&one], None).unwrap(), "computes 31 % faster");
        let none = row("kind=integer", Better::Higher, f64::NAN, None);
        assert_eq!(clause(&Topic::Compute, &[&none], None), None);
    }

    #[test]
    fn answers_of_servers_are_counted_and_no_speed() {
        let said = |ratio: f64, (low, high): (f64, f64)| {
            let one = row("kind=integer", Better::Higher, ratio, Some((low, high)));
            clause(&Topic::Answers("web"), &[&one], Some("a")).unwrap()
        };
        assert_eq!(said(2.1, (1.9, 2.3)), "answers 1.90 to 2.30 times the requests/s of a (web)");
        assert_eq!(said(1.3, (1.25, 1.37)), "answers 25 to 37 % more requests/s than a (web)");
        assert_eq!(said(0.9, (0.85, 0.95)), "answers 5 to 15 % fewer requests/s than a (web)");
        assert_eq!(said(0.3, (0.28, 0.33)), "answers 0.28 to 0.33 of the requests/s of a (web)");
    }

    #[test]
    fn one_row_has_its_interval() {
        let said = |topic: Topic, row: RowDoc| clause(&topic, &[&row], None).unwrap();
        let faster = row("kind=integer", Better::Higher, 1.31, Some((1.25, 1.37)));
        assert_eq!(said(Topic::Compute, faster), "computes 25 to 37 % faster");
        let slower = row("kind=integer", Better::Higher, 0.94, Some((0.91, 0.96)));
        assert_eq!(said(Topic::Compute, slower), "computes 4 to 9 % slower");
        let wait = row("kind=integer", Better::Lower, 0.5, Some((0.4, 0.625)));
        assert_eq!(said(Topic::MemoryWait, wait.clone()), "waits 38 to 60 % shorter for memory");
        assert_eq!(said(Topic::Compute, wait), "computes 1.60 to 2.50 times as fast");
    }
}
