//! The loads of a run: what an instrument whose role is a load or a search measured in one cell and arm, gathered from
//! its series.
//!
//! A series of a part (a core, a disk, a kind of failure) carries the part in its parameters; without it they are those
//! of the load. Shares and rates are medians over the measured takes, counts are sums. Units are base units.

mod alike;
pub mod groups;
pub mod lost_syns;
pub mod pauses;
#[cfg(test)]
pub mod planted;
pub mod queues;
pub mod stall;
pub mod sweep;
pub mod used;
pub mod waits;

use std::collections::{BTreeMap, BTreeSet};

use model::NoteBody;
use model::data::{Point, RunData, Series};
use model::doc::BottleneckDoc;
use model::failure::Failure;
use model::finding::generator_bound::Filled;
use model::finding::{About, FigureName, Subject};
use model::metrics::load;
use model::url::authority;
use model::{Better, Cards, Histogram, Metric, Params, Phase, Quantity, Ratio, Role, Value, card};

/// Requests and seconds of all takes together, without which nothing is said of what binds a load.
pub const LEAST_REQUESTS: u64 = 5;
pub const LEAST_S: f64 = 0.2;

/// One core during a load. Shares of the take's time.
#[derive(Clone, Debug, PartialEq)]
pub struct Core {
    pub cpu: String,
    /// `server`, `generator`, `both` or `other`.
    pub role: String,
    pub busy: f64,
    pub user: Option<f64>,
    pub system: Option<f64>,
    pub softirq: Option<f64>,
    pub steal: Option<f64>,
    /// The server's share of it, where that is known core by core.
    pub server: Option<f64>,
    /// The generator's share of it, waiting by spinning included.
    pub generator: Option<f64>,
}

/// Who uses less of a core than this does not compete for it: the scheduler gives that to anyone who asks.
pub const COMPETES: f64 = 0.05;

impl Core {
    /// Share that is not free: busy, or given to others by the hypervisor.
    pub fn taken(&self) -> f64 {
        (self.busy + self.steal.unwrap_or(0.0)).min(1.0)
    }

    /// The generator works there and the server may, and nothing says that either hardly uses it: of the server its
    /// time there, or what is left of the core beside the generator's work and interrupts.
    pub fn is_shared(&self) -> bool {
        let left = self.generator.map(|own| self.busy - self.softirq.unwrap_or(0.0) - own);
        let competes = |share: Option<f64>| share.is_none_or(|share| share >= COMPETES);
        self.role == "both" && competes(self.generator) && competes(self.server.or(left))
    }
}

/// A load: the series that one cell measured in one arm.
#[derive(Clone, Debug)]
pub struct Load<'a> {
    pub instrument: &'static str,
    pub arm: &'a str,
    pub definition: u32,
    /// Of the load, without those of its parts.
    pub params: Params,
    rate: &'static str,
    is_search: bool,
    /// Position in the run's series, the series, and the part that it is about.
    series: Vec<(usize, &'a Series, Params)>,
}

/// The loads of a run, in the order of its series.
pub fn of_run(run: &RunData, cards: Cards) -> Vec<Load<'_>> {
    let mut loads: Vec<Load<'_>> = Vec::new();
    let mut known: BTreeMap<(&str, &str, u32, Params), usize> = BTreeMap::new();
    for (index, series) in run.series.iter().enumerate() {
        let key = &series.key;
        let card = card::find(cards, &key.instrument);
        let Some((card, rate)) = card.and_then(|card| Some((card, card.role.rate()?))) else { continue };
        let (mut params, mut part) = (key.params.clone(), Params::default());
        for spec in card.parts {
            if let Some(value) = params.remove(spec.name) {
                part.set(spec.name, &value);
            }
        }
        let place = (card.name, key.arm.as_str(), key.definition, params);
        let at = *known.entry(place.clone()).or_insert_with(|| {
            let (instrument, arm, definition, params) = place;
            let is_search = matches!(card.role, Role::Search { .. });
            loads.push(Load { instrument, arm, definition, params, rate, is_search, series: Vec::new() });
            loads.len() - 1
        });
        loads[at].series.push((index, series, part));
    }
    loads
}

