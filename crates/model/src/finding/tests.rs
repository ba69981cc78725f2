//! Every rule, said of one and of several, and as a document.

mod places;

use std::collections::BTreeMap;

use places::{PLACES, place};

use super::*;
use crate::doc::{CutDoc, MostlyDoc, MostlyOf, PartDoc, VerdictWord};
use crate::unit::Unit;

/// One of each conclusion. A new one does not compile until [`place`] knows it, and fails until it is here.
fn samples() -> Vec<Rule> {
    [of_machines(), of_takes(), of_loads(), of_quotas(), of_logs(), of_failures()].concat()
}

fn of_machines() -> Vec<Rule> {
    let peak = MemoryPeak { channels: 2.0, transfers: 5.6e9, kind: Some("DDR5".into()) };
    let beyond =
        |limit| AboveCeiling::Beyond { value: 3e9, ceiling: 2e9, unit: Unit::BytesPerSec, limit }.into();
    let busy = crate::note::Disturber { pid: 123, name: "ramcloud".into(), cpus: 0.9, kernel: false };
    let rose = |counter| Counted::Rose { counter, events: 12.0, takes: 3, of: 8 }.into();
    vec![
        AboveCeiling::Unknown(vec!["no clock".into()]).into(),
        AboveCeiling::Below { figures: 3 }.into(),
        beyond(Limit::Memory(peak.clone())),
        beyond(Limit::Cores { cores: 2, bytes_a_cycle: 128.0, clock: 4e9 }),
        beyond(Limit::Load { cycles: 2.0, clock: 4e9 }),
        beyond(Limit::Link { disk: "sda".into() }),
        Background::Unread.into(),
        Background::Quiet { cpus: 0.1 }.into(),
        Background::Busy { cpus: 1.34, of: 4.0, by: None }.into(),
        Background::Busy { cpus: 1.34, of: 4.0, by: Some(vec![busy]) }.into(),
        Background::Busy { cpus: 1.34, of: 4.0, by: Some(Vec::new()) }.into(),
        Clock::Unread.into(),
        Clock::Steady { median: Some(4e9), apart: 0.01 }.into(),
        Clock::Moved { median: 4e9, apart: -0.12, takes: 3, of: 8, busy: false }.into(),
        Clock::AboveHighest { median: 4e9, max: 3e9 }.into(),
        Clock::BelowBase { median: 4e9, base: 5e9 }.into(),
        ClockStep::Unread.into(),
        ClockStep::None.into(),
        ClockStep::Stepped { seconds: -2.0 }.into(),
        Counted::Unread(Counter::Swap).into(),
        Counted::None(Counter::MajorFaults).into(),
        rose(Counter::Swap),
        rose(Counter::MajorFaults),
        rose(Counter::ThermalThrottle),
        Heat::Unread.into(),
        Heat::Steady { start: 4e9, end: 3.9e9, seconds: 60.0 }.into(),
        Heat::Fell { start: 4e9, end: 3e9, seconds: 38.0 }.into(),
        LowMemory { low: None, all: 17e9 }.into(),
        LowMemory { low: Some(9e8), all: 17e9 }.into(),
        MemoryCeiling::NotMeasured.into(),
        MemoryCeiling::Unknown("memory.channels was not looked up".into()).into(),
        MemoryCeiling::Reached { share: 0.69, peak, value: 60e9 }.into(),
        Steal::Unread.into(),
        Steal::Little { share: 0.001 }.into(),
        Steal::Much { share: 0.05 }.into(),
        Throttled::Unread.into(),
        Throttled::Never { figures: 2 }.into(),
        Throttled::Stopped { quota: Some(0.9), takes: 3, of: 8, periods: 40.0 }.into(),
        Timer::Unread.into(),
        Timer::Agree { share: 1e-5 }.into(),
        Timer::Disagree { share: 0.002 }.into(),
        Timer::Broken { share: 0.2 }.into(),
    ]
}

