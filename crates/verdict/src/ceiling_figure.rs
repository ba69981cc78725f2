//! A figure that may be the ceiling of a load, with what tells where it was measured. Base units.

use model::doc::CeilingFigureDoc;

/// The server of `web` that is this program.
pub const OWN_SERVER: &str = "builtin";
/// The interface of the loopback.
pub const LOOPBACK_INTERFACE: &str = "lo";

/// A figure that may be a ceiling, with what tells where it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    pub doc: CeilingFigureDoc,
    pub definition: u32,
    /// When its run began, ns since 1970.
    pub started_ns: i64,
    /// The disks that did the work; `None` where that is not known.
    pub disks: Option<Vec<String>>,
    /// The network interface; `None` where that is not known.
    pub interface: Option<String>,
    /// Mean bytes of an answer.
    pub body: Option<f64>,
}

impl Figure {
    /// True of a figure of this instrument and metric.
    pub fn is_of(&self, instrument: &str, metric: &str) -> bool {
        self.doc.instrument == instrument && self.doc.metric == metric
    }
}
