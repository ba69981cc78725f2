//! Differences that limit a comparison of groups of requests: by what was served, when, and on which machines: `means`,
//! `request-counts`, `request-rates`, `size-mix`, `status-mix`, `failures-apart`, `cacheability`, `hours`, `bots`,
//! `unshared`, `mix`, `halves`, `time-confounded`, `cut-blocks`, `clocks`, `telemetry`, `page-cache`, `slowest`.

use super::{AskerTimes, Conclusion, Evidence, Validity, evidence, known};
use crate::format::{duration, number, percent, quantity, rounded_duration};
use crate::unit::Unit;

/// A group of requests by its label, and its share of something, 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    pub label: String,
    pub share: f64,
}

/// A machine by its label, its page cache in B, and what its disks read in B/s.
#[derive(Clone, Debug, PartialEq)]
pub struct Cache {
    pub label: String,
    pub bytes: f64,
    pub disk_read: Option<f64>,
}

/// Speeds in B/s, times in s.
#[derive(Clone, Debug, PartialEq)]
pub enum LogsCompared {
    /// The mean of the requests' speeds and the speed of the totals are far apart.
    Means {
        mean: f64,
        totals: f64,
        /// Failures of the server (5xx) are in both.
        has_failures: bool,
    },
    /// One group served so many times the requests of the other.
    RequestCounts {
        arm: String,
        base: String,
        ratio: f64,
    },
    /// Requests a second of unlike sides of a moment, or of logs of which one follows the other, by their labels.
    RequestRates {
        before: f64,
        after: f64,
        labels: Option<[String; 2]>,
    },
    /// Kolmogorov-Smirnov distance of the sizes.
    SizeMix {
        distance: f64,
    },
    /// The share of requests that would have to change their status, and the status that differs most.
    StatusMix {
        distance: f64,
        status: u16,
        arm: Share,
        base: Share,
    },
    /// Shares that requests with a status from 500 on have of all requests, and of the time that all took.
    Failures {
        arm: Share,
        base: Share,
        arm_time: f64,
        base_time: f64,
    },
    /// Shares of requests that were not modified.
    Cacheability {
        arm: Share,
        base: Share,
    },
    /// Shares of requests in hours that the other group did not serve.
    Hours {
        arm: Share,
        base: Share,
        is_doubtful: bool,
    },
    /// Shares of requests of programs that say they are bots, and how people and bots differ where they are told apart.
    Bots {
        arm: Share,
        base: Share,
        times: Option<AskerTimes>,
    },
    /// Share of the bytes that is compared.
    Unshared {
        shared: f64,
    },
    /// The totals' speeds, the same without failed requests (5xx) where there are any, and like with like.
    Mix {
        crude: f64,
        good: Option<f64>,
        stratified: f64,
        cause: MixCause,
    },
    /// The ratio of speeds in the first half of the time and in the second, which chance does not explain.
    Halves {
        first: f64,
        second: f64,
    },
    /// Lengths of the two sides of a moment, or of logs of which one follows the other, by their labels.
    Confounded {
        before: f64,
        after: f64,
        labels: Option<[String; 2]>,
    },
    /// One side alone of a cut at a moment (s since 1970).
    ConfoundedAlone {
        of: String,
        given: String,
        at: f64,
        is_after: bool,
    },
    /// How the two sides of a cut, or two such logs, were compared.
    Cut {
        before: f64,
        after: f64,
        labels: Option<[String; 2]>,
        blocks: TimeBlocks,
    },
    /// The clocks of logs and telemetry were not compared.
    Clocks {
        host: Option<String>,
        step: f64,
        drift: Option<f64>,
        is_doubtful: bool,
    },
    /// Why a machine's samples cannot be set beside the log.
    NoTelemetry(String),
    /// Share of the log's time that was recorded.
    PartOfTelemetry {
        covered: f64,
    },
    PageCache {
        arm: Cache,
        base: Cache,
    },
    /// Half of the requests take as long in both groups; those that take longest do not.
    Slowest {
        arm: Times,
        base: Times,
    },
}

/// The time within which half of a group's requests were answered, and 99 of 100, in s.
#[derive(Clone, Debug, PartialEq)]
pub struct Times {
    pub label: String,
    pub median: f64,
    pub p99: f64,
}

