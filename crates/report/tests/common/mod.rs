//! Invented documents for tests and the gallery: one rich run, its data, a comparison, a published study.
//!
//! Nothing here is a measurement; every number is planted and always the same.
#![allow(dead_code, unused_imports, reason = "each test and example uses a part")]

mod data;
pub mod decide;
mod load;
pub mod logs;
pub mod runtime;
pub mod web;

use std::collections::BTreeMap;

pub use data::data;
pub use load::load;

use model::answer::AnswerDoc;
use model::data::{Price, Status};
use model::doc::{
    ArmDoc, CompareDoc, IndexDoc, MachineDoc, MachineFacts, Noise, Paragraph, RankDoc, RowDoc, RunDoc,
    SeriesDoc, TieDoc, VerdictWord,
};
use model::metric::Better;
use model::unit::Unit;
use model::why::{Held, Needed, Reason, Repeat, Why};
use model::{Fact, FactLine, FactValue, Finding, Params, Validity};

/// Scatter in -1 to 1, always the same.
pub fn scatter(i: usize) -> f64 {
    let mut x = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^= x >> 31;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 29;
    (x % 20_001) as f64 / 10_000.0 - 1.0
}

pub fn params(text: &str) -> Params {
    Params::parse(text).expect("pairs")
}

pub fn machine(name: &str) -> MachineDoc {
    MachineDoc { id: format!("id-{name}"), name: name.to_owned() }
}

pub fn fact(key: &str, value: FactValue, unit: Option<Unit>, source: &str) -> Fact {
    Fact::from(FactLine {
        key: key.to_owned(),
        value: Some(value),
        unit,
        source: source.to_owned(),
        why: None,
    })
}

fn text(key: &str, value: &str, source: &str) -> Fact {
    fact(key, FactValue::Text(value.to_owned()), None, source)
}

fn number(key: &str, value: f64, unit: Unit, source: &str) -> Fact {
    fact(key, FactValue::Number(value), Some(unit), source)
}

fn unknown(key: &str, source: &str, why: &str) -> Fact {
    Fact::unknown(key, source, why)
}

const GIB: f64 = 1_073_741_824.0;

pub fn facts() -> Vec<Fact> {
    let mut rated = number("memory.mts.rated", 5600.0, Unit::Count, "DMI type 17");
    rated.why = Some("drops to 4800 MT/s when four modules are installed".to_owned());
    vec![
        text("machine.name", "mini-1", "hostname"),
        text("cpu.model", "AMD Ryzen 7 8845HS w/ Radeon 780M Graphics", "/proc/cpuinfo model name"),
        number("cpu.sockets", 1.0, Unit::Count, "/sys/devices/system/cpu/cpu*/topology"),
        number("cpu.cores", 8.0, Unit::Count, "/sys/devices/system/cpu/cpu*/topology"),
        number("cpu.threads", 16.0, Unit::Count, "/sys/devices/system/cpu/online"),
        number("cpu.mhz.max", 5.1e9, Unit::Hertz, "/sys/devices/system/cpu/cpu*/cpufreq/cpuinfo_max_freq"),
        text("cpu.governor", "performance", "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"),
        number("cache.l1d.bytes", 32_768.0, Unit::Byte, "/sys/devices/system/cpu/cpu*/cache"),
        number("cache.l2.bytes", 1_048_576.0, Unit::Byte, "/sys/devices/system/cpu/cpu*/cache"),
        number("cache.l3.bytes", 16_777_216.0, Unit::Byte, "/sys/devices/system/cpu/cpu*/cache"),
        number("memory.bytes", 31.2 * GIB, Unit::Byte, "/proc/meminfo MemTotal"),
        number("memory.installed.bytes", 32.0 * GIB, Unit::Byte, "DMI type 17"),
        text("memory.type", "DDR5", "DMI type 17"),
        number("memory.mts", 5600.0, Unit::Count, "DMI type 17"),
        rated,
        number("memory.channels", 2.0, Unit::Count, "DMI type 17"),
        unknown("memory.ecc", "DMI type 16", "needs root: run with sudo"),
        text("disk.names", "nvme0n1", "/sys/block"),
        text("disk.nvme0n1.model", "Samsung 980 PRO", "/sys/block/nvme0n1/device/model"),
        number("disk.nvme0n1.bytes", 1e12, Unit::Byte, "/sys/block/nvme0n1/size"),
        text("virt.kind", "none", "cpuid leaf 1"),
        text("os.name", "Debian GNU/Linux 12", "/etc/os-release"),
        text("kernel.release", "6.12.8-amd64", "/proc/sys/kernel/osrelease"),
    ]
}

