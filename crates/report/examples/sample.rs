//! Writes the report of the tests' invented run, to look at:
//! `sample FILE.html [two|web|webs|arms|load|logs|cut|runtime]`.

#[path = "../tests/common/mod.rs"]
mod common;

use common::web::shared;
use report::html::{ReportInput, report};

fn main() -> std::io::Result<()> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "sample.html".to_owned());
    let what = std::env::args().nth(2).unwrap_or_default();
    let mut input = ReportInput {
        runs: shared([(common::run(), common::data(12, 16, 112))]),
        compare: Some(if what == "two" { common::three() } else { common::compare() }.into()),
        version: "0.1.0".to_owned(),
        command: "boxscore report latest".to_owned(),
        generated: "2026-11-21 06:30 UTC".to_owned(),
        ..ReportInput::default()
    };
    match what.as_str() {
        "two" => {
            let mut other = common::run();
            other.machine.name = "nano-2".to_owned();
            input.runs.extend(shared([(other, common::data(12, 4, 60))]));
        }
        "web" | "webs" => {
            input.runs = shared([common::web::web()]);
            input.compare = None;
            if what == "webs" {
                let mut other = common::web::web();
                other.0.machine.name = "nano-2".to_owned();
                input.runs.extend(shared([other]));
            }
        }
        "arms" => {
            input.runs = shared([common::web::arms()]);
            input.compare = None;
        }
        "load" => {
            input.runs = shared([common::web::one_load()]);
            input.compare = None;
        }
        "runtime" => {
            input.runs = shared([common::runtime::warm_up((common::run(), common::data(12, 16, 112)))]);
            input.ratios = vec![common::runtime::ratios()];
        }
        "logs" | "cut" => {
            let (runs, compare) =
                if what == "cut" { common::logs::sides() } else { common::logs::machines() };
            (input.runs, input.compare) = (shared(runs), Some(compare.into()));
        }
        _ => {}
    }
    std::fs::write(file, report(&input))
}
