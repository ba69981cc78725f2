//! The ratio of each figure on one machine: the figure at one value of the parameter over that at the other.
//!
//! Two figures belong together when they agree in every parameter that both have. Those that only one has (the
//! compiler of one language, the virtual machine of the other) tell rows apart, so that every combination is a row.
//! Judged as any two sides are: by block where one run has both, else run against run; Holm's family is the headline
//! rows of the machine.

use std::collections::BTreeMap;

use model::data::{Published, RunData};
use model::doc::{BoundsDoc, Method, RatioRowDoc, RowDoc, VerdictWord};
use model::why::{Point, Reason};
use model::{Better, Params};
use stats::Between;

use super::super::judge;
use super::super::judged::{Judged, paired_by_block};
use super::super::matching::{RowKey, same};
use super::super::prepared::{Entry, Prepared, SideRow};
use super::super::side::{CompareOptions, Side};
use super::asked::AskedRatio;
use super::pool::{self, Pool, PooledFigure};

/// One row with what is drawn from it.
pub struct Line<'a> {
    pub doc: RatioRowDoc,
    pub definition: u32,
    /// Parameters that both figures have in common; of a published ratio all that it states.
    pub shared: Params,
    pub found: Option<Found<'a>>,
}

/// A measured row: its two figures, and what it is worth.
pub struct Found<'a> {
    pub over: SideRow<'a>,
    pub under: SideRow<'a>,
    pub effect: Option<stats::Effect>,
    /// Run against run, whether the row itself is by block or not.
    pub by_run: Option<Between>,
    /// By block.
    pub paired: bool,
}

/// Two figures that belong together.
struct Pair<'a> {
    key: RowKey,
    shared: Params,
    only: (Params, Params),
    over: SideRow<'a>,
    under: SideRow<'a>,
}

/// The rows of a side.
pub fn rows<'a>(pool: &Pool<'a>, asked: &AskedRatio, options: &CompareOptions) -> Vec<Line<'a>> {
    let mut lines = measured(pool, asked, options);
    lines.extend(published(pool, asked, options));
    lines.extend(pool.published.iter().filter_map(|row| stated(pool, row, asked)));
    lines
}

fn measured<'a>(pool: &Pool<'a>, asked: &AskedRatio, options: &CompareOptions) -> Vec<Line<'a>> {
    let pairs = pairs(pool, asked);
    let entries = || pairs.iter().flat_map(|pair| pair.over.entries.iter().chain(&pair.under.entries));
    let mut runs: Vec<&RunData> = Vec::new();
    for entry in entries() {
        if !runs.iter().any(|run| run.head.id == entry.run.head.id) {
            runs.push(entry.run);
        }
    }
    let side = |name: &str| Side {
        runs: runs.clone(),
        earlier: pool.side.earlier.clone(),
        ..Side::new(name, pool.side.machine.clone())
    };
    let (over_side, under_side) = (side(&asked.over), side(&asked.under));
    let prepared = |side, of: for<'p> fn(&'p Pair<'a>) -> &'p SideRow<'a>| Prepared {
        order: pairs.iter().map(|pair| pair.key.clone()).collect(),
        rows: pairs.iter().map(|pair| (pair.key.clone(), of(pair).clone())).collect(),
        steps: pool.steps.clone(),
        ..Prepared::new(side)
    };
    let over = prepared(&over_side, |pair| &pair.over);
    let under = prepared(&under_side, |pair| &pair.under);
    let judged = judge::pair(&over, &under, options);
    let paired = paired_by_block(&over, &under);
    let line = |judged: Judged| {
        let pair = pairs.iter().find(|pair| pair.key == judged.key)?;
        let by_run = judge::run_against_run((&over, &pair.over), (&under, &pair.under), &pair.key, options);
        let method = match (&judged.row.low, paired) {
            (None, _) => Method::None,
            (Some(_), true) => Method::Blocks,
            (Some(_), false) => Method::Runs,
        };
        let (over, under) = (pair.over.clone(), pair.under.clone());
        let doc = document(pool, judged.row, pair.only.clone(), method);
        let (definition, shared) = (pair.key.definition, pair.shared.clone());
        let found = Some(Found { over, under, effect: judged.effect, by_run, paired });
        Some(Line { doc, definition, shared, found })
    };
    judged.into_iter().filter_map(line).collect()
}

