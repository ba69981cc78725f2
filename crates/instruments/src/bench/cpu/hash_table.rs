//! Look-ups and replacements in a hash table much larger than the caches: time of one, and how many all
//! threads do together.
//!
//! The table has 64-byte lines of eight entries (16-bit secondary hash, chain bit, 47-bit reference); a
//! reference leads to a 64-byte object, aligned to a line, that holds the key. Keys are 0, 1, 2 …, hashed by
//! MurmurHash3, so each operation misses the caches twice, independently of the next one: an out-of-order
//! core overlaps them. Threads share the table and divide the keys. Each take goes on with the keys where
//! the last one stopped, first looking them up, then replacing their references by the same. References
//! are object numbers rather than addresses. Not counted: filling the table.

use std::sync::Arc;

use model::{
    Better, By, Cadence, Card, Count, Family, Fault, Metric, ParamKind, ParamSpec, PerSec, Probe, Record,
    RecordExt, Seconds, Setup, Shown, Simple, Tell, Tier, Topic, Unfit, Variant,
};
use sys::clock;

use crate::bench::kernel::{
    Kernel, KernelProbe, THREADS, Tally, bytes_param, float, room, sized, word_param,
};
use crate::bench::kernels::table::{Table, murmur3};

const LOOKUP: Metric<Seconds> = Metric::new(
    "lookup",
    Better::Lower,
    "time of one look-up that finds its key, mean over the threads' own times",
);

const REPLACE: Metric<Seconds> = Metric::new(
    "replace",
    Better::Lower,
    "time of one look-up whose entry is then written, mean over the threads' own times",
);

const LOOKUP_RATE: Metric<PerSec> =
    Metric::new("lookup-rate", Better::Higher, "look-ups per second by all threads together").per("op");

const REPLACE_RATE: Metric<PerSec> =
    Metric::new("replace-rate", Better::Higher, "replacements per second by all threads together").per("op");

static CARD: Card = Card {
    name: "hash-table",
    family: Family::Cpu,
    says: "look-ups and replacements in a hash table of cache lines",
    source: "RAMCloud HashTableBenchmark",
    shown: Shown {
        label: "hash table",
        tells: &[Tell::unusual("buckets"), Tell::unusual("load")],
        sorted: &[By::Param("threads")],
        place: 6,
        topic: Topic::Compute,
        ..Shown::PLAIN
    },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[
        ParamSpec::new(
            "buckets",
            ParamKind::Bytes { min: 64 << 10, max: 64 << 30 },
            "128MiB",
            "bytes of table, rounded down to a power of two; objects come on top",
        ),
        ParamSpec::new(
            "load",
            ParamKind::Choice(&["0.25", "0.5", "0.75", "0.9"]),
            "0.5",
            "share of the entries that hold keys",
        ),
        THREADS,
    ],
    metrics: &[LOOKUP.info(), REPLACE.info(), LOOKUP_RATE.info(), REPLACE_RATE.info()],
    variants: &[
        Variant {
            tier: Tier::Full,
            set: "buckets=128MiB;load=0.5;threads=1",
            headline: &[LOOKUP.info().name, REPLACE.info().name],
        },
        Variant {
            tier: Tier::Full,
            set: "buckets=128MiB;load=0.5;threads=all",
            headline: &[LOOKUP_RATE.info().name, REPLACE_RATE.info().name],
        },
        Variant { tier: Tier::Full, set: "buckets=1MiB;load=0.5;threads=1", headline: &[] },
        Variant { tier: Tier::Full, set: "buckets=128MiB;load=0.5;threads=sweep", headline: &[] },
    ],
    ..Card::DEFAULT
};

/// Keys of one unit of work.
const UNIT: u64 = 256;

#[derive(Default)]
#[repr(align(64))]
struct Object {
    key: u64,
}

struct Shared {
    table: Table,
    objects: Vec<Object>,
}

/// Table lines, lines for chains, and keys.
struct Shape {
    lines: usize,
    more: usize,
    keys: usize,
}

impl Shape {
    fn of(setup: &Setup) -> Result<Shape, Unfit> {
        let lines = 1usize << (bytes_param(setup, "buckets")? / 64).max(1).ilog2();
        let lines = sized(setup, lines, lines.min(1 << 10));
        let slots = lines * 8;
        // Chains: 2 % of the lines at half load, about a third at nine tenths.
        let (keys, more) = match word_param(setup, "load")? {
            "0.25" => (slots / 4, lines / 16),
            "0.75" => (slots / 4 * 3, lines / 2),
            "0.9" => (slots / 10 * 9, lines / 2),
            _ => (slots / 2, lines / 16),
        };
        Ok(Shape { lines, more: more + 64, keys })
    }

    fn bytes(&self) -> u64 {
        (self.lines + self.more + self.keys) as u64 * 64
    }
}

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(fit);

