//! The instruments as a list: what each measures, and whether it can run here.

use model::doc::{InstrumentDoc, ListDoc};

use super::{hang, width};

/// One line an instrument, by family; with `long` also parameters, metrics and sources.
pub fn list(doc: &ListDoc, long: bool, columns: usize) -> String {
    let mut families: Vec<&str> = Vec::new();
    for one in &doc.instruments {
        if !families.contains(&one.family.as_str()) {
            families.push(&one.family);
        }
    }
    let room = doc.instruments.iter().map(|one| width(&one.name)).max().unwrap_or(0).min(24);
    let mut out = String::new();
    for family in families {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&format!("{family}\n"));
        for one in doc.instruments.iter().filter(|one| one.family == family) {
            out.push_str(&entry(one, room, columns));
            if long {
                out.push_str(&details(one, columns));
            }
        }
        for remark in doc.remarks.iter().filter(|remark| long && remark.family == family) {
            out.push_str(&hang("  - ", &format!("{}: {}", remark.about, remark.says), columns));
        }
    }
    if doc.instruments.iter().any(|one| !one.runnable) {
        out.push_str("\nx = cannot run here, with the reason\n");
    }
    out
}

fn entry(one: &InstrumentDoc, room: usize, columns: usize) -> String {
    let mark = if one.runnable { ' ' } else { 'x' };
    let mut out = hang(&format!("{mark} {:<room$}  ", one.name), &one.says, columns);
    if let Some(why) = &one.why {
        out.push_str(&hang(&" ".repeat(room + 4), &format!("({why})"), columns));
    }
    out
}

fn details(one: &InstrumentDoc, columns: usize) -> String {
    let mut out = String::new();
    let mut line = |word: &str, text: &str| out.push_str(&hang(&format!("    {word:<9} "), text, columns));
    line("source", &format!("{}; definition {}", one.source, one.definition));
    if !one.needs.is_empty() {
        line("needs", &one.needs.join(", "));
    }
    for metric in &one.metrics {
        let better = match metric.better.word() {
            "neither" => String::new(),
            word => format!(", {word} is better"),
        };
        line("metric", &format!("{} ({}{better}): {}", metric.name, metric.unit.symbol(), metric.definition));
    }
    for param in &one.params {
        let usual = match param.default.as_str() {
            "" => String::new(),
            default => format!(" (default {default})"),
        };
        line("parameter", &format!("{} = {}: {}{usual}", param.name, param.values, param.says));
    }
    out.push('\n');
    out
}