/// The planted figures: instrument, metric, unit, direction, params, value, relative spread, headline.
pub struct Planted {
    pub instrument: &'static str,
    pub metric: &'static str,
    pub unit: Unit,
    pub better: Better,
    pub params: &'static str,
    pub value: f64,
    pub spread: f64,
    pub headline: bool,
    pub validity: Validity,
}

const fn planted(
    (instrument, metric, unit, better): (&'static str, &'static str, Unit, Better),
    params: &'static str,
    value: f64,
    spread: f64,
    headline: bool,
) -> Planted {
    Planted { instrument, metric, unit, better, params, value, spread, headline, validity: Validity::Ok }
}

const INDEX: (&str, &str, Unit, Better) = ("index", "rate", Unit::PerSec, Better::Higher);
const COMPRESS: (&str, &str, Unit, Better) = ("compress", "compress", Unit::BytesPerSec, Better::Higher);
const CIPHER: (&str, &str, Unit, Better) = ("cipher", "throughput", Unit::BytesPerSec, Better::Higher);
const READ: (&str, &str, Unit, Better) = ("mem-bandwidth", "bandwidth", Unit::BytesPerSec, Better::Higher);
const LATENCY: (&str, &str, Unit, Better) = ("mem-latency", "latency", Unit::Second, Better::Lower);
const DISK: (&str, &str, Unit, Better) = ("disk-read", "iops", Unit::PerSec, Better::Higher);
const FSYNC: (&str, &str, Unit, Better) = ("disk-fsync", "latency", Unit::Second, Better::Lower);

pub fn figures() -> Vec<Planted> {
    let mut all = vec![
        planted(INDEX, "kind=integer;threads=1", 1.912e9, 0.0034, true),
        planted(INDEX, "kind=integer;threads=2", 3.71e9, 0.0040, false),
        planted(INDEX, "kind=integer;threads=4", 7.22e9, 0.0050, false),
        planted(INDEX, "kind=integer;threads=8", 12.9e9, 0.0060, false),
        planted(INDEX, "kind=integer;threads=all", 14.31e9, 0.0080, false),
        planted(INDEX, "kind=floating;threads=1", 884e6, 0.0045, true),
        planted(INDEX, "kind=floating;threads=all", 6.54e9, 0.0090, false),
        planted(COMPRESS, "codec=zstd;level=3;threads=1", 548e6, 0.0055, true),
        planted(COMPRESS, "codec=zstd;level=3;threads=all", 4.02e9, 0.0090, false),
        planted(CIPHER, "algorithm=aes-128-gcm;size=16KiB;threads=1", 5.61e9, 0.0018, true),
        planted(CIPHER, "algorithm=aes-128-gcm;size=16KiB;threads=all", 40.9e9, 0.0060, false),
        planted(READ, "counting=bw_mem;op=read;store=temporal;threads=1", 31.2e9, 0.008, true),
        planted(READ, "counting=bw_mem;op=read;store=temporal;threads=all", 61.8e9, 0.007, false),
        planted(READ, "counting=bw_mem;op=write;store=temporal;threads=1", 22.4e9, 0.009, false),
        planted(READ, "counting=bw_mem;op=copy;store=temporal;threads=1", 18.1e9, 0.009, false),
        planted(LATENCY, "level=memory;mode=random;size=auto;threads=1", 92.4e-9, 0.007, true),
        planted(DISK, "block=4KiB;pattern=random;qd=1", 14.2e3, 0.018, true),
        planted(DISK, "block=4KiB;pattern=random;qd=8", 101e3, 0.02, false),
        planted(DISK, "block=4KiB;pattern=random;qd=32", 338e3, 0.03, false),
        planted(FSYNC, "block=4KiB;sync=fdatasync", 3e-6, 0.1, true),
    ];
    if let Some(last) = all.last_mut() {
        last.validity = Validity::Invalid;
    }
    for (size, value) in [
        ("4KiB", 0.9e-9),
        ("16KiB", 0.9e-9),
        ("64KiB", 2.8e-9),
        ("256KiB", 2.9e-9),
        ("1MiB", 4.1e-9),
        ("4MiB", 10.1e-9),
        ("16MiB", 24e-9),
        ("64MiB", 81e-9),
        ("256MiB", 92e-9),
    ] {
        let params: &'static str = match size {
            "4KiB" => "level=any;mode=random;size=4KiB;threads=1",
            "16KiB" => "level=any;mode=random;size=16KiB;threads=1",
            "64KiB" => "level=any;mode=random;size=64KiB;threads=1",
            "256KiB" => "level=any;mode=random;size=256KiB;threads=1",
            "1MiB" => "level=any;mode=random;size=1MiB;threads=1",
            "4MiB" => "level=any;mode=random;size=4MiB;threads=1",
            "16MiB" => "level=any;mode=random;size=16MiB;threads=1",
            "64MiB" => "level=any;mode=random;size=64MiB;threads=1",
            _ => "level=any;mode=random;size=256MiB;threads=1",
        };
        all.push(planted(LATENCY, params, value, 0.02, false));
    }
    all
}

