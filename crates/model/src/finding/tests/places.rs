//! A number for each conclusion that a rule can come to, so that a sample of none is missing.

use super::*;

/// How many [`place`]s there are.
pub const PLACES: usize = 116;

fn of_drift(drift: &Drift) -> usize {
    match drift {
        Drift::TooFew => 26,
        Drift::None { .. } => 27,
        Drift::Drifted { .. } => 28,
    }
}

/// A number of its own for each conclusion, below `PLACES`: a new conclusion does not compile until it is here.
pub fn place(rule: &Rule) -> usize {
    match rule {
        Rule::AboveCeiling(above) => of_ceiling(above),
        Rule::Autocorrelation(Autocorrelation::TooFew | Autocorrelation::Open { .. }) => 6,
        Rule::Autocorrelation(Autocorrelation::ByChance { .. }) => 7,
        Rule::Autocorrelation(Autocorrelation::Alike { .. }) => 8,
        Rule::Background(Background::Unread) => 9,
        Rule::Background(Background::Quiet { .. }) => 10,
        Rule::Background(Background::Busy { .. }) => 11,
        Rule::Clock(clock) => of_clock(clock),
        Rule::ClockStep(ClockStep::Unread) => 17,
        Rule::ClockStep(ClockStep::None) => 18,
        Rule::ClockStep(ClockStep::Stepped { .. }) => 19,
        Rule::Counted(Counted::Unread(_)) => 20,
        Rule::Counted(Counted::None(_)) => 21,
        Rule::Counted(Counted::Rose { counter, .. }) => match counter {
            Counter::Swap => 22,
            Counter::MajorFaults => 23,
            Counter::ThermalThrottle => 24,
        },
        Rule::Credits(Credits { soaked, .. }) => 99 + usize::from(*soaked),
        Rule::Cut(_) => 25,
        Rule::Drift(drift) => of_drift(drift),
        Rule::Drops(drops) => match **drops {
            Drops::NotCounted => 29,
            Drops::Nothing => 30,
            Drops::Dropped { .. } => 31,
        },
        Rule::Errors(errors) => 32 + usize::from(*errors != Errors::None),
        Rule::GeneratorBound(bound) => of_generator(bound),
        Rule::GeneratorDelay(delay) => of_delay(delay),
        Rule::Heat(heat) => of_heat(heat),
        Rule::IdleAtPeak(idle) => of_idle(idle),
        Rule::Immature(_) => 48,
        Rule::InTakes(InTakes { .. }) => 49,
        Rule::Late(late) => of_late(late),
        Rule::Guest(Guest) => 53,
        Rule::LogsCompared(compared) => of_compared(compared),
        Rule::LogsFailed(failed) => of_failed(failed),
        Rule::LogsParts(LogsParts { .. }) => 109,
        Rule::LogsRead(read) => of_read(read),
        Rule::LogsSince(LogsSince { .. }) => 114,
        Rule::LowMemory(LowMemory { low, .. }) => 111 + usize::from(low.is_some()),
        Rule::MemoryCeiling(MemoryCeiling::NotMeasured) => 56,
        Rule::MemoryCeiling(MemoryCeiling::Unknown(_)) => 57,
        Rule::MemoryCeiling(MemoryCeiling::Reached { .. }) => 58,
        Rule::NoisyNeighbour(neighbour) => match neighbour {
            NoisyNeighbour::NoEarlierRun | NoisyNeighbour::TooFewRuns => 59,
            NoisyNeighbour::Quiet { .. } => 60,
            NoisyNeighbour::Noisy { .. } => 61,
        },
        Rule::OwnCost(OwnCost::NotEnded | OwnCost::NoTakes) => 62,
        Rule::OwnCost(OwnCost::Used { .. }) => 63,
        Rule::Recorded(recorded) => of_recorded(recorded),
        Rule::Redirects(Redirects { .. }) => 64,
        Rule::SameCores(same) => of_cores(same),
        Rule::Samples(Samples::Enough { .. } | Samples::Once) => 68,
        Rule::Samples(Samples::TooFew { .. }) => 69,
        Rule::Samples(Samples::Broken { .. }) => 70,
        Rule::ServerQuota(quota) => of_quota(quota),
        Rule::Stall(Stall { .. }) => 71,
        Rule::Steal(Steal::Unread | Steal::Little { .. } | Steal::Much { .. }) => 72,
        Rule::Throttled(Throttled::Unread | Throttled::Never { .. } | Throttled::Stopped { .. }) => 73,
        Rule::Timer(Timer::Unread | Timer::Agree { .. }) => 74,
        Rule::Timer(Timer::Disagree { .. } | Timer::Broken { .. }) => 75,
        Rule::Told(Told { .. }) => 76,
        Rule::LostSyns(LostSyns { .. }) => 113,
    }
}

fn of_failed(failed: &LogsFailed) -> usize {
    match failed {
        LogsFailed::Server { .. } => 101,
        LogsFailed::Probe { .. } => 102,
        LogsFailed::Refused { .. } => 115,
    }
}

