//! The settings of aggregates, as flags of `logs` and of its verbs give them.

use logs::aggregate::Settings;
use logs::aggregate::filter::Filter;
use logs::aggregate::keys::Key;
use logs::parts::Made;
use logs::read::tally::Wants;

use crate::access_logs::cut::Cut;
use crate::error::CliError;

/// The settings that keep all of these groups and conditions.
pub(super) fn kept(by: &[String], conditions: &[String]) -> Result<Settings, CliError> {
    let keys = by.iter().map(|key| Key::parse(key));
    let group_by = keys.collect::<Result<_, _>>().map_err(|what| CliError::usage(format!("--by: {what}")))?;
    let mut filters = conditions.iter().map(|text| filter(text)).collect::<Result<Vec<Filter>, _>>()?;
    // Each once and in one order, so that the counts of equal conditions merge.
    filters.sort_by(|a, b| a.text().cmp(b.text()));
    filters.dedup_by(|a, b| a.text() == b.text());
    Ok(Settings { group_by, filters, mix: false, folders: true })
}

/// The conditions as they were given, each once. Fails for one that is none.
pub(super) fn each_once(conditions: &[String]) -> Result<Vec<String>, CliError> {
    let mut all: Vec<String> = Vec::new();
    for condition in conditions {
        let filter = filter(condition)?;
        let text = filter.text().trim();
        if !all.iter().any(|known| known == text) {
            all.push(text.to_owned());
        }
    }
    Ok(all)
}

fn filter(condition: &str) -> Result<Filter, CliError> {
    Filter::parse(condition).map_err(|what| CliError::usage(format!("--where: {what}")))
}

/// The settings of parts of any labels, each property and condition once. Fails for a condition that is none.
pub(super) fn made(
    by: &[String],
    conditions: &[String],
    cut: Option<&str>,
    mix: bool,
) -> Result<Made, CliError> {
    let mut once: Vec<String> = Vec::new();
    by.iter().for_each(|key| once.extend((!once.contains(key)).then(|| key.clone())));
    let (conditions, cut) = (each_once(conditions)?, cut.map(str::to_owned));
    Ok(Made { by: once, conditions, cut, mix, one_label: false })
}

/// The settings that keep all that could be wanted of such parts.
pub(super) fn full(made: &Made) -> Result<Settings, CliError> {
    let kept = kept(&made.by, &made.conditions)?;
    Ok(Settings { mix: made.mix, folders: !made.one_label, ..kept })
}

/// The results besides the aggregates.
pub(super) fn wants(made: &Made) -> Result<Wants, CliError> {
    let cut = made.cut.as_deref().map(Cut::parse).transpose()?;
    Ok(Wants { cut: cut.as_ref().map(|cut| cut.moment), timeline: cut.is_some() })
}
