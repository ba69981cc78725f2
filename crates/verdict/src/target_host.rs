//! The hosts of targets during their takes, by the telemetry that `--at` recorded there.
//!
//! A tick stands for the second before it, and counts where that second lies wholly in a measured take. Shares are of
//! all CPUs, or of one. The telemetry counts all that runs there, not the server alone; the CPU time of the server's
//! own processes stands beside it where they could be seen.

use std::collections::{BTreeMap, BTreeSet};

use model::data::RunData;
use model::doc::{HostFigureDoc, TargetHostDoc};
use model::metrics::telemetry;
use model::names::instrument;
use model::{Phase, Unit, format};

use crate::loads::Core;

/// The time that a tick stands for.
const TICK_NS: u64 = 1_000_000_000;
/// Of disks, links and zones of power, the busiest are named.
const NAMED: usize = 2;
/// A disk or a link that does less is not named.
const LEAST_BUSY: f64 = 0.01;
const LEAST_RATE: f64 = 1e3;

/// The use of the host of a target during certain takes.
#[derive(Clone, Debug, Default)]
pub struct HostUse {
    /// By source, metric and part: the unit's symbol, and the values.
    columns: BTreeMap<(String, String, String), (String, Vec<f64>)>,
    /// The start of each take into which a tick fell, and the ticks.
    takes: BTreeSet<u64>,
    ticks: BTreeSet<u64>,
}

/// The use of a target's host in the takes between these times. `None` where no telemetry of it was recorded.
pub fn during(run: &RunData, target: &str, spans: &[(u64, u64)]) -> Option<HostUse> {
    let mut all = run.target_telemetry.iter().filter(|one| one.target == target).peekable();
    all.peek()?;
    let mut host = HostUse::default();
    for segment in all.map(|one| &one.segment) {
        for (at, row) in segment.at_ns.iter().zip(&segment.rows) {
            let within = |(start, end): &&(u64, u64)| at.saturating_sub(TICK_NS) >= *start && at <= end;
            let Some((start, _)) = spans.iter().find(within) else { continue };
            host.takes.insert(*start);
            host.ticks.insert(at / TICK_NS);
            for ((column, unit), value) in segment.columns.iter().zip(row) {
                let Some(value) = value.filter(|value| value.is_finite()) else { continue };
                let (metric, part) = column.split_once('{').unwrap_or((column, ""));
                let part = part.trim_end_matches('}').to_owned();
                let key = (segment.source.clone(), metric.to_owned(), part);
                host.columns.entry(key).or_insert_with(|| (unit.clone(), Vec::new())).1.push(value);
            }
        }
    }
    Some(host)
}

impl HostUse {
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    fn median(&self, source: &str, metric: &str, part: &str) -> Option<f64> {
        let key = (source.to_owned(), metric.to_owned(), part.to_owned());
        self.columns.get(&key).and_then(|(_, values)| stats::median(values))
    }

    /// Medians by part, such as `sda`.
    pub fn by_part(&self, source: &str, metric: &str) -> Vec<(String, f64)> {
        let of = |((from, name, part), (_, values)): (&(String, String, String), &(String, Vec<f64>))| {
            let is_it = from == source && name == metric && !part.is_empty();
            let name = part.split_once('=').map_or(part.as_str(), |(_, name)| name);
            Some((name.to_owned(), stats::median(values)?)).filter(|_| is_it)
        };
        self.columns.iter().filter_map(of).collect()
    }

    /// Each CPU, in the order of their numbers.
    pub fn cores(&self) -> Vec<Core> {
        let share = |metric: &str, cpu: &str| self.median(instrument::CPU_USE, metric, &format!("cpu={cpu}"));
        let core = |(cpu, user): (String, f64)| {
            let system = share(telemetry::SYSTEM.name(), &cpu)?;
            let softirq = share(telemetry::SOFTIRQ.name(), &cpu)?;
            Some(Core {
                role: "server".to_owned(),
                busy: (user + system + softirq).min(1.0),
                user: Some(user),
                system: Some(system),
                softirq: Some(softirq),
                steal: None,
                server: None,
                generator: None,
                cpu,
            })
        };
        let users = self.by_part(instrument::CPU_USE, telemetry::USER.name());
        let mut cores: Vec<Core> = users.into_iter().filter_map(core).collect();
        cores.sort_by_key(|core| core.cpu.parse::<u32>().unwrap_or(u32::MAX));
        cores
    }

