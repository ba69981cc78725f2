//! `boxscore logs map` and `reduce`: many processes give the document, the aggregates and the stored run of one, byte
//! for byte.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::common::{Bench, PROGRAM, Said, said};
use model::doc::LogsDoc;

/// A log of many clients and paths.
fn wide(number: u64) -> String {
    let one = |n: u64| {
        format!(
            "10.{number}.{}.{} - - [01/May/2010:{:02}:{:02}:00 +0200] \"GET /{number}/{n}.html HTTP/1.1\" 200 {} \"-\" \"x\" {}\n",
            n / 250,
            n % 250,
            n / 60 % 24,
            n % 60,
            n * 37 % 9000,
            n * 41 % 7000
        )
    };
    (0..4_000).map(one).collect()
}

#[test]
fn mappers_that_write_to_one_pipe_write_whole_lines() {
    let bench = Bench::new();
    let names: Vec<String> = (0..6).map(|number| format!("w{number}.log")).collect();
    for (number, name) in (0..).zip(&names) {
        std::fs::write(bench.path(name), wide(number)).expect("a file");
    }
    let one = bench.run(&["logs", "map", "--format", "combined+D", "w0.log"]).expect(0, &[]).out;
    assert!(one.len() > 2 * 65_536, "a pipe would take a part of {} bytes as a whole", one.len());
    // The reader begins late, so that all mappers find a full pipe.
    let script = format!(
        "printf '%s\\0' w*.log | xargs -0 -n 1 -P 6 {PROGRAM} logs map --format combined+D | (sleep 1; cat) > all.parts"
    );
    let status = Command::new("sh").args(["-c", &script]).current_dir(bench.dir.path()).status().expect("sh");
    assert!(status.success());
    let given: Vec<&str> = names.iter().map(String::as_str).collect();
    let here = [&["logs", "--format", "combined+D"], &given[..]].concat();
    assert_eq!(bench.document(0, &["logs", "--merge", "all.parts"]), bench.document(0, &here));
}

/// A log of two days: some requests failed, some lines are damaged, and there are bots.
fn log(us: u64, lines: u64) -> Vec<u8> {
    let one = |n: u64| {
        let (day, hour, minute) = (1 + n * 2 / lines, n * 48 / lines % 24, n * 7 % 60);
        let status = if n % 97 == 5 { 503 } else { 200 + n % 2 * 104 };
        let agent = if n.is_multiple_of(9) { "BadBot/2.1" } else { "Mozilla/5.0" };
        let at = format!("{day:02}/May/2010:{hour:02}:{minute:02}:{:02} +0200", n % 60);
        match n % 211 {
            7 => format!("cut {n}\n"),
            _ => format!(
                "10.0.{}.9 - - [{at}] \"GET /{}/{}.html HTTP/1.1\" {status} {} \"-\" \"{agent}\" {}\n",
                n % 31,
                n % 5,
                n * n % 17,
                n * 37 % 9000,
                us + n * 41 % 700
            ),
        }
    };
    (0..lines).map(one).collect::<String>().into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut child = Command::new("gzip").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("gzip");
    let mut stdin = child.stdin.take().expect("a pipe");
    let bytes = bytes.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&bytes).expect("it reads"));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("it wrote");
    output.stdout
}

impl Bench {
    /// The program with these bytes on its standard input.
    fn fed(&self, args: &[&str], bytes: &[u8]) -> Said {
        std::fs::write(self.path("stdin"), bytes).expect("a file");
        said(self.command(args).stdin(std::fs::File::open(self.path("stdin")).expect("a file")))
    }

    /// Two labels of three files, one of them packed, in an order that is none.
    fn logs(&self) -> [&'static str; 3] {
        std::fs::write(self.path("a1.log"), log(2_000, 3_000)).expect("a file");
        std::fs::write(self.path("a2.log.gz"), gzip(&log(2_100, 2_000))).expect("a file");
        std::fs::write(self.path("b.log"), log(1_000, 4_000)).expect("a file");
        ["ssd=a2.log.gz", "hdd=b.log", "ssd=a1.log"]
    }

    /// The document without the id of its run.
    fn document(&self, code: i32, args: &[&str]) -> String {
        let text = self.run(&[args, &["--json"]].concat()).expect(code, &[]).out;
        let mut doc: LogsDoc = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        doc.run = None;
        serde_json::to_string_pretty(&doc).expect("a document")
    }

