//! The project's own scripts: generated files, house rules, the steps of CI, distribution builds.
//!
//! Run as `cargo xtask VERB`. Nothing here is shipped; it prints, spawns and writes in the working tree.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a developer's script talks on the terminal")]

mod adding;
mod ci;
mod count;
mod deny;
mod dist;
mod failures;
mod generate;
mod install;
mod jar;
mod new;
mod perf;
mod readme;
mod server;
mod shell;
mod smoke;
mod tidy;

use std::process::ExitCode;

use anyhow::{Result, bail};

const HELP: &str = "\
cargo xtask VERB
  ci                           formatting, lints, tests, house rules, generated files, dependencies
  tidy                         the house rules alone
  count                        lines of each crate: code, tests, docs, comments, blank
  sample-docs [--seed N] [--count N]
                               doc comments drawn at random (20)
  new instrument NAME [--family cpu|memory|disk|machine]
                               a benchmark that works, to be changed
  new section NAME             a section of the report that works, to be changed
  adding                       try out docs/adding.md in a copy of the tree
  test-all                     ci, longer fuzzing, the binaries of every target
  install [--prefix DIR]       the program, its man pages and completions, below /usr/local
  package                      a Debian package and an archive of the same, in dist/
  readme [--check]             run README's commands and take in what they print (or say where it has another shape)
  dist | dist-all              static binaries in dist/: of this host, or of every target (each then tried)
  perf [OPTIONS]               our kernels beside others', our size and start-up (`perf --help`)
  jar LIB                      the input format of logs --hadoop, beside its source; LIB has the jars of a Hadoop
  gen [--check]                write the generated files (or say which are stale)";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match verb(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn verb(words: &[&str]) -> Result<()> {
    match words {
        ["ci"] => ci::run(),
        ["jar", lib] => jar::run(lib),
        ["adding"] => adding::run(),
        ["new", "instrument", name] => new::instrument(name, "cpu"),
        ["new", "instrument", name, "--family", family] => new::instrument(name, family),
        ["new", "section", name] => new::section(name),
        ["test-all"] => ci::all(),
        ["install"] => install::run(None),
        ["install", "--prefix", prefix] => install::run(Some(prefix)),
        ["package"] => install::package(),
        ["readme"] => readme::run(false),
        ["readme", "--check"] => readme::run(true),
        ["dist"] => dist::host(),
        ["dist-all"] => dist::all(),
        ["tidy"] => tidy::run(),
        ["count"] => count::run(),
        ["sample-docs", rest @ ..] => count::sample_docs(rest),
        ["perf", rest @ ..] => perf::run(rest),
        ["gen"] => generate::run(false),
        ["gen", "--check"] => generate::run(true),
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        _ => bail!("unknown command `{}`\n{HELP}", words.join(" ")),
    }
}
