//! Wrong and odd inputs of every verb: each is refused with its exit code and a few lines that name the cause, and none
//! is a panic. Other files test the same of single verbs in depth.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use crate::common::{Bench, Said, said};

/// Lines that a message may have: the cause, a hint, and what the parser adds.
const MOST_LINES: usize = 6;

/// Arguments, divided by blanks; the exit code; words of the message.
type Odd = (&'static str, i32, &'static [&'static str]);

/// Files named `nosuch` are not there, and folders below `/dev/null` cannot be. The others are made by [`folder`].
fn folder(bench: &Bench) {
    let line = "127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 2326\n".repeat(200);
    // A stored block of 1000 B of which only a line has come.
    let head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x00\xe8\x03\x17\xfc";
    let packed = [&head[..], &line.as_bytes()[..74]].concat();
    let noise: Vec<u8> = (0..4000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let files: [(&str, &[u8]); 10] = [
        ("good.log", line.as_bytes()),
        ("cut.log.gz", &packed),
        ("none.log", b"not a log at all\n"),
        ("empty", b""),
        ("binary", &noise),
        ("corrupt.json", b"{\"schema\": \"boxs\n"),
        ("other.json", b"{}\n"),
        ("mix.json", b"hello\n"),
        ("words.db", b"this is no database at all, though it is long enough to be the head of one\n"),
        ("plan.toml", b"plan"),
    ];
    for (name, bytes) in files {
        std::fs::write(bench.path(name), bytes).expect("a file");
    }
}

fn refused(bench: &Bench, words: &[&OsStr]) -> Said {
    let mut command = bench.command(&[]);
    // A store that is named comes last on the line.
    command.current_dir(bench.path(".")).args(words);
    said(&mut command)
}

/// Without any store.
fn check(all: &[Odd]) {
    let bench = Bench::new();
    check_in(&bench, all);
    assert!(!bench.store().exists(), "nothing of them is stored");
}

fn check_in(bench: &Bench, all: &[Odd]) {
    folder(bench);
    let mut wrong = Vec::new();
    for (line, code, says) in all {
        let words: Vec<&OsStr> =
            line.split(' ').map(|word| OsStr::new(if word == "''" { "" } else { word })).collect();
        let said = refused(bench, &words);
        let lines = said.err.lines().filter(|line| !line.trim().is_empty()).count();
        let is_told = says.iter().all(|word| said.err.contains(word));
        if said.code != Some(*code) || !is_told || lines > MOST_LINES || said.err.contains("panicked") {
            wrong.push(format!("{line}: {code} and {says:?} wanted, got {:?}: {}", said.code, said.err));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn of_the_parser() {
    check(&[
        ("frobnicate", 2, &["unrecognized subcommand 'frobnicate'"]),
        ("rnu cpu", 2, &["'rnu'", "'run'"]),
        ("--nonsense", 2, &["unexpected argument '--nonsense'"]),
        ("run --quik", 2, &["'--quik'", "'--quick'"]),
        ("--color sometimes history", 2, &["'sometimes'", "auto, always, never"]),
        ("history --limit 0", 2, &["'0' for '--limit"]),
        ("help nosuch", 2, &["'nosuch'"]),
        ("docs nosuch", 2, &["'nosuch'"]),
        ("schema nosuch", 2, &["`nosuch` prints no document", "hint:"]),
        ("doctor x", 2, &["unexpected argument 'x'"]),
        ("peer --port 99999", 2, &["'--port'"]),
        ("note", 2, &["<RUN|MACHINE>"]),
        ("guard x", 2, &["unexpected argument 'x'"]),
    ]);
}

#[test]
fn of_run() {
    check(&[
        ("run nosuch", 2, &["no instrument or family is called `nosuch`", "boxscore list"]),
        ("run cpu --takes 0", 2, &["'0' for '--takes", "1..=100000"]),
        ("run cpu --takes -1", 2, &["'-1' for '--takes"]),
        ("run cpu --takes 99999999999999999999", 2, &["too large"]),
        ("run cpu --takes x", 2, &["'x' for '--takes"]),
        ("run cpu --takes", 2, &["a value is required for '--takes"]),
        ("run cpu --cpus 9999", 2, &["CPU 9999 is not here", "allowed are"]),
        ("run cpu --cpus 3-1", 2, &["--cpus 3-1: not a CPU list", "0-3,8"]),
        ("run cpu --cpus ''", 2, &["not a CPU list"]),
        ("run cpu --set nosuch=1", 2, &["the parameter `nosuch`", "boxscore list --long"]),
        ("run crc32c --set size=banana", 2, &["size=banana is not possible", "a size from 1 to"]),
        ("run cpu --arm x", 2, &["`x` is not of the form key=value"]),
        ("run web --slo p99", 2, &["PERCENTILE=TIME", "p99=10ms"]),
        ("run web --slo p199=1ms", 2, &["p199=1ms is not possible", "p99.9"]),
        ("run web --mix nosuch", 1, &["--mix nosuch: No such file"]),
        ("run web --mix mix.json", 1, &["not a mix", "--profile-out"]),
        ("run web --url nonsense", 2, &["http:// or https://"]),
        ("run --cmd ''", 2, &["the command of --cmd is empty", "for example"]),
        ("run --prepare true", 2, &["--cmd <COMMAND>"]),
        ("run cpu --price nan", 2, &["--price nan: not a price", "0.192/h"]),
        ("run cpu --watts inf", 2, &["--watts inf: must be above 0"]),
        ("run cpu --dir /dev/null/none", 1, &["there is no such directory"]),
        ("run cpu --fake nosuch", 1, &["--fake nosuch: No such file"]),
        ("run cpu --label ''", 2, &["--label is empty", "--label before"]),
        ("run cpu --label latest", 2, &["`latest` means something else"]),
        ("run cpu --via nonsense", 2, &["NAME=COMMAND", "ssh"]),
        ("run cpu --format yaml", 2, &["'yaml' for '--format", "clusterperf"]),
        ("aa --runs 21", 2, &["0..=20"]),
        ("detect", 2, &["needs the difference", "`boxscore detect 5`"]),
        (
            "detect x",
            2,
            &["`x` is no difference in percent, which stands first", "`boxscore detect 5 --machine x`"],
        ),
        ("detect crc32c 3%", 2, &["no difference in percent", "`boxscore detect 3 crc32c`"]),
        ("detect x index 8", 2, &["`boxscore detect 8 index --machine x`"]),
        ("detect -5", 2, &["no difference in percent"]),
        ("detect 10 nosuch", 2, &["no instrument or family is called `nosuch`"]),
        ("aa --runs 0 --label x", 2, &["it measures nothing"]),
    ]);
}

#[test]
fn of_load() {
    check(&[
        ("load", 2, &["<URL>..."]),
        ("load 127.0.0.1", 2, &["must begin with http://", "for example"]),
        ("load http://", 2, &["its host is empty"]),
        ("load ftp://127.0.0.1/", 2, &["only http://"]),
        ("load http://127.0.0.1:99999/", 2, &["its port is not 1 to 65535"]),
        (
            "load http://127.0.0.1:1/",
            1,
            &["nothing accepts connections at 127.0.0.1:1", "is the server running"],
        ),
        ("load http://127.0.0.1:1/ -r nan", 2, &["--rate nan is not possible: a number above 0"]),
        ("load http://127.0.0.1:1/ -r -5", 2, &["--rate -5 is not possible"]),
        ("load http://127.0.0.1:1/ -d 1e400", 2, &["--duration 1e400 is not possible", "10s"]),
        ("load http://127.0.0.1:1/ -c 100000000000", 2, &["a whole number from 1 to"]),
        ("load http://127.0.0.1:1/ --replay nosuch", 1, &["--replay nosuch: No such file"]),
        ("load http://127.0.0.1:1/ -H nocolon", 2, &["no colon"]),
        ("load http://127.0.0.1:1/ --keys 5", 2, &["redis:// or memcached://"]),
        ("load http://127.0.0.1:1/ --no-store --label x", 2, &["'--no-store' cannot be used with '--label"]),
        ("load redis://127.0.0.1:1", 1, &["nothing accepts connections at 127.0.0.1:1"]),
        ("load redis://127.0.0.1:1/3", 2, &["a store has no paths"]),
        ("load redis://127.0.0.1:1 --keys 0", 2, &["--keys 0 is not possible"]),
    ]);
}

#[test]
fn of_what_is_stored() {
    let bench = Bench::new();
    bench.fake(&[]).expect(0, &[]);
    bench.fake(&[]).expect(0, &[]);
    check_in(
        &bench,
        &[
            ("show 01", 1, &["01"]),
            ("show nosuch", 1, &["nosuch"]),
            ("resume nosuch", 1, &["no run is called `nosuch`"]),
            ("run --plan nosuch", 1, &["no run is called `nosuch`"]),
            ("show latest~x", 2, &["a number must follow latest~"]),
            ("compare", 2, &["<NAME>..."]),
            ("compare one", 1, &["`one`", "hint:"]),
            (
                "compare good.log good.log",
                1,
                &["good.log: an access log", "`boxscore logs good.log` reads it"],
            ),
            ("compare corrupt.json other.json", 1, &["corrupt.json:", "damaged"]),
            ("compare ref-epyc-2c ref-epyc-2c", 2, &["are the same runs"]),
            ("compare ref-epyc-2c xeon-e5620 --margin nan", 2, &["--margin nan: not a share", "2%"]),
            ("compare ref-epyc-2c xeon-e5620 --margin -5%", 2, &["--margin -5%: not a share"]),
            ("compare ref-epyc-2c xeon-e5620 --life x", 2, &["--life x: not a length of time", "4y"]),
            ("compare ref-epyc-2c xeon-e5620 --fail-on maybe", 2, &["'maybe'", "worse, better, invalid"]),
            ("compare ref-epyc-2c xeon-e5620 --metric nosuch", 1, &["no figure in common", "`nosuch`"]),
            ("compare ref-epyc-2c --matrix nosuch", 1, &["the parameters nosuch", "boxscore list --long"]),
            ("compare ref-epyc-2c --matrix size,size", 2, &["each parameter stands once"]),
            ("report nosuch", 1, &["nosuch"]),
            ("report ref-epyc-2c", 1, &["ref-epyc-2c has no run"]),
            ("report latest -o /dev/null/none/x.html", 1, &["/dev/null/none"]),
            ("export latest -o /dev/null/none/x.json", 1, &["/dev/null/none"]),
            ("export nosuch", 1, &["nosuch"]),
            ("export nosuch --format yaml", 2, &["'yaml'", "json, csv"]),
            ("note nosuch x", 1, &["nosuch"]),
            ("remove nosuch", 1, &["nosuch"]),
            ("hide nosuch", 1, &["nosuch"]),
            ("list nosuch", 2, &["no instrument or family is called `nosuch`", "boxscore list"]),
            ("inspect nosuch", 1, &["no machine or run is called `nosuch`", "known are"]),
            ("--store /dev/null/none/x history", 1, &["there is no folder /dev/null/none", "hint:"]),
            ("--store words.db history", 1, &["not an SQLite database", "was not changed"]),
            ("--store words.db run cpu --quick", 1, &["not an SQLite database"]),
            ("--store . history", 2, &["is a directory", "store.db"]),
            ("--store postgres://127.0.0.1:1/x history", 1, &["out of reach"]),
        ],
    );
    assert_eq!(bench.heads().len(), 2);
}

#[test]
fn of_import_and_logs() {
    check(&[
        ("import nosuch", 1, &["nosuch: No such file"]),
        ("import empty", 1, &["empty: the format is not known", "known are"]),
        ("import binary", 1, &["the format is not known"]),
        ("import corrupt.json", 1, &["corrupt.json:", "damaged"]),
        ("import other.json", 1, &["without `schema`", "boxscore export"]),
        ("import good.log", 1, &["good.log"]),
        ("logs", 2, &["<[LABEL=]FILE>..."]),
        ("logs nosuch --no-store", 1, &["there is no such file"]),
        ("logs none.log --no-store", 1, &["no known format", "--format"]),
        ("logs empty --no-store", 1, &["there is no line in it"]),
        ("logs binary --no-store", 1, &["no known format"]),
        ("logs cut.log.gz --no-store", 1, &["gzip"]),
        ("logs . --no-store", 1, &["a directory"]),
        ("logs good.log --no-store --by nosuch", 2, &["--by", "take one of"]),
        ("logs good.log --no-store --where nonsense", 2, &["--where", "a condition is"]),
        ("logs good.log --no-store --where status=banana", 2, &["\"banana\" is no number"]),
        ("logs good.log --no-store --format %Z%Z", 2, &["--format: column 1"]),
        ("logs good.log --no-store --out /dev/null/none/a.json", 1, &["there is no such folder"]),
        ("logs good.log --no-store --profile-out /dev/null/none/m.json", 1, &["there is no such folder"]),
        ("logs good.log --no-store --cut yesterdayish", 2, &["--cut", "2000-10-10"]),
        ("logs good.log --no-store --threads 0", 2, &["'0' for '--threads"]),
        ("logs good.log --follow --for x", 2, &["--for x: not a duration", "90s"]),
    ]);
}

/// Bytes that are no UTF-8, wherever they stand.
#[test]
fn of_other_bytes() {
    let bench = Bench::new();
    folder(&bench);
    let bad = |text: &[u8]| OsString::from(OsStr::from_bytes(text));
    for words in [
        vec![bad(b"\xff")],
        vec![bad(b"show"), bad(b"\xff\xfe")],
        vec![bad(b"run"), bad(b"cpu"), bad(b"--set"), bad(b"size=\xff")],
        vec![bad(b"load"), bad(b"http://127.0.0.1:1/\xff")],
        vec![bad(b"compare"), bad(b"a\xff"), bad(b"b")],
        vec![bad(b"logs"), bad(b"--no-store"), bad(b"\xff.log")],
    ] {
        let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
        let said = refused(&bench, &words);
        assert!(matches!(said.code, Some(1 | 2)), "{words:?}: {:?} {}", said.code, said.err);
        let lines = said.err.lines().filter(|line| !line.trim().is_empty()).count();
        assert!(said.err.contains("error: ") && lines <= MOST_LINES, "{words:?}: {}", said.err);
    }
}
