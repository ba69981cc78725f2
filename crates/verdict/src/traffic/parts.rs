//! Where two groups of requests differ in time: in which first folders of the paths, or, where those are not known, in
//! which classes of size; and in each group that `--by` makes. Where bots are among people, what they ask for is a part
//! of its own.
//!
//! Each part is compared as the whole is: by the blocks of time that both groups served, by parts of the day, or with
//! blocks of each side drawn by itself. It is called different after Holm's correction over all parts. The parts with
//! the least time count as one, and so do all that do not differ: the rest.

use std::collections::{BTreeMap, BTreeSet};

use model::Finding;
use model::doc::{PartDoc, RowDoc, VerdictWord};
use model::finding::{AskerTimes, LogsParts, PartTime, Rest, Subject};
use model::format::{Kind, quantity};
use model::traffic::{Cell, CutSide, MOST_CLASSES, ServerGroup, is_of_bots, size_of};
use model::unit::Unit;
use model::why::{Blocks, Reason};
use stats::{Margin, Rng, Stratified, Stratum};

use super::days::{self, DayParts, QUARTER};
use super::draft::{self, Draft, RESAMPLES, finished, resamples};
use super::{cut, fair};
use crate::compare::why::no_interval;

/// Parts that are compared, the one of all others among them.
const MOST: usize = 12;

/// By block of time and class of work.
pub type Cells = BTreeMap<(u64, u32), Cell>;

/// How the cells of two groups are set beside each other.
pub(super) enum Pairing {
    /// In the blocks of time that both have.
    Shared,
    /// Blocks of time of each side by itself, which share no time: the arm's, then the base's clock.
    Apart { how: cut::How, clocks: [DayParts; 2] },
}

impl Pairing {
    /// Of two sides of which blocks are drawn by themselves; `None` where blocks are no whole quarter hours, by which
    /// cells are kept.
    pub(super) fn apart(arm: &CutSide, base: &CutSide, how: cut::How) -> Option<Pairing> {
        let is_of_quarters = how.block >= QUARTER && how.block % QUARTER == 0;
        let clock = |side| DayParts::by_clock(side, how.of_day.unwrap_or(QUARTER));
        (!how.is_matched && is_of_quarters).then(|| Pairing::Apart { how, clocks: [clock(arm), clock(base)] })
    }

    fn evidence(&self, of_arm: &Cells, of_base: &Cells) -> Evidence {
        match self {
            Pairing::Shared => {
                Evidence::Shared(draft::side_by_side(of_arm, of_base, draft::is_good, |cell| {
                    cell.requests as f64
                }))
            }
            Pairing::Apart { how, clocks: [arm, base] } => {
                Evidence::Apart { arm: drawn(of_arm, *how, arm), base: drawn(of_base, *how, base), how: *how }
            }
        }
    }
}

/// The good answers of a side by block of time, and by class of work at a part of the day.
fn drawn(cells: &Cells, how: cut::How, clock: &DayParts) -> Vec<stats::Part> {
    let mut all: BTreeMap<(u64, u32), stats::Sums> = BTreeMap::new();
    let quarters = u64::try_from(how.block / QUARTER).unwrap_or(1).max(1);
    for ((block, class), cell) in cells.iter().filter(|((_, class), _)| draft::is_good(*class)) {
        let part = if how.of_day.is_some() { clock.place(*block) } else { 0 };
        let class = u32::try_from(part).unwrap_or(0) * MOST_CLASSES + class;
        let sums = all.entry((block / quarters, class)).or_default();
        sums.work += cell.requests as f64;
        sums.cost += cell.seconds;
    }
    all.into_iter().map(|((block, class), sums)| stats::Part { block, class, sums }).collect()
}

/// The sums from which the ratio of a part is computed.
enum Evidence {
    Shared(Vec<Stratum>),
    Apart { arm: Vec<stats::Part>, base: Vec<stats::Part>, how: cut::How },
}

/// Classes of work at a part of the day are fewer.
const MOST_IN_A_PART: u32 = 1 << 16;

