//! `boxscore run`: plans, measures in the agent child, stores take by take, then shows the box score.

use std::path::PathBuf;

use crate::cli::Global;
use crate::error::CliError;
use crate::present::Layout;

const AFTER: &str = "\
Examples:
  boxscore run --quick                       the headline set, in at most 2 minutes
  boxscore run cpu                           one family, every variant
  boxscore run crc32c --set impl=chain       one instrument with a fixed parameter
  boxscore run mem-bandwidth --arm store=temporal --arm store=streaming
                                             an interleaved study of two arms, with verdicts
  boxscore run --via big='ssh big ./boxscore' --via small='ssh small ./boxscore'
                                             an interleaved study of two machines
  boxscore run web --from 'ssh gen1 ./boxscore' --from 'ssh gen2 ./boxscore' --set listen=10.0.0.5
                                             load from other hosts, merged exactly
  boxscore run --cmd 'make -j8' --prepare 'make clean' --takes 10
                                             your own work as the instrument
  boxscore run web --quick                   loads of a web server, and what holds it back, in at most 3 minutes
  boxscore run web --mix mix.json            the same with the sizes, popularity and connections of your own log
  boxscore run web --slo p99=10ms            the largest load that holds it
  boxscore run web --arm mpm=prefork --arm mpm=event
                                             an interleaved study of two setups of a server
  boxscore run net --quick                   the network stack of this machine, over the loopback
  boxscore run net --to 10.0.0.2 --test tcp-rtt
                                             round trips to where `boxscore peer` listens
  boxscore run net --to 10.0.0.2 --far 'ssh box2 ./boxscore'
                                             the same to a far end that this run starts and ends
  boxscore run kv --quick                    clusterperf's basic on Redis (with 0 and 2 replicas) and memcached
  boxscore run kv --kv 10.0.0.3:6379 --test basic --definition era1
                                             a store of yours, as the studies until 2014 measured theirs
  boxscore run kv --kv ramcloud:tcp:host=10.0.0.3,port=12246 --set ramcloud-library=/opt/ramcloud/libramcloud.so
                                             a RAMCloud of yours, through its own client library
  boxscore run runtime --lang c,java --arm jvm=hotspot --arm jvm=zero
                                             SciMark2 in C and under two virtual machines: how ready is each here
  boxscore run runtime --lang c --arm 'cc=gcc -O2' --arm 'cc=gcc -O3 -march=native'
                                             compilers, flags or (bits=32, bits=64) widths against each other
  boxscore run telemetry --for 24h           record, and load nothing
  BOXSCORE_KV_PASSWORD=... boxscore run kv --kv 10.0.0.3:6379
                                             a store of yours with a password (and BOXSCORE_KV_USER); it is not stored
What is stored: every take, at once, in the store; `boxscore resume` continues a run that was cut.";

