//! The output after a run: the box score, the path of the report, and what to do next.

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use model::data::{RunData, Status};
use model::doc::CompareDoc;
use model::plan::Level;
use model::{Shared, card};
use report::text::Look;
use report::text::fit::Part;
use report::text::score::{Advice, Tail, score};

use crate::cli::{Global, Layout};
use crate::error::CliError;
use crate::lookup::ids::short;
use crate::lookup::paths;
use crate::lookup::resolve::Resolver;
use crate::lookup::runs::is_whole;
use crate::out;
use crate::show::shown::Shown;
use crate::show::{nodes, page, ratios, shown, versus};

/// Prints the result of a run, on the screen or as JSON, and writes the report. Fails when the store or the report
/// cannot be used.
pub fn after_run(
    runs: &[String],
    path: &Path,
    global: &Global,
    report: bool,
    layout: Layout,
) -> Result<(), CliError> {
    let mut resolver = Resolver::new(global)?;
    let (mut shown, versus) = compared(runs, &mut resolver)?;
    let in_order = nodes::of_runs(&shown, &mut resolver)?;
    shown.iter_mut().take(1).for_each(|one| Rc::make_mut(&mut one.doc).nodes.clone_from(&in_order));
    let ratios = ratios::of_report(&shown, &resolver)?;
    let written =
        if report { page::beside(&shown, (versus.clone(), ratios.clone()), path) } else { Ok(None) };
    // The figures are shown, whatever becomes of the report.
    let (written, failed) = match written {
        Ok(written) => (written, Ok(())),
        Err(error) if global.json => return Err(error),
        Err(error) => (None, Err(error)),
    };
    if global.json {
        shown.iter().take(1).for_each(|one| out::json(&one.doc));
        return Ok(());
    }
    if layout == Layout::Clusterperf {
        for one in &shown {
            out::print(&clusterperf(one)?);
        }
        return failed;
    }
    if let ([one], true) = (shown.as_slice(), is_of_commands(&shown)) {
        let tail = tail(one, None, written.as_deref());
        let facts = &one.data.facts;
        out::print(&report::text::commands::screen(&one.doc, facts, versus.as_deref(), &tail, out::look()));
        return failed;
    }
    let own = ratios::of_runs(&shown)?;
    let look = out::look();
    let run = runs.first().map_or("latest", |run| short(run));
    let tables = report::text::ratio::tables(&own, run, Look { lines: look.lines / 2, ..look });
    let together = shown.first().and_then(|one| one.doc.together.as_ref());
    out::print(&report::text::answer::first(together, look));
    let study = shown.len() > 1 || shown.iter().any(|one| one.data.plan.arms.len() > 1);
    if let (true, Some(document)) = (study, &versus) {
        let mut tail: Vec<Part> =
            in_order.iter().map(|nodes| report::text::nodes::part(nodes, look)).collect();
        tail.push(Part::new(tables));
        tail.extend(together.map(|together| report::text::together::part(together, look)));
        tail.extend(shown.iter().flat_map(|one| beside_figures(one, look)));
        tail.push(below(&shown, written.as_deref(), look).into());
        let command = format!("boxscore compare {run} --all");
        out::print(&report::text::compare::with_tail(document, tail, &command, look));
        return failed;
    }
    let beside = look.beside(&tables);
    for one in &shown {
        let tail = tail(one, versus.as_deref(), written.as_deref());
        out::print(&score(&one.doc, &one.data.facts, versus.as_deref(), &tail, beside));
    }
    let answer = shown.first().and_then(|one| one.doc.answer.as_ref()).map(|answer| answer.sentence.as_str());
    if !own.is_empty() {
        // The answer is made of them.
        out::print(&report::text::answer::last(tables, answer, look));
    }
    failed
}

/// The runs with their documents, and the comparison beside them, which is made before there are documents: of 1,000
/// machines either takes as much memory as their runs. What the one freed is given back before the next.
fn compared(
    runs: &[String],
    resolver: &mut Resolver,
) -> Result<(Vec<Shown>, Option<Shared<CompareDoc>>), CliError> {
    let stored = shown::all_stored(runs, resolver)?;
    let versus = versus::versus(&stored.iter().collect::<Vec<_>>(), resolver)?.map(Shared::from);
    sys::heap::give_back();
    let shown = shown::of_study(stored, resolver)?;
    sys::heap::give_back();
    Ok((shown, versus))
}

/// The last lines of a study: the command that goes on from it, and the report.
fn below(shown: &[Shown], written: Option<&Path>, look: Look) -> String {
    let sizing = sizing(shown)
        .map(|command| report::text::hang("boxes   ", &format!("{command}: {SIZES}"), look.columns));
    let report = written.map(|path| format!("report  {}\n", paths::tilde(path)));
    let below: String = sizing.into_iter().chain(report).collect();
    if below.is_empty() { below } else { format!("\n{below}") }
}

