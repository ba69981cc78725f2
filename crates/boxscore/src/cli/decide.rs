//! `boxscore decide`: arguments of a decision.

use std::path::PathBuf;

const AFTER: &str = "\
Examples:
  boxscore decide --need 'web 20000/s p99<20ms' --from box-a box-b --price box-a=0.19/h --price box-b=0.11/h
  boxscore decide --need 'kv 200k/s p99<1ms' --need 'memory 2TiB' --from 'rack1-*' --prices prices.csv --kwh 0.30
  boxscore decide --need 'logs access.log x200 bot=no p99<50ms' --growth 5%/month --for 3y --from box-a box-b
                                                 200 times the requests of people in the log's busiest quarter hour
  boxscore decide --need 'web 18000/s' --from atom-330 core2-duo --rack-watts 800
                                                 published figures: points, without intervals
  boxscore decide plan.toml                      the same keys in a file, kept beside the study
  boxscore decide plan.toml --json > decided.json; boxscore decide plan.toml --fail-on changed --against decided.json
                                                 each night: exit 3 when the answer is another one
Needs: web 20000/s p99<20ms errors<0.1%, kv 200k/s p99<1ms replicas=2, cmd 'make -j8' 400/h, MIX.json 3000/s p99<50ms,
logs FILE (the log's demand; x200 for 200 times as much; bot=no and other conditions of `logs --where`), memory 2TiB,
disk 40TB, INSTRUMENT RATE. What has no figure of it is left out, with the command that would measure it.
Sides: as in compare; patterns (`rack1-*`) too. A run of several machines or arms has each of them as a candidate.
Prices, watts and rack units are those of notes, of --prices, or typed; none is ever invented. Amounts may be ranges:
--kwh 0.20..0.40.
Exit codes: 0 decided, 1 nothing can be decided, 2 usage, 3 the answer changed.";

#[derive(Clone, Debug, Default, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct DecideArgs {
    /// A file with these options as keys (docs/guide/decide.md); what is typed goes before it
    #[arg(value_name = "FILE.toml")]
    pub file: Option<PathBuf>,
    /// Work with its demand and conditions; several are met at once
    #[arg(long, value_name = "NEED", num_args = 1.., required_unless_present = "file")]
    pub need: Vec<String>,
    /// Machines, runs, labels, patterns, published machines, arms of a study
    #[arg(long, value_name = "SIDE", num_args = 1.., required_unless_present = "file")]
    pub from: Vec<String>,
    /// Share of a box's capacity that is used at the demand, or `knee`: up to that of its own curve [default: 70%]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub utilisation: Option<String>,
    /// Boxes that may fail: n+1, n+2, zone (of 3), or `4 zones` [default: none]
    #[arg(long, value_name = "SPARE")]
    pub spare: Option<String>,
    /// How long the boxes live [default: that of --for, else 4y]
    #[arg(long, value_name = "DURATION")]
    pub life: Option<String>,
    /// Price of a kWh; without it energy is not in the cost
    #[arg(long, value_name = "MONEY", allow_hyphen_values = true)]
    pub kwh: Option<String>,
    /// Power of the whole site for each watt of the boxes [default: 1]
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true)]
    pub pue: Option<String>,
    /// Price of a rack unit: 20/month
    #[arg(long, value_name = "MONEY", allow_hyphen_values = true)]
    pub per_u: Option<String>,
    /// Watts that one rack has
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    pub rack_watts: Option<String>,
    /// Rack units that one rack has [default: 42]
    #[arg(long, value_name = "U", allow_hyphen_values = true)]
    pub rack_units: Option<String>,
    /// A circuit that feeds boxes: 230V/16A, of which 80 % is used, or the watts that it carries
    #[arg(long, value_name = "VOLT/AMPERE")]
    pub circuit: Option<String>,
    /// Price of a circuit: 100/month
    #[arg(long, value_name = "MONEY", allow_hyphen_values = true)]
    pub per_circuit: Option<String>,
    /// Loss of boxes that work together: contention and coherence, 0.03:0.001, or sides that were measured on several
    /// boxes, 1=web-1 2=web-2 4=web-4 [default: none, assumed]
    #[arg(long, value_name = "LOSS|BOXES=SIDE", num_args = 1..)]
    pub scaling: Vec<String>,
    /// Currency of all money [default: that of the prices]
    #[arg(long, value_name = "CODE")]
    pub currency: Option<String>,
    /// The money that there is: the boxes that it buys, and which candidates fit
    #[arg(long, value_name = "MONEY", allow_hyphen_values = true)]
    pub budget: Option<String>,
    /// An amount of money, and the boxes that it buys of each candidate, in every need's unit
    #[arg(long, value_name = "MONEY", allow_hyphen_values = true)]
    pub equal_price: Option<String>,
    /// Growth of every demand: 5%/month [default: none]
    #[arg(long, value_name = "SHARE/PERIOD", allow_hyphen_values = true)]
    pub growth: Option<String>,
    /// For how long it grows [default: the life]
    #[arg(long = "for", value_name = "DURATION")]
    pub span: Option<String>,
    /// CSV with the columns name, price, currency, watts, rack_units, source, date
    #[arg(long, value_name = "FILE.csv")]
    pub prices: Option<PathBuf>,
    /// 0.19/h, 35/month, 1200/y, 429 bought, or a range such as 2000..2500; of one: NAME=0.19/h
    #[arg(long, value_name = "[NAME=]PRICE", allow_hyphen_values = true)]
    pub price: Vec<String>,
    /// Watts of a box at its load; of one: NAME=40
    #[arg(long, value_name = "[NAME=]W", allow_hyphen_values = true)]
    pub watts: Vec<String>,
    /// Probability with which the boxes are enough [default: 90%]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub sure: Option<String>,
    /// Use figures that this rule doubts or refuses; repeatable
    #[arg(long, value_name = "RULE")]
    pub accept: Vec<String>,
    /// Dated prices, watts and rack units (--prices) and power curves that are older than this are called stale
    /// [default: 1y]
    #[arg(long, value_name = "DURATION")]
    pub stale: Option<String>,
    /// Draws behind each interval [default: 10000]
    #[arg(long, value_name = "N")]
    pub draws: Option<String>,
    /// Seed of the draws [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<String>,
    /// Exit 3 when the chosen boxes or their number differ from a stored decision
    #[arg(long, value_name = "WHAT", requires = "against")]
    pub fail_on: Option<FailOn>,
    /// The stored decision: what `decide --json` printed
    #[arg(long, value_name = "FILE.json")]
    pub against: Option<PathBuf>,
    /// Every candidate, need, note and input
    #[arg(long, short = 'v')]
    pub all: bool,
    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Where the HTML page is written [default: beside the store]
    #[arg(long, value_name = "FILE", conflicts_with = "no_report")]
    pub out: Option<PathBuf>,
    /// Write no HTML page
    #[arg(long)]
    pub no_report: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    #[default]
    Text,
    Csv,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FailOn {
    Changed,
}