impl<'a> Load<'a> {
    /// The metric of what is answered a second.
    pub fn rate_metric(&self) -> &'static str {
        self.rate
    }

    fn of<'l>(
        &'l self,
        metric: &'l str,
    ) -> impl Iterator<Item = &'l (usize, &'a Series, Params)> + use<'l, 'a> {
        self.series.iter().filter(move |(_, series, _)| series.key.metric == metric)
    }

    /// Median over the measured takes.
    pub fn median<Q: Quantity>(&self, metric: &Metric<Q>) -> Option<f64> {
        self.median_of(metric.name())
    }

    fn median_of(&self, metric: &str) -> Option<f64> {
        let (_, series, _) = self.of(metric).find(|(_, _, part)| part.is_empty())?;
        median(series)
    }

    /// Value by take.
    pub fn by_take<Q: Quantity>(&self, metric: &Metric<Q>) -> BTreeMap<u64, f64> {
        let whole = self.of(metric.name()).filter(|(_, _, part)| part.is_empty());
        whole.flat_map(|(_, series, _)| measured(series)).filter_map(|p| Some((p.seq, p.number()?))).collect()
    }

    /// Sum over all parts by take.
    pub fn sums_by_take<Q: Quantity>(&self, metric: &Metric<Q>) -> BTreeMap<u64, f64> {
        let mut sums = BTreeMap::new();
        for point in self.of(metric.name()).flat_map(|(_, series, _)| measured(series)) {
            if let Some(number) = point.number() {
                *sums.entry(point.seq).or_insert(0.0) += number;
            }
        }
        sums
    }

    /// Value by take and by the value of a part's parameter.
    pub fn by_part<Q: Quantity>(&self, metric: &Metric<Q>, part: &str) -> BTreeMap<(u64, String), f64> {
        let series = self.of(metric.name()).filter_map(|(_, series, own)| Some((series, own.get(part)?)));
        let values = series.flat_map(|(series, part)| {
            measured(series).filter_map(|point| Some(((point.seq, part.to_owned()), point.number()?)))
        });
        values.collect()
    }

    /// Medians by the value of a part's parameter.
    pub fn medians_by<Q: Quantity>(&self, metric: &Metric<Q>, part: &str) -> BTreeMap<String, f64> {
        self.of(metric.name())
            .filter_map(|(_, series, own)| Some((own.get(part)?.to_owned(), median(series)?)))
            .collect()
    }

    /// Sums over the measured takes by the value of a part's parameter; those of 0 are left out.
    pub fn sums_by<Q: Quantity>(&self, metric: &Metric<Q>, part: &str) -> BTreeMap<String, f64> {
        let sums = self.of(metric.name()).filter_map(|(_, series, own)| {
            let sum: f64 = series.measured().iter().filter(|value| value.is_finite()).sum();
            Some((own.get(part)?.to_owned(), sum))
        });
        sums.filter(|(_, sum)| *sum > 0.0).collect()
    }

    /// Sums over the measured takes by what the series are of.
    pub fn sums_by_part<Q: Quantity>(&self, metric: &Metric<Q>) -> Vec<(Params, f64)> {
        let sum = |(_, series, part): &(usize, &Series, Params)| {
            (part.clone(), series.measured().iter().filter(|value| value.is_finite()).sum())
        };
        self.of(metric.name()).map(sum).collect()
    }

    /// True if a measured take has a value of the metric.
    pub fn has<Q: Quantity>(&self, metric: &Metric<Q>) -> bool {
        self.of(metric.name()).any(|(_, series, _)| measured(series).next().is_some())
    }

    /// Good answers per second: what the load is about.
    pub fn throughput(&self) -> Option<f64> {
        self.median_of(self.rate).filter(|rate| *rate > 0.0)
    }

    /// Good answers per second by take.
    pub fn throughputs(&self) -> Vec<f64> {
        let series = self.of(self.rate).find(|(_, _, part)| part.is_empty());
        series.map(|(_, series, _)| series.measured()).unwrap_or_default()
    }

    /// Good answers per second by take and sitting.
    pub fn throughputs_by_sitting(&self) -> Vec<Vec<f64>> {
        let series = self.of(self.rate).find(|(_, _, part)| part.is_empty());
        series.map(|(_, series, _)| series.by_sitting()).unwrap_or_default()
    }

    /// The rate that the load is about, with its interval.
    pub fn rate_summary(&self) -> Option<stats::Summary> {
        self.summary(self.rate).and_then(Result::ok)
    }

    /// A figure with its interval over takes and sittings, as its row has it; `None` without a series.
    pub fn summary(&self, metric: &str) -> Option<Result<stats::Summary, stats::Unfit>> {
        let (_, series, _) = self.of(metric).find(|(_, _, part)| part.is_empty())?;
        Some(stats::summary_of_sittings(&series.by_sitting()))
    }

    /// All values of a metric, warm-up too.
    pub fn points<Q: Quantity>(&self, metric: &Metric<Q>) -> &'a [Point] {
        let whole = self.of(metric.name()).find(|(_, _, part)| part.is_empty());
        whole.map_or(&[], |(_, series, _)| &series.points)
    }

    /// The histograms of the measured takes.
    pub fn histograms<Q: Quantity>(&self, metric: &Metric<Q>) -> Vec<&'a Histogram> {
        self.histograms_by_take(metric).into_values().collect()
    }

    /// The histogram of each measured take.
    pub fn histograms_by_take<Q: Quantity>(&self, metric: &Metric<Q>) -> BTreeMap<u64, &'a Histogram> {
        let points =
            self.of(metric.name()).filter(|(_, _, part)| part.is_empty()).flat_map(|(_, s, _)| measured(s));
        let kept = points.filter_map(|point| match &point.value {
            Value::Histogram(histogram) => Some((point.seq, &**histogram)),
            Value::Number(_) => None,
        });
        kept.collect()
    }

    /// Requests of all measured takes, failed ones included; where they were not counted, those that have a time.
    pub fn requests(&self) -> Option<f64> {
        let counted: f64 = self.by_take(&load::REQUESTS).values().sum();
        let timed: u64 = self.histograms(&load::RESPONSES).iter().map(|times| times.count()).sum();
        Some(if counted > 0.0 { counted } else { timed as f64 }).filter(|requests| *requests > 0.0)
    }

    /// The notes that were made in the measured takes.
    pub fn notes<'r>(&self, run: &'r RunData) -> Vec<&'r NoteBody> {
        let takes = self.takes();
        let spans: Vec<(u64, u64)> = (run.takes.iter())
            .filter(|take| takes.contains(&take.seq))
            .map(|take| (take.start_ns, take.end_ns))
            .collect();
        let inside = |at: u64| spans.iter().any(|(start, end)| (*start..=*end).contains(&at));
        let notes = run.notes.iter().filter(|note| note.at_ns.is_some_and(inside));
        notes.map(|note| &note.body).collect()
    }

    /// Mean of the times of a metric over all takes, in seconds, without what failed.
    pub fn mean_time<Q: Quantity>(&self, metric: &Metric<Q>) -> Option<f64> {
        let all = self.histograms(metric);
        let answered = |one: &Histogram| one.count() - one.over();
        let count: u64 = all.iter().map(|one| answered(one)).sum();
        let sum: f64 =
            all.iter().filter_map(|one| Some(one.mean_of_values_ns()? * answered(one) as f64)).sum();
        (count > 0).then(|| sum / count as f64 / 1e9)
    }

    /// Mean response time of all requests; `None` where any failed, since a failed request is slower than any.
    pub fn mean_response(&self) -> Option<f64> {
        let failed = self.histograms(&load::RESPONSES).iter().any(|times| times.over() > 0);
        self.response().filter(|_| !failed)
    }

    /// Mean response time of good answers, or the median where the times themselves were not kept, s.
    pub fn response(&self) -> Option<f64> {
        self.mean_time(&load::RESPONSES).or_else(|| self.median(&load::RESPONSE))
    }

    /// Every core that was watched, in the order of their numbers. A core whose use changed between takes has all.
    pub fn cores(&self) -> Vec<Core> {
        let mut by_cpu: BTreeMap<(u32, &str), BTreeSet<&str>> = BTreeMap::new();
        for (_, _, part) in self.of(load::CORE_BUSY.name()) {
            let Some(cpu) = part.get("cpu") else { continue };
            let roles = by_cpu.entry((cpu.parse().unwrap_or(u32::MAX), cpu)).or_default();
            roles.insert(part.get("role").unwrap_or("other"));
        }
        let share = |metric: &Metric<Ratio>, cpu: &str| {
            let own = self.of(metric.name()).filter(|(_, _, part)| part.get("cpu") == Some(cpu));
            let values: Vec<f64> = own.flat_map(|(_, series, _)| series.measured()).collect();
            stats::median(&values.into_iter().filter(|value| value.is_finite()).collect::<Vec<_>>())
        };
        let core = |((_, cpu), roles): ((u32, &str), BTreeSet<&str>)| {
            let has = |role: &str| roles.contains(role) || roles.contains("both");
            let role = match (has("server"), has("generator")) {
                (true, true) => "both",
                (true, false) => "server",
                (false, true) => "generator",
                (false, false) => "other",
            };
            Some(Core {
                cpu: cpu.to_owned(),
                role: role.to_owned(),
                busy: share(&load::CORE_BUSY, cpu)?,
                user: share(&load::CORE_USER, cpu),
                system: share(&load::CORE_SYSTEM, cpu),
                softirq: share(&load::CORE_SOFTIRQ, cpu),
                steal: share(&load::CORE_STEAL, cpu),
                server: share(&load::CORE_SERVER, cpu),
                generator: share(&load::CORE_GENERATOR, cpu),
            })
        };
        by_cpu.into_iter().filter_map(core).collect()
    }

    /// Cores that the server may run on: those set aside for it, or those of its threads' affinity. None where neither
    /// is known.
    pub fn server_cores(&self) -> Vec<Core> {
        self.cores().into_iter().filter(|core| core.role == "server" || core.role == "both").collect()
    }

    /// All that the server can fill: the cores that it may run on, or its threads that work, where those are fewer.
    pub fn filled(&self) -> Option<Filled> {
        let cores = Some(self.server_cores().len()).filter(|cores| *cores > 0)?;
        let threads = self.median(&load::SERVER_WORKERS).map(|threads| threads.round() as usize);
        let fewer = threads.filter(|threads| (1..cores).contains(threads));
        Some(fewer.map_or(Filled::Cores(cores), Filled::Threads))
    }

    /// True if requests come over the loopback interface.
    pub fn is_loopback(&self) -> bool {
        match self.given("url") {
            None => self.params.get("listen").is_none_or(|address| {
                let address = address.parse::<core::net::IpAddr>();
                address.is_ok_and(|address| address.is_loopback())
            }),
            Some(urls) => urls
                .split(' ')
                .next()
                .and_then(|url| url.parse::<model::url::Url>().ok())
                .is_some_and(|url| url.is_loopback()),
        }
    }

    /// How busy the server kept its cores, its packets' interrupts included: CPU time by cores where that was read,
    /// else what the cores were.
    pub fn server_busy(&self) -> Option<f64> {
        let cores = self.server_cores();
        let busy = stats::mean(&cores.iter().map(|core| core.busy).collect::<Vec<_>>())?;
        let interrupts: f64 = cores.iter().filter_map(|core| core.softirq).sum();
        let own = self.median(&load::SERVER_CORES).map(|used| (used + interrupts) / cores.len() as f64);
        Some(own.map_or(busy, |own| own.min(busy)))
    }

    /// A whole number of a parameter.
    pub fn number(&self, param: &str) -> Option<f64> {
        self.params.get(param)?.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0)
    }

    /// A parameter that is set to something.
    pub fn given(&self, param: &str) -> Option<&str> {
        self.params.get(param).filter(|value| !matches!(*value, "auto" | "none" | "off" | ""))
    }

    /// One load, and no search for one.
    pub fn is_plain(&self) -> bool {
        !self.is_search
    }

    pub fn is_closed(&self) -> bool {
        self.is_plain() && matches!(self.params.get("arrivals"), None | Some("closed"))
    }

    /// An open loop in which at least [`WELL`] of what was due was answered well, and whose answers keep up: at least
    /// [`HELD`] of what was due came in time, and all but what its connections may have had in flight at the end.
    pub fn is_held(&self) -> Option<bool> {
        if self.is_closed() {
            return None;
        }
        let is_well = self.failed_share().is_none_or(|share| share <= 1.0 - WELL);
        Some(is_well && self.in_time()? >= HELD && !self.lags())
    }

    /// The share of what came due in a take that was answered in it: of each take's own schedule, since chance gives a
    /// short take fewer or more requests than its rate.
    fn in_time(&self) -> Option<f64> {
        let (due, window) = (self.by_take(&load::REQUESTS), self.by_take(&load::WINDOW));
        let reached = self.by_take(&load::THROUGHPUT);
        let share = |(seq, due): (&u64, &f64)| Some(reached.get(seq)? * window.get(seq)? / due);
        let shares: Vec<f64> = due.iter().filter_map(share).filter(|share| share.is_finite()).collect();
        stats::median(&shares).or_else(|| Some(self.throughput()? / self.due()?))
    }

    /// The share of what was due that failed; what the end of the load cut off is in neither.
    pub fn failed_share(&self) -> Option<f64> {
        let kinds = self.sums_by(&load::FAILED, "kind");
        let cut = kinds.get(Failure::Cut.name()).copied().unwrap_or(0.0);
        let due = self.requests()? - cut;
        (due > 0.0).then(|| (kinds.values().sum::<f64>() - cut) / due)
    }

    /// More of what was due than its connections hold was not answered in the window.
    fn lags(&self) -> bool {
        let (due, window) = (self.by_take(&load::REQUESTS), self.by_take(&load::WINDOW));
        let reached = self.by_take(&load::THROUGHPUT);
        let rest = |(seq, due): (&u64, &f64)| Some(due * WELL - reached.get(seq)? * window.get(seq)?);
        let rests: Vec<f64> = due.iter().filter_map(rest).collect();
        let room = self.number("connections");
        stats::median(&rests).zip(room).is_some_and(|(rest, room)| rest > room)
    }

    /// Requests that were due per second in an open loop.
    pub fn offered(&self) -> Option<f64> {
        self.median(&load::OFFERED).or_else(|| self.number("rate")).filter(|rate| *rate > 0.0)
    }

    /// Requests a second that came due in the takes: by chance fewer or more than were offered.
    pub fn due(&self) -> Option<f64> {
        let (requests, windows) = (self.by_take(&load::REQUESTS), self.by_take(&load::WINDOW));
        let rates = requests.iter().filter_map(|(seq, requests)| Some(requests / windows.get(seq)?));
        let rates: Vec<f64> = rates.filter(|rate| rate.is_finite() && *rate > 0.0).collect();
        stats::median(&rates).filter(|_| !self.is_closed()).or_else(|| self.offered())
    }

    /// Positions of the rows among these metrics; of all rows where none is named.
    pub fn rows(&self, metrics: &[&str]) -> Vec<usize> {
        let wanted = |metric: &str| metrics.is_empty() || metrics.contains(&metric);
        let rows =
            self.series.iter().filter(|(_, s, _)| s.better != Better::Neither && wanted(&s.key.metric));
        rows.map(|(index, ..)| *index).collect()
    }

    /// Its requests and seconds where they are too few to say what binds it: the work of cores is counted in ticks of a
    /// hundredth of a second, and a few requests are no load.
    pub fn too_short(&self) -> Option<(u64, f64)> {
        let requests = self.histograms(&load::RESPONSES).iter().map(|times| times.count()).sum::<u64>();
        let seconds = self.by_take(&load::ANSWERING).into_values().reduce(|a, b| a + b)?;
        let is_short = (1..LEAST_REQUESTS).contains(&requests) || seconds < LEAST_S;
        is_short.then_some((requests, seconds))
    }

    /// Rows that the load generator could have set: all but what the server used for each request.
    pub fn set_by_generator(&self) -> Vec<usize> {
        let rows = self.series.iter().filter(|(_, series, _)| {
            series.better != Better::Neither && series.key.metric != load::SERVER_CPU.name()
        });
        rows.map(|(index, ..)| *index).collect()
    }

    /// Subject of findings about the load: `web throughput connections=50 [arm]`.
    pub fn subject(&self) -> Subject {
        let figure = FigureName {
            instrument: self.instrument.to_owned(),
            metric: self.rate.to_owned(),
            params: self.params.clone(),
            arm: self.arm.to_owned(),
        };
        About::Load(figure).into()
    }

    /// `the server (nginx)`, as far as it is known.
    pub fn server(&self) -> String {
        match (self.given("server"), self.given("mpm")) {
            (Some(name), Some(mpm)) => format!("the server ({name}, {mpm})"),
            (Some(name), None) => format!("the server ({name})"),
            (None, Some(mpm)) => format!("the server (httpd, {mpm})"),
            (None, None) => match self.given("url").map(authority) {
                Some(host) if !host.is_empty() => format!("the server at {host}"),
                _ => "the server".to_owned(),
            },
        }
    }

    /// True of the bottleneck of this load.
    pub fn is_of(&self, doc: &BottleneckDoc) -> bool {
        self.instrument == doc.instrument && self.arm == doc.arm && self.params == doc.params
    }

    /// The measured takes.
    pub fn takes(&self) -> BTreeSet<u64> {
        let rate = self.of(self.rate);
        rate.flat_map(|(_, series, _)| measured(series)).map(|point| point.seq).collect()
    }
}