    /// Of all CPUs together: `CPUs 63 % busy (user 30 %, system 21 %, softirq 12 %), cpu1 the busiest with 97 %`.
    fn cpus(&self) -> Option<String> {
        let whole = |metric: &str| self.median(instrument::CPU_USE, metric, "");
        let idle = whole(telemetry::IDLE.name())? + whole(telemetry::IOWAIT.name()).unwrap_or(0.0);
        let parts =
            [telemetry::USER, telemetry::SYSTEM, telemetry::SOFTIRQ, telemetry::STEAL].map(|metric| {
                let share = whole(metric.name())?;
                let is_worth = metric.name() != telemetry::STEAL.name() || share >= LEAST_BUSY;
                is_worth.then(|| format!("{} {}", metric.name(), format::percent(share)))
            });
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let cores = self.cores();
        let busiest = cores.iter().max_by(|a, b| a.busy.total_cmp(&b.busy)).filter(|_| cores.len() > 1);
        let busiest = busiest.map_or_else(String::new, |core| {
            format!(", cpu{} the busiest with {}", core.cpu, format::percent(core.busy))
        });
        let busy = format::percent((1.0 - idle).clamp(0.0, 1.0));
        Some(format!("CPUs {busy} busy ({}){busiest}", parts.join(", ")))
    }

    /// CPUs that the target's own server kept busy.
    fn server_cores(&self) -> Option<f64> {
        self.median(instrument::SERVER_USE, telemetry::SERVER_CORES.name(), "")
    }

    /// The busiest parts of a metric, each as `sda 93 % busy`.
    fn busiest(&self, source: &str, metric: &str, (least, unit, says): (f64, Unit, &str)) -> Vec<String> {
        let mut all = self.by_part(source, metric);
        all.retain(|(_, value)| *value >= least);
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        let one = |(name, value): (String, f64)| match unit {
            Unit::Ratio => format!("{name} {}{says}", format::percent(value)),
            unit => format!("{name} {}{says}", format::quantity(value, unit)),
        };
        all.into_iter().take(NAMED).map(one).collect()
    }

    fn sentence(&self) -> Option<String> {
        let memory = self.median(instrument::MEMORY_USE, telemetry::AVAILABLE.name(), "");
        let memory = memory.map(|bytes| format!("memory {} available", format::quantity(bytes, Unit::Byte)));
        let rate = |says| (LEAST_RATE, Unit::BytesPerSec, says);
        let disks = (LEAST_BUSY, Unit::Ratio, " busy");
        let parts = [
            self.busiest(instrument::DISK_USE, telemetry::BUSY.name(), disks),
            self.busiest(instrument::NET_USE, telemetry::SENT.name(), rate(" out")),
            self.busiest(instrument::NET_USE, telemetry::RECEIVED.name(), rate(" in")),
            self.busiest(instrument::WATTS, telemetry::POWER.name(), (0.0, Unit::Watt, "")),
        ];
        let server = self.server_cores();
        let server = server.map(|cores| format!("its server {} CPUs", format::number(cores)));
        let all: Vec<String> =
            self.cpus().into_iter().chain(server).chain(memory).chain(parts.concat()).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    fn figures(&self) -> Vec<HostFigureDoc> {
        let of =
            |((source, metric, part), (unit, values)): (&(String, String, String), &(String, Vec<f64>))| {
                let ends = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                    (low.min(*value), high.max(*value))
                });
                Some(HostFigureDoc {
                    source: source.clone(),
                    metric: metric.clone(),
                    part: Some(part.clone()).filter(|part| !part.is_empty()),
                    unit: unit.clone(),
                    median: stats::median(values)?,
                    lowest: ends.0,
                    highest: ends.1,
                })
            };
        self.columns.iter().filter_map(of).collect()
    }
}