/// The cause that sets the speeds of the totals apart from those of like requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MixCause {
    Failures,
    Work,
    Both,
}

/// The blocks of time that an interval draws, in s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeBlocks {
    pub length: i64,
    /// Parts of the day that are compared with their like; `None`: by class of size alone.
    pub of_day: Option<i64>,
    /// The parts of the day are the blocks.
    pub is_matched: bool,
}

/// The doubt that every comparison over time has.
const CHANGES: &str =
    "(load, content, clients, caches that warmed, other work on the machine) is in the difference too";
const HOUR: i64 = 3600;
/// The share of bots from which a comparison of all requests says little of people.
const MANY_BOTS: f64 = 0.1;

impl TimeBlocks {
    const fn is_doubtful(self) -> bool {
        self.of_day.is_none() || self.is_matched
    }

    /// The front of the sentence: the doubt that the comparison has. Empty where it has none.
    const fn doubt(self) -> &'static str {
        match (self.of_day, self.is_matched) {
            (None, _) => "the hour of the day is in the difference: ",
            (Some(_), true) => "how days differ is not in the interval: ",
            (Some(_), false) => "",
        }
    }

    fn compared(self) -> String {
        match self.of_day {
            Some(HOUR) => "one class of size and one hour of the day are compared".to_owned(),
            Some(part) => format!(
                "one class of size and one part ({}) of the day are compared",
                duration(part as f64)
            ),
            None => "one class of size are compared, whatever the hour, since the two sides do not cover the same hours \
                     of the day"
                .to_owned(),
        }
    }

    fn drawn(self) -> String {
        match self.is_matched {
            true => "parts of the day, each side's beside the other's, since a side has less than two days"
                .to_owned(),
            false => format!("spans of {} of each side", duration(self.length as f64)),
        }
    }
}

fn statuses(distance: f64, status: u16, arm: &Share, base: &Share) -> String {
    let differ = format!(
        "statuses differ in {} of the requests, {status} most ({} of {}, {} of {})",
        percent(distance),
        percent(arm.share),
        arm.label,
        percent(base.share),
        base.label
    );
    match is_failure(status) {
        true => format!("{differ}: failed requests are not compared with good ones"),
        false if (200..300).contains(&status) => format!("not like with like: {differ}"),
        false => format!("not like with like: {differ}; leave it out by --where 'status!={status}'"),
    }
}

const fn is_failure(status: u16) -> bool {
    status >= 400
}

fn failures((arm, arm_time): (&Share, f64), (base, base_time): (&Share, f64)) -> String {
    let shares = |of: &Share, time: f64| {
        format!("{} of {}'s requests and {} of its serving time", percent(of.share), of.label, percent(time))
    };
    format!(
        "speeds and times compared say nothing of the failures: 5xx are counted apart, {}, {}; --where 'status<500' \
         leaves them out of the totals too",
        shares(arm, arm_time),
        shares(base, base_time)
    )
}

fn mix(crude: f64, good: Option<f64>, stratified: f64, cause: MixCause) -> String {
    let without = good.map_or_else(String::new, |good| format!(", without 5xx {} to 1", number(good)));
    let rest = match cause {
        MixCause::Failures => "the rest is the failed requests",
        MixCause::Work => "the rest is the mix of sizes and hours",
        MixCause::Both => "the rest is the failed requests, and the mix of sizes and hours",
    };
    format!(
        "the totals' speeds stand {} to 1{without}, like with like {} to 1: {rest}",
        number(crude),
        number(stratified)
    )
}

fn hours(arm: &Share, base: &Share) -> String {
    if shares_none(arm) {
        return format!(
            "whatever changed meanwhile is in the difference: {} and {} share no hour",
            arm.label, base.label
        );
    }
    format!(
        "a part is not compared: {} of {}'s requests and {} of {}'s came in hours that the other did not serve",
        percent(arm.share),
        arm.label,
        percent(base.share),
        base.label
    )
}

fn cacheability(arm: &Share, base: &Share) -> String {
    format!(
        "not like with like: {} of {}'s requests and {} of {}'s were not modified (304), so that their clients' caches \
         differ",
        percent(arm.share),
        arm.label,
        percent(base.share),
        base.label
    )
}

