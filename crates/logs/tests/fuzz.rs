//! Format strings, configurations, lines and stored aggregates with bytes changed, cut, repeated and planted: nothing
//! panics, what is read adds up, and how bytes come changes nothing.
//!
//! Seeded, so that a failure repeats. A third of a second; `BOXSCORE_FUZZ_SECONDS` sets another time.

use std::io::Cursor;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use logs::aggregate::file::Labels;
use logs::format::config::Config;
use logs::format::{Escape, Format, detect};
use logs::hash;
use logs::parts::{Files, Key, Of, Part, Parts, Read, take_skips};
use logs::read::tally::Side;
use logs::read::{Input, Options, Watch, read};
use logs::scan::Scanner;
use model::mutate::{Dice, mutate};

const FORMATS: [&str; 6] = [
    "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%!200,304{User-Agent}i\" %D %{ms}T %X",
    "[%{%d/%b/%Y:%T}t.%{msec_frac}t %{%z}t] %v:%p %U%q %B %k %^FB",
    "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent ${request_time} $upstream_response_time",
    "LogFormat \"%h \\\"%r\\\" %>s\" short\nCustomLog logs/a short\n",
    "log_format m escape=json '{\"a\":\"$status\"}'\n 'x';\naccess_log /a/access.log m buffer=1k;",
    "%h %D",
];
const LINES: [&str; 5] = [
    "10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a?b HTTP/1.1\" 200 23 \"-\" \"x \\\" y\" 1500\n",
    "www.e.org:80 ::1 - - [31/Dec/2023:23:59:60 +0545] \"\\x16\\x03\" 400 - \"-\" \"-\"\r\n",
    "10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 0 \"-\" \"x\" 0.001\n",
    "{\"ts\":971211336.1,\"request\":{\"uri\":\"/x\",\"h\":[\"a\"]},\"duration\":1.5e-05,\"size\":7,\"status\":404}\n",
    "2000-10-10 13:55:36.250 -0700 /p?q 200 1\n\n",
];
const PLANTS: [&[u8]; 14] = [
    b"%",
    b"%{",
    b"$",
    b"\"",
    b"\\",
    b"\n",
    b"\0",
    b"\xff",
    b" - ",
    b"-1",
    b"99999999999999999999",
    b"[",
    b"{\"a\":",
    b"%!",
];

/// One of the seeds, changed.
fn changed(seeds: &[&str], dice: &mut Dice) -> Vec<u8> {
    let seed = dice.pick(seeds).expect("there are seeds");
    mutate(seed.as_bytes(), &PLANTS, dice)
}

fn formats(dice: &mut Dice) {
    let text = changed(&FORMATS, dice);
    let text = String::from_utf8_lossy(&text);
    let line = changed(&LINES, dice);
    for made in [Format::apache(&text), Format::nginx(&text, Escape::None), Format::parse(&text)] {
        match made {
            Ok(format) => drop(Scanner::new(&format).read(&line)),
            Err(error) => assert!(error.column <= text.chars().count() + 1, "{text:?}: {error}"),
        }
    }
    let config = Config::read(&text);
    assert!(config.names().len() <= text.len());
    drop(config.format_of("access.log", None));
}

fn lines(dice: &mut Dice) {
    let mut text = Vec::new();
    for _ in 0..dice.below(6) {
        text.extend(changed(&LINES, dice));
    }
    let sample: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let name = ["combined+D", "vcombined", "nginx+time", "json", "%{%F %T}t.%{msec_frac}t %{%z}t %U%q %s %T"];
    let found = detect::detect(&sample).map(|found| found.format);
    let format =
        Arc::new(found.or_else(|_| Format::parse(name[dice.below(name.len())])).expect("a known format"));
    let of = |step: usize| {
        let from = Box::new(Slow { inner: Cursor::new(text.clone()), step });
        read(vec![Input::stream("a", "x", from, Arc::clone(&format))], &Options::default(), &Watch::default())
    };
    let (whole, pieces) = (of(usize::MAX), of(1 + dice.below(40)));
    assert_eq!(whole.faults, pieces.faults);
    assert!(whole.labels.to_bytes() == pieces.labels.to_bytes(), "{:?}", String::from_utf8_lossy(&text));
    let file = &whole.files[0];
    assert_eq!(file.parsed + file.skipped, file.lines);
    if whole.faults.is_empty() {
        let unended = usize::from(!text.is_empty() && !text.ends_with(b"\n"));
        assert_eq!(file.lines as usize, text.iter().filter(|byte| **byte == b'\n').count() + unended);
    }
    stored(&whole.labels, dice);
    parts(&whole.labels, (file.lines, file.end), dice);
}

