//! Figures of one group of servers, from its access logs. The comparison of logs and the report are made of them.
//!
//! Bytes, seconds, requests. It is kept with a run of logs. Verdicts are not in it; they are recomputed. What
//! a machine did meanwhile is kept as rows, not recomputed from the run that recorded it: the log's seconds, which it
//! stood beside, are not stored, and that run may lie in another store.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::doc::{AnswersDoc, BesideDoc, TopDoc};

/// The instrument that logs are stored and compared under.
pub const INSTRUMENT: &str = "logs";
/// Bytes sent over time taken, stratum by stratum.
pub const SPEED: &str = "speed";
/// Time of a request, stratum by stratum.
pub const TIME: &str = "time";

/// Share of requests with a status from 500 on.
pub const FAILED: &str = crate::metrics::logs::ERROR_RATE.name();

/// Parameters of a run of logs: the conditions that its requests met, and the moment that the log was cut at.
pub const WHERE: &str = "where";
pub const CUT: &str = "cut";

/// Classes of status: a failed request takes no part in how fast good ones are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatusClass {
    /// Below 400, or not told.
    Good = 0,
    /// From 400 to 499.
    Client = 1,
    /// From 500 on.
    Server = 2,
}

/// Classes of work are by so many within each class of status; the last one is of an unknown size.
const SIZES: u32 = 16;
const UNSIZED: u32 = SIZES - 1;

/// Classes of work of bots are by so many further on than those of people.
const BOTS: u32 = 4 * SIZES;
/// More than there are classes of work.
pub const MOST_CLASSES: u32 = 2 * BOTS;

/// The number of a class of work: that of its class of size, further on for failed requests.
pub fn work_class(status: StatusClass, size: Option<u32>) -> u32 {
    status as u32 * SIZES + size.unwrap_or(UNSIZED).min(UNSIZED)
}

/// The class of status that a class of work is in.
pub fn status_of(class: u32) -> StatusClass {
    match class % BOTS / SIZES {
        0 => StatusClass::Good,
        1 => StatusClass::Client,
        _ => StatusClass::Server,
    }
}

/// The same class of work, asked for by bots.
pub fn of_bots(class: u32) -> u32 {
    of_all(class) + BOTS
}

/// True for a class of work that bots asked for.
pub fn is_of_bots(class: u32) -> bool {
    class >= BOTS
}

/// The class of work whoever asked.
pub fn of_all(class: u32) -> u32 {
    class % BOTS
}

/// The class of size of a class of work; `None` where sizes are unknown.
pub fn size_of(class: u32) -> Option<u32> {
    Some(class % SIZES).filter(|size| *size != UNSIZED)
}

/// Sums and distributions of one group of servers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerGroup {
    pub label: String,
    pub requests: u64,
    pub bytes: f64,
    pub seconds: f64,
    /// Mean over requests of bytes over time, of those that took any.
    pub mean_of_ratios: Option<f64>,
    /// The step in seconds in which its times are written, as they show it; missing where it is too fine to be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_step: Option<f64>,
    /// Half of its times are at most this, and 99 of 100, in seconds; failures too. Missing in what was stored before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_median: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_p99: Option<f64>,
    /// Requests by size: upper ends in bytes, ascending.
    pub sizes: Vec<(f64, u64)>,
    pub statuses: BTreeMap<u16, u64>,
    /// Requests of programs that say they are bots; missing in what was stored before these were counted here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bots: Option<u64>,
    /// Requests by hour since 1970.
    pub hours: BTreeMap<i64, u64>,
    /// By block of time and class of work ([`work_class`]); blocks are numbered in the order of time. What bots asked
    /// for has classes of its own where it is known by class ([`ServerGroup::tells_bots`]).
    #[serde(with = "cells")]
    pub cells: BTreeMap<(u64, u32), Cell>,
    /// The same by the first folder of the path, of requests that tell both size and time and that the server did not
    /// fail; empty where the log was read alone, or has too many folders.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "folders")]
    pub folders: BTreeMap<String, BTreeMap<(u64, u32), Cell>>,
    /// Seconds that the log's own clock is ahead of UTC, at its last request.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub zone: i64,
    /// Paths such as `/search` are in a folder `/search/`. Else there are none, or they are in `/`: too many of them,
    /// or stored before these were folders. Folders of the two kinds are not alike.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_routes: bool,
}

/// Sums over the requests of one class of work in one block of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    pub requests: u64,
    pub bytes: f64,
    pub seconds: f64,
}

impl Cell {
    pub fn add(&mut self, other: &Cell) {
        self.requests = self.requests.saturating_add(other.requests);
        self.bytes += other.bytes;
        self.seconds += other.seconds;
    }

    /// Seconds of a request.
    pub fn time_mean(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.seconds / self.requests as f64)
    }

    /// Bytes a second.
    pub fn speed(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.bytes / self.seconds)
    }

    /// Takes away what is a part of it.
    pub fn take(&mut self, part: &Cell) {
        self.requests = self.requests.saturating_sub(part.requests);
        self.bytes = (self.bytes - part.bytes).max(0.0);
        self.seconds = (self.seconds - part.seconds).max(0.0);
    }
}