fn bots(arm: &Share, base: &Share, times: Option<AskerTimes>) -> String {
    let none_in = [arm, base].into_iter().find(|one| one.share == 0.0);
    if let (Some(none), Some(AskerTimes { people, .. })) = (none_in, times) {
        let other = if none.label == arm.label { base } else { arm };
        return format!(
            "times of people: {}; bots are {} of {}'s requests and none of {}'s, so that theirs have nothing beside them",
            people.words(),
            percent(other.share),
            other.label,
            none.label
        );
    }
    if let Some(AskerTimes { people, bots }) = times {
        return format!(
            "people and bots are compared each with their like: times of people: {}; of bots: {}; bots are {} of {}'s \
             requests and {} of {}'s",
            people.words(),
            bots.words(),
            percent(arm.share),
            arm.label,
            percent(base.share),
            base.label
        );
    }
    format!(
        "people alone may differ by more or less, and with a narrower interval: bots are {} of {}'s requests and {} of \
         {}'s, and compared with the rest as one; --where bot=no leaves them out",
        percent(arm.share),
        arm.label,
        percent(base.share),
        base.label
    )
}

fn halves(first: f64, second: f64) -> String {
    format!(
        "one episode may make the difference: the speeds stand {} to 1 in the first half of the time and {} to 1 in the \
         second; see what changed in between, and compare each half by itself",
        number(first),
        number(second)
    )
}

/// `2 h before and 1 h after`, or `24 h of monday and 24 h of tuesday`.
fn lengths((before, after): (f64, f64), labels: Option<&[String; 2]>) -> String {
    let (before, after) = (rounded_duration(before), rounded_duration(after));
    match labels {
        None => format!("{before} before and {after} after"),
        Some([earlier, later]) => format!("{before} of {earlier} and {after} of {later}"),
    }
}

fn rates((before, after): (f64, f64), labels: Option<&[String; 2]>) -> String {
    let (before, after) = (number(before), number(after));
    let rates = match labels {
        None => format!("{before} requests a second before, {after} after"),
        Some([earlier, later]) => format!("{earlier} served {before} requests a second, {later} {after}"),
    };
    format!("{rates}: load differed, and with it waiting")
}

fn confounded(labels: Option<&[String; 2]>) -> String {
    let who =
        labels.map_or_else(|| "before and after".to_owned(), |[one, other]| format!("{one} and {other}"));
    format!(
        "whatever else changed meanwhile {CHANGES}: {who} share no time; two groups at the same time would tell"
    )
}

fn shares_none(arm: &Share) -> bool {
    arm.share >= 1.0
}

fn clocks(host: Option<&str>, step: f64, drift: Option<f64>) -> String {
    let drift = drift.map_or_else(String::new, |drift| {
        format!("; during the run its clock drifted by {drift:.3} s from the program's")
    });
    format!(
        "rows are off where two clocks differ by more than {}: requests are by the clock of the server that logged \
         them, the machine's figures by that of {}, and the two clocks were not compared{drift}",
        duration(step),
        host.unwrap_or("the host that recorded them")
    )
}

fn page_cache(arm: &Cache, base: &Cache) -> String {
    let memory = |bytes: f64| quantity(bytes, Unit::Byte);
    let reads = |cache: &Cache| match cache.disk_read {
        Some(rate) => quantity(rate, Unit::BytesPerSec),
        None => "an unknown amount".to_owned(),
    };
    format!(
        "the page cache may make the difference: {}'s page cache is {} than {}'s, {} beside {}; its disks read {}, \
         the others {}",
        arm.label,
        if arm.bytes < base.bytes { "smaller" } else { "larger" },
        base.label,
        memory(arm.bytes),
        memory(base.bytes),
        reads(arm),
        reads(base)
    )
}

/// `Half of the requests take as long on both (30.5 and 30.7 ms); the slowest do not: 99 % within 126 ms on south,
/// within 953 ms on north.`
fn slowest(arm: &Times, base: &Times) -> String {
    let time = |seconds: f64| quantity(seconds, Unit::Second);
    let (own, others) = (time(arm.median), time(base.median));
    let medians = if own == others { own } else { format!("{own} and {others}") };
    format!(
        "Half of the requests take as long on both ({medians}); the slowest do not: 99 % within {} on {}, within {} on \
         {}.",
        time(arm.p99),
        arm.label,
        time(base.p99),
        base.label
    )
}