fn of_ceiling(above: &AboveCeiling) -> usize {
    match above {
        AboveCeiling::Unknown(_) => 0,
        AboveCeiling::Below { .. } => 1,
        AboveCeiling::Beyond { limit, .. } => match limit {
            Limit::Memory(_) => 2,
            Limit::Cores { .. } => 3,
            Limit::Load { .. } => 4,
            Limit::Link { .. } => 5,
        },
    }
}

fn of_generator(bound: &GeneratorBound) -> usize {
    match bound {
        GeneratorBound::Unknown => 34,
        GeneratorBound::Free { .. } => 35,
        GeneratorBound::Settled(_) | GeneratorBound::Both(_) => 36,
        GeneratorBound::Bound(bound) => match bound.cause {
            generator_bound::Cause::Busy { .. } => 37,
            generator_bound::Cause::Starved { .. } => 38,
            generator_bound::Cause::More { .. } => 39,
            generator_bound::Cause::Rising { .. } => 40,
        },
    }
}

fn of_late(late: &Late) -> usize {
    match late {
        Late::Unknown => 50,
        Late::InTime { .. } => 51,
        Late::Late { .. } => 52,
    }
}

fn of_delay(delay: &GeneratorDelay) -> usize {
    match delay {
        GeneratorDelay::Unknown => 98,
        GeneratorDelay::Stamped { .. } => 96,
        GeneratorDelay::Busy { .. } => 97,
    }
}

fn of_clock(clock: &Clock) -> usize {
    match clock {
        Clock::Unread => 12,
        Clock::Steady { .. } => 13,
        Clock::Moved { .. } => 14,
        Clock::AboveHighest { .. } => 15,
        Clock::BelowBase { .. } => 16,
    }
}

fn of_idle(idle: &IdleAtPeak) -> usize {
    match idle {
        IdleAtPeak::Unknown => 44,
        IdleAtPeak::Busy { .. } => 45,
        IdleAtPeak::Waiting { .. } => 46,
        IdleAtPeak::Bound { .. } => 47,
        IdleAtPeak::Held { .. } => 107,
    }
}

fn of_cores(same: &SameCores) -> usize {
    match same {
        SameCores::Unknown => 65,
        SameCores::Apart { .. } => 66,
        SameCores::Shared { .. } | SameCores::Siblings(_) => 67,
        SameCores::Idle { .. } => 108,
    }
}

fn of_quota(quota: &ServerQuota) -> usize {
    match quota {
        ServerQuota::Unread { .. } => 103,
        ServerQuota::None { .. } => 104,
        ServerQuota::Spare(_) => 105,
        ServerQuota::Stopped { .. } => 106,
    }
}

fn of_heat(heat: &Heat) -> usize {
    match heat {
        Heat::Unread => 41,
        Heat::Steady { .. } => 42,
        Heat::Fell { .. } => 43,
    }
}

fn of_recorded(recorded: &Recorded) -> usize {
    match recorded {
        Recorded::ReadsUnknown(_) | Recorded::SyncsUnknown(_) | Recorded::HugePagesUnknown(_) => 77,
        Recorded::PageCache { .. } => 78,
        Recorded::Flush { .. } => 79,
        Recorded::CacheUnknown { .. } => 80,
        Recorded::SmallArray { .. } | Recorded::FewLines { .. } => 81,
        Recorded::HugePages { .. } => 82,
        Recorded::CopiesApart { .. }
        | Recorded::Spinning { .. }
        | Recorded::StoreSpins { .. }
        | Recorded::StillCompiling { .. }
        | Recorded::StillChanging { .. } => 83,
    }
}

fn of_read(read: &LogsRead) -> usize {
    match read {
        LogsRead::FileShared { .. } | LogsRead::FormatShort { .. } => 84,
        LogsRead::NoTimes(_) | LogsRead::NoMean(_) => 85,
        LogsRead::TimeUnit(
            TimeUnit::TooFast { .. } | TimeUnit::TooSlow { .. } | TimeUnit::WholeThousands { .. },
        ) => 86,
        LogsRead::TimeLimit { .. } => 87,
        LogsRead::SummedGroups { .. } | LogsRead::LargestGroups { .. } | LogsRead::TooLong => 88,
        LogsRead::NoSuchValue { .. } => 110,
    }
}

fn of_compared(compared: &LogsCompared) -> usize {
    match compared {
        LogsCompared::Means { .. } => 89,
        LogsCompared::RequestCounts { .. } | LogsCompared::RequestRates { .. } => 90,
        LogsCompared::SizeMix { .. } | LogsCompared::StatusMix { .. } | LogsCompared::Failures { .. } => 91,
        LogsCompared::Cacheability { .. } => 92,
        LogsCompared::Hours { .. } | LogsCompared::Bots { .. } => 93,
        LogsCompared::Unshared { .. } | LogsCompared::Mix { .. } | LogsCompared::Halves { .. } => 94,
        LogsCompared::Confounded { .. } | LogsCompared::ConfoundedAlone { .. } => 95,
        LogsCompared::Cut { .. } | LogsCompared::Clocks { .. } => 55,
        LogsCompared::NoTelemetry(_)
        | LogsCompared::PartOfTelemetry { .. }
        | LogsCompared::PageCache { .. }
        | LogsCompared::Slowest { .. } => 54,
    }
}
