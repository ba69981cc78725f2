//! Metrics of telemetry: read for each second of a run.

use crate::{Bytes, BytesPerSec, Celsius, Count, Hertz, Metric, PerSec, Ratio, Watts};

pub const USER: Metric<Ratio> = Metric::neither("user", "Share of CPU time in programs at normal priority");
pub const NICE: Metric<Ratio> = Metric::neither("nice", "Share of CPU time in programs at lowered priority");
pub const SYSTEM: Metric<Ratio> =
    Metric::neither("system", "Share of CPU time in the kernel on behalf of programs");
pub const IRQ: Metric<Ratio> = Metric::neither("irq", "Share of CPU time in interrupt handlers");
pub const SOFTIRQ: Metric<Ratio> =
    Metric::neither("softirq", "Share of CPU time in deferred interrupt work, such as the network's");
pub const STEAL: Metric<Ratio> =
    Metric::neither("steal", "Share of CPU time that the hypervisor gave to others");
pub const IOWAIT: Metric<Ratio> =
    Metric::neither("iowait", "Share of CPU time idle while some thread waited for a disk");
pub const IDLE: Metric<Ratio> = Metric::neither("idle", "Share of CPU time idle, without waiting for a disk");
pub const READS: Metric<PerSec> = Metric::neither("reads", "Read requests finished");
pub const WRITES: Metric<PerSec> = Metric::neither("writes", "Write requests finished");
pub const READ: Metric<BytesPerSec> = Metric::neither("read", "Bytes read");
pub const WRITTEN: Metric<BytesPerSec> = Metric::neither("written", "Bytes written");
pub const BUSY: Metric<Ratio> =
    Metric::neither("busy", "Share of the time with at least one request under way");
pub const CLOCK: Metric<Hertz> = Metric::neither(
    "clock",
    "Clock as the kernel reports it (scaling_cur_freq): of one CPU, or the mean of those read",
);
pub const AVAILABLE: Metric<Bytes> =
    Metric::neither("available", "Memory that programs could get without swapping (MemAvailable)").binary();
pub const CACHED: Metric<Bytes> = Metric::neither("cached", "Page cache and buffers").binary();
pub const DIRTY: Metric<Bytes> =
    Metric::neither("dirty", "Written by programs, not yet by the disk (dirty and under write-back)")
        .binary();
pub const SWAP: Metric<Bytes> = Metric::neither("swap-used", "Memory that was moved to swap").binary();
pub const RECEIVED: Metric<BytesPerSec> = Metric::neither("received", "Bytes received");
pub const SENT: Metric<BytesPerSec> = Metric::neither("sent", "Bytes sent");
pub const IN: Metric<PerSec> = Metric::neither("packets-in", "Packets received");
pub const OUT: Metric<PerSec> = Metric::neither("packets-out", "Packets sent");
pub const DROPPED: Metric<PerSec> = Metric::neither("dropped", "Packets dropped, received and sent");
pub const FAULTS: Metric<PerSec> = Metric::neither("faults", "Page faults, minor and major");
pub const MAJOR: Metric<PerSec> = Metric::neither("major-faults", "Page faults that had to read a disk");
pub const PAGING_IN: Metric<PerSec> = Metric::neither("swap-in", "Pages read from swap");
pub const PAGING_OUT: Metric<PerSec> = Metric::neither("swap-out", "Pages written to swap");
pub const SOME: Metric<Ratio> =
    Metric::neither("some", "Share of the time in which at least one thread waited for the resource");
pub const FULL: Metric<Ratio> =
    Metric::neither("full", "Share of the time in which all threads that could run waited for it");
pub const RUNNING: Metric<Count> = Metric::neither("run-queue", "Threads that run or want to, at the tick");
pub const BLOCKED: Metric<Count> = Metric::neither("blocked", "Threads that wait for a disk, at the tick");
pub const LOAD: Metric<Count> = Metric::neither("load-1min", "The kernel's load average of one minute");
pub const SWITCHES: Metric<PerSec> = Metric::neither("switches", "Context switches of all CPUs");
pub const INTERRUPTS: Metric<PerSec> = Metric::neither("interrupts", "Interrupts served by all CPUs");
pub const FORKS: Metric<PerSec> = Metric::neither("forks", "Processes and threads created");
pub const TEMPERATURE: Metric<Celsius> = Metric::neither("temperature", "What one sensor reads");
pub const POWER: Metric<Watts> =
    Metric::neither("power", "Power of one RAPL zone; the whole machine uses more, often twice as much");
pub const WALL_POWER: Metric<Watts> =
    Metric::neither("wall-power", "Power of the whole node, as its BMC reads it");
pub const SERVER_CORES: Metric<Count> = Metric::neither(
    "server-cores",
    "CPU seconds a second of the processes that listen at the target's port, and of their children",
)
.per("core");
