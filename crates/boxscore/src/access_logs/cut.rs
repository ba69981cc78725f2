//! `--cut`: each label in two, before a moment and from it on.
//!
//! Each side is a label of its own. Skipped lines and requests without a time belong to no side: they stay under the
//! label itself, so that the lines still add up.

use std::collections::BTreeMap;

use logs::aggregate::bounded::Merge;
use logs::aggregate::file::Labels;
use logs::aggregate::sums::Sums;
use logs::aggregate::timeline::Timeline;
use logs::read::Besides;
use logs::read::tally::Side as Read;
use logs::scan::clock::At;
use logs::scan::moment::{Moment, Shown};
use model::doc::{LogsCutDoc, LogsDoc, SidesDoc};
use model::traffic::{Bucket, Cell, CutSide, ServerGroup};
use stats::Margin;
use verdict::traffic::Judgement;
use verdict::traffic::cut::Side;

use super::figures::group;
use super::inputs::UNLABELLED;
use crate::error::CliError;

/// The moment, as it was given.
#[derive(Clone, Debug)]
pub struct Cut {
    text: String,
    pub moment: Moment,
}

impl Cut {
    pub fn parse(text: &str) -> Result<Cut, CliError> {
        let moment = Moment::parse(text).map_err(|what| CliError::usage(format!("--cut: {what}")))?;
        Ok(Cut { text: text.to_owned(), moment })
    }

    /// Fails if one of the labels is called as a side of another one would be.
    pub fn check_labels(&self, labels: &[String]) -> Result<(), CliError> {
        for label in labels {
            let sides = side_names(label, labels.len() == 1);
            if let Some(name) = sides.iter().find(|name| labels.contains(name)) {
                return Err(CliError::usage(format!("--cut: {name} is a label already: give another")));
            }
        }
        Ok(())
    }

    fn wrong(&self, label: &str, what: &str) -> CliError {
        CliError::data(format!("--cut {}: {label}: {what}", self.text))
    }
}

/// The labels of both sides of a label.
fn side_names(label: &str, is_only: bool) -> [String; 2] {
    ["before", "after"].map(|side| match is_only && label == UNLABELLED {
        true => side.to_owned(),
        false => format!("{label} {side}"),
    })
}

/// One side of a cut, as it is judged and as it is stored.
type Half = (ServerGroup, CutSide);

/// Labels that were cut.
pub struct Parted {
    doc: LogsCutDoc,
    pairs: Vec<(Half, Half)>,
}

/// Puts both sides of each label in place of it.
pub fn part(
    cut: &Cut,
    labels: &mut Labels,
    order: &mut Vec<String>,
    besides: &BTreeMap<String, Besides>,
) -> Result<Parted, CliError> {
    let is_only = labels.labels.len() == 1;
    let mut parted =
        Parted { doc: LogsCutDoc { at: cut.text.clone(), sides: Vec::new(), undated: 0 }, pairs: Vec::new() };
    for (label, Besides { sides, .. }) in besides {
        let Some(sides) = sides else { continue };
        let whole = labels.labels.get(label).map_or(0, |whole| whole.totals().requests);
        parted.doc.undated += whole;
        let at = check(cut, label, sides, whole).map_err(|error| match are_sides(besides) {
            true => error.hint("leave the labels out: --cut makes before and after of all lines"),
            false => error,
        })?;
        let [before, after] = side_names(label, is_only);
        let [one, other] = &**sides;
        let side = |is_after| CutSide {
            of: label.clone(),
            given: cut.text.clone(),
            at,
            is_after,
            ..CutSide::default()
        };
        parted.pairs.push((half(&before, one, side(false)), half(&after, other, side(true))));
        for (name, side, beside) in [(&before, one, other), (&after, other, one)] {
            let mut side = side.aggregate.clone();
            // An outage that the cut parts began before it.
            side.around.merge(&beside.aggregate.pace);
            side.around.merge(&beside.aggregate.around);
            labels.labels.insert(name.clone(), side);
        }
        // In the order in which the labels were given; what is of no side comes behind its sides.
        let place = order.iter().position(|known| known == label).unwrap_or(order.len());
        order.splice(place..place, [before.clone(), after.clone()]);
        parted.doc.sides.push(SidesDoc { before, after, at });
    }
    Ok(parted)
}

/// True where some labels lie before the moment and some after it, and it parts none.
fn are_sides(besides: &BTreeMap<String, Besides>) -> bool {
    let served = |side: &Read| side.aggregate.span.is_some();
    let all: Vec<[bool; 2]> = besides
        .values()
        .filter_map(|beside| beside.sides.as_deref())
        .map(|[before, after]| [served(before), served(after)])
        .collect();
    let is_apart = all.iter().all(|sides| *sides != [true, true]);
    is_apart && all.contains(&[true, false]) && all.contains(&[false, true])
}