fn of_takes() -> Vec<Rule> {
    let used = |state| {
        let (agent, telemetry, controller) = (0.3, 0.15, Some(0.1));
        OwnCost::Used { state, share: 0.004, agent, telemetry, controller, seconds: 60.0 }.into()
    };
    let recorded = [
        Recorded::ReadsUnknown("no such file".into()),
        Recorded::PageCache { device_bytes: 4096, read_bytes: 8192 },
        Recorded::SyncsUnknown("no such file".into()),
        Recorded::Flush { flushes: 0, syncs: 42 },
        Recorded::Flush { flushes: 10, syncs: 42 },
        Recorded::CacheUnknown { array_bytes: 1 << 20 },
        Recorded::SmallArray { array_bytes: 1 << 20, llc_bytes: 1 << 19 },
        Recorded::FewLines { touched_bytes: 1 << 20, llc_bytes: 1 << 21 },
        Recorded::HugePagesUnknown("no such file".into()),
        Recorded::HugePages { huge_bytes: 1 << 20, array_bytes: 1 << 22 },
        Recorded::CopiesApart { kernel: "fft".into(), copies: 2, overlap: 0.5 },
        Recorded::Spinning { threads: 2.0, cpus: 0.5 },
        Recorded::StoreSpins { threads: 6.0, cpus: 2.0 },
        Recorded::StillCompiling { seconds: 10.0 },
        Recorded::StillChanging { change: 0.25 },
    ];
    let few = |more| Samples::TooFew { takes: 3, least: 6, more }.into();
    let in_takes = InTakes { rule: Box::new(recorded[1].clone().into()), takes: 3, of: 8 };
    let mut all: Vec<Rule> = vec![
        Autocorrelation::TooFew.into(),
        Autocorrelation::Open { figures: 2 }.into(),
        Autocorrelation::ByChance { figures: 2 }.into(),
        Autocorrelation::Alike { lag1: 0.5, effective_n: 4.0 }.into(),
        Drift::TooFew.into(),
        Drift::None { figures: 2, change: 0.001 }.into(),
        Drift::Drifted { change: 0.05, rho: 0.9, p: 0.001 }.into(),
        NoisyNeighbour::NoEarlierRun.into(),
        NoisyNeighbour::TooFewRuns.into(),
        NoisyNeighbour::Quiet { floor: 0.05 }.into(),
        NoisyNeighbour::Noisy { floor: 0.15, dof: 8.0 }.into(),
        OwnCost::NotEnded.into(),
        OwnCost::NoTakes.into(),
        used(Validity::Ok),
        used(Validity::Unknown),
        used(Validity::Doubtful),
        Samples::Enough { figures: 2, least: 6 }.into(),
        few(MoreTakes::Repeat),
        Samples::Once.into(),
        few(MoreTakes::Clusterperf),
        Samples::Broken { broken: 1, takes: 8 }.into(),
        in_takes.into(),
        Told {
            kind: "new".into(),
            state: Validity::Doubtful,
            text: "told".into(),
            evidence: evidence([("a", 1.0)]),
        }
        .into(),
    ];
    all.extend(recorded.into_iter().map(Rule::from));
    all
}

fn of_quotas() -> Vec<Rule> {
    let quota = server_quota::QuotaUse {
        group: "cpu:/web".into(),
        cpus: 0.4,
        periods: Some(50.0),
        throttled: Some(49.0),
        stopped_s: Some(9.1),
        window_s: Some(5.0),
        server_cpus: Some(2),
    };
    vec![
        ServerQuota::Unread { why: None }.into(),
        ServerQuota::Unread { why: Some("no control groups".into()) }.into(),
        ServerQuota::None { groups: 2 }.into(),
        ServerQuota::Spare(quota.clone()).into(),
        ServerQuota::Stopped { quota: quota.clone(), binds: true }.into(),
        ServerQuota::Stopped { quota, binds: false }.into(),
    ]
}

/// Drops of the kernel, at the socket of an application where one is given.
fn dropped(socket: Option<&str>) -> Drops {
    let queue = |socket: &str| drops::Queue {
        socket: socket.to_owned(),
        process: Some("python3".into()),
        is_servers: false,
        room: Some(5.0),
    };
    Drops::Dropped {
        counter: &drops::COUNTERS[0],
        most: 12.0,
        connections: Some(400.0),
        loads: 2,
        settings: vec![("net.core.somaxconn".into(), "128".into())],
        queue: socket.map(queue),
    }
}

