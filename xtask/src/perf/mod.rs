//! `cargo xtask perf`: our kernels beside others', and our own size and start-up, paired and in turns.
//!
//! Nothing here is a test, and no figure fails a build. Other people's programs are only run, by the paths given.

mod bmc;
mod bound;
mod commands;
mod crc;
mod decide;
mod generators;
mod kv;
mod lab;
mod limits;
mod log_job;
mod logs;
mod mapper;
mod memory;
mod net;
mod nodes;
mod options;
mod pairs;
mod record;
mod runtime;
mod store;
mod web;

use anyhow::Result;

use crate::shell;
use options::Options;
use pairs::Outcome;

/// One group of comparisons: the options, the program that runs our side, and where the results go.
type Part = fn(&Options, &str, &mut Outcome) -> Result<()>;

/// The parts by the names that `--only` takes, in the order in which they run.
const PARTS: [(&str, Part); 18] = [
    ("crc32c", crc::run),
    ("latency", memory::latency),
    ("bandwidth", memory::bandwidth),
    ("stream", memory::stream),
    ("web", |options, _, outcome| web::run(options, outcome)),
    ("kv", kv::run),
    ("logs", logs::run),
    ("mapper", mapper::run),
    ("log-job", log_job::run),
    ("net", net::run),
    ("runtime", runtime::run),
    ("commands", |options, _, outcome| commands::run(options, outcome)),
    ("decide", |options, _, outcome| decide::run(options, outcome)),
    ("store", |options, _, outcome| store::run(options, outcome)),
    ("lab", |options, _, outcome| lab::run(options, outcome)),
    ("bmc", |options, _, outcome| bmc::run(options, outcome)),
    ("nodes", |options, _, outcome| nodes::run(options, outcome)),
    ("limits", |options, _, outcome| limits::run(options, outcome)),
];

/// Runs the parts that the options ask for, prints a line for each comparison and keeps them in docs/perf.
pub fn run(words: &[&str]) -> Result<()> {
    let options = Options::parse(words)?;
    let peers = build(&options)?;
    println!("{}", pairs::heading());
    let mut outcome = Outcome::default();
    for (_, part) in PARTS.iter().filter(|(name, _)| options.wants(name)) {
        part(&options, &peers, &mut outcome)?;
    }
    record::append(&options, &outcome)
}

/// The parts that run `boxscore` itself.
const OF_PRODUCT: [&str; 11] =
    ["web", "kv", "mapper", "log-job", "commands", "decide", "store", "lab", "bmc", "nodes", "limits"];

/// The parts that run nothing of ours besides.
const ALONE: [&str; 8] = ["web", "commands", "decide", "store", "lab", "bmc", "nodes", "limits"];

/// Builds the programs that run our side, so that they are never those of another commit: `boxscore` where it is needed
/// and none was given, and ours beside the peers, whose dependencies are locked beside it.
fn build(options: &Options) -> Result<String> {
    if options.boxscore.is_none() && OF_PRODUCT.iter().any(|part| options.wants(part)) {
        shell::run(&shell::cargo(), &["build", "--release", "--locked", "--quiet", "-p", "boxscore"])?;
    }
    if PARTS.iter().all(|(name, _)| !options.wants(name) || ALONE.contains(name)) {
        return Ok(String::new());
    }
    let target = shell::root().join("target/peers").display().to_string();
    let manifest = shell::root().join("perf/peers/Cargo.toml").display().to_string();
    let words = ["build", "--release", "--locked", "--quiet", "--manifest-path", &manifest, "--target-dir"];
    shell::run(&shell::cargo(), &[words.as_slice(), &[&target]].concat())?;
    Ok(format!("{target}/release/boxscore-peers"))
}
