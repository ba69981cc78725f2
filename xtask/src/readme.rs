//! README's screens: each block of the language `console` holds a command and what it printed.
//!
//! `cargo xtask readme` runs the commands in the order of the file, with the release build, in a folder of their own: a
//! new store, a real nginx at the address that the file names, and two made-up access logs; and takes in what they
//! print. `console N` keeps N lines. `--check` runs them with the debug build and compares the shape: each first word
//! of a row that is shown must begin a line of what is printed. Flags in the blocks of the language `sh` must be
//! known. Figures and doubts are not compared: they are the machine's.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::server::Server;
use crate::shell;

/// The server's address in README; the one that runs has a free port.
const SHOWN: &str = "127.0.0.1:8080";
const LOG_LINES: u64 = 20_000;

/// Writes README's screens anew, or with `check` fails where one has another shape.
pub fn run(check: bool) -> Result<()> {
    let file = shell::root().join("README.md");
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let parts = parse(&text)?;
    let profile = if check { &["--quiet"][..] } else { &["--quiet", "--release"] };
    shell::run(&shell::cargo(), &[&["build", "--locked", "-p", "boxscore"], profile].concat())?;
    let folder = shell::target().join(if check { "debug" } else { "release" });
    let bench = Bench::new(&folder)?;
    let mut wrong = String::new();
    let mut new = String::new();
    for part in parts {
        match part {
            Part::Text(text) => new.push_str(text),
            Part::Commands(block) => {
                new.push_str(block);
                unknown_flags(&bench, block, &mut wrong)?;
            }
            Part::Screen { lines, command, shown } => {
                println!("$ {command}");
                let printed = bench.run(command, check)?;
                for word in missing(shown, &printed) {
                    let _ = writeln!(wrong, "`{command}` prints no line that begins with `{word}`");
                }
                let _ = write!(new, "```console{}\n$ {command}\n", option(lines));
                new.push_str(&cut(&printed, lines));
                new.push_str("```\n");
            }
        }
    }
    drop(bench);
    let length = new.lines().count();
    ensure!(length <= MOST_LINES, "README.md has {length} lines and may have {MOST_LINES}");
    match check {
        true => ensure!(wrong.is_empty(), "README.md is not what is printed; `cargo xtask readme`:\n{wrong}"),
        false => fs::write(&file, new).with_context(|| format!("cannot write {}", file.display()))?,
    }
    Ok(())
}

fn option(lines: Option<usize>) -> String {
    lines.map(|lines| format!(" {lines}")).unwrap_or_default()
}

#[derive(Debug, PartialEq)]
enum Part<'t> {
    Text(&'t str),
    /// A block of commands whose output is not shown, with its fences.
    Commands(&'t str),
    Screen {
        lines: Option<usize>,
        command: &'t str,
        shown: &'t str,
    },
}

/// The file in parts. Fails where a block does not end or does not begin with a command.
fn parse(text: &str) -> Result<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, fence, after)) = fence(rest) {
        parts.push(Part::Text(before));
        let (body, behind) = after.split_once("```\n").with_context(|| format!("{fence} has no end"))?;
        match fence.trim_start_matches('`').split_once(' ').unwrap_or((&fence[3..], "")) {
            ("console", lines) => {
                let lines = if lines.is_empty() { None } else { Some(lines.parse().context("console N")?) };
                let command =
                    body.strip_prefix("$ ").with_context(|| format!("{fence} needs `$ COMMAND`"))?;
                let (command, shown) = command.split_once('\n').unwrap_or((command, ""));
                parts.push(Part::Screen { lines, command, shown });
            }
            ("sh", _) => {
                let whole = fence.len() + 1 + body.len() + 4;
                parts.push(Part::Commands(&rest[before.len()..before.len() + whole]));
            }
            _ => parts.push(Part::Text(&rest[before.len()..rest.len() - behind.len()])),
        }
        rest = behind;
    }
    parts.push(Part::Text(rest));
    Ok(parts)
}

/// The text before the next fence, its line, and the text behind it.
fn fence(text: &str) -> Option<(&str, &str, &str)> {
    let at = if text.starts_with("```") { 0 } else { text.find("\n```")? + 1 };
    let (line, behind) = text[at..].split_once('\n')?;
    Some((&text[..at], line, behind))
}