fn of_loads() -> Vec<Rule> {
    use generator_bound::{BothFull, Capacity, Cause, Cores, LowerBound, Settled};
    let cores = || Cores(vec!["cpu1".into()]);
    let both = BothFull { server: "cpu0".into(), busy: 0.98, cores: cores(), share: 0.9 };
    let bound = |cause, share| {
        GeneratorBound::Bound(LowerBound {
            cause,
            cores: Cores(vec!["cpu1".into()]),
            share: Some(share),
            generator_cpu: Some(12e-6),
            capacity: Some(Capacity { cpu: 8e-6, most: Some((generator_bound::Filled::Cores(1), 125e3)) }),
            full: Some(("cpu0".into(), 0.98)),
        })
        .into()
    };
    let failed =
        Failed { kinds: [("reset".to_owned(), 16.0)].into(), share: Some(0.01), ..Failed::default() };
    let redirects = Redirects { statuses: [("302".to_owned(), 4.0)].into(), share: Some(0.5), to: None };
    let short = CutDoc { lasted: Some(2.0), asked: Some(10.0), ..CutDoc::default() };
    vec![
        Cut { short, replay: None }.into(),
        Drops::NotCounted.into(),
        Drops::Nothing.into(),
        dropped(None).into(),
        dropped(Some("127.0.0.1:8197")).into(),
        Errors::None.into(),
        Errors::Failed(failed).into(),
        GeneratorBound::Unknown.into(),
        GeneratorBound::Free { share: 0.2 }.into(),
        GeneratorBound::Both(both).into(),
        GeneratorBound::Settled(Settled { tried: 3.0, own: 2.0, reached: Some(6e4) }).into(),
        bound(Cause::Busy { share: 0.97 }, 0.97),
        bound(Cause::Starved { share: 0.33, busy: 1.0, is_shared: false }, 0.33),
        bound(Cause::More { generators: 3.0, ratio: 1.39 }, 0.25),
        bound(Cause::Rising { own: 2.0, fewer: 1.0, ratio: 1.2 }, 0.25),
        GeneratorDelay::Unknown.into(),
        GeneratorDelay::Stamped { unread: 2e-5 }.into(),
        GeneratorDelay::Busy { share: 0.7 }.into(),
        IdleAtPeak::Unknown.into(),
        IdleAtPeak::Busy { busy: 0.9 }.into(),
        IdleAtPeak::Waiting { busy: 0.1, cores: 2, waiting: "waiting for the server".into() }.into(),
        IdleAtPeak::Held { busy: 0.29, cores: 2, used: Some(0.4), bottleneck: "bound by a quota".into() }
            .into(),
        IdleAtPeak::Bound { busy: 0.2, cores: 2, bottleneck: "bound by the load generator".into() }.into(),
        Late::Unknown.into(),
        Late::InTime { p99: 1e-4 }.into(),
        Late::Late { p99: 2e-3, most: 1e-3, gap: None }.into(),
        Guest.into(),
        redirects.into(),
        SameCores::Unknown.into(),
        SameCores::Apart { is_hidden: true }.into(),
        SameCores::Idle { cpu: "cpu1".into(), busy: 0.36 }.into(),
        SameCores::Siblings(vec![("cpu0".into(), "cpu4".into())]).into(),
        SameCores::Shared { cores: vec![("cpu0".into(), 1.0)], server: None }.into(),
        SameCores::Shared { cores: vec![("cpu1".into(), 1.0)], server: Some("CPUs 0-1".into()) }.into(),
        LostSyns { waits: vec![(1, 12), (3, 5), (7, 1)] }.into(),
        Stall { at: 3.2, long: 0.98, in_flight: Some(50.0), due: None, takes: 8, of: 8 }.into(),
    ]
}

