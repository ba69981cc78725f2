//! Comparison of loads of one setup: do more generators or more connections reach more?
//!
//! More means a median that is over 5 % higher, with a p of at most 5 % after Bonferroni's correction for the loads
//! that were tried ([`stats::more_p`]): what a preparation draws is in it, and single takes prove little.

use model::finding::generator_bound::{BothFull, Cause, Cores, Settled};
use model::metrics::load;

pub use super::COMPETES;
use super::{Core, Load};

/// A share of its ceiling at which a resource is at it.
pub const CEILING: f64 = 0.85;
/// From here on a resource is near its ceiling: answers wait for it, though it has some time left.
pub const NEAR: f64 = 0.7;
/// From here on it has no time left to speak of.
pub const FULL: f64 = 0.95;
/// The ratio of two throughputs that is a difference.
pub const MORE: f64 = 1.05;

/// Share of a core that others have to use to be what fills it.
pub const OTHERS: f64 = 0.25;
/// Role of the load generator in a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Generator {
    /// It did: the figure is a lower bound of what the server can do.
    Bound(Cause),
    /// More generators, free ones, reach no more.
    Settled(Settled),
    /// Its busiest core is at its ceiling, and the server is full too: it can hardly do more.
    Both(BothFull),
    /// Its busiest core is below its ceiling.
    Free {
        share: f64,
    },
    Unknown,
}

impl Generator {
    /// The figure is a lower bound of what the server can do.
    pub const fn is_bound(&self) -> bool {
        matches!(self, Generator::Bound(_))
    }
}