fn fit(setup: &Setup) -> Result<(), Unfit> {
    setup.threads()?;
    room(setup, Shape::of(setup)?.bytes())
}

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    fit(setup)?;
    let shape = Shape::of(setup)?;
    let shared = Arc::new(filled(&shape)?);
    let threads = setup.threads()?;
    let make = move |index: usize| {
        let first = (shape.keys * index / threads) as u64;
        let end = (shape.keys * (index + 1) / threads) as u64;
        if end <= first {
            return Err(Unfit::new("fewer keys than threads"));
        }
        Ok(Walker { shared: Arc::clone(&shared), first, end, next: first })
    };
    KernelProbe::boxed(setup, Shape::of(setup)?.bytes(), make, push)
}

fn filled(shape: &Shape) -> Result<Shared, Unfit> {
    let table = Table::new(shape.lines, shape.more);
    let objects: Vec<Object> = (0..shape.keys as u64).map(|key| Object { key }).collect();
    for object in &objects {
        let place = table.place(murmur3(object.key, 0));
        table.insert(place, object.key).map_err(|_| Unfit::new("the table has no room for its chains"))?;
    }
    Ok(Shared { table, objects })
}

struct Walker {
    shared: Arc<Shared>,
    first: u64,
    end: u64,
    next: u64,
}

/// Operations of one thread and the time they took.
struct Times {
    ops: Count,
    lookup: Seconds,
    replace: Seconds,
}

impl Walker {
    /// Calls `op` for `count` keys from `next` on, round and round; how often it was true, and the key after.
    fn walk(&self, count: u64, op: impl Fn(&Shared, u64) -> bool) -> (u64, u64) {
        let (mut found, mut key) = (0, self.next);
        for _ in 0..count {
            found += u64::from(op(&self.shared, key));
            key += 1;
            if key == self.end {
                key = self.first;
            }
        }
        (found, key)
    }
}

#[inline]
fn is_key(shared: &Shared, reference: u64, key: u64) -> bool {
    usize::try_from(reference).is_ok_and(|at| shared.objects.get(at).is_some_and(|object| object.key == key))
}

fn look_up(shared: &Shared, key: u64) -> bool {
    let place = shared.table.place(murmur3(key, 0));
    shared.table.find(place, |reference| is_key(shared, reference, key)).is_some()
}

fn replace(shared: &Shared, key: u64) -> bool {
    let place = shared.table.place(murmur3(key, 0));
    shared.table.replace(place, key, |reference| is_key(shared, reference, key))
}

impl Kernel for Walker {
    type Out = Times;

    fn run(&mut self, repeats: u64) -> Result<Times, Fault> {
        let count = repeats.saturating_mul(UNIT);
        let start = clock::now_ns();
        let (looked_up, _) = self.walk(count, look_up);
        let middle = clock::now_ns();
        let (replaced, next) = self.walk(count, replace);
        let end = clock::now_ns();
        if looked_up != count || replaced != count {
            return Err(Fault::new(format!(
                "of {count} keys, {looked_up} were found and {replaced} replaced"
            )));
        }
        self.next = next;
        #[expect(clippy::cast_precision_loss, reason = "counts of work stay far below 2^53")]
        let ops = Count(count as f64);
        Ok(Times {
            ops,
            lookup: Seconds::from_ns(middle.saturating_sub(start)),
            replace: Seconds::from_ns(end.saturating_sub(middle)),
        })
    }
}

fn push(tally: &Tally<Times>, record: &mut dyn Record) -> Result<(), Fault> {
    let (mut lookup, mut replace) = (Seconds(0.0), Seconds(0.0));
    let (mut lookups, mut replacements) = (PerSec(0.0), PerSec(0.0));
    for times in tally.outs() {
        if times.lookup.0 <= 0.0 || times.replace.0 <= 0.0 {
            return Err(Fault::new("the clock did not move"));
        }
        lookup = lookup + times.lookup / times.ops;
        replace = replace + times.replace / times.ops;
        lookups = lookups + times.ops / times.lookup;
        replacements = replacements + times.ops / times.replace;
    }
    record.push(&LOOKUP, lookup / float(tally.threads()));
    record.push(&REPLACE, replace / float(tally.threads()));
    record.push(&LOOKUP_RATE, lookups);
    record.push(&REPLACE_RATE, replacements);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_and_no_other() {
        let shape = Shape { lines: 64, more: 96, keys: 460 };
        let shared = filled(&shape).unwrap();
        assert!((0..460).all(|key| look_up(&shared, key) && replace(&shared, key)));
        assert!((460..2000).all(|key| !look_up(&shared, key) && !replace(&shared, key)));
    }

    #[test]
    fn a_lost_key_is_a_fault() {
        let shared = Arc::new(filled(&Shape { lines: 64, more: 96, keys: 300 }).unwrap());
        assert!(Walker { shared: Arc::clone(&shared), first: 0, end: 300, next: 299 }.run(2).is_ok());
        assert!(Walker { shared, first: 0, end: 301, next: 299 }.run(2).is_err());
    }
}