impl Evidence {
    /// Adds what another part has; its classes are none of this one's.
    fn add(&mut self, number: u32, other: Evidence) {
        let own = |class: u32| number * MOST_IN_A_PART + class;
        match (self, other) {
            (Evidence::Shared(all), Evidence::Shared(more)) => {
                all.extend(more.into_iter().map(|one| Stratum { class: own(one.class), ..one }));
            }
            (Evidence::Apart { arm, base, .. }, Evidence::Apart { arm: of_arm, base: of_base, .. }) => {
                arm.extend(of_arm.into_iter().map(|one| stats::Part { class: own(one.class), ..one }));
                base.extend(of_base.into_iter().map(|one| stats::Part { class: own(one.class), ..one }));
            }
            _ => debug_assert!(false, "parts of one pair are set beside each other in one way"),
        }
    }

    fn ratio(&self, rng: &Rng) -> Result<Stratified, Reason> {
        match self {
            Evidence::Shared(strata) => draft::ratio(strata, rng),
            Evidence::Apart { arm, base, how } => stats::apart(arm, base, RESAMPLES, &mut rng.clone())
                .map_err(|unfit| no_interval(Some(Blocks::Seconds(how.block as f64)), &unfit)),
        }
    }
}

/// One part in both groups: its sums, and what its ratio is computed from.
struct Part {
    name: String,
    arm: ServerGroup,
    base: ServerGroup,
    evidence: Evidence,
}

impl Part {
    fn of(
        name: String,
        (arm, of_arm): (&ServerGroup, &Cells),
        (base, of_base): (&ServerGroup, &Cells),
        pairing: &Pairing,
    ) -> Part {
        let side = |whole: &ServerGroup, cells: &Cells| ServerGroup {
            label: whole.label.clone(),
            time_step: whole.time_step,
            requests: cells.values().map(|cell| cell.requests).sum(),
            seconds: cells.values().map(|cell| cell.seconds).sum(),
            ..ServerGroup::default()
        };
        let evidence = pairing.evidence(of_arm, of_base);
        Part { name, arm: side(arm, of_arm), base: side(base, of_base), evidence }
    }

    fn seconds(&self) -> f64 {
        self.arm.seconds + self.base.seconds
    }

    fn draft(&self, rng: &Rng) -> Draft<'_> {
        Draft::time(&self.arm, &self.base, self.evidence.ratio(rng))
    }
}

/// Several parts as one, in which like is still compared with like: classes of one part are none of another.
fn together(parts: Vec<Part>, name: &str) -> Option<Part> {
    let mut parts = parts.into_iter();
    let mut all = parts.next()?;
    name.clone_into(&mut all.name);
    for (number, part) in (1u32..).zip(parts) {
        for (sum, one) in [(&mut all.arm, &part.arm), (&mut all.base, &part.base)] {
            sum.requests += one.requests;
            sum.seconds += one.seconds;
        }
        all.evidence.add(number, part.evidence);
    }
    Some(all)
}

/// The parts by folder, else by size, the one with most time first.
fn parts(arm: &ServerGroup, base: &ServerGroup, pairing: &Pairing) -> Vec<Part> {
    let are_alike = arm.has_routes == base.has_routes;
    let (of_arm, of_base) = match are_alike && !arm.folders.is_empty() && !base.folders.is_empty() {
        true => (arm.folders.clone(), base.folders.clone()),
        false => (by_size(arm), by_size(base)),
    };
    let (of_arm, of_base) = match fair::are_bots_among_people(arm, base) {
        true => by_asker(of_arm, of_base),
        false => (of_arm, of_base),
    };
    let mut all = beside((arm, &of_arm), (base, &of_base), pairing);
    all.sort_by(|a, b| b.seconds().total_cmp(&a.seconds()));
    if all.len() > MOST {
        let others = all.split_off(MOST - 1);
        all.extend(together(others, "other paths"));
    }
    all
}

/// The parts that both have.
fn beside(
    (arm, of_arm): (&ServerGroup, &BTreeMap<String, Cells>),
    (base, of_base): (&ServerGroup, &BTreeMap<String, Cells>),
    pairing: &Pairing,
) -> Vec<Part> {
    let part = |(name, cells): (&String, &Cells)| {
        Some(Part::of(name.clone(), (arm, cells), (base, of_base.get(name)?), pairing))
    };
    of_arm.iter().filter_map(part).collect()
}