pub fn series(figure: &Planted) -> SeriesDoc {
    let spread = figure.spread;
    let (low, high) = (figure.value * (1.0 - spread), figure.value * (1.0 + spread));
    let refused = figure.validity == Validity::Invalid;
    SeriesDoc {
        card: model::card::find(instruments::cards(), figure.instrument),
        instrument: figure.instrument.to_owned(),
        metric: figure.metric.to_owned(),
        unit: figure.unit,
        better: figure.better,
        params: params(figure.params),
        definition: 1,
        arm: String::new(),
        subject: None,
        role: "box".to_owned(),
        headline: figure.headline,
        samples: model::Samples::Takes,
        n: 12,
        faults: 0,
        blocks: 12,
        median: Some(figure.value),
        low: Some(low),
        high: Some(high),
        level: Some(0.961),
        method: "median, order statistics 3 and 10 of 12".to_owned(),
        why: None,
        mean: Some(figure.value * 1.001),
        mean_low: Some(low),
        mean_high: Some(high),
        min: Some(figure.value * (1.0 - 2.0 * spread)),
        max: Some(figure.value * (1.0 + 2.0 * spread)),
        floor: Some(if figure.instrument.starts_with("disk") { 0.2 } else { 0.05 }),
        noise: Noise::Assumed,
        noise_runs: vec!["r1".to_owned()],
        again_low: Some(figure.value / 1.05),
        again_high: Some(figure.value * 1.05),
        validity: figure.validity,
        reasons: if refused { vec!["the drive's flush counter never moved".to_owned()] } else { Vec::new() },
        takes: Vec::new(),
        counters: std::collections::BTreeMap::new(),
    }
}

pub fn findings() -> Vec<Finding> {
    use Validity::{Doubtful, Invalid, Ok, Unknown};
    let mut all = vec![
        Finding::foreign(
            "clock",
            Doubtful,
            "clock fell 5.07 -> 4.21 GHz within 38 s of full load (firmware power limit): the 16-thread column is the sustained figure",
        ),
        Finding::foreign(
            "ceiling",
            Doubtful,
            "memory read reaches 69 % of the 89.6 GB/s that 2 x DDR5-5600 can deliver",
        ),
        Finding::foreign(
            "flush",
            Invalid,
            "disk fsync: 3 us, and the drive's flush counter never moved. Not counted",
        ),
        Finding::foreign("thermal", Unknown, "no temperature sensor is readable"),
    ];
    for (kind, text) in [
        ("background", "load 0.02"),
        ("steal", "steal 0"),
        ("swap", "swap 0"),
        ("drift", "drift 0.3 %"),
        ("own-cpu", "own CPU 0.4 %"),
        ("major-faults", "no major faults"),
        ("clock-step", "no clock step"),
        ("quota", "no CPU quota was hit in any take of the run"),
    ] {
        all.push(Finding::foreign(kind, Ok, text));
    }
    all
}

