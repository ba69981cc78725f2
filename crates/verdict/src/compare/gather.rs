//! The runs that a row is judged by, and the earlier ones that its noise between runs comes from.
//!
//! Earlier runs are those of the same machine and figure; where boxes are the unit there are none, since what one box
//! spreads by says nothing of other boxes.

use std::collections::BTreeSet;
use std::rc::Rc;

use stats::Between;

use super::judged::Sources;
use super::matching::RowKey;
use super::prepared::{Entry, Prepared};
use super::replicate;
use super::side::CompareOptions;
use crate::noise;

/// Two sides and the row of theirs that is compared.
pub struct Context<'c, 'a> {
    pub arm: &'c Prepared<'a>,
    pub base: &'c Prepared<'a>,
    pub key: &'c RowKey,
    pub paired: bool,
    pub family: usize,
    /// The noise between runs as the pair's figures together show it.
    pub learnt: Option<stats::Learnt>,
    pub options: &'c CompareOptions,
}

/// The runs of a row, and earlier ones.
pub struct Gathered {
    pub arm: Vec<stats::Run>,
    pub base: Vec<stats::Run>,
    history: Vec<Vec<stats::Run>>,
    pub floor: f64,
    sources: Sources,
}

impl Gathered {
    pub fn lists(&self) -> Vec<&[stats::Run]> {
        self.history.iter().map(Vec::as_slice).collect()
    }
}

/// Gathers them. Fails where a side has none.
pub fn gather<'a>(
    context: &Context<'_, 'a>,
    arm: &[&Entry<'a>],
    base: &[&Entry<'a>],
) -> Result<Gathered, stats::Unfit> {
    let worth = |entries: &[&Entry<'_>]| -> Vec<stats::Run> {
        entries.iter().filter_map(|entry| entry.worth).collect()
    };
    let by_box = replicate::by_box(context.arm, context.base);
    let (of_arm, of_base) =
        if by_box { (replicate::boxes(arm), replicate::boxes(base)) } else { (worth(arm), worth(base)) };
    if of_arm.is_empty() || of_base.is_empty() {
        return Err(stats::Unfit::Empty);
    }
    // What earlier runs of one box spread by says nothing of other boxes.
    let mut known = if by_box { Vec::new() } else { vec![earlier(context, context.arm, arm)] };
    if !by_box && !same_group(context.arm, context.base) {
        known.push(earlier(context, context.base, base));
    }
    let (before, history): (Vec<_>, Vec<_>) = known.iter().map(|list| noise::newest(list)).unzip();
    let hand = [arm, base].into_iter().flatten().filter(|entry| entry.worth.is_some());
    let ids = before.into_iter().flatten().chain(hand.map(|entry| entry.run.head.id.as_str()));
    let ids: BTreeSet<&str> = ids.collect();
    let ids = ids.into_iter().map(str::to_owned).collect();
    let hosts = [arm, base].into_iter().flatten().map(|entry| noise::host(entry.run));
    let host = hosts.max().unwrap_or(model::Host::Unknown);
    let host = if by_box { replicate::OF_A_TYPE } else { host };
    let floor = noise::assumed_floor(context.options.cards, &context.key.instrument, host);
    Ok(Gathered { arm: of_arm, base: of_base, history, floor, sources: Sources { ids, by_box } })
}

/// The row judged run against run, and the runs that its noise came from.
pub fn by_run(
    context: &Context<'_, '_>,
    arm: &[&Entry<'_>],
    base: &[&Entry<'_>],
) -> Result<(Between, Sources), stats::Unfit> {
    let runs = gather(context, arm, base)?;
    let between = stats::between(&runs.arm, &runs.base, &runs.lists(), runs.floor, context.learnt)?;
    Ok((between, runs.sources))
}

/// Both sides draw on the same earlier runs, which then count once.
fn same_group(arm: &Prepared<'_>, base: &Prepared<'_>) -> bool {
    let ids = |side: &Prepared<'_>| side.history.ids().map(str::to_owned).collect::<BTreeSet<String>>();
    Rc::ptr_eq(&arm.history, &base.history) || !ids(arm).is_disjoint(&ids(base))
}

/// Earlier runs of a side without those being judged. A single run at hand joins them: alone it shows no spread.
fn earlier<'a>(context: &Context<'_, 'a>, side: &Prepared<'a>, hand: &[&Entry<'a>]) -> Vec<noise::Known<'a>> {
    let is_judged = |id: &str| {
        let sides = [context.arm, context.base];
        sides.iter().any(|one| one.side.runs.iter().any(|known| known.head.id == id))
    };
    let Some(entry) = hand.first() else { return Vec::new() };
    let mut all = side.history.of_key(&entry.series.key, context.options.cards);
    all.retain(|(id, _)| !is_judged(id));
    if let ([only], false) = (hand, all.is_empty()) {
        all.extend(only.worth.map(|worth| (only.run.head.id.as_str(), worth)));
    }
    all
}