fn document(pool: &Pool<'_>, row: RowDoc, only: (Params, Params), method: Method) -> RatioRowDoc {
    let (over_params, under_params) = only;
    let (machine, source) = (pool.side.name.clone(), None);
    RatioRowDoc { machine, row, over_params, under_params, method, bounds: None, source }
}

/// Figures of one key, in the order in which they were measured.
type Group<'p, 'a> = (RowKey, Vec<&'p PooledFigure<'a>>);

fn groups<'p, 'a>(pool: &'p Pool<'a>, param: &str, value: &str) -> Vec<Group<'p, 'a>> {
    let mut groups: Vec<Group<'p, 'a>> = Vec::new();
    for figure in &pool.figures {
        let Some(key) = pool::without(&figure.key, param, value) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, figures)) => figures.push(figure),
            None => groups.push((key, vec![figure])),
        }
    }
    groups
}

/// Every two figures that belong together; of two pairs that would be one row, the one that has more in common.
fn pairs<'a>(pool: &Pool<'a>, asked: &AskedRatio) -> Vec<Pair<'a>> {
    let overs = groups(pool, &asked.param, &asked.over);
    let unders = groups(pool, &asked.param, &asked.under);
    let mut pairs: Vec<Pair<'a>> = Vec::new();
    for (over, of_over) in &overs {
        for (under, of_under) in unders.iter().filter(|(under, _)| belong(over, under)) {
            let Some((over_row, under_row)) = rows_of(of_over, of_under, &asked.param) else { continue };
            let Joined { key, shared, only } = Joined::of(over, under);
            let pair = Pair { key, shared, only, over: over_row, under: under_row };
            match pairs.iter_mut().find(|known| known.key == pair.key) {
                Some(known) if known.shared.len() >= pair.shared.len() => {}
                Some(known) => *known = pair,
                None => pairs.push(pair),
            }
        }
    }
    pairs
}

fn belong(over: &RowKey, under: &RowKey) -> bool {
    is_one_metric(over, under) && over.params.agrees(&under.params)
}

/// Of one instrument, metric, unit and definition.
pub fn is_one_metric(a: &RowKey, b: &RowKey) -> bool {
    (&a.instrument, &a.metric, a.unit, a.definition) == (&b.instrument, &b.metric, b.unit, b.definition)
}

/// The keys of two figures that belong together as one row: what they have in common, and what only one of them has.
struct Joined {
    key: RowKey,
    shared: Params,
    only: (Params, Params),
}

impl Joined {
    fn of(over: &RowKey, under: &RowKey) -> Joined {
        let only = (over.params.without(&under.params), under.params.without(&over.params));
        Joined {
            key: RowKey { params: over.params.with(&under.params), ..over.clone() },
            shared: over.params.without(&only.0),
            only,
        }
    }
}

