//! Answers of BMCs as text: nodes that are alike share a line, and so do failures that are the same.

use model::doc::{LabBmcFailureDoc, LabPowerDoc};
use model::format::count;

/// A line for each state of power.
pub fn power(doc: &LabPowerDoc) -> String {
    let line = |one: &model::doc::LabStateDoc| {
        format!("{}: {}: {}\n", one.state, count(one.count, "node"), one.nodes)
    };
    doc.states.iter().map(line).collect()
}

/// A line for each way in which BMCs failed, with what to do.
pub fn failures(all: &[LabBmcFailureDoc]) -> String {
    let mut out = String::new();
    for one in all {
        out.push_str(&format!("failed: {}: {}: {}\n", count(one.count, "node"), one.nodes, one.why));
        if let Some(hint) = &one.hint {
            out.push_str(&format!(" hint: {hint}\n"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use model::doc::LabStateDoc;

    use super::*;

    #[test]
    fn states_and_failures_have_a_line_each() {
        let state =
            |state: &str, count, nodes: &str| LabStateDoc { state: state.into(), count, nodes: nodes.into() };
        let failure = |count, nodes: &str, hint: Option<&str>| LabBmcFailureDoc {
            failure: "no-answer".into(),
            why: "its BMC does not answer".into(),
            hint: hint.map(Into::into),
            count,
            nodes: nodes.into(),
        };
        let doc = LabPowerDoc {
            schema: String::new(),
            action: "status".into(),
            nodes: vec![],
            states: vec![state("on", 130, "a[001-130]"), state("off", 1, "a131")],
            failures: vec![failure(1, "a132", Some("look")), failure(2, "b[1-2]", None)],
            interrupted: false,
        };
        assert_eq!(power(&doc), "on: 130 nodes: a[001-130]\noff: 1 node: a131\n");
        assert_eq!(
            failures(&doc.failures),
            "failed: 1 node: a132: its BMC does not answer\n hint: look\n\
             failed: 2 nodes: b[1-2]: its BMC does not answer\n"
        );
    }
}
