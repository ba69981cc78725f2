//! The scanner on whole lines: what servers write, and what else is found in their logs.

use proptest::prelude::*;

use super::*;

const LINE: &str = r#"203.0.113.9 - frank [10/Oct/2000:13:55:36 -0700] "GET /a/b.gif?x=1 HTTP/1.1" 200 2326 "http://e.org/\"q\"" "Moz \\" 1500"#;

/// Of the layout and with the fields that most lines have.
const USUAL: &str = r#"203.0.113.9 - - [10/Oct/2000:13:55:36 -0700] "GET /a/b.gif?x=1 HTTP/1.1" 200 2326 "http://e.org/q" "Moz" 15000"#;

fn read<'l>(format: &Format, line: &'l [u8]) -> Result<Record<'l>, Skip> {
    // A second reading, with the time remembered, must say the same.
    let mut scanner = Scanner::new(format);
    let first = scanner.read(line);
    assert_eq!(scanner.read(line), first);
    first
}

fn combined() -> Format {
    Format::parse("combined+D").unwrap()
}

#[test]
fn every_field_of_a_line() {
    let format = combined();
    let record = read(&format, LINE.as_bytes()).unwrap();
    assert_eq!(record.client, Some(&b"203.0.113.9"[..]));
    assert_eq!((record.method, record.path), (Some(Method::Get), Some(&b"/a/b.gif"[..])));
    assert_eq!((record.query, record.protocol), (Some(&b"x=1"[..]), Some(&b"HTTP/1.1"[..])));
    assert_eq!((record.status, record.bytes, record.time_ns), (Some(200), Some(2326), Some(1_500_000)));
    assert_eq!(record.at, Some(At { seconds: 971_211_336, zone: -28 }));
    assert_eq!(record.referer, Some(&br#"http://e.org/\"q\""#[..]));
    assert_eq!(record.agent, Some(&br"Moz \\"[..]));
    assert!(!record.is_whole_thousands);
}

#[test]
fn odd_lines_that_are_sound() {
    let format = combined();
    let tell = |from: &str, to: &str| {
        let line = LINE.replacen(from, to, 1);
        assert_ne!(line, LINE, "{from}");
        let line = line.into_bytes();
        let record = read(&format, &line).map(|record| {
            (record.client.map(<[u8]>::to_vec), record.method, record.status, record.bytes, record.time_ns)
        });
        record.unwrap_or_else(|skip| panic!("{to}: {skip:?}"))
    };
    assert_eq!(tell("203.0.113.9", "2001:db8::1").0, Some(b"2001:db8::1".to_vec()));
    assert_eq!(tell(" 2326 ", " - ").3, Some(0));
    assert_eq!(tell(" 1500", " 0").4, Some(0));
    assert_eq!(tell(" 1500", " -").4, None);
    assert_eq!(tell(" 200 ", " - ").2, None);
    assert_eq!(tell("GET /a/b.gif?x=1 HTTP/1.1", r#"\x16\x03\x01\""#).1, None);
    assert_eq!(tell("GET /a", "GET /caf\u{e9}").1, Some(Method::Get));
    assert_eq!(tell(" 1500", " 1500\r").4, Some(1_500_000));
    assert_eq!(tell("- frank", "- fr an k").1, Some(Method::Get));
    let invalid: Vec<u8> = LINE.bytes().map(|byte| if byte == b'z' { 0xff } else { byte }).collect();
    assert!(read(&format, &invalid).is_ok());
}

#[test]
fn lines_that_are_skipped_have_the_right_reason() {
    let format = combined();
    let why = |from: &str, to: &str| {
        let line = LINE.replacen(from, to, 1);
        assert_ne!(line, LINE, "{from}");
        read(&format, line.as_bytes()).map(|_| ()).unwrap_err()
    };
    assert_eq!(why(" 2326", " 2326x"), Skip::Bytes);
    assert_eq!(why(" 2326", " -5"), Skip::Bytes);
    assert_eq!(why(" 200", " 2000"), Skip::Status);
    assert_eq!(why(" 1500", " -1500"), Skip::Duration);
    assert_eq!(why(" 1500", " 99999999999999999"), Skip::Duration);
    assert_eq!(why(" 1500", ""), Skip::Shape);
    assert_eq!(why(" 1500", " 1500 7"), Skip::Duration);
    assert_eq!(why("10/Oct", "32/Oct"), Skip::Clock);
    assert_eq!(why("10/Oct/2000", "10/Oct/0000"), Skip::Clock);
    assert_eq!(why("[10", "(10"), Skip::Shape);
    assert_eq!(why("203", "\0\x00203"), Skip::Nul);
    assert_eq!(why(" 200 ", " 2\x000 "), Skip::Nul);
    assert_eq!(why(LINE, ""), Skip::Empty);
    assert_eq!(why(LINE, " \t"), Skip::Empty);
    assert_eq!(why(LINE, "\0\0\0\0"), Skip::Nul);
    // Cut anywhere, it is skipped or is another sound line; never a panic.
    for cut in 0..LINE.len() - 4 {
        assert!(read(&format, &LINE.as_bytes()[..cut]).is_err(), "cut at {cut}");
    }
    for other in ["common", "combined", "vcombined+D", "nginx", "json"] {
        assert!(read(&Format::parse(other).unwrap(), LINE.as_bytes()).is_err(), "{other}");
    }
}

#[test]
fn formats_of_both_servers_and_their_parts() {
    let line = br#"[10/Oct/2000:13:55:36.250 -0700] host:80 12 "GET / HTTP/1.1" 3 ms"#;
    let format = Format::parse(r#"[%{%d/%b/%Y:%T}t.%{msec_frac}t %{%z}t] %v:%p %B "%r" %{ms}T ms"#).unwrap();
    let record = read(&format, line).unwrap();
    assert_eq!(record.at, Some(At { seconds: 971_211_336, zone: -28 }));
    assert_eq!((record.vhost, record.bytes, record.time_ns), (Some(&b"host"[..]), Some(12), Some(3_000_000)));
    let format =
        Format::parse("$msec $request_method $request_uri $upstream_response_time|$connection").unwrap();
    let record = read(&format, b"971211336.001 PUT /x?y 0.001, 0.002|7").unwrap();
    assert_eq!(
        (record.method, record.path, record.query),
        (Some(Method::Put), Some(&b"/x"[..]), Some(&b"y"[..]))
    );
    assert_eq!((record.time_ns, record.at.unwrap().seconds), (Some(3_000_000), 971_211_336));
    let format = Format::parse("$status $upstream_addr $upstream_response_time $body_bytes_sent").unwrap();
    let line = b"200 10.0.0.1:80, 10.0.0.2:80 : 10.0.0.3:80 0.010, - : 0.030 77";
    let record = read(&format, line).unwrap();
    assert_eq!((record.time_ns, record.bytes), (Some(40_000_000), Some(77)));
    let format = Format::apache("%m %U%q %k %X %s").unwrap();
    let record = read(&format, b"GET /p?q=1 3 + 304").unwrap();
    assert_eq!((record.path, record.reused, record.status), (Some(&b"/p"[..]), Some(true), Some(304)));
}

#[test]
fn the_remembered_time_is_not_taken_for_another() {
    let format = combined();
    let mut scanner = Scanner::new(&format);
    let mut seconds = |time: &str| {
        let line = LINE.replace("10/Oct/2000:13:55:36 -0700", time);
        scanner.read(line.as_bytes()).map(|record| record.at.unwrap().seconds)
    };
    assert_eq!(seconds("10/Oct/2000:13:55:36 -0700"), Ok(971_211_336));
    assert_eq!(seconds("10/Oct/2000:13:55:36 -0600"), Ok(971_207_736));
    assert_eq!(seconds("10/Oct/2000:13:55:99 -0600"), Err(Skip::Clock));
    assert_eq!(seconds("10/Oct/2000:13:55:37 -0600"), Ok(971_207_737));
    assert_eq!(seconds("10/Oct/2000:13:55:36 -0700"), Ok(971_211_336));
    // Two clocks in a line: what a skipped line told is forgotten.
    let format = Format::apache("%{%F}t %h %{%T}t %s").unwrap();
    let mut scanner = Scanner::new(&format);
    assert!(scanner.read(b"2000-10-10 h x").is_err());
    assert_eq!(scanner.read(b"2000-10-11 h 00:00:01 200").unwrap().at.unwrap().seconds, 971_222_401);
}

/// The same as nginx writes it, with seconds.
const SECONDS: &str = r#"203.0.113.9 - - [10/Oct/2000:13:55:36 -0700] "GET /a/b.gif?x=1 HTTP/1.1" 200 2326 "http://e.org/q" "Moz" 0.015"#;

/// What lines of the usual formats are made of, and what does not belong there.
const PIECES: [&str; 40] = [
    "10.0.0.1",
    "2001:db8::1",
    "203.0.113.197",
    " - ",
    "- ",
    " frank ",
    "fr \"an\" k",
    " ",
    "  ",
    "[",
    "] \"",
    "\" ",
    "\" \"",
    "\"",
    "\\",
    "\\\"",
    "[10/Oct/2000:13:55:36 -0700]",
    "[31/Feb/2000:13:55:36 -0700]",
    "GET /a/b.gif?x=1 HTTP/1.1",
    "POST / HTTP/2",
    "\\x16\\x03",
    "200",
    "-",
    "2326",
    "12345678",
    "999999999999999999999",
    "0",
    "0.125",
    "1000",
    ".5",
    "1.",
    "-5",
    "\n",
    "\r\n",
    "\0",
    "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/119.0",
    "rt=",
    "x",
    "\u{e9}",
    "|",
];

/// Formats that are read quickly, and some that are not.
const QUICK: [(&str, &str); 13] = [
    ("combined+D", LINE),
    ("combined+D", USUAL),
    ("nginx+time", SECONDS),
    (
        "combined",
        "10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a#b HTTP/1.0\" 200 12345678 \"-\" \"x y\"",
    ),
    ("combined", "10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 123456789 \"-\" \"x y\""),
    ("combined+D", "10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 1 \"-\" \"-\" 12345678"),
    ("common", "10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"POST / HTTP/1.0\" 304 0"),
    (
        "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent $request_time",
        "10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 5 12",
    ),
    ("common", "10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 304 -"),
    ("vcombined", "e.org:80 ::1 - - [10/Oct/2000:13:55:36 -0700] \"HEAD /x HTTP/1.1\" 404 77 \"-\" \"-\""),
    ("nginx+time", "10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.1\" 200 5 \"-\" \"x\" 0.125"),
    ("%D %h \"%s\"", "1500 ::1 \"200\""),
    ("%h \"%s %B %{%F}t %U%q %D", "::1 \"200 5 2000-10-10 /a?b 7"),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn lines_together_are_read_as_each_alone(
        which in 0..QUICK.len(),
        changes in proptest::collection::vec(
            proptest::collection::vec((any::<prop::sample::Index>(), 0usize..9, 0..PIECES.len()), 0..3),
            1..12,
        ),
        slack in prop_oneof![0usize..40, quick::WINDOW..quick::WINDOW + 40],
        ended in any::<bool>(),
    ) {
        let (name, line) = QUICK[which];
        let format = Format::parse(name).unwrap();
        let mut text = Vec::new();
        for changes in changes {
            let mut line = line.as_bytes().to_vec();
            for (at, cut, piece) in changes {
                let at = at.index(line.len() + 1);
                let end = (at + cut).min(line.len());
                line.splice(at..end, PIECES[piece].bytes());
            }
            text.extend(line);
            text.push(b'\n');
        }
        if !ended {
            text.pop();
        }
        let length = text.len();
        // What stands behind may look like more of the last line.
        text.extend(b"7 \"x\" 12345678901234567890 \n \"\"".iter().cycle().take(slack));
        let run = Run::with_more(&text, length);
        let (mut together, mut alone) = (Scanner::new(&format), Scanner::new(&format));
        let mut seen = Vec::new();
        let took = together.run(run, &mut |line, read| {
            seen.push(line);
            let expected = alone.read(line.bytes.unwrap()).map(|record| Record { offset: line.offset, ..record });
            assert_eq!(read.copied(), expected);
            ControlFlow::Continue(())
        });
        prop_assert_eq!(&seen, &run.lines());
        prop_assert_eq!(took, ControlFlow::Continue(seen.len() as u64));
    }
}

/// What lines tell, and how many were given together.
#[derive(Default)]
struct Kept {
    lines: Vec<String>,
    together: usize,
    /// The most at a time.
    most: usize,
}

fn shown(read: Result<&Record<'_>, Skip>) -> String {
    format!("{read:?}")
}

impl<'l> Taker<'l> for Kept {
    fn line(&mut self, _: Line<'l>, read: Result<&Record<'l>, Skip>) -> ControlFlow<()> {
        self.lines.push(shown(read));
        ControlFlow::Continue(())
    }

    fn takes_rows(&self) -> bool {
        true
    }

    fn rows(&mut self, rows: &Rows<'_>) {
        for line in 0..rows.count() {
            let record = rows.record(line);
            if let Some(LogRow { client, method, path, referer, agent, offset }) = rows.usual(line) {
                let told = (record.client, record.method, record.path, record.offset);
                assert_eq!(told, (Some(client), Some(method), Some(path), offset));
                assert_eq!((record.referer, record.agent), (referer, agent));
            }
            self.lines.push(shown(Ok(&record)));
        }
        self.together += rows.count();
        self.most = self.most.max(rows.count());
    }
}

/// Reads lines together where that can be and compares them with each by itself; how many were given together.
fn together(format: &Format, text: &[u8], slack: usize) -> usize {
    let mut more = text.to_vec();
    more.extend(b"7 \"x\" 12345678901234567890 \n \"\"".iter().cycle().take(slack));
    let run = Run::with_more(&more, text.len());
    let mut scanner = Scanner::new(format);
    let mut kept = Kept::default();
    let took = scanner.give(run, &mut kept);
    let mut alone = Scanner::new(format);
    let of = |line: Line<'_>| {
        let read = alone.read(line.bytes.unwrap()).map(|record| Record { offset: line.offset, ..record });
        shown(read.as_ref().map_err(|skip| *skip))
    };
    let expected: Vec<String> = run.lines().into_iter().map(of).collect();
    assert_eq!(kept.lines, expected);
    assert_eq!(took, ControlFlow::Continue(expected.len() as u64));
    kept.together
}

/// Reads lines with keys together where that can be.
fn read_keyed(format: &Format, keyed: &str) -> (Kept, Keys) {
    let more = [keyed.as_bytes(), &[b'7'; ENOUGH]].concat();
    let mut scanner = Scanner::keyed(format, Keys::default());
    let mut kept = Kept::default();
    _ = scanner.give(Run::with_more(&more, keyed.len()), &mut kept);
    (kept, scanner.keys().unwrap().clone())
}

#[test]
fn keyed_lines_are_given_together_and_checked() {
    let (format, line) = (combined(), USUAL);
    let length = line.len() as u64 + 1;
    // Offsets of one to nineteen digits, and steps between them; those of sixteen and more are looked at one by one.
    for start in [0, 7, 9_990, 99_999_000, 123_456_789, 999_999_999_000_000, 1 << 60] {
        let place = |n: u64| start + n * length;
        let keyed: String = (0..50).map(|n| format!("{}\t{line}\n", place(n))).collect();
        let (kept, keys) = read_keyed(&format, &keyed);
        let mut alone = Scanner::new(&format);
        let record = alone.read(line.as_bytes()).unwrap();
        let expected: Vec<String> =
            (0..50).map(|n| shown(Ok(&Record { offset: place(n), ..record }))).collect();
        assert_eq!(kept.lines, expected, "{start}");
        assert_eq!((keys.start(), keys.end()), (Some(start), place(50)));
        assert_eq!((kept.together, kept.most), (49, if start < 1 << 60 { MOST } else { 1 }), "{start}");
    }
    // A wrong key among lines that are read together.
    let torn: String = (0..50).map(|n| format!("{}\t{line}\n", n * length + u64::from(n == 8))).collect();
    let (kept, keys) = read_keyed(&format, &torn);
    assert_eq!(kept.lines.len(), 8);
    assert!(keys.fault().unwrap().starts_with("line 9: its offset is "), "{:?}", keys.fault());
}

/// Behind the last line so many bytes are enough to read lines together.
const ENOUGH: usize = lines::PART + 64;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn lines_given_together_are_read_as_each_alone(
        which in 0..5usize,
        lines in proptest::collection::vec(
            (
                proptest::collection::vec((any::<prop::sample::Index>(), 0usize..9, 0..PIECES.len()), 0..2),
                prop_oneof![5 => Just(0u32), 1 => any::<u32>()],
                "(GET|HEAD|POST|PUT) (/|/a|[*-]|)[a-z]{0,80}([?#][a-z?#]{0,20})?( HTTP/[12][.][01]| HTTP/2|)",
            ),
            1..80,
        ),
        changed in 0usize..4,
        slack in prop_oneof![0usize..40, ENOUGH..ENOUGH + 40],
    ) {
        let (name, line) = QUICK[which];
        let mut text = Vec::new();
        for (number, (changes, value, request)) in lines.into_iter().enumerate() {
            let line = line.replace("GET /a/b.gif?x=1 HTTP/1.1", &request);
            let mut line = line.replace(" 2326 ", &format!(" {value} ")).into_bytes();
            // Most lines as they are, so that some stand one behind another.
            for (at, cut, piece) in changes.into_iter().filter(|_| number % 4 < changed) {
                let at = at.index(line.len() + 1);
                let end = (at + cut).min(line.len());
                line.splice(at..end, PIECES[piece].bytes());
            }
            text.extend(line);
            text.push(b'\n');
        }
        together(&Format::parse(name).unwrap(), &text, slack);
    }
}

#[test]
fn lines_of_the_usual_layout_are_given_together() {
    let format = combined();
    let text = format!("{USUAL}\n").repeat(50);
    // The first tells which second it is.
    assert_eq!(together(&format, text.as_bytes(), ENOUGH), 49);
    assert_eq!(together(&format, text.as_bytes(), 40), 0);
    let other = text.replacen("] \"GET", "] \"POST", 9).replacen("203.0.113.9", "2001:db8:1:2::17", 20);
    assert_eq!(together(&format, other.as_bytes(), ENOUGH), 49);
    for odd in [" 12345678 ", " - ", " x ", " 0x1 "] {
        let odd = format!("{USUAL}\n{}", text.replacen(" 2326 ", odd, 6));
        assert_eq!(together(&format, odd.as_bytes(), ENOUGH), 50 - 6, "{odd}");
    }
    let seconds = Format::parse("nginx+time").unwrap();
    for (time, count) in
        [("0.015", 49), ("0.000", 49), ("12.345", 49), ("999.999", 49), ("15", 49), ("1000.999", 0)]
    {
        let text = format!("{}\n", SECONDS.replace("0.015", time)).repeat(50);
        assert_eq!(together(&seconds, text.as_bytes(), ENOUGH), count, "{time}");
    }
    for odd in [".015", "0.15", "0.0150", "0..15", "0.01.", "0.0-5", "x.015"] {
        let text = format!("{SECONDS}\n{}", format!("{SECONDS}\n").repeat(50).replacen("0.015", odd, 6));
        assert_eq!(together(&seconds, text.as_bytes(), ENOUGH), 50 - 6, "{odd}");
    }
    let untimed = text.replace(" 15000\n", "\n");
    assert_eq!(together(&Format::parse("combined").unwrap(), untimed.as_bytes(), ENOUGH), 0);
}

#[test]
fn a_byte_more_or_less_among_lines_given_together_is_read_the_same() {
    for (name, usual) in [("combined+D", USUAL), ("nginx+time", SECONDS)] {
        let format = Format::parse(name).unwrap();
        let (before, after) = (format!("{usual}\n").repeat(3), format!("{usual}\n").repeat(2));
        let all = || (0..usual.len()).flat_map(|at| b"\\\" -.0\0\r?#\n".iter().map(move |byte| (at, *byte)));
        for (at, byte) in all() {
            for more in [&[byte][..], &[]] {
                let mut line = usual.as_bytes().to_vec();
                line.splice(at..=at, [more, &usual.as_bytes()[at..at + more.len()]].concat());
                let text = [before.as_bytes(), &line, b"\n", after.as_bytes()].concat();
                assert!(together(&format, &text, ENOUGH) >= 2, "{}", text.escape_ascii());
            }
        }
    }
}

#[test]
fn usual_lines_are_read_quickly() {
    for (name, line) in QUICK {
        let format = Format::parse(name).unwrap();
        let Plan::Text(plan) = &format.plan else { unreachable!("a text format") };
        let text = format!("{}\n{:2$}", line.replace("\\\\", "").replace("\\\"", "'"), "", quick::WINDOW);
        let mut stops = Stops::default();
        let stops = stops.find(text.as_bytes());
        let mut clocks = time::Clocks::new(plan.patterns.len());
        let quick = Quick::new(plan).and_then(|quick| {
            assert_eq!(quick.quotes + 1, stops.len());
            let window = text.as_bytes().first_chunk()?;
            quick.read(plan, window, 0, stops, &mut Record::default(), &mut clocks)
        });
        // A quotation mark that begins no field tells nothing.
        assert_eq!(quick.is_some(), !name.contains("\"%s %B"), "{name}");
    }
}

#[test]
fn lines_of_the_usual_layout_are_read_straight_through() {
    let mut seen = 0;
    for (name, line) in QUICK {
        let format = Format::parse(name).unwrap();
        let Plan::Text(plan) = &format.plan else { unreachable!("a text format") };
        let mut scanner = Scanner::new(&format);
        let expected = scanner.read(line.as_bytes()).unwrap();
        let text = format!("{line}\n{:1$}", "", quick::WINDOW);
        let (window, mut stops) = (text.as_bytes().first_chunk().unwrap(), Stops::default());
        let stops = stops.find(text.as_bytes());
        let Some(mut usual) = Usual::new(plan) else { continue };
        // Another second is for the plan to read.
        assert!(usual.read(window, 0, stops, &mut Record::default()).is_none(), "{name}");
        usual.follow(&scanner.clocks);
        let mut record = Record::default();
        if let Some((end, rest)) = usual.read(window, 0, stops, &mut record) {
            assert_eq!((end, rest.len(), record), (line.len(), 0, expected), "{name}");
            seen += 1;
        }
    }
    // Combined with a time or not, common, nginx with three kinds of time; one has a longer size, one a longer time,
    // one a user, one no size.
    assert_eq!(seen, 6);
}

#[test]
fn one_byte_more_or_less_is_read_the_same() {
    for (name, line) in QUICK {
        let format = Format::parse(name).unwrap();
        let (mut together, mut alone) = (Scanner::new(&format), Scanner::new(&format));
        for (at, byte) in (0..line.len()).flat_map(|at| b"\\\" -.0\0\r?#".iter().map(move |byte| (at, *byte)))
        {
            for more in [&[byte][..], &[]] {
                let mut text = line.as_bytes().to_vec();
                text.splice(at..=at, [more, &line.as_bytes()[at..at + more.len()]].concat());
                let length = text.len() + 1;
                text.extend([b'\n'; quick::WINDOW]);
                _ = together.run(Run::with_more(&text, length), &mut |line, read| {
                    assert_eq!(
                        read.copied(),
                        alone.read(line.bytes.unwrap()),
                        "{name}: {}",
                        text.escape_ascii()
                    );
                    ControlFlow::Continue(())
                });
            }
        }
    }
}