/// The times of the measured takes of an arm that came to figures.
fn spans(run: &RunData, arm: &str) -> Vec<(u64, u64)> {
    let is_of_arm = |number: u32| run.plan.arms.get(number as usize).is_some_and(|one| one.name == arm);
    let takes = run
        .takes
        .iter()
        .filter(|take| take.phase == Phase::Measured && take.fault.is_none() && is_of_arm(take.arm));
    takes.map(|take| (take.start_ns, take.end_ns)).collect()
}

/// The host of the target of an arm. `None` where nothing was recorded there.
pub fn of_arm(run: &RunData, arm: &str) -> Option<TargetHostDoc> {
    let target = &run.plan.target(arm)?.name;
    let spans = spans(run, arm);
    let host = during(run, target, &spans).filter(|_| !spans.is_empty())?;
    let mut sentence = host.sentence().unwrap_or_else(|| {
        "no second of its telemetry lies wholly in a take: takes of 2 s or more show the host".to_owned()
    });
    if let Some(beside) = beside(run, target, &host) {
        sentence = format!("{sentence}; {beside}");
    }
    Some(TargetHostDoc {
        target: target.clone(),
        arm: arm.to_owned(),
        takes: spans.len(),
        takes_seen: host.takes.len(),
        ticks: host.ticks.len(),
        sentence: match arm == target {
            true => format!("host of {target} during its takes: {sentence}"),
            false => format!("host of {target} during the takes of {arm}: {sentence}"),
        },
        figures: host.figures(),
    })
}

/// Which other targets of the run are on the same host, and what of its figures counts them too.
fn beside(run: &RunData, target: &str, host: &HostUse) -> Option<String> {
    let id_of = |name: &str| run.plan.targets.iter().find(|one| one.name == name)?.host_id();
    let own = id_of(target)?;
    let others =
        run.plan.targets.iter().filter(|one| one.name != target && one.host_id().as_ref() == Some(&own));
    let names: Vec<String> = others.map(|one| one.name.clone()).collect();
    let are = if names.len() == 1 { "is" } else { "are" };
    let counted = match host.server_cores() {
        Some(_) => "all of these figures but that of its server count it too",
        None => "these figures count it too",
    };
    let counted = if names.len() == 1 { counted.to_owned() } else { counted.replace(" it ", " them ") };
    (!names.is_empty() && !host.is_empty())
        .then(|| format!("{} {are} on this host: {counted}", format::list(&names)))
}

/// The hosts of all targets of a run, in the order of its arms.
pub fn of_run(run: &RunData) -> Vec<TargetHostDoc> {
    run.plan.arms.iter().filter_map(|arm| of_arm(run, &arm.name)).collect()
}

#[cfg(test)]
pub mod planted {
    use model::Arm;
    use model::frame::{Segment, TargetTelemetry};
    use model::plan::Target;

    use super::*;

    /// Makes the arm of a run a target, whose host has cores with these shares of user, system and softirq in each
    /// second of the run.
    pub fn with_host(mut run: RunData, name: &str, cores: &[[f64; 3]]) -> RunData {
        let old = run.plan.arms[0].name.clone();
        run.plan.arms = vec![Arm { name: name.to_owned(), ..run.plan.arms[0].clone() }];
        run.series.iter_mut().filter(|series| series.key.arm == old).for_each(|series| {
            name.clone_into(&mut series.key.arm);
        });
        run.plan.targets = vec![Target::new(name, "http://10.0.0.2/")];
        let end_ns = run.takes.iter().map(|take| take.end_ns).max().unwrap_or(0);
        let column = |metric: &str, cpu: usize| (format!("{metric}{{cpu={cpu}}}"), "ratio".to_owned());
        let names = ["user", "system", "softirq"];
        let columns =
            (0..cores.len()).flat_map(|cpu| names.map(|metric| column(metric, cpu))).collect::<Vec<_>>();
        let row: Vec<Option<f64>> = cores.iter().flatten().map(|share| Some(*share)).collect();
        // A quarter of a second apart, so that one falls into each take.
        let at_ns: Vec<u64> = (1..).map(|n| n * TICK_NS / 4).take_while(|at| *at <= end_ns).collect();
        let rows = vec![row; at_ns.len()];
        let segment = Segment { source: instrument::CPU_USE.to_owned(), columns, at_ns, rows };
        run.target_telemetry = vec![TargetTelemetry { target: name.to_owned(), segment }];
        run
    }
}