    /// Maps the files by a process each, the last one in three parts, and reduces in two steps.
    fn parts(&self, flags: &[&str]) {
        let map =
            |more: &[&str]| self.run(&[&["logs", "map", "--format", "combined+D"], flags, more].concat());
        let mut all = Vec::new();
        for (place, more) in [
            ("0", &["ssd=a1.log"][..]),
            ("0", &["ssd=a2.log.gz"]),
            ("1", &["--part", "200000-900000", "hdd=b.log"]),
            ("1", &["--part", "0+77", "hdd=b.log"]),
            ("1", &["--part", "77-200000", "hdd=b.log"]),
        ] {
            all.push(map(&[&["--place", place], more].concat()).expect(0, &[]).out);
        }
        std::fs::write(self.path("one"), all[..3].concat()).expect("a file");
        let one = self.run(&["logs", "reduce", "one"]).expect(0, &[]).out;
        let two = self.fed(&["logs", "reduce"], all[3..].concat().as_bytes()).expect(0, &[]).out;
        let last = self.fed(&["logs", "reduce"], (two + &one).as_bytes()).expect(0, &[]);
        std::fs::write(self.path("all.parts"), last.out).expect("a file");
    }
}

#[test]
fn many_processes_give_what_one_gives() {
    for flags in [
        &[][..],
        &["--by", "prefix,status", "--where", "status<504"],
        &["--by", "day"],
        &["--cut", "2010-05-02"],
    ] {
        let bench = Bench::new();
        let logs = bench.logs();
        bench.parts(flags);
        let here = [&["logs"], &logs[..], &["--format", "combined+D"], flags].concat();
        let merged = ["logs", "--merge", "all.parts"];
        assert_eq!(bench.document(3, &merged), bench.document(3, &here), "{flags:?}");
        // Stored once, since both are the same reading.
        let runs = bench.heads().len();
        assert_eq!(runs, if flags.contains(&"--cut") { 4 } else { 2 }, "{flags:?}");
        if !flags.contains(&"--cut") {
            let out = |name: &str, args: &[&str]| {
                bench.run(&[args, &["--no-store", "--out", name]].concat()).expect(3, &[]);
                std::fs::read(bench.path(name)).expect("aggregates")
            };
            assert!(out("merged.agg", &merged) == out("here.agg", &here), "{flags:?}");
        }
        let text = |args: &[&str]| bench.run(&[args, &["--all"]].concat()).expect(3, &[]).out;
        assert_eq!(text(&merged), text(&here));
    }
}

#[test]
fn one_label_is_as_if_it_were_read_here() {
    let bench = Bench::new();
    bench.logs();
    for flags in [&[][..], &["--by", "day"], &["--by", "status"]] {
        let map =
            |more: &[&str]| bench.run(&[&["logs", "map", "a1.log"], flags, more].concat()).expect(0, &[]).out;
        std::fs::write(bench.path("p"), map(&[])).expect("a file");
        let here = [&["logs", "a1.log"], flags].concat();
        // The format is detected alike.
        let read_here = bench.document(3, &here);
        assert_eq!(bench.document(3, &["logs", "--merge", "p"]), read_here, "{flags:?}");
        std::fs::write(bench.path("p"), map(&["--one-label"])).expect("a file");
        assert_eq!(bench.document(3, &["logs", "--merge", "p"]), read_here, "{flags:?}");
        bench.run(&["logs", "--merge", "p", "--out", "x"]).expect(2, &["without --one-label"]);
        bench.run(&["logs", "map", "a1.log", "--where", "statsu=500"]).expect(2, &["--where: "]);
        bench.run(&["logs", "--merge", "p", "--where", "statsu=500"]).expect(2, &["--where: "]);
        let format = ["logs", "--merge", "p", "--format", "combined"];
        bench.run(&format).expect(2, &["--format: --merge reads no log"]);
        bench.run(&["logs", "map", "--part", "0+100", "-"]).expect(2, &["--part is of a file"]);
        bench.run(&["logs", "map", "--label", "", "a1.log"]).expect(2, &["--label"]);
        bench.run(&["logs", "reduce", "nosuch"]).expect(1, &["nosuch: there is no such file"]);
        let both = ["logs", "map", "--one-label", "a=a1.log", "b=b.log"];
        bench.run(&both).expect(2, &["--one-label: there are 2: a, b"]);
        let twice = ["logs", "map", "a1.log", "./a1.log"];
        bench.run(&twice).expect(2, &["./a1.log is given twice, also as a1.log"]);
        std::fs::write(bench.path("p"), map(&["--mix"])).expect("a file");
        let mix = |args: &[&str]| {
            bench.run(&[args, &["--no-store", "--profile-out", "mix.json"]].concat()).expect(3, &[]);
            std::fs::read_to_string(bench.path("mix.json")).expect("a mix")
        };
        assert_eq!(mix(&["logs", "--merge", "p"]), mix(&here), "{flags:?}");
    }
}