/// The entries of both, one of each run: of several arms, those that differ in nothing else.
fn rows_of<'a>(
    over: &[&PooledFigure<'a>],
    under: &[&PooledFigure<'a>],
    param: &str,
) -> Option<(SideRow<'a>, SideRow<'a>)> {
    let rest = |figure: &PooledFigure<'a>| {
        let mut set = figure.set.clone();
        set.remove(param);
        set
    };
    let (mut of_over, mut of_under): (Vec<Entry<'a>>, Vec<Entry<'a>>) = (Vec::new(), Vec::new());
    let both = || over.iter().chain(under);
    let mut runs: Vec<&str> = Vec::new();
    for id in both().map(|figure| figure.entry.run.head.id.as_str()) {
        if !runs.contains(&id) {
            runs.push(id);
        }
    }
    for id in runs {
        let of_run = |figures: &[&PooledFigure<'a>]| -> Vec<usize> {
            (0..figures.len()).filter(|at| figures[*at].entry.run.head.id == id).collect()
        };
        let (overs, unders) = (of_run(over), of_run(under));
        let alike = overs
            .iter()
            .find_map(|a| unders.iter().find(|b| rest(over[*a]) == rest(under[**b])).map(|b| (*a, *b)));
        let (a, b) = match alike {
            Some((a, b)) => (Some(a), Some(b)),
            None => (overs.first().copied(), unders.first().copied()),
        };
        of_over.extend(a.map(|at| over[at].entry.clone()));
        of_under.extend(b.map(|at| under[at].entry.clone()));
    }
    let row = |figures: &[&PooledFigure<'a>], entries: Vec<Entry<'a>>| {
        let better = figures.first()?.better;
        let headline = figures.iter().all(|figure| figure.headline);
        let given = entries.first()?.series.key.params.clone();
        Some(SideRow { given, better, headline, entries })
    };
    let (over_row, under_row) = (row(over, of_over)?, row(under, of_under)?);
    (over_row.better == under_row.better).then_some((over_row, under_row))
}

/// Published figures at both values: points.
fn published<'a>(pool: &Pool<'a>, asked: &AskedRatio, options: &CompareOptions) -> Vec<Line<'a>> {
    let at = |value: &str| -> Vec<(RowKey, &Published)> {
        let rows = pool.published.iter().filter(|row| row.better != Better::Neither);
        rows.filter_map(|row| Some((pool::without(&RowKey::published(row), &asked.param, value)?, *row)))
            .collect()
    };
    let (overs, unders) = (at(&asked.over), at(&asked.under));
    let mut shown: BTreeMap<RowKey, (Params, (Params, Params))> = BTreeMap::new();
    let (mut over_points, mut under_points) = (Vec::new(), Vec::new());
    for (over, above) in &overs {
        for (under, below) in
            unders.iter().filter(|(under, below)| belong(over, under) && below.better == above.better)
        {
            let Joined { key, shared, only } = Joined::of(over, under);
            if shown.insert(key.clone(), (shared, only)).is_some() {
                continue;
            }
            let point = |row: &Published| {
                let mut row = row.clone();
                row.key.params = key.params.clone();
                row
            };
            over_points.push(point(above));
            under_points.push(point(below));
        }
    }
    let side = |name: &str, published| Side { published, ..Side::new(name, pool.side.machine.clone()) };
    let (over, under) = (side(&asked.over, over_points), side(&asked.under, under_points));
    let judged = judge::pair(&Prepared::new(&over), &Prepared::new(&under), options);
    let line = |judged: Judged| {
        let (shared, only) = shown.get(&judged.key)?.clone();
        let mut doc = document(pool, judged.row, only, Method::Point);
        doc.source.clone_from(&pool.side.source);
        Some(Line { doc, definition: judged.key.definition, shared, found: None })
    };
    judged.into_iter().filter_map(line).collect()
}

/// A ratio that was published as such, turned round where it was asked for the other way.
fn stated<'a>(pool: &Pool<'a>, row: &Published, asked: &AskedRatio) -> Option<Line<'a>> {
    let (above, below) = pool::divided(row, row.key.params.get(&asked.param)?)?;
    let turned = if same(above, &asked.over) && same(below, &asked.under) {
        false
    } else if same(above, &asked.under) && same(below, &asked.over) {
        true
    } else {
        return None;
    };
    let turn = |ratio: f64| if turned { 1.0 / ratio } else { ratio };
    let mut shared = row.key.params.clone();
    shared.remove(&asked.param);
    let point = Point { study: Some(row.study.clone()), note: row.note.clone(), ..Point::default() };
    let doc = RowDoc {
        card: None,
        instrument: row.key.instrument.clone(),
        metric: row.key.metric.clone(),
        unit: row.key.unit,
        better: Better::Neither,
        params: shared.clone(),
        headline: true,
        index: None,
        arm: asked.over.clone(),
        base: asked.under.clone(),
        arm_value: None,
        base_value: None,
        ratio: Some(turn(row.value)),
        low: None,
        high: None,
        p: None,
        p_holm: None,
        floor: None,
        noise: None,
        noise_runs: Vec::new(),
        margin: 0.0,
        verdict: VerdictWord::CannotTell,
        why: Reason::Point(point).into(),
        point: true,
        per_price: None,
        per_watt: None,
        worth: None,
        lower_bounds: Vec::new(),
    };
    let bounds = row.low.zip(row.high).map(|(low, high)| {
        let (low, high) = if turned { (turn(high), turn(low)) } else { (low, high) };
        BoundsDoc { low, high, kind: row.bounds.clone() }
    });
    let doc = RatioRowDoc {
        bounds,
        source: Some(row.study.clone()),
        ..document(pool, doc, (Params::default(), Params::default()), Method::Point)
    };
    Some(Line { doc, definition: row.key.definition, shared, found: None })
}