/// Cells by the name of a part.
pub type Named = BTreeMap<String, Cells>;

/// Parts that bots ask for, once for people and once for bots.
fn by_asker(of_arm: Named, of_base: Named) -> (Named, Named) {
    let has_bots = |cells: Option<&Cells>| cells.is_some_and(|cells| cells.keys().any(|at| is_of_bots(at.1)));
    let asked: BTreeSet<String> = of_arm
        .keys()
        .chain(of_base.keys())
        .filter(|name| has_bots(of_arm.get(*name)) || has_bots(of_base.get(*name)))
        .cloned()
        .collect();
    let parted = |all: Named| -> Named {
        let mut out = Named::new();
        for (name, cells) in all {
            if !asked.contains(&name) {
                out.insert(name, cells);
                continue;
            }
            let (bots, people) = cells.into_iter().partition(|((_, class), _)| is_of_bots(*class));
            out.insert(format!("{name} for people"), people);
            out.insert(format!("{name} for bots"), bots);
        }
        out
    };
    (parted(of_arm), parted(of_base))
}

/// Times of people and of bots, each beside its like; `None` where either group does not tell them apart.
pub fn of_askers(arm: &ServerGroup, base: &ServerGroup, margin: Margin, rng: &Rng) -> Option<AskerTimes> {
    if !arm.tells_bots() || !base.tells_bots() {
        return None;
    }
    let parted = |group: &ServerGroup| {
        let of = |bots: bool| group.cells.iter().filter(move |((_, class), _)| is_of_bots(*class) == bots);
        [false, true].map(|bots| of(bots).map(|(at, cell)| (*at, *cell)).collect::<Cells>())
    };
    let (of_arm, of_base) = (parted(arm), parted(base));
    let all = of_arm.iter().zip(&of_base).zip(["people", "bots"]);
    let all: Vec<Part> = all
        .map(|((of_arm, of_base), name)| {
            Part::of(name.to_owned(), (arm, of_arm), (base, of_base), &Pairing::Shared)
        })
        .collect();
    let drafts: Vec<Draft<'_>> = all.iter().map(|part| part.draft(rng)).collect();
    let mut times = finished(&drafts, margin).into_iter().map(|one| part_time(&one.row));
    Some(AskerTimes { people: times.next()?, bots: times.next()? })
}

/// The row of time of cells beside their like, in the blocks of time that both have.
pub(super) fn row_of(
    (arm, of_arm): (&ServerGroup, &Cells),
    (base, of_base): (&ServerGroup, &Cells),
    margin: Margin,
    rng: &Rng,
) -> Option<RowDoc> {
    let part = Part::of(String::new(), (arm, of_arm), (base, of_base), &Pairing::Shared);
    finished(&[part.draft(rng)], margin).into_iter().next().map(|one| one.row)
}

/// A row of time as a part of a sentence.
pub(super) fn part_time(row: &RowDoc) -> PartTime {
    PartTime::of_row(row, stats::ALPHA)
}

/// A part with its row of time.
fn part_doc(part: &Part, row: &RowDoc) -> PartDoc {
    PartDoc {
        name: part.name.clone(),
        arm: row.arm.clone(),
        base: row.base.clone(),
        arm_requests: part.arm.requests,
        base_requests: part.base.requests,
        arm_time: row.arm_value,
        base_time: row.base_value,
        ratio: row.ratio,
        low: row.low,
        high: row.high,
        verdict: row.verdict,
        is_apart: row.is_apart(stats::ALPHA),
    }
}