#[test]
fn a_label_without_a_line_is_shown_as_if_it_were_read_here() {
    let bench = Bench::new();
    bench.logs();
    for (name, bytes) in [("e.log", ""), ("empty", "")] {
        std::fs::write(bench.path(name), bytes).expect("a file");
    }
    let files = ["--format", "combined+D", "a=e.log", "b=a1.log"];
    let map = bench.run(&[&["logs", "map"][..], &files].concat()).expect(0, &[]).out;
    std::fs::write(bench.path("p"), map).expect("a file");
    let here = bench.document(3, &[&["logs"][..], &files].concat());
    assert_eq!(bench.document(3, &["logs", "--merge", "p"]), here);
    bench.run(&["logs", "--merge", "empty"]).expect(1, &["empty: it is empty"]);
}

#[test]
fn lines_on_stdin_have_the_place_that_is_told() {
    let bench = Bench::new();
    bench.logs();
    let whole = std::fs::read(bench.path("a1.log")).expect("a log");
    let at = 1 + whole[..90_000].iter().rposition(|byte| *byte == b'\n').expect("a line");
    let offset = at.to_string();
    let base = ["logs", "map", "--format", "combined+D", "--name", "a1.log"];
    let map = |more: &[&str], bytes: &[u8]| bench.fed(&[&base, more].concat(), bytes).expect(0, &[]).out;
    let mut keyed = Vec::new();
    let mut place = at;
    for line in whole[at..].split_inclusive(|byte| *byte == b'\n') {
        keyed.extend_from_slice(format!("{place}\t").as_bytes());
        keyed.extend_from_slice(line);
        place += line.len();
    }
    let here = bench.document(3, &["logs", "a1.log", "--format", "combined+D"]);
    let first = map(&[], &gzip(&whole[..at]));
    for second in [map(&["--offset", &offset], &whole[at..]), map(&["--keyed"], &keyed)] {
        let merged = bench
            .fed(&["logs", "--merge", "-", "--json"], (second.clone() + &first).as_bytes())
            .expect(3, &[]);
        let mut doc: LogsDoc = serde_json::from_str(&merged.out).expect("a document");
        doc.run = None;
        assert_eq!(serde_json::to_string_pretty(&doc).expect("a document"), here);
        let twice = second.clone() + &second;
        bench
            .fed(&["logs", "reduce"], twice.as_bytes())
            .expect(1, &["-: line 2: a1.log: the bytes from ", "are there twice"]);
    }
    bench
        .fed(&[&base[..], &["--keyed"]].concat(), b"7\tx\n8\ty\n")
        .expect(1, &["a1.log: ", "line 2: its offset is 8"]);
    // Without a place the figures are the same.
    let loose =
        |bytes: &[u8]| bench.fed(&["logs", "map", "--format", "combined+D"], bytes).expect(0, &[]).out;
    let merged = bench
        .fed(&["logs", "--merge", "-", "--json"], (loose(&whole[at..]) + &loose(&whole[..at])).as_bytes());
    let doc: LogsDoc = serde_json::from_str(&merged.expect(3, &[]).out).expect("a document");
    let local: LogsDoc = serde_json::from_str(&here).expect("a document");
    assert_eq!((doc.labels, doc.top, doc.lines), (local.labels, local.top, local.lines));
}

