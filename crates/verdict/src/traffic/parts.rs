//! Where two groups of requests differ in time: in which first folders of the paths, or, where those are not known, in
//! which classes of size.
//!
//! Each part is compared as the whole is, and is called different after Holm's correction over all parts. The parts
//! with the least time count as one, and so do all that do not differ: the rest.

use std::collections::BTreeMap;

use model::Finding;
use model::doc::VerdictWord;
use model::finding::{LogsParts, PartRatio, Rest, Subject};
use model::format::{Kind, quantity};
use model::traffic::{Cell, ServerGroup, StatusClass, size_of, status_of};
use model::unit::Unit;
use stats::{Margin, Rng, Stratum};

use super::draft::{self, Draft, finished};

/// Parts that are compared, the one of all others among them; parts that are named.
const MOST: usize = 12;
const NAMED: usize = 3;

type Cells = BTreeMap<(u64, u32), Cell>;

/// One part in both groups: its sums, and its strata.
struct Part {
    name: String,
    arm: ServerGroup,
    base: ServerGroup,
    strata: Vec<Stratum>,
}

impl Part {
    fn of(
        name: String,
        (arm, of_arm): (&ServerGroup, &Cells),
        (base, of_base): (&ServerGroup, &Cells),
    ) -> Part {
        let side = |whole: &ServerGroup, cells: &Cells| ServerGroup {
            label: whole.label.clone(),
            time_step: whole.time_step,
            requests: cells.values().map(|cell| cell.requests).sum(),
            seconds: cells.values().map(|cell| cell.seconds).sum(),
            ..ServerGroup::default()
        };
        let strata = draft::side_by_side(of_arm, of_base, is_good, |cell| cell.requests as f64);
        Part { name, arm: side(arm, of_arm), base: side(base, of_base), strata }
    }

    fn seconds(&self) -> f64 {
        self.arm.seconds + self.base.seconds
    }

    fn draft(&self, rng: &Rng) -> Draft<'_> {
        Draft::time(&self.arm, &self.base, draft::ratio(&self.strata, rng))
    }
}

/// Answers of a known size that the server did not fail.
fn is_good(class: u32) -> bool {
    size_of(class).is_some() && status_of(class) != StatusClass::Server
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
        let own = |stratum: Stratum| Stratum { class: number << 16 | stratum.class, ..stratum };
        all.strata.extend(part.strata.into_iter().map(own));
    }
    Some(all)
}

/// The parts by folder, else by size, the one with most time first.
fn parts(arm: &ServerGroup, base: &ServerGroup) -> Vec<Part> {
    let (of_arm, of_base) = match arm.folders.is_empty() || base.folders.is_empty() {
        true => (by_size(arm), by_size(base)),
        false => (arm.folders.clone(), base.folders.clone()),
    };
    let part = |(name, cells): (&String, &Cells)| {
        Some(Part::of(name.clone(), (arm, cells), (base, of_base.get(name)?)))
    };
    let mut all: Vec<Part> = of_arm.iter().filter_map(part).collect();
    all.sort_by(|a, b| b.seconds().total_cmp(&a.seconds()));
    if all.len() > MOST {
        let others = all.split_off(MOST - 1);
        all.extend(together(others, "other paths"));
    }
    all
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

/// Where the arm's times differ from the base's. `None` where no part is known to differ, or all are.
pub fn finding(arm: &ServerGroup, base: &ServerGroup, margin: Margin, rng: &Rng) -> Option<Finding> {
    let all = parts(arm, base);
    if all.len() < 2 {
        return None;
    }
    let drafts: Vec<Draft<'_>> = all.iter().map(|part| part.draft(rng)).collect();
    let rows: Vec<_> = finished(&drafts, margin).into_iter().map(|one| one.row).collect();
    drop(drafts);
    let differs = |word: VerdictWord| matches!(word, VerdictWord::Better | VerdictWord::Worse);
    let mut found = Vec::new();
    let mut rest = Vec::new();
    for (part, row) in all.into_iter().zip(rows) {
        match (row.ratio, row.low, row.high) {
            (Some(ratio), Some(low), Some(high)) if differs(row.verdict) => {
                found.push(PartRatio { name: part.name, ratio, low, high });
            }
            _ => rest.push(part),
        }
    }
    if found.is_empty() {
        return None;
    }
    let rest = together(rest, "the rest")?;
    let of_rest = finished(&[rest.draft(rng)], margin);
    let ties = of_rest.iter().all(|one| one.row.verdict == VerdictWord::Tie);
    let more = found.len().saturating_sub(NAMED);
    found.truncate(NAMED);
    let rule = LogsParts {
        arm: arm.label.clone(),
        base: base.label.clone(),
        parts: found,
        more,
        rest: if ties { Rest::Ties } else { Rest::Open },
    };
    Some(Finding::new(rule).about(Subject::groups(&arm.label, &base.label)))
}