pub fn run() -> RunDoc {
    RunDoc {
        cmd: None,
        commands: Vec::new(),
        cards: instruments::cards(),
        schema: "boxscore.run/1".to_owned(),
        run: "0192f3a4b5c67def8123456789abcdef".to_owned(),
        study: "0192f3a4b5c67def8123456789abcd00".to_owned(),
        status: Status::Complete,
        machine: machine("mini-1"),
        planted: false,
        label: None,
        started: 1_795_242_060.0,
        level: "quick".to_owned(),
        command: "boxscore run --quick --seed 7".to_owned(),
        config: BTreeMap::from([
            ("cpu.governor".to_owned(), "performance".to_owned()),
            ("kernel.release".to_owned(), "6.12.8-amd64".to_owned()),
        ]),
        seconds: Some(112.0),
        ended_by: "every interval is within 2 % at 12 takes".to_owned(),
        price: None,
        watts: None,
        together: None,
        answer: Some(AnswerDoc {
            sentence: "mini-1: integer 1.91 Gop/s (1.90 to 1.92), memory read 31.2 GB/s".to_owned(),
            ..AnswerDoc::default()
        }),
        series: figures().iter().map(series).collect(),
        findings: findings(),
        bottlenecks: Vec::new(),
        target_hosts: Vec::new(),
        curves: Vec::new(),
        searches: Vec::new(),
        power: Vec::new(),
        scaling: Vec::new(),
        jobs: Vec::new(),
        node_scaling: Vec::new(),
        soak: Vec::new(),
        notes: Vec::new(),
        errors: BTreeMap::new(),
        own_cpu_seconds: Some(0.45),
        siblings: model::doc::Siblings::default(),
        nodes: None,
        logs_side: None,
        beside: None,
        log: None,
    }
}

pub fn arm(name: &str, published: bool) -> ArmDoc {
    ArmDoc {
        name: name.to_owned(),
        machine: machine(name),
        subject: None,
        runs: if published { Vec::new() } else { vec![format!("run-{name}")] },
        boxes: None,
        cpus: None,
        published,
        planted: false,
        price: None,
        watts: None,
        source: published.then(|| "four-platforms-2010".to_owned()),
        pasted: false,
    }
}

/// One row of `arm` against `base`: ratio arm / base, relative half width, verdict.
/// An interval across the margin, which this many takes or runs would settle.
pub fn open(count: u64, of: Repeat) -> Why {
    Why::new(vec![Reason::Held(Held::Interval), Reason::Needed(Needed::new(count, of))])
}

pub fn row(figure: &Planted, arm: &str, base: &str, ratio: f64, half: f64, verdict: VerdictWord) -> RowDoc {
    let sampled = half > 0.0;
    RowDoc {
        card: model::card::find(instruments::cards(), figure.instrument),
        instrument: figure.instrument.to_owned(),
        metric: figure.metric.to_owned(),
        unit: figure.unit,
        better: figure.better,
        params: params(figure.params),
        headline: figure.headline,
        index: None,
        arm: arm.to_owned(),
        base: base.to_owned(),
        arm_value: Some(figure.value),
        base_value: Some(figure.value / ratio),
        ratio: Some(ratio),
        low: sampled.then_some(ratio * (1.0 - half)),
        high: sampled.then_some(ratio * (1.0 + half)),
        p: sampled.then_some(0.001),
        p_holm: sampled.then_some(0.008),
        floor: sampled.then_some(if figure.instrument.starts_with("disk") { 0.2 } else { 0.05 }),
        noise: sampled.then_some(Noise::Assumed),
        noise_runs: Vec::new(),
        margin: 0.05,
        verdict,
        why: if verdict == VerdictWord::CannotTell { open(3, Repeat::Runs) } else { Why::default() },
        point: !sampled,
        per_price: None,
        per_watt: None,
        worth: None,
        lower_bounds: Vec::new(),
    }
}