fn of_failures() -> Vec<Rule> {
    vec![
        LogsFailed::Server {
            label: "web".into(),
            requests: 185,
            share: 0.01,
            mostly: vec![MostlyDoc { what: MostlyOf::Path, name: "/cart".into(), requests: 185 }],
            episode: Some(Stretch {
                from: 1e9,
                to: 1.001e9,
                failures: 180,
                from_start: false,
                to_end: false,
            }),
            outage: None,
            span: 86_400.0,
            time_share: Some(0.5),
            seconds: Some(30.0),
        }
        .into(),
        LogsFailed::Refused {
            label: "web".into(),
            requests: 900,
            share: 0.1,
            mostly: MostlyDoc { what: MostlyOf::Path, name: "/old.css".into(), requests: 890 },
            status: Some(404),
            episode: None,
            span: 86_400.0,
        }
        .into(),
        LogsFailed::Probe {
            client: "10.0.0.9".into(),
            agent: None,
            requests: 900,
            path: Mostly { name: "/.env".into(), is_all: false },
            status: None,
            is_known: true,
        }
        .into(),
        LogsParts {
            arm: "b".into(),
            base: "a".into(),
            parts: vec![PartDoc {
                name: "/img/".into(),
                ratio: Some(1.6),
                low: Some(1.5),
                high: Some(1.7),
                verdict: VerdictWord::Worse,
                ..PartDoc::default()
            }],
            rest: Rest::Ties,
        }
        .into(),
        LogsSince {
            label: "b".into(),
            at: 1e9,
            zone: 3600.0,
            span: 86_400.0,
            parts: vec![Changed { name: "/img/".into(), ratio: 5.0, low: 4.9, high: 5.1 }],
            steady: vec!["a".into()],
            before: Some(VerdictWord::Tie),
        }
        .into(),
    ]
}

fn askers() -> LogsCompared {
    let times = AskerTimes {
        people: PartTime { low: Some(1.33), high: Some(1.37), verdict: VerdictWord::Worse, is_apart: false },
        bots: PartTime { low: Some(0.98), high: Some(1.01), verdict: VerdictWord::Tie, is_apart: false },
    };
    let share = |label: &str, share| Share { label: label.to_owned(), share };
    LogsCompared::Bots { arm: share("b", 0.2), base: share("a", 0.1), times: Some(times) }
}

fn labels() -> Option<[String; 2]> {
    Some(["monday".to_owned(), "tuesday".to_owned()])
}

#[test]
fn logs_that_follow_each_other_go_by_their_labels() {
    let said = |rule: LogsCompared| crate::Finding::new(rule).text();
    let confounded = |labels| said(LogsCompared::Confounded { before: 7200.0, after: 3600.0, labels });
    assert!(confounded(None).contains(": before and after share no time"), "{}", confounded(None));
    assert!(confounded(labels()).contains(": monday and tuesday share no time"), "{}", confounded(labels()));
    let rates = said(LogsCompared::RequestRates { before: 10.0, after: 20.0, labels: labels() });
    assert!(rates.starts_with("monday served 10.0 requests a second, tuesday 20.0"), "{rates}");
    let blocks = TimeBlocks { length: 900, of_day: Some(900), is_matched: true };
    let cut = said(LogsCompared::Cut { before: 86_400.0, after: 7200.0, labels: labels(), blocks });
    assert!(cut.contains(" of monday and ") && cut.contains(" of tuesday; requests of "), "{cut}");
}