#[test]
fn a_task_counts_and_names_its_split() {
    let bench = Bench::new();
    let task = |args: &[&str], bytes: &[u8]| {
        std::fs::write(bench.path("stdin"), bytes).expect("a file");
        let mut command = bench.command(args);
        command
            .env("mapreduce_job_id", "job_1_0001")
            .env("mapreduce_map_input_file", "hdfs://m:8020/logs/a.log");
        command.env("mapreduce_map_input_start", "100").env("mapreduce_map_input_length", "50");
        said(command.stdin(std::fs::File::open(bench.path("stdin")).expect("a file")))
    };
    let map = ["logs", "map", "--format", "combined+D", "--where", "status<500"];
    let mapped = task(&map, &log(1_000, 300));
    let mapped = mapped.expect(
        0,
        &[
            "reporter:counter:boxscore,lines,300\n",
            "reporter:counter:boxscore,parsed,298\n",
            "reporter:counter:boxscore,filtered,4\n",
            "reporter:counter:boxscore,skipped: shape,2\n",
        ],
    );
    assert_eq!(
        mapped.out.lines().map(|line| line.split('\t').next().unwrap()).collect::<Vec<_>>(),
        ["log/whole"]
    );
    let reduced = task(&["logs", "reduce"], mapped.out.as_bytes());
    reduced.expect(0, &["reporter:counter:boxscore,parts merged,1\n", "reporter:counter:boxscore,keys,1\n"]);
    let packed = gzip(&log(1_000, 300));
    let torn = task(&map, &packed[..packed.len() / 2])
        .expect(1, &["/logs/a.log (split from byte 100 to 150): gzip"]);
    assert_eq!(torn.out, "");
    // Outside of a task nothing is counted unless it is asked for.
    assert_eq!(bench.fed(&map, &log(1_000, 300)).expect(0, &[]).err, "");
}

#[test]
fn what_cannot_be_put_together_is_said() {
    let bench = Bench::new();
    bench.logs();
    let map = |more: &[&str]| bench.run(&[&["logs", "map"], more].concat()).expect(0, &[]).out;
    let combined = map(&["--format", "combined+D", "--part", "0-9000", "a1.log"]);
    let merge = |text: String, args: &[&str]| {
        std::fs::write(bench.path("p"), text).expect("a file");
        bench.run(&[&["logs", "--no-store", "--merge", "p"], args].concat())
    };
    let seconds = map(&["--format", "combined+T", "--part", "9000-20000", "a1.log"]);
    let unlike = "a1.log was read as combined+D and as combined+T: give the format to every mapper";
    merge(combined.clone() + &seconds, &[]).expect(1, &["p: line 2: ", unlike]);
    let gap = map(&["--format", "combined+D", "--part", "20000-30000", "a1.log"]);
    merge(combined.clone() + &gap, &[]).expect(1, &["a1.log: the bytes from 9000 to 20000 are missing"]);
    let by = map(&["--format", "combined+D", "--by", "status", "--part", "9000-20000", "a1.log"]);
    merge(combined.clone() + &by, &[]).expect(1, &["p: line 2: made with other settings"]);
    merge(by, &["--by", "path"]).expect(2, &["--by: path is asked for, the parts were made with status"]);
    merge(combined.clone(), &["--", "a2.log.gz"]).expect(2, &["parts stand for the logs themselves"]);
    merge(combined.replace("boxscore-logs-", "boxscore-logs-9"), &[])
        .expect(1, &["p: line 1: made by another version"]);
    merge(combined.replacen("log/", "lag/", 1), &[])
        .expect(1, &["p: line 1: damaged: its checksum is another one"]);
    bench
        .run(&["logs", "map", "--part", "0+5", "a2.log.gz"])
        .expect(1, &["a2.log.gz: gzip: a part of it cannot be read"]);
    bench.run(&["logs", "map", "none.log"]).expect(1, &["none.log: there is no such file"]);
    bench.run(&["logs", "map", "--cut", "noon", "a1.log"]).expect(2, &["--cut: \"noon\" is no time"]);
}

#[test]
fn the_format_of_logs_is_printed_for_mappers() {
    let bench = Bench::new();
    bench.logs();
    let said =
        bench.run(&["logs", "format", "a1.log", "a2.log.gz"]).expect(0, &["a1.log: combined+D (detected: "]);
    assert_eq!(said.out, "combined+D\n");
    std::fs::write(
        bench.path("c.log"),
        "10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5\n",
    )
    .unwrap();
    bench.run(&["logs", "format", "a1.log", "c.log"]).expect(1, &["a1.log and c.log have different formats"]);
}
