//! Files of every kind, whole and damaged; any pieces and threads give the same.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;

use super::tally::Wants;
use super::*;
use crate::format::Format;

const START: &str = r#"10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200"#;

fn format() -> Arc<Format> {
    Arc::new(Format::parse("common+D").unwrap())
}

/// So many lines, of which each seventh is skipped.
fn text(lines: u64) -> Vec<u8> {
    let one = |n| if n % 7 == 5 { format!("bad {n}\n") } else { format!("{START} {} {}\n", n * 10, n + 1) };
    (0..lines).map(one).collect::<String>().into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn written(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn options(threads: usize, piece: u64) -> Options {
    Options { threads, piece: Some(piece), ..Options::default() }
}

fn read_files(paths: &[PathBuf], options: &Options) -> Outcome {
    let inputs = paths.iter().map(|path| Input::file("a", path.clone(), format())).collect();
    read(inputs, options, &Watch::default())
}

fn stored(outcome: &Outcome) -> Vec<u8> {
    outcome.labels.to_bytes().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn pieces_and_threads_do_not_matter(
        lines in 0u64..120,
        piece in 1u64..3000,
        threads in 1usize..4,
        cut in 0usize..60,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut text = text(lines);
        text.truncate(text.len().saturating_sub(cut));
        let paths = [written(folder.path(), "x.log", &text), written(folder.path(), "y.log", b"\n\nz")];
        let whole = read_files(&paths, &options(1, 1 << 30));
        let pieces = read_files(&paths, &options(threads, piece));
        prop_assert_eq!(&whole.files, &pieces.files);
        prop_assert!(stored(&whole) == stored(&pieces));
        let file = &whole.files[0];
        prop_assert_eq!(file.lines, memchr::memchr_iter(b'\n', &text).count() as u64
            + u64::from(!text.is_empty() && !text.ends_with(b"\n")));
        prop_assert_eq!(file.parsed + file.skipped, file.lines);
        prop_assert_eq!(&whole.first_skipped, &pieces.first_skipped);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn lines_read_together_add_up_as_each_by_itself(
        lines in proptest::collection::vec((0u8..12, any::<u32>(), 0u32..10_000_000), 1..900),
        every in 1u64..300,
        some in 1usize..200_000,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut text = String::new();
        for (number, (kind, n, time)) in (0u64..).zip(lines) {
            let second = number / every;
            let request = match kind {
                0 => format!("POST /p/{n}?q HTTP/1.1"),
                1 => "-".to_owned(),
                2 => "DELETE /x HTTP/2".to_owned(),
                3 => format!("HEAD /a?{n} HTTP/1.0"),
                7 => format!("GET /{0}{0}{0}{0}{0}{0}{0}.gif HTTP/1.1", n),
                8 => format!("GET / HTTP/{}.1", n % 3),
                _ => format!("GET /content/{}/item-{}.html HTTP/1.1", n % 7, n % 1000),
            };
            let size = if kind == 4 { u64::from(n) << 12 } else { u64::from(n >> (n % 32)) };
            let time = match kind {
                5 => String::new(),
                6 => format!(" {}", time % 3),
                _ => format!(" {time}"),
            };
            let (hour, second, status) = (second / 60 % 24, second % 60, 200 + n % 4 * 100);
            text += &format!("10.{}.{}.1 - - [10/Oct/2000:{hour:02}:55:{second:02} -0700] ", n % 100, n % 211);
            text += &format!("\"{request}\" {status} {size} \"-\" \"x y\"{time}\n");
        }
        let path = written(folder.path(), "x.log", text.as_bytes());
        let of = |timeline: bool, piece: u64| {
            let format = Arc::new(Format::parse("combined+D").unwrap());
            let wants = Wants { timeline, ..Wants::default() };
            let inputs = vec![Input::file("a", path.clone(), format)];
            stored(&read(inputs, &Options { wants, ..options(1, piece) }, &Watch::default()))
        };
        // With a timeline each line is given by itself.
        let alone = of(true, 1 << 30);
        prop_assert!(of(false, 1 << 30) == alone);
        prop_assert!(of(false, 40_000) == alone);
        let format = Arc::new(Format::parse("combined+D").unwrap());
        let outcome = read_keyed(&keyed(text.as_bytes(), 0), some, &path.display().to_string(), format);
        prop_assert!(stored(&outcome) == alone);
        prop_assert_eq!((outcome.files[0].start, outcome.files[0].end), (0, text.len() as u64));
    }
}

/// The lines with their offsets in front of them, from this one on.
fn keyed(text: &[u8], start: u64) -> Vec<u8> {
    let mut at = start;
    let line = |line: &[u8]| {
        let keyed = [format!("{at}\t").as_bytes(), line].concat();
        at += line.len() as u64;
        keyed
    };
    text.split_inclusive(|byte| *byte == b'\n').flat_map(line).collect()
}

/// Gives so many bytes at a time at most.
struct AtMost(Cursor<Vec<u8>>, usize);

impl std::io::Read for AtMost {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let most = room.len().min(self.1);
        self.0.read(&mut room[..most])
    }
}

fn read_keyed(text: &[u8], some: usize, name: &str, format: Arc<Format>) -> Outcome {
    let stream = Box::new(AtMost(Cursor::new(text.to_vec()), some));
    let source = Source::Keyed(stream);
    let input = Input { label: "a".into(), name: name.to_owned(), source, format, part: None };
    read(vec![input], &options(1, 1 << 30), &Watch::default())
}

#[test]
fn keyed_lines_have_their_place_however_long_they_are() {
    const LONGEST: usize = crate::scan::lines::LONGEST;
    for length in [LONGEST - 12, LONGEST - 1, LONGEST, LONGEST + 1, LONGEST + 30, 3 * LONGEST] {
        let text = [&text(9)[..], &vec![b'y'; length], b"\n\n", &text(40)].concat();
        let plain = Input::stream("a", "x", Box::new(Cursor::new(text.clone())), format());
        let plain = read(vec![plain], &options(1, 1 << 30), &Watch::default());
        for some in [7_001, 128 << 10, usize::MAX] {
            let outcome = read_keyed(&keyed(&text, 0), some, "x", format());
            assert!(outcome.faults.is_empty() && stored(&outcome) == stored(&plain), "{length} {some}");
            for start in [95, 99_999_000, (1 << 60) + 5] {
                let outcome = read_keyed(&keyed(&text, start), some, "x", format());
                let file = &outcome.files[0];
                assert_eq!((file.start, file.end), (start, start + text.len() as u64), "{length} {some}");
                assert_eq!(file.lines, plain.files[0].lines);
            }
        }
    }
    let torn = [&keyed(&text(30), 0)[..], b"9\tx\n"].concat();
    let faults = read_keyed(&torn, 1 << 16, "x", format()).faults;
    assert!(
        faults[0].what.contains("line 31: its offset is 9, and the lines before it end at "),
        "{faults:?}"
    );
}

/// A key without a line is none, and an empty line is one.
#[test]
fn keyed_lines_end_with_their_stream() {
    let of = |text: &str| {
        let outcome = read_source(Source::Keyed(Box::new(Cursor::new(text.to_owned()))));
        assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
        (outcome.files[0].lines, outcome.files[0].end)
    };
    assert_eq!(of("0\tab\n3\tcd\n"), (2, 6));
    assert_eq!(of("0\tab\n3\tcd"), (2, 5));
    assert_eq!(of("0\tab\n3\t"), (1, 3));
    assert_eq!(of("0\tab\n3\t\n"), (2, 4));
    assert_eq!(of(""), (0, 0));
}

/// Ends with an error.
struct Torn(Cursor<Vec<u8>>);

impl std::io::Read for Torn {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(room)? {
            0 => Err(std::io::Error::other("the disk is gone")),
            count => Ok(count),
        }
    }
}

#[test]
fn a_stream_that_fails_within_a_key_is_told_as_such() {
    let stream = Box::new(Torn(Cursor::new(b"0\tab\n3".to_vec())));
    let faults = read_source(Source::Keyed(stream)).faults;
    assert!(faults[0].what.contains("the disk is gone"), "{faults:?}");
}

fn read_source(source: Source) -> Outcome {
    let input = Input { label: "a".into(), name: "x".into(), source, format: format(), part: None };
    read(vec![input], &options(1, 1 << 30), &Watch::default())
}

#[test]
fn packed_files_and_streams_are_read_as_plain_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (text(500), text(300));
    let both = [one.clone(), two.clone()].concat();
    let plain = stored(&read_files(&[written(folder.path(), "x", &both)], &options(1, 1 << 20)));
    let members = [gzip(&one), gzip(&two)].concat();
    let frames = [zstd::encode_all(&one[..], 3).unwrap(), zstd::encode_all(&two[..], 1).unwrap()].concat();
    for packed in [members, frames, both] {
        // The samples name the file, so it has the same name each time.
        let path = written(folder.path(), "x", &packed);
        let watch = Watch::default();
        let outcome = read(vec![Input::file("a", path.clone(), format())], &Options::default(), &watch);
        assert_eq!(outcome.faults, []);
        assert!(stored(&outcome) == plain);
        assert_eq!(watch.bytes(), packed.len() as u64);
        let name = path.display().to_string();
        let stream = Input::stream("a", &name, Box::new(Cursor::new(packed)), format());
        assert!(stored(&read(vec![stream], &Options::default(), &Watch::default())) == plain);
    }
}