#[cfg(test)]
mod tests {
    use model::frame::{Segment, TargetTelemetry};
    use model::plan::Target;

    use super::*;
    use crate::loads::planted::empty;

    fn host(columns: &[(&str, &str)], ticks: &[(u64, Vec<Option<f64>>)]) -> RunData {
        let mut run = empty();
        run.plan.targets = vec![Target::new("a", "http://10.0.0.2/")];
        let segment = Segment {
            source: "cpu-use".to_owned(),
            columns: columns.iter().map(|(name, unit)| ((*name).to_owned(), (*unit).to_owned())).collect(),
            at_ns: ticks.iter().map(|(at, _)| *at).collect(),
            rows: ticks.iter().map(|(_, row)| row.clone()).collect(),
        };
        run.target_telemetry = vec![TargetTelemetry { target: "a".to_owned(), segment }];
        run
    }

    const S: u64 = 1_000_000_000;

    #[test]
    fn two_targets_of_one_host_are_told_apart_by_their_servers() {
        let columns = [("idle", "ratio"), ("user", "ratio")];
        let tick = |at| (at, vec![Some(0.5), Some(0.5)]);
        let mut run = host(&columns, &[tick(S), tick(2 * S)]);
        run.plan.arms = vec![model::Arm { name: "a".to_owned(), set: model::Params::default() }];
        run.takes = vec![model::data::TakeHead {
            seq: 0,
            block: 0,
            sitting: 0,
            phase: Phase::Measured,
            cell: 0,
            arm: 0,
            start_ns: 0,
            end_ns: 2 * S,
            repeats: 1,
            fault: None,
            refusals: Vec::new(),
        }];
        run.plan.targets.push(Target::new("b", "http://10.0.0.3/"));
        let alone = of_arm(&run, "a").unwrap().sentence;
        assert_eq!(alone, "host of a during its takes: CPUs 50 % busy (user 50 %)");
        for target in &mut run.plan.targets {
            target.facts = vec![model::Fact::text("boot.id", "x", "y")];
        }
        let both = of_arm(&run, "a").unwrap().sentence;
        assert_eq!(both, format!("{alone}; b is on this host: these figures count it too"));
        let segment = Segment {
            source: "server-use".to_owned(),
            columns: vec![("server-cores".to_owned(), "core".to_owned())],
            at_ns: vec![2 * S],
            rows: vec![vec![Some(0.4)]],
        };
        run.target_telemetry.push(TargetTelemetry { target: "a".to_owned(), segment });
        let apart = of_arm(&run, "a").unwrap().sentence;
        let says = "; its server 0.400 CPUs; b is on this host: all of these figures but that of its server count it too";
        assert_eq!(apart, format!("{alone}{says}"));
    }

    #[test]
    fn only_whole_seconds_within_takes_count() {
        let columns = [("idle", "ratio"), ("user", "ratio"), ("user{cpu=0}", "ratio")];
        let tick = |at, idle| (at, vec![Some(idle), Some(0.25), None]);
        let run = host(&columns, &[tick(S, 0.9), tick(5 * S / 2, 0.2), tick(3 * S, 0.4), tick(9 * S, 0.9)]);
        let seen = during(&run, "a", &[(3 * S / 2, 3 * S)]).unwrap();
        assert_eq!((seen.takes.len(), seen.ticks.len()), (1, 2));
        assert_eq!(seen.cpus().unwrap(), "CPUs 70 % busy (user 25 %)");
        assert!(seen.cores().is_empty(), "a missing value is no core of 0");
        assert!(during(&run, "b", &[(0, 9 * S)]).is_none());
        assert!(during(&run, "a", &[(0, S / 2)]).unwrap().is_empty());
    }
}