/// The moment in seconds since 1970, where it parts the log in two.
fn check(cut: &Cut, label: &str, [before, after]: &[Read; 2], undated: u64) -> Result<i64, CliError> {
    let mut all = before.aggregate.span;
    if let Some((from, to)) = after.aggregate.span {
        all = Some(all.map_or((from, to), |all| (all.0.min(from), all.1.max(to))));
    }
    let zones = zones(before, after);
    let Some((first, last)) = all else {
        let what = match undated {
            0 => "no request was read",
            _ => "its lines tell no time, so that there is no before and after",
        };
        return Err(cut.wrong(label, what));
    };
    let shown = |seconds, zone: Option<&i8>| Shown(At { seconds, zone: zone.copied().unwrap_or(0) });
    match (before.aggregate.span, after.aggregate.span) {
        (Some((_, end)), Some((start, _))) if end >= start => {
            let names: Vec<String> = zones.iter().map(|zone| zone_name(*zone)).collect();
            let what = format!(
                "its clock showed that time more than once, in the zones {}: give the time with a zone",
                names.join(" and ")
            );
            Err(cut.wrong(label, &what))
        }
        (Some((_, end)), Some(_)) => {
            // Of a log that changed its clock between, the zone that it had then.
            let zone = zones.iter().min_by_key(|zone| (cut.moment.utc(**zone) - end).abs());
            Ok(cut.moment.utc(zone.copied().unwrap_or(0)))
        }
        _ => {
            let (from, to) = (shown(first, zones.first()), shown(last, zones.last()));
            let side = if before.aggregate.span.is_none() { "before" } else { "after" };
            let what = format!("nothing was served {side} it: the log goes from {from} to {to}");
            Err(cut.wrong(label, &what).hint("a time without a zone is taken in the log's own"))
        }
    }
}

/// The zones of the log's clock in the order of time.
fn zones(before: &Read, after: &Read) -> Vec<i8> {
    let lines = [before, after].into_iter().filter_map(|side| side.timeline.as_ref());
    let mut all: Vec<i8> = lines.flat_map(Timeline::sorted).map(|(at, _)| at.zone).collect();
    all.dedup();
    all
}

fn zone_name(zone: i8) -> String {
    let shown = Shown(At { seconds: 0, zone }).to_string();
    shown.rsplit(' ').next().unwrap_or_default().to_owned()
}

/// `side` with what was read of it.
fn half(label: &str, read: &Read, side: CutSide) -> Half {
    let (first, last) = read.aggregate.span.unwrap_or_default();
    let timeline = read.timeline.as_ref();
    let bucket = |(at, bucket): (At, &logs::aggregate::timeline::Bucket)| Bucket {
        at: at.seconds,
        local: at.local(),
        cells: bucket.strata.parted(&bucket.failed).into_iter().map(cell).collect(),
    };
    let step = timeline.and_then(Timeline::step).unwrap_or(1);
    let buckets = timeline.map(|all| all.sorted().into_iter().map(bucket).collect()).unwrap_or_default();
    (group(label, &read.aggregate), CutSide { first, last, step, buckets, ..side })
}

fn cell((class, sums): (u32, Sums)) -> (u32, Cell) {
    let seconds = sums.time_ns as f64 / 1e9;
    (class, Cell { requests: sums.requests, bytes: sums.bytes as f64, seconds })
}

