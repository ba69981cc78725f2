//! The checks of a host as text: each thing that would spoil measurements, with how to change it.

use model::doc::{CheckState, DoctorDoc};

use super::{Look, Tone, hang, width};

const fn mark(state: CheckState) -> (&'static str, Tone) {
    match state {
        CheckState::Ok => ("ok", Tone::Good),
        CheckState::Unknown => ("-", Tone::Dim),
        CheckState::Warn => ("!", Tone::Warn),
        CheckState::Bad => ("x", Tone::Bad),
    }
}

/// The checks, worst first within the document's order; the remedy stands below what needs one.
pub fn table(doc: &DoctorDoc, look: Look) -> String {
    let key_room = doc.checks.iter().map(|check| width(&check.key)).max().unwrap_or(0);
    let mut out = String::new();
    for state in [CheckState::Bad, CheckState::Warn, CheckState::Unknown, CheckState::Ok] {
        for check in doc.checks.iter().filter(|check| check.state == state) {
            let (mark, tone) = mark(state);
            let fine = state == CheckState::Ok || check.wanted.is_empty() || check.wanted == check.found;
            let text = if fine {
                check.found.clone()
            } else {
                format!("{} (wanted: {})", check.found, check.wanted)
            };
            let head = format!("{mark:<2} {:<key_room$}  ", check.key);
            let lines = if text.is_empty() {
                format!("{}\n", head.trim_end())
            } else {
                hang(&head, &text, look.columns)
            };
            out.push_str(&lines.replacen(mark, &tone.paint(mark, look.paint), 1));
            if state != CheckState::Ok && !check.how.is_empty() {
                out.push_str(&hang(&" ".repeat(width(&head)), &check.how, look.columns));
            }
        }
    }
    let of = |state| doc.checks.iter().filter(|check| check.state == state).count();
    out.push_str(&format!(
        "\n{} ok, {} to look at, {} bad, {} unknown\n",
        of(CheckState::Ok),
        of(CheckState::Warn),
        of(CheckState::Bad),
        of(CheckState::Unknown)
    ));
    out
}