#[test]
fn what_cannot_be_read_is_a_fault_and_the_rest_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let packed = gzip(&text(5000));
    let mut damaged = zstd::encode_all(&text(5000)[..], 3).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 40].fill(0xff);
    let paths = [
        written(folder.path(), "good", &text(10)),
        folder.path().to_owned(),
        folder.path().join("missing"),
        written(folder.path(), "cut.gz", &packed[..packed.len() / 2]),
        written(folder.path(), "damaged.zst", &damaged),
        written(folder.path(), "empty", b""),
        written(folder.path(), "trailing.gz", &[gzip(&text(3)), b"garbage".to_vec()].concat()),
    ];
    let outcome = read_files(&paths, &options(2, 1 << 20));
    let faults: Vec<String> = outcome
        .faults
        .iter()
        .map(|fault| format!("{}: {}", fault.file.rsplit('/').next().unwrap_or(""), fault.what))
        .collect();
    let has =
        |file: &str, word: &str| faults.iter().any(|fault| fault.starts_with(file) && fault.contains(word));
    assert!(
        has("missing", "no such file") && has("cut.gz", "cut off") && has("damaged.zst", "damaged"),
        "{faults:?}"
    );
    assert!(
        faults.iter().any(|fault| fault.contains("a directory")) && has("trailing.gz", "gzip"),
        "{faults:?}"
    );
    assert_eq!(faults.len(), 5);
    let lines: Vec<u64> = outcome.files.iter().map(|file| file.lines).collect();
    assert_eq!((lines[0], lines[1], lines[2], lines[5], lines[6]), (10, 0, 0, 0, 3));
    assert!(lines[3] > 100 && lines[3] < 5000, "{lines:?}");
    let all = &outcome.labels.labels["a"];
    assert_eq!(all.lines, lines.iter().sum::<u64>());
    assert_eq!(all.parsed + all.skipped(), all.lines);
}

