//! `boxscore list`: the instruments, what each measures, and whether it can run here.

use instruments::bench::kv::family::{REMARKS, Remark, ramcloud_here};
use instruments::bench::runtime::language::{self, Language};
use instruments::bench::runtime::runtime_tools;
use model::doc::{InstrumentDoc, ListDoc, MetricDoc, ParamDoc, RemarkDoc};
use model::params::{ParamKind, show_bytes};
use model::{Cadence, Card, Family, Instrument, Params, Setup};

use crate::cli::Global;
use crate::error::CliError;
use crate::lookup::paths;
use crate::out;

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = "Examples:\n  boxscore list\n  boxscore list --long mem-bandwidth")]
pub struct ListArgs {
    /// Only these instruments or families
    #[arg(value_name = "NAME|FAMILY")]
    pub names: Vec<String>,
    /// Parameters, metrics and where the definition comes from
    #[arg(long, short)]
    pub long: bool,
}

pub fn run(args: &ListArgs, global: &Global) -> Result<u8, CliError> {
    let wanted = |card: &Card| {
        args.names.is_empty() || args.names.iter().any(|name| name == card.name || name == card.family.name())
    };
    let chosen: Vec<_> = instruments::by_family().into_iter().filter(|one| wanted(one.card())).collect();
    if chosen.is_empty() {
        let known = instruments::all();
        let names = known.iter().map(|one| one.card().name);
        let typed = args.names.first().map_or("", String::as_str);
        let error = CliError::usage(format!("no instrument or family is called `{typed}`"));
        let error = error.did_you_mean(typed, names);
        let hint = error.hint.clone().unwrap_or_else(|| "`boxscore list` shows them all".to_owned());
        return Err(error.hint(hint));
    }
    let setup = setup(global);
    let document = ListDoc {
        schema: "boxscore.list/1".to_owned(),
        instruments: chosen.iter().map(|one| document(*one, &setup)).collect(),
        // Asking compilers and virtual machines takes a moment.
        remarks: if args.long || global.json { remarks(&chosen) } else { Vec::new() },
    };
    if global.json {
        out::json(&document);
    } else {
        out::print(&report::text::list::list(&document, args.long, out::columns()));
    }
    Ok(0)
}

/// Remarks about the families of the chosen instruments, such as which compilers are here.
fn remarks(chosen: &[&'static dyn Instrument]) -> Vec<RemarkDoc> {
    let has = |family: Family| chosen.iter().any(|one| one.card().family == family);
    let remark = |family: Family, about: &str, says: String| RemarkDoc {
        family: family.name().to_owned(),
        about: about.to_owned(),
        says,
    };
    let mut all = Vec::new();
    if has(Family::Kv) {
        let stores = |known: &Remark| remark(Family::Kv, known.about, known.says.to_owned());
        all.extend(REMARKS.iter().map(stores));
        all.push(remark(Family::Kv, "ramcloud on this machine", ramcloud_here()));
    }
    if has(Family::Runtime) {
        let here = |language: &'static Language| {
            let about = format!("{} on this machine", language.title);
            remark(Family::Runtime, &about, runtime_tools::here(language))
        };
        all.extend(language::ALL.iter().map(here));
    }
    all
}

/// Enough of a set-up to ask whether an instrument fits. A run would make the store's folder, where there is none yet:
/// what is said of the folder that it would make that in holds for it too.
fn setup(global: &Global) -> Setup {
    let cpus = sys::affinity::allowed().unwrap_or_default();
    let dir = paths::store(global).map(|store| paths::nearest(&paths::beside(&store)));
    let dir = dir.unwrap_or_else(|_| ".".into());
    Setup {
        seed: 0,
        ..Setup::bare(
            Params::default(),
            cpus.into_iter().filter_map(|cpu| u32::try_from(cpu).ok()).collect(),
            dir,
        )
    }
}

/// An instrument as a document.
pub fn document(one: &dyn Instrument, setup: &Setup) -> InstrumentDoc {
    let card = one.card();
    let resolved = card.resolve(&Params::default()).map_err(|error| error.to_string());
    let fit = resolved.and_then(|params| {
        let setup = Setup { params, ..setup.clone() };
        one.fit(&setup).map_err(|unfit| unfit.why)
    });
    InstrumentDoc {
        name: card.name.to_owned(),
        family: card.family.name().to_owned(),
        says: card.says.to_owned(),
        source: card.source.to_owned(),
        definition: card.definition,
        params: card.params.iter().map(param).collect(),
        metrics: card.metrics.iter().map(metric).collect(),
        needs: card.needs.iter().map(|need| need.name().to_owned()).collect(),
        runnable: fit.is_ok(),
        why: fit.err().or_else(|| when(card)),
    }
}

/// Instruments that nobody runs by name say when they are read.
fn when(card: &Card) -> Option<String> {
    match (card.cadence, card.facts_of) {
        (Cadence::Repeat, _) => None,
        (Cadence::Once, Some(family)) => {
            Some(format!("read once in runs of {}, and by `boxscore inspect`", family.name()))
        }
        (Cadence::Once, None) => Some("read once in every run, and by `boxscore inspect`".to_owned()),
        (Cadence::Around, _) => Some("read before and after every take".to_owned()),
        (Cadence::Tick, _) => Some("read each second of every run".to_owned()),
    }
}

fn param(spec: &model::ParamSpec) -> ParamDoc {
    ParamDoc {
        name: spec.name.to_owned(),
        values: values(spec.kind),
        default: spec.default.to_owned(),
        says: spec.says.to_owned(),
    }
}

fn values(kind: ParamKind) -> String {
    match kind {
        ParamKind::Int { min, max } => format!("{min} to {max}"),
        ParamKind::Bytes { min, max } => format!("{} to {}", show_bytes(min), show_bytes(max)),
        ParamKind::Choice(choices) => choices.join(", "),
        ParamKind::Threads => "a number, or all".to_owned(),
        ParamKind::Cpus => "a CPU list, or auto".to_owned(),
        ParamKind::Signed { min, max } => format!("{min} to {max}"),
        ParamKind::Or("", kind) => values(*kind),
        ParamKind::Only(key, of, kind) => {
            format!("{}; only where {key} is {}", values(*kind), of.join(" or "))
        }
        ParamKind::Or(word, kind) => format!("{word}, or {}", values(*kind)),
        kind => kind.wanted(),
    }
}

fn metric(info: &model::MetricInfo) -> MetricDoc {
    MetricDoc {
        name: info.name.to_owned(),
        unit: info.unit,
        better: info.better,
        definition: info.definition.to_owned(),
    }
}