/// The labels as lines of parts, changed as text and within.
fn parts(labels: &Labels, (lines, end): (u64, u64), dice: &mut Dice) {
    let mut all = Parts::default();
    for (label, aggregate) in &labels.labels {
        let mut side = Side { aggregate: aggregate.clone(), timeline: None };
        let skips = take_skips(&mut side);
        let read = Read {
            name: "x".to_owned(),
            format: "common".to_owned(),
            how: "given".to_owned(),
            unit_ns: Some(1000),
            step_ns: None,
            over: (0, 0),
            place: Some((0, end)),
            lines,
            skips,
        };
        let part = Part { files: Files::one(read), side, ..Part::default() };
        all.add(Key::new(label, Of::Whole), part).expect("it is the first of its key");
    }
    let sound: Vec<String> = all.lines().expect("it can be written").collect();
    let text = sound.iter().flat_map(|line| [line, "\n"]).collect::<String>();
    taken(&mutate(text.as_bytes(), &PLANTS, dice));
    let Some((head, body)) = sound.first().and_then(|line| line.rsplit_once(':')) else { return };
    let packed = STANDARD.decode(body).expect("it was encoded so");
    let inner = zstd::decode_all(&packed[..]).expect("it was packed so");
    let packed = zstd::bulk::compress(&mutate(&inner, &PLANTS, dice), 1).expect("it can be packed");
    // With a checksum that is right, so that what stands within is looked at.
    let key = head.split('\t').next().unwrap_or_default();
    let sum = hash::mix(hash::name(key.as_bytes()), hash::name(&packed));
    let head = head.rsplit_once(':').map_or(head, |(head, _)| head);
    taken(format!("{head}:{sum:016x}:{}\n", STANDARD.encode(&packed)).as_bytes());
}

/// Lines of anybody: refused with the number of the line, or they can be written again and put together.
fn taken(bytes: &[u8]) {
    let read = || {
        let mut parts = Parts::default();
        parts.read(Box::new(Cursor::new(bytes.to_vec()))).map(|lines| (parts, lines))
    };
    match read() {
        Ok((parts, lines)) => {
            let again: Vec<String> = parts.lines().expect("what was read can be written").collect();
            assert!(again.len() as u64 <= lines);
            drop(read().map(|(parts, _)| parts.whole()));
        }
        Err(error) => assert!(error.line > 0 && !error.what.is_empty()),
    }
}

fn stored(labels: &Labels, dice: &mut Dice) {
    let bytes = labels.to_bytes().expect("aggregates can be stored");
    let mut changed = mutate(&bytes, &PLANTS, dice);
    if dice.below(2) == 0 {
        // With a checksum that is right, so that what stands between is looked at.
        changed.truncate(changed.len().saturating_sub(8));
        let sum = hash::name(&changed);
        changed.extend(sum.to_le_bytes());
    }
    if let Ok(mut read) = Labels::from_bytes(&changed) {
        let again = read.clone();
        assert!(read.merge(&again).is_ok() && read.to_bytes().is_ok());
    }
}

/// Gives a few bytes at a time.
struct Slow {
    inner: Cursor<Vec<u8>>,
    step: usize,
}

impl std::io::Read for Slow {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let most = room.len().min(self.step);
        self.inner.read(&mut room[..most])
    }
}

#[test]
fn fuzz_formats_lines_and_stored_aggregates() {
    let seconds = std::env::var("BOXSCORE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs_f64(seconds.unwrap_or(1.0 / 3.0));
    let mut dice = Dice::new(20_261_122);
    let mut rounds = 0;
    // At least once, however loaded the machine is.
    while rounds < 20 || Instant::now() < end {
        formats(&mut dice);
        lines(&mut dice);
        rounds += 1;
    }
}
