//! The catalogue against the cards: each row is read, and a figure of ours could stand beside it.

use std::collections::BTreeSet;

use model::Conditions;
use verdict::compare::{RowKey, published_for};

use super::*;

#[test]
fn reference_machines_carry_runs_of_one_machine_with_their_takes() {
    assert!(reference().unwrap().is_some());
    for name in references() {
        let (_, runs) = reference_named(name).unwrap().unwrap();
        assert!(runs.len() >= 2, "{name}: the noise between runs needs several");
        for run in &runs {
            assert_eq!((run.head.machine_id.as_str(), run.head.machine.as_str()), (name, name));
            assert_eq!(run.head.status, model::data::Status::Complete);
            let headlines = run.plan.cells.iter().filter(|cell| !cell.headline.is_empty());
            for cell in headlines {
                let own = |s: &&model::data::Series| s.key.instrument == cell.instrument;
                let takes = run.series.iter().filter(own).map(|s| s.measured().len()).max();
                assert!(takes.is_some_and(|n| n >= 6), "{name}: {} in {}", cell.instrument, run.head.id);
            }
        }
    }
    assert_eq!(reference_named("ref-none").unwrap().map(|(name, _)| name), None);
}

#[test]
fn every_figure_belongs_to_a_machine_and_is_read() {
    let machines = machines().unwrap();
    let rows = csv::parse("published.csv", FIGURES).unwrap();
    assert_eq!(machines.iter().map(|machine| machine.figures.len()).sum::<usize>(), rows.len());
    assert!(machines.iter().flat_map(|m| &m.figures).all(|f| f.value.is_finite() && f.value > 0.0));
}

#[test]
fn units_are_those_of_the_studies() {
    let machines = machines().unwrap();
    let xeon = machines.iter().find(|machine| machine.name == "xeon-e5620").unwrap();
    let crc = xeon.figures.iter().find(|f| f.key.params.get("size") == Some("1KiB")).unwrap();
    assert_eq!(crc.key.title(), "crc32c throughput impl=chain;size=1KiB;threads=1");
    assert_eq!(crc.value, 6643.0 * 1_048_576.0);
    let read = xeon.figures.iter().find(|f| f.key.instrument == "mem-bandwidth").unwrap();
    assert_eq!((read.value, read.key.unit), (7.8e9, Unit::BytesPerSec));
    assert_eq!(read.key.params.get("dimms"), Some("1 DIMM"));
    assert_eq!(read.key.params.get("channels"), Some("1"));
}

#[test]
fn caveats_stand_with_their_fact() {
    let machines = machines().unwrap();
    let x3470 = machines.iter().find(|machine| machine.name == "xeon-x3470").unwrap();
    let clock = x3470.facts.iter().find(|fact| fact.key == "memory.mts").unwrap();
    assert!(clock.why.as_deref().unwrap().contains("800 MHz from 24 GB on"));
}

/// A row of `published.csv` as it is written.
fn rows() -> Vec<csv::CsvRow> {
    csv::parse("published.csv", FIGURES).unwrap()
}

/// Why a row can never stand beside a figure of ours: no card has its instrument, metric, unit or parameters.
fn dead(row: &csv::CsvRow) -> Result<(), String> {
    let text = |column: &str| row.get(column).unwrap_or_default();
    let at = format!("{} {} of {}", text("instrument"), text("metric"), text("machine"));
    let find = instruments::find(text("instrument")).ok_or(format!("{at}: no such instrument"))?;
    let card = find.card();
    let metric = card.metric(text("metric")).ok_or(format!("{at}: no such metric"))?;
    let (printed, _) = printed::unit(text("unit"), card.name).ok_or(format!("{at}: no such unit"))?;
    let is_ratio = text("unit") == "ratio" && metric.unit != Unit::Ratio;
    if printed != metric.unit && !is_ratio {
        return Err(format!("{at}: the card's unit is {}", metric.unit.symbol()));
    }
    let figure = figure(row).ok_or(format!("{at}: cannot be read"))?;
    if figure.better != metric.better && !is_ratio {
        return Err(format!("{at}: the card says {:?}", metric.better));
    }
    for (name, value) in text("params").split(';').filter_map(|pair| pair.split_once('=')) {
        let spec = card
            .param(name)
            .ok_or(format!("{at}: no parameter {name}; what only the study has is `stated`"))?;
        // A ratio names two values.
        for value in if is_ratio { value.split('/').collect() } else { vec![value] } {
            spec.canonical(value).map_err(|error| format!("{at}: {error}"))?;
        }
    }
    for (name, value) in text("stated").split(';').filter_map(|pair| pair.split_once('=')) {
        let known = card.param(name).map(|spec| spec.canonical(value));
        known.transpose().map_err(|error| format!("{at}: {error}"))?;
    }
    if is_ratio {
        return Ok(());
    }
    let ours = card.lay(&Params::default(), &figure.key.params).map_err(|error| format!("{at}: {error}"))?;
    stands_beside(&figure, ours).then_some(()).ok_or(format!("{at}: stands beside no figure of ours"))
}

/// True where a run of ours with these parameters has a row beside the figure.
fn stands_beside(figure: &Published, params: Params) -> bool {
    let key = SeriesKey { params, ..figure.key.clone() };
    let ours = RowKey::published(&Published { key, ..figure.clone() });
    published_for(&ours, &Conditions::default(), figure.better, std::slice::from_ref(figure)).is_some()
}