/// Rows of time of each group that both labels have, each beside its like and corrected for their number; of two sides
/// of a cut where parts of the day are compared.
pub fn of_groups(
    (arm, of_arm): (&ServerGroup, &Named),
    (base, of_base): (&ServerGroup, &Named),
    cut: Option<[&CutSide; 2]>,
    margin: Margin,
    seed: u64,
) -> Vec<(String, RowDoc)> {
    let rng = resamples(seed, &arm.label, &base.label);
    let following = if cut.is_none() { days::following(arm, base) } else { None };
    let all = match cut.or(following.as_ref().map(|[arm, base]| [arm, base])) {
        // Sides of a cut share no time.
        Some([arm_side, base_side]) => {
            let how = cut::how(base_side, arm_side);
            let sides = [(arm, arm_side), (base, base_side)].map(|(group, cut)| cut::Side { group, cut });
            match Pairing::apart(arm_side, base_side, how) {
                Some(apart) => beside((arm, of_arm), (base, of_base), &apart),
                None if how.is_matched => by_day(sides, how, of_arm, of_base),
                None => Vec::new(),
            }
        }
        None => beside((arm, of_arm), (base, of_base), &Pairing::Shared),
    };
    let drafts: Vec<Draft<'_>> = all.iter().map(|part| part.draft(&rng)).collect();
    let rows = finished(&drafts, margin).into_iter().map(|one| one.row);
    all.iter().map(|part| part.name.clone()).zip(rows).collect()
}

/// The parts that both sides have, by part of the day.
fn by_day([arm, base]: [cut::Side<'_>; 2], how: cut::How, of_arm: &Named, of_base: &Named) -> Vec<Part> {
    let parted = |side: cut::Side<'_>, all: &Named| -> Named {
        let parts = DayParts::by_clock(side.cut, how.block);
        all.iter().map(|(name, cells)| (name.clone(), parts.cells(cells))).collect()
    };
    beside((arm.group, &parted(arm, of_arm)), (base.group, &parted(base, of_base)), &Pairing::Shared)
}

/// The cells of each class of size, by its name.
fn by_size(group: &ServerGroup) -> BTreeMap<String, Cells> {
    let mut all: BTreeMap<String, Cells> = BTreeMap::new();
    for ((block, class), cell) in &group.cells {
        if let Some(size) = size_of(*class) {
            all.entry(size_name(size)).or_default().insert((*block, *class), *cell);
        }
    }
    all
}

/// `answers of 256 KiB to 1 MiB`.
fn size_name(size: u32) -> String {
    let bytes = |class: u32| quantity(4f64.powi(class as i32 + 2) * 4.0, Kind::for_unit(Unit::Byte));
    match size {
        0 => "answers without a body".to_owned(),
        1 => format!("answers below {}", bytes(1)),
        size => format!("answers of {} to {}", bytes(size - 1), bytes(size)),
    }
}

/// Where the arm's times differ from the base's. `None` where no part is known to differ, or all do in one way.
pub(super) fn finding(
    (arm, base): (&ServerGroup, &ServerGroup),
    pairing: &Pairing,
    margin: Margin,
    rng: &Rng,
) -> Option<Finding> {
    let all = parts(arm, base, pairing);
    if all.len() < 2 {
        return None;
    }
    let drafts: Vec<Draft<'_>> = all.iter().map(|part| part.draft(rng)).collect();
    let rows: Vec<_> = finished(&drafts, margin).into_iter().map(|one| one.row).collect();
    drop(drafts);
    let parts: Vec<PartDoc> = all.iter().zip(&rows).map(|(part, row)| part_doc(part, row)).collect();
    let differs =
        |row: &RowDoc| matches!(row.verdict, VerdictWord::Better | VerdictWord::Worse) && row.ratio.is_some();
    let has = |word: VerdictWord| rows.iter().any(|row| differs(row) && row.verdict == word);
    let (is_faster, is_slower) = (has(VerdictWord::Better), has(VerdictWord::Worse));
    let of_rest = all.into_iter().zip(&rows).filter(|(_, row)| !differs(row)).map(|(part, _)| part).collect();
    let rest = match together(of_rest, "the rest") {
        _ if !is_faster && !is_slower => return None,
        None if is_faster != is_slower => return None,
        None => Rest::Nothing,
        Some(rest) => {
            let found = finished(&[rest.draft(rng)], margin);
            let ties = found.iter().all(|one| one.row.verdict == VerdictWord::Tie);
            if ties { Rest::Ties } else { Rest::Open }
        }
    };
    let (arm, base) = (arm.label.clone(), base.label.clone());
    let subject = Subject::groups(&arm, &base);
    Some(Finding::new(LogsParts { arm, base, parts, rest }).about(subject))
}