impl Parted {
    /// Each label's after beside its before.
    pub fn judge(&self, margin: Margin) -> Judgement {
        fn side((group, cut): &Half) -> Side<'_> {
            Side { group, cut }
        }
        let pairs: Vec<_> = self.pairs.iter().map(|(before, after)| (side(before), side(after))).collect();
        verdict::traffic::cut::judge(&pairs, margin, verdict::traffic::SEED)
    }

    /// The moment as it was given.
    pub fn given(&self) -> &str {
        &self.doc.at
    }

    /// Names of the two sides of a label.
    pub fn names(&self, label: &str) -> Option<[&str; 2]> {
        let of = self.pairs.iter().find(|((_, before), _)| before.of == label);
        of.map(|((before, _), (after, _))| [before.label.as_str(), after.label.as_str()])
    }

    /// Names and cuts of the two sides of each label, the later one first.
    pub fn sides(&self) -> impl Iterator<Item = ([&str; 2], [&CutSide; 2])> {
        self.pairs.iter().map(|((before, earlier), (after, later))| {
            ([after.label.as_str(), before.label.as_str()], [later, earlier])
        })
    }

    /// The side that a label is.
    pub fn side(&self, label: &str) -> Option<&CutSide> {
        let all = self.pairs.iter().flat_map(|(before, after)| [before, after]);
        all.into_iter().find(|(group, _)| group.label == label).map(|(_, cut)| cut)
    }

    /// Adds the cut to the document, and removes rows of labels of which no request is left.
    pub fn finish(self, document: &mut LogsDoc) {
        let is_side =
            |label: &str| self.doc.sides.iter().any(|sides| sides.before == label || sides.after == label);
        document.labels.retain(|one| is_side(&one.label) || one.parsed > 0);
        document.cut = Some(self.doc);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::Arc;

    use logs::format::Format;
    use logs::read::tally::Wants;
    use logs::read::{Input, Options, Watch};

    use super::*;

    /// Requests at these times of 10 October 2000, and one line that is none.
    fn read(cut: &str, times: &[&str]) -> Result<(Labels, Parted), CliError> {
        let line = |at: &&str| format!("10.0.0.1 - - [10/Oct/2000:{at}] \"GET /a HTTP/1.1\" 200 1000 20\n");
        let text = times.iter().map(line).collect::<String>() + "bad\n";
        let cut = Cut::parse(cut)?;
        let format = Arc::new(Format::parse("common+D").unwrap());
        let input = Input::stream("log", "x.log", Box::new(Cursor::new(text)), format);
        let wants = Wants { cut: Some(cut.moment), timeline: true };
        let read = logs::read::read(vec![input], &Options { wants, ..Options::default() }, &Watch::default());
        let mut labels = read.labels;
        let mut order = vec!["log".to_owned()];
        let parted = part(&cut, &mut labels, &mut order, &read.besides)?;
        assert_eq!(order, ["before", "after", "log"]);
        Ok((labels, parted))
    }

    #[test]
    fn before_and_after_are_all_that_was_served() {
        let (labels, parted) =
            read("2000-10-10 14:00", &["13:00:00 +0200", "13:59:59 +0200", "14:00:00 +0200"]).unwrap();
        let requests = |label: &str| labels.labels[label].totals().requests;
        assert_eq!((requests("before"), requests("after"), requests("log")), (2, 1, 0));
        assert_eq!(labels.labels["log"].skipped(), 1);
        assert_eq!(parted.doc.sides[0].at, 971_179_200);
        assert_eq!((parted.doc.sides[0].before.as_str(), parted.doc.undated), ("before", 0));
        assert_eq!(parted.names("log"), Some(["before", "after"]));
        let after = parted.side("after").unwrap();
        assert_eq!(
            (after.of.as_str(), after.at, after.is_after, after.buckets.len()),
            ("log", 971_179_200, true, 1)
        );
        assert!(parted.side("log").is_none() && parted.names("after").is_none());
    }

    #[test]
    fn a_time_outside_the_log_is_refused_with_its_span() {
        for (cut, word) in [("2000-10-10 12:00", "before"), ("2000-10-10 15:00", "after")] {
            let error = read(cut, &["13:00:00 +0200", "14:00:00 +0200"]).err().unwrap();
            assert!(error.message.contains(&format!("nothing was served {word} it")), "{error}");
            let span = "from 2000-10-10 13:00:00 +0200 to 2000-10-10 14:00:00 +0200";
            assert!(error.message.contains(span), "{error}");
        }
        assert!(read("2000-10-10 12:00", &[]).err().unwrap().message.contains("no request was read"));
        assert!(read("noon", &[]).err().unwrap().message.contains("--cut: \"noon\" is no time"));
    }

    #[test]
    fn labels_on_each_side_of_the_cut_are_to_be_left_out() {
        let hint = |times: [&str; 2]| {
            let line =
                |at: &str| format!("10.0.0.1 - - [10/Oct/2000:{at}] \"GET /a HTTP/1.1\" 200 1000 20\n");
            let format = Arc::new(Format::parse("common+D").unwrap());
            let input = |(label, at): (&str, &str)| {
                Input::stream(label, label, Box::new(Cursor::new(line(at))), format.clone())
            };
            let cut = Cut::parse("2000-10-10 12:00").unwrap();
            let wants = Wants { cut: Some(cut.moment), timeline: true };
            let inputs = ["mon", "tue"].into_iter().zip(times).map(input).collect();
            let read = logs::read::read(inputs, &Options { wants, ..Options::default() }, &Watch::default());
            let mut labels = read.labels;
            let error = part(&cut, &mut labels, &mut Vec::new(), &read.besides).err().unwrap();
            error.hint.unwrap_or_default()
        };
        let leave = "leave the labels out: --cut makes before and after of all lines";
        assert_eq!(hint(["11:00:00 +0000", "13:00:00 +0000"]), leave);
        assert!(hint(["13:00:00 +0000", "14:00:00 +0000"]).contains("zone"));
    }

    #[test]
    fn a_time_that_comes_twice_needs_its_zone() {
        let times = ["02:10:00 +0200", "02:50:00 +0200", "02:10:00 +0100", "02:50:00 +0100"];
        let error = read("2000-10-10 02:30", &times).err().unwrap();
        assert!(error.message.contains("+0200 and +0100: give the time with a zone"), "{error}");
        let (labels, parted) = read("2000-10-10 02:30 +0100", &times).unwrap();
        assert_eq!((labels.labels["before"].parsed, labels.labels["after"].parsed), (3, 1));
        assert_eq!(parted.doc.sides[0].at, 971_141_400);
    }
}
