//! clusterperf's `multiRead_oneMaster`: one client reads 1 to 5000 objects of one server by one request.
//!
//! Counted is the mean over blocks of 10 such requests for at least `span`, after one that does not count: MGET of
//! Redis, one `get` with many keys of memcached, a multi-read of RAMCloud's library. Filling is not counted.

use model::{
    Cadence, Card, Family, Metric, Need, ParamKind, ParamSpec, Params, Probe, Record, RecordExt, Seconds,
    Setup, Simple, Size, TestName, Tier, Unfit, Variant,
};

use super::hot;
use super::keys::{KEY, value};
use super::params;
use super::params::kv_params;
use super::probe::{StoreProbe, Work};
use super::table::Table;
use super::target::{Held, store_fits};
use super::times::{Times, aside, lower};
use super::wire::Failure;

const TIME: Metric<Seconds> = lower("multiRead_oneMaster", "mean time of one request for so many objects");
const EACH: Metric<Seconds> =
    aside("multiRead_oneMaster.perObject", "mean time of one request by the number of its objects");

const SPAN: ParamSpec = ParamSpec::new(
    "span",
    ParamKind::Seconds { max: 10 },
    "0.05",
    "seconds that each mean is taken over at least; clusterperf has 0.5",
);

static CARD: Card = Card {
    name: "kv-multi-read",
    family: Family::Kv,
    says: "multiRead_oneMaster: 1 to 5000 objects by one request",
    source: "clusterperf multiRead_oneMaster (RAMCloud)",
    shown: params::shown(6, params::TELLS),
    parts: &[params::COUNTED],
    cadence: Cadence::Repeat,
    definition: 1,
    derived: params::DERIVED,
    params: kv_params![params::MODE, params::SIZE, SPAN],
    metrics: &[TIME.info(), EACH.info()],
    needs: &[Need::Server],
    tests: &[TestName::new("multiRead_oneMaster")],
    variants: &[Variant {
        tier: Tier::Default,
        set: "kv=redis|memcached",
        headline: &["multiRead_oneMaster"],
    }],
    ..Card::DEFAULT
};

const MOST_OBJECTS: u32 = 5000;
/// Values of one request together, in bytes.
const MOST_BYTES: u64 = 128 << 20;

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(fit);

fn fit(setup: &Setup) -> Result<(), Unfit> {
    let bytes = params::size(setup) as u64 * u64::from(MOST_OBJECTS);
    if bytes > MOST_BYTES {
        return Err(Unfit::new(format!(
            "{MOST_OBJECTS} values of {} B are {bytes} B in one answer; at most {MOST_BYTES} B are read",
            params::size(setup)
        )));
    }
    store_fits(setup)
}

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let value = value(params::size(setup));
    let (held, table) = Held::filled(setup, MOST_OBJECTS, &value)?;
    let span = params::span(setup, SPAN.name);
    let span_ns = if setup.size == Size::Smoke { 1 } else { u64::try_from(span.as_nanos()).unwrap_or(1) };
    let work = MultiRead { table, value, span_ns, blocks: Times::default() };
    Ok(Box::new(StoreProbe::new(held, work)))
}

/// 1..10, 20..100, 200..1000, 2000..5000.
fn points() -> impl Iterator<Item = u32> {
    let tens = [1, 10, 100].into_iter().flat_map(|step| (1..10).map(move |times| times * step));
    tens.chain([1000, 2000, 3000, 4000, MOST_OBJECTS])
}

struct MultiRead {
    table: Table,
    value: Vec<u8>,
    span_ns: u64,
    blocks: Times,
}

impl Work for MultiRead {
    fn run(&mut self, held: &Held, record: &mut dyn Record) -> Result<(), Failure> {
        let mut to = held.target.open()?;
        let keys: Vec<[u8; KEY]> =
            (0..MOST_OBJECTS).map(|index| self.table.keys.key(self.table.letter, index)).collect();
        for count in points() {
            let bytes = self.value.len() as u64 * u64::from(count);
            to.make_room(usize::try_from(bytes).unwrap_or(0) + count as usize * (KEY + 40));
            to.ask_gets(&mut keys.iter().take(count as usize).map(<[u8; KEY]>::as_slice));
            let mean = hot::mean(&mut to, &mut self.blocks, self.span_ns, |answer| {
                match answer.count == count && answer.bytes == bytes {
                    true => Ok(()),
                    false => Err(Failure::missing(format!("{} of {count} objects came", answer.count))),
                }
            })?;
            let mut extra = Params::default();
            extra.set("objects", &count.to_string());
            record.push_of(&TIME, &extra, mean.seconds());
            record.push_of(&EACH, &extra, mean.seconds() / f64::from(count));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_points_are_clusterperfs() {
        let all: Vec<u32> = points().collect();
        assert_eq!(all.len(), 32);
        assert_eq!((all[0], all[9], all[18], all[27], all[31]), (1, 10, 100, 1000, 5000));
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
