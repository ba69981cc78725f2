//! The HTML report: its place, its runs, and writing it.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use model::Shared;
use model::data::RunData;
use model::doc::{CompareDoc, RatioDoc, RunDoc};
use report::html::{Cover, ReportInput};

use crate::cli::Global;
use crate::cli::agent::BUILD;
use crate::error::CliError;
use crate::lookup::ids::told_apart;
use crate::lookup::paths;
use crate::lookup::resolve::Resolver;
use crate::show::shown;
use crate::show::shown::Shown;

/// The comparisons in a report: with other machines or arms, and ratios of runtimes.
pub type Beside = (Option<Shared<CompareDoc>>, Vec<RatioDoc>);

pub fn beside(runs: &[Shown], others: Beside, path: &Path) -> Result<Option<PathBuf>, CliError> {
    let recorded = |data: &RunData| data.plan.telemetry_only && !data.telemetry.is_empty();
    let taken = |doc: &RunDoc| !doc.series.is_empty() && !report::text::score::is_unbegun(doc);
    let visible = runs.iter().any(|one| taken(&one.doc) || recorded(&one.data));
    match runs.first().filter(|_| visible) {
        Some(first) => write_report(runs, others, &default_report(path, &first.doc.run)).map(Some),
        None => Ok(None),
    }
}

/// Writes the report of these runs beside the store; `None` if there is nothing to show in one. Fails when it cannot
/// be written.
pub fn report_after(runs: &[String], path: &Path, global: &Global) -> Result<Option<PathBuf>, CliError> {
    let mut resolver = Resolver::new(global)?;
    let stored = shown::all_stored(runs, &mut resolver)?;
    let shown = shown::of_study(stored, &mut resolver)?;
    beside(&shown, (None, Vec::new()), path)
}

/// The path of a run's report, beside its store.
pub fn default_report(store: &Path, run: &str) -> PathBuf {
    report_of(store, &[], &[run], false)
}

/// The path of the report of these runs, which were asked for by these names, beside the store. Other runs and the
/// summary have another one.
pub fn report_of(store: &Path, names: &[String], runs: &[&str], summary: bool) -> PathBuf {
    let kind = if summary { "-summary" } else { "" };
    paths::beside(store).join(format!("{}{kind}.html", stem(names, runs)))
}

/// Most characters of a file's name without what kind of report it is.
const MOST: usize = 40;

/// The ids of the runs where they are few and were asked for one by one; else the names, and an id made of both: later
/// the same names may have other runs.
fn stem(names: &[String], runs: &[&str]) -> String {
    let ids = told_apart(runs);
    let by_id = |name: &String| runs.iter().any(|run| !name.is_empty() && run.starts_with(name.as_str()));
    let each = ids.join("-");
    if ids.len() == 1 || (each.len() <= MOST && names.iter().all(by_id)) {
        return each;
    }
    let seed = stats::Rng::derive(0, &format!("{} {}", names.join(" "), runs.join(" "))).bits();
    let id = format!("{:06x}", seed >> 40);
    let named = short_names(names, MOST - id.len() - 1);
    if named.is_empty() { id } else { format!("{named}-{id}") }
}

/// So many of the names as fit, in letters that a file's name may have anywhere.
fn short_names(names: &[String], most: usize) -> String {
    let plain: Vec<String> =
        names.iter().map(|name| file_word(name)).filter(|name| !name.is_empty()).collect();
    let joined = |count: usize| match plain.len() - count {
        0 => plain.join("-"),
        more => format!("{}-and-{more}-more", plain[..count].join("-")),
    };
    let fits = |text: &String| text.chars().count() <= most;
    let whole = (1..=plain.len()).rev().map(joined).find(fits);
    whole.unwrap_or_else(|| plain.join("-").chars().take(most).collect())
}

/// The name with one `-` for each stretch of other characters than letters, digits, `_` and `.` within it.
fn file_word(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let words = name.split(|c| !is_plain(c)).map(|word| word.trim_matches('.'));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// Writes the report, completely or not at all. Fails when the file cannot be written.
pub fn write_report(runs: &[Shown], beside: Beside, to: &Path) -> Result<PathBuf, CliError> {
    let ids = told_apart(&runs.iter().map(|one| one.doc.run.as_str()).collect::<Vec<_>>());
    let names: Vec<String> = ids.into_iter().map(str::to_owned).collect();
    write_covered(runs, beside, to, Cover::default(), &names)
}

/// The same with what its author adds, of runs that were asked for by these names. Fails when the file cannot be
/// written.
pub fn write_covered(
    runs: &[Shown],
    (compare, ratios): Beside,
    to: &Path,
    cover: Cover,
    names: &[String],
) -> Result<PathBuf, CliError> {
    let started = runs.iter().map(|one| one.doc.started).fold(0.0, f64::max);
    let input = ReportInput {
        runs: runs.iter().map(|one| (Rc::clone(&one.doc), Rc::clone(&one.data))).collect(),
        compare,
        ratios,
        version: BUILD.to_owned(),
        command: format!("boxscore report {}", names.join(" ")),
        generated: report::text::date_time(started),
        cover,
    };
    let html = report::html::report(&input);
    paths::write(to, html.as_bytes())?;
    Ok(to.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(names: &[&str], runs: &[&str], summary: bool) -> String {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        report_of(Path::new("/s/store.db"), &names, runs, summary).display().to_string()
    }

    #[test]
    fn a_run_has_its_id_and_pooled_runs_the_names_of_their_sides() {
        let [one, two, three] = ["019b76daa8027fff", "019b774885027fff", "019b77b662027fff"];
        assert_eq!(file(&["019b76daa802"], &[one], false), "/s/019b76daa802.html");
        assert_eq!(file(&["alpha"], &[one], true), "/s/019b76daa802-summary.html");
        let both = file(&["019b76daa802", "019b77488502"], &[one, two], false);
        assert_eq!(both, "/s/019b76daa802-019b77488502.html");
        let pooled = file(&["alpha", "beta"], &[one, two, three], false);
        let id =
            pooled.strip_prefix("/s/alpha-beta-").and_then(|rest| rest.strip_suffix(".html")).expect("names");
        assert!(id.len() == 6 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        assert_eq!(
            file(&["alpha", "beta"], &[one, two, three], true),
            format!("/s/alpha-beta-{id}-summary.html")
        );
        // A further run, and other names, are another page.
        assert_ne!(pooled, file(&["alpha", "beta"], &[one, two], false));
        assert_ne!(
            file(&["a b"], &[one, two], false).split_off(6),
            file(&["a/b"], &[one, two], false).split_off(6)
        );
    }

    #[test]
    fn a_name_is_short_and_of_plain_letters_whatever_the_sides_are_called() {
        let runs = ["019b76daa8027fff", "019b774885027fff"];
        let stem = |names: &[&str]| {
            let path = file(names, &runs, false);
            path["/s/".len()..path.len() - ".html".len()].to_owned()
        };
        assert!(stem(&["web/before ../x", "..."]).starts_with("web-before-x-"));
        assert!(
            stem(&["a very long name of a machine", "b", "another one that is long"])
                .starts_with("a-very-long-name-of-a-mac")
        );
        assert!(
            stem(&["alpha-1", "alpha-2", "alpha-3", "alpha-4", "alpha-5"]).contains("alpha-2-and-3-more-")
        );
        for names in [&["é".repeat(99)][..], &["/".to_owned(), "..".to_owned()], &[String::new()]] {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let stem = stem(&names);
            assert!(stem.chars().count() <= MOST && !stem.starts_with('-') && !stem.is_empty(), "{stem}");
        }
    }
}
