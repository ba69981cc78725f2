//! Background load: CPUs kept busy by other processes during the takes.
//!
//! In CPUs (1 = one CPU all the time), median over a figure's measured takes. Doubtful when it is over a quarter of the
//! CPUs that the figure itself uses, over a twentieth where it is of the slowest requests, which wait for a CPU, or
//! over a fiftieth where it needs every CPU. The server of a load is ours, and so are the interrupts during it, most of
//! which are its packets', and the applications that it is connected to.

use model::finding::Background;
use model::metrics::load;
use model::metrics::machine;

use crate::ruling::{Ruling, settle};
use crate::run_index::{FigureRow, RunIndex};

/// The metric of `conditions`.
const METRIC: &str = machine::BACKGROUND.name();
const MOST: f64 = 0.25;
const MOST_OF_TAIL: f64 = 0.05;
const MOST_WHEN_FULL: f64 = 0.02;
/// Figures of the slowest requests, and rates that keep a limit of these.
const TAILS: [&str; 2] = [load::RESPONSE_P99.name(), load::SLO.name()];

/// True if other processes were busy during the takes of a row.
pub fn found(index: &RunIndex<'_>, row: FigureRow<'_>) -> bool {
    stats::median(&others(index, row)).is_some_and(|busy| busy > most_of(index, row, busy))
}

/// CPUs of others in each take of a row.
fn others(index: &RunIndex<'_>, row: FigureRow<'_>) -> Vec<f64> {
    let (Some(load), Some(known)) = (index.load_of(row), index.condition(METRIC)) else {
        return index.during(row, METRIC);
    };
    let interrupts = load.sums_by_take(&load::CORE_SOFTIRQ);
    let of_load = |seq: u64| interrupts.get(&seq).unwrap_or(&0.0) + index.backend_cpus(seq);
    let of_others = |seq: u64| known.get(&seq).map(|busy| (busy - of_load(seq)).max(0.0));
    row.takes().filter_map(of_others).collect()
}

/// The most CPUs that a row bears: less where it needs every CPU itself.
fn most_of(index: &RunIndex<'_>, row: FigureRow<'_>, busy: f64) -> f64 {
    let full =
        matches!((row.threads(index), index.cpus()), (Some(threads), Some(cpus)) if threads + busy > cpus);
    let is_tail = TAILS.contains(&row.series.key.metric.as_str());
    let most = if full {
        MOST_WHEN_FULL
    } else if is_tail {
        MOST_OF_TAIL
    } else {
        MOST
    };
    row.cpus_in_use(index) * most
}

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    if index.condition(METRIC).is_none() {
        return vec![Ruling::of_run(Background::Unread)];
    }
    let (mut bad, mut good, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    for row in index.rows() {
        let Some(busy) = stats::median(&others(index, row)) else { continue };
        if busy > most_of(index, row, busy) {
            let of = row.cpus_in_use(index);
            let by = index.busiest(row.takes());
            bad.push(Ruling::about(row.subject(), Background::Busy { cpus: busy, of, by }, vec![row.index]));
        } else {
            most = most.max(busy);
            good.push(row.index);
        }
    }
    settle(bad, good, |_| Background::Quiet { cpus: most })
}

#[cfg(test)]
mod tests {
    use model::backend::Backend;
    use model::note::Disturber;
    use model::{NoteBody, Validity, Value};

    use super::*;
    use crate::loads::planted::{one, params, series};
    use crate::run_index::RunContext;

    #[test]
    fn the_disturbers_are_named_once_for_all_figures() {
        let of = |bodies: &[NoteBody]| {
            let mut run = one("connections=50", &[("throughput", 1.0), ("response-time", 1e-3)]);
            let points: Vec<(u64, Value)> = (0..8).map(|seq| (seq, Value::Number(0.75))).collect();
            series(&mut run, "conditions", "background", params(""), "", &points);
            for take in &run.takes {
                let at_ns = Some(take.start_ns);
                run.notes.extend(bodies.iter().map(|body| model::Note { at_ns, body: body.clone() }));
            }
            let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
            rule(&RunIndex::new(&run, &context)).remove(0).finding.text()
        };
        let busy =
            |pid: i32, name: &str, cpus: f64| Disturber { pid, name: name.to_owned(), cpus, kernel: false };
        let seen =
            of(&[NoteBody::Disturbers(vec![busy(123, "ramcloud", 0.44), busy(130, "coordinator", 0.31)])]);
        let says = "other processes (ramcloud (pid 123) 0.440, coordinator (pid 130) 0.310 of a CPU) used 0.750 CPUs during";
        assert!(seen.contains(says), "{seen}");
        let hidden = of(&[NoteBody::Disturbers(Vec::new())]);
        assert!(hidden.contains("cannot be seen here: /proc hides them"), "{hidden}");
        assert!(of(&[]).contains("(`boxscore doctor` names them)"));
    }

    #[test]
    fn an_application_behind_the_server_is_not_background() {
        let state = |cpu_ns: u64| {
            let mut run = one("connections=50", &[("throughput", 1.0)]);
            let points: Vec<(u64, Value)> = (0..8).map(|seq| (seq, Value::Number(0.9))).collect();
            series(&mut run, "conditions", "background", params(""), "", &points);
            for take in &run.takes {
                let (socket, window_ns) = ("127.0.0.1:8197".to_owned(), 1_000_000_000);
                let all = vec![Backend { socket, window_ns, cpu_ns: Some(cpu_ns), ..Backend::default() }];
                run.notes.push(model::Note { at_ns: Some(take.end_ns), body: NoteBody::Backends(all) });
            }
            let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
            rule(&RunIndex::new(&run, &context)).remove(0).finding.state
        };
        assert_eq!((state(850_000_000), state(100_000_000)), (Validity::Ok, Validity::Doubtful));
    }

    #[test]
    fn the_interrupts_of_a_load_are_not_background() {
        let state = |busy: f64, figures: &[(&str, f64)]| {
            let mut run = one("connections=50", figures);
            let points: Vec<(u64, Value)> = (0..8).map(|seq| (seq, Value::Number(busy))).collect();
            series(&mut run, "conditions", "background", params(""), "", &points);
            rule(&RunIndex::new(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
                .remove(0)
                .finding
                .state
        };
        let served = [
            ("throughput", 1.0),
            ("core-softirq;cpu=0;role=server", 0.2),
            ("core-softirq;cpu=1;role=generator", 0.1),
        ];
        assert_eq!((state(0.5, &served), state(0.6, &served)), (Validity::Ok, Validity::Doubtful));
        assert_eq!(state(0.5, &served[..1]), Validity::Doubtful);
    }
}
