//! The nodes of a group that are not like the others, with what says so.

use model::doc::LabOddDoc;
use model::format::{count, percent};

use super::lab_hosts::plain;
use super::{Look, hang};

/// `fold` writes names in their shortest form.
pub fn odd(doc: &LabOddDoc, fold: &dyn Fn(&[&str]) -> String, look: Look) -> String {
    let figures = usize::try_from(doc.figures).unwrap_or(usize::MAX);
    let facts = usize::try_from(doc.facts).unwrap_or(usize::MAX);
    let mut out = format!(
        "{}: {} and {} of each\n",
        count(doc.nodes.len(), "node"),
        count(figures, "figure"),
        count(facts, "fact")
    );
    if (doc.nodes.len() as u64) < doc.fewest {
        out.push_str(&format!("figures are judged of {} nodes or more\n", doc.fewest));
    }
    for node in doc.nodes.iter().filter(|node| !node.evidence.is_empty()) {
        out.push_str(&format!("odd: {}\n", node.node));
        for evidence in &node.evidence {
            out.push_str(&hang("  ", &plain(&evidence.to_string()), look.columns));
        }
    }
    for missing in &doc.missing {
        out.push_str(&hang(
            "",
            &format!("not judged: {}: {}", missing.node, plain(&missing.why)),
            look.columns,
        ));
    }
    let like: Vec<&str> =
        doc.nodes.iter().filter(|node| node.evidence.is_empty()).map(|node| node.node.as_str()).collect();
    if !like.is_empty() {
        out.push_str(&format!("like the others: {}: {}\n", count(like.len(), "node"), fold(&like)));
    }
    if figures > 0 {
        let line = format!(
            "In at most {} of groups of equal nodes a figure calls one of them odd; none within {} of the median is.",
            percent(doc.level),
            percent(doc.margin)
        );
        out.push_str(&hang("", &line, look.columns));
    }
    out
}

#[cfg(test)]
mod tests {
    use model::doc::{OddEvidenceDoc, OddMissingDoc, OddNodeDoc};
    use model::{FactValue, Params, Unit};

    use super::*;

    #[test]
    fn each_odd_node_has_its_evidence_below_it() {
        let node = |name: &str, evidence| OddNodeDoc { node: name.into(), run: String::new(), evidence };
        let memory = OddEvidenceDoc::Fact {
            key: "memory.installed.bytes".into(),
            value: FactValue::Number(4.0 * 1024.0 * 1024.0 * 1024.0),
            usual: FactValue::Number(8.0 * 1024.0 * 1024.0 * 1024.0),
            unit: Some(Unit::Byte),
            count: 4,
            of: 5,
        };
        let slow = OddEvidenceDoc::Figure {
            name: "integer 1 thread".into(),
            instrument: "integer".into(),
            metric: "rate".into(),
            params: Params::default(),
            unit: Unit::Second,
            value: 0.2,
            median: 0.1,
            ratio: 2.0,
            score: -12.4,
            p: 0.001,
        };
        let doc = LabOddDoc {
            schema: String::new(),
            nodes: vec![node("a1", vec![]), node("a2", vec![memory, slow]), node("a3", vec![])],
            figures: 1,
            facts: 30,
            fewest: 5,
            level: 0.05,
            margin: 0.05,
            missing: vec![OddMissingDoc { node: "a4".into(), why: "it was\x1b lost".into() }],
        };
        let text = odd(&doc, &|names| names.join(","), Look::wide(120));
        insta::assert_snapshot!(text);
    }
}
