//! `boxscore detect`: what it costs to tell a difference, by what is stored; nothing is measured.

use model::data::RunData;
use model::shell::word;
use stats::Margin;
use store::{Want, Which};

use crate::cli::Global;
use crate::error::CliError;
use crate::lookup::is_wanted;
use crate::lookup::resolve::Resolver;
use crate::out;
use crate::plan::{self, check_names};

const AFTER: &str = "\
Examples:
  boxscore detect 10              what a difference of 10 % costs, for each headline figure
  boxscore detect 3 crc32c        of one instrument
  boxscore detect 5 --machine box2
  boxscore detect 2 --margin 1%   beyond a smaller margin, as `compare --margin 1%` judges
Noise and times are those of the stored runs of the machine; `boxscore aa` makes such runs.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER, override_usage = "boxscore detect [OPTIONS] <PERCENT> [NAME|FAMILY]...")]
pub struct DetectArgs {
    /// The difference to be told, in percent
    #[arg(value_name = "PERCENT", allow_negative_numbers = true)]
    pub percent: Option<String>,
    /// Instruments or families (see `boxscore list`); none: all that are stored
    #[arg(value_name = "NAME|FAMILY")]
    pub names: Vec<String>,
    /// Show every figure, not only a screen of them
    #[arg(long)]
    pub all: bool,
    /// Differences within it are ties [default: 5% between machines, 2% between arms]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub margin: Option<String>,
    /// The machine whose stored runs speak [default: this one]
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
}

pub fn run(args: &DetectArgs, global: &Global) -> Result<u8, CliError> {
    let percent = percent(args)?;
    let difference = percent / 100.0;
    if !difference.is_finite() || difference <= 0.0 || difference > 100.0 {
        return Err(CliError::usage(format!("`{percent}` is no difference in percent"))
            .hint("for example `boxscore detect 5`: above 0, at most 10000"));
    }
    let asked = args.margin.as_deref().map(|text| plan::share("--margin", text)).transpose()?;
    let asked = asked.and_then(Margin::new);
    let (machines, arms) = (asked.unwrap_or(Margin::MACHINES), asked.unwrap_or(Margin::ARMS));
    if difference <= arms.share() {
        return Err(within(percent, arms));
    }
    check_names(&args.names)?;
    let mut resolver = Resolver::new(global)?;
    let ids = match &args.machine {
        Some(name) => resolver.alike_ids(name)?,
        None => resolver.alike_ids(".").map_err(|error| elsewhere(error, percent, args, &resolver))?,
    };
    let store = resolver.store()?;
    let want = Want { series: Which::All, telemetry: false, rest: true };
    let runs: Vec<RunData> =
        ids.iter().map(|id| store.load_with(id, want).map_err(CliError::from)).collect::<Result<_, _>>()?;
    let wanted = |instrument: &str| is_wanted(instrument, &args.names);
    let question = verdict::detect::Question { difference, machines, arms, wanted: &wanted };
    let document = verdict::detect(&runs, &question, instruments::cards());
    if document.figures.is_empty() {
        return Err(CliError::data("no stored run of this machine has such a figure").hint(
            "measure once, for example with `boxscore run --quick`; `boxscore history` lists what is stored",
        ));
    }
    if global.json {
        out::json(&document);
    } else {
        out::print(&report::text::detect::table(&document, args.all, out::look()));
    }
    Ok(0)
}

/// The error of a difference that no margin in use lets be told.
fn within(percent: f64, margin: Margin) -> CliError {
    let smaller = percent / 2.0;
    CliError::usage(format!(
        "a difference of {percent} % is within the margin of {}: it is a tie however often it is measured",
        model::format::percent(margin.share())
    ))
    .hint(format!(
        "ask with a smaller margin, `boxscore detect {percent} --margin {smaller}%`, and judge with it, `boxscore compare \
         --margin {smaller}%`"
    ))
}

/// The difference that was asked for, in percent; `5` and `5%` are the same.
fn percent(args: &DetectArgs) -> Result<f64, CliError> {
    let number = |text: &str| text.trim_end_matches('%').trim().parse::<f64>().ok();
    let Some(first) = &args.percent else {
        return Err(CliError::usage("`detect` needs the difference that you want to tell, in percent")
            .hint("for example `boxscore detect 5`, or of one instrument `boxscore detect 5 crc32c`"));
    };
    if let Some(percent) = number(first) {
        return Ok(percent);
    }
    let asked = args.names.iter().find_map(|name| number(name)).unwrap_or(EXAMPLE);
    let others: Vec<String> = args
        .names
        .iter()
        .filter(|name| number(name).is_none())
        .map(|name| format!(" {}", word(name)))
        .collect();
    let is_measured = check_names(std::slice::from_ref(first)).is_ok();
    let of = if is_measured { format!(" {first}") } else { format!(" --machine {}", word(first)) };
    let meant = if is_measured { "" } else { "; --machine has the name of a machine" };
    Err(CliError::usage(format!("`{first}` is no difference in percent, which stands first")).hint(format!(
        "for example `boxscore detect {asked}{}{of}`{meant}",
        if is_measured { String::new() } else { others.concat() },
    )))
}

/// The difference of an example, in percent.
const EXAMPLE: f64 = 5.0;

/// The error of a machine without runs, with the command that asks those of another one.
fn elsewhere(error: CliError, percent: f64, args: &DetectArgs, resolver: &Resolver) -> CliError {
    let others = resolver.measured_machines();
    let Some(first) = others.first() else { return error };
    let names: String = args.names.iter().map(|name| format!(" {name}")).collect();
    error.hint(format!(
        "`boxscore run --quick` measures it in 2 minutes; or ask the stored runs of another machine ({}): \
         `boxscore detect {percent}{names} --machine {first}`",
        others.join(", ")
    ))
}
