//! Logs that grow, are rotated, truncated and written anew; and logs that are cut in two at a moment.

use std::fs::OpenOptions;
use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;

use super::follow::{Follower, Grown, Lines, Target};
use super::rotate::{Event, Named, check};
use super::tally::Wants;
use super::*;
use crate::aggregate::Aggregate;
use crate::format::Format;
use crate::scan::moment::Moment;

fn format() -> Arc<Format> {
    Arc::new(Format::parse("common+D").unwrap())
}

/// Lines from one number to another, each a second after the one before; each seventh is none.
fn text(from: u64, to: u64) -> String {
    let one = |n: u64| {
        if n % 7 == 5 {
            return format!("bad {n}\n");
        }
        let (minute, second) = (n / 60 % 60, n % 60);
        format!(
            "10.0.0.1 - - [10/Oct/2000:13:{minute:02}:{second:02} -0700] \"GET /{n} HTTP/1.1\" 200 {n} 9\n"
        )
    };
    (from..to).map(one).collect()
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Polls, and gives the lines so far and what happened.
fn polled(named: &mut Named, tally: &mut Tally) -> (u64, Vec<Event>) {
    let settings = Settings::default();
    let step = named.poll(&mut Target { tally, settings: &settings, wants: Wants::default() }).unwrap();
    (tally.whole.aggregate.lines, step.events)
}

fn named(path: &Path) -> Named {
    Named::new("x.log", path.to_owned(), Some(format()))
}

fn bytes(of: &Aggregate) -> Vec<u8> {
    postcard::to_stdvec(of).unwrap()
}

/// The aggregate of the whole text, read at once.
fn whole(text: &str) -> Aggregate {
    let stream = Input::stream("a", "x.log", Box::new(Cursor::new(text.to_owned())), format());
    read(vec![stream], &Options::default(), &Watch::default()).labels.labels["a"].clone()
}

#[test]
fn a_growing_log_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    let all = text(0, 20);
    let mut file = std::fs::File::create(&path).unwrap();
    let mut follower = Follower::new("x.log", std::fs::File::open(&path).unwrap(), format());
    let (mut tally, settings) = (Tally::default(), Settings::default());
    let mut poll = |tally: &mut Tally| {
        follower.poll(&mut Target { tally, settings: &settings, wants: Wants::default() }).unwrap()
    };
    for part in all.as_bytes().chunks(333) {
        file.write_all(part).unwrap();
        assert_eq!(poll(&mut tally), Grown { bytes: part.len() as u64, truncated: false, more: false });
    }
    assert!(bytes(&tally.whole.aggregate) == bytes(&whole(&all)));
    file.set_len(0).unwrap();
    assert!(poll(&mut tally).truncated);
    std::fs::write(&path, text(0, 2)).unwrap();
    assert!(poll(&mut tally).bytes > 0);
    // Written anew, and longer than it was: only its bytes tell.
    std::fs::write(&path, text(30, 40)).unwrap();
    assert!(poll(&mut tally).truncated);
    assert_eq!(tally.whole.aggregate.lines, 32);
}

#[test]
fn a_name_is_followed_from_file_to_file() {
    let folder = tempfile::tempdir().unwrap();
    let (path, old) = (folder.path().join("x.log"), folder.path().join("x.log.1"));
    let (mut named, mut tally) = (named(&path), Tally::default());
    assert_eq!(polled(&mut named, &mut tally), (0, vec![]));
    append(&path, &text(0, 4));
    assert_eq!(polled(&mut named, &mut tally), (4, vec![Event::Appeared]));
    append(&path, &text(4, 6));
    std::fs::rename(&path, &old).unwrap();
    // Nothing has the name, and the server still writes to the old file.
    assert_eq!(polled(&mut named, &mut tally), (6, vec![Event::Gone]));
    append(&old, &text(6, 8));
    append(&path, &text(8, 9));
    assert_eq!(polled(&mut named, &mut tally), (7, vec![Event::Rotated]));
    append(&old, &format!("{}unended", text(9, 10)));
    assert_eq!(polled(&mut named, &mut tally), (10, vec![]));
    append(&path, &text(10, 11));
    // Once it is left, its last line counts.
    for _ in 0..42 {
        polled(&mut named, &mut tally);
    }
    assert_eq!(polled(&mut named, &mut tally), (12, vec![]));
    append(&path, "cut");
    polled(&mut named, &mut tally);
    let settings = Settings::default();
    let mut target = Target { tally: &mut tally, settings: &settings, wants: Wants::default() };
    assert_eq!(named.end(&mut target), Ok(3));
    let aggregate = &tally.whole.aggregate;
    assert_eq!((aggregate.lines, aggregate.parsed, aggregate.skipped()), (12, 10, 2));
}

