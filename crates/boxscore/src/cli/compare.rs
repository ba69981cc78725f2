//! `boxscore compare`: machines, runs, labels and published figures side by side, with verdicts.

use std::collections::BTreeSet;

use model::decision::parse_life;
use model::doc::{CompareDoc, VerdictWord};
use verdict::compare::{Apart, CompareOptions, Side, compare};
use verdict::matrix::MatrixOptions;

use crate::cli::Global;
use crate::error::{CliError, Kind};
use crate::lookup::resolve::{Loaded, Resolver};
use crate::lookup::sides::distinct;
use crate::show::ratios;
use crate::{out, plan};

const AFTER: &str = "\
Examples:
  boxscore compare latest~1 latest               two runs of the same machine
  boxscore compare . xeon-e5620 opteron-6134     this machine beside published ones
  boxscore compare box1 box2 --format markdown   for a wiki
  boxscore compare main.json this.json --fail-on worse
                                                 in continuous integration: exit 3 when something got worse
  boxscore compare RUN-A RUN-B --across server   two servers of different kinds, each measured in a run of its own
  boxscore compare 01a1fcd16c6c                  the arms or machines of one study
  boxscore compare atom-c2750 ramcloud-xeon-infiniband --matrix transport,replicas,size
                                                 a table: sizes down, transports and replicas across
  boxscore compare --ratio lang=c/java . pandaboard-es
                                                 is a runtime as good here as there: C over Java on each machine,
                                                 and the ratio of both ratios; any parameter or arm of a study
Names: a run or its beginning, latest, latest~N, `.` (this machine), a label, a machine, RUN/ARM, a target of a study, an
exported file, another store, a published machine, a line of `boxscore show --line`. The first is the base.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct CompareArgs {
    /// Names to compare; the first is the base [with --ratio: default `.`]
    #[arg(value_name = "NAME", required_unless_present = "ratio")]
    pub names: Vec<String>,
    /// Compare figures although they differ in these parameters; the result names that difference
    #[arg(long, value_name = "PARAMETER,…", value_delimiter = ',', conflicts_with_all = ["matrix", "ratio"])]
    pub across: Vec<String>,
    /// Only rows whose metric or instrument has this name
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,
    /// Every row, not only the headline rows
    #[arg(long)]
    pub all: bool,
    /// The relative difference that you would not act on [default: 5% between machines, 2% between arms]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub margin: Option<String>,
    /// Figures over parameters instead of verdicts: the last one down, those before it across
    #[arg(long, value_name = "PARAMETER,…", value_delimiter = ',', conflicts_with_all = ["margin", "all", "life",
        "fail_on"])]
    pub matrix: Vec<String>,
    /// Figures at one value of a parameter over those at another, on each machine; from two machines on the ratio of
    /// their ratios, too. --fail-on then looks at ratios of ratios, of one machine at ratios: better = a gains on b
    #[arg(long, value_name = "PARAMETER=a/b", conflicts_with_all = ["matrix", "life"])]
    pub ratio: Option<String>,
    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// How long a bought machine lives (4y, 18 months, 365d): makes its price hourly
    #[arg(long, value_name = "DURATION")]
    pub life: Option<String>,
    /// Exit 3 when any row has this verdict
    #[arg(long, value_name = "VERDICT")]
    pub fail_on: Option<FailOn>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    Text,
    Markdown,
    Csv,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FailOn {
    Worse,
    Better,
    Invalid,
}

pub fn run(args: &CompareArgs, global: &Global) -> Result<u8, CliError> {
    let mut resolver = Resolver::new(global)?;
    if !args.matrix.is_empty() {
        return matrix(args, &mut resolver, global);
    }
    if let Some(text) = &args.ratio {
        return ratio(text, args, &mut resolver, global);
    }
    let loaded: Vec<Loaded> = match args.names.as_slice() {
        [one] => resolver.arms(one)?,
        many => resolver.resolve_all(many)?,
    };
    if loaded.len() < 2 {
        return Err(CliError::usage(format!(
            "`{}` alone cannot be compared: a comparison needs two names",
            args.names[0]
        ))
        .hint("for example `boxscore compare latest~1 latest`, or a published machine as the second"));
    }
    distinct(&loaded)?;
    let args = &with_format(args, global);
    let document = document(&loaded, args)?;
    let look = out::look();
    match args.format {
        Format::Json => out::json(&document),
        Format::Text => out::print(&report::text::compare::table(&document, args.all, look)),
        Format::Markdown => out::print(&report::markdown::compare(&document, args.all)),
        Format::Csv => out::print(&report::csv::compare(&document)),
    }
    Ok(fired(args, document.rows.iter().map(|row| row.verdict)))
}

