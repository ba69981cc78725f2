//! However lines are cut among mappers, and parts merged: what comes out are the bytes of one reader of everything.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::aggregate::Settings;
use crate::aggregate::filter::Filter;
use crate::aggregate::keys::Key as By;
use crate::format::Format;
use crate::read::tally::Wants;
use crate::read::{self, Input, Options, Outcome, Watch};
use crate::scan::moment::Moment;

const CUT: &str = "2000-10-10 13:02:30";

/// A file of a label, with a format.
struct Log {
    label: &'static str,
    name: &'static str,
    format: &'static str,
    text: Vec<u8>,
}

fn log(label: &'static str, name: &'static str, lines: u64, format: &'static str) -> Log {
    let one = |n: u64| {
        let (minute, second, path) = (n / 60 % 60, n % 60, n * n % 23);
        let status = if n % 11 == 3 { 500 + n % 3 } else { 200 + n % 2 };
        match n % 13 {
            5 => format!("bad {n}\n"),
            6 => "\n".to_owned(),
            _ => format!(
                "10.0.{}.1 - - [10/Oct/2000:13:{minute:02}:{second:02} -0700] \"GET /{path}/x HTTP/1.1\" {status} {n} {}\n",
                n % 7,
                n * 37 % 9000
            ),
        }
    };
    Log { label, name, format, text: (0..lines).map(one).collect::<String>().into_bytes() }
}

fn options(made: &Made) -> Options {
    let settings = Settings {
        group_by: made.by.iter().map(|key| By::parse(key).unwrap()).collect(),
        filters: made.conditions.iter().map(|text| Filter::parse(text).unwrap()).collect(),
        mix: made.mix,
        folders: !made.one_label,
    };
    let cut = made.cut.as_deref().map(|text| Moment::parse(text).unwrap());
    Options { settings, wants: Wants { cut, timeline: cut.is_some() }, ..Options::default() }
}

fn read_at(log: &Log, text: &[u8], start: u64, made: &Made) -> Outcome {
    let format = Arc::new(Format::parse(log.format).unwrap());
    let stream = Box::new(Cursor::new(text.to_vec()));
    let part = Some(start..u64::MAX);
    let input = Input { part, ..Input::stream(log.label, log.name, stream, format) };
    read::read(vec![input], &options(made), &Watch::default())
}

/// What a mapper makes of the lines from `start` on.
fn mapped(log: &Log, text: &[u8], start: u64, made: &Made) -> Vec<String> {
    let format = Format::parse(log.format).unwrap();
    let mut outcome = read_at(log, text, start, made);
    let mut whole = outcome.labels.labels.remove(log.label).unwrap();
    let besides = outcome.besides.remove(log.label).unwrap();
    let mut side = Side { aggregate: std::mem::take(&mut whole), timeline: besides.timeline };
    let read = Read {
        name: log.name.to_owned(),
        format: format.text.clone(),
        how: "given".to_owned(),
        unit_ns: format.unit_ns(),
        step_ns: format.step_ns,
        over: (0, 0),
        place: Some((start, outcome.files[0].end)),
        lines: outcome.files[0].lines,
        skips: take_skips(&mut side),
    };
    let mut parts = vec![(Of::Whole, Part { made: made.clone(), place: 0, files: Files::one(read), side })];
    for (of, side) in [Of::Before, Of::After].into_iter().zip(besides.sides.into_iter().flat_map(|two| *two))
    {
        parts.push((of, Part { made: made.clone(), side, ..Part::default() }));
    }
    parts.into_iter().map(|(of, part)| line::write(&Key::new(log.label, of), &part).unwrap()).collect()
}

fn reduced<'l>(lines: impl IntoIterator<Item = &'l String>) -> Vec<String> {
    let mut parts = Parts::default();
    lines.into_iter().for_each(|line| parts.add_line(line.as_bytes()).unwrap());
    parts.lines().unwrap().collect()
}

/// The bytes of labels and of what is beside them.
fn bytes(
    labels: &BTreeMap<String, crate::aggregate::Aggregate>,
    besides: &BTreeMap<String, read::Besides>,
) -> Vec<u8> {
    let mut all = postcard::to_stdvec(labels).unwrap();
    for (label, beside) in besides {
        all.extend(postcard::to_stdvec(&(label, &beside.timeline, &beside.sides)).unwrap());
    }
    all
}

/// What one reader makes of everything.
fn local(logs: &[Log], made: &Made) -> Vec<u8> {
    let input = |log: &Log| {
        let format = Arc::new(Format::parse(log.format).unwrap());
        Input::stream(log.label, log.name, Box::new(Cursor::new(log.text.clone())), format)
    };
    let outcome = read::read(logs.iter().map(input).collect(), &options(made), &Watch::default());
    bytes(&outcome.labels.labels, &outcome.besides)
}

