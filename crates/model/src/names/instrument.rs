//! Names of the instruments that others than themselves ask for: their cards, rules, sections of the report and proofs.
//!
//! Each is stored with the figures of its instrument, so a name that changes here breaks older stores.

pub const CMD: &str = "cmd";
pub const CONDITIONS: &str = "conditions";
pub const COUNTERS: &str = "counters";
pub const CPU_USE: &str = "cpu-use";
pub const CRC32C: &str = "crc32c";
pub const DISK_READ: &str = "disk-read";
pub const DISK_SEQ: &str = "disk-seq";
pub const DISK_USE: &str = "disk-use";
/// Jobs on a Hadoop cluster.
pub const HADOOP_DFSIO: &str = "hadoop-dfsio";
pub const HADOOP_LOGS: &str = "hadoop-logs";
pub const HADOOP_PI: &str = "hadoop-pi";
pub const HADOOP_TERAGEN: &str = "hadoop-teragen";
pub const HADOOP_TERASORT: &str = "hadoop-terasort";
pub const HADOOP_TERAVALIDATE: &str = "hadoop-teravalidate";
pub const INDEX: &str = "index";
pub const JITTER: &str = "jitter";
pub const KV_BASIC: &str = "kv-basic";
pub const KV_LOAD: &str = "kv-load";
pub const KV_MISS: &str = "kv-miss";
pub const MAC: &str = "mac";
pub const MEM_BANDWIDTH: &str = "mem-bandwidth";
pub const MEM_LATENCY: &str = "mem-latency";
pub const MEMORY_USE: &str = "memory-use";
pub const NET_BANDWIDTH: &str = "net-bandwidth";
pub const NET_CONNECT: &str = "net-connect";
pub const NET_PACKETS: &str = "net-packets";
pub const NET_USE: &str = "net-use";
/// Power at levels of a load, of work of our own, and of the user's command.
pub const CMD_POWER: &str = "cmd-power";
pub const KV_POWER: &str = "kv-power";
pub const POWER: &str = "power";
pub const WEB_POWER: &str = "web-power";
pub const RABIN: &str = "rabin";
pub const SCHEDULER: &str = "scheduler";
pub const SCIMARK_WARMUP: &str = "scimark-warmup";
pub const CLOCK: &str = "clock";
pub const SERVER_USE: &str = "server-use";
pub const TAKE_CLOCK: &str = "take-clock";
pub const TIMER: &str = "timer";
pub const WATTS: &str = "watts";
pub const WEB: &str = "web";
/// Published figures of key-value stores that no instrument here measures.
pub const KV_PUBLISHED: &str = "kv";
/// The end of the names of rates that clusterperf does not have: requests per second of one client.
pub const KV_RATE: &str = ".rate";
