//! `boxscore doctor --prove`: plants faults whose size is known and prints what was planted beside what was read.
//!
//! Everything is measured as in any run: the measuring child takes, a store of its own keeps the takes, and the same
//! rules judge. The size of a fault is taken from the faulty server's own account, not from its order.

mod bench;
mod machine;
mod quota;
mod servers;
mod wakes;

use model::doc::{ProofDoc, ProofState};

use crate::cli::Global;
use crate::error::{CliError, Kind};
use crate::lookup::paths;
use crate::out;
use crate::study::stop_signal::StopSignal;
use bench::{Bench, Lines};

/// One fault: its key, what it is in words, and how it is planted and read.
struct Proof {
    key: &'static str,
    says: &'static str,
    lines: fn(&Bench<'_>) -> Lines,
}

const ALL: &[Proof] = &[
    Proof {
        key: "delay",
        says: "A server that holds each response for 20 ms, 500 requests a second",
        lines: servers::delay,
    },
    Proof {
        key: "percentiles",
        says: "A server that holds responses for 1 to 51 ms, 1000 requests a second",
        lines: servers::percentiles,
    },
    Proof {
        key: "stall",
        says: "A server that stands still for 1 s in 10 s: 10 connections, 1000 requests a second",
        lines: servers::stall,
    },
    Proof {
        key: "slow-server",
        says: "A server that does one request at a time and takes 2 ms for each, 10 connections",
        lines: servers::slow,
    },
    Proof { key: "cut-bodies", says: "Every 10th body is cut in half", lines: servers::cut },
    Proof {
        key: "faults",
        says: "Every 10th request meets a fault: resets, silence, junk, wrong lengths and others in turn",
        lines: servers::faults,
    },
    Proof { key: "same-core", says: "Server and load generator on one core", lines: machine::same_core },
    Proof {
        key: "quota",
        says: "A control group that gives the measuring child a quarter of a CPU",
        lines: machine::quota,
    },
    Proof { key: "cached-disk", says: "Disk reads that the page cache answers", lines: machine::cached_disk },
];

/// The faults of these names, or all of them.
fn chosen(names: &[String]) -> Result<Vec<&'static Proof>, CliError> {
    let known = || ALL.iter().map(|proof| proof.key);
    for name in names {
        if name != "all" && !known().any(|key| key == name) {
            let error = CliError::usage(format!("--prove={name}: no fault has this name"));
            return Err(error.hint(known().collect::<Vec<_>>().join(", ")).did_you_mean(name, known()));
        }
    }
    let wanted = |proof: &&Proof| names.iter().any(|name| name == "all" || name == proof.key);
    Ok(ALL.iter().filter(wanted).collect())
}

pub fn run(names: &[String], global: &Global) -> Result<u8, CliError> {
    let chosen = chosen(names)?;
    let stop = StopSignal::listen()?;
    let store = paths::store(global)?;
    let began_ns = sys::clock::now_ns();
    let bench = Bench::new(&store, &stop)?;
    let _alone = bench.alone(&store)?;
    if !global.json {
        out::print(&report::text::prove::head(out::look()));
    }
    let mut proofs = Vec::new();
    for proof in chosen {
        let document = one(proof, &bench);
        if stop.is_requested() {
            return Err(CliError::interrupted("interrupted"));
        }
        if !global.json {
            out::print(&report::text::prove::proof(&document, out::look()));
        }
        proofs.push(document);
    }
    let seconds = sys::clock::now_ns().saturating_sub(began_ns) as f64 / 1e9;
    let document = verdict::prove::document(proofs, seconds);
    if global.json {
        out::json(&document);
    } else {
        out::print(&report::text::prove::tally(&document));
    }
    Ok(if document.failed > 0 { Kind::Data.exit_code() } else { 0 })
}

fn one(proof: &Proof, bench: &Bench<'_>) -> ProofDoc {
    let lines = (proof.lines)(bench)
        .unwrap_or_else(|why| vec![verdict::prove::missing("measured", "see above", ProofState::Fail, &why)]);
    ProofDoc { key: proof.key.to_owned(), says: proof.says.to_owned(), lines }
}