/// A page that is longer is not read to its end.
const MOST_LINES: usize = 200;

/// The first lines of what was printed, and a mark where more followed.
fn cut(printed: &str, lines: Option<usize>) -> String {
    let all: Vec<&str> = printed.trim_end().lines().map(str::trim_end).collect();
    let kept = lines.unwrap_or(all.len()).min(all.len());
    let mut text: String = all[..kept].iter().flat_map(|line| [*line, "\n"]).collect();
    if kept < all.len() {
        text.push_str("…\n");
    }
    text
}

/// First words of rows that are shown and begin none of the printed ones. Sentences, doubts and remarks depend on the
/// machine and are left out.
fn missing<'t>(shown: &'t str, printed: &str) -> Vec<&'t str> {
    let firsts: Vec<&str> = printed.lines().filter_map(first).collect();
    let is_printed = |word: &str| firsts.iter().any(|first| is_same(word, first));
    let mut all: Vec<&str> = shown.lines().filter_map(first).filter(|word| !is_printed(word)).collect();
    all.dedup();
    all
}

/// True for the same word, and for one that a narrow table has cut.
fn is_same(a: &str, b: &str) -> bool {
    let begins = |whole: &str, cut: &str| {
        cut.split_once('…').is_some_and(|(begin, _)| !begin.is_empty() && whole.starts_with(begin))
    };
    a == b || begins(a, b) || begins(b, a)
}

fn first(line: &str) -> Option<&str> {
    let word = line.split_whitespace().next()?;
    let is_word = word.chars().next().is_some_and(char::is_alphabetic);
    (is_word && line.trim().contains("  ") && !line.starts_with(' ')).then_some(word)
}

/// Flags of commands that the verb's help does not know.
fn unknown_flags(bench: &Bench, block: &str, wrong: &mut String) -> Result<()> {
    for line in block.lines().filter(|line| line.starts_with("boxscore ")) {
        let command = line.split("  ").next().unwrap_or(line).split(';').next().unwrap_or(line);
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let Some(verb) = words.first() else { continue };
        let mut asked = vec!["help", verb];
        asked.extend(words.get(1).filter(|word| !word.starts_with('-') && *verb == "run"));
        // The options of a command are in the help of a run that has one.
        if words.contains(&"--cmd") {
            asked = vec![*verb, "--cmd", "true", "--help"];
        }
        let help = bench.output(&asked)?;
        for word in words.iter().filter(|word| word.starts_with("--")) {
            let flag = word.split('=').next().unwrap_or(word);
            if !help.contains(flag) {
                let _ = writeln!(wrong, "`{command}`: `boxscore {}` does not know {flag}", asked.join(" "));
            }
        }
    }
    Ok(())
}

/// The server, and the logs in its folder; both end with it.
struct Bench {
    program: PathBuf,
    address: String,
    server: Server,
}

impl Bench {
    fn new(program: &Path) -> Result<Bench> {
        let folder = shell::target().join("readme");
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        fs::create_dir_all(folder.join("www"))?;
        fs::write(folder.join("www/index.html"), "hello\n")?;
        for (name, slow) in [("ssd", 1.0), ("hdd", 1.8)] {
            fs::write(folder.join(format!("{name}.log")), log(slow))?;
        }
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        drop(listener);
        let address = format!("127.0.0.1:{port}");
        let conf = folder.join("nginx.conf");
        let place = folder.display();
        fs::write(
            &conf,
            format!(
                "worker_processes 1; daemon off; pid {place}/pid; error_log {place}/error.log;\n\
                 events {{ worker_connections 1024; }}\n\
                 http {{ access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;\n\
                 client_body_temp_path {place}/body; proxy_temp_path {place}/proxy;\n\
                 fastcgi_temp_path {place}/fastcgi; uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;\n\
                 server {{ listen {address}; root {place}/www; }} }}\n"
            ),
        )?;
        let conf = conf.to_str().context("the path of the repository is not UTF-8")?;
        let server = Server::start(None, &["nginx", "-c", conf], port, folder.clone())
            .context("nginx is needed (xtask/setup.sh test installs it)")?;
        Ok(Bench { program: program.to_path_buf(), address, server })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(self.program.clone()).chain(std::env::split_paths(&path));
        command.current_dir(&self.server.folder).env("NO_COLOR", "1").env("COLUMNS", "80");
        command.env("BOXSCORE_STORE", self.server.folder.join("store.db"));
        command.env("PATH", std::env::join_paths(path).unwrap_or_default()).stdin(Stdio::null());
        command
    }

