//! Commands that measure what is missing, as the side was measured before: the same machine or target, generators,
//! setup and label. Where they have to run is told beside them ([`place`]).

use model::data::RunData;
use model::need::{Limit, Need};
use model::params::show_time;
use model::shell::word;
use model::{Card, Cell, Params, Part};

use crate::compare::Side;
use crate::compare::matching::arm_name;
use crate::place;

/// The flag that asks for another value of a parameter of a search: it is said with `--slo`.
const OF_SLO: [&str; 2] = ["percentile", "limit"];
/// Said with `--url` and `--mix`.
const OF_FLAGS: [&str; 3] = ["url", "mix", "content"];

/// A load of a server, or the search of its largest one where the need has a limit. `alike` are the instruments of such
/// loads, and `mix` is the file of the requests.
pub fn load(side: &Side<'_>, card: &Card, alike: &[&str], need: &Need, mix: Option<&str>) -> String {
    let mut words = vec!["boxscore".to_owned(), "run".to_owned(), card.name.to_owned()];
    if let Some(Limit { percentile, seconds }) = &need.limit
        && let Some(limit) = show_time(*seconds)
    {
        words.extend(["--slo".to_owned(), format!("{percentile}={limit}")]);
    }
    words.extend(mix.into_iter().flat_map(|file| ["--mix".to_owned(), word(file)]));
    let given = need.params.iter().filter(|(name, _)| !OF_SLO.contains(&name.as_str()));
    let mut given: Params = given.map(|(name, value)| (name.clone(), value.clone())).collect();
    let before = before(side, card, alike);
    let url = given.remove("url").or_else(|| before.get("url").map(str::to_owned));
    let is_target = side.target().is_some();
    words.extend(
        url.filter(|url| url != "none" && !is_target)
            .into_iter()
            .flat_map(|url| ["--url".to_owned(), word(&url)]),
    );
    let kept = before.iter().filter(|(name, _)| mix.is_none() || !OF_FLAGS.contains(&name.as_str()));
    let kept = kept.filter(|(name, _)| *name != "url" && *name != "mix");
    words.extend(set(&kept.collect::<Params>().with(&given)));
    words.extend(place(side));
    words.join(" ")
}

/// An instrument with these parameters.
pub fn instrument(side: &Side<'_>, card: &Card, params: &Params) -> String {
    let mut words = vec!["boxscore".to_owned(), "run".to_owned(), card.name.to_owned()];
    words.extend(set(params));
    words.extend(place(side));
    words.join(" ")
}

/// A command of the user's.
pub fn command(side: &Side<'_>, text: &str) -> String {
    let mut words = vec!["boxscore run --cmd".to_owned(), word(text)];
    words.extend(place(side));
    words.join(" ")
}

fn set(params: &Params) -> Vec<String> {
    params.iter().flat_map(|(name, value)| ["--set".to_owned(), word(&format!("{name}={value}"))]).collect()
}

/// The parameters that all loads of the newest run with such loads have, but for the schedule and for usual ones.
fn before(side: &Side<'_>, card: &Card, alike: &[&str]) -> Params {
    let is_alike = |cell: &&Cell| alike.contains(&cell.instrument.as_str());
    let Some(run) = newest(side, |run| run.plan.cells.iter().any(|cell| is_alike(&cell))) else {
        return Params::default();
    };
    let cells = run.plan.cells.iter().filter(is_alike);
    let mut each = cells.map(|cell| &cell.params);
    let Some(first) = each.next() else { return Params::default() };
    let mut common = first.clone();
    for other in each {
        common.retain(|name, value| other.get(name) == Some(value));
    }
    let arm = run.plan.arms.iter().find(|arm| arm.name == arm_name(side, run));
    let set = arm.filter(|_| side.arm.is_some() && side.target().is_none()).map(|arm| arm.set.clone());
    let mut params = common.with(&set.unwrap_or_default());
    params.retain(|name, value| {
        card.param(name).is_some_and(|spec| !matches!(spec.part, Part::Schedule) && spec.default != value)
    });
    params
}

fn newest<'a>(side: &Side<'a>, wanted: impl Fn(&RunData) -> bool) -> Option<&'a RunData> {
    let runs = side.runs.iter().copied().filter(|run| wanted(run));
    runs.max_by_key(|run| run.head.started_ns)
}

/// The machines, target and generators that the side was measured with, and its label.
fn place(side: &Side<'_>) -> Vec<String> {
    let Some(run) = newest(side, |_| true) else { return Vec::new() };
    let mut words = Vec::new();
    if let Some(target) = side.target() {
        words.extend(["--target".to_owned(), word(&format!("{}={}", target.name, target.address))]);
        words.extend(
            target.at.iter().flat_map(|at| ["--at".to_owned(), word(&format!("{}={at}", target.name))]),
        );
    }
    words.extend(place::ways(side));
    words.extend(run.plan.generators.iter().flat_map(|via| place::flag("--from", via)));
    words.extend(run.head.label.iter().flat_map(|label| ["--label".to_owned(), word(label)]));
    words
}