/// `--json` is a format.
fn with_format(args: &CompareArgs, global: &Global) -> CompareArgs {
    CompareArgs { format: if global.json { Format::Json } else { args.format }, ..args.clone() }
}

/// The exit code, given every verdict.
fn fired(args: &CompareArgs, mut verdicts: impl Iterator<Item = VerdictWord>) -> u8 {
    let wanted = args.fail_on.map(|on| match on {
        FailOn::Worse => VerdictWord::Worse,
        FailOn::Better => VerdictWord::Better,
        FailOn::Invalid => VerdictWord::Invalid,
    });
    if verdicts.any(|verdict| Some(verdict) == wanted) { Kind::Faults.exit_code() } else { 0 }
}

/// Figures at two values of a parameter; this machine where none is named.
fn ratio(text: &str, args: &CompareArgs, resolver: &mut Resolver, global: &Global) -> Result<u8, CliError> {
    let here = [".".to_owned()];
    let names = if args.names.is_empty() { &here[..] } else { &args.names };
    let loaded = resolver.resolve_all(names)?;
    distinct(&loaded)?;
    let options = options(args)?;
    let document = ratios::document(&named(&loaded), text, &options)?;
    match (global.json, args.format) {
        (true, _) | (_, Format::Json) => out::json(&document),
        (_, Format::Text) => {
            let look = out::look().with_all(args.all);
            out::print(&report::text::ratio::table(&document, "--all", look));
        }
        (_, Format::Markdown) => out::print(&report::markdown::ratios(&document)),
        (_, Format::Csv) => out::print(&report::csv::ratio(&document)),
    }
    let across = document.ratios_of_ratios.iter().map(|one| one.row.verdict);
    Ok(match document.machines.len() {
        1 => fired(args, document.rows.iter().map(|one| one.row.verdict)),
        _ => fired(args, across),
    })
}

/// Figures over the chosen parameters; one side is enough.
fn matrix(args: &CompareArgs, resolver: &mut Resolver, global: &Global) -> Result<u8, CliError> {
    let names: BTreeSet<&String> = args.matrix.iter().collect();
    if names.len() < args.matrix.len() || names.iter().any(|name| name.trim().is_empty()) {
        let text =
            format!("--matrix {}: each parameter stands once, and none is empty", args.matrix.join(","));
        return Err(CliError::usage(text));
    }
    let json = global.json || args.format == Format::Json;
    if !json && args.format != Format::Text {
        return Err(
            CliError::usage("--matrix prints text or JSON").hint("leave out --format, or say --format json")
        );
    }
    let loaded = resolver.resolve_all(&args.names)?;
    let cards = instruments::cards();
    let options = MatrixOptions { params: args.matrix.clone(), metric: args.metric.clone(), cards };
    let document = verdict::matrix::matrix(&named(&loaded), &options);
    if document.tables.is_empty() {
        let of = args.metric.as_ref().map_or(String::new(), |metric| format!(" of `{metric}`"));
        return Err(CliError::data(format!(
            "no figure{of} has any of the parameters {}",
            args.matrix.join(", ")
        ))
        .hint(
            "`boxscore list --long` shows the parameters of each instrument; `size` is also that in a name",
        ));
    }
    if json {
        out::json(&document);
    } else {
        out::print(&report::text::matrix::tables(&document, out::look()));
    }
    Ok(0)
}