fn made(kind: usize) -> Made {
    let by = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
    match kind {
        0 => Made::default(),
        1 => Made { by: by(&["prefix", "status"]), mix: true, ..Made::default() },
        2 => Made { cut: Some(CUT.to_owned()), by: by(&["day"]), ..Made::default() },
        3 => Made { conditions: by(&["status<500", "time>1ms"]), ..Made::default() },
        _ => Made { one_label: true, ..Made::default() },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn any_cuts_and_any_order_give_the_bytes_of_one_reader(
        kind in 0usize..4,
        lines in 1u64..900,
        cuts in proptest::collection::vec(0.0f64..1.0, 0..7),
        seed in any::<u64>(),
        stages in 1usize..4,
    ) {
        let logs = [log("b", "x.log", lines, "common+D"), log("b", "y.log", 40, "common+D"), log("a b", "z.log", 77, "common+D")];
        let made = made(kind);
        let mut all: Vec<String> = Vec::new();
        for log in &logs {
            // Behind line breaks, as those cut who know where lines end.
            let ends: Vec<usize> = memchr::memchr_iter(b'\n', &log.text).map(|at| at + 1).collect();
            let end = |cut: &f64| ends[(*cut * (ends.len() - 1) as f64) as usize];
            let mut places: Vec<usize> = cuts.iter().map(end).chain([0, log.text.len()]).collect();
            places.sort_unstable();
            for pair in places.windows(2) {
                all.extend(mapped(log, &log.text[pair[0]..pair[1]], pair[0] as u64, &made));
            }
        }
        for stage in 0..stages as u64 {
            let order = |line: &String| crate::hash::mix(seed ^ stage, crate::hash::name(line.as_bytes()));
            all.sort_by_key(order);
            // Some of them by one reducer, the others by another.
            let (left, right) = all.split_at((seed % (all.len() as u64 + 1)) as usize);
            all = [reduced(left), reduced(right)].concat();
        }
        let mut parts = Parts::default();
        all.iter().for_each(|line| parts.add_line(line.as_bytes()).unwrap());
        let whole = parts.whole().unwrap();
        prop_assert_eq!(&whole.order, &["a b", "b"]);
        prop_assert!(bytes(&whole.labels, &whole.besides) == local(&logs, &made));
        prop_assert_eq!(whole.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["z.log", "x.log", "y.log"]);
    }
}

#[test]
fn parts_by_one_reducer_or_many_are_the_same_lines() {
    let log = log("web", "x.log", 300, "common+D");
    let half = memchr::memrchr(b'\n', &log.text[..9000]).unwrap() + 1;
    let one = mapped(&log, &log.text[..half], 0, &made(2));
    let other = mapped(&log, &log.text[half..], half as u64, &made(2));
    let whole = mapped(&log, &log.text, 0, &made(2));
    assert_eq!(reduced(one.iter().chain(&other)), reduced(&whole));
    assert_eq!(reduced(other.iter().chain(&one)), reduced(&whole));
    let keys = |lines: &[String]| {
        lines.iter().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(keys(&reduced(&whole)), ["web/whole", "web/before", "web/after"]);
}

#[test]
fn what_is_missing_or_twice_or_unlike_is_refused() {
    let log_of = |format| log("web", "x.log", 300, format);
    let log = log_of("common+D");
    let half = memchr::memrchr(b'\n', &log.text[..9000]).unwrap() + 1;
    let of = |part: std::ops::Range<usize>, kind| {
        mapped(&log, &log.text[part.clone()], part.start as u64, &made(kind))
    };
    let end = log.text.len();
    let error = |lines: &[Vec<String>]| {
        let mut parts = Parts::default();
        let added = lines.concat().iter().try_for_each(|line| parts.add_line(line.as_bytes()));
        added.and_then(|()| parts.whole()).map(|_| ()).unwrap_err().to_string()
    };
    assert!(error(&[of(0..end, 0), of(0..half, 0)]).contains("x.log: the bytes from 0 to "));
    let third = memchr::memrchr(b'\n', &log.text[..4000]).unwrap() + 1;
    assert!(
        error(&[of(0..third, 0), of(half..end, 0)])
            .contains("are missing: the part of the mapper that read them is not there")
    );
    assert!(error(&[of(0..half, 0), of(half..end, 1)]).contains("made with other settings"));
    assert!(error(&[of(0..half, 4), of(half..end, 0)]).contains("conditions: none; for one label)"));
    let other = Log { label: "cart", ..log_of("common+D") };
    let both = error(&[of(0..end, 4), mapped(&other, &other.text, 0, &made(4))]);
    assert!(both.starts_with("made for one label (--one-label), and there are cart, web: map"), "{both}");
    let [cut, cuts] = [of(0..half, 2), of(half..end, 2)];
    assert!(error(&[cut[1..].to_vec(), cuts[1..].to_vec()]).contains("web/whole is missing"));
    assert!(error(&[cut[..2].to_vec(), cuts[..2].to_vec()]).contains("web/after is missing"));
    // A mapper of which a side was lost, and one of which it is there twice.
    assert!(error(&[cut.clone(), cuts[..2].to_vec()]).contains("lines were read and"));
    assert!(error(&[cut, cuts.clone(), cuts[1..2].to_vec()]).contains("lines were read and"));
    let other = log_of("common");
    let second = mapped(&other, &other.text[half..], half as u64, &made(0));
    assert!(error(&[of(0..half, 0), second]).starts_with("x.log was read as common and as common+D"));
}