pub const LEAD: &str = "mini-1 computes 18 to 31 % faster than ref-epyc-2c, waits 21 % longer for memory, and loses 17 % of its clock after 38 s of full load.";

/// mini-1 against ref-epyc-2c.
pub fn compare() -> CompareDoc {
    use VerdictWord::{Better, CannotTell, Invalid, Worse};
    let (us, base) = ("mini-1", "ref-epyc-2c");
    let headline: Vec<Planted> = figures().into_iter().filter(|figure| figure.headline).collect();
    let said = [
        (1.31, 0.02, Better),
        (1.22, 0.03, Better),
        (1.18, 0.02, Better),
        (1.02, 0.06, CannotTell),
        (1.44, 0.05, Better),
        (1.21, 0.01, Worse),
        (1.58, 0.06, Better),
        (0.03, 0.10, Invalid),
    ];
    let rows = headline.iter().zip(said);
    CompareDoc {
        cards: instruments::cards(),
        schema: "boxscore.compare/1".to_owned(),
        paragraph: LEAD.to_owned().into(),
        answer: String::new(),
        arms: vec![arm(base, false), arm(us, false)],
        unit_of_replication: None,
        rows: rows
            .map(|(figure, (ratio, half, verdict))| row(figure, us, base, ratio, half, verdict))
            .collect(),
        ranks: Vec::new(),
        ties: Vec::new(),
        index: vec![IndexDoc {
            scope: model::Scope::PerThread,
            arm: us.to_owned(),
            reference: base.to_owned(),
            value: None,
            low: None,
            high: None,
            why: Some("disk fsync was refused".to_owned()),
            components: 7,
            open: 0,
        }],
        value: Vec::new(),
        next_step: None,
        scaling: Vec::new(),
        findings: Vec::new(),
        settings: vec![model::doc::SettingsDoc {
            base: base.to_owned(),
            arm: us.to_owned(),
            same_machine: false,
            differ: vec![
                load::setting("net.core.somaxconn", "8", "4096"),
                load::setting("governor", "powersave", "performance"),
            ],
        }],
        footnotes: vec![
            "mini-1 has one CPU: its figures of one thread stand for the whole machine".to_owned(),
        ],
        beside: Vec::new(),
    }
}

/// Three sampled machines and prices.
pub fn three() -> CompareDoc {
    let mut doc = compare();
    let headline: Vec<Planted> = figures().into_iter().filter(|figure| figure.headline).take(6).collect();
    doc.rows.truncate(6);
    for (index, figure) in headline.iter().enumerate() {
        let mut row =
            row(figure, "nano-2", "ref-epyc-2c", 0.7 + 0.05 * index as f64, 0.03, VerdictWord::Worse);
        row.arm_value = row.base_value.zip(row.ratio).map(|(base, ratio)| base * ratio);
        row.base_value = doc.rows[index].base_value;
        row.arm_value = row.base_value.zip(row.ratio).map(|(base, ratio)| base * ratio);
        row.per_price = Some(1.9 - 0.1 * index as f64);
        doc.rows.push(row);
        for (arm, rank, worst_rank) in [("mini-1", 1, 2), ("ref-epyc-2c", 1, 2), ("nano-2", 3, 3)] {
            doc.ranks.push(RankDoc {
                instrument: figure.instrument.to_owned(),
                metric: figure.metric.to_owned(),
                params: params(figure.params),
                arm: arm.to_owned(),
                rank,
                worst_rank,
            });
        }
        doc.ties.push(TieDoc {
            instrument: figure.instrument.to_owned(),
            metric: figure.metric.to_owned(),
            params: params(figure.params),
            arms: vec!["mini-1".to_owned(), "ref-epyc-2c".to_owned()],
        });
    }
    let price = |amount| Some(Price { amount, currency: "USD".to_owned(), hourly: true });
    doc.arms.push(ArmDoc { price: price(0.05), ..arm("nano-2", false) });
    doc.arms[0].price = price(0.192);
    doc
}

