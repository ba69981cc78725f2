//! The state of one label while its logs are read: the aggregate and, if wanted, the two sides of a moment, and
//! requests over time.
//!
//! Lines that were skipped, and requests without a time, are of no side: where there is a moment they alone are in the
//! aggregate of the whole.

use serde::{Deserialize, Serialize};

use crate::aggregate::bounded::Merge;
use crate::aggregate::timeline::Timeline;
use crate::aggregate::{Aggregate, Settings, Writer};
use crate::scan::moment::Moment;
use crate::scan::{Record, Rows};

/// The optional results besides the aggregate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Requests before this moment and those from it on are two aggregates.
    pub cut: Option<Moment>,
    pub timeline: bool,
}

/// One side of the moment; all of it where there is none.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Side {
    pub aggregate: Aggregate,
    pub timeline: Option<Timeline>,
}

impl Side {
    fn new(wants: Wants) -> Side {
        Side { aggregate: Aggregate::default(), timeline: wants.timeline.then(Timeline::default) }
    }

    fn beside(&self) -> Side {
        let timeline = self.timeline.as_ref().map(|_| Timeline::default());
        Side { aggregate: self.aggregate.beside(), timeline }
    }

    fn writer<'a>(&'a mut self, settings: &'a Settings) -> SideWriter<'a> {
        SideWriter { writer: Writer::new(&mut self.aggregate, settings), timeline: self.timeline.as_mut() }
    }
}

impl Merge for Side {
    fn merge(&mut self, other: &Side) {
        self.aggregate.merge(&other.aggregate);
        match (&mut self.timeline, &other.timeline) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
            (_, None) => {}
        }
    }
}

/// The results of one label.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub whole: Side,
    /// Before the moment, and from it on.
    pub sides: Option<Box<[Side; 2]>>,
}

impl Tally {
    pub fn new(wants: Wants) -> Tally {
        let sides = wants.cut.is_some().then(|| Box::new([Side::new(wants), Side::new(wants)]));
        Tally { whole: Side::new(wants), sides }
    }

    /// An empty one, to be filled by another thread at the same time and then merged with this one.
    pub fn beside(&self) -> Tally {
        let sides = self.sides.as_deref().map(|[before, after]| Box::new([before.beside(), after.beside()]));
        Tally { whole: self.whole.beside(), sides }
    }

    pub(super) fn writer<'a>(&'a mut self, settings: &'a Settings, wants: Wants) -> TallyWriter<'a> {
        let sides = self.sides.as_deref_mut().zip(wants.cut);
        TallyWriter {
            whole: self.whole.writer(settings),
            sides: sides.map(|([before, after], cut)| (cut, before.writer(settings), after.writer(settings))),
        }
    }
}

impl Merge for Tally {
    fn merge(&mut self, other: &Tally) {
        self.whole.merge(&other.whole);
        match (&mut self.sides, &other.sides) {
            (Some(mine), Some(theirs)) => {
                mine.iter_mut().zip(theirs.iter()).for_each(|(mine, theirs)| mine.merge(theirs));
            }
            (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
            (_, None) => {}
        }
    }
}

struct SideWriter<'a> {
    writer: Writer<'a>,
    timeline: Option<&'a mut Timeline>,
}

impl SideWriter<'_> {
    #[inline(always)]
    fn add(&mut self, record: &Record<'_>) {
        let counted = self.writer.add(record);
        if counted && let Some(timeline) = &mut self.timeline {
            timeline.add(record);
        }
    }
}

/// Adds requests to the side that each is of.
pub(super) struct TallyWriter<'a> {
    whole: SideWriter<'a>,
    sides: Option<(Moment, SideWriter<'a>, SideWriter<'a>)>,
}

impl TallyWriter<'_> {
    #[inline(always)]
    pub(super) fn add(&mut self, record: &Record<'_>) {
        let side = match (&mut self.sides, record.at) {
            (Some((cut, _, after)), Some(at)) if cut.is_reached(at) => after,
            (Some((_, before, _)), Some(_)) => before,
            (_, _) => &mut self.whole,
        };
        side.add(record);
    }

    /// True if lines may be added in groups: only the usual aggregates of one side are wanted.
    pub(super) fn takes_rows(&self) -> bool {
        self.sides.is_none() && self.whole.timeline.is_none() && self.whole.writer.takes_rows()
    }

    /// Adds lines that were read together, where it [takes](Self::takes_rows) them.
    #[inline(always)]
    pub(super) fn add_rows(&mut self, rows: &Rows<'_>) {
        self.whole.writer.add_rows(rows);
    }
}