/// Words for the command of [`sizing`].
const SIZES: &str = "how many of which, and the cost";

/// The command that says how many of which box a rate needs, where a search found what each of them holds.
fn sizing(shown: &[Shown]) -> Option<String> {
    let first = shown.first()?;
    let is_boxes = first.data.plan.targets.is_empty() && shown.iter().all(|one| is_whole(&one.data.head));
    let (what, limit) = first.data.plan.cells.iter().find_map(|cell| {
        let family = card::find(instruments::cards(), &cell.instrument)?.family.name();
        let limit = cell.params.get("limit")?;
        Some((family, format!("{}<{limit}", cell.params.get("percentile")?)))
    })?;
    let names: Vec<String> = shown.iter().map(|one| one.data.head.machine.clone()).collect();
    let prices: Vec<String> = (shown.iter().zip(&names))
        .filter(|(one, _)| one.data.head.price.is_none())
        .map(|(_, name)| format!(" --price {name}=..."))
        .collect();
    is_boxes.then(|| {
        let (names, prices) = (names.join(" "), prices.concat());
        format!("boxscore decide --need '{what} RATE/s {limit}'{prices} --from {names}")
    })
}

/// How the load of each arm divided the cores' time, profiles, and the programs that were measured.
fn beside_figures(one: &Shown, look: Look) -> Vec<Part> {
    let mut parts = report::text::cores::of_run(&one.doc, look);
    parts.extend(report::text::jobs::parts(&one.doc.jobs, &one.doc.node_scaling, look));
    parts.push(report::text::profile::of_run(&one.doc, look));
    parts.push(report::text::notes::again(&one.doc, look));
    parts.push(report::text::notes::tools(&one.doc, look));
    parts.push(report::text::notes::builds(&one.doc, look));
    parts
}

/// True of a study of commands of the user's.
pub fn is_of_commands(shown: &[Shown]) -> bool {
    shown.iter().all(|one| !one.data.plan.commands.is_empty() && one.data.plan.arms.len() > 1)
}

/// A run in clusterperf's layout. Fails when the run has other tests.
pub fn clusterperf(one: &Shown) -> Result<String, CliError> {
    report::text::clusterperf::lines(&one.doc, &one.data, instruments::cards()).ok_or_else(|| {
        CliError::data(format!("run {} has no figure of a key-value store", short(&one.doc.run)))
            .hint("--format clusterperf is for runs of kv; without --format every figure is shown")
    })
}

/// The advice below a box score.
fn tail(one: &Shown, versus: Option<&CompareDoc>, written: Option<&Path>) -> Tail {
    let advice = |word: &str, command: String, says: &str| Advice {
        word: word.to_owned(),
        command,
        says: says.to_owned(),
        is_needed: false,
    };
    let whole = is_whole(&one.data.head);
    let cut = one.data.head.status == Status::Interrupted;
    let again = match cut {
        true => Advice {
            is_needed: true,
            ..advice("again", format!("boxscore resume {}", short(&one.doc.run)), &left(&one.data))
        },
        false if one.data.head.measured == 0 => {
            advice("again", one.doc.command.clone(), "once what stands above is mended")
        }
        false => advice("again", one.doc.command.clone(), "more runs measure the noise between runs"),
    };
    let mut list = vec![again];
    let reference =
        versus.and_then(|document| document.arms.first()).map_or("xeon-e5620", |arm| arm.name.as_str());
    // What others measured, too: the figures that every usual run has.
    let usual = matches!(one.data.plan.level, Level::Quick | Level::Default | Level::Full);
    if usual && whole && one.data.plan.fake.is_none() {
        // The base comes first: ratios have the sense of the column above.
        let command = format!("boxscore compare {reference} .");
        list.push(advice("versus", command, "the same ratios with intervals; or name another machine"));
    }
    if whole {
        let command = "boxscore show latest --line".to_owned();
        list.push(advice("share", command, "one line that others paste into compare"));
    }
    list.extend(sizing(std::slice::from_ref(one)).map(|command| advice("boxes", command, SIZES)));
    if whole && written.is_none() {
        let command = format!("boxscore report {}", short(&one.doc.run));
        list.push(advice("report", command, "all of it as a page"));
    }
    Tail { report: written.map(paths::tilde), advice: list }
}

/// The takes that an interrupted run still lacks.
fn left(run: &RunData) -> String {
    let all = run.plan.cells.len() * run.plan.arms.len();
    let taken: BTreeSet<(u32, u32)> =
        run.takes.iter().filter(|take| take.is_measured()).map(|take| (take.cell, take.arm)).collect();
    match all.saturating_sub(taken.len()) {
        0 => "completes this run: every figure has takes, not all that were planned".to_owned(),
        1 if all == 1 => "completes this run: its figure has no take yet".to_owned(),
        none => format!("completes this run: {none} of {all} figures have no take yet"),
    }
}