#[test]
fn what_does_not_grow_by_lines_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let packed = folder.path().join("x.gz");
    std::fs::write(&packed, [0x1f, 0x8b, 8, 0]).unwrap();
    let (mut named, mut tally, settings) = (named(&packed), Tally::default(), Settings::default());
    let target = &mut Target { tally: &mut tally, settings: &settings, wants: Wants::default() };
    assert!(named.poll(target).unwrap_err().contains("gzip: a packed log does not grow"));
    assert!(check(&packed).unwrap_err().contains("without --follow"));
    assert!(check(folder.path()).unwrap_err().contains("directory"));
    assert!(check(&folder.path().join("later")).unwrap().is_none());
}

#[test]
fn a_format_is_told_from_whole_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    let (mut named, mut tally) = (Named::new("x.log", path.clone(), None), Tally::default());
    assert_eq!(named.wants_format(), Ok(None));
    append(&path, "10.0.0.1 - ");
    assert_eq!(named.wants_format(), Ok(None));
    append(&path, "x\nnext");
    assert_eq!(named.wants_format(), Ok(Some(vec![b"10.0.0.1 - x".to_vec()])));
    assert_eq!(polled(&mut named, &mut tally).0, 0);
    named.set_format(format());
    assert_eq!((polled(&mut named, &mut tally).0, named.wants_format()), (1, Ok(None)));
}

/// The requests of a timeline.
fn over_time(timeline: Option<&Timeline>) -> u64 {
    timeline.unwrap().sorted().iter().map(|(_, bucket)| bucket.strata.total().requests).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn before_and_after_are_all(
        lines in 0u64..600,
        at in 0u64..700,
        piece in 500u64..30_000,
        threads in 1usize..4,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.log");
        append(&path, &(text(0, lines) + "{}\n"));
        let cut = format!("2000-10-10 13:{:02}:{:02}", at / 60, at % 60);
        let wants = Wants { cut: Some(Moment::parse(&cut).unwrap()), timeline: true };
        let input = || vec![Input::file("a", path.clone(), format())];
        let options = Options { wants, threads, piece: Some(piece), ..Options::default() };
        let found = read(input(), &options, &Watch::default());
        let plain = read(input(), &Options::default(), &Watch::default());
        let [before, after] = &**found.besides["a"].sides.as_ref().unwrap();
        let good = |from: u64, to: u64| (from..to).filter(|n| n % 7 != 5).count() as u64;
        let at = at.min(lines);
        prop_assert_eq!(before.aggregate.totals().requests, good(0, at));
        prop_assert_eq!(after.aggregate.totals().requests, good(at, lines));
        prop_assert_eq!(over_time(before.timeline.as_ref()), good(0, at));
        prop_assert_eq!(over_time(after.timeline.as_ref()), good(at, lines));
        let mut all = found.labels.labels["a"].clone();
        prop_assert_eq!(all.totals().requests, 0);
        all.merge(&before.aggregate);
        all.merge(&after.aggregate);
        prop_assert!(bytes(&all) == bytes(&plain.labels.labels["a"]));
    }

    #[test]
    fn however_it_arrives_it_is_the_same(lines in 0u64..80, sizes in proptest::collection::vec(1usize..900, 1..9)) {
        let folder = tempfile::tempdir().unwrap();
        let (path, all) = (folder.path().join("x.log"), text(0, lines));
        let (mut named, mut tally, mut stream) = (named(&path), Tally::default(), Tally::default());
        let (settings, wants) = (Settings::default(), Wants::default());
        let mut fed = Lines::new("x.log", format());
        let (mut rest, mut sizes) = (all.as_str(), sizes.iter().cycle());
        while !rest.is_empty() {
            let (now, later) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
            append(&path, now);
            polled(&mut named, &mut tally);
            fed.feed(now.as_bytes(), &mut Target { tally: &mut stream, settings: &settings, wants });
            rest = later;
        }
        fed.finish(&mut Target { tally: &mut stream, settings: &settings, wants });
        let expected = bytes(&whole(&all));
        prop_assert!(bytes(&tally.whole.aggregate) == expected || all.is_empty());
        prop_assert!(bytes(&stream.whole.aggregate) == expected || all.is_empty());
    }
}
