//! One load as a document: its counts, rates and times, and what they mean.
//!
//! Seconds. Of a run with one cell and one take; nothing is computed over several takes here.

use std::collections::BTreeMap;

use crate::loads::pauses::Pauses;
use crate::loads::{Load, groups};
use model::data::{Point, RunData, Series};
use model::doc::{Binding, GeneratorDoc, LoadDoc, RunDoc, ServerUseDoc, StatusDoc, TimesDoc};
use model::finding::{Background, Rule};
use model::format::{number, quantity};
use model::metrics::load;
use model::{Histogram, NoteBody, Phase, SubjectDoc, Unit, Value, ladder};

/// Steps of the histograms, the slowest apart.
pub(crate) const STEPS: usize = 11;

/// A response time is far from the service time when it is so many times as long, and longer by so much.
const FAR: f64 = 2.0;
const FAR_S: f64 = 0.001;

/// The share of a difference from which on the generator's own lateness is named as its cause.
const OWN_SHARE: f64 = 0.25;

/// The share of what was due that a server must answer good to have kept up.
const KEPT_UP: f64 = 0.98;
/// Requests that were offered and those that came due are both told where they differ by more than this share.
const DRAWN: f64 = 0.01;
/// Fewer connections in flight on average than this share leave some free at nearly every moment.
const FREE: f64 = 0.05;

/// The document of a run that `boxscore load` made; `None` where it has no take without a fault.
pub fn load_doc(run: &RunData, doc: &RunDoc) -> Option<LoadDoc> {
    let cell = run.plan.cells.first()?;
    let take = run.takes.iter().find(|take| take.is_measured())?;
    let at = |series: &Series| -> Option<Point> {
        let own = series.key.instrument == cell.instrument;
        let is_of_take = |point: &&Point| own && point.seq == take.seq && point.phase == Phase::Measured;
        series.points.iter().find(is_of_take).cloned()
    };
    let seen: Vec<(&Series, Point)> =
        run.series.iter().filter_map(|series| Some((series, at(series)?))).collect();
    let of = |metric: &str| seen.iter().find(|(series, _)| series.key.metric == metric);
    let number = |metric: &str| of(metric).and_then(|(_, point)| point.number());
    let times = |metric: &str| match of(metric).map(|(_, point)| &point.value) {
        Some(Value::Histogram(histogram)) => Histogram::clone(histogram),
        _ => Histogram::default(),
    };
    let errors = errors(&seen);
    let (response, service) = (times(load::RESPONSES.name()), times(load::SERVICES.name()));
    let borders = ladder::borders(&[&response, &service], STEPS);
    let unsent = errors.get("unsent").copied().unwrap_or(0);
    let requests = number(load::REQUESTS.name()).map_or_else(|| response.count(), whole);
    let (cpu, begun) = (number(load::CPU.name()), requests.saturating_sub(unsent));
    // Answers without a body carry nothing, and have no rate among the figures.
    let bandwidth = number(load::BANDWIDTH.name()).or_else(|| number(load::THROUGHPUT.name()).map(|_| 0.0));
    let window = number(load::WINDOW.name());
    let to_last = of(load::BANDWIDTH.name()).is_some_and(|(series, _)| is_to_last(series, doc.cards));
    let span = span_of_bytes(window, number(load::ANSWERING.name()), to_last);
    let mut load = LoadDoc {
        schema: "boxscore.load/1".to_owned(),
        run: run.head.id.clone(),
        machine: doc.machine.clone(),
        subject: SubjectDoc::of_arm(&run.plan, "", &run.head.machine, doc.cards).of_target(),
        label: run.head.label.clone(),
        url: cell.params.get("url").unwrap_or_default().to_owned(),
        answer: doc.answer.clone(),
        setup: setup(run),
        params: cell.params.clone(),
        seconds: number(load::ANSWERING.name()),
        window,
        cut: run.notes.iter().any(|note| matches!(note.body, NoteBody::Cut(_))),
        requests,
        good: requests.saturating_sub(errors.values().sum::<u64>()),
        errors,
        statuses: statuses(run, &seen),
        throughput: number(load::THROUGHPUT.name()),
        bytes: bandwidth.zip(span).map(|(rate, seconds)| (rate * seconds).round()),
        bandwidth,
        offered_load: number(load::OFFERED.name()),
        in_flight: number(load::IN_FLIGHT.name()),
        response_time: times_doc(&response, &borders),
        service_time: times_doc(&service, &borders),
        late_p99: number(load::LATE.name()),
        late_read: number(load::LATE_READ.name()),
        late_read_p99: number(load::LATE_READ_P99.name()),
        generator: GeneratorDoc {
            cpu_seconds: cpu.map(|each| each * begun as f64),
            cpu_per_request: cpu,
            busiest_core_share: number(load::SHARE.name()),
            busiest_thread_share: number(load::THREAD.name()),
        },
        server: crate::loads::of_run(run, doc.cards).first().map(server_use).unwrap_or_default(),
        since: None,
        remarks: Vec::new(),
        bottlenecks: doc.bottlenecks.clone(),
        findings: doc.findings.clone(),
    };
    load.remarks = [remarks(&load), noted(run)].concat();
    Some(load)
}