pub use model::generate::{HELD, WELL};

fn measured(series: &Series) -> impl Iterator<Item = &Point> {
    series.points.iter().filter(|point| point.phase == Phase::Measured)
}

fn median(series: &Series) -> Option<f64> {
    let numbers: Vec<f64> = series.measured().into_iter().filter(|value| value.is_finite()).collect();
    stats::median(&numbers)
}

#[cfg(test)]
mod tests {
    use super::planted::{load, one, times};
    use super::*;

    #[test]
    fn a_core_whose_use_changed_between_takes_is_one() {
        let mut run = one("connections=5", &[("throughput", 1.0), ("core-busy;cpu=1;role=generator", 0.5)]);
        load(&mut run, "connections=5", &[("throughput", 1.0), ("core-busy;cpu=1;role=server", 0.7)]);
        let all = of_run(&run, instruments::cards());
        let cores = all[0].cores();
        assert_eq!((cores.len(), cores[0].role.as_str()), (1, "both"), "{cores:?}");
        assert!((cores[0].busy - 0.6).abs() < 0.01);
        // Nobody knows what the server used of it.
        assert!(cores[0].is_shared());
        let known = |generator| Core { generator: Some(generator), ..cores[0].clone() };
        assert!(known(0.3).is_shared() && !known(0.58).is_shared());
    }