#[test]
fn a_line_of_100_mb_is_one_skipped_line() {
    let folder = tempfile::tempdir().unwrap();
    let long = [text(2), vec![b'x'; 100 << 20], b"\n".to_vec(), text(2)].concat();
    let outcome = read_files(&[written(folder.path(), "long", &long)], &options(2, 16 << 20));
    let all = &outcome.labels.labels["a"];
    assert_eq!((all.lines, all.parsed, all.skips.count(Skip::TooLong)), (5, 4, 1));
    let (_, _, samples) = all.skips.kinds().next().unwrap();
    assert_eq!((samples[0].line, samples[0].text.len()), (3, 0));
}

#[test]
fn strict_reading_ends_at_the_first_bad_line() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [written(folder.path(), "b", &text(4)), written(folder.path(), "a", &text(200))];
    for (threads, piece) in [(1, 1 << 20), (3, 500)] {
        let strict = Options { strict: true, ..options(threads, piece) };
        let outcome = read_files(&paths, &strict);
        let (skip, sample) = outcome.first_skipped.clone().unwrap();
        assert_eq!((skip, sample.line, &sample.text[..]), (Skip::Shape, 6, &b"bad 5"[..]));
        assert!(sample.file.ends_with("/a"));
        assert!(outcome.files.iter().all(|file| file.parsed + file.skipped == file.lines));
        assert!(outcome.files[1].lines < 200);
    }
    let sound = written(folder.path(), "c", &text(5));
    assert_eq!(read_files(&[sound], &Options { strict: true, ..Options::default() }).first_skipped, None);
}

#[test]
fn a_stopped_reading_says_so() {
    let watch = Watch::default();
    watch.stop();
    let stream = Input::stream("a", "-", Box::new(Cursor::new(text(100))), format());
    let outcome = read(vec![stream], &Options::default(), &watch);
    assert!(outcome.stopped);
    assert_eq!(outcome.files[0].lines, 0);
}

#[test]
fn labels_are_apart() {
    let of = |label, lines| Input::stream(label, label, Box::new(Cursor::new(text(lines))), format());
    let outcome = read(vec![of("a", 10), of("b", 20), of("a", 5)], &Options::default(), &Watch::default());
    let lines: Vec<(&str, u64)> =
        outcome.labels.labels.iter().map(|(label, all)| (&**label, all.lines)).collect();
    assert_eq!(lines, [("a", 15), ("b", 20)]);
}

#[test]
fn the_head_is_looked_at_and_left() {
    let folder = tempfile::tempdir().unwrap();
    let text = text(3000);
    let sources = [
        Source::File(written(folder.path(), "x", &text)),
        Source::File(written(folder.path(), "x.gz", &gzip(&text))),
        Source::Stream(Box::new(Cursor::new(gzip(&text)))),
        Source::Stream(Box::new(Cursor::new(text.clone()))),
        Source::Keyed(Box::new(Cursor::new(keyed(&text, 17)))),
        Source::Keyed(Box::new(Cursor::new(keyed(&gzip(&text), 0)))),
    ];
    for source in sources {
        let head = head(source).unwrap();
        assert!(head.lines.len() == 1000 && head.lines[0].starts_with(b"10.0.0.1"));
        let input =
            Input { part: None, label: "a".into(), name: "x".into(), source: head.source, format: format() };
        assert_eq!(read(vec![input], &Options::default(), &Watch::default()).files[0].lines, 3000);
    }
    let one = head(Source::Stream(Box::new(Cursor::new("one")))).unwrap();
    assert_eq!(one.lines, [b"one"]);
    assert!(head(Source::File(folder.path().to_owned())).is_err());
}