/// This machine beside the study of 2010.
pub fn published() -> CompareDoc {
    let crc = |params, value| {
        planted(("crc32c", "throughput", Unit::BytesPerSec, Better::Higher), params, value, 0.01, false)
    };
    let hash = |metric, value| {
        planted(
            ("hash-table", metric, Unit::Second, Better::Lower),
            "buckets=128MiB;load=0.5",
            value,
            0.01,
            false,
        )
    };
    let mib = 1_048_576.0;
    let ours = [
        crc("impl=chain;size=7", 700.0 * mib),
        crc("impl=chain;size=1KiB", 17_000.0 * mib),
        hash("lookup", 41e-9),
        hash("replace", 47e-9),
    ];
    let theirs = [
        ("xeon-e5620", [Some(351.0 * mib), Some(6643.0 * mib), Some(84e-9), Some(98e-9)]),
        ("opteron-6134", [None, None, Some(147e-9), Some(133e-9)]),
        ("xeon-x3470", [Some(834.0 * mib), Some(10_500.0 * mib), Some(75e-9), Some(88e-9)]),
    ];
    let mut rows = Vec::new();
    for (name, values) in theirs {
        for (figure, value) in ours.iter().zip(values) {
            let Some(value) = value else { continue };
            let mut one = row(figure, name, "mini-1", value / figure.value, 0.0, VerdictWord::CannotTell);
            (one.arm_value, one.base_value) = (Some(value), Some(figure.value));
            one.why = Reason::Held(Held::NoSamples).into();
            rows.push(one);
        }
    }
    CompareDoc {
        cards: instruments::cards(),
        schema: "boxscore.compare/1".to_owned(),
        paragraph: Paragraph {
            lead: "Beside the figures published in 2010, mini-1 computes CRC-32C 1.6 to 2.6 times as fast and looks up a hash table in 41 ns instead of 75 to 147 ns.".to_owned(),
            rest: " Published figures are points: nothing here is significant.".to_owned(),
        },
        answer: String::new(),
        arms: vec![arm("mini-1", false), arm("xeon-e5620", true), arm("opteron-6134", true), arm("xeon-x3470", true)],
        unit_of_replication: None,
        rows,
        ranks: Vec::new(),
        ties: Vec::new(),
        index: Vec::new(),
        value: Vec::new(),
        next_step: None,
        scaling: Vec::new(),
        findings: Vec::new(),
        settings: Vec::new(),
        footnotes: vec!["opteron-6134 has no CRC-32C instruction".to_owned()],
        beside: Vec::new(),
    }
}

/// This machine's sheet beside two of the study's.
pub fn sheets() -> Vec<MachineFacts> {
    let old = |name: &str, model: &str, cores: f64, threads: f64, clock: f64, channels: f64, most: f64| {
        let mut speed = number("memory.mts", 1066.0, Unit::Count, "four-platforms-2010");
        if name == "xeon-x3470" {
            speed.why = Some("drops to 800 MHz when 24 GB or more is installed".to_owned());
        }
        MachineFacts {
            machine: MachineDoc { id: String::new(), name: name.to_owned() },
            facts: vec![
                text("cpu.model", model, "four-platforms-2010"),
                number("cpu.sockets", 1.0, Unit::Count, "four-platforms-2010"),
                number("cpu.cores", cores, Unit::Count, "four-platforms-2010"),
                number("cpu.threads", threads, Unit::Count, "four-platforms-2010"),
                number("cpu.mhz.base", clock, Unit::Hertz, "four-platforms-2010"),
                number("memory.channels", channels, Unit::Count, "four-platforms-2010"),
                speed,
                number("memory.max.bytes", most * GIB, Unit::Byte, "four-platforms-2010"),
            ],
            findings: Vec::new(),
        }
    };
    vec![
        MachineFacts { machine: machine("mini-1"), facts: facts(), findings: Vec::new() },
        old("xeon-e5620", "Intel Xeon E5620", 4.0, 8.0, 2.4e9, 3.0, 192.0),
        old("opteron-6134", "AMD Opteron 6134", 8.0, 8.0, 2.3e9, 4.0, 128.0),
        old("xeon-x3470", "Intel Xeon X3470", 4.0, 8.0, 2.93e9, 2.0, 32.0),
    ]
}