    #[test]
    fn parts_belong_to_their_load() {
        let figures = [
            ("throughput", 1000.0),
            ("core-busy;cpu=10;role=generator", 0.5),
            ("core-busy;cpu=2;role=server", 0.9),
            ("core-softirq;cpu=2;role=server", 0.4),
            ("failed;kind=reset", 2.0),
            ("drops;counter=resets", 0.0),
        ];
        let mut run = one("connections=5;server=nginx", &figures);
        load(&mut run, "connections=9;server=nginx", &[("throughput", 7.0), ("server-cpu", 1e-5)]);
        let loads = of_run(&run, instruments::cards());
        assert_eq!(loads.len(), 2);
        let first = &loads[0];
        assert_eq!(first.params, planted::params("connections=5;server=nginx"));
        assert!((first.throughput().unwrap() - 1000.0).abs() < 0.1 && first.median(&load::FAILED).is_none());
        assert!((first.sums_by(&load::FAILED, "kind")["reset"] - 16.0).abs() < 0.01, "summed over the takes");
        assert!(first.has(&load::DROPS) && first.sums_by(&load::DROPS, "counter").is_empty());
        let cores = first.cores();
        assert_eq!(cores.iter().map(|core| core.cpu.as_str()).collect::<Vec<_>>(), ["2", "10"]);
        assert_eq!((cores[0].user, cores[1].softirq), (None, None));
        assert!(cores[0].softirq.is_some_and(|share| (share - 0.4).abs() < 1e-3));
        assert_eq!(first.server_cores().len(), 1);
        assert_eq!((first.server(), first.number("connections")), ("the server (nginx)".into(), Some(5.0)));
        assert!(first.is_alike(&loads[1], &["connections"]) && !first.is_alike(&loads[1], &[]));
        assert_eq!(loads[1].set_by_generator().len() + 1, loads[1].rows(&[]).len());
        assert!(loads[1].subject().to_string().starts_with("web throughput connections=9"));
    }

