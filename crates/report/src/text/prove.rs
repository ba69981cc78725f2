//! What was planted beside what was read of it: one line each, and a tally at the end.

use model::doc::{ProofDoc, ProofLineDoc, ProofState, ProveDoc, Scalar};

use super::{Look, Tone, hang, width};
use crate::number::{Kind, fixed, quantity};

const WHAT: usize = 30;
const VALUE: usize = 11;

const fn mark(state: ProofState) -> (&'static str, Tone) {
    match state {
        ProofState::Pass => ("ok", Tone::Good),
        ProofState::Unknown => ("-", Tone::Dim),
        ProofState::Fail => ("x", Tone::Bad),
    }
}

fn value(line: &ProofLineDoc, scalar: &Scalar) -> String {
    match (scalar, line.unit) {
        (Scalar::Number(number), Some(model::Unit::Count)) => {
            fixed(*number, if number.fract() == 0.0 { 0 } else { 2 })
        }
        (Scalar::Number(number), Some(unit @ model::Unit::PerSec)) => {
            quantity(*number, Kind { item: "req", ..Kind::of(unit) })
        }
        (Scalar::Number(number), Some(unit)) => quantity(*number, Kind::of(unit)),
        (Scalar::Number(number), None) => crate::number::number(*number),
        (Scalar::Text(text), _) => text.clone(),
        (Scalar::Flag(flag), _) => flag.to_string(),
    }
}

/// The heads of the columns.
#[must_use]
pub fn head(look: Look) -> String {
    let text = format!("   {:<WHAT$} {:>VALUE$} {:>VALUE$}  wanted", "", "planted", "read");
    format!("{}\n", Tone::Dim.paint(text.trim_end(), look.paint))
}

/// One planted fault with its lines.
#[must_use]
pub fn proof(doc: &ProofDoc, look: Look) -> String {
    let mut out = hang("", &doc.says, look.columns);
    for line in &doc.lines {
        let (mark, tone) = mark(line.state);
        let text = one(line, mark, look);
        out.push_str(&text.replacen(mark, &tone.paint(mark, look.paint), 1));
        if let Some(why) = &line.why {
            out.push_str(&hang("   ", why, look.columns));
        }
    }
    out
}

fn one(line: &ProofLineDoc, mark: &str, look: Look) -> String {
    let (planted, read) = (value(line, &line.planted), line.read.as_ref().map(|read| value(line, read)));
    match (&line.planted, &line.read) {
        (Scalar::Number(_), read_) if !matches!(read_, Some(Scalar::Text(_))) => {
            let read = read.unwrap_or_else(|| "-".to_owned());
            let head = format!("{mark:<2} {:<WHAT$} {planted:>VALUE$} {read:>VALUE$}  ", line.what);
            hang(&head, &line.wanted, look.columns.max(width(&head) + 8))
        }
        _ => {
            let head = format!("{mark:<2} ");
            let mut text = hang(&head, &format!("{}: {planted}", line.what), look.columns);
            if let Some(read) = read {
                text.push_str(&hang("   ", &read, look.columns));
            }
            text
        }
    }
}

/// How all of it ended.
#[must_use]
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

    fn line(planted: Scalar, read: Option<Scalar>, state: ProofState, why: Option<&str>) -> ProofLineDoc {
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
        let long = "throttled (invalid): stopped by the CPU quota of 0.25 CPUs in 5 of 5 takes: the figure measures \
                    the quota, not the machine; lift it or compare only inside it";
        let doc = ProofDoc {
            key: "delay".to_owned(),
            says: "A server that delays each response by 20 ms".to_owned(),
            lines: vec![
                line(Scalar::Number(0.02), Some(Scalar::Number(0.0201)), ProofState::Pass, None),
                line(Scalar::Number(0.02), None, ProofState::Fail, Some("nothing was read")),
                line(
                    Scalar::Text("a quarter of a CPU".to_owned()),
                    Some(Scalar::Text(long.to_owned())),
                    ProofState::Pass,
                    None,
                ),
                line(
                    Scalar::Text("a quarter of a CPU".to_owned()),
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