/// Bandwidth up to the last answer: that of large files, and of runs before it was that of the window.
fn is_to_last(bandwidth: &Series, cards: model::Cards) -> bool {
    let card = model::card::find(cards, &bandwidth.key.instrument);
    let is_older = card.is_some_and(|card| card.definition != bandwidth.key.definition);
    is_older || bandwidth.key.params.get("content") == Some("large")
}

/// Seconds that the bandwidth is of: the window, or up to the last answer where that came after it.
fn span_of_bytes(window: Option<f64>, last: Option<f64>, to_last: bool) -> Option<f64> {
    match to_last {
        true => last.map(|last| window.map_or(last, |window| window.max(last))),
        false => window.or(last),
    }
}

/// Where server and generators ran.
fn setup(run: &RunData) -> Option<String> {
    run.notes.iter().find_map(|note| match &note.body {
        setup @ NoteBody::WebSetup(_) => Some(setup.text().into_owned()),
        _ => None,
    })
}

/// CPU time that the server used, and what it may use.
fn server_use(load: &Load<'_>) -> ServerUseDoc {
    let quota = groups::quotas(load).into_iter().min_by(|a, b| a.cpus.total_cmp(&b.cpus));
    let allowed = Some(load.server_cores().len() as u64).filter(|cores| *cores > 0);
    ServerUseDoc {
        cpus: load.median(&load::SERVER_CORES),
        cpu_per_request: load.median(&load::SERVER_CPU),
        allowed_cpus: allowed,
        waiting: load.median(&load::SERVER_WAITING),
        quota_cpus: quota.as_ref().map(|quota| quota.cpus),
        quota_group: quota.map(|quota| quota.group),
    }
}

/// Failed requests by kind.
fn errors(seen: &[(&Series, Point)]) -> BTreeMap<String, u64> {
    seen.iter()
        .filter(|(series, _)| series.key.metric == load::FAILED.name())
        .filter_map(|(series, point)| {
            Some((series.key.params.get("kind")?.to_owned(), whole(point.number()?)))
        })
        .collect()
}

/// The first URL that met each status.
pub(crate) fn first_urls<'r>(notes: impl IntoIterator<Item = &'r NoteBody>) -> BTreeMap<u16, &'r str> {
    let mut urls = BTreeMap::new();
    for note in notes {
        if let NoteBody::Status { status, first_url } = note {
            urls.entry(*status).or_insert(first_url.as_str());
        }
    }
    urls
}

