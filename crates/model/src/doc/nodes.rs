//! The nodes of a study in order: how each stands to the group, in which figures, and which of them are odd.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{OddEvidenceDoc, OddMissingDoc};
use crate::card::{self, Card, Cards};
use crate::format::Kind;
use crate::metric::Better;
use crate::params::Params;
use crate::scope::Scope;
use crate::unit::Unit;

/// Nodes that were measured by one plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodesDoc {
    /// The cards by which the document was made; not printed.
    #[serde(skip)]
    pub cards: Cards,
    /// The figures that the order is made of: those of whole machines, where there are none those of one thread; absent
    /// where the nodes have neither, so that all are meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The headline figures that most of the nodes have. Those of the order weigh the same in it.
    pub figures: Vec<NodeFigureDoc>,
    /// Those with a rank, the best first; then the others.
    pub nodes: Vec<NodeDoc>,
    /// Neighbours in this order of which no pair could be told apart. They may overlap.
    pub ties: Vec<Vec<String>>,
    /// A difference of scores within this is none.
    pub margin: f64,
    /// Fewest nodes of which figures are judged odd.
    pub fewest: u64,
    /// Nodes of the study without a run that ended.
    pub missing: Vec<OddMissingDoc>,
}

/// One figure of the group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeFigureDoc {
    /// For people.
    pub name: String,
    pub instrument: String,
    pub metric: String,
    pub params: Params,
    pub arm: String,
    pub unit: Unit,
    pub better: Better,
    /// The middle of the group.
    pub median: f64,
    /// It has a part in the order.
    pub counts: bool,
}

/// One node of the group; odd where there is evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeDoc {
    pub node: String,
    /// Its run.
    pub run: String,
    /// 1 + nodes that were told to be better.
    pub rank: Option<u32>,
    /// The last place that it can truly have.
    pub worst_rank: Option<u32>,
    /// Geometric mean of its figures over the middle of the group, so that 1 is the middle and more is better; with its
    /// 95 % interval.
    pub score: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Why it has no rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Its own quota or heat held it back, so that its figures are what it gives and not what its processor can.
    pub held_back: bool,
    /// In the order of `figures`; absent where it has none that may be believed.
    pub values: Vec<Option<f64>>,
    /// Takes that failed.
    pub faults: u64,
    /// In what it is not like the others, as `lab odd` says it.
    pub evidence: Vec<OddEvidenceDoc>,
}

impl NodeFigureDoc {
    pub fn card(&self, cards: Cards) -> Option<&'static Card> {
        card::find(cards, &self.instrument)
    }

    /// How its values are written.
    pub fn kind(&self, cards: Cards) -> Kind {
        Kind::shown(self.card(cards), &self.metric, self.unit)
    }
}

impl NodeDoc {
    /// `1`, or `1-3`: the rank and the worst place; `-` without one.
    pub fn place(&self) -> String {
        match self.rank.zip(self.worst_rank) {
            Some((rank, worst)) if rank == worst => rank.to_string(),
            Some((rank, worst)) => format!("{rank}-{worst}"),
            None => "-".to_owned(),
        }
    }
}

impl NodesDoc {
    /// Names of the nodes that are not like the others.
    pub fn odd(&self) -> Vec<String> {
        let odd = self.nodes.iter().filter(|node| !node.evidence.is_empty());
        odd.map(|node| node.node.clone()).collect()
    }

    /// `8 nodes: 7 are not told apart, rack6 is behind; odd: rack3 and rack6`
    pub fn sentence(&self) -> String {
        let all = crate::format::count(self.nodes.len(), "node");
        let ranked: Vec<&NodeDoc> = self.nodes.iter().filter(|node| node.rank.is_some()).collect();
        let order = match (ranked.len(), self.ties.as_slice()) {
            (0, _) => "without an order".to_owned(),
            (_, []) => "each told apart from the others".to_owned(),
            (count, [all]) if all.len() == count && count == self.nodes.len() => "not told apart".to_owned(),
            (_, ties) => {
                let largest = ties.iter().map(Vec::len).max().unwrap_or(0);
                let (first, last) = (ranked.first(), ranked.last());
                let alone = |node: &&NodeDoc| node.rank == node.worst_rank;
                let lead = first.copied().filter(alone).map(|node| format!("{} is first", node.node));
                let end = last.copied().filter(alone).map(|node| format!("{} is last", node.node));
                let ends: Vec<String> = lead.into_iter().chain(end).collect();
                let tied = format!("{largest} not told apart");
                std::iter::once(tied).chain(ends).collect::<Vec<_>>().join(", ")
            }
        };
        let odd = self.odd();
        let odd = match odd.as_slice() {
            [] => String::new(),
            few if few.len() <= 4 => format!("; odd: {}", crate::format::list(few)),
            many => format!("; {} odd", many.len()),
        };
        format!("{all}: {order}{odd}")
    }
}