#[test]
fn every_figure_is_one_that_a_card_measures() {
    let dead: Vec<String> = rows().iter().filter_map(|row| dead(row).err()).collect();
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn a_row_that_can_never_match_is_found() {
    let planted = |column: &str, text: &str| {
        let mut row = rows().into_iter().find(|row| row.get("instrument") == Some("disk-use")).unwrap();
        row.cells.insert(column.to_owned(), text.to_owned());
        dead(&row).unwrap_err()
    };
    assert!(planted("instrument", "net").ends_with("no such instrument"));
    assert!(planted("metric", "response_time.mean").ends_with("no such metric"));
    assert!(planted("unit", "us").ends_with("the card's unit is B/s"));
    assert!(planted("unit", "furlong").ends_with("no such unit"));
    assert!(planted("better", "higher").contains("the card says"));
    assert!(planted("params", "readers=1").contains("no parameter readers"));
    let mut row = rows().into_iter().find(|row| row.get("instrument") == Some("net-ping")).unwrap();
    row.cells.remove("params");
    row.cells.insert("stated".to_owned(), "stack=kernel".to_owned());
    assert!(dead(&row).unwrap_err().ends_with("stands beside no figure of ours"));
}

#[test]
fn facts_belong_to_machines_and_what_is_no_number_is_as_printed() {
    let machines = machines().unwrap();
    let rows = csv::parse("facts.csv", FACTS).unwrap();
    for row in &rows {
        let machine = machines.iter().find(|one| Some(one.name.as_str()) == row.get("machine")).unwrap();
        let (key, value) = (row.get("key").unwrap(), row.get("value").unwrap());
        assert!(machine.facts.iter().any(|fact| fact.key == key && fact.value.is_some()), "{key}");
        assert!(sheet::fact(key, value, "").is_ok(), "{key}={value}");
    }
    let opteron = machines.iter().find(|machine| machine.name == "opteron-6134").unwrap();
    let text =
        |key: &str| opteron.facts.iter().find(|fact| fact.key == key).unwrap().value.as_ref().unwrap().text();
    assert_eq!(
        (text("cpu.mhz.max"), text("cpu.sockets.max"), text("memory.max.bytes")),
        ("none".to_owned(), "? (>= 4)".to_owned(), "? (>= 128 GB)".to_owned())
    );
}

/// Where the list of tables differs from the catalogue: what it names that no study has, and what it leaves out.
fn astray(list: &str) -> Vec<String> {
    let machines = machines().unwrap();
    let facts = csv::parse("facts.csv", FACTS).unwrap();
    let of = |machine: Option<&str>| machines.iter().find(|one| Some(one.name.as_str()) == machine).unwrap();
    let mut astray = Vec::new();
    for part in list.split("\n## ").skip(1) {
        let study = part.split(':').next().unwrap();
        let cells = part.lines().filter_map(|line| line.split('|').nth(2));
        let words: Vec<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
        let facts: BTreeSet<&str> = facts
            .iter()
            .filter(|row| of(row.get("machine")).study == study)
            .map(|row| row.get("key").unwrap())
            .collect();
        let is_fact = |word: &str, key: &str| {
            word.strip_suffix('*').map_or(word == key, |prefix| key.starts_with(prefix))
        };
        let figures: BTreeSet<[String; 3]> = rows()
            .iter()
            .filter(|row| row.get("study") == Some(study))
            .map(|row| (row.get("instrument").unwrap().to_owned(), row.get("metric").unwrap().to_owned()))
            .map(|(instrument, metric)| [format!("{instrument} {metric}"), instrument, metric])
            .collect();
        let is_figure = |word: &str, figure: &[String; 3]| figure.iter().any(|name| name == word);
        let unknown = words.iter().filter(|word| {
            !facts.iter().any(|key| is_fact(word, key)) && !figures.iter().any(|one| is_figure(word, one))
        });
        astray.extend(unknown.map(|word| format!("{study} has no {word}")));
        let left_out = facts.iter().filter(|key| !words.iter().any(|word| is_fact(word, key)));
        astray.extend(left_out.map(|key| format!("{study}: {key} is missing")));
        let left_out = figures.iter().filter(|one| !words.iter().any(|word| is_figure(word, one)));
        astray.extend(left_out.map(|[name, ..]| format!("{study}: {name} is missing")));
    }
    astray
}

#[test]
fn the_list_of_tables_names_every_fact_and_figure_and_no_other() {
    const LIST: &str = include_str!("../../../catalogue/TABLES.md");
    assert_eq!(astray(LIST), Vec::<String>::new());
    let studies = machines().unwrap().into_iter().map(|machine| machine.study);
    studies.for_each(|study| assert!(LIST.contains(&format!("\n## {study}: ")), "{study}"));
    let planted =
        LIST.replace("`hadoop.heap`", "`hadoop.stack`").replace("`recover-segment time`", "recover-segment");
    let wanted = [
        "ramcloud-eval-2010: recover-segment time is missing",
        "linaro-2012 has no hadoop.stack",
        "linaro-2012: hadoop.heap is missing",
    ];
    assert_eq!(astray(&planted), wanted);
}
