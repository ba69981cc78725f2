//! Groups that share no time, set beside each other at the same times of the day.
//!
//! Where one group ends before the other begins, the two are compared as the sides of a cut are. Blocks of time of
//! groups are quarter hours since 1970; parts of the day are numbered from midnight of the log's own clock.

use std::collections::BTreeMap;

use model::traffic::{Bucket, CutSide, ServerGroup, is_of_bots, of_all};
use stats::MIN_N;

use super::cut::Side;
use super::parts::Cells;

const DAY: i64 = 86_400;
/// Seconds of a block of time of a group.
pub const QUARTER: i64 = 900;

/// Places of quarter hours in the day.
pub struct DayParts {
    part: i64,
    /// By quarter hour, the seconds of the log's own clock.
    local: BTreeMap<i64, i64>,
}

impl DayParts {
    /// Parts of so many seconds, by the clock of a side.
    pub fn by_clock(side: &CutSide, part: i64) -> DayParts {
        let local = side.buckets.iter().map(|bucket| (bucket.at.div_euclid(QUARTER), bucket.local));
        DayParts { part: part.max(1), local: local.collect() }
    }

    fn local(&self, block: i64) -> i64 {
        self.local.get(&block).copied().unwrap_or_else(|| block.saturating_mul(QUARTER))
    }

    /// The part of the day in which a quarter hour lies.
    pub fn place(&self, block: u64) -> u64 {
        let local = self.local(i64::try_from(block).unwrap_or(0));
        u64::try_from(local.rem_euclid(DAY).div_euclid(self.part)).unwrap_or(0)
    }

    /// The cells by part of the day.
    pub fn cells(&self, cells: &Cells) -> Cells {
        let mut all = Cells::new();
        for ((block, class), cell) in cells {
            all.entry((self.place(*block), *class)).or_default().add(cell);
        }
        all
    }

    /// A side by part of the day; its buckets count bots among people, its group's own cells may not.
    pub fn group(&self, side: Side<'_>, are_bots_apart: bool) -> ServerGroup {
        let group = side.group;
        let whole = ServerGroup {
            label: group.label.clone(),
            requests: group.requests,
            bytes: group.bytes,
            seconds: group.seconds,
            time_step: group.time_step,
            bots: group.bots,
            has_routes: group.has_routes,
            ..ServerGroup::default()
        };
        if are_bots_apart {
            let folders = group.folders.iter().map(|(name, cells)| (name.clone(), self.cells(cells)));
            return ServerGroup { cells: self.cells(&group.cells), folders: folders.collect(), ..whole };
        }
        let mut cells = Cells::new();
        for bucket in &side.cut.buckets {
            let place = bucket.local.rem_euclid(DAY).div_euclid(self.part);
            for (class, cell) in &bucket.cells {
                cells.entry((u64::try_from(place).unwrap_or(0), *class)).or_default().add(cell);
            }
        }
        ServerGroup { cells, bots: None, ..whole }
    }
}

/// Both groups as the sides of a cut, where one follows the other: they share one quarter hour at most. `None` also
/// where either has too few quarter hours for an interval.
pub fn following(arm: &ServerGroup, base: &ServerGroup) -> Option<[CutSide; 2]> {
    // Where either counts bots among people, both do.
    let class: fn(u32) -> u32 = if arm.tells_bots() == base.tells_bots() { |class| class } else { of_all };
    let (of_arm, of_base) = (side(arm, class)?, side(base, class)?);
    let follows = |one: &CutSide, other: &CutSide| {
        let is_apart = one.last < other.first.saturating_add(QUARTER);
        is_apart && one.first < other.first && one.last < other.last
    };
    let are_enough = of_arm.buckets.len().min(of_base.buckets.len()) >= MIN_N;
    (are_enough && (follows(&of_arm, &of_base) || follows(&of_base, &of_arm))).then_some([of_arm, of_base])
}

/// A side by the quarter hours of its group, in which what bots asked for has classes of its own.
pub fn with_bots(one: Side<'_>) -> Option<CutSide> {
    let clock = DayParts::by_clock(one.cut, QUARTER);
    let mut parted = side(one.group, |class| class)?;
    for bucket in &mut parted.buckets {
        bucket.local = clock.local(bucket.at.div_euclid(QUARTER));
    }
    Some(CutSide { buckets: parted.buckets, step: parted.step, ..one.cut.clone() })
}

/// The requests of bots, or those of people, of a side that tells them apart.
pub fn of_asker(side: &CutSide, are_bots: bool) -> CutSide {
    let own = |bucket: &Bucket| {
        let cells = bucket.cells.iter().filter(|(class, _)| is_of_bots(**class) == are_bots);
        Bucket { cells: cells.map(|(class, cell)| (*class, *cell)).collect(), ..*bucket }
    };
    let buckets = side.buckets.iter().map(own).filter(|bucket| !bucket.cells.is_empty());
    CutSide { buckets: buckets.collect(), ..side.clone() }
}

/// A group by its quarter hours, in UTC.
fn side(group: &ServerGroup, class: fn(u32) -> u32) -> Option<CutSide> {
    let mut buckets: Vec<Bucket> = Vec::new();
    for ((block, own), cell) in &group.cells {
        let at = i64::try_from(*block).ok()?.checked_mul(QUARTER)?;
        if buckets.last().is_none_or(|last| last.at != at) {
            buckets.push(Bucket { at, local: at, cells: BTreeMap::new() });
        }
        let cells = &mut buckets.last_mut()?.cells;
        cells.entry(class(*own)).or_default().add(cell);
    }
    let (first, last) = (buckets.first()?.at, buckets.last()?.at.saturating_add(QUARTER - 1));
    Some(CutSide { of: group.label.clone(), first, last, step: QUARTER, buckets, ..CutSide::default() })
}