/// The cells whoever asked.
fn joined(cells: BTreeMap<(u64, u32), Cell>) -> BTreeMap<(u64, u32), Cell> {
    let mut all: BTreeMap<(u64, u32), Cell> = BTreeMap::new();
    for ((block, class), cell) in cells {
        all.entry((block, of_all(class))).or_default().add(&cell);
    }
    all
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_zero(seconds: &i64) -> bool {
    *seconds == 0
}

impl ServerGroup {
    /// Bytes of all requests over their time; missing where no time was taken.
    pub fn ratio_of_totals(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.bytes / self.seconds)
    }

    /// True if requests of bots are known apart from those of people in each cell, or there are none.
    pub fn tells_bots(&self) -> bool {
        self.bots == Some(0) || self.cells.keys().any(|(_, class)| is_of_bots(*class))
    }

    /// Gives what bots asked for, as its folders tell it, cells of its own.
    pub fn part_bots(&mut self) {
        let of_bots = |cells: &BTreeMap<(u64, u32), Cell>| {
            let cells = cells.iter().filter(|((_, class), _)| is_of_bots(*class));
            cells.map(|(at, cell)| (*at, *cell)).collect::<Vec<_>>()
        };
        let of_bots: Vec<((u64, u32), Cell)> = self.folders.values().flat_map(of_bots).collect();
        for ((block, class), cell) in of_bots {
            if let Some(whole) = self.cells.get_mut(&(block, of_all(class))) {
                whole.take(&cell);
                self.cells.entry((block, class)).or_default().add(&cell);
            }
        }
        self.cells.retain(|_, cell| cell.requests > 0);
    }

    /// Counts bots among people again, for a comparison with a group that does not tell them apart.
    pub fn join_bots(&mut self) {
        self.cells = joined(std::mem::take(&mut self.cells));
        self.folders.values_mut().for_each(|cells| *cells = joined(std::mem::take(cells)));
    }

    /// Time of the mean request.
    pub fn mean_time(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.seconds / self.requests as f64)
    }
}

/// One side of the moment that a log was cut at, as finely in time as the two sides are compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CutSide {
    /// The label that was cut.
    pub of: String,
    /// The moment as it was given, and in seconds since 1970.
    pub given: String,
    pub at: i64,
    pub is_after: bool,
    /// Seconds since 1970 of the first and the last request.
    pub first: i64,
    pub last: i64,
    /// Seconds of a bucket.
    pub step: i64,
    /// In the order of time.
    #[serde(with = "buckets")]
    pub buckets: Vec<Bucket>,
}

impl CutSide {
    /// True if the two are the two sides of one cut.
    pub fn is_opposite(&self, other: &CutSide) -> bool {
        self.is_same_cut(other) && self.is_after != other.is_after
    }

    /// True if both come from the same label, cut at the same moment.
    pub fn is_same_cut(&self, other: &CutSide) -> bool {
        (&self.of, self.at) == (&other.of, other.at)
    }

    pub fn seconds(&self) -> f64 {
        self.last as f64 - self.first as f64 + 1.0
    }
}

/// Sums over the requests of one bucket of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bucket {
    /// Seconds since 1970 at which it begins: UTC, and by the log's own clock.
    pub at: i64,
    pub local: i64,
    /// By class of work.
    pub cells: BTreeMap<u32, Cell>,
}

/// Everything that the store keeps of a label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    pub group: ServerGroup,
    /// The conditions that its requests met; none: all of the log.
    #[serde(default, rename = "where", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    /// The paths that weigh most.
    pub top: Vec<TopDoc>,
    /// Figures over all requests, by the metric whose hours are stored beside; those of a distribution cannot be made
    /// of the hours again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub whole: BTreeMap<String, f64>,
    /// Without what is concluded from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Box<AnswersDoc>>,
    /// Where its log was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutSide>,
    /// Telemetry of the machine during the requests, if a run that recorded it was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<BesideDoc>,
}

/// Cells as `[block, class, requests, bytes, seconds]`.
mod cells {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::Cell;

    type Row = (u64, u32, u64, f64, f64);

    pub fn serialize<S: Serializer>(cells: &BTreeMap<(u64, u32), Cell>, to: S) -> Result<S::Ok, S::Error> {
        let row = |((block, class), cell): (&(u64, u32), &Cell)| -> Row {
            (*block, *class, cell.requests, cell.bytes, cell.seconds)
        };
        to.collect_seq(cells.iter().map(row))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<(u64, u32), Cell>, D::Error> {
        let rows = Vec::<Row>::deserialize(from)?;
        let cell =
            |(block, class, requests, bytes, seconds)| ((block, class), Cell { requests, bytes, seconds });
        Ok(rows.into_iter().map(cell).collect())
    }
}

/// By folder, cells as in `cells`.
mod folders {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Cell, cells};

    type Cells = BTreeMap<(u64, u32), Cell>;