fn of_logs() -> Vec<Rule> {
    let share = |label: &str, share: f64| Share { label: label.into(), share };
    let cache = |label: &str, bytes| Cache { label: label.into(), bytes, disk_read: Some(1e8) };
    let hours = |arm| LogsCompared::Hours { arm: share("b", arm), base: share("a", arm), is_doubtful: true };
    let blocks = TimeBlocks { length: 900, of_day: Some(900), is_matched: true };
    let immature = Immature {
        param: "lang".into(),
        value: "java".into(),
        over: "c".into(),
        under: "java".into(),
        machine: "new".into(),
        other: "old".into(),
        is_software: true,
        tools: [vec!["javac 17".into()], vec!["javac 8".into()]],
        ratio: Some((3.6, 8.9)),
        elsewhere: Some((1.2, 1.4)),
        apart: Some((3.0, 7.0)),
        margin: 0.05,
        figures: vec!["flops kernel=fft".into()],
        of: 2,
    };
    vec![
        Immature { tools: Default::default(), ..immature.clone() }.into(),
        immature.into(),
        LogsRead::FileShared { name: "a.log".into(), other: Some("b.log".into()), with: "hdd".into() }.into(),
        LogsRead::FormatShort { name: "a.log".into(), over: 3, of: 20, format: "%h %l".into() }.into(),
        LogsRead::NoTimes("no requests".into()).into(),
        LogsRead::NoMean("no requests".into()).into(),
        LogsRead::TimeUnit(TimeUnit::TooFast { median_ns: 90 }).into(),
        LogsRead::TimeUnit(TimeUnit::TooSlow { median_ns: 90_000_000_000 }).into(),
        LogsRead::TimeUnit(TimeUnit::WholeThousands { percent: 99 }).into(),
        LogsRead::TimeLimit { requests: 2, seconds: 4295.0 }.into(),
        LogsRead::SummedGroups { most: 4096 }.into(),
        LogsRead::LargestGroups { most: 100_000, error: 3.3e-4 }.into(),
        LogsRead::NoSuchValue { property: "prefix".into(), value: "/a".into(), nearest: Some("/a/".into()) }
            .into(),
        LogsRead::TooLong.into(),
        LogsCompared::Means { mean: 9e6, totals: 3e6, has_failures: true }.into(),
        LogsCompared::RequestCounts { arm: "b".into(), base: "a".into(), ratio: 2.0 }.into(),
        LogsCompared::RequestRates { before: 10.0, after: 20.0, labels: None }.into(),
        LogsCompared::SizeMix { distance: 0.1 }.into(),
        LogsCompared::StatusMix { distance: 0.1, status: 404, arm: share("b", 0.2), base: share("a", 0.1) }
            .into(),
        LogsCompared::Cacheability { arm: share("b", 0.2), base: share("a", 0.1) }.into(),
        LogsCompared::Bots { arm: share("b", 0.2), base: share("a", 0.1), times: None }.into(),
        askers().into(),
        hours(1.0).into(),
        hours(0.3).into(),
        LogsCompared::Unshared { shared: 0.5 }.into(),
        LogsCompared::Mix { crude: 2.0, good: Some(1.5), stratified: 1.1, cause: MixCause::Both }.into(),
        LogsCompared::Mix { crude: 2.0, good: Some(1.1), stratified: 1.1, cause: MixCause::Failures }.into(),
        LogsCompared::Mix { crude: 2.0, good: None, stratified: 1.1, cause: MixCause::Work }.into(),
        LogsCompared::StatusMix { distance: 0.1, status: 206, arm: share("b", 0.2), base: share("a", 0.1) }
            .into(),
        LogsCompared::Failures { arm: share("b", 0.2), base: share("a", 0.1), arm_time: 0.6, base_time: 0.0 }
            .into(),
        LogsCompared::Halves { first: 1.5, second: 0.9 }.into(),
        LogsCompared::Confounded { before: 7200.0, after: 3600.0, labels: None }.into(),
        LogsCompared::Confounded { before: 7200.0, after: 3600.0, labels: labels() }.into(),
        LogsCompared::ConfoundedAlone { of: "web".into(), given: "12:00".into(), at: 1e9, is_after: true }
            .into(),
        LogsCompared::Cut { before: 7200.0, after: 3600.0, labels: None, blocks }.into(),
        LogsCompared::Clocks { host: None, step: 60.0, drift: Some(0.1), is_doubtful: false }.into(),
        LogsCompared::NoTelemetry("no samples".into()).into(),
        LogsCompared::PartOfTelemetry { covered: 0.5 }.into(),
        LogsCompared::PageCache { arm: cache("ssd", 1e9), base: cache("hdd", 2e9) }.into(),
        Credits { instance: "t3.micro".into(), soaked: false }.into(),
        Credits { instance: "t3.micro".into(), soaked: true }.into(),
    ]
}

#[test]
fn there_is_a_sample_of_every_rule() {
    let known: std::collections::BTreeSet<usize> = samples().iter().map(place).collect();
    assert_eq!(known, (0..PLACES).collect());
}