/// Answers of 4xx and 5xx by status, with the first URL that met each.
fn statuses(run: &RunData, seen: &[(&Series, Point)]) -> BTreeMap<String, StatusDoc> {
    let urls = first_urls(run.notes.iter().map(|note| &note.body));
    let url = |status: &str| Some((*urls.get(&status.parse().ok()?)?).to_owned());
    let of = seen.iter().filter(|(series, _)| series.key.metric == load::STATUSES.name());
    of.filter_map(|(series, point)| {
        let status = series.key.params.get("status")?;
        Some((status.to_owned(), StatusDoc { count: whole(point.number()?), first_url: url(status) }))
    })
    .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are whole and below 2^53"
)]
pub(crate) fn whole(count: f64) -> u64 {
    count.max(0.0) as u64
}

pub(crate) fn times_doc(histogram: &Histogram, borders: &[u64]) -> TimesDoc {
    let at = |q: f64| histogram.percentile_s(q);
    TimesDoc {
        count: histogram.count(),
        over: histogram.over(),
        p50: at(0.5),
        p75: at(0.75),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        max: histogram.quantile_s(1.0),
        mean: match histogram.over() {
            0 => histogram.mean_ns().map(|ns| ns / 1e9),
            _ => Some(f64::INFINITY),
        },
        histogram: ladder::count(histogram, borders),
    }
}

/// Notes on how a replay was read and on keys of a store.
fn noted(run: &RunData) -> Vec<String> {
    let noted = run.notes.iter().filter_map(|note| match &note.body {
        NoteBody::Replay(text)
        | NoteBody::StoreHolds(text)
        | NoteBody::StoreEvicts(text)
        | NoteBody::KeysLeft(text) => Some(text.clone()),
        _ => None,
    });
    noted.collect()
}

/// Remarks that keep a reader from misreading the figures.
fn remarks(load: &LoadDoc) -> Vec<String> {
    let mut out = Vec::new();
    let far = |(response, service): &(f64, f64)| *response > FAR * service && response - service > FAR_S;
    if let Some((response, service)) = load.response_time.p99.zip(load.service_time.p99).filter(far) {
        // Where the generator itself was late, the server is not to blame for all of it.
        let rest = match load.late_p99 {
            Some(late) if late > OWN_SHARE * (response - service) => {
                format!("much of the rest is the generator's own delay, {} at p99", quantity(late, Unit::Second))
            }
            _ if is_free(load) => "the rest passed before it was sent, though connections were free: the generator's \
                  own delay, or a burst"
                .to_owned(),
            _ => "the rest is waiting for a free connection, behind requests that the server was slow with (more \
                  connections would move the wait into the server); a closed loop would not show it"
                .to_owned(),
        };
        out.push(format!(
            "at p99 a user waits {} for an answer that takes {} from sending: {rest}",
            quantity(response, Unit::Second),
            quantity(service, Unit::Second)
        ));
    }
    out.extend(pauses(load).filter(|_| out.is_empty()));
    let silent = load.bottlenecks.iter().any(|one| one.kind == Binding::Silent);
    if let (Some(offered), Some(good), false) = (load.offered_load, load.throughput, silent)
        && let (due, chance) = due(load).map_or_else(|| (offered, drawn(load, offered)), |due| (due, 0.0))
        && good < KEPT_UP * due - chance
    {
        out.push(format!(
            "{due:.0} requests a second were due and {good:.0} had a good answer before the end of the load, however \
             late: this is over what the server, or {} connections, can do",
            load.params.get("connections").unwrap_or("these")
        ));
    }
    out.extend(more_or_fewer(load));
    out
}

/// Requests a second that came due.
fn due(load: &LoadDoc) -> Option<f64> {
    let window = load.window.filter(|window| *window > 0.0)?;
    (load.requests > 0).then(|| load.requests as f64 / window)
}

/// Requests that came due are not as many as were offered, since chance drew them.
fn more_or_fewer(load: &LoadDoc) -> Option<String> {
    let (offered, due) = load.offered_load.zip(due(load))?;
    let is_drawn = load.params.get("arrivals") == Some("poisson") && (due / offered - 1.0).abs() > DRAWN;
    is_drawn.then(|| {
        format!(
            "{} requests/s were offered and {}/s came due: Poisson arrivals are drawn at random, by chance more or fewer \
             than the rate that was asked for",
            number(offered),
            number(due)
        )
    })
}