    #[derive(Serialize, Deserialize)]
    struct Stored(#[serde(with = "cells")] Cells);

    pub fn serialize<S: Serializer>(folders: &BTreeMap<String, Cells>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(folders.iter().map(|(name, cells)| (name, Stored(cells.clone()))))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Cells>, D::Error> {
        let all = BTreeMap::<String, Stored>::deserialize(from)?;
        Ok(all.into_iter().map(|(name, stored)| (name, stored.0)).collect())
    }
}

/// Buckets as `[at, local, [[class, requests, bytes, seconds], ...]]`.
mod buckets {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Bucket, Cell};

    type Row = (i64, i64, Vec<(u32, u64, f64, f64)>);

    pub fn serialize<S: Serializer>(buckets: &[Bucket], to: S) -> Result<S::Ok, S::Error> {
        let row = |bucket: &Bucket| -> Row {
            let cell = |(class, cell): (&u32, &Cell)| (*class, cell.requests, cell.bytes, cell.seconds);
            (bucket.at, bucket.local, bucket.cells.iter().map(cell).collect())
        };
        to.collect_seq(buckets.iter().map(row))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Bucket>, D::Error> {
        let cell = |(class, requests, bytes, seconds)| (class, Cell { requests, bytes, seconds });
        let bucket =
            |(at, local, cells): Row| Bucket { at, local, cells: cells.into_iter().map(cell).collect() };
        Ok(Vec::<Row>::deserialize(from)?.into_iter().map(bucket).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back() {
        let cell = Cell { requests: 3, bytes: 700.0, seconds: 0.1 };
        let group = ServerGroup {
            label: "ssd".into(),
            requests: 3,
            statuses: BTreeMap::from([(200, 3)]),
            hours: BTreeMap::from([(-1, 3)]),
            sizes: vec![(255.0, 3)],
            cells: BTreeMap::from([((5, 2), cell)]),
            ..ServerGroup::default()
        };
        let plain = Traffic { group, ..Traffic::default() };
        let text = serde_json::to_string(&plain).unwrap();
        assert!(text.contains("\"cells\":[[5,2,3,700.0,0.1]]"), "{text}");
        // A log that was neither cut nor set beside a machine is kept as it was before there were such.
        assert!(!text.contains("beside") && !text.contains("cut"), "{text}");
        assert_eq!(serde_json::from_str::<Traffic>(&text).unwrap(), plain);
        let buckets = vec![Bucket { at: -5, local: 3595, cells: BTreeMap::from([(2, cell)]) }];
        let cut = CutSide { of: "ssd".into(), at: 7, is_after: true, step: 5, buckets, ..CutSide::default() };
        let beside = BesideDoc { label: "ssd".into(), drift: Some(0.25), ..BesideDoc::default() };
        let kept = Traffic { cut: Some(cut), beside: Some(beside), ..plain };
        let text = serde_json::to_string(&kept).unwrap();
        assert!(text.contains("\"buckets\":[[-5,3595,[[2,3,700.0,0.1]]]]"), "{text}");
        assert_eq!(serde_json::from_str::<Traffic>(&text).unwrap(), kept);
    }

    #[test]
    fn bots_are_parted_from_people_and_joined_again() {
        let cell = |requests, seconds| Cell { requests, bytes: 10.0, seconds };
        let class = work_class(StatusClass::Client, Some(3));
        let bots = of_bots(class);
        assert_eq!((status_of(bots), size_of(bots), of_all(bots)), (StatusClass::Client, Some(3), class));
        assert!(is_of_bots(bots) && !is_of_bots(class) && bots < MOST_CLASSES);
        let whole = BTreeMap::from([((1, class), Cell { requests: 5, bytes: 30.0, seconds: 4.0 })]);
        let folder = BTreeMap::from([((1, bots), cell(2, 1.0)), ((1, class), cell(1, 2.0))]);
        let other = BTreeMap::from([((1, bots), cell(1, 0.5))]);
        let folders = BTreeMap::from([("/a/".to_owned(), folder), ("/b/".to_owned(), other)]);
        let mut group =
            ServerGroup { bots: Some(3), cells: whole.clone(), folders, ..ServerGroup::default() };
        assert!(!group.tells_bots());
        group.part_bots();
        assert!(group.tells_bots());
        let parted = Cell { requests: 3, bytes: 20.0, seconds: 1.5 };
        assert_eq!(group.cells, BTreeMap::from([((1, class), cell(2, 2.5)), ((1, bots), parted)]));
        group.join_bots();
        assert!(group.cells == whole && !group.tells_bots(), "{group:?}");
    }

    #[test]
    fn sides_of_one_cut_are_opposite() {
        let side = |of: &str, at, is_after| CutSide { of: of.into(), at, is_after, ..CutSide::default() };
        let before = side("ssd", 7, false);
        assert!(before.is_opposite(&side("ssd", 7, true)) && side("ssd", 7, true).is_opposite(&before));
        for other in [before.clone(), side("hdd", 7, true), side("ssd", 8, true)] {
            assert!(!before.is_opposite(&other), "{other:?}");
        }
    }
}