    #[test]
    fn a_server_that_is_not_ours_goes_by_its_address() {
        for (url, name) in [
            ("http://127.0.0.1:80/a?b", "the server at 127.0.0.1:80"),
            ("https://me:secret@[::1]:8443", "the server at [::1]:8443"),
            ("none", "the server"),
            ("http:///", "the server"),
        ] {
            let mut run = one("connections=1", &[("throughput", 1.0)]);
            run.series[0].key.params.set("url", url);
            assert_eq!(of_run(&run, instruments::cards())[0].server(), name);
        }
    }

    #[test]
    fn times_of_all_takes_have_one_mean() {
        let mut run = one("connections=1", &[("throughput", 10.0)]);
        let seqs: Vec<u64> = run.takes.iter().map(|take| take.seq).collect();
        times(&mut run, &seqs, "response-times", "connections=1", &[(100, 3), (500, 1)]);
        let loads = of_run(&run, instruments::cards());
        assert!(loads[0].response().is_some_and(|mean| (mean / 200e-6 - 1.0).abs() < 0.01));
        assert_eq!((loads[0].mean_time(&load::SERVICES), loads[0].takes().len()), (None, 8));
    }

    #[test]
    fn an_open_loop_holds_what_it_answers() {
        let held = |throughput: f64| {
            let run =
                one("arrivals=poisson;load=90%", &[("throughput", throughput), ("offered-load", 1000.0)]);
            of_run(&run, instruments::cards())[0].is_held()
        };
        assert_eq!((held(990.0), held(900.0)), (Some(true), Some(false)));
        let closed = one("arrivals=closed", &[("throughput", 10.0)]);
        assert_eq!(of_run(&closed, instruments::cards())[0].is_held(), None);
    }
}