#[derive(Clone, Debug, Default, clap::Args)]
#[command(after_long_help = AFTER)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct Args {
    /// Instruments or families (see `boxscore list`); none: the headline set
    #[arg(value_name = "NAME|FAMILY")]
    pub names: Vec<String>,
    /// The headline set in at most 2 minutes, or the named instruments in at most 3
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Everything: every size, thread count and sweep; a study of --arm has fewer variants without it
    #[arg(long)]
    pub full: bool,
    /// Exactly N measured takes of each figure
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub takes: Option<u32>,
    /// End the run after this long, at the end of a take (90s, 10m, 24h) [default: 2 minutes with --quick, no end with
    /// --full, --cmd or --takes, else 10 minutes]
    #[arg(long = "for", value_name = "DURATION")]
    pub span: Option<String>,
    /// Stop a figure early when its interval is within this of the median
    #[arg(long, value_name = "PERCENT")]
    pub target: Option<String>,
    /// Fix a parameter (k=v, or instrument.k=v; k=v|w where it is one of some words); repeatable
    #[arg(long = "set", value_name = "K=V")]
    pub sets: Vec<String>,
    /// One arm of a study: parameters laid over every instrument that has them; repeat for each arm
    #[arg(long = "arm", value_name = "K=V,...")]
    pub arms: Vec<String>,
    /// Use only these CPUs (0-3,8)
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
    /// Repeat a plan: a JSON file, or a run of the store
    #[arg(long, value_name = "FILE|RUN", conflicts_with_all = [
        "names", "quick", "full", "takes", "span", "target", "sets", "arms", "cpus", "seed", "via", "from", "far",
        "dir", "cmd", "url", "slo", "mix", "to", "tests", "token", "kv", "replicas", "size", "clients", "servers",
        "definition", "lang", "kernel",
    ])]
    pub plan: Option<String>,
    /// Measure nothing: draw every value from this planted world
    #[arg(long, value_name = "FILE")]
    pub fake: Option<PathBuf>,
    /// Seed of the order of takes [default: drawn]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Label that `compare` and `show` accept
    #[arg(long, value_name = "LABEL")]
    pub label: Option<String>,
    /// What the machine costs: 0.192/h, or 429 bought
    #[arg(long, value_name = "PRICE")]
    pub price: Option<String>,
    /// Currency of the price
    #[arg(long, value_name = "CODE", requires = "price", default_value = "USD")]
    pub currency: String,
    /// What the machine draws, in watts
    #[arg(long, value_name = "W")]
    pub watts: Option<f64>,
    /// A machine of the study: the command that starts boxscore there; repeatable
    #[arg(long = "via", value_name = "NAME=COMMAND")]
    pub via: Vec<String>,
    /// A generator of load: the command that starts boxscore there; repeatable. Those of the machine send nothing then
    #[arg(long = "from", value_name = "[NAME=]COMMAND")]
    pub from: Vec<String>,
    /// Directory for files of disk instruments [default: the store's]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Your own work as an instrument: a shell command
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["names", "quick", "full"])]
    pub cmd: Option<String>,
    /// A number read from the command's output, NAME='regex with one group'; NAME:higher=REGEX or NAME:lower=REGEX
    /// says which way is good, so that compare can judge it; repeatable
    #[arg(long = "metric", value_name = "NAME=REGEX", requires = "cmd")]
    pub metrics: Vec<String>,
    /// Run this before each take of --cmd, untimed
    #[arg(long, value_name = "COMMAND", requires = "cmd")]
    pub prepare: Option<String>,
    /// Say a line on stderr for each take, once it is stored
    #[arg(long, hide = true)]
    pub show_takes: bool,
    /// Load this web server instead of one that is started here (family web)
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Repeat the mix of requests of a log (boxscore logs --profile-out): our server serves files that stand for it,
    /// and --set arrivals=mix has requests arrive as they did (family web)
    #[arg(long, value_name = "FILE")]
    pub mix: Option<PathBuf>,
    /// Search the largest load that keeps this percentile of response times within a limit (family web)
    #[arg(long, value_name = "PERCENTILE=TIME")]
    pub slo: Option<String>,
    /// Sample the server with perf in a load of its own before the takes: flame graph and top symbols in the report
    /// (family web)
    #[arg(long)]
    pub profile: bool,
    /// Far end of the tests of the network: HOST or HOST:PORT where `boxscore peer` or --far listens, or loopback
    /// (family net)
    #[arg(long, value_name = "HOST[:PORT]|loopback")]
    pub to: Option<String>,
    /// Only this test of the network or of key-value stores; repeatable (families net and kv)
    #[arg(long = "test", value_name = "TEST", value_enum)]
    pub tests: Vec<Test>,
    /// Start the far end of the tests of the network: the command that starts boxscore there; it listens at the address
    /// of --to, on its port or a free one, until the run ends (family net)
    #[arg(long, value_name = "[NAME=]COMMAND", conflicts_with_all = ["token", "from"])]
    pub far: Option<String>,
    /// File with the token that the far end has too (family net)
    #[arg(long, value_name = "FILE")]
    pub token: Option<PathBuf>,
    /// The store: redis, valkey, memcached or ramcloud, started here, or one that runs (HOST:PORT, ramcloud:LOCATOR)
    /// [default: what is installed] (family kv)
    #[arg(long, value_name = "STORE|HOST:PORT")]
    pub kv: Option<String>,
    /// Replicas that must have each write (family kv)
    #[arg(long, value_name = "N")]
    pub replicas: Option<String>,
    /// Bytes of an object's value (family kv), or small or large data (family runtime)
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Clients at most, in tests that have several (family kv)
    #[arg(long, value_name = "N")]
    pub clients: Option<String>,
    /// Stores that are started, in tests that have several (family kv)
    #[arg(long, value_name = "N")]
    pub servers: Option<String>,
    /// Which of the three definitions that clusterperf's basic had: era1, era2, era3 (family kv)
    #[arg(long, value_name = "ERA")]
    pub definition: Option<String>,
    /// Languages, with commas between them [default: all] (family runtime)
    #[arg(long, value_name = "LANG,...")]
    pub lang: Option<String>,
    /// Kernels, with commas between them: fft, sor, monte-carlo, sparse, lu [default: all] (family runtime)
    #[arg(long, value_name = "KERNEL,...")]
    pub kernel: Option<String>,
    /// How to print the figures
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text", conflicts_with = "json")]
    pub format: Layout,
    /// Write no HTML report
    #[arg(long)]
    pub no_report: bool,
}

/// Tests by the names that other tools have for them: of the network, and clusterperf's of key-value stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Test {
    TcpRtt,
    UdpRtt,
    Bandwidth,
    ConnectionRate,
    PacketRate,
    Ping,
    /// ib_send_lat and ib_write_lat of perftest, where there are RDMA devices
    Rdma,
    Basic,
    #[value(name = "readNotFound")]
    ReadNotFound,
    #[value(name = "readDist")]
    ReadDist,
    #[value(name = "readDistRandom")]
    ReadDistRandom,
    #[value(name = "writeDistRandom")]
    WriteDistRandom,
    #[value(name = "readLoaded")]
    ReadLoaded,
    #[value(name = "readThroughput")]
    ReadThroughput,
    #[value(name = "writeThroughput")]
    WriteThroughput,
    #[value(name = "multiRead_oneMaster")]
    MultiReadOneMaster,
    #[value(name = "netBandwidth")]
    NetBandwidth,
    Split,
}

pub fn run(args: &Args, global: &Global) -> Result<u8, CliError> {
    crate::study::run(args, global)
}
