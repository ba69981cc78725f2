//! What the screens of loads tell beside rates and times: cores, files, profiles, builds; and the study of 2009 beside
//! the same points measured here.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::{Bench, cannot, text};
use model::doc::CompareDoc;

const ONE: &str =
    "connections=3;arrivals=closed;load=auto;content=gif;keepalive=on;generators=1;server=nginx";

/// A server that answers everything with two bytes, until the test ends.
pub fn serve_forever() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
                    // The end of a head; a client that is gone needs no answer.
                    if line == "\r\n"
                        && stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err()
                    {
                        return;
                    }
                    line.clear();
                }
            });
        }
    });
    port
}

fn bench() -> Bench {
    let bench = Bench::new();
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bench.dir.path(), open).expect("its own folder");
    bench
}

fn nginx() -> Option<&'static Path> {
    let path = Path::new("/usr/sbin/nginx");
    path.exists().then_some(path)
}

#[test]
fn every_load_has_its_cores_and_files_and_two_builds_their_widths() {
    let (bench, Some(nginx)) = (bench(), nginx()) else { return cannot("nginx is not installed") };
    let copies = ["one", "two"].map(|name| bench.path(&format!("nginx-{name}")));
    for copy in &copies {
        std::fs::copy(nginx, copy).expect("a copy");
    }
    let arms = copies.each_ref().map(|copy| format!("binary={}", text(copy)));
    let run = ["run", "web", "--no-report", "--takes", "1", "--set", ONE];
    bench.run(&[&run[..], &["--arm", &arms[0], "--arm", &arms[1]]].concat()).expect(0, &[]);
    let shown = bench.run(&["show", "latest", "--all"]).expect(0, &[]).out;
    let bits = usize::BITS;
    let plain = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for copy in &copies {
        assert!(plain.contains(&format!("({}, {bits}-bit)", text(copy))), "{shown}");
    }
    let heads = shown.lines().filter(|line| line.starts_with("cores ") && line.contains("softirq")).count();
    assert_eq!(heads, 2, "a table a load: {shown}");
    assert!(shown.lines().any(|line| line.starts_with("cpu0 ") && line.contains('%')), "{shown}");
    assert!(shown.contains("read from disks"), "{shown}");
}

#[test]
fn a_program_that_cannot_start_says_which_loader_it_lacks() {
    let bench = bench();
    let mut program = vec![0_u8; 52 + 32];
    program[..4].copy_from_slice(b"\x7fELF");
    (program[4], program[5], program[6]) = (1, 1, 1);
    let loader = b"/no/such/ld-linux.so.2\0";
    for (at, value) in
        [(16, 2), (18, 3), (20, 1), (28, 52), (42, 32), (44, 1), (52, 3), (56, 84), (68, loader.len())]
    {
        program[at] = u8::try_from(value).expect("a byte");
    }
    program.extend(loader);
    let path = bench.path("nginx32");
    std::fs::write(&path, program).expect("a program");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let set = format!("{ONE};binary={}", text(&path));
    let said = bench.run(&["run", "web", "--no-report", "--takes", "1", "--set", &set]);
    let all = format!("{}{}", said.out, said.err).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_ne!(said.code, Some(0), "{all}");
    assert!(all.contains("cannot run") && all.contains("nginx32"), "{all}");
    assert!(all.contains("32-bit program whose loader /no/such/ld-linux.so.2 is not installed"), "{all}");
}

#[test]
fn a_profile_of_the_whole_system_names_what_ran() {
    let (bench, Some(_)) = (bench(), nginx()) else { return cannot("nginx is not installed") };
    let run = ["run", "web", "--no-report", "--takes", "1", "--set", ONE, "--profile=system"];
    let shown = bench.run(&run).expect(0, &[]).out;
    let run = bench.only();
    if let Some(why) = run.notes.iter().find(|note| note.kind() == "no-profile") {
        // The reason is on the screen, with what to do.
        let said = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&why.text()[..20]), "{shown}");
        return cannot(&why.text());
    }
    let note = run.notes.iter().find(|note| note.kind() == "system-profile").expect("a profile");
    let text = note.text();
    let programs: BTreeSet<&str> = text.lines().skip(1).filter_map(|line| line.split(';').next()).collect();
    // Where others fill the machine the server may have had no sample.
    assert!(programs.len() > 1, "{programs:?}");
    let said = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("profile CPU time of the whole system: "), "{shown}");
    assert!(said.contains("kernel code took"), "{shown}");
    let bad = ["run", "web", "--no-report", "--takes", "1", "--set", ONE, "--profile=all"];
    bench.run(&bad).expect(2, &["server, system"]);
}

#[test]
fn the_points_of_2009_stand_beside_the_same_points_measured_here() {
    let (bench, Some(_)) = (bench(), nginx()) else { return cannot("nginx is not installed") };
    let set = "arrivals=closed;content=gif;keepalive=on;server=nginx;load=auto;duration=0.3";
    let points = [(10, 1), (20, 1), (50, 1), (20, 2), (40, 2), (100, 2)];
    let arms =
        points.map(|(connections, generators)| format!("connections={connections},generators={generators}"));
    let mut run = vec!["run", "web", "--no-report", "--takes", "1", "--set", set];
    arms.iter().for_each(|arm| run.extend(["--arm", arm]));
    bench.run(&run).expect(0, &[]);
    let doc = bench.run(&["compare", ".", "atom-330", "--json"]).expect(0, &[]).out;
    let doc: CompareDoc = serde_json::from_str(&doc).expect("a document");
    for metric in ["throughput", "response-time-mean"] {
        let rows: Vec<_> = doc.rows.iter().filter(|row| row.metric == metric).collect();
        assert_eq!(rows.len(), 6, "{metric}: {rows:#?}");
        assert!(rows.iter().all(|row| row.point && row.base_value.is_some()), "{metric}: {rows:#?}");
    }
    // The bandwidths of the study alone are left.
    assert!(doc.footnotes.iter().any(|note| note.contains("web (2 figures)")), "{:?}", doc.footnotes);
}