fn document(loaded: &[Loaded], args: &CompareArgs) -> Result<CompareDoc, CliError> {
    let (sides, options) = (named(loaded), options(args)?);
    let has = |name: &&String| {
        let mut series = loaded.iter().flat_map(|side| &side.runs).flat_map(|run| &run.series);
        series.any(|series| series.key.params.get(name).is_some())
    };
    if let Some(name) = options.across.iter().find(|name| !has(name)) {
        return Err(CliError::usage(format!("--across {name}: no figure of these has that parameter"))
            .hint("`boxscore list --long` shows the parameters of each instrument"));
    }
    let document = compare(&sides, &options);
    let given = loaded.iter().zip(&document.arms);
    if let Some((side, _)) =
        given.into_iter().find(|(side, arm)| arm.runs.is_empty() && !side.runs.is_empty())
    {
        let text =
            format!("every run of `{}` stands on another side too, so nothing is left of it", side.name);
        return Err(CliError::usage(text).hint("name runs or labels that have none in common"));
    }
    if document.rows.is_empty() {
        let error = CliError::data("not comparable: these have no figure in common");
        return Err(match &args.metric {
            Some(metric) => {
                error.hint(format!("no row is called `{metric}`; without --metric all are shown"))
            }
            None => none_in_common(error, &verdict::compare::apart(&sides, &options), are_logs(loaded)),
        });
    }
    Ok(document)
}

/// The options of a comparison. Fails for a margin or a life that is no number.
fn options(args: &CompareArgs) -> Result<CompareOptions, CliError> {
    let margin = args.margin.as_deref().map(|text| plan::share("--margin", text)).transpose()?;
    Ok(CompareOptions {
        margin,
        all: args.all,
        metric: args.metric.clone(),
        across: args.across.iter().map(|name| name.trim().to_owned()).collect(),
        other_conditions: true,
        sources: args.all || args.format == Format::Json,
        life_hours: args.life.as_deref().map(life_hours).transpose()?,
        cards: instruments::cards(),
    })
}

fn life_hours(text: &str) -> Result<f64, CliError> {
    let wrong = || {
        CliError::usage(format!("--life {text}: not a length of time")).hint("write 4y, 18 months or 365d")
    };
    parse_life(text).map(|seconds| seconds / 3600.0).ok_or_else(wrong)
}

/// True if all runs are of logs, which are read again and not run.
fn are_logs(loaded: &[Loaded]) -> bool {
    loaded.iter().flat_map(|side| &side.runs).all(|run| run.traffic.is_some())
}

/// Prints why figures are not compared, where both sides measured the same in different ways.
fn none_in_common(error: CliError, apart: &[Apart], are_logs: bool) -> CliError {
    if apart.is_empty() {
        return error.hint("run the same instruments on both, for example `boxscore run --quick`");
    }
    let texts: Vec<&str> = apart.iter().map(|apart| apart.text.as_str()).collect();
    let error = CliError { message: format!("{}: {}", error.message, texts.join("; ")), ..error };
    let again = match are_logs {
        true => "read both logs with one `--where`, or none, and compare those",
        false => "repeat one of them as it was, `boxscore run --plan RUN`, and compare those",
    };
    let again = apart.iter().find_map(|apart| apart.remedy).unwrap_or(again);
    let keys: BTreeSet<&str> = apart.iter().flat_map(|apart| &apart.keys).map(String::as_str).collect();
    match keys.is_empty() || are_logs {
        true => error.hint(again),
        false => {
            let keys = keys.into_iter().collect::<Vec<_>>().join(",");
            error.hint(format!(
                "{again}; or `--across {keys}` sets these beside each other, with that difference named"
            ))
        }
    }
}

/// The sides under names that differ: two runs of one machine get a number each.
fn named(loaded: &[Loaded]) -> Vec<Side<'_>> {
    let mut sides: Vec<Side<'_>> = Vec::new();
    for one in loaded {
        let mut side = one.side();
        let before = loaded.iter().take(sides.len()).filter(|other| other.name == one.name).count();
        if before > 0 {
            side.name = format!("{} ({})", one.name, before + 1);
        }
        sides.push(side);
    }
    sides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_is_a_length_of_time_as_in_decide() {
        for (text, hours) in
            [("3y", 26_298.0), ("18 months", 13_149.0), ("365d", 8760.0), ("26280h", 26_280.0)]
        {
            assert_eq!(life_hours(text).ok(), Some(hours), "{text}");
        }
        for text in ["", "3", "-3y", "0y", "nany", "ever"] {
            let error = life_hours(text).expect_err(text);
            assert!(error.message.starts_with(&format!("--life {text}: not a length")), "{error}");
        }
    }
}