    /// The output of a command of README. Fails where it exits with neither 0 nor 3, or, with `lenient`, where it
    /// prints nothing: on a busy machine a proof may well read something wrongly.
    fn run(&self, command: &str, lenient: bool) -> Result<String> {
        let out = self.command("bash").args(["-c", &command.replace(SHOWN, &self.address)]).output()?;
        let code = out.status.code();
        let error = String::from_utf8_lossy(&out.stderr);
        let is_done = matches!(code, Some(0 | 3)) || lenient && code == Some(1) && !out.stdout.is_empty();
        ensure!(is_done, "`{command}` ended with {}: {error}", out.status);
        let text = String::from_utf8(out.stdout).with_context(|| format!("not UTF-8: {command}"))?;
        Ok(text.replace(&self.address, SHOWN))
    }

    fn output(&self, words: &[&str]) -> Result<String> {
        shell::must_output(self.command("boxscore").args(words))
    }
}

/// The outage of the slower server: seconds since the first request, and the status and seconds of its answers.
const OUTAGE: std::ops::Range<u64> = 14 * 3600..14 * 3600 + 20 * 60;
const UNAVAILABLE: (u64, f64) = (503, 30.0);

/// Two days of requests whose times are drawn so many times as long, in nginx's format with `$request_time`. Of the
/// slower server about half fail during the outage.
fn log(slow: f64) -> String {
    let mut text = String::new();
    let mut state = 12_345_u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for i in 0..LOG_LINES {
        let second = i * 2 * 86_400 / LOG_LINES;
        let is_out = slow > 1.0 && OUTAGE.contains(&second);
        let (day, second) = (1 + second / 86_400, second % 86_400);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let size = 200 + draw(40) * draw(500);
        let time = slow * (0.001 + size as f64 * 1e-7) * (0.5 + draw(1000) as f64 / 1000.0);
        let (path, client) = (draw(40), draw(200));
        let fails = draw(if is_out { 2 } else { 5000 }) == 0;
        let (status, time) = match (fails, is_out) {
            (true, true) => UNAVAILABLE,
            (true, false) => (500, time),
            (false, _) => (200, time),
        };
        let _ = writeln!(
            text,
            "10.0.0.{client} - - [0{day}/May/2026:{hour:02}:{minute:02}:{second:02} +0000] \"GET /{path}.html \
             HTTP/1.1\" {status} {size} \"-\" \"Mozilla/5.0\" {time:.6}"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A\n\n```sh\nboxscore run --quick  all\n```\nb\n```console 2\n$ boxscore list\nx 1\ny\n…\n```\nend\n";

    #[test]
    fn blocks_are_found_and_put_together_again() {
        let parts = parse(TEXT).unwrap();
        assert_eq!(parts[1], Part::Commands("```sh\nboxscore run --quick  all\n```\n"));
        let screen = Part::Screen { lines: Some(2), command: "boxscore list", shown: "x 1\ny\n…\n" };
        assert_eq!((&parts[3], &parts[4]), (&screen, &Part::Text("end\n")));
        assert!(parse("```console\nno command\n```\n").is_err() && parse("```console\n$ a\n").is_err());
    }

    #[test]
    fn a_screen_is_cut_where_it_says() {
        assert_eq!(cut("a \nb\nc\n", Some(2)), "a\nb\n…\n");
        assert_eq!(cut("a\nb\n", Some(2)), "a\nb\n");
        assert_eq!(cut("a\n", None), "a\n");
    }

    #[test]
    fn a_line_that_is_no_more_printed_is_missing() {
        let printed = "integer  Mop/s  300\n  go on\n! doubt\nversus boxscore compare\n";
        assert!(
            missing("integer  Mop/s  298\n! another  doubt\n  more  so\nSome sentence.\n", printed)
                .is_empty()
        );
        assert!(missing("cipher AES  1\n", "ciph…GCM  2\n").is_empty());
        assert_eq!(missing("integer  1\nfloating  2\n", printed), ["floating"]);
    }
}
