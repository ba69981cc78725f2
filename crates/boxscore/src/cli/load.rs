//! `boxscore load`: one load on a web server or key-value store that runs already, live while it lasts, on one
//! screen at its end.

use model::plan::Via;

use crate::cli::costs::CostArgs;
use crate::cli::lab::on::OnArgs;
use crate::cli::targets::TargetArgs;
use crate::study::quiet::WaitIdle;

const AFTER: &str = "\
Examples:
  boxscore load http://127.0.0.1:8080/            50 connections for 10 s, as fast as the server answers
  boxscore load URL -c 400 -t 2 -d 30s            400 connections on 2 generator threads
  boxscore load URL -n 100000                     exactly 100,000 requests
  boxscore load URL -r 5000                       5,000 requests a second, whatever the server does: its stalls show
  boxscore load URL -r 5000 --poisson             the same, arriving at random as users do
  boxscore load URL --ramp 100:5000 -d 60s        when does it bend?
  boxscore load URL --replay access.log --speed 2x
                                                  what a log says was asked, twice as fast
  boxscore load URL URL --weight 9 --weight 1     nine of the first for one of the second
  boxscore load URL -b @order.json -H 'Content-Type: application/json'
                                                  POST the file
  boxscore load redis://127.0.0.1:6379 -c 50 --keys 1M --popularity zipf --ratio 1:10
                                                  reads and writes of keys of our own, deleted afterwards
  boxscore load memcached://127.0.0.1 -r 5000 --poisson --value-size 64-4KiB
                                                  values of every size between, at a rate
  BOXSCORE_KV_PASSWORD=... boxscore load redis://127.0.0.1
                                                  one with a password (and BOXSCORE_KV_USER, or redis://USER:PASSWORD@...)
  boxscore load --target a=URL --target b=URL -r 5000
                                                  which of two servers is faster? in turns, with verdicts
  boxscore load --target r=redis://127.0.0.1 --target m=memcached://127.0.0.1
                                                  the same of two stores
  boxscore load URL --on @gens                    sent by nodes of lab.toml, a thread each, merged exactly
  boxscore load URL --ceilings                    as a share of what this machine can do, which is measured first
  boxscore load URL --json | jq .response_time    the document of this load alone
  boxscore compare latest~1 latest                this load beside the one before
Response time counts from when a request was due, service time from when it was sent. Without --rate both are the same:
each connection sends when it has its answer, so that a stall delays what would have shown it.
The line `bottleneck` says what held the server back, by what was read of cores, threads, control groups, disks, links
and the generator; below it what speaks for and against that, and what to try (docs/guide/web.md has the order).
Numbers may be written as 1k or 1.5M, times as 10 (seconds), 2.5s, 500ms or 1m30s.
The load goes where the URL says, at once: aim it only at servers that are yours to load.
Ctrl-C ends the load early and keeps its result; again, it ends without one.
Exit codes: 0 all answers good, 1 none good, 2 usage, 3 some requests failed, 130 ended by Ctrl-C.";

#[derive(Clone, Debug, Default, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct LoadArgs {
    /// The URL to load (http://, https://, redis:// or memcached://); several of one web server are asked for in turn
    /// at random
    #[arg(value_name = "URL", required_unless_present = "targets", conflicts_with = "targets", num_args = 1..)]
    pub urls: Vec<String>,
    #[command(flatten)]
    pub on: TargetArgs,
    /// With --target: takes of each [default: 10, of 2 s each]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub takes: Option<u32>,
    /// How often a URL is asked for beside the others; once for each URL, in their order
    #[arg(long = "weight", value_name = "W", conflicts_with = "targets")]
    pub weights: Vec<String>,
    /// Connections of all threads together [default: 50, with --requests at most so many]
    #[arg(short = 'c', long, value_name = "N")]
    pub connections: Option<String>,
    /// Generator threads, one a CPU [default: half of the CPUs, at most 4 and at most the connections]
    #[arg(short = 't', long, value_name = "N")]
    pub threads: Option<String>,
    /// How long requests are sent: 10 (seconds), 2.5s, 500ms, 1m30s [default: 10s]
    #[arg(short = 'd', long, short_alias = 'z', value_name = "TIME", conflicts_with = "requests")]
    pub duration: Option<String>,
    /// Send exactly so many requests, however long it takes
    #[arg(short = 'n', long, value_name = "N")]
    pub requests: Option<String>,
    /// Requests a second, sent when they are due, not when the server has answered
    #[arg(short = 'r', long, short_aliases = ['q', 'R'], value_name = "RATE")]
    pub rate: Option<String>,
    /// Requests arrive at random, as independent users do, at the mean --rate
    #[arg(long, requires = "rate")]
    pub poisson: bool,
    /// A rate that rises (or falls) in a straight line over --duration, in requests a second
    #[arg(long, value_name = "FROM:TO", conflicts_with_all = ["rate", "requests"], allow_hyphen_values = true)]
    pub ramp: Option<String>,
    /// Requests of a file at its times: an access log, or lines of `seconds /path`; or a mix (boxscore logs
    /// --profile-out), whose requests are drawn for --duration
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ramp", "weights"])]
    pub replay: Option<String>,
    /// Replay so many times as fast as it was: 2x, 0.5x
    #[arg(long, value_name = "FACTOR", requires = "replay", conflicts_with = "rate")]
    pub speed: Option<String>,
    /// A header, 'Name: value'; repeatable
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    pub headers: Vec<String>,
    /// The method [default: GET, with --body POST]
    #[arg(short = 'm', long, short_alias = 'X', value_name = "METHOD")]
    pub method: Option<String>,
    /// The body of each request, or @FILE that holds it
    #[arg(short = 'b', long, value_name = "TEXT|@FILE")]
    pub body: Option<String>,
    /// A connection of its own for each request
    #[arg(long, alias = "disable-keepalive")]
    pub no_keepalive: bool,
    /// Of a store: different keys, all written before the load and deleted after it [default: 100000]
    #[arg(long, value_name = "N", aliases = ["key-maximum", "keyspace"])]
    pub keys: Option<String>,
    /// Of a store: bytes of a key [default: 30]
    #[arg(long, value_name = "SIZE")]
    pub key_size: Option<String>,
    /// Of a store: bytes of a value, such as 100, 64-1KiB or 100*9,4KiB*1 (sizes and weights) [default: 100]
    #[arg(long, value_name = "SIZE", alias = "data-size", allow_hyphen_values = true)]
    pub value_size: Option<String>,
    /// Of a store: how often keys are asked for: uniform, zipf (theta 0.99) or zipf:THETA [default: uniform]
    #[arg(long, value_name = "NAME")]
    pub popularity: Option<String>,
    /// Of a store: writes to reads [default: 1:10]
    #[arg(long, value_name = "W:R", allow_hyphen_values = true)]
    pub ratio: Option<String>,
    /// CPUs for the generator threads (0-3,8) [default: one of each of the last cores]
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
    /// When a request without a whole answer has failed
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub timeout: String,
    /// Take any certificate
    #[arg(long)]
    pub insecure: bool,
    /// Measure first what this machine can do, as far as no stored run says it: the load is told as a share of that
    #[arg(long, conflicts_with = "no_store")]
    pub ceilings: bool,
    #[command(flatten)]
    pub costs: CostArgs,
    #[command(flatten)]
    pub wait: WaitIdle,
    /// Label that `compare` and `show` accept
    #[arg(long, value_name = "LABEL", conflicts_with = "no_store")]
    pub label: Option<String>,
    /// Store nothing
    #[arg(long)]
    pub no_store: bool,
    /// Nodes send the load, a thread each: those of --on
    #[arg(skip)]
    pub generators: Vec<Via>,
    #[command(flatten)]
    pub lab: OnArgs,
}
