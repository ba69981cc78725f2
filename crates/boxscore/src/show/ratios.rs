//! Ratios of figures at two values of a parameter, for `compare --ratio` and for reports of language runtimes (the
//! first language over each other one, beside published ratios).

use model::data::Published;
use model::doc::RatioDoc;
use model::{Better, Card, Family, Unit};
use verdict::compare::ratio::{Unmet, ratio};
use verdict::compare::{CompareOptions, Side};

use crate::error::{CliError, nearest};
use crate::lookup::resolve::{Loaded, Resolver};
use crate::show::shown::{Shown, sides_of};

/// The parameter that tells runtimes apart.
const LANGUAGE: &str = "lang";

/// The document of `PARAM=a/b` for these sides. Fails when a side lacks the parameter or a value.
pub fn document(sides: &[Side<'_>], text: &str, options: &CompareOptions) -> Result<RatioDoc, CliError> {
    ratio(sides, text, options).map_err(|unmet| refused(unmet, options))
}

fn refused(unmet: Unmet, options: &CompareOptions) -> CliError {
    let of = options.metric.as_ref().map_or(String::new(), |metric| format!(" of `{metric}`"));
    match unmet {
        Unmet::Form(says) => CliError::usage(format!("--ratio {says}"))
            .hint("for example --ratio lang=c/java: a parameter and two of its values"),
        Unmet::Param { param, known } if known.is_empty() => {
            CliError::data(format!("no figure{of} has the parameter `{param}`, or any other"))
                .hint("`boxscore list --long` shows the parameters of each instrument")
        }
        Unmet::Param { param, known } => {
            let near = nearest(&param, known.iter().map(String::as_str)).map(str::to_owned);
            let error = CliError::data(format!("no figure{of} has the parameter `{param}`"));
            match near {
                Some(near) => error.hint(format!("did you mean `{near}`? there are: {}", known.join(", "))),
                None => error.hint(format!("there are: {}", known.join(", "))),
            }
        }
        Unmet::Values { param, missing, known } => {
            let missing: Vec<String> = missing.iter().map(|value| format!("{param}={value}")).collect();
            CliError::data(format!("no figure{of} has {}", missing.join(" or ")))
                .hint(format!("measured: {param}={}", known.join(", ")))
        }
        Unmet::Alone { param, differ } if differ.is_empty() => {
            CliError::data(format!("no two figures{of} differ in `{param}` alone"))
                .hint("both values must be measured on one machine, by one instrument")
        }
        Unmet::Alone { param, differ } => {
            let text = format!("no two figures{of} differ in `{param}` alone: {}", differ.join("; "));
            CliError::data(text).hint("measure both with the same parameters")
        }
    }
}

/// Ratios for a report of runtimes: the first language over each other one on every machine of the report, beside the
/// machines for which a study printed that ratio.
pub fn of_report(runs: &[Shown], resolver: &Resolver) -> Result<Vec<RatioDoc>, CliError> {
    // Studies printed the first over the others.
    let over = |first: &str, other: &str| format!("{LANGUAGE}={first}/{other}");
    with(runs, over, |languages| resolver.published(|row| is_printed(row, languages)))
}

/// Ratios of what was measured alone, for the screen: each other language over the first, as the answer has them.
pub fn of_runs(runs: &[Shown]) -> Result<Vec<RatioDoc>, CliError> {
    with(runs, |first, other| format!("{LANGUAGE}={other}/{first}"), |_| Vec::new())
}

fn with(
    runs: &[Shown],
    asked: impl Fn(&str, &str) -> String,
    published: impl Fn([&str; 2]) -> Vec<Loaded>,
) -> Result<Vec<RatioDoc>, CliError> {
    let cards = instruments::cards();
    let languages = languages(runs, cards);
    let Some((first, others)) = languages.split_first() else { return Ok(Vec::new()) };
    let loaded = sides_of(&runs.iter().map(|one| &one.stored).collect::<Vec<_>>())?;
    // What the runtimes were measured for; the other metrics are asked for by name.
    let metric =
        cards.iter().find(|card| card.family == Family::Runtime).and_then(|card| card.metrics.first());
    let metric = metric.map(|metric| metric.name.to_owned());
    let options = CompareOptions { cards, metric, ..CompareOptions::default() };
    let mut documents = Vec::new();
    for other in others {
        let text = asked(first, other);
        let printed = published([first, other]);
        let sides: Vec<Side<'_>> = loaded.iter().chain(&printed).map(Loaded::side).collect();
        match ratio(&sides, &text, &options) {
            Ok(document) if document.rows.iter().any(|row| !row.row.point) => documents.push(document),
            // Nothing that was measured differs in the language alone.
            Ok(_) | Err(Unmet::Param { .. } | Unmet::Values { .. } | Unmet::Alone { .. }) => {}
            Err(unmet @ Unmet::Form(_)) => return Err(refused(unmet, &options)),
        }
    }
    Ok(documents)
}

/// Languages of runtimes in the order in which they were planned.
fn languages(runs: &[Shown], cards: &[&Card]) -> Vec<String> {
    let of_runtimes =
        |name: &str| cards.iter().any(|card| card.name == name && card.family == Family::Runtime);
    let mut languages: Vec<String> = Vec::new();
    let cells = runs.iter().flat_map(|one| &one.data.plan.cells);
    for cell in cells.filter(|cell| of_runtimes(&cell.instrument)) {
        if let Some(language) = cell.params.get(LANGUAGE)
            && !languages.iter().any(|known| known == language)
        {
            languages.push(language.to_owned());
        }
    }
    languages
}

/// A study printed the ratio of these two languages.
fn is_printed(row: &Published, languages: [&str; 2]) -> bool {
    let is_ratio = row.key.unit == Unit::Ratio && row.better == Better::Neither;
    let named = |value: &str| languages.iter().all(|language| value.split('/').any(|one| one == *language));
    is_ratio && row.key.params.get(LANGUAGE).is_some_and(named)
}