impl LogsCompared {
    pub const fn is_of_means(&self) -> bool {
        matches!(self, LogsCompared::Means { .. })
    }

    pub const fn is_of_slowest(&self) -> bool {
        matches!(self, LogsCompared::Slowest { .. })
    }
}

impl Conclusion for LogsCompared {
    fn kind(&self) -> &str {
        match self {
            LogsCompared::Means { .. } => "means",
            LogsCompared::RequestCounts { .. } => "request-counts",
            LogsCompared::RequestRates { .. } => "request-rates",
            LogsCompared::SizeMix { .. } => "size-mix",
            LogsCompared::StatusMix { .. } => "status-mix",
            LogsCompared::Failures { .. } => "failures-apart",
            LogsCompared::Cacheability { .. } => "cacheability",
            LogsCompared::Hours { .. } => "hours",
            LogsCompared::Bots { .. } => "bots",
            LogsCompared::Unshared { .. } => "unshared",
            LogsCompared::Mix { .. } => "mix",
            LogsCompared::Halves { .. } => "halves",
            LogsCompared::Confounded { .. } | LogsCompared::ConfoundedAlone { .. } => "time-confounded",
            LogsCompared::Cut { .. } => "cut-blocks",
            LogsCompared::Clocks { .. } => "clocks",
            LogsCompared::NoTelemetry(_) | LogsCompared::PartOfTelemetry { .. } => "telemetry",
            LogsCompared::PageCache { .. } => "page-cache",
            LogsCompared::Slowest { .. } => "slowest",
        }
    }

    fn state(&self) -> Validity {
        let doubtful = |is_doubtful: bool| if is_doubtful { Validity::Doubtful } else { Validity::Ok };
        match self {
            LogsCompared::NoTelemetry(_) => Validity::Invalid,
            LogsCompared::StatusMix { status, .. } => doubtful(!is_failure(*status)),
            LogsCompared::Cacheability { .. }
            | LogsCompared::Failures { .. }
            | LogsCompared::Unshared { .. }
            | LogsCompared::Halves { .. }
            | LogsCompared::Confounded { .. }
            | LogsCompared::ConfoundedAlone { .. }
            | LogsCompared::PageCache { .. } => Validity::Doubtful,
            LogsCompared::Hours { is_doubtful, .. } | LogsCompared::Clocks { is_doubtful, .. } => {
                doubtful(*is_doubtful)
            }
            LogsCompared::Cut { blocks, .. } => doubtful(blocks.is_doubtful()),
            LogsCompared::Means { .. }
            | LogsCompared::RequestCounts { .. }
            | LogsCompared::RequestRates { .. }
            | LogsCompared::SizeMix { .. }
            | LogsCompared::Mix { .. }
            | LogsCompared::PartOfTelemetry { .. }
            | LogsCompared::Slowest { .. } => Validity::Ok,
            LogsCompared::Bots { arm, base, times } => {
                doubtful(times.is_none() && arm.share.max(base.share) >= MANY_BOTS)
            }
        }
    }