/// Role of the generator in this load's figures, by its core and by the loads with more and fewer generators.
pub fn generator(load: &Load<'_>, all: &[Load<'_>]) -> Generator {
    // Its share of a core over a few ticks tells nothing.
    if load.too_short().is_some() {
        return Generator::Unknown;
    }
    let share = load.median(&load::SHARE);
    let own = load.number("generators").unwrap_or(1.0);
    let others: Vec<(&Load<'_>, f64)> = siblings(load, all, "generators").collect();
    let larger = others.iter().filter(|(_, generators)| *generators > own);
    let tried: Vec<(f64, f64, &Load<'_>)> =
        larger.filter_map(|(other, generators)| Some((*generators, ratio(other, load)?, *other))).collect();
    let best = tried.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let is_best = |(_, ratio, other): &&(f64, f64, &Load<'_>)| is_more(*ratio, other, load, tried.len());
    if let Some((generators, ratio, _)) = best.filter(is_best) {
        return Generator::Bound(Cause::More { generators: *generators, ratio: *ratio });
    }
    let free = tried.iter().find(|(_, _, other)| is_free(other));
    if let Some((generators, ratio, _)) = free {
        let reached = load.throughput().map(|own| own * ratio);
        return Generator::Settled(Settled { tried: *generators, own, reached });
    }
    if let Some(share) = share.filter(|share| *share > CEILING) {
        return match full(load) {
            Some((server, busy)) => {
                Generator::Both(BothFull { server, busy, cores: generator_cores(load), share })
            }
            None => Generator::Bound(Cause::Busy { share }),
        };
    }
    if let Some(starved) = share.and_then(|share| starved(load, share)) {
        return Generator::Bound(starved);
    }
    let smaller = others.iter().filter(|(_, generators)| *generators < own);
    let nearest = smaller.max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((fewer, generators)) = nearest.filter(|_| tried.is_empty() && !server_at_ceiling(load))
        && let Some(ratio) = ratio(load, fewer).filter(|ratio| is_more(*ratio, load, fewer, 1))
    {
        return Generator::Bound(Cause::Rising { own, fewer: *generators, ratio });
    }
    share.map_or(Generator::Unknown, |share| Generator::Free { share })
}

/// The load with more connections that reaches the most, where that is more: its connections, and the ratio.
pub fn more_connections(load: &Load<'_>, all: &[Load<'_>]) -> Option<(f64, f64)> {
    let own = load.number("connections")?;
    let larger = siblings(load, all, "connections").filter(|(_, connections)| *connections > own);
    let tried: Vec<(f64, f64, &Load<'_>)> =
        larger.filter_map(|(other, connections)| Some((connections, ratio(other, load)?, other))).collect();
    let best = tried.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    is_more(best.1, best.2, load, tried.len()).then_some((best.0, best.1))
}

/// Closed loops that differ from this one in a parameter alone, with its number.
pub fn siblings<'l, 'a>(
    load: &'l Load<'a>,
    all: &'l [Load<'a>],
    param: &'l str,
) -> impl Iterator<Item = (&'l Load<'a>, f64)> {
    let alike = all.iter().filter(move |other| load.is_closed() && load.is_alike(other, &[param]));
    alike.filter_map(move |other| Some((other, other.number(param)?)))
}

/// Throughput of one load by that of another.
fn ratio(of: &Load<'_>, by: &Load<'_>) -> Option<f64> {
    Some(of.throughput()? / by.throughput()?).filter(|ratio| ratio.is_finite())
}

/// The largest of so many loads that were tried reaches more than `by`, beyond what chance and a preparation make.
fn is_more(ratio: f64, of: &Load<'_>, by: &Load<'_>, tried: usize) -> bool {
    let (of, by) = (of.throughputs_by_sitting(), by.throughputs_by_sitting());
    let p = stats::more_p(&slices(&of), &slices(&by));
    ratio > MORE && p.is_ok_and(|p| p * tried as f64 <= stats::ALPHA)
}

fn slices(sittings: &[Vec<f64>]) -> Vec<&[f64]> {
    sittings.iter().map(Vec::as_slice).collect()
}

/// The cores that the generator works on.
pub fn generator_cores(load: &Load<'_>) -> Cores {
    let cores = load.cores();
    let own = cores.iter().filter(|core| core.role == "generator" || core.role == "both");
    Cores(own.map(|core| format!("cpu{}", core.cpu)).collect())
}

/// The part of the machine that the server fills, all of it its own: its one core, all its cores, or its one thread;
/// and how busy.
fn full(load: &Load<'_>) -> Option<(String, f64)> {
    let cores = load.server_cores();
    let least = cores.iter().map(|core| core.busy).min_by(f64::total_cmp);
    if let Some(busy) = least.filter(|busy| *busy >= FULL && cores.iter().all(|core| core.role == "server")) {
        let which = match cores.as_slice() {
            [only] => format!("the server's cpu{}", only.cpu),
            many => format!("the server's {} cores", many.len()),
        };
        return Some((which, busy));
    }
    let thread = load.median(&load::SERVER_THREAD).filter(|share| *share >= FULL && cores.len() != 1)?;
    Some(("the server's one busy thread".to_owned(), thread))
}

/// A closed loop whose generator's core is full, but not of its work. An open loop fills its core by waiting.
fn starved(load: &Load<'_>, share: f64) -> Option<Cause> {
    if share < COMPETES || !load.is_closed() {
        return None;
    }
    let cores = load.cores();
    let mut own = cores.iter().filter(|core| matches!(core.role.as_str(), "generator" | "both"));
    let filled = |core: &Core| {
        let foreign = core.busy - core.softirq.unwrap_or(0.0) - share;
        // Where the server uses less of it than others do, it is theirs.
        let is_servers = core.is_shared() && core.server.is_none_or(|server| 2.0 * server >= foreign);
        let is_full = core.busy >= CEILING && foreign >= OTHERS;
        is_full.then_some(Cause::Starved { share, busy: core.busy, is_shared: is_servers })
    };
    own.find_map(filled)
}

/// A load whose generators are known to have had room.
fn is_free(load: &Load<'_>) -> bool {
    let shared = load.cores().iter().any(Core::is_shared);
    !shared && load.median(&load::SHARE).is_some_and(|share| share <= CEILING)
}

/// A core or the busiest thread of the server is at its ceiling.
pub fn server_at_ceiling(load: &Load<'_>) -> bool {
    let at = |share: f64| share >= CEILING;
    load.server_cores().iter().any(|core: &Core| at(core.taken()))
        || load.median(&load::SERVER_THREAD).is_some_and(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::of_run;
    use super::super::planted::{empty, load, one};
    use super::*;

    fn two(first: f64, share: f64, second: f64, second_share: f64) -> Vec<Generator> {
        let mut run = empty();
        load(&mut run, "generators=1", &[("throughput", first), ("generator-share", share)]);
        load(&mut run, "generators=2", &[("throughput", second), ("generator-share", second_share)]);
        let loads = of_run(&run, instruments::cards());
        loads.iter().map(|one| generator(one, &loads)).collect()
    }

    #[test]
    fn a_busy_generator_is_bound() {
        let of = |share: f64| {
            let run = one("connections=5", &[("throughput", 10.0), ("generator-share", share)]);
            let loads = of_run(&run, instruments::cards());
            generator(&loads[0], &loads)
        };
        assert!(
            matches!(of(0.9), Generator::Bound(Cause::Busy { .. }))
                && matches!(of(0.8), Generator::Free { .. })
        );
        let run = one("connections=5", &[("throughput", 10.0)]);
        let loads = of_run(&run, instruments::cards());
        assert_eq!(generator(&loads[0], &loads), Generator::Unknown);
    }

    #[test]
    fn a_generator_whose_core_others_fill_is_starved() {
        let of = |given: &str, share: f64| {
            let figures = [
                ("throughput", 10.0),
                ("generator-share", share),
                ("core-busy;cpu=1;role=generator", 0.99),
                ("core-softirq;cpu=1;role=generator", 0.1),
            ];
            let run = one(given, &figures);
            let loads = of_run(&run, instruments::cards());
            generator(&loads[0], &loads)
        };
        assert!(matches!(of("connections=5", 0.3), Generator::Bound(Cause::Starved { .. })));
        assert!(matches!(of("connections=5", 0.8), Generator::Free { .. }));
        assert!(matches!(of("connections=5", 0.02), Generator::Free { .. }), "it waits for answers");
        assert!(matches!(of("arrivals=poisson", 0.3), Generator::Free { .. }), "it spins");
    }

    #[test]
    fn more_generators_tell_a_capped_one() {
        // Each stopped at a quarter of a core: no core is busy, and yet two reach more.
        let found = two(1000.0, 0.25, 1380.0, 0.25);
        assert!(
            matches!(found[0], Generator::Bound(Cause::More { generators: 2.0, ratio }) if (ratio - 1.38).abs() < 0.01)
        );
        assert!(matches!(found[1], Generator::Bound(Cause::Rising { fewer: 1.0, .. })), "{found:?}");
        let found = two(1000.0, 0.9, 1010.0, 0.6);
        assert!(matches!(found[0], Generator::Settled(Settled { tried: 2.0, .. })), "{found:?}");
        assert!(matches!(found[1], Generator::Free { .. }));
        // Two that share one core and fill it prove nothing.
        let found = two(1000.0, 0.95, 1010.0, 0.97);
        assert!(found.iter().all(|one| matches!(one, Generator::Bound(Cause::Busy { .. }))), "{found:?}");
    }

    #[test]
    fn six_per_cent_between_single_takes_prove_nothing() {
        let mut run = empty();
        for (generators, throughput) in [(1, 20.0e3), (2, 21.2e3)] {
            load(
                &mut run,
                &format!("generators={generators}"),
                &[("throughput", throughput), ("generator-share", 0.3)],
            );
        }
        // One take each.
        run.series.iter_mut().for_each(|series| series.points.truncate(1));
        let loads = of_run(&run, instruments::cards());
        let found: Vec<Generator> = loads.iter().map(|one| generator(one, &loads)).collect();
        assert!(matches!(found[0], Generator::Settled(_)), "{found:?}");
        assert!(matches!(found[1], Generator::Free { .. }), "{found:?}");
    }

    #[test]
    fn a_full_server_beside_a_full_generator_is_no_lower_bound() {
        let of = |busy: f64| {
            let run = one(
                "connections=5",
                &[("throughput", 10.0), ("generator-share", 0.95), ("core-busy;cpu=0;role=server", busy)],
            );
            let loads = of_run(&run, instruments::cards());
            generator(&loads[0], &loads)
        };
        assert!(matches!(of(0.96), Generator::Both(both) if both.server == "the server's cpu0"));
        assert!(matches!(of(0.9), Generator::Bound(Cause::Busy { .. })));
    }

    #[test]
    fn a_server_at_its_ceiling_ends_the_rise() {
        let mut run = empty();
        load(&mut run, "generators=1", &[("throughput", 1000.0), ("generator-share", 0.95)]);
        let full = [("throughput", 1100.0), ("generator-share", 0.6), ("core-busy;cpu=0;role=server", 0.96)];
        load(&mut run, "generators=2", &full);
        let loads = of_run(&run, instruments::cards());
        assert!(matches!(generator(&loads[1], &loads), Generator::Free { .. }));
    }

    proptest! {
        /// Whatever the figures: only a higher one proves anything, and much more does.
        #[test]
        fn never_both_raise(first in 1.0f64..1e6, second in 1.0f64..1e6, a in 0.0f64..1.0, b in 0.0f64..1.0) {
            prop_assume!((second / first / MORE - 1.0).abs() > 1e-3);
            let found = two(first, a, second, b);
            let raised = matches!(found[0], Generator::Bound(Cause::More { .. }));
            prop_assert!(!raised || second / first > MORE);
            prop_assert!(raised || second / first < 1.2);
            let is_more = matches!(found[1], Generator::Bound(Cause::More { .. }));
            prop_assert!(!is_more);
        }
    }
}