/// A server that pauses, unless the bottleneck says what stops it, or TCP waited for connections.
fn pauses(load: &LoadDoc) -> Option<String> {
    let pauses = Pauses::from_times(load.service_time.p50?, load.service_time.p99?)?;
    let is_known = load.bottlenecks.iter().any(|one| matches!(one.kind, Binding::Quota | Binding::Silent));
    let is_known = is_known || load.findings.iter().any(|one| matches!(one.rule.base(), Rule::LostSyns(_)));
    // Others on its CPUs stop it as well.
    let is_disturbed =
        load.findings.iter().any(|one| matches!(one.rule.base(), Rule::Background(Background::Busy { .. })));
    (!is_known && !is_disturbed).then(|| format!("the server seems to pause: {pauses}"))
}

/// Hardly a connection was ever busy.
fn is_free(load: &LoadDoc) -> bool {
    let connections = load.params.get("connections").and_then(|count| count.parse::<f64>().ok());
    load.in_flight.zip(connections).is_some_and(|(busy, all)| busy < FREE * all)
}

/// How far a load that arrives at random may stay below its mean rate by chance: three standard deviations.
fn drawn(load: &LoadDoc, offered: f64) -> f64 {
    match (load.params.get("arrivals"), load.window) {
        (Some("poisson"), Some(seconds)) if seconds > 0.0 => 3.0 * (offered / seconds).sqrt(),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doc(response: f64, service: f64, offered: Option<f64>) -> Vec<String> {
        late(response, service, offered, None)
    }

    fn late(response: f64, service: f64, offered: Option<f64>, late_p99: Option<f64>) -> Vec<String> {
        let mut load = plain("connections=10");
        (load.response_time.p99, load.service_time.p99) = (Some(response), Some(service));
        (load.throughput, load.offered_load, load.late_p99) = (Some(970.0), offered, late_p99);
        remarks(&load)
    }

    fn plain(params: &str) -> LoadDoc {
        LoadDoc {
            schema: String::new(),
            run: String::new(),
            machine: model::doc::MachineDoc { id: String::new(), name: String::new() },
            subject: None,
            label: None,
            url: String::new(),
            answer: None,
            setup: None,
            params: model::Params::parse(params).unwrap(),
            seconds: None,
            window: None,
            cut: false,
            requests: 0,
            good: 0,
            errors: BTreeMap::new(),
            statuses: BTreeMap::new(),
            throughput: None,
            bytes: None,
            bandwidth: None,
            offered_load: None,
            in_flight: None,
            response_time: TimesDoc::default(),
            service_time: TimesDoc::default(),
            late_p99: None,
            late_read: None,
            late_read_p99: None,
            generator: GeneratorDoc::default(),
            server: ServerUseDoc::default(),
            since: None,
            remarks: Vec::new(),
            bottlenecks: Vec::new(),
            findings: Vec::new(),
        }
    }

    #[test]
    fn a_stall_is_said_and_small_differences_are_not() {
        let said = doc(0.812, 0.0031, None);
        assert_eq!(said.len(), 1);
        assert!(
            said[0].starts_with("at p99 a user waits 812 ms for an answer that takes 3.10 ms"),
            "{said:?}"
        );
        assert!(said[0].ends_with("would not show it"), "{said:?}");
        let said = late(0.020, 0.008, None, Some(0.005));
        assert!(said[0].ends_with("the generator's own delay, 5.00 ms at p99"), "{said:?}");
        assert!(doc(0.0015, 0.0007, None).is_empty(), "under a millisecond apart");
        assert!(doc(0.9, 0.6, None).is_empty(), "under twice as long");
    }

    #[test]
    fn a_server_that_pauses_is_remarked_once() {
        let mut load = plain("connections=50");
        (load.service_time.p50, load.service_time.p99) = (Some(237e-6), Some(67.8e-3));
        let says = "the server seems to pause: half of the answers take 237 us at most, 1 in 100 takes 67.8 ms or more";
        assert_eq!(remarks(&load), [says]);
        load.bottlenecks.push(bound(Binding::Quota));
        assert!(remarks(&load).is_empty(), "the quota says it");
        load.bottlenecks.clear();
        load.findings.push(model::Finding::new(model::finding::LostSyns { waits: vec![(1, 9)] }));
        assert!(remarks(&load).is_empty(), "TCP waited");
    }

    #[test]
    fn a_replay_that_goes_back_is_remarked() {
        let mut run = crate::loads::planted::empty();
        assert_eq!(noted(&run), [""; 0]);
        for body in [NoteBody::User("one".into()), NoteBody::Replay("its times go back".into())] {
            run.notes.push(model::Note::of_run(body));
        }
        assert_eq!(noted(&run), ["its times go back"]);
    }

    #[test]
    fn a_server_that_does_not_keep_up_is_named() {
        assert!(doc(0.1, 0.1, Some(980.0)).is_empty());
        let said = doc(0.1, 0.1, Some(1000.0));
        assert!(
            said[0].starts_with("1000 requests a second were due and 970 had a good answer before the end"),
            "{said:?}"
        );
        assert!(said[0].contains("10 connections"), "{said:?}");
    }

    fn bound(kind: Binding) -> model::doc::BottleneckDoc {
        model::doc::BottleneckDoc {
            instrument: "web".into(),
            params: model::Params::default(),
            arm: String::new(),
            throughput: None,
            kind,
            resource: String::new(),
            share: None,
            sentence: String::new(),
            evidence: Vec::new(),
            counter_evidence: Vec::new(),
            advice: Vec::new(),
            also: Vec::new(),
            resources: Vec::new(),
            ceilings: Vec::new(),
            cores: Vec::new(),
            files: None,
        }
    }

    #[test]
    fn chance_is_no_overload_and_an_absent_server_no_slow_one() {
        let load = |arrivals: &str, offered: f64, silent: bool| {
            let mut load = plain(&format!("arrivals={arrivals};connections=50"));
            (load.window, load.offered_load, load.throughput) = (Some(3.0), Some(offered), Some(485.0));
            if silent {
                load.bottlenecks.push(bound(Binding::Silent));
            }
            !remarks(&load).is_empty()
        };
        // Three standard deviations of 500 a second over 3 s are 39 a second.
        assert!(!load("poisson", 500.0, false) && load("poisson", 560.0, false));
        assert!(load("constant", 500.0, false) && !load("constant", 500.0, true));
    }

    #[test]
    fn what_was_offered_and_what_came_due_are_both_said_where_they_differ() {
        let of = |arrivals: &str, requests: u64| {
            let mut load = plain(&format!("arrivals={arrivals};connections=50"));
            (load.window, load.offered_load, load.requests) = (Some(10.0), Some(200.0), requests);
            load.throughput = Some(requests as f64 / 10.0);
            remarks(&load)
        };
        let said = of("poisson", 1_930);
        assert!(
            said.len() == 1 && said[0].starts_with("200 requests/s were offered and 193/s came due: Poisson"),
            "{said:?}"
        );
        assert!(of("poisson", 2_010).is_empty() && of("constant", 1_990).is_empty());
    }

    #[test]
    fn free_connections_are_not_waited_for() {
        let mut load = plain("arrivals=poisson;connections=50");
        load.in_flight = Some(0.1);
        load.response_time.p99 = Some(0.004);
        load.service_time.p99 = Some(0.001);
        assert!(remarks(&load)[0].contains("though connections were free"), "{:?}", remarks(&load));
        load.in_flight = Some(49.0);
        assert!(remarks(&load)[0].contains("waiting for a free connection"));
    }
}