    fn one(&self) -> String {
        match self {
            LogsCompared::Means { mean, totals, has_failures } => format!(
                "the mean of per-request speeds is {}, {} times the speed of the totals, {}{}: the first weighs every \
                 request alike, small and fast ones above all; the second says how fast bytes were sent",
                quantity(*mean, Unit::BytesPerSec),
                number(mean / totals),
                quantity(*totals, Unit::BytesPerSec),
                if *has_failures { ", both of all answers, 5xx too" } else { "" }
            ),
            LogsCompared::RequestCounts { arm, base, ratio } => format!(
                "{arm} served {} times the requests of {base}: load differed, and with it waiting",
                number(*ratio)
            ),
            LogsCompared::RequestRates { before, after, labels } => rates((*before, *after), labels.as_ref()),
            LogsCompared::SizeMix { distance } => format!(
                "sizes differ (Kolmogorov-Smirnov distance {}): only requests of one class of size are compared",
                number(*distance)
            ),
            LogsCompared::StatusMix { distance, status, arm, base } => {
                statuses(*distance, *status, arm, base)
            }
            LogsCompared::Cacheability { arm, base } => cacheability(arm, base),
            LogsCompared::Hours { arm, base, .. } => hours(arm, base),
            LogsCompared::Bots { arm, base, times } => bots(arm, base, *times),
            LogsCompared::Unshared { shared } => format!(
                "a part is not compared: only {} of the bytes are of a size and time that both served",
                percent(*shared)
            ),
            LogsCompared::Failures { arm, base, arm_time, base_time } => {
                failures((arm, *arm_time), (base, *base_time))
            }
            LogsCompared::Mix { crude, good, stratified, cause } => mix(*crude, *good, *stratified, *cause),
            LogsCompared::Halves { first, second } => halves(*first, *second),
            LogsCompared::Confounded { labels, .. } => confounded(labels.as_ref()),
            LogsCompared::ConfoundedAlone { of, given, is_after, .. } => format!(
                "beside the other side, whatever else changed meanwhile {CHANGES}: {of} was cut at {given}, and this is \
                 what was served {}",
                if *is_after { "from then on" } else { "before it" }
            ),
            LogsCompared::Cut { before, after, labels, blocks } => format!(
                "{}{}; requests of {}; the interval draws {}",
                blocks.doubt(),
                lengths((*before, *after), labels.as_ref()),
                blocks.compared(),
                blocks.drawn()
            ),
            LogsCompared::Clocks { host, step, drift, .. } => clocks(host.as_deref(), *step, *drift),
            LogsCompared::NoTelemetry(why) => format!("the machine is not shown beside the requests: {why}"),
            LogsCompared::PartOfTelemetry { covered } => format!(
                "the machine was recorded during {} of the log's time; rows are of that alone",
                percent(*covered)
            ),
            LogsCompared::PageCache { arm, base } => page_cache(arm, base),
            LogsCompared::Slowest { arm, base } => slowest(arm, base),
        }
    }

    fn names_subject(&self) -> bool {
        match self {
            LogsCompared::RequestCounts { .. }
            | LogsCompared::PageCache { .. }
            | LogsCompared::Slowest { .. } => true,
            LogsCompared::Hours { arm, .. } => shares_none(arm),
            _ => false,
        }
    }

    fn evidence(&self) -> Evidence {
        match self {
            LogsCompared::Means { mean, totals, .. } => {
                evidence([("mean-of-ratios", *mean), ("ratio-of-totals", *totals)])
            }
            LogsCompared::RequestCounts { ratio, .. } => evidence([("ratio", *ratio)]),
            LogsCompared::RequestRates { before, after, .. } => evidence([("ratio", after / before)]),
            LogsCompared::SizeMix { distance } => evidence([("ks", *distance)]),
            LogsCompared::StatusMix { distance, .. } => evidence([("distance", *distance)]),
            LogsCompared::Cacheability { arm, base }
            | LogsCompared::Bots { arm, base, .. }
            | LogsCompared::Hours { arm, base, .. } => evidence([("arm", arm.share), ("base", base.share)]),
            LogsCompared::Unshared { shared } => evidence([("shared", *shared)]),
            LogsCompared::Failures { arm, base, arm_time, base_time } => evidence([
                ("arm", arm.share),
                ("base", base.share),
                ("arm-time", *arm_time),
                ("base-time", *base_time),
            ]),
            LogsCompared::Mix { crude, good, stratified, .. } => {
                known([("crude", Some(*crude)), ("good", *good), ("stratified", Some(*stratified))])
            }
            LogsCompared::Halves { first, second } => evidence([("first", *first), ("second", *second)]),
            LogsCompared::Confounded { before, after, .. } => {
                evidence([("before", *before), ("after", *after)])
            }
            LogsCompared::ConfoundedAlone { .. } => Evidence::default(),
            LogsCompared::Cut { blocks, .. } => known([
                ("block", Some(blocks.length as f64)),
                ("part-of-day", blocks.of_day.map(|part| part as f64)),
            ]),
            LogsCompared::Clocks { step, .. } => evidence([("step", *step)]),
            LogsCompared::NoTelemetry(_) => Evidence::new(),
            LogsCompared::PartOfTelemetry { covered } => evidence([("covered", *covered)]),
            LogsCompared::PageCache { arm, base } => evidence([("ratio", arm.bytes / base.bytes)]),
            LogsCompared::Slowest { arm, base } => {
                evidence([("median", arm.median / base.median), ("p99", arm.p99 / base.p99)])
            }
        }
    }
}
