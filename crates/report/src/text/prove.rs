//! The self-test as text: each planted value beside the value that was read, one line each, and a tally.

use model::FactValue;
use model::doc::{ProofDoc, ProofLineDoc, ProofState, ProveDoc};
use model::format::{Kind, fixed, quantity};

use super::{Look, Tone, hang, hang_painted, width};

const WHAT: usize = 30;
const VALUE: usize = 11;
/// Columns of the mark with the space behind it.
const MARK: usize = 3;

const fn mark(state: ProofState) -> (&'static str, Tone) {
    match state {
        ProofState::Pass => ("ok", Tone::Good),
        ProofState::Unknown => ("-", Tone::Dim),
        ProofState::Fail => ("x", Tone::Bad),
    }
}

fn value(line: &ProofLineDoc, scalar: &FactValue) -> String {
    match (scalar, line.unit) {
        (FactValue::Number(number), Some(model::Unit::Count)) => {
            fixed(*number, if number.fract() == 0.0 { 0 } else { 2 })
        }
        (FactValue::Number(number), Some(unit @ model::Unit::PerSec)) => {
            quantity(*number, Kind { item: "req", ..Kind::for_unit(unit) })
        }
        (FactValue::Number(number), Some(unit)) => quantity(*number, Kind::for_unit(unit)),
        (FactValue::Number(number), None) => model::format::number(*number),
        (FactValue::Text(text), _) => text.clone(),
        (FactValue::Flag(flag), _) => flag.to_string(),
    }
}

/// The heads of the columns.
pub fn head(look: Look) -> String {
    let text = format!("   {:<WHAT$} {:>VALUE$} {:>VALUE$}  wanted", "", "planted", "read");
    format!("{}\n", Tone::Dim.paint(text.trim_end(), look.paint))
}

/// One planted fault with its lines.
pub fn proof(doc: &ProofDoc, look: Look) -> String {
    let mut out = hang("", &doc.says, look.columns);
    for line in &doc.lines {
        out.push_str(&one(line, look));
        if let Some(why) = &line.why {
            out.push_str(&hang("   ", why, look.columns));
        }
    }
    out
}

fn one(line: &ProofLineDoc, look: Look) -> String {
    let (mark, tone) = mark(line.state);
    let gap = " ".repeat(MARK - width(mark));
    let mark = format!("{}{gap}", tone.paint(mark, look.paint));
    let (planted, read) = (value(line, &line.planted), line.read.as_ref().map(|read| value(line, read)));
    match (&line.planted, &line.read) {
        (FactValue::Number(_), read_) if !matches!(read_, Some(FactValue::Text(_))) => {
            let read = read.unwrap_or_else(|| "-".to_owned());
            let head = format!("{:<WHAT$} {planted:>VALUE$} {read:>VALUE$}  ", line.what);
            let indent = MARK + width(&head);
            hang_painted(&format!("{mark}{head}"), indent, &line.wanted, look.columns.max(indent + 8))
        }
        _ => {
            let mut text = hang_painted(&mark, MARK, &format!("{}: {planted}", line.what), look.columns);
            if let Some(read) = read {
                text.push_str(&hang("   ", &read, look.columns));
            }
            text
        }
    }
}

/// How all of it ended.
pub fn tally(doc: &ProveDoc) -> String {
    let mut parts = vec![format!("{} of {} read rightly", doc.passed, doc.passed + doc.failed + doc.unknown)];
    if doc.failed > 0 {
        parts.push(format!("{} read wrongly", doc.failed));
    }
    if doc.unknown > 0 {
        parts.push(format!("{} cannot be told here", doc.unknown));
    }
    format!("\n{}, in {} s\n", parts.join(", "), fixed(doc.seconds, 0))
}

#[cfg(test)]
mod tests {
    use model::Unit;

    use super::*;

    fn line(
        planted: FactValue,
        read: Option<FactValue>,
        state: ProofState,
        why: Option<&str>,
    ) -> ProofLineDoc {
        ProofLineDoc {
            what: "p99.9 service time".to_owned(),
            unit: Some(Unit::Second),
            planted,
            read,
            wanted: "within 500 us (jitter)".to_owned(),
            state,
            why: why.map(str::to_owned),
        }
    }

    #[test]
    fn a_proof_fits_in_80_columns_with_every_part() {
        let long = "throttled (invalid): measures the quota, not the machine: stopped by the CPU quota of 0.25 CPUs in 5 of \
                    5 takes; lift it or compare only inside it";
        let doc = ProofDoc {
            key: "delay".to_owned(),
            says: "A server that delays each response by 20 ms".to_owned(),
            lines: vec![
                line(FactValue::Number(0.02), Some(FactValue::Number(0.0201)), ProofState::Pass, None),
                line(FactValue::Number(0.02), None, ProofState::Fail, Some("nothing was read")),
                line(
                    FactValue::Text("a quarter of a CPU".to_owned()),
                    Some(FactValue::Text(long.to_owned())),
                    ProofState::Pass,
                    None,
                ),
                line(
                    FactValue::Text("a quarter of a CPU".to_owned()),
                    None,
                    ProofState::Unknown,
                    Some("no control group can be made"),
                ),
            ],
        };
        let text = format!("{}{}", head(Look::plain()), proof(&doc, Look::plain()));
        insta::assert_snapshot!(text);
        assert!(text.lines().all(|line| width(line) <= 80), "{text}");
    }

    #[test]
    fn the_tally_names_what_there_is() {
        let doc = |failed, unknown| ProveDoc {
            schema: String::new(),
            proofs: Vec::new(),
            passed: 3,
            failed,
            unknown,
            seconds: 58.4,
        };
        assert_eq!(tally(&doc(0, 0)), "\n3 of 3 read rightly, in 58 s\n");
        assert_eq!(
            tally(&doc(1, 2)),
            "\n3 of 6 read rightly, 1 read wrongly, 2 cannot be told here, in 58 s\n"
        );
    }
}