#[test]
fn every_finding_is_the_same_document_when_it_is_read_back() {
    for rule in samples() {
        let finding = Finding::new(rule).about(Subject::instrument("web"));
        let json = serde_json::to_string(&finding).unwrap();
        let back: Finding = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), json);
        assert_eq!((back.state, back.kind()), (finding.state, finding.kind()), "{json}");
        // What instruments record comes back as what it was, where its evidence says all of it.
        let is_typed = !matches!(
            finding.rule,
            Rule::Recorded(
                Recorded::ReadsUnknown(_)
                    | Recorded::SyncsUnknown(_)
                    | Recorded::HugePagesUnknown(_)
                    | Recorded::CopiesApart { .. }
            )
        );
        if matches!(finding.rule, Rule::Recorded(_)) && is_typed {
            assert_eq!(back, finding);
        }
    }
}

#[test]
fn a_refusal_in_the_words_of_an_older_file_is_typed_again() {
    let finding = Finding::new(Recorded::PageCache { device_bytes: 4096, read_bytes: 8192 });
    let old = FindingDoc { text: "the device delivered 4096 of 8192".into(), ..finding.clone().into() };
    assert_eq!(Finding::from(old), finding);
}

/// The numbers of a sentence.
fn numbers(text: &str) -> Vec<&str> {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .map(|word| word.trim_matches('.'))
        .filter(|word| !word.is_empty())
        .collect()
}

#[test]
fn one_and_many_say_the_same_numbers() {
    for rule in samples() {
        let one = rule.one();
        let many = Rule::many(&[(&rule, "crc32c"), (&rule, "copy")], "@ figures");
        assert!(!one.is_empty() && !rule.kind().is_empty(), "{rule:?}");
        assert!(many.contains("@ figures"), "{many}");
        // Failures are added up; the others say of several what they do not say of one.
        let differs = matches!(
            rule,
            Rule::Autocorrelation(_)
                | Rule::Errors(_)
                | Rule::AboveCeiling(_)
                | Rule::Samples(Samples::Broken { .. })
        );
        let known = numbers(&one);
        let same = numbers(&many).into_iter().all(|number| known.contains(&number));
        assert!(same || differs, "{one}\n{many}");
    }
}

#[test]
fn a_rule_without_a_sentence_for_many_says_that_of_the_first() {
    let told = |text: &str| Finding::foreign("new", Validity::Doubtful, text).rule;
    let (one, other) = (told("it is slow"), told("it is late"));
    assert_eq!(Rule::many(&[(&one, "a"), (&one, "b")], "2 figures (a, b)"), "2 figures (a, b): it is slow");
    let said = Rule::many(&[(&one, "a"), (&other, "b")], "2 figures (a, b)");
    assert_eq!(said, "2 figures (a, b), such as a: it is slow");
}

#[test]
fn no_two_rules_share_a_kind() {
    let mut rules: BTreeMap<String, std::mem::Discriminant<Rule>> = BTreeMap::new();
    for rule in samples() {
        // These stand for rules of other kinds.
        if matches!(rule, Rule::InTakes(_) | Rule::Recorded(_) | Rule::Told(_)) {
            continue;
        }
        let own = std::mem::discriminant(&rule);
        let known = rules.entry(rule.kind().to_owned()).or_insert(own);
        assert_eq!(*known, own, "{} is the kind of two rules", rule.kind());
    }
}

#[test]
fn a_short_line_is_short_and_of_what_is_doubted() {
    let mut short = 0;
    for rule in samples() {
        let Some(said) = Rule::brief(&[&rule]) else { continue };
        assert!(said.chars().count() <= 110 && !said.ends_with('.') && !said.contains("; "), "{said}");
        short += usize::from(rule.state() >= Validity::Doubtful);
    }
    assert!(short >= 10, "{short}");
}

/// A run of 1,000 machines holds 50,000 conclusions.
#[test]
fn a_conclusion_is_small() {
    assert!(size_of::<Rule>() <= 112, "{} bytes: put the largest rule `in Box`", size_of::<Rule>());
}
